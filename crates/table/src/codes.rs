//! A column's cells as positions in its domain, in the narrowest integer that can hold them.

use std::borrow::Cow;
use std::ops::Range;

/// One code per row. The width follows from the size of the domain alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Codes {
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
}

/// Runs `$body` with `$codes` bound to the typed slice, once per width, so that inner loops stay
/// monomorphic.
#[macro_export]
macro_rules! with_codes {
    ($value:expr, $codes:ident => $body:expr) => {
        match $value {
            $crate::Codes::U8($codes) => $body,
            $crate::Codes::U16($codes) => $body,
            $crate::Codes::U32($codes) => $body,
        }
    };
}

impl Codes {
    /// An empty column wide enough for `cardinality` different codes.
    pub fn with_capacity(cardinality: usize, rows: usize) -> Codes {
        if cardinality <= 1 << 8 {
            Codes::U8(Vec::with_capacity(rows))
        } else if cardinality <= 1 << 16 {
            Codes::U16(Vec::with_capacity(rows))
        } else {
            Codes::U32(Vec::with_capacity(rows))
        }
    }

    pub fn from_iter(cardinality: usize, codes: impl IntoIterator<Item = u32>) -> Codes {
        let codes = codes.into_iter();
        let mut column = Codes::with_capacity(cardinality, codes.size_hint().0);
        for code in codes {
            column.push(code);
        }
        column
    }

    /// The caller keeps `code` below the cardinality the column was made for.
    pub fn push(&mut self, code: u32) {
        match self {
            Codes::U8(codes) => codes.push(code as u8),
            Codes::U16(codes) => codes.push(code as u16),
            Codes::U32(codes) => codes.push(code),
        }
    }

    pub fn get(&self, row: usize) -> u32 {
        match self {
            Codes::U8(codes) => u32::from(codes[row]),
            Codes::U16(codes) => u32::from(codes[row]),
            Codes::U32(codes) => codes[row],
        }
    }

    pub fn len(&self) -> usize {
        with_codes!(self, codes => codes.len())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn iter(&self) -> Box<dyn Iterator<Item = u32> + '_> {
        match self {
            Codes::U8(codes) => Box::new(codes.iter().map(|&code| u32::from(code))),
            Codes::U16(codes) => Box::new(codes.iter().map(|&code| u32::from(code))),
            Codes::U32(codes) => Box::new(codes.iter().copied()),
        }
    }

    /// Every code replaced by its image under a map into `cardinality` codes.
    pub fn mapped(&self, map: &[u32], cardinality: usize) -> Codes {
        with_codes!(self, codes => {
            let images = codes.iter().map(|&code| map[code as usize]);
            match Codes::with_capacity(cardinality, 0) {
                Codes::U8(_) => Codes::U8(images.map(|image| image as u8).collect()),
                Codes::U16(_) => Codes::U16(images.map(|image| image as u16).collect()),
                Codes::U32(_) => Codes::U32(images.collect()),
            }
        })
    }

    /// The codes of these rows, in their order.
    pub fn of_rows(&self, rows: &[u32]) -> Codes {
        match self {
            Codes::U8(codes) => Codes::U8(rows.iter().map(|&row| codes[row as usize]).collect()),
            Codes::U16(codes) => Codes::U16(rows.iter().map(|&row| codes[row as usize]).collect()),
            Codes::U32(codes) => Codes::U32(rows.iter().map(|&row| codes[row as usize]).collect()),
        }
    }

    /// How many rows carry each code.
    pub fn counts(&self, cardinality: usize) -> Vec<u64> {
        let mut counts = vec![0u64; cardinality];
        self.add_counts(&mut counts);
        counts
    }

    /// Adds how many rows carry each code.
    pub fn add_counts(&self, counts: &mut [u64]) {
        with_codes!(self, codes => for &code in codes { counts[code as usize] += 1; });
    }

    /// The codes of a range of rows.
    pub fn slice(&self, rows: Range<usize>) -> Codes {
        match self {
            Codes::U8(codes) => Codes::U8(codes[rows].to_vec()),
            Codes::U16(codes) => Codes::U16(codes[rows].to_vec()),
            Codes::U32(codes) => Codes::U32(codes[rows].to_vec()),
        }
    }

    /// Bytes of one code.
    pub fn width(&self) -> usize {
        match self {
            Codes::U8(_) => 1,
            Codes::U16(_) => 2,
            Codes::U32(_) => 4,
        }
    }

    /// Bytes held, to judge memory.
    pub fn bytes(&self) -> usize {
        self.len() * self.width()
    }

    /// The codes one after the other, lowest byte first.
    pub fn to_bytes(&self) -> Cow<'_, [u8]> {
        match self {
            Codes::U8(codes) => Cow::Borrowed(codes),
            Codes::U16(codes) => Cow::Owned(codes.iter().flat_map(|code| code.to_le_bytes()).collect()),
            Codes::U32(codes) => Cow::Owned(codes.iter().flat_map(|code| code.to_le_bytes()).collect()),
        }
    }

    /// Reads what [`Codes::to_bytes`] wrote of codes with this width.
    pub fn from_bytes(width: usize, bytes: Vec<u8>) -> Codes {
        match width {
            1 => Codes::U8(bytes),
            2 => Codes::U16(bytes.as_chunks().0.iter().map(|code| u16::from_le_bytes(*code)).collect()),
            _ => Codes::U32(bytes.as_chunks().0.iter().map(|code| u32::from_le_bytes(*code)).collect()),
        }
    }

    /// Some rows of another column at the end, which has the same width.
    pub fn extend(&mut self, more: &Codes, rows: Range<usize>) {
        match (self, more) {
            (Codes::U8(codes), Codes::U8(more)) => codes.extend_from_slice(&more[rows]),
            (Codes::U16(codes), Codes::U16(more)) => codes.extend_from_slice(&more[rows]),
            (Codes::U32(codes), Codes::U32(more)) => codes.extend_from_slice(&more[rows]),
            (codes, more) => rows.for_each(|row| codes.push(more.get(row))),
        }
    }
}
