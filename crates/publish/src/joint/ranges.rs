//! From the lowest to the highest value that somebody in a part has, digit by digit: whoever is in the running and has the digit raises a flag, and only whether any flag is
//! raised opens (in the ring, how many). A round takes one digit of all ranges of all parts, beside the sums that other parts ask for.
//!
//! Values are counted from the end of the part's region, so that ranges take fewer rounds the narrower regions become.

use hedgerow_smc::Extremes;

use super::Share;
use crate::local::axis::Stretch;

#[derive(Debug)]
pub(super) struct Ranges {
    axes: Vec<usize>,
    /// Our own words, two for each axis, and what is known of the largest ones.
    own: Vec<u64>,
    found: Vec<u64>,
    digit: u8,
}

impl Ranges {
    /// `axes` is not empty, and the region is wider than one value on each.
    pub(super) fn new(axes: Vec<usize>, rows: &[u32], share: &Share, region: &[Stretch]) -> Ranges {
        let range = |axis: &usize| {
            let ranks = rows.iter().map(|&row| share.ranks[*axis][row as usize]);
            let (low, high) = ranks.fold((u32::MAX, 0), |(low, high), rank| (low.min(rank), high.max(rank)));
            let first = region[*axis].first;
            let lane = (low <= high).then(|| (u64::from(low - first), u64::from(high - first)));
            Extremes::encode(&[lane], width(region[*axis]))
        };
        let own: Vec<u64> = axes.iter().flat_map(range).collect();
        let digits = axes.iter().map(|axis| Extremes::bits(width(region[*axis]))).max().unwrap_or(1);
        Ranges { found: vec![0; own.len()], axes, own, digit: digits - 1 }
    }

    /// 1 where we are in the running and have the digit.
    pub(super) fn flags(&self) -> Vec<u64> {
        let raised = |(own, found): (&u64, &u64)| u64::from(own >> self.digit == (found >> self.digit) | 1);
        self.own.iter().zip(&self.found).map(raised).collect()
    }

    /// Takes a digit; gives the ranges after the last.
    pub(super) fn absorb(&mut self, raised: &[u64], region: &[Stretch]) -> Option<Vec<(usize, Stretch)>> {
        self.found.iter_mut().zip(raised).for_each(|(found, raised)| *found |= raised << self.digit);
        if self.digit > 0 {
            self.digit -= 1;
            return None;
        }
        let lanes = self.axes.iter().zip(self.found.as_chunks::<2>().0);
        let range = |(axis, found): (&usize, &[u64; 2])| {
            let region = region[*axis];
            let (low, high) = Extremes::decode(found, width(region)).first().copied().flatten()?;
            Some((*axis, Stretch::new(region.first + low as u32, region.first + high as u32)))
        };
        Some(lanes.filter_map(range).collect())
    }
}

/// How many ranks a region covers.
fn width(region: Stretch) -> u64 {
    u64::from(region.last - region.first) + 1
}
