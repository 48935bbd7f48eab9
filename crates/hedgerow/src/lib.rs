//! Publishes tables about people under privacy rules, and attacks published tables as an adversary
//! would.
//!
//! A *policy* says what each column is and what must hold. From a table and a policy, [`publish`]
//! makes a *release*: a directory with the table, made coarser until every rule holds. With
//! full-domain recoding, the search proves that no other combination of levels loses less. Every
//! guarantee is recomputed from the written files before the release appears.
//! [`audit`] reports what adversaries learn from one release or several together.
//!
//! # Start
//!
//! The crate is used from a checkout: `hedgerow = { path = "../hedgerow/crates/hedgerow" }` in
//! `Cargo.toml`. This program publishes four rows from memory, checks the release and queries it:
//!
//! ```
//! use hedgerow::{
//!     Attribute, ColumnCells, Hierarchy, Model, Policy, Publish, ReadOptions, Rule, Table,
//! };
//!
//! # let folder = tempfile::tempdir()?;
//! # let directory = folder.path().join("release");
//! let policy = Policy::builder()
//!     // Others may know the age: it is released in intervals of 10 or 20 years.
//!     .attribute("age", Attribute::quasi().hierarchy(Hierarchy::widths([10, 20])))
//!     // Others must not learn the disease.
//!     .attribute("disease", Attribute::sensitive())
//!     // Everyone shares the released age with someone who has another disease.
//!     .rule(Rule::require(Model::distinct_l_diversity(2)).protect("disease"))
//!     .build()?;
//! let columns = [
//!     ("age", ColumnCells::from(vec![31i64, 34, 52, 58])),
//!     ("disease", ColumnCells::from(vec!["flu", "cold", "flu", "asthma"])),
//! ];
//! let table = Table::from_columns(columns, &ReadOptions::default())?;
//!
//! let published = Publish::new(&policy, directory).source(&table).run()?;
//! assert_eq!(published.rows.out, 4);
//! let release = published.open()?;
//! assert!(release.check()?.holds());
//! let answer = release.query("SELECT COUNT(*) FROM data WHERE age < 40")?;
//! println!("{}", serde_json::to_string(&answer)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! With a policy in a file, which also names the data, two lines are enough:
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let directory = folder.path().join("release");
//! let policy = hedgerow::Policy::load("../../examples/hospital/policy.toml")?;
//! let published = hedgerow::publish(&policy, directory)?;
//! println!("{} of {} rows released", published.rows.out, published.rows.source);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | build or load a policy | [`Policy::builder`], [`Policy::load`]; [`Propose`] drafts one for a file |
//! | give the rows | [`Table::from_columns`], [`Table::from_records`], [`Source`]; else the policy's file is read |
//! | publish with options, progress and cancellation | [`Publish`], [`Monitor`] |
//! | check, measure, query or report a release | [`Release::open`], then its methods |
//! | attack releases | [`audit`], [`Audit`] |
//! | see every combination of levels that holds | [`explore`] |
//!
//! Every call fails with one [`Error`]. Its [`kind`](Error::kind) says who can act: bad input (with
//! place, problem and hint), no release possible (with the reasons), a breach, the machine, or a
//! bug.
//!
//! Complete programs are in the folder `examples` of the crate. The `hedgerow` command uses nothing
//! but this crate. Terms are defined in `docs/glossary.md`, the keys of a policy in
//! `docs/policy.md`.
//!
//! # Five situations beyond one table
//!
//! | situation | start at |
//! |---|---|
//! | others' releases are known | [`[community]` and cross-release l-diversity](#others-releases-are-known) |
//! | others publish what you cannot see | [ε-cloning](#others-releases-are-unknown) |
//! | the sensitive value is a number | [(δ,l)-diversity, (ε,m)-anonymity](#the-sensitive-value-is-a-number) |
//! | an attribute is known in one rule and protected in another | [guardian normal form](#many-rules-at-once) |
//! | several custodians publish together | [`federation`](#several-custodians-publish-together) |
//!
//! ## Others' releases are known
//!
//! A release next to an earlier one about the same people: whatever class of each release a person
//! is in, at least two salary classes remain.
//!
//! ```
//! use hedgerow::{Policy, Release};
//!
//! # let folder = tempfile::tempdir()?;
//! # for file in std::fs::read_dir("../../examples/departments")?.flatten() {
//! #     std::fs::copy(file.path(), folder.path().join(file.file_name()))?;
//! # }
//! # let at = |name: &str| folder.path().join(name);
//! let revenue = Policy::load(at("revenue.toml"))?;
//! hedgerow::publish(&revenue, at("revenue-release"))?;
//!
//! // `[community]` of this policy names the directory `revenue-release`.
//! let census = Policy::load(at("census-beside.toml"))?;
//! hedgerow::publish(&census, at("census-release"))?;
//!
//! let revenue = Release::open(at("revenue-release"))?;
//! let census = Release::open(at("census-release"))?;
//! assert!(census.check_among(std::slice::from_ref(&revenue))?.holds());
//! assert!(!hedgerow::audit(&[revenue, census])?.breach);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ## Others' releases are unknown
//!
//! Every class holds every sensitive value with nearly the frequency that it has in the table, so
//! that combining it with an unseen release rules out next to nothing.
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! let policy = hedgerow::Policy::load("../../examples/three-hospitals/clone-1.toml")?;
//! let published = hedgerow::publish(&policy, folder.path().join("release"))?;
//! let report = published.cloning.expect("of ε-cloning");
//! println!("ε = {}, {} counterfeits", report.epsilon, report.counterfeits);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ## The sensitive value is a number
//!
//! Salaries that differ can still be too close: no interval of length 2δ may hold more than one
//! l-th of a class.
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! let policy = hedgerow::Policy::load("../../examples/salaries/near.toml")?;
//! let published = hedgerow::publish(&policy, folder.path().join("release"))?;
//! assert!(published.guarantees.iter().all(|guarantee| guarantee.holds));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ## Many rules at once
//!
//! An attribute may be known in one rule and protected in another; several tables satisfy all rules
//! together.
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! let policy = hedgerow::Policy::load("../../examples/six-patients/decompose.toml")?;
//! let published = hedgerow::publish(&policy, folder.path().join("release"))?;
//! assert!(published.open()?.check()?.holds());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ## Several custodians publish together
//!
//! Real runs are those of the program `hedgerow-node`. With the feature `danger-seeded`,
//! `federation::rehearse` shows in one process what such a run would find, open and send.
//!
//! ```
//! use hedgerow::federation::{Profile, rehearse};
//!
//! let policy = hedgerow::Policy::load("../../examples/hospital/policy-local.toml")?;
//! let union = hedgerow::read_source(&policy)?;
//! let run = rehearse(&policy, &union, 3, |row| row % 3, Profile::Masked, 1)?;
//! println!("{} classes after {} rounds", run.class_sizes.len(), run.rounds);
//! # Ok::<(), hedgerow::Error>(())
//! ```
//!
//! # Features
//!
//! None is on by default; the `hedgerow` command turns all but `arrow` on.
//!
//! | feature | what it adds |
//! |---|---|
//! | `arrow` | [`Source`] from Arrow record batches, and releases as record batches |
//! | `databases` | sources and releases in PostgreSQL and SQLite |
//! | `rare-formats` | sources in Excel workbooks and Stata files |
//! | `federation` | what custodians agree on before they publish together |
//! | `danger-seeded` | joint runs rehearsed in one process, with known randomness |

