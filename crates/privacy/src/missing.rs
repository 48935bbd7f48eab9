//! Missing values never buy privacy: a guarantee on a protected attribute must hold twice, with
//! missing as a value of its own, and among the rows whose value is known.
//!
//! Without the second half, {flu, flu, missing} would be 2-diverse, though every known value
//! there is flu. A class without any known value is judged by the first half alone.
//!
//! **Merging survives.** Where the known rows of both parts hold, so does their union; where one
//! part has none, the union's known rows are the other's. A comparison with the table is a
//! comparison with the table's known rows. **Absorbing survives** for distinct l-diversity: for l ≥
//! 2 a class that holds has l known values, and keeps them in every union; for l = 1 every class
//! holds. Cross-release l-diversity counts known values only, by itself.
//!
//! Missing is the last code of a domain, so the known rows of a class are all its values but the
//! last: nothing is copied.

use std::sync::OnceLock;

use crate::guarantee::{ClassMeasure, ValuesNeeded};
use crate::proximity::Proximity;
use crate::{Absorbing, Class, Distribution, Guarantee, Model, OnMerge, Tree};

/// A guarantee of an attribute that has missing values.
#[derive(Debug)]
pub(crate) struct HoldsTwice {
    guarantee: Box<dyn Guarantee>,
    /// The code of the missing value.
    missing: u32,
    tree: Option<Tree>,
}

impl HoldsTwice {
    pub(crate) fn new(guarantee: Box<dyn Guarantee>, missing: u32, tree: Option<Tree>) -> HoldsTwice {
        HoldsTwice { guarantee, missing, tree }
    }

    /// The rows of a class whose value is known, where there are any and judging them can differ
    /// from judging all rows. A class without missing values differs too when the table that it is
    /// compared with has some.
    fn known<'c>(&self, class: Class<'c>) -> Option<Class<'c>> {
        let (&(code, count), values) = class.values.split_last()?;
        if code != self.missing {
            return self.guarantee.compares_with_table().then_some(class);
        }
        // A unit may have a known value and the missing one: there are as many as have any value.
        let most = values.iter().map(|&(_, count)| u64::from(count)).max().unwrap_or(0);
        let rows = class.rows.checked_sub(u64::from(count))?.max(most);
        (!values.is_empty()).then_some(Class { rows, values })
    }

    fn known_table<'t>(&self, table: &'t Distribution) -> &'t Distribution {
        if self.guarantee.compares_with_table() { table.known(self.missing, self.tree.as_ref()) } else { table }
    }
}

impl Guarantee for HoldsTwice {
    fn model(&self) -> &Model {
        self.guarantee.model()
    }

    fn on_merge(&self) -> OnMerge {
        self.guarantee.on_merge()
    }

    fn core(&self) -> Absorbing {
        self.guarantee.core()
    }

    /// A number of values does not say how many of them are known.
    fn core_is_more(&self) -> bool {
        self.on_merge() == OnMerge::Absorbing
    }

    /// From two values on, the known ones alone decide. One value is there in every class, and may
    /// be the missing one.
    fn values_needed(&self) -> Option<ValuesNeeded> {
        let needed = self.guarantee.values_needed()?;
        Some(ValuesNeeded { missing: Some(self.missing).filter(|_| needed.values > 1), ..needed })
    }

    /// Both halves hold, so that the bounds of both are true.
    fn kept_at_most(&self, class: Class<'_>) -> u64 {
        let all = self.guarantee.kept_at_most(class);
        match self.known(class) {
            Some(known) => all.min(class.rows - known.rows + self.guarantee.kept_at_most(known)),
            None => all,
        }
    }

    fn bounds_parts(&self) -> bool {
        self.guarantee.bounds_parts()
    }

    fn compares_with_table(&self) -> bool {
        self.guarantee.compares_with_table()
    }

    fn windows(&self) -> Option<&Proximity> {
        self.guarantee.windows()
    }

    fn holds(&self, class: Class<'_>, table: &Distribution) -> bool {
        self.guarantee.holds(class, table)
            && self.known(class).is_none_or(|known| self.guarantee.holds(known, self.known_table(table)))
    }

    fn measure(&self, class: Class<'_>, table: &Distribution) -> Vec<ClassMeasure> {
        let all = self.guarantee.measure(class, table);
        let Some(known) = self.known(class) else { return all };
        let known = self.guarantee.measure(known, self.known_table(table));
        all.into_iter().zip(known).map(|(all, known)| all.worse(known)).collect()
    }
}

/// The distribution of the known values, worked out when first needed.
#[derive(Debug, Clone, Default)]
pub(crate) struct KnownDistribution(OnceLock<Box<Distribution>>);

impl KnownDistribution {
    pub(crate) fn get_or_init(&self, init: impl FnOnce() -> Distribution) -> &Distribution {
        self.0.get_or_init(|| Box::new(init()))
    }
}

/// It follows from the counts.
impl PartialEq for KnownDistribution {
    fn eq(&self, _: &KnownDistribution) -> bool {
        true
    }
}

impl Eq for KnownDistribution {}

#[cfg(test)]
mod tests {
    use hedgerow_table::{Domain, Ratio};

    use crate::models::testing::{holds_for, measured};
    use crate::{Class, Context, Distance, Distribution, Model, NumberCloseness, models};

    fn ratio(value: f64) -> Ratio {
        Ratio::from_decimal(value).unwrap()
    }

