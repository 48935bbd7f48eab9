//! Classes of neighbors against brute force: what is released is judged as every local recoding is,
//! and what it costs is compared with the best of all partitions of small tables.
//!
//! A failure prints its seed; `HEDGEROW_SEED=… cargo test -p hedgerow-publish cluster` replays that
//! case alone.

use std::path::Path;

use hedgerow_policy::{ClassLabels, Loss, Method, Policy};
use hedgerow_privacy::OnMerge;
use hedgerow_publish::PublishError;
use hedgerow_publish::bind::Bound;
use hedgerow_publish::cluster::{ImproveLimit, Neighbors, Objective, recode};
use hedgerow_publish::local::Local;
use hedgerow_table::progress::NoProgress;
use hedgerow_table::{Kind, Table};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::local::Seen;
use crate::oracle::Oracle;
use crate::random_case::{Case, random_case};

const CASES: u64 = 3000;

const LOSSES: [Option<Loss>; 4] = [None, Some(Loss::Granularity), Some(Loss::Entropy), Some(Loss::Ncp)];

pub(crate) fn seeds(count: u64) -> Vec<u64> {
    match std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse().ok()) {
        Some(seed) => vec![seed],
        None => (0..count).collect(),
    }
}

fn how(seed: u64) -> (Local, Neighbors) {
    let method = [Method::BestCut, Method::Mondrian][(seed / 3) as usize % 2];
    let anew = !seed.is_multiple_of(3);
    let labels = if seed.is_multiple_of(2) || !anew { ClassLabels::Hierarchy } else { ClassLabels::Set };
    let objective = Objective::of(LOSSES[(seed / 5) as usize % 4]).unwrap();
    let limit = [ImproveLimit::Tries(0), ImproveLimit::Tries(400), ImproveLimit::None][(seed / 7) as usize % 3];
    let local = Local { method, strict: !seed.is_multiple_of(4), tight: !(seed / 2).is_multiple_of(5) };
    (local, Neighbors { anew, labels, objective, limit })
}

#[test]
fn classes_of_neighbors_keep_what_they_promise() {
    let seeds = seeds(CASES);
    let found = seeds.iter().filter(|&&seed| check_case(seed)).count();
    assert!(seeds.len() == 1 || found > seeds.len() / 4, "only {found} cases had a release");
}

fn check_case(seed: u64) -> bool {
    let case = random_case(seed);
    let Case { table, policy, .. } = &case;
    let (local, neighbors) = how(seed);
    let context = || format!("seed {seed}, {local:?}, {neighbors:?}\n{:#?}", policy.rules);
    let bound = Bound::with_earlier(policy, table, case.earlier.clone())
        .unwrap_or_else(|error| panic!("{error}\n{}", context()));
    let judge = bound.judge().unwrap();
    let found = recode(&bound, &judge, local, neighbors, &NoProgress);
    let seen = Seen { case: &case, oracle: Oracle::new(&case, bound.hierarchies()), bound: &bound };
    let found = match found {
        Ok(found) => found,
        Err(PublishError::Table(why)) => {
            assert_eq!(judge.on_merge(), OnMerge::Neither, "{why}\n{}", context());
            assert!(why.to_string().contains("does not survive merging"), "{why}\n{}", context());
            return false;
        }
        Err(PublishError::Unsatisfiable(why)) => {
            let all_rows: Vec<usize> = (0..table.rows).collect();
            let whole_holds = policy.rules.iter().all(|rule| seen.holds(rule, &all_rows));
            assert!(!whole_holds, "one class of all rows would do\n{why}\n{}", context());
            return false;
        }
        Err(error) => panic!("{error}\n{}", context()),
    };
    assert_ne!(judge.on_merge(), OnMerge::Neither, "{}", context());
    seen.check_cells(&found, &context);
    seen.check_rules(&found, &context);
    seen.check_loss(&found, &context);
    if neighbors.labels == ClassLabels::Set {
        seen.check_sets(&found, true, &context);
    }
    true
}