#![deny(missing_docs)]

mod anonymity;
#[cfg(feature = "arrow")]
mod as_published;
mod audit;
mod by_name;
mod catalog;
mod check;
mod compare;
mod databases;
mod dictionary;
mod error;
mod explore;
#[cfg(feature = "federation")]
pub mod federation;
mod folder;
mod init;
#[cfg(feature = "federation")]
mod ledger;
mod measure;
mod monitor;
pub mod part;
mod partition;
mod policy;
mod profile;
mod publish;
mod query;
mod release;
mod report;
mod rules;
mod source;
pub mod synthetic;
mod uniqueness;
mod why;

pub use anonymity::{Anonymity, MeasureAnonymity, SensitiveDiversity};
pub use audit::{Audit, audit};
pub use by_name::ByName;
pub use catalog::{AddToCatalog, Catalog, CatalogEntry};
pub use check::{Check, CheckTable};
pub use compare::{Compare, Compared};
pub use error::{Error, ErrorKind, Problem, Refusal, Severity};
pub use explore::{Exploration, Explore, ExploredAttribute, ExploredNode, ExploredRisk, explore};
pub use init::{ColumnProfile, Proposal, Propose, Relation, init, policy_beside};
pub use measure::{
    AttributeLoss, CountQueries, CountedAlone, Losses, Measure, MeasureOptions, MeasuredTables, Measures, NumberError,
    QueryError, QueryOptions, Scenario, SingledOut, SizeDistribution, TableMeasures,
};
pub use monitor::{Cancel, Monitor, Progress};
pub use policy::{
    Attribute, Coarsening, DataSource, Dependency, Hierarchy, Model, Policy, PolicyBuilder, Publication, Rule,
};
pub use profile::{
    HierarchyLevel, HierarchyView, HistogramBar, Preview, ProfiledColumn, hierarchy, preview, profile,
    read_and_profile, unique_by_level,
};
pub use publish::{CatalogAudit, Explain, Publish, Published, Search, Seconds, TableFormat, publish};
pub use query::{Answer, AnswerCell, AnswerColumn, ColumnKind, Estimate, day_of, query_source};
pub use release::{NamedTable, Release};
pub use report::{Report, Reported};
pub use rules::{
    ChosenTable, ChosenTables, DependencyReport, ExamineRules, Requirement, RuleReport, RuleStanding, RulesReport,
    rules,
};
pub use source::Source;
pub use uniqueness::{UNIQUENESS_ATTRIBUTES_MAX, UNIQUENESS_TOGETHER_MAX, UniqueSet, uniqueness};
pub use why::{Broken, Finer, NearClass, SuppressedGroup, Why, why};

