//! The way out of a node: journal rows, messages to peers, and the disk that both rest on.
//!
//! Nothing leaves before what it rests on is stored. This is the only way to the journal and to the
//! peers, so no other part of the node can say what it has not written down.

use std::sync::Arc;

use hedgerow_smc::{Outgoing, Roster, SigningKey, To};

use crate::clock::Time;
use crate::journal::{Detail, Record, What};
use crate::message::{Asking, Frame, FrameContent, Hex, JournalMessage, Note, RunId, plain};
use crate::part::EpochPart;
use crate::rejections::{Hour, Rejected, RejectionKind};
use crate::statement::{Signed, Statement};
use crate::store::{RunResult, Store, StoreError};

/// After this time without progress a node repeats what it has said.
pub(crate) const REPEAT_MS: u64 = 1000;
/// One millisecond longer for this number of bytes: others need time for long vectors, and
/// repetitions would take more of it from them.
const REPEAT_BYTES_PER_MS: u64 = 1 << 10;
/// But before this part of the time after which a run is given up.
const REPEAT_PARTS_OF_SILENCE: u64 = 4;

/// An outgoing message and its receivers.
pub type Sent = Vec<(String, Frame)>;

/// How long after the last progress what takes this number of bytes is said again.
pub(crate) fn repeat_after(bytes: u64, silence_ms: u64) -> u64 {
    let latest = (silence_ms / REPEAT_PARTS_OF_SILENCE).max(REPEAT_MS);
    (REPEAT_MS + bytes / REPEAT_BYTES_PER_MS).min(latest)
}

#[derive(Debug)]
pub(crate) struct Outbox<S: ?Sized = dyn Store> {
    /// The name of this node, and the key that signs what it says.
    own: String,
    signing: Arc<SigningKey>,
    time: Time,
    /// Rows that are not in the journal yet.
    records: Vec<Record>,
    frames: Sent,
    rejections: Hour,
    store: S,
}

impl<S> Outbox<S> {
    pub(crate) fn new(own: &str, signing: &Arc<SigningKey>, time: Time, store: S) -> Outbox<S> {
        Outbox {
            own: own.to_owned(),
            signing: Arc::clone(signing),
            time,
            records: Vec::new(),
            frames: Vec::new(),
            rejections: Hour::default(),
            store,
        }
    }
}

/// The time, and the journal.
impl<S: ?Sized> Outbox<S> {
    pub(crate) fn set_time(&mut self, time: Time) {
        self.time = time;
    }

    /// Milliseconds that never go back.
    pub(crate) fn now(&self) -> u64 {
        self.time.steady_ms
    }

    pub(crate) fn note(&mut self, what: What, run: Option<RunId>, who: &str, detail: impl Into<Detail>) {
        let detail = detail.into();
        self.records.push(Record { at: self.time.unix_ms, what, run, who: who.to_owned(), detail });
    }

    /// An event in the name of this node.
    pub(crate) fn note_own(&mut self, what: What, run: Option<RunId>, detail: impl Into<Detail>) {
        let detail = detail.into();
        self.records.push(Record { at: self.time.unix_ms, what, run, who: self.own.clone(), detail });
    }

    /// A message that is malformed or out of place.
    pub(crate) fn rejected(&mut self, whom: &str, why: &str) {
        let (whom, why) = (whom.to_owned(), why.to_owned());
        self.note_rejected(&Rejected { kind: RejectionKind::Message, whom, why, times: 1 });
    }

    pub(crate) fn note_rejected(&mut self, rejected: &Rejected) {
        let Rejected { whom, why, .. } = rejected;
        let rejected = Rejected { whom: plain(whom), why: plain(why), ..rejected.clone() };
        if let Some(detail) = self.rejections.add(&rejected, self.time.unix_ms) {
            self.note(What::Rejected, None, &rejected.whom, detail);
        }
    }

    /// Counts of rejections that are not listed one by one in the journal.
    pub(crate) fn note_rejections(&mut self, ends: bool) {
        for counts in self.rejections.due(self.time.unix_ms, ends) {
            self.note(What::Rejected, None, "several", counts);
        }
    }

    /// By kind, how many since the node was started.
    pub(crate) fn rejections(&self) -> [u64; RejectionKind::ALL.len()] {
        self.rejections.totals()
    }
}

/// Messages to peers.
impl<S: ?Sized> Outbox<S> {
    fn sign(&self, content: FrameContent) -> Frame {
        Frame::sign(content, &self.signing)
    }