/// A small table: ages and a few categories, some missing, and k.
fn small(seed: u64) -> (Table, Policy, u64) {
    let mut rng = StdRng::seed_from_u64(seed);
    let rows = rng.random_range(2..=9);
    let k = rng.random_range(2..=3);
    let attributes = rng.random_range(1..=3);
    let mut columns: Vec<Vec<String>> = Vec::new();
    for _ in 0..attributes {
        let (distinct, number) = (rng.random_range(1..=5), rng.random_bool(0.4));
        let missing = rng.random_bool(0.15);
        let cell = |rng: &mut StdRng| {
            let value: u32 = rng.random_range(0..distinct);
            match () {
                () if missing && rng.random_bool(0.2) => String::new(),
                () if number => (value * value).to_string(),
                () => format!("v{value}"),
            }
        };
        columns.push((0..rows).map(|_| cell(&mut rng)).collect());
    }
    let names: Vec<String> = (0..attributes).map(|index| format!("q{index}")).collect();
    let texts: Vec<Vec<&str>> =
        (0..rows).map(|row| columns.iter().map(|column| column[row].as_str()).collect()).collect();
    let table = Table::from_texts(&names.iter().map(String::as_str).collect::<Vec<_>>(), &texts);
    let attributes: String = names.iter().map(|name| format!("{name} = {{ role = \"quasi\" }}\n")).collect();
    let text = format!(
        "[source]\npath = \"t.csv\"\n[attributes]\n{attributes}[[rule]]\n\
         require = {{ model = \"k-anonymity\", k = {k} }}\n"
    );
    (table, Policy::parse(&text, Path::new("policy.toml")).unwrap(), k)
}

/// The loss of a class's rows together, from the definition: values covered, or −log2 of how many
/// rows' values are covered.
fn class_loss(table: &Table, rows: &[usize], loss: Loss) -> f64 {
    let of_column = |column: &hedgerow_table::Column| {
        let domain = &column.domain;
        let mut codes: Vec<u32> = rows.iter().map(|&row| column.codes.get(row)).collect();
        codes.sort_unstable();
        codes.dedup();
        let (first, last) = (codes[0], codes[codes.len() - 1]);
        if domain.kind() != Kind::Category && codes.len() > 1 {
            // From the lowest number to the highest; with the missing value everything.
            let whole = Some(last) == domain.missing_code();
            codes = if whole { (0..domain.cardinality() as u32).collect() } else { (first..=last).collect() };
        }
        let count = |codes: &[u32]| column.codes.iter().filter(|code| codes.contains(code)).count() as f64;
        match loss {
            Loss::Granularity => {
                rows.len() as f64 * (codes.len() - 1) as f64 / (domain.cardinality() as f64 - 1.0).max(1.0)
            }
            _ => {
                let all: f64 = column.codes.iter().map(|code| (table.rows as f64 / count(&[code])).log2()).sum();
                let left = rows.iter().map(|&row| (count(&codes) / count(&[column.codes.get(row)])).log2());
                if all > 0.0 { left.sum::<f64>() / all * table.rows as f64 } else { 0.0 }
            }
        }
    };
    table.columns.iter().map(of_column).sum()
}

/// The best of all partitions into classes of at least k rows.
fn best_partition(table: &Table, k: u64, loss: Loss) -> f64 {
    let sets = 1usize << table.rows;
    let rows_of = |set: usize| (0..table.rows).filter(|row| set >> row & 1 == 1).collect::<Vec<usize>>();
    let class: Vec<f64> = (0..sets)
        .map(|set| if set.count_ones() as u64 >= k { class_loss(table, &rows_of(set), loss) } else { f64::INFINITY })
        .collect();
    let mut best = vec![f64::INFINITY; sets];
    best[0] = 0.0;
    for set in 1..sets {
        let lowest = set & set.wrapping_neg();
        let rest = set ^ lowest;
        let mut with = rest;
        loop {
            let cost = class[with | lowest] + best[rest ^ with];
            best[set] = best[set].min(cost);
            if with == 0 {
                break;
            }
            with = (with - 1) & rest;
        }
    }
    best[sets - 1]
}

