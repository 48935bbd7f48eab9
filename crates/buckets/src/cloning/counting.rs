//! Counts what the labels of an attribute can fill: the pass over the tuples of a box that
//! `packing` makes repeatedly.

use super::division::Share;
use super::packing::{Filling, Level};
use super::quotas::Quotas;

/// A level while what it can fill is counted.
pub(super) struct Counting<'a> {
    place: usize,
    level: &'a Level,
    /// How many tuples of a value have each label, and last how many have none that matters; zero
    /// between values.
    seen: Vec<u32>,
    /// Labels that can still fill a class, and how many.
    left: Vec<(u32, u64)>,
}

/// How many classes the labels of an attribute's levels can fill from these tuples, each alone.
pub(super) fn fills<C: Copy + Into<u32>>(
    counting: &mut [Counting<'_>],
    by_value: &[(&Share, &[u32])],
    codes: &[C],
    quotas: &Quotas<'_>,
    units: u64,
) {
    let code_of = |tuple: u32| -> u32 { codes[tuple as usize].into() };
    let values = counting.first().map_or(0, |counted| counted.level.labels.len());
    let mut of_codes: Vec<u32> = Vec::new();
    for (place, (share, tuples)) in by_value.iter().enumerate() {
        let open = counting.iter().filter(|counted| place == 0 || !counted.left.is_empty()).count();
        if open == 0 {
            break;
        }
        // Tuples are counted by code once, and codes by label for every level, where that is less
        // work.
        let by_code = tuples.len() * open > tuples.len() + values * open;
        if by_code {
            count_codes(&mut of_codes, values, tuples.iter().map(|&tuple| code_of(tuple)));
        }
        for counted in counting.iter_mut().filter(|counted| place == 0 || !counted.left.is_empty()) {
            if by_code {
                let there = (0..).zip(&of_codes).filter(|(_, tuples)| **tuples > 0);
                counted.count(place == 0, there.map(|(code, &tuples)| (code, tuples)));
            } else {
                counted.count(place == 0, tuples.iter().map(|&tuple| (code_of(tuple), 1)));
            }
            counted.left.retain_mut(|(label, classes)| {
                let tuples = u64::from(counted.seen[*label as usize]);
                *classes = (*classes).min(quotas.units_from(share, tuples) / units);
                *classes > 0
            });
            if by_code || counted.seen.len() <= tuples.len() {
                counted.seen.fill(0);
            } else {
                let labels = &counted.level.labels;
                tuples.iter().for_each(|&tuple| counted.seen[labels[code_of(tuple) as usize] as usize] = 0);
            }
        }
    }
}

/// How often each code comes. Counted in turn in four places, since adding to a number again right
/// away waits for the last time.
fn count_codes(counts: &mut Vec<u32>, values: usize, codes: impl Iterator<Item = u32>) {
    counts.clear();
    counts.resize(4 * values, 0);
    for (place, code) in codes.enumerate() {
        counts[4 * code as usize + place % 4] += 1;
    }
    for code in 0..values {
        counts[code] = counts[4 * code..4 * code + 4].iter().sum();
    }
    counts.truncate(values);
}

impl<'a> Counting<'a> {
    pub(super) fn new(place: usize, level: &'a Level) -> Counting<'a> {
        Counting { place, level, seen: vec![0; level.names + 1], left: Vec::new() }
    }

    pub(super) fn attribute(&self) -> usize {
        self.level.attribute
    }

    /// Adds tuples by their codes. No label fills a class without a tuple of the scarcest value,
    /// which comes first.
    fn count(&mut self, first: bool, tuples: impl Iterator<Item = (u32, u32)>) {
        let labels = &self.level.labels;
        if !first {
            return tuples.for_each(|(code, tuples)| self.seen[labels[code as usize] as usize] += tuples);
        }
        for (code, tuples) in tuples {
            let label = labels[code as usize];
            let seen = &mut self.seen[label as usize];
            if *seen == 0 && label != self.level.nowhere() {
                self.left.push((label, u64::MAX));
            }
            *seen += tuples;
        }
    }

    pub(super) fn filling(mut self, at: &[usize]) -> Filling {
        self.left.sort_unstable();
        let classes: u64 = self.left.iter().map(|&(_, classes)| classes).sum();
        let saved = classes * (at[self.level.attribute] - self.level.level) as u64;
        let labels = self.left.into_iter().map(|(label, _)| label).collect();
        Filling { level: self.place, saved, labels, stale: false }
    }
}
