//! Answers against every table that could be behind a release: cells replaced by each value they
//! cover, buckets paired in each way.
//!
//! The conditions are random trees, judged here by SQL's three-valued logic as it is written in the
//! standard, row by row.

mod aggregates;
mod bucketized;
mod generalized;
mod having;
mod notes;
mod parts;
mod refusals;

use hedgerow_release::codebook::Codebook;
use hedgerow_table::hierarchy::{Cover, Label};
use hedgerow_table::{Bound, Kind, Table};
use rand::RngExt;
use rand::rngs::StdRng;
use serde_json::Value as Json;

use std::borrow::Cow;

use super::columns::Columns;
use super::rows::{QueriedRows, Sizes};
use super::view::QueryView;
use super::{Answer, AnswerError, Bounds, Select, answer_view};
use crate::estimate::declared::Declared;
use crate::testing::seeds;

/// A value of a cell; `None` is missing.
type Value = Option<Known>;

#[derive(Debug, Clone, PartialEq, PartialOrd)]
enum Known {
    Number(f64),
    Text(String),
}

/// One label: the values that are equally likely, and all that are possible as far as conditions
/// distinguish them.
#[derive(Debug, Clone)]
struct TestLabel {
    text: String,
    cover: Cover,
    likely: Vec<Value>,
    possible: Vec<Value>,
}

#[derive(Debug, Clone)]
enum Test {
    Compare(usize, &'static str, Known),
    Between(usize, Known, Known),
    In(usize, Vec<Known>),
    Like(usize, &'static str),
    IsNull(usize),
    Not(Box<Test>),
    And(Box<Test>, Box<Test>),
    Or(Box<Test>, Box<Test>),
}

/// `None` is unknown.
fn truth(test: &Test, row: &[Value]) -> Option<bool> {
    match test {
        Test::IsNull(column) => Some(row[*column].is_none()),
        Test::Compare(column, by, with) => {
            let value = row[*column].as_ref()?;
            Some(match *by {
                "=" => value == with,
                "<>" => value != with,
                "<" => value < with,
                "<=" => value <= with,
                ">" => value > with,
                _ => value >= with,
            })
        }
        Test::Between(column, low, high) => row[*column].as_ref().map(|value| value >= low && value <= high),
        Test::In(column, list) => row[*column].as_ref().map(|value| list.contains(value)),
        Test::Like(column, pattern) => match row[*column].as_ref()? {
            Known::Text(text) => Some(match *pattern {
                "b%" => text.starts_with('b'),
                "%e%" => text.contains('e'),
                _ => text.chars().count() == 4,
            }),
            Known::Number(_) => unreachable!("LIKE is about texts"),
        },
        Test::Not(inner) => truth(inner, row).map(|held| !held),
        Test::And(a, b) => match (truth(a, row), truth(b, row)) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        },
        Test::Or(a, b) => match (truth(a, row), truth(b, row)) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        },
    }
}

fn sql_of(test: &Test, names: &[&str]) -> String {
    let written = |value: &Known| match value {
        Known::Number(number) => number.to_string(),
        Known::Text(text) => format!("'{text}'"),
    };
    match test {
        Test::IsNull(column) => format!("{} IS NULL", names[*column]),
        Test::Compare(column, by, with) => format!("{} {by} {}", names[*column], written(with)),
        Test::Between(column, low, high) => {
            format!("{} BETWEEN {} AND {}", names[*column], written(low), written(high))
        }
        Test::In(column, list) => {
            format!("{} IN ({})", names[*column], list.iter().map(written).collect::<Vec<_>>().join(", "))
        }
        Test::Like(column, pattern) => format!("{} LIKE '{pattern}'", names[*column]),
        Test::Not(inner) => format!("NOT ({})", sql_of(inner, names)),
        Test::And(a, b) => format!("({} AND {})", sql_of(a, names), sql_of(b, names)),
        Test::Or(a, b) => format!("({} OR {})", sql_of(a, names), sql_of(b, names)),
    }
}

const COLORS: [&str; 5] = ["amber", "beige", "blue", "gray", "red"];

/// `texts` says which columns hold texts; numbers lie between 0 and 12.
fn random_test(rng: &mut StdRng, texts: &[bool], depth: usize) -> Test {
    if depth > 0 && rng.random_bool(0.7) {
        let mut inner = || Box::new(random_test(rng, texts, depth - 1));
        let (a, b) = (inner(), inner());
        return match rng.random_range(0..5) {
            0 => Test::Not(a),
            1 | 2 => Test::And(a, b),
            _ => Test::Or(a, b),
        };
    }
    let column = rng.random_range(0..texts.len());
    let value = |rng: &mut StdRng| {
        if texts[column] {
            Known::Text(COLORS[rng.random_range(0..COLORS.len())].to_owned())
        } else {
            Known::Number(f64::from(rng.random_range(-1..14)))
        }
    };
    match rng.random_range(0..7) {
        0 => Test::IsNull(column),
        1 => Test::Between(column, value(rng), value(rng)),
        2 => Test::In(column, (0..rng.random_range(1..4)).map(|_| value(rng)).collect()),
        3 if texts[column] => Test::Like(column, ["b%", "%e%", "____"][rng.random_range(0..3)]),
        _ => {
            let by = ["=", "<>", "<", "<=", ">", ">="][rng.random_range(0..6)];
            Test::Compare(column, by, value(rng))
        }
    }
}

