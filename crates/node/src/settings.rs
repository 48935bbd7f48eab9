//! `node.toml`: who this custodian is, what it holds, who its peers are, and the limits of its
//! node.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hedgerow_config::{ConfigErrors, Field, FileKind, Reader, TomlNode, Word, WrongTable};
use hedgerow_joint::{Agreed, Profile};
use hedgerow_smc::{MESSAGE_BYTES_MAX, RunLimits};

use crate::endpoint_settings::{ANALYST, ENDPOINT, Options};
use crate::fields::{read_address, read_name, whole};
use crate::peer::{PEER, read_peers};

pub use crate::peer::{Peer, Role};

const FILE: FileKind = FileKind {
    noun: "node's settings",
    absent: "`keys` makes a trial with settings for every custodian",
    too_large: "name the right file",
};

const ROOT: &[Word] = &[
    Word::key("name", "name = \"north\"", "what the others call this custodian").required(),
    Word::key("listen", "listen = \"127.0.0.1:7401\"", "the address where peers connect").required(),
    Word::key("data", "data = \"north\"", "the folder of journal, book and epochs").required(),
    Word::key("policy", "policy = \"policy.toml\"", "what is agreed on, with this custodian's own source").required(),
    Word::key("certificate", "certificate = \"north.pem\"", "this custodian's certificate").required(),
    Word::key("key", "key = \"north.key\"", "its private key; readable by its owner only").required(),
    Word::key(
        "signing-key",
        "signing-key = \"signing.key\"",
        "the file of the key that it signs with; signing.key by default",
    ),
    Word::key("authority", "authority = \"authority.pem\"", "the authority that signs all certificates").required(),
    Word::key("revoked", "revoked = \"revoked.pem\"", "a list of revoked certificates"),
    Word::key("metrics", "metrics = \"127.0.0.1:9401\"", "where health and metrics are read, on this machine"),
    Word::key(
        "endpoint",
        "endpoint = { listen = \"127.0.0.1:5433\" }",
        "where analysts query, with tools for PostgreSQL",
    ),
    Word::key("analyst", "[[analyst]]", "who may query there"),
    Word::key("peer", "[[peer]]", "the other custodians, and who queries with a certificate").required(),
    Word::key("rows", "rows = \"apart\"", "whether custodians end up with all released rows, or with their own"),
    Word::key("profile", "profile = \"baseline\"", "for comparison: the ring protocols, on one machine only"),
    Word::key("promises", "promises = { sites = 2 }", "what is promised beyond the policy's rules"),
    Word::key("limits", "limits = { rows = 1000000 }", "limits of a run, and of connections"),
    Word::key("deadlines", "deadlines = { silence-s = 60 }", "how long a run waits for others"),
];

const ROWS: &[Word] = &[
    Word::value("united", "every custodian has the whole release, and answers from it"),
    Word::value("apart", "each keeps its own rows, and every question is answered by all"),
];

const PROFILES: &[Word] = &[
    Word::value("masked", "sums under pairwise masks"),
    Word::value("baseline", "for comparison: the ring, in which two neighbors learn the part of who is between them"),
];

const PROMISES: &[Word] = &[
    Word::key("sites", "sites = 2", "l-site-diversity: the number of custodians with rows in every class"),
    Word::key("towards", "towards = 1", "m-privacy: rules hold without the rows of any this many custodians"),
];

const LIMITS: &[Word] = &[
    Word::key("rows", "rows = 1000000", "rows of all custodians together"),
    Word::key("rounds", "rounds = 5000", "rounds of messages in one step of a run"),
    Word::key("parts", "parts = 1000000", "parts that a run divides the rows into"),
    Word::key("message-bytes", "message-bytes = 33554432", "bytes of one message"),
    Word::key("connections", "connections = 64", "connections that have not proven their identity"),
];

const DEADLINES: &[Word] = &[
    Word::key("handshake-s", "handshake-s = 10", "for a connection to prove who it is"),
    Word::key("silence-s", "silence-s = 60", "for a run without progress"),
    Word::key("approval-s", "approval-s = 604800", "for all custodians to approve a proposal"),
    Word::key("answer-s", "answer-s = 10", "for an answer of all custodians without progress"),
];

/// How long a run waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    pub handshake: Duration,
    pub silence: Duration,
    pub approval: Duration,
    pub answer: Duration,
}

