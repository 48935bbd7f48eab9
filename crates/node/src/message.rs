//! The messages between nodes besides the steps of a computation, and their encoding.
//!
//! A frame is a length (4 bytes, little-endian), a version and a kind (1 byte each), a signature
//! (64 bytes) and content: a note about a run, a question or the state of a journal in JSON, or a
//! message of `smc`. Nodes are upgraded one after the other: a frame of another version is passed
//! over and journaled, and its connection stays. Every note is idempotent: a node repeats what it
//! has said while a peer may lack it, since connections break and notes are not acknowledged.

use std::fmt;
use std::io::{self, Read, Write};

use hedgerow_smc::{Digest, Fault, Member, Roster, Signature, SigningKey};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use crate::certificate::Certificate;
use crate::hex;
use crate::statement::{Proof, Signed, Statement};

/// The longest statement in bytes that is taken as evidence: a proposal with a thousand custodians
/// and the certificate before it fits.
pub const STATEMENT_BYTES_MAX: usize = 1 << 19;
/// The longest note in bytes: two statements that contradict each other fit, and what is around
/// them. Otherwise a custodian that writes long ones could not be convicted.
pub const NOTE_BYTES_MAX: usize = 2 * STATEMENT_BYTES_MAX + (1 << 16);
/// The longest reason that is taken from a peer, in characters.
pub(crate) const WHY_CHARACTERS_MAX: usize = 300;

/// The version of frames that this node speaks. Notes refuse fields that they do not know, so a
/// field that is added raises it.
pub const FRAME_VERSION: u8 = 3;
/// The bytes before the content, without the length.
pub(crate) const FRAME_HEADER_BYTES: usize = 1 + 1 + 64;

const NOTE: u8 = 1;
const STEP: u8 = 2;
const ASKING: u8 = 3;
const STANDING: u8 = 4;

/// Bytes that are written as hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hex<const N: usize>(pub [u8; N]);

/// Names one run; drawn at random by the node that proposes it.
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
        hex::decode(&text).map(Hex).ok_or_else(|| D::Error::custom("expected another number of hexadecimal digits"))
    }
}

/// Names one question, and follows from all of it: no other question has the same name.
pub type QuestionId = Hex<16>;

/// A question that an analyst asks at one node, and that this node sends to all.
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
pub struct RosterEntry {
    pub name: String,
    pub key: Hex<32>,
    #[serde(default = "no_key")]
    pub signing_key: Hex<32>,
}

/// Of epochs that were published before custodians signed.
fn no_key() -> Hex<32> {
    Hex([0; 32])
}

impl RosterEntry {
    pub fn of(member: &Member) -> RosterEntry {
        RosterEntry { name: member.name.clone(), key: Hex(member.key), signing_key: Hex(member.signing_key) }
    }

    pub fn member(&self) -> Member {
        Member { name: self.name.clone(), key: self.key.0, signing_key: self.signing_key.0 }
    }
}

/// A proposal to publish together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proposal {
    pub run: RunId,
    /// The number that the published run will have.
    pub epoch: u64,
    /// The digest of what was agreed on: domains, hierarchies, rules, promises, limits, versions.
    pub terms: Hex<32>,
    /// In the order of names.
    pub roster: Vec<RosterEntry>,
    pub by: String,
}

impl Proposal {
    pub fn roster(&self) -> Result<Roster, Fault> {
        Roster::new(self.roster.iter().map(RosterEntry::member).collect())
    }

    /// Over every field: a proposal that differs anywhere has another digest.
    pub fn digest(&self) -> Digest {
        let Proposal { run, epoch, terms, roster, by } = self;
        let mut hash = Sha256::new();
        hash.update(b"hedgerow proposal 1");
        hash.update(run.0);
        hash.update(epoch.to_le_bytes());
        hash.update(terms.0);
        hash.update((roster.len() as u64).to_le_bytes());
        let mut text = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        };
        text(by);
        for RosterEntry { name, key, signing_key } in roster {
            text(name);
            text(&format!("{key}{signing_key}"));
        }
        hash.finalize().into()
    }

    /// The digest that operators approve: of the proposal, and of the plan with all commitments to
    /// rows.
    pub fn approval(&self, plan: &Digest) -> Digest {
        let mut hash = Sha256::new();
        hash.update(b"hedgerow approval 1");
        hash.update(self.digest());
        hash.update(plan);
        hash.finalize().into()
    }
}

