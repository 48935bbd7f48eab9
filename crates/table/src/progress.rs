//! How long work reports how far it has come, and how it learns that it should stop. The libraries
//! report; only the command draws.

use crate::TableError;

/// A listener for long work. Calls are cheap and may come from any thread.
pub trait Progress: Sync {
    /// A new phase begins; `total` is in the phase's own unit (bytes, rows, nodes) when it is
    /// known.
    fn stage(&self, _name: &str, _total: Option<u64>) {}
    /// The current phase has done `amount` more.
    fn advance(&self, _amount: u64) {}
    /// A search has found something better than before, in words.
    fn found(&self, _what: &str) {}
    /// Whether the work should end at once, with nothing written.
    fn is_canceled(&self) -> bool {
        false
    }
    /// Whether a search should end with the best that it has found so far.
    fn finishes_early(&self) -> bool {
        false
    }
    /// An error once the work is canceled, for loops that can fail.
    fn check(&self) -> Result<(), TableError> {
        if self.is_canceled() { Err(TableError::Canceled) } else { Ok(()) }
    }
}

/// A listener says nothing of itself.
impl std::fmt::Debug for dyn Progress + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Progress")
    }
}

/// Ignores all progress.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl Progress for NoProgress {}
