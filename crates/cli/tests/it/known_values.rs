//! Rules about some known values alone (`where`), through written releases: judged again here from
//! the released text and the codebook, forged, and refused.

use std::collections::BTreeMap;

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};

use crate::running::{Folder, Ran};

const CASES: u64 = 90;
const COUNTIES: [&str; 4] = ["Bexar", "Hays", "Travis", "Waco"];

#[test]
fn random_releases_keep_rules_about_known_values_and_exempt_the_rest() {
    if let Some(seed) = std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse().ok()) {
        examine(seed);
        return;
    }
    let found: Vec<Option<Found>> = (0..CASES).map(examine).collect();
    let published: Vec<&Found> = found.iter().flatten().collect();
    let exempt = published.iter().filter(|found| found.exempt > 0).count() as u64;
    let looked_at = published.iter().filter(|found| found.looked_at > 0).count() as u64;
    assert!(published.len() as u64 > CASES / 2, "only {} of {CASES} policies could be met", published.len());
    assert!(exempt > CASES / 15, "only {exempt} releases have a class that the rule would break for");
    assert!(looked_at > CASES / 4, "only {looked_at} releases have a class that a rule is about");
}

/// Classes that a rule is about, and classes that it is not about and would break for.
struct Found {
    looked_at: usize,
    exempt: usize,
}

/// Publishes a random table under a random rule; `None` where no release can keep it.
fn examine(seed: u64) -> Option<Found> {
    let rng = &mut StdRng::seed_from_u64(seed);
    let mut data = String::from("age,county,ward,illness\n");
    for _ in 0..rng.random_range(6..40) {
        let missing = rng.random_bool(0.1);
        let (county, ward) = (COUNTIES.choose(rng).unwrap(), ["a", "b", "c"].choose(rng).unwrap());
        let illness = ["Flu", "Flu", "Cold", "Ache", ""].choose(rng).unwrap();
        let age = rng.random_range(20..45);
        data.push_str(&format!("{age},{},{ward},{illness}\n", if missing { "" } else { county }));
    }
    let known = [
        ("age", rng.random_range(18..48).to_string()),
        ("county", (*COUNTIES.choose(rng).unwrap()).to_owned()),
        ("ward", ["a", "b"].choose(rng).map(|ward| (*ward).to_owned()).unwrap()),
    ];
    let mut named: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (name, value) in known.iter().filter(|_| rng.random_bool(0.5)) {
        named.insert(name, vec![value.clone()]);
    }
    let (name, value) = known.choose(rng).unwrap();
    named.entry(name).or_insert_with(|| vec![value.clone()]);
    let know: &[&str] = match named.contains_key("ward") {
        true => [&["age", "county", "ward"][..], &["ward", "age", "county"]].choose(rng).unwrap(),
        false => [&["age", "county"][..], &["age", "county", "ward"]].choose(rng).unwrap(),
    };
    let (model, l) =
        *[("distinct-l-diversity", "l"), ("frequency-l-diversity", "l"), ("k-anonymity", "k")].choose(rng).unwrap();
    let required = rng.random_range(2..=3usize);
    let method = *["full-domain", "mondrian", "best-cut"].choose(rng).unwrap();
    let suppression = if method == "full-domain" { "suppression = 0.2\n" } else { "" };
    let protect = if model == "k-anonymity" { "" } else { "protect = \"illness\"\n" };
    let pairs: Vec<String> = named.iter().map(|(name, values)| format!("{name} = {values:?}")).collect();
    let policy = format!(
        "[source]\npath = \"data.csv\"\n[attributes]\nage = {{ role = \"quasi\", hierarchy = {{ widths = [5, 20] }} }}\n\
         county = {{ role = \"quasi\", hierarchy = \"county.csv\" }}\nward = {{ role = \"plain\" }}\n\
         illness = {{ role = \"sensitive\" }}\n[[rule]]\nknow = {know:?}\n{protect}require = {{ model = \"{model}\", {l} = {required} }}\n\
         where = {{ {} }}\n[publish]\nmethod = \"{method}\"\n{suppression}",
        pairs.join(", ")
    );
    let folder = Folder::new();
    folder.write("data.csv", &data);
    folder.write("county.csv", "Bexar;south;*\nHays;middle;*\nTravis;middle;*\nWaco;north;*\n");
    folder.write("policy.toml", &policy);
    let context = |ran: &Ran| format!("HEDGEROW_SEED={seed}\n{policy}{data}{ran:?}");
    let ran = folder.run(&["publish", "policy.toml", "-o", "release"]);
    if ran.code == Some(3) {
        return None;
    }
    assert_eq!(ran.code, Some(0), "{}", context(&ran));
    let checked = folder.run(&["check", "release"]);
    assert_eq!(checked.code, Some(0), "{}", context(&checked));
    let labels = Labels::of(&folder.read("release/codebook.csv"));
    let released = folder.read("release/data.csv");
    let mut lines = released.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let mut classes: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
    for line in lines {
        let cells = split(line);
        let of = |name: &str| cells[header.iter().position(|known| *known == name).unwrap()].clone();
        classes.entry(know.iter().map(|name| of(name)).collect()).or_default().push(of("illness"));
    }
    let (mut looked_at, mut exempt, mut worst) = (0, 0, None::<f64>);
    for (cells, illnesses) in &classes {
        let is_about = named.iter().all(|(name, values)| {
            let cell = &cells[know.iter().position(|known| known == name).unwrap()];
            values.iter().any(|value| labels.may_stand_for(name, cell, value))
        });
        let achieved = achieved(model, illnesses);
        match is_about {
            true => {
                looked_at += 1;
                worst = Some(worst.map_or(achieved, |worst| worst.min(achieved)));
                assert!(achieved >= required as f64, "{cells:?} {illnesses:?}\n{}", context(&ran));
            }
            false => exempt += usize::from(achieved < required as f64),
        }
    }
    let claim = &manifest(&folder)["hedgerow"]["guarantees"][0];
    assert_eq!(claim["where"], json!(named), "{}", context(&ran));
    match worst {
        Some(worst) => {
            assert!((claim["achieved"][l].as_f64().unwrap() - worst).abs() < 1e-9, "{claim}\n{}", context(&ran))
        }
        None => assert_eq!(claim["achieved"], json!({}), "{}", context(&ran)),
    }
    Some(Found { looked_at, exempt })
}

