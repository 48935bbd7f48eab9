//! Randomness, handed in from outside: a protocol draws everything it needs from one seed, so that
//! a run can be replayed in a test and is unpredictable everywhere else.

use std::fmt;

use chacha20::ChaCha20Rng;
use rand::{CryptoRng, Rng as _, SeedableRng as _};
use zeroize::Zeroize as _;

use crate::secret::Secret;

/// One party's random numbers in one run (ChaCha20 from a seed of 32 bytes; wiped when dropped).
pub struct Coins(ChaCha20Rng);

impl Coins {
    /// From a source of real randomness: what a custodian uses.
    pub fn from_source(source: &mut impl CryptoRng) -> Self {
        let mut seed = [0; 32];
        source.fill_bytes(&mut seed);
        let coins = Coins(ChaCha20Rng::from_seed(seed));
        seed.zeroize();
        coins
    }

    /// From a seed that is known: tests and simulations only, behind a feature. Who knows the
    /// seed opens every mask.
    #[cfg(any(test, feature = "danger-seeded"))]
    pub fn danger_from_seed(seed: u64) -> Self {
        Coins(ChaCha20Rng::seed_from_u64(seed))
    }

    pub(crate) fn from_public(bytes: [u8; 32]) -> Self {
        Coins(ChaCha20Rng::from_seed(bytes))
    }

    pub(crate) fn secret(&mut self) -> Secret {
        let mut bytes = [0; 32];
        self.0.fill_bytes(&mut bytes);
        let secret = Secret::new(bytes);
        bytes.zeroize();
        secret
    }

    /// A random word other than 0 for yes, 0 for no.
    pub(crate) fn flag(&mut self, yes: bool) -> u64 {
        // Drawn either way, so that the time does not depend on the answer.
        self.word().max(1) * u64::from(yes)
    }

    /// A number to draw lots by, and for whatever else must not be predicted.
    pub fn lot(&mut self) -> u64 {
        self.word()
    }

    /// Coins of their own for another purpose: nothing that is drawn from the one tells of the
    /// other.
    pub fn split(&mut self) -> Coins {
        Coins(ChaCha20Rng::from_seed(*self.secret().bytes()))
    }

    /// Bytes that cannot be predicted: a session's name, a salt.
    pub fn fill(&mut self, into: &mut [u8]) {
        self.0.fill_bytes(into);
    }

    pub(crate) fn word(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `end`, every one equally likely. `end` must not be 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        // The words above the last whole multiple of `end` would favor small numbers.
        let unfair = (u64::MAX % end).wrapping_add(1) % end;
        loop {
            let word = self.word();
            if word <= u64::MAX - unfair {
                return word % end;
            }
        }
    }

    /// True with a probability from 0 to 1.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        // 53 bits: every f64 in [0, 1) on that grid is equally likely.
        ((self.word() >> 11) as f64) < probability * (1u64 << 53) as f64
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let chosen = self.below(last as u64 + 1) as usize;
            items.swap(last, chosen);
        }
    }
}

impl fmt::Debug for Coins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Coins(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_below_an_end_are_even() {
        let mut coins = Coins::danger_from_seed(1);
        let mut counts = [0u32; 6];
        for _ in 0..6000 {
            counts[coins.below(6) as usize] += 1;
        }
        assert!(counts.iter().all(|count| (850..1150).contains(count)), "{counts:?}");
        assert_eq!(coins.below(1), 0);
        assert!(coins.below(u64::MAX) < u64::MAX);
    }

    #[test]
    fn chances_of_nothing_and_of_certainty() {
        let mut coins = Coins::danger_from_seed(2);
        assert!((0..100).all(|_| !coins.chance(0.0)));
        assert!((0..100).all(|_| coins.chance(1.0)));
    }
}
