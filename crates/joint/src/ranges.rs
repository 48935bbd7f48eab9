//! From the lowest to the highest value that any row of a part has: a custodian that reaches a
//! threshold raises a flag, and only whether any flag is raised opens.
//!
//! Several thresholds are tried at once, up to seven, so that a round settles three binary digits
//! of all ranges of all parts, beside the sums that other parts ask for. The range alone says who
//! reaches which threshold, so nothing opens beyond it. (A coalition that holds the highest value
//! itself sees how far the others reach, to the distance of two thresholds.) Thresholds lie between
//! the ends that are known of what the part was cut from, so that ranges take fewer rounds the
//! narrower parts become. Along the attribute of the cut, the first side begins where the whole
//! began and the last one ends where it ended: nothing is asked about these ends.

use super::Share;
use hedgerow_cuts::Span;

/// The most pieces that what is open of a range is cut into: eight, three binary digits.
const DIGITS_AT_ONCE: u32 = 3;

/// The known range of values on an axis before it is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) span: Span,
    /// Whether a row is known to be at its first and at its last value.
    pub(super) reached: [bool; 2],
}

impl Bounds {
    pub(super) fn within(span: Span) -> Bounds {
        Bounds { span, reached: [false; 2] }
    }

    /// The same for a side of a cut along the axis, of which there are several in order; `people`
    /// are where those of the whole were.
    pub(super) fn of_side(side: Span, people: Span, is_first: bool, is_last: bool) -> Bounds {
        let span = Span { first: side.first.max(people.first), last: side.last.min(people.last) };
        // Only answers that are not true leave nothing between.
        if span.first > span.last {
            return Bounds::within(side);
        }
        Bounds { span, reached: [is_first, is_last] }
    }

    /// Whether there is anything to ask.
    pub(super) fn is_open(self) -> bool {
        self.span.first < self.span.last && self.reached != [true; 2]
    }
}

#[derive(Debug)]
pub(super) struct Ranges {
    axes: Vec<(usize, Span)>,
    /// Two for each axis: how far people reach from the end of the bounds down, and from their
    /// beginning up.
    lanes: Vec<Lane>,
}

/// A largest value over all custodians, which lies in `low..=high`. A custodian without rows in the
/// part reaches nothing.
#[derive(Debug)]
struct Lane {
    own: u32,
    low: u32,
    high: u32,
}

impl Ranges {
    /// `axes` is not empty, and each is open. The part has rows.
    pub(super) fn new(axes: Vec<(usize, Bounds)>, rows: &[u32], share: &Share) -> Ranges {
        let lanes = axes.iter().flat_map(|&(axis, Bounds { span: Span { first, last }, reached })| {
            let ranks = rows.iter().map(|&row| share.ranks[axis][row as usize]);
            let (low, high) = ranks.fold((last, first), |(low, high), rank| (low.min(rank), high.max(rank)));
            // Only answers that are not true leave rows of ours outside.
            let own = [last - low.max(first), high.min(last) - first];
            let width = last - first;
            std::array::from_fn::<_, 2, _>(|end| match reached[end] {
                true => Lane { own: width, low: width, high: width },
                false => Lane { own: own[end], low: 0, high: width },
            })
        });
        let lanes = lanes.collect();
        Ranges { axes: axes.into_iter().map(|(axis, bounds)| (axis, bounds.span)).collect(), lanes }
    }

    /// By axis, where we reach a threshold.
    pub(super) fn flags(&self) -> Vec<(usize, Vec<bool>)> {
        let flags = |lane: &Lane| {
            let own = lane.own;
            thresholds(lane.low, lane.high).map(move |threshold| own >= threshold)
        };
        let of_axis =
            |((axis, _), lanes): (&(usize, Span), &[Lane; 2])| (*axis, lanes.iter().flat_map(flags).collect());
        self.axes.iter().zip(self.lanes.as_chunks::<2>().0).map(of_axis).collect()
    }

