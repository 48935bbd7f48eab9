//! Answers over rows that are apart: questions of analysts here and at other nodes, from the first
//! word to the totals.
//!
//! A question comes to one node, which works out what has to be counted (and asks no other where
//! class sizes tell), and then asks all custodians of the epoch. Each journals it with the name of
//! the analyst, and takes part if it has the epoch. The totals open to all of them; they are sums
//! over rows of a release that no custodian has, and tell nothing that the release would not tell.
//! A node that is away, gives up or breaks the protocol ends the question with its name.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hedgerow_audit::query::SQL_MAX;
use hedgerow_joint::{ANSWERED_VERSIONS, Profile};
use hedgerow_smc::baseline::Chances;
use hedgerow_smc::{Coins, Message, Outgoing, Roster, SessionId};
use rand::Rng as _;
use serde_json::json;

use crate::clock::Time;
use crate::evidence::Evidence;
use crate::journal::{SQL_CHARACTERS_MAX, What};
use crate::message::{Asking, Hex, Named, Question, QuestionId, plain};
use crate::node::{HOUR_MS, Node, Sent, repeat_after};
use crate::opened;
use crate::part::Part;
use crate::question::{After, CELLS_MAX, CELLS_MIN, OpenQuestion, Step, Totals, Unanswered, Work, Worked};
use crate::run::Phase;
use crate::statement::Signed;
use crate::steps::EARLY_BYTES_MAX;
use crate::store::{Store, StoreError};

/// Questions that are open at once: of all custodians, of each, and of one analyst.
const OPEN_MAX: usize = 256;
const OPEN_OF_ONE_MAX: usize = 64;
const OPEN_OF_ANALYST_MAX: usize = 32;
/// Questions of one custodian in an hour: all of them are journaled.
const HOURLY_MAX: u32 = 36_000;
/// The largest total weight of open questions: two of the largest.
const WEIGHT_MAX: u64 = 2 * CELLS_MAX;
/// The most time that a question may take in all, as a multiple of the time without progress.
const TIMES_IN_ALL: u64 = 30;
/// Epochs whose parts are kept in memory.
const PARTS_MAX: usize = 4;
/// How long an epoch that cannot be queried is not looked at again.
const UNFIT_MS: u64 = 5000;
/// First messages of sessions whose question has not been heard yet.
const STRAYS_MAX: usize = 512;
/// Questions that have ended, and bytes that were sent last in them: for those who lack something.
const ENDED_MAX: usize = 512;
const ENDED_BYTES_MAX: u64 = 1 << 26;
/// Of these the last ones keep what custodians signed, for contradictions that are shown later.
const ENDED_EVIDENCE_MAX: usize = 32;

/// Everything that a node has to do with questions.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    pub(crate) open: BTreeMap<QuestionId, OpenQuestion>,
    work: Vec<Work>,
    /// By custodian, how much of it is not done yet; and how many questions it had in this hour.
    working: BTreeMap<String, usize>,
    hourly: BTreeMap<String, u32>,
    answered: Vec<(QuestionId, Result<Totals, Unanswered>)>,
    parts: BTreeMap<u64, Arc<Part>>,
    /// Epochs that cannot be queried, why, and when that was found.
    unfit: BTreeMap<u64, (String, u64)>,
    strays: VecDeque<Stray>,
    pub(crate) ended: VecDeque<Ended>,
    /// Questions that this node had taken up before it was restarted: it has signed messages of
    /// their sessions, and would contradict itself.
    before: BTreeSet<QuestionId>,
}

/// A message of a session whose question has not been heard yet.
#[derive(Debug)]
struct Stray {
    from: String,
    session: SessionId,
    bytes: Vec<u8>,
    signed: Signed,
}

/// A question that is over here.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) id: QuestionId,
    session_id: SessionId,
    pub(crate) roster: Roster,
    pub(crate) evidence: Evidence,
    pub(crate) sent: Vec<Outgoing>,
    bytes: u64,
    /// Why, when it was not answered.
    pub(crate) why: Option<String>,
    /// When a custodian last wanted to hear it again.
    pub(crate) repeated_at: BTreeMap<String, u64>,
}

