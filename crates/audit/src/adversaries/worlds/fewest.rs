//! The fewest values that any of several sets of assumptions leaves to people.

use super::hypothesis::Case;
use super::left::ValuesLeft;
use crate::solver::{Solved, WorldProblem};

/// The outcome of one set of assumptions.
pub(super) struct AssumptionOutcome {
    /// By case, the fewest values that are left to one of its people, and which of them it is.
    pub(super) left: Vec<(ValuesLeft, u32)>,
    pub(super) groups: Vec<Solution>,
    pub(super) limits: Vec<String>,
    /// Some world fits all tables that everyone is taken to be in.
    pub(super) fits: bool,
}

impl AssumptionOutcome {
    /// The people of whom one value is left, where those of a case count as one person: which of
    /// them it is may differ.
    pub(super) fn exposed(&self, cases: &[Case]) -> u64 {
        let one = self.left.iter().zip(cases).filter(|((left, _), case)| left.values.len() == 1 && case.people > 0);
        one.count() as u64
    }
}

/// The worlds of some tables.
pub(super) struct Solution {
    pub(super) tables: Vec<usize>,
    pub(super) problem: WorldProblem,
    pub(super) solved: Solved,
    /// By case, the first person of each part of it, with the profile of the part.
    pub(super) of_case: Vec<Vec<(u32, u32)>>,
}

/// The fewest values that any of several sets of assumptions leaves, by case.
pub(super) struct Fewest {
    pub(super) left: Vec<ValuesLeft>,
    /// The one of `found` that leaves them, and the case and person there.
    pub(super) of_case: Vec<(usize, usize, u32)>,
    /// Of each set of assumptions that is needed to explain a value, what was found.
    pub(super) found: Vec<Vec<Solution>>,
    pub(super) limits: Vec<String>,
}

impl Fewest {
    /// By case, its people.
    pub(super) fn new(people: impl Iterator<Item = u64>) -> Fewest {
        let left: Vec<ValuesLeft> = people.map(ValuesLeft::nothing).collect();
        Fewest { of_case: vec![(0, 0, 0); left.len()], left, found: Vec::new(), limits: Vec::new() }
    }

    /// Takes what is fewer. Where `part_of` is given, the cases of the outcome are others, each
    /// part of the one that is named.
    pub(super) fn offer(&mut self, outcome: AssumptionOutcome, part_of: Option<&[usize]>) {
        let mut is_needed = false;
        for (number, (other, person)) in outcome.left.into_iter().enumerate() {
            let case = part_of.map_or(number, |of| of[number]);
            if self.left[case].take_fewer(other) {
                self.of_case[case] = (self.found.len(), number, person);
                is_needed |= self.left[case].values.len() == 1;
            }
        }
        self.found.push(if is_needed { outcome.groups } else { Vec::new() });
        let new: Vec<String> = outcome.limits.into_iter().filter(|limit| !self.limits.contains(limit)).collect();
        self.limits.extend(new);
    }

    /// Something was not examined that may leave fewer values.
    pub(super) fn leave_open(&mut self, why: String) {
        self.left.iter_mut().filter(|left| left.values.len() > 1).for_each(|left| left.is_decided = false);
        self.limits.push(why);
    }
}
