//! The loss of a cell under a hierarchy that a file lists.

use hedgerow_policy::Loss;
use hedgerow_table::{Domain, Kind};

use crate::random_case::HierarchyFile;

/// By the rows of a hierarchy's file. Without a row for the missing value, that one stays by itself
/// until the top.
pub(super) fn cell_loss_by_file(loss: Loss, file: &HierarchyFile, level: usize, domain: &Domain, code: u32) -> f64 {
    let row_of = |code: u32| file.iter().find(|row| row[0] == domain.text(code));
    let missing_apart = domain.missing_code().is_some_and(|missing| row_of(missing).is_none());
    let under: Vec<&[String; 4]> =
        row_of(code).map_or_else(Vec::new, |own| file.iter().filter(|row| row[level] == own[level]).collect());
    let top = level == 3;
    if loss == Loss::Granularity {
        let leaves = file.len() + usize::from(missing_apart);
        let covered = if top { leaves } else { under.len().max(1) };
        return (covered - 1) as f64 / (leaves - 1).max(1) as f64;
    }
    if top || level == 0 || under.len() <= 1 {
        return f64::from(u8::from(top));
    }
    let numbers = |texts: Vec<String>| -> Vec<f64> { texts.iter().filter_map(|text| text.parse().ok()).collect() };
    let leaves = numbers(under.iter().map(|row| row[0].clone()).collect());
    let values = numbers((0..domain.cardinality() as u32).map(|code| domain.text(code)).collect());
    let ends = |numbers: &[f64]| (numbers.iter().copied().reduce(f64::min), numbers.iter().copied().reduce(f64::max));
    match (domain.kind(), ends(&leaves), ends(&values)) {
        (Kind::Category, ..) => {
            let occurring = (0..domain.cardinality() as u32).filter_map(row_of).filter(|row| under.contains(row));
            occurring.count() as f64 / domain.cardinality() as f64
        }
        (_, (Some(low), Some(high)), (Some(lowest), Some(highest))) if lowest < highest => {
            ((high.min(highest) - low.max(lowest)) / (highest - lowest)).max(0.0)
        }
        _ => 0.0,
    }
}
