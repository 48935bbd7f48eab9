//! How much counting units costs, and looking for dependencies: each beside the run that it must
//! keep up with. Ends with code 1 where a limit is exceeded.
//!
//! - Rows without units: the same rows and policy with and without the column that would say whom
//!   each row is about, as an identifier. They must take about as long (reported, no limit).
//! - Units: a third as many units as rows, full-domain, from coded columns to the written release;
//!   at most 2.5 times the same rows without units.
//! - Dependencies: all columns on both sides, beside reading them from a file; at most as long.
//!
//! Processor time is compared where the system tells it (Linux), so that other work on the machine
//! matters little; elsewhere the time that passes.
//!
//! `cargo bench -p hedgerow-publish --bench unit_speed -- [rows]`, 3000000 when absent.

use std::io::Write as _;
use std::path::Path;
use std::sync::LazyLock;
use std::time::Instant;

use hedgerow_policy::Policy;
use hedgerow_publish::bind::read_source;
use hedgerow_publish::{PublishOptions, publish};
use hedgerow_table::dependencies::{DependencySearch, find};
use hedgerow_table::engine::Embedded;
use hedgerow_table::{NoProgress, Ratio, Table};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const ROUNDS: usize = 3;
const UNITS_LIMIT: f64 = 2.5;
const SEARCH_LIMIT: f64 = 1.0;
/// Columns of the table that is searched for dependencies.
const COLUMNS: usize = 20;

