//! Packing: classes whose tuples agree in labels, found by counting.
//!
//! A class needs γ tuples of every sensitive value, so a label, say `Female`, can fill at most min(tuples with the label and the
//! value / γ) classes that are female throughout. In a box of tuples, every level of every attribute is counted
//! this way; the one that saves the most generalisation steps (classes it can fill × levels saved) is taken first, and each of its labels is a
//! box in which the other attributes, and finer levels of this one, are tried alike. What they cannot fill goes back to the
//! box, where the level is then used up, but others may still fill classes. What is left at the end agrees in nothing, and is
//! assigned by closeness alone.
//!
//! Taking tuples away only lowers what a label can fill, so counts are upper bounds ever after: a level that fills nothing is
//! never counted again, and others only when they are the best by what was counted last. Every count is a pass over the
//! tuples of a box, and boxes of one level are disjoint: O(tuples × levels of all attributes × depth).

use std::ops::Range;

use hedgerow_table::parallel;

use super::dues::Dues;
use crate::bind::Bound;

/// Classes filled from one box, with their tuples by value.
#[derive(Debug)]
pub(super) struct Packed {
    pub(super) classes: Range<usize>,
    pub(super) parts: Vec<Vec<u32>>,
}

/// A box with fewer tuples is counted by one thread.
const TUPLES_APART: usize = 1 << 14;

/// The label of values that can fill no class.
const NONE: u32 = u32::MAX;

/// Marks a label that is counted by value.
const COUNTED: u32 = 1 << 31;

/// Fills classes from boxes, as many as can be; the last is what is left, with the classes that are left.
pub(super) fn pack(bound: &Bound<'_>, dues: &Dues<'_>, rows: Vec<Vec<u32>>) -> Vec<Packed> {
    let mut packing = Packing::new(bound, dues, rows);
    let everything: Vec<u32> = (0..packing.rows.len() as u32).collect();
    let levels: Vec<usize> = (0..packing.levels.len()).collect();
    let tops: Vec<usize> = bound.quasi.iter().map(|quasi| quasi.hierarchy.levels().len() - 1).collect();
    packing.drop_hopeless(&everything, &tops);
    packing.refine(everything, &levels, &tops);
    packing.rest()
}

/// One level of one attribute.
struct Level {
    attribute: usize,
    level: usize,
    /// From codes to labels; [`NONE`] for labels that can fill no class of all tuples.
    labels: Vec<u32>,
    /// How many tuples of a box have each label; zero between counts.
    seen: Vec<u32>,
}

/// What a level can fill in a box.
struct Filling {
    level: usize,
    /// Classes × levels saved: an upper bound once tuples were taken.
    saved: u64,
    /// Labels that can fill a class.
    labels: Vec<u32>,
    /// How many classes were filled when this was counted.
    as_of: usize,
}

struct Packing<'a> {
    dues: &'a Dues<'a>,
    levels: Vec<Level>,
    /// Tuples are numbered value by value: their rows, values, and codes by attribute.
    rows: Vec<u32>,
    values: Vec<u32>,
    codes: Vec<Vec<u32>>,
    /// In how many labels that could fill a class a tuple is.
    useful: Vec<u16>,
    taken: Vec<bool>,
    /// The first class that is not filled yet.
    next: usize,
    packed: Vec<Packed>,
    /// The most classes of the division in one class, and the fewest tuples in one.
    units: u64,
    fewest: u32,
}

