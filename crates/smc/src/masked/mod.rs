//! The `masked` profile, the default: pairs of custodians agree on masks that cancel in the total.

mod keys;
mod onion;
mod run;
mod shuffle;
mod transcript;
#[cfg(any(test, feature = "danger-seeded"))]
mod view;

#[cfg(test)]
mod coalition;
#[cfg(test)]
mod mutants;
#[cfg(test)]
mod peers;
#[cfg(test)]
mod second;

#[cfg(any(test, feature = "danger-seeded"))]
pub use keys::measure_masking;
pub use run::{Run, may_open, start};
pub use shuffle::{Shuffle, start as start_shuffle};
#[cfg(any(test, feature = "danger-seeded"))]
pub use view::{Guess, Residual, residuals};
