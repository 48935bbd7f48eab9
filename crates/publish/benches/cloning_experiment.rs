//! The experiment behind the method: five publishers who know nothing of each other, and the people
//! they share (Baig, Li, Liu, Wang 2011, section 7).
//!
//! `cargo bench -p hedgerow-publish --bench cloning_experiment -- [rows per publisher]`
//!
//! A synthetic census is dealt to five publishers, and from a pool the same people are added to
//! each of them. Each publishes (age, sex, education, birthplace | occupation), by Mondrian under
//! distinct l-diversity or by cloning. The composition adversary knows who is shared, combines the
//! first release with each of the others, and counts whose occupation is the only one left; printed
//! is the largest of the four counts. Distorted tuples are those suppressed and the counterfeits,
//! with the paper's number of classes and with `max-distorted = 0.01`.
//!
//! First come count queries on the first table with 20 % shared: each selects a share δ of the
//! values of every attribute. Since every class has the same occupations, no such release can show
//! how occupation goes with the other attributes: the error of exact counts of the others times the
//! share of the occupations is printed next to it. Then the same with the occupations shuffled
//! among all people, where there is nothing more to show, and with income.

mod census;

use std::fs;
use std::path::{Path, PathBuf};

use census::Folder;
use hedgerow_audit::query::answer;
use hedgerow_audit::{AuditOptions, audit};
use hedgerow_publish::Published;
use hedgerow_publish::bind::read_source;
use hedgerow_release::Release;
use hedgerow_table::{Column, NoProgress, Table};
use rand::rngs::StdRng;
use rand::seq::{SliceRandom, index};
use rand::{RngExt, SeedableRng};

const PUBLISHERS: usize = 5;
const LS: [u64; 5] = [2, 4, 6, 8, 10];
const CLONE: &str = "method = \"clone\"\n";

fn main() {
    let own: usize = std::env::args().find_map(|rows| rows.parse().ok()).unwrap_or(100_000);
    let folder = Folder::new("cloning-experiment");
    let mut census = Vec::new();
    hedgerow_synth::census((own * (PUBLISHERS + 1)) as u64, 1, &mut census).expect("in memory");
    let census = String::from_utf8(census).expect("text");
    let lines: Vec<&str> = census.lines().collect();
    let (header, people) = (lines[0], &lines[1..]);
    let pool = &people[own * PUBLISHERS..];
    let first = [&people[..own], &pool[..own / 5]].concat();
    query_errors(&folder, header, &first);
    println!("people at risk, of those shared; {own} others in each of {PUBLISHERS} tables");
    let columns = LS.map(|l| format!("{:>9}", format!("l = {l}"))).concat();
    println!("{:>8} {columns} {:>9} {:>22} {:>22}", "shared", "cloning", "distorted tuples", "with max-distorted");
    for share in 1..=5 {
        let shared = &pool[..own * share / 5];
        let source = |publisher: usize| {
            let own = &people[own * publisher..own * (publisher + 1)];
            write(&folder, &format!("source-{publisher}.csv"), header, &[own, shared].concat())
        };
        let sources: Vec<PathBuf> = (0..PUBLISHERS).map(source).collect();
        risks(&folder, &sources, &write(&folder, "shared.csv", header, shared), own + shared.len());
    }
}

fn write(folder: &Folder, name: &str, header: &str, people: &[&str]) -> PathBuf {
    let path = folder.file(name);
    fs::write(&path, [&[header], people].concat().join("\n") + "\n").expect("written");
    path
}

/// One row of the table: people at risk under every l and under cloning, and the tuples that
/// cloning distorts.
fn risks(folder: &Folder, sources: &[PathBuf], shared: &Path, rows: usize) {
    let people = read_source(&folder.policy(shared, "occupation", "", CLONE), &NoProgress).expect("written above");
    let publish_all = |rules: &str, settings: &str| -> Vec<(PathBuf, Published)> {
        sources.iter().map(|source| folder.publish(source, "occupation", rules, settings)).collect()
    };
    let at_risk = LS.map(|l| {
        let model = format!("{{ model = \"distinct-l-diversity\", l = {l} }}");
        let rule = format!("[[rule]]\nprotect = \"occupation\"\nrequire = {model}\n");
        format!("{:>9}", worst(&publish_all(&rule, "method = \"mondrian\"\n"), &people))
    });
    let estimated = |releases: &[(PathBuf, Published)]| {
        let reports = releases.iter().filter_map(|(_, published)| published.cloned.as_ref());
        let distorted = reports.map(|report| report.suppressed + report.counterfeits).max().unwrap_or(0);
        format!("{distorted:>13} ({:.2} %)", 100.0 * distorted as f64 / rows as f64)
    };
    let cloned = publish_all("", CLONE);
    let (at_risk_cloned, distorted) = (worst(&cloned, &people), estimated(&cloned));
    let limited = estimated(&publish_all("", &format!("{CLONE}max-distorted = 0.01\n")));
    println!("{:>8} {} {at_risk_cloned:>9} {distorted} {limited}", people.rows, at_risk.concat());
}

