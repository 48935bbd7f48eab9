//! Algorithms 2 and 3 of the paper as they are printed, to be run beside the project's own.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hedgerow_privacy::rules::AttributeSet;
use hedgerow_publish::decompose::coloring::dsatur;
use hedgerow_publish::decompose::divergence::sensitive_values;
use hedgerow_publish::decompose::integer_program::Program;
use hedgerow_publish::decompose::{DecompositionProblem, Groups, Subtable};
use hedgerow_table::Ratio;
use microlp::{ComparisonOp, OptimizationDirection, SolveOptions};
use rand::rngs::StdRng;

/// Branches and time of a program with a variable for each row: what takes longer has taken that
/// long at least.
const NODES_MAX: u64 = 1_000;
const TIME_MAX: Duration = Duration::from_secs(20);

/// Utility-aware decomposition, line by line. Ties, which the paper breaks arbitrarily, go to the
/// first. An attribute that no rule is about fits every color: it has the largest, since in the
/// paper's figures UAD with one rule is one table, as it is by no other color.
pub(super) fn uad_as_printed(problem: &DecompositionProblem<'_>, rng: &mut StdRng) -> Vec<Subtable> {
    let attributes = problem.columns.len();
    // Line 1: an edge from what a rule knows to what it protects, and the same without direction.
    let mut edges_to = vec![AttributeSet::EMPTY; attributes];
    let mut neighbors = vec![AttributeSet::EMPTY; attributes];
    for rule in &problem.rules {
        for protect in rule.protect.iter() {
            for know in rule.know.iter() {
                edges_to[know] = edges_to[know].with(protect);
                neighbors[know] = neighbors[know].with(protect);
                neighbors[protect] = neighbors[protect].with(know);
            }
        }
    }
    let mut left = problem.everything();
    let mut tables = Vec::new();
    while !left.is_empty() {
        // Lines 2 to 4.
        let largest = largest_color(left, &neighbors);
        // Line 5.
        let incoming = |vertex: usize| largest.iter().filter(|&other| edges_to[other].contains(vertex)).count();
        let candidates = (left - largest).iter().filter(|&vertex| !edges_to[vertex].meets(largest));
        let chosen = candidates.fold(None, |best: Option<usize>, vertex| match best {
            Some(best) if incoming(best) >= incoming(vertex) => Some(best),
            _ => Some(vertex),
        });
        // Lines 6 to 8. Without an incoming edge there is nothing to enforce.
        let table = match chosen {
            Some(vertex) if incoming(vertex) > 0 => problem.bucketized(largest.with(vertex), vertex, rng),
            Some(vertex) => Subtable::plain(largest.with(vertex)),
            None => Subtable::plain(largest),
        };
        left = left - table.attributes;
        tables.push(table);
    }
    tables
}

fn largest_color(vertices: AttributeSet, neighbors: &[AttributeSet]) -> AttributeSet {
    let mut colors = vec![AttributeSet::EMPTY; neighbors.len() + 1];
    let apart: AttributeSet = vertices.iter().filter(|&vertex| !neighbors[vertex].meets(vertices)).collect();
    for (vertex, color) in dsatur(vertices - apart, neighbors).into_iter().enumerate() {
        if let Some(color) = color {
            colors[color] = colors[color].with(vertex);
        }
    }
    let first = |best: AttributeSet, next: AttributeSet| if next.len() > best.len() { next } else { best };
    colors.into_iter().fold(AttributeSet::EMPTY, first) | apart
}

