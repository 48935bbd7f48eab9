//! SQL over a release: estimates from cells that cover more than one value, each with what is
//! certain and what possible.
//!
//! **What is estimated.** A row counts in proportion to the probability that WHERE holds for it,
//! when the values under each of its labels are equally likely and its attributes independent; what
//! a label covers comes from the codebook. In a bucketized release rows and sensitive values of a
//! bucket are paired in every way, all equally likely. AVG is the estimated sum over the estimated
//! count. In a cloned release, the people of a sub-class have each value with the share that its
//! micro-statistics state, numbers spread around their mean (`estimate/micro_statistics.rs`), and
//! are paired with the sensitive values of their class; counterfeits are nobody.
//!
//! **What is certain and possible.** The least and the greatest answer that any table behind the
//! release could give: each row may be any combination of values under its labels, each bucket any
//! pairing. For COUNT and SUM some table attains each; for AVG over buckets they may be wider than
//! needed. Open cells leave sums unbounded.
//!
//! **Missing values** follow SQL: a comparison with one is unknown, neither it nor its negation
//! selects the row, and only IS NULL finds it. The top `*` may hide a missing value, so nothing but
//! a condition that allows for one is certain there.
//!
//! **Suppressed rows**: certain and possible are about the source. Each row that the manifest
//! counts as suppressed may have any values, so that the bounds allow for it being counted or not.
//! Estimates are of the released rows.
//!
//! **Groups** are labels as released: GROUP BY never splits a cell. Rows are answered as released,
//! with the probability that each fulfils the condition.
//!
//! **Rows in several hands**, of which only the labels are known: `parts` says what must be counted
//! over all of them, and no more.
//!
//! **Several tables** of one decomposed release are queried one at a time (`decomposed`).
//!
//! Text is cut up by `token`, read by `syntax` and `expression` into a `tree`, bound to columns by
//! `sql` and `comparison`; becomes a `condition`, then a `diagram` over regions; `generalized` and
//! `buckets` judge rows with it; `tally` adds up.

mod answer;
pub(crate) mod buckets;
mod columns;
mod comparison;
mod condition;
mod decomposed;
mod diagram;
mod expression;
mod generalized;
mod parser;
pub mod parts;
mod plan;
mod refusal;
pub(crate) mod rows;
mod sql;
mod syntax;
mod tally;
#[cfg(test)]
mod tests;
mod token;
mod transport;
mod tree;
mod view;

use hedgerow_release::Release;
use hedgerow_table::{InputError, TableError};

pub use answer::{Answer, Cell, Column, ColumnKind, Estimate};
pub use sql::SQL_MAX;

use buckets::{ANYTHING, Buckets};
use columns::Columns;
use diagram::Outcome;
use plan::Plan;
use rows::Rows;
use sql::{Query, What};
use tally::{Contribution, Tally};
use view::View;

/// Answers one SELECT from a release of any kind.
pub fn answer(release: &Release, sql: &str) -> Result<Answer, TableError> {
    let views = View::of(release)?;
    match views.as_slice() {
        [("", view)] => answer_view(view, &Columns::bind(view)?, sql),
        views => decomposed::answer(views, sql),
    }
}

/// The columns that an answer would have. Values in WHERE may be anything.
pub fn columns(release: &Release, sql: &str) -> Result<Vec<Column>, TableError> {
    let views = View::of(release)?;
    let [("", view)] = views.as_slice() else { return decomposed::answer(&views, sql).map(|answer| answer.columns) };
    let columns = Columns::bind(view)?;
    let query = sql::read_outputs(sql, &columns)?;
    refuse_unavailable(view, &query, &columns)?;
    Ok(headings(&query, &columns))
}

fn answer_view(view: &View<'_>, columns: &Columns<'_>, sql: &str) -> Result<Answer, TableError> {
    let query = sql::read(sql, columns)?;
    refuse_unavailable(view, &query, columns)?;
    let plan = Plan::new(&query, columns)?;
    let mut found =
        if query.is_rows() { rows(view, &query, &plan, columns)? } else { groups(view, &query, &plan, columns)? };
    found.notes = query.notes;
    if unknown(&found) {
        found.notes.push("an estimate is unknown where no released label shows which values occur".to_owned());
    }
    if view.suppressed > 0 {
        let allowed = if found.rows {
            "they are not among these rows"
        } else {
            "certain and possible allow for them, estimates do not count them"
        };
        found.notes.push(format!("{} rows of the source were suppressed: {allowed}", view.suppressed));
    }
    Ok(found)
}

