//! What several sets of assumptions leave to people, and which of them leaves the fewest values.

use super::Left;
use crate::worlds::{Problem, Solved};

/// What one set of assumptions leaves.
pub(super) struct Outcome {
    /// By case, the fewest values that are left to one of its people, and which of them it is.
    pub(super) left: Vec<(Left, u32)>,
    pub(super) groups: Vec<Solution>,
    pub(super) limits: Vec<String>,
}

/// The worlds of some tables.
pub(super) struct Solution {
    pub(super) tables: Vec<usize>,
    pub(super) problem: Problem,
    pub(super) solved: Solved,
    /// By case, the first person of each part of it, with the profile of the part.
    pub(super) of_case: Vec<Vec<(u32, u32)>>,
}

/// The fewest values that any of several sets of assumptions leaves, by case.
pub(super) struct Fewest {
    pub(super) left: Vec<Left>,
    /// Which of `found` leaves them, and the person of the case whom it leaves them.
    pub(super) of_case: Vec<(usize, u32)>,
    /// Of each set of assumptions that is needed to explain a value, what was found.
    pub(super) found: Vec<Vec<Solution>>,
    pub(super) limits: Vec<String>,
}

impl Fewest {
    pub(super) fn new(cases: usize) -> Fewest {
        let left = (0..cases).map(|_| Left { people: 0, values: Vec::new(), is_decided: true }).collect();
        Fewest { left, of_case: vec![(0, 0); cases], found: Vec::new(), limits: Vec::new() }
    }

    pub(super) fn offer(&mut self, outcome: Outcome) {
        let mut is_needed = false;
        for (case, (other, person)) in outcome.left.into_iter().enumerate() {
            self.left[case].people = other.people;
            if self.left[case].take_fewer(other) {
                self.of_case[case] = (self.found.len(), person);
                is_needed |= self.left[case].values.len() == 1;
            }
        }
        self.found.push(if is_needed { outcome.groups } else { Vec::new() });
        let new: Vec<String> = outcome.limits.into_iter().filter(|limit| !self.limits.contains(limit)).collect();
        self.limits.extend(new);
    }
}
