//! Rules over any attributes: an attacker who knows some must not learn others (Jin, Zhang, Zhang,
//! Das:
//! *Versatile publishing for privacy preservation*, 2010). Which rules follow from which, what
//! known dependencies add, which no publication can keep, and whether a set of published tables
//! keeps them by its schema alone.

mod attribute_set;
mod dependency;
mod feasibility;
mod implication;
mod normal_form;

pub use attribute_set::AttributeSet;
pub use dependency::{Added, Dependency, closure, expand};
pub use feasibility::{Feasibility, feasibility};
pub use implication::{Implied, Reduced, reduce};
pub use normal_form::{Guard, Hop, NormalFormStanding, Schema, standings};

use crate::Model;

/// `know ⇸ protect`: an attacker who knows the attributes on the left must not learn the
/// combination on the right beyond what is required.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    pub know: AttributeSet,
    /// Never empty, and apart from `know`. To keep one of several attributes is to keep their
    /// combination.
    pub protect: AttributeSet,
    pub require: Vec<Model>,
}
