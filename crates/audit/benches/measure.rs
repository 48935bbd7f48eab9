//! How long measuring takes: `cargo bench -p hedgerow-audit --bench measure -- [ROWS [QUERIES]]`.
//!
//! Nine quasi-identifiers like those of a census and a sensitive one, generalized to about a hundred thousand classes.

use std::time::Instant;

use hedgerow_audit::{Measured, QuasiSource, QueryOptions, Recoding, measure};
use hedgerow_release::codebook::Codebook;
use hedgerow_table::{Codes, Column, Domain, Hierarchy, HierarchySpec, NoProgress, Table, Values};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Values of each quasi-identifier and the level it is released on.
const QUASI: [(usize, usize); 9] = [(74, 2), (2, 0), (16, 1), (40, 2), (14, 1), (5, 0), (7, 1), (7, 0), (1000, 3)];
const SENSITIVE: usize = 50;

fn main() {
    let argument = |place: usize, default: usize| {
        std::env::args().nth(place).map_or(default, |text| text.parse().expect("a number"))
    };
    let (rows, count) = (argument(1, 3_000_000), argument(2, 1000));
    let mut rng = StdRng::seed_from_u64(1);
    let mut source = Table { columns: Vec::new(), rows, header: Vec::new(), warnings: Vec::new() };
    for (index, values) in QUASI.iter().map(|quasi| quasi.0).chain([SENSITIVE]).enumerate() {
        let domain = Domain::new(Values::Integer((0..values as i64).collect()), false);
        // The square of a uniform number: low values are common.
        let codes = (0..rows).map(|_| (rng.random::<f64>().powi(2) * values as f64) as u32);
        source.columns.push(Column { name: format!("column {index}"), domain, codes: Codes::from_iter(values, codes) });
    }
    let mut released = source.clone();
    let mut codebook = Codebook::new();
    let mut hierarchies = Vec::new();
    for ((column, released), (_, level)) in source.columns.iter().zip(&mut released.columns).zip(QUASI) {
        let spec = if level == 0 { HierarchySpec::None } else { HierarchySpec::Widths(vec![5.0, 20.0, 100.0]) };
        let hierarchy = Hierarchy::build(&spec, &column.name, "example", &column.domain, &[]).expect("a hierarchy");
        let chosen = &hierarchy.levels()[level];
        chosen.labels.iter().for_each(|label| codebook.add(&column.name, label).expect("one meaning"));
        let texts: Vec<&str> = chosen.labels.iter().map(|label| label.text.as_str()).collect();
        let (domain, codes) = Domain::from_texts(&texts, false, None).expect("any text");
        let recoded = column.codes.iter().map(|code| codes[chosen.map[code as usize] as usize]);
        released.codes = Codes::from_iter(domain.cardinality(), recoded);
        released.domain = domain;
        hierarchies.push(hierarchy);
    }
    let quasi = source.columns.iter().zip(&hierarchies);
    let input = Measured {
        source: &source,
        released: &released,
        codebook: &codebook,
        quasi: quasi.map(|(column, hierarchy)| QuasiSource { name: &column.name, hierarchy }).collect(),
        sensitive: vec![&source.columns[QUASI.len()].name],
        k: 5,
        rows_suppressed: 0,
        recoding: Recoding::FullDomain,
    };
    let start = Instant::now();
    let found = measure(&input, &QueryOptions { count, ..QueryOptions::default() }, &NoProgress).expect("a release");
    println!("{rows} rows, {} classes, {count} queries: {:.2?}", found.classes.count, start.elapsed());
}
