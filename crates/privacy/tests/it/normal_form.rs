//! Reduction of rules and guardian normal form against their definitions, spelled out with plain
//! lists of names and sequences of tables: nothing here shares code with what it judges.
//!
//! `HEDGEROW_SEED=N` replays the run that a failure names.

use hedgerow_privacy::Model;
use hedgerow_privacy::rules::{AttributeSet, Guard, NormalFormStanding, Rule, Schema, reduce, standings};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const CASES: usize = 20_000;

fn seed() -> u64 {
    std::env::var("HEDGEROW_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(3)
}

/// Attributes as plain lists.
#[derive(Debug, Clone)]
struct PlainRule {
    know: Vec<usize>,
    protect: Vec<usize>,
    l: u64,
}

#[derive(Debug, Clone)]
struct PlainTable {
    attributes: Vec<usize>,
    guard: Option<PlainRule>,
}

fn some_of(rng: &mut StdRng, attributes: usize, count: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (0..attributes).collect();
    (0..count.min(attributes)).map(|_| all.swap_remove(rng.random_range(0..all.len()))).collect()
}

fn random_rule(rng: &mut StdRng, attributes: usize) -> PlainRule {
    let size = rng.random_range(2..=attributes.min(5));
    let mut drawn = some_of(rng, attributes, size);
    let right = if rng.random_bool(0.2) { rng.random_range(1..drawn.len()) } else { 1 };
    let protect = drawn.split_off(drawn.len() - right);
    PlainRule { know: drawn, protect, l: rng.random_range(2..=3) }
}

fn random_table(rng: &mut StdRng, attributes: usize) -> PlainTable {
    let size = rng.random_range(1..=attributes.min(5));
    let drawn = some_of(rng, attributes, size);
    let guard = (drawn.len() > 1 && rng.random_bool(0.6)).then(|| {
        let mut know = drawn[1..].to_vec();
        if rng.random_bool(0.3) {
            know.truncate(rng.random_range(0..=know.len()));
        }
        PlainRule { know, protect: vec![drawn[0]], l: rng.random_range(2..=3) }
    });
    PlainTable { attributes: drawn, guard }
}

fn set(attributes: &[usize]) -> AttributeSet {
    attributes.iter().copied().collect()
}

fn bound(rule: &PlainRule) -> Rule {
    Rule { know: set(&rule.know), protect: set(&rule.protect), require: vec![Model::DistinctLDiversity { l: rule.l }] }
}

fn schema(table: &PlainTable) -> Schema {
    let guards = table.guard.iter().map(|guard| {
        let Rule { know, protect, require } = bound(guard);
        Guard { know, protect, require }
    });
    Schema { attributes: set(&table.attributes), guards: guards.collect() }
}

/// Definition 3: a sequence of tables, the first holding one attribute, the last the other,
/// neighbors sharing one.
fn reachable(tables: &[Vec<usize>], from: usize, to: usize) -> bool {
    let mut sequences: Vec<usize> = (0..tables.len()).filter(|&table| tables[table].contains(&from)).collect();
    let mut seen = sequences.clone();
    while let Some(last) = sequences.pop() {
        if tables[last].contains(&to) {
            return true;
        }
        for next in 0..tables.len() {
            let shares = tables[next].iter().any(|attribute| tables[last].contains(attribute));
            if shares && !seen.contains(&next) {
                seen.push(next);
                sequences.push(next);
            }
        }
    }
    false
}

fn any_reaches(tables: &[Vec<usize>], know: &[usize], to: usize) -> bool {
    know.iter().any(|&from| reachable(tables, from, to))
}

/// Definition 4 for one protected attribute.
fn guards(tables: &[PlainTable], index: usize, rule: &PlainRule, protect: usize) -> bool {
    let table = &tables[index];
    let Some(guard) = table.guard.as_ref().filter(|guard| guard.protect == [protect] && guard.l >= rule.l) else {
        return false;
    };
    let others: Vec<Vec<usize>> =
        tables.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, t)| t.attributes.clone()).collect();
    let enforced = table.attributes.iter().filter(|&&attribute| attribute != protect).all(|&attribute| {
        let matters = rule.know.contains(&attribute) || any_reaches(&others, &rule.know, attribute);
        !matters || guard.know.contains(&attribute)
    });
    let mut removed: Vec<Vec<usize>> = tables.iter().map(|t| t.attributes.clone()).collect();
    removed[index].retain(|&attribute| attribute != protect);
    enforced && !any_reaches(&removed, &rule.know, protect)
}

enum Plain {
    NotReachable,
    GuardedBy(Vec<usize>),
    Broken,
}

fn by_definition(tables: &[PlainTable], rule: &PlainRule) -> Plain {
    let all: Vec<Vec<usize>> = tables.iter().map(|table| table.attributes.clone()).collect();
    if rule.protect.iter().any(|&protect| !any_reaches(&all, &rule.know, protect)) {
        return Plain::NotReachable;
    }
    let guardians: Vec<usize> = (0..tables.len())
        .filter(|&index| rule.protect.iter().any(|&protect| guards(tables, index, rule, protect)))
        .collect();
    if guardians.is_empty() { Plain::Broken } else { Plain::GuardedBy(guardians) }
}

