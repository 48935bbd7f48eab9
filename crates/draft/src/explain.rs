//! How a lattice was searched, as `--explain` prints it: nodes judged, and nodes pruned by reason.

/// The outcome for the lattice's nodes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Explain {
    /// `None` beyond 64 bits.
    pub nodes: Option<u64>,
    /// Distinct rows of the table, by what is generalized or known to some rule.
    pub distinct: usize,
    /// Judged to find a first good node.
    pub judged_first: u64,
    /// Judged to prove that none is better.
    pub judged_proof: u64,
    /// Of all judged, those that hold.
    pub judged_holding: u64,
    /// Not judged: they cannot lose less than the best node.
    pub pruned_by_loss: u64,
    /// Not judged: a coarser node shows that too many rows would have to be suppressed.
    pub pruned_by_guarantee: u64,
    /// Not judged: a coarser node shows that enough rows must be suppressed to lose more than the
    /// best node.
    pub pruned_by_suppression: u64,
    /// Not reached within the budget.
    pub not_reached: u64,
}
