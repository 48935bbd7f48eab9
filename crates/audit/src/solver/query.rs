//! The questions about the worlds: which values a person of a profile can have, given that the
//! attacker takes them to be in every table, and knows their class in some. Where a table says that
//! rows were suppressed, it is asked as well without taking them to be in it.

use super::problem::{ABSENT, Presence, WorldProblem};
use super::system::{ProfileVariables, System};

/// Combinations of classes that are distinguished for one profile.
const SHOWN_MAX: usize = 4096;

/// How far a question was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorldAnswer {
    /// No world has it.
    Impossible,
    /// A world has it.
    Possible,
    /// Not ruled out, and no world found.
    Open,
}

/// Whether a person can have a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WorldQuery {
    pub(crate) value: u32,
    pub(crate) w: u32,
    /// The person is among the people whom the variables of each factor count.
    pub(crate) factors: Vec<Vec<u32>>,
    pub(crate) answer: WorldAnswer,
    /// The share of all worlds, where they were counted.
    pub(crate) share: Option<f64>,
}

/// One profile, in the buckets that the attacker was shown.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scenario {
    pub(crate) profile: u32,
    /// Whether the person may be among the suppressed ones. It is for people who cannot be in every
    /// table: of others the attacker knows that they are.
    pub(crate) anyhow: bool,
    /// Sides with their buckets.
    pub(crate) shown: Vec<(u32, u32)>,
    pub(crate) queries: Vec<WorldQuery>,
}

impl WorldQuery {
    /// Whether the bounds rule it out.
    pub(crate) fn is_ruled_out(&self, system: &System) -> bool {
        let none = |variable: &u32| system.high[*variable as usize] == 0;
        none(&self.w) || self.factors.iter().any(|factor| factor.iter().all(none))
    }

    /// Whether the bounds alone say that some person has the value.
    pub(crate) fn is_forced(&self, system: &System) -> bool {
        let some = |variable: &u32| system.low[*variable as usize] > 0;
        some(&self.w) && self.factors.iter().all(|factor| factor.iter().any(some))
    }

    pub(crate) fn variables(&self) -> impl Iterator<Item = u32> {
        std::iter::once(self.w).chain(self.factors.iter().flatten().copied())
    }

    /// How many people, on average over the sides, it is true of in a solution.
    pub(crate) fn people(&self, number: impl Fn(u32) -> u32) -> f64 {
        let all = f64::from(number(self.w));
        if all == 0.0 {
            return 0.0;
        }
        let share = |factor: &Vec<u32>| factor.iter().map(|&variable| f64::from(number(variable))).sum::<f64>() / all;
        all * self.factors.iter().map(share).product::<f64>()
    }
}

impl Scenario {
    /// The values that are not ruled out.
    pub(crate) fn left(&self) -> impl Iterator<Item = &WorldQuery> {
        self.queries.iter().filter(|query| query.answer != WorldAnswer::Impossible)
    }

    /// Whether it is known which values are possible, and which are not.
    #[cfg(test)]
    pub(crate) fn is_decided(&self) -> bool {
        self.left().count() <= 1 || self.left().all(|query| query.answer == WorldAnswer::Possible)
    }
}

/// The scenarios of all profiles, and whether some had more combinations of classes than are shown
/// apart.
pub(crate) fn scenarios(problem: &WorldProblem, system: &System) -> (Vec<Scenario>, bool) {
    let mut scenarios = Vec::new();
    let mut cut = false;
    for (number, variables) in system.profiles.iter().enumerate() {
        let presence = &problem.profiles[number].presence;
        let may_be_away = presence.contains(&Presence::Either);
        for anyhow in [false, true].into_iter().take(1 + usize::from(may_be_away)) {
            cut |= add(problem, variables, number, anyhow, &mut scenarios);
        }
    }
    (scenarios, cut)
}

/// The scenarios of one profile: one for each combination of buckets that the attacker can be
/// shown. Whether there were too many.
fn add(
    problem: &WorldProblem,
    variables: &ProfileVariables,
    number: usize,
    anyhow: bool,
    scenarios: &mut Vec<Scenario>,
) -> bool {
    let presence = &problem.profiles[number].presence;
    let is_shown = |side: usize| problem.sides[side].shown && (!anyhow || presence[side] == Presence::Here);
    let mut cut = false;
    let mut shown: Vec<Vec<(u32, u32)>> = vec![Vec::new()];
    for spread in variables.spread.iter().filter(|spread| is_shown(spread.side as usize)) {
        let here: Vec<u32> =
            spread.buckets.iter().map(|(bucket, _)| *bucket).filter(|&bucket| bucket != ABSENT).collect();
        if shown.len() * here.len() > SHOWN_MAX {
            cut = true;
            continue;
        }
        shown = shown
            .iter()
            .flat_map(|before| here.iter().map(|&bucket| [before.as_slice(), &[(spread.side, bucket)]].concat()))
            .collect();
    }
    for shown in shown {
        let queries = variables.values.iter().filter_map(|&(value, w)| {
            let factors = factors(presence, variables, anyhow, &shown, value)?;
            Some(WorldQuery { value, w, factors, answer: WorldAnswer::Open, share: None })
        });
        let queries = queries.collect();
        scenarios.push(Scenario { profile: number as u32, anyhow, shown, queries });
    }
    cut
}

/// `None` when a shown bucket does not have the value, or the person cannot be in every table.
fn factors(
    presence: &[Presence],
    variables: &ProfileVariables,
    anyhow: bool,
    shown: &[(u32, u32)],
    value: u32,
) -> Option<Vec<Vec<u32>>> {
    let mut factors = Vec::new();
    // People of whom all were suppressed are not the ones that the attacker looks for.
    let is_away = |(only, presence): (&Option<u32>, &Presence)| *only == Some(ABSENT) && *presence == Presence::Either;
    if !anyhow && variables.only.iter().zip(presence).any(is_away) {
        return None;
    }
    for spread in &variables.spread {
        let own = shown.iter().find(|(side, _)| *side == spread.side).map(|(_, bucket)| *bucket);
        let may_be_away = presence[spread.side as usize] == Presence::Either;
        if own.is_none() && (anyhow || !may_be_away) {
            continue;
        }
        let is_meant = |bucket: u32| own.map_or(bucket != ABSENT, |own| own == bucket);
        let buckets = spread.buckets.iter().filter(|(bucket, _)| is_meant(*bucket));
        let of_value = buckets.flat_map(|(_, values)| values).filter(|(other, _)| *other == value);
        let factor: Vec<u32> = of_value.map(|(_, variable)| *variable).collect();
        if factor.is_empty() {
            return None;
        }
        factors.push(factor);
    }
    Some(factors)
}
