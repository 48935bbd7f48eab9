//! People and rows by what excludes them. Shown values that the same known values exclude are one
//! kind, with a bit of its own: a row may be a person's where it has no bit that the person
//! excludes.

use std::hash::Hash;

use hashbrown::HashMap;
use hedgerow_table::Column;

use crate::impossible::Impossible;
use crate::shown::Entries;

type Bits = Vec<u64>;

/// The kinds of a table's people, and of the values that are shown of its rows.
pub(super) struct Kinds {
    /// By shown attribute, then by its values; absent where nothing excludes the value.
    bit_of_value: Vec<Vec<Option<u32>>>,
    words: usize,
    /// By person.
    of_person: Vec<u32>,
    /// By kind of person, what it excludes.
    excluded: Vec<Bits>,
}

/// The rows of every bucket by their kinds, for one protected attribute.
pub(super) struct RowKinds {
    /// By kind of row.
    bits: Vec<Bits>,
    /// By bucket: the kind, the protected value, and how many such rows there are.
    by_bucket: Vec<Vec<(u32, Option<u32>, u64)>>,
}

impl Kinds {
    /// `impossible` is about the columns that are known and those that are shown, of these people.
    pub(super) fn new(impossible: &Impossible, known: &[&Column], shown: &[&Column], people: usize) -> Kinds {
        // For each bit, which codes of the known attributes exclude it.
        let mut excluded_by: Vec<Vec<Option<&[bool]>>> = Vec::new();
        let bits_of = |(place, column): (usize, &&Column)| {
            let mut bits: HashMap<Vec<Option<&[bool]>>, u32> = HashMap::new();
            let bit = |value: u32| {
                let by: Vec<_> = (0..known.len()).map(|known| impossible.excluded_by(known, place, value)).collect();
                by.iter().any(Option::is_some).then(|| {
                    *bits.entry(by).or_insert_with_key(|by| {
                        excluded_by.push(by.clone());
                        excluded_by.len() as u32 - 1
                    })
                })
            };
            (0..column.domain.cardinality() as u32).map(bit).collect()
        };
        let bit_of_value = shown.iter().enumerate().map(bits_of).collect();
        let words = excluded_by.len().div_ceil(64);
        let of_codes: Vec<Vec<Bits>> = (known.iter().enumerate())
            .map(|(place, column)| {
                let mut of_codes = vec![vec![0; words]; column.domain.cardinality()];
                for (bit, by) in excluded_by.iter().enumerate() {
                    let codes = of_codes.iter_mut().zip(by[place].unwrap_or_default());
                    codes.filter(|(_, excludes)| **excludes).for_each(|(bits, _)| bits[bit / 64] |= 1 << (bit % 64));
                }
                of_codes
            })
            .collect();
        let mut numbers = HashMap::new();
        let of_person = (0..people).map(|person| {
            let mut excluded = vec![0; words];
            for (column, of_codes) in known.iter().zip(&of_codes) {
                let of_code = &of_codes[column.codes.get(person) as usize];
                excluded.iter_mut().zip(of_code).for_each(|(into, more)| *into |= more);
            }
            number(&mut numbers, excluded)
        });
        Kinds { of_person: of_person.collect(), bit_of_value, words, excluded: in_order(numbers) }
    }

    /// Of a person, by its row.
    pub(super) fn of_person(&self, row: u32) -> u32 {
        self.of_person[row as usize]
    }

    /// The rows of buckets. `protect` is the place of the protected attribute among those shown.
    pub(super) fn of_rows(&self, by_bucket: &[Entries], protect: Option<usize>) -> RowKinds {
        let mut numbers = HashMap::new();
        let of_bucket = |entries: &Entries| {
            let mut rows: HashMap<(u32, Option<u32>), u64> = HashMap::new();
            for (shown, count) in entries {
                let mut bits = vec![0; self.words];
                for (code, bit_of_value) in shown.iter().zip(&self.bit_of_value) {
                    if let Some(bit) = code.and_then(|code| bit_of_value[code as usize]) {
                        bits[bit as usize / 64] |= 1 << (bit % 64);
                    }
                }
                let kind = number(&mut numbers, bits);
                *rows.entry((kind, protect.and_then(|place| shown[place]))).or_insert(0) += count;
            }
            rows.into_iter().map(|((kind, value), rows)| (kind, value, rows)).collect()
        };
        let by_bucket = by_bucket.iter().map(of_bucket).collect();
        RowKinds { bits: in_order(numbers), by_bucket }
    }

    /// The rows of a bucket with their protected value, and whether they may be those of a kind of
    /// person.
    pub(super) fn fitting<'k>(
        &'k self,
        person: u32,
        rows: &'k RowKinds,
        bucket: usize,
    ) -> impl Iterator<Item = (Option<u32>, u64, bool)> + 'k {
        let excluded = &self.excluded[person as usize];
        rows.by_bucket[bucket].iter().map(move |&(kind, value, count)| {
            let both = excluded.iter().zip(&rows.bits[kind as usize]);
            (value, count, both.fold(0, |common, (a, b)| common | (a & b)) == 0)
        })
    }

    /// How many values of a shown attribute are left to a kind of person without a release.
    pub(super) fn open_values(&self, person: u32, place: usize) -> usize {
        let excluded = &self.excluded[person as usize];
        let is_open = |bit: u32| excluded[bit as usize / 64] & (1 << (bit % 64)) == 0;
        self.bit_of_value[place].iter().filter(|bit| bit.is_none_or(is_open)).count()
    }
}

fn number<K: Hash + Eq>(numbers: &mut HashMap<K, u32>, key: K) -> u32 {
    let next = numbers.len() as u32;
    *numbers.entry(key).or_insert(next)
}

/// Numbered things, in the order of their numbers.
fn in_order<K>(numbers: HashMap<K, u32>) -> Vec<K> {
    let mut all: Vec<(K, u32)> = numbers.into_iter().collect();
    all.sort_unstable_by_key(|(_, number)| *number);
    all.into_iter().map(|(key, _)| key).collect()
}
