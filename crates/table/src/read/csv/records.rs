//! The records of one block as codes: a fast way for blocks of plain fields, an exact one for all
//! others.

use memchr::{memchr, memchr_iter};

use crate::Codes;
use crate::read::ReadLimits;
use crate::read::assemble::widen;
use crate::read::blocks::{Block, LONE_RETURN, LONE_RETURN_HINT, Quoting, closing_quote};
use crate::read::delimiter;
use crate::read::interner::Interner;
use crate::read::marks::Marks;

/// The problem, and its byte in the block.
#[derive(Debug)]
pub(super) struct Trouble {
    pub(super) position: usize,
    pub(super) problem: String,
    pub(super) hint: &'static str,
}

impl Trouble {
    fn new(position: usize, problem: impl Into<String>, hint: &'static str) -> Trouble {
        Trouble { position, problem: problem.into(), hint }
    }
}

/// The dictionary that takes the fields of a column; `SKIPPED` columns are stepped over.
pub(super) type FieldSlot = u32;
pub(super) const SKIPPED: FieldSlot = FieldSlot::MAX;

/// Codes wait in a small row-wise tile until they are moved to their columns, so that writing stays
/// sequential.
const TILE_CELLS: usize = 8192;

pub(super) struct RecordReader<'a> {
    quoting: Quoting,
    limits: &'a ReadLimits,
    /// One for each column of the file.
    slots: &'a [FieldSlot],
    pub(super) dictionaries: Vec<Interner>,
    tile: Vec<u32>,
    columns: Vec<Codes>,
    unescaped: Vec<u8>,
}

/// How far a block was read.
pub(super) struct Progress {
    pub(super) rows: usize,
    pub(super) position: usize,
}

