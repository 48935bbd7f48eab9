//! A page as `hedgerow` compresses it: one frame of Zstandard (RFC 8878) that holds its length and
//! nothing beside its blocks. Decompressors pass over frames of other kinds, checksums, and blocks
//! that stand for no byte; each could hold a text.

const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Of the byte that describes a frame: whether the length of its window is omitted, and the bits
/// of checksums, dictionaries and of no meaning.
const WHOLE: u8 = 0b10_0000;
const UNUSED: u8 = 0b1_1111;
/// From here on, and from here on again, the length of the contents takes more bytes; the first of
/// these starts where the shorter form ends.
const TWO_BYTES: u64 = 1 << 8;
const FOUR_BYTES: u64 = (1 << 16) + TWO_BYTES;
const EIGHT_BYTES: u64 = u32::MAX as u64;

/// Whether the bytes are one frame of `plain` bytes.
pub(super) fn is_one_frame(bytes: &[u8], plain: u64) -> bool {
    blocks_of(bytes, plain).is_some_and(|blocks| are_blocks(blocks, plain))
}

/// What follows the header of a frame.
fn blocks_of(bytes: &[u8], plain: u64) -> Option<&[u8]> {
    let (&description, rest) = bytes.strip_prefix(&MAGIC)?.split_first()?;
    if description & UNUSED != 0 {
        return None;
    }
    let is_whole = description & WHOLE != 0;
    let rest = if is_whole { rest } else { rest.get(1..)? };
    let (form, length, less) = match plain {
        0..TWO_BYTES => (0, if is_whole { 1 } else { return None }, 0),
        TWO_BYTES..FOUR_BYTES => (1, 2, TWO_BYTES),
        FOUR_BYTES..EIGHT_BYTES => (2, 4, 0),
        _ => (3, 8, 0),
    };
    let (stated, rest) = rest.split_at_checked(length)?;
    let is_stated = stated == &(plain - less).to_le_bytes()[..length];
    (is_stated && description >> 6 == form).then_some(rest)
}

/// Whether blocks stand for as many bytes. How many a compressed one stands for is in its own
/// bytes: more than these are.
fn are_blocks(mut bytes: &[u8], plain: u64) -> bool {
    let (mut stood_for, mut is_exact) = (0u64, true);
    loop {
        let Some((header, rest)) = bytes.split_first_chunk::<3>() else { return false };
        let header = u32::from_le_bytes([header[0], header[1], header[2], 0]);
        let (is_last, kind, size) = (header & 1 == 1, header >> 1 & 3, header >> 3);
        let (stored, stands_for) = match kind {
            0 => (size, size),
            1 => (1, size),
            2 => (size, size + 1),
            _ => return false,
        };
        is_exact &= kind != 2;
        stood_for += u64::from(stands_for);
        let Some((_, rest)) = rest.split_at_checked(stored as usize) else { return false };
        // Only an empty page has an empty block.
        if size == 0 && !(plain == 0 && kind == 0 && is_last) {
            return false;
        }
        if is_last {
            return rest.is_empty() && stood_for <= plain && (!is_exact || stood_for == plain);
        }
        bytes = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(plain: &[u8]) -> Vec<u8> {
        zstd::bulk::compress(plain, 3).unwrap()
    }

    /// Repeated, random and mixed contents, around the lengths where a header changes.
    #[test]
    fn frames_of_the_compressor_are_known() {
        for length in [0, 1, 7, 255, 256, 257, 65_791, 65_792, 70_000, 131_072, 262_144, 300_000, 3_000_000] {
            let mut state = 1u64;
            let mut random = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as u8
            };
            let noise: Vec<u8> = (0..length).map(|_| random()).collect();
            let mixed = noise.iter().enumerate().map(|(place, byte)| if place / 5000 % 2 == 0 { *byte } else { 7 });
            for plain in [vec![7; length], mixed.collect(), noise.clone()] {
                let bytes = frame(&plain);
                assert!(is_one_frame(&bytes, length as u64), "{length}: {:?}", &bytes[..bytes.len().min(20)]);
                assert!(!is_one_frame(&bytes, length as u64 + 1), "{length}");
            }
        }
    }

    #[test]
    fn what_decompressors_pass_over_is_found() {
        let plain = b"a page of cells, a page of cells, a page of cells, a page of cells, a page of cells";
        let honest = frame(plain);
        let passed_over = |bytes: &[u8]| {
            let read = zstd::bulk::decompress(bytes, 1 << 10).unwrap();
            assert_eq!(read, plain);
            !is_one_frame(bytes, plain.len() as u64)
        };
        assert!(!passed_over(&honest));
        let skipped = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"Ann"].concat();
        assert!(passed_over(&[&honest[..], &skipped].concat()), "a frame that is skipped, behind");
        assert!(passed_over(&[&skipped[..], &honest].concat()), "a frame that is skipped, before");
        assert!(passed_over(&[&honest[..], &frame(b"")].concat()), "a frame of nothing");
        // Five blocks of no byte, in front of the others.
        let (header, blocks) = honest.split_at(MAGIC.len() + 2);
        let empty: Vec<u8> = b"Ann  ".iter().flat_map(|&letter| [0b010, 0, 0, letter]).collect();
        assert!(passed_over(&[header, &empty, blocks].concat()), "blocks of nothing");
        let mut with_checksum = zstd::bulk::Compressor::new(3).unwrap();
        with_checksum.include_checksum(true).unwrap();
        assert!(passed_over(&with_checksum.compress(plain).unwrap()), "a checksum");
    }
}
