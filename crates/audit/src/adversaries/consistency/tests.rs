//! Children without incomes and men who are not pregnant; and random tables against a count by
//! hand.

use std::cell::RefCell;
use std::collections::BTreeMap;

use hedgerow_release::Codebook;
use hedgerow_release::generalized::Generalized;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::super::testing::cover;
use super::*;
use crate::testing::seeds;

/// A table as it is, and its release with the first columns as labels.
fn released(header: &[&str], rows: &[Vec<String>], labels: &[Vec<String>], sensitive: &[&str]) -> (Table, Release) {
    let texts = |rows: &[Vec<String>]| -> Table {
        let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
        Table::from_texts(header, &rows)
    };
    let (people, table) = (texts(rows), texts(labels));
    let changed = |name: &&&str| {
        (0..people.rows).any(|row| people.column(name).unwrap().text(row) != table.column(name).unwrap().text(row))
    };
    let quasi: Vec<String> = header.iter().filter(changed).map(|name| (*name).to_owned()).collect();
    let mut codebook = Codebook::new();
    for name in &quasi {
        let column = table.column(name).unwrap();
        for code in 0..column.domain.cardinality() as u32 {
            let label = column.domain.text(code);
            codebook.insert(name, &label, &cover(name, &label)).unwrap();
        }
    }
    let sensitive = sensitive.iter().map(|name| (*name).to_owned()).collect();
    let release = Release::of_table("r", table, quasi, sensitive, codebook).unwrap();
    (people, release)
}

/// The release without some rows, which its manifest says were suppressed.
fn without(release: &Release, is_suppressed: impl Fn(usize) -> bool) -> Release {
    let ReleaseTables::Generalized(Generalized { table, quasi, sensitive, .. }) = release.tables() else { panic!() };
    let kept: Vec<u32> = (0..table.rows as u32).filter(|&row| !is_suppressed(row as usize)).collect();
    let (source, out) = (table.rows, kept.len());
    let (kept, codebook) = (table.of_rows(&kept), release.codebook().clone());
    let mut release = Release::of_table("r", kept, quasi.clone(), sensitive.clone(), codebook).unwrap();
    let manifest = json!({
        "name": "r", "resources": [], "hedgerow": {
            "version": "1", "method": "cluster", "guarantees": [], "loss": {},
            "rows": { "in": source, "out": out, "suppressed": source - out },
            "classes": { "count": 1, "min": 1, "max": 1, "mean": 1.0 },
        },
    });
    release.set_manifest(serde_json::from_value(manifest).unwrap());
    release
}

fn attack(people: &Table, release: &Release, k: u64) -> Vec<Finding> {
    run("r", release, &release.classes().unwrap()[0], Some(people), k).unwrap()
}

/// One hundred people of 0 to 99 years in classes of twenty; who is below 18 has no income.
#[test]
fn a_child_is_found_by_the_income_that_it_cannot_have() {
    let age = |row: usize| row;
    let income = |row: usize| if age(row) < 18 { String::new() } else { (1000 + row % 7).to_string() };
    let rows: Vec<Vec<String>> = (0..100).map(|row| vec![age(row).to_string(), income(row), "x".to_owned()]).collect();
    // Two children among eight adults, and the other way round.
    let label = |row: usize| match age(row) {
        16..26 => "16..26".to_owned(),
        age if age < 16 => "0..16".to_owned(),
        _ => "26..100".to_owned(),
    };
    let labels: Vec<Vec<String>> =
        rows.iter().enumerate().map(|(row, cells)| vec![label(row), cells[1].clone(), "x".to_owned()]).collect();
    let (people, release) = released(&["age", "income", "other"], &rows, &labels, &["income"]);
    let found = &attack(&people, &release, 5)[0];
    // The two children of the middle class: only rows without income fit them.
    assert_eq!((found.people, found.at_risk, found.effective_k), (100, 2, Some(2)), "{found:?}");
    assert_eq!(found.people_at_risk, [16, 17]);
    assert_eq!(found.worst[0].values, [(String::new(), 1.0)]);
    assert!(found.worst[0].why.starts_with("2 of 10 rows fit"), "{}", found.worst[0].why);
    // Without the income nothing tells them apart.
    let (people, release) = released(
        &["age", "other"],
        &rows.iter().map(|row| vec![row[0].clone(), row[2].clone()]).collect::<Vec<_>>(),
        &labels.iter().map(|row| vec![row[0].clone(), row[2].clone()]).collect::<Vec<_>>(),
        &[],
    );
    assert_eq!(attack(&people, &release, 5)[0].at_risk, 0);
}

