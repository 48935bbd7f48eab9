//! Custodians whose nodes speak another version of messages.
//!
//! Nodes are upgraded one after the other. Until all have been, none of them can read what another
//! version says; it learns so from a message of this version, and operators and analysts are
//! informed whose program is the older one instead of waiting for words that never come.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use hedgerow_smc::Member;

use crate::message::FRAME_VERSION;

#[derive(Debug, Default)]
pub(crate) struct OtherVersions(BTreeMap<String, u8>);

impl OtherVersions {
    /// A custodian's last message is of another version.
    pub(crate) fn heard(&mut self, from: &str, version: u8) {
        self.0.insert(from.to_owned(), version);
    }

    /// A custodian's last message could be read.
    pub(crate) fn read(&mut self, from: &str) {
        self.0.remove(from);
    }

    pub(crate) fn of(&self, name: &str) -> Option<u8> {
        self.0.get(name).copied()
    }

    /// Why these custodians do nothing together; nothing where this node can read them all.
    pub(crate) fn why_unreadable(&self, own: &str, members: &[Member]) -> Option<String> {
        let (name, version) = members.iter().find_map(|member| self.0.get_key_value(&member.name))?;
        let older = if *version < FRAME_VERSION { name.as_str() } else { own };
        Some(format!(
            "{name} speaks messages of version {version}, and {own} of version {FRAME_VERSION}: the program of {older} is \
             the older one and has to be upgraded first"
        ))
    }
}

/// A peer of another version is answered again after this time. The first answer is lost where
/// the peer was just stopped to be upgraded, and its old connection is not known to have ended.
const ANSWERED_AGAIN: Duration = Duration::from_secs(5);

/// When a message of another version was answered last, on one connection.
#[derive(Debug, Default)]
pub(crate) struct VersionNotice(Option<(u8, Instant)>);

impl VersionNotice {
    /// Whether such a message is answered; if all were, two nodes would answer each other for ever.
    pub(crate) fn is_due(&mut self, version: u8, now: Instant) -> bool {
        let answered = |(last, at): (u8, Instant)| last == version && now.duration_since(at) < ANSWERED_AGAIN;
        let due = !self.0.is_some_and(answered);
        if due {
            self.0 = Some((version, now));
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_older_program_is_named() {
        let members =
            ["north", "south", "west"].map(|name| Member { name: name.to_owned(), key: [1; 32], signing_key: [2; 32] });
        let mut versions = OtherVersions::default();
        assert_eq!(versions.why_unreadable("north", &members), None);
        versions.heard("south", FRAME_VERSION - 1);
        let why = versions.why_unreadable("north", &members).unwrap();
        assert!(why.ends_with("the program of south is the older one and has to be upgraded first"), "{why}");
        versions.heard("south", FRAME_VERSION + 1);
        let why = versions.why_unreadable("north", &members).unwrap();
        assert!(why.ends_with("the program of north is the older one and has to be upgraded first"), "{why}");
        let (theirs, ours) = (format!("version {}", FRAME_VERSION + 1), format!("version {FRAME_VERSION}"));
        assert!(why.contains(&theirs) && why.contains(&ours), "{why}");
        assert_eq!(versions.why_unreadable("north", &members[2..]), None, "a run without it goes on");
        versions.read("south");
        assert_eq!(versions.why_unreadable("north", &members), None);
    }

    #[test]
    fn another_version_is_answered_now_and_then() {
        let (mut notice, now) = (VersionNotice::default(), Instant::now());
        let after = |ms: u64| now + Duration::from_millis(ms);
        assert!(notice.is_due(2, now));
        assert!(!notice.is_due(2, after(1)) && !notice.is_due(2, after(4900)));
        assert!(notice.is_due(2, after(5100)), "the first answer may be lost");
        assert!(!notice.is_due(2, after(9900)));
        assert!(notice.is_due(4, after(9950)));
    }
}
