//! Putting a level together: which values share a label, and the labels numbered by the first value
//! under each.

use std::hash::Hash;

use hashbrown::HashMap;

use super::{Bound, Cover, Label, Level};
use crate::domain::{Domain, Values};

/// The label of a top level that no file names.
pub(super) const TOP: &str = "*";

/// Level 0: every value is its own label.
pub(super) fn values(domain: &Domain) -> Level {
    let codes = 0..domain.cardinality() as u32;
    let labels =
        codes.clone().map(|code| Label { text: domain.text(code), cover: cover_of_value(domain, code), leaves: 1 });
    Level { labels: labels.collect(), map: codes.collect() }
}

fn cover_of_value(domain: &Domain, code: u32) -> Cover {
    let index = code as usize;
    if Some(code) == domain.missing_code() {
        return Cover::Missing;
    }
    match domain.values() {
        Values::Integer(values) => Cover::Point(Bound::Integer(values[index])),
        Values::Float(values) => Cover::Point(Bound::Float(values[index])),
        Values::Date(values) => Cover::Point(Bound::Date(values[index])),
        Values::Category(values) => Cover::Leaves(vec![values[index].to_string()]),
    }
}

/// The implied top: one label for everything.
pub(super) fn top(domain: &Domain) -> Level {
    let cardinality = domain.cardinality();
    let label = Label { text: TOP.to_owned(), cover: Cover::Everything, leaves: cardinality as u64 };
    Level { map: vec![0; cardinality], labels: vec![label] }
}

pub(super) fn missing_label() -> Label {
    Label { text: String::new(), cover: Cover::Missing, leaves: 1 }
}

/// A level in which the values with equal keys share a label. `keys` are those of the values
/// present, in the order of their codes; the missing value gets a label of its own. The leaves of a
/// label are the values that occur.
pub(super) fn group<K: Hash + Eq + Copy>(
    domain: &Domain,
    keys: impl IntoIterator<Item = K>,
    mut describe: impl FnMut(K) -> (String, Cover),
) -> Level {
    let mut numbers: HashMap<K, u32> = HashMap::new();
    let mut labels: Vec<Label> = Vec::new();
    let mut map: Vec<u32> = Vec::with_capacity(domain.cardinality());
    for key in keys {
        let number = *numbers.entry(key).or_insert_with(|| {
            let (text, cover) = describe(key);
            labels.push(Label { text, cover, leaves: 0 });
            labels.len() as u32 - 1
        });
        labels[number as usize].leaves += 1;
        map.push(number);
    }
    if domain.missing_code().is_some() {
        map.push(labels.len() as u32);
        labels.push(missing_label());
    }
    Level { map, labels }
}

/// How often each of the numbers below `size` occurs.
pub(super) fn count(numbers: &[u32], size: usize) -> Vec<u64> {
    let mut counts = vec![0; size];
    for &number in numbers {
        counts[number as usize] += 1;
    }
    counts
}
