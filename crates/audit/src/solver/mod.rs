//! Every world that fits some released tables: which values a person can have in at least one of
//! them, and in which share.
//!
//! It works in layers, each of which rules out and never rules in:
//!
//! 1. [`membership`]: people who fit a class by its labels and are in no assignment of all people
//!    to all rows cannot be in it;
//! 2. [`bounds`]: what the other people of a class leave of a value;
//! 3. [`value_flow`]: values of one table, and rows of one value in two tables, as flows: what is
//!    in no flow is impossible;
//! 4. [`exact`]: connected components that are small enough, solution by solution;
//! 5. [`swaps`]: beyond, values that are shown to be possible by exchanges in the true world.
//!
//! A value that none of them rules out is never called impossible, and one that is left alone is
//! certain. What is neither shown to be possible nor ruled out is said to be open.

mod bounds;
mod done;
mod exact;
mod explain;
pub(crate) mod flow;
mod membership;
mod problem;
mod query;
mod swaps;
mod system;
mod value_flow;

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;

use hedgerow_table::{Progress, TableError};

use self::bounds::{Index, Pending, propagate};
use self::done::Done;
pub(crate) use self::explain::{Certainty, Fact, explain};
pub(crate) use self::flow::Network;
use self::membership::Options;
use self::problem::ABSENT;
pub(crate) use self::problem::{KnownPeople, PeopleProfile, Presence, Side, Statements, UNSAID, WorldProblem};
pub(crate) use self::query::{Scenario, WorldAnswer};
pub(crate) use self::swaps::Truth;
use self::system::System;
use self::value_flow::{blocks, holders, settle_block, settle_value};

/// Passes over flows and bounds; what still moves afterwards stays as it is.
const PASSES_MAX: usize = 20;

/// Passes in which pairs of sides are looked at again, where at least one variable in this number
/// changed.
const PAIR_PASSES_MAX: usize = 4;
const CHANGED_SHARE: usize = 50;

/// Variables times pairs of sides that are looked at as flows of one value.
const PAIR_WORK_MAX: usize = 6_000_000;

/// Which layers work. All of them do, but in tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layers {
    pub(crate) membership: bool,
    pub(crate) bounds: bool,
    pub(crate) values: bool,
    pub(crate) pairs: bool,
    pub(crate) exact: bool,
    pub(crate) swaps: bool,
}

impl Layers {
    pub(crate) const ALL: Layers =
        Layers { membership: true, bounds: true, values: true, pairs: true, exact: true, swaps: true };
}

/// The result.
#[derive(Debug, Clone, Default)]
pub(crate) struct Solved {
    pub(crate) scenarios: Vec<Scenario>,
    /// No world fits.
    pub(crate) contradiction: bool,
    /// Not all that an attacker can be shown was examined: fewer values may be possible.
    pub(crate) is_cut: bool,
    /// Why something is open, as a reader is shown.
    pub(crate) limits: Vec<String>,
}

/// Knowledge beside the problem.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Beside<'a> {
    /// A world that is known to fit.
    pub(crate) truth: Option<&'a Truth>,
    /// By value, the logarithm of its prior; every world counts the same when empty.
    pub(crate) ln_prior: &'a [f64],
}

/// Which values the people of every profile can have.
pub(crate) fn solve(
    problem: &WorldProblem,
    layers: Layers,
    beside: Beside<'_>,
    progress: &dyn Progress,
) -> Result<Solved, TableError> {
    let mut solved = Solved::default();
    let mut done = Done::new(progress);
    let Some(options) = options(problem, layers, &mut solved, &mut done)? else {
        solved.contradiction = true;
        return Ok(solved);
    };
    let Some(mut system) = system::build(problem, &options) else {
        solved.is_cut = true;
        solved.limits.push(format!("the tables leave more than {} numbers unknown", system::VARIABLES_MAX));
        return Ok(solved);
    };
    drop(options);
    let index = Index::new(&system);
    if narrow(problem, &mut system, &index, layers, &mut done)?.is_none() {
        solved.contradiction = true;
        return Ok(solved);
    }
    let (mut scenarios, cut) = query::scenarios(problem, &system);
    solved.is_cut = cut;
    if cut {
        solved.limits.push("some people have too many combinations of classes to be distinguished".to_owned());
    }
    if layers.exact {
        let found = exact::solve(&system, &index, &mut scenarios, beside.ln_prior, &mut done)?;
        solved.contradiction = found.contradiction;
        if found.open > 0 {
            let (parts, largest) = match found.open {
                1 => ("1 part hangs".to_owned(), "it"),
                open => (format!("{open} parts hang"), "the largest"),
            };
            solved.limits.push(format!(
                "{parts} together too widely to be counted through; {largest} has {} unknown numbers, the limit is {}",
                found.largest,
                exact::VARIABLES_MAX
            ));
        }
    } else {
        for query in scenarios.iter_mut().flat_map(|scenario| &mut scenario.queries) {
            if query.is_ruled_out(&system) {
                query.answer = WorldAnswer::Impossible;
            }
        }
    }
    if let Some(truth) = beside.truth.filter(|_| layers.swaps && !solved.contradiction) {
        swaps::mark(&system, truth, problem.sides.len(), &mut scenarios);
    }
    solved.scenarios = scenarios;
    done.finish()?;
    Ok(solved)
}

