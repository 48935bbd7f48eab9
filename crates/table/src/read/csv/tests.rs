//! Files that are accepted and refused, and a comparison with a reader written the slow and obvious
//! way.

use std::io::Cursor;
use std::path::Path;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::read::{LIMITS, read_csv_bytes};
use crate::{Codes, InputError, Kind, NoProgress, Table};

fn read_text(text: &[u8], options: &ReadOptions, limits: &ReadLimits) -> Result<Table, InputError> {
    let path = Path::new("x.csv");
    let open = || SourceBytes::wrap(path, Cursor::new(text.to_vec()), text.len() as u64, &NoProgress);
    super::read(Box::new(open), path, options, Format::Csv, *limits)
        .and_then(|part| part.into_table(path, options))
        .map_err(|error| match error {
            TableError::Input(error) => *error,
            other => panic!("{other}"),
        })
}

fn accepted(text: &[u8]) -> Vec<Vec<String>> {
    rows_of(&read_text(text, &ReadOptions::default(), &LIMITS).unwrap())
}

fn rows_of(table: &Table) -> Vec<Vec<String>> {
    (0..table.rows).map(|row| table.columns.iter().map(|column| column.text(row)).collect()).collect()
}

/// Checks the place and a part of the problem.
fn refused(text: &[u8], place: &str, problem: &str) {
    refused_with(text, &ReadOptions::default(), &LIMITS, place, problem);
}

fn refused_with(text: &[u8], options: &ReadOptions, limits: &ReadLimits, place: &str, problem: &str) {
    let error = read_text(text, options, limits).expect_err("this text is malformed");
    assert_eq!(error.place, place, "{error}");
    assert!(error.problem.contains(problem), "expected `{problem}` in: {error}");
    assert!(!error.hint.is_empty(), "{error}");
}

#[test]
fn plain_rows_are_typed_and_coded_in_order() {
    let table = read_csv_bytes(
        Path::new("x.csv"),
        b"age,zip,when,note\n31,02139,2024-01-31,b\n4,10001,2023-02-01,\n",
        &ReadOptions::default(),
    )
    .unwrap();
    assert_eq!(table.header, ["age", "zip", "when", "note"]);
    assert_eq!(table.rows, 2);
    let kinds: Vec<Kind> = table.columns.iter().map(|column| column.domain.kind()).collect();
    assert_eq!(kinds, [Kind::Integer, Kind::Category, Kind::Date, Kind::Category]);
    assert_eq!(table.columns[0].codes, Codes::U8(vec![1, 0]));
    assert_eq!(table.columns[3].codes, Codes::U8(vec![0, 1]), "missing is the last code");
    assert_eq!(table.columns[3].domain.missing_code(), Some(1));
    assert_eq!(table.columns[0].domain.missing_code(), None);
}

#[test]
fn marks_line_ends_and_quotes_are_read_as_meant() {
    let two = [["1", "2"], ["3", "4"]];
    for text in [
        "a,b\n1,2\n3,4\n",
        "a,b\n1,2\n3,4",
        "a,b\r\n1,2\r\n3,4\r\n",
        "a,b\r\n1,2\r\n3,4\r",
        "\u{feff}a,b\n1,2\n3,4\n",
        "\u{feff}\"a\",b\n1,\"2\"\n\"3\",4\r\n",
        "a;b\n1;2\n3;4\n",
        "a\tb\n1\t2\n3\t4\n",
        "a|b\n\n1|2\n\r\n3|4\n\n\n",
    ] {
        assert_eq!(accepted(text.as_bytes()), two, "{text:?}");
    }
    assert_eq!(accepted(b"a,b\n\"x\ny\",\"say \"\"hi\"\"\"\n"), [["x\ny", "say \"hi\""]]);
    assert_eq!(accepted(b"a,b\n x , \"y\"\n5'\"tall,\"\"\"\"\n"), [[" x ", " \"y\""], ["5'\"tall", "\""]]);
    assert_eq!(accepted(b"a,b\n\"x\r\ny\rz\",\"1,2\"\n"), [["x\r\ny\rz", "1,2"]]);
    assert_eq!(accepted("größe,b\nüber,日本\n".as_bytes()), [["über", "日本"]]);
}

