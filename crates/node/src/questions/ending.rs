//! Questions that are over: what is kept of them for custodians that are not done yet.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use hedgerow_smc::{Outgoing, Roster, SessionId, To};
use serde_json::json;

use crate::context::Context;
use crate::evidence::Evidence;
use crate::journal::What;
use crate::message::{Asking, QuestionId, plain};
use crate::outbox::REPEAT_MS;
use crate::question::Unanswered;

use super::Questions;

/// Questions that have ended, and bytes that were sent last in them: for those who lack something.
const ENDED_MAX: usize = 512;
const ENDED_BYTES_MAX: u64 = 1 << 26;
/// Of these the last ones keep what custodians signed, for contradictions that are shown later.
const ENDED_EVIDENCE_MAX: usize = 32;

/// A question that is over here.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) id: QuestionId,
    pub(super) session_id: SessionId,
    pub(super) roster: Roster,
    pub(super) evidence: Evidence,
    pub(super) sent: Vec<Outgoing>,
    bytes: u64,
    /// Why, when it was not answered.
    pub(super) why: Option<String>,
    /// When a custodian last wanted to hear it again.
    pub(super) repeated_at: BTreeMap<String, u64>,
}

impl Questions {
    /// Ends a question without an answer, and says so to all. `about` is the custodian that gave up
    /// or that was awaited: an observation, while blame takes two signatures.
    pub(super) fn give_up(&mut self, cx: &mut Context, id: QuestionId, why: &str, about: Option<String>) {
        let why = plain(why);
        let Some(open) = self.open.get(&id) else { return };
        let (own, by) = (cx.custodian.own.name.clone(), open.question.by.clone());
        let (roster, epoch) = (open.roster.clone(), open.question.epoch);
        let detail = json!({ "epoch": epoch, "question": id, "why": why, "about": about });
        cx.outbox.note_own(What::Unanswered, None, detail);
        self.end_question(id, Some(why.clone()));
        cx.outbox.say_roster(&roster, &Asking::Unanswered { id, why: why.clone() });
        if by == own {
            self.answered.push((id, Err(Unanswered::Failed { why, about })));
        }
    }

    pub(super) fn end_question(&mut self, id: QuestionId, why: Option<String>) {
        let Some(open) = self.open.remove(&id) else { return };
        open.over.store(true, Ordering::SeqCst);
        let (session_id, roster, bytes) = (open.session_id, open.roster.clone(), open.sent_bytes());
        let (sent, evidence) = open.into_sent();
        let (bytes, sent) = if why.is_none() { (bytes, sent) } else { (0, Vec::new()) };
        let ended = &mut self.ended;
        ended.push_back(Ended { id, session_id, roster, evidence, sent, bytes, why, repeated_at: BTreeMap::new() });
        while ended.len() > ENDED_MAX {
            ended.pop_front();
        }
        if let Some(old) = ended.len().checked_sub(ENDED_EVIDENCE_MAX + 1) {
            ended[old].evidence.forget();
        }
        // Of what is long, only the last word is kept: a custodian that is that far needs nothing
        // else.
        let mut kept = 0;
        for old in ended.iter_mut().rev() {
            kept += old.bytes;
            if kept > ENDED_BYTES_MAX {
                let last = old.sent.len().saturating_sub(1);
                (old.sent, old.bytes) = (old.sent.split_off(last), 0);
            }
        }
    }

    /// For a custodian who is still at a question that is over here. One that is open here is
    /// repeated anyway.
    pub(super) fn say_last_again(&mut self, cx: &mut Context, name: &str, id: QuestionId) {
        let now = cx.outbox.now();
        let Some(ended) = self.ended.iter_mut().find(|ended| ended.id == id) else { return };
        let Some(place) = ended.roster.members().iter().position(|member| member.name == name) else { return };
        // It may be long, and no node repeats itself more often.
        let before = ended.repeated_at.get(name);
        if before.is_some_and(|before| now.saturating_sub(*before) < REPEAT_MS / 2) {
            return;
        }
        ended.repeated_at.insert(name.to_owned(), now);
        if let Some(why) = ended.why.clone() {
            return cx.outbox.say(name, Asking::Unanswered { id, why });
        }
        let meant = |outgoing: &&Outgoing| match outgoing.to {
            To::One(one) => usize::from(one) == place,
            To::Others => true,
        };
        ended.sent.iter().filter(meant).for_each(|outgoing| cx.outbox.send_step(name, outgoing));
    }

    pub(crate) fn close(&mut self, cx: &mut Context) {
        let own = cx.custodian.own.name.clone();
        let open: Vec<QuestionId> = self.open.keys().copied().collect();
        for id in open {
            self.give_up(cx, id, &format!("{own} was shut down"), Some(own.clone()));
        }
    }
}
