//! Guarantees whose own numbers cannot be: achieved parameters that contradict the required ones,
//! or that no table has. Most claims are recomputed; what counts units that the tables do not show,
//! or other releases that are not at hand, is judged by this alone.

use hedgerow_privacy::Model;
use hedgerow_release::manifest::{Claim, Manifest};
use hedgerow_release::{JointShare, Release, ReleaseTables};
use hedgerow_table::Domain;
use serde_json::Value;

use crate::release_check::CROSS_RELEASE;

/// Numbers have been through decimal digits and back.
const TOLERANCE: f64 = 1e-9;

/// Of each achieved parameter, whether less of it is worse.
pub(crate) fn is_worse_if_smaller(parameter: &str) -> bool {
    !matches!(parameter, "alpha" | "c" | "t" | "epsilon" | "posterior" | "b")
}

/// Where a guarantee contradicts itself, whatever the tables show.
pub(crate) fn contradictions(manifest: &Manifest, release: &Release) -> Vec<String> {
    let mut found = Vec::new();
    for claim in &manifest.hedgerow.guarantees {
        let mut problems = of_numbers(claim, manifest, release);
        if let ReleaseTables::Cloned(tables) = release.tables() {
            let unknown = claim.know.iter().filter(|name| !tables.attributes.contains(name));
            problems.extend(unknown.map(|name| format!("its attacker knows `{name}`, which has no statistics")));
        }
        if claim.model == CROSS_RELEASE {
            problems.extend(across_releases(claim, release));
        }
        if !claim.holds {
            problems.push("the manifest says that it does not hold".to_owned());
        }
        found.extend(problems.into_iter().map(|problem| format!("{}: {problem}", claim.model)));
    }
    found.dedup();
    found
}

fn of_numbers(claim: &Claim, manifest: &Manifest, release: &Release) -> Vec<String> {
    let mut problems = Vec::new();
    let is_counted = |name: &str| {
        name == "k" || (name == "l" && ["distinct-l-diversity", CROSS_RELEASE].contains(&claim.model.as_str()))
    };
    for (name, stated) in &claim.achieved {
        // How the tables of a decomposed release keep a rule, in words.
        if name == "standing" {
            continue;
        }
        let Some(achieved) = stated.as_f64() else {
            // A ratio by nothing has no number.
            if !stated.is_null() || is_counted(name) {
                problems.push(format!("the manifest states {name} = {stated}, which is not a number"));
            }
            continue;
        };
        let values = claim.protect.as_ref().and_then(|name| release.domain(name)).filter(|_| is_counted(name));
        let most = match (name.as_str(), release.tables()) {
            ("alpha" | "t", _) => 1.0,
            // Counterfeits count in classes, and other tables may be finer than the first.
            (_, ReleaseTables::Cloned(_) | ReleaseTables::Decomposed(_)) => f64::INFINITY,
            ("l", _) if values.is_some() => values.map_or(0, Domain::cardinality) as f64,
            ("k" | "l" | "m", _) => manifest.hedgerow.rows.out as f64,
            _ => f64::INFINITY,
        };
        let least = if is_worse_if_smaller(name) { 1.0 } else { 0.0 };
        let is_whole = !is_counted(name) || stated.is_u64();
        if !is_whole || achieved < least - TOLERANCE || achieved > most + TOLERANCE {
            problems.push(format!("the manifest states {name} = {stated}, which no table has"));
        }
        let is_short = claim.required.get(name).and_then(Value::as_f64).is_some_and(|required| {
            if is_worse_if_smaller(name) { achieved < required - TOLERANCE } else { achieved > required + TOLERANCE }
        });
        if is_short {
            let required = &claim.required[name];
            problems.push(format!("the manifest requires {name} = {required} and states {name} = {stated}"));
        }
    }
    problems
}

