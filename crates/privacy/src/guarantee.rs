//! A guarantee: a privacy model with its parameters, judged class by class.
//!
//! A guarantee's type states what a search may conclude from one class about a union of classes
//! ([`OnMerge`], [`Absorbing`]), so that a search cannot prune by a property that was never
//! claimed.

use std::fmt::Debug;

use crate::proximity::Proximity;
use crate::{Distribution, Model};

/// One equivalence class as its protected attribute sees it.
#[derive(Debug, Clone, Copy)]
pub struct Class<'a> {
    /// Rows in the class; at least one.
    pub rows: u64,
    /// The protected values that occur and how often, ascending by code. Empty when the rule
    /// protects no attribute.
    pub values: &'a [(u32, u32)],
}

/// The consequence for the union of two classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OnMerge {
    /// Nothing.
    Neither,
    /// If both parts hold, the union holds.
    Merging,
    /// If one part holds, the union holds.
    Absorbing,
}

/// A condition that a class keeps when any other class is merged into it: enough rows, enough
/// different values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Absorbing {
    pub rows: u64,
    pub distinct: u64,
}

impl Absorbing {
    pub fn holds(self, class: Class<'_>) -> bool {
        class.rows >= self.rows && (self.distinct <= 1 || class.values.len() as u64 >= self.distinct)
    }
}

/// The number of different values, without the missing one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValuesNeeded {
    pub values: u64,
    /// The code of the missing value.
    pub missing: Option<u32>,
}

pub trait Guarantee: Debug + Send + Sync {
    fn model(&self) -> &Model;

    /// How the guarantee behaves when classes merge.
    fn on_merge(&self) -> OnMerge;

    /// The strongest absorbing condition that the guarantee implies: a class that breaks this
    /// breaks the guarantee, however the rest of the table looks. For an absorbing guarantee it is
    /// the guarantee itself.
    fn core(&self) -> Absorbing;

    /// Whether an absorbing guarantee requires more than [`Absorbing`] can state: its core is then
    /// [`Self::holds`] itself.
    fn core_is_more(&self) -> bool {
        false
    }

    /// Where a class holds exactly when it has enough different values: how many.
    fn values_needed(&self) -> Option<ValuesNeeded> {
        None
    }

    /// The most rows that a class can keep, however it is divided into classes that hold and
    /// rows that are suppressed: no union of disjoint parts of it that all hold has more. A search
    /// concludes from it what finer nodes suppress at least; all rows of the class is always true.
    fn kept_at_most(&self, class: Class<'_>) -> u64 {
        class.rows
    }

    /// Whether [`Self::kept_at_most`] can be less than all rows.
    fn bounds_parts(&self) -> bool {
        false
    }

    /// Whether classes are compared with the table's distribution.
    fn compares_with_table(&self) -> bool {
        false
    }

    /// Which values are close, where the guarantee limits the rows in any window of close values.
    fn windows(&self) -> Option<&Proximity> {
        None
    }

    /// `table` is the distribution of the protected attribute: only read when
    /// [`Self::compares_with_table`].
    fn holds(&self, class: Class<'_>, table: &Distribution) -> bool;

    /// How well one class does, for reports: the numbers of [`Self::achieved`] for this class
    /// alone, in the same order, each with whether smaller is worse. None where the guarantee is
    /// not about the class.
    fn measure(&self, class: Class<'_>, table: &Distribution) -> Vec<ClassMeasure>;
}

/// One number of a class, to be combined over all classes into what a release achieves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClassMeasure {
    pub name: &'static str,
    pub value: f64,
    /// The worst class has the smallest value (k, l) or the largest (t, α, c).
    pub smaller_is_worse: bool,
}

impl ClassMeasure {
    pub fn at_least(name: &'static str, value: f64) -> ClassMeasure {
        ClassMeasure { name, value, smaller_is_worse: true }
    }

    pub fn at_most(name: &'static str, value: f64) -> ClassMeasure {
        ClassMeasure { name, value, smaller_is_worse: false }
    }

    /// The worse of two measures of the same kind.
    pub fn worse(self, other: ClassMeasure) -> ClassMeasure {
        let mine_is_worse = if self.smaller_is_worse { self.value <= other.value } else { self.value >= other.value };
        if mine_is_worse { self } else { other }
    }

    /// The worse of the same numbers of two classes, one by one. A class that a guarantee is not
    /// about has none.
    pub fn worse_of(one: Vec<ClassMeasure>, other: Vec<ClassMeasure>) -> Vec<ClassMeasure> {
        match (one.is_empty(), other.is_empty()) {
            (true, _) => other,
            (_, true) => one,
            _ => one.into_iter().zip(other).map(|(one, other)| one.worse(other)).collect(),
        }
    }
}
