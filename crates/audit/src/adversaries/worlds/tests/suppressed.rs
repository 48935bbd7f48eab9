//! Suppressed rows: people who must be among them, and people of whom that is not known.

use super::linked::Made;
use super::*;
use crate::adversaries::testing::cover;

fn with_one_suppressed<'a>(made: &'a Made, name: &'a str) -> Released<'a> {
    Released { suppressed: 1, ..made.released(name) }
}

/// No row of the first release fits the second person, who is in it as everyone is: theirs was
/// suppressed. So the other one is in it and has `r`, and they have what the second release leaves.
#[test]
fn who_fits_no_row_of_a_release_is_its_suppressed_row() {
    let one = Made::new(&["h", "s"], &["h"], &[["f", "r"], ["f", "q"]], 1);
    let two = Made::new(&["h", "s"], &["h"], &[["*", "p"], ["*", "r"]], 1);
    let people = table(&["h"], &[["f"], ["e"]]);
    let found = attack(&[with_one_suppressed(&one, "1"), two.released("2")], Some(&people));
    assert_eq!((found.people_at_risk.as_slice(), &found.details["exact"]), (&[0, 1][..], &json!(true)), "{found:?}");
    let assumed = found.details["assumed"].as_str().unwrap();
    assert!(assumed.contains("a person whom no row of 1 fits is among its suppressed rows"), "{assumed}");
}

/// The two people who fit the first release have `r` or `p`, and the third one has `q`.
#[test]
fn who_fits_no_row_of_a_release_has_what_those_in_it_cannot_have() {
    let one = Made::new(&["h", "s"], &["h"], &[["f", "r"], ["f", "p"], ["f", "r"]], 1);
    let two = Made::new(&["h", "s"], &["h"], &[["*", "p"], ["*", "r"], ["*", "q"]], 1);
    let people = table(&["h"], &[["f"], ["f"], ["e"]]);
    let found = attack(&[with_one_suppressed(&one, "1"), two.released("2")], Some(&people));
    assert_eq!((found.people_at_risk.as_slice(), &found.details["exact"]), (&[2][..], &json!(true)), "{found:?}");
}

/// The same where that cannot be: the two people who fit the first release cannot both have its
/// values. One of them was suppressed, and the third person is not in it.
#[test]
fn who_fits_no_row_may_be_elsewhere_where_another_was_suppressed() {
    let one = Made::new(&["h", "s"], &["h"], &[["f", "r"], ["f", "p"], ["f", "r"]], 1);
    let two = Made::new(&["h", "s"], &["h"], &[["f", "p"], ["f", "q"], ["*", "q"]], 1);
    let people = table(&["h"], &[["f"], ["f"], ["e"]]);
    let found = attack(&[with_one_suppressed(&one, "1"), two.released("2")], Some(&people));
    assert!(!found.details["assumed"].as_str().unwrap().contains("whom no row"), "{found:?}");
    assert!(found.people_at_risk.contains(&2), "{found:?}");
}

/// The row of the first release that fits the second person has another `c`: no table fits where
/// the first one, whom no row fits, was suppressed. The second person may be in neither release.
#[test]
fn who_fits_no_row_is_not_suppressed_where_no_table_fits_then() {
    let one = Made::new(&["a", "b", "c", "s"], &["a", "b"], &[["*", "1", "0", "s0"], ["2", "*", "0", "s0"]], 1);
    let two = Made::new(&["a", "c", "s"], &["a", "c"], &[["*", "*", "s1"], ["*", "0", "s1"]], 1);
    let people = table(&["a", "b", "c"], &[["3", "2", "0"], ["1", "1", "1"]]);
    let tables = [with_one_suppressed(&one, "1"), Released { suppressed: 2, ..two.released("2") }];
    let found = attack(&tables, Some(&people));
    assert_eq!(found.people_at_risk, [0], "{found:?}");
}

/// The first release has one row, of `z`. By the second one the other person has `x`: nothing says
/// which `t` they have.
#[test]
fn one_row_is_not_of_two_people_whom_a_column_tells_apart_that_the_list_lacks() {
    let one = Made::new(&["g", "b", "t"], &["g", "b"], &[["*", "z", "7"]], 1);
    let two = Made::new(&["g", "b", "s"], &["g", "b"], &[["k", "z", "q"], ["l", "x", "r"]], 1);
    let tables = [with_one_suppressed(&one, "1"), two.released("2")];
    for columns in [Columns::Listed, Columns::All] {
        let people = table(&["g"], &[["k"], ["l"]]);
        let attacker = Attacker { people: Some(&people), columns, prior: &[], joint: &[], progress: &NoProgress };
        let found = run("t", &tables, attacker).unwrap().remove(0);
        assert_eq!((found.at_risk, &found.details["exact"]), (0, &json!(false)), "{found:?}");
        assert!(found.notes.iter().any(|note| note.text.contains("another release may tell by `b`")), "{found:?}");
    }
    // Where nothing was suppressed both are in it, and the labels go together.
    let whole = Made::new(&["g", "b", "t"], &["g", "b"], &[["*", "z", "7"], ["*", "x", "7"]], 1);
    let people = table(&["g"], &[["k"], ["l"]]);
    let tables = [whole.released("1"), two.released("2")];
    let attacker =
        Attacker { people: Some(&people), columns: Columns::Listed, prior: &[], joint: &[], progress: &NoProgress };
    assert_eq!(run("t", &tables, attacker).unwrap().remove(0).people_at_risk, [0, 1]);
}

