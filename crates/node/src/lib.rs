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
mod answering;
mod blame;
pub mod certificate;
mod channel_binding;
pub mod clock;
pub mod configured;
pub mod daemon;
pub mod demo;
pub mod disk;
pub mod door;
pub mod endpoint;
pub mod event;
mod evidence;
pub mod export;
mod fields;
mod heads;
pub mod health;
mod hearing;
pub mod hex;
pub mod journal;
pub mod key_files;
pub mod keys;
pub mod live;
pub mod message;
pub mod net;
mod node;
mod opened;
mod operations;
pub mod operator;
pub mod options;
pub mod outlines;
pub mod part;
pub mod peer;
mod places;
mod proceeding;
pub mod query;
mod question;
mod question_blame;
pub mod rejections;
mod run;
mod scram;
pub mod settings;
mod socket;
mod speaking;
pub mod statement;
mod step_name;
mod steps;
pub mod store;
pub mod terms;
pub mod tls;

pub use clock::Time;
pub use heads::sign_heads;
pub use node::{Command, Custodian, Node, OpenError, ReadRows, Sent};
pub use question::{Totals, Unanswered, Work, Worked};
pub use run::{Ending, Phase};
pub use scram::Verifier;
