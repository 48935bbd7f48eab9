//! Custodians together against one who holds everything: random small tables under random policies
//! and splits, in both profiles.
//!
//! A failure prints its seed; `HEDGEROW_SEED=… cargo test -p hedgerow-joint` replays that case
//! alone.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use hedgerow_cuts::Span;
use hedgerow_joint::{Agreed, Joint, JointResult, Profile, Rehearsed, Share, rehearse};
use hedgerow_policy::{Method, Policy};
use hedgerow_privacy::{Class, Distribution};
use hedgerow_publish::bind::{Bound, read_source};
use hedgerow_publish::local::{Local, LocalRecoding, recode};
use hedgerow_smc::{BurnBook, Coins, Concluded, Ledger, OpenedValues, Question, Roster, masked, simulate};
use hedgerow_table::Table;
use hedgerow_table::progress::NoProgress;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::random_case::{Case, random_case};

const CASES: u64 = 1500;

type Region = Vec<Span>;

/// A policy bound to a table that has all values.
pub(crate) fn agree(bound: &Bound<'_>, strict: bool, tight: bool) -> Option<Agreed> {
    Agreed::new(bound.axes(), &bound.judged_cardinalities(), bound.judge().ok()?.into_rules(), strict, tight)?
        .weighted(bound.weights())
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

/// How many classes there are; `None` where the rules cannot be kept together.
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
    if strict {
        assert_eq!(together, apart, "{}", context());
        assert_eq!(by_row(joined, &owner), by_row_alone(alone), "{}", context());
    } else {
        // Ties are shared by lot here and by an order there: other people, the same number.
        assert_eq!(together.values().sum::<u64>(), apart.values().sum::<u64>(), "{}", context());
    }
    counted(joined, &owner, &context);
    keeps_rules(&bound, &by_row(joined, &owner), &context);
    Some(together.len())
}

