//! Where the numbers of an attribute are counted from. Integers above 2⁵³ share their nearest
//! floats; counted from one of them, neighbors are exact again.

use hedgerow_table::{Bound, Kind};

use super::axis::Under;

/// Every integer up to here is a float.
const EXACT_MAX: u64 = 1 << 53;

/// Nothing is moved unless some bound is too large to be a float.
pub(crate) fn of(kind: Kind, under: &[Under]) -> i64 {
    if kind != Kind::Integer {
        return 0;
    }
    let mut bounds: Vec<i64> = Vec::new();
    for label in under {
        match label {
            Under::Integers(first, last) => bounds.extend(first.iter().chain(last)),
            Under::Numbers(values, _) => {
                let whole = |value: &Bound| if let Bound::Integer(whole) = value { Some(*whole) } else { None };
                bounds.extend(values.iter().filter_map(whole));
            }
            _ => {}
        }
    }
    let is_large = |bound: &i64| bound.unsigned_abs() > EXACT_MAX;
    if bounds.iter().any(is_large) { bounds.into_iter().min().unwrap_or(0) } else { 0 }
}

/// The greatest float that is not above a whole number, counted from an origin.
pub(crate) fn not_above(whole: i64, origin: i64) -> f64 {
    float_not_above(i128::from(whole) - i128::from(origin))
}

/// The least float that is not below a whole number, counted from an origin.
pub(crate) fn not_below(whole: i64, origin: i64) -> f64 {
    -float_not_above(i128::from(origin) - i128::from(whole))
}

fn float_not_above(whole: i128) -> f64 {
    let nearest = whole as f64;
    if nearest as i128 > whole { nearest.next_down() } else { nearest }
}

/// The number that is so far from an origin, where it is whole and known to the last digit.
pub(crate) fn whole(distance: f64, origin: i64) -> Option<i128> {
    let is_exact = distance.fract() == 0.0 && distance.abs() <= EXACT_MAX as f64;
    is_exact.then(|| i128::from(origin) + distance as i128)
}

/// A bound below, or above, what is so far from an origin: rounding may move it outward only.
pub(crate) fn outward(distance: f64, origin: i64, below: bool) -> f64 {
    // Of the origin, of the sum, and of the step outward itself.
    const ROUNDING: f64 = 4.0 * f64::EPSILON;
    if origin == 0 || distance.is_infinite() {
        return distance;
    }
    let start = origin as f64;
    let slack = start.abs().max(distance.abs()) * ROUNDING;
    distance + start + if below { -slack } else { slack }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_moved_unless_an_integer_is_too_large() {
        let ages = [Under::Integers(Some(20), None), Under::Everything];
        assert_eq!(of(Kind::Integer, &ages), 0);
        let large = [Under::Integers(None, Some(1 << 60)), Under::Numbers(vec![Bound::Integer(7)], false)];
        assert_eq!(of(Kind::Integer, &large), 7);
        assert_eq!(of(Kind::Float, &large), 0);
    }

    #[test]
    fn floats_lie_on_the_right_side() {
        for whole in [i64::MIN, i64::MIN + 1, -(1 << 53) - 1, -1, 0, (1 << 53) + 1, i64::MAX - 1, i64::MAX] {
            for origin in [0, 5, i64::MIN, i64::MAX] {
                let distance = i128::from(whole) - i128::from(origin);
                assert!(not_above(whole, origin) as i128 <= distance, "{whole} from {origin}");
                assert!(not_below(whole, origin) as i128 >= distance, "{whole} from {origin}");
                let (low, high) =
                    (outward(not_above(whole, origin), origin, true), outward(not_below(whole, origin), origin, false));
                assert!(
                    low <= whole as f64 && (low as i128) <= i128::from(whole) && i128::from(whole) <= high as i128,
                    "{whole} from {origin}: {low} {high}"
                );
            }
        }
        assert_eq!(super::whole(3.0, i64::MAX), Some(i128::from(i64::MAX) + 3));
        assert_eq!(super::whole(0.5, 0), None);
    }
}
