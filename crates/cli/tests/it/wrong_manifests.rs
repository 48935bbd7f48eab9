//! Whatever is wrong in a manifest, `check` refuses the release with exit code 4: it never fails
//! as if the machine had, never stops by itself, and never reads what the release does not hold.

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::IteratorRandom;
use serde_json::{Value, json};

use crate::false_claims::{put, releases};
use crate::running::Folder;

const KINDS: [&str; 6] = ["generalized", "mondrian", "cluster", "anatomy", "clone", "decompose"];
/// Of about a thousand for each kind of release.
const TRIED: usize = 60;

/// What no manifest has in the place of a value.
fn wrong_instead_of(value: &Value) -> Vec<Value> {
    let mut wrong = vec![json!([]), json!({ "Ann": "flu" }), json!(["Ann has the flu"])];
    match value {
        Value::Null => wrong.extend([json!("Ann"), json!(7)]),
        Value::Bool(value) => wrong.extend([json!(!value), json!("true"), json!(1), Value::Null]),
        Value::Number(number) => {
            let more = number.as_f64().unwrap() + 1.0;
            wrong.extend([json!("7"), json!(-1), json!(1e308), json!(u64::MAX), json!(more), Value::Null]);
        }
        Value::String(text) => {
            let (longer, folder) = (format!("{text}x"), format!("{text}/"));
            wrong.extend([json!(""), json!(longer), json!(folder), json!("/dev/zero"), json!(7), Value::Null]);
        }
        Value::Array(values) => {
            wrong.extend([json!("Ann"), json!(7)]);
            wrong.push(values.iter().cloned().chain([json!("Ann")]).collect());
        }
        Value::Object(object) => {
            let mut more = object.clone();
            more.insert("Ann".to_owned(), json!("flu"));
            wrong.extend([json!("Ann"), json!(7), Value::Object(more)]);
        }
    }
    wrong.retain(|other| other != value);
    wrong
}

/// The pointers to all values but the whole.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    let mut next = |key: &str, value: &Value| {
        let at = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
        pointers(value, &at, found);
        found.push(at);
    };
    match value {
        Value::Object(object) => object.iter().for_each(|(key, value)| next(key, value)),
        Value::Array(values) => values.iter().enumerate().for_each(|(place, value)| next(&place.to_string(), value)),
        _ => {}
    }
}

fn refused(folder: &Folder, release: &str, manifest: &Value, what: &str) {
    folder.write(&format!("{release}/datapackage.json"), manifest.to_string());
    let ran = folder.run(&["check", release]);
    assert_eq!(ran.code, Some(4), "{what}: {ran:?}");
}

#[test]
fn any_wrong_value_is_refused() {
    let folder = releases();
    for (kind, release) in KINDS.into_iter().enumerate() {
        let honest = folder.read(&format!("{release}/datapackage.json"));
        let manifest: Value = serde_json::from_str(&honest).unwrap();
        let mut places = Vec::new();
        pointers(&manifest, "", &mut places);
        let wrong = places.iter().flat_map(|place| {
            wrong_instead_of(manifest.pointer(place).unwrap()).into_iter().map(move |value| (place, value))
        });
        let seed = std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(kind as u64);
        for (place, value) in wrong.sample(&mut StdRng::seed_from_u64(seed), TRIED) {
            // That nothing is required of a rule's other side is what a rule may say.
            if place.ends_with("/protect") && value.is_null() || is_weaker(place, &value) {
                continue;
            }
            let mut changed = manifest.clone();
            put(&mut changed, place, value.clone());
            refused(&folder, release, &changed, &format!("seed {seed}: {release}{place} = {value}"));
        }
        folder.write(&format!("{release}/datapackage.json"), honest);
    }
}

/// A field without the type of its values has texts, and one without a hierarchy has none.
fn is_weaker(place: &str, value: &Value) -> bool {
    value.is_null() && (place.ends_with("/values") || place.ends_with("/hierarchy"))
}

/// The codebook is read under its own name; nothing else is opened in its place.
#[test]
fn a_table_is_named_by_a_path_within_the_release_and_in_one_way() {
    let folder = releases();
    let long = "x".repeat(70_000);
    let paths = ["", ".", "/", "codebook.csv/", "./codebook.csv", "../generalized/codebook.csv", "/dev/zero", "a\0b"];
    for release in ["generalized", "anatomy"] {
        let honest = folder.read(&format!("{release}/datapackage.json"));
        let manifest: Value = serde_json::from_str(&honest).unwrap();
        for table in 0..manifest["resources"].as_array().unwrap().len() {
            for path in paths.into_iter().chain([long.as_str()]) {
                let mut changed = manifest.clone();
                put(&mut changed, &format!("/resources/{table}/path"), json!(path));
                refused(
                    &folder,
                    release,
                    &changed,
                    &format!("{release}, table {table}: {:?}", &path[..path.len().min(20)]),
                );
            }
        }
        folder.write(&format!("{release}/datapackage.json"), honest);
    }
    let parquet = folder.run(&["publish", "policy.toml", "-o", "parquet", "--format", "parquet", "-q"]);
    assert_eq!(parquet.code, Some(0), "{parquet:?}");
    let mut manifest: Value = serde_json::from_str(&folder.read("parquet/datapackage.json")).unwrap();
    put(&mut manifest, "/resources/0/path", json!("data.parquet/"));
    refused(&folder, "parquet", &manifest, "data.parquet/");
}
