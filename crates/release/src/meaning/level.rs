//! Whether the labels of an attribute can be those of one level of its hierarchy, as full-domain
//! recoding gives them: no two cover the same value, and all are made the same way.

use std::cmp::Ordering;

use hashbrown::HashSet;
use hedgerow_table::{Bound, Cover, DateUnit};

use super::AttributeMeaning;

impl AttributeMeaning<'_> {
    pub(super) fn is_one_level(&self, labels: &[(&str, &Cover)]) -> bool {
        if labels.iter().any(|(_, cover)| **cover == Cover::Everything) {
            // The top is the only label, the missing value under it.
            return labels.len() == 1;
        }
        let labels: Vec<(&str, &Cover)> =
            labels.iter().copied().filter(|(_, cover)| **cover != Cover::Missing).collect();
        let are_values = || labels.iter().all(|(label, cover)| self.is_value(label, cover));
        let alike = match self.hierarchy {
            None => are_values(),
            Some("widths") => are_values() || have_one_width(&labels),
            Some("mask") => hide_alike(&labels),
            Some("dates") => are_values() || have_one_unit(&labels),
            Some(_) => true,
        };
        alike && are_disjoint(&labels)
    }
}

/// Intervals of one width, aligned at zero. Ends beyond the integers of a column are open.
fn have_one_width(labels: &[(&str, &Cover)]) -> bool {
    let mut found: Option<f64> = None;
    labels.iter().all(|(_, cover)| {
        let (low, width, tolerance) = match **cover {
            Cover::Interval { low: Some(Bound::Integer(low)), high: Some(Bound::Integer(high)) } => {
                let (low, width) = (i128::from(low), i128::from(high) - i128::from(low));
                if low.checked_rem_euclid(width) != Some(0) {
                    return false;
                }
                (0.0, width as f64, 0.0)
            }
            Cover::Interval { low: Some(low), high: Some(high) } => {
                let (Some(low), Some(high)) = (real(low), real(high)) else { return false };
                (low, high - low, 1e-6 * low.abs().max(high.abs()))
            }
            Cover::Interval { .. } => return true,
            _ => return false,
        };
        let steps = low / width;
        let same = (*found.get_or_insert(width) - width).abs() <= tolerance;
        same && (steps - steps.round()).abs() * width <= tolerance
    })
}

fn real(bound: Bound) -> Option<f64> {
    match bound {
        Bound::Integer(value) => Some(value as f64),
        Bound::Float(value) => Some(value),
        Bound::Date(_) => None,
    }
}

/// As many characters hidden in each, or all of a shorter text.
fn hide_alike(labels: &[(&str, &Cover)]) -> bool {
    let stars = |label: &str| label.chars().rev().take_while(|character| *character == '*').count();
    let most = labels.iter().map(|(label, _)| stars(label)).max().unwrap_or(0);
    labels.iter().all(|(label, _)| stars(label) == most || stars(label) == label.chars().count())
}

fn have_one_unit(labels: &[(&str, &Cover)]) -> bool {
    let mut units = labels.iter().map(|(label, _)| DateUnit::read(label).map(|(unit, _)| unit));
    let first = units.next().flatten();
    first.is_some() && units.all(|unit| unit == first)
}

/// Whether no value is under two labels.
fn are_disjoint(labels: &[(&str, &Cover)]) -> bool {
    let mut leaves: HashSet<&str> = HashSet::new();
    let mut spans: Vec<(Option<Bound>, Option<Bound>)> = Vec::new();
    for (_, cover) in labels {
        match cover {
            Cover::Leaves(own) => {
                if !own.iter().all(|leaf| leaves.insert(leaf)) {
                    return false;
                }
            }
            Cover::Point(point) => spans.push((Some(*point), Some(*point))),
            Cover::Interval { low, high } => spans.push((*low, *high)),
            Cover::Everything | Cover::Missing => {}
        }
    }
    let order = |one: Option<Bound>, other: Option<Bound>| match (one, other) {
        (Some(one), Some(other)) => one.partial_cmp(&other).unwrap_or(Ordering::Equal),
        (one, other) => one.is_some().cmp(&other.is_some()),
    };
    spans.sort_unstable_by(|one, other| order(one.0, other.0));
    spans.windows(2).all(|pair| {
        let (before, after) = (pair[0], pair[1]);
        // A value is its own end, which it covers; an interval does not cover its end.
        let is_value = before.0.is_some() && before.0 == before.1;
        match (before.1, after.0) {
            (Some(end), Some(start)) => {
                if is_value {
                    end < start
                } else {
                    end <= start
                }
            }
            _ => false,
        }
    })
}
