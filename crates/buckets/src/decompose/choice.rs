//! Which tables: the algorithm that the policy names, or the best of all.

use hedgerow_draft::error::PublishError;
use hedgerow_policy::{Algorithm, Anonymizer};
use hedgerow_privacy::rules::{AttributeSet, NormalFormStanding};
use hedgerow_table::{Column, TableError};
use rand::rngs::StdRng;

use super::attack::{AttackLimits, Attacked, attack};
use super::divergence::Divergence;
use super::gd::gd;
use super::multi_sensitive::multi_sensitive;
use super::problem::Unsatisfiable;
use super::uad::uad;
use super::{DecompositionProblem, Subtable, single_attribute};

/// The tables of a decomposition, and what they keep.
#[derive(Debug, Clone)]
pub struct Chosen {
    pub algorithm: Algorithm,
    pub tables: Vec<Subtable>,
    /// `None` where it has no closed form: a generalized table shares with others what it
    /// generalizes.
    pub kl: Option<f64>,
    /// For each rule of the problem.
    pub standings: Vec<NormalFormStanding>,
}

/// Why no tables were found.
#[derive(Debug)]
pub enum Unchosen {
    Unsatisfiable(Unsatisfiable),
    /// One table with several sensitive attributes was requested, and no bucket of it can be made.
    NoBuckets,
    /// Every choice breaks under the intersection attack, in words.
    Breached(String),
    /// The chosen table could not be anonymized.
    Failed(Box<PublishError>),
}

impl From<Unsatisfiable> for Unchosen {
    fn from(rule: Unsatisfiable) -> Unchosen {
        Unchosen::Unsatisfiable(rule)
    }
}

fn canceled() -> Unchosen {
    Unchosen::Failed(Box::new(TableError::Canceled.into()))
}

/// The algorithms that a policy names: one, or all where the best is requested. One table with
/// several sensitive attributes cannot be generalized, only bucketized.
pub fn algorithms(named: Algorithm, anonymizer: Anonymizer) -> Vec<Algorithm> {
    if named != Algorithm::Best {
        return vec![named];
    }
    let all = [Algorithm::Gd, Algorithm::Uad, Algorithm::MultiSensitive, Algorithm::SingleAttribute];
    let fits = |one: &Algorithm| *one != Algorithm::MultiSensitive || anonymizer == Anonymizer::Anatomy;
    all.into_iter().filter(fits).collect()
}

/// The choices of some algorithms that keep every rule of the problem, the one with the least
/// divergence first. `finish` decides how each choice is anonymized; one that cannot be anonymized
/// is dropped if another can.
pub fn choices(
    problem: &DecompositionProblem<'_>,
    algorithms: &[Algorithm],
    rng: &mut StdRng,
    mut finish: impl FnMut(Vec<Subtable>) -> Result<Vec<Subtable>, PublishError>,
) -> Result<Vec<Chosen>, Unchosen> {
    let mut divergence = Divergence::new(problem);
    let mut made: Vec<(Algorithm, Vec<Subtable>)> = Vec::new();
    for &algorithm in algorithms {
        if problem.progress.is_canceled() {
            return Err(canceled());
        }
        let tables = match algorithm {
            Algorithm::Uad => uad(problem, rng)?,
            Algorithm::MultiSensitive => match multi_sensitive(problem, rng) {
                Some(tables) => tables,
                None if algorithms.len() == 1 => return Err(Unchosen::NoBuckets),
                None => continue,
            },
            Algorithm::SingleAttribute => single_attribute(problem),
            Algorithm::Gd | Algorithm::Best => gd(problem, &mut divergence, rng)?,
        };
        if matches!(algorithm, Algorithm::MultiSensitive | Algorithm::SingleAttribute) {
            problem.progress.advance(problem.columns.len() as u64);
        }
        made.push((algorithm, tables));
    }
    let (mut choices, mut failed) = (Vec::new(), None);
    for (algorithm, tables) in made {
        if problem.progress.is_canceled() {
            return Err(canceled());
        }
        let tables = match finish(tables) {
            Ok(tables) => tables,
            Err(error) => {
                failed = Some(error);
                continue;
            }
        };
        let rank = divergence.of(&tables).unwrap_or(f64::INFINITY);
        let tables = with_protected_as_they_are(problem, tables);
        let standings = problem.standings(&tables);
        if standings.iter().all(NormalFormStanding::is_kept) {
            let kl = divergence.of(&tables);
            choices.push((rank, Chosen { algorithm, tables, kl, standings }));
        }
    }
    match (choices.is_empty(), failed) {
        (true, Some(error)) => return Err(Unchosen::Failed(Box::new(error))),
        (true, None) => {
            let alone = problem.standings(&single_attribute(problem));
            let rule = alone.iter().position(|standing| !standing.is_kept()).unwrap_or(0);
            return Err(Unchosen::Unsatisfiable(Unsatisfiable(rule)));
        }
        _ => {}
    }
    // Stable: of equals the first stays first.
    choices.sort_by(|one, other| one.0.total_cmp(&other.0));
    Ok(choices.into_iter().map(|(_, chosen)| chosen).collect())
}

/// A protected attribute that every table generalizes is released as it is in a table of its own:
/// readers cannot tell from labels whether its values are harmless alone. Nothing becomes reachable
/// by that.
fn with_protected_as_they_are(problem: &DecompositionProblem<'_>, mut tables: Vec<Subtable>) -> Vec<Subtable> {
    let protected = problem.rules.iter().fold(AttributeSet::EMPTY, |all, rule| all | rule.protect);
    for attribute in protected.iter() {
        let is_exact = |table: &Subtable| table.regions.is_none() || table.sensitive.contains(attribute);
        let mut holding = tables.iter().filter(|table| table.attributes.contains(attribute));
        if !holding.any(is_exact) {
            tables.push(Subtable::plain(AttributeSet::of(attribute)));
        }
    }
    tables
}

/// The first of several choices that passes the intersection attack, and the attack's outcome.
pub fn first_that_passes(
    problem: &DecompositionProblem<'_>,
    columns: &[&Column],
    choices: Vec<Chosen>,
) -> Result<(Chosen, Attacked), Unchosen> {
    let mut breach = String::new();
    for chosen in choices {
        if problem.progress.is_canceled() {
            return Err(canceled());
        }
        match attack(problem, columns, &chosen.tables, AttackLimits::default()) {
            Attacked::Breached(words) if breach.is_empty() => {
                breach = format!("the tables by {} do not pass the attack on them: {words}", chosen.algorithm.name());
            }
            Attacked::Breached(_) => {}
            outcome => return Ok((chosen, outcome)),
        }
    }
    Err(Unchosen::Breached(breach))
}
