//! The codebook of a release, `codebook.csv`: what every released label covers.
//!
//! | cover | rows |
//! |---|---|
//! | an interval | one: `low` inclusive, `high` exclusive, an open end blank |
//! | one number or date | one: `low` and `high` the same |
//! | leaves | one per leaf; a blank leaf among several is the missing value |
//! | everything (also an interval open at both ends) | one: `low`, `high` and `leaf` blank |
//! | the missing value | one, all blank but the attribute |
//!
//! Labels are sorted, so that their order discloses nothing about the order of the rows they were
//! found in. Bounds are read as integers, else dates, else floats; 20 and 20.0 are the same
//! [`Bound`].

use std::borrow::Cow;
use std::cmp::Ordering;
use std::io;
use std::path::Path;

use hashbrown::{HashMap, HashSet};

use super::quoting::write_record;
use hedgerow_table::error::{InputError, TableError};
use hedgerow_table::hierarchy::{Bound, Cover, Label};
use hedgerow_table::records::{Records, read_text};

pub const HEADER: [&str; 5] = ["attribute", "label", "low", "high", "leaf"];

const BYTES_MAX: u64 = 512 << 20;
const ROWS_MAX: u64 = 20_000_000;

/// The values that the labels of a release cover, attribute by attribute.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Codebook {
    entries: Vec<AttributeEntries>,
    positions: HashMap<String, usize>,
    /// The attributes whose values were made coarser, each with these values.
    coarse: HashMap<String, HashSet<String>>,
}

#[derive(Debug, Clone, PartialEq)]
struct AttributeEntries {
    attribute: String,
    covers: HashMap<String, Cover>,
}

impl Codebook {
    pub fn new() -> Codebook {
        Codebook::default()
    }

    /// Notes what a label covers; attributes keep the order in which they first appear. The same
    /// label may come again with the same cover, but a reader could not distinguish two covers.
    pub fn add(&mut self, attribute: &str, label: &Label) -> Result<(), TableError> {
        self.insert(attribute, &label.text, &label.cover)
    }

    /// [`Self::add`] for a label outside a hierarchy.
    pub fn insert(&mut self, attribute: &str, label: &str, cover: &Cover) -> Result<(), TableError> {
        let covers = self.covers_of(attribute);
        match covers.get(label) {
            None => {
                covers.insert(label.to_owned(), cover.clone());
                Ok(())
            }
            Some(known) if known == cover => Ok(()),
            Some(_) => {
                let problem = format!("the label `{label}` of `{attribute}` would cover two different sets");
                Err(TableError::Internal(problem))
            }
        }
    }

    fn covers_of(&mut self, attribute: &str) -> &mut HashMap<String, Cover> {
        let position = match self.positions.get(attribute) {
            Some(position) => *position,
            None => {
                self.entries.push(AttributeEntries { attribute: attribute.to_owned(), covers: HashMap::new() });
                self.positions.insert(attribute.to_owned(), self.entries.len() - 1);
                self.entries.len() - 1
            }
        };
        &mut self.entries[position].covers
    }

    /// States that the values of an attribute were made coarser, and that these are such values.
    pub fn mark_coarse(&mut self, attribute: &str, values: impl IntoIterator<Item = String>) {
        self.coarse.entry_ref(attribute).or_default().extend(values);
    }

    /// Whether the values of an attribute were made coarser before anything else.
    pub fn is_coarse(&self, attribute: &str) -> bool {
        self.coarse.contains_key(attribute)
    }

    /// Whether a text is such a value, and not a label over several.
    pub fn is_coarse_value(&self, attribute: &str, text: &str) -> bool {
        self.coarse.get(attribute).is_some_and(|values| values.contains(text))
    }

    /// The cover of a label of an attribute, if the codebook has it.
    pub fn cover(&self, attribute: &str, label: &str) -> Option<&Cover> {
        self.entries[*self.positions.get(attribute)?].covers.get(label)
    }

