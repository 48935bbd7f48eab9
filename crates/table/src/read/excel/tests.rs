//! Workbooks written by another program, and damage.

use std::collections::HashMap;
use std::path::PathBuf;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::Kind;
use crate::read::tests::{file, input_error, texts};
use crate::read::{NumberFormat, read_table};

fn workbook(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Issue 20: numbers, dates, texts that look like numbers, missing cells, an empty row and a second
/// sheet.
#[test]
fn a_workbook_reads_as_the_table_it_shows() {
    let table = read_table(&workbook("patients.xlsx"), &ReadOptions::default()).unwrap();
    assert_eq!(table.header, ["name", "age", "zip", "admitted", "weight", "member"]);
    assert_eq!(texts(&table, "age"), ["31", "4", ""]);
    assert_eq!(texts(&table, "zip"), ["02139", "10001", "02139"]);
    assert_eq!(texts(&table, "admitted"), ["2024-01-31", "1999-12-01", "2024-02-29T09:30:00"]);
    assert_eq!(texts(&table, "weight"), ["61.5", "", "70"]);
    assert_eq!(texts(&table, "member"), ["true", "false", "true"]);
    let kinds: Vec<Kind> = table.columns.iter().map(|column| column.domain.kind()).collect();
    let expected = [Kind::Category, Kind::Integer, Kind::Category, Kind::Category, Kind::Float, Kind::Category];
    assert_eq!(kinds, expected);
    let warning = table.warnings.last().unwrap();
    assert!(warning.problem.contains("the sheet `Patients` is read; the workbook has 1 more"), "{warning}");
}

#[test]
fn a_column_that_is_wanted_if_it_has_few_values_is_read() {
    let only = Some(["age".to_owned()].into());
    let options = ReadOptions { only, if_few: ["zip".to_owned()].into(), ..ReadOptions::default() };
    let table = read_table(&workbook("patients.xlsx"), &options).unwrap();
    assert_eq!(table.columns.len(), 2);
    assert_eq!(texts(&table, "zip"), ["02139", "10001", "02139"]);
}

#[test]
fn the_policy_declares_types_and_number_formats_are_for_texts() {
    let options = ReadOptions {
        kinds: HashMap::from([("admitted".to_owned(), Kind::Date)]),
        numbers: NumberFormat::new(',', None).unwrap(),
        ..ReadOptions::default()
    };
    let table = read_table(&workbook("patients.xlsx"), &options).unwrap();
    assert_eq!(texts(&table, "admitted"), ["2024-01-31", "1999-12-01", "2024-02-29"]);
    assert_eq!(table.column("weight").unwrap().domain.kind(), Kind::Float, "stored as numbers");
    let kinds = HashMap::from([("name".to_owned(), Kind::Integer)]);
    let error = input_error(read_table(&workbook("patients.xlsx"), &ReadOptions { kinds, ..ReadOptions::default() }));
    assert!(error.place.ends_with("patients.xlsx: sheet Patients, row 2"), "{error}");
}

#[test]
fn a_cell_outside_of_the_named_columns_is_refused() {
    let error = input_error(read_table(&workbook("stray.xlsx"), &ReadOptions::default()));
    assert!(error.place.ends_with("stray.xlsx: sheet S, cell E5"), "{error}");
    assert!(error.problem.contains("has no name in the first row"), "{error}");
}

#[test]
fn columns_have_the_names_of_a_sheet() {
    for (column, name) in [(0, "A"), (25, "Z"), (26, "AA"), (701, "ZZ"), (702, "AAA"), (16_383, "XFD")] {
        assert_eq!(letters(column), name);
    }
}

#[test]
fn damaged_workbooks_are_refused_or_read() {
    let sound = std::fs::read(workbook("patients.xlsx")).unwrap();
    for seed in 0..200 {
        let mut random = StdRng::seed_from_u64(seed);
        let mut bytes = sound.clone();
        for _ in 0..random.random_range(1..4) {
            let place = random.random_range(0..bytes.len());
            bytes[place] = random.random();
        }
        let (_directory, path) = file("x.xlsx", &bytes);
        let read = read_table(&path, &ReadOptions::default());
        assert!(matches!(read, Ok(_) | Err(TableError::Input(_))), "seed {seed}: {read:?}");
    }
    let (_directory, path) = file("x.xlsx", b"not a workbook");
    assert!(input_error(read_table(&path, &ReadOptions::default())).problem.contains("not a sound Excel workbook"));
}
