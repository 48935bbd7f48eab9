//! A codebook reads back as it was written; a file that cannot be one is refused with its line.

use std::path::Path;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;
use hedgerow_table::date::Date;

fn label(text: &str, cover: Cover) -> Label {
    Label { text: text.to_owned(), cover, leaves: 1 }
}

fn interval(low: Option<i64>, high: Option<i64>) -> Cover {
    Cover::Interval { low: low.map(Bound::Integer), high: high.map(Bound::Integer) }
}

fn leaves(texts: &[&str]) -> Cover {
    Cover::Leaves(texts.iter().map(|text| (*text).to_owned()).collect())
}

fn written(codebook: &Codebook) -> String {
    let mut bytes = Vec::new();
    codebook.write(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn parse(text: &str) -> Result<Codebook, TableError> {
    Codebook::parse(text, Path::new("codebook.csv"))
}

#[test]
fn every_kind_of_cover_has_its_rows_in_a_fixed_order() {
    let entries = [
        ("age", label("", Cover::Missing)),
        ("age", label("*", Cover::Everything)),
        ("age", label("65+", interval(Some(65), None))),
        ("age", label("5 to 9", interval(Some(5), Some(10)))),
        ("age", label("10 to 14", interval(Some(10), Some(15)))),
        ("age", label("<5", interval(None, Some(5)))),
        ("job", label("care, \"home\"", leaves(&["nurse", "carer"]))),
        ("day", label("2020-01-01", Cover::Point(Bound::Date(Date::from_ymd(2020, 1, 1).unwrap())))),
    ];
    let expected = "\
attribute,label,low,high,leaf
age,<5,,5,
age,5 to 9,5,10,
age,10 to 14,10,15,
age,65+,65,,
age,*,,,
age,,,,
job,\"care, \"\"home\"\"\",,,nurse
job,\"care, \"\"home\"\"\",,,carer
day,2020-01-01,2020-01-01,2020-01-01,
";
    let mut codebook = Codebook::new();
    for (attribute, label) in &entries {
        codebook.add(attribute, label).unwrap();
        codebook.add(attribute, label).unwrap();
    }
    assert_eq!(written(&codebook), expected);
    let read = parse(expected).unwrap();
    assert_eq!(read, codebook);
    assert_eq!(read.cover("age", ""), Some(&Cover::Missing));
    assert_eq!(read.cover("age", "*"), Some(&Cover::Everything));
    assert_eq!(read.cover("age", "5 to 9"), Some(&interval(Some(5), Some(10))));
    assert_eq!(read.cover("age", "nurse"), None);
    assert_eq!(read.cover("name", "*"), None);
    assert_eq!(read.attributes().collect::<Vec<_>>(), ["age", "job", "day"]);
    assert!(codebook.add("age", &label("*", Cover::Missing)).is_err(), "one label, two covers");
}

#[test]
fn an_empty_codebook_is_its_header() {
    assert_eq!(written(&Codebook::new()), "attribute,label,low,high,leaf\n");
    assert_eq!(parse("attribute,label,low,high,leaf\n").unwrap(), Codebook::new());
}

#[test]
fn written_codebooks_read_back_the_same() {
    for seed in 0..400 {
        let codebook = random_codebook(&mut StdRng::seed_from_u64(seed));
        let text = written(&codebook);
        let read = parse(&text).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        assert_eq!(written(&read), text, "seed {seed}");
        for attribute in codebook.attributes() {
            assert_eq!(read.labels(attribute), codebook.labels(attribute), "seed {seed}");
        }
    }
}

/// Text with everything that could confuse a reader.
fn random_text(random: &mut StdRng, length_min: usize) -> String {
    let characters = ['a', 'b', ',', '"', ';', '\n', '\r', ' ', '*', '7', '-', 'é', '\u{feff}'];
    let length = random.random_range(length_min..5);
    (0..length).map(|_| characters[random.random_range(0..characters.len())]).collect()
}

fn random_bound(random: &mut StdRng, kind: u8) -> Bound {
    match kind {
        0 => Bound::Integer(match random.random_range(0..6) {
            0 => i64::MIN,
            1 => i64::MAX,
            _ => random.random_range(-50..50),
        }),
        1 => Bound::Float(match random.random_range(0..4) {
            0 => f64::from(random.random_range(-9i32..9)),
            1 => f64::from_bits(random.random::<u64>() & 0x7FEF_FFFF_FFFF_FFFF),
            _ => f64::from(random.random_range(-900i32..900)) / 100.0,
        }),
        _ => Bound::Date(Date(random.random_range(-10_000..30_000))),
    }
}

fn random_codebook(random: &mut StdRng) -> Codebook {
    let mut codebook = Codebook::new();
    for number in 0..random.random_range(0..4) {
        let attribute = format!("{}{number}", random_text(random, 0));
        let kind = random.random_range(0..4u8);
        for _ in 0..random.random_range(1..8) {
            let cover = match (kind, random.random_range(0..5)) {
                (_, 0) => Cover::Everything,
                (3, _) | (_, 1) => random_leaves(random),
                _ => {
                    let (a, b) = (random_bound(random, kind), random_bound(random, kind));
                    let (low, high) = if a <= b { (a, b) } else { (b, a) };
                    match random.random_range(0..4) {
                        0 => Cover::Interval { low: None, high: Some(high) },
                        1 => Cover::Interval { low: Some(low), high: None },
                        _ if low < high => Cover::Interval { low: Some(low), high: Some(high) },
                        _ => Cover::Point(low),
                    }
                }
            };
            let text = random_text(random, 1);
            if codebook.cover(&attribute, &text).is_none() {
                codebook.add(&attribute, &label(&text, cover)).unwrap();
            }
        }
        if random.random() {
            codebook.add(&attribute, &label("", Cover::Missing)).unwrap();
        }
    }
    codebook
}

fn random_leaves(random: &mut StdRng) -> Cover {
    let mut texts: Vec<String> = (0..random.random_range(1..5)).map(|_| random_text(random, 1)).collect();
    texts.sort();
    texts.dedup();
    if random.random() {
        texts.insert(random.random_range(0..=texts.len()), String::new());
    }
    Cover::Leaves(texts)
}

#[test]
fn malformed_codebooks_are_refused_with_their_line() {
    let cases = [
        ("", "codebook.csv:1: the header"),
        ("attribute,label\n", "codebook.csv:1: the header"),
        ("a,*,,\n", "codebook.csv:2: the row has 4 fields instead of 5"),
        ("a,x,1,b,\n", "codebook.csv:2: attribute `a`, label `x`: `b` in the column high"),
        ("a,x,07,8,\n", "`07` in the column low"),
        ("a,x,5,1,\n", "low is 5, above high, 1"),
        ("a,x,5,2020-01-01,\n", "one is a date, the other a number"),
        ("a,x,1,2,leaf\n", "bounds and a leaf"),
        ("a,x,1,2,\na,x,2,3,\n", "codebook.csv:3: attribute `a`, label `x`: a second row has bounds"),
        ("a,x,1,2,\na,x,,,leaf\n", "a second row follows one with bounds"),
        ("a,*,,,\na,*,,,\n", "a second row follows a blank one"),
        ("a,,,,\na,,,,leaf\n", "a second row follows a blank one"),
        (
            "a,x,,,l\na,y,,,l\na,x,,,m\na,x,,,l\n",
            "codebook.csv:5: attribute `a`, label `x`: the leaf `l` is there twice",
        ),
        ("a,x,,,\"l\n", "codebook.csv:2: a quote opens here"),
    ];
    for (rows, expected) in cases {
        let text = if expected.contains("header") { rows.to_owned() } else { format!("{}\n{rows}", HEADER.join(",")) };
        let error = parse(&text).unwrap_err().to_string();
        assert!(error.contains(expected), "{rows:?} gave {error}");
        assert!(error.contains("hint: "), "{error}");
    }
}

#[test]
fn a_codebook_is_read_from_its_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("codebook.csv");
    std::fs::write(&path, "attribute,label,low,high,leaf\r\nage,20,20,20,\r\n").unwrap();
    let codebook = Codebook::read(&path).unwrap();
    assert_eq!(codebook.cover("age", "20"), Some(&Cover::Point(Bound::Float(20.0))));
    assert!(matches!(Codebook::read(&directory.path().join("other.csv")), Err(TableError::Io { .. })));
}
