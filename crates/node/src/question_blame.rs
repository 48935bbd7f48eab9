//! Contradictions in the answer to a question: as in a run, two different messages under one
//! signature for one place of a session convict their sender, and nothing else does.
//!
//! A custodian that was restarted takes up no question that it had heard before, so one that
//! follows the protocol signs one message for each place.

use serde_json::json;

use crate::evidence::{Evidence, SHOWN_MAX};
use crate::journal::What;
use crate::message::{Asking, QuestionId};
use crate::node::Node;
use crate::statement::{Proof, Signed};
use crate::store::{Store, StoreError};

impl<S: Store> Node<S> {
    fn answer_evidence(&mut self, id: QuestionId) -> Option<&mut Evidence> {
        let questions = &mut self.questions;
        let ended = questions.ended.iter_mut().find(|ended| ended.id == id).map(|ended| &mut ended.evidence);
        questions.open.get_mut(&id).map(|open| &mut open.evidence).or(ended)
    }

    /// Another custodian shows what it has.
    pub(crate) fn heard_answer_statements(
        &mut self,
        from: &str,
        id: QuestionId,
        shown: &[Signed],
    ) -> Result<(), StoreError> {
        let own = self.custodian.own.signing_key;
        let Some(evidence) = self.answer_evidence(id) else { return Ok(()) };
        let Some(from) = evidence.place_of(from) else { return Ok(()) };
        if evidence.shown_by.contains(&from) || shown.len() > SHOWN_MAX {
            return Ok(());
        }
        evidence.shown_by.push(from);
        let of_question = shown.iter().filter(|signed| signed.statement.slot(id).is_some() && !signed.verifies(&own));
        let found = of_question.filter_map(|signed| evidence.signer(signed).map(|place| (place, signed)));
        let found: Vec<(u16, &Signed)> = found.collect();
        let proof = found.into_iter().find_map(|(place, signed)| evidence.add(place, signed));
        proof.map_or(Ok(()), |proof| self.convict_in_question(proof))
    }

    /// Another custodian has a proof.
    pub(crate) fn heard_answer_proof(&mut self, id: QuestionId, proof: Proof) -> Result<(), StoreError> {
        let Some(evidence) = self.answer_evidence(id) else { return Ok(()) };
        let known = evidence.roster.members().contains(&proof.culprit.member());
        if known && proof.run == id && proof.holds() { self.convict_in_question(proof) } else { Ok(()) }
    }

    /// Writes a proof down and tells all, once; the question ends.
    pub(crate) fn convict_in_question(&mut self, proof: Proof) -> Result<(), StoreError> {
        let (id, name) = (proof.run, proof.culprit.name.clone());
        let Some(evidence) = self.answer_evidence(id) else { return Ok(()) };
        let Some(place) = evidence.place_of(&name) else { return Ok(()) };
        if evidence.convicted.insert(place, proof.clone()).is_some() {
            return Ok(());
        }
        let roster = evidence.roster.clone();
        self.note(What::Blamed, None, &name, json!({ "question": id, "proof": proof }));
        self.say_roster(&roster, &Asking::Proved { id, proof: Box::new(proof) });
        let why = format!("{name} signed two messages that contradict each other");
        self.give_up(id, &why, Some(name))
    }
}
