//! Hedgerow publishes microdata for many publishers: from a private table, a policy and the releases
//! that are already published, it makes a release that satisfies every privacy rule against every
//! declared adversary, with minimal information loss. It also attacks: an audit reports what an
//! adversary learns from releases taken together.
//!
//! This crate is the interface for programs; the `hedgerow` command uses nothing else. The terms are
//! those of `docs/glossary.md`, the policy's keys those of `docs/policy.md`.
//!
//! ```
//! use hedgerow::{Policy, Release};
//!
//! let folder = tempfile::tempdir()?;
//! let policy = Policy::load("../../examples/hospital/policy.toml".as_ref())?;
//! let published = hedgerow::publish(&policy, folder.path().join("release"))?;
//! println!("{} of {} rows released", published.rows.out, published.rows.source);
//!
//! let release = Release::open(&published.release)?;
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
//! A release beside an earlier one about the same people: whatever class of each release somebody is
//! in, at least two values remain.
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! let path = "../../examples/departments/census-beside.toml";
//! # let text = std::fs::read_to_string(path)?;
//! # let _ = text;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(missing_docs)]

mod audit;
mod catalog;
mod check;
mod error;
pub mod federation;
mod init;
mod monitor;
mod publish;
mod rules;
mod source;

pub use audit::{Audit, audit};
pub use catalog::{Catalog, Entry};
pub use check::{Check, check, check_combined, check_table};
pub use error::{Error, Problem, Severity, Unsatisfiable};
pub use init::{ColumnProfile, Proposal, init, init_with};
pub use monitor::{Cancel, Monitor, Progress};
pub use publish::{Explain, Publish, Published, Search, Seconds, TableFormat, publish};
pub use rules::{
    ChosenTable, ChosenTables, DependencyReport, Requirement, RuleReport, RuleStanding, RulesReport, rules,
};
pub use source::Source;

pub use hedgerow_audit::adversaries::NAMES as ADVERSARIES;
pub use hedgerow_audit::{Audited, Measures};
pub use hedgerow_policy::{Policy, Role, SECONDS_MAX};
pub use hedgerow_publish::cloning::{CloneReport, RareValue};
pub use hedgerow_publish::search::NODES_MAX as LATTICE_NODES_MAX;
pub use hedgerow_release::Release;
pub use hedgerow_release::manifest::{Claim, ClassSizes, Manifest, Rows};
/// Synthetic data to try things on.
pub use hedgerow_synth as synthetic;
pub use hedgerow_table::Table;

/// Opens a release: a directory with a manifest, or a table made elsewhere that a `release.toml`
/// describes. It is read once; hand it on to whatever checks, measures, queries or audits it.
pub fn open(path: impl AsRef<std::path::Path>) -> Result<Release, Error> {
    open_with(path.as_ref(), &Monitor::default())
}

/// As [`open`], watched by a monitor that can also cancel.
pub fn open_with(path: &std::path::Path, monitor: &Monitor<'_>) -> Result<Release, Error> {
    Ok(hedgerow_publish::community::open_any(path, monitor)?)
}
