//! One custodian's node as a state machine: notes, messages of steps, commands of its operator and
//! the passing of time go in; notes and messages come out, after everything they rest on is stored.
//!
//! **All or none.** A node that has found the release writes it beside its place, journals that it
//! has *staged* it, and says so with the release's hash. A node that has heard that all have staged
//! the same release journals that it is *prepared* and signs that. The signatures of all custodians
//! are a certificate, and a run is published on a certificate and on nothing else. No certificate
//! exists without this node's signature, so before it is prepared it may give up, and afterwards
//! only a certificate or its operator ends the run: another custodian's word that it gave up, or
//! that it published, does not. A node that has staged does not give up by itself either, so that
//! others who are prepared do not wait in vain; after a crash it goes on from what is on the disk.
//!
//! A crash before that ends the run: keys and masks are gone, and a new run is proposed. Nothing is
//! rebuilt from saved coins.
//!
//! **Blame.** A node blames a custodian when it has two statements under that custodian's signature
//! that contradict each other (`evidence.rs`), and journals both. What it merely observed (silence,
//! a malformed message) is in the reason for which it gave up, and names no culprit.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use hedgerow_joint::{AgreedRef, Profile, Share};
use hedgerow_smc::baseline::Chances;
use hedgerow_smc::{BurnBook, Coins, Digest, Head, Member, SigningKey};
use rand::rngs::StdRng;
use serde_json::{Value, json};

use crate::answering::Questions;
use crate::certificate::Certificate;
use crate::clock::Time;
use crate::evidence::Evidence;
use crate::heads::Handing;
use crate::health::Counts;
use crate::journal::{Detail, Record, What};
use crate::message::{Because, Content, Frame, Hex, Note, Proposal, RunId, plain};
use crate::outlines::Outlines;
use crate::query::Queried;
use crate::rejections::{Hour, Kind, Rejected};
use crate::run::{Ending, Open, Phase};
use crate::settings::{Deadlines, Peer, Role};
use crate::statement::Signed;
use crate::steps::Execution;
use crate::store::{Store, StoreError};

/// After this time without progress a node repeats what it has said.
pub(crate) const REPEAT_MS: u64 = 1000;
/// One millisecond longer for this number of bytes: others need time for long vectors, and
/// repetitions would take more of it from them.
const REPEAT_BYTES_PER_MS: u64 = 1 << 10;
/// But before this part of the time after which a run is given up.
const REPEAT_PARTS_OF_SILENCE: u64 = 4;
pub(crate) const HOUR_MS: u64 = 3_600_000;

/// Reads this custodian's rows as they are now. An error holds nothing private.
pub type ReadRows = Box<dyn FnMut() -> Result<Share, String> + Send>;

/// The identity of a node, its terms, and its peers.
pub struct Custodian {
    pub own: Member,
    /// The signing key of this node; `own` has the public half.
    pub signing: Arc<SigningKey>,
    pub peers: Vec<Peer>,
    pub agreed: AgreedRef,
    pub deadlines: Deadlines,
    pub rows: ReadRows,
    pub outlines: Arc<Outlines>,
}

impl std::fmt::Debug for Custodian {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Custodian").field("own", &self.own).finish_non_exhaustive()
    }
}

/// A command of this node's operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    Status,
    /// With all custodians of the settings but those that are named.
    Propose {
        operator: String,
        without: Vec<String>,
    },
    /// `plan` is the digest, or at least its first 32 digits.
    Approve {
        operator: String,
        plan: String,
        insist: bool,
    },
    Withdraw {
        operator: String,
    },
    /// Gives up a run that is in doubt: the others may have published it.
    Resolve {
        operator: String,
        why: String,
    },
}

/// An outgoing message and its receivers.
pub type Sent = Vec<(String, Frame)>;

/// Why a node does not start.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the book of runs cannot be read: {0}")]
    Book(hedgerow_smc::WireFault),
    #[error("the journal has a row that it cannot have: {0}")]
    Journal(String),
}

