//! Parts of the report for a page of another program, such as a notebook: HTML that brings its
//! style, which applies to the part alone.

use hedgerow_audit::{Adversary, released_risk};
use hedgerow_release::manifest::Claim;
use hedgerow_report::facts::{
    AuditFacts, CheckFacts, ContradictionFacts, ExplanationFacts, FindingFacts, GuaranteeFacts, PolicyFacts,
    ReleaseFacts, RowFacts, WarningFacts,
};
use hedgerow_table::InputError;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::report::document::columns;
use crate::report::facts::{of_adversary, of_claim, of_columns, of_parameters, of_tables};
use crate::{Error, Policy, Release};

/// The result of a check, each guarantee in a sentence. `check` is what `hedgerow check --json`
/// prints.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// let policy = hedgerow::Policy::load("../../examples/hospital/policy.toml")?;
/// let release = hedgerow::publish(&policy, folder.path().join("release"))?.open()?;
/// let check = serde_json::to_value(release.check()?)?;
/// assert!(hedgerow::part::of_check(&check)?.contains("finds at least k rows"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn of_check(check: &Value) -> Result<String, Error> {
    let printed: PrintedCheck = read("check", check)?;
    let warnings = printed.warnings.into_iter();
    Ok(hedgerow_report::part::guarantees(CheckFacts {
        guarantees: printed.guarantees.iter().map(of_claim).collect(),
        contradictions: printed.contradictions,
        unchecked: printed.unchecked,
        warnings: warnings.map(|warning| WarningFacts { message: warning.message }).collect(),
    }))
}

/// Guarantees as a manifest claims them: what it has under `guarantees`.
pub fn of_claims(claims: &Value) -> Result<String, Error> {
    let claims: Vec<Claim> = read("guarantees", claims)?;
    Ok(hedgerow_report::part::claims(claims.iter().map(of_claim).collect()))
}

/// The findings about each adversary. `audited` is what `hedgerow audit --json` prints.
pub fn of_audit(audited: &Value) -> Result<String, Error> {
    let printed: PrintedAudit = read("audit", audited)?;
    let contradictions = printed.contradictions.into_iter();
    let audit = AuditFacts {
        adversaries: printed.adversaries.into_iter().map(PrintedFinding::facts).collect::<Result<_, Error>>()?,
        contradictions: contradictions
            .map(|found| ContradictionFacts { release: found.release, problem: found.problem })
            .collect(),
        assumed: printed.assumed,
    };
    Ok(hedgerow_report::part::adversaries(audit, printed.people_named))
}

/// A release: its guarantees, recomputed from its tables, and its columns.
pub fn of_release(release: &Release) -> Result<String, Error> {
    let inner = release.inner();
    let mut facts = ReleaseFacts {
        name: release.method().to_owned(),
        tables: of_tables(&released_risk(inner)?),
        rows: Some(RowFacts { out: release.rows(), suppressed: None }),
        ..ReleaseFacts::default()
    };
    if let Some(manifest) = inner.manifest() {
        let rows = manifest.hedgerow.rows;
        facts.rows = Some(RowFacts { out: rows.out, suppressed: Some(rows.suppressed) });
        facts.columns = of_columns(&columns(manifest));
        facts.check = Some(crate::report::facts::of_check(&release.check()?));
    }
    Ok(hedgerow_report::part::release(&facts))
}

/// A policy: its attributes, what its rules require, and its text.
pub fn of_policy(policy: &Policy) -> String {
    let rules = policy.inner().rules.iter();
    let required = rules.flat_map(|rule| {
        rule.require.iter().map(|model| GuaranteeFacts {
            model: model.name().to_owned(),
            required: of_parameters(&model.required()),
            know: rule.know.clone(),
            protect: rule.protect.clone(),
            ..GuaranteeFacts::default()
        })
    });
    hedgerow_report::part::policy(&PolicyFacts {
        attributes: policy.attributes().map(|(name, role)| (name.to_owned(), role.name().to_owned())).collect(),
        guarantees: required.collect(),
        method: policy.method().name().to_owned(),
        text: policy.to_toml(),
    })
}

