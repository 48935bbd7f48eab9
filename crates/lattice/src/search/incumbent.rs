//! A first good node: the better it is, the less remains to be proved.

use super::proof::Worth;
use super::{BATCH, LatticeSearch, NodeVerdict};
use crate::lattice::Levels;
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
            let lower: Vec<Levels> = (0..best.levels.len())
                .filter(|&attribute| best.levels[attribute] > 0)
                .map(|attribute| {
                    let mut levels = best.levels.clone();
                    levels[attribute] -= 1;
                    levels
                })
                .filter(|levels| self.problem.loss.lower_bound(levels) < best.cost)
                .collect();
            self.judge_first(&lower);
            if self.best.as_ref() == Some(&best) {
                return;
            }
        }
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
