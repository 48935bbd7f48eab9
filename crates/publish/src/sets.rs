//! Frequency sets that were already rolled up, so that a node is counted from the smallest finer one at hand.

use std::sync::Arc;

use foldhash::fast::FixedState;
use hashbrown::HashSet;
use hedgerow_table::frequency::{FrequencySet, Layout, Recoding, pack};
use hedgerow_table::{Codes, Hierarchy};
use rayon::prelude::*;

use crate::lattice::{Levels, is_finer_or_equal};

/// A frequency set and the levels it is on.
#[derive(Debug, Clone)]
pub(crate) struct Counted<const W: usize> {
    pub(crate) levels: Levels,
    pub(crate) set: Arc<FrequencySet<W>>,
}

#[derive(Debug)]
pub(crate) struct Sets<'a, const W: usize> {
    layout: &'a Layout,
    /// Per quasi attribute, from level, to level: the label map.
    maps: Vec<Vec<Vec<Vec<u32>>>>,
    base: Counted<W>,
    held: Vec<(u64, Counted<W>)>,
    entries_held: usize,
    entries_max: usize,
    clock: u64,
}

impl<'a, const W: usize> Sets<'a, W> {
    /// `base` counts the table itself; the quasi attributes are the first of the layout.
    pub(crate) fn new(layout: &'a Layout, hierarchies: &[&Hierarchy], base: FrequencySet<W>) -> Self {
        let maps = hierarchies
            .iter()
            .map(|hierarchy| {
                let levels = hierarchy.levels().len();
                let onwards = |from| {
                    (0..levels).map(|to| if to < from { Vec::new() } else { hierarchy.between(from, to) }).collect()
                };
                (0..levels).map(onwards).collect()
            })
            .collect();
        let entries_max = (base.len() * 6).max(1 << 16);
        let base = Counted { levels: vec![0; hierarchies.len()], set: Arc::new(base) };
        Sets { layout, maps, base, held: Vec::new(), entries_held: 0, entries_max, clock: 0 }
    }

    /// The smallest set at hand that is finer than or equal to `levels`.
    pub(crate) fn source(&mut self, levels: &[u8]) -> Counted<W> {
        self.clock += 1;
        let finer = self.held.iter_mut().filter(|(_, held)| is_finer_or_equal(&held.levels, levels));
        match finer.min_by_key(|(_, held)| held.set.len()) {
            Some((used, held)) if held.set.len() < self.base.set.len() => {
                *used = self.clock;
                held.clone()
            }
            _ => self.base.clone(),
        }
    }

    /// Counts a node from a finer set.
    pub(crate) fn count(&self, source: &Counted<W>, levels: &[u8]) -> Counted<W> {
        if source.levels == levels {
            return source.clone();
        }
        let steps = source.levels.iter().zip(levels).enumerate().filter(|(_, (from, to))| from != to);
        let changes = steps
            .map(|(attribute, (&from, &to))| (attribute, self.maps[attribute][from as usize][to as usize].as_slice()));
        let recoding = Recoding::new(self.layout, changes);
        Counted { levels: levels.to_vec(), set: Arc::new(source.set.roll_up(&recoding)) }
    }

    /// Keeps a set for later nodes, letting go of those not used for longest.
    pub(crate) fn keep(&mut self, counted: Counted<W>) {
        if self.held.iter().any(|(_, held)| held.levels == counted.levels) {
            return;
        }
        self.entries_held += counted.set.len();
        self.held.push((self.clock, counted));
        while self.entries_held > self.entries_max && self.held.len() > 1 {
            let oldest = (0..self.held.len()).min_by_key(|&index| self.held[index].0).expect("more than one is held");
            self.entries_held -= self.held.swap_remove(oldest).1.set.len();
        }
    }

    /// Which rows of the table belong to the kept entries of a counted node.
    pub(crate) fn rows_kept(&self, counted: &Counted<W>, kept: &[bool], columns: &[&Codes], rows: usize) -> Vec<bool> {
        let changes = counted.levels.iter().enumerate().filter(|(_, level)| **level > 0);
        let changes =
            changes.map(|(attribute, &level)| (attribute, self.maps[attribute][0][level as usize].as_slice()));
        let recoding = Recoding::<W>::new(self.layout, changes);
        let left_out: HashSet<[u64; W], FixedState> =
            counted.set.keys().iter().zip(kept).filter(|(_, kept)| !**kept).map(|(key, _)| *key).collect();
        const CHUNK: usize = 1 << 14;
        (0..rows.div_ceil(CHUNK))
            .into_par_iter()
            .flat_map_iter(|chunk| {
                let range = chunk * CHUNK..rows.min((chunk + 1) * CHUNK);
                let mut keys = vec![[0u64; W]; range.len()];
                pack(self.layout, columns, range, &mut keys);
                let recoding = &recoding;
                let left_out = &left_out;
                keys.into_iter().map(move |key| !left_out.contains(&recoding.apply(&key)))
            })
            .collect()
    }
}
