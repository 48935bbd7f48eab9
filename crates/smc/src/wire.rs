//! Bytes in, bytes out: little-endian numbers and counted lists, read with a limit on everything
//! and without allocating more than the bytes at hand can fill.

use crate::fault::WireFault;

/// Words as they are compared and hashed.
pub(crate) fn words_as_bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Where bytes go: into memory, or into a hash that need not see all of them at once.
pub(crate) trait Sink {
    fn put(&mut self, bytes: &[u8]);
}

impl Sink for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// Words that are turned into bytes together.
const WORDS_TOGETHER: usize = 512;

#[derive(Debug)]
pub(crate) struct Writer<S = Vec<u8>>(S);

impl Default for Writer {
    fn default() -> Writer {
        Writer(Vec::new())
    }
}

impl<S: Sink> Writer<S> {
    pub(crate) fn new(sink: S) -> Writer<S> {
        Writer(sink)
    }

    pub(crate) fn u8(&mut self, value: u8) {
        self.0.put(&[value]);
    }

    pub(crate) fn u16(&mut self, value: u16) {
        self.0.put(&value.to_le_bytes());
    }

    pub(crate) fn u32(&mut self, value: u32) {
        self.0.put(&value.to_le_bytes());
    }

    pub(crate) fn u64(&mut self, value: u64) {
        self.0.put(&value.to_le_bytes());
    }

    pub(crate) fn bytes(&mut self, value: &[u8]) {
        self.0.put(value);
    }

    pub(crate) fn words(&mut self, words: &[u64]) {
        self.u32(words.len() as u32);
        self.plain_words(words);
    }

    /// Words whose number is known.
    pub(crate) fn plain_words(&mut self, words: &[u64]) {
        let mut buffer = [0u8; WORDS_TOGETHER * 8];
        for chunk in words.chunks(WORDS_TOGETHER) {
            let bytes = &mut buffer[..chunk.len() * 8];
            for (place, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(chunk) {
                *place = word.to_le_bytes();
            }
            self.0.put(bytes);
        }
    }

    pub(crate) fn items(&mut self, items: &[Vec<u8>]) {
        self.u32(items.len() as u32);
        for item in items {
            self.u32(item.len() as u32);
            self.bytes(item);
        }
    }

    pub(crate) fn finish(self) -> S {
        self.0
    }
}

#[derive(Debug)]
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Reader(bytes)
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], WireFault> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(WireFault::Truncated)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], WireFault> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(WireFault::Truncated)?;
        self.0 = rest;
        Ok(*taken)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, WireFault> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    pub(crate) fn u16(&mut self) -> Result<u16, WireFault> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    pub(crate) fn u32(&mut self) -> Result<u32, WireFault> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(crate) fn u64(&mut self) -> Result<u64, WireFault> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub(crate) fn count(&mut self, max: usize) -> Result<usize, WireFault> {
        let count = self.u32()? as usize;
        if count > max { Err(WireFault::Range) } else { Ok(count) }
    }

    pub(crate) fn words(&mut self, count_max: usize) -> Result<Vec<u64>, WireFault> {
        let count = self.count(count_max)?;
        let bytes = self.take(count * 8)?;
        Ok(bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect())
    }

    pub(crate) fn items(&mut self, count_max: usize, bytes_max: usize) -> Result<Vec<Vec<u8>>, WireFault> {
        let count = self.count(count_max)?;
        // Every item has at least its length: a count beyond that is a lie, found before room is
        // made for it.
        if count * 4 > self.0.len() {
            return Err(WireFault::Truncated);
        }
        let mut items = Vec::with_capacity(count);
        for _ in 0..count {
            let length = self.count(bytes_max)?;
            items.push(self.take(length)?.to_vec());
        }
        Ok(items)
    }

    pub(crate) fn end(self) -> Result<(), WireFault> {
        if self.0.is_empty() { Ok(()) } else { Err(WireFault::Trailing) }
    }
}
