//! Frequency sets that were already rolled up, so that a node is counted from the smallest finer
//! one at hand.

use std::sync::Arc;

use foldhash::fast::FixedState;
use hashbrown::HashSet;
use hedgerow_table::frequency::{FrequencySet, Layout, LevelChange, pack};
use hedgerow_table::{Codes, Hierarchy, Level, parallel};

use crate::lattice::{Levels, is_finer_or_equal};

/// A frequency set and the levels it is on.
#[derive(Debug, Clone)]
pub(crate) struct CountedSet<const W: usize> {
    pub(crate) levels: Levels,
    pub(crate) set: Arc<FrequencySet<W>>,
}

/// The held sets change how fast a node is counted, never the count.
#[derive(Debug)]
pub(crate) struct Sets<'a, const W: usize> {
    maps: Maps<'a>,
    /// Per quasi attribute and level, the entropy of its labels among the distinct rows, in nats.
    entropies: Vec<Vec<f64>>,
    /// Per quasi attribute and level, how many labels there are.
    label_counts: Vec<Vec<usize>>,
    /// In how many ways the other attributes can combine.
    others: usize,
    base: CountedSet<W>,
    /// With when each was last used.
    held: Vec<(u64, CountedSet<W>)>,
    entries_held: usize,
    entries_max: usize,
    clock: u64,
}

#[derive(Debug)]
struct Maps<'a> {
    layout: &'a Layout,
    /// Per quasi attribute, from level, to level: the label map.
    labels: Vec<Vec<Vec<Vec<u32>>>>,
}

/// A set this small is counted from directly: a further stepping stone would cost as much as it
/// saves.
const SMALL: usize = 1 << 8;

/// A stone that does not at least halve the rows, or nearly, is not worth counting.
const STEP_SHARE_MAX: f64 = 0.6;

/// A node whose entries are fewer by this factor is counted in one pass: keys that fit the cache
/// are tallied at once, and large sets in between would cost more than they save. The pass makes
/// the finest set that is still this small, for other nodes to be counted from.
const SMALLER_FACTOR: usize = 8;

/// Looking for the smallest set at hand must stay cheap beside counting.
const HELD_MAX: usize = 1 << 10;

impl<'a, const W: usize> Sets<'a, W> {
    /// `base` counts the table itself; the quasi attributes are the first of the layout.
    pub(crate) fn new(layout: &'a Layout, hierarchies: &[&Hierarchy], base: FrequencySet<W>) -> Self {
        let labels = hierarchies
            .iter()
            .map(|hierarchy| {
                let levels = hierarchy.levels().len();
                let between = |from, to| if to < from { Vec::new() } else { hierarchy.between(from, to) };
                (0..levels).map(|from| (0..levels).map(|to| between(from, to)).collect()).collect()
            })
            .collect();
        let entropies = hierarchies.iter().enumerate().map(|(attribute, hierarchy)| {
            let mut counts = vec![0u64; hierarchy.levels()[0].map.len()];
            let field = layout.field(attribute);
            base.keys().iter().for_each(|key| counts[field.get(key) as usize] += 1);
            hierarchy.levels().iter().map(|level| entropy(&counts, level)).collect()
        });
        let entropies = entropies.collect();
        let label_counts = hierarchies.iter().map(|h| h.levels().iter().map(|level| level.labels.len()).collect());
        let label_counts = label_counts.collect();
        let others = (hierarchies.len()..layout.attributes()).map(|attribute| layout.field(attribute).values());
        let others = others.fold(1, usize::saturating_mul);
        let entries_max = (base.len() * 4).max(1 << 17);
        let base = CountedSet { levels: vec![0; hierarchies.len()], set: Arc::new(base) };
        Sets {
            maps: Maps { layout, labels },
            entropies,
            label_counts,
            others,
            base,
            held: Vec::new(),
            entries_held: 0,
            entries_max,
            clock: 0,
        }
    }

    /// With no more entries held than a quarter of the table's own, where memory is short.
    pub(crate) fn holding_less(self) -> Self {
        let entries_max = (self.base.set.len() / 4).max(1 << 17);
        Sets { entries_max, ..self }
    }

    /// How much of an attribute's information is given up between two levels: e to this power is
    /// about the factor by which distinct rows become fewer.
    pub(crate) fn merged(&self, attribute: usize, from: u8, to: u8) -> f64 {
        self.entropies[attribute][from as usize] - self.entropies[attribute][to as usize]
    }

