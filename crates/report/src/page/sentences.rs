//! The meaning of each guarantee, in a sentence and in symbols.

use super::cursor::At;

/// A guarantee for a reader who knows no model by name. `stated` says that what the attacker knows
/// was stated before.
pub(crate) fn sentence(claim: &At<'_>, stated: bool) -> String {
    let know = if stated { "these attributes".to_owned() } else { list(&claim.texts_of("know")) };
    let protect = claim.text_of("protect");
    let (whom, rows) = match claim.text_of("rows") {
        "all" => ("every row of a unit", "units"),
        "one" => ("one row of a unit", "units"),
        _ => ("a person", "rows"),
    };
    let who = format!("An attacker who knows {know} of {whom}");
    let sentence = match claim.text_of("model") {
        "k-anonymity" => format!("{who} finds at least k {rows} that match."),
        "distinct-l-diversity" => format!("{who} is left with at least l different values of {protect}."),
        "frequency-l-diversity" => {
            format!("{who} finds no value of {protect} in more than one l-th of the {rows} that match.")
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
                "{who} finds at least k {rows} that match, and no value of {protect} in more than the share α of them."
            )
        }
        "epsilon-m-anonymity" => {
            format!("{who} finds at most one m-th of the {rows} that match with {protect} within ε of any one of them.")
        }
        "delta-l-diversity" => {
            format!(
                "{who} finds at most one l-th of the {rows} that match with {protect} in any interval of length 2δ."
            )
        }
        "epsilon-clone" => {
            format!(
                "{who} finds every value of {protect} about as often as in the whole table, so that an unseen release excludes next to nothing."
            )
        }
        "cross-release-l-diversity" => {
            // The sets of values say nothing of an attacker who knows the sizes of joint cells.
            let joint = match claim.get("required").is_some_and(|required| required.get("joint").is_some()) {
                true => "The known shares of people in several classes at once are counted in.",
                false => "Who also knows how many people are in several classes at once may exclude more.",
            };
            format!(
                "{who} is left with at least l values of {protect} after combining this release with the earlier ones. {joint}"
            )
        }
        "rho-breach" => {
            format!(
                "{who} finds no value of {protect} that at most the share ρ₁ of the whole table has in the share ρ₂ of the {rows} that match, or more."
            )
        }
        "belief-change" => {
            format!("{who} changes what the whole table says of {protect} by at most b.")
        }
        other => format!("{other} holds against an attacker who knows {know}."),
    };
    let sentence = match conditions(claim, protect, rows) {
        Some(conditions) => format!("{sentence} {conditions}"),
        None => sentence,
    };
    match claim.is("consistent") {
        true => format!(
            "{sentence} So it is for an attacker who also knows which combinations of values do not occur, and excludes the rows that have one."
        ),
        false => sentence,
    }
}

/// Which matches a guarantee with conditions is about.
fn conditions(claim: &At<'_>, protect: &str, rows: &str) -> Option<String> {
    let required = claim.get("required")?;
    let known = claim.get("where").map(|_| "what is known may be one of the values listed under where".to_owned());
    let having = required.get("having").map(|_| format!("one of the values listed under having is their {protect}"));
    let below = required.get("below").map(|_| format!("fewer {rows} match than below says"));
    let all: Vec<String> = known.into_iter().chain(having).chain(below).collect();
    (!all.is_empty()).then(|| format!("This is required only where {}.", all.join(" and ")))
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
        "rho-breach" => "q(s) ≤ ρ₁ ⇒ p(s) < ρ₂",
        "belief-change" => "δ(q, p) ≤ b",
        _ => "",
    }
}

/// The description of each adversary.
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
        "worlds" => "considers every table that fits all releases together",
        "consistency" => "excludes rows with combinations of values that do not occur",
        _ => "",
    }
}

/// The same where there may be many: the first ones, and how many others there are.
pub(crate) fn short_list(names: &[&str]) -> String {
    const NAMED_MAX: usize = 4;
    match names.len().checked_sub(NAMED_MAX - 1) {
        Some(others) if names.len() > NAMED_MAX => {
            format!("{} and {others} other columns", names[..NAMED_MAX - 1].join(", "))
        }
        _ => list(names),
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
    fn of_many_names_the_first_are_listed() {
        assert_eq!(short_list(&["a", "b", "c", "d"]), "a, b, c and d");
        assert_eq!(short_list(&["a", "b", "c", "d", "e"]), "a, b, c and 2 other columns");
    }

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
            "rho-breach",
            "belief-change",
        ];
        for model in models {
            let claim = json!({ "model": model, "know": ["age", "zip"], "protect": "disease" });
            let said = sentence(&At::root(&claim), false);
            assert!(said.starts_with("An attacker who knows age and zip of a person"), "{said}");
            assert!(sentence(&At::root(&claim), true).starts_with("An attacker who knows these attributes"));
            assert!(!symbols(model).is_empty(), "{model}");
        }
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
        let required = json!({ "l": 2, "having": ["HIV"], "below": 5 });
        let claim = json!({ "model": models[1], "know": ["age"], "protect": "disease", "required": required });
        let said = sentence(&At::root(&claim), false);
        assert!(
            said.contains("only where one of the values listed under having is their disease and fewer rows"),
            "{said}"
        );
    }
}
