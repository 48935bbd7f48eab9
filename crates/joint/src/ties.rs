//! Sharing the people at a median between two sides, so that the left gets exactly as many as it
//! needs.
//!
//! They are ordered by their values in all attributes, one after the other, and those who agree in
//! everything by lot: everybody draws a number for each of its own. The place in that order is a
//! number, or where there are too many attributes for one, several; thresholds are tried, up to 63
//! at a time, until exactly enough lie at or below one. So a round settles six binary digits, and
//! nothing opens but counts at thresholds.

use std::cmp::Ordering;

use rand::RngExt as _;
use rand::rngs::StdRng;

use crate::{Agreed, Share};
use hedgerow_cuts::Span;

/// What is open of the order is cut into so many pieces in a round.
const PIECES: u128 = 64;

#[derive(Debug)]
pub(super) struct Ties {
    /// How many of the open ones, over all custodians, are still to go left.
    need: u64,
    /// Our open ones with their places, in the order of these.
    open: Vec<(u64, u32)>,
    left: Vec<u32>,
    right: Vec<u32>,
    /// The attribute that is cut: they all agree in it.
    cut: usize,
    /// The first attribute that the places do not look at, or nothing when they are lots.
    after: Option<usize>,
    /// Fewer than needed lie below `low`, `below` of them; enough lie at or below `high`.
    low: u64,
    high: u64,
    below: u64,
}

/// What decides besides who is open.
#[derive(Debug, Clone, Copy)]
pub(super) struct Among<'a> {
    pub(super) agreed: &'a Agreed,
    pub(super) share: &'a Share,
    pub(super) people: &'a [Span],
}

impl Ties {
    /// `need` is at least 1 and below the number of all open ones.
    pub(super) fn new(open: Vec<u32>, need: u64, cut: usize, among: Among<'_>, random: &mut StdRng) -> Ties {
        let open = open.into_iter().map(|row| (0, row)).collect();
        let (left, right) = (Vec::new(), Vec::new());
        let mut ties = Ties { need, open, left, right, cut, after: Some(0), low: 0, high: 0, below: 0 };
        ties.order_from(0, among, random);
        ties
    }

    /// Orders the open ones by the next attributes in which they can differ, as many as one number
    /// holds; or by lot when there are none left.
    fn order_from(&mut self, from: usize, among: Among<'_>, random: &mut StdRng) {
        let attributes = from..among.agreed.axes.len() + among.agreed.cardinalities.len();
        (self.low, self.high, self.below, self.after) = (0, 0, 0, Some(attributes.end));
        self.open.iter_mut().for_each(|(place, _)| *place = 0);
        let mut places: u64 = 1;
        for attribute in attributes.filter(|attribute| *attribute != self.cut) {
            let (values, range) = among.column(attribute);
            let width = range.ranks() as u64;
            match places.checked_mul(width) {
                Some(product) => places = product,
                None => {
                    self.after = Some(attribute);
                    break;
                }
            }
            for (place, row) in &mut self.open {
                // Only a range that is not true leaves somebody out.
                let value = values[*row as usize].clamp(range.first, range.last);
                *place = *place * width + u64::from(value - range.first);
            }
        }
        self.high = places - 1;
        if places == 1 {
            self.open.iter_mut().for_each(|(place, _)| *place = random.random());
            (self.high, self.after) = (u64::MAX, None);
        }
        self.open.sort_unstable();
    }

    /// Our part of what has to be summed next: how many lie at or below each threshold.
    pub(super) fn words(&self) -> Vec<u64> {
        let below = |threshold| self.open.partition_point(|(place, _)| *place <= threshold) as u64;
        thresholds(self.low, self.high).map(below).collect()
    }

    /// Takes the sums; gives the rows of both sides when all are settled.
    pub(super) fn absorb(
        &mut self,
        answer: &[u64],
        among: Among<'_>,
        random: &mut StdRng,
    ) -> Option<(Vec<u32>, Vec<u32>)> {
        for (threshold, &count) in thresholds(self.low, self.high).zip(answer) {
            match count.cmp(&self.need) {
                Ordering::Less => (self.low, self.below) = (threshold + 1, count),
                Ordering::Equal => return Some(self.settle(threshold)),
                Ordering::Greater => {
                    self.high = threshold;
                    break;
                }
            }
        }
        if self.low < self.high {
            return None;
        }
        let Some(after) = self.after else {
            // Lots of 64 bits that are equal: as likely as nothing, and not worth another round.
            return Some(self.settle(self.low));
        };
        for (place, row) in std::mem::take(&mut self.open) {
            match place.cmp(&self.low) {
                Ordering::Less => self.left.push(row),
                Ordering::Equal => self.open.push((0, row)),
                Ordering::Greater => self.right.push(row),
            }
        }
        self.need -= self.below.min(self.need);
        self.order_from(after, among, random);
        None
    }

    /// Whoever lies at or below the threshold goes left.
    fn settle(&mut self, threshold: u64) -> (Vec<u32>, Vec<u32>) {
        for (place, row) in std::mem::take(&mut self.open) {
            if place <= threshold { self.left.push(row) } else { self.right.push(row) }
        }
        (std::mem::take(&mut self.left), std::mem::take(&mut self.right))
    }
}

impl<'a> Among<'a> {
    /// The values of an attribute, quasi attributes first, then the others; and the span that they
    /// lie in.
    fn column(self, attribute: usize) -> (&'a [u32], Span) {
        match attribute.checked_sub(self.agreed.axes.len()) {
            None => (&self.share.ranks[attribute], self.people[attribute]),
            Some(place) => {
                let values = self.agreed.cardinalities[place].max(1) as u32;
                (&self.share.codes[place], Span::new(0, values - 1))
            }
        }
    }
}

/// Where `low..=high` is cut, each threshold the last of its piece.
fn thresholds(low: u64, high: u64) -> impl Iterator<Item = u64> {
    let width = u128::from(high - low) + 1;
    let step = width.div_ceil(PIECES);
    (1..width.div_ceil(step)).map(move |piece| low + (piece * step - 1) as u64)
}
