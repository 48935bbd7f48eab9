//! How a question is answered: from what a node works out for itself, through the session in which
//! all add up, to the totals.

use hedgerow_smc::{Coins, Message, SessionId};

use crate::context::Context;
use crate::journal::What;
use crate::message::{Asking, Question, QuestionId, plain};
use crate::opened;
use crate::question::{After, CELLS_MAX, CELLS_MIN, QuestionStep, Unanswered, Worked};
use crate::runs::Latest;
use crate::statement::Signed;
use crate::steps::EARLY_BYTES_MAX;

use super::{Questions, Stray};

/// The largest total weight of open questions: two of the largest.
const WEIGHT_MAX: u64 = 2 * CELLS_MAX;
/// First messages of sessions whose question has not been heard yet.
const STRAYS_MAX: usize = 512;

impl Questions {
    pub(crate) fn heard(&mut self, cx: &mut Context, latest: Latest, from: &str, asking: Asking) {
        match asking {
            Asking::Ask { question } => self.heard_question(cx, latest, from, question),
            Asking::Unanswered { id, why } => self.heard_no_answer(cx, from, id, &why),
            Asking::Shown { id, statements } => self.heard_statements(cx, from, id, &statements),
            Asking::Proved { id, proof } => self.heard_proof(cx, id, *proof),
            Asking::Again { id } => self.say_last_again(cx, from, id),
        }
    }

    /// Another node asks.
    fn heard_question(&mut self, cx: &mut Context, latest: Latest, from: &str, question: Question) {
        let id = question.id;
        // About to publish, as others may have: the question will be repeated.
        if self.open.contains_key(&id) || self.ended.iter().any(|ended| ended.id == id) || latest.publishing {
            return;
        }
        let taken = match &question {
            _ if self.before.contains(&id) => Err("it was restarted".to_owned()),
            question if question.by != from => Err("it is put in the name of another".to_owned()),
            question if question.clone().named().id != id => Err("a question under the name of another".to_owned()),
            question => self.part_of(cx, latest, question.epoch),
        };
        let taken = taken.and_then(|part| {
            if part.common.run != question.run {
                return Err("the epoch is of another run here".to_owned());
            }
            if !part.common.roster.iter().any(|named| named.name == from) {
                return Err("the node that asks took no part in the epoch".to_owned());
            }
            self.take_up(cx, question, &part)
        });
        if let Err(why) = taken {
            cx.outbox.say(from, Asking::Unanswered { id, why });
        }
    }

    /// It is known what has to be counted: a session begins, unless no other node is needed.
    pub(crate) fn ready(&mut self, cx: &mut Context, Worked { id, by, ready }: Worked) {
        if let Some(working) = self.working.get_mut(&by) {
            *working -= 1;
            if *working == 0 {
                self.working.remove(&by);
            }
        }
        let Some(open) = self.open.get(&id).filter(|open| !open.has_begun()) else { return };
        let own = open.question.by == cx.custodian.own.name;
        let ready = match ready {
            Ok(ready) => ready,
            Err(Unanswered::Failed { why, .. }) => {
                let about = cx.custodian.own.name.clone();
                return self.give_up(cx, id, &why, Some(about));
            }
            Err(refused) if own => {
                self.open.remove(&id);
                self.answered.push((id, Err(refused)));
                return;
            }
            Err(_) => {
                let about = Some(open.question.by.clone());
                return self.give_up(cx, id, "a question that is not answered", about);
            }
        };
        if ready.needs_no_other_node() {
            if !own {
                let about = Some(open.question.by.clone());
                return self.give_up(cx, id, "a question that needs no other node", about);
            }
            self.open.remove(&id);
            self.answered.push((id, Ok(ready.totals(Vec::new()))));
            return;
        }
        self.make_room(cx, id, ready.weight());
        let Some(open) = self.open.get_mut(&id) else { return };
        let limits = cx.custodian.agreed.limits;
        let permit = match cx.book.permit_answer(open.session_id, &open.plan, &ready.about, limits) {
            Ok(permit) => permit,
            Err(fault) => {
                let about = cx.custodian.own.name.clone();
                return self.give_up(cx, id, &fault.to_string(), Some(about));
            }
        };
        open.progressed_at = cx.outbox.now();
        let step = open.start(ready, permit, Coins::from_source(&mut cx.rng));
        if own {
            let (question, roster) = (open.question.clone(), open.roster.clone());
            cx.outbox.say_roster(&roster, &Asking::Ask { question });
        }
        self.stepped_on(cx, id, step)
    }

