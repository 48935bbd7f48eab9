//! The report: pictures as functions from plain values to inline SVG, and the report as one
//! page of HTML. No other library renders.

pub mod facts;
mod page;
pub mod pictures;

pub use page::{Section, TITLE, page, part, sections, with_code};
pub use pictures::rules_graph;
