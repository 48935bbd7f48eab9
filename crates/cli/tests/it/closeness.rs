//! Hierarchical t-closeness through a written release: the manifest brings the hierarchy, and a
//! forged one is detected.

use serde_json::{Value, json};

use crate::running::Folder;

const POLICY: &str = r#"[source]
path = "people.csv"
[attributes]
name = { role = "identifier" }
age = { role = "quasi", hierarchy = { widths = [10] } }
city = { role = "quasi" }
illness = { role = "sensitive", hierarchy = "illness.csv" }
[[rule]]
protect = "illness"
require = { model = "t-closeness", t = 0.4, distance = "hierarchical" }
"#;

fn published() -> Folder {
    let folder = Folder::with_people();
    folder.write("policy.toml", POLICY);
    folder.write("illness.csv", "Flu;lungs;*\nCough;lungs;*\nAche;head;*\nGout;foot;*\n");
    let ran = folder.run(&["publish", "policy.toml", "-o", "release"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    folder
}

fn change_manifest(folder: &Folder, change: impl FnOnce(&mut Value)) {
    let mut manifest: Value = serde_json::from_str(&folder.read("release/datapackage.json")).unwrap();
    change(&mut manifest);
    folder.write("release/datapackage.json", manifest.to_string());
}

#[test]
fn an_honest_release_brings_the_hierarchy_that_it_is_checked_by() {
    let folder = published();
    let manifest: Value = serde_json::from_str(&folder.read("release/datapackage.json")).unwrap();
    let paths = &manifest["hedgerow"]["hierarchies"]["illness"];
    assert_eq!(paths, &json!([["Ache", "head", "*"], ["Cough", "lungs", "*"], ["Flu", "lungs", "*"]]), "no Gout");
    let ran = folder.run(&["check", "release"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

/// Everyone of one city has one illness: as far from the whole as can be. Each forgery would have
/// made it close.
#[test]
fn a_hierarchy_that_is_not_a_tree_with_one_top_is_refused() {
    let forgeries = [
        ("nothing above the values", json!([["Ache"], ["Cough"], ["Flu"]])),
        ("no common top", json!([["Ache", "a"], ["Cough", "c"], ["Flu", "f"]])),
        ("two tops", json!([["Ache", "x", "x"], ["Cough", "x", "x"], ["Flu", "x", "y"]])),
        ("parting again", json!([["Ache", "x", "a", "*"], ["Cough", "x", "b", "*"], ["Flu", "x", "c", "*"]])),
        ("a value twice", json!([["Ache", "x", "*"], ["Cough", "x", "*"], ["Flu", "x", "*"], ["Flu", "y", "*"]])),
        ("a value lacking", json!([["Ache", "x", "*"], ["Cough", "x", "*"]])),
        ("uneven", json!([["Ache", "*"], ["Cough", "x", "*"], ["Flu", "x", "*"]])),
        ("no lists", json!({ "Ache": "*" })),
    ];
    for (case, forged) in forgeries {
        let folder = published();
        folder.write("release/data.csv", "age,city,illness\n*,Aa,Flu\n*,Aa,Flu\n*,Bb,Ache\n*,Cc,Cough\n");
        change_manifest(&folder, |manifest| manifest["hedgerow"]["hierarchies"]["illness"] = forged);
        let ran = folder.run(&["check", "release"]);
        assert_eq!(ran.code, Some(4), "{case}: {ran:?}");
        assert!(ran.stdout.contains("is not a tree with one top"), "{case}: {ran:?}");
    }
}

#[test]
fn a_release_that_is_not_close_does_not_hold() {
    let folder = published();
    folder.write("release/data.csv", "age,city,illness\n*,Aa,Flu\n*,Aa,Flu\n*,Bb,Ache\n*,Cc,Cough\n");
    let ran = folder.run(&["check", "release"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.stdout.contains("FAILS   t-closeness of illness"), "{ran:?}");
}

/// Cough and Ache stand for one another in two cities: honestly at the full price, under the forged
/// tree at half.
#[test]
fn another_tree_gives_another_distance_than_the_one_claimed() {
    let folder = published();
    let forged = json!([["Ache", "x", "*"], ["Cough", "x", "*"], ["Flu", "y", "*"]]);
    change_manifest(&folder, |manifest| manifest["hedgerow"]["hierarchies"]["illness"] = forged);
    let ran = folder.run(&["check", "release"]);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.stdout.contains("the manifest claims t = 0.25 for t-closeness, the table shows t = 0.125"), "{ran:?}");
}
