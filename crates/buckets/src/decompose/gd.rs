//! Guardian decomposition (Jin and others 2010, algorithm 1): start from one table; while a rule is
//! broken, take what it protects out of every table and give it a table of its own with what the
//! rule knows; then add attributes back, each time the one that lowers the divergence most, as long
//! as every rule is kept.
//!
//! As printed the first part need not end: `a ⇸ b` and `b ⇸ a` undo each other for ever. Here a new
//! table takes from what its rule knows only what breaks no rule that is kept, in the worst case
//! nothing; then every step keeps one rule more. The second part also requires that the tables stay
//! a tree, without which the divergence has no closed form, and may release an attribute by bucket
//! where it may not be released by row. What cannot be added now cannot be added later: rules only
//! become harder to keep.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use hedgerow_privacy::rules::{AttributeSet, NormalFormStanding};
use hedgerow_table::parallel;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::divergence::Divergence;
use super::problem::{Unsatisfiable, isolate};
use super::{DecompositionProblem, Groups, Subtable};

/// Less than this is rounding.
const GAIN_MIN: f64 = 1e-12;

pub fn gd(
    problem: &DecompositionProblem<'_>,
    divergence: &mut Divergence<'_>,
    rng: &mut StdRng,
) -> Result<Vec<Subtable>, Unsatisfiable> {
    let mut tables = decompose(problem, rng)?;
    add_back(problem, &mut tables, divergence, rng);
    problem.tidy(&mut tables);
    Ok(tables)
}

fn decompose(problem: &DecompositionProblem<'_>, rng: &mut StdRng) -> Result<Vec<Subtable>, Unsatisfiable> {
    let rules_about = |attribute: usize| problem.rules.iter().filter(|rule| rule.protect.contains(attribute)).count();
    let everything = problem.everything();
    let candidates = everything.iter().filter(|&attribute| problem.can_be_bucketized(attribute));
    let first = candidates.max_by_key(|&attribute| (rules_about(attribute), usize::MAX - attribute));
    let mut tables = match first.filter(|&attribute| rules_about(attribute) > 0) {
        Some(first) => vec![without_buckets(everything, first)],
        None => vec![Subtable::plain(everything)],
    };
    while let Some(rule) = problem.standings(&tables).iter().position(|standing| !standing.is_kept()) {
        let Some(protect) = problem.rules[rule].protect.iter().next() else { return Err(Unsatisfiable(rule)) };
        isolate(protect, &mut tables);
        problem.keep(rule, &mut tables)?;
        if problem.can_be_bucketized(protect) {
            grow_guardian(problem, rule, protect, &mut tables);
        }
    }
    tables.retain(|table| !table.attributes.is_empty());
    let seeded: Vec<(Subtable, [u8; 32])> = tables.into_iter().map(|table| (table, rng.random())).collect();
    let made = parallel::map_items(seeded, |_, (table, seed)| match table.sensitive.iter().next() {
        Some(sensitive) => problem.bucketized(table.attributes, sensitive, &mut StdRng::from_seed(seed)),
        None => table,
    });
    Ok(made)
}

/// A bucketized table whose buckets are not made yet.
fn without_buckets(attributes: AttributeSet, sensitive: usize) -> Subtable {
    Subtable { sensitive: AttributeSet::of(sensitive), ..Subtable::plain(attributes) }
}

/// The table of what a rule protects takes in what the rule knows, as far as no rule breaks that
/// was kept.
fn grow_guardian(problem: &DecompositionProblem<'_>, rule: usize, protect: usize, tables: &mut [Subtable]) {
    let kept = |tables: &[Subtable]| -> Vec<bool> {
        problem.standings(tables).iter().map(NormalFormStanding::is_kept).collect()
    };
    let before = kept(tables);
    let own = AttributeSet::of(protect);
    let Some(index) = tables.iter().position(|table| table.attributes == own) else { return };
    for know in problem.rules[rule].know.iter() {
        let grown = without_buckets(tables[index].attributes.with(know), protect);
        let old = std::mem::replace(&mut tables[index], grown);
        if before.iter().zip(kept(tables)).any(|(&before, now)| before && !now) {
            tables[index] = old;
        }
    }
}

/// One way to add an attribute to a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Move {
    table: usize,
    attribute: usize,
    by_bucket: bool,
}

fn add_back(
    problem: &DecompositionProblem<'_>,
    tables: &mut Vec<Subtable>,
    divergence: &mut Divergence<'_>,
    rng: &mut StdRng,
) {
    let mut adding = Adding::default();
    divergence.start_from(tables);
    let Some(mut current) = divergence.of(tables) else { return };
    let attributes = problem.columns.len() as u64;
    for step in 0.. {
        if problem.progress.is_canceled() {
            return;
        }
        // How many attributes can be added is not known; most are in few tables.
        problem.progress.advance(u64::from(step < attributes));
        let mut candidates = adding.candidates(problem, tables, rng);
        let Some((index, least)) = divergence.least_of(&candidates, current - GAIN_MIN) else { return };
        *tables = candidates.swap_remove(index);
        current = least;
        divergence.start_from(tables);
    }
}

/// The known moves.
#[derive(Default)]
struct Adding {
    closed: HashSet<Move>,
    buckets: HashMap<(usize, usize), Arc<Groups>>,
}

