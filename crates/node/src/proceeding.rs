//! How a run goes on at a node: from the last approval to its publication, or to its end without
//! one.

use hedgerow_smc::{Coins, Fault};
use serde_json::json;

use crate::certificate::Certificate;
use crate::evidence::{Evidence, PAST_MAX};
use crate::journal::What;
use crate::message::{Because, Hex, Note, Proposal, plain};
use crate::node::Node;
use crate::opened;
use crate::part::{Common, Part};
use crate::run::{Ending, Open, Phase};
use crate::statement::Slot;
use crate::step_name::StepName;
use crate::steps::{Advanced, Execution, Next};
use crate::store::{Found, Store, StoreError};

impl<S: Store> Node<S> {
    pub(crate) fn start_if_approved(&mut self) -> Result<(), StoreError> {
        let Some(open) = self.open.as_mut().filter(|open| open.phase == Phase::Proposed) else { return Ok(()) };
        match open.all_approve() {
            Ok(false) => Ok(()),
            Err(place) => {
                let other = open.name_of(place);
                self.abort(&format!("the operator of {other} approved another plan than the one that is known here"))
            }
            // Rows take part in nothing before all of the run have confirmed the journal: an older
            // copy of the book would permit what was refused since.
            Ok(true) if !open.others().all(|place| self.heads_heard.contains(&open.name_of(place))) => Ok(()),
            Ok(true) => {
                (open.phase, open.approved) = (Phase::Executing, open.approval().map(Hex));
                open.committed = open.plan.as_ref().map(|plan| Hex(plan.digest()));
                open.progressed_at = self.time.steady_ms;
                self.begin(StepName::Classes)
            }
        }
    }