#[derive(Debug)]
pub struct Node<S> {
    pub(crate) custodian: Custodian,
    pub(crate) terms: Digest,
    pub(crate) store: S,
    pub(crate) book: BurnBook,
    pub(crate) rng: StdRng,
    pub(crate) ended: BTreeMap<RunId, Ending>,
    /// The runs of `ended`, in that order.
    pub(crate) order: Vec<RunId>,
    pub(crate) epochs: u64,
    /// The certificate of the last epoch.
    pub(crate) previous: Option<Box<Certificate>>,
    pub(crate) open: Option<Open>,
    /// Statements of runs that have ended.
    pub(crate) past: VecDeque<Evidence>,
    /// By run, the custodian that was convicted.
    pub(crate) blamed: BTreeMap<RunId, String>,
    /// By peer, the last heads that it signed, and how many of them were kept in this hour.
    pub(crate) known_heads: BTreeMap<String, Signed>,
    pub(crate) heads_kept: BTreeMap<String, u32>,
    /// Which peers have said what they know of this node's journal, and when we last asked.
    pub(crate) heads_heard: BTreeSet<String>,
    pub(crate) heads_requested_at: u64,
    /// The heads of this node that peers are to keep.
    pub(crate) handing: Handing,
    /// That a restart ended a run, until peers have confirmed the journal that says so.
    pub(crate) held: Sent,
    /// By peer, its last proposal, until it has confirmed this node's journal.
    pub(crate) proposals: BTreeMap<String, (Note, Signed)>,
    pub(crate) opened_at: u64,
    /// Why this node answers nothing: a peer knows another journal of it.
    pub(crate) replaced: Option<String>,
    /// Questions over rows that are apart.
    pub(crate) questions: Questions,
    pub(crate) time: Time,
    pub(crate) records: Vec<Record>,
    pub(crate) outbox: Sent,
    /// By peer, how many proposals and questions were refused, and since when.
    pub(crate) refusals: BTreeMap<String, u32>,
    pub(crate) counted_since: u64,
    pub(crate) rejections: Hour,
}

impl<S: Store> Node<S> {
    /// Reads the journal and the book, ends what a restart ends, and asks about what is in doubt.
    pub fn open(custodian: Custodian, mut store: S, mut rng: StdRng, time: Time) -> Result<(Node<S>, Sent), OpenError> {
        let history = store.history()?;
        let lifetime_ms = Questions::lifetime_ms(custodian.deadlines.answer.as_millis() as u64);
        let questions = store.questions(time.unix_ms.saturating_sub(lifetime_ms))?;
        let head = last_head(&history);
        let book = match (store.book()?, head) {
            (Some(bytes), Some(head)) => BurnBook::decode_after(&bytes, &head).map_err(OpenError::Book)?,
            (Some(bytes), None) => BurnBook::decode(&bytes).map_err(OpenError::Book)?,
            (None, Some(head)) => {
                let lost = hedgerow_smc::WireFault::RolledBack { found: 0, expected: head.entries };
                return Err(OpenError::Book(lost));
            }
            (None, None) => {
                let book = BurnBook::new(&mut Coins::from_source(&mut rng));
                store.save_book(&book.encode())?;
                book
            }
        };
        let terms = custodian.agreed.digest(Profile::Masked, Chances::default());
        let mut node = Node {
            custodian,
            terms,
            store,
            book,
            rng,
            ended: BTreeMap::new(),
            order: Vec::new(),
            epochs: 0,
            previous: None,
            open: None,
            past: VecDeque::new(),
            blamed: BTreeMap::new(),
            known_heads: BTreeMap::new(),
            heads_kept: BTreeMap::new(),
            heads_heard: BTreeSet::new(),
            heads_requested_at: time.steady_ms,
            handing: Handing::default(),
            held: Vec::new(),
            proposals: BTreeMap::new(),
            opened_at: time.steady_ms,
            replaced: None,
            questions: Questions::after_restart(questions),
            time,
            records: Vec::new(),
            outbox: Vec::new(),
            refusals: BTreeMap::new(),
            counted_since: time.steady_ms,
            rejections: Hour::default(),
        };
        let own = node.custodian.own.name.clone();
        node.note(What::Opened, None, &own, json!({ "terms": Hex(terms) }));
        node.replay(&history)?;
        let mut sent = node.flush()?;
        node.handing = Handing::new(node.own_heads());
        node.ask_for_heads();
        sent.extend(node.flush()?);
        Ok((node, sent))
    }

