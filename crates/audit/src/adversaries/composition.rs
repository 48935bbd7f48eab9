//! The composition attack: somebody is in several releases, and only what all of them allow remains (Ganta,
//! Kasiviswanathan, Smith 2008; Baig, Li, Liu, Wang: *Cloning for privacy protection in multiple independent data
//! publications*, 2011, sections 4 and 5).
//!
//! - What remains for a person is the intersection of the sensitive values of the cells they match, release by release. One
//!   value left: the adversary knows it.
//! - The confidence in a value is `min(count₁, count₂) / Σ min(count₁, count₂)` over the matching classes (equation 3,
//!   where α f₁ and f₂ are the counts over |D₂|); over more releases the minimum of all.
//! - θ is the largest gain of that confidence over the better single release (equation 4).
//! - β is one over the overlap of the two tables' distributions: 1 when they are alike.
//!
//! A person who matches nothing that all releases allow is not in all of them, and is counted apart.

use serde_json::json;

use super::{exposure, left, names};
use crate::finding::{Finding, Worst};
use crate::side_by_side::{Combination, Group, SideBySide};

/// Equation 3: the confidence in every value that is left, from the rows of each value in each release.
pub fn confidences(counts: &[Vec<(u32, f64)>]) -> Vec<(u32, f64)> {
    let Some((first, others)) = counts.split_first() else { return Vec::new() };
    let least = first.iter().filter_map(|&(value, count)| {
        let counts = others.iter().map(|other| other.iter().find(|(code, _)| *code == value).map(|&(_, count)| count));
        let least = counts.collect::<Option<Vec<f64>>>()?.into_iter().fold(count, f64::min);
        Some((value, least))
    });
    let least: Vec<(u32, f64)> = least.filter(|(_, least)| *least > 0.0).collect();
    let sum: f64 = least.iter().map(|(_, least)| least).sum();
    least.into_iter().map(|(value, least)| (value, least / sum)).collect()
}

/// One over the overlap of two distributions, given as counts over the same values; infinite when nothing is shared.
pub fn beta(first: &[u64], second: &[u64]) -> f64 {
    let sum = |counts: &[u64]| counts.iter().sum::<u64>() as f64;
    let (one, two) = (sum(first), sum(second));
    1.0 / first.iter().zip(second).map(|(&a, &b)| f64::min(a as f64 / one, b as f64 / two)).sum::<f64>()
}

/// Over people: one finding for all releases together. Over cells: one for each pair.
pub(crate) fn run(beside: &SideBySide<'_>, group: &Group) -> Finding {
    let mut finding = Finding::new("composition", names(beside, &group.sides), Some(beside.protect));
    let people_known = group.combinations.iter().any(|combination| combination.people > 0);
    let (mut worst, mut strangers, mut theta) = (Worst::new(), 0u64, f64::NEG_INFINITY);
    let (mut told, mut hits) = (0u64, 0u64);
    let mut marked: Vec<Vec<bool>> =
        group.sides.iter().map(|&side| vec![false; beside.sides[side].views.len()]).collect();
    for combination in &group.combinations {
        finding.people += combination.people;
        let values = left(beside, group, combination);
        if values.is_empty() {
            strangers += combination.people;
            continue;
        }
        finding.leave(values.len() as u64, combination.people);
        let rows = views(beside, group, combination).map(|view| view.rows).min().unwrap_or_default();
        finding.effective_k = Some(finding.effective_k.map_or(rows, |least| least.min(rows)));
        let counts: Vec<Vec<(u32, f64)>> = views(beside, group, combination).map(|view| view.values.clone()).collect();
        let confidences = confidences(&counts);
        let top = confidences.iter().map(|&(_, confidence)| confidence).fold(0.0, f64::max);
        finding.max_confidence = finding.max_confidence.max(top);
        theta = theta.max(gain(beside, group, combination, &confidences));
        if values.len() == 1 {
            finding.at_risk += combination.people;
            marked.iter_mut().zip(&combination.views).for_each(|(marks, &view)| marks[view as usize] = true);
        }
        if let Some(truth) = combination.truth {
            told += combination.people;
            hits += if values == [truth] { combination.people } else { 0 };
        }
        worst.offer((values.len(), -top, u64::MAX - combination.people), || {
            let mut exposure = exposure(beside, group, combination, confidences);
            exposure.why = why(&exposure.values.len());
            exposure
        });
    }
    if !people_known {
        count_rows(&mut finding, beside, group, &marked);
    }
    if theta.is_finite() {
        finding.details.insert("theta".to_owned(), json!(theta));
    }
    if let [one, two] = group.sides[..] {
        let beta = beta(&beside.sides[one].totals, &beside.sides[two].totals);
        finding.details.insert("beta".to_owned(), json!(beta.is_finite().then_some(beta)));
    }
    if told > 0 {
        finding.details.insert("true_hits".to_owned(), json!(hits));
    }
    if strangers > 0 {
        finding.details.insert("not_in_all".to_owned(), json!(strangers));
        let note = format!("{strangers} people match nothing that all releases allow, so they are not in all of them");
        finding.notes.push(note);
    }
    if group.cut {
        finding.notes.push("too many combinations of cells to look at all: name the people with --people".to_owned());
    }
    finding.worst = worst.into_vec();
    finding
}

