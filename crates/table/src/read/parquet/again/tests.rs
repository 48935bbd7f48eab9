//! Files as a release is written, honest and changed.

use std::path::{Path, PathBuf};

use ::parquet::basic::{Compression, ZstdLevel};
use ::parquet::data_type::ByteArray;
use ::parquet::file::properties::{EnabledStatistics, WriterPropertiesBuilder, WriterVersion};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tempfile::TempDir;

use super::super::CREATED_BY;
use super::super::tests::{Cells, write_file};
use crate::TableError;
use crate::read::{ReadOptions, beside_cells, read_table};

const SCHEMA: &str = "optional int64 age; optional double pay; optional int32 since (DATE); \
                      optional binary job (STRING); optional binary none (STRING);";

fn ours(properties: WriterPropertiesBuilder) -> WriterPropertiesBuilder {
    properties
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3).unwrap()))
        .set_created_by(CREATED_BY.to_owned())
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
}

/// A column of each type, and one without a value.
fn columns(rows: usize, values: u64, random: &mut StdRng) -> Vec<Cells> {
    let mut draw = || (!random.random_bool(0.1)).then(|| random.random_range(0..values));
    let drawn: Vec<[Option<u64>; 4]> = (0..rows).map(|_| [draw(), draw(), draw(), draw()]).collect();
    let column = |place: usize| drawn.iter().map(move |row| row[place]);
    let job = |job: u64| ByteArray::from("job ".repeat(1 + (job % 3) as usize).as_str().to_owned().into_bytes());
    vec![
        Cells::Int64(column(0).map(|age| age.map(|age| age as i64 - 20)).collect()),
        Cells::Double(column(1).map(|pay| pay.map(|pay| pay as f64 / 8.0)).collect()),
        Cells::Int32(column(2).map(|since| since.map(|since| since as i32)).collect()),
        Cells::Bytes(column(3).map(|number| number.map(job)).collect()),
        Cells::Bytes(vec![None; rows]),
    ]
}

fn small() -> (TempDir, PathBuf) {
    write_file(SCHEMA, &columns(11, 4, &mut StdRng::seed_from_u64(1)), 6, ours)
}

/// The findings of a check of these bytes: problems, or the error of a reader.
fn found(path: &Path, bytes: &[u8]) -> Vec<String> {
    std::fs::write(path, bytes).unwrap();
    let error = |error: TableError| error.to_string();
    let mut found = beside_cells(path).unwrap_or_else(|failed| vec![error(failed)]);
    let strict = ReadOptions { as_released: true, ..ReadOptions::default() };
    found.extend(read_table(path, &strict).err().map(error));
    found
}

fn footer_starts(bytes: &[u8]) -> usize {
    let tail = bytes.len() - 8;
    tail - u32::from_le_bytes(bytes[tail..tail + 4].try_into().unwrap()) as usize
}

#[test]
fn no_bit_of_a_footer_can_be_another() {
    let (_directory, path) = small();
    let honest = std::fs::read(&path).unwrap();
    assert_eq!(found(&path, &honest), [""; 0]);
    for bit in 8 * footer_starts(&honest)..8 * honest.len() {
        let mut bytes = honest.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert_ne!(found(&path, &bytes), [""; 0], "bit {} of byte {}", bit % 8, bit / 8);
    }
}

/// Behind the header of a page, a changed bit may be another cell, or another way to compress it.
#[test]
fn no_bit_of_a_page_header_can_be_another() {
    let (_directory, path) = small();
    let honest = std::fs::read(&path).unwrap();
    let mut headers = 0;
    // Each page begins with the kind of it, and its bytes with the magic of a frame.
    let frames = honest.windows(4).enumerate().filter(|(_, bytes)| *bytes == [0x28, 0xb5, 0x2f, 0xfd]);
    for (frame, _) in frames {
        let start = honest[..frame].windows(2).rposition(|bytes| matches!(bytes, [0x15, 0 | 4])).unwrap();
        assert!(frame - start < 32, "a header before byte {frame}");
        for bit in 8 * start..8 * frame {
            let mut bytes = honest.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(found(&path, &bytes), [""; 0], "bit {} of byte {}", bit % 8, bit / 8);
        }
        headers += 1;
    }
    assert_eq!(headers, 2 * 2 * 5, "a dictionary and cells, of each column and group");
}

/// Small dictionaries and pages, so that values follow positions and a column has many pages.
#[test]
fn honest_files_are_written_again_as_they_are() {
    for seed in 0..300 {
        let random = &mut StdRng::seed_from_u64(seed);
        let rows = random.random_range(1..400);
        let values = [1, 3, 40, 1 << 30][random.random_range(0..4)];
        let per_group = [7, 60, 1000][random.random_range(0..3)];
        let (bytes, page_rows, batch) =
            ([1 << 20, 64, 16][random.random_range(0..3)], [20_000, 30][random.random_range(0..2)], 10);
        let (_directory, path) = write_file(SCHEMA, &columns(rows, values, random), per_group, |properties| {
            let properties = ours(properties).set_dictionary_page_size_limit(bytes);
            properties.set_data_page_row_count_limit(page_rows).set_write_batch_size(batch)
        });
        assert_eq!(beside_cells(&path).unwrap(), [""; 0], "seed {seed}");
    }
}

/// Zeros between groups of rows say nothing in a cluster's file; we write none.
#[test]
fn other_ways_to_write_a_file_are_found() {
    type Change<'c> = &'c dyn Fn(WriterPropertiesBuilder) -> WriterPropertiesBuilder;
    let changes: [(&str, Change<'_>); 4] = [
        ("version", &|properties| properties.set_writer_version(WriterVersion::PARQUET_2_0)),
        ("compression", &|properties| properties.set_compression(Compression::UNCOMPRESSED)),
        ("path", &|properties| properties.set_write_path_in_schema(false)),
        ("none", &|properties| properties),
    ];
    for (name, change) in changes {
        let columns = columns(11, 4, &mut StdRng::seed_from_u64(1));
        let (_directory, path) = write_file(SCHEMA, &columns, 6, |properties| change(ours(properties)));
        assert_eq!(beside_cells(&path).unwrap().is_empty(), name == "none", "{name}");
    }
    let (_directory, path) = small();
    let honest = std::fs::read(&path).unwrap();
    let (columns, footer) = honest.split_at(footer_starts(&honest));
    assert_ne!(found(&path, &[columns, &[0; 512], footer].concat()), [""; 0]);
    for (from, to) in [("optional int64 age", "required int64 age"), ("(STRING)", ""), ("int64 age", "int64 age = 7")] {
        let columns = columns_without_missing();
        let (_directory, path) = write_file(&SCHEMA.replace(from, to), &columns, 6, ours);
        assert_ne!(beside_cells(&path).unwrap(), [""; 0], "{to}");
    }
}

fn columns_without_missing() -> Vec<Cells> {
    let text = |text: &str| Some(ByteArray::from(text.as_bytes().to_vec()));
    vec![
        Cells::Int64(vec![Some(1), Some(2)]),
        Cells::Double(vec![Some(1.5), Some(2.5)]),
        Cells::Int32(vec![Some(1), Some(2)]),
        Cells::Bytes(vec![text("a"), text("b")]),
        Cells::Bytes(vec![text("c"), text("d")]),
    ]
}
