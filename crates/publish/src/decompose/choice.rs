//! Which tables: the algorithm that the policy names, or the best of all.

use hedgerow_policy::Algorithm;
use hedgerow_privacy::rules::Standing;
use rand::rngs::StdRng;

use super::divergence::Divergence;
use super::gd::gd;
use super::multi_sensitive::multi_sensitive;
use super::problem::Unsatisfiable;
use super::uad::uad;
use super::{Problem, Subtable, single_attribute};
use crate::error::PublishError;

/// The tables of a decomposition, and what they keep.
#[derive(Debug, Clone)]
pub struct Chosen {
    pub algorithm: Algorithm,
    pub tables: Vec<Subtable>,
    /// `None` where it has no closed form: a generalized table shares with others what it generalizes.
    pub kl: Option<f64>,
    /// For each rule of the problem.
    pub standings: Vec<Standing>,
}

/// Why there are no tables.
#[derive(Debug)]
pub enum Unchosen {
    Unsatisfiable(Unsatisfiable),
    /// One table with several sensitive attributes was requested, and no bucket of it can be made.
    NoBuckets,
    /// What was chosen could not be anonymized.
    Failed(Box<PublishError>),
}

impl From<Unsatisfiable> for Unchosen {
    fn from(rule: Unsatisfiable) -> Unchosen {
        Unchosen::Unsatisfiable(rule)
    }
}

/// Tables that keep every rule of the problem; of several choices the one with the least divergence. `finish` has the last word on
/// how each choice is anonymized.
pub fn choose(
    problem: &Problem<'_>,
    algorithm: Algorithm,
    rng: &mut StdRng,
    mut finish: impl FnMut(Vec<Subtable>) -> Result<Vec<Subtable>, PublishError>,
) -> Result<Chosen, Unchosen> {
    let mut divergence = Divergence::new(problem);
    let mut made: Vec<(Algorithm, Vec<Subtable>)> = Vec::new();
    let wanted = |one: Algorithm| algorithm == one || algorithm == Algorithm::Best;
    if wanted(Algorithm::Gd) {
        made.push((Algorithm::Gd, gd(problem, &mut divergence, rng)?));
    }
    if wanted(Algorithm::Uad) {
        made.push((Algorithm::Uad, uad(problem, rng)?));
    }
    if wanted(Algorithm::MultiSensitive) {
        match multi_sensitive(problem, rng) {
            Some(tables) => made.push((Algorithm::MultiSensitive, tables)),
            None if algorithm == Algorithm::MultiSensitive => return Err(Unchosen::NoBuckets),
            None => {}
        }
    }
    if wanted(Algorithm::SingleAttribute) {
        made.push((Algorithm::SingleAttribute, single_attribute(problem)));
    }
    let mut best: Option<Chosen> = None;
    for (algorithm, tables) in made {
        let tables = finish(tables).map_err(|error| Unchosen::Failed(Box::new(error)))?;
        let standings = problem.standings(&tables);
        if !standings.iter().all(Standing::is_kept) {
            continue;
        }
        let kl = divergence.of(&tables);
        let rank = |kl: Option<f64>| kl.unwrap_or(f64::INFINITY);
        if best.as_ref().is_none_or(|best| rank(kl) < rank(best.kl)) {
            best = Some(Chosen { algorithm, tables, kl, standings });
        }
    }
    best.ok_or_else(|| {
        let alone = problem.standings(&single_attribute(problem));
        let rule = alone.iter().position(|standing| !standing.is_kept()).unwrap_or(0);
        Unchosen::Unsatisfiable(Unsatisfiable(rule))
    })
}
