//! Utility-aware decomposition (Jin and others 2010, algorithm 2): few tables with little overlap.
//!
//! Two attributes on different sides of a rule cannot both be released by row in one table. So the
//! graph of the rules is colored, the largest color becomes a table, one attribute that its rows
//! must not reveal joins it as the sensitive one, and the rest is colored again. In normal form:
//! these tables share nothing, what a table releases by row is independent in the graph, and its
//! sensitive attribute is known in no rule about the others.
//!
//! More is kept than by the paper's steps alone. A color takes in all others that have no edge to
//! it before colors are compared: an attribute that no rule is about has whichever color comes
//! first, and the paper leaves to chance which table that makes. One more set without edges is
//! compared with the colors ([`by_fewest_neighbors`]). Where the paper leaves to chance which of
//! the largest colors, and which of the attributes most protected from it, the table that keeps the
//! most of a sample is taken. And a protected attribute that is alone in the end, with all that it
//! says of the others lost, takes in what may be released with it ([`accompany`]); only there
//! tables overlap, and must form a tree as those of [`super::gd`].

use hedgerow_privacy::rules::AttributeSet;
use hedgerow_table::Codes;
use rand::rngs::StdRng;

use super::coloring::dsatur;
use super::divergence::Divergence;
use super::junction::separators;
use super::problem::Unsatisfiable;
use super::{DecompositionProblem, Subtable};

/// Rows that decide which of several tables is taken.
const SAMPLE_MAX: usize = 1 << 14;

pub fn uad(problem: &DecompositionProblem<'_>, rng: &mut StdRng) -> Result<Vec<Subtable>, Unsatisfiable> {
    let attributes = problem.columns.len();
    // Which attributes some rule protects from whom, and the same without direction.
    let mut protected_from = vec![AttributeSet::EMPTY; attributes];
    let mut neighbors = vec![AttributeSet::EMPTY; attributes];
    for rule in &problem.rules {
        for protect in rule.protect.iter() {
            protected_from[protect] = protected_from[protect] | rule.know;
            neighbors[protect] = neighbors[protect] | rule.know;
            for know in rule.know.iter() {
                neighbors[know] = neighbors[know].with(protect);
            }
        }
    }
    let mut left = problem.everything();
    let mut tables = Vec::new();
    while !left.is_empty() {
        let mut found: Vec<(AttributeSet, Option<usize>)> = Vec::new();
        for table in largest_colors(left, &neighbors) {
            let guarded = most_guarded(problem, table, left - table, &protected_from);
            found.extend(guarded.iter().map(|&sensitive| (table, Some(sensitive))));
            found.extend(guarded.is_empty().then_some((table, None)));
        }
        let (table, sensitive) = match found[..] {
            [only] => only,
            _ => closest(problem, &found, rng),
        };
        let table = made(problem, table, sensitive, rng);
        problem.progress.advance((left & table.attributes).len() as u64);
        left = left - table.attributes;
        tables.push(table);
        if problem.progress.is_canceled() {
            return Ok(tables);
        }
    }
    for rule in 0..problem.rules.len() {
        problem.keep(rule, &mut tables)?;
    }
    for index in 0..tables.len() {
        if problem.progress.is_canceled() {
            return Ok(tables);
        }
        accompany(problem, &mut tables, index, rng);
    }
    problem.tidy(&mut tables);
    Ok(tables)
}

fn made(
    problem: &DecompositionProblem<'_>,
    table: AttributeSet,
    sensitive: Option<usize>,
    rng: &mut StdRng,
) -> Subtable {
    match sensitive {
        Some(sensitive) => problem.bucketized(table, sensitive, rng),
        None => Subtable::plain(table),
    }
}

/// Of what may be released by bucket together with a table: those that most of the table's
/// attributes must not lead to.
fn most_guarded(
    problem: &DecompositionProblem<'_>,
    table: AttributeSet,
    outside: AttributeSet,
    protected_from: &[AttributeSet],
) -> Vec<usize> {
    let reveals_nothing = |attribute: &usize| {
        problem.can_be_bucketized(*attribute) && !table.iter().any(|other| protected_from[other].contains(*attribute))
    };
    let from = |attribute: usize| (protected_from[attribute] & table).len();
    let candidates: Vec<usize> = outside.iter().filter(reveals_nothing).collect();
    let most = candidates.iter().map(|&attribute| from(attribute)).max();
    candidates.into_iter().filter(|&attribute| Some(from(attribute)) == most).collect()
}

