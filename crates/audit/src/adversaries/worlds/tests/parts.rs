//! Rows of buckets and values that the list of people tells, against every table that fits, one
//! after the other: each person has a value of p and one of s.

use std::collections::BTreeSet;

use hedgerow_release::bucketized::GROUP;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::testing::seeds;

const P: [&str; 2] = ["u", "v"];
const S: [&str; 3] = ["q", "r", "t"];

/// The values of a, b, p and s.
type Person = [&'static str; 4];

/// How a table shows an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shows {
    Not,
    Plain,
    /// As a label; `*` of everyone, or as it is.
    Quasi(bool),
}

/// One table: of each row the labels of a and b, those of p, and the bucket.
#[derive(Debug)]
struct Made {
    quasi: Vec<(&'static str, bool)>,
    p: Shows,
    /// The bucket of each row; `None` where s stands beside each row.
    buckets: Option<Vec<i64>>,
}

fn cover(_: &str, text: &str) -> Cover {
    match text {
        "*" => Cover::Everything,
        text => Cover::Leaves(vec![text.to_owned()]),
    }
}

fn made(rng: &mut StdRng, people: &[Person]) -> Made {
    let quasi = [("a", rng.random_bool(0.7)), ("b", rng.random_bool(0.7))];
    let mut quasi: Vec<(&'static str, bool)> = quasi.into_iter().filter(|_| rng.random_bool(0.7)).collect();
    if quasi.is_empty() {
        quasi.push(("a", true));
    }
    let p = *[Shows::Not, Shows::Plain, Shows::Plain, Shows::Quasi(true), Shows::Quasi(false)].choose(rng).unwrap();
    let buckets = rng.random_bool(0.5).then(|| people.iter().map(|_| rng.random_range(0..2)).collect());
    Made { quasi, p, buckets }
}

impl Made {
    fn names(&self) -> Vec<&'static str> {
        let p = (self.p != Shows::Not).then_some("p");
        self.quasi.iter().map(|(name, _)| *name).chain(p).collect()
    }

    fn quasi_names(&self) -> Vec<String> {
        self.names().into_iter().filter(|name| *name != "p" || self.p != Shows::Plain).map(str::to_owned).collect()
    }

    fn cells(&self, person: &Person) -> Vec<&'static str> {
        let of = |&(name, is_exact): &(&str, bool)| match (name, is_exact) {
            (_, false) => "*",
            ("a", true) => person[0],
            _ => person[1],
        };
        let p = match self.p {
            Shows::Not => None,
            Shows::Quasi(false) => Some("*"),
            Shows::Plain | Shows::Quasi(true) => Some(person[2]),
        };
        self.quasi.iter().map(of).chain(p).collect()
    }

    /// Whether people with these values of p and s can be the rows.
    fn fits(
        &self,
        people: &[Person],
        values: &[(usize, usize)],
        taken: &mut Vec<usize>,
        counts: &mut [[i32; 3]; 2],
    ) -> bool {
        let Some(person) = people.get(taken.len()) else { return true };
        let (p, s) = values[taken.len()];
        let own = [person[0], person[1], P[p], S[s]];
        for row in 0..people.len() {
            let of_row = self.cells(&people[row]);
            let is_alike = self.cells(&own).iter().zip(&of_row).all(|(own, label)| *label == "*" || own == label);
            let bucket = self.buckets.as_ref().map(|buckets| buckets[row] as usize);
            let has_value = match bucket {
                None => people[row][3] == S[s],
                Some(bucket) => counts[bucket][s] > 0,
            };
            if taken.contains(&row) || !is_alike || !has_value {
                continue;
            }
            taken.push(row);
            bucket.into_iter().for_each(|bucket| counts[bucket][s] -= 1);
            let found = self.fits(people, values, taken, counts);
            bucket.into_iter().for_each(|bucket| counts[bucket][s] += 1);
            taken.pop();
            if found {
                return true;
            }
        }
        false
    }

    fn counts(&self, people: &[Person]) -> [[i32; 3]; 2] {
        let mut counts = [[0; 3]; 2];
        for (person, &bucket) in people.iter().zip(self.buckets.iter().flatten()) {
            counts[bucket as usize][S.iter().position(|s| *s == person[3]).unwrap()] += 1;
        }
        counts
    }
}

/// By person, the values of s that some table gives them.
fn every_table(people: &[Person], tables: &[Made]) -> Vec<BTreeSet<usize>> {
    let is_known = tables.iter().any(|table| matches!(table.p, Shows::Quasi(_)));
    let mut left = vec![BTreeSet::new(); people.len()];
    for mut number in 0..6usize.pow(people.len() as u32) {
        let mut values = Vec::new();
        for _ in people {
            values.push((number % 6 / 3, number % 3));
            number /= 6;
        }
        let is_so = |(person, (p, _)): (&Person, &(usize, usize))| person[2] == P[*p];
        if is_known && !people.iter().zip(&values).all(is_so) {
            continue;
        }
        if tables.iter().all(|table| table.fits(people, &values, &mut Vec::new(), &mut table.counts(people))) {
            for (left, (_, s)) in left.iter_mut().zip(&values) {
                left.insert(*s);
            }
        }
    }
    left
}