/// Of two children among adults the row of one is suppressed. One row without an income is left,
/// and fits both, but it is that of the other.
#[test]
fn who_is_not_in_the_release_is_not_found_there() {
    let income = |row: usize| if row < 18 { String::new() } else { (1000 + row % 7).to_string() };
    let rows: Vec<Vec<String>> = (0..100).map(|row| vec![row.to_string(), income(row), format!("x{row}")]).collect();
    let label = |row: usize| ["0..16", "16..26", "26..100"][usize::from(row >= 16) + usize::from(row >= 26)].to_owned();
    let labels: Vec<Vec<String>> =
        rows.iter().enumerate().map(|(row, cells)| vec![label(row), cells[1].clone(), cells[2].clone()]).collect();
    let (people, all) = released(&["age", "income", "other"], &rows, &labels, &["income"]);
    assert_eq!(attack(&people, &all, 5)[0].people_at_risk, [16, 17]);
    let release = without(&all, |row| row == 16);
    let found = &attack(&people, &release, 5)[0];
    assert_eq!((found.people_at_risk.as_slice(), &found.details["not_in_release"]), ([17].as_slice(), &json!(1)));
    assert_eq!((found.people, found.effective_k), (100, Some(1)), "{found:?}");
    // Neither is disclosed apart where both are suppressed: no row of the class can be theirs.
    let found = &attack(&people, &without(&all, |row| row == 16 || row == 17), 5)[0];
    assert_eq!((found.at_risk, &found.details["not_in_release"]), (0, &json!(2)), "{found:?}");
    // More people lack a row than were suppressed: the list is not that of the source.
    let others: Vec<Vec<&str>> = rows
        .iter()
        .enumerate()
        .map(|(row, cells)| vec![&*cells[0], &*cells[1], if row < 50 { "y" } else { &*cells[2] }])
        .collect();
    let found = &attack(&Table::from_texts(&["age", "income", "other"], &others), &release, 5)[0];
    assert_eq!(found.people_at_risk, [16, 17], "{found:?}");
}

#[test]
fn no_man_is_pregnant() {
    let rows: Vec<Vec<String>> = (0..120)
        .map(|row| {
            let sex = if row % 2 == 0 { "f" } else { "m" };
            let state = if row % 2 == 0 && row % 3 == 0 { "pregnant" } else { ["flu", "well"][row / 2 % 2] };
            vec![sex.to_owned(), (20 + row / 6).to_string(), state.to_owned()]
        })
        .collect();
    // Classes of six: three women of whom one is pregnant, three men.
    let labels: Vec<Vec<String>> =
        rows.iter().map(|row| vec!["*".to_owned(), row[1].clone() + "..200", row[2].clone()]).collect();
    let (people, release) = released(&["sex", "age", "state"], &rows, &labels, &["state"]);
    let found = &attack(&people, &release, 2)[0];
    assert_eq!(found.details["combinations"], json!(1), "{found:?}");
    assert_eq!(found.details["excluded_from"], json!(60), "every man has rows that are not his");
    assert_eq!(found.at_risk, 0, "and others left");
}

/// Of every man it is known that he is not pregnant, whatever is released; of a woman in a class
/// without another pregnant one it is the release that tells.
#[test]
fn what_was_known_before_is_no_disclosure() {
    let row = |row: usize| {
        let sex = if row.is_multiple_of(2) { "f" } else { "m" };
        let state = if sex == "f" && row.is_multiple_of(3) { "pregnant" } else { "not" };
        vec![sex.to_owned(), (20 + row / 12).to_string(), state.to_owned()]
    };
    let rows: Vec<Vec<String>> = (0..120).map(row).collect();
    let one_year = |age: &str| format!("{age}..{}", age.parse::<u32>().unwrap() + 1);
    let labels: Vec<Vec<String>> =
        rows.iter().map(|row| vec!["*".to_owned(), one_year(&row[1]), row[2].clone()]).collect();
    let (people, release) = released(&["sex", "age", "state"], &rows, &labels, &["state"]);
    let found = &attack(&people, &release, 2)[0];
    assert_eq!((found.at_risk, found.effective_l), (0, Some(2)), "{found:?}");
    assert_eq!(found.details["known_before"], json!(60));
    // Two of the twelve rows of an age are pregnant, and may be any woman's.
    assert!((found.max_confidence - 10.0 / 12.0).abs() < 1e-9 && found.worst.is_empty(), "{found:?}");
    assert_eq!(attack(&people, &release, 12)[0].at_risk, 60, "fewer rows than twelve fit every man");
}

