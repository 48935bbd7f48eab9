//! How it fails: what a release lost, and what an adversary still learns from it.
//!
//! This room shares no formula with the rooms that publish: everything is computed again from the released cells, the
//! codebook and the definitions, so that a mistake over there shows up here.

mod attribute;
mod bucketized;
mod cell;
mod class_sizes;
mod classes;
mod estimate;
pub mod linker;
pub mod loss;
mod measure;
pub mod query;
pub mod query_error;
mod summary;
#[cfg(test)]
mod testing;

pub use bucketized::{MeasuredBuckets, measure_buckets};
pub use class_sizes::{Bucket, SizeDistribution};
pub use linker::{Risk, Scenario};
pub use loss::{AttributeLoss, Losses};
pub use measure::{Measured, Measures, QuasiSource, Recoding, RowCounts, measure};
pub use query_error::{QueryError, QueryOptions};
