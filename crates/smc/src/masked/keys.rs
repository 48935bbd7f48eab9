//! Pairwise keys and the masks made from them.
//!
//! Every pair (i, j) has the secret X25519(i, j), from keys made for this run alone. For each round
//! it is turned by HKDF-SHA-256 over session, question, roster, both public keys, the round and the
//! transcript of all rounds before it into a key for ChaCha20, whose stream is the pair's mask: i
//! adds it, j subtracts it. In the total over all custodians every mask meets its opposite, and
//! only the sum of the inputs is left.
//!
//! *Used once* is a type: [`Keyring::mask`] takes rounds in rising order only, and what it returns
//! is consumed by covering one vector.

use std::fmt;

use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit as _, StreamCipher as _};
use hkdf::Hkdf;
use sha2::Sha256;
use x25519_dalek::{PublicKey, StaticSecret};

use crate::coins::Coins;
use crate::fault::Fault;
use crate::inbox::RunPlace;
use crate::message::Digest;
use crate::secret::Secret;

/// How much of a vector is covered by all masks before the next part: it stays in the fastest
/// cache.
const CHUNK_WORDS: usize = 1024;

/// A key pair for one run.
pub(crate) struct KeyPair {
    secret: StaticSecret,
    public: [u8; 32],
}

impl KeyPair {
    pub(crate) fn draw(coins: &mut Coins) -> KeyPair {
        let secret = StaticSecret::from(*coins.secret().bytes());
        let public = PublicKey::from(&secret).to_bytes();
        KeyPair { secret, public }
    }

    pub(crate) fn public(&self) -> [u8; 32] {
        self.public
    }

    /// The secret shared with the owner of `theirs`, or a fault when the key is one of the few that
    /// make it known to all.
    pub(crate) fn agree(&self, sender: u16, theirs: &[u8; 32]) -> Result<Secret, Fault> {
        let shared = self.secret.diffie_hellman(&PublicKey::from(*theirs));
        if theirs == &self.public || !shared.was_contributory() {
            return Err(Fault::WeakKey { sender });
        }
        Ok(Secret::new(shared.to_bytes()))
    }
}

impl fmt::Debug for KeyPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyPair(…)")
    }
}

/// The secrets that one custodian shares with each of the others.
#[derive(Debug)]
pub(crate) struct Keyring {
    pairs: Vec<PairKey>,
    next_round: u32,
}

#[derive(Debug)]
struct PairKey {
    /// Added by the one who comes first in the roster, subtracted by the other.
    added: bool,
    shared: Secret,
    context: Vec<u8>,
}

impl Keyring {
    /// `publics` are the keys of all custodians in the roster's order, our own among them.
    pub(crate) fn agree(
        own: &KeyPair,
        publics: &[[u8; 32]],
        place: RunPlace,
        roster: &Digest,
    ) -> Result<Keyring, Fault> {
        let pair = |other: u16| {
            let theirs = &publics[usize::from(other)];
            let context = context(publics, place, other, roster);
            Ok(PairKey { added: place.me < other, shared: own.agree(other, theirs)?, context })
        };
        Ok(Keyring { pairs: place.others().map(pair).collect::<Result<_, Fault>>()?, next_round: 0 })
    }

    /// The mask of a round. Each round has one, and an earlier round's cannot be drawn again.
    pub(crate) fn mask(&mut self, round: u32, transcript: &Digest) -> Result<OneTimeMask, Fault> {
        if round < self.next_round {
            return Err(Fault::Internal("a mask would be used twice"));
        }
        self.next_round = round + 1;
        let seed = |pair: &PairKey| {
            let mut key = [0; 32];
            let hkdf = Hkdf::<Sha256>::new(Some(&pair.context[..]), secret_of(pair));
            hkdf.expand_multi_info(&[b"round", &round.to_le_bytes(), transcript], &mut key)
                .map_err(|_| Fault::Internal("HKDF refuses 32 bytes"))?;
            Ok((pair.added, Secret::new(key)))
        };
        Ok(OneTimeMask { seeds: self.pairs.iter().map(seed).collect::<Result<_, Fault>>()? })
    }

