//! The experiment behind the method: five publishers who know nothing of each other, and the people they share (Baig, Li, Liu, Wang 2011, section 7).
//!
//! `cargo run --release -p hedgerow-publish --example cloning_experiment [rows per publisher]`
//!
//! A synthetic census is dealt to five publishers, and from a pool the same people are added to each of them. Each publishes
//! (age, sex, education, birthplace | occupation), by Mondrian under distinct l-diversity or by cloning. The composition
//! adversary knows who is shared, lays the first release beside each of the others, and counts whose occupation is the only one
//! left; printed is the largest of the four counts. Distorted tuples are those left out and those made up, with the paper's number of classes
//! and with `max-epsilon = 0.0003`.
//!
//! Then count queries on the first table with 20 % shared: each asks for a share δ of the values of every attribute. Since every class has the same
//! occupations, no such release can tell how occupation goes with the other attributes: the error of exact counts of the others times
//! the share of the occupations is printed beside.

use std::fs;
use std::path::{Path, PathBuf};

use hedgerow_audit::query::{Release, answer};
use hedgerow_audit::{AuditOptions, audit};
use hedgerow_policy::Policy;
use hedgerow_publish::bind::read_source;
use hedgerow_publish::{PublishOptions, Published, TableFormat, publish};
use hedgerow_table::release::open::open_release;
use hedgerow_table::{Column, NoProgress, Table};
use rand::rngs::StdRng;
use rand::seq::index;
use rand::{RngExt, SeedableRng};

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
    println!("{:>8} {columns} {:>9} {:>22} {:>22}", "shared", "cloning", "distorted tuples", "with max-epsilon");
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
        let rows = (own + shared.len()) as f64;
        let told = |distorted: u64| format!("{distorted:>13} ({:.2} %)", 100.0 * distorted as f64 / rows);
        let distorted = reports.iter().map(|report| report.suppressed + report.counterfeits).max().unwrap_or(0);
        let limited = publish_all(&sources[..1], |source| policy(source, "clone", 3));
        let limited = limited[0].1.cloned.as_ref().map_or(0, |report| report.suppressed + report.counterfeits);
        println!("{:>8} {} {cloned:>9} {} {}", shared.len(), at_risk.concat(), told(distorted), told(limited));
        if share == 1 {
            let released = publish_all(&sources[..1], |source| policy(source, "clone", 0));
            query_errors(&sources[0], &released[0].0);
        }
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
         {rule}[publish]\nmethod = \"{method}\"\n{}",
        source.file_name().and_then(|name| name.to_str()).expect("named above"),
        if method == "clone" && l > 0 { format!("max-epsilon = {}\n", l as f64 / 10_000.0) } else { String::new() },
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

const QUERIES: usize = 200;

/// Median relative errors of queries about all attributes and about all but the occupation.
fn query_errors(source: &Path, release: &Path) {
    let table = read_source(&policy(source, "clone", 0), &NoProgress).expect("written above");
    let release = Release::read(release, &NoProgress).expect("just written");
    let columns: Vec<&Column> = NAMES.iter().map(|name| table.column(name).expect("read above")).collect();
    for share in [0.3, 0.5, 0.7, 0.9] {
        let mut rng = StdRng::seed_from_u64(1);
        let mut errors = [const { Vec::new() }; 3];
        for _ in 0..QUERIES {
            let asked: Vec<Asked> = columns.iter().map(|column| Asked::draw(column, share, &mut rng)).collect();
            let counts = [4, 5].map(|attributes| {
                let holds = |row: &usize| {
                    columns[..attributes]
                        .iter()
                        .zip(&asked)
                        .all(|(column, asked)| asked.codes[column.codes.get(*row) as usize])
                };
                (0..table.rows).filter(holds).count() as f64
            });
            let occupations =
                (0..table.rows).filter(|&row| asked[4].codes[columns[4].codes.get(row) as usize]).count() as f64;
            let estimates = [4, 5].map(|attributes| {
                let conditions: Vec<&str> = asked[..attributes].iter().map(|asked| asked.sql.as_str()).collect();
                let sql = format!("SELECT COUNT(*) FROM data WHERE {}", conditions.join(" AND "));
                let found = answer(&release, &sql).unwrap_or_else(|error| panic!("{error}")).to_json();
                found["answer"][0]["COUNT(*)"]["estimate"].as_f64().expect("a number")
            });
            let alike = counts[0] * occupations / table.rows as f64;
            for (errors, (told, counted)) in
                errors.iter_mut().zip([(estimates[0], counts[0]), (estimates[1], counts[1]), (alike, counts[1])])
            {
                errors.push((told - counted).abs() / counted.max(1.0));
            }
        }
        let [without, with, floor] = errors.map(|mut errors| {
            errors.sort_by(f64::total_cmp);
            100.0 * errors[errors.len() / 2]
        });
        println!(
            "δ = {share}: median error {without:.2} % without occupation, {with:.2} % with it; {floor:.2} % were all else exact"
        );
    }
}

const NAMES: [&str; 5] = ["age", "sex", "education", "birthplace", "occupation"];

/// What a query asks of one attribute.
struct Asked {
    codes: Vec<bool>,
    sql: String,
}

impl Asked {
    fn draw(column: &Column, share: f64, rng: &mut StdRng) -> Asked {
        let values = column.domain.cardinality();
        let some = ((share * values as f64).round() as usize).clamp(1, values);
        let mut codes = vec![false; values];
        if column.name == "age" {
            let first = rng.random_range(0..=values - some);
            codes[first..first + some].fill(true);
            let [low, high] = [first, first + some - 1].map(|code| column.domain.text(code as u32));
            return Asked { codes, sql: format!("age BETWEEN {low} AND {high}") };
        }
        let chosen = index::sample(rng, values, some).into_vec();
        chosen.iter().for_each(|&code| codes[code] = true);
        let texts: Vec<String> =
            chosen.iter().map(|&code| format!("'{}'", column.domain.text(code as u32).replace('\'', "''"))).collect();
        Asked { codes, sql: format!("{} IN ({})", column.name, texts.join(", ")) }
    }
}
