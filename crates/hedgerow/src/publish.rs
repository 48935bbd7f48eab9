//! The main job: from a policy and its source to a verified release.

use std::path::{Path, PathBuf};
use std::time::Instant;

use hedgerow_config::Address;
use hedgerow_publish::catalog::Gate;
use hedgerow_publish::cloning::CloneReport;
use hedgerow_publish::search;
use hedgerow_publish::{PublishOptions, RowStore};
use hedgerow_release::manifest::{Claim, ClassSizes, RowTotals, UnitCounts};
use hedgerow_release::metadata::Metadata;
use hedgerow_table::InputError;
use hedgerow_table::read::ReadOptions;
use serde::Serialize;

use crate::databases::Destination;
use crate::folder::Folder;
use crate::{ByName, Error, Monitor, Policy, Problem, Release, Source, source};

pub use hedgerow_publish::TableFormat;
pub use hedgerow_publish::catalog::CatalogAudit;

/// Publishes the policy's source into a new directory, with the default options.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let policy = hedgerow::Policy::load("../../examples/hospital/policy.toml")?;
/// let published = hedgerow::publish(&policy, folder.path().join("release"))?;
/// assert!(published.guarantees.iter().all(|guarantee| guarantee.holds));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn publish(policy: &Policy, destination: impl AsRef<Path>) -> Result<Published, Error> {
    Publish::new(policy, destination).run()
}

/// Publishing with options. Nothing is written unless every guarantee was recomputed from the
/// written bytes and holds.
#[derive(Debug)]
#[must_use = "nothing is published before `run`"]
pub struct Publish<'a> {
    policy: &'a Policy,
    source: Source<'a>,
    destination: PathBuf,
    overwrite: bool,
    format: TableFormat,
    seed: Option<u64>,
    candidates: bool,
    explain: bool,
    nodes_max: Option<u64>,
    seconds_max: Option<f64>,
    levels: Vec<(String, u64)>,
    metadata: Vec<Metadata>,
    catalog: Gate,
    memory: Option<u64>,
    part: Option<(u64, u64)>,
}

impl<'a> Publish<'a> {
    /// A release of `policy`'s source in the directory `destination`, which must not exist yet; or
    /// in a database: `postgres://host/database/schema` or `sqlite:release.db`.
    pub fn new(policy: &'a Policy, destination: impl AsRef<Path>) -> Publish<'a> {
        Publish {
            policy,
            source: Source::of_policy(),
            destination: destination.as_ref().to_path_buf(),
            overwrite: false,
            format: TableFormat::Csv,
            seed: None,
            candidates: false,
            explain: false,
            nodes_max: None,
            seconds_max: None,
            levels: Vec::new(),
            metadata: Vec::new(),
            catalog: Gate::default(),
            memory: None,
            part: None,
        }
    }

    /// Takes the rows from `source` instead of what the policy names.
    pub fn source(mut self, source: impl Into<Source<'a>>) -> Self {
        self.source = source.into();
        self
    }

    /// Replaces a release that is there already; never anything else. By default a destination that
    /// exists is refused.
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// How the released tables are written: CSV by default.
    pub fn format(mut self, format: TableFormat) -> Self {
        self.format = format;
        self
    }

    /// Makes the random order of rows repeatable, for tests: such a release must not be published.
    pub fn danger_seed(mut self, seed: Option<u64>) -> Self {
        self.seed = seed;
        self
    }

    /// Also counts all lattice nodes that satisfy every rule.
    pub fn candidates(mut self, candidates: bool) -> Self {
        self.candidates = candidates;
        self
    }

    /// Also reports how the search went.
    pub fn explain(mut self, explain: bool) -> Self {
        self.explain = explain;
        self
    }

    /// Ends the search after about this many lattice nodes, with the best found. `None`, the
    /// default, searches until the optimum is proven.
    pub fn nodes_max(mut self, nodes: Option<u64>) -> Self {
        self.nodes_max = nodes;
        self
    }

    /// Ends the search after this many seconds, with the best found. `None`, the default, sets no
    /// limit.
    pub fn seconds_max(mut self, seconds: Option<f64>) -> Self {
        self.seconds_max = seconds;
        self
    }

    /// Publishes at these levels of quasi-identifiers, by name, instead of searching for the least
    /// loss: for full-domain recoding. Attributes that are not named are searched. The release is
    /// verified like any other, and refused when a rule does not hold there.
    pub fn levels(mut self, levels: Vec<(String, u64)>) -> Self {
        self.levels = levels;
        self
    }

    /// Also writes descriptions of the release in these vocabularies.
    pub fn metadata(mut self, metadata: Vec<Metadata>) -> Self {
        self.metadata = metadata;
        self
    }

    /// Works within this many bytes of memory, those of the program included: rows that do not fit
    /// are kept in a private temporary file, in the folder that the environment variable `TMPDIR`
    /// names, else next to the destination. The release is the same, to the byte. Full-domain
    /// recoding and Mondrian can work so; other methods are refused when their rows do not fit.
    /// The memory of a run is estimated before it searches, and a run that would take more is
    /// refused then. `None` is half of what is free, where the system tells.
    ///
    /// ```
    /// let folder = tempfile::tempdir()?;
    /// let policy = hedgerow::Policy::load("../../examples/hospital/policy.toml")?;
    /// let publish = hedgerow::Publish::new(&policy, folder.path().join("release"));
    /// assert_eq!(publish.memory(Some(1 << 30)).run()?.spilled_bytes, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn memory(mut self, bytes: Option<u64>) -> Self {
        self.memory = bytes;
        self
    }

