//! The notes of a node about a run, repeated while a peer may not have received them.

use hedgerow_smc::Outgoing;

use crate::context::Context;
use crate::message::{Hex, Note, RunId};
use crate::steps::Execution;

use super::{Ending, RunPhase, Runs};

impl Runs {
    /// Says again what a peer may not have heard.
    pub(super) fn repeat(&self, cx: &mut Context) {
        let Some(open) = &self.open else { return };
        let run = open.proposal.run;
        if matches!(open.phase, RunPhase::Staged | RunPhase::Prepared) {
            return self.repeat_outcome(cx);
        }
        if open.proposal.by == cx.custodian.own.name && open.phase == RunPhase::Proposed {
            let (proposal, previous) = (open.proposal.clone(), open.previous.clone());
            self.tell_others(cx, &Note::Propose { proposal, previous });
        }
        self.tell_own_part(cx);
        let Some(open) = &self.open else { return };
        if let Some(plan) = open.approvals[usize::from(open.me)] {
            self.tell_others(cx, &Note::Approved { run, plan: Hex(plan) });
        }
        self.repeat_steps(cx);
    }

    /// Others may still be at the last step.
    fn repeat_steps(&self, cx: &mut Context) {
        let Some(open) = &self.open else { return };
        let again: Vec<Outgoing> = open.execution.iter().flat_map(Execution::sent).cloned().collect();
        again.iter().for_each(|outgoing| self.send_step(cx, outgoing));
    }

    /// The release that this node has staged and prepared.
    pub(super) fn repeat_outcome(&self, cx: &mut Context) {
        let Some(open) = &self.open else { return };
        let run = open.proposal.run;
        let prepared = open.prepared_note().filter(|_| open.phase == RunPhase::Prepared);
        let staged = open.staged_note();
        staged.iter().chain(&prepared).for_each(|note| self.tell_others(cx, note));
        self.tell_others(cx, &Note::Inquire { run });
        self.repeat_steps(cx);
    }

    /// How a run ended, as a note.
    pub(super) fn ending_note(run: RunId, ending: &Ending) -> Note {
        match ending {
            Ending::Published { certificate } => Note::Published { run, certificate: certificate.clone() },
            Ending::Aborted { why, because } => Note::Aborted { run, why: why.clone(), because: because.clone() },
        }
    }

    pub(super) fn tell_own_part(&self, cx: &mut Context) {
        if let Some(joined) = self.open.as_ref().and_then(|open| open.joined.clone()) {
            self.tell_others(cx, &joined);
        }
    }

    pub(super) fn tell_others(&self, cx: &mut Context, note: &Note) {
        if let Some(roster) = self.open.as_ref().map(|open| open.roster.clone()) {
            cx.outbox.tell_roster(&roster, note);
        }
    }

    pub(super) fn send_step(&self, cx: &mut Context, outgoing: &Outgoing) {
        let Some(roster) = self.open.as_ref().map(|open| open.roster.clone()) else { return };
        cx.outbox.send_among(&roster, outgoing);
    }
}
