//! The meaning of each guarantee, in a sentence and in symbols.

use std::borrow::Borrow;

use hedgerow_privacy::{KnownRows, ModelName};

use crate::facts::GuaranteeFacts;

/// A guarantee for a reader who knows no model by name. `stated` says that what the attacker knows
/// was stated before.
pub(crate) fn sentence(claim: &GuaranteeFacts, stated: bool) -> String {
    let know = if stated { "these attributes".to_owned() } else { list(&claim.know) };
    let protect = claim.protected();
    let (whom, rows) = match claim.rows {
        Some(KnownRows::All) => ("every row of a unit", "units"),
        Some(KnownRows::One) => ("one row of a unit", "units"),
        None => ("a person", "rows"),
    };
    let who = format!("An attacker who knows {know} of {whom}");
    let sentence = match claim.known_model() {
        None => format!("{} holds against an attacker who knows {know}.", claim.model),
        Some(ModelName::KAnonymity) => format!("{who} finds at least k {rows} that match."),
        Some(ModelName::DistinctLDiversity) => format!("{who} is left with at least l different values of {protect}."),
        Some(ModelName::FrequencyLDiversity) => {
            format!("{who} finds no value of {protect} in more than one l-th of the {rows} that match.")
        }
        Some(ModelName::EntropyLDiversity) => {
            format!("{who} finds values of {protect} at least as evenly spread as l equally frequent ones.")
        }
        Some(ModelName::RecursiveLDiversity) => {
            format!(
                "{who} finds the most frequent value of {protect} less than c times as often as the rarer ones together."
            )
        }
        Some(ModelName::TCloseness) => {
            format!("{who} finds {protect} distributed as in the whole table, but for a distance of at most t.")
        }
        Some(ModelName::AlphaKAnonymity) => {
            format!(
                "{who} finds at least k {rows} that match, and no value of {protect} in more than the share α of them."
            )
        }
        Some(ModelName::EpsilonMAnonymity) => {
            format!("{who} finds at most one m-th of the {rows} that match with {protect} within ε of any one of them.")
        }
        Some(ModelName::DeltaLDiversity) => {
            format!(
                "{who} finds at most one l-th of the {rows} that match with {protect} in any interval of length 2δ."
            )
        }
        Some(ModelName::EpsilonClone) => {
            format!(
                "{who} finds every value of {protect} about as often as in the whole table, so that an unseen release excludes next to nothing."
            )
        }
        Some(ModelName::CrossReleaseLDiversity) => {
            // The sets of values say nothing of an attacker who knows the sizes of joint cells.
            let joint = match claim.requires("joint") {
                true => "The known shares of people in several classes at once are counted in.",
                false => "Who also knows how many people are in several classes at once may exclude more.",
            };
            format!(
                "{who} is left with at least l values of {protect} after combining this release with the earlier ones. {joint}"
            )
        }
        Some(ModelName::RhoBreach) => {
            format!(
                "{who} finds no value of {protect} that at most the share ρ₁ of the whole table has in the share ρ₂ of the {rows} that match, or more."
            )
        }
        Some(ModelName::BeliefChange) => {
            format!("{who} changes what the whole table says of {protect} by at most b.")
        }
    };
    let sentence = match conditions(claim, protect, rows) {
        Some(conditions) => format!("{sentence} {conditions}"),
        None => sentence,
    };
    match claim.consistent {
        true => format!(
            "{sentence} So it is for an attacker who also knows which combinations of values do not occur, and excludes the rows that have one."
        ),
        false => sentence,
    }
}

/// Which matches a guarantee with conditions is about.
fn conditions(claim: &GuaranteeFacts, protect: &str, rows: &str) -> Option<String> {
    let known = claim.is_about_some.then(|| "what is known may be one of the values listed under where".to_owned());
    let having = claim.requires("having").then(|| format!("one of the values listed under having is their {protect}"));
    let below = claim.requires("below").then(|| format!("fewer {rows} match than below says"));
    let all: Vec<String> = known.into_iter().chain(having).chain(below).collect();
    (!all.is_empty()).then(|| format!("This is required only where {}.", all.join(" and ")))
}

