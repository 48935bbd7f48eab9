//! How contradictions are found and made known.
//!
//! A custodian may tell two others different things. Each of them sees only its own half, so a node
//! that gives up a run shows the others what it has; the one that holds the other half has a proof.

use serde_json::json;

use crate::context::Context;
use crate::evidence::{Evidence, SHOWN_MAX};
use crate::journal::What;
use crate::message::{Because, Note, RunId};
use crate::statement::{Proof, Signed, Statement, StatementSlot};
use crate::store::StoreError;

use super::{RunPhase, Runs};

impl Runs {
    pub(super) fn evidence(&mut self, run: RunId) -> Option<&mut Evidence> {
        let open = self.open.as_mut().map(|open| &mut open.evidence).filter(|evidence| evidence.run == run);
        open.or_else(|| self.past.iter_mut().find(|evidence| evidence.run == run))
    }

    /// Keeps what a custodian has signed.
    pub(super) fn witness(
        &mut self,
        cx: &mut Context,
        run: RunId,
        place: u16,
        signed: &Signed,
    ) -> Result<(), StoreError> {
        let proof = self.evidence(run).and_then(|evidence| evidence.add(place, signed));
        if let Some(open) = self.open.as_ref().filter(|open| open.proposal.run == run) {
            cx.keep_progress(&open.name_of(place), run, signed);
        }
        match proof {
            Some(proof) => self.convict(cx, proof),
            None => Ok(()),
        }
    }

    /// Another custodian shows what it has.
    pub(super) fn heard_statements(
        &mut self,
        cx: &mut Context,
        from: &str,
        run: RunId,
        shown: &[Signed],
    ) -> Result<(), StoreError> {
        let own = cx.custodian.own.signing_key;
        let Some(evidence) = self.evidence(run) else { return Ok(()) };
        let Some(from) = evidence.roster.members().iter().position(|member| member.name == from) else {
            return Ok(());
        };
        // Signatures take time: each custodian shows its statements once.
        if evidence.shown_by.contains(&(from as u16)) || shown.len() > SHOWN_MAX {
            return Ok(());
        }
        evidence.shown_by.push(from as u16);
        // That a custodian gave up is its own to say, with a reason that can be looked at.
        let of_use = |signed: &&Signed| signed.statement.slot(run).is_some_and(|slot| slot != StatementSlot::Aborted);
        let of_run = shown.iter().filter(of_use).filter(|signed| !signed.verifies(&own));
        let signers: Vec<(u16, &Signed)> =
            of_run.filter_map(|signed| Some((evidence.signer(signed)?, signed))).collect();
        for (place, signed) in signers {
            self.witness(cx, run, place, signed)?;
        }
        Ok(())
    }

    /// Another custodian has a proof.
    pub(super) fn heard_proof(&mut self, cx: &mut Context, run: RunId, proof: Proof) -> Result<(), StoreError> {
        let culprit = proof.culprit.member();
        let Some(evidence) = self.evidence(run) else { return Ok(()) };
        let known = evidence.roster.members().contains(&culprit);
        if known && proof.run == run && proof.holds() { self.convict(cx, proof) } else { Ok(()) }
    }

    /// Writes a proof down and tells all, once; the run cannot go on.
    pub(super) fn convict(&mut self, cx: &mut Context, proof: Proof) -> Result<(), StoreError> {
        let run = proof.run;
        let name = proof.culprit.name.clone();
        let Some(evidence) = self.evidence(run) else { return Ok(()) };
        let Some(place) = evidence.roster.members().iter().position(|member| member.name == name) else {
            return Ok(());
        };
        if evidence.convicted.contains_key(&(place as u16)) {
            return Ok(());
        }
        evidence.convicted.insert(place as u16, proof.clone());
        let roster = evidence.roster.clone();
        let detail = json!({ "proof": proof });
        cx.outbox.note(What::Blamed, Some(run), &name, detail);
        self.blamed.insert(run, name.clone());
        cx.outbox.tell_roster(&roster, &Note::Proved { run, proof: Box::new(proof.clone()) });
        let phase = self.open.as_ref().filter(|open| open.proposal.run == run).map(|open| open.phase);
        match phase {
            None => Ok(()),
            Some(RunPhase::Prepared) => self.leave_doubt(cx),
            Some(_) => {
                let why = format!("{name} signed two statements that contradict each other");
                self.abort_because(cx, &why, Some(Because::Proof { proof: Box::new(proof) }))
            }
        }
    }

    /// A prepared run ends where one custodian is convicted and another one gave up, or where two
    /// gave up: while at most one custodian breaks the protocol, one of those who gave up follows
    /// it, and never signed that it is prepared, so no certificate can exist. A custodian whose
    /// operator gave up after it was prepared has signed, and does not count.
    pub(super) fn leave_doubt(&mut self, cx: &mut Context) -> Result<(), StoreError> {
        let Some(open) = self.open.as_ref().filter(|open| open.phase == RunPhase::Prepared) else { return Ok(()) };
        let evidence = &open.evidence;
        let gave_up = |place: u16| {
            let signed =
                evidence.of(place, StatementSlot::Aborted).filter(|_| !evidence.convicted.contains_key(&place))?;
            (!was_prepared(signed)).then(|| (open.name_of(place), signed.clone()))
        };
        let gave_up: Vec<(String, Signed)> = open.others().filter_map(gave_up).collect();
        let (why, because) = match (evidence.convicted.values().next(), gave_up.as_slice()) {
            (Some(proof), [_, ..]) => {
                let culprit = &proof.culprit.name;
                let why = format!("{culprit} signed two statements that contradict each other, and others gave up");
                (why, Because::Proof { proof: Box::new(proof.clone()) })
            }
            (None, [(name, signed), _, ..]) => {
                ("several custodians gave up".to_owned(), Because::following(name, signed))
            }
            _ => return Ok(()),
        };
        self.abort_because(cx, &why, Some(because))
    }

    /// Shows all custodians of a run what this node has.
    pub(super) fn show_statements(cx: &mut Context, evidence: &Evidence) {
        let (run, roster) = (evidence.run, evidence.roster.clone());
        let statements = evidence.shown();
        cx.outbox.tell_roster(&roster, &Note::Shown { run, statements });
    }

    /// Whether what a custodian gives as its reason is signed by another custodian of the run, and
    /// by which one.
    pub(super) fn reason_holds(&mut self, run: RunId, from: u16, because: Option<&Because>) -> bool {
        let Some(evidence) = self.evidence(run) else { return false };
        match because {
            None | Some(Because::Resolved { .. }) => true,
            Some(Because::Proof { proof }) => {
                proof.run == run && evidence.roster.members().contains(&proof.culprit.member()) && proof.holds()
            }
            Some(Because::Statement { by, signed }) => {
                let member = evidence.roster.members().iter().enumerate().find(|(_, member)| member.name == *by);
                let Some((place, member)) = member else { return false };
                let about = match &signed.statement {
                    Statement::Note { note: Note::Staged { run: of, .. } } => *of == run,
                    statement => statement.gives_up() == Some(run),
                };
                about && place != usize::from(from) && signed.verifies(&member.signing_key)
            }
        }
    }
}

/// Whether a custodian that gave up had signed that it is prepared.
fn was_prepared(signed: &Signed) -> bool {
    let Statement::Note { note: Note::Aborted { because: Some(because), .. } } = &signed.statement else {
        return false;
    };
    matches!(**because, Because::Resolved { prepared: true })
}
