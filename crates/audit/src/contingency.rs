//! Pairs of released attributes counted against one another: each quasi-identifier with a sensitive
//! attribute, from the released classes alone.

use std::cmp::Reverse;

use hedgerow_release::{Release, ReleasedClasses};
use hedgerow_table::TableError;
use serde::Serialize;

/// Labels of one attribute that are listed; the others count together.
const LABELS_MAX: usize = 8;
/// Pairs that are counted.
const PAIRS_MAX: usize = 4;

/// Two attributes of a generalized release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Contingency {
    /// The attribute of the rows, and its labels.
    pub rows: String,
    pub row_labels: Vec<String>,
    /// The attribute of the columns, and its values.
    pub columns: String,
    pub column_labels: Vec<String>,
    /// One list for every row.
    pub counts: Vec<Vec<u64>>,
}

/// The first pairs; none where rows do not show sensitive values beside their labels.
pub fn contingencies(release: &Release) -> Result<Vec<Contingency>, TableError> {
    if release.sensitive_in_rows().is_none() {
        return Ok(Vec::new());
    }
    let mut all = Vec::new();
    for classes in release.classes()? {
        for sensitive in 0..classes.sensitive.len().min(1) {
            let quasi = (0..classes.quasi.len()).take(PAIRS_MAX);
            all.extend(quasi.map(|quasi| contingency(classes, quasi, sensitive)));
        }
    }
    Ok(all)
}

fn contingency(classes: &ReleasedClasses, quasi: usize, sensitive: usize) -> Contingency {
    let (labels, values) = (&classes.quasi[quasi].labels, &classes.sensitive[sensitive].values);
    let mut rows_of_label = vec![0u64; labels.len()];
    for class in 0..classes.len() {
        rows_of_label[classes.cells(class)[quasi] as usize] += u64::from(classes.sizes[class]);
    }
    let (row_of, row_labels) = places(labels, &rows_of_label);
    let (column_of, column_labels) = places(values, &classes.sensitive[sensitive].totals());
    let mut counts = vec![vec![0u64; column_labels.len()]; row_labels.len()];
    for class in 0..classes.len() {
        let row = row_of[classes.cells(class)[quasi] as usize];
        for &(value, count) in classes.sensitive[sensitive].of_bucket(classes.bucket_of[class]) {
            counts[row][column_of[value as usize]] += u64::from(count);
        }
    }
    Contingency {
        rows: classes.quasi[quasi].name.clone(),
        row_labels,
        columns: classes.sensitive[sensitive].name.clone(),
        column_labels,
        counts,
    }
}

/// Where each label is counted: the most frequent by themselves, in their own order, the others
/// together at the end.
fn places(labels: &[String], counts: &[u64]) -> (Vec<usize>, Vec<String>) {
    if labels.len() <= LABELS_MAX + 1 {
        return ((0..labels.len()).collect(), labels.to_vec());
    }
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by_key(|&label| Reverse(counts[label]));
    let mut own: Vec<usize> = order[..LABELS_MAX].to_vec();
    own.sort_unstable();
    let mut place = vec![own.len(); labels.len()];
    own.iter().enumerate().for_each(|(index, &label)| place[label] = index);
    let others = format!("{} others", labels.len() - own.len());
    (place, own.iter().map(|&label| labels[label].clone()).chain([others]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_release::Codebook;
    use hedgerow_table::Table;

    #[test]
    fn rows_are_counted_by_both_labels_and_add_up() {
        let rows = [["20-29", "flu"], ["20-29", "flu"], ["30-39", "cold"], ["30-39", "flu"]];
        let table = Table::from_texts(&["age", "disease"], &rows.map(|row| row.to_vec()));
        let names = |name: &str| vec![name.to_owned()];
        let release = Release::of_table("r", table, names("age"), names("disease"), Codebook::new()).unwrap();
        let [found] = contingencies(&release).unwrap().try_into().unwrap();
        assert_eq!(found.row_labels, ["20-29", "30-39"]);
        assert_eq!(found.column_labels, ["cold", "flu"]);
        assert_eq!(found.counts, [[0, 2], [1, 1]]);
    }

    #[test]
    fn rare_labels_count_together() {
        let labels: Vec<String> = (0..12).map(|label| format!("{label:02}")).collect();
        let counts: Vec<u64> = (0..12).collect();
        let (place, shown) = places(&labels, &counts);
        assert_eq!(shown.len(), LABELS_MAX + 1);
        assert_eq!((place[0], place[3], place[4], place[11]), (8, 8, 0, 7));
        assert_eq!(shown[8], "4 others");
    }
}