    /// Gives up large questions until there is room. All custodians give up in the same order, so
    /// that of questions that come at once one is answered.
    fn make_room(&mut self, cx: &mut Context, id: QuestionId, weight: u64) {
        loop {
            let begun = self.open.iter().filter(|(_, open)| open.weight() > CELLS_MIN);
            let all: u64 = begun.clone().map(|(_, open)| open.weight()).sum();
            if weight <= CELLS_MIN || all + weight <= WEIGHT_MAX {
                return;
            }
            let last = begun.map(|(id, _)| *id).max().map_or(id, |last| last.max(id));
            let about = cx.custodian.own.name.clone();
            self.give_up(cx, last, "too many large questions are being answered: try again later", Some(about));
            if last == id {
                return;
            }
        }
    }

    /// Takes a message of a session that answers a question rather than finding classes.
    pub(crate) fn stepped(&mut self, cx: &mut Context, from: &str, session: SessionId, bytes: &[u8], signed: &Signed) {
        let found = self.open.iter_mut().find(|(_, open)| open.session_id == session);
        let Some((&id, open)) = found else {
            if let Some(ended) = self.ended.iter_mut().find(|ended| ended.session_id == session) {
                let proof = ended.evidence.place_of(from).and_then(|place| ended.evidence.add(place, signed));
                if let Some(proof) = proof {
                    self.convict(cx, proof);
                }
                return;
            }
            let known = |stray: &Stray| stray.from == from && stray.session == session;
            if bytes.len() <= EARLY_BYTES_MAX && !self.strays.iter().any(known) {
                let (from, bytes, signed) = (from.to_owned(), bytes.to_vec(), signed.clone());
                self.strays.push_back(Stray { from, session, bytes, signed });
                if self.strays.len() > STRAYS_MAX {
                    self.strays.pop_front();
                }
            }
            return;
        };
        let Some(place) = open.place_of(from) else { return };
        if let Some(proof) = open.evidence.add(place, signed) {
            return self.convict(cx, proof);
        }
        let message = match Message::decode(bytes) {
            Ok(message) => message,
            Err(fault) => return self.give_up(cx, id, &fault.to_string(), Some(from.to_owned())),
        };
        let step = open.take(place, message, bytes.len(), cx.outbox.now());
        self.stepped_on(cx, id, step)
    }

    fn stepped_on(
        &mut self,
        cx: &mut Context,
        id: QuestionId,
        QuestionStep { opened: entries, send, after }: QuestionStep,
    ) {
        let Some(open) = self.open.get(&id) else { return };
        let (run, roster) = (open.question.run, open.roster.clone());
        let own = open.question.by == cx.custodian.own.name;
        for round in entries.chunk_by(|one, other| one.round == other.round) {
            let step = format!("question {id}");
            cx.outbox.note(What::Disclosed, Some(run), "all", opened::detail(&step, round[0].round, round));
        }
        send.iter().for_each(|outgoing| cx.outbox.send_among(&roster, outgoing));
        match after {
            After::Waiting => {}
            After::Done(totals) => {
                self.end_question(id, None);
                if own {
                    self.answered.push((id, Ok(totals)));
                }
            }
            After::Fault(fault) => {
                let about = fault.suspects().and_then(|place| Some(self.open.get(&id)?.name_of(place)));
                // Another custodian may have the other half of a contradiction.
                let statements = self.open.get(&id).map(|open| open.evidence.shown()).unwrap_or_default();
                self.give_up(cx, id, &fault.to_string(), about);
                cx.outbox.say_roster(&roster, &Asking::Shown { id, statements });
            }
        }
    }

    fn heard_no_answer(&mut self, cx: &mut Context, from: &str, id: QuestionId, why: &str) {
        let Some(open) = self.open.get(&id) else { return };
        if open.place_of(from).is_none() {
            cx.outbox.rejected(from, "not in the roster of the question it speaks of");
            return;
        }
        self.give_up(cx, id, &format!("{from} gave up: {}", plain(why)), Some(from.to_owned()))
    }
}
