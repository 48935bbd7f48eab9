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
//! The work is done on codes. Left sides that cannot repeat often enough to be evidence are not
//! looked at. Pairs of rows that disagree refute nearly all of the others in a sample that is
//! collected once. A scan counts a sample for each left side that remains (whole groups where there
//! are many); another one counts what is left exactly. Of left sides that hardly repeat, a scan
//! before it marks those that may, so that the rows of others are passed over.

mod repeats;
mod sample;
mod tally;

use std::cmp::Ordering;

use crate::engine::{CodeChunk, Engine, EngineAnswer};
use crate::{Codes, Progress, Ratio, TableError, parallel};
use sample::Sample;
use tally::{DependencyTally, GroupedTally, Sampling};

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

/// Bytes of rows that are collected in one scan; more left sides are counted in several.
const COLLECTED_BYTES_MAX: u64 = 1 << 28;

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
    let sample = if engine.profile().rows as u64 > sample::ROWS_MIN {
        let columns = wanted.from.iter().chain(wanted.to).copied().collect();
        let Some(sample) = Sample::collect(engine, columns, progress)? else { return Ok(None) };
        Some(sample)
    } else {
        None
    };
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
        let terms = Criteria { tolerance: wanted.tolerance, tests, sample: sample.as_ref() };
        let Some(of_sides) = examine(engine, &candidates, terms, progress)? else { return Ok(None) };
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
    // None deviates in more rows than there are.
    let deviating = |tally: &GroupedTally| tally.evidence(0, u64::MAX).map_or(0, |evidence| evidence.deviating);
    count(engine, tallies, progress, deviating)
}

/// Whether chance alone would hardly make a dependency that holds in all rows, among this number of
/// dependencies that were examined. The left side has `values` different values; `most_frequent`
/// rows have the most frequent value of the right side.
pub fn holds_beyond_chance(rows: u64, values: u64, most_frequent: u64, tests: usize) -> bool {
    Evidence { deviating: 0, repeated: rows.saturating_sub(values) }.is_real(rows, most_frequent, tests)
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

/// A left side with the right sides that it may determine.
struct Candidate {
    from: Vec<usize>,
    to: Vec<usize>,
    /// Whether most left sides occur once, as far as is known.
    mostly_unique: bool,
}

impl Candidate {
    fn new(from: &[usize], to: &[usize], mut is_possible: impl FnMut(usize) -> bool) -> Option<Candidate> {
        let to: Vec<usize> =
            to.iter().copied().enumerate().filter(|(at, _)| is_possible(*at)).map(|(_, to)| to).collect();
        (!to.is_empty()).then(|| Candidate { from: from.to_vec(), to, mostly_unique: false })
    }
}

/// The criteria for candidates.
#[derive(Clone, Copy)]
struct Criteria<'a> {
    tolerance: Ratio,
    /// How many dependencies are examined in all.
    tests: usize,
    sample: Option<&'a Sample>,
}

fn examine(
    engine: &dyn Engine,
    candidates: &[(Vec<usize>, Vec<usize>)],
    Criteria { tolerance, tests, sample }: Criteria<'_>,
    progress: &dyn Progress,
) -> Result<Option<Vec<TableDependency>>, TableError> {
    let profile = engine.profile();
    let rows = profile.rows as u64;
    let counts = profile.columns.iter().map(|column| &column.counts);
    let most_frequent: Vec<u64> = counts.clone().map(|counts| counts.iter().copied().max().unwrap_or(0)).collect();
    let values: Vec<u64> = counts.map(|counts| counts.iter().filter(|&&rows| rows > 0).count() as u64).collect();
    // The evidence at best: no row deviates.
    let may_be_real = |repeated: u64, to: usize| {
        let best = Evidence { deviating: 0, repeated };
        best.is_real(rows, most_frequent[to], tests)
    };
    let left = candidates.iter().filter_map(|(from, to)| {
        // Together, columns have at least as many values as each of them.
        let repeated = rows.saturating_sub(from.iter().map(|&column| values[column]).max().unwrap_or(0));
        Candidate::new(from, to, |at| may_be_real(repeated, to[at]))
    });
    let mut left: Vec<Candidate> = left.collect();
    if let Some(sample) = sample {
        left = sample.not_refuted(left, tolerance);
    }
    if rows > tally::SAMPLE_ROWS {
        let sampled = left.iter();
        let sampled = sampled
            .map(|Candidate { from, to, .. }| DependencyTally::new(engine, from, to, Sampling::of(engine, from)));
        let not_refuted = count(engine, sampled.collect(), progress, |tally| {
            let most = most_in_sample(tolerance, tally.rows);
            let left = Candidate::new(&tally.from, &tally.to, |at| tally.evidence(at, most).is_some());
            left.map(|left| Candidate { mostly_unique: 2 * tally.repeated() < tally.rows, ..left })
        })?;
        let Some(not_refuted) = not_refuted else { return Ok(None) };
        left = not_refuted.into_iter().flatten().collect();
    }
    let exact = left.iter().map(|Candidate { from, to, mostly_unique }| {
        let tally = DependencyTally::new(engine, from, to, Sampling::All);
        if *mostly_unique { tally.passing_over_unique(rows) } else { tally }
    });
    let found = count(engine, exact.collect(), progress, |tally| {
        let sides = tally.to.iter().enumerate().filter(|(_, to)| may_be_real(tally.repeated(), **to));
        let found = sides.filter_map(|(at, &to)| {
            let evidence = tally.evidence(at, tolerance.floor_of(rows))?;
            let is_real = evidence.is_real(rows, most_frequent[to], tests);
            is_real.then(|| TableDependency { from: tally.from.clone(), to, deviating: evidence.deviating })
        });
        found.collect::<Vec<_>>()
    })?;
    let Some(found) = found else { return Ok(None) };
    let mut found: Vec<TableDependency> = found.into_iter().flatten().collect();
    found.sort_by(|a, b| a.from.cmp(&b.from).then_with(|| a.to.cmp(&b.to)));
    Ok(Some(found))
}

