//! Answers from locally recoded releases, whose end cells are open or bounded by a declared range:
//! they are no worse than those from full-domain recoding of the same rows.

use std::path::{Path, PathBuf};

use hedgerow_audit::query;
use hedgerow_policy::Policy;
use hedgerow_publish::{PublishOptions, RowSource, publish};
use hedgerow_release::Release;
use hedgerow_table::NoProgress;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const NUMBERS: [&str; 3] = ["age", "los", "charge"];

/// A policy's declarations about the numbers, in their order.
const RANGES: [&str; 3] = ["range = [0, 120]", "range = [1, 365]", "range = [0, inf]"];

fn options(destination: PathBuf) -> PublishOptions<'static> {
    PublishOptions { seed: Some(1), ..PublishOptions::to(destination) }
}

/// Discharges: most stays are short, a few are long; few charges are large.
fn discharges(rows: usize, seed: u64) -> Vec<[i64; 3]> {
    let mut rng = StdRng::seed_from_u64(seed);
    let row = |rng: &mut StdRng| {
        let age = (0..3).map(|_| rng.random_range(0..32)).sum::<i64>();
        let los = 1 + (-(1.0 - rng.random::<f64>()).ln() * 3.4) as i64;
        let spread: f64 = (0..4).map(|_| rng.random_range(-0.5..0.5)).sum();
        [age, los, (900.0 * los as f64 * spread.exp()) as i64]
    };
    (0..rows).map(|_| row(&mut rng)).collect()
}

fn policy(folder: &Path, method: &str, ranges: bool) -> Policy {
    let widths = ["[5, 10, 20, 40]", "[2, 4, 8, 16, 32]", "[500, 1000, 2000, 4000, 8000, 16000, 32000]"];
    let mut text = String::from("[source]\npath = \"data.csv\"\n[attributes]\ndisease = { role = \"sensitive\" }\n");
    for ((name, widths), range) in NUMBERS.iter().zip(widths).zip(RANGES) {
        let range = if ranges { format!(", {range}") } else { String::new() };
        text.push_str(&format!("{name} = {{ role = \"quasi\", hierarchy = {{ widths = {widths} }}{range} }}\n"));
    }
    text.push_str("[[rule]]\nrequire = { model = \"k-anonymity\", k = 5 }\n");
    let suppression = if method == "full-domain" { "suppression = 0.05\n" } else { "" };
    text.push_str(&format!("[publish]\nmethod = \"{method}\"\n{suppression}"));
    let path = folder.join(format!("{method}-{ranges}.toml"));
    std::fs::write(&path, text).unwrap();
    Policy::load(&path).unwrap_or_else(|error| panic!("{error}"))
}

fn released(folder: &Path, method: &str, ranges: bool) -> Release {
    let destination = folder.join(format!("{method}-{ranges}"));
    publish(&policy(folder, method, ranges), RowSource::Policy, &options(destination.clone()))
        .unwrap_or_else(|error| panic!("{error}"));
    Release::open(&destination, &NoProgress).unwrap()
}

fn source(rows: &[[i64; 3]]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::from("age,los,charge,disease\n");
    for (number, [age, los, charge]) in rows.iter().enumerate() {
        text.push_str(&format!("{age},{los},{charge},d{}\n", number % 7));
    }
    std::fs::write(folder.path().join("data.csv"), text).unwrap();
    folder
}

/// The median relative errors of counts, sums and means.
fn errors(release: &Release, rows: &[[i64; 3]]) -> [f64; 3] {
    let mut rng = StdRng::seed_from_u64(9);
    let mut errors: [Vec<f64>; 3] = Default::default();
    for _ in 0..120 {
        let (by, of) = (rng.random_range(0..3), rng.random_range(0..3));
        let ends = [rows[rng.random_range(0..rows.len())][by], rows[rng.random_range(0..rows.len())][by]];
        let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        let (by_name, of_name) = (NUMBERS[by], NUMBERS[of]);
        let sql = format!(
            "SELECT COUNT(*) AS n, SUM({of_name}) AS s, AVG({of_name}) AS m FROM data WHERE {by_name} BETWEEN {low} AND {high}"
        );
        let found = serde_json::to_value(query::answer(release, &sql).unwrap()).unwrap();
        let selected: Vec<i64> = rows.iter().filter(|row| (low..=high).contains(&row[by])).map(|row| row[of]).collect();
        let (count, sum) = (selected.len() as f64, selected.iter().sum::<i64>() as f64);
        for (place, (name, truth)) in [("n", count), ("s", sum), ("m", sum / count)].into_iter().enumerate() {
            // What is unknown is as far off as can be.
            let estimate = found["answer"][0][name]["estimate"].as_f64().unwrap_or(f64::INFINITY);
            errors[place].push((estimate - truth).abs() / truth.abs().max(1.0));
        }
    }
    errors.map(|mut errors| {
        errors.sort_by(f64::total_cmp);
        errors[errors.len() / 2]
    })
}

