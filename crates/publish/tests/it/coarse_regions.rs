//! Decomposed releases by Mondrian in which values were made coarser before they were generalized:
//! a label covers the source values that the coarser ones stand for. Random tables with numbers
//! rounded or cut off, days as months, labels of hierarchies and missing values are published,
//! checked, and asked; the truth is counted in the source, and the classes in the files.
//!
//! `HEDGEROW_SEED=… cargo test -p hedgerow-publish coarse_regions` replays one case.

use std::collections::HashMap;
use std::path::Path;

use hedgerow_policy::Policy;
use hedgerow_publish::{PublishOptions, RowSource, publish};
use hedgerow_release::Release;
use hedgerow_table::read::{ReadOptions, read_table};
use hedgerow_table::{Bound, Cover, NoProgress};
use hedgerow_verify::release_check::check_release;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

use crate::query_bounds::{Attribute, Case, Compared, ask, digits, float, published, quasi, values, word};

const CASES: u64 = 120;

#[test]
fn bounds_over_generalized_coarser_values_contain_the_truth() {
    if let Some(seed) = std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse().ok()) {
        examine(seed);
        return;
    }
    let cases = std::env::var("HEDGEROW_QUERY_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(CASES);
    let examined: Vec<(bool, usize)> = (0..cases).filter_map(examine).collect();
    assert!(examined.len() as u64 > cases / 2, "only {} of {cases} cases were published", examined.len());
    let with = examined.iter().filter(|(has_labels, _)| *has_labels).count() as u64;
    let answers = examined.iter().map(|(_, answers)| answers).sum::<usize>() as u64;
    assert!(answers > 5 * cases, "only {answers} questions were answered");
    assert!(with > cases / 4, "only {with} of {cases} releases have labels over coarser values");
}

/// Whether some coarser values are generalized, and how many questions were answered; `None` where
/// no release keeps the rule.
fn examine(seed: u64) -> Option<(bool, usize)> {
    let mut rng = StdRng::seed_from_u64(seed);
    let case = random_case(&mut rng);
    let (release, _folder) = published(seed, &case)?;
    let found = check_release(&release, &[]).unwrap();
    assert!(found.holds(), "seed {seed}: {:?}\n{}", found.contradictions, case.policy);
    classes_keep_the_rule(seed, &release, &case);
    let answers = ask(seed, &case, &release, &mut rng);
    Some((["f", "g"].into_iter().any(|name| has_labels(&release, name)), answers))
}

fn random_case(rng: &mut StdRng) -> Case {
    let rows = *[12usize, 25, 40].choose(rng).unwrap();
    let protected = |rng: &mut StdRng| (*["flu", "cold", "ulcer", "gout"].choose(rng).unwrap()).to_owned();
    let protected = Attribute {
        name: "s",
        compared: Compared::Texts,
        values: values(rng, rows, protected),
        as_it_is: true,
        policy: "s = { role = \"sensitive\", type = \"category\" }\n".to_owned(),
    };
    let attributes = vec![quasi("q", rng, rows), coarse("g", rng, rows), coarse("f", rng, rows), protected];
    let know = *["\"g\"", "\"q\", \"g\"", "\"g\", \"f\"", "\"q\", \"g\", \"f\""].choose(rng).unwrap();
    let lines: String = attributes.iter().map(|attribute| attribute.policy.as_str()).collect();
    let policy = format!(
        "[source]\npath = \"source.csv\"\n[attributes]\n{lines}\
         [[rule]]\nknow = [{know}]\nprotect = \"s\"\nrequire = {{ model = \"frequency-l-diversity\", l = 2 }}\n\
         [publish]\nmethod = \"decompose\"\nanonymizer = \"mondrian\"\n"
    );
    Case { attributes, rows, policy }
}

