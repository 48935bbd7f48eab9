//! Tables that say different things of the same rows: rounded numbers, several columns, missing
//! values. Against every table of people that fits, from the definition.

use std::collections::BTreeSet;

use hedgerow_release::Codebook;
use hedgerow_table::Bound;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::adversaries::testing::cover;
use crate::testing::seeds;

/// A released table of which some columns are quasi-identifiers, some sensitive.
pub(super) struct Made {
    rows: Table,
    classes: ReleasedClasses,
    codebook: Codebook,
}

impl Made {
    /// `s` is rounded to multiples of `step`, unless that is 1.
    pub(super) fn new<const N: usize>(names: &[&str; N], quasi: &[&str], rows: &[[&str; N]], step: i64) -> Made {
        Made::of(names, quasi, &rows.iter().map(|row| row.to_vec()).collect::<Vec<_>>(), step)
    }

    fn of(names: &[&str], quasi: &[&str], rows: &[Vec<&str>], step: i64) -> Made {
        let rows = Table::from_texts(names, rows);
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
        let sensitive: Vec<&str> = ["s", "t"].into_iter().filter(|name| names.contains(name)).collect();
        let classes =
            ReleasedClasses::of_generalized("data", &rows, &owned(quasi), &owned(&sensitive), cover, "t").unwrap();
        let mut codebook = Codebook::new();
        if step > 1 {
            let column = rows.column("s").unwrap();
            for code in 0..column.domain.cardinality() as u32 {
                let text = column.domain.text(code);
                let middle: i64 = text.parse().unwrap();
                let [low, high] = [middle - step / 2, middle + step - step / 2].map(|end| Some(Bound::Integer(end)));
                codebook.insert("s", &text, &Cover::Interval { low, high }).unwrap();
            }
            codebook.mark_coarse("s", []);
        }
        Made { rows, classes, codebook }
    }

    fn has_quasi(&self, name: &str) -> bool {
        self.classes.quasi.iter().any(|quasi| quasi.name == *name)
    }

    pub(super) fn released<'a>(&'a self, name: &'a str) -> Released<'a> {
        Released { rows: Some(&self.rows), codebook: Some(&self.codebook), ..released(name, &self.classes) }
    }
}

fn named<'a>(tables: &[&'a Made]) -> Vec<Released<'a>> {
    tables.iter().zip(["1", "2", "3"]).map(|(made, name)| made.released(name)).collect()
}

fn at_risk(tables: &[&Made], people: &Table) -> Vec<u32> {
    let found = attack(&named(tables), Some(people));
    assert_eq!(found.details["exact"], json!(true), "{found:?}");
    found.people_at_risk
}

#[test]
fn a_rounded_value_and_an_exact_one_are_compared_by_what_they_cover() {
    let one =
        Made::new(&["a", "s"], &["a"], &[["0..2", "1000"], ["0..2", "2000"], ["2..9", "2000"], ["2..9", "3000"]], 1000);
    let two = Made::new(&["b", "s"], &["b"], &[["p", "900"], ["p", "2050"], ["q", "2100"], ["q", "3100"]], 1);
    let people = table(&["a", "b"], &[["1", "p"], ["1", "q"], ["2", "p"], ["2", "q"]]);
    // 900 is 1000 rounded, and 3100 is 3000: (1, p) has 900 and (2, q) 3100, which leaves one each.
    assert_eq!(at_risk(&[&one, &two], &people), [0, 1, 2, 3]);
}

#[test]
fn a_rounded_value_does_not_make_an_exact_one_certain() {
    let one =
        Made::new(&["a", "s"], &["a"], &[["0..2", "2000"], ["0..2", "5000"], ["2..9", "2000"], ["2..9", "3000"]], 1000);
    let two = Made::new(&["b", "s"], &["b"], &[["p", "2000"], ["p", "2100"], ["q", "3000"], ["q", "5000"]], 1);
    let people = table(&["a", "b"], &[["1", "p"], ["1", "q"], ["2", "p"], ["2", "q"]]);
    // Both people of p have 2000 when rounded; which has 2100 is open.
    assert_eq!(at_risk(&[&one, &two], &people), [1, 3]);
}