/// Statistics have no rows to show and no labels to group by.
fn refuse_unavailable(view: &View<'_>, query: &Query, columns: &Columns<'_>) -> Result<(), InputError> {
    let Some(read) = view.statistics else { return Ok(()) };
    if query.is_rows() {
        let hint = "count instead: SELECT COUNT(*) FROM data WHERE …";
        return Err(InputError::new("SQL", "a cloned release has statistics, and no rows to show", hint));
    }
    let by_statistics = |column: &&usize| read.attributes.contains(&columns.all[**column].column.name);
    if let Some(&column) = query.groups.iter().find(by_statistics) {
        let name = &columns.all[column].column.name;
        let problem = format!("a cloned release has no labels of `{name}` to group by");
        let hint = format!("query one value after the other: SELECT COUNT(*) FROM data WHERE \"{name}\" = …");
        return Err(InputError::new("SQL", problem, hint));
    }
    Ok(())
}

fn unknown(found: &Answer) -> bool {
    found.lines.iter().flatten().any(|cell| match cell {
        Cell::Estimate(found) => found.estimate.is_nan() && !found.possible.is_nan(),
        Cell::Share { share, .. } => share.is_nan(),
        Cell::Label(_) => false,
    })
}

fn label(columns: &Columns<'_>, column: usize, code: u32) -> Cell {
    if code == ANYTHING {
        return Cell::Label(Some("*".to_owned()));
    }
    let domain = &columns.all[column].column.domain;
    Cell::Label((Some(code) != domain.missing_code()).then(|| domain.text(code)))
}

fn heading(columns: &Columns<'_>, name: &str, what: What) -> Column {
    let kind = match what {
        What::Column(column) => ColumnKind::Label { number: columns.all[column].column.domain.kind().is_number() },
        What::Count | What::CountOf(_) => ColumnKind::Count,
        What::Sum(_) | What::Mean(_) => ColumnKind::Amount,
    };
    Column { name: name.to_owned(), kind }
}

fn headings(query: &Query, columns: &Columns<'_>) -> Vec<Column> {
    let mut headings: Vec<Column> =
        query.outputs.iter().map(|output| heading(columns, &output.name, output.what)).collect();
    if query.is_rows() {
        headings.push(Column { name: "share".to_owned(), kind: ColumnKind::Share });
    }
    headings
}

/// One line for each group; without GROUP BY one line for all rows, even when there are none.
fn groups(view: &View<'_>, query: &Query, plan: &Plan, columns: &Columns<'_>) -> Result<Answer, TableError> {
    let mut groups = match &view.rows {
        Rows::Labels(table) => generalized::groups(plan, table)?,
        Rows::Buckets(quasi, sensitive, sizes) => buckets::groups(plan, &Buckets::new(quasi, sensitive, *sizes)?),
    };
    if query.groups.is_empty() {
        groups.entry(Vec::new()).or_insert_with(|| vec![Tally::default(); plan.aggregates.len()]);
    }
    let mut lines: Vec<(Vec<u32>, Vec<f64>, Vec<Cell>)> = Vec::with_capacity(groups.len());
    for (group, tallies) in &mut groups {
        // A group that no row can be in is not there, as in SQL. Without an aggregate nothing says
        // so.
        if !query.groups.is_empty() && !plan.aggregates.is_empty() && tallies.iter().all(|tally| tally.possible == 0) {
            continue;
        }
        allow_for_suppressed(plan, view.suppressed, group, tallies);
        let rank = query.groups.iter().zip(group).map(|(&column, &code)| rank(columns, column, code)).collect();
        let mut tallies = plan.aggregates.iter().zip(tallies.iter());
        let mut cells = Vec::with_capacity(query.outputs.len());
        for output in &query.outputs {
            cells.push(match output.what {
                What::Column(column) => {
                    let place = query.groups.iter().position(|grouped| *grouped == column).unwrap_or_default();
                    label(columns, column, group[place])
                }
                _ => match tallies.next() {
                    Some((what, tally)) => Cell::Estimate(tally.finish(*what)),
                    None => return Err(TableError::Internal("an aggregate has no tally".to_owned())),
                },
            });
        }
        let keys =
            query.order.iter().map(|&(place, _)| order_key(query, columns, group, place, &cells[place])).collect();
        lines.push((rank, keys, cells));
    }
    lines.sort_unstable_by(|a, b| {
        let by_key =
            query.order.iter().zip(a.1.iter().zip(&b.1)).map(|((_, descending), (a, b))| sorted(*a, *b, *descending));
        by_key.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then).then_with(|| a.0.cmp(&b.0))
    });
    lines.truncate(query.limit.unwrap_or(usize::MAX));
    Ok(Answer {
        columns: headings(query, columns),
        lines: lines.into_iter().map(|line| line.2).collect(),
        notes: Vec::new(),
        rows: false,
    })
}