impl<'a> Packing<'a> {
    fn new(bound: &'a Bound<'_>, dues: &'a Dues<'a>, rows: Vec<Vec<u32>>) -> Packing<'a> {
        let levels = (0..).zip(&bound.quasi).flat_map(|(attribute, quasi)| {
            let levels = quasi.hierarchy.levels();
            (0..).zip(&levels[..levels.len() - 1]).map(move |(level, labels)| Level {
                attribute,
                level,
                labels: labels.map.clone(),
                seen: vec![0; labels.labels.len()],
            })
        });
        let values = (0..).zip(&rows).flat_map(|(value, rows)| std::iter::repeat_n(value, rows.len())).collect();
        let rows: Vec<u32> = rows.concat();
        let codes = parallel::map(bound.quasi.len(), |attribute| {
            let codes = &bound.quasi[attribute].column.codes;
            rows.iter().map(|&row| codes.get(row as usize)).collect()
        });
        let each = (0..dues.classes()).map(|class| class..class + 1);
        let real = |class: Range<usize>| dues.division.shares.iter().map(|share| dues.real(share, &class)).sum::<u64>();
        Packing {
            levels: levels.collect(),
            taken: vec![false; rows.len()],
            useful: vec![0; rows.len()],
            rows,
            values,
            codes,
            next: 0,
            packed: Vec::new(),
            units: each.clone().map(|class| dues.units(&class)).max().unwrap_or(1),
            fewest: each.map(real).min().unwrap_or(1).clamp(1, u64::from(COUNTED - 1)) as u32,
            dues,
        }
    }

    /// Marks labels that cannot fill a class of all tuples, and counts for every tuple those that can.
    fn drop_hopeless(&mut self, everything: &[u32], tops: &[usize]) {
        let all: Vec<usize> = (0..self.levels.len()).collect();
        for filling in self.count(everything, &all, tops) {
            let level = &mut self.levels[filling.level];
            let mut fills = vec![false; level.seen.len()];
            filling.labels.iter().for_each(|&label| fills[label as usize] = true);
            for label in &mut level.labels {
                if !fills[*label as usize] {
                    *label = NONE;
                }
            }
            if !filling.labels.is_empty() {
                for (useful, &code) in self.useful.iter_mut().zip(&self.codes[level.attribute]) {
                    *useful += u16::from(level.labels[code as usize] != NONE);
                }
            }
        }
    }

    /// Fills classes from parts of a box that agree in more than the box does. `levels` may be tried; `at` is where each attribute of the box is.
    fn refine(&mut self, mut tuples: Vec<u32>, levels: &[usize], at: &[usize]) {
        let mut fillings = self.count(&tuples, levels, at);
        loop {
            fillings.retain(|filling| filling.saved > 0);
            let Some(best) = (0..fillings.len()).max_by_key(|&place| (fillings[place].saved, place)) else { return };
            let Filling { level: tried, saved, as_of, .. } = fillings[best];
            if as_of < self.next {
                tuples.retain(|&tuple| !self.taken[tuple as usize]);
                fillings[best] = self.count(&tuples, &[tried], at).remove(0);
                if fillings[best].saved < saved {
                    continue;
                }
            }
            let Level { attribute, level, .. } = self.levels[tried];
            let is_finer = |other: &Level| other.attribute == attribute && other.level < level;
            let may_be_inside = |other: &Level| other.attribute != attribute || is_finer(other);
            let inside =
                fillings.iter().map(|filling| filling.level).filter(|&other| may_be_inside(&self.levels[other]));
            let inside: Vec<usize> = inside.collect();
            let mut finer_at = at.to_vec();
            finer_at[attribute] = level;
            for part in self.split(&tuples, tried, &fillings[best].labels) {
                if !inside.is_empty() {
                    self.refine(part.clone(), &inside, &finer_at);
                }
                self.fill(part);
            }
            // Inside its labels, finer levels of the attribute were tried as well.
            fillings.retain(|filling| filling.level != tried && !is_finer(&self.levels[filling.level]));
        }
    }

    /// What each level can fill in a box.
    fn count(&mut self, tuples: &[u32], levels: &[usize], at: &[usize]) -> Vec<Filling> {
        let Packing { dues, levels: all, values, codes, units, fewest, next, .. } = self;
        let asked = all.iter_mut().enumerate().filter(|(place, _)| levels.contains(place));
        let count = |(place, level): (usize, &mut Level)| {
            let saved = (at[level.attribute] - level.level) as u64;
            let (classes, labels) = level.fills(tuples, &codes[level.attribute], values, dues, *units, *fewest);
            Filling { level: place, saved: classes * saved, labels, as_of: *next }
        };
        if tuples.len() < TUPLES_APART {
            asked.map(count).collect()
        } else {
            parallel::map_items(asked.collect::<Vec<_>>(), |_, level| count(level))
        }
    }

    /// The tuples of a box with each of these labels.
    fn split(&self, tuples: &[u32], level: usize, labels: &[u32]) -> Vec<Vec<u32>> {
        let Level { attribute, labels: of_codes, seen, .. } = &self.levels[level];
        let mut places = vec![NONE; if labels.is_empty() { 0 } else { seen.len() }];
        (0..).zip(labels).for_each(|(place, &label)| places[label as usize] = place);
        let mut parts = vec![Vec::new(); labels.len()];
        for &tuple in tuples {
            let label = of_codes[self.codes[*attribute][tuple as usize] as usize];
            if label != NONE && places[label as usize] != NONE {
                parts[places[label as usize] as usize].push(tuple);
            }
        }
        parts
    }

    /// Fills as many classes as the tuples of a box allow, with those that are of the least use elsewhere.
    fn fill(&mut self, mut tuples: Vec<u32>) {
        tuples.retain(|&tuple| !self.taken[tuple as usize]);
        let mut parts: Vec<&mut [u32]> = Vec::new();
        let mut rest = tuples.as_mut_slice();
        for value in 0..self.dues.division.shares.len() as u32 {
            let size = rest.partition_point(|&tuple| self.values[tuple as usize] <= value);
            let (part, others) = rest.split_at_mut(size);
            parts.push(part);
            rest = others;
        }
        let counts: Vec<u64> = parts.iter().map(|part| part.len() as u64).collect();
        let classes = self.dues.reach(self.next, &counts);
        if classes.is_empty() {
            return;
        }
        let mut filled = Vec::with_capacity(parts.len());
        for (share, part) in self.dues.division.shares.iter().zip(parts) {
            let size = self.dues.real(share, &classes) as usize;
            if size > 0 && size < part.len() {
                part.select_nth_unstable_by_key(size, |&tuple| (self.useful[tuple as usize], tuple));
            }
            let (part, _) = part.split_at(size);
            part.iter().for_each(|&tuple| self.taken[tuple as usize] = true);
            filled.push(part.iter().map(|&tuple| self.rows[tuple as usize]).collect());
        }
        self.next = classes.end;
        self.packed.push(Packed { classes, parts: filled });
    }

    fn rest(mut self) -> Vec<Packed> {
        let mut parts = vec![Vec::new(); self.dues.division.shares.len()];
        for (tuple, &value) in self.values.iter().enumerate() {
            if !self.taken[tuple] {
                parts[value as usize].push(self.rows[tuple]);
            }
        }
        self.packed.push(Packed { classes: self.next..self.dues.classes(), parts });
        self.packed
    }
}

