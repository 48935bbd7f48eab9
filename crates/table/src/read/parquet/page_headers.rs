//! Where the pages of a column are: its bytes are pages of cells and dictionaries to the last, each
//! with a header that says nothing else.

use std::fs::File;
use std::io::{Read, Result, Seek, SeekFrom, copy, sink};

use flate2::CrcReader;
use parquet::file::metadata::ColumnChunkMetaData;

use super::compact::{Compact, CompactValue};
use super::frame::is_one_frame;

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
    pub(super) in_order: Vec<PageKind>,
    /// Whether each is as `hedgerow` writes it.
    pub(super) are_released: bool,
}

impl ColumnPages {
    pub(super) fn cells(&self) -> u64 {
        self.of_cells.iter().map(|page| page.cells).sum()
    }
}

/// What a page holds, of those that `hedgerow` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageKind {
    Dictionary,
    Positions,
    Values,
}

/// The pages of a column; `None` where it has others than cells and dictionaries, or bytes that are
/// in none. The bodies of pages are looked at where `hedgerow` wrote them.
pub(super) fn pages_of(file: &mut File, column: &ColumnChunkMetaData, are_ours: bool) -> Result<Option<ColumnPages>> {
    let Some((start, bytes)) = range_of(column) else { return Ok(None) };
    let Some(end) = start.checked_add(bytes) else { return Ok(None) };
    let mut pages = ColumnPages {
        start,
        bytes,
        plain_bytes: 0,
        dictionaries: 0,
        of_cells: Vec::new(),
        in_order: Vec::new(),
        are_released: are_ours,
    };
    let mut place = start;
    while place < end {
        file.seek(SeekFrom::Start(place))?;
        let mut bytes = Vec::new();
        file.by_ref().take((end - place).min(PAGE_HEADER_BYTES as u64)).read_to_end(&mut bytes)?;
        let Some(header) = header_at(&bytes) else { return Ok(None) };
        if let Some(checksum) = header.checksum
            && checksum_of(file, place + header.length, header.body)? != checksum
        {
            return Ok(None);
        }
        if are_ours {
            let kind = header.kind_of_ours(&bytes);
            pages.in_order.extend(kind);
            file.seek(SeekFrom::Start(place + header.length))?;
            let mut body = Vec::new();
            file.by_ref().take(header.body.min(end - place)).read_to_end(&mut body)?;
            pages.are_released &= kind.is_some() && is_one_frame(&body, header.plain);
        }
        let bytes = header.length.saturating_add(header.body);
        match header.holds {
            Holds::Cells(cells) => pages.of_cells.push(PageOfCells { place, bytes, cells }),
            Holds::Values(_) => pages.dictionaries += 1,
        }
        pages.plain_bytes = pages.plain_bytes.saturating_add(header.length).saturating_add(header.plain);
        place = place.saturating_add(bytes);
    }
    // Positions point into the dictionary before them; there is one.
    pages.are_released &= pages.in_order.iter().skip(1).all(|kind| *kind != PageKind::Dictionary);
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
    holds: Holds,
    checksum: Option<u32>,
}

#[derive(Clone, Copy)]
enum Holds {
    Cells(u64),
    /// A dictionary, which may not say how many.
    Values(Option<u64>),
}

impl PageHeader {
    /// What the page is, if its header is as `hedgerow` writes it: the bytes begin with it.
    fn kind_of_ours(&self, bytes: &[u8]) -> Option<PageKind> {
        let (count, kinds) = match self.holds {
            Holds::Cells(cells) => (cells, &[PageKind::Positions, PageKind::Values][..]),
            Holds::Values(values) => (values?, &[PageKind::Dictionary][..]),
        };
        let again = |kind: &&PageKind| bytes.starts_with(&kind.header(self.plain, self.body, count));
        kinds.iter().find(again).copied()
    }
}

impl PageKind {
    /// The header of such a page: in Thrift's compact protocol, each number behind the number of
    /// its field and its type.
    fn header(self, plain: u64, body: u64, count: u64) -> Vec<u8> {
        const NUMBER: u8 = 0x15;
        const PLAIN: u64 = 0;
        const RUNS: u64 = 3;
        const POSITIONS: u64 = 8;
        const NOT_SORTED: u8 = 0x12;
        let (page, field, rest) = match self {
            PageKind::Dictionary => (DICTIONARY, 0x4c, vec![count, PLAIN]),
            PageKind::Positions => (DATA, 0x2c, vec![count, POSITIONS, RUNS, RUNS]),
            PageKind::Values => (DATA, 0x2c, vec![count, PLAIN, RUNS, RUNS]),
        };
        let mut bytes = Vec::new();
        let mut put = |numbers: &[u64], behind: &[u8]| {
            for number in numbers {
                bytes.push(NUMBER);
                // The lowest bit is the sign.
                let mut rest = number << 1;
                while rest >= 0x80 {
                    bytes.push(rest as u8 | 0x80);
                    rest >>= 7;
                }
                bytes.push(rest as u8);
            }
            bytes.extend(behind);
        };
        put(&[page.cast_unsigned(), plain, body], &[field]);
        put(&rest, if self == PageKind::Dictionary { &[NOT_SORTED, 0, 0] } else { &[0, 0] });
        bytes
    }
}

const DATA: i64 = 0;
const DICTIONARY: i64 = 2;
const DATA_V2: i64 = 3;

/// The header that the bytes begin with; `None` for a page that holds neither cells nor a
/// dictionary.
fn header_at(bytes: &[u8]) -> Option<PageHeader> {
    let (mut kind, mut body, mut plain, mut cells, mut values, mut checksum) = (None, None, None, None, None, None);
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
        ([7, 1], CompactValue::Number(number)) => values = u64::try_from(number).ok(),
        ([5, 2..=4] | [7, 2..=3] | [8, 2..=7], CompactValue::Number(_)) => {}
        _ => is_known = false,
    })?;
    let holds = match kind.filter(|_| is_known)? {
        DATA | DATA_V2 => Holds::Cells(cells?),
        DICTIONARY => Holds::Values(values),
        _ => return None,
    };
    Some(PageHeader { length: (bytes.len() - rest) as u64, body: body?, plain: plain?, holds, checksum })
}

/// The checksum of a page's bytes; readers do not ask for it.
fn checksum_of(file: &mut File, start: u64, length: u64) -> Result<u32> {
    file.seek(SeekFrom::Start(start))?;
    let mut checked = CrcReader::new(file.take(length));
    copy(&mut checked, &mut sink())?;
    Ok(checked.crc().sum())
}
