//! Releases that a gate once let pass, each by its own name.

use std::path::Path;

use hedgerow_audit::finding::Finding;
use hedgerow_audit::{Adversary, AuditOptions, audit};
use hedgerow_policy::Policy;
use hedgerow_publish::catalog::{Catalog, Gate};
use hedgerow_publish::{PublishError, PublishOptions, Published, RowSource, publish};
use hedgerow_release::Release;
use hedgerow_table::NoProgress;

use crate::cloning::scratch;

fn write(folder: &Path, rows: &[[&str; 3]]) {
    let lines: String = rows.iter().map(|row| row.join(",") + "\n").collect();
    std::fs::write(folder.join("people.csv"), format!("a,b,s\n{lines}")).unwrap();
}

/// `quasi` are lines of `[attributes]`.
fn policy(folder: &Path, quasi: &str, rule: &str, method: &str) -> Policy {
    policy_with(folder, quasi, rule, &format!("method = \"{method}\""))
}

/// `how` are lines of `[publish]`.
fn policy_with(folder: &Path, quasi: &str, rule: &str, how: &str) -> Policy {
    let text = format!(
        "[source]\npath = \"people.csv\"\n[attributes]\n{quasi}\ns = {{ role = \"sensitive\" }}\n[[rule]]\n{rule}\n\
         [publish]\n{how}\n"
    );
    Policy::parse(&text, &folder.join("policy.toml")).unwrap_or_else(|errors| panic!("{errors}"))
}

fn made(
    policy: &Policy,
    folder: &Path,
    name: &str,
    levels: &[(&str, u64)],
    gate: Gate,
) -> Result<Published, PublishError> {
    let levels = levels.iter().map(|(name, level)| ((*name).to_owned(), *level)).collect();
    let options = PublishOptions { seed: Some(1), levels, gate, ..PublishOptions::to(folder.join(name)) };
    publish(policy, RowSource::Policy, &options)
}

fn gate(folder: &Path, custodian: Option<&str>) -> Gate {
    Gate { catalog: Some(folder.join("catalog")), custodian: custodian.map(str::to_owned), ..Gate::default() }
}

fn worlds(refused: PublishError) -> Finding {
    let PublishError::Audit { audited, .. } = refused else { panic!("{refused}") };
    audited.findings.into_iter().find(|finding| finding.adversary == Adversary::Worlds).unwrap()
}

const BOTH: &str = "a = { role = \"quasi\", hierarchy = { widths = [2, 4] } }\nb = { role = \"quasi\" }";

/// One release, no other: of the classes that lose least, only two people could fill the first,
/// whose values are both q. The gate examines a single release too, and what is made passes.
#[test]
fn a_single_release_of_overlapping_classes_exposes_nobody() {
    let folder = scratch();
    write(folder.path(), &[["0", "x", "q"], ["2", "x", "p"], ["0", "y", "r"], ["0", "x", "q"]]);
    let rule = "require = { model = \"k-anonymity\", k = 2 }";
    let policy = policy(folder.path(), BOTH, rule, "cluster");
    let released = made(&policy, folder.path(), "new", &[], gate(folder.path(), None)).unwrap();
    assert!(released.losses["ncp"].as_f64().unwrap() > 0.5, "(0, x) twice and the others as (*, *) would lose 0.5");
    let findings = released.audited.unwrap().findings;
    let worlds = findings.iter().find(|finding| finding.adversary == Adversary::Worlds).unwrap();
    assert_eq!((worlds.people, worlds.at_risk, &worlds.details["exact"]), (4, 0, &true.into()));
}

