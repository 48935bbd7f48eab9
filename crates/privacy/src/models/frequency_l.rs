//! Frequency l-diversity: no protected value makes up more than 1/l of a class.
//!
//! Wong, Li, Fu, Wang: *(α,k)-anonymity*, 2006, and Xiao, Tao: *Anatomy*, 2006, definition 2, use
//! this reading; it bounds the confidence of an adversary who knows the class by 1/l. Compared as
//! `largest · l ≤ rows`. Merging: largest(A∪B) ≤ largest(A) + largest(B). At least ⌈l⌉ values must
//! occur, which is its absorbing core.

use hedgerow_table::Ratio;

use super::largest;
use crate::guarantee::ClassMeasure;
use crate::{Absorbing, Class, Distribution, Guarantee, Model, OnMerge};

#[derive(Debug, Clone)]
pub struct FrequencyL {
    model: Model,
    l: Ratio,
}

impl FrequencyL {
    pub fn new(model: &Model) -> Self {
        let Model::FrequencyLDiversity { l } = *model else { unreachable!("dispatched by model") };
        FrequencyL { model: model.clone(), l }
    }
}

impl Guarantee for FrequencyL {
    fn model(&self) -> &Model {
        &self.model
    }

    fn on_merge(&self) -> OnMerge {
        OnMerge::Merging
    }

    fn core(&self) -> Absorbing {
        Absorbing { rows: self.l.ceil(), distinct: self.l.ceil() }
    }

    fn holds(&self, class: Class<'_>, _: &Distribution) -> bool {
        self.l.times_at_most(largest(class.values), class.rows)
    }

    fn measure(&self, class: Class<'_>, _: &Distribution) -> Vec<ClassMeasure> {
        vec![ClassMeasure::at_least("l", class.rows as f64 / largest(class.values) as f64)]
    }
}

#[cfg(test)]
mod tests {
    use hedgerow_table::Ratio;

    use super::super::testing::holds;
    use crate::Model;

    #[test]
    fn exactly_one_in_l_is_allowed() {
        let two = Model::FrequencyLDiversity { l: Ratio::integer(2) };
        assert!(holds(&two, &[2, 1, 1]));
        assert!(!holds(&two, &[3, 1, 1]));
        let two_and_a_half = Model::FrequencyLDiversity { l: Ratio::from_decimal(2.5).unwrap() };
        assert!(holds(&two_and_a_half, &[2, 2, 1]));
        assert!(!holds(&two_and_a_half, &[2, 2]));
    }
}
