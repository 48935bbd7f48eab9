//! The strongest inference about a sensitive attribute within one release, class by class.
//!
//! - *homogeneity*: a class with one value tells it; the confidence is the largest share of a value in any class.
//! - *skew*: how many times likelier a value is in a class than in the whole table.
//! - *proximity*, for numbers: the narrowest class, as a share of the whole range. Values that differ but lie close
//!   together tell nearly as much as one value.

use hedgerow_table::release::classes::{ReleasedClasses, SensitiveCounts};
use serde_json::json;

use super::linker::owned;
use crate::finding::{Exposure, Finding, Worst};

pub(crate) fn run(name: &str, classes: &ReleasedClasses, sensitive: &SensitiveCounts) -> Finding {
    let mut finding = Finding::new("attribute", vec![name.to_owned()], Some(&sensitive.name));
    let totals = sensitive.totals();
    let rows: u64 = totals.iter().sum();
    let first_class = first_classes(classes);
    let numbers = numbers(sensitive);
    let range = numbers.as_ref().map(|numbers| spread(numbers.iter().copied()));
    let (mut worst, mut lift, mut narrowest) = (Worst::new(), 0.0f64, f64::INFINITY);
    for (bucket, &class) in first_class.iter().enumerate() {
        let values = sensitive.of_bucket(bucket as u32);
        let size: u64 = values.iter().map(|&(_, count)| u64::from(count)).sum();
        let (Some(class), true) = (class, size > 0) else { continue };
        finding.people += size;
        finding.leave(values.len() as u64, size);
        finding.at_risk += if values.len() == 1 { size } else { 0 };
        let share = |count: u32| f64::from(count) / size as f64;
        let top = values.iter().map(|&(_, count)| share(count)).fold(0.0, f64::max);
        finding.max_confidence = finding.max_confidence.max(top);
        let lifts = values.iter().map(|&(value, count)| share(count) * rows as f64 / totals[value as usize] as f64);
        lift = lift.max(lifts.fold(0.0, f64::max));
        if let (Some(numbers), Some(range)) = (&numbers, range.filter(|range| *range > 0.0)) {
            narrowest = narrowest.min(spread(values.iter().map(|&(value, _)| numbers[value as usize])) / range);
        }
        worst.offer((values.len(), -top, u64::MAX - size), || Exposure {
            cells: vec![(name.to_owned(), owned(classes.describe(class)))],
            values: ranked(sensitive, values, size),
            people: size,
            why: "the values of this class".to_owned(),
        });
    }
    finding.effective_k = classes.bucket_sizes.iter().map(|&size| u64::from(size)).min();
    finding.details.insert("skew".to_owned(), json!(lift));
    if narrowest.is_finite() {
        finding.details.insert("narrowest_share_of_range".to_owned(), json!(narrowest));
    }
    finding.worst = worst.into_vec();
    finding
}

fn first_classes(classes: &ReleasedClasses) -> Vec<Option<usize>> {
    let mut first = vec![None; classes.buckets()];
    for (class, &bucket) in classes.bucket_of.iter().enumerate().rev() {
        first[bucket as usize] = Some(class);
    }
    first
}

fn ranked(sensitive: &SensitiveCounts, values: &[(u32, u32)], size: u64) -> Vec<(String, f64)> {
    let mut ranked: Vec<(String, f64)> = values
        .iter()
        .map(|&(value, count)| (sensitive.values[value as usize].clone(), f64::from(count) / size as f64))
        .collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    ranked
}

/// The values as numbers, when all of them are.
fn numbers(sensitive: &SensitiveCounts) -> Option<Vec<f64>> {
    sensitive.values.iter().map(|value| value.parse().ok().filter(|number: &f64| number.is_finite())).collect()
}

fn spread(numbers: impl Iterator<Item = f64>) -> f64 {
    let (low, high) =
        numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), number| (low.min(number), high.max(number)));
    high - low
}

#[cfg(test)]
mod tests {
    use hedgerow_table::{Cover, Table};

    use super::*;

    fn classes(rows: &[[&str; 2]]) -> ReleasedClasses {
        let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.to_vec()).collect();
        let table = Table::from_texts(&["age", "salary"], &rows);
        let covers = |_: &str, label: &str| Cover::Leaves(vec![label.to_owned()]);
        let names = ["age".to_owned(), "salary".to_owned()];
        ReleasedClasses::of_generalised("data", &table, &names[..1], &names[1..], covers, "t").unwrap()
    }

    #[test]
    fn a_class_of_one_value_is_found_and_close_numbers_are_told() {
        let planted = classes(&[["old", "50"], ["old", "50"], ["young", "10"], ["young", "110"]]);
        let found = run("r", &planted, &planted.sensitive[0]);
        assert_eq!((found.people, found.at_risk, found.effective_l), (4, 2, Some(1)));
        assert_eq!(found.max_confidence, 1.0);
        assert_eq!(found.worst[0].values, [("50".to_owned(), 1.0)]);
        assert_eq!(found.details["skew"], json!(2.0));
        assert_eq!(found.details["narrowest_share_of_range"], json!(0.0));
        let safe = classes(&[["old", "50"], ["old", "60"], ["young", "10"], ["young", "110"]]);
        let found = run("r", &safe, &safe.sensitive[0]);
        assert_eq!((found.at_risk, found.effective_l, found.max_confidence), (0, Some(2), 0.5));
        assert_eq!(found.details["narrowest_share_of_range"], json!(0.1));
    }

    #[test]
    fn the_linker_counts_rows_that_fit_the_same_cells() {
        let table = classes(&[["old", "50"], ["young", "10"], ["young", "20"], ["young", "20"]]);
        let found = super::super::linker::run("r", &table, 2);
        assert_eq!((found.people, found.at_risk, found.effective_k), (4, 1, Some(1)));
        assert_eq!(found.details["marketer"], json!(0.5));
        assert_eq!(found.details["share_below_k"], json!(0.25));
        assert_eq!(super::super::linker::run("r", &table, 1).at_risk, 0, "a safe case: nobody is below 1");
    }
}
