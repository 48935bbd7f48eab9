//! How much of a released cell a predicate covers, from what the codebook says of the cell and
//! nothing else.
//!
//! One model serves `hedgerow query` and the query error of `measure`: the values under a label
//! with two ends are equally likely, and the attributes of a row are independent given its labels.
//!
//! - `axis`: what is known about an attribute, label by label;
//! - `declared`: the kinds and ranges that a manifest declares;
//! - `origin`: where integers that are too large to be floats are counted from;
//! - `predicate`: what a query requires of one attribute;
//! - `regions`: the axis cut so that no predicate changes within a piece, and each label's mass in
//!   every piece;
//! - `shape`: how far open cells extend, from the counts of all cells;
//! - `like`: patterns of `LIKE`;
//! - `mask`: the texts under a masked label;
//! - `masked_digits`: the numbers under one;
//! - `possible_texts`: the predicates that can hold for a text that nothing lists;
//! - `micro_statistics`: axes from the micro-statistics of a cloned release;
//! - `whole`: between which whole numbers a value lies.

pub(crate) mod axis;
pub(crate) mod declared;
pub(crate) mod like;
pub(crate) mod mask;
mod masked_digits;
pub(crate) mod micro_statistics;
pub(crate) mod origin;
mod possible_texts;
pub(crate) mod predicate;
pub(crate) mod regions;
pub(crate) mod shape;
pub(crate) mod whole;

#[cfg(test)]
mod tests;
