//! The report of cloning, from a division and its classes.

use std::time::Duration;

use hedgerow_draft::clone_report::{CloneReport, ClonedValue, Distortion, Epsilons, SubClasses};
use hedgerow_table::Column;
use hedgerow_verify::clone_promise::ClonePromise;

use super::assignment::ClassCut;
use super::division::Division;
use super::{RareReport, Sizes};

/// The report of a table that was divided and cut.
pub(super) fn report(
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
        cut.iter().flat_map(|(_, parts)| parts.iter().map(|(rows, counterfeits)| (rows.len() + counterfeits) as u64))
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
