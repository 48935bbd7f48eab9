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

use std::collections::BTreeMap;

use hedgerow_smc::{BurnBook, Coins, Head, Member, Message};
use rand::rngs::StdRng;
use serde_json::{Value, json};

use crate::clock::Time;
use crate::command::Command;
use crate::context::{Context, Custodian};
use crate::health::HealthCounts;
use crate::journal::{Record, What};
use crate::message::{Frame, FrameContent, Hex, JournalMessage, QuestionId, RunId};
use crate::outbox::Sent;
use crate::query::Queried;
use crate::question::{Totals, Unanswered, Work, Worked};
use crate::questions::Questions;
use crate::rejections::Rejected;
use crate::runs::{Ending, Runs};
use crate::settings::{Deadlines, Peer, Role};
use crate::statement::Signed;
use crate::store::{OpenError, Store, StoreError};

const HOUR_MS: u64 = 3_600_000;
/// A node that looks up only after this time was busy, or asleep.
const BUSY_MS: u64 = 1000;

/// Hands what comes in to runs, questions and the heads of journals, and lets out what they say.
#[derive(Debug)]
pub struct Node<S> {
    context: Context<S>,
    runs: Runs,
    questions: Questions,
    /// Since when proposals and questions of peers are counted.
    counted_since: u64,
}

