//! Custodians together against one who holds everything: random small tables under random policies
//! and splits, in both profiles.
//!
//! A failure prints its seed; `HEDGEROW_SEED=… cargo test -p hedgerow-joint` replays that case
//! alone.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use hedgerow_cuts::Span;
use hedgerow_joint::{Agreed, Joined, Profile, Rehearsed, rehearse};
use hedgerow_policy::{Method, Policy};
use hedgerow_publish::bind::{Bound, read_source};
use hedgerow_publish::local::{Local, LocalRecoding, recode};
use hedgerow_table::Table;
use hedgerow_table::progress::NoProgress;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::random_case::{Case, random_case};

const CASES: u64 = 1500;

type Region = Vec<Span>;

/// What a policy says, bound to a table that has all values.
pub(crate) fn agree(bound: &Bound<'_>, strict: bool, tight: bool) -> Option<Agreed> {
    Agreed::new(bound.axes(), &bound.judged_cardinalities(), bound.judge().ok()?.into_rules(), strict, tight)
}

#[test]
fn custodians_find_what_one_who_holds_everything_finds() {
    if let Some(seed) = std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse().ok()) {
        check_case(seed);
        return;
    }
    let checked: Vec<usize> = (0..CASES).filter_map(check_case).collect();
    assert!(checked.len() > CASES as usize / 4, "only {} cases could be run together", checked.len());
    let divided = checked.iter().filter(|classes| **classes > 1).count();
    assert!(divided > 100, "only {divided} cases had more than one class");
}

/// How many classes there are; nothing where the rules cannot be kept together.
fn check_case(seed: u64) -> Option<usize> {
    let Case { table, policy, .. } = &random_case(seed);
    let mut random = StdRng::seed_from_u64(seed);
    let (strict, tight) = (random.random_bool(0.6), random.random_bool(0.2));
    let custodians = random.random_range(3..6usize);
    let profile = if random.random_bool(0.5) { Profile::Masked } else { Profile::Baseline };
    let context = || {
        format!(
            "seed {seed}: {custodians} custodians, {profile:?}, strict {strict}, tight {tight}\n{:#?}",
            policy.rules
        )
    };
    let bound = Bound::new(policy, table).unwrap();
    let agreed = Arc::new(agree(&bound, strict, tight)?);
    let owner = split(&mut random, table.rows, custodians);
    let found = rehearse(profile, &agreed, agreed.deal(&bound.judged_codes(), &owner, custodians), seed);
    let Rehearsed { joined, .. } = found.unwrap_or_else(|fault| panic!("{fault}\n{}", context()));
    let judge = bound.judge().unwrap();
    let alone = recode(&bound, &judge, Local { method: Method::Mondrian, strict, tight }, &NoProgress).ok();
    let (Some(joined), Some(alone)) = (&joined, &alone) else {
        assert_eq!(joined.is_some(), alone.is_some(), "one of them has no release, {}", context());
        return Some(0);
    };
    assert!(joined.iter().all(|one| one.classes == joined[0].classes), "custodians disagree, {}", context());
    let (together, apart) = (sizes(joined), sizes_alone(alone));
    assert_eq!(together, apart, "{}", context());
    if strict {
        assert_eq!(by_row(joined, &owner), by_row_alone(alone), "{}", context());
    }
    counted(joined, &owner, &context);
    Some(together.len())
}

/// Round robin, at random, skewed, or one empty and one with a single row.
pub(crate) fn split(random: &mut StdRng, rows: usize, custodians: usize) -> Vec<usize> {
    let style = random.random_range(0..4);
    let owner = |row: usize| match style {
        0 => row % custodians,
        1 => random.random_range(0..custodians),
        2 => (0..custodians - 1).find(|_| random.random_bool(0.6)).unwrap_or(custodians - 1),
        _ if row == 0 => 1,
        _ => 2 + row % (custodians - 2),
    };
    (0..rows).map(owner).collect()
}

/// Readers see classes with the same region as one.
fn sizes(joined: &[Joined]) -> BTreeMap<Region, u64> {
    let mut sizes = BTreeMap::new();
    for class in &joined[0].classes {
        *sizes.entry(class.region.clone()).or_default() += class.rows;
    }
    sizes
}

fn region_alone(alone: &LocalRecoding, class: usize) -> Region {
    alone.cells.iter().map(|cells| cells.regions[cells.of_class[class] as usize]).collect()
}

fn sizes_alone(alone: &LocalRecoding) -> BTreeMap<Region, u64> {
    alone.sizes.iter().enumerate().map(|(class, size)| (region_alone(alone, class), *size)).collect()
}

fn by_row_alone(alone: &LocalRecoding) -> Vec<Region> {
    alone.of_row.iter().map(|class| region_alone(alone, *class as usize)).collect()
}

/// The region of every row of the union, in the order of the source.
fn by_row(joined: &[Joined], owner: &[usize]) -> Vec<Region> {
    classes_by_row(joined, owner).into_iter().map(|class| joined[0].classes[class].region.clone()).collect()
}

pub(crate) fn classes_by_row(joined: &[Joined], owner: &[usize]) -> Vec<usize> {
    let mut next = vec![0; joined.len()];
    let mut class = |owner: usize| {
        next[owner] += 1;
        joined[owner].of_row[next[owner] - 1] as usize
    };
    owner.iter().map(|owner| class(*owner)).collect()
}

