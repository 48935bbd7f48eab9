//! Degenerate tables and awkward texts, from source to checked release; and the order of rows.

use crate::release::Texts;
use crate::running::{Folder, Ran};

/// One quasi attribute `q` and one sensitive `s`, unless the attributes are given.
const ATTRIBUTES: &str = "q = { role = \"quasi\" }\ns = { role = \"sensitive\" }\n";

fn policy(attributes: &str, rule: &str, publish: &str) -> String {
    format!("[source]\npath = \"t.csv\"\n[attributes]\n{attributes}[[rule]]\n{rule}\n[publish]\n{publish}\n")
}

fn run(data: &str, policy: &str) -> (Folder, Ran) {
    let folder = Folder::new();
    folder.write("t.csv", data);
    folder.write("policy.toml", policy);
    let ran = folder.run(&["publish", "policy.toml", "-o", "release"]);
    (folder, ran)
}

/// Publishes, checks in both formats, and gives the released table.
#[track_caller]
fn published(data: &str, policy: &str) -> Texts {
    let (folder, ran) = run(data, policy);
    assert_eq!(ran.code, Some(0), "{data:?}\n{policy}\n{ran:?}");
    let parquet = folder.run(&["publish", "policy.toml", "-o", "parquet", "--format", "parquet"]);
    assert_eq!(parquet.code, Some(0), "{parquet:?}");
    for release in ["release", "parquet"] {
        let ran = folder.run(&["check", release]);
        assert_eq!(ran.code, Some(0), "{release}: {ran:?}");
        let ran = folder.run(&["measure", release, "--policy", "policy.toml", "--queries", "10"]);
        assert_eq!(ran.code, Some(0), "{release}: {ran:?}");
    }
    Texts::read(&folder.path("release/data.csv"))
}

const K1: &str = "require = { model = \"k-anonymity\", k = 1 }";
const K2: &str = "require = { model = \"k-anonymity\", k = 2 }";
const L2: &str = "protect = \"s\"\nrequire = { model = \"distinct-l-diversity\", l = 2 }";

#[test]
fn one_row() {
    assert_eq!(published("q,s\na,x\n", &policy(ATTRIBUTES, K1, "")).rows, [["a", "x"]]);
    let (folder, ran) = run("q,s\na,x\n", &policy(ATTRIBUTES, K2, "suppression = 1"));
    assert_eq!(ran.code, Some(3), "a release without rows was written: {ran:?}");
    assert!(!folder.path("release").exists());
}

#[test]
fn one_column() {
    let one = "q = { role = \"quasi\" }\n";
    assert_eq!(published("q\na\na\nb\nb\n", &policy(one, K2, "")).rows.len(), 4);
    // An empty line is a row here, and the only way to write it so that a reader sees it is in
    // quotes.
    let missing = published("q\na\n\na\n\n", &policy(one, K2, ""));
    assert_eq!(missing.rows.iter().filter(|row| row[0].is_empty()).count(), 2);
}

#[test]
fn all_equal_all_distinct_all_missing() {
    assert_eq!(published("q,s\na,x\na,x\na,x\n", &policy(ATTRIBUTES, K2, "")).rows, [["a", "x"]; 3]);
    assert_eq!(published("q,s\na,x\nb,y\nc,z\n", &policy(ATTRIBUTES, L2, "")).column("q"), ["*"; 3]);
    assert_eq!(published("q,s\n,x\n,y\n", &policy(ATTRIBUTES, L2, "")).column("q"), [""; 2]);
    let numbers = "q = { role = \"quasi\", hierarchy = { widths = [10] } }\ns = { role = \"sensitive\" }\n";
    assert_eq!(published("q,s\n,x\n,y\n", &policy(numbers, L2, "")).column("q"), [""; 2]);
    assert_eq!(published("q,s\n5,\n5,\n", &policy(numbers, K2, "")).rows, [["5", ""]; 2]);
}

#[test]
fn missing_is_a_value_of_its_own_and_buys_no_privacy() {
    let nulls = policy(ATTRIBUTES, L2, "").replace("\"t.csv\"", "\"t.csv\"\nnull = [\"\", \"?\"]");
    let sorted = |table: &str| {
        let mut rows = published(table, &nulls).rows.clone();
        rows.sort();
        rows
    };
    let rows = sorted("q,s\n?,x\n,y\na,w\na,z\n");
    assert_eq!(rows, [["", "x"], ["", "y"], ["a", "w"], ["a", "z"]]);
    // Among the rows of `a` whose value is known there is one value only.
    let rows = sorted("q,s\n?,x\n,y\na,?\na,z\n");
    assert_eq!(rows, [["*", ""], ["*", "x"], ["*", "y"], ["*", "z"]]);
}