/// With the missing value as a value, and among the known ones.
fn achieved(model: &str, illnesses: &[String]) -> f64 {
    let known: Vec<&String> = illnesses.iter().filter(|illness| !illness.is_empty()).collect();
    let all: Vec<&String> = illnesses.iter().collect();
    let of = |values: &[&String]| {
        let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
        values.iter().for_each(|value| *counts.entry(value).or_default() += 1);
        match model {
            "distinct-l-diversity" => counts.len() as f64,
            _ => values.len() as f64 / *counts.values().max().unwrap() as f64,
        }
    };
    match (model, known.is_empty()) {
        ("k-anonymity", _) => illnesses.len() as f64,
        (_, true) => of(&all),
        (_, false) => of(&all).min(of(&known)),
    }
}

/// The codebook by attribute and label: ends and leaves.
struct Labels(BTreeMap<(String, String), Vec<[String; 3]>>);

impl Labels {
    fn of(codebook: &str) -> Labels {
        let mut found: BTreeMap<(String, String), Vec<[String; 3]>> = BTreeMap::new();
        for line in codebook.lines().skip(1) {
            let [attribute, label, low, high, leaf] = split(line).try_into().unwrap();
            found.entry((attribute, label)).or_default().push([low, high, leaf]);
        }
        Labels(found)
    }

    fn may_stand_for(&self, attribute: &str, label: &str, value: &str) -> bool {
        let Some(rows) = self.0.get(&(attribute.to_owned(), label.to_owned())) else { return label == value };
        if label.is_empty() {
            return false;
        }
        rows.iter().any(|[low, high, leaf]| {
            let number = |text: &str| text.parse::<f64>().ok();
            let by_ends = || {
                let value = number(value);
                if low == high && !low.is_empty() {
                    return number(low) == value;
                }
                (low.is_empty() || number(low) <= value) && (high.is_empty() || value < number(high))
            };
            if attribute == "age" && leaf.is_empty() { by_ends() } else { leaf == value || label == "*" }
        })
    }
}

/// The fields of a line, where quotes may hold commas.
fn split(line: &str) -> Vec<String> {
    let (mut fields, mut quoted) = (vec![String::new()], false);
    for letter in line.chars() {
        match letter {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            _ => fields.last_mut().unwrap().push(letter),
        }
    }
    fields
}

fn manifest(folder: &Folder) -> Value {
    serde_json::from_str(&folder.read("release/datapackage.json")).unwrap()
}

const DISCHARGES: &str = "hospital,icd,gender,zip\n\
    A,HIV,F,71000\nA,HIV,F,71000\nA,flu,M,72000\nA,flu,M,72000\n\
    B,HIV,M,73000\nB,HIV,F,74000\nB,diabetes,F,74000\nB,diabetes,F,74000\n";

