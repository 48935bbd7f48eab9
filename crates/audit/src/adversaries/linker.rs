//! The linker: who knows somebody's quasi values and looks for their row (El Emam, Dankar: *Protecting privacy using
//! k-anonymity*, 2008).
//!
//! - The *prosecutor* knows that the person is in the release and picks among the f rows that fit: one in f.
//! - The *journalist* knows only that the person is in the population, and picks among all of it who fit the cells: one in F.
//!   Everybody in the release is in the population, so F is at least f; with a list of people it is at least as many of
//!   them as fit the same cells.
//! - The *marketer* links everybody, and is right as often as there are different crowds.

use hashbrown::HashMap;
use hedgerow_release::classes::ReleasedClasses;
use hedgerow_table::{Cover, Table, TableError};
use serde_json::json;

use crate::finding::{Exposure, Finding, Worst};
use crate::people::FoundPeople;

/// Rows that nobody can tell apart, and who looks like them.
struct Crowd {
    /// The first of its classes stands for it.
    class: usize,
    rows: u64,
    /// Of the population, how many fit the cells: at least as many.
    population: u64,
    /// People examined.
    people: u64,
}

/// `k` is the fewest rows that a person should be among; at risk is who is among fewer. People who are not in the release
/// are counted apart.
pub(crate) fn run(
    name: &str,
    classes: &ReleasedClasses,
    people: Option<&Table>,
    k: u64,
) -> Result<Finding, TableError> {
    let mut finding = Finding::new("linker", vec![name.to_owned()], None);
    let crowds = match people {
        None => crowds(classes),
        Some(people) => {
            let found = FoundPeople::new(name, classes, people)?;
            finding.strangers(not_in_release(&found));
            crowds_of(classes, &found)
        }
    };
    let (mut worst, mut linked, mut journalist) = (Worst::new(), 0.0, 0.0f64);
    for crowd in &crowds {
        finding.people += crowd.people;
        finding.at_risk += if crowd.rows < k { crowd.people } else { 0 };
        linked += crowd.people as f64 / crowd.rows as f64;
        journalist = journalist.max(1.0 / crowd.population as f64);
        let rows = crowd.rows;
        worst.offer((rows, crowd.class), || Exposure {
            cells: vec![(name.to_owned(), owned(classes.describe(crowd.class)))],
            values: Vec::new(),
            people: crowd.people,
            why: if rows == 1 { "one row fits".to_owned() } else { format!("only {rows} rows fit") },
        });
    }
    let smallest = crowds.iter().map(|crowd| crowd.rows).min();
    finding.effective_k = smallest;
    finding.max_confidence = smallest.map_or(0.0, |rows| 1.0 / rows as f64);
    let inside = crowds.iter().map(|crowd| crowd.people).sum::<u64>().max(1) as f64;
    for (detail, value) in [
        ("k", json!(k)),
        ("share_below_k", json!(finding.at_risk as f64 / inside)),
        ("prosecutor", json!(finding.max_confidence)),
        ("journalist", json!(journalist)),
        ("marketer", json!(linked / inside)),
    ] {
        finding.details.insert(detail.to_owned(), value);
    }
    if people.is_none() {
        finding.notes.push("the journalist has no population but the release: name one with --people".to_owned());
    }
    if classes.len() > classes.buckets() && tells_values(classes) {
        let note = "a bucketized release tells the quasi values as they are: it hides who has which sensitive value, not who is in it";
        finding.notes.push(note.to_owned());
    }
    finding.worst = worst.into_vec();
    Ok(finding)
}

/// Every row stands for one person. The same cells may stand in several buckets: to the linker they are one crowd.
fn crowds(classes: &ReleasedClasses) -> Vec<Crowd> {
    let mut crowds: HashMap<&[u32], (usize, u64)> = HashMap::new();
    for class in 0..classes.len() {
        crowds.entry(classes.cells(class)).or_insert((class, 0)).1 += u64::from(classes.sizes[class]);
    }
    let mut crowds: Vec<(usize, u64)> = crowds.into_values().collect();
    crowds.sort_unstable();
    crowds.into_iter().map(|(class, rows)| Crowd { class, rows, population: rows, people: rows }).collect()
}

fn crowds_of(classes: &ReleasedClasses, found: &FoundPeople) -> Vec<Crowd> {
    let places = found.places.iter().zip(found.counts());
    places
        .filter_map(|(place, people)| {
            let rows = place.iter().map(|&class| u64::from(classes.sizes[class as usize])).sum();
            Some(Crowd { class: *place.first()? as usize, rows, population: people.max(rows), people })
        })
        .collect()
}

pub(crate) fn not_in_release(found: &FoundPeople) -> u64 {
    let counts = found.places.iter().zip(found.counts());
    counts.filter(|(place, _)| place.is_empty()).map(|(_, people)| people).sum()
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

pub(crate) fn owned(cells: Vec<(&str, &str)>) -> Vec<(String, String)> {
    cells.into_iter().map(|(name, label)| (name.to_owned(), label.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::classes;
    use super::*;

    /// One row is alone; three share their cells.
    fn release() -> ReleasedClasses {
        classes(&["age", "salary"], &[["old", "50"], ["young", "10"], ["young", "20"], ["young", "20"]])
    }

    #[test]
    fn a_row_alone_is_found_and_a_crowd_is_safe() {
        let found = run("r", &release(), None, 2).unwrap();
        assert_eq!((found.people, found.at_risk, found.effective_k), (4, 1, Some(1)));
        for (name, value) in [("marketer", 0.5), ("share_below_k", 0.25), ("prosecutor", 1.0), ("journalist", 1.0)] {
            assert_eq!(found.details[name], json!(value), "{name}");
        }
        assert_eq!(run("r", &release(), None, 1).unwrap().at_risk, 0, "nobody is below 1");
        let safe = classes(&["age", "salary"], &[["*", "50"], ["*", "10"]]);
        let found = run("r", &safe, None, 2).unwrap();
        assert_eq!((found.at_risk, found.effective_k, found.max_confidence), (0, Some(2), 0.5));
    }

    /// Five people are old, though only one of them was released, and one fits nothing: the journalist hesitates where the
    /// prosecutor does not.
    #[test]
    fn the_journalist_picks_among_all_who_fit() {
        let people: Vec<Vec<&str>> =
            ["old", "old", "old", "old", "old", "young", "ancient"].map(|age| vec![age]).to_vec();
        let people = Table::from_texts(&["age"], &people);
        let found = run("r", &release(), Some(&people), 2).unwrap();
        assert_eq!((found.people, found.at_risk, found.effective_k), (7, 5, Some(1)));
        assert_eq!(found.details["prosecutor"], json!(1.0));
        assert_eq!(found.details["journalist"], json!(1.0 / 3.0), "three young rows, five old people");
        assert_eq!(found.details["not_in_release"], json!(1));
    }
}
