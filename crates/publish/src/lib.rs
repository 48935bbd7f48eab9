//! How to make it hold: the searches that turn a table and a policy into a release.

pub mod lattice;
pub mod loss;
pub mod pruning;
pub mod search;
mod sets;
