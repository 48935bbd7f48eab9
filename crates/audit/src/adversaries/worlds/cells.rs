//! Without a list of people: which combinations of classes a person can be in, and with which
//! values.

use serde_json::json;

use hedgerow_release::JointShare;
use hedgerow_release::classes::ReleasedClasses;
use hedgerow_table::{Progress, TableError};

use super::attacker::{Attacker, Part};
use super::explanation;
use super::joint::known_people;
use super::left::{LeftRecords, ValuesLeft};
use super::tables::AttributeTables;
use super::tally::{EXPLAINED_MAX, Fits, PeopleTally};
use crate::combined_view::Combination;
use crate::finding::{Explanation, Exposure, Finding, Needs, ReleaseCells};
use crate::joint_cells::joint_cells;
use crate::solver::{Beside, Certainty, Layers, PeopleProfile, Presence, Solved, WorldAnswer, WorldProblem, solve};

/// More combinations than this are not listed.
const COMBINATIONS_MAX: usize = 2_000_000;

/// The classes as profiles: how many people are in a combination is not known.
fn problem(tables: &AttributeTables<'_>, combinations: impl Iterator<Item = Vec<u32>>) -> WorldProblem {
    let mut problem = WorldProblem { values: tables.values(), ..WorldProblem::default() };
    let suppressed: u64 = tables.tables.iter().map(|table| table.suppressed).sum();
    for (number, table) in tables.tables.iter().enumerate() {
        let mut side = tables.side(number);
        side.unlisted = suppressed - table.suppressed;
        side.places = (0..side.sizes.len() as u32).map(|class| vec![class]).collect();
        problem.sides.push(side);
    }
    for places in combinations {
        let rows = places.iter().zip(&problem.sides).map(|(&class, side)| side.sizes[class as usize]);
        let people = (0, rows.min().unwrap_or(0));
        problem.profiles.push(PeopleProfile { people, presence: vec![Presence::Here; places.len()], places });
    }
    problem
}

/// The worlds in which every person is in every table, where the tables can be about the same
/// people.
fn joint(
    tables: &AttributeTables<'_>,
    problem: &WorldProblem,
    progress: &dyn Progress,
) -> Result<Option<Solved>, TableError> {
    let sources: Vec<u64> = tables.tables.iter().map(|table| table.classes.rows + table.suppressed).collect();
    let alike = sources.windows(2).all(|pair| pair[0] == pair[1]);
    if !alike || tables.tables.iter().any(|table| table.counterfeit) {
        return Ok(None);
    }
    let solved = solve(problem, Layers::ALL, Beside::default(), progress)?;
    Ok(Some(solved).filter(|solved| !solved.contradiction && !solved.scenarios.is_empty()))
}

/// For each combination, whether a person can be in it; `None` where that is not known.
pub(super) fn meeting(
    tables: &AttributeTables<'_>,
    combinations: &[Combination],
    attacker: Attacker<'_>,
) -> Result<Option<Vec<bool>>, TableError> {
    let problem = problem(tables, combinations.iter().map(|combination| combination.views.clone()));
    let solved = joint(tables, &problem, attacker.progress)?;
    let left = solved.map(|solved| solved_left(tables, &solved, problem.profiles.len()));
    Ok(left.map(|left| left.iter().map(|left| !left.values.is_empty()).collect()))
}

pub(super) fn run(
    finding: &mut Finding,
    tables: &AttributeTables<'_>,
    attacker: Attacker<'_>,
) -> Result<Fits, TableError> {
    let classes: Vec<&ReleasedClasses> = tables.tables.iter().map(|table| table.classes).collect();
    let combinations = joint_cells(&classes, COMBINATIONS_MAX);
    if combinations.cut {
        finding.note_needs(Needs::People, "too many combinations of cells to examine all");
        let is_divided = (0..classes.len()).any(|table| tables.is_rows(table));
        return Ok(if is_divided { Fits { together: false, lost: u64::MAX } } else { Fits::ALL });
    }
    let mut combinations = combinations.combinations;
    // Rows and counts of one bucketized table have the same classes.
    for table in (0..classes.len()).filter(|&table| tables.is_rows(table)) {
        if tables.tables.get(table + 1).is_some_and(|next| next.part == Part::Counts) {
            combinations.retain(|combination| combination[table] == combination[table + 1]);
        }
    }
    let mut problem = problem(tables, combinations.iter().cloned());
    problem.known = known_people(tables, &combinations, attacker.joint);
    let mut solved = joint(tables, &problem, attacker.progress)?;
    if solved.is_none() && !problem.known.is_empty() {
        // What is known of other people does not fit the tables, or these are not of one source.
        finding.note("no table of people who are in every release has the shares that are given: they are not used");
        problem.known.clear();
        solved = joint(tables, &problem, attacker.progress)?;
    }
    let left: Vec<ValuesLeft> = match &solved {
        Some(solved) => solved_left(tables, solved, problem.profiles.len()),
        None => problem.profiles.iter().map(|profile| intersection(tables, &problem, profile)).collect(),
    };
    let assumed = match (&solved, tables.tables.len()) {
        (_, 1) => "the attacker knows the cells of one person who is in the release",
        (Some(_), _) => {
            "every person is in every release, but for suppressed rows; the attacker knows the cells of one of them"
        }
        (None, _) => "one person is in every release; nothing is assumed of who else is in which",
    };
    let shares: Vec<String> = attacker.joint.iter().map(JointShare::to_string).collect();
    let assumed = match problem.known.is_empty() {
        true => assumed.to_owned(),
        false => format!("{assumed}; and knows {}", shares.join("; ")),
    };
    finding.details.insert("assumed".to_owned(), json!(assumed));
    if !problem.known.is_empty() {
        finding.details.insert("joint".to_owned(), json!(shares));
    }
    let mut tally = PeopleTally::new();
    for (combination, left) in combinations.iter().zip(&left) {
        tally.add(finding, left, || exposure(tables, combination, left));
    }
    tally.finish(finding, solved.as_ref().map_or(&[], |solved| solved.limits.as_slice()));
    explain_exposed(finding, tables, &problem, solved.is_some(), &left)?;
    finding.people = tables.tables.iter().map(|table| table.classes.rows).min().unwrap_or(0);
    finding.at_risk = rows_at_risk(&problem, &combinations, &left);
    Ok(Fits { together: solved.is_some(), lost: 0 })
}

