//! A folder with the hierarchies of the synthetic census, and policies over it: age, sex, education
//! and birthplace are known.

use std::fs;
use std::path::{Path, PathBuf};

use hedgerow_policy::Policy;
use hedgerow_publish::bind::read_source;
use hedgerow_publish::{PublishOptions, Published, RowSource, publish};
use hedgerow_table::{NoProgress, Table};
use tempfile::TempDir;

use crate::experiment::Trouble;

/// ε-cloning with the paper's number of classes.
pub(super) const CLONE: &str = "method = \"clone\"\n";

/// Removed when it goes out of scope.
pub(super) struct Folder(TempDir);

impl Folder {
    pub(super) fn new() -> Result<Folder, Trouble> {
        let folder = tempfile::tempdir()?;
        for (name, text) in hedgerow_synth::census_hierarchies() {
            fs::write(folder.path().join(format!("{name}.csv")), text)?;
        }
        Ok(Folder(folder))
    }

    /// Writes a table of lines that have their line breaks.
    pub(super) fn write(&self, name: &str, header: &str, people: &[&[String]]) -> Result<PathBuf, Trouble> {
        let path = self.0.path().join(name);
        let mut text = header.to_owned();
        people.iter().copied().flatten().for_each(|line| text.push_str(line));
        fs::write(&path, text)?;
        Ok(path)
    }

    /// Publishes beside the source, which lies in this folder.
    pub(super) fn publish(
        &self,
        source: &Path,
        sensitive: &str,
        rules: &str,
        settings: &str,
    ) -> Result<(PathBuf, Published), Trouble> {
        let destination = source.with_extension("release");
        let options = PublishOptions {
            overwrite: true, // Nothing of it is published; the record is the same in every run.
            seed: Some(1),
            ..PublishOptions::to(destination.clone())
        };
        let policy = self.policy(source, sensitive, rules, settings)?;
        Ok((destination, publish(&policy, RowSource::Policy, &options)?))
    }

    /// Reads the attributes of a cloned table.
    pub(super) fn read(&self, source: &Path, sensitive: &str) -> Result<Table, Trouble> {
        Ok(read_source(&self.policy(source, sensitive, "", CLONE)?, &NoProgress)?)
    }

    fn policy(&self, source: &Path, sensitive: &str, rules: &str, settings: &str) -> Result<Policy, Trouble> {
        let name = source.file_name().and_then(|name| name.to_str()).ok_or("a source has a name")?;
        let text = format!(
            "[source]\npath = \"{name}\"\n[attributes]\nage = {{ role = \"quasi\", hierarchy = {{ widths = [5, 10, 20] }} }}\n\
             sex = {{ role = \"quasi\" }}\neducation = {{ role = \"quasi\", hierarchy = \"education.csv\" }}\n\
             birthplace = {{ role = \"quasi\", hierarchy = \"birthplace.csv\" }}\n{sensitive} = {{ role = \"sensitive\" }}\n\
             {rules}[publish]\n{settings}",
        );
        Ok(Policy::parse(&text, &self.0.path().join("policy.toml")).map_err(|errors| errors.to_string())?)
    }
}
