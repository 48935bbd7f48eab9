//! How long each part of a decomposition takes on a synthetic table of the shape of hospital
//! discharges: 339,006 rows of ten attributes, three rules about diagnosis codes (400 values),
//! counties and dispositions.
//!
//! `cargo bench -p hedgerow-publish --bench decompose_field -- [ROWS]`

use std::time::Instant;

use hedgerow_privacy::Model;
use hedgerow_privacy::rules::{AttributeSet, Rule};
use hedgerow_publish::decompose::attack::{AttackLimits, attack};
use hedgerow_publish::decompose::divergence::Divergence;
use hedgerow_publish::decompose::gd::gd;
use hedgerow_publish::decompose::multi_sensitive::multi_sensitive;
use hedgerow_publish::decompose::uad::uad;
use hedgerow_publish::decompose::{DecompositionProblem, Subtable};
use hedgerow_table::{Codes, Column, Domain, Ratio, Values};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Attributes with their numbers of values, and the attribute before that each depends on.
const ATTRIBUTES: [(&str, usize, Option<usize>); 10] = [
    ("hospital", 430, None),
    ("county", 58, Some(0)),
    ("age", 18, None),
    ("sex", 3, None),
    ("race", 7, Some(1)),
    ("diagnosis", 400, Some(2)),
    ("stay", 60, Some(5)),
    ("disposition", 20, Some(6)),
    ("payer", 10, Some(2)),
    ("admission", 5, Some(5)),
];

fn main() {
    let rows = std::env::args().filter_map(|text| text.parse::<usize>().ok()).next().unwrap_or(339_006);
    let mut rng = StdRng::seed_from_u64(1);
    let columns = columns(rows, &mut rng);
    let number = |name: &str| ATTRIBUTES.iter().position(|attribute| attribute.0 == name).expect("an attribute");
    let set = |names: &[&str]| names.iter().map(|name| number(name)).collect::<AttributeSet>();
    let frequency = |l: u64| vec![Model::FrequencyLDiversity { l: Ratio::integer(l) }];
    let rules = vec![
        Rule { know: set(&["age", "sex", "county"]), protect: set(&["diagnosis"]), require: frequency(3) },
        Rule { know: set(&["hospital", "diagnosis"]), protect: set(&["county"]), require: frequency(3) },
        Rule { know: set(&["diagnosis", "age"]), protect: set(&["disposition"]), require: frequency(2) },
    ];
    let cardinalities = ATTRIBUTES.map(|attribute| attribute.1).to_vec();
    let codes: Vec<&Codes> = columns.iter().map(|column| &column.codes).collect();
    let problem = DecompositionProblem::new(codes, cardinalities, rows, rules, &[]);
    println!("{rows} rows of {} attributes, three rules", ATTRIBUTES.len());
    let named: Vec<&Column> = columns.iter().collect();
    let mut divergence = Divergence::new(&problem);
    let by_gd = timed("gd", || gd(&problem, &mut divergence, &mut rng).expect("no dependencies"));
    let by_uad = timed("uad", || uad(&problem, &mut rng).expect("no dependencies"));
    let multi = timed("multi-sensitive", || multi_sensitive(&problem, &mut rng));
    let all: [(&str, Option<&[Subtable]>); 3] =
        [("gd", Some(&by_gd)), ("uad", Some(&by_uad)), ("multi-sensitive", multi.as_deref())];
    for (name, tables) in all.into_iter().filter_map(|(name, tables)| Some((name, tables?))) {
        let kl = timed(&format!("divergence of {name}"), || divergence.of(tables));
        let attacked =
            timed(&format!("attack on {name}"), || attack(&problem, &named, tables, AttackLimits::default()));
        println!("  {} tables, KL {kl:?}, {attacked:?}", tables.len());
    }
}

fn timed<T>(name: &str, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let found = work();
    println!("{name}: {:.3} s", started.elapsed().as_secs_f64());
    found
}

/// Skewed columns: half of each follows the attribute that it depends on.
fn columns(rows: usize, rng: &mut StdRng) -> Vec<Column> {
    let mut all: Vec<Vec<u32>> = Vec::new();
    for (_, values, before) in ATTRIBUTES {
        let column = (0..rows).map(|row| match before {
            Some(before) if rng.random_bool(0.5) => (all[before][row] as usize * 7919 % values) as u32,
            _ => (rng.random::<f64>().powf(1.7) * values as f64) as u32,
        });
        all.push(column.collect());
    }
    let column = |(&(name, values, _), codes): (&(&str, usize, Option<usize>), Vec<u32>)| Column {
        name: name.to_owned(),
        domain: Domain::new(Values::Integer((0..values as i64).collect()), false),
        codes: Codes::from_iter(values, codes),
    };
    ATTRIBUTES.iter().zip(all).map(column).collect()
}
