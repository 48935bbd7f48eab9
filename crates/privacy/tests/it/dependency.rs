//! The additions of dependencies to rules, compared with their meaning: an attacker who works out
//! attributes from which the protected one follows has learned it (Jin and others 2010, theorem
//! 3.2). Every set of attributes is tried, with plain lists.
//!
//! `HEDGEROW_SEED=N` replays the run that a failure names.

use hedgerow_privacy::Model;
use hedgerow_privacy::rules::{AttributeSet, Dependency, Rule, expand};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const CASES: usize = 3_000;

/// All that follows from some attributes.
fn following(known: &[usize], dependencies: &[(Vec<usize>, usize)]) -> Vec<usize> {
    let mut all = known.to_vec();
    // Each pass adds something new, or nothing ever will.
    for _ in dependencies {
        for (from, to) in dependencies {
            if !all.contains(to) && from.iter().all(|attribute| all.contains(attribute)) {
                all.push(*to);
            }
        }
    }
    all
}

fn some_of(rng: &mut StdRng, mut from: Vec<usize>, count: usize) -> Vec<usize> {
    (0..count.min(from.len())).map(|_| from.swap_remove(rng.random_range(0..from.len()))).collect()
}

fn set(attributes: &[usize]) -> AttributeSet {
    attributes.iter().copied().collect()
}

#[test]
fn everything_from_which_the_protected_follows_is_protected_and_nothing_else() {
    let seed = std::env::var("HEDGEROW_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(5);
    let mut rng = StdRng::seed_from_u64(seed);
    let (mut added_rules, mut impossible) = (0, 0);
    for case in 0..CASES {
        let attributes = rng.random_range(2..=6usize);
        let mut rules: Vec<(Vec<usize>, Vec<usize>, u64)> = Vec::new();
        for _ in 0..rng.random_range(1..=3) {
            let (right, left) = (if rng.random_bool(0.2) { 2 } else { 1 }, rng.random_range(1..=2));
            let mut drawn = some_of(&mut rng, (0..attributes).collect(), right + left);
            let protect = drawn.split_off(drawn.len().saturating_sub(right).max(1));
            if !protect.is_empty() {
                rules.push((drawn, protect, rng.random_range(2..=3)));
            }
        }
        let mut dependencies: Vec<(Vec<usize>, usize)> = Vec::new();
        for _ in 0..rng.random_range(0..=4) {
            let size = rng.random_range(2..=3);
            let mut drawn = some_of(&mut rng, (0..attributes).collect(), size);
            let to = drawn.pop().unwrap();
            dependencies.push((drawn, to));
        }
        let bound = |(know, protect, l): &(Vec<usize>, Vec<usize>, u64)| Rule {
            know: set(know),
            protect: set(protect),
            require: vec![Model::DistinctLDiversity { l: *l }],
        };
        let given: Vec<Rule> = rules.iter().map(bound).collect();
        let known: Vec<Dependency> =
            dependencies.iter().map(|(from, to)| Dependency { from: set(from), to: *to }).collect();
        let added = expand(&given, &known);
        let context = || format!("case {case}: {rules:?} with {dependencies:?} gave {added:?}; HEDGEROW_SEED={seed}");
        let learns = |know: &[usize], more: &[usize], protect: &[usize]| {
            let follows = following(&[know, more].concat(), &dependencies);
            protect.iter().all(|attribute| follows.contains(attribute))
        };
        let unsatisfiable = rules.iter().any(|(know, protect, _)| learns(know, &[], protect));
        assert_eq!(added.iter().any(|added| added.rule.is_none()), unsatisfiable, "{}", context());
        impossible += usize::from(unsatisfiable);
        let all: Vec<&Rule> = given.iter().chain(added.iter().filter_map(|added| added.rule.as_ref())).collect();
        for rule in &all[given.len()..] {
            let protected: Vec<usize> = rule.protect.iter().collect();
            let needed = rules.iter().any(|(know, protect, l)| {
                set(know) == rule.know
                    && rule.require == [Model::DistinctLDiversity { l: *l }]
                    && learns(know, &protected, protect)
            });
            assert!(needed && !rule.protect.meets(rule.know), "{rule:?}; {}", context());
            added_rules += 1;
        }
        if unsatisfiable {
            continue;
        }
        for (know, protect, l) in &rules {
            for learned in 0..1u32 << attributes {
                let learned: Vec<usize> =
                    (0..attributes).filter(|at| learned >> at & 1 == 1 && !know.contains(at)).collect();
                let forbidden = |rule: &&Rule| {
                    let Model::DistinctLDiversity { l: given } = rule.require[0] else { return false };
                    set(know).is_subset(rule.know) && rule.protect.is_subset(set(&learned)) && given >= *l
                };
                if learns(know, &learned, protect) {
                    assert!(all.iter().any(forbidden), "{know:?} may learn {learned:?}; {}", context());
                }
            }
        }
    }
    assert!(added_rules > 100 && impossible > 100, "{added_rules} added, {impossible} impossible");
}
