//! With a list of people: what every table that fits leaves to each of them.

use hashbrown::HashMap;
use hedgerow_table::{Progress, Table, TableError};
use serde_json::json;

use super::attacker::Attacker;
use super::by_columns::ByColumns;
use super::divided::DIVIDED_MAX;
use super::fewest::{AssumptionOutcome, Fewest, Solution};
use super::gone::Gone;
use super::group::TableGroup;
use super::hypothesis::{Assumption, Case, can_be_there, everyone, standing};
use super::lacking::Lacking;
use super::left::ValuesLeft;
use super::setting::Setting;
use super::tables::AttributeTables;
use super::tally::{EXPLAINED_MAX, Fits, PeopleTally};
use super::ways::{Ways, ways_to_stay};
use crate::finding::{Explanation, Finding};
use crate::solver::{Beside, Layers, PeopleProfile, Presence, Truth, WorldProblem, solve};

/// Why tables are divided into groups.
const NO_WORLD: &str = "no table fits all releases with every person in each";

/// Why a table that everyone could be in is not taken to have everyone.
const NOT_AS_KNOWN: &str = "not all people can be in each release as the list of people describes them";

/// Why nothing is left for some people.
const NOTHING_LEFT: &str =
    "what the releases say of some people contradicts each other, and what fewer releases say of them was not judged";

/// Why more may follow about people who may be among suppressed rows.
const SUPPRESSED: &str = "who cannot be in all releases may be among the suppressed rows of any, and was not looked for in each of the others";

/// Rows that an explanation lists.
const ROWS_MAX: usize = 20;

