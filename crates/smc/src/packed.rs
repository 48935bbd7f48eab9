//! Several counts in one word: where sums are known to stay below 2ᵇ, ⌊64/b⌋ of them are added in
//! one go and none reaches into the next. Less to mask and less to send.

/// `bits` is from 1 to 64, and every word below 2^`bits`.
pub(crate) fn pack(words: &[u64], bits: u8) -> Vec<u64> {
    match per_word(bits) {
        1 => words.to_vec(),
        2 => pack_by::<2>(words, bits),
        3 => pack_by::<3>(words, bits),
        4 => pack_by::<4>(words, bits),
        many => words.chunks(many).map(|chunk| together(chunk, bits)).collect(),
    }
}

/// The common cases, in which the compiler knows how many words go together.
fn pack_by<const N: usize>(words: &[u64], bits: u8) -> Vec<u64> {
    let (whole, rest) = words.as_chunks::<N>();
    let mut packed = Vec::with_capacity(whole.len() + 1);
    packed.extend(whole.iter().map(|chunk| together(chunk, bits)));
    packed.extend((!rest.is_empty()).then(|| together(rest, bits)));
    packed
}

fn together(chunk: &[u64], bits: u8) -> u64 {
    chunk.iter().rev().fold(0, |packed: u64, word| packed.unbounded_shl(u32::from(bits)) | word)
}

/// The first `count` of what was packed.
pub(crate) fn unpack(packed: &[u64], bits: u8, count: usize) -> Vec<u64> {
    let mask = u64::MAX >> (64 - u32::from(bits));
    let apart = |word: &u64| {
        let word = *word;
        (0..per_word(bits) as u32).map(move |place| word.unbounded_shr(place * u32::from(bits)) & mask)
    };
    packed.iter().flat_map(apart).take(count).collect()
}

pub(crate) fn per_word(bits: u8) -> usize {
    usize::from(64 / bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Coins;

    #[test]
    fn sums_of_packed_counts_are_packed_sums() {
        let mut coins = Coins::danger_from_seed(1);
        for bits in 1..=64u8 {
            let largest = u64::MAX >> (64 - u32::from(bits));
            let count = coins.below(40) as usize;
            let one: Vec<u64> = (0..count).map(|_| coins.word() & largest).collect();
            let other: Vec<u64> =
                one.iter().map(|word| coins.word() % (largest - word).saturating_add(1).max(1)).collect();
            let (a, b) = (pack(&one, bits), pack(&other, bits));
            assert_eq!(a.len(), count.div_ceil(per_word(bits)));
            let sum: Vec<u64> = a.iter().zip(&b).map(|(a, b)| a.wrapping_add(*b)).collect();
            let expected: Vec<u64> = one.iter().zip(&other).map(|(one, other)| one + other).collect();
            assert_eq!(unpack(&sum, bits, count), expected, "{bits} bits");
        }
    }
}
