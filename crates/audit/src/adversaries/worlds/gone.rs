//! People who left, and people of others: another release than the newest has more rows than there
//! are people listed who are in it. Of the newest one's custodian these left since; of another
//! custodian they were never there, or left. Nothing names them, but who knows who is in that
//! release alone also knows who is in both, and subtracts.
//!
//! Where everyone who is there has one class of the other release, it is known how many people of
//! each class are in it alone. Elsewhere (labels overlap, or rows were suppressed) one of them is
//! looked for, in each class that they can have been in. What they have in further releases is not
//! used: which they are in is not known. Of a release that cannot have all people who fit it, it is
//! not known who is in it, and so not who else is: nothing is judged.

use std::collections::{BTreeMap, BTreeSet};

use hedgerow_table::{Progress, TableError};
use serde_json::{Value, json};

use super::explanation;
use super::fewest::Solution;
use super::hypothesis::{Assumption, Case, can_be_there, everyone, most_here};
use super::left::{LeftRecords, ValuesLeft};
use super::setting::Setting;
use super::tally::{EXPLAINED_MAX, PeopleTally};
use crate::finding::{Explanation, Exposure, Finding, ReleaseCells, likeliest_first, named};
use crate::solver::{
    Beside, Certainty, Layers, PeopleProfile, Presence, Scenario, Side, WorldAnswer, WorldProblem, classes_left, solve,
};

/// Classes for which it is looked up whether a person with the values that are left can have been
/// there.
const LOOKED_UP_MAX: usize = 64;

/// The people who are in another table than the newest, and not listed.
#[derive(Default)]
pub(super) struct Gone {
    found: BTreeMap<(usize, u32), Found>,
    /// By table, how many they are.
    people: BTreeMap<usize, u64>,
    /// Tables of which that is not known.
    unknown: BTreeSet<usize>,
    /// In some table they are looked for one at a time.
    one_by_one: bool,
    /// Something was not decided.
    open: bool,
}

/// Fewer values are left than the class has.
struct Found {
    left: ValuesLeft,
    steps: Vec<String>,
}

/// Someone who left, in a problem.
struct Person {
    /// The position of the table among those of the problem.
    side: usize,
    profile: usize,
    /// The class, where it is known how many people of it left.
    class: Option<u32>,
    people: u64,
}

impl Gone {
    /// Examines the values that tables leave, with the newest release, to people who are not
    /// listed.
    pub(super) fn examine(
        &mut self,
        setting: &Setting<'_>,
        groups: &[Solution],
        standings: &[Assumption],
        progress: &dyn Progress,
    ) -> Result<(), TableError> {
        let Some(newest) = setting.sides.len().checked_sub(1) else { return Ok(()) };
        let Some(group) = groups.iter().find(|group| group.tables.contains(&newest)) else { return Ok(()) };
        // Where the list has not everyone who is in the newest release, others may be in both.
        let of_newest = group.tables.iter().position(|&table| table == newest);
        if of_newest.is_none_or(|side| group.problem.sides[side].unlisted > 0) {
            return Ok(());
        }
        let is_known = |table: &usize| group.tables.contains(table) && !setting.tables.tables[*table].counterfeit;
        let is_whole = |table: &usize| !setting.tables.is_rows(*table);
        self.unknown.extend((0..newest).filter(|table| is_whole(table) && !is_known(table)));
        let others = (0..group.tables.len()).filter(|&side| group.tables[side] < newest);
        let others = others.filter(|&side| is_known(&group.tables[side]));
        let others: Vec<usize> = others.filter(|&side| group.problem.sides[side].unlisted > 0).collect();
        // Of people who are not listed, the rows of a bucketized table by bucket are not used.
        self.open |= others.iter().any(|&side| !is_whole(&group.tables[side]));
        let others: Vec<usize> = others.into_iter().filter(|&side| is_whole(&group.tables[side])).collect();
        if others.is_empty() {
            return Ok(());
        }
        let mut problem = group.problem.clone();
        let mut persons = Vec::new();
        for side in others {
            let known = self.people.entry(group.tables[side]).or_default();
            *known = (*known).max(problem.sides[side].unlisted);
            add(&mut problem, side, &mut persons);
        }
        self.one_by_one |= persons.iter().any(|person| person.class.is_none());
        let solved = solve(&problem, Layers::ALL, Beside::default(), progress)?;
        if solved.contradiction {
            return Ok(());
        }
        for person in &persons {
            for scenario in solved.scenarios.iter().filter(|scenario| scenario.profile as usize == person.profile) {
                self.take(setting, group, standings, (&problem, person, scenario), progress)?;
            }
        }
        Ok(())
    }

