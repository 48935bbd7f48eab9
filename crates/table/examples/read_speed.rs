//! How fast a file is read: `cargo run --release -p hedgerow-table --example read_speed -- FILE`.
//! `RAYON_NUM_THREADS` sets the number of threads.

use std::path::Path;
use std::time::Instant;

use hedgerow_table::read::{ReadOptions, read_table};

fn main() {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: read_speed FILE");
        std::process::exit(2);
    };
    let begun = Instant::now();
    let table = match read_table(Path::new(&path), &ReadOptions::default()) {
        Ok(table) => table,
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(1);
        }
    };
    let seconds = begun.elapsed().as_secs_f64();
    let bytes = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
    println!(
        "{} rows, {} columns in {seconds:.3} s on {} threads: {:.0} MB/s, {:.2} million rows/s",
        table.rows,
        table.columns.len(),
        rayon::current_num_threads(),
        bytes as f64 / 1e6 / seconds,
        table.rows as f64 / 1e6 / seconds,
    );
    for column in &table.columns {
        let (kind, size) = (column.domain.kind().name(), column.domain.cardinality());
        println!("  {}: {kind}, {size} values, {} bytes", column.name, column.codes.bytes());
    }
}
