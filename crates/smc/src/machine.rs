//! Protocols as state machines: a message in, messages and a state out.

use crate::fault::Fault;
use crate::ledger::Ledger;
use crate::message::Message;

/// One custodian's side of one run. A fault consumes it.
pub trait Machine: Sized {
    type Output;

    fn step(self, message: Message) -> Result<Transition<Self>, Fault>;
}

#[derive(Debug)]
pub enum Transition<M: Machine> {
    /// Send these, and wait.
    Continue(M, Vec<Outgoing>),
    /// Send these, and be done.
    Finish(M::Output, Vec<Outgoing>),
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
