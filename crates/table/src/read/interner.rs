//! Distinct texts and their codes, for one column and one worker.
//!
//! Most cells repeat a value seen before and are short, so the common case must cost a few
//! nanoseconds: a text of at most 16 bytes is its own key in two machine words, found in an
//! open-addressing table without looking at the stored text. One way for all short lengths, since a
//! processor cannot predict which of two ways the next field takes. Keys of many texts take more
//! memory than the texts, so where it is short they are given up.

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// A cell without a value: a JSON or Parquet null, an absent key. No text has this code.
pub(super) const ABSENT: u32 = 0;

/// Readable bytes that must follow a block, so that whole words can be loaded from its end.
pub(super) const PADDING: usize = 64;

/// The longest text that is its own key.
const SHORT: usize = 16;
type TextKey = [u64; 2];

/// The most that is held of a column's texts. Where there is more, all are forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TextsMax {
    pub(super) texts: usize,
    pub(super) bytes: usize,
}

impl TextsMax {
    pub(super) const UNLIMITED: TextsMax = TextsMax { texts: usize::MAX, bytes: usize::MAX };
}

#[derive(Debug, Clone)]
pub(super) struct Interner {
    short: KeyTable,
    /// The most texts that are their own keys.
    keys_max: usize,
    texts_max: TextsMax,
    is_over: bool,
    /// Texts without keys: those that are longer, and all where there are more.
    others: HashTable<u32>,
    hasher: RandomState,
    texts: Vec<u8>,
    /// Where the text of each code ends; it begins where the one before ends.
    ends: Vec<usize>,
    /// Whether the caller used `ABSENT`.
    pub(super) absent: bool,
}

impl Interner {
    pub(super) fn new() -> Interner {
        Interner::with_keys(usize::MAX)
    }

    /// Gives up keys when there are more than this.
    pub(super) fn with_keys(keys_max: usize) -> Interner {
        let hasher = RandomState::default();
        // Keys are drawn anew in every process, so that no file can be made to collide.
        let seed = hasher.hash_one(0u64);
        Interner {
            short: KeyTable::new(seed),
            keys_max,
            texts_max: TextsMax::UNLIMITED,
            is_over: false,
            others: HashTable::new(),
            hasher,
            texts: Vec::new(),
            ends: vec![0],
            absent: false,
        }
    }

    /// Forgets all texts when there are more than this, and codes them all as absent from then on.
    pub(super) fn forget_beyond(&mut self, texts_max: TextsMax) {
        self.texts_max = texts_max;
    }

    /// Whether there were more texts than may be held, so that none is.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Whether its texts are more than may be held.
    pub(super) fn exceeds(&self, most: TextsMax) -> bool {
        self.is_over || self.cardinality() - 1 > most.texts || self.texts.len() > most.bytes
    }

    /// Whether one text more is too many.
    #[cold]
    fn overflows(&mut self) -> bool {
        let TextsMax { texts, bytes } = self.texts_max;
        if !self.is_over && (self.ends.len() > texts || self.texts.len() > bytes) {
            self.forget();
        }
        self.is_over
    }

    /// Forgets all texts, and codes them all as absent from then on.
    pub(super) fn forget(&mut self) {
        self.is_over = true;
        drop(self.short.give_up());
        self.others = HashTable::new();
        self.texts = Vec::new();
        self.ends = vec![0];
    }

    /// How many codes are taken, `ABSENT` included.
    pub(super) fn cardinality(&self) -> usize {
        self.ends.len()
    }

    /// The code of `block[start..start + length]`, free of NUL; `PADDING` more bytes must follow
    /// it.
    #[inline]
    pub(super) fn code_at(&mut self, block: &[u8], start: usize, length: usize) -> u32 {
        if length <= SHORT {
            let keep = &KEEP[length];
            let key = [word_at(block, start) & keep[0], word_at(block, start + 8) & keep[1]];
            match self.short.find(key) {
                Ok(code) => code,
                Err(slot) => self.add_short(slot, key, &block[start..start + length]),
            }
        } else {
            self.code_of_other(&block[start..start + length])
        }
    }

    /// The code of a text that stands on its own, free of NUL.
    pub(super) fn code(&mut self, text: &[u8]) -> u32 {
        if text.len() > SHORT {
            return self.code_of_other(text);
        }
        let mut padded = [0u8; 2 * SHORT];
        padded[..text.len()].copy_from_slice(text);
        self.code_at(&padded, 0, text.len())
    }

    /// The code of a text that has one, whatever bytes it holds.
    pub(super) fn known(&self, text: &[u8]) -> Option<u32> {
        if text.len() > SHORT || self.short.used > self.keys_max {
            return self.others.find(self.hasher.hash_one(text), |&code| self.text(code) == text).copied();
        }
        let mut padded = [0u8; SHORT];
        padded[..text.len()].copy_from_slice(text);
        let code = self.short.find([word_at(&padded, 0), word_at(&padded, 8)]).ok()?;
        // A text that ends in NUL has the key of a shorter one.
        (self.text(code).len() == text.len()).then_some(code)
    }

