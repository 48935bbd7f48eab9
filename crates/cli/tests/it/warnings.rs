//! Warnings of `check` about releases that hold: claims that require nothing, quasi attributes that
//! no rule assumes to be known, identifiers.

use serde_json::{Value, json};

use crate::running::{Folder, POLICY};

#[test]
fn a_sound_release_is_checked_without_a_warning() {
    let folder = Folder::with_release("release");
    let ran = folder.run(&["check", "release"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
    let json = folder.run(&["check", "release", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&json.stdout).unwrap()["warnings"], json!([]));
}

#[test]
fn a_claim_that_requires_nothing_and_a_quasi_attribute_that_no_rule_knows() {
    let folder = Folder::with_people();
    let known = "know = [\"age\"]\nprotect = \"illness\"";
    folder.write("policy.toml", POLICY.replace("k = 2", "k = 1").replace("protect = \"illness\"", known));
    assert_eq!(folder.run(&["publish", "policy.toml", "-o", "release"]).code, Some(0));
    let ran = folder.run(&["check", "release"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.stderr.contains("warning: release/datapackage.json: k-anonymity with k = 1 holds for every table"),
        "{ran:?}"
    );
    assert!(ran.stderr.contains("to know the quasi-identifier `city`\nhint: "), "{ran:?}");
    assert!(!ran.stderr.contains("`age`"), "{ran:?}");
    assert_eq!(folder.run(&["check", "release", "--quiet"]).stderr, "");
    let json = folder.run(&["check", "release", "--json"]);
    let object: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(object["warnings"].as_array().map(Vec::len), Some(2), "{object}");
    assert_eq!(object["holds"], json!(true));
}

#[test]
fn an_identifier_in_a_table_that_is_checked_against_a_policy() {
    let folder = Folder::with_people();
    let ran = folder.run(&["check", "--policy", "policy.toml", "people.csv"]);
    assert!(ran.stderr.contains("warning: people.csv: the column `name` is an identifier"), "{ran:?}");
    folder.write("named.csv", "age,city,illness\n21,Aa,Flu\n21,Aa,Cough\n21,Aa,Flu\n21,Aa,Cough\n");
    let ran = folder.run(&["check", "--policy", "policy.toml", "named.csv"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
}

/// Thirty columns that are not in the policy are one line; `-v` lists them.
#[test]
fn columns_that_are_not_released_are_one_line_and_listed_on_request() {
    let folder = Folder::with_people();
    let extra: Vec<String> = (0..30).map(|number| format!("extra{number}")).collect();
    let people = folder.read("people.csv");
    let wider: String = people
        .lines()
        .enumerate()
        .map(|(row, line)| {
            let cells = if row == 0 { extra.join(",") } else { vec!["0"; 30].join(",") };
            format!("{line},{cells}\n")
        })
        .collect();
    folder.write("people.csv", wider);
    let ran = folder.run(&["publish", "policy.toml", "-o", "release"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let lines: Vec<&str> = ran.stderr.lines().filter(|line| line.contains("extra")).collect();
    assert_eq!(lines.len(), 1, "{ran:?}");
    assert!(lines[0].contains("`extra4` and 25 other columns") && !lines[0].contains("extra5"), "{lines:?}");
    let ran = folder.run(&["publish", "policy.toml", "-o", "release", "--force", "-v"]);
    let all = ran.stderr.lines().find(|line| line.starts_with("all of them: ")).unwrap_or_else(|| panic!("{ran:?}"));
    assert!(extra.iter().all(|name| all.contains(name.as_str())), "{all}");
}
