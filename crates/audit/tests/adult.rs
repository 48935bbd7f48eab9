//! UCI Adult at the levels where ARX ends: its loss, found again from the released cells.

use std::collections::HashMap;
use std::path::Path;

use hedgerow_audit::{MeasureOptions, Measures, QuasiSource, SourceTable, TableMeasures, measure};
use hedgerow_release::{Codebook, Release};
use hedgerow_table::read::{ReadOptions, read_table};
use hedgerow_table::{Hierarchy, HierarchySpec, NoProgress, Table};

/// Recodes Adult to these levels, leaves out classes below `k`, and measures what is left.
fn measured(levels: [usize; 9], k: usize) -> TableMeasures {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/adult");
    let source = read_table(&directory.join("adult.csv.gz"), &ReadOptions::default()).unwrap();
    let build = |column: &hedgerow_table::Column| {
        let spec = HierarchySpec::File(directory.join(format!("hierarchies/{}.csv", column.name)));
        Hierarchy::build(&spec, &column.name, "policy.toml", &column.domain, &[]).unwrap()
    };
    let hierarchies: Vec<Hierarchy> = source.columns.iter().map(build).collect();
    let chosen: Vec<_> = hierarchies.iter().zip(levels).map(|(hierarchy, level)| &hierarchy.levels()[level]).collect();
    let mut codebook = Codebook::new();
    for (column, level) in source.columns.iter().zip(&chosen) {
        level.labels.iter().for_each(|label| codebook.add(&column.name, label).unwrap());
    }
    let labels = |row: usize| -> Vec<u32> {
        source.columns.iter().zip(&chosen).map(|(column, level)| level.map[column.codes.get(row) as usize]).collect()
    };
    let mut classes: HashMap<Vec<u32>, usize> = HashMap::new();
    for row in 0..source.rows {
        *classes.entry(labels(row)).or_default() += 1;
    }
    let text = |(label, level): (&u32, &&hedgerow_table::Level)| level.labels[*label as usize].text.clone();
    let kept: Vec<Vec<String>> = (0..source.rows)
        .map(labels)
        .filter(|labels| classes[labels] >= k)
        .map(|labels| labels.iter().zip(&chosen).map(text).collect())
        .collect();
    let cells: Vec<Vec<&str>> = kept.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
    let names: Vec<&str> = source.columns.iter().map(|column| column.name.as_str()).collect();
    let released = Table::from_texts(&names, &cells);
    let quasi: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let release = Release::of_table("adult", released, quasi, Vec::new(), codebook).unwrap();
    let quasi = names.iter().zip(&hierarchies).map(|(name, hierarchy)| QuasiSource { name, hierarchy });
    let source = SourceTable { table: &source, quasi: quasi.collect(), sensitive: vec![], k: k as u64 };
    match measure(&release, &source, &MeasureOptions::default(), &NoProgress).unwrap() {
        Measures::Table(measures) => measures,
        Measures::Decomposed(_) => panic!("one table"),
    }
}

#[test]
fn the_loss_of_arx_on_adult_is_found_again() {
    let full = measured([0, 4, 1, 1, 3, 2, 2, 1, 0], 5);
    assert_eq!(full.rows.suppressed, 0);
    assert!((full.losses.granularity.unwrap() - 0.635_543_846_7).abs() < 1e-10, "{:?}", full.losses.granularity);
    let partial = measured([0, 3, 0, 2, 2, 1, 1, 2, 0], 5);
    assert_eq!(partial.rows.suppressed, 506);
    assert!((partial.losses.granularity.unwrap() - 0.357_482_489_9).abs() < 1e-10, "{:?}", partial.losses.granularity);
    assert!(
        partial.classes.min >= 5 && partial.risk.prosecutor.max <= 0.2 && partial.risk.prosecutor.share_above == 0.0
    );
    // The mean is ruled by small countries in a large continent; half of the queries come out far
    // better.
    let queries = partial.queries.unwrap();
    assert!(queries.median > 0.0 && queries.median < 1.0 && queries.median < queries.mean, "{queries:?}");
}
