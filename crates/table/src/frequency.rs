//! The frequency set: the distinct rows of a table as packed codes, with their counts.
//!
//! It is usually far smaller than the table, and a generalized one is rolled up from any finer one
//! without going back to the rows (LeFevre, DeWitt, Ramakrishnan: *Incognito*, 2005, section 3). A
//! row is packed into `W` 64-bit words, one bit field per attribute, wide enough for the finest
//! level, so that a key keeps its layout on every level.
//!
//! Cost: one hash probe per entry. Large inputs are tallied in chunks that fit the cache, unless
//! hardly any keys in them are equal, and merged in partitions by key that fit it too, by sorting:
//! the order is wanted anyway, and adding up neighbors then costs nothing. Both steps
//! use all cores and neither depends on their number. A large set is kept in the order of its keys:
//! a roll-up that leaves the high bits alone then merges only adjacent entries, and the second step
//! falls away.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::Range;

use crate::{Codes, parallel, with_codes};
use order::in_order;
use tally::{CHUNK, KeyTally, tally_apart, tally_chunks};

mod distinct;
mod growing;
mod order;
mod tally;
mod values;

pub use distinct::distinct;
pub use values::ValueCounts;

/// The widest key, in 64-bit words.
pub const WORDS_MAX: usize = 16;

/// Runs `$body` with the constant `$W` bound to the smallest supported key width that holds
/// `$words` words. The widths are few because all that is generic over them is compiled for each:
/// one word for most tables, three for wide ones.
#[macro_export]
macro_rules! with_words {
    ($words:expr, $W:ident => $body:expr) => {
        match $words {
            0 | 1 => {
                const $W: usize = 1;
                $body
            }
            2 | 3 => {
                const $W: usize = 3;
                $body
            }
            _ => {
                const $W: usize = 16;
                $body
            }
        }
    };
}

/// Where one attribute's code sits in a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyField {
    word: usize,
    shift: u32,
    /// The field's bits before shifting.
    mask: u64,
}

impl KeyField {
    /// No code is as large.
    pub fn values(self) -> usize {
        (self.mask as usize).saturating_add(1)
    }

    #[inline]
    pub fn get<const W: usize>(self, key: &[u64; W]) -> u32 {
        ((key[self.word] >> self.shift) & self.mask) as u32
    }

    /// The caller keeps `code` below the cardinality the field was made for.
    #[inline]
    pub fn set<const W: usize>(self, key: &mut [u64; W], code: u32) {
        let word = &mut key[self.word];
        *word = (*word & !(self.mask << self.shift)) | (u64::from(code) << self.shift);
    }
}

/// The bit fields of all attributes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    fields: Vec<KeyField>,
    words: usize,
}

impl Layout {
    /// `None` when the attributes together need more than [`WORDS_MAX`] words.
    pub fn new(cardinalities: &[usize]) -> Option<Layout> {
        Layout::of(cardinalities, |_| true)
    }

    /// With fields for some attributes only: keys do not tell the others, whose code reads as 0.
    pub fn of(cardinalities: &[usize], has_field: impl Fn(usize) -> bool) -> Option<Layout> {
        // Attributes with few values go to the high bits: in the order of keys, rows that agree on
        // them lie together, and what a roll-up merges is mostly found within one chunk.
        let mut order: Vec<usize> = (0..cardinalities.len()).filter(|&attribute| has_field(attribute)).collect();
        order.sort_by_key(|&attribute| Reverse(cardinalities[attribute]));
        let mut fields = vec![KeyField { word: 0, shift: 0, mask: 0 }; cardinalities.len()];
        let (mut word, mut used) = (0usize, 0u32);
        for attribute in order {
            let bits = usize::BITS - cardinalities[attribute].saturating_sub(1).leading_zeros();
            let bits = bits.max(1);
            if used + bits > 64 {
                word += 1;
                used = 0;
            }
            fields[attribute] = KeyField { word, shift: used, mask: u64::MAX >> (64 - bits) };
            used += bits;
        }
        (word < WORDS_MAX).then_some(Layout { fields, words: word + 1 })
    }

