//! Rows in a line on which neighbors are alike: along Hilbert's curve through the space of the
//! quasi attributes (Hilbert 1891; the turning of axes as in Skilling: *Programming the Hilbert
//! curve*, 2004).
//!
//! Each attribute is an axis. Its values stand in their order, categories first by what their
//! hierarchy puts together, and take space in proportion to their rows, so that every part of an
//! axis weighs the same. Rows in one place of the space stand in random order: the source's order
//! must leave no trace in who shares a bucket.
//!
//! Nothing of a row matters here but its key: its place on the curve and its sensitive value. Rows
//! are sorted by key, equal ones in the source's order, and then the rows of each place are
//! shuffled by random numbers that belong to positions in the line. So the line can be made of keys
//! with how often each occurs as well (`kinds.rs`), and says the same.

use std::ops::Range;

use hedgerow_draft::bind::{Bound, Quasi};
use hedgerow_table::{Codes, parallel, with_codes};
use rand::Rng;

use super::chance::Chance;

/// Axes beyond these add less than two bits each and are left to chance.
pub(super) const AXES_MAX: usize = 32;
/// Finer than this an axis distinguishes rows that no bucket could.
const BITS_MAX: u32 = 16;
/// Of a row's key, the bits that say where on the curve it lies; fewer where the sensitive values
/// need more than the others.
const CURVE_BITS: u32 = 40;
/// Rows whose keys are computed together.
pub(super) const CHUNK_ROWS: usize = 1 << 14;
/// Rows that are brought into order together, on average: they fit the cache.
pub(super) const PARTITION_ROWS: usize = 1 << 13;
/// Keys looked at for every partition, to find where it begins.
const SAMPLES: usize = 16;
/// Positions of the line whose random numbers come from one generator.
const DRAWN_AT_ONCE: usize = 1 << 10;

/// All rows in the order of the line, and the sensitive value of each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HilbertLine {
    pub rows: Vec<u32>,
    pub codes: Vec<u32>,
}

impl HilbertLine {
    /// Parts of these lengths, one after the other, each filled by itself.
    pub(super) fn filled(
        lengths: impl Iterator<Item = usize>,
        fill: impl Fn(usize, Segment<'_>) + Sync,
    ) -> HilbertLine {
        let lengths: Vec<usize> = lengths.collect();
        let count = lengths.iter().sum();
        let mut line = HilbertLine { rows: vec![0; count], codes: vec![0; count] };
        let (mut rows, mut codes) = (line.rows.as_mut_slice(), line.codes.as_mut_slice());
        let parts = lengths.iter().map(|&length| Segment {
            rows: rows.split_off_mut(..length).unwrap_or_default(),
            codes: codes.split_off_mut(..length).unwrap_or_default(),
        });
        parallel::map_items(parts.collect::<Vec<_>>(), fill);
        line
    }
}

/// Some of a line, to be filled.
#[derive(Debug)]
pub(super) struct Segment<'l> {
    rows: &'l mut [u32],
    codes: &'l mut [u32],
}

/// The space whose points are keys.
#[derive(Debug)]
pub struct Space {
    /// For every axis the place of each code.
    axes: Vec<Vec<u16>>,
    curve: Curve,
    /// The lowest bits of a distance along the curve that keys have no room for.
    surplus: u32,
    /// The lowest bits of a key, which are the sensitive value.
    pub(super) value_bits: u32,
}

impl Space {
    /// For a sensitive attribute with the given number of values.
    pub fn new(bound: &Bound<'_>, cardinality: usize) -> Space {
        let quasi = &bound.quasi[..bound.quasi.len().min(AXES_MAX)];
        let bits = (64 / quasi.len().max(1) as u32).min(BITS_MAX);
        let axes: Vec<Vec<u16>> =
            quasi.iter().zip(0..).map(|(quasi, index)| axis(quasi, bound.counts_of_quasi(index), bits)).collect();
        let needed = usize::BITS - cardinality.saturating_sub(1).leading_zeros();
        let value_bits = needed.max(64 - CURVE_BITS);
        let surplus = (axes.len() as u32 * bits).saturating_sub(64 - value_bits);
        Space { curve: Curve::new(axes.len(), bits), axes, surplus, value_bits }
    }

