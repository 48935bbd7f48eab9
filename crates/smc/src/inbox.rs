//! What arrives, sorted by round: the network delivers in any order, and a fast custodian may be
//! one round ahead of us. Whatever is of another run, from a stranger, repeated or impossible ends
//! the run here.

use std::collections::BTreeMap;

use subtle::ConstantTimeEq as _;

use crate::fault::Fault;
use crate::message::{Body, Digest, Message, SessionId};

/// Where a custodian stands in a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) session: SessionId,
    pub(crate) question: Digest,
    pub(crate) me: u16,
    pub(crate) count: u16,
}

impl Place {
    pub(crate) fn message(&self, round: u32, body: Body) -> Message {
        Message { session: self.session, question: self.question, sender: self.me, round, body }
    }

    /// Refuses what is not from one of the others, not of this run, or the end of it.
    pub(crate) fn check(&self, message: &Message) -> Result<(), Fault> {
        let sender = message.sender;
        if sender >= self.count || sender == self.me {
            return Err(Fault::Stranger { sender });
        }
        let same = message.session.ct_eq(&self.session) & message.question.ct_eq(&self.question);
        if !bool::from(same) {
            return Err(Fault::OtherRun { sender });
        }
        if message.body == Body::Abort { Err(Fault::Aborted { sender }) } else { Ok(()) }
    }

    pub(crate) fn others(&self) -> impl Iterator<Item = u16> + use<> {
        let me = self.me;
        (0..self.count).filter(move |other| *other != me)
    }
}

#[derive(Debug)]
pub(crate) struct Inbox {
    place: Place,
    waiting: BTreeMap<(u32, u16), Body>,
}

impl Inbox {
    pub(crate) fn new(place: Place) -> Inbox {
        Inbox { place, waiting: BTreeMap::new() }
    }

    /// Takes a message in; `round` is the one that we are waiting for.
    pub(crate) fn accept(&mut self, message: Message, round: u32) -> Result<(), Fault> {
        self.place.check(&message)?;
        let sender = message.sender;
        if message.round < round {
            return Err(Fault::Replayed { sender, round: message.round });
        }
        // Nobody can be two rounds ahead: the round between needs our own message.
        if message.round > round + 1 {
            return Err(Fault::TooEarly { sender, round: message.round });
        }
        let earlier = self.waiting.insert((message.round, sender), message.body);
        if earlier.is_some() { Err(Fault::Replayed { sender, round: message.round }) } else { Ok(()) }
    }

    /// The messages of all others for a round, by sender, once they are all there.
    pub(crate) fn all(&mut self, round: u32) -> Option<Vec<(u16, Body)>> {
        let here = self.waiting.range((round, 0)..=(round, u16::MAX)).count();
        (here == usize::from(self.place.count) - 1).then(|| {
            let later = self.waiting.split_off(&(round + 1, 0));
            let now = std::mem::replace(&mut self.waiting, later);
            now.into_iter().map(|((_, sender), body)| (sender, body)).collect()
        })
    }

    /// The one message of a round that only `sender` may send, once it is there.
    pub(crate) fn only(&mut self, round: u32, sender: u16) -> Result<Option<Body>, Fault> {
        let mut range = self.waiting.range((round, 0)..=(round, u16::MAX));
        match range.find(|((_, from), _)| *from != sender) {
            Some(((_, other), _)) => Err(Fault::OutOfPlace { sender: *other, round }),
            None => Ok(self.waiting.remove(&(round, sender))),
        }
    }

    /// The one message of a round that either of two may send, once it is there.
    pub(crate) fn one_of(&mut self, round: u32, senders: [u16; 2]) -> Result<Option<(u16, Body)>, Fault> {
        let mut range = self.waiting.range((round, 0)..=(round, u16::MAX)).map(|((_, sender), _)| *sender);
        match (range.find(|sender| !senders.contains(sender)), senders) {
            (Some(sender), _) => Err(Fault::OutOfPlace { sender, round }),
            (None, [one, other]) => {
                let first = self.waiting.remove(&(round, one)).map(|body| (one, body));
                Ok(first.or_else(|| self.waiting.remove(&(round, other)).map(|body| (other, body))))
            }
        }
    }
}
