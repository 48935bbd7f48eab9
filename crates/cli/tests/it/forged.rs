//! Releases in which a file was changed so that it still fits together: `check` finds what no
//! publisher can have written.

use serde_json::{Value, json};

use crate::false_claims::{put, releases};
use crate::running::Folder;

/// Changes one file of a release, and has `check` find it and say these words.
#[track_caller]
fn found(folder: &Folder, release: &str, file: &str, change: impl FnOnce(&str) -> String, words: &str) {
    let name = format!("{release}/{file}");
    let honest = folder.read(&name);
    let changed = change(&honest);
    assert_ne!(honest, changed, "{name} was not changed");
    folder.write(&name, &changed);
    let ran = folder.run(&["check", release]);
    assert_eq!(ran.code, Some(4), "{name}: {changed}\n{ran:?}");
    let named = ran.stdout.lines().any(|line| line.contains("CONTRADICTION") && line.contains(words));
    assert!(named, "{name}: {changed}\n{ran:?}");
    folder.write(&name, honest);
    assert_eq!(folder.run(&["check", release]).code, Some(0), "{name}");
}

/// The first record that `matches`, with one cell changed.
fn edit(text: &str, matches: impl Fn(&[&str]) -> bool, cell: usize, change: impl Fn(&str) -> String) -> String {
    let mut done = false;
    let line = |line: &str| {
        let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
        if !done && matches(&line.split(',').collect::<Vec<_>>()) {
            done = true;
            cells[cell] = change(&cells[cell]);
        }
        cells.join(",") + "\n"
    };
    text.lines().map(line).collect()
}

fn plus(number: i64) -> impl Fn(&str) -> String {
    move |text| (text.parse::<i64>().unwrap() + number).to_string()
}

const MEANING: &str = "mean something else than codebook.csv says";

#[test]
fn covers_that_a_label_does_not_have() {
    let folder = releases();
    let has_end =
        |end: usize| move |cells: &[&str]| cells[0] == "age" && cells[2] != cells[3] && !cells[end].is_empty();
    for release in ["generalized", "mondrian", "cluster"] {
        found(&folder, release, "codebook.csv", |text| edit(text, has_end(3), 3, plus(-1)), MEANING);
        found(&folder, release, "codebook.csv", |text| edit(text, has_end(2), 2, plus(1)), MEANING);
    }
    for release in ["generalized", "mondrian", "cluster", "anatomy", "clone"] {
        let renamed =
            |text: &str| edit(text, |cells| cells[0] == "city" && !cells[4].is_empty(), 4, |_| "Zz".to_owned());
        found(&folder, release, "codebook.csv", renamed, MEANING);
    }
    let moved = |text: &str| text.replacen("age,21,21,21,", "age,21,20,20,", 1);
    found(&folder, "anatomy", "codebook.csv", moved, "say less than codebook.csv says");
}

