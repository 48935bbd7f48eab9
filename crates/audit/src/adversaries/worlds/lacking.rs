//! Columns that the list of people lacks and the attacker knows of everyone: each way in which the
//! people can be in the classes that these columns tell apart.

use hedgerow_table::{Cover, Table};

use super::hypothesis::Case;
use super::tables::AttributeTables;
use crate::overlap::overlap;
use crate::solver::Side;

/// A person who is in no class of a table.
pub(super) const NOWHERE: u32 = u32::MAX;

/// Ways that are tried at most; and fewer of many people, by how many people these are in all.
const WAYS_MAX: usize = 2048;
const PEOPLE_MAX: usize = 20_000;

/// Steps of the search for ways; choices that it makes one after the other, of all people; and of
/// one person.
const STEPS_MAX: usize = 200_000;
const CHOICES_MAX: usize = 1000;
const OPTIONS_MAX: usize = 64;

/// Tables with classes that differ in columns which the list of people lacks.
pub(super) struct Lacking<'a> {
    tables: &'a AttributeTables<'a>,
    sides: &'a [Side],
    /// The tables, with the columns of each that lack.
    pub(super) of_table: Vec<(usize, Vec<&'a str>)>,
}

/// People of a case, how many, and by table that lacks columns the class that they are in.
pub(super) type CaseClasses = (usize, u32, Vec<u32>);

/// Where people can be.
pub(super) struct KnownClasses {
    pub(super) parts: Vec<CaseClasses>,
    /// True values, where they are known, allow it.
    pub(super) is_possible: bool,
}

impl<'a> Lacking<'a> {
    /// `None` where no table has columns that the list lacks. Of a table whose rows need not be
    /// people, no person but the one looked for is used, and their class counts anyway.
    pub(super) fn new(tables: &'a AttributeTables<'a>, sides: &'a [Side], people: &Table) -> Option<Lacking<'a>> {
        let is_lacking = |table: &usize| sides[*table].shown && !tables.tables[*table].counterfeit;
        let columns = |table: usize| -> Vec<&'a str> {
            let quasi = tables.tables[table].classes.quasi.iter();
            let telling = quasi.filter(|quasi| quasi.covers.iter().any(|cover| *cover != Cover::Everything));
            let telling = telling.filter(|quasi| quasi.name != tables.columns[0]);
            telling.filter(|quasi| people.column(&quasi.name).is_none()).map(|quasi| quasi.name.as_str()).collect()
        };
        let of_table: Vec<(usize, Vec<&str>)> =
            (0..sides.len()).filter(is_lacking).map(|table| (table, columns(table))).collect();
        (!of_table.is_empty()).then_some(Lacking { tables, sides, of_table })
    }