    /// Counts nodes, each from the smallest finer set at hand. On the way there, the attributes
    /// that merge most are raised one by one and the sets in between are kept: nodes that agree on
    /// these attributes share them.
    pub(crate) fn count_all(&mut self, nodes: &[Levels]) -> Vec<CountedSet<W>> {
        let mut sources: Vec<CountedSet<W>> = nodes.iter().map(|levels| self.smallest_finer(levels)).collect();
        loop {
            let stones: Vec<Option<Levels>> =
                nodes.iter().zip(&sources).map(|(levels, source)| self.next_stone(source, levels)).collect();
            // Several nodes may want the same stone: it is counted once, from the smallest of their
            // sources.
            let mut wanted: Vec<(&Levels, &CountedSet<W>)> = Vec::new();
            for (stone, source) in
                stones.iter().zip(&sources).filter_map(|(stone, source)| Some((stone.as_ref()?, source)))
            {
                match wanted.iter_mut().find(|(other, _)| *other == stone) {
                    Some((_, other)) if other.set.len() <= source.set.len() => {}
                    Some((_, other)) => *other = source,
                    None => wanted.push((stone, source)),
                }
            }
            if wanted.is_empty() {
                break;
            }
            let maps = &self.maps;
            let counted: Vec<CountedSet<W>> =
                parallel::map(wanted.len(), |index| maps.roll_up(wanted[index].1, wanted[index].0));
            for (stone, source) in stones.iter().zip(&mut sources) {
                if let Some(found) = counted.iter().find(|counted| Some(&counted.levels) == stone.as_ref()) {
                    *source = found.clone();
                }
            }
            counted.into_iter().for_each(|counted| self.keep(counted));
        }
        let maps = &self.maps;
        let counted: Vec<CountedSet<W>> =
            parallel::map(nodes.len(), |index| maps.roll_up(&sources[index], &nodes[index]));
        counted.iter().for_each(|counted| self.keep(counted.clone()));
        counted
    }

    /// The source's levels with the next attribute raised; none when the node itself comes next, or
    /// the source is small.
    fn next_stone(&self, source: &CountedSet<W>, levels: &[u8]) -> Option<Levels> {
        if source.set.len() <= SMALL {
            return None;
        }
        let room = source.set.len() / SMALLER_FACTOR;
        if self.entries_bound(levels) <= room {
            return Some(self.finest_within(&source.levels, levels, room)).filter(|stone| stone != levels);
        }
        let raised = (0..levels.len()).filter(|&attribute| source.levels[attribute] != levels[attribute]);
        let merged = |attribute: usize| self.merged(attribute, source.levels[attribute], levels[attribute]);
        let attribute = raised.max_by(|&a, &b| merged(a).total_cmp(&merged(b)))?;
        let mut stone = source.levels.clone();
        stone[attribute] = levels[attribute];
        (stone != levels && merged(attribute) >= STEP_SHARE_MAX).then_some(stone)
    }

    /// No set on these levels has more entries.
    fn entries_bound(&self, levels: &[u8]) -> usize {
        let labels = self.label_counts.iter().zip(levels).map(|(counts, &level)| counts[level as usize]);
        labels.fold(self.others, usize::saturating_mul)
    }

    /// The levels between two nodes that a set with few entries can be on, as fine as they can be:
    /// many nodes are coarser.
    fn finest_within(&self, fine: &[u8], coarse: &[u8], entries: usize) -> Levels {
        let mut levels = coarse.to_vec();
        loop {
            let lower = (0..levels.len()).filter(|&attribute| levels[attribute] > fine[attribute]).map(|attribute| {
                let mut lower = levels.clone();
                lower[attribute] -= 1;
                (self.entries_bound(&lower), lower)
            });
            match lower.min() {
                Some((bound, lower)) if bound <= entries => levels = lower,
                _ => return levels,
            }
        }
    }

    fn smallest_finer(&mut self, levels: &[u8]) -> CountedSet<W> {
        self.clock += 1;
        let finer = self.held.iter_mut().filter(|(_, counted)| is_finer_or_equal(&counted.levels, levels));
        match finer.min_by_key(|(_, counted)| counted.set.len()) {
            Some((used, counted)) if counted.set.len() < self.base.set.len() => {
                *used = self.clock;
                counted.clone()
            }
            _ => self.base.clone(),
        }
    }

    /// Keeps a set for later nodes, letting go of those not used for longest.
    fn keep(&mut self, counted: CountedSet<W>) {
        if counted.set.len() > self.entries_max || self.held.iter().any(|(_, other)| other.levels == counted.levels) {
            return;
        }
        self.clock += 1;
        self.entries_held += counted.set.len();
        self.held.push((self.clock, counted));
        while self.entries_held > self.entries_max || self.held.len() > HELD_MAX {
            let oldest = (0..self.held.len()).min_by_key(|&index| self.held[index].0).expect("some are held");
            self.entries_held -= self.held.swap_remove(oldest).1.set.len();
        }
    }

    /// For every entry of the table's own set, the entry of a counted node that it belongs to.
    pub(crate) fn places(&self, counted: &CountedSet<W>) -> Vec<u32> {
        let recoding = self.maps.recoding::<W>(&self.base.levels, &counted.levels);
        counted.set.places_of(&self.base.set, &recoding)
    }

