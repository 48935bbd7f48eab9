//! Which units must be suppressed so that every rule holds for the rest.

use std::cell::OnceCell;

use hedgerow_table::frequency::FrequencySet;

use super::by_class::ByClass;
use super::left::{Failing, HeldBefore, UnitView, UnitsLeft};
use super::looks::{Growth, Judging, Looks, Measuring};
use super::settled::{SINGLE_VALUES_MAX, Settling};
use super::unit_sets::UnitSets;
use super::{KnownRows, UnitClass, UnitRows, UnitTerms};
use crate::judge::{Achieved, BoundRule};
use crate::{Class, Distribution, Judge, OnMerge};

/// The verdict about units on the levels that a set is on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitVerdict {
    /// No finer levels suppress fewer rows, nor do these.
    pub at_least: u64,
    /// Rows and units suppressed in all; meaningful when `kept` is present.
    pub suppressed: u64,
    pub suppressed_units: u64,
    /// The units that stay, where no more are suppressed than allowed and some stay.
    pub kept: Option<Vec<bool>>,
}

impl Judge {
    /// How units are judged, where rows belong to units.
    pub fn unit_terms(&self) -> Option<&UnitTerms> {
        self.units.as_ref()
    }

    /// The same rules over units.
    pub fn over_units(mut self, terms: UnitTerms) -> Judge {
        self.units = Some(terms);
        self
    }

    /// Whether enough units decide what a rule says of a set of them.
    fn is_about_units(rule: &BoundRule) -> bool {
        rule.is_about_rows()
    }

    /// How the guarantees of a rule behave over units when classes merge.
    pub(crate) fn on_merge_of_units(&self, terms: &UnitTerms) -> OnMerge {
        let all = self.rules.iter().zip(&terms.several_values).all(|(rule, &several)| {
            let absorbing = rule.guarantees.iter().all(|guarantee| guarantee.on_merge() == OnMerge::Absorbing);
            absorbing && (Judge::is_about_units(rule) || !several)
        });
        if all { OnMerge::Absorbing } else { OnMerge::Neither }
    }

    /// Judges a set that was rolled up from the finest one, whose rows `rows` has by unit. `places`
    /// tells into which entry each of the finest set's was rolled up.
    pub fn judge_units<const W: usize>(
        &self,
        terms: &UnitTerms,
        set: &FrequencySet<W>,
        rows: &UnitRows,
        places: &[u32],
    ) -> UnitVerdict {
        let views = self.views(set, rows, places);
        let mut left = UnitsLeft::all(rows, self.allowed(), terms.allowed);
        let mut known: Vec<HeldBefore> = views.iter().map(|_| HeldBefore::default()).collect();
        while !left.fails() && self.lose_by_cores(terms, &views, &mut left, &mut known) {}
        let failed = UnitVerdict { at_least: left.at_least(), suppressed: 0, suppressed_units: 0, kept: None };
        if left.fails() {
            return failed;
        }
        let at_least = left.lost;
        if !self.rules.iter().all(Judge::is_about_units) {
            left = UnitsLeft::all(rows, self.allowed(), terms.allowed);
            let mut known = self.known_by_cores(terms, &views, &known);
            while !left.fails() && self.lose_by_rules(terms, &views, &mut left, &mut known) {}
            if left.fails() {
                // What an absorbing guarantee suppresses, finer levels suppress too.
                let absorbing = self.on_merge() == OnMerge::Absorbing;
                return UnitVerdict { at_least: if absorbing { left.at_least() } else { at_least }, ..failed };
            }
        }
        let UnitsLeft { kept, lost, lost_units, .. } = left;
        UnitVerdict { at_least, suppressed: lost, suppressed_units: lost_units, kept: Some(rows.by_number(&kept)) }
    }

    /// By rule, what holds of groups before any unit is suppressed, as the cores left them: enough
    /// of the units that stay fit, so that enough of all do.
    fn known_by_cores(&self, terms: &UnitTerms, views: &[UnitView], cores: &[HeldBefore]) -> Vec<HeldBefore> {
        let known = |(rule, rows): (&BoundRule, &KnownRows)| {
            let view = views.iter().position(|view| view.know == rule.know);
            let of_view = view.filter(|_| *rows == KnownRows::All && Judge::is_about_units(rule));
            of_view.map(|view| cores[view].at_the_start()).unwrap_or_default()
        };
        self.rules.iter().zip(&terms.rows).map(known).collect()
    }

