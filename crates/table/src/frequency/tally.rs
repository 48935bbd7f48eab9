//! Counting equal keys: a hash table for what fits the cache, chunks and partitions for what does
//! not.

use std::borrow::Cow;
use std::ops::Range;

use super::FrequencySet;
use super::order::{KeyCount, added_up, in_order, sort};
use crate::parallel;

/// Entries tallied at once: keys, counts and slots of this many entries stay within a second-level
/// cache.
pub(super) const CHUNK: usize = 1 << 15;

/// Keys looked at to decide whether a chunk has many equal ones.
const SAMPLE: usize = 1 << 11;

/// An open-addressing hash table from keys to counts. Entries lie densely in order of first
/// appearance.
pub(super) struct KeyTally<const W: usize> {
    /// Position in `keys` plus one; zero is free. A power of two, at most two thirds full.
    slots: Vec<u32>,
    shift: u32,
    keys: Vec<[u64; W]>,
    pub(super) counts: Vec<u32>,
}

impl<const W: usize> KeyTally<W> {
    const SLOT_BITS_MIN: u32 = 8;

    /// With space for about this many different keys; more are taken too, and cost a little more.
    pub(super) fn new(distinct: usize) -> Self {
        let bits = (distinct + distinct / 2).next_power_of_two().ilog2().max(Self::SLOT_BITS_MIN);
        let (keys, counts) = (Vec::with_capacity(distinct), Vec::with_capacity(distinct));
        KeyTally { slots: vec![0; 1 << bits], shift: 64 - bits, keys, counts }
    }

    /// Adds rows to a key and returns its position. Half of a search is spent here, so inlining is
    /// not left to the compiler.
    #[inline(always)]
    pub(super) fn add(&mut self, key: &[u64; W], count: u32) -> u32 {
        let last = self.slots.len() - 1;
        let mut slot = (hash(key) >> self.shift) as usize;
        loop {
            let entry = self.slots[slot & last];
            if entry == 0 {
                return self.insert(slot & last, key, count);
            }
            let position = entry as usize - 1;
            if self.keys[position] == *key {
                self.counts[position] += count;
                return position as u32;
            }
            slot += 1;
        }
    }

    /// Of keys that are all different; their places are their positions.
    pub(super) fn of_distinct(keys: &[[u64; W]]) -> Self {
        let mut tally = KeyTally::new(keys.len());
        keys.iter().for_each(|key| {
            tally.add(key, 0);
        });
        tally
    }

    #[inline(always)]
    pub(super) fn find(&self, key: &[u64; W]) -> Option<u32> {
        let last = self.slots.len() - 1;
        let mut slot = (hash(key) >> self.shift) as usize;
        loop {
            let entry = self.slots[slot & last];
            if entry == 0 {
                return None;
            }
            if self.keys[entry as usize - 1] == *key {
                return Some(entry - 1);
            }
            slot += 1;
        }
    }

    #[inline(always)]
    fn insert(&mut self, slot: usize, key: &[u64; W], count: u32) -> u32 {
        self.keys.push(*key);
        self.counts.push(count);
        self.slots[slot] = self.keys.len() as u32;
        if self.keys.len() * 3 > self.slots.len() * 2 {
            self.grow();
        }
        self.keys.len() as u32 - 1
    }

    #[cold]
    fn grow(&mut self) {
        self.shift -= 1;
        let last = self.slots.len() * 2 - 1;
        self.slots = vec![0; last + 1];
        for (position, key) in self.keys.iter().enumerate() {
            let mut slot = (hash(key) >> self.shift) as usize;
            while self.slots[slot & last] != 0 {
                slot += 1;
            }
            self.slots[slot & last] = position as u32 + 1;
        }
    }

    fn into_set(self) -> FrequencySet<W> {
        FrequencySet { keys: self.keys, counts: self.counts, ordered: false }
    }
}

/// Folded multiplication: the high bits depend on all bits of the key, whatever its fields are.
#[inline]
fn hash<const W: usize>(key: &[u64; W]) -> u64 {
    key.iter().fold(0x9e37_79b9_7f4a_7c15, |state: u64, &word| {
        let product = u128::from(state ^ word).wrapping_mul(0xa076_1d64_78bd_642f_e703_7ed1_a0b4_28db);
        (product >> 64) as u64 ^ product as u64
    })
}

/// Counts keys that `chunk` delivers for ranges of `0..len`.
pub(super) fn tally_chunks<'a, const W: usize>(
    len: usize,
    chunk: impl Fn(Range<usize>) -> (Vec<[u64; W]>, Cow<'a, [u32]>) + Sync,
) -> FrequencySet<W> {
    if len <= CHUNK {
        let (keys, counts) = chunk(0..len);
        return tally_all(&keys, &counts, len / 4);
    }
    let tally_range = |range: Range<usize>| {
        let (keys, counts) = chunk(range);
        let sample = keys.len().min(SAMPLE);
        let distinct = tally_all(&keys[..sample], &counts[..sample], sample / 2).len();
        // Where hardly any keys are equal, tallying twice would only cost: the merge does it all.
        if distinct * 8 > sample * 7 {
            return FrequencySet { keys, counts: counts.into_owned(), ordered: false };
        }
        let expected = keys.len() * distinct / sample;
        tally_all(&keys, &counts, expected)
    };
    merge(parallel::map_ranges(len, CHUNK, tally_range))
}

