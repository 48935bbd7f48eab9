//! The statements that a custodian signs, independent of the connection, two of which
//! may contradict each other, and proofs made of such a pair.
//!
//! A custodian that follows the protocol signs one proposal, one commitment, one approval and one
//! outcome for a run, and one message for each place of a step. Two different ones under its key
//! convict it before anyone who has the roster. Nothing else does: a custodian that is only
//! *accused* is named in no journal.

use hedgerow_smc::{Message, Signature, SigningKey, verifies};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::message::{Because, Heads, Hex, Note, RosterEntry, RunId, STATEMENT_BYTES_MAX, WHY_CHARACTERS_MAX};
use crate::step_name::{StepName, question_session};

/// The content of a signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "signs", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Statement {
    Note {
        note: Note,
    },
    /// Where the signer's journal and book stand.
    Heads {
        heads: Heads,
    },
    /// A message of a step, by its hash: messages are long.
    Step {
        session: Hex<16>,
        sender: u16,
        round: u32,
        chunk: u32,
        digest: Hex<32>,
    },
    /// Something else, by its hash.
    Other {
        digest: Hex<32>,
    },
}

/// The place of a statement: an honest custodian makes one statement for each.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StatementSlot {
    Proposal,
    Joined,
    Approved,
    Staged,
    Prepared,
    Aborted,
    Step { session: Hex<16>, sender: u16, round: u32, chunk: u32 },
}

impl Statement {
    /// The statement that a message of a step makes; `None` where it has no header.
    pub fn of_step(bytes: &[u8]) -> Option<Statement> {
        let (session, sender, round, chunk) = Message::place_of(bytes)?;
        let digest = Hex(Sha256::digest(bytes).into());
        Some(Statement::Step { session: Hex(session), sender, round, chunk, digest })
    }

    /// The bytes that are signed.
    fn bytes(&self) -> Vec<u8> {
        let json = serde_json::to_vec(self).unwrap_or_default();
        [&b"hedgerow statement 1"[..], &json].concat()
    }

    pub fn sign(self, key: &SigningKey) -> Signed {
        let signature = Hex(key.sign(&self.bytes()));
        Signed { statement: self, signature }
    }

    /// The run that its signer gives up for a reason of its own. One that follows others gives
    /// their reason, and is not followed in its turn.
    pub(crate) fn gives_up(&self) -> Option<RunId> {
        let Statement::Note { note: Note::Aborted { run, because, .. } } = self else { return None };
        let own = match because.as_deref() {
            None | Some(Because::Resolved { .. }) => true,
            Some(Because::Statement { signed, .. }) => {
                matches!(signed.statement, Statement::Note { note: Note::Staged { .. } })
            }
            Some(Because::Proof { .. }) => false,
        };
        own.then_some(*run)
    }

    pub(crate) fn slot(&self, run: RunId) -> Option<StatementSlot> {
        match self {
            Statement::Note { note } if note.run() != run => None,
            Statement::Note { note } => match note {
                Note::Propose { .. } => Some(StatementSlot::Proposal),
                Note::Joined { .. } => Some(StatementSlot::Joined),
                Note::Approved { .. } => Some(StatementSlot::Approved),
                Note::Staged { .. } => Some(StatementSlot::Staged),
                Note::Prepared { .. } => Some(StatementSlot::Prepared),
                Note::Aborted { .. } => Some(StatementSlot::Aborted),
                Note::Published { .. } | Note::Shown { .. } | Note::Proved { .. } | Note::Inquire { .. } => None,
            },
            Statement::Step { session, sender, round, chunk, .. } => {
                // Of the steps of the run; or of the question, if it is one.
                if StepName::of_session(run, &session.0).is_none() && session.0 != question_session(run) {
                    return None;
                }
                let (session, sender, round, chunk) = (*session, *sender, *round, *chunk);
                Some(StatementSlot::Step { session, sender, round, chunk })
            }
            Statement::Heads { .. } | Statement::Other { .. } => None,
        }
    }
}

/// A statement with the signature under it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signed {
    pub statement: Statement,
    pub signature: Hex<64>,
}

impl Signed {
    pub fn verifies(&self, signing_key: &[u8; 32]) -> bool {
        let signature: &Signature = &self.signature.0;
        verifies(signing_key, &self.statement.bytes(), signature)
    }

