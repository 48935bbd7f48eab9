//! The workload of Jin and others 2010, section 6.1: every query selects by `dimension` attributes,
//! each for a random set of `share` of its values; the error is |true − estimate| / true. A query
//! that selects no row has no relative error and is drawn again.

use std::ops::Range;

use hedgerow_table::parallel;
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use serde::Serialize;

use super::MaxLikelihood;
use super::lanes::{LANES, Selected, Selection};

/// The most queries drawn for each one requested: beyond, those that select a row are too rare.
const DRAWS_MAX: usize = 20;

/// The workload.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CountQueries {
    /// The number of queries.
    #[serde(skip)]
    pub count: usize,
    /// The seed that they are drawn with.
    pub seed: u64,
    /// The paper's qd: how many attributes a query has; all where there are fewer.
    pub dimension: usize,
    /// The paper's p: which share of an attribute's values it selects, at least one value.
    pub share: f64,
}

impl Default for CountQueries {
    fn default() -> Self {
        CountQueries { count: 1000, seed: 1, dimension: 3, share: 0.4 }
    }
}

/// How far off the answers to random count queries were.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CountQueryError {
    /// How many queries selected a row.
    #[serde(rename = "count")]
    pub answered: usize,
    /// The queries that were drawn.
    #[serde(flatten)]
    pub queries: CountQueries,
    /// Errors relative to the true count.
    pub relative_error: RelativeError,
}

/// Relative errors of count queries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RelativeError {
    /// Over all queries.
    pub mean: f64,
    /// Half of the queries are off by no more.
    pub median: f64,
}

impl MaxLikelihood<'_> {
    /// `source` has one column of codes for every attribute. `None` when no query selected a row.
    pub fn query_error(&self, source: &[Vec<u32>], queries: CountQueries) -> Option<CountQueryError> {
        let mut errors: Vec<f64> = Vec::with_capacity(queries.count);
        let mut drawn = 0;
        while errors.len() < queries.count && drawn < queries.count * DRAWS_MAX {
            let batch = drawn..drawn + queries.count - errors.len();
            drawn = batch.end;
            errors.extend(self.errors(source, queries, batch));
        }
        let answered = errors.len();
        let mean = errors.iter().sum::<f64>() / answered as f64;
        errors.sort_unstable_by(f64::total_cmp);
        let median = (errors.get(answered.checked_sub(1)? / 2)? + errors[answered / 2]) / 2.0;
        Some(CountQueryError { queries, answered, relative_error: RelativeError { mean, median } })
    }

    /// The errors of the queries with these numbers that select a row, in the order of their
    /// numbers.
    fn errors(&self, source: &[Vec<u32>], queries: CountQueries, numbers: Range<usize>) -> Vec<f64> {
        let query = |number: usize| {
            let seed = queries.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number as u64);
            self.draw(queries, &mut StdRng::seed_from_u64(seed))
        };
        let drawn: Vec<Selected> = numbers.map(query).collect();
        let kinds = parallel::map_ranges(drawn.len(), LANES, |range| {
            let selection = Selection::new(&drawn[range.clone()], self.cardinalities);
            (0..range.len()).map(|lane| self.tables_of(&selection, lane)).collect::<Vec<u64>>()
        });
        let kinds = kinds.concat();
        let mut order: Vec<usize> = (0..drawn.len()).collect();
        order.sort_by_key(|&place| kinds[place]);
        let found = parallel::map_ranges(order.len(), LANES, |range| {
            let together: Vec<Selected> = order[range.clone()].iter().map(|&place| drawn[place].clone()).collect();
            let selection = Selection::new(&together, self.cardinalities);
            let (truth, expected) = (selection.counts(source), self.expected_lanes(&selection));
            truth.into_iter().zip(expected).take(range.len()).collect::<Vec<(u64, f64)>>()
        });
        let mut errors: Vec<Option<f64>> = vec![None; drawn.len()];
        for (&place, (truth, expected)) in order.iter().zip(found.into_iter().flatten()) {
            errors[place] = (truth > 0).then(|| (truth as f64 - expected).abs() / truth as f64);
        }
        errors.into_iter().flatten().collect()
    }

    fn draw(&self, queries: CountQueries, rng: &mut StdRng) -> Selected {
        let mut attributes: Vec<usize> = (0..self.cardinalities.len()).collect();
        attributes.shuffle(rng);
        attributes.truncate(queries.dimension);
        let predicate = |attribute: usize| {
            let values = self.cardinalities[attribute];
            let wanted = ((values as f64 * queries.share).round() as usize).clamp(1, values.max(1));
            let mut chosen: Vec<bool> = (0..values).map(|value| value < wanted).collect();
            chosen.shuffle(rng);
            (attribute, chosen)
        };
        attributes.into_iter().map(predicate).collect()
    }
}
