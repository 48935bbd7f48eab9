//! Requirements, judged by their definitions for people or rows with one value each.

use std::collections::{BTreeMap, BTreeSet};

/// Entropies and shares are compared with this much to spare.
const SLACK: f64 = 1e-9;

/// A requirement, with exact parameters: `l` of shares and `t` are in hundredths.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Want {
    K(usize),
    Distinct(usize),
    Frequency(usize),
    Entropy(usize),
    Recursive { c: usize, l: usize },
    Close(usize),
    Alpha { alpha: usize, k: usize, values: Option<&'static str> },
    Epsilon { epsilon: i64, m: usize },
    Delta { delta: i64, l: usize },
}

pub(super) fn hundredths(number: usize) -> String {
    format!("{}.{:02}", number / 100, number % 100)
}

impl Want {
    pub(super) fn text(&self) -> String {
        let inside = match self {
            Want::K(k) => format!("\"k-anonymity\", k = {k}"),
            Want::Distinct(l) => format!("\"distinct-l-diversity\", l = {l}"),
            Want::Frequency(l) => format!("\"frequency-l-diversity\", l = {}", hundredths(*l)),
            Want::Entropy(l) => format!("\"entropy-l-diversity\", l = {}", hundredths(*l)),
            Want::Recursive { c, l } => format!("\"recursive-l-diversity\", c = {}, l = {l}", hundredths(*c)),
            Want::Close(t) => format!("\"t-closeness\", t = {}", hundredths(*t)),
            Want::Alpha { alpha, k, values } => {
                let values = values.map_or_else(String::new, |value| format!(", values = [\"{value}\"]"));
                format!("\"alpha-k-anonymity\", alpha = {}, k = {k}{values}", hundredths(*alpha))
            }
            Want::Epsilon { epsilon, m } => {
                format!("\"epsilon-m-anonymity\", epsilon = {epsilon}, m = {}", hundredths(*m))
            }
            Want::Delta { delta, l } => format!("\"delta-l-diversity\", delta = {delta}, l = {}", hundredths(*l)),
        };
        format!("{{ model = {inside} }}")
    }

    /// Whether it holds for people or rows with one value each, where an empty text is missing. The
    /// tables are those that closeness compares with.
    pub(super) fn holds(&self, values: &[&str], tables: &[Vec<&str>]) -> bool {
        let n = values.len();
        let counts = counted(values);
        let mut sorted: Vec<usize> = counts.values().copied().collect();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        let numbers = || values.iter().filter_map(|value| value.parse::<i64>().ok()).collect::<Vec<i64>>();
        match self {
            Want::K(k) => n >= *k,
            Want::Distinct(l) => sorted.len() >= *l,
            Want::Frequency(l) => sorted[0] * l <= n * 100,
            Want::Entropy(l) => entropy(&sorted) >= (*l as f64 / 100.0).ln() - SLACK,
            Want::Recursive { c, l } => sorted[0] * 100 < c * sorted.iter().skip(l - 1).sum::<usize>(),
            Want::Close(t) => tables.iter().all(|table| distance(values, table) <= *t as f64 / 100.0 + SLACK),
            Want::Alpha { alpha, k, values: None } => n >= *k && sorted[0] * 100 <= alpha * n,
            Want::Alpha { alpha, k, values: Some(value) } => {
                n >= *k && counts.get(value).copied().unwrap_or(0) * 100 <= alpha * n
            }
            Want::Epsilon { epsilon, m } => {
                let numbers = numbers();
                let near = |x: &i64| numbers.iter().filter(|y| (*y - x).abs() <= *epsilon).count();
                numbers.iter().all(|x| near(x) * m <= n * 100)
            }
            Want::Delta { delta, l } => {
                let numbers = numbers();
                let inside = |low: &i64| numbers.iter().filter(|y| (*low..=low + 2 * delta).contains(y)).count();
                numbers.iter().all(|low| inside(low) * l <= n * 100)
            }
        }
    }

    /// The name and the value of what was achieved, where a single number says it; and whether more
    /// is stronger.
    pub(super) fn strength(&self, values: &[&str], tables: &[Vec<&str>]) -> Option<(&'static str, f64, bool)> {
        let counts = counted(values);
        let (n, most) = (values.len() as f64, counts.values().copied().max().unwrap_or(0) as f64);
        match self {
            Want::K(_) => Some(("k", n, true)),
            Want::Distinct(_) => Some(("l", counts.len() as f64, true)),
            Want::Frequency(_) => Some(("l", n / most, true)),
            Want::Entropy(_) => Some(("l", entropy(&counts.values().copied().collect::<Vec<_>>()).exp(), true)),
            Want::Close(_) => {
                let farthest = tables.iter().map(|table| distance(values, table)).fold(0.0, f64::max);
                Some(("t", farthest, false))
            }
            Want::Alpha { values: None, .. } => Some(("alpha", most / n, false)),
            _ => None,
        }
    }

    pub(super) fn is_about_values(&self) -> bool {
        !matches!(self, Want::K(_))
    }
}

fn counted<'v>(values: &[&'v str]) -> BTreeMap<&'v str, usize> {
    let mut counts = BTreeMap::new();
    values.iter().for_each(|value| *counts.entry(*value).or_default() += 1);
    counts
}

fn entropy(counts: &[usize]) -> f64 {
    let n = counts.iter().sum::<usize>() as f64;
    counts.iter().map(|&count| count as f64 / n).map(|share| -share * share.ln()).sum()
}

/// The earth mover's distance where all values are equally far apart.
fn distance(values: &[&str], table: &[&str]) -> f64 {
    let (here, whole) = (counted(values), counted(table));
    let share = |counts: &BTreeMap<&str, usize>, value: &str, n: usize| {
        counts.get(value).map_or(0.0, |&count| count as f64 / n as f64)
    };
    let names: BTreeSet<&str> = here.keys().chain(whole.keys()).copied().collect();
    let gains = names.iter().map(|value| share(&here, value, values.len()) - share(&whole, value, table.len()));
    gains.map(|gain| gain.max(0.0)).sum()
}
