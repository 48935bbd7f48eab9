//! Small delimited files, read strictly and whole: hierarchy files and codebooks.
//!
//! The reader for data of any size lives elsewhere; here the file fits in memory, every record
//! knows its line, and anything doubtful is refused rather than repaired.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::error::{InputError, TableError};
use crate::read::delimiter::{self, SAMPLE_BYTES};

/// The delimiters a hierarchy file may use; when a file could be read with several, the first one
/// here is taken.
const DELIMITERS: [u8; 3] = *b";\t,";

/// The whole file as text, without its byte order mark.
pub fn read_text(path: &Path, bytes_max: u64) -> Result<String, TableError> {
    let file = File::open(path).map_err(|error| TableError::io(path, error))?;
    let mut bytes = Vec::new();
    file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(|error| TableError::io(path, error))?;
    if bytes.len() as u64 > bytes_max {
        let problem = format!("the file is larger than {}", size(bytes_max));
        return Err(TableError::input(path.display().to_string(), problem, "check that this is the right file"));
    }
    if bytes.starts_with(b"\xEF\xBB\xBF") {
        bytes.drain(..3);
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + valid.iter().filter(|byte| **byte == b'\n').count() as u64;
        InputError::at_line(path, line, "the text is not UTF-8", "save the file in the encoding UTF-8").into()
    })
}

fn size(bytes: u64) -> String {
    if bytes >= 1 << 20 { format!("{} MiB", bytes >> 20) } else { format!("{bytes} bytes") }
}

/// One record, and the line its first field begins on.
#[derive(Debug, PartialEq)]
pub struct Record<'a> {
    pub line: u64,
    pub fields: Vec<Cow<'a, str>>,
}

/// The problem with a text, and its line.
#[derive(Debug, PartialEq)]
pub struct Malformed {
    pub line: u64,
    pub problem: &'static str,
}

impl Malformed {
    pub fn in_file(self, path: &Path) -> TableError {
        let hint = "a field that holds quotes must be quoted as a whole, each quote inside it doubled";
        InputError::at_line(path, self.line, self.problem, hint).into()
    }
}

/// The records of a text. Blank lines are skipped; lines end with LF, CRLF or CR; a quoted field
/// may span lines.
#[derive(Debug)]
pub struct Records<'a> {
    text: &'a str,
    delimiter: u8,
    position: usize,
    line: u64,
}

impl<'a> Records<'a> {
    pub fn new(text: &'a str, delimiter: u8) -> Records<'a> {
        Records { text, delimiter, position: 0, line: 1 }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    /// Steps over one line ending, when there is one here.
    fn skip_line_ending(&mut self) -> bool {
        let rest = &self.text.as_bytes()[self.position..];
        let length = match rest {
            [b'\r', b'\n', ..] => 2,
            [b'\r' | b'\n', ..] => 1,
            _ => return false,
        };
        self.position += length;
        self.line += 1;
        true
    }

    fn record(&mut self) -> Result<Record<'a>, Malformed> {
        let line = self.line;
        let mut fields = Vec::new();
        loop {
            fields.push(if self.byte() == Some(b'"') { self.quoted()? } else { self.plain() });
            if self.byte() == Some(self.delimiter) {
                self.position += 1;
            } else {
                // A plain field stops nowhere else than here; a quoted one has been checked to.
                self.skip_line_ending();
                return Ok(Record { line, fields });
            }
        }
    }

    fn plain(&mut self) -> Cow<'a, str> {
        let rest = &self.text[self.position..];
        let ends = |byte: &u8| *byte == self.delimiter || matches!(byte, b'\n' | b'\r');
        let length = rest.as_bytes().iter().position(ends).unwrap_or(rest.len());
        self.position += length;
        Cow::Borrowed(&rest[..length])
    }

    fn quoted(&mut self) -> Result<Cow<'a, str>, Malformed> {
        let opened = self.line;
        self.position += 1;
        let mut doubled: Option<String> = None;
        loop {
            let rest = &self.text[self.position..];
            let Some(length) = rest.as_bytes().iter().position(|byte| *byte == b'"') else {
                return Err(Malformed { line: opened, problem: "a quote opens here and is never closed" });
            };
            let part = &rest[..length];
            self.line += line_endings(part);
            self.position += length + 1;
            match self.byte() {
                Some(b'"') => {
                    let content = doubled.get_or_insert_default();
                    content.push_str(part);
                    content.push('"');
                    self.position += 1;
                }
                None | Some(b'\n' | b'\r') => return Ok(joined(doubled, part)),
                Some(byte) if byte == self.delimiter => return Ok(joined(doubled, part)),
                Some(_) => {
                    return Err(Malformed { line: self.line, problem: "text follows the closing quote of a field" });
                }
            }
        }
    }
}