impl Questions {
    /// After a restart: what was taken up before, and may still be open elsewhere.
    pub(crate) fn after_restart(before: BTreeSet<QuestionId>) -> Questions {
        Questions { before, ..Questions::default() }
    }

    /// How far back that is, in milliseconds, where a question may wait so long.
    pub(crate) fn lifetime_ms(answer_ms: u64) -> u64 {
        answer_ms.saturating_mul(2 * TIMES_IN_ALL).max(HOUR_MS)
    }
}

impl<S: Store> Node<S> {
    /// Asks all custodians; what comes of it is in [`Node::take_answers`].
    pub fn ask(
        &mut self,
        time: Time,
        analyst: &str,
        epoch: u64,
        sql: &str,
    ) -> Result<Result<QuestionId, String>, StoreError> {
        self.enter(time);
        let begun = self.part_of(epoch).and_then(|part| self.ask_about(analyst, epoch, sql, &part));
        let sent = self.flush()?;
        debug_assert!(sent.is_empty(), "no message is sent before it is known what is needed");
        Ok(begun)
    }

    fn ask_about(&mut self, analyst: &str, epoch: u64, sql: &str, part: &Arc<Part>) -> Result<QuestionId, String> {
        let (by, analyst) = (self.custodian.own.name.clone(), plain(analyst));
        let mut nonce = [0; 16];
        self.rng.fill_bytes(&mut nonce);
        let (id, nonce, run, sql) = (Hex([0; 16]), Hex(nonce), part.common.run, sql.to_owned());
        let question = Question { id, nonce, epoch, run, sql, by, analyst }.named();
        let id = question.id;
        self.take_up(question, part)?;
        Ok(id)
    }

    /// What a node works out for itself; to be run and handed back to [`Node::worked`].
    pub fn take_work(&mut self) -> Vec<Work> {
        std::mem::take(&mut self.questions.work)
    }

    /// The questions that came to this node and are over.
    pub fn take_answers(&mut self) -> Vec<(QuestionId, Result<Totals, Unanswered>)> {
        std::mem::take(&mut self.questions.answered)
    }

    /// The client does not wait any longer for what becomes of a question.
    pub fn forget(&mut self, time: Time, id: QuestionId) -> Result<Sent, StoreError> {
        self.enter(time);
        self.give_up(id, "the client disconnected", None)?;
        self.questions.answered.retain(|(other, _)| *other != id);
        self.flush()
    }

    pub fn worked(&mut self, time: Time, worked: Worked) -> Result<Sent, StoreError> {
        self.enter(time);
        self.ready(worked)?;
        self.flush()
    }

    /// This node's part of an epoch, or why there is none.
    fn part_of(&mut self, epoch: u64) -> Result<Arc<Part>, String> {
        if self.epoch().is_none_or(|last| epoch == 0 || epoch > last) {
            return Err(format!("epoch {epoch} is not published here, or a run is in doubt"));
        }
        if let Some(part) = self.questions.parts.get(&epoch) {
            return Ok(Arc::clone(part));
        }
        let now = self.time.steady_ms;
        if let Some((why, _)) = self.questions.unfit.get(&epoch).filter(|(_, at)| now.saturating_sub(*at) < UNFIT_MS) {
            return Err(why.clone());
        }
        let read = self.read_part(epoch);
        match &read {
            Ok(part) => {
                while self.questions.parts.len() >= PARTS_MAX {
                    self.questions.parts.pop_first();
                }
                self.questions.parts.insert(epoch, Arc::clone(part));
            }
            Err(why) => drop(self.questions.unfit.insert(epoch, (why.clone(), now))),
        }
        read
    }

