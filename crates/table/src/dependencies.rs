//! Functional dependencies between the columns of a table: which columns, alone or in pairs,
//! determine another one, exactly or for all but a few rows.
//!
//! A dependency `from → to` *deviates* in the rows that would have to go for it to hold exactly
//! (the error g₃ of Kivinen and Mannila 1995). A left side whose values hardly repeat determines
//! everything and means nothing, and so does any left side for a column that has nearly one value.
//! So a dependency also needs evidence: were `to` independent of `from`, and `p` the share of its
//! most frequent value, the n rows in g groups of equal `from` would deviate in at most d rows with
//! a probability of at most C(n, d) · p^(n − g − d), by the union over the rows that deviate. This
//! is small where a dependency is real.
//!
//! The work is done on codes in two scans. The first counts a sample for each left side (whole
//! groups where there are many), which refutes nearly all; the second counts what is left exactly.

mod tally;

use std::cmp::Ordering;

use crate::engine::{Engine, EngineAnswer};
use crate::{Codes, Progress, Ratio, TableError, parallel};
use tally::{DependencyTally, Sampling};

/// A dependency in a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableDependency {
    /// Positions in the engine's profile, ascending: one or two.
    pub from: Vec<usize>,
    pub to: usize,
    /// Rows that deviate.
    pub deviating: u64,
}

/// Which dependencies are looked for.
#[derive(Debug, Clone)]
pub struct DependencySearch<'a> {
    /// The columns that may be on the left.
    pub from: &'a [usize],
    /// The columns that may be on the right; a column does not determine itself.
    pub to: &'a [usize],
    /// The share of rows that may deviate.
    pub tolerance: Ratio,
}

/// The probability with which chance alone may make any of the dependencies that were examined.
const CHANCE: f64 = 0.001;

/// Left sides of two columns are examined up to this many columns; beyond, single ones alone.
pub const PAIRED_MAX: usize = 64;

/// The dependencies of a table, none of which follows from another one with a smaller left side.
/// `None` where the engine does not show its rows.
pub fn find(
    engine: &dyn Engine,
    wanted: &DependencySearch<'_>,
    progress: &dyn Progress,
) -> Result<Option<Vec<TableDependency>>, TableError> {
    let mut found = Vec::new();
    let pairs = pairs_of(wanted.from);
    let singles: Vec<Vec<usize>> = wanted.from.iter().map(|&column| vec![column]).collect();
    let tests = wanted.to.len() * (singles.len() + pairs.len());
    for sides in [singles, pairs] {
        // What one column determines, a pair with it does too.
        let candidates: Vec<(Vec<usize>, Vec<usize>)> = sides
            .into_iter()
            .map(|from| {
                let new = |to: &&usize| !from.contains(to) && !follows(&found, &from, **to);
                let to = wanted.to.iter().filter(new).copied().collect();
                (from, to)
            })
            .filter(|(_, to): &(Vec<usize>, Vec<usize>)| !to.is_empty())
            .collect();
        let Some(of_sides) = examine(engine, candidates, wanted.tolerance, tests, progress)? else { return Ok(None) };
        found.extend(of_sides);
    }
    Ok(Some(found))
}

/// The rows that deviate from dependencies that are given. `None` where the engine does not show
/// its rows.
pub fn deviating(
    engine: &dyn Engine,
    dependencies: &[(Vec<usize>, usize)],
    progress: &dyn Progress,
) -> Result<Option<Vec<u64>>, TableError> {
    let tallies =
        dependencies.iter().map(|(from, to)| DependencyTally::new(engine, from, &[*to], Sampling::All)).collect();
    let tallies = count(engine, tallies, progress)?;
    Ok(tallies.map(|tallies| tallies.iter().map(|tally| tally.evidence(0).deviating).collect()))
}

fn pairs_of(columns: &[usize]) -> Vec<Vec<usize>> {
    if columns.len() > PAIRED_MAX {
        return Vec::new();
    }
    let pairs =
        columns.iter().enumerate().flat_map(|(index, &a)| columns[index + 1..].iter().map(move |&b| vec![a, b]));
    pairs
        .map(|mut pair: Vec<usize>| {
            pair.sort_unstable();
            pair
        })
        .collect()
}

