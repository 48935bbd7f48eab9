//! Rounding a number, and the interval of numbers that become a rounded one. Integers are rounded
//! in integers. A float is moved to a neighbor where the interval says otherwise than the division
//! did, so that values and covers never contradict each other.

use super::{Coarsening, Way};
use crate::hierarchy::{Bound, Cover};
use crate::{Kind, Ratio};

/// `None` where the result does not fit 64 bits.
pub(super) fn integer(coarsening: &Coarsening, value: i64) -> Option<i64> {
    let rounded = rounded_integer(&coarsening.way, value)?;
    let end = |bound: Option<Bound>| match bound {
        Some(Bound::Integer(end)) => Some(end),
        _ => None,
    };
    let rounded = end(coarsening.bottom).map_or(rounded, |bottom| rounded.max(bottom));
    Some(end(coarsening.top).map_or(rounded, |top| rounded.min(top)))
}

fn rounded_integer(way: &Way, value: i64) -> Option<i64> {
    let step = match way {
        Way::Round(step) => i128::from(step.numerator),
        Way::Significant(digits) => integer_step(value, *digits),
        _ => return Some(value),
    };
    i64::try_from((2 * i128::from(value) + step).div_euclid(2 * step) * step).ok()
}

/// The unit of the last significant digit of an integer.
fn integer_step(value: i64, digits: u32) -> i128 {
    let length = value.unsigned_abs().checked_ilog10().map_or(1, |log| log + 1);
    10i128.pow(length.saturating_sub(digits))
}

/// `None` where the result is not finite.
pub(super) fn float(coarsening: &Coarsening, value: f64) -> Option<f64> {
    let rounded = rounded_float(&coarsening.way, value)?;
    let clipped = end(coarsening.bottom).map_or(rounded, |bottom| rounded.max(bottom));
    let clipped = end(coarsening.top).map_or(clipped, |top| clipped.min(top));
    // One zero, as in every domain.
    clipped.is_finite().then_some(if clipped == 0.0 { 0.0 } else { clipped })
}

fn end(bound: Option<Bound>) -> Option<f64> {
    match bound {
        Some(Bound::Integer(value)) => Some(value as f64),
        Some(Bound::Float(value)) => Some(value),
        Some(Bound::Date(_)) | None => None,
    }
}

fn rounded_float(way: &Way, value: f64) -> Option<f64> {
    match way {
        Way::Round(step) => {
            let mut multiple = (value / step.as_f64()).round();
            // Beyond, floats are whole multiples already.
            if multiple.abs() >= MULTIPLES_MAX {
                return Some(value);
            }
            while value < halfway(*step, multiple) {
                multiple -= 1.0;
            }
            while value >= halfway(*step, multiple + 1.0) {
                multiple += 1.0;
            }
            Some(times(*step, multiple))
        }
        Way::Significant(digits) => {
            let nearest: f64 = format!("{value:.*e}", digits.saturating_sub(1) as usize).parse().ok()?;
            let (low, high) = (below(nearest, *digits), above(nearest, *digits));
            // The halves that the interval takes in decide, not the digits of the decimal.
            if value < middle(low, nearest) {
                Some(low)
            } else if value >= middle(nearest, high) && nearest != 0.0 {
                Some(high)
            } else {
                Some(nearest)
            }
        }
        _ => Some(value),
    }
}

/// Above 2⁵³ not every whole number is a float.
const MULTIPLES_MAX: f64 = 9e15;

/// A multiple of a step, as the decimal it is.
fn times(step: Ratio, multiple: f64) -> f64 {
    multiple * step.numerator as f64 / step.denominator as f64
}

/// Where a multiple begins: halfway from the one before.
fn halfway(step: Ratio, multiple: f64) -> f64 {
    (2.0 * multiple - 1.0) * step.numerator as f64 / (2.0 * step.denominator as f64)
}

fn middle(low: f64, high: f64) -> f64 {
    low / 2.0 + high / 2.0
}

/// The next larger number of these significant digits.
fn above(value: f64, digits: u32) -> f64 {
    if value < 0.0 { -below(-value, digits) } else { stepped(value, digits, 1.0) }
}

fn below(value: f64, digits: u32) -> f64 {
    if value < 0.0 {
        return -above(-value, digits);
    }
    let (mantissa, exponent) = parts(value, digits);
    match mantissa {
        0.0 => 0.0,
        // Below a power of ten the digits are finer.
        _ if mantissa == 10f64.powi(digits as i32 - 1) => decimal(mantissa * 10.0 - 1.0, exponent - 1),
        _ => stepped(value, digits, -1.0),
    }
}

fn stepped(value: f64, digits: u32, steps: f64) -> f64 {
    let (mantissa, exponent) = parts(value, digits);
    if mantissa == 0.0 { 0.0 } else { decimal(mantissa + steps, exponent) }
}

/// A non-negative number of some significant digits as a whole number of them and a power of ten.
fn parts(value: f64, digits: u32) -> (f64, i32) {
    let text = format!("{value:.*e}", digits.saturating_sub(1) as usize);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let whole: f64 = mantissa.replace('.', "").parse().unwrap_or_default();
    (whole, exponent.parse::<i32>().unwrap_or_default() - (digits as i32 - 1))
}

