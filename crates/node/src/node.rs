//! One custodian's node as a state machine: notes, messages of steps, commands of its operator and
//! the passing of time go in; notes and messages come out, after everything they rest on is stored.
//!
//! **All or none.** A node that has found the release writes it beside its place, journals that it
//! is *prepared*, and says so. From then on it cannot give up. Whoever has heard from all that they
//! are prepared publishes, and says so. A node that gives up before journals that, and never
//! prepares that run; so *aborted* from anybody means that nobody has published, and *published*
//! from anybody means that all are prepared. A node that was restarted while prepared is in doubt:
//! it repeats its question until one of the two is answered, or all say that they are prepared.
//!
//! A crash before that ends the run: keys and masks are gone, and a new run is proposed. Nothing is
//! rebuilt from saved coins.

use std::collections::BTreeMap;
use std::sync::Arc;

use hedgerow_joint::{AgreedRef, Profile, Share};
use hedgerow_smc::baseline::Chances;
use hedgerow_smc::{BurnBook, Coins, Digest, Head, Member};
use rand::rngs::StdRng;
use serde_json::{Value, json};

use crate::answering::Questions;
use crate::endpoint::Queried;
use crate::health::Counts;
use crate::journal::{Detail, Record, What};
use crate::message::{Frame, Hex, Proposal, RunId, plain};
use crate::outlines::Outlines;
use crate::run::{Ending, Open, Phase};
use crate::settings::{Deadlines, Peer, Role};
use crate::steps::Execution;
use crate::store::{Store, StoreError};

/// After so long without progress a node repeats what it has said.
pub(crate) const REPEAT_MS: u64 = 1000;
/// So much longer for every so many bytes of it: others need time for long vectors, and repetitions
/// would take more of it from them.
const REPEAT_BYTES_PER_MS: u64 = 1 << 10;
/// But before so large a part of the time after which somebody is blamed.
const REPEAT_PARTS_OF_SILENCE: u64 = 4;
/// Rejected connections and messages in the journal, in an hour.
const REJECTIONS_MAX: u32 = 600;
const HOUR_MS: u64 = 3_600_000;

/// Reads this custodian's rows as they are now. An error holds nothing private.
pub type ReadRows = Box<dyn FnMut() -> Result<Share, String> + Send>;

/// When something happens: for deadlines, and for the journal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Time {
    /// Milliseconds that never go back.
    pub steady_ms: u64,
    /// Milliseconds since 1970.
    pub unix_ms: u64,
}

/// Who a node is, what it agrees to, and whom it knows.
pub struct Custodian {
    pub own: Member,
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

/// What the operator of this node asks of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    Status,
    /// With all custodians of the settings but those that are named.
    Propose {
        operator: String,
        without: Vec<String>,
    },
    /// `plan` is the digest, or its first digits.
    Approve {
        operator: String,
        plan: String,
        insist: bool,
    },
    Withdraw {
        operator: String,
    },
}

/// What goes out: to whom, and what.
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
    pub(crate) open: Option<Open>,
    /// Questions over rows that are apart.
    pub(crate) questions: Questions,
    pub(crate) time: Time,
    pub(crate) records: Vec<Record>,
    pub(crate) outbox: Sent,
    /// By peer, how many proposals and questions were turned away; and how many rejections there
    /// were; since when.
    pub(crate) refusals: BTreeMap<String, u32>,
    pub(crate) rejections: u32,
    pub(crate) counted_since: u64,
    /// Since the node was started.
    pub(crate) rejected_in_all: u64,
}

