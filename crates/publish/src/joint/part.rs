//! One part of the union on its way to being divided: what it asks for next, and what follows from the answer.

use hedgerow_privacy::Whole;
use hedgerow_smc::Kind;
use rand::rngs::StdRng;

use super::ranges::Ranges;
use super::rules::Counts;
use super::ties::Ties;
use super::{Agreed, Share};
use crate::local::axis::{Shape, Stretch};
use crate::local::decide::{self, Cut, Median};

/// What a custodian looks at while it works on a part.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) agreed: &'a Agreed,
    pub(super) share: &'a Share,
    pub(super) wholes: &'a [Whole],
}

#[derive(Debug)]
pub(super) struct Part {
    /// Our rows in it.
    pub(super) rows: Vec<u32>,
    /// How many rows all custodians have in it.
    pub(super) size: u64,
    pub(super) region: Vec<Stretch>,
    /// How many cuts lie above it.
    pub(super) depth: u32,
    /// From the lowest to the highest rank that somebody in it has.
    people: Vec<Stretch>,
    tried: Vec<bool>,
    pub(super) stage: Stage,
}

#[derive(Debug)]
pub(super) enum Stage {
    /// The people's ranges on some axes.
    Ranges(Ranges),
    /// Sizes of a node's children.
    Children(usize, Vec<Stretch>),
    /// How many lack a value.
    Missing(usize),
    /// The median, which lies in `low..=high`.
    Halving {
        attribute: usize,
        low: u32,
        high: u32,
        below: u64,
        through: u64,
    },
    Ties(Attempt, u32, u64, Ties),
    /// Whether the sides of a cut keep every rule.
    Judging(Attempt, Vec<Side>),
    /// Whether anybody objects to the sides of a cut.
    Objecting(Attempt, Vec<Side>, Vec<Counts>),
    Class,
}

/// Cuts along one attribute that are still to be tried, the next one last.
#[derive(Debug)]
pub(super) struct Attempt {
    attribute: usize,
    cuts: Vec<Cut>,
    median: Option<Median>,
}

#[derive(Debug)]
pub(super) struct Side {
    stretch: Stretch,
    rows: Vec<u32>,
    size: u64,
}

impl Part {
    pub(super) fn new(view: View<'_>, rows: Vec<u32>, size: u64, region: Vec<Stretch>, depth: u32) -> Part {
        let agreed = view.agreed;
        let dividable = decide::can_divide(size, agreed.minimum());
        let wide = |axis: &usize| region[*axis].first < region[*axis].last;
        let told = |axis: &usize| agreed.tight || matches!(agreed.axes[*axis].shape(), Shape::Tree(_));
        let asked: Vec<usize> = (0..region.len()).filter(wide).filter(|axis| dividable || told(axis)).collect();
        let stage =
            if asked.is_empty() { Stage::Class } else { Stage::Ranges(Ranges::new(asked, &rows, view.share, &region)) };
        let tried = vec![false; region.len()];
        Part { rows, size, people: region.clone(), region, depth, tried, stage }
    }

    /// The region that is told of a part that stays whole.
    pub(super) fn told(&self, agreed: &Agreed) -> Vec<Stretch> {
        let told = |(axis, (region, people)): (usize, (&Stretch, &Stretch))| {
            let narrowed = agreed.tight || matches!(agreed.axes[axis].shape(), Shape::Tree(_));
            if region.first == region.last || !narrowed { *region } else { agreed.axes[axis].cell(*people) }
        };
        self.region.iter().zip(&self.people).enumerate().map(told).collect()
    }

    fn try_next_attribute(&mut self, view: View<'_>) {
        let axes = &view.agreed.axes;
        let extents: Vec<f64> = axes.iter().zip(&self.people).map(|(axis, people)| axis.extent(*people)).collect();
        let Some(attribute) = decide::widest(&extents, &self.tried) else {
            self.stage = Stage::Class;
            return;
        };
        self.tried[attribute] = true;
        let (axis, people) = (&axes[attribute], self.people[attribute]);
        self.stage = match (axis.node(people), axis.shape()) {
            (Some(node), _) => Stage::Children(attribute, node.children.clone()),
            (None, Shape::Line(line)) if people.last == line.present() => Stage::Missing(attribute),
            _ => {
                let (low, high) = (people.first, people.last);
                Stage::Halving { attribute, low, high, below: 0, through: self.size }
            }
        };
    }

