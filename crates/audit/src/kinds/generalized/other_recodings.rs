//! Releases that are not full-domain: local cells and buckets, each measure against its definition.

use hedgerow_table::{Bound, Cover, Hierarchy, Label};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::kinds::bucketized::{MeasuredBuckets, measure_buckets};
use crate::testing::{seeds, written_and_read};

fn table(header: &[&str], rows: &[Vec<String>]) -> Table {
    let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
    Table::from_texts(header, &rows)
}

/// People of random ages and sexes, locally recoded: each class of three has an interval of its own
/// and one sex or `*`.
fn local_release(seed: u64) -> (Table, Table, Codebook, Vec<(i64, i64, bool)>) {
    let mut rng = StdRng::seed_from_u64(seed);
    let (mut source, mut released, mut cells) = (Vec::new(), Vec::new(), Vec::new());
    let mut codebook = Codebook::new();
    for _ in 0..rng.random_range(1..5) {
        let (low, width) = (rng.random_range(0..40), rng.random_range(1..20));
        let sexes = [["f", "f", "f"], ["m", "m", "m"], ["f", "m", "m"]][rng.random_range(0..3)];
        let hidden = sexes[0] != sexes[2];
        let (age, cover) = if width == 1 {
            (low.to_string(), Cover::Point(Bound::Integer(low)))
        } else {
            let cover = Cover::Interval { low: Some(Bound::Integer(low)), high: Some(Bound::Integer(low + width)) };
            (format!("{low} to {}", low + width - 1), cover)
        };
        codebook.add("age", &Label { text: age.clone(), cover, leaves: 1 }).unwrap();
        let sex = if hidden { "*" } else { sexes[0] };
        let cover = if hidden { Cover::Everything } else { Cover::Leaves(vec![sex.to_owned()]) };
        codebook.add("sex", &Label { text: sex.to_owned(), cover, leaves: 1 }).unwrap();
        for value in sexes {
            let illness = ["flu", "cold"][rng.random_range(0..2)].to_owned();
            source.push(vec![rng.random_range(low..low + width).to_string(), value.to_owned(), illness.clone()]);
            released.push(vec![age.clone(), sex.to_owned(), illness]);
            cells.push((low, low + width - 1, hidden));
        }
    }
    let header = ["age", "sex", "illness"];
    (table(&header, &source), table(&header, &released), written_and_read(&codebook), cells)
}

#[test]
fn local_cells_are_measured_by_what_they_cover() {
    for seed in seeds(300) {
        let (source, released, codebook, cells) = local_release(seed);
        let hierarchies: Vec<Hierarchy> = source.columns[..2]
            .iter()
            .map(|column| {
                let nulls = [String::new()];
                Hierarchy::build(&hedgerow_table::HierarchySpec::None, &column.name, "test", &column.domain, &nulls)
                    .unwrap()
            })
            .collect();
        let quasi = ["age", "sex"].iter().zip(&hierarchies).map(|(name, hierarchy)| QuasiSource { name, hierarchy });
        let input = GeneralizedPair {
            source: &source,
            released: &released,
            codebook: &codebook,
            ranges: Vec::new(),
            quasi: quasi.collect(),
            sensitive: vec!["illness"],
            k: 3,
            rows_suppressed: 0,
            recoding: Recoding::Local,
        };
        let options = QueryOptions { count: 20, ..QueryOptions::default() };
        let found = measure(&input, &options, &hedgerow_table::NoProgress)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let ages: Vec<i64> = (0..source.rows).map(|row| source.columns[0].text(row).parse().unwrap()).collect();
        let (first, last) = (*ages.iter().min().unwrap(), *ages.iter().max().unwrap());
        let age = |(low, high, _): &(i64, i64, bool)| match last - first {
            0 => 0.0,
            range => ((*high).min(last) - (*low).max(first)) as f64 / range as f64,
        };
        let age_loss = cells.iter().map(age).sum::<f64>() / cells.len() as f64;
        let sex_loss = cells.iter().filter(|cell| cell.2).count() as f64 / cells.len() as f64;
        let losses = &found.losses;
        assert!((found.attributes[0].ncp - age_loss).abs() < 1e-12, "seed {seed}: {losses:?}, expected {age_loss}");
        assert!((found.attributes[1].ncp - sex_loss).abs() < 1e-12, "seed {seed}: {losses:?}, expected {sex_loss}");
        assert_eq!([losses.precision, losses.kl], [None; 2], "these have no meaning here");
        let distinct: std::collections::BTreeSet<i64> = ages.iter().copied().collect();
        let covered = |(low, high, _): &(i64, i64, bool)| distinct.range(*low..=*high).count() as f64;
        let ages_lost: f64 = cells.iter().map(|cell| covered(cell) - 1.0).sum();
        let ages_lost = ages_lost / cells.len() as f64 / (distinct.len() as f64 - 1.0).max(1.0);
        let found_ages = found.attributes[0].granularity.unwrap();
        assert!((found_ages - ages_lost).abs() < 1e-12, "seed {seed}: {found_ages}, expected {ages_lost}");
        // Row by row: how many of the rows under its cell have its age.
        let (mut left, mut all) = (0.0, 0.0);
        for (age, (low, high, _)) in ages.iter().zip(&cells) {
            let alike = ages.iter().filter(|other| *other == age).count() as f64;
            let under = ages.iter().filter(|other| (low..=high).contains(other)).count() as f64;
            left += (under / alike).log2();
            all += (ages.len() as f64 / alike).log2();
        }
        let open = if all > 0.0 { left / all } else { 0.0 };
        let found_open = found.attributes[0].entropy.unwrap();
        assert!((found_open - open).abs() < 1e-9, "seed {seed}: {found_open}, expected {open}");
        let mut keys: Vec<String> = (0..released.rows)
            .map(|row| released.columns[0].text(row) + "|" + &released.columns[1].text(row))
            .collect();
        keys.sort_unstable();
        let sizes: Vec<usize> = keys.chunk_by(|a, b| a == b).map(<[String]>::len).collect();
        assert_eq!(losses.discernibility as usize, sizes.iter().map(|size| size * size).sum::<usize>(), "seed {seed}");
        assert_eq!(found.classes.count as usize, sizes.len(), "seed {seed}");
        assert_eq!(found.risk.journalist.as_ref(), Some(&found.risk.prosecutor), "no row is suppressed");
        let json = serde_json::to_value(&found).unwrap();
        assert!(json["loss"]["precision"].is_null() && json["queries"]["relative_error"]["mean"].is_number());
    }
}

