//! `method = "clone"`: its keys, what it settles, and what it promises without a rule.

use hedgerow_policy::{Assignment, Method, Policy, RareValues};
use hedgerow_privacy::Model;
use hedgerow_table::Ratio;

use crate::good::{changed, line_refused, parse};

/// The good policy with `method = "clone"` and these lines instead of what only a search
/// understands.
fn cloned(lines: &str) -> String {
    changed(15, &format!("method = \"clone\"\n{lines}")).replace("suppression = 0.02\nloss = \"ncp\"\n", "")
}

fn accepted(text: &str) -> Policy {
    parse(text).unwrap_or_else(|errors| panic!("{errors}"))
}

/// The models that the rules require, in their order.
fn models(policy: &Policy) -> Vec<&Model> {
    policy.rules.iter().flat_map(|rule| &rule.require).collect()
}

#[test]
fn without_keys_k_is_that_of_the_rules_and_every_class_is_a_clone() {
    let policy = accepted(&cloned(""));
    assert_eq!(policy.publish.method, Method::Clone);
    let cloning = &policy.publish.cloning;
    assert_eq!((cloning.k, cloning.lambda, cloning.max_epsilon), (Some(5), None, None));
    assert_eq!((policy.publish.assignment, cloning.rare), (Assignment::Order, RareValues::Keep));
    assert_eq!(models(&policy)[2..], [&Model::EpsilonClone { epsilon: Ratio::integer(1) }]);
    assert_eq!(
        (policy.rules[2].know.as_slice(), policy.rules[2].protect.as_deref()),
        (&["age".to_owned(), "zip".to_owned()][..], Some("disease"))
    );
}

#[test]
fn a_policy_without_rules_is_enough() {
    let text = cloned("max-epsilon = 0.05");
    let (head, rest) = text.split_at(text.find("[[rule]]").unwrap());
    let policy = accepted(&format!("{head}{}", &rest[rest.find("[publish]").unwrap()..]));
    assert_eq!(policy.publish.cloning.k, Some(5), "by default");
    let epsilon = Ratio::from_decimal(0.05).unwrap();
    assert_eq!(models(&policy), [&Model::EpsilonClone { epsilon }]);
}

#[test]
fn keys_are_read_and_a_rule_of_ones_own_is_not_doubled() {
    let policy = accepted(
        &cloned("k = 3\nlambda = 3\nassignment = \"scan\"\nrho = 0.1\nrare = \"suppress\"\nsuppression = 0.3")
            .replace("{ model = \"t-closeness\", t = 0.3 }", "{ model = \"epsilon-clone\", epsilon = 0.2 }"),
    );
    let cloning = &policy.publish.cloning;
    assert_eq!(cloning.k, Some(5), "a rule requires five");
    assert_eq!((cloning.lambda, cloning.rare), (Some(3), RareValues::Suppress));
    assert_eq!(policy.publish.assignment, Assignment::Scan);
    assert_eq!(
        (cloning.rho, cloning.rare_rows),
        (Ratio::from_decimal(0.1).unwrap(), Ratio::from_decimal(0.3).unwrap())
    );
    assert_eq!(models(&policy).len(), 2);
}

#[test]
fn each_method_has_its_own_assignments() {
    let anatomy = |line: &str| cloned(line).replace("method = \"clone\"", "method = \"anatomy\"");
    for (line, expected) in [
        ("", Assignment::Order),
        ("assignment = \"order\"", Assignment::Order),
        ("assignment = \"random\"", Assignment::Random),
    ] {
        assert_eq!(accepted(&anatomy(line)).publish.assignment, expected, "{line}");
    }
    let refused = crate::good::refused;
    let place = "16:14: publish.assignment";
    refused(&anatomy("assignment = \"scan\""), place, "unknown assignment", "`order` and `random`");
    refused(&cloned("assignment = \"random\""), place, "unknown assignment", "`order` and `scan`");
}

#[test]
fn keys_out_of_range_and_out_of_place() {
    let refused = |line: &str, place: &str, problem: &str, hint: &str| {
        crate::good::refused(&cloned(line), place, problem, hint);
    };
    refused("k = 0", "16:5: publish.k", "a whole number from 1", "k = 5");
    refused("k = 2\nlambda = 3", "17:10: publish.lambda", "cannot cover 3 values", "at most k");
    refused("lambda = 0.5", "16:10: publish.lambda", "a whole number", "lambda = 3");
    refused("max-epsilon = 1.5", "16:15: publish.max-epsilon", "from 0 to 1", "max-epsilon = 0.01");
    refused("assignment = \"greedy\"", "16:14: publish.assignment", "unknown assignment", "`order` and `scan`");
    refused("rho = 0", "16:7: publish.rho", "above 0", "rho = 0.2");
    refused("rare = \"drop\"", "16:8: publish.rare", "unknown choice", "`keep` and `suppress`");
    for key in ["k = 5", "lambda = 2", "max-epsilon = 0.1", "assignment = \"order\"", "rho = 0.2", "rare = \"keep\""] {
        let name = key.split(' ').next().unwrap();
        line_refused(15, key, &format!("15:1: publish.{name}"), "no meaning for the method full-domain", "\"clone\"");
    }
    let policy = accepted(&cloned("rho = 0.2\nloss = \"ncp\""));
    let problems: Vec<&str> = policy.warnings.iter().map(|warning| warning.problem.as_str()).collect();
    assert!(problems.iter().any(|problem| problem.contains("nothing is scanned")), "{problems:?}");
    assert!(problems.iter().any(|problem| problem.contains("no lattice is searched")), "{problems:?}");
}
