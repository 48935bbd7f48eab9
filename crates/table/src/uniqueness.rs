//! Which columns, alone or a few together, have combinations of values that occur for a single
//! person: in a single row or, where several rows may be about one unit, in the rows of one unit.

use hashbrown::HashMap;

use crate::Column;

/// Columns whose values together occur for one person only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UniqueColumns {
    /// Positions among the columns examined, in their order.
    pub columns: Vec<usize>,
    /// Whose combination of values no one else has.
    pub people: u64,
}

/// The result of examining combinations.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Uniqueness {
    /// None contains another one: smaller combinations come first.
    pub found: Vec<UniqueColumns>,
    /// Whether every combination was examined, or there were too many.
    pub complete: bool,
}

/// The subjects of the rows.
#[derive(Debug, Clone, Copy)]
pub enum People<'a> {
    /// Each row about another person.
    Rows,
    /// Each row about as many people as this says.
    Counts(&'a [u32]),
    /// The number of the unit that each row is about, and how many units there are.
    Units(&'a [u32], usize),
}

/// Combinations of at most this many columns are examined.
pub const TOGETHER_MAX: usize = 3;
/// Cells looked at before the examination gives up.
const CELLS_MAX: u64 = 400_000_000;
/// Up to this many combinations of values are numbered without a hash table.
const DIRECT_MAX: usize = 1 << 20;

/// Combinations of up to [`TOGETHER_MAX`] columns that single out more than `people_min` people.
pub fn examine(columns: &[&Column], people: People<'_>, people_min: u64) -> Uniqueness {
    let mut uniqueness = Uniqueness { found: Vec::new(), complete: true };
    let mut cells_left = CELLS_MAX;
    for size in 1..=TOGETHER_MAX {
        let mut search =
            UniquenessSearch { columns, people, people_min, size, cells_left: &mut cells_left, complete: true };
        let known = uniqueness.found.clone();
        let is_new = |together: &[usize]| {
            !known.iter().any(|found| found.columns.iter().all(|column| together.contains(column)))
        };
        search.extend(&Chosen::none(), &is_new, &mut |found| uniqueness.found.push(found));
        uniqueness.complete &= search.complete;
    }
    uniqueness
}

/// Of the combinations of each size the one that singles out the most people, where these are more
/// than any smaller combination does.
pub fn most_telling(columns: &[&Column], people: People<'_>) -> Uniqueness {
    let mut uniqueness = Uniqueness { found: Vec::new(), complete: true };
    let mut cells_left = CELLS_MAX;
    for size in 1..=TOGETHER_MAX {
        let people_min = uniqueness.found.last().map_or(0, |smaller| smaller.people);
        let mut search =
            UniquenessSearch { columns, people, people_min, size, cells_left: &mut cells_left, complete: true };
        let mut most: Option<UniqueColumns> = None;
        search.extend(&Chosen::none(), &|_| true, &mut |found| {
            if most.as_ref().is_none_or(|most| found.people > most.people) {
                most = Some(found);
            }
        });
        uniqueness.found.extend(most);
        uniqueness.complete &= search.complete;
    }
    uniqueness
}

/// The people whose combination of values no one else has.
pub fn singled_out(columns: &[&Column], people: People<'_>) -> u64 {
    columns.iter().fold(Chosen::none(), |chosen, column| chosen.with(0, column)).singled_out(people)
}

struct UniquenessSearch<'s> {
    columns: &'s [&'s Column],
    people: People<'s>,
    people_min: u64,
    size: usize,
    cells_left: &'s mut u64,
    complete: bool,
}