#[test]
fn small_tables_lose_little_more_than_the_best_of_all_partitions() {
    for loss in [Loss::Granularity, Loss::Entropy] {
        let mut ratios: Vec<f64> = Vec::new();
        for seed in seeds(1000) {
            let (table, policy, k) = small(seed);
            if (table.rows as u64) < k {
                continue;
            }
            let bound = Bound::new(&policy, &table).unwrap();
            let local = Local { method: Method::BestCut, strict: true, tight: true };
            let objective = Objective::of(Some(loss)).unwrap();
            let neighbors = Neighbors { anew: true, labels: ClassLabels::Set, objective, limit: ImproveLimit::None };
            let found = recode(&bound, &bound.judge().unwrap(), local, neighbors, &NoProgress).unwrap();
            let share = if loss == Loss::Granularity { found.granularity() } else { found.entropy() };
            let cost = share * (table.rows * table.columns.len()) as f64;
            let best = best_partition(&table, k, loss);
            assert!(cost > best - 1e-9, "seed {seed}: {cost} is below the best of all, {best}");
            assert!(best > 1e-9 || cost < 1e-9, "seed {seed}: {cost} where nothing had to be lost");
            if best > 1e-9 {
                ratios.push(cost / best);
            }
        }
        let mean = ratios.iter().sum::<f64>() / ratios.len().max(1) as f64;
        let worst = ratios.iter().copied().fold(0.0, f64::max);
        println!("{}: {mean:.4} times the best on average, {worst:.3} at most", loss.name());
        assert!(mean < 1.15, "{}: {mean} times the best on average", loss.name());
    }
}

/// People of skewed ages, places and trades.
fn people(rows: usize, seed: u64) -> (Table, Policy) {
    people_of_k(rows, seed, 4)
}

fn people_of_k(rows: usize, seed: u64, k: usize) -> (Table, Policy) {
    let mut rng = StdRng::seed_from_u64(seed);
    let texts: Vec<[String; 4]> = (0..rows)
        .map(|_| {
            let trade = rng.random_range(0..12u32).min(rng.random_range(0..12));
            let place = rng.random_range(0..40u32).min(rng.random_range(0..40)).min(rng.random_range(0..40));
            let age = 20 + trade + rng.random_range(0..40u32);
            [age.to_string(), format!("p{place}"), format!("t{trade}"), format!("d{}", rng.random_range(0..6u32))]
        })
        .collect();
    let texts: Vec<Vec<&str>> = texts.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
    let text = format!(
        "[source]\npath = \"t.csv\"\n[attributes]\nage = {{ role = \"quasi\" }}\nplace = {{ role = \"quasi\" }}\n\
         trade = {{ role = \"quasi\" }}\nd = {{ role = \"sensitive\" }}\n[[rule]]\nprotect = \"d\"\n\
         require = [{{ model = \"k-anonymity\", k = {k} }}, {{ model = \"distinct-l-diversity\", l = 2 }}]\n"
    );
    (Table::from_texts(&["age", "place", "trade", "d"], &texts), Policy::parse(&text, Path::new("p.toml")).unwrap())
}

pub(crate) fn neighbors(limit: ImproveLimit) -> Neighbors {
    let objective = Objective::of(Some(Loss::Granularity)).unwrap();
    Neighbors { anew: true, labels: ClassLabels::Set, objective, limit }
}

pub(crate) const CUTS: Local = Local { method: Method::BestCut, strict: true, tight: true };

#[test]
fn neighbors_do_not_depend_on_the_number_of_threads() {
    let (table, policy) = people(6000, 3);
    let bound = Bound::new(&policy, &table).unwrap();
    let judge = bound.judge().unwrap();
    let recoded = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| recode(&bound, &judge, CUTS, neighbors(ImproveLimit::Tries(20_000)), &NoProgress).unwrap())
    };
    let (one, three) = (recoded(1), recoded(3));
    assert_eq!(one.of_row, three.of_row);
    assert_eq!(one.sizes, three.sizes);
}

/// Also at the largest k whose pieces are runs of rows (910), and above it.
#[test]
fn classes_of_many_pieces_and_of_a_large_k_keep_the_rules() {
    for (rows, k) in [(6000, 4), (7199, 910), (9000, 911), (9000, 2500)] {
        let (table, policy) = people_of_k(rows, 5, k);
        let bound = Bound::new(&policy, &table).unwrap();
        let found =
            recode(&bound, &bound.judge().unwrap(), CUTS, neighbors(ImproveLimit::Tries(0)), &NoProgress).unwrap();
        let mut classes: Vec<Vec<u32>> = vec![Vec::new(); found.sizes.len()];
        for (row, &class) in found.of_row.iter().enumerate() {
            classes[class as usize].push(table.columns[3].codes.get(row));
        }
        for (illnesses, &size) in classes.iter().zip(&found.sizes) {
            assert_eq!(illnesses.len() as u64, size, "{rows} rows, k = {k}");
            assert!(illnesses.len() >= k, "{rows} rows, k = {k}: a class of {size}");
            assert!(illnesses.iter().any(|&illness| illness != illnesses[0]), "{rows} rows, k = {k}: one value");
        }
        assert!(classes.len() > 1, "{rows} rows, k = {k}");
    }
}

