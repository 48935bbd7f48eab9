//! The sets of units that a rule must hold for: those of each class and, where the attacker knows
//! every row, those that fit the units of each signature, class by class. Where more units can do
//! no worse, parts of a set are shown first.

use super::UnitRows;
use super::by_class::ByClass;
use super::fitting::Fitting;
use super::left::UnitView;
use super::looks::{Growth, Looks};
use super::signatures::Signatures;
use super::value_limits::EnoughByNumber;
use crate::units::UnitClass;

/// Where the groups of equal signatures have more units than this on average, their units are
/// looked at first: a few of them mostly show that enough values are among those that fit.
const UNITS_OF_A_GROUP: usize = if cfg!(test) { 4 } else { 16 };

/// How many units are looked at before the number of those that fit is asked for.
const LOOKED_MAX: u64 = if cfg!(test) { 3 } else { 64 };

pub(super) struct UnitSets<'s> {
    pub(super) view: &'s UnitView,
    pub(super) rows: &'s UnitRows,
    pub(super) kept: &'s [bool],
    /// The release says which rows are of one unit.
    pub(super) linked: bool,
    /// The protected attribute and its value in each row, where the rule looks at values.
    pub(super) protect: Option<(usize, &'s [u32])>,
    pub(super) missing: Option<u32>,
    /// No unit has several protected values.
    pub(super) one_value: bool,
    pub(super) growth: Growth,
}

