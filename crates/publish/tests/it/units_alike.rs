//! Units whose rows agree in all that others know: a reader sees one class with several rows of
//! each, and a unit may stand for any of its values there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use hedgerow_policy::Policy;
use hedgerow_publish::{PublishOptions, RowSource, publish};
use hedgerow_table::Table;

use crate::units_local::read_csv;

const ILLNESSES: [&str; 6] = ["flu", "gout", "ulcer", "angina", "asthma", "copd"];

/// Three stays of each patient with one age and sex, and a number by which each is known again.
fn stays() -> Vec<[String; 5]> {
    let stay = |row: usize| {
        let patient = row / 3;
        let illness = ILLNESSES[(row * 7 + row * row / 11) % 6];
        let (age, sex) = (20 + patient * 13 % 60, ["f", "m"][patient * 7 / 3 % 2]);
        [format!("P{patient}"), age.to_string(), sex.to_owned(), illness.to_owned(), row.to_string()]
    };
    (0..360).map(stay).collect()
}

fn policy(method: &str) -> Policy {
    let text = format!(
        "[source]\npath = \"stays.csv\"\n[attributes]\npatient = {{ role = \"unit\" }}\n\
         age = {{ role = \"quasi\", type = \"integer\" }}\nsex = {{ role = \"quasi\" }}\nillness = {{ role = \"sensitive\" }}\n\
         row = {{ role = \"plain\", type = \"category\", allow-unique = true }}\n\
         [[rule]]\nrequire = {{ model = \"k-anonymity\", k = 4 }}\n\
         [[rule]]\nprotect = \"illness\"\nrequire = {{ model = \"distinct-l-diversity\", l = 2 }}\n\
         [publish]\nmethod = \"{method}\"\nsuppression = 0.02\n"
    );
    Policy::parse(&text, Path::new("policy.toml")).unwrap()
}

/// The fewest illnesses that every patient of a class can be said to have one of.
fn fewest(patients: &BTreeMap<String, BTreeSet<String>>) -> usize {
    let covers = |chosen: u32| {
        let has = |illness: &String| {
            ILLNESSES.iter().position(|own| own == illness).is_some_and(|at| chosen & (1 << at) != 0)
        };
        patients.values().all(|illnesses| illnesses.iter().any(has))
    };
    (0..1u32 << ILLNESSES.len())
        .filter(|chosen| covers(*chosen))
        .map(|chosen| chosen.count_ones() as usize)
        .min()
        .unwrap()
}

#[test]
fn units_whose_rows_look_alike_are_divided() {
    let stays = stays();
    let rows: Vec<Vec<&str>> = stays.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
    let table = Table::from_texts(&["patient", "age", "sex", "illness", "row"], &rows);
    for method in ["cluster", "mondrian", "best-cut"] {
        let folder = tempfile::tempdir().unwrap();
        let destination = folder.path().join("release");
        let options = PublishOptions { seed: Some(3), ..PublishOptions::to(destination.clone()) };
        let found = publish(&policy(method), RowSource::Table(&table), &options);
        let found = found.unwrap_or_else(|error| panic!("{method}: {error}"));
        assert_eq!(found.rows.suppressed, 0, "{method}");
        assert!(found.losses["ncp"].as_f64().unwrap() < 0.4, "{method}: {:?}", found.losses);
        let text = std::fs::read_to_string(destination.join("data.csv")).unwrap();
        let mut lines = read_csv(&text).into_iter();
        let header = lines.next().unwrap();
        let place = |name: &str| header.iter().position(|column| *column == name).unwrap();
        let mut classes: BTreeMap<[String; 2], BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
        for line in lines {
            let class = ["age", "sex"].map(|name| line[place(name)].clone());
            let patient = stays[line[place("row")].parse::<usize>().unwrap()][0].clone();
            classes.entry(class).or_default().entry(patient).or_default().insert(line[place("illness")].clone());
        }
        assert!(classes.len() > 5, "{method}: {} classes", classes.len());
        for (class, patients) in &classes {
            assert!(patients.len() >= 4 && fewest(patients) >= 2, "{method}: {class:?} {patients:?}");
        }
    }
}
