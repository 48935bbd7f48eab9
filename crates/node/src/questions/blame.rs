//! Contradictions in the answer to a question: as in a run, two different messages under one
//! signature for one place of a session convict their sender, and nothing else does.
//!
//! A custodian that was restarted takes up no question that it had heard before, so one that
//! follows the protocol signs one message for each place.

use serde_json::json;

use crate::context::Context;
use crate::evidence::{Evidence, SHOWN_MAX};
use crate::journal::What;
use crate::message::{Asking, QuestionId};
use crate::statement::{Proof, Signed};

use super::Questions;

impl Questions {
    fn evidence(&mut self, id: QuestionId) -> Option<&mut Evidence> {
        let ended = self.ended.iter_mut().find(|ended| ended.id == id).map(|ended| &mut ended.evidence);
        self.open.get_mut(&id).map(|open| &mut open.evidence).or(ended)
    }

    /// Another custodian shows what it has.
    pub(super) fn heard_statements(&mut self, cx: &mut Context, from: &str, id: QuestionId, shown: &[Signed]) {
        let own = cx.custodian.own.signing_key;
        let Some(evidence) = self.evidence(id) else { return };
        let Some(from) = evidence.place_of(from) else { return };
        if evidence.shown_by.contains(&from) || shown.len() > SHOWN_MAX {
            return;
        }
        evidence.shown_by.push(from);
        let of_question = shown.iter().filter(|signed| signed.statement.slot(id).is_some() && !signed.verifies(&own));
        let found = of_question.filter_map(|signed| evidence.signer(signed).map(|place| (place, signed)));
        let found: Vec<(u16, &Signed)> = found.collect();
        let proof = found.into_iter().find_map(|(place, signed)| evidence.add(place, signed));
        if let Some(proof) = proof {
            self.convict(cx, proof);
        }
    }

    /// Another custodian has a proof.
    pub(super) fn heard_proof(&mut self, cx: &mut Context, id: QuestionId, proof: Proof) {
        let Some(evidence) = self.evidence(id) else { return };
        let known = evidence.roster.members().contains(&proof.culprit.member());
        if known && proof.run == id && proof.holds() {
            self.convict(cx, proof);
        }
    }

    /// Writes a proof down and tells all, once; the question ends.
    pub(super) fn convict(&mut self, cx: &mut Context, proof: Proof) {
        let (id, name) = (proof.run, proof.culprit.name.clone());
        let Some(evidence) = self.evidence(id) else { return };
        let Some(place) = evidence.place_of(&name) else { return };
        if evidence.convicted.insert(place, proof.clone()).is_some() {
            return;
        }
        let roster = evidence.roster.clone();
        cx.outbox.note(What::Blamed, None, &name, json!({ "question": id, "proof": proof }));
        cx.outbox.say_roster(&roster, &Asking::Proved { id, proof: Box::new(proof) });
        let why = format!("{name} signed two messages that contradict each other");
        self.give_up(cx, id, &why, Some(name));
    }
}
