//! The other parties of a federation, as `node.toml` names them: custodians, analysts and auditors,
//! each with the key that is pinned to its name.

use hedgerow_config::{Field, Fields, Reader, Word};
use hedgerow_smc::Member;

use crate::fields::read_name;
use crate::hex;

pub(crate) const PEER: &[Word] = &[
    Word::key("name", "name = \"south\"", "as in its certificate").required(),
    Word::key("key", "key = \"9f86…\"", "the SHA-256 fingerprint of its public key: `keys` prints it").required(),
    Word::key("signing-key", "signing-key = \"3b6a…\"", "the public key of its signatures; of custodians only"),
    Word::key("address", "address = \"south.example:7401\"", "where it listens; of custodians only"),
    Word::key("role", "role = \"custodian\"", "custodian, analyst or auditor; custodian by default"),
];

const ROLES: &[Word] = &[
    Word::value("custodian", "holds rows and takes part in runs"),
    Word::value("analyst", "queries the release at the endpoint, with its certificate"),
    Word::value("auditor", "queries the journal there too"),
];

/// The permissions of a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Takes part in runs.
    Custodian,
    /// Queries the release at the endpoint.
    Analyst,
    /// Queries the journal there.
    Auditor,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer {
    pub member: Member,
    /// Where it listens: of custodians only.
    pub address: Option<String>,
    pub role: Role,
}

pub(crate) fn read_peers(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<Vec<Peer>> {
    let list = reader.list(fields.get("peer")?)?;
    let peers: Vec<Option<Peer>> = list.into_iter().map(|field| read_peer(reader, field)).collect();
    peers.into_iter().collect()
}

fn read_peer(reader: &mut Reader<'_>, field: Field<'_>) -> Option<Peer> {
    let fields = reader.table(field.node, PEER, "[[peer]]")?;
    let name = fields.get("name").and_then(|field| read_name(reader, field));
    let key = fields.get("key").and_then(|field| {
        let key = reader.text(field).and_then(hex::decode);
        if key.is_none() {
            reader.refuse(&field.node.at, "not a fingerprint: 64 digits from 0 to f", field.hint());
        }
        key
    });
    let role = match fields.get("role") {
        Some(field) => match reader.choice(field, ROLES.iter(), "role")? {
            "analyst" => Role::Analyst,
            "auditor" => Role::Auditor,
            _ => Role::Custodian,
        },
        None => Role::Custodian,
    };
    let address = fields.get("address").and_then(|field| reader.text(field)).map(str::to_owned);
    if role == Role::Custodian && address.as_deref().is_none_or(|address| !address.contains(':')) {
        let hint = "a custodian's peers connect to each other; for example `address = \"south.example:7401\"`";
        reader.refuse(&field.node.at, "a custodian without an address and port", hint);
        return None;
    }
    let signing_key = match fields.get("signing-key") {
        Some(field) => {
            let key = reader.text(field).and_then(hex::decode);
            if key.is_none() {
                reader.refuse(&field.node.at, "not a public key: 64 digits from 0 to f", field.hint());
            }
            key?
        }
        None if role == Role::Custodian => {
            let hint =
                "its operator finds it in the journal, or `keys` prints it; for example `signing-key = \"3b6a…\"`";
            reader.refuse(&field.node.at, "a custodian without the key of its signatures", hint);
            return None;
        }
        None => [0; 32],
    };
    Some(Peer { member: Member { name: name?, key: key?, signing_key }, address, role })
}
