//! Random tables, and the releases that they are.

use hedgerow_release::kinds::bucketized::GROUP;
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom};

use super::*;
use crate::adversaries::testing::cover;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Absent,
    Quasi,
    Plain,
    Sensitive,
    /// In buckets.
    Counted,
}

/// A released table: by row, the label of each column; of buckets, the number of each row's.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) roles: [Role; 5],
    pub(super) rows: Vec<[String; 5]>,
    pub(super) buckets: Vec<usize>,
    pub(super) suppressed: u64,
}

pub(super) fn person(rng: &mut StdRng, missing: bool) -> Person {
    let mut value = |column: usize| {
        let all = domain(column);
        *all[..all.len() - usize::from(!missing || rng.random_bool(0.7))].choose(rng).unwrap()
    };
    [0, 1, 2, 3, 4].map(&mut value)
}

fn label(rng: &mut StdRng, value: &str) -> String {
    let Ok(number) = value.parse::<i64>() else {
        return if rng.random_bool(0.4) { "*".to_owned() } else { value.to_owned() };
    };
    match rng.random_range(0..5) {
        0 => "*".to_owned(),
        1 | 2 => value.to_owned(),
        _ => format!("{}..{}", number - rng.random_range(0..2), number + rng.random_range(1..3)),
    }
}

pub(super) fn made(rng: &mut StdRng, people: &[Person], missing: bool) -> Made {
    let mut people = people.to_vec();
    if rng.random_bool(0.3) {
        match rng.random_range(0..3) {
            0 => people.push(person(rng, missing)),
            1 if people.len() > 1 => drop(people.remove(rng.random_range(0..people.len()))),
            _ => {
                let at = rng.random_range(0..people.len());
                people[at] = person(rng, missing);
            }
        }
    }
    let mut suppressed = 0;
    if people.len() > 1 && rng.random_bool(0.15) {
        people.remove(rng.random_range(0..people.len()));
        suppressed = 1;
    }
    people.shuffle(rng);
    let mut role = |column: usize| match (column, rng.random_range(0..10)) {
        (0 | 1, 0..6) => Role::Quasi,
        (0 | 1, 6) => Role::Plain,
        (2, 0..3) => Role::Quasi,
        (2, 3..6) => Role::Plain,
        (S, 0..7) => Role::Sensitive,
        (S, 7) => Role::Plain,
        (S, 8) if column == S => Role::Quasi,
        (4, 0..3) => Role::Sensitive,
        (4, 3) => Role::Plain,
        _ => Role::Absent,
    };
    let mut roles = [0, 1, 2, S, 4].map(&mut role);
    if roles[..3].iter().all(|role| *role != Role::Quasi) {
        roles[rng.random_range(0..2)] = Role::Quasi;
    }
    let mut buckets = Vec::new();
    if roles[S] == Role::Sensitive && roles[4] != Role::Sensitive && rng.random_bool(0.2) {
        roles[S] = Role::Counted;
        buckets = people.iter().map(|_| rng.random_range(0..2)).collect();
    }
    let rows = people.iter().map(|person| {
        [0, 1, 2, S, 4].map(|column| match roles[column] {
            Role::Quasi => label(rng, person[column]),
            _ => person[column].to_owned(),
        })
    });
    Made { roles, rows: rows.collect(), buckets, suppressed }
}

impl Made {
    pub(super) fn has(&self, column: usize, role: Role) -> bool {
        self.roles[column] == role
    }

    /// Whether a row can be of a person, as far as one column tells it.
    pub(super) fn says(&self, row: usize, column: usize, value: &str) -> bool {
        let label = self.rows[row][column].as_str();
        match self.roles[column] {
            Role::Absent | Role::Counted => true,
            Role::Quasi => match label.split_once("..") {
                _ if label == "*" => true,
                Some((low, high)) => {
                    let within = |value: i64| (low.parse().unwrap()..high.parse::<i64>().unwrap()).contains(&value);
                    value.parse().is_ok_and(within)
                }
                None => label == value,
            },
            Role::Plain | Role::Sensitive => label == value,
        }
    }

    /// The rows that can be of a person of whom some values are known.
    pub(super) fn fitting(&self, known: &[Option<&str>; 5]) -> Vec<usize> {
        let is_so = |row: &usize, column: usize| {
            !self.has(column, Role::Quasi) || known[column].is_none_or(|value| self.says(*row, column, value))
        };
        (0..self.rows.len()).filter(|row| (0..5).all(|column| is_so(row, column))).collect()
    }
}

/// A table as a release.
pub(super) struct Opened {
    pub(super) rows: Table,
    pub(super) classes: ReleasedClasses,
    pub(super) bucket_of_row: Vec<u32>,
    pub(super) numbers: Vec<i64>,
}

pub(super) fn opened(made: &Made) -> Opened {
    let shown: Vec<usize> =
        (0..5).filter(|&column| ![Role::Absent, Role::Counted].contains(&made.roles[column])).collect();
    let of = |role: Role| -> Vec<String> {
        (0..5).filter(|&column| made.roles[column] == role).map(|column| COLUMNS[column].to_owned()).collect()
    };
    let is_counted = made.has(S, Role::Counted);
    let names: Vec<&str> = shown.iter().map(|&column| COLUMNS[column]).chain(is_counted.then_some(GROUP)).collect();
    let groups: Vec<String> = made.buckets.iter().map(usize::to_string).collect();
    let rows: Vec<Vec<&str>> = made
        .rows
        .iter()
        .enumerate()
        .map(|(row, cells)| {
            let group = groups.get(row).map(String::as_str);
            shown.iter().map(|&column| cells[column].as_str()).chain(group).collect()
        })
        .collect();
    let rows = Table::from_texts(&names, &rows);
    if !is_counted {
        let classes =
            ReleasedClasses::of_generalized("t", &rows, &of(Role::Quasi), &of(Role::Sensitive), cover, "t").unwrap();
        return Opened { rows, classes, bucket_of_row: Vec::new(), numbers: Vec::new() };
    }
    let mut used = made.buckets.clone();
    used.sort_unstable();
    used.dedup();
    let place = |bucket: usize| used.iter().position(|own| *own == bucket).unwrap() as u32;
    let mut cells: Vec<(u32, u32, u32)> = Vec::new();
    for (&bucket, row) in made.buckets.iter().zip(&made.rows) {
        let value = domain(S).iter().position(|value| *value == row[S]).unwrap() as u32;
        match cells.iter_mut().find(|(own, other, _)| (*own, *other) == (place(bucket), value)) {
            Some((.., count)) => *count += 1,
            None => cells.push((place(bucket), value, 1)),
        }
    }
    let values = domain(S).iter().map(|value| (*value).to_owned()).collect();
    let counts = SensitiveCounts::new("s".to_owned(), values, used.len(), cells);
    let classes = ReleasedClasses::of_bucketized("t", &rows, &of(Role::Quasi), vec![counts], cover, "t").unwrap();
    let bucket_of_row = made.buckets.iter().map(|&bucket| place(bucket)).collect();
    Opened { rows, classes, bucket_of_row, numbers: used.iter().map(|&bucket| bucket as i64).collect() }
}
