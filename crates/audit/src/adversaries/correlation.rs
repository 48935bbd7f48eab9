//! The adversary who knows how the quasi-identifiers of two releases go together: the size of every
//! joint cell (Cheong, Wu, Wong: *Non-centralized distinct l-diversity*, 2012, section 4.2.2).
//!
//! With aₛ and bₛ rows of value s in the two classes, Nₛ in all and n people in the joint cell,
//! every vector (hₛ) of sum n with `max(0, aₛ + bₛ − Nₛ) ≤ hₛ ≤ min(aₛ, bₛ)` may be the truth. The
//! paper keeps only the upper bounds and weighs all vectors equally (`uniform`); but a vector comes
//! about in Πₛ C(aₛ, hₛ)·C(Nₛ − aₛ, bₛ − hₛ) ways (`exact`). The confidence in s is the expected hₛ
//! / n.
//!
//! Vectors are never listed: a dynamic program over the values adds them up, from the left and from
//! the right. Cost: values × n × the widest bound.
//!
//! Of a release that may lack people who fit it, no such size is known: nothing is concluded.

use hashbrown::HashMap;
use serde_json::json;

use super::exposure;
use crate::Adversary;
use crate::combined_view::{Combination, CombinationGroup, CombinedView, ReleaseSide};
use crate::finding::{Finding, Worst};

/// How likely the ways are in which the values of two classes can be the same people's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weights {
    /// Every vector counts the same.
    Uniform,
    /// Every vector counts in how many ways it comes about.
    Exact,
}

/// One value in the two classes and in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValueRows {
    pub first: u64,
    pub second: u64,
    /// In all, where it is known; without it there is no lower bound, as in the paper.
    pub all: Option<u64>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Inference {
    /// How many vectors are possible; infinite beyond 10³⁰⁸.
    pub instances: f64,
    /// The confidence in each value.
    pub confidences: Vec<f64>,
}

impl ValueRows {
    fn bounds(&self) -> (usize, usize) {
        let most = self.first.min(self.second);
        let least = self.all.map_or(0, |all| (self.first + self.second).saturating_sub(all));
        (least as usize, most as usize)
    }

    /// ln of the ways in which `joint` rows are in both classes.
    fn ln_ways(&self, joint: u64) -> f64 {
        let all = self.all.unwrap_or(self.first + self.second);
        ln_choose(self.first, joint) + ln_choose(all.saturating_sub(self.first), self.second - joint)
    }
}

/// For each value, whether some vector has a row of it in the joint cell. Weights can be too small
/// for a number to hold, so that a confidence of 0 is not the same.
pub fn possible(values: &[ValueRows], joint: u64) -> Vec<bool> {
    let least: u64 = values.iter().map(|value| value.bounds().0 as u64).sum();
    let of = |value: &ValueRows| {
        let (own, most) = value.bounds();
        (most as u64).min((joint + own as u64).saturating_sub(least)) > 0
    };
    values.iter().map(of).collect()
}

/// `None` when no vector is possible: the joint cell cannot have that size.
pub fn infer(values: &[ValueRows], joint: u64, weights: Weights) -> Option<Inference> {
    let n = joint as usize;
    let weigh = |value: &ValueRows| -> Vec<f64> {
        let (least, most) = value.bounds();
        let ln: Vec<f64> = (least..=most.min(n))
            .map(|joint| match weights {
                Weights::Uniform => 0.0,
                Weights::Exact => value.ln_ways(joint as u64),
            })
            .collect();
        let top = ln.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        ln.into_iter().map(|ln| (ln - top).exp()).collect()
    };
    let weighed: Vec<(usize, Vec<f64>)> = values.iter().map(|value| (value.bounds().0, weigh(value))).collect();
    let from_left = sums(weighed.iter(), n);
    let mut from_right = sums(weighed.iter().rev(), n);
    from_right.reverse();
    let mut confidences = Vec::with_capacity(values.len());
    for (index, (least, ways)) in weighed.iter().enumerate() {
        let (before, after) = (&from_left[index], &from_right[index + 1]);
        let (mut total, mut expected) = (0.0, 0.0);
        for (rows, way) in (*least..).zip(ways).filter(|(rows, _)| *rows <= n) {
            let rest: f64 = (0..=n - rows).map(|left| before[left] * after[n - rows - left]).sum();
            total += way * rest;
            expected += way * rest * rows as f64;
        }
        if total <= 0.0 {
            return None;
        }
        confidences.push(if n == 0 { 0.0 } else { expected / total / n as f64 });
    }
    if values.is_empty() {
        return None;
    }
    Some(Inference { instances: instances(values, n), confidences })
}

