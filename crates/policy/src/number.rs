//! Numbers in a policy, kept exactly as they are written: `0.3` is three tenths, and a number with more digits than
//! can be kept is refused rather than rounded.

use hedgerow_table::Ratio;

use crate::position::quoted;
use crate::reader::{Field, Reader};
use crate::tree::Data;

/// What a number may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    /// As it completes "must be a number …".
    says: &'static str,
    low: u64,
    low_excluded: bool,
    high: Option<u64>,
}

pub(crate) const ABOVE_ZERO: Range = Range { says: "above 0", low: 0, low_excluded: true, high: None };
pub(crate) const AT_LEAST_ZERO: Range = Range { says: "of at least 0", low: 0, low_excluded: false, high: None };
pub(crate) const AT_LEAST_ONE: Range = Range { says: "of at least 1", low: 1, low_excluded: false, high: None };
pub(crate) const SHARE: Range = Range { says: "from 0 to 1", low: 0, low_excluded: false, high: Some(1) };
pub(crate) const SHARE_ABOVE_ZERO: Range =
    Range { says: "above 0 and at most 1", low: 0, low_excluded: true, high: Some(1) };

impl Range {
    fn holds(self, value: Ratio) -> bool {
        let (n, d) = (u128::from(value.numerator), u128::from(value.denominator));
        let low = u128::from(self.low) * d;
        (if self.low_excluded { n > low } else { n >= low }) && self.high.is_none_or(|high| n <= u128::from(high) * d)
    }
}

impl Reader<'_> {
    /// A whole number from `low` to `high`.
    pub(crate) fn whole(&mut self, field: Field<'_>, low: u64, high: u64) -> Option<u64> {
        match field.node.data {
            Data::Integer(number) => {
                if let Some(number) = u64::try_from(number).ok().filter(|number| (low..=high).contains(number)) {
                    return Some(number);
                }
            }
            Data::Float => {}
            _ => {
                self.wrong_type(field, "a whole number");
                return None;
            }
        }
        let found = self.written(field.node);
        let range = if high == u64::MAX { format!("of at least {low}") } else { format!("from {low} to {high}") };
        self.refuse(&field.node.at, format!("must be a whole number {range}, found {found}"), field.hint());
        None
    }

    /// A number in the range, exactly.
    pub(crate) fn ratio(&mut self, field: Field<'_>, range: Range) -> Option<Ratio> {
        let parsed = match field.node.data {
            Data::Integer(number) => u64::try_from(number).map(Ratio::integer).map_err(|_| Inexact::OutOfRange),
            Data::Float => exact(self.text_of(field.node)),
            _ => {
                self.wrong_type(field, "a number");
                return None;
            }
        };
        // A manifest tells the number as a float prints it, and a reader must find the same one there.
        let parsed = parsed.and_then(|value| match Ratio::from_decimal(value.as_f64()) {
            Some(told) if told == value => Ok(value),
            _ => Err(Inexact::TooManyDigits),
        });
        match parsed {
            Ok(value) if range.holds(value) => return Some(value),
            Ok(_) | Err(Inexact::OutOfRange) => {
                let problem = format!("must be a number {}, found {}", range.says, self.written(field.node));
                self.refuse(&field.node.at, problem, field.hint());
            }
            Err(Inexact::TooManyDigits) => {
                let problem = format!("has more digits than can be kept exactly: {}", self.written(field.node));
                self.refuse(
                    &field.node.at,
                    problem,
                    "15 digits are always possible, 18 at most; round it to the safe side",
                );
            }
        }
        None
    }

    fn written(&self, node: &crate::tree::Node) -> String {
        quoted(self.text_of(node))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inexact {
    /// Negative, infinite, or not a number.
    OutOfRange,
    TooManyDigits,
}

/// A TOML float's text as a fraction in lowest terms.
pub(crate) fn exact(text: &str) -> Result<Ratio, Inexact> {
    const DIGITS_MAX: i64 = 18;
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
    // An exponent too long for an integer asks for far more than eighteen digits either way.
    let exponent: i64 = exponent.parse::<i32>().map_err(|_| Inexact::TooManyDigits)?.into();
    let decimals = fraction.len() as i64 - exponent;
    if significant.len() as i64 > DIGITS_MAX || decimals > DIGITS_MAX {
        return Err(Inexact::TooManyDigits);
    }
    let number: u64 = significant.parse().map_err(|_| Inexact::TooManyDigits)?;
    if decimals <= 0 {
        if significant.len() as i64 - decimals > DIGITS_MAX {
            return Err(Inexact::TooManyDigits);
        }
        return Ok(Ratio::integer(number * 10u64.pow(decimals.unsigned_abs() as u32)));
    }
    let denominator = 10u64.pow(decimals as u32);
    let divisor = common_divisor(number, denominator);
    Ok(Ratio { numerator: number / divisor, denominator: denominator / divisor })
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_the_fraction_its_text_says() {
        let ratio = |numerator, denominator| Ok(Ratio { numerator, denominator });
        assert_eq!(exact("0.30"), ratio(3, 10));
        assert_eq!(exact("+1_0.5"), ratio(21, 2));
        assert_eq!(exact("2e-2"), ratio(1, 50));
        assert_eq!(exact("2.50E1"), ratio(25, 1));
        assert_eq!(exact("1e17"), ratio(100_000_000_000_000_000, 1));
        assert_eq!(exact("0.123456789012345678"), ratio(61_728_394_506_172_839, 500_000_000_000_000_000));
        assert_eq!(exact("-0.0"), ratio(0, 1));
        assert_eq!(exact("0e999999999999"), ratio(0, 1));
        assert_eq!(exact("1.5000000000000000000000000"), ratio(3, 2));
    }

    #[test]
    fn what_cannot_be_kept_is_told_apart_from_what_is_out_of_range() {
        for text in ["nan", "inf", "-inf", "+nan", "-1.5", "-1e-9", "", "."] {
            assert_eq!(exact(text), Err(Inexact::OutOfRange), "{text}");
        }
        for text in ["1e30", "1e-30", "0.1234567890123456789", "1e99999999999999", "1e-99999999999999", "12345678901e9"]
        {
            assert_eq!(exact(text), Err(Inexact::TooManyDigits), "{text}");
        }
    }

    #[test]
    fn it_agrees_with_the_decimal_a_float_prints_as() {
        for text in ["0.02", "0.07", "0.333", "1.0", "123.456", "1e-9", "0.1", "99999.5"] {
            assert_eq!(exact(text).ok(), Ratio::from_decimal(text.parse().unwrap()), "{text}");
        }
    }
}
