//! Smallest and largest values, many at once.
//!
//! A smallest value is a largest one turned round, so one vector of largest values answers both. A
//! custodian without any value says 0, which no real value is coded as: whether any custodian has a
//! value comes out with the answer.

use std::fmt;

use crate::inquiry::{Ask, Inquiry, Operation, Turn};
use crate::ledger::OpenedKind;
use crate::secret::Private;

/// For each lane the smallest and the largest value over all custodians; none where no custodian
/// has a value.
pub struct Extremes {
    words: Option<Private>,
    domain: u64,
}

impl Extremes {
    /// One (smallest, largest) per lane, each below `domain`; `None` where this custodian has no
    /// value. `domain` is at most 2⁶³.
    pub fn new(lanes: Vec<Option<(u64, u64)>>, domain: u64) -> Extremes {
        debug_assert!(lanes.iter().flatten().all(|(low, high)| low <= high && *high < domain));
        Extremes { words: Some(Private(Self::encode(&lanes, domain))), domain }
    }

    /// The words to ask the largest of: two for each lane.
    fn encode(lanes: &[Option<(u64, u64)>], domain: u64) -> Vec<u64> {
        lanes.iter().flat_map(|lane| lane.map_or([0, 0], |(low, high)| [domain - low, high + 1])).collect()
    }

    /// The lanes that the largest words stand for; `None` where they stand for none, which a
    /// custodian can bring about whose words are not its values.
    fn decode(largest: &[u64], domain: u64) -> Option<Vec<Option<(u64, u64)>>> {
        let lane = |[low, high]: &[u64; 2]| match (low, high) {
            (0, 0) => Some(None),
            (0, _) | (_, 0) => None,
            _ => {
                let (low, high) = (domain.checked_sub(*low)?, high - 1);
                (low <= high && high < domain).then_some(Some((low, high)))
            }
        };
        largest.as_chunks::<2>().0.iter().map(lane).collect()
    }

    /// How many binary digits a word of a lane has.
    pub fn bits(domain: u64) -> u8 {
        (u64::BITS - domain.leading_zeros()) as u8
    }
}

impl fmt::Debug for Extremes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Extremes").field("words", &self.words).field("domain", &self.domain).finish()
    }
}

impl Inquiry for Extremes {
    type Output = Vec<Option<(u64, u64)>>;

    fn may_open(&self) -> Vec<OpenedKind> {
        vec![OpenedKind::Largest]
    }

    fn next(mut self, answer: &[u64]) -> Turn<Self> {
        match self.words.take() {
            Some(words) => {
                let operation = Operation::Max { bits: Self::bits(self.domain) };
                let ask = Ask::one(operation, words.0.clone(), OpenedKind::Largest, "smallest and largest values");
                Turn::Ask(self, ask)
            }
            None => match Self::decode(answer, self.domain) {
                Some(lanes) => Turn::Done(lanes),
                None => Turn::Impossible("a largest value outside of its domain"),
            },
        }
    }

    fn shared(output: &Self::Output) -> Vec<u8> {
        let lane = |lane: &Option<(u64, u64)>| {
            let (low, high) = lane.unwrap_or((1, 0));
            [low, high]
        };
        crate::wire::words_as_bytes(&output.iter().flat_map(lane).collect::<Vec<u64>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_is_read_or_impossible_and_none_underflows() {
        for domain in 0..9u64 {
            for low in 0..20 {
                for high in 0..20 {
                    let inquiry = Extremes { words: None, domain };
                    match inquiry.next(&[low, high]) {
                        Turn::Done(lanes) => {
                            assert_eq!(Extremes::encode(&lanes, domain), [low, high], "domain {domain}");
                        }
                        Turn::Impossible(_) => {
                            let lowest = domain.wrapping_sub(low);
                            let one = (low == 0) != (high == 0);
                            assert!(one || low > domain || high > domain || lowest > high - 1, "{domain} {low} {high}");
                        }
                        _ => panic!("asks on"),
                    }
                }
            }
        }
    }
}
