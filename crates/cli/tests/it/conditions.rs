//! ρ₁-to-ρ₂ breaches, changes of belief and models about some classes alone, through written
//! releases: counted again here from the released text, and forged.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::running::Folder;

const ATTRIBUTES: &str = "[attributes]\nage = { role = \"quasi\", hierarchy = { widths = [5, 20] } }\n\
                          city = { role = \"quasi\" }\nillness = { role = \"sensitive\" }\n";

/// Eighty people, two of them with gout and some without a known illness.
fn people() -> String {
    let mut text = String::from("age,city,illness\n");
    let mut state = 7u64;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for row in 0..80 {
        let (age, city) = (20 + draw(40), ["Aa", "Bb", "Cc"][draw(3) as usize]);
        let illness = match row {
            10 | 50 => "Gout",
            _ => ["Flu", "Flu", "Cough", "Ache", "Cold", ""][draw(6) as usize],
        };
        text.push_str(&format!("{age},{city},{illness}\n"));
    }
    text
}

fn published(data: &str, attributes: &str, rules: &str, publish: &str) -> Folder {
    let folder = Folder::new();
    folder.write("data.csv", data);
    folder.write("policy.toml", format!("[source]\npath = \"data.csv\"\n{attributes}{rules}[publish]\n{publish}\n"));
    let ran = folder.run(&["publish", "policy.toml", "-o", "release"]);
    assert_eq!(ran.code, Some(0), "{rules}{publish}\n{ran:?}");
    let ran = folder.run(&["check", "release"]);
    assert_eq!(ran.code, Some(0), "{rules}{publish}\n{ran:?}");
    folder
}

fn manifest(folder: &Folder) -> Value {
    serde_json::from_str(&folder.read("release/datapackage.json")).unwrap()
}

type Counts = BTreeMap<String, f64>;

/// The illnesses of every class, and of all rows. The last field is the illness.
fn classes(text: &str) -> (Vec<Counts>, Counts) {
    let (mut classes, mut all): (BTreeMap<String, Counts>, Counts) = Default::default();
    for line in text.lines().skip(1) {
        let (cells, illness) = line.rsplit_once(',').unwrap();
        *classes.entry(cells.to_owned()).or_default().entry(illness.to_owned()).or_default() += 1.0;
        *all.entry(illness.to_owned()).or_default() += 1.0;
    }
    (classes.into_values().collect(), all)
}

/// Without the missing value.
fn known(counts: &Counts) -> Counts {
    counts.iter().filter(|(value, _)| !value.is_empty()).map(|(value, count)| (value.clone(), *count)).collect()
}

fn share(counts: &Counts, value: &str) -> f64 {
    counts.get(value).copied().unwrap_or(0.0) / counts.values().sum::<f64>()
}

/// The largest of a number over all classes, with the missing value and among the known ones.
fn worst(classes: &[Counts], all: &Counts, number: impl Fn(&Counts, &Counts) -> f64) -> f64 {
    let halves = classes.iter().flat_map(|class| [(class.clone(), all.clone()), (known(class), known(all))]);
    halves.filter(|(class, _)| !class.is_empty()).map(|(class, all)| number(&class, &all)).fold(0.0, f64::max)
}

fn posterior(class: &Counts, all: &Counts) -> f64 {
    let rare = class.keys().filter(|value| share(all, value) <= 0.1);
    rare.map(|value| share(class, value)).fold(0.0, f64::max)
}

fn variation(class: &Counts, all: &Counts) -> f64 {
    all.keys().map(|value| (share(class, value) - share(all, value)).abs()).sum::<f64>() / 2.0
}

fn relative(class: &Counts, all: &Counts) -> f64 {
    ["Flu", "Ache"]
        .map(|value| (share(class, value) - share(all, value)).abs() / share(all, value))
        .into_iter()
        .fold(0.0, f64::max)
}

fn divergence(class: &Counts, all: &Counts) -> f64 {
    class.keys().map(|value| share(class, value) * (share(class, value) / share(all, value)).ln()).sum()
}

