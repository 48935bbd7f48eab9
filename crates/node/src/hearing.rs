//! What a node makes of what its peers say.

use hedgerow_smc::{Fault, Member, Message, Roster};
use serde_json::json;

use crate::journal::What;
use crate::message::{Note, Proposal, RunId, plain};
use crate::node::Node;
use crate::run::{Ending, Phase};
use crate::settings::{Peer, Role};
use crate::steps::StepName;
use crate::store::{Store, StoreError};

/// Proposals and questions of one peer that are turned away in the journal, in an hour.
const REFUSALS_MAX: u32 = 60;

impl<S: Store> Node<S> {
    pub(crate) fn heard(&mut self, from: &str, note: Note) -> Result<(), StoreError> {
        let run = note.run();
        if let Some(ending) = self.ended.get(&run) {
            // Whoever still speaks of it has not heard; two endings would answer each other for
            // ever.
            let answer = match ending {
                _ if matches!(note, Note::Published { .. } | Note::Aborted { .. }) => return Ok(()),
                Ending::Published { .. } => Note::Published { run },
                Ending::Aborted { why, blamed } => Note::Aborted { run, why: why.clone(), blamed: blamed.clone() },
            };
            self.tell(from, answer);
            return Ok(());
        }
        let place = match self.open.as_ref().filter(|open| open.proposal.run == run) {
            Some(open) => open.place_of(from),
            None => return self.heard_of_another(from, note),
        };
        let Some(place) = place.map(usize::from) else {
            self.rejected(from, "not in the roster of the run it speaks of");
            return Ok(());
        };
        let Some(open) = &mut self.open else { return Ok(()) };
        match note {
            Note::Propose { proposal } if proposal != open.proposal => {
                self.abort("it proposes two things under one name", Some(from.to_owned()))
            }
            Note::Propose { .. } => Ok(()),
            Note::Joined { commitment, .. } => match open.commitments[place] {
                Some(earlier) if earlier != commitment.0 && open.phase == Phase::Proposed => {
                    self.abort("its rows changed after it had joined", Some(from.to_owned()))
                }
                None if open.phase == Phase::Proposed => {
                    open.commitments[place] = Some(commitment.0);
                    let planned = open.make_plan(&self.custodian.agreed, self.terms);
                    self.note(What::Joined, Some(run), from, json!({ "commitment": commitment }));
                    match planned {
                        Ok(()) => self.start_if_approved(),
                        Err(fault) => self.abort(&fault.to_string(), None),
                    }
                }
                _ => Ok(()),
            },
            Note::Approved { plan, .. } if open.approvals[place].is_none() && open.phase == Phase::Proposed => {
                open.approvals[place] = Some(plan.0);
                self.note(What::Approved, Some(run), from, json!({ "plan": plan }));
                self.start_if_approved()
            }
            Note::Approved { .. } => Ok(()),
            Note::Prepared { .. } => {
                open.prepared[place] = true;
                self.publish_if_prepared()
            }
            Note::Published { .. } if open.phase == Phase::Prepared => self.publish(),
            Note::Published { .. } => {
                self.rejected(from, "says that a run is published which this node has not prepared");
                Ok(())
            }
            Note::Aborted { why, blamed, .. } => {
                let blamed = blamed.filter(|blamed| open.place_of(blamed).is_some()).unwrap_or(from.to_owned());
                self.abort(&format!("{from} gave up: {}", plain(&why)), Some(blamed))
            }
            Note::Inquire { .. } => {
                if open.phase == Phase::Prepared {
                    self.tell(from, Note::Prepared { run });
                }
                Ok(())
            }
        }
    }

