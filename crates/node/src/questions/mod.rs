//! Answers over rows that are apart: questions of analysts here and at other nodes, from the first
//! word to the totals.
//!
//! A question comes to one node, which works out what has to be counted (and asks no other where
//! class sizes tell), and then asks all custodians of the epoch. Each journals it with the name of
//! the analyst, and takes part if it has the epoch. The totals open to all of them; they are sums
//! over rows of a release that no custodian has, and tell nothing that the release would not tell.
//! A node that is away, gives up or breaks the protocol ends the question with its name.

mod answering;
mod blame;
mod ending;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use hedgerow_audit::query::SQL_MAX;
use hedgerow_joint::{ANSWERED_VERSIONS, Profile};
use hedgerow_smc::baseline::Chances;
use hedgerow_smc::{Message, Outgoing, Roster, SessionId};
use rand::Rng as _;
use serde_json::json;

use crate::context::Context;
use crate::journal::{SQL_CHARACTERS_MAX, What};
use crate::message::{Asking, Hex, Question, QuestionId, RosterEntry, plain};
use crate::outbox::repeat_after;
use crate::part::EpochPart;
use crate::question::{OpenQuestion, Totals, Unanswered, Work};
use crate::runs::Latest;
use crate::statement::Signed;

use ending::Ended;

/// Questions that are open at once: of all custodians, of each, and of one analyst.
const OPEN_MAX: usize = 256;
const OPEN_OF_ONE_MAX: usize = 64;
const OPEN_OF_ANALYST_MAX: usize = 32;
/// Questions of one custodian in an hour: all of them are journaled.
const HOURLY_MAX: u32 = 36_000;
/// The most time that a question may take in all, as a multiple of the time without progress.
const TIMES_IN_ALL: u64 = 30;
/// Epochs whose parts are kept in memory.
const PARTS_MAX: usize = 4;
/// How long an epoch that cannot be queried is not looked at again.
const UNFIT_MS: u64 = 5000;
const HOUR_MS: u64 = 3_600_000;

/// Everything that a node has to do with questions.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    open: BTreeMap<QuestionId, OpenQuestion>,
    work: Vec<Work>,
    /// By custodian, how much of it is not done yet; and how many questions it had in this hour.
    working: BTreeMap<String, usize>,
    hourly: BTreeMap<String, u32>,
    answered: Vec<(QuestionId, Result<Totals, Unanswered>)>,
    parts: BTreeMap<u64, Arc<EpochPart>>,
    /// Epochs that cannot be queried, why, and when that was found.
    unfit: BTreeMap<u64, (String, u64)>,
    strays: VecDeque<Stray>,
    ended: VecDeque<Ended>,
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

impl Questions {
    /// After a restart: what was taken up before, and may still be open elsewhere.
    pub(crate) fn after_restart(before: BTreeSet<QuestionId>) -> Questions {
        Questions { before, ..Questions::default() }
    }

    /// How far back that is, in milliseconds, where a question may wait so long.
    pub(crate) fn lifetime_ms(answer_ms: u64) -> u64 {
        answer_ms.saturating_mul(2 * TIMES_IN_ALL).max(HOUR_MS)
    }

    /// Asks all custodians; what comes of it is in [`Questions::take_answers`].
    pub(crate) fn ask(
        &mut self,
        cx: &mut Context,
        latest: Latest,
        analyst: &str,
        epoch: u64,
        sql: &str,
    ) -> Result<QuestionId, String> {
        let part = self.part_of(cx, latest, epoch)?;
        let unreadable = named_roster(&part.common.roster).and_then(|roster| cx.why_unreadable(&roster));
        unreadable.map_or(Ok(()), Err)?;
        let (by, analyst) = (cx.custodian.own.name.clone(), plain(analyst));
        let mut nonce = [0; 16];
        cx.rng.fill_bytes(&mut nonce);
        let (id, nonce, run, sql) = (Hex([0; 16]), Hex(nonce), part.common.run, sql.to_owned());
        let question = Question { id, nonce, epoch, run, sql, by, analyst }.named();
        let id = question.id;
        self.take_up(cx, question, &part)?;
        Ok(id)
    }

    /// Work that a node does by itself; to be run and handed back to [`Questions::ready`].
    pub(crate) fn take_work(&mut self) -> Vec<Work> {
        std::mem::take(&mut self.work)
    }

    /// The questions that came to this node and are over.
    pub(crate) fn take_answers(&mut self) -> Vec<(QuestionId, Result<Totals, Unanswered>)> {
        std::mem::take(&mut self.answered)
    }

    /// The client does not wait any longer for what becomes of a question.
    pub(crate) fn forget(&mut self, cx: &mut Context, id: QuestionId) {
        self.give_up(cx, id, "the client disconnected", None);
        self.answered.retain(|(other, _)| *other != id);
    }

    /// This node's part of an epoch, or why there is none.
    fn part_of(&mut self, cx: &Context, latest: Latest, epoch: u64) -> Result<Arc<EpochPart>, String> {
        if latest.epoch.is_none_or(|last| epoch == 0 || epoch > last) {
            return Err(format!("epoch {epoch} is not published here, or a run is in doubt"));
        }
        if let Some(part) = self.parts.get(&epoch) {
            return Ok(Arc::clone(part));
        }
        let now = cx.outbox.now();
        if let Some((why, _)) = self.unfit.get(&epoch).filter(|(_, at)| now.saturating_sub(*at) < UNFIT_MS) {
            return Err(why.clone());
        }
        let read = read_part(cx, epoch);
        match &read {
            Ok(part) => {
                while self.parts.len() >= PARTS_MAX {
                    self.parts.pop_first();
                }
                self.parts.insert(epoch, Arc::clone(part));
            }
            Err(why) => drop(self.unfit.insert(epoch, (why.clone(), now))),
        }
        read
    }

