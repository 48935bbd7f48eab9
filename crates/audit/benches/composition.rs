//! How long the composition audit takes: two releases of a million rows each, cut like a kd-tree
//! (every class has ranges of its own), that share 200,000 people. `cargo bench -p hedgerow-audit
//! --bench composition -- [rows] [people]`

use std::time::Instant;

use hedgerow_audit::{Adversary, AuditOptions, audit};
use hedgerow_release::{Codebook, Release};
use hedgerow_table::{Bound, Codes, Column, Cover, Domain, Table, Values};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Different values of each quasi-identifier, as in the census: age, schooling, birthplace, work
/// class, marital status.
const QUASI: [i64; 5] = [77, 16, 60, 7, 6];
const VALUES: i64 = 50;
const CLASS_ROWS: usize = 10;

fn main() {
    let mut arguments = std::env::args().skip(1).filter_map(|argument| argument.parse::<usize>().ok());
    let rows = arguments.next().unwrap_or(1_000_000);
    let shared = arguments.next().unwrap_or(200_000).min(rows);
    let mut rng = StdRng::seed_from_u64(1);
    let mut person = || -> Vec<i64> {
        QUASI.iter().chain([&VALUES]).map(|&most| rng.random_range(0..most).min(rng.random_range(0..most))).collect()
    };
    let people: Vec<Vec<i64>> = (0..shared).map(|_| person()).collect();
    let hospital = |name: &str, person: &mut dyn FnMut() -> Vec<i64>| {
        let mut patients = people.clone();
        patients.extend((shared..rows).map(|_| person()));
        release(name, patients)
    };
    let releases = [hospital("first", &mut person), hospital("second", &mut person)];
    let tables: Vec<(Table, Vec<String>)> = releases.into_iter().map(|(_, table, names)| (table, names)).collect();
    let people = table(&people, &names());

    let start = Instant::now();
    let opened: Vec<Release> =
        tables.into_iter().zip(["first", "second"]).map(|((table, names), name)| open(name, table, &names)).collect();
    let classes: Vec<usize> = opened.iter().map(|one| one.classes().expect("few attributes")[0].len()).collect();
    let counted = start.elapsed();
    let options =
        AuditOptions { people: Some(&people), adversaries: vec![Adversary::Composition], ..AuditOptions::default() };
    let audited = audit(&opened, &options).expect("the tables belong together");
    let finished = start.elapsed();
    let finding = &audited.findings[0];
    println!(
        "{} and {} classes; {} people, {} at risk, {} with fewer than 3 values, fewest {:?}",
        classes[0],
        classes[1],
        finding.people,
        finding.at_risk,
        finding.people_below(3),
        finding.effective_l,
    );
    println!("seconds: classes {:.3}, audit {:.3}", counted.as_secs_f64(), (finished - counted).as_secs_f64());
}

fn names() -> Vec<String> {
    (0..QUASI.len()).map(|index| format!("q{index}")).collect()
}

fn table(people: &[Vec<i64>], names: &[String]) -> Table {
    let column = |(index, name): (usize, &String)| {
        let most = QUASI.get(index).copied().unwrap_or(VALUES);
        let domain = Domain::new(Values::Integer((0..most).collect()), false);
        let codes = Codes::from_iter(most as usize, people.iter().map(|person| person[index] as u32));
        Column { name: name.clone(), domain, codes }
    };
    Table {
        columns: names.iter().enumerate().map(column).collect(),
        rows: people.len(),
        header: names.to_vec(),
        warnings: Vec::new(),
    }
}

/// Cuts at medians, the widest attribute first, while both sides keep a class's worth of rows.
fn release(name: &str, mut people: Vec<Vec<i64>>) -> (String, Table, Vec<String>) {
    let mut ranges: Vec<[(i64, i64); QUASI.len()]> = vec![[(0, 0); QUASI.len()]; people.len()];
    cut(&mut people, &mut ranges, QUASI.map(|most| (0, most)));
    let mut columns = Vec::new();
    for (index, name) in names().into_iter().enumerate() {
        let mut labels: Vec<Box<str>> = ranges.iter().map(|row| label(row[index])).collect();
        labels.sort_unstable();
        labels.dedup();
        let code =
            |row: &[(i64, i64); QUASI.len()]| labels.binary_search(&label(row[index])).expect("collected") as u32;
        let codes = Codes::from_iter(labels.len(), ranges.iter().map(code));
        columns.push(Column { name, domain: Domain::new(Values::Category(labels.clone()), false), codes });
    }
    let values: Vec<Box<str>> = (0..VALUES).map(|value| format!("{value:02}").into()).collect();
    let codes = Codes::from_iter(VALUES as usize, people.iter().map(|person| person[QUASI.len()] as u32));
    columns.push(Column { name: "s".to_owned(), domain: Domain::new(Values::Category(values), false), codes });
    let header: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    (name.to_owned(), Table { columns, rows: people.len(), header: header.clone(), warnings: Vec::new() }, header)
}

fn label((low, high): (i64, i64)) -> Box<str> {
    format!("{low}..{high}").into()
}

fn cut(people: &mut [Vec<i64>], ranges: &mut [[(i64, i64); QUASI.len()]], range: [(i64, i64); QUASI.len()]) {
    let mut order: Vec<usize> = (0..QUASI.len()).collect();
    order.sort_by_key(|&index| -(range[index].1 - range[index].0) * 1000 / QUASI[index]);
    for index in order {
        people.sort_unstable_by_key(|person| person[index]);
        let at = people[people.len() / 2][index];
        let left = people.partition_point(|person| person[index] < at);
        if left >= CLASS_ROWS && people.len() - left >= CLASS_ROWS {
            let (mut below, mut above) = (range, range);
            below[index].1 = at;
            above[index].0 = at;
            let (people_below, people_above) = people.split_at_mut(left);
            let (ranges_below, ranges_above) = ranges.split_at_mut(left);
            cut(people_below, ranges_below, below);
            cut(people_above, ranges_above, above);
            return;
        }
    }
    ranges.fill(range);
}

fn open(name: &str, table: Table, names: &[String]) -> Release {
    let (quasi, sensitive) = names.split_at(QUASI.len());
    let mut codebook = Codebook::new();
    for name in quasi {
        let domain = &table.column(name).expect("it has them").domain;
        for label in (0..domain.cardinality() as u32).map(|code| domain.text(code)) {
            let (low, high) = label.split_once("..").expect("written above");
            let cover = Cover::Interval { low: Bound::parse(low), high: Bound::parse(high) };
            codebook.insert(name, &label, &cover).expect("every label once");
        }
    }
    Release::of_table(name, table, quasi.to_vec(), sensitive.to_vec(), codebook).expect("it has them")
}