#[test]
fn in_a_single_column_every_line_is_a_row() {
    assert_eq!(accepted(b"a\n1\n\n2\n\n"), [["1"], [""], ["2"], [""]]);
    assert_eq!(accepted(b"a\n\"\"\n"), [[""]]);
    assert_eq!(accepted(b"a\n\r\n"), [[""]]);
}

#[test]
fn headers_must_name_every_column_once() {
    refused(b"a,b,a\n1,2,3\n", "x.csv:1", "columns 1 and 3 are both named `a`");
    refused(b"a,,c\n1,2,3\n", "x.csv:1", "column 2 of 3 has no name");
    refused(b"a,b,\n1,2,\n", "x.csv:1", "column 3 of 3 has no name");
    refused(b"\na,b\n1,2\n", "x.csv:1", "column 1 of 1 has no name");
    let limits = ReadLimits { columns: 2, ..LIMITS };
    refused_with(b"a,b,c\n1,2,3\n", &ReadOptions::default(), &limits, "x.csv:1", "3 columns; at most 2");
}

#[test]
fn nothing_to_read_is_refused() {
    refused(b"", "x.csv", "the file is empty");
    refused("\u{feff}".as_bytes(), "x.csv", "the file is empty");
    refused(b"a,b\n", "x.csv", "no rows");
    refused(b"a,b", "x.csv", "no rows");
    refused(b"a,b\n\n\r\n", "x.csv", "no rows");
}

#[test]
fn malformed_lines_are_refused_where_they_stand() {
    refused(b"a,b\n1,2\n3\n", "x.csv:3", "expected 2 fields as in the header, found 1 (separated by `,`)");
    refused(b"a,b\n1,2\n3,4,5,6\n", "x.csv:3", "found 4");
    refused(b"a,b\n\"x\n\ny\",2\n3\n", "x.csv:5", "found 1");
    refused(b"a,b\n\n\n1\n", "x.csv:4", "found 1");
    refused(b"a\tb\n1\n", "x.csv:2", "separated by tab");
    refused(b"a\n1,2\n", "x.csv:2", "expected 1 field as in the header, found 2");
    refused(b"a,b\n\"\"\n", "x.csv:2", "found 1");
    refused(b"a,b\n1,2\n\"x\"y,2\n", "x.csv:3", "text after the closing quote");
    refused(b"a,b\n1,2\n\"x\n\"y,2\n", "x.csv:4", "text after the closing quote");
    refused(b"a,b\n1,2\n3,\"x\n5,6\n7,8\n", "x.csv:3", "never closed");
    refused(b"\"a,b\n1,2\n", "x.csv:1", "never closed");
    refused(b"a,b\n1\n3,\"x\n", "x.csv:2", "found 1");
    refused(b"a,b\r1,2\r3,4\r", "x.csv:1", "carriage return");
    refused(b"a,b\n1,2\n3\r,4\n", "x.csv:3", "carriage return");
    refused(b"a,b\n1,2\n3,4\r\r\n", "x.csv:3", "carriage return");
    refused(b"a,b\n1,2\n\xe9t\xe9,2\n", "x.csv:3", "not UTF-8");
    refused(b"a,\xff\n1,2\n", "x.csv:1", "not UTF-8");
    refused(b"a,b\n1,2\n3,\0\n", "x.csv:3", "NUL");
    refused(b"\xff\xfea\0,\0b\0\n\0", "x.csv:1", "UTF-16");
    refused(b"\xfe\xff\0a\0,\0b\0\n", "x.csv:1", "UTF-16");
}

