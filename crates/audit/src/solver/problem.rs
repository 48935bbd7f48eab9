//! An attacker's knowledge, without any file: people who look alike, released tables, who is in
//! them.
//!
//! A *value* is all that the tables together say of a person beside their class. A *statement* is
//! what one table says of it: in the simplest case the value itself, coarser where a table rounds
//! or lacks a column, so that several values share one.
//!
//! A *profile* is a set of people who fit the same classes in every table: nothing tells them
//! apart, so they are counted and never named. A *side* is one released table. A *world* gives
//! every person of a profile a value and, on each side, a class or none, so that
//!
//! - a person is in a class whose labels fit, and in none only where they may be absent;
//! - on each side, no class has more people than rows, no bucket more people of a statement than it
//!   counts;
//! - at most [`Side::absent`] people are absent, and at most [`Side::unlisted`] rows are left over
//!   for people of whom nothing is known.

use hashbrown::HashSet;

/// The bucket of a person who is not in a table.
pub(crate) const ABSENT: u32 = u32::MAX;

/// People of whom nothing tells one from another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PeopleProfile {
    /// The fewest and the most people: equal where they were counted.
    pub(crate) people: (u32, u32),
    /// By side, the position of the classes that fit in [`Side::places`].
    pub(crate) places: Vec<u32>,
    /// By side, whether they are in the table.
    pub(crate) presence: Vec<Presence>,
}

/// Whether the people of a profile are in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Presence {
    /// All of them are.
    Here,
    /// Any of them may have been suppressed.
    Either,
    /// None of them is.
    Away,
}

/// One released table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Side {
    /// Rows of each class.
    pub(crate) sizes: Vec<u32>,
    pub(crate) bucket_of: Vec<u32>,
    /// Where the counts of each bucket begin, and the end.
    pub(crate) starts: Vec<u32>,
    /// Statements with their rows, bucket after bucket, ascending within each.
    pub(crate) counts: Vec<(u32, u32)>,
    /// Its statement about each value.
    pub(crate) statements: Statements,
    /// At most this many rows are of people outside all profiles.
    pub(crate) unlisted: u64,
    /// At most this many people who may be absent are.
    pub(crate) absent: u64,
    /// Sets of classes, ascending.
    pub(crate) places: Vec<Vec<u32>>,
    /// The attacker knows the class of the person they look for, though the profile does not tell.
    pub(crate) shown: bool,
    /// By place, where what the attacker knows does not tell the class: buckets that they cannot
    /// tell apart, each with the first of them.
    pub(crate) alike: Vec<Vec<(u32, u32)>>,
}

impl Side {
    /// The first of the buckets that an attacker who is shown a class of a place cannot tell from
    /// this one.
    pub(crate) fn first_alike(&self, place: u32, bucket: u32) -> u32 {
        let own = self.alike.get(place as usize).map_or(&[][..], Vec::as_slice);
        own.iter().find(|(of, _)| *of == bucket).map_or(bucket, |(_, first)| *first)
    }

    pub(crate) fn buckets(&self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn of_bucket(&self, bucket: u32) -> &[(u32, u32)] {
        &self.counts[self.starts[bucket as usize] as usize..self.starts[bucket as usize + 1] as usize]
    }

    /// Rows of a bucket that say what the table says of a value.
    pub(crate) fn rows_of(&self, bucket: u32, value: u32) -> u32 {
        self.position(bucket, value).map_or(0, |position| self.counts[position].1)
    }

    /// Where the count of what is said of a value in a bucket is among all counts.
    pub(crate) fn position(&self, bucket: u32, value: u32) -> Option<usize> {
        let wanted = self.statements.of(value);
        let found = self.of_bucket(bucket).binary_search_by_key(&wanted, |&(statement, _)| statement).ok()?;
        Some(self.starts[bucket as usize] as usize + found)
    }

    /// The values that the rows of a bucket can have, ascending.
    pub(crate) fn values_of(&self, bucket: u32) -> Vec<u32> {
        let said = self.of_bucket(bucket).iter().map(|&(statement, _)| statement);
        let Some(behind) = &self.statements.behind else { return said.collect() };
        let mut values: Vec<u32> = said.flat_map(|statement| &behind[statement as usize]).copied().collect();
        values.sort_unstable();
        values
    }

    pub(crate) fn rows(&self) -> u64 {
        self.sizes.iter().map(|&size| u64::from(size)).sum()
    }

    /// Values that are of no person: a clone counts them in a bucket, and in no class.
    pub(crate) fn counterfeits(&self) -> u64 {
        let values: u64 = self.counts.iter().map(|&(_, rows)| u64::from(rows)).sum();
        values.saturating_sub(self.rows())
    }
}

/// A value of which a table says nothing: nobody who has it is in the table.
pub(crate) const UNSAID: u32 = u32::MAX;

/// The statement of one table about each value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Statements {
    /// By value, its statement or [`UNSAID`]; empty where statements are values.
    of_value: Vec<u32>,
    /// By statement, its values; `None` where statements are values.
    behind: Option<Vec<Vec<u32>>>,
}