    /// The units of those left in a table that some rule fails for, over rows or over units, judged
    /// before any of them is suppressed. None where every rule holds.
    pub fn failing_units<const W: usize>(
        &self,
        terms: &UnitTerms,
        set: &FrequencySet<W>,
        rows: &UnitRows,
        kept: &[bool],
    ) -> Vec<bool> {
        let places: Vec<u32> = (0..set.len() as u32).collect();
        let mut left = UnitsLeft::all(rows, u64::MAX, u64::MAX);
        let kept = rows.by_place(kept);
        (0..kept.len()).filter(|&unit| !kept[unit]).for_each(|unit| left.lose(unit));
        let mut known: Vec<HeldBefore> = self.rules.iter().map(|_| HeldBefore::default()).collect();
        self.lose_by_rules(terms, &self.views(set, rows, &places), &mut left, &mut known);
        let failing: Vec<bool> = kept.iter().zip(&left.kept).map(|(before, after)| *before && !after).collect();
        rows.by_number(&failing)
    }

    /// The level of every guarantee over the units of a table, one by one and, where the attacker
    /// knows every row, for those that fit. Rows are left to [`Judge::achieved`].
    pub fn achieved_over_units<const W: usize>(
        &self,
        terms: &UnitTerms,
        set: &FrequencySet<W>,
        rows: &UnitRows,
        kept: &[bool],
    ) -> Vec<Vec<Achieved>> {
        let places: Vec<u32> = (0..set.len() as u32).collect();
        let views = self.views(set, rows, &places);
        let kept = &rows.by_place(kept);
        let achieved = self.rules.iter().enumerate().map(|(number, rule)| {
            let mut measuring = Measuring::new(rule, self.tables(number, rows, kept), rows);
            let view = view_of(&views, rule);
            let by_class = ByClass::new(rows, view, kept, &[]);
            self.look_at_units(number, terms, view, rows, kept, &by_class, &[], &mut measuring);
            measuring.achieved()
        });
        achieved.collect()
    }

    /// Whether a rule holds for units of which a link shows every value. True of rules that need
    /// one value for each unit: these are judged class by class.
    pub fn holds_for_whole_units(&self, number: usize, terms: &UnitTerms, values: &[Vec<u32>]) -> bool {
        !terms.linked || self.holds_for_any_of_values(number, terms, values)
    }

    /// Whether a rule holds for units that may each stand for any of their values: those of all
    /// rows in one class. True of rules for which each unit has one value.
    pub fn holds_for_any_of_values(&self, number: usize, terms: &UnitTerms, values: &[Vec<u32>]) -> bool {
        if !terms.several_values[number] {
            return true;
        }
        let mut class = UnitClass::new(terms.missing[number]);
        class.of_whole_units(values.iter().map(Vec::as_slice));
        let nothing = Distribution::default();
        self.rules[number].guarantees.iter().all(|guarantee| class.holds(guarantee.as_ref(), &nothing))
    }

    fn views<const W: usize>(&self, set: &FrequencySet<W>, rows: &UnitRows, places: &[u32]) -> Vec<UnitView> {
        let groupings = self.groupings(set).into_iter();
        groupings
            .map(|(know, grouping)| {
                let class_of = |entry: u32| match &grouping {
                    Some(grouping) => grouping.of_entry[entry as usize],
                    None => entry,
                };
                let of_base: Vec<u32> = places.iter().map(|&place| class_of(place)).collect();
                let class_of_row = rows.entries.iter().map(|&entry| of_base[entry as usize]).collect();
                let classes = grouping.as_ref().map_or(set.len(), |grouping| grouping.sizes.len());
                let limits = rows.values.iter().map(|_| OnceCell::new()).collect();
                UnitView {
                    know,
                    class_of_row,
                    classes,
                    signatures: OnceCell::new(),
                    units: OnceCell::new(),
                    limits,
                    members: OnceCell::new(),
                    fitting: OnceCell::new(),
                }
            })
            .collect()
    }

