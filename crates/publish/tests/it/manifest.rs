//! An attack on every number of a release: sources that differ only in what is not released, the
//! lowest or the highest person or a suppressed one, must give the same manifest and the
//! same codebook, byte for byte. An attacker who solves the manifest's numbers for them then learns
//! nothing, whatever the numbers are.

use std::collections::BTreeMap;
use std::path::Path;

use hedgerow_policy::Policy;
use hedgerow_publish::{PublishOptions, Published, RowSource, publish};
use hedgerow_table::Table;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::cloning::scratch;

const METHODS: [&str; 4] = [
    "method = \"full-domain\"\nsuppression = 0.2\n",
    "method = \"full-domain\"\nsuppression = 0.2\nloss = \"discernibility\"\n",
    "method = \"mondrian\"\n",
    "method = \"best-cut\"\n",
];

type Row = [String; 3];

fn table(rows: &[Row]) -> Table {
    let cells: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
    Table::from_texts(&["age", "place", "disease"], &cells)
}

/// Everything that is released, by file name, and what only the custodian sees.
fn released(policy: &Policy, rows: &[Row]) -> Option<(BTreeMap<String, Vec<u8>>, Published)> {
    let folder = scratch();
    let options = PublishOptions { seed: Some(7), ..PublishOptions::to(folder.path().join("release")) };
    let published = publish(policy, RowSource::Table(&table(rows)), &options).ok()?;
    let mut files = BTreeMap::new();
    read_below(&published.release, "", &mut files);
    Some((files, published))
}

/// All files below a folder, by their paths from there.
fn read_below(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{prefix}{}", path.file_name().unwrap().to_str().unwrap());
        match path.is_dir() {
            true => read_below(&path, &format!("{name}/"), files),
            false => drop(files.insert(name, std::fs::read(&path).unwrap())),
        }
    }
}

/// The source with one person changed: mostly the lowest or the highest, who show in bounds.
fn changed(rows: &[Row], rng: &mut StdRng) -> Vec<Row> {
    let age = |index: &usize| rows[*index][0].parse::<u32>().unwrap_or(50);
    let index = match rng.random_range(0..3) {
        0 => (0..rows.len()).min_by_key(age).unwrap(),
        1 => (0..rows.len()).max_by_key(age).unwrap(),
        _ => rng.random_range(0..rows.len()),
    };
    let mut other = rows.to_vec();
    if rng.random_bool(0.8) {
        other[index][0] = (age(&index) + 3 - rng.random_range(0..7u32)).to_string();
    } else {
        other[index][1] = random_place(rng);
    }
    other
}

fn random_place(rng: &mut StdRng) -> String {
    format!("{}{}", rng.random_range(1..4u32), rng.random_range(0..6u32))
}

#[test]
fn unreleased_values_are_nowhere_in_the_release() {
    let (mut same_tables, mut distinguished) = (0, 0);
    for seed in 0..24u64 {
        let mut rng = StdRng::seed_from_u64(seed);
        let settings = METHODS[seed as usize % METHODS.len()];
        let row = |rng: &mut StdRng| {
            let age = 20 + rng.random_range(0..40u32) + if rng.random_bool(0.1) { 40 } else { 0 };
            [age.to_string(), random_place(rng), format!("d{}", rng.random_range(0..3u32))]
        };
        let rows: Vec<Row> = (0..24).map(|_| row(&mut rng)).collect();
        let text = format!(
            "[source]\npath = \"people.csv\"\n[attributes]\nage = {{ role = \"quasi\", hierarchy = {{ widths = [5, 10, 20] }} }}\n\
             place = {{ role = \"quasi\", hierarchy = {{ mask = 2 }} }}\ndisease = {{ role = \"sensitive\" }}\n[[rule]]\n\
             require = {{ model = \"k-anonymity\", k = 2 }}\n[publish]\n{settings}"
        );
        let policy = Policy::parse(&text, Path::new("policy.toml")).unwrap_or_else(|errors| panic!("{errors}"));
        let Some((files, published)) = released(&policy, &rows) else { continue };
        for _ in 0..12 {
            let Some((others, other)) = released(&policy, &changed(&rows, &mut rng)) else { continue };
            if files["data.csv"] != others["data.csv"] {
                continue;
            }
            for (name, bytes) in &files {
                let (one, other) = (String::from_utf8_lossy(bytes), String::from_utf8_lossy(&others[name]));
                assert_eq!(one, other, "seed {seed}: {name} tells two sources with the same table apart, {settings}");
            }
            same_tables += 1;
            distinguished += usize::from(published.losses != other.losses);
        }
    }
    assert!(same_tables > 20, "only {same_tables} pairs of sources had the same table");
    assert!(
        distinguished > 5,
        "the custodian's losses distinguish only {distinguished} pairs: this attack tests nothing"
    );
}