/// The same in symbols: C is a class, p the share of a value in it, q in the table.
pub(crate) fn symbols(model: ModelName) -> &'static str {
    match model {
        ModelName::KAnonymity => "|C| ≥ k",
        ModelName::DistinctLDiversity => "|{s ∈ C}| ≥ l",
        ModelName::FrequencyLDiversity => "max p(s) ≤ 1/l",
        ModelName::EntropyLDiversity => "H(p) ≥ log l",
        ModelName::RecursiveLDiversity => "r₁ < c·(r_l + … + r_m)",
        ModelName::TCloseness => "EMD(p, q) ≤ t",
        ModelName::AlphaKAnonymity => "|C| ≥ k, max p(s) ≤ α",
        ModelName::EpsilonMAnonymity => "p([s−ε, s+ε]) ≤ 1/m",
        ModelName::DeltaLDiversity => "max p([x, x+2δ]) ≤ 1/l",
        ModelName::EpsilonClone => "p(s) ≈ q(s) within ε",
        ModelName::CrossReleaseLDiversity => "|⋂ {s ∈ Cᵢ}| ≥ l",
        ModelName::RhoBreach => "q(s) ≤ ρ₁ ⇒ p(s) < ρ₂",
        ModelName::BeliefChange => "δ(q, p) ≤ b",
    }
}

/// Names in a row: `a, b and c`.
pub(crate) fn list<N: Borrow<str>>(names: &[N]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [one] => one.borrow().to_owned(),
        [first @ .., last] => format!("{} and {}", first.join(", "), last.borrow()),
    }
}

/// The same where there may be many: the first ones, and how many others there are.
pub(crate) fn short_list<N: Borrow<str>>(names: &[N]) -> String {
    const NAMED_MAX: usize = 4;
    match names.len().checked_sub(NAMED_MAX - 1) {
        Some(others) if names.len() > NAMED_MAX => {
            format!("{} and {others} other columns", names[..NAMED_MAX - 1].join(", "))
        }
        _ => list(names),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::ModelParameter;

    #[test]
    fn of_many_names_the_first_are_listed() {
        assert_eq!(short_list(&["a", "b", "c", "d"]), "a, b, c and d");
        assert_eq!(short_list(&["a", "b", "c", "d", "e"]), "a, b, c and 2 other columns");
    }

    #[test]
    fn every_model_has_a_sentence_and_symbols() {
        for model in ModelName::ALL {
            let claim = claim(model);
            let said = sentence(&claim, false);
            assert!(said.starts_with("An attacker who knows age and zip of a person"), "{said}");
            assert!(sentence(&claim, true).starts_with("An attacker who knows these attributes"));
            assert!(!symbols(model).is_empty(), "{model}");
        }
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
        let unknown = GuaranteeFacts { model: "wishful".to_owned(), ..claim(ModelName::KAnonymity) };
        assert!(sentence(&unknown, false).starts_with("wishful holds"));
    }

    #[test]
    fn conditions_are_named() {
        let having = ("having".to_owned(), ModelParameter::List(vec!["HIV".to_owned()]));
        let below = ("below".to_owned(), ModelParameter::Number(5.into()));
        let claim = GuaranteeFacts { required: vec![having, below], ..claim(ModelName::DistinctLDiversity) };
        let said = sentence(&claim, false);
        assert!(
            said.contains("only where one of the values listed under having is their disease and fewer rows"),
            "{said}"
        );
        let units = GuaranteeFacts { rows: Some(KnownRows::One), is_about_some: true, consistent: true, ..claim };
        let said = sentence(&units, false);
        for expected in ["one row of a unit", "listed under where", "fewer units match", "which combinations"] {
            assert!(said.contains(expected), "{expected}: {said}");
        }
    }

    fn claim(model: ModelName) -> GuaranteeFacts {
        let know = ["age", "zip"].map(str::to_owned).to_vec();
        let protect = Some("disease".to_owned());
        GuaranteeFacts { model: model.to_string(), know, protect, ..GuaranteeFacts::default() }
    }
}
