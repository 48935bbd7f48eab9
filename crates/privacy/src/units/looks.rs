//! The questions about the sets of units that a rule must hold for: which units fail, or what a
//! release achieves.

use super::left::Failing;
use super::{UnitClass, UnitRows};
use crate::guarantee::ClassMeasure;
use crate::judge::{Achieved, BoundRule};
use crate::{Class, Distribution};

/// The outcome of a part of a set of units, as it stands of the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Growth {
    /// Nothing.
    Any,
    /// The whole does no worse.
    Absorbing,
    /// The whole does no worse than the values that single units of the part have alone.
    SingleValues,
}

impl Growth {
    /// Whether the units so far are enough. Asked each time that they are twice as many.
    pub(super) fn is_enough(self, class: &mut UnitClass, looks: &mut dyn Looks) -> bool {
        if self == Growth::Any || class.units < class.shown_at {
            return false;
        }
        class.shown_at = 2 * class.units;
        match self {
            Growth::SingleValues => looks.is_enough(class.of_single_values()),
            _ => {
                class.count();
                looks.is_enough(class.class())
            }
        }
    }
}

/// A reader of sets of units.
pub(super) trait Looks {
    /// Whether nothing that a set says of these units matters any more.
    fn pass_over(&self, about: &[u32]) -> bool;

    /// Whether the set need not be looked at that does no worse than this.
    fn is_enough(&mut self, part: Class<'_>) -> bool;

    /// A set, and the units that are suppressed when the rule does not hold for it.
    fn look(&mut self, class: &UnitClass, about: &[u32]);
}

/// Which units a rule fails for.
pub(super) struct Judging<'j, 'a> {
    pub(super) rule: &'j BoundRule,
    pub(super) tables: Vec<Distribution>,
    pub(super) failing: &'j mut Failing<'a>,
}

impl Looks for Judging<'_, '_> {
    fn pass_over(&self, about: &[u32]) -> bool {
        self.failing.are_too_many() || self.failing.have_all(about)
    }

    fn is_enough(&mut self, part: Class<'_>) -> bool {
        let mut guarantees = self.rule.guarantees.iter();
        guarantees.all(|guarantee| self.tables.iter().all(|table| guarantee.holds(part, table)))
    }

    fn look(&mut self, class: &UnitClass, about: &[u32]) {
        let mut guarantees = self.rule.guarantees.iter();
        if !guarantees.all(|guarantee| self.tables.iter().all(|table| class.holds(guarantee.as_ref(), table))) {
            self.failing.add(about);
        }
    }
}

/// The level that every guarantee of a rule achieves.
pub(super) struct Measuring<'m> {
    rule: &'m BoundRule,
    tables: Vec<Distribution>,
    rows: &'m UnitRows,
    achieved: Vec<Achieved>,
    /// By guarantee, the units that it fails for.
    failing: Vec<Vec<bool>>,
}

impl<'m> Measuring<'m> {
    pub(super) fn new(rule: &'m BoundRule, tables: Vec<Distribution>, rows: &'m UnitRows) -> Measuring<'m> {
        let nothing = || Achieved { measures: Vec::new(), holds: true, failing_rows: 0 };
        let achieved = rule.guarantees.iter().map(|_| nothing()).collect();
        let failing = vec![vec![false; rows.len()]; rule.guarantees.len()];
        Measuring { rule, tables, rows, achieved, failing }
    }

    pub(super) fn achieved(self) -> Vec<Achieved> {
        let failing_rows = |failing: &Vec<bool>| -> u64 {
            let failing = failing.iter().enumerate().filter(|(_, failing)| **failing);
            failing.map(|(unit, _)| self.rows.count_of(unit)).sum()
        };
        let achieved = self.achieved.into_iter().zip(&self.failing);
        achieved.map(|(achieved, failing)| Achieved { failing_rows: failing_rows(failing), ..achieved }).collect()
    }
}

impl Looks for Measuring<'_> {
    fn pass_over(&self, _: &[u32]) -> bool {
        false
    }

    fn is_enough(&mut self, part: Class<'_>) -> bool {
        self.rule.guarantees.iter().zip(&self.achieved).all(|(guarantee, achieved)| {
            let here = guarantee.measure(part, &self.tables[0]);
            achieved.holds
                && !achieved.measures.is_empty()
                && guarantee.holds(part, &self.tables[0])
                && worse(&achieved.measures, here) == achieved.measures
        })
    }

    fn look(&mut self, class: &UnitClass, about: &[u32]) {
        for (place, guarantee) in self.rule.guarantees.iter().enumerate() {
            for table in self.tables.iter().filter(|_| class.units > 0) {
                let holds = class.holds(guarantee.as_ref(), table);
                let measures = class.measure(guarantee.as_ref(), table);
                self.achieved[place].measures = worse(&self.achieved[place].measures, measures);
                if !holds {
                    self.achieved[place].holds = false;
                    about.iter().for_each(|&unit| self.failing[place][unit as usize] = true);
                }
            }
        }
    }
}

fn worse(worst: &[ClassMeasure], here: Vec<ClassMeasure>) -> Vec<ClassMeasure> {
    ClassMeasure::worse_of(worst.to_vec(), here)
}
