//! Why a value is certain, in steps that a reader can check against the released tables.

use hedgerow_table::TableError;

use super::tables::AttributeTables;
use crate::finding::{named, shown_in_list};
use crate::solver::{Certainty, Fact, PeopleProfile, WorldProblem, explain};

/// Values of one class that a step names.
const VALUES_MAX: usize = 8;

/// The steps from the classes of some tables to a value; `None` when too many classes take part.
pub(super) fn steps(
    tables: &AttributeTables<'_>,
    positions: &[usize],
    problem: &WorldProblem,
    of: Certainty<'_>,
    value: u32,
) -> Result<Option<Vec<String>>, TableError> {
    let Some(facts) = explain(problem, of)? else { return Ok(None) };
    let mut steps: Vec<String> = facts.iter().map(|&fact| step(tables, positions, problem, fact)).collect();
    let people = match problem.profiles[of.profile].people.1 {
        _ if !is_listed(problem) => "a person in these cells".to_owned(),
        1 => "the person".to_owned(),
        several => format!("each of the {several} people who look like this person"),
    };
    steps.push(format!("only {} is left for {people}", named(&tables.text(value))));
    Ok(Some(steps))
}

/// The same where the cells of one combination alone leave the value.
pub(super) fn by_cells(
    tables: &AttributeTables<'_>,
    problem: &WorldProblem,
    profile: usize,
    value: u32,
) -> Vec<String> {
    let positions: Vec<usize> = (0..tables.tables.len()).collect();
    let places = problem.profiles[profile].places.iter().zip(&problem.sides).zip(0..);
    let facts = places.map(|((&class, side), number)| (number, side.bucket_of[class as usize]));
    let mut steps: Vec<String> = facts.map(|fact| step(tables, &positions, problem, fact)).collect();
    steps.push(format!("only {} is left for a person in these cells", named(&tables.text(value))));
    steps
}

/// Whether people are listed; else their number in a combination of cells is not known.
fn is_listed(problem: &WorldProblem) -> bool {
    problem.profiles.iter().any(|profile| profile.people.0 > 0)
}

/// One class or bucket: its rows, and who can be in it.
fn step(tables: &AttributeTables<'_>, positions: &[usize], problem: &WorldProblem, (side, bucket): Fact) -> String {
    let number = positions[side as usize];
    let released = &tables.tables[number];
    let table = &problem.sides[side as usize];
    let classes: Vec<usize> = (0..table.bucket_of.len()).filter(|&class| table.bucket_of[class] == bucket).collect();
    let what = match classes[..] {
        [class] => described(&released.classes.describe(class)),
        _ => format!("a bucket of {} different cells", classes.len()),
    };
    let counts = table.of_bucket(bucket);
    let rows: u32 = counts.iter().map(|&(_, rows)| rows).sum();
    if !is_listed(problem) {
        return format!("{}: {what} has {rows} rows ({})", released.name, values(tables, number, counts));
    }
    let (mut fit, mut only) = (0u64, 0u64);
    for profile in &problem.profiles {
        let (fits, others) = fitting(problem, profile, side as usize, bucket);
        fit += if fits { u64::from(profile.people.0) } else { 0 };
        only += if fits && !others { u64::from(profile.people.0) } else { 0 };
    }
    let people = match () {
        () if fit == u64::from(rows) && table.unlisted == 0 => match fit {
            1 => "only one person fits it".to_owned(),
            _ => format!("only {fit} people fit it"),
        },
        () if fit == only => format!("{fit} of the people listed are in it"),
        () => format!("{fit} people fit it, {only} of them no other class"),
    };
    format!("{}: {what} has {rows} rows ({}); {people}", released.name, values(tables, number, counts))
}

/// Whether a profile can be in a bucket by its labels, and whether it can be elsewhere.
fn fitting(problem: &WorldProblem, profile: &PeopleProfile, side: usize, bucket: u32) -> (bool, bool) {
    let classes = problem.classes(profile, side);
    let here = |class: &&u32| problem.sides[side].bucket_of[**class as usize] == bucket;
    let own = classes.iter().filter(here).count();
    let away = profile.presence[side] == crate::solver::Presence::Either;
    (own > 0, own < classes.len() || away)
}

fn described(cells: &[(&str, &str)]) -> String {
    let cells: Vec<String> = cells.iter().map(|(name, label)| format!("{name} {}", shown_in_list(label))).collect();
    if cells.is_empty() { "the class of all rows".to_owned() } else { format!("the class {}", cells.join(", ")) }
}

fn values(tables: &AttributeTables<'_>, number: usize, counts: &[(u32, u32)]) -> String {
    let named = counts.iter().take(VALUES_MAX);
    let mut texts: Vec<String> = named.map(|&(said, rows)| format!("{} {rows}", tables.said(number, said))).collect();
    if counts.len() > VALUES_MAX {
        texts.push(format!("{} more", counts.len() - VALUES_MAX));
    }
    texts.join(", ")
}
