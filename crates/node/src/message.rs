//! What nodes say to each other besides the steps of a computation, and how it goes over the wire.
//!
//! A frame is a length (4 bytes, little-endian), a kind (1 byte) and content: a note about a run
//! or a question in JSON, or a message of `smc`. Every note is idempotent, since a node repeats
//! what it has said until it need not be said any more: connections break, and nobody acknowledges.

use std::fmt;
use std::io::{self, Read, Write};

use hedgerow_smc::{Fault, Member, Roster};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use crate::hex;

/// The longest note in bytes: a roster of a thousand custodians fits.
pub const NOTE_BYTES_MAX: usize = 1 << 19;
/// The longest reason that is taken from a peer, in characters.
const WHY_CHARACTERS_MAX: usize = 300;

const NOTE: u8 = 1;
const STEP: u8 = 2;
const ASKING: u8 = 3;

/// Bytes that are written as hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hex<const N: usize>(pub [u8; N]);

/// Names one run; drawn at random by whoever proposes it.
pub type RunId = Hex<16>;

impl<const N: usize> fmt::Display for Hex<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

impl<const N: usize> fmt::Debug for Hex<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<const N: usize> Serialize for Hex<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex::encode(&self.0))
    }
}

impl<'de, const N: usize> Deserialize<'de> for Hex<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        hex::decode(&text).map(Hex).ok_or_else(|| D::Error::custom("not so many hexadecimal digits"))
    }
}

/// Names one question, and follows from all of it: nobody can put another one under the same name.
pub type QuestionId = Hex<16>;

/// What an analyst asks at one node, and this node asks of all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    pub id: QuestionId,
    /// Drawn at random by the node that it comes to.
    pub nonce: Hex<16>,
    pub epoch: u64,
    pub run: RunId,
    pub sql: String,
    /// The custodian to whose node it came, and from whom.
    pub by: String,
    pub analyst: String,
}

impl Question {
    /// The same under the name that is its own.
    pub fn named(self) -> Question {
        let mut hash = Sha256::new();
        hash.update(b"hedgerow question name 1");
        hash.update(self.nonce.0);
        hash.update(self.run.0);
        hash.update(self.epoch.to_le_bytes());
        for text in [&self.sql, &self.by, &self.analyst] {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
        let digest: [u8; 32] = hash.finalize().into();
        Question { id: Hex(std::array::from_fn(|place| digest[place])), ..self }
    }
}

/// A custodian of a roster, as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Named {
    pub name: String,
    pub key: Hex<32>,
}

/// What somebody proposes to publish together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proposal {
    pub run: RunId,
    /// The number that the published run will have.
    pub epoch: u64,
    /// The digest of what was agreed on: domains, hierarchies, rules, promises, limits, versions.
    pub terms: Hex<32>,
    /// In the order of names.
    pub roster: Vec<Named>,
    pub by: String,
}

impl Proposal {
    pub fn roster(&self) -> Result<Roster, Fault> {
        let member = |named: &Named| Member { name: named.name.clone(), key: named.key.0 };
        Roster::new(self.roster.iter().map(member).collect())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Note {
    Propose {
        proposal: Proposal,
    },
    /// The sender takes part with these rows.
    Joined {
        run: RunId,
        commitment: Hex<32>,
    },
    /// The sender's operator has approved the plan with this digest.
    Approved {
        run: RunId,
        plan: Hex<32>,
    },
    /// The release is on the sender's disk, beside its place; it will not give up any more.
    Prepared {
        run: RunId,
    },
    /// The sender has seen that all are prepared, and has published.
    Published {
        run: RunId,
    },
    /// The sender has not prepared the run and never will.
    Aborted {
        run: RunId,
        why: String,
        blamed: Option<String>,
    },
    /// What has become of this run?
    Inquire {
        run: RunId,
    },
}

impl Note {
    pub fn run(&self) -> RunId {
        match self {
            Note::Propose { proposal } => proposal.run,
            Note::Joined { run, .. }
            | Note::Approved { run, .. }
            | Note::Prepared { run }
            | Note::Published { run }
            | Note::Aborted { run, .. }
            | Note::Inquire { run } => *run,
        }
    }
}

/// What nodes say about a question over rows that are apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Asking {
    /// Take part in the answer.
    Ask { question: Question },
    /// The sender takes no part in the answer, or no longer.
    Unanswered { id: QuestionId, why: String, blamed: Option<String> },
    /// The sender has no answer yet, and may lack what the receiver sent last.
    Again { id: QuestionId },
}

/// A peer's words as they are kept: short, and on one line.
pub(crate) fn plain(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).take(WHY_CHARACTERS_MAX).collect()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    Note(Note),
    Asking(Asking),
    /// An encoded message of a step.
    Step(Vec<u8>),
}

/// Why a frame cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("a message of {found} bytes, but at most {max} are taken")]
    TooLong { found: u64, max: u64 },
    #[error("a message that is none of ours")]
    Garbled,
}

