//! People who left one's own earlier release, and columns of everyone that the list lacks.

use super::*;

fn own<'a>(name: &'a str, classes: &'a ReleasedClasses) -> Released<'a> {
    Released { custodian: Some(0), ..released(name, classes) }
}

fn known(people: &[[&str; 3]]) -> Table {
    table(&["a", "b", "s"], people)
}

/// The two people who stayed have x and y, one each, so that who left has the second x. Those who
/// stayed have two values each.
#[test]
fn who_left_is_exposed_where_those_who_stayed_are_not() {
    let old = classes(&["a", "s"], &[["0..9", "x"], ["0..9", "x"], ["0..9", "y"]]);
    let new = classes(&["b", "s"], &[["u..v", "x"], ["u..v", "y"]]);
    let source = known(&[["1", "u..v", "x"], ["1", "u..v", "y"]]);
    let found = attack_with(&[own("old", &old), own("new", &new)], Some(&source), Columns::All);
    assert_eq!((found.at_risk, found.effective_l, found.people), (1, Some(1), 3), "{found:?}");
    assert!(found.people_at_risk.is_empty(), "none of those who are listed: {found:?}");
    assert_eq!(found.details["gone"], json!({ "people": 1, "at_risk": 1, "one_by_one": false }));
    assert_eq!(found.details["exact"], json!(true));
    let last = |found: &Finding| found.explanations[0].steps.last().cloned();
    assert_eq!(last(&found).as_deref(), Some("only `x` is left for a person of this class who left"));
    assert!(found.worst[0].why.starts_with("who left"), "{found:?}");
}

/// The same release of another custodian, who has one person more: who knows its people subtracts,
/// whether the third left or was never there.
#[test]
fn who_is_in_the_release_of_others_alone_is_exposed_by_the_newest() {
    let old = classes(&["a", "s"], &[["0..9", "x"], ["0..9", "x"], ["0..9", "y"]]);
    let new = classes(&["b", "s"], &[["u..v", "x"], ["u..v", "y"]]);
    let source = known(&[["1", "u..v", "x"], ["1", "u..v", "y"]]);
    let found = attack_with(&[released("old", &old), own("new", &new)], Some(&source), Columns::All);
    assert_eq!((found.at_risk, found.effective_l, found.people), (1, Some(1), 3), "{found:?}");
    assert_eq!(found.details["gone"], json!({ "people": 1, "at_risk": 1, "one_by_one": false }));
    assert!(found.notes.iter().any(|note| note.text.starts_with("1 rows of old are of people who are not listed")));
    let last = found.explanations[0].steps.last().cloned();
    assert_eq!(last.as_deref(), Some("only `x` is left for a person of this class who is not listed"));
    assert!(found.worst[0].why.starts_with("who is not listed"), "{found:?}");
    // Three more people of others, of every value: each class of them has more than one left.
    let others = [["0..9", "x"], ["0..9", "x"], ["0..9", "y"], ["0..9", "y"], ["0..9", "z"]];
    let others = classes(&["a", "s"], &others);
    let found = attack_with(&[released("old", &others), own("new", &new)], Some(&source), Columns::All);
    assert_eq!((found.at_risk, found.effective_l), (0, Some(2)), "{found:?}");
    assert_eq!(found.details["gone"], json!({ "people": 3, "at_risk": 0, "one_by_one": false }));
}

/// A release that cannot have all people who fit it: who is in it is not known, nor who else is.
#[test]
fn who_is_in_a_release_that_not_all_are_in_is_not_judged() {
    let old = classes(&["a", "s"], &[["0..9", "x"], ["0..9", "x"], ["0..9", "z"]]);
    let new = classes(&["b", "s"], &[["u..v", "x"], ["u..v", "y"]]);
    let source = known(&[["1", "u..v", "x"], ["1", "u..v", "y"]]);
    let found = attack_with(&[released("old", &old), own("new", &new)], Some(&source), Columns::All);
    assert!(!found.details.contains_key("gone"), "{found:?}");
    let said = "who is in old and not listed was not judged";
    assert!(found.notes.iter().any(|note| note.text.starts_with(said)), "{found:?}");
}

