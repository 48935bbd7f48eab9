//! Quasi-identifiers of which one follows from others, such as the region of a county: the classes
//! of rows that agree on the labels of all of them. A reader of these labels together sees these
//! classes, whatever each label says by itself. Everything is counted in the released table, so
//! that nothing is said of rows that were suppressed.

use hedgerow_privacy::units::numbered;
use hedgerow_release::manifest::{ClassSizes, Promise, RelatedAttributes};
use hedgerow_release::{Release, ReleaseTables};
use hedgerow_table::Codes;

use crate::release_check::same_classes;

/// Rows that agree on the labels of related attributes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelatedClass {
    /// In the order of the attributes.
    pub labels: Vec<String>,
    pub rows: u64,
}

/// The classes of rows that agree on all labels, the smallest first. `None` where one of the
/// attributes is not a quasi-identifier of a generalized table.
pub fn classes_of(release: &Release, related: &RelatedAttributes) -> Option<Vec<RelatedClass>> {
    let ReleaseTables::Generalized(tables) = release.tables() else { return None };
    let names = related.from.iter().chain([&related.to]);
    let columns = names.map(|name| tables.table.column(name).filter(|_| tables.quasi.contains(name)));
    let columns = columns.collect::<Option<Vec<_>>>()?;
    let codes: Vec<&Codes> = columns.iter().map(|column| &column.codes).collect();
    let (of_row, count) = numbered(&codes, tables.table.rows);
    let (mut rows, mut first) = (vec![0u64; count], vec![0usize; count]);
    for (row, &class) in of_row.iter().enumerate().rev() {
        rows[class as usize] += tables.counts.as_ref().map_or(1, |counts| u64::from(counts[row]));
        first[class as usize] = row;
    }
    let labels = |class: usize| columns.iter().map(|column| column.text(first[class])).collect();
    let mut classes: Vec<RelatedClass> =
        (0..count).map(|class| RelatedClass { labels: labels(class), rows: rows[class] }).collect();
    classes.sort_by(|a, b| a.rows.cmp(&b.rows).then_with(|| a.labels.cmp(&b.labels)));
    Some(classes)
}

fn sizes(release: &Release, related: &RelatedAttributes) -> Option<ClassSizes> {
    Some(ClassSizes::of(classes_of(release, related)?.iter().map(|class| class.rows)))
}

/// Completes what a manifest says of related attributes by what its table shows.
pub(crate) fn state(promise: &mut Promise, release: &Release) {
    for related in &mut promise.related {
        related.classes = sizes(release, related).unwrap_or_else(|| ClassSizes::of([]));
    }
}

/// Where a manifest says something else of related attributes than its table shows.
pub(crate) fn contradictions(promise: &Promise, release: &Release) -> Vec<String> {
    let mut found = Vec::new();
    for (place, related) in promise.related.iter().enumerate() {
        let RelatedAttributes { from, to, classes } = related;
        let is_alike = |other: &RelatedAttributes| other.from == *from && other.to == *to;
        let is_twice = |name: &String| from.iter().filter(|other| *other == name).count() > 1;
        if from.is_empty() || from.contains(to) || from.iter().any(is_twice) {
            found.push(format!("the manifest states that `{to}` follows from what cannot determine it"));
        } else if promise.related[..place].iter().any(is_alike) {
            found.push(format!("the manifest states twice that `{to}` follows from {}", from.join(", ")));
        } else {
            match sizes(release, related) {
                None => found.push(format!(
                    "the manifest states that `{to}` follows from {}, and not all of them are released quasi-identifiers",
                    from.join(", ")
                )),
                Some(shown) if !same_classes(classes, &shown) => found.push(format!(
                    "the manifest says that {} classes of {} to {} rows agree on {} and {to}, the table has {} of {} to {}",
                    classes.count,
                    classes.min,
                    classes.max,
                    from.join(", "),
                    shown.count,
                    shown.min,
                    shown.max
                )),
                Some(_) => {}
            }
        }
    }
    found
}
