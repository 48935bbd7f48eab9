//! What publishing a changed table again gives away: composition with oneself (Byun, Sohn, Bertino, Li: *Secure
//! anonymization for incremental datasets*, 2006; Xiao, Tao: *m-invariance*, 2007).
//!
//! Where both releases have the same cells, the adversary subtracts. In a class that only grew, by rows of one value,
//! everybody who appeared has that value; in a class that only shrank, everybody who left had it; and where one row went
//! and another came, somebody changed from one value to the other, or was replaced.

use hashbrown::HashMap;
use hedgerow_table::release::classes::ReleasedClasses;
use serde_json::json;

use super::linker::owned;
use crate::finding::{Exposure, Finding, Worst};

/// The change of one class: by value, how many rows more or fewer.
struct Change {
    class: usize,
    came: Vec<(String, u64)>,
    went: Vec<(String, u64)>,
}

/// `None` when the releases do not have the same quasi attributes, or not this sensitive attribute.
pub(crate) fn run(older: (&str, &ReleasedClasses), newer: (&str, &ReleasedClasses), protect: &str) -> Option<Finding> {
    let changes = changes(older.1, newer.1, protect)?;
    let mut finding = Finding::new("difference", vec![older.0.to_owned(), newer.0.to_owned()], Some(protect));
    let (mut appeared, mut left) = (0u64, 0u64);
    let mut worst = Worst::new();
    for change in changes {
        let sum = |rows: &[(String, u64)]| rows.iter().map(|(_, count)| count).sum::<u64>();
        let (came, went) = (sum(&change.came), sum(&change.went));
        (appeared, left) = (appeared + came, left + went);
        finding.people += came + went;
        let values = change.came.len().max(change.went.len()) as u64;
        finding.leave(values, came + went);
        let told = change.came.len() <= 1 && change.went.len() <= 1;
        finding.at_risk += if told { came + went } else { 0 };
        let top = change.came.iter().chain(&change.went).map(|(_, count)| *count).max().unwrap_or(0) as f64;
        finding.max_confidence = finding.max_confidence.max(top / came.max(went) as f64);
        worst.offer((values, u64::MAX - came - went, change.class), || Exposure {
            cells: vec![(newer.0.to_owned(), owned(newer.1.describe(change.class)))],
            values: change.came.iter().map(|(value, count)| (value.clone(), *count as f64 / came as f64)).collect(),
            people: came + went,
            why: told_of(&change),
        });
    }
    finding.details.insert("appeared".to_owned(), json!(appeared));
    finding.details.insert("left".to_owned(), json!(left));
    finding.worst = worst.into_vec();
    Some(finding)
}

fn told_of(change: &Change) -> String {
    let list = |rows: &[(String, u64)]| {
        let rows: Vec<String> = rows.iter().map(|(value, count)| format!("{count} × `{value}`")).collect();
        rows.join(", ")
    };
    match (change.came.is_empty(), change.went.is_empty()) {
        (false, true) => format!("who appeared in these cells: {}", list(&change.came)),
        (true, false) => format!("who left these cells: {}", list(&change.went)),
        _ => format!("{} went and {} came in these cells", list(&change.went), list(&change.came)),
    }
}

fn changes(older: &ReleasedClasses, newer: &ReleasedClasses, protect: &str) -> Option<Vec<Change>> {
    let names = |classes: &ReleasedClasses| classes.quasi.iter().map(|quasi| quasi.name.clone()).collect::<Vec<_>>();
    let same = names(older) == names(newer) && older.len() == older.buckets() && newer.len() == newer.buckets();
    let (before, after) = (older.sensitive(protect)?, newer.sensitive(protect)?);
    if !same {
        return None;
    }
    let earlier: HashMap<Vec<(&str, &str)>, usize> =
        (0..older.len()).map(|class| (older.describe(class), class)).collect();
    let mut changes = Vec::new();
    for class in 0..newer.len() {
        let Some(&old) = earlier.get(&newer.describe(class)) else { continue };
        let mut rows: HashMap<&str, i64> = HashMap::new();
        for &(value, count) in after.of_bucket(newer.bucket_of[class]) {
            *rows.entry(&after.values[value as usize]).or_default() += i64::from(count);
        }
        for &(value, count) in before.of_bucket(older.bucket_of[old]) {
            *rows.entry(&before.values[value as usize]).or_default() -= i64::from(count);
        }
        let side = |sign: i64| -> Vec<(String, u64)> {
            let rows = rows.iter().filter(|(_, rows)| **rows * sign > 0);
            let mut side: Vec<(String, u64)> =
                rows.map(|(value, rows)| ((*value).to_owned(), rows.unsigned_abs())).collect();
            side.sort();
            side
        };
        let (came, went) = (side(1), side(-1));
        if !came.is_empty() || !went.is_empty() {
            changes.push(Change { class, came, went });
        }
    }
    Some(changes)
}

#[cfg(test)]
mod tests {
    use hedgerow_table::{Cover, Table};

    use super::*;

    fn classes(rows: &[[&str; 2]]) -> ReleasedClasses {
        let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.to_vec()).collect();
        let table = Table::from_texts(&["age", "disease"], &rows);
        let covers = |_: &str, label: &str| Cover::Leaves(vec![label.to_owned()]);
        let names = ["age".to_owned(), "disease".to_owned()];
        ReleasedClasses::of_generalised("data", &table, &names[..1], &names[1..], covers, "t").unwrap()
    }

    const FIRST: [[&str; 2]; 4] = [["old", "flu"], ["old", "HIV"], ["young", "flu"], ["young", "cold"]];

    #[test]
    fn who_comes_alone_is_known_by_the_difference() {
        let second = [FIRST.as_slice(), &[["old", "HIV"]]].concat();
        let found = run(("1", &classes(&FIRST)), ("2", &classes(&second)), "disease").unwrap();
        assert_eq!((found.people, found.at_risk, found.effective_l), (1, 1, Some(1)));
        assert_eq!(found.worst[0].why, "who appeared in these cells: 1 × `HIV`");
        assert_eq!((&found.details["appeared"], &found.details["left"]), (&json!(1), &json!(0)));
        let gone = run(("2", &classes(&second)), ("1", &classes(&FIRST)), "disease").unwrap();
        assert_eq!(gone.worst[0].why, "who left these cells: 1 × `HIV`");
        let changed = [["old", "flu"], ["old", "cold"], ["young", "flu"], ["young", "cold"]];
        let changed = run(("1", &classes(&FIRST)), ("2", &classes(&changed)), "disease").unwrap();
        assert_eq!(changed.worst[0].why, "1 × `HIV` went and 1 × `cold` came in these cells");
    }

    #[test]
    fn nothing_changes_or_several_come_together() {
        let same = run(("1", &classes(&FIRST)), ("2", &classes(&FIRST)), "disease").unwrap();
        assert_eq!((same.people, same.at_risk), (0, 0));
        let second = [FIRST.as_slice(), &[["old", "HIV"], ["old", "flu"]]].concat();
        let found = run(("1", &classes(&FIRST)), ("2", &classes(&second)), "disease").unwrap();
        assert_eq!((found.people, found.at_risk, found.effective_l), (2, 0, Some(2)));
        assert!(run(("1", &classes(&FIRST)), ("2", &classes(&FIRST)), "salary").is_none());
    }
}
