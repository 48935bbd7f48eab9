//! Decompositions of random tables under random rules: always in normal form, everything published,
//! and the papers' tables.
//!
//! A failure prints its seed; `HEDGEROW_SEED=…` replays that case alone.

mod adversary;
mod attacked;
mod fitting;
mod outcomes;

use std::collections::{BTreeMap, BTreeSet};

use hedgerow_privacy::Model;
use hedgerow_privacy::rules::{AttributeSet, Dependency, Rule, reduce};
use hedgerow_publish::decompose::attack::{AttackLimits, Attacked, attack};
use hedgerow_publish::decompose::divergence::Divergence;
use hedgerow_publish::decompose::gd::gd;
use hedgerow_publish::decompose::multi_sensitive::multi_sensitive;
use hedgerow_publish::decompose::uad::uad;
use hedgerow_publish::decompose::{DecompositionProblem, Groups, Subtable, single_attribute};
use hedgerow_table::{Codes, Column, Domain, Ratio, Values};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

fn seeds(count: u64) -> Vec<u64> {
    match std::env::var("HEDGEROW_SEED").ok().and_then(|text| text.parse().ok()) {
        Some(seed) => vec![seed],
        None => (0..count).collect(),
    }
}

/// A random table with random rules that it can keep, l = 2 or 3.
struct Case {
    columns: Vec<Codes>,
    cardinalities: Vec<usize>,
    rows: usize,
    rules: Vec<Rule>,
}

impl Case {
    fn new(rng: &mut StdRng, attributes: usize, rows: usize, values_max: usize, rules: usize) -> Case {
        let cardinalities: Vec<usize> = (0..attributes).map(|_| rng.random_range(2..=values_max)).collect();
        let mut columns: Vec<Vec<u32>> = Vec::new();
        for &cardinality in &cardinalities {
            // Some columns lean on the one before, so that there is something to lose.
            let before = columns.last().cloned().filter(|_| rng.random_bool(0.5));
            let cell = |row: usize, rng: &mut StdRng| match &before {
                Some(before) if rng.random_bool(0.7) => before[row] % cardinality as u32,
                _ => rng.random_range(0..cardinality as u32),
            };
            let column = (0..rows).map(|row| cell(row, rng)).collect();
            columns.push(column);
        }
        let rules = (0..rules).filter_map(|_| random_rule(rng, &columns, rows)).collect::<Vec<_>>();
        let rules = reduce(&rules).kept.into_iter().map(|kept| rules[kept].clone()).collect();
        let coded = columns.iter().zip(&cardinalities);
        let columns = coded.map(|(column, &cardinality)| Codes::from_iter(cardinality, column.iter().copied()));
        Case { columns: columns.collect(), cardinalities, rows, rules }
    }

    fn named(&self) -> Vec<Column> {
        let columns = self.columns.iter().zip(&self.cardinalities).enumerate();
        let named = columns.map(|(number, (codes, &cardinality))| Column {
            name: format!("attribute {number}"),
            domain: Domain::new(Values::Integer((0..cardinality as i64).collect()), false),
            codes: codes.clone(),
        });
        named.collect()
    }

    fn problem(&self, dependencies: &[Dependency]) -> DecompositionProblem<'_> {
        let columns = self.columns.iter().collect();
        DecompositionProblem::new(columns, self.cardinalities.clone(), self.rows, self.rules.clone(), dependencies)
    }
}

/// `None` when the table cannot keep it.
fn random_rule(rng: &mut StdRng, columns: &[Vec<u32>], rows: usize) -> Option<Rule> {
    let attributes = columns.len();
    let protect = rng.random_range(0..attributes);
    let mut others: Vec<usize> = (0..attributes).filter(|&attribute| attribute != protect).collect();
    let wanted = rng.random_range(1..=others.len().min(4));
    let know = (0..wanted).map(|_| others.swap_remove(rng.random_range(0..others.len()))).collect();
    let l = rng.random_range(2..=3);
    let counts: Vec<usize> =
        (0..9).map(|value| columns[protect].iter().filter(|&&cell| cell == value).count()).collect();
    let model = match rng.random_range(0..4) {
        0 => Model::DistinctLDiversity { l },
        1 => Model::EntropyLDiversity { l: Ratio::integer(l) },
        _ => Model::FrequencyLDiversity { l: Ratio::integer(l) },
    };
    let shares: Vec<f64> = counts.iter().map(|&count| count as f64 / rows as f64).collect();
    keeps(&model, &shares).then(|| Rule { know, protect: AttributeSet::of(protect), require: vec![model] })
}

