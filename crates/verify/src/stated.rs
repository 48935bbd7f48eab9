//! The statements of a manifest beside guarantees and counts: losses, what a cloned release
//! promises, hierarchies. The gate writes what it computes here from the tables as they were read
//! back, and the check computes it again: a number that a reader cannot compute is not stated.

use hedgerow_privacy::Distance;
use hedgerow_release::manifest::{Claim, Manifest, Promise};
use hedgerow_release::{Release, ReleaseTables};
use serde_json::{Map, Value, json};

use crate::check::Checked;
use crate::kinds::cloning;
use crate::related;

/// Completes a manifest by what follows from its tables.
pub(crate) fn state(promise: &mut Promise, release: &Release, checked: &Checked) {
    promise.loss = losses(promise, release.tables(), checked);
    promise.cloning = match release.tables() {
        ReleaseTables::Cloned(tables) => cloning(tables, promise.rows),
        _ => Map::new(),
    };
    related::state(promise, release);
}

/// Where a manifest states something else than what follows from its tables.
pub(crate) fn contradictions(manifest: &Manifest, release: &Release, checked: &Checked) -> Vec<String> {
    let stated = &manifest.hedgerow;
    let mut found = stated.clone();
    state(&mut found, release, checked);
    let mut contradictions = differences("loss", &stated.loss, &found.loss);
    contradictions.extend(differences("cloning", &stated.cloning, &found.cloning));
    contradictions.extend(related::contradictions(stated, release));
    contradictions.extend(other_hierarchies(stated, release));
    contradictions
}

/// Losses over the sizes of classes: rows that look like each row, and how much larger classes are
/// than they have to be. Others compare with the source.
fn losses(promise: &Promise, tables: &ReleaseTables, checked: &Checked) -> Map<String, Value> {
    let mut losses = Map::new();
    if matches!(tables, ReleaseTables::Decomposed(_)) {
        return losses;
    }
    let suppressed = u128::from(promise.rows.source) * u128::from(promise.rows.suppressed);
    losses.insert("discernibility".to_owned(), json!((checked.squares + suppressed) as f64));
    if !matches!(tables, ReleaseTables::Cloned(_)) {
        let k = |claim: &Claim| claim.required.get("k").and_then(Value::as_u64);
        let k = checked.claims.iter().filter_map(k).max().unwrap_or(1).max(1);
        let mean = checked.rows as f64 / checked.classes.count.max(1) as f64;
        losses.insert("average-class".to_owned(), json!((mean / k as f64 * 1e12).round() / 1e12));
    }
    losses
}

/// A hierarchy is stated of each attribute that a guarantee compares by hierarchy, with a path for
/// every released value and no other.
fn other_hierarchies(promise: &Promise, release: &Release) -> Vec<String> {
    let by_hierarchy =
        |claim: &&Claim| claim.required.get("distance").and_then(Value::as_str) == Some(Distance::Hierarchical.name());
    let compared: Vec<&String> =
        promise.guarantees.iter().filter(by_hierarchy).filter_map(|claim| claim.protect.as_ref()).collect();
    let mut contradictions = Vec::new();
    for (name, paths) in &promise.hierarchies {
        let domain = release.domain(name).filter(|_| compared.contains(&name));
        let Some(domain) = domain else {
            contradictions.push(format!("the manifest states a hierarchy of `{name}`, which no guarantee needs"));
            continue;
        };
        let values = paths.as_array().into_iter().flatten().filter_map(|path| path.get(0)?.as_str());
        let foreign = values.filter(|value| domain.code_of(value).is_none() && !value.is_empty()).count();
        if foreign > 0 {
            contradictions.push(format!("the hierarchy of `{name}` has {foreign} values that are not released"));
        }
    }
    contradictions
}

/// The keys of an object whose values differ, in words.
pub(crate) fn differences(object: &str, stated: &Map<String, Value>, found: &Map<String, Value>) -> Vec<String> {
    let mut contradictions = Vec::new();
    for (key, value) in found {
        match stated.get(key) {
            None => contradictions.push(format!("the manifest lacks `{key}` in `{object}`")),
            Some(claimed) if !is_same(claimed, value) => contradictions.push(match value {
                Value::Number(_) | Value::Null => {
                    format!("the manifest states {key} = {claimed} in `{object}`, the tables show {value}")
                }
                _ => format!("the manifest states another `{key}` in `{object}` than follows from the tables"),
            }),
            Some(_) => {}
        }
    }
    for key in stated.keys().filter(|key| !found.contains_key(*key)) {
        contradictions.push(format!("the manifest states `{key}` in `{object}`, which cannot be recomputed"));
    }
    contradictions
}

/// Numbers have been through decimal digits and back, which may cost them their last bit.
fn is_same(stated: &Value, found: &Value) -> bool {
    match (stated, found) {
        (Value::Number(stated), Value::Number(found)) => {
            let (stated, found) = (stated.as_f64().unwrap_or(f64::NAN), found.as_f64().unwrap_or(f64::NAN));
            (stated - found).abs() <= 1e-9 * found.abs().max(1.0)
        }
        (Value::Array(stated), Value::Array(found)) => {
            stated.len() == found.len() && stated.iter().zip(found).all(|(stated, found)| is_same(stated, found))
        }
        (Value::Object(stated), Value::Object(found)) => {
            let same = |(key, found): (&String, &Value)| stated.get(key).is_some_and(|stated| is_same(stated, found));
            stated.len() == found.len() && found.iter().all(same)
        }
        (stated, found) => stated == found,
    }
}