    fn text(&self, code: u32) -> &[u8] {
        &self.texts[self.ends[code as usize - 1]..self.ends[code as usize]]
    }

    fn code_of_other(&mut self, text: &[u8]) -> u32 {
        let hash = self.hasher.hash_one(text);
        if let Some(&code) = self.others.find(hash, |&code| self.text(code) == text) {
            return code;
        }
        if self.overflows() {
            return ABSENT;
        }
        let Interner { others, hasher, texts, ends, .. } = self;
        let code = push_text(texts, ends, text);
        others.insert_unique(hash, code, |&code| hasher.hash_one(&texts[ends[code as usize - 1]..ends[code as usize]]));
        code
    }

    /// The code of a short text that no key was found for.
    #[cold]
    fn add_short(&mut self, slot: usize, key: TextKey, text: &[u8]) -> u32 {
        if self.short.used > self.keys_max {
            return self.code_of_other(text);
        }
        if self.overflows() {
            return ABSENT;
        }
        let code = push_text(&mut self.texts, &mut self.ends, text);
        self.short.insert(slot, key, code);
        if self.short.used > self.keys_max {
            let Interner { others, hasher, texts, ends, .. } = self;
            let hash = |code: u32| hasher.hash_one(&texts[ends[code as usize - 1]..ends[code as usize]]);
            for code in self.short.give_up() {
                others.insert_unique(hash(code), code, |&code| hash(code));
            }
        }
        code
    }

    /// Takes in the texts of another: for each of its codes, the code here.
    pub(super) fn absorb(&mut self, other: Interner) -> Vec<u32> {
        self.absent |= other.absent;
        if other.is_over {
            self.forget();
        }
        let mut codes = Vec::with_capacity(other.ends.len());
        codes.push(ABSENT);
        codes.extend(other.ends.windows(2).map(|ends| self.code(&other.texts[ends[0]..ends[1]])));
        codes
    }

    /// The texts end to end, and where each ends, from code 1 on. `None` if they are not UTF-8.
    pub(super) fn into_texts(self) -> Option<(String, Vec<usize>)> {
        Some((String::from_utf8(self.texts).ok()?, self.ends))
    }
}

fn push_text(texts: &mut Vec<u8>, ends: &mut Vec<usize>, text: &[u8]) -> u32 {
    texts.extend_from_slice(text);
    ends.push(texts.len());
    // Rows are limited to fewer than 2^32, so distinct texts are too.
    (ends.len() - 1) as u32
}

/// `KEEP[n]` keeps the first n bytes of two little-endian words.
const KEEP: [TextKey; SHORT + 1] = {
    let mut keep = [[0; 2]; SHORT + 1];
    let mut length = 0;
    while length <= SHORT {
        let ones = if length == SHORT { u128::MAX } else { (1 << (8 * length)) - 1 };
        keep[length] = [ones as u64, (ones >> 64) as u64];
        length += 1;
    }
    keep
};

#[inline]
pub(super) fn word_at(bytes: &[u8], start: usize) -> u64 {
    u64::from_le_bytes(bytes[start..start + 8].try_into().expect("eight bytes"))
}

const EMPTY: u32 = u32::MAX;
/// Odd, with its bits spread evenly: 2^64 over the golden ratio.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

#[derive(Debug, Clone, Copy)]
struct InternerSlot {
    key: TextKey,
    code: u32,
}

/// Open addressing with linear probing, at most half full. Zero padding is unambiguous because no
/// text holds NUL.
#[derive(Debug, Clone)]
struct KeyTable {
    slots: Vec<InternerSlot>,
    used: usize,
    seed: u64,
}

impl KeyTable {
    fn new(seed: u64) -> Self {
        KeyTable { slots: vec![InternerSlot { key: [0; 2], code: EMPTY }; 16], used: 0, seed }
    }

    /// The code of a key, or the slot where it belongs.
    #[inline]
    fn find(&self, key: TextKey) -> Result<u32, usize> {
        let mask = self.slots.len() - 1;
        let mut at = self.hash(key) as usize & mask;
        loop {
            let slot = &self.slots[at];
            if slot.code == EMPTY {
                return Err(at);
            }
            if slot.key == key {
                return Ok(slot.code);
            }
            at = (at + 1) & mask;
        }
    }

    fn insert(&mut self, slot: usize, key: TextKey, code: u32) {
        self.slots[slot] = InternerSlot { key, code };
        self.used += 1;
        if self.used * 2 > self.slots.len() {
            let doubled = vec![InternerSlot { key: [0; 2], code: EMPTY }; self.slots.len() * 2];
            for slot in std::mem::replace(&mut self.slots, doubled) {
                if slot.code != EMPTY
                    && let Err(at) = self.find(slot.key)
                {
                    self.slots[at] = slot;
                }
            }
        }
    }

