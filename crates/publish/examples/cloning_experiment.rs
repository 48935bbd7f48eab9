//! The experiment behind the method: five publishers who know nothing of each other, and the people they share (Baig, Li, Liu, Wang 2011, section 7).
//!
//! `cargo run --release -p hedgerow-publish --example cloning_experiment [rows per publisher]`
//!
//! A synthetic census is dealt to five publishers, and from a pool the same people are added to each of them. Each publishes
//! (age, sex, education, birthplace | occupation), by Mondrian under distinct l-diversity or by cloning. The composition
//! adversary knows who is shared, lays the first release beside each of the others, and counts whose occupation is the only one
//! left; printed is the largest of the four counts.

use std::fs;
use std::path::{Path, PathBuf};

use hedgerow_audit::{AuditOptions, MeasuredClones, QueryOptions, audit, measure_clones};
use hedgerow_policy::Policy;
use hedgerow_publish::bind::read_source;
use hedgerow_publish::{PublishOptions, Published, TableFormat, publish};
use hedgerow_table::release::cloned::Cloned;
use hedgerow_table::release::manifest::Manifest;
use hedgerow_table::release::open::open_release;
use hedgerow_table::{NoProgress, Table};

const PUBLISHERS: usize = 5;
const LS: [u64; 5] = [2, 4, 6, 8, 10];

fn main() {
    let own: usize = std::env::args().nth(1).map_or(100_000, |rows| rows.parse().expect("a number of rows"));
    let folder = std::env::temp_dir().join(format!("cloning-experiment-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for temporary files");
    for (name, text) in hedgerow_synth::census_hierarchies() {
        fs::write(folder.join(format!("{name}.csv")), text).expect("written");
    }
    let mut census = Vec::new();
    hedgerow_synth::census((own * (PUBLISHERS + 1)) as u64, 1, &mut census).expect("in memory");
    let census = String::from_utf8(census).expect("text");
    let lines: Vec<&str> = census.lines().collect();
    let (header, people) = (lines[0], &lines[1..]);
    let pool = &people[own * PUBLISHERS..];
    println!("people at risk, of those shared; {own} others in each of {PUBLISHERS} tables");
    let columns = LS.map(|l| format!("{:>9}", format!("l = {l}"))).concat();
    println!("{:>8} {columns} {:>9} {:>20} {:>18}", "shared", "cloning", "distorted tuples", "median error");
    for share in 1..=5 {
        let shared = &pool[..own * share / 5];
        let sources: Vec<PathBuf> = (0..PUBLISHERS)
            .map(|publisher| {
                let path = folder.join(format!("source-{publisher}.csv"));
                let own = &people[own * publisher..own * (publisher + 1)];
                fs::write(&path, [&[header], own, shared].concat().join("\n") + "\n").expect("written");
                path
            })
            .collect();
        let shared_path = folder.join("shared.csv");
        fs::write(&shared_path, [&[header], shared].concat().join("\n") + "\n").expect("written");
        let shared_people = read_source(&policy(&shared_path, "full-domain", 2), &NoProgress).expect("written above");
        let at_risk = LS.map(|l| {
            let releases = publish_all(&sources, |source| policy(source, "mondrian", l));
            format!("{:>9}", worst(&releases, &shared_people))
        });
        let releases = publish_all(&sources, |source| policy(source, "clone", 0));
        let cloned = worst(&releases, &shared_people);
        let reports: Vec<_> = releases.iter().filter_map(|(_, published)| published.cloned.as_ref()).collect();
        let distorted = reports.iter().map(|report| report.suppressed + report.counterfeits).max().unwrap_or(0);
        let rows = (own + shared.len()) as f64;
        println!(
            "{:>8} {} {cloned:>9} {:>11} ({:.2} %) {:>16.2} %",
            shared.len(),
            at_risk.concat(),
            distorted,
            100.0 * distorted as f64 / rows,
            100.0 * median_error(&sources[0], &releases[0].0),
        );
    }
    let _ = fs::remove_dir_all(&folder);
}

fn policy(source: &Path, method: &str, l: u64) -> Policy {
    let rule = match method {
        "clone" => String::new(),
        _ => format!("[[rule]]\nprotect = \"occupation\"\nrequire = {{ model = \"distinct-l-diversity\", l = {l} }}\n"),
    };
    let text = format!(
        "[source]\npath = \"{}\"\n[attributes]\nage = {{ role = \"quasi\", hierarchy = {{ widths = [5, 10, 20] }} }}\n\
         sex = {{ role = \"quasi\" }}\neducation = {{ role = \"quasi\", hierarchy = \"education.csv\" }}\n\
         birthplace = {{ role = \"quasi\", hierarchy = \"birthplace.csv\" }}\noccupation = {{ role = \"sensitive\" }}\n\
         {rule}[publish]\nmethod = \"{method}\"\n",
        source.file_name().and_then(|name| name.to_str()).expect("named above"),
    );
    Policy::parse(&text, &source.with_file_name("policy.toml")).unwrap_or_else(|errors| panic!("{errors}"))
}

fn publish_all(sources: &[PathBuf], policy: impl Fn(&Path) -> Policy) -> Vec<(PathBuf, Published)> {
    let publish = |source: &PathBuf| {
        let destination = source.with_extension("release");
        let options = PublishOptions {
            destination: destination.clone(),
            overwrite: true,
            format: TableFormat::Csv,
            seed: None,
            candidates: false,
            nodes_max: None,
            seconds_max: None,
            beside: Default::default(),
            progress: &NoProgress,
        };
        (destination, publish(&policy(source), &options).unwrap_or_else(|error| panic!("{error}")))
    };
    sources.iter().map(publish).collect()
}

/// The most people at risk in the first release beside any other.
fn worst(releases: &[(PathBuf, Published)], people: &Table) -> u64 {
    let options =
        AuditOptions { people: Some(people), adversaries: vec!["composition".to_owned()], ..AuditOptions::default() };
    let at_risk = releases[1..].iter().map(|(other, _)| {
        let opened = [&releases[0].0, other].map(|path| open_release(path, &NoProgress).expect("just written"));
        audit(&opened, &options).expect("they hold the same attributes").findings[0].at_risk
    });
    at_risk.max().unwrap_or(0)
}

fn median_error(source: &Path, release: &Path) -> f64 {
    let policy = policy(source, "clone", 0);
    let table = read_source(&policy, &NoProgress).expect("written above");
    let manifest = Manifest::read(release).expect("just written");
    let released = Cloned::read(release, &manifest, &NoProgress).expect("just written");
    let input = MeasuredClones {
        source: &table,
        released: &released,
        quasi: vec!["age", "sex", "education", "birthplace"],
        k: 1,
        rows_suppressed: manifest.hedgerow.rows.suppressed,
    };
    let measures = measure_clones(&input, &QueryOptions::default(), &NoProgress).expect("they belong together");
    measures.queries.expect("some were asked").median
}
