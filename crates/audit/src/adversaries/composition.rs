//! The composition attack: a person is in several releases, and only what all of them allow remains
//! (Ganta, Kasiviswanathan, Smith 2008; Baig, Li, Liu, Wang: *Cloning for privacy protection in
//! multiple independent data publications*, 2011, sections 4 and 5).
//!
//! - What remains for a person is the intersection of the sensitive values of the cells they match,
//!   release by release. One value left: the adversary knows it.
//! - The confidence in a value is `min(count₁, count₂) / Σ min(count₁, count₂)` over the matching
//!   classes (equation 3, where α f₁ and f₂ are the counts over |D₂|); over more releases the
//!   minimum of all.
//! - θ is the largest gain of that confidence over the better single release (equation 4).
//! - β is one over the overlap of the two tables' distributions: 1 when they are alike.
//!
//! A person who matches nothing that all releases allow, or not with their true value, is not in
//! all of them, and is counted apart. Values left by a release that may lack a person are not used,
//! so that certain values are true of everyone who is in the other releases.

use serde_json::json;

use super::exposure;
use crate::Adversary;
use crate::combined_view::{CombinationGroup, CombinedView, PersonView, ReleaseSide};
use crate::finding::{Finding, Needs, Worst};

/// Equation 3: the confidence in every value that is left, from the rows of each value in each
/// release, ascending by value.
pub fn confidences(counts: &[&[(u32, f64)]]) -> Vec<(u32, f64)> {
    let Some((first, others)) = counts.split_first() else { return Vec::new() };
    let mut least: Vec<(u32, f64)> = first.to_vec();
    for other in others {
        let mut theirs = other.iter().peekable();
        least.retain_mut(|(value, least)| {
            while theirs.next_if(|(next, _)| next < value).is_some() {}
            let count = theirs.next_if(|(next, _)| next == value).map_or(0.0, |&(_, count)| count);
            *least = least.min(count);
            *least > 0.0
        });
    }
    let sum: f64 = least.iter().map(|(_, least)| least).sum();
    least.iter_mut().for_each(|(_, least)| *least /= sum);
    least
}

/// One over the overlap of two distributions, given as counts over the same values; infinite when
/// nothing is shared.
pub fn beta(first: &[u64], second: &[u64]) -> f64 {
    let sum = |counts: &[u64]| counts.iter().sum::<u64>() as f64;
    let (one, two) = (sum(first), sum(second));
    1.0 / first.iter().zip(second).map(|(&a, &b)| f64::min(a as f64 / one, b as f64 / two)).sum::<f64>()
}

