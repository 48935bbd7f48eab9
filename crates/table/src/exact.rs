//! Thresholds without rounding. A parameter such as `t = 0.3` means three tenths, not the binary
//! float next to it.

use std::fmt;

/// A non-negative fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ratio {
    pub numerator: u64,
    pub denominator: u64,
}

impl Ratio {
    pub const ZERO: Ratio = Ratio { numerator: 0, denominator: 1 };

    pub fn integer(value: u64) -> Ratio {
        Ratio { numerator: value, denominator: 1 }
    }

    /// The decimal that a float prints as. `None` for negative, infinite or NaN, and for decimals
    /// that need more than 18 digits.
    pub fn from_decimal(value: f64) -> Option<Ratio> {
        Ratio::parse(&value.to_string()).ok()
    }

    /// The fraction in lowest terms that a number's text means: `0.30`, `+1_0.5`, `2e-2`.
    pub fn parse(text: &str) -> Result<Ratio, Inexact> {
        let text: String = text.trim().chars().filter(|&c| c != '_').collect();
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(&text)),
        };
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let fraction = fraction.trim_end_matches('0');
        let digits = format!("{whole}{fraction}");
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(Inexact::OutOfRange);
        }
        let significant = digits.trim_start_matches('0');
        if significant.is_empty() {
            return Ok(Ratio::ZERO);
        }
        if negative {
            return Err(Inexact::OutOfRange);
        }
        // An exponent too long for an integer needs far more than eighteen digits either way.
        let exponent: i64 = exponent.parse::<i32>().map_err(|_| Inexact::TooManyDigits)?.into();
        scaled(significant, fraction.len() as i64 - exponent)
    }

    pub fn as_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// The whole part of `self · amount`.
    pub fn floor_of(self, amount: u64) -> u64 {
        (u128::from(self.numerator) * u128::from(amount) / u128::from(self.denominator)) as u64
    }

    /// How many whole times the fraction, which must not be 0, goes into an amount.
    pub fn times_in(self, amount: u64) -> u64 {
        (u128::from(self.denominator) * u128::from(amount) / u128::from(self.numerator)) as u64
    }

    /// The smallest integer not below the fraction.
    pub fn ceil(self) -> u64 {
        self.numerator.div_ceil(self.denominator)
    }

    /// `self · right ≤ left`, exactly.
    pub fn times_at_most(self, right: u64, left: u64) -> bool {
        u128::from(self.numerator) * u128::from(right) <= u128::from(self.denominator) * u128::from(left)
    }

    pub fn is_below(self, other: Ratio) -> bool {
        u128::from(self.numerator) * u128::from(other.denominator)
            < u128::from(other.numerator) * u128::from(self.denominator)
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.as_f64())
    }
}

/// Why a text is not a [`Ratio`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inexact {
    /// Negative, infinite, or not a number.
    OutOfRange,
    TooManyDigits,
}

/// The number with these digits, the last `decimals` of them behind the point.
fn scaled(significant: &str, decimals: i64) -> Result<Ratio, Inexact> {
    const DIGITS_MAX: i64 = 18;
    let digits = significant.len() as i64;
    if digits > DIGITS_MAX || decimals > DIGITS_MAX || digits - decimals.min(0) > DIGITS_MAX {
        return Err(Inexact::TooManyDigits);
    }
    let number: u64 = significant.parse().map_err(|_| Inexact::TooManyDigits)?;
    if decimals <= 0 {
        return Ok(Ratio::integer(number * 10u64.pow(decimals.unsigned_abs() as u32)));
    }
    let denominator = 10u64.pow(decimals as u32);
    let divisor = gcd(number, denominator);
    Ok(Ratio { numerator: number / divisor, denominator: denominator / divisor })
}

/// The greatest common divisor; of 0 and a number, that number.
pub fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimal_is_the_fraction_it_prints_as() {
        assert_eq!(Ratio::from_decimal(0.3), Some(Ratio { numerator: 3, denominator: 10 }));
        assert_eq!(Ratio::from_decimal(2.0), Some(Ratio::integer(2)));
        assert_eq!(Ratio::from_decimal(0.0), Some(Ratio::ZERO));
        assert_eq!(Ratio::from_decimal(1e-9), Some(Ratio { numerator: 1, denominator: 1_000_000_000 }));
        let decimals = Ratio::from_decimal(0.001_234_567_890_123_456).expect("18 decimals");
        assert_eq!(decimals.as_f64(), 0.001_234_567_890_123_456);
        for value in [-1.0, f64::NAN, f64::INFINITY, 1e300, 0.1 + 0.2 + 1e-17, 1e-30] {
            let accepted = Ratio::from_decimal(value);
            assert!(accepted.is_none() || accepted.unwrap().as_f64() == value, "{value}");
        }
    }

    #[test]
    fn shares_of_rows_are_exact() {
        let two_percent = Ratio::from_decimal(0.02).unwrap();
        assert_eq!(two_percent.floor_of(50), 1, "in floats 0.02 * 50 is just 1, and 0.07 * 100 is above 7");
        assert_eq!(Ratio::from_decimal(0.07).unwrap().floor_of(100), 7);
        assert!(Ratio::from_decimal(2.5).unwrap().times_at_most(2, 5));
        assert!(!Ratio::from_decimal(2.5).unwrap().times_at_most(3, 7));
        assert_eq!(Ratio::from_decimal(2.5).unwrap().ceil(), 3);
        assert_eq!((4..6).map(|rows| Ratio::from_decimal(2.5).unwrap().times_in(rows)).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn a_number_is_the_fraction_its_text_says() {
        let ratio = |numerator, denominator| Ok(Ratio { numerator, denominator });
        assert_eq!(Ratio::parse("0.30"), ratio(3, 10));
        assert_eq!(Ratio::parse("+1_0.5"), ratio(21, 2));
        assert_eq!(Ratio::parse("2e-2"), ratio(1, 50));
        assert_eq!(Ratio::parse("2.50E1"), ratio(25, 1));
        assert_eq!(Ratio::parse("1e17"), ratio(100_000_000_000_000_000, 1));
        assert_eq!(Ratio::parse("0.123456789012345678"), ratio(61_728_394_506_172_839, 500_000_000_000_000_000));
        assert_eq!(Ratio::parse("-0.0"), ratio(0, 1));
        assert_eq!(Ratio::parse("0e999999999999"), ratio(0, 1));
        assert_eq!(Ratio::parse("1.5000000000000000000000000"), ratio(3, 2));
    }

    #[test]
    fn too_many_digits_and_out_of_range_are_different_refusals() {
        for text in ["nan", "inf", "-inf", "+nan", "-1.5", "-1e-9", "", "."] {
            assert_eq!(Ratio::parse(text), Err(Inexact::OutOfRange), "{text}");
        }
        for text in ["1e30", "1e-30", "0.1234567890123456789", "1e99999999999999", "1e-99999999999999", "12345678901e9"]
        {
            assert_eq!(Ratio::parse(text), Err(Inexact::TooManyDigits), "{text}");
        }
    }

    #[test]
    fn it_agrees_with_the_decimal_a_float_prints_as() {
        for text in ["0.02", "0.07", "0.333", "1.0", "123.456", "1e-9", "0.1", "99999.5"] {
            assert_eq!(Ratio::parse(text).ok(), Ratio::from_decimal(text.parse().unwrap()), "{text}");
        }
    }
}
