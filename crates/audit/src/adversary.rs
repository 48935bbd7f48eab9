//! Which adversaries there are.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// An adversary: what they know, how they put releases together, and what they conclude.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Adversary {
    /// Finds a person's row by the quasi-identifiers.
    Linker,
    /// Reads the sensitive values of a person's class.
    Attribute,
    /// Combines releases as if they were independent of each other.
    Independence,
    /// Combines releases, knowing how many people are in each two cells.
    Correlation,
    /// Keeps the sensitive values that every release leaves a person.
    Composition,
    /// Joins the tables of a decomposed release.
    Intersection,
    /// Learns from the release which values go with which quasi-identifiers.
    Definetti,
    /// Knows the method, and what it would have released instead.
    Minimality,
    /// Compares two releases of one publisher.
    Difference,
    /// Excludes rows whose combination of values does not occur.
    Consistency,
    /// Considers every table that agrees with all releases.
    Worlds,
}

impl Adversary {
    /// All of them, in the order in which they are run.
    pub const ALL: [Adversary; 11] = [
        Adversary::Linker,
        Adversary::Attribute,
        Adversary::Independence,
        Adversary::Correlation,
        Adversary::Composition,
        Adversary::Intersection,
        Adversary::Definetti,
        Adversary::Minimality,
        Adversary::Difference,
        Adversary::Consistency,
        Adversary::Worlds,
    ];

    /// The name in findings and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Adversary::Linker => "linker",
            Adversary::Attribute => "attribute",
            Adversary::Independence => "independence",
            Adversary::Correlation => "correlation",
            Adversary::Composition => "composition",
            Adversary::Intersection => "intersection",
            Adversary::Definetti => "definetti",
            Adversary::Minimality => "minimality",
            Adversary::Difference => "difference",
            Adversary::Consistency => "consistency",
            Adversary::Worlds => "worlds",
        }
    }

    /// The adversary's way, as the predicate of a sentence.
    pub const fn does(self) -> &'static str {
        match self {
            Adversary::Linker => "matches a person's quasi-identifiers with released rows",
            Adversary::Attribute => "reads the sensitive values of the rows that match",
            Adversary::Independence => "combines releases as if their classes were independent",
            Adversary::Correlation => "combines two releases and counts the tables that fit both",
            Adversary::Composition => "keeps the values that all matching classes share",
            Adversary::Intersection => "joins the tables of a release value by value",
            Adversary::Definetti => "learns from all buckets which values go together",
            Adversary::Minimality => "reasons from why the method generalized so far",
            Adversary::Difference => "compares two releases of one custodian",
            Adversary::Consistency => "excludes rows with combinations of values that do not occur",
            Adversary::Worlds => "considers every table that fits all releases together",
        }
    }

    /// The facts that an adversary of the literature disregards, so that a reader does not take
    /// their findings for all that can be known; `worlds` leaves out none of it.
    pub const fn ignores(self) -> Option<&'static str> {
        match self {
            Adversary::Independence => {
                Some("the rows of all other classes, and that the releases are about the same people")
            }
            Adversary::Correlation => Some("the rows that the people in other combinations of classes need"),
            Adversary::Composition => Some("how many rows of each value the people in other classes need"),
            _ => None,
        }
    }
}

impl fmt::Display for Adversary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Adversary {
    type Err = UnknownAdversary;

    fn from_str(name: &str) -> Result<Adversary, UnknownAdversary> {
        Adversary::ALL.into_iter().find(|adversary| adversary.name() == name).ok_or(UnknownAdversary)
    }
}

/// A name that no adversary has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownAdversary;

impl fmt::Display for UnknownAdversary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Adversary::ALL.map(Adversary::name);
        write!(f, "unknown adversary; there are {}", names.join(", "))
    }
}

impl std::error::Error for UnknownAdversary {}

impl Serialize for Adversary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for adversary in Adversary::ALL {
            assert_eq!(adversary.to_string().parse(), Ok(adversary));
        }
        assert_eq!("Linker".parse::<Adversary>(), Err(UnknownAdversary));
    }
}
