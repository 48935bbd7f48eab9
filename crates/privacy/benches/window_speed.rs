//! How long (δ,l)-diversity takes over classes of many rows, beside the sort that it needs.
//!
//! `cargo bench -p hedgerow-privacy --bench window_speed -- [ROWS…]`
//!
//! Rows are pairs of a class and a value's code in one word. The check sorts them, counts equal
//! ones and judges every class; the sort alone is timed on the same pairs, by the same thread, in
//! turns. All classes hold, so that none is left early.

use std::time::{Duration, Instant};

use hedgerow_privacy::{Class, Context, Distribution, Guarantee, Model, NumberCloseness, models};
use hedgerow_table::{Domain, Ratio, Values};

const ROUNDS: usize = 5;
/// Different values of the protected attribute, such as salaries.
const VALUES: u64 = 100_000;

fn main() {
    let given: Vec<usize> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let rows = if given.is_empty() { vec![1_000_000, 3_000_000, 10_000_000] } else { given };
    println!("{:>10} {:>9} {:>9} {:>9} {:>9} {:>7}", "rows", "class", "sort ms", "check ms", "judge ms", "ratio");
    for rows in rows {
        for class_rows in [20, 1_000, 100_000] {
            compare(rows, class_rows);
        }
    }
}

fn compare(rows: usize, class_rows: usize) {
    let classes = (rows / class_rows).max(1) as u64;
    let mut state = 20_261u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let pairs: Vec<u64> = (0..rows).map(|_| ((next() % classes) << 32) | (next() % VALUES)).collect();
    let domain = Domain::new(Values::Integer((0..VALUES as i64).collect()), false);
    let model =
        Model::DeltaLDiversity { delta: Ratio::integer(50), l: Ratio::integer(2), reading: NumberCloseness::Window };
    let guarantee =
        models::guarantee(&model, &Context { protect: Some(&domain), ..Context::default() }).expect("numbers");
    let [mut sort, mut check, mut judge] = [Duration::MAX; 3];
    let mut held = 0;
    for _ in 0..ROUNDS {
        let mut alone = pairs.clone();
        let started = Instant::now();
        alone.sort_unstable();
        sort = sort.min(started.elapsed());
        let mut own = pairs.clone();
        let started = Instant::now();
        own.sort_unstable();
        let sorted = started.elapsed();
        held = holding(&own, guarantee.as_ref());
        check = check.min(started.elapsed());
        judge = judge.min(started.elapsed() - sorted);
    }
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let ratio = check.as_secs_f64() / sort.as_secs_f64();
    println!("{rows:>10} {class_rows:>9} {:>9.1} {:>9.1} {:>9.1} {ratio:>7.2}", ms(sort), ms(check), ms(judge));
    assert!(held as f64 > 0.99 * classes as f64, "{held} of {classes} classes hold");
}

/// How many classes of the sorted pairs hold.
fn holding(sorted: &[u64], guarantee: &dyn Guarantee) -> usize {
    let whole = Distribution::default();
    let mut values: Vec<(u32, u32)> = Vec::new();
    let class_of = |pair: &u64| pair >> 32;
    let classes = sorted.chunk_by(|a, b| class_of(a) == class_of(b));
    let holds = |class: &&[u64]| {
        values.clear();
        for &pair in *class {
            match values.last_mut() {
                Some((code, count)) if *code == pair as u32 => *count += 1,
                _ => values.push((pair as u32, 1)),
            }
        }
        guarantee.holds(Class { rows: class.len() as u64, values: &values }, &whole)
    };
    classes.filter(holds).count()
}
