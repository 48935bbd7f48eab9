//! Whether totals reach thresholds: the inquiry that learns the least.

use crate::inquiry::{Ask, Inquiry, Operation, Thresholds, Turn};
use crate::ledger::{OpenedKind, Opens};
use crate::secret::Private;

/// For each word, how many of its thresholds the sum over all custodians reaches.
#[derive(Debug)]
pub struct AtLeast {
    words: Option<Private>,
    thresholds: Vec<Thresholds>,
    bits: u8,
}

impl AtLeast {
    /// Every total is known to lie below 2^`bits`; there are as many lists of thresholds as words.
    pub fn new(words: Vec<u64>, thresholds: Vec<Vec<u64>>, bits: u8) -> AtLeast {
        let thresholds = thresholds.into_iter().map(Thresholds::from).collect();
        AtLeast { words: Some(Private(words)), thresholds, bits }
    }
}

impl Inquiry for AtLeast {
    type Output = Vec<u64>;

    fn may_open(&self) -> Vec<OpenedKind> {
        vec![OpenedKind::Totals]
    }

    fn next(mut self, answer: &[u64]) -> Turn<Self> {
        let Some(words) = self.words.take() else { return Turn::Done(answer.to_vec()) };
        let operation = Operation::Tally { bits: self.bits, compared: words.0.len(), flags: 0 };
        let opens = vec![Opens { kind: OpenedKind::Totals, about: "compared".into(), words: words.0.len() }];
        let thresholds = std::mem::take(&mut self.thresholds);
        Turn::Ask(self, Ask { operation, words: words.0.clone(), opens, thresholds })
    }

    fn shared(output: &Vec<u64>) -> Vec<u8> {
        crate::wire::words_as_bytes(output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BurnBook, Coins, Question, Roster, baseline, masked, simulate};

    #[test]
    fn the_inquiry_learns_which_thresholds_are_reached_and_the_ledger_says_that_totals_opened() {
        let mut coins = Coins::danger_from_seed(1);
        for case in 0..60u8 {
            let (count, lanes) = (3 + coins.below(4), coins.below(5) as usize);
            let inputs: Vec<Vec<u64>> = (0..count).map(|_| (0..lanes).map(|_| coins.below(30)).collect()).collect();
            let totals: Vec<u64> = (0..lanes).map(|lane| inputs.iter().map(|input| input[lane]).sum()).collect();
            let thresholds: Vec<Vec<u64>> = totals
                .iter()
                .map(|total| {
                    let mut thresholds = vec![0, total.saturating_sub(1), *total, total + 1, coins.below(200)];
                    thresholds.sort_unstable();
                    thresholds
                })
                .collect();
            let reached =
                |(total, thresholds): (&u64, &Vec<u64>)| thresholds.iter().filter(|t| total >= t).count() as u64;
            let expected: Vec<u64> = totals.iter().zip(&thresholds).map(reached).collect();
            let roster = Roster::numbered(inputs.len()).unwrap();
            let permit = || BurnBook::default().permit([case; 16], Question::new("test", b""), &roster).unwrap();
            let ask = |me: usize| AtLeast::new(inputs[me].clone(), thresholds.clone(), 10);
            let coins = |me: usize| Coins::danger_from_seed(me as u64);
            let starts = (0..inputs.len()).map(|me| masked::start(permit(), me as u16, ask(me), coins(me)).unwrap());
            let (masked, _) = simulate::run(starts.collect(), 1).unwrap();
            let chances = baseline::Chances::default();
            let ring = |me| baseline::start(permit(), me as u16, ask(me), chances, coins(me)).unwrap();
            let (ring, _) = simulate::run((0..inputs.len()).map(ring).collect(), 1).unwrap();
            for concluded in masked.into_iter().chain(ring) {
                assert_eq!(concluded.output, expected, "case {case}");
                let entry = concluded.ledger.shared().next().unwrap();
                assert_eq!((&entry.values, &entry.at_least), (&totals, &thresholds), "case {case}");
                assert!(lanes == 0 || entry.to_string().contains("answered by opening the totals"));
            }
        }
    }
}
