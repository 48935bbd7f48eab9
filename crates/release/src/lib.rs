//! A release: its manifest and codebook, the kinds of tables it can consist of, and how
//! each kind is opened and read back, by its publisher and by any reader. This crate knows no
//! privacy model.
//!
//! [`Release::open`] reads the tables once. Everything that judges, attacks, measures or queries a
//! release takes the value.

pub mod classes;
pub mod coarsened;
pub mod codebook;
mod description;
pub mod digest;
pub mod foreign;
pub mod joint;
pub mod kinds;
pub mod known_values;
mod labels;
pub mod manifest;
mod meaning;
pub mod metadata;
mod notation;
pub mod quoting;
pub mod read;
mod release;
mod role;
pub mod shape;
pub mod spelling;
mod written;

pub use classes::ReleasedClasses;
pub use codebook::Codebook;
pub use joint::JointShare;
pub use kinds::generalized::{CountReleased, ReadBy, Within};
pub use kinds::{ReleaseTables, bucketized, cloned, combined, decomposed, generalized};
pub use known_values::{KnownValues, LabelReader};
pub use manifest::Manifest;
pub use notation::{NOT_MISSING, can_hold, cover_of_label};
pub use release::{OpenError, Release};
pub use role::{ROLES, Role};
pub use shape::Shape;
pub use spelling::Spelling;
