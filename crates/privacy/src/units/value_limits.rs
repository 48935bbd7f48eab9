//! How many units of a class can have some few values at most: where more units fit, they have
//! other values too, and nobody needs to look at them one by one.
//!
//! Let n(v) units have the value v in a class, of all that have at least m rows there. The units
//! that fit a unit with m rows in the class are among these. If they are more than the j largest n
//! together, no j values are enough for all of them, whichever one each stands for.

use super::UnitRows;
use super::left::UnitView;
use super::looks::Looks;
use super::signatures::Signatures;
use crate::Class;

/// Numbers of rows in a class that are kept apart; more count as this many.
const ROWS_MAX: usize = 8;

/// The rows of units with more are sorted.
const FEW_ROWS: usize = 8;

/// Sums of the largest that are kept.
const SUMS: usize = 8;

/// Counts beyond these are not made. Classes are small then, and their units are looked at.
const COUNTS_MAX: usize = 1 << 22;

#[derive(Debug)]
pub(super) struct ValueLimits {
    /// By class and number of rows: the sums of the one, two, … largest n.
    sums: Vec<[u32; SUMS]>,
}

impl ValueLimits {
    /// Of all units that have a signature, suppressed or not: those left have no value more often.
    /// None where too much would have to be counted.
    pub(super) fn new(rows: &UnitRows, view: &UnitView, signatures: &Signatures, codes: &[u32]) -> Option<ValueLimits> {
        let values = codes.iter().max().map_or(0, |&most| most as usize + 1);
        let counts = view.classes.checked_mul(ROWS_MAX * values).filter(|&counts| counts <= COUNTS_MAX)?;
        let mut units = vec![0u32; counts];
        let mut of_unit: Vec<(u32, u32)> = Vec::new();
        for unit in (0..rows.len()).filter(|&unit| signatures.of_unit(unit).is_some()) {
            let range = rows.rows_of(unit);
            let (classes, own) = (&view.class_of_row[range.clone()], &codes[range]);
            if classes.len() <= FEW_ROWS {
                each_value(classes, own, |class, rows, value| units[place(class, rows) * values + value as usize] += 1);
                continue;
            }
            of_unit.clear();
            of_unit.extend(classes.iter().copied().zip(own.iter().copied()));
            of_unit.sort_unstable();
            for in_class in of_unit.chunk_by(|a, b| a.0 == b.0) {
                let first = place(in_class[0].0, in_class.len()) * values;
                in_class.chunk_by(|a, b| a.1 == b.1).for_each(|same| units[first + same[0].1 as usize] += 1);
            }
        }
        let mut sums = vec![[0; SUMS]; view.classes * ROWS_MAX];
        let mut at_least = vec![0u32; values];
        for class in 0..view.classes {
            at_least.fill(0);
            for rows in (1..=ROWS_MAX).rev() {
                let place = place(class as u32, rows);
                let exactly = &units[place * values..][..values];
                at_least.iter_mut().zip(exactly).for_each(|(sum, units)| *sum += units);
                sums[place] = sums_of_largest(&at_least);
            }
        }
        Some(ValueLimits { sums })
    }

    /// As few different values as this many units can have that fit one with `rows` rows in a
    /// class: a class of theirs as far as it is known.
    fn class<'v>(&self, class: u32, rows: usize, units: u64, values: &'v mut Vec<(u32, u32)>) -> Class<'v> {
        let sums = &self.sums[place(class, rows)];
        let different = 1 + sums.iter().take_while(|&&sum| u64::from(sum) < units).count() as u32;
        values.clear();
        // No domain has such codes, so that none is taken for the missing value.
        values.extend((1..=different).rev().map(|nth| (u32::MAX - nth, 1)));
        Class { rows: units, values }
    }
}

/// Tells for which groups the number of units that fit is enough.
pub(super) struct EnoughByNumber<'l> {
    limits: &'l ValueLimits,
    /// By group, how many units fit at least, suppressed or not.
    fitting: &'l [u32],
    /// By class, how many units that have rows there are suppressed.
    suppressed: Vec<u32>,
    values: Vec<(u32, u32)>,
}

impl<'l> EnoughByNumber<'l> {
    pub(super) fn new(limits: &'l ValueLimits, fitting: &'l [u32], suppressed: Vec<u32>) -> EnoughByNumber<'l> {
        EnoughByNumber { limits, fitting, suppressed, values: Vec::new() }
    }

    /// How many units that are left fit at least, in classes that a group has rows in. A suppressed
    /// one that fits has rows in all of them.
    pub(super) fn units(&self, group: u32, classes: &[u32]) -> u64 {
        let suppressed = classes.iter().map(|&class| self.suppressed[class as usize]).min().unwrap_or(0);
        u64::from(self.fitting[group as usize].saturating_sub(suppressed))
    }

    /// Whether this many units are enough in a class, where the group's units have rows `in_class`.
    pub(super) fn are_enough(&mut self, units: u64, in_class: &[u32], looks: &mut dyn Looks) -> bool {
        looks.is_enough(self.limits.class(in_class[0], in_class.len(), units, &mut self.values))
    }
}

