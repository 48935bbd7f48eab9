//! From a data file to a policy to start from.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use hedgerow_config::{Address, Engine, Selection};
use hedgerow_policy::propose::{self, FoundFormats, ProposeOptions, detected_formats, suspected_nulls};
use hedgerow_table::TableError;
use hedgerow_table::read::ReadOptions;

use crate::{Error, Monitor, Problem, source};

pub use hedgerow_policy::propose::{ColumnProfile, Relation};

/// A proposed policy, not written yet.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Proposal {
    /// Where the policy will be written.
    pub path: PathBuf,
    /// The policy and the hierarchy files, each with its path; the policy is last.
    pub files: Vec<(PathBuf, String)>,
    /// What was found about each column, in the order of the file.
    pub columns: Vec<ColumnProfile>,
    /// What columns disclose about one another: one determines another, or is a sum.
    pub relations: Vec<Relation>,
    /// How many rows the file has.
    pub rows: usize,
    /// What could not be read as it is: columns that were skipped, numbers that stay text.
    pub warnings: Vec<Problem>,
}

/// Profiles a data file, or a table of a database (`sqlite:people.db?table=patients`), and proposes
/// a commented policy for it, to be written to `policy`.
///
/// ```
/// let proposal = hedgerow::init("../../examples/hospital/patients.csv", "patients-policy.toml")?;
/// assert_eq!(proposal.columns[0].name, "name");
/// # Ok::<(), hedgerow::Error>(())
/// ```
pub fn init(data: impl AsRef<Path>, policy: impl AsRef<Path>) -> Result<Proposal, Error> {
    init_with(data.as_ref(), policy.as_ref(), &Monitor::default())
}

/// As [`init`], watched by a monitor that can also cancel.
pub fn init_with(data: &Path, policy: &Path, monitor: &Monitor<'_>) -> Result<Proposal, Error> {
    let mut options = ReadOptions { progress: monitor, ..ReadOptions::default() };
    let address = source::address(data);
    let mut table = source::read(data, &options)?;
    let suspected = suspected_nulls(&table);
    if !suspected.is_empty() {
        options.nulls.extend(suspected);
        table = source::read(data, &options)?;
    }
    // A database declares its types.
    let formats = if address.is_some() { FoundFormats::default() } else { detected_formats(&table) };
    if !formats.is_empty() {
        formats.apply(&mut options);
        table = source::read(data, &options)?;
    }
    propose::refuse_unsuitable(&table, &source::shown(data)).map_err(TableError::from)?;
    let folder = match policy.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let (source, selection) = match &address {
        Some(address) => named(address, folder)?,
        None => (relative(data, folder), None),
    };
    let (nulls, database) = (options.nulls.clone(), address.is_some());
    let options = ProposeOptions { database, selection, nulls, formats, ..ProposeOptions::default() };
    let proposed = propose::propose(&table, &source, &options);
    let mut files: Vec<(PathBuf, String)> =
        proposed.files.into_iter().map(|(path, text)| (folder.join(path), text)).collect();
    files.push((policy.to_path_buf(), proposed.policy));
    Ok(Proposal {
        path: policy.to_path_buf(),
        files,
        columns: proposed.profiles,
        relations: proposed.relations,
        rows: table.rows,
        warnings: table.warnings.into_iter().map(Problem::warning).collect(),
    })
}

impl Proposal {
    /// Writes the policy and its hierarchies: all files or none. A file that exists is refused,
    /// unless `overwrite`.
    pub fn write(&self, overwrite: bool) -> Result<(), Error> {
        if let Some((path, _)) = self.files.iter().find(|(path, _)| !overwrite && path.exists()) {
            let hint = "choose another name for the policy, or allow files to be replaced";
            return Err(TableError::input(path.display().to_string(), "exists already", hint).into());
        }
        let folders: HashSet<&Path> = self.files.iter().filter_map(|(path, _)| path.parent()).collect();
        for folder in folders.into_iter().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|error| TableError::io(folder, error))?;
        }
        for (path, text) in &self.files {
            std::fs::write(path, text).map_err(|error| TableError::io(path, error))?;
        }
        Ok(())
    }
}

/// Where a policy for this data is written when nobody says where: beside a file, else here.
pub fn policy_beside(data: &Path) -> PathBuf {
    match source::address(data) {
        Some(address) if address.engine() == Engine::Sqlite => {
            let path = address.sqlite_path().split('?').next().unwrap_or_default();
            Path::new(path).with_file_name("policy.toml")
        }
        Some(_) => PathBuf::from("policy.toml"),
        None => data.with_file_name("policy.toml"),
    }
}

/// A database as the policy names it, without a password, and what is read there.
fn named(address: &Address, folder: &Path) -> Result<(String, Option<Selection>), Error> {
    let (url, selection) = hedgerow_databases::divided(address)?;
    let url = match address.engine() {
        Engine::Postgres => url,
        Engine::Sqlite => format!(
            "sqlite:{}",
            relative(Path::new(url.trim_start_matches("sqlite:").trim_start_matches("//")), folder)
        ),
    };
    Ok((url, selection))
}

/// The data's path as the policy names it: from the policy's folder where that is a prefix, else
/// whole.
fn relative(data: &Path, folder: &Path) -> String {
    let whole = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let (data, folder) = (whole(data), whole(folder));
    data.strip_prefix(&folder).unwrap_or(&data).display().to_string()
}