/// Examines people; of each, the value that alone is left is returned, where one is.
pub(super) fn run(
    finding: &mut Finding,
    tables: &AttributeTables<'_>,
    (people, by_columns): (&Table, Option<&ByColumns<'_>>),
    attacker: Attacker<'_>,
) -> Result<(Fits, Vec<Option<String>>), TableError> {
    let setting = Setting::new(tables, people, attacker)?;
    let ln_prior: Vec<f64> = match attacker.prior {
        [] => Vec::new(),
        prior => {
            let of = |value: &String| prior.iter().find(|(text, _)| text == value).map_or(1.0, |(_, weight)| *weight);
            (0..tables.values()).map(|record| of(&tables.text(tables.value(record, |_| true))).ln()).collect()
        }
    };
    let people_of = || setting.cases.iter().map(|case| u64::from(case.people));
    let mut fewest = Fewest::new(people_of());
    let mut gone = Gone::default();
    let Examined { standings, mut stayed, fits, .. } =
        setting.examine(&mut fewest, None, Some(&mut gone), &ln_prior, attacker)?;
    let mut assumed = setting.assumed(&standings);
    let lacking = Lacking::new(tables, &setting.sides, people);
    let mut exposed_anyhow = 0;
    if let Some(lacking) = &lacking {
        let in_ways = setting.in_every_way(lacking, &ln_prior, attacker)?;
        stayed = [stayed, in_ways.stayed].into_iter().flatten().reduce(|one, two| (one.0 + two.0, one.1 & two.1));
        exposed_anyhow = in_ways.exposed_anyhow;
        in_ways.add_to(finding, &mut fewest, lacking);
    }
    if let Some((tried, all)) = stayed {
        assumed
            .push_str("; the attacker may also know who of a custodian's people stayed from one release to the next");
        finding.details.insert("stayed".to_owned(), json!({ "tried": tried, "all": all }));
        if !all {
            finding.note(format!(
                "who stayed from an earlier release of the same custodian to the newest was supposed in {tried} ways, \
                 which are not all: an attacker who knows who did may be certain of more than is counted here",
            ));
            fewest.leave_open("who stayed was not supposed in every way".to_owned());
        }
    }
    if gone.is_one_by_one() {
        assumed.push_str(
            "; of people who are in another release and not listed, the attacker knows the class of one and of no other",
        );
    }
    if setting.overlapping {
        let why =
            "labels of columns that the list of people lacks overlap: who knows the columns may know more of the class";
        fewest.leave_open(why.to_owned());
    }
    if setting.is_truth_cut {
        fewest.leave_open("too many rows fit what the list says of one person".to_owned());
    }
    if let Some(why) = setting.not_used_of_rows(&standings) {
        fewest.leave_open(why);
    }
    finding.details.insert("assumed".to_owned(), json!(assumed));
    finding.people = people.rows as u64;
    let mut tally = PeopleTally::new();
    tally.leave_open(setting.leave_out_false_values(&mut fewest));
    let denied = by_columns.map_or(0, |by_columns| by_columns.leave_out_denied(&setting, &mut fewest));
    if denied > 0 {
        fewest.limits.push(format!("what is left of {denied} people is denied by columns of their rows"));
    }
    let (mut nowhere, mut lost) = (0u64, 0u64);
    for (left, case) in fewest.left.iter().zip(&setting.cases) {
        let people = if left.values.is_empty() { left.people } else { 0 };
        nowhere += people;
        lost += if setting.is_nowhere(case) || left.is_unsaid { 0 } else { people };
        if !left.is_decided {
            tally.leave_open(people);
        }
        tally.add(finding, left, || setting.exposure(case, left));
    }
    gone.finish(finding, &mut tally, &setting);
    if exposed_anyhow > 0 {
        finding.leave(1, exposed_anyhow);
        finding.at_risk = finding.at_risk.max(exposed_anyhow);
    }
    let is_said = tally.open > 0;
    tally.finish(finding, &fewest.limits);
    if !fits {
        finding.details.insert("exact".to_owned(), json!(false));
    }
    if !is_said && fewest.limits.iter().any(|limit| limit == NO_WORLD) {
        finding.note(format!("{NO_WORLD}: those are taken together that some table fits"));
    }
    if nowhere > 0 {
        finding.details.insert("not_in_all".to_owned(), json!(nowhere));
    }
    let places: Vec<(bool, f64)> = fewest.left.iter().map(|left| (left.values.len() == 1, left.confidence())).collect();
    finding.list_people(&setting.of_person, &places);
    let exposed = (0..setting.cases.len()).filter(|&case| fewest.left[case].values.len() == 1).take(EXPLAINED_MAX);
    let of_person = &setting.of_person;
    for case in exposed {
        attacker.progress.check()?;
        let (found, number, person) = fewest.of_case[case];
        let groups = &fewest.found[found];
        let explanation = setting.explanation((number, person), &fewest.left[case], groups)?;
        finding.explanations.extend(explanation.map(|explanation| {
            let rows = of_person.iter().zip(0..).filter(|(own, _)| **own as usize == case);
            Explanation { rows: rows.map(|(_, row)| row).take(ROWS_MAX).collect(), ..explanation }
        }));
    }
    finding.explanations.sort_by_key(|explanation| explanation.steps.len());
    Ok((Fits { together: fits, lost }, setting.certain(&fewest)))
}

/// The means to look for worlds.
#[derive(Clone, Copy)]
pub(super) struct Means<'p> {
    ln_prior: &'p [f64],
    progress: &'p dyn Progress,
    /// The true values, where they are known, are one of the worlds.
    is_true: bool,
}

/// The first assumptions, and the number of ways in which people may have stayed, with whether
/// these are all.
pub(super) struct Examined {
    pub(super) standings: Vec<Assumption>,
    pub(super) stayed: Option<(usize, bool)>,
    /// Some world fits the first assumptions.
    fits: bool,
    /// The people of whom one set of assumptions leaves one value, at most.
    pub(super) exposed: u64,
}

