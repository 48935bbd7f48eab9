//! The journal: what happened at this node, row after row, each with a hash over itself and the row
//! before. The node signs the last hash (`disk.rs`) and gives it to its peers (`heads.rs`), so that
//! a changed, removed or inserted row shows.
//!
//! It is also what a node knows after a restart: which runs ended and how, and which one was staged
//! or prepared and is in doubt. It has counts and names of custodians, and no rows.

use hedgerow_audit::query::SQL_MAX;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::message::{Hex, RunId};

/// The longest statement of an analyst in it, in characters: all that are answered fit, also when
/// they are written anew. What is cut off is where an analyst would hide the question.
pub(crate) const SQL_CHARACTERS_MAX: usize = 2 * SQL_MAX;

/// The kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// The daemon began or ended.
    Opened,
    Closed,
    /// A custodian proposed a run.
    Proposed,
    /// A proposal that this node takes no part in.
    Refused,
    /// A custodian takes part, with a commitment to its rows.
    Joined,
    /// A custodian's operator approved.
    Approved,
    /// This node's operator insisted on a run that the book of runs refuses.
    Insisted,
    /// A step began: from here on its question counts as asked.
    Burned,
    /// Values that a step opened to all custodians.
    Disclosed,
    /// The release is on the disk, beside its place.
    Staged,
    /// All have staged the same release, and this node has signed that it is prepared.
    Prepared,
    /// All have signed: the run is an epoch.
    Published,
    /// The run ended without a release.
    Aborted,
    /// A connection or message that was turned away.
    Rejected,
    /// An analyst's statement over the release of an epoch.
    Queried,
    /// A question to all custodians that was given up.
    Unanswered,
    /// A custodian is convicted by two statements that it signed.
    Blamed,
    /// The operator gave up a run that was in doubt.
    Resolved,
    /// Where a peer's journal stands, signed by the peer.
    Kept,
    /// A peer knows a later or another journal of this node.
    Replaced,
    /// Settings and certificates were read again.
    Reloaded,
}

impl What {
    pub const ALL: [What; 21] = [
        What::Opened,
        What::Closed,
        What::Proposed,
        What::Refused,
        What::Joined,
        What::Approved,
        What::Insisted,
        What::Burned,
        What::Disclosed,
        What::Staged,
        What::Prepared,
        What::Published,
        What::Aborted,
        What::Rejected,
        What::Queried,
        What::Unanswered,
        What::Blamed,
        What::Resolved,
        What::Kept,
        What::Replaced,
        What::Reloaded,
    ];

    pub fn name(self) -> &'static str {
        match self {
            What::Opened => "opened",
            What::Closed => "closed",
            What::Proposed => "proposed",
            What::Refused => "refused",
            What::Joined => "joined",
            What::Approved => "approved",
            What::Insisted => "insisted",
            What::Burned => "burned",
            What::Disclosed => "disclosed",
            What::Staged => "staged",
            What::Prepared => "prepared",
            What::Published => "published",
            What::Aborted => "aborted",
            What::Rejected => "rejected",
            What::Queried => "queried",
            What::Unanswered => "unanswered",
            What::Blamed => "blamed",
            What::Resolved => "resolved",
            What::Kept => "kept",
            What::Replaced => "replaced",
            What::Reloaded => "reloaded",
        }
    }

    pub fn from_name(name: &str) -> Option<What> {
        What::ALL.into_iter().find(|what| what.name() == name)
    }
}

/// One row before it has its place and its hash.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Milliseconds since 1970.
    pub at: u64,
    pub what: What,
    pub run: Option<RunId>,
    /// The custodian or operator who did it.
    pub who: String,
    pub detail: Detail,
}

/// The details of a row: JSON, kept as the text that is hashed and stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detail(String);

impl Detail {
    /// A text that is JSON already.
    pub(crate) fn written(json: String) -> Detail {
        Detail(json)
    }

    /// `None` when it is longer.
    pub(crate) fn within(self, bytes_max: usize) -> Option<Detail> {
        Some(self).filter(|detail| detail.0.len() <= bytes_max)
    }

    pub fn text(&self) -> &str {
        &self.0
    }

    /// Its value; null where the text is not JSON, which no node writes.
    pub fn value(&self) -> Value {
        serde_json::from_str(&self.0).unwrap_or_default()
    }
}

impl From<Value> for Detail {
    fn from(value: Value) -> Detail {
        Detail(value.to_string())
    }
}

impl std::fmt::Display for Detail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The hash of a row, given that of the row before (of the first: 32 zeros).
pub fn chain(before: &Hex<32>, number: u64, record: &Record) -> Hex<32> {
    let run = record.run.map_or(String::new(), |run| run.to_string());
    chain_texts(before, number, record.at, [record.what.name(), &run, &record.who, record.detail.text()])
}

/// The same for a row as it is stored: event, run, who did it, and details.
pub(crate) fn chain_texts(before: &Hex<32>, number: u64, at: u64, texts: [&str; 4]) -> Hex<32> {
    let mut hash = Sha256::new();
    hash.update(b"hedgerow journal 1");
    hash.update(before.0);
    hash.update(number.to_le_bytes());
    hash.update(at.to_le_bytes());
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    Hex(hash.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_row_is_in_its_hash() {
        let detail = Detail::from(serde_json::json!({}));
        let record = Record { at: 5, what: What::Joined, run: Some(Hex([1; 16])), who: "a".into(), detail };
        let base = chain(&Hex([0; 32]), 1, &record);
        let others = [
            chain(&Hex([1; 32]), 1, &record),
            chain(&Hex([0; 32]), 2, &record),
            chain(&Hex([0; 32]), 1, &Record { detail: Detail::written("{ }".to_owned()), ..record.clone() }),
            chain(&Hex([0; 32]), 1, &Record { at: 6, ..record.clone() }),
            chain(&Hex([0; 32]), 1, &Record { what: What::Aborted, ..record.clone() }),
            chain(&Hex([0; 32]), 1, &Record { run: None, ..record.clone() }),
            chain(&Hex([0; 32]), 1, &Record { who: "b".into(), ..record.clone() }),
        ];
        assert!(others.iter().all(|other| *other != base));
    }

    #[test]
    fn names_lead_back() {
        assert!(What::ALL.into_iter().all(|what| What::from_name(what.name()) == Some(what)));
    }
}
