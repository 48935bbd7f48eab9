//! Rings against what makes the estimate the only one (the published counts, and no interaction
//! beyond those of the tables), and against gradient ascent over all combinations of values.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::super::{MaxLikelihood, NoEstimate, PublishedBuckets, PublishedTable};
use super::*;

/// Rows in which neighbors depend on each other.
fn source(cardinalities: &[usize], rows: usize, rng: &mut StdRng) -> Vec<Vec<u32>> {
    let mut columns: Vec<Vec<u32>> = vec![Vec::new(); cardinalities.len()];
    for _ in 0..rows {
        let first = rng.random_range(0..6u32);
        for (column, &values) in columns.iter_mut().zip(cardinalities) {
            let own = if rng.random_bool(0.6) { rng.random_range(0..6) } else { first };
            column.push(own % values as u32);
        }
    }
    columns
}

fn plain(source: &[Vec<u32>], attributes: &[usize]) -> PublishedTable {
    let by_row = attributes.iter().map(|&attribute| (attribute, source[attribute].clone())).collect();
    PublishedTable { by_row, buckets: None }
}

/// The last attribute by buckets of `size` rows; rows beyond the last complete bucket without it.
fn bucketized(source: &[Vec<u32>], attributes: &[usize], size: usize) -> PublishedTable {
    let rows = source[0].len();
    let (sensitive, open) = attributes.split_last().unwrap();
    let complete = rows / size * size;
    let of_row = |row: usize| if row < complete { (row / size) as u32 } else { PublishedBuckets::NO_BUCKET };
    let buckets = PublishedBuckets {
        of_row: (0..rows).map(of_row).collect(),
        sensitive: vec![(*sensitive, source[*sensitive][..complete].to_vec())],
        of_entry: (0..complete).map(of_row).collect(),
        counts: vec![1; complete],
    };
    PublishedTable { buckets: Some(buckets), ..plain(source, open) }
}

/// All combinations of values.
fn combinations(cardinalities: &[usize]) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new()];
    for &values in cardinalities {
        let longer = |row: Vec<u32>| (0..values as u32).map(move |value| [row.clone(), vec![value]].concat());
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}

fn expected(estimate: &MaxLikelihood<'_>, cardinalities: &[usize], row: &[u32]) -> f64 {
    let only = |attribute: usize| (0..cardinalities[attribute] as u32).map(|value| value == row[attribute]).collect();
    estimate.expected(&(0..row.len()).map(|attribute| (attribute, only(attribute))).collect::<Vec<_>>())
}

const RING: [[usize; 2]; 4] = [[0, 1], [1, 2], [2, 3], [3, 0]];

/// For positive counts the published counts and 0 ⊥ 2 | 1, 3 and 1 ⊥ 3 | 0, 2 leave one table
/// (Hammersley and Clifford).
#[test]
fn a_ring_has_the_published_counts_and_no_other_interaction() {
    let cardinalities = [2, 3, 2, 3];
    for seed in 0..20 {
        let source = source(&cardinalities, 400, &mut StdRng::seed_from_u64(seed));
        let tables = RING.map(|attributes| plain(&source, &attributes));
        let estimate = MaxLikelihood::new(&cardinalities, &tables).unwrap();
        let [fit] = estimate.fits() else { panic!("one ring") };
        assert!(fit.converged && fit.combinations == 36 && fit.deviation <= 400.0 * TOLERANCE, "{fit:?}");
        let of = |row: [u32; 4]| expected(&estimate, &cardinalities, &row);
        for attributes in RING {
            for values in combinations(&attributes.map(|attribute| cardinalities[attribute])) {
                let agrees = |row: usize| (0..2).all(|place| source[attributes[place]][row] == values[place]);
                let truth = (0..400).filter(|&row| agrees(row)).count() as f64;
                let has = |row: &Vec<u32>| (0..2).all(|place| row[attributes[place]] == values[place]);
                let rows = combinations(&cardinalities).into_iter().filter(has);
                let found: f64 = rows.map(|row| of([row[0], row[1], row[2], row[3]])).sum();
                assert!(truth > 0.0 && (found - truth).abs() < 1e-6, "seed {seed}: {found}, not {truth}");
            }
        }
        let no_interaction = |rows: [[u32; 4]; 4]| {
            let [one, two, three, four] = rows.map(of);
            assert!((one * four / (two * three) - 1.0).abs() < 1e-6, "seed {seed}: {rows:?}");
        };
        for (b, d) in [(0, 0), (0, 1), (1, 0), (2, 1), (1, 2)] {
            no_interaction([[0, b, 0, d], [0, b, 1, d], [1, b, 0, d], [1, b, 1, d]]);
            let (a, c) = (b % 2, d % 2);
            no_interaction([[a, 0, c, 0], [a, 0, c, 1], [a, 2, c, 0], [a, 2, c, 1]]);
        }
    }
}