/// Over people, or over the combinations of cells that a person could be in.
pub(crate) fn run(combined: &CombinedView<'_>, group: &CombinationGroup) -> Finding {
    let mut finding = Finding::new(Adversary::Composition, combined.names(&group.sides), Some(combined.protect));
    let people_known = group.combinations.iter().any(|combination| combination.people > 0);
    let (mut worst, mut outside, mut theta) = (Worst::new(), 0u64, f64::NEG_INFINITY);
    let (mut known, mut hits) = (0u64, 0u64);
    let mut places: Vec<(bool, f64)> = Vec::with_capacity(group.combinations.len());
    // By side and view, the fewest values that a combination with it leaves.
    let mut fewest: Vec<Vec<usize>> =
        group.sides.iter().map(|&side| vec![usize::MAX; combined.sides[side].views.len()]).collect();
    for combination in &group.combinations {
        finding.people += combination.people;
        let views = group.sure_views(combined, combination);
        let is_in_some = views.as_ref().is_none_or(|views| !views.is_empty());
        let views = views.unwrap_or_default();
        let counts: Vec<&[(u32, f64)]> = views.iter().map(|(_, view)| view.values.as_slice()).collect();
        let confidences = confidences(&counts);
        let left = confidences.len();
        if left == 0 {
            outside += if is_in_some { combination.people } else { 0 };
            places.push((false, 0.0));
            continue;
        }
        finding.leave(left as u64, combination.people);
        let rows = views.iter().map(|(_, view)| view.rows).min().unwrap_or_default();
        finding.effective_k = Some(finding.effective_k.map_or(rows, |least| least.min(rows)));
        let top = confidences.iter().map(|&(_, confidence)| confidence).fold(0.0, f64::max);
        finding.max_confidence = finding.max_confidence.max(top);
        places.push((left == 1, top));
        theta = theta.max(gain(&views, &confidences));
        finding.at_risk += if left == 1 { combination.people } else { 0 };
        for (fewest, &view) in fewest.iter_mut().zip(&combination.views) {
            fewest[view as usize] = fewest[view as usize].min(left);
        }
        if let Some(truth) = combination.truth {
            known += combination.people;
            hits += if left == 1 && confidences[0].0 == truth { combination.people } else { 0 };
        }
        worst.offer((-top, left, u64::MAX - combination.people), || {
            let mut exposure = exposure(combined, group, combination, confidences);
            exposure.why = why(left);
            exposure
        });
    }
    if !people_known {
        count_rows(&mut finding, combined, group, &fewest);
    }
    if theta.is_finite() {
        finding.details.insert("theta".to_owned(), json!(theta));
    }
    if let [one, two] = group.sides[..] {
        let beta = beta(&combined.sides[one].totals, &combined.sides[two].totals);
        finding.details.insert("beta".to_owned(), json!(beta.is_finite().then_some(beta)));
    }
    if known > 0 {
        finding.details.insert("true_hits".to_owned(), json!(hits));
    }
    if outside > 0 {
        finding.details.insert("not_in_all".to_owned(), json!(outside));
        let note = format!("{outside} people match nothing that all releases allow, so they are not in all of them");
        finding.note(note);
    }
    group.note_lacking(combined, &mut finding);
    if group.cut {
        finding.note_needs(Needs::People, "too many combinations of cells to examine all");
    }
    finding.list_people(&group.of_person, &places);
    finding.worst = worst.into_vec();
    finding
}

/// Equation 4: how much the best-known value gained over the better single release.
fn gain(views: &[(&ReleaseSide<'_>, &PersonView)], confidences: &[(u32, f64)]) -> f64 {
    let single = |value: u32| {
        let shares = views.iter().map(|(_, view)| view.weight(value) / view.rows.max(1) as f64);
        shares.fold(0.0, f64::max)
    };
    confidences.iter().map(|&(value, confidence)| confidence - single(value)).fold(f64::NEG_INFINITY, f64::max)
}

/// Without people, every released row stands for one, with as few values as any combination with
/// its class leaves.
fn count_rows(finding: &mut Finding, combined: &CombinedView<'_>, group: &CombinationGroup, fewest: &[Vec<usize>]) {
    for (&side, fewest) in group.sides.iter().zip(fewest) {
        finding.people += combined.sides[side].classes.rows;
        for (view, &left) in combined.sides[side].views.iter().zip(fewest).filter(|(_, left)| **left < usize::MAX) {
            finding.leave(left as u64, view.rows);
            finding.at_risk += if left == 1 { view.rows } else { 0 };
        }
    }
    finding.note("no people were named: rows are counted whose cells could be combined so");
}

fn why(left: usize) -> String {
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
        let second = vec![(d, 3.0), (g, 3.0), (j, 3.0), (a, 3.0)];
        let found = confidences(&[&first, &second]);
        assert_eq!(found, [(d, 3.0 / 7.0), (g, 2.0 / 7.0), (j, 2.0 / 7.0)]);
    }

    /// Example 3.
    #[test]
    fn beta_of_the_three_pairs_of_distributions() {
        let first = [1, 2, 3, 4, 0];
        for (second, overlap, printed) in
            [([1, 2, 3, 4, 0], 1.0, "1.00"), ([0, 2, 3, 4, 1], 0.9, "1.11"), ([0, 1, 2, 3, 4], 0.6, "1.67")]
        {
            let beta = beta(&first, &second);
            assert!((beta - 1.0 / overlap).abs() < 1e-12, "{beta}");
            assert_eq!(format!("{beta:.2}"), printed);
        }
        assert!(beta(&[1, 0], &[0, 1]).is_infinite());
    }
}
