//! A set of units, each with the protected values that it may stand for.
//!
//! A guarantee holds when it holds for every choice of one value for each unit. Let a value v be
//! had by n(v) units, and be the only value of o(v) of them; N units in all, M of them with several
//! values. Whatever each unit stands for, j values together have at most
//!
//! > cover(j) = min(N, the j largest n, M + the j largest o)
//!
//! units. The counts cover(1), cover(2) − cover(1), … therefore majorize those of every choice, and
//! a model that holds for a distribution and then for every more even one (distinct, frequency,
//! entropy and recursive l-diversity, (α,k)-anonymity of all values) is judged by them. Models that
//! limit named or near values are judged with n(v) of N units. Where no unit has several values,
//! both are the units of each value.

use crate::guarantee::ClassMeasure;
use crate::{Class, Distribution, Guarantee, Model};

/// The units of a class, or of those that fit a unit, by the values that they have there.
#[derive(Debug, Default)]
pub(crate) struct UnitClass {
    /// Units in all.
    pub(crate) units: u64,
    /// From how many units on a part is looked at again.
    pub(super) shown_at: u64,
    all: UnitValues,
    /// The same among the units that have a known value, by their known values; only where some
    /// unit has several values.
    known: UnitValues,
    missing: Option<u32>,
    /// The known values that some unit has alone, and how many do.
    single: Vec<(u32, u32)>,
}

#[derive(Debug, Default)]
struct UnitValues {
    units: u64,
    /// Units with several values.
    several: u64,
    /// By value, the units that have it, and those of them that have no other.
    had: Vec<(u32, u32)>,
    /// The values that some unit has.
    values: Vec<u32>,
    /// A value and the units that have it, ascending by value.
    by_value: Vec<(u32, u32)>,
    /// As many as by value: the units that have it alone.
    alone: Vec<u32>,
    /// Counts that majorize those of every choice.
    majorant: Vec<(u32, u32)>,
}

/// The aspect of the values that a model depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Statistic {
    /// How the units are distributed, whichever values these are.
    Shares,
    /// How many units have a value, or one near it.
    EachValue,
    /// The distribution of the table, what other releases say, or whether a value occurs: needs one
    /// value for each unit.
    OneValue,
}

fn statistic(model: &Model) -> Statistic {
    match model {
        Model::KAnonymity { .. }
        | Model::DistinctLDiversity { .. }
        | Model::FrequencyLDiversity { .. }
        | Model::EntropyLDiversity { .. }
        | Model::RecursiveLDiversity { .. }
        | Model::AlphaKAnonymity { values: None, .. } => Statistic::Shares,
        Model::AlphaKAnonymity { values: Some(_), .. }
        | Model::EpsilonMAnonymity { .. }
        | Model::DeltaLDiversity { .. } => Statistic::EachValue,
        Model::TCloseness { .. }
        | Model::EpsilonClone { .. }
        | Model::CrossReleaseLDiversity { .. }
        | Model::RhoBreach { .. }
        | Model::BeliefChange { .. } => Statistic::OneValue,
        // The majorant has no values by name, so that no set of units would have any of them.
        Model::Conditional { having: Some(_), .. } => Statistic::OneValue,
        Model::Conditional { model, .. } => statistic(model),
    }
}

/// Whether a model can be judged where a unit has several values.
pub fn allows_several_values(model: &Model) -> bool {
    statistic(model) != Statistic::OneValue
}

impl UnitClass {
    pub(crate) fn new(missing: Option<u32>) -> UnitClass {
        UnitClass { missing, ..UnitClass::default() }
    }

    pub(crate) fn clear(&mut self) {
        (self.units, self.shown_at) = (0, 0);
        self.all.clear();
        self.known.clear();
    }

