//! Assignment: which tuples form a class, close ones together, in O(n log n).
//!
//! The paper fills one class after the other with the closest of ρ tuples it looks at, which is
//! quadratic. Here classes whose tuples agree in labels are found first, by counting (`packing`):
//! as many as the scarcest value allows, where the scan does not consider what the next classes
//! will need. What shares a box, and what is left in the end, is filled by halving: take the axis
//! along which the tuples of a node lie widest apart; of every sensitive value, the tuples that lie
//! lowest on it go to the lower half of the classes, the others to the upper half. Each half holds
//! as many of every value as its classes need, so every cut is feasible, and no other way of giving
//! each half its share of a value moves tuples less along that axis: this is the monotone coupling,
//! the optimum of transport on a line. After log₂ b cuts a class is a small box, as in a k-d tree.
//!
//! Tuples that a value lacks are counterfeits, as `quotas` says; surplus tuples are suppressed at
//! the end, farthest from the middle first.

use std::ops::Range;

use hedgerow_draft::bind::Bound;
use hedgerow_table::{Progress, parallel};

use super::division::Division;
use super::lowest::lowest_first;
use super::packing::{Packed, pack};
use super::quotas::Quotas;
use super::space::Space;

/// Below this many tuples a node is not worth another thread.
const TUPLES_APART: usize = 1 << 11;

/// One class of the release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Assigned {
    /// Rows of the source, value by value in the order of the division.
    pub(super) rows: Vec<u32>,
    /// Counterfeits, by value.
    pub(super) counterfeits: Vec<u64>,
    /// How many classes of the division it unites.
    pub(super) units: u64,
}

/// A class with its sub-classes: the rows of each, and how many counterfeits it counts besides.
pub(super) type ClassCut = (Assigned, Vec<(Vec<u32>, usize)>);

/// Fills classes that unite `units` classes of the division each. `rows` are the source's, by value
/// in the division's order. Every row counts twice as progress: once it is packed, and once it is
/// in its class. Once canceled, what is returned has no meaning.
pub(super) fn assign(
    bound: &Bound<'_>,
    division: &Division,
    units: &[u64],
    rows: Vec<Vec<u32>>,
    space: &Space,
    progress: &dyn Progress,
) -> Vec<Assigned> {
    let quotas = Quotas::new(division, units);
    let packed = pack(bound, &quotas, rows, progress);
    let halving = Halving { quotas: &quotas, space, progress };
    let halved = parallel::map_items(packed, |_, Packed { classes, mut parts }| {
        halving.halve(classes, parts.iter_mut().map(Vec::as_mut_slice).collect(), &mut Vec::new())
    });
    halved.into_iter().flatten().collect()
}

struct Halving<'a> {
    quotas: &'a Quotas<'a>,
    space: &'a Space,
    progress: &'a dyn Progress,
}

impl Halving<'_> {
    /// `keys` is a buffer that calls share.
    fn halve(&self, classes: Range<usize>, mut parts: Vec<&mut [u32]>, keys: &mut Vec<u64>) -> Vec<Assigned> {
        let (quotas, space) = (self.quotas, self.space);
        match classes.len() {
            0 => return Vec::new(),
            _ if self.progress.is_canceled() => return Vec::new(),
            1 => {
                self.progress.advance(parts.iter().map(|part| part.len() as u64).sum());
                return vec![finish(quotas.division, quotas.units(&classes), &parts, space)];
            }
            _ => (),
        }
        let middle = classes.start + classes.len() / 2;
        let (lower, upper) = (classes.start..middle, middle..classes.end);
        let axis = space.widest(parts.iter().map(|part| &**part));
        let mut left = Vec::with_capacity(parts.len());
        let mut right = Vec::with_capacity(parts.len());
        for (share, part) in quotas.division.shares.iter().zip(parts.drain(..)) {
            // The surplus is dealt out as well: it is suppressed where it lies farthest.
            let surplus = part.len() as u64 - quotas.real(share, &classes);
            let size = (quotas.real(share, &lower) + surplus * quotas.units(&lower) / quotas.units(&classes)) as usize;
            if let Some(axis) = axis {
                lowest_first(part, size, keys, |row| space.position(row, axis));
            }
            let (low, high) = part.split_at_mut(size);
            left.push(low);
            right.push(high);
        }
        let tuples: usize = left.iter().map(|part| part.len()).sum();
        let (mut all, rest) = if tuples < TUPLES_APART {
            (self.halve(lower, left, keys), self.halve(upper, right, keys))
        } else {
            rayon::join(|| self.halve(lower, left, keys), || self.halve(upper, right, &mut Vec::new()))
        };
        all.extend(rest);
        all
    }
}

