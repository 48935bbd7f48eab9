//! A file read from place to place, never beyond its end.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use crate::TableError;

/// The rule of the format that a file breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Damage(pub(super) &'static str);

const HINT: &str = "open it in Stata and save it again, or export it as .csv";

impl Damage {
    pub(super) fn refuse(self, path: &Path) -> TableError {
        TableError::input(path.display().to_string(), format!("not a sound Stata file ({})", self.0), HINT)
    }

    pub(super) fn in_cell(self, path: &Path, row: u64, column: &str) -> TableError {
        let place = format!("{}: row {}", path.display(), row + 1);
        TableError::input(place, format!("column `{column}`: {}", self.0), HINT)
    }
}

const ENDS: Damage = Damage("it ends too early");

/// The bytes of a file from some place on.
pub(super) struct Section {
    file: BufReader<File>,
    at: u64,
    length: u64,
    buffer: Vec<u8>,
}

impl Section {
    pub(super) fn new(file: File, length: u64) -> Section {
        Section { file: BufReader::with_capacity(1 << 18, file), at: 0, length, buffer: Vec::new() }
    }

    pub(super) fn go_to(&mut self, place: u64) -> Result<(), Damage> {
        if place > self.length {
            return Err(ENDS);
        }
        self.file.seek(SeekFrom::Start(place)).map_err(|_| ENDS)?;
        self.at = place;
        Ok(())
    }

    pub(super) fn at(&self) -> u64 {
        self.at
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.length
    }

    /// The next bytes, held until the next call.
    pub(super) fn take(&mut self, count: usize) -> Result<&[u8], Damage> {
        if count as u64 > self.length - self.at {
            return Err(ENDS);
        }
        self.buffer.resize(count, 0);
        self.file.read_exact(&mut self.buffer).map_err(|_| ENDS)?;
        self.at += count as u64;
        Ok(&self.buffer)
    }

    pub(super) fn skip(&mut self, count: u64) -> Result<(), Damage> {
        let place = self.at.checked_add(count).ok_or(ENDS)?;
        self.go_to(place)
    }

    pub(super) fn expect(&mut self, mark: &'static [u8]) -> Result<(), Damage> {
        if self.take(mark.len())? == mark { Ok(()) } else { Err(Damage("a section is not where it should be")) }
    }
}
