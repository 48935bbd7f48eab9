//! The truth about a source is SQLite's: integers are divided without the fraction, toward zero,
//! and what is divided by zero is missing. Random arithmetic over random tables, answered by both.
//!
//! `HEDGEROW_SEED=… cargo test -p hedgerow --test databases arithmetic` replays one case.

use hedgerow::{AnswerCell, Policy, query_source, read_source};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

const CASES: u64 = 60;
const POLICY: &str = "[source]\npath = \"data.csv\"\n[attributes]\n\
    x = { role = \"quasi\", type = \"integer\" }\ny = { role = \"quasi\", type = \"integer\" }\n\
    z = { role = \"sensitive\", type = \"float\" }\n\
    [[rule]]\nrequire = { model = \"k-anonymity\", k = 2 }\n";

fn random_term(rng: &mut StdRng, depth: usize) -> String {
    let written = ["0", "1", "2", "-2", "3", "-7", "40", "2.0", "0.5", "3e0"];
    match rng.random_range(0..8) {
        0..4 if depth > 0 => {
            let by = ["/", "/", "/", "+", "-", "*"].choose(rng).unwrap();
            format!("({} {by} {})", random_term(rng, depth - 1), random_term(rng, depth - 1))
        }
        4 if depth > 0 => {
            let (one, other) = (random_term(rng, depth - 1), random_term(rng, depth - 1));
            format!("CASE WHEN x > {} THEN {one} ELSE {other} END", rng.random_range(-9..9))
        }
        5 => (*written.choose(rng).unwrap()).to_owned(),
        6 => format!("-{}", ["x", "y", "z"].choose(rng).unwrap()),
        _ => (*["x", "y", "z"].choose(rng).unwrap()).to_owned(),
    }
}

fn random_aggregate(rng: &mut StdRng, depth: usize) -> String {
    if depth > 0 && rng.random_bool(0.4) {
        let by = ["/", "/", "+", "*"].choose(rng).unwrap();
        return format!("({} {by} {})", random_aggregate(rng, depth - 1), random_aggregate(rng, depth - 1));
    }
    match rng.random_range(0..7) {
        0 => "COUNT(*)".to_owned(),
        1 => (*["2", "3.0", "-4"].choose(rng).unwrap()).to_owned(),
        _ => format!("{}({})", ["SUM", "AVG", "MIN", "MAX", "COUNT"].choose(rng).unwrap(), random_term(rng, 2)),
    }
}

#[test]
fn arithmetic_over_the_source_is_that_of_sqlite() {
    let only = std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse().ok());
    for seed in only.map_or(0..CASES, |seed: u64| seed..seed + 1) {
        examine(seed);
    }
}

fn examine(seed: u64) {
    let mut rng = StdRng::seed_from_u64(seed);
    let (rows, missing) = (rng.random_range(1..12), *[0.0, 0.2].choose(&mut rng).unwrap());
    let number = |rng: &mut StdRng, text: String| if rng.random_bool(missing) { String::new() } else { text };
    let rows: Vec<[String; 3]> = (0..rows)
        .map(|_| {
            let (x, y, z) = (rng.random_range(-9..10), rng.random_range(0..60), rng.random_range(-6..7));
            [x.to_string(), y.to_string(), (f64::from(z) / 4.0).to_string()].map(|text| number(&mut rng, text))
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let lines: String = rows.iter().map(|row| row.join(",") + "\n").collect();
    std::fs::write(folder.path().join("data.csv"), format!("x,y,z\n{lines}")).unwrap();
    let policy = Policy::parse(POLICY, folder.path().join("policy.toml")).unwrap();
    let source = read_source(&policy).unwrap();
    let database = rusqlite::Connection::open_in_memory().unwrap();
    database.execute_batch("CREATE TABLE data (x INTEGER, y INTEGER, z REAL)").unwrap();
    for row in &rows {
        let row = row.each_ref().map(|text| Some(text).filter(|text| !text.is_empty()));
        database.execute("INSERT INTO data VALUES (?, ?, ?)", row).unwrap();
    }
    for _ in 0..30 {
        let sql = format!("SELECT {} FROM data", random_aggregate(&mut rng, 2));
        if !["SUM(", "AVG(", "MIN(", "MAX(", "COUNT("].iter().any(|name| sql.contains(name)) {
            continue;
        }
        let truth: Option<f64> = database.query_row(&sql, [], |row| row.get(0)).unwrap();
        let answer = query_source(&policy, &source, &sql);
        let answer = answer.unwrap_or_else(|error| panic!("HEDGEROW_SEED={seed}: {error}\n{sql}"));
        let AnswerCell::Estimate(found) = answer.lines[0][0] else { panic!("{sql}") };
        // A sum over a CASE of integers and others may be either, for whatever is done with it.
        let is_exact = !(sql.contains("CASE") && sql.starts_with("SELECT ("));
        let slack = |truth: f64| 1e-9 * truth.abs().max(1.0);
        for (number, side) in [(found.estimate, 0.0), (found.certain, 1.0), (found.possible, -1.0)] {
            let is_right = match truth {
                Some(truth) if is_exact => (number - truth).abs() <= slack(truth),
                Some(truth) => side * (truth - number) >= -slack(truth),
                None => number.is_nan() || !is_exact,
            };
            assert!(is_right, "HEDGEROW_SEED={seed}: {found:?}, and SQLite answers {truth:?}\n{sql}\n{lines}");
        }
    }
}
