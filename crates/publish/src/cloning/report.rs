//! The report of cloning, for the custodian who published the table.

use std::time::Duration;

use hedgerow_table::Column;
use hedgerow_verify::clone_promise::ClonePromise;
use serde::Serialize;

use super::assignment::ClassCut;
use super::distortion::Distortion;
use super::division::Division;
use super::{RareReport, Sizes};

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

impl CloneReport {
    pub(super) fn new(
        sensitive: &Column,
        division: &Division,
        cut: &[ClassCut],
        rare: RareReport,
        (distortion, assign_time): (Distortion, Duration),
        sizes: &Sizes,
    ) -> CloneReport {
        let values = division.shares.iter().map(|share| ClonedValue {
            value: sensitive.domain.text(share.code),
            rows: share.rows,
            per_class: share.per_class,
            suppressed: share.suppressed(division.classes),
            counterfeits: share.counterfeit(division.classes),
        });
        let parts = || {
            cut.iter()
                .flat_map(|(_, parts)| parts.iter().map(|(rows, counterfeits)| (rows.len() + counterfeits) as u64))
        };
        let epsilons = epsilons(sensitive, division, cut);
        CloneReport {
            classes: cut.len() as u64,
            divided: division.classes,
            sub_classes: SubClasses {
                count: parts().count() as u64,
                min: parts().min().unwrap_or(0),
                max: parts().max().unwrap_or(0),
            },
            epsilon: epsilons.max,
            epsilon_of_classes: epsilons,
            suppressed: division.suppressed(),
            counterfeits: division.counterfeits(),
            values: values.collect(),
            rare: rare.values,
            classes_without_rare: rare.classes_without,
            promise: ClonePromise::of(&division.distributions(), &sensitive.name),
            distortion,
            assign_time,
            k: sizes.tuples,
            lambda: sizes.lambda,
        }
    }
}

/// The least and the largest ε of the classes, from what they hold.
fn epsilons(sensitive: &Column, division: &Division, cut: &[ClassCut]) -> Epsilons {
    let source = sensitive.counts();
    let rows: u64 = source.iter().sum();
    let mut counts = vec![0u64; source.len()];
    let mut epsilons = Epsilons { min: f64::INFINITY, max: 0.0 };
    for (class, _) in cut {
        counts.fill(0);
        class.rows.iter().for_each(|&row| counts[sensitive.codes.get(row as usize) as usize] += 1);
        for (share, counterfeits) in division.shares.iter().zip(&class.counterfeits) {
            counts[share.code as usize] += counterfeits;
        }
        let tuples: u64 = counts.iter().sum();
        let off = |(&here, &there): (&u64, &u64)| (here as f64 / tuples as f64 - there as f64 / rows as f64).abs();
        let epsilon = counts.iter().zip(&source).map(off).fold(0.0, f64::max);
        epsilons = Epsilons { min: epsilons.min.min(epsilon), max: epsilons.max.max(epsilon) };
    }
    epsilons
}