/// Methods whose tables hide something of people that are all in them: who has which value of a
/// bucket or of another sub-table, and whose values a clone's statistics rest on.
const HIDING: [(&str, &str); 5] = [
    (
        "anatomy",
        "[[rule]]\nprotect = \"disease\"\nrequire = { model = \"frequency-l-diversity\", l = 2 }\n[publish]\nmethod = \"anatomy\"\n",
    ),
    (
        "anatomy at random",
        "[[rule]]\nprotect = \"disease\"\nrequire = { model = \"distinct-l-diversity\", l = 2 }\n[publish]\nmethod = \"anatomy\"\n\
         assignment = \"random\"\n",
    ),
    ("clone", "[publish]\nmethod = \"clone\"\nk = 2\n"),
    (
        "decompose",
        "[[rule]]\nknow = [\"age\", \"place\"]\nprotect = \"disease\"\nrequire = { model = \"distinct-l-diversity\", l = 2 }\n\
         [publish]\nmethod = \"decompose\"\n",
    ),
    (
        "decompose into attributes",
        "[[rule]]\nknow = [\"age\", \"place\"]\nprotect = \"disease\"\nrequire = { model = \"distinct-l-diversity\", l = 2 }\n\
         [publish]\nmethod = \"decompose\"\nalgorithm = \"single-attribute\"\n",
    ),
];

/// The source with two people who changed a value with each other, or with one person changed.
fn exchanged(rows: &[Row], rng: &mut StdRng) -> Vec<Row> {
    let mut other = rows.to_vec();
    let (one, two) = (rng.random_range(0..rows.len()), rng.random_range(0..rows.len()));
    match rng.random_range(0..4) {
        0 => other = changed(rows, rng),
        1 => other[one][2] = format!("d{}", rng.random_range(0..2u32)),
        _ => {
            let attribute = if rng.random_bool(0.7) { 2 } else { rng.random_range(0..2) };
            let value = other[one][attribute].clone();
            other[one][attribute] = std::mem::replace(&mut other[two][attribute], value);
        }
    }
    other
}

/// The tables as readers can tell them apart: rows come in random order, and numbers of buckets,
/// classes and sub-classes are random.
fn tables(files: &BTreeMap<String, Vec<u8>>) -> BTreeMap<&str, Vec<String>> {
    let mut tables: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    // By folder and number, the lines that carry it.
    let mut numbered: BTreeMap<(&str, String), BTreeMap<String, Vec<String>>> = BTreeMap::new();
    for (name, bytes) in files.iter().filter(|(name, _)| name.ends_with(".csv") && *name != "codebook.csv") {
        let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
        for line in String::from_utf8_lossy(bytes).lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            let (number, part, rest) = match file {
                "quasi.csv" => (cells[cells.len() - 1], "rows", cells[..cells.len() - 1].join(",")),
                "sensitive.csv" => (cells[0], "values", cells[1..].join(",")),
                "statistics.csv" => (cells[0], cells[1], cells[2..].join(",")),
                _ => {
                    tables.entry(name).or_default().push(line.to_owned());
                    continue;
                }
            };
            let parts = numbered.entry((folder, number.to_owned())).or_default();
            parts.entry(part.to_owned()).or_default().push(rest);
        }
    }
    for ((folder, _), parts) in numbered {
        let mut parts: Vec<String> = parts
            .into_values()
            .map(|mut lines| {
                lines.sort();
                lines.join("\n")
            })
            .collect();
        parts.sort();
        tables.entry(folder).or_default().push(parts.join("\n\n"));
    }
    tables.values_mut().for_each(|lines| lines.sort());
    tables
}

#[test]
fn values_hidden_by_buckets_clones_and_sub_tables_are_nowhere_in_the_release() {
    let mut pairs = BTreeMap::new();
    for (method, settings) in HIDING {
        let mut same_tables = 0;
        for seed in 0..30u64 {
            let mut rng = StdRng::seed_from_u64(seed);
            let mut row = |number: u32| {
                let age = 20 + rng.random_range(0..20u32);
                [age.to_string(), random_place(&mut rng), format!("d{}", number % 2)]
            };
            let rows: Vec<Row> = (0..8).map(&mut row).collect();
            let text = format!(
                "[source]\npath = \"people.csv\"\n[attributes]\nage = {{ role = \"quasi\", hierarchy = {{ widths = [5, 10, 20] }} }}\n\
                 place = {{ role = \"quasi\", hierarchy = {{ mask = 2 }} }}\ndisease = {{ role = \"sensitive\" }}\n{settings}"
            );
            let policy = Policy::parse(&text, Path::new("policy.toml")).unwrap_or_else(|errors| panic!("{errors}"));
            let Some((files, _)) = released(&policy, &rows) else { continue };
            for _ in 0..20 {
                let other = exchanged(&rows, &mut rng);
                if other == rows {
                    continue;
                }
                let Some((others, _)) = released(&policy, &other) else { continue };
                if tables(&files) != tables(&others) {
                    continue;
                }
                for name in ["datapackage.json", "codebook.csv"] {
                    let [one, two] = [&files, &others].map(|files| String::from_utf8_lossy(&files[name]).into_owned());
                    assert_eq!(one, two, "{method}, seed {seed}: {name} tells apart {rows:?} and {other:?}");
                }
                same_tables += 1;
            }
        }
        pairs.insert(method, same_tables);
    }
    assert!(pairs.values().all(|&pairs| pairs >= 10), "too few pairs of sources had the same tables: {pairs:?}");
}
