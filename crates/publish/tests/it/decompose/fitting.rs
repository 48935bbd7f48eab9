//! The divergence and count queries in closed form against iterative proportional fitting over all
//! combinations of values.

use std::collections::BTreeMap;

use hedgerow_audit::max_likelihood::MaxLikelihood;
use hedgerow_privacy::rules::AttributeSet;
use hedgerow_publish::decompose::divergence::Divergence;
use hedgerow_publish::decompose::gd::gd;
use hedgerow_publish::decompose::multi_sensitive::multi_sensitive;
use hedgerow_publish::decompose::uad::uad;
use hedgerow_publish::decompose::{DecompositionProblem, Subtable, single_attribute};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::{Case, has_rows_without_value, seeds};

/// The most likely table behind some tables, by fitting their margins again and again from a
/// uniform start, over all combinations of values and bucket numbers: the share of every
/// combination of values; and the divergence of the true rows from it.
fn fitted(case: &Case, tables: &[Subtable]) -> (BTreeMap<Vec<usize>, f64>, f64) {
    let attributes = case.columns.len();
    let mut sizes = case.cardinalities.clone();
    // The true rows, each table's bucket numbers added as further columns.
    let mut rows: Vec<Vec<usize>> =
        (0..case.rows).map(|row| case.columns.iter().map(|column| column.get(row) as usize).collect()).collect();
    let mut margins: Vec<Vec<usize>> = Vec::new();
    for table in tables {
        let list = |set: AttributeSet| set.iter().collect::<Vec<usize>>();
        match &table.groups {
            None => margins.push(list(table.attributes)),
            Some(groups) => {
                let latent = sizes.len();
                sizes.push(groups.len());
                for (row, cells) in rows.iter_mut().enumerate() {
                    cells.push(groups.of_row[row] as usize);
                }
                margins.push(list(table.open()).into_iter().chain([latent]).collect());
                margins.push(list(table.sensitive).into_iter().chain([latent]).collect());
            }
        }
    }
    let cells: usize = sizes.iter().product();
    let digits = |mut cell: usize| -> Vec<usize> {
        sizes
            .iter()
            .map(|&size| {
                let digit = cell % size;
                cell /= size;
                digit
            })
            .collect()
    };
    let all: Vec<Vec<usize>> = (0..cells).map(digits).collect();
    let project = |cell: &[usize], margin: &[usize]| margin.iter().map(|&at| cell[at]).collect::<Vec<usize>>();
    let mut estimate = vec![1.0 / cells as f64; cells];
    for _ in 0..60 {
        let before = estimate.clone();
        for margin in &margins {
            let mut wanted: BTreeMap<Vec<usize>, f64> = BTreeMap::new();
            for row in &rows {
                *wanted.entry(project(row, margin)).or_default() += 1.0 / case.rows as f64;
            }
            let mut have: BTreeMap<Vec<usize>, f64> = BTreeMap::new();
            for (cell, p) in all.iter().zip(&estimate) {
                *have.entry(project(cell, margin)).or_default() += p;
            }
            for (cell, p) in all.iter().zip(estimate.iter_mut()) {
                let key = project(cell, margin);
                let factor = wanted.get(&key).map_or(0.0, |wanted| wanted / have[&key].max(f64::MIN_POSITIVE));
                *p *= factor;
            }
        }
        if estimate.iter().zip(&before).all(|(now, before)| (now - before).abs() <= 1e-15) {
            break;
        }
    }
    let mut likeliest: BTreeMap<Vec<usize>, f64> = BTreeMap::new();
    for (cell, p) in all.iter().zip(&estimate) {
        *likeliest.entry(cell[..attributes].to_vec()).or_default() += p;
    }
    let mut truth: BTreeMap<&[usize], f64> = BTreeMap::new();
    for row in &rows {
        *truth.entry(&row[..attributes]).or_default() += 1.0 / case.rows as f64;
    }
    let divergence = truth.iter().map(|(cell, p)| p * (p / likeliest[*cell]).ln()).sum();
    (likeliest, divergence)
}

/// Count queries from the closed form, and the audit's own divergence, against the fitted table.
fn queries_agree(
    case: &Case,
    problem: &DecompositionProblem<'_>,
    tables: &[Subtable],
    likeliest: &BTreeMap<Vec<usize>, f64>,
    seed: u64,
) {
    let published: Vec<_> = tables.iter().map(|table| table.published(problem).unwrap()).collect();
    let estimate = MaxLikelihood::new(&case.cardinalities, &published).unwrap();
    let mut rng = StdRng::seed_from_u64(seed);
    for _ in 0..5 {
        let conditions: Vec<(usize, Vec<bool>)> = (0..case.columns.len())
            .filter(|_| rng.random_bool(0.6))
            .collect::<Vec<_>>()
            .into_iter()
            .map(|attribute| (attribute, (0..case.cardinalities[attribute]).map(|_| rng.random_bool(0.5)).collect()))
            .collect();
        let fits = |cell: &[usize]| conditions.iter().all(|(attribute, wanted)| wanted[cell[*attribute]]);
        let expected: f64 = likeliest.iter().filter(|(cell, _)| fits(cell)).map(|(_, share)| share).sum();
        let found = estimate.expected(&conditions);
        let expected = expected * case.rows as f64;
        assert!(
            (found - expected).abs() < 1e-8,
            "{found} and {expected} for {conditions:?} from {tables:?}; HEDGEROW_SEED={seed}"
        );
    }
}

/// The audit works the divergence out by itself, from what readers see.
fn agrees_with_the_audit(case: &Case, problem: &DecompositionProblem<'_>, tables: &[Subtable], kl: f64, seed: u64) {
    let published: Vec<_> = tables.iter().map(|table| table.published(problem).unwrap()).collect();
    let source: Vec<Vec<u32>> = case.columns.iter().map(|column| column.iter().collect()).collect();
    let audited = MaxLikelihood::new(&case.cardinalities, &published).unwrap().kl_divergence(&source);
    assert!((kl - audited).abs() < 1e-9, "{kl} and {audited} for {tables:?}; HEDGEROW_SEED={seed}");
}

#[test]
fn the_closed_form_agrees_with_proportional_fitting() {
    let mut compared = 0;
    for seed in seeds(150) {
        let mut rng = StdRng::seed_from_u64(seed);
        let (attributes, rows, rules) = (rng.random_range(2..=4), rng.random_range(3..=6), rng.random_range(1..=4));
        let case = Case::new(&mut rng, attributes, rows, 3, rules);
        let problem = case.problem(&[]);
        let mut divergence = Divergence::new(&problem);
        let mut made = vec![gd(&problem, &mut divergence, &mut rng).unwrap(), uad(&problem, &mut rng).unwrap()];
        made.push(single_attribute(&problem));
        made.extend(multi_sensitive(&problem, &mut rng));
        for tables in made {
            agrees_with_the_audit(&case, &problem, &tables, divergence.of(&tables).unwrap(), seed);
            if tables.iter().any(has_rows_without_value) {
                continue;
            }
            let closed = divergence.of(&tables).unwrap();
            let (likeliest, fitted) = fitted(&case, &tables);
            assert!((closed - fitted).abs() < 1e-9, "{closed} and {fitted} for {tables:?}; HEDGEROW_SEED={seed}");
            queries_agree(&case, &problem, &tables, &likeliest, seed);
            compared += 1;
        }
    }
    assert!(compared > 0);
}
