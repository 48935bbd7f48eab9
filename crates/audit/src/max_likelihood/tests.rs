//! Small tables whose maximum-likelihood estimate can be worked out by hand.

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
fn cycles_and_nothing_have_no_closed_form() {
    let cycle = [plain(&[(0, &[0]), (1, &[0])]), plain(&[(1, &[0]), (2, &[0])]), plain(&[(2, &[0]), (0, &[0])])];
    assert!(MaxLikelihood::new(&[1, 1, 1], &cycle).is_none());
    assert!(MaxLikelihood::new(&[], &[]).is_none());
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
