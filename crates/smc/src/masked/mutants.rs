//! Ways to get masking wrong that every test of totals passes: kept, so that the tests of what
//! coalitions see (`coalition.rs`) can be shown to notice each of them.

use std::cell::Cell;

use crate::secret::Secret;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mutant {
    /// Keys are made of public values alone.
    SecretIgnored,
    /// One word of the stream covers all words of a vector.
    OneWordForAll,
    /// Flags travel plain.
    FlagsPlain,
    /// Only the first round is masked.
    FirstRoundOnly,
    /// A shuffle that keeps the order.
    NotShuffled,
    /// A custodian of a shuffle replaces an onion by one of its own.
    Replaces { hop: u16 },
}

thread_local! {
    static ACTIVE: Cell<Option<Mutant>> = const { Cell::new(None) };
    static PLAIN_FROM: Cell<Option<usize>> = const { Cell::new(None) };
    static ROUND: Cell<u32> = const { Cell::new(0) };
}

pub(crate) fn on(mutant: Mutant) -> bool {
    ACTIVE.get() == Some(mutant)
}

/// Runs something with the mistake made.
pub(crate) fn with<T>(mutant: Option<Mutant>, act: impl FnOnce() -> T) -> T {
    ACTIVE.set(mutant);
    let outcome = act();
    ACTIVE.set(None);
    outcome
}

/// The values that are about to be covered: the round, and where its flags begin.
pub(crate) fn covering(round: u32, flags_from: Option<usize>) {
    ROUND.set(round);
    PLAIN_FROM.set(flags_from);
}

/// Covers words in the wrong way where a mutant is on.
pub(crate) fn spoils(seeds: &[(bool, Secret)], words: &mut [u64]) -> bool {
    let first = |seed: &Secret| seed.bytes().first_chunk().map_or(0, |eight| u64::from_le_bytes(*eight));
    let add = |word: &mut u64, (added, mask): (bool, u64)| {
        *word = if added { word.wrapping_add(mask) } else { word.wrapping_sub(mask) };
    };
    match ACTIVE.get() {
        Some(Mutant::OneWordForAll) => {
            for (added, seed) in seeds {
                words.iter_mut().for_each(|word| add(word, (*added, first(seed))));
            }
            true
        }
        Some(Mutant::FirstRoundOnly) => ROUND.get() > 1,
        Some(Mutant::FlagsPlain) => {
            let Some(from) = PLAIN_FROM.get().filter(|from| *from < words.len()) else { return false };
            // The counts before them as ever: a key stream that is good enough for a test.
            for (added, seed) in seeds {
                let mut stream = crate::coins::Coins::from_public(*seed.bytes());
                words[..from].iter_mut().for_each(|word| add(word, (*added, stream.word())));
            }
            true
        }
        Some(Mutant::SecretIgnored | Mutant::NotShuffled | Mutant::Replaces { .. }) | None => false,
    }
}