impl<S: Store + 'static> Node<S> {
    /// Reads the journal and the book, ends what a restart ends, and asks about what is in doubt.
    pub fn open(custodian: Custodian, mut store: S, mut rng: StdRng, time: Time) -> Result<(Node<S>, Sent), OpenError> {
        let history = store.history()?;
        let lifetime_ms = Questions::lifetime_ms(custodian.deadlines.answer.as_millis() as u64);
        let questions = store.questions(time.unix_ms.saturating_sub(lifetime_ms))?;
        let book = read_book(&mut store, &history, &mut rng)?;
        let mut node = Node {
            context: Context::new(custodian, store, book, rng, time),
            runs: Runs::default(),
            questions: Questions::after_restart(questions),
            counted_since: time.steady_ms,
        };
        let terms = node.context.terms;
        node.context.outbox.note_own(What::Opened, None, json!({ "terms": Hex(terms) }));
        node.runs.replay(&mut node.context, &history)?;
        let mut sent = node.flush()?;
        node.context.start_heads();
        sent.extend(node.flush()?);
        Ok((node, sent))
    }

    /// Executes a command of the operator; the answer is for the operator alone.
    pub fn command(&mut self, time: Time, command: &Command) -> Result<(Result<Value, String>, Sent), StoreError> {
        self.enter(time);
        let Node { context, runs, .. } = self;
        let answer = match command {
            Command::Status => Ok(self.status()),
            Command::Propose { operator, without } => runs.propose(context, operator, without)?,
            Command::Approve { operator, plan, insist } => runs.approve(context, operator, plan, *insist)?,
            Command::Withdraw { operator } => runs.withdraw(context, operator)?,
            Command::Resolve { operator, why } => runs.resolve(context, operator, why)?,
        };
        Ok((answer, self.flush()?))
    }

    /// A frame from a peer whom the transport has authenticated.
    pub fn receive(&mut self, time: Time, from: &str, frame: Frame) -> Result<Sent, StoreError> {
        self.enter(time);
        let known = self.context.custodian.peers.iter().find(|peer| peer.member.name == from);
        let signed = frame.signed();
        let refused = match known.map(|peer| (peer.role, signed.verifies(&peer.member.signing_key))) {
            Some((Role::Custodian, true)) => {
                self.context.versions.read(from);
                self.heard(from, frame.content, &signed)?;
                return self.flush();
            }
            Some((Role::Custodian, false)) => "a message that is not signed with its key",
            Some((Role::Analyst | Role::Auditor, _)) => "an analyst takes no part in runs",
            None => "an unknown peer",
        };
        self.context.outbox.rejected(from, refused);
        self.flush()
    }

    /// A peer's new connection has frames of another version. It cannot read what this node says
    /// either, and learns so from a message of this version.
    pub fn heard_version(&mut self, time: Time, from: &str, version: u8) -> Result<Sent, StoreError> {
        self.enter(time);
        let Node { context, runs, questions, .. } = self;
        context.versions.heard(from, version);
        let heads = context.own_heads();
        context.outbox.send_standing(vec![from.to_owned()], JournalMessage::Own { heads });
        runs.stop_unreadable(context)?;
        questions.stop_unreadable(context);
        self.flush()
    }

    /// The version of a peer's messages, where it is another one.
    pub fn other_version(&self, peer: &str) -> Option<u8> {
        self.context.versions.of(peer)
    }

    fn heard(&mut self, from: &str, content: FrameContent, signed: &Signed) -> Result<(), StoreError> {
        let Node { context, runs, questions, .. } = self;
        match content {
            FrameContent::Note(note) => runs.heard(context, from, note, signed),
            FrameContent::Asking(asking) => {
                let latest = runs.latest(context);
                questions.heard(context, latest, from, asking);
                Ok(())
            }
            FrameContent::Standing(standing) => self.heard_standing(from, standing, signed),
            FrameContent::Step(bytes) => match Message::session_of(&bytes) {
                Some(session) if runs.has_session(&session) => runs.stepped(context, from, &bytes, signed),
                Some(session) => {
                    questions.stepped(context, from, session, &bytes, signed);
                    Ok(())
                }
                None => Ok(()),
            },
        }
    }

    fn heard_standing(&mut self, from: &str, standing: JournalMessage, signed: &Signed) -> Result<(), StoreError> {
        let Node { context, runs, .. } = self;
        match standing {
            JournalMessage::Own { heads } => context.heard_own(from, heads),
            JournalMessage::After { heads } => context.heard_after(from, heads, signed),
            JournalMessage::Kept { rows } => context.heard_kept(from, rows),
            JournalMessage::Known { signed, further } => {
                if context.compare_heads(from, signed.as_deref(), further.as_deref(), |run| runs.reached(run))? {
                    runs.stop(context, "its journal is not the one that its peers know")?;
                }
                if !context.heads.confirm(from) {
                    return Ok(());
                }
                context.let_go();
                if !runs.is_open() {
                    context.hand_over();
                }
                runs.confirmed(context, from)?;
            }
        }
        Ok(())
    }

    /// Time passes: deadlines end runs, and what may have been lost is said again.
    pub fn tick(&mut self, time: Time) -> Result<Sent, StoreError> {
        self.enter(time);
        let Node { context, runs, questions, counted_since } = self;
        if time.steady_ms.saturating_sub(*counted_since) > HOUR_MS {
            *counted_since = time.steady_ms;
            runs.forget_hour();
            context.heads.forget_hour();
            questions.forget_hour();
        }
        context.outbox.note_rejections(false);
        if runs.has_found() {
            runs.stage(context)?;
        }
        questions.tick(context);
        context.tick_heads(runs.is_open());
        runs.tick(context)?;
        self.flush()
    }

    /// Whether work waits that the next tick does: what was sent before should leave first.
    pub fn has_work(&self) -> bool {
        self.runs.has_found()
    }

    /// Connections or messages that the transport rejected.
    pub fn reject(&mut self, time: Time, rejected: &[Rejected]) -> Result<(), StoreError> {
        self.enter(time);
        rejected.iter().for_each(|rejected| self.context.outbox.note_rejected(rejected));
        self.flush().map(|_| ())
    }

    /// The statements of analysts, each with its epoch.
    pub fn queried(&mut self, time: Time, queries: &[Queried]) -> Result<(), StoreError> {
        self.enter(time);
        for Queried { who, epoch, sql } in queries {
            self.context.outbox.note(What::Queried, None, who, json!({ "epoch": epoch, "sql": sql }));
        }
        self.flush().map(|_| ())
    }

    /// The daemon ends in good order.
    pub fn close(&mut self, time: Time) -> Result<Sent, StoreError> {
        self.enter(time);
        self.runs.stop(&mut self.context, "it was shut down")?;
        self.questions.close(&mut self.context);
        self.context.outbox.note_rejections(true);
        self.context.outbox.note_own(What::Closed, None, json!({}));
        self.flush()
    }

    /// Takes over what a reload has changed. While a run is open, its custodians and keys stay.
    pub fn reconfigure(
        &mut self,
        time: Time,
        operator: &str,
        (own_key, peers): ([u8; 32], Vec<Peer>),
        deadlines: Deadlines,
    ) -> Result<Result<Value, String>, StoreError> {
        self.enter(time);
        let custodian = &mut self.context.custodian;
        let own = Member { key: own_key, ..custodian.own.clone() };
        let (before, after) = (members(&custodian.peers), members(&peers));
        if let Some(open) = self.runs.open_run().filter(|_| before != after || own != custodian.own) {
            return Ok(Err(format!("{open}: custodians and keys change between runs")));
        }
        let only = |these: &BTreeMap<String, Member>, others: &BTreeMap<String, Member>| -> Vec<String> {
            these.keys().filter(|name| !others.contains_key(*name)).cloned().collect()
        };
        let rekeyed = |(name, member): &(&String, &Member)| before.get(*name).is_some_and(|old| old != *member);
        let rekeyed: Vec<&String> = after.iter().filter(rekeyed).map(|(name, _)| name).collect();
        let changes = json!({
            "added": only(&after, &before),
            "removed": only(&before, &after),
            "new_keys": rekeyed,
            "own_key": Hex(own_key),
        });
        (custodian.own, custodian.peers, custodian.deadlines) = (own, peers, deadlines);
        self.context.outbox.note(What::Reloaded, None, operator, changes.clone());
        self.flush()?;
        Ok(Ok(changes))
    }

    /// The digest of what this node agrees to.
    pub fn terms(&self) -> hedgerow_smc::Digest {
        self.context.terms
    }

    pub fn store(&self) -> &S {
        self.context.outbox.store()
    }

    /// The node's own figures for health and metrics.
    pub fn counts(&self) -> HealthCounts {
        HealthCounts {
            rejected: self.context.outbox.rejections(),
            questions: self.questions.count() as u64,
            peers: self.context.custodian.custodians().count() as u64,
            ..self.runs.counts()
        }
    }

    fn status(&self) -> Value {
        let Context { custodian, terms, .. } = &self.context;
        json!({
            "name": custodian.own.name,
            "terms": Hex(*terms),
            "epoch": self.epoch(),
            "rows": if custodian.agreed.apart { "apart" } else { "united" },
            "profile": custodian.profile.name(),
            "replaced": self.context.heads.replaced(),
            "open": self.runs.status(&self.context),
            "questions": self.questions.count(),
            "ended": self.runs.status_of_ended(),
        })
    }

    /// The number of the last published run; nothing before the first, while others may have
    /// published a later one, or where a peer knows another journal of this node.
    pub fn epoch(&self) -> Option<u64> {
        self.runs.latest(&self.context).epoch
    }

    /// The outcome of a run, if it has ended here.
    pub fn ending(&self, run: &RunId) -> Option<&Ending> {
        self.runs.ending(run)
    }

    /// It is this time now. Time in which the node was busy is not counted against its peers: it
    /// heard none of them.
    fn enter(&mut self, time: Time) {
        let away = time.steady_ms.saturating_sub(self.context.outbox.now());
        self.context.outbox.set_time(time);
        if away > BUSY_MS {
            self.runs.excuse(away, time.steady_ms);
            self.questions.excuse(away, time.steady_ms);
        }
    }

    fn flush(&mut self) -> Result<Sent, StoreError> {
        self.context.outbox.flush()
    }
}

