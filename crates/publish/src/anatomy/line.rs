//! Rows in a line on which neighbors are alike: along Hilbert's curve through the space of the
//! quasi attributes (Hilbert 1891; the turning of axes as in Skilling: *Programming the Hilbert
//! curve*, 2004).
//!
//! Each attribute is an axis. Its values stand in their order, categories first by what their
//! hierarchy puts together, and take space in proportion to their rows, so that every part of an
//! axis weighs the same. Rows in one place of the space stand in random order: the source's order
//! must leave no trace in who shares a bucket.

use hedgerow_table::{parallel, with_codes};
use rand::Rng;

use super::chance::Chance;
use crate::bind::Quasi;

/// Axes beyond these add less than two bits each and are left to chance.
const AXES_MAX: usize = 32;
/// Finer than this an axis distinguishes rows that no bucket could.
const BITS_MAX: u32 = 16;
/// Of a row's place, the bits that say where on the curve it lies; the others are random. A table
/// has 2³² rows at most.
const CURVE_BITS: u32 = 40;
/// Rows whose places are computed together.
const CHUNK_ROWS: usize = 1 << 14;
/// Rows that are brought into order together, on average: they fit the cache.
const PARTITION_ROWS: usize = 1 << 13;
/// Places looked at for every partition, to find where it begins.
const SAMPLES: usize = 16;

/// All rows, in the order of the line.
pub fn line(quasi: &[Quasi<'_>], rows: usize, chance: &Chance) -> Vec<u32> {
    let quasi = &quasi[..quasi.len().min(AXES_MAX)];
    let bits = (64 / quasi.len().max(1) as u32).min(BITS_MAX);
    let axes: Vec<Vec<u16>> = quasi.iter().map(|quasi| axis(quasi, bits)).collect();
    let curve = Curve::new(axes.len(), bits);
    let mut places = vec![0u64; rows];
    parallel::map_items(places.chunks_mut(CHUNK_ROWS), |chunk, places| {
        let first = chunk * CHUNK_ROWS;
        let mut points = vec![[0u16; LANES]; axes.len() * places.len().div_ceil(LANES)];
        for (index, (quasi, axis)) in quasi.iter().zip(&axes).enumerate() {
            with_codes!(&quasi.column.codes, codes => {
                let codes = &codes[first..first + places.len()];
                for (lanes, codes) in points[index..].iter_mut().step_by(axes.len()).zip(codes.chunks(LANES)) {
                    lanes.iter_mut().zip(codes).for_each(|(lane, &code)| *lane = axis[code as usize]);
                }
            });
        }
        let mut rng = chance.of("line", chunk);
        let surplus = (axes.len() as u32 * bits).saturating_sub(CURVE_BITS);
        for (index, places) in places.chunks_mut(LANES).enumerate() {
            let distances = curve.distances(&mut points[index * axes.len()..(index + 1) * axes.len()]);
            for (place, distance) in places.iter_mut().zip(distances) {
                let random = u64::from(rng.next_u32() >> (CURVE_BITS - 32));
                *place = (distance >> surplus) << (64 - CURVE_BITS) | random;
            }
        }
    });
    in_order(&places)
}

/// The numbers of the places, by rising place: rows are parted by what a sample says, and every
/// part is sorted by itself.
fn in_order(places: &[u64]) -> Vec<u32> {
    let partitions = places.len().div_ceil(PARTITION_ROWS).max(1);
    let mut sample: Vec<u64> = places.iter().copied().step_by((places.len() / (partitions * SAMPLES)).max(1)).collect();
    sample.sort_unstable();
    let bounds: Vec<u64> = (1..partitions).map(|partition| sample[partition * sample.len() / partitions]).collect();
    let parted = parallel::map_ranges(places.len(), CHUNK_ROWS, |range| part(places, range, &bounds));
    let sorted = parallel::map(partitions, |partition| {
        let part = |(entries, starts): &'_ (Vec<(u64, u32)>, Vec<u32>)| {
            entries[starts[partition] as usize..starts[partition + 1] as usize].to_vec()
        };
        let mut entries: Vec<(u64, u32)> = parted.iter().flat_map(part).collect();
        entries.sort_unstable();
        entries.into_iter().map(|(_, row)| row).collect::<Vec<u32>>()
    });
    sorted.concat()
}

/// Some rows with their places, partition after partition, and where each begins.
fn part(places: &[u64], rows: std::ops::Range<usize>, bounds: &[u64]) -> (Vec<(u64, u32)>, Vec<u32>) {
    let mut starts = vec![0u32; bounds.len() + 2];
    let partitions: Vec<u32> = places[rows.clone()]
        .iter()
        .map(|place| {
            let partition = bounds.partition_point(|bound| bound <= place);
            starts[partition + 1] += 1;
            partition as u32
        })
        .collect();
    for partition in 1..starts.len() {
        starts[partition] += starts[partition - 1];
    }
    let mut next = starts.clone();
    let mut entries = vec![(0u64, 0u32); rows.len()];
    for (row, partition) in rows.zip(partitions) {
        let place = &mut next[partition as usize];
        entries[*place as usize] = (places[row], row as u32);
        *place += 1;
    }
    (entries, starts)
}

