//! Rows that are not in memory, by kind: all that bucketizing looks at. Rows of one kind are
//! interchangeable, so it is enough to know how many of each there are, and which bucket the first
//! of them in the source, the second, … goes to.
//!
//! Rows are numbered kind after kind, and those of one kind as the source has them. In memory they
//! stand in the same order before any is dealt, so the outcome is the same.

use std::ops::Range;

use hedgerow_draft::recoded_outside::{RowKinds, find_by};
use hedgerow_policy::{Assignment, Policy, Role};
use hedgerow_table::{Codes, TableError, parallel};

use super::Numbered;
use super::chance::Chance;
use super::line::{AXES_MAX, CHUNK_ROWS, HilbertLine, PARTITION_ROWS, Space};

/// The attributes that decide which kind a row is of.
pub fn looked_at(policy: &Policy) -> Vec<&str> {
    let axes = if policy.publish.assignment == Assignment::Random { 0 } else { AXES_MAX };
    let sensitive = policy.attributes.iter().filter(|attribute| attribute.role == Role::Sensitive);
    policy.quasi().take(axes).chain(sensitive.take(1)).map(|attribute| attribute.name.as_str()).collect()
}

/// Rows by their keys.
#[derive(Debug)]
pub struct Keyed {
    /// Ascending.
    keys: Vec<u64>,
    /// Where the rows of each key begin, and the end of all.
    starts: Vec<u32>,
}

impl Keyed {
    /// From distinct rows, and how often each occurs.
    pub fn new(space: &Space, columns: &[&Codes], counts: &[u32]) -> Keyed {
        let mut counted: Vec<(u64, u32)> = counts.iter().map(|&count| (0, count)).collect();
        parallel::map_items(counted.chunks_mut(CHUNK_ROWS), |chunk, counted| {
            let first = chunk * CHUNK_ROWS;
            let keys = space.keys(columns, first..first + counted.len());
            counted.iter_mut().zip(keys).for_each(|((key, _), own)| *key = own);
        });
        counted.sort_unstable();
        // Distinct rows can lie in one place of the curve.
        counted.dedup_by(|next, first| {
            let equal = next.0 == first.0;
            first.1 += if equal { next.1 } else { 0 };
            equal
        });
        let starts = starts(counted.iter().map(|&(_, count)| count));
        Keyed { keys: counted.iter().map(|&(key, _)| key).collect(), starts }
    }

    /// All rows, in the order of the line.
    pub fn line(&self, space: &Space, chance: &Chance) -> HilbertLine {
        let place = |key: usize| self.keys[key] >> space.value_bits;
        let mut parts = Vec::new();
        let mut first = 0;
        for end in 1..=self.keys.len() {
            let is_last = end == self.keys.len();
            let is_long = (self.starts[end] - self.starts[first]) as usize >= PARTITION_ROWS;
            // The rows of one place are shuffled together.
            if is_last || is_long && place(end) != place(end - 1) {
                parts.push(first..end);
                first = end;
            }
        }
        let first = |keys: &Range<usize>| self.starts[keys.start] as usize;
        let lengths = parts.iter().map(|keys| self.starts[keys.end] as usize - first(keys));
        HilbertLine::filled(lengths, |part, line| {
            let keys = parts[part].clone();
            let rows = keys.clone().flat_map(|key| self.rows(key).map(move |row| (self.keys[key], row)));
            space.mix(rows.collect(), first(&keys), chance, line);
        })
    }

    /// The sensitive value of every row.
    pub fn values(&self, space: &Space, cardinality: usize) -> Codes {
        let value = |key: usize| (self.keys[key] & ((1 << space.value_bits) - 1)) as u32;
        let rows = (0..self.keys.len()).flat_map(|key| self.rows(key).map(move |_| value(key)));
        Codes::from_iter(cardinality, rows)
    }

    fn rows(&self, key: usize) -> Range<u32> {
        self.starts[key]..self.starts[key + 1]
    }

    /// How the rows are recognized, by the columns of these names. `None` when two kinds are equal.
    pub(super) fn into_numbered(self, space: Space, names: Vec<&str>) -> Option<Numbered> {
        let find = find_by(self.keys)?;
        let of_rows = move |columns: &[&Codes]| {
            let keys = space.keys(columns, 0..columns.last().map_or(0, |codes| codes.len()));
            let kinds: Option<Vec<u32>> = keys.iter().map(&find).collect();
            kinds.ok_or_else(|| TableError::Internal("a row that was not counted".to_owned()))
        };
        let names = names.into_iter().map(str::to_owned).collect();
        Some(Numbered { kinds: RowKinds { names, of_rows: Box::new(of_rows) }, starts: self.starts })
    }
}

