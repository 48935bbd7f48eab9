//! Heads of journals and books, which peers keep for each other: a node whose folder was replaced
//! by an older copy, or whose journal was rewritten, learns it from any peer, and answers nothing.
//!
//! Every custodian signs its heads with the commitment of each run and again after the run, and
//! peers journal both. When a node starts it asks its peers for the last heads of its own that they
//! have, and looks them up in its journal. It hands over new ones when they have confirmed it:
//! heads of an older copy would take the place of those that show what it is.

use std::collections::BTreeSet;

use hedgerow_smc::SigningKey;
use serde_json::json;

use crate::journal::{Record, What};
use crate::message::{Content, Heads, Hex, Note, RunId, Standing};
use crate::node::{Node, REPEAT_MS, Sent};
use crate::run::Phase;
use crate::settings::Role;
use crate::statement::{Signed, Statement};
use crate::store::{Store, StoreError};

/// Heads of one peer that are journaled, in an hour.
const KEPT_MAX: u32 = 60;
/// How often the time after which heads are handed over again doubles: to about a minute.
const DOUBLED_MAX: u32 = 6;

/// The heads in a statement that has some.
pub(crate) fn heads_of(signed: &Signed) -> Option<Heads> {
    match &signed.statement {
        Statement::Heads { heads } => Some(*heads),
        Statement::Note { note: Note::Joined { heads, .. } } => Some(*heads),
        _ => None,
    }
}

/// The run that a statement with heads is about. They are signed before the run is journaled: a
/// copy of the folder of just before it has their row, and lacks the run.
pub(crate) fn joined_run(signed: &Signed) -> Option<RunId> {
    match &signed.statement {
        Statement::Note { note: Note::Joined { run, .. } } => Some(*run),
        _ => None,
    }
}

/// Signs where a journal stands: for its own file, and for an auditor.
pub fn sign_heads(heads: Heads, key: &SigningKey) -> Signed {
    Statement::Heads { heads }.sign(key)
}

/// The heads of this node that peers are to keep: those of its start, then those after each run.
#[derive(Debug, Default)]
pub(crate) struct Handing {
    /// They stay as they are while they are repeated, so that a peer journals them once.
    heads: Heads,
    kept_by: BTreeSet<String>,
    sent_at: u64,
    /// How often they were sent.
    times: u32,
}

impl Handing {
    pub(crate) fn new(heads: Heads) -> Handing {
        Handing { heads, ..Handing::default() }
    }

    /// A peer may be away for days: the time from one repetition to the next doubles.
    fn repeat_after(&self) -> u64 {
        REPEAT_MS << self.times.saturating_sub(1).min(DOUBLED_MAX)
    }
}

/// The statements of this node about its own journal, and what it may say while peers have not
/// confirmed it.
impl<S: Store> Node<S> {
    pub(crate) fn own_heads(&self) -> Heads {
        let (rows, journal) = self.store.head();
        let book = self.book.head();
        Heads { rows, journal, entries: book.entries, book: Hex(book.digest) }
    }

    /// The custodians that this holds for.
    fn custodians(&self, which: impl Fn(&String) -> bool) -> Vec<String> {
        let custodians = self.custodian.peers.iter().filter(|peer| peer.role == Role::Custodian);
        custodians.map(|peer| &peer.member.name).filter(|name| which(name)).cloned().collect()
    }

    fn send_standing(&mut self, names: Vec<String>, standing: Standing) {
        let frame = self.sign(Content::Standing(standing));
        self.outbox.extend(names.into_iter().map(|name| (name, frame.clone())));
    }

    /// Asks every custodian that has not answered yet what it knows of this node's journal.
    pub(crate) fn ask_for_heads(&mut self) {
        let names = self.custodians(|name| !self.heads_heard.contains(name));
        if !names.is_empty() {
            self.heads_requested_at = self.time.steady_ms;
            self.send_standing(names, Standing::Own { heads: self.own_heads() });
        }
    }