#[test]
fn every_release_keeps_its_rules_as_counted_by_hand() {
    type Number = fn(&Counts, &Counts) -> f64;
    let required: [(&str, &str, f64, Number); 4] = [
        ("{ model = \"rho-breach\", prior = 0.1, posterior = 0.3 }", "posterior", 0.3, posterior),
        ("{ model = \"belief-change\", b = 0.3 }", "b", 0.3, variation),
        (
            "{ model = \"belief-change\", b = 1.2, distance = \"relative\", values = [\"Flu\", \"Ache\"] }",
            "b",
            1.2,
            relative,
        ),
        ("{ model = \"belief-change\", b = 0.25, distance = \"divergence\" }", "b", 0.25, divergence),
    ];
    let data = people();
    let source = classes(&data).1;
    for publish in
        ["suppression = 0.1", "method = \"mondrian\"", "method = \"best-cut\"", "method = \"cluster\"\nmax-seconds = 1"]
    {
        for (require, name, limit, number) in required {
            let rules = format!("[[rule]]\nprotect = \"illness\"\nrequire = {require}\n");
            let folder = published(&data, ATTRIBUTES, &rules, publish);
            let (classes, released) = classes(&folder.read("release/data.csv"));
            let strict = name == "posterior";
            for table in [&source, &released] {
                let found = worst(&classes, table, number);
                assert!(found <= limit && !(strict && found == limit), "{publish} {require}: {found}");
            }
            let claimed = manifest(&folder)["hedgerow"]["guarantees"][0]["achieved"][name].as_f64().unwrap();
            let found = worst(&classes, &released, number);
            assert!((claimed - found).abs() < 1e-9, "{publish} {require}: {claimed} is not {found}");
        }
    }
}

const TEXAS: &str = "hospital,gender,zip,race\n\
    A,F,71000,asian\nA,F,71000,white\nA,F,71000,white\nA,F,71000,black\nA,F,71000,white\nA,F,71000,asian\n\
    A,M,71000,white\nA,M,72000,asian\n\
    B,F,73000,black\nB,F,74000,white\n\
    B,M,73000,white\nB,M,73000,black\nB,M,73000,asian\nB,M,73000,white\nB,M,73000,black\n";

const TEXAS_ATTRIBUTES: &str = "[attributes]\nhospital = { role = \"quasi\" }\ngender = { role = \"quasi\" }\n\
                                zip = { role = \"sensitive\" }\nrace = { role = \"sensitive\" }\n";

/// Rules I and III of the Texas data: the ZIP code below five patients of a hospital and gender,
/// the race below ten of a hospital.
fn texas(below: &str) -> Folder {
    let rules = format!(
        "[[rule]]\nprotect = \"zip\"\nrequire = {{ model = \"distinct-l-diversity\", l = 2{below} }}\n\
         [[rule]]\nknow = [\"hospital\"]\nprotect = \"race\"\nrequire = {{ model = \"frequency-l-diversity\", l = 2, below = 10 }}\n"
    );
    published(TEXAS, TEXAS_ATTRIBUTES, &rules, "method = \"full-domain\"")
}

#[test]
fn the_texas_rules_hold_for_small_cells_alone() {
    let folder = texas(", below = 5");
    let released = folder.read("release/data.csv");
    assert!(released.contains("A,F,71000") && released.contains("B,M,73000"), "as they are: {released}");
    let guarantees = &manifest(&folder)["hedgerow"]["guarantees"];
    assert_eq!(guarantees[0]["required"], json!({ "l": 2, "below": 5 }));
    assert_eq!(guarantees[0]["achieved"], json!({ "l": 2 }), "of the two cells with two patients");
    assert_eq!(guarantees[1]["required"], json!({ "l": 2, "below": 10 }));
    let everywhere = texas("").read("release/data.csv");
    assert!(!everywhere.contains("A,F,71000"), "{everywhere}");
    let nowhere = texas(", below = 2");
    assert_eq!(manifest(&nowhere)["hedgerow"]["guarantees"][0]["achieved"], json!({}));
    let ran = nowhere.run(&["check", "release"]);
    assert!(ran.stdout.contains("achieved nothing: it is about no class"), "{ran:?}");
}

