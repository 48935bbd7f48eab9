//! Sharing the people at a median between two sides by lot.
//!
//! Each custodian draws a number for each of its own people; thresholds are tried, up to 63 at a
//! time, until the people at or below one fill the left side to half of the part. The comparisons
//! depend on the lots and on the number of people at the median, and on nothing else, so no count
//! discloses anything about their values.
//!
//! Lots that several people share leave the sides uneven; their sizes are compared afterwards, and
//! a cut whose sides are too small is not made.

use hedgerow_smc::{About, Coins, OpenedKind, Thresholds};

use super::request::{Request, RequestAnswer};

/// The number of pieces into which a round cuts the range of lots that is still undecided.
const PIECES: u128 = 64;

pub(super) struct Ties {
    /// Our undecided rows with their lots, in the order of the lots.
    open: Vec<(u64, u32)>,
    /// Our rows below the median, doubled, less all our rows of the part, plus all our rows: the
    /// total of that is half of the part where it is all rows.
    base: u64,
    /// The threshold lies in `low..=high`.
    low: u64,
    high: u64,
}

impl std::fmt::Debug for Ties {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ties").field("low", &self.low).field("high", &self.high).finish_non_exhaustive()
    }
}

impl Ties {
    pub(super) fn new(open: Vec<u32>, base: u64, coins: &mut Coins) -> Ties {
        let mut open: Vec<(u64, u32)> = open.into_iter().map(|row| (coins.lot(), row)).collect();
        open.sort_unstable();
        Ties { open, base, low: 0, high: u64::MAX }
    }

    /// Our share of the next comparison: with the number of all rows of all custodians, and with
    /// two more.
    pub(super) fn request(&self, rows: &Thresholds, about: About, request: &mut Request) {
        for threshold in thresholds(self.low, self.high) {
            let below = self.open.partition_point(|(lot, _)| *lot <= threshold) as u64;
            // Half of the part or one more than half; or beyond.
            request.compare(OpenedKind::CountsAtProbe, about, self.base + 2 * below, rows);
        }
    }

    /// Takes the answer; returns our rows of both sides when all are decided.
    pub(super) fn absorb(&mut self, answer: &mut RequestAnswer<'_>) -> Option<(Vec<u32>, Vec<u32>)> {
        let tried: Vec<(u64, u64)> =
            thresholds(self.low, self.high).map(|threshold| (threshold, answer.reached())).collect();
        for (threshold, reached) in tried {
            match reached {
                0 => self.low = threshold + 1,
                1 => return Some(self.settle(threshold)),
                _ => {
                    self.high = threshold;
                    break;
                }
            }
        }
        (self.low >= self.high).then(|| self.settle(self.low))
    }

    /// Rows that drew at most the threshold go left.
    fn settle(&mut self, threshold: u64) -> (Vec<u32>, Vec<u32>) {
        let (left, right): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.open).into_iter().partition(|(lot, _)| *lot <= threshold);
        let rows = |side: Vec<(u64, u32)>| side.into_iter().map(|(_, row)| row).collect();
        (rows(left), rows(right))
    }
}

/// Where `low..=high` is cut, each threshold the last of its piece.
fn thresholds(low: u64, high: u64) -> impl Iterator<Item = u64> + use<> {
    let width = u128::from(high - low) + 1;
    let step = width.div_ceil(PIECES);
    (1..width.div_ceil(step)).map(move |piece| low + (piece * step - 1) as u64)
}