impl Statements {
    /// By value, its statement or [`UNSAID`]; `count` is the number of statements.
    pub(crate) fn new(of_value: Vec<u32>, count: usize) -> Statements {
        let mut behind = vec![Vec::new(); count];
        for (value, &statement) in (0..).zip(&of_value) {
            if statement != UNSAID {
                behind[statement as usize].push(value);
            }
        }
        Statements { of_value, behind: Some(behind) }
    }

    pub(crate) fn of(&self, value: u32) -> u32 {
        match &self.behind {
            None => value,
            Some(_) => self.of_value.get(value as usize).copied().unwrap_or(UNSAID),
        }
    }

    /// Whether several values share a statement.
    pub(crate) fn is_shared(&self, statement: u32) -> bool {
        self.behind.as_ref().is_some_and(|behind| behind[statement as usize].len() > 1)
    }

    /// Whether every statement is the value itself.
    pub(crate) fn are_values(&self) -> bool {
        self.behind.is_none()
    }
}

/// At least and at most this many people are in some profiles together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KnownPeople {
    pub(crate) profiles: Vec<u32>,
    pub(crate) people: (u64, u64),
}

#[derive(Debug, Clone, Default)]
pub(crate) struct WorldProblem {
    pub(crate) sides: Vec<Side>,
    pub(crate) profiles: Vec<PeopleProfile>,
    /// Sets of profiles of which it is known how many people they have together.
    pub(crate) known: Vec<KnownPeople>,
    /// Values are numbered below this. This number itself is a value that no table counts: people
    /// who are in no table may have it.
    pub(crate) values: u32,
}

impl WorldProblem {
    /// The classes that fit a profile on a side.
    pub(crate) fn classes(&self, profile: &PeopleProfile, side: usize) -> &[u32] {
        match profile.presence[side] {
            Presence::Away => &[],
            _ => &self.sides[side].places[profile.places[side] as usize],
        }
    }

    /// Whether the tables say the values themselves.
    pub(crate) fn says_values(&self) -> bool {
        self.sides.iter().all(|side| side.statements.are_values())
    }

    /// The statements about a value in the tables that people of a profile can be in.
    pub(crate) fn said(&self, profile: &PeopleProfile, value: u32) -> Vec<u32> {
        let sides = self.sides.iter().zip(&profile.presence);
        let here = sides.filter(|(_, presence)| **presence != Presence::Away);
        here.map(|(side, _)| side.statements.of(value)).collect()
    }

    /// Of values that these tables say the same of, the first.
    pub(crate) fn first_of_alike(&self, profile: &PeopleProfile, mut values: Vec<u32>) -> Vec<u32> {
        if !self.says_values() {
            let mut known: HashSet<Vec<u32>> = HashSet::new();
            values.retain(|&value| known.insert(self.said(profile, value)));
        }
        values
    }

    /// All values that these tables say the same of.
    pub(crate) fn alike(&self, profile: &PeopleProfile, value: u32) -> Vec<u32> {
        if self.says_values() {
            return vec![value];
        }
        let said = self.said(profile, value);
        (0..=self.values).filter(|&other| self.said(profile, other) == said).collect()
    }
}