/// The counts of a table, by combination of its variables; bucket numbers are variables.
struct Counts {
    variables: Vec<usize>,
    counts: std::collections::BTreeMap<Vec<u32>, f64>,
}

/// The most likely table by gradient ascent on the logarithms of the factors, over all
/// combinations of values and bucket numbers; summed over the latter.
fn slowly(sizes: &[usize], attributes: usize, counts: &[Counts], rows: f64) -> Vec<(Vec<u32>, f64)> {
    let key = |row: &[u32], variables: &[usize]| variables.iter().map(|&own| row[own]).collect::<Vec<u32>>();
    let there = |row: &Vec<u32>| counts.iter().all(|one| one.counts.contains_key(&key(row, &one.variables)));
    let all: Vec<Vec<u32>> = combinations(sizes).into_iter().filter(there).collect();
    let places: Vec<Vec<usize>> = (counts.iter())
        .map(|one| {
            let number =
                |row: &Vec<u32>| one.counts.keys().position(|known| *known == key(row, &one.variables)).unwrap();
            all.iter().map(number).collect()
        })
        .collect();
    let wanted: Vec<Vec<f64>> =
        counts.iter().map(|one| one.counts.values().map(|rows_of| rows_of / rows).collect()).collect();
    let mut logs: Vec<Vec<f64>> = wanted.iter().map(|wanted| vec![0.0; wanted.len()]).collect();
    let mut shares = vec![0.0; all.len()];
    for _ in 0..20_000 {
        for (cell, share) in shares.iter_mut().enumerate() {
            *share = logs.iter().zip(&places).map(|(logs, places)| logs[places[cell]]).sum::<f64>().exp();
        }
        let total: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share /= total);
        let mut most = 0.0f64;
        for ((logs, places), wanted) in logs.iter_mut().zip(&places).zip(&wanted) {
            let mut gradient = wanted.clone();
            shares.iter().zip(places).for_each(|(share, &place)| gradient[place] -= share);
            most = gradient.iter().fold(most, |most, one| most.max(one.abs()));
            logs.iter_mut().zip(gradient).for_each(|(log, one)| *log += 2.0 * one);
        }
        if most < 1e-10 {
            break;
        }
    }
    let mut found: std::collections::BTreeMap<Vec<u32>, f64> = std::collections::BTreeMap::new();
    for (row, share) in all.iter().zip(&shares) {
        *found.entry(row[..attributes].to_vec()).or_default() += share * rows;
    }
    found.into_iter().collect()
}

/// Rings of four and three, with a branch, and with tables by bucket whose two sides are both part
/// of the ring or of which one is.
#[test]
fn fitting_agrees_with_gradient_ascent() {
    let shapes: [&[(&[usize], bool)]; 4] = [
        &[(&[0, 1], false), (&[1, 2], false), (&[2, 3], false), (&[3, 0], false)],
        &[(&[0, 1], false), (&[1, 2], false), (&[2, 0], false), (&[2, 3], false)],
        &[(&[0, 1], true), (&[1, 2], false), (&[2, 0], false), (&[3], false)],
        &[(&[0, 1, 3], true), (&[1, 2], false), (&[2, 0], false)],
    ];
    let cardinalities = [2, 2, 3, 2];
    for (seed, shape) in (0..).zip(shapes) {
        let source = source(&cardinalities, 24, &mut StdRng::seed_from_u64(seed));
        let mut sizes = cardinalities.to_vec();
        let (mut tables, mut counts) = (Vec::new(), Vec::new());
        let mut columns = source.clone();
        for (attributes, buckets) in shape {
            let mut sides = vec![attributes.to_vec()];
            if *buckets {
                let (last, open) = attributes.split_last().unwrap();
                sides = vec![[open, &[sizes.len()]].concat(), vec![*last, sizes.len()]];
                columns.push((0..24).map(|row| row / 12).collect());
                sizes.push(2);
                tables.push(bucketized(&source, attributes, 12));
            } else {
                tables.push(plain(&source, attributes));
            }
            counts.extend(sides.into_iter().map(|variables| {
                let mut counts = std::collections::BTreeMap::new();
                let key = |row: usize| variables.iter().map(|&own: &usize| columns[own][row]).collect::<Vec<u32>>();
                for key in (0..24).map(key) {
                    *counts.entry(key).or_insert(0.0) += 1.0;
                }
                Counts { variables, counts }
            }));
        }
        let estimate = MaxLikelihood::new(&cardinalities, &tables).unwrap();
        assert!(estimate.fits().len() == 1 && estimate.fits()[0].converged, "{shape:?} {:?}", estimate.fits());
        let slow = slowly(&sizes, 4, &counts, 24.0);
        let mut divergence = 0.0;
        for (row, wanted) in &slow {
            let found = expected(&estimate, &cardinalities, row);
            assert!((found - wanted).abs() < 1e-4, "{shape:?} {row:?}: {found}, not {wanted}");
            let truth = (0..24).filter(|&at| (0..4).all(|own| source[own][at] == row[own])).count() as f64;
            divergence += if truth > 0.0 { truth / 24.0 * (truth / wanted).ln() } else { 0.0 };
        }
        let total: f64 = slow.iter().map(|(_, rows)| rows).sum();
        assert!((total - 24.0).abs() < 1e-6);
        let found = estimate.kl_divergence(&source);
        assert!((found - divergence).abs() < 1e-5, "{shape:?}: {found}, not {divergence}");
        assert!(
            (estimate.expected(&[(3, vec![true, false])]) - source[3].iter().filter(|&&v| v == 0).count() as f64).abs()
                < 1e-6
        );
    }
}