/// A sample deviates in no larger share of rows than the table, but for chance: twice the tolerance
/// and a few rows more are far beyond that.
fn most_in_sample(tolerance: Ratio, rows: u64) -> u64 {
    2 * tolerance.floor_of(rows) + 16
}

/// Judges each tally with its rows. `None` where the engine does not show its rows.
fn count<T: Send>(
    engine: &dyn Engine,
    tallies: Vec<DependencyTally>,
    progress: &dyn Progress,
    judge: impl Fn(&GroupedTally) -> T + Sync,
) -> Result<Option<Vec<T>>, TableError> {
    let rows = engine.profile().rows as u64;
    let mut judged = Vec::with_capacity(tallies.len());
    let mut tallies = tallies.into_iter().peekable();
    while let Some(first) = tallies.next() {
        let mut bytes = first.bytes(rows);
        let mut together = vec![first];
        while let Some(tally) = tallies.next_if(|tally| bytes + tally.bytes(rows) <= COLLECTED_BYTES_MAX) {
            bytes += tally.bytes(rows);
            together.push(tally);
        }
        let mut marking: Vec<&mut DependencyTally> =
            together.iter_mut().filter(|tally| tally.passes_over_unique()).collect();
        let mut left: Vec<usize> = marking.iter().flat_map(|tally| &tally.from).copied().collect();
        let mark = |tally: &mut DependencyTally, columns: &[usize], chunk: &CodeChunk, _| tally.mark(columns, chunk);
        if !left.is_empty() && !scan(engine, &mut left, &mut marking, progress, mark)? {
            return Ok(None);
        }
        let mut all: Vec<usize> =
            together.iter().flat_map(|tally| tally.from.iter().chain(&tally.to)).copied().collect();
        let add =
            |tally: &mut DependencyTally, columns: &[usize], chunk: &CodeChunk, first| tally.add(columns, chunk, first);
        if !scan(engine, &mut all, &mut together.iter_mut().collect::<Vec<_>>(), progress, add)? {
            return Ok(None);
        }
        judged.extend(parallel::map_items(together, |_, tally| judge(&tally.grouped())));
    }
    Ok(Some(judged))
}

/// One scan for all tallies: `visit` gets the columns, a chunk with them, and the number of its
/// first row. False where the engine does not show its rows.
fn scan(
    engine: &dyn Engine,
    columns: &mut Vec<usize>,
    tallies: &mut [&mut DependencyTally],
    progress: &dyn Progress,
    visit: impl Fn(&mut DependencyTally, &[usize], &CodeChunk, u64) + Sync,
) -> Result<bool, TableError> {
    columns.sort_unstable();
    columns.dedup();
    let columns: &[usize] = columns;
    let mut first = 0;
    let scanned = engine.scan(columns, progress, &mut |chunks| {
        let mut starts = Vec::with_capacity(chunks.len());
        for chunk in &chunks {
            starts.push(first);
            first += chunk.first().map_or(0, Codes::len) as u64;
        }
        parallel::map_items(tallies.iter_mut(), |_, tally| {
            for (chunk, &start) in chunks.iter().zip(&starts) {
                visit(tally, columns, chunk, start);
            }
        });
        Ok(())
    })?;
    Ok(matches!(scanned, EngineAnswer::Exact(())))
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