/// The output of a command that was kept as JSON.
fn read<T: DeserializeOwned>(what: &str, json: &Value) -> Result<T, Error> {
    T::deserialize(json).map_err(|error| {
        let hint = "pass what this version of hedgerow wrote, with all of its keys";
        InputError::new(what, format!("cannot be read: {error}"), hint).into()
    })
}

#[derive(Deserialize)]
struct PrintedCheck {
    guarantees: Vec<Claim>,
    #[serde(default)]
    contradictions: Vec<String>,
    #[serde(default)]
    unchecked: Vec<String>,
    warnings: Vec<PrintedWarning>,
}

#[derive(Deserialize)]
struct PrintedWarning {
    message: String,
}

#[derive(Deserialize)]
struct PrintedAudit {
    adversaries: Vec<PrintedFinding>,
    #[serde(default)]
    contradictions: Vec<PrintedContradiction>,
    assumed: Option<String>,
    #[serde(default)]
    people_named: bool,
}

#[derive(Deserialize)]
struct PrintedContradiction {
    release: String,
    problem: String,
}

#[derive(Deserialize)]
struct PrintedFinding {
    name: String,
    releases: Vec<String>,
    protect: Option<String>,
    people: u64,
    at_risk: u64,
    max_confidence: f64,
    effective_k: Option<u64>,
    effective_l: Option<u64>,
    breach: bool,
    #[serde(default)]
    explanations: Vec<PrintedExplanation>,
}

#[derive(Deserialize)]
struct PrintedExplanation {
    people: u64,
    value: String,
    steps: Vec<String>,
    #[serde(default)]
    rows: Vec<u32>,
}

impl PrintedFinding {
    fn facts(self) -> Result<FindingFacts, Error> {
        let adversary: Adversary = self.name.parse().map_err(|error: hedgerow_audit::UnknownAdversary| {
            InputError::new(format!("audit: adversaries: {}", self.name), error.to_string(), "name one of these")
        })?;
        let explanations = self.explanations.into_iter();
        Ok(FindingFacts {
            name: of_adversary(adversary),
            releases: self.releases,
            protect: self.protect,
            people: self.people,
            at_risk: self.at_risk,
            max_confidence: self.max_confidence,
            effective_k: self.effective_k,
            effective_l: self.effective_l,
            breach: self.breach,
            explanations: explanations
                .map(|found| ExplanationFacts {
                    people: found.people,
                    value: found.value,
                    steps: found.steps,
                    rows: found.rows,
                })
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn audit() -> Value {
        json!({ "breach": false, "adversaries": [{
            "name": "linker", "releases": ["a"], "people": 12, "at_risk": 0, "max_confidence": 0.25, "breach": false,
            "effective_l": null, "effective_k": 4,
        }] })
    }

    #[test]
    fn what_was_printed_is_shown() {
        let shown = of_audit(&audit()).unwrap();
        assert!(shown.contains("matches a person") && shown.contains("25.0 %"), "{shown}");
        let claims = json!([{
            "model": "k-anonymity", "required": { "k": 5 }, "achieved": { "k": 7 }, "know": ["age"], "protect": null,
            "holds": true,
        }]);
        assert!(of_claims(&claims).unwrap().contains("An attacker who knows age of a person finds at least k rows"));
        assert!(of_check(&json!({ "guarantees": claims, "warnings": [] })).unwrap().contains("Recomputed"));
    }

    #[test]
    fn a_missing_or_misspelt_key_is_named() {
        let mut misspelt = audit();
        let finding = misspelt["adversaries"][0].as_object_mut().unwrap();
        let people = finding.remove("people").unwrap();
        finding.insert("poeple".to_owned(), people);
        let problem = of_audit(&misspelt).unwrap_err().to_string();
        assert!(problem.contains("missing field `people`"), "{problem}");
        let mut unknown = audit();
        unknown["adversaries"][0]["name"] = json!("spy");
        let problem = of_audit(&unknown).unwrap_err().to_string();
        assert!(problem.contains("spy") && problem.contains("linker"), "{problem}");
    }
}
