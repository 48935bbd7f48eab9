//! Certainty beside suppressed rows: who may have no row in a release, and the adversaries who
//! combine it with others.

use std::collections::BTreeSet;

use hedgerow_table::NoProgress;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use super::tests::fits;
use super::*;
use crate::adversaries::testing::classes;
use crate::testing::seeds;

fn stated<'a>(name: &'a str, classes: &'a ReleasedClasses, suppressed: u64) -> Released<'a> {
    Released { suppressed, ..Released::of(name, classes) }
}

/// The findings of the adversaries who combine releases.
fn combined(released: &[Released<'_>], people: &Table) -> Vec<Finding> {
    let options = AuditOptions { people: Some(people), ..AuditOptions::default() };
    together("s", released, &options, &|_| true).unwrap()
}

fn every_world(released: &[Released<'_>], people: &Table) -> Finding {
    let attacker =
        Attacker { people: Some(people), columns: Columns::Listed, prior: &[], joint: &[], progress: &NoProgress };
    worlds::run("s", released, attacker).unwrap().remove(0)
}

fn listed(people: &[[&str; 3]], columns: usize) -> Table {
    let rows: Vec<Vec<&str>> = people.iter().map(|person| person[..columns].to_vec()).collect();
    Table::from_texts(&["a", "b", "s"][..columns], &rows)
}

fn said(finding: &Finding, text: &str) -> bool {
    finding.notes.iter().any(|note| note.text.contains(text))
}

/// The first person is the suppressed one, and fits the first class, which lacks their value: both
/// classes have `p` alone in common, and they have `q`. The second person looks the same and has
/// `p`.
#[test]
fn who_was_suppressed_does_not_have_the_value_that_the_classes_share() {
    let one = classes(&["a", "s"], &[["0..2", "p"], ["0..2", "p"], ["0..2", "r"]]);
    let two = classes(&["b", "s"], &[["x", "q"], ["x", "p"], ["y", "p"], ["y", "r"]]);
    let people = [["0", "x", "q"], ["1", "x", "p"], ["0", "y", "p"], ["1", "y", "r"]];
    let released = [stated("1", &one, 1), stated("2", &two, 0)];
    for columns in [3, 2] {
        for finding in combined(&released, &listed(&people, columns)) {
            assert_eq!((finding.at_risk, finding.people_at_risk.len()), (0, 0), "{finding:?}");
            assert!(said(&finding, "rows of 1 were suppressed"), "{finding:?}");
            assert!(finding.max_confidence <= 0.5, "what the second release leaves: {finding:?}");
        }
    }
    // Without the first person's row in the other release, too, the classes show who is in both.
    let same = [stated("1", &one, 0), stated("2", &two, 0)];
    let found = combined(&same, &listed(&people[1..], 2));
    assert_eq!(found[0].people_at_risk, [0], "{found:?}");
    assert!(!said(&found[0], "suppressed"), "{found:?}");
}

/// Suppressed people who are listed and fit nothing are accounted for: everyone else has a row.
#[test]
fn suppressed_classes_leave_no_doubt_about_the_others() {
    let one = classes(&["a", "s"], &[["0..2", "p"], ["0..2", "r"]]);
    let two = classes(&["b", "s"], &[["x", "q"], ["x", "p"], ["y", "q"], ["y", "r"]]);
    let people = [["0", "x", "p"], ["1", "y", "r"], ["7", "x", "q"], ["7", "y", "q"]];
    let released = [stated("1", &one, 2), stated("2", &two, 0)];
    for columns in [3, 2] {
        let people = listed(&people, columns);
        for finding in combined(&released, &people) {
            assert_eq!(finding.people_at_risk, [0, 1], "{finding:?}");
            assert!(!said(&finding, "suppressed"), "{finding:?}");
        }
        assert_eq!(every_world(&released, &people).effective_l, Some(1));
    }
    // Of half of the people it is not known whether they are the suppressed ones.
    let half = listed(&people[..2], 2);
    assert!(combined(&released, &half).iter().all(|finding| finding.at_risk == 0));
}

/// A release of others, of fewer people than fit it: with true values no person is taken to be in
/// it who is not; without them the finding says what it takes to be so.
#[test]
fn a_release_that_lacks_people_gives_nobody_a_value_they_do_not_have() {
    let one = classes(&["a", "s"], &[["0..2", "p"], ["0..2", "r"]]);
    let two = classes(&["b", "s"], &[["x", "q"], ["x", "p"], ["y", "p"], ["y", "r"]]);
    let people = [["0", "x", "q"], ["1", "x", "p"], ["0", "y", "p"], ["1", "y", "r"]];
    let released = [stated("1", &one, 0), stated("2", &two, 0)];
    for finding in combined(&released, &listed(&people, 3)) {
        assert!(!finding.people_at_risk.contains(&0), "{finding:?}");
        assert!(!said(&finding, "more people fit"), "{finding:?}");
        if finding.adversary == Adversary::Composition {
            assert_eq!(
                (finding.people_at_risk.as_slice(), finding.details["not_in_all"].as_u64()),
                (&[1][..], Some(1))
            );
        }
    }
    for finding in combined(&released, &listed(&people, 2)) {
        let is_definition = finding.adversary != Adversary::Correlation;
        assert_eq!(finding.people_at_risk.contains(&0), is_definition, "{finding:?}");
        assert!(said(&finding, "more people fit 1 than it has rows"), "{finding:?}");
    }
}

/// Five people of two classes in each release. Where the people of each class are as many as its
/// rows, one of them has the value that two rows of the joint cells need; elsewhere not all are in
/// the releases, and it can be either.
#[test]
fn joint_cells_are_counted_only_where_people_are_the_rows() {
    let one = classes(&["a", "s"], &[["0", "p"], ["0", "p"], ["0", "q"], ["1", "p"], ["1", "q"]]);
    let two = classes(&["b", "s"], &[["x", "p"], ["x", "p"], ["x", "q"], ["y", "p"], ["y", "q"]]);
    let released = [stated("1", &one, 0), stated("2", &two, 0)];
    let correlation = |people: &[[&str; 3]], columns: usize| -> Vec<u32> {
        let found = combined(&released, &listed(people, columns));
        let found = found.into_iter().find(|finding| finding.adversary == Adversary::Correlation);
        found.unwrap().people_at_risk
    };
    let full = [["0", "x", "p"], ["0", "y", "p"], ["0", "y", "q"], ["1", "x", "p"], ["1", "x", "q"]];
    assert_eq!(correlation(&full, 2), [0]);
    assert_eq!(correlation(&full, 3), [0]);
    let few_in_a_class = [["0", "x", "q"], ["0", "y", "p"], ["1", "x", "p"], ["1", "y", "p"], ["1", "y", "q"]];
    assert!(correlation(&few_in_a_class, 2).is_empty());
    let other_values = [["0", "x", "q"], ["0", "y", "p"], ["0", "y", "p"], ["1", "x", "p"], ["1", "x", "p"]];
    assert!(correlation(&other_values, 3).is_empty());
}

/// A person's labels and value, and what each release wrote of whom.
struct SuppressedRows {
    people: Vec<[String; 3]>,
    /// Rows, and how many were suppressed.
    releases: Vec<(Vec<[String; 3]>, u64)>,
}

fn random(rng: &mut StdRng) -> SuppressedRows {
    let values = rng.random_range(2..4);
    let people: Vec<[String; 3]> = (0..rng.random_range(1..6))
        .map(|_| {
            let value = format!("s{}", rng.random_range(0..values));
            [rng.random_range(0..4).to_string(), format!("x{}", rng.random_range(0..2)), value]
        })
        .collect();
    let releases = (0..rng.random_range(2..4)).map(|_| {
        let (width, overlaps, share) =
            (rng.random_range(1..5), rng.random_bool(0.4), [0.0, 0.25][rng.random_range(0..2)]);
        let hides = rng.random_bool(0.5);
        let mut rows: Vec<[String; 3]> = Vec::new();
        for [a, b, value] in &people {
            let number: i32 = a.parse().unwrap();
            let width = if overlaps { rng.random_range(1..5) } else { width };
            let low = number / width * width;
            let hides = if overlaps { rng.random_bool(0.5) } else { hides };
            rows.push([
                format!("{low}..{}", low + width),
                if hides { "*".to_owned() } else { b.clone() },
                value.clone(),
            ]);
        }
        rows.shuffle(rng);
        let suppressed = (1..rows.len()).filter(|_| rng.random_bool(share)).count();
        rows.truncate(people.len() - suppressed);
        (rows, suppressed as u64)
    });
    let releases = releases.collect();
    SuppressedRows { people, releases }
}

/// Whether the listed people can have these values: in each release they have rows of their own,
/// but for those suppressed, and the people who are not listed have the other rows.
fn is_world(setting: &SuppressedRows, listed: &[usize], values: &[String]) -> bool {
    let others = setting.people.len() - listed.len();
    setting.releases.iter().all(|(rows, suppressed)| {
        let mut taken = vec![false; rows.len()];
        place(setting, listed, values, rows, (*suppressed, rows.len().saturating_sub(others)), &mut taken)
    })
}

/// Places the people one by one: at most `absent` have no row, and at least `needed` rows must be
/// theirs.
fn place(
    setting: &SuppressedRows,
    listed: &[usize],
    values: &[String],
    rows: &[[String; 3]],
    (absent, needed): (u64, usize),
    taken: &mut [bool],
) -> bool {
    let Some((&person, others)) = listed.split_first() else {
        return taken.iter().filter(|taken| **taken).count() >= needed;
    };
    let [a, b, _] = &setting.people[person];
    for (at, [label_a, label_b, value]) in rows.iter().enumerate() {
        if taken[at] || *value != values[0] || !fits(label_a, a) || !fits(label_b, b) {
            continue;
        }
        taken[at] = true;
        let found = place(setting, others, &values[1..], rows, (absent, needed), taken);
        taken[at] = false;
        if found {
            return true;
        }
    }
    absent > 0 && place(setting, others, &values[1..], rows, (absent - 1, needed), taken)
}

/// By listed person, the values that some world gives them; one that no release has among them.
fn possible(setting: &SuppressedRows, listed: &[usize]) -> Vec<BTreeSet<String>> {
    let values: BTreeSet<&str> = setting.people.iter().map(|person| person[2].as_str()).chain(["other"]).collect();
    let mut tables: Vec<Vec<String>> = vec![Vec::new()];
    for _ in listed {
        let more = |table: &Vec<String>| -> Vec<Vec<String>> {
            values.iter().map(|value| [table.as_slice(), &[(*value).to_owned()]].concat()).collect()
        };
        tables = tables.iter().flat_map(more).collect();
    }
    let mut possible = vec![BTreeSet::new(); listed.len()];
    for table in tables.into_iter().filter(|table| is_world(setting, listed, table)) {
        for (possible, value) in possible.iter_mut().zip(table) {
            possible.insert(value);
        }
    }
    possible
}

/// Every world agrees with what independence, composition and correlation are certain of, also
/// where rows were suppressed and where not everyone is listed; and `worlds` is certain of it.
#[test]
fn nobody_is_certain_of_what_some_world_denies_beside_suppressed_rows() {
    let count = std::env::var("HEDGEROW_WORLDS").ok().and_then(|count| count.parse().ok()).unwrap_or(500);
    let (mut certain_beside, mut denied) = (0, 0);
    for seed in seeds(count) {
        let mut rng = StdRng::seed_from_u64(seed);
        let setting = random(&mut rng);
        let all: Vec<usize> = (0..setting.people.len()).collect();
        let some: Vec<usize> = all.iter().copied().filter(|_| rng.random_bool(0.6)).collect();
        let tables: Vec<ReleasedClasses> = setting
            .releases
            .iter()
            .map(|(rows, _)| {
                let rows: Vec<[&str; 3]> = rows.iter().map(|row| row.each_ref().map(String::as_str)).collect();
                classes(&["a", "b", "s"], &rows)
            })
            .collect();
        let names = ["0", "1", "2"];
        let each = names.iter().zip(&tables).zip(&setting.releases);
        let released: Vec<Released<'_>> =
            each.map(|((name, table), (_, suppressed))| stated(name, table, *suppressed)).collect();
        let is_reduced = released.iter().any(|table| table.suppressed > 0);
        for known in [&all, &some].into_iter().filter(|known| !known.is_empty()) {
            let possible = possible(&setting, known);
            let people: Vec<[&str; 3]> =
                known.iter().map(|&person| setting.people[person].each_ref().map(String::as_str)).collect();
            for columns in [3, 2] {
                let people = listed(&people, columns);
                let worlds = every_world(&released, &people);
                for finding in combined(&released, &people) {
                    for &person in &finding.people_at_risk {
                        let values = &possible[person as usize];
                        assert_eq!(
                            values.len(),
                            1,
                            "seed {seed}: person {person} of {known:?}, {values:?}: {finding:?}"
                        );
                        let is_known = worlds.people_at_risk.contains(&person);
                        assert!(is_known, "seed {seed}: {person} of {known:?}: {finding:?}, {worlds:?}");
                        certain_beside += usize::from(is_reduced);
                    }
                }
                // What these adversaries said without the suppressed rows: some of it is denied.
                let unaware: Vec<Released<'_>> =
                    released.iter().map(|table| Released { suppressed: 0, ..*table }).collect();
                let unaware = combined(&unaware, &people);
                let all = unaware.iter().flat_map(|finding| &finding.people_at_risk);
                denied += all.filter(|&&person| possible[person as usize].len() > 1).count();
            }
        }
    }
    let is_one = seeds(count).count() == 1;
    assert!(is_one || (certain_beside > 20 && denied > 20), "{certain_beside} certain, {denied} denied");
}
