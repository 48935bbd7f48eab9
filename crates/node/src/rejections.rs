//! Connections and messages that were rejected: on their way to the node, and as the journal has
//! them.
//!
//! Threads that reject something add it to a list of bounded length and never wait for the node.
//! The journal has each of the first rejections of a kind in an hour, and counts of all others by
//! kind and hour: an attacker neither fills the journal, nor hides a wrong password behind
//! thousands of broken handshakes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use crate::clock;

/// Rejections that wait for the node one by one; more are counted by their kind.
const WAITING_MAX: usize = 256;
/// Rejections of one kind that an hour has in the journal one by one.
const SINGLE_MAX: u32 = 60;
/// Counts are journaled this long after the first uncounted rejection, at the latest.
const COUNTED_AFTER_MS: u64 = 600_000;
const HOUR_MS: u64 = 3_600_000;
/// In the place of a name, where several rejections are counted together.
const SEVERAL: &str = "several";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RejectionKind {
    /// No TLS handshake, or none in time.
    Handshake,
    /// A certificate that is not valid, is revoked, or has a key that the settings do not name.
    Certificate,
    /// A wrong password, or a name without one.
    Password,
    /// A party that may not do this, such as an analyst at the port of custodians.
    Role,
    /// Too many connections, attempts or statements.
    Limit,
    /// A message that is malformed, too long or out of place.
    Message,
}

impl RejectionKind {
    pub const ALL: [RejectionKind; 6] = [
        RejectionKind::Handshake,
        RejectionKind::Certificate,
        RejectionKind::Password,
        RejectionKind::Role,
        RejectionKind::Limit,
        RejectionKind::Message,
    ];

    pub fn name(self) -> &'static str {
        match self {
            RejectionKind::Handshake => "handshake",
            RejectionKind::Certificate => "certificate",
            RejectionKind::Password => "password",
            RejectionKind::Role => "role",
            RejectionKind::Limit => "limit",
            RejectionKind::Message => "message",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    pub kind: RejectionKind,
    /// A name from the settings, or a network address.
    pub whom: String,
    pub why: String,
    /// How often the same happened.
    pub times: u64,
}

/// Rejections that wait for the node.
#[derive(Debug, Clone, Default)]
pub struct Rejections(Arc<Mutex<Vec<Rejected>>>);

impl Rejections {
    pub fn add(&self, kind: RejectionKind, whom: &str, why: &str) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < WAITING_MAX {
            waiting.push(Rejected { kind, whom: whom.to_owned(), why: why.to_owned(), times: 1 });
            return;
        }
        match waiting.iter_mut().find(|rejected| rejected.kind == kind && rejected.whom == SEVERAL) {
            Some(rejected) => rejected.times += 1,
            // At most one more for each kind.
            None => waiting.push(Rejected { kind, whom: SEVERAL.to_owned(), why: why.to_owned(), times: 1 }),
        }
    }

    pub fn take(&self) -> Vec<Rejected> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The rejections of the current hour in the journal.
#[derive(Debug, Default)]
pub(crate) struct Hour {
    /// Hours since 1970.
    number: u64,
    /// By kind: how many rows were written, and how many rejections were not.
    kinds: BTreeMap<RejectionKind, (u32, u64)>,
    /// The time of the first rejection that was not written.
    since_ms: Option<u64>,
    /// By kind, since the node was started.
    totals: [u64; RejectionKind::ALL.len()],
}

impl Hour {
    /// Counts a rejection; gives what the journal says about it, unless it is only counted.
    pub(crate) fn add(&mut self, rejected: &Rejected, unix_ms: u64) -> Option<Value> {
        self.totals[rejected.kind as usize] += rejected.times;
        let (written, counted) = self.kinds.entry(rejected.kind).or_default();
        if rejected.times == 1 && *written < SINGLE_MAX {
            *written += 1;
            return Some(json!({ "kind": rejected.kind.name(), "why": rejected.why }));
        }
        *counted += rejected.times;
        self.since_ms.get_or_insert(unix_ms);
        None
    }

    /// The counts that are due: of an hour that is over, of rejections that have waited long
    /// enough, or all of them when the node ends.
    pub(crate) fn due(&mut self, unix_ms: u64, ends: bool) -> Vec<Value> {
        let number = unix_ms / HOUR_MS;
        let over = number != self.number;
        let waited = self.since_ms.is_some_and(|since| unix_ms.saturating_sub(since) >= COUNTED_AFTER_MS);
        if !(over || waited || ends) {
            return Vec::new();
        }
        let hour = clock::text(self.number * HOUR_MS);
        let count = |(kind, (_, counted)): (&RejectionKind, &(u32, u64))| {
            (*counted > 0).then(|| json!({ "kind": kind.name(), "times": counted, "hour": hour }))
        };
        let counts = self.kinds.iter().filter_map(count).collect();
        self.kinds.values_mut().for_each(|(_, counted)| *counted = 0);
        self.since_ms = None;
        if over {
            self.number = number;
            self.kinds.clear();
        }
        counts
    }

    /// By kind, how many since the node was started.
    pub(crate) fn totals(&self) -> [u64; RejectionKind::ALL.len()] {
        self.totals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_dropped_however_many_there_are() {
        let rejections = Rejections::default();
        for _ in 0..10_000 {
            rejections.add(RejectionKind::Handshake, "192.0.2.1:5", "not a handshake");
        }
        for _ in 0..3 {
            rejections.add(RejectionKind::Password, "ada", "wrong password");
        }
        let (mut hour, mut rows, now) = (Hour::default(), Vec::new(), 500_000 * HOUR_MS + 5);
        hour.due(now, false);
        let taken = rejections.take();
        assert!(taken.len() <= WAITING_MAX + RejectionKind::ALL.len());
        rows.extend(taken.iter().filter_map(|rejected| hour.add(rejected, now)));
        assert!(rows.len() <= 2 * SINGLE_MAX as usize);
        assert_eq!(hour.due(now + 1, false), Vec::<Value>::new(), "not due yet");
        rows.extend(hour.due(now + COUNTED_AFTER_MS, false));
        let count = |kind: &str| {
            let of_kind = rows.iter().filter(|row| row["kind"] == kind);
            of_kind.map(|row| row["times"].as_u64().unwrap_or(1)).sum::<u64>()
        };
        assert_eq!((count("handshake"), count("password")), (10_000, 3));
        assert_eq!(hour.totals()[RejectionKind::Handshake as usize], 10_000);
    }

    #[test]
    fn counts_belong_to_their_hour() {
        let now = 500_000 * HOUR_MS;
        let mut hour = Hour::default();
        hour.due(now, false);
        let rejected = Rejected { kind: RejectionKind::Limit, whom: SEVERAL.to_owned(), why: String::new(), times: 7 };
        assert_eq!(hour.add(&rejected, now), None);
        let due = hour.due(now + HOUR_MS, false);
        assert_eq!(due, [json!({ "kind": "limit", "times": 7, "hour": clock::text(now) })]);
        hour.add(&rejected, now + HOUR_MS);
        assert_eq!(hour.due(now + HOUR_MS + 1, true)[0]["hour"], clock::text(now + HOUR_MS), "at the end of the node");
        assert!(hour.due(now + 3 * HOUR_MS, true).is_empty());
    }
}
