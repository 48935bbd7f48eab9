//! Full-domain recoding: every value of an attribute on one level of its hierarchy, and an exact
//! search over the lattice of levels for the least loss.

pub mod explore;
pub mod full_domain;
pub mod lattice;
pub mod pruning;
pub mod search;
pub mod sets;
pub mod why;
pub mod without;
