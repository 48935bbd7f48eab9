//! How it fails: what a release lost, and what an adversary still learns from it.
//!
//! This room shares no formula with the rooms that publish: everything is computed again from the released cells, the
//! codebook and the definitions, so that a mistake over there shows up here.

pub mod adversaries;
mod attribute;
mod audit;
mod audit_text;
mod bucketized;
mod cell;
mod class_sizes;
mod classes;
mod cloned;
mod combined_view;
mod estimate;
pub mod finding;
mod joint_cells;
pub mod linker;
pub mod loss;
mod matching;
pub mod max_likelihood;
mod measure;
mod number_error;
mod overlap;
mod people;
pub mod query;
pub mod query_error;
mod summary;
#[cfg(test)]
mod testing;

pub use audit::{AuditOptions, Audited, audit};
pub use bucketized::{MeasuredBuckets, measure_buckets};
pub use class_sizes::{Bucket, SizeDistribution};
pub use cloned::{MeasuredClones, measure_clones};
pub use linker::{Risk, Scenario};
pub use loss::{AttributeLoss, Losses};
pub use measure::{Measured, Measures, QuasiSource, Recoding, RowCounts, measure};
pub use number_error::NumberError;
pub use query_error::{QueryError, QueryOptions};
