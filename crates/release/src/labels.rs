//! What the labels of a table without a codebook cover, read from their text as people and other
//! programs write them.
//!
//! | label | covers |
//! |---|---|
//! | a label of the attribute's hierarchy file, on any level | the leaves under it |
//! | `*` | everything |
//! | `35`, `2020-01-31` | that number or day |
//! | `[20, 40[`, `[20, 40)`, `[20, 40]`, `20-39`, `20 to 39`, `20–39` | from 20 to the end that the text means |
//! | `>=40`, `≥40`, `>40`, `<40`, `≤40` | one side of 40 |
//! | `{a, b}` | these values |
//! | `021**` | every text of that pattern |
//! | any other text | itself |

use std::path::Path;

use hashbrown::{HashMap, HashSet};

use hedgerow_table::hierarchy::{Bound, Cover};
use hedgerow_table::records::{Records, detect_delimiter, read_text};
use hedgerow_table::{InputError, TableError};

const BYTES_MAX: u64 = 256 << 20;

/// What is known of labels by hierarchy files.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    /// By attribute, then by label: the leaves under it.
    files: HashMap<String, HashMap<String, Vec<String>>>,
    unexplained: HashSet<(String, String)>,
}

impl Labels {
    /// A hierarchy file in ARX's layout: `leaf;level 1;…;top`, one row per leaf.
    pub(crate) fn read_hierarchy(&mut self, attribute: &str, path: &Path) -> Result<(), TableError> {
        let text = read_text(path, BYTES_MAX)?;
        let mut labels: HashMap<String, Vec<String>> = HashMap::new();
        for record in Records::new(&text, detect_delimiter(&text)) {
            let record = record.map_err(|malformed| malformed.in_file(path))?;
            let Some(leaf) = record.fields.first() else { continue };
            for label in record.fields.iter().collect::<HashSet<_>>() {
                labels.entry(label.to_string()).or_default().push(leaf.to_string());
            }
        }
        if labels.is_empty() {
            let hint = "write one row per leaf: `leaf;level 1;…;top`";
            return Err(InputError::new(path.display().to_string(), "the hierarchy is empty", hint).into());
        }
        self.files.insert(attribute.to_owned(), labels);
        Ok(())
    }

    pub(crate) fn cover(&mut self, attribute: &str, label: &str) -> Cover {
        if let Some(known) = self.files.get(attribute) {
            if let Some(leaves) = known.get(label) {
                return Cover::Leaves(leaves.clone());
            }
            if label != "*" && !label.is_empty() {
                self.unexplained.insert((attribute.to_owned(), label.to_owned()));
            }
        }
        cover_of_label(label)
    }

    /// Labels that the hierarchy file of their attribute does not have, counted by attribute.
    pub(crate) fn unexplained(&self) -> Vec<String> {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for (attribute, _) in &self.unexplained {
            *counts.entry(attribute).or_default() += 1;
        }
        let mut listed: Vec<String> = counts
            .into_iter()
            .map(|(attribute, count)| format!("{count} labels of `{attribute}` are not in its hierarchy file"))
            .collect();
        listed.sort_unstable();
        listed
    }
}

/// What a label covers when neither a codebook nor a hierarchy file explains it.
pub fn cover_of_label(label: &str) -> Cover {
    if label.is_empty() {
        return Cover::Missing;
    }
    if label == "*" {
        return Cover::Everything;
    }
    if let Some(point) = Bound::parse(label) {
        return Cover::Point(point);
    }
    if let Some(cover) = bracketed(label).or_else(|| one_sided(label)).or_else(|| between(label)) {
        return cover;
    }
    match label.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        Some(inner) => Cover::Leaves(inner.split(',').map(|leaf| leaf.trim().to_owned()).collect()),
        None => Cover::Leaves(vec![label.to_owned()]),
    }
}

/// `[20, 40[`, `[20, 40)`, `[20, 40]`, with a comma or a semicolon.
fn bracketed(label: &str) -> Option<Cover> {
    let inner = label.strip_prefix('[')?;
    let (inner, closed) = match inner.strip_suffix(['[', ')']) {
        Some(inner) => (inner, false),
        None => (inner.strip_suffix(']')?, true),
    };
    let (low, high) = inner.split_once([',', ';'])?;
    interval(Bound::parse(low.trim())?, Bound::parse(high.trim())?, closed)
}

