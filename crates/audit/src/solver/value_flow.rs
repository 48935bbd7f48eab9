//! Which values each class can still give: on one side, people and counted values are a bipartite
//! problem with capacities; on two sides, the rows of one value are one more.

use hashbrown::HashMap;

use super::flow::{Moves, Network};
use super::problem::{ABSENT, WorldProblem};
use super::system::System;

/// Edges of one flow; a larger one is left to the bounds.
const EDGES_MAX: usize = 3_000_000;

/// A connected component of people and buckets of one side.
#[derive(Debug)]
pub(crate) struct Block {
    side: usize,
    profiles: Vec<u32>,
}

/// The blocks of a side. People with one possible bucket make a block with all others of it.
pub(crate) fn blocks(problem: &WorldProblem, system: &System, side: usize) -> Vec<Block> {
    let buckets = problem.sides[side].buckets();
    let mut above: Vec<u32> = (0..buckets as u32).collect();
    fn find(above: &mut [u32], mut of: u32) -> u32 {
        while above[of as usize] != of {
            above[of as usize] = above[above[of as usize] as usize];
            of = above[of as usize];
        }
        of
    }
    let first = |number: usize| -> Vec<u32> {
        let variables = &system.profiles[number];
        match variables.only[side] {
            Some(ABSENT) => Vec::new(),
            Some(bucket) => vec![bucket],
            None => {
                let spread = variables.spread.iter().find(|spread| spread.side as usize == side);
                let here = spread.into_iter().flat_map(|spread| &spread.buckets).map(|(bucket, _)| *bucket);
                here.filter(|&bucket| bucket != ABSENT).collect()
            }
        }
    };
    for number in 0..system.profiles.len() {
        let possible = first(number);
        for &other in possible.iter().skip(1) {
            let (one, other) = (find(&mut above, possible[0]), find(&mut above, other));
            above[one.max(other) as usize] = one.min(other);
        }
    }
    let mut blocks: Vec<Vec<u32>> = vec![Vec::new(); buckets];
    for number in 0..system.profiles.len() {
        if let Some(&bucket) = first(number).first() {
            blocks[find(&mut above, bucket) as usize].push(number as u32);
        }
    }
    let found = blocks.into_iter().filter(|profiles| !profiles.is_empty());
    found.map(|profiles| Block { side, profiles }).collect()
}

/// A network in the making: its edges that stand for variables.
struct NetworkDraft {
    network: Network,
    variables: Vec<(u32, usize)>,
}

const SOURCE: u32 = 0;
const SINK: u32 = 1;

impl NetworkDraft {
    fn new() -> NetworkDraft {
        let mut network = Network::new(2);
        network.add_edge(SINK, SOURCE, 0, u64::MAX >> 8);
        NetworkDraft { network, variables: Vec::new() }
    }

    fn variable(&mut self, system: &System, from: u32, to: u32, variable: u32) {
        let (low, high) = (system.low[variable as usize], system.high[variable as usize]);
        if high > 0 {
            let edge = self.network.add_edge(from, to, u64::from(low), u64::from(high));
            self.variables.push((variable, edge));
        }
    }

    /// Fixes what is the same in every flow. `None` when no flow exists.
    fn settle(mut self, system: &mut System, changed: &mut dyn FnMut(usize)) -> Option<()> {
        if self.variables.len() > EDGES_MAX {
            return Some(());
        }
        if !self.network.circulate() {
            return None;
        }
        for (variable, edge) in self.variables {
            let variable = variable as usize;
            let (low, high) = (system.low[variable], system.high[variable]);
            match self.network.moves(edge) {
                Moves::AtLow => system.high[variable] = low,
                Moves::AtHigh => system.low[variable] = high,
                Moves::Free => continue,
            }
            if low != high {
                changed(variable);
            }
        }
        Some(())
    }
}

/// The nodes of counts, made when they are first needed.
struct CountNodes<'a> {
    problem: &'a WorldProblem,
    side: usize,
    nodes: HashMap<u32, u32>,
    sink: bool,
    /// The flow is of the rows of one value.
    of_one_value: bool,
}

impl CountNodes<'_> {
    fn node(&mut self, draft: &mut NetworkDraft, position: usize) -> u32 {
        let side = &self.problem.sides[self.side];
        if let Some(&found) = self.nodes.get(&(position as u32)) {
            return found;
        }
        let node = draft.network.add_node();
        let (statement, rows) = side.counts[position];
        let rows = u64::from(rows);
        // Where the flow is of one value, other values may take up the rows of a shared statement.
        let may_be_others = self.of_one_value && side.statements.is_shared(statement);
        let low = if may_be_others { 0 } else { rows.saturating_sub(side.unlisted) };
        match self.sink {
            true => draft.network.add_edge(node, SINK, low, rows),
            false => draft.network.add_edge(SOURCE, node, low, rows),
        };
        self.nodes.insert(position as u32, node);
        node
    }
}