/// Whether an adversary with these probabilities of the values is as uncertain as a guarantee
/// requires, by its definition.
fn keeps(model: &Model, shares: &[f64]) -> bool {
    let most = shares.iter().copied().fold(0.0, f64::max);
    match model {
        Model::DistinctLDiversity { l } => shares.iter().filter(|&&share| share > 0.0).count() as u64 >= *l,
        Model::FrequencyLDiversity { l } => most <= 1.0 / l.as_f64() + 1e-12,
        Model::EntropyLDiversity { l } => {
            let possible = shares.iter().filter(|&&share| share > 0.0);
            possible.map(|share| -share * share.ln()).sum::<f64>() >= l.as_f64().ln() - 1e-12
        }
        _ => unreachable!("not drawn"),
    }
}

/// Whether some rows have no sensitive value.
fn has_rows_without_value(table: &Subtable) -> bool {
    table.groups.as_ref().is_some_and(|groups| groups.of_row.contains(&Groups::NONE))
}

fn all_published(tables: &[Subtable]) -> AttributeSet {
    tables.iter().fold(AttributeSet::EMPTY, |all, table| all | table.attributes)
}

#[test]
fn every_algorithm_ends_in_normal_form_and_publishes_every_attribute() {
    let mut bucketized = 0;
    for seed in seeds(400) {
        let mut rng = StdRng::seed_from_u64(seed);
        let (attributes, rows, rules) = (rng.random_range(2..=10), rng.random_range(4..=24), rng.random_range(1..=12));
        let case = Case::new(&mut rng, attributes, rows, 6, rules);
        let problem = case.problem(&[]);
        let mut divergence = Divergence::new(&problem);
        for (name, tables) in [
            ("gd", gd(&problem, &mut divergence, &mut rng).unwrap()),
            ("uad", uad(&problem, &mut rng).unwrap()),
            ("single-attribute", single_attribute(&problem)),
        ] {
            let described = || format!("{name} made {tables:?} of {:?}; HEDGEROW_SEED={seed}", case.rules);
            assert!(problem.is_kept(&tables), "{}", described());
            assert_eq!(all_published(&tables), problem.everything(), "{}", described());
            bucketized += tables.iter().filter(|table| table.groups.is_some()).count();
            for table in &tables {
                assert_eq!(table.groups.is_some(), !table.sensitive.is_empty(), "{}", described());
            }
            assert!(divergence.of(&tables).is_some(), "no tree: {}", described());
        }
    }
    assert!(bucketized > 0);
}

#[test]
fn rules_that_undo_each_other_do_not_go_on_for_ever() {
    let columns = [Codes::from_iter(2, [0, 0, 1, 1]), Codes::from_iter(2, [0, 1, 0, 1])];
    let rule = |know, protect| Rule {
        know: AttributeSet::of(know),
        protect: AttributeSet::of(protect),
        require: vec![Model::DistinctLDiversity { l: 2 }],
    };
    let problem = DecompositionProblem::new(columns.iter().collect(), vec![2, 2], 4, vec![rule(0, 1), rule(1, 0)], &[]);
    let mut rng = StdRng::seed_from_u64(1);
    let tables = gd(&problem, &mut Divergence::new(&problem), &mut rng).unwrap();
    assert!(problem.is_kept(&tables));
    assert_eq!(tables.len(), 2, "{tables:?}");
}

/// The paper says that tables in normal form always fit together without rings, so that the most
/// likely table has a closed form. Here is a ring in normal form; so the algorithms see to it
/// themselves.
#[test]
fn a_ring_can_be_in_normal_form() {
    let columns = vec![Codes::from_iter(2, [0, 0, 1, 1]); 4];
    let require = vec![Model::DistinctLDiversity { l: 2 }];
    let rule = Rule { know: AttributeSet::of(0), protect: AttributeSet::of(3), require };
    let problem = DecompositionProblem::new(columns.iter().collect(), vec![2; 4], 4, vec![rule], &[]);
    let table = |attributes: [usize; 2]| Subtable::plain(attributes.into_iter().collect());
    let mut ring = vec![table([0, 1]), table([1, 2]), table([2, 0])];
    ring.push(Subtable::plain(AttributeSet::of(3)));
    assert!(problem.is_kept(&ring));
    assert_eq!(Divergence::new(&problem).of(&ring), None);
}

