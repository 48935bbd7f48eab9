//! A question over rows that are apart, at one custodian: what of its own rows is counted, and the
//! session in which all custodians add up.
//!
//! The rows that a question counts follow from its SQL and the classes that all know
//! (`hedgerow_audit::query::parts`), by every custodian for itself; one that comes to another
//! result fails at the start of the session, since the result is a part of what its messages are
//! about. Counts are added up by secure sums. Where they would be too many, the rows that the
//! question looks at go through the shuffle, as far as it distinguishes them; each hands in as many
//! as there are in all, which all know, so that the size of a batch tells nothing.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hedgerow_audit::query::Select;
use hedgerow_audit::query::parts::{Needs, Outline};
use hedgerow_release::Release;
use hedgerow_smc::{
    Coins, Concluded, Digest, Effects, Fault, Item, Machine as _, Message, OpenedValues, Outgoing, Permit, Roster,
    RunLimits, SessionId, UnionCounts, masked,
};
use hedgerow_table::TableError;
use sha2::{Digest as _, Sha256};

use crate::evidence::Evidence;
use crate::message::{Question, QuestionId};
use crate::outlines::Outlines;
use crate::part::{EpochPart, OwnRows};
use crate::step_name::question_session;
use crate::steps::{EARLY_BYTES_MAX, KEPT_SENDS, StepOutcome, continued, settled};

/// The most counts in the answer to a question, and how many are always counted.
pub(crate) const CELLS_MAX: u64 = 1 << 22;
pub(crate) const CELLS_MIN: u64 = 1 << 16;
/// Between them, this number for each row: where more are zero, the rows are handed over sooner.
const CELLS_OF_A_ROW: u64 = 64;
/// The most items in a shuffle, padding included: the custodians' processors are busy with it for
/// seconds.
const SHUFFLED_MAX: u64 = 1 << 15;
/// More custodians do not shuffle: each of them is a layer around every item.
const SHUFFLING_MAX: usize = 100;
/// The speed at which a custodian must strip its layer off the items, so that those after it are
/// not late.
const ITEMS_IN_A_MS: u64 = 2;
/// The weight of a shuffle, compared with counts.
const SHUFFLE_WEIGHT: u64 = CELLS_MAX;
/// A row on its way through the shuffle: its stratum and its combination of values.
const ROW_BYTES: usize = 12;

/// Rows of all custodians, as far as a question distinguishes them: stratum, combination of values,
/// and how many.
type Places = Vec<(usize, usize, u64)>;

/// The data from which an answer is made.
#[derive(Debug)]
pub struct Totals {
    outline: Arc<Outline>,
    needs: Arc<Needs>,
    places: Places,
}

impl Totals {
    /// Hands on a release that differs from the real one in nothing that the question looks at;
    /// `None` where no rows have these totals.
    pub fn with_release<T>(&self, take: impl FnOnce(&Release) -> T) -> Option<T> {
        match self.needs.nothing() {
            true => Some(take(self.outline.release())),
            false => self.outline.filled(&self.needs, &self.places).map(|release| take(&release)),
        }
    }
}

/// Why a question was not answered.
#[derive(Debug)]
pub enum Unanswered {
    /// The question itself is not one that is answered.
    Refused(TableError),
    /// One that could not be answered now; with the custodian that gave up or is awaited.
    Failed { why: String, about: Option<String> },
}

impl std::fmt::Display for Unanswered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unanswered::Refused(error) => write!(f, "{error}"),
            Unanswered::Failed { why, .. } => f.write_str(why),
        }
    }
}

/// The work of a custodian before it takes part in an answer. It may take a while, so the driver of
/// the node does it where nothing waits.
#[derive(Debug)]
pub struct Work {
    pub(crate) id: QuestionId,
    /// Whose question it is.
    pub(crate) by: String,
    /// Whether it is over meanwhile.
    pub(crate) over: Arc<AtomicBool>,
    pub(crate) custodians: usize,
    pub(crate) epoch: u64,
    pub(crate) sql: String,
    pub(crate) part: Arc<EpochPart>,
    pub(crate) outlines: Arc<Outlines>,
    pub(crate) limits: RunLimits,
}