/// `20-39`, `20–39` and `20 to 39` mean both ends.
fn between(label: &str) -> Option<Cover> {
    let ends = [" to ", " - ", " – ", "–", "-"].into_iter().find_map(|separator| {
        // The first character may be a minus sign.
        let at = label.char_indices().skip(1).map(|(at, _)| at).find(|&at| label[at..].starts_with(separator))?;
        Some((label[..at].trim(), label[at + separator.len()..].trim()))
    })?;
    interval(Bound::parse(ends.0)?, Bound::parse(ends.1)?, true)
}

fn one_sided(label: &str) -> Option<Cover> {
    let side = |marks: &[&str]| marks.iter().find_map(|mark| Bound::parse(label.strip_prefix(mark)?.trim()));
    let (low, high) = if let Some(low) = side(&[">=", "≥"]) {
        (Some(low), None)
    } else if let Some(high) = side(&["<=", "≤"]) {
        (None, Some(after(high)?))
    } else if let Some(low) = side(&[">"]) {
        (Some(after(low)?), None)
    } else {
        (None, Some(side(&["<"])?))
    };
    Some(Cover::Interval { low, high })
}

fn interval(low: Bound, high: Bound, closed: bool) -> Option<Cover> {
    if low == high {
        return Some(Cover::Point(low));
    }
    let high = if closed { after(high)? } else { high };
    (low < high).then_some(Cover::Interval { low: Some(low), high: Some(high) })
}

/// The next whole number or day; of a real number the next one that a float can distinguish.
fn after(bound: Bound) -> Option<Bound> {
    Some(match bound {
        Bound::Integer(value) => Bound::Integer(value.checked_add(1)?),
        Bound::Float(value) => Bound::Float(value.next_up()),
        Bound::Date(date) => Bound::Date(hedgerow_table::date::Date(date.0.checked_add(1)?)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(low: i64, high: i64) -> Cover {
        Cover::Interval { low: Some(Bound::Integer(low)), high: Some(Bound::Integer(high)) }
    }

    #[test]
    fn labels_mean_what_people_write() {
        for label in ["[20, 40[", "[20, 40)", "[20, 39]", "20-39", "20 - 39", "20 to 39", "20–39"] {
            assert_eq!(cover_of_label(label), whole(20, 40), "{label}");
        }
        assert_eq!(cover_of_label("-5-5"), whole(-5, 6));
        assert_eq!(cover_of_label("35"), Cover::Point(Bound::Integer(35)));
        assert_eq!(cover_of_label(">=40"), Cover::Interval { low: Some(Bound::Integer(40)), high: None });
        assert_eq!(cover_of_label(">39"), cover_of_label("≥ 40"));
        assert_eq!(cover_of_label("<40"), Cover::Interval { low: None, high: Some(Bound::Integer(40)) });
        assert_eq!(cover_of_label("≤39"), cover_of_label("<40"));
        assert_eq!(cover_of_label("*"), Cover::Everything);
        assert_eq!(cover_of_label(""), Cover::Missing);
        assert_eq!(cover_of_label("{a, b}"), Cover::Leaves(vec!["a".to_owned(), "b".to_owned()]));
        for text in ["021**", "Never-married", "to", "-", "[a, b[", "<", "40-20"] {
            assert_eq!(cover_of_label(text), Cover::Leaves(vec![text.to_owned()]), "{text}");
        }
    }

    #[test]
    fn a_hierarchy_file_explains_its_labels_and_misses_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("h.csv");
        std::fs::write(&path, "single;alone;*\nwidowed;alone;*\nmarried;married;*\n").unwrap();
        let mut labels = Labels::default();
        labels.read_hierarchy("status", &path).unwrap();
        assert_eq!(labels.cover("status", "alone"), Cover::Leaves(vec!["single".to_owned(), "widowed".to_owned()]));
        assert_eq!(labels.cover("status", "married"), Cover::Leaves(vec!["married".to_owned()]));
        assert!(labels.unexplained().is_empty());
        labels.cover("status", "divorced");
        assert_eq!(labels.unexplained(), ["1 labels of `status` are not in its hierarchy file"]);
        assert_eq!(labels.cover("age", "20-29"), whole(20, 30));
    }
}