/// The classes of a side that people of a profile can be in, by who else must be there; `None` when
/// no assignment fits.
pub(crate) fn classes_left(problem: &WorldProblem, side: usize, profile: usize) -> Option<Vec<u32>> {
    let mut options = membership::by_labels(problem, side);
    membership::filter(problem, side, &mut options)?;
    Some(options[profile].iter().map(|place| place.class).filter(|&class| class != ABSENT).collect())
}

/// The classes that are left to each profile; `None` when no assignment fits.
fn options(
    problem: &WorldProblem,
    layers: Layers,
    solved: &mut Solved,
    done: &mut Done<'_>,
) -> Result<Option<Vec<Options>>, TableError> {
    let mut all = Vec::with_capacity(problem.sides.len());
    for side in 0..problem.sides.len() {
        done.membership(side, problem.sides.len())?;
        let mut options = membership::by_labels(problem, side);
        if layers.membership {
            match membership::filter(problem, side, &mut options) {
                None => return Ok(None),
                Some(true) => {}
                Some(false) => solved.limits.push("too many people fit too many classes of one table".to_owned()),
            }
        }
        all.push(options);
    }
    Ok(Some(all))
}

/// Bounds and flows by turns, until nothing changes. `None` when no world fits.
fn narrow(
    problem: &WorldProblem,
    system: &mut System,
    index: &Index,
    layers: Layers,
    done: &mut Done<'_>,
) -> Result<Option<()>, TableError> {
    let mut pending = Pending::all(system.sums.len());
    let all_blocks: Vec<value_flow::Block> = match layers.values {
        true => (0..problem.sides.len()).flat_map(|side| blocks(problem, system, side)).collect(),
        false => Vec::new(),
    };
    let blocks_of = value_flow::blocks_of_profiles(&all_blocks, system.profiles.len());
    let mut stale = vec![true; all_blocks.len()];
    let profile_of = system.profiles_of_variables();
    let mark = |stale: &mut [bool], variable: usize| {
        if let Some(blocks) = blocks_of.get(profile_of[variable] as usize) {
            blocks.iter().for_each(|&block| stale[block as usize] = true);
        }
    };
    for pass in 0..PASSES_MAX {
        let mut note = |variable: usize| mark(&mut stale, variable);
        if layers.bounds && propagate(system, index, &mut pending, &mut note, done)?.is_err() {
            return Ok(None);
        }
        let mut changed: Vec<u32> = Vec::new();
        for (number, block) in all_blocks.iter().enumerate() {
            if !std::mem::replace(&mut stale[number], false) {
                continue;
            }
            done.blocks(pass, number, all_blocks.len())?;
            let mut note = |variable: usize| changed.push(variable as u32);
            if settle_block(problem, system, block, &mut note).is_none() {
                return Ok(None);
            }
        }
        let again = pass == 0 || (pass < PAIR_PASSES_MAX && changed.len() * CHANGED_SHARE > system.low.len());
        if layers.pairs && again && settle_pairs(problem, system, &mut changed, done)?.is_none() {
            return Ok(None);
        }
        if changed.is_empty() {
            break;
        }
        for &variable in &changed {
            index.of(variable as usize).iter().for_each(|&sum| pending.push(sum));
            mark(&mut stale, variable as usize);
        }
    }
    Ok(Some(()))
}

/// The rows of each value on each two sides.
fn settle_pairs(
    problem: &WorldProblem,
    system: &mut System,
    changed: &mut Vec<u32>,
    done: &Done<'_>,
) -> Result<Option<()>, TableError> {
    let holders = holders(problem, system);
    let size: usize = holders.iter().map(Vec::len).sum();
    let count = problem.sides.len();
    let mut pairs: Vec<[usize; 2]> = crate::combined_view::pairs(count).collect();
    // Neighbors first: where not all pairs can be looked at, these are.
    pairs.sort_by_key(|[one, two]| two - one);
    pairs.truncate((PAIR_WORK_MAX / size.max(1)).max(1));
    for pair in pairs {
        for holders in holders.iter().filter(|holders| !holders.is_empty()) {
            done.check()?;
            let mut note = |variable: usize| changed.push(variable as u32);
            if settle_value(problem, system, pair, holders, &mut note).is_none() {
                return Ok(None);
            }
        }
    }
    Ok(Some(()))
}
