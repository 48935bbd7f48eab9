//! A run that this node takes part in, from its proposal to its end.

use hedgerow_joint::AgreedRef;
use hedgerow_smc::{Digest, Fault, Plan, Roster, Snapshot};

use crate::certificate::Certificate;
use crate::evidence::Evidence;
use crate::message::{Because, Hex, Note, Proposal};
use crate::statement::{Signed, Statement, StatementSlot};
use crate::steps::Execution;
use crate::store::RunResult;

/// How far a run has come at this node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunPhase {
    /// Custodians join, and their operators approve.
    Proposed,
    /// Classes and rows are being found.
    Executing,
    /// The release is on the disk, and this node waits for the others to say the same.
    Staged,
    /// All have said so, and this node has signed that it is prepared. It waits for the signatures
    /// of the others, and cannot give up any more.
    Prepared,
}

impl RunPhase {
    pub fn name(self) -> &'static str {
        match self {
            RunPhase::Proposed => "proposed",
            RunPhase::Executing => "executing",
            RunPhase::Staged => "staged",
            RunPhase::Prepared => "prepared",
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    Published { certificate: Box<Certificate> },
    Aborted { why: String, because: Option<Box<Because>> },
}

#[derive(Debug)]
pub(super) struct OpenRun {
    pub(super) proposal: Proposal,
    pub(super) roster: Roster,
    /// Our place in the roster.
    pub(super) me: u16,
    pub(super) phase: RunPhase,
    /// Our rows as this run sees them; nothing after a restart.
    pub(super) own: Option<Snapshot>,
    /// Nothing after a restart: what is staged needs it no more.
    pub(super) execution: Option<Execution>,
    pub(super) commitments: Vec<Option<Digest>>,
    pub(super) plan: Option<Plan>,
    /// By custodian, the plan that its operator approved.
    pub(super) approvals: Vec<Option<Digest>>,
    /// The operator who insisted on what the book refuses.
    pub(super) insisted: Option<String>,
    /// The result, while it is not on the disk yet.
    pub(super) found: Option<RunResult>,
    /// The release that this node has staged.
    pub(super) release: Option<Hex<32>>,
    /// The digest that this node's operator approved, as journaled: known after a restart too.
    pub(super) approved: Option<Hex<32>>,
    /// The statements beside the proposal, as journaled: terms, custodians, and commitments to
    /// rows.
    pub(super) committed: Option<Hex<32>>,
    /// The statements that custodians have signed in this run.
    pub(super) evidence: Evidence,
    pub(super) previous: Option<Box<Certificate>>,
    /// Our own commitment as we sent it.
    pub(super) joined: Option<Note>,
    /// Since when, in milliseconds: the run, the last progress, the last repetition.
    pub(super) opened_at: u64,
    pub(super) progressed_at: u64,
    pub(super) repeated_at: u64,
    pub(super) in_doubt: bool,
}

impl OpenRun {
    pub(super) fn new(proposal: Proposal, roster: Roster, me: u16, phase: RunPhase, now: u64) -> OpenRun {
        let count = roster.count();
        OpenRun {
            evidence: Evidence::new(proposal.run, roster.clone()),
            release: None,
            approved: None,
            committed: None,
            previous: None,
            joined: None,
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
            opened_at: now,
            progressed_at: now,
            repeated_at: now,
            in_doubt: false,
        }
    }

    pub(super) fn place_of(&self, name: &str) -> Option<u16> {
        let place = self.roster.members().iter().position(|member| member.name == name)?;
        Some(place as u16)
    }

    pub(super) fn name_of(&self, place: u16) -> String {
        self.roster.members().get(usize::from(place)).map_or(String::new(), |member| member.name.clone())
    }

    /// The digest that operators approve: what is proposed, and all commitments to rows.
    pub(super) fn approval(&self) -> Option<Digest> {
        self.plan.as_ref().map(|plan| self.proposal.approval(&plan.digest()))
    }

