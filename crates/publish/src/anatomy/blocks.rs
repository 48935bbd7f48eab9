//! Close rows into the same buckets: the line is cut into blocks as short as the guarantees allow, and every block is dealt
//! by itself.
//!
//! A block is halved as long as both halves, each as one bucket, keep every guarantee; where the middle does not do, other places
//! are tried, outwards from it. Cuts fall on multiples of the smallest bucket, so that blocks deal out evenly. Every
//! guarantee that buckets can keep survives merging, so a block that holds as a whole can be dealt, if only into one bucket.
//!
//! **What this tells.** Inside a block the deal tells nothing (see `deal.rs`); exchanges do (see `exchange.rs`). Where a block was cut, its halves' counts are
//! sums of published ones. Where it was not, someone who knows the method learns that no place tried would do, a
//! trace that every method leaves which lets the data decide how far it goes (Wong et al.: *Minimality attack*, 2007).
//!
//! Cost: one pass over the rows for every halving, O(n log(n/l)); halves are cut in parallel.

use std::ops::Range;

use hedgerow_table::{Codes, parallel, with_codes};

use super::allowed::Allowed;
use super::chance::Chance;
use super::deal::{most_buckets, run_lengths};
use super::exchange::exchanged;

/// Rows whose sensitive values are fetched together.
const ROWS_AT_ONCE: usize = 1 << 16;

/// Where a block may be cut, in sixteenths, the middle first.
const CUTS: [usize; 15] = [8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
/// Blocks of fewer rows are cut by one core.
const PARALLEL_ROWS: usize = 1 << 12;

/// Which bucket every row is in, and how many there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buckets {
    pub of_row: Vec<u32>,
    pub count: u32,
}

/// Buckets for rows that stand in a line. `None` when not even one bucket of all rows is allowed.
#[allow(clippy::unnecessary_cast)] // One of the three widths is 32 bits already.
pub fn in_blocks(
    line: &[u32],
    sensitive: &Codes,
    cardinality: usize,
    allowed: &Allowed,
    chance: &Chance,
) -> Option<Buckets> {
    let pieces = parallel::map_ranges(
        line.len(),
        ROWS_AT_ONCE,
        |range| with_codes!(sensitive, codes => line[range].iter().map(|&row| codes[row as usize] as u32).collect::<Vec<u32>>()),
    );
    let codes = pieces.concat();
    let cutting = Cutting { codes: &codes, cardinality, allowed };
    if line.is_empty() || !cutting.holds(0..line.len()) {
        return None;
    }
    let mut blocks = Vec::new();
    cutting.cut(0..line.len(), &mut blocks);
    let dealt: Vec<(usize, Vec<u32>)> =
        parallel::map(blocks.len(), |index| deal_block(blocks[index].clone(), &codes, allowed, chance));
    let mut buckets = Buckets { of_row: vec![0; line.len()], count: 0 };
    for (block, (count, of_offset)) in blocks.into_iter().zip(dealt) {
        for (&row, bucket) in line[block].iter().zip(of_offset) {
            buckets.of_row[row as usize] = buckets.count + bucket;
        }
        buckets.count += count as u32;
    }
    Some(buckets)
}

/// Into how many buckets a block goes, and the bucket of each of its rows. Rows are dealt by value, and at random within one; where
/// windows of close values are all that matters, they are exchanged then.
fn deal_block(block: Range<usize>, codes: &[u32], allowed: &Allowed, chance: &Chance) -> (usize, Vec<u32>) {
    let own = &codes[block.clone()];
    let mut offsets: Vec<u32> = (0..own.len() as u32).collect();
    crate::rows::shuffle(&mut offsets, &mut chance.of("deal", block.start));
    offsets.sort_by_key(|&offset| own[offset as usize]);
    let sorted: Vec<u32> = offsets.iter().map(|&offset| own[offset as usize]).collect();
    let count = most_buckets(&sorted, allowed).expect("a block is allowed as one bucket");
    let exchanged = allowed.windows().and_then(|reach| exchanged(&offsets, own, count, reach));
    let dealt = || (0..sorted.len()).map(|place| (place % count) as u32).collect();
    let of_place = exchanged.filter(|of_place| all_allowed(&sorted, of_place, count, allowed)).unwrap_or_else(dealt);
    let mut of_offset = vec![0u32; own.len()];
    offsets.iter().zip(of_place).for_each(|(&offset, bucket)| of_offset[offset as usize] = bucket);
    (count, of_offset)
}

/// Whether every bucket is allowed, given the bucket of each place among the sorted values.
fn all_allowed(sorted: &[u32], of_place: &[u32], count: usize, allowed: &Allowed) -> bool {
    let mut held: Vec<Vec<u32>> = vec![Vec::new(); count];
    sorted.iter().zip(of_place).for_each(|(&code, &bucket)| held[bucket as usize].push(code));
    let mut values = Vec::new();
    held.iter().all(|codes| {
        run_lengths(codes.iter(), &mut values);
        allowed.holds(&values)
    })
}

struct Cutting<'a> {
    /// The sensitive codes along the line.
    codes: &'a [u32],
    cardinality: usize,
    allowed: &'a Allowed,
}

impl Cutting<'_> {
    /// Adds the blocks of a stretch of the line, in order.
    fn cut(&self, stretch: Range<usize>, blocks: &mut Vec<Range<usize>>) {
        let Some(at) = self.place(&stretch) else {
            blocks.push(stretch);
            return;
        };
        if stretch.len() < PARALLEL_ROWS {
            self.cut(stretch.start..at, blocks);
            self.cut(at..stretch.end, blocks);
        } else {
            let mut right = Vec::new();
            rayon::join(|| self.cut(stretch.start..at, blocks), || self.cut(at..stretch.end, &mut right));
            blocks.append(&mut right);
        }
    }

    fn place(&self, stretch: &Range<usize>) -> Option<usize> {
        let buckets = stretch.len() / self.allowed.least;
        let mut tried = 0;
        CUTS.iter().find_map(|sixteenths| {
            let before = buckets * sixteenths / 16;
            // Of a short block several sixteenths are one place.
            if before == 0 || before == tried {
                return None;
            }
            tried = before;
            let at = stretch.start + before * self.allowed.least;
            (self.holds(stretch.start..at) && self.holds(at..stretch.end)).then_some(at)
        })
    }

    /// Whether a stretch is allowed as one bucket.
    fn holds(&self, stretch: Range<usize>) -> bool {
        let codes = &self.codes[stretch];
        let mut values: Vec<(u32, u32)> = Vec::new();
        if codes.len() < self.cardinality {
            let mut sorted = codes.to_vec();
            sorted.sort_unstable();
            run_lengths(sorted.iter(), &mut values);
        } else {
            let mut counts = vec![0u32; self.cardinality];
            for &code in codes {
                counts[code as usize] += 1;
            }
            values.extend((0..).zip(counts).filter(|&(_, count)| count > 0));
        }
        self.allowed.holds(&values)
    }
}
