//! A frequency set that grows by parts, and never takes much more than its different entries do.
//!
//! It lies in bins by key. What is added waits in its bin until it is a quarter as much as the bin
//! holds; then that bin alone is merged, and cut when it becomes large. So only a bin exists twice
//! at a time, and every entry is merged a few times.

use super::FrequencySet;
use super::order::{KeyCount, added_up, in_order};
use super::tally::CHUNK;
use crate::parallel;

/// Fewer entries than this wait without being merged.
const WAITING_MIN: usize = 1 << 11;

#[derive(Debug)]
pub(super) struct Growing<const W: usize> {
    /// In the order of keys.
    bins: Vec<Bin<W>>,
    /// How many entries a bin has at most once it is merged.
    bin_max: usize,
}

#[derive(Debug)]
struct Bin<const W: usize> {
    /// No key is lower; of the first bin it does not matter.
    first: [u64; W],
    settled: FrequencySet<W>,
    waiting: Vec<KeyCount<W>>,
}

impl<const W: usize> Growing<W> {
    pub(super) fn new() -> Self {
        Growing::with_bins(CHUNK)
    }

    fn with_bins(bin_max: usize) -> Self {
        let settled = FrequencySet { keys: Vec::new(), counts: Vec::new(), ordered: true };
        Growing { bins: vec![Bin { first: [0; W], settled, waiting: Vec::new() }], bin_max }
    }

    /// No more entries than this are different.
    pub(super) fn len(&self) -> usize {
        self.bins.iter().map(|bin| bin.settled.len() + bin.waiting.len()).sum()
    }

    pub(super) fn add(&mut self, parts: Vec<FrequencySet<W>>) {
        let parts = parallel::map_items(parts, |_, FrequencySet { keys, counts, .. }| {
            added_up(keys.into_iter().zip(counts).collect())
        });
        for FrequencySet { keys, counts, .. } in parts {
            let mut start = 0;
            for index in 0..self.bins.len() {
                let is_before =
                    |key: &[u64; W]| self.bins.get(index + 1).is_none_or(|next| in_order(key, &next.first).is_lt());
                let end = start + keys[start..].partition_point(is_before);
                let entries = keys[start..end].iter().copied().zip(counts[start..end].iter().copied());
                self.bins[index].waiting.extend(entries);
                start = end;
            }
        }
        self.merge_those(|bin| bin.waiting.len() > (bin.settled.len() / 4).max(WAITING_MIN));
    }

    pub(super) fn merge(&mut self) {
        self.merge_those(|bin| !bin.waiting.is_empty());
    }

    fn merge_those(&mut self, is_due: impl Fn(&Bin<W>) -> bool + Sync) {
        let bin_max = self.bin_max;
        let merged = parallel::map_items(std::mem::take(&mut self.bins), |_, bin| {
            if is_due(&bin) { bin.merged(bin_max) } else { vec![bin] }
        });
        self.bins = merged.into_iter().flatten().collect();
    }

    /// Sets that share no key, in the order of keys.
    pub(super) fn finish(mut self) -> Vec<FrequencySet<W>> {
        self.merge();
        self.bins.into_iter().map(|bin| bin.settled).collect()
    }
}

impl<const W: usize> Bin<W> {
    /// Empty, with bins of at most the given number of entries.
    fn merged(self, bin_max: usize) -> Vec<Bin<W>> {
        let Bin { first, settled, waiting } = self;
        let waiting = added_up(waiting);
        let size = settled.len() + waiting.len();
        let mut set = FrequencySet { keys: Vec::with_capacity(size), counts: Vec::with_capacity(size), ordered: true };
        let (mut old, mut new) = (0, 0);
        while old < settled.len() || new < waiting.len() {
            let order = match (settled.keys.get(old), waiting.keys.get(new)) {
                (Some(old), Some(new)) => in_order(old, new),
                (Some(_), None) => std::cmp::Ordering::Less,
                _ => std::cmp::Ordering::Greater,
            };
            let (mut key, mut count) = ([0; W], 0);
            if order.is_le() {
                (key, count) = (settled.keys[old], settled.counts[old]);
                old += 1;
            }
            if order.is_ge() {
                (key, count) = (waiting.keys[new], count + waiting.counts[new]);
                new += 1;
            }
            set.keys.push(key);
            set.counts.push(count);
        }
        drop((settled, waiting));
        if set.len() <= bin_max {
            set.keys.shrink_to_fit();
            set.counts.shrink_to_fit();
            return vec![Bin { first, settled: set, waiting: Vec::new() }];
        }
        // Half full, so that they can grow before they are cut again.
        let pieces = set.keys.chunks(bin_max.div_ceil(2)).zip(set.counts.chunks(bin_max.div_ceil(2)));
        let bins = pieces.enumerate().map(|(index, (keys, counts))| Bin {
            first: if index == 0 { first } else { keys[0] },
            settled: FrequencySet { keys: keys.to_vec(), counts: counts.to_vec(), ordered: true },
            waiting: Vec::new(),
        });
        bins.collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;

    fn agrees_with_a_map<const W: usize>() {
        for seed in 0..40 {
            let mut rng = StdRng::seed_from_u64(seed);
            let mut growing = Growing::<W>::with_bins(rng.random_range(1..5000));
            let mut expected: BTreeMap<Vec<u64>, u32> = BTreeMap::new();
            let different = [1, 50, 20_000][rng.random_range(0..3usize)];
            for _ in 0..rng.random_range(0..12) {
                let mut part = FrequencySet { keys: Vec::new(), counts: Vec::new(), ordered: false };
                for _ in 0..rng.random_range(0..6000) {
                    let number: u64 = rng.random_range(0..different);
                    let key: [u64; W] = std::array::from_fn(|word| number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> word);
                    let count = rng.random_range(1..5);
                    part.keys.push(key);
                    part.counts.push(count);
                    // High words first, as in the order of keys.
                    *expected.entry(key.iter().rev().copied().collect()).or_default() += count;
                }
                growing.add(vec![part]);
                assert!(growing.len() >= expected.len(), "seed {seed}");
                if rng.random_bool(0.2) {
                    growing.merge();
                    assert_eq!(growing.len(), expected.len(), "seed {seed}");
                }
            }
            let found = growing.finish();
            let found = found.iter().flat_map(|set| set.keys.iter().zip(&set.counts));
            let found = found.map(|(key, &count)| (key.iter().rev().copied().collect::<Vec<_>>(), count));
            assert!(found.eq(expected), "seed {seed}");
        }
    }

    #[test]
    fn entries_are_added_up_in_order_however_they_come() {
        agrees_with_a_map::<1>();
        agrees_with_a_map::<3>();
    }
}