fn follows(found: &[TableDependency], from: &[usize], to: usize) -> bool {
    found.iter().any(|known| known.to == to && known.from.iter().all(|column| from.contains(column)))
}

fn examine(
    engine: &dyn Engine,
    candidates: Vec<(Vec<usize>, Vec<usize>)>,
    tolerance: Ratio,
    tests: usize,
    progress: &dyn Progress,
) -> Result<Option<Vec<TableDependency>>, TableError> {
    let rows = engine.profile().rows as u64;
    let counts = |column: usize| &engine.profile().columns[column].counts;
    let most_frequent = |column: usize| counts(column).iter().copied().max().unwrap_or(0);
    let mut left = candidates;
    if rows > tally::SAMPLE_ROWS {
        let sampled =
            left.iter().map(|(from, to)| DependencyTally::new(engine, from, to, Sampling::of(engine, from))).collect();
        let Some(sampled) = count(engine, sampled, progress)? else { return Ok(None) };
        left = sampled.iter().filter_map(|tally| tally.not_refuted(tolerance)).collect();
    }
    let exact = left.iter().map(|(from, to)| DependencyTally::new(engine, from, to, Sampling::All)).collect();
    let Some(exact) = count(engine, exact, progress)? else { return Ok(None) };
    let mut found = Vec::new();
    for tally in &exact {
        for (index, &to) in tally.to.iter().enumerate() {
            let evidence = tally.evidence(index);
            if evidence.deviating <= tolerance.floor_of(rows) && evidence.is_real(rows, most_frequent(to), tests) {
                found.push(TableDependency { from: tally.from.clone(), to, deviating: evidence.deviating });
            }
        }
    }
    found.sort_by(|a, b| a.from.cmp(&b.from).then_with(|| a.to.cmp(&b.to)));
    Ok(Some(found))
}

/// One scan for all tallies. `None` where the engine does not show its rows.
fn count(
    engine: &dyn Engine,
    mut tallies: Vec<DependencyTally>,
    progress: &dyn Progress,
) -> Result<Option<Vec<DependencyTally>>, TableError> {
    if tallies.is_empty() {
        return Ok(Some(tallies));
    }
    let mut columns: Vec<usize> =
        tallies.iter().flat_map(|tally| tally.from.iter().chain(&tally.to)).copied().collect();
    columns.sort_unstable();
    columns.dedup();
    let mut first = 0;
    let scanned = engine.scan(&columns, progress, &mut |chunks| {
        let mut starts = Vec::with_capacity(chunks.len());
        for chunk in &chunks {
            starts.push(first);
            first += chunk.first().map_or(0, Codes::len) as u64;
        }
        parallel::map_items(tallies.iter_mut(), |_, tally| {
            for (chunk, &start) in chunks.iter().zip(&starts) {
                tally.add(&columns, chunk, start);
            }
        });
        Ok(())
    })?;
    Ok(match scanned {
        EngineAnswer::Exact(()) => Some(tallies),
        EngineAnswer::Unsupported(_) => None,
    })
}

/// How a dependency fares in some rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Evidence {
    deviating: u64,
    /// Rows that have another row before them with the same left side.
    repeated: u64,
}

impl Evidence {
    /// Whether chance alone would hardly make it, among this number of tests.
    fn is_real(self, rows: u64, most_frequent: u64, tests: usize) -> bool {
        let Evidence { deviating, repeated } = self;
        if rows == 0 || most_frequent >= rows {
            return false;
        }
        let share = most_frequent as f64 / rows as f64;
        let agreeing = repeated.saturating_sub(deviating) as f64;
        let chosen = match deviating {
            0 => 0.0,
            _ => deviating as f64 * (std::f64::consts::E * rows as f64 / deviating as f64).ln(),
        };
        let evidence = -share.ln() * agreeing - chosen;
        evidence.partial_cmp(&(tests.max(1) as f64 / CHANCE).ln()) == Some(Ordering::Greater)
    }
}

#[cfg(test)]
mod tests;
