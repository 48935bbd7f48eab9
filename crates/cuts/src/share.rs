//! The share of an attribute's domain that an interval covers, as `ncp` counts it.

use hedgerow_table::hierarchy::Bound;
use hedgerow_table::{Domain, Kind};

/// A bound as a number.
pub fn position(bound: Bound) -> f64 {
    match bound {
        Bound::Integer(value) => value as f64,
        Bound::Float(value) => value,
        Bound::Date(date) => f64::from(date.0),
    }
}

/// The width of an interval, clipped to the domain, as a share of the domain's. Whole numbers and
/// days count from the first to the last value inside.
pub fn interval_share(domain: &Domain, kind: Kind, low: Option<Bound>, high: Option<Bound>) -> f64 {
    let step = if kind == Kind::Float { 0.0 } else { 1.0 };
    let from = low.map_or(f64::NEG_INFINITY, position);
    let to = high.map_or(f64::INFINITY, |high| position(high) - step);
    clipped_share(domain, from, to)
}

/// The part of the domain's width that lies between two points, both inclusive.
pub fn clipped_share(domain: &Domain, from: f64, to: f64) -> f64 {
    let Some((first, last)) = domain_ends(domain) else { return 0.0 };
    if last <= first {
        return 0.0;
    }
    ((to.min(last) - from.max(first)) / (last - first)).max(0.0)
}

/// The lowest and the highest value that occur.
fn domain_ends(domain: &Domain) -> Option<(f64, f64)> {
    let last = domain.present().checked_sub(1)? as u32;
    Some((domain.number(0)?, domain.number(last)?))
}
