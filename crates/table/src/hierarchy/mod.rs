//! Generalisation hierarchies: for every level, which label each value of a column becomes.
//!
//! Level 0 is the value itself, the last level is the top, one label for all. Every level is a coarsening of the one
//! below. A missing value is a value of its own until the top, unless the hierarchy's file says otherwise.

use std::fmt;
use std::path::PathBuf;

use crate::date::Date;

/// How a policy describes a hierarchy, before it meets the data.
#[derive(Debug, Clone, PartialEq)]
pub enum HierarchySpec {
    /// The value, then `*`.
    None,
    /// A CSV file in ARX's layout: `leaf;level 1;…;top`, one row per leaf.
    File(PathBuf),
    /// Intervals of these widths, aligned at zero; each width a multiple of the one before.
    Widths(Vec<f64>),
    /// Cut points per level; each level's are among those of the level below.
    Breaks(Vec<Vec<Bound>>),
    /// One character from the right per level, this many times.
    Mask(usize),
    /// Calendar units, finest first.
    Dates(Vec<DateUnit>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DateUnit {
    Day,
    Month,
    Quarter,
    Year,
    Decade,
}

/// A point on a number or date axis.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub enum Bound {
    Integer(i64),
    Float(f64),
    Date(Date),
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Integer(value) => write!(f, "{value}"),
            Bound::Float(value) => write!(f, "{value}"),
            Bound::Date(value) => write!(f, "{value}"),
        }
    }
}

/// What a label stands for; this is what the codebook publishes, so it comes from the hierarchy, never from the people.
#[derive(Debug, Clone, PartialEq)]
pub enum Cover {
    /// Everything, the missing value included: the top of a hierarchy whose leaves are not listed in a file.
    Everything,
    /// Only the missing value.
    Missing,
    /// One number or date.
    Point(Bound),
    /// From `low` (inclusive) to `high` (exclusive); `None` is open.
    Interval { low: Option<Bound>, high: Option<Bound> },
    /// These leaves, in order.
    Leaves(Vec<String>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    pub text: String,
    pub cover: Cover,
    /// How many leaves of the hierarchy lie under it (a file's leaves whether or not they occur in the data; without
    /// a file, the values that occur).
    pub leaves: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// From the code of a value in the column's domain (the missing one included) to its label on this level.
    pub map: Vec<u32>,
    pub labels: Vec<Label>,
}

/// A hierarchy bound to the domain of one column. Built, and thereby validated, by [`Hierarchy::build`].
#[derive(Debug, Clone, PartialEq)]
pub struct Hierarchy {
    levels: Vec<Level>,
    leaves: u64,
}

impl Hierarchy {
    /// Levels from the values (0) to the top.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// The number of the top level.
    pub fn top(&self) -> usize {
        self.levels.len() - 1
    }

    /// All leaves of the hierarchy.
    pub fn leaves(&self) -> u64 {
        self.leaves
    }

    /// From the labels of level `from` to those of the coarser level `to`.
    pub fn between(&self, from: usize, to: usize) -> Vec<u32> {
        debug_assert!(from <= to);
        let mut map = vec![0u32; self.levels[from].labels.len()];
        for (&fine, &coarse) in self.levels[from].map.iter().zip(&self.levels[to].map) {
            map[fine as usize] = coarse;
        }
        map
    }
}
