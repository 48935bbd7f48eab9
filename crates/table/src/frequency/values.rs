//! The values of one attribute beside a frequency set that does not tell it: how often each value
//! stands in each entry.
//!
//! Values come in their order, so that whatever classes the entries are put into, one pass lists
//! the values of every class in order, without sorting and without hashing. Made by two counting
//! sorts: rows by entry (once for all attributes), then by value.

use crate::Codes;

/// How often each value stands in each entry: ascending by value, then by entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueCounts {
    /// For every code, where its entries start; one more at the end.
    starts: Vec<u32>,
    entries: Vec<u32>,
    counts: Vec<u32>,
}

impl ValueCounts {
    /// `rows` are all rows in the order of their entries, `entry_of` says which entry each row is
    /// in.
    pub fn new(column: &Codes, cardinality: usize, rows: &[u32], entry_of: &[u32]) -> ValueCounts {
        let mut next = vec![0u32; cardinality + 1];
        column.iter().for_each(|code| next[code as usize + 1] += 1);
        for code in 0..cardinality {
            next[code + 1] += next[code];
        }
        let bounds = next.clone();
        let mut sorted = vec![0u32; rows.len()];
        for &row in rows {
            let place = &mut next[column.get(row as usize) as usize];
            sorted[*place as usize] = entry_of[row as usize];
            *place += 1;
        }
        let mut found = ValueCounts { starts: vec![0], entries: Vec::new(), counts: Vec::new() };
        for bounds in bounds.windows(2) {
            for run in sorted[bounds[0] as usize..bounds[1] as usize].chunk_by(|one, other| one == other) {
                found.entries.push(run[0]);
                found.counts.push(run.len() as u32);
            }
            found.starts.push(found.entries.len() as u32);
        }
        found
    }

    /// The same for rows of which each stands for as many as `counts` says.
    pub fn of_counted_rows(
        column: &Codes,
        cardinality: usize,
        rows: &[u32],
        entry_of: &[u32],
        counts: &[u32],
    ) -> ValueCounts {
        let mut by_value: Vec<Vec<u32>> = vec![Vec::new(); cardinality];
        rows.iter().for_each(|&row| by_value[column.get(row as usize) as usize].push(row));
        let mut found = ValueCounts { starts: vec![0], entries: Vec::new(), counts: Vec::new() };
        let entry = |row: u32| entry_of[row as usize];
        for rows in by_value {
            for run in rows.chunk_by(|&one, &other| entry(one) == entry(other)) {
                found.entries.push(entry(run[0]));
                found.counts.push(run.iter().map(|&row| counts[row as usize]).sum());
            }
            found.starts.push(found.entries.len() as u32);
        }
        found
    }

    /// All rows in the order of their entries.
    pub fn rows_by_entry(entry_of: &[u32], entries: usize) -> Vec<u32> {
        let mut next = vec![0u32; entries + 1];
        entry_of.iter().for_each(|&entry| next[entry as usize + 1] += 1);
        for entry in 0..entries {
            next[entry + 1] += next[entry];
        }
        let mut rows = vec![0u32; entry_of.len()];
        for (row, &entry) in (0u32..).zip(entry_of) {
            let place = &mut next[entry as usize];
            rows[*place as usize] = row;
            *place += 1;
        }
        rows
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Of every occurrence its entry, ascending by value.
    pub fn entries(&self) -> &[u32] {
        &self.entries
    }

    /// Every value that occurs, ascending, with its entries and how often it stands in each.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &[u32], &[u32])> {
        (0u32..).zip(self.starts.windows(2)).filter(|(_, bounds)| bounds[0] < bounds[1]).map(|(code, bounds)| {
            let range = bounds[0] as usize..bounds[1] as usize;
            (code, &self.entries[range.clone()], &self.counts[range])
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::frequency::{FrequencySet, Layout, LevelChange};

    /// Against a count of the rows: the values of every entry, and where the entries come to lie in
    /// a coarser set.
    #[test]
    fn values_and_places_agree_with_a_count_of_the_rows() {
        for seed in 0..200 {
            let mut rng = StdRng::seed_from_u64(seed);
            let cardinalities = [1 + rng.random_range(0..9usize), 1 + rng.random_range(0..300usize), 5, 40];
            let rows = [0, 1, 7, 500, 3000][rng.random_range(0..5usize)];
            let columns = cardinalities.map(|cardinality| {
                let codes: Vec<u32> = (0..rows).map(|_| rng.random_range(0..cardinality as u32)).collect();
                Codes::from_iter(cardinality, codes)
            });
            let columns: Vec<&Codes> = columns.iter().collect();
            // The third attribute is not distinguished.
            let layout = Layout::of(&cardinalities, |attribute| attribute != 2).unwrap();
            let base = FrequencySet::<1>::of_rows(&layout, &columns, rows);
            let expected = |row: usize| [0, 1, 3].map(|attribute| columns[attribute].get(row));
            let of_key = |key: &[u64; 1]| [0, 1, 3].map(|attribute| layout.field(attribute).get(key));
            let entry_of = base.places_of_rows(&layout, &columns, rows);
            assert!((0..rows).all(|row| of_key(&base.keys()[entry_of[row] as usize]) == expected(row)), "seed {seed}");
            let by_entry = ValueCounts::rows_by_entry(&entry_of, base.len());
            let values = ValueCounts::new(columns[2], cardinalities[2], &by_entry, &entry_of);
            let mut expected: BTreeMap<(u32, u32), u32> = BTreeMap::new();
            (0..rows).for_each(|row| *expected.entry((columns[2].get(row), entry_of[row])).or_default() += 1);
            let found: Vec<((u32, u32), u32)> = values
                .iter()
                .flat_map(|(code, entries, counts)| {
                    entries.iter().zip(counts).map(move |(&entry, &count)| ((code, entry), count))
                })
                .collect();
            assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "seed {seed}");
            let halves: Vec<u32> = (0..cardinalities[1] as u32).map(|code| code / 2).collect();
            let recoding = LevelChange::new(&layout, [(1, halves.as_slice())]);
            let coarse = base.roll_up(&recoding);
            for (entry, place) in coarse.places_of(&base, &recoding).into_iter().enumerate() {
                let [first, second, last] = of_key(&base.keys()[entry]);
                assert_eq!(of_key(&coarse.keys()[place as usize]), [first, second / 2, last], "seed {seed}");
            }
        }
    }
}
