//! What must hold: privacy models as guarantees over classes, the rules that require them, and how
//! a table is judged.

mod achieved;
pub mod distribution;
pub mod guarantee;
pub mod judge;
mod missing;
pub mod model;
pub mod models;
pub mod numbers;
pub mod proximity;
pub mod rules;

pub use distribution::{Distribution, Tree};
pub use guarantee::{Absorbing, Class, Guarantee, OnMerge};
pub use judge::{Finest, Judge, Rule, Verdict};
pub use model::{Distance, Model, Reading};
pub use models::{Community, Context};
