//! Rows in a line on which neighbours are alike: along Hilbert's curve through the space of the quasi attributes (Hilbert 1891;
//! the turning of axes as in Skilling: *Programming the Hilbert curve*, 2004).
//!
//! Each attribute is an axis. Its values stand in their order, categories first by what their hierarchy puts together, and
//! take room by how many rows carry them, so that every part of an axis weighs the same. Rows in one place of the
//! space stand in random order: the source's order must leave no trace in who shares a bucket.

use hedgerow_table::{parallel, with_codes};
use rand::RngExt;
use rayon::prelude::*;

use super::chance::Chance;
use crate::bind::Quasi;

/// Axes beyond these add less than two bits each and are left to chance.
const AXES_MAX: usize = 32;
/// Finer than this an axis distinguishes rows that no bucket could.
const BITS_MAX: u32 = 16;
/// Rows whose places are computed together.
const CHUNK_ROWS: usize = 1 << 14;

/// All rows, in the order of the line.
pub fn line(quasi: &[Quasi<'_>], rows: usize, chance: &Chance) -> Vec<u32> {
    let quasi = &quasi[..quasi.len().min(AXES_MAX)];
    let bits = (64 / quasi.len().max(1) as u32).min(BITS_MAX);
    let axes: Vec<Vec<u32>> = quasi.iter().map(|quasi| axis(quasi, bits)).collect();
    let mut places = vec![(0u64, 0u32, 0u32); rows];
    parallel::map_items(places.chunks_mut(CHUNK_ROWS), |chunk, places| {
        let first = chunk * CHUNK_ROWS;
        let mut point = vec![0u32; axes.len()];
        let mut points = vec![0u32; axes.len() * places.len()];
        for (index, (quasi, axis)) in quasi.iter().zip(&axes).enumerate() {
            with_codes!(&quasi.column.codes, codes => {
                let codes = &codes[first..first + places.len()];
                for (place, &code) in points[index..].iter_mut().step_by(axes.len()).zip(codes) {
                    *place = axis[code as usize];
                }
            });
        }
        let mut rng = chance.of("line", chunk);
        for (index, place) in places.iter_mut().enumerate() {
            point.copy_from_slice(&points[index * axes.len()..(index + 1) * axes.len()]);
            *place = (along_curve(&mut point, bits), rng.random(), (first + index) as u32);
        }
    });
    places.par_sort_unstable();
    places.into_iter().map(|(_, _, row)| row).collect()
}

/// For every code of an attribute its place on the axis, in `bits` bits.
fn axis(quasi: &Quasi<'_>, bits: u32) -> Vec<u32> {
    let counts = quasi.column.counts();
    let levels = quasi.hierarchy.levels();
    let mut order: Vec<usize> = (0..counts.len()).collect();
    // Labels are numbered by the first value under each, so this keeps the order of numbers as it is.
    order.sort_by_cached_key(|&code| levels.iter().rev().map(|level| level.map[code]).collect::<Vec<u32>>());
    let rows: u64 = counts.iter().sum::<u64>().max(1);
    let mut before = 0u64;
    let mut axis = vec![0u32; counts.len()];
    for code in order {
        // The middle of the value's rows.
        let middle = u128::from(2 * before + counts[code]) << bits;
        axis[code] = (middle / u128::from(2 * rows)).min((1 << bits) - 1) as u32;
        before += counts[code];
    }
    axis
}

/// How far along Hilbert's curve a point lies; each coordinate has `bits` bits, and all together at most 64. The point is
/// used up.
fn along_curve(point: &mut [u32], bits: u32) -> u64 {
    let Some(last) = point.len().checked_sub(1) else { return 0 };
    // From the coarsest cells down: the cell's corner decides how the finer curve inside is turned and mirrored.
    for level in (1..bits).rev() {
        let below = (1u32 << level) - 1;
        for axis in 0..point.len() {
            if point[axis] >> level & 1 == 1 {
                point[0] ^= below;
            } else {
                let differing = (point[0] ^ point[axis]) & below;
                point[0] ^= differing;
                point[axis] ^= differing;
            }
        }
    }
    // Gray's code in the order of the axes, carried from level to level.
    for axis in 1..=last {
        point[axis] ^= point[axis - 1];
    }
    let mut mirrored = 0u32;
    for level in (1..bits).rev() {
        if point[last] >> level & 1 == 1 {
            mirrored ^= (1 << level) - 1;
        }
    }
    let mut distance = 0u64;
    for level in (0..bits).rev() {
        for coordinate in point.iter() {
            distance = distance << 1 | u64::from((coordinate ^ mirrored) >> level & 1);
        }
    }
    distance
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The curve visits every cell once, and each step leads to a neighbouring cell.
    #[test]
    fn every_step_of_the_curve_is_one_cell_long() {
        for (axes, bits) in [(1, 6), (2, 1), (2, 5), (3, 3), (4, 2), (5, 2), (7, 1)] {
            let cells = 1usize << (axes * bits);
            let mut visited: Vec<Option<Vec<u32>>> = vec![None; cells];
            for cell in 0..cells {
                let point: Vec<u32> =
                    (0..axes).map(|axis| (cell >> (axis * bits)) as u32 & ((1 << bits) - 1)).collect();
                let distance = along_curve(&mut point.clone(), bits as u32) as usize;
                assert!(visited[distance].replace(point).is_none(), "{axes} axes of {bits} bits: {distance} twice");
            }
            for pair in visited.windows(2) {
                let (here, next) = (pair[0].as_ref().unwrap(), pair[1].as_ref().unwrap());
                let step: u32 = here.iter().zip(next).map(|(a, b)| a.abs_diff(*b)).sum();
                assert_eq!(step, 1, "{axes} axes of {bits} bits: {here:?} to {next:?}");
            }
        }
        assert_eq!(along_curve(&mut [], 16), 0);
    }
}