    fn read_part(&self, epoch: u64) -> Result<Arc<Part>, String> {
        let own = &self.custodian.own;
        // A part that is damaged ends the question, and not the node.
        let part = self.store.part(epoch).map_err(|_| format!("the rows of epoch {epoch} cannot be read"))?;
        let absent = || format!("epoch {epoch} is a whole release, or was published without {}", own.name);
        let part = part.ok_or_else(absent)?;
        let (agreed, terms) = (&self.custodian.agreed, &part.common.terms.0);
        if !agreed.is_under(terms, ANSWERED_VERSIONS, Profile::Masked, Chances::default()) {
            let why = "was published under other terms than those of today: its rows cannot be queried any more";
            return Err(format!("epoch {epoch} {why}"));
        }
        if !part.fits(&self.custodian.agreed.cardinalities) {
            return Err(format!("the rows of epoch {epoch} are damaged"));
        }
        let known = |named: &Named| {
            let member = named.member();
            member.is(own) || self.custodian.peers.iter().any(|peer| peer.member.is(&member))
        };
        if let Some(stranger) = part.common.roster.iter().find(|named| !known(named)) {
            return Err(format!("{} is not known by the key that it had in epoch {epoch}", stranger.name));
        }
        Ok(Arc::new(part))
    }

    /// Opens a question at this node and lets it be worked out.
    fn take_up(&mut self, question: Question, part: &Arc<Part>) -> Result<(), String> {
        self.refuse_too_many(&question)?;
        if question.sql.len() > SQL_MAX {
            return Err(format!("a question of more than {SQL_MAX} bytes"));
        }
        let roster = named_roster(&part.common.roster).ok_or("a roster that is none")?;
        let own = &self.custodian.own;
        let me = roster.members().iter().position(|member| member.is(own)).ok_or("not in the roster of the epoch")?;
        let Question { id, epoch, ref sql, ref by, ref analyst, .. } = question;
        let analyst = plain(analyst);
        let who = if *by == own.name { analyst } else { format!("{analyst}, at {by}") };
        let shown: String = sql.chars().take(SQL_CHARACTERS_MAX).collect();
        let detail = json!({ "epoch": epoch, "question": id, "sql": shown });
        let (by, sql, custodians, now) = (by.clone(), sql.clone(), roster.count(), self.time.steady_ms);
        let mut open = OpenQuestion::new(question, roster, me as u16, part.common.plan.0, now);
        let (limits, outlines) = (self.custodian.agreed.limits, Arc::clone(&self.custodian.outlines));
        let (part, over) = (Arc::clone(part), Arc::clone(&open.over));
        *self.questions.working.entry(by.clone()).or_default() += 1;
        *self.questions.hourly.entry(by.clone()).or_default() += 1;
        self.questions.work.push(Work { id, by, over, custodians, epoch, sql, part, outlines, limits });
        self.note(What::Queried, None, &who, detail);
        let session = open.session_id;
        let strays = std::mem::take(&mut self.questions.strays);
        for stray in strays {
            let place = open.place_of(&stray.from);
            match (stray.session == session, place, Message::decode(&stray.bytes)) {
                (true, Some(place), Ok(message)) => {
                    open.evidence.add(place, &stray.signed);
                    drop(open.take(place, message, stray.bytes.len(), now));
                }
                (true, ..) => {}
                (false, ..) => self.questions.strays.push_back(stray),
            }
        }
        self.questions.open.insert(id, open);
        Ok(())
    }

    fn refuse_too_many(&self, question: &Question) -> Result<(), String> {
        let Questions { open, working, hourly, .. } = &self.questions;
        let of_one = open.values().filter(|open| open.question.by == question.by);
        let of_analyst = of_one.clone().filter(|open| open.question.analyst == question.analyst).count();
        let unfinished = working.get(&question.by).copied().unwrap_or(0);
        let all: usize = working.values().sum();
        let too_many = open.len().max(all) >= OPEN_MAX
            || of_one.count().max(unfinished) >= OPEN_OF_ONE_MAX
            || of_analyst >= OPEN_OF_ANALYST_MAX;
        match hourly.get(&question.by) {
            _ if too_many => Err("too many questions are being answered: try again later".to_owned()),
            Some(hourly) if *hourly >= HOURLY_MAX => Err("too many questions in one hour: try again later".to_owned()),
            _ => Ok(()),
        }
    }