/// Where a custodian's journal and book of runs stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Heads {
    /// The number of the journal's last row, and its hash.
    pub rows: u64,
    pub journal: Hex<32>,
    pub entries: u64,
    pub book: Hex<32>,
}

impl Default for Heads {
    fn default() -> Heads {
        Heads { rows: 0, journal: Hex([0; 32]), entries: 0, book: Hex([0; 32]) }
    }
}

/// Why a custodian gave up a release that it had staged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case", deny_unknown_fields)]
// A reason is boxed where it is part of a note.
#[allow(clippy::large_enum_variant)]
pub enum Because {
    /// Another custodian gave up first, or staged another release.
    Statement { by: String, signed: Signed },
    /// A custodian is convicted.
    Proof { proof: Box<Proof> },
    /// Its operator gave up a run in doubt; and whether it had signed that it is prepared.
    Resolved { prepared: bool },
}

impl Because {
    /// The reason of a custodian that gives up since another one did: that one's own word, or what
    /// it rests on. Reasons do not grow from one custodian to the next, and none is taken over that
    /// holds for the other one only, such as a release that differs from *its* release.
    pub(crate) fn following(by: &str, signed: &Signed) -> Because {
        match &signed.statement {
            Statement::Note { note: Note::Aborted { because: Some(because), .. } } => match &**because {
                Because::Proof { .. } => (**because).clone(),
                Because::Statement { signed: inner, .. } if inner.statement.gives_up().is_some() => (**because).clone(),
                _ => Because::Statement { by: by.to_owned(), signed: signed.clone() },
            },
            _ => Because::Statement { by: by.to_owned(), signed: signed.clone() },
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Note {
    Propose {
        proposal: Proposal,
        /// The certificate of the previous epoch, for custodians who took no part in it.
        previous: Option<Box<Certificate>>,
    },
    /// The sender takes part in what was proposed, with these rows.
    Joined { run: RunId, proposal: Hex<32>, commitment: Hex<32>, heads: Heads },
    /// The sender's operator has approved the plan with this digest.
    Approved { run: RunId, plan: Hex<32> },
    /// The release is on the sender's disk, beside its place. It survives a crash of the sender.
    Staged { run: RunId, epoch: u64, plan: Hex<32>, release: Hex<32> },
    /// The sender has seen that all have staged this release, and will not give up any more.
    Prepared { run: RunId, epoch: u64, plan: Hex<32>, release: Hex<32> },
    /// The sender has published on this certificate.
    Published { run: RunId, certificate: Box<Certificate> },
    /// The sender gives up. Where it had staged a release, it says because of whom.
    Aborted { run: RunId, why: String, because: Option<Box<Because>> },
    /// Statements of others that the sender has, so that contradictions are found.
    Shown { run: RunId, statements: Vec<Signed> },
    /// A custodian is convicted.
    Proved { run: RunId, proof: Box<Proof> },
    /// Requests the outcome of this run.
    Inquire { run: RunId },
}

impl Note {
    pub fn run(&self) -> RunId {
        match self {
            Note::Propose { proposal, .. } => proposal.run,
            Note::Joined { run, .. }
            | Note::Approved { run, .. }
            | Note::Staged { run, .. }
            | Note::Prepared { run, .. }
            | Note::Published { run, .. }
            | Note::Aborted { run, .. }
            | Note::Shown { run, .. }
            | Note::Proved { run, .. }
            | Note::Inquire { run } => *run,
        }
    }
}

/// Messages about journals, when a node starts and after every run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "standing", rename_all = "kebab-case", deny_unknown_fields)]
pub enum JournalMessage {
    /// Where the sender believes to stand; the receiver answers with what it knows. Nothing is
    /// kept of it: the sender's folder may be an older copy.
    Own { heads: Heads },
    /// The last statement of the receiver about its heads that the sender has; where it joined a
    /// run with them, also how far it has said that it came.
    Known { signed: Option<Box<Signed>>, further: Option<Box<Signed>> },
    /// Where the sender stood after a run, or when it started: the receiver keeps it.
    After { heads: Heads },
    /// The sender has this row of the receiver's journal, or a later one, on its disk.
    Kept { rows: u64 },
}

/// Messages about a question over rows that are apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Asking {
    /// Take part in the answer.
    Ask { question: Question },
    /// The sender takes no part in the answer, or no longer.
    Unanswered { id: QuestionId, why: String },
    /// Messages of others that the sender has, so that contradictions are found.
    Shown { id: QuestionId, statements: Vec<Signed> },
    /// A custodian is convicted.
    Proved { id: QuestionId, proof: Box<Proof> },
    /// The sender has no answer yet, and may lack what the receiver sent last.
    Again { id: QuestionId },
}

/// A peer's words as they are kept: short, and on one line.
pub(crate) fn plain(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).take(WHY_CHARACTERS_MAX).collect()
}

/// The content of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FrameContent {
    Note(Note),
    Asking(Asking),
    Standing(JournalMessage),
    /// An encoded message of a step.
    Step(Vec<u8>),
}