    fn replay(&mut self, history: &[Record]) -> Result<(), OpenError> {
        let mut unfinished: Option<Unfinished> = None;
        let mut last = None;
        for record in history {
            self.replay_heads(record);
            let Some(run) = record.run else { continue };
            let broken = |what: &str| OpenError::Journal(format!("{what} of run {run}"));
            match record.what {
                What::Proposed => {
                    let proposal = serde_json::from_str(record.detail.text()).map_err(|_| broken("a proposal"))?;
                    unfinished = Some(Unfinished { proposal, staged: None, prepared: false });
                }
                What::Staged => {
                    let open = unfinished.as_mut().filter(|open| open.proposal.run == run);
                    let mut detail = record.detail.value();
                    let mut hash = |key: &str| serde_json::from_value::<Hex<32>>(detail[key].take()).ok();
                    let hashes = [hash("plan"), hash("committed"), hash("release")];
                    let [Some(plan), Some(committed), Some(release)] = hashes else {
                        return Err(broken("the release"));
                    };
                    open.ok_or_else(|| broken("the release"))?.staged = Some([plan, committed, release]);
                }
                What::Prepared => {
                    let open = unfinished.as_mut().filter(|open| open.proposal.run == run && open.staged.is_some());
                    open.ok_or_else(|| broken("the preparation"))?.prepared = true;
                }
                What::Published => {
                    let certificate = serde_json::from_value(record.detail.value()["certificate"].take());
                    let certificate: Box<Certificate> = certificate.map_err(|_| broken("the certificate"))?;
                    let epoch = certificate.proposal.epoch;
                    last = Some((run, epoch));
                    self.epochs = epoch;
                    self.previous = Some(certificate.clone());
                    self.end(run, Ending::Published { certificate });
                    unfinished = None;
                }
                What::Blamed => {
                    self.blamed.insert(run, record.who.clone());
                }
                What::Aborted | What::Refused => {
                    let mut detail = record.detail.value();
                    let why = detail["why"].as_str().unwrap_or_default().to_owned();
                    let because: Option<Box<Because>> = serde_json::from_value(detail["because"].take()).ok().flatten();
                    self.end(run, Ending::Aborted { why, because });
                    if unfinished.as_ref().is_some_and(|open| open.proposal.run == run) {
                        self.store.discard(run)?;
                        unfinished = None;
                    }
                }
                _ => {}
            }
        }
        if let Some((run, epoch)) = last {
            // A crash may have cut off its last step.
            self.store.publish(run, epoch)?;
        }
        let Some(Unfinished { proposal, staged, prepared }) = unfinished else { return Ok(()) };
        let roster = proposal.roster().map_err(|fault| OpenError::Journal(fault.to_string()))?;
        let me = roster.members().iter().position(|member| member.name == self.custodian.own.name);
        let me = me.ok_or_else(|| OpenError::Journal("a roster without this node".to_owned()))?;
        let phase = if prepared { Phase::Prepared } else { Phase::Staged };
        let mut open = Open::new(proposal, roster, me as u16, phase, self.time.steady_ms);
        open.in_doubt = true;
        let Some([plan, committed, release]) = staged else {
            self.open = Some(open);
            self.abort("it was restarted")?;
            // An older copy of the folder may have forgotten that the run went on.
            self.held = std::mem::take(&mut self.outbox);
            return Ok(());
        };
        (open.approved, open.committed, open.release) = (Some(plan), Some(committed), Some(release));
        self.open = Some(open);
        self.repeat_outcome();
        Ok(())
    }

    /// Executes a command of the operator; the answer is for the operator alone.
    pub fn command(&mut self, time: Time, command: &Command) -> Result<(Result<Value, String>, Sent), StoreError> {
        self.enter(time);
        let answer = match command {
            Command::Status => Ok(self.status()),
            Command::Propose { operator, without } => self.propose(operator, without)?,
            Command::Approve { operator, plan, insist } => self.approve(operator, plan, *insist)?,
            Command::Withdraw { operator } => self.withdraw(operator)?,
            Command::Resolve { operator, why } => self.resolve(operator, why)?,
        };
        Ok((answer, self.flush()?))
    }

