//! Counts that a release does not show, made again from its policy and its source.

mod consistent;
mod units;

pub use consistent::recount as failing_rows;
pub use units::{UnitsRecounted, of_released_rows, recount as over_units};