fn views<'s>(
    beside: &'s SideBySide<'_>,
    group: &'s Group,
    combination: &'s Combination,
) -> impl Iterator<Item = &'s crate::side_by_side::View> {
    group.sides.iter().zip(&combination.views).map(|(&side, &view)| &beside.sides[side].views[view as usize])
}

/// Equation 4: how much the best-known value gained over the better single release.
fn gain(beside: &SideBySide<'_>, group: &Group, combination: &Combination, confidences: &[(u32, f64)]) -> f64 {
    let single = |value: u32| {
        let shares = views(beside, group, combination).map(|view| view.weight(value) / view.rows.max(1) as f64);
        shares.fold(0.0, f64::max)
    };
    confidences.iter().map(|&(value, confidence)| confidence - single(value)).fold(f64::NEG_INFINITY, f64::max)
}

/// Without people, every released row stands for one, at risk when its class is in a combination that leaves one value.
fn count_rows(finding: &mut Finding, beside: &SideBySide<'_>, group: &Group, marked: &[Vec<bool>]) {
    for (&side, marks) in group.sides.iter().zip(marked) {
        let views = &beside.sides[side].views;
        finding.people += beside.sides[side].classes.rows;
        finding.at_risk +=
            views.iter().zip(marks).filter(|(_, marked)| **marked).map(|(view, _)| view.rows).sum::<u64>();
    }
    finding.notes.push("no people were named: rows are counted whose cells could be combined so".to_owned());
}

fn why(left: &usize) -> String {
    match left {
        1 => "only one value is in the matching cells of every release".to_owned(),
        left => format!("only {left} values are in the matching cells of every release"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Example 2: |D₁| = 9 with C 2, D 3, G 2, J 2; |D₂| = 12 with A, D, G, J 3 each.
    #[test]
    fn three_sevenths_for_nancy() {
        let (c, d, g, j, a) = (0, 1, 2, 3, 4);
        let first = vec![(c, 2.0), (d, 3.0), (g, 2.0), (j, 2.0)];
        let second = vec![(a, 3.0), (d, 3.0), (g, 3.0), (j, 3.0)];
        let found = confidences(&[first, second]);
        assert_eq!(found, [(d, 3.0 / 7.0), (g, 2.0 / 7.0), (j, 2.0 / 7.0)]);
    }

    /// Example 3.
    #[test]
    fn beta_of_the_three_pairs_of_distributions() {
        let first = [1, 2, 3, 4, 0];
        assert!((beta(&first, &[1, 2, 3, 4, 0]) - 1.0).abs() < 1e-12);
        assert!((beta(&first, &[0, 2, 3, 4, 1]) - 1.11).abs() < 0.005);
        assert!((beta(&first, &[0, 1, 2, 3, 4]) - 1.67).abs() < 0.005);
        assert!(beta(&[1, 0], &[0, 1]).is_infinite());
    }
}
