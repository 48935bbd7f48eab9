//! Conclusions of an adversary from buckets, by enumerating every table that could lie behind a
//! release.
//!
//! Tiny random tables are published; then all ways to give the counted values to the rows of their
//! groups are written down, each as likely as the others, and the adversary, who knows some of
//! a person's quasi values, counts. This is the posterior that every guarantee bounds, whatever
//! number of groups those quasi values lead to.
//!
//! `HEDGEROW_SEED=… cargo test -p hedgerow-publish posterior` replays one case.

use std::collections::BTreeMap;
use std::path::Path;

use hedgerow_policy::Policy;
use hedgerow_publish::{PublishError, PublishOptions, RowSource, publish};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

/// The requirement of a case, which also bounds its posterior by the same number.
#[derive(Debug, Clone, Copy)]
enum Required {
    Frequency(f64),
    Distinct(usize),
    Entropy(f64),
    Recursive(f64, usize),
    Close(f64),
}

impl Required {
    fn toml(self) -> String {
        match self {
            Required::Frequency(l) => format!("{{ model = \"frequency-l-diversity\", l = {l} }}"),
            Required::Distinct(l) => format!("{{ model = \"distinct-l-diversity\", l = {l} }}"),
            Required::Entropy(l) => format!("{{ model = \"entropy-l-diversity\", l = {l} }}"),
            Required::Recursive(c, l) => format!("{{ model = \"recursive-l-diversity\", c = {c}, l = {l} }}"),
            Required::Close(t) => format!("{{ model = \"t-closeness\", t = {t} }}"),
        }
    }

    /// From the definitions, for probabilities of all values of the table, whose shares in it are
    /// `prior`.
    fn holds(self, posterior: &[f64], prior: &[f64]) -> bool {
        const SLACK: f64 = 1e-9;
        let mut falling: Vec<f64> = posterior.iter().copied().filter(|&share| share > SLACK).collect();
        falling.sort_by(|a, b| b.total_cmp(a));
        match self {
            Required::Frequency(l) => falling[0] <= 1.0 / l + SLACK,
            Required::Distinct(l) => falling.len() >= l,
            Required::Entropy(l) => -falling.iter().map(|share| share * share.ln()).sum::<f64>() >= l.ln() - SLACK,
            Required::Recursive(c, l) => falling[0] < c * falling.iter().skip(l - 1).sum::<f64>() + SLACK,
            Required::Close(t) => {
                posterior.iter().zip(prior).map(|(here, there)| (here - there).abs()).sum::<f64>() / 2.0 <= t + SLACK
            }
        }
    }
}

/// A release as its two files list it.
struct Release {
    /// Two quasi values and the group of every row.
    rows: Vec<([String; 2], String)>,
    /// The values of each group, as often as they are counted.
    groups: BTreeMap<String, Vec<String>>,
}

fn lines(path: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

impl Release {
    fn read(directory: &Path) -> Release {
        let rows = lines(&directory.join("quasi.csv"));
        let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for line in lines(&directory.join("sensitive.csv")) {
            let values = groups.entry(line[0].clone()).or_default();
            values.extend(vec![line[1].clone(); line[2].parse().unwrap()]);
        }
        let row = |line: Vec<String>| ([line[0].clone(), line[1].clone()], line[2].clone());
        Release { rows: rows.into_iter().map(row).collect(), groups }
    }

    /// Every way to give the counted values to the rows: one value for each row.
    fn worlds(&self) -> Vec<Vec<String>> {
        let mut worlds = Vec::new();
        self.extend(&mut Vec::new(), &mut self.groups.clone(), &mut worlds);
        worlds
    }

    fn extend(&self, world: &mut Vec<String>, left: &mut BTreeMap<String, Vec<String>>, worlds: &mut Vec<Vec<String>>) {
        let Some((_, group)) = self.rows.get(world.len()) else {
            worlds.push(world.clone());
            return;
        };
        let mut values = left[group].clone();
        values.sort();
        values.dedup();
        for value in values {
            let pile = left.get_mut(group).unwrap();
            let at = pile.iter().position(|other| *other == value).unwrap();
            pile.swap_remove(at);
            world.push(value.clone());
            self.extend(world, left, worlds);
            world.pop();
            left.get_mut(group).unwrap().push(value);
        }
    }
}

#[test]
fn posteriors_keep_what_is_required_whatever_the_adversary_knows() {
    if let Some(seed) = std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse().ok()) {
        examine(seed);
        return;
    }
    let (mut published, mut several) = (0, 0);
    for seed in 0..250 {
        if let Some(mixtures) = examine(seed) {
            published += 1;
            several += usize::from(mixtures > 0);
        }
    }
    assert!(published > 90 && several > 30, "{published} published, {several} with values that lead to several groups");
}

