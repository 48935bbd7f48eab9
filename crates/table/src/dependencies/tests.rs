//! Against a count by hand over thousands of small random tables, and planted dependencies in
//! larger ones.

use std::collections::BTreeMap;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::engine::Embedded;
use crate::{Column, Domain, NoProgress, Table, Values};

fn seeds(count: u64) -> Vec<u64> {
    match std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse().ok()) {
        Some(seed) => vec![seed],
        None => (0..count).collect(),
    }
}

/// The last value of a column is the missing one.
fn table(columns: Vec<(usize, Vec<u32>)>) -> Table {
    let rows = columns.first().map_or(0, |(_, codes)| codes.len());
    let columns = columns.into_iter().enumerate().map(|(index, (cardinality, codes))| {
        let domain = Domain::new(Values::Integer((0..cardinality as i64 - 1).collect()), true);
        Column { name: format!("c{index}"), domain, codes: Codes::from_iter(cardinality, codes) }
    });
    let columns: Vec<Column> = columns.collect();
    let header = columns.iter().map(|column| column.name.clone()).collect();
    Table { columns, rows, header, warnings: Vec::new() }
}

/// Rows that must go so that `from` determines `to`.
fn deviating_by_hand(table: &Table, from: &[usize], to: usize) -> u64 {
    let mut groups: BTreeMap<Vec<u32>, BTreeMap<u32, u64>> = BTreeMap::new();
    for row in 0..table.rows {
        let key = from.iter().map(|&column| table.columns[column].codes.get(row)).collect();
        *groups.entry(key).or_default().entry(table.columns[to].codes.get(row)).or_default() += 1;
    }
    groups.values().map(|values| values.values().sum::<u64>() - values.values().max().unwrap()).sum()
}

fn found(table: &Table, from: &[usize], to: &[usize], tolerance: &str) -> Vec<TableDependency> {
    let tolerance = Ratio::parse(tolerance).unwrap();
    find(&Embedded::new(table), &DependencySearch { from, to, tolerance }, &NoProgress).unwrap().unwrap()
}

#[test]
fn found_dependencies_deviate_as_counted_by_hand_and_planted_ones_are_found() {
    let (mut planted_count, mut found_count) = (0, 0);
    for seed in seeds(2000) {
        let mut rng = StdRng::seed_from_u64(seed);
        let rows = [0, 1, 3, 30, 120][rng.random_range(0..5)];
        let cardinality = |rng: &mut StdRng| rng.random_range(1..8usize);
        let random = |rng: &mut StdRng| {
            let cardinality = cardinality(rng);
            (cardinality, (0..rows).map(|_| rng.random_range(0..cardinality as u32)).collect::<Vec<_>>())
        };
        let mut columns: Vec<(usize, Vec<u32>)> = (0..4).map(|_| random(&mut rng)).collect();
        let planted = rng.random_range(0..3);
        if planted > 0 {
            let map: Vec<u32> = (0..64).map(|_| rng.random_range(0..5)).collect();
            let of = |row: usize| {
                let second = if planted == 2 { columns[1].1[row] as usize } else { 0 };
                map[columns[0].1[row] as usize * 8 + second]
            };
            let dependent: Vec<u32> = (0..rows).map(of).collect();
            columns.push((5, dependent));
        }
        let table = table(columns);
        let right: Vec<usize> = (3..table.columns.len()).collect();
        let dependencies = found(&table, &[0, 1, 2], &right, "0.02");
        for TableDependency { from, to, deviating } in &dependencies {
            assert_eq!(*deviating, deviating_by_hand(&table, from, *to), "seed {seed}");
            assert!(*deviating as usize * 50 <= rows, "seed {seed}");
            found_count += 1;
            let smaller = dependencies.iter().any(|other| {
                other.to == *to
                    && other.from.len() < from.len()
                    && other.from.iter().all(|column| from.contains(column))
            });
            assert!(!smaller, "seed {seed}: {dependencies:?}");
        }
        let is_planted =
            planted > 0 && rows == 120 && table.columns[4].counts().iter().filter(|count| **count > 20).count() > 1;
        if is_planted {
            planted_count += 1;
            assert!(dependencies.iter().any(|found| found.to == 4), "seed {seed}: {dependencies:?}");
        }
    }
    assert!(planted_count > 50 && found_count > planted_count, "{planted_count} {found_count}");
}

/// The chance of any false one among those of a table is below one in a thousand.
#[test]
fn independent_columns_have_no_dependencies() {
    let mut wrong = 0;
    for seed in seeds(300) {
        let mut rng = StdRng::seed_from_u64(seed);
        let rows = rng.random_range(1..400usize);
        let columns = (0..6).map(|index| {
            // Left sides from nearly unique to few values; right sides from nearly constant on.
            let cardinality = if index < 4 { [2, 10, 100, 1000][index] } else { 6 };
            let rare: f64 = rng.random_range(0.0..1.0);
            let code = |rng: &mut StdRng| {
                if index >= 4 && !rng.random_bool(rare) { 0 } else { rng.random_range(0..cardinality as u32) }
            };
            (cardinality, (0..rows).map(|_| code(&mut rng)).collect())
        });
        let table = table(columns.collect());
        wrong += usize::from(!found(&table, &[0, 1, 2, 3], &[4, 5], "0.01").is_empty());
    }
    assert!(wrong <= 2, "{wrong} of 300 tables");
}

/// More rows than a sample has: counted in two scans.
#[test]
fn a_planted_dependency_is_found_among_many_rows_and_nothing_else_is() {
    let mut rng = StdRng::seed_from_u64(5);
    let rows = 150_000;
    let random = |rng: &mut StdRng, cardinality: usize| -> (usize, Vec<u32>) {
        (cardinality, (0..rows).map(|_| rng.random_range(0..cardinality as u32)).collect())
    };
    let mut columns = vec![random(&mut rng, 5000), random(&mut rng, 90), random(&mut rng, 2), random(&mut rng, 40_000)];
    let of_single: Vec<u32> = columns[0].1.iter().map(|code| code % 97).collect();
    // All but one in five hundred rows.
    let of_pair = (0..rows)
        .map(|row| if rng.random_bool(0.002) { 12 } else { (columns[1].1[row] * 7 + columns[2].1[row] * 5) % 13 });
    let of_pair: Vec<u32> = of_pair.collect();
    columns.extend([(97, of_single), (13, of_pair), random(&mut rng, 9)]);
    let table = table(columns);
    let dependencies = found(&table, &[0, 1, 2, 3], &[4, 5, 6], "0.01");
    let sides: Vec<(Vec<usize>, usize)> = dependencies.iter().map(|found| (found.from.clone(), found.to)).collect();
    assert_eq!(sides, [(vec![0], 4), (vec![1, 2], 5)]);
    assert_eq!(dependencies[0].deviating, 0);
    assert_eq!(dependencies[1].deviating, deviating_by_hand(&table, &[1, 2], 5));
    let given = deviating(&Embedded::new(&table), &[(vec![1, 2], 5), (vec![2], 4)], &NoProgress).unwrap().unwrap();
    assert_eq!(given, [dependencies[1].deviating, deviating_by_hand(&table, &[2], 4)]);
    assert!(found(&table, &[0, 1, 2, 3], &[4, 5, 6], "0.0001").iter().all(|found| found.to == 4));
}
