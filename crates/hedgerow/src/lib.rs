//! Hedgerow publishes microdata for many publishers: from a private table, a policy and the
//! releases that are already published, it makes a release that satisfies every privacy rule
//! against every declared adversary, with minimal information loss. It also attacks: an audit
//! reports what an adversary learns from releases taken together.
//!
//! This crate is the interface for programs; the `hedgerow` command uses nothing else. The terms
//! are those of `docs/glossary.md`, the policy's keys those of `docs/policy.md`.
//!
//! ```
//! use hedgerow::Policy;
//!
//! let folder = tempfile::tempdir()?;
//! let policy = Policy::load("../../examples/hospital/policy.toml".as_ref())?;
//! let published = hedgerow::publish(&policy, folder.path().join("release"))?;
//! println!("{} of {} rows released", published.rows.out, published.rows.source);
//!
//! let release = hedgerow::open(&published.release)?;
//! assert!(hedgerow::check(&release)?.holds());
//! let answer = hedgerow::query(&release, "SELECT COUNT(*) FROM data WHERE age < 40")?;
//! println!("{}", serde_json::to_string(&answer)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The five situations
//!
//! | situation | start at |
//! |---|---|
//! | others' releases are known | [`[community]` and cross-release l-diversity](#others-releases-are-known) |
//! | others publish, and nothing of it can be seen | [ε-cloning](#others-releases-are-unknown) |
//! | the sensitive value is a number | [(δ,l)-diversity, (ε,m)-anonymity](#the-sensitive-value-is-a-number) |
//! | many rules at once over any attributes | [guardian normal form](#many-rules-at-once) |
//! | several custodians publish together | [`federation`](#several-custodians-publish-together) |
//!
//! ## Others' releases are known
//!
//! A release next to an earlier one about the same people: whatever class of each release somebody
//! is in, at least two salary classes remain.
//!
//! ```
//! use hedgerow::Policy;
//!
//! # let folder = tempfile::tempdir()?;
//! # for file in std::fs::read_dir("../../examples/departments")?.flatten() {
//! #     std::fs::copy(file.path(), folder.path().join(file.file_name()))?;
//! # }
//! # let at = |name: &str| folder.path().join(name);
//! let revenue = Policy::load(&at("revenue.toml"))?;
//! hedgerow::publish(&revenue, at("revenue-release"))?;
//!
//! // `[community]` of this policy names the directory `revenue-release`.
//! let census = Policy::load(&at("census-beside.toml"))?;
//! hedgerow::publish(&census, at("census-release"))?;
//!
//! let revenue = hedgerow::open(at("revenue-release"))?;
//! let census = hedgerow::open(at("census-release"))?;
//! assert!(hedgerow::check_combined(&census, &[&revenue])?.holds());
//! assert!(!hedgerow::audit(vec![revenue, census])?.breach);
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
//! let policy = hedgerow::Policy::load("../../examples/three-hospitals/clone-1.toml".as_ref())?;
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
//! let policy = hedgerow::Policy::load("../../examples/salaries/policy.toml".as_ref())?;
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
//! let policy = hedgerow::Policy::load("../../examples/six-patients/decompose.toml".as_ref())?;
//! let published = hedgerow::publish(&policy, folder.path().join("release"))?;
//! let release = hedgerow::open(&published.release)?;
//! assert!(hedgerow::check(&release)?.holds());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ## Several custodians publish together
//!
//! [`federation::rehearse`] shows what a joint run would find, open and send.
//!
//! ```
//! use hedgerow::federation::{Profile, rehearse};
//!
//! let policy = hedgerow::Policy::load("../../examples/hospital/policy-local.toml".as_ref())?;
//! let union = hedgerow::read_source(&policy)?;
//! let run = rehearse(&policy, &union, 3, |row| row % 3, Profile::Masked, 1)?;
//! println!("{} classes after {} rounds", run.class_sizes.len(), run.rounds);
//! # Ok::<(), hedgerow::Error>(())
//! ```
//!
//! # Rows that are in memory
//!
//! A database or another program hands its rows over as columns or records; no file is needed.
//!
//! ```
//! use hedgerow::{Policy, Publish, ReadOptions, Table};
//!
//! # let folder = tempfile::tempdir()?;
//! let text = r#"
//!     [source]
//!     path = "in memory"
//!     [attributes]
//!     age = { role = "quasi-identifier", hierarchy = { widths = [10, 20] } }
//!     disease = { role = "sensitive" }
//!     [[rule]]
//!     protect = "disease"
//!     require = { model = "distinct-l-diversity", l = 2 }
//! "#;
//! let policy = Policy::parse(text, "policy.toml".as_ref())?;
//! let rows = [["31", "flu"], ["34", "cold"], ["52", "flu"], ["58", "asthma"]];
//! let rows = rows.map(|row| row.map(Some));
//! let table = Table::from_records(["age", "disease"], rows, &ReadOptions::default())?;
//! let published = Publish::new(&policy, folder.path().join("release")).source(&table).run()?;
//! assert_eq!(published.rows.out, 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(missing_docs)]