    /// The mask of a round that this custodian shares with one other, as the other applies it: what
    /// a member of a coalition can take away.
    #[cfg(any(test, feature = "danger-seeded"))]
    pub(crate) fn as_applied_by(
        &self,
        position: usize,
        round: u32,
        transcript: &Digest,
        words: usize,
    ) -> Result<Vec<u64>, Fault> {
        let pair = self.pairs.get(position).ok_or(Fault::Internal("no such pair"))?;
        let shared = Secret::new(*pair.shared.bytes());
        let copy = PairKey { added: !pair.added, shared, context: pair.context.clone() };
        let mut mask = vec![0; words];
        Keyring { pairs: vec![copy], next_round: 0 }.mask(round, transcript)?.cover(&mut mask);
        Ok(mask)
    }
}

impl Keyring {
    /// The masks between two others, for an attacker who guesses that their secret is `secret`:
    /// what an adversary may try.
    #[cfg(any(test, feature = "danger-seeded"))]
    pub(crate) fn guess(
        publics: &[[u8; 32]],
        place: RunPlace,
        other: u16,
        roster: &Digest,
        secret: [u8; 32],
    ) -> Keyring {
        let context = context(publics, place, other, roster);
        let pair = PairKey { added: place.me < other, shared: Secret::new(secret), context };
        Keyring { pairs: vec![pair], next_round: 0 }
    }
}

fn secret_of(pair: &PairKey) -> &[u8] {
    #[cfg(test)]
    if super::mutants::on(super::mutants::Mutant::SecretIgnored) {
        return &[0; 32];
    }
    pair.shared.bytes()
}

/// Everything public that the masks of a pair depend on, but for rounds.
fn context(publics: &[[u8; 32]], place: RunPlace, other: u16, roster: &Digest) -> Vec<u8> {
    let (first, second) = (place.me.min(other), place.me.max(other));
    let mut context = b"hedgerow mask 1".to_vec();
    context.extend_from_slice(&place.session);
    context.extend_from_slice(&place.question);
    context.extend_from_slice(roster);
    for end in [first, second] {
        context.extend_from_slice(&end.to_le_bytes());
        context.extend_from_slice(&publics[usize::from(end)]);
    }
    context
}

/// One custodian's masks of one round; covers one vector and is gone.
#[derive(Debug)]
pub(crate) struct OneTimeMask {
    seeds: Vec<(bool, Secret)>,
}

impl OneTimeMask {
    pub(crate) fn cover(self, words: &mut [u64]) {
        #[cfg(test)]
        if super::mutants::spoils(&self.seeds, words) {
            return;
        }
        // The nonce is constant because the key is never used again.
        let cipher = |seed: &Secret| ChaCha20::new(seed.bytes().into(), &[0; 12].into());
        let mut streams: Vec<(bool, ChaCha20)> =
            self.seeds.iter().map(|(added, seed)| (*added, cipher(seed))).collect();
        let mut buffer = [0u8; CHUNK_WORDS * 8];
        for chunk in words.chunks_mut(CHUNK_WORDS) {
            for (added, stream) in &mut streams {
                let bytes = &mut buffer[..chunk.len() * 8];
                stream.write_keystream(bytes);
                let mask = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
                if *added {
                    chunk.iter_mut().zip(mask).for_each(|(word, mask)| *word = word.wrapping_add(mask));
                } else {
                    chunk.iter_mut().zip(mask).for_each(|(word, mask)| *word = word.wrapping_sub(mask));
                }
            }
        }
        zeroize::Zeroize::zeroize(&mut buffer[..]);
    }
}

