//! An answer: a line of labels and estimates for each group, or of labels for each released row.
//!
//! As JSON it has the contract's keys: `{"answer": [{column: {"estimate", "certain", "possible"} |
//! value}], "notes": […]}`, or `rows` instead of `answer` where rows were selected. What is unknown
//! or unbounded is null.

use crate::estimate::origin::{self, outward};
use hedgerow_table::date::Date;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::Value;

/// The answer to one query.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// One for each expression of the query, in its order.
    pub columns: Vec<AnswerColumn>,
    /// A cell for each column.
    pub lines: Vec<Vec<AnswerCell>>,
    /// Notes for the reader.
    pub notes: Vec<String>,
    /// Whether the lines are released rows.
    pub rows: bool,
}

/// A column of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerColumn {
    /// As the query names it.
    pub name: String,
    /// How its cells are read.
    pub kind: ColumnKind,
}

/// How the cells of a column of an answer are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// Labels as released; numbers among them stay numbers in JSON.
    Label { number: bool },
    /// A number of rows.
    Count,
    /// A sum, a mean and the like.
    Amount,
    /// The least, the greatest or a quantile of dates: as days since 1970-01-01.
    Day,
    /// The probability that a row fulfils the condition.
    Share,
}

/// One cell of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerCell {
    /// `None` is the missing value.
    Label(Option<String>),
    /// The estimate of an aggregate, with its bounds.
    Estimate(Estimate),
    /// The probability that the row fulfils the condition, and whether it does for certain.
    Share { share: f64, certain: bool },
}

/// An aggregate. Not a number: unknown, or there is none; infinite: without bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The expected value, where rows of a class are spread evenly over its labels.
    pub estimate: f64,
    /// The least that the source can have.
    pub certain: f64,
    /// The most that the source can have.
    pub possible: f64,
    /// The whole number that each of the three is, where it is known to the last digit; it may be
    /// too large to be a float.
    pub whole: [Option<i128>; 3],
}

impl Estimate {
    /// The same where numbers were counted from an origin. Bounds are rounded outward only.
    /// `is_value` says that they are values, or lie between two: then no digit of a whole one was
    /// lost.
    pub(crate) fn counted_from(self, origin: i64, is_value: bool) -> Estimate {
        if origin == 0 {
            return self;
        }
        let Estimate { estimate, certain, possible, whole } = self;
        // What is expected is not known to the last digit; a fraction of it would be lost anyway.
        let distances = [estimate.round(), certain, possible];
        let known = distances.map(|distance| origin::whole(distance, origin).filter(|_| is_value));
        Estimate {
            estimate: estimate + origin as f64,
            certain: outward(certain, origin, true),
            possible: outward(possible, origin, false),
            whole: std::array::from_fn(|place| whole[place].or(known[place])),
        }
    }
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = self.names();
        let lines: Vec<AnswerRow<'_>> =
            self.lines.iter().map(|cells| AnswerRow { answer: self, names: &names, cells }).collect();
        let mut object = serializer.serialize_map(Some(2))?;
        object.serialize_entry(if self.rows { "rows" } else { "answer" }, &lines)?;
        object.serialize_entry("notes", &self.notes)?;
        object.end()
    }
}

impl Answer {
    /// The names of the columns, each once: a second `n` is `n (2)`.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for column in &self.columns {
            let again = self.columns[..names.len()].iter().filter(|before| before.name == column.name).count();
            names.push(if again == 0 { column.name.clone() } else { format!("{} ({})", column.name, again + 1) });
        }
        names
    }
}

struct AnswerRow<'a> {
    answer: &'a Answer,
    names: &'a [String],
    cells: &'a [AnswerCell],
}

impl Serialize for AnswerRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        for ((cell, column), name) in self.cells.iter().zip(&self.answer.columns).zip(self.names) {
            match cell {
                AnswerCell::Label(None) => object.serialize_entry(name, &())?,
                AnswerCell::Label(Some(text)) => object.serialize_entry(name, &label(text, column.kind))?,
                AnswerCell::Estimate(found) if column.kind == ColumnKind::Day => {
                    object.serialize_entry(name, &Days(found))?;
                }
                AnswerCell::Estimate(found) => {
                    object.serialize_entry(name, &Bounds { found, count: column.kind == ColumnKind::Count })?;
                }
                AnswerCell::Share { share, certain } => {
                    object.serialize_entry("certain", certain)?;
                    object.serialize_entry(name, &finite(*share))?;
                }
            }
        }
        object.end()
    }
}