fn joined(doubled: Option<String>, last: &str) -> Cow<'_, str> {
    match doubled {
        Some(content) => Cow::Owned(content + last),
        None => Cow::Borrowed(last),
    }
}

fn line_endings(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let ends = |index: usize| bytes[index] == b'\n' || (bytes[index] == b'\r' && bytes.get(index + 1) != Some(&b'\n'));
    (0..bytes.len()).filter(|index| ends(*index)).count() as u64
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.skip_line_ending() {}
        if self.position == self.text.len() {
            return None;
        }
        let record = self.record();
        if record.is_err() {
            self.position = self.text.len();
        }
        Some(record)
    }
}

/// The delimiter of a text, found in its beginning.
pub fn detect_delimiter(text: &str) -> u8 {
    let sample = &text.as_bytes()[..text.len().min(SAMPLE_BYTES)];
    delimiter::detect(sample, sample.len() == text.len(), b'"', &DELIMITERS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str, delimiter: u8) -> Result<Vec<(u64, Vec<String>)>, Malformed> {
        Records::new(text, delimiter)
            .map(|record| record.map(|record| (record.line, record.fields.into_iter().map(Cow::into_owned).collect())))
            .collect()
    }

    fn owned(fields: &[&str]) -> Vec<String> {
        fields.iter().map(|field| (*field).to_owned()).collect()
    }

    #[test]
    fn records_know_their_lines_through_blank_lines_and_quoted_newlines() {
        let text = "a;b\r\n\r\n\"x;\"\"y\"\"\r\nz\";c\n\"\"\nlast;\"é\"";
        let expected = vec![
            (1, owned(&["a", "b"])),
            (3, owned(&["x;\"y\"\r\nz", "c"])),
            (5, owned(&[""])),
            (6, owned(&["last", "é"])),
        ];
        assert_eq!(split(text, b';'), Ok(expected));
        assert_eq!(split("a\rb\r", b';'), Ok(vec![(1, owned(&["a"])), (2, owned(&["b"]))]));
        assert_eq!(split("a;\n;", b';'), Ok(vec![(1, owned(&["a", ""])), (2, owned(&["", ""]))]));
        assert_eq!(split("", b';'), Ok(vec![]));
        assert_eq!(split("\n\r\n", b';'), Ok(vec![]));
    }

    #[test]
    fn a_quote_out_of_place_is_refused_with_its_line() {
        assert_eq!(split("a\n\"b\nc", b';').unwrap_err().line, 2);
        assert_eq!(split("a\n\"b\nc\"d", b';').unwrap_err().line, 3);
        assert_eq!(split("5\" pipe;x", b';'), Ok(vec![(1, owned(&["5\" pipe", "x"]))]));
    }

    #[test]
    fn the_delimiter_is_the_one_that_splits_evenly() {
        assert_eq!(detect_delimiter("a;b\nc;d"), b';');
        assert_eq!(detect_delimiter("a,b\nc,d"), b',');
        assert_eq!(detect_delimiter("a\tb, c\nd\te"), b'\t');
        assert_eq!(detect_delimiter("\"a;b\",x\n\"c;d\",y"), b',');
        assert_eq!(detect_delimiter("a, b;x\nc, d;y"), b';', "both split evenly; ARX's own comes first");
        assert_eq!(detect_delimiter("a,b,c\nd,e"), b',', "ragged, but nothing else splits it");
        assert_eq!(detect_delimiter("a;b\nc;d;e\nf,g;h"), b';');
        assert_eq!(detect_delimiter("alone"), b';');
    }

    #[test]
    fn a_file_is_refused_past_its_limit_or_out_of_its_encoding() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("small.csv");
        std::fs::write(&path, b"\xEF\xBB\xBFabc").unwrap();
        assert_eq!(read_text(&path, 6).unwrap(), "abc");
        assert!(read_text(&path, 5).unwrap_err().to_string().contains("larger than 5 bytes"));
        std::fs::write(&path, b"ab\ncd\xFF\n").unwrap();
        assert!(read_text(&path, 100).unwrap_err().to_string().contains("small.csv:2: the text is not UTF-8"));
        assert!(matches!(read_text(&directory.path().join("none.csv"), 9), Err(TableError::Io { .. })));
    }
}
