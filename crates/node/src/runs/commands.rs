//! The commands of an operator: propose, approve, withdraw, and resolve.

use hedgerow_smc::Roster;
use rand::Rng as _;
use serde_json::{Value, json};

use crate::context::Context;
use crate::journal::What;
use crate::message::{Because, Hex, Note, Proposal, RosterEntry, plain};
use crate::statement::{Signed, StatementSlot};
use crate::steps::Execution;
use crate::store::StoreError;

use super::{OpenRun, RunPhase, Runs};

/// Digits of a plan that an operator gives: 128 bits, which no other plan can be made to share.
const APPROVAL_DIGITS_MIN: usize = 32;

impl Runs {
    pub(crate) fn propose(
        &mut self,
        cx: &mut Context,
        operator: &str,
        without: &[String],
    ) -> Result<Result<Value, String>, StoreError> {
        if let Some(open) = self.open_run() {
            return Ok(Err(format!("{open}: it has to end first")));
        }
        let custodians = cx.custodian.custodians();
        if let Some(stranger) = without.iter().find(|name| !custodians.clone().any(|peer| peer.member.name == **name)) {
            return Ok(Err(format!("{stranger} is no custodian whom this node knows")));
        }
        let custodians = custodians.filter(|peer| !without.contains(&peer.member.name));
        let members = custodians.map(|peer| peer.member.clone()).chain([cx.custodian.own.clone()]).collect();
        let roster = match Roster::new(members) {
            Ok(roster) => roster,
            Err(fault) => return Ok(Err(fault.to_string())),
        };
        if let Some(why) = cx.why_unreadable(&roster) {
            return Ok(Err(why));
        }
        let mut run = [0; 16];
        cx.rng.fill_bytes(&mut run);
        if let Some(why) = cx.heads.replaced() {
            return Ok(Err(why.clone()));
        }
        let Some(epoch) = self.epochs.checked_add(1) else {
            return Ok(Err("no epoch follows the last one".to_owned()));
        };
        let proposal = Proposal {
            run: Hex(run),
            epoch,
            terms: Hex(cx.terms),
            roster: roster.members().iter().map(RosterEntry::of).collect(),
            by: cx.custodian.own.name.clone(),
        };
        if let Err(why) = self.join(cx, proposal.clone(), roster, operator)? {
            return Ok(Err(why));
        }
        let previous = self.previous.clone();
        if let Some(open) = &mut self.open {
            open.previous.clone_from(&previous);
        }
        self.tell_others(cx, &Note::Propose { proposal, previous });
        self.tell_own_part(cx);
        Ok(Ok(json!({ "run": Hex(run), "epoch": epoch })))
    }

    /// Takes part in a run, unless our own rows stand against it.
    pub(crate) fn join(
        &mut self,
        cx: &mut Context,
        proposal: Proposal,
        roster: Roster,
        operator: &str,
    ) -> Result<Result<(), String>, StoreError> {
        let Some(me) = roster.members().iter().position(|member| *member == cx.custodian.own) else {
            return Ok(Err("this node is not in the roster".to_owned()));
        };
        let share = match (cx.custodian.rows)() {
            Ok(share) => share,
            Err(why) => return Ok(Err(why)),
        };
        let agreed = &cx.custodian.agreed;
        let snapshot = cx.book.snapshot(share.row_bytes(agreed).iter().map(Vec::as_slice));
        let run = proposal.run;
        let mut open = OpenRun::new(proposal.clone(), roster, me as u16, RunPhase::Proposed, cx.outbox.now());
        open.commitments[me] = Some(snapshot.commitment());
        open.execution = Some(Execution::new(cx.custodian.profile, agreed.clone(), share, me as u16));
        let (commitment, heads) = (Hex(snapshot.commitment()), cx.own_heads());
        open.own = Some(snapshot);
        open.joined = Some(Note::Joined { run, proposal: Hex(proposal.digest()), commitment, heads });
        self.open = Some(open);
        let by = if operator.is_empty() { proposal.by.clone() } else { format!("{}, {operator}", proposal.by) };
        let detail = serde_json::to_value(&proposal).unwrap_or_default();
        cx.outbox.note(What::Proposed, Some(run), &by, detail);
        cx.outbox.note_own(What::Joined, Some(run), json!({ "commitment": commitment, "heads": heads }));
        Ok(Ok(()))
    }

