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
