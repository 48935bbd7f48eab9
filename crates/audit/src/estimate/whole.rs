//! Between which whole numbers a value lies, to the last digit: above 2⁵³ floats do not say it.

/// The least and the greatest whole number, both inclusive; `None` is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Whole {
    pub(crate) low: Option<i64>,
    pub(crate) high: Option<i64>,
}

impl Whole {
    pub(crate) fn only(value: i64) -> Whole {
        Whole { low: Some(value), high: Some(value) }
    }

    /// The number itself, where it is one.
    pub(crate) fn exact(self) -> Option<i64> {
        self.low.filter(|_| self.low == self.high)
    }

    /// Of a value that lies in one or in the other.
    pub(crate) fn or(self, other: Whole) -> Whole {
        let either = |one: Option<i64>, two: Option<i64>, of: fn(i64, i64) -> i64| Some(of(one?, two?));
        Whole { low: either(self.low, other.low, i64::min), high: either(self.high, other.high, i64::max) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_two() {
        let (three, seven) = (Whole::only(3), Whole::only(7));
        assert_eq!(three.or(seven), Whole { low: Some(3), high: Some(7) });
        assert_eq!((three.or(three).exact(), three.or(seven).exact()), (Some(3), None));
        let open = Whole { low: None, high: Some(i64::MAX) };
        assert_eq!(open.or(three), open);
        assert_eq!(Whole { low: None, high: None }.exact(), None);
    }
}
