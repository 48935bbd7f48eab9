//! Cells that are sets of values: a class is released with the values that occur in it, whatever
//! their order.
//!
//! The text of a label names the values where that is short, else the first of them and how many
//! others there are: every row repeats it, and the codebook lists them all. One label has one
//! cover: sets whose texts would be the same are numbered, in an order that tells nothing of how
//! classes were found.

use hashbrown::{HashMap, HashSet};
use hedgerow_draft::bind::Quasi;
use hedgerow_table::{Cover, Kind, Label};

use super::cells::{AttributeCells, Covered};
use hedgerow_cuts::{Axis, Span};

/// The longest label that names all its values, in characters.
const CHARACTERS_MAX: usize = 28;

/// `sets` has for every class the ranks of its rows, in any order and as often as they occur,
/// `counts` the rows of every code of the column.
pub fn set_cells<R: Iterator<Item = u32>>(
    quasi: &Quasi<'_>,
    axis: &Axis,
    counts: &[u64],
    sets: impl Iterator<Item = R>,
) -> AttributeCells {
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
    AttributeCells {
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
    let text = named(present, codes.iter().any(is_missing));
    let texts = codes.iter().map(|&code| domain.text(code)).collect();
    Label { text, leaves, cover: Cover::Leaves(texts) }
}

/// All values, or the first and how many others there are.
fn named(mut values: Vec<String>, missing: bool) -> String {
    if missing {
        values.push("missing".to_owned());
    }
    let (Some(first), others) = (values.first().cloned(), values.len().saturating_sub(1)) else { return String::new() };
    let last = values.pop().unwrap_or_default();
    let text = if values.is_empty() { last } else { format!("{} or {last}", values.join(", ")) };
    if others == 0 || text.chars().count() <= CHARACTERS_MAX {
        return text;
    }
    let kept: String = first.chars().take(CHARACTERS_MAX / 2).collect();
    let first = if kept.len() < first.len() { format!("{}…", kept.trim_end()) } else { first };
    format!("{first} +{others}")
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn labels_are_short() {
        let named = |values: &[&str], missing| named(values.iter().map(|value| (*value).to_owned()).collect(), missing);
        assert_eq!(named(&["Aa", "Bb"], false), "Aa or Bb");
        assert_eq!(named(&["Aa", "Bb"], true), "Aa, Bb or missing");
        assert_eq!(named(&["Aa"], true), "Aa or missing");
        assert_eq!(named(&["Black/African American", "Multi-racial", "White"], false), "Black/African… +2");
        assert_eq!(named(&["Bachelors", "Doctorate", "Masters", "Prof-school"], true), "Bachelors +4");
        let long = "a text that is longer than any label should be";
        assert_eq!(named(&[long, "b"], false), "a text that is… +1");
    }
}