/// For every code of an attribute its place on the axis, in `bits` bits.
fn axis(quasi: &Quasi<'_>, bits: u32) -> Vec<u16> {
    let counts = quasi.column.counts();
    let levels = quasi.hierarchy.levels();
    let mut order: Vec<usize> = (0..counts.len()).collect();
    // Labels are numbered by the first value under each, so this keeps the order of numbers as it
    // is.
    order.sort_by_cached_key(|&code| levels.iter().rev().map(|level| level.map[code]).collect::<Vec<u32>>());
    let rows: u64 = counts.iter().sum::<u64>().max(1);
    let mut before = 0u64;
    let mut axis = vec![0u16; counts.len()];
    for code in order {
        // The middle of the value's rows.
        let middle = u128::from(2 * before + counts[code]) << bits;
        axis[code] = (middle / u128::from(2 * rows)).min((1 << bits) - 1) as u16;
        before += counts[code];
    }
    axis
}

/// Points that are followed along the curve together, one instruction for all of them.
const LANES: usize = 8;

/// Hilbert's curve through a space whose axes have `bits` bits each, and all together at most 64.
struct Curve {
    axes: usize,
    bits: u32,
    /// The bits of a byte, as far apart as there are axes.
    spread: Vec<u64>,
}

impl Curve {
    fn new(axes: usize, bits: u32) -> Curve {
        let spread_bit = |byte: u64, bit: usize| (byte >> bit & 1) << (bit * axes);
        let spread = (0..256).map(|byte| (0..bits.min(8) as usize).fold(0, |all, bit| all | spread_bit(byte, bit)));
        Curve { axes, bits, spread: spread.collect() }
    }

    /// How far along the curve points lie, which are given axis by axis and used up.
    fn distances(&self, points: &mut [[u16; LANES]]) -> [u64; LANES] {
        let mut distances = [0u64; LANES];
        let Some((first, others)) = points.split_first_mut() else { return distances };
        // From the coarsest cells down: the cell's corner decides how the finer curve inside is
        // turned and mirrored. Every step changes the first axis, which is kept out of memory.
        let mut turned = *first;
        for level in (1..self.bits).rev() {
            let below = (1u16 << level) - 1;
            for lane in &mut turned {
                *lane ^= below & all_if(*lane, level);
            }
            for other in others.iter_mut() {
                for (lane, other) in turned.iter_mut().zip(other) {
                    let mirror = all_if(*other, level);
                    let differing = (*lane ^ *other) & below & !mirror;
                    *lane ^= below & mirror | differing;
                    *other ^= differing;
                }
            }
        }
        *first = turned;
        // Gray's code in the order of the axes, carried from level to level.
        for axis in 1..points.len() {
            let before = points[axis - 1];
            points[axis].iter_mut().zip(before).for_each(|(here, before)| *here ^= before);
        }
        let last = points[points.len() - 1];
        let mut mirrored = [0u16; LANES];
        for level in (1..self.bits).rev() {
            let below = (1u16 << level) - 1;
            mirrored.iter_mut().zip(last).for_each(|(mirrored, last)| *mirrored ^= below & all_if(last, level));
        }
        for (axis, point) in points.iter().enumerate() {
            for ((distance, coordinate), mirrored) in distances.iter_mut().zip(point).zip(mirrored) {
                let [low, high] = (coordinate ^ mirrored).to_le_bytes().map(|byte| self.spread[usize::from(byte)]);
                let high = if self.bits > 8 { high << (8 * self.axes) } else { 0 };
                *distance |= (low | high) << (self.axes - 1 - axis);
            }
        }
        distances
    }
}

/// All bits, where the bit of a level is set; else none.
fn all_if(coordinate: u16, level: u32) -> u16 {
    (coordinate >> level & 1).wrapping_neg()
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;

    /// The curve visits every cell once, and each step leads to a neighboring cell.
    #[test]
    fn every_step_of_the_curve_is_one_cell_long() {
        for (axes, bits) in [(1, 6), (2, 1), (2, 5), (3, 3), (4, 2), (5, 2), (7, 1), (1, 12), (2, 9)] {
            let cells = 1usize << (axes * bits);
            let mut visited: Vec<Option<Vec<u16>>> = vec![None; cells];
            for cell in 0..cells {
                let point: Vec<u16> =
                    (0..axes).map(|axis| (cell >> (axis * bits)) as u16 & ((1 << bits) - 1)).collect();
                // Each time in another lane, among points that must not disturb it.
                let mut points: Vec<[u16; LANES]> = point.iter().map(|&place| [place ^ 1; LANES]).collect();
                points.iter_mut().zip(&point).for_each(|(lanes, &place)| lanes[cell % LANES] = place);
                let distance = Curve::new(axes, bits as u32).distances(&mut points)[cell % LANES] as usize;
                assert!(visited[distance].replace(point).is_none(), "{axes} axes of {bits} bits: {distance} twice");
            }
            for pair in visited.windows(2) {
                let (here, next) = (pair[0].as_ref().unwrap(), pair[1].as_ref().unwrap());
                let step: u16 = here.iter().zip(next).map(|(a, b)| a.abs_diff(*b)).sum();
                assert_eq!(step, 1, "{axes} axes of {bits} bits: {here:?} to {next:?}");
            }
        }
        assert_eq!(Curve::new(0, 16).distances(&mut []), [0; LANES]);
    }

    /// The numbers of places that recur, that are all alike, and that are too few to be parted.
    #[test]
    fn places_come_in_order() {
        let mut rng = StdRng::seed_from_u64(5);
        for (rows, distinct) in [(0, 1), (1, 1), (40_000, 1), (40_000, 3), (50_000, u64::MAX), (100, 7)] {
            let places: Vec<u64> = (0..rows).map(|_| rng.random_range(0..distinct)).collect();
            let mut expected: Vec<u32> = (0..rows as u32).collect();
            expected.sort_by_key(|&row| places[row as usize]);
            assert_eq!(in_order(&places), expected, "{rows} rows, {distinct} places");
        }
    }
}