fn coarse(name: &'static str, rng: &mut StdRng, rows: usize) -> Attribute {
    let integer = |rng: &mut StdRng| rng.random_range(-40..160).to_string();
    let day = |rng: &mut StdRng| {
        let (year, month) = (rng.random_range(2023..2025), rng.random_range(1..13));
        format!("{year}-{month:02}-{:02}", rng.random_range(1..29))
    };
    let (compared, values, declared) = match rng.random_range(0..14) {
        0 => (Compared::Numbers, values(rng, rows, integer), "type = \"integer\", coarsen = { round = 10 }"),
        1 => (
            Compared::Numbers,
            values(rng, rows, integer),
            "type = \"integer\", range = [-50, 170], coarsen = { round = 25, bottom = 0, top = 100 }",
        ),
        2 => (Compared::Numbers, values(rng, rows, integer), "type = \"integer\", coarsen = { significant = 1 }"),
        3 => (Compared::Numbers, values(rng, rows, integer), "type = \"integer\", coarsen = { bottom = 0, top = 60 }"),
        4 => (
            Compared::Numbers,
            values(rng, rows, integer),
            "type = \"integer\", hierarchy = { widths = [20, 100] }, coarsen = { level = 1 }",
        ),
        5 => (Compared::Numbers, values(rng, rows, float), "type = \"float\", coarsen = { round = 2 }"),
        6 => (Compared::Numbers, values(rng, rows, float), "type = \"float\", coarsen = { round = 0.5, top = 3 }"),
        7 => (Compared::Numbers, values(rng, rows, float), "type = \"float\", range = [-2, 6], coarsen = { top = 3 }"),
        8 => (
            Compared::Numbers,
            values(rng, rows, float),
            "type = \"float\", hierarchy = { breaks = [[0, 1.5, 3], [1.5]] }, coarsen = { level = 1 }",
        ),
        9 => (Compared::Days, values(rng, rows, day), "type = \"date\", coarsen = { dates = \"month\" }"),
        10 => (
            Compared::Days,
            values(rng, rows, day),
            "type = \"date\", range = [\"2022-12-15\", \"2024-12-31\"], coarsen = { dates = \"quarter\" }",
        ),
        11 => (
            Compared::Days,
            values(rng, rows, day),
            "type = \"date\", hierarchy = { dates = [\"month\", \"year\"] }, coarsen = { level = 1 }",
        ),
        12 => (
            Compared::Texts,
            values(rng, rows, word),
            "type = \"category\", hierarchy = \"words.csv\", coarsen = { level = 1 }",
        ),
        _ => (
            Compared::Texts,
            values(rng, rows, digits),
            "type = \"category\", hierarchy = { mask = 2 }, coarsen = { level = 1 }",
        ),
    };
    let policy = format!("{name} = {{ role = \"plain\", allow-unique = true, {declared} }}\n");
    Attribute { name, compared, values, as_it_is: false, policy }
}

/// Words of a few letters under two levels; `*` and `a*` are words as well.
pub(crate) fn words_file() -> String {
    let rows = [("a", "v"), ("b", "v"), ("ab", "w"), ("abc", "w"), ("a*", "w"), ("x y", "u"), ("é", "u"), ("B", "u")];
    let rows = rows.iter().map(|(word, label)| format!("{word};{label};top\n"));
    rows.chain(["*;u;top\n".to_owned()]).collect()
}

/// Whether a table has labels that are no coarser values.
fn has_labels(release: &Release, name: &str) -> bool {
    let is_label = |text: &String| !release.codebook().is_coarse_value(name, text);
    release
        .domains(name)
        .iter()
        .any(|domain| (0..domain.present() as u32).map(|code| domain.text(code)).any(|text| is_label(&text)))
}

/// In every table of classes, none of the protected values is that of more than half of a class.
fn classes_keep_the_rule(seed: u64, release: &Release, case: &Case) {
    for resource in &release.manifest().unwrap().resources {
        let names: Vec<&str> = resource.schema.fields.iter().map(|field| field.name.as_str()).collect();
        if !names.contains(&"s") || names.len() < 2 || names.contains(&"group") {
            continue;
        }
        let table = read_table(&release.path().join(&resource.path), &ReadOptions::default()).unwrap();
        let mut classes: HashMap<Vec<String>, HashMap<String, usize>> = HashMap::new();
        for row in 0..table.rows {
            let known = table.columns.iter().filter(|column| column.name != "s").map(|column| column.text(row));
            let protected = table.column("s").unwrap().text(row);
            *classes.entry(known.collect()).or_default().entry(protected).or_default() += 1;
        }
        for (class, values) in classes {
            let (most, all) = (values.values().max().unwrap(), values.values().sum::<usize>());
            assert!(2 * most <= all, "seed {seed}: {class:?} has {values:?}\n{}", case.policy);
        }
    }
}

