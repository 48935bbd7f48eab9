//! Heads of journals and books, which peers keep for each other: a node whose folder was replaced
//! by an older copy, or whose journal was rewritten, learns it from any peer, and answers
//! nothing.
//!
//! Every custodian signs its heads with the commitment of each run, and peers journal that. When a
//! node starts it asks its peers for the last heads of its own that they have, and looks them up in
//! its journal.

use hedgerow_smc::SigningKey;
use serde_json::json;

use crate::journal::What;
use crate::message::{Content, Heads, Note, Standing};
use crate::node::{Node, REPEAT_MS};
use crate::settings::Role;
use crate::statement::{Signed, Statement};
use crate::store::{Store, StoreError};

/// The heads in a statement that has some.
pub(crate) fn heads_of(signed: &Signed) -> Option<Heads> {
    match &signed.statement {
        Statement::Heads { heads } => Some(*heads),
        Statement::Note { note: Note::Joined { heads, .. } } => Some(*heads),
        _ => None,
    }
}

/// Signs where a journal stands: for its own file, and for an auditor.
pub fn sign_heads(heads: Heads, key: &SigningKey) -> Signed {
    Statement::Heads { heads }.sign(key)
}

impl<S: Store> Node<S> {
    pub(crate) fn own_heads(&self) -> Heads {
        let (rows, journal) = self.store.head();
        let book = self.book.head();
        Heads { rows, journal, entries: book.entries, book: crate::message::Hex(book.digest) }
    }

    /// Asks every custodian that has not answered yet what it knows of this node's journal.
    pub(crate) fn ask_for_heads(&mut self) {
        let custodians = self.custodian.peers.iter().filter(|peer| peer.role == Role::Custodian);
        let waiting = custodians.filter(|peer| !self.heads_heard.contains(&peer.member.name));
        let names: Vec<String> = waiting.map(|peer| peer.member.name.clone()).collect();
        if names.is_empty() {
            return;
        }
        self.heads_requested_at = self.time.steady_ms;
        let frame = self.sign(Content::Standing(Standing::Own { heads: self.own_heads() }));
        self.outbox.extend(names.into_iter().map(|name| (name, frame.clone())));
    }

    /// Not during a run: heads that are signed now would overtake those that this node joined with,
    /// which are repeated as they were signed, and peers would take them for an older journal's.
    pub(crate) fn tick_heads(&mut self) {
        if self.open.is_none() && self.time.steady_ms.saturating_sub(self.heads_requested_at) >= REPEAT_MS {
            self.ask_for_heads();
        }
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

    /// Whether this node may tell a custodian that it knows nothing of a run: that one has
    /// confirmed its journal too. An older copy of the folder would deny what the node has signed.
    pub(crate) fn may_deny(&self, to: &str) -> bool {
        self.may_answer() && self.heads_heard.contains(to)
    }

    pub(crate) fn heard_standing(&mut self, from: &str, standing: Standing, signed: &Signed) -> Result<(), StoreError> {
        match standing {
            Standing::Own { .. } => {
                let known = self.known_heads.get(from).cloned();
                let frame = self.sign(Content::Standing(Standing::Known { signed: known }));
                self.outbox.push((from.to_owned(), frame));
                self.keep_heads(from, signed);
                Ok(())
            }
            Standing::Known { signed } => {
                if let Some(signed) = signed {
                    self.compare_heads(from, &signed)?;
                }
                self.heads_heard.insert(from.to_owned());
                Ok(())
            }
        }
    }

    /// Keeps the latest heads of a peer; false where they fall behind what it signed before.
    pub(crate) fn keep_heads(&mut self, from: &str, signed: &Signed) -> bool {
        let Some(heads) = heads_of(signed) else { return true };
        let known = self.known_heads.get(from).and_then(heads_of);
        match known {
            Some(known) if known.rows > heads.rows => false,
            Some(known) if known.rows == heads.rows => known.journal == heads.journal,
            _ => {
                self.known_heads.insert(from.to_owned(), signed.clone());
                true
            }
        }
    }

    /// Looks up in our journal what a peer says we signed.
    fn compare_heads(&mut self, from: &str, signed: &Signed) -> Result<(), StoreError> {
        let Some(heads) = heads_of(signed).filter(|_| signed.verifies(&self.custodian.own.signing_key)) else {
            self.rejected(from, "heads that this node did not sign");
            return Ok(());
        };
        let there = match heads.rows {
            0 => Some(heads.journal),
            rows => self.store.hash_at(rows)?,
        };
        if there == Some(heads.journal) || self.replaced.is_some() {
            return Ok(());
        }
        let (rows, _) = self.store.head();
        let why = format!(
            "the journal is not the one that {from} knows: row {} was signed by this node, and {}. The folder was \
             replaced by an older copy, or the journal was rewritten. Nothing is answered",
            heads.rows,
            if heads.rows > rows { "is missing here" } else { "is another one here" },
        );
        tracing::error!("{why}");
        let own = self.custodian.own.name.clone();
        self.note(What::Replaced, None, &own, json!({ "why": why, "peer": from, "signed": signed }));
        self.replaced = Some(why);
        Ok(())
    }
}
