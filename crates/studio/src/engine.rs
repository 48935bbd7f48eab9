//! The studio's calls to the library: reading, proposing, publishing, exploring, measuring and
//! auditing. Nothing else in the studio computes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use hedgerow::{
    Answer, Audit, Audited, Compare, Compared, Error, ExamineRules, Exploration, Explore, Monitor, Policy,
    ProfiledColumn, Propose, Publish, Published, Release, Report, Reported, Role, RulesReport, Source, Table,
    UNIQUENESS_ATTRIBUTES_MAX, UniqueSet, Why,
};

/// The rows of a policy's source, and what was counted in them.
#[derive(Debug)]
pub(crate) struct Data {
    /// Without identifiers: they are never released, and take the most memory.
    pub(crate) table: Table,
    pub(crate) columns: Vec<ProfiledColumn>,
    /// Changes when the file or the way to read it does.
    pub(crate) stamp: String,
}

/// The columns of a table for which a policy is being proposed.
#[derive(Debug)]
pub(crate) struct Glimpse {
    pub(crate) rows: u64,
    pub(crate) columns: Vec<ProfiledColumn>,
}

/// The results so far. Each result remembers the version of the policy that it is about.
#[derive(Debug, Default)]
pub(crate) struct Computed {
    pub(crate) data: Option<Arc<Data>>,
    /// The columns that are shown before there is a policy.
    pub(crate) glimpse: Option<Arc<Glimpse>>,
    /// Data that could not be read, by its stamp, and why.
    pub(crate) unreadable: Option<(String, String)>,
    pub(crate) sets: Option<Arc<Vec<UniqueSet>>>,
    pub(crate) published: Option<(String, Arc<Published>)>,
    pub(crate) compared: Option<(String, Arc<Vec<Compared>>)>,
    pub(crate) explored: Option<(String, Arc<Exploration>)>,
    /// The levels of the last release, where they were chosen by hand.
    pub(crate) levels: Option<String>,
    /// The reports about a release, by its folder.
    pub(crate) reported: Option<(PathBuf, Arc<Reports>)>,
    pub(crate) query: Option<(String, Arc<QueryOutcome>)>,
    pub(crate) audited: Option<Arc<Together>>,
    pub(crate) catalog: Option<(String, Arc<Audited>)>,
}

/// An answer of the release and, where it has one, of the source; or why there is none.
pub(crate) type QueryOutcome = Result<(Answer, Option<Answer>), String>;

/// The report for the custodian, and the page of the one that readers of the release may have.
#[derive(Debug)]
pub(crate) struct Reports {
    pub(crate) internal: Reported,
    pub(crate) publishable: String,
}

/// Releases that were audited together.
#[derive(Debug)]
pub(crate) struct Together {
    pub(crate) releases: Vec<PathBuf>,
    /// Those of them that are of one table of one's own, the oldest first.
    pub(crate) own: Vec<PathBuf>,
    pub(crate) reported: Reported,
    /// Findings about each of one's own: the values that follow from its difference to the one
    /// before.
    pub(crate) differences: Option<Audited>,
}

impl Together {
    pub(crate) fn is_breach(&self) -> bool {
        let by_difference = self.differences.as_ref().is_some_and(|audited| audited.breach);
        by_difference || self.reported.audited.breach
    }
}

impl Data {
    /// Whether it has the rows that a policy is about: read as it says, with every column that it
    /// releases.
    pub(crate) fn serves(&self, policy: &Policy, stamp: &str) -> bool {
        let omitted =
            |name: &str| self.columns.iter().any(|column| column.more_than.is_some() && column.profile.name == name);
        let mut read = policy.attributes.iter().filter(|attribute| attribute.role != Role::Identifier);
        self.stamp == stamp && !read.any(|attribute| omitted(&attribute.name))
    }
}

/// The inputs of a policy's data: the file, and how it is read. `None` when the file is gone.
pub(crate) fn stamp(policy: &Policy) -> Option<String> {
    let source = &policy.source;
    // Another role changes how a column is read only where it is or was an identifier.
    let kinds: Vec<_> = policy
        .attributes
        .iter()
        .map(|attribute| {
            let is_identifier = attribute.role == Role::Identifier;
            (&attribute.name, is_identifier, attribute.kind, &attribute.declared.date_format)
        })
        .filter(|(_, is_identifier, kind, format)| *is_identifier || kind.is_some() || format.is_some())
        .collect();
    let read_as = format!(
        "{:?} {:?} {:?} {:?} {:?} {kinds:?}",
        source.format, source.delimiter, source.quote, source.nulls, source.decimal
    );
    if source.database.is_some() {
        return Some(format!("{:?} {read_as}", source.database));
    }
    let known = std::fs::metadata(&source.path).ok()?;
    let modified = known.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos();
    Some(format!("{} {} {modified} {read_as}", source.path.display(), known.len()))
}

/// Reads and profiles the data of a policy.
pub(crate) fn read(policy: &Policy, stamp: &str, monitor: &Monitor<'_>) -> Result<Data, Error> {
    let (table, columns) = hedgerow::read_and_profile(policy, monitor)?;
    Ok(Data { table, columns, stamp: stamp.to_owned() })
}

/// The columns whose sets are counted: quasi-identifiers first, then whatever else is released.
pub(crate) fn candidates(policy: &Policy, table: &Table) -> Vec<String> {
    let mut names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    let rank = |name: &&str| match policy.attribute(name) {
        Some(attribute) if attribute.role == Role::Quasi => 0,
        Some(_) => 1,
        None => 2,
    };
    names.sort_by_key(rank);
    names.into_iter().take(UNIQUENESS_ATTRIBUTES_MAX).map(str::to_owned).collect()
}