/// A number as it is written, if the column holds numbers.
fn label(text: &str, kind: ColumnKind) -> Value {
    let number = if kind == (ColumnKind::Label { number: true }) { serde_json::from_str(text).ok() } else { None };
    number.unwrap_or_else(|| Value::String(text.to_owned()))
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// An estimate of a day, as dates.
struct Days<'a>(&'a Estimate);

impl Serialize for Days<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Estimate { estimate, certain, possible, .. } = *self.0;
        let mut object = serializer.serialize_map(Some(3))?;
        for (name, day) in [("estimate", estimate), ("certain", certain), ("possible", possible)] {
            object.serialize_entry(name, &day_of(day))?;
        }
        object.end()
    }
}

/// The date of a day since 1970-01-01, to the nearest; `None` where it is unknown or unbounded. An
/// estimate beyond the days that can be written is the last of them: no value lies there.
pub fn day_of(days: f64) -> Option<String> {
    let (first, last) = (f64::from(Date::FIRST.0), f64::from(Date::LAST.0));
    days.is_finite().then(|| Date(days.round().clamp(first, last) as i32).to_string())
}

/// An estimate as an object; the bounds of a count are whole numbers.
struct Bounds<'a> {
    found: &'a Estimate,
    count: bool,
}

impl Serialize for Bounds<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Estimate { estimate, certain, possible, whole } = *self.found;
        let mut object = serializer.serialize_map(Some(3))?;
        let named = [("estimate", estimate), ("certain", certain), ("possible", possible)];
        for ((name, value), exact) in named.into_iter().zip(whole) {
            let is_bound = name != "estimate";
            match (exact.and_then(json_number), finite(value)) {
                (Some(exact), _) => object.serialize_entry(name, &exact)?,
                (None, Some(bound)) if self.count && is_bound => object.serialize_entry(name, &(bound as u64))?,
                (None, value) => object.serialize_entry(name, &value)?,
            }
        }
        object.end()
    }
}

/// As a JSON number, where one holds it.
fn json_number(value: i128) -> Option<Value> {
    i64::try_from(value).map(Value::from).or_else(|_| u64::try_from(value).map(Value::from)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_one_that_can_be_written() {
        let shown = [0.4, 5_429_742.0, -9e9, f64::INFINITY, f64::NAN].map(day_of);
        let written = ["1970-01-01", "9999-12-31", "0000-01-01"].map(|day| Some(day.to_owned()));
        assert_eq!((&shown[..3], &shown[3..]), (&written[..], &[None, None][..]));
    }

    #[test]
    fn keys_are_those_of_the_contract() {
        let unbounded = Estimate { estimate: 1.5, certain: 1.0, possible: f64::INFINITY, whole: [None; 3] };
        let exact = Estimate { whole: [Some(i128::from(u64::MAX)); 3], ..unbounded };
        let column = |name: &str, kind| AnswerColumn { name: name.to_owned(), kind };
        let label = ColumnKind::Label { number: true };
        let answer = Answer {
            columns: vec![
                column("n", label),
                column("n", label),
                column("c", ColumnKind::Count),
                column("s", ColumnKind::Amount),
            ],
            lines: vec![vec![
                AnswerCell::Label(Some("12".to_owned())),
                AnswerCell::Label(None),
                AnswerCell::Estimate(Estimate { possible: 3.0, ..unbounded }),
                AnswerCell::Estimate(exact),
            ]],
            notes: vec!["a note".to_owned()],
            rows: false,
        };
        let expected = serde_json::json!({
            "answer": [{
                "n": 12, "n (2)": null, "c": {"estimate": 1.5, "certain": 1, "possible": 3},
                "s": {"estimate": u64::MAX, "certain": u64::MAX, "possible": u64::MAX},
            }],
            "notes": ["a note"],
        });
        assert_eq!(serde_json::to_value(&answer).unwrap(), expected);
        let beyond = Estimate { whole: [Some(1 << 70); 3], ..unbounded };
        let one = |found: &Estimate| serde_json::to_value(Bounds { found, count: false }).unwrap();
        assert_eq!(one(&beyond)["possible"], Value::Null, "no JSON number holds it");
    }
}
