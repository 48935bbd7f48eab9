//! The `masked` profile, the default: pairs of custodians agree on masks that cancel in the total.

mod keys;
mod onion;
mod run;
mod shuffle;

#[cfg(test)]
mod coalition;

pub use keys::measure_masking;
pub use run::{Run, may_open, start};
pub use shuffle::{Shuffle, start as start_shuffle};
