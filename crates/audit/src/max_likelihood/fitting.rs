//! Iterative proportional fitting (Deming, Stephan 1940): the maximum-likelihood estimate behind
//! tables in a ring, which has no closed form.
//!
//! Among all tables with the published counts it is the one with the largest entropy; equally, the
//! product of one factor for each published table (a log-linear model) that has the published
//! counts. A combination of values that some table has no row of has none in the estimate, so only
//! combinations in the join of all tables are kept. Starting from equal weights, the weights are
//! scaled to the counts of one table after the other until all are met.
//!
//! The number of a bucket is a variable like others until the end, and is then summed out. Rows
//! whose sensitive values were not released have a known number and nothing more.

use hashbrown::HashMap;
use serde::Serialize;

use super::NoEstimate;
use super::cyclic::Ring;
use super::factor::Factor;
use super::keys::{Numbers, packed};

/// The most combinations of values in the join of the tables of a ring.
pub(super) const COMBINATIONS_MAX: usize = 1 << 21;

/// Every published count is met up to this share of all rows.
pub(super) const TOLERANCE: f64 = 1e-9;

/// The most passes over the tables, and the most weights scaled in all passes together.
const PASSES_MAX: usize = 10_000;
const SCALED_MAX: usize = 1 << 31;

/// The effort of fitting the tables of one ring, and its outcome.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fit {
    /// The attributes of the ring, by number.
    #[serde(skip)]
    pub attributes: Vec<usize>,
    /// Combinations of values that the estimate covers.
    pub combinations: usize,
    /// Passes over the tables of the ring.
    pub passes: usize,
    /// By how many rows the estimate misses a published count at most.
    pub deviation: f64,
    /// Whether that is within 10⁻⁹ of all rows; fitting ends after 10,000 passes, earlier in large
    /// rings.
    pub converged: bool,
}

/// The rows of one table of a ring, by combinations of its variables.
struct Margin {
    variables: Vec<usize>,
    columns: Vec<Vec<u32>>,
    counts: Vec<f64>,
    /// The row, and all after it, that are known only by their sum.
    summed_from: usize,
}

/// Fits the tables of a ring: the factor that stands for all of them, and those that it replaces.
pub(super) fn fit(
    ring: &Ring,
    factors: &[Factor],
    attributes: usize,
    rows: f64,
) -> Result<(Factor, Fit, Vec<usize>), NoEstimate> {
    let is_bucket = |variable: &usize| *variable >= attributes;
    let bucket_of = |factor: usize| factors[factor].variables.iter().copied().find(is_bucket);
    let mut margins: Vec<Margin> = Vec::new();
    let mut replaced: Vec<usize> = Vec::new();
    for (table, shared) in &ring.tables {
        // A bucketized table of which the ring needs the buckets is in it with both sides.
        let whole = shared.iter().any(is_bucket) || factors[*table].lists_unreleased || factors[*table].has_any_value();
        let other = |other: &usize| other != table && bucket_of(*other) == bucket_of(*table);
        let sides = (0..factors.len()).filter(other).filter(|_| whole).chain([*table]);
        for side in sides.filter(|side| !replaced.contains(side)).collect::<Vec<usize>>() {
            let kept = if whole { &factors[side].variables } else { shared };
            if kept.len() == factors[side].variables.len() {
                replaced.push(side);
            }
            margins.push(Margin::new(&factors[side], kept)?);
        }
    }
    let joined = join(&margins)?;
    let (weights, passes, deviation) = scaled(&margins, &joined, rows);
    let kept: Vec<usize> = (0..joined.variables.len()).filter(|&place| !is_bucket(&joined.variables[place])).collect();
    let fit = Fit {
        attributes: kept.iter().map(|&place| joined.variables[place]).collect(),
        combinations: joined.rows,
        passes,
        deviation,
        converged: deviation <= TOLERANCE * rows,
    };
    let mut columns = joined.columns;
    let columns = kept.iter().map(|&place| std::mem::take(&mut columns[place])).collect();
    Ok((Factor::fitted(fit.attributes.clone(), columns, &weights), fit, replaced))
}

impl Margin {
    /// A factor by some of its variables.
    fn new(factor: &Factor, kept: &[usize]) -> Result<Margin, NoEstimate> {
        if factor.has_any_value() {
            return Err(NoEstimate::Unreleased);
        }
        let buckets = factor.bucket_codes();
        let column = |variable: &usize| {
            let place = factor.variables.iter().position(|own| own == variable);
            place.and_then(|place| factor.columns.get(place)).unwrap_or(&buckets).as_slice()
        };
        let columns: Vec<&[u32]> = kept.iter().map(column).collect();
        if kept.len() == factor.variables.len() {
            let columns = columns.iter().map(|column| column.to_vec()).collect();
            let last = factor.starts.len().saturating_sub(2);
            let summed_from = if factor.lists_unreleased { factor.starts[last] } else { factor.counts.len() };
            return Ok(Margin { variables: kept.to_vec(), columns, counts: factor.counts.clone(), summed_from });
        }
        let keys = packed(std::slice::from_ref(&columns), &[factor.counts.len()]).remove(0);
        let (mut first, mut counts): (Vec<usize>, Vec<f64>) = (Vec::new(), Vec::new());
        for (row, number) in Numbers::default().of(&keys).into_iter().enumerate() {
            if number as usize == counts.len() {
                counts.push(0.0);
                first.push(row);
            }
            counts[number as usize] += factor.counts[row];
        }
        let columns = columns.iter().map(|column| first.iter().map(|&row| column[row]).collect()).collect();
        Ok(Margin { variables: kept.to_vec(), columns, summed_from: counts.len(), counts })
    }

