//! Records that the worlds of some tables leave to each person, by what the attacker can know of
//! their classes.

use hashbrown::HashMap;

use super::fewest::Solution;
use super::left::LeftRecords;
use crate::solver::{PeopleProfile, Presence, Scenario, Solved, WorldAnswer, WorldProblem};

/// Sets of values that are distinguished for one case.
const ALTERNATIVES_MAX: usize = 4096;

/// Classes of a table in which the attacker is not shown a person, but may know that they are in
/// one of them; more are not compared with those of other tables.
const OPEN_MAX: usize = 200;

/// By what the tables say of them, the values that they say the same of.
type Alike = HashMap<Vec<u32>, Vec<u32>>;

/// Tables whose worlds were looked at together.
pub(super) struct TableGroup<'a> {
    pub(super) tables: &'a [usize],
    problem: &'a WorldProblem,
    solved: &'a Solved,
    of_case: &'a [Vec<(u32, u32)>],
    /// By profile, its scenarios.
    scenarios: Vec<Vec<u32>>,
    /// By who is in which table, where tables say less than the values.
    alike: HashMap<Vec<Presence>, Alike>,
}

impl<'a> TableGroup<'a> {
    pub(super) fn new(of: &'a Solution) -> TableGroup<'a> {
        let Solution { tables, problem, solved, of_case } = of;
        let profiles = of_case.iter().flatten().map(|&(_, profile)| profile as usize + 1).max().unwrap_or(0);
        let mut scenarios = vec![Vec::new(); profiles];
        for (number, scenario) in solved.scenarios.iter().enumerate() {
            if let Some(own) = scenarios.get_mut(scenario.profile as usize) {
                own.push(number as u32);
            }
        }
        let mut alike: HashMap<Vec<Presence>, Alike> = HashMap::new();
        for profile in problem.profiles.iter().filter(|_| !problem.says_values()) {
            if !alike.contains_key(&profile.presence) {
                let mut own = Alike::new();
                for value in 0..=problem.values {
                    own.entry(problem.said(profile, value)).or_default().push(value);
                }
                alike.insert(profile.presence.clone(), own);
            }
        }
        TableGroup { tables, problem, solved, of_case, scenarios, alike }
    }

    /// The profile of a person of a case.
    pub(super) fn profile(&self, case: usize, person: u32) -> usize {
        let parts = &self.of_case[case];
        let after = parts.partition_point(|&(first, _)| first <= person);
        parts[after.saturating_sub(1)].1 as usize
    }

    /// Whether a person of a case is in a table; `None` where it is not among these.
    pub(super) fn presence(&self, case: usize, person: u32, table: usize) -> Option<Presence> {
        let side = self.tables.iter().position(|&own| own == table)?;
        Some(self.problem.profiles[self.profile(case, person)].presence[side])
    }

    /// The places of a profile that the attacker is shown, and those where they need not be: there
    /// is one class, or the person is in one of these.
    fn shown(&self, profile: &PeopleProfile, shown: &[(u32, u32)], anyhow: bool) -> Vec<Shown> {
        let of = |(side, buckets): (usize, Vec<u32>)| Shown {
            table: self.tables[side],
            place: profile.places[side],
            buckets,
        };
        let mut all: Vec<Shown> = shown.iter().map(|&(side, bucket)| of((side as usize, vec![bucket]))).collect();
        for (side, table) in self.problem.sides.iter().enumerate() {
            let is_here = match profile.presence[side] {
                Presence::Here => true,
                Presence::Either => !anyhow,
                Presence::Away => false,
            };
            let place = &table.places[profile.places[side] as usize];
            let is_shown = shown.iter().any(|(own, _)| *own as usize == side);
            if table.shown && is_here && !is_shown && place.len() <= OPEN_MAX {
                let mut buckets: Vec<u32> = place.iter().map(|&class| table.bucket_of[class as usize]).collect();
                buckets.sort_unstable();
                buckets.dedup();
                all.push(of((side, buckets)));
            }
        }
        all
    }

    /// The records left to a person of a case, for each combination of classes that the attacker
    /// can know; and whether they may have been suppressed. Whether they can be in all tables, and
    /// in those from which they cannot have been suppressed, is known beforehand. A combination in
    /// which no one can be is none. One that omits all records that can be true of them, where that
    /// is known, is not so: they are not in that class, or not all people are in the tables.
    pub(super) fn alternatives(
        &self,
        (case, person): (usize, u32),
        is_true: Option<&dyn Fn(u32) -> bool>,
        [in_all, in_some]: [bool; 2],
        can_meet: &dyn Fn(&[Shown]) -> bool,
    ) -> (Vec<Alternative>, bool) {
        let number = self.profile(case, person);
        let profile = &self.problem.profiles[number];
        let of = |anyhow: bool| -> Vec<Alternative> {
            let scenarios = self.scenarios[number].iter().map(|&number| &self.solved.scenarios[number as usize]);
            let mut known: Vec<Vec<(u32, u32)>> = Vec::new();
            let mut all: Vec<Alternative> = Vec::new();
            for scenario in scenarios.filter(|scenario| scenario.anyhow == anyhow) {
                let shown = self.shown(profile, &scenario.shown, anyhow);
                if shown.len() > 1 && !can_meet(&shown) {
                    continue;
                }
                let left = self.left(profile, scenario);
                let of = |&(side, bucket): &(u32, u32)| {
                    let own = &self.problem.sides[side as usize];
                    (side, own.first_alike(profile.places[side as usize], bucket))
                };
                let first: Vec<(u32, u32)> = scenario.shown.iter().map(of).collect();
                match known.iter().position(|known| *known == first).filter(|_| !first.is_empty()) {
                    Some(at) => all[at].or(Alternative { shown, left }),
                    None => {
                        known.push(first);
                        all.push(Alternative { shown, left });
                    }
                }
            }
            let is_so = |alternative: &Alternative| match is_true {
                None => !alternative.left.records.is_empty(),
                Some(is_true) => alternative.left.records.iter().any(|&(record, _, _)| is_true(record)),
            };
            all.into_iter().filter(is_so).collect()
        };
        let in_all = if in_all { of(false) } else { Vec::new() };
        // Who cannot be in every table was suppressed in one: what every world gives them is known.
        match in_all.is_empty() {
            true => (if in_some { of(true) } else { Vec::new() }, true),
            false => (in_all, false),
        }
    }

    /// The records that a scenario leaves.
    fn left(&self, profile: &PeopleProfile, scenario: &Scenario) -> LeftRecords {
        let alike = self.alike.get(&profile.presence);
        let mut left = LeftRecords::default();
        for query in scenario.left() {
            let is_possible = query.answer == WorldAnswer::Possible;
            let Some(alike) = alike.and_then(|alike| alike.get(&self.problem.said(profile, query.value))) else {
                left.records.push((query.value, query.share, is_possible));
                continue;
            };
            let share = query.share.map(|share| share / alike.len() as f64);
            left.records.extend(alike.iter().map(|&value| (value, share, is_possible)));
        }
        left.records.sort_unstable_by_key(|(record, _, _)| *record);
        left
    }
}

/// A table, the place of some people in it, and the buckets of which the attacker knows that they
/// are in one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Shown {
    pub(super) table: usize,
    pub(super) place: u32,
    pub(super) buckets: Vec<u32>,
}