#[derive(Debug)]
pub struct Worked {
    pub(crate) id: QuestionId,
    pub(crate) by: String,
    pub(crate) ready: Result<Ready, Unanswered>,
}

/// Everything that a session starts from.
#[derive(Debug)]
pub(crate) struct Ready {
    outline: Arc<Outline>,
    needs: Arc<Needs>,
    own: Own,
    /// Of the question and of what it looks at.
    pub(crate) about: Digest,
}

enum Own {
    Counts(UnionCounts),
    Rows(Vec<Item>),
}

impl std::fmt::Debug for Own {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Own(…)")
    }
}

impl Work {
    pub fn run(self) -> Worked {
        // A bug in what reads questions ends one question, and not the worker.
        let ready = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.ready()));
        let failed = |_| Err(Unanswered::Failed { why: "internal error".to_owned(), about: None });
        Worked { id: self.id, by: self.by, ready: ready.unwrap_or_else(failed) }
    }

    /// How many cells are counted before rows go through the shuffle: the same at all custodians.
    fn cells_max(&self, all_rows: u64) -> usize {
        let items = all_rows.saturating_mul(self.custodians as u64);
        let can_shuffle = items <= SHUFFLED_MAX.min(self.limits.rows_max) && self.custodians <= SHUFFLING_MAX;
        let cells = all_rows.saturating_mul(CELLS_OF_A_ROW).clamp(CELLS_MIN, CELLS_MAX);
        let cells = if can_shuffle { cells } else { CELLS_MAX };
        usize::try_from(cells.min(self.limits.words_max)).unwrap_or(usize::MAX)
    }

    fn ready(&self) -> Result<Ready, Unanswered> {
        if self.over.load(Ordering::SeqCst) {
            return Err(Unanswered::Failed { why: "it is over".to_owned(), about: None });
        }
        let EpochPart { common, own } = &*self.part;
        let outline = self.outlines.of(self.epoch, &common.classes);
        let outline = outline.map_err(|why| Unanswered::Failed { why, about: None })?;
        let all: u64 = common.classes.iter().map(|class| class.rows).sum();
        let cells_max = self.cells_max(all);
        let select = Select::parse(&self.sql).map_err(|error| Unanswered::Refused(error.into()))?;
        let needs = outline.needs(&select, cells_max).map_err(Unanswered::Refused)?;
        let items = needs.rows().saturating_mul(self.custodians as u64);
        let too_many = items > SHUFFLED_MAX.min(self.limits.rows_max) || self.custodians > SHUFFLING_MAX;
        if needs.cells().is_none() && too_many {
            let problem = "the question distinguishes too many combinations of values to be counted, in too many rows";
            let hint = "use fewer columns at once, or a condition that fewer classes can fulfill";
            return Err(Unanswered::Refused(TableError::input("SQL", problem, hint)));
        }
        let mut hash = Sha256::new();
        hash.update(b"hedgerow answer 1");
        hash.update(self.id.0);
        hash.update(self.epoch.to_le_bytes());
        hash.update((self.sql.len() as u64).to_le_bytes());
        hash.update(&self.sql);
        hash.update(needs.bytes());
        let own = count(&needs, own, all);
        Ok(Ready { outline, needs: Arc::new(needs), own, about: hash.finalize().into() })
    }
}

/// Our own rows as the question looks at them; `all` is how many rows there are in all.
fn count(needs: &Needs, own: &OwnRows, all: u64) -> Own {
    let places = (0..own.class.len())
        .filter_map(|row| needs.place(own.class[row] as usize, |attribute| own.codes[attribute][row]));
    match needs.cells() {
        Some(cells) => {
            let bits = (u64::BITS - all.leading_zeros()).max(1) as u8;
            let counted = places.filter_map(|place| needs.cell(place)).map(|cell| (cell, 0));
            Own::Counts(UnionCounts::new(counted, cells, 1).below(bits))
        }
        None => {
            let row = |(stratum, combination): (usize, usize)| {
                let mut row = (stratum as u32).to_le_bytes().to_vec();
                row.extend((combination as u64).to_le_bytes());
                row
            };
            Own::Rows(places.map(row).collect())
        }
    }
}

