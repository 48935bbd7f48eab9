//! Recursive (c,l)-diversity: the most frequent protected value is not too frequent compared with
//! the rare ones.
//!
//! Machanavajjhala et al. 2007, definition 4.3: with counts r₁ ≥ r₂ ≥ … ≥ rₘ,
//! `r₁ < c·(rₗ + … + rₘ)`, strictly. A class with fewer than l values has an empty tail and fails.
//! Merging: the paper's lemma (section 4.3). Absorbing core: at least l values occur.

use hedgerow_table::Ratio;

use super::largest;
use crate::guarantee::ClassMeasure;
use crate::{Absorbing, Class, Distribution, Guarantee, Model, OnMerge};

#[derive(Debug, Clone)]
pub struct RecursiveL {
    model: Model,
    c: Ratio,
    l: u64,
}

impl RecursiveL {
    pub fn new(model: &Model) -> Self {
        let Model::RecursiveLDiversity { c, l } = *model else { unreachable!("dispatched by model") };
        RecursiveL { model: model.clone(), c, l }
    }

    /// rₗ + … + rₘ: all rows but those of the l − 1 most frequent values.
    fn tail(&self, class: Class<'_>) -> u64 {
        if (class.values.len() as u64) < self.l {
            return 0;
        }
        let head = self.l as usize - 1;
        let mut counts: Vec<u32> = class.values.iter().map(|&(_, count)| count).collect();
        if head > 0 {
            counts.select_nth_unstable_by(head - 1, |a, b| b.cmp(a));
        }
        counts[head..].iter().map(|&count| u64::from(count)).sum()
    }
}

impl Guarantee for RecursiveL {
    fn model(&self) -> &Model {
        &self.model
    }

    fn on_merge(&self) -> OnMerge {
        OnMerge::Merging
    }

    fn core(&self) -> Absorbing {
        Absorbing { rows: self.l, distinct: self.l }
    }

    fn holds(&self, class: Class<'_>, _: &Distribution) -> bool {
        let most = u128::from(largest(class.values)) * u128::from(self.c.denominator);
        most < u128::from(self.c.numerator) * u128::from(self.tail(class))
    }

    fn measure(&self, class: Class<'_>, _: &Distribution) -> Vec<ClassMeasure> {
        let tail = self.tail(class);
        // No c is large enough for an empty tail.
        let c = if tail == 0 { f64::INFINITY } else { largest(class.values) as f64 / tail as f64 };
        vec![ClassMeasure::at_most("c", c), ClassMeasure::at_least("l", class.values.len() as f64)]
    }
}

#[cfg(test)]
mod tests {
    use hedgerow_table::Ratio;

    use super::super::testing::holds;
    use crate::Model;

    #[test]
    fn the_comparison_is_strict_and_counts_from_the_l_th_value() {
        let model = |c, l| Model::RecursiveLDiversity { c: Ratio::integer(c), l };
        assert!(holds(&model(2, 2), &[3, 1, 1]), "3 < 2·(1+1)");
        assert!(!holds(&model(2, 2), &[4, 1, 1]), "4 < 2·2 is false");
        assert!(!holds(&model(2, 3), &[3, 1, 1]), "3 < 2·1 is false");
        assert!(!holds(&model(100, 3), &[3, 1]), "two values have no third");
        assert!(holds(&model(2, 1), &[3]), "3 < 2·3");
        assert!(!holds(&model(1, 1), &[3]), "3 < 1·3 is false");
    }
}
