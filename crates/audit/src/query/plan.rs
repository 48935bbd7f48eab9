//! How a query is answered: the columns it needs, their labels distinguished only as far as the
//! query does.

use hashbrown::HashMap;
use hedgerow_table::{Codes, InputError, TableError};

use super::aggregate::{Of, What};
use super::amount::Amount;
use super::columns::Columns;
use super::diagram::Diagram;
use super::sql::Query;
use crate::estimate::predicate::Predicate;
use crate::estimate::regions::{Portion, Regions};

#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) diagram: Diagram,
    /// The columns that matter.
    pub(crate) used: Vec<Used>,
    /// For each column of the release, its place in `used`.
    pub(crate) place: Vec<Option<usize>>,
    /// Those of the query, and where it has groups COUNT(*) besides.
    pub(crate) aggregates: Vec<What>,
    pub(crate) amounts: Vec<PlannedAmount>,
    /// For each column that is grouped by, its place in `used`.
    pub(crate) groups: Vec<usize>,
    /// For each predicate its column, and its place among those of the column.
    places: Vec<(usize, usize)>,
    /// For each column and region, which predicates hold.
    holds: Vec<Vec<Vec<bool>>>,
    /// For each column, where its numbers are counted from.
    origins: Vec<i64>,
}

/// An expression that is added up, and the columns that it looks at.
#[derive(Debug)]
pub(crate) struct PlannedAmount {
    pub(crate) amount: Amount,
    pub(crate) columns: Vec<usize>,
}

/// The most combinations of regions that one row of an expression is looked at in.
const COMBINATIONS_MAX: usize = 1 << 12;

fn refuse_many(amounts: &[PlannedAmount], regions: &[Regions]) -> Result<(), InputError> {
    for amount in amounts {
        let widest = |column: &usize| {
            let cells = regions[*column].cells.iter().map(Vec::len);
            cells.max().unwrap_or(0).max(regions[*column].anything.len()).max(1)
        };
        let combinations = amount.columns.iter().map(widest).fold(1, usize::saturating_mul);
        if combinations > COMBINATIONS_MAX {
            let problem = "an expression distinguishes too many combinations of values to be estimated";
            return Err(InputError::new("SQL", problem, "use fewer columns and fewer comparisons in it"));
        }
    }
    Ok(())
}

/// A column with its labels in kinds: the query does not distinguish two labels of a kind.
#[derive(Debug)]
pub(crate) struct Used {
    pub(crate) column: usize,
    /// From code to kind.
    pub(crate) kind_of: Vec<u32>,
    /// For each kind, the parts of its cell.
    pub(crate) cells: Vec<Vec<Portion>>,
    /// The parts of a row of which nothing is known.
    pub(crate) anything: Vec<Portion>,
}

impl Plan {
    pub(crate) fn new(query: &Query, columns: &Columns<'_>) -> Result<Plan, TableError> {
        let mut aggregates = query.aggregates.all.clone();
        // Whether a group is there at all depends on its rows, and on no value of theirs.
        if !query.groups.is_empty() && !aggregates.contains(&What::Count) {
            aggregates.push(What::Count);
        }
        Plan::of(query, columns, &query.groups, aggregates)
    }

    /// The place of COUNT(*) among the aggregates, where there are groups.
    pub(crate) fn count_of_rows(&self) -> Option<usize> {
        self.aggregates.iter().position(|what| *what == What::Count).filter(|_| !self.groups.is_empty())
    }

    /// The same query with a further column to group by, to count its values.
    pub(crate) fn by_values_of(query: &Query, columns: &Columns<'_>, column: usize) -> Result<Plan, TableError> {
        let groups: Vec<usize> = query.groups.iter().copied().chain([column]).collect();
        Plan::of(query, columns, &groups, vec![What::CountOf(Of::Column(column))])
    }

