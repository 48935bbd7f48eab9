//! A column that is a quasi-identifier of one release and is shown by another, in lists that lack
//! it, or have sensitive columns: disclosures that were missed, each with the tables that showed
//! it.

use super::linked::Made;
use super::*;

/// At risk, and whether the finding is exact.
fn attacked(protect: &str, tables: &[&Made], people: &Table, columns: Columns) -> (Vec<u32>, bool) {
    let released: Vec<Released<'_>> =
        tables.iter().zip(["0", "1", "2"]).map(|(made, name)| made.released(name)).collect();
    let attacker = Attacker { people: Some(people), columns, prior: &[], joint: &[], progress: &NoProgress };
    let mut findings = run(protect, &released, attacker).unwrap();
    let found = findings.remove(0);
    (found.people_at_risk, found.details["exact"] == true)
}

/// The second release describes people by `c`, which the first one shows and the list lacks: who
/// knows `c` knows the row.
#[test]
fn a_column_that_the_list_lacks_and_a_release_shows_is_known_of_its_rows() {
    let one = Made::new(&["a", "c", "s"], &["a"], &[["0", "0", "s0"], ["0", "1", "s1"]], 1);
    let two = Made::new(&["b", "c"], &["b", "c"], &[["*", "*"], ["*", "*"]], 1);
    let with = table(&["a", "b", "c"], &[["0", "0", "0"], ["0", "0", "1"]]);
    let without = table(&["a", "b"], &[["0", "0"], ["0", "0"]]);
    let tables = [&one, &two];
    for columns in [Columns::Listed, Columns::All] {
        assert_eq!(attacked("s", &tables, &with, columns), (vec![0, 1], true));
    }
    assert_eq!(attacked("s", &tables, &without, Columns::All), (vec![0, 1], true));
    // Who has the list and nothing else is certain of no person; who knows more may be, which is
    // said.
    assert_eq!(attacked("s", &tables, &without, Columns::Listed), (vec![], false));
    let found = attack(&[one.released("0"), two.released("1")], Some(&without));
    assert!(found.notes.iter().any(|note| note.text.contains("lacks `c`")), "{found:?}");
}

/// The second person's `s` is missing in both releases, and the list has it: that they cannot be
/// there with what the list says hides no certainty about `t`.
#[test]
fn a_value_that_the_list_has_and_no_release_hides_no_certainty_about_another() {
    let one = [["*", "2", "s0", "t1"], ["*", "0", "", "t0"], ["*", "0", "s0", "t0"]];
    let one = Made::new(&["b", "c", "s", "t"], &["b"], &one, 1);
    let two = Made::new(&["a", "c", "s"], &["a"], &[["3", "0", ""], ["1", "0", "s0"], ["1", "2", "s0"]], 1);
    let with = [["1", "2", "s0", "t0"], ["3", "1", "s0", "t0"], ["1", "2", "s0", "t1"]];
    let with = table(&["a", "b", "s", "t"], &with);
    let without = table(&["a", "b", "t"], &[["1", "2", "t0"], ["3", "1", "t0"], ["1", "2", "t1"]]);
    for columns in [Columns::Listed, Columns::All] {
        assert_eq!(attacked("t", &[&one, &two], &without, columns), (vec![1], true));
        assert_eq!(attacked("t", &[&one, &two], &with, columns), (vec![1], true));
    }
}

/// The person is outside of every label of the first release, whose row is another person's: what
/// it says of `t` is not theirs, though it would fit them.
#[test]
fn a_release_that_covers_no_person_hides_none() {
    let one = Made::new(&["c", "t"], &["c"], &[["0..2", "t1"]], 1);
    let two = Made::new(&["b", "s", "t"], &["b"], &[["0..2", "s0", "t0"]], 1);
    let people = table(&["b", "c", "s"], &[["1", "2", "s0"]]);
    for columns in [Columns::Listed, Columns::All] {
        assert_eq!(attacked("s", &[&two], &people, columns), (vec![0], true));
        assert_eq!(attacked("s", &[&one, &two], &people, columns), (vec![0], true));
        assert_eq!(attacked("s", &[&two, &one], &people, columns), (vec![0], true));
    }
}

/// A person cannot be in a class of one release and in one of the other whose labels of `c` have no
/// value in common: who knows `c` is shown no such pair.
#[test]
fn classes_that_have_no_known_value_in_common_are_not_shown_together() {
    let one = Made::new(&["c", "s"], &["c"], &[["0", "s0"], ["0", "s1"], ["1", "s1"], ["1", "s2"]], 1);
    let two = Made::new(
        &["b", "c", "s"],
        &["b", "c"],
        &[["*", "0", "s0"], ["*", "0", "s1"], ["*", "1", "s1"], ["*", "1", "s2"]],
        1,
    );
    let people = table(&["b"], &[["0"], ["0"], ["0"], ["0"]]);
    let (at_risk, _) = attacked("s", &[&one, &two], &people, Columns::All);
    assert_eq!(at_risk, [] as [u32; 0], "s1 is all that class 0 of the one and class 1 of the other have in common");
}