    /// Takes the flags; gives the ranges when they are settled.
    pub(super) fn absorb(&mut self, raised: &[u64]) -> Option<Vec<(usize, Span)>> {
        let mut raised = raised.iter();
        for lane in &mut self.lanes {
            // A custodian that reaches a threshold reaches the ones below it: after the first that
            // none reaches, the rest say nothing new.
            let mut reached = true;
            for threshold in thresholds(lane.low, lane.high) {
                let flag = raised.next().is_some_and(|raised| *raised != 0);
                match (reached, flag) {
                    (true, true) => lane.low = threshold,
                    (true, false) => (reached, lane.high) = (false, threshold - 1),
                    (false, _) => {}
                }
            }
        }
        if self.lanes.iter().any(|lane| lane.low < lane.high) {
            return None;
        }
        let range = |(&(axis, bounds), [down, up]): (&(usize, Span), &[Lane; 2])| {
            let (low, high) = (bounds.last - down.low, bounds.first + up.low);
            // Only flags that are not true can make the ends cross; then nothing is known.
            (axis, if low <= high { Span::new(low, high) } else { bounds })
        };
        Some(self.axes.iter().zip(self.lanes.as_chunks::<2>().0).map(range).collect())
    }
}

/// Where `low..=high` is cut into as few equal pieces as settle it in as many rounds as cutting
/// into eight would take.
fn thresholds(low: u32, high: u32) -> impl Iterator<Item = u32> {
    let width = u64::from(high - low) + 1;
    let rounds = (u64::BITS - (width - 1).leading_zeros()).div_ceil(DIGITS_AT_ONCE);
    let pieces = (1..1u64 << DIGITS_AT_ONCE).find(|pieces| pieces.pow(rounds) >= width).unwrap_or(1 << DIGITS_AT_ONCE);
    let step = width.div_ceil(pieces);
    (1..width.div_ceil(step)).map(move |piece| low + (piece * step) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_found_in_a_round_for_every_three_digits() {
        for width in 2..300u32 {
            for (low, high) in [(0, 0), (0, width - 1), (width / 3, width / 2), (width - 1, width - 1)] {
                let (share, region) =
                    (Share { ranks: vec![vec![low + 5, high + 5]], ..Share::default() }, Span::new(5, width + 4));
                let axes = vec![(0, Bounds::within(region))];
                let mut all = Ranges::new(axes.clone(), &[0, 1], &share);
                let without_rows = Ranges::new(axes, &[], &share);
                let digits = (width - 1).ilog2() + 1;
                for round in 1.. {
                    assert!(round <= digits.div_ceil(3), "width {width}");
                    assert!(
                        without_rows.flags().iter().all(|(_, flags)| !flags.contains(&true)),
                        "a flag is set without rows"
                    );
                    let flags: Vec<u64> = all.flags().into_iter().flat_map(|(_, flags)| flags).map(u64::from).collect();
                    assert!(flags.len() <= 14);
                    if let Some(found) = all.absorb(&flags) {
                        assert_eq!(found, [(0, Span::new(low + 5, high + 5))], "width {width}");
                        break;
                    }
                }
            }
        }
    }

    #[test]
    fn an_end_that_is_known_takes_no_threshold() {
        let share = Share { ranks: vec![vec![7, 11]], ..Share::default() };
        let people = Span::new(7, 30);
        let first = Bounds::of_side(Span::new(5, 12), people, true, false);
        assert_eq!(first, Bounds { span: Span::new(7, 12), reached: [true, false] });
        let mut ranges = Ranges::new(vec![(0, first)], &[0, 1], &share);
        let flags: Vec<u64> = ranges.flags().into_iter().flat_map(|(_, flags)| flags).map(u64::from).collect();
        assert_eq!(flags.len(), 5, "one lane of six values");
        assert_eq!(ranges.absorb(&flags), Some(vec![(0, Span::new(7, 11))]));
        let last = Bounds::of_side(Span::new(30, 40), people, false, true);
        assert!(!last.is_open(), "{last:?}");
        // Rows that should not be there, after answers that are not true: no end is passed.
        let outside = Ranges::new(vec![(0, Bounds::within(Span::new(20, 25)))], &[0, 1], &share);
        assert!(outside.lanes.iter().all(|lane| lane.own <= 5));
        let nowhere = Bounds::of_side(Span::new(1, 3), people, true, false);
        assert_eq!(nowhere, Bounds::within(Span::new(1, 3)));
    }

    #[test]
    fn an_interval_of_any_width_is_cut_within() {
        for (low, high) in [(3, 3), (3, 4), (0, u32::MAX - 1), (7, 70_000)] {
            let thresholds: Vec<u32> = thresholds(low, high).collect();
            assert!(thresholds.iter().all(|threshold| (low + 1..=high).contains(threshold)), "{low} {high}");
            assert!(thresholds.is_sorted() && thresholds.len() < 8);
        }
    }
}
