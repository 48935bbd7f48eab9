//! How fast Mondrian divides, beside the time that sorting the rows by one 64-bit key takes in the
//! same run, and how much memory it takes beside the coded columns: by how much the process grew at
//! its peak, where the system tells (Linux).
//!
//! `cargo bench -p hedgerow-publish --bench local_speed -- [census
//! rows]`. glibc keeps freed memory for later; with `MALLOC_MMAP_THRESHOLD_=65536` it gives it
//! back, so that no growth is hidden.

use std::path::Path;
use std::time::Instant;

use hedgerow_cuts::Axis;
use hedgerow_policy::{Method, Policy};
use hedgerow_publish::bind::{Bound, read_source};
use hedgerow_publish::local::partition::{Fields, PackedKey, pack};
use hedgerow_publish::local::rules::Rules;
use hedgerow_publish::local::{Local, divide};
use hedgerow_table::{NoProgress, Table, with_words};
use rayon::prelude::*;

const ROUNDS: usize = 5;

fn main() {
    let rows: u64 = std::env::args()
        .skip(1)
        .find(|argument| argument != "--bench")
        .map_or(10_000_000, |rows| rows.parse().expect("a number of rows"));
    let adult_path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/adult/policy.toml");
    let text = std::fs::read_to_string(&adult_path).expect("the example is part of the project");
    // Eight attributes: the salary class stays out.
    let adult = plain(&text, "salary-class");
    let policy = Policy::parse(&adult, &adult_path).unwrap_or_else(|errors| panic!("{errors}"));
    run("Adult, 8 attributes, k = 5", &policy);
    let folder = std::env::temp_dir().join(format!("local-speed-{}", std::process::id()));
    hedgerow_table::whole::fill_all(hedgerow_synth::example_files(&folder, rows, 1))
        .expect("a folder for temporary files");
    let census = plain(&hedgerow_synth::census_policy(), "marital-status").replace("k = 5", "k = 10");
    let policy = Policy::parse(&census, &folder.join("policy.toml")).unwrap_or_else(|errors| panic!("{errors}"));
    run(&format!("census, {rows} rows, 7 attributes, k = 10"), &policy);
    let _ = std::fs::remove_dir_all(&folder);
}

fn run(title: &str, policy: &Policy) {
    let table = read_source(policy, &NoProgress).unwrap_or_else(|error| panic!("{error}"));
    let bound = Bound::new(policy, &table).unwrap_or_else(|error| panic!("{error}"));
    let coded: usize = bound.quasi.iter().map(|quasi| quasi.column.codes.bytes()).sum();
    println!("{title}: {} attributes, {:.1} bytes of codes a row", bound.quasi.len(), coded as f64 / table.rows as f64);
    let (sorted_keys, sorted_pairs) = sorts(&bound, &table);
    println!("  sort of 64-bit keys         {sorted_keys:>8.1} ms");
    println!("  sort of (key, row) by key   {sorted_pairs:>8.1} ms");
    for (name, method, strict) in [
        ("mondrian", Method::Mondrian, true),
        ("mondrian, relaxed", Method::Mondrian, false),
        ("best-cut", Method::BestCut, true),
    ] {
        let (time, classes, grown) = divided(&bound, &table, Local { method, strict, tight: false });
        let grown =
            grown.map_or("unknown".to_owned(), |bytes| format!("{:.2} times the codes", bytes as f64 / coded as f64));
        println!(
            "  {name:<25} {time:>10.1} ms = {:.2} sorts of keys, {:.2} of pairs; {classes} classes; memory {grown}",
            time / sorted_keys,
            time / sorted_pairs,
        );
    }
}

fn best(mut run: impl FnMut() -> f64) -> f64 {
    (0..ROUNDS).map(|_| run()).fold(f64::INFINITY, f64::min)
}

/// All quasi attributes in one key, as the recoder packs them, spread by a multiplication so that
/// no order is left.
fn sorts(bound: &Bound<'_>, table: &Table) -> (f64, f64) {
    let axes: Vec<Axis> = bound.axes();
    let fields = Fields::new(&bound.judged_cardinalities(), table.rows).expect("few attributes");
    let keys: Vec<u64> = with_words!(fields.words, W => {
        let packed: Vec<PackedKey<W>> = pack(&fields, &axes, &bound.judged_codes(), table.rows);
        packed.iter().map(|key| key.iter().fold(0, |sum: u64, word| sum.rotate_left(7) ^ word)).collect()
    });
    let alone = best(|| {
        let mut sorted = keys.clone();
        let started = Instant::now();
        sorted.par_sort_unstable();
        std::hint::black_box(&sorted);
        started.elapsed().as_secs_f64() * 1e3
    });
    let pairs = best(|| {
        let mut sorted: Vec<(u64, u32)> = keys.iter().copied().zip(0..).collect();
        let started = Instant::now();
        sorted.par_sort_unstable_by_key(|pair| pair.0);
        std::hint::black_box(&sorted);
        started.elapsed().as_secs_f64() * 1e3
    });
    (alone, pairs)
}

/// From coded columns to the class of every row: milliseconds, classes, and the bytes that the
/// process grew by at most.
fn divided(bound: &Bound<'_>, table: &Table, local: Local) -> (f64, usize, Option<usize>) {
    let judge = bound.judge().unwrap_or_else(|error| panic!("{error}"));
    let (mut classes, mut grown) = (0, None);
    let time = best(|| {
        // From here on the peak is counted anew.
        let before = std::fs::write("/proc/self/clear_refs", "5").ok().and_then(|()| resident("VmRSS:"));
        let started = Instant::now();
        let axes: Vec<Axis> = bound.axes();
        let cardinalities = bound.judged_cardinalities();
        let fields = Fields::new(&cardinalities, table.rows).expect("few attributes");
        let rules = Rules::new(&judge, &fields, &cardinalities, axes.len());
        with_words!(fields.words, W => {
            let (_, found) = divide::<W>(bound, &axes, &fields, &rules, local, &NoProgress).expect("the whole holds");
            classes = found.len();
        });
        let time = started.elapsed().as_secs_f64() * 1e3;
        let peak = before.zip(resident("VmHWM:")).map(|(before, peak)| peak.saturating_sub(before));
        grown = grown.max(peak);
        time
    });
    (time, classes, grown)
}

/// The memory of this process, in bytes, where the system tells.
fn resident(name: &str) -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<usize>().ok().map(|kilobytes| kilobytes * 1024)
}

/// The policy with one attribute released as it is, and so without a hierarchy.
fn plain(policy: &str, name: &str) -> String {
    let of_it = |line: &str| line.split('=').next().is_some_and(|key| key.trim() == name);
    let adjusted =
        |line: &str| if of_it(line) { format!("{name} = {{ role = \"plain\" }}\n") } else { format!("{line}\n") };
    policy.lines().map(adjusted).collect()
}
