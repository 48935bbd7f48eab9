//! A small file as Apache Spark 4.1 wrote it, and what is found after every change.
//!
//! It has a column of each type that a release has, missing values, equal texts, texts that are
//! cut in an index, and zeros with a sign:
//!
//! ```sql
//! SELECT CAST(20 + id % 5 AS BIGINT) AS age,
//!        IF(id % 4 = 0, NULL, CAST(id % 3 AS DOUBLE) * -0.5) AS pay,
//!        DATE '2020-01-01' + CAST(id % 4 AS INT) AS since,
//!        IF(id % 6 = 0, NULL, concat('job ', CAST(id % 3 AS STRING))) AS job,
//!        'here' AS land,
//!        concat(repeat('a long label ', 5), CAST(id % 2 AS STRING)) AS label,
//!        CAST(NULL AS STRING) AS none
//! FROM range(0, 24, 1, 1)
//! ```

use std::path::{Path, PathBuf};

use crate::TableError;
use crate::read::{ReadOptions, beside_cells, read_table};

fn honest() -> Vec<u8> {
    std::fs::read(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/spark.parquet")).unwrap()
}

/// The findings of a check of these bytes: problems, or the error of a reader.
fn found(folder: &Path, bytes: &[u8]) -> Vec<String> {
    let path = folder.join("data.parquet");
    std::fs::write(&path, bytes).unwrap();
    let error = |error: TableError| error.to_string();
    let mut found = beside_cells(&path).unwrap_or_else(|failed| vec![error(failed)]);
    let strict = ReadOptions { as_released: true, ..ReadOptions::default() };
    found.extend(read_table(&path, &strict).err().map(error));
    found
}

/// The bytes with `from` changed to `to` where it stands last.
fn with_last(from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut bytes = honest();
    let place = bytes.windows(from.len()).rposition(|window| window == from).unwrap();
    bytes.splice(place..place + from.len(), to.iter().copied());
    bytes
}

#[test]
fn an_honest_file_of_spark_holds_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(found(folder.path(), &honest()), [""; 0]);
}

#[test]
fn what_is_added_to_a_file_of_spark_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let found = |bytes: &[u8]| found(folder.path(), bytes);
    // A third text: the list of two has one more, and the footer is as much longer.
    let first = b"\x2c\x18\x18org.apache.spark.version";
    let third = b"\x3c\x18\x03Ann\x18\x03flu\x00\x18\x18org.apache.spark.version";
    let mut bytes = with_last(first, third);
    let tail = bytes.len() - 8;
    let footer = u32::from_le_bytes(bytes[tail..tail + 4].try_into().unwrap());
    let added = (third.len() - first.len()) as u32;
    bytes[tail..tail + 4].copy_from_slice(&(footer + added).to_le_bytes());
    assert_eq!(found(&bytes), ["has 1 texts beside its columns"]);
    // A text that says something else of the columns.
    for (from, to) in [
        (&b"4.1.4"[..], &b"4.1.A"[..]),
        (b"\"name\":\"age\"", b"\"name\":\"Ann\""),
        (b"\"nullable\":false,\"metadata\":{}", b"\"nullable\":true,\"metadata\": {}"),
        (b"\"type\":\"date\"", b"\"type\":\"long\""),
    ] {
        assert_eq!(found(&with_last(from, to)), ["has 1 texts beside its columns"], "{}", from.escape_ascii());
    }
    // Statistics of a value that no row has.
    for (from, to) in [(&b"job 2"[..], &b"job 3"[..]), (b"here", b"Anna"), (b"label 1", b"label 2")] {
        let stated = "has statistics or indexes of 1 columns that their cells contradict";
        assert_eq!(found(&with_last(from, to)), [stated], "{}", from.escape_ascii());
    }
    // Bytes before the footer.
    let mut bytes = honest();
    let tail = bytes.len() - 8;
    let footer = u32::from_le_bytes(bytes[tail..tail + 4].try_into().unwrap()) as usize;
    bytes.splice(tail - footer..tail - footer, *b"Ann has the flu");
    assert_eq!(found(&bytes), ["holds 15 bytes that belong to no column"]);
}

/// Whatever byte is changed of a text, a number or a page, a check sees it. What is not seen is how
/// a number is written, which encodings are named, and by which build.
#[test]
fn no_byte_of_a_file_of_spark_can_be_changed_at_will() {
    const BUILD: &[u8] = b"parquet-mr version 1.16.0 (build 402c3810c372d29603e181771acebfecc71bef61)";
    let folder = tempfile::tempdir().unwrap();
    let honest = honest();
    let build = honest.windows(BUILD.len()).position(|window| window == BUILD).unwrap();
    let changed = |place: usize, bit: usize| {
        let mut bytes = honest.clone();
        bytes[place] ^= 1 << bit;
        bytes
    };
    for place in (0..honest.len()).filter(|place| !(build..build + BUILD.len()).contains(place)) {
        let is_seen = |bit: usize| !found(folder.path(), &changed(place, bit)).is_empty();
        let near = honest[place.saturating_sub(9)..place].escape_ascii();
        assert!([6, 4, 1].into_iter().any(is_seen), "byte {place} can be anything, behind {near}");
    }
}
