//! Bounds and estimates that an answer lacks, and why: notes name the attributes whose values
//! nothing bounds.

use hedgerow_table::Kind;

use super::aggregate::Of;
use super::answer::{AnswerCell, Estimate};
use super::calculation::Aggregated;
use super::columns::{Columns, QueryColumn};
use super::rows::{QueriedRows, Sizes};
use super::sql::{Query, Shown};
use super::view::QueryView;

/// The infinite ones among the bounds that an answer shows.
#[derive(Debug, Default)]
pub(super) struct Open {
    /// By the place of an aggregate.
    aggregates: Vec<Sides>,
    /// A calculation whose aggregates are all bounded.
    calculated: bool,
    /// HAVING is about what has bounds and no estimate.
    by_unknown: bool,
}

/// Which of two bounds is missing.
#[derive(Debug, Clone, Copy, Default)]
struct Sides {
    lower: bool,
    upper: bool,
}

impl Sides {
    fn of(found: &Estimate) -> Sides {
        Sides { lower: found.certain.is_infinite(), upper: found.possible.is_infinite() }
    }

    fn any(self) -> bool {
        self.lower || self.upper
    }

    fn or(self, other: Sides) -> Sides {
        Sides { lower: self.lower || other.lower, upper: self.upper || other.upper }
    }
}

impl Open {
    /// Of one line, whose aggregates are `found`.
    pub(super) fn of(query: &Query, found: &[Aggregated], cells: &[AnswerCell]) -> Open {
        let is_unknown = |place: usize| {
            let Estimate { estimate, possible, .. } = found[place].estimate;
            estimate.is_nan() && !possible.is_nan()
        };
        let by_unknown = query.having.as_ref().is_some_and(|having| having.aggregates().into_iter().any(is_unknown));
        let mut open = Open { aggregates: vec![Sides::default(); found.len()], calculated: false, by_unknown };
        for (output, cell) in query.outputs.iter().zip(cells) {
            let (Shown::Calculated(calculation), AnswerCell::Estimate(shown)) = (&output.what, cell) else { continue };
            if !Sides::of(shown).any() {
                continue;
            }
            let places = calculation.aggregates();
            open.calculated |= !places.iter().any(|place| Sides::of(&found[*place].estimate).any());
            for place in places {
                open.aggregates[place] = open.aggregates[place].or(Sides::of(&found[place].estimate));
            }
        }
        open
    }

    /// Of several lines together.
    pub(super) fn or(mut self, other: &Open) -> Open {
        let places = self.aggregates.len().max(other.aggregates.len());
        self.aggregates.resize(places, Sides::default());
        self.aggregates.iter_mut().zip(&other.aggregates).for_each(|(into, sides)| *into = into.or(*sides));
        self.calculated |= other.calculated;
        self.by_unknown |= other.by_unknown;
        self
    }

    /// Whether an estimate that HAVING is about is unknown.
    pub(super) fn by_unknown(&self) -> bool {
        self.by_unknown
    }

    /// Why bounds are missing, and which key of the policy would give them.
    pub(super) fn notes(&self, view: &QueryView<'_>, query: &Query, columns: &Columns<'_>) -> Vec<String> {
        // A row of which nothing is known may have any value.
        let has_unknown =
            view.suppressed > 0 || matches!(view.rows, QueriedRows::Buckets(_, _, Sizes::WithRowsWithoutValues));
        let is_open = |named: &QueryColumn<'_>| {
            let is_bounded = named.axis.range.is_some_and(|range| range.low.is_finite() && range.high.is_finite());
            named.axis.kind != Kind::Category && !is_bounded && (has_unknown || named.axis.has_open_cells())
        };
        let mut by_column = vec![Sides::default(); columns.all.len()];
        let mut divides = self.calculated;
        for (what, sides) in query.aggregates.all.iter().zip(&self.aggregates).filter(|(_, sides)| sides.any()) {
            let mut numbers = match what.of() {
                Some(Of::Column(column)) => vec![column],
                Some(Of::Amount(amount)) => query.aggregates.amounts[amount].numbers(),
                None => Vec::new(),
            };
            numbers.retain(|column| is_open(&columns.all[*column]));
            divides |= numbers.is_empty();
            // Either end of a column may be what an expression has no bound for.
            let is_column = matches!(what.of(), Some(Of::Column(_)));
            let sides = if is_column { *sides } else { Sides { lower: true, upper: true } };
            numbers.into_iter().for_each(|column| by_column[column] = by_column[column].or(sides));
        }
        let why = if view.suppressed > 0 { "suppressed rows and open cells" } else { "open cells" };
        let note = |(named, sides): (&QueryColumn<'_>, &Sides)| {
            let bounds = match sides {
                Sides { lower: true, upper: true } => "bounds",
                Sides { lower: true, .. } => "lower bound",
                _ => "upper bound",
            };
            let advice = "`range` of the attribute in the policy bounds them";
            format!("`{}` has no {bounds}: {why} may have any value; {advice}", named.column.name)
        };
        let open = columns.all.iter().zip(&by_column).filter(|(_, sides)| sides.any());
        let mut notes: Vec<String> = open.map(note).collect();
        if divides && notes.is_empty() {
            notes.push("a quotient has no bounds where it may divide by zero".to_owned());
        }
        notes
    }
}
