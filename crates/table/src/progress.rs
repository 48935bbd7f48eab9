//! How long work tells that it is still going. The rooms report; only the command draws.

/// A listener for long work. Calls are cheap and may come from any thread.
pub trait Progress: Sync {
    /// A new stage begins; `total` is in the stage's own unit (bytes, rows, nodes) when it is known.
    fn stage(&self, _name: &str, _total: Option<u64>) {}
    /// The current stage has done `amount` more.
    fn advance(&self, _amount: u64) {}
}

/// Nobody listens.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl Progress for NoProgress {}
