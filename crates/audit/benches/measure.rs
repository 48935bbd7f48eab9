//! How long measuring takes: `cargo bench -p hedgerow-audit --bench measure -- [ROWS [QUERIES]]`.
//!
//! Nine quasi-identifiers like those of a census and a sensitive one, generalized to about a
//! hundred thousand classes.

use std::time::Instant;

use hedgerow_audit::{MeasureOptions, QuasiSource, QueryOptions, SourceTable, measure};
use hedgerow_release::{Codebook, Release};
use hedgerow_table::{Codes, Column, Domain, Hierarchy, HierarchySpec, NoProgress, Table, Values};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Values of each quasi-identifier and the level it is released on.
const QUASI: [(usize, usize); 9] = [(74, 2), (2, 0), (16, 1), (40, 2), (14, 1), (5, 0), (7, 1), (7, 0), (1000, 3)];
const SENSITIVE: usize = 50;

fn main() {
    let mut arguments = std::env::args().skip(1).filter_map(|argument| argument.parse::<usize>().ok());
    let (rows, count) = (arguments.next().unwrap_or(3_000_000), arguments.next().unwrap_or(1000));
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
    let names: Vec<String> = source.columns.iter().map(|column| column.name.clone()).collect();
    let (quasi, sensitive) = names.split_at(QUASI.len());
    let release = Release::of_table("release", released, quasi.to_vec(), sensitive.to_vec(), codebook);
    let release = release.expect("its columns are there");
    let source = SourceTable {
        table: &source,
        quasi: quasi.iter().zip(&hierarchies).map(|(name, hierarchy)| QuasiSource { name, hierarchy }).collect(),
        sensitive: sensitive.iter().map(String::as_str).collect(),
        k: 5,
    };
    let queries = QueryOptions { count, ..QueryOptions::default() };
    let options = MeasureOptions { queries, ..MeasureOptions::default() };
    let start = Instant::now();
    let found = measure(&release, &source, &options, &NoProgress).expect("a release");
    let classes = found.table().map_or(0, |table| table.classes.count);
    println!("{rows} rows, {classes} classes, {count} queries: {:.2?}", start.elapsed());
}
