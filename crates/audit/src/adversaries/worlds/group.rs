//! What the worlds of some tables leave to each person, by what the attacker can know of their
//! classes.

use super::Left;
use super::fewest::Solution;
use crate::worlds::Solved;

/// Sets of values that are distinguished for one case.
const ALTERNATIVES_MAX: usize = 4096;

/// Tables whose worlds were looked at together.
pub(super) struct Group<'a> {
    pub(super) tables: &'a [usize],
    solved: &'a Solved,
    of_case: &'a [Vec<(u32, u32)>],
    /// By profile, its scenarios.
    scenarios: Vec<Vec<u32>>,
}

impl<'a> Group<'a> {
    pub(super) fn new(of: &'a Solution) -> Group<'a> {
        let Solution { tables, solved, of_case, .. } = of;
        let profiles = of_case.iter().flatten().map(|&(_, profile)| profile as usize + 1).max().unwrap_or(0);
        let mut scenarios = vec![Vec::new(); profiles];
        for (number, scenario) in solved.scenarios.iter().enumerate() {
            if let Some(own) = scenarios.get_mut(scenario.profile as usize) {
                own.push(number as u32);
            }
        }
        Group { tables, solved, of_case, scenarios }
    }

    /// The profile of a person of a case.
    pub(super) fn profile(&self, case: usize, person: u32) -> usize {
        let parts = &self.of_case[case];
        let after = parts.partition_point(|&(first, _)| first <= person);
        parts[after.saturating_sub(1)].1 as usize
    }

    /// The values left to a person of a case, for each combination of classes that the attacker can
    /// know; and whether they may have been suppressed. What leaves their true value out, where it
    /// is known, is not so: they are not in that class, or not all people are in the tables.
    pub(super) fn alternatives(&self, case: usize, person: u32, truth: Option<u32>) -> (Vec<Left>, bool) {
        let scenarios = &self.scenarios[self.profile(case, person)];
        let of = |anyhow: bool| -> Vec<Left> {
            let scenarios = scenarios.iter().map(|&number| &self.solved.scenarios[number as usize]);
            let left = scenarios.filter(|scenario| scenario.anyhow == anyhow).map(|scenario| Left {
                people: 0,
                values: scenario.left().map(|query| (query.value, query.share)).collect(),
                is_decided: scenario.is_decided(),
            });
            let is_so = |left: &Left| match truth {
                None => !left.values.is_empty(),
                Some(truth) => left.values.iter().any(|(value, _)| *value == truth),
            };
            left.filter(is_so).collect()
        };
        let in_all = of(false);
        // Who cannot be in every table was suppressed in one: what every world gives them is known.
        if in_all.is_empty() { (of(true), true) } else { (in_all, false) }
    }
}

/// Every alternative of one with every alternative of the other, each set of values once.
pub(super) fn crossed(before: &[Left], other: &[Left]) -> Vec<Left> {
    let mut all: Vec<Left> = Vec::new();
    for one in before {
        for two in other {
            let kept = one.values.iter().filter(|(value, _)| two.values.iter().any(|(other, _)| other == value));
            let values: Vec<(u32, Option<f64>)> = kept.copied().collect();
            let whole = values.len() == one.values.len();
            let values = values.into_iter().map(|(value, share)| (value, share.filter(|_| whole))).collect();
            let left = Left { people: 0, values, is_decided: one.is_decided && two.is_decided };
            let same = |known: &Left| known.values.iter().map(|v| v.0).eq(left.values.iter().map(|v| v.0));
            if !left.values.is_empty() && all.len() < ALTERNATIVES_MAX && !all.iter().any(same) {
                all.push(left);
            }
        }
    }
    all
}
