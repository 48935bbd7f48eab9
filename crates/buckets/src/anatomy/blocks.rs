//! Puts close rows into the same buckets: the line is cut into blocks as short as the guarantees
//! allow, and every block is dealt separately.
//!
//! A block is halved as long as both halves, each as one bucket, keep every guarantee; where the
//! middle does not do, other places are tried, outwards from it. Cuts fall on multiples of the
//! smallest bucket, so that blocks deal out evenly. Every guarantee that buckets can keep survives
//! merging, so a block that holds as one bucket can be dealt, if only into one bucket.
//!
//! **What this discloses.** Inside a block the deal discloses nothing (see `deal.rs`); exchanges do
//! (see `exchange.rs`). Where a block was cut, its halves' counts are sums of published ones. Where
//! it was not, someone who knows the method learns that no place tried would do, a trace that every
//! method leaves which lets the data decide how far it goes (Wong et al.: *Minimality attack*,
//! 2007).
//!
//! Cost: one pass over the rows for every halving, O(n log(n/l)); long halves are cut in parallel,
//! and short intervals cut and dealt.

use std::ops::Range;

use hedgerow_draft::rows::shuffle;
use hedgerow_table::{Progress, parallel};
use rand::rngs::StdRng;

use super::allowed::BucketGuarantees;
use super::chance::Chance;
use super::deal::{most_buckets, run_lengths};
use super::exchange::exchanged;
use super::line::HilbertLine;

/// Where a block may be cut, in sixteenths, the middle first.
const CUTS: [usize; 15] = [8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
/// Intervals of fewer rows are cut and dealt by one core.
const PIECE_ROWS: usize = 1 << 13;

/// Which bucket every row is in, and how many there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buckets {
    pub of_row: Vec<u32>,
    pub count: u32,
}

/// Buckets for rows that stand in a line. `None` when not even one bucket of all rows is allowed.
/// Reports rows that have a bucket as progress; once canceled it cuts and deals nothing further,
/// and what it returns has no meaning.
pub fn in_blocks(
    line: HilbertLine,
    cardinality: usize,
    allowed: &BucketGuarantees,
    chance: &Chance,
    progress: &dyn Progress,
) -> Option<Buckets> {
    let HilbertLine { rows: line, codes } = line;
    if line.is_empty() || !Cutting::new(&codes, cardinality, allowed).holds(0..line.len()) {
        return None;
    }
    let mut pieces = Vec::new();
    let cutting = Pieces { codes: &codes, cardinality, allowed, progress };
    cutting.cut(0..line.len(), &mut pieces);
    let mut of_place = vec![0u32; line.len()];
    let mut rest = of_place.as_mut_slice();
    let own = pieces.iter().map(|piece| (piece.clone(), rest.split_off_mut(..piece.len()).unwrap_or_default()));
    let counts = parallel::map_items(own.collect::<Vec<_>>(), |_, (piece, own)| {
        let mut blocks = Vec::new();
        if progress.is_canceled() {
            return 0;
        }
        Cutting::new(&codes, cardinality, allowed).cut(piece.clone(), &mut blocks);
        let mut dealing = Dealing { allowed, rng: chance.of("deal", piece.start), count: 0, of_place: own };
        for block in blocks {
            if progress.is_canceled() {
                break;
            }
            progress.advance(block.len() as u64);
            dealing.deal(&codes[block]);
        }
        dealing.count
    });
    drop(codes);
    let mut buckets = Buckets { of_row: vec![0; line.len()], count: 0 };
    for (piece, count) in pieces.into_iter().zip(counts) {
        for (&row, bucket) in line[piece.clone()].iter().zip(&of_place[piece]) {
            buckets.of_row[row as usize] = buckets.count + bucket;
        }
        buckets.count += count;
    }
    Some(buckets)
}

/// The pieces into which the line is cut, each for one core.
struct Pieces<'a> {
    codes: &'a [u32],
    cardinality: usize,
    allowed: &'a BucketGuarantees,
    progress: &'a dyn Progress,
}

impl Pieces<'_> {
    /// Adds the pieces of an interval, in order.
    fn cut(&self, interval: Range<usize>, pieces: &mut Vec<Range<usize>>) {
        let goes_on = interval.len() >= PIECE_ROWS && !self.progress.is_canceled();
        let place = || Cutting::new(self.codes, self.cardinality, self.allowed).place(&interval);
        let Some(at) = goes_on.then(place).flatten() else {
            pieces.push(interval);
            return;
        };
        let mut right = Vec::new();
        rayon::join(|| self.cut(interval.start..at, pieces), || self.cut(at..interval.end, &mut right));
        pieces.append(&mut right);
    }
}

