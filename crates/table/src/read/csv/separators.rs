//! The next delimiter or newline, found for 64 bytes at once.
//!
//! Fields are a few bytes long, so a search that is started anew for each would spend its time starting. Here the
//! separators of a whole window are marked first, as the bits of one word, and handed out one by one.

const WINDOW: usize = 64;

pub(super) struct Separators<'a> {
    /// A block with its padding, which is as long as a window.
    text: &'a [u8],
    delimiter: u8,
    base: usize,
    /// One bit for every byte from `base` on that separates and was not handed out.
    marks: u64,
}

impl<'a> Separators<'a> {
    pub(super) fn new(text: &'a [u8], delimiter: u8) -> Separators<'a> {
        Separators { text, delimiter, base: 0, marks: marks(text, 0, delimiter) }
    }

    /// Steps over all before `position`, which is not before any that was handed out.
    #[inline]
    pub(super) fn seek(&mut self, position: usize) {
        if position - self.base < WINDOW {
            self.marks &= u64::MAX << (position - self.base);
        } else {
            self.base = position;
            self.marks =
                if position + WINDOW <= self.text.len() { marks(self.text, position, self.delimiter) } else { 0 };
        }
    }

    /// There must be one: the caller asks only before the newline that ends the block.
    #[inline]
    pub(super) fn next(&mut self) -> usize {
        while self.marks == 0 {
            self.base += WINDOW;
            self.marks = marks(self.text, self.base, self.delimiter);
        }
        let at = self.base + self.marks.trailing_zeros() as usize;
        self.marks &= self.marks - 1;
        at
    }
}

/// The compiler compares many bytes at a time; the multiplication then gathers eight 0-or-1 bytes into eight bits,
/// moving the lowest bit of byte k to bit 56 + k.
#[inline]
fn marks(text: &[u8], base: usize, delimiter: u8) -> u64 {
    let mut separates = [0u8; WINDOW];
    for (flag, &byte) in separates.iter_mut().zip(&text[base..base + WINDOW]) {
        *flag = u8::from(byte == delimiter) | u8::from(byte == b'\n');
    }
    let (words, _) = separates.as_chunks::<8>();
    words
        .iter()
        .rev()
        .fold(0, |marks, word| marks << 8 | u64::from_le_bytes(*word).wrapping_mul(0x0102_0408_1020_4080) >> 56)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_separator_is_found_whatever_bytes_stand_around() {
        for filler in 0..=255u8 {
            if matches!(filler, b',' | b'\n') {
                continue;
            }
            for gap in 0..140 {
                let mut text = vec![filler; gap];
                text.extend_from_slice(b",");
                text.resize(text.len() + gap / 2, filler ^ 0x80);
                text.extend(b"\n");
                let expected: Vec<usize> = (0..text.len()).filter(|&at| matches!(text[at], b',' | b'\n')).collect();
                let length = text.len();
                text.resize(length + WINDOW, filler);
                let mut separators = Separators::new(&text, b',');
                let found: Vec<usize> = expected.iter().map(|_| separators.next()).collect();
                assert_eq!(found, expected, "filler {filler}, gap {gap}");
            }
        }
    }
}
