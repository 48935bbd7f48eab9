//! Publishes tables of a Spark cluster. The rows stay there: Spark counts, recodes and writes them,
//! and counts again what it wrote. Here the frequency set is searched and guarantees are judged.
//!
//! The cluster is reached by Spark Connect, so that Apache Spark and any other server that speaks
//! that protocol can be used. Values never stand in the text of a statement: they travel as tables.
//!
//! No type of the client or of Arrow leaves this crate.

#![deny(missing_docs)]
// The errors of the client are large, and end a run.
#![allow(clippy::result_large_err)]

mod check;
mod column;
mod engine;
mod failure;
mod local;
mod parts;
mod publish;
mod recode;
mod session;
mod sql;
mod stream;

pub use check::check;
pub use publish::{Publish, publish};
pub use session::Session;
