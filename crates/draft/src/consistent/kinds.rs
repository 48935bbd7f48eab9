//! The kinds of people and of rows. Shown values that the same known values exclude are one kind of
//! value, with a bit of its own: a row may be a person's where it has no bit that the person
//! excludes.

use hashbrown::HashMap;
use hedgerow_audit::impossible::Impossible;
use hedgerow_table::Column;

#[derive(Debug)]
pub(super) struct PeopleKinds {
    /// By row of the source.
    pub(super) of_person: Vec<u32>,
    pub(super) of_row: Vec<u32>,
    /// A person of each kind.
    people: Vec<usize>,
    /// By kind of person, what it excludes; by kind of row, what would exclude it.
    excluded: Vec<Vec<u64>>,
    shown: Vec<Vec<u64>>,
    impossible: Impossible,
}

impl PeopleKinds {
    pub(super) fn new(known: &[&Column], shown: &[&Column], rows: usize) -> PeopleKinds {
        let impossible = Impossible::new(known, shown);
        // For each bit, which codes of the known attributes exclude it.
        let mut excluded_by: Vec<Vec<Option<&[bool]>>> = Vec::new();
        let mut bit_of_value: Vec<Vec<Option<usize>>> = Vec::with_capacity(shown.len());
        for (place, column) in shown.iter().enumerate() {
            let mut bits: HashMap<Vec<Option<&[bool]>>, usize> = HashMap::new();
            let of_value = |value: u32| {
                let by: Vec<_> = (0..known.len()).map(|known| impossible.excluded_by(known, place, value)).collect();
                by.iter().any(Option::is_some).then(|| {
                    *bits.entry(by).or_insert_with_key(|by| {
                        excluded_by.push(by.clone());
                        excluded_by.len() - 1
                    })
                })
            };
            bit_of_value.push((0..column.domain.cardinality() as u32).map(of_value).collect());
        }
        let words = excluded_by.len().div_ceil(64);
        let of_value: Vec<Vec<Vec<u64>>> = bit_of_value
            .iter()
            .map(|bits| {
                let of_bit = |bit: &Option<usize>| {
                    let mut set = vec![0u64; words];
                    bit.iter().for_each(|bit| set[bit / 64] |= 1 << (bit % 64));
                    set
                };
                bits.iter().map(of_bit).collect()
            })
            .collect();
        let of_code: Vec<Vec<Vec<u64>>> = (known.iter().enumerate())
            .map(|(place, column)| {
                let mut sets = vec![vec![0u64; words]; column.domain.cardinality()];
                for (bit, by) in excluded_by.iter().enumerate() {
                    let codes = sets.iter_mut().zip(by[place].unwrap_or_default());
                    codes.filter(|(_, excludes)| **excludes).for_each(|(set, _)| set[bit / 64] |= 1 << (bit % 64));
                }
                sets
            })
            .collect();
        let (of_person, people, excluded) = numbered(known, &of_code, words, rows);
        let (of_row, _, shown) = numbered(shown, &of_value, words, rows);
        PeopleKinds { of_person, of_row, people, excluded, shown, impossible }
    }

    pub(super) fn fit(&self, person: u32, row: u32) -> bool {
        let both = self.excluded[person as usize].iter().zip(&self.shown[row as usize]);
        both.fold(0, |common, (excluded, shown)| common | (excluded & shown)) == 0
    }

    /// By kind of person: how many values of what a rule protects are left to it without a release.
    pub(super) fn open_values(&self, known: &[&Column], shown: &[&Column], protect: Option<usize>) -> Vec<u32> {
        let open = |person: usize| {
            let codes: Vec<u32> = known.iter().map(|column| column.codes.get(person)).collect();
            let values = |place: usize| shown[place].domain.cardinality() as u32;
            protect.map_or(u32::MAX, |place| self.impossible.open_values(&codes, place, values(place)))
        };
        self.people.iter().map(|&person| open(person)).collect()
    }
}

/// The kind of every row by the union of its values' bits, the first row of each kind, and its
/// bits.
fn numbered(
    columns: &[&Column],
    bits: &[Vec<Vec<u64>>],
    words: usize,
    rows: usize,
) -> (Vec<u32>, Vec<usize>, Vec<Vec<u64>>) {
    let mut numbers: HashMap<Vec<u64>, u32> = HashMap::new();
    let (mut of_row, mut first, mut sets) = (Vec::with_capacity(rows), Vec::new(), Vec::new());
    let mut set = vec![0u64; words];
    for row in 0..rows {
        set.fill(0);
        for (column, bits) in columns.iter().zip(bits) {
            let of_code = &bits[column.codes.get(row) as usize];
            set.iter_mut().zip(of_code).for_each(|(into, more)| *into |= more);
        }
        let kind = *numbers.entry_ref(set.as_slice()).or_insert_with(|| {
            first.push(row);
            sets.push(set.clone());
            first.len() as u32 - 1
        });
        of_row.push(kind);
    }
    (of_row, first, sets)
}
