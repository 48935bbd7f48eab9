//! The statistics and indexes that clusters write into Parquet files, held against the cells: the
//! least and the greatest value of each column and page, the missing ones, and where its pages are.
//! A false one hides rows from those who read by it, or names a value that no row has.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use parquet::basic::Type as Physical;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::properties::ReaderProperties;
use parquet::file::reader::RowGroupReader;
use parquet::file::serialized_reader::SerializedRowGroupReader;

use super::compact::{Compact, CompactValue};
use super::counted::{Counted, CountedPages, count, without_sign_of_zero};
use super::page_headers::{ColumnPages, PageOfCells};
use super::{is_placed, not_parquet};
use crate::TableError;

/// Bounds that are longer texts are cut to this length, or to the character before.
const CUT_BYTES: usize = 64;
const CHARACTER_BYTES: usize = 4;
/// No index has more for a page: two cut bounds, and numbers.
const INDEX_BYTES_PER_PAGE: u64 = 1 << 10;

/// The statements of a footer about the cells of a column.
#[derive(Debug, Default)]
pub(super) struct StatedColumn<'a> {
    /// By the numbers of the fields below the column's metadata.
    bounds: Vec<(i16, &'a [u8])>,
    numbers: Vec<([i16; 2], i64)>,
}

/// The columns of all row groups, one group after the other.
pub(super) fn stated_columns(footer: &[u8]) -> Vec<StatedColumn<'_>> {
    let mut columns: Vec<StatedColumn> = Vec::new();
    Compact::new(footer).each_field(&mut |path, found| match (path, found) {
        ([4, 1], CompactValue::Struct) => columns.push(StatedColumn::default()),
        ([4, 1, 3, 12, field], CompactValue::Bytes(bytes)) => {
            columns.last_mut().into_iter().for_each(|column| column.bounds.push((*field, bytes)));
        }
        ([4, 1, 3, part @ (12 | 16), field], CompactValue::Number(number)) => {
            columns.last_mut().into_iter().for_each(|column| column.numbers.push(([*part, *field], number)));
        }
        _ => {}
    });
    columns
}

