//! Numbers in cloned releases, against an analyst who reads `sensitive.csv` line by line and knows
//! nothing else.

use std::collections::BTreeMap;

use hedgerow_release::bucketized::COUNT;
use hedgerow_release::cloned::{CLASS, Cloned, STATISTICS, kind_of};
use hedgerow_release::manifest::{FieldDescriptor, Resource};
use hedgerow_table::Kind;

use super::*;
use crate::kinds::cloned::{MeasuredClones, measure_clones};

/// Not in the order of their names, which is how a release knows them.
const QUASI: [&str; 3] = ["sex", "place", "area"];

/// A tuple of a release: its sub-class, a person unless it is counterfeit, and the text of its
/// number.
struct Tuple {
    class: usize,
    part: usize,
    person: Option<usize>,
    pay: String,
}

/// People and what was released of them; a missing value is an empty text.
struct Case {
    quasi: Vec<Vec<String>>,
    pay: Vec<String>,
    tuples: Vec<Tuple>,
    attributes: usize,
}

impl Case {
    /// Also of one person, one class, people who are all alike or all different, and without any
    /// number.
    fn random(rng: &mut StdRng) -> Case {
        let count = if rng.random_bool(0.1) { 1 } else { rng.random_range(1..25usize) };
        let (attributes, classes) = (rng.random_range(1..=QUASI.len()), rng.random_range(1..5usize));
        let [blank, suppressed, counterfeit] = [[0.0, 0.2, 0.9], [0.0, 0.2, 0.7], [0.0, 0.1, 0.5]]
            .map(|shares: [f64; 3]| shares[rng.random_range(0..3usize)]);
        let (people, numbers) = ([1, 3, 25][rng.random_range(0..3usize)], [1, 4, 25][rng.random_range(0..3usize)]);
        let kind = rng.random_range(0..3);
        // With 25 values, every person has their own.
        let mut drawn = |row: usize, variety: usize| if variety == 25 { row } else { rng.random_range(0..variety) };
        let quasi: Vec<Vec<usize>> =
            (0..count).map(|row| (0..attributes).map(|_| drawn(row, people)).collect()).collect();
        let pay: Vec<usize> = (0..count).map(|row| drawn(row, numbers)).collect();
        let mut or_missing = |text: String| if rng.random_bool(blank) { String::new() } else { text };
        let quasi = quasi.iter().map(|row| row.iter().map(|value| or_missing(format!("v{value}"))).collect()).collect();
        let pay: Vec<String> = pay.into_iter().map(|number| or_missing(text_of(number, kind))).collect();
        let mut tuples = Vec::new();
        for person in 0..count {
            if person == 0 || !rng.random_bool(suppressed) {
                let (class, part) = (rng.random_range(1..=classes), rng.random_range(0..2));
                tuples.push(Tuple { class, part, person: Some(person), pay: pay[person].clone() });
            }
            if rng.random_bool(counterfeit) {
                let (class, part) = (rng.random_range(1..=classes), rng.random_range(0..2));
                tuples.push(Tuple { class, part, person: None, pay: pay[rng.random_range(0..count)].clone() });
            }
        }
        Case { quasi, pay, tuples, attributes }
    }

    fn suppressed(&self) -> usize {
        self.pay.len() - self.tuples.iter().filter(|tuple| tuple.person.is_some()).count()
    }

    fn source(&self) -> Table {
        let header: Vec<&str> = QUASI[..self.attributes].iter().copied().chain(["pay"]).collect();
        let rows =
            self.quasi.iter().zip(&self.pay).map(|(quasi, pay)| [quasi.as_slice(), std::slice::from_ref(pay)].concat());
        table(&header, &rows.collect::<Vec<_>>())
    }

    fn sensitive_csv(&self) -> String {
        let lines = self.tuples.iter().map(|tuple| format!("{},{}", tuple.class, tuple.pay));
        format!("{CLASS},pay,{COUNT}\n{}", counted(lines))
    }

    fn statistics_csv(&self) -> String {
        let lines = self.tuples.iter().flat_map(|tuple| {
            let part = format!("{},{}{}", tuple.class, tuple.class, tuple.part);
            let shown = match tuple.person {
                None => vec![",counterfeits,".to_owned()],
                Some(person) => QUASI[..self.attributes]
                    .iter()
                    .zip(&self.quasi[person])
                    .map(|(name, value)| match value.as_str() {
                        "" => format!("{name},missing,"),
                        value => format!("{name},category,{value}"),
                    })
                    .collect(),
            };
            shown.into_iter().chain([",tuples,".to_owned()]).map(move |shown| format!("{part},{shown}"))
        });
        format!("{}\n{}", STATISTICS.join(","), counted(lines))
    }

