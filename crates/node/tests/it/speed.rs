//! How long joint runs take between real processes on this machine. `cargo test --release -p
//! hedgerow-node --test it speed -- --ignored --nocapture --test-threads 1` prints it;
//! `HEDGEROW_ROWS` takes fewer rows than a million.

use std::time::Instant;

use hedgerow_node::disk::read_journal;
use hedgerow_node::journal::What;
use hedgerow_node::message::{Frame, FrameContent};
use hedgerow_node::operator::Request;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::apart::TWO_PROTECTED;
use crate::federation::{Federation, dealt};
use crate::processes::{adult, adult_policy, alone};
use crate::simulation::count;
use crate::world::signing;

/// Seconds from the last approval until all have published, and the rounds in which values opened.
fn timed(policy: &str, parts: &[String]) -> (f64, usize) {
    let mut federation = Federation::started(policy, parts, "");
    federation.patience = std::time::Duration::from_secs(600);
    let run = federation.propose(0);
    let plans: Vec<String> = (0..parts.len()).map(|place| federation.plan(place, &run)).collect();
    let (last, others) = plans.split_last().unwrap();
    others.iter().enumerate().for_each(|(place, plan)| drop(federation.approve(place, plan).unwrap()));
    let began = Instant::now();
    federation.approve(parts.len() - 1, last).unwrap();
    for place in 0..parts.len() {
        let ending = federation.ending(place, &run);
        assert_eq!(ending["ended"], "published", "{ending}");
    }
    let seconds = began.elapsed().as_secs_f64();
    let mut rounds = 0;
    read_journal(&federation.data(0), |line| {
        rounds += usize::from(line.record.what == What::Disclosed);
        Ok(())
    })
    .unwrap();
    (seconds, rounds)
}

/// Milliseconds that it takes to sign a message of a step, and to read and verify it.
fn signing_ms(bytes: usize) -> (f64, f64) {
    const TIMES: u32 = 200;
    let (key, content) = (signing(0), FrameContent::Step(vec![7; bytes]));
    let public = key.public();
    let began = Instant::now();
    let frames: Vec<Vec<u8>> = (0..TIMES).map(|_| Frame::sign(content.clone(), &key).encode()).collect();
    let signed = began.elapsed().as_secs_f64();
    assert!(frames[0].len() >= bytes + 64);
    let began = Instant::now();
    let verified = |frame: &Vec<u8>| Frame::decode(&frame[4..]).unwrap().signed().verifies(&public);
    assert!(frames.iter().all(verified));
    let each = |seconds: f64| 1000.0 * seconds / f64::from(TIMES);
    (each(signed), each(began.elapsed().as_secs_f64()))
}

/// In every round a node signs one message for all others, and verifies one of each.
#[test]
#[ignore = "measures: the result depends on what else the machine does"]
fn signatures_take_less_than_a_fifth_of_a_run() {
    for bytes in [500, 10_000, 100_000] {
        let (sign, verify) = signing_ms(bytes);
        println!("{bytes} bytes: {sign:.3} ms to sign, {verify:.3} ms to read and verify");
    }
    let ((header, rows), policy) = (adult(usize::MAX), adult_policy());
    for sites in [3, 5] {
        let (seconds, rounds) = timed(&policy, &dealt(&header, &rows, sites));
        // Messages of this run have 10 kB on average, and the long ones 100 kB.
        let (sign, verify) = signing_ms(100_000);
        let all = rounds as f64 * (sign + (sites - 1) as f64 * verify) / 1000.0;
        println!("{sites} nodes: {seconds:.2} s, {rounds} rounds; signatures take at most {all:.3} s of each node");
        assert!(all <= seconds / 5.0);
    }
}

/// How long the answers of all custodians take, one after the other.
#[test]
#[ignore = "measures: the result depends on what else the machine does"]
fn questions_over_adult_in_parts() {
    let (header, rows) = adult(usize::MAX);
    for sites in [3, 5] {
        let parts = dealt(&header, &rows, sites);
        let mut federation = Federation::started(&adult_policy(), &parts, "rows = \"apart\"\n");
        federation.patience = std::time::Duration::from_secs(600);
        assert!(federation.run(0).iter().all(|ending| ending["ended"] == "published"));
        for sql in [
            "SELECT COUNT(*) FROM data WHERE age >= 40",
            "SELECT \"salary-class\", COUNT(*) FROM data GROUP BY \"salary-class\"",
            "SELECT \"salary-class\", COUNT(*) FROM data WHERE age >= 40 GROUP BY \"salary-class\"",
            "SELECT education, COUNT(*) FROM data WHERE \"salary-class\" = '>50K' GROUP BY education",
            "SELECT * FROM data LIMIT 5",
        ] {
            let mut times: Vec<f64> = (0..30)
                .map(|_| {
                    let (operator, began) = ("tester".to_owned(), Instant::now());
                    federation.ask(0, &Request::Query { operator, epoch: 1, sql: sql.to_owned() }).unwrap();
                    began.elapsed().as_secs_f64() * 1000.0
                })
                .collect();
            times.sort_by(f64::total_cmp);
            println!(
                "{sites} nodes, {} rows: median {:.1} ms, slowest {:.1} ms: {sql}",
                rows.len(),
                times[15],
                times[29]
            );
        }
    }
}