    /// Opens a question at this node and lets it be worked out.
    fn take_up(&mut self, cx: &mut Context, question: Question, part: &Arc<EpochPart>) -> Result<(), String> {
        self.refuse_too_many(&question)?;
        if question.sql.len() > SQL_MAX {
            return Err(format!("a question of more than {SQL_MAX} bytes"));
        }
        let roster = named_roster(&part.common.roster).ok_or("a roster that is none")?;
        let own = &cx.custodian.own;
        let me = roster.members().iter().position(|member| member.is(own)).ok_or("not in the roster of the epoch")?;
        let Question { id, epoch, ref sql, ref by, ref analyst, .. } = question;
        let analyst = plain(analyst);
        let who = if *by == own.name { analyst } else { format!("{analyst}, at {by}") };
        let shown: String = sql.chars().take(SQL_CHARACTERS_MAX).collect();
        let detail = json!({ "epoch": epoch, "question": id, "sql": shown });
        let (by, sql, custodians, now) = (by.clone(), sql.clone(), roster.count(), cx.outbox.now());
        let mut open = OpenQuestion::new(question, roster, me as u16, part.common.plan.0, now);
        let (limits, outlines) = (cx.custodian.agreed.limits, Arc::clone(&cx.custodian.outlines));
        let (part, over) = (Arc::clone(part), Arc::clone(&open.over));
        *self.working.entry(by.clone()).or_default() += 1;
        *self.hourly.entry(by.clone()).or_default() += 1;
        self.work.push(Work { id, by, over, custodians, epoch, sql, part, outlines, limits });
        cx.outbox.note(What::Queried, None, &who, detail);
        let session = open.session_id;
        let strays = std::mem::take(&mut self.strays);
        for stray in strays {
            let place = open.place_of(&stray.from);
            match (stray.session == session, place, Message::decode(&stray.bytes)) {
                (true, Some(place), Ok(message)) => {
                    open.evidence.add(place, &stray.signed);
                    drop(open.take(place, message, stray.bytes.len(), now));
                }
                (true, ..) => {}
                (false, ..) => self.strays.push_back(stray),
            }
        }
        self.open.insert(id, open);
        Ok(())
    }

    fn refuse_too_many(&self, question: &Question) -> Result<(), String> {
        let Questions { open, working, hourly, .. } = self;
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
        self.hourly.clear();
    }

    /// Time in which this node heard no peer is not counted against its peers.
    pub(crate) fn excuse(&mut self, ms: u64, now: u64) {
        for open in self.open.values_mut() {
            open.progressed_at = (open.progressed_at + ms).min(now);
        }
    }

    /// Deadlines, and what may not have been heard.
    pub(crate) fn tick(&mut self, cx: &mut Context) {
        let now = cx.outbox.now();
        let limit = cx.custodian.deadlines.answer;
        let limit_ms = limit.as_millis() as u64;
        let (mut late, mut again) = (Vec::new(), Vec::new());
        for (id, open) in &mut self.open {
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
            self.give_up(cx, id, &why, names.first().cloned());
        }
        for id in again {
            let Some(open) = self.open.get(&id) else { continue };
            let (question, roster) = (open.question.clone(), open.roster.clone());
            let sent: Vec<Outgoing> = open.sent().cloned().collect();
            if question.by == cx.custodian.own.name && !sent.is_empty() {
                cx.outbox.say_roster(&roster, &Asking::Ask { question });
            }
            sent.iter().for_each(|outgoing| cx.outbox.send_among(&roster, outgoing));
            cx.outbox.say_roster(&roster, &Asking::Again { id });
        }
    }

    /// Ends questions to custodians that do not understand each other.
    pub(crate) fn stop_unreadable(&mut self, cx: &mut Context) {
        let unreadable = self.open.iter().filter_map(|(id, open)| Some((*id, cx.why_unreadable(&open.roster)?)));
        for (id, why) in unreadable.collect::<Vec<_>>() {
            self.give_up(cx, id, &why, None);
        }
    }

    /// How many questions are open here.
    pub(crate) fn count(&self) -> usize {
        self.open.len()
    }
}

fn read_part(cx: &Context, epoch: u64) -> Result<Arc<EpochPart>, String> {
    let own = &cx.custodian.own;
    // A part that is damaged ends the question, and not the node.
    let part = cx.outbox.part(epoch).map_err(|_| format!("the rows of epoch {epoch} cannot be read"))?;
    let absent = || format!("epoch {epoch} is a whole release, or was published without {}", own.name);
    let part = part.ok_or_else(absent)?;
    let (agreed, terms) = (&cx.custodian.agreed, &part.common.terms.0);
    if !agreed.is_under(terms, ANSWERED_VERSIONS, Profile::Masked, Chances::default()) {
        let why = "was published under other terms than those of today: its rows cannot be queried any more";
        return Err(format!("epoch {epoch} {why}"));
    }
    if !part.fits(&cx.custodian.agreed.cardinalities) {
        return Err(format!("the rows of epoch {epoch} are damaged"));
    }
    let known = |named: &RosterEntry| {
        let member = named.member();
        member.is(own) || cx.custodian.peers.iter().any(|peer| peer.member.is(&member))
    };
    if let Some(stranger) = part.common.roster.iter().find(|named| !known(named)) {
        return Err(format!("{} is not known by the key that it had in epoch {epoch}", stranger.name));
    }
    Ok(Arc::new(part))
}

fn named_roster(named: &[RosterEntry]) -> Option<Roster> {
    Roster::new(named.iter().map(RosterEntry::member).collect()).ok()
}