/// A tree treated as a ring: one pass is enough, and the closed form is what it reaches.
#[test]
fn a_tree_is_fitted_to_its_closed_form() {
    let cardinalities = [2, 3, 2, 3];
    for seed in 0..20 {
        let source = source(&cardinalities, 40, &mut StdRng::seed_from_u64(seed));
        let tables = [plain(&source, &[0, 1]), bucketized(&source, &[1, 2], 10), plain(&source, &[0, 3])];
        let closed = MaxLikelihood::new(&cardinalities, &tables).unwrap();
        assert!(closed.fits().is_empty());
        let factors: Vec<Factor> =
            tables.iter().enumerate().flat_map(|(at, table)| Factor::of(table, 4 + at, &cardinalities)).collect();
        let whole = factors.iter().map(|factor| factor.variables.clone()).enumerate().collect();
        let (fitted, fit, replaced) = fit(&Ring { tables: whole }, &factors, 4, 40.0).unwrap();
        assert!(fit.converged && fit.passes <= 3 && replaced.len() == 4, "{fit:?}");
        for place in 0..fitted.counts.len() {
            let mut row = [0; 4];
            fitted.variables.iter().zip(&fitted.columns).for_each(|(&own, column)| row[own] = column[place]);
            let wanted = expected(&closed, &cardinalities, &row);
            assert!((fitted.counts[place] - wanted).abs() < 1e-8, "seed {seed}: {row:?}");
        }
    }
}

/// Of rows without released values only the number is known, so that no count contradicts the
/// other tables.
#[test]
fn rows_without_released_values_take_the_values_that_the_ring_leaves() {
    let cardinalities = [2, 2, 2];
    let source = source(&cardinalities, 29, &mut StdRng::seed_from_u64(3));
    let tables = [bucketized(&source, &[0, 1], 6), plain(&source, &[1, 2]), plain(&source, &[2, 0])];
    let estimate = MaxLikelihood::new(&cardinalities, &tables).unwrap();
    assert!(estimate.fits()[0].converged, "{:?}", estimate.fits());
    for (attribute, values) in source.iter().enumerate() {
        let truth = values.iter().filter(|&&value| value == 0).count() as f64;
        let found = estimate.expected(&[(attribute, vec![true, false])]);
        assert!((found - truth).abs() < 1e-6, "{attribute}: {found}, not {truth}");
    }
}

#[test]
fn what_is_too_large_or_not_reached_is_named() {
    let values = 300;
    let all: Vec<Vec<u32>> = (0..3)
        .map(|own| (0..90_000u32).map(|row| [row % 300, row / 300, (row % 300 + row / 300) % 300][own]).collect())
        .collect();
    let triangle = [[0, 1], [1, 2], [2, 0]];
    let tables = triangle.map(|attributes| plain(&all, &attributes));
    assert_eq!(
        MaxLikelihood::new(&[values; 3], &tables).unwrap_err(),
        NoEstimate::TooLarge { combinations: 27_000_000 }
    );
    // The six rows that are neither 000 nor 111: the estimate has none of these two either, which
    // no finite number of passes reaches.
    let rows: Vec<Vec<u32>> =
        combinations(&[2, 2, 2]).into_iter().filter(|row| (1..3).contains(&row.iter().sum::<u32>())).collect();
    let source: Vec<Vec<u32>> = (0..3).map(|own| rows.iter().map(|row| row[own]).collect()).collect();
    let tables = triangle.map(|attributes| plain(&source, &attributes));
    let estimate = MaxLikelihood::new(&[2; 3], &tables).unwrap();
    let [fit] = estimate.fits() else { panic!("one ring") };
    assert!(!fit.converged && fit.passes == PASSES_MAX && fit.deviation < 1e-3, "{fit:?}");
    assert!((expected(&estimate, &[2; 3], &[0, 0, 1]) - 1.0).abs() < 1e-2);
}
