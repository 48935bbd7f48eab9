//! Rows of a table that refute dependencies by disagreeing pairs.
//!
//! Take pairs of rows that agree on the left side, no row in two pairs. Of each pair that disagrees
//! on the right side one row has to go: a dependency deviates in at least as many rows as there are
//! such pairs, in any rows of the table and so in the table. The pairs of a left side are found
//! once for all right sides, and few suffice for most: two independent columns disagree in nearly
//! every pair.
//!
//! The rows are collected once for all left sides, one at random of each of equal parts of the
//! table, and ordered so that those at the beginning are spread over the table too: a few thousand
//! refute nearly all left sides, and the others meet more.

use foldhash::fast::FixedState;
use std::hash::BuildHasher;

use super::Candidate;
use crate::engine::{CodeChunk, Engine, EngineAnswer};
use crate::{Codes, Progress, Ratio, TableError, parallel, with_codes};

/// Tables with fewer rows are counted without.
pub(super) const ROWS_MIN: u64 = 1 << 12;

/// Rows that are collected at most, and their bytes.
const ROWS_MAX: u64 = 1 << 19;
const BYTES_MAX: u64 = 1 << 26;

/// How many times more rows are looked at where those before do not refute all.
const MORE_ROWS: usize = 8;

/// Rows of which left sides are computed at once: their keys stay in the processor's cache.
const BLOCK_ROWS: usize = 1 << 11;

#[derive(Debug)]
pub(super) struct Sample {
    /// Rows of the table.
    table_rows: u64,
    rows: usize,
    /// Positions in the engine's profile, ascending, with the codes and the number of values.
    columns: Vec<usize>,
    codes: Vec<(Codes, u64)>,
}

impl Sample {
    /// `None` where the engine does not show its rows.
    pub(super) fn collect(
        engine: &dyn Engine,
        mut columns: Vec<usize>,
        progress: &dyn Progress,
    ) -> Result<Option<Sample>, TableError> {
        columns.sort_unstable();
        columns.dedup();
        let profile = engine.profile();
        let cardinality = |column: &usize| profile.columns[*column].domain.cardinality();
        let mut codes: Vec<Codes> = columns.iter().map(|column| Codes::with_capacity(cardinality(column), 0)).collect();
        let row_bytes = codes.iter().map(|codes| codes.width() as u64).sum::<u64>().max(1);
        let table_rows = profile.rows as u64;
        let rows = table_rows.min(ROWS_MAX).min((BYTES_MAX / row_bytes).max(ROWS_MIN));
        let mut chosen = (0..rows).map(|part| one_of_part(part, rows, table_rows)).peekable();
        let (mut first, mut places) = (0u64, Vec::new());
        let scanned = engine.scan(&columns, progress, &mut |chunks: Vec<CodeChunk>| {
            for chunk in chunks {
                let end = first + chunk.first().map_or(0, Codes::len) as u64;
                places.clear();
                places.extend(std::iter::from_fn(|| chosen.next_if(|row| *row < end)).map(|row| (row - first) as u32));
                for (codes, more) in codes.iter_mut().zip(&chunk) {
                    codes.extend(&more.of_rows(&places), 0..places.len());
                }
                first = end;
            }
            Ok(())
        })?;
        if !matches!(scanned, EngineAnswer::Exact(())) {
            return Ok(None);
        }
        let rows = codes.first().map_or(0, Codes::len);
        let order = spread(rows);
        let ordered = parallel::map(codes.len(), |index| codes[index].of_rows(&order));
        let codes = ordered.into_iter().zip(columns.iter().map(|column| cardinality(column) as u64)).collect();
        Ok(Some(Sample { table_rows, rows, columns, codes }))
    }

    /// The candidates without the right sides that some pairs refute.
    pub(super) fn not_refuted(&self, candidates: Vec<Candidate>, tolerance: Ratio) -> Vec<Candidate> {
        let left = parallel::map_items(candidates, |_, candidate| {
            let (right, mostly_unique) = self.right_sides(&candidate.from, &candidate.to, tolerance);
            let left = Candidate::new(&candidate.from, &candidate.to, |at| right[at]);
            left.map(|left| Candidate { mostly_unique, ..left })
        });
        left.into_iter().flatten().collect()
    }

    /// For each right side, whether it is left; and whether most values of the left side are known
    /// to occur once.
    fn right_sides(&self, from: &[usize], to: &[usize], tolerance: Ratio) -> (Vec<bool>, bool) {
        let (mut is_left, mut mostly_unique) = (vec![true; to.len()], false);
        let mut rows = (ROWS_MIN as usize).min(self.rows);
        loop {
            let most = self.most(rows, tolerance);
            // Each pair has two rows.
            if rows as u64 / 2 > most {
                let pairs = self.pairs(from, rows);
                mostly_unique = rows as u64 == self.table_rows && 8 * pairs.len() < rows;
                for (to, is_left) in to.iter().zip(&mut is_left).filter(|(_, is_left)| **is_left) {
                    *is_left = !self.more_disagree(&pairs, *to, most);
                }
            }
            if rows == self.rows || !is_left.contains(&true) {
                return (is_left, mostly_unique);
            }
            rows = rows.saturating_mul(MORE_ROWS).min(self.rows);
        }
    }