#[test]
fn everything_has_a_limit() {
    let small = ReadLimits { block_bytes: 8, field_bytes: 20, record_bytes: 50, ..LIMITS };
    let options = ReadOptions::default();
    let long = "y".repeat(21);
    refused_with(format!("a,b\n1,2\n{long},2\n").as_bytes(), &options, &small, "x.csv:3", "a field of over 20 bytes");
    refused_with(format!("a,b\n1,2\n3,\"{long}\"\n").as_bytes(), &options, &small, "x.csv:3", "over 20 bytes");
    refused_with(
        format!("a,b\n1,2\n3,\"\n{long}{long}{long}").as_bytes(),
        &options,
        &small,
        "x.csv:3",
        "over 20 bytes",
    );
    let line = vec!["1"; 60].join(",");
    refused_with(format!("a,b\n1,2\n{line}\n").as_bytes(), &options, &small, "x.csv:3", "a line of over 50 bytes");
    let mac = "1,2\r".repeat(40);
    refused_with(mac.as_bytes(), &options, &small, "x.csv:1", "carriage return");
    let fits = format!("a,b\n{},{}\n", &long[1..], &long[1..]);
    assert_eq!(read_text(fits.as_bytes(), &options, &small).unwrap().rows, 1);
    let few_rows = ReadLimits { rows: 2, ..LIMITS };
    refused_with(b"a\n1\n2\n3\n", &options, &few_rows, "x.csv", "more than 2 rows");
    assert_eq!(read_text(b"a\n1\n2\n", &options, &few_rows).unwrap().rows, 2);
}

#[test]
fn a_field_of_megabytes_is_read() {
    let long = "line\n".repeat(600_000);
    let table = read_text(format!("a,b\n1,\"{long}\"\n2,x\n").as_bytes(), &ReadOptions::default(), &LIMITS).unwrap();
    assert_eq!(table.columns[1].text(0), long);
    assert_eq!(table.columns[1].text(1), "x");
}

#[test]
fn declared_kinds_nulls_and_chosen_columns_are_respected() {
    let text = b"age,zip,id\n1,02139,u\n?,NA,v\n3,,w\n";
    let options = ReadOptions {
        nulls: vec!["?".to_owned(), "NA".to_owned(), "a null text longer than sixteen".to_owned()],
        kinds: [("age".to_owned(), Kind::Category), ("absent".to_owned(), Kind::Date)].into(),
        only: Some(["zip".to_owned(), "age".to_owned(), "absent".to_owned()].into()),
        ..ReadOptions::default()
    };
    let table = read_text(text, &options, &LIMITS).unwrap();
    assert_eq!(table.header, ["age", "zip", "id"]);
    assert_eq!(table.columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>(), ["age", "zip"]);
    assert_eq!(table.columns[0].domain.kind(), Kind::Category);
    assert_eq!(table.columns[0].codes, Codes::U8(vec![0, 2, 1]));
    assert_eq!(table.columns[1].domain.present(), 2, "the empty text is a value when it is not listed as missing");
    let none = ReadOptions { only: Some(Default::default()), ..ReadOptions::default() };
    let table = read_text(text, &none, &LIMITS).unwrap();
    assert_eq!((table.rows, table.columns.len()), (3, 0));
}

#[test]
fn a_value_that_its_declared_kind_cannot_take_is_found_at_its_first_line() {
    let options = |kind| ReadOptions { kinds: [("b".to_owned(), kind)].into(), ..ReadOptions::default() };
    let text = b"a,b\n1,7\n\n\"x\n\",8\n2,\n3,oops\n4,7.5\n5,oops\n";
    for block_bytes in [1, 7, 1 << 20] {
        let limits = ReadLimits { block_bytes, ..LIMITS };
        refused_with(text, &options(Kind::Integer), &limits, "x.csv:7", "column `b`: `oops` is not an integer");
        refused_with(text, &options(Kind::Date), &limits, "x.csv:2", "`7` is not a date");
        refused_with(text, &options(Kind::Float), &limits, "x.csv:7", "`oops` is not a float");
    }
    let long = format!("b\n{}\n", "z".repeat(100));
    refused_with(long.as_bytes(), &options(Kind::Float), &LIMITS, "x.csv:2", &format!("`{}…`", "z".repeat(40)));
}