/// Contradictions of a guarantee across releases that show without the others.
fn across_releases(claim: &Claim, release: &Release) -> Vec<String> {
    let mut problems = Vec::new();
    let mut check = |holds: bool, problem: &str| {
        if !holds {
            problems.push(problem.to_owned());
        }
    };
    check(Model::from_required(&claim.model, &claim.required).is_some(), "its parameters cannot be read");
    check(claim.achieved.keys().eq(["l"]), "the manifest states other numbers than l");
    let is_released = |name: &String| release.domain(name).is_some();
    let is_about = !claim.know.is_empty() && claim.know.iter().chain(&claim.protect).all(is_released);
    check(is_about && claim.protect.is_some(), "the manifest does not say which released attributes it is about");
    let listed = claim.required.get("releases").and_then(Value::as_array);
    let is_digest = |value: &Value| {
        let hex = value.as_str().and_then(|text| text.strip_prefix("sha256:"));
        hex.is_some_and(|hex| hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    let names_releases = listed.is_some_and(|listed| !listed.is_empty() && listed.iter().all(is_digest));
    check(names_releases, "the manifest does not name the releases that it was judged with");
    let spelled = claim.required.get("values").map(Value::as_object);
    let are_texts = spelled.is_none_or(|texts| texts.is_some_and(|texts| texts.values().all(Value::is_string)));
    check(are_texts, "the manifest says in a way that cannot be read which texts of others mean its values");
    let shares = claim.required.get("joint").map(Value::as_array);
    let is_share = |share: &Value| share.as_str().is_some_and(|share| JointShare::parse(share).is_ok());
    let are_shares = shares.is_none_or(|shares| shares.is_some_and(|shares| shares.iter().all(is_share)));
    check(are_shares, "the manifest states shares of people that cannot be read");
    problems
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_that_contradict_what_is_required_or_that_no_table_has() {
        let table = hedgerow_table::Table::from_texts(&["zip", "ill"], &[vec!["1", "a"], vec!["1", "b"]]);
        let (quasi, sensitive) = (vec!["zip".to_owned()], vec!["ill".to_owned()]);
        let release = Release::of_table("x", table, quasi, sensitive, Default::default()).unwrap();
        let manifest = |claim: serde_json::Value| -> Manifest {
            let promise = json!({"version": "0.1.0", "method": "full-domain", "guarantees": [claim],
                "rows": {"in": 2, "out": 2, "suppressed": 0}, "loss": {},
                "classes": {"count": 1, "min": 2, "max": 2, "mean": 2.0}});
            serde_json::from_value(json!({"name": "x", "resources": [], "hedgerow": promise})).unwrap()
        };
        let digest = format!("sha256:{}", "0a".repeat(32));
        let claim = |model: &str, required: Value, achieved: Value, holds: bool| {
            json!({"model": model, "required": required, "achieved": achieved, "know": ["zip"], "protect": "ill",
                "holds": holds})
        };
        let across = |l: Value| claim(CROSS_RELEASE, json!({"l": 2, "releases": [digest]}), json!({"l": l}), true);
        let honest = [
            claim("k-anonymity", json!({"k": 2}), json!({"k": 2}), true),
            claim("t-closeness", json!({"t": 0.5}), json!({"t": 0.5}), true),
            claim("recursive-l-diversity", json!({"c": 3, "l": 2}), json!({"c": 1, "l": 2}), true),
            claim("entropy-l-diversity", json!({"l": 2}), json!({"l": 1.9999999999999}), true),
            across(json!(2)),
            claim(
                CROSS_RELEASE,
                json!({"l": 2, "releases": [digest], "values": {"alpha": "a"}, "joint": ["P(ill = a | zip = 1) = 1/2"]}),
                json!({"l": 2}),
                true,
            ),
        ];
        for claim in honest {
            assert_eq!(contradictions(&manifest(claim.clone()), &release), [""; 0], "{claim}");
        }
        let impossible = [
            claim("k-anonymity", json!({"k": 1}), json!({"k": 0}), true),
            claim("k-anonymity", json!({"k": 1}), json!({"k": -7}), true),
            claim("k-anonymity", json!({"k": 1}), json!({"k": 1.5}), true),
            claim("k-anonymity", json!({"k": 1}), json!({"k": 3}), true),
            claim("k-anonymity", json!({"k": 2}), json!({"k": 1}), true),
            claim("k-anonymity", json!({"k": 2}), json!({"k": 2}), false),
            claim("k-anonymity", json!({"k": 2}), json!({"k": "2"}), true),
            claim("distinct-l-diversity", json!({"l": 2}), json!({"l": 3}), true),
            claim("t-closeness", json!({"t": 0.5}), json!({"t": 0.6}), true),
            claim("t-closeness", json!({"t": 0.5}), json!({"t": -0.1}), true),
            claim("alpha-k-anonymity", json!({"alpha": 1, "k": 1}), json!({"alpha": 1.1, "k": 1}), true),
            claim("entropy-l-diversity", json!({"l": 1}), json!({"l": 0.5}), true),
            claim("recursive-l-diversity", json!({"c": 1, "l": 2}), json!({"c": 2, "l": 2}), true),
            across(json!(1)),
            across(json!(3)),
            across(json!(-2)),
            across(Value::Null),
            claim(CROSS_RELEASE, json!({"l": 2, "releases": [digest], "values": {"Ann": 3}}), json!({"l": 2}), true),
            claim(CROSS_RELEASE, json!({"l": 2, "releases": [digest], "values": ["Ann"]}), json!({"l": 2}), true),
            claim(
                CROSS_RELEASE,
                json!({"l": 2, "releases": [digest], "joint": ["Ann has the flu"]}),
                json!({"l": 2}),
                true,
            ),
            claim(CROSS_RELEASE, json!({"l": 2}), json!({"l": 2}), true),
            claim(CROSS_RELEASE, json!({"l": 2, "releases": [digest]}), json!({}), true),
            claim(CROSS_RELEASE, json!({"l": 0, "releases": [digest]}), json!({"l": 2}), true),
        ];
        for claim in impossible {
            assert!(!contradictions(&manifest(claim.clone()), &release).is_empty(), "{claim}");
        }
    }
}
