//! Buckets under (δ,l)-diversity by window: they exist exactly when no interval of length 2δ holds
//! more than n/l rows, and what is published holds in every bucket, by the definition.
//!
//! `HEDGEROW_SEED=… cargo test -p hedgerow-publish windows` replays one case.

use std::collections::BTreeMap;
use std::path::Path;

use hedgerow_policy::Policy;
use hedgerow_publish::{PublishError, PublishOptions, RowSource, publish};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

/// Publishes rows of an age and a pay, the latter in halves, with buckets.
fn bucketized(folder: &Path, rows: &[(u32, Option<i32>)], require: &str) -> Result<(), PublishError> {
    let pay = |pay: Option<i32>| pay.map_or_else(String::new, |halves| (f64::from(halves) / 2.0).to_string());
    let lines: String = rows.iter().map(|&(age, halves)| format!("{age},{}\n", pay(halves))).collect();
    std::fs::write(folder.join("t.csv"), format!("age,pay\n{lines}")).unwrap();
    let policy = format!(
        "[source]\npath = \"t.csv\"\n[attributes]\nage = {{ role = \"quasi\" }}\npay = {{ role = \"sensitive\", type = \"float\" }}\n\
         [[rule]]\nprotect = \"pay\"\nrequire = {require}\n[publish]\nmethod = \"anatomy\"\n"
    );
    let policy = Policy::parse(&policy, &folder.join("policy.toml")).unwrap();
    let options = PublishOptions::to(folder.join("release"));
    publish(&policy, RowSource::Policy, &options).map(|_| ())
}

/// Rows in the fullest interval of this length, in halves; missing values are counted together.
fn fullest(values: &[Option<i32>], length: i32) -> usize {
    let inside = |low: i32| values.iter().flatten().filter(|&&value| (low..=low + length).contains(&value)).count();
    let missing = values.iter().filter(|value| value.is_none()).count();
    values.iter().flatten().map(|&low| inside(low)).chain([missing]).max().unwrap()
}

/// The values of every bucket, as the files tell them, and the ages.
type ByGroup<T> = BTreeMap<String, Vec<T>>;

fn read(release: &Path) -> (ByGroup<Option<i32>>, ByGroup<u32>) {
    let lines = |name: &str| -> Vec<Vec<String>> {
        let text = std::fs::read_to_string(release.join(name)).unwrap();
        text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
    };
    let mut values: BTreeMap<String, Vec<Option<i32>>> = BTreeMap::new();
    for line in lines("sensitive.csv") {
        let halves = line[1].parse::<f64>().ok().map(|pay| (pay * 2.0) as i32);
        values.entry(line[0].clone()).or_default().extend(vec![halves; line[2].parse().unwrap()]);
    }
    let mut ages: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for line in lines("quasi.csv") {
        ages.entry(line[1].clone()).or_default().push(line[0].parse().unwrap());
    }
    (values, ages)
}

#[test]
fn buckets_exist_exactly_when_no_interval_is_too_full() {
    let only = std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse::<u64>().ok());
    let mut published = 0;
    for seed in only.map_or(0..300, |seed| seed..seed + 1) {
        let mut rng = StdRng::seed_from_u64(seed);
        let count = *[1usize, 2, 5, 12, 40, 120].choose(&mut rng).unwrap();
        let values = *[2, 8, 50, 400].choose(&mut rng).unwrap();
        let blank = *[0.0, 0.0, 0.1].choose(&mut rng).unwrap();
        let rows: Vec<(u32, Option<i32>)> = (0..count)
            .map(|_| (rng.random_range(0..60), (!rng.random_bool(blank)).then(|| rng.random_range(-values..values))))
            .collect();
        // δ in quarters, so that 2δ is whole halves: δ = length / 4.
        let length = *[0, 1, 4, 20].choose(&mut rng).unwrap();
        let l = *[1.0, 1.5, 2.0, 2.5, 3.0, 5.0].choose(&mut rng).unwrap();
        let require = format!("{{ model = \"delta-l-diversity\", delta = {}, l = {l} }}", f64::from(length) / 4.0);
        let folder = tempfile::tempdir().unwrap();
        let pays: Vec<Option<i32>> = rows.iter().map(|row| row.1).collect();
        // With missing as a value of its own, and among the known values.
        let known: Vec<Option<i32>> = pays.iter().copied().filter(Option::is_some).collect();
        let fits = |pays: &[Option<i32>]| pays.is_empty() || fullest(pays, length) as f64 * l <= pays.len() as f64;
        let possible = fits(&pays) && fits(&known);
        match bucketized(folder.path(), &rows, &require) {
            Ok(()) => assert!(possible, "seed {seed}: published in spite of a dense interval"),
            Err(PublishError::Ineligible(_)) => {
                assert!(!possible, "seed {seed}: {require} could be met by {rows:?}");
                assert!(!folder.path().join("release").exists());
                continue;
            }
            Err(error) => panic!("seed {seed}: {error}"),
        }
        published += 1;
        let (held, ages) = read(&folder.path().join("release"));
        let mut all: Vec<Option<i32>> = Vec::new();
        for (bucket, values) in &held {
            assert_eq!(values.len(), ages[bucket].len(), "seed {seed}");
            assert!(
                fullest(values, length) as f64 * l <= values.len() as f64,
                "seed {seed}: {values:?}, {length}, {l}"
            );
            all.extend(values);
        }
        let sorted = |mut values: Vec<Option<i32>>| {
            values.sort_unstable();
            values
        };
        assert_eq!(sorted(all), sorted(pays), "seed {seed}");
    }
    assert!(only.is_some() || published > 60, "{published}");
}

#[test]
fn a_refusal_names_the_interval() {
    let folder = tempfile::tempdir().unwrap();
    let rows: Vec<(u32, Option<i32>)> = [980, 1000, 1000, 1020, 1300, 2000].map(|pay| (30, Some(pay))).to_vec();
    let require = "{ model = \"delta-l-diversity\", delta = 10, l = 2 }";
    let error = bucketized(folder.path(), &rows, require).unwrap_err();
    assert!(matches!(error, PublishError::Ineligible(_)), "{error}");
    assert!(
        error.to_string().contains("from 490 to 510, which lie within 20, are 4 of 6 rows, and at most 3"),
        "{error}"
    );
    let rows: Vec<(u32, Option<i32>)> = vec![(30, None), (31, None), (32, Some(4))];
    let error = bucketized(folder.path(), &rows, require).unwrap_err();
    assert!(error.to_string().contains("the missing values are 2 of 3 rows, and at most 1"), "{error}");
}

/// Buckets cannot keep a guarantee that does not survive a union.
#[test]
fn guarantees_that_are_not_merging_are_refused() {
    for require in [
        "{ model = \"epsilon-m-anonymity\", epsilon = 1, m = 2 }",
        "{ model = \"delta-l-diversity\", delta = 1, l = 2, reading = \"pairwise\" }",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let rows: Vec<(u32, Option<i32>)> = (0..8).map(|row| (30 + row, Some(100 * row as i32))).collect();
        let error = bucketized(folder.path(), &rows, require).unwrap_err();
        assert!(error.to_string().contains("anatomy cannot keep"), "{error}");
        assert!(!folder.path().join("release").exists());
    }
}
