//! Where every tuple lies: its quasi values as positions on axes of equal length, so that near in
//! space is near in meaning.

use hedgerow_draft::bind::{Bound, Quasi};
use hedgerow_table::{Hierarchy, Kind, parallel};

/// Positions along an axis.
const LENGTH: f64 = 65_000.0;

/// The number of tuples that decide along which axis they lie widest apart.
const SAMPLE: usize = 1 << 8;

/// Row after row, one position per quasi attribute.
#[derive(Debug)]
pub(super) struct Space {
    pub(super) axes: usize,
    at: Vec<u16>,
}

impl Space {
    pub(super) fn new(bound: &Bound<'_>) -> Space {
        let axes = bound.quasi.len();
        let positions: Vec<Vec<u16>> = bound.quasi.iter().map(positions).collect();
        let mut at = vec![0u16; bound.table.rows * axes];
        for (axis, (quasi, positions)) in bound.quasi.iter().zip(&positions).enumerate() {
            let codes = &quasi.column.codes;
            parallel::map_items(at.chunks_mut(axes.max(1) << 12), |chunk, rows| {
                for (offset, row) in rows.chunks_mut(axes).enumerate() {
                    row[axis] = positions[codes.get((chunk << 12) + offset) as usize];
                }
            });
        }
        Space { axes, at }
    }

    pub(super) fn of(&self, row: u32) -> &[u16] {
        &self.at[row as usize * self.axes..(row as usize + 1) * self.axes]
    }

    pub(super) fn position(&self, row: u32, axis: usize) -> u32 {
        u32::from(self.at[row as usize * self.axes + axis])
    }

    /// The axis along which these tuples lie widest apart (by variance, the first of equals);
    /// `None` when all lie in one place. Of many tuples, a sample is looked at.
    pub(super) fn widest<'a>(&self, parts: impl Iterator<Item = &'a [u32]> + Clone) -> Option<usize> {
        let tuples: usize = parts.clone().map(<[u32]>::len).sum();
        let widest = self.widest_of_every(tuples.div_ceil(SAMPLE).max(1), parts.clone());
        // Tuples of a sample in one place do not say that all are.
        widest.or_else(|| if tuples > SAMPLE { self.widest_of_every(1, parts) } else { None })
    }

    fn widest_of_every<'a>(&self, step: usize, parts: impl Iterator<Item = &'a [u32]>) -> Option<usize> {
        let mut sums = vec![(0u64, 0u64); self.axes];
        let (mut count, mut skip) = (0u64, 0);
        for part in parts {
            // A sample at equal distances over all parts in a row.
            for &row in part.iter().skip(skip).step_by(step) {
                count += 1;
                for (sum, &at) in sums.iter_mut().zip(self.of(row)) {
                    sum.0 += u64::from(at);
                    sum.1 += u64::from(at) * u64::from(at);
                }
            }
            skip = match part.len() {
                length if length <= skip => skip - length,
                length => (step - (length - skip) % step) % step,
            };
        }
        let spread =
            |&(sum, squares): &(u64, u64)| u128::from(count) * u128::from(squares) - u128::from(sum) * u128::from(sum);
        let spreads: Vec<u128> = sums.iter().map(spread).collect();
        let widest = spreads.iter().copied().max().filter(|&spread| spread > 0)?;
        spreads.iter().position(|&spread| spread == widest)
    }
}

/// Numbers and dates by their value; categories by their place in the hierarchy, so that what
/// shares a label lies together. The missing value lies beyond all others.
fn positions(quasi: &Quasi<'_>) -> Vec<u16> {
    let domain = &quasi.column.domain;
    let codes = 0..domain.cardinality() as u32;
    if domain.kind() == Kind::Category {
        return ranks(&quasi.hierarchy, domain.cardinality());
    }
    let numbers: Vec<f64> = codes.clone().filter_map(|code| domain.number(code)).collect();
    let (low, high) = (numbers.first().copied().unwrap_or(0.0), numbers.last().copied().unwrap_or(0.0));
    let width = (high - low).max(f64::MIN_POSITIVE);
    let place = |number: f64| ((number - low) / width * LENGTH).round() as u16;
    codes.map(|code| domain.number(code).map_or(u16::MAX, place)).collect()
}

fn ranks(hierarchy: &Hierarchy, cardinality: usize) -> Vec<u16> {
    let path = |code: &usize| -> Vec<u32> { hierarchy.levels().iter().rev().map(|level| level.map[*code]).collect() };
    let mut order: Vec<usize> = (0..cardinality).collect();
    order.sort_by_cached_key(path);
    let step = LENGTH / (cardinality.saturating_sub(1)).max(1) as f64;
    let mut positions = vec![0; cardinality];
    for (rank, code) in order.into_iter().enumerate() {
        positions[code] = (rank as f64 * step).round() as u16;
    }
    positions
}
