//! A source cut into blocks that end where a record ends, so that each can be read on its own.
//!
//! Whether a newline ends a record depends on every quote before it, so the cut follows the quotes
//! exactly. It looks only at quotes: a block without any costs one quick search and a look from its
//! end.

use memchr::{memchr, memchr_iter, memrchr};

use super::ReadLimits;
use super::interner::PADDING;
use super::marks::Marks;
use super::source::SourceBytes;
use crate::{InputError, TableError};

/// Where quoted fields can begin. Formats whose records are single lines have no quoting.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quoting {
    pub(super) delimiter: u8,
    pub(super) quote: u8,
}

/// Whole records, each ended by a newline. The buffer goes on for at least `PADDING` meaningless
/// bytes.
#[derive(Debug, Default)]
pub(super) struct Block {
    buffer: Vec<u8>,
    length: usize,
    pub(super) index: usize,
    /// The line in the file, from 1, on which the block begins.
    pub(super) first_line: u64,
    /// Whether the quote occurs at all.
    pub(super) quoted: bool,
}

impl Block {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer[..self.length]
    }

    pub(super) fn padded(&self) -> &[u8] {
        &self.buffer[..self.length + PADDING]
    }

    pub(super) fn line_at(&self, position: usize) -> u64 {
        self.first_line + lines_in(&self.bytes()[..position])
    }
}

pub(super) fn lines_in(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

pub(super) struct Blocks<'a> {
    source: SourceBytes<'a>,
    /// Bytes already read that belong to the next block.
    carried: Vec<u8>,
    ended: bool,
    quoting: Option<Quoting>,
    limits: ReadLimits,
    index: usize,
    line: u64,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(source: SourceBytes<'a>, quoting: Option<Quoting>, limits: &ReadLimits) -> Blocks<'a> {
        Blocks { source, carried: Vec::new(), ended: false, quoting, limits: *limits, index: 0, line: 1 }
    }

    /// The same, where the source begins with another line of the file than the first.
    pub(super) fn starting_at_line(self, line: u64) -> Blocks<'a> {
        Blocks { line, ..self }
    }

    /// How many blocks were cut so far.
    pub(super) fn cut(&self) -> usize {
        self.index
    }

    /// The next block, read into the buffer of an old one; `false` at the end.
    pub(super) fn next_into(&mut self, block: &mut Block) -> Result<bool, TableError> {
        let mut length = self.carried.len();
        block.buffer.resize(block.buffer.len().max(length), 0);
        block.buffer[..length].copy_from_slice(&self.carried);
        self.carried.clear();
        let mut wanted = self.limits.block_bytes.max(length + 1);
        loop {
            length = self.fill(&mut block.buffer, length, wanted)?;
            if length == 0 {
                return Ok(false);
            }
            // Room for padding and for the newline that a last line may lack.
            block.buffer.resize(block.buffer.len().max(length + 1 + PADDING), 0);
            let scan = scan(&block.buffer[..length + PADDING], self.quoting);
            // At the end all is handed over, also a quote left open: its reader then names the
            // first mistake.
            let end = if self.ended { length } else { scan.boundary };
            if end > 0 {
                self.finish(block, length, end, scan.quoted);
                return Ok(true);
            }
            self.check_record(&block.buffer[..length], scan.open)?;
            wanted = length * 2;
        }
    }

    fn fill(&mut self, buffer: &mut Vec<u8>, length: usize, wanted: usize) -> Result<usize, TableError> {
        if self.ended {
            return Ok(length);
        }
        buffer.resize(buffer.len().max(wanted), 0);
        let filled = length + self.source.fill(&mut buffer[length..wanted])?;
        self.ended = filled < wanted;
        Ok(filled)
    }

    fn finish(&mut self, block: &mut Block, length: usize, end: usize, quoted: bool) {
        self.carried.extend_from_slice(&block.buffer[end..length]);
        block.length = end;
        if block.buffer[end - 1] != b'\n' {
            block.buffer[end] = b'\n';
            block.length += 1;
        }
        block.index = self.index;
        block.first_line = self.line;
        block.quoted = quoted;
        self.index += 1;
        self.line += lines_in(block.bytes());
    }

    /// Begins again after the first `end` bytes of a block.
    pub(super) fn resume_after(&mut self, block: &Block, end: usize) {
        let carried = std::mem::replace(&mut self.carried, block.bytes()[end..].to_vec());
        self.carried.extend_from_slice(&carried);
        self.line = block.line_at(end);
        self.index = 0;
    }

    fn check_record(&self, bytes: &[u8], open: Option<usize>) -> Result<(), TableError> {
        match open {
            Some(open) if bytes.len() - open > self.limits.field_bytes => {
                let line = self.line + lines_in(&bytes[..open]);
                let problem = format!("the quoted field that opens here is over {} bytes", self.limits.field_bytes);
                Err(self.refuse(line, problem, "check whether its closing quote is missing"))
            }
            None if bytes.len() > self.limits.record_bytes && memchr(b'\r', bytes).is_some() => {
                Err(self.refuse(self.line, LONE_RETURN, LONE_RETURN_HINT))
            }
            _ if bytes.len() > self.limits.record_bytes => {
                let problem = format!("a line of over {} bytes", self.limits.record_bytes);
                Err(self.refuse(self.line, problem, "check that this is a text file with one record per line"))
            }
            _ => Ok(()),
        }
    }

    fn refuse(&self, line: u64, problem: impl Into<String>, hint: &str) -> TableError {
        InputError::at_line(self.source.path(), line, problem, hint).into()
    }
}