    /// Keeps what is left for a person in a bucket, where it is fewer values than the bucket has.
    fn take(
        &mut self,
        setting: &Setting<'_>,
        group: &Solution,
        standings: &[Assumption],
        (problem, person, scenario): (&WorldProblem, &Person, &Scenario),
        progress: &dyn Progress,
    ) -> Result<(), TableError> {
        let (table, side) = (group.tables[person.side], &problem.sides[person.side]);
        let profile = &problem.profiles[person.profile];
        let place = &side.places[profile.places[person.side] as usize];
        let of_class = |class: u32| side.bucket_of[class as usize];
        let shown = scenario.shown.iter().find(|(own, _)| *own as usize == person.side).map(|(_, bucket)| *bucket);
        let classes: Vec<u32> = match shown {
            Some(bucket) => place.iter().copied().filter(|&class| of_class(class) == bucket).collect(),
            None => place.clone(),
        };
        let Some(&class) = classes.first() else { return Ok(()) };
        let left = left_of(problem, profile, scenario);
        let grouped = |records: LeftRecords| records.grouped(setting.tables, person.people, |other| other == table);
        let all = side.values_of(of_class(class)).into_iter().map(|value| (value, None, true)).collect();
        let (left, all) = (grouped(left), grouped(LeftRecords { records: all }));
        self.open |= !left.is_decided;
        if left.values.is_empty() || left.values.len() >= all.values.len() {
            return Ok(());
        }
        let is_new = |known: &Found| left.values.len() < known.left.values.len();
        if !self.found.get(&(table, class)).is_none_or(is_new) {
            return Ok(());
        }
        if person.class.is_none() {
            if self.found.len() >= LOOKED_UP_MAX {
                self.open = true;
                return Ok(());
            }
            if !can_have_been_there(setting, (table, &standings[table]), &classes, &left, progress)? {
                return Ok(());
            }
        }
        let steps = self.steps(setting, group, (problem, person, &classes), &left)?;
        self.found.insert((table, class), Found { left, steps });
        Ok(())
    }

    /// The steps that lead to one value.
    fn steps(
        &self,
        setting: &Setting<'_>,
        group: &Solution,
        (problem, person, classes): (&WorldProblem, &Person, &[u32]),
        left: &ValuesLeft,
    ) -> Result<Vec<String>, TableError> {
        let is_explained = |known: &Found| !known.steps.is_empty();
        if left.values.len() != 1 || self.found.values().filter(|known| is_explained(known)).count() >= EXPLAINED_MAX {
            return Ok(Vec::new());
        }
        let mut problem = problem.clone();
        let side = &mut problem.sides[person.side];
        side.places.push(classes.to_vec());
        problem.profiles[person.profile].places[person.side] = side.places.len() as u32 - 1;
        problem.sides.iter_mut().for_each(|side| side.shown = false);
        let value = left.values[0].0;
        let certain = Certainty { profile: person.profile, values: &left.records, anyhow: false };
        let steps = explanation::steps(setting.tables, &group.tables, &problem, certain, value)?;
        let mut steps = steps.unwrap_or_default();
        steps.pop();
        let (value, who) = (setting.tables.text(value), who(setting, group.tables[person.side]));
        steps.push(format!("only {} is left for a person of this class {who}", named(&value)));
        Ok(steps)
    }

