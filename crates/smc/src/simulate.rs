//! All custodians in one process: messages are encoded, put into one bag, and drawn from it in a
//! seeded random order, so that a run meets every order that a network could think of. For tests,
//! for measuring loss of privacy, and for counting messages and bytes.

use std::rc::Rc;

use crate::coins::Coins;
use crate::fault::Fault;
use crate::machine::{Machine, Outgoing, To, Transition};
use crate::message::Message;

/// What traveled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    pub messages: u64,
    pub bytes: u64,
    /// The highest round of any message, counted from 1.
    pub rounds: u64,
}

impl Traffic {
    /// Together with what travels afterwards.
    pub fn then(self, later: Traffic) -> Traffic {
        Traffic {
            messages: self.messages + later.messages,
            bytes: self.bytes + later.bytes,
            rounds: self.rounds + later.rounds,
        }
    }
}

/// One delivery, as somebody who sees everything would write it down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    pub to: u16,
    pub message: Message,
}

/// Runs the machines to their ends. The first fault ends the run: nobody has an outcome then.
pub fn run<M: Machine>(starts: Vec<Transition<M>>, seed: u64) -> Result<(Vec<M::Output>, Traffic), Fault> {
    watch(starts, seed, |_| {})
}

/// The same, showing every delivery to `watcher`.
pub fn watch<M: Machine>(
    starts: Vec<Transition<M>>,
    seed: u64,
    mut watcher: impl FnMut(&Delivery),
) -> Result<(Vec<M::Output>, Traffic), Fault> {
    let mut network = Network { bag: Vec::new(), count: starts.len() as u16, traffic: Traffic::default() };
    let mut outputs: Vec<Option<M::Output>> = (0..starts.len()).map(|_| None).collect();
    let mut machines: Vec<Option<M>> = Vec::with_capacity(starts.len());
    for (index, start) in starts.into_iter().enumerate() {
        machines.push(network.settle(index as u16, start, &mut outputs));
    }
    let mut order = Coins::danger_from_seed(seed);
    while !network.bag.is_empty() {
        let drawn = order.below(network.bag.len() as u64) as usize;
        let (to, bytes) = network.bag.swap_remove(drawn);
        let message = Message::decode(&bytes)?;
        watcher(&Delivery { to, message: message.clone() });
        let slot = &mut machines[usize::from(to)];
        let Some(machine) = slot.take() else {
            return Err(Fault::Internal("a message for somebody who has finished"));
        };
        *slot = network.settle(to, machine.step(message)?, &mut outputs);
    }
    let finished: Option<Vec<M::Output>> = outputs.into_iter().collect();
    finished.map(|outputs| (outputs, network.traffic)).ok_or(Fault::Internal("everybody waits for somebody"))
}

struct Network {
    bag: Vec<(u16, Rc<[u8]>)>,
    count: u16,
    traffic: Traffic,
}

impl Network {
    fn settle<M: Machine>(&mut self, me: u16, next: Transition<M>, outputs: &mut [Option<M::Output>]) -> Option<M> {
        let (machine, messages) = match next {
            Transition::Continue(machine, messages) => (Some(machine), messages),
            Transition::Finish(output, messages) => {
                outputs[usize::from(me)] = Some(output);
                (None, messages)
            }
        };
        for Outgoing { to, message } in messages {
            self.traffic.rounds = self.traffic.rounds.max(u64::from(message.round) + 1);
            let bytes: Rc<[u8]> = message.encode().into();
            let receivers: Vec<u16> = match to {
                To::One(other) => vec![other],
                To::Others => (0..self.count).filter(|other| *other != me).collect(),
            };
            for receiver in receivers {
                self.traffic.messages += 1;
                self.traffic.bytes += bytes.len() as u64;
                self.bag.push((receiver, Rc::clone(&bytes)));
            }
        }
        machine
    }
}
