//! The burn rule: masks are used once, and a question that may have been answered is put again only
//! to the same custodians.
//!
//! Suppose five custodians learn a total, and then four of them learn the same total without the
//! fifth: the difference is what the fifth holds, and no mask helps. It is enough that *somebody*
//! may have opened the first total, and that is possible as soon as we have sent anything. So a
//! question is burned when its run starts, not when it ends: a run that failed counts.
//!
//! The rule is a type. A run in the `masked` profile takes a [`Permit`], which only
//! [`BurnBook::permit`] makes and which cannot be copied; the book refuses a session that it has
//! seen, and a question that was put to others. The book must outlive the process:
//! [`BurnBook::encode`] is what a custodian keeps on disk *before* the first message leaves.
//!
//! What the rule does not do: it cannot stop custodians from asking two *different* questions whose
//! answers differ by one custodian's rows, and it takes the caller's word that a question names the
//! state of the data.

use std::collections::{BTreeMap, BTreeSet};

use crate::fault::{Fault, WireFault};
use crate::message::{Digest, SessionId};
use crate::roster::{Question, Roster};
use crate::wire::{Reader, Writer};

/// What one custodian has taken part in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BurnBook {
    sessions: BTreeSet<SessionId>,
    questions: BTreeMap<Question, Digest>,
}

/// The right to start one run, once.
#[derive(Debug)]
pub struct Permit {
    pub(crate) session: SessionId,
    pub(crate) question: Question,
    pub(crate) roster: Roster,
}

impl BurnBook {
    /// Burns the session and the question, or refuses.
    pub fn permit(&mut self, session: SessionId, question: Question, roster: &Roster) -> Result<Permit, Fault> {
        if self.sessions.contains(&session) {
            return Err(Fault::SessionUsed);
        }
        let digest = roster.digest();
        if self.questions.get(&question).is_some_and(|requested| *requested != digest) {
            return Err(Fault::Burned);
        }
        self.sessions.insert(session);
        self.questions.insert(question, digest);
        Ok(Permit { session, question, roster: roster.clone() })
    }

    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.u8(crate::message::VERSION);
        writer.u32(self.sessions.len() as u32);
        for session in &self.sessions {
            writer.bytes(session);
        }
        writer.u32(self.questions.len() as u32);
        for (question, roster) in &self.questions {
            writer.bytes(&question.0);
            writer.bytes(roster);
        }
        writer.finish()
    }

    /// Reads what [`BurnBook::encode`] wrote; anything else is refused, since a book with gaps
    /// protects nobody.
    pub fn decode(bytes: &[u8]) -> Result<BurnBook, WireFault> {
        let mut reader = Reader::new(bytes);
        let version = reader.u8()?;
        if version != crate::message::VERSION {
            return Err(WireFault::Version(version));
        }
        let mut book = BurnBook::default();
        for _ in 0..reader.u32()? {
            if !book.sessions.insert(reader.array()?) {
                return Err(WireFault::Range);
            }
        }
        for _ in 0..reader.u32()? {
            let question = Question::restore(reader.array()?);
            if book.questions.insert(question, reader.array()?).is_some() {
                return Err(WireFault::Range);
            }
        }
        reader.end()?;
        Ok(book)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_question_goes_to_the_same_custodians_only_and_each_session_once() {
        let mut book = BurnBook::default();
        let (five, four) = (Roster::numbered(5).unwrap(), Roster::numbered(4).unwrap());
        let sizes = Question::new("sizes", b"2026");
        assert!(book.permit([1; 16], sizes, &five).is_ok());
        assert_eq!(book.permit([2; 16], sizes, &four).unwrap_err(), Fault::Burned);
        assert_eq!(book.permit([1; 16], sizes, &five).unwrap_err(), Fault::SessionUsed);
        assert!(book.permit([2; 16], sizes, &five).is_ok(), "the same custodians may try again, with new masks");
        assert!(book.permit([3; 16], Question::new("sizes", b"2027"), &four).is_ok());
        assert_eq!(BurnBook::decode(&book.encode()), Ok(book));
    }

    #[test]
    fn a_damaged_book_is_refused() {
        let mut book = BurnBook::default();
        book.permit([1; 16], Question::new("a", b""), &Roster::numbered(3).unwrap()).unwrap();
        let bytes = book.encode();
        for end in 0..bytes.len() {
            assert!(BurnBook::decode(&bytes[..end]).is_err());
        }
        assert_eq!(BurnBook::decode(&[9]), Err(WireFault::Version(9)));
    }
}
