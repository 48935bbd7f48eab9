//! How long it takes to publish by the policy that `init` proposes for a wide table: 280,005 rows
//! of 68 columns, of which two dozen become sensitive.
//!
//! `cargo bench -p hedgerow --bench wide_table -- [ROWS] [FOLDER]`. In a folder that is given the
//! table stays behind, for the command itself to be timed on it.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::PathBuf;
use std::time::Instant;

mod records;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let rows: u64 = arguments.first().map_or(280_005, |rows| rows.parse().expect("a number of rows"));
    let kept = arguments.get(1).map(PathBuf::from);
    let folder =
        kept.clone().unwrap_or_else(|| std::env::temp_dir().join(format!("wide-table-{}", std::process::id())));
    fs::create_dir_all(&folder).expect("a folder for temporary files");
    let table = folder.join("records.csv");
    let mut out = BufWriter::new(File::create(&table).expect("space for a temporary file"));
    records::write(rows, &mut out).expect("space for a temporary file");
    drop(out);
    let started = Instant::now();
    let proposal = hedgerow::init(&table, folder.join("policy.toml")).unwrap_or_else(|error| panic!("{error}"));
    proposal.write(true).unwrap_or_else(|error| panic!("{error}"));
    println!("init     {:>7.2} s", started.elapsed().as_secs_f64());
    let policy = hedgerow::Policy::load(folder.join("policy.toml")).unwrap_or_else(|errors| panic!("{errors}"));
    let started = Instant::now();
    let publish = hedgerow::Publish::new(&policy, folder.join("release")).overwrite(true).explain(true);
    let published = publish.run().unwrap_or_else(|error| panic!("{error}"));
    println!("publish  {:>7.2} s, {} rules", started.elapsed().as_secs_f64(), published.guarantees.len());
    println!("{}", serde_json::to_string(&published).expect("what is published can be written as JSON"));
    if kept.is_none() {
        let _ = fs::remove_dir_all(&folder);
    }
}
