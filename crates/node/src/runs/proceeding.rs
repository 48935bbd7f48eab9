//! How a run goes on at a node: from the last approval to its publication, or to its end without
//! one.

use hedgerow_smc::{Coins, Fault};
use serde_json::json;

use crate::certificate::Certificate;
use crate::context::Context;
use crate::evidence::{Evidence, PAST_MAX};
use crate::journal::What;
use crate::message::{Because, Hex, Note, Proposal, plain};
use crate::opened;
use crate::part::{Common, EpochPart};
use crate::statement::StatementSlot;
use crate::step_name::StepName;
use crate::steps::{Advanced, Execution, Next};
use crate::store::{RunResult, StoreError};

use super::{Ending, OpenRun, RunPhase, Runs};

impl Runs {
    pub(super) fn start_if_approved(&mut self, cx: &mut Context) -> Result<(), StoreError> {
        let Some(open) = self.open.as_mut().filter(|open| open.phase == RunPhase::Proposed) else { return Ok(()) };
        match open.all_approve() {
            Ok(false) => Ok(()),
            Err(place) => {
                let other = open.name_of(place);
                self.abort(
                    cx,
                    &format!("the operator of {other} approved another plan than the one that is known here"),
                )
            }
            // Rows take part in nothing before all of the run have confirmed the journal: an older
            // copy of the book would permit what was refused since.
            Ok(true) if !open.others().all(|place| cx.heads.has_confirmed(&open.name_of(place))) => Ok(()),
            Ok(true) => {
                (open.phase, open.approved) = (RunPhase::Executing, open.approval().map(Hex));
                open.committed = open.plan.as_ref().map(|plan| Hex(plan.digest()));
                open.progressed_at = cx.outbox.now();
                self.begin(cx, StepName::Classes)
            }
        }
    }

