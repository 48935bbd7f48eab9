//! Received messages, sorted by round: the network delivers in any order, and a fast custodian may
//! be one round ahead of us.
//!
//! A message of another session is not ours: it is passed over, so that a stray does not end a run.
//! A message that came before is passed over too, so that a transport may repeat; another one in
//! its place ends the run, and so does whatever is impossible, or more than may wait.

use std::collections::BTreeMap;

use subtle::ConstantTimeEq as _;

use crate::fault::Fault;
use crate::limits::RunLimits;
use crate::message::{Body, Digest, Message, SessionId};

/// Where a custodian stands in a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunPlace {
    pub(crate) session: SessionId,
    pub(crate) question: Digest,
    pub(crate) me: u16,
    pub(crate) count: u16,
    pub(crate) limits: RunLimits,
}

impl RunPlace {
    pub(crate) fn message(&self, round: u32, body: Body) -> Message {
        Message { session: self.session, question: self.question, sender: self.me, round, body }
    }

    /// Whether a message belongs to this run; refuses what is not from one of the others or about
    /// something else, and the end of the run.
    fn admits(&self, from: u16, message: &Message) -> Result<bool, Fault> {
        if !bool::from(message.session.ct_eq(&self.session)) {
            return Ok(false);
        }
        if from >= self.count || from == self.me {
            return Err(Fault::Stranger { sender: from });
        }
        if message.sender != from {
            return Err(Fault::Impersonates { sender: from, claimed: message.sender });
        }
        if !bool::from(message.question.ct_eq(&self.question)) {
            return Err(Fault::OtherQuestion { sender: from });
        }
        match message.body {
            Body::Abort { reason, blamed } => Err(Fault::Aborted { sender: from, reason, blamed }),
            _ => Ok(true),
        }
    }

    pub(crate) fn others(&self) -> impl Iterator<Item = u16> + use<> {
        let me = self.me;
        (0..self.count).filter(move |other| *other != me)
    }
}

/// Round, sender, chunk.
type InboxKey = (u32, u16, u32);

#[derive(Debug)]
pub(crate) struct Inbox {
    place: RunPlace,
    bytes_max: u64,
    /// How many rounds another custodian may be ahead of us.
    ahead: u32,
    waiting: BTreeMap<InboxKey, Body>,
    /// By sender.
    waiting_bytes: Vec<u64>,
    accepted: BTreeMap<InboxKey, Digest>,
}

impl Inbox {
    pub(crate) fn new(place: RunPlace) -> Inbox {
        Inbox::with_room(place, place.limits.inbox_bytes_max)
    }

    /// With a limit on the bytes of each custodian that wait.
    pub(crate) fn with_room(place: RunPlace, bytes_max: u64) -> Inbox {
        let waiting_bytes = vec![0; usize::from(place.count)];
        Inbox { place, bytes_max, ahead: 1, waiting: BTreeMap::new(), waiting_bytes, accepted: BTreeMap::new() }
    }

    /// Where rounds do not all need our own message.
    pub(crate) fn ahead(self, ahead: u32) -> Inbox {
        Inbox { ahead, ..self }
    }

    /// Takes a message in; `round` is the one that we are waiting for.
    pub(crate) fn accept(&mut self, from: u16, message: Message, round: u32) -> Result<(), Fault> {
        if !self.place.admits(from, &message)? {
            return Ok(());
        }
        let (chunk, chunks) = message.body.chunk();
        let (key, digest) = ((message.round, from, chunk), message.digest());
        if let Some(earlier) = self.accepted.get(&key) {
            let same = *earlier == digest;
            return if same { Ok(()) } else { Err(Fault::Equivocated { sender: from, round: message.round }) };
        }
        if message.round < round {
            return Err(Fault::OutOfPlace { sender: from, round: message.round });
        }
        // None can be two rounds ahead where the round between needs our own message.
        if message.round > round + self.ahead {
            return Err(Fault::TooEarly { sender: from, round: message.round });
        }
        let first = self.waiting.range((message.round, from, 0)..=(message.round, from, u32::MAX)).next();
        if first.is_some_and(|(_, body)| body.chunk().1 != chunks) {
            return Err(Fault::OutOfPlace { sender: from, round: message.round });
        }
        let bytes = &mut self.waiting_bytes[usize::from(from)];
        *bytes += message.body.bytes();
        if *bytes > self.bytes_max {
            return Err(Fault::Flood { sender: from, bytes_max: self.bytes_max });
        }
        self.accepted.insert(key, digest);
        self.waiting.insert(key, message.body);
        Ok(())
    }

    /// How many messages were accepted, each once.
    pub(crate) fn taken_in(&self) -> usize {
        self.accepted.len()
    }

    /// The digest of a message of a round; `None` when none was accepted.
    pub(crate) fn digest(&self, round: u32, sender: u16) -> Option<Digest> {
        self.accepted.get(&(round, sender, 0)).copied()
    }

    fn is_whole(&self, round: u32, sender: u16) -> bool {
        let mut chunks = self.waiting.range((round, sender, 0)..=(round, sender, u32::MAX));
        let (first, others) = (chunks.next(), chunks.count());
        first.is_some_and(|(_, body)| body.chunk().1 as usize == others + 1)
    }

    /// The others whose messages for a round are not all there.
    pub(crate) fn missing(&self, round: u32) -> Vec<u16> {
        self.place.others().filter(|other| !self.is_whole(round, *other)).collect()
    }

    fn take(&mut self, round: u32, sender: u16) -> Vec<Body> {
        let keys = self.waiting.range((round, sender, 0)..=(round, sender, u32::MAX)).map(|(key, _)| *key);
        let keys: Vec<InboxKey> = keys.collect();
        let bodies: Vec<Body> = keys.iter().filter_map(|key| self.waiting.remove(key)).collect();
        self.waiting_bytes[usize::from(sender)] -= bodies.iter().map(Body::bytes).sum::<u64>();
        bodies
    }

