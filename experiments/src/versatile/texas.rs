//! A synthetic table of the shape of the paper's second data set (its table 5b): 18 attributes with
//! domains from 2 to 17,432, and what UAD and single attributes make of it.

use std::time::Instant;

use hedgerow_audit::max_likelihood::CountQueries;
use hedgerow_publish::decompose::divergence::Divergence;
use hedgerow_publish::decompose::gd::gd;
use hedgerow_publish::decompose::uad::uad;
use hedgerow_publish::decompose::{Problem, single_attribute};
use hedgerow_table::Codes;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::drawn::{self, Drawn};
use super::{Decomposed, queries};
use crate::experiment::{Scale, Trouble};

const DOMAINS: [usize; 18] =
    [323, 2, 1581, 241, 22, 5, 3391, 3488, 3881, 4193, 4251, 1708, 24, 396, 297, 6, 15_000, 17_432];

/// The names of the two ways to publish that the paper compares on it.
pub(super) const NAMES: [&str; 2] = ["UAD", "single attributes"];

/// The table.
pub(super) struct Texas {
    columns: Vec<Codes>,
    source: Vec<Vec<u32>>,
    queries: usize,
}

/// UAD's tables and how long they took, and single attributes.
pub(super) struct Published {
    pub(super) seconds: f64,
    /// In the order of [`NAMES`].
    pub(super) ways: [Decomposed; 2],
}

impl Texas {
    pub(super) fn new(scale: Scale) -> Texas {
        let columns = columns(scale.of(177_148, 3000), &mut StdRng::seed_from_u64(1));
        let source = columns.iter().map(|column| column.iter().collect()).collect();
        Texas { columns, source, queries: queries(scale) }
    }

    pub(super) fn setting(&self, runs: usize) -> String {
        format!(
            "A synthetic table of {} rows and 18 attributes with domains from 2 to 17,432; the mean of {runs} random \
             irreducible rule sets.",
            self.columns[0].len()
        )
    }

    fn problem(&self, drawn: Drawn, seed: u64) -> Problem<'_> {
        let rules = drawn::rules(&mut StdRng::seed_from_u64(seed), &self.columns, &DOMAINS, drawn);
        Problem::new(self.columns.iter().collect(), DOMAINS.to_vec(), self.columns[0].len(), rules, &[])
    }

    pub(super) fn publish(&self, drawn: Drawn, seed: u64) -> Result<Published, Trouble> {
        let problem = self.problem(drawn, seed);
        let started = Instant::now();
        let tables = uad(&problem, &mut StdRng::seed_from_u64(seed)).map_err(|_| "these rules leave no tables")?;
        let seconds = started.elapsed().as_secs_f64();
        let mut divergence = Divergence::new(&problem);
        let by_uad = Decomposed::new(&problem, &mut divergence, &tables)?;
        let single = Decomposed::new(&problem, &mut divergence, &single_attribute(&problem))?;
        Ok(Published { seconds, ways: [by_uad, single] })
    }

    /// How long guardian decomposition takes.
    pub(super) fn gd_seconds(&self, drawn: Drawn, seed: u64) -> Result<f64, Trouble> {
        let problem = self.problem(drawn, seed);
        let mut divergence = Divergence::new(&problem);
        let started = Instant::now();
        gd(&problem, &mut divergence, &mut StdRng::seed_from_u64(seed)).map_err(|_| "these rules leave no tables")?;
        Ok(started.elapsed().as_secs_f64())
    }

    /// Mean relative errors in the order of [`NAMES`].
    pub(super) fn errors(&self, ways: &[Decomposed; 2], dimension: usize, share: f64) -> Result<[f64; 2], Trouble> {
        let queries = CountQueries { count: self.queries, seed: 1, dimension, share };
        let [uad, single] = ways;
        Ok([uad.error(&self.source, queries)?, single.error(&self.source, queries)?])
    }
}

/// Skewed columns, each leaning on one before it.
fn columns(rows: usize, rng: &mut StdRng) -> Vec<Codes> {
    let mut columns: Vec<Vec<u32>> = Vec::new();
    // From a seed of their own, so that every size has the same.
    let mut leaning = StdRng::seed_from_u64(2);
    for (index, &domain) in DOMAINS.iter().enumerate() {
        let before = (index > 0).then(|| leaning.random_range(0..index));
        let column = (0..rows).map(|row| match before {
            Some(before) if rng.random_bool(0.6) => (columns[before][row] as usize * 7919 % domain) as u32,
            _ => {
                let share: f64 = rng.random();
                ((share * share * domain as f64) as usize).min(domain - 1) as u32
            }
        });
        columns.push(column.collect());
    }
    DOMAINS.iter().zip(columns).map(|(&domain, column)| Codes::from_iter(domain, column)).collect()
}