/// The largest question that goes through the shuffle.
#[test]
#[ignore = "measures: the result depends on what else the machine does"]
fn rows_in_parts_through_the_shuffle() {
    let mut rng = StdRng::seed_from_u64(11);
    let mut row = |_| format!("{},{},{}", rng.random_range(0..100), rng.random_range(0..300), rng.random_range(0..300));
    let rows: Vec<String> = (0..count("HEDGEROW_ROWS", 10_900) as usize).map(&mut row).collect();
    let mut federation = Federation::started(TWO_PROTECTED, &dealt("age,cost,stay", &rows, 3), "rows = \"apart\"\n");
    federation.patience = std::time::Duration::from_secs(600);
    assert!(federation.run(0).iter().all(|ending| ending["ended"] == "published"));
    let (operator, sql, began) = ("tester".to_owned(), "SELECT * FROM data".to_owned(), Instant::now());
    let answer = federation.ask(0, &Request::Query { operator, epoch: 1, sql }).unwrap();
    assert_eq!(answer["answer"]["rows"].as_array().unwrap().len(), rows.len());
    println!("{} rows through the shuffle of 3 nodes: {:.1} s", rows.len(), began.elapsed().as_secs_f64());
    federation.stop(0);
}

#[test]
#[ignore = "measures: the result depends on what else the machine does"]
fn adult_over_three_nodes_beside_one_who_holds_all_rows() {
    let ((header, rows), policy) = (adult(usize::MAX), adult_policy());
    let folder = tempfile::tempdir().unwrap();
    let began = Instant::now();
    alone(folder.path(), &policy, &header, &rows);
    let local = began.elapsed().as_secs_f64();
    let (joint, rounds) = timed(&policy, &dealt(&header, &rows, 3));
    let most = 5.0 * local + 0.01 * rounds as f64;
    println!("{} rows: alone {local:.3} s; 3 nodes {joint:.3} s with {rounds} rounds; at most {most:.3} s", rows.len());
    assert!(joint <= most);
}

#[test]
#[ignore = "measures: the result depends on what else the machine does"]
fn a_million_rows_over_five_nodes() {
    const SECONDS_MAX: f64 = 30.0;
    let rows_wanted = count("HEDGEROW_ROWS", 1_000_000);
    let domains = [("sex", 2), ("education", 17), ("birthplace", 50), ("occupation", 50), ("race", 9), ("marital", 6)];
    let attribute = |(name, size): &(&str, u32)| {
        let values: Vec<String> = (0..*size).map(|value| format!("\"v{value}\"")).collect();
        format!("{name} = {{ role = \"quasi\", order = [{}] }}\n", values.join(", "))
    };
    let policy = format!(
        "[source]\npath = \"people.csv\"\n[attributes]\nage = {{ role = \"quasi\", range = [0, 99] }}\n{}\
         [[rule]]\nrequire = {{ model = \"k-anonymity\", k = 5 }}\n[publish]\nmethod = \"mondrian\"\n",
        domains.iter().map(attribute).collect::<String>()
    );
    let mut rng = StdRng::seed_from_u64(1);
    // Small values are frequent, as in a census.
    let mut skewed = |size: u32| rng.random_range(0..size).min(rng.random_range(0..size));
    let mut row = || {
        let age = skewed(100);
        std::iter::once(age.to_string())
            .chain(domains.iter().map(|(_, size)| format!("v{}", skewed(*size))))
            .collect::<Vec<_>>()
            .join(",")
    };
    let rows: Vec<String> = (0..rows_wanted).map(|_| row()).collect();
    let header = std::iter::once("age").chain(domains.map(|(name, _)| name)).collect::<Vec<_>>().join(",");
    let (seconds, rounds) = timed(&policy, &dealt(&header, &rows, 5));
    println!("{rows_wanted} rows over 5 nodes: {seconds:.1} s with {rounds} rounds; at most {SECONDS_MAX} s");
    assert!(seconds <= SECONDS_MAX);
}