type Release = QueryView<'static>;

fn answer(release: &Release, sql: &str) -> Result<Answer, hedgerow_table::TableError> {
    Ok(answer_view(release, &Columns::bind(release)?, &Select::parse(sql)?, &Bounds::NONE)?)
}

/// A manifest's statement about values of this kind.
fn stated(kind: Kind) -> Declared {
    Declared { kind: Some(kind), ..Declared::default() }
}

fn view(rows: QueriedRows<'static>, codebook: Codebook, kinds: Vec<(String, Kind)>) -> Release {
    let declared = kinds.into_iter().map(|(name, kind)| (name, stated(kind))).collect();
    QueryView { rows, codebook: Cow::Owned(codebook), declared, statistics: None, suppressed: 0 }
}

/// A generalized release of these labels, row by row.
fn release_of(names: &[&str], kinds: &[Kind], rows: &[Vec<&TestLabel>]) -> Release {
    let mut codebook = Codebook::new();
    for row in rows {
        for (name, label) in names.iter().zip(row) {
            codebook.add(name, &Label { text: label.text.clone(), cover: label.cover.clone(), leaves: 1 }).unwrap();
        }
    }
    let texts: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(|label| label.text.as_str()).collect()).collect();
    let table = Table::from_texts(names, &texts);
    let kinds = names.iter().zip(kinds).map(|(name, kind)| ((*name).to_owned(), *kind)).collect();
    let codebook = crate::testing::written_and_read(&codebook);
    view(QueriedRows::Labels(Cow::Owned(table)), codebook, kinds)
}

/// How many rows of each label of a column fulfill a condition, as a reader of the table and its
/// codebook estimates it; `None` is unknown.
pub(crate) fn counted_by_label(
    table: &Table,
    codebook: &Codebook,
    (name, kind): (&str, Kind),
    condition: &str,
) -> Vec<(String, Option<f64>)> {
    let view = QueryView {
        rows: QueriedRows::Labels(Cow::Borrowed(table)),
        codebook: Cow::Borrowed(codebook),
        declared: vec![(name.to_owned(), stated(kind))],
        statistics: None,
        suppressed: 0,
    };
    let sql = format!("SELECT \"{name}\" AS l, COUNT(*) AS n FROM data {condition} GROUP BY \"{name}\"");
    let select = Select::parse(&sql).unwrap();
    let answer = answer_view(&view, &Columns::bind(&view).unwrap(), &select, &Bounds::NONE);
    let lines = answer.unwrap_or_else(|error| panic!("{sql}: {error}")).lines;
    let line = |cells: &Vec<super::AnswerCell>| match cells.as_slice() {
        [super::AnswerCell::Label(label), super::AnswerCell::Estimate(found)] => {
            (label.clone().unwrap_or_default(), Some(found.estimate).filter(|estimate| !estimate.is_nan()))
        }
        other => panic!("{sql}: {other:?}"),
    };
    lines.iter().map(line).collect()
}

fn run(release: &Release, sql: &str) -> Json {
    let found = answer(release, sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    serde_json::to_value(&found).unwrap()
}

/// Estimate, certain, possible of an aggregate in a line; what is null is not a number.
fn three(line: &Json, name: &str) -> [f64; 3] {
    ["estimate", "certain", "possible"].map(|part| line[name][part].as_f64().unwrap_or(f64::NAN))
}

fn close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{what}: {found}, expected {expected}");
}

fn interval(low: Option<i64>, high: Option<i64>) -> Cover {
    Cover::Interval { low: low.map(Bound::Integer), high: high.map(Bound::Integer) }
}

fn point(value: i64) -> TestLabel {
    let values = vec![Some(Known::Number(value as f64))];
    TestLabel {
        text: value.to_string(),
        cover: Cover::Point(Bound::Integer(value)),
        likely: values.clone(),
        possible: values,
    }
}

fn range(low: i64, high: i64) -> TestLabel {
    let values: Vec<Value> = (low..high).map(|value| Some(Known::Number(value as f64))).collect();
    let text = format!("{low} to {}", high - 1);
    TestLabel { text, cover: interval(Some(low), Some(high)), likely: values.clone(), possible: values }
}

fn colors(text: &str, leaves: &[&str]) -> TestLabel {
    let values: Vec<Value> =
        leaves.iter().map(|leaf| (!leaf.is_empty()).then(|| Known::Text((*leaf).to_owned()))).collect();
    let cover = Cover::Leaves(leaves.iter().map(|leaf| (*leaf).to_owned()).collect());
    TestLabel { text: text.to_owned(), cover, likely: values.clone(), possible: values }
}

fn missing() -> TestLabel {
    TestLabel { text: String::new(), cover: Cover::Missing, likely: vec![None], possible: vec![None] }
}
