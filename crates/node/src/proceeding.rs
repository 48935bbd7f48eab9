//! How a run goes on at a node: from the last approval to its publication, or to its end without
//! one.

use hedgerow_smc::{Coins, Fault};
use serde_json::json;

use crate::journal::What;
use crate::message::{Hex, Note, Proposal, plain};
use crate::node::Node;
use crate::opened;
use crate::part::{Common, Part};
use crate::run::{Ending, Phase};
use crate::steps::{Advanced, Execution, Next, StepName};
use crate::store::{Found, Store, StoreError};

impl<S: Store> Node<S> {
    pub(crate) fn start_if_approved(&mut self) -> Result<(), StoreError> {
        let Some(open) = self.open.as_mut().filter(|open| open.phase == Phase::Proposed) else { return Ok(()) };
        match open.all_approve() {
            Ok(false) => Ok(()),
            Err(place) => {
                let other = open.name_of(place);
                self.abort("it approved another plan than the one that is known here", Some(other))
            }
            Ok(true) => {
                open.phase = Phase::Executing;
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
                let own = self.custodian.own.name.clone();
                return self.abort(&fault.to_string(), Some(own));
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
            Next::Nothing => self.abort("even all rows of all custodians as one class break a rule", None),
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
        let blamed = fault.blames().map(|place| open.name_of(place));
        self.abort(&fault.to_string(), blamed)
    }

    /// Writes the release that was found. By now our last message of the last step is on its way,
    /// so nobody waits for us while we write.
    pub(crate) fn prepare(&mut self) -> Result<(), StoreError> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let Some(found) = open.found.take() else { return Ok(()) };
        let Proposal { run, epoch, .. } = open.proposal;
        let own = self.custodian.own.name.clone();
        // The ledger beside the release is taken from the journal.
        self.store.append(&std::mem::take(&mut self.records))?;
        if let Err(why) = self.store.stage(run, epoch, &found)? {
            return self.abort(&format!("the release could not be made: {why}"), Some(own));
        }
        open.phase = Phase::Prepared;
        open.prepared[usize::from(open.me)] = true;
        open.progressed_at = self.time.steady_ms;
        let classes = found.classes().len();
        let rows: u64 = found.classes().iter().map(|class| class.rows).sum();
        self.note(What::Prepared, Some(run), &own, json!({ "epoch": epoch, "classes": classes, "rows": rows }));
        self.tell_others(&Note::Prepared { run });
        self.publish_if_prepared()
    }

    pub(crate) fn publish_if_prepared(&mut self) -> Result<(), StoreError> {
        let ready = self
            .open
            .as_ref()
            .is_some_and(|open| open.phase == Phase::Prepared && open.prepared.iter().all(|prepared| *prepared));
        if ready { self.publish() } else { Ok(()) }
    }

    pub(crate) fn publish(&mut self) -> Result<(), StoreError> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let Proposal { run, epoch, .. } = open.proposal;
        let own = self.custodian.own.name.clone();
        self.note(What::Published, Some(run), &own, json!({ "epoch": epoch }));
        // Decided first, done second: after a crash in between it is done on restart.
        self.store.append(&std::mem::take(&mut self.records))?;
        self.store.publish(run, epoch)?;
        self.epochs = epoch;
        self.end(run, Ending::Published { epoch });
        self.tell_roster(&open.roster, &Note::Published { run });
        Ok(())
    }

    /// Ends the run without a release, and says so to all. Never after this node said that it is
    /// prepared, unless another one did not prepare.
    pub(crate) fn abort(&mut self, why: &str, blamed: Option<String>) -> Result<(), StoreError> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let run = open.proposal.run;
        let (why, own) = (plain(why), self.custodian.own.name.clone());
        self.note(What::Aborted, Some(run), &own, json!({ "why": why, "blamed": blamed }));
        self.end(run, Ending::Aborted { why: why.clone(), blamed: blamed.clone() });
        self.tell_roster(&open.roster, &Note::Aborted { run, why, blamed });
        // Journaled first: a run whose release is gone must not look prepared after a crash.
        self.store.append(&std::mem::take(&mut self.records))?;
        self.store.discard(run)
    }
}
