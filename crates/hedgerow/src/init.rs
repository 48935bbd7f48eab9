//! From a data file to a policy to start from.

mod consistent;
mod exposed;
mod trial;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use hedgerow_config::{Address, Engine, Selection};
use hedgerow_policy::propose::{
    self, FoundFormats, ProposeOptions, RepeatingIdentifier, detected_formats, suspected_nulls,
};
use hedgerow_table::read::ReadOptions;
use hedgerow_table::{InputError, Refusal, Table, TableError, whole};

use crate::dictionary;
use crate::{Compared, Error, Monitor, Problem, Source, databases, source};
use trial::{HALF, PolicyTrial, all_lose_more_than_half, combinations_are_missing};

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
    overwrite: bool,
    on_read: Option<OnRead<'a>>,
}

/// A function that gets the rows.
struct OnRead<'a>(Box<dyn Fn(&Table) + Send + 'a>);

impl std::fmt::Debug for OnRead<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("OnRead")
    }
}

impl<'a> Propose<'a> {
    /// Proposes a policy for a file, a table of a database, or rows in memory. A policy for rows in
    /// memory names no source.
    pub fn new(data: impl Into<Source<'a>>) -> Propose<'a> {
        Propose { data: data.into(), policy: PathBuf::from("policy.toml"), overwrite: true, on_read: None }
    }

    /// Where the policy will be written; `policy.toml` by default. Hierarchy files are proposed
    /// beside it.
    pub fn policy_path(mut self, path: impl AsRef<Path>) -> Self {
        self.policy = path.as_ref().to_path_buf();
        self
    }

    /// With `false`, a policy file that exists is refused before the data is read; `true` leaves
    /// that to [`Proposal::write`].
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// A function that gets the rows as soon as they are read: choosing a method takes longer.
    ///
    /// ```
    /// let rows = std::sync::atomic::AtomicUsize::new(0);
    /// let read = |table: &hedgerow::Table| rows.store(table.rows, std::sync::atomic::Ordering::Relaxed);
    /// hedgerow::Propose::new("../../examples/hospital/patients.csv").on_read(read).run()?;
    /// assert_eq!(rows.into_inner(), 96);
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    pub fn on_read(mut self, tell: impl Fn(&Table) + Send + 'a) -> Self {
        self.on_read = Some(OnRead(Box::new(tell)));
        self
    }

    /// Proposes.
    pub fn run(self) -> Result<Proposal, Error> {
        self.run_with(&Monitor::default())
    }

    /// Proposes, watched by a monitor that can also cancel.
    pub fn run_with(self, monitor: &Monitor<'_>) -> Result<Proposal, Error> {
        let Propose { data, policy, overwrite, on_read } = self;
        if !overwrite {
            refuse_existing(&policy)?;
        }
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
        if let Some(OnRead(tell)) = &on_read {
            tell(&table);
        }
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
        let mut trial = PolicyTrial::new(&table, &proposed)?;
        let mut kept = trial.as_ref().map(|trial| trial.all_methods(monitor)).transpose()?.flatten();
        if let Some(tried) = trial.as_ref().filter(|_| kept.as_deref().is_none_or(all_lose_more_than_half)) {
            options.costly = tried.costly(&proposed.protected, monitor)?;
            if !options.costly.is_empty() {
                proposed = propose::propose(&table, &source, &options);
                trial = PolicyTrial::new(&table, &proposed)?;
                kept = trial.as_ref().map(|trial| trial.all_methods(monitor)).transpose()?.flatten();
            }
        }
        let none_keeps = |kept: &Option<Vec<Compared>>| {
            let drafted = |compared: &&Compared| ["full-domain", "cluster"].contains(&compared.method);
            kept.as_ref().is_none_or(|kept| kept.iter().filter(drafted).all(|compared| compared.loss.is_none()))
        };
        // Where a unit has many values, no class may keep every rule for all of them at once; and
        // where hardly any units are alike, none keeps any.
        let weaker = [(true, false), (false, true), (true, true)];
        let weaker = weaker.map(|(one_row, two_values)| ProposeOptions { one_row, two_values, ..options.clone() });
        for weaker in weaker.into_iter().chain([ProposeOptions { no_unit: true, ..options.clone() }]) {
            if proposed.unit.is_some() && none_keeps(&kept) {
                proposed = propose::propose(&table, &source, &weaker);
                trial = PolicyTrial::new(&table, &proposed)?;
                kept = trial.as_ref().map(|trial| trial.all_methods(monitor)).transpose()?.flatten();
                options = weaker;
            }
        }
        let missing = combinations_are_missing(&table, &proposed)?;
        let mut is_consistent = false;
        if missing && let Some((found, losses)) = consistent::draft(&table, &source, options, kept.as_deref(), monitor)?
        {
            (proposed, kept, is_consistent) = (found, Some(losses), true);
        }
        let mut text = kept.map_or_else(|| proposed.policy.clone(), |kept| with_best_method(&proposed.policy, &kept));
        let mut warnings: Vec<InputError> = table.warnings.clone();
        if missing && !is_consistent {
            let found = exposed::examine(&table, &proposed, &text, monitor)?;
            if found.as_ref().is_none_or(|found| found.people > 0) {
                let warning = exposed::warning(&policy.display().to_string(), found.as_ref(), proposed.unit.is_some());
                text.push_str(&exposed::comment(&warning));
                warnings.push(warning);
            }
        }
        if let Some(repeating) = &proposed.repeating {
            let warning = rows_are_counted(&policy.display().to_string(), repeating);
            text.push_str(&exposed::comment(&warning));
            warnings.push(warning);
        }
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
            warnings: warnings.into_iter().chain(odd).map(Problem::warning).collect(),
        })
    }
}

/// The warning of an identifier that repeats, where the rules of a draft do not count its values.
fn rows_are_counted(place: &str, repeating: &RepeatingIdentifier) -> InputError {
    let RepeatingIdentifier { name, rows, values, missing } = repeating;
    let why = match missing {
        0 => "with the role `unit`, hardly any of them look alike, so that no release keeps the rules".to_owned(),
        missing => format!("{missing} rows lack it, so that nothing says whom these are about"),
    };
    let problem = format!(
        "`{name}` repeats: {rows} rows have {values} values of it, and the draft's rules count rows: a class of k rows may be \
         about fewer than k people ({why})"
    );
    let hint = match missing {
        0 => "keep one row for each value, or take fewer attributes as quasi-identifiers and give it the role `unit`",
        _ => "give each row its value, or leave these rows out, and give it the role `unit`",
    };
    InputError::new(place, problem, hint).about("units", [name], Some(*values))
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
        if !overwrite {
            self.files.iter().try_for_each(|(path, _)| refuse_existing(path))?;
        }
        Ok(whole::write_all(&self.files)?)
    }
}

fn refuse_existing(path: &Path) -> Result<(), Error> {
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    let hint = "choose another name for the policy, or allow files to be replaced";
    let error = InputError::new(path.display().to_string(), "exists already", hint);
    Err(error.refusing(Refusal::FileExists).into())
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