    /// The columns that keys are made of: those of the axes and, last, the sensitive one.
    pub fn columns<'c>(bound: &Bound<'c>, sensitive: &'c Codes) -> Vec<&'c Codes> {
        let axes = bound.quasi.iter().take(AXES_MAX).map(|quasi| &quasi.column.codes);
        axes.chain([sensitive]).collect()
    }

    /// The keys of some rows.
    pub(super) fn keys(&self, columns: &[&Codes], rows: Range<usize>) -> Vec<u64> {
        let mut keys = vec![0; rows.len()];
        self.put_keys(columns, rows, &mut keys);
        keys
    }

    fn put_keys(&self, columns: &[&Codes], rows: Range<usize>, keys: &mut [u64]) {
        let (axes, Some(sensitive)) = (self.axes.len(), columns.last()) else { return };
        let mut points = vec![[0u16; LANES]; axes * keys.len().div_ceil(LANES)];
        for (index, (codes, axis)) in columns.iter().zip(&self.axes).enumerate() {
            with_codes!(codes, codes => {
                let (codes, own) = (&codes[rows.clone()], points.get_mut(index..).unwrap_or_default());
                for (lanes, codes) in own.iter_mut().step_by(axes).zip(codes.chunks(LANES)) {
                    lanes.iter_mut().zip(codes).for_each(|(lane, &code)| *lane = axis[code as usize]);
                }
            });
        }
        for (index, keys) in keys.chunks_mut(LANES).enumerate() {
            let distances = self.curve.distances(&mut points[index * axes..(index + 1) * axes]);
            let distances = distances.iter().map(|distance| distance >> self.surplus << self.value_bits);
            keys.iter_mut().zip(distances).for_each(|(key, distance)| *key = distance);
        }
        with_codes!(sensitive, codes => {
            keys.iter_mut().zip(&codes[rows]).for_each(|(key, &code)| *key |= u64::from(code));
        });
    }

    /// Puts rows, which come by rising key, into the line from `first` on, in random order within
    /// each place. What is drawn for a position depends on nothing else.
    pub(super) fn mix(&self, mut entries: Vec<(u64, u32)>, first: usize, chance: &Chance, part: Segment<'_>) {
        let from = |window: usize| {
            let mut rng = chance.of("line", window);
            std::iter::repeat_with(move || rng.next_u64()).take(DRAWN_AT_ONCE)
        };
        let mut drawn = (first / DRAWN_AT_ONCE..).flat_map(from).skip(first % DRAWN_AT_ONCE);
        let in_one_place = |a: &(u64, u32), b: &(u64, u32)| a.0 >> self.value_bits == b.0 >> self.value_bits;
        for place in entries.chunk_by_mut(in_one_place) {
            for (last, random) in (0..place.len()).zip(&mut drawn) {
                place.swap(last, ((u128::from(random) * (last as u128 + 1)) >> 64) as usize);
            }
        }
        let value = |key: u64| (key & ((1 << self.value_bits) - 1)) as u32;
        for ((key, row), (own_row, own_code)) in entries.into_iter().zip(part.rows.iter_mut().zip(part.codes)) {
            (*own_row, *own_code) = (row, value(key));
        }
    }
}

/// All rows, given the columns that keys are made of: they are parted by what a sample says, and
/// every part is sorted by itself.
pub fn line(space: &Space, columns: &[&Codes], chance: &Chance) -> HilbertLine {
    let mut keys = vec![0u64; columns.last().map_or(0, |codes| codes.len())];
    parallel::map_items(keys.chunks_mut(CHUNK_ROWS), |chunk, keys| {
        let first = chunk * CHUNK_ROWS;
        space.put_keys(columns, first..first + keys.len(), keys);
    });
    in_order(space, keys, chance)
}

