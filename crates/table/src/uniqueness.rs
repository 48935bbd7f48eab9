//! Which columns, alone or a few together, have combinations of values that occur in a single row.

use hashbrown::HashMap;

use crate::Column;

/// Columns whose values together occur once in many rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UniqueColumns {
    /// Positions among the columns examined, in their order.
    pub columns: Vec<usize>,
    /// Rows whose combination of values no other row has.
    pub rows: u64,
}

/// What an examination of combinations found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Uniqueness {
    /// None contains another one: smaller combinations come first.
    pub found: Vec<UniqueColumns>,
    /// Whether every combination was examined, or there were too many.
    pub complete: bool,
}

/// Combinations of at most this many columns are examined.
pub const TOGETHER_MAX: usize = 3;
/// Cells looked at before the examination gives up.
const CELLS_MAX: u64 = 400_000_000;

/// Combinations of up to [`TOGETHER_MAX`] columns in which more than `rows_min` rows are unique.
pub fn examine(columns: &[&Column], rows_min: u64) -> Uniqueness {
    examine_counted(columns, None, rows_min)
}

/// The same where each row stands for as many as `counts` says.
pub fn examine_counted(columns: &[&Column], counts: Option<&[u32]>, rows_min: u64) -> Uniqueness {
    let rows = match counts {
        Some(counts) => counts.iter().map(|&count| u64::from(count)).sum(),
        None => columns.first().map_or(0, |column| column.codes.len() as u64),
    };
    let mut uniqueness = Uniqueness { found: Vec::new(), complete: true };
    let mut cells_left = CELLS_MAX;
    for size in 1..=TOGETHER_MAX {
        let (cells_left, uniqueness) = (&mut cells_left, &mut uniqueness);
        let mut search = Search { columns, counts, rows, rows_min, size, cells_left, uniqueness };
        search.extend(&Chosen { columns: Vec::new(), ids: Vec::new(), count: 1 });
    }
    uniqueness
}

/// Rows whose combination of values no other row has.
pub fn unique_rows(columns: &[&Column]) -> u64 {
    let start = Chosen { columns: Vec::new(), ids: Vec::new(), count: 1 };
    let chosen = columns.iter().fold(start, |chosen, column| chosen.with(0, column));
    chosen.unique(None)
}

struct Search<'s> {
    columns: &'s [&'s Column],
    counts: Option<&'s [u32]>,
    /// All rows that are counted.
    rows: u64,
    rows_min: u64,
    size: usize,
    cells_left: &'s mut u64,
    uniqueness: &'s mut Uniqueness,
}

impl Search<'_> {
    fn extend(&mut self, chosen: &Chosen) {
        let from = chosen.columns.last().map_or(0, |last| last + 1);
        for index in from..self.columns.len() {
            let column = self.columns[index];
            if column.domain.cardinality() < 2 {
                continue;
            }
            let mut together = chosen.columns.clone();
            together.push(index);
            let known = self.uniqueness.found.iter();
            if known.into_iter().any(|found| found.columns.iter().all(|column| together.contains(column))) {
                continue;
            }
            if !self.may_be_unique(&together) {
                continue;
            }
            if *self.cells_left < self.rows {
                self.uniqueness.complete = false;
                return;
            }
            *self.cells_left -= self.rows;
            let chosen = chosen.with(index, column);
            if chosen.columns.len() < self.size {
                self.extend(&chosen);
                continue;
            }
            let unique = chosen.unique(self.counts);
            if unique > self.rows_min {
                self.uniqueness.found.push(UniqueColumns { columns: chosen.columns, rows: unique });
            }
        }
    }

    /// There cannot be more unique rows than combinations of values, however the columns are
    /// completed.
    fn may_be_unique(&self, together: &[usize]) -> bool {
        let size = |index: &usize| self.columns[*index].domain.cardinality() as u64;
        let now = together.iter().map(size).fold(1u64, u64::saturating_mul);
        let last = together.last().map_or(0, |last| last + 1);
        let mut rest: Vec<u64> = (last..self.columns.len()).map(|index| size(&index)).collect();
        rest.sort_unstable_by(|a, b| b.cmp(a));
        let most = rest.iter().take(self.size - together.len()).fold(now, |most, size| most.saturating_mul(*size));
        most > self.rows_min
    }
}