/// A label's place among those of its column.
fn rank(columns: &Columns<'_>, column: usize, code: u32) -> u32 {
    columns.all[column].rank.get(code as usize).copied().unwrap_or(u32::MAX)
}

/// A suppressed row may have any values, those of the group among them.
fn allow_for_suppressed(plan: &Plan, suppressed: u64, group: &[u32], tallies: &mut [Tally]) {
    if suppressed == 0 {
        return;
    }
    let cell = |column: usize| {
        let place = plan.place[column].unwrap_or_default();
        let grouped = plan.groups.iter().position(|grouped| *grouped == place).map(|at| group[at]);
        match grouped {
            Some(kind) if kind != ANYTHING => plan.used[place].cells[kind as usize].as_slice(),
            _ => plan.used[place].anything.as_slice(),
        }
    };
    let mut buffer = Vec::new();
    for (what, tally) in plan.aggregates.iter().zip(tallies) {
        tally.widen(*what, suppressed, &Contribution::of(*what, &plan.diagram, &cell, &mut buffer));
    }
}

/// What a line is sorted by: a label's place along its axis, or an estimate.
fn order_key(query: &Query, columns: &Columns<'_>, group: &[u32], place: usize, cell: &Cell) -> f64 {
    match (query.outputs[place].what, cell) {
        (What::Column(column), _) => {
            let at = query.groups.iter().position(|grouped| *grouped == column).unwrap_or_default();
            f64::from(rank(columns, column, group[at]))
        }
        (_, Cell::Estimate(found)) => found.estimate,
        _ => 0.0,
    }
}

/// What is unknown comes last, whichever way.
fn sorted(a: f64, b: f64, descending: bool) -> std::cmp::Ordering {
    a.is_nan().cmp(&b.is_nan()).then(if descending { b.total_cmp(&a) } else { a.total_cmp(&b) })
}

/// The rows that can fulfil the condition, as released.
fn rows(view: &View<'_>, query: &Query, plan: &Plan, columns: &Columns<'_>) -> Result<Answer, TableError> {
    let outcomes: Vec<Outcome> = match &view.rows {
        Rows::Labels(table) => generalized::outcomes(plan, table),
        Rows::Buckets(quasi, sensitive, sizes) => {
            let buckets = Buckets::new(quasi, sensitive, *sizes)?;
            let hidden = query.outputs.iter().find_map(|output| match output.what {
                What::Column(column) if buckets.columns[column].0 => Some(&columns.all[column].column.name),
                _ => None,
            });
            if let Some(name) = hidden {
                let problem = format!("no released row has a value of `{name}`: it is in a table of its own");
                let hint = format!("count instead: SELECT \"{name}\", COUNT(*) FROM data … GROUP BY \"{name}\"");
                return Err(InputError::new("SQL", problem, hint).into());
            }
            buckets::outcomes(plan, &buckets)
        }
    };
    debug_assert_eq!(outcomes.len(), view.row_count());
    let mut kept: Vec<usize> = (0..outcomes.len()).filter(|&row| outcomes[row].possible).collect();
    let code = |column: usize, row: usize| columns.all[column].column.codes.get(row);
    let key = |row: usize, place: usize| match query.outputs[place].what {
        What::Column(column) => columns.all[column].rank[code(column, row) as usize],
        _ => 0,
    };
    if !query.order.is_empty() {
        kept.sort_by(|&a, &b| {
            let by_key = query.order.iter().map(|&(place, descending)| {
                let order = key(a, place).cmp(&key(b, place));
                if descending { order.reverse() } else { order }
            });
            by_key.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
        });
    }
    kept.truncate(query.limit.unwrap_or(usize::MAX));
    let line = |&row: &usize| {
        let labels = query.outputs.iter().map(|output| match output.what {
            What::Column(column) => label(columns, column, code(column, row)),
            _ => Cell::Label(None),
        });
        labels.chain([Cell::Share { share: outcomes[row].share, certain: outcomes[row].certain }]).collect()
    };
    Ok(Answer {
        columns: headings(query, columns),
        lines: kept.iter().map(line).collect(),
        notes: Vec::new(),
        rows: true,
    })
}
