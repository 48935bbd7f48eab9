//! Which values of a protected attribute lie close to one another, worked out once for a domain.
//!
//! Values are coded in their order, so what is close to a value is a run of codes. With the run of
//! every code at hand, a class is judged by its codes alone, in one pass over its values and
//! without any arithmetic on numbers.

use hedgerow_table::Ratio;

use crate::numbers::Numbers;

/// For every number of a domain the first and the last code close to it. Both rise with the code. A
/// code without a number, such as that of a missing value, is close to itself alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proximity {
    first: Vec<u32>,
    last: Vec<u32>,
    /// For every number the last code that is close to it or that it is close to.
    reach: Vec<u32>,
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
        let mut high = 0;
        let reach = |code: usize| {
            high = high.max(last[code] as usize);
            while high + 1 < present && first[high + 1] as usize <= code {
                high += 1;
            }
            high as u32
        };
        let reach = (0..present).map(reach).collect();
        Proximity { first, last, reach }
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

    /// No union of parts of a class has more rows, where every part has at most 1/l of its rows
    /// close to any one of its values: the largest part of the class in which no run of codes from
    /// one to its `reach` holds more than 1/l of the rows.
    ///
    /// *Each part meets that.* Its rows in such a run are all close to the lowest of them, or all
    /// to the highest. *So does the union*: the run holds at most 1/l of each part. *The largest*
    /// is found from how many rows can stay when no run may hold more than g. The first to the last
    /// value, as many as fit: in any other choice the next row that stays can be exchanged for the
    /// first that fits. Dealt round to g + 1 piles in their order, rows that stay for g + 1 have a
    /// smallest pile, and without it stay for g; so what stays falls short of l·g from some g on,
    /// and not before.
    pub fn kept_at_most(&self, values: &[(u32, u32)], l: Ratio) -> u64 {
        let rows: u64 = values.iter().map(|&(_, count)| u64::from(count)).sum();
        // What stays at `holding` is enough; from `failing` on it is not.
        let (mut holding, mut kept, mut failing) = (0, 0, l.times_in(rows) + 1);
        let mut tried = failing - 1;
        let mut halves = false;
        while tried > holding {
            let stay = self.stay(values, tried);
            if l.times_at_most(tried, stay) {
                (holding, kept) = (tried, stay);
            } else {
                // No more can stay for fewer, so that more than this is not enough either.
                failing = tried.min(l.times_in(stay) + 1);
            }
            // What is just failing is mostly near, and halving is for when it is not.
            tried = if halves { holding + (failing - holding) / 2 } else { failing - 1 };
            halves = !halves;
        }
        kept
    }

    /// How many rows can stay when no run from a code to its reach may hold more than `most`.
    fn stay(&self, values: &[(u32, u32)], most: u64) -> u64 {
        let reach = |code: u32| self.reach.get(code as usize).copied().unwrap_or(code);
        let (mut first, mut in_run, mut all) = (0, 0u64, 0u64);
        let mut stay: Vec<u64> = Vec::with_capacity(values.len());
        for &(code, count) in values {
            while reach(values[first].0) < code {
                in_run -= stay[first];
                first += 1;
            }
            let fits = u64::from(count).min(most - in_run);
            stay.push(fits);
            in_run += fits;
            all += fits;
        }
        all
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