/// Where each run of the given lengths begins, and the end of the last.
fn starts(counts: impl Iterator<Item = u32>) -> Vec<u32> {
    let ends = counts.scan(0, |end, count| {
        *end += count;
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}

/// Rows that are of one kind where they have the same sensitive value.
pub(super) fn by_value(counts: &[u64], name: &str) -> Numbered {
    let of_rows = |columns: &[&Codes]| -> Result<Vec<u32>, TableError> {
        Ok(columns.iter().flat_map(|codes| codes.iter()).collect())
    };
    let kinds = RowKinds { names: vec![name.to_owned()], of_rows: Box::new(of_rows) };
    Numbered { kinds, starts: starts(counts.iter().map(|&count| count as u32)) }
}

/// The value of every row, value after value.
pub(super) fn values(counts: &[u64]) -> Codes {
    let rows = (0..).zip(counts).flat_map(|(code, &count)| std::iter::repeat_n(code, count as usize));
    Codes::from_iter(counts.len(), rows)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use hedgerow_table::Table;
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::anatomy::line;
    use hedgerow_draft::bind::Bound;

    /// Random tables, rows in memory against distinct rows with their counts: the line is the same,
    /// where rows of one kind are numbered as they come.
    #[test]
    fn counted_rows_stand_in_the_line_as_single_rows_do() {
        let policy = "[source]\npath = \"t.csv\"\n[attributes]\na = { role = \"quasi\" }\nb = { role = \"quasi\" }\n\
            s = { role = \"sensitive\" }\n[[rule]]\nprotect = \"s\"\nrequire = { model = \"distinct-l-diversity\", l = 1 }\n";
        let policy = Policy::parse(policy, Path::new("policy.toml")).unwrap();
        for seed in 0..60 {
            let mut rng = StdRng::seed_from_u64(seed);
            let rows = [1, 7, 300, 30_000][rng.random_range(0..if seed < 12 { 4 } else { 3 })];
            let cardinalities = [1, 5, 90].map(|most| rng.random_range(1..=most));
            let cells: Vec<[String; 3]> =
                (0..rows).map(|_| cardinalities.map(|most| rng.random_range(0..most).to_string())).collect();
            let texts: Vec<Vec<&str>> = cells.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
            let table = Table::from_texts(&["a", "b", "s"], &texts);
            let bound = Bound::new(&policy, &table).unwrap();
            let sensitive = table.column("s").unwrap();
            let (space, chance) = (Space::new(&bound, sensitive.domain.cardinality()), Chance::new(&mut rng));
            let columns = Space::columns(&bound, &sensitive.codes);
            let single = line(&space, &columns, &chance);

            // Each row is a distinct row of its own here, or half of two: what is equal is joined.
            let counts: Vec<u32> = (0..rows).map(|_| rng.random_range(1..3)).collect();
            let twice = |row: usize| std::iter::repeat_n(row as u32, counts[row] as usize);
            let several: Vec<u32> = (0..rows).flat_map(twice).collect();
            let own: Vec<Codes> = columns.iter().map(|codes| codes.of_rows(&several)).collect();
            let joined = Keyed::new(&space, &columns, &counts);
            let doubled = line(&space, &own.iter().collect::<Vec<_>>(), &chance);
            let keyed = Keyed::new(&space, &columns, &vec![1; rows]);
            for (keyed, columns, expected) in
                [(keyed, columns.clone(), single), (joined, own.iter().collect::<Vec<_>>(), doubled)]
            {
                let count = expected.rows.len();
                let keys = space.keys(&columns, 0..count);
                let mut numbered: Vec<u32> = (0..count as u32).collect();
                numbered.sort_by_key(|&row| keys[row as usize]);
                let found = keyed.line(&space, &chance);
                let rows: Vec<u32> = found.rows.iter().map(|&row| numbered[row as usize]).collect();
                assert!(rows == expected.rows && found.codes == expected.codes, "seed {seed}: {count} rows");
                let values = keyed.values(&space, sensitive.domain.cardinality());
                let by_number: Vec<u32> = numbered.iter().map(|&row| columns[2].get(row as usize)).collect();
                assert_eq!(values.iter().collect::<Vec<u32>>(), by_number, "seed {seed}");
                let kinds = keyed.into_numbered(Space::new(&bound, sensitive.domain.cardinality()), vec![]).unwrap();
                let found = (kinds.kinds.of_rows)(&columns).unwrap();
                let mut next = kinds.starts.clone();
                for (row, kind) in (0..).zip(found) {
                    assert_eq!(numbered[next[kind as usize] as usize], row, "seed {seed}");
                    next[kind as usize] += 1;
                }
            }
        }
    }
}