    /// Which rows of the table belong to the kept entries of a counted node.
    pub(crate) fn rows_kept(
        &self,
        counted: &CountedSet<W>,
        kept: &[bool],
        columns: &[&Codes],
        rows: usize,
    ) -> Vec<bool> {
        let recoding = self.maps.recoding::<W>(&self.base.levels, &counted.levels);
        let suppressed: HashSet<[u64; W], FixedState> =
            counted.set.keys().iter().zip(kept).filter(|(_, kept)| !**kept).map(|(key, _)| *key).collect();
        let layout = self.maps.layout;
        const CHUNK: usize = 1 << 14;
        let pieces = parallel::map_ranges(rows, CHUNK, |range| {
            let mut keys = vec![[0u64; W]; range.len()];
            pack(layout, columns, range, &mut keys);
            keys.into_iter().map(|key| !suppressed.contains(&recoding.apply(&key))).collect::<Vec<bool>>()
        });
        pieces.concat()
    }
}

impl Maps<'_> {
    fn roll_up<const W: usize>(&self, source: &CountedSet<W>, levels: &[u8]) -> CountedSet<W> {
        if source.levels == levels {
            return source.clone();
        }
        let set = source.set.roll_up(&self.recoding(&source.levels, levels));
        CountedSet { levels: levels.to_vec(), set: Arc::new(set) }
    }

    fn recoding<const W: usize>(&self, from: &[u8], to: &[u8]) -> LevelChange<W> {
        let steps = from.iter().zip(to).enumerate().filter(|(_, (from, to))| from != to);
        let map = |attribute: usize, from: u8, to: u8| self.labels[attribute][from as usize][to as usize].as_slice();
        LevelChange::new(self.layout, steps.map(|(attribute, (&from, &to))| (attribute, map(attribute, from, to))))
    }
}

/// Of the labels of a level, where values occur this often.
fn entropy(counts: &[u64], level: &Level) -> f64 {
    let mut labels = vec![0u64; level.labels.len()];
    for (&label, &count) in level.map.iter().zip(counts) {
        labels[label as usize] += count;
    }
    let total = counts.iter().sum::<u64>() as f64;
    let shares = labels.into_iter().filter(|&count| count > 0).map(|count| count as f64 / total);
    shares.map(|share| -share * share.ln()).sum()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use hedgerow_table::{HierarchySpec, Table};
    use rand::rngs::StdRng;
    use rand::seq::SliceRandom;
    use rand::{RngExt, SeedableRng};

    use super::*;

    /// By whatever stones a node is reached, it is counted as the table itself is.
    #[test]
    fn every_node_is_counted_as_from_the_table_itself() {
        let mut rng = StdRng::seed_from_u64(5);
        let rows: Vec<[String; 3]> =
            (0..6000).map(|_| [60, 40, 9].map(|values: u32| rng.random_range(0..values).to_string())).collect();
        let cells: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
        let table = Table::from_texts(&["a", "b", "s"], &cells);
        let build = |column: usize| {
            let (spec, domain) = (HierarchySpec::Widths(vec![5.0, 20.0]), &table.columns[column].domain);
            Hierarchy::build(&spec, "a", "here", domain, &[]).unwrap()
        };
        let hierarchies = [build(0), build(1)];
        let hierarchies: Vec<&Hierarchy> = hierarchies.iter().collect();
        let cardinalities: Vec<usize> = table.columns.iter().map(|column| column.domain.cardinality()).collect();
        let layout = Layout::new(&cardinalities).unwrap();
        let codes: Vec<&Codes> = table.columns.iter().map(|column| &column.codes).collect();
        let base = FrequencySet::<1>::of_rows(&layout, &codes, table.rows);
        let mut sets = Sets::new(&layout, &hierarchies, base.clone());
        let mut nodes: Vec<Levels> = (0..16).map(|node| vec![node / 4, node % 4]).collect();
        nodes.shuffle(&mut rng);
        let counts = |set: &FrequencySet<1>| -> BTreeMap<[u64; 1], u32> {
            set.keys().iter().copied().zip(set.counts().iter().copied()).collect()
        };
        for levels in &nodes {
            let expected = base.roll_up(&sets.maps.recoding(&[0, 0], levels));
            let found = sets.count_all(std::slice::from_ref(levels)).remove(0);
            assert_eq!(counts(&found.set), counts(&expected), "{levels:?}");
            assert!(found.set.len() <= sets.entries_bound(levels), "{levels:?}");
        }
        // The finest levels that are small enough: nine values of s, in four bits, and three by two
        // ranges of the others.
        assert_eq!(sets.finest_within(&[0, 0], &[3, 3], 16 * 6), [2, 2]);
        assert_eq!(sets.finest_within(&[0, 3], &[3, 3], 16 * 6), [2, 3]);
        assert_eq!(sets.finest_within(&[0, 0], &[3, 3], 1), [3, 3]);
    }
}
