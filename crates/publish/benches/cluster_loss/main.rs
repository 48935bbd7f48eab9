//! The loss and the time of classes of neighbors: on Adult under several rules beside the best
//! cuts, and on a synthetic census. Up to 40,000 rows under k-anonymity are divided by the
//! quadratic k-member as well.
//!
//! `cargo bench -p hedgerow-publish --bench cluster_loss -- [census rows] [seconds for improving]
//! [cases that contain this text]`

mod k_member;

use std::path::Path;
use std::time::{Duration, Instant};

use hedgerow_policy::{ClassLabels, Loss, Method, Policy};
use hedgerow_publish::bind::{Bound, read_source};
use hedgerow_publish::cluster::{self, ImproveLimit, Neighbors, Objective};
use hedgerow_publish::local::{self, Local, LocalRecoding};
use hedgerow_table::{NoProgress, Table};

const RULES: [(&str, &str); 4] = [
    ("k = 5", "[[rule]]\nrequire = { model = \"k-anonymity\", k = 5 }\n"),
    ("l = 3", "[[rule]]\nprotect = \"occupation\"\nrequire = { model = \"distinct-l-diversity\", l = 3 }\n"),
    ("t = 0.2", "[[rule]]\nprotect = \"occupation\"\nrequire = { model = \"t-closeness\", t = 0.2 }\n"),
    (
        "alpha = 0.3",
        "[[rule]]\nprotect = \"occupation\"\nrequire = { model = \"alpha-k-anonymity\", alpha = 0.3, k = 5 }\n",
    ),
];

/// More rows take k-member minutes.
const K_MEMBER_ROWS_MAX: usize = 40_000;

struct Options {
    seconds: f64,
    only: String,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let number =
        |place: usize, default: f64| arguments.get(place).and_then(|text| text.parse().ok()).unwrap_or(default);
    let options = Options { seconds: number(1, 5.0), only: arguments.get(2).cloned().unwrap_or_default() };
    let adult = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/adult/policy.toml"));
    let text = std::fs::read_to_string(adult).expect("the example that ships with the project");
    for (name, rule) in RULES {
        let protected = if rule.contains("protect") { "sensitive" } else { "quasi" };
        let policy = |hierarchies: bool| with_rule(&text, rule, protected, hierarchies);
        options.compare(&format!("Adult, {name}, sets"), &policy(false), adult, ClassLabels::Set);
        options.compare(&format!("Adult, {name}, hierarchies"), &policy(true), adult, ClassLabels::Hierarchy);
    }
    let rows = number(0, 1_000_000.0) as u64;
    let title = format!("census, {rows} rows, sets");
    if rows > 0 && title.contains(&options.only) {
        let folder = std::env::temp_dir().join(format!("cluster-loss-{}", std::process::id()));
        hedgerow_table::whole::fill_all(hedgerow_synth::example_files(&folder, rows, 1))
            .expect("a folder for temporary files");
        let path = folder.join("policy.toml");
        options.compare(
            &title,
            &with_rule(&hedgerow_synth::census_policy(), RULES[0].1, "quasi", false),
            &path,
            ClassLabels::Set,
        );
        let _ = std::fs::remove_dir_all(&folder);
    }
}

/// The policy with one rule, and the role of the occupation.
fn with_rule(policy: &str, rule: &str, occupation: &str, hierarchies: bool) -> String {
    let mut text = String::new();
    for line in policy.lines().take_while(|line| !line.starts_with("[[rule]]")) {
        let name = line.split('=').next().unwrap_or_default().trim();
        match line.split_once(", hierarchy") {
            Some(_) if name == "occupation" && occupation == "sensitive" => {
                text.push_str("occupation = { role = \"sensitive\" }\n");
            }
            Some((before, _)) if !hierarchies => text.push_str(&format!("{before} }}\n")),
            _ => text.push_str(&format!("{line}\n")),
        }
    }
    text + rule
}

impl Options {
    fn compare(&self, title: &str, policy: &str, path: &Path, labels: ClassLabels) {
        if !title.contains(&self.only) {
            return;
        }
        let policy = Policy::parse(policy, path).unwrap_or_else(|errors| panic!("{errors}"));
        let table = read_source(&policy, &NoProgress).unwrap_or_else(|error| panic!("{error}"));
        let bound = Bound::new(&policy, &table).unwrap_or_else(|error| panic!("{error}"));
        let judge = bound.judge().unwrap_or_else(|error| panic!("{error}"));
        let local = Local { method: Method::BestCut, strict: true, tight: true };
        println!("{title}");
        shown("best-cut", &bound, &table, || local::recode(&bound, &judge, local, &NoProgress));
        let is_k = policy.rules.iter().all(|rule| rule.protect.is_none());
        if is_k && labels == ClassLabels::Set && table.rows <= K_MEMBER_ROWS_MAX {
            let started = Instant::now();
            let loss = k_member::loss(&bound, bound.k() as usize);
            println!("  {:<28} granularity {loss:.5}; {:>7.2} s", "k-member", started.elapsed().as_secs_f64());
        }
        for loss in [Some(Loss::Granularity), None] {
            let objective = Objective::of(loss).expect("a loss of cells");
            let name = loss.map_or("default", Loss::name);
            let neighbors = |limit: ImproveLimit| Neighbors { anew: true, labels, objective, limit };
            let run = |limit: ImproveLimit| cluster::recode(&bound, &judge, local, neighbors(limit), &NoProgress);
            shown(&format!("cluster, {name}"), &bound, &table, || run(ImproveLimit::by_default(labels)));
            if self.seconds > 0.0 {
                let title = format!("cluster, {name}, {} s", self.seconds);
                let end = || Instant::now() + Duration::from_secs_f64(self.seconds);
                shown(&title, &bound, &table, || run(ImproveLimit::Until(end())));
            }
        }
    }
}

fn shown<E: std::fmt::Display>(
    title: &str,
    bound: &Bound<'_>,
    table: &Table,
    run: impl FnOnce() -> Result<LocalRecoding, E>,
) {
    let coded: usize = bound.quasi.iter().map(|quasi| quasi.column.codes.bytes()).sum();
    // From here on the peak is counted anew.
    let before = std::fs::write("/proc/self/clear_refs", "5").ok().and_then(|()| resident("VmRSS:"));
    let (started, busy) = (Instant::now(), cpu_seconds());
    let found = run().unwrap_or_else(|error| panic!("{error}"));
    let (time, busy) = (started.elapsed().as_secs_f64(), cpu_seconds() - busy);
    let grown = before.zip(resident("VmHWM:")).map(|(before, peak)| peak.saturating_sub(before));
    let grown = grown.map_or(f64::NAN, |bytes| bytes as f64 / coded as f64);
    println!(
        "  {title:<28} granularity {:.5}, entropy {:.5}, {:>8} classes of {} rows; {time:>7.2} s, {busy:>7.2} s of cores; \
         memory {grown:.2} times the codes",
        found.granularity(),
        found.entropy(),
        found.sizes.len(),
        table.rows,
    );
}

/// The processor time of this process, where the system tells (Linux).
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks =
        stat.rsplit(')').next().map(|rest| rest.split_whitespace().skip(11).take(2).flat_map(str::parse::<f64>).sum());
    ticks.unwrap_or(f64::NAN) / 100.0
}

/// The memory of this process, in bytes, where the system tells.
fn resident(name: &str) -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<usize>().ok().map(|kilobytes| kilobytes * 1024)
}