    /// Whether it is so short that two of them fit into one note.
    fn is_short(&self) -> bool {
        self.statement.bytes().len() <= STATEMENT_BYTES_MAX
    }

    /// Whether a custodian that follows the protocol may have written as much. What is longer is
    /// not taken: a proof with it, or a reason that rests on it, would reach no other custodian.
    pub(crate) fn fits(&self) -> bool {
        let Statement::Note { note } = &self.statement else { return true };
        match note {
            Note::Aborted { why, because: Some(because), .. } => match &**because {
                Because::Proof { proof } => {
                    why.len() <= 4 * WHY_CHARACTERS_MAX && proof.one.is_short() && proof.other.is_short()
                }
                Because::Statement { .. } | Because::Resolved { .. } => self.is_short(),
            },
            _ => self.is_short(),
        }
    }
}

/// Whether a custodian who follows the protocol never signs both.
pub(crate) fn contradict(run: RunId, one: &Statement, other: &Statement) -> bool {
    let (Some(slot), Some(other_slot)) = (one.slot(run), other.slot(run)) else { return false };
    match (one, other) {
        (Statement::Note { note }, Statement::Note { note: other }) => notes_contradict(note, other),
        (Statement::Step { digest, .. }, Statement::Step { digest: other, .. }) => {
            slot == other_slot && digest != other
        }
        _ => false,
    }
}

fn notes_contradict(one: &Note, other: &Note) -> bool {
    match (one, other) {
        (Note::Propose { proposal, .. }, Note::Propose { proposal: other, .. }) => proposal != other,
        (
            Note::Joined { proposal, commitment, .. },
            Note::Joined { proposal: other_proposal, commitment: other, .. },
        ) => (proposal, commitment) != (other_proposal, other),
        (Note::Approved { plan, .. }, Note::Approved { plan: other, .. }) => plan != other,
        (Note::Aborted { because, .. }, staged) | (staged, Note::Aborted { because, .. }) => {
            outcome(staged).is_some() && !excuses(because.as_deref(), staged)
        }
        (one, other) => matches!((outcome(one), outcome(other)), (Some(one), Some(other)) if one != other),
    }
}

/// The release that a custodian says it has.
fn outcome(note: &Note) -> Option<(u64, Hex<32>, Hex<32>)> {
    match note {
        Note::Staged { epoch, plan, release, .. } | Note::Prepared { epoch, plan, release, .. } => {
            Some((*epoch, *plan, *release))
        }
        _ => None,
    }
}

/// Whether a custodian that has said that it staged or is prepared may give the run up for that
/// reason: another one gave up, staged something else, or is convicted; or its own operator gave
/// up, which does not take back that it was prepared.
fn excuses(because: Option<&Because>, own: &Note) -> bool {
    match because {
        None => false,
        Some(Because::Proof { .. }) => true,
        Some(Because::Resolved { prepared }) => *prepared || matches!(own, Note::Staged { .. }),
        Some(Because::Statement { signed, .. }) => match &signed.statement {
            Statement::Note { note: note @ Note::Staged { .. } } => outcome(note) != outcome(own),
            statement => statement.gives_up().is_some(),
        },
    }
}

/// Two statements of one custodian that contradict each other, about a run or a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    pub run: RunId,
    pub culprit: RosterEntry,
    pub one: Signed,
    pub other: Signed,
}

