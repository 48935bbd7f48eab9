//! One table in which every protected attribute is sensitive, the baseline of Jin and others 2010, appendix B: buckets in
//! which each protected attribute stays uncertain even to somebody who knows all the others. Rows that no bucket can take
//! keep their sensitive values untold.
//!
//! Every bucket solves the paper's integer program ([`super::program`]). The smallest buckets that can be are *boxes*: some values
//! of each protected attribute, as many as its rules need, one row for each of their combinations; a bucket has at least so many
//! values of one attribute beside each combination of the others. So boxes are looked for first. When there are none left,
//! one program tells the most rows that any further buckets can take, and smaller ones divide these; what is left then is in no
//! bucket whatsoever.
//!
//! Cost: for every box, a walk over combinations of frequent values until all of a box's rows are there; then some integer
//! programs with one variable for each combination that is left.

use std::collections::BTreeMap;
use std::sync::Arc;

use hedgerow_privacy::rules::AttributeSet;
use hedgerow_table::Ratio;
use rand::rngs::StdRng;

use super::divergence::sensitive_values;
use super::program::Program;
use super::{Groups, Problem, Subtable};
use crate::rows::shuffle;

/// Steps of the walk for one box; where it takes longer, the programs take over.
const STEPS_MAX: usize = 100_000;

/// Different buckets that the programs are asked for; the rest becomes one.
const PROGRAMS_MAX: usize = 20;

/// `None` when there is nothing to protect, nothing else to tell, or something is asked that shares alone do not decide.
pub fn multi_sensitive(problem: &Problem<'_>, rng: &mut StdRng) -> Option<Vec<Subtable>> {
    let sensitive = problem.rules.iter().fold(AttributeSet::EMPTY, |all, rule| all | rule.protect);
    let attributes: Vec<usize> = sensitive.iter().collect();
    if attributes.is_empty() || (problem.everything() - sensitive).is_empty() {
        return None;
    }
    let l = attributes.iter().map(|&attribute| problem.l(attribute)).collect::<Option<Vec<Ratio>>>()?;
    let mut rows_of: BTreeMap<Vec<u32>, Vec<u32>> = BTreeMap::new();
    for row in 0..problem.rows {
        let codes = attributes.iter().map(|&attribute| problem.columns[attribute].get(row)).collect();
        rows_of.entry(codes).or_default().push(row as u32);
    }
    rows_of.values_mut().for_each(|rows| shuffle(rows, rng));
    let needed: Vec<u64> = l.iter().map(|l| l.ceil()).collect();
    let mut making = Making { rows_of, of_row: vec![Groups::NONE; problem.rows], buckets: Vec::new() };
    while let Some(found) = next_box(&making.rows_of, &needed) {
        let taken: Vec<(Vec<u32>, u64)> = found.into_iter().map(|codes| (codes, 1)).collect();
        making.take(&taken, u64::MAX);
    }
    making.take_by_programs(&l);
    let (value_of, _) = sensitive_values(problem, sensitive);
    let members = making.buckets.iter().map(|rows| {
        let mut values: BTreeMap<u32, u32> = BTreeMap::new();
        for &row in rows {
            *values.entry(value_of[row as usize]).or_default() += 1;
        }
        values.into_iter().collect()
    });
    let groups = Arc::new(Groups::of(making.of_row, members));
    if groups.is_empty() {
        return None;
    }
    Some(vec![Subtable { sensitive, groups: Some(groups), ..Subtable::plain(problem.everything()) }])
}

/// Rows that are in no bucket yet, and the buckets so far.
struct Making {
    rows_of: BTreeMap<Vec<u32>, Vec<u32>>,
    of_row: Vec<u32>,
    buckets: Vec<Vec<u32>>,
}

impl Making {
    /// Makes buckets with so many rows of some combinations, as often as there are rows for it and at most `times`.
    fn take(&mut self, taken: &[(Vec<u32>, u64)], times: u64) {
        let possible = taken.iter().map(|(codes, count)| self.rows_of[codes].len() as u64 / count).min().unwrap_or(0);
        for _ in 0..possible.min(times) {
            let mut bucket = Vec::new();
            for (codes, count) in taken {
                let rows = self.rows_of.get_mut(codes).expect("counted above");
                bucket.extend(rows.split_off(rows.len() - *count as usize));
            }
            for &row in &bucket {
                self.of_row[row as usize] = self.buckets.len() as u32;
            }
            self.buckets.push(bucket);
        }
        self.rows_of.retain(|_, rows| !rows.is_empty());
    }