    /// The release that a custodian has signed as staged or prepared.
    fn signed_release(&self, place: u16, slot: StatementSlot) -> Option<&Note> {
        match &self.evidence.of(place, slot)?.statement {
            Statement::Note { note } => Some(note),
            _ => None,
        }
    }

    pub(super) fn own_release(&self) -> Option<(Hex<32>, Hex<32>)> {
        Some((self.approved?, self.release?))
    }

    /// The messages of this node once its release is on the disk.
    pub(super) fn staged_note(&self) -> Option<Note> {
        let (plan, release) = self.own_release()?;
        let Proposal { run, epoch, .. } = self.proposal;
        Some(Note::Staged { run, epoch, plan, release })
    }

    pub(super) fn prepared_note(&self) -> Option<Note> {
        let (plan, release) = self.own_release()?;
        let Proposal { run, epoch, .. } = self.proposal;
        Some(Note::Prepared { run, epoch, plan, release })
    }

    pub(super) fn others(&self) -> impl Iterator<Item = u16> + use<> {
        let me = self.me;
        (0..self.roster.count() as u16).filter(move |place| *place != me)
    }

    /// Another custodian that has staged another release than this node.
    pub(super) fn stages_otherwise(&self) -> Option<u16> {
        let own = self.staged_note()?;
        self.others().find(|place| self.signed_release(*place, StatementSlot::Staged).is_some_and(|note| *note != own))
    }

    pub(super) fn has_staged(&self, place: u16) -> bool {
        (place == self.me && self.release.is_some()) || self.evidence.of(place, StatementSlot::Staged).is_some()
    }

    pub(super) fn has_prepared(&self, place: u16) -> bool {
        (place == self.me && self.phase == RunPhase::Prepared)
            || self.evidence.of(place, StatementSlot::Prepared).is_some()
    }

    /// The names of those who have not come that far.
    pub(super) fn behind(&self, there: impl Fn(&OpenRun, u16) -> bool) -> Vec<String> {
        (0..self.roster.count() as u16).filter(|place| !there(self, *place)).map(|place| self.name_of(place)).collect()
    }

    /// All signatures, once they are there and over the same words.
    pub(super) fn certificate(&self, own: &Signed) -> Option<Certificate> {
        let note = self.prepared_note()?;
        let (committed, release) = (self.committed?, self.release?);
        let signature = |place: u16| {
            let signed = if place == self.me { own } else { self.evidence.of(place, StatementSlot::Prepared)? };
            let same = matches!(&signed.statement, Statement::Note { note: signed } if *signed == note);
            same.then_some(signed.signature)
        };
        let signatures = (0..self.roster.count() as u16).map(signature).collect::<Option<Vec<_>>>()?;
        Some(Certificate { proposal: self.proposal.clone(), committed, release, signatures })
    }

    /// The names of those for whom something is not there yet.
    pub(super) fn lacking<T>(&self, list: &[T], there: impl Fn(&T) -> bool) -> Vec<String> {
        let members = self.roster.members().iter().zip(list);
        members.filter(|(_, item)| !there(item)).map(|(member, _)| member.name.clone()).collect()
    }

    /// The plan, once all have joined.
    pub(super) fn make_plan(&mut self, agreed: &AgreedRef, terms: Digest) -> Result<(), Fault> {
        let (Some(own), None) = (&self.own, &self.plan) else { return Ok(()) };
        let Some(commitments) = self.commitments.iter().copied().collect::<Option<Vec<_>>>() else { return Ok(()) };
        self.plan = Some(Plan::new(terms, agreed.limits, self.roster.clone(), commitments, own.clone())?);
        Ok(())
    }

    /// Whether all operators have approved what we know; an error names a custodian whose operator
    /// approved something else.
    pub(super) fn all_approve(&self) -> Result<bool, u16> {
        let Some(plan) = self.approval() else { return Ok(false) };
        let other = self.approvals.iter().position(|approval| approval.is_some_and(|approved| approved != plan));
        match other {
            Some(place) => Err(place as u16),
            None => Ok(self.approvals.iter().all(Option::is_some)),
        }
    }
}