    /// As an auditor gets it: written into files and read.
    fn released(&self, kind: Kind, seed: u64) -> Cloned {
        let directory = tempfile::tempdir().unwrap();
        let statistics = STATISTICS.map(|name| FieldDescriptor::new(name, kind_of(name), None)).to_vec();
        let statistics = Resource::csv("statistics", statistics);
        let fields = [(CLASS, Kind::Integer), ("pay", kind), (COUNT, Kind::Integer)];
        let sensitive =
            Resource::csv("sensitive", fields.map(|(name, kind)| FieldDescriptor::new(name, kind, None)).to_vec());
        std::fs::write(directory.path().join(&statistics.path), self.statistics_csv()).unwrap();
        std::fs::write(directory.path().join(&sensitive.path), self.sensitive_csv()).unwrap();
        let (read, contradictions) = Cloned::examine(directory.path(), &statistics, &sensitive, &NoProgress)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert!(contradictions.is_empty(), "seed {seed}: {contradictions:?}");
        read
    }

    /// People grouped by a part of what is known of them, each group with all that the release
    /// shows of its members.
    fn groups(&self, part: impl Fn(&[String]) -> Vec<String>, shown: &[(f64, f64)]) -> Vec<Group> {
        let mut groups: BTreeMap<Vec<String>, Vec<f64>> = BTreeMap::new();
        for (quasi, pay) in self.quasi.iter().zip(&self.pay) {
            groups.entry(part(quasi)).or_default().extend(number_of(pay));
        }
        let some = groups.into_values().filter(|numbers| !numbers.is_empty());
        some.map(|numbers| (numbers, shown.to_vec())).collect()
    }
}

/// Equal lines once, with how many there are.
fn counted(lines: impl Iterator<Item = String>) -> String {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    lines.for_each(|line| *counts.entry(line).or_default() += 1);
    counts.into_iter().map(|(line, count)| format!("{line},{count}\n")).collect()
}

/// A whole number, a fraction or a day of one month.
fn text_of(number: usize, kind: usize) -> String {
    match kind {
        0 => (7 * number as i64 - 20).to_string(),
        1 => (number as f64 / 4.0).to_string(),
        _ => format!("2020-03-{:02}", number + 1),
    }
}

/// Days are counted from the start of their month: only differences are shown.
fn number_of(text: &str) -> Option<f64> {
    text.strip_prefix("2020-03-").unwrap_or(text).parse().ok()
}

#[test]
fn people_in_clones_are_those_of_a_naive_analyst() {
    let mut measured = 0;
    for seed in seeds(300) {
        let case = Case::random(&mut StdRng::seed_from_u64(seed));
        let source = case.source();
        let read = case.released(source.column("pay").unwrap().domain.kind(), seed);
        let input = MeasuredClones {
            source: &source,
            released: &read,
            quasi: QUASI[..case.attributes].to_vec(),
            k: 1,
            rows_suppressed: case.suppressed() as u64,
        };
        let options = QueryOptions { count: 0, ..QueryOptions::default() };
        let found =
            measure_clones(&input, &options, &NoProgress).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let shown: Vec<(f64, f64)> = case
            .sensitive_csv()
            .lines()
            .filter_map(|line| {
                let [_, pay, count] = line.split(',').collect::<Vec<_>>()[..] else { panic!("seed {seed}: {line}") };
                Some((number_of(pay)?, count.parse().ok()?))
            })
            .collect();
        if shown.is_empty() {
            assert_eq!(found.numbers, [], "seed {seed}: no number was released");
            continue;
        }
        measured += 1;
        let [pay] = found.numbers.as_slice() else { panic!("seed {seed}: {:?}", found.numbers) };
        assert_eq!(pay.attribute, "pay", "seed {seed}");
        assert_close(pay.by_class, naive_error(&case.groups(<[String]>::to_vec, &shown)), seed);
        let names: Vec<&str> = pay.by_value.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, QUASI[..case.attributes], "seed {seed}");
        for (attribute, (_, errors)) in pay.by_value.iter().enumerate() {
            let groups = case.groups(|quasi| vec![quasi[attribute].clone()], &shown);
            assert_close(*errors, naive_error(&groups), seed);
        }
        let numbers: Vec<f64> = case.pay.iter().filter_map(|text| number_of(text)).collect();
        let [mean, ..] = naive(numbers.iter().map(|&number| (number, 1.0)).collect());
        let variance = numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / numbers.len() as f64;
        assert!((pay.deviation - variance.sqrt()).abs() < 1e-6, "seed {seed}: {} is not √{variance}", pay.deviation);
    }
    assert!(measured > 225 || seeds(300).count() == 1, "only {measured} releases showed a number");
}
