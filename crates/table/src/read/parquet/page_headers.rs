//! Where the pages of a column are: its bytes are pages of cells and dictionaries to the last, each
//! with a header that says nothing else.

use std::fs::File;
use std::io::{Read, Result, Seek, SeekFrom, copy, sink};

use flate2::CrcReader;
use parquet::file::metadata::ColumnChunkMetaData;

use super::compact::{Compact, CompactValue};

/// No honest header of a page is longer.
const PAGE_HEADER_BYTES: usize = 1 << 16;

/// A page of cells, with its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PageOfCells {
    pub(super) place: u64,
    pub(super) bytes: u64,
    pub(super) cells: u64,
}

/// The pages of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ColumnPages {
    pub(super) start: u64,
    pub(super) bytes: u64,
    /// Before compression.
    pub(super) plain_bytes: u64,
    pub(super) dictionaries: u64,
    pub(super) of_cells: Vec<PageOfCells>,
}

/// The pages of a column; `None` where it has others than cells and dictionaries, or bytes that are
/// in none.
pub(super) fn pages_of(file: &mut File, column: &ColumnChunkMetaData) -> Result<Option<ColumnPages>> {
    let Some((start, bytes)) = range_of(column) else { return Ok(None) };
    let Some(end) = start.checked_add(bytes) else { return Ok(None) };
    let mut pages = ColumnPages { start, bytes, plain_bytes: 0, dictionaries: 0, of_cells: Vec::new() };
    let mut place = start;
    while place < end {
        file.seek(SeekFrom::Start(place))?;
        let mut header = Vec::new();
        file.by_ref().take((end - place).min(PAGE_HEADER_BYTES as u64)).read_to_end(&mut header)?;
        let Some(PageHeader { length, body, plain, cells, checksum }) = header_at(&header) else { return Ok(None) };
        if let Some(checksum) = checksum
            && checksum_of(file, place + length, body)? != checksum
        {
            return Ok(None);
        }
        let bytes = length.saturating_add(body);
        match cells {
            Some(cells) => pages.of_cells.push(PageOfCells { place, bytes, cells }),
            None => pages.dictionaries += 1,
        }
        pages.plain_bytes = pages.plain_bytes.saturating_add(length).saturating_add(plain);
        place = place.saturating_add(bytes);
    }
    Ok((place == end).then_some(pages))
}

/// Where the pages of a column begin, and how many bytes they take.
pub(super) fn range_of(column: &ColumnChunkMetaData) -> Option<(u64, u64)> {
    let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
    Some((u64::try_from(start).ok()?, u64::try_from(column.compressed_size()).ok()?))
}

/// A page's header, and what it says of the page.
struct PageHeader {
    length: u64,
    /// How many bytes follow the header.
    body: u64,
    /// How many they are before compression.
    plain: u64,
    /// How many cells they hold, unless they are a dictionary.
    cells: Option<u64>,
    checksum: Option<u32>,
}

/// The header that the bytes begin with; `None` for a page that holds neither cells nor a
/// dictionary.
fn header_at(bytes: &[u8]) -> Option<PageHeader> {
    const DATA: i64 = 0;
    const DICTIONARY: i64 = 2;
    const DATA_V2: i64 = 3;
    let (mut kind, mut body, mut plain, mut cells, mut checksum) = (None, None, None, None, None);
    let mut is_known = true;
    let rest = Compact::new(bytes).each_field(&mut |path, found| match (path, found) {
        ([1], CompactValue::Number(number)) => kind = Some(number),
        ([3], CompactValue::Number(number)) => body = u64::try_from(number).ok(),
        // Its bits are those of a number with a sign.
        ([4], CompactValue::Number(number)) => match i32::try_from(number) {
            Ok(number) => checksum = Some(number.cast_unsigned()),
            Err(_) => is_known = false,
        },
        ([2], CompactValue::Number(number)) => plain = u64::try_from(number).ok(),
        ([5 | 7 | 8], CompactValue::Struct) => {}
        ([5 | 8, 1], CompactValue::Number(number)) => cells = u64::try_from(number).ok(),
        ([5, 2..=4] | [7, 1..=3] | [8, 2..=7], CompactValue::Number(_)) => {}
        _ => is_known = false,
    })?;
    let cells = match kind.filter(|_| is_known)? {
        DATA | DATA_V2 => Some(cells?),
        DICTIONARY => None,
        _ => return None,
    };
    Some(PageHeader { length: (bytes.len() - rest) as u64, body: body?, plain: plain?, cells, checksum })
}

/// The checksum of a page's bytes; readers do not ask for it.
fn checksum_of(file: &mut File, start: u64, length: u64) -> Result<u32> {
    file.seek(SeekFrom::Start(start))?;
    let mut checked = CrcReader::new(file.take(length));
    copy(&mut checked, &mut sink())?;
    Ok(checked.crc().sum())
}
