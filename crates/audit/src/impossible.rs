//! Combinations of values that cannot occur: those that do not among some people, though chance
//! would hardly leave them out.
//!
//! Let a value be carried by a share p of n people. A group of m people without it is more than
//! chance when n·p·(1 − p)^m, a bound on how many such groups chance makes, is at most [`CHANCE`]
//! over the values. For numbers and dates groups are intervals of the axis, so that "up to 17
//! years" is found as one; for texts they are the people who share a text. Whether a value is
//! missing counts as a value too: a column that is missing exactly for children has no other value
//! that is frequent.

use hashbrown::HashMap;
use hedgerow_table::{Column, Kind};

/// The number of groups without a value, over all its values, that chance alone may make in an
/// attribute.
const CHANCE: f64 = 0.01;

/// The combinations of known and shown attributes that cannot occur.
#[derive(Debug)]
pub struct Impossible {
    /// For each known and each shown attribute: by the code of the shown one, the codes of the
    /// known one that do not go with it. Absent where all may.
    pairs: Vec<Vec<HashMap<u32, Vec<bool>>>>,
}

impl Impossible {
    /// Counted among the people of both lists of columns, which have the same rows.
    pub fn new(known: &[&Column], shown: &[&Column]) -> Impossible {
        let pairs = known.iter().map(|known| shown.iter().map(|shown| excluded(known, shown)).collect());
        Impossible { pairs: pairs.collect() }
    }

    /// Whether no one with this code of a known attribute has this value of a shown one.
    pub fn excludes(&self, known: usize, code: u32, shown: usize, value: u32) -> bool {
        self.pairs[known][shown].get(&value).is_some_and(|codes| codes[code as usize])
    }

    /// The codes of a known attribute that do not go with a value of a shown one; `None` where all
    /// may.
    pub fn excluded_by(&self, known: usize, shown: usize, value: u32) -> Option<&[bool]> {
        self.pairs[known][shown].get(&value).map(Vec::as_slice)
    }

    /// How many values of a shown attribute are left to a person before any release is seen: a man
    /// is not pregnant. `known` has a code for each known attribute.
    pub fn open_values(&self, known: &[u32], shown: usize, values: u32) -> u32 {
        let is_open = |value: &u32| {
            let mut excluded = known.iter().zip(&self.pairs);
            !excluded.any(|(&code, pairs)| pairs[shown].get(value).is_some_and(|codes| codes[code as usize]))
        };
        (0..values).filter(is_open).count() as u32
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        let all = self.pairs.iter().flatten().flat_map(HashMap::values);
        all.map(|codes| codes.iter().filter(|excluded| **excluded).count() as u64).sum()
    }
}

/// By the code of `shown`, the codes of `known` that cannot go with it.
fn excluded(known: &Column, shown: &Column) -> HashMap<u32, Vec<bool>> {
    let people = known.codes.len() as u64;
    let group_sizes = known.counts();
    let totals = shown.counts();
    let missing = shown.domain.missing_code();
    // Values too rare for any group to be without them by more than chance.
    let frequent: HashMap<u32, usize> = (0u32..)
        .zip(&totals)
        .filter(|(_, total)| cannot_be_chance(people, **total, people - **total, totals.len()))
        .map(|(code, _)| code)
        .zip(0..)
        .collect();
    // Beside the values themselves: whether there is one.
    let mut with = vec![vec![0u64; group_sizes.len()]; frequent.len() + 1];
    let present = frequent.len();
    for (code, value) in known.codes.iter().zip(shown.codes.iter()) {
        if let Some(&place) = frequent.get(&value) {
            with[place][code as usize] += 1;
        }
        if Some(value) != missing {
            with[present][code as usize] += 1;
        }
    }
    let ordered = known.domain.kind() != Kind::Category;
    let without = |counts: &[u64], total: u64| -> Option<Vec<bool>> {
        let found =
            groups_without(&group_sizes, counts, total, people, ordered, known.domain.missing_code(), totals.len() + 1);
        found.iter().any(|excluded| *excluded).then_some(found)
    };
    let mut all: HashMap<u32, Vec<bool>> = HashMap::new();
    for (&value, &place) in &frequent {
        if let Some(codes) = without(&with[place], totals[value as usize]) {
            all.insert(value, codes);
        }
    }
    let have: u64 = with[present].iter().sum();
    if missing.is_some()
        && let Some(codes) = without(&with[present], have)
    {
        for value in (0..totals.len() as u32).filter(|value| Some(*value) != missing) {
            let known = all.entry(value).or_insert_with(|| vec![false; codes.len()]);
            known.iter_mut().zip(&codes).for_each(|(known, excluded)| *known |= excluded);
        }
    }
    all
}

/// Which groups are without a value by more than chance. Neighbors on an axis are one group.
fn groups_without(
    sizes: &[u64],
    with: &[u64],
    total: u64,
    people: u64,
    ordered: bool,
    missing: Option<u32>,
    values: usize,
) -> Vec<bool> {
    let mut found = vec![false; sizes.len()];
    let mut first = 0;
    while first < sizes.len() {
        let mut end = first + 1;
        if with[first] == 0 {
            let joins = |code: usize| ordered && Some(code as u32) != missing && with[code] == 0;
            while end < sizes.len() && joins(end) && Some(first as u32) != missing {
                end += 1;
            }
            let size = sizes[first..end].iter().sum();
            if cannot_be_chance(people, total, size, values) {
                found[first..end].iter_mut().for_each(|excluded| *excluded = true);
            }
        }
        first = end;
    }
    found
}

/// Whether a group of this size that lacks a value, which `carriers` people have, is more than
/// chance.
fn cannot_be_chance(people: u64, carriers: u64, size: u64, values: usize) -> bool {
    if carriers == 0 || size == 0 || carriers > people {
        return false;
    }
    let share = carriers as f64 / people as f64;
    let expected = (carriers as f64).ln() + size as f64 * (1.0 - share).ln();
    expected <= (CHANCE / values.max(1) as f64).ln()
}
