//! Counts over columns that no sub-table of a decomposed release holds together.
//!
//! **What is estimated**: the count in the most likely table behind all sub-tables
//! ([`crate::max_likelihood`]), in closed form, or fitted where the tables form rings. The
//! condition is cut into boxes (a set of labels for each column) that do not overlap, and the
//! counts of the boxes add up.
//!
//! **What is certain and possible**: each box has at most as many rows as the sub-table with the
//! fewest rows in it, and at least those that are left when every sub-table takes away the rows
//! that it has outside of the box (Fréchet's bounds). They hold and may be wider than needed; rows
//! and sensitive values of a bucketized table count as two tables here.

use hedgerow_release::Release;
use hedgerow_release::decomposed::Decomposed;
use hedgerow_table::{Codes, Column, InputError, Table};

use super::aggregate::What;
use super::bounds::Meter;
use super::columns::{Columns, QueryColumn};
use super::generalized::Groups;
use super::plan::Plan;
use super::refusal::refuse;
use super::sql::Query;
use super::tally::Tally;
use super::{Answer, AnswerError, Bounds, Select, lines, sql};
use crate::max_likelihood::{MaxLikelihood, PublishedBuckets, PublishedTable, Selected, Selection, tables_in};

/// The most groups, and the most boxes of all groups together.
const GROUPS_MAX: usize = 1 << 12;
const BOXES_MAX: usize = 1 << 14;

/// Answers a query of counts. `tables` are the columns of each sub-table.
pub(super) fn answer(
    release: &Release,
    decomposed: &Decomposed,
    tables: Vec<(&str, Columns<'_>)>,
    suppressed: u64,
    select: &Select,
    bounds: &Bounds<'_>,
) -> Result<Answer, AnswerError> {
    let mut held: Vec<String> =
        tables.iter().map(|(folder, columns)| format!("{folder} ({})", columns.listed())).collect();
    held.sort();
    let (columns, others) = merged(tables.into_iter().map(|(_, columns)| columns));
    let query = sql::read(select, &columns)?;
    if query.is_rows() || query.aggregates.all.iter().any(|what| *what != What::Count) {
        let problem = "no table of this release holds every column of the query";
        let held = held.join(", ");
        let hint = format!("use columns of one table: {held}; over columns of several only COUNT(*) is estimated");
        return Err(InputError::new("SQL", problem, hint).into());
    }
    refuse_other_labels(&columns, &others)?;
    let meter = Meter::new(bounds);
    let plan = Plan::new(&query, &columns)?;
    let cardinalities: Vec<usize> = columns.all.iter().map(|named| named.column.domain.cardinality()).collect();
    let empty = |named: &QueryColumn<'_>| Column {
        name: named.column.name.clone(),
        domain: named.column.domain.clone(),
        codes: Codes::from_iter(named.column.domain.cardinality(), []),
    };
    let labels = columns.all.iter().map(empty).collect();
    let labels = Table { columns: labels, rows: 0, header: Vec::new(), warnings: Vec::new() };
    let published = tables_in(decomposed, &labels, release.name())?;
    meter.check()?;
    let estimate = MaxLikelihood::new(&cardinalities, &published).map_err(|problem| {
        InputError::new("SQL", format!("no estimate over several tables: {problem}"), "use columns of one table")
    })?;
    let selections = Selections::new(&query, &plan, &columns)?;
    let found = groups(&selections, &estimate, &published, &cardinalities, &meter)?;
    let (mut answer, _) = lines(found, &Default::default(), suppressed, &query, &plan, &columns, &meter)?;
    answer.notes.splice(0..0, query.notes.iter().cloned());
    answer.notes.push(
        "no table of this release holds every column of the query: the estimate is that of the most likely table \
         behind all of them"
            .to_owned(),
    );
    for fit in estimate.fits().iter().filter(|fit| !fit.converged) {
        let names: Vec<&str> = fit.attributes.iter().map(|&own| columns.all[own].column.name.as_str()).collect();
        let (passes, deviation) = (fit.passes, fit.deviation);
        let ring = names.join(", ");
        answer.notes.push(format!(
            "fitting the tables of {ring} stopped after {passes} passes: the estimate misses a released count by {deviation:.1e} rows"
        ));
    }
    Ok(answer)
}

