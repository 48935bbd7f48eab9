//! Heads of journals and books, which peers keep for each other: a node whose folder was replaced
//! by an older copy, or whose journal was rewritten, learns it from any peer, and answers nothing.
//!
//! Every custodian signs its heads with the commitment of each run and again after the run, and
//! peers journal both. In between they journal the first message by which it shows that it has
//! begun the run, has staged the release, and is prepared: a copy of the folder from within the run
//! that lacks what was signed afterwards is noticed too, also where no heads followed.
//!
//! A node that starts asks its peers for the last heads of its own that they have, and looks them
//! up in its journal. It hands over new ones when they have confirmed it: heads of an older copy
//! would take the place of those that show what it is.

use std::collections::{BTreeMap, BTreeSet};

use hedgerow_smc::SigningKey;
use serde_json::json;

use crate::context::Context;
use crate::journal::{Record, What};
use crate::message::{Heads, JournalMessage, Note, RunId};
use crate::outbox::{REPEAT_MS, Sent};
use crate::runs::RunPhase;
use crate::statement::{Signed, Statement, StatementSlot};
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

/// How far a statement shows that its signer is in a run; nothing where it has not begun.
fn shows(run: RunId, signed: &Signed) -> Option<RunPhase> {
    match signed.statement.slot(run)? {
        StatementSlot::Step { .. } => Some(RunPhase::Executing),
        StatementSlot::Staged => Some(RunPhase::Staged),
        StatementSlot::Prepared => Some(RunPhase::Prepared),
        StatementSlot::Proposal | StatementSlot::Joined | StatementSlot::Approved | StatementSlot::Aborted => None,
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

/// The knowledge of peers about this node's journal, and of this node about theirs.
#[derive(Debug)]
pub(crate) struct PeerHeads {
    /// By peer, the last heads that it signed, and how many of them were kept in this hour.
    known: BTreeMap<String, Signed>,
    /// By peer, the statement that shows how far it came in a run.
    further: BTreeMap<String, Signed>,
    kept: BTreeMap<String, u32>,
    /// Peers whose journal is older than it was, as the log has said in this hour.
    older: BTreeSet<String>,
    /// Which peers have said what they know of this node's journal, and when we last asked.
    heard: BTreeSet<String>,
    requested_at: u64,
    /// The heads of this node that peers are to keep.
    handing: Handing,
    /// That a restart ended a run, until peers have confirmed the journal that says so.
    held: Sent,
    opened_at: u64,
    /// Why this node answers nothing: a peer knows another journal of it.
    replaced: Option<String>,
}

impl PeerHeads {
    pub(crate) fn new(now: u64) -> PeerHeads {
        PeerHeads {
            known: BTreeMap::new(),
            further: BTreeMap::new(),
            kept: BTreeMap::new(),
            older: BTreeSet::new(),
            heard: BTreeSet::new(),
            requested_at: now,
            handing: Handing::default(),
            held: Vec::new(),
            opened_at: now,
            replaced: None,
        }
    }

    /// Whether a peer has confirmed this journal.
    pub(crate) fn has_confirmed(&self, peer: &str) -> bool {
        self.heard.contains(peer)
    }

    pub(crate) fn replaced(&self) -> Option<&String> {
        self.replaced.as_ref()
    }

    /// Messages wait until peers have confirmed the journal.
    pub(crate) fn hold(&mut self, held: Sent) {
        self.held = held;
    }

    /// A peer has said what it knows; false where it had before.
    pub(crate) fn confirm(&mut self, peer: &str) -> bool {
        self.heard.insert(peer.to_owned())
    }

    /// A new hour begins.
    pub(crate) fn forget_hour(&mut self) {
        self.kept.clear();
        self.older.clear();
    }

    /// Keeps the heads that a peer joins with, if they are the latest; false where they fall behind
    /// what it signed before.
    pub(crate) fn keep(&mut self, from: &str, signed: &Signed) -> bool {
        let Some(heads) = heads_of(signed) else { return true };
        let known = self.known.get(from).and_then(heads_of);
        let follows = match known {
            Some(known) if known.rows == heads.rows => known.journal == heads.journal,
            Some(known) => known.rows < heads.rows,
            None => true,
        };
        if follows {
            // Also in the place of the same heads: these say which run the peer has joined.
            self.known.insert(from.to_owned(), signed.clone());
        }
        follows
    }

    /// The heads in the journal: those of peers, and that this folder was replaced. It stays
    /// so: rows were added since that the replaced journal does not have.
    pub(crate) fn replay(&mut self, record: &Record) {
        match record.what {
            What::Joined | What::Kept => {
                let signed: Option<Signed> = serde_json::from_value(record.detail.value()["signed"].take()).ok();
                let Some(signed) = signed else { return };
                if heads_of(&signed).is_some() {
                    self.keep(&record.who, &signed);
                } else {
                    self.further.insert(record.who.clone(), signed);
                }
            }
            What::Replaced => self.replaced = record.detail.value()["why"].as_str().map(str::to_owned),
            _ => {}
        }
    }
}

/// The statements of this node about its own journal, and what it may say while peers have not
/// confirmed it.
impl<S: Store + ?Sized> Context<S> {
    /// The custodians that this holds for.
    fn peers_that(&self, which: impl Fn(&String) -> bool) -> Vec<String> {
        let names = self.custodian.custodians().map(|peer| &peer.member.name);
        names.filter(|name| which(name)).cloned().collect()
    }

    /// Asks every custodian that has not answered yet what it knows of this node's journal.
    pub(crate) fn ask_for_heads(&mut self) {
        let names = self.peers_that(|name| !self.heads.heard.contains(name));
        if !names.is_empty() {
            self.heads.requested_at = self.outbox.now();
            let heads = self.own_heads();
            self.outbox.send_standing(names, JournalMessage::Own { heads });
        }
    }

    /// The node has started: these are the heads that peers are to keep.
    pub(crate) fn start_heads(&mut self) {
        self.heads.handing = Handing::new(self.own_heads());
        self.ask_for_heads();
    }

    /// A run has ended: peers are to know the journal that says so.
    pub(crate) fn hand_over_anew(&mut self) {
        self.heads.handing = Handing::new(self.own_heads());
        self.hand_over();
    }

    /// Not during a run: heads that are signed now would overtake those that this node joined with,
    /// which are repeated as they were signed, and peers would take them for an older journal's.
    pub(crate) fn hand_over(&mut self) {
        if !self.may_answer() {
            return;
        }
        let lacks = |name: &String| self.heads.heard.contains(name) && !self.heads.handing.kept_by.contains(name);
        let names = self.peers_that(lacks);
        if !names.is_empty() {
            let handing = &mut self.heads.handing;
            handing.sent_at = self.outbox.now();
            handing.times = handing.times.saturating_add(1);
            self.outbox.send_standing(names, JournalMessage::After { heads: handing.heads });
        }
    }

    pub(crate) fn tick_heads(&mut self, run_is_open: bool) {
        let since = |before: u64| self.outbox.now().saturating_sub(before);
        let (ask, hand) = (since(self.heads.requested_at), since(self.heads.handing.sent_at));
        if ask >= REPEAT_MS {
            self.ask_for_heads();
        }
        if hand >= self.heads.handing.repeat_after() && !run_is_open {
            self.hand_over();
        }
        self.let_go();
    }

    /// Sends what waited until peers have confirmed the journal.
    pub(crate) fn let_go(&mut self) {
        if self.heads.held.is_empty() || !self.may_answer() {
            return;
        }
        let held = std::mem::take(&mut self.heads.held);
        let (free, held): (Sent, Sent) = held.into_iter().partition(|(to, _)| self.heads.heard.contains(to));
        self.heads.held = held;
        self.outbox.send_again(free);
    }

    /// Whether this node may answer: all custodians have said what they know of its journal (one
    /// alone may hold it back), or those who are away had time to.
    pub(crate) fn may_answer(&self) -> bool {
        let PeerHeads { heard, replaced, opened_at, .. } = &self.heads;
        let waited = self.outbox.now().saturating_sub(*opened_at);
        let settled = self.custodian.custodians().all(|peer| heard.contains(&peer.member.name))
            || waited > self.custodian.deadlines.answer.as_millis() as u64;
        replaced.is_none() && settled
    }

    /// Whether this node may tell a custodian that it knows nothing of a run, or that it gave the
    /// run up: that one has confirmed its journal too. An older copy of the folder would deny what
    /// the node has signed.
    pub(crate) fn may_deny(&self, to: &str) -> bool {
        self.may_answer() && self.heads.heard.contains(to)
    }
}

/// The statements of peers about this journal, and of this node about theirs.
impl<S: Store + ?Sized> Context<S> {
    /// A peer asks what is known of its journal.
    pub(crate) fn heard_own(&mut self, from: &str, heads: Heads) {
        let known = self.heads.known.get(from).cloned();
        let is_older = known.as_ref().and_then(heads_of).is_some_and(|known| known.rows > heads.rows);
        if is_older && self.heads.older.insert(from.to_owned()) {
            tracing::warn!("the journal of {from} is older than it was");
        }
        let run = known.as_ref().and_then(joined_run);
        let further = self.heads.further.get(from).filter(|signed| run.is_some_and(|run| shows(run, signed).is_some()));
        let further = further.cloned().map(Box::new);
        let signed = known.map(Box::new);
        self.outbox.send_standing(vec![from.to_owned()], JournalMessage::Known { signed, further });
    }

    /// A peer shows that it has come further in the open run: that is on the disk before this node
    /// builds on it.
    pub(crate) fn keep_progress(&mut self, from: &str, run: RunId, signed: &Signed) {
        let before = self.heads.further.get(from).and_then(|signed| shows(run, signed));
        if shows(run, signed) > before {
            self.outbox.note(What::Kept, Some(run), from, json!({ "signed": signed }));
            self.heads.further.insert(from.to_owned(), signed.clone());
        }
    }

    /// A peer hands its heads over. They are on the disk before the answer leaves.
    pub(crate) fn heard_after(&mut self, from: &str, heads: Heads, signed: &Signed) {
        let known = self.heads.known.get(from).and_then(heads_of);
        if known.is_none_or(|known| known.rows < heads.rows) {
            let kept = self.heads.kept.entry(from.to_owned()).or_default();
            if *kept >= KEPT_MAX {
                return;
            }
            *kept += 1;
            self.outbox.note(What::Kept, None, from, json!({ "signed": signed }));
            self.heads.known.insert(from.to_owned(), signed.clone());
        }
        self.outbox.send_standing(vec![from.to_owned()], JournalMessage::Kept { rows: heads.rows });
    }

    /// A peer has kept heads of this node.
    pub(crate) fn heard_kept(&mut self, from: &str, rows: u64) {
        let handing = &mut self.heads.handing;
        if rows >= handing.heads.rows {
            handing.kept_by.insert(from.to_owned());
        }
    }

    /// Looks up in our journal what a peer says we signed; true where the journal lacks it, for the
    /// first time. `reached` tells how far this journal came in a run.
    pub(crate) fn compare_heads(
        &mut self,
        from: &str,
        signed: Option<&Signed>,
        further: Option<&Signed>,
        reached: impl Fn(&RunId) -> Option<RunPhase>,
    ) -> Result<bool, StoreError> {
        let Some(signed) = signed else { return Ok(false) };
        let own = &self.custodian.own.signing_key;
        let Some(heads) = heads_of(signed).filter(|_| signed.verifies(own)) else {
            self.outbox.rejected(from, "heads that this node did not sign");
            return Ok(false);
        };
        if further.is_some_and(|further| !further.verifies(own)) {
            self.outbox.rejected(from, "a message that this node did not sign");
            return Ok(false);
        }
        let lacks = match self.lacks(&heads)? {
            Some(lacks) => Some(lacks),
            None => joined_run(signed).and_then(|run| lacks_of_run(run, reached(&run), further)),
        };
        let Some(lacks) = lacks.filter(|_| self.heads.replaced.is_none()) else { return Ok(false) };
        let why = format!(
            "the journal is not the one that {from} knows: {lacks}. The folder was replaced by an older copy, or the \
             journal was rewritten. Nothing is answered"
        );
        tracing::error!("{why}");
        let detail = json!({ "why": why, "peer": from, "signed": signed, "further": further });
        self.outbox.note_own(What::Replaced, None, detail);
        self.heads.replaced = Some(why);
        Ok(true)
    }

    /// The row that this node has signed and its journal lacks.
    fn lacks(&self, heads: &Heads) -> Result<Option<String>, StoreError> {
        let there = match heads.rows {
            0 => Some(heads.journal),
            rows => self.outbox.store().hash_at(rows)?,
        };
        if there == Some(heads.journal) {
            return Ok(None);
        }
        let (rows, _) = self.outbox.store().head();
        let here = if heads.rows > rows { "is missing here" } else { "is another one here" };
        Ok(Some(format!("row {} was signed by this node, and {here}", heads.rows)))
    }
}

/// The part of a run that this node has signed, and that a journal which came so far lacks.
fn lacks_of_run(run: RunId, reached: Option<RunPhase>, further: Option<&Signed>) -> Option<String> {
    let Some(reached) = reached else { return Some(format!("this node joined run {run}, which is missing here")) };
    let shown = further.and_then(|further| shows(run, further)).filter(|shown| *shown > reached)?;
    let done = match shown {
        RunPhase::Proposed => return None,
        RunPhase::Executing => "began",
        RunPhase::Staged => "staged",
        RunPhase::Prepared => "was prepared in",
    };
    Some(format!("this node {done} run {run}, which is missing here"))
}
