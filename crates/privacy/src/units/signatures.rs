//! The classes that the rows of a unit are in, each as often as it has rows there: what an attacker
//! who knows every row of a unit compares units by.
//!
//! Units with equal signatures form a group; groups are usually few where levels are coarse. A unit
//! fits another when its signature holds the other's, as multisets. The groups that may are found
//! among those that have a row in the other's rarest class.

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

use super::UnitRows;

/// The group of units that have none.
pub(super) const NONE: u32 = u32::MAX;

#[derive(Debug)]
pub(super) struct Signatures {
    /// The group of every unit; [`NONE`] for units that are not kept or have no rows.
    pub(super) of_unit: Vec<u32>,
    /// Where the classes of every group begin, and the end.
    starts: Vec<u32>,
    /// Ascending within a group.
    classes: Vec<u32>,
    /// Units in every group.
    pub(super) counts: Vec<u32>,
    /// Only units with equal signatures fit one another.
    equal: bool,
    /// By class, where the groups begin that have rows there, and the end.
    posted: Vec<u32>,
    /// Groups of several rows.
    groups: Vec<u32>,
}

impl Signatures {
    /// Of the units that are kept. `class_of_row` has the class of every row, of `classes`.
    pub(super) fn new(rows: &UnitRows, class_of_row: &[u32], classes: usize, kept: &[bool], equal: bool) -> Signatures {
        let hasher = FixedState::default();
        let mut table: HashTable<u32> = HashTable::new();
        let mut found = Signatures {
            of_unit: vec![NONE; rows.len()],
            starts: vec![0],
            classes: Vec::new(),
            counts: Vec::new(),
            equal,
            posted: Vec::new(),
            groups: Vec::new(),
        };
        let mut signature: Vec<u32> = Vec::new();
        for unit in (0..rows.len()).filter(|&unit| kept[unit] && rows.count_of(unit) > 0) {
            signature.clear();
            signature.extend_from_slice(&class_of_row[rows.rows_of(unit)]);
            signature.sort_unstable();
            let hash = hasher.hash_one(signature.as_slice());
            let group = match table.find(hash, |&group| found.classes_of(group) == signature) {
                Some(&group) => group,
                None => {
                    let group = found.counts.len() as u32;
                    found.classes.extend_from_slice(&signature);
                    found.starts.push(found.classes.len() as u32);
                    found.counts.push(0);
                    table.insert_unique(hash, group, |&group| hasher.hash_one(found.classes_of(group)));
                    group
                }
            };
            found.counts[group as usize] += 1;
            found.of_unit[unit] = group;
        }
        if !equal {
            found.post(classes);
        }
        found
    }

    /// Lists the groups of several rows by class: a group of one row holds no other.
    fn post(&mut self, classes: usize) {
        let several = |group: &u32| self.classes_of(*group).len() > 1;
        let mut posted = vec![0u32; classes + 1];
        for group in (0..self.len() as u32).filter(several) {
            each_once(self.classes_of(group), |class| posted[class as usize + 1] += 1);
        }
        (0..classes).for_each(|class| posted[class + 1] += posted[class]);
        let (mut next, mut groups) = (posted.clone(), vec![0u32; posted[classes] as usize]);
        for group in (0..self.len() as u32).filter(several) {
            each_once(self.classes_of(group), |class| {
                groups[next[class as usize] as usize] = group;
                next[class as usize] += 1;
            });
        }
        (self.posted, self.groups) = (posted, groups);
    }

    pub(super) fn len(&self) -> usize {
        self.counts.len()
    }

    /// The classes of a group, ascending, each as often as its units have rows there.
    pub(super) fn classes_of(&self, group: u32) -> &[u32] {
        &self.classes[self.starts[group as usize] as usize..self.starts[group as usize + 1] as usize]
    }

    /// The groups whose units fit those of a group, itself among them. Asked of groups of several
    /// rows, or where only equal ones fit: for one row they are all units of its class.
    pub(super) fn fitting(&self, group: u32) -> impl Iterator<Item = u32> + '_ {
        let own = self.classes_of(group);
        let posted = |class: u32| self.posted[class as usize] as usize..self.posted[class as usize + 1] as usize;
        let searched = own.iter().filter(|_| !self.equal).map(|&class| posted(class));
        let others = searched.min_by_key(|range| range.len()).map_or(&[][..], |range| &self.groups[range]);
        let holds = move |&other: &u32| other != group && holds(self.classes_of(other), own);
        std::iter::once(group).chain(others.iter().copied().filter(holds))
    }

    /// Whether at least `needed` units fit those of a group.
    pub(super) fn enough_fit(&self, group: u32, needed: u64) -> bool {
        let mut units = 0;
        self.fitting(group).any(|other| {
            units += u64::from(self.counts[other as usize]);
            units >= needed
        })
    }
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
