//! How long decompositions take on a synthetic table of the shape of Jin and others' second data
//! set (2010, table 5b): 18 attributes with domains from 2 to 17,432, five random rules with three
//! known attributes, l = 10.
//!
//! Compares two sizes of it, and both with what the paper reports of its own machine: 2 to 3 s for
//! UAD, weeks for GD.
//!
//! `cargo bench -p hedgerow-publish --bench decompose_speed -- [RULES] [ROWS] [MORE ROWS] [SEED]`

mod drawn;

use std::time::Instant;

use hedgerow_publish::decompose::attack::{Limits, attack};
use hedgerow_publish::decompose::divergence::Divergence;
use hedgerow_publish::decompose::gd::gd;
use hedgerow_publish::decompose::uad::uad;
use hedgerow_publish::decompose::{Problem, single_attribute};
use hedgerow_table::{Codes, Column, Domain, Values};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const DOMAINS: [usize; 18] =
    [323, 2, 1581, 241, 22, 5, 3391, 3488, 3881, 4193, 4251, 1708, 24, 396, 297, 6, 15_000, 17_432];

/// Each algorithm is run so often, and the best taken.
const RUNS: usize = 5;

fn main() {
    let mut arguments = std::env::args().skip(1).filter_map(|text| text.parse::<usize>().ok());
    let count = arguments.next().unwrap_or(5);
    let sizes = [arguments.next().unwrap_or(177_148), arguments.next().unwrap_or(1_000_000)];
    let rules_seed = arguments.next().unwrap_or(1) as u64;
    println!("18 attributes, domains to 17,432, {count} random rules with three known attributes, l = 10");
    let [small, large] = sizes.map(|rows| seconds(rows, count, rules_seed));
    let times = sizes[1] as f64 / sizes[0] as f64;
    for (name, paper, required, small, large) in
        [("uad", "2 to 3 s", 0.3, small[0], large[0]), ("gd", "weeks", 20.0, small[1], large[1])]
    {
        println!("{name} at {} rows: {small:.3} s; the paper {paper}, required {required} s", sizes[0]);
        println!("{name} at {} rows: {large:.3} s; required 6.5 times {required} s", sizes[1]);
        println!("  {:.2} times as long for {times:.2} times the rows", large / small);
    }
}

/// How long UAD and GD take.
fn seconds(rows: usize, count: usize, rules_seed: u64) -> [f64; 2] {
    let mut rng = StdRng::seed_from_u64(1);
    let columns = table(rows, &mut rng);
    // From a seed of their own, so that every size has the same rules.
    let rules = drawn::rules(&mut StdRng::seed_from_u64(rules_seed), &columns, &DOMAINS, count, 10);
    let problem = Problem::new(columns.iter().collect(), DOMAINS.to_vec(), rows, rules, &[]);
    let mut divergence = Divergence::new(&problem);
    let single = divergence.of(&single_attribute(&problem)).expect("a tree");
    println!("{rows} rows: single-attribute KL {single:.3}");
    let (mut by_uad, mut tables) = (f64::INFINITY, Vec::new());
    for _ in 0..RUNS {
        let started = Instant::now();
        tables = uad(&problem, &mut rng).expect("no dependencies");
        by_uad = by_uad.min(started.elapsed().as_secs_f64());
    }
    println!("  uad {by_uad:.3} s, {} tables, KL {:.3}", tables.len(), divergence.of(&tables).expect("a tree"));
    let mut by_gd = f64::INFINITY;
    for _ in 0..RUNS {
        // Nothing that was counted before may help.
        divergence = Divergence::new(&problem);
        let started = Instant::now();
        tables = gd(&problem, &mut divergence, &mut rng).expect("no dependencies");
        by_gd = by_gd.min(started.elapsed().as_secs_f64());
    }
    println!("  gd  {by_gd:.3} s, {} tables, KL {:.3}", tables.len(), divergence.of(&tables).expect("a tree"));
    let named: Vec<Column> = (columns.iter().zip(DOMAINS).enumerate())
        .map(|(number, (codes, size))| Column {
            name: number.to_string(),
            domain: Domain::new(Values::Integer((0..size as i64).collect()), false),
            codes: codes.clone(),
        })
        .collect();
    let started = Instant::now();
    let attacked = attack(&problem, &named.iter().collect::<Vec<_>>(), &tables, Limits::default());
    println!("  these attacked in {:.3} s: {attacked:?}", started.elapsed().as_secs_f64());
    [by_uad, by_gd]
}

/// Skewed columns, each leaning on one before it.
fn table(rows: usize, rng: &mut StdRng) -> Vec<Codes> {
    let mut columns: Vec<Vec<u32>> = Vec::new();
    // From a seed of their own, so that every size has the same.
    let mut leaning = StdRng::seed_from_u64(2);
    for (index, &domain) in DOMAINS.iter().enumerate() {
        let before = (index > 0).then(|| leaning.random_range(0..index));
        let column = (0..rows).map(|row| match before {
            Some(before) if rng.random_bool(0.6) => (columns[before][row] as usize * 7919 % domain) as u32,
            _ => {
                let share: f64 = rng.random();
                ((share * share * domain as f64) as usize).min(domain - 1) as u32
            }
        });
        columns.push(column.collect());
    }
    DOMAINS.iter().zip(columns).map(|(&domain, column)| Codes::from_iter(domain, column)).collect()
}
