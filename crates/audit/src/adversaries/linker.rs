//! The linker: an adversary who knows a person's quasi-identifiers and looks for their row. How
//! prosecutor, journalist and marketer choose is in [`crate::Risk`]; here every person of a list,
//! or every released row, is looked for in a release.
//!
//! Every person in the release is in the population, so that the journalist picks among at least as
//! many people as rows match; with a list of people, among at least as many of them as match the
//! same cells.

use hashbrown::HashMap;
use hedgerow_release::classes::ReleasedClasses;
use hedgerow_table::{Cover, Table, TableError};
use serde_json::json;

use crate::Adversary;
use crate::finding::{Exposure, Finding, Needs, ReleaseCells, Worst};
use crate::linked::{Linked, UNITS_COUNTED};
use crate::people::FoundPeople;
use crate::risk::{Matched, Risk};

/// `k` is the fewest rows that should match a person; at risk is who matches fewer. People who are
/// not in the release are counted apart.
pub(crate) fn run(
    name: &str,
    classes: &ReleasedClasses,
    people: Option<&Table>,
    k: u64,
) -> Result<Finding, TableError> {
    let rows = |place: &[u32]| place.iter().map(|&class| u64::from(classes.sizes[class as usize])).sum::<u64>();
    run_among(name, classes, people, k, "rows", || by_cells(classes), rows)
}

/// The same of a release that links the rows of a unit: k is a number of units. Without a list of
/// people every unit is one, known by all its rows.
pub(crate) fn run_linked(
    name: &str,
    classes: &ReleasedClasses,
    linked: &Linked<'_>,
    people: Option<&Table>,
    k: u64,
) -> Result<Finding, TableError> {
    let every_unit = || {
        let matched = |units: u64| Matched { people: units, rows: units, population: Some(units) };
        let alike = linked.alike().into_iter();
        alike.map(|alike| (alike.classes[0] as usize, matched(alike.units.len() as u64))).collect()
    };
    let mut finding = run_among(name, classes, people, k, "units", every_unit, |place| linked.units_in(place))?;
    finding.note(UNITS_COUNTED);
    Ok(finding)
}

fn run_among(
    name: &str,
    classes: &ReleasedClasses,
    people: Option<&Table>,
    k: u64,
    counted: &str,
    everyone: impl Fn() -> Vec<(usize, Matched)>,
    matching: impl Fn(&[u32]) -> u64,
) -> Result<Finding, TableError> {
    let mut finding = Finding::new(Adversary::Linker, vec![name.to_owned()], None);
    let matched = match people {
        None => everyone(),
        Some(people) => {
            let found = FoundPeople::new(name, classes, people)?;
            finding.not_in_release(not_in_release(&found));
            let matching: Vec<u64> = found.places.iter().map(|place| matching(place)).collect();
            let places: Vec<(bool, f64)> = matching.iter().map(|&rows| chance(rows, k)).collect();
            finding.list_people(&found.of_person, &places);
            by_people(&found, &matching)
        }
    };
    let mut worst = Worst::new();
    for &(class, Matched { people, rows, .. }) in &matched {
        finding.people += people;
        finding.at_risk += if rows < k { people } else { 0 };
        worst.offer((rows, class), || Exposure {
            cells: vec![ReleaseCells::new(name, classes.describe(class))],
            values: Vec::new(),
            people,
            why: if rows == 1 {
                format!("one {} matches", counted.trim_end_matches('s'))
            } else {
                format!("only {rows} {counted} match")
            },
        });
    }
    finding.effective_k = matched.iter().map(|(_, matched)| matched.rows).min();
    let risk = Risk::of(&matched.into_iter().map(|(_, matched)| matched).collect::<Vec<_>>(), k);
    finding.max_confidence = risk.prosecutor.max;
    for (detail, value) in [
        ("k", json!(k)),
        ("share_below_k", json!(risk.prosecutor.share_above)),
        ("prosecutor", json!(risk.prosecutor.max)),
        ("journalist", json!(risk.journalist.map_or(risk.prosecutor.max, |journalist| journalist.max))),
        ("marketer", json!(risk.marketer)),
    ] {
        finding.details.insert(detail.to_owned(), value);
    }
    if people.is_none() {
        let note = "no population was given, so the journalist's risk is computed from the release alone";
        finding.note_needs(Needs::People, note);
    }
    if classes.len() > classes.buckets() && releases_values(classes) {
        finding.note(
            "a bucketized release contains the quasi-identifiers unchanged: it hides who has which sensitive value, not who is in it",
        );
    }
    finding.worst = worst.into_vec();
    Ok(finding)
}

/// Every row is a person. The same cells may be in several buckets: to the linker their rows are
/// alike. The first class with these cells stands for them.
fn by_cells(classes: &ReleasedClasses) -> Vec<(usize, Matched)> {
    let mut alike: HashMap<&[u32], (usize, u64)> = HashMap::new();
    for class in 0..classes.len() {
        alike.entry(classes.cells(class)).or_insert((class, 0)).1 += u64::from(classes.sizes[class]);
    }
    let mut alike: Vec<(usize, u64)> = alike.into_values().collect();
    alike.sort_unstable();
    alike.into_iter().map(|(class, rows)| (class, Matched { people: rows, rows, population: Some(rows) })).collect()
}

/// Whether fewer than k rows match a person, and the chance of picking theirs.
fn chance(rows: u64, k: u64) -> (bool, f64) {
    if rows == 0 { (false, 0.0) } else { (rows < k, 1.0 / rows as f64) }
}

/// People of a list by the classes that they match.
fn by_people(found: &FoundPeople, matching: &[u64]) -> Vec<(usize, Matched)> {
    let places = found.places.iter().zip(found.counts()).zip(matching);
    places
        .filter_map(|((place, people), &rows)| {
            Some((*place.first()? as usize, Matched { people, rows, population: Some(people.max(rows)) }))
        })
        .collect()
}

pub(crate) fn not_in_release(found: &FoundPeople) -> u64 {
    let counts = found.places.iter().zip(found.counts());
    counts.filter(|(place, _)| place.is_empty()).map(|(_, people)| people).sum()
}

/// Whether every cell is one value: the statistics of a cloned release are not.
fn releases_values(classes: &ReleasedClasses) -> bool {
    let one = |cover: &Cover| match cover {
        Cover::Leaves(leaves) => leaves.len() == 1,
        Cover::Point(_) | Cover::Missing => true,
        Cover::Interval { .. } | Cover::Everything => false,
    };
    classes.quasi.iter().all(|quasi| quasi.covers.iter().all(one))
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
    fn a_row_alone_is_found_and_one_among_several_is_safe() {
        let found = run("r", &release(), None, 2).unwrap();
        assert_eq!((found.people, found.at_risk, found.effective_k), (4, 1, Some(1)));
        for (name, value) in [("marketer", 0.5), ("share_below_k", 0.25), ("prosecutor", 1.0), ("journalist", 1.0)] {
            assert_eq!(found.details[name], json!(value), "{name}");
        }
        assert_eq!(run("r", &release(), None, 1).unwrap().at_risk, 0, "no class has fewer than 1 row");
        let safe = classes(&["age", "salary"], &[["*", "50"], ["*", "10"]]);
        let found = run("r", &safe, None, 2).unwrap();
        assert_eq!((found.at_risk, found.effective_k, found.max_confidence), (0, Some(2), 0.5));
    }

    /// Five people are old, though only one of them was released, and one matches nothing: the
    /// journalist is less certain than the prosecutor.
    #[test]
    fn the_journalist_picks_among_all_who_match() {
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