    /// A frame from a peer whom the transport has authenticated.
    pub fn receive(&mut self, time: Time, from: &str, frame: Frame) -> Result<Sent, StoreError> {
        self.enter(time);
        let known = self.custodian.peers.iter().find(|peer| peer.member.name == from);
        let signed = frame.signed();
        match known.map(|peer| (peer.role, signed.verifies(&peer.member.signing_key))) {
            Some((Role::Custodian, true)) => match frame.content {
                Content::Note(note) => self.heard(from, note, &signed)?,
                Content::Asking(asking) => self.heard_asking(from, asking)?,
                Content::Standing(standing) => self.heard_standing(from, standing, &signed)?,
                Content::Step(bytes) => self.stepped(from, &bytes, &signed)?,
            },
            Some((Role::Custodian, false)) => self.rejected(from, "a message that is not signed with its key"),
            Some((Role::Analyst | Role::Auditor, _)) => self.rejected(from, "an analyst takes no part in runs"),
            None => self.rejected(from, "an unknown peer"),
        }
        self.flush()
    }

    /// Time passes: deadlines end runs, and what may have been lost is said again.
    pub fn tick(&mut self, time: Time) -> Result<Sent, StoreError> {
        self.enter(time);
        if time.steady_ms.saturating_sub(self.counted_since) > HOUR_MS {
            self.counted_since = time.steady_ms;
            self.refusals.clear();
            self.heads_kept.clear();
            self.forget_hour();
        }
        self.note_rejections(false);
        if self.open.as_ref().is_some_and(|open| open.found.is_some()) {
            self.stage()?;
        }
        self.tick_questions()?;
        self.tick_heads();
        let now = time.steady_ms;
        let Deadlines { silence, approval, .. } = self.custodian.deadlines;
        let Some(open) = &mut self.open else { return self.flush() };
        let silence_ms = silence.as_millis() as u64;
        let silent = now.saturating_sub(open.progressed_at) > silence_ms;
        let bytes = open.execution.as_ref().map_or(0, Execution::sent_bytes);
        let repeat_after = repeat_after(bytes, silence_ms);
        match open.phase {
            Phase::Proposed if now.saturating_sub(open.opened_at) > approval.as_millis() as u64 => {
                let late = open.lacking(&open.approvals, Option::is_some);
                let why = format!("no approval in time from {}", late.join(", "));
                self.abort(&why)?;
            }
            Phase::Executing if silent => {
                let waits_for = open.execution.as_ref().map(Execution::waits_for).unwrap_or_default();
                let names: Vec<String> = waits_for.iter().map(|place| open.name_of(*place)).collect();
                let why = format!("no message in {} s from {}", silence.as_secs(), names.join(", "));
                self.abort(&why)?;
            }
            phase if now.saturating_sub(open.repeated_at.max(open.progressed_at)) >= repeat_after => {
                open.in_doubt |= matches!(phase, Phase::Staged | Phase::Prepared) && silent;
                open.repeated_at = now;
                self.repeat();
            }
            _ => {}
        }
        self.flush()
    }

    /// Whether work waits that the next tick does: what was sent before should leave first.
    pub fn has_work(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.found.is_some())
    }

    /// Connections or messages that the transport rejected.
    pub fn reject(&mut self, time: Time, rejected: &[Rejected]) -> Result<(), StoreError> {
        self.enter(time);
        rejected.iter().for_each(|rejected| self.note_rejected(rejected));
        self.flush().map(|_| ())
    }

    /// The statements of analysts, each with its epoch.
    pub fn queried(&mut self, time: Time, queries: &[Queried]) -> Result<(), StoreError> {
        self.enter(time);
        for Queried { who, epoch, sql } in queries {
            self.note(What::Queried, None, who, json!({ "epoch": epoch, "sql": sql }));
        }
        self.flush().map(|_| ())
    }

    /// The daemon ends in good order.
    pub fn close(&mut self, time: Time) -> Result<Sent, StoreError> {
        self.enter(time);
        let own = self.custodian.own.name.clone();
        let ends = |open: &Open| matches!(open.phase, Phase::Proposed | Phase::Executing);
        if self.open.as_ref().is_some_and(ends) {
            self.abort("it was shut down")?;
        }
        self.close_questions()?;
        self.note_rejections(true);
        self.note(What::Closed, None, &own, json!({}));
        self.flush()
    }

    /// The digest of what this node agrees to.
    pub fn terms(&self) -> Digest {
        self.terms
    }

    pub fn store(&self) -> &S {
        &self.store
    }

    /// The node's own figures for health and metrics.
    pub fn counts(&self) -> Counts {
        let published = self.ended.values().filter(|ending| matches!(ending, Ending::Published { .. })).count() as u64;
        Counts {
            published,
            aborted: self.ended.len() as u64 - published,
            rejected: self.rejections.totals(),
            open: self.open.is_some(),
            in_doubt: self.open.as_ref().is_some_and(|open| open.in_doubt),
            questions: self.open_questions() as u64,
            peers: self.custodian.peers.iter().filter(|peer| peer.role == Role::Custodian).count() as u64,
            ..Counts::default()
        }
    }

    /// The number of the last published run; nothing before the first, while others may have
    /// published a later one, or where a peer knows another journal of this node.
    pub fn epoch(&self) -> Option<u64> {
        let doubt = self.open.as_ref().is_some_and(|open| open.phase == Phase::Prepared);
        (self.epochs > 0 && !doubt && self.may_answer()).then_some(self.epochs)
    }

    /// The outcome of a run, if it has ended here.
    pub fn ending(&self, run: &RunId) -> Option<&Ending> {
        self.ended.get(run)
    }
}