    /// Burns the question of a step, keeps the book, and begins.
    pub(crate) fn begin(&mut self, step: StepName) -> Result<(), StoreError> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let (run, Some(plan)) = (open.proposal.run, &open.plan) else { return Ok(()) };
        let session = step.session(run);
        let digest = Hex(plan.digest());
        let permit = match &open.insisted {
            Some(operator) => {
                let insisted = self.book.differences(plan).insist(operator);
                self.book.permit_despite(session, plan, step.name(), insisted)
            }
            None => self.book.permit_run(session, plan, step.name()),
        };
        let permit = match permit {
            Ok(permit) => permit,
            Err(fault) => {
                return self.abort(&fault.to_string());
            }
        };
        self.store.save_book(&self.book.encode())?;
        let head = self.book.head();
        let coins = Coins::from_source(&mut self.rng);
        let Some(execution) = &mut open.execution else { return Ok(()) };
        let advanced = execution.begin(step, permit, coins);
        let own = self.custodian.own.name.clone();
        let detail = json!({ "step": step.name(), "plan": digest, "entries": head.entries, "head": Hex(head.digest) });
        self.note(What::Burned, Some(run), &own, detail);
        self.advance(advanced)
    }

    pub(crate) fn advance(&mut self, advanced: Advanced) -> Result<(), StoreError> {
        let Advanced { opened: entries, send, next } = advanced;
        let Some(open) = &self.open else { return Ok(()) };
        let run = open.proposal.run;
        let step = open.execution.as_ref().and_then(Execution::step).map_or("", StepName::name);
        // One row for a round: a row for each entry would take longer than the round itself.
        for round in entries.chunk_by(|one, other| one.round == other.round) {
            self.note(What::Disclosed, Some(run), "all", opened::detail(step, round[0].round, round));
        }
        send.iter().for_each(|outgoing| self.send_step(outgoing));
        match next {
            Next::Waiting => Ok(()),
            Next::Begin(step) => self.begin(step),
            Next::Found(classes, rows) => {
                self.found(Found::Whole { classes, rows });
                Ok(())
            }
            Next::Apart(classes, own) => {
                let Some((open, plan)) = self.open.as_ref().and_then(|open| Some((open, open.plan.as_ref()?))) else {
                    return Ok(());
                };
                let (plan, roster) = (Hex(plan.digest()), open.proposal.roster.clone());
                let common = Common { run, terms: Hex(self.terms), plan, roster, classes };
                self.found(Found::Part(Part { common, own }));
                Ok(())
            }
            Next::Nothing => self.abort("even all rows of all custodians as one class break a rule"),
            Next::Fault(fault) => self.failed(&fault),
        }
    }

    fn found(&mut self, found: Found) {
        if let Some(open) = &mut self.open {
            (open.found, open.progressed_at) = (Some(found), self.time.steady_ms);
        }
    }

    pub(crate) fn failed(&mut self, fault: &Fault) -> Result<(), StoreError> {
        let Some(open) = &self.open else { return Ok(()) };
        // Whom it points at is an observation of this node; blame takes two signatures.
        let about = fault.suspects().map_or(String::new(), |place| format!(" ({})", open.name_of(place)));
        self.abort(&format!("{fault}{about}"))
    }

    /// Writes the release that was found. By now our last message of the last step is on its way,
    /// so no peer waits for us while we write.
    pub(crate) fn stage(&mut self) -> Result<(), StoreError> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let Some(found) = open.found.take() else { return Ok(()) };
        let Proposal { run, epoch, .. } = open.proposal;
        let own = self.custodian.own.name.clone();
        // The ledger is taken from the journal.
        self.store.append(&std::mem::take(&mut self.records))?;
        let release = match self.store.stage(run, epoch, &found)? {
            Ok(release) => release,
            Err(why) => return self.abort(&format!("the release could not be made: {why}")),
        };
        (open.phase, open.release) = (Phase::Staged, Some(release));
        open.progressed_at = self.time.steady_ms;
        let rows: u64 = found.classes().iter().map(|class| class.rows).sum();
        let detail = json!({
            "epoch": epoch,
            "plan": open.approved,
            "committed": open.committed,
            "release": release,
            "classes": found.classes().len(),
            "rows": rows,
        });
        self.note(What::Staged, Some(run), &own, detail);
        if let Some(note) = self.open.as_ref().and_then(Open::staged_note) {
            self.tell_others(&note);
        }
        self.prepare_if_staged()
    }

    /// Signs that this node is prepared once all have staged the same release: from here on a
    /// certificate may exist.
    pub(crate) fn prepare_if_staged(&mut self) -> Result<(), StoreError> {
        let Some(open) = self.open.as_mut().filter(|open| open.phase == Phase::Staged) else { return Ok(()) };
        if let Some(other) = open.stages_otherwise() {
            let name = open.name_of(other);
            let signed = open.evidence.of(other, Slot::Staged).cloned();
            let because = signed.map(|signed| Because::Statement { by: name.clone(), signed });
            return self.abort_because(&format!("{name} has another release than this node"), because);
        }
        if !open.others().all(|place| open.has_staged(place)) {
            return Ok(());
        }
        (open.phase, open.progressed_at) = (Phase::Prepared, self.time.steady_ms);
        let Proposal { run, epoch, .. } = open.proposal;
        let (plan, release, note) = (open.approved, open.release, open.prepared_note());
        let own = self.custodian.own.name.clone();
        self.note(What::Prepared, Some(run), &own, json!({ "epoch": epoch, "plan": plan, "release": release }));
        if let Some(note) = note {
            self.tell_others(&note);
        }
        self.publish_if_prepared()
    }

    pub(crate) fn publish_if_prepared(&mut self) -> Result<(), StoreError> {
        let Some(open) = self.open.as_ref().filter(|open| open.phase == Phase::Prepared) else { return Ok(()) };
        let Some(note) = open.prepared_note() else { return Ok(()) };
        if !open.others().all(|place| open.has_prepared(place)) {
            return Ok(());
        }
        let own = self.sign_note(note);
        match self.open.as_ref().and_then(|open| open.certificate(&own)) {
            Some(certificate) => self.publish(certificate),
            None => Ok(()),
        }
    }

    /// Publishes on a certificate.
    pub(crate) fn publish(&mut self, certificate: Certificate) -> Result<(), StoreError> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let Proposal { run, epoch, .. } = open.proposal;
        let own = self.custodian.own.name.clone();
        self.note(What::Published, Some(run), &own, json!({ "epoch": epoch, "certificate": certificate }));
        // Decided first, done second: after a crash in between it is done on restart.
        self.store.append(&std::mem::take(&mut self.records))?;
        self.store.publish(run, epoch)?;
        self.epochs = epoch;
        let certificate = Box::new(certificate);
        self.previous = Some(certificate.clone());
        // The others have the same signatures. One that lacks some asks (`repeat_outcome`), and is
        // sent the certificate.
        self.end(run, Ending::Published { certificate });
        self.keep_evidence(open.evidence);
        self.hand_over_anew();
        Ok(())
    }

    pub(crate) fn abort(&mut self, why: &str) -> Result<(), StoreError> {
        self.abort_because(why, None)
    }

    /// Ends the run without a release, says so to all, and shows what others have signed. A node
    /// that has staged gives the reason; one that is prepared ends only by `leave_doubt` or by its
    /// operator.
    pub(crate) fn abort_because(&mut self, why: &str, because: Option<Because>) -> Result<(), StoreError> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let run = open.proposal.run;
        let (why, own, because) = (plain(why), self.custodian.own.name.clone(), because.map(Box::new));
        self.note(What::Aborted, Some(run), &own, json!({ "why": why, "because": because }));
        self.end(run, Ending::Aborted { why: why.clone(), because: because.clone() });
        self.tell_roster(&open.roster, &Note::Aborted { run, why, because });
        self.show_statements(&open.evidence);
        self.keep_evidence(open.evidence);
        // Journaled first: a run whose release is gone must not look staged after a crash.
        self.store.append(&std::mem::take(&mut self.records))?;
        self.store.discard(run)?;
        self.hand_over_anew();
        Ok(())
    }

    fn keep_evidence(&mut self, evidence: Evidence) {
        self.past.push_back(evidence);
        while self.past.len() > PAST_MAX {
            self.past.pop_front();
        }
    }
}
