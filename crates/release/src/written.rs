//! Whether a CSV file is written as releases are: fields in quotes where they must be and nowhere
//! else, lines that end with a line feed, no blank line, no mark at the beginning. A file that is
//! not could say something by how it is written, row by row.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Of the bytes so far, all that matters to the next.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ScanState {
    /// A record or a field begins.
    Field,
    Plain,
    /// Within quotes.
    Quoted,
    /// Behind a quote within quotes: the end, or the first half of two.
    Quote,
}

/// Whether every byte of a file is where a release has it.
pub(crate) fn is_as_released(path: &Path) -> io::Result<bool> {
    let mut scan = Scan { at: ScanState::Field, fields: 0, length: 0, start: [0; 3], needs_quotes: false };
    let mut file = BufReader::new(File::open(path)?);
    loop {
        let bytes = file.fill_buf()?;
        if bytes.is_empty() {
            return Ok(scan.at == ScanState::Field && scan.fields == 0);
        }
        if !bytes.iter().all(|&byte| scan.take(byte)) {
            return Ok(false);
        }
        let read = bytes.len();
        file.consume(read);
    }
}

struct Scan {
    at: ScanState,
    /// Fields of the record that ended.
    fields: u64,
    /// Bytes of the field, without its quotes, and the first of them.
    length: usize,
    start: [u8; 3],
    /// Whether the field holds what would end it.
    needs_quotes: bool,
}

impl Scan {
    /// Whether the byte may be there.
    fn take(&mut self, byte: u8) -> bool {
        match (self.at, byte) {
            (ScanState::Field, b'"') => self.at = ScanState::Quoted,
            (ScanState::Field | ScanState::Plain, b'"' | b'\r') => return false,
            (ScanState::Field | ScanState::Plain, b',' | b'\n') => {
                // A single empty field stands in quotes.
                let is_blank = byte == b'\n' && self.fields == 0 && self.length == 0;
                return !is_blank && !self.has_mark() && self.end(byte);
            }
            (ScanState::Field | ScanState::Plain, _) => {
                self.keep(byte);
                self.at = ScanState::Plain;
            }
            (ScanState::Quoted, b'"') => self.at = ScanState::Quote,
            (ScanState::Quoted, _) => {
                self.needs_quotes |= matches!(byte, b',' | b'\n' | b'\r');
                self.keep(byte);
            }
            (ScanState::Quote, b'"') => {
                self.needs_quotes = true;
                self.keep(byte);
                self.at = ScanState::Quoted;
            }
            (ScanState::Quote, b',' | b'\n') => {
                let is_single_and_empty = byte == b'\n' && self.fields == 0 && self.length == 0;
                return (self.needs_quotes || self.has_mark() || is_single_and_empty) && self.end(byte);
            }
            (ScanState::Quote, _) => return false,
        }
        true
    }

    fn keep(&mut self, byte: u8) {
        if let Some(place) = self.start.get_mut(self.length) {
            *place = byte;
        }
        self.length += 1;
    }

    fn has_mark(&self) -> bool {
        self.length >= BYTE_ORDER_MARK.len() && self.start[..] == *BYTE_ORDER_MARK
    }

    fn end(&mut self, byte: u8) -> bool {
        let fields = if byte == b'\n' { 0 } else { self.fields + 1 };
        *self = Scan { at: ScanState::Field, fields, length: 0, start: [0; 3], needs_quotes: false };
        true
    }
}

#[cfg(test)]
mod tests {
    use hedgerow_table::records::Records;
    use rand::rngs::StdRng;
    use rand::seq::IndexedRandom;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::quoting::write_record;

    fn judged(bytes: &[u8]) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data.csv");
        std::fs::write(&path, bytes).unwrap();
        is_as_released(&path).unwrap()
    }

    #[test]
    fn other_ways_to_write_a_table_are_found() {
        for sound in ["a,b\n1,2\n", "a\n\"\"\n", "a,b\n,\n", "a\n\"x,y\"\n\"two\nlines\"\n\"say \"\"so\"\"\"\n", ""] {
            assert!(judged(sound.as_bytes()), "{sound:?}");
        }
        let others = [
            "a,b\r\n1,2\r\n",
            "a,b\n1,2",
            "a,b\n\n1,2\n",
            "a,b\n1,2\n\n",
            "a,b\n\"1\",2\n",
            "a,b\n1,\"\"\n",
            "\"a\",b\n1,2\n",
            "a\n\n",
            "\u{feff}a,b\n1,2\n",
            "a,b\n1,2\"\n",
            "a,b\n\"1,2\" ,3\n",
            "a,b\n\"1,2\n",
        ];
        for other in others {
            assert!(!judged(other.as_bytes()), "{other:?}");
        }
    }

    /// Of random bytes, those that are what the records in them would be written as.
    #[test]
    fn it_agrees_with_writing_the_records_again() {
        let mut sound = 0;
        for seed in 0..4000 {
            let random = &mut StdRng::seed_from_u64(seed);
            let parts = ["a", ",", "\n", "\"", "\r", "\u{feff}", "\"\"", "b\n", "\",\"", "é"];
            let text: String = (0..random.random_range(0..7)).map(|_| *parts.choose(random).unwrap()).collect();
            let text = if random.random() { text } else { format!("{text}\n") };
            let records: Result<Vec<_>, _> = Records::new(&text, b',').collect();
            let again = records.ok().map(|records| {
                let mut again = Vec::new();
                for record in records {
                    let fields: Vec<&str> = record.fields.iter().map(AsRef::as_ref).collect();
                    write_record(&mut again, &fields).unwrap();
                }
                again
            });
            let expected = again.is_some_and(|again| again == text.as_bytes());
            assert_eq!(judged(text.as_bytes()), expected, "seed {seed}: {text:?}");
            sound += usize::from(expected && !text.is_empty());
        }
        assert!(sound > 100, "{sound}");
    }
}
