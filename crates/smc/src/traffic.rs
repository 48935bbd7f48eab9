//! Messages, bytes and rounds, counted.

/// The messages and bytes sent.
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
