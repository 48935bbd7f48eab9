//! Entropy l-diversity: the entropy of the protected values in every class is at least ln l.
//!
//! Machanavajjhala et al. 2007, definition 4.1. With counts nᵢ in a class of n rows the condition
//! `−Σ (nᵢ/n)·ln(nᵢ/n) ≥ ln l` is the same as `Σ nᵢ·ln nᵢ + n·ln l ≤ n·ln n`, that is
//! `l ⁿ · Π nᵢ ^ nᵢ ≤ n ⁿ`: a statement about integers. It is decided in floats where the
//! difference exceeds their error; a tie (uniform classes are ties) is decided by comparing prime
//! factorizations; what is neither is too close to call, and fails, which is the safe side.
//!
//! Merging: entropy is concave. Absorbing core: entropy is at most the logarithm of the number of
//! values, so at least ⌈l⌉ values occur.

use std::collections::BTreeMap;

use hedgerow_table::Ratio;

use crate::guarantee::ClassMeasure;
use crate::{Absorbing, Class, Distribution, Guarantee, Model, OnMerge};

#[derive(Debug, Clone)]
pub struct EntropyL {
    model: Model,
    l: Ratio,
}

impl EntropyL {
    pub fn new(model: &Model) -> Self {
        let Model::EntropyLDiversity { l } = *model else { unreachable!("dispatched by model") };
        EntropyL { model: model.clone(), l }
    }

    /// Whether l ⁿ · Π nᵢ ^ nᵢ = n ⁿ, from the exponents of all primes on both sides.
    fn is_tie(&self, class: Class<'_>) -> bool {
        let mut exponents: BTreeMap<u64, i128> = BTreeMap::new();
        let n = i128::from(class.rows);
        for &(_, count) in class.values {
            add_factors(&mut exponents, u64::from(count), i128::from(count));
        }
        add_factors(&mut exponents, self.l.numerator, n);
        add_factors(&mut exponents, self.l.denominator, -n);
        add_factors(&mut exponents, class.rows, -n);
        exponents.values().all(|&exponent| exponent == 0)
    }
}

impl Guarantee for EntropyL {
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
        let n = class.rows as f64;
        let left = sum_n_ln_n(class.values) + n * self.l.as_f64().ln();
        let right = n * n.ln();
        // Every term is rounded a few times, each time by at most 2⁻⁵³ of itself, and no partial
        // sum exceeds left.
        let error = (class.values.len() + 8) as f64 * f64::EPSILON * (left.abs() + right);
        if (left - right).abs() > error { left < right } else { self.is_tie(class) }
    }

    fn measure(&self, class: Class<'_>, _: &Distribution) -> Vec<ClassMeasure> {
        let n = class.rows as f64;
        vec![ClassMeasure::at_least("l", (n.ln() - sum_n_ln_n(class.values) / n).exp())]
    }
}

fn sum_n_ln_n(values: &[(u32, u32)]) -> f64 {
    values.iter().map(|&(_, count)| f64::from(count) * f64::from(count).ln()).sum()
}

fn add_factors(exponents: &mut BTreeMap<u64, i128>, mut number: u64, times: i128) {
    let mut divisor = 2;
    while divisor * divisor <= number && divisor < 1 << 20 {
        while number.is_multiple_of(divisor) {
            *exponents.entry(divisor).or_default() += times;
            number /= divisor;
        }
        divisor += 1;
    }
    if number > 1 {
        *exponents.entry(number).or_default() += times;
    }
}

#[cfg(test)]
mod tests {
    use hedgerow_table::Ratio;

    use super::super::testing::holds;
    use crate::Model;

    fn entropy(l: f64) -> Model {
        Model::EntropyLDiversity { l: Ratio::from_decimal(l).unwrap() }
    }

    #[test]
    fn a_uniform_class_of_l_values_holds_exactly() {
        for l in 1..60u32 {
            for times in [1, 3, 7, 1_000_003] {
                assert!(holds(&entropy(f64::from(l)), &vec![times; l as usize]), "l {l}, each {times} times");
                assert!(!holds(&entropy(f64::from(l) + 0.001), &vec![times; l as usize]), "l {l}, each {times} times");
            }
        }
    }

    #[test]
    fn a_tie_with_unequal_counts_is_seen() {
        // (1/2)ln 2 + 2·(1/4)ln 4 = ln √8: two values of a quarter and one of a half; l² = 8 has no
        // rational root, but four rows {2,1,1} against l with l⁴ = 4⁴/2² = 64 does not either;
        // {4,2,2} neither. l = 2 holds, 3 fails.
        assert!(holds(&entropy(2.0), &[2, 1, 1]));
        assert!(holds(&entropy(2.828), &[2, 1, 1]));
        assert!(!holds(&entropy(2.829), &[2, 1, 1]));
        // l^n · Π nᵢ^nᵢ = nⁿ with {4, 1,1,1,1}: n = 8, 8⁸/4⁴ = 2¹⁶, so l = 4 exactly.
        assert!(holds(&entropy(4.0), &[4, 1, 1, 1, 1]));
        assert!(!holds(&entropy(4.0), &[5, 1, 1, 1]));
    }
}
