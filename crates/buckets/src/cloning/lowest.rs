//! The tuples with the lowest keys, first: on numbers that hold key and tuple, which are compared
//! without looking anything up.

/// Puts the tuples with the `size` lowest keys in front, the lower of equals by their number.
pub(super) fn lowest_first(tuples: &mut [u32], size: usize, keys: &mut Vec<u64>, key: impl Fn(u32) -> u32) {
    if size == 0 || size >= tuples.len() {
        return;
    }
    keys.clear();
    keys.extend(tuples.iter().map(|&tuple| u64::from(key(tuple)) << 32 | u64::from(tuple)));
    keys.select_nth_unstable(size);
    for (tuple, key) in tuples.iter_mut().zip(keys.iter()) {
        *tuple = *key as u32;
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;

    #[test]
    fn lowest_agrees_with_sorting() {
        let mut keys = Vec::new();
        for seed in 0..500 {
            let mut rng = StdRng::seed_from_u64(seed);
            let of: Vec<u32> = (0..60).map(|_| rng.random_range(0..8)).collect();
            let mut tuples: Vec<u32> = (0..60).filter(|_| rng.random_bool(0.5)).collect();
            let size = rng.random_range(0..=tuples.len());
            let mut sorted = tuples.clone();
            sorted.sort_by_key(|&tuple| (of[tuple as usize], tuple));
            lowest_first(&mut tuples, size, &mut keys, |tuple| of[tuple as usize]);
            tuples[..size].sort_unstable();
            sorted[..size].sort_unstable();
            assert_eq!(tuples[..size], sorted[..size], "seed {seed}");
            tuples.sort_unstable();
            sorted.sort_unstable();
            assert_eq!(tuples, sorted, "seed {seed}: all are still there");
        }
    }
}