    /// The attributes, in the order of the file.
    pub fn attributes(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entries| entries.attribute.as_str())
    }

    /// The labels of an attribute with their covers, in the order of the file: along the axis, then
    /// by text.
    pub fn labels(&self, attribute: &str) -> Vec<(&str, &Cover)> {
        let Some(position) = self.positions.get(attribute) else { return Vec::new() };
        let covers = &self.entries[*position].covers;
        let mut labels: Vec<(&str, &Cover)> = covers.iter().map(|(label, cover)| (label.as_str(), cover)).collect();
        labels.sort_unstable_by(|a, b| along_the_axis(a.1, b.1).then_with(|| a.0.cmp(b.0)));
        labels
    }

    pub fn write<W: io::Write>(&self, out: &mut W) -> io::Result<()> {
        write_record(out, &HEADER)?;
        for attribute in self.attributes() {
            for (label, cover) in self.labels(attribute) {
                write_label(out, attribute, label, cover)?;
            }
        }
        Ok(())
    }

    pub fn read(path: &Path) -> Result<Codebook, TableError> {
        let text = read_text(path, BYTES_MAX)?;
        Codebook::parse(&text, path)
    }

    fn parse(text: &str, path: &Path) -> Result<Codebook, TableError> {
        let refuse =
            |line: u64, problem: String, hint: &str| Err(InputError::at_line(path, line, problem, hint).into());
        let mut records = Records::new(text, b',');
        let header = records.next().transpose().map_err(|malformed| malformed.in_file(path))?;
        if header.is_none_or(|header| header.fields != HEADER) {
            return refuse(1, format!("the header is not {}", HEADER.join(",")), "give the codebook of a release");
        }
        let mut codebook = Codebook::new();
        for (count, record) in (1..).zip(records) {
            let record = record.map_err(|malformed| malformed.in_file(path))?;
            if count > ROWS_MAX {
                let problem = format!("the codebook has more than {ROWS_MAX} rows");
                return refuse(record.line, problem, "check that this is the right file");
            }
            let [attribute, label, low, high, leaf] = record.fields.as_slice() else {
                let problem = format!("the row has {} fields instead of {}", record.fields.len(), HEADER.len());
                return refuse(record.line, problem, "write every row with five fields");
            };
            let covers = codebook.covers_of(attribute);
            let taken = match covers.get_mut(label.as_ref()) {
                Some(cover) => extend(cover, low, high, leaf),
                None => cover_of_row(label, low, high, leaf).map(|cover| {
                    covers.insert(label.to_string(), cover);
                }),
            };
            if let Err(problem) = taken {
                let problem = format!("attribute `{attribute}`, label `{label}`: {problem}");
                return refuse(record.line, problem, "a label has one row with its bounds, or one row per leaf");
            }
        }
        codebook.check_leaves(text, path)?;
        Ok(codebook)
    }

    /// No leaf twice under a label. Only when there is one is the text searched again for its line.
    fn check_leaves(&self, text: &str, path: &Path) -> Result<(), TableError> {
        for attribute in self.attributes() {
            for (label, cover) in self.labels(attribute) {
                let Cover::Leaves(leaves) = cover else { continue };
                let mut sorted: Vec<&String> = leaves.iter().collect();
                sorted.sort_unstable();
                let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) else { continue };
                let leaf = pair[0].as_str();
                let is_it = |fields: &[Cow<'_, str>]| [&fields[0], &fields[1], &fields[4]] == [attribute, label, leaf];
                let mut places = Records::new(text, b',').flatten().filter(|record| is_it(&record.fields));
                let line = places.nth(1).map_or(1, |record| record.line);
                let problem = format!("attribute `{attribute}`, label `{label}`: the leaf `{leaf}` is there twice");
                return Err(InputError::at_line(path, line, problem, "name every leaf once").into());
            }
        }
        Ok(())
    }
}

