//! The guarantees that break on given levels, each as one line that says why no release was found.

use std::borrow::Cow;

use hedgerow_privacy::Judge;
use hedgerow_privacy::judge::Achieved;
use hedgerow_table::{Codes, with_words};
use hedgerow_verify::check::claim;
use serde_json::{Map, Value};

use crate::bind::Bound;

/// One line for every guarantee that breaks when all rows agree on every quasi attribute.
pub fn broken_by_the_whole(bound: &Bound<'_>, judge: &Judge) -> Vec<String> {
    let columns = bound.judged_codes().into_iter().enumerate();
    let columns = columns
        .map(|(index, codes)| match bound.quasi.get(index) {
            Some(_) => Cow::Owned(Codes::U8(vec![0; codes.len()])),
            None => Cow::Borrowed(codes),
        })
        .collect();
    let tops: Vec<u8> = bound.quasi.iter().map(|quasi| quasi.hierarchy.top() as u8).collect();
    broken(bound, &achieved(bound, judge, columns, &tops), "with every quasi-identifier at its top level")
}

/// A line where too few rows fit some people even when all rows agree on every quasi attribute.
pub fn inconsistent_as_a_whole(bound: &Bound<'_>) -> Option<String> {
    let failing = people_whom_no_class_hides(bound);
    (failing > 0).then(|| {
        format!(
            "a rule with `consistent` breaks for the rows that fit {failing} people, with every quasi-identifier at its \
             top level"
        )
    })
}

/// The people for whom a rule with `consistent = true` fails even where all rows are one class.
pub fn people_whom_no_class_hides(bound: &Bound<'_>) -> usize {
    let Some(consistent) = bound.consistent() else { return 0 };
    let agreed: Vec<Cow<'_, Codes>> = (bound.judged_codes().into_iter().enumerate())
        .map(|(index, codes)| match bound.quasi.get(index) {
            Some(_) => Cow::Owned(Codes::U8(vec![0; codes.len()])),
            None => Cow::Borrowed(codes),
        })
        .collect();
    let columns: Vec<&Codes> = agreed.iter().map(AsRef::as_ref).collect();
    consistent.failing(&columns, None).into_iter().filter(|fails| *fails).count()
}

/// One line for every guarantee that breaks by what was achieved; `place` says where that was.
pub fn broken(bound: &Bound<'_>, achieved: &[Vec<Achieved>], place: &str) -> Vec<String> {
    let mut reasons = Vec::new();
    for (rule, achieved) in bound.policy.rules.iter().zip(achieved) {
        for (model, achieved) in rule.require.iter().zip(achieved).filter(|(_, achieved)| !achieved.holds) {
            let found = claim(model, &rule.know, rule.protect.as_ref(), achieved);
            reasons.push(format!(
                "{}: {} requires {}{}; {place} the table achieves {} ({} rows in classes that break it)",
                rule.place,
                model.name(),
                pairs(&found.required),
                found.protect.map_or_else(String::new, |name| format!(" of `{name}`")),
                pairs(&found.achieved),
                achieved.failing_rows,
            ));
        }
    }
    reasons
}

/// The achieved parameters of every guarantee when nothing is suppressed.
pub fn achieved(bound: &Bound<'_>, judge: &Judge, columns: Vec<Cow<'_, Codes>>, levels: &[u8]) -> Vec<Vec<Achieved>> {
    let columns: Vec<&Codes> = columns.iter().map(AsRef::as_ref).collect();
    let (rows, counts) = (bound.table.rows, bound.row_counts());
    with_words!(judge.layout().words(), W => {
        let counted = judge.count_rows::<W>(&columns, rows, counts).on_levels(levels);
        let mut achieved = judge.achieved(&counted);
        if let Some(units) = bound.units() {
            units.add_achieved(judge, &counted.set, &columns, &mut achieved);
        }
        achieved
    })
}

/// Names and values as `k = 3, l = 2`.
pub fn pairs(map: &Map<String, Value>) -> String {
    map.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}
