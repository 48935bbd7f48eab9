//! All custodians in one process: messages are encoded, put into one bag, and drawn from it in a
//! seeded random order, so that a run meets every order that a network could think of. For tests,
//! for measuring loss of privacy, and for counting messages and bytes.

use std::rc::Rc;

use crate::coins::Coins;
use crate::fault::Fault;
use crate::ledger::OpenedValues;
use crate::machine::{Effects, Failure, Machine, Outgoing, To, Transition};
use crate::message::Message;
pub use crate::traffic::Traffic;

/// One delivery, as an observer of all messages would write it down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    pub to: u16,
    pub message: Message,
}

/// The way that messages take to their receivers. What custodians pass on depends on their inputs
/// and their coins, and not on the way.
pub trait Carrier {
    /// Runs the machines to their ends, showing `watcher` every delivery: of those by one custodian
    /// to another in their order, and none before those that led to it. `seed` is for orders that a
    /// simulation draws.
    fn carry<M>(
        &mut self,
        starts: Vec<Transition<M>>,
        seed: u64,
        watcher: &mut dyn FnMut(&Delivery),
    ) -> Result<Vec<M::Output>, Fault>
    where
        M: Machine + Send,
        M::Output: Send;
}

/// All custodians in one process.
#[derive(Debug, Clone, Copy, Default)]
pub struct InOneProcess;

impl Carrier for InOneProcess {
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
        watch(starts, seed, watcher).map(|(outputs, _)| outputs)
    }
}

/// Runs the machines to their ends. The first fault ends the run: no custodian has an outcome then.
pub fn run<M: Machine>(starts: Vec<Transition<M>>, seed: u64) -> Result<(Vec<M::Output>, Traffic), Fault> {
    watch(starts, seed, |_| {})
}

/// The same, showing every delivery to `watcher`.
pub fn watch<M: Machine>(
    starts: Vec<Transition<M>>,
    seed: u64,
    mut watcher: impl FnMut(&Delivery),
) -> Result<(Vec<M::Output>, Traffic), Fault> {
    let mut room = Room::new(starts);
    let mut order = Coins::danger_from_seed(seed);
    while !room.bag.is_empty() && room.faults.is_empty() {
        room.deliver(&mut order, |delivery| watcher(delivery));
    }
    if let Some((_, fault)) = room.faults.into_iter().next() {
        return Err(fault);
    }
    let finished: Option<Vec<M::Output>> = room.outputs.into_iter().collect();
    finished.map(|outputs| (outputs, room.traffic)).ok_or(Fault::Internal("all custodians wait"))
}

/// Runs the machines while `change` spoils what is delivered, until nothing is left to deliver, and
/// gives the faults of all custodians in the order in which they were found.
pub fn tampered<M: Machine>(
    starts: Vec<Transition<M>>,
    seed: u64,
    mut change: impl FnMut(&mut Delivery),
) -> Vec<(u16, Fault)> {
    let mut room = Room::new(starts);
    let mut order = Coins::danger_from_seed(seed);
    while !room.bag.is_empty() {
        room.deliver(&mut order, &mut change);
    }
    room.faults
}

/// Runs the machines with every message delivered twice, and gives what each custodian journaled:
/// all that it opened, whatever became of the run.
pub fn journaled<M: Machine>(
    starts: Vec<Transition<M>>,
    seed: u64,
    mut change: impl FnMut(&mut Delivery),
) -> (Vec<Option<M::Output>>, Vec<Vec<OpenedValues>>) {
    let mut room = Room::new(starts);
    room.twice = true;
    let mut order = Coins::danger_from_seed(seed);
    while !room.bag.is_empty() {
        room.deliver(&mut order, &mut change);
    }
    (room.outputs, room.journals)
}

struct Room<M: Machine> {
    machines: Vec<Option<M>>,
    outputs: Vec<Option<M::Output>>,
    faults: Vec<(u16, Fault)>,
    journals: Vec<Vec<OpenedValues>>,
    /// From whom, to whom.
    bag: Vec<(u16, u16, Rc<[u8]>)>,
    traffic: Traffic,
    twice: bool,
}

impl<M: Machine> Room<M> {
    fn new(starts: Vec<Transition<M>>) -> Room<M> {
        let count = starts.len();
        let mut room = Room {
            machines: (0..count).map(|_| None).collect(),
            outputs: (0..count).map(|_| None).collect(),
            faults: Vec::new(),
            journals: vec![Vec::new(); count],
            bag: Vec::new(),
            traffic: Traffic::default(),
            twice: false,
        };
        (0u16..).zip(starts).for_each(|(me, start)| room.settle(me, Ok(start)));
        room
    }

    fn deliver(&mut self, order: &mut Coins, mut change: impl FnMut(&mut Delivery)) {
        let drawn = order.below(self.bag.len() as u64) as usize;
        let (from, to, bytes) = self.bag.swap_remove(drawn);
        // A custodian that has finished or given up takes nothing more.
        let Some(machine) = self.machines[usize::from(to)].take() else { return };
        let message = match Message::decode(&bytes) {
            Ok(message) => message,
            Err(fault) => {
                self.faults.push((to, Fault::Wire { sender: from, fault }));
                return;
            }
        };
        let mut delivery = Delivery { to, message };
        change(&mut delivery);
        if self.twice && order.below(2) == 0 {
            self.bag.push((from, to, delivery.message.encode().into()));
        }
        self.settle(to, machine.step(from, delivery.message));
    }

    fn settle(&mut self, me: u16, next: Result<Transition<M>, Failure>) {
        let place = usize::from(me);
        let Effects { opened, send } = match next {
            Ok(Transition::Continue(machine, effects)) => {
                self.machines[place] = Some(machine);
                effects
            }
            Ok(Transition::Finish(output, effects)) => {
                self.outputs[place] = Some(output);
                effects
            }
            Err(Failure { fault, effects }) => {
                self.faults.push((me, fault));
                effects
            }
        };
        self.journals[place].extend(opened);
        for Outgoing { to, message } in send {
            self.traffic.rounds = self.traffic.rounds.max(u64::from(message.round) + 1);
            let bytes: Rc<[u8]> = message.encode().into();
            let receivers: Vec<u16> = match to {
                To::One(other) => vec![other],
                To::Others => (0..self.machines.len() as u16).filter(|other| *other != me).collect(),
            };
            for receiver in receivers {
                self.traffic.messages += 1;
                self.traffic.bytes += bytes.len() as u64;
                self.bag.push((me, receiver, Rc::clone(&bytes)));
            }
        }
    }
}
