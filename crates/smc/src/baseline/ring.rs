//! The ring: custodians in a random order that all of them know, each with a predecessor and a
//! successor.

use sha2::{Digest as _, Sha256};

use crate::coins::Coins;
use crate::message::SessionId;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Neighbors {
    /// The custodian that begins every pass.
    pub(crate) first: u16,
    pub(crate) before: u16,
    pub(crate) after: u16,
}

/// The order of a session: a permutation that follows from its name, so that no custodian has to be
/// trusted to draw it.
pub(crate) fn order(session: &SessionId, count: u16) -> Vec<u16> {
    let mut hash = Sha256::new();
    hash.update(b"hedgerow ring 1");
    hash.update(session);
    let mut order: Vec<u16> = (0..count).collect();
    Coins::from_public(hash.finalize().into()).shuffle(&mut order);
    order
}

pub(crate) fn neighbors(session: &SessionId, me: u16, count: u16) -> Neighbors {
    let order = order(session, count);
    let here = order.iter().position(|one| *one == me).unwrap_or(0);
    let count = order.len();
    Neighbors { first: order[0], before: order[(here + count - 1) % count], after: order[(here + 1) % count] }
}
