//! What an operator does at a node: propose, approve, withdraw, and look.

use hedgerow_joint::Profile;
use hedgerow_smc::{Kind, Member, Roster};
use rand::Rng as _;
use serde_json::{Value, json};

use crate::journal::What;
use crate::message::{Hex, Named, Note, Proposal};
use crate::node::Node;
use crate::run::{Ending, Open, Phase};
use crate::settings::Role;
use crate::steps::{Execution, StepName};
use crate::store::{Store, StoreError};

/// Ended runs that a status lists: the last ones.
const ENDED_MAX: usize = 20;

impl<S: Store> Node<S> {
    pub(crate) fn propose(&mut self, operator: &str, without: &[String]) -> Result<Result<Value, String>, StoreError> {
        if let Some(open) = &self.open {
            let Proposal { run, by, .. } = &open.proposal;
            return Ok(Err(format!("run {run}, proposed by {by}, is {}: it has to end first", open.phase.name())));
        }
        let custodians = self.custodian.peers.iter().filter(|peer| peer.role == Role::Custodian);
        if let Some(stranger) = without.iter().find(|name| !custodians.clone().any(|peer| peer.member.name == **name)) {
            return Ok(Err(format!("{stranger} is no custodian whom this node knows")));
        }
        let custodians = custodians.filter(|peer| !without.contains(&peer.member.name));
        let members = custodians.map(|peer| peer.member.clone()).chain([self.custodian.own.clone()]).collect();
        let roster = match Roster::new(members) {
            Ok(roster) => roster,
            Err(fault) => return Ok(Err(fault.to_string())),
        };
        let mut run = [0; 16];
        self.rng.fill_bytes(&mut run);
        let named = |member: &Member| Named { name: member.name.clone(), key: Hex(member.key) };
        let proposal = Proposal {
            run: Hex(run),
            epoch: self.epochs + 1,
            terms: Hex(self.terms),
            roster: roster.members().iter().map(named).collect(),
            by: self.custodian.own.name.clone(),
        };
        if let Err(why) = self.join(proposal.clone(), roster, operator)? {
            return Ok(Err(why));
        }
        self.tell_others(&Note::Propose { proposal });
        self.tell_own_part();
        Ok(Ok(json!({ "run": Hex(run), "epoch": self.epochs + 1 })))
    }

    /// Takes part in a run, unless our own rows stand against it.
    pub(crate) fn join(
        &mut self,
        proposal: Proposal,
        roster: Roster,
        operator: &str,
    ) -> Result<Result<(), String>, StoreError> {
        let own = self.custodian.own.name.clone();
        let Some(me) = roster.members().iter().position(|member| *member == self.custodian.own) else {
            return Ok(Err("this node is not in the roster".to_owned()));
        };
        let share = match (self.custodian.rows)() {
            Ok(share) => share,
            Err(why) => return Ok(Err(why)),
        };
        let agreed = &self.custodian.agreed;
        let snapshot = self.book.snapshot(share.row_bytes(agreed).iter().map(Vec::as_slice));
        let run = proposal.run;
        let mut open = Open::new(proposal.clone(), roster, me as u16, Phase::Proposed, self.time.steady_ms);
        open.commitments[me] = Some(snapshot.commitment());
        open.execution = Some(Execution::new(agreed.clone(), share, me as u16));
        let commitment = Hex(snapshot.commitment());
        open.own = Some(snapshot);
        self.open = Some(open);
        let by = if operator.is_empty() { proposal.by.clone() } else { format!("{}, {operator}", proposal.by) };
        let detail = serde_json::to_value(&proposal).unwrap_or_default();
        self.note(What::Proposed, Some(run), &by, detail);
        self.note(What::Joined, Some(run), &own, json!({ "commitment": commitment }));
        Ok(Ok(()))
    }

