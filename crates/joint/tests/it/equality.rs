//! Custodians who know the declared values alone, against one publisher who holds all rows and
//! takes the values from them: strict cuts find the same classes, row by row, as long as all
//! declared categories and both ends of every range occur. Numbers, dates, orders, hierarchies,
//! weights, with and without missing values.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use hedgerow_joint::{Agreed, JointAttribute, Profile, Share, rehearse};
use hedgerow_policy::{Method, Policy};
use hedgerow_publish::bind::{Bound, declared_table, read_source};
use hedgerow_publish::local::{Local, recode};
use hedgerow_table::progress::NoProgress;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::joint::{agree, classes_by_row};

const CASES: u64 = 250;
const COLORS: [&str; 4] = ["red", "blue", "green", "white"];
const PLACES: [&str; 5] = ["north", "east", "south", "west", "center"];

fn policy(folder: &Path, random: &mut StdRng) -> Policy {
    let (k, weight) = (random.random_range(2..5), [1, 3][random.random_range(0..2)]);
    let text = format!(
        "[source]\npath = \"people.csv\"\n[attributes]\nage = {{ role = \"quasi\", range = [10, 49] }}\n\
         day = {{ role = \"quasi\", range = [2024-01-01, 2024-02-10] }}\n\
         color = {{ role = \"quasi\", order = {COLORS:?} }}\n\
         place = {{ role = \"quasi\", hierarchy = \"places.csv\" }}\n\
         disease = {{ role = \"sensitive\", order = [\"cold\", \"flu\", \"gout\"] }}\n\
         [[rule]]\nrequire = {{ model = \"k-anonymity\", k = {k} }}\n[[rule]]\nprotect = \"disease\"\n\
         require = {{ model = \"distinct-l-diversity\", l = 2 }}\n\
         [publish]\nmethod = \"mondrian\"\nstrict = true\nweights = {{ color = {weight} }}\n"
    );
    std::fs::write(folder.join("places.csv"), "north;cold;*\neast;warm;*\nsouth;warm;*\nwest;cold;*\ncenter;mild;*\n")
        .unwrap();
    std::fs::write(folder.join("policy.toml"), text).unwrap();
    Policy::load(&folder.join("policy.toml")).unwrap_or_else(|error| panic!("{error}"))
}

/// Rows in which every category and both ends of every range occur; some lack values.
fn rows(random: &mut StdRng, missing: bool) -> Vec<String> {
    let count = random.random_range(8..70usize);
    let row = |number: usize| {
        let mut cell =
            |text: String| if missing && number > 7 && random.random_range(0..8) == 0 { String::new() } else { text };
        let (age, day) = match number {
            0 => (10, 0),
            1 => (49, 40),
            _ => (10 + number * 7 % 40, number * 11 % 41),
        };
        let day = if day < 31 { format!("2024-01-{:02}", day + 1) } else { format!("2024-02-{:02}", day - 30) };
        let color = COLORS[if number < 4 { number } else { number * 5 % 4 }].to_owned();
        let place = PLACES[if number < 5 { number } else { number * 3 % 5 }].to_owned();
        let disease = ["cold", "flu", "gout"][number % 3];
        format!("{},{},{},{},{disease}", cell(age.to_string()), cell(day), cell(color), cell(place))
    };
    let mut rows: Vec<String> = (0..count).map(row).collect();
    // Shuffled, so that owners do not go along values.
    for last in (1..rows.len()).rev() {
        rows.swap(last, random.random_range(0..=last));
    }
    rows
}

fn write(folder: &Path, rows: &[&String]) {
    let mut text = "age,day,color,place,disease\n".to_owned();
    rows.iter().for_each(|row| writeln!(text, "{row}").unwrap());
    std::fs::write(folder.join("people.csv"), text).unwrap();
}

/// The numbers of the classes, in the order in which they first occur.
fn renamed(classes: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let mut names = BTreeMap::new();
    classes
        .into_iter()
        .map(|class| {
            let next = names.len();
            *names.entry(class).or_insert(next)
        })
        .collect()
}

#[test]
fn strict_classes_over_declared_values_are_those_of_one_publisher_over_its_own() {
    let seed = std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse::<u64>().ok());
    let cases = seed.map_or(0..CASES, |seed| seed..seed + 1);
    let (mut divided, mut without) = (0, 0);
    for case in cases {
        let random = &mut StdRng::seed_from_u64(case);
        let folder = tempfile::tempdir().unwrap();
        let policy = policy(folder.path(), random);
        let missing = random.random_bool(0.5);
        let rows = rows(random, missing);
        write(folder.path(), &rows.iter().collect::<Vec<_>>());
        let table = read_source(&policy, &NoProgress).unwrap();
        let bound = Bound::new(&policy, &table).unwrap();
        let local = Local { method: Method::Mondrian, strict: true, tight: false };
        let alone = recode(&bound, &bound.judge().unwrap(), local, &NoProgress).ok();
        let declared = declared_table(&policy).unwrap();
        let bound = Bound::new(&policy, &declared).unwrap();
        let attributes = bound.judged_domains().into_iter();
        let attributes =
            attributes.map(|(name, domain)| JointAttribute { name: name.to_owned(), domain: domain.clone() });
        let agreed: Agreed = agree(&bound, true, false).unwrap().declared(attributes.collect()).unwrap();
        let owner: Vec<usize> = (0..rows.len()).map(|row| row % 3).collect();
        let share = |site: usize| {
            write(folder.path(), &rows.iter().skip(site).step_by(3).collect::<Vec<_>>());
            Share::from_table(&agreed, &read_source(&policy, &NoProgress).unwrap(), "people.csv").unwrap()
        };
        let shares: Vec<Share> = (0..3).map(share).collect();
        let joined = rehearse(Profile::Masked, &Arc::new(agreed), shares, case).unwrap().joined;
        let (Some(joined), Some(alone)) = (&joined, &alone) else {
            assert_eq!(joined.is_some(), alone.is_some(), "one of them has no release: HEDGEROW_SEED={case}");
            continue;
        };
        let together = renamed(classes_by_row(joined, &owner));
        let expected = renamed(alone.of_row.iter().map(|class| *class as usize));
        assert_eq!(together, expected, "HEDGEROW_SEED={case}, missing values: {missing}");
        divided += usize::from(joined[0].classes.len() > 2);
        without += usize::from(!missing && joined[0].classes.len() > 2);
    }
    assert!(seed.is_some() || (divided > 100 && without > 40), "{divided} divided, {without} without missing values");
}
