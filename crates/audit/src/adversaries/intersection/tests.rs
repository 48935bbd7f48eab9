//! The worked example, and random sub-tables against every world that is possible.

use std::collections::{BTreeMap, BTreeSet};

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::testing::seeds;

type Person = BTreeMap<String, String>;

/// A sub-table of some people whose buckets are lists of them.
fn sub_table(people: &[Person], quasi: &[&str], sensitive: &str, buckets: &[Vec<usize>]) -> SubTable {
    let bucket = |members: &Vec<usize>| {
        let (mut rows, mut values): (BTreeMap<Vec<String>, u64>, BTreeMap<String, u64>) = Default::default();
        for &member in members {
            let texts = quasi.iter().map(|name| people[member][*name].clone()).collect();
            *rows.entry(texts).or_default() += 1;
            *values.entry(people[member][sensitive].clone()).or_default() += 1;
        }
        SubTableBucket { rows: rows.into_iter().collect(), values: values.into_iter().collect() }
    };
    SubTable {
        name: format!("{quasi:?}|{sensitive}"),
        quasi: quasi.iter().map(|name| (*name).to_owned()).collect(),
        sensitive: Some(sensitive.to_owned()),
        buckets: buckets.iter().map(bucket).collect(),
    }
}

/// A table of some people that lists all its attributes by row.
fn open_table(people: &[Person], columns: &[&str]) -> SubTable {
    let mut rows: BTreeMap<Vec<String>, u64> = BTreeMap::new();
    for person in people {
        *rows.entry(columns.iter().map(|name| person[*name].clone()).collect()).or_default() += 1;
    }
    SubTable {
        name: format!("{columns:?}"),
        quasi: columns.iter().map(|name| (*name).to_owned()).collect(),
        sensitive: None,
        buckets: vec![SubTableBucket { rows: rows.into_iter().collect(), values: Vec::new() }],
    }
}

fn six_patients() -> Vec<Person> {
    let names = ["hospital", "age", "gender", "zipcode", "race", "icd"];
    let rows = [
        ["111111", "37", "F", "71000", "asian", "HIV"],
        ["111111", "71", "M", "72000", "white", "diabetes"],
        ["222222", "55", "F", "73000", "black", "diabetes"],
        ["222222", "37", "F", "74000", "white", "flu"],
        ["333333", "23", "M", "71000", "black", "alcoholism"],
        ["333333", "37", "M", "72000", "white", "HIV"],
    ];
    let person = |row: [&str; 6]| names.iter().zip(row).map(|(n, v)| ((*n).to_owned(), v.to_owned())).collect();
    rows.into_iter().map(person).collect()
}

#[test]
fn exactly_four_tuples_of_the_six_patients_are_exposed() {
    let people = six_patients();
    let by_disease = [vec![0, 5], vec![4, 3], vec![2, 1]];
    let tables = [
        sub_table(&people, &["age", "icd"], "race", &by_disease),
        sub_table(&people, &["gender", "icd"], "zipcode", &by_disease),
        sub_table(&people, &["hospital", "race"], "zipcode", &[vec![0, 2], vec![3, 1], vec![4, 5]]),
    ];
    let joined = join(&tables);
    assert!(joined.complete && !joined.contradiction);
    let exposed: BTreeSet<(Vec<String>, String)> = joined
        .rows
        .iter()
        .filter(|row| row.values.len() == 1)
        .map(|row| {
            assert_eq!(row.table, 2, "{row:?}");
            (row.quasi.clone(), row.values[0].clone())
        })
        .collect();
    let tuple = |hospital: &str, race: &str, zip: &str| (vec![hospital.to_owned(), race.to_owned()], zip.to_owned());
    let expected = [
        tuple("111111", "asian", "71000"),
        tuple("222222", "black", "73000"),
        tuple("333333", "black", "71000"),
        tuple("333333", "white", "72000"),
    ];
    assert_eq!(exposed, expected.into_iter().collect());
    let finding = run(vec!["release".to_owned()], &tables, &[], None);
    assert_eq!((finding.people, finding.at_risk, finding.effective_l), (6, 4, Some(1)));
}

/// The safe case: without the third table nothing is certain.
#[test]
fn two_tables_of_the_six_patients_expose_no_patient() {
    let people = six_patients();
    let by_disease = [vec![0, 5], vec![4, 3], vec![2, 1]];
    let tables = [
        sub_table(&people, &["age", "icd"], "race", &by_disease),
        sub_table(&people, &["gender", "icd"], "zipcode", &by_disease),
    ];
    let joined = join(&tables);
    assert!(joined.complete && !joined.contradiction);
    assert!(joined.rows.iter().all(|row| row.values.len() == 2), "{joined:?}");
}

