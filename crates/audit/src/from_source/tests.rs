//! Small random tables whose released cells are changed, against every way to give each released
//! row a source row of its own.

use hedgerow_release::Codebook;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::adversaries::testing::cover;
use crate::testing::seeds;

const NAMES: [&str; 4] = ["age", "sex", "ill", "cost"];

fn table(rows: &[[String; 4]]) -> Table {
    let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
    Table::from_texts(&NAMES, &rows)
}

/// A release of rows whose ages are labels.
fn released(rows: &[[String; 4]]) -> Release {
    let table = table(rows);
    let mut codebook = Codebook::new();
    for name in ["age", "sex"] {
        let domain = &table.column(name).unwrap().domain;
        for label in (0..domain.cardinality() as u32).map(|code| domain.text(code)) {
            codebook.insert(name, &label, &cover(name, &label)).unwrap();
        }
    }
    let [age, sex, ill] = ["age", "sex", "ill"].map(str::to_owned);
    Release::of_table("r", table, vec![age, sex], vec![ill], codebook).unwrap()
}

fn covers(label: &str, value: &str) -> bool {
    match label.split_once("..") {
        _ if label == "*" => true,
        Some((low, high)) => {
            let [low, high, value] = [low, high, value].map(|text| text.parse::<u32>().unwrap());
            (low..high).contains(&value)
        }
        None => label == value,
    }
}

/// The most released rows that have a source row each, by trying all ways.
fn most(source: &[[String; 4]], released: &[[String; 4]], taken: u32) -> usize {
    let Some((row, rest)) = released.split_first() else { return 0 };
    let fits = |own: &[String; 4]| covers(&row[0], &own[0]) && covers(&row[1], &own[1]) && row[2..] == own[2..];
    let free = (0..source.len()).filter(|&own| taken & (1 << own) == 0 && fits(&source[own]));
    let with = free.map(|own| 1 + most(source, rest, taken | (1 << own))).max().unwrap_or(0);
    with.max(most(source, rest, taken))
}

fn random_row(rng: &mut StdRng) -> [String; 4] {
    let sex = ["f", "m"][rng.random_range(0..2)].to_owned();
    let ill = ["flu", "cough", ""][rng.random_range(0..3)].to_owned();
    [rng.random_range(0..8u32).to_string(), sex, ill, rng.random_range(1..3u32).to_string()]
}

/// A label that covers a value, of any width: labels of a release overlap.
fn label(rng: &mut StdRng, age: &str) -> String {
    let age: u32 = age.parse().unwrap();
    let (below, above) = (rng.random_range(0..3u32), rng.random_range(1..4));
    format!("{}..{}", age.saturating_sub(below), age + above)
}

#[test]
fn rows_that_no_source_row_is_left_for_are_counted() {
    let (mut found, mut changed_alike, mut nothing) = (0, 0, 0);
    for seed in seeds(600) {
        let mut rng = StdRng::seed_from_u64(seed);
        let source: Vec<[String; 4]> = (0..rng.random_range(1..8)).map(|_| random_row(&mut rng)).collect();
        let mut rows: Vec<[String; 4]> = source
            .iter()
            .map(|row| {
                let sex = if rng.random_bool(0.5) { "*".to_owned() } else { row[1].clone() };
                [label(&mut rng, &row[0]), sex, row[2].clone(), row[3].clone()]
            })
            .collect();
        // Suppressed rows, changed cells, and rows of others.
        while rows.len() > 1 && rng.random_bool(0.2) {
            rows.pop();
        }
        for _ in 0..rng.random_range(0..3) {
            let (row, cell) = (rng.random_range(0..rows.len()), rng.random_range(0..4));
            let other = random_row(&mut rng);
            rows[row][cell] = if cell == 0 { label(&mut rng, &other[0]) } else { other[cell].clone() };
        }
        if rng.random_bool(0.1) {
            let other = random_row(&mut rng);
            rows.push([label(&mut rng, &other[0]), other[1].clone(), other[2].clone(), other[3].clone()]);
        }
        let unmatched = rows.len() - most(&source, &rows, 0);
        let problems = not_from_source(&released(&rows), &table(&source)).unwrap();
        let expected = format!("{unmatched} of {} rows do not come from the source", rows.len());
        match unmatched {
            0 => assert_eq!(problems, Vec::<String>::new(), "seed {seed}"),
            _ => assert!(problems[0].starts_with(&expected), "seed {seed}: {problems:?} and not {expected}"),
        }
        found += usize::from(unmatched > 0);
        nothing += usize::from(unmatched == 0);
        changed_alike += usize::from(unmatched > 1);
    }
    assert!(seeds(2).end == 1 || (found > 150 && nothing > 150 && changed_alike > 20), "{found} {nothing}");
}

/// Each row alone has a source row, and the two have the same one.
#[test]
fn a_source_row_is_released_once() {
    let row = |age: &str, ill: &str| [age, "*", ill, "1"].map(str::to_owned);
    let source = [row("3", "flu"), row("5", "cough")];
    let both = [row("2..6", "flu"), row("3..4", "flu")];
    let problems = not_from_source(&released(&both), &table(&source)).unwrap();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].starts_with("1 of 2 rows do not come from the source"), "{problems:?}");
    assert!(not_from_source(&released(&both[..1]), &table(&source)).unwrap().is_empty());
}

#[test]
fn a_column_that_the_source_lacks_is_named() {
    let row = ["2..6", "*", "flu", "1"].map(str::to_owned);
    let release = released(&[row]);
    let source = Table::from_texts(&["age", "sex", "ill"], &[vec!["3", "f", "flu"]]);
    assert_eq!(not_from_source(&release, &source).unwrap(), ["the source has no column `cost`"]);
    let source = Table::from_texts(&["sex", "ill", "cost"], &[vec!["f", "flu", "1"]]);
    assert_eq!(not_from_source(&release, &source).unwrap(), ["the source has no column `age`"]);
}
