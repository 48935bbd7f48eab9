//! Which numbers of a query are integers, and how these are divided: without the fraction, toward
//! zero, as SQLite and PostgreSQL do. Nothing divided by zero is a number.

use hedgerow_table::Kind;

use super::amount::Range;

/// The type of a number in SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberType {
    Integer,
    Real,
    /// Of a CASE of both: each row has its own.
    Mixed,
}

impl NumberType {
    pub(super) fn of(kind: Kind) -> NumberType {
        if kind == Kind::Integer { NumberType::Integer } else { NumberType::Real }
    }

    /// Of a number as it is written.
    pub(super) fn of_literal(text: &str) -> NumberType {
        if text.parse::<i64>().is_ok() { NumberType::Integer } else { NumberType::Real }
    }

    /// Of two that are added, subtracted, multiplied or divided.
    pub(super) fn combined(self, with: NumberType) -> NumberType {
        match (self, with) {
            (NumberType::Integer, NumberType::Integer) => NumberType::Integer,
            (NumberType::Real, _) | (_, NumberType::Real) => NumberType::Real,
            _ => NumberType::Mixed,
        }
    }

    /// Of a number that is one or the other.
    pub(super) fn or(self, other: NumberType) -> NumberType {
        if self == other { self } else { NumberType::Mixed }
    }
}

/// From here on not every integer is a float.
const EXACT_MAX: f64 = (1u64 << 53) as f64;

/// Of two ranges of integers; `None` where the divisor is nothing but zero. What is expected is an
/// expectation over rows, and a fraction.
pub(super) fn quotient(of: Range, by: Range) -> Option<Range> {
    let (least, greatest) = (by.low.ceil(), by.high.floor());
    let mut divisors = Vec::with_capacity(4);
    if least < 0.0 {
        divisors.extend([least, greatest.min(-1.0)]);
    }
    if greatest > 0.0 {
        divisors.extend([least.max(1.0), greatest]);
    }
    let ends = [of.low, of.high].into_iter().flat_map(|end| divisors.iter().map(move |&by| truncated(end, by)));
    let (low, high) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), quotient| {
        let slack = if quotient.abs() >= EXACT_MAX || of.low.abs().max(of.high.abs()) >= EXACT_MAX { 1.0 } else { 0.0 };
        (low.min(quotient - slack), high.max(quotient + slack))
    });
    if low > high {
        return None;
    }
    let mean = if of.low == of.high && by.low == by.high {
        truncated(of.low, by.low)
    } else {
        expected(of, by).clamp(low, high)
    };
    let has_zero = least <= 0.0 && greatest >= 0.0;
    Some(Range { mean, low, high, number: NumberType::Integer, defined: of.defined && by.defined && !has_zero })
}

fn truncated(of: f64, by: f64) -> f64 {
    if by.is_infinite() { 0.0 } else { (of / by).trunc() }
}

/// The quotient of the means, without the fraction that is lost on average among equally likely
/// integers.
fn expected(of: Range, by: Range) -> f64 {
    let is_known = by.mean.fract() == 0.0 && of.low.abs().max(of.high.abs()).max(by.mean.abs()) < EXACT_MAX;
    let lost = if is_known && by.mean != 0.0 {
        lost_between(of.low.ceil() as i64, of.high.floor() as i64, by.mean.abs() as i64)
    } else {
        // Over a long range, half of what a remainder can be.
        let most = 1.0 - 1.0 / by.mean.abs().max(1.0);
        match (of.low < 0.0, of.high > 0.0) {
            (false, _) => most / 2.0,
            (_, false) => -most / 2.0,
            _ => 0.0,
        }
    };
    (of.mean - lost * by.mean.abs()) / by.mean
}

/// How much of `i / by` is behind the point, on average over the integers from one to another.
fn lost_between(first: i64, last: i64, by: i64) -> f64 {
    let count = i128::from(last) - i128::from(first) + 1;
    if count <= 0 {
        return 0.0;
    }
    let sum = match (first < 0, last > 0) {
        (false, _) => remainders(last, by) - if first > 0 { remainders(first - 1, by) } else { 0 },
        (_, false) => remainders(-last - i64::from(last < 0), by) - remainders(-first, by),
        _ => remainders(last, by) - remainders(-first, by),
    };
    sum as f64 / by as f64 / count as f64
}

/// The remainders of 0, 1, … up to `last`, added up.
fn remainders(last: i64, by: i64) -> i128 {
    let (by, count) = (i128::from(by), i128::from(last) + 1);
    let (whole, rest) = (count / by, count % by);
    whole * (by * (by - 1) / 2) + rest * (rest - 1) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(low: i64, high: i64) -> Range {
        let (low, high) = (low as f64, high as f64);
        Range { mean: f64::midpoint(low, high), low, high, number: NumberType::Integer, defined: true }
    }

    #[test]
    fn quotients_are_those_of_every_pair() {
        let ends = [-9, -4, -1, 0, 1, 3, 8];
        let ranges =
            || ends.iter().flat_map(|&low| ends.iter().filter(move |&&high| high >= low).map(move |&high| (low, high)));
        for (of, by) in ranges().flat_map(|of| ranges().map(move |by| (of, by))) {
            let all = (of.0..=of.1).flat_map(|of| (by.0..=by.1).filter(|by| *by != 0).map(move |by| of / by));
            let all: Vec<i64> = all.collect();
            let found = quotient(range(of.0, of.1), range(by.0, by.1));
            let Some(least) = all.iter().min() else {
                assert_eq!(found, None, "{of:?} by {by:?}");
                continue;
            };
            let found = found.unwrap();
            assert_eq!((found.low, found.high), (*least as f64, *all.iter().max().unwrap() as f64), "{of:?} by {by:?}");
            assert_eq!(found.defined, by.0 > 0 || by.1 < 0, "{of:?} by {by:?}");
            if by.0 == by.1 {
                let mean = all.iter().sum::<i64>() as f64 / all.len() as f64;
                assert!((found.mean - mean).abs() < 1e-9, "{of:?} by {by:?}: {} for {mean}", found.mean);
            }
        }
    }

    #[test]
    fn open_ends_stay_open() {
        let open = Range { low: f64::NEG_INFINITY, high: f64::INFINITY, ..range(7, 7) };
        let found = quotient(open, range(2, 2)).unwrap();
        assert_eq!((found.low, found.high), (f64::NEG_INFINITY, f64::INFINITY));
        let found = quotient(range(7, 7), open).unwrap();
        assert_eq!((found.low, found.high, found.defined), (-7.0, 7.0, false));
    }
}