    /// A new hour begins.
    pub(crate) fn forget_hour(&mut self) {
        self.questions.hourly.clear();
    }

    /// Time in which this node heard no peer is not counted against its peers.
    pub(crate) fn excuse_questions(&mut self, ms: u64) {
        let now = self.time.steady_ms;
        for open in self.questions.open.values_mut() {
            open.progressed_at = (open.progressed_at + ms).min(now);
        }
    }

    pub(crate) fn heard_asking(&mut self, from: &str, asking: Asking) -> Result<(), StoreError> {
        match asking {
            Asking::Ask { question } => self.heard_question(from, question),
            Asking::Unanswered { id, why } => self.heard_no_answer(from, id, &why),
            Asking::Shown { id, statements } => self.heard_answer_statements(from, id, &statements),
            Asking::Proved { id, proof } => self.heard_answer_proof(id, *proof),
            Asking::Again { id } => {
                self.say_last_again(from, id);
                Ok(())
            }
        }
    }

    /// Another node asks.
    fn heard_question(&mut self, from: &str, question: Question) -> Result<(), StoreError> {
        let id = question.id;
        if self.questions.open.contains_key(&id) {
            return Ok(());
        }
        if self.questions.ended.iter().any(|ended| ended.id == id) {
            return Ok(());
        }
        // We are about to publish, and others may have: the question will be repeated.
        let prepared = self.open.as_ref().filter(|open| open.phase == Phase::Prepared);
        if prepared.is_some_and(|open| !open.in_doubt) {
            return Ok(());
        }
        let taken = match &question {
            _ if self.questions.before.contains(&id) => Err("it was restarted".to_owned()),
            question if question.by != from => Err("it is put in the name of another".to_owned()),
            question if question.clone().named().id != id => Err("a question under the name of another".to_owned()),
            question => self.part_of(question.epoch),
        };
        let taken = taken.and_then(|part| {
            if part.common.run != question.run {
                return Err("the epoch is of another run here".to_owned());
            }
            if !part.common.roster.iter().any(|named| named.name == from) {
                return Err("the node that asks took no part in the epoch".to_owned());
            }
            self.take_up(question, &part)
        });
        if let Err(why) = taken {
            self.say(from, Asking::Unanswered { id, why });
        }
        Ok(())
    }

    /// It is known what has to be counted: a session begins, unless no other node is needed.
    fn ready(&mut self, Worked { id, by, ready }: Worked) -> Result<(), StoreError> {
        if let Some(working) = self.questions.working.get_mut(&by) {
            *working -= 1;
            if *working == 0 {
                self.questions.working.remove(&by);
            }
        }
        let Some(open) = self.questions.open.get(&id).filter(|open| !open.has_begun()) else { return Ok(()) };
        let own = open.question.by == self.custodian.own.name;
        let ready = match ready {
            Ok(ready) => ready,
            Err(Unanswered::Failed { why, .. }) => {
                let about = self.custodian.own.name.clone();
                return self.give_up(id, &why, Some(about));
            }
            Err(refused) if own => {
                self.questions.open.remove(&id);
                self.questions.answered.push((id, Err(refused)));
                return Ok(());
            }
            Err(_) => {
                let about = Some(open.question.by.clone());
                return self.give_up(id, "a question that is not answered", about);
            }
        };
        if ready.needs_nobody() {
            if !own {
                let about = Some(open.question.by.clone());
                return self.give_up(id, "a question that needs no other node", about);
            }
            self.questions.open.remove(&id);
            self.questions.answered.push((id, Ok(ready.totals(Vec::new()))));
            return Ok(());
        }
        self.make_room(id, ready.weight())?;
        let Some(open) = self.questions.open.get_mut(&id) else { return Ok(()) };
        let limits = self.custodian.agreed.limits;
        let permit = match self.book.permit_answer(open.session_id, &open.plan, &ready.about, limits) {
            Ok(permit) => permit,
            Err(fault) => {
                let about = self.custodian.own.name.clone();
                return self.give_up(id, &fault.to_string(), Some(about));
            }
        };
        open.progressed_at = self.time.steady_ms;
        let step = open.start(ready, permit, Coins::from_source(&mut self.rng));
        if own {
            let (question, roster) = (open.question.clone(), open.roster.clone());
            self.say_roster(&roster, &Asking::Ask { question });
        }
        self.stepped_on(id, step)
    }

