//! How wrong means and quartiles of a sensitive number come out for someone who works with the
//! release.
//!
//! Two queries, both answered from the release and compared with the source:
//! - *by value*: the people with one value of a quasi attribute. The release says only which cells
//!   or buckets they may be in, so each group counts by its share: a cell's rows are spread evenly
//!   over the values it covers; within a bucket every row may carry any of its sensitive values.
//! - *by class*: the people whose quasi values fall into the cells of a class. Its rows are what
//!   was released of them, so this is what suppression costs; where cells overlap, also what it
//!   costs that a class holds only some of the people whom its cells describe. In a bucketized
//!   release quasi values are untouched: a class is the people who share all of them, and each
//!   counts by the shares of their buckets; in a cloned one every person counts by the shares that
//!   all classes have.
//!
//! Errors are absolute differences, averaged over the people of the query (a group counts by its
//! rows in the source), in the attribute's own unit (days for dates). Missing numbers are omitted
//! on both sides. A value of which nothing was released is estimated by all released rows.

use hashbrown::HashMap;
use hedgerow_table::{Codes, Domain, parallel};
use rayon::prelude::*;
use serde::{Serialize, Serializer};

pub(crate) use buckets::of_buckets;
pub(crate) use cells::of_cells;
pub(crate) use clones::of_clones;

mod buckets;
mod cells;
mod clones;
#[cfg(test)]
mod tests;

/// Rows whose codes are joined together.
const ROWS_AT_ONCE: usize = 1 << 16;

/// Mean, lower quartile, median, upper quartile.
const STATISTICS: [&str; 4] = ["mean", "lower_quartile", "median", "upper_quartile"];

/// The errors of means and quartiles of one sensitive number.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NumberError {
    #[serde(skip)]
    pub attribute: String,
    /// The standard deviation in the source: what an error can be compared with.
    #[serde(rename = "standard_deviation")]
    pub deviation: f64,
    #[serde(serialize_with = "by_statistic")]
    pub by_class: [f64; 4],
    /// For every quasi-identifier.
    #[serde(serialize_with = "by_attribute")]
    pub by_value: Vec<(String, [f64; 4])>,
}

/// Mean absolute errors of the four statistics by name.
fn by_statistic<S: Serializer>(errors: &[f64; 4], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(STATISTICS.iter().zip(errors))
}

fn by_attribute<S: Serializer>(by_value: &[(String, [f64; 4])], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(by_value.iter().map(|(name, errors)| (name, ByStatistic(errors))))
}

struct ByStatistic<'a>(&'a [f64; 4]);

impl Serialize for ByStatistic<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        by_statistic(self.0, serializer)
    }
}

/// Sensitive codes of the source's domain with their weights, gathered for one group of people.
#[derive(Debug, Clone)]
pub(crate) struct Gathered<'a> {
    numbers: &'a [Option<f64>],
    weights: Vec<f64>,
    touched: Vec<u32>,
}

/// The number behind every code of a domain; `None` when its values are not numbers.
pub(crate) fn numbers(domain: &Domain) -> Option<Vec<Option<f64>>> {
    let numbers: Vec<Option<f64>> = (0..domain.cardinality() as u32).map(|code| domain.number(code)).collect();
    numbers.iter().any(Option::is_some).then_some(numbers)
}

impl<'a> Gathered<'a> {
    pub(crate) fn new(numbers: &'a [Option<f64>]) -> Gathered<'a> {
        Gathered { numbers, weights: vec![0.0; numbers.len()], touched: Vec::new() }
    }

    pub(crate) fn add(&mut self, code: u32, weight: f64) {
        if self.numbers[code as usize].is_none() {
            return;
        }
        let gathered = &mut self.weights[code as usize];
        if *gathered == 0.0 {
            self.touched.push(code);
        }
        *gathered += weight;
    }

    /// Mean and quartiles of what was gathered, which is forgotten then. A quartile is the smallest
    /// number that at least its share of the weight does not exceed.
    pub(crate) fn take(&mut self) -> Option<[f64; 4]> {
        // Shares that add up to a quarter may miss it by their rounding.
        const SLACK: f64 = 1e-9;
        self.touched.sort_unstable();
        let pairs: Vec<(f64, f64)> = self
            .touched
            .iter()
            .filter_map(|&code| Some((self.numbers[code as usize]?, self.weights[code as usize])))
            .collect();
        self.touched.drain(..).for_each(|code| self.weights[code as usize] = 0.0);
        let total: f64 = pairs.iter().map(|(_, weight)| weight).sum();
        if total <= 0.0 {
            return None;
        }
        let mean = pairs.iter().map(|(number, weight)| number * weight).sum::<f64>() / total;
        let quantile = |share: f64| {
            let mut before = 0.0;
            let quantile = pairs.iter().find(|(_, weight)| {
                before += weight;
                before >= (share - SLACK) * total
            });
            quantile.or(pairs.last()).map_or(mean, |(number, _)| *number)
        };
        Some([mean, quantile(0.25), quantile(0.5), quantile(0.75)])
    }
}

/// Mean absolute errors over groups, each weighing as many people as it has.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Averaged {
    sums: [f64; 4],
    people: f64,
}

