//! The contents of a Parquet file beside the cells of its columns. A reader skips them, and they
//! could be a table of their own: bytes between the columns, pages of other kinds, texts and fields
//! of the footer that describe no column, values of a dictionary that no cell has.
//!
//! A release has none of it. Clusters write statistics and the version of their program too.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

use super::super::source::open_file;
use super::compact::{Compact, Found};
use super::not_parquet;
use crate::TableError;

/// The program of a release's own tables, as the footer names it.
pub const CREATED_BY: &str = "hedgerow";
/// The program that clusters write with.
const CLUSTER: &str = "parquet-mr version ";
/// The programs that Sail writes with; of their files nothing beside the cells is examined.
const SAIL: [&str; 3] = ["datafusion version ", "parquet-rs version ", "sail version "];
/// The texts by which a cluster describes its columns again.
const CLUSTER_TEXTS: [&str; 2] = ["org.apache.spark.version", "org.apache.spark.sql.parquet.row.metadata"];
const MAGIC_BYTES: u64 = 4;
/// The length of the footer, and the magic.
const TAIL_BYTES: u64 = 8;
/// No honest header of a page is longer.
const PAGE_HEADER_BYTES: usize = 1 << 16;
const CHUNK_BYTES: usize = 1 << 16;

/// The fields of a footer that describe schema, row groups and columns, by their numbers in the
/// format's definition: of the file, of a schema's element, of a row group, of a column, of its
/// metadata.
const FOOTER: [(&[i16], &[i16]); 5] = [
    (&[], &[1, 2, 3, 4, 6, 7]),
    (&[2], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
    (&[4], &[1, 2, 3, 4, 5, 6, 7]),
    (&[4, 1], &[2, 3]),
    (&[4, 1, 3], &[1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 13, 16]),
];
/// The further fields of a cluster's footer: texts, places of indexes, statistics.
const OF_CLUSTERS: [(&[i16], &[i16]); 3] = [(&[], &[5]), (&[4, 1], &[4, 5, 6, 7]), (&[4, 1, 3], &[12, 14, 15])];

/// The contents of a file beside its cells, one line for each kind.
pub fn beside_cells(path: &Path) -> Result<Vec<String>, TableError> {
    let (mut file, length) = open_file(path)?;
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&file).map_err(|error| not_parquet(path, error))?;
    let created_by = metadata.file_metadata().created_by();
    let is_of_cluster = created_by.is_some_and(|name| name.starts_with(CLUSTER) && is_version(&name[CLUSTER.len()..]));
    if created_by.is_some_and(|name| SAIL.iter().any(|own| name.starts_with(own))) {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    if created_by != Some(CREATED_BY) && !is_of_cluster {
        found.push("is of another program than those that write releases".to_owned());
    }
    let texts = metadata.file_metadata().key_value_metadata().into_iter().flatten();
    let unknown = texts.filter(|text| !is_of_cluster || !CLUSTER_TEXTS.contains(&text.key.as_str())).count();
    if unknown > 0 {
        found.push(format!("has {unknown} texts beside its columns"));
    }
    let at_path = |error| TableError::io(path, error);
    let Some(footer) = footer_of(&mut file, length).map_err(at_path)? else {
        return Err(not_parquet(path, "it has no footer"));
    };
    if !describes_columns(&footer, &metadata, is_of_cluster) {
        found.push("has a footer that describes more than its columns".to_owned());
    }
    let end = length - TAIL_BYTES - footer.len() as u64;
    let hidden = hidden_bytes(&mut file, &metadata, end).map_err(at_path)?;
    if hidden > 0 {
        found.push(format!("holds {hidden} bytes that belong to no column"));
    }
    if !has_pages_of_cells(&mut file, &metadata, is_of_cluster).map_err(at_path)? {
        found.push("has pages that hold no cells".to_owned());
    }
    Ok(found)
}

/// `1.13.1 (build db4183109d5b734ec5930d870cdae161e408ddba)`
fn is_version(text: &str) -> bool {
    text.len() <= 80 && text.chars().all(|c| c.is_ascii_alphanumeric() || " .-()".contains(c))
}

fn footer_of(file: &mut File, length: u64) -> std::io::Result<Option<Vec<u8>>> {
    if length < MAGIC_BYTES + TAIL_BYTES {
        return Ok(None);
    }
    let mut size = [0; 4];
    file.seek(SeekFrom::Start(length - TAIL_BYTES))?;
    file.read_exact(&mut size)?;
    let size = u64::from(u32::from_le_bytes(size));
    let Some(start) = (length - TAIL_BYTES).checked_sub(size).filter(|&start| start >= MAGIC_BYTES) else {
        return Ok(None);
    };
    let mut footer = vec![0; size as usize];
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(&mut footer)?;
    Ok(Some(footer))
}

/// Whether a footer has no field but those that are known, and no names but those of the columns.
fn describes_columns(footer: &[u8], metadata: &ParquetMetaData, is_of_cluster: bool) -> bool {
    let schema = metadata.file_metadata().schema_descr().root_schema();
    let names: Vec<&[u8]> = schema.get_fields().iter().map(|field| field.name().as_bytes()).collect();
    let root = schema.name().as_bytes();
    let is_plain_root = [b"release".as_slice(), b"spark_schema", b"schema"].contains(&root);
    let is_known = |path: &[i16]| {
        let Some((field, parent)) = path.split_last() else { return false };
        let of_cluster: &[_] = if is_of_cluster { &OF_CLUSTERS } else { &[] };
        let known = FOOTER.iter().chain(of_cluster);
        known.clone().any(|(of, fields)| *of == parent && fields.contains(field))
            // Below these are numbers: logical types, the order of columns, counts of encodings.
            || path.starts_with(&[2, 10]) || path.starts_with(&[7]) || path.starts_with(&[4, 1, 3, 13])
            || path.starts_with(&[4, 1, 3, 16]) || (is_of_cluster && (path.starts_with(&[5]) || path.starts_with(&[4, 1, 3, 12])))
    };
    let mut is_sound = is_plain_root;
    let rest = Compact::new(footer).each_field(&mut |path, found| {
        is_sound &= is_known(path);
        if let Found::Bytes(bytes) = found {
            is_sound &= match path {
                [2, 4] => bytes == root || names.contains(&bytes),
                [4, 1, 3, 3] => names.contains(&bytes),
                // Judged above.
                [6] => true,
                [5, ..] | [4, 1, 3, 12, ..] => is_of_cluster,
                _ => false,
            };
        }
    });
    is_sound && rest == Some(0)
}

/// How many bytes before `end` are in no column, index or filter that the footer describes. Bytes
/// that are 0 do not count: clusters pad row groups to the blocks of their disks.
fn hidden_bytes(file: &mut File, metadata: &ParquetMetaData, end: u64) -> std::io::Result<u64> {
    let mut known: Vec<(u64, u64)> = vec![(0, MAGIC_BYTES)];
    for column in metadata.row_groups().iter().flat_map(|group| group.columns()) {
        known.extend(range_of(column));
        let part = |offset: Option<i64>, length: Option<i32>| {
            Some((u64::try_from(offset?).ok()?, u64::try_from(length?).ok()?))
        };
        known.extend(part(column.bloom_filter_offset(), column.bloom_filter_length()));
        known.extend(part(column.column_index_offset(), column.column_index_length()));
        known.extend(part(column.offset_index_offset(), column.offset_index_length()));
    }
    known.push((end, 0));
    known.sort_unstable();
    let (mut reached, mut hidden) = (0, 0);
    for (start, length) in known {
        if start > reached {
            hidden += other_than_zero(file, reached, start.min(end))?;
        }
        reached = reached.max(start.saturating_add(length)).min(end);
    }
    Ok(hidden)
}

/// Where the pages of a column are: where they begin, and how many bytes they take.
fn range_of(column: &parquet::file::metadata::ColumnChunkMetaData) -> Option<(u64, u64)> {
    let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
    Some((u64::try_from(start).ok()?, u64::try_from(column.compressed_size()).ok()?))
}

fn other_than_zero(file: &mut File, from: u64, to: u64) -> std::io::Result<u64> {
    file.seek(SeekFrom::Start(from))?;
    let mut gap = file.take(to.saturating_sub(from));
    let (mut chunk, mut count) = (vec![0; CHUNK_BYTES], 0);
    loop {
        let read = gap.read(&mut chunk)?;
        if read == 0 {
            return Ok(count);
        }
        count += chunk[..read].iter().filter(|byte| **byte != 0).count() as u64;
    }
}

/// Whether columns are made of pages of cells and dictionaries to their last byte, each with a
/// header that says nothing else.
fn has_pages_of_cells(file: &mut File, metadata: &ParquetMetaData, is_of_cluster: bool) -> std::io::Result<bool> {
    for column in metadata.row_groups().iter().flat_map(|group| group.columns()) {
        let Some((mut place, length)) = range_of(column) else { return Ok(false) };
        let Some(end) = place.checked_add(length) else { return Ok(false) };
        while place < end {
            file.seek(SeekFrom::Start(place))?;
            let mut header = Vec::new();
            file.by_ref().take((end - place).min(PAGE_HEADER_BYTES as u64)).read_to_end(&mut header)?;
            let Some(bytes) = page_bytes(&header, is_of_cluster) else { return Ok(false) };
            place = place.saturating_add(bytes);
        }
        if place != end {
            return Ok(false);
        }
    }
    Ok(true)
}

/// How many bytes a page takes with its header; `None` for a page that holds neither cells nor a
/// dictionary.
fn page_bytes(bytes: &[u8], is_of_cluster: bool) -> Option<u64> {
    const DATA: i64 = 0;
    const DICTIONARY: i64 = 2;
    const DATA_V2: i64 = 3;
    let (mut kind, mut compressed, mut is_known) = (None, None, true);
    let rest = Compact::new(bytes).each_field(&mut |path, found| match (path, found) {
        ([1], Found::Number(number)) => kind = Some(number),
        ([3], Found::Number(number)) => compressed = u64::try_from(number).ok(),
        ([2 | 4], Found::Number(_)) | ([5 | 7 | 8], Found::Struct) => {}
        ([5, 1..=4] | [7, 1..=3] | [8, 1..=7], Found::Number(_)) => {}
        ([5, 5, ..] | [8, 8, ..], _) => is_known &= is_of_cluster,
        _ => is_known = false,
    })?;
    let is_cells = is_known && matches!(kind, Some(DATA | DICTIONARY | DATA_V2));
    is_cells.then_some((bytes.len() - rest) as u64 + compressed?)
}