fn in_order(space: &Space, keys: Vec<u64>, chance: &Chance) -> HilbertLine {
    let partitions = keys.len().div_ceil(PARTITION_ROWS).max(1);
    let mut sample: Vec<u64> = keys.iter().copied().step_by((keys.len() / (partitions * SAMPLES)).max(1)).collect();
    sample.sort_unstable();
    // The rows of one place are in one partition.
    let bound =
        |partition: usize| sample[partition * sample.len() / partitions] >> space.value_bits << space.value_bits;
    let bounds: Vec<u64> = (1..partitions).map(bound).collect();
    let parted = parallel::map_ranges(keys.len(), CHUNK_ROWS, |range| part(&keys, range, &bounds));
    drop(keys);
    let before = |partition: usize| parted.iter().map(|(_, starts)| starts[partition] as usize).sum::<usize>();
    let lengths = (0..partitions).map(|partition| before(partition + 1) - before(partition));
    HilbertLine::filled(lengths, |partition, line| {
        let part = |(entries, starts): &'_ (Vec<(u64, u32)>, Vec<u32>)| {
            entries[starts[partition] as usize..starts[partition + 1] as usize].to_vec()
        };
        let mut entries: Vec<(u64, u32)> = parted.iter().flat_map(part).collect();
        entries.sort_unstable();
        space.mix(entries, before(partition), chance, line);
    })
}

/// Some rows with their keys, partition after partition, and where each begins.
fn part(keys: &[u64], rows: Range<usize>, bounds: &[u64]) -> (Vec<(u64, u32)>, Vec<u32>) {
    let mut starts = vec![0u32; bounds.len() + 2];
    let partitions: Vec<u32> = keys[rows.clone()]
        .iter()
        .map(|key| {
            let partition = bounds.partition_point(|bound| bound <= key);
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
        entries[*place as usize] = (keys[row], row as u32);
        *place += 1;
    }
    (entries, starts)
}

/// The place of every code of an attribute on the axis, in `bits` bits, from its number of rows.
fn axis(quasi: &Quasi<'_>, counts: &[u64], bits: u32) -> Vec<u16> {
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
#[derive(Debug)]
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
    use std::collections::BTreeMap;

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

    fn space(value_bits: u32) -> Space {
        Space { axes: Vec::new(), curve: Curve::new(0, 16), surplus: 0, value_bits }
    }

    /// Keys that recur, that are all alike, and that are too few to be parted: places come in
    /// order, each row once and with its own value.
    #[test]
    fn places_come_in_order() {
        let mut rng = StdRng::seed_from_u64(5);
        let chance = Chance::new(&mut rng);
        for (rows, distinct) in [(0, 1), (1, 1), (40_000, 1), (40_000, 3), (50_000, u64::MAX), (100, 7), (60_000, 900)]
        {
            for value_bits in [1, 3, 24] {
                let keys: Vec<u64> = (0..rows).map(|_| rng.random_range(0..distinct)).collect();
                let line = in_order(&space(value_bits), keys.clone(), &chance);
                let context = format!("{rows} rows, {distinct} keys, {value_bits} bits");
                let places: Vec<u64> = line.rows.iter().map(|&row| keys[row as usize] >> value_bits).collect();
                assert!(places.is_sorted(), "{context}");
                let value = |&row: &u32| (keys[row as usize] % (1 << value_bits)) as u32;
                assert_eq!(line.codes, line.rows.iter().map(value).collect::<Vec<u32>>(), "{context}");
                let mut all = line.rows;
                all.sort_unstable();
                assert_eq!(all, (0..rows as u32).collect::<Vec<u32>>(), "{context}");
            }
        }
    }

    /// Every order of four rows in one place comes equally often, wherever in the line it is.
    #[test]
    fn rows_of_one_place_stand_in_any_order() {
        let mut rng = StdRng::seed_from_u64(8);
        for first in [0, 5, DRAWN_AT_ONCE - 2, 3 * DRAWN_AT_ONCE] {
            let mut orders: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
            for _ in 0..24_000 {
                let entries = vec![(7 << 2, 0), (7 << 2, 1), (7 << 2 | 1, 2), (7 << 2 | 3, 3), (8 << 2, 4)];
                let chance = Chance::new(&mut rng);
                let line =
                    HilbertLine::filled([5].into_iter(), |_, part| space(2).mix(entries.clone(), first, &chance, part));
                assert_eq!(line.rows[4], 4);
                *orders.entry(line.rows).or_default() += 1;
            }
            // A thousand of each are expected; the standard deviation is 31.
            assert!(orders.len() == 24 && orders.values().all(|times| (850..1150).contains(times)), "{orders:?}");
        }
    }
}
