//! Packing: classes whose tuples agree in labels, found by counting.
//!
//! A class needs γ tuples of every sensitive value, so a label, say `Female`, can fill at most
//! min(tuples with the label and the value / γ) classes that are female throughout. In a box of
//! tuples, every level of every attribute is counted this way; the one that saves the most
//! generalization steps (classes it can fill × levels saved) is taken first, and each of its labels
//! is a box in which the other attributes, and finer levels of this one, are tried alike. What they
//! cannot fill goes back to the box, where the level is then used up, but others may still fill
//! classes. What is left at the end agrees in nothing, and is assigned by closeness alone.
//!
//! Taking tuples away only lowers what a label can fill, so counts are upper bounds ever after: a
//! level that fills nothing is never counted again, and others only when they are the best by what
//! was counted last. Every count is a pass over the tuples of a box for each attribute, value by
//! value from the scarcest on, which ends when no label is left; and boxes of one level are
//! disjoint: O(tuples × attributes × depth), where a value has more tuples than the attribute has
//! values.

use std::ops::Range;

use hedgerow_draft::bind::Bound;
use hedgerow_table::{Codes, Progress, parallel, with_codes};

use super::counting::{Counting, fills};
use super::division::Share;
use super::lowest::lowest_first;
use super::quotas::Quotas;

/// Classes filled from one box, with their tuples by value.
#[derive(Debug)]
pub(super) struct Packed {
    pub(super) classes: Range<usize>,
    pub(super) parts: Vec<Vec<u32>>,
}

/// A box with fewer tuples is counted by one thread.
const TUPLES_APART: usize = 1 << 12;

/// Fills classes from boxes, as many as can be; the last is what is left, with the classes that are
/// left. Once canceled, nothing further is packed.
pub(super) fn pack(
    bound: &Bound<'_>,
    quotas: &Quotas<'_>,
    rows: Vec<Vec<u32>>,
    progress: &dyn Progress,
) -> Vec<Packed> {
    let mut packing = Packing::new(bound, quotas, rows, progress);
    let mut everything: Vec<u32> = (0..packing.rows.len() as u32).collect();
    let levels: Vec<usize> = (0..packing.levels.len()).collect();
    let tops: Vec<usize> = bound.quasi.iter().map(|quasi| quasi.hierarchy.levels().len() - 1).collect();
    let fillings = packing.count(&everything, &levels, &tops);
    packing.drop_unfillable(&fillings);
    packing.refine(&mut everything, fillings, &tops);
    packing.rest()
}

/// One level of one attribute.
pub(super) struct Level {
    pub(super) attribute: usize,
    pub(super) level: usize,
    /// From codes to labels; [`Level::nowhere`] for labels that can fill no class of all tuples.
    pub(super) labels: Vec<u32>,
    /// How many labels there are.
    pub(super) names: usize,
}

impl Level {
    /// One more than there are labels: what has none is counted too, in a place of its own, because
    /// testing each tuple costs more.
    pub(super) fn nowhere(&self) -> u32 {
        self.names as u32
    }
}

/// The classes that a level can fill in a box.
pub(super) struct Filling {
    pub(super) level: usize,
    /// Classes × levels saved: an upper bound once tuples were taken.
    pub(super) saved: u64,
    /// Labels that can fill a class.
    pub(super) labels: Vec<u32>,
    /// Whether tuples of the box were taken after this was counted.
    pub(super) stale: bool,
}

struct Packing<'a> {
    quotas: &'a Quotas<'a>,
    levels: Vec<Level>,
    /// Tuples are numbered value by value: their rows, their codes by attribute, and where each
    /// value ends.
    rows: Vec<u32>,
    codes: Vec<Codes>,
    ends: Vec<u32>,
    /// In how many attributes and levels a tuple has a label that can fill a class.
    useful: Vec<u16>,
    taken: Vec<bool>,
    /// The first class that is not filled yet.
    next: usize,
    packed: Vec<Packed>,
    /// The most classes of the division in one class.
    units: u64,
    progress: &'a dyn Progress,
}

