//! From a policy to a draft: the input and the result of every method.
//!
//! A policy meets its rows and is bound to them (`bind`): columns, hierarchies, rules, units,
//! dependencies and losses, each refused with a place where it has no meaning. A method takes that
//! and returns a draft (`draft`): tables, codebook, losses, a report. Nothing here searches, and
//! nothing writes.

pub mod bind;
pub mod broken;
pub mod clone_report;
pub mod coarse_hulls;
pub mod coarsen;
pub mod community;
pub mod consistent;
pub mod declared_range;
pub mod declared_values;
pub mod dependencies;
pub mod draft;
pub mod error;
pub mod explain;
pub mod gate;
pub mod generalized;
pub mod glob;
pub mod loss;
pub mod only_where;
pub mod options;
pub mod pieces;
pub mod rare_values;
pub mod recoded_outside;
pub mod related;
pub mod rows;
pub mod units;
