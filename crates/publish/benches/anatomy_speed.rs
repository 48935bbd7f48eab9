//! How fast rows become buckets, compared with one sort of as many keys, and what closeness is
//! worth: `cargo bench -p hedgerow-publish --bench anatomy_speed [ROWS [L]]`.
//!
//! A synthetic census, its income as the sensitive attribute, the others as quasi attributes. Rows
//! at random, as in the paper, and the sort run on one core; alike rows together, by the line and
//! its blocks, on one and on all. Then random count queries (two quasi attributes and the income, a
//! third of the values of each) are answered from the buckets, independently within each.

use std::hint::black_box;
use std::time::Instant;

use hedgerow_policy::Policy;
use hedgerow_privacy::{Context, Distribution, Model, models};
use hedgerow_publish::anatomy::{BucketGuarantees, Buckets, Chance, Space, at_random, in_blocks, line};
use hedgerow_publish::bind::{Bound, read_source};
use hedgerow_table::{Column, NoProgress, Ratio, Table};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;

const QUERIES: usize = 300;

fn main() {
    let mut arguments = std::env::args().filter_map(|text| text.parse::<u64>().ok());
    let (rows, l) = (arguments.next().unwrap_or(1_000_000), arguments.next().unwrap_or(10));
    let folder = tempfile::tempdir().expect("a folder");
    hedgerow_table::whole::fill_all(hedgerow_synth::example_files(folder.path(), rows, 1)).expect("a census");
    let policy = Policy::load(&folder.path().join("policy.toml")).expect("the census's policy");
    let table = read_source(&policy, &NoProgress).expect("the census");
    let bound = Bound::new(&policy, &table).expect("the census's policy");
    let income = table.column("income").expect("an income");
    let counts = income.counts();
    let most = counts.iter().max().expect("rows");
    println!("{rows} rows, {} incomes, the commonest in {most} rows; l = {l}", counts.len());

    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let cardinality = income.domain.cardinality();
    let model = Model::FrequencyLDiversity { l: Ratio::integer(l) };
    let allowed = BucketGuarantees::new(
        vec![models::guarantee(&model, &Context::default()).expect("no distances are measured")],
        Distribution::default(),
    );
    let random = fastest("assignment = \"random\", one core", rows, || {
        let mut rng = StdRng::seed_from_u64(2);
        one.install(|| at_random(&income.codes, cardinality, &allowed, &mut rng)).expect("an eligible table")
    });
    let mut rng = StdRng::seed_from_u64(1);
    let keys: Vec<u64> = (0..rows).map(|_| rng.random()).collect();
    fastest("sort of 64-bit keys, one core", rows, || {
        let mut keys = keys.clone();
        one.install(|| keys.par_sort_unstable());
        keys
    });
    fastest("sort of 64-bit keys, all cores", rows, || {
        let mut keys = keys.clone();
        keys.par_sort_unstable();
        keys
    });

    let chance = Chance::new(&mut rng);
    let columns = Space::columns(&bound, &income.codes);
    let drawn = || line(&Space::new(&bound, cardinality), &columns, &chance);
    let close = || in_blocks(drawn(), cardinality, &allowed, &chance, &NoProgress).expect("an eligible table");
    fastest("the line alone, one core", rows, || one.install(drawn));
    fastest("assignment = \"order\", one core", rows, || one.install(close));
    let close = fastest("assignment = \"order\", all cores", rows, close);

    for (name, buckets) in [("random", &random), ("order", &close)] {
        let mut errors = query_errors(&table, income, buckets);
        errors.sort_by(f64::total_cmp);
        let [median, high] = [errors.len() / 2, errors.len() * 95 / 100].map(|place| errors[place] * 100.0);
        println!(
            "{name}: {} buckets; error of count queries: median {median:.2} %, 95 of 100 within {high:.2} %",
            buckets.count
        );
    }
}

/// The shortest of three runs.
fn fastest<T>(name: &str, rows: u64, mut run: impl FnMut() -> T) -> T {
    let mut best = f64::INFINITY;
    let mut made = None;
    for _ in 0..3 {
        let started = Instant::now();
        made = Some(black_box(run()));
        best = best.min(started.elapsed().as_secs_f64());
    }
    println!("{name}: {best:.3} s, {:.1} million rows per second", rows as f64 / best / 1e6);
    made.expect("three runs")
}

/// Relative errors; true counts below a thousandth of the rows count as that.
fn query_errors(table: &Table, income: &Column, buckets: &Buckets) -> Vec<f64> {
    let mut sizes = vec![0u32; buckets.count as usize];
    buckets.of_row.iter().for_each(|&bucket| sizes[bucket as usize] += 1);
    let quasi: Vec<&Column> = table.columns.iter().filter(|column| column.name != income.name).collect();
    (0..QUERIES)
        .into_par_iter()
        .map(|query| {
            let mut rng = StdRng::seed_from_u64(query as u64);
            let first = rng.random_range(0..quasi.len());
            let second = (first + rng.random_range(1..quasi.len())) % quasi.len();
            let mut drawn_values = |column: &Column| some_values(&mut rng, column.domain.cardinality());
            let (wanted, others, incomes) =
                (drawn_values(quasi[first]), drawn_values(quasi[second]), drawn_values(income));
            let (mut inside, mut rich) = (vec![0u32; sizes.len()], vec![0u32; sizes.len()]);
            let mut truth = 0u32;
            for (row, &bucket) in buckets.of_row.iter().enumerate() {
                let here =
                    wanted[quasi[first].codes.get(row) as usize] && others[quasi[second].codes.get(row) as usize];
                let earns = incomes[income.codes.get(row) as usize];
                inside[bucket as usize] += u32::from(here);
                rich[bucket as usize] += u32::from(earns);
                truth += u32::from(here && earns);
            }
            let per_bucket = inside.iter().zip(&rich).zip(&sizes);
            let estimate: f64 =
                per_bucket.map(|((&inside, &rich), &size)| f64::from(inside) * f64::from(rich) / f64::from(size)).sum();
            (estimate - f64::from(truth)).abs() / f64::from(truth).max(table.rows as f64 / 1000.0)
        })
        .collect()
}

/// An interval of a third of the values, so that all three predicates together select a few in a
/// hundred rows.
fn some_values(rng: &mut StdRng, values: usize) -> Vec<bool> {
    let length = values.div_ceil(3);
    let start = rng.random_range(0..=values - length);
    (0..values).map(|value| (start..start + length).contains(&value)).collect()
}
