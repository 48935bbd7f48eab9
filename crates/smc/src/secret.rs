//! Thirty-two bytes that their owner alone may see: wiped when dropped, compared in constant
//! time, never printed.

use std::fmt;

use subtle::ConstantTimeEq as _;
use zeroize::{Zeroize as _, ZeroizeOnDrop};

pub(crate) struct Secret([u8; 32]);

impl Secret {
    pub(crate) fn new(bytes: [u8; 32]) -> Self {
        Secret(bytes)
    }

    pub(crate) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl ZeroizeOnDrop for Secret {}

/// Numbers that are one custodian's own until they are masked.
pub(crate) struct Private(pub(crate) Vec<u64>);

impl fmt::Debug for Private {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Private({} words)", self.0.len())
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_never_printed() {
        let text = format!("{:?} {:?}", Secret::new([0xab; 32]), Private(vec![4711]));
        assert_eq!(text, "Secret(…) Private(1 words)");
    }

    #[test]
    fn secrets_compare_by_all_bytes() {
        let mut other = [7; 32];
        assert!(Secret::new([7; 32]) == Secret::new(other));
        other[31] = 8;
        assert!(Secret::new([7; 32]) != Secret::new(other));
    }
}