#[test]
fn tables_about_different_people_contradict_one_another() {
    let people = six_patients();
    let one = sub_table(&people, &["age"], "race", &[vec![0, 1, 2, 3, 4, 5]]);
    let fewer = sub_table(&people, &["gender"], "zipcode", &[vec![0, 1, 2]]);
    assert!(join(&[one.clone(), fewer]).contradiction);
    let other = sub_table(&people, &["race"], "icd", &[vec![0, 0, 0, 1, 2, 3]]);
    assert!(join(&[one, other]).contradiction);
}

/// The value of every row of a sub-table.
type World = Vec<(Vec<String>, String)>;

/// Every way to give out the sensitive values of each bucket.
fn worlds_of(table: &SubTable) -> Vec<World> {
    let mut worlds: Vec<World> = vec![Vec::new()];
    for bucket in &table.buckets {
        let rows: Vec<&Vec<String>> =
            bucket.rows.iter().flat_map(|(row, n)| std::iter::repeat_n(row, *n as usize)).collect();
        if table.sensitive.is_none() {
            worlds.iter_mut().for_each(|world| world.extend(rows.iter().map(|row| ((*row).clone(), String::new()))));
            continue;
        }
        let values: Vec<&String> =
            bucket.values.iter().flat_map(|(value, n)| std::iter::repeat_n(value, *n as usize)).collect();
        let mut orders = BTreeSet::new();
        permute(&mut values.clone(), 0, &mut orders);
        let mut next = Vec::new();
        for world in &worlds {
            for order in &orders {
                let mut world = world.clone();
                world.extend(rows.iter().zip(order).map(|(row, value)| ((*row).clone(), value.clone())));
                next.push(world);
            }
        }
        worlds = next;
    }
    worlds
}

fn permute(values: &mut Vec<&String>, from: usize, orders: &mut BTreeSet<Vec<String>>) {
    if from == values.len() {
        orders.insert(values.iter().map(|value| (*value).clone()).collect());
    }
    for swap in from..values.len() {
        values.swap(from, swap);
        permute(values, from + 1, orders);
        values.swap(from, swap);
    }
}

/// Whether the tuples of the tables from `table` on can be laid on one list of people, each of a
/// table on another person, agreeing on what is shared. Every way is tried.
fn fits(people: &mut [Person], worlds: &[Vec<Person>], used: u32, next: usize) -> bool {
    let Some((tuples, others)) = worlds.split_first() else { return true };
    let Some(tuple) = tuples.get(next) else { return fits(people, others, 0, 0) };
    for index in 0..people.len() {
        let disagrees = |(name, value): (&String, &String)| people[index].get(name).is_some_and(|own| own != value);
        if used >> index & 1 == 1 || tuple.iter().any(disagrees) {
            continue;
        }
        let before = people[index].clone();
        people[index].extend(tuple.clone());
        if fits(people, worlds, used | 1 << index, next + 1) {
            return true;
        }
        people[index] = before;
    }
    false
}

/// Two or three tables about a few people, and everything that any list of people behind them
/// gives. The index may keep more than that, and never less.
#[test]
fn random_tables_leave_exactly_what_is_possible() {
    let mut narrowed = 0;
    for seed in seeds(600) {
        let mut rng = StdRng::seed_from_u64(seed);
        let many = rng.random_range(2..4usize);
        let count = rng.random_range(1..8 - many);
        let names = ["a", "b", "c"];
        let people: Vec<Person> = (0..count)
            .map(|_| names.iter().map(|name| ((*name).to_owned(), rng.random_range(0..3).to_string())).collect())
            .collect();
        let random_table = |rng: &mut StdRng| {
            let mut order = names.to_vec();
            order.shuffle(rng);
            let width = rng.random_range(1..3usize);
            let mut members: Vec<usize> = (0..count).collect();
            members.shuffle(rng);
            if rng.random_bool(0.25) {
                return open_table(&people, &order[..=width]);
            }
            let size = rng.random_range(1..4usize);
            let buckets: Vec<Vec<usize>> = members.chunks(size).map(<[usize]>::to_vec).collect();
            sub_table(&people, &order[1..=width], order[0], &buckets)
        };
        let tables: Vec<SubTable> = (0..many).map(|_| random_table(&mut rng)).collect();
        let joined = join(&tables);
        assert!(!joined.contradiction, "seed {seed}");
        let named = |table: &SubTable, (row, value): &(Vec<String>, String)| -> Person {
            let quasi = table.quasi.iter().cloned().zip(row.iter().cloned());
            quasi.chain(table.sensitive.clone().map(|name| (name, value.clone()))).collect()
        };
        let mut choices: Vec<Vec<World>> = vec![Vec::new()];
        for table in &tables {
            let worlds = worlds_of(table);
            let with = |chosen: &Vec<World>| {
                worlds.iter().map(|world| [&chosen[..], std::slice::from_ref(world)].concat()).collect::<Vec<_>>()
            };
            choices = choices.iter().flat_map(with).collect();
        }
        let mut possible: BTreeSet<(usize, Vec<String>, String)> = BTreeSet::new();
        for chosen in &choices {
            let worlds: Vec<Vec<Person>> = chosen
                .iter()
                .zip(&tables)
                .map(|(world, table)| world.iter().map(|tuple| named(table, tuple)).collect())
                .collect();
            if fits(&mut worlds[0].clone(), &worlds[1..], 0, 0) {
                let hiding = chosen.iter().enumerate().filter(|(table, _)| tables[*table].sensitive.is_some());
                for (table, world) in hiding {
                    possible.extend(world.iter().map(|(row, value)| (table, row.clone(), value.clone())));
                }
            }
        }
        let kept: BTreeSet<(usize, Vec<String>, String)> = joined
            .rows
            .iter()
            .flat_map(|row| row.values.iter().map(|value| (row.table, row.quasi.clone(), value.clone())))
            .collect();
        assert_eq!(kept, possible, "seed {seed}");
        let (indexed, contradiction) = by_index::join(&tables);
        assert!(!contradiction, "seed {seed}");
        let hiding = tables.iter().filter(|table| table.sensitive.is_some()).count();
        assert_eq!(indexed.iter().map(|row| row.rows).sum::<u64>(), (hiding * count) as u64, "seed {seed}");
        narrowed += usize::from(indexed.iter().any(|row| row.values.len() < row.of));
        let kept = in_full(&tables, &indexed);
        assert!(possible.is_subset(&kept), "seed {seed}: lost {:?}", possible.difference(&kept).collect::<Vec<_>>());
    }
    assert!(narrowed > 100 || std::env::var("HEDGEROW_SEED").is_ok(), "{narrowed}");
}

