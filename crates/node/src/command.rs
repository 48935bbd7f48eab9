//! The commands of a node's operator.

/// A command of this node's operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    Status,
    /// With all custodians of the settings but those that are named.
    Propose {
        operator: String,
        without: Vec<String>,
    },
    /// `plan` is the digest, or at least its first 32 digits.
    Approve {
        operator: String,
        plan: String,
        insist: bool,
    },
    Withdraw {
        operator: String,
    },
    /// Gives up a run that is in doubt: the others may have published it.
    Resolve {
        operator: String,
        why: String,
    },
}