/// Incomes of 1,000 to 8,000, days of a year, and one of four diagnoses.
fn example(folder: &Path, declared: &str) -> Release {
    let mut text = "income,day,diagnosis\n".to_owned();
    for row in 0..64u32 {
        let mixed = row.wrapping_mul(2_654_435_761) >> 13;
        let diagnosis = ["flu", "cold", "ulcer", "gout"][(mixed % 4) as usize];
        text += &format!("{},2024-{:02}-10,{diagnosis}\n", 900 + row * 113, 1 + row / 6);
    }
    std::fs::write(folder.join("people.csv"), text).unwrap();
    let policy = format!(
        "[source]\npath = \"people.csv\"\n[attributes]\n{declared}\ndiagnosis = {{ role = \"sensitive\" }}\n\
         [[rule]]\nknow = [\"income\", \"day\"]\nprotect = \"diagnosis\"\n\
         require = {{ model = \"frequency-l-diversity\", l = 2 }}\n\
         [publish]\nmethod = \"decompose\"\nanonymizer = \"mondrian\"\n"
    );
    let policy = Policy::parse(&policy, &folder.join("policy.toml")).unwrap();
    let options = PublishOptions { seed: Some(1), ..PublishOptions::to(folder.join("release")) };
    publish(&policy, RowSource::Policy, &options).unwrap();
    Release::open(&folder.join("release"), &NoProgress).unwrap()
}

#[test]
fn labels_cover_what_rounded_values_and_months_stand_for() {
    let folder = tempfile::tempdir().unwrap();
    let declared = "income = { role = \"plain\", coarsen = { round = 1000, top = 7000 } }\n\
                    day = { role = \"plain\", coarsen = { dates = \"month\" } }";
    let release = example(folder.path(), declared);
    assert!(has_labels(&release, "income") || has_labels(&release, "day"), "nothing was generalized");
    let end = |bound: Bound| match bound {
        Bound::Integer(value) => assert_eq!(value.rem_euclid(1000), 500, "a cut through a rounded value"),
        Bound::Date(date) => assert!(date.to_string().ends_with("-01"), "a cut through a month"),
        Bound::Float(value) => panic!("{value}"),
    };
    for name in ["income", "day"] {
        for (label, cover) in release.codebook().labels(name) {
            match cover {
                Cover::Interval { low, high } => low.iter().chain(high).copied().for_each(end),
                Cover::Everything | Cover::Missing => {}
                other => panic!("{name} {label}: {other:?}"),
            }
        }
    }
}

/// A label whose bounds are moved, in the codebook or in the table alone, contradicts the other.
#[test]
fn a_changed_label_over_coarser_values_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let declared = "income = { role = \"plain\", coarsen = { round = 1000 } }\n\
                    day = { role = \"plain\", coarsen = { dates = \"month\" } }";
    let release = example(folder.path(), declared);
    let labels = release.codebook().labels("income");
    let is_label = |label: &str| !release.codebook().is_coarse_value("income", label);
    let (label, high) = labels
        .iter()
        .find_map(|(label, cover)| match cover {
            Cover::Interval { high: Some(high), .. } if is_label(label) => Some(((*label).to_owned(), *high)),
            _ => None,
        })
        .expect("a label with an end");
    let path = folder.path().join("release/codebook.csv");
    let text = std::fs::read_to_string(&path).unwrap();
    let changed: Vec<String> = text
        .lines()
        .map(|line| match line.starts_with(&format!("income,{label},")) {
            true => line.replace(&format!(",{high},"), &format!(",{},", high.to_string() + "0")),
            false => line.to_owned(),
        })
        .collect();
    assert_ne!(changed.join("\n"), text.trim_end());
    std::fs::write(&path, changed.join("\n") + "\n").unwrap();
    let release = Release::open(&folder.path().join("release"), &NoProgress).unwrap();
    let found = check_release(&release, &[]).unwrap();
    assert!(!found.holds(), "{text}");
}
