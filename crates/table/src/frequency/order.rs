//! Entries brought into the order of their keys, digit by digit: within a partition, keys differ in
//! few bits, and a pass over what fits the cache costs less than the comparisons it saves.

use std::cmp::Ordering;

use super::FrequencySet;

/// Bits sorted by at once: their counters fit the first-level cache.
const DIGIT_BITS: u32 = 11;

/// Beyond this many passes, or below this many entries, comparing is quicker.
const PASSES_MAX: usize = 6;
const ENTRIES_MIN: usize = 1 << 9;

pub(super) type KeyCount<const W: usize> = ([u64; W], u32);

/// High bits first.
pub(super) fn in_order<const W: usize>(one: &[u64; W], other: &[u64; W]) -> Ordering {
    one.iter().rev().cmp(other.iter().rev())
}

/// A set of entries whose keys may recur, in the order of keys.
pub(super) fn added_up<const W: usize>(mut entries: Vec<KeyCount<W>>) -> FrequencySet<W> {
    sort(&mut entries);
    let mut set = FrequencySet { keys: Vec::with_capacity(entries.len()), counts: Vec::new(), ordered: true };
    set.counts.reserve_exact(entries.len());
    for (key, count) in entries {
        match set.counts.last_mut() {
            Some(last) if set.keys.last() == Some(&key) => *last += count,
            _ => {
                set.keys.push(key);
                set.counts.push(count);
            }
        }
    }
    set
}

pub(super) fn sort<const W: usize>(entries: &mut Vec<KeyCount<W>>) {
    let digits = digits(entries);
    if entries.len() < ENTRIES_MIN || digits.len() > PASSES_MAX {
        entries.sort_unstable_by(|one, other| in_order(&one.0, &other.0));
        return;
    }
    let mut other = vec![([0u64; W], 0u32); entries.len()];
    for (word, shift) in digits {
        let digit = |key: &[u64; W]| (key[word] >> shift) as usize & ((1 << DIGIT_BITS) - 1);
        let mut next = [0u32; 1 << DIGIT_BITS];
        for (key, _) in entries.iter() {
            next[digit(key)] += 1;
        }
        let mut before = 0;
        for place in &mut next {
            before += std::mem::replace(place, before);
        }
        for entry in entries.iter() {
            let place = &mut next[digit(&entry.0)];
            other[*place as usize] = *entry;
            *place += 1;
        }
        std::mem::swap(entries, &mut other);
    }
}

/// The digits in which keys differ, lowest first, as a word and a shift.
fn digits<const W: usize>(entries: &[KeyCount<W>]) -> Vec<(usize, u32)> {
    let Some((first, _)) = entries.first() else { return Vec::new() };
    let mut differing = [0u64; W];
    for (key, _) in entries {
        differing.iter_mut().zip(key.iter().zip(first)).for_each(|(bits, (a, b))| *bits |= a ^ b);
    }
    let mut digits = Vec::new();
    for (word, mut bits) in differing.into_iter().enumerate() {
        while bits != 0 {
            let shift = bits.trailing_zeros();
            digits.push((word, shift));
            bits = bits.checked_shr(shift + DIGIT_BITS).map_or(0, |rest| rest << (shift + DIGIT_BITS));
        }
    }
    digits
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;

    fn agrees_with_comparing<const W: usize>() {
        for seed in 0..60 {
            let mut rng = StdRng::seed_from_u64(seed);
            let count = [0, 1, 2, ENTRIES_MIN - 1, ENTRIES_MIN, 3000][rng.random_range(0..6usize)];
            // Few bits that differ, many, and the highest.
            let masks = [0xfff, 0xf0f0_0000_0000_f0f0, u64::MAX, 1 << 63, 0];
            let mask: [u64; W] = std::array::from_fn(|_| masks[rng.random_range(0..masks.len())]);
            let entries: Vec<KeyCount<W>> =
                (0..count).map(|_| (mask.map(|mask| rng.random::<u64>() & mask), rng.random_range(1..9))).collect();
            let mut sorted = entries.clone();
            sorted.sort_by(|one, other| in_order(&one.0, &other.0));
            let mut found = entries.clone();
            sort(&mut found);
            assert!(found.iter().map(|e| e.0).eq(sorted.iter().map(|e| e.0)), "seed {seed}");
            let set = added_up(entries);
            let expected: Vec<KeyCount<W>> = sorted
                .chunk_by(|one, other| one.0 == other.0)
                .map(|run| (run[0].0, run.iter().map(|entry| entry.1).sum()))
                .collect();
            assert!(set.keys.iter().copied().zip(set.counts.iter().copied()).eq(expected), "seed {seed}");
        }
    }

    #[test]
    fn digit_by_digit_is_the_order_of_comparing() {
        agrees_with_comparing::<1>();
        agrees_with_comparing::<3>();
    }
}