    /// The most rows that further buckets can take, in buckets as small as the programs find them.
    fn take_by_programs(&mut self, l: &[Ratio]) {
        let combinations: Vec<Vec<u32>> = self.rows_of.keys().cloned().collect();
        let rows: Vec<u64> = self.rows_of.values().map(|rows| rows.len() as u64).collect();
        let program = Program::new(&combinations, l);
        let mut left = program.most(&rows);
        for asked in 0.. {
            if left.iter().all(|&rows| rows == 0) {
                return;
            }
            let bucket = if asked < PROGRAMS_MAX { program.smallest(&left) } else { left.clone() };
            let mut times = 0;
            loop {
                let rest: Option<Vec<u64>> =
                    left.iter().zip(&bucket).map(|(rows, taken)| rows.checked_sub(*taken)).collect();
                let Some(rest) = rest.filter(|rest| program.holds(rest)) else { break };
                (left, times) = (rest, times + 1);
            }
            let taken = combinations.iter().cloned().zip(bucket).filter(|(_, taken)| *taken > 0);
            self.take(&taken.collect::<Vec<_>>(), times);
        }
    }
}

/// The combinations of a box all of which have rows left, frequent values first.
fn next_box(rows_of: &BTreeMap<Vec<u32>, Vec<u32>>, needed: &[u64]) -> Option<Vec<Vec<u32>>> {
    let mut search = Search { rows_of, needed, by_frequency: Vec::new(), steps: 0 };
    for place in 0..needed.len() {
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        for (codes, rows) in rows_of {
            *counts.entry(codes[place]).or_default() += rows.len();
        }
        let mut values: Vec<(usize, u32)> = counts.into_iter().map(|(value, count)| (count, value)).collect();
        values.sort_unstable_by(|one, other| other.cmp(one));
        search.by_frequency.push(values.into_iter().map(|(_, value)| value).collect());
    }
    search.grow(&mut vec![Vec::new(); needed.len()], 0, 0)
}

struct Search<'a> {
    rows_of: &'a BTreeMap<Vec<u32>, Vec<u32>>,
    needed: &'a [u64],
    /// For every protected attribute its values, the most frequent first.
    by_frequency: Vec<Vec<u32>>,
    steps: usize,
}

impl Search<'_> {
    /// Adds values to one side of the box after another; `from` is the next value of the side being filled.
    fn grow(&mut self, sides: &mut Vec<Vec<u32>>, place: usize, from: usize) -> Option<Vec<Vec<u32>>> {
        if place == sides.len() {
            return Some(combinations(sides));
        }
        if sides[place].len() as u64 == self.needed[place] {
            return self.grow(sides, place + 1, 0);
        }
        for index in from..self.by_frequency[place].len() {
            self.steps += 1;
            if self.steps > STEPS_MAX {
                return None;
            }
            sides[place].push(self.by_frequency[place][index]);
            if self.is_possible(sides, place) {
                let found = self.grow(sides, place, index + 1);
                if found.is_some() {
                    return found;
                }
            }
            sides[place].pop();
        }
        None
    }

    /// Whether every combination of the sides so far occurs with some values of the others.
    fn is_possible(&self, sides: &[Vec<u32>], place: usize) -> bool {
        let wanted = combinations(&sides[..=place]);
        if place + 1 == sides.len() {
            return wanted.iter().all(|codes| self.rows_of.contains_key(codes));
        }
        wanted.iter().all(|codes| self.rows_of.keys().any(|known| known.starts_with(codes)))
    }
}

fn combinations(sides: &[Vec<u32>]) -> Vec<Vec<u32>> {
    sides.iter().fold(vec![Vec::new()], |all, side| {
        all.iter().flat_map(|one| side.iter().map(move |&value| [one.as_slice(), &[value]].concat())).collect()
    })
}