/// A release that describes people by the attribute that another one protects: that the list has
/// the true values does not place people by them.
#[test]
fn the_protected_attribute_places_no_person_where_a_release_describes_people_by_it() {
    let one = Made::new(&["a", "s"], &["a"], &[["0", "s0"], ["0", "s1"]], 1);
    let two = Made::new(&["b", "s", "t"], &["b", "s"], &[["0", "s0", "t0"], ["0", "s1", "t1"]], 1);
    let people = table(&["a", "b", "s"], &[["0", "0", "s0"], ["0", "0", "s1"]]);
    for columns in [Columns::Listed, Columns::All] {
        assert_eq!(attacked("s", &[&one, &two], &people, columns), (vec![], false));
    }
}

/// No table fits both releases: others than those that were taken together may leave one value.
#[test]
fn what_contradicts_itself_is_not_exact() {
    let one = Made::new(&["a", "s"], &["a"], &[["0", "s0"], ["0", "s1"], ["0", "s2"]], 1);
    let two = Made::new(&["a", "s"], &["a"], &[["0", "s0"], ["0", "s0"], ["0", "s1"]], 1);
    let people = table(&["a"], &[["0"], ["0"], ["0"]]);
    assert_eq!(attacked("s", &[&one, &two], &people, Columns::Listed), (vec![], false));
}

/// The first release says of the first person's `s` that it may be any: no attacker is certain of
/// that.
#[test]
fn a_label_that_covers_every_value_is_no_certainty() {
    let one = [["", "2", "0", "*", "t0"], ["2", "1", "1", "s0", "t1"]];
    let one = Made::new(&["a", "b", "c", "s", "t"], &["b", "s"], &one, 1);
    let two = Made::new(&["a", "s", "t"], &["a"], &[["2..3", "s0", "t1"]], 1);
    let people = table(&["a", "b", "c", "s"], &[["", "2", "0", "s0"], ["2", "1", "1", "s0"]]);
    for columns in [Columns::Listed, Columns::All] {
        assert_eq!(attacked("s", &[&one, &two], &people, columns), (vec![1], false));
    }
}

/// The first release alone exposes everyone who is in it; the second shows that two of the people
/// were suppressed there. Who takes one of them to be in the first alone is certain of more.
#[test]
fn who_may_be_suppressed_in_one_of_several_releases_is_not_decided() {
    let one = Made::new(&["a", "s"], &["a"], &[["0", "q"]], 1);
    let two = Made::new(&["b", "s"], &["b"], &[["x", "p"], ["x", "r"], ["y", "q"]], 1);
    let people = table(&["a", "b"], &[["0", "x"], ["0", "x"], ["0", "y"]]);
    let one = Released { suppressed: 2, ..one.released("1") };
    let alone = attack(&[one], Some(&people));
    assert_eq!((alone.people_at_risk.as_slice(), &alone.details["exact"]), (&[0, 1, 2][..], &json!(true)), "{alone:?}");
    let both = attack(&[one, two.released("2")], Some(&people));
    assert_eq!((both.people_at_risk.as_slice(), &both.details["exact"]), (&[2][..], &json!(false)), "{both:?}");
    assert!(both.notes.iter().any(|note| note.text.contains("suppressed rows of any")), "{both:?}");
}

/// The one row of the first release is of the first person, as the column tells by which the second
/// release describes people: nothing follows of the other one.
#[test]
fn a_value_that_a_known_column_denies_is_not_certain() {
    let one = Made::new(&["a", "b", "c", "s"], &["b"], &[["2", "1", "0", "s0"]], 1);
    let two = Made::new(&["a", "c"], &["a"], &[["0", "1"], ["*", "0"]], 1);
    let people = table(&["a", "b"], &[["2", "1"], ["0", "1"]]);
    assert_eq!(attacked("s", &[&one, &two], &people, Columns::Listed), (vec![0], false));
}

/// The column `c` changed in between, so that the values alone are compared. They leave `x` to the
/// first person, in rows that have no `c` in common: that is not said. The values of the others
/// follow from one release alone.
#[test]
fn a_value_of_rows_that_a_linked_column_denies_is_not_certain() {
    let one = Made::new(&["a", "c", "s"], &["a"], &[["0", "k", "x"], ["0", "l", "y"], ["1", "m", "z"]], 1);
    let two = Made::new(&["b", "c", "s"], &["b"], &[["p", "n", "x"], ["p", "o", "z"], ["q", "u", "y"]], 1);
    let people = table(&["a", "b"], &[["0", "p"], ["0", "q"], ["1", "p"]]);
    assert_eq!(attacked("s", &[&one, &two], &people, Columns::Listed), (vec![1, 2], false));
}