/// For every prefix of the values, the weight of all ways to reach each sum up to n; each scaled by
/// its own largest, which cancels in every ratio taken of it.
fn sums<'w>(values: impl Iterator<Item = &'w (usize, Vec<f64>)>, n: usize) -> Vec<Vec<f64>> {
    let mut sums = vec![vec![0.0; n + 1]];
    sums[0][0] = 1.0;
    for (least, ways) in values {
        let before = &sums[sums.len() - 1];
        let mut next = vec![0.0; n + 1];
        for (rows, way) in (*least..).zip(ways).filter(|(rows, _)| *rows <= n) {
            for (sum, weight) in before[..=n - rows].iter().enumerate() {
                next[sum + rows] += way * weight;
            }
        }
        let top = next.iter().copied().fold(0.0, f64::max);
        if top > 0.0 {
            next.iter_mut().for_each(|weight| *weight /= top);
        }
        sums.push(next);
    }
    sums
}

fn instances(values: &[ValueRows], n: usize) -> f64 {
    let mut counts = vec![0.0; n + 1];
    counts[0] = 1.0;
    for value in values {
        let (least, most) = value.bounds();
        let mut next = vec![0.0; n + 1];
        for rows in least..=most.min(n) {
            for sum in 0..=n - rows {
                next[sum + rows] += counts[sum];
            }
        }
        counts = next;
    }
    counts[n]
}

fn ln_choose(of: u64, chosen: u64) -> f64 {
    if chosen > of {
        return f64::NEG_INFINITY;
    }
    ln_factorial(of) - ln_factorial(chosen) - ln_factorial(of - chosen)
}

/// By addition while that is exact enough and quick, then by Stirling's series.
fn ln_factorial(n: u64) -> f64 {
    if n < 256 {
        return (2..=n).map(|factor| (factor as f64).ln()).sum();
    }
    let x = n as f64;
    x * x.ln() - x + 0.5 * (std::f64::consts::TAU * x).ln() + 1.0 / (12.0 * x) - 1.0 / (360.0 * x.powi(3))
}

/// The most work spent on one joint cell.
const WORK_MAX: u64 = 20_000_000;

