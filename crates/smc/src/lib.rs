//! Computing together without showing: protocols by which custodians learn a sum, a comparison, a
//! largest value, a median or a union of what they hold, and of each other what the ledger lists.
//!
//! Every protocol is a state machine without network, clock or threads: [`Machine::step`] takes one
//! message and gives back the next state with what was opened and what to send, or the outcome.
//! The caller (a test, the simulator of this room, a daemon) journals and carries the bytes.
//!
//! There are two profiles. [`masked`] is the default: of sums only the totals open, of a largest
//! value its digits and of flags whether any is raised, and no coalition that leaves two custodians
//! outside learns more (but for what `masked/run.rs` says of largest values). [`baseline`] is what
//! Jurczyk and Xiong describe in TR-2008-013; it is kept to be compared with, and is weaker in ways
//! that its files state.
//!
//! Both assume: custodians follow the protocol (they are curious, not malicious), and the transport
//! authenticates the sender of every message and keeps third parties out. Messages that break the
//! protocol end the run with the sender's name.
//!
//! The feature `danger-seeded` has everything that takes its randomness from a known seed: the
//! simulator, rehearsals and measurements. A custodian's daemon is built without it.

mod at_least;
pub mod baseline;
mod burn;
mod coins;
mod extremes;
mod fault;
mod forecast;
mod inbox;
mod inquiry;
mod ledger;
mod limits;
mod long;
#[cfg(any(test, feature = "danger-seeded"))]
pub mod lop;
mod machine;
pub mod masked;
mod median;
mod message;
mod packed;
mod plan;
mod roster;
mod secret;
mod signing;
#[cfg(any(test, feature = "danger-seeded"))]
pub mod simulate;
mod sum;
mod tally;
mod traffic;
mod union;
mod wire;

pub use at_least::AtLeast;
pub use burn::{BurnBook, Head, Permit};
pub use coins::Coins;
pub use extremes::Extremes;
pub use fault::{Fault, Reason, WireFault};
pub use forecast::Forecast;
pub use inquiry::{Ask, Inquiry, Operation, Thresholds, Turn};
pub use ledger::{About, Ledger, OpenedKind, OpenedValues, Opens};
pub use limits::RunLimits;
pub use machine::{Concluded, Effects, Failure, Machine, Outgoing, To, Transition};
pub use median::Medians;
pub use message::{Body, Digest, Item, MESSAGE_BYTES_MAX, Message, MessageChunk, PROTOCOL_VERSION, SessionId};
pub use plan::{Difference, Differences, Insisted, Plan, Snapshot};
pub use roster::{Member, Question, Roster};
pub use signing::{Signature, SigningKey, verifies};
pub use sum::Sums;
pub use tally::CountTally;
pub use traffic::Traffic;
pub use union::UnionCounts;
