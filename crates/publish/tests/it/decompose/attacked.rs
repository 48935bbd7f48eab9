//! The attack that a decomposition has to withstand before it is written.

use std::sync::Arc;

use hedgerow_privacy::Model;
use hedgerow_privacy::rules::{AttributeSet, Dependency, Rule};
use hedgerow_publish::decompose::attack::{AttackLimits, Attacked, attack};
use hedgerow_publish::decompose::divergence::Divergence;
use hedgerow_publish::decompose::gd::gd;
use hedgerow_publish::decompose::multi_sensitive::multi_sensitive;
use hedgerow_publish::decompose::uad::uad;
use hedgerow_publish::decompose::{Groups, Subtable};
use hedgerow_table::{Codes, Column};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::adversary::{beliefs, published};
use super::{Case, seeds};

fn attacked(case: &Case, dependencies: &[Dependency], tables: &[Subtable]) -> Attacked {
    attacked_within(case, dependencies, tables, AttackLimits::default())
}

fn attacked_within(case: &Case, dependencies: &[Dependency], tables: &[Subtable], limits: AttackLimits) -> Attacked {
    let columns = case.named();
    attack(&case.problem(dependencies), &columns.iter().collect::<Vec<&Column>>(), tables, limits)
}

/// As if connected tables were too many to be joined: one attribute after the other.
fn one_by_one() -> AttackLimits {
    AttackLimits { words: 0, ..AttackLimits::default() }
}

/// A decomposition that keeps the rules by its schema keeps them against the intersection attack.
#[test]
fn nothing_is_found_in_normal_form() {
    let mut several = 0;
    for seed in seeds(100) {
        let mut rng = StdRng::seed_from_u64(seed);
        let (attributes, rows, rules) = (rng.random_range(2..=6), rng.random_range(4..=16), rng.random_range(1..=6));
        let case = Case::new(&mut rng, attributes, rows, 4, rules);
        // Whether the table has it or not: attackers know all pairs.
        let (from, to) = (rng.random_range(0..attributes), rng.random_range(0..attributes));
        let known = (from != to && rng.random_bool(0.3)).then_some(Dependency { from: AttributeSet::of(from), to });
        let known: Vec<Dependency> = known.into_iter().collect();
        let problem = case.problem(&known);
        let mut made = Vec::new();
        made.extend(gd(&problem, &mut Divergence::new(&problem), &mut rng));
        made.extend(uad(&problem, &mut rng));
        made.extend(multi_sensitive(&problem, &mut rng).filter(|tables| problem.is_kept(tables)));
        for tables in made {
            several += usize::from(tables.iter().any(|table| table.sensitive.len() > 1));
            assert_eq!(attacked(&case, &known, &tables), Attacked::Passed, "{tables:?}; HEDGEROW_SEED={seed}");
            let found = attacked_within(&case, &known, &tables, one_by_one());
            assert_eq!(found, Attacked::Passed, "{tables:?}; HEDGEROW_SEED={seed}");
        }
    }
    assert!(several > 5 || std::env::var("HEDGEROW_SEED").is_ok(), "{several}");
}

/// Tables drawn without a thought for rules, of three or four people: what the attack says it has
/// found is compared with everything that could be true; and joined one attribute after the other
/// it finds no more than joined at once.
#[test]
fn findings_are_true_of_every_table_that_agrees() {
    let (mut broken, mut found, mut found_one_by_one) = (0, 0, 0);
    for seed in seeds(300) {
        let mut rng = StdRng::seed_from_u64(seed);
        let (attributes, rows) = (rng.random_range(2..=4), rng.random_range(3..=4));
        let mut case = Case::new(&mut rng, attributes, rows, 4, 0);
        let protect = rng.random_range(0..attributes);
        case.rules = vec![rule(&[(protect + 1) % attributes], protect)];
        let tables: Vec<Subtable> =
            (0..rng.random_range(2..=3)).map(|_| drawn_table(&case, protect, &mut rng)).collect();
        let words = || format!("{tables:?} of {:?}; HEDGEROW_SEED={seed}", case.columns);
        let is_broken = fewest_left(&case, &tables) < 2;
        let at_once = matches!(attacked(&case, &[], &tables), Attacked::Breached(_));
        let one_by_one = matches!(attacked_within(&case, &[], &tables, one_by_one()), Attacked::Breached(_));
        assert!(is_broken || !at_once, "at once: {}", words());
        assert!(at_once || !one_by_one, "one attribute after the other: {}", words());
        broken += usize::from(is_broken);
        found += usize::from(at_once);
        found_one_by_one += usize::from(one_by_one);
    }
    let words = format!("{broken} broken, {found} found, {found_one_by_one} one by one");
    assert!(found_one_by_one > 20 && found > broken / 2 || std::env::var("HEDGEROW_SEED").is_ok(), "{words}");
}

