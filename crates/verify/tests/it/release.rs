//! The answers of `check` about a release whose manifest does not deserve trust.

use std::fs;
use std::path::Path;

use hedgerow_release::Release;
use hedgerow_release::codebook::HEADER;
use hedgerow_release::manifest::{Claim, ClassSizes, FieldDescriptor, Manifest, Promise, Resource, RowTotals};
use hedgerow_table::{Kind, NoProgress, TableError};
use hedgerow_verify::release_check::{ReleaseCheck, check_release};
use serde_json::{Map, Value, json};

fn map(value: Value) -> Map<String, Value> {
    value.as_object().expect("an object").clone()
}

/// A manifest for a table of one quasi attribute, `age`, in classes of these sizes, with what it
/// claims of k-anonymity.
fn manifest(sizes: &[u64], k: u64, achieved: u64) -> Manifest {
    let rows: u64 = sizes.iter().sum();
    let classes = ClassSizes::of(sizes.iter().copied());
    let squares: u64 = sizes.iter().map(|size| size * size).sum();
    let loss = map(json!({ "discernibility": squares, "average-class": classes.mean / k as f64 }));
    let of_codebook = HEADER.iter().map(|name| FieldDescriptor::new(name, Kind::Category, None)).collect();
    Manifest {
        name: "release".to_owned(),
        resources: vec![
            Resource::csv("data", vec![FieldDescriptor::new("age", Kind::Category, Some("quasi"))]),
            Resource::csv("codebook", of_codebook),
        ],
        hedgerow: Promise {
            version: "0.1.0".to_owned(),
            method: "full-domain".to_owned(),
            guarantees: vec![Claim {
                model: "k-anonymity".to_owned(),
                required: map(json!({ "k": k })),
                achieved: map(json!({ "k": achieved })),
                know: vec!["age".to_owned()],
                protect: None,
                rows: None,
                consistent: false,
                only_where: Default::default(),
                holds: true,
            }],
            rows: RowTotals { source: rows, out: rows, suppressed: 0 },
            classes,
            loss,
            hierarchies: Map::new(),
            cloning: Map::new(),
            coarsened: Map::new(),
            dependencies: Vec::new(),
            related: Vec::new(),
            units: None,
        },
        others: Map::new(),
    }
}

fn check(directory: &Path, manifest: &Manifest, ages: &[&str]) -> Result<ReleaseCheck, TableError> {
    fs::write(directory.join("datapackage.json"), manifest.to_json()).unwrap();
    fs::write(
        directory.join("data.csv"),
        format!("age\n{}", ages.iter().map(|age| format!("{age}\n")).collect::<String>()),
    )
    .unwrap();
    let mut labels: Vec<&str> = ages.to_vec();
    labels.sort_unstable();
    labels.dedup();
    let rows: String = labels.iter().map(|label| format!("age,{label},,,{label}\n")).collect();
    fs::write(directory.join("codebook.csv"), format!("attribute,label,low,high,leaf\n{rows}")).unwrap();
    check_release(&Release::with_manifest(directory, Manifest::read(directory)?, &NoProgress)?, &[])
}

/// Were the manifest free to say which texts are missing, it could make all of them one class.
#[test]
fn a_manifest_cannot_turn_labels_into_missing_values() {
    let directory = tempfile::tempdir().unwrap();
    let mut manifest = manifest(&[4], 4, 4);
    manifest.resources[0].schema.missing_values = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
    // Four people, each with a label of their own.
    let refused = check(directory.path(), &manifest, &["a", "b", "c", "d"]).unwrap_err().to_string();
    assert!(refused.contains("other cells than empty ones as missing"), "{refused}");
}

#[test]
fn a_release_without_rows_does_not_hold() {
    let directory = tempfile::tempdir().unwrap();
    let mut manifest = manifest(&[], 5, 5);
    manifest.hedgerow.guarantees[0].achieved = Map::new();
    let refused = check(directory.path(), &manifest, &[]).unwrap_err().to_string();
    assert!(refused.contains("the table has no rows"), "{refused}");
}

/// 195 rows in 97 classes: a mean whose last digit is lost when it is read from JSON.
#[test]
fn an_honest_release_holds_whatever_its_mean_class_size_is() {
    let directory = tempfile::tempdir().unwrap();
    for classes in [3u64, 7, 11, 13, 23, 49, 97] {
        let labels: Vec<String> = (0..classes).map(|label| format!("label {label}")).collect();
        let mut ages: Vec<&str> = labels.iter().chain(&labels).map(String::as_str).collect();
        ages.push(&labels[0]);
        let sizes: Vec<u64> = (0..classes).map(|label| if label == 0 { 3 } else { 2 }).collect();
        let found = check(directory.path(), &manifest(&sizes, 2, 2), &ages).unwrap();
        assert!(found.holds(), "{:?}", found.contradictions);
    }
}

