//! ρ₁-to-ρ₂ breach: no protected value that is rare in the table, with a share of at most ρ₁, has a
//! share of ρ₂ or more in a class.
//!
//! Evfimievski, Gehrke, Srikant: *Limiting privacy breaches in privacy preserving data mining*,
//! 2003, definition 1, for the properties "has the value s". The prior is the value's share in the
//! table, which an attacker knows who sees the protected attribute alone; the posterior its share
//! in the class. The paper calls a posterior of ρ₂ exactly a breach, so the comparison is strict.
//! In integers: a value of t rows in a table of N is rare when `t ≤ ρ₁ · N`, and then
//! `count < ρ₂ · n` in every class of n rows.
//!
//! Worked example: with ρ₁ = 0.1 and ρ₂ = 0.5, a value in 8 rows of 100 may be in 1 of 3 rows of a
//! class and not in 1 of 2; a value in 11 rows of 100 is not limited.
//!
//! Merging: which values are rare is the table's alone, and a share in a union lies between those
//! in its parts. It has no absorbing core: a class without rare values holds at any size. Time: the
//! values of the class.

use hedgerow_table::Ratio;

use super::Limited;
use crate::guarantee::ClassMeasure;
use crate::{Absorbing, Class, Distribution, Guarantee, Model, OnMerge};

#[derive(Debug, Clone)]
pub struct RhoBreach {
    model: Model,
    prior: Ratio,
    posterior: Ratio,
    limited: Limited,
}

impl RhoBreach {
    pub fn new(model: &Model, limited: Limited) -> Self {
        let Model::RhoBreach { prior, posterior, .. } = *model else { unreachable!("dispatched by model") };
        RhoBreach { model: model.clone(), prior, posterior, limited }
    }

    /// The largest count of a limited value that is rare in the table.
    fn most_of_rare(&self, class: Class<'_>, table: &Distribution) -> u64 {
        let rare = |code: u32| {
            // A value that the table lacks has a share of 0 there.
            let rows = table.counts.get(code as usize).copied().unwrap_or(0);
            u128::from(rows) * u128::from(self.prior.denominator)
                <= u128::from(self.prior.numerator) * u128::from(table.rows)
        };
        let counted = class.values.iter().filter(|&&(code, _)| self.limited.has(code) && rare(code));
        counted.map(|&(_, count)| u64::from(count)).max().unwrap_or(0)
    }
}

impl Guarantee for RhoBreach {
    fn model(&self) -> &Model {
        &self.model
    }

    fn on_merge(&self) -> OnMerge {
        OnMerge::Merging
    }

    fn core(&self) -> Absorbing {
        Absorbing { rows: 1, distinct: 0 }
    }

    fn compares_with_table(&self) -> bool {
        true
    }

    fn holds(&self, class: Class<'_>, table: &Distribution) -> bool {
        let most = u128::from(self.most_of_rare(class, table)) * u128::from(self.posterior.denominator);
        most < u128::from(self.posterior.numerator) * u128::from(class.rows)
    }

    fn measure(&self, class: Class<'_>, table: &Distribution) -> Vec<ClassMeasure> {
        vec![ClassMeasure::at_most("posterior", self.most_of_rare(class, table) as f64 / class.rows as f64)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breach(prior: f64, posterior: f64, limited: Limited) -> RhoBreach {
        let ratio = |value| Ratio::from_decimal(value).unwrap();
        let model = Model::RhoBreach { prior: ratio(prior), posterior: ratio(posterior), values: None };
        RhoBreach::new(&model, limited)
    }

    #[test]
    fn a_rare_value_must_stay_below_the_posterior() {
        let table = Distribution::new(vec![8, 11, 81], None);
        let tenth = breach(0.1, 0.5, Limited::all());
        assert!(tenth.holds(Class { rows: 3, values: &[(0, 1), (2, 2)] }, &table));
        assert!(!tenth.holds(Class { rows: 2, values: &[(0, 1), (2, 1)] }, &table), "one half exactly is a breach");
        assert!(tenth.holds(Class { rows: 4, values: &[(1, 4)] }, &table), "11 of 100 are not rare");
        assert!(!breach(0.11, 0.5, Limited::all()).holds(Class { rows: 4, values: &[(1, 4)] }, &table));
        let class = Class { rows: 5, values: &[(0, 2), (1, 3)] };
        assert_eq!(tenth.measure(class, &table)[0], ClassMeasure::at_most("posterior", 0.4));
        assert_eq!(tenth.measure(Class { rows: 1, values: &[(2, 1)] }, &table)[0].value, 0.0);
    }

    #[test]
    fn only_named_values_are_limited() {
        let table = Distribution::new(vec![1, 1, 98], None);
        let class = Class { rows: 1, values: &[(0, 1)] };
        assert!(!breach(0.1, 1.0, Limited::all()).holds(class, &table), "a posterior of 1 is certainty");
        assert!(!breach(0.1, 1.0, Limited::to(vec![0])).holds(class, &table));
        assert!(breach(0.1, 1.0, Limited::to(vec![1])).holds(class, &table));
        assert!(breach(0.1, 1.0, Limited::to(Vec::new())).holds(class, &table), "no named value occurs");
    }

    /// One row, and one value throughout: the only share is the table's.
    #[test]
    fn tables_of_one_value_have_nothing_rare() {
        for rows in [1, 7] {
            let values = [(0, rows)];
            let class = Class { rows: u64::from(rows), values: &values };
            assert!(breach(0.9, 0.95, Limited::all()).holds(class, &Distribution::new(vec![u64::from(rows)], None)));
        }
    }
}
