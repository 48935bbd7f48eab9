//! A release read by hand: a naive CSV splitter, naive classes, and every model from its
//! definition. It shares nothing with the code that published.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

/// Commas, quotes doubled inside quotes, lines that end in LF.
pub(crate) fn split(text: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut field, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                field.push('"');
            }
            '"' if quoted || field.is_empty() => quoted = !quoted,
            ',' if !quoted => record.push(std::mem::take(&mut field)),
            '\n' if !quoted => {
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            other => field.push(other),
        }
    }
    assert!(!quoted && field.is_empty() && record.is_empty(), "the file ends in the middle of a line");
    records
}

/// A field as a CSV file must write it.
pub(crate) fn quoted(field: &str) -> String {
    format!("\"{}\"", field.replace('"', "\"\""))
}

/// A table of texts.
pub(crate) struct Texts {
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Texts {
    pub(crate) fn read(path: &Path) -> Texts {
        let mut records = split(&std::fs::read_to_string(path).unwrap());
        let header = records.remove(0);
        assert!(records.iter().all(|record| record.len() == header.len()), "ragged");
        Texts { header, rows: records }
    }

    pub(crate) fn column(&self, name: &str) -> Vec<&str> {
        let index = self.header.iter().position(|column| column == name).unwrap_or_else(|| panic!("no column {name}"));
        self.rows.iter().map(|row| row[index].as_str()).collect()
    }

    /// The row numbers of each class.
    pub(crate) fn classes(&self, know: &[String]) -> Vec<Vec<usize>> {
        let columns: Vec<Vec<&str>> = know.iter().map(|name| self.column(name)).collect();
        let mut classes: BTreeMap<Vec<&str>, Vec<usize>> = BTreeMap::new();
        for row in 0..self.rows.len() {
            classes.entry(columns.iter().map(|column| column[row]).collect()).or_default().push(row);
        }
        classes.into_values().collect()
    }
}

/// A model with its parameters, as the test wrote it into the policy.
#[derive(Debug, Clone)]
pub(crate) enum Required {
    K(usize),
    Distinct(usize),
    Frequency(f64),
    Entropy(f64),
    Recursive(f64, usize),
    Close(f64),
    /// By the hierarchy that [`path`] gives every value.
    CloseByTree(f64),
    AlphaK(f64, usize),
    /// ε, m, whether relative.
    Near(f64, f64, bool),
    /// δ, l, whether by window.
    Delta(f64, f64, bool),
}

impl Required {
    pub(crate) fn toml(&self) -> String {
        match self {
            Required::K(k) => format!("{{ model = \"k-anonymity\", k = {k} }}"),
            Required::Distinct(l) => format!("{{ model = \"distinct-l-diversity\", l = {l} }}"),
            Required::Frequency(l) => format!("{{ model = \"frequency-l-diversity\", l = {l} }}"),
            Required::Entropy(l) => format!("{{ model = \"entropy-l-diversity\", l = {l} }}"),
            Required::Recursive(c, l) => format!("{{ model = \"recursive-l-diversity\", c = {c}, l = {l} }}"),
            Required::Close(t) => format!("{{ model = \"t-closeness\", t = {t} }}"),
            Required::CloseByTree(t) => format!("{{ model = \"t-closeness\", t = {t}, distance = \"hierarchical\" }}"),
            Required::AlphaK(alpha, k) => format!("{{ model = \"alpha-k-anonymity\", alpha = {alpha}, k = {k} }}"),
            Required::Near(epsilon, m, relative) => {
                format!("{{ model = \"epsilon-m-anonymity\", epsilon = {epsilon}, m = {m}, relative = {relative} }}")
            }
            Required::Delta(delta, l, true) => format!("{{ model = \"delta-l-diversity\", delta = {delta}, l = {l} }}"),
            Required::Delta(delta, l, false) => {
                format!("{{ model = \"delta-l-diversity\", delta = {delta}, l = {l}, reading = \"pairwise\" }}")
            }
        }
    }

