//! The classes that the rows of a unit are in, each as often as it has rows there: what an attacker
//! who knows every row of a unit compares units by.
//!
//! Units with equal signatures form a group; groups are usually few where levels are coarse. A unit
//! fits another when its signature holds the other's, as multisets. The groups that may are the
//! longer ones among those that have a row in the other's rarest class. A mask of 64 bits excludes
//! most of them before classes are compared: it has a bit for the first row in a class, another one
//! for the second, and so on, so that a signature that holds another has all of its bits.

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::cell::OnceCell;
use std::hash::BuildHasher;
use std::ops::Range;

use super::UnitRows;

/// The group of units that have none.
pub(super) const NONE: u32 = u32::MAX;

#[derive(Debug)]
pub(super) struct Signatures {
    /// The group of every unit; [`NONE`] for units that have no rows, and for those of one row
    /// unless only equal ones fit: what fits one row are the units of its class.
    of_unit: Vec<u32>,
    /// How many units every group has.
    units: Vec<u32>,
    /// Where the classes of every group begin, and the end.
    starts: Vec<u32>,
    /// Ascending within a group; all are below `classes_max`.
    classes: Vec<u32>,
    classes_max: usize,
    /// Only units with equal signatures fit one another.
    equal: bool,
    posted: OnceCell<Posted>,
}

/// The groups by the classes that they have rows in.
#[derive(Debug)]
struct Posted {
    /// By class, where its groups begin, and the end.
    starts: Vec<u32>,
    /// Those with the most rows first.
    groups: Vec<u32>,
    /// As many as groups.
    masks: Vec<u64>,
}

impl Signatures {
    /// Of all units: which of them are left is for each question to say. `class_of_row` has the
    /// class of every row, below `classes_max`.
    pub(super) fn new(rows: &UnitRows, class_of_row: &[u32], classes_max: usize, equal: bool) -> Signatures {
        let hasher = FixedState::default();
        // Most units have few rows.
        let mut few: HashTable<(u128, u32)> = HashTable::new();
        // With the hash, so that other groups need not be looked at.
        let mut many: HashTable<(u64, u32)> = HashTable::new();
        let mut found = Signatures {
            of_unit: vec![NONE; rows.len()],
            units: Vec::new(),
            starts: vec![0],
            classes: Vec::new(),
            classes_max,
            equal,
            posted: OnceCell::new(),
        };
        let fewest = if equal { 1 } else { 2 };
        let mut signature: Vec<u32> = Vec::new();
        for unit in (0..rows.len()).filter(|&unit| rows.count_of(unit) >= fewest) {
            let classes = &class_of_row[rows.rows_of(unit)];
            let group = match packed(classes, classes_max) {
                Some(key) => {
                    let hash = hasher.hash_one(key);
                    match few.find(hash, |&(other, _)| other == key) {
                        Some(&(_, group)) => group,
                        None => {
                            let group = found.add(classes);
                            few.insert_unique(hash, (key, group), |&(key, _)| hasher.hash_one(key));
                            group
                        }
                    }
                }
                None => {
                    signature.clear();
                    signature.extend_from_slice(classes);
                    signature.sort_unstable();
                    let hash = hasher.hash_one(signature.as_slice());
                    let is_equal = |&(other, group): &(u64, u32)| other == hash && found.classes_of(group) == signature;
                    match many.find(hash, is_equal) {
                        Some(&(_, group)) => group,
                        None => {
                            let group = found.add(&signature);
                            many.insert_unique(hash, (hash, group), |&(hash, _)| hash);
                            group
                        }
                    }
                }
            };
            found.of_unit[unit] = group;
            found.units[group as usize] += 1;
        }
        found
    }

    /// A new group, of units with these rows.
    fn add(&mut self, classes: &[u32]) -> u32 {
        let group = self.len() as u32;
        let start = self.classes.len();
        self.classes.extend_from_slice(classes);
        self.classes[start..].sort_unstable();
        self.starts.push(self.classes.len() as u32);
        self.units.push(0);
        group
    }

    /// The group of a unit that is judged by it.
    pub(super) fn of_unit(&self, unit: usize) -> Option<u32> {
        Some(self.of_unit[unit]).filter(|&group| group != NONE)
    }

    /// How many units every group has.
    pub(super) fn units_of_groups(&self) -> &[u32] {
        &self.units
    }

    /// By group, how many units fit, its own among them; or some of them, where that are more than
    /// `enough`.
    pub(super) fn count_fitting(&self, enough: u32) -> Vec<u32> {
        let fitting = |group: u32| {
            let mut units = 0;
            for other in self.fitting(group) {
                units += self.units[other as usize];
                if units > enough {
                    break;
                }
            }
            units
        };
        (0..self.len() as u32).map(fitting).collect()
    }

    /// How many units of every group are kept.
    pub(super) fn counts(&self, kept: &[bool]) -> Vec<u32> {
        let mut counts = vec![0u32; self.len()];
        for (unit, _) in kept.iter().enumerate().filter(|(_, kept)| **kept) {
            if let Some(group) = self.of_unit(unit) {
                counts[group as usize] += 1;
            }
        }
        counts
    }

