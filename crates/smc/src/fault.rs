//! Why a run ends early, and who is to blame. A fault consumes the machine: there is no state left
//! that could go on by mistake.

use thiserror::Error;

/// A message that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum WireFault {
    #[error("the message ends too early")]
    Truncated,
    #[error("the message goes on after its end")]
    Trailing,
    #[error("version {0} of the protocol is not spoken here")]
    Version(u8),
    #[error("no kind of message has number {0}")]
    Kind(u8),
    #[error("a number or a length in the message is out of its range")]
    Range,
}

/// Why a run was given up.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Fault {
    #[error("a message could not be read: {0}")]
    Wire(#[from] WireFault),
    #[error("a message from {sender}, who is not in the roster or is ourselves")]
    Stranger { sender: u16 },
    #[error("a message of another session or question, from {sender}")]
    OtherRun { sender: u16 },
    #[error("a message from {sender} for round {round}, which was answered already")]
    Replayed { sender: u16, round: u32 },
    #[error("a message from {sender} for round {round}, which cannot have begun")]
    TooEarly { sender: u16, round: u32 },
    #[error("a message from {sender} of a kind, length or value that round {round} does not have")]
    OutOfPlace { sender: u16, round: u32 },
    #[error("custodian {sender} offers a key that everybody could compute")]
    WeakKey { sender: u16 },
    #[error("custodian {sender} gave up")]
    Aborted { sender: u16 },
    #[error("a layer of encryption does not open: a row was changed on its way, by {sender} or before")]
    Tampered { sender: u16 },
    #[error(
        "{found} custodians, but at least 3 are needed: with two, each would learn the other's value from the total"
    )]
    TooFew { found: usize },
    #[error("{found} custodians, but at most {max} can compute together")]
    TooMany { found: usize, max: usize },
    #[error("two custodians have the same name")]
    SameName,
    #[error("this question was put before to other custodians: the two answers would differ by what one of them holds")]
    Burned,
    #[error("this session was used before, and its masks with it")]
    SessionUsed,
    #[error("more than fits into one message: {found} of at most {max}")]
    TooLarge { found: usize, max: usize },
    #[error("the computation would open {0:?}, which it did not announce")]
    NotAnnounced(crate::Kind),
    #[error("internal error in a protocol: {0}")]
    Internal(&'static str),
}
