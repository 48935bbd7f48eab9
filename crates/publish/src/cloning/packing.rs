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
//! tuples of a box, value by value from the scarcest on, which ends when no label is left; and boxes of one level are disjoint:
//! O(tuples × levels of all attributes × depth).

use std::ops::Range;

use hedgerow_table::parallel;

use super::division::Share;
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

/// Fills classes from boxes, as many as can be; the last is what is left, with the classes that are left.
pub(super) fn pack(bound: &Bound<'_>, dues: &Dues<'_>, rows: Vec<Vec<u32>>) -> Vec<Packed> {
    let mut packing = Packing::new(bound, dues, rows);
    let mut everything: Vec<u32> = (0..packing.rows.len() as u32).collect();
    let levels: Vec<usize> = (0..packing.levels.len()).collect();
    let tops: Vec<usize> = bound.quasi.iter().map(|quasi| quasi.hierarchy.levels().len() - 1).collect();
    let fillings = packing.count(&everything, &levels, &tops);
    packing.drop_hopeless(&fillings);
    packing.refine(&mut everything, fillings, &tops);
    packing.rest()
}

/// One level of one attribute.
struct Level {
    attribute: usize,
    level: usize,
    /// From codes to labels; [`NONE`] for labels that can fill no class of all tuples.
    labels: Vec<u32>,
    /// How many tuples of a value have each label; zero between counts.
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
    /// Tuples are numbered value by value: their rows, their codes by attribute, and where each value ends.
    rows: Vec<u32>,
    codes: Vec<Vec<u32>>,
    ends: Vec<u32>,
    /// By attribute and code: on how many levels it has a label that can fill a class.
    useful: Vec<Vec<u16>>,
    taken: Vec<bool>,
    /// The first class that is not filled yet.
    next: usize,
    packed: Vec<Packed>,
    /// The most classes of the division in one class.
    units: u64,
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
        let ends = rows.iter().scan(0, |end, rows| {
            *end += rows.len() as u32;
            Some(*end)
        });
        let ends = ends.collect();
        let rows: Vec<u32> = rows.concat();
        let codes = parallel::map(bound.quasi.len(), |attribute| {
            let codes = &bound.quasi[attribute].column.codes;
            rows.iter().map(|&row| codes.get(row as usize)).collect()
        });
        Packing {
            levels: levels.collect(),
            useful: bound.quasi.iter().map(|quasi| vec![0; quasi.column.domain.cardinality()]).collect(),
            taken: vec![false; rows.len()],
            rows,
            codes,
            ends,
            next: 0,
            packed: Vec::new(),
            units: (0..dues.classes()).map(|class| dues.units(&(class..class + 1))).max().unwrap_or(1),
            dues,
        }
    }

    /// Marks labels that cannot fill a class of all tuples, and counts for every code those that can.
    fn drop_hopeless(&mut self, fillings: &[Filling]) {
        for filling in fillings {
            let level = &mut self.levels[filling.level];
            let mut fills = vec![false; level.seen.len()];
            filling.labels.iter().for_each(|&label| fills[label as usize] = true);
            for (label, useful) in level.labels.iter_mut().zip(&mut self.useful[level.attribute]) {
                if fills[*label as usize] {
                    *useful += 1;
                } else {
                    *label = NONE;
                }
            }
        }
    }

    /// Fills classes from parts of a box that agree in more than the box does, and leaves what these do not take. `at` is the level on
    /// which each attribute of the box is.
    fn refine(&mut self, tuples: &mut Vec<u32>, mut fillings: Vec<Filling>, at: &[usize]) {
        loop {
            fillings.retain(|filling| filling.saved > 0);
            let Some(best) = (0..fillings.len()).max_by_key(|&place| (fillings[place].saved, place)) else { return };
            let Filling { level: tried, saved, as_of, .. } = fillings[best];
            if as_of < self.next {
                fillings[best] = self.count(tuples, &[tried], at).remove(0);
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
            for mut part in self.split(tuples, tried, &fillings[best].labels) {
                let fillings = self.count(&part, &inside, &finer_at);
                self.refine(&mut part, fillings, &finer_at);
                self.fill(part);
            }
            tuples.retain(|&tuple| !self.taken[tuple as usize]);
            // Inside its labels, finer levels of the attribute were tried as well.
            fillings.retain(|filling| filling.level != tried && !is_finer(&self.levels[filling.level]));
        }
    }

    /// What each level can fill in a box.
    fn count(&mut self, tuples: &[u32], levels: &[usize], at: &[usize]) -> Vec<Filling> {
        let Packing { dues, levels: all, ends, codes, units, next, .. } = self;
        let mut rest = tuples;
        let by_value = ends.iter().zip(&dues.division.shares).map(|(&end, share)| {
            let (part, others) = rest.split_at(rest.partition_point(|&tuple| tuple < end));
            rest = others;
            (share, part)
        });
        let mut by_value: Vec<(&Share, &[u32])> = by_value.collect();
        by_value.sort_by_key(|(_, part)| part.len());
        let asked = all.iter_mut().enumerate().filter(|(place, _)| levels.contains(place));
        let count = |(place, level): (usize, &mut Level)| {
            let saved = (at[level.attribute] - level.level) as u64;
            let (classes, labels) = level.fills(&by_value, &codes[level.attribute], dues, *units);
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
        let mut parts: Vec<&mut [u32]> = Vec::new();
        let mut rest = tuples.as_mut_slice();
        for &end in &self.ends {
            let size = rest.partition_point(|&tuple| tuple < end);
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
                let useful = |tuple: u32| -> u16 {
                    self.useful
                        .iter()
                        .zip(&self.codes)
                        .map(|(useful, codes)| useful[codes[tuple as usize] as usize])
                        .sum()
                };
                part.select_nth_unstable_by_key(size, |&tuple| (useful(tuple), tuple));
            }
            let (part, _) = part.split_at(size);
            part.iter().for_each(|&tuple| self.taken[tuple as usize] = true);
            filled.push(part.iter().map(|&tuple| self.rows[tuple as usize]).collect());
        }
        self.next = classes.end;
        self.packed.push(Packed { classes, parts: filled });
    }

    fn rest(mut self) -> Vec<Packed> {
        let mut from = 0;
        let left = |&end: &u32| -> Vec<u32> {
            let tuples = from..end as usize;
            from = tuples.end;
            tuples.filter(|&tuple| !self.taken[tuple]).map(|tuple| self.rows[tuple]).collect()
        };
        let parts = self.ends.iter().map(left).collect();
        self.packed.push(Packed { classes: self.next..self.dues.classes(), parts });
        self.packed
    }
}

