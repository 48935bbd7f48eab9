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
        let found = |group: &TableGroup<'_>, by: Option<&dyn Fn(u32) -> bool>| {
            group.alternatives((number, person), by, self.possible((number, person), group), &can_meet)
        };
        let is_left = |group: &TableGroup<'_>, by: Option<&dyn Fn(u32) -> bool>| !found(group, by).0.is_empty();
        let by_value = !grouped.iter().all(|group| is_left(group, truth.as_deref()));
        let is_true = self.is_true(number, by_value);
        let speak = self.speak((number, person), &grouped.iter().collect::<Vec<_>>(), by_value);
        for (group, group_of) in groups.iter().zip(&grouped) {
            let profile = group_of.profile(number, person);
            let (own, anyhow) = found(group_of, is_true.as_deref());
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
    fn speak(&self, (number, person): (usize, u32), groups: &[&TableGroup<'_>], by_value: bool) -> Vec<bool> {
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

    /// The fewest values that some alternative leaves to a person of a case. Of groups of tables
    /// that contradict each other, the people are in those of one, and nothing is known of who is
    /// in the others.
    fn left(&self, of: (usize, u32), groups: &[TableGroup<'_>], by_value: bool) -> ValuesLeft {
        if groups.is_empty() {
            return self.left_beside(of, None, by_value);
        }
        let mut ways = groups.iter().map(|group| self.left_beside(of, Some(group), by_value));
        let mut left = ways.next().unwrap_or_else(|| ValuesLeft::nothing(u64::from(self.cases[of.0].people)));
        for other in ways {
            left.take_fewer(other);
        }
        left
    }

    /// The fewest values that some alternative leaves to a person of a case, where some tables are
    /// taken together and the others say something of this person alone.
    fn left_beside(
        &self,
        (number, person): (usize, u32),
        group: Option<&TableGroup<'_>>,
        by_value: bool,
    ) -> ValuesLeft {
        let case = &self.cases[number];
        let mut left = ValuesLeft::nothing(u64::from(case.people));
        if self.is_nowhere(case) {
            return left;
        }
        let can_meet = |shown: &[Shown]| self.can_meet(shown);
        let mut strong: Option<Vec<Alternative>> = None;
        let mut anyhow = false;
        if let Some(group) = group {
            let is_true = self.is_true(number, by_value);
            let possible = self.possible((number, person), group);
            let found = group.alternatives((number, person), is_true.as_deref(), possible, &can_meet);
            anyhow = found.1;
            if found.0.is_empty() {
                // What follows is not true of them; or no classes that are shown together can be
                // theirs.
                left.is_decided = self.sides.iter().all(|side| !side.shown);
                return left;
            }
            strong = Some(found.0);
        }
        let in_group = |table: usize| group.is_some_and(|group| group.tables.contains(&table));
        let mut all = strong.clone();
        let mut is_cut = false;
        for table in (0..self.sides.len()).filter(|&table| !in_group(table)) {
            if let Some(own) = self.weak(number, table, by_value) {
                all = Some(match all {
                    None => own,
                    Some(before) => {
                        let (all, cut) = crossed(&before, &own, &can_meet);
                        is_cut |= cut;
                        all
                    }
                });
            }
        }
        let speak = self.speak((number, person), group.as_slice(), by_value);
        let may_be_away = |table: usize| {
            let presence = group.and_then(|group| group.presence(number, person, table));
            anyhow && presence == Some(Presence::Either)
        };
        let by_group: Vec<bool> = (0..speak.len()).map(|table| speak[table] && in_group(table)).collect();
        let is_nothing = all.is_none();
        // Where all that speak of a person contradict each other, they are not in some of those
        // that do so of them alone. What the others leave is so whichever these are.
        for (alternatives, speak, is_all) in [(all, &speak, true), (strong, &by_group, false)] {
            let mut left = left.clone();
            for other in alternatives.into_iter().flatten() {
                left.take_fewer(self.grouped(other.left, case, speak));
            }
            let tables: Vec<usize> = (0..speak.len()).filter(|&table| speak[table] && !may_be_away(table)).collect();
            let is_so = |&record: &u32| self.can_be_in(case, &tables, Some(record));
            let is_supported = left.values.len() != 1 || left.records.iter().any(is_so);
            if is_supported && (!left.values.is_empty() || left.is_unsaid || is_nothing) {
                // Who cannot be in all tables can still be in some of them, which was not asked.
                let may_be_fewer = anyhow && group.is_some_and(|group| group.tables.len() > 1);
                left.is_decided &= left.values.len() == 1 || is_all && !is_cut && !may_be_fewer;
                return self.unless_denied(left, speak);
            }
        }
        left.is_decided = false;
        left
    }

    /// Whether a person of a case can be in all tables of a group at once, as far as columns tell
    /// it that the list of people lacks; and in those from which they cannot have been suppressed.
    fn possible(&self, (number, person): (usize, u32), group: &TableGroup<'_>) -> [bool; 2] {
        let presence = |table: usize| group.presence(number, person, table);
        let with = |own: &[Presence]| -> Vec<usize> {
            let here = |table: &&usize| presence(**table).is_some_and(|presence| own.contains(&presence));
            group.tables.iter().filter(here).copied().collect()
        };
        let ways = [with(&[Presence::Here, Presence::Either]), with(&[Presence::Here])];
        ways.map(|tables| self.can_be_in(&self.cases[number], &tables, None))
    }

    /// The statements of a table about the person looked for and about no other. `None` where they
    /// are not in it.
    pub(super) fn weak(&self, number: usize, table: usize, by_value: bool) -> Option<Vec<Alternative>> {
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