/// The classes of each table have two values or more, and each two classes leave two.
#[test]
fn two_releases_of_five_people_are_refused_for_three_of_them() {
    let folder = scratch();
    write(folder.path(), &[["0", "x", "q"], ["1", "x", "p"], ["2", "x", "q"], ["0", "y", "q"], ["3", "y", "r"]]);
    // By b alone: x q, q, p and y q, r.
    let rule = "protect = \"s\"\nrequire = { model = \"distinct-l-diversity\", l = 2 }";
    let by_b = policy(folder.path(), "b = { role = \"quasi\" }", rule, "full-domain");
    made(&by_b, folder.path(), "by-b", &[("b", 0)], Gate::default()).unwrap();
    Catalog::add(&folder.path().join("catalog"), &folder.path().join("by-b"), None, None, &NoProgress).unwrap();
    let by_a = policy(folder.path(), "a = { role = \"quasi\", hierarchy = { widths = [2, 4] } }", rule, "full-domain");
    let refused = made(&by_a, folder.path(), "by-a", &[("a", 1)], gate(folder.path(), None)).unwrap_err();
    assert_eq!(worlds(refused).people_at_risk, [2, 3, 4]);
}

/// Each class of age beside each class of b leaves both values; every table that fits gives (1, x)
/// r and (1, y) q.
#[test]
fn what_other_cells_need_is_refused_at_the_gate() {
    let folder = scratch();
    let people = [["0", "x", "q"], ["0", "x", "r"], ["1", "y", "q"], ["1", "x", "r"], ["3", "y", "q"], ["3", "y", "r"]];
    write(folder.path(), &people);
    let rule = "protect = \"s\"\nrequire = { model = \"distinct-l-diversity\", l = 2 }";
    let by_a = policy(folder.path(), "a = { role = \"quasi\" }", rule, "full-domain");
    made(&by_a, folder.path(), "by-a", &[("a", 0)], gate(folder.path(), None)).unwrap();
    let by_b = policy(folder.path(), "b = { role = \"quasi\" }", rule, "full-domain");
    let refused = made(&by_b, folder.path(), "by-b", &[("b", 0)], gate(folder.path(), None)).unwrap_err();
    assert_eq!(worlds(refused).people_at_risk, [2, 3]);
}

/// A bucket of three people, two of whom are in a class of the other release: the third has what is
/// left.
#[test]
fn a_bucket_minus_a_class_inside_it_is_refused_at_the_gate() {
    let folder = scratch();
    let people = [["0", "x", "p"], ["1", "x", "q"], ["2", "x", "r"], ["5", "y", "p"], ["6", "y", "q"], ["7", "y", "r"]];
    write(folder.path(), &people);
    let rule = "protect = \"s\"\nrequire = { model = \"distinct-l-diversity\", l = 3 }";
    let buckets = policy(folder.path(), "a = { role = \"quasi\" }", rule, "anatomy");
    made(&buckets, folder.path(), "buckets", &[], gate(folder.path(), None)).unwrap();
    let released = std::fs::read_to_string(folder.path().join("buckets/quasi.csv")).unwrap();
    let bucket = |a: &str| released.lines().find_map(|line| line.strip_prefix(&format!("{a},"))).unwrap().to_owned();
    assert!(bucket("0") == bucket("1") && bucket("1") == bucket("2"), "neighbors share a bucket: {released}");
    let rule = "protect = \"s\"\nrequire = { model = \"distinct-l-diversity\", l = 2 }";
    let classes =
        policy(folder.path(), "a = { role = \"quasi\", hierarchy = { breaks = [[2]] } }", rule, "full-domain");
    let refused = made(&classes, folder.path(), "classes", &[("a", 1)], gate(folder.path(), None)).unwrap_err();
    assert!(worlds(refused).people_at_risk.contains(&2));
}

