//! Small tables whose most likely table can be worked out by hand.

use super::*;

fn plain(columns: &[(usize, &[u32])]) -> PublishedTable {
    let open = columns.iter().map(|(attribute, codes)| (*attribute, codes.to_vec())).collect();
    PublishedTable { open, buckets: None }
}

/// Two tables that meet in one attribute: 0 and 2 are independent given 1.
#[test]
fn a_chain_expects_what_follows_from_what_is_shared() {
    let tables = [plain(&[(0, &[0, 0, 1, 1]), (1, &[0, 0, 0, 1])]), plain(&[(1, &[0, 0, 0, 1]), (2, &[0, 1, 1, 1])])];
    let joint = Joint::new(&[2, 2, 2], &tables).unwrap();
    // Of the three rows with 0 in the middle two have 0 before and one has 0 behind: 3 · 2/3 · 1/3.
    let asked = [(0, vec![true, false]), (2, vec![true, false])];
    assert!((joint.expected(&asked) - 2.0 / 3.0).abs() < 1e-12);
    assert!((joint.expected(&[(1, vec![false, true])]) - 1.0).abs() < 1e-12);
    assert!((joint.expected(&[]) - 4.0).abs() < 1e-12);
    let source = [vec![0, 0, 1, 1], vec![0, 0, 0, 1], vec![0, 1, 1, 1]];
    // Rows 000, 001, 101, 111, expected 2/3, 4/3, 2/3, 1.
    let expected: f64 = [2.0 / 3.0, 4.0 / 3.0, 2.0 / 3.0, 1.0f64].iter().map(|told| -told.ln() / 4.0).sum();
    assert!((joint.divergence(&source) - expected).abs() < 1e-12);
}

#[test]
fn a_bucket_spreads_its_values_over_its_rows() {
    let buckets = PublishedBuckets {
        of_row: vec![0, 0, 1, PublishedBuckets::UNTOLD],
        sensitive: vec![(1, vec![0, 1, 2])],
        of_entry: vec![0, 0, 1],
        counts: vec![1, 1, 1],
    };
    let tables = [PublishedTable { open: vec![(0, vec![0, 1, 1, 1])], buckets: Some(buckets) }];
    let joint = Joint::new(&[2, 4], &tables).unwrap();
    // Half a row each; the row whose value is not told has each of four values with a quarter.
    let ask = |open: usize, value: usize| {
        let only = |values: usize, value: usize| (0..values).map(|one| one == value).collect();
        joint.expected(&[(0, only(2, open)), (1, only(4, value))])
    };
    for (open, value, expected) in [(0, 0, 0.5), (0, 2, 0.0), (1, 0, 0.75), (1, 2, 1.25), (1, 3, 0.25)] {
        assert!((ask(open, value) - expected).abs() < 1e-12, "{open} {value}: {}", ask(open, value));
    }
    let source = [vec![0, 1, 1, 1], vec![0, 1, 2, 3]];
    let expected: f64 = [0.5f64, 0.75, 1.25, 0.25].iter().map(|told| -told.ln() / 4.0).sum();
    assert!((joint.divergence(&source) - expected).abs() < 1e-12);
}

#[test]
fn rings_and_nothing_have_no_closed_form() {
    let ring = [plain(&[(0, &[0]), (1, &[0])]), plain(&[(1, &[0]), (2, &[0])]), plain(&[(2, &[0]), (0, &[0])])];
    assert!(Joint::new(&[1, 1, 1], &ring).is_none());
    assert!(Joint::new(&[], &[]).is_none());
}

#[test]
fn queries_are_repeatable_and_exact_where_everything_is_told() {
    let source = [vec![0, 1, 2, 0, 1], vec![1, 0, 1, 1, 0]];
    let whole = [plain(&[(0, &source[0]), (1, &source[1])])];
    let asked = CountQueries { count: 50, seed: 3, dimension: 2, share: 0.4 };
    let error = Joint::new(&[3, 2], &whole).unwrap().query_error(&source, asked).unwrap();
    assert_eq!((error.answered, error.mean, error.median), (50, 0.0, 0.0));
    let apart = [plain(&[(0, &source[0])]), plain(&[(1, &source[1])])];
    let joint = Joint::new(&[3, 2], &apart).unwrap();
    let error = joint.query_error(&source, asked).unwrap();
    assert!(error.mean > 0.0);
    assert_eq!(joint.query_error(&source, asked), Some(error));
}