/// The paper claims that a graph in normal form has no ring of four or more without a chord, since
/// that would contradict condition iii of guardian tables. Nothing that a rule protects is in this
/// ring, so no rule asks for a guardian there; a triangle, which is triangulated, shows nothing.
#[test]
fn a_ring_of_four_can_be_in_normal_form_and_is_not_triangulated() {
    let columns = vec![Codes::from_iter(2, [0, 0, 1, 1]); 6];
    let require = vec![Model::DistinctLDiversity { l: 2 }];
    let rule = Rule { know: AttributeSet::of(4), protect: AttributeSet::of(5), require };
    let problem = DecompositionProblem::new(columns.iter().collect(), vec![2; 6], 4, vec![rule], &[]);
    let table = |attributes: &[usize]| Subtable::plain(attributes.iter().copied().collect());
    let ring = [table(&[0, 1]), table(&[1, 2]), table(&[2, 3]), table(&[3, 0]), table(&[4]), table(&[5])];
    assert!(problem.is_kept(&ring));
    let joined = |one: usize, other: usize| {
        ring.iter().any(|table| table.attributes.contains(one) && table.attributes.contains(other))
    };
    assert!([(0, 1), (1, 2), (2, 3), (3, 0)].into_iter().all(|(one, other)| joined(one, other)));
    assert!(!joined(0, 2) && !joined(1, 3), "a ring of four has no chord");
    let mut chord = ring.to_vec();
    chord.push(table(&[0, 2]));
    assert!(problem.is_kept(&chord), "with a chord it is triangulated, and in normal form as well");
}

/// The paper's own example that theorem 3.2 is not enough: an attacker who knows A₁ → A₂ infers who
/// has what from the counts alone.
#[test]
fn a_dependency_on_what_is_known_leaves_no_way() {
    let columns = [Codes::from_iter(3, [0, 0, 0, 1, 1, 2]), Codes::from_iter(3, [2, 2, 2, 1, 1, 0])];
    let require = vec![Model::FrequencyLDiversity { l: Ratio::integer(2) }];
    let rules = vec![Rule { know: AttributeSet::of(0), protect: AttributeSet::of(1), require }];
    let known = [Dependency { from: AttributeSet::of(0), to: 1 }];
    let mut rng = StdRng::seed_from_u64(1);
    let problem = DecompositionProblem::new(columns.iter().collect(), vec![3, 3], 6, rules.clone(), &known);
    assert!(uad(&problem, &mut rng).is_err() && gd(&problem, &mut Divergence::new(&problem), &mut rng).is_err());
    assert!(!problem.is_kept(&single_attribute(&problem)), "not even apart from each other");
    let unknown = DecompositionProblem::new(columns.iter().collect(), vec![3, 3], 6, rules, &[]);
    assert!(unknown.is_kept(&single_attribute(&unknown)));
}

#[test]
fn known_dependencies_are_separated_or_unsatisfiable() {
    // 1 determines 2, and an attacker who knows 0 must not learn 2: 1 may not stand with 0 either.
    let columns =
        [Codes::from_iter(2, [0, 1, 0, 1]), Codes::from_iter(4, [0, 1, 2, 3]), Codes::from_iter(2, [0, 0, 1, 1])];
    let rule = |know: &[usize]| Rule {
        know: know.iter().copied().collect(),
        protect: AttributeSet::of(2),
        require: vec![Model::DistinctLDiversity { l: 2 }],
    };
    let dependencies = [Dependency { from: AttributeSet::of(1), to: 2 }];
    let make = |rules| DecompositionProblem::new(columns.iter().collect(), vec![2, 4, 2], 4, rules, &dependencies);
    let mut rng = StdRng::seed_from_u64(1);
    let problem = make(vec![rule(&[0])]);
    for tables in [gd(&problem, &mut Divergence::new(&problem), &mut rng), uad(&problem, &mut rng)] {
        let tables = tables.unwrap();
        assert!(problem.is_kept(&tables));
        assert!(tables.iter().all(|table| !(table.attributes.contains(0) && table.attributes.contains(1))));
        assert_eq!(all_published(&tables), problem.everything());
    }
    assert!(uad(&make(vec![rule(&[0, 1])]), &mut rng).is_err());
}

