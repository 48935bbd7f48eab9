//! The minimality attack on a full-domain release, counted exactly: every way to give the released
//! values of each class to its people is examined, and those remain in which every node with less
//! loss breaks the rule.
//!
//! Nodes with less loss are those that are finer in every attribute, and, where the policy says
//! which loss was minimized, all others that lose less. A node whose groups are smaller than k
//! explains itself; of the others, a coarser one that breaks the rule breaks it in every finer one,
//! so that only the coarsest are examined. Nodes that lose exactly as much could have been
//! published instead: they say nothing.
//!
//! Cost: ways × coarsest nodes × groups; made only where ways and nodes are few.

use hashbrown::HashMap;
use hedgerow_table::{Column, Hierarchy};

use super::worlds::{PEOPLE_MAX, ways};
use super::{HowMade, Known};
use crate::cell::SourceCell;
use crate::loss::ncp;

/// The most ways that are examined.
const ASSIGNMENTS_MAX: f64 = 200_000.0;

/// The largest lattice that is examined.
const NODES_MAX: usize = 20_000;

/// Losses closer than this are equal.
const SLACK: f64 = 1e-9;

/// The posterior of every person.
#[derive(Debug)]
pub(super) struct Posterior {
    /// By row of the people's table, then by sensitive value, in how many of the remaining ways the
    /// person has the value.
    pub(super) having: Vec<Vec<u64>>,
    /// The ways that remain; with none, the release was not made as it says.
    pub(super) remaining: u64,
    /// How many nodes must have broken the rule; with none, the release says no more than its
    /// classes.
    pub(super) nodes: usize,
    /// Every node could be compared with the release: the loss is known, or all nodes are finer or
    /// coarser.
    pub(super) complete: bool,
}

/// One quasi-identifier in the lattice.
struct LatticeAxis<'a> {
    hierarchy: &'a Hierarchy,
    column: &'a Column,
    /// The level of the release.
    level: usize,
}

/// `None` where the lattice, the people or the ways are too many, or a hierarchy is not known.
/// `levels` are those of the release.
pub(super) fn posterior(
    known: &Known<'_>,
    made: HowMade<'_>,
    levels: &[usize],
    members: &[Vec<usize>],
) -> Option<Posterior> {
    let axes = axes(known, made, levels)?;
    let people = known.people.rows;
    let values = |class: usize| known.sensitive.of_bucket(known.classes.bucket_of[class]);
    let all_ways: f64 = (0..members.len()).map(|class| ways(values(class))).product();
    if people > PEOPLE_MAX || all_ways > ASSIGNMENTS_MAX {
        return None;
    }
    let (nodes, complete) = must_fail(known, made, &axes)?;
    let mut found = Posterior {
        having: vec![vec![0; known.sensitive.values.len()]; people],
        remaining: 0,
        nodes: nodes.len(),
        complete,
    };
    let order: Vec<(usize, usize)> =
        members.iter().enumerate().flat_map(|(class, members)| members.iter().map(move |&row| (class, row))).collect();
    let mut left: Vec<Vec<(u32, u32)>> = (0..members.len()).map(|class| values(class).to_vec()).collect();
    let mut given = vec![0u128; known.sensitive.values.len()];
    let fails = |given: &[u128]| {
        let lacks =
            |group: &u128| (given.iter().filter(|holders| *holders & group != 0).count() as u64) < known.required.l;
        nodes.iter().all(|groups| groups.iter().any(lacks))
    };
    give(&order, &mut left, &mut given, &mut |given| {
        if fails(given) {
            found.remaining += 1;
            for (value, holders) in given.iter().enumerate() {
                let having = found.having.iter_mut().enumerate();
                having.for_each(|(person, having)| having[value] += (holders >> person & 1) as u64);
            }
        }
    });
    Some(found)
}

/// Gives the values of each class to its people, one after the other, in every way.
fn give(order: &[(usize, usize)], left: &mut [Vec<(u32, u32)>], given: &mut [u128], look: &mut dyn FnMut(&[u128])) {
    let Some((&(class, row), others)) = order.split_first() else { return look(given) };
    for place in 0..left[class].len() {
        let (value, count) = left[class][place];
        if count > 0 {
            left[class][place].1 -= 1;
            given[value as usize] |= 1 << row;
            give(others, left, given, look);
            given[value as usize] &= !(1 << row);
            left[class][place].1 += 1;
        }
    }
}

fn axes<'a>(known: &Known<'a>, made: HowMade<'a>, levels: &[usize]) -> Option<Vec<LatticeAxis<'a>>> {
    let quasi = known.classes.quasi.iter().zip(levels);
    quasi
        .map(|(quasi, &level)| {
            let (_, hierarchy) = made.hierarchies.iter().find(|(name, _)| *name == quasi.name)?;
            Some(LatticeAxis { hierarchy, column: known.people.column(&quasi.name)?, level })
        })
        .collect()
}

