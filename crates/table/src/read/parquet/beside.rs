//! The contents of a Parquet file beside the cells of its columns. A reader skips them, and they
//! could be a table of their own: bytes between the columns, pages of other kinds, texts and fields
//! of the footer that describe no column, values of a dictionary that no cell has.
//!
//! A release has none of it. Clusters write statistics and their version too, which the cells must
//! bear out.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

use super::super::source::open_file;
use super::again::tail_again;
use super::compact::{Compact, CompactValue};
use super::page_headers::{ColumnPages, pages_of, range_of};
use super::recount::{misstated, stated_columns};
use super::writer::Writer;
use super::{not_parquet, sizes};
use crate::TableError;

const MAGIC: &[u8] = b"PAR1";
const MAGIC_BYTES: u64 = MAGIC.len() as u64;
/// The length of the footer, and the magic.
const TAIL_BYTES: u64 = 8;
const CHUNK_BYTES: usize = 1 << 16;
/// Sizes, places, encodings and how often each is used; honest footers have fewer than half as
/// many.
const NUMBERS_PER_COLUMN: usize = 64;

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
const OF_CLUSTERS: [(&[i16], &[i16]); 3] = [(&[], &[5]), (&[4, 1], &[4, 5, 6, 7]), (&[4, 1, 3], &[12])];

/// The contents of a file beside its cells, one line for each kind.
pub fn beside_cells(path: &Path) -> Result<Vec<String>, TableError> {
    let (mut file, length) = open_file(path)?;
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&file).map_err(|error| not_parquet(path, error))?;
    let writer = Writer::of(metadata.file_metadata());
    let mut found = Vec::new();
    if writer == Writer::Unknown {
        found.push("is of another program than those that write releases".to_owned());
    }
    let strange = writer.strange_texts(metadata.file_metadata());
    if strange > 0 {
        found.push(format!("has {strange} texts beside its columns"));
    }
    let at_path = |error| TableError::io(path, error);
    let Some(footer) = footer_of(&mut file, length).map_err(at_path)? else {
        return Err(not_parquet(path, "it has no footer"));
    };
    if !describes_columns(&footer, &metadata, writer.is_cluster()) {
        found.push("has a footer that describes more than its columns".to_owned());
    }
    let end = length - TAIL_BYTES - footer.len() as u64;
    let is_ours = writer == Writer::Hedgerow;
    let hidden = hidden_bytes(&mut file, &metadata, end).map_err(at_path)?;
    if hidden > 0 {
        found.push(format!("holds {hidden} bytes that belong to no column"));
    }
    let (mut all_cells, mut misstated_columns, mut pages_of_groups) = (true, 0, Vec::new());
    let stated = stated_columns(&footer);
    let mut stated = stated.as_slice();
    for group in metadata.row_groups() {
        let pages = group.columns().iter().map(|column| pages_of(&mut file, column, is_ours));
        let pages: Option<Vec<_>> = pages.collect::<std::io::Result<_>>().map_err(at_path)?;
        let of_group = stated.split_off(..group.num_columns().min(stated.len())).unwrap_or_default();
        match pages {
            None => all_cells = false,
            Some(pages) => {
                if writer.is_cluster() {
                    misstated_columns += misstated(path, &file, group, of_group, &pages)?;
                }
                pages_of_groups.push(pages);
            }
        }
    }
    // A footer with a second list of groups has columns that no reader sees.
    if !stated.is_empty() {
        found.push("has a footer that describes other columns".to_owned());
    }
    if !all_cells {
        found.push("has pages that hold no cells".to_owned());
    }
    if writer == Writer::Spark && all_cells && !sizes::are_true(&footer, &pages_of_groups) {
        found.push("states sizes or places that its columns do not have".to_owned());
    }
    if is_ours && all_cells && !is_as_written(&mut file, &metadata, &pages_of_groups, end).map_err(at_path)? {
        found.push("has a footer or headers of pages that `hedgerow` does not write".to_owned());
    }
    if misstated_columns > 0 {
        found.push(format!("has statistics or indexes of {misstated_columns} columns that their cells contradict"));
    }
    Ok(found)
}