    /// Burns the question of a step, keeps the book, and begins.
    pub(super) fn begin(&mut self, cx: &mut Context, step: StepName) -> Result<(), StoreError> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let (run, Some(plan)) = (open.proposal.run, &open.plan) else { return Ok(()) };
        let session = step.session(run);
        let digest = Hex(plan.digest());
        let permit = match &open.insisted {
            Some(operator) => {
                let insisted = cx.book.differences(plan).insist(operator);
                cx.book.permit_despite(session, plan, step.name(), insisted)
            }
            None => cx.book.permit_run(session, plan, step.name()),
        };
        let permit = match permit {
            Ok(permit) => permit,
            Err(fault) => {
                return self.abort(cx, &fault.to_string());
            }
        };
        cx.outbox.save_book(&cx.book.encode())?;
        let head = cx.book.head();
        let coins = Coins::from_source(&mut cx.rng);
        let Some(execution) = &mut open.execution else { return Ok(()) };
        let advanced = execution.begin(step, permit, coins);
        let detail = json!({ "step": step.name(), "plan": digest, "entries": head.entries, "head": Hex(head.digest) });
        cx.outbox.note_own(What::Burned, Some(run), detail);
        self.reached.insert(run, RunPhase::Executing);
        self.advance(cx, advanced)
    }

    pub(super) fn advance(&mut self, cx: &mut Context, advanced: Advanced) -> Result<(), StoreError> {
        let Advanced { opened: entries, send, next } = advanced;
        let Some(open) = &self.open else { return Ok(()) };
        let run = open.proposal.run;
        let step = open.execution.as_ref().and_then(Execution::step).map_or("", StepName::name);
        // One row for a round: a row for each entry would take longer than the round itself.
        for round in entries.chunk_by(|one, other| one.round == other.round) {
            cx.outbox.note(What::Disclosed, Some(run), "all", opened::detail(step, round[0].round, round));
        }
        send.iter().for_each(|outgoing| self.send_step(cx, outgoing));
        match next {
            Next::Waiting => Ok(()),
            Next::Begin(step) => self.begin(cx, step),
            Next::Found(classes, rows) => {
                self.found(cx, RunResult::Whole { classes, rows });
                Ok(())
            }
            Next::Apart(classes, own) => {
                let Some((open, plan)) = self.open.as_ref().and_then(|open| Some((open, open.plan.as_ref()?))) else {
                    return Ok(());
                };
                let (plan, roster) = (Hex(plan.digest()), open.proposal.roster.clone());
                let common = Common { run, terms: Hex(cx.terms), plan, roster, classes };
                self.found(cx, RunResult::Part(EpochPart { common, own }));
                Ok(())
            }
            Next::Nothing => self.abort(cx, "even all rows of all custodians as one class break a rule"),
            Next::Fault(fault) => self.failed(cx, &fault),
        }
    }

    fn found(&mut self, cx: &mut Context, found: RunResult) {
        if let Some(open) = &mut self.open {
            (open.found, open.progressed_at) = (Some(found), cx.outbox.now());
        }
    }

    pub(super) fn failed(&mut self, cx: &mut Context, fault: &Fault) -> Result<(), StoreError> {
        let Some(open) = &self.open else { return Ok(()) };
        // Whom it points at is an observation of this node; blame takes two signatures.
        let about = fault.suspects().map_or(String::new(), |place| format!(" ({})", open.name_of(place)));
        self.abort(cx, &format!("{fault}{about}"))
    }

    /// Writes the release that was found. By now our last message of the last step is on its way,
    /// so no peer waits for us while we write.
    pub(crate) fn stage(&mut self, cx: &mut Context) -> Result<(), StoreError> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let Some(found) = open.found.take() else { return Ok(()) };
        let Proposal { run, epoch, .. } = open.proposal;
        let release = match cx.outbox.stage(run, epoch, &found)? {
            Ok(release) => release,
            Err(why) => return self.abort(cx, &format!("the release could not be made: {why}")),
        };
        (open.phase, open.release) = (RunPhase::Staged, Some(release));
        open.progressed_at = cx.outbox.now();
        let rows: u64 = found.classes().iter().map(|class| class.rows).sum();
        let detail = json!({
            "epoch": epoch,
            "plan": open.approved,
            "committed": open.committed,
            "release": release,
            "classes": found.classes().len(),
            "rows": rows,
        });
        cx.outbox.note_own(What::Staged, Some(run), detail);
        self.reached.insert(run, RunPhase::Staged);
        if let Some(note) = self.open.as_ref().and_then(OpenRun::staged_note) {
            self.tell_others(cx, &note);
        }
        self.prepare_if_staged(cx)
    }

    /// Signs that this node is prepared once all have staged the same release: from here on a
    /// certificate may exist.
    pub(super) fn prepare_if_staged(&mut self, cx: &mut Context) -> Result<(), StoreError> {
        let Some(open) = self.open.as_mut().filter(|open| open.phase == RunPhase::Staged) else { return Ok(()) };
        if let Some(other) = open.stages_otherwise() {
            let name = open.name_of(other);
            let signed = open.evidence.of(other, StatementSlot::Staged).cloned();
            let because = signed.map(|signed| Because::Statement { by: name.clone(), signed });
            return self.abort_because(cx, &format!("{name} has another release than this node"), because);
        }
        if !open.others().all(|place| open.has_staged(place)) {
            return Ok(());
        }
        (open.phase, open.progressed_at) = (RunPhase::Prepared, cx.outbox.now());
        let Proposal { run, epoch, .. } = open.proposal;
        let (plan, release, note) = (open.approved, open.release, open.prepared_note());
        cx.outbox.note_own(What::Prepared, Some(run), json!({ "epoch": epoch, "plan": plan, "release": release }));
        self.reached.insert(run, RunPhase::Prepared);
        if let Some(note) = note {
            self.tell_others(cx, &note);
        }
        self.publish_if_prepared(cx)
    }

    pub(super) fn publish_if_prepared(&mut self, cx: &mut Context) -> Result<(), StoreError> {
        let Some(open) = self.open.as_ref().filter(|open| open.phase == RunPhase::Prepared) else { return Ok(()) };
        let Some(note) = open.prepared_note() else { return Ok(()) };
        if !open.others().all(|place| open.has_prepared(place)) {
            return Ok(());
        }
        let own = cx.outbox.sign_note(note);
        match self.open.as_ref().and_then(|open| open.certificate(&own)) {
            Some(certificate) => self.publish(cx, certificate),
            None => Ok(()),
        }
    }

    /// Publishes on a certificate.
    pub(super) fn publish(&mut self, cx: &mut Context, certificate: Certificate) -> Result<(), StoreError> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let Proposal { run, epoch, .. } = open.proposal;
        cx.outbox.note_own(What::Published, Some(run), json!({ "epoch": epoch, "certificate": certificate }));
        cx.outbox.publish(run, epoch)?;
        self.epochs = epoch;
        let certificate = Box::new(certificate);
        self.previous = Some(certificate.clone());
        // The others have the same signatures. One that lacks some asks (`repeat_outcome`), and is
        // sent the certificate.
        self.end(run, Ending::Published { certificate });
        self.keep_evidence(open.evidence);
        cx.hand_over_anew();
        Ok(())
    }

    pub(super) fn abort(&mut self, cx: &mut Context, why: &str) -> Result<(), StoreError> {
        self.abort_because(cx, why, None)
    }

    /// Ends the run without a release, says so to all, and shows what others have signed. A node
    /// that has staged gives the reason; one that is prepared ends only by `leave_doubt` or by its
    /// operator.
    pub(super) fn abort_because(
        &mut self,
        cx: &mut Context,
        why: &str,
        because: Option<Because>,
    ) -> Result<(), StoreError> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let run = open.proposal.run;
        let (why, because) = (plain(why), because.map(Box::new));
        cx.outbox.note_own(What::Aborted, Some(run), json!({ "why": why, "because": because }));
        self.end(run, Ending::Aborted { why: why.clone(), because: because.clone() });
        cx.outbox.tell_roster(&open.roster, &Note::Aborted { run, why, because });
        Runs::show_statements(cx, &open.evidence);
        self.keep_evidence(open.evidence);
        cx.outbox.discard(run)?;
        cx.hand_over_anew();
        Ok(())
    }

    fn keep_evidence(&mut self, evidence: Evidence) {
        self.past.push_back(evidence);
        while self.past.len() > PAST_MAX {
            self.past.pop_front();
        }
    }
}
