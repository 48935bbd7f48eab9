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

/// `sets` has for every class the ranks of its rows, in any order and as often as they occur,
/// `counts` the rows of every code of the column.
pub fn set_cells<R: Iterator<Item = u32>>(
    quasi: &Quasi<'_>,
    axis: &Axis,
    counts: &[u64],
    sets: impl Iterator<Item = R>,
) -> Cells {
    let mut numbers: HashMap<Box<[u32]>, u32> = HashMap::new();
    let mut of_class: Vec<u32> = Vec::with_capacity(sets.size_hint().0);
    let mut codes: Vec<u32> = Vec::new();
    for ranks in sets {
        codes.clear();
        codes.extend(ranks.map(|rank| axis.code(rank)));
        codes.sort_unstable();
        codes.dedup();
        let number = match numbers.get(codes.as_slice()) {
            Some(&number) => number,
            None => {
                let number = numbers.len() as u32;
                numbers.insert(codes.as_slice().into(), number);
                number
            }
        };
        of_class.push(number);
    }
    let mut found: Vec<(Box<[u32]>, u32)> = numbers.into_iter().collect();
    // Values first: they keep their text.
    found.sort_by(|(one, _), (other, _)| (one.len() > 1, one).cmp(&(other.len() > 1, other)));
    let mut place = vec![0u32; found.len()];
    for (new, (_, old)) in (0u32..).zip(&found) {
        place[*old as usize] = new;
    }
    of_class.iter_mut().for_each(|number| *number = place[*number as usize]);
    let found: Vec<Box<[u32]>> = found.into_iter().map(|(codes, _)| codes).collect();
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
    let covered = |codes: &[u32]| Covered {
        values: codes.len() as u32,
        rows: codes.iter().map(|&code| counts[code as usize]).sum(),
    };
    let weight = |codes: &[u32]| if codes.len() > 1 { codes.len() as f64 / size as f64 } else { 0.0 };
    let sets = || found.iter().map(|codes| &codes[..]);
    let rank = |code: u32| axis.ranks().map_or(code, |ranks| ranks[code as usize]);
    let region = |codes: &[u32]| {
        let ranks = || codes.iter().map(|&code| rank(code));
        Span::new(ranks().min().unwrap_or_default(), ranks().max().unwrap_or_default())
    };
    Cells {
        weights: sets().map(weight).collect(),
        regions: sets().map(region).collect(),
        covered: sets().map(covered).collect(),
        values_only: found.iter().all(|codes| codes.len() == 1),
        of_class,
        labels,
        counts: counts.to_vec(),
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
