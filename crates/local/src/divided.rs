//! A release from classes that were found elsewhere: by custodians together, none of whom has the
//! rows of all.
//!
//! The rows that are released have a class and values of the protected attributes. What their
//! quasi-identifiers were is unknown; each has some value of its class's region in its place, and
//! only the region is released. Losses that would need the values are not stated.

use hedgerow_cuts::{Axis, Shape, Span};
use hedgerow_draft::bind::Bound;
use hedgerow_draft::draft::Draft;
use hedgerow_draft::error::PublishError;
use hedgerow_draft::generalized;
use hedgerow_policy::Summary;
use hedgerow_release::manifest::RowTotals;

use super::cells::cells;
use super::{LocalRecoding, judge_what_is_seen};

/// Losses that follow from the classes alone.
const KNOWN_LOSSES: [&str; 2] = ["discernibility", "average-class"];

/// Rows that are divided into classes already.
#[derive(Debug, Clone, Copy)]
pub struct Divided<'a> {
    /// How every quasi attribute was cut.
    pub axes: &'a [Axis],
    /// For every class its region, attribute by attribute.
    pub regions: &'a [Vec<Span>],
    /// The class of every row of the table.
    pub of_row: &'a [u32],
}

pub fn draft<'a>(bound: &'a Bound<'_>, divided: Divided<'_>) -> Result<Draft<'a>, PublishError> {
    let found = recoding(bound, divided)?;
    judge_what_is_seen(bound, &bound.judge()?, &found)?;
    drafted(bound, divided, &found)
}

/// The same of rows whose protected values are not known, so that no rule can be judged.
pub(super) fn unjudged<'a>(bound: &'a Bound<'_>, divided: Divided<'_>) -> Result<Draft<'a>, PublishError> {
    drafted(bound, divided, &recoding(bound, divided)?)
}

fn recoding(bound: &Bound<'_>, divided: Divided<'_>) -> Result<LocalRecoding, PublishError> {
    refuse_unfit(bound, divided)?;
    let Divided { axes, regions, of_row } = divided;
    let tight = bound.policy.publish.summarise == Summary::Tight;
    let mut sizes = vec![0u64; regions.len()];
    of_row.iter().for_each(|class| sizes[*class as usize] += 1);
    let cells = (0..axes.len()).map(|place| {
        let regions = regions.iter().map(|region| region[place]);
        cells(&bound.quasi[place], &axes[place], bound.counts_of_quasi(place), tight, regions)
    });
    let (of_row, cells) = (of_row.to_vec(), cells.collect());
    Ok(LocalRecoding { of_row, pieces: None, sizes, cells }.with_equal_classes_merged())
}

fn drafted<'a>(bound: &'a Bound<'_>, divided: Divided<'_>, found: &LocalRecoding) -> Result<Draft<'a>, PublishError> {
    let all = divided.of_row.len() as u64;
    let rows = RowTotals { source: all, out: all, suppressed: 0 };
    let (table, codebook) = generalized::table(bound, found.recoded(&bound.quasi), None)?;
    let losses = found.losses(all, bound.k()).into_iter().filter(|(name, _)| KNOWN_LOSSES.contains(&name.as_str()));
    Ok(Draft::new(vec![table], codebook, rows, losses.collect()))
}

/// Classes come from messages of others: nothing is taken for granted.
fn refuse_unfit(bound: &Bound<'_>, divided: Divided<'_>) -> Result<(), PublishError> {
    let Divided { axes, regions, of_row } = divided;
    let is_region = |axis: &Axis, span: Span| {
        let node = || axis.node(span).is_some_and(|node| node.span == span);
        let whole = !matches!(axis.shape(), Shape::Tree(_)) || span.first == span.last || node();
        span.first <= span.last && span.last < axis.size() && whole
    };
    let fits = |region: &Vec<Span>| {
        region.len() == axes.len() && axes.iter().zip(region).all(|(axis, span)| is_region(axis, *span))
    };
    let whole = axes.len() == bound.quasi.len() && of_row.len() == bound.table.rows;
    if whole && regions.iter().all(fits) && of_row.iter().all(|class| (*class as usize) < regions.len()) {
        return Ok(());
    }
    Err(PublishError::Internal("classes of another table than the one that is released".to_owned()))
}
