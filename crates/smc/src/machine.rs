//! Protocols as state machines: a message in, messages, opened values and a state out.
//!
//! Whatever a step opens is among its effects, whether the step goes on, concludes or fails.
//! The caller of a machine writes them down *before* it sends: then a run that fails in its
//! seventieth round leaves a record of seventy rounds.

use crate::fault::{Fault, Reason};
use crate::inbox::RunPlace;
use crate::ledger::{Ledger, OpenedValues};
use crate::message::{Body, Message};

/// One custodian's side of one run. A fault consumes it.
pub trait Machine: Sized {
    type Output;

    /// `from` is the sender as the transport authenticated it.
    fn step(self, from: u16, message: Message) -> Result<Transition<Self>, Failure>;

    /// Gives the run up: what to tell the others, whom the clock or the operator blames among it.
    fn abort(self, blamed: Option<u16>) -> Outgoing;

    /// The custodians whose messages are missing for the next step: whom a clock may blame.
    fn waits_for(&self) -> Vec<u16> {
        Vec::new()
    }

    /// The number of messages accepted. A repeated message counts once.
    fn taken_in(&self) -> usize;
}

#[derive(Debug)]
pub enum Transition<M: Machine> {
    /// Journal, send, and wait.
    Continue(M, Effects),
    /// Journal, send, and be done.
    Finish(M::Output, Effects),
}

/// The effects of a step, in this order: write down the opened values, then send.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Effects {
    pub opened: Vec<OpenedValues>,
    pub send: Vec<Outgoing>,
}

/// The end of a run: why, what was opened before that in the same step, and what the others must
/// receive.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{fault}")]
pub struct Failure {
    pub fault: Fault,
    pub effects: Effects,
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Fault {
        failure.fault
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    pub to: To,
    pub message: Message,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum To {
    /// Every custodian of the roster but the sender.
    Others,
    One(u16),
}

/// The outcome of an inquiry, and everything that was opened on the way to it.
#[derive(Debug, PartialEq, Eq)]
pub struct Concluded<T> {
    pub output: T,
    pub ledger: Ledger,
}

/// The handling of a step's outcome, common to all machines of this crate.
pub(crate) trait Engine: Machine {
    fn place(&self) -> RunPlace;
    fn round(&self) -> u32;
    fn take_effects(&mut self) -> Effects;
    fn advance(&mut self, from: u16, message: Message) -> Result<Option<Self::Output>, Fault>;
}

pub(crate) fn step<E: Engine>(mut engine: E, from: u16, message: Message) -> Result<Transition<E>, Failure> {
    let outcome = engine.advance(from, message);
    let mut effects = engine.take_effects();
    match outcome {
        Ok(None) => Ok(Transition::Continue(engine, effects)),
        Ok(Some(output)) => Ok(Transition::Finish(output, effects)),
        Err(fault) => {
            effects.send.clear();
            // The custodian that gave up first has informed all others.
            if !matches!(fault, Fault::Aborted { .. }) {
                effects.send.push(farewell(&engine, fault.reason(), fault.suspects()));
            }
            Err(Failure { fault, effects })
        }
    }
}

pub(crate) fn farewell<E: Engine>(engine: &E, reason: Reason, blamed: Option<u16>) -> Outgoing {
    // A stranger has no place in the roster.
    let blamed = blamed.filter(|blamed| *blamed < engine.place().count);
    let message = engine.place().message(engine.round(), Body::Abort { reason, blamed });
    Outgoing { to: To::Others, message }
}
