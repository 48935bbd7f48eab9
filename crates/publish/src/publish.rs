//! The main job: from a policy to a verified release.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use hedgerow_policy::{Method, Policy};
use hedgerow_release::manifest::{Manifest, Rows as RowCounts};
use hedgerow_release::metadata::Metadata;
use hedgerow_release::{ReadBy, Release, Within};
use hedgerow_table::read::{ReadOptions, read_table};
use hedgerow_table::{Engine, InputError, NoProgress, Progress, Spill, Table, TableError};
use hedgerow_verify::check::Checked;
use hedgerow_verify::verified::Staged;
use serde_json::{Map, Value};

use crate::anatomy;
use crate::bind::{Bound, refuse_cluster, source_options};
use crate::catalog::{CatalogAudit, Gate, OpenedCatalog};
use crate::cloning::{self, CloneReport};
use crate::community;
use crate::decompose;
use crate::draft::{self, Draft};
use crate::error::PublishError;
use crate::explore;
use crate::full_domain;
use crate::generalized;
use crate::local;
use crate::local::divided::Divided;
use crate::out_of_core::{self, Outside};
use crate::phase::Phase;
use crate::remote::{self, Remote};
use crate::search::Explain;
use crate::singling_out;

/// What the caller chooses in addition to the policy.
#[derive(Clone)]
pub struct PublishOptions<'a> {
    pub destination: PathBuf,
    pub overwrite: bool,
    pub format: TableFormat,
    /// Makes the row order repeatable, for tests: such a release must not be published.
    pub seed: Option<u64>,
    pub candidates: bool,
    /// Before those of the policy.
    pub nodes_max: Option<u64>,
    pub seconds_max: Option<f64>,
    /// Levels that a person chose, by quasi attribute; the others are searched.
    pub levels: Vec<(String, u64)>,
    /// Further descriptions of the release, derived from its manifest.
    pub metadata: Vec<Metadata>,
    /// The catalog that the release is audited with before it is placed.
    pub gate: Gate,
    pub progress: &'a dyn Progress,
}

impl PublishOptions<'_> {
    /// A release of CSV tables at a place that is free, without limits of its own.
    pub fn to(destination: impl Into<PathBuf>) -> Self {
        PublishOptions {
            destination: destination.into(),
            overwrite: false,
            format: TableFormat::Csv,
            seed: None,
            candidates: false,
            nodes_max: None,
            seconds_max: None,
            levels: Vec::new(),
            metadata: Vec::new(),
            gate: Gate::default(),
            progress: &NoProgress,
        }
    }
}

impl std::fmt::Debug for PublishOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PublishOptions").field("destination", &self.destination).finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TableFormat {
    #[default]
    Csv,
    Parquet,
}

/// What was published and how.
#[derive(Debug, Clone)]
pub struct Published {
    pub release: PathBuf,
    pub rows: RowCounts,
    pub checked: Checked,
    pub losses: Map<String, Value>,
    /// How the lattice was searched, by the methods that search one.
    pub searched: Option<Searched>,
    /// What cloning did, by the method that does.
    pub cloned: Option<CloneReport>,
    /// What the audit with the catalog found, where there is one.
    pub audited: Option<CatalogAudit>,
    /// Bytes that were put into temporary files.
    pub spilled: u64,
    pub read_time: Duration,
    pub search_time: Duration,
    pub write_time: Duration,
    pub warnings: Vec<InputError>,
}

#[derive(Debug, Clone)]
pub struct Searched {
    /// Per quasi attribute, its level and the top one.
    pub levels: Vec<(String, usize, usize)>,
    pub candidates: Option<u64>,
    /// The least loss in the policy's measure is proved.
    pub proven: bool,
    pub explain: Explain,
}

/// Where the rows come from.
#[derive(Clone, Copy, Default)]
pub enum Source<'a> {
    /// The file that the policy names.
    #[default]
    Policy,
    /// Rows in memory. The policy's `[source]` is not read; its path is only a name in messages.
    Table(&'a Table),
    /// Whoever can read what the policy names, such as a database.
    Reader(&'a Reader<'a>),
    /// The same within a limit of memory: rows that do not fit stay where they are, or go to the
    /// disk.
    Within(&'a ReadWithin<'a>, &'a Spill),
    /// Whoever holds the rows, recodes them and writes them: they never come here.
    Remote(&'a ReadRemote<'a>),
}

pub type Reader<'a> = dyn Fn(&ReadOptions<'_>) -> Result<Table, TableError> + 'a;
pub type ReadWithin<'a> = dyn Fn(&ReadOptions<'_>, &Spill) -> Result<Rows<'a>, TableError> + 'a;
pub type ReadRemote<'a> = dyn Fn(&ReadOptions<'_>) -> Result<Box<dyn Remote + 'a>, TableError> + 'a;