/// One table with several sensitive attributes, over tables larger than every world of them could
/// be written out: in every bucket and for every combination of the others, no value is more
/// frequent than allowed.
#[test]
fn several_sensitive_attributes_hide_each_other() {
    let (mut made, mut without_value) = (0, 0);
    for seed in seeds(150) {
        let mut rng = StdRng::seed_from_u64(seed);
        let (attributes, rows, rules) = (rng.random_range(3..=6), rng.random_range(4..=60), rng.random_range(1..=5));
        let case = Case::new(&mut rng, attributes, rows, 4, rules);
        let problem = case.problem(&[]);
        let Some(tables) = multi_sensitive(&problem, &mut rng) else { continue };
        let table = &tables[0];
        assert_eq!(table.attributes, problem.everything(), "HEDGEROW_SEED={seed}");
        let groups = table.groups.as_ref().unwrap();
        for rule in &case.rules {
            let protect = rule.protect.iter().next().unwrap();
            let others: Vec<usize> = table.sensitive.without(protect).iter().collect();
            let mut lines: BTreeMap<(u32, Vec<u32>), BTreeMap<u32, usize>> = BTreeMap::new();
            for row in (0..rows).filter(|&row| groups.of_row[row] != Groups::NONE) {
                let rest = others.iter().map(|&other| case.columns[other].get(row)).collect();
                let value = case.columns[protect].get(row);
                *lines.entry((groups.of_row[row], rest)).or_default().entry(value).or_default() += 1;
            }
            for (line, values) in lines {
                let all = values.values().sum::<usize>() as f64;
                let shares: Vec<f64> = values.values().map(|&count| count as f64 / all).collect();
                let described = || format!("{line:?} has {values:?} for {rule:?}; HEDGEROW_SEED={seed}");
                assert!(rule.require.iter().all(|model| keeps(model, &shares)), "{}", described());
            }
        }
        made += 1;
        without_value += usize::from(has_rows_without_value(table));
    }
    assert!(
        made > 30 && without_value > 5 || std::env::var("HEDGEROW_SEED").is_ok(),
        "{made} made, {without_value} with rows that have no value"
    );
}

/// More combinations than are searched anew for every box: all of a grid's rows are in boxes, and
/// those that differ from no other in just one attribute are in no bucket, as a brute force says.
#[test]
fn boxes_are_found_among_thousands_of_combinations() {
    let (one_side, other_side, lonely) = (48u32, 44u32, 30u32);
    let mut rng = StdRng::seed_from_u64(3);
    let grid = (0..one_side).flat_map(|one| (0..other_side).map(move |other| [one, other]));
    let mut cells: Vec<[u32; 2]> = grid.flat_map(|cell| [cell, cell]).collect();
    cells.extend((0..lonely).map(|number| [one_side + number, number % other_side]));
    let rows = cells.len();
    let ages: Vec<u32> = (0..rows).map(|_| rng.random_range(0..5)).collect();
    let cardinalities = vec![5, (one_side + lonely) as usize, other_side as usize];
    let columns = vec![
        Codes::from_iter(cardinalities[0], ages),
        Codes::from_iter(cardinalities[1], cells.iter().map(|cell| cell[0])),
        Codes::from_iter(cardinalities[2], cells.iter().map(|cell| cell[1])),
    ];
    let rule = |protect: usize| Rule {
        know: AttributeSet::of(0),
        protect: AttributeSet::of(protect),
        require: vec![Model::FrequencyLDiversity { l: Ratio::integer(2) }],
    };
    let case = Case { columns, cardinalities, rows, rules: vec![rule(1), rule(2)] };
    let tables = multi_sensitive(&case.problem(&[]), &mut rng).unwrap();
    let groups = tables[0].groups.as_ref().unwrap();
    // Rows that no bucket can hold are removed, until none is left to remove.
    let mut core: BTreeSet<[u32; 2]> = cells.iter().copied().collect();
    assert!(core.len() > 2_000, "{} combinations are few", core.len());
    loop {
        let mut lines: [BTreeMap<u32, usize>; 2] = Default::default();
        for cell in &core {
            *lines[0].entry(cell[1]).or_default() += 1;
            *lines[1].entry(cell[0]).or_default() += 1;
        }
        let before = core.len();
        core.retain(|cell| lines[0][&cell[1]] >= 2 && lines[1][&cell[0]] >= 2);
        if core.len() == before {
            break;
        }
    }
    assert_eq!(core.len() as u32, one_side * other_side);
    let mut held: BTreeMap<u32, Vec<[u32; 2]>> = BTreeMap::new();
    for (row, cell) in cells.iter().enumerate() {
        let bucket = groups.of_row[row];
        assert_eq!(bucket != Groups::NONE, core.contains(cell), "row {row}, {cell:?}");
        if bucket != Groups::NONE {
            held.entry(bucket).or_default().push(*cell);
        }
    }
    for (bucket, held) in held {
        for cell in &held {
            for side in 0..2 {
                let line: Vec<u32> =
                    held.iter().filter(|other| other[1 - side] == cell[1 - side]).map(|other| other[side]).collect();
                let own = line.iter().filter(|value| **value == cell[side]).count();
                assert!(2 * own <= line.len(), "bucket {bucket}: {held:?}");
            }
        }
        assert!(held.len() <= 16, "bucket {bucket} is not a box: {} rows", held.len());
    }
}

