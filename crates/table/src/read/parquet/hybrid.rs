//! Small integers as Parquet packs them: runs of one value, and groups of eight values packed by
//! their bits. Levels and positions in a dictionary are written this way.

/// The rest of a packed list.
#[derive(Debug)]
pub(super) struct Hybrid<'a> {
    bytes: &'a [u8],
    /// Bits of one value, at most 32.
    width: u32,
    run: Run<'a>,
}

#[derive(Debug)]
enum Run<'a> {
    Repeated { value: u32, left: usize },
    Packed { bytes: &'a [u8], next: usize, left: usize },
}

/// The list is damaged or shorter than its page says.
#[derive(Debug, PartialEq)]
pub(super) struct Damaged;

impl<'a> Hybrid<'a> {
    /// `None` for a width that no list of this kind has.
    pub(super) fn new(bytes: &'a [u8], width: u32) -> Option<Hybrid<'a>> {
        (width <= 32).then_some(Hybrid { bytes, width, run: Run::Repeated { value: 0, left: 0 } })
    }

    /// Appends the next `count` values.
    pub(super) fn take(&mut self, count: usize, into: &mut Vec<u32>) -> Result<(), Damaged> {
        let mut missing = count;
        while missing > 0 {
            let taken = match &mut self.run {
                Run::Repeated { left: 0, .. } | Run::Packed { left: 0, .. } => {
                    self.run = self.next_run().ok_or(Damaged)?;
                    continue;
                }
                Run::Repeated { value, left } => {
                    let taken = missing.min(*left);
                    into.resize(into.len() + taken, *value);
                    *left -= taken;
                    taken
                }
                Run::Packed { bytes, next, left } => {
                    let taken = missing.min(*left);
                    unpack(bytes, self.width, *next..*next + taken, into);
                    *next += taken;
                    *left -= taken;
                    taken
                }
            };
            missing -= taken;
        }
        Ok(())
    }

    /// Whether nothing is left but the zeros that fill the last group of eight.
    pub(super) fn is_spent(&self) -> bool {
        let is_at_end = match &self.run {
            Run::Repeated { left, .. } => *left == 0,
            Run::Packed { bytes, next, left } => {
                let mut filled = Vec::new();
                if *left < 8 {
                    unpack(bytes, self.width, *next..*next + *left, &mut filled);
                }
                *left < 8 && filled.iter().all(|value| *value == 0)
            }
        };
        self.bytes.is_empty() && is_at_end
    }

    fn next_run(&mut self) -> Option<Run<'a>> {
        let header = self.header()?;
        let length = usize::try_from(header >> 1).ok()?;
        if header & 1 == 0 {
            let (value, rest) = self.bytes.split_at_checked(self.width.div_ceil(8) as usize)?;
            self.bytes = rest;
            let value = value.iter().rev().fold(0u32, |value, &byte| value << 8 | u32::from(byte));
            return Some(Run::Repeated { value, left: length });
        }
        // A group of eight values fills as many bytes as one value has bits.
        let announced = length.checked_mul(self.width as usize)?;
        // The last group may be cut off where the values end.
        let (bytes, rest) = self.bytes.split_at(announced.min(self.bytes.len()));
        self.bytes = rest;
        let whole = (bytes.len() * 8).checked_div(self.width as usize).unwrap_or(usize::MAX);
        Some(Run::Packed { bytes, next: 0, left: whole.min(length.checked_mul(8)?) })
    }

    /// A number of seven bits per byte, lowest first.
    fn header(&mut self) -> Option<u64> {
        let mut header = 0u64;
        for shift in (0..35).step_by(7) {
            let (&byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            header |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                // An empty run would never end the list.
                return (header >> 1 > 0).then_some(header);
            }
        }
        None
    }
}