/// Counts the rows that were handed over; `None` where one is not a row of the question.
fn unpacked(needs: &Needs, items: &[Item]) -> Option<Places> {
    let mut rows: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    for item in items {
        let (stratum, combination) = item.split_first_chunk::<4>()?;
        let stratum = u32::from_le_bytes(*stratum) as usize;
        let combination = usize::try_from(u64::from_le_bytes(combination.try_into().ok()?)).ok()?;
        if !needs.has((stratum, combination)) {
            return None;
        }
        *rows.entry((stratum, combination)).or_default() += 1;
    }
    Some(rows.into_iter().map(|((stratum, combination), rows)| (stratum, combination, rows)).collect())
}

impl Ready {
    /// Whether class sizes alone answer the question: then no other node receives it.
    pub(crate) fn needs_no_other_node(&self) -> bool {
        self.needs.nothing()
    }

    /// Its weight within the limit that all questions share.
    pub(crate) fn weight(&self) -> u64 {
        self.needs.cells().map_or(SHUFFLE_WEIGHT, |cells| cells as u64)
    }

    pub(crate) fn totals(&self, places: Places) -> Totals {
        Totals { outline: Arc::clone(&self.outline), needs: Arc::clone(&self.needs), places }
    }
}

enum QuestionSession {
    Counts(Box<masked::Run<UnionCounts>>),
    Rows(Box<masked::Shuffle>),
}

/// A question that is open at this node.
pub(crate) struct OpenQuestion {
    pub(crate) question: Question,
    pub(crate) roster: Roster,
    pub(crate) me: u16,
    pub(crate) plan: Digest,
    pub(crate) session_id: SessionId,
    /// The statements that custodians have signed in its session.
    pub(crate) evidence: Evidence,
    /// For the worker.
    pub(crate) over: Arc<AtomicBool>,
    /// Since it is known what has to be counted.
    ready: Option<Ready>,
    session: Option<QuestionSession>,
    shuffles: bool,
    /// Messages that came before our session began: at most one of each custodian.
    early: Vec<(u16, Message)>,
    sent: VecDeque<Vec<Outgoing>>,
    /// Since when, in milliseconds: the question, the last progress, the last repetition.
    pub(crate) opened_at: u64,
    pub(crate) progressed_at: u64,
    pub(crate) repeated_at: u64,
}

impl std::fmt::Debug for OpenQuestion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenQuestion").field("question", &self.question.id).finish_non_exhaustive()
    }
}

/// The next step after a message.
pub(crate) enum After {
    Waiting,
    Done(Totals),
    Fault(Fault),
}

pub(crate) struct QuestionStep {
    pub(crate) opened: Vec<OpenedValues>,
    pub(crate) send: Vec<Outgoing>,
    pub(crate) after: After,
}

impl QuestionStep {
    fn waiting() -> QuestionStep {
        QuestionStep { opened: Vec::new(), send: Vec::new(), after: After::Waiting }
    }

    fn fault(fault: Fault) -> QuestionStep {
        QuestionStep { after: After::Fault(fault), ..QuestionStep::waiting() }
    }
}

impl OpenQuestion {
    pub(crate) fn new(question: Question, roster: Roster, me: u16, plan: Digest, now: u64) -> OpenQuestion {
        let (early, sent) = (Vec::new(), VecDeque::new());
        let session_id = question_session(question.id);
        OpenQuestion {
            evidence: Evidence::new(question.id, roster.clone()),
            question,
            roster,
            me,
            plan,
            session_id,
            over: Arc::default(),
            ready: None,
            session: None,
            shuffles: false,
            early,
            sent,
            opened_at: now,
            progressed_at: now,
            repeated_at: now,
        }
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.ready.is_some()
    }

    /// Its weight within the limit that all questions share.
    pub(crate) fn weight(&self) -> u64 {
        self.ready.as_ref().map_or(0, Ready::weight)
    }

    /// How much longer than others this question may take without progress, in milliseconds.
    pub(crate) fn longer_ms(&self) -> u64 {
        let rows = self.ready.as_ref().filter(|_| self.shuffles).map_or(0, |ready| ready.needs.rows());
        let custodians = self.roster.count() as u64;
        rows.saturating_mul(custodians).saturating_mul(custodians) / ITEMS_IN_A_MS
    }