    /// Every model refuses a class that is diverse only by its missing values.
    #[test]
    fn a_missing_value_does_not_count_as_a_second_value() {
        for model in [
            Model::DistinctLDiversity { l: 2 },
            Model::FrequencyLDiversity { l: ratio(1.5) },
            Model::EntropyLDiversity { l: ratio(1.5) },
            Model::RecursiveLDiversity { c: ratio(3.0), l: 2 },
            Model::AlphaKAnonymity { alpha: ratio(0.7), k: 1, values: None },
            Model::AlphaKAnonymity { alpha: ratio(0.7), k: 1, values: Some(vec!["1".to_owned()]) },
            Model::AlphaKAnonymity { alpha: ratio(1.0), k: 3, values: None },
            Model::EpsilonMAnonymity { epsilon: ratio(0.0), m: ratio(1.5), relative: false },
            Model::DeltaLDiversity { delta: ratio(0.0), l: ratio(1.5), reading: NumberCloseness::Window },
            Model::DeltaLDiversity { delta: ratio(0.0), l: ratio(1.5), reading: NumberCloseness::Pairwise },
        ] {
            assert!(!holds_for(&model, &["1", "1", ""]), "{model:?}");
            assert!(holds_for(&model, &["1", "1", "5", "5", "9", "9", ""]), "{model:?}");
        }
        assert!(!holds_for(&Model::DistinctLDiversity { l: 2 }, &["", ""]), "missing is one value");
        assert!(holds_for(&Model::DistinctLDiversity { l: 1 }, &["", ""]));
        assert!(
            !holds_for(&Model::FrequencyLDiversity { l: ratio(2.0) }, &["1", "2", "", "", ""]),
            "too many are missing"
        );
        assert_eq!(measured(&Model::DistinctLDiversity { l: 2 }, &["1", "1", ""]), 1.0);
        assert_eq!(measured(&Model::DistinctLDiversity { l: 2 }, &["1", "2", ""]), 2.0);
    }

    /// Half of the table is missing, and of the known values half are `a`. The class has the right
    /// share of missing values and of `a` among all its rows, and is still all `a` where a value is
    /// known.
    #[test]
    fn the_known_values_are_compared_with_the_tables_known_values() {
        let domain = Domain::from_texts(&["a", "b"], true, None).unwrap().0;
        let table = Distribution::new(vec![25, 25, 50], None);
        let class = Class { rows: 4, values: &[(0, 2), (2, 2)] };
        let order = ["a", "b"].map(str::to_owned).to_vec();
        for (model, t) in [
            (Model::TCloseness { t: ratio(0.3), distance: Distance::Equal, order: None }, 0.5),
            (Model::TCloseness { t: ratio(0.3), distance: Distance::Ordered, order: Some(order) }, 0.5),
            (Model::EpsilonClone { epsilon: ratio(0.3) }, 1.0),
        ] {
            let context = Context { protect: Some(&domain), ..Context::default() };
            let guarantee = models::guarantee(&model, &context).unwrap();
            assert!(!guarantee.holds(class, &table), "{model:?}");
            assert_eq!(guarantee.measure(class, &table)[0].value, t, "{model:?}");
            assert!(guarantee.holds(Class { rows: 4, values: &[(0, 1), (1, 1), (2, 2)] }, &table), "{model:?}");
        }
    }

    /// Ordered distance from its definition, over all rows and over the known rows, on random
    /// classes of random tables.
    #[test]
    fn distances_agree_with_their_definition_on_both_halves() {
        use rand::rngs::StdRng;
        use rand::{RngExt, SeedableRng};
        let by_order = |class: &[u64], table: &[u64]| {
            let rows = |counts: &[u64]| counts.iter().sum::<u64>() as f64;
            let occurring: Vec<usize> = (0..table.len()).filter(|&code| table[code] > 0).collect();
            let (mut cumulated, mut sum) = (0.0, 0.0);
            for &code in &occurring {
                cumulated += class[code] as f64 / rows(class) - table[code] as f64 / rows(table);
                sum += f64::abs(cumulated);
            }
            sum / (occurring.len() as f64 - 1.0).max(1.0)
        };
        for seed in 0..3000u64 {
            let mut rng = StdRng::seed_from_u64(seed);
            let values = rng.random_range(1..6usize);
            let texts: Vec<String> = (0..values).map(|value| value.to_string()).collect();
            let domain = Domain::from_texts(&texts, true, None).unwrap().0;
            let table: Vec<u64> = (0..=values).map(|_| rng.random_range(0..6)).collect();
            let class: Vec<u64> = table.iter().map(|&count| rng.random_range(0..=count)).collect();
            if class[..values].iter().sum::<u64>() == 0 {
                continue;
            }
            let expected = by_order(&class, &table).max(by_order(&class[..values], &table[..values]));
            let model = Model::TCloseness { t: ratio(0.35), distance: Distance::Ordered, order: None };
            let guarantee =
                models::guarantee(&model, &Context { protect: Some(&domain), ..Context::default() }).unwrap();
            let counted: Vec<(u32, u32)> =
                (0..).zip(&class).filter(|(_, count)| **count > 0).map(|(code, &count)| (code, count as u32)).collect();
            let judged = Class { rows: class.iter().sum(), values: &counted };
            let table = Distribution::new(table, None);
            let found = guarantee.measure(judged, &table)[0].value;
            assert!((found - expected).abs() < 1e-12, "seed {seed}: {found} is not {expected}");
            assert_eq!(guarantee.holds(judged, &table), expected <= 0.35 + 1e-12, "seed {seed}: {expected}");
        }
    }
}