/// The float nearest to a decimal.
fn decimal(mantissa: f64, exponent: i32) -> f64 {
    format!("{mantissa}e{exponent}").parse().unwrap_or(f64::MAX)
}

/// The numbers that become this one.
pub(super) fn cover(coarsening: &Coarsening, number: Bound, kind: Kind) -> Option<Cover> {
    let interval = match (number, kind) {
        (Bound::Integer(value), Kind::Integer) => of_integer(&coarsening.way, value),
        (Bound::Integer(value), _) => of_float(&coarsening.way, value as f64),
        (Bound::Float(value), _) => of_float(&coarsening.way, value),
        (Bound::Date(_), _) => return None,
    };
    let at_bottom = coarsening.bottom == Some(number);
    let at_top = coarsening.top == Some(number);
    let below_bottom = coarsening.bottom.is_some_and(|bottom| number < bottom);
    let above_top = coarsening.top.is_some_and(|top| number > top);
    if below_bottom || above_top {
        return None;
    }
    // An end that is not a rounded number begins, or stops, where the numbers do that are cut off
    // to it.
    let (low, high) = match interval {
        Some((low, high)) => (low, high),
        None if at_bottom || at_top => surrounding(&coarsening.way, number, kind),
        None => return None,
    };
    // An interval stops before its end, and a lowest number that is a rounded one is one of those
    // that it stands for.
    let high = if at_bottom && interval.is_some() && low == high { after(high) } else { high };
    let low = if at_bottom { None } else { Some(low) };
    let high = if at_top { None } else { Some(high) };
    match (low, high) {
        (None, None) => Some(Cover::Everything),
        (Some(low), Some(high)) if low == high => Some(Cover::Point(low)),
        (low, high) => Some(Cover::Interval { low, high }),
    }
}

/// The next larger number.
fn after(number: Bound) -> Bound {
    match number {
        Bound::Integer(value) => Bound::Integer(value.saturating_add(1)),
        Bound::Float(value) => Bound::Float(value.next_up()),
        Bound::Date(date) => Bound::Date(date),
    }
}

/// `None` where the number is not a rounded one. Without rounding a number is itself alone.
fn of_integer(way: &Way, value: i64) -> Option<(Bound, Bound)> {
    if rounded_integer(way, value) != Some(value) {
        return None;
    }
    let (before, after) = match way {
        Way::Round(step) => (i128::from(step.numerator), i128::from(step.numerator)),
        Way::Significant(digits) => {
            let own = integer_step(value, *digits);
            let finer = integer_step(value.saturating_sub(value.signum()), *digits);
            if value > 0 { (finer, own) } else { (own, finer) }
        }
        _ => return Some((Bound::Integer(value), Bound::Integer(value))),
    };
    // The least integer not below the half before, and the one not below the half after.
    let low = (2 * i128::from(value) - before + 1).div_euclid(2);
    let high = (2 * i128::from(value) + after + 1).div_euclid(2);
    if high - low == 1 {
        return Some((Bound::Integer(value), Bound::Integer(value)));
    }
    let bound = |value: i128| Bound::Integer(value.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64);
    Some((bound(low), bound(high)))
}

fn of_float(way: &Way, value: f64) -> Option<(Bound, Bound)> {
    if rounded_float(way, value) != Some(value) {
        return None;
    }
    let (low, high) = match way {
        Way::Round(step) => {
            let multiple = (value / step.as_f64()).round();
            if multiple.abs() >= MULTIPLES_MAX {
                (value, value)
            } else {
                (halfway(*step, multiple), halfway(*step, multiple + 1.0))
            }
        }
        Way::Significant(digits) if value != 0.0 => {
            (middle(below(value, *digits), value), middle(value, above(value, *digits)))
        }
        _ => (value, value),
    };
    Some((Bound::Float(low), Bound::Float(high)))
}

/// Around an end that is not a rounded number: all numbers that are rounded past it, from either
/// side.
fn surrounding(way: &Way, number: Bound, kind: Kind) -> (Bound, Bound) {
    let value = match number {
        Bound::Integer(value) => value as f64,
        Bound::Float(value) => value,
        Bound::Date(_) => return (number, number),
    };
    let neighbors = match way {
        Way::Round(step) => {
            let lower = (value / step.as_f64()).floor();
            (times(*step, lower), times(*step, lower + 1.0))
        }
        Way::Significant(digits) => {
            let nearest = rounded_float(way, value).unwrap_or(value);
            if nearest < value { (nearest, above(nearest, *digits)) } else { (below(nearest, *digits), nearest) }
        }
        _ => return (number, number),
    };
    // At a bottom, what is rounded above it begins at the half between; at a top, the same half is
    // where it begins itself.
    let half = middle(neighbors.0, neighbors.1);
    let half = match kind {
        Kind::Integer => Bound::Integer(half.ceil() as i64),
        _ => Bound::Float(half),
    };
    (half, half)
}