    /// The messages of all others for a round, by sender, once they are all there.
    pub(crate) fn all(&mut self, round: u32) -> Option<Vec<(u16, Vec<Body>)>> {
        let place = self.place;
        place.others().all(|other| self.is_whole(round, other)).then(|| {
            let others: Vec<u16> = place.others().collect();
            others.into_iter().map(|other| (other, self.take(round, other))).collect()
        })
    }

    /// The same where no message has chunks.
    pub(crate) fn all_single(&mut self, round: u32) -> Result<Option<Vec<(u16, Body)>>, Fault> {
        let Some(all) = self.all(round) else { return Ok(None) };
        let single = |(sender, bodies): (u16, Vec<Body>)| {
            let [body] = <[Body; 1]>::try_from(bodies).map_err(|_| Fault::OutOfPlace { sender, round })?;
            Ok((sender, body))
        };
        all.into_iter().map(single).collect::<Result<Vec<_>, Fault>>().map(Some)
    }

    /// The messages that only `sender` may send in a round, once they are complete.
    pub(crate) fn only(&mut self, round: u32, sender: u16) -> Result<Option<Vec<Body>>, Fault> {
        let mut senders =
            self.waiting.range((round, 0, 0)..=(round, u16::MAX, u32::MAX)).map(|((_, from, _), _)| *from);
        match senders.find(|from| *from != sender) {
            Some(other) => Err(Fault::OutOfPlace { sender: other, round }),
            None => Ok(self.is_whole(round, sender).then(|| self.take(round, sender))),
        }
    }

    /// The one message of a round that either of two may send, once it is there.
    pub(crate) fn message_of_either(&mut self, round: u32, senders: [u16; 2]) -> Result<Option<(u16, Body)>, Fault> {
        let mut waiting =
            self.waiting.range((round, 0, 0)..=(round, u16::MAX, u32::MAX)).map(|((_, from, _), _)| *from);
        if let Some(sender) = waiting.find(|sender| !senders.contains(sender)) {
            return Err(Fault::OutOfPlace { sender, round });
        }
        let Some(sender) = senders.into_iter().find(|sender| self.is_whole(round, *sender)) else { return Ok(None) };
        let [body] =
            <[Body; 1]>::try_from(self.take(round, sender)).map_err(|_| Fault::OutOfPlace { sender, round })?;
        Ok(Some((sender, body)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Reason;

    fn place() -> RunPlace {
        let limits = RunLimits { inbox_bytes_max: 1000, ..RunLimits::default() };
        RunPlace { session: [1; 16], question: [2; 32], me: 0, count: 3, limits }
    }

    fn message(sender: u16, round: u32, words: Vec<u64>) -> Message {
        RunPlace { me: sender, ..place() }.message(round, Body::RingSum(words))
    }

    #[test]
    fn repeated_messages_and_strays_change_nothing_and_another_one_in_the_same_place_is_a_fault() {
        let mut inbox = Inbox::new(place());
        inbox.accept(1, message(1, 0, vec![5]), 0).unwrap();
        inbox.accept(1, message(1, 0, vec![5]), 0).unwrap();
        let stray = Message { session: [9; 16], ..message(1, 0, vec![7]) };
        inbox.accept(1, stray, 0).unwrap();
        inbox.accept(2, message(2, 0, vec![6]), 0).unwrap();
        let all = inbox.all(0).unwrap();
        assert_eq!(all, [(1, vec![Body::RingSum(vec![5])]), (2, vec![Body::RingSum(vec![6])])]);
        inbox.accept(1, message(1, 0, vec![5]), 1).unwrap();
        assert!(inbox.all(0).is_none(), "a late repetition counts again");
        let fault = inbox.accept(1, message(1, 0, vec![6]), 1).unwrap_err();
        assert_eq!(fault, Fault::Equivocated { sender: 1, round: 0 });
    }

    #[test]
    fn faults_name_who_the_transport_knows_as_the_sender() {
        let accept = |from, message| Inbox::new(place()).accept(from, message, 0).unwrap_err();
        assert_eq!(accept(1, message(2, 0, vec![])), Fault::Impersonates { sender: 1, claimed: 2 });
        assert_eq!(accept(0, message(0, 0, vec![])), Fault::Stranger { sender: 0 });
        assert_eq!(accept(3, message(3, 0, vec![])), Fault::Stranger { sender: 3 });
        let other = Message { question: [3; 32], ..message(1, 0, vec![]) };
        assert_eq!(accept(1, other), Fault::OtherQuestion { sender: 1 });
        assert_eq!(accept(2, message(2, 2, vec![])), Fault::TooEarly { sender: 2, round: 2 });
        let abort = Message { body: Body::Abort { reason: Reason::Limit, blamed: Some(2) }, ..message(1, 0, vec![]) };
        assert_eq!(accept(1, abort).suspects(), Some(2));
    }

    #[test]
    fn no_more_waits_than_was_agreed_on() {
        let mut inbox = Inbox::new(place());
        inbox.accept(1, message(1, 0, vec![0; 50]), 0).unwrap();
        let fault = inbox.accept(1, message(1, 1, vec![0; 80]), 0).unwrap_err();
        assert_eq!(fault, Fault::Flood { sender: 1, bytes_max: 1000 });
        let mut inbox = Inbox::new(place());
        for round in 0..50 {
            for sender in [1, 2] {
                inbox.accept(sender, message(sender, round, vec![0; 90]), round).unwrap();
            }
            assert!(inbox.all(round).is_some(), "what was taken out gives its room back");
        }
    }
}
