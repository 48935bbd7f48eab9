//! The hash of what is long: messages, the ledger, and what a run concludes.
//!
//! BLAKE2b (RFC 7693) with 32 bytes: as hard to find collisions for as SHA-256, and several times
//! faster on processors without instructions for that. Short things, and keys, stay with SHA-256.

use blake2::Blake2b256;
use blake2::digest::Digest as _;

use crate::message::Digest;
use crate::wire::{Sink, Writer};

impl Sink for Blake2b256 {
    fn put(&mut self, bytes: &[u8]) {
        self.update(bytes);
    }
}

/// A hash that is written to like a message.
pub(crate) fn hasher() -> Writer<Blake2b256> {
    Writer::new(Blake2b256::new())
}

impl Writer<Blake2b256> {
    pub(crate) fn digest(self) -> Digest {
        self.finish().finalize().into()
    }
}

/// The hash of bytes that are at hand.
pub(crate) fn digest(bytes: &[u8]) -> Digest {
    Blake2b256::digest(bytes).into()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_hash_is_the_one_of_the_standard() {
        // `hashlib.blake2b(b"abc", digest_size=32)` of Python.
        let hex: String = super::digest(b"abc").iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
        let mut parts = super::hasher();
        parts.u8(b'a');
        parts.bytes(b"bc");
        assert_eq!(parts.digest(), super::digest(b"abc"));
    }
}
