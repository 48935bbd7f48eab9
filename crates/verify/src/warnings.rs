//! Warnings: claims that are true and that a reader should still not take for protection.

use hedgerow_privacy::Model;
use hedgerow_release::manifest::{Claim, Resource};
use hedgerow_table::InputError;

/// Claims that every table keeps, and quasi attributes that no other claim takes an attacker to
/// know.
pub fn about_claims(place: &str, claims: &[Claim], quasi: &[String]) -> Vec<InputError> {
    let (vacuous, effective): (Vec<&Claim>, Vec<&Claim>) = claims.iter().partition(|claim| is_vacuous(claim));
    let mut warnings: Vec<InputError> = Vec::new();
    for claim in vacuous {
        let parameters = claim.required.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>();
        let problem = format!("{} with {} holds for every table", claim.model, parameters.join(", "));
        let warning = InputError::new(place, problem, "do not take it for protection; require more of it");
        warnings.push(warning.about("vacuous", claim.protect.as_deref(), None));
    }
    for name in quasi.iter().filter(|name| effective.iter().all(|claim| !claim.know.contains(name))) {
        let problem = format!("no rule takes an attacker to know the quasi-identifier `{name}`");
        let hint = "an attacker who knows it may still single people out: name it in a rule's `know`";
        warnings.push(InputError::new(place, problem, hint).about("unguarded", [name], None));
    }
    warnings
}

/// Columns that a table should not have: a release holds no identifiers.
pub fn about_identifiers<'a>(place: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<InputError> {
    let warning = |name| {
        let problem = format!("the column `{name}` is an identifier, and is in the table");
        InputError::new(place, problem, "remove it before the table is handed on").about("identifier", [name], None)
    };
    names.into_iter().map(warning).collect()
}

/// The columns that a manifest itself calls identifiers.
pub fn identifiers_of(resources: &[Resource]) -> impl Iterator<Item = &str> {
    let fields = resources.iter().flat_map(|resource| &resource.schema.fields);
    fields.filter(|field| field.role.as_deref() == Some("identifier")).map(|field| field.name.as_str())
}

/// Whether a claim's parameters are such that no class could fail it.
fn is_vacuous(claim: &Claim) -> bool {
    Model::from_required(&claim.model, &claim.required).is_some_and(|model| model.is_vacuous())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn claim(model: &str, required: Value, know: &[&str]) -> Claim {
        Claim {
            model: model.to_owned(),
            required: required.as_object().unwrap().clone(),
            achieved: Default::default(),
            know: know.iter().map(|name| (*name).to_owned()).collect(),
            protect: None,
            rows: None,
            consistent: false,
            only_where: Default::default(),
            holds: true,
        }
    }

    #[test]
    fn a_quasi_attribute_must_be_known_to_a_claim_that_can_fail() {
        let quasi = ["age", "zip"].map(str::to_owned);
        let effective = claim("k-anonymity", json!({ "k": 5 }), &["age"]);
        let vacuous = claim("k-anonymity", json!({ "k": 1 }), &["age", "zip"]);
        let found = about_claims("m", &[effective.clone(), vacuous], &quasi);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].problem.contains("k = 1 holds for every table") && found[1].problem.contains("`zip`"),
            "{found:?}"
        );
        let all = claim("k-anonymity", json!({ "k": 2 }), &["age", "zip"]);
        assert_eq!(about_claims("m", &[effective, all], &quasi), []);
    }
}
