//! How a node handles what its peers say of runs.

use hedgerow_smc::{Fault, Message, Roster};
use serde_json::json;

use crate::certificate::Certificate;
use crate::context::Context;
use crate::journal::What;
use crate::message::{Because, Note, Proposal, RosterEntry, RunId, plain};
use crate::statement::Signed;
use crate::step_name::StepName;
use crate::store::StoreError;

use super::{Ending, RunPhase, Runs};

/// Runs of one peer that are refused in the journal, in an hour.
const REFUSALS_MAX: u32 = 60;
/// Proposals of one peer that are taken up in an hour: for each the node reads all its rows and
/// journals what was proposed, and its proposer can end it at once.
const PROPOSALS_MAX: u32 = 60;

impl Runs {
    pub(crate) fn heard(
        &mut self,
        cx: &mut Context,
        from: &str,
        note: Note,
        signed: &Signed,
    ) -> Result<(), StoreError> {
        let run = note.run();
        if signed.statement.slot(run).is_some() && !signed.fits() {
            cx.outbox.rejected(from, "a note that is longer than any that follows the protocol");
            return Ok(());
        }
        if self.ended.contains_key(&run) {
            return self.heard_of_ended(cx, from, note, signed);
        }
        let place = match self.open.as_ref().filter(|open| open.proposal.run == run) {
            Some(open) => open.place_of(from),
            None => return self.heard_of_unknown(cx, from, note, signed),
        };
        let Some(place) = place else {
            cx.outbox.rejected(from, "not in the roster of the run it speaks of");
            return Ok(());
        };
        if let Note::Aborted { because, .. } = &note
            && !self.reason_holds(run, place, because.as_deref())
        {
            cx.outbox.rejected(from, "gives up a run for a reason that no custodian signed");
            return Ok(());
        }
        self.witness(cx, run, place, signed)?;
        // A contradiction has ended it.
        if self.open.as_ref().is_none_or(|open| open.proposal.run != run) {
            return Ok(());
        }
        self.heard_in_run(cx, from, place, note, signed)
    }

    fn heard_in_run(
        &mut self,
        cx: &mut Context,
        from: &str,
        place: u16,
        note: Note,
        signed: &Signed,
    ) -> Result<(), StoreError> {
        let run = note.run();
        let Some(open) = &mut self.open else { return Ok(()) };
        let at = usize::from(place);
        match note {
            Note::Joined { proposal, commitment, .. } if open.phase == RunPhase::Proposed => {
                self.heard_joined(cx, from, at, proposal.0, commitment.0, signed)
            }
            Note::Approved { plan, .. } if open.approvals[at].is_none() && open.phase == RunPhase::Proposed => {
                open.approvals[at] = Some(plan.0);
                cx.outbox.note(What::Approved, Some(run), from, json!({ "plan": plan }));
                self.start_if_approved(cx)
            }
            Note::Staged { .. } => self.prepare_if_staged(cx),
            Note::Prepared { .. } => self.publish_if_prepared(cx),
            Note::Published { certificate, .. } => {
                if self.is_certificate(&certificate) {
                    return self.publish(cx, *certificate);
                }
                cx.outbox.rejected(from, "says that a run is published, without a certificate that holds here");
                Ok(())
            }
            Note::Aborted { why, because, .. } => self.heard_aborted(cx, from, &why, because, signed),
            Note::Inquire { .. } => {
                let prepared = open.prepared_note().filter(|_| open.phase == RunPhase::Prepared);
                let notes: Vec<Note> = open.staged_note().into_iter().chain(prepared).collect();
                notes.into_iter().for_each(|note| cx.outbox.tell(from, note));
                Ok(())
            }
            Note::Shown { statements, .. } => self.heard_statements(cx, from, run, &statements),
            Note::Proved { proof, .. } => self.heard_proof(cx, run, *proof),
            Note::Propose { .. } | Note::Joined { .. } | Note::Approved { .. } => Ok(()),
        }
    }