    /// A note about a run that is neither open nor ended here.
    pub(crate) fn heard_of_another(&mut self, from: &str, note: Note) -> Result<(), StoreError> {
        match note {
            Note::Propose { proposal } => {
                let roster = self.fits(from, &proposal);
                let refused = match roster {
                    Ok(roster) => self.join(proposal.clone(), roster, "")?.err(),
                    Err(why) => Some(why),
                };
                match refused {
                    Some(why) => self.refuse(from, proposal.run, &why),
                    None => {
                        self.tell_own_part();
                        Ok(())
                    }
                }
            }
            // Nothing was prepared here, or the journal would know: so nobody can have published.
            Note::Prepared { run } | Note::Inquire { run } => self.refuse(from, run, "it knows nothing of this run"),
            // Notes overtake each other; the proposal will be repeated.
            Note::Joined { .. } | Note::Approved { .. } | Note::Published { .. } | Note::Aborted { .. } => Ok(()),
        }
    }

    /// Whether a proposal is one that this node may take part in.
    pub(crate) fn fits(&self, from: &str, proposal: &Proposal) -> Result<Roster, String> {
        if proposal.by != from {
            return Err("it is proposed in the name of another".to_owned());
        }
        if let Some(open) = &self.open {
            return Err(format!("another run, proposed by {}, is {}", open.proposal.by, open.phase.name()));
        }
        if proposal.terms.0 != self.terms {
            return Err("its policy, promises, limits or version differ from the proposal's".to_owned());
        }
        // Whoever was not in the last runs may lag behind: it joins what others propose.
        if proposal.epoch <= self.epochs {
            return Err(format!("epoch {} is published here: let somebody propose who knows it", self.epochs));
        }
        let roster = proposal.roster().map_err(|fault| fault.to_string())?;
        let known = |member: &Member| {
            let peer = |peer: &Peer| peer.role == Role::Custodian && peer.member == *member;
            *member == self.custodian.own || self.custodian.peers.iter().any(peer)
        };
        match roster.members().iter().find(|member| !known(member)) {
            Some(member) => Err(format!("it does not know {} by this key", plain(&member.name))),
            None if !roster.members().contains(&self.custodian.own) => Err("it is not in the roster".to_owned()),
            None if !roster.members().iter().any(|member| member.name == from) => {
                Err("whoever proposes it is not in the roster".to_owned())
            }
            None => Ok(roster),
        }
    }

    /// Takes no part in a run, now or ever: that is what the others may build on.
    pub(crate) fn refuse(&mut self, from: &str, run: RunId, why: &str) -> Result<(), StoreError> {
        let refusals = self.refusals.entry(from.to_owned()).or_default();
        *refusals += 1;
        if *refusals > REFUSALS_MAX {
            return Ok(());
        }
        let own = self.custodian.own.name.clone();
        self.note(What::Refused, Some(run), from, json!({ "why": why, "blamed": own }));
        self.end(run, Ending::Aborted { why: why.to_owned(), blamed: Some(own.clone()) });
        self.tell(from, Note::Aborted { run, why: why.to_owned(), blamed: Some(own) });
        Ok(())
    }

    /// A message of a step.
    pub(crate) fn stepped(&mut self, from: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let Some(session) = Message::session_of(bytes) else { return Ok(()) };
        let of_run = self.open.as_ref().and_then(|open| StepName::of_session(open.proposal.run, &session));
        let Some(step) = of_run else { return self.stepped_answer(from, session, bytes) };
        let Some(open) = &mut self.open else { return Ok(()) };
        let Some(place) = open.place_of(from) else { return Ok(()) };
        let Some(execution) = open.execution.as_mut().filter(|_| open.phase != Phase::Prepared) else {
            return Ok(());
        };
        let message = match Message::decode(bytes) {
            Ok(message) => message,
            Err(fault) => {
                let fault = Fault::Wire { sender: place, fault };
                return self.failed(&fault);
            }
        };
        match execution.step() {
            Some(running) if running == step => {
                let waited = execution.waits_for();
                let advanced = execution.advance(place, message);
                if waited.contains(&place) {
                    open.progressed_at = self.time.steady_ms;
                }
                self.advance(advanced)
            }
            Some(running) if running > step => Ok(()),
            _ => {
                execution.keep(step, place, message, bytes.len());
                Ok(())
            }
        }
    }
}