/// One block of a side: every person has one value, every count is used up. Buckets where no people
/// of the block can be have no part in it.
pub(crate) fn settle_block(
    problem: &WorldProblem,
    system: &mut System,
    block: &Block,
    changed: &mut dyn FnMut(usize),
) -> Option<()> {
    let side = &problem.sides[block.side];
    let edges: usize = block.profiles.iter().map(|&number| system.profiles[number as usize].values.len()).sum();
    if edges > EDGES_MAX {
        return Some(());
    }
    let mut draft = NetworkDraft::new();
    let mut counts = CountNodes { problem, side: block.side, nodes: HashMap::new(), sink: true, of_one_value: false };
    for &number in &block.profiles {
        let (variables, profile) = (&system.profiles[number as usize], &problem.profiles[number as usize]);
        let person = draft.network.add_node();
        draft.network.add_edge(SOURCE, person, u64::from(profile.people.0), u64::from(profile.people.1));
        match variables.only[block.side] {
            Some(bucket) => {
                for &(value, w) in &variables.values {
                    let Some(position) = side.position(bucket, value) else { continue };
                    let node = counts.node(&mut draft, position);
                    draft.variable(system, person, node, w);
                }
            }
            None => {
                let spread = variables.spread.iter().find(|spread| spread.side as usize == block.side)?;
                for (bucket, values) in &spread.buckets {
                    for &(value, z) in values {
                        let node = match *bucket {
                            ABSENT => SINK,
                            bucket => counts.node(&mut draft, side.position(bucket, value)?),
                        };
                        draft.variable(system, person, node, z);
                    }
                }
            }
        }
    }
    draft.settle(system, changed)
}

/// The rows of one value on two sides: each person who has it is in a bucket of each.
pub(crate) fn settle_value(
    problem: &WorldProblem,
    system: &mut System,
    sides: [usize; 2],
    holders: &[(u32, u32)],
    changed: &mut dyn FnMut(usize),
) -> Option<()> {
    let mut draft = NetworkDraft::new();
    let mut counts = [
        CountNodes { problem, side: sides[0], nodes: HashMap::new(), sink: false, of_one_value: true },
        CountNodes { problem, side: sides[1], nodes: HashMap::new(), sink: true, of_one_value: true },
    ];
    for &(number, at) in holders {
        let variables = &system.profiles[number as usize];
        let (value, w) = variables.values[at as usize];
        // The buckets of a side with the variable of each.
        let ends: [Vec<(u32, u32)>; 2] = sides.map(|side| match variables.only[side] {
            Some(bucket) => vec![(bucket, w)],
            None => {
                let spread = variables.spread.iter().find(|spread| spread.side as usize == side);
                let buckets = spread.into_iter().flat_map(|spread| &spread.buckets);
                let own = buckets.filter_map(|(bucket, values)| {
                    Some((*bucket, values.iter().find(|&&(other, _)| other == value)?.1))
                });
                own.collect()
            }
        });
        let node_of = |draft: &mut NetworkDraft, counts: &mut CountNodes<'_>, bucket: u32, outside: u32| match bucket {
            ABSENT => Some(outside),
            bucket => Some(counts.node(draft, problem.sides[counts.side].position(bucket, value)?)),
        };
        if let ([(one, _)], [(two, _)]) = (ends[0].as_slice(), ends[1].as_slice()) {
            let from = node_of(&mut draft, &mut counts[0], *one, SOURCE)?;
            let to = node_of(&mut draft, &mut counts[1], *two, SINK)?;
            draft.variable(system, from, to, w);
            continue;
        }
        let [into, out] = [0, 1].map(|_| draft.network.add_node());
        draft.variable(system, into, out, w);
        for &(bucket, variable) in &ends[0] {
            let from = node_of(&mut draft, &mut counts[0], bucket, SOURCE)?;
            draft.variable(system, from, into, variable);
        }
        for &(bucket, variable) in &ends[1] {
            let to = node_of(&mut draft, &mut counts[1], bucket, SINK)?;
            draft.variable(system, out, to, variable);
        }
    }
    // A count that no profile can take up is left to people who are not listed.
    draft.settle(system, changed)
}

/// By value, the profiles that may have it, each with the position among its values.
pub(crate) fn holders(problem: &WorldProblem, system: &System) -> Vec<Vec<(u32, u32)>> {
    let mut holders: Vec<Vec<(u32, u32)>> = vec![Vec::new(); problem.values as usize + 1];
    for (number, variables) in system.profiles.iter().enumerate() {
        for (at, &(value, w)) in variables.values.iter().enumerate() {
            if system.high[w as usize] > 0 {
                holders[value as usize].push((number as u32, at as u32));
            }
        }
    }
    holders
}

/// By profile, the blocks that it is in.
pub(crate) fn blocks_of_profiles(blocks: &[Block], profiles: usize) -> Vec<Vec<u32>> {
    let mut of = vec![Vec::new(); profiles];
    for (number, block) in blocks.iter().enumerate() {
        block.profiles.iter().for_each(|&profile| of[profile as usize].push(number as u32));
    }
    of
}
