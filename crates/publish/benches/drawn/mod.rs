//! Random rules as Jin and others (2010) draw them for their experiments.

use hedgerow_privacy::Model;
use hedgerow_privacy::rules::{AttributeSet, Rule, reduce};
use hedgerow_table::{Codes, Ratio};
use rand::RngExt;
use rand::rngs::StdRng;

/// Irreducible, each with three known attributes, and none that one frequent value breaks anyway.
pub(crate) fn rules(rng: &mut StdRng, columns: &[Codes], cardinalities: &[usize], count: usize, l: u64) -> Vec<Rule> {
    let rows = columns[0].len() as u64;
    let most = |protect: usize| columns[protect].counts(cardinalities[protect]).into_iter().max().unwrap_or(0);
    let possible: Vec<bool> = (0..columns.len()).map(|protect| most(protect) * l <= rows).collect();
    let mut rules: Vec<Rule> = Vec::new();
    while rules.len() < count {
        let mut all: Vec<usize> = (0..columns.len()).collect();
        let mut draw = || all.swap_remove(rng.random_range(0..all.len()));
        let protect = draw();
        let know = (0..3).map(|_| draw()).collect();
        if possible[protect] {
            let require = vec![Model::FrequencyLDiversity { l: Ratio::integer(l) }];
            rules.push(Rule { know, protect: AttributeSet::of(protect), require });
            rules = reduce(&rules).kept.into_iter().map(|kept| rules[kept].clone()).collect();
        }
    }
    rules
}
