//! Custodians that are connected as nodes are, and run the ring's machines among themselves: each
//! has a certificate, a signing key and a door of its own, mutual TLS over loopback, and frames
//! that are signed and verified.
//!
//! A node's own runs find classes by sums alone ([`super::nodes`]). Here the machines of the
//! paper's other protocols, for extremes and for unions, run over the same connections, with coins
//! from known seeds, which a node would refuse. So it can be compared, message by message, what
//! custodians are passed here and in one process.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

use hedgerow_node::configured::Configured;
use hedgerow_node::demo::free_ports;
use hedgerow_node::door;
use hedgerow_node::event::Event;
use hedgerow_node::keys::{Party, make_trial, read_signing_key};
use hedgerow_node::live::Live;
use hedgerow_node::message::{Frame, FrameContent};
use hedgerow_node::net::Senders;
use hedgerow_node::rejections::Rejections;
use hedgerow_smc::simulate::{Carrier, Delivery};
use hedgerow_smc::{Effects, Failure, Fault, Machine, Message, SigningKey, To, Transition};
use tempfile::TempDir;

use super::nodes::{SETTINGS, policy};
use crate::experiment::Trouble;

/// Events that wait for a custodian.
const EVENTS_MAX: usize = 64;

/// A custodian that hears nothing for longer ends the run.
const PATIENCE: Duration = Duration::from_secs(120);

/// The custodians of a trial, in the order of their names.
pub(super) struct ConnectedCustodians {
    custodians: Vec<Connected>,
    directory: Vec<Peer>,
    // Removed once the connections have ended.
    _folder: TempDir,
}

/// A custodian as the others know it: the name in its certificate, and the public key of its
/// signatures.
struct Peer {
    name: String,
    signing_key: [u8; 32],
}

struct Connected {
    me: usize,
    events: Receiver<Event>,
    senders: Senders,
    signing: SigningKey,
}

/// Deliveries, each with its place among those to all custodians.
type Heard = Vec<(u64, Delivery)>;

impl ConnectedCustodians {
    pub(super) fn start(count: usize) -> Result<ConnectedCustodians, Trouble> {
        let folder = tempfile::tempdir()?;
        let party = |(place, port): (usize, u16)| {
            Party::custodian(format!("custodian-{place:02}"), format!("127.0.0.1:{port}"))
        };
        let parties: Vec<Party> = free_ports(count)?.into_iter().enumerate().map(party).collect();
        let homes = make_trial(folder.path(), &parties, "policy.toml", SETTINGS).map_err(|error| error.to_string())?;
        let (mut custodians, mut directory) = (Vec::new(), Vec::new());
        for (me, (home, party)) in homes.iter().zip(&parties).enumerate() {
            std::fs::write(home.join("policy.toml"), policy(2))?;
            let configured = Live::new(Configured::load(&home.join("node.toml")).map_err(|error| error.to_string())?);
            let started = configured.get();
            let settings = &started.settings;
            let signing = read_signing_key(&settings.signing_key).map_err(|error| error.to_string())?;
            directory.push(Peer { name: party.name.clone(), signing_key: signing.public() });
            let (send_events, events) = sync_channel(EVENTS_MAX);
            door::listen(TcpListener::bind(settings.listen)?, &configured, &send_events, &Rejections::default())?;
            custodians.push(Connected { me, events, senders: Senders::start(&configured)?, signing });
        }
        Ok(ConnectedCustodians { custodians, directory, _folder: folder })
    }
}

