//! (ε,m)-anonymity: around every protected value of a class, at most 1/m of the rows lie within ε.
//!
//! Li, Tao, Xiao: *Preservation of proximity privacy in publishing numerical sensitive data*, 2008.
//! Absolute: `|y − x| ≤ ε`. Relative: `|y − x| ≤ ε·|x|` with ε from 0 to 1; the size of x and not x
//! itself, so that it also applies to negative numbers. Dates are compared absolutely only, in
//! days: a share of a date would depend on where days are counted from. One pass over the class's
//! values. Worked example: {40, 60} holds for ε = 15, m = 2; {40, 50, 60} achieves m = 1 only.
//!
//! Neither absorbing nor merging: {40, 60} and {50, 80} hold for ε = 15, m = 2, and in their union
//! 50 has three of four close to it. But no interval as long as ε holds more than 1/m of the rows,
//! and that survives unions ([`Proximity::kept_at_most`]). Absorbing core: every value is close to
//! itself, so no value may exceed 1/m of the rows, and at least ⌈m⌉ values occur.

use hedgerow_table::Ratio;

use crate::guarantee::ClassMeasure;
use crate::numbers::Numbers;
use crate::proximity::Proximity;
use crate::{Absorbing, Class, Distribution, Guarantee, Model, OnMerge};

#[derive(Debug, Clone)]
pub struct EpsilonM {
    model: Model,
    m: Ratio,
    proximity: Proximity,
}

impl EpsilonM {
    pub fn new(model: &Model, numbers: &Numbers) -> Self {
        let Model::EpsilonMAnonymity { epsilon, m, relative } = *model else { unreachable!("dispatched by model") };
        let proximity = if relative {
            // For ε ≤ 1, both x − ε|x| and x + ε|x| rise with x.
            Proximity::new(numbers, numbers.apart_at_most_share(epsilon))
        } else {
            Proximity::new(numbers, numbers.apart_at_most(epsilon, 1))
        };
        EpsilonM { model: model.clone(), m, proximity }
    }
}

impl Guarantee for EpsilonM {
    fn model(&self) -> &Model {
        &self.model
    }

    fn on_merge(&self) -> OnMerge {
        OnMerge::Neither
    }

    fn core(&self) -> Absorbing {
        Absorbing { rows: self.m.ceil(), distinct: self.m.ceil() }
    }

    fn kept_at_most(&self, class: Class<'_>) -> u64 {
        self.proximity.kept_at_most(class.values, self.m)
    }

    fn bounds_parts(&self) -> bool {
        true
    }

    fn holds(&self, class: Class<'_>, _: &Distribution) -> bool {
        let most = self.m.times_in(class.rows);
        self.proximity.neighborhoods(class.values).all(|close| close <= most)
    }

    fn measure(&self, class: Class<'_>, _: &Distribution) -> Vec<ClassMeasure> {
        let close = self.proximity.neighborhoods(class.values).max().unwrap_or(class.rows);
        vec![ClassMeasure::at_least("m", class.rows as f64 / close as f64)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{holds_for, measured};
    use crate::Model;
    use hedgerow_table::Ratio;

    fn model(epsilon: f64, m: f64, relative: bool) -> Model {
        let ratio = |value| Ratio::from_decimal(value).unwrap();
        Model::EpsilonMAnonymity { epsilon: ratio(epsilon), m: ratio(m), relative }
    }

    /// Sections 3.1 and 3.2 of Zare-Mirakabad's paper on it.
    #[test]
    fn the_worked_classes() {
        let fifteen = model(15.0, 2.0, false);
        assert_eq!(measured(&fifteen, &["40", "60"]), 2.0);
        assert_eq!(measured(&fifteen, &["40", "50", "60"]), 1.0);
        assert!(holds_for(&fifteen, &["40", "60"]) && holds_for(&fifteen, &["50", "80"]));
        assert!(!holds_for(&fifteen, &["40", "50", "60", "80"]), "50 is close to 40 and 60");
    }

    #[test]
    fn relative_proximity_grows_with_the_value_and_knows_negative_ones() {
        let tenth = model(0.1, 2.0, true);
        assert!(!holds_for(&tenth, &["100", "110"]), "110 is ten away from 100");
        assert!(holds_for(&tenth, &["100", "111.2"]), "111.2 reaches down to 100.08");
        assert!(!holds_for(&tenth, &["100", "111"]), "111 reaches down to 99.9, though 100 reaches only to 110");
        assert!(!holds_for(&tenth, &["-100", "-110"]));
        assert!(holds_for(&tenth, &["-100", "-111.2"]));
        assert!(holds_for(&tenth, &["0", "0.000001"]), "around 0 nothing is near");
        assert!(holds_for(&model(0.0, 2.0, true), &["1", "2"]));
    }

    #[test]
    fn missing_values_are_close_to_one_another_alone() {
        let wide = model(1000.0, 2.0, false);
        assert!(holds_for(&wide, &["1", "5000", ""]), "a missing value is close to no number");
        assert!(holds_for(&wide, &["1", "5000", "", ""]));
        assert!(!holds_for(&wide, &["1", "5000", "", "", ""]));
        assert!(!holds_for(&wide, &["1", "2", ""]));
        assert!(!holds_for(&wide, &["1", ""]), "one known value is alone");
    }
}
