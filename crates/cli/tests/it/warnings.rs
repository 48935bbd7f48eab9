//! What `check` warns of though it holds: claims that ask nothing, quasi attributes that nobody is
//! taken to know, identifiers.

use serde_json::{Value, json};

use crate::running::{Folder, POLICY};

#[test]
fn a_sound_release_is_checked_without_a_warning() {
    let folder = Folder::with_release("release");
    let ran = folder.run(&["check", "release"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
    let json = folder.run(&["check", "release", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&json.stdout).unwrap().get("warnings"), None);
}

#[test]
fn a_claim_that_asks_nothing_and_a_quasi_attribute_that_nobody_knows() {
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
    assert!(ran.stderr.contains("to know the quasi attribute `city`\nhint: "), "{ran:?}");
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
    folder.write("named.csv", "age,city,illness\n21,Aa,Flu\n21,Aa,Cough\n");
    let ran = folder.run(&["check", "--policy", "policy.toml", "named.csv"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
}
