//! The messages of a node to its peers, repeated while a peer may not have received them.

use hedgerow_smc::{Outgoing, Roster, To};

use crate::message::{Asking, Content, Frame, Hex, Note, QuestionId};
use crate::node::{Node, REPEAT_MS};
use crate::run::{Ending, Phase};
use crate::statement::{Signed, Statement};
use crate::store::Store;

impl<S: Store> Node<S> {
    /// Says again what a peer may not have heard.
    pub(crate) fn repeat(&mut self) {
        let Some(open) = &self.open else { return };
        let run = open.proposal.run;
        if matches!(open.phase, Phase::Staged | Phase::Prepared) {
            return self.repeat_outcome();
        }
        if open.proposal.by == self.custodian.own.name && open.phase == Phase::Proposed {
            let (proposal, previous) = (open.proposal.clone(), open.previous.clone());
            self.tell_others(&Note::Propose { proposal, previous });
        }
        self.tell_own_part();
        let Some(open) = &self.open else { return };
        if let Some(plan) = open.approvals[usize::from(open.me)] {
            self.tell_others(&Note::Approved { run, plan: Hex(plan) });
        }
        self.repeat_steps();
    }

    /// Others may still be at the last step.
    fn repeat_steps(&mut self) {
        let Some(open) = &self.open else { return };
        let again: Vec<Outgoing> = open.execution.iter().flat_map(|execution| execution.sent().cloned()).collect();
        again.iter().for_each(|outgoing| self.send_step(outgoing));
    }

    /// The release that this node has staged and prepared.
    pub(crate) fn repeat_outcome(&mut self) {
        let Some(open) = &self.open else { return };
        let run = open.proposal.run;
        let prepared = open.prepared_note().filter(|_| open.phase == Phase::Prepared);
        let staged = open.staged_note();
        staged.iter().chain(&prepared).for_each(|note| self.tell_others(note));
        self.tell_others(&Note::Inquire { run });
        self.repeat_steps();
    }

    /// How a run ended, as a note.
    pub(crate) fn ending_note(run: crate::message::RunId, ending: &Ending) -> Note {
        match ending {
            Ending::Published { certificate } => Note::Published { run, certificate: certificate.clone() },
            Ending::Aborted { why, because } => Note::Aborted { run, why: why.clone(), because: because.clone() },
        }
    }

    pub(crate) fn tell_own_part(&mut self) {
        if let Some(joined) = self.open.as_ref().and_then(|open| open.joined.clone()) {
            self.tell_others(&joined);
        }
    }

    pub(crate) fn sign(&self, content: Content) -> Frame {
        Frame::sign(content, &self.custodian.signing)
    }

    pub(crate) fn sign_note(&self, note: Note) -> Signed {
        Statement::Note { note }.sign(&self.custodian.signing)
    }

    pub(crate) fn tell(&mut self, to: &str, note: Note) {
        let frame = self.sign(Content::Note(note));
        self.outbox.push((to.to_owned(), frame));
    }

    pub(crate) fn tell_others(&mut self, note: &Note) {
        if let Some(roster) = self.open.as_ref().map(|open| open.roster.clone()) {
            self.tell_roster(&roster, note);
        }
    }

    pub(crate) fn tell_roster(&mut self, roster: &Roster, note: &Note) {
        let frame = self.sign(Content::Note(note.clone()));
        let own = &self.custodian.own.name;
        let others = roster.members().iter().filter(|member| member.name != *own);
        self.outbox.extend(others.map(|member| (member.name.clone(), frame.clone())));
    }

    pub(crate) fn send_step(&mut self, outgoing: &Outgoing) {
        let Some(roster) = self.open.as_ref().map(|open| open.roster.clone()) else { return };
        self.send_among(&roster, outgoing);
    }

    pub(crate) fn send_among(&mut self, roster: &Roster, outgoing: &Outgoing) {
        let frame = self.sign(Content::Step(outgoing.message.encode()));
        let own = &self.custodian.own.name;
        let members = roster.members().iter().enumerate().filter(|(_, member)| member.name != *own);
        let receives = |place: usize| match outgoing.to {
            To::One(one) => usize::from(one) == place,
            To::Others => true,
        };
        let sent =
            members.filter(|(place, _)| receives(*place)).map(|(_, member)| (member.name.clone(), frame.clone()));
        self.outbox.extend(sent);
    }
}

/// About questions.
impl<S: Store> Node<S> {
    pub(crate) fn say(&mut self, to: &str, asking: Asking) {
        let frame = self.sign(Content::Asking(asking));
        self.outbox.push((to.to_owned(), frame));
    }

    pub(crate) fn say_roster(&mut self, roster: &Roster, asking: &Asking) {
        let frame = self.sign(Content::Asking(asking.clone()));
        let own = &self.custodian.own.name;
        let others = roster.members().iter().filter(|member| member.name != *own);
        self.outbox.extend(others.map(|member| (member.name.clone(), frame.clone())));
    }

    /// For a custodian who is still at a question that is over here. One that is open here is
    /// repeated anyway.
    pub(crate) fn say_last_again(&mut self, name: &str, id: QuestionId) {
        let now = self.time.steady_ms;
        let Some(ended) = self.questions.ended.iter_mut().find(|ended| ended.id == id) else { return };
        let Some(place) = ended.roster.members().iter().position(|member| member.name == name) else { return };
        // It may be long, and no node repeats itself more often.
        let before = ended.repeated_at.get(name);
        if before.is_some_and(|before| now.saturating_sub(*before) < REPEAT_MS / 2) {
            return;
        }
        ended.repeated_at.insert(name.to_owned(), now);
        if let Some(why) = ended.why.clone() {
            return self.say(name, Asking::Unanswered { id, why });
        }
        let meant = |outgoing: &&Outgoing| match outgoing.to {
            To::One(one) => usize::from(one) == place,
            To::Others => true,
        };
        let contents = ended.sent.iter().filter(meant).map(|outgoing| Content::Step(outgoing.message.encode()));
        let contents: Vec<Content> = contents.collect();
        for content in contents {
            let frame = self.sign(content);
            self.outbox.push((name.to_owned(), frame));
        }
    }
}