/// The protected attribute by bucket, or a few others as they are.
fn drawn_table(case: &Case, protect: usize, rng: &mut StdRng) -> Subtable {
    let mut attributes: Vec<usize> =
        (0..case.columns.len()).filter(|&attribute| attribute != protect && rng.random_bool(0.6)).collect();
    if attributes.is_empty() {
        attributes.push((protect + 1) % case.columns.len());
    }
    if rng.random_bool(0.25) {
        return Subtable::plain(attributes.into_iter().collect());
    }
    attributes.push(protect);
    // Every number up to the last belongs to a person.
    let mut of_row: Vec<u32> = (0..case.rows).map(|_| rng.random_range(0..2)).collect();
    if !of_row.contains(&0) {
        of_row.fill(0);
    }
    in_buckets(case, &attributes, &[protect], of_row)
}

/// How many values are possible for the one row of some table that is left with the fewest, for
/// an attacker who sees of it the bucket and what other tables hold too.
fn fewest_left(case: &Case, tables: &[Subtable]) -> usize {
    let seen = published(case, tables, &[]);
    let mut fewest = usize::MAX;
    let in_buckets = tables.iter().enumerate().filter(|(_, table)| table.groups.is_some());
    // Bucket numbers are columns behind those of the attributes.
    for (latent, (index, table)) in (case.columns.len()..).zip(in_buckets) {
        let others = tables.iter().enumerate().filter(|(other, _)| *other != index);
        let elsewhere = others.fold(AttributeSet::EMPTY, |all, (_, other)| all | other.attributes);
        let know = (table.open() & elsewhere).with(latent);
        let rule = Rule { know, protect: table.sensitive, require: Vec::new() };
        let left = beliefs(case, &rule, &seen);
        let possible = left.iter().map(|counts| counts.iter().filter(|&&count| count > 0).count());
        fewest = possible.chain([fewest]).min().unwrap_or(fewest);
    }
    fewest
}

/// A table that releases some attributes by bucket, given the bucket of every row.
fn in_buckets(case: &Case, attributes: &[usize], sensitive: &[usize], of_row: Vec<u32>) -> Subtable {
    let buckets = of_row.iter().filter(|&&bucket| bucket != Groups::NONE).max().map_or(0, |&last| last as usize + 1);
    // Only the buckets of rows matter to the attack.
    let groups = Groups::of(of_row, vec![Vec::new(); buckets].into_iter());
    let set = |list: &[usize]| list.iter().copied().collect::<AttributeSet>();
    assert!(set(sensitive).is_subset(set(attributes)) && case.columns.len() > sensitive.len());
    Subtable { sensitive: set(sensitive), groups: Some(Arc::new(groups)), ..Subtable::plain(set(attributes)) }
}

fn rule(know: &[usize], protect: usize) -> Rule {
    let require = vec![Model::DistinctLDiversity { l: 2 }];
    Rule { know: know.iter().copied().collect(), protect: AttributeSet::of(protect), require }
}

