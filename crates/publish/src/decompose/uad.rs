//! Utility-aware decomposition (Jin and others 2010, algorithm 2): few tables without overlap.
//!
//! Two attributes on different sides of a rule cannot both be told by row in one table. So the graph of the rules is
//! coloured, the largest colour becomes a table, one attribute that its rows must not reveal joins it as the sensitive one,
//! and the rest is coloured again. In normal form: tables share nothing, what a table tells by row is independent in the
//! graph, and its sensitive attribute is known in no rule about the others.
//!
//! A colour takes in all others that have no edge to it before colours are compared: an attribute that no rule is about has
//! whichever colour comes first, and the paper leaves to chance which table that makes.

use hedgerow_privacy::rules::AttributeSet;
use rand::rngs::StdRng;

use super::colouring::dsatur;
use super::problem::Hopeless;
use super::{Problem, Subtable};

pub fn uad(problem: &Problem<'_>, rng: &mut StdRng) -> Result<Vec<Subtable>, Hopeless> {
    let attributes = problem.columns.len();
    // Which attributes some rule protects from whom, and the same without direction.
    let mut protected_from = vec![AttributeSet::EMPTY; attributes];
    let mut neighbours = vec![AttributeSet::EMPTY; attributes];
    for rule in &problem.rules {
        for protect in rule.protect.iter() {
            protected_from[protect] = protected_from[protect] | rule.know;
            neighbours[protect] = neighbours[protect] | rule.know;
            for know in rule.know.iter() {
                neighbours[know] = neighbours[know].with(protect);
            }
        }
    }
    let mut left = problem.everything();
    let mut tables = Vec::new();
    while !left.is_empty() {
        let table = largest_colour(left, &neighbours);
        let reveals_nothing = |&attribute: &usize| {
            problem.can_be_bucketized(attribute) && !table.iter().any(|other| protected_from[other].contains(attribute))
        };
        let candidates = (left - table).iter().filter(reveals_nothing);
        let sensitive =
            candidates.max_by_key(|&attribute| ((protected_from[attribute] & table).len(), usize::MAX - attribute));
        left = left - table;
        tables.push(match sensitive {
            Some(sensitive) => {
                left = left.without(sensitive);
                problem.bucketized(table, sensitive, rng)
            }
            None => Subtable::plain(table),
        });
    }
    for rule in 0..problem.rules.len() {
        problem.keep(rule, &mut tables)?;
    }
    problem.tidy(&mut tables);
    Ok(tables)
}

/// The colour that is the largest once it has taken in all that have no edge to it; of several the first.
fn largest_colour(vertices: AttributeSet, neighbours: &[AttributeSet]) -> AttributeSet {
    let colours = dsatur(vertices, neighbours);
    let mut sets = vec![AttributeSet::EMPTY; neighbours.len() + 1];
    for (vertex, colour) in colours.into_iter().enumerate() {
        if let Some(colour) = colour {
            sets[colour] = sets[colour].with(vertex);
        }
    }
    let extended = |set: AttributeSet| {
        (vertices - set).iter().fold(set, |set, vertex| match neighbours[vertex].meets(set) {
            true => set,
            false => set.with(vertex),
        })
    };
    let used = sets.into_iter().filter(|set| !set.is_empty()).map(extended);
    used.rev().max_by_key(|set| set.len()).unwrap_or(vertices)
}