/// How many columns of a row group have statistics or an index that the cells contradict.
pub(super) fn misstated(
    path: &Path,
    file: &File,
    group: &RowGroupMetaData,
    stated: &[StatedColumn<'_>],
    pages: &[ColumnPages],
) -> Result<usize, TableError> {
    let at_path = |error| TableError::io(path, error);
    let properties = Arc::new(ReaderProperties::builder().build());
    let mut found = 0;
    for (place, ((column, stated), pages)) in group.columns().iter().zip(stated).zip(pages).enumerate() {
        let pages = pages.of_cells.as_slice();
        if !is_placed(column) {
            return Err(not_parquet(path, "a column lies outside of the file"));
        }
        let handle = Arc::new(file.try_clone().map_err(at_path)?);
        let reader = SerializedRowGroupReader::new(handle, group, None, properties.clone());
        let reader = reader.map_err(|error| not_parquet(path, error))?;
        // The decoders assert what a damaged file may break.
        let counted = catch_unwind(AssertUnwindSafe(|| count(reader.get_column_reader(place)?, column, pages)));
        let counted = counted.map_err(|_| not_parquet(path, "a column cannot be decoded"))?;
        let counted = counted.map_err(|error| not_parquet(path, error))?;
        let index = |offset: Option<i64>, length: Option<i32>| {
            index_of(file, offset, length.map(i64::from), pages.len()).map_err(at_path)
        };
        let of_values = index(column.column_index_offset(), column.column_index_length())?;
        let of_places = index(column.offset_index_offset(), column.offset_index_length())?;
        let is_true = states_column(stated, column, &counted.whole)
            && of_values.is_none_or(|bytes| states_pages(&bytes, column, &counted) == Some(true))
            && of_places.is_none_or(|bytes| states_places(&bytes, pages, &counted.pages) == Some(true));
        found += usize::from(!is_true);
    }
    Ok(found)
}

/// The bytes of an index, where the footer names one; none where it cannot be there.
fn index_of(
    mut file: &File,
    offset: Option<i64>,
    length: Option<i64>,
    pages: usize,
) -> std::io::Result<Option<Vec<u8>>> {
    if offset.is_none() && length.is_none() {
        return Ok(None);
    }
    let range = offset
        .zip(length)
        .and_then(|(offset, length)| Some((u64::try_from(offset).ok()?, u64::try_from(length).ok()?)));
    let longest = INDEX_BYTES_PER_PAGE * (pages as u64 + 1);
    let mut bytes = Vec::new();
    if let Some((offset, length)) = range.filter(|(_, length)| *length <= longest) {
        file.seek(SeekFrom::Start(offset))?;
        file.take(length).read_to_end(&mut bytes)?;
    }
    Ok(Some(bytes))
}

fn states_column(stated: &StatedColumn<'_>, column: &ColumnChunkMetaData, whole: &Counted) -> bool {
    let physical = column.column_type();
    let bounds = stated.bounds.iter().all(|(field, bytes)| match field {
        // Of texts, these were in an order that differed from program to program: they are stated
        // where all texts are equal.
        1 | 2 if physical == Physical::BYTE_ARRAY => {
            whole.ends.as_ref().is_some_and(|(least, greatest)| least == greatest && least == bytes)
        }
        1 | 5 => is_greatest(bytes, whole, physical),
        2 | 6 => is_least(bytes, whole, physical),
        _ => false,
    });
    let numbers = stated.numbers.iter().all(|(field, number)| match field {
        [12, 3] => is(*number, whole.missing),
        // Whether a bound was cut.
        [12, 7 | 8] => true,
        [16, 1] => is(*number, whole.text_bytes),
        [16, 3] => true,
        _ => false,
    });
    let levels = stated.numbers.iter().filter(|(field, _)| *field == [16, 3]).map(|(_, number)| *number);
    bounds && numbers && are_levels(&levels.collect::<Vec<_>>(), std::slice::from_ref(whole))
}

/// Whether an index states the values of each page; `None` if it is damaged.
fn states_pages(bytes: &[u8], column: &ColumnChunkMetaData, counted: &CountedPages) -> Option<bool> {
    let (mut least, mut greatest, mut without, mut missing, mut levels) = (vec![], vec![], vec![], vec![], vec![]);
    let mut is_known = true;
    let rest = Compact::new(bytes).each_field(&mut |path, found| match (path, found) {
        ([1], CompactValue::Number(number @ 0..=2)) => without.push(number == 1),
        ([2], CompactValue::Bytes(bytes)) => least.push(bytes),
        ([3], CompactValue::Bytes(bytes)) => greatest.push(bytes),
        // Whether pages ascend, descend or neither.
        ([4], CompactValue::Number(0..=2)) => {}
        ([5], CompactValue::Number(number)) => missing.push(number),
        ([7], CompactValue::Number(number)) => levels.push(number),
        _ => is_known = false,
    })?;
    let (pages, physical) = (&counted.pages, column.column_type());
    let fits = |bytes: &[u8], page: &Counted, is_end: fn(&[u8], &Counted, Physical) -> bool| match page.ends {
        Some(_) => is_end(bytes, page, physical),
        None => bytes.is_empty(),
    };
    let all = |bounds: &[&[u8]], is_end| {
        bounds.len() == pages.len() && bounds.iter().zip(pages).all(|(bytes, page)| fits(bytes, page, is_end))
    };
    let is_true = all(&least, is_least)
        && all(&greatest, is_greatest)
        && without.iter().copied().eq(pages.iter().map(|page| page.present == 0))
        && (missing.is_empty() || missing.len() == pages.len())
        && missing.iter().zip(pages).all(|(&number, page)| is(number, page.missing))
        && are_levels(&levels, pages);
    Some(is_true && is_known && rest == 0)
}

/// Whether an index states where each page is and how long its texts are; `None` if it is damaged.
fn states_places(bytes: &[u8], pages: &[PageOfCells], counted: &[Counted]) -> Option<bool> {
    let (mut places, mut lengths, mut is_known) = (Vec::new(), Vec::new(), true);
    let rest = Compact::new(bytes).each_field(&mut |path, found| match (path, found) {
        ([1], CompactValue::Struct) => {}
        ([1, 1..=3], CompactValue::Number(number)) => places.push(number),
        ([2], CompactValue::Number(number)) => lengths.push(number),
        _ => is_known = false,
    })?;
    let mut first_row = 0;
    let expected = pages.iter().flat_map(|page| {
        let stated = [page.place, page.bytes, first_row];
        first_row += page.cells;
        stated
    });
    let expected: Vec<u64> = expected.collect();
    let same = |stated: &[i64], found: &[u64]| {
        stated.len() == found.len() && stated.iter().zip(found).all(|(&stated, &found)| is(stated, found))
    };
    let texts: Vec<u64> = counted.iter().map(|page| page.text_bytes).collect();
    Some(is_known && rest == 0 && same(&places, &expected) && (lengths.is_empty() || same(&lengths, &texts)))
}

fn is(stated: i64, found: u64) -> bool {
    u64::try_from(stated) == Ok(found)
}

/// How many cells of each part are missing and present; a column in which none can be missing has
/// no such numbers.
fn are_levels(stated: &[i64], parts: &[Counted]) -> bool {
    let expected = parts.iter().flat_map(|part| [part.missing, part.present]);
    stated.is_empty() || stated.len() == 2 * parts.len() && stated.iter().zip(expected).all(|(&a, b)| is(a, b))
}

fn is_least(stated: &[u8], counted: &Counted, physical: Physical) -> bool {
    let Some((least, _)) = &counted.ends else { return false };
    let is_cut = || cut(least, physical).is_some_and(|text| text.as_bytes() == stated);
    without_sign_of_zero(stated, physical) == *least || is_cut()
}

fn is_greatest(stated: &[u8], counted: &Counted, physical: Physical) -> bool {
    let Some((_, greatest)) = &counted.ends else { return false };
    let is_cut = || {
        let text = cut(greatest, physical);
        let bounds = text.into_iter().flat_map(|text| [above(text), above_by_bytes(text)]);
        bounds.flatten().any(|text| text.as_bytes() == stated)
    };
    without_sign_of_zero(stated, physical) == *greatest || is_cut()
}

/// A text that is too long for a bound, cut after a character.
fn cut(bytes: &[u8], physical: Physical) -> Option<&str> {
    let text =
        std::str::from_utf8(bytes).ok().filter(|text| physical == Physical::BYTE_ARRAY && text.len() > CUT_BYTES)?;
    let end = (CUT_BYTES + 1 - CHARACTER_BYTES..=CUT_BYTES).rfind(|&end| text.is_char_boundary(end))?;
    Some(&text[..end])
}

/// The next text of this length or less that is greater than all that begin with `text`: its last
/// character that has a next one of as many bytes becomes that.
fn above(text: &str) -> Option<String> {
    text.char_indices().rev().find_map(|(place, last)| {
        let next = char::from_u32(u32::from(last) + 1).filter(|next| next.len_utf8() == last.len_utf8())?;
        Some(format!("{}{next}", &text[..place]))
    })
}

/// As Apache Spark does it: the last byte that can be one more, with what follows it.
fn above_by_bytes(text: &str) -> Option<String> {
    (0..text.len()).rev().find_map(|place| {
        let mut bytes = text.as_bytes().to_vec();
        bytes[place] = bytes[place].checked_add(1)?;
        String::from_utf8(bytes).ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_has_bounds_of_whole_characters() {
        let text = |end: &str| format!("{}{end}", "a".repeat(62));
        let cut_of = |end: &str| cut(text(end).as_bytes(), Physical::BYTE_ARRAY).map(str::to_owned);
        assert_eq!(cut_of("bc"), None, "64 bytes are not cut");
        assert_eq!(cut_of("bcd"), Some(text("bc")));
        assert_eq!(cut_of("bé"), Some(text("b")));
        assert_eq!((above("ab"), above_by_bytes("ab")), (Some("ac".to_owned()), Some("ac".to_owned())));
        assert_eq!((above("aÿ"), above_by_bytes("aÿ")), (Some("aĀ".to_owned()), Some("aĿ".to_owned())));
        assert_eq!((above("a\u{7f}"), above_by_bytes("a\u{7f}")), (Some("b".to_owned()), Some("b\u{7f}".to_owned())));
        assert_eq!((above("\u{10ffff}"), above_by_bytes("\u{10ffff}")), (None, None));
    }
}