#[test]
fn an_empty_text_that_is_not_declared_missing_is_refused() {
    // Only `?` is declared missing, so the empty text is a value; in a release both would be an
    // empty cell.
    let nulls = |rule: &str| policy(ATTRIBUTES, rule, "").replace("\"t.csv\"", "\"t.csv\"\nnull = [\"?\"]");
    for data in ["q,s\na,?\na,\n", "q,s\na,\na,x\n", "q,s\n?,x\n,y\n", "q,s\n,x\n,y\n"] {
        let (folder, ran) = run(data, &nulls(K2));
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains("empty cells that do not count as missing\nhint: "), "{ran:?}");
        assert!(!folder.path("release").exists());
    }
    assert_eq!(published("q,s\na,?\na,x\n?,y\n?,z\n", &nulls(L2)).rows.len(), 4);
}

#[test]
fn awkward_texts_come_through() {
    let odd = [
        "a,b",
        "\"quoted\"",
        "two\nlines",
        "cr\r\nlf",
        "ünï ✓",
        " spaced ",
        ";",
        "'",
        "#",
        "\t",
        "NULL",
        "=1+1",
        "\u{feff}mark",
    ];
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let rows: String = odd.iter().map(|text| format!("{},{}\n", quoted(text), quoted(text)).repeat(2)).collect();
    let table = published(&format!("q,s\n{rows}"), &policy(ATTRIBUTES, K2, ""));
    let mut expected: Vec<Vec<String>> = odd.iter().flat_map(|text| vec![vec![(*text).to_owned(); 2]; 2]).collect();
    let mut found = table.rows;
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
}

#[test]
fn awkward_names_come_through() {
    for name in ["a,b", "say \"so\"", "ünï ✓", " spaced ", "a.b", "*", "1", "#", "attribute", "two\nlines"] {
        let header = format!("\"{}\"", name.replace('"', "\"\""));
        let attributes = format!("{name:?} = {{ role = \"quasi\" }}\ns = {{ role = \"sensitive\" }}\n");
        let table = published(&format!("{header},s\na,x\na,y\n"), &policy(&attributes, L2, ""));
        assert_eq!(table.header, [name, "s"]);
    }
}

#[test]
fn values_that_look_like_labels_do_not_mislead() {
    let mask = "q = { role = \"quasi\", hierarchy = { mask = 2 } }\ns = { role = \"sensitive\" }\n";
    for (data, attributes) in [("q,s\n*,x\n*,y\na,x\na,y\n", ATTRIBUTES), ("q,s\na*,x\nab,y\nac,z\n", mask)] {
        let (folder, ran) = run(data, &policy(attributes, L2, ""));
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains("the value `") && ran.stderr.contains("hint: "), "{ran:?}");
        assert!(!folder.path("release").exists());
    }
    let widths = "q = { role = \"quasi\", hierarchy = { widths = [10] } }\ns = { role = \"sensitive\" }\n";
    let far = format!("q,s\n{},x\n{},y\n", i64::MIN, i64::MAX);
    assert_eq!(published(&far, &policy(widths, L2, "")).column("q"), ["*"; 2]);
}

#[test]
fn codes_keep_their_zeros_and_numbers_their_value() {
    let table = published("q,s\n02139,1.50\n02139,2\n1,1e3\n1,-4\n", &policy(ATTRIBUTES, K2, ""));
    let mut rows = table.rows;
    rows.sort();
    assert_eq!(rows, [["02139", "1.5"], ["02139", "2"], ["1", "-4"], ["1", "1000"]]);
}

#[test]
fn more_required_than_there_are_people() {
    let (folder, ran) = run("q,s\na,x\nb,y\n", &policy(ATTRIBUTES, "require = { model = \"k-anonymity\", k = 3 }", ""));
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(!folder.path("release").exists());
}

#[test]
fn only_a_seed_repeats_the_order_of_rows() {
    let data: String = (0..300).map(|row| format!("a,s{row}\n")).collect();
    let (folder, ran) = run(&format!("q,s\n{data}"), &policy(ATTRIBUTES, L2, ""));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let order = |name: &str, seed: &[&str]| {
        let ran = folder.run(&[&["publish", "policy.toml", "-o", name], seed].concat());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(ran.stderr.contains("must not be published"), !seed.is_empty());
        folder.read(&format!("{name}/data.csv"))
    };
    let [first, second] = ["first", "second"].map(|name| order(name, &[]));
    let [third, fourth] = ["third", "fourth"].map(|name| order(name, &["--seed", "1"]));
    let fifth = order("fifth", &["--seed", "2"]);
    assert_ne!(first, second);
    assert_eq!(third, fourth);
    assert_ne!(fourth, fifth);
    // Neither is the order that of the source.
    assert!(!first.ends_with(&data) && !third.ends_with(&data));
}