/// The rows that are read to count all sets of up to three columns.
pub(crate) fn sets_work(columns: usize, rows: usize) -> u64 {
    let n = columns as u64;
    let sets = n + n * n.saturating_sub(1) / 2 + n * n.saturating_sub(1) * n.saturating_sub(2) / 6;
    sets * rows as u64
}

/// The rows that each set of up to three columns singles out.
pub(crate) fn sets(data: &Data, names: &[String], monitor: &Monitor<'_>) -> Result<Vec<UniqueSet>, Error> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    hedgerow::uniqueness(&data.table, &names, monitor)
}

/// Writes a proposed policy for a data file. Its columns are there to be seen before.
pub(crate) fn propose(
    data: &Path,
    policy: &Path,
    see: impl Fn(Glimpse) + Send,
    monitor: &Monitor<'_>,
) -> Result<(), Error> {
    let read = move |table: &Table| see(Glimpse { rows: table.rows as u64, columns: hedgerow::profile(table) });
    Propose::new(data).policy_path(policy).on_read(read).run_with(monitor)?.write(false)
}

/// Whether a policy is about this data.
pub(crate) fn is_about(policy: &Path, data: &Path) -> bool {
    let Ok(policy) = Policy::load(policy) else { return false };
    match (policy.source.path.canonicalize(), data.canonicalize()) {
        (Ok(its), Ok(data)) => policy.source.database.is_none() && its == data,
        _ => false,
    }
}

/// Publishes, or publishes at chosen levels.
pub(crate) fn publish(
    policy: &Policy,
    data: &Data,
    destination: &Path,
    levels: Vec<(String, u64)>,
    monitor: &Monitor<'_>,
) -> Result<Published, Error> {
    Publish::new(policy, destination).source(&data.table).overwrite(true).levels(levels).explain(true).run_with(monitor)
}

pub(crate) fn compare(policy: &Policy, data: &Data, monitor: &Monitor<'_>) -> Result<Vec<Compared>, Error> {
    Compare::new(policy).source(&data.table).run_with(monitor)
}

pub(crate) fn explore(policy: &Policy, data: &Data, monitor: &Monitor<'_>) -> Result<Exploration, Error> {
    Explore::new(policy).source(&data.table).run_with(monitor)
}

pub(crate) fn rules(policy: &Policy, data: &Data, monitor: &Monitor<'_>) -> Result<RulesReport, Error> {
    ExamineRules::new(policy).source(&data.table).run_with(monitor)
}

pub(crate) fn report(policy: &Policy, data: &Data, release: &Path, monitor: &Monitor<'_>) -> Result<Reports, Error> {
    let release = [Release::open_with(release, monitor)?];
    let internal = Report::new(&release).policy(policy).source(&data.table).run_with(monitor)?;
    let publishable = Report::new(&release).publishable(true).run_with(monitor)?.html;
    Ok(Reports { internal, publishable })
}

/// Audits releases together: what each leaves, what all leave, how values are narrowed down, and
/// what the releases of one's own disclose by their differences.
pub(crate) fn audit(releases: &[PathBuf], own: &[PathBuf], monitor: &Monitor<'_>) -> Result<Together, Error> {
    let open = |path: &PathBuf| Release::open_with(path, monitor);
    let opened = releases.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let reported = Report::new(&opened).run_with(monitor)?;
    let named = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        open(path).map(|release| release.named(&name))
    };
    let differences = if own.len() > 1 {
        let own = own.iter().map(named).collect::<Result<Vec<_>, _>>()?;
        Some(Audit::new(&own).adversaries([hedgerow::Adversary::Difference]).run_with(monitor)?)
    } else {
        None
    };
    Ok(Together { releases: releases.to_vec(), own: own.to_vec(), reported, differences })
}

/// Audits all releases of a catalog; those of one custodian are also compared by difference.
pub(crate) fn audit_catalog(folder: &Path, monitor: &Monitor<'_>) -> Result<Audited, Error> {
    Audit::new(&[]).catalog(folder).run_with(monitor)
}

/// Explains a node of the lattice.
pub(crate) fn why(policy: &Policy, data: &Data, levels: &[u8], monitor: &Monitor<'_>) -> Result<Why, Error> {
    hedgerow::why(policy, Source::from(&data.table), levels, monitor)
}

/// Asks the release and, for comparison, the source.
pub(crate) fn ask(policy: &Policy, data: &Data, release: &Path, sql: &str) -> Result<(Answer, Option<Answer>), Error> {
    let answer = Release::open(release)?.query(sql)?;
    let truth = if answer.rows { None } else { hedgerow::query_source(policy, &data.table, sql).ok() };
    Ok((answer, truth))
}

/// A `release.toml` for a table that another program made, with proposed roles.
pub(crate) fn description(table: &Path, name: &str, monitor: &Monitor<'_>) -> Result<String, Error> {
    let proposal = Propose::new(table).policy_path(table.with_extension("toml")).run_with(monitor)?;
    let mut text = format!(
        "# Proposed by the studio: correct the roles where they are wrong.\n[source]\npath = {}\n\n[attributes]\n",
        toml_edit::Value::from(name)
    );
    for column in &proposal.columns {
        let role = match column.role {
            Some(Role::Quasi) => "quasi",
            Some(Role::Sensitive) => "sensitive",
            Some(Role::Plain) => "plain",
            _ => continue,
        };
        let key = toml_edit::Value::from(column.name.as_str());
        text.push_str(&format!("{key} = {{ role = \"{role}\" }}\n"));
    }
    Ok(text)
}
