//! Parts of the report for a page of another program, such as a notebook: HTML that brings its
//! style, which applies to the part alone.

use hedgerow_audit::released_risk;
use serde_json::{Map, Value, json};

use crate::report::{columns, value};
use crate::{Error, Policy, Release};

/// The result of a check, each guarantee in a sentence. `check` is what `hedgerow check --json`
/// prints.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// let policy = hedgerow::Policy::load("../../examples/hospital/policy.toml")?;
/// let release = hedgerow::publish(&policy, folder.path().join("release"))?.open()?;
/// let check = serde_json::to_value(release.check()?)?;
/// assert!(hedgerow::part::of_check(&check).contains("finds at least k rows"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn of_check(check: &Value) -> String {
    hedgerow_report::part::guarantees(check)
}

/// Guarantees as a manifest claims them: what it has under `guarantees`.
pub fn of_claims(claims: &Value) -> String {
    hedgerow_report::part::claims(claims)
}

/// The findings about each adversary. `audited` is what `hedgerow audit --json` prints.
pub fn of_audit(audited: &Value) -> String {
    hedgerow_report::part::adversaries(audited)
}

/// A release: its guarantees, recomputed from its tables, and its columns.
pub fn of_release(release: &Release) -> Result<String, Error> {
    let inner = release.inner();
    let mut part = Map::new();
    part.insert("name".to_owned(), json!(release.method()));
    part.insert("tables".to_owned(), value(&released_risk(inner)?)?);
    match inner.manifest() {
        Some(manifest) => {
            part.insert("rows".to_owned(), value(&manifest.hedgerow.rows)?);
            part.insert("columns".to_owned(), columns(manifest));
            part.insert("check".to_owned(), value(&release.check()?)?);
        }
        None => {
            part.insert("rows".to_owned(), json!({ "out": release.rows() }));
        }
    }
    Ok(hedgerow_report::part::release(&Value::Object(part)))
}

/// A policy: its attributes, what its rules require, and its text.
pub fn of_policy(policy: &Policy) -> String {
    let attributes = policy.attributes().map(|(name, role)| json!({ "name": name, "role": role.name() }));
    let rules = policy.inner().rules.iter();
    let required = rules.flat_map(|rule| {
        rule.require.iter().map(|model| {
            json!({ "model": model.name(), "required": model.required(), "know": rule.know, "protect": rule.protect })
        })
    });
    hedgerow_report::part::policy(&json!({
        "attributes": attributes.collect::<Vec<_>>(),
        "guarantees": required.collect::<Vec<_>>(),
        "method": policy.method().name(),
        "text": policy.to_toml(),
    }))
}
