//! The settings of analysts in `node.toml`: where they connect, who they are, and their limits.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hedgerow_config::{Field, Fields, Reader, Word};

use crate::fields::{read_address, read_name, whole};
use crate::peer::Peer;
use crate::scram::Verifier;

pub(crate) const ENDPOINT: &[Word] = &[
    Word::key("listen", "listen = \"127.0.0.1:5433\"", "the address where analysts connect").required(),
    Word::key("certificate", "certificate = \"data.pem\"", "another certificate than the node's"),
    Word::key("key", "key = \"data.key\"", "its private key; readable by its owner only"),
    Word::key("connections", "connections = 32", "connections of analysts at the same time"),
    Word::key("connections-each", "connections-each = 16", "connections of one analyst"),
    Word::key("statements-per-minute", "statements-per-minute = 600", "statements of one analyst"),
    Word::key("statements-per-day", "statements-per-day = 100000", "statements of one analyst"),
    Word::key("statement-s", "statement-s = 30", "for one statement to be answered"),
    Word::key("idle-s", "idle-s = 3600", "for a connection without a statement"),
    Word::key("rows", "rows = 1000000", "rows of one answer"),
    Word::key("answer-bytes", "answer-bytes = 67108864", "memory of one answer"),
    Word::key("connection-bytes", "connection-bytes = 134217728", "memory of all answers of one connection"),
    Word::key("bytes", "bytes = 536870912", "memory of the answers of all connections"),
    Word::key("message-bytes", "message-bytes = 1048576", "bytes of one message"),
];

pub(crate) const ANALYST: &[Word] = &[
    Word::key("name", "name = \"ada\"", "the user's name").required(),
    Word::key(
        "verifier",
        "verifier = \"SCRAM-SHA-256$4096:…\"",
        "what `password` prints, from which the password cannot be read",
    )
    .required(),
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Analyst {
    pub name: String,
    pub verifier: Verifier,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    pub listen: SocketAddr,
    /// The certificate and its key, where they are not the node's.
    pub identity: Option<(PathBuf, PathBuf)>,
    pub connections_max: usize,
    /// Of one analyst: connections, and statements in a minute and in a day.
    pub connections_each: usize,
    pub statements_in_a_minute: u64,
    pub statements_in_a_day: u64,
    pub statement: Duration,
    pub idle: Duration,
    pub rows_max: usize,
    /// Memory of one answer, of all answers of a connection, and of all connections.
    pub answer_bytes_max: usize,
    pub connection_bytes_max: usize,
    pub bytes_max: usize,
    pub message_bytes_max: usize,
    pub analysts: Vec<Analyst>,
    /// Analysts and auditors who show a certificate in place of a password.
    pub certified: Vec<Peer>,
}

impl Options {
    pub(crate) fn read(
        reader: &mut Reader<'_>,
        field: Field<'_>,
        analysts: Option<Field<'_>>,
        certified: Vec<Peer>,
        folder: &Path,
    ) -> Option<Options> {
        let fields = reader.table(field.node, ENDPOINT, "{ listen = \"127.0.0.1:5433\" }")?;
        let listen = read_address(reader, fields.get("listen")?)?;
        let mut path = |key: &str| {
            let field = fields.get(key)?;
            reader.text(field).filter(|text| !text.is_empty()).map(|text| folder.join(text))
        };
        let identity = match (path("certificate"), path("key")) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => {
                let hint = "give both, or none: then the node's own are used";
                reader.refuse(&field.node.at, "a certificate without its key, or a key alone", hint);
                return None;
            }
        };
        let seconds = |reader: &mut Reader<'_>, fields: &Fields<'_>, key: &str, default: u64| {
            whole(reader, fields, key, 1, 86_400, default).map(Duration::from_secs)
        };
        let options = Options {
            listen,
            identity,
            connections_max: whole(reader, &fields, "connections", 1, 1000, 32)? as usize,
            connections_each: whole(reader, &fields, "connections-each", 1, 1000, 16)? as usize,
            statements_in_a_minute: whole(reader, &fields, "statements-per-minute", 1, 1 << 40, 30_000)?,
            statements_in_a_day: whole(reader, &fields, "statements-per-day", 1, 1 << 40, 1_000_000)?,
            statement: seconds(reader, &fields, "statement-s", 30)?,
            idle: seconds(reader, &fields, "idle-s", 3600)?,
            rows_max: whole(reader, &fields, "rows", 1, 100_000_000, 1_000_000)? as usize,
            answer_bytes_max: whole(reader, &fields, "answer-bytes", 1 << 16, 1 << 36, 64 << 20)? as usize,
            connection_bytes_max: whole(reader, &fields, "connection-bytes", 1 << 16, 1 << 38, 128 << 20)? as usize,
            bytes_max: whole(reader, &fields, "bytes", 1 << 16, 1 << 40, 512 << 20)? as usize,
            message_bytes_max: whole(reader, &fields, "message-bytes", 1 << 13, 1 << 26, 1 << 20)? as usize,
            analysts: Vec::new(),
            certified,
        };
        let list = analysts.map_or(Some(Vec::new()), |list| reader.list(list))?;
        if list.is_empty() && options.certified.is_empty() {
            let hint =
                "`[[analyst]]` with a name and a verifier, which `password` prints, or a `[[peer]]` with the role";
            reader.refuse(&field.node.at, "an endpoint without analysts", hint);
            return None;
        }
        let analysts: Vec<Option<Analyst>> = list.into_iter().map(|field| read_analyst(reader, field)).collect();
        let analysts: Vec<Analyst> = analysts.into_iter().collect::<Option<_>>()?;
        let certified = options.certified.iter().map(|peer| peer.member.name.as_str());
        let mut names: Vec<&str> = analysts.iter().map(|analyst| analyst.name.as_str()).chain(certified).collect();
        names.sort_unstable();
        if names.windows(2).any(|pair| pair[0] == pair[1]) {
            reader.refuse(&field.node.at, "two analysts have the same name", "every analyst has its own");
            return None;
        }
        Some(Options { analysts, ..options })
    }
}

fn read_analyst(reader: &mut Reader<'_>, field: Field<'_>) -> Option<Analyst> {
    let fields = reader.table(field.node, ANALYST, "[[analyst]]")?;
    let name = fields.get("name").and_then(|field| read_name(reader, field));
    let verifier = fields.get("verifier").and_then(|field| {
        let verifier = reader.text(field).and_then(Verifier::parse);
        if verifier.is_none() {
            let hint = "`hedgerow-node password` prints one; passwords are not written here";
            reader.refuse(&field.node.at, "not a verifier of SCRAM-SHA-256", hint);
        }
        verifier
    });
    Some(Analyst { name: name?, verifier: verifier? })
}
