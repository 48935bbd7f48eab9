//! An adversary who weighs every table that agrees with what is published.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use hedgerow_policy::Policy;
use hedgerow_privacy::Model;
use hedgerow_privacy::rules::{AttributeSet, Dependency, Rule};
use hedgerow_publish::bind::Bound;
use hedgerow_publish::decompose::divergence::Divergence;
use hedgerow_publish::decompose::gd::gd;
use hedgerow_publish::decompose::multi_sensitive::multi_sensitive;
use hedgerow_publish::decompose::uad::uad;
use hedgerow_publish::decompose::{self, Groups, Rules, Subtable};
use hedgerow_table::{Codes, Ratio, Table};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::{Case, has_rows_without_value, keeps, seeds};

/// How often each combination occurs.
type Seen = BTreeMap<Vec<usize>, usize>;

/// The bucket of rows without a sensitive value.
const NO_BUCKET: usize = Groups::NONE as usize;

/// Everything published, as an attacker sees it: tables of columns, bucket numbers among them, in
/// no order.
pub(super) struct Published {
    views: Vec<View>,
    ranges: Vec<Ranges>,
    /// Those from the number of attributes on are bucket numbers.
    columns: Vec<Vec<usize>>,
    cardinalities: Vec<usize>,
}

/// Columns by number, and what is released of them.
struct View {
    list: Vec<usize>,
    /// The bucket numbers; rows whose bucket is [`NO_BUCKET`] are not in the view.
    listed_by: Option<usize>,
    seen: Seen,
}

/// A generalized column: what it may be in every class.
struct Ranges {
    attribute: usize,
    class: usize,
    of_class: Vec<RangeInclusive<usize>>,
}

impl Ranges {
    fn hold(&self, columns: &[Vec<usize>]) -> bool {
        let mut cells = columns[self.attribute].iter().zip(&columns[self.class]);
        cells.all(|(cell, &class)| self.of_class[class].contains(cell))
    }
}

impl Published {
    /// A column of which not every cell is in some table.
    fn is_free(&self, column: usize) -> bool {
        column < self.cardinalities.len()
            && !self.views.iter().any(|view| view.listed_by.is_none() && view.list.contains(&column))
    }
}

pub(super) fn published(case: &Case, tables: &[Subtable], known: &[Dependency]) -> Published {
    let mut columns: Vec<Vec<usize>> =
        case.columns.iter().map(|column| column.iter().map(|code| code as usize).collect()).collect();
    let mut lists: Vec<(Vec<usize>, Option<usize>)> = Vec::new();
    let mut ranges = Vec::new();
    for table in tables {
        let list = |set: AttributeSet| set.iter().collect::<Vec<usize>>();
        let Some(groups) = &table.groups else {
            lists.push((list(table.attributes), None));
            continue;
        };
        let latent = columns.len();
        columns.push(groups.of_row.iter().map(|&group| group as usize).collect());
        match &table.regions {
            None => lists.push((list(table.open()).into_iter().chain([latent]).collect(), None)),
            Some(regions) => ranges.extend(table.open().iter().zip(&regions.found.cells).map(|(attribute, cells)| {
                let region = |&label: &u32| &cells.regions[label as usize];
                let range = |label: &u32| region(label).first as usize..=region(label).last as usize;
                Ranges { attribute, class: latent, of_class: cells.of_class.iter().map(range).collect() }
            })),
        }
        let listed_by = has_rows_without_value(table).then_some(latent);
        // One sensitive attribute after the other: what follows anyway, found earlier.
        let sensitive = list(table.sensitive);
        lists.extend((1..=sensitive.len()).map(|some| ([&sensitive[..some], &[latent]].concat(), listed_by)));
    }
    lists.extend(known.iter().map(|dependency| (dependency.from.with(dependency.to).iter().collect(), None)));
    let views = lists.into_iter().map(|(list, listed_by)| {
        let seen = view(&columns, &list, listed_by, case.rows);
        View { list, listed_by, seen }
    });
    let views = views.collect();
    assert!(ranges.iter().all(|ranges: &Ranges| ranges.hold(&columns)), "a row is outside of its own region");
    Published { views, ranges, columns, cardinalities: case.cardinalities.clone() }
}