    fn columns_of(&self, variables: &[usize]) -> Vec<&[u32]> {
        columns_of(&self.variables, &self.columns, variables)
    }
}

fn columns_of<'c>(own: &[usize], columns: &'c [Vec<u32>], variables: &[usize]) -> Vec<&'c [u32]> {
    let place = |variable: &usize| own.iter().position(|own| own == variable);
    variables.iter().filter_map(place).map(|place| columns[place].as_slice()).collect()
}

/// All combinations of values that every table has rows of.
#[derive(Default)]
struct JoinedCombinations {
    variables: Vec<usize>,
    columns: Vec<Vec<u32>>,
    rows: usize,
}

fn join(margins: &[Margin]) -> Result<JoinedCombinations, NoEstimate> {
    let mut joined = JoinedCombinations { rows: 1, ..JoinedCombinations::default() };
    let mut left: Vec<&Margin> = margins.iter().collect();
    while !left.is_empty() {
        let shared = |margin: &Margin| -> Vec<usize> {
            margin.variables.iter().copied().filter(|own| joined.variables.contains(own)).collect()
        };
        // What is shared keeps the join small; among equals the shorter table does.
        let order = |place: &usize| (shared(left[*place]).len(), usize::MAX - left[*place].counts.len());
        let Some(next) = (0..left.len()).max_by_key(order) else { break };
        let margin = left.remove(next);
        let shared = shared(margin);
        joined = joined.with(margin, &shared)?;
    }
    Ok(joined)
}

impl JoinedCombinations {
    fn with(self, margin: &Margin, shared: &[usize]) -> Result<JoinedCombinations, NoEstimate> {
        let sides = [columns_of(&self.variables, &self.columns, shared), margin.columns_of(shared)];
        let keys = packed(&sides, &[self.rows, margin.counts.len()]);
        let mut of_key: HashMap<u64, Vec<usize>> = HashMap::new();
        keys[1].iter().enumerate().for_each(|(row, key)| of_key.entry(*key).or_default().push(row));
        let partners = |row: usize| of_key.get(&keys[0][row]).map_or(&[][..], Vec::as_slice);
        let rows: usize = (0..self.rows).map(|row| partners(row).len()).sum();
        if rows > COMBINATIONS_MAX {
            return Err(NoEstimate::TooLarge { combinations: rows });
        }
        let from_left = |column: &Vec<u32>| {
            (0..self.rows).flat_map(|row| std::iter::repeat_n(column[row], partners(row).len())).collect()
        };
        let mut columns: Vec<Vec<u32>> = self.columns.iter().map(from_left).collect();
        let mut variables = self.variables.clone();
        for (variable, column) in margin.variables.iter().zip(&margin.columns) {
            if !shared.contains(variable) {
                variables.push(*variable);
                columns.push((0..self.rows).flat_map(|row| partners(row).iter().map(|&other| column[other])).collect());
            }
        }
        Ok(JoinedCombinations { variables, columns, rows })
    }
}

/// The weight of every combination, the number of passes, and the largest deviation that is left.
fn scaled(margins: &[Margin], joined: &JoinedCombinations, rows: f64) -> (Vec<f64>, usize, f64) {
    // By margin: which of its counts each combination belongs to, and the counts.
    let targets: Vec<(Vec<u32>, Vec<f64>)> = margins.iter().map(|margin| targets(margin, joined)).collect();
    let mut weights = vec![1.0; joined.rows];
    let passes_max = PASSES_MAX.min(SCALED_MAX / (joined.rows * margins.len()).max(1)).max(1);
    let mut passes = 0;
    while passes < passes_max {
        passes += 1;
        let mut most = 0.0f64;
        for (of_row, wanted) in &targets {
            let have = sums(&weights, of_row, wanted.len());
            most = most.max(deviation(&have, wanted));
            let scale: Vec<f64> = have.iter().zip(wanted).map(|(have, wanted)| wanted / have.max(TINY)).collect();
            weights.iter_mut().zip(of_row).for_each(|(weight, &place)| *weight *= scale[place as usize]);
        }
        // What one pass still moves is about what the next would.
        if most <= TOLERANCE * rows / 2.0 {
            break;
        }
    }
    let left = targets.iter().map(|(of_row, wanted)| deviation(&sums(&weights, of_row, wanted.len()), wanted));
    let left = left.fold(0.0, f64::max);
    (weights, passes, left)
}

/// Smaller sums are nothing: their quotient would not be a number.
const TINY: f64 = 1e-300;

fn targets(margin: &Margin, joined: &JoinedCombinations) -> (Vec<u32>, Vec<f64>) {
    let sides =
        [margin.columns_of(&margin.variables), columns_of(&joined.variables, &joined.columns, &margin.variables)];
    let keys = packed(&sides, &[margin.counts.len(), joined.rows]);
    let mut wanted: Vec<f64> = margin.counts[..margin.summed_from].to_vec();
    wanted.extend(
        (margin.summed_from < margin.counts.len()).then(|| margin.counts[margin.summed_from..].iter().sum::<f64>()),
    );
    // The rows of a margin are distinct: their numbers are their places.
    let mut numbers = Numbers::default();
    numbers.of(&keys[0]);
    let place = |key: &u64| numbers.find(*key).unwrap_or(0).min(margin.summed_from as u32);
    (keys[1].iter().map(place).collect(), wanted)
}

fn sums(weights: &[f64], of_row: &[u32], places: usize) -> Vec<f64> {
    let mut sums = vec![0.0; places];
    weights.iter().zip(of_row).for_each(|(weight, &place)| sums[place as usize] += weight);
    sums
}

fn deviation(have: &[f64], wanted: &[f64]) -> f64 {
    have.iter().zip(wanted).map(|(have, wanted)| (have - wanted).abs()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests;
