//! Adversaries against classes of neighbors: all ways to give the rows of a release to people, and
//! all tables that the method could have made it from, enumerated on small tables.
//!
//! A failure prints its seed; `HEDGEROW_SEED=… cargo test -p hedgerow-publish cluster_adversaries`
//! replays that case alone.

use std::collections::BTreeMap;
use std::path::Path;

use hedgerow_audit::adversaries::minimality::HowMade;
use hedgerow_audit::{Adversary, AuditOptions, audit};
use hedgerow_policy::{ClassLabels, Method, Policy};
use hedgerow_publish::bind::{Bound, read_source};
use hedgerow_publish::cluster::{self, ImproveLimit, Neighbors};
use hedgerow_publish::local::{self, Local};
use hedgerow_publish::{PublishOptions, RowSource, publish};
use hedgerow_release::Release;
use hedgerow_table::Table;
use hedgerow_table::progress::NoProgress;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::cluster::{CUTS, neighbors, seeds};

/// Five or six people with an age and a town, and one of two or three illnesses.
fn ill(seed: u64) -> (Vec<[String; 2]>, Vec<u32>, u32) {
    let mut rng = StdRng::seed_from_u64(seed);
    let rows = rng.random_range(4..=6);
    let values = rng.random_range(2..=3u32);
    let people = (0..rows)
        .map(|_| [rng.random_range(20..24u32).to_string(), format!("t{}", rng.random_range(0..3u32))])
        .collect();
    (people, (0..rows).map(|_| rng.random_range(0..values)).collect(), values)
}

/// Sets most often, and what has no hierarchy else.
fn labels_of(seed: u64) -> ClassLabels {
    if seed.is_multiple_of(3) { ClassLabels::Hierarchy } else { ClassLabels::Set }
}

fn policy_text(require: &str) -> String {
    format!(
        "[source]\npath = \"t.csv\"\n[attributes]\nage = {{ role = \"quasi\" }}\ntown = {{ role = \"quasi\" }}\n\
         illness = {{ role = \"sensitive\" }}\n[[rule]]\nprotect = \"illness\"\nrequire = {require}\n"
    )
}

/// The released cells and class of every person. `None` when nothing is released.
fn released(
    people: &[[String; 2]],
    illnesses: &[u32],
    require: &str,
    labels: ClassLabels,
) -> Option<(Vec<Vec<String>>, Vec<u32>)> {
    released_by(Method::Cluster, people, illnesses, require, labels)
}

fn released_by(
    method: Method,
    people: &[[String; 2]],
    illnesses: &[u32],
    require: &str,
    labels: ClassLabels,
) -> Option<(Vec<Vec<String>>, Vec<u32>)> {
    let shown: Vec<String> = illnesses.iter().map(|illness| format!("i{illness}")).collect();
    let rows: Vec<Vec<&str>> =
        people.iter().zip(&shown).map(|([age, town], illness)| vec![age.as_str(), town, illness]).collect();
    let table = Table::from_texts(&["age", "town", "illness"], &rows);
    let policy = Policy::parse(&policy_text(require), Path::new("policy.toml")).unwrap();
    let bound = Bound::new(&policy, &table).unwrap();
    let judge = bound.judge().unwrap();
    let found = if method == Method::Cluster {
        let neighbors = Neighbors { labels, ..neighbors(ImproveLimit::None) };
        cluster::recode(&bound, &judge, CUTS, neighbors, &NoProgress).ok()?
    } else {
        local::recode(&bound, &judge, Local { method, ..CUTS }, &NoProgress).ok()?
    };
    let cells = |row: usize| {
        let class = found.of_row[row] as usize;
        found.cells.iter().map(|cells| cells.labels[cells.of_class[class] as usize].text.clone()).collect()
    };
    Some(((0..table.rows).map(cells).collect(), found.of_row.clone()))
}

/// Whether a person with these texts can be in a row with these cells, which are sets and ranges.
fn fits(person: &[String; 2], cells: &[String]) -> bool {
    let age: u32 = person[0].parse().unwrap();
    let in_range = match cells[0].split_once(" to ") {
        Some((low, high)) => (low.parse().unwrap()..=high.parse().unwrap()).contains(&age),
        None => cells[0] == "*" || cells[0] == person[0],
    };
    in_range && (cells[1] == "*" || cells[1].split([',', ' ']).any(|town| town == person[1]))
}