/// Rule II of the Texas data: the gender and the ZIP code of patients whose diagnosis is HIV.
fn texas(method: &str, only: &str) -> Folder {
    let folder = Folder::new();
    folder.write("data.csv", DISCHARGES);
    let rule = |protect: &str| {
        format!(
            "[[rule]]\nknow = [\"hospital\", \"icd\"]\nprotect = \"{protect}\"\n\
             require = {{ model = \"distinct-l-diversity\", l = 2 }}\n{only}"
        )
    };
    folder.write(
        "policy.toml",
        format!(
            "[source]\npath = \"data.csv\"\n[attributes]\nhospital = {{ role = \"quasi\" }}\nicd = {{ role = \"plain\" }}\n\
             gender = {{ role = \"sensitive\" }}\nzip = {{ role = \"sensitive\" }}\n{}{}[publish]\nmethod = \"{method}\"\n",
            rule("gender"),
            rule("zip")
        ),
    );
    folder
}

#[test]
fn the_second_texas_rule_is_about_patients_with_the_illness_alone() {
    for method in ["full-domain", "mondrian", "best-cut"] {
        let folder = texas(method, "where = { icd = [\"HIV\", \"alcoholism\"] }\n");
        let ran = folder.run(&["publish", "policy.toml", "-o", "release"]);
        assert_eq!(ran.code, Some(0), "{method} {ran:?}");
        assert!(ran.stderr.contains("no row has \"alcoholism\" as its `icd`"), "{ran:?}");
        // In hospital A all who have HIV are women of one place; among all hospitals they are not.
        let released = folder.read("release/data.csv");
        assert!(!released.contains("A,HIV"), "{method} {released}");
        let claims = &manifest(&folder)["hedgerow"]["guarantees"];
        assert_eq!(claims[0]["where"], json!({ "icd": ["HIV", "alcoholism"] }));
        assert_eq!(claims[1]["achieved"], json!({ "l": 3 }), "of the patients with HIV");
        let ran = folder.run(&["check", "release"]);
        assert_eq!(ran.code, Some(0), "{method} {ran:?}");
        assert!(ran.stdout.contains(", where icd may be HIV or alcoholism"), "{ran:?}");
        // Of everyone, the rule cannot be kept: all with flu are men.
        let ran = texas(method, "").run(&["publish", "policy.toml", "-o", "release"]);
        assert_eq!(ran.code, Some(3), "{method} {ran:?}");
        // About flu alone, neither can it.
        let ran = texas(method, "where = { icd = [\"flu\"] }\n").run(&["publish", "policy.toml", "-o", "release"]);
        assert_eq!(ran.code, Some(3), "{method} {ran:?}");
    }
    let by_hospital = texas("full-domain", "where = { icd = [\"HIV\"], hospital = [\"B\"] }\n");
    let ran = by_hospital.run(&["publish", "policy.toml", "-o", "release"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(by_hospital.read("release/data.csv").contains("A,HIV,F,71000"), "hospital A is not concerned");
}

#[test]
fn forged_known_values_are_detected() {
    let forged = |value: Value, words: &str| {
        let folder = texas("full-domain", "where = { icd = [\"HIV\"], hospital = [\"B\"] }\n");
        let ran = folder.run(&["publish", "policy.toml", "-o", "release"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let mut manifest = manifest(&folder);
        manifest["hedgerow"]["guarantees"][1]["where"] = value.clone();
        folder.write("release/datapackage.json", manifest.to_string());
        let ran = folder.run(&["check", "release"]);
        assert_eq!(ran.code, Some(4), "{value}: {ran:?}");
        assert!(format!("{}{}", ran.stdout, ran.stderr).contains(words), "{value}: {ran:?}");
    };
    forged(json!({}), "FAILS");
    forged(json!({ "icd": ["HIV"] }), "FAILS");
    forged(json!({ "icd": ["diabetes"], "hospital": ["B"] }), "FAILS");
    forged(json!({ "icd": ["measles"] }), "achieved nothing");
    forged(json!({ "gender": ["F"] }), "in a way that cannot be read");
    forged(json!({ "icd": [] }), "in a way that cannot be read");
}

#[test]
fn methods_that_cannot_look_at_labels_say_so() {
    let refused = |method: &str, more: &str, words: &str| {
        let folder = texas(method, &format!("where = {{ icd = [\"HIV\"] }}\n{more}"));
        let ran = folder.run(&["publish", "policy.toml", "-o", "release"]);
        assert_eq!(ran.code, Some(2), "{method}: {ran:?}");
        assert!(ran.stderr.contains(words) && ran.stderr.contains("hint:"), "{method}: {}", ran.stderr);
    };
    for method in ["cluster", "anatomy", "decompose"] {
        refused(method, "", &format!("`where` is kept by full-domain, mondrian and best-cut, not by {method}"));
    }
    refused("mondrian\"\nimprove = true #\"", "", "`where` is not kept by `improve`");
    refused("full-domain", "consistent = true\n", "`consistent` and `where` cannot stand in one rule");
}
