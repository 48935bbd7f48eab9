//! Cells that are sets of values: a class is released with the values that occur in it, whatever
//! their order.
//!
//! The text of a label names the values, or the first of them where they are many. One label has
//! one cover: sets whose texts would be the same are numbered, in an order that tells nothing of
//! how classes were found.

use hashbrown::{HashMap, HashSet};
use hedgerow_table::{Cover, Kind, Label};

use super::cells::{Cells, Covered};
use crate::bind::Quasi;
use hedgerow_cuts::{Axis, Span};

/// A label names all its values up to so many, else so many of them.
const NAMED_MAX: usize = 8;
const NAMED: usize = 3;

/// `sets` has for every class the ranks that occur in it, ascending.
pub fn set_cells(quasi: &Quasi<'_>, axis: &Axis, sets: &[Vec<u32>]) -> Cells {
    let mut codes_of_class: Vec<Vec<u32>> = Vec::with_capacity(sets.len());
    for ranks in sets {
        let mut codes: Vec<u32> = ranks.iter().map(|&rank| axis.code(rank)).collect();
        codes.sort_unstable();
        codes_of_class.push(codes);
    }
    let mut found: Vec<&Vec<u32>> = codes_of_class.iter().collect::<HashSet<_>>().into_iter().collect();
    // Values first: they keep their text.
    found.sort_by_key(|codes| (codes.len() > 1, *codes));
    let numbers: HashMap<&Vec<u32>, u32> = found.iter().zip(0..).map(|(codes, number)| (*codes, number)).collect();
    let counts = quasi.column.counts();
    let size = axis.size() as usize;
    let mut taken: HashSet<String> = HashSet::new();
    let mut same: HashMap<String, u64> = HashMap::new();
    let labels = found.iter().map(|codes| {
        let mut label = label(quasi, codes, size);
        let text = label.text.clone();
        let domain = &quasi.column.domain;
        let is_foreign =
            |text: &str| codes.len() > 1 && domain.kind() == Kind::Category && domain.code_of(text).is_some();
        while taken.contains(&label.text) || is_foreign(&label.text) {
            let number = same.entry(text.clone()).or_insert(0);
            *number += 1;
            label.text = format!("{text} ({number})");
        }
        taken.insert(label.text.clone());
        label
    });
    let labels: Vec<Label> = labels.collect();
    let covered = |codes: &&Vec<u32>| Covered {
        values: codes.len() as u32,
        rows: codes.iter().map(|&code| counts[code as usize]).sum(),
    };
    let weight = |codes: &&Vec<u32>| if codes.len() > 1 { codes.len() as f64 / size as f64 } else { 0.0 };
    let region = |codes: &&Vec<u32>| Span::new(codes[0], codes[codes.len() - 1]);
    Cells {
        weights: found.iter().map(weight).collect(),
        regions: found.iter().map(region).collect(),
        covered: found.iter().map(covered).collect(),
        values_only: found.iter().all(|codes| codes.len() == 1),
        of_class: codes_of_class.iter().map(|codes| numbers[codes]).collect(),
        labels,
        counts,
    }
}

fn label(quasi: &Quasi<'_>, codes: &[u32], size: usize) -> Label {
    if let [code] = codes {
        return quasi.hierarchy.levels()[0].labels[*code as usize].clone();
    }
    let leaves = codes.len() as u64;
    if codes.len() == size {
        return Label { text: "*".to_owned(), cover: Cover::Everything, leaves };
    }
    let domain = &quasi.column.domain;
    let is_missing = |code: &u32| domain.missing_code() == Some(*code);
    let present: Vec<String> = codes.iter().filter(|code| !is_missing(code)).map(|&code| domain.text(code)).collect();
    let mut named = if present.len() <= NAMED_MAX {
        present
    } else {
        let others = format!("{} others", present.len() - NAMED);
        present.into_iter().take(NAMED).chain([others]).collect()
    };
    if codes.iter().any(is_missing) {
        named.push("missing".to_owned());
    }
    let last = named.pop().unwrap_or_default();
    let text = if named.is_empty() { last } else { format!("{} or {last}", named.join(", ")) };
    let texts = codes.iter().map(|&code| domain.text(code)).collect();
    Label { text, leaves, cover: Cover::Leaves(texts) }
}