/// Whether a file of ours ends, from `end` on, as its columns and pages are written again.
fn is_as_written(
    file: &mut File,
    metadata: &ParquetMetaData,
    groups: &[Vec<ColumnPages>],
    end: u64,
) -> std::io::Result<bool> {
    let Ok(Some(again)) = tail_again(metadata, groups, MAGIC_BYTES, end) else { return Ok(false) };
    let mut tail = Vec::new();
    file.seek(SeekFrom::Start(end))?;
    file.read_to_end(&mut tail)?;
    Ok(tail == again)
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
    let is_plain_root = [b"release".as_slice(), b"spark_schema", b"arrow_schema", b"schema"].contains(&root);
    let is_known = |path: &[i16]| {
        let Some((field, parent)) = path.split_last() else { return false };
        let of_cluster: &[_] = if is_of_cluster { &OF_CLUSTERS } else { &[] };
        let known = FOOTER.iter().chain(of_cluster);
        known.clone().any(|(of, fields)| *of == parent && fields.contains(field))
            // Below these are numbers: logical types, the order of columns, counts of encodings.
            || path.starts_with(&[2, 10]) || path.starts_with(&[7]) || path.starts_with(&[4, 1, 3, 13])
            || path.starts_with(&[4, 1, 3, 16]) || (is_of_cluster && (path.starts_with(&[5]) || path.starts_with(&[4, 1, 3, 12])))
    };
    let file = metadata.file_metadata();
    let texts: Vec<&str> = file
        .key_value_metadata()
        .into_iter()
        .flatten()
        .flat_map(|text| [Some(text.key.as_str()), text.value.as_deref()].into_iter().flatten())
        .collect();
    let (mut is_sound, mut numbers) = (is_plain_root, 0);
    let rest = Compact::new(footer).each_field(&mut |path, found| {
        is_sound &= is_known(path);
        numbers += usize::from(matches!(found, CompactValue::Number(_)) && path.starts_with(&[4, 1, 3]));
        if let CompactValue::Bytes(bytes) = found {
            is_sound &= match path {
                [2, 4] => bytes == root || names.contains(&bytes),
                [4, 1, 3, 3] => names.contains(&bytes),
                // Judged as the name of the program and its texts.
                [6] => file.created_by().is_some_and(|name| name.as_bytes() == bytes),
                [5, ..] => texts.iter().any(|text| text.as_bytes() == bytes),
                // Held against the cells.
                [4, 1, 3, 12, ..] => is_of_cluster,
                _ => false,
            };
        }
    });
    let columns: usize = metadata.row_groups().iter().map(|group| group.num_columns()).sum();
    is_sound && rest == Some(0) && numbers <= NUMBERS_PER_COLUMN * columns
}

/// How many bytes before `end` are in no column and no index that the footer describes. Bytes
/// that are 0 do not count: clusters pad row groups to the blocks of their disks.
fn hidden_bytes(file: &mut File, metadata: &ParquetMetaData, end: u64) -> std::io::Result<u64> {
    let mut known: Vec<(u64, u64)> = vec![(0, MAGIC_BYTES)];
    for column in metadata.row_groups().iter().flat_map(|group| group.columns()) {
        known.extend(range_of(column));
        let part = |offset: Option<i64>, length: Option<i32>| {
            Some((u64::try_from(offset?).ok()?, u64::try_from(length?).ok()?))
        };
        known.extend(part(column.column_index_offset(), column.column_index_length()));
        known.extend(part(column.offset_index_offset(), column.offset_index_length()));
    }
    known.push((end, 0));
    known.sort_unstable();
    // Readers look at the magic behind the footer alone.
    let mut magic = [0; MAGIC.len()];
    file.seek(SeekFrom::Start(0))?;
    file.read_exact(&mut magic)?;
    let (mut reached, mut hidden) = (0, if magic == MAGIC { 0 } else { MAGIC_BYTES });
    for (start, length) in known {
        if start > reached {
            hidden += other_than_zero(file, reached, start.min(end))?;
        }
        reached = reached.max(start.saturating_add(length)).min(end);
    }
    Ok(hidden)
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

#[cfg(test)]
mod tests;