    /// Adds a unit with its values, which are sorted on the way; none where values do not matter.
    pub(crate) fn add(&mut self, values: &mut Vec<u32>) {
        self.units += 1;
        values.sort_unstable();
        values.dedup();
        self.all.add(values);
        // Where none is missing, the known values are all.
        if self.missing.is_some() {
            values.retain(|&value| Some(value) != self.missing);
            self.known.add(values);
        }
    }

    /// Starts again with units that may each stand for any value of any of their rows.
    pub(crate) fn of_whole_units<'v>(&mut self, units: impl Iterator<Item = &'v [u32]>) {
        self.clear();
        let mut values: Vec<u32> = Vec::new();
        for of_unit in units {
            values.clear();
            values.extend_from_slice(of_unit);
            self.add(&mut values);
        }
        self.count();
    }

    /// Counts what was added.
    pub(crate) fn count(&mut self) {
        self.all.count();
        if self.all.several > 0 {
            self.known.count();
        }
    }

    /// The units with the known values that some of them have alone. Where models ask for numbers
    /// of units and of different values, they hold for every set that has these units among it
    /// when they hold for this: with o(v) > 0 for l values, M + the l − 1 largest o are fewer than
    /// N.
    pub(crate) fn of_single_values(&mut self) -> Class<'_> {
        let had = &self.all.had;
        let alone = |value: &u32| (*value, had[*value as usize].1);
        self.single.clear();
        self.single.extend(self.all.values.iter().map(alone));
        let missing = self.missing;
        self.single.retain(|&(value, alone)| alone > 0 && Some(value) != missing);
        self.single.sort_unstable();
        Class { rows: self.units, values: &self.single }
    }

    pub(crate) fn class(&self) -> Class<'_> {
        Class { rows: self.units, values: &self.all.by_value }
    }

    /// The classes that a guarantee must hold for.
    fn each(&self, guarantee: &dyn Guarantee) -> impl Iterator<Item = Class<'_>> {
        let by_shares = self.all.several > 0 && statistic(guarantee.model()) == Statistic::Shares;
        let by_known = match guarantee.model() {
            // Missing values say nothing of how many units look alike.
            Model::KAnonymity { .. } => false,
            // Enough units are enough, whether their values are known or not.
            Model::Conditional { below: Some(below), .. } => self.units < *below,
            _ => true,
        };
        let (all, known) = match by_shares {
            true => (self.all.majorized(), Some(self.known.majorized()).filter(|known| by_known && known.rows > 0)),
            // Where missing values count apart, the guarantee itself looks at the known ones.
            false => (self.class(), None),
        };
        [Some(all), known].into_iter().flatten()
    }

    pub(crate) fn holds(&self, guarantee: &dyn Guarantee, table: &Distribution) -> bool {
        let judged = self.all.several == 0 || allows_several_values(guarantee.model());
        judged && self.each(guarantee).all(|class| guarantee.holds(class, table))
    }

    /// The worst measures.
    pub(crate) fn measure(&self, guarantee: &dyn Guarantee, table: &Distribution) -> Vec<ClassMeasure> {
        let measured = self.each(guarantee).map(|class| guarantee.measure(class, table));
        measured.reduce(ClassMeasure::worse_of).unwrap_or_default()
    }
}

impl UnitValues {
    fn clear(&mut self) {
        (self.units, self.several) = (0, 0);
        let had = &mut self.had;
        self.values.drain(..).for_each(|value| had[value as usize] = (0, 0));
    }

    fn add(&mut self, values: &[u32]) {
        if values.is_empty() {
            return;
        }
        self.units += 1;
        self.several += u64::from(values.len() > 1);
        for &value in values {
            if value as usize >= self.had.len() {
                self.had.resize(value as usize + 1, (0, 0));
            }
            let (units, alone) = &mut self.had[value as usize];
            if *units == 0 {
                self.values.push(value);
            }
            *units += 1;
            *alone += u32::from(values.len() == 1);
        }
    }

