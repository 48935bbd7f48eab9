//! The adversaries against every table that fits some releases, value by value and row by row.

use std::collections::BTreeSet;

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use super::tests::{fits, release};
use super::*;
use crate::Adversary;
use crate::testing::seeds;

/// The rows of one release: labels of `a` and `b`, and a value.
type Rows = Vec<[String; 3]>;

struct Setting {
    people: Vec<[String; 3]>,
    releases: Vec<Rows>,
}

/// Everyone is in every release. Labels are of one width, or of any that covers the value.
fn random(rng: &mut StdRng) -> Setting {
    let values = rng.random_range(1..4);
    let people: Vec<[String; 3]> = (0..rng.random_range(1..6))
        .map(|_| {
            [
                rng.random_range(0..4).to_string(),
                if rng.random_bool(0.1) { String::new() } else { format!("x{}", rng.random_range(0..2)) },
                if rng.random_bool(0.1) { String::new() } else { format!("s{}", rng.random_range(0..values)) },
            ]
        })
        .collect();
    let releases = (0..rng.random_range(1..4)).map(|_| {
        let (width, top, overlaps) = (rng.random_range(1..5), rng.random_bool(0.5), rng.random_bool(0.4));
        let mut rows: Rows = Vec::new();
        for [a, b, value] in &people {
            let number: i32 = a.parse().unwrap();
            let width = if overlaps { rng.random_range(1..5) } else { width };
            let low = number / width * width;
            let a = if overlaps && rng.random_bool(0.2) { "*".to_owned() } else { format!("{low}..{}", low + width) };
            let hides = if overlaps { rng.random_bool(0.5) } else { top };
            rows.push([a, if hides { "*".to_owned() } else { b.clone() }, value.clone()]);
        }
        rows.shuffle(rng);
        rows
    });
    let releases = releases.collect();
    Setting { people, releases }
}

/// Whether the people can be the rows of a release, each with the value given here.
fn can_be(people: &[[String; 3]], values: &[String], rows: &Rows, taken: &mut Vec<bool>) -> bool {
    let Some((person, others)) = people.split_first() else { return true };
    for (at, [a, b, value]) in rows.iter().enumerate() {
        let fit = !taken[at] && *value == values[0] && fits(a, &person[0]) && fits(b, &person[1]);
        if fit {
            taken[at] = true;
            let found = can_be(others, &values[1..], rows, taken);
            taken[at] = false;
            if found {
                return true;
            }
        }
    }
    false
}

/// By person, the values that some table gives them.
fn possible(setting: &Setting) -> Vec<BTreeSet<String>> {
    let values: BTreeSet<&String> = setting.people.iter().map(|person| &person[2]).collect();
    let mut tables: Vec<Vec<String>> = vec![Vec::new()];
    for _ in &setting.people {
        tables = tables
            .iter()
            .flat_map(|table| values.iter().map(|value| [table.as_slice(), &[(*value).clone()]].concat()))
            .collect();
    }
    let mut possible = vec![BTreeSet::new(); setting.people.len()];
    for table in tables {
        let fits = |rows: &Rows| can_be(&setting.people, &table, rows, &mut vec![false; rows.len()]);
        if setting.releases.iter().all(fits) {
            for (possible, value) in possible.iter_mut().zip(table) {
                possible.insert(value);
            }
        }
    }
    possible
}

fn opened(setting: &Setting) -> Vec<Release> {
    let rows = |rows: &Rows| -> Vec<Vec<String>> { rows.iter().map(|row| row.to_vec()).collect() };
    let named = setting.releases.iter().enumerate();
    named.map(|(number, table)| release(&number.to_string(), &["a", "b", "s"], &rows(table))).collect()
}

/// The certain conclusions of every adversary hold in every table; and `worlds` misses nothing.
#[test]
fn every_adversary_is_compared_with_every_table_that_fits() {
    let count = std::env::var("HEDGEROW_WORLDS").ok().and_then(|count| count.parse().ok()).unwrap_or(500);
    let mut exposed = 0;
    for seed in seeds(count) {
        let setting = random(&mut StdRng::seed_from_u64(seed));
        let possible = possible(&setting);
        let certain: Vec<u32> =
            (0..).zip(&possible).filter(|(_, values)| values.len() == 1).map(|(person, _)| person).collect();
        exposed += certain.len();
        let releases = opened(&setting);
        for truth_known in [true, false] {
            let columns = if truth_known { 3 } else { 2 };
            let texts: Vec<Vec<&str>> =
                setting.people.iter().map(|person| person[..columns].iter().map(String::as_str).collect()).collect();
            let people = Table::from_texts(&["a", "b", "s"][..columns], &texts);
            let options = AuditOptions { people: Some(&people), certain_only: true, ..AuditOptions::default() };
            let found = audit(&releases, &options).unwrap();
            for finding in &found.findings {
                let is_true = finding.people_at_risk.iter().all(|person| certain.contains(person));
                assert!(is_true, "seed {seed}: {} is certain of {:?}, not {certain:?}", finding.adversary, finding);
            }
            let worlds = found.findings.iter().find(|finding| finding.adversary == Adversary::Worlds).unwrap();
            assert_eq!(worlds.people_at_risk, certain, "seed {seed}: {possible:?}");
            let least = possible.iter().map(|values| values.len() as u64).min();
            assert_eq!(worlds.effective_l, least, "seed {seed}: {worlds:?}");
            assert_eq!(worlds.details["exact"], serde_json::json!(true), "seed {seed}");
            assert_eq!(found.breach, !certain.is_empty(), "seed {seed}");
            assert_eq!(worlds.explanations.is_empty(), certain.is_empty(), "seed {seed}");
        }
    }
    assert!(exposed > 0);
}