/// Questions of analysts here, over rows that are apart.
impl<S: Store + 'static> Node<S> {
    /// Asks all custodians; what comes of it is in [`Node::take_answers`].
    pub fn ask(
        &mut self,
        time: Time,
        analyst: &str,
        epoch: u64,
        sql: &str,
    ) -> Result<Result<QuestionId, String>, StoreError> {
        self.enter(time);
        let latest = self.runs.latest(&self.context);
        let begun = self.questions.ask(&mut self.context, latest, analyst, epoch, sql);
        let sent = self.flush()?;
        debug_assert!(sent.is_empty(), "no message is sent before it is known what is needed");
        Ok(begun)
    }

    /// Work that a node does by itself; to be run and handed back to [`Node::worked`].
    pub fn take_work(&mut self) -> Vec<Work> {
        self.questions.take_work()
    }

    /// The questions that came to this node and are over.
    pub fn take_answers(&mut self) -> Vec<(QuestionId, Result<Totals, Unanswered>)> {
        self.questions.take_answers()
    }

    /// The client does not wait any longer for what becomes of a question.
    pub fn forget(&mut self, time: Time, id: QuestionId) -> Result<Sent, StoreError> {
        self.enter(time);
        self.questions.forget(&mut self.context, id);
        self.flush()
    }

    pub fn worked(&mut self, time: Time, worked: Worked) -> Result<Sent, StoreError> {
        self.enter(time);
        self.questions.ready(&mut self.context, worked);
        self.flush()
    }
}

/// The custodians among peers, by name.
fn members(peers: &[Peer]) -> BTreeMap<String, Member> {
    let custodians = peers.iter().filter(|peer| peer.role == Role::Custodian);
    custodians.map(|peer| (peer.member.name.clone(), peer.member.clone())).collect()
}

/// The book of runs, which must be as far as the journal.
fn read_book<S: Store>(store: &mut S, history: &[Record], rng: &mut StdRng) -> Result<BurnBook, OpenError> {
    match (store.book()?, last_head(history)) {
        (Some(bytes), Some(head)) => BurnBook::decode_after(&bytes, &head).map_err(OpenError::Book),
        (Some(bytes), None) => BurnBook::decode(&bytes).map_err(OpenError::Book),
        (None, Some(head)) => {
            let lost = hedgerow_smc::WireFault::RolledBack { found: 0, expected: head.entries };
            Err(OpenError::Book(lost))
        }
        (None, None) => {
            let book = BurnBook::new(&mut Coins::from_source(rng));
            store.save_book(&book.encode())?;
            Ok(book)
        }
    }
}

/// Where the book stood when the journal last spoke of it.
fn last_head(history: &[Record]) -> Option<Head> {
    let burned = history.iter().rev().find(|record| record.what == What::Burned)?;
    let mut detail = burned.detail.value();
    let digest: Hex<32> = serde_json::from_value(detail["head"].take()).ok()?;
    Some(Head { entries: detail["entries"].as_u64()?, digest: digest.0 })
}
