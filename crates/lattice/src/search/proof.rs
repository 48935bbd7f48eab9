//! The proof that no node is better than the best: every other one is judged, or excluded by a
//! bound.

use hedgerow_draft::explain::Explain;
use hedgerow_draft::loss::Cost;
use hedgerow_table::parallel;

use rayon::prelude::*;

use super::known::{Excluded, Known};
use super::{BATCH, LatticeSearch};
use crate::lattice::{Levels, is_finer_or_equal};
use crate::pruning::AtLeast;

/// Nodes whose bounds are computed together.
const NODES_AT_ONCE: usize = 1 << 12;

/// How far ahead a batch looks for nodes that do not lie below one another.
const LOOKAHEAD: usize = 64;

/// The digits in which costs and steps are compared; a number has the other half of a word.
const COST_BITS: u32 = 22;
const STEP_BITS: u32 = 32 - COST_BITS;

/// How many steps a climb takes before it judges.
const STRIDE: usize = 2;

/// Where rows belong to units, nothing is climbed in a lattice of up to this many nodes: a node
/// takes as long to judge wherever it is, and the nodes above the last few mostly hold.
const UNITS_CLIMB_FROM: u64 = 1 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Worth {
    Judging,
    Fails,
    LosesMore,
    LosesMoreBySuppression,
}

