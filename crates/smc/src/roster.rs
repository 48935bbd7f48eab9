//! Who takes part, and what is computed. Both go into every key, so that a mask made for one roster
//! or question fits no other.

use sha2::{Digest as _, Sha256};

use crate::fault::Fault;
use crate::message::Digest;

/// With two custodians each would learn the other's value from the total.
pub(crate) const CUSTODIANS_MIN: usize = 3;
pub(crate) const CUSTODIANS_MAX: usize = 1000;

/// The custodians of a run, in an order that all of them share: by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roster {
    names: Vec<String>,
}

impl Roster {
    pub fn new(mut names: Vec<String>) -> Result<Roster, Fault> {
        let found = names.len();
        if found < CUSTODIANS_MIN {
            return Err(Fault::TooFew { found });
        }
        if found > CUSTODIANS_MAX {
            return Err(Fault::TooMany { found, max: CUSTODIANS_MAX });
        }
        names.sort_unstable();
        if names.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(Fault::SameName);
        }
        Ok(Roster { names })
    }

    /// `count` custodians with placeholder names: for simulations.
    pub fn numbered(count: usize) -> Result<Roster, Fault> {
        Roster::new((0..count).map(|index| format!("custodian {index:04}")).collect())
    }

    pub fn count(&self) -> usize {
        self.names.len()
    }

    pub fn names(&self) -> &[String] {
        &self.names
    }

    pub fn digest(&self) -> Digest {
        let mut hash = Sha256::new();
        hash.update(b"hedgerow roster 1");
        for name in &self.names {
            hash.update((name.len() as u64).to_le_bytes());
            hash.update(name.as_bytes());
        }
        hash.finalize().into()
    }
}

/// What is computed: a name for the kind of computation and everything that makes it this one
/// (attributes, parameters, the state of the data). Two runs with the same question must mean the
/// same thing, since the burn rule compares questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Question(pub(crate) Digest);

impl Question {
    pub fn new(kind: &str, details: &[u8]) -> Question {
        let mut hash = Sha256::new();
        hash.update(b"hedgerow question 1");
        hash.update((kind.len() as u64).to_le_bytes());
        hash.update(kind.as_bytes());
        hash.update(details);
        Question(hash.finalize().into())
    }

    pub fn digest(&self) -> Digest {
        self.0
    }

    pub(crate) fn restore(digest: Digest) -> Question {
        Question(digest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_than_three_are_refused_and_so_are_namesakes() {
        assert_eq!(Roster::numbered(2), Err(Fault::TooFew { found: 2 }));
        assert_eq!(Roster::numbered(1001), Err(Fault::TooMany { found: 1001, max: 1000 }));
        let names = ["a", "b", "a"].map(String::from).to_vec();
        assert_eq!(Roster::new(names), Err(Fault::SameName));
    }

    #[test]
    fn a_roster_does_not_depend_on_the_order_of_its_names_but_on_where_they_end() {
        let roster = |names: [&str; 3]| Roster::new(names.map(String::from).to_vec()).unwrap().digest();
        assert_eq!(roster(["a", "b", "c"]), roster(["c", "a", "b"]));
        assert_ne!(roster(["a", "bc", "d"]), roster(["ab", "c", "d"]));
        assert_ne!(Question::new("sum", b"age"), Question::new("suma", b"ge"));
    }
}
