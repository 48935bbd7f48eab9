//! Tables that leak are never written, whichever algorithm chose them.

use hedgerow_draft::bind::read_source;
use hedgerow_draft::options::PublishOptions;
use hedgerow_policy::Algorithm;
use hedgerow_privacy::rules::NormalFormStanding;
use hedgerow_table::NoProgress;
use rand::SeedableRng;

use super::attack::{AttackLimits, attack};
use super::*;

/// A table that releases one attribute by bucket.
fn in_buckets(
    problem: &DecompositionProblem<'_>,
    attributes: [usize; 3],
    sensitive: usize,
    of_row: [u32; 6],
) -> Subtable {
    let column = problem.columns[sensitive];
    let members = (0..3).map(|bucket| {
        let mut values: Vec<(u32, u32)> =
            (0..6).filter(|&row| of_row[row] == bucket).map(|row| (column.get(row), 1)).collect();
        values.sort_unstable();
        values
    });
    let groups = Some(Arc::new(Groups::of(of_row.to_vec(), members)));
    Subtable { sensitive: AttributeSet::of(sensitive), groups, ..Subtable::plain(attributes.into_iter().collect()) }
}

/// The paper's table 2: one table for each rule, which combined disclose four ZIP codes.
#[test]
fn a_breach_found_by_the_attack_refuses_the_release() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/six-patients/decompose.toml");
    let policy = Policy::load(path.as_ref()).unwrap();
    let table = read_source(&policy, &NoProgress).unwrap();
    let options = PublishOptions { seed: Some(1), ..PublishOptions::to("release") };
    let bound = Bound::new(&policy, &table).unwrap();
    let mut rng = StdRng::seed_from_u64(1);
    let naive = draft_chosen(&bound, &options, &mut rng, |_, _, problem, _| {
        let [hospital, age, gender, zipcode, race, icd] = [0, 1, 2, 3, 4, 5];
        let (first, second) = ([0, 2, 2, 1, 1, 0], [0, 1, 0, 1, 2, 2]);
        let tables = vec![
            in_buckets(problem, [age, icd, race], race, first),
            in_buckets(problem, [gender, icd, zipcode], zipcode, first),
            in_buckets(problem, [hospital, race, zipcode], zipcode, second),
        ];
        // As if normal form had been judged wrongly.
        let standings = vec![NormalFormStanding::NotReachable; problem.rules.len()];
        Ok(vec![Chosen { algorithm: Algorithm::Gd, tables, kl: None, standings }])
    });
    let Err(PublishError::Ineligible(why)) = naive else { panic!("drafted: {naive:?}") };
    assert!(why.to_string().contains("leave 1 of 2 values of `zipcode`"), "{why}");
    assert!(draft_chosen(&bound, &options, &mut rng, choices).is_ok());
}

/// Attacks that were not tried are reported to the publisher.
#[test]
fn how_far_the_attack_went_is_reported() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/six-patients/decompose.toml");
    let policy = Policy::load(path.as_ref()).unwrap();
    let table = read_source(&policy, &NoProgress).unwrap();
    let bound = Bound::new(&policy, &table).unwrap();
    let rules = Rules::new(&policy, &table).unwrap();
    // The same buckets twice: neither shows anything that the other does not.
    let ([hospital, gender, zipcode, icd], of_row) = ([0, 2, 3, 5], [0, 2, 2, 1, 1, 0]);
    let tables = [[gender, zipcode, icd], [hospital, gender, zipcode]]
        .map(|attributes| in_buckets(&rules.problem(), attributes, zipcode, of_row));
    let attacked = |limits| attack(&rules.problem(), &rules.columns, &tables, limits);
    assert_eq!(warning_of_partial(&bound, attacked(AttackLimits::default())), None);
    let partial = warning_of_partial(&bound, attacked(AttackLimits { words: 0, cells: 0 })).unwrap();
    assert!(partial.problem.contains("partial: the tables that share gender, zipcode"), "{partial:?}");
}
