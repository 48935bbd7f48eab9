//! An adversary who weighs every table that agrees with what is published.

use std::collections::{BTreeMap, BTreeSet};

use hedgerow_privacy::rules::{AttributeSet, Dependency, Rule};
use hedgerow_publish::decompose::Subtable;
use hedgerow_publish::decompose::divergence::Divergence;
use hedgerow_publish::decompose::gd::gd;
use hedgerow_publish::decompose::multi_sensitive::multi_sensitive;
use hedgerow_publish::decompose::uad::uad;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::{Case, is_untold, keeps, seeds};

/// How often each combination occurs.
type Seen = BTreeMap<Vec<usize>, usize>;

/// Everything published, as an attacker sees it: tables of columns, bucket numbers among them, in no order.
pub(super) struct Published {
    /// Columns by number; those from the number of attributes on are bucket numbers.
    views: Vec<(Vec<usize>, Seen)>,
    columns: Vec<Vec<usize>>,
}

pub(super) fn published(case: &Case, tables: &[Subtable], known: &[Dependency]) -> Published {
    let mut columns: Vec<Vec<usize>> =
        case.columns.iter().map(|column| column.iter().map(|code| code as usize).collect()).collect();
    let mut lists: Vec<Vec<usize>> = Vec::new();
    for table in tables {
        let list = |set: AttributeSet| set.iter().collect::<Vec<usize>>();
        match &table.groups {
            None => lists.push(list(table.attributes)),
            Some(groups) => {
                let latent = columns.len();
                columns.push(groups.of_row.iter().map(|&group| group as usize).collect());
                lists.push(list(table.open()).into_iter().chain([latent]).collect());
                lists.push(list(table.sensitive).into_iter().chain([latent]).collect());
            }
        }
    }
    lists.extend(known.iter().map(|dependency| dependency.from.with(dependency.to).iter().collect()));
    let views = lists
        .into_iter()
        .map(|list| {
            let seen = view(&columns, &list, case.rows);
            (list, seen)
        })
        .collect();
    Published { views, columns }
}

fn view(columns: &[Vec<usize>], list: &[usize], rows: usize) -> Seen {
    let mut seen = Seen::new();
    let tuple = |row: usize| list.iter().map(|&at| columns[at][row]).collect::<Vec<usize>>();
    (0..rows).map(tuple).for_each(|tuple| *seen.entry(tuple).or_default() += 1);
    seen
}

