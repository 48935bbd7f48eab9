//! Small tables whose maximum-likelihood estimate can be worked out by hand.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;

fn plain(columns: &[(usize, &[u32])]) -> PublishedTable {
    let by_row = columns.iter().map(|(attribute, codes)| (*attribute, codes.to_vec())).collect();
    PublishedTable { by_row, buckets: None }
}

/// Two tables that meet in one attribute: 0 and 2 are independent given 1.
#[test]
fn a_chain_expects_what_follows_from_what_is_shared() {
    let tables = [plain(&[(0, &[0, 0, 1, 1]), (1, &[0, 0, 0, 1])]), plain(&[(1, &[0, 0, 0, 1]), (2, &[0, 1, 1, 1])])];
    let estimate = MaxLikelihood::new(&[2, 2, 2], &tables).unwrap();
    // Of the three rows with 0 in the middle two have 0 before and one has 0 behind: 3 · 2/3 · 1/3.
    let selected = [(0, vec![true, false]), (2, vec![true, false])];
    assert!((estimate.expected(&selected) - 2.0 / 3.0).abs() < 1e-12);
    assert!((estimate.expected(&[(1, vec![false, true])]) - 1.0).abs() < 1e-12);
    assert!((estimate.expected(&[]) - 4.0).abs() < 1e-12);
    let source = [vec![0, 0, 1, 1], vec![0, 0, 0, 1], vec![0, 1, 1, 1]];
    // Rows 000, 001, 101, 111, expected 2/3, 4/3, 2/3, 1.
    let expected: f64 = [2.0 / 3.0, 4.0 / 3.0, 2.0 / 3.0, 1.0f64].iter().map(|rows| -rows.ln() / 4.0).sum();
    assert!((estimate.kl_divergence(&source) - expected).abs() < 1e-12);
}

#[test]
fn a_bucket_spreads_its_values_over_its_rows() {
    let buckets = PublishedBuckets {
        of_row: vec![0, 0, 1, PublishedBuckets::NO_BUCKET],
        sensitive: vec![(1, vec![0, 1, 2])],
        of_entry: vec![0, 0, 1],
        counts: vec![1, 1, 1],
    };
    let tables = [PublishedTable { by_row: vec![(0, vec![0, 1, 1, 1])], buckets: Some(buckets) }];
    let estimate = MaxLikelihood::new(&[2, 4], &tables).unwrap();
    // Half a row each; the row without a sensitive value has each of four values with a quarter.
    let expected_rows = |open: usize, value: usize| {
        let only = |values: usize, value: usize| (0..values).map(|one| one == value).collect();
        estimate.expected(&[(0, only(2, open)), (1, only(4, value))])
    };
    for (open, value, expected) in [(0, 0, 0.5), (0, 2, 0.0), (1, 0, 0.75), (1, 2, 1.25), (1, 3, 0.25)] {
        assert!(
            (expected_rows(open, value) - expected).abs() < 1e-12,
            "{open} {value}: {}",
            expected_rows(open, value)
        );
    }
    let source = [vec![0, 1, 1, 1], vec![0, 1, 2, 3]];
    let expected: f64 = [0.5f64, 0.75, 1.25, 0.25].iter().map(|rows| -rows.ln() / 4.0).sum();
    assert!((estimate.kl_divergence(&source) - expected).abs() < 1e-12);
}

#[test]
fn nothing_has_no_estimate() {
    assert_eq!(MaxLikelihood::new(&[], &[]).unwrap_err(), NoEstimate::Nothing);
}

#[test]
fn queries_are_repeatable_and_exact_where_every_row_is_released() {
    let source = [vec![0, 1, 2, 0, 1], vec![1, 0, 1, 1, 0]];
    let complete = [plain(&[(0, &source[0]), (1, &source[1])])];
    let queries = CountQueries { count: 50, seed: 3, dimension: 2, share: 0.4 };
    let error = MaxLikelihood::new(&[3, 2], &complete).unwrap().query_error(&source, queries).unwrap();
    assert_eq!((error.answered, error.relative_error.mean, error.relative_error.median), (50, 0.0, 0.0));
    let apart = [plain(&[(0, &source[0])]), plain(&[(1, &source[1])])];
    let estimate = MaxLikelihood::new(&[3, 2], &apart).unwrap();
    let error = estimate.query_error(&source, queries).unwrap();
    assert!(error.relative_error.mean > 0.0);
    assert_eq!(estimate.query_error(&source, queries), Some(error));
}