    /// Audits the new release combined with all in this catalog first, every row of the source a
    /// person; writes nothing when together they violate a rule. Else adds the release to the
    /// catalog.
    pub fn catalog(mut self, folder: impl AsRef<Path>) -> Self {
        self.catalog.catalog = Some(folder.as_ref().to_path_buf());
        self
    }

    /// The publisher: earlier releases of the same custodian in the catalog are also compared by
    /// difference.
    pub fn custodian(mut self, name: impl Into<String>) -> Self {
        self.catalog.custodian = Some(name.into());
        self
    }

    /// Audits with the catalog, and leaves the catalog as it is.
    pub fn no_add(mut self, no_add: bool) -> Self {
        self.catalog.no_add = no_add;
        self
    }

    /// Where the audit with the catalog or the policy's community refuses the release, publishes
    /// the nearest one that passes, and warns of it: at the levels that lose least of all that
    /// pass, or with larger classes where the method has no levels.
    pub fn repair(mut self, repair: bool) -> Self {
        self.catalog.repair = repair;
        self
    }

    /// For a trial: the rows are a part of a table: the number of them, and of all.
    pub(crate) fn part(mut self, part: Option<(u64, u64)>) -> Self {
        self.part = part;
        self
    }

    /// Publishes.
    pub fn run(self) -> Result<Published, Error> {
        self.run_with(&Monitor::default())
    }

    /// Publishes, watched by a monitor that can also cancel.
    pub fn run_with(self, monitor: &Monitor<'_>) -> Result<Published, Error> {
        match source::address(&self.destination) {
            Some(address) => self.run_into(address, monitor),
            None => self.run_here(monitor),
        }
    }

    /// Makes the release in a folder, as any other, and writes it to a database from there.
    fn run_into(mut self, address: Address, monitor: &Monitor<'_>) -> Result<Published, Error> {
        let place = address.to_string();
        let refuse = |problem: &str, hint: &str| Err(InputError::new(place.clone(), problem, hint).into());
        if self.format != TableFormat::Csv {
            return refuse("a release in a database has no file format", "leave the format out, or name a directory");
        }
        if !self.metadata.is_empty() {
            return refuse("descriptions for catalogs of data are files", "leave them out, or name a directory");
        }
        if self.catalog.catalog.is_some() && !self.catalog.no_add {
            let hint = "audit with the catalog without adding to it, and add the release when it is published";
            return refuse("a release in a database is not added to a catalog in the same run", hint);
        }
        let destination = Destination::prepare(address, self.overwrite)?;
        let folder = Folder::new()?;
        self.destination = folder.path().join("release");
        let mut published = self.run_here(monitor)?;
        let writing = Instant::now();
        destination.write(&published.release, monitor)?;
        published.seconds.write += writing.elapsed().as_secs_f64();
        published.release = PathBuf::from(place);
        Ok(published)
    }

    fn run_here(self, monitor: &Monitor<'_>) -> Result<Published, Error> {
        let policy = self.policy.inner();
        // A limit that no run can keep is refused when it is known what would be enough.
        let memory = self.memory.map(|limit| limit.max(hedgerow_table::memory::least_bytes()));
        let spill = source::spill(policy, &self.destination, memory);
        let options = PublishOptions {
            destination: self.destination,
            overwrite: self.overwrite,
            format: self.format,
            seed: self.seed,
            candidates: self.candidates,
            nodes_max: self.nodes_max,
            seconds_max: self.seconds_max,
            levels: self.levels,
            without: Vec::new(),
            metadata: self.metadata,
            gate: self.catalog,
            memory: self.memory,
            part: self.part,
            progress: monitor,
        };
        let rows = &self.source;
        let open = |options: &ReadOptions<'_>| match &spill {
            Some(spill) => rows.read_within(policy, options, spill),
            None => Ok(RowStore::Memory(rows.read_as(Some(policy), options)?)),
        };
        let source = match rows.table() {
            Some(table) => hedgerow_publish::RowSource::Table(table),
            None => hedgerow_publish::RowSource::Open(&open),
        };
        let published = hedgerow_publish::publish(policy, source, &options)?;
        Ok(Published::new(published, self.explain))
    }
}