    /// The most rows of these that a dependency of the table deviates in.
    fn most(&self, rows: usize, tolerance: Ratio) -> u64 {
        super::most_in_sample(tolerance, rows as u64).min(tolerance.floor_of(self.table_rows))
    }

    fn column(&self, column: usize) -> &(Codes, u64) {
        &self.codes[self.columns.binary_search(&column).unwrap_or_default()]
    }

    /// Pairs that agree on all columns, no row in two of them, among the first rows. A row that
    /// waits for another one gives way where they share a slot, so that a few pairs are missed.
    fn pairs(&self, from: &[usize], rows: usize) -> Vec<(u32, u32)> {
        const NONE: u32 = u32::MAX;
        let hasher = FixedState::default();
        let slots = (2 * rows).next_power_of_two().max(2);
        let shift = u64::BITS - slots.ilog2();
        let mut waiting = vec![NONE; slots];
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        let mut keys: Vec<u64> = Vec::with_capacity(rows);
        let Some((one, more)) = from.split_first() else { return pairs };
        for start in (0..rows).step_by(BLOCK_ROWS) {
            let block = start..rows.min(start + BLOCK_ROWS);
            with_codes!(&self.column(*one).0, codes => {
                keys.extend(codes[block.clone()].iter().map(|&code| u64::from(code)));
            });
            for other in more {
                let (codes, values) = self.column(*other);
                with_codes!(codes, codes => {
                    let keys = keys[block.clone()].iter_mut().zip(&codes[block.clone()]);
                    keys.for_each(|(key, &code)| *key = *key * values + u64::from(code));
                });
            }
            for row in block {
                let slot = &mut waiting[(hasher.hash_one(keys[row]) >> shift) as usize];
                if *slot != NONE && keys[*slot as usize] == keys[row] {
                    pairs.push((*slot, row as u32));
                    *slot = NONE;
                } else {
                    *slot = row as u32;
                }
            }
        }
        pairs
    }

    /// How many pairs of all its rows disagree on a column.
    #[cfg(test)]
    pub(super) fn disagreeing(&self, from: &[usize], to: usize) -> u64 {
        let pairs = self.pairs(from, self.rows);
        (0..).find(|&most| !self.more_disagree(&pairs, to, most)).unwrap_or_default()
    }

    /// Whether more than `most` pairs disagree on a column.
    fn more_disagree(&self, pairs: &[(u32, u32)], to: usize, most: u64) -> bool {
        if pairs.len() as u64 <= most {
            return false;
        }
        with_codes!(&self.column(to).0, codes => {
            let mut disagreeing = 0u64;
            pairs.chunks(128).any(|pairs| {
                disagreeing += pairs.iter().filter(|(a, b)| codes[*a as usize] != codes[*b as usize]).count() as u64;
                disagreeing > most
            })
        })
    }
}

/// The number of a row of a part of a table: one by chance, the same at every run.
fn one_of_part(part: u64, parts: u64, rows: u64) -> u64 {
    let start = |part: u64| (u128::from(part) * u128::from(rows) / u128::from(parts)) as u64;
    let (start, end) = (start(part), start(part + 1));
    start + FixedState::default().hash_one(part) % (end - start).max(1)
}

/// All numbers below `rows`, each beginning of them spread over the whole: steps of the golden
/// section, around and around.
fn spread(rows: usize) -> Vec<u32> {
    let rows = rows as u64;
    let mut step = (rows as f64 * 0.618_033_988_749_895) as u64;
    while step > 1 && greatest_common_divisor(step, rows) > 1 {
        step -= 1;
    }
    (0..rows).map(|place| (place * step.max(1) % rows) as u32).collect()
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_gives_a_row_of_its_own_and_all_rows_are_spread() {
        for (parts, rows) in [(1u64, 1u64), (5, 5), (3, 10), (4096, 1_000_003)] {
            let chosen: Vec<u64> = (0..parts).map(|part| one_of_part(part, parts, rows)).collect();
            assert!(chosen.is_sorted_by(|a, b| a < b) && chosen.last().is_some_and(|&last| last < rows));
        }
        for rows in [0, 1, 2, 3, 10, 4096, 5000] {
            let mut order = spread(rows);
            if rows >= 4096 {
                // In the first eighth, about as many of each quarter.
                for quarter in 0..4 {
                    let of_quarter = |row: &&u32| **row as usize * 4 / rows == quarter;
                    let count = order[..rows / 8].iter().filter(of_quarter).count();
                    assert!(count.abs_diff(rows / 32) < rows / 100, "{rows}: {count}");
                }
            }
            order.sort_unstable();
            assert_eq!(order, (0..rows as u32).collect::<Vec<_>>());
        }
    }
}