    /// All codes. The keys can no longer be looked up.
    fn give_up(&mut self) -> impl Iterator<Item = u32> + use<> {
        let slots = std::mem::replace(&mut self.slots, vec![InternerSlot { key: [0; 2], code: EMPTY }]);
        slots.into_iter().map(|slot| slot.code).filter(|&code| code != EMPTY)
    }

    #[inline]
    fn hash(&self, [low, high]: TextKey) -> u64 {
        let product = u128::from(low ^ self.seed) * u128::from(SPREAD);
        let folded = product as u64 ^ (product >> 64) as u64;
        let product = u128::from(high ^ folded) * u128::from(SPREAD);
        product as u64 ^ (product >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};
    use std::collections::HashMap;

    #[test]
    fn codes_agree_with_a_plain_map_at_every_length() {
        for seed in 0..20 {
            let mut random = StdRng::seed_from_u64(seed);
            let mut interner = Interner::new();
            let mut expected: HashMap<Vec<u8>, u32> = HashMap::new();
            for _ in 0..3000 {
                let length = random.random_range(0..24);
                let text: Vec<u8> = (0..length).map(|_| random.random_range(b'a'..b'c')).collect();
                let next = expected.len() as u32 + 1;
                let code = *expected.entry(text.clone()).or_insert(next);
                assert_eq!(interner.known(&text), Some(code).filter(|code| *code < next), "seed {seed}");
                assert_eq!(interner.code(&text), code, "seed {seed}");
                assert_eq!(interner.known(&text), Some(code), "seed {seed}");
                let with_nul = [text.as_slice(), b"\0"].concat();
                assert_eq!(interner.known(&with_nul), None, "seed {seed}");
            }
            assert_eq!(interner.cardinality(), expected.len() + 1);
            let (texts, ends) = interner.into_texts().unwrap();
            for (text, code) in expected {
                let code = code as usize;
                assert_eq!(&texts.as_bytes()[ends[code - 1]..ends[code]], text);
            }
        }
    }

    /// The same for texts that are too many for keys, before, while and after these are given up.
    #[test]
    fn many_texts_keep_their_codes() {
        let mut interner = Interner::with_keys(5000);
        let text = |number: usize| format!("{number}{}", if number.is_multiple_of(5) { " and a long end" } else { "" });
        let count = 20_000;
        for number in 0..count {
            let own = text(number);
            assert_eq!(interner.known(own.as_bytes()), None, "{own}");
            assert_eq!(interner.code(own.as_bytes()), number as u32 + 1);
            let before = text(number / 2);
            assert_eq!(interner.code(before.as_bytes()), number as u32 / 2 + 1, "{before} after {own}");
        }
        for number in 0..count {
            let own = text(number);
            assert_eq!(interner.known(own.as_bytes()), Some(number as u32 + 1));
            assert_eq!(interner.known(format!("{own}\0").as_bytes()), None);
        }
        assert_eq!((interner.cardinality(), interner.short.slots.len()), (count + 1, 1));
    }

    #[test]
    fn too_many_texts_are_forgotten() {
        for (keys_max, length) in [(usize::MAX, 1), (20, 1), (usize::MAX, 20)] {
            let text = |number: u8| vec![b'a' + number % 26; length + usize::from(number / 26)];
            let mut interner = Interner::with_keys(keys_max);
            interner.forget_beyond(TextsMax { texts: 50, ..TextsMax::UNLIMITED });
            for number in 0..50 {
                assert_eq!(interner.code(&text(number)), u32::from(number) + 1);
            }
            assert_eq!(interner.code(&text(7)), 8);
            let small = interner.clone();
            assert!(!interner.is_over());
            for number in (50..60).chain(0..10) {
                assert_eq!(interner.code(&text(number)), ABSENT);
            }
            assert_eq!((interner.is_over(), interner.cardinality(), interner.texts.len()), (true, 1, 0));
            for mut absorbing in [small.clone(), Interner::new()] {
                absorbing.absorb(interner.clone());
                assert!(absorbing.is_over());
            }
            let mut others = Interner::new();
            others.code(b"one more");
            let mut absorbing = small;
            absorbing.absorb(others);
            assert!(absorbing.is_over());
        }
    }

    #[test]
    fn one_dictionary_absorbs_another() {
        let (mut left, mut right) = (Interner::new(), Interner::new());
        for text in ["", "a", "twelve bytes", "a text longer than sixteen"] {
            left.code(text.as_bytes());
        }
        for text in ["a text longer than sixteen", "b", ""] {
            right.code(text.as_bytes());
        }
        right.absent = true;
        assert_eq!(left.absorb(right), [ABSENT, 4, 5, 1]);
        assert!(left.absent);
    }
}