/// Counts keys that `chunk` delivers for ranges that share none, and that follow one another in the
/// order of keys.
pub(super) fn tally_apart<'a, const W: usize>(
    ranges: Vec<Range<usize>>,
    chunk: impl Fn(Range<usize>) -> (Vec<[u64; W]>, Cow<'a, [u32]>) + Sync,
) -> FrequencySet<W> {
    let tally_range = |range: Range<usize>| {
        let (keys, counts) = chunk(range);
        tally_all(&keys, &counts, keys.len() / 2)
    };
    let mut parts = parallel::map_items(ranges, |_, range| tally_range(range));
    // A large set is brought into the order of keys.
    let ordered = parts.iter().map(FrequencySet::len).sum::<usize>() > CHUNK;
    if ordered {
        parallel::map_items(&mut parts, |_, part| bring_into_order(part));
    }
    in_a_row(parts, ordered)
}

fn tally_all<const W: usize>(keys: &[[u64; W]], counts: &[u32], distinct: usize) -> FrequencySet<W> {
    let mut tally = KeyTally::new(distinct);
    for (key, &count) in keys.iter().zip(counts) {
        tally.add(key, count);
    }
    tally.into_set()
}

/// Adds up parts whose keys may recur, within a part too.
fn merge<const W: usize>(parts: Vec<FrequencySet<W>>) -> FrequencySet<W> {
    let total: usize = parts.iter().map(FrequencySet::len).sum();
    if total <= 2 * CHUNK {
        let mut tally = KeyTally::<W>::new(total / 2);
        for part in &parts {
            for (key, &count) in part.keys.iter().zip(&part.counts) {
                tally.add(key, count);
            }
        }
        return tally.into_set();
    }
    let splitters = splitters(&parts, total);
    let partitions = splitters.len() + 1;
    let split: Vec<(FrequencySet<W>, Vec<usize>)> =
        parallel::map_items(parts, |_, part| by_partition(part, &splitters));
    let add_up_partition = |partition: usize| {
        let size: usize = split.iter().map(|(_, starts)| starts[partition + 1] - starts[partition]).sum();
        let mut entries: Vec<KeyCount<W>> = Vec::with_capacity(size);
        for (part, starts) in &split {
            let range = starts[partition]..starts[partition + 1];
            entries.extend(part.keys[range.clone()].iter().copied().zip(part.counts[range].iter().copied()));
        }
        added_up(entries)
    };
    let merged: Vec<FrequencySet<W>> = parallel::map(partitions, add_up_partition);
    drop(split);
    in_a_row(merged, true)
}

/// One set of parts that share no key and follow one another in the order of keys.
fn in_a_row<const W: usize>(parts: Vec<FrequencySet<W>>, ordered: bool) -> FrequencySet<W> {
    let distinct = parts.iter().map(FrequencySet::len).sum();
    let mut whole = FrequencySet { keys: Vec::with_capacity(distinct), counts: Vec::with_capacity(distinct), ordered };
    for part in parts {
        whole.keys.extend_from_slice(&part.keys);
        whole.counts.extend_from_slice(&part.counts);
    }
    whole
}

fn bring_into_order<const W: usize>(set: &mut FrequencySet<W>) {
    let mut entries: Vec<KeyCount<W>> = set.keys.iter().copied().zip(set.counts.iter().copied()).collect();
    sort(&mut entries);
    for (place, (key, count)) in entries.into_iter().enumerate() {
        (set.keys[place], set.counts[place]) = (key, count);
    }
}

/// Keys that cut all parts into partitions of about half a chunk, from a sample.
fn splitters<const W: usize>(parts: &[FrequencySet<W>], total: usize) -> Vec<[u64; W]> {
    const PER_PARTITION: usize = 16;
    let partitions = (total / CHUNK * 2).max(2);
    let step = (total / (partitions * PER_PARTITION)).max(1);
    let mut sample: Vec<[u64; W]> = parts.iter().flat_map(|part| part.keys.iter().step_by(step).copied()).collect();
    sample.sort_unstable_by(in_order);
    let mut splitters: Vec<[u64; W]> = sample.chunks(PER_PARTITION).skip(1).map(|chunk| chunk[0]).collect();
    splitters.dedup();
    splitters
}

/// Orders entries by the partition of their key; also where each partition starts.
fn by_partition<const W: usize>(part: FrequencySet<W>, splitters: &[[u64; W]]) -> (FrequencySet<W>, Vec<usize>) {
    let partition_of = |key: &[u64; W]| splitters.partition_point(|splitter| in_order(splitter, key).is_le()) as u32;
    let partition: Vec<u32> = part.keys.iter().map(partition_of).collect();
    let mut starts = vec![0usize; splitters.len() + 2];
    for &partition in &partition {
        starts[partition as usize + 1] += 1;
    }
    for partition in 0..=splitters.len() {
        starts[partition + 1] += starts[partition];
    }
    let mut next = starts.clone();
    let mut keys = vec![[0u64; W]; part.keys.len()];
    let mut counts = vec![0u32; part.keys.len()];
    for ((key, &count), &partition) in part.keys.iter().zip(&part.counts).zip(&partition) {
        let place = &mut next[partition as usize];
        keys[*place] = *key;
        counts[*place] = count;
        *place += 1;
    }
    (FrequencySet { keys, counts, ordered: false }, starts)
}