/// Every rule holds in every class that a reader sees who knows what the rule says, counted over
/// all rows in one place.
fn keeps_rules(bound: &Bound<'_>, regions: &[Region], context: &dyn Fn() -> String) {
    let columns = bound.judged_codes();
    for rule in bound.judge().unwrap().into_rules() {
        let value = |row: usize| rule.protect.map_or(0, |attribute| columns[attribute].get(row));
        let mut classes: BTreeMap<Region, BTreeMap<u32, u32>> = BTreeMap::new();
        let mut all = vec![0; rule.protect.map_or(1, |attribute| bound.judged_cardinalities()[attribute])];
        for (row, region) in regions.iter().enumerate() {
            let seen = rule.know.iter().map(|attribute| region[*attribute]).collect();
            *classes.entry(seen).or_default().entry(value(row)).or_default() += 1;
            all[value(row) as usize] += 1;
        }
        let table = Distribution::new(all, rule.tree.as_ref());
        for (region, counts) in classes {
            let values: Vec<(u32, u32)> = counts.into_iter().collect();
            let rows = values.iter().map(|(_, count)| u64::from(*count)).sum();
            // Without a protected attribute there is nothing but rows.
            let values = if rule.protect.is_some() { values } else { Vec::new() };
            let class = Class { rows, values: &values };
            for guarantee in &rule.guarantees {
                assert!(guarantee.holds(class, &table), "{guarantee:?} in {region:?}: {class:?}, {}", context());
            }
        }
    }
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
fn sizes(joined: &[JointResult]) -> BTreeMap<Region, u64> {
    let mut sizes = BTreeMap::new();
    for class in &joined[0].classes {
        *sizes.entry(class.region.clone()).or_default() += class.rows;
    }
    sizes
}

fn region_alone(alone: &LocalRecoding, class: usize) -> Region {
    alone.cells.iter().map(|cells| cells.regions[cells.of_class[class] as usize]).collect()
}

/// One who holds everything releases tight sets of values, custodians the spans of these sets.
fn sizes_alone(alone: &LocalRecoding) -> BTreeMap<Region, u64> {
    let mut sizes = BTreeMap::new();
    for (class, size) in alone.sizes.iter().enumerate() {
        *sizes.entry(region_alone(alone, class)).or_default() += size;
    }
    sizes
}

fn by_row_alone(alone: &LocalRecoding) -> Vec<Region> {
    alone.of_row.iter().map(|class| region_alone(alone, *class as usize)).collect()
}

/// The region of every row of the union, in the order of the source.
fn by_row(joined: &[JointResult], owner: &[usize]) -> Vec<Region> {
    classes_by_row(joined, owner).into_iter().map(|class| joined[0].classes[class].region.clone()).collect()
}

pub(crate) fn classes_by_row(joined: &[JointResult], owner: &[usize]) -> Vec<usize> {
    let mut next = vec![0; joined.len()];
    let mut class = |owner: usize| {
        next[owner] += 1;
        joined[owner].of_row[next[owner] - 1] as usize
    };
    owner.iter().map(|owner| class(*owner)).collect()
}

/// The sizes that were opened are those that the custodians' own rows add up to.
fn counted(joined: &[JointResult], owner: &[usize], context: &dyn Fn() -> String) {
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
            let squares = |sizes: &BTreeMap<Region, u64>| sizes.values().map(|size| size * size).sum::<u64>();
            if strict {
                assert_eq!(together, sizes_apart, "{custodians} {name} {profile:?} {strict}");
                assert_eq!(squares(&together), squares(&sizes_apart), "discernibility");
            } else {
                // Lots mix people that an order keeps apart, and cost little.
                let (together, apart) = (squares(&together), squares(&sizes_apart));
                assert!(together * 10 < apart * 11, "discernibility {together}, in one table {apart}");
            }
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

/// A table of numbers, dealt to three; k-anonymity alone.
fn numbers(random: &mut StdRng, rows: usize, wide: [u32; 2], k: u64) -> (tempfile::TempDir, Vec<[u32; 2]>) {
    let people: Vec<[u32; 2]> = (0..rows).map(|_| wide.map(|wide| random.random_range(0..wide))).collect();
    let mut text = "age,visits,disease\n".to_owned();
    people.iter().for_each(|[age, visits]| {
        text.push_str(&format!("{age},{visits},d{}\n", random.random_range(0..50)));
    });
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("people.csv"), text).unwrap();
    let policy = format!(
        "[source]\npath = \"people.csv\"\n[attributes]\nage = {{ role = \"quasi\" }}\nvisits = {{ role = \"quasi\" }}\n\
         disease = {{ role = \"sensitive\" }}\n[[rule]]\nrequire = {{ model = \"k-anonymity\", k = {k} }}\n\
         [publish]\nmethod = \"mondrian\"\nstrict = false\n"
    );
    std::fs::write(folder.path().join("policy.toml"), policy).unwrap();
    (folder, people)
}

#[test]
fn relaxed_cuts_divide_whatever_differs_and_leave_every_class_large_enough() {
    let mut shared = 0;
    for seed in 0..120 {
        let mut random = StdRng::seed_from_u64(seed);
        let (rows, k) = (random.random_range(1..80usize), random.random_range(1..6u64));
        let (folder, people) = numbers(&mut random, rows, [[1, 6, 30][seed as usize % 3], 4], k);
        let (policy, table) = read(&folder.path().join("policy.toml"));
        let bound = Bound::new(&policy, &table).unwrap();
        let agreed = Arc::new(agree(&bound, false, false).unwrap());
        let owner = split(&mut random, rows, 4);
        // Every third time all custodians draw the same lots: then sizes must still be true.
        let coins = |me: u64| Coins::danger_from_seed(if seed % 3 == 0 { 1 } else { 100 * seed + me });
        let joined = run_masked(&agreed, agreed.deal(&bound.judged_codes(), &owner, 4), coins);
        let Some(joined) = joined else {
            assert!((rows as u64) < k, "seed {seed}");
            continue;
        };
        counted(&joined, &owner, &|| format!("seed {seed}"));
        let classes = classes_by_row(&joined, &owner);
        for (number, class) in joined[0].classes.iter().enumerate() {
            assert!(class.rows >= k, "seed {seed}: {} rows of at least {k}", class.rows);
            let members: Vec<[u32; 2]> =
                (0..rows).filter(|row| classes[*row] == number).map(|row| people[row]).collect();
            let differ = members.iter().any(|person| *person != members[0]);
            // With lots of their own, no class stays that could be divided.
            assert!(seed % 3 == 0 || class.rows < 2 * k || !differ, "seed {seed}: {members:?}");
        }
        let meet = |(one, other): (&Span, &Span)| one.first <= other.last && other.first <= one.last;
        let meets = |one: &[Span], other: &[Span]| one.iter().zip(other).all(meet);
        let classes = &joined[0].classes;
        let pairs = (0..classes.len()).flat_map(|one| (0..one).map(move |other| (one, other)));
        shared +=
            usize::from(pairs.into_iter().any(|(one, other)| meets(&classes[one].region, &classes[other].region)));
    }
    assert!(shared > 5, "only {shared} tables had people of one value in several classes");
}

/// With coins of one's choice.
fn run_masked(agreed: &Arc<Agreed>, shares: Vec<Share>, coins: impl Fn(u64) -> Coins) -> Option<Vec<JointResult>> {
    concluded(agreed, shares, coins).into_iter().map(|concluded| concluded.output).collect()
}

fn concluded(
    agreed: &Arc<Agreed>,
    shares: Vec<Share>,
    coins: impl Fn(u64) -> Coins,
) -> Vec<Concluded<Option<JointResult>>> {
    let roster = Roster::numbered(shares.len()).unwrap();
    let start = |(me, share): (usize, Share)| {
        let permit = BurnBook::default().permit([3; 16], Question::new("classes", b""), &roster).unwrap();
        let joint = Joint::new(Arc::clone(agreed), share, coins(me as u64));
        masked::start(permit, me as u16, joint, Coins::danger_from_seed(7 + me as u64)).unwrap()
    };
    simulate::run(shares.into_iter().enumerate().map(start).collect(), 1).unwrap().0
}

#[test]
fn opened_values_depend_on_no_protected_value_and_distinguish_no_people_of_one_value() {
    let mut random = StdRng::seed_from_u64(5);
    let (folder, _) = numbers(&mut random, 300, [5, 4], 3);
    let (policy, table) = read(&folder.path().join("policy.toml"));
    let bound = Bound::new(&policy, &table).unwrap();
    let agreed = Arc::new(Agreed { cardinalities: vec![50], ..agree(&bound, false, false).unwrap() });
    let owner: Vec<usize> = (0..300).map(|row| row % 3).collect();
    let shares = |diseases: &dyn Fn(u32) -> u32| {
        let mut shares = agreed.deal(&bound.judged_codes(), &owner, 3);
        for share in &mut shares {
            share.codes = vec![(0..share.rows() as u32).map(diseases).collect()];
        }
        shares
    };
    let coins = |me: u64| Coins::danger_from_seed(40 + me);
    let one = concluded(&agreed, shares(&|row| row % 50), coins).remove(0).ledger;
    let other = concluded(&agreed, shares(&|row| 49 - row * 7 % 50), coins).remove(0).ledger;
    assert_eq!(one, other, "the ledger depends on protected values");
    let by_lot: Vec<&OpenedValues> = one.entries().iter().filter(|entry| entry.what == "half by lot").collect();
    let shared: usize = by_lot.iter().map(|entry| entry.parts.len()).sum();
    assert!(shared > 10, "{shared}");
    // Other lots, other counts: what opens is the lots and not the people.
    let again = concluded(&agreed, shares(&|row| row % 50), |me| Coins::danger_from_seed(90 + me)).remove(0).ledger;
    let first = |ledger: &Ledger| ledger.entries().iter().find(|entry| entry.what == "half by lot").unwrap().clone();
    assert_ne!(first(&one).values, first(&again).values);
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
            if strict {
                assert_eq!(together, alone.as_ref().map(sizes_alone), "seed {seed}, split {split}");
            } else {
                assert_eq!(together.is_some(), alone.is_some(), "seed {seed}, split {split}");
            }
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
