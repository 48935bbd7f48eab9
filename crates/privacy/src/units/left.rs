//! The units that are left while others are suppressed, and which of them fail by the number of
//! units alone.

use std::cell::OnceCell;

use super::UnitRows;
use super::by_class::MembersOf;
use super::signatures::{NONE, Signatures};
use super::value_limits::ValueLimits;

/// Units that fit are counted up to here.
const FITTING_MAX: u32 = 1 << 14;

/// The rows of units by the classes over what one attacker knows.
pub(super) struct UnitView {
    pub(super) know: Vec<usize>,
    pub(super) class_of_row: Vec<u32>,
    pub(super) classes: usize,
    /// Found once: they do not depend on who is left.
    pub(super) signatures: OnceCell<Signatures>,
    /// By class, how many units have rows there, of those left and suppressed alike.
    pub(super) units: OnceCell<Vec<u32>>,
    /// By attribute, how many units can have some few values; as long as there are attributes.
    pub(super) limits: Vec<OnceCell<Option<ValueLimits>>>,
    /// By group of equal signatures, its units, and how many units fit.
    pub(super) members: OnceCell<MembersOf>,
    pub(super) fitting: OnceCell<Vec<u32>>,
}

impl UnitView {
    /// Always of the same rows.
    pub(super) fn signatures(&self, rows: &UnitRows, equal: bool) -> &Signatures {
        self.signatures.get_or_init(|| Signatures::new(rows, &self.class_of_row, self.classes, equal))
    }

    /// By class, how many units can have some few of the values `codes` of an attribute.
    pub(super) fn value_limits(
        &self,
        attribute: usize,
        rows: &UnitRows,
        signatures: &Signatures,
        codes: &[u32],
    ) -> Option<&ValueLimits> {
        self.limits[attribute].get_or_init(|| ValueLimits::new(rows, self, signatures, codes)).as_ref()
    }

    /// By group, its units, suppressed or not.
    pub(super) fn members(&self, rows: &UnitRows, signatures: &Signatures) -> &MembersOf {
        self.members.get_or_init(|| MembersOf::new(signatures, rows.len()))
    }

    /// By group, how many units fit, suppressed or not; not all of them where they are very many.
    pub(super) fn count_fitting(&self, signatures: &Signatures) -> &[u32] {
        self.fitting.get_or_init(|| signatures.count_fitting(FITTING_MAX))
    }

    /// By class, how many of the units with a signature that have rows there are suppressed.
    pub(super) fn suppressed_by_class(&self, signatures: &Signatures, kept: &[bool]) -> Vec<u32> {
        let mut suppressed = vec![0u32; self.classes];
        for unit in (0..kept.len()).filter(|&unit| !kept[unit]) {
            if let Some(group) = signatures.of_unit(unit) {
                let classes = signatures.classes_of(group).chunk_by(|a, b| a == b);
                classes.for_each(|equal| suppressed[equal[0] as usize] += 1);
            }
        }
        suppressed
    }

    /// By class, how many units have rows there, without those that are gone.
    fn units_without(&self, rows: &UnitRows, gone: &[u32]) -> Vec<u32> {
        let mut units = self.units.get_or_init(|| self.units_of_classes(rows)).clone();
        let mut classes: Vec<u32> = Vec::new();
        for &unit in gone {
            classes.clear();
            classes.extend_from_slice(&self.class_of_row[rows.rows_of(unit as usize)]);
            classes.sort_unstable();
            classes.dedup();
            classes.iter().for_each(|&class| units[class as usize] -= 1);
        }
        units
    }

    fn units_of_classes(&self, rows: &UnitRows) -> Vec<u32> {
        // The units so far and the last one of them.
        let mut found = vec![(0u32, NONE); self.classes];
        for unit in 0..rows.len() {
            for row in rows.rows_of(unit) {
                let (units, last) = &mut found[self.class_of_row[row] as usize];
                *units += u32::from(*last != unit as u32);
                *last = unit as u32;
            }
        }
        found.into_iter().map(|(units, _)| units).collect()
    }
}