/// One table in which every protected attribute is sensitive: the largest group of rows that keeps
/// all constraints becomes a bucket, then the largest of the rest, until none is left. Two groups
/// that keep the constraints keep them together, so the first group is also the last. `None`
/// without such a group, or without anything to release by row.
///
/// With one protected attribute the group is bucketized as any other table, as the paper has it.
pub(super) fn one_table_as_printed(problem: &DecompositionProblem<'_>, rng: &mut StdRng) -> Option<Vec<Subtable>> {
    let (sensitive, l) = protected(problem)?;
    if let [one] = sensitive.iter().collect::<Vec<_>>()[..] {
        return Some(vec![problem.bucketized(problem.everything(), one, rng)]);
    }
    let rows_of = combined(problem, sensitive);
    let combinations: Vec<Vec<u32>> = rows_of.keys().cloned().collect();
    let rows: Vec<u64> = rows_of.values().map(|rows| rows.len() as u64).collect();
    let group = Program::new(&combinations, &l).most(&rows);
    let (value_of, _) = sensitive_values(problem, sensitive);
    let mut of_row = vec![Groups::NONE; problem.rows];
    let mut members: Vec<(u32, u32)> = Vec::new();
    for (rows, &taken) in rows_of.values().zip(&group).filter(|(_, taken)| **taken > 0) {
        rows.iter().take(taken as usize).for_each(|&row| of_row[row as usize] = 0);
        members.push((value_of.get(rows[0] as usize), taken as u32));
    }
    members.sort_unstable();
    if members.is_empty() {
        return None;
    }
    let groups = Arc::new(Groups::of(of_row, std::iter::once(members)));
    Some(vec![Subtable { sensitive, groups: Some(groups), ..Subtable::plain(problem.everything()) }])
}

/// How long the program of algorithm 3 takes with its own variables, one for each row; the number
/// of rows that it groups, where the solver ends within the limit.
pub(super) fn seconds_with_a_variable_for_each_row(problem: &DecompositionProblem<'_>) -> Option<(f64, Option<u64>)> {
    let (sensitive, l) = protected(problem)?;
    let started = Instant::now();
    let mut program = microlp::Problem::new(OptimizationDirection::Maximize);
    let variables: Vec<_> = (0..problem.rows).map(|_| program.add_binary_var(1.0)).collect();
    for (attribute, l) in sensitive.iter().zip(l) {
        let others = combined(problem, sensitive.without(attribute));
        for line in others.values() {
            let mut of_value: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
            for &row in line {
                of_value.entry(problem.columns[attribute].get(row as usize)).or_default().push(row);
            }
            for own in of_value.values() {
                // l times the rows with this value are at most all rows of the line.
                let mut terms: BTreeMap<u32, f64> = line.iter().map(|&row| (row, -(l.denominator as f64))).collect();
                own.iter().for_each(|row| *terms.entry(*row).or_default() += l.numerator as f64);
                let terms: Vec<_> = terms.into_iter().map(|(row, factor)| (variables[row as usize], factor)).collect();
                program.add_constraint(terms, ComparisonOp::Le, 0.0);
            }
        }
    }
    let mut options = SolveOptions::default();
    options.node_limit = Some(NODES_MAX);
    options.time_limit = Some(TIME_MAX);
    let solved = program.solve_with(options).ok().and_then(|solved| solved.into_solution().ok());
    let grouped = solved.map(|solved| solved.objective().round() as u64);
    Some((started.elapsed().as_secs_f64(), grouped))
}

/// The protected attributes, and the l of each; `None` where nothing is left to release by row.
fn protected(problem: &DecompositionProblem<'_>) -> Option<(AttributeSet, Vec<Ratio>)> {
    let sensitive = problem.rules.iter().fold(AttributeSet::EMPTY, |all, rule| all | rule.protect);
    if sensitive.is_empty() || (problem.everything() - sensitive).is_empty() {
        return None;
    }
    Some((sensitive, sensitive.iter().map(|attribute| problem.l(attribute)).collect::<Option<_>>()?))
}

/// Rows by their values of some attributes.
fn combined(problem: &DecompositionProblem<'_>, attributes: AttributeSet) -> BTreeMap<Vec<u32>, Vec<u32>> {
    let mut rows_of: BTreeMap<Vec<u32>, Vec<u32>> = BTreeMap::new();
    for row in 0..problem.rows {
        let codes = attributes.iter().map(|attribute| problem.columns[attribute].get(row)).collect();
        rows_of.entry(codes).or_default().push(row as u32);
    }
    rows_of
}

