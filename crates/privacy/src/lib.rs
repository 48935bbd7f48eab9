//! What must hold: privacy models as guarantees over classes, the rules that ask for them, and how a table is judged.

pub mod caution;
pub mod check;
mod earlier;
pub mod guarantee;
pub mod judge;
mod leftovers;
pub mod model;
pub mod models;
pub mod numbers;
pub mod reach;
pub mod release_check;
pub mod released;
pub mod rules;
pub mod verified;
pub mod whole;

pub use guarantee::{Absorbing, Class, Guarantee, OnMerge};
pub use judge::{Judge, Rule, Verdict};
pub use model::{Distance, Model, Reading};
pub use whole::{Tree, Whole};
