//! How much of a released cell a predicate covers, from what the codebook says of the cell and nothing else.
//!
//! One model serves `hedgerow query` and the query error of `measure`: the values under a label are equally likely, and
//! the attributes of a row are independent given its labels.
//!
//! - `axis`: what is known about an attribute, label by label;
//! - `predicate`: what is asked of one attribute;
//! - `regions`: the axis cut so that no predicate changes within a piece, and each label's mass in every piece;
//! - `mask`: the texts under a masked label;
//! - `told`: axes from the statistics of a cloned release.

pub(crate) mod axis;
pub(crate) mod mask;
pub(crate) mod micro_statistics;
pub(crate) mod predicate;
pub(crate) mod regions;

#[cfg(test)]
mod tests;
