//! (α,k)-anonymity: every class has at least k rows and no limited value makes up more than α of
//! it.
//!
//! Wong, Li, Fu, Wang: *(α,k)-anonymity: an enhanced k-anonymity model for privacy preserving data
//! publishing*, 2006. Compared as `count ≤ α · rows` with α a fraction. Merging: both the size and
//! the shares survive a union of classes that hold. Absorbing core: k rows, and when every value is
//! limited, at least ⌈1/α⌉ values.

use hedgerow_table::Ratio;

use super::{Limited, largest};
use crate::guarantee::ClassMeasure;
use crate::{Absorbing, Class, Distribution, Guarantee, Model, OnMerge};

#[derive(Debug, Clone)]
pub struct AlphaK {
    model: Model,
    alpha: Ratio,
    k: u64,
    limited: Limited,
}

impl AlphaK {
    pub fn new(model: &Model, limited: Limited) -> Self {
        let Model::AlphaKAnonymity { alpha, k, .. } = *model else { unreachable!("dispatched by model") };
        AlphaK { model: model.clone(), alpha, k, limited }
    }

    fn most_frequent(&self, class: Class<'_>) -> u64 {
        if self.limited.codes().is_none() {
            return largest(class.values);
        }
        let counted = class.values.iter().filter(|(code, _)| self.limited.has(*code));
        counted.map(|&(_, count)| u64::from(count)).max().unwrap_or(0)
    }
}

impl Guarantee for AlphaK {
    fn model(&self) -> &Model {
        &self.model
    }

    fn on_merge(&self) -> OnMerge {
        OnMerge::Merging
    }

    fn core(&self) -> Absorbing {
        let all = Ratio { numerator: self.alpha.denominator, denominator: self.alpha.numerator }.ceil();
        Absorbing { rows: self.k, distinct: if self.limited.codes().is_none() { all } else { 0 } }
    }

    fn holds(&self, class: Class<'_>, _: &Distribution) -> bool {
        let most = u128::from(self.most_frequent(class)) * u128::from(self.alpha.denominator);
        class.rows >= self.k && most <= u128::from(self.alpha.numerator) * u128::from(class.rows)
    }

    fn measure(&self, class: Class<'_>, _: &Distribution) -> Vec<ClassMeasure> {
        let share = self.most_frequent(class) as f64 / class.rows as f64;
        vec![ClassMeasure::at_most("alpha", share), ClassMeasure::at_least("k", class.rows as f64)]
    }
}

#[cfg(test)]
mod tests {
    use hedgerow_table::Ratio;

    use super::*;

    fn holds(alpha: f64, k: u64, limited: Option<Vec<u32>>, values: &[(u32, u32)]) -> bool {
        let model = Model::AlphaKAnonymity { alpha: Ratio::from_decimal(alpha).unwrap(), k, values: None };
        let rows = values.iter().map(|&(_, count)| u64::from(count)).sum();
        let limited = limited.map_or(Limited::all(), Limited::to);
        AlphaK::new(&model, limited).holds(Class { rows, values }, &Distribution::default())
    }

    #[test]
    fn shares_and_sizes_are_both_required() {
        assert!(holds(0.5, 4, None, &[(0, 2), (1, 2)]));
        assert!(!holds(0.5, 5, None, &[(0, 2), (1, 2)]));
        assert!(!holds(0.5, 2, None, &[(0, 3), (1, 2)]));
        assert!(holds(0.5, 2, Some(vec![1]), &[(0, 3), (1, 2)]), "only value 1 is limited");
        assert!(!holds(0.1, 1, Some(vec![1]), &[(0, 8), (1, 1)]));
        assert!(holds(0.1, 1, Some(vec![1]), &[(0, 9), (1, 1)]), "one in ten exactly");
    }
}