/// How the one value follows that is left in some combinations of cells.
fn explain_exposed(
    finding: &mut Finding,
    tables: &AttributeTables<'_>,
    problem: &WorldProblem,
    is_joint: bool,
    left: &[ValuesLeft],
) -> Result<(), TableError> {
    let all: Vec<usize> = (0..tables.tables.len()).collect();
    let exposed = left.iter().enumerate().filter(|(_, left)| left.values.len() == 1).take(EXPLAINED_MAX);
    for (number, left) in exposed {
        let (value, profile) = (left.values[0].0, &problem.profiles[number]);
        let steps = match is_joint {
            true => {
                let certain = Certainty { profile: number, values: &left.records, anyhow: false };
                explanation::steps(tables, &all, problem, certain, value)?
            }
            // Nothing but the cells of the combination was used.
            false => Some(explanation::by_cells(tables, problem, number, value)),
        };
        let value = tables.text(value);
        finding.explanations.extend(steps.map(|steps| Explanation {
            people: u64::from(profile.people.0),
            value,
            steps,
            rows: Vec::new(),
        }));
    }
    finding.explanations.sort_by_key(|explanation| explanation.steps.len());
    Ok(())
}

fn solved_left(tables: &AttributeTables<'_>, solved: &Solved, profiles: usize) -> Vec<ValuesLeft> {
    let mut left: Vec<LeftRecords> = vec![LeftRecords::default(); profiles];
    for scenario in &solved.scenarios {
        let own = scenario.left().map(|query| (query.value, None, query.answer == WorldAnswer::Possible));
        left[scenario.profile as usize].records = own.collect();
    }
    left.into_iter().map(|left| left.grouped(tables, 0, |_| true)).collect()
}

/// The values that all cells of a combination have in common.
fn intersection(tables: &AttributeTables<'_>, problem: &WorldProblem, profile: &PeopleProfile) -> ValuesLeft {
    let mut values: Option<Vec<u32>> = None;
    for (side, &class) in problem.sides.iter().zip(&profile.places) {
        let bucket = side.bucket_of[class as usize];
        match &mut values {
            None => values = Some(side.values_of(bucket)),
            Some(values) => values.retain(|&value| side.rows_of(bucket, value) > 0),
        }
    }
    let records = values.unwrap_or_default().into_iter().map(|value| (value, None, true)).collect();
    LeftRecords { records }.grouped(tables, 0, |_| true)
}

/// At most this many rows of one table can be in combinations that leave one value: of the table
/// for which that is the fewest.
fn rows_at_risk(problem: &WorldProblem, combinations: &[Vec<u32>], left: &[ValuesLeft]) -> u64 {
    let of_side = |side: usize| {
        let table = &problem.sides[side];
        let mut rows = vec![0u64; table.sizes.len()];
        for (combination, left) in combinations.iter().zip(left) {
            if left.values.len() != 1 {
                continue;
            }
            // No more than have the value on every side.
            let most = combination.iter().zip(&problem.sides).map(|(&class, side)| {
                let bucket = side.bucket_of[class as usize];
                let mut counts: Vec<usize> =
                    left.records.iter().filter_map(|&record| side.position(bucket, record)).collect();
                counts.sort_unstable();
                counts.dedup();
                let rows: u64 = counts.iter().map(|&at| u64::from(side.counts[at].1)).sum();
                rows.min(u64::from(side.sizes[class as usize]))
            });
            rows[combination[side] as usize] += most.min().unwrap_or(0);
        }
        rows.iter().zip(&table.sizes).map(|(&rows, &size)| rows.min(u64::from(size))).sum::<u64>()
    };
    (0..problem.sides.len()).map(of_side).min().unwrap_or(0)
}

fn exposure(tables: &AttributeTables<'_>, combination: &[u32], left: &ValuesLeft) -> Exposure {
    let cells = tables.shown().map(|(number, table)| (table, combination[number] as usize));
    let cells = cells.map(|(table, class)| ReleaseCells::new(table.name, table.classes.describe(class)));
    let share = left.confidence();
    let values = left.values.iter().map(|&(value, _)| (tables.text(value), share)).collect();
    let why = match left.values.len() {
        1 => "every table that fits the releases gives this value to a person in these cells".to_owned(),
        count => format!("the tables that fit the releases leave {count} values to a person in these cells"),
    };
    Exposure { cells: cells.collect(), values, people: 0, why }
}
