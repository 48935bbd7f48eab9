//! Files written by another program, of every release that is read, and damage.

use std::path::PathBuf;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::read::read_table;
use crate::read::tests::{file, input_error, texts};
use crate::{Kind, Table};

const FILES: [&str; 5] = ["stata-113.dta", "stata-115.dta", "stata-117.dta", "stata-118.dta", "stata-119.dta"];

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn read_file(name: &str) -> Table {
    read_table(&path(name), &ReadOptions::default()).unwrap()
}

/// Texts, value labels, days, moments, months, and missing values, in both orders of bytes.
#[test]
fn every_release_reads_as_the_table_that_stata_shows() {
    for name in FILES {
        let table = read_file(name);
        assert_eq!(texts(&table, "name"), ["Zoë", "Bob", ""], "{name}");
        assert_eq!(texts(&table, "sex"), ["female", "male", "9"], "{name}: a value without a label is a number");
        assert_eq!(texts(&table, "born"), ["1949-12-31", "1960-01-01", ""], "{name}");
        assert_eq!(texts(&table, "income"), ["2147483620", "-5", ""], "{name}");
        assert_eq!(texts(&table, "height"), ["1.7", "", "2"], "{name}");
        assert_eq!(texts(&table, "seen"), ["1960-01-01", "1960-01-02T09:30:00", ""], "{name}");
        assert_eq!(texts(&table, "month"), ["1960-01", "2021-02", "1959-12"], "{name}");
        let kind = |column: &str| table.column(column).unwrap().domain.kind();
        assert_eq!((kind("born"), kind("income"), kind("height")), (Kind::Date, Kind::Integer, Kind::Float), "{name}");
        if table.header.iter().any(|column| column == "note") {
            assert_eq!(texts(&table, "note"), ["note 0 é", "note 1 é", "note 2 é"], "{name}");
        }
        assert!(table.warnings.is_empty(), "{name}: {:?}", table.warnings);
    }
}

#[test]
fn only_requested_columns_are_read_and_the_policy_declares_types() {
    let only = Some(["sex".to_owned(), "seen".to_owned()].into());
    let kinds = std::collections::HashMap::from([("seen".to_owned(), Kind::Date)]);
    let table = read_table(&path(FILES[3]), &ReadOptions { only, kinds, ..ReadOptions::default() }).unwrap();
    assert_eq!((table.columns.len(), table.header.len()), (2, 8));
    assert_eq!(texts(&table, "seen"), ["1960-01-01", "1960-01-02", ""]);
}

#[test]
fn a_column_that_is_wanted_if_it_has_few_values_is_read() {
    let only = Some(["sex".to_owned()].into());
    for (if_few, names) in [(vec!["income"], vec!["sex", "income"]), (vec![], vec!["sex"])] {
        let if_few = if_few.into_iter().map(str::to_owned).collect();
        let table = read_table(&path(FILES[3]), &ReadOptions { only: only.clone(), if_few, ..ReadOptions::default() });
        let table = table.unwrap();
        let mut found: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        found.sort_unstable_by_key(|name| names.iter().position(|own| own == name));
        assert_eq!(found, names);
        assert!(table.column("income").is_none_or(|column| column.domain.kind() == Kind::Category));
    }
}

#[test]
fn labels_that_would_merge_two_values_are_not_used() {
    let mut bytes = std::fs::read(path("stata-118.dta")).unwrap();
    let at = bytes.windows(11).position(|window| window == b"female\0male").unwrap();
    bytes[at..at + 11].copy_from_slice(b"male\0\0\0male");
    let (_directory, path) = file("x.dta", &bytes);
    let table = read_table(&path, &ReadOptions::default()).unwrap();
    assert_eq!(texts(&table, "sex"), ["1", "2", "9"]);
    assert!(table.warnings[0].problem.contains("column `sex` is read as numbers"), "{:?}", table.warnings);
}

#[test]
fn damaged_files_are_refused_or_read() {
    for name in FILES {
        let sound = std::fs::read(path(name)).unwrap();
        for length in 0..sound.len() {
            let (_directory, path) = file("x.dta", &sound[..length]);
            let read = read_table(&path, &ReadOptions::default());
            assert!(matches!(read, Ok(_) | Err(TableError::Input(_))), "{name}, {length} bytes: {read:?}");
        }
        for seed in 0..300 {
            let mut random = StdRng::seed_from_u64(seed);
            let mut bytes = sound.clone();
            for _ in 0..random.random_range(1..4) {
                let place = random.random_range(0..bytes.len());
                bytes[place] = random.random();
            }
            let (_directory, path) = file("x.dta", &bytes);
            let read = read_table(&path, &ReadOptions::default());
            assert!(matches!(read, Ok(_) | Err(TableError::Input(_))), "{name}, seed {seed}: {read:?}");
        }
    }
}

#[test]
fn other_files_are_refused_by_name() {
    let (_directory, path) = file("x.dta", b"name,age\nAnn,31\n");
    assert!(input_error(read_table(&path, &ReadOptions::default())).problem.contains("not a sound Stata file"));
    let (_directory, path) = file("x.dta", &[105, 2, 1, 0, 0]);
    assert!(input_error(read_table(&path, &ReadOptions::default())).problem.contains("Stata 7 or older"));
    for (name, program) in [("x.sas7bdat", "SAS"), ("x.sav", "SPSS")] {
        let (_directory, path) = file(name, b"x");
        let error = input_error(read_table(&path, &ReadOptions::default()));
        assert!(error.hint.starts_with(program), "{error}");
    }
}