/// More tries lose no more, and less than cuts alone.
#[test]
fn more_tries_never_lose_more() {
    let (table, policy) = people(1500, 8);
    let bound = Bound::new(&policy, &table).unwrap();
    let judge = bound.judge().unwrap();
    let loss = |limit: ImproveLimit| recode(&bound, &judge, CUTS, neighbors(limit), &NoProgress).unwrap().granularity();
    let losses: Vec<f64> = [0, 1600, 4800, 16_000].map(|tries| loss(ImproveLimit::Tries(tries))).to_vec();
    assert!(losses.is_sorted_by(|before, after| after <= before), "{losses:?}");
    assert!(losses[3] < losses[0], "{losses:?}");
    let cut = hedgerow_publish::local::recode(&bound, &judge, CUTS, &NoProgress).unwrap().granularity();
    assert!(losses[0] < cut, "neighbors lose {}, cuts {cut}", losses[0]);
    for method in [Method::BestCut, Method::Mondrian] {
        let local = Local { method, ..CUTS };
        let cut = hedgerow_publish::local::recode(&bound, &judge, local, &NoProgress).unwrap().granularity();
        let improving = Neighbors { anew: false, ..neighbors(ImproveLimit::Tries(8000)) };
        let improved = recode(&bound, &judge, local, improving, &NoProgress).unwrap().granularity();
        assert!(improved < cut, "{method:?}: improved {improved}, cut {cut}");
    }
}

#[test]
fn degenerate_tables() {
    let classes = |rows: &[[&str; 2]], k: u64| {
        let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.to_vec()).collect();
        let table = Table::from_texts(&["age", "town"], &rows);
        let text = format!(
            "[source]\npath = \"t.csv\"\n[attributes]\nage = {{ role = \"quasi\" }}\ntown = {{ role = \"quasi\" }}\n\
             [[rule]]\nrequire = {{ model = \"k-anonymity\", k = {k} }}\n"
        );
        let policy = Policy::parse(&text, Path::new("policy.toml")).unwrap();
        let bound = Bound::new(&policy, &table).unwrap();
        let found = recode(&bound, &bound.judge().unwrap(), CUTS, neighbors(ImproveLimit::None), &NoProgress).ok()?;
        let text = |row: usize| {
            let cells = found.cells.iter();
            let labels = cells.map(|cells| &cells.labels[cells.of_class[found.of_row[row] as usize] as usize].text);
            labels.cloned().collect::<Vec<_>>().join("|")
        };
        Some((0..table.rows).map(text).collect::<Vec<_>>())
    };
    assert_eq!(classes(&[["30", "a"]], 1).unwrap(), ["30|a"], "one row");
    assert_eq!(classes(&[["30", "a"]], 2), None, "k larger than the table");
    assert_eq!(classes(&[["30", "a"]; 7], 3).unwrap(), ["30|a"; 7], "all alike");
    assert_eq!(classes(&[["", ""]; 3], 2).unwrap(), ["|"; 3], "all cells missing");
    assert_eq!(classes(&[["30", "a"], ["40", "b"]], 2).unwrap(), ["30 to 40|*"; 2], "k is the table");
    let apart = classes(&[["30", "a"], ["30", "b"], ["50", "c"], ["50", "d"]], 2).unwrap();
    assert_eq!(apart, ["30|a or b", "30|a or b", "50|c or d", "50|c or d"]);
    let missing = classes(&[["", "a"], ["", "a"], ["5", "b"], ["7", "b"]], 2).unwrap();
    assert_eq!(missing, ["|a", "|a", "5 to 7|b", "5 to 7|b"], "the missing value is a value");
    let one_missing = classes(&[["", "a"], ["5", "a"], ["7", "a"]], 2).unwrap();
    assert_eq!(one_missing, ["*|a"; 3], "no interval holds the missing value");
}
