//! Value labels: the texts that stand for the numbers of a variable.

use std::path::Path;

use hashbrown::{HashMap, HashSet};

use super::header::{Header, Variable};
use super::section::{Damage, Section};
use crate::InputError;

/// As Stata has it.
const TEXT_BYTES_MAX: usize = 32_000;
const SHORT: Damage = Damage("its value labels are damaged");

/// By the name of the set, the texts of its numbers.
#[derive(Debug, Default)]
pub(super) struct StataLabels {
    sets: HashMap<String, HashMap<i64, String>>,
    /// Variables whose labels are not used, since two values would become one.
    ambiguous: Vec<String>,
}

impl StataLabels {
    pub(super) fn read(header: &Header, section: &mut Section) -> Result<StataLabels, Damage> {
        let mut labels = StataLabels::default();
        if header.variables.iter().all(|variable| variable.labels.is_empty()) {
            return Ok(labels);
        }
        section.go_to(header.value_labels)?;
        let tagged = header.release >= 117;
        if tagged {
            section.expect(b"<value_labels>")?;
        }
        loop {
            if tagged {
                if section.take(5)? != b"<lbl>" {
                    break;
                }
            } else if section.is_at_end() {
                break;
            }
            let length = usize::try_from(header.order.unsigned(section.take(4)?)).unwrap_or(usize::MAX);
            let name = header.text(section.take(header.name_width())?)?;
            section.skip(3)?;
            let set = read_set(header, section.take(length)?)?;
            labels.sets.insert(name, set);
            if tagged {
                section.expect(b"</lbl>")?;
            }
        }
        for variable in &header.variables {
            if labels.sets.get(&variable.labels).is_some_and(merges) {
                labels.ambiguous.push(variable.name.clone());
            }
        }
        labels.sets.retain(|_, set| !merges(set));
        Ok(labels)
    }

    /// The text of a number.
    pub(super) fn text(&self, variable: &Variable, value: i64) -> Option<&str> {
        self.sets.get(&variable.labels)?.get(&value).map(String::as_str)
    }

    pub(super) fn warnings(&self, path: &Path) -> impl Iterator<Item = InputError> {
        let place = path.display().to_string();
        let warn = move |name: &String| {
            let problem =
                format!("column `{name}` is read as numbers: its value labels have one text for several of them");
            InputError::new(place.clone(), problem, "give every value a label of its own")
        };
        self.ambiguous.iter().map(warn)
    }
}

/// Whether two values would become one text: two have one label, or a label is another number.
fn merges(set: &HashMap<i64, String>) -> bool {
    let texts: HashSet<&str> = set.values().map(String::as_str).collect();
    let is_other_number =
        |(value, text): (&i64, &String)| text.parse::<f64>().is_ok_and(|number| number != *value as f64);
    texts.len() < set.len() || set.iter().any(is_other_number)
}

/// The number of labels, the length of their texts, where each begins, and their numbers.
fn read_set(header: &Header, bytes: &[u8]) -> Result<HashMap<i64, String>, Damage> {
    let number = |at: usize| bytes.get(at..at.checked_add(4)?).map(|bytes| header.order.unsigned(bytes) as usize);
    let count = number(0).ok_or(SHORT)?;
    let texts_at = count.checked_mul(8).and_then(|width| width.checked_add(8)).ok_or(SHORT)?;
    let texts = bytes.get(texts_at..).ok_or(SHORT)?;
    let mut set = HashMap::with_capacity(count);
    for index in 0..count {
        let begins = number(8 + 4 * index).ok_or(SHORT)?;
        let value = 8 + 4 * count + 4 * index;
        let value = header.order.signed(bytes.get(value..value + 4).ok_or(SHORT)?);
        let text = texts.get(begins..).ok_or(SHORT)?;
        let text = header.text(&text[..text.len().min(TEXT_BYTES_MAX)])?;
        if !text.is_empty() {
            set.insert(value, text);
        }
    }
    Ok(set)
}
