//! How often each value of a right side goes with each value of a left side.
//!
//! The rows that count for a left side are collected in the order of the scan and then counted
//! group by group: an array by code holds how often each value occurs in one group. Groups of one
//! row deviate from nothing and repeat nothing; they are passed over.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use std::hash::BuildHasher;

use super::Evidence;
use super::repeats::Repeats;
use crate::engine::{CodeChunk, ColumnProfile, Engine};
use crate::{Codes, with_codes};

/// Rows that a sample aims at; tables with no more are counted whole.
pub(super) const SAMPLE_ROWS: u64 = 1 << 16;

/// Left sides with fewer different values have large groups, of which any rows tell enough.
const FEW_GROUPS: u64 = 1 << 12;

/// Rows of which left sides are computed at once: their keys stay in the processor's cache.
const BLOCK_ROWS: usize = 1 << 11;

/// Which rows of a table are counted for one left side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Sampling {
    All,
    /// Every row whose number is a multiple.
    Rows(u64),
    /// The whole groups of left sides whose hash is below.
    Groups(u64),
}

impl Sampling {
    pub(super) fn of(engine: &dyn Engine, from: &[usize]) -> Sampling {
        let rows = engine.profile().rows as u64;
        if rows <= SAMPLE_ROWS {
            Sampling::All
        } else if combinations(&engine.profile().columns, from) < FEW_GROUPS {
            Sampling::Rows(rows.div_ceil(SAMPLE_ROWS))
        } else {
            Sampling::Groups((u64::MAX / rows).saturating_mul(SAMPLE_ROWS))
        }
    }
}

/// How many values the columns of a left side can have together.
fn combinations(profile: &[ColumnProfile], from: &[usize]) -> u64 {
    from.iter().fold(1u64, |all, &column| all.saturating_mul(profile[column].domain.cardinality() as u64))
}

/// The rows that count for one left side, with all right sides that go with it.
#[derive(Debug)]
pub(super) struct DependencyTally {
    pub(super) from: Vec<usize>,
    pub(super) to: Vec<usize>,
    sampling: Sampling,
    /// How many values the last column of the left side has, and the whole left side.
    last: u64,
    combinations: u64,
    /// Which left sides may repeat, where most do not.
    repeats: Option<Repeats>,
    /// For each row that was collected, the number of its left side.
    keys: Vec<u64>,
    /// For each right side, its codes in these rows, and how many values it has.
    right: Vec<(Codes, usize)>,
}

impl DependencyTally {
    pub(super) fn new(engine: &dyn Engine, from: &[usize], to: &[usize], sampling: Sampling) -> DependencyTally {
        let columns = &engine.profile().columns;
        let cardinality = |column: usize| columns[column].domain.cardinality();
        let right = to.iter().map(|&to| (Codes::with_capacity(cardinality(to), 0), cardinality(to)));
        DependencyTally {
            sampling,
            last: from.last().map_or(1, |&column| cardinality(column) as u64),
            combinations: combinations(columns, from),
            repeats: None,
            keys: Vec::new(),
            right: right.collect(),
            from: from.to_vec(),
            to: to.to_vec(),
        }
    }

    /// Rows are collected only where their left side may repeat; [`mark`](Self::mark) comes first.
    pub(super) fn passing_over_unique(mut self, rows: u64) -> DependencyTally {
        self.repeats = Some(Repeats::new(rows));
        self
    }

    pub(super) fn passes_over_unique(&self) -> bool {
        self.repeats.is_some()
    }

    /// The bytes that it can be expected to hold.
    pub(super) fn bytes(&self, rows: u64) -> u64 {
        let collected = match (self.sampling, &self.repeats) {
            (Sampling::All, Some(_)) => rows / 4,
            (Sampling::All, None) => rows,
            (Sampling::Rows(_) | Sampling::Groups(_), _) => SAMPLE_ROWS,
        };
        let row = size_of::<u64>() + self.right.iter().map(|(codes, _)| codes.width()).sum::<usize>();
        collected.saturating_mul(row as u64) + self.repeats.as_ref().map_or(0, Repeats::bytes)
    }

    /// Marks the left sides of a chunk that has these columns.
    pub(super) fn mark(&mut self, columns: &[usize], chunk: &CodeChunk) {
        let Some(mut repeats) = self.repeats.take() else { return };
        self.for_each_block(&self.left_of(columns, chunk), |_, keys| keys.iter().for_each(|&key| repeats.mark(key)));
        self.repeats = Some(repeats);
    }

    /// Collects from a chunk that has these columns and begins with the row of this number.
    pub(super) fn add(&mut self, columns: &[usize], chunk: &CodeChunk, first: u64) {
        let hasher = FixedState::default();
        let (mut places, mut collected): (Vec<u32>, Vec<u64>) = (Vec::new(), Vec::new());
        let left = self.left_of(columns, chunk);
        if let Sampling::Rows(step) = self.sampling {
            let rows = left.first().map_or(0, |codes| codes.len());
            places.extend((((step - first % step) % step) as u32..rows as u32).step_by(step as usize));
            let left: Vec<Codes> = left.iter().map(|codes| codes.of_rows(&places)).collect();
            self.for_each_block(&left.iter().collect::<Vec<_>>(), |_, keys| collected.extend_from_slice(keys));
        } else {
            self.for_each_block(&left, |start, keys| {
                let counts = |key: u64| match self.sampling {
                    Sampling::Groups(below) => hasher.hash_one(key) < below,
                    _ => self.repeats.as_ref().is_none_or(|repeats| repeats.may_repeat(key)),
                };
                for (place, &key) in (start as u32..).zip(keys).filter(|&(_, &key)| counts(key)) {
                    places.push(place);
                    collected.push(key);
                }
            });
        }
        self.keys.append(&mut collected);
        for (to, (right, _)) in self.to.iter().zip(&mut self.right) {
            let codes = codes_of(columns, chunk, *to);
            if places.len() == codes.len() {
                right.extend(codes, 0..codes.len());
            } else {
                right.extend(&codes.of_rows(&places), 0..places.len());
            }
        }
    }