fn unpack(bytes: &[u8], width: u32, positions: std::ops::Range<usize>, into: &mut Vec<u32>) {
    let mask = (1u64 << width) - 1;
    let value = |word: u64, bit: usize| (word >> (bit % 8) & mask) as u32;
    let bit_of = |position: usize| position * width as usize;
    // A value reaches over at most five bytes, so that a word of eight always holds it.
    let safe = (bytes.len().saturating_sub(8) * 8).checked_div(width as usize).map_or(positions.end, |safe| safe + 1);
    let middle = if bytes.len() < 8 { positions.start } else { positions.end.min(safe).max(positions.start) };
    into.extend((positions.start..middle).map(|position| {
        let bit = bit_of(position);
        let word = bytes[bit / 8..bit / 8 + 8].try_into().map_or(0, u64::from_le_bytes);
        value(word, bit)
    }));
    into.extend((middle..positions.end).map(|position| {
        let bit = bit_of(position);
        let mut word = [0; 8];
        let rest = &bytes[bit / 8..];
        let length = rest.len().min(8);
        word[..length].copy_from_slice(&rest[..length]);
        value(u64::from_le_bytes(word), bit)
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    /// Packs values in runs and groups as the draws decide.
    fn pack(runs: &[(bool, Vec<u32>)], width: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (repeated, values) in runs {
            let groups = values.len().div_ceil(8) as u64;
            let mut header = if *repeated { (values.len() as u64) << 1 } else { groups << 1 | 1 };
            while header >= 0x80 {
                bytes.push(header as u8 | 0x80);
                header >>= 7;
            }
            bytes.push(header as u8);
            if *repeated {
                bytes.extend(&values[0].to_le_bytes()[..width.div_ceil(8) as usize]);
                continue;
            }
            let mut bits: Vec<bool> = Vec::new();
            for value in values.iter().copied().chain(std::iter::repeat(0)).take(groups as usize * 8) {
                bits.extend((0..width).map(|bit| value >> bit & 1 == 1));
            }
            bytes.extend(bits.chunks(8).map(|byte| byte.iter().rev().fold(0u8, |sum, &bit| sum << 1 | u8::from(bit))));
        }
        bytes
    }

    #[test]
    fn every_width_gives_back_what_was_packed_in_any_portions() {
        for seed in 0..300 {
            let mut random = StdRng::seed_from_u64(seed);
            let width = random.random_range(0..=32u32);
            let top = (1u64 << width) - 1;
            let mut runs = Vec::new();
            let count = random.random_range(1..6);
            for index in 0..count {
                let repeated = random.random_bool(0.5);
                let mut length = random.random_range(1..200);
                if !repeated && index + 1 < count {
                    length = length / 8 * 8 + 8;
                }
                let mut draw = || random.random_range(0..=top) as u32;
                let first = draw();
                runs.push((repeated, (0..length).map(|_| if repeated { first } else { draw() }).collect::<Vec<u32>>()));
            }
            let expected: Vec<u32> = runs.iter().flat_map(|(_, values)| values.clone()).collect();
            let bytes = pack(&runs, width);
            let mut packed = Hybrid::new(&bytes, width).unwrap();
            let mut found = Vec::new();
            while found.len() < expected.len() {
                let portion = random.random_range(1..50).min(expected.len() - found.len());
                packed.take(portion, &mut found).unwrap();
            }
            assert_eq!(found, expected, "seed {seed}, width {width}");
        }
    }

    #[test]
    fn a_damaged_list_is_refused_and_never_runs_on() {
        assert!(Hybrid::new(&[], 33).is_none());
        for bytes in [&[][..], &[0], &[0x80], &[0x80; 9], &[2], &[3], &[0, 0, 0, 0], &[1]] {
            assert_eq!(Hybrid::new(bytes, 9).unwrap().take(1, &mut Vec::new()), Err(Damaged), "{bytes:?}");
        }
        for seed in 0..2000 {
            let mut random = StdRng::seed_from_u64(seed);
            let bytes: Vec<u8> = (0..random.random_range(0..40)).map(|_| random.random()).collect();
            let mut found = Vec::new();
            if let Some(mut packed) = Hybrid::new(&bytes, random.random_range(0..=32)) {
                let _ = packed.take(1000, &mut found);
            }
            assert!(found.len() <= 1000);
        }
    }
}