impl Default for Deadlines {
    fn default() -> Deadlines {
        let seconds = Duration::from_secs;
        let (handshake, silence, answer) = (seconds(10), seconds(60), seconds(10));
        Deadlines { handshake, silence, approval: seconds(7 * 24 * 3600), answer }
    }
}

/// The settings in `node.toml`.
#[derive(Debug, Clone)]
pub struct Settings {
    pub name: String,
    pub listen: SocketAddr,
    pub data: PathBuf,
    pub policy: PathBuf,
    pub certificate: PathBuf,
    pub key: PathBuf,
    /// The signing key of this custodian.
    pub signing_key: PathBuf,
    pub authority: PathBuf,
    pub revoked: Option<PathBuf>,
    pub metrics: Option<SocketAddr>,
    pub endpoint: Option<Options>,
    pub peers: Vec<Peer>,
    /// Whether rows stay with their custodians.
    pub apart: bool,
    pub profile: Profile,
    pub sites: u64,
    pub towards: u64,
    pub limits: RunLimits,
    pub message_bytes_max: usize,
    pub connections_max: usize,
    pub deadlines: Deadlines,
}

impl Settings {
    pub fn load(path: &Path) -> Result<Settings, ConfigErrors> {
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        hedgerow_config::load(path, FILE, |reader, root| read(reader, root, &folder))
    }

    /// The promises and limits of this custodian, a part of the terms.
    pub fn bound(&self, agreed: Agreed) -> Agreed {
        let Settings { apart, sites, towards, limits, .. } = *self;
        Agreed { apart, sites, towards, limits, ..agreed }
    }
}

/// All tables, for keys that stand in the wrong one.
const PLACES: &[WrongTable] = &[
    WrongTable { name: "", words: ROOT },
    WrongTable { name: "[[peer]]", words: PEER },
    WrongTable { name: "[[analyst]]", words: ANALYST },
    WrongTable { name: "endpoint", words: ENDPOINT },
    WrongTable { name: "promises", words: PROMISES },
    WrongTable { name: "limits", words: LIMITS },
    WrongTable { name: "deadlines", words: DEADLINES },
];