#[test]
fn without_people_there_is_nothing_to_count() {
    let rows = [["1", "a"], ["2", "b"]].map(|row| row.map(str::to_owned).to_vec());
    let labels = [["*", "a"], ["*", "b"]].map(|row| row.map(str::to_owned).to_vec());
    let (_, release) = released(&["age", "state"], &rows, &labels, &["state"]);
    let found = run("r", &release, &release.classes().unwrap()[0], None, 2).unwrap();
    assert_eq!((found.len(), found[0].notes.len(), found[0].people), (1, 1, 0));
}

/// Whether people with a value of one column can be expected to lack a value of another, by the
/// definition alone.
fn impossible_by_hand(people: &Table, known: &str, value: &str, shown: &str, other: &str) -> bool {
    let texts =
        |name: &str| -> Vec<String> { (0..people.rows).map(|row| people.column(name).unwrap().text(row)).collect() };
    let (known_texts, shown_texts) = (texts(known), texts(shown));
    let mut all: Vec<&String> = shown_texts.iter().collect();
    all.sort_unstable();
    all.dedup();
    let has_missing = shown_texts.iter().any(String::is_empty);
    let n = people.rows as f64;
    let lacks = |carries: &dyn Fn(usize) -> bool, values: usize| {
        let carriers = (0..people.rows).filter(|&row| carries(row)).count();
        if carriers == 0 || (0..people.rows).any(|row| known_texts[row] == value && carries(row)) {
            return false;
        }
        // On an axis, to the next neighbors who carry it.
        let number = |text: &str| text.parse::<f64>().ok();
        let is_axis = known_texts.iter().all(|text| text.is_empty() || number(text).is_some())
            && known_texts.iter().any(|text| !text.is_empty());
        let group = match number(value).filter(|_| is_axis) {
            None => known_texts.iter().filter(|text| *text == value).count(),
            Some(at) => {
                let carrying =
                    || (0..people.rows).filter(|&row| carries(row)).filter_map(|row| number(&known_texts[row]));
                let low = carrying().filter(|other| *other < at).fold(f64::NEG_INFINITY, f64::max);
                let high = carrying().filter(|other| *other > at).fold(f64::INFINITY, f64::min);
                known_texts.iter().filter(|text| number(text).is_some_and(|other| low < other && other < high)).count()
            }
        };
        let p = carriers as f64 / n;
        carriers as f64 * (1.0 - p).powi(group as i32) <= 0.01 / values as f64
    };
    let values = all.len() + 1;
    lacks(&|row| shown_texts[row] == other, values)
        || (has_missing && !other.is_empty() && lacks(&|row| !shown_texts[row].is_empty(), values))
}

