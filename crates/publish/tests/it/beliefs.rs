//! Changes of belief from their definitions, in floats.

use std::collections::BTreeMap;

use hedgerow_privacy::Change;

/// How far the shares of a class are from the table's; `values` are those that beliefs are about.
pub(crate) fn belief_change(
    change: Change,
    values: Option<&[String]>,
    class: &BTreeMap<String, usize>,
    table: &BTreeMap<String, usize>,
) -> f64 {
    let share = |counts: &BTreeMap<String, usize>, value: &String| {
        counts.get(value).copied().unwrap_or(0) as f64 / counts.values().sum::<usize>() as f64
    };
    let named = table.keys().filter(|value| values.is_none_or(|values| values.contains(value)));
    let mut shares: Vec<(f64, f64)> = named.map(|value| (share(class, value), share(table, value))).collect();
    // What is not named counts as one value, where a distance looks at all of them.
    if matches!(change, Change::Variation | Change::Divergence) {
        let (p, q) = shares.iter().fold((1.0, 1.0), |(p, q), (own, whole)| (p - own, q - whole));
        shares.push((f64::max(p, 0.0), f64::max(q, 0.0)));
    }
    let apart = |&(p, q): &(f64, f64)| f64::abs(p - q);
    match change {
        Change::Variation => shares.iter().map(apart).sum::<f64>() / 2.0,
        Change::Largest => shares.iter().map(apart).fold(0.0, f64::max),
        Change::Relative => shares.iter().map(|pair| apart(pair) / pair.1).fold(0.0, f64::max),
        Change::Divergence => shares.iter().filter(|(p, _)| *p > 1e-9).map(|(p, q)| p * (p / q).ln()).sum(),
    }
}
