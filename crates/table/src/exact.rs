//! Thresholds without rounding. A parameter such as `t = 0.3` means three tenths, not the binary float next to it.

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

    /// The decimal that a float prints as. `None` for negative, infinite or NaN, and for decimals that need more than
    /// 18 digits.
    pub fn from_decimal(value: f64) -> Option<Ratio> {
        if !value.is_finite() || value < 0.0 {
            return None;
        }
        let text = value.to_string();
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let whole = if fraction.is_empty() { whole } else { whole.trim_start_matches('0') };
        if whole.len() + fraction.len() > 18 {
            return None;
        }
        let numerator: u64 = format!("{whole}{fraction}").parse().ok()?;
        let denominator = 10u64.pow(fraction.len() as u32);
        let divisor = gcd(numerator, denominator).max(1);
        Some(Ratio { numerator: numerator / divisor, denominator: denominator / divisor })
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
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.as_f64())
    }
}

fn gcd(a: u64, b: u64) -> u64 {
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
}