fn read(reader: &mut Reader<'_>, root: &TomlNode, folder: &Path) -> Option<Settings> {
    reader.set_places(PLACES);
    let fields = reader.table(root, ROOT, "name = \"north\"")?;
    let name = fields.get("name").and_then(|field| read_name(reader, field));
    let listen = fields.get("listen").and_then(|field| read_address(reader, field));
    let mut path = |key: &str| {
        let field = fields.get(key)?;
        reader.text(field).filter(|text| !text.is_empty()).map(|text| folder.join(text))
    };
    let (data, policy, certificate) = (path("data"), path("policy"), path("certificate"));
    let (key, authority, revoked) = (path("key"), path("authority"), path("revoked"));
    let signing_key = path("signing-key").unwrap_or_else(|| folder.join("signing.key"));
    let metrics = fields.get("metrics").and_then(|field| read_address(reader, field));
    if let (Some(field), Some(false)) = (fields.get("metrics"), metrics.map(|address| address.ip().is_loopback())) {
        reader.refuse(&field.node.at, "metrics are read on this machine only", field.hint());
        return None;
    }
    let peers = read_peers(reader, &fields);
    let certified = peers.iter().flatten().filter(|peer| peer.role != Role::Custodian).cloned().collect();
    let endpoint = match fields.get("endpoint") {
        Some(field) => Some(Options::read(reader, field, fields.get("analyst"), certified, folder)?),
        None => None,
    };
    let apart = match fields.get("rows") {
        Some(field) => reader.choice(field, ROWS.iter(), "rows")? == "apart",
        None => false,
    };
    let profile = match fields.get("profile") {
        Some(field) if reader.choice(field, PROFILES.iter(), "profile")? == "baseline" => {
            refuse_outside_of_trials(reader, field, apart, listen?, peers.as_deref()?)?;
            Profile::Baseline
        }
        _ => Profile::Masked,
    };
    let (sites, towards) = match fields.get("promises") {
        Some(field) => {
            let promises = reader.table(field.node, PROMISES, "{ sites = 2 }")?;
            (whole(reader, &promises, "sites", 1, 1000, 1)?, whole(reader, &promises, "towards", 0, 1000, 0)?)
        }
        None => (1, 0),
    };
    let mut limits = RunLimits { rows_max: 1 << 27, ..RunLimits::default() };
    let (mut message_bytes_max, mut connections_max) = (1 << 26, 256);
    if let Some(field) = fields.get("limits") {
        let given = reader.table(field.node, LIMITS, "{ rows = 1000000 }")?;
        limits.rows_max = whole(reader, &given, "rows", 1, 1 << 32, limits.rows_max)?;
        limits.rounds_max = whole(reader, &given, "rounds", 1, 1 << 20, limits.rounds_max.into())? as u32;
        limits.parts_max = whole(reader, &given, "parts", 1, 1 << 32, limits.parts_max)?;
        let most = MESSAGE_BYTES_MAX as u64;
        message_bytes_max = whole(reader, &given, "message-bytes", 1 << 16, most, message_bytes_max)?;
        connections_max = whole(reader, &given, "connections", 4, 1 << 16, connections_max)?;
    }
    // A vector that the wire refuses is refused before it is sent.
    limits.words_max = limits.words_max.min((message_bytes_max - (1 << 13)) / 8);
    let mut deadlines = Deadlines::default();
    if let Some(field) = fields.get("deadlines") {
        let given = reader.table(field.node, DEADLINES, "{ silence-s = 60 }")?;
        let mut seconds = |key: &str, default: Duration| {
            whole(reader, &given, key, 1, 31_536_000, default.as_secs()).map(Duration::from_secs)
        };
        deadlines.handshake = seconds("handshake-s", deadlines.handshake)?;
        deadlines.silence = seconds("silence-s", deadlines.silence)?;
        deadlines.approval = seconds("approval-s", deadlines.approval)?;
        deadlines.answer = seconds("answer-s", deadlines.answer)?;
    }
    let settings = Settings {
        name: name?,
        listen: listen?,
        data: data?,
        policy: policy?,
        certificate: certificate?,
        key: key?,
        signing_key,
        authority: authority?,
        revoked,
        metrics,
        endpoint,
        peers: peers?,
        apart,
        profile,
        sites,
        towards,
        limits,
        message_bytes_max: message_bytes_max as usize,
        connections_max: connections_max as usize,
        deadlines,
    };
    let custodians = settings.peers.iter().filter(|peer| peer.role == Role::Custodian).count();
    let field = fields.get("peer")?;
    if custodians < 2 {
        let problem = format!("{custodians} other custodians, but at least 2 are needed");
        reader.refuse(&field.node.at, problem, "with two in all, each would learn the other's rows from the total");
        return None;
    }
    let mut names: Vec<&str> = settings.peers.iter().map(|peer| peer.member.name.as_str()).collect();
    names.push(&settings.name);
    names.sort_unstable();
    let mut keys: Vec<&[u8; 32]> = settings.peers.iter().map(|peer| &peer.member.key).collect();
    keys.sort_unstable();
    if names.windows(2).any(|pair| pair[0] == pair[1]) || keys.windows(2).any(|pair| pair[0] == pair[1]) {
        reader.refuse(
            &field.node.at,
            "two peers have the same name or key",
            "every peer has a name and a key of its own, and this node is not its own peer",
        );
        return None;
    }
    Some(settings)
}