/// A run that a restart found open.
struct Unfinished {
    proposal: Proposal,
    /// The digest that was approved, that of the plan in it, and the hash of the release.
    staged: Option<[Hex<32>; 3]>,
    prepared: bool,
}

impl<S: Store> Node<S> {
    /// It is this time now. Time in which the node was busy is not counted against its peers: it
    /// heard none of them.
    pub(crate) fn enter(&mut self, time: Time) {
        let away = time.steady_ms.saturating_sub(self.time.steady_ms);
        self.time = time;
        if away > BUSY_MS {
            if let Some(open) = &mut self.open {
                open.progressed_at = (open.progressed_at + away).min(time.steady_ms);
            }
            self.excuse_questions(away);
        }
    }

    pub(crate) fn rejected(&mut self, whom: &str, why: &str) {
        let (whom, why) = (whom.to_owned(), why.to_owned());
        self.note_rejected(&Rejected { kind: Kind::Message, whom, why, times: 1 });
    }

    fn note_rejected(&mut self, rejected: &Rejected) {
        let Rejected { whom, why, .. } = rejected;
        let rejected = Rejected { whom: plain(whom), why: plain(why), ..rejected.clone() };
        if let Some(detail) = self.rejections.add(&rejected, self.time.unix_ms) {
            self.note(What::Rejected, None, &rejected.whom, detail);
        }
    }

    /// Counts of rejections that are not in the journal one by one.
    fn note_rejections(&mut self, ends: bool) {
        for counts in self.rejections.due(self.time.unix_ms, ends) {
            self.note(What::Rejected, None, "several", counts);
        }
    }

    pub(crate) fn end(&mut self, run: RunId, ending: Ending) {
        if self.ended.insert(run, ending).is_none() {
            self.order.push(run);
        }
    }

    pub(crate) fn note(&mut self, what: What, run: Option<RunId>, who: &str, detail: impl Into<Detail>) {
        let detail = detail.into();
        self.records.push(Record { at: self.time.unix_ms, what, run, who: who.to_owned(), detail });
    }

    /// Journals, and only then lets messages out.
    pub(crate) fn flush(&mut self) -> Result<Sent, StoreError> {
        if !self.records.is_empty() {
            self.store.append(&std::mem::take(&mut self.records))?;
        }
        Ok(std::mem::take(&mut self.outbox))
    }
}

/// A node that looks up only after this time was busy, or asleep.
const BUSY_MS: u64 = 1000;

/// How long after the last progress what takes this number of bytes is said again.
pub(crate) fn repeat_after(bytes: u64, silence_ms: u64) -> u64 {
    let latest = (silence_ms / REPEAT_PARTS_OF_SILENCE).max(REPEAT_MS);
    (REPEAT_MS + bytes / REPEAT_BYTES_PER_MS).min(latest)
}

/// Where the book stood when the journal last spoke of it.
fn last_head(history: &[Record]) -> Option<Head> {
    let burned = history.iter().rev().find(|record| record.what == What::Burned)?;
    let mut detail = burned.detail.value();
    let digest: Hex<32> = serde_json::from_value(detail["head"].take()).ok()?;
    Some(Head { entries: detail["entries"].as_u64()?, digest: digest.0 })
}
