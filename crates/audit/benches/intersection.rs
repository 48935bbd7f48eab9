//! How long it takes to join two sub-tables of many people that share quasi-identifiers and hide
//! the same value in different buckets.
//! `cargo bench -p hedgerow-audit --bench intersection -- [rows]`

use std::time::Instant;

use hedgerow_audit::adversaries::intersection::{SubTable, SubTableBucket, join};

const VALUES: usize = 50;
const BUCKET: usize = 5;

fn main() {
    let rows: usize = std::env::args().skip(1).find_map(|rows| rows.parse().ok()).unwrap_or(1_000_000);
    // Synthetic people: ages, places and jobs that are spread but not drawn.
    let person = |row: usize| [(row * 7919 % 90, "age"), (row * 104_729 % 997, "place"), (row * 1_299_709 % 83, "job")];
    let value = |row: usize| row * 31 % VALUES;
    let table = |name: &str, quasi: [usize; 2], stride: usize| {
        let buckets = (0..rows / BUCKET).map(|bucket| {
            let members = (0..BUCKET).map(|member| (bucket * BUCKET + member) * stride % rows);
            let mut listed = SubTableBucket::default();
            for member in members {
                let cells = quasi.map(|attribute| person(member)[attribute].0.to_string()).to_vec();
                listed.rows.push((cells, 1));
                let text = format!("value {}", value(member));
                match listed.values.iter_mut().find(|(known, _)| *known == text) {
                    Some((_, count)) => *count += 1,
                    None => listed.values.push((text, 1)),
                }
            }
            listed
        });
        SubTable {
            name: name.to_owned(),
            quasi: quasi.map(|attribute| person(0)[attribute].1.to_owned()).to_vec(),
            sensitive: Some("illness".to_owned()),
            buckets: buckets.collect(),
        }
    };
    // A stride coprime to the number of rows visits every row once.
    let tables = [table("one", [0, 1], 1), table("two", [1, 2], 7)];
    let start = Instant::now();
    let joined = join(&tables);
    let seconds = start.elapsed().as_secs_f64();
    let narrowed: u64 = joined.rows.iter().filter(|row| row.values.len() < row.of).map(|row| row.rows).sum();
    println!(
        "{rows} rows in two tables: {seconds:.2} s; {narrowed} rows lost a value, contradiction: {}",
        joined.contradiction
    );
}