/// The ring is there to be compared with: no rows of different custodians meet on one machine.
fn refuse_outside_of_trials(
    reader: &mut Reader<'_>,
    field: Field<'_>,
    apart: bool,
    listen: SocketAddr,
    peers: &[Peer],
) -> Option<()> {
    let is_here = |address: &String| address.parse::<SocketAddr>().is_ok_and(|address| address.ip().is_loopback());
    let custodians = peers.iter().filter(|peer| peer.role == Role::Custodian);
    if !listen.ip().is_loopback() || !custodians.filter_map(|peer| peer.address.as_ref()).all(is_here) {
        let problem =
            "the ring is for a trial on one machine: two neighbors in it learn the part of who is between them";
        reader.refuse(&field.node.at, problem, "leave `profile` out: sums are then under pairwise masks");
        return None;
    }
    if apart {
        let problem = "questions about rows that are apart are not answered in the ring";
        reader.refuse(&field.node.at, problem, "leave out `profile` or `rows`");
        return None;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Settings, String> {
        let read = |reader: &mut Reader<'_>, root: &TomlNode| read(reader, root, Path::new("/etc/hedgerow"));
        hedgerow_config::parse(text, "node.toml".as_ref(), FILE, read).map_err(|errors| errors.to_string())
    }

    fn example() -> String {
        let peer = |name: &str, digit: char| {
            let key: String = std::iter::repeat_n(digit, 64).collect();
            let keys = format!("key = \"{key}\"\nsigning-key = \"{key}\"");
            format!("[[peer]]\nname = \"{name}\"\n{keys}\naddress = \"{name}.example:7401\"\n")
        };
        let own = "name = \"north\"\nlisten = \"127.0.0.1:7401\"\ndata = \"data\"\npolicy = \"policy.toml\"\n\
                   certificate = \"north.pem\"\nkey = \"north.key\"\nauthority = \"authority.pem\"\n\
                   deadlines = { silence-s = 5 }\nlimits = { message-bytes = 65536 }\n";
        format!("{own}{}{}", peer("south", 'a'), peer("east", 'b'))
    }

    #[test]
    fn what_is_given_is_taken_and_paths_are_beside_the_file() {
        let settings = parse(&example()).unwrap();
        assert_eq!(settings.data, Path::new("/etc/hedgerow/data"));
        assert_eq!(settings.deadlines.silence, Duration::from_secs(5));
        assert_eq!(settings.limits.words_max, (65_536 - 8192) / 8, "a vector fits a message");
        assert_eq!(settings.peers[1].member.key, [0xbb; 32]);
        assert!(!settings.apart && parse(&format!("rows = \"apart\"\n{}", example())).unwrap().apart);
    }

    #[test]
    fn what_is_wrong_is_refused_with_its_place() {
        let refused = |from: &str, to: &str, problem: &str| {
            let errors = parse(&example().replace(from, to)).unwrap_err();
            assert!(errors.contains(problem) && errors.contains("node.toml"), "{errors}");
        };
        refused("name = \"north\"", "name = \"North\"", "not a name");
        refused("name = \"north\"", "name = \"south\"", "same name or key");
        refused("data = \"data\"", "data = \"data\"\nmetrics = \"0.0.0.0:9401\"", "on this machine only");
        refused("silence-s = 5", "silence = 5", "silence-s");
        refused("silence-s = 5", "statement-s = 5", "belongs in `endpoint`");
        refused("data = \"data\"", "data = \"data\"\nsilence-s = 5", "belongs in `deadlines`");
        refused("address = \"east", "metrics = \"127.0.0.1:9401\"\naddress = \"east", "the top of the file");
        refused("data = \"data\"", "data = \"data\"\nconnections = 5", "in `endpoint` or in `limits`");
        refused("data = \"data\"", "data = \"data\"\nrows = \"alone\"", "apart");
        refused("message-bytes = 65536", "message-bytes = 5000000000", "limits.message-bytes");
        refused("127.0.0.1:7401\"\nd", "here\"\nd", "not an address");
        refused("\naddress = \"east.example:7401\"", "", "without an address");
        refused("aaaa", "xxxx", "not a fingerprint");
        let endpoint = "data = \"data\"\nendpoint = { listen = \"127.0.0.1:5433\" }";
        refused("data = \"data\"", endpoint, "without analysts");
        refused("data = \"data\"", "data = \"data\"\nprofile = \"baseline\"", "on one machine");
        let here = example().replace("south.example", "127.0.0.1").replace("east.example", "127.0.0.1");
        let ring = format!("profile = \"baseline\"\n{here}");
        assert_eq!(parse(&here).unwrap().profile, Profile::Masked);
        assert_eq!(parse(&ring).unwrap().profile, Profile::Baseline);
        assert!(parse(&format!("rows = \"apart\"\n{ring}")).unwrap_err().contains("not answered in the ring"));
        assert!(
            parse(&ring.replace("listen = \"127.0.0.1", "listen = \"192.0.2.1"))
                .unwrap_err()
                .contains("on one machine")
        );
        let (_, verifier) = crate::scram::Verifier::generate().unwrap();
        let analyst = format!("\n[[analyst]]\nname = \"ada\"\nverifier = \"{verifier}\"\n");
        let with = example().replace("data = \"data\"", endpoint) + &analyst;
        assert_eq!(parse(&with).unwrap().endpoint.unwrap().analysts[0].name, "ada");
        assert!(parse(&(with.clone() + &analyst)).unwrap_err().contains("same name"));
        assert!(parse(&with.replace("SCRAM-SHA-256", "secret")).unwrap_err().contains("not a verifier"));
        let one = example();
        let (one, _) = one.rsplit_once("[[peer]]").unwrap();
        assert!(parse(one).unwrap_err().contains("at least 2"), "two custodians");
    }
}
