//! From a data file to a policy to start from.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use hedgerow_config::{Address, Engine, Selection};
use hedgerow_policy::propose::{self, FoundFormats, ProposeOptions, detected_formats, suspected_nulls};
use hedgerow_policy::{Method, Policy};
use hedgerow_table::read::ReadOptions;
use hedgerow_table::{InputError, Refusal, Table, TableError, whole};

use crate::dictionary;
use crate::folder::Folder;
use crate::{Compare, Compared, Error, ErrorKind, MeasureOptions, Monitor, Problem, Source, databases, source};

pub use hedgerow_policy::propose::{ColumnProfile, Relation};

/// A proposed policy, not written yet.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Proposal {
    /// Where the policy will be written.
    pub path: PathBuf,
    /// The policy and the hierarchy files, each with its path; the policy is last.
    pub files: Vec<(PathBuf, String)>,
    /// The profile of each column, in the order of the file.
    pub columns: Vec<ColumnProfile>,
    /// Relations between columns: one determines another, or is a sum.
    pub relations: Vec<Relation>,
    /// The number of rows in the file.
    pub rows: usize,
    /// Warnings from reading: columns that were skipped, numbers that stay text.
    pub warnings: Vec<Problem>,
}

/// Profiles a data file, or a table of a database (`sqlite:people.db?table=patients`), and proposes
/// a commented policy for it, to be written to `policy`. [`Propose`] has options.
///
/// ```
/// let proposal = hedgerow::init("../../examples/hospital/patients.csv", "patients-policy.toml")?;
/// assert_eq!(proposal.columns[0].name, "name");
/// # Ok::<(), hedgerow::Error>(())
/// ```
pub fn init(data: impl AsRef<Path>, policy: impl AsRef<Path>) -> Result<Proposal, Error> {
    Propose::new(Source::of_path(data)).policy_path(policy).run()
}

/// Proposing a policy, with options.
#[derive(Debug)]
#[must_use = "nothing is proposed before `run`"]
pub struct Propose<'a> {
    data: Source<'a>,
    policy: PathBuf,
}

