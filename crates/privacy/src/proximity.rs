//! Which values of a protected attribute lie close to one another, worked out once for a domain.
//!
//! Values are coded in their order, so what is close to a value is a run of codes. With the run of
//! every code at hand, a class is judged by its codes alone, in one pass over its values and
//! without any arithmetic on numbers.

use crate::numbers::Numbers;

/// For every number of a domain the first and the last code close to it. Both rise with the code. A
/// code that is no number, such as that of a missing value, is close to itself alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proximity {
    first: Vec<u32>,
    last: Vec<u32>,
}

/// An interval of close values, by the codes of its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub first: u32,
    pub last: u32,
    pub rows: u64,
}

impl Proximity {
    /// `close(center, other)` says whether `other` is close to `center`. What is close to a value
    /// must lie in a row around it, and both ends of the row must not fall as the value rises.
    pub fn new(numbers: &Numbers, close: impl Fn(usize, usize) -> bool) -> Proximity {
        let present = numbers.len();
        let (mut first, mut last) = (Vec::with_capacity(present), Vec::with_capacity(present));
        let (mut low, mut high) = (0, 0);
        for center in 0..present {
            while low < center && !close(center, low) {
                low += 1;
            }
            high = high.max(center);
            while high + 1 < present && close(center, high + 1) {
                high += 1;
            }
            first.push(low as u32);
            last.push(high as u32);
        }
        Proximity { first, last }
    }

    /// The last code close to this one.
    pub fn last(&self, code: u32) -> u32 {
        self.last.get(code as usize).copied().unwrap_or(code)
    }

    fn first(&self, code: u32) -> u32 {
        self.first.get(code as usize).copied().unwrap_or(code)
    }

    /// For every value of a class (ascending by code), the rows from it up to the last value close
    /// to it. The largest is the largest number of rows in any window that is as long as close
    /// values may be apart: such a window can be moved up to the first value inside without losing
    /// any.
    pub fn windows<'a>(&'a self, values: &'a [(u32, u32)]) -> impl Iterator<Item = u64> + 'a {
        let (mut end, mut close) = (0, 0u64);
        values.iter().map(move |&(code, count)| {
            let last = self.last(code);
            while let Some(&(_, rows)) = values.get(end).filter(|(code, _)| *code <= last) {
                close += u64::from(rows);
                end += 1;
            }
            let here = close;
            close -= u64::from(count);
            here
        })
    }

    /// The window that holds the most rows, from the first to the last value inside; the lowest one
    /// of several. `None` for a class without values.
    pub fn fullest_window(&self, values: &[(u32, u32)]) -> Option<Window> {
        let first_fullest = |most: (u64, u32), here: (u64, u32)| if here.0 > most.0 { here } else { most };
        let starts = values.iter().map(|&(code, _)| code);
        let (rows, first) = self.windows(values).zip(starts).reduce(first_fullest)?;
        let last = values.iter().map(|&(code, _)| code).filter(|&code| code <= self.last(first)).max()?;
        Some(Window { first, last, rows })
    }

    /// For every value of a class (ascending by code), the rows close to it on both sides, its own
    /// included.
    pub fn neighborhoods<'a>(&'a self, values: &'a [(u32, u32)]) -> impl Iterator<Item = u64> + 'a {
        let (mut begin, mut end, mut close) = (0, 0, 0u64);
        values.iter().map(move |&(code, _)| {
            let (first, last) = (self.first(code), self.last(code));
            while let Some(&(_, rows)) = values.get(end).filter(|(code, _)| *code <= last) {
                close += u64::from(rows);
                end += 1;
            }
            while values[begin].0 < first {
                close -= u64::from(values[begin].1);
                begin += 1;
            }
            close
        })
    }
}

#[cfg(test)]
mod tests {
    use hedgerow_table::{Domain, Ratio};

    use super::*;

    #[test]
    fn the_fullest_window_is_named_by_its_ends() {
        let domain = Domain::from_texts(&["490", "500", "510", "600", "1000"], true, None).unwrap().0;
        let numbers = Numbers::of(&domain).unwrap();
        let proximity = Proximity::new(&numbers, numbers.apart_at_most(Ratio::integer(10), 2));
        let window = |values| proximity.fullest_window(values).map(|window| (window.first, window.last, window.rows));
        assert_eq!(window(&[(0, 1), (1, 1), (2, 1), (4, 1)]), Some((0, 2, 3)));
        assert_eq!(window(&[(0, 1), (1, 1), (3, 2)]), Some((0, 1, 2)), "the lowest of two");
        assert_eq!(window(&[(0, 1), (5, 2)]), Some((5, 5, 2)), "missing values");
        assert_eq!(window(&[]), None);
    }
}
