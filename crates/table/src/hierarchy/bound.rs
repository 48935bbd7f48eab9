//! A point on a number or date axis, compared by value: two tables may write one axis as integers
//! and as floats.

use std::cmp::Ordering;
use std::fmt;

use crate::date::Date;
use crate::domain::{Kind, parse_float, parse_integer};

/// Numbers compare with numbers, exactly and whatever their kind; a date and a number have no
/// order.
#[derive(Debug, Clone, Copy)]
pub enum Bound {
    /// A whole number.
    Integer(i64),
    /// A number with a fraction.
    Float(f64),
    /// A day.
    Date(Date),
}

impl From<i32> for Bound {
    fn from(value: i32) -> Bound {
        Bound::Integer(value.into())
    }
}

impl From<i64> for Bound {
    fn from(value: i64) -> Bound {
        Bound::Integer(value)
    }
}

impl From<f64> for Bound {
    fn from(value: f64) -> Bound {
        Bound::Float(value)
    }
}

impl From<Date> for Bound {
    fn from(date: Date) -> Bound {
        Bound::Date(date)
    }
}

impl Bound {
    /// The bound a text means: an integer, else a date, else a float.
    pub fn parse(text: &str) -> Option<Bound> {
        parse_integer(text)
            .map(Bound::Integer)
            .or_else(|| Date::parse_iso(text).map(Bound::Date))
            .or_else(|| parse_float(text).map(Bound::Float))
    }

    /// The next point of the axis: the day after a date, and of numbers the least one above that a
    /// table can hold, so that `≤ 39` does not take in 39.5. `None` at the end of the axis.
    pub fn just_above(self) -> Option<Bound> {
        match self {
            // Every whole number up to here is a float of its own; beyond, floats are whole.
            Bound::Integer(value) if value.unsigned_abs() < 1 << 53 => Some(Bound::Float((value as f64).next_up())),
            Bound::Integer(value) => value.checked_add(1).map(Bound::Integer),
            Bound::Float(value) => Some(Bound::Float(value.next_up())).filter(|_| value < f64::MAX),
            Bound::Date(Date(day)) => day.checked_add(1).map(|day| Bound::Date(Date(day))),
        }
    }

    /// The first value of a column of this kind that is not below a declared end; `None` where the
    /// column has values of another kind.
    pub fn first_from(self, kind: Kind) -> Option<Bound> {
        match (self, kind) {
            (Bound::Float(value), Kind::Integer) => Some(Bound::Integer(value.ceil() as i64)),
            (Bound::Integer(value), Kind::Float) => Some(Bound::Float(value as f64)),
            (Bound::Integer(_), Kind::Integer) | (Bound::Float(_), Kind::Float) | (Bound::Date(_), Kind::Date) => {
                Some(self)
            }
            _ => None,
        }
    }

    /// The first value of a column of this kind beyond a declared end: where an interval up to the
    /// end stops. `None` where there is none, as after the last day that can be written.
    pub fn first_after(self, kind: Kind) -> Option<Bound> {
        match (self, kind) {
            (Bound::Integer(value), Kind::Integer) => value.checked_add(1).map(Bound::Integer),
            (Bound::Float(value), Kind::Integer) => (value.floor() as i64).checked_add(1).map(Bound::Integer),
            (Bound::Integer(value), Kind::Float) => Some(Bound::Float((value as f64).next_up())),
            (Bound::Float(value), Kind::Float) => Some(Bound::Float(value.next_up())),
            (Bound::Date(Date(day)), Kind::Date) => {
                day.checked_add(1).map(Date).filter(|date| *date <= Date::LAST).map(Bound::Date)
            }
            _ => None,
        }
    }

    /// Whether it is a whole number, or just above one: then an interval that it ends may be one of
    /// whole numbers.
    pub fn is_at_whole(self) -> bool {
        match self {
            Bound::Integer(_) => true,
            Bound::Float(value) => value.fract() == 0.0 || value.next_down().fract() == 0.0,
            Bound::Date(_) => false,
        }
    }
}