    /// A run has ended: peers are to know the journal that says so.
    pub(crate) fn hand_over_anew(&mut self) {
        self.handing = Handing::new(self.own_heads());
        self.hand_over();
    }

    /// Not during a run: heads that are signed now would overtake those that this node joined with,
    /// which are repeated as they were signed, and peers would take them for an older journal's.
    fn hand_over(&mut self) {
        if self.open.is_some() || !self.may_answer() {
            return;
        }
        let lacks = |name: &String| self.heads_heard.contains(name) && !self.handing.kept_by.contains(name);
        let names = self.custodians(lacks);
        if !names.is_empty() {
            self.handing.sent_at = self.time.steady_ms;
            self.handing.times = self.handing.times.saturating_add(1);
            self.send_standing(names, Standing::After { heads: self.handing.heads });
        }
    }

    pub(crate) fn tick_heads(&mut self) {
        let since = |before: u64| self.time.steady_ms.saturating_sub(before);
        let (ask, hand) = (since(self.heads_requested_at), since(self.handing.sent_at));
        if ask >= REPEAT_MS {
            self.ask_for_heads();
        }
        if hand >= self.handing.repeat_after() {
            self.hand_over();
        }
        self.let_go();
    }

    /// Sends what waited until peers have confirmed the journal.
    fn let_go(&mut self) {
        if self.held.is_empty() || !self.may_answer() {
            return;
        }
        let held = std::mem::take(&mut self.held);
        let (free, held): (Sent, Sent) = held.into_iter().partition(|(to, _)| self.heads_heard.contains(to));
        self.held = held;
        self.outbox.extend(free);
    }

    /// Whether this node may answer: all custodians have said what they know of its journal (one
    /// alone may hold it back), or those who are away had time to.
    pub(crate) fn may_answer(&self) -> bool {
        let waited = self.time.steady_ms.saturating_sub(self.opened_at);
        let mut custodians = self.custodian.peers.iter().filter(|peer| peer.role == Role::Custodian);
        let settled = custodians.all(|peer| self.heads_heard.contains(&peer.member.name))
            || waited > self.custodian.deadlines.answer.as_millis() as u64;
        self.replaced.is_none() && settled
    }

    /// Whether this node may tell a custodian that it knows nothing of a run, or that it gave the
    /// run up: that one has confirmed its journal too. An older copy of the folder would deny what
    /// the node has signed.
    pub(crate) fn may_deny(&self, to: &str) -> bool {
        self.may_answer() && self.heads_heard.contains(to)
    }
}

/// The statements of peers about this journal, and of this node about theirs.
impl<S: Store> Node<S> {
    pub(crate) fn heard_standing(&mut self, from: &str, standing: Standing, signed: &Signed) -> Result<(), StoreError> {
        match standing {
            Standing::Own { heads } => {
                let known = self.known_heads.get(from).cloned();
                if known.as_ref().and_then(heads_of).is_some_and(|known| known.rows > heads.rows) {
                    tracing::warn!("the journal of {from} is older than it was");
                }
                self.send_standing(vec![from.to_owned()], Standing::Known { signed: known });
                Ok(())
            }
            Standing::Known { signed } => {
                if let Some(signed) = signed {
                    self.compare_heads(from, &signed)?;
                }
                if !self.heads_heard.insert(from.to_owned()) {
                    return Ok(());
                }
                self.let_go();
                self.hand_over();
                if let Some((proposal, signed)) = self.proposals.remove(from) {
                    self.heard(from, proposal, &signed)?;
                }
                self.start_if_approved()
            }
            Standing::After { heads } => {
                self.heard_after(from, heads, signed);
                Ok(())
            }
            Standing::Kept { rows } => {
                if rows >= self.handing.heads.rows {
                    self.handing.kept_by.insert(from.to_owned());
                }
                Ok(())
            }
        }
    }

