//! (δ,l)-diversity: at most 1/l of a class's protected values fit into one short interval.
//!
//! Zare-Mirakabad: *(δ,l)-diversity: privacy preservation for publication numerical sensitive
//! data*. The paper has two readings:
//! - `window`: no interval of length 2δ holds more than 1/l of the rows, whether or not a value
//!   sits at its center. This is what its algorithm (figure 3) computes and what its introduction
//!   requires: {40, 60} says "about 50".
//! - `pairwise`: definition 5 as printed: for every value v at most 1/l of the rows have an
//!   interval [y − δ, y + δ] that overlaps v's, which is `|y − v| ≤ 2δ`: absolute (2δ,l)-anonymity.
//!
//! One pass over the class's values. Figure 3 calls a class of one tuple diverse for any l; its one
//! window holds all of it: l = 1.
//!
//! Window is merging: a window holds at most |A|/l rows of A and |B|/l of B, hence at most |A∪B|/l
//! of the union. Pairwise is not, though the paper claims it: δ = 7.5, l = 2 holds for {40, 60} and
//! {50, 80} and not for their union; but what it implies of windows survives, and bounds what parts
//! of a class keep. Absorbing core of both: every value lies close to itself, so none exceeds 1/l
//! of the rows, and at least ⌈l⌉ values occur.

use hedgerow_table::Ratio;

use crate::guarantee::ClassMeasure;
use crate::numbers::Numbers;
use crate::proximity::Proximity;
use crate::{Absorbing, Class, Distribution, Guarantee, Model, NumberCloseness, OnMerge};

#[derive(Debug, Clone)]
pub struct DeltaL {
    model: Model,
    l: Ratio,
    reading: NumberCloseness,
    /// Values at most 2δ apart are close.
    proximity: Proximity,
}

impl DeltaL {
    pub fn new(model: &Model, numbers: &Numbers) -> Self {
        let Model::DeltaLDiversity { delta, l, reading } = *model else { unreachable!("dispatched by model") };
        let proximity = Proximity::new(numbers, numbers.apart_at_most(delta, 2));
        DeltaL { model: model.clone(), l, reading, proximity }
    }
}

impl Guarantee for DeltaL {
    fn model(&self) -> &Model {
        &self.model
    }

    fn on_merge(&self) -> OnMerge {
        match self.reading {
            NumberCloseness::Window => OnMerge::Merging,
            NumberCloseness::Pairwise => OnMerge::Neither,
        }
    }

    fn core(&self) -> Absorbing {
        Absorbing { rows: self.l.ceil(), distinct: self.l.ceil() }
    }

    /// Of both readings: a window that starts at a value holds rows that are close to it.
    fn kept_at_most(&self, class: Class<'_>) -> u64 {
        self.proximity.kept_at_most(class.values, self.l)
    }

    fn bounds_parts(&self) -> bool {
        true
    }

    fn windows(&self) -> Option<&Proximity> {
        (self.reading == NumberCloseness::Window).then_some(&self.proximity)
    }

    fn holds(&self, class: Class<'_>, _: &Distribution) -> bool {
        let most = self.l.times_in(class.rows);
        match self.reading {
            NumberCloseness::Window => self.proximity.windows(class.values).all(|close| close <= most),
            NumberCloseness::Pairwise => self.proximity.neighborhoods(class.values).all(|close| close <= most),
        }
    }

    fn measure(&self, class: Class<'_>, _: &Distribution) -> Vec<ClassMeasure> {
        let close = match self.reading {
            NumberCloseness::Window => self.proximity.windows(class.values).max(),
            NumberCloseness::Pairwise => self.proximity.neighborhoods(class.values).max(),
        };
        vec![ClassMeasure::at_least("l", class.rows as f64 / close.unwrap_or(class.rows) as f64)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{holds_for, measured};
    use super::*;

    fn model(delta: f64, l: f64, reading: NumberCloseness) -> Model {
        let ratio = |value| Ratio::from_decimal(value).unwrap();
        Model::DeltaLDiversity { delta: ratio(delta), l: ratio(l), reading }
    }

    /// Every worked class: δ, l by window, l by definition 5, and m of (ε,m)-anonymity with ε = δ.
    #[test]
    fn the_worked_classes() {
        let third = 4.0 / 3.0;
        for (values, delta, window, pairwise, m) in [
            (&["40", "60"][..], 15.0, 1.0, 1.0, 2.0),
            (&["40", "50", "60"], 15.0, 1.0, 1.0, 1.0),
            (&["40", "60"], 7.5, 2.0, 2.0, 2.0),
            (&["50", "80"], 7.5, 2.0, 2.0, 2.0),
            (&["40", "50", "60", "80"], 7.5, 2.0, third, 4.0),
            (&["490", "500", "510", "1000"], 10.0, third, third, third),
            (&["490", "500", "510", "1000"], 5.0, 2.0, third, 4.0),
        ] {
            assert_eq!(measured(&model(delta, 1.0, NumberCloseness::Window), values), window, "{values:?}, {delta}");
            assert_eq!(
                measured(&model(delta, 1.0, NumberCloseness::Pairwise), values),
                pairwise,
                "{values:?}, {delta}"
            );
            let epsilon = Ratio::from_decimal(delta).unwrap();
            let anonymity = Model::EpsilonMAnonymity { epsilon, m: Ratio::integer(1), relative: false };
            assert_eq!(measured(&anonymity, values), m, "{values:?}, {delta}");
        }
    }

    /// The paper claims that definition 5 survives unions.
    #[test]
    fn the_union_of_two_classes_that_hold_pairwise_may_fail() {
        let pairwise = model(7.5, 2.0, NumberCloseness::Pairwise);
        assert!(holds_for(&pairwise, &["40", "60"]) && holds_for(&pairwise, &["50", "80"]));
        assert!(!holds_for(&pairwise, &["40", "50", "60", "80"]));
        assert!(holds_for(&model(7.5, 2.0, NumberCloseness::Window), &["40", "50", "60", "80"]), "by window it holds");
    }

    #[test]
    fn a_class_of_one_tuple_achieves_1_and_no_more() {
        for reading in NumberCloseness::ALL {
            assert_eq!(measured(&model(15.0, 2.0, reading), &["40"]), 1.0);
            assert!(!holds_for(&model(15.0, 1.5, reading), &["40"]));
            assert!(holds_for(&model(15.0, 1.0, reading), &["40"]));
        }
    }

    #[test]
    fn a_window_needs_no_value_at_its_center_and_its_ends_belong_to_it() {
        assert!(
            !holds_for(&model(10.0, 2.0, NumberCloseness::Window), &["40", "60", "61"]),
            "41 to 61 holds two of three"
        );
        assert!(!holds_for(&model(10.0, 2.0, NumberCloseness::Window), &["40", "60"]), "exactly 2δ apart is close");
        assert!(holds_for(&model(9.999, 2.0, NumberCloseness::Window), &["40", "60"]));
        assert!(
            !holds_for(&model(0.1, 2.0, NumberCloseness::Window), &["0.6", "0.8"]),
            "0.8 - 0.6 is 0.2, whatever floats say"
        );
        assert!(holds_for(&model(0.0, 2.0, NumberCloseness::Window), &["1", "2"]), "δ = 0 is frequency l-diversity");
    }
}