    /// Whether people who are not listed were looked for one at a time: who knows where several of
    /// them are may be certain of more.
    pub(super) fn is_one_by_one(&self) -> bool {
        self.one_by_one && !self.people.is_empty()
    }

    /// Adds the people who are not listed to what was found about those who are.
    pub(super) fn finish(self, finding: &mut Finding, tally: &mut PeopleTally, setting: &Setting<'_>) {
        let name = |table: &usize| setting.tables.tables[*table].name;
        let unknown = self.unknown.iter().filter(|table| !self.people.contains_key(*table));
        let unknown: Vec<&str> = unknown.map(name).collect();
        if !unknown.is_empty() {
            finding.note(format!(
                "who is in {} and not listed was not judged: it is not known who of those listed is in it",
                unknown.join(" and ")
            ));
        }
        let Some(&people) = self.people.values().max() else { return };
        let mut at_risk = 0;
        for (&(table, class), Found { left, .. }) in &self.found {
            at_risk += if left.values.len() == 1 { left.people } else { 0 };
            tally.add(finding, left, || exposure(setting, table, class, left));
        }
        finding.people += people;
        let details: Value = json!({ "people": people, "at_risk": at_risk, "one_by_one": self.one_by_one });
        finding.details.insert("gone".to_owned(), details);
        let how = match self.one_by_one {
            true => {
                ", one of them at a time, since labels or suppressed rows leave open how many each class has of them"
            }
            false => "",
        };
        let each = format!("each is judged with that release, the newest and those whom the people listed are in{how}");
        let is_left = |table: &usize| is_own(setting, *table);
        let most = |is_left_wanted: bool| {
            let own = self.people.iter().filter(|(table, _)| is_left(table) == is_left_wanted);
            own.map(|(_, people)| *people).max()
        };
        if let Some(left) = most(true) {
            let of = "an earlier release of the same custodian are of people who left";
            finding.note(format!("{left} rows of {of}: {each}"));
        }
        if let Some(others) = most(false) {
            let of: Vec<&str> = self.people.keys().filter(|table| !is_left(table)).map(name).collect();
            let of = of.join(" and ");
            finding.note(format!("{others} rows of {of} are of people who are not listed: {each}"));
        }
        if self.open {
            tally.leave_open(1);
        }
        for Found { left, steps } in self.found.into_values().filter(|found| !found.steps.is_empty()) {
            let value = setting.tables.text(left.values[0].0);
            finding.explanations.push(Explanation { people: left.people, value, steps, rows: Vec::new() });
        }
    }
}

/// Whether a table is of the newest one's custodian: who was in it and is not listed left.
fn is_own(setting: &Setting<'_>, table: usize) -> bool {
    let tables = &setting.tables.tables;
    let custodian = tables.last().and_then(|newest| newest.custodian);
    custodian.is_some() && tables[table].custodian == custodian
}