#[cfg(test)]
mod tests {
    use hedgerow_privacy::Model;
    use hedgerow_privacy::rules::Rule;
    use hedgerow_table::Codes;
    use rand::SeedableRng;

    use super::*;

    fn rule(know: &[usize], protect: usize) -> Rule {
        let require = vec![Model::FrequencyLDiversity { l: Ratio::integer(2) }];
        Rule { know: know.iter().copied().collect(), protect: AttributeSet::of(protect), require }
    }

    /// The attributes of each table and the sensitive ones of these, for attributes of two values
    /// in all combinations.
    fn by_uad(attributes: usize, rules: Vec<Rule>) -> Vec<[Vec<usize>; 2]> {
        let column = |attribute: usize| Codes::from_iter(2, (0..64u32).map(|row| row >> attribute & 1));
        let columns: Vec<Codes> = (0..attributes).map(column).collect();
        let problem = DecompositionProblem::new(columns.iter().collect(), vec![2; attributes], 64, rules, &[]);
        let tables = uad_as_printed(&problem, &mut StdRng::seed_from_u64(1));
        assert!(problem.is_kept(&tables), "{tables:?}");
        tables.iter().map(|table| [table.attributes, table.sensitive].map(|set| set.iter().collect())).collect()
    }

    /// With one rule there is one table; two rules each of which protects what the other knows
    /// leave no vertex to add; and the rules of the six patients, by hand: 3 is colored first, then
    /// 4, and the largest color is {0, 2, 4}, to which all three have an edge to 3.
    #[test]
    fn algorithm_2_by_hand() {
        assert_eq!(by_uad(5, vec![rule(&[0, 1, 2], 3)]), [[vec![0, 1, 2, 3, 4], vec![3]]]);
        let crossed = by_uad(4, vec![rule(&[0, 1], 2), rule(&[2, 3], 0)]);
        assert_eq!(crossed, [[vec![0, 1], vec![]], [vec![2, 3], vec![]]]);
        let patients = by_uad(6, vec![rule(&[1, 5], 4), rule(&[2, 5], 3), rule(&[0, 4], 3)]);
        assert_eq!(patients, [[vec![0, 2, 3, 4], vec![3]], [vec![1, 5], vec![]]]);
    }

    /// Of three, two, two and three rows with each pair of values, no value may be more frequent
    /// than the other beside either value of the other attribute: two of each pair.
    #[test]
    fn algorithm_3_groups_as_many_rows_as_keep_every_constraint() {
        let pairs = [(0u32, 0u32, 3), (0, 1, 2), (1, 0, 2), (1, 1, 3)];
        let rows: Vec<(u32, u32)> = pairs.iter().flat_map(|&(one, other, rows)| vec![(one, other); rows]).collect();
        let columns = [
            Codes::from_iter(5, (0..10u32).map(|row| row % 5)),
            Codes::from_iter(2, rows.iter().map(|row| row.0)),
            Codes::from_iter(2, rows.iter().map(|row| row.1)),
        ];
        let rules = vec![rule(&[0], 1), rule(&[0], 2)];
        let problem = DecompositionProblem::new(columns.iter().collect(), vec![5, 2, 2], 10, rules, &[]);
        let tables = one_table_as_printed(&problem, &mut StdRng::seed_from_u64(1)).unwrap();
        let [table] = tables.as_slice() else { panic!("{tables:?}") };
        let groups = table.groups.as_ref().unwrap();
        for (one, other, _) in pairs {
            let grouped = (0..10).filter(|&row| rows[row] == (one, other) && groups.of_row[row] == 0).count();
            assert_eq!(grouped, 2, "({one}, {other})");
        }
    }
}