fn write_label<W: io::Write>(out: &mut W, attribute: &str, label: &str, cover: &Cover) -> io::Result<()> {
    let text = |bound: &Option<Bound>| bound.map_or_else(String::new, |bound| bound.to_string());
    match cover {
        Cover::Everything | Cover::Missing => write_record(out, &[attribute, label, "", "", ""]),
        Cover::Point(point) => {
            let point = point.to_string();
            write_record(out, &[attribute, label, &point, &point, ""])
        }
        Cover::Interval { low, high } => write_record(out, &[attribute, label, &text(low), &text(high), ""]),
        Cover::Leaves(leaves) => {
            leaves.iter().try_for_each(|leaf| write_record(out, &[attribute, label, "", "", leaf]))
        }
    }
}

/// The cover that the first row of a label states.
fn cover_of_row(label: &str, low: &str, high: &str, leaf: &str) -> Result<Cover, String> {
    let bound = |text: &str, name: &str| match text {
        "" => Ok(None),
        _ => Bound::parse(text)
            .map(Some)
            .ok_or_else(|| format!("`{text}` in the column {name} is neither a number nor a date such as 2000-01-31")),
    };
    let (low, high) = (bound(low, "low")?, bound(high, "high")?);
    match (low, high) {
        (None, None) if !leaf.is_empty() => Ok(Cover::Leaves(vec![leaf.to_owned()])),
        (None, None) if label.is_empty() => Ok(Cover::Missing),
        (None, None) => Ok(Cover::Everything),
        _ if !leaf.is_empty() => Err("the row has bounds and a leaf".to_owned()),
        (Some(low), Some(high)) => match low.partial_cmp(&high) {
            Some(Ordering::Equal) => Ok(Cover::Point(low)),
            Some(Ordering::Less) => Ok(Cover::Interval { low: Some(low), high: Some(high) }),
            Some(Ordering::Greater) => Err(format!("low is {low}, above high, {high}")),
            None => Err(format!("low is {low} and high is {high}: one is a date, the other a number")),
        },
        (low, high) => Ok(Cover::Interval { low, high }),
    }
}

/// A further row of a label can only add a leaf. A blank leaf is the missing value once there are
/// several.
fn extend(cover: &mut Cover, low: &str, high: &str, leaf: &str) -> Result<(), String> {
    if !low.is_empty() || !high.is_empty() {
        return Err("a second row has bounds".to_owned());
    }
    match cover {
        Cover::Leaves(leaves) => leaves.push(leaf.to_owned()),
        Cover::Everything if !leaf.is_empty() => *cover = Cover::Leaves(vec![String::new(), leaf.to_owned()]),
        Cover::Everything | Cover::Missing => return Err("a second row follows a blank one".to_owned()),
        Cover::Point(_) | Cover::Interval { .. } => return Err("a second row follows one with bounds".to_owned()),
    }
    Ok(())
}

/// Numbers and dates by where they begin and end, then labels with leaves, the top, the missing
/// value.
fn along_the_axis(a: &Cover, b: &Cover) -> Ordering {
    fn rank(cover: &Cover) -> u8 {
        match cover {
            Cover::Point(_) | Cover::Interval { .. } => 0,
            Cover::Leaves(_) => 1,
            Cover::Everything => 2,
            Cover::Missing => 3,
        }
    }
    fn ends(cover: &Cover) -> (Option<Bound>, Option<Bound>) {
        match cover {
            Cover::Point(point) => (Some(*point), Some(*point)),
            Cover::Interval { low, high } => (*low, *high),
            Cover::Everything | Cover::Missing | Cover::Leaves(_) => (None, None),
        }
    }
    let ((a_low, a_high), (b_low, b_high)) = (ends(a), ends(b));
    let open_last = a_high.is_none().cmp(&b_high.is_none());
    rank(a).cmp(&rank(b)).then(order(a_low, b_low)).then(open_last).then(order(a_high, b_high))
}

/// A total order: no bound, then numbers, then dates.
fn order(a: Option<Bound>, b: Option<Bound>) -> Ordering {
    let group = |bound: Option<Bound>| match bound {
        None => 0,
        Some(Bound::Integer(_) | Bound::Float(_)) => 1,
        Some(Bound::Date(_)) => 2,
    };
    group(a).cmp(&group(b)).then(a.partial_cmp(&b).unwrap_or(Ordering::Equal))
}

#[cfg(test)]
mod tests;