    /// The columns, each once.
    pub(super) fn columns(&self) -> Vec<&'a str> {
        let mut columns: Vec<&str> = self.of_table.iter().flat_map(|(_, columns)| columns.iter().copied()).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    pub(super) fn names(&self) -> Vec<&'a str> {
        self.of_table.iter().map(|(table, _)| self.tables.tables[*table].name).collect()
    }

    /// Every way that no other one contains; `None` where there are too many. To know of one person
    /// more that they are in a class leaves no more worlds, so that these are all that count; but a
    /// table that says that rows were suppressed may hold fewer people than fit it, and of it all
    /// ways count. As many people as have rows of their own are in a class (what who does not know
    /// the true values can take to be so), and again as many as can be there with these.
    pub(super) fn every_way(&self, cases: &[Case]) -> Option<Vec<KnownClasses>> {
        let people: usize = cases.iter().map(|case| case.people as usize).sum();
        let most = WAYS_MAX.min(PEOPLE_MAX / people.max(1));
        if cases.len() > CHOICES_MAX {
            return None;
        }
        let options: Vec<Vec<Vec<u32>>> = cases.iter().map(|case| self.options(case)).collect::<Option<_>>()?;
        let is_open = |case: &Case| (0..self.of_table.len()).any(|at| self.has_several_counts(at, case));
        if options.iter().map(Vec::len).sum::<usize>() > CHOICES_MAX || cases.iter().any(is_open) {
            return None;
        }
        let mut ways: Vec<KnownClasses> = Vec::new();
        let is_true = cases.iter().all(|case| case.truth.is_some());
        for by_truth in [false, true].into_iter().take(1 + usize::from(is_true)) {
            let mut search = WaySearch::new(self, cases, &options, by_truth, most);
            if !search.decide(0, 0, cases.first().map_or(0, |case| case.people)) {
                return None;
            }
            for parts in search.found {
                let is_possible = by_truth || !is_true;
                match ways.iter_mut().find(|way| way.parts == parts) {
                    Some(known) => known.is_possible |= is_possible,
                    None => ways.push(KnownClasses { parts, is_possible }),
                }
            }
        }
        (ways.len() <= most).then_some(ways)
    }

    /// The counts of a table that people of a case in one of its classes can be among, by the
    /// values that can be true of them.
    fn counts_of(&self, at: usize, case: &Case, class: u32) -> Vec<usize> {
        let side = &self.sides[self.of_table[at].0];
        let of = |value: &u32| side.position(side.bucket_of[class as usize], *value);
        let mut counts: Vec<usize> = case.truth.iter().flatten().filter_map(of).collect();
        counts.sort_unstable();
        counts.dedup();
        counts
    }

    /// Whether it is open which of several counts of a class the people of a case are among.
    fn has_several_counts(&self, at: usize, case: &Case) -> bool {
        let table = self.of_table[at].0;
        let place = &self.sides[table].places[case.places[table] as usize];
        place.iter().any(|&class| self.counts_of(at, case, class).len() > 1)
    }

    /// The classes that a person of a case can be in, one of each table; in none of them last.
    /// `None` where there are too many.
    fn options(&self, case: &Case) -> Option<Vec<Vec<u32>>> {
        let mut options: Vec<Vec<u32>> = vec![Vec::new()];
        for (table, _) in &self.of_table {
            let place = &self.sides[*table].places[case.places[*table] as usize];
            let classes: Vec<u32> = place.iter().copied().chain([NOWHERE]).collect();
            if options.len() * classes.len() > OPTIONS_MAX {
                return None;
            }
            let more = |before: &Vec<u32>| -> Vec<Vec<u32>> {
                let fits = classes.iter().filter(|&&class| self.meet(before, class));
                fits.map(|&class| [before.as_slice(), &[class]].concat()).collect()
            };
            options = options.iter().flat_map(more).collect();
        }
        Some(options)
    }

    /// Whether a person in some classes of the first tables can be in a class of the next: the
    /// columns that lack from both have a value in common.
    fn meet(&self, before: &[u32], class: u32) -> bool {
        let (table, columns) = &self.of_table[before.len()];
        let cover = |table: usize, class: u32, column: &str| -> Option<&Cover> {
            let classes = self.tables.tables[table].classes;
            let at = classes.quasi.iter().position(|quasi| quasi.name == column)?;
            classes.quasi[at].covers.get(classes.cells(class as usize)[at] as usize)
        };
        let name = |table: usize| self.tables.tables[table].name;
        before.iter().zip(&self.of_table).all(|(&other, (of, _))| {
            // Parts of one bucketized table have the same classes.
            if name(*table) == name(*of) {
                return class == other;
            }
            class == NOWHERE
                || other == NOWHERE
                || columns.iter().all(|column| match (cover(*table, class, column), cover(*of, other, column)) {
                    (Some(one), Some(two)) => overlap(one, two),
                    _ => true,
                })
        })
    }
}

struct WaySearch<'a> {
    lacking: &'a Lacking<'a>,
    cases: &'a [Case],
    options: &'a [Vec<Vec<u32>>],
    by_truth: bool,
    most: usize,
    steps: usize,
    /// By table that lacks columns, rows left of each class, and of each value of each bucket.
    rows: Vec<Vec<u64>>,
    counts: Vec<Vec<u64>>,
    /// Case, option and people.
    chosen: Vec<(usize, usize, u32)>,
    found: Vec<Vec<CaseClasses>>,
}