    pub fn words(&self) -> usize {
        self.words
    }

    pub fn attributes(&self) -> usize {
        self.fields.len()
    }

    pub fn field(&self, attribute: usize) -> KeyField {
        self.fields[attribute]
    }

    /// Whether keys tell this attribute.
    pub fn has(&self, attribute: usize) -> bool {
        self.fields[attribute].mask > 0
    }

    /// The bits of some attributes, to compare keys on these alone.
    pub fn mask_of<const W: usize>(&self, attributes: impl IntoIterator<Item = usize>) -> [u64; W] {
        let mut mask = [0u64; W];
        for attribute in attributes {
            let field = self.fields[attribute];
            mask[field.word] |= field.mask << field.shift;
        }
        mask
    }
}

/// A change of levels: which fields take a new code, and which.
#[derive(Debug, Clone)]
pub struct LevelChange<const W: usize> {
    keep: [u64; W],
    /// A field and, for every old code, the new one already shifted into place.
    changes: Vec<(KeyField, Vec<u64>)>,
}

impl<const W: usize> LevelChange<W> {
    /// `changes` maps old codes to new ones for some attributes; the others stay.
    pub fn new<'a>(layout: &Layout, changes: impl IntoIterator<Item = (usize, &'a [u32])>) -> Self {
        let mut keep = [u64::MAX; W];
        let changes = changes
            .into_iter()
            .map(|(attribute, map)| {
                let field = layout.field(attribute);
                keep[field.word] &= !(field.mask << field.shift);
                (field, map.iter().map(|&code| u64::from(code) << field.shift).collect())
            })
            .collect();
        LevelChange { keep, changes }
    }

    /// The bits above every field that changes, in the order of keys: the last word is the highest.
    fn untouched_above(&self) -> [u64; W] {
        let highest = (0..W).rev().find(|&word| self.keep[word] != u64::MAX);
        std::array::from_fn(|word| match highest {
            Some(highest) if word < highest => 0,
            Some(highest) if word == highest => !(u64::MAX >> self.keep[word].leading_ones()),
            _ => u64::MAX,
        })
    }

    /// The first of `recoded` become the recoded keys.
    fn apply_all(&self, keys: &[[u64; W]], recoded: &mut [[u64; W]]) {
        for (key, recoded) in keys.iter().zip(recoded.iter_mut()) {
            *recoded = std::array::from_fn(|word| key[word] & self.keep[word]);
        }
        for (field, map) in &self.changes {
            for (key, recoded) in keys.iter().zip(recoded.iter_mut()) {
                recoded[field.word] |= map[field.get(key) as usize];
            }
        }
    }

    #[inline]
    pub fn apply(&self, key: &[u64; W]) -> [u64; W] {
        let mut recoded: [u64; W] = std::array::from_fn(|word| key[word] & self.keep[word]);
        for (field, map) in &self.changes {
            recoded[field.word] |= map[field.get(key) as usize];
        }
        recoded
    }
}

/// Distinct keys with the number of rows that carry each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrequencySet<const W: usize> {
    keys: Vec<[u64; W]>,
    counts: Vec<u32>,
    /// Whether the keys ascend, high bits first.
    ordered: bool,
}

impl<const W: usize> FrequencySet<W> {
    /// Counts the rows of a table. `columns` are in the layout's order; there are fewer than 2³²
    /// rows.
    pub fn of_rows(layout: &Layout, columns: &[&Codes], rows: usize) -> Self {
        assert!(layout.words() <= W && rows <= u32::MAX as usize);
        tally_chunks(rows, |range| {
            let mut keys = vec![[0u64; W]; range.len()];
            let counts = vec![1; range.len()];
            pack(layout, columns, range, &mut keys);
            (keys, Cow::Owned(counts))
        })
    }

