//! Models judged over units by their definitions: for the bound that the search judges, and for
//! every choice of one value for each unit.

use std::collections::BTreeMap;

use hedgerow_privacy::Model;

use super::Values;

/// Whether a model holds for units with the values that each may stand for, by the bound that the
/// search judges; and, if so, for every choice.
pub(super) fn holds(model: &Model, units: &[Values], tables: &[Vec<Values>; 2]) -> bool {
    if let Model::Conditional { model, having, below } = model {
        let has = |listed: &Vec<String>| units.iter().flatten().any(|value| listed.contains(value));
        let is_about = below.is_none_or(|below| (units.len() as u64) < below) && having.as_ref().is_none_or(has);
        return !is_about || holds(model, units, tables);
    }
    let known = |units: &[Values]| -> Vec<Values> {
        let known = units.iter().map(|values| values.iter().filter(|value| !value.is_empty()).cloned().collect());
        known.filter(|values: &Values| !values.is_empty()).collect()
    };
    let (known_units, known_tables) = (known(units), tables.each_ref().map(|table| known(table)));
    let twice = !matches!(model, Model::KAnonymity { .. }) && !known_units.is_empty();
    let bounded = bound_holds(model, units, tables) && (!twice || bound_holds(model, &known_units, &known_tables));
    let chosen = |units: &[Values], tables: &[Vec<Values>; 2]| {
        choices(units).iter().all(|choice| choice_holds(model, choice, tables))
    };
    if bounded {
        assert!(chosen(units, tables), "{model:?} lets {units:?} pass");
        assert!(!twice || chosen(&known_units, &known_tables), "{model:?} lets the known of {units:?} pass");
    } else if units.iter().all(|values| values.len() == 1) {
        let holds = chosen(units, tables) && (!twice || chosen(&known_units, &known_tables));
        assert!(!holds, "{model:?} fails {units:?}, of which each has one value");
    }
    bounded
}

fn choices(units: &[Values]) -> Vec<Vec<&str>> {
    let mut choices: Vec<Vec<&str>> = vec![Vec::new()];
    for values in units {
        let extended = choices.iter().flat_map(|choice| {
            values.iter().map(move |value| choice.iter().copied().chain([value.as_str()]).collect::<Vec<_>>())
        });
        choices = extended.collect();
    }
    choices
}

const SLACK: f64 = 1e-9;

fn shares_hold(model: &Model, counts: &[usize], n: usize) -> bool {
    let mut sorted: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let n = n as f64;
    match model {
        Model::KAnonymity { k } => n >= *k as f64,
        Model::DistinctLDiversity { l } => sorted.len() as u64 >= *l,
        Model::FrequencyLDiversity { l } => sorted[0] * l.as_f64() <= n + SLACK,
        Model::EntropyLDiversity { l } => {
            let entropy: f64 = sorted.iter().map(|count| -(count / n) * (count / n).ln()).sum();
            entropy >= l.as_f64().ln() - SLACK
        }
        Model::RecursiveLDiversity { c, l } => {
            sorted[0] < c.as_f64() * sorted.iter().skip(*l as usize - 1).sum::<f64>() - SLACK
        }
        Model::AlphaKAnonymity { alpha, k, .. } => n >= *k as f64 && sorted[0] <= alpha.as_f64() * n + SLACK,
        other => panic!("{other:?} was not drawn"),
    }
}

fn counted<'v>(values: impl Iterator<Item = &'v str>) -> BTreeMap<&'v str, usize> {
    let mut counts = BTreeMap::new();
    values.for_each(|value| *counts.entry(value).or_default() += 1);
    counts
}

fn choice_holds(model: &Model, choice: &[&str], tables: &[Vec<Values>; 2]) -> bool {
    let counts = counted(choice.iter().copied());
    match model {
        Model::TCloseness { t, .. } => tables.iter().all(|table| {
            let whole = counted(table.iter().flatten().map(String::as_str));
            let share = |counts: &BTreeMap<&str, usize>, value: &str, n: usize| {
                counts.get(value).map_or(0.0, |&count| count as f64 / n as f64)
            };
            let gains =
                whole.keys().map(|value| share(&counts, value, choice.len()) - share(&whole, value, table.len()));
            gains.map(|gain| gain.max(0.0)).sum::<f64>() <= t.as_f64() + SLACK
        }),
        Model::RhoBreach { prior, posterior, .. } => tables.iter().all(|table| {
            let whole = counted(table.iter().flatten().map(String::as_str));
            counts.iter().all(|(value, &count)| {
                let rare = whole[value] as f64 <= prior.as_f64() * table.len() as f64 + SLACK;
                !rare || (count as f64) < posterior.as_f64() * choice.len() as f64 - SLACK
            })
        }),
        Model::AlphaKAnonymity { alpha, k, values: Some(values) } => {
            let limited = values.iter().filter_map(|value| counts.get(value.as_str()));
            let most = limited.max().copied().unwrap_or(0);
            choice.len() as u64 >= *k && most as f64 <= alpha.as_f64() * choice.len() as f64 + SLACK
        }
        _ => shares_hold(model, &counts.values().copied().collect::<Vec<_>>(), choice.len()),
    }
}

/// By how many units j values cover at most: those that have one of the j most frequent values, or
/// all with several values and those that have one of j alone.
fn bound_holds(model: &Model, units: &[Values], tables: &[Vec<Values>; 2]) -> bool {
    let n = units.len();
    let had = counted(units.iter().flatten().map(String::as_str));
    let named = matches!(
        model,
        Model::TCloseness { .. } | Model::RhoBreach { .. } | Model::AlphaKAnonymity { values: Some(_), .. }
    );
    if named && units.iter().all(|values| values.len() == 1) {
        let choice: Vec<&str> = units.iter().flatten().map(String::as_str).collect();
        return choice_holds(model, &choice, tables);
    }
    if let Model::AlphaKAnonymity { alpha, k, values: Some(values) } = model {
        let most = values.iter().filter_map(|value| had.get(value.as_str())).max().copied().unwrap_or(0);
        return n as u64 >= *k && most as f64 <= alpha.as_f64() * n as f64 + SLACK;
    }
    let single: Vec<&Values> = units.iter().filter(|values| values.len() == 1).collect();
    let alone = counted(single.iter().copied().flatten().map(String::as_str));
    let descending = |counts: &BTreeMap<&str, usize>| {
        let mut sorted: Vec<usize> = had.keys().map(|value| counts.get(value).copied().unwrap_or(0)).collect();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        sorted
    };
    let (had, alone) = (descending(&had), descending(&alone));
    let cover = |j: usize| {
        let several = n - single.len();
        n.min(had[..j].iter().sum()).min(several + alone[..j].iter().sum::<usize>())
    };
    let parts: Vec<usize> = (1..=had.len()).map(|j| cover(j) - if j > 1 { cover(j - 1) } else { 0 }).collect();
    let parts: Vec<usize> = parts.into_iter().filter(|&part| part > 0).collect();
    shares_hold(model, &parts, n)
}
