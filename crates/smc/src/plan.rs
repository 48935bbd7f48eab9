//! A run as a custodian plans it, the state of its rows, and what two runs would show together.

use std::cmp::Ordering;
use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::fault::Fault;
use crate::limits::RunLimits;
use crate::message::Digest;
use crate::roster::{Question, Roster};

/// The longest name of an operator in a book.
const OPERATOR_CHARACTERS_MAX: usize = 200;

/// One run as a custodian plans it: the terms, who takes part, and over which rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub(crate) terms: Digest,
    limits: RunLimits,
    pub(crate) roster: Roster,
    /// By custodian, in the roster's order.
    pub(crate) commitments: Vec<Digest>,
    pub(crate) own: Snapshot,
}

/// The state of one custodian's rows: a commitment, which may be shown, and fingerprints, which may
/// not.
#[derive(Clone, PartialEq, Eq)]
pub struct Snapshot {
    pub(crate) commitment: Digest,
    /// Sorted.
    pub(crate) fingerprints: Vec<u64>,
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Snapshot({} rows)", self.fingerprints.len())
    }
}

impl Snapshot {
    /// The commitment that the others receive: it binds to the rows and discloses nothing about
    /// them.
    pub fn commitment(&self) -> Digest {
        self.commitment
    }
}

/// The difference that an earlier run and a planned one would disclose together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Which earlier run, counted from 0.
    pub earlier: usize,
    pub same_terms: bool,
    /// Custodians who were there and would not be, and the other way round.
    pub left: Vec<String>,
    pub joined: Vec<String>,
    /// Custodians of both runs whose rows have changed.
    pub changed: Vec<String>,
    /// How many of our own rows would be new, and how many gone; `None` when that is not known.
    pub own_rows: Option<(u64, u64)>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { earlier, same_terms, left, joined, changed, own_rows } = self;
        write!(f, "run {earlier}: ")?;
        let terms = if *same_terms { "the same terms" } else { "other terms" };
        write!(f, "{terms}; totals of both runs differ by")?;
        if left.is_empty() && joined.is_empty() && changed.is_empty() && own_rows.is_none_or(|rows| rows == (0, 0)) {
            return f.write_str(" nothing but the terms: what one of them leaves open, the other may tell");
        }
        let list = |f: &mut fmt::Formatter<'_>, names: &[String], what: &str| match names {
            [] => Ok(()),
            names => write!(f, " {what} {};", names.join(", ")),
        };
        list(f, left, "all rows of")?;
        list(f, joined, "all rows of")?;
        list(f, changed, "what has changed at")?;
        match own_rows {
            Some((new, gone)) if new + gone > 0 => write!(f, " {new} new and {gone} removed rows of our own"),
            Some(_) => Ok(()),
            None => f.write_str(" rows of our own that are not known"),
        }
    }
}

/// Everything that a planned run would show together with earlier ones.
#[derive(Debug)]
pub struct Differences {
    pub(crate) plan: Digest,
    pub(crate) differences: Vec<Difference>,
}

impl Differences {
    pub fn all(&self) -> &[Difference] {
        &self.differences
    }

    /// An operator has seen them and insists; the name goes into the book.
    pub fn insist(self, operator: &str) -> Insisted {
        let operator: String = operator.chars().take(OPERATOR_CHARACTERS_MAX).collect();
        Insisted { plan: self.plan, seen: self.differences.len(), operator }
    }
}

/// An operator's word that a difference may be shown.
#[derive(Debug)]
pub struct Insisted {
    pub(crate) plan: Digest,
    pub(crate) seen: usize,
    pub(crate) operator: String,
}

impl Plan {
    /// `commitments` are those of all custodians in the roster's order, our own among them.
    pub fn new(
        terms: Digest,
        limits: RunLimits,
        roster: Roster,
        commitments: Vec<Digest>,
        own: Snapshot,
    ) -> Result<Plan, Fault> {
        if commitments.len() != roster.count() || !commitments.contains(&own.commitment) {
            return Err(Fault::Internal("commitments of other custodians than those of the roster"));
        }
        Ok(Plan { terms, limits, roster, commitments, own })
    }

    pub fn digest(&self) -> Digest {
        let mut hash = Sha256::new();
        hash.update(b"hedgerow plan 1");
        hash.update(self.terms);
        hash.update(self.limits.bytes());
        hash.update(self.roster.digest());
        self.commitments.iter().for_each(|commitment| hash.update(commitment));
        hash.finalize().into()
    }

    /// The computation of one step of the run.
    pub fn question(&self, step: &str) -> Question {
        Question::new(step, &self.digest()).within(self.limits)
    }
}

impl Snapshot {
    /// How many rows are new in a later state, and how many gone. Both lists are sorted.
    pub(crate) fn changes_to(&self, later: &Snapshot) -> (u64, u64) {
        let (mut then, mut now) = (self.fingerprints.as_slice(), later.fingerprints.as_slice());
        let (mut new, mut gone) = (0, 0);
        while let (Some((first, rest_then)), Some((other, rest_now))) = (then.split_first(), now.split_first()) {
            match first.cmp(other) {
                Ordering::Less => (then, gone) = (rest_then, gone + 1),
                Ordering::Greater => (now, new) = (rest_now, new + 1),
                Ordering::Equal => (then, now) = (rest_then, rest_now),
            }
        }
        (new + now.len() as u64, gone + then.len() as u64)
    }
}
