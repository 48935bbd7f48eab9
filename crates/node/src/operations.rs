//! The commands of an operator: propose, approve, withdraw, and show the state.

use std::collections::BTreeMap;

use hedgerow_joint::Profile;
use hedgerow_smc::{Kind, Member, Roster};
use rand::Rng as _;
use serde_json::{Value, json};

use crate::clock::Time;
use crate::journal::What;
use crate::message::{Because, Hex, Named, Note, Proposal, plain};
use crate::node::Node;
use crate::run::{Ending, Open, Phase};
use crate::settings::{Deadlines, Peer, Role};
use crate::statement::{Signed, Slot};
use crate::step_name::StepName;
use crate::steps::Execution;
use crate::store::{Store, StoreError};

/// Ended runs that a status lists: the last ones.
const ENDED_MAX: usize = 20;
/// Digits of a plan that an operator gives: 128 bits, which no other plan can be made to share.
const APPROVAL_DIGITS_MIN: usize = 32;

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
        if let Some(why) = &self.replaced {
            return Ok(Err(why.clone()));
        }
        let Some(epoch) = self.epochs.checked_add(1) else {
            return Ok(Err("no epoch follows the last one".to_owned()));
        };
        let proposal = Proposal {
            run: Hex(run),
            epoch,
            terms: Hex(self.terms),
            roster: roster.members().iter().map(Named::of).collect(),
            by: self.custodian.own.name.clone(),
        };
        if let Err(why) = self.join(proposal.clone(), roster, operator)? {
            return Ok(Err(why));
        }
        let previous = self.previous.clone();
        if let Some(open) = &mut self.open {
            open.previous.clone_from(&previous);
        }
        self.tell_others(&Note::Propose { proposal, previous });
        self.tell_own_part();
        Ok(Ok(json!({ "run": Hex(run), "epoch": epoch })))
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
        let (commitment, heads) = (Hex(snapshot.commitment()), self.own_heads());
        open.own = Some(snapshot);
        open.joined = Some(Note::Joined { run, proposal: Hex(proposal.digest()), commitment, heads });
        self.open = Some(open);
        let by = if operator.is_empty() { proposal.by.clone() } else { format!("{}, {operator}", proposal.by) };
        let detail = serde_json::to_value(&proposal).unwrap_or_default();
        self.note(What::Proposed, Some(run), &by, detail);
        self.note(What::Joined, Some(run), &own, json!({ "commitment": commitment, "heads": heads }));
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
        if matches!(open.phase, Phase::Staged | Phase::Prepared) {
            let problem = "this node has staged the release: whether it is published is for all to say";
            return Ok(Err(format!("{problem}. Where a run stays in doubt, `resolve` gives it up")));
        }
        let run = open.proposal.run;
        self.abort(&format!("withdrawn by {operator}"))?;
        Ok(Ok(json!({ "run": run })))
    }

    /// Gives up a run in doubt on the operator's word. The others may hold a certificate: who
    /// decided, why, and what every custodian had signed until then goes into the journal.
    pub(crate) fn resolve(&mut self, operator: &str, why: &str) -> Result<Result<Value, String>, StoreError> {
        let why = plain(why.trim());
        let Some(open) = self.open.as_ref().filter(|open| matches!(open.phase, Phase::Staged | Phase::Prepared)) else {
            return Ok(Err("no run is in doubt: `withdraw` gives up a run before it is staged".to_owned()));
        };
        if !open.in_doubt {
            return Ok(Err("the run goes on: it is in doubt once its custodians have been silent".to_owned()));
        }
        if why.is_empty() || operator.trim().is_empty() {
            return Ok(Err("say who decides this, and why".to_owned()));
        }
        let said = |place: u16| {
            let slots = [Slot::Staged, Slot::Prepared, Slot::Aborted];
            let signed: Vec<&Signed> = slots.into_iter().filter_map(|slot| open.evidence.of(place, slot)).collect();
            json!({ "custodian": open.name_of(place), "signed": signed })
        };
        let (run, phase, prepared) = (open.proposal.run, open.phase.name(), open.phase == Phase::Prepared);
        let said: Vec<Value> = open.others().map(said).collect();
        let detail = json!({ "why": why, "phase": phase, "custodians": said });
        self.note(What::Resolved, Some(run), operator, detail);
        let because = Because::Resolved { prepared };
        self.abort_because(&format!("given up in doubt by {operator}: {why}"), Some(because))?;
        Ok(Ok(json!({ "run": run, "phase": phase })))
    }
}

impl<S: Store> Node<S> {
    /// Takes over what a reload has changed. While a run is open, its custodians and keys stay.
    pub fn reconfigure(
        &mut self,
        time: Time,
        operator: &str,
        (own_key, peers): ([u8; 32], Vec<Peer>),
        deadlines: Deadlines,
    ) -> Result<Result<Value, String>, StoreError> {
        self.enter(time);
        let own = Member { key: own_key, ..self.custodian.own.clone() };
        let custodians = |peers: &[Peer]| -> BTreeMap<String, Member> {
            let custodians = peers.iter().filter(|peer| peer.role == Role::Custodian);
            custodians.map(|peer| (peer.member.name.clone(), peer.member.clone())).collect()
        };
        let (before, after) = (custodians(&self.custodian.peers), custodians(&peers));
        if let Some(open) = self.open.as_ref().filter(|_| before != after || own != self.custodian.own) {
            let Proposal { run, by, .. } = &open.proposal;
            let problem = format!("run {run}, proposed by {by}, is {}", open.phase.name());
            return Ok(Err(format!("{problem}: custodians and keys change between runs")));
        }
        let only = |these: &BTreeMap<String, Member>, others: &BTreeMap<String, Member>| -> Vec<String> {
            these.keys().filter(|name| !others.contains_key(*name)).cloned().collect()
        };
        let rekeyed = |(name, member): &(&String, &Member)| before.get(*name).is_some_and(|old| old != *member);
        let rekeyed: Vec<&String> = after.iter().filter(rekeyed).map(|(name, _)| name).collect();
        let changes = json!({
            "added": only(&after, &before),
            "removed": only(&before, &after),
            "new_keys": rekeyed,
            "own_key": Hex(own_key),
        });
        (self.custodian.own, self.custodian.peers, self.custodian.deadlines) = (own, peers, deadlines);
        self.note(What::Reloaded, None, operator, changes.clone());
        self.flush()?;
        Ok(Ok(changes))
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
                "plan": open.approval().map(Hex),
                "not_joined": names(open.lacking(&open.commitments, Option::is_some)),
                "not_approved": names(open.lacking(&open.approvals, Option::is_some)),
                "not_staged": names(open.behind(Open::has_staged)),
                "not_prepared": names(open.behind(Open::has_prepared)),
                "opens": self.announced(),
                "limits": self.limits(),
                "differences": differences.collect::<Vec<_>>(),
            })
        });
        let recent = self.order.iter().rev().take(ENDED_MAX).rev();
        let last = recent.filter_map(|run| Some((run, self.ended.get(run)?))).map(|(run, ending)| match ending {
            Ending::Published { certificate } => {
                let epoch = certificate.proposal.epoch;
                json!({ "run": run, "ended": "published", "epoch": epoch, "release": certificate.release })
            }
            Ending::Aborted { why, .. } => {
                json!({ "run": run, "ended": "aborted", "why": why, "blamed": self.blamed.get(run) })
            }
        });
        json!({
            "name": self.custodian.own.name,
            "terms": Hex(self.terms),
            "epoch": self.epoch(),
            "rows": if self.custodian.agreed.apart { "apart" } else { "united" },
            "replaced": self.replaced,
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