    /// Our part of the sums that the stage needs, by kind; nothing when it needs none.
    pub(super) fn words(&self, view: View<'_>) -> Vec<(Kind, Vec<u64>)> {
        let rank = |attribute: usize, row: &u32| view.share.ranks[attribute][*row as usize];
        let within = |attribute: usize, stretch: &Stretch| {
            let inside = |row: &&u32| (stretch.first..=stretch.last).contains(&rank(attribute, row));
            self.rows.iter().filter(inside).count() as u64
        };
        match &self.stage {
            Stage::Ranges(_) | Stage::Objecting(..) | Stage::Class => Vec::new(),
            Stage::Children(attribute, children) => {
                vec![(Kind::Sizes, children.iter().map(|child| within(*attribute, child)).collect())]
            }
            Stage::Missing(attribute) => {
                let last = self.people[*attribute].last;
                vec![(Kind::Sizes, vec![within(*attribute, &Stretch::new(last, last))])]
            }
            Stage::Halving { attribute, low, high, .. } => {
                let probe = Stretch::new(0, low + (high - low) / 2);
                vec![(Kind::CountsAtProbe, vec![within(*attribute, &probe)])]
            }
            Stage::Ties(.., ties) => vec![(ties.kind(), ties.words(view.agreed, view.share, &self.people))],
            Stage::Judging(_, sides) => {
                let summed = |side: &Side| view.agreed.summed(&view.agreed.own_counts(view.share, &side.rows));
                sides.iter().flat_map(summed).collect()
            }
        }
    }

    /// Takes the sums; gives the children when the part is divided.
    pub(super) fn absorb(
        &mut self,
        view: View<'_>,
        answer: &[u64],
        raised: &[u64],
        random: &mut StdRng,
    ) -> Option<Vec<Part>> {
        let minimum = view.agreed.minimum();
        match std::mem::replace(&mut self.stage, Stage::Class) {
            Stage::Children(attribute, children) => {
                let filled = children.into_iter().zip(answer.iter().copied()).filter(|(_, size)| *size > 0);
                let filled: Vec<(Stretch, u64)> = filled.collect();
                if !decide::enough_in_children(answer, minimum) {
                    return self.next_cut(view, Attempt { attribute, cuts: Vec::new(), median: None }, random);
                }
                let ranks = &view.share.ranks[attribute];
                let side = |(stretch, size): (Stretch, u64)| {
                    let inside = |row: &u32| (stretch.first..=stretch.last).contains(&ranks[*row as usize]);
                    Side { stretch, rows: self.rows.iter().copied().filter(inside).collect(), size }
                };
                let sides = filled.into_iter().map(side).collect();
                self.propose(view, Attempt { attribute, cuts: Vec::new(), median: None }, sides)
            }
            Stage::Missing(attribute) => {
                let missing = answer.first().copied().unwrap_or(0);
                let present = self.size - missing.min(self.size);
                let rank = self.people[attribute].last;
                let mut attempt = Attempt { attribute, cuts: Vec::new(), median: None };
                if decide::enough_in_children(&[present, missing], minimum) && present > 0 {
                    attempt.cuts.push(Cut::Before(rank));
                    attempt.median = Some(Median { rank, below: present, at: missing, above: 0 });
                }
                self.next_cut(view, attempt, random)
            }
            Stage::Halving { attribute, mut low, mut high, mut below, mut through } => {
                let (probe, count) = (low + (high - low) / 2, answer.first().copied().unwrap_or(0));
                if count >= self.size.div_ceil(2) {
                    (high, through) = (probe, count);
                } else {
                    (low, below) = (probe + 1, count);
                }
                if low < high {
                    self.stage = Stage::Halving { attribute, low, high, below, through };
                    return None;
                }
                let median = Median { rank: low, below, at: through - below, above: self.size - through };
                let mut cuts = decide::cuts_at(median, view.agreed.strict, minimum);
                cuts.reverse();
                self.next_cut(view, Attempt { attribute, cuts, median: Some(median) }, random)
            }
            Stage::Ties(attempt, rank, left, mut ties) => {
                match ties.absorb(answer, view.agreed, view.share, &self.people, random) {
                    None => {
                        self.stage = Stage::Ties(attempt, rank, left, ties);
                        None
                    }
                    Some((at_left, at_right)) => {
                        let ranks = &view.share.ranks[attempt.attribute];
                        let lower = self.rows.iter().copied().filter(|row| ranks[*row as usize] < rank);
                        let higher = self.rows.iter().copied().filter(|row| ranks[*row as usize] > rank);
                        let rows = [lower.chain(at_left).collect(), at_right.into_iter().chain(higher).collect()];
                        let sides = self.two_sides(view, &attempt, [rank, rank], rows, left);
                        self.propose(view, attempt, sides)
                    }
                }
            }
            Stage::Judging(attempt, sides) => {
                let mut rest = answer;
                let mut counts = Vec::with_capacity(sides.len());
                for side in &sides {
                    let (side, after) = view.agreed.read(side.size, rest);
                    counts.push(side);
                    rest = after;
                }
                if !counts.iter().all(|counts| view.agreed.holds(counts, view.wholes)) {
                    return self.next_cut(view, attempt, random);
                }
                if view.agreed.asks_for_objections() {
                    self.stage = Stage::Objecting(attempt, sides, counts);
                    return None;
                }
                Some(self.divide(view, attempt.attribute, sides))
            }
            Stage::Ranges(mut ranges) => {
                match ranges.absorb(raised, &self.region) {
                    None => self.stage = Stage::Ranges(ranges),
                    Some(people) => {
                        people.into_iter().for_each(|(axis, people)| self.people[axis] = people);
                        if decide::can_divide(self.size, minimum) {
                            self.try_next_attribute(view);
                        }
                    }
                }
                None
            }
            Stage::Objecting(attempt, ..) if raised.contains(&1) => self.next_cut(view, attempt, random),
            Stage::Objecting(attempt, sides, _) => Some(self.divide(view, attempt.attribute, sides)),
            Stage::Class => None,
        }
    }