    fn heard_joined(
        &mut self,
        cx: &mut Context,
        from: &str,
        at: usize,
        proposal: [u8; 32],
        commitment: [u8; 32],
        signed: &Signed,
    ) -> Result<(), StoreError> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let run = open.proposal.run;
        if open.commitments[at].is_some() {
            return Ok(());
        }
        if proposal != open.proposal.digest() {
            return self.abort(cx, &format!("{from} was proposed something else under the same name"));
        }
        open.commitments[at] = Some(commitment);
        let planned = open.make_plan(&cx.custodian.agreed, cx.terms);
        cx.outbox.note(What::Joined, Some(run), from, json!({ "signed": signed }));
        if !cx.heads.keep(from, signed) {
            return self.abort(cx, &format!("the journal of {from} is older than it was, or another one"));
        }
        match planned {
            Ok(()) => self.start_if_approved(cx),
            Err(fault) => self.abort(cx, &fault.to_string()),
        }
    }

    /// Whether a certificate publishes the open run: over the release that is staged here, with the
    /// signatures of all.
    fn is_certificate(&self, certificate: &Certificate) -> bool {
        let Some(open) = self.open.as_ref().filter(|open| open.phase == RunPhase::Prepared) else { return false };
        certificate.proposal == open.proposal
            && open.own_release() == Some((certificate.approved(), certificate.release))
            && certificate.holds()
    }

    /// Another custodian gives up. Before this node has signed that it is prepared, no certificate
    /// can exist without it, so it follows. Afterwards a single word ends nothing.
    fn heard_aborted(
        &mut self,
        cx: &mut Context,
        from: &str,
        why: &str,
        because: Option<Box<Because>>,
        signed: &Signed,
    ) -> Result<(), StoreError> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let run = open.proposal.run;
        // What it rests on may contradict what we have.
        match because.as_deref() {
            Some(Because::Statement { by, signed }) => {
                if let Some(place) = open.place_of(by) {
                    self.witness(cx, run, place, signed)?;
                }
            }
            Some(Because::Proof { proof }) => self.heard_proof(cx, run, (**proof).clone())?,
            Some(Because::Resolved { .. }) | None => {}
        }
        let Some(open) = self.open.as_mut().filter(|open| open.proposal.run == run) else { return Ok(()) };
        let why = format!("{from} gave up: {}", plain(why));
        match open.phase {
            RunPhase::Proposed | RunPhase::Executing => self.abort(cx, &why),
            RunPhase::Staged => {
                let because = Because::following(from, signed);
                self.abort_because(cx, &why, Some(because))
            }
            RunPhase::Prepared => {
                open.in_doubt = true;
                self.leave_doubt(cx)
            }
        }
    }

    /// A note about a run that has ended here.
    fn heard_of_ended(&mut self, cx: &mut Context, from: &str, note: Note, signed: &Signed) -> Result<(), StoreError> {
        let run = note.run();
        let place = self.evidence(run).and_then(|evidence| {
            let place = evidence.roster.members().iter().position(|member| member.name == from)?;
            Some(place as u16)
        });
        if let Some(place) = place {
            match &note {
                Note::Aborted { because, .. } if !self.reason_holds(run, place, because.as_deref()) => {}
                _ => self.witness(cx, run, place, signed)?,
            }
        }
        let Some(ending) = self.ended.get(&run).cloned() else { return Ok(()) };
        match note {
            Note::Shown { statements, .. } => self.heard_statements(cx, from, run, &statements),
            Note::Proved { proof, .. } => self.heard_proof(cx, run, *proof),
            // Two endings would answer each other for ever.
            Note::Published { certificate, .. } => {
                if matches!(ending, Ending::Aborted { .. }) && certificate.proposal.run == run && certificate.holds() {
                    cx.outbox.rejected(from, "has a certificate for a run that an operator gave up here");
                }
                Ok(())
            }
            Note::Aborted { .. } => Ok(()),
            // A later journal than this one may know that the run went on.
            _ if matches!(ending, Ending::Aborted { .. }) && !cx.may_deny(from) => Ok(()),
            // With these comes a request for the outcome: one certificate is enough.
            Note::Staged { .. } | Note::Prepared { .. } if matches!(ending, Ending::Published { .. }) => Ok(()),
            _ => {
                cx.outbox.tell(from, Runs::ending_note(run, &ending));
                Ok(())
            }
        }
    }

    /// A note about a run that is neither open nor ended here.
    fn heard_of_unknown(
        &mut self,
        cx: &mut Context,
        from: &str,
        note: Note,
        signed: &Signed,
    ) -> Result<(), StoreError> {
        match note {
            // An older copy of the folder may have joined it before, with another commitment.
            Note::Propose { .. } if !cx.heads.has_confirmed(from) => {
                self.proposals.insert(from.to_owned(), (note, signed.clone()));
                Ok(())
            }
            Note::Propose { proposal, previous } => {
                let roster = self.fits(cx, from, &proposal, previous.as_deref());
                let refused = match roster {
                    Ok(roster) => {
                        *self.taken_up.entry(from.to_owned()).or_default() += 1;
                        self.join(cx, proposal.clone(), roster, "")?.err()
                    }
                    Err(why) => Some(why),
                };
                match refused {
                    Some(why) => self.refuse(cx, from, proposal.run, &why),
                    None => {
                        self.tell_own_part(cx);
                        let place = self.open.as_ref().and_then(|open| open.place_of(from));
                        place.map_or(Ok(()), |place| self.witness(cx, proposal.run, place, signed))
                    }
                }
            }
            // What it knew may be in a later journal than this one: no word about it.
            Note::Staged { .. } | Note::Prepared { .. } | Note::Inquire { .. } if !cx.may_deny(from) => Ok(()),
            // Nothing was staged here, or the journal would know: so it cannot have been published.
            Note::Staged { run, .. } | Note::Prepared { run, .. } | Note::Inquire { run } => {
                self.refuse(cx, from, run, "it knows nothing of this run")
            }
            // Notes overtake each other; the proposal will be repeated.
            Note::Joined { .. }
            | Note::Approved { .. }
            | Note::Published { .. }
            | Note::Aborted { .. }
            | Note::Shown { .. }
            | Note::Proved { .. } => Ok(()),
        }
    }

    /// Whether a proposal is one that this node may take part in.
    fn fits(
        &self,
        cx: &Context,
        from: &str,
        proposal: &Proposal,
        previous: Option<&Certificate>,
    ) -> Result<Roster, String> {
        if proposal.by != from {
            return Err("it is proposed in the name of another".to_owned());
        }
        if cx.heads.replaced().is_some() {
            return Err("its journal is not the one that its peers know".to_owned());
        }
        if let Some(open) = &self.open {
            return Err(format!("another run, proposed by {}, is {}", open.proposal.by, open.phase.name()));
        }
        if self.taken_up.get(from).is_some_and(|taken| *taken >= PROPOSALS_MAX) {
            return Err("too many of its proposals in one hour".to_owned());
        }
        if proposal.terms.0 != cx.terms {
            let problem = "its policy, promises, limits or version differ from the proposal's";
            return Err(format!("{problem}: `hedgerow-node diff` names what does"));
        }
        self.follows(cx, proposal.epoch, previous)?;
        let roster = proposal.roster().map_err(|fault| fault.to_string())?;
        match roster.members().iter().find(|member| !cx.custodian.knows(member)) {
            Some(member) => Err(format!("it does not know {} by these keys", plain(&member.name))),
            None if !roster.members().contains(&cx.custodian.own) => Err("it is not in the roster".to_owned()),
            None if !roster.members().iter().any(|member| member.name == from) => {
                Err("the custodian that proposes it is not in the roster".to_owned())
            }
            None if !roster.members().iter().map(RosterEntry::of).eq(proposal.roster.iter().cloned()) => {
                Err("its roster is not in the order of names".to_owned())
            }
            None => cx.why_unreadable(&roster).map_or(Ok(roster), Err),
        }
    }

    /// Whether a run would be the next epoch. A custodian that took no part in the last ones is
    /// shown what the epoch before was published on.
    fn follows(&self, cx: &Context, epoch: u64, previous: Option<&Certificate>) -> Result<(), String> {
        let last = self.epochs;
        if epoch <= last {
            return Err(format!("epoch {last} is published here: a custodian that knows it has to propose"));
        }
        if Some(epoch) == last.checked_add(1) {
            return Ok(());
        }
        let shown = previous.filter(|previous| previous.proposal.epoch.checked_add(1) == Some(epoch));
        let known =
            |previous: &Certificate| previous.proposal.roster.iter().all(|named| cx.custodian.knows(&named.member()));
        match shown {
            Some(previous) if known(previous) && previous.holds() => Ok(()),
            _ => Err(format!(
                "epoch {epoch} does not follow epoch {last}, and no certificate of the one before it is shown"
            )),
        }
    }

    /// Takes no part in a run, now or ever: that is what the others may build on.
    pub(super) fn refuse(&mut self, cx: &mut Context, from: &str, run: RunId, why: &str) -> Result<(), StoreError> {
        let refusals = self.refusals.entry(from.to_owned()).or_default();
        *refusals += 1;
        if *refusals > REFUSALS_MAX {
            return Ok(());
        }
        cx.outbox.note(What::Refused, Some(run), from, json!({ "why": why }));
        self.end(run, Ending::Aborted { why: why.to_owned(), because: None });
        cx.outbox.tell(from, Note::Aborted { run, why: why.to_owned(), because: None });
        Ok(())
    }

    /// A message of a step of the open run.
    pub(crate) fn stepped(
        &mut self,
        cx: &mut Context,
        from: &str,
        bytes: &[u8],
        signed: &Signed,
    ) -> Result<(), StoreError> {
        let Some(open) = &self.open else { return Ok(()) };
        let step = Message::session_of(bytes).and_then(|session| StepName::of_session(open.proposal.run, &session));
        let Some(step) = step else { return Ok(()) };
        let (run, Some(place)) = (open.proposal.run, open.place_of(from)) else { return Ok(()) };
        self.witness(cx, run, place, signed)?;
        let Some(open) = self.open.as_mut().filter(|open| open.proposal.run == run) else { return Ok(()) };
        let executing = matches!(open.phase, RunPhase::Proposed | RunPhase::Executing);
        let Some(execution) = open.execution.as_mut().filter(|_| executing) else { return Ok(()) };
        let message = match Message::decode(bytes) {
            Ok(message) => message,
            Err(fault) => {
                let fault = Fault::Wire { sender: place, fault };
                return self.failed(cx, &fault);
            }
        };
        match execution.step() {
            Some(running) if running == step => {
                let waited = execution.waits_for();
                let advanced = execution.advance(place, message);
                if waited.contains(&place) {
                    open.progressed_at = cx.outbox.now();
                }
                self.advance(cx, advanced)
            }
            Some(running) if running > step => Ok(()),
            _ => {
                execution.keep(step, place, message, bytes.len());
                Ok(())
            }
        }
    }
}
