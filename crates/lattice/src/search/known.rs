//! The knowledge about every node of a lattice: how many rows it must leave out at least, and why
//! it needs no judging.

use crate::lattice::{Lattice, Levels};
use crate::pruning::AtLeast;

/// Why a node was passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Excluded {
    ByGuarantee,
    BySuppression,
}

pub(super) struct Known {
    lattice: Lattice,
    failing_from: u64,
    at_least: Vec<AtLeast>,
    /// Nodes that hold because a finer one does; only filled where holding is monotone.
    holds: Vec<bool>,
    excluded: Vec<Option<Excluded>>,
}

impl Known {
    /// A node that leaves out `failing_from` rows or more fails.
    pub(super) fn new(lattice: Lattice, failing_from: u64, nodes: u64) -> Self {
        let at_least = vec![AtLeast::default(); nodes as usize];
        let (holds, excluded) = (vec![false; nodes as usize], vec![None; nodes as usize]);
        Known { lattice, failing_from, at_least, holds, excluded }
    }

    pub(super) fn exclude(&mut self, number: u32, why: Excluded) {
        self.excluded[number as usize] = Some(why);
    }

    /// How many nodes were passed over for this reason and not judged after all, on the way up from
    /// another.
    pub(super) fn count_excluded(&self, why: Excluded) -> u64 {
        self.excluded.iter().filter(|excluded| **excluded == Some(why)).count() as u64
    }

    /// Whether judging the node could only repeat what is known.
    pub(super) fn decided(&self, number: u32) -> bool {
        self.fails(number) || self.holds[number as usize]
    }

    /// A node that holds, in a lattice where holding is monotone. Each node above is marked once.
    pub(super) fn learn_monotone_holding(&mut self, levels: &[u8]) {
        let mut above = vec![self.lattice.number(levels)];
        let mut levels = Levels::new();
        while let Some(number) = above.pop() {
            if std::mem::replace(&mut self.holds[number as usize], true) {
                continue;
            }
            self.lattice.levels(number, &mut levels);
            above.extend(self.lattice.coarser(number, &levels).filter(|&coarser| !self.holds[coarser as usize]));
        }
    }

    pub(super) fn fails(&self, number: u32) -> bool {
        self.at_least[number as usize].rows() >= self.failing_from
    }

    /// The knowledge that a node takes over from its coarser neighbors.
    pub(super) fn inherit(&mut self, number: u32, levels: &[u8]) -> AtLeast {
        let above =
            self.lattice.coarser(u64::from(number), levels).map(|coarser| self.at_least[coarser as usize]).max();
        let known = &mut self.at_least[number as usize];
        *known = (*known).max(above.unwrap_or_default());
        *known
    }

    /// A judged node's bound. When it fails, so does everything below it; each node is marked once.
    pub(super) fn learn(&mut self, levels: &[u8], bound: AtLeast) {
        let number = self.lattice.number(levels);
        self.excluded[number as usize] = None;
        if bound.rows() < self.failing_from {
            let known = &mut self.at_least[number as usize];
            *known = (*known).max(bound);
            return;
        }
        let mut below = vec![number];
        let mut levels = Levels::new();
        while let Some(number) = below.pop() {
            if self.fails(number as u32) {
                continue;
            }
            self.at_least[number as usize] = bound;
            self.lattice.levels(number, &mut levels);
            let finer = self.lattice.finer(number, &levels);
            below.extend(finer.filter(|&finer| self.at_least[finer as usize].rows() < self.failing_from));
        }
    }
}
