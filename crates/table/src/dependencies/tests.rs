//! Against a count by hand over thousands of small random tables, and planted dependencies in
//! larger ones.

use std::collections::{BTreeMap, BTreeSet};

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

/// Every left side counted in every row, and judged by the same evidence.
fn found_plainly(table: &Table, from: &[usize], to: &[usize], tolerance: &str) -> Vec<TableDependency> {
    let rows = table.rows as u64;
    let most = Ratio::parse(tolerance).unwrap().floor_of(rows);
    let singles = from.iter().map(|&column| vec![column]);
    let mut pairs: Vec<Vec<usize>> = from
        .iter()
        .enumerate()
        .flat_map(|(at, &a)| from[at + 1..].iter().map(move |&b| vec![a.min(b), a.max(b)]))
        .collect();
    if from.len() > PAIRED_MAX {
        pairs.clear();
    }
    let sides: Vec<Vec<usize>> = singles.chain(pairs).collect();
    let tests = sides.len() * to.len();
    let mut found: Vec<TableDependency> = Vec::new();
    for from in &sides {
        for &to in to {
            let part =
                |known: &TableDependency| known.to == to && known.from.iter().all(|column| from.contains(column));
            if from.contains(&to) || found.iter().any(part) {
                continue;
            }
            let mut sorted: Vec<([u32; 2], u32)> = (0..table.rows)
                .map(|row| {
                    let code = |column: usize| table.columns[column].codes.get(row);
                    ([code(from[0]), from.get(1).map_or(0, |&second| code(second))], code(to))
                })
                .collect();
            sorted.sort_unstable();
            let (mut deviating, mut repeated) = (0, 0);
            for group in sorted.chunk_by(|a, b| a.0 == b.0) {
                let most = group.chunk_by(|a, b| a.1 == b.1).map(<[_]>::len).max().unwrap();
                deviating += (group.len() - most) as u64;
                repeated += group.len() as u64 - 1;
            }
            let most_frequent = table.columns[to].counts().into_iter().max().unwrap_or(0);
            if deviating <= most && (Evidence { deviating, repeated }).is_real(rows, most_frequent, tests) {
                found.push(TableDependency { from: from.clone(), to, deviating });
            }
        }
    }
    found.sort_by(|a, b| (a.from.len(), &a.from, a.to).cmp(&(b.from.len(), &b.from, b.to)));
    found
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
        assert_eq!(dependencies, found_plainly(&table, &[0, 1, 2], &right, "0.02"), "seed {seed}");
        let all: Vec<usize> = (0..table.columns.len()).collect();
        assert_eq!(found(&table, &all, &all, "0.1"), found_plainly(&table, &all, &all, "0.1"), "seed {seed}");
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

/// Left sides that never, hardly or often repeat, with and without what follows from them: as many
/// rows as are sampled and then counted again, of which those of unique left sides are passed over.
#[test]
fn many_rows_that_hardly_repeat_have_the_dependencies_that_counting_all_of_them_finds() {
    let (mut of_pairs, mut of_singles) = (0, 0);
    for seed in seeds(6) {
        let mut rng = StdRng::seed_from_u64(seed);
        let rows = rng.random_range(66_000..80_000u32);
        let sizes = [[rows, 900, 1100], [40_000, 3, 2000], [260, 250, rows / 2]][seed as usize % 3];
        let mut columns: Vec<(usize, Vec<u32>)> = sizes
            .iter()
            .map(|&size| {
                let unique = size == rows;
                let code = |row: u32| if unique { row } else { rng.random_range(0..size) };
                (size as usize + 1, (0..rows).map(code).collect())
            })
            .collect();
        let wrong = [0.0, 0.0, 0.004][seed as usize % 3];
        let mut follows = |from: &[usize]| -> (usize, Vec<u32>) {
            let value = |row: usize| {
                let number = from.iter().fold(seed, |number, &column| {
                    (number ^ u64::from(columns[column].1[row])).wrapping_mul(0x5851_f42d_4c95_7f2d).rotate_left(29)
                });
                if rng.random_bool(wrong) { rng.random_range(0..50) } else { (number % 50) as u32 }
            };
            (51, (0..rows as usize).map(value).collect())
        };
        let more = [follows(&[1, 2]), follows(&[0, 1]), follows(&[2]), follows(&[0, 1, 2])];
        columns.extend(more);
        let table = table(columns);
        let all: Vec<usize> = (0..table.columns.len()).collect();
        let dependencies = found(&table, &[0, 1, 2], &all, "0.01");
        assert_eq!(dependencies, found_plainly(&table, &[0, 1, 2], &all, "0.01"), "seed {seed}");
        of_pairs += dependencies.iter().filter(|found| found.from.len() == 2).count();
        of_singles += dependencies.iter().filter(|found| found.from.len() == 1).count();
        let given: Vec<(Vec<usize>, usize)> = vec![(vec![0, 1, 2], 6), (vec![1, 2], 3), (vec![0], 5)];
        let expected: Vec<u64> = given.iter().map(|(from, to)| deviating_by_hand(&table, from, *to)).collect();
        assert_eq!(deviating(&Embedded::new(&table), &given, &NoProgress).unwrap().unwrap(), expected, "seed {seed}");
    }
    if std::env::var("HEDGEROW_SEED").is_err() {
        assert!(of_pairs >= 6 && of_singles >= 4, "{of_pairs} {of_singles}");
    }
}

/// Chunk by chunk against a count by hand, for each choice of rows.
#[test]
fn tallies_of_chosen_rows_are_as_counted_by_hand() {
    for seed in seeds(2000) {
        let mut rng = StdRng::seed_from_u64(seed);
        let rows = [0, 1, 2, 9, 60][rng.random_range(0..5)];
        let columns = (0..4).map(|_| {
            let cardinality = [1, 2, 7, 300][rng.random_range(0..4)];
            (cardinality, (0..rows).map(|_| rng.random_range(0..cardinality as u32)).collect())
        });
        let table = table(columns.collect());
        let from: Vec<usize> = (0..rng.random_range(1..=3)).collect();
        let sampling = match rng.random_range(0..3) {
            0 => Sampling::All,
            1 => Sampling::Rows(rng.random_range(1..6)),
            _ => Sampling::Groups(rng.random_range(0..u64::MAX)),
        };
        let mut tally = DependencyTally::new(&Embedded::new(&table), &from, &[3], sampling);
        if sampling == Sampling::All && rng.random_bool(0.5) {
            tally = tally.passing_over_unique(rows as u64);
        }
        let all = [0, 1, 2, 3];
        let mut chunks: Vec<(CodeChunk, u64)> = Vec::new();
        let mut start = 0;
        while start < rows {
            let end = rng.random_range(start + 1..=rows);
            let codes = table.columns.iter().map(|column| column.codes.slice(start..end));
            chunks.push((codes.collect(), start as u64));
            start = end;
        }
        chunks.iter().for_each(|(chunk, _)| tally.mark(&all, chunk));
        chunks.iter().for_each(|(chunk, first)| tally.add(&all, chunk, *first));
        let evidence_in = |chosen: &dyn Fn(usize, &[u32]) -> bool| {
            let mut groups: BTreeMap<Vec<u32>, BTreeMap<u32, u64>> = BTreeMap::new();
            for row in 0..table.rows {
                let key: Vec<u32> = from.iter().map(|&column| table.columns[column].codes.get(row)).collect();
                if chosen(row, &key) {
                    *groups.entry(key).or_default().entry(table.columns[3].codes.get(row)).or_default() += 1;
                }
            }
            groups.values().fold(Evidence { deviating: 0, repeated: 0 }, |sum, values| {
                let rows: u64 = values.values().sum();
                let deviating = sum.deviating + rows - values.values().max().unwrap();
                Evidence { deviating, repeated: sum.repeated + rows - 1 }
            })
        };
        let tally = tally.grouped();
        let expected = match sampling {
            Sampling::All => evidence_in(&|_, _| true),
            Sampling::Rows(step) => evidence_in(&|row, _| (row as u64).is_multiple_of(step)),
            Sampling::Groups(_) => {
                // Whichever groups are chosen, none is in part: each by itself has all of its rows
                // or none.
                let left = |row: usize| -> Vec<u32> {
                    from.iter().map(|&column| table.columns[column].codes.get(row)).collect()
                };
                let counted: BTreeSet<Vec<u32>> = (0..table.rows)
                    .map(left)
                    .collect::<BTreeSet<_>>()
                    .into_iter()
                    .filter(|wanted| {
                        let alone = |row: &usize| left(*row) == *wanted;
                        let rows: Vec<u32> = (0..table.rows).filter(alone).map(|row| row as u32).collect();
                        let mut one = DependencyTally::new(&Embedded::new(&table), &from, &[3], sampling);
                        one.add(&all, &table.columns.iter().map(|column| column.codes.of_rows(&rows)).collect(), 0);
                        let counted = one.grouped().rows;
                        assert!(counted == 0 || counted == rows.len() as u64, "seed {seed}");
                        counted > 0
                    })
                    .collect();
                assert_eq!((0..table.rows).filter(|&row| counted.contains(&left(row))).count() as u64, tally.rows);
                evidence_in(&|_, key| counted.contains(key))
            }
        };
        assert_eq!(tally.evidence(0, u64::MAX), Some(expected), "seed {seed}");
        assert_eq!(tally.evidence(0, expected.deviating), Some(expected), "seed {seed}");
        if expected.deviating > 0 {
            assert_eq!(tally.evidence(0, expected.deviating - 1), None, "seed {seed}");
        }
    }
}

/// Tables with enough rows that pairs of a sample refute, with dependencies that deviate in about
/// as many rows as they may.
#[test]
fn what_pairs_of_rows_refute_is_what_counting_all_rows_does_not_find() {
    let mut found_count = 0;
    for seed in seeds(24) {
        let mut rng = StdRng::seed_from_u64(seed);
        let rows = rng.random_range(4_090..9_000u32);
        let sizes = [[3, 40, 900], [2, 5, 3000], [60, 70, rows]][seed as usize % 3];
        let mut columns: Vec<(usize, Vec<u32>)> = sizes
            .iter()
            .map(|&size| {
                let codes = (0..rows).map(|row| if size == rows { row } else { rng.random_range(0..size) });
                (size as usize + 1, codes.collect())
            })
            .collect();
        for from in [&[1][..], &[2], &[0, 1], &[1, 2]] {
            let (values, wrong) = (rng.random_range(2..60u32), [0.0, 0.008, 0.01, 0.012, 0.02][rng.random_range(0..5)]);
            // Rows that deviate are anywhere, or all at one end of the table.
            let in_a_block = rng.random_bool(0.5);
            let mut code = |row: usize| {
                let deviates = if in_a_block { (row as f64) < wrong * f64::from(rows) } else { rng.random_bool(wrong) };
                let value = from.iter().fold(seed, |number, &column| {
                    (number ^ u64::from(columns[column].1[row])).wrapping_mul(0x5851_f42d_4c95_7f2d).rotate_left(29)
                });
                if deviates { rng.random_range(0..values) } else { (value % u64::from(values)) as u32 }
            };
            let codes = (0..rows as usize).map(&mut code).collect();
            columns.push((values as usize + 1, codes));
        }
        let table = table(columns);
        let all: Vec<usize> = (0..table.columns.len()).collect();
        let dependencies = found(&table, &[0, 1, 2, 3], &all, "0.01");
        assert_eq!(dependencies, found_plainly(&table, &[0, 1, 2, 3], &all, "0.01"), "seed {seed}");
        found_count += dependencies.len();
    }
    if std::env::var("HEDGEROW_SEED").is_err() {
        assert!(found_count > 24, "{found_count}");
    }
}

/// Of rows in pairs that disagree, one of each has to go.
#[test]
fn no_more_pairs_disagree_than_rows_deviate() {
    let (mut disagreeing_count, mut deviating_count) = (0, 0);
    for seed in seeds(1000) {
        let mut rng = StdRng::seed_from_u64(seed);
        let rows = [0, 1, 2, 9, 60, 300][rng.random_range(0..6)];
        let columns = (0..3).map(|_| {
            let cardinality = [1, 2, 7, 100][rng.random_range(0..4)];
            (cardinality, (0..rows).map(|_| rng.random_range(0..cardinality as u32)).collect())
        });
        let table = table(columns.collect());
        let from: Vec<usize> = (0..rng.random_range(1..=2)).collect();
        let sample = Sample::collect(&Embedded::new(&table), vec![2, 0, 1], &NoProgress).unwrap().unwrap();
        let disagreeing = sample.disagreeing(&from, 2);
        let deviating = deviating_by_hand(&table, &from, 2);
        assert!(disagreeing <= deviating, "seed {seed}: {disagreeing} {deviating}");
        disagreeing_count += disagreeing;
        deviating_count += deviating;
    }
    assert!(disagreeing_count * 2 > deviating_count, "{disagreeing_count} of {deviating_count}");
}