fn finish(division: &Division, units: u64, parts: &[&mut [u32]], space: &Space) -> Assigned {
    let tuples: usize = parts.iter().map(|part| part.len()).sum();
    let middle = || -> Vec<u64> {
        let mut middle = vec![0u64; space.axes];
        for &row in parts.iter().flat_map(|part| part.iter()) {
            for (sum, &at) in middle.iter_mut().zip(space.of(row)) {
                *sum += u64::from(at);
            }
        }
        middle
    };
    let mut found: Option<Vec<u64>> = None;
    let mut assigned =
        Assigned { rows: Vec::with_capacity(tuples), counterfeits: Vec::with_capacity(parts.len()), units };
    for (share, part) in division.shares.iter().zip(parts) {
        let wanted = (share.per_class * units) as usize;
        assigned.counterfeits.push(wanted.saturating_sub(part.len()) as u64);
        let from = assigned.rows.len();
        assigned.rows.extend_from_slice(part);
        if part.len() > wanted {
            let middle = found.get_or_insert_with(middle);
            let away = |row: u32| -> u64 {
                let apart = |(&at, &sum): (&u16, &u64)| (u64::from(at) * tuples as u64).abs_diff(sum);
                space.of(row).iter().zip(middle.iter()).map(apart).sum()
            };
            assigned.rows[from..].sort_unstable_by_key(|&row| (away(row), row));
            assigned.rows.truncate(from + wanted);
        }
    }
    assigned
}

/// Cuts every class into as many sub-classes as can be: of at least `tuples` tuples, counterfeits
/// among them, and at least `people` real ones. Only quasi values are cut, the sensitive values
/// stay with the class.
pub(super) fn cut_all(assigned: Vec<Assigned>, tuples: usize, people: usize, space: &Space) -> Vec<ClassCut> {
    let cut_one = |mut class: Assigned| -> ClassCut {
        let counterfeits: u64 = class.counterfeits.iter().sum();
        let sizes = sub_class_sizes(class.rows.len(), counterfeits as usize, tuples, people);
        let real: Vec<usize> = sizes.iter().map(|&(real, _)| real).collect();
        let parts = cut(&mut class.rows, &real, space, &mut Vec::new());
        let parts = parts.into_iter().zip(&sizes).map(|(rows, &(_, counterfeits))| (rows, counterfeits)).collect();
        (class, parts)
    };
    parallel::map_items(assigned, |_, class| cut_one(class))
}

/// The sizes of the sub-classes of a class, each as (real, counterfeit): real tuples are dealt out
/// evenly, and the others so that the smallest grow first.
fn sub_class_sizes(real: usize, counterfeits: usize, tuples: usize, people: usize) -> Vec<(usize, usize)> {
    let count = ((real + counterfeits) / tuples.max(1)).min(real / people.max(1)).max(1);
    let fair = |index: usize| real * (index + 1) / count - real * index / count;
    let mut sizes: Vec<(usize, usize)> = (0..count).map(|index| (fair(index), 0)).collect();
    for _ in 0..counterfeits {
        if let Some(smallest) = sizes.iter_mut().min_by_key(|(real, counterfeits)| real + counterfeits) {
            smallest.1 += 1;
        }
    }
    sizes
}

/// Tuples in parts of these sizes, close ones together.
fn cut(rows: &mut [u32], sizes: &[usize], space: &Space, keys: &mut Vec<u64>) -> Vec<Vec<u32>> {
    match sizes {
        [] => Vec::new(),
        [_] => vec![rows.to_vec()],
        _ => {
            let (lower, upper) = sizes.split_at(sizes.len() / 2);
            let size: usize = lower.iter().sum();
            if let Some(axis) = space.widest([&*rows].into_iter()) {
                lowest_first(rows, size, keys, |row| space.position(row, axis));
            }
            let (low, high) = rows.split_at_mut(size);
            let mut all = cut(low, lower, space, keys);
            all.extend(cut(high, upper, space, keys));
            all
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sub_classes_are_as_many_as_keep_both_sizes() {
        assert_eq!(sub_class_sizes(6, 0, 3, 1), [(3, 0), (3, 0)]);
        assert_eq!(sub_class_sizes(5, 1, 3, 1), [(2, 1), (3, 0)], "hospital 3: the counterfeit fills up a sub-class");
        assert_eq!(sub_class_sizes(5, 1, 3, 3), [(5, 1)], "three people each are required, and there are five");
        assert_eq!(sub_class_sizes(2, 0, 3, 1), [(2, 0)], "too few for one: the caller sees to it");
        for real in 1..40 {
            for counterfeits in 0..10 {
                for (tuples, people) in [(1, 1), (3, 1), (4, 2), (5, 5), (2, 7)] {
                    let sizes = sub_class_sizes(real, counterfeits, tuples, people);
                    let count = |side: fn(&(usize, usize)) -> usize| sizes.iter().map(side).sum::<usize>();
                    assert_eq!((count(|size| size.0), count(|size| size.1)), (real, counterfeits));
                    if real + counterfeits >= tuples && real >= people {
                        assert!(
                            sizes.iter().all(|&(real, counterfeits)| real + counterfeits >= tuples && real >= people)
                        );
                    }
                }
            }
        }
    }
}
