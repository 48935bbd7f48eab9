//! Computing together without showing: protocols by which custodians learn a sum, a largest value,
//! a median or a union of what they hold, and nothing else of each other.
//!
//! Every protocol is a state machine without network, clock or threads: [`Machine::step`] takes one
//! message and gives back the next state with the messages to send, or the outcome. Whoever runs it
//! (a test, the simulator of this room, a daemon) carries the bytes.
//!
//! There are two profiles. [`masked`] is the default: only totals open, and no coalition that
//! leaves two custodians outside learns more than the totals. [`baseline`] is what Jurczyk and
//! Xiong describe in TR-2008-013; it is kept to be compared with, and is weaker in ways that its
//! files state.
//!
//! What both assume: custodians follow the protocol (they are curious, not malicious), and the
//! transport authenticates the sender of every message and keeps third parties out.

pub mod baseline;
mod burn;
mod coins;
mod extremes;
mod fault;
mod forecast;
mod inbox;
mod inquiry;
mod ledger;
pub mod lop;
mod machine;
pub mod masked;
mod median;
mod message;
mod packed;
mod roster;
mod secret;
pub mod simulate;
mod sum;
mod tally;
mod union;
mod wire;

pub use burn::{BurnBook, Permit};
pub use coins::Coins;
pub use extremes::Extremes;
pub use fault::{Fault, WireFault};
pub use forecast::Forecast;
pub use inquiry::{Ask, Inquiry, Operation, Turn};
pub use ledger::{Entry, Kind, Ledger, Opens};
pub use machine::{Concluded, Machine, Outgoing, To, Transition};
pub use median::Medians;
pub use message::{Body, Digest, Item, MESSAGE_BYTES_MAX, Message, SessionId};
pub use roster::{Question, Roster};
pub use sum::Sums;
pub use tally::Tally;
pub use union::UnionCounts;
