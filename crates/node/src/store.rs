//! The persistent state of a node: the journal, the book of runs, and the release of a run, first
//! beside its place and then in it. The node writes through this interface before it sends
//! anything; simulations put a memory in the disk's place that breaks at any write.

use std::collections::BTreeSet;

use hedgerow_joint::{JointClass, JointRow};
use hedgerow_smc::WireFault;

use crate::journal::Record;
use crate::message::{Hex, QuestionId, RunId};
use crate::part::EpochPart;

/// The disk failed: the node ends, since it may say nothing that it cannot remember.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StoreError(pub String);

/// Why a node does not start.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the book of runs cannot be read: {0}")]
    Book(WireFault),
    #[error("the journal has an invalid row: {0}")]
    Journal(String),
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunResult {
    /// The rows of all custodians, owners unknown: the same at all of them.
    Whole { classes: Vec<JointClass>, rows: Vec<JointRow> },
    /// Classes, and the custodian's own rows.
    Part(EpochPart),
}

impl RunResult {
    pub fn classes(&self) -> &[JointClass] {
        match self {
            RunResult::Whole { classes, .. } => classes,
            RunResult::Part(part) => &part.common.classes,
        }
    }
}

pub trait Store {
    /// Adds rows to the journal, all or none, and returns when they are on the disk.
    fn append(&mut self, records: &[Record]) -> Result<(), StoreError>;

    /// All rows but those of opened values and of questions.
    fn history(&self) -> Result<Vec<Record>, StoreError>;

    /// The questions over rows apart that were journaled since a time.
    fn questions(&self, unix_ms: u64) -> Result<BTreeSet<QuestionId>, StoreError>;

    fn book(&self) -> Result<Option<Vec<u8>>, StoreError>;

    /// Replaces the book, and returns when it is on the disk.
    fn save_book(&mut self, bytes: &[u8]) -> Result<(), StoreError>;

    /// Where the journal stands: the number of its last row, and its hash.
    fn head(&self) -> (u64, Hex<32>);

    /// The hash of a row, counted from 1; `None` where the row does not exist.
    fn hash_at(&self, number: u64) -> Result<Option<Hex<32>>, StoreError>;

    /// Writes the release of a run beside its place, verified, and returns when it is on the disk:
    /// the hash of what all custodians have alike. An error of the outer kind ends the node, one of
    /// the inner kind the run.
    fn stage(&mut self, run: RunId, epoch: u64, found: &RunResult) -> Result<Result<Hex<32>, String>, StoreError>;

    /// Moves it into its place. Once it is there, nothing happens.
    fn publish(&mut self, run: RunId, epoch: u64) -> Result<(), StoreError>;

    /// This node's part of an epoch whose rows stayed apart; `None` where it is a whole release.
    fn part(&self, epoch: u64) -> Result<Option<EpochPart>, StoreError>;

    /// Removes what was written beside.
    fn discard(&mut self, run: RunId) -> Result<(), StoreError>;
}