/// A requirement, as a policy states it, and whether a belief about a person keeps it: the share of
/// every illness, beside the shares in the table.
type Bounded = (&'static str, fn(&[f64], &[f64]) -> bool);

const SLACK: f64 = 1e-9;

fn most(shares: &[f64]) -> f64 {
    shares.iter().copied().fold(0.0, f64::max)
}

fn entropy(shares: &[f64]) -> f64 {
    shares.iter().filter(|&&share| share > 0.0).map(|share| -share * share.log2()).sum()
}

const BOUNDED: [Bounded; 7] = [
    ("{ model = \"distinct-l-diversity\", l = 2 }", |shares, _| most(shares) < 1.0 - SLACK),
    ("{ model = \"frequency-l-diversity\", l = 2 }", |shares, _| most(shares) <= 0.5 + SLACK),
    ("{ model = \"entropy-l-diversity\", l = 1.8 }", |shares, _| entropy(shares) >= 1.8f64.log2() - SLACK),
    ("{ model = \"recursive-l-diversity\", c = 2, l = 2 }", |shares, _| {
        most(shares) < 2.0 * (1.0 - most(shares)) + SLACK
    }),
    ("{ model = \"t-closeness\", t = 0.2 }", |shares, table| {
        shares.iter().zip(table).map(|(share, whole)| (share - whole).abs()).sum::<f64>() / 2.0 <= 0.2 + SLACK
    }),
    ("{ model = \"alpha-k-anonymity\", alpha = 0.5, k = 2 }", |shares, _| most(shares) <= 0.5 + SLACK),
    ("{ model = \"alpha-k-anonymity\", alpha = 0.7, k = 3 }", |shares, _| most(shares) <= 0.7 + SLACK),
];

/// The belief about a person, and the shares in the table.
fn shares(given: &BTreeMap<u32, u64>, illnesses: &[u32], values: u32) -> (Vec<f64>, Vec<f64>) {
    let ways: u64 = given.values().sum();
    let share = |illness: u32| given.get(&illness).map_or(0.0, |&count| count as f64 / ways as f64);
    let whole =
        |illness: u32| illnesses.iter().filter(|&&other| other == illness).count() as f64 / illnesses.len() as f64;
    ((0..values).map(share).collect(), (0..values).map(whole).collect())
}

/// An adversary who knows every person's age and town, and that all are in the release, but not
/// how it was made: all ways to give the released rows to people whose values their cells cover are
/// equally likely. Sets tell who can be where, and still no more than the guarantee allows.
#[test]
fn sets_disclose_no_more_than_the_guarantee() {
    for (require, keeps) in BOUNDED {
        let mut releases = 0;
        for seed in seeds(200) {
            let (people, illnesses, values) = ill(seed);
            let Some((cells, _)) = released(&people, &illnesses, require, labels_of(seed)) else { continue };
            releases += 1;
            let mut given: Vec<BTreeMap<u32, u64>> = vec![BTreeMap::new(); people.len()];
            let mut rows: Vec<usize> = Vec::new();
            assign(&people, &cells, &mut rows, &mut |rows| {
                for (given, &row) in given.iter_mut().zip(rows) {
                    *given.entry(illnesses[row]).or_default() += 1;
                }
            });
            for counts in &given {
                assert!(!counts.is_empty(), "seed {seed}: the truth is a way");
                let (believed, whole) = shares(counts, &illnesses, values);
                assert!(keeps(&believed, &whole), "seed {seed}, {require}: {believed:?} beside {whole:?}");
            }
        }
        assert!(releases > 50 || std::env::var("HEDGEROW_SEED").is_ok(), "{require}: {releases} releases");
    }
}

/// All ways to give every person a row that fits.
fn assign(people: &[[String; 2]], cells: &[Vec<String>], rows: &mut Vec<usize>, found: &mut impl FnMut(&[usize])) {
    if rows.len() == people.len() {
        return found(rows);
    }
    for row in 0..cells.len() {
        if !rows.contains(&row) && fits(&people[rows.len()], &cells[row]) {
            rows.push(row);
            assign(people, cells, rows, found);
            rows.pop();
        }
    }
}

/// By person how often every illness is theirs, over all tables with these people from which the
/// method would have made the same release.
fn worlds(
    method: Method,
    people: &[[String; 2]],
    illnesses: &[u32],
    values: u32,
    require: &str,
    labels: ClassLabels,
) -> Option<Vec<BTreeMap<u32, u64>>> {
    let view = |illnesses: &[u32]| {
        let (cells, _) = released_by(method, people, illnesses, require, labels)?;
        let mut rows: Vec<(Vec<String>, u32)> = cells.into_iter().zip(illnesses.iter().copied()).collect();
        rows.sort();
        Some(rows)
    };
    let seen = view(illnesses)?;
    let mut given: Vec<BTreeMap<u32, u64>> = vec![BTreeMap::new(); people.len()];
    let sorted = |illnesses: &[u32]| {
        let mut illnesses = illnesses.to_vec();
        illnesses.sort_unstable();
        illnesses
    };
    for world in 0..u64::from(values).pow(people.len() as u32) {
        let guessed: Vec<u32> = (0..people.len() as u32)
            .map(|row| (world / u64::from(values).pow(row) % u64::from(values)) as u32)
            .collect();
        // The release shows how often every illness occurs.
        if sorted(&guessed) == sorted(illnesses) && view(&guessed).is_some_and(|view| view == seen) {
            given.iter_mut().zip(&guessed).for_each(|(given, &illness)| *given.entry(illness).or_default() += 1);
        }
    }
    Some(given)
}

/// An adversary who also knows the method, and tries it on every table that there could be
/// (minimality). Where rules look at sizes alone, the method never looks at an illness, and nothing
/// is learned beyond the shares of classes.
#[test]
fn knowing_the_method_discloses_nothing_under_rules_about_sizes() {
    for seed in seeds(60) {
        let (people, illnesses, values) = ill(seed);
        let require = "{ model = \"k-anonymity\", k = 2 }";
        let labels = labels_of(seed);
        let Some((_, classes)) = released(&people, &illnesses, require, labels) else { continue };
        let given = worlds(Method::Cluster, &people, &illnesses, values, require, labels).expect("there is a release");
        for (person, counts) in given.iter().enumerate() {
            let worlds: u64 = counts.values().sum();
            let class: Vec<u32> =
                (0..people.len()).filter(|&row| classes[row] == classes[person]).map(|row| illnesses[row]).collect();
            for (illness, &count) in counts {
                let share = class.iter().filter(|other| *other == illness).count() as u64;
                assert_eq!(count * class.len() as u64, share * worlds, "seed {seed}, person {person}");
            }
        }
    }
}

/// A counterexample to more than that. Two people of one age and four of another: the two could be
/// a class by themselves unless they have the same illness, and only one illness occurs twice. Who
/// knows the method knows theirs, although it is half of their class at most. So with all methods
/// that divide as far as the rules allow.
#[test]
fn knowing_the_method_discloses_more_under_rules_about_illnesses() {
    let people = ["20", "20", "30", "30", "30", "30"].map(|age| [age.to_owned(), "t".to_owned()]);
    let illnesses = [0, 0, 1, 2, 3, 4];
    let require = "{ model = \"frequency-l-diversity\", l = 2 }";
    for method in [Method::Cluster, Method::BestCut, Method::Mondrian] {
        let (cells, classes) = released_by(method, &people, &illnesses, require, ClassLabels::Set).unwrap();
        assert_eq!([&cells[0][0], &cells[1][0]], ["20 to 30"; 2], "{method:?}");
        let rows = classes.iter().filter(|&&class| class == classes[0]).count();
        assert!(rows >= 4, "{method:?}: a class of {rows} rows");
        let given = worlds(method, &people, &illnesses, 5, require, ClassLabels::Set).unwrap();
        let certain = |person: usize| given[person].len() == 1 && given[person].contains_key(&0);
        assert!(certain(0) && certain(1), "{method:?}: {given:?}");
    }
}

/// The audit's adversaries, with all quasi values and the method known to them.
#[test]
fn the_confidence_of_no_adversary_of_the_audit_exceeds_the_guarantee() {
    let (mut releases, mut examined) = (0, 0);
    for seed in seeds(60) {
        let (people, illnesses, _) = ill(seed);
        let folder = tempfile::tempdir().unwrap();
        let rows = people.iter().zip(&illnesses).map(|([age, town], illness)| format!("{age},{town},i{illness}\n"));
        std::fs::write(folder.path().join("t.csv"), format!("age,town,illness\n{}", rows.collect::<String>())).unwrap();
        let (diversity, surest) = [("distinct", 1.0 - 2.0 * SLACK), ("frequency", 0.5)][seed as usize % 2];
        let require =
            format!("[{{ model = \"k-anonymity\", k = 2 }}, {{ model = \"{diversity}-l-diversity\", l = 2 }}]");
        let text = format!("{}[publish]\nmethod = \"cluster\"\nimprove = true\n", policy_text(&require));
        let policy = Policy::parse(&text, &folder.path().join("policy.toml")).unwrap();
        let options = PublishOptions { seed: Some(seed), ..PublishOptions::to(folder.path().join("release")) };
        let Ok(published) = publish(&policy, RowSource::Policy, &options) else { continue };
        releases += 1;
        let release = Release::open(&published.release, &NoProgress).unwrap();
        let people = read_source(&policy, &NoProgress).unwrap();
        let made = Some(HowMade { hierarchies: &[], suppression: false, loss: None });
        let adversaries = vec![Adversary::Attribute, Adversary::Minimality, Adversary::Definetti];
        let options = AuditOptions { people: Some(&people), adversaries, made, ..AuditOptions::default() };
        let found = audit(&[release], &options).unwrap();
        assert!(found.contradictions.is_empty(), "seed {seed}: {:?}", found.contradictions);
        for name in ["attribute", "minimality", "definetti"] {
            let finding = found.findings.iter().find(|finding| finding.adversary.name() == name);
            let finding = finding.unwrap_or_else(|| panic!("seed {seed}: no {name} among {:?}", found.findings));
            assert!(finding.max_confidence <= surest + SLACK, "seed {seed}: {finding:?}");
            assert_eq!(finding.at_risk, 0, "seed {seed}: {finding:?}");
            examined += finding.people;
        }
    }
    assert!(releases > 10 && examined > 0 || std::env::var("HEDGEROW_SEED").is_ok(), "{releases} releases");
}