    /// Gives up large questions until there is room. All custodians give up in the same order, so
    /// that of questions that come at once one is answered.
    fn make_room(&mut self, id: QuestionId, weight: u64) -> Result<(), StoreError> {
        loop {
            let begun = self.questions.open.iter().filter(|(_, open)| open.weight() > CELLS_MIN);
            let all: u64 = begun.clone().map(|(_, open)| open.weight()).sum();
            if weight <= CELLS_MIN || all + weight <= WEIGHT_MAX {
                return Ok(());
            }
            let last = begun.map(|(id, _)| *id).max().map_or(id, |last| last.max(id));
            let about = self.custodian.own.name.clone();
            self.give_up(last, "too many large questions are being answered: try again later", Some(about))?;
            if last == id {
                return Ok(());
            }
        }
    }

    /// Takes a message of a session that answers a question rather than finding classes.
    pub(crate) fn stepped_answer(
        &mut self,
        from: &str,
        session: SessionId,
        bytes: &[u8],
        signed: &Signed,
    ) -> Result<(), StoreError> {
        let questions = &mut self.questions;
        let found = questions.open.iter_mut().find(|(_, open)| open.session_id == session);
        let Some((&id, open)) = found else {
            if let Some(ended) = questions.ended.iter_mut().find(|ended| ended.session_id == session) {
                let proof = ended.evidence.place_of(from).and_then(|place| ended.evidence.add(place, signed));
                return proof.map_or(Ok(()), |proof| self.convict_in_question(proof));
            }
            let known = |stray: &Stray| stray.from == from && stray.session == session;
            if bytes.len() <= EARLY_BYTES_MAX && !questions.strays.iter().any(known) {
                let (from, bytes, signed) = (from.to_owned(), bytes.to_vec(), signed.clone());
                questions.strays.push_back(Stray { from, session, bytes, signed });
                if questions.strays.len() > STRAYS_MAX {
                    questions.strays.pop_front();
                }
            }
            return Ok(());
        };
        let Some(place) = open.place_of(from) else { return Ok(()) };
        if let Some(proof) = open.evidence.add(place, signed) {
            return self.convict_in_question(proof);
        }
        let message = match Message::decode(bytes) {
            Ok(message) => message,
            Err(fault) => return self.give_up(id, &fault.to_string(), Some(from.to_owned())),
        };
        let step = open.take(place, message, bytes.len(), self.time.steady_ms);
        self.stepped_on(id, step)
    }

    fn stepped_on(&mut self, id: QuestionId, Step { opened: entries, send, after }: Step) -> Result<(), StoreError> {
        let Some(open) = self.questions.open.get(&id) else { return Ok(()) };
        let (run, roster) = (open.question.run, open.roster.clone());
        let own = open.question.by == self.custodian.own.name;
        for round in entries.chunk_by(|one, other| one.round == other.round) {
            let step = format!("question {id}");
            self.note(What::Disclosed, Some(run), "all", opened::detail(&step, round[0].round, round));
        }
        send.iter().for_each(|outgoing| self.send_among(&roster, outgoing));
        match after {
            After::Waiting => Ok(()),
            After::Done(totals) => {
                self.end_question(id, None);
                if own {
                    self.questions.answered.push((id, Ok(totals)));
                }
                Ok(())
            }
            After::Fault(fault) => {
                let about = fault.suspects().and_then(|place| Some(self.questions.open.get(&id)?.name_of(place)));
                // Another custodian may have the other half of a contradiction.
                let statements = self.questions.open.get(&id).map(|open| open.evidence.shown()).unwrap_or_default();
                self.give_up(id, &fault.to_string(), about)?;
                self.say_roster(&roster, &Asking::Shown { id, statements });
                Ok(())
            }
        }
    }

