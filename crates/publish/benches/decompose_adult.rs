//! Figures 1 and 2 of Jin and others (2010): KL divergence and mean relative error of count queries
//! for 1 to 9 random rules with three known attributes, l = 2, on UCI Adult with seven coarse
//! attributes. The shipped table has 30,162 people; for the paper's 45,222 it goes round, so that
//! some count twice.
//!
//! `cargo bench -p hedgerow-publish --bench decompose_adult -- [RUNS] [ROWS]`

mod drawn;

use std::time::Instant;

use hedgerow_audit::max_likelihood::{CountQueries, MaxLikelihood};
use hedgerow_publish::decompose::divergence::Divergence;
use hedgerow_publish::decompose::gd::gd;
use hedgerow_publish::decompose::multi_sensitive::multi_sensitive;
use hedgerow_publish::decompose::uad::uad;
use hedgerow_publish::decompose::{Problem, Subtable, single_attribute};
use hedgerow_table::read::{ReadOptions, read_table};
use hedgerow_table::{Codes, Table};
use rand::SeedableRng;
use rand::rngs::StdRng;

const NAMES: [&str; 4] = ["multi-sensitive", "uad", "gd", "single-attribute"];

fn main() {
    let mut arguments = std::env::args().skip(1).filter_map(|text| text.parse::<usize>().ok());
    let runs = arguments.next().unwrap_or(10);
    let rows = arguments.next().unwrap_or(45_222);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/adult/adult.csv.gz");
    let table = read_table(path.as_ref(), &ReadOptions::default()).expect("the shipped example");
    let (columns, cardinalities) = coarse(&table, rows);
    println!(
        "Adult: {} rows, domains {cardinalities:?}, l = 2, {runs} random irreducible rule sets for each number of rules",
        columns[0].len()
    );
    let source: Vec<Vec<u32>> = columns.iter().map(|column| column.iter().collect()).collect();
    println!("rules  {}", NAMES.map(|name| format!("{name:>26}")).join(""));
    for count in 1..=9 {
        let mut sums = [[0f64; 3]; 4];
        for run in 0..runs {
            let mut rng = StdRng::seed_from_u64((count * 1000 + run) as u64);
            let rules = drawn::rules(&mut rng, &columns, &cardinalities, count, 2);
            let rows = columns[0].len();
            let problem = Problem::new(columns.iter().collect(), cardinalities.clone(), rows, rules, &[]);
            let mut divergence = Divergence::new(&problem);
            let mut timed = |make: &mut dyn FnMut(&mut StdRng) -> Option<Vec<Subtable>>| {
                let started = Instant::now();
                (make(&mut rng), started.elapsed().as_secs_f64())
            };
            let made = [
                timed(&mut |rng| multi_sensitive(&problem, rng)),
                timed(&mut |rng| uad(&problem, rng).ok()),
                timed(&mut |rng| gd(&problem, &mut divergence, rng).ok()),
                timed(&mut |_| Some(single_attribute(&problem))),
            ];
            for (sums, (tables, seconds)) in sums.iter_mut().zip(made) {
                let Some(tables) = tables else {
                    sums[0] = f64::NAN;
                    continue;
                };
                sums[0] += divergence.of(&tables).unwrap_or(f64::NAN) / runs as f64;
                sums[1] += relative_error(&problem, &source, &tables, run as u64) / runs as f64;
                sums[2] += seconds / runs as f64;
            }
        }
        let cells = sums.map(|[kl, error, seconds]| format!("  {kl:>7.3} {error:>7.3} {seconds:>7.2}s"));
        println!("{count:>5}  {}", cells.join(""));
    }
    println!("each cell: KL divergence in nats, mean relative error (qd = 3, p = 40 %), seconds");
}

/// As in the paper's table 5: age 6, country 2, education 7, marital status 7, occupation 3, income
/// 2, sex 2 values.
fn coarse(table: &Table, rows: usize) -> (Vec<Codes>, Vec<usize>) {
    let names = ["age", "native-country", "education", "marital-status", "occupation", "salary-class", "sex"];
    let mut columns = Vec::new();
    let mut cardinalities = Vec::new();
    for name in names {
        let column = table.column(name).expect("a column of Adult");
        let mut labels: Vec<String> = Vec::new();
        let of_code: Vec<u32> = (0..column.domain.cardinality() as u32)
            .map(|code| {
                let label = group(name, &column.domain.text(code));
                let known = labels.iter().position(|known| *known == label);
                known.unwrap_or_else(|| {
                    labels.push(label);
                    labels.len() - 1
                }) as u32
            })
            .collect();
        // Every so many rows, so that a smaller sample is spread over the file.
        let step = (table.rows / rows).max(1);
        let codes = (0..rows).map(|row| of_code[column.codes.get(row * step % table.rows) as usize]);
        columns.push(Codes::from_iter(labels.len(), codes));
        cardinalities.push(labels.len());
    }
    (columns, cardinalities)
}

fn group(name: &str, text: &str) -> String {
    let group = match name {
        "age" => match text.parse::<u32>().unwrap_or(0) {
            ..25 => "17-24",
            25..35 => "25-34",
            35..45 => "35-44",
            45..55 => "45-54",
            55..65 => "55-64",
            65.. => "65-90",
        },
        "native-country" if text == "United-States" => "US",
        "native-country" => "other",
        "education" => match text {
            "Preschool" => "preschool",
            "1st-4th" | "5th-6th" | "7th-8th" => "elementary",
            "9th" | "10th" | "11th" | "12th" | "HS-grad" => "secondary",
            "Some-college" => "some college",
            "Assoc-voc" | "Assoc-acdm" => "associate",
            "Bachelors" => "university",
            _ => "post-graduate",
        },
        "occupation" => match text {
            "Exec-managerial" | "Prof-specialty" | "Adm-clerical" | "Sales" | "Tech-support" => "white collar",
            "Craft-repair" | "Machine-op-inspct" | "Transport-moving" | "Handlers-cleaners" | "Farming-fishing" => {
                "blue collar"
            }
            _ => "other",
        },
        _ => text,
    };
    group.to_owned()
}

/// Of 1,000 queries over three attributes, 40 % of the values of each.
fn relative_error(problem: &Problem<'_>, source: &[Vec<u32>], tables: &[Subtable], seed: u64) -> f64 {
    let published: Vec<_> = tables.iter().map(|table| table.published(problem).expect("nothing generalized")).collect();
    let estimate = MaxLikelihood::new(&problem.cardinalities, &published).expect("a tree");
    let queries = CountQueries { count: 1000, seed, dimension: 3, share: 0.4 };
    estimate.query_error(source, queries).map_or(f64::NAN, |found| found.relative_error.mean)
}
