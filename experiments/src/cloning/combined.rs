//! The gain of an adversary who combines two cloned releases and knows that a person is in both, as
//! the paper assumes: θ of equation 4, and how many values are left, over all pairs of classes with
//! one of each release. No matching of people with classes can do worse than the worst pair.
//!
//! The adversary `composition` of the audit is not that one: publishers of clones suppress tuples,
//! so it is not sure that a person is in two releases, and combines nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use hedgerow_audit::adversaries::composition::confidences;
use hedgerow_release::Release;
use hedgerow_release::kinds::ReleaseTables;
use hedgerow_table::NoProgress;

use crate::experiment::Trouble;

/// Of the worst pair of classes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Combined {
    pub(super) gained: f64,
    pub(super) left: usize,
}

/// Tuples of a class by the number of their value, ascending.
type ClassCounts = Vec<(u32, u32)>;

pub(super) fn combined(first: &Path, other: &Path) -> Result<Combined, Trouble> {
    let mut numbers = BTreeMap::new();
    let [first, other] = [shown(first, &mut numbers)?, shown(other, &mut numbers)?];
    Ok(worst_pair(&first, &other))
}

/// Most classes of clones have the same counts: each of these once.
fn shown(release: &Path, numbers: &mut BTreeMap<String, u32>) -> Result<BTreeSet<ClassCounts>, Trouble> {
    let release = Release::open(release, &NoProgress)?;
    let ReleaseTables::Cloned(cloned) = release.tables() else { return Err("a cloned release".into()) };
    let mut shown = BTreeSet::new();
    for class in &cloned.classes {
        let mut counts = ClassCounts::new();
        for &(code, count) in &class.values {
            let next = numbers.len() as u32;
            counts.push((*numbers.entry(cloned.domain.text(code)).or_insert(next), count));
        }
        counts.sort_unstable();
        shown.insert(counts);
    }
    Ok(shown)
}

fn worst_pair(first: &BTreeSet<ClassCounts>, other: &BTreeSet<ClassCounts>) -> Combined {
    let mut worst = Combined { gained: f64::NEG_INFINITY, left: usize::MAX };
    let real = |counts: &ClassCounts| -> Vec<(u32, f64)> {
        counts.iter().map(|&(value, count)| (value, f64::from(count))).collect()
    };
    for one in first {
        for two in other {
            let [one, two] = [real(one), real(two)];
            let found = confidences(&[&one[..], &two[..]]);
            let share = |counts: &[(u32, f64)], value: u32| {
                let all: f64 = counts.iter().map(|(_, count)| count).sum();
                counts.iter().find(|(own, _)| *own == value).map_or(0.0, |(_, count)| count / all)
            };
            let gain = |&(value, confidence): &(u32, f64)| confidence - share(&one, value).max(share(&two, value));
            worst.gained = found.iter().map(gain).fold(worst.gained, f64::max);
            worst.left = worst.left.min(found.len());
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Example 2: C 2, D 3, G 2, J 2 and A, D, G, J 3 each. D has 3/7, and 1/3 in the first.
    #[test]
    fn nancy_gains_two_twenty_firsts() {
        let classes = |counts: &[(u32, u32)]| BTreeSet::from([counts.to_vec()]);
        let first = classes(&[(0, 2), (1, 3), (2, 2), (3, 2)]);
        let other = classes(&[(1, 3), (2, 3), (3, 3), (4, 3)]);
        let found = worst_pair(&first, &other);
        assert_eq!(found.left, 3);
        assert!((found.gained - (3.0 / 7.0 - 1.0 / 3.0)).abs() < 1e-12, "{found:?}");
        let alike = worst_pair(&first, &first);
        assert!(alike.gained.abs() < 1e-12 && alike.left == 4, "{alike:?}");
        assert_eq!(worst_pair(&classes(&[(0, 1), (1, 1)]), &classes(&[(0, 1), (2, 1)])).left, 1);
        assert!(worst_pair(&first, &BTreeSet::new()).gained.is_infinite(), "nothing was combined");
    }
}
