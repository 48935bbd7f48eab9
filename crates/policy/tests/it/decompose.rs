//! Rules over any attributes, for `method = "decompose"`: what they may say, and what is refused
//! with which words.

use hedgerow_policy::{Algorithm, Anonymizer, Method};

use crate::good::{parse, refused};

/// A policy with these rules, which begin on line 7.
fn policy(rules: &str) -> String {
    format!(
        "[source]\npath = \"patients.csv\"\n[attributes]\nage = {{ role = \"quasi\" }}\nrace = {{ role = \"plain\" }}\n\
         zip = {{ role = \"quasi\" }}\n{rules}\n[publish]\nmethod = \"decompose\"\n"
    )
}

const REQUIRE: &str = "require = { model = \"distinct-l-diversity\", l = 2 }";

#[test]
fn an_attribute_may_be_known_here_and_protected_there() {
    let rules = format!(
        "[[rule]]\nknow = [\"age\", \"race\"]\nprotect = \"zip\"\n{REQUIRE}\n\
         [[rule]]\nknow = [\"zip\"]\nprotect = [\"race\", \"age\"]\n{REQUIRE}\n\
         [[rule]]\nprotect = \"zip\"\n{REQUIRE}\n\
         [[dependency]]\nfrom = [\"zip\"]\nto = \"race\"\n[[dependency]]\nfrom = \"zip\"\nto = \"age\""
    );
    let policy = parse(&policy(&rules)).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(policy.publish.method, Method::Decompose);
    assert_eq!(policy.publish.algorithm, Algorithm::Best);
    assert_eq!(policy.rules[1].protected().collect::<Vec<_>>(), ["race", "age"]);
    assert_eq!(policy.rules[2].know, ["age"], "every quasi attribute but the protected one");
    assert_eq!(policy.dependencies.len(), 2);
    assert_eq!((policy.dependencies[1].from[0].as_str(), policy.dependencies[1].to.as_str()), ("zip", "age"));
}

#[test]
fn no_role_need_be_quasi() {
    let text = policy(&format!("[[rule]]\nknow = [\"age\"]\nprotect = \"zip\"\n{REQUIRE}")).replace("quasi", "plain");
    assert!(parse(&text).is_ok());
    let nothing_known = policy(&format!("[[rule]]\nprotect = \"zip\"\n{REQUIRE}")).replace("quasi", "plain");
    refused(&nothing_known, "7:1: rule[1]", "nothing that the attacker knows", "know = [");
}

#[test]
fn rules_without_sides_or_with_the_same_attribute_on_both() {
    let rule = |lines: &str| policy(&format!("[[rule]]\n{lines}\n{REQUIRE}"));
    refused(&rule("know = []\nprotect = \"zip\""), "8:8: rule[1].know", "the list is empty", "omit `know`");
    refused(&rule("know = [\"age\"]\nprotect = []"), "9:11: rule[1].protect", "the list is empty", "protect = ");
    let both = "known and protected in the same rule";
    refused(&rule("know = [\"age\"]\nprotect = [\"zip\", \"age\"]"), "8:9: rule[1].know[1]", both, "remove it");
    refused(
        &rule("know = [\"age\"]\nprotect = [\"zip\", \"zip\"]"),
        "9:19: rule[1].protect[2]",
        "listed twice",
        "once",
    );
    refused(&rule("know = [\"agee\"]\nprotect = \"zip\""), "8:9: rule[1].know[1]", "unknown attribute", "`age`");
    refused(&rule("know = [\"age\"]\nprotect = [\"zpi\"]"), "9:12: rule[1].protect[1]", "unknown attribute", "`zip`");
}

#[test]
fn a_rule_that_protects_nothing_has_no_place_here() {
    let text = policy("[[rule]]\nknow = [\"age\"]\nrequire = { model = \"k-anonymity\", k = 2 }");
    refused(&text, "7:1: rule[1]", "must protect something", "protect = ");
}

#[test]
fn dependencies_are_refused_where_they_mean_nothing() {
    let with = |dependency: &str| {
        policy(&format!("[[rule]]\nknow = [\"age\"]\nprotect = \"zip\"\n{REQUIRE}\n[[dependency]]\n{dependency}"))
    };
    refused(&with("from = [\"age\", \"zip\"]\nto = \"zip\""), "13:6: dependency[1].to", "both sides", "remove it");
    refused(&with("from = []\nto = \"zip\""), "12:8: dependency[1].from", "the list is empty", "from = ");
    refused(&with("from = [\"ag\"]\nto = \"zip\""), "12:9: dependency[1].from[1]", "unknown attribute", "`age`");
    let elsewhere = with("from = [\"age\"]\nto = \"race\"").replace("\"decompose\"", "\"full-domain\"");
    let elsewhere = elsewhere.replace("zip = { role = \"quasi\" }", "zip = { role = \"sensitive\" }");
    assert!(
        hedgerow_policy::Policy::parse(&elsewhere, "policy.toml".as_ref()).is_ok(),
        "dependencies are for every method"
    );
    let accepted = with("from = [\"age\"]\nto = \"race\"\naccept = \"public\"");
    let accepted = hedgerow_policy::Policy::parse(&accepted, "policy.toml".as_ref()).unwrap();
    assert_eq!(accepted.dependencies[0].accept.as_deref(), Some("public"));
    refused(
        &with("from = [\"age\"]\nto = \"race\"\naccept = \" \""),
        "14:10: dependency[1].accept",
        "a reason of 1 to",
        "accept",
    );
    let text = with("from = [\"age\"]\nto = \"race\"\n").replace("decompose\"\n", "decompose\"\nalgorithm = \"bst\"\n");
    refused(&text, "17:13: publish.algorithm", "unknown algorithm", "did you mean `best`?");
}

#[test]
fn how_tables_are_chosen_and_hidden_is_for_decompositions() {
    let text = policy(&format!("[[rule]]\nknow = [\"age\"]\nprotect = \"zip\"\n{REQUIRE}"));
    let with = |lines: &str| text.replace("decompose\"\n", &format!("decompose\"\n{lines}\n"));
    let read = parse(&with("algorithm = \"multi-sensitive\"")).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!((read.publish.algorithm, read.publish.anonymizer), (Algorithm::MultiSensitive, Anonymizer::Anatomy));
    let read = parse(&with("anonymizer = \"mondrian\"")).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(read.publish.anonymizer, Anonymizer::Mondrian);
    refused(&with("anonymizer = \"mondrain\""), "13:14: publish.anonymizer", "unknown anonymizer", "`mondrian`");
    let both = with("algorithm = \"multi-sensitive\"\nanonymizer = \"mondrian\"");
    refused(&both, "14:1: publish.anonymizer", "has buckets", "omit `anonymizer`");
    let elsewhere = with("anonymizer = \"anatomy\"").replace("\"decompose\"", "\"full-domain\"");
    let elsewhere = elsewhere.replace("zip = { role = \"quasi\" }", "zip = { role = \"sensitive\" }");
    refused(&elsewhere, "13:1: publish.anonymizer", "has no meaning for the method full-domain", "omit it");
}