#[test]
fn a_local_release_of_something_else_is_refused() {
    let (source, released, codebook, _) = local_release(3);
    let other =
        table(&["age", "sex", "illness"], &vec![vec!["99".to_owned(), "f".to_owned(), "flu".to_owned()]; source.rows]);
    let hierarchy = |table: &Table| {
        let column = &table.columns[0];
        Hierarchy::build(&hedgerow_table::HierarchySpec::None, "age", "test", &column.domain, &[String::new()]).unwrap()
    };
    let hierarchy = hierarchy(&other);
    let input = GeneralizedPair {
        source: &other,
        released: &released,
        codebook: &codebook,
        ranges: Vec::new(),
        quasi: vec![QuasiSource { name: "age", hierarchy: &hierarchy }],
        sensitive: vec![],
        k: 1,
        rows_suppressed: 0,
        recoding: Recoding::Local,
    };
    let refused = measure(&input, &QueryOptions::default(), &hedgerow_table::NoProgress).unwrap_err().to_string();
    assert!(refused.contains("covers no value of the source"), "{refused}");
}

/// Two buckets: the quasi-identifiers are unchanged, so nothing is lost but the link to the
/// illness.
#[test]
fn buckets_by_hand() {
    let split = |rows: &[&str]| -> Vec<Vec<String>> {
        rows.iter().map(|row| row.split(',').map(str::to_owned).collect()).collect()
    };
    let source = table(&["age", "illness"], &split(&["20,flu", "21,cold", "20,cold", "40,flu", "41,ache"]));
    let rows = table(&["age", "group"], &split(&["20,2", "21,2", "20,1", "40,1", "41,1"]));
    let values =
        table(&["group", "illness", "count"], &split(&["2,flu,1", "2,cold,1", "1,cold,1", "1,flu,1", "1,ache,1"]));
    let input = MeasuredBuckets {
        source: &source,
        rows: &rows,
        values: &values,
        quasi: vec!["age"],
        sensitive: vec!["illness"],
        k: 1,
        rows_suppressed: 0,
    };
    let options = QueryOptions { count: 200, selectivity: 0.25, ..QueryOptions::default() };
    let found = measure_buckets(&input, &options, &hedgerow_table::NoProgress).unwrap();
    assert_eq!((found.losses.ncp, found.losses.discernibility, found.classes.count), (0.0, 4 + 9, 2));
    assert_eq!((found.risk.unique_rows, found.risk.prosecutor.max), (3, 1.0), "21, 40 and 41 are found by their age");
    assert!(found.buckets);
    // 20-year-olds with flu: in group 2 one of two rows times one of two values, in group 1 one of
    // three times one.
    let errors = found.queries.unwrap();
    assert!(errors.max > 0.0 && errors.mean < 1.0, "{errors:?}");
    let refused =
        measure_buckets(&MeasuredBuckets { rows_suppressed: 1, ..input }, &options, &hedgerow_table::NoProgress);
    assert!(refused.unwrap_err().to_string().contains("but the source has 5"));
}

/// Two buckets of two: 10 and 20 are both taken for either, and so are 30 and 50. The mean is off
/// by 5 for two people and by 10 for the other two, and so is every quartile, given as the lower
/// value, the lower, and the upper.
#[test]
fn sensitive_numbers_in_buckets_by_hand() {
    let split = |rows: &[&str]| -> Vec<Vec<String>> {
        rows.iter().map(|row| row.split(',').map(str::to_owned).collect()).collect()
    };
    let source = table(&["age", "pay"], &split(&["20,10", "21,20", "40,30", "41,50"]));
    let rows = table(&["age", "group"], &split(&["41,1", "21,2", "20,2", "40,1"]));
    let values = table(&["group", "pay", "count"], &split(&["1,50,1", "2,10,1", "2,20,1", "1,30,1"]));
    let (quasi, sensitive) = (vec!["age"], vec!["pay"]);
    let input =
        MeasuredBuckets { source: &source, rows: &rows, values: &values, quasi, sensitive, k: 1, rows_suppressed: 0 };
    let options = QueryOptions { count: 0, ..QueryOptions::default() };
    let found = measure_buckets(&input, &options, &hedgerow_table::NoProgress).unwrap();
    let [pay] = found.numbers.as_slice() else { panic!("one number") };
    assert_eq!((pay.attribute.as_str(), pay.by_class), ("pay", [7.5; 4]));
    assert_eq!(pay.by_value, [("age".to_owned(), [7.5; 4])]);
}
