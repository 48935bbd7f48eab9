//! How long `worlds` takes and how much memory: releases of the same people, each cut like a
//! kd-tree that begins with another attribute, so that their classes overlap in every way. `cargo
//! bench -p hedgerow-audit --bench worlds -- [people] [releases]`

use std::time::Instant;

use hedgerow_audit::{Adversary, AuditOptions, Columns, audit};
use hedgerow_release::{Codebook, Release};
use hedgerow_table::{Bound, Codes, Column, Cover, Domain, Table, Values};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Different values of each quasi-identifier, as in the census: age, schooling, birthplace, work
/// class, marital status.
const QUASI: [i64; 5] = [77, 16, 60, 7, 6];
const VALUES: i64 = 50;
const CLASS_ROWS: usize = 10;

type Person = Vec<i64>;
type Ranges = [(i64, i64); QUASI.len()];

fn main() {
    let mut arguments = std::env::args().skip(1).filter_map(|argument| argument.parse::<usize>().ok());
    let count = arguments.next().unwrap_or(339_000);
    let releases = arguments.next().unwrap_or(2);
    let mut rng = StdRng::seed_from_u64(1);
    let mut person = || -> Person {
        QUASI.iter().chain([&VALUES]).map(|&most| rng.random_range(0..most).min(rng.random_range(0..most))).collect()
    };
    let people: Vec<Person> = (0..count).map(|_| person()).collect();
    let opened: Vec<Release> = (0..releases).map(|number| release(number, people.clone())).collect();
    let listed = table(&people);
    drop(people);
    let classes: Vec<usize> = opened.iter().map(|one| one.classes().expect("few attributes")[0].len()).collect();
    let (before, start) = (processor_seconds(), Instant::now());
    let options = AuditOptions {
        people: Some(&listed),
        adversaries: vec![Adversary::Worlds],
        columns: Columns::All,
        ..AuditOptions::default()
    };
    let audited = audit(&opened, &options).expect("the tables belong together");
    let elapsed = start.elapsed();
    let finding = &audited.findings[0];
    println!("{classes:?} classes; {} people, {} at risk, fewest {:?}", count, finding.at_risk, finding.effective_l);
    println!("undecided: {}; {:?}", finding.details["undecided"], finding.notes);
    let processor = processor_seconds().zip(before).map_or(f64::NAN, |(after, before)| after - before);
    println!(
        "seconds: {:.1}, of the processor {processor:.1}; at most {} MiB with the data",
        elapsed.as_secs_f64(),
        status("VmHWM:").map_or_else(|| "?".to_owned(), |kib| (kib / 1024).to_string()),
    );
}

/// Seconds of the processor that this process has taken, where the system tells.
fn processor_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // After the name, which may hold spaces: state is the first, times are the 12th and 13th.
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / 100.0)
}

fn status(name: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    text.lines().find_map(|line| line.strip_prefix(name)?.trim().trim_end_matches(" kB").parse().ok())
}

fn names() -> Vec<String> {
    (0..QUASI.len()).map(|index| format!("q{index}")).chain(["s".to_owned()]).collect()
}

fn sensitive(people: &[Person]) -> Column {
    let values: Vec<Box<str>> = (0..VALUES).map(|value| format!("{value:02}").into()).collect();
    let codes = Codes::from_iter(VALUES as usize, people.iter().map(|person| person[QUASI.len()] as u32));
    Column { name: "s".to_owned(), domain: Domain::new(Values::Category(values), false), codes }
}

/// The people with their values, as the custodian has them.
fn table(people: &[Person]) -> Table {
    let mut columns: Vec<Column> = Vec::new();
    for (index, name) in names().into_iter().take(QUASI.len()).enumerate() {
        let domain = Domain::new(Values::Integer((0..QUASI[index]).collect()), false);
        let codes = Codes::from_iter(QUASI[index] as usize, people.iter().map(|person| person[index] as u32));
        columns.push(Column { name, domain, codes });
    }
    columns.push(sensitive(people));
    Table { columns, rows: people.len(), header: names(), warnings: Vec::new() }
}

/// Cuts at medians, of later releases at other quantiles, while both sides keep a class's worth of
/// rows; the attribute of the release's number first.
fn release(number: usize, mut people: Vec<Person>) -> Release {
    let mut ranges: Vec<Ranges> = vec![[(0, 0); QUASI.len()]; people.len()];
    let whole = QUASI.map(|most| (0, most));
    cut(&mut people, &mut ranges, whole, number, 2 + number / QUASI.len());
    let mut codebook = Codebook::new();
    let mut columns = Vec::new();
    for (index, name) in names().into_iter().take(QUASI.len()).enumerate() {
        let mut known: Vec<(i64, i64)> = ranges.iter().map(|row| row[index]).collect();
        known.sort_unstable();
        known.dedup();
        let texts: Vec<Box<str>> = known.iter().map(|(low, high)| format!("{low:03}..{high:03}").into()).collect();
        for (&(low, high), text) in known.iter().zip(&texts) {
            let cover = Cover::Interval { low: Some(Bound::Integer(low)), high: Some(Bound::Integer(high)) };
            codebook.insert(&name, text, &cover).expect("each once");
        }
        let code = |row: &Ranges| known.binary_search(&row[index]).expect("collected") as u32;
        let codes = Codes::from_iter(known.len(), ranges.iter().map(code));
        columns.push(Column { name, domain: Domain::new(Values::Category(texts), false), codes });
    }
    columns.push(sensitive(&people));
    let table = Table { columns, rows: people.len(), header: names(), warnings: Vec::new() };
    let (quasi, sensitive) = (names()[..QUASI.len()].to_vec(), vec!["s".to_owned()]);
    Release::of_table(&format!("release {number}"), table, quasi, sensitive, codebook).expect("it has them")
}

fn cut(people: &mut [Person], ranges: &mut [Ranges], range: Ranges, turn: usize, parts: usize) {
    for index in (0..QUASI.len()).map(|offset| (turn + offset) % QUASI.len()) {
        people.sort_unstable_by_key(|person| person[index]);
        let at = people[people.len() / parts][index];
        let left = people.partition_point(|person| person[index] < at);
        if left >= CLASS_ROWS && people.len() - left >= CLASS_ROWS {
            let (mut below, mut above) = (range, range);
            (below[index].1, above[index].0) = (at, at);
            let (people_below, people_above) = people.split_at_mut(left);
            let (ranges_below, ranges_above) = ranges.split_at_mut(left);
            cut(people_below, ranges_below, below, index + 1, parts);
            cut(people_above, ranges_above, above, index + 1, parts);
            return;
        }
    }
    ranges.fill(range);
}
