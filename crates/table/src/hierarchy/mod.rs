//! Generalization hierarchies: for every level, which label each value of a column becomes.
//!
//! Level 0 is the value itself, the last level is the top, one label for all. Every level is a
//! coarsening of the one below. A missing value is a value of its own until the top, unless the
//! hierarchy's file says otherwise.

mod bound;
mod breaks;
mod dates;
mod file;
mod file_cover;
mod levels;
mod mask;
mod subject;
#[cfg(test)]
mod testing;
mod widths;

use std::path::PathBuf;

use hashbrown::HashMap;

pub use bound::Bound;
pub use breaks::interval_label;

use crate::domain::{Domain, Values};
use crate::error::TableError;
use subject::Subject;

/// The most levels above the values that a policy or a hierarchy's file may name.
pub const LEVELS_MAX: usize = 64;

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

/// The values of a label; they come from the hierarchy, never from the rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Cover {
    /// Everything, the missing value included: the top of a hierarchy whose leaves are not listed
    /// in a file.
    Everything,
    /// Only the missing value.
    Missing,
    /// One number or date.
    Point(Bound),
    /// From `low` (inclusive) to `high` (exclusive); `None` is open.
    Interval { low: Option<Bound>, high: Option<Bound> },
    /// These leaves, in order; the empty text among them is the missing value.
    Leaves(Vec<String>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    pub text: String,
    pub cover: Cover,
    /// How many leaves of the hierarchy lie under it (a file's leaves whether or not they occur in
    /// the data; without a file, the values that occur).
    pub leaves: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// From the code of a value in the column's domain (the missing one included) to its label on
    /// this level.
    pub map: Vec<u32>,
    pub labels: Vec<Label>,
}

/// A hierarchy bound to the domain of one column. Built, and thereby validated, by
/// [`Hierarchy::build`].
#[derive(Debug, Clone, PartialEq)]
pub struct Hierarchy {
    levels: Vec<Level>,
    leaves: u64,
}

/// The leaves of a hierarchy under each label of one of its levels.
pub type LeavesUnder = HashMap<String, Vec<String>>;

impl HierarchySpec {
    /// The kind of hierarchy, as a policy names it; `None` where an attribute has none.
    pub fn name(&self) -> Option<&'static str> {
        match self {
            HierarchySpec::None => None,
            HierarchySpec::File(_) => Some("file"),
            HierarchySpec::Widths(_) => Some("widths"),
            HierarchySpec::Breaks(_) => Some("breaks"),
            HierarchySpec::Mask(_) => Some("mask"),
            HierarchySpec::Dates(_) => Some("dates"),
        }
    }
}

impl Hierarchy {
    /// Binds a declared hierarchy to the values of a column, or says what keeps it from covering
    /// them level by level.
    ///
    /// `place` is where the policy declares it, for what is wrong outside a hierarchy's own file;
    /// `nulls` are the texts that stand for a missing value.
    pub fn build(
        spec: &HierarchySpec,
        attribute: &str,
        place: &str,
        domain: &Domain,
        nulls: &[String],
    ) -> Result<Hierarchy, TableError> {
        let subject = Subject { attribute, place, domain, nulls };
        subject.refuse_empty_text()?;
        if let HierarchySpec::File(path) = spec {
            let (levels, leaves) = file::build(path, &subject)?;
            return Ok(Hierarchy { levels, leaves });
        }
        let levels = match spec {
            HierarchySpec::None | HierarchySpec::File(_) => vec![levels::top(domain)],
            HierarchySpec::Widths(widths) => widths::build(widths, &subject)?,
            HierarchySpec::Breaks(cuts) => breaks::build(cuts, &subject)?,
            HierarchySpec::Mask(characters) => mask::build(*characters, &subject)?,
            HierarchySpec::Dates(units) => dates::build(units, &subject)?,
        };
        subject.refuse_star(levels::TOP)?;
        let levels = std::iter::once(levels::values(domain)).chain(levels).collect();
        Ok(Hierarchy { levels, leaves: domain.cardinality() as u64 })
    }

    /// The levels of a file or a mask above one that is released in place of the values: `domain`
    /// has the labels of that level. Also which leaves of the file lie under each label; the empty
    /// text among them is the missing value. `None` for other hierarchies.
    pub fn above_level(
        spec: &HierarchySpec,
        level: usize,
        attribute: &str,
        place: &str,
        domain: &Domain,
        nulls: &[String],
    ) -> Result<Option<(Hierarchy, LeavesUnder)>, TableError> {
        // Its labels are texts, of which none stands for a missing value.
        let subject = Subject { attribute, place, domain, nulls: &[] };
        match spec {
            HierarchySpec::File(path) => {
                let (levels, leaves, under) = file::build_above(path, level, &subject, nulls)?;
                Ok(Some((Hierarchy { levels, leaves }, under)))
            }
            HierarchySpec::Mask(characters) => {
                let above = mask::build_above(*characters, &subject);
                let levels = std::iter::once(levels::values(domain)).chain(above).collect();
                Ok(Some((Hierarchy { levels, leaves: domain.cardinality() as u64 }, LeavesUnder::new())))
            }
            _ => Ok(None),
        }
    }

    /// The leaves of a hierarchy that a file lists: all values that there can be. `None` for other
    /// hierarchies, which know of no values but those that they are built for.
    pub fn declared_leaves(
        spec: &HierarchySpec,
        attribute: &str,
        place: &str,
        nulls: &[String],
    ) -> Result<Option<Vec<String>>, TableError> {
        let HierarchySpec::File(path) = spec else { return Ok(None) };
        let domain = Domain::new(Values::Category(Vec::new()), false);
        let leaves = file::leaves(path, &Subject { attribute, place, domain: &domain, nulls })?;
        // A row for the missing value is not a row of a value.
        Ok(Some(leaves.into_iter().filter(|leaf| !nulls.contains(leaf)).collect()))
    }

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

    /// How many values of the domain (the missing one included) lie under each label of a level.
    pub fn occurring(&self, level: usize) -> Vec<u64> {
        levels::count(&self.levels[level].map, self.levels[level].labels.len())
    }
}

#[cfg(test)]
mod tests;