impl UniquenessSearch<'_> {
    fn extend(&mut self, chosen: &Chosen, is_wanted: &dyn Fn(&[usize]) -> bool, visit: &mut dyn FnMut(UniqueColumns)) {
        let from = chosen.columns.last().map_or(0, |last| last + 1);
        for index in from..self.columns.len() {
            let column = self.columns[index];
            if column.domain.cardinality() < 2 {
                continue;
            }
            let mut together = chosen.columns.clone();
            together.push(index);
            if !is_wanted(&together) || !self.may_single_out(&together) {
                continue;
            }
            let rows = column.codes.len() as u64;
            if *self.cells_left < rows {
                self.complete = false;
                return;
            }
            *self.cells_left -= rows;
            let chosen = chosen.with(index, column);
            if chosen.columns.len() < self.size {
                self.extend(&chosen, is_wanted, visit);
                continue;
            }
            let people = chosen.singled_out(self.people);
            if people > self.people_min {
                visit(UniqueColumns { columns: chosen.columns, people });
            }
        }
    }

    /// There cannot be more people singled out than combinations of values, however the columns are
    /// completed.
    fn may_single_out(&self, together: &[usize]) -> bool {
        let size = |index: &usize| self.columns[*index].domain.cardinality() as u64;
        let now = together.iter().map(size).fold(1u64, u64::saturating_mul);
        let last = together.last().map_or(0, |last| last + 1);
        let mut rest: Vec<u64> = (last..self.columns.len()).map(|index| size(&index)).collect();
        rest.sort_unstable_by(|a, b| b.cmp(a));
        let most = rest.iter().take(self.size - together.len()).fold(now, |most, size| most.saturating_mul(*size));
        most > self.people_min
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
    fn none() -> Chosen {
        Chosen { columns: Vec::new(), ids: Vec::new(), count: 1 }
    }

    fn with(&self, index: usize, column: &Column) -> Chosen {
        let columns = self.columns.iter().copied().chain([index]).collect();
        let cardinality = column.domain.cardinality();
        if self.columns.is_empty() {
            let ids: Vec<u32> = column.codes.iter().collect();
            return Chosen { columns, ids, count: cardinality };
        }
        let pairs = self.ids.iter().copied().zip(column.codes.iter());
        if let Some(count) = self.count.checked_mul(cardinality).filter(|count| *count <= DIRECT_MAX) {
            let ids = pairs.map(|(id, code)| id * cardinality as u32 + code).collect();
            return Chosen { columns, ids, count };
        }
        let mut numbers: HashMap<(u32, u32), u32, foldhash::fast::RandomState> = HashMap::default();
        let ids: Vec<u32> = pairs
            .map(|pair| {
                let next = numbers.len() as u32;
                *numbers.entry(pair).or_insert(next)
            })
            .collect();
        Chosen { columns, ids, count: numbers.len() }
    }

    fn singled_out(&self, people: People<'_>) -> u64 {
        if let People::Units(of_row, units) = people {
            return self.units_singled_out(of_row, units);
        }
        let mut counts = vec![0u32; self.count];
        for (row, id) in self.ids.iter().enumerate() {
            let count = &mut counts[*id as usize];
            *count = count.saturating_add(if let People::Counts(counts) = people { counts[row] } else { 1 });
        }
        counts.iter().filter(|count| **count == 1).count() as u64
    }

    /// The units with a combination that no other unit has.
    fn units_singled_out(&self, of_row: &[u32], units: usize) -> u64 {
        const NONE: u32 = u32::MAX;
        const SEVERAL: u32 = u32::MAX - 1;
        let mut owner = vec![NONE; self.count];
        for (&id, &unit) in self.ids.iter().zip(of_row) {
            let owner = &mut owner[id as usize];
            *owner = if *owner == NONE || *owner == unit { unit } else { SEVERAL };
        }
        let mut alone = vec![false; units];
        owner.into_iter().filter(|owner| *owner < SEVERAL).for_each(|unit| alone[unit as usize] = true);
        alone.into_iter().filter(|alone| *alone).count() as u64
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
        let uniqueness = examine(&table.columns.iter().collect::<Vec<_>>(), People::Rows, rows_min);
        assert!(uniqueness.complete);
        uniqueness.found.into_iter().map(|found| (found.columns, found.people)).collect()
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
        assert_eq!(singled_out(&[&table.columns[2], &table.columns[3]], People::Rows), 100);
        assert_eq!(singled_out(&[&table.columns[2], &table.columns[0]], People::Rows), 0);
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

    /// Of each size the most, and never fewer than a smaller combination; units by hand.
    #[test]
    fn the_most_telling_and_units_agree_with_counting() {
        let digit = |row: usize, place: u32| (row * row * 7 + row) / 3usize.pow(place) % 5;
        let table = table(
            &[
                ("a", &|row| digit(row, 0).to_string()),
                ("b", &|row| digit(row, 2).to_string()),
                ("c", &|row| (row / 7).to_string()),
            ],
            80,
        );
        let columns: Vec<&Column> = table.columns.iter().collect();
        for rows_of_unit in [1, 2, 3, 80] {
            let units: Vec<u32> = (0..80).map(|row| row / rows_of_unit).collect();
            let count = units.iter().max().map_or(0, |last| *last as usize + 1);
            let by_hand = |chosen: &[usize]| {
                let key = |row: usize| chosen.iter().map(|&c| columns[c].text(row)).collect::<Vec<_>>();
                let alone = |row: usize| (0..80).all(|other| units[other] == units[row] || key(other) != key(row));
                let mut alone: Vec<u32> = (0..80).filter(|&row| alone(row)).map(|row| units[row]).collect();
                alone.dedup();
                alone.len() as u64
            };
            let people = People::Units(&units, count);
            let sets: [&[usize]; 7] = [&[0], &[1], &[2], &[0, 1], &[0, 2], &[1, 2], &[0, 1, 2]];
            for set in sets {
                let chosen: Vec<&Column> = set.iter().map(|&column| columns[column]).collect();
                assert_eq!(singled_out(&chosen, people), by_hand(set), "{rows_of_unit} {set:?}");
            }
            let telling = most_telling(&columns, people);
            assert!(telling.complete);
            let mut most = 0;
            for size in 1..=3 {
                let here = sets.iter().filter(|set| set.len() == size).map(|set| by_hand(set)).max().unwrap();
                let found = telling.found.iter().find(|found| found.columns.len() == size);
                assert_eq!(found.map(|found| found.people), (here > most).then_some(here), "{rows_of_unit}");
                most = most.max(here);
            }
        }
    }
}
