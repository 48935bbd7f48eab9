//! How often each value of a right side goes with each value of a left side.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use std::hash::BuildHasher;

use super::Evidence;
use crate::engine::{CodeChunk, Engine};
use crate::{Codes, Ratio};

/// Rows that a sample aims at; tables with no more are counted whole.
pub(super) const SAMPLE_ROWS: u64 = 1 << 16;

/// Left sides with fewer different values have large groups, of which any rows tell enough.
const FEW_GROUPS: u64 = 1 << 12;

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
        let profile = engine.profile();
        let groups =
            |groups: u64, &column: &usize| groups.saturating_mul(profile.columns[column].domain.cardinality() as u64);
        let groups = from.iter().fold(1, groups);
        let rows = profile.rows as u64;
        if rows <= SAMPLE_ROWS {
            Sampling::All
        } else if groups < FEW_GROUPS {
            Sampling::Rows(rows.div_ceil(SAMPLE_ROWS))
        } else {
            Sampling::Groups((u64::MAX / rows).saturating_mul(SAMPLE_ROWS))
        }
    }
}

/// The counts for one left side and all right sides that go with it.
#[derive(Debug)]
pub(super) struct DependencyTally {
    pub(super) from: Vec<usize>,
    pub(super) to: Vec<usize>,
    sampling: Sampling,
    /// How many values the last column of the left side has.
    last: u64,
    /// Every left side with its number.
    groups: HashMap<u64, u32, FixedState>,
    rows: u64,
    /// For each right side: rows by group and value.
    counts: Vec<HashMap<(u32, u32), u32, FixedState>>,
}

impl DependencyTally {
    pub(super) fn new(engine: &dyn Engine, from: &[usize], to: &[usize], sampling: Sampling) -> DependencyTally {
        let last = from.last().map_or(1, |&column| engine.profile().columns[column].domain.cardinality() as u64);
        let counts = to.iter().map(|_| HashMap::default()).collect();
        let (from, to) = (from.to_vec(), to.to_vec());
        DependencyTally { from, to, sampling, last, groups: HashMap::default(), rows: 0, counts }
    }

    /// Counts a chunk that has these columns and begins with the row of this number.
    pub(super) fn add(&mut self, columns: &[usize], chunk: &CodeChunk, first: u64) {
        let codes = |column: &usize| &chunk[columns.binary_search(column).unwrap_or_default()];
        let from: Vec<&Codes> = self.from.iter().map(codes).collect();
        let to: Vec<&Codes> = self.to.iter().map(codes).collect();
        let (hasher, last) = (FixedState::default(), self.last);
        let key = |row: usize| match from.as_slice() {
            [one] => u64::from(one.get(row)),
            [one, two] => u64::from(one.get(row)) * last + u64::from(two.get(row)),
            more => more.iter().fold(0u64, |key, codes| hasher.hash_one((key, codes.get(row)))),
        };
        let rows = from.first().map_or(0, |codes| codes.len());
        // Rows that are not sampled are passed over, not looked at.
        let (start, step) = match self.sampling {
            Sampling::Rows(step) => ((step - first % step) % step, step),
            Sampling::All | Sampling::Groups(_) => (0, 1),
        };
        let mut numbers: Vec<(usize, u32)> = Vec::new();
        for row in (start as usize..rows).step_by(step as usize) {
            let key = key(row);
            if let Sampling::Groups(below) = self.sampling
                && hasher.hash_one(key) >= below
            {
                continue;
            }
            let next = self.groups.len() as u32;
            numbers.push((row, *self.groups.entry(key).or_insert(next)));
        }
        self.rows += numbers.len() as u64;
        for (to, counts) in to.into_iter().zip(&mut self.counts) {
            for &(row, group) in &numbers {
                *counts.entry((group, to.get(row))).or_insert(0) += 1;
            }
        }
    }

    pub(super) fn evidence(&self, index: usize) -> Evidence {
        let mut most = vec![0u32; self.groups.len()];
        for (&(group, _), &count) in &self.counts[index] {
            let most = &mut most[group as usize];
            *most = count.max(*most);
        }
        let agreeing: u64 = most.iter().map(|&count| u64::from(count)).sum();
        Evidence { deviating: self.rows - agreeing, repeated: self.rows - self.groups.len() as u64 }
    }

    /// The right sides that a sample leaves possible. A sample deviates in no larger share of rows
    /// than the table, but for chance: twice the tolerance and a few rows more are far beyond that.
    pub(super) fn not_refuted(&self, tolerance: Ratio) -> Option<(Vec<usize>, Vec<usize>)> {
        let most = 2 * tolerance.floor_of(self.rows) + 16;
        let possible = |&index: &usize| {
            let evidence = self.evidence(index);
            evidence.deviating <= most && (evidence.repeated > 0 || self.sampling != Sampling::All)
        };
        let to: Vec<usize> = (0..self.to.len()).filter(possible).map(|index| self.to[index]).collect();
        (!to.is_empty()).then(|| (self.from.clone(), to))
    }
}
