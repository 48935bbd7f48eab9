//! How fast files are read, in turns: `cargo bench -p hedgerow-table --bench read_speed -- FILE…`.
//! `RAYON_NUM_THREADS` sets the number of threads.

use std::path::PathBuf;
use std::time::Instant;

use hedgerow_table::read::{ReadOptions, read_table};
use hedgerow_table::{Table, TableError};

const TURNS: usize = 5;

fn main() -> Result<(), TableError> {
    // `cargo bench` passes `--bench` on.
    let paths: Vec<PathBuf> =
        std::env::args_os().skip(1).filter(|argument| argument != "--bench").map(PathBuf::from).collect();
    let mut fastest = vec![f64::INFINITY; paths.len()];
    for turn in 0..TURNS {
        for (path, fastest) in paths.iter().zip(&mut fastest) {
            let begun = Instant::now();
            let table = read_table(path, &ReadOptions::default())?;
            let seconds = begun.elapsed().as_secs_f64();
            *fastest = fastest.min(seconds);
            if turn == 0 {
                describe(&table);
            }
        }
    }
    for (path, seconds) in paths.iter().zip(fastest) {
        println!("{}: fastest of {TURNS} on {} threads: {seconds:.3} s", path.display(), rayon::current_num_threads());
    }
    Ok(())
}

fn describe(table: &Table) {
    println!("{} rows", table.rows);
    for column in &table.columns {
        let (kind, size) = (column.domain.kind().name(), column.domain.cardinality());
        println!("  {}: {kind}, {size} values, {} bytes", column.name, column.codes.bytes());
    }
}