fn who(setting: &Setting<'_>, table: usize) -> &'static str {
    if is_own(setting, table) { "who left" } else { "who is not listed" }
}

/// Adds the people of a table who are not listed: those of each class where their number is known,
/// else one who can have been in any class.
fn add(problem: &mut WorldProblem, at: usize, persons: &mut Vec<Person>) {
    let sides = problem.sides.len();
    let mut here = vec![0u64; problem.sides[at].sizes.len()];
    let mut is_counted = true;
    for profile in &problem.profiles {
        match (problem.classes(profile, at), profile.presence[at]) {
            (_, Presence::Away) => {}
            (&[class], Presence::Here) => here[class as usize] += u64::from(profile.people.0),
            _ => is_counted = false,
        }
    }
    let side = &mut problem.sides[at];
    let rows = side.sizes.iter().zip(&here).map(|(&rows, &here)| u64::from(rows).checked_sub(here));
    let Some(left) = rows.collect::<Option<Vec<u64>>>() else { return };
    let mut new: Vec<(Vec<u32>, Option<u32>, u64)> = Vec::new();
    if is_counted {
        let classes = (0u32..).zip(&left).filter(|(_, rows)| **rows > 0);
        new.extend(classes.map(|(class, &rows)| (vec![class], Some(class), rows)));
        side.unlisted = 0;
    } else {
        let classes = (0u32..).zip(&left).filter(|(_, rows)| **rows > 0).map(|(class, _)| class);
        new.push((classes.collect(), None, 1));
        side.unlisted -= 1;
        side.shown = true;
    }
    for (classes, class, people) in new {
        let mut places = vec![0; sides];
        places[at] = problem.sides[at].places.len() as u32;
        problem.sides[at].places.push(classes);
        let mut presence = vec![Presence::Away; sides];
        presence[at] = Presence::Here;
        let profile = problem.profiles.len();
        problem.profiles.push(PeopleProfile { people: (people as u32, people as u32), places, presence });
        if class.is_none()
            && let Some(fit) = classes_left(problem, at, profile)
        {
            let place = problem.profiles[profile].places[at] as usize;
            problem.sides[at].places[place] = fit;
        }
        persons.push(Person { side: at, profile, class, people });
    }
}

/// The records that a scenario leaves.
fn left_of(problem: &WorldProblem, profile: &PeopleProfile, scenario: &Scenario) -> LeftRecords {
    let mut left = LeftRecords::default();
    for query in scenario.left() {
        let alike = problem.alike(profile, query.value);
        let share = query.share.map(|share| share / alike.len() as f64);
        let is_possible = query.answer == WorldAnswer::Possible;
        left.records.extend(alike.into_iter().map(|value| (value, share, is_possible)));
    }
    left.records.sort_unstable_by_key(|(record, _, _)| *record);
    left
}

/// Whether a person with a value that is left can have been in one of some classes, beside the
/// people who are there with their true values. An attacker who knows the people who left knows
/// their classes; a class from which no person can have left exposes none.
fn can_have_been_there(
    setting: &Setting<'_>,
    (table, standing): (usize, &Assumption),
    classes: &[u32],
    left: &ValuesLeft,
    progress: &dyn Progress,
) -> Result<bool, TableError> {
    let cases: &[Case] = &setting.cases;
    let (people, absent) = match standing {
        Assumption::Everyone { absent, .. } => (everyone(cases), *absent),
        Assumption::Stayed { people, .. } => (people.counts(cases.len()), 0),
        Assumption::Target => return Ok(false),
    };
    for &class in classes {
        for &record in &left.records {
            let Some(side) = without(&setting.sides[table], class, record) else { continue };
            let is_there = most_here(&side, table, cases, &people, |matched| matched.saturating_sub(absent)).is_some();
            if is_there && can_be_there(&side, table, cases, &people, absent, progress)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// A table without one row; `None` where it has no such row.
fn without(side: &Side, class: u32, record: u32) -> Option<Side> {
    let position = side.position(side.bucket_of[class as usize], record)?;
    let mut side = side.clone();
    let (size, count) = (&mut side.sizes[class as usize], &mut side.counts[position].1);
    (*size, *count) = (size.checked_sub(1)?, count.checked_sub(1)?);
    Some(side)
}

fn exposure(setting: &Setting<'_>, table: usize, class: u32, left: &ValuesLeft) -> Exposure {
    let released = &setting.tables.tables[table];
    let least = left.confidence();
    let share = |share: Option<f64>| if left.values.len() == 1 { 1.0 } else { share.unwrap_or(least) };
    let values = left.values.iter().map(|&(value, of)| (setting.tables.text(value), share(of)));
    let mut values: Vec<(String, f64)> = values.collect();
    likeliest_first(&mut values);
    let who = who(setting, table);
    let why = match left.values.len() {
        1 => format!("{who}: every table that fits the releases gives them this value"),
        count => format!("{who}: the tables that fit the releases leave them {count} values"),
    };
    let cells = vec![ReleaseCells::new(released.name, released.classes.describe(class as usize))];
    Exposure { cells, values, people: left.people, why }
}
