//! How it fails: what a release lost, and what an adversary still learns from it.
//!
//! This room shares no formula with the rooms that publish: everything is computed again from the released cells, the
//! codebook and the definitions, so that a mistake over there shows up here.

mod attribute;
mod cell;
mod class_sizes;
mod classes;
pub mod linker;
pub mod loss;
mod measure;
mod number_error;
pub mod query_error;
mod summary;
#[cfg(test)]
mod testing;

pub use class_sizes::{Bucket, SizeDistribution};
pub use linker::{Risk, Scenario};
pub use loss::{AttributeLoss, Losses};
pub use measure::{Measured, Measures, QuasiSource, RowCounts, measure};
pub use number_error::NumberError;
pub use query_error::{QueryError, QueryOptions};
