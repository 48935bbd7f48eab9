//! COUNT(DISTINCT column): how many values the rows have that fulfil the condition.
//!
//! From the labels that they have, with how many rows must and can have each. At most: no more than
//! rows, and no more than values under the labels that some row can have. At least: labels that a
//! row must have and whose values are all different from one another; of intervals as many as are
//! apart, of sets those of one value each. Every table lies between the two.

use std::collections::BTreeMap;

use hashbrown::HashSet;
use hedgerow_table::Bound;

use super::answer::Estimate;
use super::columns::QueryColumn;
use super::tally::Tally;
use crate::estimate::axis::{EstimateAxis, Under, first_whole, real};

/// More values than this are not listed one by one.
const LISTED_MAX: u64 = 1 << 20;

/// `labels` has the tally of every label, by its code; `UNKNOWN_VALUE` is a row of which nothing is
/// known.
pub(super) fn count(named: &QueryColumn<'_>, labels: &BTreeMap<u32, Tally>, suppressed: u64) -> Estimate {
    let axis = &named.axis;
    let under = |code: u32| axis.under.get(code as usize).unwrap_or(&Under::Everything);
    let possible = || labels.iter().filter(|(_, tally)| tally.possible > 0);
    let rows: u64 = possible().map(|(_, tally)| tally.possible).sum();
    let most = values_under(axis, possible().map(|(code, _)| under(*code))).map_or(rows, |values| values.min(rows));
    let certain = labels.iter().filter(|(_, tally)| tally.certain > 0).map(|(code, _)| under(*code));
    let fewest = apart(certain);
    let estimate = expected(axis, possible().map(|(code, tally)| (under(*code), tally.count)));
    let (low, high) = (fewest as f64, most.saturating_add(suppressed) as f64);
    // What is expected of the released rows lies between their own bounds.
    let estimate = if estimate.is_nan() { estimate } else { estimate.clamp(low, (most as f64).max(low)) };
    Estimate { estimate, certain: low, possible: high, whole: [None; 3] }
}

/// How many values lie under some labels; `None` where nothing bounds them.
fn values_under<'u>(axis: &EstimateAxis, labels: impl Iterator<Item = &'u Under>) -> Option<u64> {
    let mut texts: HashSet<u32> = HashSet::new();
    let mut spans: Vec<(i64, i64)> = Vec::new();
    let mut reals: HashSet<u64> = HashSet::new();
    for label in labels {
        match label {
            Under::Missing => {}
            Under::Texts(listed, _) => texts.extend(listed),
            Under::Numbers(listed, _) if axis.unit() > 0.0 => {
                spans.extend(listed.iter().filter_map(|bound| first_whole(*bound)).map(|value| (value, value)));
            }
            Under::Numbers(listed, _) => reals.extend(listed.iter().filter_map(|bound| real(*bound)).map(f64::to_bits)),
            // Numbers that need not be whole are as many as there are rows.
            Under::Integers(Some(first), Some(last)) if axis.fractions.is_empty() => spans.push((*first, *last)),
            _ => return None,
        }
    }
    spans.sort_unstable();
    let (mut whole, mut reached) = (0u64, None::<i64>);
    for (first, last) in spans {
        let first = reached.map_or(first, |reached| first.max(reached.saturating_add(1)));
        if first <= last {
            whole = whole.saturating_add(u64::try_from(i128::from(last) - i128::from(first) + 1).unwrap_or(u64::MAX));
            reached = Some(last);
        }
    }
    Some(whole.saturating_add(texts.len() as u64).saturating_add(reals.len() as u64))
}

/// How many labels there are at least whose values are different from those of all the others.
fn apart<'u>(labels: impl Iterator<Item = &'u Under>) -> u64 {
    let mut texts: HashSet<u32> = HashSet::new();
    let mut several = false;
    let mut spans: Vec<(Bound, Bound, bool)> = Vec::new();
    for label in labels {
        match label {
            Under::Texts(listed, false) if listed.len() == 1 => drop(texts.insert(listed[0])),
            Under::Texts(_, false) => several = true,
            Under::Numbers(listed, false) if !listed.is_empty() => {
                let least = listed.iter().copied().reduce(|a, b| if b < a { b } else { a });
                let most = listed.iter().copied().reduce(|a, b| if b > a { b } else { a });
                spans.extend(least.zip(most).map(|(least, most)| (least, most, true)));
            }
            Under::Integers(Some(first), Some(last)) => {
                spans.push((Bound::Integer(*first), Bound::Integer(*last), true));
            }
            Under::Real(Some(low), Some(high)) => spans.push((Bound::Float(*low), Bound::Float(*high), false)),
            Under::Integers(..) | Under::Real(..) | Under::Mask(_) => several = true,
            // Nothing, or the missing value, which is not counted.
            _ => {}
        }
    }
    // As many intervals as are apart: each time the one that ends first.
    spans.sort_by(|a, b| a.1.partial_cmp(&b.1).unwrap_or(std::cmp::Ordering::Equal));
    let (mut count, mut end) = (0u64, None::<(Bound, bool)>);
    for (low, high, closed) in spans {
        let after = end.is_none_or(|(end, closed)| low > end || (!closed && low >= end));
        if after {
            (count, end) = (count + 1, Some((high, closed)));
        }
    }
    // Some value there is where no label of one value is.
    (count + texts.len() as u64).max(u64::from(several))
}

/// How many different values are expected, where rows have those under their label alike.
fn expected<'u>(axis: &EstimateAxis, labels: impl Iterator<Item = (&'u Under, f64)>) -> f64 {
    // In the order of the values, so that the sum is the same every time.
    let mut absent: BTreeMap<i128, f64> = BTreeMap::new();
    let mut listed = 0u64;
    let mut different = 0.0;
    for (label, rows) in labels {
        if !rows.is_finite() {
            return f64::NAN;
        }
        let (values, size): (Box<dyn Iterator<Item = i128>>, u64) = match label {
            Under::Missing => continue,
            Under::Texts(texts, missing) => {
                (Box::new(texts.iter().map(|text| i128::from(*text))), texts.len() as u64 + u64::from(*missing))
            }
            Under::Numbers(numbers, missing) => {
                let bits = |bound: &Bound| match (axis.unit() > 0.0, first_whole(*bound), real(*bound)) {
                    (true, Some(whole), _) => i128::from(whole),
                    (_, _, value) => i128::from(value.unwrap_or(0.0).to_bits()),
                };
                (Box::new(numbers.iter().map(bits)), numbers.len() as u64 + u64::from(*missing))
            }
            Under::Integers(Some(first), Some(last)) => {
                let size = u64::try_from(i128::from(*last) - i128::from(*first) + 1).unwrap_or(u64::MAX);
                (Box::new((*first..=*last).map(i128::from)), size)
            }
            // Among real numbers no two are expected to be equal.
            Under::Real(..) => {
                different += rows;
                continue;
            }
            _ => return f64::NAN,
        };
        listed = listed.saturating_add(size);
        if listed > LISTED_MAX {
            return f64::NAN;
        }
        let stays = (1.0 - 1.0 / size as f64).powf(rows);
        values.for_each(|value| *absent.entry(value).or_insert(1.0) *= stays);
    }
    different + absent.values().map(|absent| 1.0 - absent).sum::<f64>()
}
