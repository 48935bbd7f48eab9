//! `release.toml`: what the columns of a released table are, for a release that has no manifest, made by hand or by another
//! program. It is a policy without rules: `[source]` and `[attributes]`, and nothing else.
//!
//! A quasi attribute may name the hierarchy file that its labels come from; else a label means what its text says.

use std::path::Path;

use hedgerow_config::{ConfigErrors, FileKind, Node, Reader, Source, source};
use hedgerow_table::HierarchySpec;

use crate::attribute::{self, Attribute};

use crate::words::SIDECAR;

/// The name of the file in a directory that holds such a release.
pub const FILE_NAME: &str = "release.toml";

#[derive(Debug, Clone, PartialEq)]
pub struct Sidecar {
    pub source: Source,
    pub attributes: Vec<Attribute>,
}

impl Sidecar {
    pub fn load(path: &Path) -> Result<Sidecar, ConfigErrors> {
        hedgerow_config::load(path, SIDECAR_FILE, |reader, root| read_root(reader, root, path))
    }

    /// `path` names the file in messages, and its folder is where relative paths start.
    pub fn parse(text: &str, path: &Path) -> Result<Sidecar, ConfigErrors> {
        hedgerow_config::parse(text, path, SIDECAR_FILE, |reader, root| read_root(reader, root, path))
    }
}

const SIDECAR_FILE: FileKind = FileKind {
    noun: "description of a table",
    absent: "check the path",
    too_large: "name the description, not the data",
};

fn read_root(reader: &mut Reader<'_>, root: &Node, path: &Path) -> Option<Sidecar> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let sections = reader.table(root, SIDECAR, "[source]")?;
    let source = sections.get("source").and_then(|field| source::read(reader, field.node, folder));
    let drafts = sections.get("attributes").and_then(|field| attribute::read(reader, field.node, folder, false))?;
    for draft in drafts.iter().filter(|draft| draft.hierarchy_given) {
        if !draft.hierarchy_is_file() {
            let hint = "name the file that the labels come from, or leave the hierarchy out";
            reader.refuse_key(&draft.at, "only a hierarchy file can explain labels that are there already", hint);
        }
    }
    let attributes = drafts.into_iter().map(|draft| draft.finish(reader)).collect::<Option<Vec<_>>>()?;
    Some(Sidecar { source: source?, attributes })
}

impl Attribute {
    /// The hierarchy file, where there is one.
    pub fn hierarchy_file(&self) -> Option<&Path> {
        match &self.hierarchy {
            Some((HierarchySpec::File(path), _)) => Some(path),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Role;

    #[test]
    fn a_policy_without_rules() {
        let text = "[source]\npath = \"arx.csv\"\ndelimiter = \";\"\n[attributes]\nage = { role = \"quasi\", hierarchy = \"age.csv\" }\ndisease = { role = \"sensitive\" }\n";
        let sidecar = Sidecar::parse(text, Path::new("there/release.toml")).unwrap();
        assert_eq!(sidecar.source.path, Path::new("there/arx.csv"));
        assert_eq!(sidecar.attributes[0].hierarchy_file(), Some(Path::new("there/age.csv")));
        assert_eq!(sidecar.attributes[1].role, Role::Sensitive);
    }

    #[test]
    fn what_means_nothing_for_a_table_that_is_there_is_refused() {
        let text = "[source]\npath = \"arx.csv\"\n[attributes]\nage = { role = \"quasi\", hierarchy = { widths = [5] } }\n[publish]\nmethod = \"full-domain\"\n";
        let errors = Sidecar::parse(text, Path::new("release.toml")).unwrap_err().to_string();
        assert!(errors.contains("only a hierarchy file"), "{errors}");
        assert!(errors.contains("publish"), "{errors}");
        assert!(Sidecar::parse("[source", Path::new("release.toml")).is_err());
    }
}
