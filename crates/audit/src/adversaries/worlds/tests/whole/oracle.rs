//! Every way to give people rows, from the definition.

use super::*;

/// A row of a table with the value of `s` that it is given from its bucket.
type Place = (usize, Option<&'static str>);

/// By table, the place of a person or none.
type PersonOption = Vec<Option<Place>>;

/// How a table is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// Everyone who fits is in it, but for those who were suppressed.
    Everyone,
    /// The person looked for is.
    Target,
    Not,
}

pub(super) struct Oracle<'a> {
    pub(super) tables: &'a [Made],
    /// By person, the values that are known.
    pub(super) known: Vec<[Option<&'static str>; 5]>,
    pub(super) uses: Vec<Use>,
    /// By table and person, whether some row fits them.
    pub(super) fits: Vec<Vec<bool>>,
    /// A missing value of `s` may be any.
    pub(super) is_any: bool,
    /// By table, whether people whom no row of it fits are in it all the same: among its suppressed
    /// rows.
    pub(super) strict: Vec<bool>,
}

impl Oracle<'_> {
    /// The values of s that are left to a person: `?` where no table says it. `None` where no world
    /// fits.
    pub(super) fn left(&self, person: usize) -> Option<BTreeSet<&'static str>> {
        let is_everywhere = |option: &PersonOption| {
            option
                .iter()
                .enumerate()
                .all(|(table, place)| place.is_some() || self.uses[table] == Use::Not || !self.fits[table][person])
        };
        let in_all = self.left_where(person, is_everywhere);
        let left = if in_all.is_empty() { self.left_where(person, |_| true) } else { in_all };
        (!left.is_empty()).then_some(left)
    }

    /// The same of a person who is in these tables; none where that is in no world.
    pub(super) fn left_in(&self, person: usize, tables: &[usize]) -> BTreeSet<&'static str> {
        self.left_where(person, |option| tables.iter().all(|&table| option[table].is_some()))
    }

    /// The values in the worlds in which a person has one of some places.
    fn left_where(&self, person: usize, is_meant: impl Fn(&PersonOption) -> bool) -> BTreeSet<&'static str> {
        let own: Vec<PersonOption> = self.options(person, true);
        let others = (0..self.known.len()).filter(|&other| other != person);
        let others: Vec<(usize, Vec<PersonOption>)> = others.map(|other| (other, self.options(other, false))).collect();
        let mut left = BTreeSet::new();
        for option in own.iter().filter(|option| is_meant(option)) {
            let values = self.values(person, option);
            if !values.is_subset(&left) && self.is_world(&others, &mut vec![(person, option)]) {
                left.extend(values);
            }
        }
        left
    }

    /// Every place of a person in all tables, so that some value of each column is under all
    /// labels.
    fn options(&self, person: usize, is_target: bool) -> Vec<PersonOption> {
        let mut options: Vec<PersonOption> = vec![Vec::new()];
        for (table, made) in self.tables.iter().enumerate() {
            let mut places: Vec<Option<Place>> = Vec::new();
            if self.uses[table] == Use::Everyone || is_target && self.uses[table] == Use::Target {
                for row in made.fitting(&self.known[person]) {
                    match made.has(S, Role::Counted) {
                        true => places.extend(domain(S).iter().map(|value| Some((row, Some(*value))))),
                        false => places.push(Some((row, None))),
                    }
                }
            }
            let may_be_away = self.uses[table] == Use::Everyone && made.suppressed > 0;
            if places.is_empty() || may_be_away {
                places.push(None);
            }
            options = options
                .iter()
                .flat_map(|before| places.iter().map(move |&place| [&before[..], &[place]].concat()))
                .collect();
        }
        options.retain(|option| !self.values(person, option).is_empty());
        options
    }

    /// The values of s that a person in some places can have; none where the places contradict each
    /// other.
    fn values(&self, person: usize, option: &PersonOption) -> BTreeSet<&'static str> {
        let places = || option.iter().zip(self.tables).filter_map(|(place, made)| Some(((*place)?, made)));
        let can_have = |column: usize, value: &str| {
            let known = self.known[person][column];
            known.is_none_or(|known| known == value)
                && places().all(|((row, given), made)| {
                    let is_any = |said: &str| self.is_any && column == S && said.is_empty();
                    (made.says(row, column, value) || is_any(&made.rows[row][column]))
                        && (column != S || given.is_none_or(|given| given == value || is_any(given)))
                })
        };
        if !(0..5).all(|column| domain(column).iter().any(|value| can_have(column, value))) {
            return BTreeSet::new();
        }
        if places().all(|(_, made)| made.has(S, Role::Absent)) {
            return BTreeSet::from(["?"]);
        }
        domain(S).iter().copied().filter(|value| can_have(S, value)).collect()
    }

    /// Whether other people can be given places beside those that are taken.
    fn is_world<'o>(
        &self,
        others: &'o [(usize, Vec<PersonOption>)],
        taken: &mut Vec<(usize, &'o PersonOption)>,
    ) -> bool {
        if !self.are_apart(taken) {
            return false;
        }
        let Some((person, options)) = others.get(taken.len() - 1) else { return true };
        options.iter().any(|option| {
            taken.push((*person, option));
            let found = self.is_world(others, taken);
            taken.pop();
            found
        })
    }

    /// Whether no row is given twice, no value of a bucket more often than it counts, and no more
    /// people are absent than were suppressed.
    fn are_apart(&self, taken: &[(usize, &PersonOption)]) -> bool {
        self.tables.iter().enumerate().all(|(table, made)| {
            let mut rows: Vec<usize> = taken.iter().filter_map(|(_, option)| Some(option[table]?.0)).collect();
            let count = rows.len();
            rows.sort_unstable();
            rows.dedup();
            let given = taken.iter().filter_map(|(_, option)| option[table]);
            let given: Vec<(usize, &str)> =
                given.filter_map(|(row, value)| Some((*made.buckets.get(row)?, value?))).collect();
            let counted = |&(bucket, value): &(usize, &str)| {
                (0..made.rows.len()).filter(|&row| made.buckets[row] == bucket && made.rows[row][S] == value).count()
            };
            let is_counted = |own: &(usize, &str)| given.iter().filter(|other| *other == own).count() <= counted(own);
            let is_absent =
                |(person, option): &&(usize, &PersonOption)| option[table].is_none() && self.fits[table][*person];
            let absent = if self.uses[table] == Use::Everyone { taken.iter().filter(is_absent).count() } else { 0 };
            rows.len() == count && given.iter().all(is_counted) && absent as u64 <= self.most_absent(table)
        })
    }

    /// Where all people of the source are listed, those who fit nothing are suppressed ones.
    fn most_absent(&self, table: usize) -> u64 {
        let made = &self.tables[table];
        let matched = self.fits[table].iter().filter(|fits| **fits).count() as u64;
        let (all, source) = (self.known.len() as u64, made.rows.len() as u64 + made.suppressed);
        made.suppressed.saturating_sub(if self.strict[table] || all >= source { all - matched } else { 0 })
    }
}