#[test]
fn forged_conditions_and_numbers_are_detected() {
    let forged = |pointer: &str, value: Value, code: i32, words: &str| {
        let folder = texas(", below = 5");
        let mut manifest = manifest(&folder);
        *manifest.pointer_mut(&format!("/hedgerow/guarantees/0/{pointer}")).unwrap() = value;
        folder.write("release/datapackage.json", manifest.to_string());
        let ran = folder.run(&["check", "release"]);
        assert_eq!(ran.code, Some(code), "{pointer}: {ran:?}");
        assert!(format!("{}{}", ran.stdout, ran.stderr).contains(words), "{pointer}: {ran:?}");
    };
    forged("required", json!({ "l": 2 }), 4, "FAILS");
    forged("required", json!({ "l": 2, "below": 7 }), 4, "FAILS");
    forged("required", json!({ "l": 2, "having": ["71000"] }), 4, "FAILS");
    forged("required", json!({ "l": 3, "below": 5 }), 4, "FAILS");
    forged("achieved", json!({ "l": 3 }), 4, "claims l = 3");
    forged("achieved", json!({}), 4, "the table shows l = 2");
    forged("required", json!({ "l": 2, "below": 0 }), 4, "parameters that cannot be read");
    forged("required", json!({ "l": 2, "unless": "rich" }), 4, "parameters that cannot be read");
    for (require, name) in
        [("\"rho-breach\", prior = 0.1, posterior = 0.3", "posterior"), ("\"belief-change\", b = 0.3", "b")]
    {
        let rules = format!("[[rule]]\nprotect = \"illness\"\nrequire = {{ model = {require} }}\n");
        let folder = published(&people(), ATTRIBUTES, &rules, "method = \"mondrian\"");
        let honest = manifest(&folder);
        for (pointer, value, words) in [
            (format!("achieved/{name}"), json!(0.01), format!("claims {name} = 0.01")),
            (format!("required/{name}"), json!(0.11), "FAILS".to_owned()),
        ] {
            let mut forged = honest.clone();
            *forged.pointer_mut(&format!("/hedgerow/guarantees/0/{pointer}")).unwrap() = value;
            folder.write("release/datapackage.json", forged.to_string());
            let ran = folder.run(&["check", "release"]);
            assert_eq!(ran.code, Some(4), "{pointer}: {ran:?}");
            assert!(ran.stdout.contains(&words), "{pointer}: {ran:?}");
        }
    }
}

#[test]
fn methods_that_cannot_keep_conditions_say_so() {
    let refused = |require: &str, publish: &str, words: &str| {
        let folder = Folder::new();
        folder.write("data.csv", people());
        let rule = format!("[[rule]]\nprotect = \"illness\"\nrequire = {{ model = {require} }}\n");
        folder.write("policy.toml", format!("[source]\npath = \"data.csv\"\n{ATTRIBUTES}{rule}[publish]\n{publish}\n"));
        let ran = folder.run(&["publish", "policy.toml", "-o", "release"]);
        assert_eq!(ran.code, Some(2), "{require} {publish}: {ran:?}");
        assert!(ran.stderr.contains(words) && ran.stderr.contains("hint:"), "{require} {publish}: {}", ran.stderr);
    };
    let below = "\"frequency-l-diversity\", l = 2, below = 9";
    let having = "\"frequency-l-diversity\", l = 2, having = [\"Gout\"]";
    refused(below, "method = \"anatomy\"", "anatomy cannot keep frequency-l-diversity with `below`");
    refused(below, "method = \"clone\"", "is about some classes alone");
    refused(below, "method = \"decompose\"", "decompose cannot keep frequency-l-diversity with `below`");
    let named = "\"rho-breach\", prior = 0.1, posterior = 0.5, values = [\"Gout\"]";
    refused(named, "method = \"decompose\"", "decompose cannot keep rho-breach with `values`");
    refused(having, "method = \"cluster\"", "frequency-l-diversity with `having` does not survive merging");
    refused("\"k-anonymity\", k = 5, below = 9", "method = \"mondrian\"", "below");
}

/// Methods that publish no classes of rows keep the models without conditions.
#[test]
fn buckets_keep_them_too() {
    for model in [
        "{ model = \"rho-breach\", prior = 0.1, posterior = 0.5 }",
        "{ model = \"belief-change\", b = 0.6 }",
        "{ model = \"belief-change\", b = 0.7, distance = \"divergence\" }",
    ] {
        let rules = format!("[[rule]]\nprotect = \"illness\"\nrequire = {model}\n");
        published(&people(), ATTRIBUTES, &rules, "method = \"anatomy\"");
    }
}
