//! The linker: who knows somebody's quasi values and looks for their row. The prosecutor knows that the person is in the
//! release and picks among the rows that fit: one in f. The marketer links everybody and is right as often as there are
//! different cells. (The journalist needs a population to hide in; `measure` has one.)

use hashbrown::HashMap;
use hedgerow_table::Cover;
use hedgerow_table::release::classes::ReleasedClasses;
use serde_json::json;

use crate::finding::{Exposure, Finding, Worst};

/// `k` is the fewest rows that a person should be among; at risk is who is among fewer.
pub(crate) fn run(name: &str, classes: &ReleasedClasses, k: u64) -> Finding {
    let mut finding = Finding::new("linker", vec![name.to_owned()], None);
    // The same cells may stand in several buckets: to the linker they are one crowd.
    let mut crowds: HashMap<&[u32], (usize, u64)> = HashMap::new();
    for class in 0..classes.len() {
        crowds.entry(classes.cells(class)).or_insert((class, 0)).1 += u64::from(classes.sizes[class]);
    }
    let mut crowds: Vec<(usize, u64)> = crowds.into_values().collect();
    crowds.sort_unstable();
    let mut worst = Worst::new();
    for &(class, rows) in &crowds {
        finding.people += rows;
        finding.at_risk += if rows < k { rows } else { 0 };
        worst.offer((rows, class), || Exposure {
            cells: vec![(name.to_owned(), owned(classes.describe(class)))],
            values: Vec::new(),
            people: rows,
            why: if rows == 1 {
                "one row has these cells".to_owned()
            } else {
                format!("{rows} rows share these cells")
            },
        });
    }
    let smallest = crowds.iter().map(|&(_, rows)| rows).min();
    finding.effective_k = smallest;
    finding.max_confidence = smallest.map_or(0.0, |rows| 1.0 / rows as f64);
    let share_below = finding.at_risk as f64 / finding.people.max(1) as f64;
    finding.details.insert("k".to_owned(), json!(k));
    finding.details.insert("share_below_k".to_owned(), json!(share_below));
    finding.details.insert("marketer".to_owned(), json!(crowds.len() as f64 / finding.people.max(1) as f64));
    if classes.len() > classes.buckets() && tells_values(classes) {
        let note = "a bucketized release tells the quasi values as they are: it hides who has which sensitive value, not who is in it";
        finding.notes.push(note.to_owned());
    }
    finding.worst = worst.into_vec();
    finding
}

pub(crate) fn owned(cells: Vec<(&str, &str)>) -> Vec<(String, String)> {
    cells.into_iter().map(|(name, label)| (name.to_owned(), label.to_owned())).collect()
}
/// Whether every cell is one value: the statistics of a cloned release are not.
fn tells_values(classes: &ReleasedClasses) -> bool {
    let one = |cover: &Cover| match cover {
        Cover::Leaves(leaves) => leaves.len() == 1,
        Cover::Point(_) | Cover::Missing => true,
        Cover::Interval { .. } | Cover::Everything => false,
    };
    classes.quasi.iter().all(|quasi| quasi.covers.iter().all(one))
}
