//! The search as data: every node that holds, measured, so that a person can choose among them.
//!
//! Nodes are judged from the coarsest down. A node is passed over only when a coarser one shows
//! that too many rows would have to be suppressed ([`AtLeast`]).

use hedgerow_draft::loss::{Cost, LossModel};
use hedgerow_release::manifest::ClassSizes;
use hedgerow_table::{parallel, with_words};

use super::{BATCH, BestNode, FullDomain, Holding, LatticeSearch};
use crate::lattice::{Lattice, Levels};
use crate::pruning::AtLeast;

/// The largest part of a lattice that is explored.
pub const EXPLORED_MAX: u64 = 1 << 18;

/// A node at which every rule holds.
#[derive(Debug, Clone, PartialEq)]
pub struct HoldingNode {
    pub levels: Levels,
    /// In the measure that is minimized.
    pub cost: Cost,
    /// In every measure of [`FullDomain::measured`].
    pub losses: Vec<f64>,
    pub suppressed: u64,
    /// Classes of the kept rows over all quasi attributes.
    pub classes: ClassSizes,
}

/// All nodes that hold, the best first.
#[derive(Debug, Clone, PartialEq)]
pub struct Explored {
    /// Nodes of the part that was explored.
    pub nodes: u64,
    pub judged: u64,
    pub holding: Vec<HoldingNode>,
}

/// How many nodes there are when some attributes stay on a given level; `None` beyond 64 bits.
pub fn nodes_with(problem: &FullDomain<'_>, fixed: &[Option<u8>]) -> Option<u64> {
    free_part(problem, fixed).1.nodes()
}

/// Judges every node, or those that have the `fixed` levels: at most [`EXPLORED_MAX`]. Ends early
/// when the work is canceled.
pub fn explore(problem: FullDomain<'_>, fixed: &[Option<u8>]) -> Explored {
    with_words!(problem.judge.layout().words(), W => LatticeSearch::<W>::new(problem).explore(fixed))
}

/// The node with the least loss among those that have the `fixed` levels.
pub fn best_with(problem: FullDomain<'_>, fixed: &[Option<u8>]) -> Option<BestNode> {
    with_words!(problem.judge.layout().words(), W => {
        let mut search = LatticeSearch::<W>::new(problem);
        search.judge_part(fixed, |_, _, _| ());
        search.best.clone().map(|best| search.found(best))
    })
}

fn free_part(problem: &FullDomain<'_>, fixed: &[Option<u8>]) -> (Vec<usize>, Lattice) {
    let free: Vec<usize> = (0..fixed.len()).filter(|&attribute| fixed[attribute].is_none()).collect();
    let tops = free.iter().map(|&attribute| problem.hierarchies[attribute].top() as u8).collect();
    (free, Lattice::new(tops))
}

/// The number of a node, what all finer ones suppress at least, and what it is like where it holds.
type JudgedNode = (u64, AtLeast, Option<(Holding, HoldingNode)>);

impl<const W: usize> LatticeSearch<'_, W> {
    fn explore(mut self, fixed: &[Option<u8>]) -> Explored {
        let mut holding: Vec<(Holding, HoldingNode)> = Vec::new();
        let nodes = self.judge_part(fixed, |_, found, node| holding.push((found, node)));
        holding.sort_by(|a, b| a.0.cmp(&b.0));
        let judged = self.judged.len() as u64;
        Explored { nodes, judged, holding: holding.into_iter().map(|(_, node)| node).collect() }
    }

    /// Judges the nodes that have the fixed levels, and returns how many there are.
    fn judge_part(&mut self, fixed: &[Option<u8>], mut holds: impl FnMut(u64, Holding, HoldingNode)) -> u64 {
        let (free, part) = free_part(&self.problem, fixed);
        let nodes = part.nodes().filter(|&nodes| nodes <= EXPLORED_MAX).unwrap_or(0);
        self.problem.progress.stage("exploring", Some(nodes));
        let mut numbers: Vec<(std::cmp::Reverse<u32>, u64)> = Vec::with_capacity(nodes as usize);
        let mut levels = Levels::new();
        for number in 0..nodes {
            part.levels(number, &mut levels);
            numbers.push((std::cmp::Reverse(levels.iter().map(|&level| u32::from(level)).sum()), number));
        }
        numbers.sort_unstable();
        let mut at_least = vec![AtLeast::default(); nodes as usize];
        for batch in numbers.chunk_by(|a, b| a.0 == b.0).flat_map(|height| height.chunks(BATCH)) {
            if self.problem.progress.is_canceled() {
                break;
            }
            let mut judged: Vec<(u64, Levels)> = Vec::with_capacity(batch.len());
            for &(_, number) in batch {
                part.levels(number, &mut levels);
                let above = part.coarser(number, &levels).map(|coarser| at_least[coarser as usize]).max();
                at_least[number as usize] = above.unwrap_or_default();
                if at_least[number as usize].rows() < self.failing_from() {
                    let mut all: Levels = fixed.iter().map(|level| level.unwrap_or_default()).collect();
                    free.iter().zip(&levels).for_each(|(&attribute, &level)| all[attribute] = level);
                    judged.push((number, all));
                }
            }
            for (number, bound, found) in self.judge_measured(&judged) {
                let known = &mut at_least[number as usize];
                *known = (*known).max(bound);
                if let Some((holding, node)) = found {
                    holds(number, holding, node);
                }
            }
            self.problem.progress.advance(batch.len() as u64);
        }
        nodes
    }

    /// Judges nodes and measures those that hold.
    fn judge_measured(&mut self, nodes: &[(u64, Levels)]) -> Vec<JudgedNode> {
        let levels: Vec<Levels> = nodes.iter().map(|(_, levels)| levels.clone()).collect();
        let counted = self.sets.count_all(&levels);
        let judged = parallel::map(counted.len(), |index| {
            let counted = &counted[index];
            let seen = self.verdict(counted);
            let bound = self.pruning.after(&seen.verdict);
            let node = seen.verdict.kept.as_ref().map(|kept| {
                let loss = |model: &LossModel| {
                    model.loss(model.cost(self.layout, &self.quasi, &counted.levels, &seen.set, kept))
                };
                let classes = seen.set.classes(&self.layout.mask_of::<W>(self.quasi.iter().copied()));
                let mut sizes = vec![0u64; classes.sizes.len()];
                for (entry, _) in kept.iter().enumerate().filter(|(_, kept)| **kept) {
                    sizes[classes.of_entry[entry] as usize] += u64::from(seen.set.counts()[entry]);
                }
                HoldingNode {
                    levels: counted.levels.clone(),
                    cost: self.problem.loss.cost(self.layout, &self.quasi, &counted.levels, &seen.set, kept),
                    losses: self.problem.measured.iter().map(loss).collect(),
                    suppressed: seen.verdict.suppressed,
                    classes: ClassSizes::of(sizes.into_iter().filter(|&size| size > 0)),
                }
            });
            (nodes[index].0, bound, self.holding(counted, &seen).zip(node))
        });
        self.judged.extend(levels);
        for (_, _, found) in &judged {
            if let Some((holding, _)) = found
                && self.best.as_ref().is_none_or(|best| holding < best)
            {
                self.best = Some(holding.clone());
            }
        }
        judged
    }
}