/// The third person would be the row of `s1`, whose `c` is not theirs: they are not in the first
/// release, and either row can be the second person's.
#[test]
fn a_release_that_cannot_have_everyone_as_they_are_known_has_not_everyone() {
    let one = [["-1..2", "0", "s1"], ["2..4", "0", "s0"], ["1", "0", "s0"]];
    let one = Made::new(&["a", "c", "s"], &["a"], &one, 1);
    let two = Made::new(&["a", "c", "s"], &["a", "c"], &[["3", "0", "s0"], ["0", "1", "s1"]], 1);
    let with = table(&["a", "c", "s"], &[["3", "0", "s0"], ["1", "0", "s0"], ["0", "1", "s1"]]);
    let without = table(&["a", "c"], &[["3", "0"], ["1", "0"], ["0", "1"]]);
    for people in [&with, &without] {
        assert_eq!(attacked("s", &[&one, &two], people, Columns::All), (vec![0, 2], false));
    }
}

/// No person is in both releases, whose labels of `a` have no value in common: the row of the
/// second says nothing of who is in the first.
#[test]
fn releases_whose_labels_have_nothing_in_common_have_no_person_in_common() {
    let one = Made::new(&["a", "c", "s"], &["a"], &[["1..3", "1", "s1"], ["1..3", "0", "s0"]], 1);
    let two = Made::new(&["a", "c"], &["a"], &[["0", "1"]], 1);
    let people = table(&["s"], &[["s0"], ["s1"]]);
    let tables = [one.released("1"), Released { suppressed: 1, ..two.released("2") }];
    let found = attack_with(&tables, Some(&people), Columns::All);
    assert_eq!((found.at_risk, &found.details["exact"]), (0, &json!(false)), "{found:?}");
    // What the first alone says is so all the same.
    let one = Made::new(&["a", "c", "s"], &["a"], &[["1..3", "1", "s1"], ["1..3", "0", "s1"]], 1);
    let found = attack_with(&[one.released("1"), tables[1]], Some(&people), Columns::All);
    assert_eq!((found.people_at_risk.as_slice(), &found.details["exact"]), (&[1][..], &json!(false)), "{found:?}");
}

/// Everyone fits both releases by `b`, and by `a` a person can be in one of them at most: what both
/// leave together is left to no person.
#[test]
fn who_cannot_be_in_both_releases_is_left_no_value_of_both() {
    let one = Made::new(&["a", "b", "s"], &["a", "b"], &[["1..3", "x", "s0"], ["1..3", "x", "s1"]], 1);
    let two = Made::new(&["a", "b", "s"], &["a", "b"], &[["0", "x", "s0"], ["0", "x", "s1"]], 1);
    let people = table(&["b"], &[["x"], ["x"]]);
    for columns in [Columns::Listed, Columns::All] {
        let found = attack_with(&[one.released("1"), two.released("2")], Some(&people), columns);
        assert_eq!((found.at_risk, found.effective_l, &found.details["exact"]), (0, None, &json!(false)), "{found:?}");
    }
}

/// The column `c` changed in between, so that no table fits both releases: each alone exposes the
/// two people, and that is said, though their rows cannot be linked.
#[test]
fn what_one_release_alone_exposes_is_said_beside_one_that_contradicts_it() {
    let one = Made::new(&["a", "c", "s"], &["a"], &[["0", "m", "x"], ["1", "n", "y"]], 1);
    let two = Made::new(&["b", "c", "s"], &["b"], &[["p", "k", "x"], ["q", "l", "y"]], 1);
    let people = table(&["a", "b"], &[["0", "p"], ["1", "q"]]);
    assert_eq!(attacked("s", &[&one, &two], &people, Columns::Listed), (vec![0, 1], false));
}

/// Both releases have a row of `s1` that fits the person, with values of `a` that differ: they are
/// not in both, and which of the two they are in is not known.
#[test]
fn rows_whose_labels_have_nothing_in_common_are_not_one_person() {
    let one = Made::new(&["a", "b", "s"], &["a", "b"], &[["0", "x", "s0"], ["1", "x", "s1"]], 1);
    let two = Made::new(&["a", "b", "s"], &["a", "b"], &[["0", "x", "s1"], ["1", "x", "s2"]], 1);
    let people = table(&["b"], &[["x"]]);
    assert_eq!(attacked("s", &[&one, &two], &people, Columns::Listed), (vec![], false));
}

/// To an attacker who knows `b`, the first two people are not in the class `x0` of the first
/// release: the second has one class that fits them, and it is of `x1`.
#[test]
fn one_class_of_a_release_tells_which_class_of_another_is_shown() {
    let one = Made::new(&["b", "s"], &["b"], &[["x0", "s1"], ["x0", "s2"], ["x1", "s0"], ["x1", "s2"]], 1);
    let two = [["3", "x1", "s0"], ["3", "x1", "s2"], ["0", "x0", "s1"], ["0", "x0", "s2"]];
    let two = Made::new(&["a", "b", "s"], &["a", "b"], &two, 1);
    let people = table(&["a"], &[["3"], ["3"], ["0"], ["0"]]);
    assert_eq!(attacked("s", &[&one, &two], &people, Columns::All).0, [0; 0]);
}
