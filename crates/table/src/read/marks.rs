//! The next of one or two bytes (delimiters and newlines, or quotes), found for 64 bytes at once.
//!
//! Fields are a few bytes long, so a search that is started anew for each would spend its time
//! starting. Here the wanted bytes of a whole window are marked first, as the bits of one word, and
//! handed out one by one.

use super::interner::PADDING;

const WINDOW: usize = 64;

pub(super) struct Marks<'a> {
    /// Followed by padding that is as long as a window.
    text: &'a [u8],
    wanted: [u8; 2],
    base: usize,
    /// One bit for every byte from `base` on that is wanted and was not handed out.
    marks: u64,
}

impl<'a> Marks<'a> {
    /// Looks through `padded` but for its last `PADDING` bytes.
    pub(super) fn new(padded: &'a [u8], wanted: [u8; 2]) -> Marks<'a> {
        const { assert!(PADDING >= WINDOW) };
        Marks { text: padded, wanted, base: 0, marks: marks(padded, 0, wanted) }
    }

    /// Steps over all before `position`, which is not before any that was handed out.
    #[inline]
    pub(super) fn seek(&mut self, position: usize) {
        if position - self.base < WINDOW {
            self.marks &= u64::MAX << (position - self.base);
        } else {
            self.base = position;
            let inside = position + WINDOW <= self.text.len();
            self.marks = if inside { marks(self.text, position, self.wanted) } else { 0 };
        }
    }

    /// There must be one: the caller asks only before the newline that ends the block.
    #[inline]
    pub(super) fn next(&mut self) -> usize {
        while self.marks == 0 {
            self.base += WINDOW;
            self.marks = marks(self.text, self.base, self.wanted);
        }
        self.pop()
    }

    /// The next one, if there is any before the padding.
    #[inline]
    pub(super) fn next_if_any(&mut self) -> Option<usize> {
        let end = self.text.len() - PADDING;
        while self.marks == 0 {
            self.base += WINDOW;
            if self.base >= end {
                return None;
            }
            self.marks = marks(self.text, self.base, self.wanted);
        }
        Some(self.pop()).filter(|&at| at < end)
    }

    #[inline]
    fn pop(&mut self) -> usize {
        let at = self.base + self.marks.trailing_zeros() as usize;
        self.marks &= self.marks - 1;
        at
    }
}

/// The compiler compares many bytes at a time; the multiplication then gathers eight 0-or-1 bytes
/// into eight bits, moving the lowest bit of byte k to bit 56 + k.
#[inline]
fn marks(text: &[u8], base: usize, wanted: [u8; 2]) -> u64 {
    let mut is_wanted = [0u8; WINDOW];
    for (flag, &byte) in is_wanted.iter_mut().zip(&text[base..base + WINDOW]) {
        *flag = u8::from(byte == wanted[0]) | u8::from(byte == wanted[1]);
    }
    let (words, _) = is_wanted.as_chunks::<8>();
    words
        .iter()
        .rev()
        .fold(0, |marks, word| marks << 8 | u64::from_le_bytes(*word).wrapping_mul(0x0102_0408_1020_4080) >> 56)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wanted_byte_is_found_whatever_bytes_stand_around() {
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
                let mut marks = Marks::new(&text, *b",\n");
                let found: Vec<usize> = expected.iter().map(|_| marks.next()).collect();
                assert_eq!(found, expected, "filler {filler}, gap {gap}");
                let commas: Vec<usize> = (0..length).filter(|&at| text[at] == b',').collect();
                let mut marks = Marks::new(&text, *b",,");
                let found: Vec<usize> = std::iter::from_fn(|| marks.next_if_any()).collect();
                assert_eq!(found, commas, "filler {filler}, gap {gap}");
            }
        }
    }
}
