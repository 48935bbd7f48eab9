//! Guardian decomposition (Jin and others 2010, algorithm 1): start from one table; while a rule is broken, take what it
//! protects out of every table and give it a table of its own with what the rule knows; then add attributes back, each time
//! the one that lowers the divergence most, as long as every rule is kept.
//!
//! As printed the first part need not end: `a ⇸ b` and `b ⇸ a` undo each other for ever. Here a new table takes from what its
//! rule knows only what breaks no rule that is kept, in the worst case nothing; then every step keeps one rule more.
//! The second part also asks that the tables stay a tree, without which the divergence has no closed form, and may tell an
//! attribute by bucket where it may not be told by row. What cannot be added now cannot be added later: rules only
//! become harder to keep.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use hedgerow_privacy::rules::{AttributeSet, Standing};
use hedgerow_table::parallel;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::divergence::Divergence;
use super::problem::{Hopeless, isolate};
use super::{Groups, Problem, Subtable};

/// Less than this is rounding.
const GAIN_MIN: f64 = 1e-12;

pub fn gd(problem: &Problem<'_>, divergence: &mut Divergence<'_>, rng: &mut StdRng) -> Result<Vec<Subtable>, Hopeless> {
    let mut tables = decompose(problem, rng)?;
    add_back(problem, &mut tables, divergence, rng);
    problem.tidy(&mut tables);
    Ok(tables)
}

fn decompose(problem: &Problem<'_>, rng: &mut StdRng) -> Result<Vec<Subtable>, Hopeless> {
    let rules_about = |attribute: usize| problem.rules.iter().filter(|rule| rule.protect.contains(attribute)).count();
    let everything = problem.everything();
    let candidates = everything.iter().filter(|&attribute| problem.can_be_bucketized(attribute));
    let first = candidates.max_by_key(|&attribute| (rules_about(attribute), usize::MAX - attribute));
    let mut tables = match first.filter(|&attribute| rules_about(attribute) > 0) {
        Some(first) => vec![unmade(everything, first)],
        None => vec![Subtable::plain(everything)],
    };
    while let Some(rule) = problem.standings(&tables).iter().position(|standing| !standing.is_kept()) {
        let Some(protect) = problem.rules[rule].protect.iter().next() else { return Err(Hopeless(rule)) };
        isolate(protect, &mut tables);
        problem.keep(rule, &mut tables)?;
        if problem.can_be_bucketized(protect) {
            grow_guardian(problem, rule, protect, &mut tables);
        }
    }
    tables.retain(|table| !table.attributes.is_empty());
    for table in &mut tables {
        if let Some(sensitive) = table.sensitive.iter().next() {
            *table = problem.bucketized(table.attributes, sensitive, rng);
        }
    }
    Ok(tables)
}

/// A bucketized table whose buckets are not made yet.
fn unmade(attributes: AttributeSet, sensitive: usize) -> Subtable {
    Subtable { sensitive: AttributeSet::of(sensitive), ..Subtable::plain(attributes) }
}

/// The table of what a rule protects takes in what the rule knows, as far as no rule breaks that was kept.
fn grow_guardian(problem: &Problem<'_>, rule: usize, protect: usize, tables: &mut [Subtable]) {
    let kept = |tables: &[Subtable]| -> Vec<bool> { problem.standings(tables).iter().map(Standing::is_kept).collect() };
    let before = kept(tables);
    let own = AttributeSet::of(protect);
    let Some(index) = tables.iter().position(|table| table.attributes == own) else { return };
    for know in problem.rules[rule].know.iter() {
        let grown = unmade(tables[index].attributes.with(know), protect);
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

fn add_back(problem: &Problem<'_>, tables: &mut Vec<Subtable>, divergence: &mut Divergence<'_>, rng: &mut StdRng) {
    let mut closed: HashSet<Move> = HashSet::new();
    let mut buckets: HashMap<(usize, usize), Arc<Groups>> = HashMap::new();
    let Some(mut current) = divergence.of(tables) else { return };
    loop {
        divergence.start_from(tables);
        let mut moves = Vec::new();
        let mut candidates = Vec::new();
        for found in all_moves(problem, tables).into_iter().filter(|found| !closed.contains(found)).collect::<Vec<_>>()
        {
            let mut candidate = tables.clone();
            let grown = &mut candidate[found.table];
            grown.attributes = grown.attributes.with(found.attribute);
            if found.by_bucket {
                *grown = unmade(grown.attributes, found.attribute);
            }
            if problem.is_kept(&candidate) {
                moves.push(found);
                candidates.push(candidate);
            } else {
                closed.insert(found);
            }
        }
        deal(problem, &moves, &mut candidates, &mut buckets, rng);
        let found = divergence.of_each(&candidates);
        let best = found.iter().enumerate().filter_map(|(index, found)| Some((index, (*found)?)));
        let Some((index, least)) = best.min_by(|one, other| one.1.total_cmp(&other.1)) else { return };
        if least > current - GAIN_MIN {
            return;
        }
        *tables = candidates.swap_remove(index);
        current = least;
    }
}

/// Buckets for what moves tell by bucket. Those of a table and an attribute are dealt once, on all cores: each from a seed of its own.
fn deal(
    problem: &Problem<'_>,
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

fn all_moves(problem: &Problem<'_>, tables: &[Subtable]) -> Vec<Move> {
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
