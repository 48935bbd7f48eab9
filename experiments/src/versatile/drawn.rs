//! Random rules as Jin and others (2010) draw them for their experiments.

use hedgerow_privacy::Model;
use hedgerow_privacy::rules::{AttributeSet, Rule, reduce};
use hedgerow_table::{Codes, Ratio};
use rand::RngExt;
use rand::rngs::StdRng;

/// The rules that are drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Drawn {
    /// The paper's c: how many rules.
    pub(super) rules: usize,
    /// The paper's lhs: the known attributes of each.
    pub(super) known: usize,
    pub(super) l: u64,
    /// The rules can be satisfied for this l, at least `l`.
    pub(super) l_max: u64,
}

/// Irreducible, each with the given number of known attributes and one protected, and none that one
/// frequent value breaks anyway.
pub(super) fn rules(rng: &mut StdRng, columns: &[Codes], cardinalities: &[usize], drawn: Drawn) -> Vec<Rule> {
    let l = drawn.l;
    let rows = columns[0].len() as u64;
    let most = |protect: usize| columns[protect].counts(cardinalities[protect]).into_iter().max().unwrap_or(0);
    let possible: Vec<bool> = (0..columns.len()).map(|protect| most(protect) * drawn.l_max <= rows).collect();
    let mut rules: Vec<Rule> = Vec::new();
    while rules.len() < drawn.rules {
        let mut all: Vec<usize> = (0..columns.len()).collect();
        let mut draw = || all.swap_remove(rng.random_range(0..all.len()));
        let protect = draw();
        let know = (0..drawn.known).map(|_| draw()).collect();
        if possible[protect] {
            let require = vec![Model::FrequencyLDiversity { l: Ratio::integer(l) }];
            rules.push(Rule { know, protect: AttributeSet::of(protect), require });
            rules = reduce(&rules).kept.into_iter().map(|kept| rules[kept].clone()).collect();
        }
    }
    rules
}
