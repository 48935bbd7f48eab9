//! A first good node: the better it is, the less remains to be proved.

use super::proof::Worth;
use super::{BATCH, LatticeSearch, NodeVerdict};
use crate::lattice::{Levels, is_finer_or_equal};
use crate::pruning::AtLeast;

impl<const W: usize> LatticeSearch<'_, W> {
    /// A first good node.
    pub(super) fn find_incumbent(&mut self) {
        let path = self.path_upwards();
        // The first node of the path that holds, if holding is monotone along it; else just one
        // that holds.
        let (mut fails_before, mut holds_at) = (0, path.len());
        while fails_before < holds_at && !self.problem.progress.is_canceled() {
            let middle = (fails_before + holds_at) / 2;
            let judged = self.judge_first(&path[middle..=middle]);
            if judged[0].holding.is_some() { holds_at = middle } else { fails_before = middle + 1 }
        }
        while !self.out_of_budget() {
            let Some(best) = self.best.clone() else { return };
            if self.unit_rows.is_some() {
                self.halve_downwards(&best.levels);
                self.judge_while_promising();
            } else {
                let lower = lowered(&best.levels).map(|(_, levels)| levels);
                let lower = lower.filter(|levels| self.problem.loss.lower_bound(levels) < best.cost);
                self.judge_first(&lower.collect::<Vec<_>>());
            }
            if self.best.as_ref() == Some(&best) {
                return;
            }
        }
    }

    /// Halves a path from a node that holds, one attribute lower at a time, as long as a node can
    /// be better: what holds far below spares the nodes between. Where rows belong to units,
    /// judging a node takes far longer than comparing it with what is known.
    fn halve_downwards(&mut self, holds: &[u8]) {
        let mut path: Vec<Levels> = Vec::new();
        let mut last = holds.to_vec();
        while let Some((_, levels)) = lowered(&last)
            .filter(|(_, levels)| self.is_promising(levels))
            .map(|(attribute, levels)| {
                let parted = self.sets.merged(attribute, levels[attribute], last[attribute]);
                let loss = |levels: &[u8]| self.problem.loss.lower_bound(levels);
                let saved = self.problem.loss.loss(loss(&last).saturating_sub(loss(&levels)));
                (saved / (parted + 1e-6), levels)
            })
            .max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(&a.1)))
        {
            path.push(levels.clone());
            last = levels;
        }
        let (mut holds_before, mut fails_at) = (0, path.len());
        while holds_before < fails_at && !self.out_of_budget() {
            let middle = (holds_before + fails_at) / 2;
            let judged = self.judge_first(&path[middle..=middle]);
            if judged[0].holding.is_some() { holds_before = middle + 1 } else { fails_at = middle }
        }
    }

    /// Judges the nodes with one attribute lower than the best that can be better, the least loss
    /// first.
    fn judge_while_promising(&mut self) {
        let Some(best) = self.best.clone() else { return };
        let mut lower: Vec<Levels> = lowered(&best.levels).map(|(_, levels)| levels).collect();
        lower.sort_by_key(|levels| self.problem.loss.lower_bound(levels));
        for levels in lower {
            if !self.out_of_budget() && self.is_promising(&levels) {
                self.judge_first(&[levels]);
            }
        }
    }

    /// Whether a node was not judged, and can be better than the best by what coarser ones teach.
    fn is_promising(&self, levels: &[u8]) -> bool {
        let above = self.learned.iter().filter(|(coarser, _)| is_finer_or_equal(levels, coarser));
        let at_least = above.map(|(_, at_least)| *at_least).max().unwrap_or_default();
        !self.judged.contains(levels) && self.worth_judging(levels, at_least) == Worth::Judging
    }

    fn judge_first(&mut self, nodes: &[Levels]) -> Vec<NodeVerdict> {
        let judged = self.judge_all(nodes);
        self.learned.extend(nodes.iter().cloned().zip(judged.iter().map(|judged| judged.at_least)));
        judged
    }

    /// From the table itself to the top, one step at a time: the step that merges most rows for the
    /// least loss.
    fn path_upwards(&self) -> Vec<Levels> {
        let mut levels = self.lattice.bottom();
        let mut path = vec![levels.clone()];
        while let Some((_, attribute)) = (0..levels.len())
            .filter(|&attribute| levels[attribute] < self.lattice.tops()[attribute])
            .map(|attribute| {
                let mut coarser = levels.clone();
                coarser[attribute] += 1;
                let merged = self.sets.merged(attribute, levels[attribute], coarser[attribute]);
                let (before, after) = (self.problem.loss.lower_bound(&levels), self.problem.loss.lower_bound(&coarser));
                let loss = self.problem.loss.loss(after - before);
                (merged / (loss + 1e-6), attribute)
            })
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))
        {
            levels[attribute] += 1;
            path.push(levels.clone());
        }
        path
    }

    /// Moves to the best neighbor (one attribute lower, and at most one other higher) until there
    /// is none. Proves nothing, but a good incumbent is what shortens a long proof.
    pub(super) fn improve_locally(&mut self) {
        while let (Some(best), false) = (self.best.clone(), self.out_of_budget()) {
            let mut neighbors: Vec<Levels> = Vec::new();
            for lower in (0..best.levels.len()).filter(|&attribute| best.levels[attribute] > 0) {
                for higher in 0..best.levels.len() {
                    let mut levels = best.levels.clone();
                    levels[lower] -= 1;
                    if higher != lower && levels[higher] < self.lattice.tops()[higher] {
                        levels[higher] += 1;
                    }
                    if self.worth_judging(&levels, AtLeast::default()) == Worth::Judging && !neighbors.contains(&levels)
                    {
                        neighbors.push(levels);
                    }
                }
            }
            for batch in neighbors.chunks(BATCH) {
                if self.out_of_budget() {
                    return;
                }
                self.judge_first(batch);
            }
            if self.best.as_ref() == Some(&best) {
                return;
            }
        }
    }
}

/// The levels with one attribute lower, each with the attribute.
fn lowered(levels: &[u8]) -> impl Iterator<Item = (usize, Levels)> + '_ {
    (0..levels.len()).filter(|&attribute| levels[attribute] > 0).map(|attribute| {
        let mut lower = levels.to_vec();
        lower[attribute] -= 1;
        (attribute, lower)
    })
}