impl<S: Store> Node<S> {
    /// Reads the journal and the book, ends what a restart ends, and asks about what is in doubt.
    pub fn open(custodian: Custodian, mut store: S, mut rng: StdRng, time: Time) -> Result<(Node<S>, Sent), OpenError> {
        let history = store.history()?;
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
            open: None,
            questions: Questions::default(),
            time,
            records: Vec::new(),
            outbox: Vec::new(),
            refusals: BTreeMap::new(),
            rejections: 0,
            counted_since: time.steady_ms,
            rejected_in_all: 0,
        };
        let own = node.custodian.own.name.clone();
        node.note(What::Opened, None, &own, json!({ "terms": Hex(terms) }));
        node.replay(&history)?;
        let sent = node.flush()?;
        Ok((node, sent))
    }

    fn replay(&mut self, history: &[Record]) -> Result<(), OpenError> {
        let mut unfinished: Option<(Proposal, bool)> = None;
        let mut last = None;
        for record in history {
            let Some(run) = record.run else { continue };
            let broken = |what: &str| OpenError::Journal(format!("{what} of run {run}"));
            match record.what {
                What::Proposed => {
                    let proposal = serde_json::from_str(record.detail.text()).map_err(|_| broken("a proposal"))?;
                    unfinished = Some((proposal, false));
                }
                What::Prepared => {
                    let open = unfinished.as_mut().filter(|(proposal, _)| proposal.run == run);
                    open.ok_or_else(|| broken("the preparation"))?.1 = true;
                }
                What::Published => {
                    let epoch = record.detail.value()["epoch"].as_u64().ok_or_else(|| broken("the epoch"))?;
                    last = Some((run, epoch));
                    self.epochs = epoch;
                    self.end(run, Ending::Published { epoch });
                    unfinished = None;
                }
                What::Aborted | What::Refused => {
                    let detail = record.detail.value();
                    let text = |key: &str| detail[key].as_str().map(str::to_owned);
                    let why = text("why").unwrap_or_default();
                    self.end(run, Ending::Aborted { why, blamed: text("blamed") });
                    if unfinished.as_ref().is_some_and(|(proposal, _)| proposal.run == run) {
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
        let Some((proposal, prepared)) = unfinished else { return Ok(()) };
        let roster = proposal.roster().map_err(|fault| OpenError::Journal(fault.to_string()))?;
        let me = roster.members().iter().position(|member| member.name == self.custodian.own.name);
        let me = me.ok_or_else(|| OpenError::Journal("a roster without this node".to_owned()))?;
        let mut open = Open::new(proposal, roster, me as u16, Phase::Prepared, self.time.steady_ms);
        open.prepared[me] = prepared;
        open.in_doubt = true;
        self.open = Some(open);
        if prepared {
            self.repeat_prepared();
        } else {
            let own = self.custodian.own.name.clone();
            self.abort("it was restarted", Some(own))?;
        }
        Ok(())
    }

    /// What the operator asks for; the answer is for the operator's eyes.
    pub fn command(&mut self, time: Time, command: &Command) -> Result<(Result<Value, String>, Sent), StoreError> {
        self.enter(time);
        let answer = match command {
            Command::Status => Ok(self.status()),
            Command::Propose { operator, without } => self.propose(operator, without)?,
            Command::Approve { operator, plan, insist } => self.approve(operator, plan, *insist)?,
            Command::Withdraw { operator } => self.withdraw(operator)?,
        };
        Ok((answer, self.flush()?))
    }

    /// A frame from a peer whom the transport has authenticated.
    pub fn receive(&mut self, time: Time, from: &str, frame: Frame) -> Result<Sent, StoreError> {
        self.enter(time);
        let known = self.custodian.peers.iter().find(|peer| peer.member.name == from);
        match known.map(|peer| peer.role) {
            Some(Role::Custodian) => match frame {
                Frame::Note(note) => self.heard(from, note)?,
                Frame::Asking(asking) => self.heard_asking(from, asking)?,
                Frame::Step(bytes) => self.stepped(from, &bytes)?,
            },
            Some(Role::Analyst | Role::Auditor) => self.rejected(from, "an analyst takes no part in runs"),
            None => self.rejected(from, "nobody whom this node knows"),
        }
        self.flush()
    }

    /// Time passes: deadlines end runs, and what may have been lost is said again.
    pub fn tick(&mut self, time: Time) -> Result<Sent, StoreError> {
        self.enter(time);
        if time.steady_ms.saturating_sub(self.counted_since) > HOUR_MS {
            (self.rejections, self.counted_since) = (0, time.steady_ms);
            self.refusals.clear();
            self.forget_hour();
        }
        if self.open.as_ref().is_some_and(|open| open.found.is_some()) {
            self.prepare()?;
        }
        self.tick_questions()?;
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
                self.abort(&why, late.first().cloned())?;
            }
            Phase::Executing if silent => {
                let waits_for = open.execution.as_ref().map(Execution::waits_for).unwrap_or_default();
                let names: Vec<String> = waits_for.iter().map(|place| open.name_of(*place)).collect();
                let why = format!("no message in {} s from {}", silence.as_secs(), names.join(", "));
                self.abort(&why, names.first().cloned())?;
            }
            phase if now.saturating_sub(open.repeated_at.max(open.progressed_at)) >= repeat_after => {
                open.in_doubt |= phase == Phase::Prepared && silent;
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

    /// A connection or message that the transport turned away.
    pub fn reject(&mut self, time: Time, whom: &str, why: &str) -> Result<(), StoreError> {
        self.enter(time);
        self.rejected(whom, why);
        self.flush().map(|_| ())
    }

    /// What analysts queried, each with the epoch and the statement.
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
        if self.open.as_ref().is_some_and(|open| open.phase != Phase::Prepared) {
            self.abort("it was shut down", Some(own.clone()))?;
        }
        self.close_questions()?;
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

    /// What health and metrics say of the node itself.
    pub fn counts(&self) -> Counts {
        let published = self.ended.values().filter(|ending| matches!(ending, Ending::Published { .. })).count() as u64;
        Counts {
            published,
            aborted: self.ended.len() as u64 - published,
            rejected: self.rejected_in_all,
            open: self.open.is_some(),
            in_doubt: self.open.as_ref().is_some_and(|open| open.in_doubt),
            questions: self.open_questions() as u64,
            peers: self.custodian.peers.iter().filter(|peer| peer.role == Role::Custodian).count() as u64,
            peers_connected: 0,
        }
    }

    /// The number of the last published run; nothing while a run is in doubt, or before the first.
    pub fn epoch(&self) -> Option<u64> {
        let doubt = self.open.as_ref().is_some_and(|open| open.phase == Phase::Prepared);
        (self.epochs > 0 && !doubt).then_some(self.epochs)
    }

    /// What happened to a run, if it has ended here.
    pub fn ending(&self, run: &RunId) -> Option<&Ending> {
        self.ended.get(run)
    }
}

impl<S: Store> Node<S> {
    /// It is this time now. While the node did not look up it heard nobody, so that is not counted
    /// against anybody.
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
        self.rejections += 1;
        self.rejected_in_all += 1;
        if self.rejections <= REJECTIONS_MAX {
            self.note(What::Rejected, None, &plain(whom), json!({ "why": plain(why) }));
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

/// A node that looks up only after so long was busy, or asleep.
const BUSY_MS: u64 = 1000;

/// How long after the last progress so many bytes are said again.
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
