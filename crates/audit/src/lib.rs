//! The losses of a release, and what an adversary still learns from it.
//!
//! This crate shares no formula with the crates that publish: everything is computed again from the
//! released cells, the codebook and the definitions, so that a mistake over there shows up here.

pub mod adversaries;
mod adversary;
mod anonymity;
mod attribute;
mod audit;
mod cell;
mod class_sizes;
mod classes;
mod combined_view;
mod comparison;
mod contingency;
mod estimate;
pub mod finding;
mod from_source;
pub mod impossible;
mod joint_cells;
mod kinds;
mod linked;
pub mod loss;
mod matching;
pub mod max_likelihood;
mod measures;
mod narrowing;
mod number_error;
mod overlap;
mod people;
pub mod query;
pub mod query_error;
mod released_risk;
mod risk;
mod rows;
mod safe_harbor;
mod shown;
mod singled_out;
mod solver;
#[cfg(test)]
mod testing;
mod unread;

pub use adversaries::worlds::Columns;
pub use adversary::{Adversary, UnknownAdversary};
pub use anonymity::{Anonymity, SensitiveDiversity, anonymity};
pub use attribute::QuasiSource;
pub use audit::{AuditOptions, Audited, CERTAIN, Contradiction, audit};
pub use class_sizes::{SizeDistribution, SizeRange};
pub use comparison::{ComparedAttribute, ComparedValue, Comparison, Subgroup, compare};
pub use contingency::{Contingency, contingencies};
pub use from_source::not_from_source;
pub use kinds::{MeasureOptions, SourceTable, measure};
pub use loss::{AttributeLoss, Losses};
pub use measures::{Measures, TableMeasures};
pub use narrowing::{Narrowing, NarrowingStep, narrowings};
pub use number_error::NumberError;
pub use query_error::{QueryError, QueryOptions};
pub use released_risk::{LimitShare, ReleasedRisk, ReleasedTable, RiskShare, released_risk};
pub use risk::{Risk, Scenario};
pub use rows::RowCounts;
pub use safe_harbor::{SafeHarborItem, safe_harbor};
pub use singled_out::{CountedAlone, SingledOut, singled_out, singled_out_among};
