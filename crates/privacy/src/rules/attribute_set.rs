//! Attributes by number, as bits.

use std::fmt;
use std::ops::{BitAnd, BitOr, Sub};

/// A set of attributes, each a number below [`AttributeSet::CAPACITY`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct AttributeSet(u128);

impl AttributeSet {
    pub const EMPTY: AttributeSet = AttributeSet(0);
    pub const CAPACITY: usize = 128;

    pub fn of(attribute: usize) -> AttributeSet {
        assert!(attribute < Self::CAPACITY, "attributes are numbered below {}", Self::CAPACITY);
        AttributeSet(1 << attribute)
    }

    /// The attributes 0, 1, … below `count`.
    pub fn first(count: usize) -> AttributeSet {
        (0..count).collect()
    }

    pub fn with(self, attribute: usize) -> AttributeSet {
        self | AttributeSet::of(attribute)
    }

    pub fn without(self, attribute: usize) -> AttributeSet {
        self - AttributeSet::of(attribute)
    }

    pub fn contains(self, attribute: usize) -> bool {
        attribute < Self::CAPACITY && self.0 >> attribute & 1 == 1
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    pub fn is_subset(self, other: AttributeSet) -> bool {
        self.0 & !other.0 == 0
    }

    pub fn meets(self, other: AttributeSet) -> bool {
        self.0 & other.0 != 0
    }

    /// In ascending order.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let next = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(next)
        })
    }
}

impl BitOr for AttributeSet {
    type Output = AttributeSet;
    fn bitor(self, other: AttributeSet) -> AttributeSet {
        AttributeSet(self.0 | other.0)
    }
}

impl BitAnd for AttributeSet {
    type Output = AttributeSet;
    fn bitand(self, other: AttributeSet) -> AttributeSet {
        AttributeSet(self.0 & other.0)
    }
}

impl Sub for AttributeSet {
    type Output = AttributeSet;
    fn sub(self, other: AttributeSet) -> AttributeSet {
        AttributeSet(self.0 & !other.0)
    }
}

impl FromIterator<usize> for AttributeSet {
    fn from_iter<I: IntoIterator<Item = usize>>(attributes: I) -> AttributeSet {
        attributes.into_iter().fold(AttributeSet::EMPTY, AttributeSet::with)
    }
}

impl fmt::Debug for AttributeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_sets() {
        let low: AttributeSet = [0, 3, 127].into_iter().collect();
        let high = AttributeSet::of(127);
        assert_eq!(low.iter().collect::<Vec<_>>(), [0, 3, 127]);
        assert!(high.is_subset(low) && low.meets(high) && !low.is_subset(high));
        assert_eq!(low - high, AttributeSet::EMPTY.with(0).with(3));
        assert_eq!(AttributeSet::first(4).without(3).len(), 3);
        assert!(!low.contains(1) && !low.contains(500));
    }
}