impl Proof {
    /// Whether it convicts the custodian that it names: for anyone who has the roster.
    pub fn holds(&self) -> bool {
        let key = &self.culprit.signing_key.0;
        contradict(self.run, &self.one.statement, &self.other.statement)
            && self.one.is_short()
            && self.other.is_short()
            && self.one.verifies(key)
            && self.other.verifies(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Proposal;

    fn run() -> RunId {
        Hex([7; 16])
    }

    fn key(seed: u8) -> SigningKey {
        SigningKey::from_bytes(&[seed; 32])
    }

    fn note(note: Note) -> Statement {
        Statement::Note { note }
    }

    fn staged(release: u8) -> Note {
        Note::Staged { run: run(), epoch: 1, plan: Hex([1; 32]), release: Hex([release; 32]) }
    }

    fn prepared(release: u8) -> Note {
        Note::Prepared { run: run(), epoch: 1, plan: Hex([1; 32]), release: Hex([release; 32]) }
    }

    fn aborted(because: Option<Because>) -> Note {
        Note::Aborted { run: run(), why: String::new(), because: because.map(Box::new) }
    }

    fn other_says(said: Note) -> Because {
        Because::Statement { by: "south".to_owned(), signed: note(said).sign(&key(2)) }
    }

    #[test]
    fn two_different_statements_for_one_place_contradict() {
        let proposal = |epoch| {
            let (terms, by) = (Hex([2; 32]), "north".to_owned());
            Note::Propose { proposal: Proposal { run: run(), epoch, terms, roster: Vec::new(), by }, previous: None }
        };
        let joined = |commitment| Note::Joined {
            run: run(),
            proposal: Hex([3; 32]),
            commitment: Hex([commitment; 32]),
            heads: Heads::default(),
        };
        let approved = |plan| Note::Approved { run: run(), plan: Hex([plan; 32]) };
        let pairs = [
            (proposal(1), proposal(2), true),
            (joined(1), joined(2), true),
            (approved(1), approved(2), true),
            (staged(1), staged(2), true),
            (staged(1), prepared(2), true),
            (prepared(1), prepared(2), true),
            (staged(1), prepared(1), false),
            (approved(1), joined(1), false),
            (staged(1), aborted(None), true),
            (prepared(1), aborted(None), true),
            (approved(1), aborted(None), false),
            (staged(1), aborted(Some(other_says(aborted(None)))), false),
            (staged(1), aborted(Some(other_says(staged(2)))), false),
            (staged(1), aborted(Some(other_says(staged(1)))), true),
            (aborted(None), aborted(Some(other_says(aborted(None)))), false),
            (staged(1), aborted(Some(Because::Resolved { prepared: false })), false),
            (prepared(1), aborted(Some(Because::Resolved { prepared: true })), false),
            (prepared(1), aborted(Some(Because::Resolved { prepared: false })), true),
            (staged(1), aborted(Some(other_says(aborted(Some(other_says(staged(1))))))), false),
        ];
        for (one, other, expected) in pairs {
            let (one, other) = (note(one), note(other));
            assert_eq!(contradict(run(), &one, &other), expected, "{one:?} {other:?}");
            assert_eq!(contradict(run(), &other, &one), expected, "{other:?} {one:?}");
            assert!(!contradict(run(), &one, &one));
            assert!(!contradict(Hex([8; 16]), &one, &other), "of another run");
        }
    }

    #[test]
    fn messages_of_steps_contradict_in_one_place_of_the_run_alone() {
        let of = |session: [u8; 16], round, digest| {
            let digest = Hex([digest; 32]);
            Statement::Step { session: Hex(session), sender: 1, round, chunk: 0, digest }
        };
        let session = StepName::Classes.session(run());
        assert!(contradict(run(), &of(session, 3, 1), &of(session, 3, 2)));
        assert!(!contradict(run(), &of(session, 3, 1), &of(session, 4, 2)));
        assert!(!contradict(run(), &of(session, 3, 1), &of(session, 3, 1)));
        assert!(!contradict(run(), &of([9; 16], 3, 1), &of([9; 16], 3, 2)), "no step of this run");
    }

    #[test]
    fn a_proof_needs_both_signatures_of_the_one_that_it_names() {
        let named = |key: &SigningKey| RosterEntry {
            name: "north".to_owned(),
            key: Hex([1; 32]),
            signing_key: Hex(key.public()),
        };
        let (own, other) = (key(1), key(2));
        let proof = |one: Signed, other: Signed| Proof { run: run(), culprit: named(&own), one, other };
        let signs = |says: Note, key: &SigningKey| note(says).sign(key);
        assert!(proof(signs(staged(1), &own), signs(staged(2), &own)).holds());
        assert!(!proof(signs(staged(1), &own), signs(staged(1), &own)).holds());
        assert!(!proof(signs(staged(1), &own), signs(staged(2), &other)).holds(), "signed by another");
        let mut forged = signs(staged(1), &own);
        forged.statement = note(staged(3));
        assert!(!proof(forged, signs(staged(2), &own)).holds(), "other words under a signature");
    }
}
