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
    pub sub_classes: SubClasses,
    /// The true ε of the class that is farthest from the source.
    pub epsilon: f64,
    pub epsilon_of_classes: Epsilons,
    /// Tuples suppressed because classes take equal numbers; those of rare values come on top.
    pub suppressed: u64,
    /// Counterfeit tuples.
    pub counterfeits: u64,
    pub values: Vec<ClonedValue>,
    pub rare: Vec<RareValue>,
    /// Classes there would be if the rare values were suppressed; absent where they are, or where
    /// that would leave no release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes_without_rare: Option<u64>,
    pub promise: ClonePromise,
    pub distortion: Distortion,
    pub k: u64,
    pub lambda: u64,
    /// How long the assignment of tuples to classes took.
    #[serde(skip)]
    pub assign_time: Duration,
}

/// How many sub-classes there are, and the tuples of the smallest and the largest, counterfeits
/// among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SubClasses {
    pub count: u64,
    pub min: u64,
    pub max: u64,
}

/// ε of the class that is nearest to the source, and of the one that is farthest.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Epsilons {
    pub min: f64,
    pub max: f64,
}

/// The treatment of one sensitive value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClonedValue {
    pub value: String,
    /// In the source.
    pub rows: u64,
    /// The quota: γ of the paper.
    pub per_class: u64,
    pub suppressed: u64,
    pub counterfeits: u64,
}

/// A value so rare that it holds the number of classes down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RareValue {
    pub value: String,
    pub rows: u64,
    /// Classes there could be without it and the rarer ones.
    pub classes_without: u64,
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
