//! Addresses of Spark clusters. An address may hold a token, so it is shown without it wherever it
//! is shown.

use std::fmt;

use crate::database::Selection;

/// A cluster, and what is read there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    pub address: ClusterAddress,
    /// `None` where the files that `path` names are read.
    pub selection: Option<Selection>,
    /// Of `engine`.
    pub place: String,
}

/// `sc://host:15002`, with what Spark Connect allows after it: `/;use_ssl=true;token=…`.
#[derive(Clone, PartialEq, Eq)]
pub struct ClusterAddress(String);

const SCHEME: &str = "sc://";
const TOKEN: &str = "token=";

impl ClusterAddress {
    /// `None` when the text is not the address of a cluster.
    pub fn parse(text: &str) -> Option<ClusterAddress> {
        let host = text.strip_prefix(SCHEME)?.split(['/', ';', ':']).next()?;
        let is_plain = !text.contains(|c: char| c.is_whitespace() || c.is_control());
        (!host.is_empty() && is_plain).then(|| ClusterAddress(text.to_owned()))
    }

    /// As it was given, with a token if it has one: for those who connect, never to be shown.
    pub fn danger_text(&self) -> &str {
        &self.0
    }

    pub fn holds_token(&self) -> bool {
        hidden(&self.0) != self.0
    }
}

impl fmt::Display for ClusterAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The parameters say how to connect, and not where.
        f.write_str(self.0.split(';').next().unwrap_or_default().trim_end_matches('/'))
    }
}

impl fmt::Debug for ClusterAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ClusterAddress({self})")
    }
}

/// A text with each character of a token in an address of a cluster replaced, so that it stays as
/// long as it is.
pub fn hidden(text: &str) -> String {
    let Some(start) = text.find(SCHEME) else { return text.to_owned() };
    let (before, mut rest) = text.split_at(start);
    let mut shown = before.to_owned();
    while let Some(place) = rest.find(TOKEN) {
        let (kept, token) = rest.split_at(place + TOKEN.len());
        let length = token.find([';', '"', '\'', ' ']).unwrap_or(token.len());
        shown.push_str(kept);
        shown.push_str(&"*".repeat(token[..length].chars().count()));
        rest = &token[length..];
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_never_shown() {
        let given = "sc://host:15002/;use_ssl=true;token=s3cret;user_id=ann";
        let address = ClusterAddress::parse(given).unwrap();
        assert!(address.holds_token());
        assert_eq!(address.to_string(), "sc://host:15002");
        for shown in [address.to_string(), format!("{address:?}"), hidden(&format!("engine = \"{given}\""))] {
            assert!(!shown.contains("s3cret"), "{shown}");
        }
        assert_eq!(address.danger_text(), given);
        assert!(!ClusterAddress::parse("sc://host").unwrap().holds_token());
    }

    #[test]
    fn only_addresses_of_clusters_are_addresses() {
        for text in ["", "sc://", "sc:///;token=x", "spark://host:7077", "host:15002", "sc://ho st"] {
            assert_eq!(ClusterAddress::parse(text), None, "{text}");
        }
        assert!(ClusterAddress::parse("sc://127.0.0.1:15002").is_some());
    }
}
