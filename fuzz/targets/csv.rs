//! Any bytes as a CSV file: a table whose parts agree with each other, or a refusal that names the
//! file.
#![no_main]

use std::path::Path;

use hedgerow_table::read::{ReadOptions, read_csv_bytes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match read_csv_bytes(Path::new("people.csv"), bytes, &ReadOptions::default()) {
        Ok(table) => {
            assert_eq!(table.header.len(), table.columns.len());
            for column in &table.columns {
                assert_eq!(column.codes.len(), table.rows, "column {:?}", column.name);
                let counts = column.counts();
                assert_eq!(counts.iter().sum::<u64>(), table.rows as u64);
                assert!(counts.iter().all(|count| *count > 0), "a value of the domain that no row has");
            }
        }
        Err(refusal) => {
            let message = refusal.to_string();
            assert!(message.contains("people.csv"), "no place: {message}");
        }
    }
});
