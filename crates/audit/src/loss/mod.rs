//! The losses by generalization and suppression: one file per measure. Lower is better for all of
//! them.

use serde::Serialize;

use crate::rows::RowCounts;

pub(crate) mod average_class;
pub(crate) mod discernibility;
pub(crate) mod entropy;
pub(crate) mod granularity;
pub(crate) mod kl;
pub(crate) mod ncp;
pub(crate) mod precision;

/// Every loss of a release. Shares run from 0 (untouched) to 1 (all lost); `None` has no meaning
/// for this kind of release.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Losses {
    /// The normalized certainty penalty: the share of each attribute that its cells hide.
    pub ncp: f64,
    /// The share of its hierarchy that each cell was raised by.
    pub precision: Option<f64>,
    /// The sum over rows of the size of its class.
    pub discernibility: u64,
    /// The mean size of the classes, in multiples of k.
    pub average_class: f64,
    /// The share of the values that each cell covers.
    pub granularity: Option<f64>,
    /// Non-uniform entropy: the share of the information in each attribute that its cells lost.
    pub entropy: Option<f64>,
    /// In nats.
    pub kl: Option<f64>,
}

impl Losses {
    /// Of a release without levels and cells: losses that these define have no meaning there, and
    /// `ncp` counts the suppressed rows alone.
    pub(crate) fn without_cells(sizes: &[u64], rows: RowCounts, k: u64) -> Losses {
        Losses {
            ncp: rows.suppressed_share(),
            precision: None,
            discernibility: discernibility::of_classes(sizes, rows.source, rows.suppressed),
            average_class: average_class::of_classes(rows.released, sizes.len() as u64, k),
            granularity: None,
            entropy: None,
            kl: None,
        }
    }
}

/// The contribution of one quasi-identifier to the losses.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AttributeLoss {
    /// The quasi-identifier.
    #[serde(skip)]
    pub name: String,
    /// The level that all cells are on, if they are on one.
    pub level: Option<usize>,
    /// The top level of its hierarchy.
    pub top: usize,
    /// The share of the attribute that its cells hide.
    pub ncp: f64,
    /// The share of the values that each cell covers.
    pub granularity: Option<f64>,
    /// The share of the information that its cells lost.
    pub entropy: Option<f64>,
}

impl AttributeLoss {
    /// Of a release without levels and cells.
    pub(crate) fn without_cells(name: &str, rows: RowCounts) -> AttributeLoss {
        let ncp = rows.suppressed_share();
        AttributeLoss { name: name.to_owned(), level: None, top: 0, ncp, granularity: None, entropy: None }
    }
}

/// The mean, 0 for nothing: a table without quasi-identifiers has no cell to lose.
pub(crate) fn mean(shares: &[f64]) -> f64 {
    if shares.is_empty() { 0.0 } else { shares.iter().sum::<f64>() / shares.len() as f64 }
}
