//! Kifer's measure: what an attacker believes of a person's protected value before and after seeing
//! the release differs by at most b.
//!
//! Jin, Zhang, Zhang, Das: *Versatile publishing for privacy preservation*, 2010, definition 1,
//! after Kifer: *Attacks on privacy and deFinetti's theorem*, 2009: for every tuple,
//! δ(P(S | Q), P(S | Q, T*)) ≤ b. The definition leaves the prior and δ open. The prior q is the
//! table's distribution of the protected attribute, as in t-closeness: publishing it alone is taken
//! to be harmless. The posterior p is the class's. δ is one of
//! - *variation*: half the sum of |p(s) − q(s)|; without named values, t-closeness by the equal
//!   distance;
//! - *largest*: the largest |p(s) − q(s)|; ε-clone without the condition that every value occurs;
//! - *relative*: the largest |p(s) − q(s)| / q(s);
//! - *divergence*: Σ p(s) · ln(p(s) / q(s)), in nats.
//!
//! Where values are named, *largest* and *relative* look at these, and the others count as one
//! value for *variation* and *divergence*. The first three are compared in integers. A divergence
//! that is a fraction other than 0 would make e to the power of a fraction algebraic, so only b = 0
//! has ties: then the distributions are compared. All else is decided in floats where the
//! difference exceeds their error, and fails where it does not.
//!
//! Worked example: a table with 1/4 of `a` and a class with 1/2 of it, two values in all. Variation
//! 1/4, largest 1/4, relative 1, divergence ½·ln 2 + ½·ln ⅔ = 0.1438.
//!
//! Merging: each δ is convex in p. It has no absorbing core. Time: the values of the class; those
//! of the table for *largest* and *relative*.

use hedgerow_table::Ratio;

use super::Limited;
use crate::guarantee::ClassMeasure;
use crate::model::Change;
use crate::products::is_at_most;
use crate::{Absorbing, Class, Distribution, Guarantee, Model, OnMerge};

#[derive(Debug, Clone)]
pub struct BeliefChange {
    model: Model,
    b: Ratio,
    change: Change,
    limited: Limited,
}

/// The rows of one value: in the class, and in the table.
type RowsOfValue = (u64, u64);

/// A non-negative number, compared and never rounded.
#[derive(Debug, Clone, Copy)]
struct Fraction {
    above: u128,
    below: u128,
}

impl BeliefChange {
    pub fn new(model: &Model, limited: Limited) -> Self {
        let Model::BeliefChange { b, change, .. } = *model else { unreachable!("dispatched by model") };
        BeliefChange { model: model.clone(), b, change, limited }
    }

