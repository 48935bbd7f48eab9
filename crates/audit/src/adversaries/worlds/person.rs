//! The values that assumptions about who is in which table leave to one person, and why.

use hedgerow_table::TableError;

use super::explanation;
use super::fewest::Solution;
use super::group::{Alternative, Shown, TableGroup, crossed};
use super::hypothesis::{Assumption, Case};
use super::left::{LeftRecords, ValuesLeft};
use super::setting::Setting;
use crate::finding::{Explanation, named};
use crate::solver::{Certainty, Presence};

impl Setting<'_> {
    /// The fewest values that are left to a person of a case, and which person it is: of two who
    /// look alike, the one who stayed may have several left and the one who came a single one.
    pub(super) fn fewest(
        &self,
        case: usize,
        standings: &[Assumption],
        groups: &[TableGroup<'_>],
        by_value: bool,
    ) -> (ValuesLeft, u32) {
        let mut fewest: Option<(ValuesLeft, u32)> = None;
        let all: Vec<usize> = (0..standings.len()).collect();
        for (person, _) in self.split(case, &all, standings) {
            let own = self.left((case, person), groups, by_value);
            match &mut fewest {
                None => fewest = Some((own, person)),
                Some((left, of)) => *of = if left.take_fewer(own) { person } else { *of },
            }
        }
        fewest.unwrap_or((ValuesLeft::nothing(0), 0))
    }

    /// Why the people of a case have the one value that is left: from the classes of one group of
    /// tables, or from what each group and table leaves.
    pub(super) fn explanation(
        &self,
        (number, person): (usize, u32),
        left: &ValuesLeft,
        groups: &[Solution],
    ) -> Result<Option<Explanation>, TableError> {
        let case = &self.cases[number];
        let [(value, _)] = left.values[..] else { return Ok(None) };
        let mut steps = Vec::new();
        let grouped: Vec<TableGroup<'_>> = groups.iter().map(TableGroup::new).collect();
        let can_meet = |shown: &[Shown]| self.can_meet(shown);
        // What follows from people who are not where they are taken to be has their value alone.
        let truth = self.is_true(number, false);
        let is_left = |group: &TableGroup<'_>, by: Option<&dyn Fn(u32) -> bool>| {
            !group.alternatives(number, person, by, &can_meet).0.is_empty()
        };
        let by_value = !grouped.iter().all(|group| is_left(group, truth.as_deref()));
        let is_true = self.is_true(number, by_value);
        let speak = self.speak((number, person), &grouped, by_value);
        for (group, group_of) in groups.iter().zip(&grouped) {
            let profile = group_of.profile(number, person);
            let (own, anyhow) = group_of.alternatives(number, person, is_true.as_deref(), &can_meet);
            let own: Vec<ValuesLeft> = own.into_iter().map(|own| self.grouped(own.left, case, &speak)).collect();
            if own.iter().all(|own| own.values.len() == 1 && own.values[0].0 == value) {
                let records: Vec<u32> = own.iter().flat_map(|own| own.records.iter().copied()).collect();
                let certain = Certainty { profile, values: &records, anyhow };
                let found = explanation::steps(self.tables, &group.tables, &group.problem, certain, value)?;
                if let Some(found) = found {
                    steps = found;
                    break;
                }
            }
            let names: Vec<&str> = group.tables.iter().map(|&table| self.tables.tables[table].name).collect();
            for own in own.iter().filter(|own| own.values.iter().any(|(other, _)| *other == value)).take(1) {
                steps.push(format!("{} leave {}", names.join(" and "), self.listed(&own.values)));
            }
        }
        if steps.is_empty() || steps.len() == groups.len() {
            let in_group = |table: &usize| groups.iter().any(|group| group.tables.contains(table));
            for table in (0..self.sides.len()).filter(|table| !in_group(table)) {
                let own = self.weak(number, table, by_value).into_iter().flatten();
                let own = own.map(|own| self.grouped(own.left, case, &speak));
                for own in own.filter(|own| own.values.iter().any(|(other, _)| *other == value)).take(1) {
                    let name = self.tables.tables[table].name;
                    steps.push(format!("{name} leaves {} to a person in these cells", self.listed(&own.values)));
                }
            }
            steps.push(format!("only {} is left", named(&self.tables.text(value))));
        }
        Ok(Some(Explanation { people: left.people, value: self.tables.text(value), steps, rows: Vec::new() }))
    }

    /// Whether the people of a case fit no class of any table.
    pub(super) fn is_nowhere(&self, case: &Case) -> bool {
        let mut released = self.tables.released();
        released.all(|(table, _)| self.sides[table].places[case.places[table] as usize].is_empty())
    }

    /// By table, whether it is about a person of a case: not of one who fits it and is taken to be
    /// in another one alone.
    fn speak(&self, (number, person): (usize, u32), groups: &[TableGroup<'_>], by_value: bool) -> Vec<bool> {
        let speaks = |table: usize| match groups.iter().find_map(|group| group.presence(number, person, table)) {
            Some(presence) => presence != Presence::Away,
            None => self.weak(number, table, by_value).is_some(),
        };
        (0..self.sides.len()).map(speaks).collect()
    }

    /// The values of some records, as far as tables say them that are about the people of a case.
    fn grouped(&self, records: LeftRecords, case: &Case, speak: &[bool]) -> ValuesLeft {
        records.grouped(self.tables, u64::from(case.people), |table| speak[table])
    }

    /// The fewest values that some alternative leaves to a person of a case.
    fn left(&self, (number, person): (usize, u32), groups: &[TableGroup<'_>], by_value: bool) -> ValuesLeft {
        let case = &self.cases[number];
        let mut left = ValuesLeft::nothing(u64::from(case.people));
        if self.is_nowhere(case) {
            return left;
        }
        let is_true = self.is_true(number, by_value);
        let can_meet = |shown: &[Shown]| self.can_meet(shown);
        let mut alternatives: Option<Vec<Alternative>> = None;
        let mut is_cut = false;
        let mut cross = |before: Option<Vec<Alternative>>, own: Vec<Alternative>| match before {
            None => Some(own),
            Some(before) => {
                let (all, cut) = crossed(&before, &own, &can_meet);
                is_cut |= cut;
                Some(all)
            }
        };
        for group in groups {
            let (own, _) = group.alternatives(number, person, is_true.as_deref(), &can_meet);
            if own.is_empty() {
                // What follows is not true of them; or no classes that are shown together can be
                // theirs.
                left.is_decided = self.sides.iter().all(|side| !side.shown);
                return left;
            }
            alternatives = cross(alternatives, own);
        }
        for table in 0..self.sides.len() {
            if groups.iter().any(|group| group.tables.contains(&table)) {
                continue;
            }
            if let Some(own) = self.weak(number, table, by_value) {
                alternatives = cross(alternatives, own);
            }
        }
        // Tables contradict each other about this person: some of them would leave something.
        left.is_decided = !is_cut && alternatives.as_ref().is_none_or(|alternatives| !alternatives.is_empty());
        let speak = self.speak((number, person), groups, by_value);
        for other in alternatives.unwrap_or_default() {
            left.take_fewer(self.grouped(other.left, case, &speak));
        }
        self.unless_denied(left, &speak)
    }

    /// The statements of a table about the person looked for and about no other. `None` where they
    /// are not in it.
    fn weak(&self, number: usize, table: usize, by_value: bool) -> Option<Vec<Alternative>> {
        let (case, side) = (&self.cases[number], &self.sides[table]);
        let place = &side.places[case.places[table] as usize];
        let mut buckets: Vec<u32> = place.iter().map(|&class| side.bucket_of[class as usize]).collect();
        buckets.sort_unstable();
        buckets.dedup();
        if let Some(is_true) = self.is_true(number, by_value) {
            let can_be = |bucket: u32| match (&case.truth, by_value) {
                (Some(truth), false) => truth.iter().any(|&value| side.rows_of(bucket, value) > 0),
                _ => side.values_of(bucket).into_iter().any(&is_true),
            };
            buckets.retain(|&bucket| can_be(bucket));
        }
        if buckets.is_empty() {
            return None;
        }
        let at = case.places[table];
        let of = |buckets: &[u32]| {
            let mut values: Vec<u32> = buckets.iter().flat_map(|&bucket| side.values_of(bucket)).collect();
            values.sort_unstable();
            values.dedup();
            let shown = side.shown.then(|| Shown { table, place: at, buckets: buckets.to_vec() });
            let records = values.into_iter().map(|value| (value, None, true)).collect();
            Alternative { shown: shown.into_iter().collect(), left: LeftRecords { records } }
        };
        Some(match side.shown {
            true => {
                let mut all: Vec<u32> = place.iter().map(|&class| side.bucket_of[class as usize]).collect();
                all.sort_unstable_by_key(|&bucket| (side.first_alike(at, bucket), bucket));
                all.dedup();
                let sets = all.chunk_by(|&one, &two| side.first_alike(at, one) == side.first_alike(at, two));
                sets.filter(|set| set.iter().any(|bucket| buckets.contains(bucket))).map(of).collect()
            }
            false => {
                let all: Vec<u32> = place.iter().map(|&class| side.bucket_of[class as usize]).collect();
                vec![of(&all)]
            }
        })
    }
}