/// A table as a release.
struct Opened {
    rows: Table,
    classes: ReleasedClasses,
    buckets: Vec<u32>,
    numbers: Vec<i64>,
}

fn opened(made: &Made, people: &[Person]) -> Opened {
    let last = if made.buckets.is_some() { GROUP } else { "s" };
    let names: Vec<&str> = made.names().into_iter().chain([last]).collect();
    let groups: Vec<String> = made.buckets.iter().flatten().map(i64::to_string).collect();
    let rows: Vec<Vec<&str>> = people
        .iter()
        .enumerate()
        .map(|(row, person)| {
            let last = groups.get(row).map_or(person[3], String::as_str);
            made.cells(person).into_iter().chain([last]).collect()
        })
        .collect();
    let rows = Table::from_texts(&names, &rows);
    let quasi = made.quasi_names();
    let Some(buckets) = &made.buckets else {
        let classes = ReleasedClasses::of_generalized("t", &rows, &quasi, &["s".to_owned()], cover, "t").unwrap();
        return Opened { rows, classes, buckets: Vec::new(), numbers: Vec::new() };
    };
    let mut numbers = buckets.clone();
    numbers.sort_unstable();
    numbers.dedup();
    let place = |number: &i64| numbers.iter().position(|own| own == number).unwrap() as u32;
    let all = made.counts(people);
    let cells = numbers.iter().flat_map(|number| {
        let own = all[*number as usize];
        (0..3u32).map(move |s| (*number, s, own[s as usize] as u32)).collect::<Vec<_>>()
    });
    let cells = cells.map(|(number, s, count)| (place(&number), s, count)).filter(|(.., count)| *count > 0).collect();
    let counts = SensitiveCounts::new("s".to_owned(), S.map(str::to_owned).to_vec(), numbers.len(), cells);
    let classes = ReleasedClasses::of_bucketized("t", &rows, &quasi, vec![counts], cover, "t").unwrap();
    let buckets = buckets.iter().map(place).collect();
    Opened { rows, classes, buckets, numbers }
}

/// Whether it was exact, the people at risk, and whether p was of any use.
fn examine(seed: u64) -> (bool, usize, bool) {
    let mut rng = StdRng::seed_from_u64(seed);
    let count = rng.random_range(2..6);
    let mut person = || -> Person {
        let [a, b] = [["k", "l", "m"][rng.random_range(0..3)], ["x", "y"][rng.random_range(0..2)]];
        [a, b, P[rng.random_range(0..2)], S[rng.random_range(0..3)]]
    };
    let people: Vec<Person> = (0..count).map(|_| person()).collect();
    let tables: Vec<Made> = (0..rng.random_range(1..4)).map(|_| made(&mut rng, &people)).collect();
    let opened: Vec<Opened> = tables.iter().map(|made| opened(made, &people)).collect();
    let names = ["1", "2", "3"];
    let released: Vec<Released<'_>> = opened
        .iter()
        .zip(names)
        .map(|(opened, name)| {
            let own = Released::of(name, &opened.classes);
            let by_bucket = BucketRows { rows: &opened.rows, bucket_of_row: &opened.buckets, numbers: &opened.numbers };
            match opened.numbers.is_empty() {
                true => Released { rows: Some(&opened.rows), ..own },
                false => Released { by_bucket: Some(by_bucket), ..own },
            }
        })
        .collect();
    let found = attack_with(&released, Some(&table(&["a", "b", "p", "s"], &people)), Columns::All);
    let left = every_table(&people, &tables);
    let certain: Vec<u32> = (0..).zip(&left).filter(|(_, left)| left.len() == 1).map(|(person, _)| person).collect();
    let is_true = found.people_at_risk.iter().all(|person| certain.contains(person));
    assert!(is_true, "seed {seed}: {found:?}, every table of {certain:?}: {people:?} {tables:?}");
    let is_exact = found.details["exact"] == true;
    if is_exact {
        assert_eq!(found.people_at_risk, certain, "seed {seed}: {found:?} {people:?} {tables:?}");
        let least = left.iter().map(|left| left.len() as u64).min();
        assert_eq!(found.effective_l, least, "seed {seed}: {found:?} {people:?} {tables:?}");
    }
    let plain = tables.iter().filter(|table| table.p != Shows::Not).count();
    (is_exact, certain.len(), plain > 1)
}

#[test]
fn rows_of_buckets_and_known_values_are_used_as_every_table_uses_them() {
    let (mut exact, mut exposed, mut linked, mut all) = (0, 0, 0, 0);
    for seed in seeds(400) {
        let (is_exact, certain, is_linked) = examine(seed);
        all += 1;
        exact += u32::from(is_exact && is_linked);
        exposed += u32::from(certain > 0 && is_linked);
        linked += u32::from(is_linked);
    }
    println!("{all} settings, {linked} linked by p, of these {exact} exact and {exposed} with someone exposed");
    assert!(all < 400 || (exact * 2 > linked && exposed > 20), "{exact} {exposed} {linked}");
}