    pub(crate) fn sign_note(&self, note: Note) -> Signed {
        Statement::Note { note }.sign(&self.signing)
    }

    fn send(&mut self, to: &str, content: FrameContent) {
        let frame = self.sign(content);
        self.frames.push((to.to_owned(), frame));
    }

    fn send_roster(&mut self, roster: &Roster, content: FrameContent) {
        let frame = self.sign(content);
        let others = roster.members().iter().filter(|member| member.name != self.own);
        self.frames.extend(others.map(|member| (member.name.clone(), frame.clone())));
    }

    pub(crate) fn tell(&mut self, to: &str, note: Note) {
        self.send(to, FrameContent::Note(note));
    }

    pub(crate) fn tell_roster(&mut self, roster: &Roster, note: &Note) {
        self.send_roster(roster, FrameContent::Note(note.clone()));
    }

    /// About questions.
    pub(crate) fn say(&mut self, to: &str, asking: Asking) {
        self.send(to, FrameContent::Asking(asking));
    }

    pub(crate) fn say_roster(&mut self, roster: &Roster, asking: &Asking) {
        self.send_roster(roster, FrameContent::Asking(asking.clone()));
    }

    /// About journals.
    pub(crate) fn send_standing(&mut self, names: Vec<String>, standing: JournalMessage) {
        let frame = self.sign(FrameContent::Standing(standing));
        self.frames.extend(names.into_iter().map(|name| (name, frame.clone())));
    }

    /// A message of a session that was for one custodian, to that one again.
    pub(crate) fn send_step(&mut self, to: &str, outgoing: &Outgoing) {
        self.send(to, FrameContent::Step(outgoing.message.encode()));
    }

    pub(crate) fn send_among(&mut self, roster: &Roster, outgoing: &Outgoing) {
        let frame = self.sign(FrameContent::Step(outgoing.message.encode()));
        let members = roster.members().iter().enumerate().filter(|(_, member)| member.name != self.own);
        let receives = |place: usize| match outgoing.to {
            To::One(one) => usize::from(one) == place,
            To::Others => true,
        };
        let sent =
            members.filter(|(place, _)| receives(*place)).map(|(_, member)| (member.name.clone(), frame.clone()));
        self.frames.extend(sent);
    }

    /// Takes back what was said since the last message left.
    pub(crate) fn take_back(&mut self) -> Sent {
        std::mem::take(&mut self.frames)
    }

    /// Messages that were taken back.
    pub(crate) fn send_again(&mut self, frames: Sent) {
        self.frames.extend(frames);
    }
}

/// The disk.
impl<S: Store + ?Sized> Outbox<S> {
    pub(crate) fn store(&self) -> &S {
        &self.store
    }

    /// Journals, and only then lets messages out.
    pub(crate) fn flush(&mut self) -> Result<Sent, StoreError> {
        if !self.records.is_empty() {
            self.journal()?;
        }
        Ok(std::mem::take(&mut self.frames))
    }

    fn journal(&mut self) -> Result<(), StoreError> {
        self.store.append(&std::mem::take(&mut self.records))
    }

    pub(crate) fn save_book(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.store.save_book(bytes)
    }

    /// Writes a release; its ledger is taken from the journal.
    pub(crate) fn stage(
        &mut self,
        run: RunId,
        epoch: u64,
        found: &RunResult,
    ) -> Result<Result<Hex<32>, String>, StoreError> {
        self.journal()?;
        self.store.stage(run, epoch, found)
    }

    /// Decided first, done second: after a crash in between it is done on restart.
    pub(crate) fn publish(&mut self, run: RunId, epoch: u64) -> Result<(), StoreError> {
        self.journal()?;
        self.store.publish(run, epoch)
    }

    /// Journaled first: a run whose release is gone must not look staged after a crash.
    pub(crate) fn discard(&mut self, run: RunId) -> Result<(), StoreError> {
        self.journal()?;
        self.store.discard(run)
    }

    /// A run that the journal has as published, or as given up: a crash may have cut it off.
    pub(crate) fn publish_again(&mut self, run: RunId, epoch: u64) -> Result<(), StoreError> {
        self.store.publish(run, epoch)
    }

    pub(crate) fn discard_again(&mut self, run: RunId) -> Result<(), StoreError> {
        self.store.discard(run)
    }

    pub(crate) fn part(&self, epoch: u64) -> Result<Option<EpochPart>, StoreError> {
        self.store.part(epoch)
    }
}