impl Level {
    /// How many classes the labels can fill from these tuples, each alone, and which can fill any.
    fn fills(
        &mut self,
        tuples: &[u32],
        codes: &[u32],
        values: &[u32],
        dues: &Dues<'_>,
        units: u64,
        fewest: u32,
    ) -> (u64, Vec<u32>) {
        let label_of = |tuple: u32| self.labels[codes[tuple as usize] as usize];
        for &tuple in tuples {
            if let Some(seen) = self.seen.get_mut(label_of(tuple) as usize) {
                *seen += 1;
            }
        }
        // Only labels of as many tuples as a class has are counted by value: together no more counters than tuples.
        let shares = &dues.division.shares;
        let mut counted: Vec<u32> = Vec::new();
        let mut counts: Vec<u32> = Vec::new();
        for &tuple in tuples {
            let label = label_of(tuple);
            let Some(seen) = self.seen.get_mut(label as usize) else { continue };
            if *seen & COUNTED == 0 {
                if *seen < fewest {
                    continue;
                }
                *seen = COUNTED | counted.len() as u32;
                counted.push(label);
                counts.resize(counted.len() * shares.len(), 0);
            }
            let place = (*seen & !COUNTED) as usize;
            counts[place * shares.len() + values[tuple as usize] as usize] += 1;
        }
        for &tuple in tuples {
            if let Some(seen) = self.seen.get_mut(label_of(tuple) as usize) {
                *seen = 0;
            }
        }
        let mut classes = 0;
        let mut labels = Vec::new();
        for (label, counts) in counted.into_iter().zip(counts.chunks(shares.len().max(1))) {
            let filled = shares.iter().zip(counts).map(|(share, &tuples)| dues.units_from(share, u64::from(tuples)));
            let filled = filled.min().unwrap_or(0) / units;
            if filled > 0 {
                classes += filled;
                labels.push(label);
            }
        }
        (classes, labels)
    }
}
