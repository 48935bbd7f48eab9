//! Thrift's compact protocol, as far as it takes to see every field of a struct: footers and page
//! headers are written in it. Parsers skip the fields that they do not know.

/// Structs in structs, at most.
const DEPTH_MAX: usize = 8;

/// The value of a field; lists show their elements, each under the number of the list.
pub(super) enum CompactValue<'a> {
    Number(i64),
    Bytes(&'a [u8]),
    /// Its fields follow.
    Struct,
}

/// Takes every field, by the numbers that lead to it.
type See<'s, 'a> = dyn FnMut(&[i16], CompactValue<'a>) + 's;

pub(super) struct Compact<'a> {
    rest: &'a [u8],
    path: Vec<i16>,
}

impl<'a> Compact<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Compact<'a> {
        Compact { rest: bytes, path: Vec::new() }
    }

    /// Shows all fields of the struct that the bytes begin with, and returns how many bytes are
    /// left behind it; `None` if it is damaged.
    pub(super) fn each_field(mut self, see: &mut See<'_, 'a>) -> Option<usize> {
        self.fields(see)?;
        Some(self.rest.len())
    }

    fn fields(&mut self, see: &mut See<'_, 'a>) -> Option<()> {
        if self.path.len() > DEPTH_MAX {
            return None;
        }
        let mut number = 0i16;
        loop {
            let header = self.byte()?;
            let kind = header & 0x0f;
            if kind == 0 {
                return (header == 0).then_some(());
            }
            number = match i16::from(header >> 4) {
                0 => i16::try_from(self.number()?).ok()?,
                more => number.checked_add(more)?,
            };
            self.path.push(number);
            match kind {
                // Of a field that is true or false, the kind is the value.
                1 | 2 => see(&self.path, CompactValue::Number(i64::from(kind == 1))),
                _ => self.value(kind, see)?,
            }
            self.path.pop();
        }
    }

    fn value(&mut self, kind: u8, see: &mut See<'_, 'a>) -> Option<()> {
        match kind {
            1..=3 => {
                let byte = self.byte()?;
                see(&self.path, CompactValue::Number(i64::from(byte)));
            }
            4..=6 => {
                let number = self.number()?;
                see(&self.path, CompactValue::Number(number));
            }
            7 => {
                let (bytes, rest) = self.rest.split_at_checked(8)?;
                self.rest = rest;
                see(&self.path, CompactValue::Bytes(bytes));
            }
            8 => {
                let length = usize::try_from(self.unsigned()?).ok()?;
                let (bytes, rest) = self.rest.split_at_checked(length)?;
                self.rest = rest;
                see(&self.path, CompactValue::Bytes(bytes));
            }
            9 | 10 => {
                let header = self.byte()?;
                let count = match header >> 4 {
                    15 => self.unsigned()?,
                    few => u64::from(few),
                };
                for _ in 0..count {
                    self.value(header & 0x0f, see)?;
                }
            }
            12 => {
                see(&self.path, CompactValue::Struct);
                self.fields(see)?;
            }
            // No footer has a map.
            _ => return None,
        }
        Some(())
    }

    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(byte)
    }

    /// Seven bits per byte, lowest first.
    fn unsigned(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..70).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// With the sign in the lowest bit.
    fn number(&mut self) -> Option<i64> {
        let number = self.unsigned()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }
}