impl<'a> Propose<'a> {
    /// Proposes a policy for a file, a table of a database, or rows in memory. A policy for rows in
    /// memory names no source.
    pub fn new(data: impl Into<Source<'a>>) -> Propose<'a> {
        Propose { data: data.into(), policy: PathBuf::from("policy.toml") }
    }

    /// Where the policy will be written; `policy.toml` by default. Hierarchy files are proposed
    /// beside it.
    pub fn policy_path(mut self, path: impl AsRef<Path>) -> Self {
        self.policy = path.as_ref().to_path_buf();
        self
    }

    /// Proposes.
    pub fn run(self) -> Result<Proposal, Error> {
        self.run_with(&Monitor::default())
    }

    /// Proposes, watched by a monitor that can also cancel.
    pub fn run_with(self, monitor: &Monitor<'_>) -> Result<Proposal, Error> {
        let Propose { data, policy } = self;
        let mut options = ReadOptions { progress: monitor, ..ReadOptions::default() };
        let path = data.path();
        let address = path.and_then(source::address);
        let mut table = data.read_as(None, &options)?;
        // Rows in memory have their types, and no `[source]` that could say what is missing.
        let suspected = if path.is_some() { suspected_nulls(&table) } else { Vec::new() };
        if !suspected.is_empty() {
            options.nulls.extend(suspected);
            table = data.read_as(None, &options)?;
        }
        // A database declares its types.
        let is_file = path.is_some() && address.is_none();
        let formats = if is_file { detected_formats(&table) } else { FoundFormats::default() };
        if !formats.is_empty() {
            formats.apply(&mut options);
            table = data.read_as(None, &options)?;
        }
        let shown = path.map_or_else(|| source::IN_MEMORY.to_owned(), source::shown);
        propose::refuse_unsuitable(&table, &shown).map_err(TableError::from)?;
        let folder = match policy.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let (source, selection) = match (&address, path) {
            (Some(address), _) => named(address, folder)?,
            (None, Some(path)) => (relative(path, folder), None),
            (None, None) => (String::new(), None),
        };
        let (nulls, database) = (options.nulls.clone(), address.is_some());
        let mut described = HashMap::new();
        match path.filter(|_| is_file).and_then(dictionary::beside) {
            Some(Ok((found, _))) => described = found,
            Some(Err(warning)) => table.to_mut().warnings.push(warning),
            None => {}
        }
        let mut options =
            ProposeOptions { database, selection, nulls, formats, described, ..ProposeOptions::default() };
        let mut proposed = propose::propose(&table, &source, &options);
        let mut trial = Trial::new(&table, &proposed)?;
        let mut kept = trial.as_ref().map(|trial| trial.all_methods(monitor)).transpose()?.flatten();
        if let Some(tried) = trial.as_ref().filter(|_| kept.as_deref().is_none_or(all_lose_more_than_half)) {
            options.costly = tried.costly(&proposed.protected, monitor)?;
            if !options.costly.is_empty() {
                proposed = propose::propose(&table, &source, &options);
                trial = Trial::new(&table, &proposed)?;
                kept = trial.as_ref().map(|trial| trial.all_methods(monitor)).transpose()?.flatten();
            }
        }
        let none_keeps = |kept: &Option<Vec<Compared>>| {
            let drafted = |compared: &&Compared| ["full-domain", "cluster"].contains(&compared.method);
            kept.as_ref().is_none_or(|kept| kept.iter().filter(drafted).all(|compared| compared.loss.is_none()))
        };
        // Where a unit has many values, no class may keep every rule for all of them at once; and
        // where hardly any units are alike, none keeps any.
        for (one_row, no_unit) in [(true, false), (false, true)] {
            if proposed.unit.is_some() && none_keeps(&kept) {
                let options = ProposeOptions { one_row, no_unit, ..options.clone() };
                proposed = propose::propose(&table, &source, &options);
                trial = Trial::new(&table, &proposed)?;
                kept = trial.as_ref().map(|trial| trial.all_methods(monitor)).transpose()?.flatten();
            }
        }
        let text = kept.map_or_else(|| proposed.policy.clone(), |kept| with_best_method(&proposed.policy, &kept));
        let mut files: Vec<(PathBuf, String)> =
            proposed.files.into_iter().map(|(path, text)| (folder.join(path), text)).collect();
        files.push((policy.clone(), text));
        let odd = propose::odd_texts(&table, &shown);
        Ok(Proposal {
            path: policy,
            files,
            columns: proposed.profiles,
            relations: proposed.relations,
            rows: table.rows,
            warnings: table.warnings.iter().cloned().chain(odd).map(Problem::warning).collect(),
        })
    }
}

/// Rows on which the methods are tried.
const TRIED_ROWS: usize = 1000;

/// A proposed policy over a sample of the rows.
struct Trial {
    policy: Policy,
    rows: Table,
    /// The hierarchy files.
    _folder: Folder,
}

impl Trial {
    /// `None` where the policy cannot be tried.
    fn new(table: &Table, proposed: &propose::Proposal) -> Result<Option<Trial>, Error> {
        const NODES_MAX: u64 = 2000;
        let folder = Folder::new()?;
        for (path, text) in &proposed.files {
            let path = folder.path().join(path);
            let parent = path.parent().unwrap_or(folder.path());
            std::fs::create_dir_all(parent).map_err(|error| TableError::io(parent, error))?;
            std::fs::write(&path, text).map_err(|error| TableError::io(&path, error))?;
        }
        let path = folder.path().join("policy.toml");
        let Ok(mut policy) = Policy::parse(&proposed.policy, &path) else { return Ok(None) };
        policy.publish.max_nodes = Some(NODES_MAX);
        policy.publish.max_seconds = None;
        Ok(Some(Trial { policy, rows: some_rows(table, proposed.unit.as_deref()), _folder: folder }))
    }

    /// The result of each method.
    fn all_methods(&self, monitor: &Monitor<'_>) -> Result<Option<Vec<Compared>>, Error> {
        self.compared(&self.policy, None, monitor)
    }