impl Carrier for ConnectedCustodians {
    /// Each machine in a thread of its own, which sees what its custodian is sent and nothing else.
    fn carry<M>(
        &mut self,
        starts: Vec<Transition<M>>,
        _: u64,
        watcher: &mut dyn FnMut(&Delivery),
    ) -> Result<Vec<M::Output>, Fault>
    where
        M: Machine + Send,
        M::Output: Send,
    {
        if starts.len() != self.custodians.len() {
            return Err(Fault::Internal("as many machines as custodians"));
        }
        let (directory, order) = (&self.directory, &AtomicU64::new(0));
        let ended: Vec<Result<(M::Output, Heard), Fault>> = thread::scope(|scope| {
            let custodians = self.custodians.iter_mut().zip(starts);
            let running: Vec<_> =
                custodians.map(|(own, start)| scope.spawn(move || own.run(start, directory, order))).collect();
            let lost = Fault::Internal("a custodian's thread has ended");
            running.into_iter().map(|thread| thread.join().unwrap_or(Err(lost.clone()))).collect()
        });
        let (mut outputs, mut all) = (Vec::with_capacity(ended.len()), Heard::new());
        for ended in ended {
            let (output, heard) = ended?;
            outputs.push(output);
            all.extend(heard);
        }
        all.sort_by_key(|(place, _)| *place);
        all.iter().for_each(|(_, delivery)| watcher(delivery));
        Ok(outputs)
    }
}

impl Connected {
    /// A custodian's side of a run: its output, and all that it was sent.
    fn run<M: Machine>(
        &mut self,
        start: Transition<M>,
        directory: &[Peer],
        order: &AtomicU64,
    ) -> Result<(M::Output, Heard), Fault> {
        let (mut next, mut heard) = (start, Heard::new());
        loop {
            let machine = match next {
                Transition::Continue(machine, effects) => {
                    self.send(&effects, directory);
                    machine
                }
                Transition::Finish(output, effects) => {
                    self.send(&effects, directory);
                    return Ok((output, heard));
                }
            };
            let (from, message) = self.hear(directory)?;
            // Taken before anything is sent because of it.
            let place = order.fetch_add(1, Ordering::SeqCst);
            heard.push((place, Delivery { to: self.me as u16, message: message.clone() }));
            next = match machine.step(from, message) {
                Ok(next) => next,
                Err(Failure { fault, effects }) => {
                    self.send(&effects, directory);
                    return Err(fault);
                }
            };
        }
    }

    fn send(&self, effects: &Effects, directory: &[Peer]) {
        for outgoing in &effects.send {
            let frame = Frame::sign(FrameContent::Step(outgoing.message.encode()), &self.signing);
            let is_receiver = |place: usize| match outgoing.to {
                To::One(other) => usize::from(other) == place,
                To::Others => place != self.me,
            };
            let receivers = directory.iter().enumerate().filter(|(place, _)| is_receiver(*place));
            receivers.for_each(|(_, peer)| self.senders.send(&peer.name, &frame));
        }
    }

    fn hear(&self, directory: &[Peer]) -> Result<(u16, Message), Fault> {
        loop {
            let event = self.events.recv_timeout(PATIENCE);
            let Event::Frame { from, frame, waits } = event.map_err(|_| Fault::Internal("nothing was heard"))? else {
                continue;
            };
            // In our hands it is one at a time.
            drop(waits);
            let place = directory.iter().position(|peer| peer.name == from);
            let place = place.ok_or(Fault::Internal("a peer without a place"))?;
            if !frame.signed().verifies(&directory[place].signing_key) {
                return Err(Fault::Internal("a frame that its sender has not signed"));
            }
            let FrameContent::Step(bytes) = frame.content else { continue };
            let sender = place as u16;
            return Ok((sender, Message::decode(&bytes).map_err(|fault| Fault::Wire { sender, fault })?));
        }
    }
}

/// Writes down every message that a custodian is passed.
#[derive(Debug)]
pub(super) struct Recorded<'a, C> {
    carrier: &'a mut C,
    passed: Vec<(u16, Vec<u8>)>,
}

impl<'a, C: Carrier> Recorded<'a, C> {
    pub(super) fn new(carrier: &'a mut C) -> Recorded<'a, C> {
        Recorded { carrier, passed: Vec::new() }
    }
}

impl<C: Carrier> Carrier for Recorded<'_, C> {
    fn carry<M>(
        &mut self,
        starts: Vec<Transition<M>>,
        seed: u64,
        watcher: &mut dyn FnMut(&Delivery),
    ) -> Result<Vec<M::Output>, Fault>
    where
        M: Machine + Send,
        M::Output: Send,
    {
        let passed = &mut self.passed;
        self.carrier.carry(starts, seed, &mut |delivery: &Delivery| {
            passed.push((delivery.to, delivery.message.encode()));
            watcher(delivery);
        })
    }
}

