//! How many tuples of every value each class of a release takes, and where it takes counterfeits
//! instead.
//!
//! All classes stand in one row, along which a value's missing tuples are dealt out: up to any
//! place, `missing · place / all` tuples are counterfeits, rounded down. So every interval of
//! classes misses less than one tuple more than its fair part, and a class at most one for each
//! class of the division that it unites, whichever tuples it is filled with.

use std::ops::Range;

use super::division::{Division, Share};

/// Counts along the row of all classes.
#[derive(Debug)]
pub(super) struct Quotas<'a> {
    pub(super) division: &'a Division,
    /// Classes of the division before each class of the release, and all of them at the end.
    before: Vec<u64>,
}

impl<'a> Quotas<'a> {
    /// For classes that unite `units` classes of the division each.
    pub(super) fn new(division: &'a Division, units: &[u64]) -> Quotas<'a> {
        let mut before = vec![0];
        before.extend(units.iter().scan(0, |sum, &units| {
            *sum += units;
            Some(*sum)
        }));
        Quotas { division, before }
    }

    pub(super) fn classes(&self) -> usize {
        self.before.len() - 1
    }

    /// Classes of the division in a interval of classes.
    pub(super) fn units(&self, classes: &Range<usize>) -> u64 {
        self.before[classes.end] - self.before[classes.start]
    }

    /// Tuples of the source that a interval takes of a value; what it lacks to `per_class` for each
    /// unit is counterfeit.
    pub(super) fn real(&self, share: &Share, classes: &Range<usize>) -> u64 {
        let (all, missing) = (self.division.classes, share.counterfeit(self.division.classes));
        let counterfeits = |place: usize| missing * self.before[place] / all;
        share.per_class * self.units(classes) - (counterfeits(classes.end) - counterfeits(classes.start))
    }

    /// The longest interval from a class on that can be filled with this many tuples of every
    /// value.
    pub(super) fn longest(&self, from: usize, tuples: &[u64]) -> Range<usize> {
        let fit = self.division.shares.iter().zip(tuples).map(|(share, &tuples)| self.units_from(share, tuples)).min();
        let most = self.before[from] + fit.unwrap_or(0) + 1;
        let mut classes = from..self.before.partition_point(|&before| before <= most) - 1;
        let fits = |classes: &Range<usize>| {
            self.division.shares.iter().zip(tuples).all(|(share, &tuples)| self.real(share, classes) <= tuples)
        };
        while !fits(&classes) {
            classes.end -= 1;
        }
        classes
    }

    /// How many classes of the division these tuples of a value fill, give or take one where some
    /// are missing.
    pub(super) fn units_from(&self, share: &Share, tuples: u64) -> u64 {
        let all = self.division.classes;
        match share.counterfeit(all) {
            0 => tuples / share.per_class,
            missing => tuples * all / (share.per_class * all - missing),
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;

    /// Every interval gets its part of what is missing, no class lacks more than one for each that
    /// it unites, and the longest interval that can be filled is found: all by trying.
    #[test]
    fn missing_quotas_are_dealt_along_the_row() {
        for seed in 0..400 {
            let mut rng = StdRng::seed_from_u64(seed);
            let counts: Vec<(u32, u64)> = (0..4).map(|code| (code, rng.random_range(3..60))).collect();
            let division = Division::largest(&counts, &[], |division| division.classes <= 12).unwrap();
            let mut units = Vec::new();
            while units.iter().sum::<u64>() < division.classes {
                units.push(rng.random_range(1..=(division.classes - units.iter().sum::<u64>()).min(3)));
            }
            let quotas = Quotas::new(&division, &units);
            assert_eq!((quotas.classes(), quotas.units(&(0..units.len()))), (units.len(), division.classes));
            let intervals = (0..units.len()).flat_map(|from| (from..=units.len()).map(move |to| from..to));
            for share in &division.shares {
                let missing = share.counterfeit(division.classes) as f64 / division.classes as f64;
                for classes in intervals.clone() {
                    let united: u64 = units[classes.clone()].iter().sum();
                    let lacks = share.per_class * united - quotas.real(share, &classes);
                    assert!((lacks as f64 - missing * united as f64).abs() < 1.0 && lacks <= united, "seed {seed}");
                }
                let all = quotas.real(share, &(0..units.len()));
                assert_eq!(all, share.rows.min(share.per_class * division.classes), "seed {seed}");
            }
            let from = rng.random_range(0..units.len());
            let tuples: Vec<u64> = division.shares.iter().map(|share| rng.random_range(0..=2 * share.rows)).collect();
            let fits = |to: &usize| {
                let mut each = division.shares.iter().zip(&tuples);
                each.all(|(share, &tuples)| quotas.real(share, &(from..*to)) <= tuples)
            };
            let longest = (from..=units.len()).rev().find(fits).unwrap();
            assert_eq!(quotas.longest(from, &tuples), from..longest, "seed {seed}");
        }
    }
}