    /// A peer hands its heads over. They are on the disk before the answer leaves.
    fn heard_after(&mut self, from: &str, heads: Heads, signed: &Signed) {
        let known = self.known_heads.get(from).and_then(heads_of);
        if known.is_none_or(|known| known.rows < heads.rows) {
            let kept = self.heads_kept.entry(from.to_owned()).or_default();
            if *kept >= KEPT_MAX {
                return;
            }
            *kept += 1;
            self.note(What::Kept, None, from, json!({ "signed": signed }));
            self.known_heads.insert(from.to_owned(), signed.clone());
        }
        self.send_standing(vec![from.to_owned()], Standing::Kept { rows: heads.rows });
    }

    /// Keeps the heads that a peer joins with, if they are the latest; false where they fall behind
    /// what it signed before.
    pub(crate) fn keep_heads(&mut self, from: &str, signed: &Signed) -> bool {
        let Some(heads) = heads_of(signed) else { return true };
        let known = self.known_heads.get(from).and_then(heads_of);
        let follows = match known {
            Some(known) if known.rows == heads.rows => known.journal == heads.journal,
            Some(known) => known.rows < heads.rows,
            None => true,
        };
        if follows {
            // Also in the place of the same heads: these say which run the peer has joined.
            self.known_heads.insert(from.to_owned(), signed.clone());
        }
        follows
    }

    /// The heads in the journal: those of peers, and that this folder was replaced. It stays
    /// so: rows were added since that the replaced journal does not have.
    pub(crate) fn replay_heads(&mut self, record: &Record) {
        match record.what {
            What::Joined | What::Kept => {
                let signed: Option<Signed> = serde_json::from_value(record.detail.value()["signed"].take()).ok();
                if let Some(signed) = signed {
                    self.keep_heads(&record.who, &signed);
                }
            }
            What::Replaced => self.replaced = record.detail.value()["why"].as_str().map(str::to_owned),
            _ => {}
        }
    }

    /// Looks up in our journal what a peer says we signed.
    fn compare_heads(&mut self, from: &str, signed: &Signed) -> Result<(), StoreError> {
        let Some(heads) = heads_of(signed).filter(|_| signed.verifies(&self.custodian.own.signing_key)) else {
            self.rejected(from, "heads that this node did not sign");
            return Ok(());
        };
        let Some(lacks) = self.lacks(&heads, signed)?.filter(|_| self.replaced.is_none()) else {
            return Ok(());
        };
        let why = format!(
            "the journal is not the one that {from} knows: {lacks}. The folder was replaced by an older copy, or the \
             journal was rewritten. Nothing is answered"
        );
        tracing::error!("{why}");
        let own = self.custodian.own.name.clone();
        self.note(What::Replaced, None, &own, json!({ "why": why, "peer": from, "signed": signed }));
        self.replaced = Some(why);
        let began = |phase: Phase| matches!(phase, Phase::Proposed | Phase::Executing);
        if self.open.as_ref().is_some_and(|open| began(open.phase)) {
            self.abort("its journal is not the one that its peers know")?;
        }
        Ok(())
    }

    /// The statements that this node has signed and its journal lacks.
    fn lacks(&self, heads: &Heads, signed: &Signed) -> Result<Option<String>, StoreError> {
        let there = match heads.rows {
            0 => Some(heads.journal),
            rows => self.store.hash_at(rows)?,
        };
        if there != Some(heads.journal) {
            let (rows, _) = self.store.head();
            let here = if heads.rows > rows { "is missing here" } else { "is another one here" };
            return Ok(Some(format!("row {} was signed by this node, and {here}", heads.rows)));
        }
        let is_open = |run: &RunId| self.open.as_ref().is_some_and(|open| open.proposal.run == *run);
        let unknown = joined_run(signed).filter(|run| !self.ended.contains_key(run) && !is_open(run));
        Ok(unknown.map(|run| format!("this node joined run {run}, which is missing here")))
    }
}