#[test]
fn mondrian_answers_no_worse_than_full_domain() {
    let rows = discharges(4000, 7);
    let folder = source(&rows);
    let full_domain = errors(&released(folder.path(), "full-domain", false), &rows);
    for (method, ranges) in [("mondrian", false), ("mondrian", true), ("best-cut", true)] {
        let local = errors(&released(folder.path(), method, ranges), &rows);
        println!("{method}, ranges {ranges}: {local:?}; full-domain: {full_domain:?}");
        for (what, (local, full_domain)) in ["counts", "sums", "means"].iter().zip(local.iter().zip(&full_domain)) {
            assert!(
                local <= full_domain,
                "{method}, ranges {ranges}: {what} off by {local}, full-domain by {full_domain}"
            );
        }
    }
}

#[test]
fn a_mean_of_stays_is_close_to_the_truth_and_none_is_negative() {
    let rows = discharges(4000, 8);
    let folder = source(&rows);
    let truth = rows.iter().map(|row| row[1] as f64).sum::<f64>() / rows.len() as f64;
    for ranges in [false, true] {
        let release = released(folder.path(), "mondrian", ranges);
        let answer = |sql: &str| {
            let found = serde_json::to_value(query::answer(&release, sql).unwrap()).unwrap();
            found["answer"][0]["x"].clone()
        };
        let mean = answer("SELECT AVG(los) AS x FROM data")["estimate"].as_f64().unwrap();
        assert!((mean / truth - 1.0).abs() < 0.1, "{mean}, the truth is {truth}");
        let negative = answer("SELECT COUNT(*) AS x FROM data WHERE los < 0");
        assert_eq!(negative["estimate"].as_f64(), Some(0.0));
        if ranges {
            assert_eq!(negative["possible"].as_u64(), Some(0), "the range is known");
            let bound = answer("SELECT SUM(los) AS x FROM data")["possible"].as_f64().unwrap();
            assert!(bound <= 365.0 * rows.len() as f64, "{bound}");
        }
    }
}

#[test]
fn a_declared_range_bounds_end_cells_and_is_kept() {
    let rows = discharges(300, 3);
    let folder = source(&rows);
    let open_ends = |ranges: bool| {
        let _ = released(folder.path(), "mondrian", ranges);
        let codebook = std::fs::read_to_string(folder.path().join(format!("mondrian-{ranges}/codebook.csv"))).unwrap();
        let end = |line: &&str| {
            let cells: Vec<&str> = line.split(',').collect();
            cells[0] == "age" && cells[1] != "*" && (cells[2].is_empty() || cells[3].is_empty())
        };
        let lines: Vec<String> = codebook.lines().filter(end).map(str::to_owned).collect();
        (lines, codebook)
    };
    assert!(!open_ends(false).0.is_empty());
    let (open, codebook) = open_ends(true);
    assert!(open.is_empty(), "{open:?}");
    assert!(codebook.lines().any(|line| line.contains(",121,")), "{codebook}");
    let manifest = std::fs::read_to_string(folder.path().join("mondrian-true/datapackage.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let fields = manifest["resources"][0]["schema"]["fields"].as_array().unwrap();
    let range = |name: &str| fields.iter().find(|field| field["name"] == name).unwrap()["range"].to_string();
    assert_eq!([range("age"), range("charge"), range("disease")], ["[0,120]", "[0,null]", "null"]);
    // A value outside would make the codebook false.
    let mut rows = rows;
    rows[5][0] = 130;
    let folder = source(&rows);
    let refused =
        publish(&policy(folder.path(), "mondrian", true), RowSource::Policy, &options(folder.path().join("out")))
            .unwrap_err();
    assert!(refused.to_string().contains("`age` has the value 130"), "{refused}");
}
