//! What must hold: privacy models as guarantees over classes, and the rules that ask for them.

pub mod model;

pub use model::{Distance, Model};
