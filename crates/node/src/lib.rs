//! A custodian's node: a daemon that publishes together with its peers.
//!
//! Each custodian runs one next to its own rows. Nodes connect to each other directly, over mutual
//! TLS with pinned keys (`tls.rs`, `net.rs`). A run is proposed, approved by every custodian's
//! operator, executed step by step (`steps.rs`), and published by all or by none (`node.rs`). What
//! happens is journaled in a hash-chained table before anything is said to anybody (`journal.rs`,
//! `disk.rs`). `docs/custodians.md` says what custodians learn of each other.
//!
//! [`Node`] is a state machine without sockets and threads: the daemon drives it with real ones,
//! and simulations with messages that are lost, late and repeated, and with crashes at every write.

mod answering;
pub mod clock;
pub mod daemon;
pub mod demo;
pub mod disk;
pub mod endpoint;
pub mod health;
mod hearing;
pub mod hex;
pub mod journal;
pub mod keys;
pub mod message;
pub mod net;
mod node;
mod opened;
mod operations;
pub mod operator;
pub mod outlines;
pub mod part;
mod proceeding;
pub mod query;
mod question;
mod run;
pub mod settings;
mod speaking;
mod steps;
pub mod store;
pub mod terms;
pub mod tls;

pub use node::{Command, Custodian, Node, OpenError, ReadRows, Sent, Time};
pub use question::{Totals, Unanswered, Work, Worked};
pub use run::{Ending, Phase};
