//! How long cloning takes, from a file to a verified release:
//! `cargo bench -p hedgerow-publish --bench cloning_speed [rows]`
//!
//! Four quasi attributes and fifty sensitive values of the synthetic census; a tenth of the rows
//! first, so that the growth shows. Then the paper's scan, ρ = 20 %, compared with the default on
//! 120,000 rows, with occupation and with income as the sensitive attribute: how long the
//! assignment of tuples to classes takes (the best of nine runs of either), and how far apart the
//! tuples of a class lie.

mod census;

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::time::Instant;

use census::Folder;

/// Of these, the best is reported: other work on the machine only makes runs longer.
const RUNS: usize = 9;

/// Compared with the scan.
const ROWS_BESIDE: u64 = 120_000;

fn main() {
    let rows: u64 = std::env::args().find_map(|rows| rows.parse().ok()).unwrap_or(1_000_000);
    let folder = Folder::new("cloning-speed");
    let mut before = None;
    for rows in [rows / 10, rows] {
        let source = write(&folder, rows);
        let started = Instant::now();
        let (_, published) = folder.publish(&source, "occupation", "", "method = \"clone\"\n");
        let seconds = started.elapsed().as_secs_f64();
        let report = published.cloned.as_ref().expect("cloned");
        println!(
            "{rows} rows: {seconds:.3} s (read {:.3}, assign and cut {:.3}, write and verify {:.3}); {} classes, {} sub-classes, {} distorted",
            published.read_time.as_secs_f64(),
            published.search_time.as_secs_f64(),
            published.write_time.as_secs_f64(),
            report.classes,
            report.sub_classes.count,
            report.suppressed + report.counterfeits,
        );
        if let Some(before) = before {
            println!("ten times the rows take {:.1} times as long", seconds / before);
        }
        before = Some(seconds);
    }
    let source = write(&folder, ROWS_BESIDE);
    for sensitive in ["occupation", "income"] {
        let assign = |settings: &str| {
            let (_, published) = folder.publish(&source, sensitive, "", &format!("method = \"clone\"\n{settings}"));
            let report = published.cloned.expect("cloned");
            (report.assign_time.as_secs_f64(), report.distortion, report.classes)
        };
        let best =
            |settings: &str| (0..RUNS).map(|_| assign(settings)).min_by(|a, b| a.0.total_cmp(&b.0)).expect("some runs");
        let (order, distortion, classes) = best("");
        let lost = format!("{} generalization steps, ncp {:.4}", distortion.steps, distortion.ncp);
        println!("{sensitive}, {classes} classes, by default: {order:.3} s; {lost}");
        let (scan, distortion, _) = best("assignment = \"scan\"\nrho = 0.2\n");
        let lost = format!("{} generalization steps, ncp {:.4}", distortion.steps, distortion.ncp);
        println!("{sensitive}, by scan: {scan:.3} s, {:.0} times as long; {lost}", scan / order);
    }
}

fn write(folder: &Folder, rows: u64) -> PathBuf {
    let source = folder.file("census.csv");
    let file = File::create(&source).expect("a temporary file");
    hedgerow_synth::census(rows, 1, &mut BufWriter::new(file)).expect("written");
    source
}