    pub(crate) fn place_of(&self, name: &str) -> Option<u16> {
        let place = self.roster.members().iter().position(|member| member.name == name)?;
        Some(place as u16)
    }

    pub(crate) fn name_of(&self, place: u16) -> String {
        self.roster.members().get(usize::from(place)).map_or(String::new(), |member| member.name.clone())
    }

    /// Without whom nothing goes on; ourselves as long as we do not know what to count.
    fn waits_for(&self) -> Vec<u16> {
        match &self.session {
            Some(QuestionSession::Counts(machine)) => machine.waits_for(),
            Some(QuestionSession::Rows(machine)) => machine.waits_for(),
            None => vec![self.me],
        }
    }

    fn taken_in(&self) -> usize {
        match &self.session {
            Some(QuestionSession::Counts(machine)) => machine.taken_in(),
            Some(QuestionSession::Rows(machine)) => machine.taken_in(),
            None => 0,
        }
    }

    pub(crate) fn names_waited_for(&self) -> Vec<String> {
        self.waits_for().into_iter().map(|place| self.name_of(place)).collect()
    }

    pub(crate) fn sent(&self) -> impl Iterator<Item = &Outgoing> {
        self.sent.iter().flatten()
    }

    pub(crate) fn sent_bytes(&self) -> u64 {
        self.sent().map(|outgoing| outgoing.message.body.bytes()).sum()
    }

    /// The messages sent last, for custodians that still lack them after the end, and the
    /// statements that others signed.
    pub(crate) fn into_sent(self) -> (Vec<Outgoing>, Evidence) {
        (self.sent.into_iter().flatten().collect(), self.evidence)
    }

    /// Starts our side, and takes in what came early.
    pub(crate) fn start(&mut self, mut ready: Ready, permit: Permit, coins: Coins) -> QuestionStep {
        let me = self.me;
        let own = std::mem::replace(&mut ready.own, Own::Rows(Vec::new()));
        let started = match own {
            Own::Counts(counts) => masked::start(permit, me, counts, coins)
                .and_then(continued)
                .map(|(machine, effects)| (QuestionSession::Counts(Box::new(machine)), effects)),
            Own::Rows(rows) => {
                let batch = usize::try_from(ready.needs.rows()).unwrap_or(usize::MAX);
                masked::start_shuffle(permit, me, rows, batch, ROW_BYTES, coins)
                    .and_then(continued)
                    .map(|(machine, effects)| (QuestionSession::Rows(Box::new(machine)), effects))
            }
        };
        let (session, effects) = match started {
            Ok(started) => started,
            Err(fault) => return QuestionStep::fault(fault),
        };
        self.shuffles = matches!(session, QuestionSession::Rows(_));
        (self.ready, self.session) = (Some(ready), Some(session));
        let mut step = self.record(effects, After::Waiting);
        for (from, message) in std::mem::take(&mut self.early) {
            if matches!(step.after, After::Waiting) {
                let more = self.advance(from, message);
                step.opened.extend(more.opened);
                step.send.extend(more.send);
                step.after = more.after;
            }
        }
        step
    }

    /// Takes a message of the session, or keeps it until ours begins.
    pub(crate) fn take(&mut self, from: u16, message: Message, bytes: usize, now: u64) -> QuestionStep {
        if self.session.is_some() {
            let before = self.taken_in();
            let step = self.advance(from, message);
            // What was heard before is not progress: a peer that repeats itself would hold us for
            // ever.
            if self.taken_in() != before {
                self.progressed_at = now;
            }
            return step;
        }
        let kept = self.early.iter().any(|(sender, _)| *sender == from);
        if !kept && bytes <= EARLY_BYTES_MAX {
            self.early.push((from, message));
        }
        QuestionStep::waiting()
    }

