//! SQL over a release: estimates from cells that cover more than one value, each with what is
//! certain and what possible.
//!
//! **What is estimated.** A row counts in proportion to the probability that WHERE holds for it,
//! when the values under each of its labels are equally likely and its attributes independent; what
//! a label covers comes from the codebook. In a bucketized release rows and sensitive values of a
//! bucket are paired in every way, all equally likely. AVG is the estimated sum over the estimated
//! count. In a cloned release, the people of a sub-class have each value with the share that its
//! micro-statistics state, numbers spread around their mean (`estimate/micro_statistics.rs`), and
//! are paired with the sensitive values of their class; counterfeits are not people.
//!
//! **What is certain and possible.** The least and the greatest answer that any table behind the
//! release could give: each row may be any combination of values under its labels, each bucket any
//! pairing. For COUNT and SUM some table attains each; for AVG over buckets they may be wider than
//! needed. Open cells leave sums unbounded. MIN, MAX and quantiles have bounds that some table
//! attains; those of STDDEV, of COUNT(DISTINCT) and of arithmetic hold and may be wider
//! (`order_statistics`, `distinct`, `amount`, `calculation`).
//!
//! **Missing values** follow SQL: a comparison with one is unknown, neither it nor its negation
//! selects the row, and only IS NULL finds it. The top `*` may hide a missing value, so nothing but
//! a condition that allows for one is certain there.
//!
//! **Suppressed rows**: certain and possible are about the source. Each row that the manifest
//! counts as suppressed may have any values, so that the bounds allow for it being counted or not.
//! Estimates are of the released rows.
//!
//! **Groups** are labels as released: GROUP BY never splits a cell. A group is listed when some
//! table
//! has a row in it, whatever its values. Rows are answered as released, with the probability that
//! each fulfils the condition.
//!
//! **Rows in several hands**, of which only the labels are known: `parts` says what must be counted
//! over all of them, and no more.
//!
//! **Several tables** of one decomposed release: a query is answered from one that holds all of its
//! columns (`decomposed`); counts over columns of several are estimated from all (`several`).
//!
//! Text is cut up by `token`, read by `syntax` and `expression` into a `tree`, bound to columns by
//! `sql` and `comparison`; becomes a `condition`, then a `diagram` over regions; `generalized` and
//! `buckets` judge rows with it; `tally` adds up.

mod aggregate;
mod amount;
mod answer;
mod bounds;
pub(crate) mod buckets;
mod calculation;
mod columns;
mod comparison;
mod condition;
mod decomposed;
mod diagram;
mod distinct;
mod division;
mod expression;
mod generalized;
mod open;
mod order_statistics;
mod parameters;
mod parser;
pub mod parts;
mod plan;
mod refusal;
pub(crate) mod rows;
mod several;
mod sql;
mod syntax;
mod tally;
#[cfg(test)]
pub(crate) mod tests;
mod token;
mod transport;
mod tree;
mod under_top;
mod view;
mod written;

use std::collections::BTreeMap;

use hedgerow_release::Release;
use hedgerow_table::{InputError, Kind, TableError};

pub use answer::{Answer, AnswerCell, AnswerColumn, ColumnKind, Estimate, day_of};
pub use bounds::{AnswerError, Bounds};
pub use parameters::Parameter;
pub use syntax::SQL_MAX;
pub use token::Token;
pub use tree::Select;

use aggregate::{Of, What};
use bounds::Meter;
use buckets::{Buckets, UNKNOWN_VALUE};
use calculation::{Aggregated, Calculation};
use columns::Columns;
use diagram::ConditionTruth;
use generalized::Groups;
use open::Open;
use plan::Plan;
use rows::QueriedRows;
use sql::{Query, Shown};
use tally::{Contribution, Tally};
use under_top::UnderTop;
use view::QueryView;

/// Answers one SELECT from a release of any kind.
pub fn answer(release: &Release, sql: &str) -> Result<Answer, TableError> {
    Ok(answer_within(release, &Select::parse(sql)?, &Bounds::NONE)?)
}

/// The same within bounds. Where a release has buckets, the bounds hold for the answer and not for
/// the work before it.
pub fn answer_within(release: &Release, select: &Select, bounds: &Bounds<'_>) -> Result<Answer, AnswerError> {
    let views = QueryView::of(release)?;
    match views.as_slice() {
        [("", view)] => answer_view(view, &Columns::bind(view)?, select, bounds),
        views => decomposed::answer(release, views, select, bounds),
    }
}

