//! What people see: figures as functions from plain values to inline SVG. No other library renders.

mod geometry;
pub mod rules_graph;
mod svg;