    pub(crate) fn approve(
        &mut self,
        cx: &mut Context,
        operator: &str,
        digits: &str,
        insist: bool,
    ) -> Result<Result<Value, String>, StoreError> {
        let Some(open) = self.open.as_mut().filter(|open| open.phase == RunPhase::Proposed) else {
            return Ok(Err("no run waits for approval".to_owned()));
        };
        let (Some(plan), Some(digest)) = (&open.plan, open.approval()) else {
            let late = open.lacking(&open.commitments, Option::is_some).join(", ");
            return Ok(Err(format!("the plan is not known yet: {late} has not joined")));
        };
        let run = open.proposal.run;
        if digits.len() < APPROVAL_DIGITS_MIN || !Hex(digest).to_string().starts_with(&digits.to_ascii_lowercase()) {
            let problem = "that is not the digest of the plan that waits for approval";
            let hint = format!("read `status`, and give {APPROVAL_DIGITS_MIN} digits of `plan` or more");
            return Ok(Err(format!("{problem}: {hint}")));
        }
        let differences = cx.book.differences(plan);
        if !differences.all().is_empty() {
            let shown: Vec<String> = differences.all().iter().map(ToString::to_string).collect();
            if !insist {
                let problem = "rows of this custodian were in other runs, and the answers of both show what differs";
                return Ok(Err(format!("{problem}:\n  {}\ninsist only where that may be shown", shown.join("\n  "))));
            }
            open.insisted = Some(operator.to_owned());
            cx.outbox.note(What::Insisted, Some(run), operator, json!({ "differences": shown }));
        }
        if let Some(open) = &mut self.open {
            let me = usize::from(open.me);
            open.approvals[me] = Some(digest);
            open.progressed_at = cx.outbox.now();
        }
        cx.outbox.note_own(What::Approved, Some(run), json!({ "plan": Hex(digest), "operator": operator }));
        self.tell_others(cx, &Note::Approved { run, plan: Hex(digest) });
        self.start_if_approved(cx)?;
        Ok(Ok(json!({ "run": run, "plan": Hex(digest) })))
    }

    pub(crate) fn withdraw(&mut self, cx: &mut Context, operator: &str) -> Result<Result<Value, String>, StoreError> {
        let Some(open) = self.open.as_ref() else { return Ok(Err("no run is open".to_owned())) };
        if matches!(open.phase, RunPhase::Staged | RunPhase::Prepared) {
            let problem = "this node has staged the release: whether it is published is for all to say";
            return Ok(Err(format!("{problem}. Where a run stays in doubt, `resolve` gives it up")));
        }
        let run = open.proposal.run;
        self.abort(cx, &format!("withdrawn by {operator}"))?;
        Ok(Ok(json!({ "run": run })))
    }

    /// Gives up a run in doubt on the operator's word. The others may hold a certificate: who
    /// decided, why, and what every custodian had signed until then goes into the journal.
    pub(crate) fn resolve(
        &mut self,
        cx: &mut Context,
        operator: &str,
        why: &str,
    ) -> Result<Result<Value, String>, StoreError> {
        let why = plain(why.trim());
        let Some(open) = self.open.as_ref().filter(|open| matches!(open.phase, RunPhase::Staged | RunPhase::Prepared))
        else {
            return Ok(Err("no run is in doubt: `withdraw` gives up a run before it is staged".to_owned()));
        };
        if !open.in_doubt {
            return Ok(Err("the run goes on: it is in doubt once its custodians have been silent".to_owned()));
        }
        if why.is_empty() || operator.trim().is_empty() {
            return Ok(Err("say who decides this, and why".to_owned()));
        }
        let said = |place: u16| {
            let slots = [StatementSlot::Staged, StatementSlot::Prepared, StatementSlot::Aborted];
            let signed: Vec<&Signed> = slots.into_iter().filter_map(|slot| open.evidence.of(place, slot)).collect();
            json!({ "custodian": open.name_of(place), "signed": signed })
        };
        let (run, phase, prepared) = (open.proposal.run, open.phase.name(), open.phase == RunPhase::Prepared);
        let said: Vec<Value> = open.others().map(said).collect();
        let detail = json!({ "why": why, "phase": phase, "custodians": said });
        cx.outbox.note(What::Resolved, Some(run), operator, detail);
        let because = Because::Resolved { prepared };
        self.abort_because(cx, &format!("given up in doubt by {operator}: {why}"), Some(because))?;
        Ok(Ok(json!({ "run": run, "phase": phase })))
    }
}