impl Level {
    /// How many classes the labels can fill from these tuples, each alone, and which can fill any.
    fn fills(&mut self, by_value: &[(&Share, &[u32])], codes: &[u32], dues: &Dues<'_>, units: u64) -> (u64, Vec<u32>) {
        let label_of = |tuple: u32| self.labels[codes[tuple as usize] as usize];
        // Labels that can still fill a class, and how many.
        let mut left: Vec<(u32, u64)> = Vec::new();
        for (place, (share, tuples)) in by_value.iter().enumerate() {
            for &tuple in *tuples {
                let label = label_of(tuple);
                if let Some(seen) = self.seen.get_mut(label as usize) {
                    *seen += 1;
                    // No label fills a class without a tuple of the scarcest value.
                    if place == 0 && *seen == 1 {
                        left.push((label, u64::MAX));
                    }
                }
            }
            left.retain_mut(|(label, classes)| {
                let tuples = u64::from(self.seen[*label as usize]);
                *classes = (*classes).min(dues.units_from(share, tuples) / units);
                *classes > 0
            });
            if self.seen.len() <= tuples.len() {
                self.seen.fill(0);
            } else {
                for &tuple in *tuples {
                    if let Some(seen) = self.seen.get_mut(label_of(tuple) as usize) {
                        *seen = 0;
                    }
                }
            }
            if left.is_empty() {
                break;
            }
        }
        let classes = left.iter().map(|&(_, classes)| classes).sum();
        (classes, left.into_iter().map(|(label, _)| label).collect())
    }
}