impl PartialEq for Bound {
    fn eq(&self, other: &Bound) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for Bound {
    fn partial_cmp(&self, other: &Bound) -> Option<Ordering> {
        match (*self, *other) {
            (Bound::Integer(a), Bound::Integer(b)) => Some(a.cmp(&b)),
            (Bound::Float(a), Bound::Float(b)) => a.partial_cmp(&b),
            (Bound::Date(a), Bound::Date(b)) => Some(a.cmp(&b)),
            (Bound::Integer(a), Bound::Float(b)) => integer_with_float(a, b),
            (Bound::Float(a), Bound::Integer(b)) => integer_with_float(b, a).map(Ordering::reverse),
            (Bound::Date(_), _) | (_, Bound::Date(_)) => None,
        }
    }
}

/// Without rounding the integer: above 2⁵³ two integers can share their nearest float.
fn integer_with_float(integer: i64, float: f64) -> Option<Ordering> {
    const BEYOND_EVERY_INTEGER: f64 = 9_223_372_036_854_775_808.0;
    if float.is_nan() {
        None
    } else if float >= BEYOND_EVERY_INTEGER {
        Some(Ordering::Less)
    } else if float < -BEYOND_EVERY_INTEGER {
        Some(Ordering::Greater)
    } else {
        let whole = float.floor();
        let tail = if float > whole { Ordering::Less } else { Ordering::Equal };
        Some(integer.cmp(&(whole as i64)).then(tail))
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Integer(value) => write!(f, "{value}"),
            Bound::Float(value) => write!(f, "{value}"),
            Bound::Date(value) => write!(f, "{value}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_and_floats_share_one_exact_axis() {
        let integer = Bound::Integer;
        let float = Bound::Float;
        assert_eq!(integer(20), float(20.0));
        assert!(integer(-3) < float(-2.5) && float(-2.5) < integer(-2));
        assert!(integer(2) < float(2.5) && float(2.5) < integer(3));
        assert!(integer((1 << 53) + 1) > float((1u64 << 53) as f64));
        assert!(integer(i64::MAX) < float(i64::MAX as f64), "the float next to it is 2^63");
        assert_eq!(integer(i64::MIN), float(i64::MIN as f64));
        assert!(integer(i64::MIN) > float(-1e300) && integer(i64::MAX) < float(1e300));
        assert_eq!(integer(1).partial_cmp(&Bound::Date(Date(1))), None);
        assert_ne!(float(1.0), Bound::Date(Date(1)));
    }

    #[test]
    fn nothing_lies_between_a_bound_and_the_one_just_above() {
        for whole in [-3, 0, 39, (1 << 53) - 1, 1 << 53, i64::MAX - 1] {
            let above = Bound::Integer(whole).just_above().unwrap();
            assert!(above > Bound::Integer(whole) && above <= Bound::Integer(whole + 1) && above.is_at_whole());
            let below = Bound::Float((whole as f64).next_up());
            assert!(whole >= 1 << 53 || above <= below, "{whole}");
        }
        assert!(Bound::Integer(39).just_above().unwrap() < Bound::Float(39.5));
        assert_eq!(Bound::Integer(i64::MAX).just_above(), None);
        assert_eq!(Bound::Float(f64::MAX).just_above(), None);
        assert_eq!(Bound::Date(Date(5)).just_above(), Some(Bound::Date(Date(6))));
        assert!(!Bound::Float(39.5).is_at_whole() && !Bound::Date(Date(5)).is_at_whole());
    }

    #[test]
    fn a_declared_end_lies_on_the_axis_of_the_column() {
        let last = Bound::Date(Date::LAST);
        assert_eq!(Bound::Float(17.5).first_from(Kind::Integer), Some(Bound::Integer(18)));
        assert_eq!(Bound::Float(17.5).first_after(Kind::Integer), Some(Bound::Integer(18)));
        assert_eq!(Bound::Integer(17).first_after(Kind::Integer), Some(Bound::Integer(18)));
        assert_eq!(Bound::Integer(i64::MAX).first_after(Kind::Integer), None);
        assert_eq!(last.first_from(Kind::Date), Some(last));
        assert_eq!(last.first_after(Kind::Date), None, "no text says the day after");
        assert_eq!(Bound::Date(Date(5)).first_after(Kind::Date), Some(Bound::Date(Date(6))));
        assert_eq!(last.first_from(Kind::Integer), None);
    }

    #[test]
    fn a_text_is_an_integer_before_a_date_before_a_float() {
        assert!(matches!(Bound::parse("20"), Some(Bound::Integer(20))));
        assert!(matches!(Bound::parse("2020-03-01"), Some(Bound::Date(_))));
        assert!(matches!(Bound::parse("0.5"), Some(Bound::Float(x)) if x == 0.5));
        for text in ["", "07", "2020-02-30", "abc", "inf", "NaN"] {
            assert!(Bound::parse(text).is_none(), "{text}");
        }
    }
}
