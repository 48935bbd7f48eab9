//! What each guarantee says, in a sentence and in symbols.

use super::cursor::At;

/// A guarantee for a reader who knows no model by name.
pub(crate) fn sentence(claim: &At<'_>) -> String {
    let know = list(&claim.texts_of("know"));
    let protect = claim.text_of("protect");
    let who = format!("Whoever knows {know} of a person");
    match claim.text_of("model") {
        "k-anonymity" => format!("{who} finds at least k rows that match."),
        "distinct-l-diversity" => format!("{who} is left with at least l different values of {protect}."),
        "frequency-l-diversity" => {
            format!("{who} finds no value of {protect} in more than one l-th of the rows that match.")
        }
        "entropy-l-diversity" => {
            format!("{who} finds values of {protect} at least as evenly spread as l equally frequent ones.")
        }
        "recursive-l-diversity" => {
            format!(
                "{who} finds the most frequent value of {protect} less than c times as often as the rarer ones together."
            )
        }
        "t-closeness" => {
            format!("{who} finds {protect} distributed as in the whole table, but for a distance of at most t.")
        }
        "alpha-k-anonymity" => {
            format!(
                "{who} finds at least k rows that match, and no value of {protect} in more than the share α of them."
            )
        }
        "epsilon-m-anonymity" => {
            format!("{who} finds at most one m-th of the rows that match with {protect} within ε of any one of them.")
        }
        "delta-l-diversity" => {
            format!("{who} finds at most one l-th of the rows that match with {protect} in any interval of length 2δ.")
        }
        "epsilon-clone" => {
            format!(
                "{who} finds every value of {protect} about as often as in the whole table, so that an unseen release excludes next to nothing."
            )
        }
        "cross-release-l-diversity" => {
            format!(
                "{who} is left with at least l values of {protect} after combining this release with the earlier ones."
            )
        }
        other => format!("{other} holds for whoever knows {know}."),
    }
}

/// The same in symbols: C is a class, p the share of a value in it, q in the table.
pub(crate) fn symbols(model: &str) -> &'static str {
    match model {
        "k-anonymity" => "|C| ≥ k",
        "distinct-l-diversity" => "|{s ∈ C}| ≥ l",
        "frequency-l-diversity" => "max p(s) ≤ 1/l",
        "entropy-l-diversity" => "H(p) ≥ log l",
        "recursive-l-diversity" => "r₁ < c·(r_l + … + r_m)",
        "t-closeness" => "EMD(p, q) ≤ t",
        "alpha-k-anonymity" => "|C| ≥ k, max p(s) ≤ α",
        "epsilon-m-anonymity" => "p([s−ε, s+ε]) ≤ 1/m",
        "delta-l-diversity" => "max p([x, x+2δ]) ≤ 1/l",
        "epsilon-clone" => "p(s) ≈ q(s) within ε",
        "cross-release-l-diversity" => "|⋂ {s ∈ Cᵢ}| ≥ l",
        _ => "",
    }
}

/// What each adversary does.
pub(crate) fn adversary(name: &str) -> &'static str {
    match name {
        "linker" => "matches a person's quasi-identifiers with released rows",
        "attribute" => "reads the sensitive values of the rows that match",
        "independence" => "combines releases as if their classes were independent",
        "correlation" => "combines two releases and counts the tables that fit both",
        "composition" => "keeps the values that all matching classes share",
        "intersection" => "joins the tables of a release value by value",
        "definetti" => "learns from all buckets which values go together",
        "minimality" => "reasons from why the method generalized so far",
        "difference" => "compares two releases of one custodian",
        _ => "",
    }
}

/// Names in a row: `a, b and c`.
pub(crate) fn list(names: &[&str]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_model_has_a_sentence_and_symbols() {
        let models = [
            "k-anonymity",
            "distinct-l-diversity",
            "frequency-l-diversity",
            "entropy-l-diversity",
            "recursive-l-diversity",
            "t-closeness",
            "alpha-k-anonymity",
            "epsilon-m-anonymity",
            "delta-l-diversity",
            "epsilon-clone",
            "cross-release-l-diversity",
        ];
        for model in models {
            let claim = json!({ "model": model, "know": ["age", "zip"], "protect": "disease" });
            let sentence = sentence(&At::root(&claim));
            assert!(sentence.starts_with("Whoever knows age and zip of a person"), "{sentence}");
            assert!(!symbols(model).is_empty(), "{model}");
        }
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
    }
}