impl FrameContent {
    fn kind(&self) -> u8 {
        match self {
            FrameContent::Note(_) => NOTE,
            FrameContent::Step(_) => STEP,
            FrameContent::Asking(_) => ASKING,
            FrameContent::Standing(_) => STANDING,
        }
    }

    fn bytes(&self) -> Vec<u8> {
        // They hold texts and numbers only: nothing in them can fail to be written.
        match self {
            FrameContent::Note(note) => serde_json::to_vec(note).unwrap_or_default(),
            FrameContent::Asking(asking) => serde_json::to_vec(asking).unwrap_or_default(),
            FrameContent::Standing(standing) => serde_json::to_vec(standing).unwrap_or_default(),
            FrameContent::Step(bytes) => bytes.clone(),
        }
    }

    /// The signed bytes.
    pub fn statement(&self) -> Statement {
        let other = || {
            let bytes = self.bytes();
            let digest = Sha256::digest([&[self.kind()], bytes.as_slice()].concat());
            Statement::Other { digest: Hex(digest.into()) }
        };
        match self {
            FrameContent::Note(note) => Statement::Note { note: note.clone() },
            FrameContent::Standing(JournalMessage::After { heads }) => Statement::Heads { heads: *heads },
            FrameContent::Step(bytes) => Statement::of_step(bytes).unwrap_or_else(other),
            FrameContent::Asking(_) | FrameContent::Standing(_) => other(),
        }
    }
}

/// One message between nodes, signed by its sender.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub content: FrameContent,
    pub signature: Signature,
}

/// Why a frame cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("a message of {found} bytes, but at most {max} are taken")]
    TooLong { found: u64, max: u64 },
    #[error("messages of version {0}, and this node speaks version {FRAME_VERSION}: upgrade the older one")]
    Version(u8),
    #[error("a malformed message")]
    Garbled,
}

impl Frame {
    pub fn sign(content: FrameContent, key: &SigningKey) -> Frame {
        let signature = content.statement().sign(key).signature.0;
        Frame { content, signature }
    }

    pub fn signed(&self) -> Signed {
        Signed { statement: self.content.statement(), signature: Hex(self.signature) }
    }

    pub fn encode(&self) -> Vec<u8> {
        let bytes = self.content.bytes();
        let mut frame = Vec::with_capacity(4 + FRAME_HEADER_BYTES + bytes.len());
        frame.extend(((FRAME_HEADER_BYTES + bytes.len()) as u32).to_le_bytes());
        frame.extend([FRAME_VERSION, self.content.kind()]);
        frame.extend(self.signature);
        frame.extend(bytes);
        frame
    }