impl Frame {
    pub fn encode(&self) -> Vec<u8> {
        let (kind, content) = match self {
            // A note holds texts and numbers only: nothing in it can fail to be written.
            Frame::Note(note) => (NOTE, serde_json::to_vec(note).unwrap_or_default()),
            Frame::Asking(asking) => (ASKING, serde_json::to_vec(asking).unwrap_or_default()),
            Frame::Step(bytes) => (STEP, bytes.clone()),
        };
        let mut frame = ((content.len() + 1) as u32).to_le_bytes().to_vec();
        frame.push(kind);
        frame.extend(content);
        frame
    }

    /// What follows the length.
    pub fn decode(bytes: &[u8]) -> Result<Frame, FrameError> {
        match bytes.split_first() {
            Some((&NOTE, content)) if content.len() <= NOTE_BYTES_MAX => {
                serde_json::from_slice(content).map(Frame::Note).map_err(|_| FrameError::Garbled)
            }
            Some((&ASKING, content)) if content.len() <= NOTE_BYTES_MAX => {
                serde_json::from_slice(content).map(Frame::Asking).map_err(|_| FrameError::Garbled)
            }
            Some((&STEP, content)) => Ok(Frame::Step(content.to_vec())),
            _ => Err(FrameError::Garbled),
        }
    }

    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        to.write_all(&self.encode())?;
        to.flush()
    }

    /// An empty frame: the sender is there, and has nothing to say.
    pub const ALIVE: [u8; 4] = [0; 4];

    /// Reads one frame of at most so many bytes, or nothing from an empty one; no more room is made
    /// than bytes arrive.
    pub fn read(from: &mut impl Read, bytes_max: usize) -> Result<Option<Frame>, FrameError> {
        let mut length = [0; 4];
        from.read_exact(&mut length)?;
        let length = u64::from(u32::from_le_bytes(length));
        if length > bytes_max as u64 {
            return Err(FrameError::TooLong { found: length, max: bytes_max as u64 });
        }
        if length == 0 {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        from.take(length).read_to_end(&mut bytes)?;
        if bytes.len() as u64 != length {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        Frame::decode(&bytes).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> RunId {
        Hex([7; 16])
    }

    fn question() -> Question {
        let (by, analyst) = ("north".to_owned(), "ada".to_owned());
        let (id, nonce) = (run(), Hex([8; 16]));
        Question { id, nonce, epoch: 3, run: run(), sql: "SELECT 'ß'".to_owned(), by, analyst }.named()
    }

    #[test]
    fn frames_read_back_as_they_were_written() {
        let roster = vec![Named { name: "north".to_owned(), key: Hex([1; 32]) }];
        let proposal = Proposal { run: run(), epoch: 3, terms: Hex([2; 32]), roster, by: "north".to_owned() };
        let frames = [
            Frame::Note(Note::Propose { proposal }),
            Frame::Note(Note::Aborted { run: run(), why: "ß \"quoted\"".to_owned(), blamed: None }),
            Frame::Note(Note::Inquire { run: run() }),
            Frame::Asking(Asking::Ask { question: question() }),
            Frame::Asking(Asking::Unanswered { id: run(), why: "away".to_owned(), blamed: Some("north".to_owned()) }),
            Frame::Asking(Asking::Again { id: run() }),
            Frame::Step(vec![0; 1000]),
        ];
        let mut bytes = Vec::new();
        frames.iter().for_each(|frame| frame.write(&mut bytes).unwrap());
        let mut from = bytes.as_slice();
        for frame in &frames {
            assert_eq!(Frame::read(&mut from, 2000).unwrap().as_ref(), Some(frame));
        }
        assert!(matches!(Frame::read(&mut from, 2000), Err(FrameError::Io(_))), "nothing is left");
    }

    #[test]
    fn the_name_of_a_question_follows_from_all_of_it() {
        let one = question();
        let others = [
            Question { nonce: Hex([9; 16]), ..one.clone() },
            Question { epoch: 4, ..one.clone() },
            Question { run: Hex([9; 16]), ..one.clone() },
            Question { sql: "SELECT 's'".to_owned(), ..one.clone() },
            Question { by: "south".to_owned(), ..one.clone() },
            Question { analyst: "bob".to_owned(), ..one.clone() },
        ];
        assert!(others.into_iter().all(|other| other.named().id != one.id));
        assert_eq!(Question { id: Hex([0; 16]), ..one.clone() }.named(), one);
    }

    #[test]
    fn what_is_too_long_or_garbled_is_refused() {
        let long = Frame::Step(vec![0; 1000]).encode();
        assert!(matches!(Frame::read(&mut long.as_slice(), 1000), Err(FrameError::TooLong { found: 1001, max: 1000 })));
        assert!(matches!(Frame::read(&mut &long[..500], 2000), Err(FrameError::Io(_))), "it ends early");
        for content in [&b""[..], b"\x03", b"\x04", b"\x03{}", b"\x01{}", b"\x01{\"note\":\"prepared\",\"run\":\"00\"}"]
        {
            assert!(matches!(Frame::decode(content), Err(FrameError::Garbled)), "{content:?}");
        }
        let note = serde_json::to_string(&Note::Prepared { run: run() }).unwrap();
        let unknown = note.replace("\"run\"", "\"more\":1,\"run\"");
        assert!(Frame::decode(&[&[NOTE], unknown.as_bytes()].concat()).is_err(), "{unknown}");
    }
}