#[test]
fn parameters_out_of_range_are_refused() {
    use hedgerow_privacy::Model;
    for (model, required) in [
        ("t-closeness", json!({ "t": 1.5 })),
        ("alpha-k-anonymity", json!({ "alpha": 2, "k": 2 })),
        ("alpha-k-anonymity", json!({ "alpha": 0.5, "k": 2, "values": [] })),
        ("recursive-l-diversity", json!({ "c": 0, "l": 2 })),
        ("epsilon-m-anonymity", json!({ "epsilon": 1.5, "m": 2, "relative": true })),
        ("epsilon-m-anonymity", json!({ "epsilon": -1, "m": 2 })),
        ("epsilon-m-anonymity", json!({ "epsilon": 1, "m": 0.5 })),
        ("delta-l-diversity", json!({ "delta": 1, "l": 0.9 })),
        ("delta-l-diversity", json!({ "delta": 1, "l": 2, "reading": "hopeful" })),
        ("delta-l-diversity", json!({ "l": 2 })),
        ("k-anonymity", json!({ "k": 2, "l": 3 })),
        ("distinct-l-diversity", json!({ "l": 2, "among": "known" })),
        ("cross-release-l-diversity", json!({ "l": 2, "releases": "all" })),
    ] {
        assert_eq!(Model::from_required(model, &map(required.clone())), None, "{model} {required}");
    }
}

#[test]
fn only_a_release_is_replaced_not_any_data_package() {
    use hedgerow_verify::verified::Staged;
    let parent = tempfile::tempdir().unwrap();
    let project = parent.path().join("project");
    fs::create_dir(&project).unwrap();
    fs::write(project.join("datapackage.json"), r#"{"name": "sources", "resources": []}"#).unwrap();
    assert!(Staged::next_to(&project, true).is_err(), "someone's sources would be removed");
    fs::write(project.join("datapackage.json"), manifest(&[1], 1, 1).to_json()).unwrap();
    assert!(Staged::next_to(&project, true).is_ok());
}

/// A release of two rows that holds, with its manifest as JSON.
fn sound(directory: &Path) -> Value {
    let manifest = manifest(&[2], 2, 2);
    let found = check(directory, &manifest, &["a", "a"]).unwrap();
    assert!(found.holds(), "{:?}", found.contradictions);
    serde_json::from_str(&manifest.to_json()).unwrap()
}

/// The error of opening the release once its manifest is this text.
fn refusal_of(directory: &Path, manifest: &str) -> String {
    fs::write(directory.join("datapackage.json"), manifest).unwrap();
    Release::open(directory, &NoProgress).unwrap_err().to_string()
}

#[test]
fn a_key_that_occurs_twice_is_refused_however_deep() {
    let directory = tempfile::tempdir().unwrap();
    let text = sound(directory.path()).to_string();
    let twice = text.replacen(r#""required":{"k":2}"#, r#""required":{"k":2,"k":1}"#, 1);
    assert_ne!(text, twice);
    assert!(refusal_of(directory.path(), &twice).contains("`k` occurs twice"));
}

#[test]
fn keys_of_a_table_that_are_not_read_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    for (key, value) in [("data", json!([{ "age": "b" }])), ("dialect", json!({ "delimiter": ";" }))] {
        let mut manifest = sound(directory.path());
        manifest["resources"][0][key] = value;
        assert!(refusal_of(directory.path(), &manifest.to_string()).contains(key), "{key}");
    }
    let mut manifest = sound(directory.path());
    manifest["resources"][0]["schema"]["fields"][0]["constraints"] = json!({});
    assert!(refusal_of(directory.path(), &manifest.to_string()).contains("constraints"));
}

#[test]
fn an_unknown_parameter_or_version_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let mut manifest = sound(directory.path());
    manifest["hedgerow"]["guarantees"][0]["required"]["l"] = json!(3);
    fs::write(directory.path().join("datapackage.json"), manifest.to_string()).unwrap();
    let release = Release::open(directory.path(), &NoProgress).unwrap();
    assert!(check_release(&release, &[]).unwrap_err().to_string().contains("parameters that cannot be read"));
    for version in ["", "1", "99.0.0", "0.1", "0.1.0-evil", "0.1.0.0"] {
        let mut manifest = sound(directory.path());
        manifest["hedgerow"]["version"] = json!(version);
        assert!(refusal_of(directory.path(), &manifest.to_string()).contains("version"), "{version}");
    }
}

#[test]
fn a_codebook_explains_released_attributes_only() {
    let directory = tempfile::tempdir().unwrap();
    sound(directory.path());
    let path = directory.path().join("codebook.csv");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}name,Ann,,,Ann\n")).unwrap();
    let found = check_release(&Release::open(directory.path(), &NoProgress).unwrap(), &[]).unwrap();
    assert!(!found.holds());
    assert!(matches!(&found.contradictions[..], [only] if only.contains("`name`")), "{:?}", found.contradictions);
}

#[cfg(unix)]
#[test]
fn links_and_pipes_are_refused_as_tables() {
    let (directory, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for name in ["data.csv", "codebook.csv", "datapackage.json"] {
        sound(directory.path());
        let (inside, outside) = (directory.path().join(name), elsewhere.path().join(name));
        fs::rename(&inside, &outside).unwrap();
        std::os::unix::fs::symlink(&outside, &inside).unwrap();
        let refused = Release::open(directory.path(), &NoProgress).unwrap_err().to_string();
        assert!(refused.contains("symbolic link"), "{name}: {refused}");
        fs::remove_file(&inside).unwrap();
        // No process will ever write to it: opening it would wait without end.
        assert!(std::process::Command::new("mkfifo").arg(&inside).status().unwrap().success());
        let refused = Release::open(directory.path(), &NoProgress).unwrap_err().to_string();
        assert!(refused.contains("not an ordinary file"), "{name}: {refused}");
        fs::remove_file(&inside).unwrap();
    }
}
