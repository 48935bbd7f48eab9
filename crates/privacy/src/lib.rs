//! Privacy models as guarantees over classes, the rules that require them, and how
//! a table is judged.

mod achieved;
mod conditions;
pub mod distribution;
pub mod guarantee;
pub mod judge;
mod missing;
pub mod model;
mod model_name;
pub mod models;
pub mod numbers;
mod products;
pub mod proximity;
mod rule;
pub mod rules;
pub mod units;

pub use conditions::about_some_classes;
pub use distribution::{Distribution, Tree};
pub use guarantee::{Absorbing, Class, Guarantee, OnMerge};
pub use judge::{BoundRule, Finest, Judge, Verdict};
pub use model::{Change, Distance, Model, NumberCloseness};
pub use model_name::{ModelName, UnknownModel};
pub use models::{Community, Context};
pub use rule::ConcernedLabels;
pub use units::{KnownRows, UnitRows, UnitTerms, UnitVerdict};