    /// One round of what no finer levels avoid: classes of too few units, and units that too few
    /// fit. Whether any were suppressed.
    fn lose_by_cores(
        &self,
        terms: &UnitTerms,
        views: &[UnitView],
        left: &mut UnitsLeft<'_>,
        known: &mut [HeldBefore],
    ) -> bool {
        let before = left.lost_units;
        for (view, known) in views.iter().zip(known) {
            let needed = |known: Option<KnownRows>| {
                let rules = self.rules.iter().zip(&terms.rows).filter(|(rule, _)| rule.know == view.know);
                let rules = rules.filter(|(_, rows)| known.is_none_or(|known| **rows == known));
                rules.map(|(rule, _)| rule.units_needed()).max().unwrap_or(0)
            };
            let mut lost = left.of_class_too_small(view, needed(None));
            left.lose_all(&lost);
            if left.fails() {
                return true;
            }
            lost = left.fitted_by_too_few(view, needed(Some(KnownRows::All)), terms.linked, known);
            left.lose_all(&lost);
            if left.fails() {
                return true;
            }
        }
        left.lost_units > before
    }

    /// One round: all units that some rule fails for, judged before any of them is suppressed; or
    /// more of them than may be suppressed.
    fn lose_by_rules(
        &self,
        terms: &UnitTerms,
        views: &[UnitView],
        left: &mut UnitsLeft<'_>,
        known: &mut [HeldBefore],
    ) -> bool {
        let mut failing = Failing::none(left);
        // What the number of units decides costs least.
        let (about_units, others): (Vec<usize>, Vec<usize>) =
            (0..self.rules.len()).partition(|&number| Judge::is_about_units(&self.rules[number]));
        for number in about_units {
            let rule = &self.rules[number];
            let view = view_of(views, rule);
            failing.add(&left.of_class_too_small(view, rule.units_needed()));
            if terms.rows[number] == KnownRows::All && !failing.are_too_many() {
                failing.add(&left.fitted_by_too_few(view, rule.units_needed(), terms.linked, &mut known[number]));
            }
        }
        for number in others {
            if failing.are_too_many() {
                break;
            }
            let rule = &self.rules[number];
            let view = view_of(views, rule);
            let settling = self.settling(number, terms, left.rows);
            let settled = settling.map(|settling| {
                let units = view.units_without(left.rows, &left.gone);
                settling.classes(left.rows, view, &left.kept, &units)
            });
            let settled = settled.unwrap_or_default();
            let by_class = ByClass::new(left.rows, view, &left.kept, &settled);
            self.fail_rows(number, left, &by_class, &mut failing);
            let tables = self.tables(number, left.rows, &left.kept);
            let mut judging = Judging { rule, tables, failing: &mut failing };
            // What a class compares with the table changes with each unit that is suppressed.
            if terms.rows[number] == KnownRows::One || rule.compares_with_table() {
                self.look_at_units(number, terms, view, left.rows, &left.kept, &by_class, &[], &mut judging);
                continue;
            }
            let signatures = view.signatures(left.rows, terms.linked);
            let still = known[number].still(view, signatures, &left.gone);
            self.look_at_units(number, terms, view, left.rows, &left.kept, &by_class, &still, &mut judging);
            known[number].learn_all_but(&failing, signatures, &left.gone);
        }
        let failed = failing.into_units();
        left.lose_all(&failed);
        !failed.is_empty()
    }

