//! How an attribute can be cut, and the decisions of Mondrian as functions of ranges, counts and
//! medians alone.
//!
//! A program over one table and several custodians who know these numbers only together decide by
//! the same functions. This crate sees no rows, no policy and no protocol.

mod axis;
pub mod decide;
mod share;

pub use axis::{Axis, HierarchyNode, NumberLine, Shape, Span};
pub use share::{clipped_share, interval_share, position};
