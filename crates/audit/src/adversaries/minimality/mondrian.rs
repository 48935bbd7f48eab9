//! Inference from a class that Mondrian did not divide: along every number, neither the cut
//! above the median nor the one below it left l values on both sides. Relaxed cuts share the people
//! at the median in an unknown order, so only the strict ones, which are tried as well, are
//! compared with it; categories are ignored.

use hedgerow_table::{Column, TableError};

use super::worlds::{PEOPLE_MAX, kinds, worlds};
use super::{Hits, Known, lower_bound, members, possible, remaining, truths};
use crate::finding::{Exposure, Finding, ReleaseCells, Worst};

pub(super) fn attack(known: &Known<'_>, finding: &mut Finding) -> Result<(), TableError> {
    let Known { name, classes, sensitive, people, required } = known;
    let columns = classes.quasi.iter().filter_map(|quasi| people.column(&quasi.name));
    let numbers: Vec<&Column> = columns.filter(|column| column.domain.number(0).is_some()).collect();
    let (mut worst, mut skipped, mut drawn, mut likely) = (Worst::new(), 0u64, 0u64, 0.0f64);
    let (truths, mut hits) = (truths(known), Hits::default());
    finding.confidences = vec![0.0; people.rows];
    lower_bound(finding, "cuts of categories, relaxed cuts and those of the divisions before were not examined");
    for (class, members) in members(known)?.iter().enumerate() {
        let values = sensitive.of_bucket(classes.bucket_of[class]);
        let size = u64::from(classes.sizes[class]);
        if members.len() as u64 != size || members.len() > PEOPLE_MAX {
            skipped += size;
            continue;
        }
        let cuts = median_cuts(&numbers, members, required.k);
        let all = if members.len() == PEOPLE_MAX { u128::MAX } else { (1 << members.len()) - 1 };
        let keeps =
            |given: &[u128], below: u128| kinds(given, below) >= required.l && kinds(given, all & !below) >= required.l;
        let all_fail = |given: &[u128]| !cuts.iter().any(|&below| keeps(given, below));
        let Some(found) = worlds(values, members.len(), all_fail).filter(|found| found.fitting > 0) else {
            skipped += size;
            continue;
        };
        finding.people += size;
        for person in 0..members.len() {
            let shares = found.shares(person);
            let top = shares.iter().copied().fold(0.0, f64::max);
            if !found.exact {
                finding.leave(values.len() as u64, 1);
                (drawn, likely) = (drawn + 1, likely.max(top));
                continue;
            }
            let possible = possible(&shares);
            let left = possible.len();
            if let Some(truths) = &truths {
                hits.count(truths[members[person]], values, &possible);
            }
            finding.leave(left as u64, 1);
            finding.confidences[members[person]] = top as f32;
            if left == 1 {
                finding.at_risk += 1;
                finding.people_at_risk.push(members[person] as u32);
            }
            finding.max_confidence = finding.max_confidence.max(top);
            worst.offer((-top, left, class), || Exposure {
                cells: vec![ReleaseCells::new(name, classes.describe(class))],
                values: remaining(sensitive, values, &shares),
                people: 1,
                why: format!("each of {} cuts of this class must have broken the rule", cuts.len()),
            });
        }
    }
    if drawn > 0 {
        finding.details.insert("confidence_drawn".to_owned(), serde_json::json!(likely));
        finding.note(format!(
            "{drawn} rows are in classes with too many ways to go through: some were drawn, and confidence_drawn is estimated from them"
        ));
    }
    if skipped > 0 {
        let note = format!(
            "{skipped} rows are in classes too large, or whose people are not all known or match several classes"
        );
        finding.note(note);
    }
    if truths.is_some() {
        hits.report(finding);
    }
    finding.people_at_risk.sort_unstable();
    finding.worst = worst.into_vec();
    Ok(())
}

/// The people on the lower side of every cut that was tried and leaves k on each side, as bits.
pub(super) fn median_cuts(numbers: &[&Column], members: &[usize], k: u64) -> Vec<u128> {
    let mut cuts = Vec::new();
    for column in numbers {
        let codes: Vec<u32> = members.iter().map(|&row| column.codes.get(row)).collect();
        let mut sorted = codes.clone();
        sorted.sort_unstable();
        let Some(&median) = sorted.get(sorted.len().div_ceil(2).wrapping_sub(1)) else { continue };
        // A class with missing values is cut into those and the others, and nowhere else.
        let missing = column.domain.missing_code().filter(|missing| codes.contains(missing));
        let before = missing.map_or_else(|| vec![median, median + 1], |missing| vec![missing]);
        for at in before {
            let lower = codes.iter().enumerate().filter(|(_, code)| **code < at);
            let below = lower.fold(0u128, |bits, (person, _)| bits | 1 << person);
            let count = u64::from(below.count_ones());
            if count >= k.max(1) && members.len() as u64 - count >= k.max(1) {
                cuts.push(below);
            }
        }
    }
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}