/// The records left to a person who is in the buckets that the attacker is shown.
#[derive(Debug, Clone)]
pub(super) struct Alternative {
    pub(super) shown: Vec<Shown>,
    pub(super) left: LeftRecords,
}

impl Alternative {
    /// Makes it the remainder in this combination of buckets or in another one, which the attacker
    /// cannot tell apart.
    fn or(&mut self, other: Alternative) {
        self.left = either(&self.left, other.left);
        for (own, other) in self.shown.iter_mut().zip(other.shown) {
            own.buckets.extend(other.buckets);
            own.buckets.sort_unstable();
            own.buckets.dedup();
        }
    }
}

/// The remainder of one or the other of two classes that the attacker cannot tell apart.
fn either(one: &LeftRecords, other: LeftRecords) -> LeftRecords {
    let mut records: Vec<(u32, Option<f64>, bool)> = one
        .records
        .iter()
        .copied()
        .chain(other.records)
        .map(|(record, _, is_possible)| (record, None, is_possible))
        .collect();
    records.sort_unstable_by_key(|&(record, _, is_possible)| (record, !is_possible));
    records.dedup_by_key(|(record, _, _)| *record);
    LeftRecords { records }
}

/// Every alternative of one with every alternative of the other in which someone can be, each set
/// of records once; and whether there were too many to be listed.
pub(super) fn crossed(
    before: &[Alternative],
    other: &[Alternative],
    can_meet: &dyn Fn(&[Shown]) -> bool,
) -> (Vec<Alternative>, bool) {
    let mut all: Vec<Alternative> = Vec::new();
    for one in before {
        for two in other {
            let shown = [one.shown.as_slice(), &two.shown].concat();
            let (one, two) = (&one.left, &two.left);
            let mut records = Vec::new();
            for &(record, share, is_possible) in &one.records {
                if let Ok(at) = two.records.binary_search_by_key(&record, |(record, _, _)| *record) {
                    records.push((record, share, is_possible && two.records[at].2));
                }
            }
            if records.len() < one.records.len() {
                records.iter_mut().for_each(|(_, share, _)| *share = None);
            }
            let is_same = |known: &Alternative| {
                known.shown == shown && known.left.records.iter().map(|r| r.0).eq(records.iter().map(|r| r.0))
            };
            if records.is_empty() || all.iter().any(is_same) || shown.len() > 1 && !can_meet(&shown) {
                continue;
            }
            if all.len() >= ALTERNATIVES_MAX {
                return (all, true);
            }
            all.push(Alternative { shown, left: LeftRecords { records } });
        }
    }
    (all, false)
}
