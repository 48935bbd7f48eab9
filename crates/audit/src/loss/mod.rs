//! What generalizing and suppressing cost: one file per measure. Lower is better for all of them.

use crate::measure::RowCounts;

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

impl Losses {
    /// Of a release without levels and cells: losses that these define say nothing of it, and `ncp` is that of the suppressed rows.
    pub(crate) fn without_cells(quasi: &[&str], sizes: &[u64], rows: RowCounts, k: u64) -> Losses {
        let ncp = rows.suppressed as f64 / rows.source as f64;
        let attribute =
            |name: &&str| AttributeLoss { name: (*name).to_owned(), level: None, top: 0, ncp, granularity: None };
        Losses {
            ncp,
            precision: None,
            discernibility: discernibility::of_classes(sizes, rows.source, rows.suppressed),
            average_class: average_class::of_classes(rows.released, sizes.len() as u64, k),
            granularity: None,
            kl: None,
            attributes: quasi.iter().map(attribute).collect(),
        }
    }
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
