//! The workload of Jin and others 2010, section 6.1: every query asks about `dimension` attributes, each for a random set of
//! `share` of its values; the error is |true − estimate| / true. A query that nobody answers has no relative error and is
//! drawn again.

use hedgerow_table::parallel;
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

use super::Joint;

/// Beyond so many draws for every query that is to be asked, those that somebody answers are too rare.
const DRAWS_MAX: usize = 20;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CountQueries {
    pub count: usize,
    pub seed: u64,
    /// The paper's qd: how many attributes a query asks about; all where there are fewer.
    pub dimension: usize,
    /// The paper's p: which share of an attribute's values it asks for, at least one value.
    pub share: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CountQueryError {
    pub asked: CountQueries,
    /// How many queries somebody answered.
    pub answered: usize,
    pub mean: f64,
    pub median: f64,
}

impl Joint<'_> {
    /// `source` has one column of codes for every attribute. `None` when no query was answered by anybody.
    pub fn query_error(&self, source: &[Vec<u32>], asked: CountQueries) -> Option<CountQueryError> {
        let mut errors: Vec<f64> = Vec::with_capacity(asked.count);
        let mut drawn = 0;
        while errors.len() < asked.count && drawn < asked.count * DRAWS_MAX {
            let batch = drawn..drawn + asked.count - errors.len();
            drawn = batch.end;
            // In the order of their numbers, whoever answers them.
            let found = parallel::map_items(batch, |_, number| self.error(source, asked, number));
            errors.extend(found.into_iter().flatten());
        }
        let answered = errors.len();
        let mean = errors.iter().sum::<f64>() / answered as f64;
        errors.sort_unstable_by(f64::total_cmp);
        let median = (errors.get(answered.checked_sub(1)? / 2)? + errors[answered / 2]) / 2.0;
        Some(CountQueryError { asked, answered, mean, median })
    }

    fn error(&self, source: &[Vec<u32>], asked: CountQueries, number: usize) -> Option<f64> {
        let mut rng = StdRng::seed_from_u64(asked.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number as u64));
        let query = self.draw(asked, &mut rng);
        let rows = 0..source.first().map_or(0, Vec::len);
        let fits = |row: &usize| query.iter().all(|(attribute, wanted)| wanted[source[*attribute][*row] as usize]);
        let truth = rows.filter(fits).count() as f64;
        (truth > 0.0).then(|| (truth - self.expected(&query)).abs() / truth)
    }

    fn draw(&self, asked: CountQueries, rng: &mut StdRng) -> Vec<(usize, Vec<bool>)> {
        let mut attributes: Vec<usize> = (0..self.cardinalities.len()).collect();
        attributes.shuffle(rng);
        attributes.truncate(asked.dimension);
        let predicate = |attribute: usize| {
            let values = self.cardinalities[attribute];
            let wanted = ((values as f64 * asked.share).round() as usize).clamp(1, values.max(1));
            let mut chosen: Vec<bool> = (0..values).map(|value| value < wanted).collect();
            chosen.shuffle(rng);
            (attribute, chosen)
        };
        attributes.into_iter().map(predicate).collect()
    }
}
