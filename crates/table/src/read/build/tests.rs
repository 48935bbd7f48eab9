//! Tables from memory: the same as from a file, with errors that name the cell.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::*;
use crate::read::read_csv_bytes;
use crate::read::tests::{input_error, texts};
use crate::{Domain, Values};

fn csv(text: &str) -> Table {
    read_csv_bytes(Path::new("x.csv"), text.as_bytes(), &ReadOptions::default()).unwrap()
}

#[test]
fn records_make_the_table_that_a_csv_file_makes() {
    let file = csv("age,zip,day,note\n31,02139,2024-01-31,\"a, b\"\n4,10001,,\n31,10001,1999-12-01,c\n");
    let records = [
        [Some("31"), Some("02139"), Some("2024-01-31"), Some("a, b")],
        [Some("4"), Some("10001"), Some(""), None],
        [Some("31"), Some("10001"), Some("1999-12-01"), Some("c")],
    ];
    let table = Table::from_records(["age", "zip", "day", "note"], records, &ReadOptions::default()).unwrap();
    assert_eq!(table, file);
}

#[test]
fn typed_columns_make_the_table_that_their_texts_make() {
    let file = csv("age,height,day,sex,member\n31,1.5,1970-01-02,f,true\n-4,,1969-12-31,m,false\n,3,,f,true\n");
    let columns = [
        ("age", ColumnCells::from(vec![Some(31), Some(-4), None])),
        ("height", ColumnCells::from(vec![Some(1.5), None, Some(3.0)])),
        ("day", ColumnCells::Dates(vec![Some(1), Some(-1), None])),
        (
            "sex",
            ColumnCells::Dictionary {
                values: ["x", "m", "f"].map(str::to_owned).to_vec(),
                codes: vec![Some(2), Some(1), Some(2)],
            },
        ),
        ("member", ColumnCells::from(vec![true, false, true])),
    ];
    let table = Table::from_columns(columns.clone(), &ReadOptions::default()).unwrap();
    assert_eq!(table, file, "`x` is in the dictionary, but in no cell");
    let mut builder = TableBuilder::new(columns.iter().map(|(name, _)| *name)).unwrap();
    let batch = |rows: std::ops::Range<usize>| columns.iter().map(|(_, cells)| part(cells, rows.clone())).collect();
    builder.push_columns(batch(0..1)).unwrap();
    builder.push_columns(batch(1..3)).unwrap();
    assert_eq!(builder.clone().finish(&ReadOptions::default()).unwrap(), file);
    assert_eq!(builder.rows(), 3);
}

fn part(cells: &ColumnCells, rows: std::ops::Range<usize>) -> ColumnCells {
    match cells.clone() {
        ColumnCells::Integers(cells) => ColumnCells::Integers(cells[rows].to_vec()),
        ColumnCells::Floats(cells) => ColumnCells::Floats(cells[rows].to_vec()),
        ColumnCells::Texts(cells) => ColumnCells::Texts(cells[rows].to_vec()),
        ColumnCells::Dates(cells) => ColumnCells::Dates(cells[rows].to_vec()),
        ColumnCells::Booleans(cells) => ColumnCells::Booleans(cells[rows].to_vec()),
        ColumnCells::Dictionary { values, codes } => ColumnCells::Dictionary { values, codes: codes[rows].to_vec() },
    }
}

#[test]
fn a_column_without_a_value_keeps_its_type() {
    let table =
        Table::from_columns([("age", ColumnCells::Integers(vec![None, None]))], &ReadOptions::default()).unwrap();
    assert_eq!(table.columns[0].domain, Domain::new(Values::Integer(Vec::new()), true));
    assert_eq!(table.columns[0].codes, Codes::U8(vec![0, 0]));
}

#[test]
fn the_options_declare_kinds_missing_texts_and_wanted_columns() {
    let options = ReadOptions {
        nulls: vec!["-9".to_owned(), "?".to_owned()],
        kinds: HashMap::from([("zip".to_owned(), Kind::Category)]),
        only: Some(HashSet::from(["zip".to_owned(), "sex".to_owned()])),
        ..ReadOptions::default()
    };
    let columns = [
        ("zip", ColumnCells::from(vec![10001, -9])),
        ("sex", ColumnCells::from(vec!["?", ""])),
        ("name", ColumnCells::from(vec!["Ann", "Bob"])),
    ];
    let table = Table::from_columns(columns, &options).unwrap();
    assert_eq!(table.header, ["zip", "sex", "name"]);
    assert_eq!(table.columns.len(), 2);
    assert_eq!(table.columns[0].domain.kind(), Kind::Category);
    assert_eq!(texts(&table, "zip"), ["10001", ""]);
    assert_eq!(table.columns[1].domain.missing_code(), Some(1), "only `?` is missing here, an empty text is a value");
}

