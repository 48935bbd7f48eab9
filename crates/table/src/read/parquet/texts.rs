//! How a value of Parquet is written as text: exactly, and as a CSV file would have it.

pub(super) use crate::date::moment;

/// The bytes of the widest decimals of other programs: 76 digits.
pub(super) const DECIMAL_BYTES_MAX: usize = 32;

/// A whole number in two's complement, highest byte first, of which the last `scale` digits are
/// decimals.
pub(super) fn decimal(bytes: &[u8], scale: usize) -> String {
    let negative = bytes.first().is_some_and(|&byte| byte >= 0x80);
    let mut magnitude = bytes.to_vec();
    if negative {
        magnitude.iter_mut().for_each(|byte| *byte = !*byte);
        for byte in magnitude.iter_mut().rev() {
            *byte = byte.wrapping_add(1);
            if *byte != 0 {
                break;
            }
        }
    }
    let mut digits = digits_of(magnitude);
    if digits.len() <= scale {
        digits.insert_str(0, &"0".repeat(scale + 1 - digits.len()));
    }
    if scale > 0 {
        digits.insert(digits.len() - scale, '.');
    }
    if negative {
        digits.insert(0, '-');
    }
    digits
}

/// The decimal digits of a number given by its bytes, highest first, without leading zeros.
fn digits_of(mut number: Vec<u8>) -> String {
    let mut digits = Vec::new();
    while number.iter().any(|&byte| byte != 0) {
        let mut rest = 0u32;
        for byte in &mut number {
            let value = rest << 8 | u32::from(*byte);
            // A remainder of at most 9 in front keeps the quotient within a byte.
            *byte = (value / 10) as u8;
            rest = value % 10;
        }
        digits.push(char::from(b'0' + rest as u8));
    }
    digits.iter().rev().collect()
}

/// A float of sixteen bits: one sign, five of exponent, ten of fraction.
pub(super) fn half(bits: u16) -> f32 {
    let fraction = f32::from(bits & 0x3ff);
    let magnitude = match (bits >> 10) & 0x1f {
        0 => fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        exponent => (1024.0 + fraction) * 2f32.powi(i32::from(exponent) - 25),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_keep_every_digit() {
        assert_eq!(decimal(&1234i32.to_be_bytes(), 2), "12.34");
        assert_eq!(decimal(&(-5i64).to_be_bytes(), 2), "-0.05");
        assert_eq!(decimal(&0i32.to_be_bytes(), 0), "0");
        assert_eq!(decimal(&0i32.to_be_bytes(), 3), "0.000");
        assert_eq!(decimal(&[], 1), "0.0");
        assert_eq!(decimal(&[0x80], 0), "-128");
        for number in [i128::MIN, i128::MAX, -1, 1, 10, -1_000_000] {
            assert_eq!(decimal(&number.to_be_bytes(), 0), number.to_string());
        }
        let mut wide = [0; DECIMAL_BYTES_MAX];
        wide[15] = 1;
        assert_eq!(decimal(&wide, 0), "340282366920938463463374607431768211456");
    }

    #[test]
    fn halves_are_what_they_stand_for() {
        for (bits, value) in [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0001, 2f32.powi(-24)),
            (0x3555, 0.333_251_95),
            (0, 0.0),
        ] {
            assert_eq!(half(bits), value);
        }
        assert!(half(0x7c00).is_infinite() && half(0x7e00).is_nan());
    }
}