/// Of a hierarchy's file a reader sees that labels of one level share no leaf.
#[test]
fn a_leaf_under_two_labels_of_a_file() {
    let folder = Folder::with_people();
    folder.write("city.csv", "Aa;North;*\nBb;North;*\nCc;South;*\nDd;South;*\n");
    let rows = ["Aa", "Bb", "Cc", "Dd"].map(|city| format!("x,30,{city},Flu\nx,30,{city},Ache\nx,30,{city},Flu\n"));
    folder.write("people.csv", format!("name,age,city,illness\n{}", rows.concat()));
    folder.write("policy.toml", crate::running::POLICY.replace("k = 2", "k = 6"));
    let ran = folder.run(&["publish", "policy.toml", "-o", "release", "-q"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let codebook = folder.read("release/codebook.csv");
    assert!(codebook.contains("city,North,,,Bb\n") && codebook.contains("city,South,,,Cc\n"), "{codebook}");
    let twice = |text: &str| text.replace("city,South,,,Cc\n", "city,South,,,Bb\ncity,South,,,Cc\n");
    found(&folder, "release", "codebook.csv", twice, "not of one level");
}

#[test]
fn numbers_of_units_that_cannot_be() {
    let folder = crate::units::stays();
    crate::units::policy(&folder, "policy.toml", "method = \"full-domain\"");
    let ran = folder.run(&["publish", "policy.toml", "-o", "release", "-q"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let manifest: Value = serde_json::from_str(&folder.read("release/datapackage.json")).unwrap();
    let (units, rows) = (&manifest["hedgerow"]["units"], &manifest["hedgerow"]["rows"]);
    let number = |value: &Value| value.as_u64().unwrap();
    let (out, suppressed, rows_out) = (number(&units["out"]), number(&units["suppressed"]), number(&rows["out"]));
    let stated = |out: u64, suppressed: u64| json!({ "in": out + suppressed, "out": out, "suppressed": suppressed, "linked": false });
    let state = |value: Value| {
        move |text: &str| {
            let mut manifest: Value = serde_json::from_str(text).unwrap();
            put(&mut manifest, "/hedgerow/units", value);
            manifest.to_string()
        }
    };
    let file = "datapackage.json";
    found(&folder, "release", file, state(stated(rows_out + 1, suppressed)), "more units than rows");
    found(&folder, "release", file, state(stated(out, number(&rows["suppressed"]) + 1)), "more suppressed units");
    found(&folder, "release", file, state(stated(3, suppressed)), "3 units in");
    // One row more than units: the unit with two rows is the only one.
    found(&folder, "release", file, state(stated(rows_out - 1, suppressed)), "cannot be such that");
    found(&folder, "release", file, state(Value::Null), "does not say how many there are");
}

#[test]
fn statistics_of_clones_that_cannot_be() {
    let folder = releases();
    let file = "statistics.csv";
    let row = |statistic: &'static str| move |cells: &[&str]| cells[3] == statistic;
    let honest = folder.read("clone/statistics.csv");
    let mean = honest.lines().find(|line| line.contains(",mean,")).unwrap().to_owned();
    found(&folder, "clone", file, |text| edit(text, row("low"), 4, plus(-6)), "equally far");
    found(&folder, "clone", file, |text| edit(text, row("high"), 4, plus(6)), "equally far");
    let hundredths = |text: &str| edit(text, row("mean"), 4, |mean| format!("{}.37", mean.split('.').next().unwrap()));
    found(&folder, "clone", file, hundredths, "whole numbers");
    found(&folder, "clone", file, |text| format!("{text}{mean}\n"), "something twice");
    found(&folder, "clone", file, |text| edit(text, row("low"), 5, plus(-1)), "covers other tuples");
    let without_low = |text: &str| {
        let low = text.lines().find(|line| line.contains(",low,")).unwrap();
        text.replacen(&format!("{low}\n"), "", 1)
    };
    found(&folder, "clone", file, without_low, "is absent");
    let as_text = |text: &str| {
        let place = |cells: &[&str]| cells[2] == "age" && cells[3] == "mean";
        edit(text, place, 3, |_| "category".to_owned())
    };
    found(&folder, "clone", file, as_text, "");
}

/// Numbers of classes and buckets join rows; a number of one's own could be that of a person.
#[test]
fn numbers_that_are_not_counted_from_one() {
    let folder = releases();
    let renumbered = |text: &str, cell: usize, from: &str, to: &str| {
        let line = |line: &str| {
            let mut cells: Vec<&str> = line.split(',').collect();
            if cells[cell] == from {
                cells[cell] = to;
            }
            cells.join(",") + "\n"
        };
        text.lines().map(line).collect::<String>()
    };
    let both = |release: &str, files: [(&str, usize); 2], words: &str| {
        let honest = files.map(|(file, _)| folder.read(&format!("{release}/{file}")));
        for ((file, cell), text) in files.iter().zip(&honest) {
            folder.write(&format!("{release}/{file}"), renumbered(text, *cell, "1", "4711"));
        }
        let ran = folder.run(&["check", release]);
        assert_eq!(ran.code, Some(4), "{ran:?}");
        assert!(ran.stdout.contains(words), "{ran:?}");
    };
    both("anatomy", [("quasi.csv", 2), ("sensitive.csv", 0)], "the numbers of groups are not those from 1");
    both("clone", [("statistics.csv", 0), ("sensitive.csv", 0)], "the numbers of classes are not those from 1");
}
