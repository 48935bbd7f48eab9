//! ε-clone: every class holds every protected value of the table, each with a share within ε of the
//! table's.
//!
//! Baig, Li, Liu, Wang: *Cloning for privacy protection in multiple independent data publications*,
//! 2011, definition 4. An attacker who combines such a class with another publisher's learns what
//! the two distributions disclose, and nothing from the class. Unlike t-closeness it bounds every
//! single value, and lets none be absent: an absent value is what a composition attack feeds on.
//! Compared in integers, |count · N − table · n| ≤ ε · n · N for a class of n rows in a table of N.
//!
//! Merging: the share of a value in a union lies between its shares in the parts, and what is in a
//! part is in the union. Its absorbing core would be that all values are there, but how many these
//! are is known only from the table, so it claims none. Time: the values of the table, for every
//! class.

use hedgerow_table::Ratio;

use crate::guarantee::ClassMeasure;
use crate::{Absorbing, Class, Distribution, Guarantee, Model, OnMerge};

#[derive(Debug, Clone)]
pub struct EpsilonClone {
    model: Model,
    epsilon: Ratio,
}

impl EpsilonClone {
    pub fn new(model: &Model) -> Self {
        let Model::EpsilonClone { epsilon } = *model else { unreachable!("dispatched by model") };
        EpsilonClone { model: model.clone(), epsilon }
    }
}

impl Guarantee for EpsilonClone {
    fn model(&self) -> &Model {
        &self.model
    }

    fn on_merge(&self) -> OnMerge {
        OnMerge::Merging
    }

    fn core(&self) -> Absorbing {
        Absorbing { rows: 1, distinct: 1 }
    }

    fn compares_with_table(&self) -> bool {
        true
    }

    fn holds(&self, class: Class<'_>, table: &Distribution) -> bool {
        let farthest = farthest(class, table);
        let all = u128::from(class.rows) * u128::from(table.rows);
        // Both factors are below 2^64 and a table has fewer than 2^32 rows, so neither product
        // overflows.
        holds_every_value(class, table)
            && farthest * u128::from(self.epsilon.denominator) <= u128::from(self.epsilon.numerator) * all
    }

    fn measure(&self, class: Class<'_>, table: &Distribution) -> Vec<ClassMeasure> {
        let all = class.rows as f64 * table.rows as f64;
        let absent = if holds_every_value(class, table) { 0.0 } else { 1.0 };
        // A class that lacks a value is not a clone at any ε.
        vec![ClassMeasure::at_most("epsilon", if absent > 0.0 { 1.0 } else { farthest(class, table) as f64 / all })]
    }
}

fn holds_every_value(class: Class<'_>, table: &Distribution) -> bool {
    class.values.len() >= table.distinct()
}

/// The largest |count · N − table · n|.
fn farthest(class: Class<'_>, table: &Distribution) -> u128 {
    let mut own = class.values.iter().peekable();
    let mut farthest = 0;
    for (code, &there) in table.counts.iter().enumerate() {
        let here = match own.peek() {
            Some(&&(next, count)) if next as usize == code => {
                own.next();
                count
            }
            _ => 0,
        };
        let (mine, theirs) = (u128::from(here) * u128::from(table.rows), u128::from(there) * u128::from(class.rows));
        farthest = farthest.max(mine.abs_diff(theirs));
    }
    farthest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epsilon(text: f64) -> EpsilonClone {
        EpsilonClone::new(&Model::EpsilonClone { epsilon: Ratio::from_decimal(text).unwrap() })
    }

    /// Hospital 3 of the paper: J 5, B 7, G 3, L 4 of 19; every class takes J 2, B 2, G 1, L 1. The
    /// largest difference is L's or J's: |2/6 − 5/19| = 8/114.
    #[test]
    fn the_classes_of_hospital_3_are_within_seven_hundredths() {
        let table = Distribution::new(vec![7, 3, 5, 4], None);
        let values = [(0, 2), (1, 1), (2, 2), (3, 1)];
        let class = Class { rows: 6, values: &values };
        assert!((epsilon(0.1).measure(class, &table)[0].value - 8.0 / 114.0).abs() < 1e-15);
        assert!(epsilon(0.0702).holds(class, &table));
        assert!(!epsilon(0.07).holds(class, &table), "the paper rounds 0.0702 to 0.07");
    }

    #[test]
    fn a_class_without_one_of_the_values_is_not_a_clone() {
        let table = Distribution::new(vec![1000, 1], None);
        let class = Class { rows: 100, values: &[(0, 100)] };
        assert!(!epsilon(0.5).holds(class, &table), "though its shares differ by a thousandth");
        assert_eq!(epsilon(0.5).measure(class, &table)[0].value, 1.0);
        let both = Class { rows: 100, values: &[(0, 99), (1, 1)] };
        assert!(epsilon(0.01).holds(both, &table));
        assert!(!epsilon(0.0).holds(both, &table));
        assert!(epsilon(0.0).holds(Class { rows: 1001, values: &[(0, 1000), (1, 1)] }, &table));
    }
}
