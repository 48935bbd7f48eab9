//! Work on all cores, in pieces large enough that handing them out costs nothing.
//!
//! Rayon's iterators are compiled anew for every chain of adapters, and again for every width of
//! keys: that was a third of the machine code of the crates that compute, and of their build time.
//! Here the work is behind a reference, so that one copy serves all. Results are in the order of
//! the pieces, whatever the number of threads.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

/// Runs a task for every number below `count`.
pub fn each(count: usize, task: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(task);
}

/// The results of a task for every number below `count`, in their order.
pub fn map<T: Send>(count: usize, task: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let places: Vec<Mutex<Option<T>>> = std::iter::repeat_with(|| Mutex::new(None)).take(count).collect();
    each(count, &|index| put(&places[index], task(index)));
    places.into_iter().filter_map(|place| place.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}

/// The results of a task for every item, in their order.
pub fn map_items<I: Send, T: Send>(items: impl IntoIterator<Item = I>, task: impl Fn(usize, I) -> T + Sync) -> Vec<T> {
    let items: Vec<Mutex<Option<I>>> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    let results = map(items.len(), |index| take(&items[index]).map(|item| task(index, item)));
    results.into_iter().flatten().collect()
}

/// The results of a task for every span of at most `longest` numbers below `len`, in their order.
pub fn map_ranges<T: Send>(len: usize, longest: usize, task: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    map(len.div_ceil(longest), |piece| task(piece * longest..len.min((piece + 1) * longest)))
}

fn put<T>(place: &Mutex<Option<T>>, value: T) {
    *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
}

fn take<T>(place: &Mutex<Option<T>>) -> Option<T> {
    place.lock().unwrap_or_else(PoisonError::into_inner).take()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_pieces() {
        for count in [0, 1, 2, 1000] {
            assert_eq!(map(count, |number| number * 2), (0..count).map(|number| number * 2).collect::<Vec<_>>());
            let texts = (0..count).map(|number| number.to_string());
            let expected: Vec<String> = (0..count).map(|number| format!("{number}:{number}")).collect();
            assert_eq!(map_items(texts, |index, text| format!("{index}:{text}")), expected);
        }
        assert_eq!(map_ranges(10, 4, |range| range), [0..4, 4..8, 8..10]);
        assert_eq!(map_ranges(0, 4, |range| range), [0..0; 0]);
    }

    #[test]
    #[should_panic(expected = "the seventh")]
    fn a_task_that_panics_is_not_passed_over() {
        map(10, |number| assert!(number != 7, "the seventh"));
    }
}