/// The units that are left, and what the others are.
pub(super) struct UnitsLeft<'a> {
    pub(super) rows: &'a UnitRows,
    pub(super) kept: Vec<bool>,
    /// Rows and units that are suppressed.
    pub(super) lost: u64,
    pub(super) lost_units: u64,
    /// The units that are suppressed, in the order in which they were.
    pub(super) gone: Vec<u32>,
    rows_allowed: u64,
    units_allowed: u64,
}

impl<'a> UnitsLeft<'a> {
    pub(super) fn all(rows: &'a UnitRows, rows_allowed: u64, units_allowed: u64) -> UnitsLeft<'a> {
        let kept = vec![true; rows.len()];
        UnitsLeft { rows, kept, lost: 0, lost_units: 0, gone: Vec::new(), rows_allowed, units_allowed }
    }

    pub(super) fn lose(&mut self, unit: usize) {
        if std::mem::replace(&mut self.kept[unit], false) && self.rows.count_of(unit) > 0 {
            self.lost += self.rows.count_of(unit);
            self.lost_units += 1;
            self.gone.push(unit as u32);
        }
    }

    pub(super) fn fails(&self) -> bool {
        self.lost > self.rows_allowed || self.lost_units > self.units_allowed || self.lost_units >= self.rows.units
    }

    pub(super) fn lose_all(&mut self, units: &[u32]) {
        units.iter().for_each(|&unit| self.lose(unit as usize));
    }

    /// The units that fail, until they alone are more than may be suppressed.
    pub(super) fn failing(&self, fails: impl FnMut(&usize) -> bool) -> Vec<u32> {
        let (mut rows, mut failing) = (self.lost, Vec::new());
        for unit in (0..self.rows.len()).filter(|&unit| self.kept[unit] && self.rows.count_of(unit) > 0).filter(fails) {
            failing.push(unit as u32);
            rows += self.rows.count_of(unit);
            if rows > self.rows_allowed {
                break;
            }
        }
        failing
    }

    /// The units that have a row in a class of too few units.
    pub(super) fn of_class_too_small(&self, view: &UnitView, needed: u64) -> Vec<u32> {
        if needed <= 1 {
            return Vec::new();
        }
        let units = view.units_without(self.rows, &self.gone);
        if !units.iter().any(|&units| units > 0 && u64::from(units) < needed) {
            return Vec::new();
        }
        let enough = |row: usize| u64::from(units[view.class_of_row[row] as usize]) >= needed;
        self.failing(|&unit| !self.rows.rows_of(unit).all(enough))
    }

    /// The units that too few fit. `known` is of this view and number.
    pub(super) fn fitted_by_too_few(
        &self,
        view: &UnitView,
        needed: u64,
        equal: bool,
        known: &mut HeldBefore,
    ) -> Vec<u32> {
        let only_single_rows = self.rows.entries.len() as u64 == self.rows.units;
        if needed <= 1 || only_single_rows && !equal {
            return Vec::new();
        }
        let signatures = view.signatures(self.rows, equal);
        let counts = signatures.counts_without(&self.gone);
        let still = known.still(view, signatures, &self.gone);
        let mut judged: Vec<Option<bool>> = still.into_iter().map(|still| still.then_some(true)).collect();
        judged.resize(signatures.len(), None);
        let enough = |group: u32| signatures.enough_fit(group, needed, &counts);
        // Groups that are few are judged before their units are looked at, until too many rows are
        // of those that fail.
        if signatures.len() <= self.rows.len() / 4 {
            let mut rows = self.lost;
            for group in 0..signatures.len() as u32 {
                let units = u64::from(counts[group as usize]);
                let judged = &mut judged[group as usize];
                if units > 0 && !*judged.get_or_insert_with(|| enough(group)) {
                    rows += units * signatures.classes_of(group).len() as u64;
                    if rows > self.rows_allowed {
                        break;
                    }
                }
            }
            if !judged.contains(&Some(false)) {
                known.learn(&judged, self.gone.len());
                return Vec::new();
            }
        }
        let failing = self.failing(|&unit| match signatures.of_unit(unit) {
            // What fits one row are the units of its class, which are looked at by themselves.
            None => false,
            Some(group) => !*judged[group as usize].get_or_insert_with(|| enough(group)),
        });
        known.learn(&judged, self.gone.len());
        failing
    }

    /// No finer levels suppress fewer rows; all where they fail by their units.
    pub(super) fn at_least(&self) -> u64 {
        if self.lost_units > self.units_allowed { self.rows.entries.len() as u64 } else { self.lost }
    }
}

/// The groups of equal signatures for which something was found to hold in earlier rounds.
#[derive(Debug, Default)]
pub(super) struct HeldBefore {
    /// Empty before the first round.
    holds: Vec<bool>,
    /// How many units were suppressed then.
    gone: usize,
}

impl HeldBefore {
    /// By group, whether it still holds: no unit that fits was suppressed since. One that does has
    /// rows in all classes of the group.
    pub(super) fn still(&self, view: &UnitView, signatures: &Signatures, gone: &[u32]) -> Vec<bool> {
        let mut changed = vec![false; if self.holds.is_empty() { 0 } else { view.classes }];
        if !self.holds.is_empty() {
            let since = gone[self.gone..].iter().filter_map(|&unit| signatures.of_unit(unit as usize));
            since.for_each(|group| {
                signatures.classes_of(group).iter().for_each(|&class| changed[class as usize] = true)
            });
        }
        let unchanged = |group: u32| signatures.classes_of(group).iter().any(|&class| !changed[class as usize]);
        (0u32..).zip(&self.holds).map(|(group, &holds)| holds && unchanged(group)).collect()
    }

