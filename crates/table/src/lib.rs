//! Data: columns, dictionaries, hierarchies, frequency sets, and reading them from files
//! and from memory. This crate knows no notion of privacy.

mod coarsen;
mod codes;
mod column;
pub mod date;
mod date_format;
pub mod dependencies;
pub mod domain;
pub mod engine;
pub mod error;
pub mod exact;
pub mod frequency;
pub mod hierarchy;
pub mod memory;
pub mod parallel;
pub mod progress;
pub mod read;
pub mod records;
pub mod spelling;
pub mod spill;
#[cfg(feature = "arrow")]
mod to_arrow;
pub mod uniqueness;
pub mod whole;

pub use coarsen::{CoarsenedEngine, Coarsening, Coarser, Way};
pub use codes::Codes;
pub use column::{Column, Table};
pub use date_format::DateFormat;
pub use domain::{Domain, Kind, Values};
pub use engine::{Counted, Engine, EngineAnswer, TableProfile};
pub use error::{About, InputError, Refusal, TableError};
pub use exact::{Ratio, gcd};
pub use frequency::{Classes, FrequencySet, Layout, LevelChange};
pub use hierarchy::{Bound, Cover, DateUnit, Hierarchy, HierarchySpec, Label, Level};
pub use progress::{NoProgress, Progress};
pub use read::{ColumnCells, Format, TableBuilder};
pub use spill::Spill;
#[cfg(feature = "arrow")]
pub use to_arrow::to_arrow;
