//! Values that several tables of `node.toml` have: whole numbers, names and addresses.

use std::net::SocketAddr;

use hedgerow_config::{Field, Fields, Reader};

pub(crate) fn whole(
    reader: &mut Reader<'_>,
    fields: &Fields<'_>,
    key: &str,
    low: u64,
    high: u64,
    default: u64,
) -> Option<u64> {
    fields.get(key).map_or(Some(default), |field| reader.whole(field, low, high))
}

/// Names stand in certificates, so they are labels of the domain name system.
pub(crate) fn read_name(reader: &mut Reader<'_>, field: Field<'_>) -> Option<String> {
    let text = reader.text(field)?;
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let ends = text.starts_with('-') || text.ends_with('-');
    if (1..=63).contains(&text.len()) && text.bytes().all(fits) && !ends {
        return Some(text.to_owned());
    }
    let problem = "not a name: 1 to 63 of a to z, 0 to 9, and - inside";
    reader.refuse(&field.node.at, problem, field.hint());
    None
}

pub(crate) fn read_address(reader: &mut Reader<'_>, field: Field<'_>) -> Option<SocketAddr> {
    let text = reader.text(field)?;
    let address = text.parse().ok();
    if address.is_none() {
        reader.refuse(&field.node.at, "not an address with a port", field.hint());
    }
    address
}
