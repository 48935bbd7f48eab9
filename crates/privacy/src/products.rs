//! Products of large integers, compared exactly: shares of large tables are compared with limits
//! of many decimals, and a product of the two may not fit 128 bits.

/// Whether a·b ≤ c·d.
pub(crate) fn is_at_most((a, b): (u128, u128), (c, d): (u128, u128)) -> bool {
    match (a.checked_mul(b), c.checked_mul(d)) {
        (Some(left), Some(right)) => left <= right,
        _ => product(a, b) <= product(c, d),
    }
}

/// The full product, high half first: by halves, as on paper.
pub(crate) fn product(a: u128, b: u128) -> (u128, u128) {
    const LOW: u128 = u64::MAX as u128;
    let (a_high, a_low, b_high, b_low) = (a >> 64, a & LOW, b >> 64, b & LOW);
    let low = a_low * b_low;
    let middle = a_high * b_low + (low >> 64);
    let other = a_low * b_high + (middle & LOW);
    (a_high * b_high + (middle >> 64) + (other >> 64), (other << 64) | (low & LOW))
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;

    /// Bit by bit, by doubling and adding.
    fn doubled(a: u128, b: u128) -> (u128, u128) {
        (0..128).rev().fold((0, 0), |(high, low), bit| {
            let (high, low) = (high << 1 | low >> 127, low << 1);
            let (sum, carries) = low.overflowing_add(if b >> bit & 1 == 1 { a } else { 0 });
            (high + u128::from(carries), sum)
        })
    }

    #[test]
    fn products_are_those_of_doubling_and_adding() {
        let mut rng = StdRng::seed_from_u64(7);
        let mut drawn = || rng.random::<u128>() >> rng.random_range(0..128);
        for _ in 0..10_000 {
            let (a, b) = (drawn(), drawn());
            assert_eq!(product(a, b), doubled(a, b), "{a} · {b}");
        }
        assert_eq!(product(u128::MAX, u128::MAX), (u128::MAX - 1, 1));
    }

    #[test]
    fn products_beyond_128_bits_that_differ_by_one_are_not_equal() {
        let large = u128::MAX;
        assert!(is_at_most((large, 3), (3, large)));
        assert!(!is_at_most((large, 3), (large - 1, 3)));
        assert!(is_at_most((large - 1, 3), (large, 3)));
        assert!(is_at_most((5, 7), (large, 2)));
        assert!(!is_at_most((large, 2), (5, 7)));
    }
}