/// Old: three people in one class. New: two more; who knows who stayed learns that (2, x) has q.
#[test]
fn ones_own_next_release_with_two_people_more_is_refused() {
    let folder = scratch();
    let old = [["0", "x", "p"], ["0", "x", "q"], ["2", "x", "q"]];
    write(folder.path(), &old);
    let rule = "protect = \"s\"\nrequire = { model = \"distinct-l-diversity\", l = 2 }";
    let by_both = policy(folder.path(), BOTH, rule, "full-domain");
    made(&by_both, folder.path(), "old", &[("a", 3), ("b", 0)], gate(folder.path(), Some("us"))).unwrap();
    write(folder.path(), &[old.as_slice(), &[["2", "x", "p"], ["3", "x", "r"]]].concat());
    let by_a = policy(folder.path(), "a = { role = \"quasi\", hierarchy = { widths = [2, 4] } }", rule, "full-domain");
    let refused = made(&by_a, folder.path(), "new", &[("a", 1)], gate(folder.path(), Some("us"))).unwrap_err();
    assert!(worlds(refused).people_at_risk.contains(&2));
    // For other custodians, who stayed is not known.
    assert!(made(&by_a, folder.path(), "new", &[("a", 1)], gate(folder.path(), Some("them"))).is_ok());
}

/// A release of others has the two people of the source and a third, who is left with the q that
/// they cannot have; an attacker who knows that the third is there alone knows it.
#[test]
fn who_is_in_a_release_of_others_alone_is_judged_at_the_gate() {
    let folder = scratch();
    write(folder.path(), &[["0", "x", "q"], ["1", "x", "r"], ["1", "x", "q"]]);
    let rule = "protect = \"s\"\nrequire = { model = \"distinct-l-diversity\", l = 2 }";
    let by_b = policy(folder.path(), "b = { role = \"quasi\" }", rule, "full-domain");
    made(&by_b, folder.path(), "others", &[("b", 0)], Gate::default()).unwrap();
    Catalog::add(&folder.path().join("catalog"), &folder.path().join("others"), None, None, &NoProgress).unwrap();
    write(folder.path(), &[["0", "x", "q"], ["1", "x", "r"]]);
    let by_a = policy(folder.path(), "a = { role = \"quasi\" }", rule, "full-domain");
    let refused = made(&by_a, folder.path(), "new", &[("a", 1)], gate(folder.path(), None)).unwrap_err();
    let worlds = worlds(refused);
    assert_eq!((worlds.at_risk, worlds.people_at_risk.as_slice()), (1, [].as_slice()), "{worlds:?}");
    assert_eq!(worlds.details["gone"]["people"], 1);
}

/// Not everyone is in a release with suppressed rows: its rows are not those of another release.
#[test]
fn a_release_with_suppressed_rows_is_not_joined_with_others() {
    let folder = scratch();
    write(folder.path(), &[["0", "x", "p"], ["0", "x", "q"], ["1", "y", "p"], ["1", "y", "q"], ["5", "z", "p"]]);
    let rule = |k: u32| format!("require = {{ model = \"k-anonymity\", k = {k} }}");
    let whole = policy(folder.path(), "b = { role = \"quasi\" }", &rule(1), "full-domain");
    made(&whole, folder.path(), "whole", &[("b", 0)], Gate::default()).unwrap();
    let how = "method = \"full-domain\"\nsuppression = 0.2";
    let lacking = policy_with(folder.path(), "a = { role = \"quasi\" }", &rule(2), how);
    made(&lacking, folder.path(), "lacking", &[("a", 0)], Gate::default()).unwrap();
    let open = |name: &str| Release::open(&folder.path().join(name), &NoProgress).unwrap();
    let intersection = AuditOptions { adversaries: vec![Adversary::Intersection], ..AuditOptions::default() };
    let found = |names: [&str; 2]| audit(&names.map(open), &intersection).unwrap().findings.remove(0);
    let joined = found(["whole", "whole"]);
    assert!(joined.people == 5 && !joined.notes.iter().any(|note| note.text.contains("suppressed")), "{joined:?}");
    let apart = found(["whole", "lacking"]);
    assert_eq!((apart.people, apart.at_risk), (0, 0), "{apart:?}");
    assert!(apart.notes.iter().any(|note| note.text.contains("lacking were suppressed")), "{apart:?}");
}
