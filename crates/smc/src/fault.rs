//! Why a run ends early, and who is to blame. A fault consumes the machine, so that a run
//! cannot be continued by mistake.
//!
//! A fault names the custodian whose message led to it, as the transport authenticated it. Where
//! only a total is impossible, it cannot be known whose words made it so, and [`Fault::suspects`]
//! is empty. A suspect is not blamed: of two custodians who contradict each other about a third,
//! one lies, and a machine does not see which. A node blames on two signatures.

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
    #[error("the checksum does not fit the bytes")]
    Checksum,
    #[error("the book of runs is older than the journal, or another one: {found} entries, the journal has {expected}")]
    RolledBack { found: u64, expected: u64 },
}

/// The reason that a custodian that gives up sends to the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Its operator or its clock ended the run.
    GaveUp,
    /// A message that breaks the protocol.
    BadMessage,
    /// Custodians do not see or conclude the same.
    Disagreement,
    /// An agreed bound.
    Limit,
    /// Totals that no rows add up to.
    Impossible,
    /// A fault of its own.
    Internal,
}

impl Reason {
    pub(crate) const ALL: [Reason; 6] =
        [Reason::GaveUp, Reason::BadMessage, Reason::Disagreement, Reason::Limit, Reason::Impossible, Reason::Internal];

    fn describe(self) -> &'static str {
        match self {
            Reason::GaveUp => "another custodian gave up",
            Reason::BadMessage => "a message breaks the protocol",
            Reason::Disagreement => "custodians do not see or conclude the same",
            Reason::Limit => "an agreed bound is exceeded",
            Reason::Impossible => "a total is impossible",
            Reason::Internal => "of an internal error",
        }
    }
}

/// Why a run was given up.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Fault {
    #[error("a message from custodian {sender} could not be read: {fault}")]
    Wire { sender: u16, fault: WireFault },
    #[error("a message from {sender}, who is not in the roster or is ourselves")]
    Stranger { sender: u16 },
    #[error("custodian {sender} sends messages in the name of {claimed}")]
    Impersonates { sender: u16, claimed: u16 },
    #[error("custodian {sender} takes part with another agreement, other data or other bounds than we do")]
    OtherQuestion { sender: u16 },
    #[error("two different messages from {sender} for the same place in round {round}")]
    Equivocated { sender: u16, round: u32 },
    #[error(
        "custodian {sender} sent different messages to {witness} and to this node, or {witness} reports it falsely"
    )]
    Split { sender: u16, witness: u16 },
    #[error("a message from {sender} for round {round}, which cannot have begun")]
    TooEarly { sender: u16, round: u32 },
    #[error("a message from {sender} of a kind, length or value that round {round} does not have")]
    OutOfPlace { sender: u16, round: u32 },
    #[error("custodian {sender} sent more than the {bytes_max} bytes that may wait for their round")]
    Flood { sender: u16, bytes_max: u64 },
    #[error("custodian {sender} offers a key that anyone could compute")]
    WeakKey { sender: u16 },
    #[error("custodian {sender} gave up, because {}{}", reason.describe(), blamed_by(*blamed))]
    Aborted { sender: u16, reason: Reason, blamed: Option<u16> },
    #[error("a layer of encryption does not open: a row was changed on its way, by {sender} or before")]
    Tampered { sender: u16 },
    #[error(
        "rows that we handed in are not among those that {sender} shows, who had them last: they were lost on the way"
    )]
    Lost { sender: u16 },
    #[error("a row that we handed in is not among those that {sender} handed on: it was dropped or replaced there")]
    Dropped { sender: u16 },
    #[error("custodian {sender} has another {what} than we have")]
    Disagrees { sender: u16, what: &'static str },
    #[error("{what}: no rows have these totals: one custodian sent false numbers, and totals do not show which")]
    Impossible { what: &'static str },
    #[error(
        "{found} custodians, but at least 3 are needed: with two, each would learn the other's value from the total"
    )]
    TooFew { found: usize },
    #[error("{found} custodians, but at most {max} can compute together")]
    TooMany { found: usize, max: usize },
    #[error("two custodians have the same name, or a name is empty or longer than 255 bytes")]
    SameName,
    #[error("two custodians have the same key")]
    SameKey,
    #[error(
        "rows of ours were in an earlier run with other terms, rows or custodians: the difference of the answers may show single rows"
    )]
    Burned,
    #[error("this session was used before, and its masks with it")]
    SessionUsed,
    #[error("{what}: {found}, but at most {max} were agreed on")]
    Limit { what: &'static str, found: u64, max: u64 },
    #[error("the computation would open {0:?}, which it did not announce")]
    NotAnnounced(crate::OpenedKind),
    #[error("internal error in a protocol: {0}")]
    Internal(&'static str),
}

fn blamed_by(blamed: Option<u16>) -> String {
    blamed.map_or(String::new(), |blamed| format!(", and blames {blamed}"))
}

impl Fault {
    /// The custodian that it points at, as far as this machine can see. That is an observation and
    /// not a proof: a custodian that received something else from a third may look guilty.
    pub fn suspects(&self) -> Option<u16> {
        match *self {
            Fault::Wire { sender, .. }
            | Fault::Stranger { sender }
            | Fault::Impersonates { sender, .. }
            | Fault::OtherQuestion { sender }
            | Fault::Equivocated { sender, .. }
            | Fault::Split { sender, .. }
            | Fault::TooEarly { sender, .. }
            | Fault::OutOfPlace { sender, .. }
            | Fault::Flood { sender, .. }
            | Fault::WeakKey { sender }
            | Fault::Tampered { sender }
            | Fault::Lost { sender }
            | Fault::Dropped { sender }
            | Fault::Disagrees { sender, .. } => Some(sender),
            Fault::Aborted { sender, blamed, .. } => blamed.or(Some(sender)),
            Fault::Impossible { .. }
            | Fault::TooFew { .. }
            | Fault::TooMany { .. }
            | Fault::SameName
            | Fault::SameKey
            | Fault::Burned
            | Fault::SessionUsed
            | Fault::Limit { .. }
            | Fault::NotAnnounced(_)
            | Fault::Internal(_) => None,
        }
    }

    /// The reason that is sent to the others.
    pub(crate) fn reason(&self) -> Reason {
        match self {
            Fault::Split { .. } | Fault::Disagrees { .. } | Fault::OtherQuestion { .. } => Reason::Disagreement,
            Fault::Aborted { reason, .. } => *reason,
            Fault::Limit { .. } | Fault::Flood { .. } => Reason::Limit,
            Fault::Impossible { .. } => Reason::Impossible,
            Fault::Internal(_) | Fault::NotAnnounced(_) => Reason::Internal,
            _ => Reason::BadMessage,
        }
    }
}