/// All different orders of a column.
fn orders(column: &[usize]) -> BTreeSet<Vec<usize>> {
    let mut all = BTreeSet::from([Vec::new()]);
    for &cell in column {
        let longer = |order: &Vec<usize>| {
            (0..=order.len())
                .map(|at| {
                    let mut longer = order.clone();
                    longer.insert(at, cell);
                    longer
                })
                .collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// Calls `each` with every way to fill the columns row by row so that all views come out as published. One column keeps its
/// order: people have no names. Columns are filled in an order that completes views early.
fn worlds(published: &Published, rows: usize, each: &mut dyn FnMut(&[Vec<usize>])) {
    let mut sequence: Vec<usize> = Vec::new();
    while sequence.len() < published.columns.len() {
        let left = |list: &Vec<usize>| list.iter().filter(|at| !sequence.contains(at)).copied().collect::<Vec<_>>();
        let open = published.views.iter().map(|(list, _)| left(list)).filter(|left| !left.is_empty());
        let next = open.min_by_key(Vec::len).expect("every column is in some view");
        sequence.extend(next);
    }
    let orders: Vec<Vec<Vec<usize>>> = (0..published.columns.len())
        .map(|at| match at == sequence[0] {
            true => vec![published.columns[at].clone()],
            false => orders(&published.columns[at]).into_iter().collect(),
        })
        .collect();
    let mut filled = vec![Vec::new(); published.columns.len()];
    fill(published, rows, &orders, &sequence, 0, &mut filled, each);
}

fn fill(
    published: &Published,
    rows: usize,
    orders: &[Vec<Vec<usize>>],
    sequence: &[usize],
    step: usize,
    filled: &mut Vec<Vec<usize>>,
    each: &mut dyn FnMut(&[Vec<usize>]),
) {
    let Some(&at) = sequence.get(step) else {
        each(filled);
        return;
    };
    let done = &sequence[..=step];
    let complete: Vec<_> = published
        .views
        .iter()
        .filter(|(list, _)| list.contains(&at) && list.iter().all(|at| done.contains(at)))
        .collect();
    for order in &orders[at] {
        filled[at].clone_from(order);
        if complete.iter().all(|(list, seen)| view(filled, list, rows) == *seen) {
            fill(published, rows, orders, sequence, step + 1, filled, each);
        }
    }
}

/// For everything that the attacker of a rule may know of somebody in the table, how often each value is the right one, over all
/// tables that agree with what is published.
pub(super) fn beliefs(case: &Case, rule: &Rule, published: &Published) -> Vec<Vec<u64>> {
    let know: Vec<usize> = rule.know.iter().collect();
    let protect = rule.protect.iter().next().unwrap();
    let mut right: BTreeMap<Vec<usize>, Vec<u64>> = BTreeMap::new();
    worlds(published, case.rows, &mut |columns| {
        for (row, &value) in columns[protect].iter().enumerate() {
            let known = know.iter().map(|&at| columns[at][row]).collect();
            right.entry(known).or_insert_with(|| vec![0; case.cardinalities[protect]])[value] += 1;
        }
    });
    let known = |row: usize| -> Vec<usize> { know.iter().map(|&at| published.columns[at][row]).collect() };
    (0..case.rows).map(|row| right[&known(row)].clone()).collect()
}

fn holds_for(rule: &Rule, beliefs: &[Vec<u64>]) -> bool {
    beliefs.iter().all(|counts| {
        let all = counts.iter().sum::<u64>() as f64;
        let shares: Vec<f64> = counts.iter().map(|&count| count as f64 / all).collect();
        rule.require.iter().all(|model| keeps(model, &shares))
    })
}

#[test]
fn no_adversary_who_weighs_every_table_is_surer_than_the_guarantee() {
    let (mut guarded, mut tried, mut several) = (0, 0, 0);
    for seed in seeds(120) {
        let mut rng = StdRng::seed_from_u64(seed);
        let rows = rng.random_range(3..=4);
        let (attributes, rules) = (rng.random_range(2..=4), rng.random_range(1..=4));
        let case = Case::new(&mut rng, attributes, rows, 4, rules);
        let dependencies = dependencies_in(&case, &mut rng);
        let problem = case.problem(&dependencies);
        let mut divergence = Divergence::new(&problem);
        let mut made: Vec<Vec<Subtable>> = Vec::new();
        made.extend(gd(&problem, &mut divergence, &mut rng));
        made.extend(uad(&problem, &mut rng));
        made.extend(multi_sensitive(&problem, &mut rng).filter(|tables| problem.is_kept(tables)));
        for tables in made.into_iter().filter(|tables| !tables.iter().any(is_untold)) {
            let published = published(&case, &tables, &dependencies);
            guarded += tables.iter().filter(|table| table.groups.is_some()).count();
            several += tables.iter().filter(|table| table.sensitive.len() > 1).count();
            for rule in &case.rules {
                let found = beliefs(&case, rule, &published);
                assert!(holds_for(rule, &found), "{found:?} for {rule:?} from {tables:?}; HEDGEROW_SEED={seed}");
                tried += 1;
            }
        }
    }
    assert!(
        guarded > 10 && tried > 100 || std::env::var("HEDGEROW_SEED").is_ok(),
        "{guarded} guarded, {tried} tried, {several} with several sensitive attributes"
    );
}

/// Sometimes a dependency that the table happens to have.
fn dependencies_in(case: &Case, rng: &mut StdRng) -> Vec<Dependency> {
    if rng.random_bool(0.6) {
        return Vec::new();
    }
    let determines = |from: usize, to: usize| {
        let mut image = BTreeMap::new();
        (0..case.rows).all(|row| {
            let value = case.columns[to].get(row);
            *image.entry(case.columns[from].get(row)).or_insert(value) == value
        })
    };
    let attributes = 0..case.columns.len();
    let pairs = attributes.clone().flat_map(|from| attributes.clone().map(move |to| (from, to)));
    let found = pairs.filter(|&(from, to)| from != to && determines(from, to)).take(1);
    found.map(|(from, to)| Dependency { from: AttributeSet::of(from), to }).collect()
}