/// The most people at risk in the first release combined with any other.
fn worst(releases: &[(PathBuf, Published)], people: &Table) -> u64 {
    let options =
        AuditOptions { people: Some(people), adversaries: vec!["composition".to_owned()], ..AuditOptions::default() };
    let at_risk = releases[1..].iter().map(|(other, _)| {
        let opened = [&releases[0].0, other]
            .map(|path| hedgerow_release::Release::open(path, &NoProgress).expect("just written"));
        audit(&opened, &options).expect("they hold the same attributes").findings[0].at_risk
    });
    at_risk.max().unwrap_or(0)
}

const QUERIES: usize = 200;

fn query_errors(folder: &Folder, header: &str, people: &[&str]) {
    let source = write(folder, "people.csv", header, people);
    median_errors(folder, &source, "occupation", "occupation");
    let place = header.split(',').position(|name| name == "occupation").expect("the census has it");
    let mut occupations: Vec<&str> = people.iter().filter_map(|line| line.split(',').nth(place)).collect();
    occupations.shuffle(&mut StdRng::seed_from_u64(1));
    let shuffled = people.iter().zip(occupations).map(|(line, occupation)| {
        let mut cells: Vec<&str> = line.split(',').collect();
        cells[place] = occupation;
        cells.join(",")
    });
    let shuffled: Vec<String> = shuffled.collect();
    let shuffled: Vec<&str> = shuffled.iter().map(String::as_str).collect();
    median_errors(folder, &write(folder, "shuffled.csv", header, &shuffled), "occupation", "occupation, shuffled");
    median_errors(folder, &source, "income", "income");
}

/// Median relative errors of queries about all attributes and about all but the sensitive one.
fn median_errors(folder: &Folder, source: &Path, sensitive: &str, title: &str) {
    let (release, _) = folder.publish(source, sensitive, "", CLONE);
    let table = read_source(&folder.policy(source, sensitive, "", CLONE), &NoProgress).expect("written above");
    let release = Release::open(&release, &NoProgress).expect("just written");
    let names = ["age", "sex", "education", "birthplace", sensitive];
    let columns: Vec<&Column> = names.iter().map(|name| table.column(name).expect("read above")).collect();
    for share in [0.3, 0.5, 0.7, 0.9] {
        let mut rng = StdRng::seed_from_u64(1);
        let mut errors = [const { Vec::new() }; 3];
        for _ in 0..QUERIES {
            let drawn: Vec<Condition> = columns.iter().map(|column| Condition::draw(column, share, &mut rng)).collect();
            let counts = [4, 5].map(|attributes| {
                let holds = |row: &usize| {
                    columns[..attributes]
                        .iter()
                        .zip(&drawn)
                        .all(|(column, condition)| condition.codes[column.codes.get(*row) as usize])
                };
                (0..table.rows).filter(holds).count() as f64
            });
            let hidden =
                (0..table.rows).filter(|&row| drawn[4].codes[columns[4].codes.get(row) as usize]).count() as f64;
            let estimates = [4, 5].map(|attributes| {
                let conditions: Vec<&str> =
                    drawn[..attributes].iter().map(|condition| condition.sql.as_str()).collect();
                let sql = format!("SELECT COUNT(*) FROM data WHERE {}", conditions.join(" AND "));
                let found =
                    serde_json::to_value(answer(&release, &sql).unwrap_or_else(|error| panic!("{error}"))).unwrap();
                found["answer"][0]["COUNT(*)"]["estimate"].as_f64().expect("a number")
            });
            let alike = counts[0] * hidden / table.rows as f64;
            for (errors, (estimated, counted)) in
                errors.iter_mut().zip([(estimates[0], counts[0]), (estimates[1], counts[1]), (alike, counts[1])])
            {
                errors.push((estimated - counted).abs() / counted.max(1.0));
            }
        }
        let [without, with, floor] = errors.map(|mut errors| {
            errors.sort_by(f64::total_cmp);
            100.0 * errors[errors.len() / 2]
        });
        println!(
            "{title}, δ = {share}: median error {without:.2} % of the others, {with:.2} % with it; {floor:.2} % if the others were exact"
        );
    }
}

/// What a query requires of one attribute.
struct Condition {
    codes: Vec<bool>,
    sql: String,
}

impl Condition {
    fn draw(column: &Column, share: f64, rng: &mut StdRng) -> Condition {
        let values = column.domain.cardinality();
        let some = ((share * values as f64).round() as usize).clamp(1, values);
        let mut codes = vec![false; values];
        if column.domain.number(0).is_some() {
            let first = rng.random_range(0..=values - some);
            codes[first..first + some].fill(true);
            let [low, high] = [first, first + some - 1].map(|code| column.domain.text(code as u32));
            return Condition { codes, sql: format!("{} BETWEEN {low} AND {high}", column.name) };
        }
        let chosen = index::sample(rng, values, some).into_vec();
        chosen.iter().for_each(|&code| codes[code] = true);
        let texts: Vec<String> =
            chosen.iter().map(|&code| format!("'{}'", column.domain.text(code as u32).replace('\'', "''"))).collect();
        Condition { codes, sql: format!("{} IN ({})", column.name, texts.join(", ")) }
    }
}
