//! `release.toml`: what the columns of a released table are, for a release without a manifest, made
//! by hand or by another program. It has the tables `[source]` and `[attributes]` of a policy, and
//! nothing else.
//!
//! A quasi-identifier may name the hierarchy file that its labels come from; else a label means
//! what its text says.

use std::path::{Path, PathBuf};

use hedgerow_config::source::{self, file_path};
use hedgerow_config::{ConfigErrors, Data, Field, FileKind, Reader, TomlNode, Word, key_text};
use hedgerow_table::read::NumberFormat;

use crate::foreign::ForeignTable;
use crate::role::{ROLES, Role};

const DESCRIPTION: FileKind = FileKind {
    noun: "description of a table",
    absent: "check the path",
    too_large: "name the description, not the data",
};

const SECTIONS: &[Word] = &[
    Word::key("source", "[source]", "where the table is").also(&["data", "input"]).required(),
    Word::key("attributes", "[attributes]", "what each column is").also(&["columns", "attribute"]).required(),
];

const ATTRIBUTE: &[Word] = &[
    Word::key("role", "role = \"quasi\"", "what the attribute is to an attacker").required(),
    Word::key("hierarchy", "hierarchy = \"age.csv\"", "the hierarchy file that its labels come from")
        .also(&["generalization", "levels"]),
];

const HIERARCHY: &[Word] =
    &[Word::key("file", "file = \"age.csv\"", "a file with `leaf;level 1;…;top` in every row").also(&["path"])];

impl ForeignTable {
    /// As the file describes it.
    pub fn load(path: &Path) -> Result<ForeignTable, ConfigErrors> {
        hedgerow_config::load(path, DESCRIPTION, |reader, root| read(reader, root, path))
    }

    /// `path` names the file in messages, and its folder is where relative paths start.
    pub fn parse(text: &str, path: &Path) -> Result<ForeignTable, ConfigErrors> {
        hedgerow_config::parse(text, path, DESCRIPTION, |reader, root| read(reader, root, path))
    }
}

fn read(reader: &mut Reader<'_>, root: &TomlNode, path: &Path) -> Option<ForeignTable> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let sections = reader.table(root, SECTIONS, "[source]")?;
    let source = sections.get("source").and_then(|field| source::read(reader, field.node, folder));
    let (mut quasi, mut sensitive) = (Vec::new(), Vec::new());
    let attributes = sections.get("attributes")?;
    for (name, field) in reader.entries(attributes) {
        match read_attribute(reader, name, field.node, folder) {
            Some((Role::Quasi, hierarchy)) => quasi.push((name.to_owned(), hierarchy)),
            Some((Role::Sensitive, _)) => sensitive.push(name.to_owned()),
            Some((Role::Unit, _)) => {
                let hint =
                    "give the column the role `identifier`: adversaries look at the rows of a table made elsewhere";
                reader.refuse_key(&field.node.at, "units are not counted in a table made elsewhere", hint);
            }
            Some((Role::Identifier | Role::Plain, _)) | None => {}
        }
    }
    if quasi.is_empty() {
        let problem = "no attribute has the role `quasi`: an attacker would know nothing to look people up by";
        let hint = "give the role `quasi` to what others may know of a person, such as age, sex and place";
        reader.refuse_key(&attributes.node.at, problem, hint);
    }
    let source = source?;
    if let Some(column) = source.unit.first() {
        let hint = "remove `unit`: adversaries look at the rows of a table made elsewhere";
        reader.refuse_place(&column.place, "units are not counted in a table made elsewhere", hint);
    }
    if source.database.is_some() || source.cluster.is_some() {
        let hint = "export the table, and name it with `path`";
        reader.refuse_place(&source.place, "a table that was made elsewhere is read from a file", hint);
        return None;
    }
    let numbers = NumberFormat::new(source.decimal, source.thousands).unwrap_or_default();
    let (path, nulls, date_format) = (source.path, source.nulls, source.date_format);
    let (format, delimiter, quote) = (source.format, source.delimiter, source.quote);
    Some(ForeignTable { path, nulls, delimiter, quote, format, numbers, date_format, quasi, sensitive })
}

fn read_attribute(
    reader: &mut Reader<'_>,
    name: &str,
    node: &TomlNode,
    folder: &Path,
) -> Option<(Role, Option<PathBuf>)> {
    let fields = reader.table(node, ATTRIBUTE, &format!("{} = {{ role = \"quasi\" }}", key_text(name)))?;
    let role = fields.get("role").and_then(|field| reader.choice(field, ROLES.iter(), "role"));
    let hierarchy = match fields.get("hierarchy") {
        Some(field) => Some(folder.join(read_hierarchy(reader, field)?)),
        None => None,
    };
    Some((Role::from_name(role?)?, hierarchy))
}

fn read_hierarchy<'n>(reader: &mut Reader<'_>, field: Field<'n>) -> Option<&'n str> {
    match &field.node.data {
        Data::Table(entries) if entries.iter().any(|(key, _)| key == "file") => {
            let fields = reader.table(field.node, HIERARCHY, "hierarchy = \"age.csv\"")?;
            file_path(reader, fields.get("file")?)
        }
        Data::Table(_) => {
            let hint = "name the file that the labels come from, or omit the hierarchy";
            reader.refuse_key(&field.node.at, "only a hierarchy file can explain labels that are there already", hint);
            None
        }
        _ => file_path(reader, field),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_and_hierarchy_files_are_read() {
        let text = "[source]\npath = \"arx.csv\"\ndelimiter = \";\"\n[attributes]\n\
                    age = { role = \"quasi-identifier\", hierarchy = \"age.csv\" }\n\
                    zip = { role = \"qi\", hierarchy = { file = \"zip.csv\" } }\n\
                    disease = { role = \"sensitive\" }\nname = { role = \"identifier\" }\n";
        let table = ForeignTable::parse(text, Path::new("there/release.toml")).unwrap();
        assert_eq!((table.path.as_path(), table.delimiter), (Path::new("there/arx.csv"), Some(b';')));
        let file = |name: &str, path: &str| (name.to_owned(), Some(PathBuf::from(path)));
        assert_eq!(table.quasi, [file("age", "there/age.csv"), file("zip", "there/zip.csv")]);
        assert_eq!(table.sensitive, ["disease"]);
    }

    #[test]
    fn keys_without_meaning_for_an_existing_table_are_refused() {
        let text = "[source]\npath = \"arx.csv\"\n[attributes]\nage = { role = \"quasi\", hierarchy = { widths = [5] } }\n\
                    sex = { role = \"quasi\" }\n[publish]\nmethod = \"full-domain\"\n";
        let errors = ForeignTable::parse(text, Path::new("release.toml")).unwrap_err().to_string();
        assert!(errors.contains("4:25: attributes.age.hierarchy: only a hierarchy file"), "{errors}");
        assert!(errors.contains("6:2: publish: unknown key"), "{errors}");
        assert!(ForeignTable::parse("[source", Path::new("release.toml")).is_err());
        let none = "[source]\npath = \"arx.csv\"\n[attributes]\nsex = { role = \"plain\" }\n";
        let errors = ForeignTable::parse(none, Path::new("release.toml")).unwrap_err().to_string();
        assert!(errors.contains("no attribute has the role `quasi`"), "{errors}");
    }
}
