//! A folder with the hierarchies of the synthetic census, and policies over it: age, sex, education
//! and birthplace are known.

use std::fs;
use std::path::{Path, PathBuf};

use hedgerow_policy::Policy;
use hedgerow_publish::{PublishOptions, Published, Source, TableFormat, publish};
use hedgerow_table::NoProgress;

/// Removed when it goes out of scope.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder for temporary files");
        for (name, text) in hedgerow_synth::census_hierarchies() {
            fs::write(folder.join(format!("{name}.csv")), text).expect("written");
        }
        Folder(folder)
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Publishes beside the source, which lies in this folder.
    pub(crate) fn publish(&self, source: &Path, sensitive: &str, rules: &str, settings: &str) -> (PathBuf, Published) {
        let destination = source.with_extension("release");
        let options = PublishOptions {
            destination: destination.clone(),
            overwrite: true,
            format: TableFormat::Csv,
            seed: None,
            candidates: false,
            nodes_max: None,
            seconds_max: None,
            levels: Vec::new(),
            metadata: Vec::new(),
            gate: Default::default(),
            progress: &NoProgress,
        };
        let policy = self.policy(source, sensitive, rules, settings);
        (destination, publish(&policy, Source::Policy, &options).unwrap_or_else(|error| panic!("{error}")))
    }

    pub(crate) fn policy(&self, source: &Path, sensitive: &str, rules: &str, settings: &str) -> Policy {
        let text = format!(
            "[source]\npath = \"{}\"\n[attributes]\nage = {{ role = \"quasi\", hierarchy = {{ widths = [5, 10, 20] }} }}\n\
             sex = {{ role = \"quasi\" }}\neducation = {{ role = \"quasi\", hierarchy = \"education.csv\" }}\n\
             birthplace = {{ role = \"quasi\", hierarchy = \"birthplace.csv\" }}\n{sensitive} = {{ role = \"sensitive\" }}\n\
             {rules}[publish]\n{settings}",
            source.file_name().and_then(|name| name.to_str()).expect("named by whoever wrote it"),
        );
        Policy::parse(&text, &self.file("policy.toml")).unwrap_or_else(|errors| panic!("{errors}"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
