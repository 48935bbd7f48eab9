//! An answer as a table: aligned for a person, or as JSON for a program.

use std::fmt;

use serde_json::{Map, Value, json};

use super::tally::Estimate;

/// The answer to one question.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub(crate) columns: Vec<Column>,
    pub(crate) lines: Vec<Vec<Cell>>,
    /// What the reader should know about it.
    pub notes: Vec<String>,
    /// Whether the lines are released rows.
    pub(crate) rows: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: ColumnKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    /// Labels as released; numbers among them stay numbers in JSON.
    Label {
        number: bool,
    },
    Count,
    /// A sum or a mean.
    Amount,
    /// The probability that a row fulfils the condition.
    Share,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    /// `None` is the missing value.
    Label(Option<String>),
    Estimate(Estimate),
    Share {
        share: f64,
        certain: bool,
    },
}

impl Answer {
    /// One object: `answer` holds a line for each group, or `rows` one for each row.
    pub fn to_json(&self) -> Value {
        let mut names: Vec<String> = Vec::new();
        for column in &self.columns {
            let again = names.iter().filter(|name| **name == column.name).count();
            names.push(if again == 0 { column.name.clone() } else { format!("{} ({})", column.name, again + 1) });
        }
        let line = |cells: &Vec<Cell>| {
            let mut object = Map::new();
            for ((cell, column), name) in cells.iter().zip(&self.columns).zip(&names) {
                let value = match cell {
                    Cell::Label(None) => Value::Null,
                    Cell::Label(Some(text)) if column.kind == (ColumnKind::Label { number: true }) => {
                        serde_json::from_str(text).unwrap_or_else(|_| json!(text))
                    }
                    Cell::Label(Some(text)) => json!(text),
                    Cell::Estimate(found) => estimate_json(found, column.kind),
                    Cell::Share { share, certain } => {
                        object.insert("certain".to_owned(), json!(certain));
                        finite(*share)
                    }
                };
                object.insert(name.clone(), value);
            }
            Value::Object(object)
        };
        let lines: Vec<Value> = self.lines.iter().map(line).collect();
        json!({ if self.rows { "rows" } else { "answer" }: lines, "notes": self.notes })
    }
}

fn finite(value: f64) -> Value {
    if value.is_finite() { json!(value) } else { Value::Null }
}

fn estimate_json(found: &Estimate, kind: ColumnKind) -> Value {
    let bound = |value: f64| if kind == ColumnKind::Count { json!(value as u64) } else { finite(value) };
    json!({
        "estimate": finite(found.estimate),
        "certain": bound(found.certain),
        "possible": bound(found.possible),
    })
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table: Vec<Vec<String>> = vec![Vec::new()];
        let mut right: Vec<bool> = Vec::new();
        for column in &self.columns {
            table[0].push(column.name.clone());
            right.push(column.kind != (ColumnKind::Label { number: false }));
            if matches!(column.kind, ColumnKind::Count | ColumnKind::Amount) {
                table[0].extend(["certain".to_owned(), "possible".to_owned()]);
                right.extend([true, true]);
            }
        }
        for cells in &self.lines {
            let mut line = Vec::new();
            for cell in cells {
                match cell {
                    Cell::Label(text) => line.push(one_line(text.as_deref().unwrap_or(""))),
                    Cell::Share { share, .. } => line.push(number(*share)),
                    Cell::Estimate(found) => {
                        line.extend([number(found.estimate), number(found.certain), number(found.possible)]);
                    }
                }
            }
            table.push(line);
        }
        let width = |column: usize| table.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..right.len()).map(width).collect();
        for line in &table {
            let mut text = String::new();
            for ((cell, width), right) in line.iter().zip(&widths).zip(&right) {
                let fill = " ".repeat(width - cell.chars().count());
                text.push_str(&if *right { format!("{fill}{cell}  ") } else { format!("{cell}{fill}  ") });
            }
            writeln!(f, "{}", text.trim_end())?;
        }
        Ok(())
    }
}

/// A label that would break the table's lines is shown escaped.
fn one_line(text: &str) -> String {
    if text.chars().any(char::is_control) { text.escape_debug().to_string() } else { text.to_owned() }
}

/// Six significant digits, and at most four after the point.
fn number(value: f64) -> String {
    if value.is_nan() {
        return "unknown".to_owned();
    }
    if value.is_infinite() {
        return "unbounded".to_owned();
    }
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return format!("{value:.0}");
    }
    let places = (5 - value.abs().max(1e-9).log10().floor() as i32).clamp(0, 4) as usize;
    let text = format!("{value:.places$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_long_as_they_are_sure() {
        let shown = [0.5, 12.0, 12.34567, 123_456.7, 1.0e-7, 1.0 / 3.0, f64::NAN, f64::INFINITY].map(number);
        assert_eq!(shown, ["0.5", "12", "12.3457", "123457", "0", "0.3333", "unknown", "unbounded"]);
    }
}