/// The columns that an answer would have. Values in WHERE may be anything.
pub fn columns(release: &Release, select: &Select) -> Result<Vec<AnswerColumn>, TableError> {
    let views = QueryView::of(release)?;
    let [("", view)] = views.as_slice() else {
        return Ok(decomposed::answer(release, &views, select, &Bounds::NONE)?.columns);
    };
    let columns = Columns::bind(view)?;
    let query = sql::read_outputs(select, &columns)?;
    refuse_unavailable(view, &query, &columns)?;
    Ok(headings(&query, &columns))
}

fn answer_view(
    view: &QueryView<'_>,
    columns: &Columns<'_>,
    select: &Select,
    bounds: &Bounds<'_>,
) -> Result<Answer, AnswerError> {
    let query = sql::read(select, columns)?;
    refuse_unavailable(view, &query, columns)?;
    let plan = Plan::new(&query, columns)?;
    let meter = Meter::new(bounds);
    let (mut found, open) = match query.is_rows() {
        true => (rows(view, &query, &plan, columns, &meter)?, Open::default()),
        false => groups(view, &query, &plan, columns, &meter)?,
    };
    found.notes.splice(0..0, query.notes.iter().cloned());
    if unknown(&found) || open.by_unknown() {
        found.notes.push("an estimate is unknown where no released label shows which values occur".to_owned());
    }
    found.notes.extend(open.notes(view, &query, columns));
    if view.suppressed > 0 {
        let allowed = if found.rows {
            "they are not among these rows"
        } else if query.groups.is_empty() {
            "certain and possible allow for them, estimates do not count them"
        } else {
            "certain and possible allow for them, estimates do not count them; groups of theirs alone are not listed"
        };
        found.notes.push(format!("{} rows of the source were suppressed: {allowed}", view.suppressed));
    }
    Ok(found)
}

/// Statistics have no rows to show and no labels to group by.
fn refuse_unavailable(view: &QueryView<'_>, query: &Query, columns: &Columns<'_>) -> Result<(), InputError> {
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
        AnswerCell::Estimate(found) => found.estimate.is_nan() && !found.possible.is_nan(),
        AnswerCell::Share { share, .. } => share.is_nan(),
        AnswerCell::Label(_) => false,
    })
}

fn label(columns: &Columns<'_>, column: usize, code: u32) -> AnswerCell {
    if code == UNKNOWN_VALUE {
        return AnswerCell::Label(Some("*".to_owned()));
    }
    let domain = &columns.all[column].column.domain;
    AnswerCell::Label((Some(code) != domain.missing_code()).then(|| domain.text(code)))
}

fn heading(query: &Query, columns: &Columns<'_>, name: &str, what: &Shown) -> AnswerColumn {
    let kind = match what {
        Shown::Column(column) => ColumnKind::Label { number: columns.all[*column].column.domain.kind().is_number() },
        Shown::Calculated(Calculation::Aggregate(place, _)) => match query.aggregates.all[*place] {
            what if what.is_count() => ColumnKind::Count,
            what if is_of_days(what, columns) => ColumnKind::Day,
            _ => ColumnKind::Amount,
        },
        Shown::Calculated(_) => ColumnKind::Amount,
    };
    AnswerColumn { name: name.to_owned(), kind }
}

/// Whether an aggregate of a column of dates is a day itself.
fn is_of_days(what: What, columns: &Columns<'_>) -> bool {
    matches!(what.of(), Some(Of::Column(column)) if columns.all[column].axis.kind == Kind::Date)
}

fn headings(query: &Query, columns: &Columns<'_>) -> Vec<AnswerColumn> {
    let mut headings: Vec<AnswerColumn> =
        query.outputs.iter().map(|output| heading(query, columns, &output.name, &output.what)).collect();
    if query.having.is_some() {
        headings.push(AnswerColumn { name: "having".to_owned(), kind: ColumnKind::Label { number: false } });
    }
    if query.is_rows() {
        headings.push(AnswerColumn { name: "share".to_owned(), kind: ColumnKind::Share });
    }
    headings
}

/// One line for each group; without GROUP BY one line for all rows, even when there are none.
/// And what is open among the bounds.
fn groups(
    view: &QueryView<'_>,
    query: &Query,
    plan: &Plan,
    columns: &Columns<'_>,
    meter: &Meter<'_>,
) -> Result<(Answer, Open), AnswerError> {
    let groups = tallied(view, plan, meter)?;
    meter.check()?;
    let distinct = distinct_values(view, query, columns, meter)?;
    lines(groups, &distinct, view.suppressed, query, plan, columns, meter)
}