    pub(crate) fn approve(
        &mut self,
        operator: &str,
        digits: &str,
        insist: bool,
    ) -> Result<Result<Value, String>, StoreError> {
        let Some(open) = self.open.as_mut().filter(|open| open.phase == Phase::Proposed) else {
            return Ok(Err("no run waits for approval".to_owned()));
        };
        let Some(plan) = &open.plan else {
            let late = open.lacking(&open.commitments, Option::is_some).join(", ");
            return Ok(Err(format!("the plan is not known yet: {late} has not joined")));
        };
        let (digest, run) = (plan.digest(), open.proposal.run);
        if digits.len() < 8 || !Hex(digest).to_string().starts_with(&digits.to_ascii_lowercase()) {
            let problem = "that is not the digest of the plan that waits for approval";
            return Ok(Err(format!("{problem}: read `status`, and give 8 digits of `plan` or more")));
        }
        let differences = self.book.differences(plan);
        if !differences.all().is_empty() {
            let shown: Vec<String> = differences.all().iter().map(ToString::to_string).collect();
            if !insist {
                let problem = "rows of this custodian were in other runs, and the answers of both show what differs";
                return Ok(Err(format!("{problem}:\n  {}\ninsist only where that may be shown", shown.join("\n  "))));
            }
            open.insisted = Some(operator.to_owned());
            self.note(What::Insisted, Some(run), operator, json!({ "differences": shown }));
        }
        if let Some(open) = &mut self.open {
            let me = usize::from(open.me);
            open.approvals[me] = Some(digest);
            open.progressed_at = self.time.steady_ms;
        }
        let own = self.custodian.own.name.clone();
        let detail = json!({ "plan": Hex(digest), "operator": operator });
        self.note(What::Approved, Some(run), &own, detail);
        self.tell_others(&Note::Approved { run, plan: Hex(digest) });
        self.start_if_approved()?;
        Ok(Ok(json!({ "run": run, "plan": Hex(digest) })))
    }

    pub(crate) fn withdraw(&mut self, operator: &str) -> Result<Result<Value, String>, StoreError> {
        let Some(open) = self.open.as_ref() else { return Ok(Err("no run is open".to_owned())) };
        if open.phase == Phase::Prepared {
            let problem = "this node has said that it is prepared: whether the run is published is for all to say";
            return Ok(Err(problem.to_owned()));
        }
        let (run, own) = (open.proposal.run, self.custodian.own.name.clone());
        self.abort(&format!("withdrawn by {operator}"), Some(own))?;
        Ok(Ok(json!({ "run": run })))
    }
}

impl<S: Store> Node<S> {
    pub(crate) fn status(&self) -> Value {
        let names = |list: Vec<String>| Value::from(list);
        let open = self.open.as_ref().map(|open| {
            let plan = open.plan.as_ref();
            let differences = plan.map(|plan| self.book.differences(plan));
            let differences = differences.iter().flat_map(|all| all.all()).map(ToString::to_string);
            json!({
                "run": open.proposal.run,
                "epoch": open.proposal.epoch,
                "proposed_by": open.proposal.by,
                "phase": open.phase.name(),
                "in_doubt": open.in_doubt,
                "step": open.execution.as_ref().and_then(Execution::step).map(StepName::name),
                "custodians": open.proposal.roster,
                "plan": plan.map(|plan| Hex(plan.digest())),
                "not_joined": names(open.lacking(&open.commitments, Option::is_some)),
                "not_approved": names(open.lacking(&open.approvals, Option::is_some)),
                "not_prepared": names(open.lacking(&open.prepared, |prepared| *prepared)),
                "opens": self.announced(),
                "limits": self.limits(),
                "differences": differences.collect::<Vec<_>>(),
            })
        });
        let recent = self.order.iter().rev().take(ENDED_MAX).rev();
        let last = recent.filter_map(|run| Some((run, self.ended.get(run)?))).map(|(run, ending)| match ending {
            Ending::Published { epoch } => json!({ "run": run, "ended": "published", "epoch": epoch }),
            Ending::Aborted { why, blamed } => json!({ "run": run, "ended": "aborted", "why": why, "blamed": blamed }),
        });
        json!({
            "name": self.custodian.own.name,
            "terms": Hex(self.terms),
            "epoch": self.epoch(),
            "rows": if self.custodian.agreed.apart { "apart" } else { "united" },
            "open": open,
            "questions": self.open_questions(),
            "ended": last.collect::<Vec<_>>(),
        })
    }

    /// The forecast that an operator approves: what each step can open, and to whom.
    pub(crate) fn announced(&self) -> Value {
        let steps = self.custodian.agreed.announce(Profile::Masked);
        let kinds = |kinds: Vec<Kind>| kinds.into_iter().map(|kind| Value::from(kind.describe())).collect::<Vec<_>>();
        steps.into_iter().map(|(step, opens)| json!({ "step": step, "opens_to_all": kinds(opens) })).collect()
    }

    pub(crate) fn limits(&self) -> Value {
        let limits = self.custodian.agreed.limits;
        json!({
            "rounds": limits.rounds_max,
            "words_in_a_vector": limits.words_max,
            "rows": limits.rows_max,
            "parts": limits.parts_max,
            "bytes_in_a_shuffle": limits.batch_bytes_max,
            "bytes_waiting_from_one": limits.inbox_bytes_max,
        })
    }
}