#[test]
fn two_sensitive_values_of_a_row_stay_together() {
    let one = [
        ["0..3", "x", "m"],
        ["0..3", "y", "n"],
        ["3..9", "x", "m"],
        ["3..9", "x", "m"],
        ["3..9", "x", "n"],
        ["3..9", "y", "m"],
    ];
    let one = Made::new(&["a", "s", "t"], &["a"], &one, 1);
    let two = [["p", "y", "n"], ["p", "x", "m"], ["q", "x", "m"], ["q", "x", "m"], ["q", "x", "n"], ["q", "y", "m"]];
    let two = Made::new(&["b", "s", "t"], &["b"], &two, 1);
    let people = table(&["a", "b"], &[["1", "p"], ["1", "q"], ["5", "p"], ["5", "q"], ["5", "q"], ["5", "q"]]);
    let found = at_risk(&[&one, &two], &people);
    assert_eq!(found, worlds(&[&one, &two], &people), "{found:?}");
    assert!(found.contains(&0), "{found:?}");
}

#[test]
fn a_plain_column_links_rows_of_two_tables() {
    let one = [["0..3", "m", "x"], ["0..3", "n", "y"], ["3..9", "n", "x"], ["3..9", "m", "y"]];
    let one = Made::new(&["a", "c", "s"], &["a"], &one, 1);
    let two = [["p", "m", "x"], ["p", "m", "y"], ["q", "n", "x"], ["q", "n", "y"]];
    let two = Made::new(&["b", "c", "s"], &["b"], &two, 1);
    let people = table(&["a", "b"], &[["1", "p"], ["1", "q"], ["5", "p"], ["5", "q"]]);
    assert_eq!(at_risk(&[&one, &two], &people), [0, 1, 2, 3]);
}

#[test]
fn a_plain_column_of_one_table_is_a_label_of_another() {
    let one = [["0..3", "1", "x"], ["0..3", "8", "y"], ["3..9", "8", "x"], ["3..9", "1", "y"]];
    let one = Made::new(&["a", "c", "s"], &["a"], &one, 1);
    let two = [["0..5", "x"], ["0..5", "y"], ["5..9", "x"], ["5..9", "y"]];
    let two = Made::new(&["c", "s"], &["c"], &two, 1);
    let people = table(&["a", "c"], &[["1", "1"], ["1", "8"], ["5", "1"], ["5", "8"]]);
    assert_eq!(at_risk(&[&one, &two], &people), [0, 1, 2, 3]);
}

#[test]
fn a_missing_value_may_be_any_where_no_table_fits_otherwise() {
    let one =
        Made::new(&["a", "s"], &["a"], &[["0..2", "y"], ["0..2", "z"], ["2..9", "x"], ["2..9", ""], ["2..9", "y"]], 1);
    let two = Made::new(&["b", "s"], &["b"], &[["p", "x"], ["p", "y"], ["p", "z"], ["q", "x"], ["q", "y"]], 1);
    let people = table(&["a", "b"], &[["1", "p"], ["1", "q"], ["5", "p"], ["5", "p"], ["5", "q"]]);
    // (1, q) cannot have z, so y; (1, p) has z. That a missing value may be any is supposed.
    let found = attack(&named(&[&one, &two]), Some(&people));
    assert_eq!(
        (found.people_at_risk.as_slice(), &found.details["exact"]),
        (&[0, 1, 4][..], &json!(false)),
        "{found:?}"
    );
    assert!(found.notes.iter().any(|note| note.text.contains("may stand for any")), "{found:?}");
    let one = Made::new(&["a", "s"], &["a"], &[["0", "x"], ["0", ""]], 1);
    let two = Made::new(&["a", "s"], &["a"], &[["0", "x"], ["0", "y"]], 1);
    let people = table(&["a"], &[["0"], ["0"]]);
    assert_eq!(attack(&named(&[&one, &two]), Some(&people)).people_at_risk, [] as [u32; 0]);
}