/// Packs counters whose sums stay below 2^`bits` and covers them with the masks of `custodians` − 1
/// others, `times` times: for measuring speed.
#[cfg(any(test, feature = "danger-seeded"))]
pub fn measure_masking(counters: &[u64], bits: u8, custodians: usize, times: u32) -> Result<(), Fault> {
    let mut coins = Coins::danger_from_seed(1);
    let keys: Vec<KeyPair> = (0..custodians).map(|_| KeyPair::draw(&mut coins)).collect();
    let publics: Vec<[u8; 32]> = keys.iter().map(KeyPair::public).collect();
    let limits = crate::RunLimits::default();
    let place = RunPlace { session: [0; 16], question: [0; 32], me: 0, count: custodians as u16, limits };
    let mut keyring = Keyring::agree(&keys[0], &publics, place, &[0; 32])?;
    for round in 0..times {
        let mut words = crate::packed::pack(counters, bits);
        keyring.mask(round, &[0; 32])?.cover(&mut words);
        std::hint::black_box(words);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keyrings(count: u16, session: u8) -> Vec<Keyring> {
        let mut coins = Coins::danger_from_seed(5);
        let keys: Vec<KeyPair> = (0..count).map(|_| KeyPair::draw(&mut coins)).collect();
        let publics: Vec<[u8; 32]> = keys.iter().map(KeyPair::public).collect();
        let limits = crate::RunLimits::default();
        let place = |me| RunPlace { session: [session; 16], question: [2; 32], me, count, limits };
        (0..count).map(|me| Keyring::agree(&keys[usize::from(me)], &publics, place(me), &[3; 32]).unwrap()).collect()
    }

    #[test]
    fn masks_cancel_in_the_total_and_nowhere_before() {
        for count in 3..8 {
            let mut total = vec![0u64; 1500];
            for (index, keyring) in keyrings(count, 1).iter_mut().enumerate() {
                assert!(index == 0 || total.iter().all(|word| *word != 0), "a part of the masks cancels already");
                let mut words = vec![10; 1500];
                keyring.mask(4, &[6; 32]).unwrap().cover(&mut words);
                total.iter_mut().zip(words).for_each(|(sum, word)| *sum = sum.wrapping_add(word));
            }
            assert_eq!(total, vec![10 * u64::from(count); 1500]);
        }
    }

    #[test]
    fn a_mask_is_used_once_and_differs_by_round_and_session() {
        let cover = |keyring: &mut Keyring, round| {
            let mut words = vec![0; 4];
            keyring.mask(round, &[6; 32]).map(|mask| mask.cover(&mut words)).map(|()| words)
        };
        let mut keyring = keyrings(3, 1).remove(0);
        let (first, second) = (cover(&mut keyring, 1).unwrap(), cover(&mut keyring, 2).unwrap());
        assert_ne!(first, second);
        assert_eq!(cover(&mut keyring, 2), Err(Fault::Internal("a mask would be used twice")));
        assert_ne!(cover(&mut keyrings(3, 2)[0], 1).unwrap(), first);
    }

    #[test]
    fn masks_of_custodians_with_different_transcripts_do_not_cancel() {
        let mut total = vec![0u64; 100];
        for (index, keyring) in keyrings(4, 1).iter_mut().enumerate() {
            let mut words = vec![10; 100];
            keyring.mask(4, &[u8::from(index == 2); 32]).unwrap().cover(&mut words);
            total.iter_mut().zip(words).for_each(|(sum, word)| *sum = sum.wrapping_add(word));
        }
        // A uniform word is below 2³² once in four thousand million times.
        assert!(total.iter().all(|word| *word > u64::from(u32::MAX)), "{total:?}");
    }

    #[test]
    fn weak_and_reflected_keys_are_refused() {
        let own = KeyPair::draw(&mut Coins::danger_from_seed(1));
        assert_eq!(own.agree(4, &[0; 32]), Err(Fault::WeakKey { sender: 4 }));
        let mut one = [0; 32];
        one[0] = 1;
        assert_eq!(own.agree(4, &one), Err(Fault::WeakKey { sender: 4 }));
        assert_eq!(own.agree(4, &own.public()), Err(Fault::WeakKey { sender: 4 }), "our own key sent back to us");
        assert!(!format!("{own:?}").contains("8"), "printed");
    }
}