    fn heard_no_answer(&mut self, from: &str, id: QuestionId, why: &str) -> Result<(), StoreError> {
        let Some(open) = self.questions.open.get(&id) else { return Ok(()) };
        if open.place_of(from).is_none() {
            self.rejected(from, "not in the roster of the question it speaks of");
            return Ok(());
        }
        self.give_up(id, &format!("{from} gave up: {}", plain(why)), Some(from.to_owned()))
    }

    /// Ends a question without an answer, and says so to all. `about` is the custodian that gave up
    /// or that was awaited: an observation, while blame takes two signatures.
    pub(crate) fn give_up(&mut self, id: QuestionId, why: &str, about: Option<String>) -> Result<(), StoreError> {
        let why = plain(why);
        let Some(open) = self.questions.open.get(&id) else { return Ok(()) };
        let (own, by) = (self.custodian.own.name.clone(), open.question.by.clone());
        let (roster, epoch) = (open.roster.clone(), open.question.epoch);
        let detail = json!({ "epoch": epoch, "question": id, "why": why, "about": about });
        self.note(What::Unanswered, None, &own, detail);
        self.end_question(id, Some(why.clone()));
        self.say_roster(&roster, &Asking::Unanswered { id, why: why.clone() });
        if by == own {
            self.questions.answered.push((id, Err(Unanswered::Failed { why, about })));
        }
        Ok(())
    }

    fn end_question(&mut self, id: QuestionId, why: Option<String>) {
        let Some(open) = self.questions.open.remove(&id) else { return };
        open.over.store(true, Ordering::SeqCst);
        let (session_id, roster, bytes) = (open.session_id, open.roster.clone(), open.sent_bytes());
        let (sent, evidence) = open.into_sent();
        let (bytes, sent) = if why.is_none() { (bytes, sent) } else { (0, Vec::new()) };
        let ended = &mut self.questions.ended;
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

    /// Deadlines, and what may not have been heard.
    pub(crate) fn tick_questions(&mut self) -> Result<(), StoreError> {
        let now = self.time.steady_ms;
        let limit = self.custodian.deadlines.answer;
        let limit_ms = limit.as_millis() as u64;
        let (mut late, mut again) = (Vec::new(), Vec::new());
        for (id, open) in &mut self.questions.open {
            let waited = now.saturating_sub(open.progressed_at);
            let limit_ms = limit_ms + open.longer_ms();
            if waited > limit_ms || now.saturating_sub(open.opened_at) > TIMES_IN_ALL * limit_ms {
                late.push((*id, open.names_waited_for()));
            } else if now.saturating_sub(open.repeated_at.max(open.progressed_at))
                >= repeat_after(open.sent_bytes(), limit_ms)
            {
                open.repeated_at = now;
                again.push(*id);
            }
        }
        for (id, names) in late {
            let why = format!("nothing in {} s or more from {}", limit.as_secs(), names.join(", "));
            self.give_up(id, &why, names.first().cloned())?;
        }
        for id in again {
            let Some(open) = self.questions.open.get(&id) else { continue };
            let (question, roster) = (open.question.clone(), open.roster.clone());
            let sent: Vec<Outgoing> = open.sent().cloned().collect();
            if question.by == self.custodian.own.name && !sent.is_empty() {
                self.say_roster(&roster, &Asking::Ask { question });
            }
            sent.iter().for_each(|outgoing| self.send_among(&roster, outgoing));
            self.say_roster(&roster, &Asking::Again { id });
        }
        Ok(())
    }

    pub(crate) fn close_questions(&mut self) -> Result<(), StoreError> {
        let own = self.custodian.own.name.clone();
        let open: Vec<QuestionId> = self.questions.open.keys().copied().collect();
        open.into_iter().try_for_each(|id| self.give_up(id, &format!("{own} was shut down"), Some(own.clone())))
    }

    /// How many questions are open here.
    pub(crate) fn open_questions(&self) -> usize {
        self.questions.open.len()
    }
}

fn named_roster(named: &[Named]) -> Option<Roster> {
    Roster::new(named.iter().map(Named::member).collect()).ok()
}