mod audit;
mod catalog;
mod check;
mod compare;
mod error;
mod explore;
pub mod federation;
mod folder;
mod init;
mod ledger;
mod measure;
mod monitor;
mod publish;
mod query;
mod report;
mod rules;
mod source;

pub use audit::{Audit, audit};
pub use catalog::{Catalog, Entry};
pub use check::{Check, check, check_combined, check_table};
pub use compare::{Compared, compare};
pub use error::{Error, Problem, Severity, Unsatisfiable};
pub use explore::{Exploration, ExploredAttribute, ExploredNode, ExploredRisk, explore};
pub use init::{ColumnProfile, Proposal, Relation, init, init_with, policy_beside};
pub use measure::{
    AttributeLoss, CountQueries, Losses, MeasureOptions, MeasuredTables, Measures, NumberError, QueryError,
    QueryOptions, Scenario, SizeDistribution, TableMeasures, measure,
};
pub use monitor::{Cancel, Monitor, Progress};
pub use publish::{CatalogAudit, Explain, Publish, Published, Search, Seconds, TableFormat, publish};
pub use query::{Answer, Cell, Column, ColumnKind, Estimate, query};
pub use report::{Report, Reported};
pub use rules::{
    ChosenTable, ChosenTables, DependencyReport, Requirement, RuleReport, RuleStanding, RulesReport, rules,
};
pub use source::Source;

pub use hedgerow_audit::adversaries::NAMES as ADVERSARIES;
pub use hedgerow_audit::adversaries::correlation::Weights;
pub use hedgerow_audit::finding;
pub use hedgerow_audit::{Audited, Contradiction};
pub use hedgerow_policy::{Policy, Role, SECONDS_MAX};
pub use hedgerow_publish::cloning::{CloneReport, RareValue};
pub use hedgerow_publish::search::NODES_MAX as LATTICE_NODES_MAX;
pub use hedgerow_release::Release;
pub use hedgerow_release::manifest::{Claim, ClassSizes, Manifest, Rows};
pub use hedgerow_release::metadata::Metadata;
/// How the title of every report begins.
pub use hedgerow_report::TITLE as REPORT_TITLE;
/// Synthetic data to try things on.
pub use hedgerow_synth as synthetic;
pub use hedgerow_table::Table;
pub use hedgerow_table::read::Cells;
pub use hedgerow_table::read::ReadOptions;

/// Opens a release: a directory with a manifest, a table made elsewhere that a `release.toml`
/// describes, or a release in a database (`postgres://host/database/schema`, `sqlite:release.db`).
/// It is read once; hand it on to whatever checks, measures, queries or audits it.
pub fn open(path: impl AsRef<std::path::Path>) -> Result<Release, Error> {
    open_with(path.as_ref(), &Monitor::default())
}

/// As [`open`], watched by a monitor that can also cancel.
pub fn open_with(path: &std::path::Path, monitor: &Monitor<'_>) -> Result<Release, Error> {
    let Some(address) = source::address(path) else { return Ok(Release::open(path, monitor)?) };
    let folder = folder::Folder::new()?;
    hedgerow_databases::fetch(&address, folder.path(), monitor)?;
    let place = address.to_string();
    let opened = Release::open(folder.path(), monitor).map_err(Error::from);
    let release = opened.map_err(|error| error.placed(folder.path(), &place))?;
    Ok(release.fetched(&place, folder))
}

/// Reads what `[source]` of a policy names, without its identifiers.
pub fn read_source(policy: &Policy) -> Result<Table, Error> {
    Ok(Source::Policy.read(policy, &Monitor::default())?.into_owned())
}

/// Clears away what killed runs left in a folder: parts of releases that were never completed.
pub fn clear_leftovers(folder: &std::path::Path) {
    hedgerow_verify::leftovers::clear_folder(folder);
}