/// A bucketized table: each row's cell and bucket, and by bucket how often each value of one
/// attribute occurs.
fn buckets(name: &str, rows: &[[&str; 2]], attribute: &str, counts: &[(u32, &str, u32)]) -> ReleasedClasses {
    let quasi = table(&[name, "group"], rows);
    let mut values: Vec<String> = counts.iter().map(|(_, value, _)| (*value).to_owned()).collect();
    values.sort_unstable();
    values.dedup();
    let code = |value: &str| values.iter().position(|known| known == value).unwrap() as u32;
    let coded = counts.iter().map(|&(bucket, value, rows)| (bucket, code(value), rows)).collect();
    let last = counts.iter().map(|(bucket, ..)| bucket + 1).max().unwrap() as usize;
    let counts = SensitiveCounts::new(attribute.to_owned(), values.clone(), last, coded);
    let cover = |name: &str, label: &str| crate::adversaries::testing::cover(name, label);
    ReleasedClasses::of_bucketized("data", &quasi, &[name.to_owned()], vec![counts], cover, "t").unwrap()
}

/// The buckets have another attribute than the one that is looked for; it links their rows to those
/// of a table with both.
#[test]
fn the_attribute_of_buckets_links_the_rows_of_another_table() {
    let one = buckets("b", &[["u", "1"], ["u", "1"], ["v", "2"], ["v", "2"]], "t", &[(0, "m", 2), (1, "n", 2)]);
    let two =
        Made::new(&["a", "s", "t"], &["a"], &[["1", "x", "m"], ["1", "x", "m"], ["1", "y", "n"], ["1", "z", "n"]], 1);
    let people = table(&["a", "b"], &[["1", "u"], ["1", "u"], ["1", "v"], ["1", "v"]]);
    let found = attack(&[released("1", &one), two.released("2")], Some(&people));
    assert_eq!(
        (found.people_at_risk.as_slice(), &found.details["exact"]),
        ([0, 1].as_slice(), &json!(true)),
        "{found:?}"
    );
}

/// Buckets count apart the column by which rows are linked: it is said that more may follow.
#[test]
fn what_buckets_do_not_tell_of_each_row_is_said() {
    let one = buckets(
        "c",
        &[["m", "1"], ["n", "1"], ["m", "2"], ["n", "2"]],
        "s",
        &[(0, "x", 1), (0, "y", 1), (1, "x", 1), (1, "y", 1)],
    );
    let two =
        Made::new(&["a", "c", "s"], &["a"], &[["1", "m", "x"], ["1", "m", "x"], ["1", "n", "y"], ["1", "n", "y"]], 1);
    let people = table(&["a", "c"], &[["1", "m"], ["1", "n"], ["1", "m"], ["1", "n"]]);
    let found = attack(&[released("1", &one), two.released("2")], Some(&people));
    assert_eq!(found.details["exact"], json!(false), "{found:?}");
    assert!(found.notes.iter().any(|note| note.text.contains("rows can be linked by c")), "{found:?}");
}

#[test]
fn rounded_values_of_buckets_and_exact_ones_are_compared_by_what_they_cover() {
    let counts = [(0, "1000", 1), (0, "2000", 1), (1, "2000", 1), (1, "3000", 1)];
    let one = buckets("a", &[["1", "1"], ["1", "1"], ["2", "2"], ["2", "2"]], "s", &counts);
    let like = Made::new(&["a", "s"], &["a"], &[["1", "1000"], ["1", "2000"], ["2", "2000"], ["2", "3000"]], 1000);
    let two = Made::new(&["b", "s"], &["b"], &[["p", "900"], ["p", "2050"], ["q", "2100"], ["q", "3100"]], 1);
    let people = table(&["a", "b"], &[["1", "p"], ["1", "q"], ["2", "p"], ["2", "q"]]);
    let tables = [Released { codebook: Some(&like.codebook), ..released("1", &one) }, two.released("2")];
    let found = attack(&tables, Some(&people));
    assert_eq!(found.people_at_risk, [0, 1, 2, 3], "{found:?}");
}

