//! Statements about undivided classes, compared with every division of their rows: random small
//! tables under k-anonymity and distinct l-diversity, published by every local method.
//!
//! A failure prints its seed; `HEDGEROW_SEED=… cargo test -p hedgerow-publish undivided` replays
//! that case alone.

use std::collections::{BTreeMap, BTreeSet};

use hedgerow_policy::Policy;
use hedgerow_publish::bind::Bound;
use hedgerow_publish::undivided::undivided;
use hedgerow_publish::{PublishError, PublishOptions, RowSource, publish};
use hedgerow_release::Release;
use hedgerow_table::{NoProgress, Table};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const CASES: u64 = 150;

#[test]
fn classes_that_are_called_settled_have_no_division() {
    if let Some(seed) = std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse().ok()) {
        check_case(seed);
        return;
    }
    let found: Vec<[u64; 3]> = (0..CASES).filter_map(check_case).collect();
    let total = |place: usize| found.iter().map(|counts| counts[place]).sum::<u64>();
    assert!(
        total(0) > 100 && total(1) > 10 && total(2) > 10,
        "too few classes of some kind: {:?}",
        [0, 1, 2].map(total)
    );
}

/// Settled, single-valued and open classes; `None` where no release is possible.
fn check_case(seed: u64) -> Option<[u64; 3]> {
    let mut rng = StdRng::seed_from_u64(seed);
    let (k, l) = (rng.random_range(1..=3u64), rng.random_range(2..=3u64));
    // Attributes with one value cannot be cut, nor can classes that have one value of each.
    let (ages, colors) = [(6, 3), (2, 2), (6, 1), (1, 3), (1, 1)][rng.random_range(0..5)];
    let texts: Vec<[String; 3]> = (0..rng.random_range(1..=14))
        .map(|_| {
            [
                rng.random_range(0..ages).to_string(),
                format!("c{}", rng.random_range(0..colors)),
                format!("s{}", rng.random_range(0..4)),
            ]
        })
        .collect();
    let rows: Vec<Vec<&str>> = texts.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
    let table = Table::from_texts(&["a", "b", "s"], &rows);
    let method = ["mondrian", "best-cut", "cluster"][seed as usize % 3];
    let text = format!(
        "[source]\npath = \"in memory\"\n[attributes]\na = {{ role = \"quasi\" }}\nb = {{ role = \"quasi\" }}\n\
         s = {{ role = \"sensitive\" }}\n[[rule]]\nrequire = {{ model = \"k-anonymity\", k = {k} }}\n[[rule]]\nprotect = \"s\"\n\
         require = {{ model = \"distinct-l-diversity\", l = {l} }}\n[publish]\nmethod = \"{method}\"\n"
    );
    let policy = Policy::parse(&text, "policy.toml".as_ref()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options = PublishOptions { seed: Some(seed), ..PublishOptions::to(folder.path().join("release")) };
    match publish(&policy, RowSource::Table(&table), &options) {
        Err(PublishError::Unsatisfiable(_)) => return None,
        published => published.unwrap_or_else(|error| panic!("seed {seed}: {error}")),
    };
    let release = Release::open(&options.destination, &NoProgress).unwrap();
    let bound = Bound::new(&policy, &table).unwrap();
    let found = undivided(&bound, &release).unwrap().expect("one table");
    // The classes, read from the file.
    let csv = std::fs::read_to_string(options.destination.join("data.csv")).unwrap();
    let mut classes: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (cells, value) in csv.lines().skip(1).filter_map(|line| line.rsplit_once(',')) {
        classes.entry(cells).or_default().push(value);
    }
    assert_eq!(found.classes, classes.len() as u64, "seed {seed}");
    let counts = [found.settled.classes, found.single_valued.classes, found.open.classes];
    assert_eq!(counts.iter().sum::<u64>(), found.classes, "seed {seed}: every class is counted once");
    let rows = [found.settled.rows, found.single_valued.rows, found.open.rows];
    assert_eq!(rows.iter().sum::<u64>(), table.rows as u64, "seed {seed}");
    let divisible = classes.values().filter(|values| divides(values, k, l)).count() as u64;
    // The counts of rows and values are all that these two guarantees look at, so what is not
    // settled can be divided in some way, if not by a cut.
    assert_eq!(found.classes - found.settled.classes, divisible, "seed {seed}: {classes:?}, k = {k}, l = {l}");
    let is_single = |cells: &str| texts.iter().any(|[a, b, _]| cells == format!("{a},{b}"));
    let single = classes.iter().filter(|(cells, values)| is_single(cells) && divides(values, k, l)).count() as u64;
    assert_eq!(found.single_valued.classes, single, "seed {seed}: {csv}");
    if ages == 1 && colors == 1 {
        assert_eq!(found.open.classes, 0, "seed {seed}: there is nothing to cut: {csv}");
    }
    for class in &found.largest {
        assert!(!class.wide.is_empty() && class.rows >= 2 * k, "seed {seed}: {class:?}");
    }
    Some(counts)
}

/// Whether some division leaves two parts that hold, by trying all.
fn divides(values: &[&str], k: u64, l: u64) -> bool {
    let holds = |mask: u32| {
        let part: Vec<&str> =
            (0..values.len()).filter(|place| mask >> place & 1 == 1).map(|place| values[place]).collect();
        part.len() as u64 >= k && part.iter().collect::<BTreeSet<_>>().len() as u64 >= l
    };
    let whole = (1u32 << values.len()) - 1;
    (0..=whole).any(|mask| holds(mask) && holds(whole & !mask))
}