/// The lines of tallied groups. `distinct` has the labels of the columns whose values are counted.
fn lines(
    mut groups: Groups,
    distinct: &BTreeMap<usize, LabelsOfGroups>,
    suppressed: u64,
    query: &Query,
    plan: &Plan,
    columns: &Columns<'_>,
    meter: &Meter<'_>,
) -> Result<(Answer, Open), AnswerError> {
    if query.groups.is_empty() {
        groups.entry(Vec::new()).or_insert_with(|| vec![Tally::default(); plan.aggregates.len()]);
    }
    let mut lines: Vec<GroupLine> = Vec::with_capacity(groups.len());
    let mut under_top = UnderTop::default();
    for (group, tallies) in &mut groups {
        // A group that no row can be in is not there, as in SQL.
        if plan.count_of_rows().is_some_and(|place| tallies[place].possible == 0) {
            continue;
        }
        allow_for_suppressed(plan, columns, suppressed, group, tallies);
        let rank = query.groups.iter().zip(group).map(|(&column, &code)| rank(columns, column, code)).collect();
        let found: Vec<Aggregated> = (plan.aggregates.iter().zip(tallies.iter()))
            .map(|(what, tally)| match what {
                What::Distinct(column) => {
                    let none = BTreeMap::new();
                    let labels = distinct.get(column).and_then(|groups| groups.get(group)).unwrap_or(&none);
                    Aggregated { estimate: distinct::count(&columns.all[*column], labels, suppressed), defined: true }
                }
                what => tally.aggregated(*what, plan.origin_of(*what)),
            })
            .collect();
        let standing = query.having.as_ref().map(|having| having.stands_in_group(&found, plan.count_of_rows()));
        let is_listed = standing.is_none_or(|standing| standing.possible);
        if standing.is_some() {
            under_top.see(&query.groups, group, columns, is_listed);
        }
        if !is_listed {
            continue;
        }
        let mut cells = Vec::with_capacity(query.outputs.len() + 1);
        for output in &query.outputs {
            cells.push(match &output.what {
                Shown::Column(column) => {
                    let place = query.groups.iter().position(|grouped| grouped == column).unwrap_or_default();
                    label(columns, *column, group[place])
                }
                Shown::Calculated(calculation) => AnswerCell::Estimate(calculation.of(&found)),
            });
        }
        cells.extend(standing.map(|standing| AnswerCell::Label(Some(standing.name().to_owned()))));
        let keys =
            query.order.iter().map(|&(place, _)| order_key(query, columns, group, place, &cells[place])).collect();
        meter.take(line_bytes(&cells));
        meter.check()?;
        lines.push(GroupLine { rank, keys, open: Open::of(query, &found, &cells), cells });
    }
    lines.sort_unstable_by(|a, b| {
        let by_key = (query.order.iter().zip(a.keys.iter().zip(&b.keys)))
            .map(|((_, descending), (a, b))| sorted(*a, *b, *descending));
        by_key.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then).then_with(|| a.rank.cmp(&b.rank))
    });
    lines.truncate(query.limit.unwrap_or(usize::MAX));
    meter.check_lines(lines.len())?;
    let open = lines.iter().fold(Open::default(), |open, line| open.or(&line.open));
    let lines = lines.into_iter().map(|line| line.cells).collect();
    let notes = under_top.notes(columns);
    Ok((Answer { columns: headings(query, columns), lines, notes, rows: false }, open))
}

/// One group as the answer has it.
struct GroupLine {
    /// The places of its labels.
    rank: Vec<u32>,
    /// The sort keys.
    keys: Vec<f64>,
    cells: Vec<AnswerCell>,
    open: Open,
}

/// By group and label, the rows that have it.
type LabelsOfGroups = BTreeMap<Vec<u32>, BTreeMap<u32, Tally>>;

/// For every column whose values are counted.
fn distinct_values(
    view: &QueryView<'_>,
    query: &Query,
    columns: &Columns<'_>,
    meter: &Meter<'_>,
) -> Result<BTreeMap<usize, LabelsOfGroups>, AnswerError> {
    let mut found = BTreeMap::new();
    for what in &query.aggregates.all {
        let What::Distinct(column) = what else { continue };
        let plan = Plan::by_values_of(query, columns, *column)?;
        let mut of_groups = LabelsOfGroups::new();
        let groups = tallied(view, &plan, meter)?;
        meter.check()?;
        for (mut group, tallies) in groups {
            let label = group.pop().unwrap_or(UNKNOWN_VALUE);
            if let Some(tally) = tallies.into_iter().next() {
                of_groups.entry(group).or_default().insert(label, tally);
            }
        }
        found.insert(*column, of_groups);
    }
    Ok(found)
}

