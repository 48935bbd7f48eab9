//! The arguments, and what they name: a policy, a data file, a database or releases.

use std::path::{Path, PathBuf};

use clap::Parser;

/// Opens a policy, a data file or releases in the browser.
///
/// The page is served on this machine alone, to the browser that opens the printed address. Every
/// change is written to the policy at once and can be undone.
#[derive(Debug, Parser)]
#[command(name = "hedgerow-studio", bin_name = "hedgerow studio", version, max_term_width = 120)]
pub(crate) struct Arguments {
    /// A data file or the address of a database, a policy, or directories of releases; the policy
    /// `policy.toml` in the current directory when nothing is named
    #[arg(value_name = "DATA | POLICY | RELEASE")]
    pub(crate) named: Vec<PathBuf>,
    /// Listen on this port instead of any that is free
    #[arg(long, value_name = "N")]
    pub(crate) port: Option<u16>,
    /// Print the address, and open no browser
    #[arg(long)]
    pub(crate) no_browser: bool,
}

/// The files or addresses that the arguments name.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct NamedInput {
    /// All files that the studio reads or writes are in here, or named on the command line.
    pub(crate) folder: PathBuf,
    pub(crate) policy: Option<PathBuf>,
    pub(crate) data: Option<PathBuf>,
    pub(crate) releases: Vec<PathBuf>,
}

impl NamedInput {
    /// Sorts the arguments by what they are. `current` is the current directory.
    pub(crate) fn sort(arguments: &[PathBuf], current: &Path) -> Result<NamedInput, String> {
        let mut named = NamedInput::default();
        for argument in arguments {
            let path = current.join(argument);
            if is_address(argument) {
                set(&mut named.data, argument.clone(), "data file or database")?;
            } else if is_release(&path) {
                named.releases.push(path);
            } else if path.is_dir() {
                return Err(format!(
                    "{}: the directory has no datapackage.json and no release.toml\nhint: name a release, a policy or a data file",
                    argument.display()
                ));
            } else if !path.is_file() {
                return Err(format!(
                    "{}: the file does not exist\nhint: name a data file, a policy or a release",
                    argument.display()
                ));
            } else if path.extension().is_some_and(|suffix| suffix == "toml") {
                set(&mut named.policy, path, "policy")?;
            } else {
                set(&mut named.data, path, "data file or database")?;
            }
        }
        if named.policy.is_some() && named.data.is_some() {
            return Err(
                "a policy names its data: give the policy or the data, not both\nhint: open the policy".to_owned()
            );
        }
        let of_file = named.policy.as_deref().or(named.data.as_deref().filter(|data| !is_address(data)));
        named.folder = of_file.and_then(Path::parent).unwrap_or(current).to_path_buf();
        Ok(named)
    }
}

fn set(slot: &mut Option<PathBuf>, path: PathBuf, what: &str) -> Result<(), String> {
    if slot.is_some() {
        return Err(format!("{}: a second {what}\nhint: the studio opens one; start a second studio", path.display()));
    }
    *slot = Some(path);
    Ok(())
}

/// Whether this is the address of a database instead of a path.
pub(crate) fn is_address(path: &Path) -> bool {
    let text = path.to_string_lossy();
    ["sqlite:", "postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme))
}

/// Whether a directory is a release, ours or described by a `release.toml`.
pub(crate) fn is_release(path: &Path) -> bool {
    path.join("datapackage.json").is_file() || path.join("release.toml").is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_sorted_by_what_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("people.csv"), "a\n1\n").unwrap();
        std::fs::write(at("policy.toml"), "").unwrap();
        std::fs::create_dir(at("release")).unwrap();
        std::fs::write(at("release/datapackage.json"), "{}").unwrap();
        std::fs::create_dir(at("other")).unwrap();
        let sort =
            |names: &[&str]| NamedInput::sort(&names.iter().map(PathBuf::from).collect::<Vec<_>>(), folder.path());

        let named = sort(&["policy.toml", "release"]).unwrap();
        assert_eq!((named.policy, named.releases), (Some(at("policy.toml")), vec![at("release")]));
        assert_eq!(named.folder, folder.path());
        assert_eq!(sort(&["people.csv"]).unwrap().data, Some(at("people.csv")));
        assert_eq!(sort(&["sqlite:people.db"]).unwrap().data, Some("sqlite:people.db".into()));
        assert_eq!(sort(&[]).unwrap().folder, folder.path());
        for bad in [&["other"][..], &["none.csv"], &["policy.toml", "policy.toml"], &["people.csv", "policy.toml"]] {
            assert!(sort(bad).is_err(), "{bad:?}");
        }
    }
}