    /// The bytes after the length. Every content has one encoding: a signature is over what was
    /// read.
    pub fn decode(bytes: &[u8]) -> Result<Frame, FrameError> {
        let (version, rest) = bytes.split_first().ok_or(FrameError::Garbled)?;
        if *version != FRAME_VERSION {
            return Err(FrameError::Version(*version));
        }
        let (kind, rest) = rest.split_first().ok_or(FrameError::Garbled)?;
        let (signature, bytes) = rest.split_first_chunk::<64>().ok_or(FrameError::Garbled)?;
        if *kind == STEP {
            return Ok(Frame { content: FrameContent::Step(bytes.to_vec()), signature: *signature });
        }
        if bytes.len() > NOTE_BYTES_MAX {
            return Err(FrameError::Garbled);
        }
        let content = match *kind {
            NOTE => serde_json::from_slice(bytes).map(FrameContent::Note),
            ASKING => serde_json::from_slice(bytes).map(FrameContent::Asking),
            STANDING => serde_json::from_slice(bytes).map(FrameContent::Standing),
            _ => return Err(FrameError::Garbled),
        };
        let content = content.map_err(|_| FrameError::Garbled)?;
        if content.bytes() != bytes {
            return Err(FrameError::Garbled);
        }
        Ok(Frame { content, signature: *signature })
    }

    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        to.write_all(&self.encode())?;
        to.flush()
    }

    /// The memory that it takes, at most.
    pub(crate) fn bytes_max(&self) -> usize {
        match &self.content {
            FrameContent::Step(bytes) => bytes.len(),
            FrameContent::Note(_) | FrameContent::Asking(_) | FrameContent::Standing(_) => NOTE_BYTES_MAX,
        }
    }

    /// An empty frame: the sender is there, and has nothing to say.
    pub const ALIVE: [u8; 4] = [0; 4];

    /// Reads one frame of at most this many bytes, or nothing from an empty one; no more room is
    /// made than bytes arrive.
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

    fn key() -> SigningKey {
        SigningKey::from_bytes(&[5; 32])
    }

    fn question() -> Question {
        let (by, analyst) = ("north".to_owned(), "ada".to_owned());
        let (id, nonce) = (run(), Hex([8; 16]));
        Question { id, nonce, epoch: 3, run: run(), sql: "SELECT 'ß'".to_owned(), by, analyst }.named()
    }

    fn proposal() -> Proposal {
        let roster = vec![RosterEntry { name: "north".to_owned(), key: Hex([1; 32]), signing_key: Hex([3; 32]) }];
        Proposal { run: run(), epoch: 3, terms: Hex([2; 32]), roster, by: "north".to_owned() }
    }

    #[test]
    fn frames_read_back_as_they_were_written_and_verify() {
        let aborted = Note::Aborted { run: run(), why: "ß \"quoted\"".to_owned(), because: None };
        let signed = Statement::Note { note: aborted.clone() }.sign(&key());
        let because = Because::Statement { by: "south".to_owned(), signed: signed.clone() };
        let contents = [
            FrameContent::Note(Note::Propose { proposal: proposal(), previous: None }),
            FrameContent::Note(aborted),
            FrameContent::Note(Note::Aborted { run: run(), why: String::new(), because: Some(Box::new(because)) }),
            FrameContent::Note(Note::Inquire { run: run() }),
            FrameContent::Standing(JournalMessage::Own { heads: Heads::default() }),
            FrameContent::Standing(JournalMessage::Known {
                signed: Some(Box::new(signed.clone())),
                further: Some(Box::new(signed)),
            }),
            FrameContent::Standing(JournalMessage::After { heads: Heads::default() }),
            FrameContent::Standing(JournalMessage::Kept { rows: u64::MAX }),
            FrameContent::Asking(Asking::Ask { question: question() }),
            FrameContent::Asking(Asking::Unanswered { id: run(), why: "away".to_owned() }),
            FrameContent::Asking(Asking::Again { id: run() }),
            FrameContent::Step(vec![0; 1000]),
            FrameContent::Step(Vec::new()),
        ];
        let mut bytes = Vec::new();
        let frames = contents.map(|content| Frame::sign(content, &key()));
        frames.iter().for_each(|frame| frame.write(&mut bytes).unwrap());
        let mut from = bytes.as_slice();
        for frame in &frames {
            let read = Frame::read(&mut from, 4000).unwrap().unwrap();
            assert_eq!(read, *frame);
            assert!(read.signed().verifies(&key().public()));
            assert!(!read.signed().verifies(&SigningKey::from_bytes(&[6; 32]).public()));
        }
        assert!(matches!(Frame::read(&mut from, 2000), Err(FrameError::Io(_))), "nothing is left");
    }

    #[test]
    fn a_changed_byte_anywhere_breaks_the_frame_or_its_signature() {
        let message = [vec![4, 2], vec![7; 200]].concat();
        for content in [FrameContent::Note(Note::Inquire { run: run() }), FrameContent::Step(message)] {
            let good = Frame::sign(content, &key()).encode();
            for place in 4..good.len() {
                let mut bytes = good.clone();
                bytes[place] ^= 1;
                let verifies = Frame::decode(&bytes[4..]).is_ok_and(|frame| frame.signed().verifies(&key().public()));
                assert!(!verifies, "byte {place}");
            }
        }
    }

    #[test]
    fn every_field_of_a_proposal_is_in_its_digest_and_in_what_is_approved() {
        let one = proposal();
        let named = |name: &str, key: u8, signing: u8| {
            vec![RosterEntry { name: name.to_owned(), key: Hex([key; 32]), signing_key: Hex([signing; 32]) }]
        };
        let others = [
            Proposal { run: Hex([9; 16]), ..one.clone() },
            Proposal { epoch: 4, ..one.clone() },
            Proposal { terms: Hex([9; 32]), ..one.clone() },
            Proposal { by: "south".to_owned(), ..one.clone() },
            Proposal { roster: Vec::new(), ..one.clone() },
            Proposal { roster: named("south", 1, 3), ..one.clone() },
            Proposal { roster: named("north", 2, 3), ..one.clone() },
            Proposal { roster: named("north", 1, 4), ..one.clone() },
        ];
        for other in others {
            assert_ne!(other.digest(), one.digest(), "{other:?}");
            assert_ne!(other.approval(&[1; 32]), one.approval(&[1; 32]), "{other:?}");
        }
        assert_ne!(one.approval(&[1; 32]), one.approval(&[2; 32]));
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
        let long = Frame::sign(FrameContent::Step(vec![0; 1000]), &key()).encode();
        let refused = Frame::read(&mut long.as_slice(), 1000);
        assert!(matches!(refused, Err(FrameError::TooLong { found: 1066, max: 1000 })));
        assert!(matches!(Frame::read(&mut &long[..500], 2000), Err(FrameError::Io(_))), "it ends early");
        let note = serde_json::to_string(&Note::Inquire { run: run() }).unwrap();
        let unknown = note.replace("\"run\"", "\"more\":1,\"run\"");
        let spaced = note.replace(':', ": ");
        for content in ["", "{}", "{\"note\":\"inquire\",\"run\":\"00\"}", &unknown, &spaced] {
            for kind in [0, NOTE, ASKING, STANDING, 9] {
                let bytes = [&[FRAME_VERSION, kind][..], &[0; 64], content.as_bytes()].concat();
                assert!(matches!(Frame::decode(&bytes), Err(FrameError::Garbled)), "{kind} {content:?}");
            }
        }
        assert!(Frame::decode(&[&[FRAME_VERSION, NOTE][..], &[0; 64], note.as_bytes()].concat()).is_ok());
        assert!(matches!(Frame::decode(&[FRAME_VERSION; 20]), Err(FrameError::Garbled)), "no signature");
    }
}