    fn left_of<'c>(&self, columns: &[usize], chunk: &'c CodeChunk) -> Vec<&'c Codes> {
        self.from.iter().map(|&column| codes_of(columns, chunk, column)).collect()
    }

    /// Shows the numbers of left sides, block by block.
    fn for_each_block(&self, left: &[&Codes], mut visit: impl FnMut(usize, &[u64])) {
        let Some((one, more)) = left.split_first() else { return };
        let (hasher, last) = (FixedState::default(), self.last);
        let mut keys: Vec<u64> = Vec::with_capacity(BLOCK_ROWS);
        for start in (0..one.len()).step_by(BLOCK_ROWS) {
            let block = start..one.len().min(start + BLOCK_ROWS);
            keys.clear();
            with_codes!(one, codes => keys.extend(codes[block.clone()].iter().map(|&code| u64::from(code))));
            match more {
                [] => (),
                [two] => with_codes!(two, codes => {
                    keys.iter_mut().zip(&codes[block]).for_each(|(key, &code)| *key = *key * last + u64::from(code));
                }),
                more => {
                    keys.iter_mut().for_each(|key| *key = hasher.hash_one((0u64, *key as u32)));
                    for codes in more {
                        let rows = keys.iter_mut().zip(block.clone());
                        rows.for_each(|(key, row)| *key = hasher.hash_one((*key, codes.get(row))));
                    }
                }
            }
            visit(start, &keys);
        }
    }

    /// Groups the rows that were collected.
    pub(super) fn grouped(self) -> GroupedTally {
        let rows = self.keys.len();
        let mut sizes: Vec<u32> = Vec::new();
        let mut number = |of_key: &mut u32| {
            if *of_key == u32::MAX {
                *of_key = sizes.len() as u32;
                sizes.push(0);
            }
            sizes[*of_key as usize] += 1;
            *of_key
        };
        // Numbers without gaps need no hash table.
        let group_of: Vec<u32> = if self.from.len() <= 2 && self.combinations <= 4 * rows as u64 {
            let mut numbers = vec![u32::MAX; self.combinations as usize];
            self.keys.iter().map(|&key| number(&mut numbers[key as usize])).collect()
        } else {
            let mut numbers: HashMap<u64, u32, FixedState> = HashMap::default();
            self.keys.iter().map(|&key| number(numbers.entry(key).or_insert(u32::MAX))).collect()
        };
        let groups = sizes.len();
        let mut ends: Vec<u32> = Vec::new();
        let mut end = 0;
        // From here on, where the next row of a group goes.
        for size in &mut sizes {
            let repeats = *size > 1;
            let start = end;
            end += if repeats { *size } else { 0 };
            *size = if repeats { start } else { u32::MAX };
            ends.extend(repeats.then_some(end));
        }
        let mut order = vec![0u32; end as usize];
        for (row, &group) in (0u32..).zip(&group_of) {
            let next = &mut sizes[group as usize];
            if *next != u32::MAX {
                order[*next as usize] = row;
                *next += 1;
            }
        }
        GroupedTally { from: self.from, to: self.to, rows: rows as u64, groups, ends, order, right: self.right }
    }
}

/// Rows by left side.
#[derive(Debug)]
pub(super) struct GroupedTally {
    pub(super) from: Vec<usize>,
    pub(super) to: Vec<usize>,
    /// Rows that were collected, and the groups that they are in.
    pub(super) rows: u64,
    groups: usize,
    /// Where the groups of several rows end.
    ends: Vec<u32>,
    /// Their rows, group after group.
    order: Vec<u32>,
    right: Vec<(Codes, usize)>,
}

impl GroupedTally {
    /// Rows that have another row before them with the same left side.
    pub(super) fn repeated(&self) -> u64 {
        self.rows - self.groups as u64
    }

    /// How a right side fares; `None` where more rows deviate than these.
    pub(super) fn evidence(&self, index: usize, most: u64) -> Option<Evidence> {
        let (right, cardinality) = &self.right[index];
        let mut counts = vec![0u32; *cardinality];
        let (mut deviating, mut start) = (0, 0);
        for &end in &self.ends {
            let rows = &self.order[start..end as usize];
            start = end as usize;
            deviating += with_codes!(right, codes => {
                let mut agreeing = 0u32;
                for &row in rows {
                    let count = &mut counts[codes[row as usize] as usize];
                    *count += 1;
                    agreeing = agreeing.max(*count);
                }
                rows.iter().for_each(|&row| counts[codes[row as usize] as usize] = 0);
                rows.len() as u64 - u64::from(agreeing)
            });
            if deviating > most {
                return None;
            }
        }
        Some(Evidence { deviating, repeated: self.repeated() })
    }
}

fn codes_of<'c>(columns: &[usize], chunk: &'c CodeChunk, column: usize) -> &'c Codes {
    &chunk[columns.binary_search(&column).unwrap_or_default()]
}
