//! Events that other threads send to a node's thread.

use crate::message::Frame;
use crate::query::{Asks, Queried};
use crate::question::Worked;
use crate::waiting::Waits;

#[derive(Debug)]
pub enum Event {
    /// A frame of a custodian that has proven its identity.
    Frame { from: String, frame: Box<Frame>, waits: Waits },
    /// A connection of such a custodian has frames of another version, which are not read.
    OtherVersion { from: String, version: u8 },
    /// A question to all custodians.
    Asks(Asks),
    /// A statement that this node answers from the release, for the journal.
    Queried(Queried),
    /// A command of the operator waits.
    Commanded,
    /// The result of work that the node handed out.
    Worked(Worked),
}
