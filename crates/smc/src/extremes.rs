//! Smallest and largest values, many at once.
//!
//! A smallest value is a largest one turned round, so one vector of largest values answers both. A
//! custodian without any value says 0, which no real value is coded as: whether anybody has a value
//! comes out with the answer.

use crate::inquiry::{Ask, Inquiry, Operation, Turn};
use crate::ledger::Kind;

/// For each lane the smallest and the largest value over all custodians; none where nobody has a
/// value.
#[derive(Debug)]
pub struct Extremes {
    lanes: Option<Vec<Option<(u64, u64)>>>,
    domain: u64,
}

impl Extremes {
    /// One (smallest, largest) per lane, each below `domain`; `None` where this custodian has no
    /// value. `domain` is at most 2⁶³.
    pub fn new(lanes: Vec<Option<(u64, u64)>>, domain: u64) -> Extremes {
        debug_assert!(lanes.iter().flatten().all(|(low, high)| low <= high && *high < domain));
        Extremes { lanes: Some(lanes), domain }
    }

    /// The words to ask the largest of: two for each lane.
    pub fn encode(lanes: &[Option<(u64, u64)>], domain: u64) -> Vec<u64> {
        lanes.iter().flat_map(|lane| lane.map_or([0, 0], |(low, high)| [domain - low, high + 1])).collect()
    }

    /// The lanes that the largest words stand for.
    pub fn decode(largest: &[u64], domain: u64) -> Vec<Option<(u64, u64)>> {
        largest.as_chunks::<2>().0.iter().map(|[low, high]| (*high > 0).then(|| (domain - low, high - 1))).collect()
    }

    /// How many binary digits a word of a lane has.
    pub fn bits(domain: u64) -> u8 {
        (u64::BITS - domain.leading_zeros()) as u8
    }
}

impl Inquiry for Extremes {
    type Output = Vec<Option<(u64, u64)>>;

    fn may_open(&self) -> Vec<Kind> {
        vec![Kind::Largest]
    }

    fn next(mut self, answer: &[u64]) -> Turn<Self> {
        let domain = self.domain;
        match self.lanes.take() {
            Some(lanes) => {
                let operation = Operation::Max { bits: Self::bits(domain) };
                let words = Self::encode(&lanes, domain);
                Turn::Ask(self, Ask::one(operation, words, Kind::Largest, "smallest and largest values"))
            }
            None => Turn::Done(Self::decode(answer, domain)),
        }
    }
}
