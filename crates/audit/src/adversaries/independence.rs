//! The adversary who assumes that releases are independent given the sensitive value (Cheong, Wu, Wong: *Non-centralized
//! distinct l-diversity*, 2012, section 4.2.1).
//!
//! For one class from every release, `P(s | classes) ∝ P(s) · Πᵢ P(classᵢ | s)` (equation 5), every factor a count in one
//! table. The paper's own example substitutes P(s | class) for P(class | s); its printed result follows from the latter.
//! P(s) is the same in all tables when they hold the same people; where they differ, their mean is taken.

use serde_json::{Value, json};

use super::{exposure, names};
use crate::finding::{Finding, Worst};
use crate::side_by_side::{Combination, Group, SideBySide};

/// How many rows of the probabilistic table are told.
const TABLE_MAX: usize = 10_000;

/// Equation 5. `prior` is P(s); for each release, the rows of each value in the class, and in the whole table.
pub fn posterior(prior: &[f64], releases: &[(Vec<f64>, &[u64])]) -> Vec<f64> {
    let mut weights: Vec<f64> = prior.to_vec();
    for (class, totals) in releases {
        for ((weight, rows), &total) in weights.iter_mut().zip(class).zip(*totals) {
            *weight *= if total == 0 { 0.0 } else { rows / total as f64 };
        }
    }
    let sum: f64 = weights.iter().sum();
    if sum > 0.0 {
        weights.iter_mut().for_each(|weight| *weight /= sum);
    }
    weights
}

pub(crate) fn run(beside: &SideBySide<'_>, group: &Group, with_table: bool) -> Finding {
    let mut finding = Finding::new("independence", names(beside, &group.sides), Some(beside.protect));
    let prior = prior(beside, group);
    let mut worst = Worst::new();
    let mut table: Vec<Value> = Vec::new();
    let people_known = group.combinations.iter().any(|combination| combination.people > 0);
    for combination in &group.combinations {
        let people = if people_known { combination.people } else { 1 };
        finding.people += people;
        let posterior = of_combination(beside, group, combination, &prior);
        let left: Vec<(u32, f64)> = (0..).zip(posterior).filter(|(_, confidence)| *confidence > 0.0).collect();
        if left.is_empty() {
            continue;
        }
        finding.leave(left.len() as u64, people);
        finding.at_risk += if left.len() == 1 { people } else { 0 };
        let top = left.iter().map(|&(_, confidence)| confidence).fold(0.0, f64::max);
        finding.max_confidence = finding.max_confidence.max(top);
        if with_table && table.len() < TABLE_MAX {
            let exposure = exposure(beside, group, combination, left.clone());
            let cells: Vec<Value> =
                exposure.cells.iter().map(|(release, cells)| json!({ "release": release, "cells": cells })).collect();
            table.push(json!({ "cells": cells, "probabilities": exposure.values }));
        }
        worst.offer((-top, left.len(), u64::MAX - combination.people), || {
            let mut exposure = exposure(beside, group, combination, left);
            exposure.why = "the likeliest value, were the releases independent given it".to_owned();
            exposure
        });
    }
    if !people_known {
        finding.notes.push("no people were named: combinations of cells are counted".to_owned());
    }
    if with_table {
        finding.details.insert("table".to_owned(), Value::Array(table));
    }
    finding.worst = worst.into_vec();
    finding
}

fn prior(beside: &SideBySide<'_>, group: &Group) -> Vec<f64> {
    let mut prior = vec![0.0; beside.values.len()];
    for &side in &group.sides {
        let totals = &beside.sides[side].totals;
        let rows: u64 = totals.iter().sum();
        for (share, &total) in prior.iter_mut().zip(totals) {
            *share += total as f64 / rows as f64 / group.sides.len() as f64;
        }
    }
    prior
}

fn of_combination(beside: &SideBySide<'_>, group: &Group, combination: &Combination, prior: &[f64]) -> Vec<f64> {
    let releases: Vec<(Vec<f64>, &[u64])> = group
        .sides
        .iter()
        .zip(&combination.views)
        .map(|(&side, &view)| {
            let side = &beside.sides[side];
            let view = &side.views[view as usize];
            let rows = (0..beside.values.len() as u32).map(|value| view.weight(value)).collect();
            (rows, side.totals.as_slice())
        })
        .collect();
    posterior(prior, &releases)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables 2 and 7 of the paper, with table 2(b) rebuilt from table 1: High, Middle, Low.
    #[test]
    fn the_probabilistic_table_of_the_twelve_people() {
        let (older, younger) = (vec![4.0, 2.0, 2.0], vec![0.0, 2.0, 2.0]);
        let (north, south) = (vec![2.0, 4.0, 2.0], vec![2.0, 0.0, 2.0]);
        let totals = [4u64, 4, 4];
        let prior = [1.0 / 3.0; 3];
        let both =
            |age: &Vec<f64>, zip: &Vec<f64>| posterior(&prior, &[(age.clone(), &totals), (zip.clone(), &totals)]);
        let close = |found: Vec<f64>, expected: [f64; 3]| {
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?} is not {expected:?}");
        };
        close(both(&older, &north), [0.4, 0.4, 0.2]);
        close(both(&older, &south), [2.0 / 3.0, 0.0, 1.0 / 3.0]);
        close(both(&younger, &north), [0.0, 2.0 / 3.0, 1.0 / 3.0]);
        close(both(&younger, &south), [0.0, 0.0, 1.0]);
    }

    #[test]
    fn impossible_combinations_have_no_posterior() {
        assert_eq!(posterior(&[0.5, 0.5], &[(vec![1.0, 0.0], &[1, 1]), (vec![0.0, 1.0], &[1, 1])]), [0.0, 0.0]);
    }
}