/// The sizes that were opened are those that the custodians' own rows add up to.
fn counted(joined: &[Joined], owner: &[usize], context: &dyn Fn() -> String) {
    let mut counts = vec![0; joined[0].classes.len()];
    classes_by_row(joined, owner).into_iter().for_each(|class| counts[class] += 1);
    let sizes: Vec<u64> = joined[0].classes.iter().map(|class| class.rows).collect();
    assert_eq!(sizes, counts, "{}", context());
}

/// Round robin; or skewed: one has nothing, one a single row, and one nearly everything.
pub(crate) fn splits(custodians: usize, rows: usize) -> [(&'static str, Vec<usize>); 2] {
    let skewed = |row: usize| match row {
        77 => 1,
        _ => 2 + (row.trailing_zeros() as usize).min(custodians - 3),
    };
    [
        ("round robin", (0..rows).map(|row| row % custodians).collect()),
        ("skewed", (0..rows).map(|row| skewed(row + 1)).collect()),
    ]
}

#[test]
fn adult_dealt_to_three_five_and_ten() {
    let policy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/adult/policy.toml");
    let (policy, table) = read(&policy);
    let bound = Bound::new(&policy, &table).unwrap();
    let judge = bound.judge().unwrap();
    for strict in [true, false] {
        let agreed = Arc::new(agree(&bound, strict, false).unwrap());
        let alone =
            recode(&bound, &judge, Local { method: Method::Mondrian, strict, tight: false }, &NoProgress).unwrap();
        let (sizes_apart, by_row_apart) = (sizes_alone(&alone), by_row_alone(&alone));
        let runs =
            [(3, 0, Profile::Masked), (5, 1, Profile::Baseline), (10, 1, Profile::Masked), (10, 0, Profile::Baseline)];
        for (custodians, split, profile) in runs {
            let (name, owner) = &splits(custodians, table.rows)[split];
            let shares = agreed.deal(&bound.judged_codes(), owner, custodians);
            assert!(split == 0 || (shares[0].rows() == 0 && shares[1].rows() == 1), "{name}");
            let joined = rehearse(profile, &agreed, shares, 1).unwrap().joined.unwrap();
            let together = sizes(&joined);
            assert_eq!(together, sizes_apart, "{custodians} {name} {profile:?} {strict}");
            let squares = |sizes: &BTreeMap<Region, u64>| sizes.values().map(|size| size * size).sum::<u64>();
            assert_eq!(squares(&together), squares(&sizes_apart), "discernibility");
            assert!(joined[0].classes.iter().all(|class| class.rows >= 5));
            if strict {
                assert_eq!(by_row(&joined, owner), by_row_apart, "{custodians} {name} {profile:?}");
            }
            counted(&joined, owner, &|| format!("{custodians} {name} {profile:?} {strict}"));
            // A custodian's own part is far from 5-anonymous.
            let mut own = vec![0u32; joined[0].classes.len()];
            joined[2].of_row.iter().for_each(|class| own[*class as usize] += 1);
            assert!(own.iter().any(|rows| (1..5).contains(rows)));
        }
    }
}

#[test]
fn every_split_of_a_few_rows_gives_the_same() {
    let mut divided = 0;
    for seed in 0..26 {
        let mut random = StdRng::seed_from_u64(seed);
        let rows = 1 + seed as usize % 5;
        let mut text = "age,ward\n".to_owned();
        (0..rows).for_each(|_| {
            text.push_str(&format!("{},w{}\n", random.random_range(0..4), random.random_range(0..3)));
        });
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("people.csv"), text).unwrap();
        let policy = format!(
            "[source]\npath = \"people.csv\"\n[attributes]\nage = {{ role = \"quasi\" }}\nward = {{ role = \"quasi\" }}\n\
             [[rule]]\nrequire = {{ model = \"k-anonymity\", k = {} }}\n[publish]\nmethod = \"mondrian\"\n",
            random.random_range(1..3)
        );
        std::fs::write(folder.path().join("policy.toml"), policy).unwrap();
        let (policy, table) = read(&folder.path().join("policy.toml"));
        let bound = Bound::new(&policy, &table).unwrap();
        let judge = bound.judge().unwrap();
        let strict = seed % 2 == 0;
        let agreed = Arc::new(agree(&bound, strict, false).unwrap());
        let alone = recode(&bound, &judge, Local { method: Method::Mondrian, strict, tight: false }, &NoProgress).ok();
        for split in 0..3usize.pow(rows as u32) {
            let owner: Vec<usize> = (0..rows).map(|row| split / 3usize.pow(row as u32) % 3).collect();
            let profile = if split % 2 == 0 { Profile::Masked } else { Profile::Baseline };
            let joined =
                rehearse(profile, &agreed, agreed.deal(&bound.judged_codes(), &owner, 3), seed).unwrap().joined;
            let together = joined.as_deref().map(sizes);
            assert_eq!(together, alone.as_ref().map(sizes_alone), "seed {seed}, split {split}");
            if let (true, Some(joined), Some(alone)) = (strict, &joined, &alone) {
                assert_eq!(by_row(joined, &owner), by_row_alone(alone), "seed {seed}, split {split}");
            }
            divided += usize::from(together.is_some_and(|classes| classes.len() > 1));
        }
    }
    assert!(divided > 500, "{divided}");
}

pub(crate) fn read(path: &Path) -> (Policy, Table) {
    let policy = Policy::load(path).unwrap();
    let table = read_source(&policy, &NoProgress).unwrap();
    (policy, table)
}
