//! What a node says to its peers, and says again while somebody may not have heard.

use hedgerow_smc::{Outgoing, Roster, To};

use crate::message::{Frame, Hex, Note};
use crate::node::Node;
use crate::run::Phase;
use crate::store::Store;

impl<S: Store> Node<S> {
    /// Says again what somebody may not have heard.
    pub(crate) fn repeat(&mut self) {
        let Some(open) = &self.open else { return };
        let run = open.proposal.run;
        if open.phase == Phase::Prepared {
            self.repeat_prepared();
        } else {
            if open.proposal.by == self.custodian.own.name && open.phase == Phase::Proposed {
                let proposal = open.proposal.clone();
                self.tell_others(&Note::Propose { proposal });
            }
            self.tell_own_part();
        }
        let Some(open) = &self.open else { return };
        if let Some(plan) = open.approvals[usize::from(open.me)] {
            self.tell_others(&Note::Approved { run, plan: Hex(plan) });
        }
        let Some(open) = &self.open else { return };
        let again: Vec<Outgoing> = open.execution.iter().flat_map(|execution| execution.sent().cloned()).collect();
        again.iter().for_each(|outgoing| self.send_step(outgoing));
    }

    pub(crate) fn repeat_prepared(&mut self) {
        let Some(open) = &self.open else { return };
        let run = open.proposal.run;
        self.tell_others(&Note::Prepared { run });
        self.tell_others(&Note::Inquire { run });
    }

    pub(crate) fn tell_own_part(&mut self) {
        let Some(open) = &self.open else { return };
        let run = open.proposal.run;
        if let Some(commitment) = open.commitments[usize::from(open.me)] {
            self.tell_others(&Note::Joined { run, commitment: Hex(commitment) });
        }
    }

    pub(crate) fn tell(&mut self, to: &str, note: Note) {
        self.outbox.push((to.to_owned(), Frame::Note(note)));
    }

    pub(crate) fn tell_others(&mut self, note: &Note) {
        if let Some(roster) = self.open.as_ref().map(|open| open.roster.clone()) {
            self.tell_roster(&roster, note);
        }
    }

    pub(crate) fn tell_roster(&mut self, roster: &Roster, note: &Note) {
        let own = &self.custodian.own.name;
        let others = roster.members().iter().filter(|member| member.name != *own);
        self.outbox.extend(others.map(|member| (member.name.clone(), Frame::Note(note.clone()))));
    }

    pub(crate) fn send_step(&mut self, outgoing: &Outgoing) {
        let Some(roster) = self.open.as_ref().map(|open| open.roster.clone()) else { return };
        self.send_among(&roster, outgoing);
    }

    pub(crate) fn send_among(&mut self, roster: &Roster, outgoing: &Outgoing) {
        let frame = Frame::Step(outgoing.message.encode());
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