/// Every column once, from the table that shows most of its labels; and those of the other tables.
fn merged<'a>(tables: impl Iterator<Item = Columns<'a>>) -> (Columns<'a>, Vec<QueryColumn<'a>>) {
    let (mut all, mut others): (Vec<QueryColumn<'a>>, Vec<QueryColumn<'a>>) = (Vec::new(), Vec::new());
    for named in tables.flat_map(|columns| columns.all) {
        match all.iter_mut().find(|known| known.column.name == named.column.name) {
            None => all.push(named),
            Some(known) if known.column.domain.cardinality() < named.column.domain.cardinality() => {
                others.push(std::mem::replace(known, named));
            }
            Some(_) => others.push(named),
        }
    }
    (Columns { all }, others)
}

/// No table may show labels of a column that another one lacks.
fn refuse_other_labels(columns: &Columns<'_>, others: &[QueryColumn<'_>]) -> Result<(), InputError> {
    for other in others {
        let Some(known) = columns.all.iter().find(|known| known.column.name == other.column.name) else { continue };
        let (one, domain) = (&other.column.domain, &known.column.domain);
        let shown = |code: u32| match one.missing_code() == Some(code) {
            true => domain.missing_code().is_some(),
            false => domain.code_of(&one.text(code)).is_some(),
        };
        if !(0..one.cardinality() as u32).all(shown) {
            let problem = format!("two tables of this release show `{}` by different labels", other.column.name);
            return refuse(problem, "use columns of one table");
        }
    }
    Ok(())
}

/// The boxes of every group, as labels selected of each column.
struct Selections {
    /// By group: its labels, and its boxes.
    groups: Vec<(Vec<u32>, Vec<Selected>)>,
}

impl Selections {
    fn new(query: &Query, plan: &Plan, columns: &Columns<'_>) -> Result<Selections, InputError> {
        let too_many = || {
            let problem = "the query distinguishes too many combinations of values to be estimated over several tables";
            InputError::new("SQL", problem, "group by fewer columns, or use simpler conditions")
        };
        let mut boxes: Vec<Selected> = Vec::new();
        for regions in plan.diagram.boxes(BOXES_MAX).ok_or_else(too_many)? {
            let mut selected: Selected = Vec::with_capacity(regions.len());
            for (column, wanted) in regions {
                selected.push((column, labels_in(plan, columns, column, &wanted)?));
            }
            boxes.push(selected);
        }
        let mut groups: Vec<Vec<u32>> = vec![Vec::new()];
        for &column in &query.groups {
            let labels = 0..columns.all[column].column.domain.cardinality() as u32;
            if groups.len().saturating_mul(labels.len()) > GROUPS_MAX {
                return Err(too_many());
            }
            let longer = |group: Vec<u32>| labels.clone().map(move |label| [group.as_slice(), &[label]].concat());
            groups = groups.into_iter().flat_map(longer).collect();
        }
        if groups.len().saturating_mul(boxes.len()) > BOXES_MAX {
            return Err(too_many());
        }
        let within = |group: &[u32]| -> Vec<Selected> {
            boxes.iter().map(|selected| narrowed(selected.clone(), &query.groups, group, columns)).collect()
        };
        Ok(Selections { groups: groups.iter().map(|group| (group.clone(), within(group))).collect() })
    }
}

/// Which labels of a column lie in some regions.
fn labels_in(plan: &Plan, columns: &Columns<'_>, column: usize, wanted: &[bool]) -> Result<Vec<bool>, InputError> {
    let used = &plan.used[plan.place[column].unwrap_or_default()];
    let inside = |kind: &u32| match used.cells[*kind as usize].as_slice() {
        [part] => Ok(wanted[part.region as usize]),
        _ => {
            let name = &columns.all[column].column.name;
            let problem = format!("WHERE distinguishes values of `{name}` that share a label");
            refuse(problem, "over several tables only whole labels are counted; use columns of one table")
        }
    };
    used.kind_of.iter().map(inside).collect()
}

/// A box with one label for every column that is grouped by.
fn narrowed(mut selected: Selected, grouped: &[usize], group: &[u32], columns: &Columns<'_>) -> Selected {
    for (&column, &label) in grouped.iter().zip(group) {
        let only = |(code, wanted): (u32, bool)| wanted && code == label;
        match selected.iter_mut().find(|(own, _)| *own == column) {
            Some((_, wanted)) => *wanted = (0..).zip(wanted.iter().copied()).map(only).collect(),
            None => {
                let labels = columns.all[column].column.domain.cardinality();
                selected.push((column, (0..).zip(vec![true; labels]).map(only).collect()));
            }
        }
    }
    selected
}

