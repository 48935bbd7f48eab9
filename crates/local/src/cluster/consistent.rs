//! Rules with `consistent = true`: classes in which too few rows fit some person are merged with
//! others until enough do: with the nearest one that has rows which fit, since a near class mostly
//! lacks the same.

use hedgerow_cuts::{Axis, Span};
use hedgerow_draft::bind::Bound;
use hedgerow_draft::consistent::{Consistent, FittingClasses};
use hedgerow_table::{Codes, parallel};

use super::improve::RowClasses;
use crate::LocalRecoding;

/// By row of the source, whether a rule fails for the rows that fit it.
pub(super) fn failing_rows(bound: &Bound<'_>, consistent: &Consistent, found: &LocalRecoding) -> Vec<bool> {
    let labels = found.columns();
    let mut columns = bound.judged_codes();
    columns.iter_mut().zip(&labels).for_each(|(place, labels): (&mut &Codes, &Codes)| *place = labels);
    consistent.failing(&columns, None)
}

/// Each class that fails joined with another: of those whose rows are enough together, the one that
/// it widens the least, and where none is enough, the nearest. `None` where there is only one
/// class. `rank` is that of a key along an attribute, `row` its row of the source; `failing` is by
/// row.
pub(super) fn merged(
    bound: &Bound<'_>,
    consistent: &Consistent,
    axes: &[Axis],
    rank: impl Fn(usize, u32) -> u32,
    row: impl Fn(u32) -> u32,
    classes: &RowClasses,
    failing: &[bool],
) -> Option<RowClasses> {
    let all: Vec<&[u32]> = classes.iter().collect();
    if all.len() < 2 {
        return None;
    }
    let rows: Vec<Vec<u32>> = all.iter().map(|class| class.iter().map(|&key| row(key)).collect()).collect();
    let fitting = FittingClasses::new(consistent, &bound.judged_codes(), &rows);
    let extents = Extents::new(axes, rank, &all);
    // Classes of equal labels are one to readers, and can fail together.
    let fails = |class: &usize| fitting.fails(*class) || rows[*class].iter().any(|&row| failing[row as usize]);
    let failing: Vec<usize> = (0..all.len()).filter(fails).collect();
    let partners = parallel::map(failing.len(), |index| {
        let class = failing[index];
        let mut others: Vec<(f64, usize)> = (0..all.len())
            .filter(|&other| other != class)
            .map(|other| (extents.cost_together(class, other), other))
            .collect();
        others.sort_unstable_by(|one, two| one.0.total_cmp(&two.0).then(one.1.cmp(&two.1)));
        let enough = others.iter().find(|(_, other)| fitting.hold_with(class, *other));
        enough.or(others.first()).map_or(class, |(_, other)| *other)
    });
    // The group that each class belongs to, by the first of its classes.
    let mut group: Vec<usize> = (0..all.len()).collect();
    for (class, other) in failing.into_iter().zip(partners) {
        let (low, high) = (group[class].min(group[other]), group[class].max(group[other]));
        group.iter_mut().filter(|group| **group == high).for_each(|group| *group = low);
    }
    let mut joined: Vec<Vec<u32>> = vec![Vec::new(); all.len()];
    all.iter().zip(group).for_each(|(class, group)| joined[group].extend_from_slice(class));
    let mut merged = RowClasses::default();
    joined.into_iter().filter(|rows| !rows.is_empty()).for_each(|rows| merged.push(rows.into_iter()));
    Some(merged)
}

/// How far classes reach along each attribute, and what they cost.
struct Extents<'a> {
    axes: &'a [Axis],
    spans: Vec<Vec<Span>>,
    rows: Vec<usize>,
    own: Vec<f64>,
}

impl<'a> Extents<'a> {
    fn new(axes: &'a [Axis], rank: impl Fn(usize, u32) -> u32, classes: &[&[u32]]) -> Extents<'a> {
        let span = |attribute: usize, class: &[u32]| {
            let ranks = class.iter().map(|&key| rank(attribute, key));
            let (low, high) = ranks.fold((u32::MAX, 0), |(low, high), rank| (low.min(rank), high.max(rank)));
            Span::new(low, high)
        };
        let spans: Vec<Vec<Span>> =
            classes.iter().map(|class| (0..axes.len()).map(|attribute| span(attribute, class)).collect()).collect();
        let rows: Vec<usize> = classes.iter().map(|class| class.len()).collect();
        let mut extents = Extents { axes, spans, rows, own: Vec::new() };
        extents.own = (0..classes.len())
            .map(|class| extents.cost(extents.spans[class].iter().copied()) * extents.rows[class] as f64)
            .collect();
        extents
    }

    fn cost(&self, spans: impl Iterator<Item = Span>) -> f64 {
        spans.zip(self.axes).map(|(span, axis)| axis.weight(axis.cell(span))).sum()
    }

    /// What two classes cost more together.
    fn cost_together(&self, class: usize, other: usize) -> f64 {
        let both = self.spans[class].iter().zip(&self.spans[other]);
        let spans = both.map(|(one, two)| Span::new(one.first.min(two.first), one.last.max(two.last)));
        let rows = (self.rows[class] + self.rows[other]) as f64;
        self.cost(spans) * rows - self.own[class] - self.own[other]
    }
}
