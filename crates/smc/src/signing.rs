//! Signatures: ed25519 (RFC 8032). Whatever a custodian says between nodes is signed with the key
//! that the roster has for it, so that two statements that contradict each other convict it
//! before anyone who has the roster.

use std::fmt;

use ed25519_dalek::{Signer as _, VerifyingKey};

use crate::coins::Coins;

/// A signature, as it is sent.
pub type Signature = [u8; 64];

/// The private half of a custodian's signing key: never printed, and wiped when dropped.
pub struct SigningKey(ed25519_dalek::SigningKey);

impl SigningKey {
    pub fn from_bytes(bytes: &[u8; 32]) -> SigningKey {
        SigningKey(ed25519_dalek::SigningKey::from_bytes(bytes))
    }

    pub fn draw(coins: &mut Coins) -> SigningKey {
        SigningKey::from_bytes(coins.secret().bytes())
    }

    /// The private half, to be kept in a file that its owner alone reads.
    pub fn secret(&self) -> [u8; 32] {
        self.0.to_bytes()
    }

    /// The public half, which a roster has.
    pub fn public(&self) -> [u8; 32] {
        self.0.verifying_key().to_bytes()
    }

    pub fn sign(&self, message: &[u8]) -> Signature {
        self.0.sign(message).to_bytes()
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey(…)")
    }
}

/// Whether the owner of a key signed a message. Keys of small order, under which one signature fits
/// many messages, are refused.
pub fn verifies(public: &[u8; 32], message: &[u8], signature: &Signature) -> bool {
    let Ok(key) = VerifyingKey::from_bytes(public) else { return false };
    key.verify_strict(message, &ed25519_dalek::Signature::from_bytes(signature)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_fits_its_message_and_its_key_alone() {
        let [one, other] = [1, 2].map(|seed| SigningKey::draw(&mut Coins::danger_from_seed(seed)));
        let signature = one.sign(b"prepared");
        assert!(verifies(&one.public(), b"prepared", &signature));
        assert!(!verifies(&one.public(), b"aborted", &signature));
        assert!(!verifies(&other.public(), b"prepared", &signature));
        let mut changed = signature;
        changed[40] ^= 1;
        assert!(!verifies(&one.public(), b"prepared", &changed));
        assert_eq!(one.sign(b"prepared"), signature, "the same words have the same signature");
    }

    #[test]
    fn a_key_of_small_order_verifies_nothing() {
        let mut identity = [0; 32];
        identity[0] = 1;
        let mut signature = [0; 64];
        signature[0] = 1;
        assert!(!verifies(&identity, b"anything", &signature));
        assert!(!verifies(&[0; 32], b"anything", &[0; 64]));
    }

    /// The first test of RFC 8032, section 7.1.
    #[test]
    fn the_vector_of_the_standard() {
        let bytes = |hex: &str| -> Vec<u8> {
            (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
        };
        let secret = bytes("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
        let key = SigningKey::from_bytes(&secret.try_into().unwrap());
        assert_eq!(key.public()[..], bytes("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"));
        let signature = "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b\
                         d25bf5f0595bbe24655141438e7a100b";
        assert_eq!(key.sign(b"")[..], bytes(signature));
        assert!(!format!("{key:?}").contains("9d61"));
    }
}