impl Setting<'_> {
    /// Every set of assumptions about who is in which table, one after the other.
    pub(super) fn examine(
        &self,
        fewest: &mut Fewest,
        part_of: Option<&[usize]>,
        mut gone: Option<&mut Gone>,
        ln_prior: &[f64],
        attacker: Attacker<'_>,
    ) -> Result<Examined, TableError> {
        let progress = attacker.progress;
        let means = Means { ln_prior, progress, is_true: true };
        let standings = self.standings(&self.cases, progress)?;
        let believed = self.believed(&standings, progress)?;
        let (standings, first) = self.outcome(standings, means)?;
        let fits = first.fits;
        let mut exposed = first.exposed(&self.cases);
        if let Some(gone) = &mut gone {
            gone.examine(self, &first.groups, &standings, progress)?;
        }
        fewest.offer(first, part_of);
        let ways = self.ways_to_stay(&standings, progress)?;
        let stayed = ways.as_ref().map(|ways| (ways.tried.len(), ways.all));
        if let Some(believed) = believed {
            let outcome = self.outcome(believed, Means { is_true: false, ..means })?.1;
            exposed = exposed.max(outcome.exposed(&self.cases));
            fewest.offer(outcome, part_of);
        }
        if let Some(alike) = self.with_parts_alike(&standings) {
            let outcome = self.outcome(alike, means)?.1;
            exposed = exposed.max(outcome.exposed(&self.cases));
            fewest.offer(outcome, part_of);
        }
        for others in ways.into_iter().flat_map(|ways| ways.tried) {
            let (standings, outcome) = self.outcome(others, means)?;
            if let Some(gone) = &mut gone {
                gone.examine(self, &outcome.groups, &standings, progress)?;
            }
            exposed = exposed.max(outcome.exposed(&self.cases));
            fewest.offer(outcome, part_of);
        }
        Ok(Examined { standings, stayed, fits, exposed })
    }

    fn standings(&self, cases: &[Case], progress: &dyn Progress) -> Result<Vec<Assumption>, TableError> {
        let all = everyone(cases);
        let mut standings = Vec::with_capacity(self.sides.len());
        for (table, (side, released)) in self.sides.iter().zip(&self.tables.tables).enumerate() {
            let own = standing(side, table, cases, released.suppressed, released.counterfeit);
            let is_possible = match own {
                Assumption::Everyone { absent, .. } => can_be_there(side, table, cases, &all, absent, progress)?,
                _ => true,
            };
            standings.push(if is_possible { own } else { Assumption::Target });
        }
        Ok(standings)
    }

    /// The assumptions of an attacker who does not know the true values, where these deny them:
    /// that everyone is in a table which could hold them, had they other values. The conclusions
    /// may be true all the same.
    fn believed(
        &self,
        standings: &[Assumption],
        progress: &dyn Progress,
    ) -> Result<Option<Vec<Assumption>>, TableError> {
        let is_true = self.cases.first().is_some_and(|case| case.truth.is_some());
        if !is_true || !standings.contains(&Assumption::Target) {
            return Ok(None);
        }
        let unknown: Vec<Case> = self.cases.iter().map(|case| Case { truth: None, ..case.clone() }).collect();
        let believed = self.standings(&unknown, progress)?;
        Ok(Some(believed).filter(|believed| believed != standings))
    }

    /// Earlier releases of the newest one's custodian that not everyone is in: who can have stayed.
    /// `None` when there is none, or true values are not known.
    fn ways_to_stay(&self, standings: &[Assumption], progress: &dyn Progress) -> Result<Option<Ways>, TableError> {
        let newest = self.tables.tables.last().and_then(|newest| newest.custodian);
        let is_true = self.cases.first().is_some_and(|case| case.truth.is_some());
        let is_own = |table: &usize| {
            let released = &self.tables.tables[*table];
            let is_open = standings[*table] == Assumption::Target && !self.tables.is_rows(*table);
            is_open && released.custodian == newest && !released.counterfeit
        };
        let own: Vec<usize> = (0..standings.len()).filter(is_own).collect();
        if newest.is_none() || !is_true || own.is_empty() {
            return Ok(None);
        }
        ways_to_stay(&self.sides, &self.cases, &own, standings, progress).map(Some)
    }

    /// The values that the assumptions leave. Where no world fits them together, tables that some
    /// world fits are taken together, the newest first.
    fn outcome(
        &self,
        standings: Vec<Assumption>,
        means: Means<'_>,
    ) -> Result<(Vec<Assumption>, AssumptionOutcome), TableError> {
        let strong: Vec<usize> = (0..standings.len()).filter(|&table| standings[table] != Assumption::Target).collect();
        let mut limits = Vec::new();
        let mut groups = Vec::new();
        let (mut fits, mut is_less) = (true, false);
        if !strong.is_empty() {
            let together = self.solve(&strong, &standings, means)?;
            fits = !together.solved.contradiction;
            let fitting = if fits { strong.clone() } else { self.fitting_the_list(&strong, &standings, means)? };
            if fits || strong.len() == 1 {
                groups.push(together);
            } else if fitting.len() < strong.len() {
                // A table that cannot have everyone as they are known is about one person alone.
                limits.push(NOT_AS_KNOWN.to_owned());
                groups.push(self.solve(&fitting, &standings, means)?);
                fits = !groups[0].solved.contradiction;
                is_less = true;
            }
            if !fits && strong.len() > 1 {
                limits.push(NO_WORLD.to_owned());
                groups = self.divided(&fitting, &standings, means)?;
            }
        }
        let is_cut = is_less || groups.iter().any(|group| group.solved.is_cut);
        limits.extend(groups.iter().flat_map(|group| group.solved.limits.iter().cloned()));
        groups.retain(|group| !group.solved.contradiction && !group.solved.scenarios.is_empty());
        let grouped: Vec<TableGroup<'_>> = groups.iter().map(TableGroup::new).collect();
        let left = (0..self.cases.len()).map(|case| self.fewest(case, &standings, &grouped, !means.is_true));
        let mut left: Vec<(ValuesLeft, u32)> = left.collect();
        if left.iter().any(|(left, _)| left.values.is_empty() && !left.is_decided) {
            limits.push(NOTHING_LEFT.to_owned());
        }
        let may_be_away = |table: &usize| matches!(standings[*table], Assumption::Everyone { absent: 1.., .. });
        let is_suppressed = groups.iter().any(|group| group.tables.len() > 1 && group.tables.iter().any(may_be_away));
        if is_suppressed && left.iter().any(|(left, _)| left.values.len() > 1 && !left.is_decided) {
            limits.push(SUPPRESSED.to_owned());
        }
        if !fits || is_cut {
            // Other tables than these may fit together too.
            left.iter_mut().filter(|(left, _)| left.values.len() > 1).for_each(|(left, _)| left.is_decided = false);
        }
        if !fits && strong.len() > DIVIDED_MAX {
            limits.push("more of them were not tried together".to_owned());
        }
        let mut standings = standings;
        for (table, standing) in standings.iter_mut().enumerate() {
            if !groups.iter().any(|group| group.tables.contains(&table)) {
                *standing = Assumption::Target;
            }
        }
        Ok((standings, AssumptionOutcome { left, groups, limits, fits }))
    }

    /// The worlds of some tables.
    pub(super) fn solve(
        &self,
        tables: &[usize],
        standings: &[Assumption],
        means: Means<'_>,
    ) -> Result<Solution, TableError> {
        let mut problem = WorldProblem { values: self.tables.values(), ..WorldProblem::default() };
        for &table in tables {
            let mut side = self.sides[table].clone();
            (side.absent, side.unlisted) = match &standings[table] {
                Assumption::Everyone { absent, unlisted } => (*absent, *unlisted),
                Assumption::Stayed { unlisted, .. } => (0, *unlisted),
                Assumption::Target => (u64::MAX >> 8, side.rows()),
            };
            problem.sides.push(side);
        }
        let mut numbers: HashMap<(Vec<u32>, Vec<Presence>), u32> = HashMap::new();
        let mut truth: Truth = Vec::new();
        let mut is_true = means.is_true;
        let mut of_case = Vec::with_capacity(self.cases.len());
        for (number, case) in self.cases.iter().enumerate() {
            // Those who stayed, and those who did not, are profiles apart.
            let mut parts = Vec::new();
            for (from, people) in self.split(number, tables, standings) {
                let presence: Vec<Presence> =
                    tables.iter().map(|&table| self.presence(number, table, &standings[table], from)).collect();
                let places: Vec<u32> = tables.iter().map(|&table| case.places[table]).collect();
                let profile = *numbers.entry((places, presence)).or_insert_with_key(|(places, presence)| {
                    let (places, presence) = (places.clone(), presence.clone());
                    problem.profiles.push(PeopleProfile { people: (0, 0), places, presence });
                    truth.push(Vec::new());
                    problem.profiles.len() as u32 - 1
                });
                let own = &mut problem.profiles[profile as usize].people;
                *own = (own.0 + people, own.1 + people);
                if let Some(&[value]) = case.truth.as_deref() {
                    match truth[profile as usize].iter_mut().find(|(other, _)| *other == value) {
                        Some((_, count)) => *count += people,
                        None => truth[profile as usize].push((value, people)),
                    }
                }
                parts.push((from, profile));
            }
            is_true &= case.truth.as_ref().is_some_and(|truth| truth.len() == 1);
            of_case.push(parts);
        }
        let beside = Beside { truth: is_true.then_some(&truth), ln_prior: means.ln_prior };
        let solved = solve(&problem, Layers::ALL, beside, means.progress)?;
        Ok(Solution { tables: tables.to_vec(), problem, solved, of_case })
    }

    /// The people of a case in parts that are in the same tables: the number of the first person,
    /// and how many there are.
    pub(super) fn split(&self, case: usize, tables: &[usize], standings: &[Assumption]) -> Vec<(u32, u32)> {
        let mut ends = vec![0, self.cases[case].people];
        for &table in tables {
            if let Assumption::Stayed { people, .. } = &standings[table] {
                people.of_case(case).for_each(|(from, to)| ends.extend([from, to]));
            }
        }
        ends.sort_unstable();
        ends.dedup();
        ends.windows(2).map(|ends| (ends[0], ends[1] - ends[0])).collect()
    }

    /// Whether the person of a case with this number is in a table.
    fn presence(&self, case: usize, table: usize, standing: &Assumption, number: u32) -> Presence {
        match standing {
            _ if self.sides[table].places[self.cases[case].places[table] as usize].is_empty() => Presence::Away,
            Assumption::Everyone { absent: 0, .. } => Presence::Here,
            Assumption::Everyone { .. } => Presence::Either,
            Assumption::Stayed { people, .. } if people.contains(case, number) => Presence::Here,
            _ => Presence::Away,
        }
    }

    /// By row of the list, the value that alone is left.
    fn certain(&self, fewest: &Fewest) -> Vec<Option<String>> {
        let of_case = |left: &ValuesLeft| match left.values.as_slice() {
            &[(value, _)] => Some(self.tables.text(value)),
            _ => None,
        };
        let of_cases: Vec<Option<String>> = fewest.left.iter().map(of_case).collect();
        self.of_person.iter().map(|&case| of_cases[case as usize].clone()).collect()
    }

    /// Leaves nothing to people of whom a value is left that is not theirs: how many they are.
    fn leave_out_false_values(&self, fewest: &mut Fewest) -> u64 {
        let mut people = 0;
        for (case, left) in fewest.left.iter_mut().enumerate() {
            if self.is_left_a_false_value(case, left) {
                people += left.people;
                *left = ValuesLeft::nothing(left.people);
            }
        }
        if people > 0 {
            fewest.limits.push(format!("{people} people have another value than every table that fits gives them"));
        }
        people
    }
}