    fn of(query: &Query, columns: &Columns<'_>, groups: &[usize], aggregates: Vec<What>) -> Result<Plan, TableError> {
        let mut predicates: Vec<Vec<&Predicate>> = vec![Vec::new(); columns.all.len()];
        let mut places = Vec::with_capacity(query.condition.predicates.len());
        for (column, predicate) in &query.condition.predicates {
            places.push((*column, predicates[*column].len()));
            predicates[*column].push(predicate);
        }
        let amounts: Vec<PlannedAmount> = (query.aggregates.amounts.iter())
            .map(|amount| PlannedAmount {
                columns: amount.columns(&query.condition.predicates),
                amount: amount.clone(),
            })
            .collect();
        let looks_at = |of: Of, column: usize| match of {
            Of::Column(own) => own == column,
            Of::Amount(amount) => amounts[amount].columns.contains(&column),
        };
        let looked_at = |what: &What, column: usize| what.of().is_some_and(|of| looks_at(of, column));
        let summed = |column: usize| aggregates.iter().any(|what| what.needs_values() && looked_at(what, column));
        let counted = |column: usize| aggregates.iter().any(|what| looked_at(what, column));
        let mut regions = Vec::with_capacity(columns.all.len());
        let (mut used, mut place) = (Vec::new(), vec![None; columns.all.len()]);
        for (column, named) in columns.all.iter().enumerate() {
            let grouped = groups.contains(&column) || aggregates.contains(&What::Distinct(column));
            if predicates[column].is_empty() && !grouped && !summed(column) && !counted(column) {
                regions.push(Regions::default());
                continue;
            }
            let found = Regions::new(&named.axis, &predicates[column])?;
            place[column] = Some(used.len());
            used.push(kinds(column, &found, grouped, summed(column)));
            regions.push(found);
        }
        refuse_many(&amounts, &regions)?;
        let groups = groups.iter().filter_map(|column| place[*column]).collect();
        let diagram = Diagram::new(&query.condition, &regions)?;
        let holds = regions.into_iter().map(|regions| regions.holds).collect();
        let origins = columns.all.iter().map(|named| named.axis.origin).collect();
        Ok(Plan { diagram, used, place, aggregates, amounts, groups, places, holds, origins })
    }

    /// Whether a predicate holds where each column lies in one region.
    pub(crate) fn holds<'p>(&self, predicate: u32, at: impl Fn(usize) -> &'p Portion) -> bool {
        let (column, place) = self.places[predicate as usize];
        self.holds[column][at(column).region as usize][place]
    }

    /// Where the numbers of a column are counted from.
    pub(crate) fn origin(&self, column: usize) -> i64 {
        self.origins[column]
    }

    /// Where an aggregate over rows is counted from.
    pub(crate) fn origin_of(&self, what: What) -> i64 {
        match what.of() {
            Some(Of::Column(column)) if what.is_of_rows() => self.origins[column],
            _ => 0,
        }
    }

    pub(crate) fn codes(&self, used: &Used, codes: &Codes) -> Codes {
        codes.mapped(&used.kind_of, used.cells.len())
    }
}

fn kinds(column: usize, regions: &Regions, grouped: bool, summed: bool) -> Used {
    if grouped {
        let kind_of = (0..regions.cells.len() as u32).collect();
        return Used { column, kind_of, cells: regions.cells.clone(), anything: regions.anything.clone() };
    }
    let mut known: HashMap<Vec<_>, u32> = HashMap::new();
    let mut cells: Vec<Vec<Portion>> = Vec::new();
    let kind_of = regions.cells.iter().map(|cell| {
        let key = |part: &Portion| {
            let [mean, low, high] =
                [part.mean, part.low, part.high].map(|value| if summed { value.to_bits() } else { 0 });
            ([u64::from(part.region), part.mass.to_bits(), mean, low, high], part.whole.filter(|_| summed))
        };
        let next = cells.len() as u32;
        *known.entry(cell.iter().map(key).collect()).or_insert_with(|| {
            cells.push(cell.clone());
            next
        })
    });
    let kind_of = kind_of.collect();
    Used { column, kind_of, cells, anything: regions.anything.clone() }
}
