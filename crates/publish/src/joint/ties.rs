//! Sharing the people at a median between two sides, so that the left gets exactly as many as it needs.
//!
//! They are ordered by their values in all attributes, one after the other. For each attribute in turn their distribution is opened: those below the value at
//! which the need is met go left, those above go right, those at it are ordered by the next attribute. Who agrees in everything is ordered by lot:
//! everybody draws a number for each of its own, and thresholds are tried, fifteen at a time, until exactly enough lie below one.

use hedgerow_smc::Kind;
use rand::RngExt as _;
use rand::rngs::StdRng;

use super::{Agreed, Share};
use crate::local::axis::Stretch;

const THRESHOLDS: u64 = 15;

#[derive(Debug)]
pub(super) struct Ties {
    /// How many of the open ones, over all custodians, are still to go left.
    need: u64,
    /// Our open ones.
    open: Vec<u32>,
    left: Vec<u32>,
    right: Vec<u32>,
    /// The attribute that is cut: they all agree in it.
    cut: usize,
    order: Order,
}

#[derive(Debug)]
enum Order {
    /// By the values of an attribute: quasi attributes first, then the others.
    Value(usize),
    /// By lot: our numbers, beside `open`; the threshold lies in `low..=high`.
    Lot { numbers: Vec<u64>, low: u64, high: u64 },
}

impl Ties {
    pub(super) fn new(
        open: Vec<u32>,
        need: u64,
        cut: usize,
        agreed: &Agreed,
        people: &[Stretch],
        random: &mut StdRng,
    ) -> Ties {
        let (left, right) = (Vec::new(), Vec::new());
        let mut ties = Ties { need, open, left, right, cut, order: Order::Value(0) };
        ties.order = ties.order_from(0, agreed, people, random);
        ties
    }

    /// The next attribute in which they can differ, or the lot.
    fn order_from(&self, from: usize, agreed: &Agreed, people: &[Stretch], random: &mut StdRng) -> Order {
        let differs = |attribute: &usize| {
            people.get(*attribute).is_none_or(|people| *attribute != self.cut && people.first < people.last)
        };
        match (from..agreed.axes.len() + agreed.cardinalities.len()).find(differs) {
            Some(attribute) => Order::Value(attribute),
            None => {
                let numbers = self.open.iter().map(|_| random.random()).collect();
                Order::Lot { numbers, low: 0, high: u64::MAX }
            }
        }
    }

    pub(super) fn kind(&self) -> Kind {
        match self.order {
            Order::Value(_) => Kind::Histograms,
            Order::Lot { .. } => Kind::CountsAtProbe,
        }
    }

    /// Our part of what has to be summed next.
    pub(super) fn words(&self, agreed: &Agreed, share: &Share, people: &[Stretch]) -> Vec<u64> {
        match &self.order {
            Order::Value(attribute) => {
                let (values, range) = column(*attribute, agreed, share, people);
                let mut counts = vec![0; range.ranks()];
                for &row in &self.open {
                    counts[(values[row as usize] - range.first) as usize] += 1;
                }
                counts
            }
            Order::Lot { numbers, low, high } => {
                let below = |threshold: u64| numbers.iter().filter(|number| **number <= threshold).count() as u64;
                thresholds(*low, *high).map(below).collect()
            }
        }
    }

    /// Takes the sums; gives the rows of both sides when all are settled.
    pub(super) fn absorb(
        &mut self,
        answer: &[u64],
        agreed: &Agreed,
        share: &Share,
        people: &[Stretch],
        random: &mut StdRng,
    ) -> Option<(Vec<u32>, Vec<u32>)> {
        let settled = match &mut self.order {
            Order::Value(attribute) => {
                let (values, range) = column(*attribute, agreed, share, people);
                let mut below = 0;
                let mut at = range.last;
                for (value, &count) in (range.first..).zip(answer) {
                    if below + count >= self.need {
                        at = value;
                        break;
                    }
                    below += count;
                }
                let here = answer.get((at - range.first) as usize).copied().unwrap_or(0);
                for row in std::mem::take(&mut self.open) {
                    match values[row as usize].cmp(&at) {
                        std::cmp::Ordering::Less => self.left.push(row),
                        std::cmp::Ordering::Equal => self.open.push(row),
                        std::cmp::Ordering::Greater => self.right.push(row),
                    }
                }
                self.need -= below.min(self.need);
                let next = *attribute + 1;
                self.order = self.order_from(next, agreed, people, random);
                (here == self.need).then_some(u64::MAX)
            }
            Order::Lot { low, high, .. } => {
                let enough = thresholds(*low, *high).zip(answer).find(|(_, count)| **count >= self.need);
                let before = thresholds(*low, *high).zip(answer).take_while(|(_, count)| **count < self.need).last();
                *low = before.map_or(*low, |(threshold, _)| threshold.saturating_add(1));
                match enough {
                    // Numbers of 64 bits that are equal: as likely as nothing, and not worth another round.
                    Some((threshold, count)) if *count == self.need || threshold == *low => Some(threshold),
                    Some((threshold, _)) => {
                        *high = threshold;
                        None
                    }
                    None => None,
                }
            }
        };
        settled.map(|threshold| self.settle(threshold))
    }

    fn settle(&mut self, threshold: u64) -> (Vec<u32>, Vec<u32>) {
        let open = std::mem::take(&mut self.open);
        for (index, row) in open.into_iter().enumerate() {
            let left = match &self.order {
                Order::Lot { numbers, .. } if threshold < u64::MAX => numbers[index] <= threshold,
                _ => true,
            };
            if left { self.left.push(row) } else { self.right.push(row) }
        }
        (std::mem::take(&mut self.left), std::mem::take(&mut self.right))
    }
}

/// The values of an attribute, and the stretch that they lie in.
fn column<'a>(attribute: usize, agreed: &Agreed, share: &'a Share, people: &[Stretch]) -> (&'a [u32], Stretch) {
    match attribute.checked_sub(agreed.axes.len()) {
        None => (&share.ranks[attribute], people[attribute]),
        Some(place) => (&share.codes[place], Stretch::new(0, agreed.cardinalities[place].max(1) as u32 - 1)),
    }
}

/// Evenly spaced; the last is `high` itself.
fn thresholds(low: u64, high: u64) -> impl Iterator<Item = u64> {
    let step = (high - low) / (THRESHOLDS + 1);
    let inner = if step == 0 { 0 } else { THRESHOLDS };
    (1..=inner).map(move |index| low + step * index).chain((step == 0).then_some(low..=high).into_iter().flatten())
}