impl Averaged {
    pub(crate) fn add(&mut self, people: u64, truth: [f64; 4], estimate: [f64; 4]) {
        self.people += people as f64;
        for (sum, (truth, estimate)) in self.sums.iter_mut().zip(truth.into_iter().zip(estimate)) {
            *sum += people as f64 * (truth - estimate).abs();
        }
    }

    pub(crate) fn errors(self) -> [f64; 4] {
        self.sums.map(|sum| if self.people > 0.0 { sum / self.people } else { 0.0 })
    }
}

/// Two codes as one, in the order of the first.
fn key(first: u32, second: u32) -> u64 {
    u64::from(first) << 32 | u64::from(second)
}

/// Rows of two columns counted: for every code of the first, the codes of the second with their
/// rows.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    starts: Vec<usize>,
    counts: Vec<(u32, u32)>,
}

impl Pairs {
    pub(crate) fn of_columns(first: &Codes, cardinality: usize, second: &Codes) -> Pairs {
        Pairs::count(|row| first.get(row), cardinality, second)
    }

    /// Rows whose first code is beyond the cardinality are omitted.
    pub(crate) fn count(first: impl Fn(usize) -> u32 + Sync, cardinality: usize, second: &Codes) -> Pairs {
        let pieces = parallel::map_ranges(second.len(), ROWS_AT_ONCE, |rows| {
            rows.map(|row| key(first(row), second.get(row))).collect::<Vec<u64>>()
        });
        Pairs::of_keys(pieces.concat(), cardinality)
    }

    /// Pairs made by [`key`].
    fn of_keys(mut keys: Vec<u64>, cardinality: usize) -> Pairs {
        keys.par_sort_unstable();
        let mut pairs = Pairs { starts: vec![0; cardinality + 1], counts: Vec::new() };
        keys.truncate(keys.partition_point(|key| (key >> 32) < cardinality as u64));
        for run in keys.chunk_by(|a, b| a == b) {
            pairs.counts.push((run[0] as u32, run.len() as u32));
            pairs.starts[(run[0] >> 32) as usize + 1] = pairs.counts.len();
        }
        for code in 0..cardinality {
            pairs.starts[code + 1] = pairs.starts[code + 1].max(pairs.starts[code]);
        }
        pairs
    }

    pub(crate) fn of(&self, code: usize) -> &[(u32, u32)] {
        &self.counts[self.starts[code]..self.starts[code + 1]]
    }

    fn cardinality(&self) -> usize {
        self.starts.len() - 1
    }
}

/// Errors by value of one quasi attribute. `truth` counts the source's rows, `estimate`
/// gathers what the release shows of a value, and values with equal `alike` have the same
/// estimate.
pub(crate) fn by_value<K: std::hash::Hash + Eq>(
    numbers: &[Option<f64>],
    truth: &Pairs,
    everyone: [f64; 4],
    alike: impl Fn(usize) -> K,
    mut estimate: impl FnMut(usize, &mut Gathered<'_>),
) -> [f64; 4] {
    let mut gathered = Gathered::new(numbers);
    let mut estimates: HashMap<K, [f64; 4]> = HashMap::new();
    let mut averaged = Averaged::default();
    for value in 0..truth.cardinality() {
        let rows = truth.of(value);
        rows.iter().for_each(|&(code, count)| gathered.add(code, f64::from(count)));
        let Some(right) = gathered.take() else { continue };
        let estimated = estimates.entry(alike(value)).or_insert_with(|| {
            estimate(value, &mut gathered);
            gathered.take().unwrap_or(everyone)
        });
        let people =
            rows.iter().filter(|(code, _)| numbers[*code as usize].is_some()).map(|(_, count)| u64::from(*count));
        averaged.add(people.sum(), right, *estimated);
    }
    averaged.errors()
}

/// The standard deviation of a column's numbers.
pub(crate) fn deviation(numbers: &[Option<f64>], counts: &[u64]) -> f64 {
    let pairs = || numbers.iter().zip(counts).filter_map(|(number, &count)| Some(((*number)?, count as f64)));
    let rows: f64 = pairs().map(|(_, count)| count).sum();
    if rows == 0.0 {
        return 0.0;
    }
    let mean = pairs().map(|(number, count)| number * count).sum::<f64>() / rows;
    (pairs().map(|(number, count)| (number - mean).powi(2) * count).sum::<f64>() / rows).sqrt()
}

/// Mean and quartiles of all released rows; `None` when no number was released.
pub(crate) fn of_everyone(
    numbers: &[Option<f64>],
    released: &[u64],
    source_code: impl Fn(u32) -> u32,
) -> Option<[f64; 4]> {
    let mut gathered = Gathered::new(numbers);
    (0..).zip(released).for_each(|(code, &count)| gathered.add(source_code(code), count as f64));
    gathered.take()
}