    /// The same for rows of which each stands for as many as `counts` says.
    pub fn of_counted_rows(layout: &Layout, columns: &[&Codes], counts: &[u32]) -> Self {
        assert!(layout.words() <= W);
        // What an engine counted by these attributes is a frequency set already.
        let mut keys = vec![[0u64; W]; counts.len()];
        parallel::map_items(keys.chunks_mut(CHUNK), |chunk, keys| {
            pack(layout, columns, chunk * CHUNK..chunk * CHUNK + keys.len(), keys);
        });
        if keys.is_sorted_by(|one, other| in_order(one, other).is_lt()) {
            return FrequencySet { keys, counts: counts.to_vec(), ordered: true };
        }
        drop(keys);
        tally_chunks(counts.len(), |range| {
            let mut keys = vec![[0u64; W]; range.len()];
            pack(layout, columns, range.clone(), &mut keys);
            (keys, Cow::Borrowed(&counts[range]))
        })
    }

    /// The same rows on coarser levels.
    pub fn roll_up(&self, recoding: &LevelChange<W>) -> Self {
        let recoded = |range: Range<usize>| {
            let keys = self.keys[range.clone()].iter().map(|key| recoding.apply(key)).collect();
            (keys, Cow::Borrowed(&self.counts[range]))
        };
        match self.ranges_apart(&recoding.untouched_above()) {
            Some(ranges) => tally_apart(ranges, recoded),
            None => tally_chunks(self.len(), recoded),
        }
    }

    /// Ranges of about a chunk that share no key on the bits of `high`; `None` where such ranges
    /// do not exist.
    fn ranges_apart(&self, high: &[u64; W]) -> Option<Vec<Range<usize>>> {
        if !self.ordered || self.len() <= CHUNK || *high == [0; W] {
            return None;
        }
        let together = |one: &[u64; W], other: &[u64; W]| (0..W).all(|w| (one[w] ^ other[w]) & high[w] == 0);
        let mut ranges = Vec::with_capacity(self.len() / CHUNK + 1);
        let mut start = 0;
        while start < self.len() {
            let mut end = (start + CHUNK).min(self.len());
            while end < self.len() && together(&self.keys[end - 1], &self.keys[end]) {
                end += 1;
                if end - start > 4 * CHUNK {
                    return None;
                }
            }
            ranges.push(start..end);
            start = end;
        }
        Some(ranges)
    }

    /// The same rows with those of each entry parted: how many of them are apart, by entry. Which
    /// entries of the result have the others.
    pub fn parted(&self, apart: &[u32]) -> (Self, Vec<bool>) {
        let (mut keys, mut counts, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for ((key, &count), &apart) in self.keys.iter().zip(&self.counts).zip(apart) {
            for (count, is_other) in [(count - apart, true), (apart, false)].into_iter().filter(|(rows, _)| *rows > 0) {
                keys.push(*key);
                counts.push(count);
                others.push(is_other);
            }
        }
        (FrequencySet { keys, counts, ordered: false }, others)
    }

    pub fn len(&self) -> usize {
        self.keys.len()
    }

    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    pub fn keys(&self) -> &[[u64; W]] {
        &self.keys
    }

    pub fn counts(&self) -> &[u32] {
        &self.counts
    }

    /// All rows counted.
    pub fn rows(&self) -> u64 {
        self.counts.iter().map(|&count| u64::from(count)).sum()
    }

    /// Which entries agree on the bits of `mask`.
    pub fn classes(&self, mask: &[u64; W]) -> Classes {
        let mut tally = KeyTally::<W>::new(self.len() / 4);
        let of_entry = self
            .keys
            .iter()
            .zip(&self.counts)
            .map(|(key, &count)| tally.add(&std::array::from_fn(|word| key[word] & mask[word]), count))
            .collect();
        Classes { of_entry, sizes: tally.counts }
    }

    /// For every entry of a finer set, the entry here that it is rolled up into.
    pub fn places_of(&self, finer: &FrequencySet<W>, recoding: &LevelChange<W>) -> Vec<u32> {
        let tally = KeyTally::of_distinct(&self.keys);
        let mut places = vec![0; finer.len()];
        for (keys, places) in finer.keys.chunks(KEYS_AT_ONCE).zip(places.chunks_mut(KEYS_AT_ONCE)) {
            let mut recoded = [[0u64; W]; KEYS_AT_ONCE];
            recoding.apply_all(keys, &mut recoded);
            for (place, key) in places.iter_mut().zip(&recoded) {
                *place = tally.find(key).expect("a coarser set counts every row of a finer one");
            }
        }
        places
    }

    /// For every row of the table that was counted, its entry.
    pub fn places_of_rows(&self, layout: &Layout, columns: &[&Codes], rows: usize) -> Vec<u32> {
        let tally = KeyTally::of_distinct(&self.keys);
        let pieces = parallel::map_ranges(rows, CHUNK, |range| {
            let mut keys = vec![[0u64; W]; range.len()];
            pack(layout, columns, range, &mut keys);
            let place = |key: &[u64; W]| tally.find(key).expect("every row was counted");
            keys.iter().map(place).collect::<Vec<u32>>()
        });
        pieces.concat()
    }
}

/// Keys recoded at once: attribute after attribute, so that each map stays at hand.
const KEYS_AT_ONCE: usize = 64;

/// Writes the keys of some rows, column by column: each pass reads one narrow column in order.
pub fn pack<const W: usize>(layout: &Layout, columns: &[&Codes], rows: Range<usize>, keys: &mut [[u64; W]]) {
    for (attribute, codes) in columns.iter().enumerate().filter(|(attribute, _)| layout.has(*attribute)) {
        let field = layout.field(attribute);
        with_codes!(codes, codes => for (key, &code) in keys.iter_mut().zip(&codes[rows.clone()]) {
            key[field.word] |= u64::from(code) << field.shift;
        });
    }
}

/// Entries grouped into classes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classes {
    /// The class of each entry of the frequency set.
    pub of_entry: Vec<u32>,
    /// Rows in each class.
    pub sizes: Vec<u32>,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;