/// By table: quasi-identifiers and a sensitive value that is left to them. Rows that keep all
/// values of their bucket were listed as one.
fn in_full(tables: &[SubTable], indexed: &[AllowedValues]) -> BTreeSet<(usize, Vec<String>, String)> {
    let mut kept = BTreeSet::new();
    for row in indexed {
        kept.extend(row.values.iter().map(|value| (row.table, row.quasi.clone(), value.clone())));
        if row.values.len() == row.of {
            let alone = |quasi: &Vec<String>| {
                indexed.iter().any(|other| {
                    (other.table, other.bucket, &other.quasi) == (row.table, row.bucket, quasi)
                        && other.values.len() < other.of
                })
            };
            let rows = tables[row.table].buckets[row.bucket].rows.iter().filter(|(quasi, _)| !alone(quasi));
            let pairs = rows.flat_map(|(quasi, _)| row.values.iter().map(move |value| (quasi.clone(), value.clone())));
            kept.extend(pairs.map(|(quasi, value)| (row.table, quasi, value)));
        }
    }
    kept
}

/// Too many people to be paired. Each shares a bucket of two values with a neighbor; the first
/// eight sit beside other neighbors in the second table, which leaves them one value.
#[test]
fn large_tables_are_joined_by_what_they_tell() {
    let count = 12_000;
    let illness = |person: usize| ["flu", "HIV", "cold", "ache"][if person < 8 { person % 4 } else { person % 2 }];
    let bucket = |people: [usize; 2]| SubTableBucket {
        rows: people.iter().map(|person| (vec![format!("age {person}")], 1)).collect(),
        values: people.iter().map(|&person| (illness(person).to_owned(), 1)).collect(),
    };
    let table = |name: &str, pairs: Vec<[usize; 2]>| SubTable {
        name: name.to_owned(),
        quasi: vec!["age".to_owned()],
        sensitive: Some("illness".to_owned()),
        buckets: pairs.into_iter().map(bucket).collect(),
    };
    let pairs: Vec<[usize; 2]> = (0..count / 2).map(|pair| [2 * pair, 2 * pair + 1]).collect();
    let mut others = pairs.clone();
    others[..4].copy_from_slice(&[[1, 2], [3, 4], [5, 6], [7, 0]]);
    let tables = [table("one", pairs), table("two", others)];
    let joined = join(&tables);
    assert!(!joined.complete && !joined.contradiction);
    for number in 0..2 {
        let certain = joined.rows.iter().filter(|row| row.table == number && row.values.len() == 1);
        let certain: BTreeSet<(String, String)> =
            certain.map(|row| (row.quasi[0].clone(), row.values[0].clone())).collect();
        let expected = (0..8).map(|person| (format!("age {person}"), illness(person).to_owned()));
        assert_eq!(certain, expected.collect());
    }
    let found = run(vec!["r".to_owned()], &tables, &[], None);
    assert_eq!((found.people, found.effective_l, found.at_risk), (count as u64, Some(1), 16));
    assert!(found.notes[0].text.contains("too large to pair"), "{:?}", found.notes);
    let fewer = table("two", vec![[0, 1]]);
    assert!(join(&[tables[0].clone(), fewer]).contradiction);
}