/// From two classes whose people are mixed in the next release one left each: x and y, which the
/// difference of all rows leaves open, and the people who stayed do not.
#[test]
fn who_left_is_exposed_where_the_difference_leaves_two_values() {
    let old = [["0..4", "x"], ["0..4", "x"], ["0..4", "y"], ["4..8", "x"], ["4..8", "y"], ["4..8", "y"]];
    let old = classes(&["a", "c", "s"], &old.map(|[a, s]| [a, "*", s]));
    let new = [["u", "x"], ["u", "y"], ["v", "x"], ["v", "y"]];
    let new = classes(&["b", "c", "s"], &new.map(|[b, s]| [b, "*", s]));
    let source = known(&[["0", "u", "x"], ["1", "u", "y"], ["5", "v", "x"], ["6", "v", "y"]]);
    let found = attack_with(&[own("old", &old), own("new", &new)], Some(&source), Columns::All);
    assert_eq!((found.at_risk, found.effective_l), (2, Some(1)), "{found:?}");
    let mut values: Vec<&str> = found.explanations.iter().map(|explanation| explanation.value.as_str()).collect();
    values.sort_unstable();
    assert_eq!(values, ["x", "y"]);
    let differs = crate::adversaries::difference::run(("old", &old), ("new", &new), "s").unwrap();
    assert_eq!((differs.at_risk, differs.effective_l), (0, Some(2)), "{differs:?}");
}

/// Labels overlap, so that the two people of the first class could have been in the second: they
/// cannot, since it has not their values. Who left is looked for one at a time.
#[test]
fn who_left_is_exposed_where_classes_overlap() {
    let old = [["0..4", "x"], ["0..4", "x"], ["0..4", "y"], ["0..9", "z"], ["0..9", "z"], ["0..9", "w"]];
    let old = classes(&["a", "s"], &old);
    let new = classes(&["b", "s"], &[["u", "x"], ["u", "y"], ["v", "w"], ["v", "z"]]);
    let source = known(&[["1", "u", "x"], ["2", "u", "y"], ["7", "v", "z"], ["8", "v", "w"]]);
    let found = attack_with(&[own("old", &old), own("new", &new)], Some(&source), Columns::All);
    assert_eq!((found.at_risk, found.effective_l), (2, Some(1)), "{found:?}");
    assert_eq!(found.details["gone"], json!({ "people": 2, "at_risk": 2, "one_by_one": true }));
    assert!(found.notes.iter().any(|note| note.text.contains("one of them at a time")), "{found:?}");
}

/// A class of one value tells it by itself: the newest release adds nothing, and does not fail for
/// it.
#[test]
fn a_class_of_one_value_does_not_make_the_next_release_fail() {
    let old = classes(&["a", "s"], &[["0", "x"], ["0", "x"], ["1", "x"], ["1", "y"]]);
    let new = classes(&["b", "s"], &[["u", "x"], ["u", "y"]]);
    let source = known(&[["1", "u", "x"], ["1", "u", "y"]]);
    let found = attack_with(&[own("old", &old), own("new", &new)], Some(&source), Columns::All);
    assert_eq!((found.at_risk, found.effective_l), (0, Some(2)), "{found:?}");
    assert_eq!(found.details["gone"], json!({ "people": 2, "at_risk": 0, "one_by_one": false }));
}

/// Only people of the first class have x, and only those of the second y; each class of the other
/// release has one of each and a z. Of whom it has one person of a class of ours, their value is
/// sure: which person that is depends on what the source lacks, and that there is one does not.
#[test]
fn someone_is_exposed_in_whichever_classes_people_are() {
    let mine = [["0", "x"], ["0", "x"], ["0", "z"], ["1", "y"], ["1", "y"], ["1", "z"]];
    let other = [["u", "x"], ["u", "y"], ["u", "z"], ["v", "x"], ["v", "y"], ["v", "z"]];
    let (mine_classes, other) = (classes(&["a", "s"], &mine), classes(&["b", "s"], &other));
    let tables = [released("other", &other), released("mine", &mine_classes)];
    let found = attack_with(&tables, Some(&table(&["a", "s"], &mine)), Columns::All);
    assert!(found.people_at_risk.is_empty(), "who they are is not known: {found:?}");
    assert_eq!((found.at_risk, found.effective_l), (2, Some(1)), "one of each class: {found:?}");
    assert_eq!(found.details["lacking"]["exposed_anyhow"], json!(2));
    assert!(found.notes.iter().any(|note| note.text.contains("in whichever classes")), "{found:?}");
    // With the column it is known who.
    let full =
        known(&[["0", "u", "x"], ["0", "v", "x"], ["0", "u", "z"], ["1", "u", "y"], ["1", "v", "y"], ["1", "v", "z"]]);
    let found = attack(&tables, Some(&full));
    assert!(!found.people_at_risk.is_empty() && found.details["exact"] == json!(true), "{found:?}");
}