/// The rows of a source.
pub enum Rows<'a> {
    Memory(Cow<'a, Table>),
    Outside(Box<dyn Engine + 'a>),
    Remote(Box<dyn Remote + 'a>),
}

impl std::fmt::Debug for Rows<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Rows::Memory(_) => "Memory",
            Rows::Outside(_) => "Outside",
            Rows::Remote(_) => "Remote",
        })
    }
}

impl std::fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Source::Policy => "Policy",
            Source::Table(_) => "Table",
            Source::Reader(_) => "Reader",
            Source::Within(..) => "Within",
            Source::Remote(_) => "Remote",
        })
    }
}

impl<'a> Source<'a> {
    /// The rows, besides the released attributes with the columns named.
    fn read(self, policy: &Policy, also: &HashSet<String>, progress: &dyn Progress) -> Result<Rows<'a>, TableError> {
        let options = || source_options(policy, also, progress);
        Ok(Rows::Memory(match self {
            Source::Policy => {
                refuse_cluster(policy)?;
                Cow::Owned(read_table(&policy.source.path, &options())?)
            }
            Source::Table(table) => Cow::Borrowed(table),
            Source::Reader(read) => Cow::Owned(read(&options())?),
            Source::Within(read, spill) => return read(&options(), spill),
            Source::Remote(read) => return read(&options()).map(Rows::Remote),
        }))
    }

    fn spill(self) -> Option<&'a Spill> {
        match self {
            Source::Within(_, spill) => Some(spill),
            _ => None,
        }
    }
}

impl<'a> From<&'a Table> for Source<'a> {
    fn from(table: &'a Table) -> Self {
        Source::Table(table)
    }
}

/// Publishes what a policy describes: the one way from rows to a verified release in its place.
pub fn publish(policy: &Policy, source: Source<'_>, options: &PublishOptions<'_>) -> Result<Published, PublishError> {
    publish_with(policy, source, None, options)
}

/// The same for rows that others have divided into classes: these are written, verified, audited
/// and placed, and none is searched for.
pub fn publish_divided(
    policy: &Policy,
    table: &Table,
    divided: Divided<'_>,
    options: &PublishOptions<'_>,
) -> Result<Published, PublishError> {
    publish_with(policy, Source::Table(table), Some(divided), options)
}

