//! The words that three nodes were passed in the ring while they found classes, from their
//! journals: what these tell a successor alone, and both neighbors of a node together.
//!
//! Nodes find classes by sums alone: of counts of rows, and of flags, which are any number where
//! they are raised and 0 where not. The node that begins adds a mask to every sum. The order of the
//! nodes follows from the words: those of one sum grow around the ring by what each node adds.

use hedgerow_report::pictures::NumberCell;

use crate::claim::ClaimOutcome;
use crate::experiment::Trouble;

/// Of all words that three nodes were passed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PassedOn {
    pub(super) words: u64,
    /// Those that can be a count of a predecessor's own rows.
    pub(super) countable: u64,
    /// Terms that the two nodes added that did not begin, and those of them that are counts of
    /// rows, at least one, where both neighbors put together what they saw.
    pub(super) terms: u64,
    pub(super) shown_to_both: u64,
}

/// `rows` is the most that a node holds.
pub(super) fn counted(heard: &[Vec<u64>; 3], rows: u64) -> Result<PassedOn, Trouble> {
    let sums = heard[0].len();
    if sums == 0 || heard.iter().any(|words| words.len() != sums) {
        return Err("nodes in the ring are passed as many words as there are sums".into());
    }
    let counts = |before: &[u64], after: &[u64]| {
        let added = before.iter().zip(after).map(|(before, after)| after.wrapping_sub(*before));
        added.filter(|added| (1..=rows).contains(added)).count() as u64
    };
    // The second, the third and the first, who hears the whole sum.
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let in_order = |[second, third, first]: [usize; 3]| {
        counts(&heard[second], &heard[third]) + counts(&heard[third], &heard[first])
    };
    Ok(PassedOn {
        words: 3 * sums as u64,
        countable: heard.iter().flatten().filter(|&&word| word <= rows).count() as u64,
        terms: 2 * sums as u64,
        shown_to_both: orders.map(in_order).into_iter().max().unwrap_or(0),
    })
}

/// In the table of figures 7 to 10: the share of words that can be a predecessor's own count.
pub(super) fn row(passed: &PassedOn, k: u64) -> Vec<NumberCell> {
    let share = passed.countable as f64 / passed.words as f64;
    let before = [super::nodes::NAMES.len() as f64, k as f64, share, f64::NAN].map(NumberCell::Number).to_vec();
    let after = [f64::NAN; 5].map(NumberCell::Number).to_vec();
    [before, vec!["none, between nodes".into()], after].concat()
}

pub(super) fn nothing_alone(passed: &PassedOn) -> ClaimOutcome {
    let PassedOn { words, countable, .. } = passed;
    if *countable == 0 { Ok(()) } else { Err(format!("{countable} of {words} words can be")) }
}

/// The rest are counts of 0 and flags. Of words that are not sums, none would be a count.
pub(super) fn counts_together(passed: &PassedOn) -> ClaimOutcome {
    let PassedOn { terms, shown_to_both, .. } = passed;
    if *shown_to_both > 0 { Ok(()) } else { Err(format!("none of {terms} terms")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second node has 2 and 0, the third one 3 and a raised flag.
    #[test]
    fn masked_words_tell_nothing_and_their_differences_the_terms() {
        let mask = 1 << 60;
        let second = vec![mask + 7, mask];
        let third = vec![mask + 9, mask];
        let first = vec![mask + 12, mask / 3];
        let expected = PassedOn { words: 6, countable: 0, terms: 4, shown_to_both: 2 };
        for heard in [[&second, &third, &first], [&first, &second, &third], [&third, &first, &second]] {
            assert_eq!(counted(&heard.map(Clone::clone), 100).unwrap(), expected);
        }
        let bare = counted(&[vec![7, 0], vec![9, 0], vec![12, mask]], 100).unwrap();
        assert_eq!((bare.countable, bare.shown_to_both), (5, 2), "without a mask");
        assert!(nothing_alone(&bare).is_err() && nothing_alone(&expected).is_ok());
        assert!(counted(&[vec![], vec![], vec![]], 100).is_err() && counted(&[vec![1], vec![], vec![1]], 100).is_err());
    }
}