impl Adding {
    /// The tables after every move that keeps all rules.
    fn candidates(
        &mut self,
        problem: &DecompositionProblem<'_>,
        tables: &[Subtable],
        rng: &mut StdRng,
    ) -> Vec<Vec<Subtable>> {
        let (mut moves, mut candidates) = (Vec::new(), Vec::new());
        for found in all_moves(problem, tables) {
            if self.closed.contains(&found) {
                continue;
            }
            let mut candidate = tables.to_vec();
            let grown = &mut candidate[found.table];
            grown.attributes = grown.attributes.with(found.attribute);
            if found.by_bucket {
                *grown = without_buckets(grown.attributes, found.attribute);
            }
            if problem.is_kept(&candidate) {
                moves.push(found);
                candidates.push(candidate);
            } else {
                self.closed.insert(found);
            }
        }
        deal(problem, &moves, &mut candidates, &mut self.buckets, rng);
        candidates
    }
}

/// Buckets for what moves release by bucket. Those of a table and an attribute are dealt once, on
/// all cores: each from a seed of its own.
fn deal(
    problem: &DecompositionProblem<'_>,
    moves: &[Move],
    candidates: &mut [Vec<Subtable>],
    buckets: &mut HashMap<(usize, usize), Arc<Groups>>,
    rng: &mut StdRng,
) {
    let new = moves.iter().filter(|found| found.by_bucket && !buckets.contains_key(&(found.table, found.attribute)));
    let seeded: Vec<(&Move, [u8; 32])> = new.map(|found| (found, rng.random())).collect();
    let dealt = parallel::map_items(seeded, |_, (found, seed)| {
        // Which other attributes there are makes no difference, as long as there are some.
        let made = problem.bucketized(problem.everything(), found.attribute, &mut StdRng::from_seed(seed));
        ((found.table, found.attribute), made.groups.expect("the attribute can be bucketized"))
    });
    buckets.extend(dealt);
    for (found, candidate) in moves.iter().zip(candidates).filter(|(found, _)| found.by_bucket) {
        candidate[found.table].groups = buckets.get(&(found.table, found.attribute)).cloned();
    }
}

fn all_moves(problem: &DecompositionProblem<'_>, tables: &[Subtable]) -> Vec<Move> {
    let mut moves = Vec::new();
    for (table, held) in tables.iter().enumerate() {
        for attribute in (problem.everything() - held.attributes).iter() {
            moves.push(Move { table, attribute, by_bucket: false });
            let sensitive = held.sensitive.is_empty()
                && !problem.require(attribute).is_empty()
                && problem.can_be_bucketized(attribute);
            if sensitive {
                moves.push(Move { table, attribute, by_bucket: true });
            }
        }
    }
    moves
}

#[cfg(test)]
mod tests {
    use hedgerow_privacy::Model;
    use hedgerow_privacy::rules::Rule;
    use hedgerow_table::{Codes, Ratio};

    use super::*;

    fn random_columns(rng: &mut StdRng, cardinalities: &[usize], rows: usize) -> Vec<Codes> {
        let mut columns: Vec<Vec<u32>> = Vec::new();
        for &cardinality in cardinalities {
            let before = columns.last().cloned().filter(|_| rng.random_bool(0.5));
            let cell = |row: usize| match &before {
                Some(before) if rng.random_bool(0.7) => before[row] % cardinality as u32,
                _ => rng.random_range(0..cardinality as u32),
            };
            columns.push((0..rows).map(cell).collect());
        }
        columns
            .iter()
            .zip(cardinalities)
            .map(|(column, &size)| Codes::from_iter(size, column.iter().copied()))
            .collect()
    }

    #[test]
    fn every_step_is_the_best_of_all_measured_completely() {
        let (mut steps, mut bucketized) = (0, 0);
        for seed in 0..300 {
            let rng = &mut StdRng::seed_from_u64(seed);
            let (attributes, rows) = (rng.random_range(3..8), rng.random_range(2..200));
            let cardinalities: Vec<usize> = (0..attributes).map(|_| rng.random_range(2..30)).collect();
            let columns = random_columns(rng, &cardinalities, rows);
            let rule = |_| {
                let protect = rng.random_range(0..attributes);
                let others = (0..attributes).filter(|&attribute| attribute != protect && rng.random_bool(0.4));
                let know: AttributeSet = others.collect();
                let model = match rng.random_range(0..2) {
                    0 => Model::DistinctLDiversity { l: 2 },
                    _ => Model::FrequencyLDiversity { l: Ratio::integer(rng.random_range(2..4)) },
                };
                let rule = Rule { know, protect: AttributeSet::of(protect), require: vec![model] };
                Some(rule).filter(|_| !know.is_empty())
            };
            let rules: Vec<Rule> = (0..4).filter_map(rule).collect();
            let problem = DecompositionProblem::new(columns.iter().collect(), cardinalities, rows, rules, &[]);
            let mut tables = decompose(&problem, rng).unwrap();
            let mut divergence = Divergence::new(&problem);
            divergence.start_from(&tables);
            let Some(mut current) = divergence.of(&tables) else { continue };
            let mut adding = Adding::default();
            loop {
                let mut candidates = adding.candidates(&problem, &tables, rng);
                let found = divergence.least_of(&candidates, current - GAIN_MIN);
                let all = Divergence::new(&problem).of_each(&candidates);
                let least = all.iter().flatten().copied().fold(f64::INFINITY, f64::min);
                let Some((index, value)) = found else {
                    assert!(least > current - 1e-9, "seed {seed}: {least} is less than {current}");
                    break;
                };
                assert!((value - least).abs() < 1e-9, "seed {seed}: {value}, not {least}");
                assert!((value - all[index].unwrap()).abs() < 1e-9, "seed {seed}: {value} of another");
                tables = candidates.swap_remove(index);
                current = value;
                divergence.start_from(&tables);
                steps += 1;
                bucketized += usize::from(tables.iter().any(|table| table.groups.is_some()));
            }
        }
        assert!(steps > 200 && bucketized > 200, "{steps} steps, {bucketized} with buckets");
    }
}