fn publish_with(
    policy: &Policy,
    source: Source<'_>,
    divided: Option<Divided<'_>>,
    options: &PublishOptions<'_>,
) -> Result<Published, PublishError> {
    let started = Instant::now();
    // First, so that a long search is not lost to a destination that was never possible.
    let staged = Staged::next_to(&options.destination, options.overwrite)?;
    match policy.publish.method {
        Method::Anatomy => anatomy::refuse(policy)?,
        Method::Clone => cloning::refuse(policy)?,
        _ => {}
    }
    let catalog = OpenedCatalog::open(&options.gate, policy, options.progress)?;
    let reading = Phase::new(options.progress, "reading");
    let read = source.read(policy, &catalog.known_columns()?, &reading)?;
    let outside = match (&read, source.spill()) {
        (Rows::Outside(engine), Some(spill)) => {
            out_of_core::refuse(policy, &options.gate, engine.as_ref(), spill)?;
            Some((engine.as_ref(), Some(spill), out_of_core::counted(policy, engine.as_ref(), &reading)?))
        }
        (Rows::Remote(engine), _) => {
            remote::refuse(policy, &options.gate)?;
            let engine: &dyn Engine = engine.as_ref();
            Some((engine, None, out_of_core::counted(policy, engine, &reading)?))
        }
        _ => None,
    };
    let table: &Table = match (&read, &outside) {
        (Rows::Memory(table), _) => table,
        (_, Some((_, _, counted))) => &counted.table,
        _ => return Err(PublishError::Internal("internal error: rows outside of memory without a limit".to_owned())),
    };
    let earlier = community::read_earlier(policy, table, &reading)?;
    reading.finish();
    options.progress.check()?;
    let mut bound = match &outside {
        Some((_, _, counted)) => Bound::to_counted(policy, counted, earlier)?,
        None => Bound::with_earlier(policy, table, earlier)?,
    };
    if !options.levels.is_empty() {
        explore::refuse_other_methods(&bound)?;
    }
    if divided.is_none() {
        bound.warnings.extend(match &outside {
            Some((engine, _, counted)) => singling_out::examine_outside(policy, *engine, counted, options.progress)?,
            None => singling_out::examine(policy, table)?,
        });
    }
    let read_time = started.elapsed();
    let searching = Instant::now();
    let mut rng = generalized::rng(options)?;
    let phase = Phase::new(options.progress, "searching");
    let searched_with = PublishOptions { progress: &phase, ..options.clone() };
    let mut draft = match (divided, policy.publish.method) {
        (Some(divided), _) => local::divided::draft(&bound, divided)?,
        (None, Method::FullDomain) => full_domain::draft(&bound, &searched_with)?,
        (None, Method::Mondrian | Method::BestCut | Method::Cluster) => local::draft(&bound, &searched_with)?,
        (None, Method::Anatomy) => anatomy::draft(&bound, &searched_with, &mut rng)?,
        (None, Method::Clone) => cloning::draft(&bound, &searched_with, &mut rng)?,
        (None, Method::Decompose) => decompose::draft(&bound, &searched_with, &mut rng)?,
    };
    phase.finish();
    options.progress.check()?;
    let search_time = searching.elapsed();

    let writing = Instant::now();
    let phase = Phase::of(options.progress, "writing", draft.rows_to_write(outside.is_some()).max(1));
    let rows_outside = match &outside {
        Some((engine, Some(spill), _)) => Some(Outside::new(*engine, spill, &bound, &mut draft)?),
        _ => None,
    };
    let written_elsewhere = match &read {
        Rows::Remote(remote) => {
            let (remote, root) = (remote.as_ref(), staged.path());
            Some(draft::write_elsewhere(&mut draft, &bound, remote, root, &mut rng, &phase)?)
        }
        _ => None,
    };
    let Draft { tables, codebook, rows, losses, searched, cloned, stated, rules, warnings, .. } = draft;
    let written = match written_elsewhere {
        Some(written) => written,
        None => draft::write(tables, &codebook, staged.path(), options.format, rows_outside, &mut rng, &phase)?,
    };
    phase.finish();
    options.progress.check()?;
    let mut manifest = draft::manifest(&bound, written.resources.clone(), rows, &losses);
    manifest.hedgerow.cloning = stated.cloning;
    manifest.hedgerow.dependencies = stated.dependencies;
    manifest.hedgerow.intersection_attack = stated.intersection_attack;
    let named = |released: &Release| rules.unwrap_or_else(|| generalized::named_rules(&bound, released));
    let describe = |manifest: &mut Manifest, released: &Release| {
        manifest.hedgerow.hierarchies = generalized::hierarchies(&bound, released);
    };
    let phase = Phase::of(options.progress, "verifying", written.bytes());
    let judged: Vec<&str> = out_of_core::judged_names(policy).collect();
    let by = match (&read, &outside) {
        (Rows::Remote(remote), _) => Some(ReadBy::Counter(remote.as_ref())),
        (_, Some((_, Some(spill), _))) => Some(ReadBy::Spill(spill)),
        _ => None,
    };
    let within = by.map(|by| Within { judged: &judged, by });
    let (verified, checked) = staged.verify(manifest, named, describe, within, &phase)?;
    verified.describe(&options.metadata)?;
    written.wait()?;
    phase.finish();
    options.progress.check()?;
    let (release, audited) = catalog.place(verified, policy, table, &options.gate, options.progress)?;
    let warnings = bound.warnings.iter().cloned().chain(warnings).collect();
    let write_time = writing.elapsed();
    Ok(Published {
        release,
        rows,
        checked,
        losses,
        searched,
        cloned,
        audited,
        spilled: source.spill().map_or(0, Spill::written),
        read_time,
        search_time,
        write_time,
        warnings,
    })
}