/// How many combinations of known values led to several groups; `None` when no buckets can meet the
/// policy.
fn examine(seed: u64) -> Option<usize> {
    let mut rng = StdRng::seed_from_u64(seed);
    let rows = rng.random_range(1..=8);
    let values = rng.random_range(1..=5);
    let table: Vec<[u32; 3]> =
        (0..rows).map(|_| [rng.random_range(0..2), rng.random_range(0..3), rng.random_range(0..values)]).collect();
    let required = match rng.random_range(0..6) {
        0 | 1 => Required::Frequency(*[1.5, 2.0, 2.5, 3.0].choose(&mut rng).unwrap()),
        2 => Required::Distinct(rng.random_range(1..=3)),
        3 => Required::Entropy(*[1.5, 2.0, 2.5].choose(&mut rng).unwrap()),
        4 => Required::Recursive(*[0.6, 1.0, 2.0].choose(&mut rng).unwrap(), rng.random_range(1..=3)),
        _ => Required::Close(*[0.2, 0.4, 0.6].choose(&mut rng).unwrap()),
    };
    let folder = tempfile::tempdir().unwrap();
    let text: String = table.iter().map(|[a, b, s]| format!("a{a},b{b},s{s}\n")).collect();
    std::fs::write(folder.path().join("t.csv"), format!("a,b,s\n{text}")).unwrap();
    let policy = format!(
        "[source]\npath = \"t.csv\"\n[attributes]\na = {{ role = \"quasi\" }}\nb = {{ role = \"quasi\" }}\n\
         s = {{ role = \"sensitive\" }}\n[[rule]]\nprotect = \"s\"\nrequire = {}\n[publish]\nmethod = \"anatomy\"\nassignment = \"{}\"\n",
        required.toml(),
        ["order", "random"].choose(&mut rng).unwrap(),
    );
    let parsed = Policy::parse(&policy, &folder.path().join("policy.toml")).unwrap();
    let options = PublishOptions::to(folder.path().join("release"));
    match publish(&parsed, RowSource::Policy, &options) {
        Ok(_) => {}
        Err(PublishError::Ineligible(_)) => return None,
        Err(error) => panic!("seed {seed}: {error}"),
    }
    let release = Release::read(&options.destination);
    let prior = shares(&table.iter().map(|[_, _, s]| format!("s{s}")).collect::<Vec<_>>(), values);
    let worlds = release.worlds();
    let mut mixtures = 0;
    for known in [[true, true], [true, false], [false, true]] {
        let seen_of = |row: usize| -> Vec<&String> {
            release.rows[row].0.iter().zip(known).filter(|(_, known)| *known).map(|(value, _)| value).collect()
        };
        let mut persons: BTreeMap<Vec<&String>, Vec<usize>> = BTreeMap::new();
        for row in 0..release.rows.len() {
            persons.entry(seen_of(row)).or_default().push(row);
        }
        for (seen, rows) in &persons {
            let outcomes: Vec<String> =
                worlds.iter().flat_map(|world| rows.iter().map(|&row| world[row].clone())).collect();
            let posterior = shares(&outcomes, values);
            assert!(required.holds(&posterior, &prior), "seed {seed}: {seen:?}: {posterior:?}\n{text}{policy}");
            mixtures += usize::from(rows.iter().any(|&row| release.rows[row].1 != release.rows[rows[0]].1));
        }
    }
    Some(mixtures)
}

fn shares(outcomes: &[String], values: u32) -> Vec<f64> {
    let count = |value: u32| outcomes.iter().filter(|outcome| **outcome == format!("s{value}")).count();
    (0..values).map(|value| count(value) as f64 / outcomes.len() as f64).collect()
}