/// How many rows a table by itself expects of one combination of its attributes.
fn expected_by(table: &PublishedTable, row: &[u32]) -> f64 {
    let agrees = |columns: &[(usize, Vec<u32>)], place: usize| {
        columns.iter().all(|(attribute, codes)| codes[place] == row[*attribute])
    };
    let rows = (0..table.rows()).filter(|&place| agrees(&table.by_row, place));
    let Some(buckets) = &table.buckets else { return rows.count() as f64 };
    let share = |bucket: u32| {
        let own = |entry: &usize| buckets.of_entry[*entry] == bucket;
        let rows = |entry: usize| f64::from(buckets.counts[entry]);
        let entries = || (0..buckets.of_entry.len()).filter(own);
        let selected: f64 = entries().filter(|&entry| agrees(&buckets.sensitive, entry)).map(rows).sum();
        selected / entries().map(rows).sum::<f64>()
    };
    rows.map(|place| share(buckets.of_row[place])).sum()
}

/// Three tables that share two attributes, or one, each perhaps with an attribute by bucket,
/// against the closed form summed over all combinations; alone and among 63 other queries.
#[test]
fn expected_counts_agree_with_the_sum_over_all_combinations() {
    let cardinalities = [2usize, 3, 2, 3, 2];
    let mut bucketized = 0;
    for seed in 0..300 {
        let rng = &mut StdRng::seed_from_u64(seed);
        let rows = rng.random_range(1..12usize);
        let source: Vec<Vec<u32>> = (cardinalities.iter())
            .map(|&values| (0..rows).map(|_| rng.random_range(0..values as u32)).collect())
            .collect();
        // The last two tables share with the first what no other table has.
        let separators: [&[usize]; 2] = if rng.random_bool(0.5) { [&[0, 1], &[0, 1]] } else { [&[1], &[0]] };
        let mut tables = Vec::new();
        for (number, own) in [(0, 2), (1, 3), (2, 4)] {
            let open: &[usize] = if number == 0 { &[0, 1] } else { separators[number - 1] };
            let column = |attribute: usize| (attribute, source[attribute].clone());
            let mut by_row: Vec<(usize, Vec<u32>)> = open.iter().map(|&attribute| column(attribute)).collect();
            if rng.random_bool(0.5) {
                by_row.push(column(own));
                tables.push(PublishedTable { by_row, buckets: None });
                continue;
            }
            bucketized += 1;
            let of_row: Vec<u32> = (0..rows).map(|row| (row % rows.div_ceil(3)) as u32).collect();
            let (sensitive, of_entry) = (vec![column(own)], of_row.clone());
            let buckets = PublishedBuckets { of_row, sensitive, of_entry, counts: vec![1; rows] };
            tables.push(PublishedTable { by_row, buckets: Some(buckets) });
        }
        let estimate = MaxLikelihood::new(&cardinalities, &tables).unwrap();
        let draw = |rng: &mut StdRng| -> Selected {
            let attributes = (0..5).filter(|_| rng.random_bool(0.5)).collect::<Vec<usize>>();
            let mut wanted = |attribute: usize| (0..cardinalities[attribute]).map(|_| rng.random_bool(0.5)).collect();
            attributes.into_iter().map(|attribute| (attribute, wanted(attribute))).collect()
        };
        let queries: Vec<Selected> = (0..LANES).map(|_| draw(&mut *rng)).collect();
        let together = estimate.expected_lanes(&Selection::new(&queries, &cardinalities));
        for (query, together) in queries.iter().zip(together) {
            let mut expected = 0.0;
            for combination in 0..cardinalities.iter().product::<usize>() {
                let mut rest = combination;
                let row: Vec<u32> = (cardinalities.iter())
                    .map(|&values| {
                        let code = rest % values;
                        rest /= values;
                        code as u32
                    })
                    .collect();
                let shared = separators.iter().map(|shared| {
                    let open = shared.iter().map(|&attribute| (attribute, source[attribute].clone())).collect();
                    expected_by(&PublishedTable { by_row: open, buckets: None }, &row)
                });
                let shared: f64 = shared.product();
                if shared > 0.0 && query.iter().all(|(attribute, wanted)| wanted[row[*attribute] as usize]) {
                    expected += tables.iter().map(|table| expected_by(table, &row)).product::<f64>() / shared;
                }
            }
            assert!((estimate.expected(query) - expected).abs() < 1e-9, "seed {seed}: {query:?}, not {expected}");
            assert!((together - expected).abs() < 1e-9, "seed {seed}: {query:?} among others, not {expected}");
        }
    }
    assert!(bucketized > 200, "only {bucketized} tables with buckets");
}