/// Over the joint cells of two releases that the given people fill.
pub(crate) fn run(
    combined: &CombinedView<'_>,
    group: &CombinationGroup,
    pair: [usize; 2],
    weights: Weights,
) -> Finding {
    let sides = pair.map(|position| group.sides[position]);
    let group = &group.only(pair);
    let mut finding = Finding::new(Adversary::Correlation, combined.names(&sides), Some(combined.protect));
    let weighed = if weights == Weights::Uniform { "uniform" } else { "exact" };
    finding.details.insert("weights".to_owned(), json!(weighed));
    group.note_lacking(combined, &mut finding);
    if group.may_lack.contains(&true) {
        finding.people = group.combinations.iter().map(|combination| combination.people).sum();
        finding.list_people(&group.of_person, &vec![(false, 0.0); group.combinations.len()]);
        return finding;
    }
    // Who is in one of the releases alone is in no joint cell.
    let is_in_both = |combination: &&Combination| group.sure_views(combined, combination).is_some();
    let mut joint: HashMap<[u32; 2], u64> = HashMap::new();
    for combination in group.combinations.iter().filter(is_in_both) {
        *joint.entry([0, 1].map(|position| combination.views[position])).or_default() += combination.people;
    }
    let mut joint: Vec<([u32; 2], u64)> = joint.into_iter().collect();
    joint.sort_unstable();
    let everyone = (0..2).all(|position| {
        let found = group.combinations.iter().filter(is_in_both);
        let found = found.map(|own| (own, own.views[position], group.truth_of(combined, own)));
        are_all_rows(&combined.sides[sides[position]], found)
    });
    let (mut worst, mut large) = (Worst::new(), 0u64);
    let all: u64 = group.combinations.iter().map(|combination| combination.people).sum();
    let mut unfit = all - joint.iter().map(|(_, people)| people).sum::<u64>();
    finding.people = unfit;
    let mut risks: HashMap<[u32; 2], (bool, f64)> = HashMap::new();
    for (views, people) in joint {
        finding.people += people;
        let [first, second] = [0, 1].map(|side| &combined.sides[sides[side]].views[views[side] as usize]);
        if !first.whole_bucket || !second.whole_bucket {
            unfit += people;
            continue;
        }
        let values: Vec<u32> =
            first.values.iter().map(|&(value, _)| value).filter(|&value| second.weight(value) > 0.0).collect();
        // Rows that are in neither cell are of people in other cells only where everyone is listed
        // and in one class of each release.
        let all = |value: u32| {
            let [one, two] = sides.map(|side| combined.sides[side].totals[value as usize]);
            (everyone && one == two).then_some(one)
        };
        let rows: Vec<ValueRows> = values
            .iter()
            .map(|&value| ValueRows {
                first: first.weight(value) as u64,
                second: second.weight(value) as u64,
                all: all(value),
            })
            .collect();
        let widest = rows.iter().map(|rows| rows.bounds().1 as u64).sum::<u64>();
        if widest.saturating_mul(people) > WORK_MAX {
            large += people;
            continue;
        }
        let Some(found) = infer(&rows, people, weights) else {
            unfit += people;
            continue;
        };
        let left: Vec<(u32, f64)> = values
            .into_iter()
            .zip(found.confidences)
            .zip(possible(&rows, people))
            .filter(|(_, possible)| *possible)
            .map(|(value, _)| value)
            .collect();
        finding.leave(left.len() as u64, people);
        finding.at_risk += if left.len() == 1 { people } else { 0 };
        let top = left.iter().map(|&(_, confidence)| confidence).fold(0.0, f64::max);
        finding.max_confidence = finding.max_confidence.max(top);
        risks.insert(views, (left.len() == 1, top));
        worst.offer((-top, left.len(), u64::MAX - people), || {
            let combination = Combination { views: views.to_vec(), people, truth: None };
            let mut exposure = exposure(combined, group, &combination, left);
            exposure.why = format!("{people} people are in both cells, which allows {} ways", found.instances);
            exposure
        });
    }
    let of_pair = |combination: &Combination| {
        let found = risks.get(&[0, 1].map(|position| combination.views[position]));
        found.filter(|_| is_in_both(&combination)).copied().unwrap_or((false, 0.0))
    };
    finding.list_people(&group.of_person, &group.combinations.iter().map(of_pair).collect::<Vec<_>>());
    finding.note("each two cells are judged alone: what other cells leave is not used, `worlds` uses it");
    if unfit > 0 {
        finding.note(format!(
            "{unfit} people are in joint cells that the releases cannot both have, or in parts of a bucket"
        ));
    }
    if large > 0 {
        finding.note(format!("{large} people are in joint cells too large to be counted through"));
    }
    finding.worst = worst.into_vec();
    finding
}

