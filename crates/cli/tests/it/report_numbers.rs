//! Every number that a report shows is one of its JSON, for every kind of release: those that name
//! their place there, those of pictures, and those that merely stand in the text.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::running::{Folder, example};

/// An example of every kind of release, with its policy.
pub(crate) const KINDS: [(&str, &str); 7] = [
    ("hospital/policy.toml", "full-domain"),
    ("hospital/policy-local.toml", "mondrian"),
    ("hospital/anatomy.toml", "anatomy"),
    ("salaries/policy.toml", "numbers"),
    ("salaries/near.toml", "near"),
    ("six-patients/decompose.toml", "decompose"),
    ("three-hospitals/clone-1.toml", "clone"),
];

/// Publishes an example and reports on it, with the policy unless the report is for publication.
pub(crate) fn reported(folder: &Folder, policy: &str, name: &str, publishable: bool) -> (String, Value) {
    let policy = example(policy);
    let policy = policy.to_str().unwrap();
    if !folder.path(name).exists() {
        let ran = folder.run(&["publish", policy, "-o", name, "--seed", "7"]);
        assert_eq!(ran.code, Some(0), "{name}: {ran:?}");
    }
    let page = format!("{name}-{publishable}.html");
    let more: &[&str] = if publishable { &["--publishable"] } else { &[] };
    let ran = folder.run(&[&["report", name, "--policy", policy, "-o", &page, "--json"], more].concat());
    assert_eq!(ran.code, Some(0), "{name}: {ran:?}");
    (folder.read(&page), serde_json::from_str(&ran.stdout).unwrap())
}

/// The value, the place in the JSON and the text of every number that the page names a place for.
pub(crate) fn numbers(page: &str) -> Vec<(f64, String, String)> {
    let tags = page.split("<data value=\"").skip(1);
    let with_key = tags.filter_map(|tag| {
        let (value, rest) = tag.split_once('"')?;
        let key = rest.strip_prefix(" data-key=\"")?.split('"').next()?;
        let text = rest.split_once('>')?.1.split_once("</data>")?.0;
        Some((value.parse().unwrap(), key.replace("&amp;", "&").replace("&quot;", "\""), text.to_owned()))
    });
    with_key.collect()
}

/// Every number anywhere in a value.
fn all_numbers(value: &Value, found: &mut Vec<f64>) {
    match value {
        Value::Number(number) => found.extend(number.as_f64()),
        Value::Array(items) => items.iter().for_each(|item| all_numbers(item, found)),
        Value::Object(map) => map.values().for_each(|item| all_numbers(item, found)),
        _ => {}
    }
}

/// The value of a shown number, and how far rounding may take it.
fn read_back(shown: &str) -> Option<(f64, f64)> {
    let clean: String = shown.chars().filter(|c| c.is_ascii_digit() || ".-".contains(*c)).collect();
    let number: f64 = clean.parse().ok()?;
    let digits = clean.split_once('.').map_or(0, |(_, after)| after.len() as i32);
    let scale = if shown.contains('%') { 100.0 } else { 1.0 };
    let whole = if digits == 0 && number.abs() >= 1000.0 { number.abs() * 1e-3 } else { 0.0 };
    Some((number / scale, (0.51 * 10f64.powi(-digits) + whole) / scale))
}

/// The reader of JSON in these tests may miss the nearest float by its last bit.
pub(crate) fn same(there: &Value, value: f64) -> bool {
    there.as_f64().is_some_and(|there| (there - value).abs() <= 1e-15 * value.abs())
}

/// The text of a page that is neither drawn nor names its place in the JSON.
fn plain_text(page: &str) -> String {
    let mut text = page.to_owned();
    for (open, close) in [("<style", "</style>"), ("<svg", "</svg>"), ("<data ", "</data>")] {
        let mut kept = String::new();
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once(open) {
            kept.push_str(before);
            rest = after.split_once(close).unwrap_or_else(|| panic!("{open} without {close}")).1;
        }
        text = kept + rest;
    }
    let mut kept = String::new();
    let mut is_tag = false;
    for character in text.chars() {
        match character {
            '<' => is_tag = true,
            // Words of neighboring elements are apart.
            '>' => (is_tag, _) = (false, kept.push(' ')),
            _ if !is_tag => kept.push(character),
            _ => {}
        }
    }
    kept.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

/// The numbers in a text, as they are written.
fn written_numbers(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_digit() && c != '.');
    let words = words.map(|word| word.trim_matches('.')).filter(|word| word.contains(|c: char| c.is_ascii_digit()));
    words.map(str::to_owned).collect()
}

