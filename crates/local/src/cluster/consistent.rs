//! Rules with `consistent = true`: classes in which too few rows fit some person are merged with
//! their neighbors until enough do.

use hedgerow_cuts::{Axis, Span};
use hedgerow_draft::bind::Bound;
use hedgerow_draft::consistent::Consistent;
use hedgerow_table::Codes;

use super::improve::RowClasses;
use crate::LocalRecoding;

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
    let weight = |attribute: usize, span: Span| axes[attribute].weight(axes[attribute].cell(span));
    let own: Vec<f64> = spans
        .iter()
        .zip(&all)
        .map(|(spans, class)| {
            let cost: f64 = spans.iter().enumerate().map(|(attribute, span)| weight(attribute, *span)).sum();
            cost * class.len() as f64
        })
        .collect();
    // What two classes cost more together; `None` where it is more than `most`, which is known
    // before all attributes are looked at.
    let more = |class: usize, other: usize, most: f64| -> Option<f64> {
        let rows = (all[class].len() + all[other].len()) as f64;
        let (mut cost, mut more) = (0.0, 0.0);
        for (attribute, (one, two)) in spans[class].iter().zip(&spans[other]).enumerate() {
            cost += weight(attribute, Span::new(one.first.min(two.first), one.last.max(two.last)));
            more = cost * rows - own[class] - own[other];
            if more > most {
                return None;
            }
        }
        Some(more)
    };
    // The group that each class belongs to, by the first of its classes.
    let mut group: Vec<usize> = (0..all.len()).collect();
    for class in (0..all.len()).filter(|&class| all[class].iter().any(|&key| fails(key))) {
        let mut nearest: Option<(f64, usize)> = None;
        for other in (0..all.len()).filter(|&other| other != class) {
            let most = nearest.map_or(f64::INFINITY, |(most, _)| most);
            if let Some(more) = more(class, other, most).filter(|more| nearest.is_none() || *more < most) {
                nearest = Some((more, other));
            }
        }
        let Some((_, nearest)) = nearest else { continue };
        let (low, high) = (group[class].min(group[nearest]), group[class].max(group[nearest]));
        group.iter_mut().filter(|group| **group == high).for_each(|group| *group = low);
    }
    let mut joined: Vec<Vec<u32>> = vec![Vec::new(); all.len()];
    all.iter().zip(group).for_each(|(class, group)| joined[group].extend_from_slice(class));
    let mut merged = RowClasses::default();
    joined.into_iter().filter(|rows| !rows.is_empty()).for_each(|rows| merged.push(rows.into_iter()));
    Some(merged)
}
