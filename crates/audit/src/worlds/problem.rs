//! What an attacker knows, without any file: people who look alike, released tables, who is in
//! them.
//!
//! A *profile* is a set of people who fit the same classes in every table: nothing tells them
//! apart, so they are counted and never named. A *side* is one released table. A *world* gives
//! every person of a profile a value and, on each side, a class or none, so that
//!
//! - a person is in a class whose labels fit, and in none only where they may be absent;
//! - on each side, no class has more people than rows, no bucket more people of a value than it
//!   counts;
//! - at most [`Side::absent`] people are absent, and at most [`Side::unlisted`] rows are left over
//!   for people of whom nothing is known.

/// The bucket of a person who is not in a table.
pub(crate) const ABSENT: u32 = u32::MAX;

/// People of whom nothing tells one from another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Profile {
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
    /// Values with their rows, bucket after bucket, ascending within each.
    pub(crate) counts: Vec<(u32, u32)>,
    /// At most this many rows are of people outside all profiles.
    pub(crate) unlisted: u64,
    /// At most this many people who may be absent are.
    pub(crate) absent: u64,
    /// Sets of classes, ascending.
    pub(crate) places: Vec<Vec<u32>>,
    /// The attacker knows the class of the person they look for, though the profile does not tell.
    pub(crate) shown: bool,
}

impl Side {
    pub(crate) fn buckets(&self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn of_bucket(&self, bucket: u32) -> &[(u32, u32)] {
        &self.counts[self.starts[bucket as usize] as usize..self.starts[bucket as usize + 1] as usize]
    }

    /// Rows of a value in a bucket.
    pub(crate) fn rows_of(&self, bucket: u32, value: u32) -> u32 {
        let counts = self.of_bucket(bucket);
        counts.binary_search_by_key(&value, |&(value, _)| value).map_or(0, |found| counts[found].1)
    }

    /// Where the count of a value in a bucket is among all counts.
    pub(crate) fn position(&self, bucket: u32, value: u32) -> Option<usize> {
        let found = self.of_bucket(bucket).binary_search_by_key(&value, |&(value, _)| value).ok()?;
        Some(self.starts[bucket as usize] as usize + found)
    }

    pub(crate) fn rows(&self) -> u64 {
        self.sizes.iter().map(|&size| u64::from(size)).sum()
    }
}

/// At least and at most this many people are in some profiles together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KnownPeople {
    pub(crate) profiles: Vec<u32>,
    pub(crate) people: (u64, u64),
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Problem {
    pub(crate) sides: Vec<Side>,
    pub(crate) profiles: Vec<Profile>,
    /// Sets of profiles of which it is known how many people they have together.
    pub(crate) known: Vec<KnownPeople>,
    /// Values are numbered below this. This number itself is a value that no table counts: people
    /// who are in no table may have it.
    pub(crate) values: u32,
}

impl Problem {
    /// The classes that fit a profile on a side.
    pub(crate) fn classes(&self, profile: &Profile, side: usize) -> &[u32] {
        match profile.presence[side] {
            Presence::Away => &[],
            _ => &self.sides[side].places[profile.places[side] as usize],
        }
    }
}