/// Names of standards and of limits that people cite: text, not measurements.
const CITED: [&str; 10] = [
    "ISO/IEC 27559:2022",
    "ISO/IEC 20889:2018",
    "ISO/IEC 27559 clause 6",
    "45 CFR 164.514(b)(2)",
    "WP216",
    "EMA 0.09 (1/11)",
    "k ≥ 11",
    "k ≥ 5",
    "1/k",
    "1/f",
];

/// Compares a page with its JSON, and returns the number of numbers compared.
fn compare(name: &str, page: &str, json: &Value) -> usize {
    let found = numbers(page);
    for (value, key, shown) in &found {
        let there = json.pointer(key).unwrap_or_else(|| panic!("{name}: nothing at {key}"));
        assert!(same(there, *value), "{name}: {key} is {there}, on the page {value}");
        if shown != "&lt; 0.01 %" {
            let (read, off) = read_back(shown).unwrap_or_else(|| panic!("{name}: {key} is shown as {shown}"));
            assert!((read - value).abs() <= off, "{name}: {key} is {value}, shown as {shown}");
        }
    }
    for figure in page.split("<figure data-key=\"").skip(1) {
        let (key, body) = figure.split_once('"').unwrap();
        let mut known = Vec::new();
        all_numbers(json.pointer(key).unwrap_or_else(|| panic!("{name}: nothing at {key}")), &mut known);
        let body = body.split("</figure>").next().unwrap();
        for tag in body.split("<data value=\"").skip(1) {
            let value: f64 = tag.split('"').next().unwrap().parse().unwrap();
            let drawn = known.iter().any(|there| (there - value).abs() <= 1e-15 * value.abs());
            assert!(drawn, "{name}: the picture of {key} draws {value}, which is not there");
        }
    }
    let mut text = plain_text(page);
    CITED.iter().for_each(|cited| text = text.replace(cited, ""));
    let known = written_numbers(&json.to_string());
    let unknown: Vec<String> = written_numbers(&text).difference(&known).cloned().collect();
    assert!(unknown.is_empty(), "{name}: {unknown:?} is in the text and not in the JSON:\n{text}");
    found.len()
}

#[test]
fn every_number_of_the_page_is_the_one_in_the_json() {
    let folder = Folder::new();
    for (policy, name) in KINDS {
        for publishable in [false, true] {
            let (page, json) = reported(&folder, policy, name, publishable);
            let compared = compare(name, &page, &json);
            assert!(compared > 10, "{name}: only {compared} numbers");
        }
    }
}

#[test]
fn numbers_of_methods_without_an_example_are_in_the_json() {
    let folder = Folder::of_example("hospital");
    let policy = folder.read("policy-local.toml");
    assert!(policy.contains("method = \"mondrian\""));
    for method in ["best-cut", "cluster"] {
        folder.write("other.toml", policy.replace("method = \"mondrian\"", &format!("method = \"{method}\"")));
        let ran = folder.run(&["publish", "other.toml", "-o", method, "--seed", "7"]);
        assert_eq!(ran.code, Some(0), "{method}: {ran:?}");
        let ran = folder.run(&["report", method, "--policy", "other.toml", "-o", "r.html", "--json", "--force"]);
        assert_eq!(ran.code, Some(0), "{method}: {ran:?}");
        let json: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert!(json["releases"][0]["undivided"].is_object(), "{method}");
        assert!(compare(method, &folder.read("r.html"), &json) > 15, "{method}");
    }
}

#[test]
fn numbers_of_several_releases_and_of_foreign_tables_are_in_the_json() {
    let folder = Folder::of_example("departments");
    for name in ["revenue", "census"] {
        assert_eq!(folder.run(&["publish", &format!("{name}.toml"), "-o", name]).code, Some(0));
    }
    folder.write("arx/data.csv", "zip;salary-class\n<20000;High\n<20000;Low\n>=20000;High\n>=20000;Middle\n");
    let sidecar = "[source]\npath = \"data.csv\"\n[attributes]\nzip = { role = \"quasi\" }\nsalary-class = { role = \"sensitive\" }\n";
    folder.write("arx/release.toml", sidecar);
    folder.write("both.csv", "age,zip\n18,15341\n");
    for releases in [&["revenue", "census"][..], &["arx"], &["revenue", "arx"]] {
        for people in [&[][..], &["--people", "both.csv"]] {
            let arguments = [&["report"], releases, people, &["-o", "r.html", "--json", "--force"]].concat();
            let ran = folder.run(&arguments);
            assert_eq!(ran.code, Some(0), "{arguments:?}: {ran:?}");
            let json: Value = serde_json::from_str(&ran.stdout).unwrap();
            let compared = compare(&releases.join(" and "), &folder.read("r.html"), &json);
            assert!(compared > 5, "{arguments:?}: only {compared} numbers");
        }
    }
}
