//! Rules with `consistent = true`: classes in which too few rows fit some person are merged with
//! their neighbors until enough do.

use hedgerow_cuts::{Axis, Span};
use hedgerow_table::Codes;

use super::improve::RowClasses;
use crate::bind::Bound;
use crate::consistent::Consistent;
use crate::local::LocalRecoding;

/// By row of the source, whether a rule fails for the rows that fit it.
pub(super) fn failing_rows(bound: &Bound<'_>, consistent: &Consistent, found: &LocalRecoding) -> Vec<bool> {
    let labels = found.columns();
    let mut columns = bound.judged_codes();
    columns.iter_mut().zip(&labels).for_each(|(place, labels): (&mut &Codes, &Codes)| *place = labels);
    consistent.failing(&columns, None)
}

/// Each class with a failing row joined with the class that it widens the least; `None` where there
/// is only one class. `rank` is that of a key along an attribute.
pub(super) fn merged(
    axes: &[Axis],
    rank: impl Fn(usize, u32) -> u32,
    classes: &RowClasses,
    fails: impl Fn(u32) -> bool,
) -> Option<RowClasses> {
    let all: Vec<&[u32]> = classes.iter().collect();
    if all.len() < 2 {
        return None;
    }
    let spans: Vec<Vec<Span>> = all
        .iter()
        .map(|class| {
            let span = |attribute: usize| {
                let ranks = class.iter().map(|&key| rank(attribute, key));
                let (low, high) = ranks.fold((u32::MAX, 0), |(low, high), rank| (low.min(rank), high.max(rank)));
                Span::new(low, high)
            };
            (0..axes.len()).map(span).collect()
        })
        .collect();
    let over_both = |one: &[Span], other: &[Span]| -> Vec<Span> {
        let both = |(a, b): (&Span, &Span)| Span::new(a.first.min(b.first), a.last.max(b.last));
        one.iter().zip(other).map(both).collect()
    };
    let cost = |spans: &[Span]| axes.iter().zip(spans).map(|(axis, &span)| axis.weight(axis.cell(span))).sum::<f64>();
    // The group that each class belongs to, by the first of its classes.
    let mut group: Vec<usize> = (0..all.len()).collect();
    for class in (0..all.len()).filter(|&class| all[class].iter().any(|&key| fails(key))) {
        let rows = |class: usize| all[class].len() as f64;
        let more = |other: usize| {
            let both = cost(&over_both(&spans[class], &spans[other])) * (rows(class) + rows(other));
            both - cost(&spans[class]) * rows(class) - cost(&spans[other]) * rows(other)
        };
        let others = (0..all.len()).filter(|&other| other != class).map(|other| (more(other), other));
        let Some((_, nearest)) = others.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))) else { continue };
        let (low, high) = (group[class].min(group[nearest]), group[class].max(group[nearest]));
        group.iter_mut().filter(|group| **group == high).for_each(|group| *group = low);
    }
    let mut joined: Vec<Vec<u32>> = vec![Vec::new(); all.len()];
    all.iter().zip(group).for_each(|(class, group)| joined[group].extend_from_slice(class));
    let mut merged = RowClasses::default();
    joined.into_iter().filter(|rows| !rows.is_empty()).for_each(|rows| merged.push(rows.into_iter()));
    Some(merged)
}