/// Each class of a unit's rows with each value that it has there, once, and its rows there. Few
/// rows are sorted quickest one by one.
fn each_value(classes: &[u32], codes: &[u32], mut visit: impl FnMut(u32, usize, u32)) {
    let mut sorted = [0u64; FEW_ROWS];
    for (count, (&class, &code)) in classes.iter().zip(codes).enumerate() {
        let key = (u64::from(class) << 32) | u64::from(code);
        let mut place = count;
        while place > 0 && sorted[place - 1] > key {
            sorted[place] = sorted[place - 1];
            place -= 1;
        }
        sorted[place] = key;
    }
    for in_class in sorted[..classes.len()].chunk_by(|a, b| a >> 32 == b >> 32) {
        for same in in_class.chunk_by(|a, b| a == b) {
            visit((same[0] >> 32) as u32, in_class.len(), same[0] as u32);
        }
    }
}

fn place(class: u32, rows: usize) -> usize {
    class as usize * ROWS_MAX + rows.min(ROWS_MAX) - 1
}

fn sums_of_largest(counts: &[u32]) -> [u32; SUMS] {
    let mut largest = [0u32; SUMS];
    for &count in counts.iter().filter(|&&count| count > 0) {
        let place = largest.partition_point(|&other| other >= count);
        if place < SUMS {
            largest.copy_within(place..SUMS - 1, place + 1);
            largest[place] = count;
        }
    }
    let mut sum = 0;
    largest.map(|count| {
        sum += count;
        sum
    })
}

#[cfg(test)]
mod tests {
    use std::cell::OnceCell;

    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;

    fn seeds(count: u64) -> Vec<u64> {
        match std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse().ok()) {
            Some(seed) => vec![seed],
            None => (0..count).collect(),
        }
    }

    /// Whether some `count` values are enough for all units, each of which has one of them.
    fn are_enough(count: usize, units: &[Vec<u32>]) -> bool {
        match units.first() {
            None => true,
            Some(_) if count == 0 => false,
            Some(first) => first.iter().any(|value| {
                let others: Vec<Vec<u32>> = units.iter().filter(|unit| !unit.contains(value)).cloned().collect();
                are_enough(count - 1, &others)
            }),
        }
    }

    /// Against every choice of values: fewer than the limits say are never enough for the units
    /// that fit, whichever of them are left.
    #[test]
    fn units_that_fit_have_as_many_values_as_their_number_says() {
        let mut several = 0;
        for seed in seeds(3000) {
            let mut rng = StdRng::seed_from_u64(seed);
            let (classes, values) = (rng.random_range(1..3u32), rng.random_range(1..13u32));
            let units: Vec<Vec<(u32, u32)>> = (0..rng.random_range(0..24))
                .map(|_| {
                    let rows = 0..if rng.random_bool(0.05) { 12 } else { rng.random_range(0..4) };
                    rows.map(|_| (rng.random_range(0..classes), rng.random_range(0..values))).collect()
                })
                .collect();
            let mut starts = vec![0u32];
            starts.extend(units.iter().scan(0, |sum, rows| {
                *sum += rows.len() as u32;
                Some(*sum)
            }));
            let class_of_row: Vec<u32> = units.iter().flatten().map(|row| row.0).collect();
            let codes: Vec<u32> = units.iter().flatten().map(|row| row.1).collect();
            let entries = (0..codes.len() as u32).collect();
            let rows =
                UnitRows { numbers: Vec::new(), starts, entries, values: Vec::new(), units: 0, sources: Vec::new() };
            let view = UnitView {
                know: Vec::new(),
                class_of_row,
                classes: classes as usize,
                signatures: OnceCell::new(),
                units: OnceCell::new(),
                limits: Vec::new(),
                members: OnceCell::new(),
                fitting: OnceCell::new(),
            };
            let equal = rng.random_bool(0.3);
            let signatures = view.signatures(&rows, equal);
            let limits = ValueLimits::new(&rows, &view, signatures, &codes).unwrap();
            let kept: Vec<bool> = units.iter().map(|_| rng.random_bool(0.8)).collect();
            for group in 0..signatures.len() as u32 {
                let fitting: Vec<u32> = signatures.fitting(group).collect();
                let fits = |unit: &usize| signatures.of_unit(*unit).is_some_and(|group| fitting.contains(&group));
                for in_class in signatures.classes_of(group).chunk_by(|a, b| a == b) {
                    let here: Vec<Vec<u32>> = (0..units.len())
                        .filter(|unit| kept[*unit] && fits(unit))
                        .map(|unit| units[unit].iter().filter(|row| row.0 == in_class[0]).map(|row| row.1).collect())
                        .collect();
                    let mut named = Vec::new();
                    let class = limits.class(in_class[0], in_class.len(), here.len() as u64, &mut named);
                    assert_eq!(class.rows, here.len() as u64, "seed {seed}");
                    assert!(class.values.is_sorted(), "seed {seed}");
                    let different = class.values.len();
                    assert!(
                        here.is_empty() || !are_enough(different - 1, &here),
                        "seed {seed}: {different} of {here:?}"
                    );
                    several += u64::from(different > 2);
                }
            }
        }
        assert!(several > 200 || std::env::var("HEDGEROW_SEED").is_ok(), "{several}");
    }

    #[test]
    fn the_largest_are_summed_up() {
        assert_eq!(sums_of_largest(&[]), [0; SUMS]);
        assert_eq!(sums_of_largest(&[1, 9, 0, 3, 9]), [9, 18, 21, 22, 22, 22, 22, 22]);
        assert_eq!(sums_of_largest(&(1..=20).collect::<Vec<_>>()), [20, 39, 57, 74, 90, 105, 119, 132]);
    }
}
