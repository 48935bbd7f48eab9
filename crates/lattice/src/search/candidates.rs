//! Counting every node that holds. Where holding is monotone, chains of undecided nodes are halved
//! and each answer decides all nodes above or below (the idea of Flash, Kohlmayer et al. 2012);
//! otherwise every node is judged that the absorbing cores do not exclude.

use std::cmp::Reverse;

use super::{BATCH, LatticeSearch};
use crate::lattice::Levels;
use crate::pruning::AtLeast;

/// Chains halved at once, whatever the number of threads: judging one node keeps one of them busy.
const CHAINS: usize = 2;

/// How far ahead a further chain may start.
const LOOKAHEAD: usize = 64;

/// A chain of nodes: those before `low` fail, those from `high` on hold.
struct Halved {
    chain: Vec<u64>,
    low: usize,
    high: usize,
}

impl Halved {
    fn is_open(&self) -> bool {
        self.low < self.high
    }

    fn middle(&self) -> u64 {
        self.chain[(self.low + self.high) / 2]
    }
}

impl<const W: usize> LatticeSearch<'_, W> {
    /// `None` when the budget runs out before every node is decided.
    pub(super) fn count_candidates(&mut self) -> Option<u64> {
        let nodes = self.lattice.nodes().expect("numbered");
        if self.holding_is_monotone() { self.decide_by_chains(nodes) } else { self.judge_each(nodes) }
    }

    /// Whether every node above one that holds, holds.
    pub(super) fn holding_is_monotone(&self) -> bool {
        self.problem.consistent.is_none() && self.pruning.holding_means_coarser_holds(self.problem.judge)
    }

    fn judge_each(&mut self, nodes: u64) -> Option<u64> {
        let mut levels = Levels::new();
        let mut order: Vec<(Reverse<u32>, u32)> = (0..nodes)
            .map(|number| {
                self.lattice.levels(number, &mut levels);
                (Reverse(levels.iter().map(|&level| u32::from(level)).sum()), number as u32)
            })
            .collect();
        order.sort_unstable();
        let mut at_least = vec![AtLeast::default(); nodes as usize];
        let (mut holding, mut passed) = (0u64, 0u64);
        // Nodes of equal height do not lie below one another, so each height is judged in batches.
        for height in order.chunk_by(|a, b| a.0 == b.0) {
            for chunk in height.chunks(BATCH) {
                if self.out_of_budget() {
                    return None;
                }
                passed += chunk.len() as u64;
                self.report_decided(nodes + passed);
                let mut batch: Vec<(u32, Levels)> = Vec::new();
                for &(_, number) in chunk {
                    let mut levels = Levels::new();
                    self.lattice.levels(u64::from(number), &mut levels);
                    let above = self.lattice.coarser(u64::from(number), &levels);
                    at_least[number as usize] = above.map(|c| at_least[c as usize]).max().unwrap_or_default();
                    let rows = at_least[number as usize].rows();
                    if rows <= self.problem.judge.allowed() && rows < self.all_rows {
                        batch.push((number, levels));
                    }
                }
                let nodes: Vec<Levels> = batch.iter().map(|(_, levels)| levels.clone()).collect();
                for ((number, _), judged) in batch.iter().zip(self.judge_all(&nodes)) {
                    at_least[*number as usize] = judged.at_least.max(at_least[*number as usize]);
                    holding += u64::from(judged.holding.is_some());
                }
            }
        }
        Some(holding)
    }

    /// Decides every node of a lattice where holding is monotone. A node that holds and has no
    /// finer one that holds cannot be decided by another, so all of these are judged themselves:
    /// for a loss that grows with every step, the best node is among them.
    pub(super) fn decide_by_chains(&mut self, nodes: u64) -> Option<u64> {
        let mut decided: Vec<Option<bool>> = vec![None; nodes as usize];
        let order = self.few_attributes_first(nodes);
        let mut next = 0;
        // The first pass reports up to all nodes; a second one, beyond.
        let before = if self.explain.judged_proof > 0 { nodes } else { 0 };
        while next < order.len() {
            self.report_decided(before + next as u64);
            if decided[order[next] as usize].is_some() {
                next += 1;
                continue;
            }
            let mut chains: Vec<Halved> = Vec::with_capacity(CHAINS);
            for &start in order[next..].iter().take(LOOKAHEAD) {
                let apart = chains.iter().all(|other| !other.chain.contains(&start));
                if chains.len() < CHAINS && apart && decided[start as usize].is_none() {
                    chains.push(self.chain(start, &decided));
                }
            }
            while chains.iter().any(Halved::is_open) {
                if self.out_of_budget() {
                    return None;
                }
                self.halve(&mut chains, &mut decided);
            }
        }
        Some(decided.iter().filter(|decision| **decision == Some(true)).count() as u64)
    }

    /// Undecided nodes from one upwards, each coarser than the one before.
    fn chain(&self, start: u64, decided: &[Option<bool>]) -> Halved {
        let mut chain = vec![start];
        let mut levels = Levels::new();
        loop {
            let last = chain[chain.len() - 1];
            self.lattice.levels(last, &mut levels);
            let mut coarser = self.lattice.coarser(last, &levels);
            let Some(undecided) = coarser.find(|&node| decided[node as usize].is_none()) else { break };
            chain.push(undecided);
        }
        Halved { low: 0, high: chain.len(), chain }
    }

    /// Judges the middle of each chain, all at once, but for those that another has decided
    /// meanwhile.
    fn halve(&mut self, chains: &mut [Halved], decided: &mut [Option<bool>]) {
        let mut middles: Vec<u64> = chains.iter().filter(|chain| chain.is_open()).map(Halved::middle).collect();
        middles.retain(|&node| decided[node as usize].is_none());
        middles.sort_unstable();
        middles.dedup();
        let levels = middles.iter().map(|&node| {
            let mut levels = Levels::new();
            self.lattice.levels(node, &mut levels);
            levels
        });
        let judged = self.judge_all(&levels.collect::<Vec<_>>());
        for (&node, judged) in middles.iter().zip(&judged) {
            self.decide(decided, node, judged.holding.is_some());
        }
        for chain in chains.iter_mut().filter(|chain| chain.is_open()) {
            let middle = (chain.low + chain.high) / 2;
            let holds = decided[chain.middle() as usize] == Some(true);
            if holds { chain.high = middle } else { chain.low = middle + 1 }
        }
    }

    /// All nodes, those that tell few attributes first: they have few classes, and fail whatever
    /// tells more (the subset property, LeFevre et al. 2005). Of very many nodes the order would
    /// cost more than it saves.
    fn few_attributes_first(&self, nodes: u64) -> Vec<u64> {
        const ORDERED_MAX: u64 = 1 << 20;
        let mut order: Vec<u64> = (0..nodes).collect();
        if nodes <= ORDERED_MAX {
            let mut levels = Levels::new();
            order.sort_by_cached_key(|&node| {
                self.lattice.levels(node, &mut levels);
                levels.iter().zip(self.lattice.tops()).filter(|(level, top)| level < top).count()
            });
        }
        order
    }

    /// Proves by deciding every node: for losses that grow with every step, where holding is
    /// monotone. What was not judged itself lies above a node that holds, and loses more, or below
    /// one that fails.
    pub(super) fn prove_by_chains(&mut self, nodes: u64) -> Option<u64> {
        let candidates = self.decide_by_chains(nodes);
        let rest = nodes - self.judged.len() as u64;
        match candidates {
            Some(holding) => {
                self.explain.pruned_by_loss = holding - self.explain.judged_holding;
                self.explain.pruned_by_guarantee = rest - self.explain.pruned_by_loss;
            }
            None => self.explain.not_reached = rest,
        }
        candidates
    }

    /// Marks a node and, upwards when it holds, downwards when it fails, all that follow from it.
    fn decide(&self, decided: &mut [Option<bool>], node: u64, holds: bool) {
        let mut todo = vec![node];
        let mut levels = Levels::new();
        while let Some(node) = todo.pop() {
            if decided[node as usize].replace(holds).is_some() {
                continue;
            }
            self.lattice.levels(node, &mut levels);
            let undecided = |next: &u64| decided[*next as usize].is_none();
            if holds {
                todo.extend(self.lattice.coarser(node, &levels).filter(undecided));
            } else {
                todo.extend(self.lattice.finer(node, &levels).filter(undecided));
            }
        }
    }
}