impl<const W: usize> LatticeSearch<'_, W> {
    /// Whether a node can still be better than the best, given what must be suppressed.
    pub(super) fn worth_judging(&self, levels: &[u8], at_least: AtLeast) -> Worth {
        let rows = at_least.rows();
        if rows >= self.failing_from() {
            return Worth::Fails;
        }
        let Some(best) = &self.best else { return Worth::Judging };
        let steps: u32 = levels.iter().map(|&level| u32::from(level)).sum();
        let at_best = |cost: Cost| (cost, steps, levels) >= (best.cost, best.steps, best.levels.as_slice());
        if at_best(self.problem.loss.lower_bound(levels)) {
            Worth::LosesMore
        } else if at_best(self.problem.loss.lower_bound_with(levels, rows)) {
            Worth::LosesMoreBySuppression
        } else {
            Worth::Judging
        }
    }

    /// Judges or excludes every node; false when the budget ran out first.
    pub(super) fn prove(&mut self, nodes: u64) -> bool {
        let order = self.order_of_proof(nodes);
        // The order may not be whole then.
        if self.is_ended() {
            self.explain.not_reached = nodes.saturating_sub(self.judged.len() as u64);
            return false;
        }
        self.report_decided(nodes - order.len() as u64);
        let mut known = Known::new(self.lattice.clone(), self.failing_from(), nodes);
        for (levels, learned) in std::mem::take(&mut self.learned) {
            known.learn(&levels, learned);
        }
        let not_reached = self.prove_in_order(&order, &mut known);
        self.explain.not_reached = not_reached;
        self.explain.pruned_by_guarantee = known.count_excluded(Excluded::ByGuarantee);
        self.explain.pruned_by_suppression = known.count_excluded(Excluded::BySuppression);
        // Whatever was neither judged nor excluded by a coarser node has a bound that excludes it.
        let Explain { pruned_by_guarantee, pruned_by_suppression, not_reached: unreached, .. } = &self.explain;
        let accounted = pruned_by_guarantee + pruned_by_suppression + unreached;
        self.explain.pruned_by_loss = nodes.saturating_sub(self.judged.len() as u64 + accounted);
        not_reached == 0
    }

    /// How many nodes the budget left undecided.
    fn prove_in_order(&mut self, order: &[u64], known: &mut Known) -> u64 {
        let mut waiting: Vec<(u32, Levels)> = Vec::new();
        let mut next = 0;
        while next < order.len() || !waiting.is_empty() {
            if self.out_of_budget() {
                let left = order[next..].iter().map(|&node| node as u32);
                return self.not_judged(waiting.iter().map(|(number, _)| *number).chain(left));
            }
            let undecided = order.len() - next + waiting.len();
            self.report_decided(self.lattice.nodes().unwrap_or(0) - undecided as u64);
            let mut batch: Vec<(u32, Levels)> = Vec::with_capacity(BATCH);
            let mut postponed: Vec<(u32, Levels)> = Vec::new();
            let mut ahead = std::mem::take(&mut waiting).into_iter();
            while batch.len() < BATCH && postponed.len() < LOOKAHEAD {
                let (number, levels) = match ahead.next() {
                    Some(node) => node,
                    None if next < order.len() => {
                        let mut levels = Levels::new();
                        let number = order[next] as u32;
                        self.lattice.levels(u64::from(number), &mut levels);
                        next += 1;
                        (number, levels)
                    }
                    None => break,
                };
                let at_least = known.inherit(number, &levels);
                // A node below one that is about to be judged waits for what that one teaches; so
                // do those below it.
                if batch.iter().chain(&postponed).any(|(_, coarse)| is_finer_or_equal(&levels, coarse)) {
                    postponed.push((number, levels));
                    continue;
                }
                match self.worth_judging(&levels, at_least) {
                    _ if self.judged.contains(&levels) => {}
                    Worth::Judging => batch.push((number, levels)),
                    Worth::Fails => known.exclude(number, Excluded::ByGuarantee),
                    Worth::LosesMore => {}
                    Worth::LosesMoreBySuppression => known.exclude(number, Excluded::BySuppression),
                }
            }
            waiting = postponed;
            waiting.extend(ahead);
            if self.unit_rows.is_none() || self.lattice.nodes().is_none_or(|nodes| nodes > UNITS_CLIMB_FROM) {
                self.climb(known, &batch);
            }
            batch.retain(|(number, levels)| {
                let (fails, judged) = (known.fails(*number), self.judged.contains(levels));
                if fails && !judged {
                    known.exclude(*number, Excluded::ByGuarantee);
                }
                !fails && !judged
            });
            let nodes: Vec<Levels> = batch.into_iter().map(|(_, levels)| levels).collect();
            for (levels, judged) in nodes.iter().zip(self.judge_all(&nodes)) {
                known.learn(levels, judged.at_least);
            }
        }
        0
    }

    fn not_judged(&self, numbers: impl Iterator<Item = u32>) -> u64 {
        let mut levels = Levels::new();
        let judged = |number: u32| {
            self.lattice.levels(u64::from(number), &mut levels);
            self.judged.contains(&levels)
        };
        numbers.map(judged).filter(|judged| !judged).count() as u64
    }

    /// Most nodes worth judging fail, and so do nodes far above them, which are cheaper to count
    /// and exclude more. From every node of the batch this climbs by the steps that merge least,
    /// two at a time, as long as what it reaches fails.
    fn climb(&mut self, known: &mut Known, batch: &[(u32, Levels)]) {
        let mut climbers: Vec<Levels> = batch.iter().map(|(_, levels)| levels.clone()).collect();
        while !climbers.is_empty() && !self.out_of_budget() {
            let mut reached: Vec<Levels> = Vec::with_capacity(climbers.len());
            for levels in &mut climbers {
                for _ in 0..STRIDE {
                    self.raise_least(levels);
                }
                if !known.decided(self.lattice.number(levels) as u32) && !reached.contains(levels) {
                    reached.push(levels.clone());
                }
            }
            let judged = self.judge_all(&reached);
            climbers.clear();
            for (levels, judged) in reached.into_iter().zip(judged) {
                known.learn(&levels, judged.at_least);
                if judged.holding.is_some() && self.holding_is_monotone() {
                    known.learn_monotone_holding(&levels);
                }
                if judged.holding.is_none() && known.fails(self.lattice.number(&levels) as u32) {
                    climbers.push(levels);
                }
            }
        }
    }

    /// Raises the attribute whose next level merges the fewest rows.
    fn raise_least(&self, levels: &mut Levels) {
        let merged = |attribute: usize| self.sets.merged(attribute, levels[attribute], levels[attribute] + 1);
        let raisable = (0..levels.len()).filter(|&attribute| levels[attribute] < self.lattice.tops()[attribute]);
        if let Some(attribute) = raisable.min_by(|&a, &b| merged(a).total_cmp(&merged(b))) {
            levels[attribute] += 1;
        }
    }

    /// The nodes that may be better than the incumbent, every node after all coarser ones.
    /// One word for each, since a lattice has many: its cost and its steps in a few digits, both
    /// turned around, and its number below.
    fn order_of_proof(&self, nodes: u64) -> Vec<u64> {
        let dearest = self.problem.loss.lower_bound(self.lattice.tops());
        let bound = self.best.as_ref().map_or(dearest, |best| best.cost.min(dearest));
        let shift = (Cost::BITS - bound.leading_zeros()).saturating_sub(COST_BITS);
        let keyed = |number: u64, levels: &mut Levels| {
            self.lattice.levels(number, levels);
            let cost = self.problem.loss.lower_bound(levels);
            let steps: u32 = levels.iter().map(|&level| u32::from(level)).sum();
            // Coarser nodes cost at least as much, also rounded, and take more steps.
            let turned = |value: u64, bits: u32| ((1 << bits) - 1) - value.min((1 << bits) - 1);
            let (cost_key, steps) = (turned((cost >> shift) as u64, COST_BITS), turned(u64::from(steps), STEP_BITS));
            (cost <= bound).then_some((((cost_key << STEP_BITS) | steps) << 32) | number)
        };
        let pieces = parallel::map_ranges(nodes as usize, NODES_AT_ONCE, |range| {
            if self.is_ended() {
                return Vec::new();
            }
            let mut levels = Levels::new();
            range.filter_map(|number| keyed(number as u64, &mut levels)).collect::<Vec<_>>()
        });
        // Each piece is given up as it is taken over.
        let mut order: Vec<u64> = Vec::with_capacity(pieces.iter().map(Vec::len).sum());
        pieces.into_iter().for_each(|piece| order.extend(piece));
        sort_in_pieces(&mut order, &|| self.is_ended());
        order
    }
}

/// Sorts, checking now and then whether to give up: the order is then undefined.
fn sort_in_pieces<T: Ord + Send>(items: &mut [T], gives_up: &dyn Fn() -> bool) {
    const PIECE: usize = 1 << 21;
    if items.len() <= PIECE {
        items.par_sort_unstable();
    } else if !gives_up() {
        let middle = items.len() / 2;
        items.select_nth_unstable(middle);
        let (left, right) = items.split_at_mut(middle);
        sort_in_pieces(left, gives_up);
        sort_in_pieces(right, gives_up);
    }
}