    /// The same before any unit was suppressed.
    pub(super) fn at_the_start(&self) -> HeldBefore {
        HeldBefore { holds: self.holds.clone(), gone: 0 }
    }

    fn learn(&mut self, judged: &[Option<bool>], gone: usize) {
        self.holds = judged.iter().map(|judged| *judged == Some(true)).collect();
        self.gone = gone;
    }

    /// All groups were judged, and these units fail.
    pub(super) fn learn_all_but(&mut self, failing: &Failing<'_>, signatures: &Signatures, gone: &[u32]) {
        self.holds = vec![true; signatures.len()];
        let groups = failing.units.iter().filter_map(|&unit| signatures.of_unit(unit as usize));
        groups.for_each(|group| self.holds[group as usize] = false);
        self.gone = gone.len();
    }
}

/// The units that fail in one round, each once.
pub(super) struct Failing<'a> {
    of: &'a UnitRows,
    fails: Vec<bool>,
    units: Vec<u32>,
    rows: u64,
    /// How many rows and units more may be suppressed.
    rows_allowed: u64,
    units_allowed: u64,
}

impl<'a> Failing<'a> {
    /// None yet.
    pub(super) fn none(left: &UnitsLeft<'a>) -> Failing<'a> {
        Failing {
            of: left.rows,
            fails: vec![false; left.rows.len()],
            units: Vec::new(),
            rows: 0,
            rows_allowed: left.rows_allowed.saturating_sub(left.lost),
            units_allowed: left.units_allowed.saturating_sub(left.lost_units),
        }
    }

    pub(super) fn add(&mut self, units: &[u32]) {
        for &unit in units {
            if !std::mem::replace(&mut self.fails[unit as usize], true) {
                self.units.push(unit);
                self.rows += self.of.count_of(unit as usize);
            }
        }
    }

    /// Whether they are more than may be suppressed: which others fail does not matter then.
    pub(super) fn are_too_many(&self) -> bool {
        self.rows > self.rows_allowed || self.units.len() as u64 > self.units_allowed
    }

    pub(super) fn have_all(&self, units: &[u32]) -> bool {
        units.iter().all(|&unit| self.fails[unit as usize])
    }

    pub(super) fn into_units(self) -> Vec<u32> {
        self.units
    }
}