fn groups(
    selections: &Selections,
    estimate: &MaxLikelihood<'_>,
    published: &[PublishedTable],
    cardinalities: &[usize],
    meter: &Meter<'_>,
) -> Result<Groups, AnswerError> {
    let boxes: Vec<Selected> = selections.groups.iter().flat_map(|(_, boxes)| boxes.iter().cloned()).collect();
    let expected = estimate.expected_each(&boxes);
    meter.check()?;
    let bounds = bounds_of(&boxes, published, cardinalities);
    meter.check()?;
    let mut found = Groups::new();
    let mut next = 0;
    for (group, own) in &selections.groups {
        let range = next..next + own.len();
        next = range.end;
        let (certain, possible) = bounds[range.clone()].iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let rows = published.first().map_or(0, |table| table.rows() as u64);
        // Tables that contradict each other may leave no number in between.
        let possible = possible.min(rows).max(certain);
        let count = expected[range].iter().sum::<f64>().clamp(certain as f64, possible as f64);
        let tally = Tally { count, sum: count, certain, possible, ..Tally::default() };
        found.insert(group.clone(), vec![tally]);
    }
    Ok(found)
}

/// One side of a table: rows that are all there, with the number of those each stands for.
struct JoinSide<'a> {
    columns: &'a [(usize, Vec<u32>)],
    counts: Option<&'a [u32]>,
    /// Rows of which it shows nothing.
    unknown: u64,
}

/// The least and the most rows that any table behind the published ones has in each box.
fn bounds_of(boxes: &[Selected], published: &[PublishedTable], cardinalities: &[usize]) -> Vec<(u64, u64)> {
    let rows = published.first().map_or(0, PublishedTable::rows) as u64;
    let sides = published.iter().flat_map(|table| {
        let open = JoinSide { columns: &table.by_row, counts: None, unknown: 0 };
        let by_bucket = table.buckets.iter().map(|buckets| {
            let unknown = buckets.of_row.iter().filter(|bucket| **bucket == PublishedBuckets::NO_BUCKET).count();
            JoinSide { columns: &buckets.sensitive, counts: Some(&buckets.counts), unknown: unknown as u64 }
        });
        [open].into_iter().chain(by_bucket)
    });
    let sides: Vec<JoinSide<'_>> = sides.filter(|side| !side.columns.is_empty()).collect();
    let inside: Vec<Vec<u64>> = sides.iter().map(|side| side.inside(boxes, cardinalities)).collect();
    let bounds = |(at, selected): (usize, &Selected)| {
        let most = sides.iter().zip(&inside).map(|(side, inside)| inside[at] + side.unknown).min();
        // Sides that together hold every column of the box, those that hold most first.
        let mut open: Vec<usize> = selected.iter().map(|(column, _)| *column).collect();
        let mut least = rows;
        while !open.is_empty() {
            let held = |side: &JoinSide<'_>| open.iter().filter(|column| side.holds(**column)).count();
            let best = (0..sides.len()).max_by_key(|&side| (held(&sides[side]), inside[side][at]));
            let Some(best) = best.filter(|&best| held(&sides[best]) > 0) else { break };
            least = least.saturating_sub(rows.saturating_sub(inside[best][at]));
            open.retain(|column| !sides[best].holds(*column));
        }
        (if open.is_empty() { least } else { 0 }, most.unwrap_or(rows).min(rows))
    };
    boxes.iter().enumerate().map(bounds).collect()
}

impl JoinSide<'_> {
    fn holds(&self, column: usize) -> bool {
        self.columns.iter().any(|(own, _)| *own == column)
    }

    /// How many of its rows lie in each box, as far as its columns tell.
    fn inside(&self, boxes: &[Selected], cardinalities: &[usize]) -> Vec<u64> {
        let own = |selected: &Selected| selected.iter().filter(|(column, _)| self.holds(*column)).cloned().collect();
        let own: Vec<Selected> = boxes.iter().map(own).collect();
        let chunks = own.chunks(Selection::LANES);
        let counted = chunks.flat_map(|chunk| {
            let counts = Selection::new(chunk, cardinalities).counts_of(self.columns, self.counts);
            counts.into_iter().take(chunk.len()).collect::<Vec<u64>>()
        });
        counted.collect()
    }
}

#[cfg(test)]
mod tests;
