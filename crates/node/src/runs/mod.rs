//! The runs that a node takes part in: one that is open, and how all others ended.
//!
//! A run is proposed and approved (`commands.rs`, `hearing.rs`), executed and published
//! (`proceeding.rs`), and repeated to those who may have missed something (`repeating.rs`).
//! Contradictions of its custodians are found in `blame.rs`; `replay.rs` reads it all back.

mod blame;
mod commands;
mod hearing;
mod open;
mod proceeding;
mod repeating;
mod replay;
mod status;

use std::collections::{BTreeMap, VecDeque};

use hedgerow_smc::SessionId;

use crate::certificate::Certificate;
use crate::context::Context;
use crate::evidence::Evidence;
use crate::health::HealthCounts;
use crate::message::{Note, Proposal, RunId};
use crate::outbox::repeat_after;
use crate::settings::Deadlines;
use crate::statement::Signed;
use crate::step_name::StepName;
use crate::steps::Execution;
use crate::store::{Store, StoreError};

use open::OpenRun;
pub use open::{Ending, RunPhase};

#[derive(Debug, Default)]
pub(crate) struct Runs {
    open: Option<OpenRun>,
    ended: BTreeMap<RunId, Ending>,
    /// The runs of `ended`, in that order.
    order: Vec<RunId>,
    /// By run, how far it came: of all that began.
    reached: BTreeMap<RunId, RunPhase>,
    epochs: u64,
    /// The certificate of the last epoch.
    previous: Option<Box<Certificate>>,
    /// Statements of runs that have ended.
    past: VecDeque<Evidence>,
    /// By run, the custodian that was convicted.
    blamed: BTreeMap<RunId, String>,
    /// By peer, its last proposal, until it has confirmed this node's journal.
    proposals: BTreeMap<String, (Note, Signed)>,
    /// By peer, how many of its runs were refused in this hour, and how many of its proposals were
    /// taken up.
    refusals: BTreeMap<String, u32>,
    taken_up: BTreeMap<String, u32>,
}

/// The state of runs that questions depend on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Latest {
    /// The last epoch, where it may be answered.
    pub(crate) epoch: Option<u64>,
    /// This node is about to publish a run, and others may have.
    pub(crate) publishing: bool,
}

impl Runs {
    /// The last published run; nothing before the first, while others may have published a later
    /// one, or where a peer knows another journal of this node.
    pub(crate) fn latest<S: Store + ?Sized>(&self, cx: &Context<S>) -> Latest {
        let prepared = self.open.as_ref().filter(|open| open.phase == RunPhase::Prepared);
        let doubt = prepared.is_some();
        let epoch = (self.epochs > 0 && !doubt && cx.may_answer()).then_some(self.epochs);
        Latest { epoch, publishing: prepared.is_some_and(|open| !open.in_doubt) }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// The open run in words.
    pub(crate) fn open_run(&self) -> Option<String> {
        let open = self.open.as_ref()?;
        let Proposal { run, by, .. } = &open.proposal;
        Some(format!("run {run}, proposed by {by}, is {}", open.phase.name()))
    }

    /// Whether a release was found that is not on the disk yet.
    pub(crate) fn has_found(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.found.is_some())
    }

    /// Whether this is a session of the open run.
    pub(crate) fn has_session(&self, session: &SessionId) -> bool {
        self.open.as_ref().is_some_and(|open| StepName::of_session(open.proposal.run, session).is_some())
    }

    /// How far this node came in a run, as its journal has it; nothing where it lacks the run.
    pub(crate) fn reached(&self, run: &RunId) -> Option<RunPhase> {
        let known = self.ended.contains_key(run) || self.open.as_ref().is_some_and(|open| open.proposal.run == *run);
        known.then(|| self.reached.get(run).copied().unwrap_or(RunPhase::Proposed))
    }

    /// The outcome of a run, if it has ended here.
    pub(crate) fn ending(&self, run: &RunId) -> Option<&Ending> {
        self.ended.get(run)
    }

    pub(crate) fn counts(&self) -> HealthCounts {
        let published = self.ended.values().filter(|ending| matches!(ending, Ending::Published { .. })).count() as u64;
        HealthCounts {
            published,
            aborted: self.ended.len() as u64 - published,
            open: self.open.is_some(),
            in_doubt: self.open.as_ref().is_some_and(|open| open.in_doubt),
            ..HealthCounts::default()
        }
    }

    /// A new hour begins.
    pub(crate) fn forget_hour(&mut self) {
        self.refusals.clear();
        self.taken_up.clear();
    }

    /// Time in which this node heard no peer is not counted against its peers.
    pub(crate) fn excuse(&mut self, ms: u64, now: u64) {
        if let Some(open) = &mut self.open {
            open.progressed_at = (open.progressed_at + ms).min(now);
        }
    }

    /// A peer has confirmed this node's journal: what waited for that goes on.
    pub(crate) fn confirmed(&mut self, cx: &mut Context, from: &str) -> Result<(), StoreError> {
        if let Some((proposal, signed)) = self.proposals.remove(from) {
            self.heard(cx, from, proposal, &signed)?;
        }
        self.start_if_approved(cx)
    }

    /// Ends a run that has not been staged.
    pub(crate) fn stop(&mut self, cx: &mut Context, why: &str) -> Result<(), StoreError> {
        let began = |open: &OpenRun| matches!(open.phase, RunPhase::Proposed | RunPhase::Executing);
        if self.open.as_ref().is_some_and(began) { self.abort(cx, why) } else { Ok(()) }
    }

    /// Ends a run, before it is staged, whose custodians do not understand each other.
    pub(crate) fn stop_unreadable(&mut self, cx: &mut Context) -> Result<(), StoreError> {
        let why = self.open.as_ref().and_then(|open| cx.why_unreadable(&open.roster));
        why.map_or(Ok(()), |why| self.stop(cx, &why))
    }

    /// Deadlines, and what may not have been heard.
    pub(crate) fn tick(&mut self, cx: &mut Context) -> Result<(), StoreError> {
        let now = cx.outbox.now();
        let Deadlines { silence, approval, .. } = cx.custodian.deadlines;
        let Some(open) = &mut self.open else { return Ok(()) };
        let silence_ms = silence.as_millis() as u64;
        let silent = now.saturating_sub(open.progressed_at) > silence_ms;
        let bytes = open.execution.as_ref().map_or(0, Execution::sent_bytes);
        let repeat_after = repeat_after(bytes, silence_ms);
        match open.phase {
            RunPhase::Proposed if now.saturating_sub(open.opened_at) > approval.as_millis() as u64 => {
                let late = open.lacking(&open.approvals, Option::is_some);
                self.abort(cx, &format!("no approval in time from {}", late.join(", ")))
            }
            RunPhase::Executing if silent => {
                let waits_for = open.execution.as_ref().map(Execution::waits_for).unwrap_or_default();
                let names: Vec<String> = waits_for.iter().map(|place| open.name_of(*place)).collect();
                self.abort(cx, &format!("no message in {} s from {}", silence.as_secs(), names.join(", ")))
            }
            phase if now.saturating_sub(open.repeated_at.max(open.progressed_at)) >= repeat_after => {
                open.in_doubt |= matches!(phase, RunPhase::Staged | RunPhase::Prepared) && silent;
                open.repeated_at = now;
                self.repeat(cx);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn end(&mut self, run: RunId, ending: Ending) {
        if self.ended.insert(run, ending).is_none() {
            self.order.push(run);
        }
    }
}