/// Every person by number, with an illness, which goes with a ward.
fn many(rows: u32) -> Case {
    let illness = |person: u32| if person < 8 { person % 4 } else { person % 2 };
    let columns = vec![
        Codes::from_iter(rows as usize, 0..rows),
        Codes::from_iter(4, (0..rows).map(illness)),
        Codes::from_iter(2, (0..rows).map(|person| illness(person) / 2)),
    ];
    Case { columns, cardinalities: vec![rows as usize, 4, 2], rows: rows as usize, rules: vec![rule(&[0], 1)] }
}

#[test]
fn large_tables_are_attacked_too() {
    let case = many(30_000);
    let pairs: Vec<u32> = (0..30_000).map(|person| person / 2).collect();
    let ward = Subtable::plain([1, 2].into_iter().collect());
    let guardian = in_buckets(&case, &[0, 1], &[1], pairs.clone());
    let in_normal_form = [guardian.clone(), ward.clone()];
    assert!(case.problem(&[]).is_kept(&in_normal_form));
    assert_eq!(attacked(&case, &[], &in_normal_form), Attacked::Passed);
    // The first eight share buckets with others in a second table, which leaves them one illness
    // each.
    let mut others = pairs.clone();
    others[..8].copy_from_slice(&[3, 0, 0, 1, 1, 2, 2, 3]);
    let twice = [guardian.clone(), in_buckets(&case, &[0, 1], &[1], others), ward];
    let Attacked::Breached(words) = attacked(&case, &[], &twice) else { panic!("nothing was found") };
    assert!(words.contains("leave 1 of 2 values of `attribute 1`"), "{words}");
    let same = [guardian, in_buckets(&case, &[0, 1], &[1], pairs)];
    let Attacked::Partial(words) = attacked(&case, &[], &same) else { panic!("they share who is who") };
    assert!(words.contains("attribute 0"), "{words}");
}

/// The conclusions from a dependency are a table that attackers have already.
#[test]
fn known_dependencies_take_part_in_the_attack() {
    let columns = vec![Codes::from_iter(4, 0..4), Codes::from_iter(2, [0, 0, 1, 1])];
    let case = Case { columns, cardinalities: vec![4, 2], rows: 4, rules: vec![rule(&[0], 1)] };
    let tables = [in_buckets(&case, &[0, 1], &[1], vec![0, 1, 0, 1])];
    assert_eq!(attacked(&case, &[], &tables), Attacked::Passed);
    let known = [Dependency { from: AttributeSet::of(0), to: 1 }];
    assert!(matches!(attacked(&case, &known, &tables), Attacked::Breached(_)));
}

#[test]
fn every_sensitive_attribute_is_attacked_beside_the_others() {
    // All four corners of a square, then with two that agree in the second attribute.
    let columns =
        vec![Codes::from_iter(5, 0..5), Codes::from_iter(2, [0, 0, 1, 1, 0]), Codes::from_iter(3, [0, 1, 0, 1, 2])];
    let case = Case { columns, cardinalities: vec![5, 2, 3], rows: 5, rules: vec![rule(&[0], 1), rule(&[0, 1], 2)] };
    let made = |of_row: [u32; 5]| [in_buckets(&case, &[0, 1, 2], &[1, 2], of_row.to_vec())];
    // The fifth has no value.
    assert_eq!(attacked(&case, &[], &made([0, 0, 0, 0, Groups::NONE])), Attacked::Passed);
    let Attacked::Breached(words) = attacked(&case, &[], &made([0, 1, 0, 1, Groups::NONE])) else {
        panic!("not found")
    };
    assert!(words.contains("values of `attribute 2`"), "{words}");
    // Both values of each, but the first attribute determines the second.
    let Attacked::Breached(words) = attacked(&case, &[], &made([0, 1, 1, 0, Groups::NONE])) else {
        panic!("not found")
    };
    assert!(words.contains("leave 1 of 1 values"), "{words}");
    let total = Subtable::plain([2].into_iter().collect());
    let [table] = made([0, 0, 0, 0, Groups::NONE]);
    let words = attacked(&case, &[], &[table, total]);
    assert!(matches!(words, Attacked::Breached(_)), "the fifth is what is left of all: {words:?}");
}