/// Lists of all people, of some, and of some with a stranger, with and without true values: what
/// any adversary is certain of, `worlds` is certain of, or the adversary says what it ignores.
#[test]
fn worlds_is_certain_of_what_any_adversary_is_certain_of() {
    let mut certain = 0;
    for seed in seeds(400) {
        let mut rng = StdRng::seed_from_u64(seed);
        let setting = random(&mut rng);
        let releases = opened(&setting);
        let mut listed: Vec<&[String; 3]> = setting.people.iter().filter(|_| rng.random_bool(0.6)).collect();
        let stranger = ["1", "x0", "s0"].map(str::to_owned);
        if listed.is_empty() || rng.random_bool(0.3) {
            listed.push(&stranger);
        }
        for (of, columns) in [(0, 3), (0, 2), (1, 3), (1, 2)] {
            let people: Vec<&[String; 3]> = if of == 0 { setting.people.iter().collect() } else { listed.clone() };
            let texts: Vec<Vec<&str>> =
                people.iter().map(|person| person[..columns].iter().map(String::as_str).collect()).collect();
            let people = Table::from_texts(&["a", "b", "s"][..columns], &texts);
            let options = AuditOptions { people: Some(&people), certain_only: true, ..AuditOptions::default() };
            let findings = audit(&releases, &options).unwrap().findings;
            let worlds = findings.iter().find(|finding| finding.adversary == Adversary::Worlds).unwrap();
            for finding in findings.iter().filter(|finding| !finding.details.contains_key("ignores")) {
                let is_known = |person: &u32| worlds.people_at_risk.contains(person);
                assert!(finding.people_at_risk.iter().all(is_known), "seed {seed}: {finding:?}, {worlds:?}");
                certain += usize::from(finding.adversary != Adversary::Worlds && finding.at_risk > 0);
            }
        }
    }
    assert!(seeds(400).count() < 400 || certain > 100, "{certain}");
}

/// Composition calls values even that are even by two cells alone; every table that fits decides.
#[test]
fn composition_says_a_half_where_every_table_that_fits_says_one() {
    let rows = |rows: &[[&str; 2]]| -> Vec<Vec<String>> {
        rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect()
    };
    let one = rows(&[["0", "q"], ["0", "r"], ["1", "q"], ["1", "r"], ["3", "q"], ["3", "r"]]);
    let two = rows(&[["x", "q"], ["x", "r"], ["y", "q"], ["y", "r"], ["x", "r"], ["y", "q"]]);
    let releases = [release("1", &["a", "s"], &one), release("2", &["b", "s"], &two)];
    let texts = [["0", "x"], ["0", "x"], ["1", "y"], ["1", "x"], ["3", "y"], ["3", "y"]].map(|row| row.to_vec());
    let people = Table::from_texts(&["a", "b"], &texts);
    let audited = audit(&releases, &AuditOptions { people: Some(&people), ..AuditOptions::default() }).unwrap();
    let find = |name: Adversary| audited.findings.iter().find(|finding| finding.adversary == name).unwrap();
    let (composition, worlds) = (find(Adversary::Composition), find(Adversary::Worlds));
    assert_eq!((composition.at_risk, composition.max_confidence), (0, 0.5), "{composition:?}");
    assert_eq!((worlds.people_at_risk.as_slice(), worlds.max_confidence), ([2, 3].as_slice(), 1.0), "{worlds:?}");
}

/// Two classes of 42 and 278 rows: what is too unlikely for a number to hold is not impossible.
#[test]
fn an_unlikely_value_is_not_an_impossible_one() {
    use crate::adversaries::correlation::{ValueRows, infer, possible};
    let rows = [
        ValueRows { first: 40, second: 277, all: Some(20_000) },
        ValueRows { first: 2, second: 1, all: Some(3_000_000) },
    ];
    assert_eq!(possible(&rows, 40), [true, true]);
    let found = infer(&rows, 40, Weights::Exact).unwrap();
    assert!(found.confidences[0] > 0.9);
    let forced = [ValueRows { first: 3, second: 3, all: Some(4) }, ValueRows { first: 1, second: 1, all: Some(4) }];
    assert_eq!(possible(&forced, 2), [true, false], "two of the first are in both");
}