#[test]
fn delimiter_and_quote_can_be_given_and_must_make_sense() {
    let given = |delimiter, quote| ReadOptions { delimiter, quote, ..ReadOptions::default() };
    let table = read_text(b"a:b\n'1:2':3\n", &given(Some(b':'), Some(b'\'')), &LIMITS).unwrap();
    assert_eq!(rows_of(&table), [["1:2", "3"]]);
    refused_with(b"a\n1\n", &given(Some(b'"'), None), &LIMITS, "x.csv", "both delimiter and quote");
    refused_with(b"a\n1\n", &given(Some(b'\n'), None), &LIMITS, "x.csv", "the delimiter must be");
    refused_with(b"a\n1\n", &given(None, Some(0xe9)), &LIMITS, "x.csv", "the quote must be");
    let tsv = ReadOptions { format: Some(Format::Tsv), ..ReadOptions::default() };
    let table = read_csv_bytes(Path::new("x"), b"a,b\tc\n1,2\t3\n", &tsv).unwrap();
    assert_eq!(table.header, ["a,b", "c"]);
}

#[test]
fn wide_domains_take_wide_codes() {
    for distinct in [255usize, 256, 257, 65_536, 65_537] {
        let mut text = String::from("n\n");
        (0..distinct).rev().for_each(|value| text.push_str(&format!("{value}\n")));
        let limits = ReadLimits { block_bytes: 1000, ..LIMITS };
        let table = read_text(text.as_bytes(), &ReadOptions::default(), &limits).unwrap();
        let codes: Vec<u32> = table.columns[0].codes.iter().collect();
        assert_eq!(codes, (0..distinct as u32).rev().collect::<Vec<u32>>());
        let width = table.columns[0].codes.bytes() / distinct;
        assert_eq!(
            width,
            if distinct <= 256 {
                1
            } else if distinct <= 65_536 {
                2
            } else {
                4
            }
        );
    }
}

/// RFC 4180 with the rules of this reader, one character at a time: the records with their lines,
/// or the line of the first mistake and a part of its description.
fn reference(text: &str, delimiter: char) -> Result<Vec<Vec<String>>, (usize, &'static str)> {
    let mut characters: Vec<char> = text.chars().collect();
    if characters.last().is_some_and(|&last| last != '\n') {
        characters.push('\n');
    }
    let mut records: Vec<Vec<String>> = Vec::new();
    let (mut at, mut line) = (0, 1);
    let mut expected = None;
    while at < characters.len() {
        let record_line = line;
        let mut record = Vec::new();
        let mut quoted_any = false;
        loop {
            let mut field = String::new();
            if characters[at] == '"' {
                quoted_any = true;
                let open_line = line;
                at += 1;
                loop {
                    match characters.get(at) {
                        // The newline added at the end is not part of the text.
                        None => return Err((open_line, "never closed")),
                        Some('"') if characters.get(at + 1) == Some(&'"') => {
                            field.push('"');
                            at += 2;
                        }
                        Some('"') => {
                            at += 1;
                            break;
                        }
                        Some(&other) => {
                            line += usize::from(other == '\n');
                            field.push(other);
                            at += 1;
                        }
                    }
                }
                if characters[at] == '\r' && characters.get(at + 1) == Some(&'\n') {
                    at += 1;
                }
                if characters[at] != delimiter && characters[at] != '\n' {
                    return Err((line, "text after the closing quote"));
                }
            } else {
                while characters[at] != delimiter && characters[at] != '\n' {
                    if characters[at] == '\r' {
                        if characters.get(at + 1) != Some(&'\n') {
                            return Err((line, "carriage return"));
                        }
                    } else {
                        field.push(characters[at]);
                    }
                    at += 1;
                }
            }
            record.push(field);
            let ended = characters[at] == '\n';
            at += 1;
            if ended {
                line += 1;
                break;
            }
        }
        let width = *expected.get_or_insert(record.len());
        let empty = record.len() == 1 && record[0].is_empty() && !quoted_any;
        if empty && width > 1 {
            continue;
        }
        if record.len() != width {
            return Err((record_line, "expected"));
        }
        records.push(record);
    }
    Ok(records)
}

