//! Logarithms of counts, many of them: by a table of mantissas and two terms of a series, right to
//! about fourteen digits.

use std::sync::LazyLock;

const BITS: u32 = 11;

/// log2 of 1 + i/2^BITS.
static MANTISSAS: LazyLock<Vec<f64>> =
    LazyLock::new(|| (0..1u32 << BITS).map(|part| (1.0 + f64::from(part) / f64::from(1u32 << BITS)).log2()).collect());

/// 0 for 0 and 1.
#[inline]
pub fn log2(count: u64) -> f64 {
    if count < 2 {
        return 0.0;
    }
    let bits = (count as f64).to_bits();
    let exponent = (bits >> 52) as f64 - 1023.0;
    let part = (bits >> (52 - BITS)) as usize & ((1 << BITS) - 1);
    let mantissa = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
    let base = 1.0 + part as f64 / f64::from(1u32 << BITS);
    let rest = (mantissa - base) / base;
    let series = rest * (1.0 - rest * (0.5 - rest * (1.0 / 3.0)));
    exponent + MANTISSAS[part] + series * std::f64::consts::LOG2_E
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_of_counts() {
        for count in (1..5000).chain([30_162, 1_000_000, 123_456_789, u64::from(u32::MAX), 1 << 40]) {
            assert!((log2(count) - (count as f64).log2()).abs() < 1e-12, "{count}");
        }
        assert_eq!(log2(0), 0.0);
    }
}