/// The groups of the coarsest nodes that lose less than the release and have at least k people in
/// each group; and whether every node could be compared with the release.
fn must_fail(known: &Known<'_>, made: HowMade<'_>, axes: &[LatticeAxis<'_>]) -> Option<(Vec<Vec<u128>>, bool)> {
    let nodes = axes.iter().try_fold(1usize, |nodes, axis| nodes.checked_mul(axis.hierarchy.levels().len()))?;
    if nodes > NODES_MAX {
        return None;
    }
    let own: Vec<usize> = axes.iter().map(|axis| axis.level).collect();
    let own_groups = groups(axes, &own, known.people.rows);
    let own_loss = made.loss.and_then(|loss| loss_of(loss, axes, &own, known));
    let mut complete = true;
    let mut cheaper: Vec<(Vec<usize>, Vec<u128>)> = Vec::new();
    for number in 0..nodes {
        let node = node(number, axes);
        if node.iter().zip(&own).all(|(level, own)| level >= own) {
            continue;
        }
        let finer = node.iter().zip(&own).all(|(level, own)| level <= own);
        let loses_less = match own_loss {
            Some(own) => {
                let loss = loss_of(made.loss?, axes, &node, known)?;
                loss < own - SLACK * own.abs().max(1.0)
            }
            None => {
                complete &= finer;
                finer
            }
        };
        if !loses_less {
            continue;
        }
        let groups = groups(axes, &node, known.people.rows);
        let large = groups.iter().all(|group| u64::from(group.count_ones()) >= known.required.k);
        // Where the loss is not known, a node with the same groups may lose as much.
        if large && (own_loss.is_some() || groups != own_groups) {
            cheaper.push((node, groups));
        }
    }
    let coarser =
        |one: &[usize], other: &[usize]| one != other && one.iter().zip(other).all(|(one, other)| one >= other);
    let is_coarsest = |node: &[usize]| !cheaper.iter().any(|(other, _)| coarser(other, node));
    let coarsest: Vec<usize> = (0..cheaper.len()).filter(|&at| is_coarsest(&cheaper[at].0)).collect();
    let coarsest = coarsest.into_iter().map(|at| std::mem::take(&mut cheaper[at].1)).collect();
    Some((coarsest, complete))
}

fn node(mut number: usize, axes: &[LatticeAxis<'_>]) -> Vec<usize> {
    axes.iter()
        .map(|axis| {
            let levels = axis.hierarchy.levels().len();
            let level = number % levels;
            number /= levels;
            level
        })
        .collect()
}

/// People by their labels in a node, as bits.
fn groups(axes: &[LatticeAxis<'_>], node: &[usize], people: usize) -> Vec<u128> {
    let mut groups: HashMap<Vec<u32>, u128> = HashMap::new();
    for row in 0..people {
        let label = |(axis, &level): (&LatticeAxis<'_>, &usize)| {
            axis.hierarchy.levels()[level].map[axis.column.codes.get(row) as usize]
        };
        *groups.entry(axes.iter().zip(node).map(label).collect()).or_default() |= 1 << row;
    }
    let mut groups: Vec<u128> = groups.into_values().collect();
    groups.sort_unstable();
    groups
}

/// The loss of a node without suppression; `None` for one that is not known here.
fn loss_of(loss: &str, axes: &[LatticeAxis<'_>], node: &[usize], known: &Known<'_>) -> Option<f64> {
    let people = known.people.rows;
    let by_level =
        |of: &dyn Fn(&LatticeAxis<'_>, usize) -> f64| axes.iter().zip(node).map(|(axis, &level)| of(axis, level)).sum();
    match loss {
        "ncp" => Some(by_level(&ncp_of)),
        "precision" => {
            Some(by_level(&|axis: &LatticeAxis<'_>, level: usize| level as f64 / axis.hierarchy.top().max(1) as f64))
        }
        "discernibility" => {
            let groups = groups(axes, node, people);
            Some(groups.iter().map(|group| f64::from(group.count_ones()).powi(2)).sum())
        }
        "average-class" => Some(people as f64 / groups(axes, node, people).len() as f64),
        _ => None,
    }
}

/// Summed over the people.
fn ncp_of(axis: &LatticeAxis<'_>, level: usize) -> f64 {
    let domain = &axis.column.domain;
    let (chosen, counts) = (&axis.hierarchy.levels()[level], axis.column.counts());
    let top = level > 0 && level == axis.hierarchy.top();
    let penalty = |label: &hedgerow_table::Label| ncp::of_cell(&SourceCell::new(&label.cover, domain), domain, top);
    let penalties: Vec<f64> = chosen.labels.iter().map(penalty).collect();
    chosen.map.iter().zip(&counts).map(|(&label, &count)| count as f64 * penalties[label as usize]).sum()
}