    fn as_map<const W: usize>(set: &FrequencySet<W>) -> BTreeMap<[u64; W], u32> {
        set.keys().iter().copied().zip(set.counts().iter().copied()).collect()
    }

    fn random_columns(rng: &mut StdRng, cardinalities: &[usize], rows: usize) -> Vec<Codes> {
        cardinalities
            .iter()
            .map(|&cardinality| {
                let codes: Vec<u32> = (0..rows).map(|_| rng.random_range(0..cardinality as u32)).collect();
                Codes::from_iter(cardinality, codes)
            })
            .collect()
    }

    fn agrees_with_a_naive_count<const W: usize>(cardinalities: &[usize], rows: usize, seed: u64) {
        let mut rng = StdRng::seed_from_u64(seed);
        let columns = random_columns(&mut rng, cardinalities, rows);
        let layout = Layout::new(cardinalities).unwrap();
        let set = FrequencySet::<W>::of_rows(&layout, &columns.iter().collect::<Vec<_>>(), rows);
        let maps: Vec<Vec<u32>> = cardinalities.iter().map(|&c| (0..c as u32).map(|code| code / 3).collect()).collect();
        let recoding =
            LevelChange::new(&layout, maps.iter().enumerate().step_by(2).map(|(a, map)| (a, map.as_slice())));
        let coarse = set.roll_up(&recoding);
        let mut fine_naive: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
        let mut coarse_naive: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
        for row in 0..rows {
            let codes: Vec<u32> = columns.iter().map(|column| column.get(row)).collect();
            let coarser = codes.iter().enumerate().map(|(a, &c)| if a % 2 == 0 { c / 3 } else { c }).collect();
            *fine_naive.entry(codes).or_default() += 1;
            *coarse_naive.entry(coarser).or_default() += 1;
        }
        let unpack = |set: &FrequencySet<W>| -> BTreeMap<Vec<u32>, u32> {
            let fields = 0..cardinalities.len();
            let codes = |key: &[u64; W]| fields.clone().map(|a| layout.field(a).get(key)).collect();
            as_map(set).iter().map(|(key, &count)| (codes(key), count)).collect()
        };
        assert_eq!(unpack(&set), fine_naive, "seed {seed}");
        assert_eq!(unpack(&coarse), coarse_naive, "seed {seed}");
        assert_eq!(set.rows(), rows as u64);
        let mask = layout.mask_of::<W>([0]);
        let classes = set.classes(&mask);
        for (first, second) in (1..set.len()).map(|i| (i - 1, i)) {
            let same = layout.field(0).get(&set.keys()[first]) == layout.field(0).get(&set.keys()[second]);
            assert_eq!(classes.of_entry[first] == classes.of_entry[second], same, "seed {seed}");
        }
    }