    fn count(&mut self) {
        self.values.sort_unstable();
        let had = &self.had;
        self.by_value.clear();
        self.by_value.extend(self.values.iter().map(|&value| (value, had[value as usize].0)));
        self.alone.clear();
        self.alone.extend(self.values.iter().map(|&value| had[value as usize].1));
        if self.several > 0 {
            self.majorize();
        }
    }

    fn majorize(&mut self) {
        let mut had: Vec<u64> = self.by_value.iter().map(|&(_, units)| u64::from(units)).collect();
        let mut alone: Vec<u64> = self.alone.iter().map(|&units| u64::from(units)).collect();
        had.sort_unstable_by(|a, b| b.cmp(a));
        alone.sort_unstable_by(|a, b| b.cmp(a));
        self.majorant.clear();
        // No domain has such codes, so that none is taken for the missing value.
        let first = u32::MAX - 1 - had.len() as u32;
        let (mut sum_had, mut sum_alone, mut before) = (0, self.several, 0);
        for (code, (had, alone)) in (first..).zip(had.into_iter().zip(alone)) {
            (sum_had, sum_alone) = (sum_had + had, sum_alone + alone);
            let covered = self.units.min(sum_had).min(sum_alone);
            if covered > before {
                self.majorant.push((code, (covered - before) as u32));
            }
            before = covered;
        }
    }

    fn majorized(&self) -> Class<'_> {
        let values = if self.several > 0 { &self.majorant } else { &self.by_value };
        Class { rows: self.units, values }
    }
}

#[cfg(test)]
mod tests {
    use hedgerow_table::Ratio;

    use super::*;
    use crate::models::{Context, guarantee};

    fn class(units: &[&[u32]], missing: Option<u32>) -> UnitClass {
        let mut class = UnitClass::new(missing);
        for values in units {
            class.add(&mut values.to_vec());
        }
        class.count();
        class
    }

    fn holds(model: &Model, units: &[&[u32]]) -> bool {
        let guarantee = guarantee(model, &Context::default()).unwrap();
        class(units, None).holds(guarantee.as_ref(), &Distribution::default())
    }

    /// All have 0 in common, so an attacker is sure of it, though three values occur.
    #[test]
    fn a_value_that_every_unit_has_is_disclosed() {
        let shared: &[&[u32]] = &[&[0, 1], &[0], &[0, 2]];
        assert!(!holds(&Model::DistinctLDiversity { l: 2 }, shared));
        assert!(!holds(&Model::FrequencyLDiversity { l: Ratio::integer(2) }, shared));
        let apart: &[&[u32]] = &[&[0, 1], &[2], &[0, 3], &[1]];
        assert!(holds(&Model::DistinctLDiversity { l: 2 }, apart));
        assert!(holds(&Model::FrequencyLDiversity { l: Ratio::integer(2) }, apart));
        assert!(!holds(&Model::DistinctLDiversity { l: 5 }, apart), "four units stand for four values at most");
    }

    /// One unit with many values is one unit.
    #[test]
    fn many_values_of_one_unit_are_one_value() {
        assert!(!holds(&Model::DistinctLDiversity { l: 2 }, &[&[0, 1, 2, 3]]));
        assert!(!holds(&Model::KAnonymity { k: 2 }, &[&[0, 1, 2, 3]]));
    }

    #[test]
    fn among_known_values_units_without_any_do_not_count() {
        let missing = 9;
        let context = Context { missing: Some(missing), ..Context::default() };
        let two = guarantee(&Model::DistinctLDiversity { l: 2 }, &context).unwrap();
        let judged = |units: &[&[u32]]| class(units, Some(missing)).holds(two.as_ref(), &Distribution::default());
        assert!(!judged(&[&[0], &[0, missing], &[missing]]), "a unit with a known value has 0");
        assert!(judged(&[&[0], &[1, missing], &[missing]]));
        assert!(!judged(&[&[0, missing], &[1, missing]]), "both may stand for missing");
    }
}
