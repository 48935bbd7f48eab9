//! The range that a policy declares for an attribute: what is public about its values without
//! the data.
//!
//! Cells that would be open at an end stop there, so that the codebook bounds them by public
//! knowledge and never by the lowest or highest person. Values outside were refused when the policy
//! was bound.

use hedgerow_policy::Attribute;
use hedgerow_table::date::Date;
use hedgerow_table::hierarchy::Bound;
use hedgerow_table::{Cover, Kind};

/// An interval (low inclusive, high exclusive) whose open ends stop where the declared range does.
/// Without any end it stays open: it is the top.
pub(crate) fn bounded(
    attribute: &Attribute,
    kind: Kind,
    (low, high): (Option<Bound>, Option<Bound>),
) -> (Option<Bound>, Option<Bound>) {
    let (Some(range), true) = (&attribute.declared.range, low.is_some() || high.is_some()) else { return (low, high) };
    (low.or_else(|| first(range.low?, kind)), high.or_else(|| after(range.high?, kind)))
}

/// The cover of a label, its open ends bounded by the declared range.
pub(crate) fn bounded_cover(attribute: &Attribute, kind: Kind, cover: &Cover) -> Cover {
    match cover {
        Cover::Interval { low, high } => {
            let (low, high) = bounded(attribute, kind, (*low, *high));
            Cover::Interval { low, high }
        }
        other => other.clone(),
    }
}

/// The lowest value of a range, on the axis of a kind.
fn first(bound: Bound, kind: Kind) -> Option<Bound> {
    match (bound, kind) {
        (Bound::Float(value), Kind::Integer) => Some(Bound::Integer(value.ceil() as i64)),
        (Bound::Integer(value), Kind::Float) => Some(Bound::Float(value as f64)),
        (Bound::Integer(_), Kind::Integer) | (Bound::Float(_), Kind::Float) | (Bound::Date(_), Kind::Date) => {
            Some(bound)
        }
        _ => None,
    }
}

/// The value after the highest of a range.
fn after(bound: Bound, kind: Kind) -> Option<Bound> {
    match (bound, kind) {
        (Bound::Integer(value), Kind::Integer) => value.checked_add(1).map(Bound::Integer),
        (Bound::Float(value), Kind::Integer) => (value.floor() as i64).checked_add(1).map(Bound::Integer),
        (Bound::Integer(value), Kind::Float) => Some(Bound::Float((value as f64).next_up())),
        (Bound::Float(value), Kind::Float) => Some(Bound::Float(value.next_up())),
        (Bound::Date(Date(day)), Kind::Date) => day.checked_add(1).map(|day| Bound::Date(Date(day))),
        _ => None,
    }
}