/// Some columns, and for every row the number of its combination of values.
struct Chosen {
    columns: Vec<usize>,
    /// Empty while no column is chosen.
    ids: Vec<u32>,
    count: usize,
}

impl Chosen {
    fn with(&self, index: usize, column: &Column) -> Chosen {
        let columns = self.columns.iter().copied().chain([index]).collect();
        if self.ids.is_empty() {
            let ids: Vec<u32> = column.codes.iter().collect();
            return Chosen { columns, ids, count: column.domain.cardinality() };
        }
        let mut numbers: HashMap<(u32, u32), u32, foldhash::fast::RandomState> = HashMap::default();
        let pairs = self.ids.iter().copied().zip(column.codes.iter());
        let ids: Vec<u32> = pairs
            .map(|pair| {
                let next = numbers.len() as u32;
                *numbers.entry(pair).or_insert(next)
            })
            .collect();
        Chosen { columns, ids, count: numbers.len() }
    }

    fn unique(&self, weights: Option<&[u32]>) -> u64 {
        let mut counts = vec![0u32; self.count];
        for (row, id) in self.ids.iter().enumerate() {
            counts[*id as usize] += weights.map_or(1, |weights| weights[row]);
        }
        counts.iter().filter(|count| **count == 1).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Table;

    fn table(columns: &[(&str, &dyn Fn(usize) -> String)], rows: usize) -> Table {
        let header: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let cells: Vec<Vec<String>> =
            (0..rows).map(|row| columns.iter().map(|(_, cell)| cell(row)).collect()).collect();
        let cells: Vec<Vec<&str>> = cells.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
        Table::from_texts(&header, &cells)
    }

    fn found(table: &Table, rows_min: u64) -> Vec<(Vec<usize>, u64)> {
        let uniqueness = examine(&table.columns.iter().collect::<Vec<_>>(), rows_min);
        assert!(uniqueness.complete);
        uniqueness.found.into_iter().map(|found| (found.columns, found.rows)).collect()
    }

    #[test]
    fn a_key_is_found_alone_and_a_compound_key_together() {
        let table = table(
            &[
                ("sex", &|row| ["f", "m"][row % 2].to_owned()),
                ("record", &|row| row.to_string()),
                ("household", &|row| (row / 4).to_string()),
                ("person", &|row| (row % 4).to_string()),
                ("half", &|row| usize::from(row > 50).to_string()),
            ],
            100,
        );
        assert_eq!(found(&table, 5), [(vec![1], 100), (vec![2, 3], 100)], "nothing that contains a smaller one");
        assert_eq!(unique_rows(&[&table.columns[2], &table.columns[3]]), 100);
        assert_eq!(unique_rows(&[&table.columns[2], &table.columns[0]]), 0);
    }

    #[test]
    fn every_combination_agrees_with_counting() {
        let digit = |row: usize, place: u32| (row * row * 7 + row) / 3usize.pow(place) % 5;
        let table = table(
            &[
                ("a", &|row| digit(row, 0).to_string()),
                ("b", &|row| digit(row, 2).to_string()),
                ("c", &|row| digit(row, 3).to_string()),
                ("d", &|row| (row / 9).to_string()),
            ],
            60,
        );
        let counted = |columns: &[usize]| {
            let key = |row: usize| columns.iter().map(|c| table.columns[*c].text(row)).collect::<Vec<_>>();
            let keys: Vec<Vec<String>> = (0..60).map(key).collect();
            keys.iter().filter(|key| keys.iter().filter(|other| other == key).count() == 1).count() as u64
        };
        for rows_min in [0, 3, 20, 40] {
            for (columns, rows) in found(&table, rows_min) {
                assert_eq!(rows, counted(&columns));
                assert!(rows > rows_min);
            }
            let all: Vec<Vec<usize>> = vec![
                vec![0],
                vec![1],
                vec![2],
                vec![3],
                vec![0, 1],
                vec![0, 2],
                vec![0, 3],
                vec![1, 2],
                vec![1, 3],
                vec![2, 3],
            ];
            for columns in all.iter().filter(|columns| counted(columns) > rows_min) {
                let covered = found(&table, rows_min).iter().any(|(part, _)| part.iter().all(|c| columns.contains(c)));
                assert!(covered, "{columns:?} {rows_min}");
            }
        }
    }
}