    /// Where the single values of some units of a class can show that a rule holds for all of them:
    /// the condition on these.
    fn settling<'r>(&self, number: usize, terms: &UnitTerms, rows: &'r UnitRows) -> Option<Settling<'r>> {
        let rule = &self.rules[number];
        let needed = rule.values_needed().filter(|needed| needed.values <= SINGLE_VALUES_MAX)?;
        let codes = rule.protect.and_then(|protect| rows.values[protect].as_ref())?;
        // A link shows values of other classes too.
        let is_shown = !(terms.linked && terms.several_values[number]);
        let values = needed.values.max(1) as usize;
        is_shown.then(|| Settling { codes, missing: terms.missing[number], units: rule.core().rows, values })
    }

    /// The units with rows in a class that fails by its rows, as it would without units.
    fn fail_rows(&self, number: usize, left: &UnitsLeft<'_>, by_class: &ByClass, failing: &mut Failing<'_>) {
        let rule = &self.rules[number];
        let Some(codes) =
            rule.protect.filter(|_| rule.needs_values()).and_then(|protect| left.rows.values[protect].as_ref())
        else {
            // Enough units are enough rows.
            return;
        };
        let released = rule.compares_with_table().then(|| self.rows_by_value(rule, left));
        let released = Distribution::new(released.unwrap_or_default(), rule.tree.as_ref());
        let mut values: Vec<(u32, u32)> = Vec::new();
        let mut sorted: Vec<u32> = Vec::new();
        for members in by_class.iter() {
            sorted.clear();
            sorted.extend(members.iter().map(|&(_, row)| codes[row as usize]));
            sorted.sort_unstable();
            values.clear();
            values.extend(sorted.chunk_by(|a, b| a == b).map(|equal| (equal[0], equal.len() as u32)));
            let class = Class { rows: members.len() as u64, values: &values };
            let holds = rule.guarantees.iter().all(|guarantee| {
                let source = rule.source.as_ref().filter(|_| guarantee.compares_with_table());
                source.into_iter().chain([&released]).all(|table| guarantee.holds(class, table))
            });
            if !holds {
                members.iter().for_each(|&(unit, _)| failing.add(&[unit]));
            }
            if failing.are_too_many() {
                return;
            }
        }
    }

    fn rows_by_value(&self, rule: &BoundRule, left: &UnitsLeft<'_>) -> Vec<u64> {
        let Some(protect) = rule.protect else { return Vec::new() };
        let mut counts = vec![0u64; self.cardinalities[protect]];
        let Some(codes) = &left.rows.values[protect] else { return counts };
        for unit in (0..left.rows.len()).filter(|&unit| left.kept[unit]) {
            left.rows.rows_of(unit).for_each(|row| counts[codes[row] as usize] += 1);
        }
        counts
    }

    /// Units of every value of what a rule protects, where it compares with the table: then each
    /// unit has one.
    pub(super) fn units_by_value(&self, number: usize, rows: &UnitRows, kept: &[bool]) -> Vec<u64> {
        let rule = &self.rules[number];
        let (Some(protect), true) = (rule.protect, rule.compares_with_table()) else { return Vec::new() };
        let mut counts = vec![0u64; self.cardinalities[protect]];
        let Some(codes) = &rows.values[protect] else { return counts };
        for unit in (0..rows.len()).filter(|&unit| kept[unit] && rows.count_of(unit) > 0) {
            counts[codes[rows.starts[unit] as usize] as usize] += 1;
        }
        counts
    }

    /// The units that the guarantees of a rule compare with: the units left, and those of the
    /// source where there is one.
    fn tables(&self, number: usize, rows: &UnitRows, kept: &[bool]) -> Vec<Distribution> {
        let rule = &self.rules[number];
        if !rule.compares_with_table() {
            return vec![Distribution::default()];
        }
        let source = rule.source.as_ref().map(|_| rows.sources[number].clone());
        let counts = source.into_iter().chain([self.units_by_value(number, rows, kept)]);
        counts.map(|counts| Distribution::new(counts, rule.tree.as_ref())).collect()
    }

    /// Shows every set of units that a rule must hold for. Signatures of which the answer is
    /// `known` to hold are omitted.
    #[expect(clippy::too_many_arguments, reason = "a rule over units of a table, and what is asked about them")]
    fn look_at_units(
        &self,
        number: usize,
        terms: &UnitTerms,
        view: &UnitView,
        rows: &UnitRows,
        kept: &[bool],
        by_class: &ByClass,
        known: &[bool],
        looks: &mut dyn Looks,
    ) {
        let rule = &self.rules[number];
        let protect = rule.protect.filter(|_| rule.needs_values());
        let protect = protect.and_then(|protect| Some((protect, rows.values[protect].as_deref()?)));
        let one_value = protect.is_none() || !terms.several_values[number];
        let absorbing = rule.guarantees.iter().all(|guarantee| guarantee.on_merge() == OnMerge::Absorbing);
        let growth = match one_value {
            true if absorbing => Growth::Absorbing,
            false if self.settling(number, terms, rows).is_some() => Growth::SingleValues,
            _ => Growth::Any,
        };
        let missing = terms.missing[number];
        let sets = UnitSets { view, rows, kept, linked: terms.linked, protect, missing, one_value, growth };
        sets.of_classes(by_class, looks);
        if terms.rows[number] == KnownRows::All {
            sets.that_fit(known, looks);
        }
    }
}

fn view_of<'v>(views: &'v [UnitView], rule: &BoundRule) -> &'v UnitView {
    views.iter().find(|view| view.know == rule.know).expect("a view for every `know`")
}
