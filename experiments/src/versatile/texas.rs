//! A synthetic table of the shape of the paper's second data set (its table 5b): 18 attributes with
//! domains from 2 to 17,432, and what UAD and single attributes make of it.

use std::time::Instant;

use hedgerow_audit::max_likelihood::CountQueries;
use hedgerow_publish::decompose::divergence::Divergence;
use hedgerow_publish::decompose::gd::gd;
use hedgerow_publish::decompose::uad::uad;
use hedgerow_publish::decompose::{DecompositionProblem, Subtable, single_attribute};
use hedgerow_report::pictures::NumberCell;
use hedgerow_table::Codes;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::drawn::{self, Drawn};
use super::printed::uad_as_printed;
use super::{Decomposed, queries};
use crate::experiment::{Scale, Trouble};
use crate::sample::{Curve, Sample};

const DOMAINS: [usize; 18] =
    [323, 2, 1581, 241, 22, 5, 3391, 3488, 3881, 4193, 4251, 1708, 24, 396, 297, 6, 15_000, 17_432];

/// The two ways to publish that the paper compares on it, and UAD as the project has it.
pub(super) const NAMES: [&str; 3] = ["UAD", "single attributes", "UAD, ours"];

/// The table.
pub(super) struct Texas {
    columns: Vec<Codes>,
    source: Vec<Vec<u32>>,
    queries: usize,
}

/// The tables of every way to publish, in the order of [`NAMES`], and how long UAD as printed took.
pub(super) struct TexasTables {
    pub(super) seconds: f64,
    pub(super) ways: [Decomposed; 3],
}

impl Texas {
    pub(super) fn new(scale: Scale) -> Texas {
        let columns = columns(scale.of(177_148, 3000), &mut StdRng::seed_from_u64(1));
        let source = columns.iter().map(|column| column.iter().collect()).collect();
        Texas { columns, source, queries: queries(scale) }
    }

    pub(super) fn setting(&self, runs: usize) -> String {
        format!(
            "A synthetic table in place of the paper's Texas inpatients: {} rows and 18 attributes with the domains of its table 5b, from 2 \
             to 17,432; {runs} random irreducible rule sets for each point.",
            self.columns[0].len()
        )
    }

    pub(super) fn problem(&self, drawn: Drawn, seed: u64) -> DecompositionProblem<'_> {
        let rules = drawn::rules(&mut StdRng::seed_from_u64(seed), &self.columns, &DOMAINS, drawn);
        DecompositionProblem::new(self.columns.iter().collect(), DOMAINS.to_vec(), self.columns[0].len(), rules, &[])
    }

    pub(super) fn publish(&self, drawn: Drawn, seed: u64) -> Result<TexasTables, Trouble> {
        let problem = self.problem(drawn, seed);
        let mut rng = StdRng::seed_from_u64(seed);
        let started = Instant::now();
        let printed = uad_as_printed(&problem, &mut rng);
        let seconds = started.elapsed().as_secs_f64();
        let ours = uad(&problem, &mut rng).map_err(|_| "these rules leave no tables")?;
        let mut divergence = Divergence::new(&problem);
        let mut decomposed = |tables: &[Subtable]| Decomposed::new(&problem, &mut divergence, tables);
        let ways = [decomposed(&printed)?, decomposed(&single_attribute(&problem))?, decomposed(&ours)?];
        Ok(TexasTables { seconds, ways })
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
    pub(super) fn errors(&self, ways: &[Decomposed; 3], dimension: usize, share: f64) -> Result<[f64; 3], Trouble> {
        let queries = CountQueries { count: self.queries, seed: 1, dimension, share };
        let [printed, single, ours] = ways.each_ref().map(|way| way.error(&self.source, queries));
        Ok([printed?, single?, ours?])
    }
}

/// The losses under rule sets, over something that varies, in the order of [`NAMES`].
#[derive(Debug, Clone)]
pub(super) struct Losses {
    pub(super) kl: [Curve; 3],
    pub(super) error: [Curve; 3],
}

impl Losses {
    pub(super) fn new() -> Losses {
        Losses { kl: NAMES.map(Curve::new), error: NAMES.map(Curve::new) }
    }

    /// One point, from what each rule set lost.
    pub(super) fn push(&mut self, x: f64, kl: &[[f64; 3]], error: &[[f64; 3]]) {
        for place in 0..NAMES.len() {
            let sample = |of: &[[f64; 3]]| Sample::of(&of.iter().map(|found| found[place]).collect::<Vec<_>>());
            self.kl[place].push(x, sample(kl));
            self.error[place].push(x, sample(error));
        }
    }

    /// The last point of each way, as rows of a table.
    pub(super) fn last_rows(&self) -> Vec<Vec<NumberCell>> {
        let row = |place: usize| {
            let (kl, error) = (self.kl[place].points.last()?, self.error[place].points.last()?);
            let found = [kl.1.mean(), kl.1.error(), error.1.mean(), error.1.error()].map(NumberCell::Number).to_vec();
            Some([vec![NumberCell::Number(kl.0), NAMES[place].into()], found].concat())
        };
        (0..NAMES.len()).filter_map(row).collect()
    }
}

/// The columns of such a table.
pub(super) const COLUMNS: [&str; 5] = ["published as", "KL divergence", "± KL", "mean relative error", "± error"];

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