/// Of several tables the one that keeps the most of a sample when all it omits stands alone; of
/// equals the first.
fn closest(
    problem: &DecompositionProblem<'_>,
    found: &[(AttributeSet, Option<usize>)],
    rng: &mut StdRng,
) -> (AttributeSet, Option<usize>) {
    let step = problem.rows.div_ceil(SAMPLE_MAX).max(1);
    let sampled = |(column, &size): (&&Codes, &usize)| {
        Codes::from_iter(size, (0..problem.rows).step_by(step).map(|row| column.get(row)))
    };
    let columns: Vec<Codes> = problem.columns.iter().zip(&problem.cardinalities).map(sampled).collect();
    let rows = problem.rows.div_ceil(step);
    let (cardinalities, rules) = (problem.cardinalities.clone(), problem.rules.clone());
    let missing = problem.missing.clone();
    let sample = DecompositionProblem::with_missing(columns.iter().collect(), cardinalities, missing, rows, rules, &[]);
    let decompositions = found.iter().map(|&(table, sensitive)| {
        let table = made(&sample, table, sensitive, rng);
        let alone = (problem.everything() - table.attributes).iter().map(|one| Subtable::plain(AttributeSet::of(one)));
        alone.chain(std::iter::once(table.clone())).collect()
    });
    let decompositions: Vec<Vec<Subtable>> = decompositions.collect();
    let lost = Divergence::new(&sample).of_each(&decompositions).into_iter().map(|lost| lost.unwrap_or(f64::INFINITY));
    let least = lost.zip(found).min_by(|one, other| one.0.total_cmp(&other.0));
    *least.expect("there is a color").1
}

/// A protected attribute that was left alone takes in all that may be released with it, what its
/// rules know first.
fn accompany(problem: &DecompositionProblem<'_>, tables: &mut [Subtable], index: usize, rng: &mut StdRng) {
    let own = tables[index].attributes;
    let Some(protect) = own.iter().next().filter(|&one| own.len() == 1 && problem.can_be_bucketized(one)) else {
        return;
    };
    let about = problem.rules.iter().filter(|rule| rule.protect == own);
    let known = about.fold(AttributeSet::EMPTY, |known, rule| known | rule.know);
    for attribute in known.iter().chain((problem.everything() - known - own).iter()) {
        let attributes = tables[index].attributes.with(attribute);
        let grown = Subtable { sensitive: own, ..Subtable::plain(attributes) };
        let before = std::mem::replace(&mut tables[index], grown);
        if !problem.is_kept(tables) || separators(tables).is_none() {
            tables[index] = before;
        }
    }
    if tables[index].attributes != own {
        tables[index] = problem.bucketized(tables[index].attributes, protect, rng);
    }
}

/// The colors that are the largest once they have taken in all that have no edge to them.
fn largest_colors(vertices: AttributeSet, neighbors: &[AttributeSet]) -> Vec<AttributeSet> {
    let colors = dsatur(vertices, neighbors);
    let mut sets = vec![AttributeSet::EMPTY; neighbors.len() + 1];
    for (vertex, color) in colors.into_iter().enumerate() {
        if let Some(color) = color {
            sets[color] = sets[color].with(vertex);
        }
    }
    let extended = |set: AttributeSet| {
        (vertices - set).iter().fold(set, |set, vertex| match neighbors[vertex].meets(set) {
            true => set,
            false => set.with(vertex),
        })
    };
    sets.push(by_fewest_neighbors(vertices, neighbors));
    let mut used: Vec<AttributeSet> = sets.into_iter().filter(|set| !set.is_empty()).map(extended).collect();
    let most = used.iter().map(|set| set.len()).max();
    used.retain(|set| Some(set.len()) == most);
    used.sort_unstable();
    used.dedup();
    used
}

/// Vertices without an edge between them: always the next with the fewest neighbors among those
/// that are left. With rules `a b c ⇸ d` and `d e f ⇸ a` the colors are `a b c` and `d e f`, and
/// this is `b c e f`.
fn by_fewest_neighbors(vertices: AttributeSet, neighbors: &[AttributeSet]) -> AttributeSet {
    let (mut left, mut taken) = (vertices, AttributeSet::EMPTY);
    while let Some(next) = left.iter().min_by_key(|&vertex| (neighbors[vertex] & left).len()) {
        taken = taken.with(next);
        left = (left - neighbors[next]).without(next);
    }
    taken
}