/// The third person was suppressed in the only release that has `t`: another release shows which
/// one they are, and nothing of `t` is known of them.
#[test]
fn a_value_that_no_release_says_of_a_person_is_not_certain() {
    let one = Made::new(&["a", "s"], &["a"], &[["1", "x"], ["2", "y"], ["3", "z"]], 1);
    let two = Made::new(&["b", "s", "t"], &["b"], &[["u", "x", "m"], ["u", "y", "n"]], 1);
    let people = table(&["a", "b"], &[["1", "u"], ["2", "u"], ["3", "v"]]);
    let tables = [one.released("1"), Released { suppressed: 1, ..two.released("2") }];
    let attacker =
        Attacker { people: Some(&people), columns: Columns::All, prior: &[], joint: &[], progress: &NoProgress };
    let found = run("t", &tables, attacker).unwrap().remove(0);
    assert_eq!(found.people_at_risk, [0, 1], "{found:?}");
    assert_eq!((&found.details["exact"], &found.details["not_in_all"]), (&json!(true), &json!(1)), "{found:?}");
}

/// The people who have one value of `s` in every table that fits: each person of `people` is given
/// a value of each column that the releases show beside their labels, in every way.
fn worlds(tables: &[&Made], people: &Table) -> Vec<u32> {
    let mut names: Vec<String> = Vec::new();
    for made in tables {
        let quasi: Vec<&String> = made.classes.quasi.iter().map(|quasi| &quasi.name).collect();
        names.extend(made.rows.header.iter().filter(|name| !quasi.contains(name)).cloned());
    }
    names.sort_unstable();
    names.dedup();
    // Every text of a column; of numbers that some tables round, all exact ones.
    let domain = |name: &String| -> Vec<String> {
        let texts = |made: &&&Made| -> Vec<String> {
            let Some(column) = made.rows.column(name).filter(|_| !made.has_quasi(name)) else { return Vec::new() };
            (0..made.rows.rows).map(|row| column.text(row)).collect()
        };
        let exact: Vec<&&Made> = tables.iter().filter(|made| !(name == "s" && made.codebook.is_coarse("s"))).collect();
        let has = |made: &&&Made| made.rows.column(name).is_some();
        let chosen: Vec<&&Made> = match exact.iter().any(has) {
            true => exact,
            false => tables.iter().collect(),
        };
        chosen.iter().flat_map(texts).collect::<BTreeSet<String>>().into_iter().collect()
    };
    let domains: Vec<Vec<String>> = names.iter().map(domain).collect();
    let mut kinds: Vec<Vec<String>> = vec![Vec::new()];
    for domain in &domains {
        kinds = kinds
            .iter()
            .flat_map(|kind| domain.iter().map(|text| [kind.as_slice(), std::slice::from_ref(text)].concat()))
            .collect();
    }
    let count = people.rows;
    let mut possible: Vec<BTreeSet<String>> = vec![BTreeSet::new(); count];
    let s = names.iter().position(|name| name == "s").unwrap();
    let mut chosen = vec![0usize; count];
    loop {
        let given: Vec<&Vec<String>> = chosen.iter().map(|&kind| &kinds[kind]).collect();
        if tables.iter().all(|made| is_made_of(made, people, &names, &given)) {
            for (possible, given) in possible.iter_mut().zip(&given) {
                possible.insert(given[s].clone());
            }
        }
        let Some(next) = chosen.iter().rposition(|&kind| kind + 1 < kinds.len()) else { break };
        chosen[next] += 1;
        chosen[next + 1..].fill(0);
    }
    (0..).zip(&possible).filter(|(_, values)| values.len() == 1).map(|(person, _)| person).collect()
}