pub use hedgerow_audit::adversaries::correlation::Weights;
pub use hedgerow_audit::finding;
pub use hedgerow_audit::{Adversary, Audited, Contradiction, UnknownAdversary};
pub use hedgerow_policy::{
    Algorithm, Anonymizer, Assignment, ClassLabels, Kind, Loss, Method, RareValues, Role, SECONDS_MAX, Summary,
};
pub use hedgerow_privacy::{Change, Distance, KnownRows, NumberCloseness};
pub use hedgerow_publish::cloning::{CloneReport, RareValue};
pub use hedgerow_publish::search::NODES_MAX as LATTICE_NODES_MAX;
pub use hedgerow_release::ReleasedClasses;
pub use hedgerow_release::manifest::{Claim, ClassSizes, Manifest, RowTotals, UnitCounts};
pub use hedgerow_release::metadata::Metadata;
pub use hedgerow_report::Section;
/// How the title of every report begins.
pub use hedgerow_report::TITLE as REPORT_TITLE;
pub use hedgerow_table::date::Date;
pub use hedgerow_table::hierarchy::{Bound, DateUnit};
pub use hedgerow_table::read::ColumnCells;
pub use hedgerow_table::read::ReadOptions;
pub use hedgerow_table::{Format, Table};

/// Reads what `[source]` of a policy names, without its identifiers and as it is: a policy's
/// `coarsen` is applied by what takes the table.
pub fn read_source(policy: &Policy) -> Result<Table, Error> {
    Ok(Source::of_policy().read_as_it_is(policy, &Monitor::default())?.into_owned())
}

/// Writes a file whole or not at all: next to it first, flushed, and then moved into place. One
/// that is there is replaced.
pub fn write_file(path: impl AsRef<std::path::Path>, text: &[u8]) -> Result<(), Error> {
    Ok(hedgerow_table::whole::write(path.as_ref(), text)?)
}

/// About how many bytes of memory any run takes, whatever it reads.
pub fn least_bytes() -> u64 {
    hedgerow_table::memory::least_bytes()
}

/// Clears away what killed runs left in a folder: files and releases that were never completed.
pub fn clear_leftovers(folder: impl AsRef<std::path::Path>) {
    hedgerow_table::whole::leftovers::clear_folder(folder.as_ref());
}

/// Clears away the folders of temporary files that killed runs of the same user left: they may hold
/// rows. Those of processes that run stay.
pub fn clear_scratch() {
    hedgerow_table::whole::leftovers::clear_scratch(&std::env::temp_dir());
}