impl<'a> Packing<'a> {
    fn new(
        bound: &'a Bound<'_>,
        quotas: &'a Quotas<'a>,
        rows: Vec<Vec<u32>>,
        progress: &'a dyn Progress,
    ) -> Packing<'a> {
        let levels = (0..).zip(&bound.quasi).flat_map(|(attribute, quasi)| {
            let levels = quasi.hierarchy.levels();
            (0..).zip(&levels[..levels.len() - 1]).map(move |(level, labels)| Level {
                attribute,
                level,
                labels: labels.map.clone(),
                names: labels.labels.len(),
            })
        });
        let ends = rows.iter().scan(0, |end, rows| {
            *end += rows.len() as u32;
            Some(*end)
        });
        let ends = ends.collect();
        let rows: Vec<u32> = rows.concat();
        let codes = parallel::map(bound.quasi.len(), |attribute| bound.quasi[attribute].column.codes.of_rows(&rows));
        Packing {
            levels: levels.collect(),
            useful: vec![0; rows.len()],
            taken: vec![false; rows.len()],
            rows,
            codes,
            ends,
            next: 0,
            packed: Vec::new(),
            units: (0..quotas.classes()).map(|class| quotas.units(&(class..class + 1))).max().unwrap_or(1),
            quotas,
            progress,
        }
    }

    /// Marks labels that cannot fill a class of all tuples, and counts for every tuple those that
    /// can.
    fn drop_unfillable(&mut self, fillings: &[Filling]) {
        for filling in fillings {
            let level = &mut self.levels[filling.level];
            let mut fills = vec![false; level.names];
            filling.labels.iter().for_each(|&label| fills[label as usize] = true);
            let nowhere = level.nowhere();
            level.labels.iter_mut().filter(|label| !fills[**label as usize]).for_each(|label| *label = nowhere);
        }
        for (attribute, codes) in self.codes.iter().enumerate() {
            let levels: Vec<&Level> = self.levels.iter().filter(|level| level.attribute == attribute).collect();
            let values = levels.first().map_or(0, |level| level.labels.len());
            let useful =
                |code: usize| levels.iter().filter(|level| level.labels[code] != level.nowhere()).count() as u16;
            let of_codes: Vec<u16> = (0..values).map(useful).collect();
            // An attribute that is hidden or released as it is has no levels to agree in.
            if values > 0 {
                with_codes!(codes, codes => for (sum, &code) in self.useful.iter_mut().zip(codes) {
                    *sum += of_codes[code as usize];
                });
            }
        }
    }

    /// Fills classes from parts of a box that agree in more than the box does. What these do not
    /// take is put in front; its count is returned. `at` is the level on which each attribute of
    /// the box is.
    fn refine(&mut self, tuples: &mut [u32], mut fillings: Vec<Filling>, at: &[usize]) -> usize {
        let mut left = tuples.len();
        loop {
            fillings.retain(|filling| filling.saved > 0);
            let best = (0..fillings.len()).max_by_key(|&place| (fillings[place].saved, place));
            let Some(best) = best.filter(|_| !self.progress.is_canceled()) else { return left };
            let Filling { level: tried, saved, stale, .. } = fillings[best];
            if stale {
                fillings[best] = self.count(&tuples[..left], &[tried], at).remove(0);
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
            let filled = self.next;
            // No tuple is in two parts: what is taken from one changes nothing in the others.
            let (mut split, ends) = self.split(&tuples[..left], tried, &fillings[best].labels);
            let count = |part: &[u32]| self.count(part, &inside, &finer_at);
            let parts = cut(&mut split, &ends);
            let counted: Vec<(Vec<Filling>, &mut [u32])> = if left < TUPLES_APART {
                parts.into_iter().map(|part| (count(part), part)).collect()
            } else {
                parallel::map_items(parts, |_, part| (count(part), part))
            };
            for (fillings, part) in counted {
                let left = self.refine(part, fillings, &finer_at);
                self.fill(&mut part[..left]);
            }
            if filled < self.next {
                left = self.drop_taken(&mut tuples[..left]);
                fillings.iter_mut().for_each(|filling| filling.stale = true);
            }
            // Inside its labels, finer levels of the attribute were tried as well.
            fillings.retain(|filling| filling.level != tried && !is_finer(&self.levels[filling.level]));
        }
    }

    /// Puts what is not taken in front, and says how many that are. Without a branch: which are
    /// taken follows no pattern that could be predicted.
    fn drop_taken(&self, tuples: &mut [u32]) -> usize {
        let mut kept = 0;
        for place in 0..tuples.len() {
            let tuple = tuples[place];
            tuples[kept] = tuple;
            kept += usize::from(!self.taken[tuple as usize]);
        }
        kept
    }

    /// The classes that each level can fill in a box.
    fn count(&self, tuples: &[u32], levels: &[usize], at: &[usize]) -> Vec<Filling> {
        let mut rest = tuples;
        let by_value = self.ends.iter().zip(&self.quotas.division.shares).map(|(&end, share)| {
            let (part, others) = rest.split_at(rest.partition_point(|&tuple| tuple < end));
            rest = others;
            (share, part)
        });
        let mut by_value: Vec<(&Share, &[u32])> = by_value.collect();
        by_value.sort_unstable_by_key(|(share, part)| (part.len(), share.code));
        // Levels of an attribute stand together.
        let attributes = levels.chunk_by(|&one, &next| self.levels[one].attribute == self.levels[next].attribute);
        let count = |places: &[usize]| -> Vec<Filling> {
            let mut counting: Vec<Counting<'_>> =
                places.iter().map(|&place| Counting::new(place, &self.levels[place])).collect();
            let codes = &self.codes[counting[0].attribute()];
            with_codes!(codes, codes => fills(&mut counting, &by_value, codes, self.quotas, self.units));
            counting.into_iter().map(|counted| counted.filling(at)).collect()
        };
        if tuples.len() < TUPLES_APART {
            return attributes.flat_map(count).collect();
        }
        parallel::map_items(attributes, |_, places| count(places)).into_iter().flatten().collect()
    }

    /// The tuples of a box with each of these labels, one label after the other, and where those of
    /// each end.
    fn split(&self, tuples: &[u32], level: usize, labels: &[u32]) -> (Vec<u32>, Vec<usize>) {
        let Level { attribute, labels: of_codes, names, .. } = &self.levels[level];
        let mut places = vec![labels.len() as u32; names + 1];
        (0..).zip(labels).for_each(|(place, &label)| places[label as usize] = place);
        let places: Vec<u32> = of_codes.iter().map(|&label| places[label as usize]).collect();
        with_codes!(&self.codes[*attribute], codes => split_by(tuples, codes, &places, labels.len()))
    }

    /// Fills as many classes as the tuples of a box allow, with those that are of the least use
    /// elsewhere.
    fn fill(&mut self, tuples: &mut [u32]) {
        let mut parts: Vec<&mut [u32]> = Vec::new();
        let mut rest = tuples;
        for &end in &self.ends {
            let size = rest.partition_point(|&tuple| tuple < end);
            let (part, others) = rest.split_at_mut(size);
            parts.push(part);
            rest = others;
        }
        let counts: Vec<u64> = parts.iter().map(|part| part.len() as u64).collect();
        let classes = self.quotas.longest(self.next, &counts);
        if classes.is_empty() {
            return;
        }
        let useful = |tuple: u32| u32::from(self.useful[tuple as usize]);
        let choose = |keys: &mut Vec<u64>, (share, part): (&Share, &mut [u32])| -> Vec<u32> {
            let size = self.quotas.real(share, &classes) as usize;
            lowest_first(part, size, keys, useful);
            part[..size].to_vec()
        };
        let of_values = self.quotas.division.shares.iter().zip(parts);
        let chosen: Vec<Vec<u32>> = if counts.iter().sum::<u64>() < TUPLES_APART as u64 {
            let mut keys = Vec::new();
            of_values.map(|of_value| choose(&mut keys, of_value)).collect()
        } else {
            parallel::map_items(of_values, |_, of_value| choose(&mut Vec::new(), of_value))
        };
        chosen.iter().flatten().for_each(|&tuple| self.taken[tuple as usize] = true);
        let to_rows = |tuples: Vec<u32>| tuples.into_iter().map(|tuple| self.rows[tuple as usize]).collect();
        let filled: Vec<Vec<u32>> = chosen.into_iter().map(to_rows).collect();
        self.progress.advance(filled.iter().map(|rows| rows.len() as u64).sum());
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
        let parts: Vec<Vec<u32>> = self.ends.iter().map(left).collect();
        self.progress.advance(parts.iter().map(|rows| rows.len() as u64).sum());
        self.packed.push(Packed { classes: self.next..self.quotas.classes(), parts });
        self.packed
    }
}