impl<'s> UnitSets<'s> {
    /// A link shows what else the units of a class have.
    fn elsewhere(&self) -> Option<&'s [u32]> {
        self.protect.filter(|_| self.linked && !self.one_value).map(|(_, codes)| codes)
    }

    /// The protected values of some rows.
    fn values_of(&self, rows: impl Iterator<Item = usize>, values: &mut Vec<u32>) {
        values.clear();
        if let Some((_, codes)) = self.protect {
            values.extend(rows.map(|row| codes[row]));
        }
    }

    /// The units with all their values, wherever these are.
    fn look_at_whole(&self, codes: &[u32], about: &[u32], class: &mut UnitClass, looks: &mut dyn Looks) {
        class.of_whole_units(about.iter().map(|&unit| &codes[self.rows.rows_of(unit as usize)]));
        looks.look(class, about);
    }

    /// The units of each class that is listed.
    pub(super) fn of_classes(&self, by_class: &ByClass, looks: &mut dyn Looks) {
        let mut class = UnitClass::new(self.missing);
        let (mut about, mut values): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        for members in by_class.iter() {
            about.clear();
            about.extend(members.chunk_by(|a, b| a.0 == b.0).map(|of_unit| of_unit[0].0));
            if looks.pass_over(&about) {
                continue;
            }
            class.clear();
            let is_enough = members.chunk_by(|a, b| a.0 == b.0).any(|of_unit| {
                self.values_of(of_unit.iter().map(|&(_, row)| row as usize), &mut values);
                class.add(&mut values);
                self.growth.is_enough(&mut class, looks)
            });
            if !is_enough {
                class.count();
                looks.look(&class, &about);
            }
            if let Some(codes) = self.elsewhere() {
                self.look_at_whole(codes, &about, &mut class, looks);
            }
        }
    }

    /// The units that fit those of each signature, without those of which the answer is `known` to
    /// hold.
    pub(super) fn that_fit(&self, known: &[bool], looks: &mut dyn Looks) {
        let signatures = self.view.signatures(self.rows, self.linked);
        let members = self.view.members(self.rows, signatures);
        let counts = signatures.counts(self.kept);
        let mut by_number = FittingNumbers { sets: self, signatures, made: None };
        if signatures.len() > self.rows.len() / UNITS_OF_A_GROUP {
            by_number.make();
        }
        let mut class = UnitClass::new(self.missing);
        let (mut about, mut found): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        let is_open = |&group: &u32| counts[group as usize] > 0 && known.get(group as usize) != Some(&true);
        for group in (0..signatures.len() as u32).filter(is_open) {
            let own = signatures.classes_of(group);
            if own.chunk_by(|a, b| a == b).all(|in_class| by_number.are_enough(group, in_class, looks)) {
                continue;
            }
            // Listed once some set must be looked at; one of them mostly tells that they matter.
            let kept = || members.of(group).iter().copied().filter(|&unit| self.kept[unit as usize]);
            let list = |about: &mut Vec<u32>| {
                if about.is_empty() {
                    about.extend(kept());
                }
            };
            about.clear();
            if kept().next().is_some_and(|first| looks.pass_over(&[first])) {
                list(&mut about);
                if looks.pass_over(&about) {
                    continue;
                }
            }
            found.clear();
            let mut fitting = Fitting { found: &mut found, more: signatures.fitting(group) };
            if let Some(codes) = self.elsewhere() {
                // Units with equal signatures alone fit.
                list(&mut about);
                self.look_at_whole(codes, &about, &mut class, looks);
            }
            for (place, in_class) in own.chunk_by(|a, b| a == b).enumerate() {
                // A unit with one value has it in every class.
                if place > 0 && self.one_value {
                    break;
                }
                if by_number.are_enough(group, in_class, looks) {
                    continue;
                }
                class.clear();
                if !self.is_enough(group, in_class, &mut fitting, &counts, &mut class, &mut by_number, looks) {
                    class.count();
                    list(&mut about);
                    looks.look(&class, &about);
                }
            }
        }
    }

    /// Whether the units that fit a group show enough in a class; else all of them are added.
    #[expect(clippy::too_many_arguments, reason = "what is held from one group to the next")]
    fn is_enough(
        &self,
        group: u32,
        in_class: &[u32],
        fitting: &mut Fitting<'_, impl Iterator<Item = u32>>,
        counts: &[u32],
        class: &mut UnitClass,
        by_number: &mut FittingNumbers<'_, 's>,
        looks: &mut dyn Looks,
    ) -> bool {
        let members = self.view.members(self.rows, by_number.signatures);
        let mut values: Vec<u32> = Vec::new();
        let mut next = 0;
        while let Some(other) = fitting.get(next) {
            next += 1;
            if self.protect.is_none() {
                class.units += u64::from(counts[other as usize]);
                if self.growth.is_enough(class, looks) {
                    return true;
                }
                continue;
            }
            for &unit in members.of(other).iter().filter(|&&unit| self.kept[unit as usize]) {
                let own = self.rows.rows_of(unit as usize).filter(|&row| self.view.class_of_row[row] == in_class[0]);
                self.values_of(own, &mut values);
                class.add(&mut values);
                if self.growth.is_enough(class, looks) {
                    return true;
                }
                if class.units == LOOKED_MAX {
                    by_number.make();
                    if by_number.are_enough(group, in_class, looks) {
                        return true;
                    }
                }
            }
        }
        false
    }
}

/// The conclusion from the number of units that fit a group, once it is asked for.
struct FittingNumbers<'n, 's> {
    sets: &'n UnitSets<'s>,
    signatures: &'s Signatures,
    made: Option<Option<EnoughByNumber<'s>>>,
}

impl FittingNumbers<'_, '_> {
    fn make(&mut self) {
        let UnitSets { view, rows, kept, protect, missing, growth, .. } = *self.sets;
        let signatures = self.signatures;
        self.made.get_or_insert_with(|| {
            // Where some values are missing, those that are known would have to be counted too.
            let (protect, codes) = protect.filter(|_| growth == Growth::SingleValues && missing.is_none())?;
            let limits = view.value_limits(protect, rows, signatures, codes)?;
            let suppressed = view.suppressed_by_class(signatures, kept);
            Some(EnoughByNumber::new(limits, view.count_fitting(signatures), suppressed))
        });
    }

    /// Whether the units that fit a group are enough in one of its classes by their number.
    fn are_enough(&mut self, group: u32, in_class: &[u32], looks: &mut dyn Looks) -> bool {
        let Some(Some(by_number)) = &mut self.made else { return false };
        let units = by_number.units(group, self.signatures.classes_of(group));
        by_number.are_enough(units, in_class, looks)
    }
}
