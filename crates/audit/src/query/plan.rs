//! How a query is answered: the columns it needs, their labels distinguished only as far as the
//! query does.

use hashbrown::HashMap;
use hedgerow_table::{Codes, TableError};

use super::columns::Columns;
use super::diagram::Diagram;
use super::sql::{Query, What};
use crate::estimate::predicate::Predicate;
use crate::estimate::regions::{Part, Regions};

#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) diagram: Diagram,
    /// The columns that matter.
    pub(crate) used: Vec<Used>,
    /// For each column of the release, its place in `used`.
    pub(crate) place: Vec<Option<usize>>,
    pub(crate) aggregates: Vec<What>,
    /// For each column that is grouped by, its place in `used`.
    pub(crate) groups: Vec<usize>,
}

/// A column with its labels in kinds: the query does not distinguish two labels of a kind.
#[derive(Debug)]
pub(crate) struct Used {
    pub(crate) column: usize,
    /// From code to kind.
    pub(crate) kind_of: Vec<u32>,
    /// For each kind, the parts of its cell.
    pub(crate) cells: Vec<Vec<Part>>,
    /// The parts of a row of which nothing is known.
    pub(crate) anything: Vec<Part>,
}

impl Plan {
    pub(crate) fn new(query: &Query, columns: &Columns<'_>) -> Result<Plan, TableError> {
        let mut predicates: Vec<Vec<&Predicate>> = vec![Vec::new(); columns.all.len()];
        for (column, predicate) in &query.condition.predicates {
            predicates[*column].push(predicate);
        }
        let aggregates: Vec<What> =
            query.outputs.iter().map(|output| output.what).filter(|what| !matches!(what, What::Column(_))).collect();
        let summed =
            |column: usize| aggregates.iter().any(|what| matches!(what, What::Sum(c) | What::Mean(c) if *c == column));
        let counted = |column: usize| aggregates.contains(&What::CountOf(column));
        let mut regions = Vec::with_capacity(columns.all.len());
        let (mut used, mut place) = (Vec::new(), vec![None; columns.all.len()]);
        for (column, named) in columns.all.iter().enumerate() {
            let grouped = query.groups.contains(&column);
            if predicates[column].is_empty() && !grouped && !summed(column) && !counted(column) {
                regions.push(Regions::default());
                continue;
            }
            let found = Regions::new(&named.axis, &predicates[column])?;
            place[column] = Some(used.len());
            used.push(kinds(column, &found, grouped, summed(column)));
            regions.push(found);
        }
        let groups = query.groups.iter().filter_map(|column| place[*column]).collect();
        Ok(Plan { diagram: Diagram::new(&query.condition, &regions)?, used, place, aggregates, groups })
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
    let mut known: HashMap<Vec<[u64; 6]>, u32> = HashMap::new();
    let mut cells: Vec<Vec<Part>> = Vec::new();
    let kind_of = regions.cells.iter().map(|cell| {
        let key = |part: &Part| {
            let [mean, low, high] =
                [part.mean, part.low, part.high].map(|value| if summed { value.to_bits() } else { 0 });
            let exact = part.exact.filter(|_| summed).map_or(0, i64::cast_unsigned);
            [u64::from(part.region), part.mass.to_bits(), mean, low, high, exact]
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