/// Whether a table can have been made of people with these values: one row for each of them, and
/// others of people who are not listed.
fn is_made_of(made: &Made, people: &Table, names: &[String], given: &[&Vec<String>]) -> bool {
    fn assign(person: usize, fits: &[Vec<usize>], used: &mut [bool]) -> bool {
        let Some(rows) = fits.get(person) else { return true };
        rows.iter().any(|&row| {
            let free = !std::mem::replace(&mut used[row], true);
            let found = free && assign(person + 1, fits, used);
            used[row] &= !free || found;
            found
        })
    }
    let is_within = |label: &str, value: &str| match cover("", label) {
        Cover::Everything => true,
        Cover::Interval { low: Some(Bound::Integer(low)), high: Some(Bound::Integer(high)) } => {
            value.parse::<i64>().is_ok_and(|value| (low..high).contains(&value))
        }
        _ => label == value,
    };
    let fits = |person: usize, row: usize| {
        made.rows.columns.iter().all(|column| {
            let (name, label) = (&column.name, column.text(row));
            let is_quasi = made.has_quasi(name);
            let value = match people.column(name).filter(|_| is_quasi) {
                Some(known) => known.text(person),
                None => given[person][names.iter().position(|own| own == name).unwrap()].clone(),
            };
            // A quasi-identifier that another table shows beside its labels has one value.
            let is_one = match names.iter().position(|own| own == name) {
                Some(at) => given[person][at] == value,
                None => true,
            };
            let says = match name == "s" && made.codebook.is_coarse("s") {
                true => match made.codebook.cover("s", &label) {
                    Some(Cover::Interval { low: Some(Bound::Integer(low)), high: Some(Bound::Integer(high)) }) => {
                        value == label || value.parse::<i64>().is_ok_and(|value| (*low..*high).contains(&value))
                    }
                    _ => false,
                },
                false => is_within(&label, &value) && (is_quasi || label == value),
            };
            is_one && says
        })
    };
    let all: Vec<Vec<usize>> =
        (0..people.rows).map(|person| (0..made.rows.rows).filter(|&row| fits(person, row)).collect()).collect();
    made.rows.rows >= people.rows && assign(0, &all, &mut vec![false; made.rows.rows])
}

/// Two or three tables of a few people, each with some of the columns, rounded or not.
#[test]
fn every_table_that_fits_agrees_where_tables_say_different_things() {
    let (mut exposed, mut rounded, mut linked) = (0, 0, 0);
    for seed in seeds(400) {
        let mut rng = StdRng::seed_from_u64(seed);
        let count = rng.random_range(1..5usize);
        let people: Vec<[String; 4]> = (0..count)
            .map(|_| {
                let s = ["900", "1100", "1900", "2100"][rng.random_range(0..4)].to_owned();
                let c = if rng.random_bool(0.5) { "m" } else { "n" };
                [rng.random_range(0..4).to_string(), rng.random_range(0..4).to_string(), c.to_owned(), s]
            })
            .collect();
        let tables: Vec<Made> = (0..rng.random_range(1..4))
            .map(|_| {
                let by = rng.random_range(0..2usize);
                let step = if rng.random_bool(0.4) { 1000 } else { 1 };
                let has_c = rng.random_bool(0.6);
                let width: i64 = rng.random_range(1..4);
                let row = |person: &[String; 4]| {
                    let value: i64 = person[by].parse().unwrap();
                    let low = value / width * width;
                    let s: i64 = person[3].parse().unwrap();
                    let s = if step > 1 { (s + step / 2) / step * step } else { s };
                    [format!("{low}..{}", low + width), person[2].clone(), s.to_string()]
                };
                let rows: Vec<[String; 3]> = people.iter().map(row).collect();
                let name = ["a", "b"][by];
                rounded += usize::from(step > 1);
                linked += usize::from(has_c);
                match has_c {
                    true => {
                        let rows: Vec<[&str; 3]> = rows.iter().map(|row| row.each_ref().map(String::as_str)).collect();
                        Made::new(&[name, "c", "s"], &[name], &rows, step)
                    }
                    false => {
                        let rows: Vec<[&str; 2]> = rows.iter().map(|row| [row[0].as_str(), row[2].as_str()]).collect();
                        Made::new(&[name, "s"], &[name], &rows, step)
                    }
                }
            })
            .collect();
        let known: Vec<[&str; 2]> = people.iter().map(|person| [person[0].as_str(), person[1].as_str()]).collect();
        let known = table(&["a", "b"], &known);
        let tables: Vec<&Made> = tables.iter().collect();
        let found = at_risk(&tables, &known);
        assert_eq!(found, worlds(&tables, &known), "seed {seed}: {people:?}");
        exposed += usize::from(!found.is_empty());
    }
    if seeds(400).count() > 1 {
        assert!(exposed > 40 && rounded > 40 && linked > 40, "{exposed} {rounded} {linked}");
    }
}

