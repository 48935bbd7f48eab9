//! What a release may rightly claim and a reader should still not take for protection.

use hedgerow_release::manifest::{Claim, Resource};
use hedgerow_table::InputError;
use serde_json::Value;

/// Claims that every table keeps, and quasi attributes that no other claim takes an attacker to know.
pub fn about_claims(place: &str, claims: &[Claim], quasi: &[String]) -> Vec<InputError> {
    let (idle, asking): (Vec<&Claim>, Vec<&Claim>) = claims.iter().partition(|claim| asks_nothing(claim));
    let mut cautions: Vec<InputError> = Vec::new();
    for claim in idle {
        let parameters = claim.required.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>();
        let problem = format!("{} with {} asks nothing: every table keeps it", claim.model, parameters.join(", "));
        cautions.push(InputError::new(place, problem, "do not take it for protection; require more of it"));
    }
    for name in quasi.iter().filter(|name| asking.iter().all(|claim| !claim.know.contains(name))) {
        let problem = format!("no guarantee takes an attacker to know the quasi attribute `{name}`");
        let hint = "whoever knows it may still single people out: let a rule's `know` name it";
        cautions.push(InputError::new(place, problem, hint));
    }
    cautions
}

/// Columns that a table should not have: a release holds no identifiers.
pub fn about_identifiers<'a>(place: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<InputError> {
    let caution = |name| {
        let problem = format!("the column `{name}` is an identifier, and is in the table");
        InputError::new(place, problem, "take it out before anybody sees the table")
    };
    names.into_iter().map(caution).collect()
}

/// The columns that a manifest itself calls identifiers.
pub fn identifiers_of(resources: &[Resource]) -> impl Iterator<Item = &str> {
    let fields = resources.iter().flat_map(|resource| &resource.schema.fields);
    fields.filter(|field| field.role.as_deref() == Some("identifier")).map(|field| field.name.as_str())
}

/// Whether a claim's parameters are such that no class could fail it.
fn asks_nothing(claim: &Claim) -> bool {
    let number = |name: &str| claim.required.get(name).and_then(Value::as_f64);
    let at_most_one = |name: &str| number(name).is_some_and(|value| value <= 1.0);
    let at_least_one = |name: &str| number(name).is_some_and(|value| value >= 1.0);
    match claim.model.as_str() {
        "k-anonymity" => at_most_one("k"),
        // The most frequent value is less than c times all rows.
        "recursive-l-diversity" => at_most_one("l") && number("c").is_some_and(|c| c > 1.0),
        "t-closeness" => at_least_one("t"),
        "alpha-k-anonymity" => at_least_one("alpha") && at_most_one("k"),
        "epsilon-m-anonymity" => at_most_one("m"),
        model => model.ends_with("-l-diversity") && at_most_one("l"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn claim(model: &str, required: Value, know: &[&str]) -> Claim {
        Claim {
            model: model.to_owned(),
            required: required.as_object().unwrap().clone(),
            achieved: Default::default(),
            know: know.iter().map(|name| (*name).to_owned()).collect(),
            protect: None,
            holds: true,
        }
    }

    #[test]
    fn parameters_that_no_class_can_fail_ask_nothing() {
        for (model, idle, asking) in [
            ("k-anonymity", json!({ "k": 1 }), json!({ "k": 2 })),
            ("distinct-l-diversity", json!({ "l": 1 }), json!({ "l": 2 })),
            ("frequency-l-diversity", json!({ "l": 1.0 }), json!({ "l": 1.1 })),
            ("entropy-l-diversity", json!({ "l": 1 }), json!({ "l": 1.5 })),
            ("recursive-l-diversity", json!({ "c": 1.5, "l": 1 }), json!({ "c": 1, "l": 1 })),
            ("recursive-l-diversity", json!({ "c": 2, "l": 1 }), json!({ "c": 2, "l": 2 })),
            ("t-closeness", json!({ "t": 1 }), json!({ "t": 0.999 })),
            ("alpha-k-anonymity", json!({ "alpha": 1, "k": 1 }), json!({ "alpha": 1, "k": 2 })),
            ("alpha-k-anonymity", json!({ "alpha": 1, "k": 1 }), json!({ "alpha": 0.9, "k": 1 })),
        ] {
            assert!(asks_nothing(&claim(model, idle.clone(), &[])), "{model} {idle}");
            assert!(!asks_nothing(&claim(model, asking.clone(), &[])), "{model} {asking}");
        }
    }

    #[test]
    fn a_quasi_attribute_must_be_known_to_a_claim_that_asks() {
        let quasi = ["age", "zip"].map(str::to_owned);
        let asking = claim("k-anonymity", json!({ "k": 5 }), &["age"]);
        let idle = claim("k-anonymity", json!({ "k": 1 }), &["age", "zip"]);
        let found = about_claims("m", &[asking.clone(), idle], &quasi);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].problem.contains("k = 1 asks nothing") && found[1].problem.contains("`zip`"), "{found:?}");
        let all = claim("k-anonymity", json!({ "k": 2 }), &["age", "zip"]);
        assert_eq!(about_claims("m", &[asking, all], &quasi), []);
    }
}
