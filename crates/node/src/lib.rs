//! A custodian's node: a daemon that publishes together with its peers.
//!
//! Each custodian runs one next to its own rows. Nodes connect to each other directly, over mutual
//! TLS with pinned keys (`tls.rs`, `door.rs`, `net.rs`). A run is proposed, approved by every
//! custodian's operator, executed step by step (`steps.rs`), and published by all or by none
//! (`node.rs`), on a certificate that all have signed (`certificate.rs`). What happens is journaled
//! in a hash-chained table before anything is sent (`journal.rs`, `disk.rs`). `docs/custodians.md`
//! says what custodians learn of each other.
//!
//! [`Node`] is a state machine without sockets and threads: the daemon drives it with real ones,
//! and simulations with messages that are lost, late and repeated, and with crashes at every write.

pub mod agreement;
pub mod certificate;
mod channel_binding;
pub mod clock;
mod command;
pub mod configured;
mod context;
pub mod daemon;
pub mod demo;
pub mod disk;
pub mod door;
pub mod endpoint;
pub mod endpoint_settings;
pub mod event;
mod evidence;
pub mod export;
mod fields;
mod heads;
pub mod health;
pub mod hex;
pub mod journal;
pub mod key_files;
pub mod keys;
pub mod live;
pub mod message;
pub mod net;
mod node;
mod opened;
pub mod operator;
mod outbox;
pub mod outlines;
pub mod part;
pub mod peer;
mod places;
pub mod query;
mod question;
mod questions;
pub mod rejections;
mod runs;
mod scram;
pub mod settings;
mod socket;
pub mod statement;
mod step_name;
mod steps;
pub mod store;
pub mod terms;
pub mod tls;
mod versions;
mod waiting;

pub use clock::Time;
pub use command::Command;
pub use context::{Custodian, ReadRows};
pub use heads::sign_heads;
pub use node::Node;
pub use outbox::Sent;
pub use question::{Totals, Unanswered, Work, Worked};
pub use runs::{Ending, RunPhase};
pub use scram::Verifier;
pub use store::OpenError;