/// The people, a table of them, and whether it has a row more than there are people.
fn random_table(rng: &mut StdRng, people: &[[String; 4]]) -> (Made, bool) {
    let by = rng.random_range(0..2usize);
    let (is_plain, is_quasi) = [(false, false), (true, false), (true, false), (false, true)][rng.random_range(0..4)];
    let has_s = !is_plain || rng.random_bool(0.7);
    let is_larger = !has_s && rng.random_bool(0.5);
    let (width, overlaps) = (rng.random_range(1..4i64), rng.random_bool(0.5));
    let mut label = |value: &str| {
        let value: i64 = value.parse().unwrap();
        let width = if overlaps { rng.random_range(1..4) } else { width };
        let low = value / width * width;
        if width == 1 { value.to_string() } else { format!("{low}..{}", low + width) }
    };
    let more = people[..usize::from(is_larger)].iter();
    let mut rows: Vec<Vec<String>> = Vec::new();
    for person in people.iter().chain(more) {
        let mut row = vec![label(&person[by])];
        row.extend(is_quasi.then(|| label(&person[2])).or_else(|| is_plain.then(|| person[2].clone())));
        row.extend(has_s.then(|| person[3].clone()));
        rows.push(row);
    }
    let c = (is_plain || is_quasi).then_some("c");
    let names: Vec<&str> = [["a", "b"][by]].into_iter().chain(c).chain(has_s.then_some("s")).collect();
    let quasi = &names[..if is_quasi { 2 } else { 1 }];
    let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
    (Made::of(&names, quasi, &rows, 1), is_larger)
}