    /// The values looked at, one by one.
    fn pairs<'p>(&'p self, class: Class<'p>, table: &'p Distribution) -> impl Iterator<Item = RowsOfValue> + 'p {
        let mut own = class.values.iter().peekable();
        let looked_at = (0u32..).zip(&table.counts).map(move |(code, &there)| {
            let here = own.next_if(|(next, _)| *next == code).map_or(0, |&(_, count)| u64::from(count));
            (code, here, there)
        });
        looked_at.filter(|&(code, ..)| self.limited.has(code)).map(|(_, here, there)| (here, there))
    }

    /// The values of the class that are looked at one by one, and all others as one where values
    /// are named. What neither class nor table has is omitted.
    fn lumped(&self, class: Class<'_>, table: &Distribution) -> Vec<RowsOfValue> {
        let there = |code: u32| table.counts.get(code as usize).copied().unwrap_or(0);
        let looked_at = class.values.iter().filter(|(code, _)| self.limited.has(*code));
        let mut pairs: Vec<RowsOfValue> = looked_at.map(|&(code, count)| (u64::from(count), there(code))).collect();
        if let Some(codes) = self.limited.codes() {
            let named = pairs.iter().map(|&(here, _)| here).sum::<u64>();
            let others = table.rows.saturating_sub(codes.iter().map(|&code| there(code)).sum());
            if class.rows > named || others > 0 {
                pairs.push((class.rows.saturating_sub(named), others));
            }
        }
        pairs
    }

    fn fraction(&self, class: Class<'_>, table: &Distribution) -> Fraction {
        let (n, rows) = (u128::from(class.rows), u128::from(table.rows));
        let apart = |(here, there): RowsOfValue| (u128::from(here) * rows).abs_diff(u128::from(there) * n);
        match self.change {
            Change::Largest => {
                Fraction { above: self.pairs(class, table).map(apart).max().unwrap_or(0), below: n * rows }
            }
            Change::Relative => self.pairs(class, table).filter(|pair| *pair != (0, 0)).fold(
                Fraction { above: 0, below: 1 },
                |most, pair| {
                    // Both products are below 2^128: a table has fewer than 2^32 rows.
                    let found = Fraction { above: apart(pair), below: u128::from(pair.1) * n };
                    if found.exceeds(most) { found } else { most }
                },
            ),
            // The values that the class lacks add their full share: start as if all were lacking
            // and correct the others.
            Change::Variation | Change::Divergence => {
                let pairs = self.lumped(class, table);
                let sum = pairs.into_iter().fold(n * rows, |sum, pair| sum - u128::from(pair.1) * n + apart(pair));
                Fraction { above: sum, below: 2 * n * rows }
            }
        }
    }

    /// n times the divergence, and how far it may be off.
    fn divergence(&self, class: Class<'_>, table: &Distribution) -> (f64, f64) {
        let pairs = self.lumped(class, table);
        let (mut sum, mut size) = (0.0, 0.0);
        for &(here, there) in pairs.iter().filter(|(here, _)| *here > 0) {
            let expected = there as f64 * class.rows as f64;
            let term = here as f64 * (here as f64 * table.rows as f64 / expected).ln();
            sum += term;
            size += term.abs() + here as f64;
        }
        // A quotient is off by a few of its last bits, and so is its logarithm, absolutely; each
        // addition by one bit of what is added up.
        (sum, (pairs.len() + 8) as f64 * f64::EPSILON * size)
    }
}

impl Fraction {
    fn exceeds(self, other: Fraction) -> bool {
        !is_at_most((self.above, other.below), (other.above, self.below))
    }

    fn as_f64(self) -> f64 {
        if self.below == 0 { f64::INFINITY } else { self.above as f64 / self.below as f64 }
    }

    fn is_at_most(self, limit: Ratio) -> bool {
        let (above, below) = (u128::from(limit.denominator), u128::from(limit.numerator));
        self.below > 0 && is_at_most((self.above, above), (self.below, below))
    }
}