/// Of runs that were repeated between connected custodians.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct MessagesCompared {
    /// That custodians were passed there.
    pub(super) messages: u64,
    /// That were passed to a custodian only there, or only in one process.
    pub(super) different: u64,
}

impl MessagesCompared {
    pub(super) fn add<A, B>(&mut self, between: &Recorded<'_, A>, alone: &Recorded<'_, B>) {
        let mut times: BTreeMap<&(u16, Vec<u8>), i64> = BTreeMap::new();
        between.passed.iter().for_each(|passed| *times.entry(passed).or_default() += 1);
        alone.passed.iter().for_each(|passed| *times.entry(passed).or_default() -= 1);
        self.messages += between.passed.len() as u64;
        self.different += times.values().map(|times| times.unsigned_abs()).sum::<u64>();
    }
}

#[cfg(test)]
mod tests {
    use hedgerow_smc::Coins;
    use hedgerow_smc::simulate::InOneProcess;

    use super::super::ring::{Claims, OwnTerms, unions};
    use super::*;

    /// All four protocols; what they find, and what it discloses.
    fn found(carrier: &mut impl Carrier, seed: u64) -> String {
        let mut coins = Coins::danger_from_seed(seed);
        let (mut claims, mut terms) = (Claims::default(), OwnTerms::default());
        let ends = claims.look_for_extremes(&[Some((2, 9)), None, Some((4, 7))], 10, carrier, &mut coins).unwrap();
        let median = terms.look_for_median(&[vec![2, 9], vec![], vec![4, 7, 7]], 10, carrier, &mut coins).unwrap();
        let sizes = terms.add_sizes(&[[1, 1], [0, 0], [1, 2]], carrier, &mut coins).unwrap();
        let exposed = unions(&[vec![1, 0, 2], vec![0; 3], vec![0, 3, 0]], 1, 3, carrier, &mut coins).unwrap();
        format!("{ends:?} {median:?} {sizes:?} {claims:?} {terms:?} {exposed:?}")
    }

    #[test]
    fn connected_custodians_are_passed_what_machines_in_one_process_pass() {
        let mut connected = ConnectedCustodians::start(3).unwrap();
        let (mut here, mut other) = (InOneProcess, InOneProcess);
        let mut between = Recorded::new(&mut connected);
        let mut alone = Recorded::new(&mut here);
        assert_eq!(found(&mut between, 7), found(&mut alone, 7));
        let mut compared = MessagesCompared::default();
        compared.add(&between, &alone);
        // Passes of extremes, sums and draws, items, results and confirmations.
        assert!(compared.messages > 100 && compared.different == 0, "{compared:?}");
        let mut elsewhere = Recorded::new(&mut other);
        found(&mut elsewhere, 8);
        compared.add(&between, &elsewhere);
        assert!(compared.different > 100, "other coins: {compared:?}");
    }

    fn recorded<'a>(carrier: &'a mut InOneProcess, passed: &[(u16, &str)]) -> Recorded<'a, InOneProcess> {
        Recorded { carrier, passed: passed.iter().map(|(to, text)| (*to, text.as_bytes().to_vec())).collect() }
    }

    #[test]
    fn a_lost_a_repeated_and_a_changed_message_differ() {
        let (mut one, mut two) = (InOneProcess, InOneProcess);
        let all = recorded(&mut one, &[(0, "a"), (1, "b"), (1, "b")]);
        for (other, different) in [
            (vec![(1, "b"), (0, "a"), (1, "b")], 0),
            (vec![(0, "a"), (1, "b")], 1),
            (vec![(0, "a"), (1, "b"), (1, "c")], 2),
            (vec![(0, "a"), (1, "b"), (0, "b")], 2),
        ] {
            let mut compared = MessagesCompared::default();
            compared.add(&all, &recorded(&mut two, &other));
            assert_eq!(compared, MessagesCompared { messages: 3, different });
        }
    }
}
