//! Which left sides may occur more than once, in two bits for each slot of a hash: one for the
//! first row, one for a second. Left sides that share a slot pass for one, so that a few too many
//! may repeat and never one too few.

use foldhash::fast::FixedState;
use std::hash::BuildHasher;

/// Slots for each row: about one unique left side in nine shares its slot.
const SLOTS_OF_ROW: u64 = 8;

/// At most 32 MiB.
const SLOTS_MAX: u64 = 1 << 27;

/// Slots of a word: two bits for each.
const IN_WORD: u64 = 32;

#[derive(Debug)]
pub(super) struct Repeats {
    words: Vec<u64>,
    /// Of the hash, to get the number of a slot.
    shift: u32,
}

impl Repeats {
    pub(super) fn new(rows: u64) -> Repeats {
        let slots = rows.saturating_mul(SLOTS_OF_ROW).clamp(IN_WORD, SLOTS_MAX).next_power_of_two();
        Repeats { words: vec![0; (slots / IN_WORD) as usize], shift: u64::BITS - slots.ilog2() }
    }

    pub(super) fn bytes(&self) -> u64 {
        size_of_val(self.words.as_slice()) as u64
    }

    pub(super) fn mark(&mut self, key: u64) {
        let (word, bit) = self.place(key);
        let word = &mut self.words[word];
        *word |= 1 << bit | (*word >> bit & 1) << (bit + 1);
    }

    /// Whether a left side that was marked may have been marked twice.
    pub(super) fn may_repeat(&self, key: u64) -> bool {
        let (word, bit) = self.place(key);
        self.words[word] >> (bit + 1) & 1 == 1
    }

    fn place(&self, key: u64) -> (usize, u64) {
        let slot = FixedState::default().hash_one(key) >> self.shift;
        ((slot / IN_WORD) as usize, slot % IN_WORD * 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_keys_may_repeat_and_most_unique_keys_may_not() {
        for rows in [0, 1, 2, 1000u64] {
            let mut repeats = Repeats::new(rows);
            let keys = || (0..rows).map(|row| row.wrapping_mul(0x5851_f42d_4c95_7f2d));
            keys().for_each(|key| repeats.mark(key));
            let unique = keys().filter(|&key| !repeats.may_repeat(key)).count() as u64;
            assert!(unique * 5 >= rows * 4, "{unique} of {rows}");
            keys().step_by(3).for_each(|key| repeats.mark(key));
            assert!(keys().step_by(3).all(|key| repeats.may_repeat(key)));
        }
    }
}
