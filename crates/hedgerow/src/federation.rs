//! Several custodians publish together without showing each other their rows.

/// Why a run between custodians ends early, and who is to blame.
pub use hedgerow_smc::Fault;
/// Loss of privacy of the union protocols: bounds by formula, and what is measured by trying.
pub use hedgerow_smc::lop;
