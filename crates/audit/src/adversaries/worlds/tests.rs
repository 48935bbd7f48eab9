//! Disclosures that were once missed, or wrongly certain: each as the tables that showed it.

use hedgerow_release::JointShare;
use hedgerow_release::classes::{ReleasedClasses, SensitiveCounts};
use hedgerow_table::{Cover, NoProgress, Table};

use super::*;
use crate::adversaries::testing::classes;

fn released<'a>(name: &'a str, classes: &'a ReleasedClasses) -> Released<'a> {
    Released::of(name, classes)
}

fn table<const N: usize>(names: &[&str; N], rows: &[[&str; N]]) -> Table {
    Table::from_texts(names, &rows.iter().map(|row| row.to_vec()).collect::<Vec<_>>())
}

fn attack(tables: &[Released<'_>], people: Option<&Table>) -> Finding {
    attack_with(tables, people, Columns::Listed)
}

fn attack_with(tables: &[Released<'_>], people: Option<&Table>, columns: Columns) -> Finding {
    let attacker = Attacker { people, columns, prior: &[], joint: &[], progress: &NoProgress };
    run("s", tables, attacker).unwrap().remove(0)
}

/// Labels overlap, so that (0, x) fits both classes; but only the two people (0, x) can fill the
/// first.
#[test]
fn only_two_people_fill_a_class_whose_label_others_overlap() {
    let release = classes(&["a", "b", "s"], &[["0", "x", "q"], ["0", "x", "q"], ["*", "*", "r"], ["*", "*", "p"]]);
    let people = table(&["a", "b"], &[["0", "x"], ["2", "x"], ["0", "y"], ["0", "x"]]);
    let found = attack(&[released("r", &release)], Some(&people));
    assert_eq!((found.people, found.at_risk, found.effective_l), (4, 2, Some(1)), "{found:?}");
    assert_eq!(found.people_at_risk, [0, 3]);
    assert_eq!(found.details["exact"], json!(true));
    let steps = &found.explanations[0].steps;
    assert!(steps.len() <= 3, "{steps:?}");
    assert_eq!(steps.last().unwrap(), "only `q` is left for each of the 2 people who look like this person");
}

/// Two tables fit; in both, three people have the same value.
#[test]
fn three_of_five_people_have_one_value_in_both_tables_that_fit() {
    let one = classes(&["b", "s"], &[["x", "q"], ["x", "q"], ["x", "p"], ["y", "q"], ["y", "r"]]);
    let two = classes(&["a", "s"], &[["0..2", "q"], ["0..2", "q"], ["0..2", "p"], ["2..4", "q"], ["2..4", "r"]]);
    let people = table(&["a", "b"], &[["0", "x"], ["1", "x"], ["2", "x"], ["0", "y"], ["3", "y"]]);
    let found = attack(&[released("1", &one), released("2", &two)], Some(&people));
    assert_eq!((found.at_risk, found.effective_l), (3, Some(1)), "{found:?}");
    assert_eq!(found.people_at_risk, [2, 3, 4]);
    assert_eq!(found.worst.len(), 4);
}

/// Classes that overlap, as `cluster` makes them, beside classes that do not, as `best-cut` makes
/// them: each table leaves two values to everyone, both together one to the first person.
#[test]
fn overlapping_classes_beside_divided_ones_leave_one_value() {
    let cluster = classes(
        &["a", "b", "s"],
        &[["3", "x", "q"], ["3", "x", "p"], ["0..4", "*", "q"], ["0..4", "*", "p"], ["0..4", "*", "p"]],
    );
    let cut = classes(&["a", "s"], &[["0..3", "p"], ["0..3", "q"], ["3..4", "p"], ["3..4", "q"], ["3..4", "p"]]);
    let people = table(&["a", "b"], &[["3", "y"], ["3", "x"], ["3", "x"], ["0", "y"], ["0", "x"]]);
    for alone in [released("1", &cluster), released("2", &cut)] {
        assert_eq!(attack(&[alone], Some(&people)).effective_l, Some(2));
    }
    let found = attack(&[released("1", &cluster), released("2", &cut)], Some(&people));
    assert_eq!(found.people_at_risk, [0], "{found:?}");
}

/// Each combination of classes alone leaves both values; all together leave one to two people.
#[test]
fn what_other_cells_need_leaves_one_value() {
    let one = classes(&["a", "s"], &[["0", "q"], ["0", "r"], ["1", "q"], ["1", "r"], ["3", "q"], ["3", "r"]]);
    let two = classes(&["b", "s"], &[["x", "q"], ["x", "r"], ["x", "r"], ["y", "q"], ["y", "q"], ["y", "r"]]);
    let people = table(&["a", "b"], &[["0", "x"], ["0", "x"], ["1", "y"], ["1", "x"], ["3", "y"], ["3", "y"]]);
    let found = attack(&[released("1", &one), released("2", &two)], Some(&people));
    assert_eq!(found.people_at_risk, [2, 3], "{found:?}");
    let values: Vec<&str> = found.explanations.iter().map(|explanation| explanation.value.as_str()).collect();
    assert!(values.contains(&"q") && values.contains(&"r"), "{values:?}");
    assert!(found.explanations.iter().all(|explanation| explanation.steps.len() <= 4), "{found:?}");
}

/// Three people in a bucket, two of them in a class of another release.
#[test]
fn a_bucket_without_a_class_inside_it_leaves_a_sure_value() {
    let quasi = table(&["a", "group"], &[["0", "1"], ["1", "1"], ["2", "1"], ["5", "2"], ["6", "2"]]);
    let values = ["p", "q", "r"].map(str::to_owned).to_vec();
    let counts = vec![(0, 0, 1), (0, 1, 1), (0, 2, 1), (1, 0, 1), (1, 1, 1)];
    let counts = SensitiveCounts::new("s".to_owned(), values, 2, counts);
    let cover = |name: &str, label: &str| crate::adversaries::testing::cover(name, label);
    let buckets = ReleasedClasses::of_bucketized("data", &quasi, &["a".to_owned()], vec![counts], cover, "t").unwrap();
    let cells = [["0..2", "p"], ["0..2", "q"], ["2..9", "r"], ["2..9", "p"], ["2..9", "q"]];
    let generalized = classes(&["a", "s"], &cells);
    let people = table(&["a"], &[["0"], ["1"], ["2"], ["5"], ["6"]]);
    let found = attack(&[released("1", &buckets), released("2", &generalized)], Some(&people));
    assert_eq!(found.people_at_risk, [2], "{found:?}");
}

/// The custodian does not know by name who stayed; an attacker who knows it learns a value.
#[test]
fn the_next_release_of_a_custodian_with_two_people_more() {
    let old = classes(&["a", "b", "s"], &[["*", "x", "p"], ["*", "x", "q"], ["*", "x", "q"]]);
    let new = classes(&["a", "s"], &[["0..2", "p"], ["0..2", "q"], ["2..4", "p"], ["2..4", "q"], ["2..4", "r"]]);
    let source =
        table(&["a", "b", "s"], &[["0", "x", "p"], ["0", "x", "q"], ["2", "x", "q"], ["2", "x", "p"], ["3", "x", "r"]]);
    let own = |classes| Released { custodian: Some(0), ..released("own", classes) };
    let tables = [Released { name: "old", ..own(&old) }, Released { name: "new", ..own(&new) }];
    let found = attack_with(&tables, Some(&source), Columns::All);
    assert!(found.at_risk > 0 && found.people_at_risk.contains(&2), "{found:?}");
    let strangers = [released("old", &old), released("new", &new)];
    assert_eq!(attack_with(&strangers, Some(&source), Columns::All).at_risk, 0, "others do not know who stayed");
}

/// The newest release has other columns than the earlier one, and a second y. Of the two people who
/// have y one came, and who knows which one knows their value; it can be either.
#[test]
fn who_came_to_the_next_release_with_other_columns() {
    let old = classes(&["a", "s"], &[["0..9", "x"], ["0..9", "y"], ["0..9", "z"]]);
    let new = classes(&["b", "s"], &[["u..v", "x"], ["u..v", "y"], ["u..v", "y"], ["u..v", "z"]]);
    let source = [["1", "u..v", "x"], ["1", "u..v", "y"], ["1", "u..v", "y"], ["1", "u..v", "z"]];
    let own = |name, classes| Released { custodian: Some(0), ..released(name, classes) };
    let tables = [own("old", &old), own("new", &new)];
    let found = attack_with(&tables, Some(&table(&["a", "b", "s"], &source)), Columns::All);
    assert_eq!((found.people_at_risk.as_slice(), found.effective_l), ([1, 2].as_slice(), Some(1)), "{found:?}");
    assert_eq!(found.details["exact"], json!(true), "{found:?}");
    assert_eq!(found.explanations.len(), 1, "{found:?}");
    // Two more y: four values for three who came, one of them twice or more often.
    let new = [["u..v", "x"], ["u..v", "y"], ["u..v", "y"], ["u..v", "y"], ["u..v", "z"], ["u..v", "z"]];
    let new = classes(&["b", "s"], &new);
    let source = [source.to_vec(), vec![["1", "u..v", "y"], ["1", "u..v", "z"]]].concat();
    let found =
        attack_with(&[own("old", &old), own("new", &new)], Some(&table(&["a", "b", "s"], &source)), Columns::All);
    assert_eq!((found.at_risk, found.effective_l), (0, Some(2)), "{found:?}");
}

/// Two people look alike, and two earlier releases of one custodian have one of them each. Where
/// these are not the same one, the third person has what is left.
#[test]
fn who_stayed_in_one_release_need_not_have_stayed_in_the_other() {
    let one = classes(&["a", "s"], &[["0..9", "y"]]);
    let new = classes(&["a", "s"], &[["0..9", "y"], ["0..9", "y"], ["0..9", "x"]]);
    let source = table(&["a", "s"], &[["1", "y"], ["1", "y"], ["1", "x"]]);
    let own = |name, classes| Released { custodian: Some(0), ..released(name, classes) };
    let found = attack(&[own("1", &one), own("new", &new)], Some(&source));
    assert_eq!(found.people_at_risk, [0, 1], "{found:?}");
    let found = attack(&[own("1", &one), own("2", &one), own("new", &new)], Some(&source));
    assert_eq!(found.people_at_risk, [0, 1, 2], "{found:?}");
    assert_eq!((&found.details["exact"], &found.details["stayed"]["all"]), (&json!(true), &json!(true)));
}

/// The same among forty others: not every way to stay is tried, which is said, and the person is
/// found all the same.
#[test]
fn the_next_release_of_a_custodian_with_many_people() {
    let others = |cells: [&'static str; 2], rows: usize| -> Vec<[&str; 3]> {
        (0..rows).map(|row| [cells[0], cells[1], if row % 2 == 0 { "p" } else { "q" }]).collect()
    };
    let old = [vec![["*", "x", "p"], ["*", "x", "q"], ["*", "x", "q"]], others(["*", "z"], 40)].concat();
    let new = [["0..2", "*", "p"], ["0..2", "*", "q"], ["2..4", "*", "p"], ["2..4", "*", "q"], ["2..4", "*", "r"]];
    let new = [new.to_vec(), others(["9..10", "*"], 40)].concat();
    let source = [["0", "x", "p"], ["0", "x", "q"], ["2", "x", "q"], ["2", "x", "p"], ["3", "x", "r"]];
    let source = table(&["a", "b", "s"], &[source.to_vec(), others(["9", "z"], 40)].concat());
    let (old, new) = (classes(&["a", "b", "s"], &old), classes(&["a", "b", "s"], &new));
    let own = |name, classes| Released { custodian: Some(0), ..released(name, classes) };
    let found = attack_with(&[own("old", &old), own("new", &new)], Some(&source), Columns::All);
    assert!(found.people_at_risk.contains(&2), "{found:?}");
    assert_eq!((&found.details["stayed"]["all"], &found.details["exact"]), (&json!(false), &json!(false)));
    assert!(found.notes.iter().any(|note| note.text.contains("are not all")), "{found:?}");
}

/// The source has one of the other release's columns; the attacker knows both.
#[test]
fn columns_that_the_source_lacks_are_known_to_the_attacker() {
    let own = classes(&["g", "a", "s"], &[["*", "0", "q"], ["*", "0", "r"], ["*", "1", "p"], ["*", "1", "q"]]);
    let other = classes(&["g", "z", "s"], &[["*", "7", "q"], ["*", "7", "p"], ["*", "8", "r"], ["*", "8", "q"]]);
    let source = table(&["g", "a", "s"], &[["f", "0", "q"], ["m", "0", "r"], ["f", "1", "p"], ["m", "1", "q"]]);
    let tables = [released("other", &other), released("own", &own)];
    assert_eq!(attack(&tables, Some(&source)).at_risk, 0, "by the list alone nothing is certain");
    let found = attack_with(&tables, Some(&source), Columns::All);
    assert!(found.at_risk > 0, "a person aged 0 in class 7 has q: {found:?}");
}

/// The source lacks the other release's column. Who knows it of everyone knows which two people are
/// in different classes of it, and so their values; it can be any pair. To know the class of one
/// person alone tells nothing.
#[test]
fn it_is_said_where_columns_that_the_source_lacks_would_expose_people() {
    let one = [["0", "q"], ["0", "r"], ["1", "q"], ["1", "r"], ["3", "q"], ["3", "r"]];
    let two = [["x", "q"], ["x", "r"], ["x", "r"], ["y", "q"], ["y", "q"], ["y", "r"]];
    let (own, other) = (classes(&["a", "s"], &one), classes(&["b", "s"], &two));
    let tables = [released("other", &other), released("own", &own)];
    let full = [["0", "x", "q"], ["0", "x", "r"], ["1", "y", "q"], ["1", "x", "r"], ["3", "y", "q"], ["3", "y", "r"]];
    let found = attack(&tables, Some(&table(&["a", "b", "s"], &full)));
    assert_eq!(found.people_at_risk, [2, 3], "{found:?}");
    let source: Vec<[&str; 2]> = full.iter().map(|[a, _, s]| [*a, *s]).collect();
    let found = attack_with(&tables, Some(&table(&["a", "s"], &source)), Columns::All);
    // In one way or another each of them would be.
    assert_eq!((found.at_risk, &found.details["exact"], &found.details["undecided"]), (0, &json!(false), &json!(6)));
    assert!(found.notes.iter().any(|note| note.text.contains("may rule out more for 6 of them")), "{found:?}");
    let lacking = json!({ "columns": ["b"], "releases": ["other"], "all": false, "exposed_anyhow": 0 });
    assert_eq!(found.details["lacking"], lacking);
    // The same a hundred times over: too many ways, which is said.
    let often = |rows: &[[&'static str; 2]]| -> Vec<[&str; 2]> { (0..100).flat_map(|_| rows.to_vec()).collect() };
    let (own, other) = (classes(&["a", "s"], &often(&one)), classes(&["b", "s"], &often(&two)));
    let tables = [released("other", &other), released("own", &own)];
    let found = attack_with(&tables, Some(&table(&["a", "s"], &often(&source))), Columns::All);
    assert_eq!((&found.details["exact"], &found.details["lacking"]["all"]), (&json!(false), &json!(false)));
    assert!(found.notes.iter().any(|note| note.text.contains("lacks `b`")), "{found:?}");
}

/// Labels meet, but the person who has q in the second class is needed elsewhere.
#[test]
fn cells_that_cannot_meet_are_known_without_people() {
    let one = classes(&["a", "s"], &[["0..20", "q"], ["0..20", "r"], ["20..40", "q"], ["20..40", "p"]]);
    let two = classes(&["a", "s"], &[["0..30", "q"], ["0..30", "r"], ["30..40", "q"], ["30..40", "p"]]);
    let tables = [released("1", &one), released("2", &two)];
    let found = attack(&tables, None);
    assert_eq!((found.at_risk, found.effective_l), (0, Some(2)), "{found:?}");
    assert!(found.details["assumed"].as_str().unwrap().starts_with("every person is in every release"));
    // One row more in one of them: not the same people, so that nothing is known of others.
    let more =
        classes(&["a", "s"], &[["0..30", "q"], ["0..30", "r"], ["0..30", "r"], ["30..40", "q"], ["30..40", "p"]]);
    let found = attack(&[released("1", &one), released("2", &more)], None);
    assert_eq!(found.effective_l, Some(1));
    assert!(found.details["assumed"].as_str().unwrap().starts_with("one person is in every release"));
    let steps = &found.explanations[0].steps;
    assert_eq!(steps.len(), 3, "{steps:?}");
    assert_eq!(steps[0], "1: the class a `20..40` has 2 rows (`p` 1, `q` 1)");
    assert_eq!(steps[2], "only `q` is left for a person in these cells");
}

/// A county and another region do not meet, as the labels of one attribute say.
#[test]
fn albany_does_not_meet_the_hudson_valley() {
    let leaves = |label: &str| match label {
        "Hudson Valley" => Cover::Leaves(["Ulster", "Orange"].map(str::to_owned).to_vec()),
        "Capital" => Cover::Leaves(["Albany", "Troy"].map(str::to_owned).to_vec()),
        other => Cover::Leaves(vec![other.to_owned()]),
    };
    let of = |name: &str, rows: &[[&str; 2]]| {
        let texts: Vec<Vec<&str>> = rows.iter().map(|row| row.to_vec()).collect();
        let (quasi, sensitive) = ([name.to_owned()], ["s".to_owned()]);
        let table = Table::from_texts(&[name, "s"], &texts);
        ReleasedClasses::of_generalized("data", &table, &quasi, &sensitive, |_, label| leaves(label), "t").unwrap()
    };
    let counties = [["Albany", "p"], ["Albany", "q"], ["Troy", "p"], ["Troy", "q"], ["Ulster", "q"], ["Ulster", "r"]];
    let regions = [
        ["Capital", "p"],
        ["Capital", "p"],
        ["Capital", "q"],
        ["Capital", "q"],
        ["Hudson Valley", "q"],
        ["Hudson Valley", "r"],
    ];
    let (one, two) = (of("place", &counties), of("place", &regions));
    let found = attack(&[released("1", &one), released("2", &two)], None);
    assert_eq!((found.at_risk, found.effective_l), (0, Some(2)), "{found:?}");
    // Under another name nothing says so, and a person in both could only have q.
    let other = of("region", &regions);
    let found = attack(&[released("1", &one), released("2", &other)], None);
    assert_eq!((found.at_risk, found.effective_l), (3, Some(1)), "{found:?}");
}

/// People whose values the second release does not have are not in it: nothing false follows.
#[test]
fn people_who_are_not_in_a_release_lead_to_no_false_certainty() {
    let one = classes(&["a", "s"], &[["0", "q"], ["0", "r"], ["1", "p"], ["1", "q"]]);
    let other = classes(&["a", "s"], &[["0..2", "q"], ["0..2", "z"], ["0..2", "z"], ["0..2", "y"]]);
    let source = table(&["a", "s"], &[["0", "q"], ["0", "r"], ["1", "p"], ["1", "q"]]);
    let found = attack(&[released("1", &one), released("2", &other)], Some(&source));
    // A person who has q may be in both: then q is all that is left.
    assert_eq!(found.people_at_risk, [0, 3], "{found:?}");
}

/// The second person is not in the second release, which the attacker, who takes everyone to be in
/// it, does not know: they are wrong about two people and right about the other two. A list with
/// the true values counts these two, and one without them all four.
#[test]
fn true_values_in_the_list_do_not_make_the_verdict_milder() {
    let one = classes(&["a", "s"], &[["0", "s"], ["0", "r"], ["1", "q"], ["1", "r"]]);
    let two = classes(&["b", "s"], &[["x", "q"], ["x", "r"], ["y", "r"], ["y", "s"]]);
    let tables = [released("1", &one), released("2", &two)];
    let people = [["1", "x", "q"], ["0", "x", "s"], ["0", "y", "r"], ["1", "y", "r"]];
    let without: Vec<[&str; 2]> = people.iter().map(|[a, b, _]| [*a, *b]).collect();
    let found = attack(&tables, Some(&table(&["a", "b"], &without)));
    assert_eq!(found.people_at_risk, [0, 1, 2, 3], "{found:?}");
    let found = attack(&tables, Some(&table(&["a", "b", "s"], &people)));
    assert_eq!((found.people_at_risk.as_slice(), found.effective_l), ([0, 3].as_slice(), Some(1)), "{found:?}");
    let mut values: Vec<&str> = found.explanations.iter().map(|explanation| explanation.value.as_str()).collect();
    values.sort_unstable();
    assert_eq!(values, ["q", "r"], "{found:?}");
}

/// Cheong, Wu, Wong, section 4.2.2: the sets of the classes leave two values whatever the joint
/// cell is; its size leaves one.
#[test]
fn the_size_of_a_joint_cell_leaves_one_value_where_sets_leave_two() {
    let rows = |attribute: &str, cells: [&str; 2]| {
        let of = |cell: usize, counts: [usize; 2]| {
            let x = vec![[cells[cell], "x"]; counts[0]];
            [x, vec![[cells[cell], "y"]; counts[1]]].concat()
        };
        classes(&[attribute, "s"], &[of(0, [3, 1]), of(1, [1, 3])].concat())
    };
    let (one, two) = (rows("a", ["0", "1"]), rows("b", ["u", "v"]));
    let people: Vec<[&str; 2]> =
        [["0", "u"], ["0", "v"], ["1", "u"], ["1", "v"]].iter().flat_map(|cells| [*cells, *cells]).collect();
    let found = attack(&[released("1", &one), released("2", &two)], Some(&table(&["a", "b"], &people)));
    assert_eq!(found.people_at_risk, [0, 1, 6, 7], "{found:?}");
    assert_eq!(attack(&[released("1", &one), released("2", &two)], None).effective_l, Some(2));
    // Who has no list of people, and knows the share, knows the size.
    let with = |share: &str| {
        let joint = [JointShare::parse(share).unwrap()];
        let attacker =
            Attacker { people: None, columns: Columns::Listed, prior: &[], joint: &joint, progress: &NoProgress };
        run("s", &[released("1", &one), released("2", &two)], attacker).unwrap().remove(0)
    };
    let found = with("P(a = 0 | b = u) = 1/2");
    assert_eq!((found.effective_l, found.worst[0].values.len()), (Some(1), 1), "{found:?}");
    assert_eq!(found.details["joint"], json!(["P(a = 0 | b = u) = 1/2"]));
    assert_eq!(with("P(a = 0 | b = u) = 3/4").effective_l, Some(2), "three in the joint cell leave both values");
    let absurd = with("P(a = 0 | b = u) = 0/1");
    assert!(absurd.notes.iter().any(|note| note.text.contains("not used")), "x is in both cells: {absurd:?}");
    assert_eq!(with("P(height >= 2 | b = u) = 1/2").effective_l, Some(2), "of an attribute that no table has");
}

/// Three tables: what two of them leave, the size of the joint cell of all three does not.
#[test]
fn the_size_of_a_joint_cell_of_three_releases_leaves_one_value() {
    let rows = |attribute: &str| {
        let of = |cell: &'static str, counts: [usize; 2]| {
            [vec![[cell, "x"]; counts[0]], vec![[cell, "y"]; counts[1]]].concat()
        };
        classes(&[attribute, "s"], &[of("0", [3, 1]), of("1", [1, 3])].concat())
    };
    let tables = [rows("a"), rows("b"), rows("c")];
    let tables: Vec<Released<'_>> =
        tables.iter().zip(["1", "2", "3"]).map(|(table, name)| released(name, table)).collect();
    let with = |shares: &[&str]| {
        let joint: Vec<JointShare> = shares.iter().map(|share| JointShare::parse(share).unwrap()).collect();
        let attacker =
            Attacker { people: None, columns: Columns::Listed, prior: &[], joint: &joint, progress: &NoProgress };
        run("s", &tables, attacker).unwrap().remove(0)
    };
    assert_eq!(with(&[]).effective_l, Some(2));
    // Of four x three are in each cell, so that at least one is in all three: a cell of one person.
    let found = with(&["P(a = 0, b = 0, c = 0) = 1/8"]);
    assert_eq!(found.effective_l, Some(1), "{found:?}");
}

/// One row of the second release was suppressed. Only the first person has the value that it lacks,
/// so that they cannot be in it: the first release alone tells their value.
#[test]
fn a_person_who_was_suppressed_in_one_release_is_exposed_by_another() {
    let one = classes(&["a", "s"], &[["0", "q"], ["1", "p"], ["1", "r"]]);
    let two = classes(&["b", "s"], &[["*", "p"], ["*", "r"]]);
    let people = table(&["a", "b", "s"], &[["0", "x", "q"], ["1", "x", "p"], ["1", "x", "r"]]);
    let tables = [released("1", &one), Released { suppressed: 1, ..released("2", &two) }];
    for columns in [Columns::Listed, Columns::All] {
        let found = attack_with(&tables, Some(&people), columns);
        assert_eq!((found.people_at_risk.as_slice(), found.effective_l), ([0].as_slice(), Some(1)), "{found:?}");
        assert_eq!(found.explanations.len(), 1, "{found:?}");
        assert!(!found.details.contains_key("not_in_all"), "{found:?}");
    }
}

/// Two people look alike, and the bucket has one row of them: not everyone can be in the release,
/// though its values would allow it. The other two releases are still taken together.
#[test]
fn classes_of_a_bucket_have_rows_of_their_own() {
    let quasi = table(&["a", "group"], &[["0", "1"], ["2", "1"], ["2", "2"], ["3", "2"]]);
    let values = ["p", "q"].map(str::to_owned).to_vec();
    let counts = SensitiveCounts::new("s".to_owned(), values, 2, vec![(0, 0, 1), (0, 1, 1), (1, 0, 1), (1, 1, 1)]);
    let cover = |name: &str, label: &str| crate::adversaries::testing::cover(name, label);
    let buckets = ReleasedClasses::of_bucketized("data", &quasi, &["a".to_owned()], vec![counts], cover, "t").unwrap();
    let one = classes(&["a", "s"], &[["0", "p"], ["0", "q"], ["2..4", "p"], ["2..4", "q"]]);
    let two = classes(&["b", "s"], &[["x", "p"], ["y", "q"], ["y", "q"], ["y", "p"]]);
    let rows = [["0", "x", "p"], ["0", "y", "q"], ["2", "y", "p"], ["3", "y", "q"]];
    let people = table(&["a", "b", "s"], &rows);
    let together = attack(&[released("1", &one), released("2", &two)], Some(&people));
    assert_eq!(together.people_at_risk, [0, 1], "{together:?}");
    let found = attack(&[released("0", &buckets), released("1", &one), released("2", &two)], Some(&people));
    assert!(found.details["assumed"].as_str().unwrap().contains("not all people can be in 0"), "{found:?}");
    assert_eq!(found.people_at_risk, [0, 1], "{found:?}");
}

/// No one knows a table that fits all three; the two that fit are taken together.
#[test]
fn releases_that_contradict_each_other_are_taken_together_as_far_as_they_fit() {
    let one = classes(&["a", "s"], &[["0", "q"], ["0", "r"], ["1", "q"], ["1", "r"], ["3", "q"], ["3", "r"]]);
    let two = classes(&["b", "s"], &[["x", "q"], ["x", "r"], ["x", "r"], ["y", "q"], ["y", "q"], ["y", "r"]]);
    let other = classes(&["a", "s"], &[["*", "z"], ["*", "z"], ["*", "z"], ["*", "q"], ["*", "r"], ["*", "z"]]);
    let people = table(&["a", "b"], &[["0", "x"], ["0", "x"], ["1", "y"], ["1", "x"], ["3", "y"], ["3", "y"]]);
    let tables = [released("0", &other), released("1", &one), released("2", &two)];
    let found = attack(&tables, Some(&people));
    assert_eq!(found.people_at_risk, [2, 3], "{found:?}");
    assert!(found.notes.iter().any(|note| note.text.contains("no table fits all releases")), "{found:?}");
}

#[test]
fn degenerate_tables() {
    let one = classes(&["a", "s"], &[["0", "q"]]);
    let found = attack(&[released("1", &one)], Some(&table(&["a"], &[["5"]])));
    assert_eq!((found.people, found.at_risk, &found.details["not_in_all"]), (1, 0, &json!(1)));
    let found = attack(&[released("1", &one)], Some(&table(&["a"], &[["0"]])));
    assert_eq!((found.at_risk, found.max_confidence), (1, 1.0));
    let missing = classes(&["a", "s"], &[["", ""], ["", "q"]]);
    let found = attack(&[released("1", &missing)], Some(&table(&["a"], &[[""], [""]])));
    assert_eq!((found.at_risk, found.effective_l), (0, Some(2)), "{found:?}");
    assert_eq!(found.max_confidence, 0.5);
}

/// Releases of the same random people, each with cells of its own widths; the people, with their
/// true values where `truth` says so.
fn many(people: usize, releases: usize, truth: bool) -> (Vec<ReleasedClasses>, Table) {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};
    let mut rng = StdRng::seed_from_u64(7);
    let rows: Vec<[u32; 4]> = (0..people)
        .map(|_| {
            let value = rng.random_range(0..12u32).min(rng.random_range(0..12));
            [rng.random_range(0..80), rng.random_range(0..400), rng.random_range(0..2), value]
        })
        .collect();
    let label = |value: u32, width: u32| format!("{}..{}", value / width * width, value / width * width + width);
    let tables = (0..releases as u32).map(|number| {
        let (a, b) = (3 + number % 5, 7 + 5 * (number % 4));
        let texts: Vec<[String; 4]> = rows
            .iter()
            .map(|row| [label(row[0], a), label(row[1], b), row[2].to_string(), format!("v{:02}", row[3])])
            .collect();
        let cells: Vec<[&str; 4]> = texts.iter().map(|row| row.each_ref().map(String::as_str)).collect();
        classes(&["a", "b", "c", "s"], &cells)
    });
    let texts: Vec<[String; 4]> = rows
        .iter()
        .map(|row| [row[0].to_string(), row[1].to_string(), row[2].to_string(), format!("v{:02}", row[3])])
        .collect();
    let cells: Vec<Vec<&str>> =
        texts.iter().map(|row| row[..3 + usize::from(truth)].iter().map(String::as_str).collect()).collect();
    (tables.collect(), Table::from_texts(&["a", "b", "c", "s"][..3 + usize::from(truth)], &cells))
}

fn measured(people: usize, releases: usize, truth: bool) {
    let (tables, people) = many(people, releases, truth);
    let names: Vec<String> = (0..releases).map(|number| number.to_string()).collect();
    let tables: Vec<Released<'_>> = tables.iter().zip(&names).map(|(table, name)| released(name, table)).collect();
    let started = std::time::Instant::now();
    let found = attack_with(&tables, Some(&people), Columns::All);
    println!(
        "{} people, {releases} releases: {:.1} s, {} at risk, {} undecided, {:?}",
        people.rows,
        started.elapsed().as_secs_f64(),
        found.at_risk,
        found.details["undecided"],
        found.notes
    );
}

#[test]
#[ignore = "a measurement: cargo test --release -p hedgerow-audit measure_worlds -- --ignored --nocapture"]
fn measure_worlds_of_two_releases_of_339000_people() {
    measured(339_000, 2, true);
}

#[test]
#[ignore = "a measurement: cargo test --release -p hedgerow-audit measure_worlds -- --ignored --nocapture"]
fn measure_worlds_of_ten_releases_of_100000_people() {
    measured(100_000, 10, true);
}

mod canceled;
mod explained;
mod gone;
mod linked;
mod parts;
mod roles;
mod suppressed;
mod whole;