fn view(columns: &[Vec<usize>], list: &[usize], listed_by: Option<usize>, rows: usize) -> Seen {
    let mut seen = Seen::new();
    let tuple = |row: usize| list.iter().map(|&at| columns[at][row]).collect::<Vec<usize>>();
    let listed = |row: &usize| listed_by.is_none_or(|bucket| columns[bucket][*row] != NO_BUCKET);
    (0..rows).filter(listed).map(tuple).for_each(|tuple| *seen.entry(tuple).or_default() += 1);
    seen
}

/// All ways to fill a column.
fn fillings(cardinality: usize, rows: usize) -> Vec<Vec<usize>> {
    (0..rows).fold(vec![Vec::new()], |all, _| {
        all.iter().flat_map(|begun| (0..cardinality).map(move |cell| [begun.as_slice(), &[cell]].concat())).collect()
    })
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

/// Calls `each` with every way to fill the columns row by row so that all views come out as
/// published. One column keeps its order: people have no names. Columns are filled in an order that
/// completes views early.
fn worlds(published: &Published, rows: usize, each: &mut dyn FnMut(&[Vec<usize>])) {
    let mut sequence: Vec<usize> = Vec::new();
    while sequence.len() < published.columns.len() {
        let left = |view: &View| view.list.iter().filter(|at| !sequence.contains(at)).copied().collect::<Vec<_>>();
        let open = published.views.iter().map(|view| (view.listed_by, left(view))).filter(|(_, left)| !left.is_empty());
        match open.min_by_key(|(listed_by, left)| (listed_by.is_some(), left.len())) {
            Some((_, next)) => sequence.extend(next),
            None => sequence.extend((0..published.columns.len()).find(|at| !sequence.contains(at))),
        }
    }
    let orders: Vec<Vec<Vec<usize>>> = (0..published.columns.len())
        .map(|at| match at == sequence[0] {
            true => vec![published.columns[at].clone()],
            false if published.is_free(at) => fillings(published.cardinalities[at], rows),
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
    let all_done = |list: &[usize]| list.contains(&at) && list.iter().all(|at| done.contains(at));
    let views: Vec<&View> = published.views.iter().filter(|view| all_done(&view.list)).collect();
    let ranges: Vec<&Ranges> =
        published.ranges.iter().filter(|ranges| all_done(&[ranges.attribute, ranges.class])).collect();
    for order in &orders[at] {
        filled[at].clone_from(order);
        let agrees = |listed: &View| view(filled, &listed.list, listed.listed_by, rows) == listed.seen;
        if ranges.iter().all(|ranges| ranges.hold(filled)) && views.iter().all(|view| agrees(view)) {
            fill(published, rows, orders, sequence, step + 1, filled, each);
        }
    }
}

/// For everything that the attacker of a rule may know of a person in the table, how often each
/// value is the right one, over all tables that agree with what is published.
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
fn no_adversary_who_weighs_every_table_exceeds_the_guarantee() {
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
        for tables in made {
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

/// Four people who can share a bucket of two sensitive attributes, and one or two who perhaps
/// cannot: what is not released of them, and that it is not released, raises no confidence.
#[test]
fn rows_without_a_sensitive_value_disclose_nothing() {
    let (mut without_value, mut tried) = (0, 0);
    for seed in seeds(40) {
        let mut rng = StdRng::seed_from_u64(seed);
        let rows = if rng.random_bool(0.1) { 6 } else { 5 };
        let more = |column: [u32; 4], rng: &mut StdRng| -> Codes {
            let more: Vec<u32> = (4..rows).map(|_| rng.random_range(0..3)).collect();
            Codes::from_iter(3, column.into_iter().chain(more))
        };
        let open: [u32; 4] = std::array::from_fn(|_| rng.random_range(0..3));
        let columns = vec![more(open, &mut rng), more([0, 0, 1, 1], &mut rng), more([0, 1, 0, 1], &mut rng)];
        let mut rules = Vec::new();
        for (protect, other) in [(1, 2), (2, 1)] {
            let know = if rng.random_bool(0.5) { AttributeSet::of(0) } else { AttributeSet::of(0).with(other) };
            let require = match rng.random_range(0..3) {
                0 => Model::DistinctLDiversity { l: 2 },
                1 => Model::EntropyLDiversity { l: Ratio::integer(2) },
                _ => Model::FrequencyLDiversity { l: Ratio::integer(2) },
            };
            rules.push(Rule { know, protect: AttributeSet::of(protect), require: vec![require] });
        }
        let case = Case { columns, cardinalities: vec![3; 3], rows, rules };
        let problem = case.problem(&[]);
        let made = multi_sensitive(&problem, &mut rng).filter(|tables| problem.is_kept(tables));
        let Some(tables) = made else { continue };
        let published = published(&case, &tables, &[]);
        without_value += usize::from(has_rows_without_value(&tables[0]));
        for rule in &case.rules {
            let found = beliefs(&case, rule, &published);
            assert!(holds_for(rule, &found), "{found:?} for {rule:?} from {tables:?}; HEDGEROW_SEED={seed}");
            tried += 1;
        }
    }
    assert!(
        without_value > 5 || std::env::var("HEDGEROW_SEED").is_ok(),
        "{without_value} with such rows, {tried} tried"
    );
}

#[test]
fn generalized_guardians_tell_no_more_than_buckets() {
    let (mut divided, mut tried) = (0, 0);
    for seed in seeds(100) {
        let mut rng = StdRng::seed_from_u64(seed);
        let rows = rng.random_range(4..=5);
        let (attributes, rules) = (rng.random_range(2..=3), rng.random_range(1..=3));
        let case = Case::new(&mut rng, attributes, rows, 3, rules);
        if case.rules.is_empty() {
            continue;
        }
        for algorithm in ["gd", "uad"] {
            let tables = generalized(&case, algorithm, &mut rng);
            let published = published(&case, &tables, &[]);
            let classes = |table: &Subtable| table.regions.as_ref().map_or(0, |regions| regions.found.sizes.len());
            divided += tables.iter().filter(|table| classes(table) > 1).count();
            for rule in &case.rules {
                let found = beliefs(&case, rule, &published);
                assert!(holds_for(rule, &found), "{found:?} for {rule:?} from {tables:?}; HEDGEROW_SEED={seed}");
                tried += 1;
            }
        }
    }
    assert!(divided > 10 || std::env::var("HEDGEROW_SEED").is_ok(), "{divided} divided, {tried} tried");
}

/// The tables that a policy with these rules requires when guardians are generalized.
fn generalized(case: &Case, algorithm: &str, rng: &mut StdRng) -> Vec<Subtable> {
    let columns = case.named();
    let mut text = "[source]\npath = \"people.csv\"\n[attributes]\n".to_owned();
    columns.iter().for_each(|column| text.push_str(&format!("\"{}\" = {{ role = \"quasi\" }}\n", column.name)));
    for rule in &case.rules {
        let know: Vec<&str> = rule.know.iter().map(|attribute| columns[attribute].name.as_str()).collect();
        let protect: Vec<&str> = rule.protect.iter().map(|attribute| columns[attribute].name.as_str()).collect();
        let l = match rule.require[0] {
            Model::DistinctLDiversity { l } => l as f64,
            Model::FrequencyLDiversity { l } | Model::EntropyLDiversity { l } => l.as_f64(),
            _ => unreachable!("not drawn"),
        };
        let require = format!("{{ model = \"{}\", l = {l} }}", rule.require[0].name());
        text.push_str(&format!("[[rule]]\nknow = {know:?}\nprotect = {protect:?}\nrequire = {require}\n"));
    }
    text.push_str(&format!(
        "[publish]\nmethod = \"decompose\"\nalgorithm = \"{algorithm}\"\nanonymizer = \"mondrian\"\n"
    ));
    let policy = Policy::parse(&text, "policy.toml".as_ref()).unwrap();
    let header = columns.iter().map(|column| column.name.clone()).collect();
    let table = Table { columns, rows: case.rows, header, warnings: Vec::new() };
    let bound = Bound::new(&policy, &table).unwrap();
    let rules = Rules::new(&policy, &table).unwrap();
    decompose::chosen(&bound, &rules, &rules.problem(), rng).unwrap().tables
}