    #[test]
    fn packing_counting_and_rolling_up_agree_with_a_naive_count() {
        for seed in 0..20 {
            agrees_with_a_naive_count::<1>(&[2, 1, 7, 300], 500, seed);
            agrees_with_a_naive_count::<2>(&[70_000, 1 << 20, 5, 1 << 16, 1 << 16], 300, seed);
            agrees_with_a_naive_count::<16>(&[1 << 16; 40], 50, seed);
        }
        agrees_with_a_naive_count::<1>(&[4], 0, 0);
        agrees_with_a_naive_count::<1>(&[9, 40, 1000], 200_000, 1);
        agrees_with_a_naive_count::<1>(&[2, 3], 200_000, 2);
    }

    /// One attribute after the other, from the low bits to the high ones, against a count of the
    /// rows on every level.
    #[test]
    fn large_sets_stay_in_order_and_roll_up_as_small_ones_do() {
        fn check<const W: usize>(cardinalities: &[usize], seed: u64) {
            let rows = 120_000;
            let columns = random_columns(&mut StdRng::seed_from_u64(seed), cardinalities, rows);
            let layout = Layout::new(cardinalities).unwrap();
            let mut set = FrequencySet::<W>::of_rows(&layout, &columns.iter().collect::<Vec<_>>(), rows);
            assert!(set.ordered, "{} entries", set.len());
            let mut coarse = vec![false; cardinalities.len()];
            for attribute in (0..cardinalities.len()).chain([0]) {
                let divisor = if coarse[attribute] { 1 } else { 2 };
                let map: Vec<u32> = (0..cardinalities[attribute] as u32).map(|code| code / divisor).collect();
                coarse[attribute] = true;
                set = set.roll_up(&LevelChange::new(&layout, [(attribute, map.as_slice())]));
                let mut naive: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
                for row in 0..rows {
                    let code = |a: usize| columns[a].get(row) / if coarse[a] { 2 } else { 1 };
                    *naive.entry((0..cardinalities.len()).map(code).collect()).or_default() += 1;
                }
                let codes = |key: &[u64; W]| (0..cardinalities.len()).map(|a| layout.field(a).get(key)).collect();
                let found: BTreeMap<Vec<u32>, u32> =
                    as_map(&set).iter().map(|(key, &count)| (codes(key), count)).collect();
                assert_eq!(found.len(), set.len(), "a key stands twice");
                assert_eq!(found, naive);
                let ascends = set.keys.windows(2).all(|pair| pair[0].iter().rev().lt(pair[1].iter().rev()));
                assert!(!set.ordered || ascends);
            }
        }
        check::<1>(&[1000, 40, 9, 3], 1);
        check::<1>(&[300, 200, 2], 2);
        check::<2>(&[1 << 20, 1 << 20, 1 << 20, 7, 2], 3);
    }

    #[test]
    fn a_layout_too_wide_for_any_key_is_refused() {
        assert!(Layout::new(&[1 << 32; 33]).is_none());
        assert!(Layout::new(&[1 << 32; 32]).is_some());
        assert_eq!(Layout::new(&[]).unwrap().words(), 1);
    }

    #[test]
    fn the_set_does_not_depend_on_the_number_of_threads() {
        let mut rng = StdRng::seed_from_u64(7);
        let cardinalities = [50, 40, 60, 3];
        let columns = random_columns(&mut rng, &cardinalities, 150_000);
        let layout = Layout::new(&cardinalities).unwrap();
        let count = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| FrequencySet::<1>::of_rows(&layout, &columns.iter().collect::<Vec<_>>(), 150_000))
        };
        assert_eq!(count(1), count(3));
    }
}