impl<'a> RecordReader<'a> {
    pub(super) fn new(quoting: Quoting, slots: &'a [FieldSlot], limits: &'a ReadLimits) -> RecordReader<'a> {
        let kept = slots.iter().filter(|&&slot| slot != SKIPPED).count();
        RecordReader {
            quoting,
            limits,
            slots,
            dictionaries: (0..kept).map(|_| Interner::with_keys(limits.keys)).collect(),
            tile: Vec::with_capacity(TILE_CELLS + kept),
            columns: Vec::new(),
            unescaped: Vec::new(),
        }
    }

    /// Reads at most `most_rows` rows. Their codes are then in `take_columns`.
    pub(super) fn read(&mut self, block: &Block, most_rows: usize) -> Result<Progress, Trouble> {
        check_text(block.bytes())?;
        self.tile.clear();
        self.columns = self.dictionaries.iter().map(|d| Codes::with_capacity(d.cardinality(), 0)).collect();
        let bytes = block.bytes();
        let exact = block.quoted || bytes.len() > self.limits.field_bytes || has_lone_return(bytes);
        let mut finders = Finders::new(block.padded(), self.quoting);
        let mut progress = Progress { rows: 0, position: 0 };
        while progress.position < bytes.len() {
            if self.slots.len() > 1
                && let Some(length) = empty_line(&bytes[progress.position..])
            {
                progress.position += length;
                finders.separators.seek(progress.position);
                continue;
            }
            if progress.rows == most_rows {
                break;
            }
            progress.position = if exact {
                self.exact_record(bytes, block.padded(), progress.position, &mut finders)?
            } else {
                self.plain_record(block.padded(), progress.position, &mut finders.separators)?
            };
            progress.rows += 1;
            if self.tile.len() >= TILE_CELLS {
                self.flush();
            }
        }
        self.flush();
        Ok(progress)
    }

    /// The codes of the block last read, one column for each dictionary.
    pub(super) fn take_columns(&mut self) -> Vec<Codes> {
        std::mem::take(&mut self.columns)
    }

    /// Reads a record without quotes and stray carriage returns; where the next one begins.
    #[inline]
    fn plain_record(&mut self, padded: &[u8], start: usize, separators: &mut Marks) -> Result<usize, Trouble> {
        let mut from = start;
        let last = self.slots.len() - 1;
        for (index, &slot) in self.slots.iter().enumerate() {
            let to = separators.next();
            let ends = padded[to] == b'\n';
            if ends != (index == last) {
                return Err(self.uneven(padded, start));
            }
            if slot != SKIPPED {
                let stop = if ends { before_return(padded, from, to) } else { to };
                let code = self.dictionaries[slot as usize].code_at(padded, from, stop - from);
                self.tile.push(code);
            }
            from = to + 1;
        }
        Ok(from)
    }

    /// Reads any record; where the next one begins.
    fn exact_record(
        &mut self,
        bytes: &[u8],
        padded: &[u8],
        start: usize,
        finders: &mut Finders,
    ) -> Result<usize, Trouble> {
        let mut from = start;
        let mut index = 0;
        loop {
            let field = exact_field(bytes, from, self.quoting, finders, self.limits)?;
            if let Some(&slot) = self.slots.get(index)
                && slot != SKIPPED
            {
                let dictionary = &mut self.dictionaries[slot as usize];
                let code = if field.doubled {
                    unescape(&bytes[field.start..field.end], self.quoting.quote, &mut self.unescaped);
                    dictionary.code(&self.unescaped)
                } else {
                    dictionary.code_at(padded, field.start, field.end - field.start)
                };
                self.tile.push(code);
            }
            index += 1;
            from = field.next;
            if field.last {
                break;
            }
        }
        if index != self.slots.len() { Err(self.uneven_count(start, index)) } else { Ok(from) }
    }

    fn flush(&mut self) {
        let width = self.columns.len();
        for (index, (column, dictionary)) in self.columns.iter_mut().zip(&self.dictionaries).enumerate() {
            widen(column, dictionary.cardinality());
            let cells = self.tile.chunks_exact(width).map(|row| row[index]);
            match column {
                Codes::U8(codes) => codes.extend(cells.map(|code| code as u8)),
                Codes::U16(codes) => codes.extend(cells.map(|code| code as u16)),
                Codes::U32(codes) => codes.extend(cells),
            }
        }
        self.tile.clear();
    }

    #[cold]
    fn uneven(&self, padded: &[u8], start: usize) -> Trouble {
        let mut separators = Marks::new(padded, [self.quoting.delimiter, b'\n']);
        separators.seek(start);
        let mut fields = 1;
        while padded[separators.next()] != b'\n' {
            fields += 1;
        }
        self.uneven_count(start, fields)
    }

    fn uneven_count(&self, start: usize, found: usize) -> Trouble {
        let expected = self.slots.len();
        let fields = if expected == 1 { "field" } else { "fields" };
        let delimiter = delimiter::name(self.quoting.delimiter);
        Trouble::new(
            start,
            format!("expected {expected} {fields} as in the header, found {found} (separated by {delimiter})"),
            "mend the line, quote fields that hold the delimiter, or give the right delimiter",
        )
    }
}

/// The fields of one record, as a header needs them, and where the next record begins.
pub(super) fn texts_of_record(
    block: &Block,
    quoting: Quoting,
    limits: &ReadLimits,
) -> Result<(Vec<String>, usize), Trouble> {
    let bytes = block.bytes();
    check_text(bytes)?;
    let mut finders = Finders::new(block.padded(), quoting);
    let (mut texts, mut from, mut unescaped) = (Vec::new(), 0, Vec::new());
    loop {
        let field = exact_field(bytes, from, quoting, &mut finders, limits)?;
        unescape(&bytes[field.start..field.end], if field.doubled { quoting.quote } else { 0 }, &mut unescaped);
        texts.push(String::from_utf8_lossy(&unescaped).into_owned());
        from = field.next;
        if field.last {
            return Ok((texts, from));
        }
    }
}

/// Delimiters and newlines, and quotes, of one block.
struct Finders<'a> {
    separators: Marks<'a>,
    quotes: Marks<'a>,
}