    fn compared(
        &self,
        policy: &Policy,
        methods: Option<&'static [Method]>,
        monitor: &Monitor<'_>,
    ) -> Result<Option<Vec<Compared>>, Error> {
        let mut options = MeasureOptions::default();
        options.queries.count = 0;
        let policy = policy.clone().into();
        let mut compare = Compare::new(&policy).source(&self.rows).queries(options);
        if let Some(methods) = methods {
            compare = compare.methods(methods);
        }
        match compare.run_with(monitor) {
            Ok(kept) => Ok(Some(kept)),
            Err(error) if matches!(error.kind(), ErrorKind::Canceled | ErrorKind::Io) => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// Those of the protected attributes whose rules make the others lose more than half. They are
    /// added in their order, and stay while the release is worth something.
    fn costly(&self, protected: &[String], monitor: &Monitor<'_>) -> Result<Vec<String>, Error> {
        let mut omitted = protected.to_vec();
        for name in protected {
            let tried: Vec<String> = omitted.iter().filter(|other| *other != name).cloned().collect();
            let mut policy = self.policy.clone();
            policy.rules.retain(|rule| !rule.protected().any(|protected| tried.contains(protected)));
            policy.attributes.retain(|attribute| !tried.contains(&attribute.name));
            if policy.rules.is_empty() {
                return Ok(Vec::new());
            }
            let kept = self.compared(&policy, Some(&[Method::Cluster]), monitor)?;
            if kept.is_some_and(|kept| !all_lose_more_than_half(&kept)) {
                omitted = tried;
            }
        }
        // Where none can stay, it is not the rules that cost.
        Ok(if omitted.len() == protected.len() { Vec::new() } else { omitted })
    }
}

/// The share of what a release can lose from which another method, or fewer rules, are worth a try.
const HALF: f64 = 0.5;

fn all_lose_more_than_half(kept: &[Compared]) -> bool {
    kept.iter().all(|compared| compared.loss.as_ref().is_none_or(|loss| loss.ncp > HALF))
}

/// Evenly spread rows; where they belong to units, all rows of evenly spread units.
fn some_rows(table: &Table, unit: Option<&str>) -> Table {
    let step = table.rows.div_ceil(TRIED_ROWS).max(1) as u32;
    let unit = unit.and_then(|name| table.column(name));
    let mut numbers: HashMap<u32, u32> = HashMap::new();
    let number = |row: u32| match unit {
        Some(column) => {
            let next = numbers.len() as u32;
            *numbers.entry(column.codes.get(row as usize)).or_insert(next)
        }
        None => row,
    };
    let numbered: Vec<u32> = (0..table.rows as u32).map(number).collect();
    let rows: Vec<u32> = (0..table.rows as u32).filter(|&row| numbered[row as usize].is_multiple_of(step)).collect();
    table.of_rows(&rows)
}

/// The policy with what the methods keep as a comment, and by the method `cluster` where
/// full-domain recoding loses more than half.
fn with_best_method(policy: &str, kept: &[Compared]) -> String {
    let lost = |name: &str| kept.iter().find(|compared| compared.method == name).and_then(|found| found.loss.as_ref());
    let shown: Vec<String> = kept
        .iter()
        .map(|compared| match &compared.loss {
            Some(loss) => format!("{} {:.2}", compared.method, loss.ncp),
            None => format!("{} keeps no rule", compared.method),
        })
        .collect();
    let comment = format!("# Loss (ncp) by method, on a part of the rows: {}.\n", shown.join(", "));
    let Some((before, rest)) = policy.split_once("\n[publish]\n") else { return policy.to_owned() };
    let full_domain_is_poor = lost("full-domain").is_none_or(|loss| loss.ncp > HALF) && lost("cluster").is_some();
    if full_domain_is_poor && rest.starts_with("method = \"full-domain\"") {
        let end = rest.find("\n\n").map_or(rest.len(), |end| end + 1);
        let why = "# one level for each column would lose more than half";
        // Units that no others are like are suppressed by every method.
        let suppression = rest[..end].lines().find(|line| line.starts_with("suppression") && line.contains("units"));
        let suppression = suppression.map_or_else(String::new, |line| format!("{line}\n"));
        return format!("{before}\n[publish]\nmethod = \"cluster\"  {why}\n{suppression}{comment}{}", &rest[end..]);
    }
    let (method, rest) = rest.split_once('\n').unwrap_or((rest, ""));
    format!("{before}\n[publish]\n{method}\n{comment}{rest}")
}

impl Proposal {
    /// Writes the policy and its hierarchies: all files or none. A file that exists is refused,
    /// unless `overwrite`.
    pub fn write(&self, overwrite: bool) -> Result<(), Error> {
        if let Some((path, _)) = self.files.iter().find(|(path, _)| !overwrite && path.exists()) {
            let hint = "choose another name for the policy, or allow files to be replaced";
            let error = InputError::new(path.display().to_string(), "exists already", hint);
            return Err(error.refusing(Refusal::FileExists).into());
        }
        Ok(whole::write_all(&self.files)?)
    }
}

/// Where a policy for this data is written by default: beside a file, else here.
pub fn policy_beside(data: impl AsRef<Path>) -> PathBuf {
    let data = data.as_ref();
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
    let (url, selection) = databases::divided(address)?;
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
