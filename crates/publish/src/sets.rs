//! Frequency sets that were already rolled up, so that a node is counted from the smallest finer one at hand.

use std::cmp::Reverse;
use std::sync::{Arc, Mutex, PoisonError};

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

/// All threads of a search share the sets at hand. What is held changes how fast a node is counted, never the count.
#[derive(Debug)]
pub(crate) struct Sets<'a, const W: usize> {
    layout: &'a Layout,
    /// Per quasi attribute, from level, to level: the label map.
    maps: Vec<Vec<Vec<Vec<u32>>>>,
    /// Attributes by how many values they have, most first.
    order: Vec<usize>,
    base: Counted<W>,
    held: Mutex<Held<W>>,
    entries_max: usize,
}

#[derive(Debug)]
struct Held<const W: usize> {
    sets: Vec<(u64, Counted<W>)>,
    entries: usize,
    clock: u64,
}

/// A set this small is counted from directly: a further stepping stone would cost as much as it saves.
const SMALL: usize = 1 << 8;

impl<'a, const W: usize> Sets<'a, W> {
    /// `base` counts the table itself; the quasi attributes are the first of the layout.
    pub(crate) fn new(layout: &'a Layout, hierarchies: &[&Hierarchy], base: FrequencySet<W>) -> Self {
        let maps = hierarchies
            .iter()
            .map(|hierarchy| {
                let levels = hierarchy.levels().len();
                let between = |from, to| if to < from { Vec::new() } else { hierarchy.between(from, to) };
                (0..levels).map(|from| (0..levels).map(|to| between(from, to)).collect()).collect()
            })
            .collect();
        let mut order: Vec<usize> = (0..hierarchies.len()).collect();
        order.sort_by_key(|&attribute| Reverse(hierarchies[attribute].levels()[0].labels.len()));
        let entries_max = (base.len() * 4).max(1 << 17);
        let base = Counted { levels: vec![0; hierarchies.len()], set: Arc::new(base) };
        let held = Mutex::new(Held { sets: Vec::new(), entries: 0, clock: 0 });
        Sets { layout, maps, order, base, held, entries_max }
    }

    /// Counts a node from the smallest finer set at hand. On the way there, one attribute after the other is raised in a
    /// fixed order and the sets in between are kept: nodes that agree on the first attributes share them.
    pub(crate) fn count(&self, levels: &[u8]) -> Counted<W> {
        let mut source = self.smallest_finer(levels);
        let mut stone = source.levels.clone();
        for &attribute in &self.order {
            if source.set.len() <= SMALL || stone[attribute] == levels[attribute] {
                continue;
            }
            stone[attribute] = levels[attribute];
            if stone == levels {
                break;
            }
            source = self.roll_up(&source, &stone);
            self.keep(source.clone());
        }
        let counted = self.roll_up(&source, levels);
        self.keep(counted.clone());
        counted
    }

    fn smallest_finer(&self, levels: &[u8]) -> Counted<W> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.clock += 1;
        let clock = held.clock;
        let finer = held.sets.iter_mut().filter(|(_, counted)| is_finer_or_equal(&counted.levels, levels));
        match finer.min_by_key(|(_, counted)| counted.set.len()) {
            Some((used, counted)) if counted.set.len() < self.base.set.len() => {
                *used = clock;
                counted.clone()
            }
            _ => self.base.clone(),
        }
    }

    fn roll_up(&self, source: &Counted<W>, levels: &[u8]) -> Counted<W> {
        if source.levels == levels {
            return source.clone();
        }
        let steps = source.levels.iter().zip(levels).enumerate().filter(|(_, (from, to))| from != to);
        let map = |attribute: usize, from: u8, to: u8| self.maps[attribute][from as usize][to as usize].as_slice();
        let changes = steps.map(|(attribute, (&from, &to))| (attribute, map(attribute, from, to)));
        let recoding = Recoding::new(self.layout, changes);
        Counted { levels: levels.to_vec(), set: Arc::new(source.set.roll_up(&recoding)) }
    }

    /// Keeps a set for later nodes, letting go of those not used for longest.
    fn keep(&self, counted: Counted<W>) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if counted.set.len() * 4 > self.entries_max || held.sets.iter().any(|(_, other)| other.levels == counted.levels)
        {
            return;
        }
        held.clock += 1;
        let clock = held.clock;
        held.entries += counted.set.len();
        held.sets.push((clock, counted));
        while held.entries > self.entries_max || held.sets.len() > 1024 {
            let oldest = (0..held.sets.len()).min_by_key(|&index| held.sets[index].0).expect("some are held");
            held.entries -= held.sets.swap_remove(oldest).1.set.len();
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