impl Guarantee for BeliefChange {
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
        if self.change != Change::Divergence {
            return self.fraction(class, table).is_at_most(self.b);
        }
        if self.b.numerator == 0 {
            // No divergence means equal distributions, and then no variation.
            return self.fraction(class, table).above == 0;
        }
        let (sum, error) = self.divergence(class, table);
        let limit = self.b.as_f64() * class.rows as f64;
        sum + error + 4.0 * f64::EPSILON * limit < limit
    }

    fn measure(&self, class: Class<'_>, table: &Distribution) -> Vec<ClassMeasure> {
        let b = match self.change {
            Change::Divergence => (self.divergence(class, table).0 / class.rows as f64).max(0.0),
            _ => self.fraction(class, table).as_f64(),
        };
        vec![ClassMeasure::at_most("b", b)]
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;

    fn guarantee(change: Change, b: f64, limited: Limited) -> BeliefChange {
        BeliefChange::new(&Model::BeliefChange { b: Ratio::from_decimal(b).unwrap(), change, values: None }, limited)
    }

    fn b_of(change: Change, class: &[u64], table: &[u64], limited: Limited) -> f64 {
        let values: Vec<(u32, u32)> =
            (0..).zip(class).filter(|(_, count)| **count > 0).map(|(code, &count)| (code, count as u32)).collect();
        let class = Class { rows: class.iter().sum(), values: &values };
        guarantee(change, 0.0, limited).measure(class, &Distribution::new(table.to_vec(), None))[0].value
    }

    #[test]
    fn the_worked_example() {
        let (class, table) = ([1, 1], [25, 75]);
        for (change, expected) in [
            (Change::Variation, 0.25),
            (Change::Largest, 0.25),
            (Change::Relative, 1.0),
            (Change::Divergence, 0.5 * 2f64.ln() + 0.5 * (2.0 / 3.0f64).ln()),
        ] {
            let found = b_of(change, &class, &table, Limited::all());
            assert!((found - expected).abs() < 1e-15, "{change:?}: {found}");
        }
    }

    #[test]
    fn a_change_of_exactly_b_holds() {
        let table = Distribution::new(vec![25, 75], None);
        let class = Class { rows: 2, values: &[(0, 1), (1, 1)] };
        for (change, b) in [(Change::Variation, 0.25), (Change::Largest, 0.25), (Change::Relative, 1.0)] {
            assert!(guarantee(change, b, Limited::all()).holds(class, &table), "{change:?}");
            assert!(!guarantee(change, b - 1e-9, Limited::all()).holds(class, &table), "{change:?}");
        }
        let divergence = |b| guarantee(Change::Divergence, b, Limited::all());
        assert!(divergence(0.1439).holds(class, &table) && !divergence(0.1438).holds(class, &table));
        let alike = Class { rows: 4, values: &[(0, 1), (1, 3)] };
        assert!(divergence(0.0).holds(alike, &table), "equal distributions do not diverge");
        assert!(!divergence(0.0).holds(class, &table));
        let nearly = Distribution::new(vec![1_000_000_000, 3_000_000_001], None);
        assert!(!divergence(0.0).holds(alike, &nearly), "by less than floats can see");
    }

    /// Every distance from its definition, in floats: over all values and over named ones.
    #[test]
    fn distances_agree_with_their_definitions() {
        for seed in 0..4000u64 {
            let mut rng = StdRng::seed_from_u64(seed);
            let m = rng.random_range(1..6usize);
            let table: Vec<u64> = (0..m).map(|_| rng.random_range(0..7)).collect();
            let class: Vec<u64> = table.iter().map(|&count| rng.random_range(0..=count)).collect();
            if class.iter().sum::<u64>() == 0 {
                continue;
            }
            let named: Option<Vec<u32>> =
                rng.random_bool(0.5).then(|| (0..m as u32).filter(|_| rng.random_bool(0.5)).collect());
            let is_named = |code: usize| named.as_ref().is_none_or(|named| named.contains(&(code as u32)));
            let shares = |counts: &[u64]| -> Vec<f64> {
                let sum = counts.iter().sum::<u64>() as f64;
                counts.iter().map(|&count| count as f64 / sum).collect()
            };
            let (p, q) = (shares(&class), shares(&table));
            // Named values, and the others as one.
            let lump = |shares: &[f64]| -> Vec<f64> {
                let (mut kept, mut others) = (Vec::new(), 0.0);
                for (code, share) in shares.iter().enumerate() {
                    if is_named(code) { kept.push(*share) } else { others += share }
                }
                kept.push(others);
                kept
            };
            let lumped = || lump(&p).into_iter().zip(lump(&q));
            let single = || (0..m).filter(|&code| is_named(code) && q[code] > 0.0).map(|code| (p[code], q[code]));
            for (change, expected) in [
                (Change::Variation, lumped().map(|(p, q)| (p - q).abs()).sum::<f64>() / 2.0),
                (Change::Largest, single().map(|(p, q)| (p - q).abs()).fold(0.0, f64::max)),
                (Change::Relative, single().map(|(p, q)| (p - q).abs() / q).fold(0.0, f64::max)),
                (Change::Divergence, lumped().filter(|(p, _)| *p > 0.0).map(|(p, q)| p * (p / q).ln()).sum::<f64>()),
            ] {
                let limited = named.clone().map_or(Limited::all(), Limited::to);
                let found = b_of(change, &class, &table, limited);
                assert!((found - expected).abs() < 1e-12, "seed {seed}, {change:?}: {found} is not {expected}");
            }
        }
    }

    /// One row, one value: nothing is learned from a table that has nothing else.
    #[test]
    fn tables_of_one_value_change_no_belief() {
        for change in Change::ALL {
            assert_eq!(b_of(change, &[1], &[1], Limited::all()), 0.0, "{change:?}");
            let class = Class { rows: 3, values: &[(0, 3)] };
            assert!(guarantee(change, 0.0, Limited::all()).holds(class, &Distribution::new(vec![9, 0], None)));
        }
    }
}