fn soup(random: &mut StdRng) -> String {
    let width = random.random_range(1..4);
    let names: Vec<String> = (0..width).map(|index| format!("c{index}")).collect();
    let mut text = names.join(",");
    let strays = random.random_bool(0.4);
    for _ in 0..random.random_range(1..12) {
        text.push_str(if random.random_bool(0.3) { "\r\n" } else { "\n" });
        if random.random_bool(0.1) {
            continue;
        }
        for field in 0..width {
            if field > 0 {
                text.push(',');
            }
            let quoted = random.random_bool(0.3);
            let pieces: &[&str] = match (quoted, strays) {
                (true, false) => &["a", "\"\"", "\n", ",", "\r\n", "é", "long enough text", " "],
                (true, true) => &["a", "\"\"", "\n", ",", "\r", "\"", "日本"],
                (false, false) => &["a", "b", "12", "ü", " ", "seventeen letters", "x\"y"],
                (false, true) => &["a", "\"", "\r", ",", "\n", "x"],
            };
            let content: String =
                (0..random.random_range(0..4)).map(|_| pieces[random.random_range(0..pieces.len())]).collect();
            text.push_str(&if quoted { format!("\"{content}\"") } else { content });
        }
    }
    if random.random_bool(0.5) {
        text.push('\n');
    }
    text
}

#[test]
fn any_soup_of_bytes_is_read_as_the_obvious_reader_reads_it() {
    let pools: Vec<rayon::ThreadPool> =
        [1, 2].iter().map(|&threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()).collect();
    let (mut sound, mut broken) = (0, 0);
    for seed in 0..6000u64 {
        let mut random = StdRng::seed_from_u64(seed);
        let text = soup(&mut random);
        let width = text.split(['\n', '\r']).next().unwrap().split(',').count();
        let kinds = (0..width).map(|index| (format!("c{index}"), Kind::Category)).collect();
        let options = ReadOptions { delimiter: Some(b','), kinds, ..ReadOptions::default() };
        let block_bytes = random.random_range(1..40);
        let limits = ReadLimits { block_bytes, ..LIMITS };
        let outcomes: Vec<Result<Table, InputError>> =
            pools.iter().map(|pool| pool.install(|| read_text(text.as_bytes(), &options, &limits))).collect();
        assert_eq!(outcomes[0], outcomes[1], "seed {seed}: {text:?}");
        match (reference(&text, ','), &outcomes[0]) {
            (Ok(records), Ok(table)) => {
                sound += 1;
                assert_eq!(rows_of(table), records[1..], "seed {seed}, blocks of {block_bytes}: {text:?}");
            }
            (Ok(records), Err(error)) => {
                assert_eq!(
                    (records.len(), error.problem.as_str()),
                    (1, "the table has no rows"),
                    "seed {seed}: {text:?}"
                );
            }
            (Err((line, problem)), Err(error)) => {
                broken += 1;
                assert_eq!(error.place, format!("x.csv:{line}"), "seed {seed}: {text:?}: {error}");
                assert!(error.problem.contains(problem), "seed {seed}: {text:?}: {error} is not {problem}");
            }
            (Err(mistake), Ok(_)) => panic!("seed {seed}: {mistake:?} was not noticed in {text:?}"),
        }
    }
    assert!(sound > 1000 && broken > 1000, "{sound} sound, {broken} broken");
}

#[test]
fn raw_bytes_never_panic() {
    for seed in 0..3000u64 {
        let mut random = StdRng::seed_from_u64(seed);
        let alphabet = b"a1,;\t|\"\n\r\xef\xbb\xbf\xff\xfe\0 ";
        let text: Vec<u8> =
            (0..random.random_range(0..60)).map(|_| alphabet[random.random_range(0..alphabet.len())]).collect();
        let limits =
            ReadLimits { block_bytes: random.random_range(1..70), field_bytes: 20, record_bytes: 40, ..LIMITS };
        if let Ok(table) = read_text(&text, &ReadOptions::default(), &limits) {
            assert!(table.rows > 0 && table.columns.iter().all(|column| column.codes.len() == table.rows), "{seed}");
        }
    }
}
