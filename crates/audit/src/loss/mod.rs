//! What generalising and suppressing cost: one file per measure. Lower is better for all of them.

pub(crate) mod average_class;
pub(crate) mod discernibility;
pub(crate) mod granularity;
pub(crate) mod kl;
pub(crate) mod ncp;
pub(crate) mod precision;

/// Every loss of a release. Shares run from 0 (untouched) to 1 (all lost); `None` has no meaning for this kind of release.
#[derive(Debug, Clone, PartialEq)]
pub struct Losses {
    pub ncp: f64,
    pub precision: Option<f64>,
    pub discernibility: u64,
    pub average_class: f64,
    pub granularity: Option<f64>,
    /// In nats.
    pub kl: Option<f64>,
    /// What each quasi attribute contributes, in the order of the policy.
    pub attributes: Vec<AttributeLoss>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AttributeLoss {
    pub name: String,
    /// The level that all cells are on, if they are on one.
    pub level: Option<usize>,
    pub top: usize,
    pub ncp: f64,
    pub granularity: Option<f64>,
}

/// The mean, 0 for nothing: a table without quasi attributes has no cell to lose.
pub(crate) fn mean(shares: &[f64]) -> f64 {
    if shares.is_empty() { 0.0 } else { shares.iter().sum::<f64>() / shares.len() as f64 }
}