impl<'a> WaySearch<'a> {
    fn new(
        lacking: &'a Lacking<'a>,
        cases: &'a [Case],
        options: &'a [Vec<Vec<u32>>],
        by_truth: bool,
        most: usize,
    ) -> WaySearch<'a> {
        let sides = || lacking.of_table.iter().map(|(table, _)| (*table, &lacking.sides[*table]));
        let suppressed = |table: usize| lacking.tables.tables[table].suppressed;
        let rows = sides().map(|(table, side)| side.sizes.iter().map(|&n| u64::from(n) + suppressed(table)).collect());
        let counts = sides().map(|(_, side)| side.counts.iter().map(|&(_, rows)| u64::from(rows)).collect());
        let (rows, counts) = (rows.collect(), counts.collect());
        WaySearch {
            lacking,
            cases,
            options,
            by_truth,
            most,
            steps: 0,
            rows,
            counts,
            chosen: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Decides how many of the people of a case are in an option, and all that comes after. `false`
    /// when it takes too long, or there are too many ways.
    fn decide(&mut self, case: usize, option: usize, people: u32) -> bool {
        self.steps += 1;
        if self.steps > STEPS_MAX || self.found.len() > self.most {
            return false;
        }
        let Some(own) = self.cases.get(case) else {
            if self.is_full() {
                let part = |&(case, option, people): &(usize, usize, u32)| -> CaseClasses {
                    (case, people, self.options[case][option].clone())
                };
                self.found.push(self.chosen.iter().map(part).collect());
            }
            return true;
        };
        let is_last = option + 1 == self.options[case].len();
        let most = self.room(own, &self.options[case][option]).min(u64::from(people)) as u32;
        let least = if is_last { people } else { 0 };
        for count in (least..=most).rev() {
            if count > 0 {
                self.take(case, option, count, false);
                self.chosen.push((case, option, count));
            }
            let next = (case + 1, 0, self.cases.get(case + 1).map_or(0, |case| case.people));
            let next = if is_last { next } else { (case, option + 1, people - count) };
            let is_done = self.decide(next.0, next.1, next.2);
            if count > 0 {
                self.chosen.pop();
                self.take(case, option, count, true);
            }
            if !is_done {
                return false;
            }
        }
        true
    }

    /// The count of a table that people of a case are in, by their class and true value.
    fn count_at(&self, at: usize, case: &Case, class: u32) -> Option<usize> {
        self.lacking.counts_of(at, case, class).first().copied()
    }

    /// Whether a table holds everyone who fits it.
    fn holds_all(&self, at: usize) -> bool {
        self.lacking.tables.tables[self.lacking.of_table[at].0].suppressed == 0
    }

    /// How many more people of a case can be in some classes.
    fn room(&self, case: &Case, classes: &[u32]) -> u64 {
        let mut room = u64::MAX;
        for (at, &class) in classes.iter().enumerate().filter(|(_, class)| **class != NOWHERE) {
            room = room.min(self.rows[at][class as usize]);
            if self.by_truth && self.holds_all(at) {
                room = room.min(self.count_at(at, case, class).map_or(0, |position| self.counts[at][position]));
            }
        }
        room
    }

    fn take(&mut self, case: usize, option: usize, people: u32, back: bool) {
        let (options, cases) = (self.options, self.cases);
        for (at, &class) in options[case][option].iter().enumerate().filter(|(_, class)| **class != NOWHERE) {
            let position = self.count_at(at, &cases[case], class).filter(|_| self.by_truth && self.holds_all(at));
            let own =
                [Some(&mut self.rows[at][class as usize]), position.map(|position| &mut self.counts[at][position])];
            for left in own.into_iter().flatten() {
                *left = if back { *left + u64::from(people) } else { *left - u64::from(people) };
            }
        }
    }

    /// Whether no person who is in no class of a table could be in one.
    fn is_full(&self) -> bool {
        self.chosen.iter().all(|&(case, option, _)| {
            let own = &self.options[case][option];
            let is_more = |other: &&Vec<u32>| {
                let differ = |at: &usize| other[*at] != own[*at];
                let added: Vec<usize> = (0..own.len()).filter(differ).collect();
                matches!(added[..], [at] if own[at] == NOWHERE && self.holds_all(at))
            };
            let is_open = |other: &Vec<u32>| {
                let added: Vec<u32> =
                    own.iter().zip(other).map(|(own, other)| if own == other { NOWHERE } else { *other }).collect();
                self.room(&self.cases[case], &added) > 0
            };
            !self.options[case].iter().filter(is_more).any(is_open)
        })
    }
}