    /// How many units every group has, without those that are gone.
    pub(super) fn counts_without(&self, gone: &[u32]) -> Vec<u32> {
        let mut counts = self.units.clone();
        let groups = gone.iter().filter_map(|&unit| self.of_unit(unit as usize));
        groups.for_each(|group| counts[group as usize] -= 1);
        counts
    }

    /// Lists the groups by class, so that those that fit one another can be found.
    fn post(&self) -> Posted {
        let classes = self.classes_max;
        let mut starts = vec![0u32; classes + 1];
        for group in 0..self.len() as u32 {
            each_once(self.classes_of(group), |class| starts[class as usize + 1] += 1);
        }
        (0..classes).for_each(|class| starts[class + 1] += starts[class]);
        let listed = starts[classes] as usize;
        let (mut next, mut groups, mut masks) = (starts.clone(), vec![0u32; listed], vec![0u64; listed]);
        for group in self.longest_first() {
            let classes = self.classes_of(group);
            let mask = mask(classes);
            each_once(classes, |class| {
                let place = next[class as usize] as usize;
                (groups[place], masks[place]) = (group, mask);
                next[class as usize] += 1;
            });
        }
        Posted { starts, groups, masks }
    }

    fn longest_first(&self) -> Vec<u32> {
        let rows = |group: u32| self.classes_of(group).len();
        let most = (0..self.len() as u32).map(rows).max().unwrap_or(0);
        // By how many rows fewer than the most.
        let mut next = vec![0u32; most + 2];
        (0..self.len() as u32).for_each(|group| next[most - rows(group) + 1] += 1);
        (0..=most).for_each(|fewer| next[fewer + 1] += next[fewer]);
        let mut sorted = vec![0u32; self.len()];
        for group in 0..self.len() as u32 {
            let next = &mut next[most - rows(group)];
            sorted[*next as usize] = group;
            *next += 1;
        }
        sorted
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The classes of a group, ascending, each as often as its units have rows there.
    pub(super) fn classes_of(&self, group: u32) -> &[u32] {
        &self.classes[self.starts[group as usize] as usize..self.starts[group as usize + 1] as usize]
    }

    /// The groups whose units fit those of a group, itself among them.
    pub(super) fn fitting(&self, group: u32) -> impl Iterator<Item = u32> + '_ {
        let own = self.classes_of(group);
        let (groups, masks) = if self.equal { (&[][..], &[][..]) } else { self.longer(own) };
        let mask = mask(own);
        let others = groups.iter().zip(masks).filter(move |(_, other)| mask & !**other == 0);
        let others = others.map(|(&other, _)| other).filter(move |&other| holds(self.classes_of(other), own));
        std::iter::once(group).chain(others)
    }

    /// The groups, with their masks, that have a row in one of some classes and more rows than
    /// these: of as many rows only an equal one would hold them. Of all classes, the one with the
    /// fewest.
    fn longer(&self, own: &[u32]) -> (&[u32], &[u64]) {
        let posted = self.posted.get_or_init(|| self.post());
        let ranges = own.iter().map(|&class| {
            let (start, end) = (posted.starts[class as usize] as usize, posted.starts[class as usize + 1] as usize);
            let longer = posted.groups[start..end].partition_point(|&other| self.classes_of(other).len() > own.len());
            start..start + longer
        });
        let fewest = ranges.min_by_key(Range::len).unwrap_or(0..0);
        (&posted.groups[fewest.clone()], &posted.masks[fewest])
    }

    /// Whether at least `needed` units fit those of a group, with these numbers of units.
    pub(super) fn enough_fit(&self, group: u32, needed: u64, counts: &[u32]) -> bool {
        let mut units = u64::from(counts[group as usize]);
        units >= needed
            || self.fitting(group).skip(1).any(|other| {
                units += u64::from(counts[other as usize]);
                units >= needed
            })
    }
}

/// The most rows whose classes fit in one key.
const PACKED_MAX: usize = 8;

/// A few classes in ascending order as one number, where each takes two bytes.
fn packed(classes: &[u32], classes_max: usize) -> Option<u128> {
    if classes.len() > PACKED_MAX || classes_max >= usize::from(u16::MAX) {
        return None;
    }
    let mut sorted = [0u16; PACKED_MAX];
    for (count, &class) in classes.iter().enumerate() {
        // Zero is none. Few rows are sorted quickest one by one.
        let class = class as u16 + 1;
        let mut place = count;
        while place > 0 && sorted[place - 1] > class {
            sorted[place] = sorted[place - 1];
            place -= 1;
        }
        sorted[place] = class;
    }
    Some(sorted.iter().rev().fold(0, |key, &class| (key << 16) | u128::from(class)))
}

/// A bit for every row, by its class and by which of the rows there it is.
fn mask(ascending: &[u32]) -> u64 {
    let (mut mask, mut last, mut nth) = (0, NONE, 0u32);
    for &class in ascending {
        nth = if class == last { nth + 1 } else { 0 };
        last = class;
        // Fibonacci hashing: the upper bits of the product are spread evenly.
        mask |= 1u64 << (class.wrapping_add(nth.wrapping_mul(0x85eb_ca6b)).wrapping_mul(0x9e37_79b1) >> 26);
    }
    mask
}

