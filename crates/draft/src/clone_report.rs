//! The report of cloning, for the custodian who published the table.

use std::time::Duration;

use hedgerow_verify::clone_promise::ClonePromise;
use serde::Serialize;

/// For the custodian alone: it says how many tuples of every value the source has.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CloneReport {
    /// Classes of the release.
    pub classes: u64,
    /// Classes of the division, before small ones were united: b of the paper.
    pub divided: u64,
    /// The sub-classes that classes are made of.
    pub sub_classes: SubClasses,
    /// The true ε of the class that is farthest from the source.
    pub epsilon: f64,
    /// ε of the classes nearest to the source and farthest from it.
    pub epsilon_of_classes: Epsilons,
    /// Tuples suppressed because classes take equal numbers; those of rare values come on top.
    pub suppressed: u64,
    /// Counterfeit tuples.
    pub counterfeits: u64,
    /// Every sensitive value.
    pub values: Vec<ClonedValue>,
    /// Values so rare that they hold the number of classes down.
    pub rare: Vec<RareValue>,
    /// Classes there would be if the rare values were suppressed; absent where they are, or where
    /// that would leave no release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes_without_rare: Option<u64>,
    /// The promise that the release keeps together with releases that are not known.
    pub promise: ClonePromise,
    /// The cost of generalizing the classes instead.
    pub distortion: Distortion,
    /// The fewest tuples of a sub-class.
    pub k: u64,
    /// How many values of a sub-class an indicative range covers.
    pub lambda: u64,
    /// How long the assignment of tuples to classes took.
    #[serde(skip)]
    pub assign_time: Duration,
}

/// How many sub-classes there are, and the tuples of the smallest and the largest, counterfeits
/// among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SubClasses {
    /// The number of sub-classes.
    pub count: u64,
    /// The tuples of the smallest.
    pub min: u64,
    /// The tuples of the largest.
    pub max: u64,
}

/// ε of the class that is nearest to the source, and of the one that is farthest.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Epsilons {
    /// Of the class nearest to the source.
    pub min: f64,
    /// Of the class farthest from it.
    pub max: f64,
}

/// The treatment of one sensitive value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClonedValue {
    /// The sensitive value.
    pub value: String,
    /// In the source.
    pub rows: u64,
    /// The quota: γ of the paper.
    pub per_class: u64,
    /// Tuples suppressed.
    pub suppressed: u64,
    /// Counterfeit tuples.
    pub counterfeits: u64,
}

/// A value so rare that it holds the number of classes down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RareValue {
    /// The sensitive value.
    pub value: String,
    /// Its rows in the source.
    pub rows: u64,
    /// Classes there could be without it and the rarer ones.
    pub classes_without: u64,
    /// Whether the policy suppresses it.
    pub suppressed: bool,
}

/// Over all tuples and quasi attributes: if the classes were generalized, what that would cost.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Distortion {
    /// Levels of the hierarchies, added up: the paper's measure (Li, Wong, Fu, Pei: *Anonymization
    /// by local recoding in data with attribute hierarchical taxonomies*, 2008).
    pub steps: u64,
    /// The normalized certainty penalty of the smallest cells around each class.
    pub ncp: f64,
}