/// Blocks dealt one after the other.
struct Dealing<'a> {
    allowed: &'a BucketGuarantees,
    rng: StdRng,
    /// Buckets so far.
    count: u32,
    /// Where the buckets of the further rows go.
    of_place: &'a mut [u32],
}

impl Dealing<'_> {
    /// Rows are dealt by value, and at random within one; where windows of close values are all
    /// that matters, they are exchanged then.
    fn deal(&mut self, codes: &[u32]) {
        let mut shuffled: Vec<u32> = (0..codes.len() as u32).collect();
        shuffle(&mut shuffled, &mut self.rng);
        let by_value = shuffled.iter().zip(0u64..).map(|(&row, place)| u64::from(codes[row as usize]) << 32 | place);
        let mut by_value: Vec<u64> = by_value.collect();
        by_value.sort_unstable();
        let sorted: Vec<u32> = by_value.iter().map(|entry| (entry >> 32) as u32).collect();
        let rows: Vec<u32> = by_value.iter().map(|entry| shuffled[*entry as u32 as usize]).collect();
        let mut values = Vec::new();
        run_lengths(sorted.iter(), &mut values);
        let count = most_buckets(&values, self.allowed).expect("a block is allowed as one bucket");
        let exchanged = self.allowed.windows().and_then(|reach| exchanged(&rows, codes, count, reach));
        let own = self.of_place.split_off_mut(..codes.len()).expect("a place for every row");
        match exchanged.filter(|of_place| all_allowed(&sorted, of_place, count, self.allowed)) {
            Some(of_place) => {
                rows.iter().zip(of_place).for_each(|(&row, bucket)| own[row as usize] = self.count + bucket);
            }
            None => rows.chunks(count).for_each(|round| {
                round.iter().zip(self.count..).for_each(|(&row, bucket)| own[row as usize] = bucket);
            }),
        }
        self.count += count as u32;
    }
}

/// Whether every bucket is allowed, given the bucket of each place among the sorted values.
fn all_allowed(sorted: &[u32], of_place: &[u32], count: usize, allowed: &BucketGuarantees) -> bool {
    let mut held: Vec<Vec<u32>> = vec![Vec::new(); count];
    sorted.iter().zip(of_place).for_each(|(&code, &bucket)| held[bucket as usize].push(code));
    let mut values = Vec::new();
    held.iter().all(|codes| {
        run_lengths(codes.iter(), &mut values);
        allowed.holds(&values)
    })
}

/// Looks for the places where intervals of the line can be cut. What it counts in is kept from one
/// interval to the next.
struct Cutting<'a> {
    /// The sensitive codes along the line.
    codes: &'a [u32],
    allowed: &'a BucketGuarantees,
    /// Of every code; zero between two counts.
    counts: Vec<u32>,
    sorted: Vec<u32>,
    values: Vec<(u32, u32)>,
}

impl<'a> Cutting<'a> {
    fn new(codes: &'a [u32], cardinality: usize, allowed: &'a BucketGuarantees) -> Cutting<'a> {
        Cutting { codes, allowed, counts: vec![0; cardinality], sorted: Vec::new(), values: Vec::new() }
    }

    /// Adds the blocks of a interval of the line, in order.
    fn cut(&mut self, interval: Range<usize>, blocks: &mut Vec<Range<usize>>) {
        match self.place(&interval) {
            None => blocks.push(interval),
            Some(at) => {
                self.cut(interval.start..at, blocks);
                self.cut(at..interval.end, blocks);
            }
        }
    }

    fn place(&mut self, interval: &Range<usize>) -> Option<usize> {
        let buckets = interval.len() / self.allowed.least;
        let mut tried = 0;
        CUTS.iter().find_map(|sixteenths| {
            let before = buckets * sixteenths / 16;
            // Of a short block several sixteenths are one place.
            if before == 0 || before == tried {
                return None;
            }
            tried = before;
            let at = interval.start + before * self.allowed.least;
            (self.holds(interval.start..at) && self.holds(at..interval.end)).then_some(at)
        })
    }

    /// Whether a interval is allowed as one bucket.
    fn holds(&mut self, interval: Range<usize>) -> bool {
        let codes = &self.codes[interval];
        // A short interval has few of many values: sorting it costs less than looking at every
        // count.
        if codes.len() < self.counts.len() / 4 {
            self.sorted.clear();
            self.sorted.extend_from_slice(codes);
            self.sorted.sort_unstable();
            run_lengths(self.sorted.iter(), &mut self.values);
        } else {
            codes.iter().for_each(|&code| self.counts[code as usize] += 1);
            self.values.clear();
            let counted = (0..).zip(&mut self.counts).map(|(code, count)| (code, std::mem::take(count)));
            self.values.extend(counted.filter(|&(_, count)| count > 0));
        }
        self.allowed.holds(&self.values)
    }
}