/// The same where the list has the true `t`, which is the same for both. An attacker who knows `b`
/// knows that the second person, who is `x`, has no row in the first release: that its value is
/// theirs all the same follows from no table.
#[test]
fn one_row_is_not_of_two_people_who_have_the_same_true_value() {
    let one = Made::new(&["g", "b", "t"], &["g", "b"], &[["*", "z", "7"]], 1);
    let two = Made::new(&["g", "b", "s"], &["g", "b"], &[["k", "z", "q"], ["l", "x", "r"]], 1);
    let tables = [with_one_suppressed(&one, "1"), two.released("2")];
    let people = table(&["g", "t"], &[["k", "7"], ["l", "7"]]);
    for columns in [Columns::Listed, Columns::All] {
        let attacker = Attacker { people: Some(&people), columns, prior: &[], joint: &[], progress: &NoProgress };
        let found = run("t", &tables, attacker).unwrap().remove(0);
        assert_eq!((found.at_risk, &found.details["exact"]), (0, &json!(false)), "{found:?}");
        assert!(found.notes.iter().any(|note| note.text.contains("another release may tell by `b`")), "{found:?}");
    }
}

/// Each release has one of the two people: the row of the first has `q`, and that of the second
/// `p`, by which it describes people.
#[test]
fn one_row_is_not_of_two_people_where_another_release_describes_people_by_the_value() {
    let one = Made::new(&["g", "s"], &["g"], &[["k", "q"]], 1);
    let rows = table(&["g", "s", "t"], &[["k", "p", "7"]]);
    let (quasi, sensitive) = (["g", "s"].map(str::to_owned), ["t".to_owned()]);
    let two = ReleasedClasses::of_generalized("data", &rows, &quasi, &sensitive, cover, "t").unwrap();
    let two = Released { rows: Some(&rows), suppressed: 1, ..released("2", &two) };
    let tables = [with_one_suppressed(&one, "1"), two];
    let people = table(&["g"], &[["k"], ["k"]]);
    let found = attack(&tables, Some(&people));
    assert_eq!((found.at_risk, &found.details["exact"]), (0, &json!(false)), "{found:?}");
    // The same release alone has the person looked for.
    let found = attack(&tables[..1], Some(&people));
    assert_eq!((found.people_at_risk.as_slice(), &found.details["exact"]), (&[0, 1][..], &json!(true)), "{found:?}");
}

/// No row of the second release, which everyone is in, has an `a` as in the first one: the person
/// was suppressed there. That its row has their true value makes it no more theirs.
#[test]
fn who_is_in_a_release_of_everyone_is_not_in_the_row_that_it_denies() {
    let one = Made::new(&["a", "c", "s"], &["a", "c"], &[["3..4", "1", "s0"]], 1);
    let two = Made::new(&["a", "c", "s"], &["c"], &[["0", "1", "s1"], ["2", "1", "s0"]], 1);
    let tables = [with_one_suppressed(&one, "1"), two.released("2")];
    for people in [table(&["c"], &[["1"]]), table(&["c", "s"], &[["1", "s0"]])] {
        let found = attack(&tables, Some(&people));
        assert_eq!((found.at_risk, &found.details["exact"]), (0, &json!(false)), "{found:?}");
        assert_eq!(attack(&tables[..1], Some(&people)).people_at_risk, [0]);
    }
}

/// The first release has one of the two people. By the true `s` it is the first one; an attacker to
/// whom it is unknown is right about `t` of the second one all the same.
#[test]
fn a_true_value_of_another_attribute_hides_no_right_certainty() {
    let one = Made::new(&["h", "s", "t"], &["h"], &[["e", "p", "1"]], 1);
    let two = Made::new(&["h", "s"], &["h"], &[["e", "p"], ["e", "q"]], 1);
    let tables = [one.released("1"), two.released("2")];
    for people in
        [table(&["h", "t"], &[["e", "1"], ["e", "1"]]), table(&["h", "s", "t"], &[["e", "p", "1"], ["e", "q", "1"]])]
    {
        let attacker =
            Attacker { people: Some(&people), columns: Columns::Listed, prior: &[], joint: &[], progress: &NoProgress };
        let found = run("t", &tables, attacker).unwrap().remove(0);
        assert_eq!(found.people_at_risk, [0, 1], "{found:?}");
        assert_eq!(found.explanations.len(), found.explanations.iter().filter(|own| own.value == "1").count());
    }
}