    /// Whether a class holds; `values` are the protected ones of its rows, `wholes` those that it
    /// must be close to.
    ///
    /// It must hold twice: with missing as a value of its own, and among the rows whose value is
    /// known, where there are any.
    pub(crate) fn holds(&self, size: usize, values: &[&str], wholes: &[Vec<&str>]) -> bool {
        let known = |values: &[&'_ str]| values.iter().filter(|value| !value.is_empty()).count();
        let of_known: Vec<&str> = values.iter().copied().filter(|value| !value.is_empty()).collect();
        let some_missing = wholes.iter().any(|whole| known(whole) < whole.len()) || of_known.len() < values.len();
        if matches!(self, Required::K(_)) || !some_missing || of_known.is_empty() {
            return self.holds_once(size, values, wholes);
        }
        let wholes_known: Vec<Vec<&str>> =
            wholes.iter().map(|whole| whole.iter().copied().filter(|value| !value.is_empty()).collect()).collect();
        self.holds_once(size, values, wholes) && self.holds_once(of_known.len(), &of_known, &wholes_known)
    }

    fn holds_once(&self, size: usize, values: &[&str], wholes: &[Vec<&str>]) -> bool {
        const SLACK: f64 = 1e-9;
        let mut counts: Vec<usize> =
            shares(values).into_values().map(|share| (share * size as f64).round() as usize).collect();
        counts.sort_by(|a, b| b.cmp(a));
        let most = counts.first().copied().unwrap_or(0) as f64;
        match self {
            Required::K(k) => size >= *k,
            Required::Distinct(l) => counts.len() >= *l,
            Required::Frequency(l) => most * l <= size as f64 + SLACK,
            Required::Entropy(l) => {
                let share = |count: &usize| *count as f64 / size as f64;
                counts.iter().map(|count| -share(count) * share(count).ln()).sum::<f64>() >= l.ln() - SLACK
            }
            Required::Recursive(c, l) => most < c * counts.iter().skip(l - 1).sum::<usize>() as f64 - SLACK,
            Required::AlphaK(alpha, k) => size >= *k && most <= alpha * size as f64 + SLACK,
            Required::Near(epsilon, m, relative) => {
                let reach = |x: f64| if *relative { epsilon * x.abs() } else { *epsilon };
                largest_neighborhood(values, |x, y| (y - x).abs() <= reach(x)) * m <= size as f64 + SLACK
            }
            Required::Delta(delta, l, window) => {
                let from = if *window { 0.0 } else { -2.0 * delta };
                largest_neighborhood(values, |x, y| (from..=2.0 * delta).contains(&(y - x))) * l <= size as f64 + SLACK
            }
            Required::Close(t) => wholes.iter().all(|whole| distance(values, whole) <= t + SLACK),
            Required::CloseByTree(t) => wholes.iter().all(|whole| distance_by_tree(values, whole) <= t + SLACK),
        }
    }
}

/// The most values close to one of them; missing ones are close to one another.
fn largest_neighborhood(values: &[&str], close: impl Fn(f64, f64) -> bool) -> f64 {
    let near = |one: &str, other: &str| match (one.parse(), other.parse()) {
        (Ok(x), Ok(y)) => close(x, y),
        _ => one.is_empty() && other.is_empty(),
    };
    let neighborhoods = values.iter().map(|one| values.iter().filter(|other| near(one, other)).count());
    neighborhoods.max().unwrap_or(0) as f64
}

/// The labels above a protected value, from the first level to the top. Values that look alike are
/// close.
pub(crate) fn path(value: &str) -> [String; 3] {
    let digits: String = value.chars().filter(char::is_ascii_digit).collect();
    let number = digits.parse::<usize>().unwrap_or(31);
    [format!("by two {}", number / 2), format!("by eight {}", number / 8), "any".to_owned()]
}

fn surplus<'a>(class: &[&'a str], whole: &[&'a str]) -> BTreeMap<&'a str, f64> {
    let mut surplus = shares(class);
    for (value, share) in shares(whole) {
        *surplus.entry(value).or_insert(0.0) -= share;
    }
    surplus
}

/// All values equally far apart: what must be moved.
fn distance(class: &[&str], whole: &[&str]) -> f64 {
    surplus(class, whole).values().map(|surplus| surplus.abs()).sum::<f64>() / 2.0
}

/// A surplus in one place goes to the nearest place that lacks it: first within a value's own node,
/// then within the node above, at a higher price each time.
fn distance_by_tree(class: &[&str], whole: &[&str]) -> f64 {
    let mut places: Vec<([String; 3], f64)> =
        surplus(class, whole).into_iter().map(|(value, surplus)| (path(value), surplus)).collect();
    let mut price = 0.0;
    for level in 0..3 {
        let nodes: BTreeSet<String> = places.iter().map(|(path, _)| path[level].clone()).collect();
        for node in nodes {
            let here = || places.iter().filter(|(path, _)| path[level] == node).map(|(_, surplus)| *surplus);
            let (plus, minus): (f64, f64) = (here().map(|s| s.max(0.0)).sum(), here().map(|s| (-s).max(0.0)).sum());
            price += plus.min(minus) * (level + 1) as f64 / 3.0;
            let own = places.iter().find(|(path, _)| path[level] == node).unwrap().0.clone();
            places.retain(|(path, _)| path[level] != node);
            places.push((own, plus - minus));
        }
    }
    price
}

fn shares<'a>(values: &[&'a str]) -> BTreeMap<&'a str, f64> {
    let mut shares = BTreeMap::new();
    for value in values {
        *shares.entry(*value).or_insert(0.0) += 1.0 / values.len() as f64;
    }
    shares
}

/// Every key of a JSON value, at any depth.
pub(crate) fn keys(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                into.insert(key.clone());
                keys(value, into);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| keys(value, into)),
        _ => {}
    }
}
