//! The statistics of numbers and dates in a sub-class: three rows that belong together, and what
//! follows of them without the values.

use hedgerow_table::Bound;
use hedgerow_table::date::Date;

use super::{OfAttribute, OfNumber, Statistic};

/// The rows of one attribute of a sub-class, each a number and how many tuples it is about.
#[derive(Debug, Default)]
pub(super) struct NumberRows {
    mean: Option<(Bound, u64)>,
    low: Option<(Bound, u64)>,
    high: Option<(Bound, u64)>,
}

impl NumberRows {
    /// `None` where it is stated already.
    pub(super) fn enter(&mut self, statistic: Statistic, row: (Bound, u64)) -> Option<()> {
        let place = match statistic {
            Statistic::Mean => &mut self.mean,
            Statistic::Low => &mut self.low,
            Statistic::High => &mut self.high,
            _ => return None,
        };
        place.replace(row).is_none().then_some(())
    }

    /// `None` where one is absent, or both ends are not about the same tuples.
    pub(super) fn number(&self) -> Option<OfNumber> {
        let ((mean, count), (low, covered), (high, also)) = (self.mean?, self.low?, self.high?);
        let covers = covered == also && covered > 0;
        covers.then_some(OfNumber { mean, count, low, high, covered })
    }
}

/// The values of an attribute in a sub-class, by how they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    Texts,
    Integers,
    Reals,
    Dates,
}

impl OfAttribute {
    /// `None` where all values are missing.
    pub(super) fn kind(&self) -> Option<Written> {
        match self.number {
            Some(number) => Some(number.kind()),
            None => (!self.categories.is_empty()).then_some(Written::Texts),
        }
    }
}

/// Beyond these, floats are not exact.
const EXACT_MAX: u64 = 1 << 53;

impl OfNumber {
    /// The ends of a range of integers are whole, and those of reals have a point.
    fn kind(&self) -> Written {
        match self.low {
            Bound::Date(_) => Written::Dates,
            Bound::Integer(_) => Written::Integers,
            Bound::Float(_) => Written::Reals,
        }
    }

    /// Whether the range extends equally far to both sides, but for rounding: ends outward to whole
    /// numbers and days, or to a tenth of the range; a mean to a hundredth, a day or such a tenth.
    /// Where an end is the last that can be written, the range stops there.
    pub(super) fn is_around_its_mean(&self) -> bool {
        match (self.mean, self.low, self.high) {
            (Bound::Date(mean), Bound::Date(low), Bound::Date(high)) => {
                let stops = low == Date::FIRST || high == Date::LAST;
                let off = 2 * i64::from(mean.0) - i64::from(low.0) - i64::from(high.0);
                stops || off.abs() <= 3
            }
            (Bound::Integer(mean), Bound::Integer(low), Bound::Integer(high)) => {
                let stops = low == i64::MIN || high == i64::MAX;
                let off = 2 * i128::from(mean) - i128::from(low) - i128::from(high);
                stops || off.abs() <= 3
            }
            (Bound::Float(mean), Bound::Integer(low), Bound::Integer(high)) => {
                (2.0 * mean - low as f64 - high as f64).abs() <= 2.1
                    || low.unsigned_abs().max(high.unsigned_abs()) > EXACT_MAX
            }
            (mean, Bound::Float(low), Bound::Float(high)) => {
                let mean = match mean {
                    Bound::Float(mean) => mean,
                    Bound::Integer(mean) => mean as f64,
                    Bound::Date(_) => return false,
                };
                let size = (high - low).max(mean.abs() * 1e-6);
                (2.0 * mean - low - high).abs() <= 0.25 * size
            }
            _ => false,
        }
    }

    /// Whether some whole numbers, as many as there are, have this mean to a hundredth.
    pub(super) fn has_a_possible_mean(&self) -> bool {
        let (Bound::Float(mean), Bound::Integer(_)) = (self.mean, self.low) else { return self.count > 0 };
        let count = self.count as f64;
        let sum = (mean * count).round();
        self.count > 0 && (mean.abs() > EXACT_MAX as f64 || (sum / count - mean).abs() <= 0.005 + 1e-6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(mean: &str, low: &str, high: &str, count: u64) -> OfNumber {
        let [mean, low, high] = [mean, low, high].map(|text| Bound::parse(text).unwrap());
        OfNumber { mean, count, low, high, covered: 1 }
    }

    #[test]
    fn ranges_lie_around_their_means() {
        // As the publisher writes them, by hand.
        for (mean, low, high) in [
            ("15", "10", "20"),
            ("21", "20", "22"),
            ("1.5", "1", "2"),
            ("2024-02-29", "2024-02-28", "2024-03-01"),
            ("1.29", "1.08", "1.51"),
            ("2.5000000", "2.5000000", "2.5000000"),
            ("7999-12-31", "2000-01-01", "9999-12-31"),
            ("0", "-9223372036854775808", "9223372036854775807"),
        ] {
            assert!(number(mean, low, high, 3).is_around_its_mean(), "{mean}");
        }
        for (mean, low, high) in [
            ("15", "5", "20"),
            ("15", "14", "24"),
            ("1.5", "-7", "2"),
            ("2024-02-29", "2023-02-28", "2024-03-01"),
            ("1.29", "0.08", "1.51"),
            ("15", "2024-02-28", "2024-03-01"),
            ("15", "1.5", "20"),
        ] {
            assert!(!number(mean, low, high, 3).is_around_its_mean(), "{mean}");
        }
    }

    /// Against every sum of a few whole numbers.
    #[test]
    fn means_of_whole_numbers_are_possible() {
        for count in 1..=9u64 {
            let means: Vec<f64> =
                (-40..=40).map(|sum: i32| (f64::from(sum) / count as f64 * 100.0).round() / 100.0).collect();
            for hundredths in -300..=300 {
                let mean = f64::from(hundredths) / 100.0;
                let expected = means.iter().any(|possible| (possible - mean).abs() < 1e-9);
                let found =
                    OfNumber { mean: Bound::Float(mean), ..number("0.5", "-9", "9", count) }.has_a_possible_mean();
                // Half a hundredth may have been rounded either way.
                let off = |sum: i32| (f64::from(sum) / count as f64 - mean).abs();
                let is_tie = (-40..=40).any(|sum| (off(sum) - 0.005).abs() < 1e-9);
                assert!(found == expected || is_tie || mean.abs() * count as f64 > 40.0, "{mean} of {count}");
            }
        }
    }
}