/// Tables with labels that overlap, by which c is known, beside others that show c, with s or
/// without it and with one row more; and lists with c and the true values, or without.
#[test]
fn every_table_that_fits_agrees_where_a_known_column_links_rows() {
    let (mut exposed, mut larger, mut known, mut open) = (0, 0, 0, 0);
    for seed in seeds(600) {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut digit = |count: u32| rng.random_range(0..count).to_string();
        let people: Vec<[String; 4]> =
            (0..2 + seed % 3).map(|_| [digit(4), digit(4), digit(3), format!("s{}", digit(3))]).collect();
        let tables: Vec<(Made, bool)> = (0..rng.random_range(2..4)).map(|_| random_table(&mut rng, &people)).collect();
        if !tables.iter().any(|(made, _)| made.rows.column("s").is_some()) {
            continue;
        }
        let is_known = tables.iter().any(|(made, _)| made.has_quasi("c"));
        let (has_c, has_s) = (is_known || rng.random_bool(0.3), rng.random_bool(0.6));
        let columns: Vec<usize> = [0, 1].into_iter().chain(has_c.then_some(2)).chain(has_s.then_some(3)).collect();
        let names: Vec<&str> = columns.iter().map(|&at| ["a", "b", "c", "s"][at]).collect();
        let rows: Vec<Vec<&str>> =
            people.iter().map(|person| columns.iter().map(|&at| person[at].as_str()).collect()).collect();
        let listed = Table::from_texts(&names, &rows);
        let tables_of: Vec<&Made> = tables.iter().map(|(made, _)| made).collect();
        let certain = worlds(&tables_of, &listed);
        let found = attack(&named(&tables_of), Some(&listed));
        match found.details["exact"] == true {
            true => assert_eq!(found.people_at_risk, certain, "seed {seed}: {people:?} {names:?} {found:?}"),
            false => {
                open += 1;
                let is_true = found.people_at_risk.iter().all(|person| certain.contains(person));
                assert!(is_true, "seed {seed}: {certain:?} {people:?} {names:?} {found:?}");
            }
        }
        exposed += usize::from(!certain.is_empty());
        larger += usize::from(tables.iter().any(|(_, is_larger)| *is_larger));
        known += usize::from(is_known);
    }
    println!("{exposed} exposed, {larger} larger, {known} known, {open} open");
    if seeds(600).count() > 1 {
        assert!(exposed > 40 && larger > 40 && known > 40 && open * 5 < exposed, "{exposed} {larger} {known} {open}");
    }
}

/// A list of people with true values lacks the column that links rows: what follows is the same, as
/// long as it is true.
#[test]
fn a_list_without_the_linking_column_hides_nobody_who_is_exposed() {
    let one = [["0..3", "m", "x"], ["0..3", "n", "y"], ["3..9", "n", "x"], ["3..9", "m", "y"]];
    let one = Made::new(&["a", "c", "s"], &["a"], &one, 1);
    let two = [["p", "m", "x"], ["p", "m", "y"], ["q", "n", "x"], ["q", "n", "y"]];
    let two = Made::new(&["b", "c", "s"], &["b"], &two, 1);
    let people = |values: [&str; 4]| {
        let [first, second, third, fourth] = values;
        table(&["a", "b", "s"], &[["1", "p", first], ["1", "q", second], ["5", "p", third], ["5", "q", fourth]])
    };
    assert_eq!(at_risk(&[&one, &two], &people(["x", "y", "y", "x"])), [0, 1, 2, 3]);
    // No row of the second table is of these people: nothing false is certain.
    assert!(at_risk(&[&one, &two], &people(["y", "x", "x", "y"])).is_empty());
}

/// c is known of everyone, and labels of it overlap: the third person, who has q and c 1 as the
/// first two, is not in the class of c 1 but in the other one.
#[test]
fn a_label_that_covers_a_known_value_is_not_the_statement_of_everyone_with_it() {
    let one = [["0", "1", "q"], ["0", "1", "q"], ["*", "*", "q"], ["*", "*", "r"]];
    let one = Made::new(&["a", "c", "s"], &["a", "c"], &one, 1);
    let two = Made::new(&["b", "c"], &["b"], &[["*", "1"], ["*", "1"], ["*", "1"], ["*", "2"]], 1);
    let people = [["0", "x", "1", "q"], ["0", "x", "1", "q"], ["5", "x", "1", "q"], ["5", "x", "2", "r"]];
    assert_eq!(at_risk(&[&two, &one], &table(&["a", "b", "c", "s"], &people)), [0, 1]);
}

/// The list lacks c, and the second person has q in two rows of their class, of which one is theirs
/// in the other release too.
#[test]
fn a_list_without_the_linking_column_leaves_several_rows_to_a_person() {
    let one = [["1", "m", "q"], ["1", "n", "q"], ["1", "k", "r"], ["5", "m", "r"]];
    let one = Made::new(&["a", "c", "s"], &["a"], &one, 1);
    let two = [["x", "m", "q"], ["x", "m", "r"], ["y", "n", "q"], ["y", "k", "r"]];
    let two = Made::new(&["b", "c", "s"], &["b"], &two, 1);
    let people = [["1", "x", "q"], ["1", "y", "q"], ["1", "y", "r"], ["5", "x", "r"]];
    let without: Vec<[&str; 2]> = people.iter().map(|[a, b, _]| [*a, *b]).collect();
    let found = at_risk(&[&one, &two], &table(&["a", "b", "s"], &people));
    assert_eq!(found, [0, 3]);
    assert_eq!(found, worlds(&[&one, &two], &table(&["a", "b"], &without)));
}