fn main() {
    let rows: u64 = std::env::args()
        .skip(1)
        .find(|argument| argument != "--bench")
        .map_or(3_000_000, |rows| rows.parse().expect("a number of rows"));
    let folder = std::env::temp_dir().join(format!("unit-speed-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for temporary files");
    let within = [units(&folder, rows), dependencies(&folder, rows)];
    let _ = std::fs::remove_dir_all(&folder);
    if within.contains(&false) {
        std::process::exit(1);
    }
}

/// Stays of people who keep most of what they are: age, place and sex, with a diagnosis each.
fn write_stays(path: &Path, rows: u64) {
    let mut rng = StdRng::seed_from_u64(1);
    let mut out = std::io::BufWriter::new(std::fs::File::create(path).expect("a new file"));
    writeln!(out, "patient,age,zip,sex,year,diagnosis").expect("room on the disk");
    let people = (rows / 3).max(1);
    for row in 0..rows {
        // Every person once, then at random: one to many rows each.
        let person = if row < people { row } else { rng.random_range(0..people) };
        let mut own = StdRng::seed_from_u64(person);
        let (age, zip) = (own.random_range(0..90u32), own.random_range(0..500u32));
        let (sex, year) = (own.random_range(0..2u32), rng.random_range(2015..2025u32));
        let diagnosis = rng.random_range(0..40u32);
        writeln!(out, "{person},{age},{zip:03},{sex},{year},d{diagnosis:02}").expect("room on the disk");
    }
}

fn stays_policy(patient: &str) -> String {
    format!(
        "[source]\npath = \"stays.csv\"\n[attributes]\n{patient}\
         age = {{ role = \"quasi\", hierarchy = {{ widths = [5, 10, 30] }} }}\n\
         zip = {{ role = \"quasi\", type = \"category\", hierarchy = {{ mask = 3 }} }}\nsex = {{ role = \"quasi\" }}\n\
         year = {{ role = \"quasi\", hierarchy = {{ widths = [5] }} }}\ndiagnosis = {{ role = \"sensitive\" }}\n\
         [[rule]]\nrequire = {{ model = \"k-anonymity\", k = 5 }}\n\
         [[rule]]\nprotect = \"diagnosis\"\nrequire = {{ model = \"distinct-l-diversity\", l = 3 }}\n\
         [publish]\nsuppression = 0.05\n"
    )
}

fn units(folder: &Path, rows: u64) -> bool {
    write_stays(&folder.join("stays.csv"), rows);
    let run = |patient: &str| {
        let policy = Policy::parse(&stays_policy(patient), &folder.join("policy.toml"));
        let policy = policy.unwrap_or_else(|errors| panic!("{errors}"));
        let table = read_source(&policy, &NoProgress).unwrap_or_else(|error| panic!("{error}"));
        let mut nodes = 0;
        let spent_ms = best(|| {
            let (spent_ms, judged) = published(&policy, &table, folder);
            nodes = judged;
            spent_ms
        });
        (spent_ms, nodes)
    };
    println!("{rows} rows, {} people, full-domain, k = 5, l = 3:", (rows / 3).max(1));
    let (absent, nodes) = run("");
    println!("  without units                         {absent:>9.0} ms, {nodes} nodes judged");
    let (off, _) = run("patient = { role = \"identifier\" }\n");
    println!("  the unit's column as an identifier    {off:>9.0} ms = {:.2} times", off / absent);
    let (on, nodes) = run("patient = { role = \"unit\" }\n");
    let times = on / off.min(absent);
    println!(
        "  counting units                        {on:>9.0} ms = {times:.2} times, at most {UNITS_LIMIT}; {nodes} nodes judged"
    );
    times <= UNITS_LIMIT
}

/// Milliseconds from coded columns to the release in its place, and the nodes that were judged.
fn published(policy: &Policy, table: &Table, folder: &Path) -> (f64, u64) {
    let release = folder.join("release");
    let _ = std::fs::remove_dir_all(&release);
    let started = spent_ms();
    let found = publish(policy, table.into(), &PublishOptions::to(release)).unwrap_or_else(|error| panic!("{error}"));
    let spent_ms = spent_ms() - started;
    let explain = found.searched.map(|searched| searched.explain);
    (spent_ms, explain.map_or(0, |explain| explain.judged_first + explain.judged_proof))
}

/// Columns of all sizes, some of which follow from others, exactly or nearly.
fn write_columns(path: &Path, rows: u64) {
    let mut rng = StdRng::seed_from_u64(2);
    let mut out = std::io::BufWriter::new(std::fs::File::create(path).expect("a new file"));
    let names: Vec<String> = (0..COLUMNS).map(|column| format!("c{column:02}")).collect();
    writeln!(out, "{}", names.join(",")).expect("room on the disk");
    for _ in 0..rows {
        let mut cells = [0u32; COLUMNS];
        for column in 0..COLUMNS {
            cells[column] = match column % 5 {
                // A few values, hundreds, tens of thousands.
                0 => rng.random_range(0..7),
                1 => rng.random_range(0..300),
                2 => rng.random_range(0..20_000),
                // What follows from the one before, and what nearly does.
                3 => cells[column - 1] / 100,
                _ if rng.random_bool(0.005) => rng.random_range(0..50),
                _ => cells[column - 3] / 6,
            };
        }
        let cells = cells.map(|cell| cell.to_string());
        writeln!(out, "{}", cells.join(",")).expect("room on the disk");
    }
}

fn dependencies(folder: &Path, rows: u64) -> bool {
    write_columns(&folder.join("columns.csv"), rows);
    let attributes: String = (0..COLUMNS).map(|column| format!("c{column:02} = {{ role = \"quasi\" }}\n")).collect();
    let text = format!(
        "[source]\npath = \"columns.csv\"\n[attributes]\n{attributes}[[rule]]\nrequire = {{ model = \"k-anonymity\", k = 5 }}\n\
         [publish]\nmethod = \"mondrian\"\n"
    );
    let policy = Policy::parse(&text, &folder.join("policy.toml")).unwrap_or_else(|errors| panic!("{errors}"));
    let mut table = None;
    let reading = best(|| {
        let started = spent_ms();
        table = Some(read_source(&policy, &NoProgress).unwrap_or_else(|error| panic!("{error}")));
        spent_ms() - started
    });
    let table = table.expect("read at least once");
    let columns: Vec<usize> = (0..COLUMNS).collect();
    let mut count = 0;
    let searching = best(|| {
        let started = spent_ms();
        let wanted =
            DependencySearch { from: &columns, to: &columns, tolerance: Ratio::from_decimal(0.01).expect("a share") };
        let found = find(&Embedded::new(&table), &wanted, &NoProgress).unwrap_or_else(|error| panic!("{error}"));
        count = found.expect("rows in memory").len();
        spent_ms() - started
    });
    let times = searching / reading;
    println!("{rows} rows, {COLUMNS} columns:");
    println!("  reading                               {reading:>9.0} ms");
    println!(
        "  {count:>4} dependencies                     {searching:>9.0} ms = {times:.2} times, at most {SEARCH_LIMIT}"
    );
    times <= SEARCH_LIMIT
}

/// Milliseconds of all processors for this process, or since it began where these are not known.
fn spent_ms() -> f64 {
    static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
    // Fields 14 and 15, of which the second is the program's name in parentheses, in ticks of 10
    // ms.
    let ticks = std::fs::read_to_string("/proc/self/stat").ok().and_then(|stat| {
        let after_name = stat.rsplit_once(')')?.1;
        let fields: Vec<&str> = after_name.split_whitespace().collect();
        Some(fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?)
    });
    ticks.map_or_else(|| BEGAN.elapsed().as_secs_f64() * 1e3, |ticks| ticks as f64 * 10.0)
}

fn best(mut run: impl FnMut() -> f64) -> f64 {
    (0..ROUNDS).map(|_| run()).fold(f64::INFINITY, f64::min)
}