fn tallied(view: &QueryView<'_>, plan: &Plan, meter: &Meter<'_>) -> Result<Groups, TableError> {
    match &view.rows {
        QueriedRows::Labels(table) => generalized::groups(plan, table, meter),
        QueriedRows::Buckets(quasi, sensitive, sizes) => {
            Ok(buckets::groups(plan, &Buckets::new(quasi, sensitive, *sizes)?))
        }
    }
}

/// A label's place among those of its column.
fn rank(columns: &Columns<'_>, column: usize, code: u32) -> u32 {
    columns.all[column].rank.get(code as usize).copied().unwrap_or(u32::MAX)
}

/// A suppressed row may have any values, those of the group among them.
fn allow_for_suppressed(plan: &Plan, columns: &Columns<'_>, suppressed: u64, group: &[u32], tallies: &mut [Tally]) {
    if suppressed == 0 {
        return;
    }
    let cell = |column: usize| {
        let place = plan.place[column].unwrap_or_default();
        let grouped = plan.groups.iter().position(|grouped| *grouped == place).map(|at| group[at]);
        match grouped {
            Some(kind) if kind != UNKNOWN_VALUE && columns.all[column].names_all_values(kind) => {
                plan.used[place].cells[kind as usize].as_slice()
            }
            _ => plan.used[place].anything.as_slice(),
        }
    };
    let mut buffer = Vec::new();
    for (what, tally) in plan.aggregates.iter().zip(tallies) {
        tally.widen(*what, suppressed, &Contribution::of(*what, plan, &cell, &mut buffer));
    }
}

/// The sort key of a line: a label's place along its axis, or an estimate.
fn order_key(query: &Query, columns: &Columns<'_>, group: &[u32], place: usize, cell: &AnswerCell) -> f64 {
    match (&query.outputs[place].what, cell) {
        (Shown::Column(column), _) => {
            let at = query.groups.iter().position(|grouped| grouped == column).unwrap_or_default();
            f64::from(rank(columns, *column, group[at]))
        }
        (_, AnswerCell::Estimate(found)) => found.estimate,
        _ => 0.0,
    }
}

/// Unknown values come last in both orders.
fn sorted(a: f64, b: f64, descending: bool) -> std::cmp::Ordering {
    a.is_nan().cmp(&b.is_nan()).then(if descending { b.total_cmp(&a) } else { a.total_cmp(&b) })
}

/// The rows that can fulfil the condition, as released.
fn rows(
    view: &QueryView<'_>,
    query: &Query,
    plan: &Plan,
    columns: &Columns<'_>,
    meter: &Meter<'_>,
) -> Result<Answer, AnswerError> {
    let outcomes: Vec<ConditionTruth> = match &view.rows {
        QueriedRows::Labels(table) => generalized::outcomes(plan, table, meter),
        QueriedRows::Buckets(quasi, sensitive, sizes) => {
            let buckets = Buckets::new(quasi, sensitive, *sizes)?;
            let hidden = query.outputs.iter().find_map(|output| match output.what {
                Shown::Column(column) if buckets.columns[column].0 => Some(&columns.all[column].column.name),
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
    meter.check()?;
    debug_assert_eq!(outcomes.len(), view.row_count());
    let mut kept: Vec<usize> = (0..outcomes.len()).filter(|&row| outcomes[row].possible).collect();
    let code = |column: usize, row: usize| columns.all[column].column.codes.get(row);
    let key = |row: usize, place: usize| match query.outputs[place].what {
        Shown::Column(column) => columns.all[column].rank[code(column, row) as usize],
        Shown::Calculated(_) => 0,
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
    meter.check_lines(kept.len())?;
    let line = |&row: &usize| -> Result<Vec<AnswerCell>, AnswerError> {
        let labels = query.outputs.iter().map(|output| match output.what {
            Shown::Column(column) => label(columns, column, code(column, row)),
            Shown::Calculated(_) => AnswerCell::Label(None),
        });
        let share = AnswerCell::Share { share: outcomes[row].share, certain: outcomes[row].certain };
        let cells: Vec<AnswerCell> = labels.chain([share]).collect();
        meter.take(line_bytes(&cells));
        meter.check()?;
        Ok(cells)
    };
    Ok(Answer {
        columns: headings(query, columns),
        lines: kept.iter().map(line).collect::<Result<_, _>>()?,
        notes: Vec::new(),
        rows: true,
    })
}

/// The memory of a line of an answer.
fn line_bytes(cells: &[AnswerCell]) -> usize {
    let text = |cell: &AnswerCell| match cell {
        AnswerCell::Label(Some(text)) => text.len(),
        _ => 0,
    };
    size_of::<Vec<AnswerCell>>() + size_of_val(cells) + cells.iter().map(text).sum::<usize>()
}