/// A column changed in between, so that no row of the second and the fourth person is in both
/// releases: the others are linked all the same.
#[test]
fn people_whose_rows_cannot_be_linked_hide_no_others() {
    let one =
        Made::new(&["a", "c", "s"], &["a"], &[["1", "m", "x"], ["1", "n", "y"], ["5", "k", "y"], ["5", "l", "x"]], 1);
    let two =
        Made::new(&["b", "c", "s"], &["b"], &[["p", "m", "x"], ["p", "k", "y"], ["q", "z", "y"], ["q", "w", "x"]], 1);
    let people = [["1", "p", "x"], ["1", "q", "y"], ["5", "p", "y"], ["5", "q", "x"]];
    let tables = named(&[&one, &two]);
    let found = attack(&tables, Some(&table(&["a", "b", "s"], &people)));
    assert_eq!(found.people_at_risk, [0, 2], "{found:?}");
    // Who does not know the values compares s alone, which is said.
    let without: Vec<[&str; 2]> = people.iter().map(|[a, b, _]| [*a, *b]).collect();
    let found = attack(&tables, Some(&table(&["a", "b"], &without)));
    assert_eq!((found.at_risk, &found.details["exact"]), (0, &json!(false)), "{found:?}");
    assert!(found.notes.iter().any(|note| note.text.contains("no table fits all releases when")), "{found:?}");
}

/// The second release has no s, and a person more: that does not hide which c is whose.
#[test]
fn a_release_without_the_attribute_and_with_other_people_links_rows() {
    let one = Made::new(&["a", "c", "s"], &["a"], &[["1", "m", "x"], ["1", "n", "y"]], 1);
    let two = Made::new(&["b", "c"], &["b"], &[["p", "m"], ["q", "n"], ["r", "n"]], 1);
    let people = [["1", "p", "x"], ["1", "q", "y"]];
    assert_eq!(at_risk(&[&two, &one], &table(&["a", "b", "s"], &people)), [0, 1]);
    let without: Vec<[&str; 2]> = people.iter().map(|[a, b, _]| [*a, *b]).collect();
    assert_eq!(at_risk(&[&two, &one], &table(&["a", "b"], &without)), [0, 1]);
    // Without a list it is omitted, which is said.
    let found = attack(&named(&[&two, &one]), None);
    assert_eq!((found.at_risk, &found.details["exact"]), (0, &json!(false)), "{found:?}");
    assert!(found.notes.iter().any(|note| note.text.contains("another number")), "{found:?}");
}

/// Which of two people stayed is known, and of the one who came the newest release tells a rounded
/// value alone: what the old one says of others of their cells is not theirs.
#[test]
fn an_exact_value_of_an_earlier_release_is_not_that_of_who_came() {
    let old = Made::new(&["a", "s"], &["a"], &[["0..9", "900"]], 1);
    let new = Made::new(&["a", "s"], &["a"], &[["0..9", "1000"], ["0..9", "1000"]], 1000);
    let tables = named(&[&old, &new]).into_iter().map(|table| Released { custodian: Some(0), ..table });
    let tables: Vec<Released<'_>> = tables.collect();
    let found = attack(&tables, Some(&table(&["a", "s"], &[["1", "900"], ["1", "1100"]])));
    assert_eq!((found.people_at_risk.as_slice(), &found.details["exact"]), (&[0, 1][..], &json!(true)), "{found:?}");
}
