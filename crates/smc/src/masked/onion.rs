//! Layers of encryption around a row, one for each custodian in turn.
//!
//! A layer is a fresh X25519 key, and the rest under ChaCha20-Poly1305 with the key that
//! HKDF-SHA-256 makes of the secret shared with the layer's owner. The key is used once, so the
//! nonce is constant. The key depends on the roster and on all public keys (`agreed`), so
//! that custodians who were sent different keys cannot open each other's layers. All onions of a
//! run have one length: rows are padded before they are wrapped.

use chacha20poly1305::aead::{Aead as _, Payload};
use chacha20poly1305::{ChaCha20Poly1305, KeyInit as _};
use hkdf::Hkdf;
use sha2::Sha256;

use super::keys::KeyPair;
use crate::coins::Coins;
use crate::fault::Fault;
use crate::inbox::RunPlace;
use crate::message::{Digest, Item};
use crate::secret::Secret;
use crate::wire::{Reader, Writer};

/// The bytes that a layer adds: the public key and the tag.
pub(crate) const LAYER_BYTES: usize = 32 + 16;

/// A row inside all its layers, padded to one length: `None` is padding as a whole.
pub(crate) fn pad(row: Option<&[u8]>, length: usize) -> Item {
    let mut writer = Writer::default();
    writer.u8(u8::from(row.is_some()));
    writer.u16(row.map_or(0, |row| row.len() as u16));
    writer.bytes(row.unwrap_or_default());
    let mut bytes = writer.finish();
    bytes.resize(3 + length, 0);
    bytes
}

/// Takes the padding off; anything but what [`pad`] makes is refused.
pub(crate) fn unpad(bytes: &[u8]) -> Option<Option<Item>> {
    let mut reader = Reader::new(bytes);
    let real = reader.u8().ok()?;
    let length = usize::from(reader.u16().ok()?);
    let row = reader.take(length).ok()?.to_vec();
    let rest = reader.take(bytes.len() - 3 - length).ok()?;
    let clean = rest.iter().all(|byte| *byte == 0);
    match (real, clean) {
        (1, true) => Some(Some(row)),
        (0, true) if row.is_empty() => Some(None),
        _ => None,
    }
}

/// Wraps a row in one layer for each of `publics`; the first of them strips first. Gives the onion,
/// and what is left of it after each custodian but the last has stripped its layer.
pub(crate) fn wrap(
    row: Item,
    publics: &[[u8; 32]],
    place: &RunPlace,
    agreed: &Digest,
    coins: &mut Coins,
) -> Result<(Item, Vec<Item>), Fault> {
    let (mut onion, mut left) = (row, Vec::with_capacity(publics.len()));
    for (owner, public) in publics.iter().enumerate().rev() {
        let once = KeyPair::draw(coins);
        let shared = once.agree(owner as u16, public)?;
        let (key, bound) = layer_key(&shared, &once.public(), public, owner as u16, place, agreed)?;
        let cipher = ChaCha20Poly1305::new(key.bytes().into());
        let sealed = cipher.encrypt(&[0; 12].into(), Payload { msg: &onion, aad: &bound });
        let sealed = sealed.map_err(|_| Fault::Internal("a row is too long to encrypt"))?;
        onion = [&once.public()[..], &sealed].concat();
        if owner > 0 {
            left.push(onion.clone());
        }
    }
    left.reverse();
    Ok((onion, left))
}

/// Strips the layer of `owner`; `None` when it is not theirs or was changed.
pub(crate) fn strip(onion: &[u8], own: &KeyPair, owner: u16, place: &RunPlace, agreed: &Digest) -> Option<Item> {
    let (once, sealed) = onion.split_first_chunk::<32>()?;
    let shared = own.agree(owner, once).ok()?;
    let (key, bound) = layer_key(&shared, once, &own.public(), owner, place, agreed).ok()?;
    let cipher = ChaCha20Poly1305::new(key.bytes().into());
    cipher.decrypt(&[0; 12].into(), Payload { msg: sealed, aad: &bound }).ok()
}

fn layer_key(
    shared: &Secret,
    once: &[u8; 32],
    public: &[u8; 32],
    owner: u16,
    place: &RunPlace,
    agreed: &Digest,
) -> Result<(Secret, Vec<u8>), Fault> {
    let parts: [&[u8]; 7] =
        [b"hedgerow layer 1", &place.session, &place.question, agreed, once, public, &owner.to_le_bytes()];
    let bound = parts.concat();
    let mut key = [0; 32];
    Hkdf::<Sha256>::new(Some(&place.session), shared.bytes())
        .expand(&bound, &mut key)
        .map_err(|_| Fault::Internal("HKDF refuses 32 bytes"))?;
    Ok((Secret::new(key), bound))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_come_off_in_order_and_by_their_owners_only() {
        let mut coins = Coins::danger_from_seed(1);
        let keys: Vec<KeyPair> = (0..3).map(|_| KeyPair::draw(&mut coins)).collect();
        let publics: Vec<[u8; 32]> = keys.iter().map(KeyPair::public).collect();
        let limits = crate::RunLimits::default();
        let place = RunPlace { session: [1; 16], question: [2; 32], me: 0, count: 3, limits };
        let row = pad(Some(b"ward 4"), 10);
        let (onion, stages) = wrap(row.clone(), &publics, &place, &[3; 32], &mut coins).unwrap();
        assert_eq!(onion.len(), row.len() + 3 * LAYER_BYTES);
        assert_eq!(strip(&onion, &keys[1], 1, &place, &[3; 32]), None, "not the second one's turn");
        assert_eq!(strip(&onion, &keys[0], 0, &place, &[4; 32]), None, "another roster");
        let mut changed = onion.clone();
        changed[40] ^= 1;
        assert_eq!(strip(&changed, &keys[0], 0, &place, &[3; 32]), None, "changed on the way");
        let mut left = onion;
        for (owner, own) in keys.iter().enumerate() {
            left = strip(&left, own, owner as u16, &place, &[3; 32]).unwrap();
            assert!(stages.get(owner).is_none_or(|stage| *stage == left), "its owner knows it on its way");
        }
        assert_eq!(stages.len(), 2);
        assert_eq!(left, row);
        assert_eq!(unpad(&left), Some(Some(b"ward 4".to_vec())));
    }

    #[test]
    fn padding_is_distinguished_from_rows_and_from_rubbish() {
        assert_eq!(unpad(&pad(None, 4)), Some(None));
        assert_eq!(unpad(&pad(Some(b""), 4)), Some(Some(vec![])));
        for bad in [&[][..], &[1, 9, 0, 1], &[2, 0, 0, 0], &[1, 1, 0, 7, 7], &[0, 1, 0, 7]] {
            assert_eq!(unpad(bad), None, "{bad:?}");
        }
    }
}
