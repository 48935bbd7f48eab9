//! Rules that are about some known values alone, and the labels that may stand for these.
//!
//! An attacker knows that a person has one of the values. The classes that may be the person's are
//! those whose label may stand for it: the value itself, an interval or a set with it, a masked
//! text of its length that begins alike, `*`. A label that stands for it of one row may stand for
//! other values of the others; which row is whose no reader can tell, so the whole class is meant.
//! The missing value is none of the values: a person without one is not known by it.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use hedgerow_table::{Bound, Cover};

use crate::codebook::Codebook;
use crate::notation::cover_of_label;

/// By known attribute, the values that a rule is about; about all, when empty.
pub type KnownValues = BTreeMap<String, Vec<String>>;

const STAR: char = '*';

/// The labels of a table as its readers understand them.
#[derive(Debug, Clone, Copy)]
pub enum LabelReader<'a> {
    /// Of a release: by its codebook. A label that this does not list is the value itself.
    Codebook(&'a Codebook),
    /// Of any other table: by its codebook, where it has one, and else by how labels are written.
    Notation(Option<&'a Codebook>),
}

impl LabelReader<'_> {
    /// Whether a person with one of the values may be under a label.
    pub fn may_stand_for(self, attribute: &str, label: &str, values: &[String]) -> bool {
        let (LabelReader::Codebook(codebook) | LabelReader::Notation(Some(codebook))) = self else {
            return may_stand_for_any(&cover_of_label(label), values);
        };
        match (codebook.cover(attribute, label), self) {
            (Some(cover), _) => may_stand_for_any(cover, values),
            (None, LabelReader::Codebook(_)) => is_value_of(label, values),
            (None, LabelReader::Notation(_)) => may_stand_for_any(&cover_of_label(label), values),
        }
    }
}

/// Whether a person with one of the values may be under a label that covers this.
pub fn may_stand_for_any(cover: &Cover, values: &[String]) -> bool {
    values.iter().any(|value| may_stand_for(cover, value))
}

/// Whether a text that stands for itself is one of the values.
pub fn is_value_of(text: &str, values: &[String]) -> bool {
    values.iter().any(|value| is_same(text, value))
}

fn may_stand_for(cover: &Cover, value: &str) -> bool {
    match cover {
        Cover::Everything => true,
        Cover::Missing => false,
        Cover::Point(point) => Bound::parse(value).is_some_and(|value| value == *point),
        Cover::Interval { low, high } => Bound::parse(value).is_some_and(|value| {
            let is_from =
                low.is_none_or(|low| matches!(low.partial_cmp(&value), Some(Ordering::Less | Ordering::Equal)));
            is_from && high.is_none_or(|high| value.partial_cmp(&high) == Some(Ordering::Less))
        }),
        Cover::Leaves(leaves) => leaves.iter().any(|leaf| is_same(leaf, value) || is_masked(leaf, value)),
    }
}

/// Numbers and dates are the same however they are written.
fn is_same(text: &str, value: &str) -> bool {
    !text.is_empty() && (text == value || Bound::parse(text).is_some_and(|text| Bound::parse(value) == Some(text)))
}

/// Whether a pattern such as `713**` hides the value: each star is one character. A single star
/// hides any.
fn is_masked(pattern: &str, value: &str) -> bool {
    let Some(start) = pattern.find(STAR) else { return false };
    let begins = value.starts_with(&pattern[..start]);
    pattern == "*" || begins && pattern.chars().count() == value.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stands(cover: &Cover, value: &str) -> bool {
        may_stand_for(cover, value)
    }

    #[test]
    fn a_label_may_stand_for_what_it_covers() {
        let leaves = |leaves: &[&str]| Cover::Leaves(leaves.iter().map(|leaf| (*leaf).to_owned()).collect());
        let interval = |low: Option<i64>, high: Option<i64>| Cover::Interval {
            low: low.map(Bound::Integer),
            high: high.map(Bound::Integer),
        };
        for (cover, value, expected) in [
            (Cover::Everything, "x", true),
            (Cover::Missing, "x", false),
            (Cover::Point(Bound::Integer(7)), "7.0", true),
            (Cover::Point(Bound::Integer(7)), "8", false),
            (Cover::Point(Bound::Integer(7)), "seven", false),
            (interval(Some(20), Some(30)), "20", true),
            (interval(Some(20), Some(30)), "29.5", true),
            (interval(Some(20), Some(30)), "30", false),
            (interval(None, Some(30)), "-3", true),
            (interval(Some(20), None), "19", false),
            (interval(Some(20), Some(30)), "2020-01-01", false),
            (leaves(&["Travis", "Bexar"]), "Bexar", true),
            (leaves(&["Travis", "Bexar"]), "bexar", false),
            (leaves(&["", "7"]), "7.0", true),
            (leaves(&["", "7"]), "", false),
            (leaves(&["713**"]), "71355", true),
            (leaves(&["713**"]), "7135", false),
            (leaves(&["713**"]), "71255", false),
            (leaves(&["*"]), "anything", true),
        ] {
            assert_eq!(stands(&cover, value), expected, "{value:?} under {cover:?}");
        }
    }

    #[test]
    fn labels_are_read_by_the_codebook_and_else_stand_for_themselves() {
        let mut codebook = Codebook::new();
        codebook.insert("county", "south", &Cover::Leaves(vec!["Bexar".to_owned()])).unwrap();
        let bexar = ["Bexar".to_owned()];
        let own = LabelReader::Codebook(&codebook);
        assert!(own.may_stand_for("county", "south", &bexar) && own.may_stand_for("county", "Bexar", &bexar));
        assert!(!own.may_stand_for("county", "north", &bexar) && !own.may_stand_for("county", "", &bexar));
        let forty = ["40".to_owned()];
        assert!(!own.may_stand_for("age", "[35, 45)", &forty), "a value that looks like an interval is a value");
        for reader in [LabelReader::Notation(None), LabelReader::Notation(Some(&codebook))] {
            assert!(
                reader.may_stand_for("age", "[35, 45)", &forty) && !reader.may_stand_for("age", "[45, 55)", &forty)
            );
            assert!(reader.may_stand_for("age", "*", &forty) && !reader.may_stand_for("age", "", &forty));
        }
    }
}