/// Tuples by the place of their code, and where each place ends. Those of the place behind the last
/// are sorted out with the others and cut off at the end, rather than tested one by one.
fn split_by<C: Copy + Into<u32>>(tuples: &[u32], codes: &[C], places: &[u32], parts: usize) -> (Vec<u32>, Vec<usize>) {
    let place_of = |tuple: u32| places[Into::<u32>::into(codes[tuple as usize]) as usize] as usize;
    let mut ends = vec![0; parts + 1];
    tuples.iter().for_each(|&tuple| ends[place_of(tuple)] += 1);
    let mut start = 0;
    for end in &mut ends {
        start += std::mem::replace(end, start);
    }
    let mut split = vec![0; tuples.len()];
    for &tuple in tuples {
        let next = &mut ends[place_of(tuple)];
        split[*next] = tuple;
        *next += 1;
    }
    ends.truncate(parts);
    split.truncate(ends.last().copied().unwrap_or(0));
    (split, ends)
}

/// The parts up to each of these ends.
fn cut<'s>(mut all: &'s mut [u32], ends: &[usize]) -> Vec<&'s mut [u32]> {
    let mut start = 0;
    let part = |&end: &usize| {
        let (part, rest) = std::mem::take(&mut all).split_at_mut(end - std::mem::replace(&mut start, end));
        all = rest;
        part
    };
    ends.iter().map(part).collect()
}