    fn advance(&mut self, from: u16, message: Message) -> QuestionStep {
        let (Some(session), Some(ready)) = (self.session.take(), &self.ready) else { return QuestionStep::waiting() };
        let impossible = || After::Fault(Fault::Impossible { what: "rows that no custodian of these classes has" });
        let done = |places: Option<Places>| match places {
            Some(places) => After::Done(ready.totals(places)),
            None => impossible(),
        };
        let (effects, after) = match session {
            QuestionSession::Counts(machine) => {
                let (effects, outcome) = settled(machine.step(from, message));
                let after = match outcome {
                    StepOutcome::Continue(machine) => {
                        self.session = Some(QuestionSession::Counts(Box::new(machine)));
                        After::Waiting
                    }
                    StepOutcome::Fault(fault) => After::Fault(fault),
                    StepOutcome::Done(Concluded { output: counts, .. }) => {
                        let counts: Vec<(usize, u64)> = counts.iter().map(|(cell, _, rows)| (*cell, *rows)).collect();
                        done(ready.needs.places(&counts))
                    }
                };
                (effects, after)
            }
            QuestionSession::Rows(machine) => {
                let (effects, outcome) = settled(machine.step(from, message));
                let after = match outcome {
                    StepOutcome::Continue(machine) => {
                        self.session = Some(QuestionSession::Rows(Box::new(machine)));
                        After::Waiting
                    }
                    StepOutcome::Fault(fault) => After::Fault(fault),
                    StepOutcome::Done(Concluded { output: items, .. }) => done(unpacked(&ready.needs, &items)),
                };
                (effects, after)
            }
        };
        self.record(effects, after)
    }

    fn record(&mut self, Effects { opened, send }: Effects, after: After) -> QuestionStep {
        // In the shuffle's chain a message may be needed much later than it is sent.
        let kept = if self.shuffles { usize::MAX } else { KEPT_SENDS };
        if !send.is_empty() {
            self.sent.push_back(send.clone());
            while self.sent.len() > kept {
                self.sent.pop_front();
            }
        }
        QuestionStep { opened, send, after }
    }
}

#[cfg(test)]
mod tests {
    use hedgerow_joint::JointClass;
    use hedgerow_policy::Policy;

    use super::*;
    use crate::message::Hex;
    use crate::part::Common;
    use crate::terms::Terms;

    const POLICY: &str = "[source]\npath = \"people.csv\"\n[attributes]\nage = { role = \"quasi\", range = [0, 99] }\n\
        disease = { role = \"sensitive\", order = [\"cold\", \"flu\"] }\n\
        [[rule]]\nrequire = { model = \"k-anonymity\", k = 2 }\n\
        [[rule]]\nprotect = \"disease\"\nrequire = { model = \"distinct-l-diversity\", l = 2 }\n\
        [publish]\nmethod = \"mondrian\"\n";

    /// The digest that the messages of an answer are about, where classes have these ends.
    fn about(terms: &Arc<Terms>, ends: [(u32, u32); 2]) -> Digest {
        let classes = ends.map(|ends| JointClass::of_ends(4, [ends])).to_vec();
        let own = OwnRows { class: vec![0, 1], codes: vec![vec![0, 1]] };
        let (run, digest) = (Hex([1; 16]), Hex([2; 32]));
        let common = Common { run, terms: digest, plan: digest, roster: Vec::new(), classes };
        let outlined = Arc::clone(terms);
        let outline = move |classes: &[JointClass]| outlined.outline(classes).map_err(|error| error.to_string());
        let work = Work {
            id: Hex([3; 16]),
            by: "north".to_owned(),
            over: Arc::default(),
            custodians: 3,
            epoch: 1,
            sql: "SELECT COUNT(*) FROM data WHERE age < 50 AND disease = 'flu'".to_owned(),
            part: Arc::new(EpochPart { common, own }),
            outlines: Arc::new(Outlines::new(Box::new(outline))),
            limits: RunLimits::default(),
        };
        work.run().ready.unwrap_or_else(|why| panic!("{why}")).about
    }

    /// Custodians who come to different results about one question do not add up: the messages of
    /// one are not about what those of the other are.
    #[test]
    fn the_same_words_over_other_classes_are_another_question() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("policy.toml"), POLICY).unwrap();
        let policy = Policy::load(&folder.path().join("policy.toml")).unwrap();
        let terms = Arc::new(Terms::new(policy, |agreed| agreed).unwrap());
        let one = about(&terms, [(0, 49), (50, 99)]);
        assert_eq!(one, about(&terms, [(0, 49), (50, 99)]));
        // The second class cannot hold the condition here, and can there.
        assert_ne!(one, about(&terms, [(0, 29), (30, 99)]));
    }
}