#[test]
fn normal_form_agrees_with_its_definition() {
    let seed = seed();
    let mut rng = StdRng::seed_from_u64(seed);
    let mut seen = [0usize; 3];
    for _ in 0..CASES {
        let attributes = rng.random_range(2..=10);
        let rules: Vec<PlainRule> = (0..rng.random_range(1..=12)).map(|_| random_rule(&mut rng, attributes)).collect();
        let tables: Vec<PlainTable> =
            (0..rng.random_range(0..=5)).map(|_| random_table(&mut rng, attributes)).collect();
        let schemas: Vec<Schema> = tables.iter().map(schema).collect();
        let found = standings(&rules.iter().map(bound).collect::<Vec<_>>(), &schemas);
        for (rule, found) in rules.iter().zip(found) {
            let context = || format!("{rule:?} with {tables:?}: {found:?}; HEDGEROW_SEED={seed}");
            match (by_definition(&tables, rule), &found) {
                (Plain::NotReachable, NormalFormStanding::NotReachable) => seen[0] += 1,
                (Plain::GuardedBy(guardians), NormalFormStanding::Guarded(table)) => {
                    seen[1] += 1;
                    assert!(guardians.contains(table), "{}", context());
                    assert!(rule.protect.len() > 1 || guardians.len() == 1, "a guardian is unique: {}", context());
                }
                (Plain::Broken, NormalFormStanding::Broken(way)) => {
                    seen[2] += 1;
                    assert!(rule.know.contains(&way[0].from), "{}", context());
                    assert!(rule.protect.contains(&way[way.len() - 1].to), "{}", context());
                    assert!(way.windows(2).all(|hops| hops[0].to == hops[1].from), "{}", context());
                    for hop in way {
                        let holds = &tables[hop.table].attributes;
                        assert!(holds.contains(&hop.from) && holds.contains(&hop.to), "{}", context());
                    }
                }
                _ => panic!("{}", context()),
            }
        }
    }
    assert!(seen.iter().all(|&count| count > CASES / 20), "{seen:?}");
}

#[test]
fn reduction_agrees_with_corollary_3_1_1() {
    let seed = seed();
    let mut rng = StdRng::seed_from_u64(seed);
    for _ in 0..CASES / 4 {
        let attributes = rng.random_range(2..=6);
        let rules: Vec<PlainRule> = (0..rng.random_range(1..=12)).map(|_| random_rule(&mut rng, attributes)).collect();
        let context = || format!("{rules:?}; HEDGEROW_SEED={seed}");
        let implied = |weak: &PlainRule, strong: &PlainRule| {
            weak.know.iter().all(|attribute| strong.know.contains(attribute))
                && strong.protect.iter().all(|attribute| weak.protect.contains(attribute))
                && weak.l <= strong.l
        };
        let reduced = reduce(&rules.iter().map(bound).collect::<Vec<_>>());
        for (index, rule) in rules.iter().enumerate() {
            let by_kept = reduced.kept.iter().any(|&kept| implied(rule, &rules[kept]));
            assert!(by_kept, "rule {index} is lost: {}", context());
        }
        for &one in &reduced.kept {
            let again = reduced.kept.iter().any(|&other| other != one && implied(&rules[one], &rules[other]));
            assert!(!again, "rule {one} could go: {}", context());
        }
        for pair in &reduced.implied {
            assert!(implied(&rules[pair.rule], &rules[pair.by]) && reduced.kept.contains(&pair.by), "{}", context());
        }
        assert_eq!(reduced.kept.len() + reduced.implied.len(), rules.len(), "{}", context());
    }
}

/// Algorithm 1 of the paper as printed, its first part: what a broken rule protects is taken out of
/// every table and gets one of its own with all that the rule knows.
#[test]
fn guardian_decomposition_as_printed_comes_back_to_where_it_was() {
    let rules = [(0, 1), (1, 0)].map(|(know, protect)| PlainRule { know: vec![know], protect: vec![protect], l: 2 });
    let bound: Vec<Rule> = rules.iter().map(bound).collect();
    let mut tables = vec![PlainTable { attributes: vec![0, 1], guard: None }];
    // What each table protects: all of them hold both attributes.
    let mut seen: Vec<Vec<Option<usize>>> = Vec::new();
    loop {
        let schemas: Vec<Schema> = tables.iter().map(schema).collect();
        let broken = standings(&bound, &schemas).iter().position(|standing| !standing.is_kept());
        let rule = &rules[broken.expect("one of the two rules is always broken")];
        let protect = rule.protect[0];
        for table in &mut tables {
            table.attributes.retain(|&attribute| attribute != protect);
            table.guard = table.guard.take().filter(|guard| guard.protect != rule.protect);
        }
        tables.retain(|table| table.attributes.len() > 1);
        tables.push(PlainTable { attributes: vec![0, 1], guard: Some(rule.clone()) });
        let now: Vec<Option<usize>> =
            tables.iter().map(|table| table.guard.as_ref().map(|guard| guard.protect[0])).collect();
        if seen.contains(&now) {
            break;
        }
        seen.push(now);
        assert!(seen.len() < 10, "{seen:?}");
    }
    assert_eq!(seen.len(), 2, "two steps, again and again: {seen:?}");
}
