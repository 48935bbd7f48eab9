//! The adversary who assumes that releases are independent given the sensitive value (Cheong, Wu,
//! Wong: *Non-centralized distinct l-diversity*, 2012, section 4.2.1).
//!
//! For one class from every release, `P(s | classes) ∝ P(s) · Πᵢ P(classᵢ | s)` (equation 5), every
//! factor a count in one table. The paper's own example substitutes P(s | class) for P(class | s);
//! its printed result follows from the latter. P(s) is the same in all tables when they hold the
//! same people; where they differ, their mean is taken. What a release leaves that may lack a
//! person is not used.

use serde_json::{Value, json};

use super::exposure;
use crate::Adversary;
use crate::combined_view::{Combination, CombinationGroup, CombinedView, PersonView, ReleaseSide};
use crate::finding::{Finding, Worst};

/// How many rows of the probabilistic table are reported.
const TABLE_MAX: usize = 10_000;

/// The counts of one release: the rows of each value in a class, ascending by value, and in the
/// table.
#[derive(Debug, Clone, Copy)]
pub struct ClassRows<'a> {
    pub class: &'a [(u32, f64)],
    pub totals: &'a [u64],
}

impl ClassRows<'_> {
    /// P(class | value).
    fn share(&self, value: u32) -> f64 {
        let place = self.class.binary_search_by_key(&value, |&(value, _)| value);
        place.map_or(0.0, |place| self.class[place].1 / self.totals[value as usize] as f64)
    }
}

/// Equation 5. `prior` is P(s). Values that some class lacks are impossible and omitted.
pub fn posterior(prior: &[f64], releases: &[ClassRows<'_>]) -> Vec<(u32, f64)> {
    let Some(first) = releases.first() else { return Vec::new() };
    let weight =
        |value: u32| releases.iter().fold(prior[value as usize], |weight, release| weight * release.share(value));
    let weights = first.class.iter().map(|&(value, _)| (value, weight(value)));
    let mut weights: Vec<(u32, f64)> = weights.filter(|(_, weight)| *weight > 0.0).collect();
    let sum: f64 = weights.iter().map(|(_, weight)| weight).sum();
    weights.iter_mut().for_each(|(_, weight)| *weight /= sum);
    weights
}

pub(crate) fn run(combined: &CombinedView<'_>, group: &CombinationGroup, with_table: bool) -> Finding {
    let mut finding = Finding::new(Adversary::Independence, combined.names(&group.sides), Some(combined.protect));
    let prior = prior(combined, group);
    let mut worst = Worst::new();
    let mut places: Vec<(bool, f64)> = Vec::with_capacity(group.combinations.len());
    let mut table: Vec<Value> = Vec::new();
    let people_known = group.combinations.iter().any(|combination| combination.people > 0);
    for combination in &group.combinations {
        let people = if people_known { combination.people } else { 1 };
        finding.people += people;
        let left = of_combination(combined, group, combination, &prior);
        if left.is_empty() {
            places.push((false, 0.0));
            continue;
        }
        finding.leave(left.len() as u64, people);
        finding.at_risk += if left.len() == 1 { people } else { 0 };
        let top = left.iter().map(|&(_, confidence)| confidence).fold(0.0, f64::max);
        finding.max_confidence = finding.max_confidence.max(top);
        places.push((left.len() == 1, top));
        if with_table && table.len() < TABLE_MAX {
            let exposure = exposure(combined, group, combination, left.clone());
            let cells = exposure.cells.iter().map(|of| json!({ "release": of.release, "cells": of.cells }));
            let cells: Vec<Value> = cells.collect();
            table.push(json!({ "cells": cells, "probabilities": exposure.values }));
        }
        worst.offer((-top, left.len(), u64::MAX - combination.people), || {
            let mut exposure = exposure(combined, group, combination, left);
            exposure.why = "the likeliest value, were the releases independent given it".to_owned();
            exposure
        });
    }
    if !people_known {
        finding.note("no people were named: combinations of cells are counted");
    }
    group.note_lacking(combined, &mut finding);
    if with_table {
        finding.details.insert("table".to_owned(), Value::Array(table));
    }
    finding.list_people(&group.of_person, &places);
    finding.worst = worst.into_vec();
    finding
}

fn prior(combined: &CombinedView<'_>, group: &CombinationGroup) -> Vec<f64> {
    let mut prior = vec![0.0; combined.values.len()];
    let used = group.sides.iter().zip(&group.may_lack).filter(|(_, may_lack)| !**may_lack);
    let sides: Vec<usize> = used.map(|(&side, _)| side).collect();
    for &side in &sides {
        let totals = &combined.sides[side].totals;
        let rows: u64 = totals.iter().sum();
        for (share, &total) in prior.iter_mut().zip(totals) {
            *share += total as f64 / rows as f64 / sides.len() as f64;
        }
    }
    prior
}

fn of_combination(
    combined: &CombinedView<'_>,
    group: &CombinationGroup,
    combination: &Combination,
    prior: &[f64],
) -> Vec<(u32, f64)> {
    let views = group.sure_views(combined, combination).unwrap_or_default();
    let releases: Vec<ClassRows<'_>> = views.into_iter().map(|(side, view)| class_rows(side, view)).collect();
    posterior(prior, &releases)
}

fn class_rows<'v>(side: &'v ReleaseSide<'_>, view: &'v PersonView) -> ClassRows<'v> {
    ClassRows { class: &view.values, totals: &side.totals }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables 2 and 7 of the paper, with table 2(b) rebuilt from table 1: High, Middle, Low.
    #[test]
    fn the_probabilistic_table_of_the_twelve_people() {
        let class = |rows: [f64; 3]| -> Vec<(u32, f64)> { (0..).zip(rows).filter(|(_, rows)| *rows > 0.0).collect() };
        let (older, younger) = (class([4.0, 2.0, 2.0]), class([0.0, 2.0, 2.0]));
        let (north, south) = (class([2.0, 4.0, 2.0]), class([2.0, 0.0, 2.0]));
        let totals = [4u64, 4, 4];
        for (age, zip, expected) in [
            (&older, &north, vec![(0, 0.4), (1, 0.4), (2, 0.2)]),
            (&older, &south, vec![(0, 2.0 / 3.0), (2, 1.0 / 3.0)]),
            (&younger, &north, vec![(1, 2.0 / 3.0), (2, 1.0 / 3.0)]),
            (&younger, &south, vec![(2, 1.0)]),
        ] {
            let releases = [age, zip].map(|class| ClassRows { class, totals: &totals });
            let found = posterior(&[1.0 / 3.0; 3], &releases);
            let close = |((a, p), (b, q)): (&(u32, f64), &(u32, f64))| a == b && (p - q).abs() < 1e-12;
            assert!(found.len() == expected.len() && found.iter().zip(&expected).all(close), "{found:?}, {expected:?}");
        }
    }

    #[test]
    fn impossible_combinations_have_no_posterior() {
        let releases = [&[(0, 1.0)], &[(1, 1.0)]].map(|class| ClassRows { class, totals: &[1, 1] });
        assert_eq!(posterior(&[0.5, 0.5], &releases), []);
    }
}
