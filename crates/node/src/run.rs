//! A run that this node takes part in, from its proposal to its end.

use hedgerow_joint::AgreedRef;
use hedgerow_smc::{Digest, Fault, Plan, Roster, Snapshot};

use crate::message::Proposal;
use crate::steps::Execution;
use crate::store::Found;

/// How far a run has come at this node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Custodians join, and their operators approve.
    Proposed,
    /// Classes and rows are being found.
    Executing,
    /// The release is on the disk, and this node waits for the others to say the same. It cannot
    /// give up any more.
    Prepared,
}

impl Phase {
    pub fn name(self) -> &'static str {
        match self {
            Phase::Proposed => "proposed",
            Phase::Executing => "executing",
            Phase::Prepared => "prepared",
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    Published { epoch: u64 },
    Aborted { why: String, blamed: Option<String> },
}

#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) proposal: Proposal,
    pub(crate) roster: Roster,
    /// Our place in the roster.
    pub(crate) me: u16,
    pub(crate) phase: Phase,
    /// Our rows as this run sees them; nothing after a restart.
    pub(crate) own: Option<Snapshot>,
    /// Nothing after a restart: what is prepared needs it no more.
    pub(crate) execution: Option<Execution>,
    pub(crate) commitments: Vec<Option<Digest>>,
    pub(crate) plan: Option<Plan>,
    /// By custodian, the plan that its operator approved.
    pub(crate) approvals: Vec<Option<Digest>>,
    /// The operator who insisted on what the book refuses.
    pub(crate) insisted: Option<String>,
    /// What was found, while it is not on the disk yet.
    pub(crate) found: Option<Found>,
    pub(crate) prepared: Vec<bool>,
    /// Since when, in milliseconds: the run, the last progress, the last repetition.
    pub(crate) opened_at: u64,
    pub(crate) progressed_at: u64,
    pub(crate) repeated_at: u64,
    pub(crate) in_doubt: bool,
}

impl Open {
    pub(crate) fn new(proposal: Proposal, roster: Roster, me: u16, phase: Phase, now: u64) -> Open {
        let count = roster.count();
        Open {
            proposal,
            roster,
            me,
            phase,
            own: None,
            execution: None,
            commitments: vec![None; count],
            plan: None,
            approvals: vec![None; count],
            insisted: None,
            found: None,
            prepared: vec![false; count],
            opened_at: now,
            progressed_at: now,
            repeated_at: now,
            in_doubt: false,
        }
    }

    pub(crate) fn place_of(&self, name: &str) -> Option<u16> {
        let place = self.roster.members().iter().position(|member| member.name == name)?;
        Some(place as u16)
    }

    pub(crate) fn name_of(&self, place: u16) -> String {
        self.roster.members().get(usize::from(place)).map_or(String::new(), |member| member.name.clone())
    }

    /// The names of those for whom something is not there yet.
    pub(crate) fn lacking<T>(&self, list: &[T], there: impl Fn(&T) -> bool) -> Vec<String> {
        let members = self.roster.members().iter().zip(list);
        members.filter(|(_, item)| !there(item)).map(|(member, _)| member.name.clone()).collect()
    }

    /// The plan, once everybody has joined.
    pub(crate) fn make_plan(&mut self, agreed: &AgreedRef, terms: Digest) -> Result<(), Fault> {
        let (Some(own), None) = (&self.own, &self.plan) else { return Ok(()) };
        let Some(commitments) = self.commitments.iter().copied().collect::<Option<Vec<_>>>() else { return Ok(()) };
        self.plan = Some(Plan::new(terms, agreed.limits, self.roster.clone(), commitments, own.clone())?);
        Ok(())
    }

    /// Whether all operators have approved the plan that we have; an error names who approved
    /// another one.
    pub(crate) fn all_approve(&self) -> Result<bool, u16> {
        let Some(plan) = self.plan.as_ref().map(Plan::digest) else { return Ok(false) };
        let other = self.approvals.iter().position(|approval| approval.is_some_and(|approved| approved != plan));
        match other {
            Some(place) => Err(place as u16),
            None => Ok(self.approvals.iter().all(Option::is_some)),
        }
    }
}