/// Whether some people, each in one class of a release, are all of its rows, with their true values
/// where these are known.
fn are_all_rows<'c>(side: &ReleaseSide<'_>, found: impl Iterator<Item = (&'c Combination, u32, Option<u32>)>) -> bool {
    let mut people = vec![0u64; side.classes.len()];
    let mut having: HashMap<(u32, u32), u64> = HashMap::new();
    for (combination, view, truth) in found {
        let [class] = side.views[view as usize].classes[..] else { return false };
        people[class as usize] += combination.people;
        if let Some(truth) = truth {
            *having.entry((side.classes.bucket_of[class as usize], truth)).or_default() += combination.people;
        }
    }
    let is_full = people.iter().zip(&side.classes.sizes).all(|(&people, &rows)| people == u64::from(rows));
    is_full && having.iter().all(|(&(bucket, truth), &people)| people <= side.rows_of(bucket, truth))
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::testing::seeds;

    fn rows(first: u64, second: u64, all: Option<u64>) -> ValueRows {
        ValueRows { first, second, all }
    }

    /// Tables 5 and 6: four people in the joint cell; at most 3 High, 3 Middle, 2 Low.
    #[test]
    fn ten_instances_of_the_imaginary_table() {
        let values = [rows(3, 4, Some(7)), rows(3, 3, Some(7)), rows(4, 2, Some(7))];
        let found = infer(&values, 4, Weights::Uniform).unwrap();
        assert_eq!(found.instances, 10.0);
        for (confidence, expected) in found.confidences.iter().zip([3.0 / 8.0, 3.0 / 8.0, 1.0 / 4.0]) {
            assert!((confidence - expected).abs() < 1e-12, "{confidence} is not {expected}");
        }
    }

    #[test]
    fn lower_bounds_rule_out_instances() {
        // Three of four rows are in one class and three in the other: at least two are in both.
        let found = infer(&[rows(3, 3, Some(4)), rows(3, 3, Some(9))], 3, Weights::Uniform).unwrap();
        assert_eq!(found.instances, 2.0, "(2, 1) and (3, 0)");
        assert_eq!(infer(&[rows(3, 3, None), rows(3, 3, None)], 3, Weights::Uniform).unwrap().instances, 4.0);
        assert_eq!(infer(&[rows(3, 3, Some(3))], 2, Weights::Uniform), None, "all three are in both");
        assert_eq!(infer(&[], 0, Weights::Exact), None);
    }

    /// Lists every vector, with its weight in integers.
    fn listed(values: &[ValueRows], n: u64, weights: Weights) -> (u64, u128, Vec<u128>) {
        let choose = |of: u64, chosen: u64| -> u128 {
            if chosen > of { 0 } else { (0..chosen).fold(1, |ways, i| ways * u128::from(of - i) / u128::from(i + 1)) }
        };
        let Some((value, rest)) = values.split_first() else {
            return (u64::from(n == 0), u128::from(n == 0), Vec::new());
        };
        let all = value.all.unwrap_or(value.first + value.second);
        let (mut count, mut total, mut sums) = (0, 0u128, vec![0u128; values.len()]);
        for joint in 0..=n {
            let outside = (value.second.checked_sub(joint), all.checked_sub(value.first));
            let (Some(outside), Some(others)) = outside else { continue };
            let ways = choose(value.first, joint) * choose(others, outside);
            if ways == 0 {
                continue;
            }
            let ways = if weights == Weights::Uniform { 1 } else { ways };
            let (rest_count, rest_total, rest_sums) = listed(rest, n - joint, weights);
            count += rest_count;
            total += ways * rest_total;
            sums[0] += u128::from(joint) * ways * rest_total;
            sums[1..].iter_mut().zip(rest_sums).for_each(|(sum, rest)| *sum += ways * rest);
        }
        (count, total, sums)
    }

    #[test]
    fn the_dynamic_program_agrees_with_listing_every_instance() {
        for seed in seeds(2000) {
            let mut rng = StdRng::seed_from_u64(seed);
            let values: Vec<ValueRows> = (0..rng.random_range(1..5))
                .map(|_| {
                    let (first, second) = (rng.random_range(0..6), rng.random_range(0..6));
                    let all = rng.random_bool(0.7).then(|| u64::max(first, second) + rng.random_range(0..4));
                    rows(first, second, all)
                })
                .collect();
            let n = rng.random_range(1..9);
            for weights in [Weights::Uniform, Weights::Exact] {
                let (count, total, sums) = listed(&values, n, weights);
                match infer(&values, n, weights) {
                    None => assert_eq!(count, 0, "seed {seed}"),
                    Some(found) => {
                        assert_eq!(found.instances, count as f64, "seed {seed}");
                        for (confidence, sum) in found.confidences.iter().zip(sums) {
                            let expected = sum as f64 / (total * u128::from(n)) as f64;
                            assert!((confidence - expected).abs() < 1e-9, "seed {seed}: {confidence}, {expected}");
                        }
                    }
                }
            }
        }
    }
}
