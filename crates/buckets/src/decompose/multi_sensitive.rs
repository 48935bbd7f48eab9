//! One table in which every protected attribute is sensitive, the baseline of Jin and others 2010,
//! appendix B: buckets in which each protected attribute stays uncertain even to an attacker who
//! knows all the others. Rows that no bucket can take are released without their sensitive values.
//!
//! Every bucket solves the paper's integer program ([`super::integer_program`]). The smallest
//! buckets that can be are *boxes*: some values of each protected attribute, as many as its rules
//! need, one row for each of their combinations; a bucket has at least that many values of one
//! attribute with each combination of the others. So boxes are looked for first. When there are
//! none left, one program finds the most rows that any further buckets can take, and smaller ones
//! divide these; what is left then is in no bucket whatsoever. One protected attribute is dealt to
//! buckets as in any other table.
//!
//! A combination that differs from too few others in just one attribute is in no bucket; without it
//! others may have too few, and so on. What stays is the *core*, often nothing, and only there
//! boxes and programs are looked for.
//!
//! Cost: the core, and a walk over combinations of frequent values until all of a box's rows are
//! there: for every box of a small table, and of others as often as half of the rows are gone; then
//! some integer programs with one variable for each combination of the core.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use hedgerow_draft::rows::shuffle;
use hedgerow_privacy::rules::AttributeSet;
use hedgerow_table::{Progress, Ratio};
use rand::rngs::StdRng;

use super::beginnings::{Beginning, Beginnings};
use super::divergence::sensitive_values;
use super::integer_program::Program;
use super::{DecompositionProblem, Groups, Subtable};

/// Steps of the walk for one box; where it takes longer, the programs take over.
const STEPS_MAX: usize = 100_000;

/// Tables with more combinations are not searched anew for every box.
const COMBINATIONS_FEW: usize = 2_000;

/// Different buckets that the programs search for; the rest becomes one.
const PROGRAMS_MAX: usize = 20;