impl<'a> Finders<'a> {
    fn new(padded: &'a [u8], quoting: Quoting) -> Finders<'a> {
        Finders {
            separators: Marks::new(padded, [quoting.delimiter, b'\n']),
            quotes: Marks::new(padded, [quoting.quote; 2]),
        }
    }
}

struct CsvField {
    start: usize,
    end: usize,
    /// Whether quotes inside stand doubled.
    doubled: bool,
    next: usize,
    /// Whether the record ends here.
    last: bool,
}

fn exact_field(
    bytes: &[u8],
    from: usize,
    quoting: Quoting,
    finders: &mut Finders,
    limits: &ReadLimits,
) -> Result<CsvField, Trouble> {
    let field = if bytes[from] == quoting.quote {
        let field = quoted_field(bytes, from, quoting, &mut finders.quotes)?;
        finders.separators.seek(field.next);
        field
    } else {
        let to = finders.separators.next();
        let last = bytes[to] == b'\n';
        let end = if last { before_return(bytes, from, to) } else { to };
        if let Some(offset) = memchr(b'\r', &bytes[from..end]) {
            return Err(Trouble::new(from + offset, LONE_RETURN, LONE_RETURN_HINT));
        }
        CsvField { start: from, end, doubled: false, next: to + 1, last }
    };
    if field.end - field.start > limits.field_bytes {
        let problem = format!("a field of over {} bytes", limits.field_bytes);
        return Err(Trouble::new(from, problem, "omit the column, or shorten the field"));
    }
    Ok(field)
}

fn quoted_field(bytes: &[u8], open: usize, quoting: Quoting, quotes: &mut Marks) -> Result<CsvField, Trouble> {
    let Some((close, doubled)) = closing_quote(bytes, open, quotes) else {
        return Err(Trouble::new(
            open,
            "the quoted field that opens here is never closed",
            "close the quote; inside quotes, a quote is written twice",
        ));
    };
    let mut after = close + 1;
    if bytes[after..].starts_with(b"\r\n") {
        after += 1;
    }
    let last = bytes.get(after) == Some(&b'\n');
    if !last && bytes.get(after) != Some(&quoting.delimiter) {
        return Err(Trouble::new(
            close,
            "text after the closing quote of a field",
            "inside quotes, a quote is written twice; after the closing quote comes the delimiter or the line's end",
        ));
    }
    Ok(CsvField { start: open + 1, end: close, doubled, next: after + 1, last })
}

/// Writes `text` with every doubled quote single.
fn unescape(text: &[u8], quote: u8, into: &mut Vec<u8>) {
    into.clear();
    let mut from = 0;
    for at in memchr_iter(quote, text).step_by(2) {
        into.extend_from_slice(&text[from..=at]);
        from = at + 2;
    }
    into.extend_from_slice(&text[from..]);
}

#[inline]
fn before_return(bytes: &[u8], from: usize, newline: usize) -> usize {
    if newline > from && bytes[newline - 1] == b'\r' { newline - 1 } else { newline }
}

#[inline]
fn empty_line(rest: &[u8]) -> Option<usize> {
    match rest {
        [b'\n', ..] => Some(1),
        [b'\r', b'\n', ..] => Some(2),
        _ => None,
    }
}

fn has_lone_return(bytes: &[u8]) -> bool {
    memchr_iter(b'\r', bytes).any(|at| bytes.get(at + 1) != Some(&b'\n'))
}

/// Text only: valid UTF-8 without NUL.
pub(super) fn check_text(bytes: &[u8]) -> Result<(), Trouble> {
    if let Some(position) = memchr(0, bytes) {
        return Err(Trouble::new(
            position,
            "a NUL byte, which no text file holds",
            "the file is binary or UTF-16: export it as UTF-8 text",
        ));
    }
    std::str::from_utf8(bytes).map(drop).map_err(|error| {
        Trouble::new(
            error.valid_up_to(),
            "bytes that are not UTF-8",
            "convert the file, for example with: iconv -f WINDOWS-1252 -t UTF-8",
        )
    })
}