#[test]
fn many_values_widen_the_codes() {
    let numbers: Vec<i64> = (0..70_000).map(|row| row * 7_919 % 70_001).collect();
    let expected: Vec<String> = numbers.iter().map(i64::to_string).collect();
    let table = Table::from_columns([("n", ColumnCells::from(numbers))], &ReadOptions::default()).unwrap();
    assert_eq!(texts(&table, "n"), expected);
}

#[test]
fn a_cell_that_cannot_be_taken_is_named_and_nothing_is_appended() {
    let mut builder = TableBuilder::new(["name", "age"]).unwrap();
    builder.push_columns(vec![ColumnCells::from(vec!["Ann", "Bob"]), ColumnCells::from(vec![1.5, 2.5])]).unwrap();
    let refusals: [(Vec<ColumnCells>, &str, &str); 6] = [
        (
            vec![ColumnCells::from(vec!["Cy", "Di"]), ColumnCells::from(vec![1.0, f64::NAN])],
            "row 4, column age",
            "is not a number",
        ),
        (vec![ColumnCells::from(vec!["C\0"]), ColumnCells::from(vec![1.0])], "row 3, column name", "NUL"),
        (
            vec![ColumnCells::from(vec!["Cy"]), ColumnCells::from(vec![1])],
            "column age",
            "integer cells after float cells",
        ),
        (
            vec![ColumnCells::from(vec!["Cy"]), ColumnCells::from(vec![1.0, 2.0])],
            "column age",
            "2 rows, where column name has 1",
        ),
        (vec![ColumnCells::from(vec!["Cy"])], "table in memory", "1 columns for 2 names"),
        (
            vec![
                ColumnCells::Dictionary { values: vec!["Cy".to_owned()], codes: vec![Some(0), Some(1)] },
                ColumnCells::from(vec![1.0, 2.0]),
            ],
            "row 4, column name",
            "position 1 in a dictionary of 1 values",
        ),
    ];
    for (batch, place, problem) in refusals {
        let error = refusal(builder.push_columns(batch));
        assert_eq!(error.place, place, "{error}");
        assert!(error.problem.contains(problem), "{error}");
    }
    let table = builder.finish(&ReadOptions::default()).unwrap();
    assert_eq!(table.columns[0].domain.present(), 2, "no value of a refused batch enters the domain");
    assert_eq!(texts(&table, "name"), ["Ann", "Bob"]);
    assert_eq!(texts(&table, "age"), ["1.5", "2.5"]);
}

#[test]
fn a_record_that_cannot_be_taken_is_named_and_nothing_is_appended() {
    let limits = ReadLimits { field_bytes: 5, rows: 2, ..LIMITS };
    let mut builder = TableBuilder::with_limits(["name", "age"], "here", limits).unwrap();
    builder.push_record([Some("Ann"), Some("31")]).unwrap();
    let error = refusal(builder.push_record([Some("Bob")]));
    assert_eq!((error.place.as_str(), error.problem.as_str()), ("row 2", "1 values for 2 columns"));
    let error = refusal(builder.push_record([Some("Bob"), Some("123456")]));
    assert_eq!(error.place, "here: row 2, column age");
    let error = refusal(builder.push_record([Some("B\0b"), Some("1")]));
    assert_eq!(error.place, "here: row 2, column name");
    builder.push_record([Some("Bob"), Some("x")]).unwrap();
    let error = refusal(builder.push_record([Some("Cy"), Some("1")]));
    assert!(error.problem.contains("more than 2 rows"), "{error}");
    let options = ReadOptions { kinds: HashMap::from([("age".to_owned(), Kind::Integer)]), ..ReadOptions::default() };
    let error = input_error(builder.finish(&options));
    assert_eq!((error.place.as_str(), error.problem.as_str()), ("here: row 2, column age", "`x` is not an integer"));
}

#[test]
fn names_and_rows_are_checked() {
    assert!(refusal(TableBuilder::new(["a", "a"])).problem.contains("both named `a`"));
    assert!(refusal(TableBuilder::new(["a", " "])).problem.contains("has no name"));
    let empty = Table::from_columns([("a", ColumnCells::Texts(Vec::new()))], &ReadOptions::default());
    assert!(input_error(empty).problem.contains("no rows"));
}

fn refusal<T>(outcome: Result<T, TableError>) -> crate::InputError {
    match outcome {
        Err(TableError::Input(error)) => *error,
        Err(other) => panic!("expected an input error, found {other:?}"),
        Ok(_) => panic!("expected an input error"),
    }
}