/// `None` when there is nothing to protect, nothing else to release, or something is required that
/// shares alone do not decide.
pub fn multi_sensitive(problem: &DecompositionProblem<'_>, rng: &mut StdRng) -> Option<Vec<Subtable>> {
    let sensitive = problem.rules.iter().fold(AttributeSet::EMPTY, |all, rule| all | rule.protect);
    let attributes: Vec<usize> = sensitive.iter().collect();
    if attributes.is_empty() || (problem.everything() - sensitive).is_empty() {
        return None;
    }
    let l = attributes.iter().map(|&attribute| problem.l(attribute)).collect::<Option<Vec<Ratio>>>()?;
    if let [one] = attributes[..] {
        let table = problem.bucketized(problem.everything(), one, rng);
        return table.groups.is_some().then(|| vec![table]);
    }
    let (value_of, count) = sensitive_values(problem, sensitive);
    let mut rows_of: Vec<Vec<u32>> = vec![Vec::new(); count];
    for (row, value) in (0..).zip(value_of.iter()) {
        rows_of[value as usize].push(row);
    }
    let codes_of = |row: u32| attributes.iter().map(|&one| problem.columns[one].get(row as usize)).collect();
    let mut rows_of: BTreeMap<Vec<u32>, Vec<u32>> = rows_of.into_iter().map(|rows| (codes_of(rows[0]), rows)).collect();
    rows_of.values_mut().for_each(|rows| shuffle(rows, rng));
    let needed: Vec<u64> = l.iter().map(|l| l.ceil()).collect();
    let mut making = Making { rows_of, of_row: vec![Groups::NONE; problem.rows], buckets: Vec::new(), rows_taken: 0 };
    while !problem.progress.is_canceled() && making.take_boxes(&l, &needed) {}
    making.take_by_programs(&l, problem.progress);
    let members = making.buckets.iter().map(|rows| {
        let mut values: BTreeMap<u32, u32> = BTreeMap::new();
        for &row in rows {
            *values.entry(value_of.get(row as usize)).or_default() += 1;
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
    rows_taken: u64,
}

impl Making {
    /// Takes boxes of the combinations that some bucket may hold, frequent values first; whether
    /// there was one. Tables of few combinations are searched anew after every box; others once
    /// half of the rows are taken, since the search costs more than a box.
    fn take_boxes(&mut self, l: &[Ratio], needed: &[u64]) -> bool {
        let core = self.core(l);
        let rows: u64 = core.iter().map(|(_, rows)| rows).sum();
        let enough = if core.len() > COMBINATIONS_FEW { rows / 2 } else { 1 };
        let mut search = BoxSearch::new(&core, needed, enough);
        let _ = search.grow(self, &mut vec![Vec::new(); needed.len()], &[Beginnings::EMPTY], 0, 0);
        search.taken > 0
    }

    /// Makes buckets with these numbers of rows of some combinations, as often as there are rows
    /// for it and at most `times`. Returns the number of rows taken.
    fn take(&mut self, taken: &[(Vec<u32>, u64)], times: u64) -> u64 {
        let before = self.rows_taken;
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
            self.rows_taken += bucket.len() as u64;
            self.buckets.push(bucket);
        }
        for (codes, _) in taken {
            if self.rows_of.get(codes).is_some_and(Vec::is_empty) {
                self.rows_of.remove(codes);
            }
        }
        self.rows_taken - before
    }

    /// The combinations that some bucket may still hold, with how many rows there are of each. The
    /// others are let go: no bucket will ever hold them, since rows only become fewer.
    fn core(&mut self, l: &[Ratio]) -> Vec<(Vec<u32>, u64)> {
        let combinations: Vec<Vec<u32>> = self.rows_of.keys().cloned().collect();
        let core = Program::new(&combinations, l).core();
        let mut stays = core.iter().copied();
        self.rows_of.retain(|_, _| stays.next().unwrap_or(true));
        self.rows_of.iter().map(|(codes, rows)| (codes.clone(), rows.len() as u64)).collect()
    }

    /// The most rows that further buckets can take, in buckets as small as the programs find them.
    fn take_by_programs(&mut self, l: &[Ratio], progress: &dyn Progress) {
        if progress.is_canceled() {
            return;
        }
        let (combinations, rows): (Vec<Vec<u32>>, Vec<u64>) = self.core(l).into_iter().unzip();
        let program = Program::new(&combinations, l);
        let mut left = program.most(&rows);
        for searched in 0.. {
            if left.iter().all(|&rows| rows == 0) || progress.is_canceled() {
                return;
            }
            let bucket = if searched < PROGRAMS_MAX { program.smallest(&left) } else { left.clone() };
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

/// The walk over combinations of values in search of boxes all of whose rows are there. Rows only
/// become fewer, so that what was not a box before never becomes one, and the walk goes on where it
/// found the last one.
struct BoxSearch<'a> {
    combinations: &'a [(Vec<u32>, u64)],
    beginnings: Beginnings,
    needed: &'a [u64],
    /// For every protected attribute its values, the most frequent first.
    by_frequency: Vec<Vec<u32>>,
    /// Since the last box.
    steps: usize,
    taken: u64,
    /// The search ends when this number of rows is taken.
    enough: u64,
}

impl<'a> BoxSearch<'a> {
    fn new(combinations: &'a [(Vec<u32>, u64)], needed: &'a [u64], enough: u64) -> BoxSearch<'a> {
        let by_frequency = (0..needed.len()).map(|place| {
            let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
            for (codes, rows) in combinations {
                *counts.entry(codes[place]).or_default() += rows;
            }
            let mut values: Vec<(u64, u32)> = counts.into_iter().map(|(value, count)| (count, value)).collect();
            values.sort_unstable_by(|one, other| other.cmp(one));
            values.into_iter().map(|(_, value)| value).collect()
        });
        let by_frequency = by_frequency.collect();
        let beginnings = Beginnings::new(combinations.iter().map(|(codes, _)| codes.as_slice()));
        BoxSearch { combinations, beginnings, needed, by_frequency, steps: 0, taken: 0, enough }
    }

    /// Whether each beginning occurs with each value behind it.
    fn all_occur(&self, before: &[Beginning], values: &[u32]) -> bool {
        let all_longer = |&one: &Beginning| values.iter().all(|&value| self.beginnings.longer(one, value).is_some());
        before.iter().all(|&one| self.beginnings.occurs(one)) && before.iter().all(all_longer)
    }

    /// Adds values to one side of the box after another. `before` are the combinations of the sides
    /// that are full; `from` is the next value of the side being filled.
    fn grow(
        &mut self,
        making: &mut Making,
        sides: &mut Vec<Vec<u32>>,
        before: &[Beginning],
        place: usize,
        from: usize,
    ) -> ControlFlow<()> {
        if place == sides.len() {
            return self.take(making, before);
        }
        if sides[place].len() as u64 == self.needed[place] {
            let mut full = Vec::with_capacity(before.len() * sides[place].len());
            for &one in before {
                full.extend(sides[place].iter().filter_map(|&value| self.beginnings.longer(one, value)));
            }
            return self.grow(making, sides, &full, place + 1, 0);
        }
        for index in from..self.by_frequency[place].len() {
            self.steps += 1;
            if self.steps > STEPS_MAX {
                return ControlFlow::Break(());
            }
            let value = self.by_frequency[place][index];
            if self.all_occur(before, &[value]) {
                let taken = self.taken;
                sides[place].push(value);
                self.grow(making, sides, before, place, index + 1)?;
                sides[place].pop();
                // A box below may have used up what was chosen here.
                if self.taken > taken && !self.all_occur(before, &sides[place]) {
                    return ControlFlow::Continue(());
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Takes a box as often as there are rows for it.
    fn take(&mut self, making: &mut Making, combinations: &[Beginning]) -> ControlFlow<()> {
        let codes = |&whole: &Beginning| &self.combinations[self.beginnings.combination(whole)].0;
        let taken: Vec<(Vec<u32>, u64)> = combinations.iter().map(|whole| (codes(whole).clone(), 1)).collect();
        self.taken += making.take(&taken, u64::MAX);
        self.steps = 0;
        for (&whole, (codes, _)) in combinations.iter().zip(&taken) {
            if !making.rows_of.contains_key(codes) {
                self.beginnings.remove(whole);
            }
        }
        if self.taken < self.enough { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}