    /// Our part of what is only asked whether anybody has it.
    pub(super) fn flags(&self, view: View<'_>) -> Option<(Kind, Vec<u64>)> {
        match &self.stage {
            Stage::Ranges(ranges) => Some((Kind::Digits, ranges.flags())),
            Stage::Objecting(..) => Some((Kind::Objections, self.objections(view))),
            _ => None,
        }
    }

    /// 1 where a side must not be made for our sake: somebody could take rows out of it and learn too much of the rest.
    fn objections(&self, view: View<'_>) -> Vec<u64> {
        let Stage::Objecting(_, sides, counts) = &self.stage else { return Vec::new() };
        let objects = |(side, counts): (&Side, &Counts)| {
            u64::from(!view.agreed.agrees(counts, &view.agreed.own_counts(view.share, &side.rows), view.wholes))
        };
        // One word for the whole cut: which side somebody objects to is nobody's business.
        vec![sides.iter().zip(counts).map(objects).max().unwrap_or(0)]
    }

    /// The next cut along the attribute, or the next attribute.
    fn next_cut(&mut self, view: View<'_>, mut attempt: Attempt, random: &mut StdRng) -> Option<Vec<Part>> {
        let (Some(cut), Some(median)) = (attempt.cuts.pop(), attempt.median) else {
            self.try_next_attribute(view);
            return None;
        };
        let ranks = &view.share.ranks[attempt.attribute];
        match cut {
            Cut::Before(rank) => {
                let (left, right) = self.rows.iter().copied().partition(|row| ranks[*row as usize] < rank);
                let size = if rank > median.rank { median.below + median.at } else { median.below };
                let sides = self.two_sides(view, &attempt, [rank - 1, rank], [left, right], size);
                self.propose(view, attempt, sides)
            }
            Cut::Through { rank, left } => {
                let at = self.rows.iter().copied().filter(|row| ranks[*row as usize] == rank).collect();
                let need = left - median.below;
                let ties = Ties::new(at, need, attempt.attribute, view.agreed, &self.people, random);
                self.stage = Stage::Ties(attempt, rank, left, ties);
                None
            }
        }
    }

    fn two_sides(
        &self,
        view: View<'_>,
        attempt: &Attempt,
        ends: [u32; 2],
        rows: [Vec<u32>; 2],
        left: u64,
    ) -> Vec<Side> {
        let attribute = attempt.attribute;
        // Where nobody lacks a value any more, the region is told in numbers.
        let region = view.agreed.axes[attribute].clipped(self.region[attribute], self.people[attribute]);
        let [left_rows, right_rows] = rows;
        vec![
            Side { stretch: Stretch::new(region.first, ends[0]), rows: left_rows, size: left },
            Side { stretch: Stretch::new(ends[1], region.last), rows: right_rows, size: self.size - left },
        ]
    }

    /// Divides where sizes alone decide, else asks what must be known to judge.
    fn propose(&mut self, view: View<'_>, attempt: Attempt, sides: Vec<Side>) -> Option<Vec<Part>> {
        if view.agreed.by_size_alone() {
            return Some(self.divide(view, attempt.attribute, sides));
        }
        if view.agreed.summed(&view.agreed.own_counts(view.share, &[])).is_empty() {
            let counts = sides.iter().map(|side| Counts { rows: side.size, sites: 1, ..Counts::default() }).collect();
            self.stage = Stage::Objecting(attempt, sides, counts);
        } else {
            self.stage = Stage::Judging(attempt, sides);
        }
        None
    }

    fn divide(&self, view: View<'_>, attribute: usize, sides: Vec<Side>) -> Vec<Part> {
        let part = |side: Side| {
            let mut region = self.region.clone();
            region[attribute] = side.stretch;
            Part::new(view, side.rows, side.size, region, self.depth + 1)
        };
        sides.into_iter().map(part).collect()
    }
}