fn each_once(ascending: &[u32], mut visit: impl FnMut(u32)) {
    ascending.chunk_by(|a, b| a == b).for_each(|equal| visit(equal[0]));
}

/// Whether one multiset holds another; both ascend.
fn holds(larger: &[u32], smaller: &[u32]) -> bool {
    if larger.len() < smaller.len() {
        return false;
    }
    let mut rest = larger.iter();
    smaller.iter().all(|wanted| rest.by_ref().find(|found| *found >= wanted) == Some(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    fn seeds(count: u64) -> Vec<u64> {
        match std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse().ok()) {
            Some(seed) => vec![seed],
            None => (0..count).collect(),
        }
    }

    /// Units with rows in these classes.
    fn unit_rows(units: &[Vec<u32>]) -> (UnitRows, Vec<u32>) {
        let mut starts = vec![0u32];
        starts.extend(units.iter().scan(0, |sum, classes| {
            *sum += classes.len() as u32;
            Some(*sum)
        }));
        let class_of_row: Vec<u32> = units.iter().flatten().copied().collect();
        let entries = (0..class_of_row.len() as u32).collect();
        let occupied = units.iter().filter(|classes| !classes.is_empty()).count() as u64;
        (
            UnitRows { numbers: Vec::new(), starts, entries, values: Vec::new(), units: occupied, sources: Vec::new() },
            class_of_row,
        )
    }

    /// How often each class occurs among the rows of one unit at most as often as among another's.
    fn fits(other: &[u32], own: &[u32]) -> bool {
        let times = |classes: &[u32], class: u32| classes.iter().filter(|&&found| found == class).count();
        own.iter().all(|&class| times(own, class) <= times(other, class))
    }

    /// Against the definition, unit by unit: units without rows, of one row, and all alike too.
    #[test]
    fn the_units_that_fit_are_those_that_have_each_class_as_often() {
        let (mut several, mut too_few) = (0, 0);
        for seed in seeds(3000) {
            let mut rng = StdRng::seed_from_u64(seed);
            let classes = [1, 2, 5, 40, 300][rng.random_range(0..5)];
            let longest = [1, 2, 4, 9][rng.random_range(0..4)];
            let units: Vec<Vec<u32>> = (0..[0, 1, 2, 30][rng.random_range(0..4)])
                .map(|_| (0..rng.random_range(0..=longest)).map(|_| rng.random_range(0..classes)).collect())
                .collect();
            let kept: Vec<bool> = units.iter().map(|_| rng.random_bool(0.9)).collect();
            let (rows, class_of_row) = unit_rows(&units);
            let equal = rng.random_bool(0.3);
            let signatures = Signatures::new(&rows, &class_of_row, classes as usize, equal);
            let counts = signatures.counts(&kept);
            let gone: Vec<u32> = (0..units.len() as u32).filter(|&unit| !kept[unit as usize]).collect();
            assert_eq!(signatures.counts_without(&gone), counts, "seed {seed}");
            for unit in 0..units.len() {
                let own = &units[unit];
                let group = signatures.of_unit(unit);
                assert_eq!(group.is_some(), own.len() >= if equal { 1 } else { 2 }, "seed {seed}");
                let Some(group) = group else { continue };
                let fitting: Vec<u32> = signatures.fitting(group).collect();
                let expected: Vec<usize> = (0..units.len())
                    .filter(|&other| kept[other] && fits(&units[other], own) && (!equal || fits(own, &units[other])))
                    .collect();
                let is_found = |other: &usize| signatures.of_unit(*other).is_some_and(|group| fitting.contains(&group));
                let found = (0..units.len()).filter(|&other| kept[other]).filter(is_found);
                assert_eq!(found.collect::<Vec<_>>(), expected, "seed {seed}");
                let members: Vec<u32> = (0..units.len() as u32).filter(|&unit| kept[unit as usize]).collect();
                let members =
                    members.into_iter().filter(|&unit| signatures.of_unit(unit as usize) == Some(group)).count();
                assert_eq!(counts[group as usize] as usize, members, "seed {seed}");
                for needed in 0..=expected.len() as u64 + 1 {
                    let enough = signatures.enough_fit(group, needed, &counts);
                    assert_eq!(enough, expected.len() as u64 >= needed, "seed {seed}");
                    too_few += u64::from(!enough);
                }
                several += u64::from(fitting.len() > 1);
            }
        }
        assert!(several > 1000 && too_few > 1000, "{several} {too_few}");
    }

    #[test]
    fn a_multiset_holds_another_when_it_has_each_class_as_often() {
        assert!(holds(&[1, 2, 2, 5], &[2, 2]));
        assert!(holds(&[1, 2, 2, 5], &[1, 2, 2, 5]));
        assert!(holds(&[1], &[]));
        assert!(!holds(&[1, 2, 5], &[2, 2]));
        assert!(!holds(&[1, 3], &[2]));
        assert!(!holds(&[], &[2]));
    }
}