/// The result of a publication. Serialized, it is the output of `hedgerow publish --json`.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Published {
    /// The directory of the release, or its address in a database.
    pub release: PathBuf,
    /// Rows in, out and suppressed.
    pub rows: RowTotals,
    /// Units in, out and suppressed, where rows belong to units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub units: Option<UnitCounts>,
    /// The number of equivalence classes, and their sizes.
    pub classes: ClassSizes,
    /// Every guarantee: what is required and what the written tables achieve.
    pub guarantees: Vec<Claim>,
    /// The loss measures that have a meaning for the method, by name.
    pub loss: ByName<f64>,
    /// Where the time went.
    pub seconds: Seconds,
    /// The figures of ε-cloning, for the custodian alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cloning: Option<CloneReport>,
    /// The result of the audit with the catalog or the policy's community, if one is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub catalog: Option<CatalogAudit>,
    /// How the lattice was searched, for full-domain recoding.
    #[serde(flatten)]
    pub search: Option<Search>,
    /// Bytes of rows that went to temporary files because they did not fit in memory.
    #[serde(skip)]
    pub spilled_bytes: u64,
    /// Warnings: what is allowed but probably unintended.
    pub warnings: Vec<Problem>,
}

/// Where the time went.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Seconds {
    /// Reading the source and the earlier releases.
    pub read: f64,
    /// Searching for the release.
    pub search: f64,
    /// Writing, verifying and auditing it.
    pub write: f64,
}

/// How the lattice was searched.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Search {
    /// The level of every quasi-identifier, for full-domain recoding.
    pub levels: ByName<usize>,
    /// The highest level of every quasi-identifier, in the same order.
    #[serde(skip)]
    pub tops: Vec<usize>,
    /// Whether no node has a smaller loss. False when a limit ended the proof.
    pub proven: bool,
    /// The number of nodes that satisfy every rule, where they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidates: Option<u64>,
    /// The number of nodes of the lattice, up to 2⁶⁴.
    #[serde(skip)]
    pub nodes: Option<u64>,
    /// How the search went, where that was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explain: Option<Explain>,
}

impl Published {
    /// Opens the release that was published.
    pub fn open(&self) -> Result<Release, Error> {
        Release::open(&self.release)
    }

    fn new(published: hedgerow_publish::Published, explain: bool) -> Published {
        let search = published.searched.map(|searched| Search {
            levels: searched.levels.iter().map(|&(ref name, level, _)| (name.clone(), level)).collect(),
            tops: searched.levels.iter().map(|&(_, _, top)| top).collect(),
            proven: searched.proven,
            candidates: searched.candidates,
            nodes: searched.explain.nodes,
            explain: explain.then(|| Explain::from(searched.explain)),
        });
        Published {
            release: published.release,
            rows: published.rows,
            units: published.units,
            classes: published.checked.classes,
            guarantees: published.checked.claims,
            loss: published
                .losses
                .iter()
                .map(|(name, loss)| (name.clone(), loss.as_f64().unwrap_or(f64::NAN)))
                .collect(),
            seconds: Seconds {
                read: published.read_time.as_secs_f64(),
                search: published.search_time.as_secs_f64(),
                write: published.write_time.as_secs_f64(),
            },
            cloning: published.cloned,
            catalog: published.audited,
            search,
            spilled_bytes: published.spilled,
            warnings: published.warnings.into_iter().map(Problem::warning).collect(),
        }
    }
}

/// For programs that publish from elsewhere, such as a cluster.
impl From<hedgerow_publish::Published> for Published {
    fn from(published: hedgerow_publish::Published) -> Published {
        Published::new(published, false)
    }
}

/// The outcome for the lattice's nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Explain {
    /// Nodes of the lattice, unless they are more than 2⁶⁴.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    /// Distinct rows of the table, by its quasi-identifiers and whatever else a rule knows.
    pub distinct_rows: u64,
    /// Nodes evaluated to find a first solution.
    pub evaluated_first: u64,
    /// Nodes evaluated to prove that none is better.
    pub evaluated_proof: u64,
    /// Of the evaluated nodes, those that satisfy every rule.
    pub evaluated_holding: u64,
    /// Nodes pruned because they cannot lose less than the best.
    pub pruned_by_loss: u64,
    /// Nodes pruned because a coarser node already suppresses too many rows.
    pub pruned_by_guarantee: u64,
    /// Nodes pruned because, by a coarser node, the suppressed rows alone lose more than the best.
    pub pruned_by_suppression: u64,
    /// Nodes not visited within the limit.
    pub not_visited: u64,
}

impl From<search::Explain> for Explain {
    fn from(explain: search::Explain) -> Explain {
        Explain {
            nodes: explain.nodes,
            distinct_rows: explain.distinct as u64,
            evaluated_first: explain.judged_first,
            evaluated_proof: explain.judged_proof,
            evaluated_holding: explain.judged_holding,
            pruned_by_loss: explain.pruned_by_loss,
            pruned_by_guarantee: explain.pruned_by_guarantee,
            pruned_by_suppression: explain.pruned_by_suppression,
            not_visited: explain.not_reached,
        }
    }
}