pub(super) const LONE_RETURN: &str = "a carriage return that is not followed by a newline";
pub(super) const LONE_RETURN_HINT: &str =
    "old Macintosh files end lines this way: convert the line ends (tr '\\r' '\\n'), or quote the field";

struct Scan {
    /// Just after the last newline outside quotes; 0 when there is none.
    boundary: usize,
    /// Where a quoted field opens that these bytes do not close.
    open: Option<usize>,
    quoted: bool,
}

/// `padded` begins with a record and ends with padding. A quote at the very end may be half of a
/// doubled one, so it does not close its field.
fn scan(padded: &[u8], quoting: Option<Quoting>) -> Scan {
    let bytes = &padded[..padded.len() - PADDING];
    let after_last_newline = |from: usize, to: usize| memrchr(b'\n', &bytes[from..to]).map(|at| from + at + 1);
    let mut scan = Scan { boundary: 0, open: None, quoted: false };
    let quoting = quoting.filter(|quoting| memchr(quoting.quote, bytes).is_some());
    let Some(Quoting { delimiter, quote }) = quoting else {
        scan.boundary = after_last_newline(0, bytes.len()).unwrap_or(0);
        return scan;
    };
    scan.quoted = true;
    let mut quotes = Marks::new(padded, [quote; 2]);
    let mut gap = 0;
    while let Some(at) = quotes.next_if_any() {
        let opens = at == 0 || bytes[at - 1] == delimiter || bytes[at - 1] == b'\n';
        if !opens {
            continue;
        }
        // Between two quoted fields there is mostly one byte, the delimiter: no need to search it.
        if at > gap + 1 || bytes[gap] == b'\n' {
            scan.boundary = after_last_newline(gap, at).unwrap_or(scan.boundary);
        }
        match closing_quote(bytes, at, &mut quotes) {
            Some((close, _)) if close + 1 < bytes.len() => gap = close + 1,
            _ => {
                scan.open = Some(at);
                return scan;
            }
        }
    }
    scan.boundary = after_last_newline(gap, bytes.len()).unwrap_or(scan.boundary);
    scan
}

/// The quote that closes the field opened at `open`, and whether doubled ones stand before it.
#[inline]
pub(super) fn closing_quote(bytes: &[u8], open: usize, quotes: &mut Marks) -> Option<(usize, bool)> {
    quotes.seek(open + 1);
    let mut doubled = false;
    loop {
        let at = quotes.next_if_any()?;
        if bytes.get(at + 1) != Some(&bytes[open]) {
            return Some((at, doubled));
        }
        doubled = true;
        quotes.seek(at + 2);
    }
}