#[test]
fn rows_that_fit_are_counted_as_by_hand() {
    let (mut excluded, mut absent) = (0, 0);
    for seed in seeds(300) {
        let mut rng = StdRng::seed_from_u64(seed);
        let rows: Vec<Vec<String>> = (0..rng.random_range(1..90))
            .map(|_| {
                let (age, sex) = (rng.random_range(0..12u32), rng.random_range(0..2u32));
                let income = if age < 5 && rng.random_bool(0.98) {
                    String::new()
                } else {
                    rng.random_range(0..3u32).to_string()
                };
                let state = if sex == 0 && rng.random_bool(0.4) { "p" } else { ["q", "r"][rng.random_range(0..2)] };
                vec![age.to_string(), format!("s{sex}"), income, state.to_owned()]
            })
            .collect();
        let labels: Vec<Vec<String>> = rows
            .iter()
            .map(|row| {
                let band = row[0].parse::<u32>().unwrap() / 4 * 4;
                vec![format!("{band}..{}", band + 4), "*".to_owned(), row[2].clone(), row[3].clone()]
            })
            .collect();
        let (people, release) = released(&["age", "sex", "income", "state"], &rows, &labels, &["state"]);
        let share = if seed.is_multiple_of(2) { 0.0 } else { 0.3 };
        let suppressed: Vec<bool> = rows.iter().map(|_| rng.random_bool(share)).collect();
        if suppressed.iter().all(|suppressed| *suppressed) {
            continue;
        }
        let release = without(&release, |row| suppressed[row]);
        let found = &attack(&people, &release, 3)[0];
        // Every pair of values is judged once: the definition reads the whole table.
        let judged = RefCell::new(BTreeMap::new());
        let impossible = |known: &'static str, value: &str, shown: &'static str, other: &str| {
            *judged
                .borrow_mut()
                .entry((known, value.to_owned(), shown, other.to_owned()))
                .or_insert_with(|| impossible_by_hand(&people, known, value, shown, other))
        };
        let mut at_risk = Vec::new();
        for (person, row) in rows.iter().enumerate() {
            let is_there = |&other: &usize| labels[other][0] == labels[person][0] && !suppressed[other];
            let class: Vec<usize> = (0..rows.len()).filter(is_there).collect();
            let fits = |&&other: &&usize| {
                [(0, "age"), (1, "sex")].into_iter().all(|(known, name)| {
                    [(2, "income"), (3, "state")]
                        .into_iter()
                        .all(|(shown, other_name)| !impossible(name, &row[known], other_name, &rows[other][shown]))
                })
            };
            let fitting: Vec<usize> = class.iter().filter(fits).copied().collect();
            let mut states: Vec<&String> = fitting.iter().map(|&other| &rows[other][3]).collect();
            states.sort_unstable();
            states.dedup();
            excluded += class.len() - fitting.len();
            // Some states that the person can have, whatever is released.
            let can_have = |state: &&&str| {
                let known = [(0, "age"), (1, "sex")].into_iter();
                known.clone().all(|(known, name)| !impossible(name, &row[known], "state", state))
            };
            let occurring: Vec<&str> =
                ["p", "q", "r"].into_iter().filter(|state| rows.iter().any(|row| row[3] == *state)).collect();
            let was_open = occurring.iter().filter(can_have).count() > 1;
            let is_disclosed = fitting.len() < class.len() && states.len() == 1 && was_open;
            let has_row = class.iter().any(|&other| rows[other][2..] == row[2..]);
            absent += usize::from(!has_row && !fitting.is_empty());
            if has_row && fitting.len() < class.len() && (fitting.len() < 3 || is_disclosed)
                || !has_row && is_disclosed && *states[0] == row[3]
            {
                at_risk.push(person as u32);
            }
        }
        assert_eq!(found.people_at_risk, at_risk, "seed {seed}");
    }
    assert!(excluded > 1000 || seeds(2).end == 1, "{excluded}");
    assert!(absent > 200 || seeds(2).end == 1, "{absent} absent");
}

/// People who fit every row are compared with kinds of rows, of which there are few: all are.
#[test]
fn everyone_is_examined_where_everyone_fits_every_row() {
    const PEOPLE: usize = 2600;
    let names: Vec<String> =
        (0..12).map(|known| format!("k{known}")).chain((0..6).map(|shown| format!("s{shown}"))).collect();
    let header: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut rng = StdRng::seed_from_u64(1);
    let mut row = || -> Vec<String> {
        let known: Vec<u32> = (0..12).map(|_| rng.random_range(0..90)).collect();
        let shown = (0..6).map(|shown| match shown {
            // Who is young has none.
            0 if known[0] < 18 => String::new(),
            _ => rng.random_range(0..40u32).to_string(),
        });
        let shown: Vec<String> = shown.collect();
        known.iter().map(u32::to_string).chain(shown).collect()
    };
    let rows: Vec<Vec<String>> = (0..PEOPLE).map(|_| row()).collect();
    let top = |cells: &Vec<String>| {
        cells.iter().enumerate().map(|(at, cell)| if at < 12 { "*" } else { cell }.to_owned()).collect()
    };
    let labels: Vec<Vec<String>> = rows.iter().map(top).collect();
    let (people, release) = released(&header, &rows, &labels, &["s1"]);
    let found = &attack(&people, &release, 5)[0];
    let young = rows.iter().filter(|row| row[12].is_empty()).count();
    assert_eq!(found.people, PEOPLE as u64, "{found:?}");
    assert!(found.details["excluded_from"].as_u64().unwrap() >= young as u64, "{found:?}");
    assert!(found.notes.is_empty(), "{:?}", found.notes);
}

/// Chance makes hardly any.
#[test]
fn independent_columns_exclude_nothing() {
    let mut tables = 0;
    for seed in seeds(100) {
        let mut rng = StdRng::seed_from_u64(seed);
        let rows: Vec<Vec<String>> = (0..200)
            .map(|_| {
                vec![
                    rng.random_range(0..30u32).to_string(),
                    format!("s{}", rng.random_range(0..3u32)),
                    rng.random_range(0..6u32).to_string(),
                ]
            })
            .collect();
        let labels: Vec<Vec<String>> =
            rows.iter().map(|row| vec!["*".to_owned(), "*".to_owned(), row[2].clone()]).collect();
        let (people, release) = released(&["age", "sex", "state"], &rows, &labels, &["state"]);
        tables += usize::from(attack(&people, &release, 3)[0].details["combinations"] != json!(0));
    }
    assert!(tables <= 5, "{tables} of 100 tables");
}
