//! The participants and the computation. Both go into every key, so that a mask made for one roster
//! or question fits no other.

use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::fault::Fault;
use crate::limits::RunLimits;
use crate::message::Digest;

/// With two custodians each would learn the other's value from the total.
pub(crate) const CUSTODIANS_MIN: usize = 3;
pub(crate) const CUSTODIANS_MAX: usize = 1000;
const NAME_BYTES_MAX: usize = 255;

/// One custodian: a name that people know it by, the key that its transport proves to have, and the
/// key that verifies what it signs. A name alone would let an impostor take its place.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Member {
    pub name: String,
    /// The public key, or a fingerprint of the certificate, that the transport authenticates.
    pub key: [u8; 32],
    /// The ed25519 public key of its signatures; zeros in books that were written before there were
    /// any.
    pub signing_key: [u8; 32],
}

impl Member {
    /// The same custodian, whatever it signs with.
    pub fn is(&self, other: &Member) -> bool {
        (&self.name, self.key) == (&other.name, other.key)
    }
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [one, two, three, four, ..] = self.key;
        write!(f, "{} (key {one:02x}{two:02x}{three:02x}{four:02x}…)", self.name)
    }
}

/// The custodians of a run, in an order that all of them share: by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roster {
    members: Vec<Member>,
}

impl Roster {
    pub fn new(mut members: Vec<Member>) -> Result<Roster, Fault> {
        let found = members.len();
        if found < CUSTODIANS_MIN {
            return Err(Fault::TooFew { found });
        }
        if found > CUSTODIANS_MAX {
            return Err(Fault::TooMany { found, max: CUSTODIANS_MAX });
        }
        members.sort_unstable();
        let named = |member: &Member| (1..=NAME_BYTES_MAX).contains(&member.name.len());
        if !members.iter().all(named) || members.windows(2).any(|pair| pair[0].name == pair[1].name) {
            return Err(Fault::SameName);
        }
        let keys: [fn(&Member) -> [u8; 32]; 2] = [|member| member.key, |member| member.signing_key];
        for key in keys {
            let mut keys: Vec<[u8; 32]> = members.iter().map(key).filter(|key| *key != [0; 32]).collect();
            keys.sort_unstable();
            if keys.windows(2).any(|pair| pair[0] == pair[1]) {
                return Err(Fault::SameKey);
            }
        }
        Ok(Roster { members })
    }

    /// `count` custodians with placeholder names and keys: for simulations.
    #[cfg(any(test, feature = "danger-seeded"))]
    pub fn numbered(count: usize) -> Result<Roster, Fault> {
        let member = |index: usize| {
            let name = format!("custodian {index:04}");
            let signing_key = Sha256::digest(format!("signing key of {name}")).into();
            Member { key: Sha256::digest(&name).into(), signing_key, name }
        };
        Roster::new((0..count).map(member).collect())
    }

    pub fn count(&self) -> usize {
        self.members.len()
    }

    pub fn members(&self) -> &[Member] {
        &self.members
    }

    pub fn digest(&self) -> Digest {
        let mut hash = Sha256::new();
        hash.update(b"hedgerow roster 3");
        for member in &self.members {
            hash.update((member.name.len() as u64).to_le_bytes());
            hash.update(member.name.as_bytes());
            hash.update(member.key);
            hash.update(member.signing_key);
        }
        hash.finalize().into()
    }
}

/// The computation: a name for its kind, everything that makes it this one
/// (attributes, parameters, the state of the data), and what it may cost. Two runs with the same
/// question must mean the same thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question {
    base: Digest,
    pub(crate) limits: RunLimits,
}

impl Question {
    /// With the default limits.
    pub fn new(kind: &str, details: &[u8]) -> Question {
        let mut hash = Sha256::new();
        hash.update(b"hedgerow question 2");
        hash.update((kind.len() as u64).to_le_bytes());
        hash.update(kind.as_bytes());
        hash.update(details);
        Question { base: hash.finalize().into(), limits: RunLimits::default() }
    }

    /// The same with other limits, which makes it another question.
    pub fn within(self, limits: RunLimits) -> Question {
        Question { limits, ..self }
    }

    pub fn limits(&self) -> RunLimits {
        self.limits
    }

    pub fn digest(&self) -> Digest {
        let mut hash = Sha256::new();
        hash.update(b"hedgerow limits 1");
        hash.update(self.base);
        hash.update(self.limits.bytes());
        hash.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members<const N: usize>(members: [(&str, u8); N]) -> Vec<Member> {
        members.map(|(name, key)| Member { name: name.to_owned(), key: [key; 32], signing_key: [key; 32] }).to_vec()
    }

    #[test]
    fn fewer_than_three_are_refused_and_so_are_namesakes_and_shared_keys() {
        assert_eq!(Roster::numbered(2), Err(Fault::TooFew { found: 2 }));
        assert_eq!(Roster::numbered(1001), Err(Fault::TooMany { found: 1001, max: 1000 }));
        assert_eq!(Roster::new(members([("a", 1), ("b", 2), ("a", 3)])), Err(Fault::SameName));
        assert_eq!(Roster::new(members([("a", 1), ("", 2), ("c", 3)])), Err(Fault::SameName));
        assert_eq!(Roster::new(members([("a", 1), ("b", 2), ("c", 1)])), Err(Fault::SameKey));
        let mut signing = members([("a", 1), ("b", 2), ("c", 3)]);
        signing[2].signing_key = [1; 32];
        assert_eq!(Roster::new(signing), Err(Fault::SameKey), "two custodians sign with one key");
    }

    #[test]
    fn a_roster_does_not_depend_on_the_order_of_its_names_but_on_where_they_end_and_on_keys() {
        let roster = |entries| Roster::new(members(entries)).unwrap().digest();
        assert_eq!(roster([("a", 1), ("b", 2), ("c", 3)]), roster([("c", 3), ("a", 1), ("b", 2)]));
        assert_ne!(roster([("a", 1), ("bc", 2), ("d", 3)]), roster([("ab", 1), ("c", 2), ("d", 3)]));
        assert_ne!(
            roster([("a", 1), ("b", 2), ("c", 3)]),
            roster([("a", 2), ("b", 1), ("c", 3)]),
            "keys changed places"
        );
        let mut signing = members([("a", 1), ("b", 2), ("c", 3)]);
        signing[0].signing_key = [9; 32];
        assert_ne!(roster([("a", 1), ("b", 2), ("c", 3)]), Roster::new(signing).unwrap().digest());
        assert_ne!(Question::new("sum", b"age").digest(), Question::new("suma", b"ge").digest());
    }

    #[test]
    fn other_bounds_are_another_question() {
        let question = Question::new("sum", b"");
        let few = RunLimits { rounds_max: 5, ..RunLimits::default() };
        assert_ne!(question.digest(), question.within(few).digest());
        assert_eq!(question.digest(), question.within(RunLimits::default()).digest());
    }
}
