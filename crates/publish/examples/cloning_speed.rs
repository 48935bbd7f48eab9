//! How long cloning takes, from a file to a verified release: `cargo run --release -p hedgerow-publish --example cloning_speed [rows]`
//!
//! Four quasi attributes and fifty sensitive values of the synthetic census; a tenth of the rows first, so that the growth shows.
//! Then the paper's scan, ρ = 20 %, beside the order on 120,000 rows: how long the assignment takes, and how far apart the tuples
//! of a class lie.

use std::fs;
use std::io::BufWriter;
use std::path::Path;
use std::time::Instant;

use hedgerow_policy::Policy;
use hedgerow_publish::{PublishOptions, Published, TableFormat, publish};
use hedgerow_table::NoProgress;

fn main() {
    let rows: u64 = std::env::args().nth(1).map_or(1_000_000, |rows| rows.parse().expect("a number of rows"));
    let folder = std::env::temp_dir().join(format!("cloning-speed-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for temporary files");
    for (name, text) in hedgerow_synth::census_hierarchies() {
        fs::write(folder.join(format!("{name}.csv")), text).expect("written");
    }
    let mut before = None;
    for rows in [rows / 10, rows] {
        let (published, seconds) = run(&folder, rows, "");
        let report = published.cloned.as_ref().expect("cloned");
        println!(
            "{rows} rows: {seconds:.3} s (read {:.3}, assign {:.3}, write and verify {:.3}); {} classes, {} sub-classes, {} distorted",
            published.read_time.as_secs_f64(),
            published.search_time.as_secs_f64(),
            published.write_time.as_secs_f64(),
            report.classes,
            report.sub_classes,
            report.suppressed + report.counterfeits,
        );
        if let Some(before) = before {
            println!("ten times the rows take {:.1} times as long", seconds / before);
        }
        before = Some(seconds);
    }
    let mut order_time = f64::NAN;
    for (name, settings) in [("order", ""), ("scan", "assignment = \"scan\"\nrho = 0.2\n")] {
        let (published, _) = run(&folder, 120_000, settings);
        let report = published.cloned.as_ref().expect("cloned");
        let seconds = published.search_time.as_secs_f64();
        let beside =
            if name == "order" { String::new() } else { format!(", {:.0} times the order", seconds / order_time) };
        println!(
            "{name} on 120000 rows: {seconds:.3} s{beside}; {} generalisation steps, ncp {:.4}",
            report.distortion.steps, report.distortion.ncp,
        );
        order_time = seconds;
    }
    let _ = fs::remove_dir_all(&folder);
}

fn run(folder: &Path, rows: u64, settings: &str) -> (Published, f64) {
    let source = folder.join("census.csv");
    let file = fs::File::create(&source).expect("a temporary file");
    hedgerow_synth::census(rows, 1, &mut BufWriter::new(file)).expect("written");
    let text = format!(
        "[source]\npath = \"census.csv\"\n[attributes]\nage = {{ role = \"quasi\", hierarchy = {{ widths = [5, 10, 20] }} }}\n\
         sex = {{ role = \"quasi\" }}\neducation = {{ role = \"quasi\", hierarchy = \"education.csv\" }}\n\
         birthplace = {{ role = \"quasi\", hierarchy = \"birthplace.csv\" }}\noccupation = {{ role = \"sensitive\" }}\n\
         [publish]\nmethod = \"clone\"\n{settings}"
    );
    let policy = Policy::parse(&text, &folder.join("policy.toml")).unwrap_or_else(|errors| panic!("{errors}"));
    let options = PublishOptions {
        destination: folder.join("release"),
        overwrite: true,
        format: TableFormat::Csv,
        seed: None,
        candidates: false,
        nodes_max: None,
        seconds_max: None,
        beside: Default::default(),
        progress: &NoProgress,
    };
    let started = Instant::now();
    let published = publish(&policy, &options).unwrap_or_else(|error| panic!("{error}"));
    (published, started.elapsed().as_secs_f64())
}