/// Table 2 of the paper: one table per rule, each 2-diverse, and four tuples certain all the same.
#[test]
fn one_table_per_rule_is_not_enough_for_the_six_patients() {
    let columns: [[u32; 6]; 6] = [
        [0, 0, 1, 1, 2, 2], // hospital 111111, 222222, 333333
        [1, 3, 2, 1, 0, 1], // age 23, 37, 55, 71
        [0, 1, 0, 0, 1, 1], // gender F, M
        [0, 1, 2, 3, 0, 1], // zipcode 71000 to 74000
        [0, 2, 1, 2, 1, 2], // race asian, black, white
        [0, 1, 1, 2, 3, 0], // icd HIV, diabetes, flu, alcoholism
    ];
    let cardinalities = vec![3, 4, 2, 4, 3, 4];
    let coded = columns.iter().zip(&cardinalities);
    let columns: Vec<Codes> = coded.map(|(column, &size)| Codes::from_iter(size, column.iter().copied())).collect();
    let set = |attributes: &[usize]| attributes.iter().copied().collect::<AttributeSet>();
    let rule = |know: &[usize], protect| Rule {
        know: set(know),
        protect: AttributeSet::of(protect),
        require: vec![Model::FrequencyLDiversity { l: Ratio::integer(2) }],
    };
    let rules = vec![rule(&[1, 5], 4), rule(&[2, 5], 3), rule(&[0, 4], 3)];
    let case = Case { columns, cardinalities, rows: 6, rules };
    let table = |attributes: &[usize], sensitive: usize, of_row: [u32; 6]| {
        let mut members = vec![Vec::new(); 3];
        for (row, &group) in of_row.iter().enumerate() {
            members[group as usize].push((case.columns[sensitive].get(row), 1));
        }
        let groups = Groups::of(of_row.to_vec(), members.into_iter());
        let sensitive = AttributeSet::of(sensitive);
        Subtable { sensitive, groups: Some(std::sync::Arc::new(groups)), ..Subtable::plain(set(attributes)) }
    };
    // Buckets {1,6}, {5,4}, {3,2} twice, and {1,3}, {4,2}, {5,6}.
    let (first, second) = ([0, 2, 2, 1, 1, 0], [0, 1, 0, 1, 2, 2]);
    let naive = [table(&[1, 5, 4], 4, first), table(&[2, 5, 3], 3, first), table(&[0, 4, 3], 3, second)];
    let problem = case.problem(&[]);
    let broken: Vec<bool> = problem.standings(&naive).iter().map(|standing| !standing.is_kept()).collect();
    assert!(broken[2], "{broken:?}");
    let beliefs = adversary::beliefs(&case, &case.rules[2], &adversary::published(&case, &naive, &[]));
    assert!(beliefs.iter().any(|counts| counts.iter().filter(|&&count| count > 0).count() == 1), "{beliefs:?}");
    let columns = case.named();
    let columns: Vec<&Column> = columns.iter().collect();
    let Attacked::Breached(words) = attack(&problem, &columns, &naive, AttackLimits::default()) else {
        panic!("nothing was found")
    };
    assert!(words.contains("leave 1 of 2 values"), "{words}");
    let mut rng = StdRng::seed_from_u64(1);
    let by_gd = gd(&problem, &mut Divergence::new(&problem), &mut rng).unwrap();
    for tables in [by_gd, uad(&problem, &mut rng).unwrap()] {
        assert!(problem.is_kept(&tables));
        assert_eq!(all_published(&tables), problem.everything());
        assert_eq!(attack(&problem, &columns, &tables, AttackLimits::default()), Attacked::Passed);
    }
}
