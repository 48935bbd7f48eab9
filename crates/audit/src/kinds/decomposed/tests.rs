//! Sub-tables in memory, laid out as the files of a decomposed release have them.

use hedgerow_release::Spelling;
use hedgerow_release::bucketized::{COUNT, GROUP};
use hedgerow_release::decomposed::SubTable;
use hedgerow_release::generalized::Generalized;
use hedgerow_table::Table;

use super::*;
use crate::adversaries::{intersection, linker};

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// All attributes by row, none of them sensitive.
fn rows(name: &str, header: &[&str], cells: &[[&str; 2]]) -> SubTable {
    let cells: Vec<Vec<&str>> = cells.iter().map(|row| row.to_vec()).collect();
    let table = Table::from_texts(header, &cells);
    SubTable {
        name: name.to_owned(),
        form: Form::Rows(Generalized { table, quasi: names(header), sensitive: vec![], units: vec![], counts: None }),
    }
}

/// Ages by row, diseases and wards by bucket: one bucket of two people, and a third whose values
/// are not released.
fn buckets() -> Combined {
    let quasi = [["20", "1"], ["30", "1"], ["40", ""]].map(|row| row.to_vec());
    let values = [["1", "HIV", "x", "1"], ["1", "flu", "y", "1"]].map(|row| row.to_vec());
    Combined {
        quasi: Table::from_texts(&["age", GROUP], &quasi),
        quasi_attributes: names(&["age"]),
        values: Table::from_texts(&[GROUP, "disease", "ward", COUNT], &values),
        sensitive: names(&["disease", "ward"]),
        bucket_of_row: vec![Some(0), Some(0), None],
        bucket_of_value: vec![0, 0],
        counts: vec![1, 1],
        sizes: vec![2],
    }
}

fn classes(table: &SubTable) -> ReleasedClasses {
    let covers = |_: &str, label: &str| cover_of_label(label);
    match &table.form {
        Form::Rows(read) => ReleasedClasses::of_generalized("t", &read.table, &read.quasi, &[], covers, "t").unwrap(),
        Form::Combined(read) => rows_by_quasi(read, "t", &Codebook::new(), "t").unwrap(),
        Form::Buckets(_) => panic!("not in these tests"),
    }
}

fn exposed(tables: Vec<SubTable>) -> u64 {
    let classes: Vec<ReleasedClasses> = tables.iter().map(classes).collect();
    let joinable = joinable(&Decomposed { tables }, &classes, "release", &Spelling::default());
    assert!(joinable.generalized.is_empty());
    intersection::run(vec!["release".to_owned()], &joinable.tables, &[], None).at_risk
}

/// The bucket hides who of two people has HIV. A table of ages and zip codes and one of zip codes
/// and diseases, neither of which has a sensitive attribute, say it.
#[test]
fn tables_without_a_sensitive_attribute_take_part_in_the_join() {
    let hidden = || SubTable { name: "1".to_owned(), form: Form::Combined(Box::new(buckets())) };
    let zips = || rows("2", &["age", "zip"], &[["20", "A"], ["30", "B"], ["40", "C"]]);
    let diseases = || rows("3", &["zip", "disease"], &[["A", "HIV"], ["B", "flu"], ["C", "gout"]]);
    assert_eq!(exposed(vec![hidden(), zips()]), 0);
    assert_eq!(exposed(vec![hidden(), zips(), diseases()]), 2);
}

/// Three people with ages of their own: the row without released values is as unique as the others.
#[test]
fn the_linker_examines_rows_without_sensitive_values() {
    let all = rows_by_quasi(&buckets(), "t", &Codebook::new(), "t").unwrap();
    let found = linker::run("t", &all, None, 2).unwrap();
    assert_eq!((found.people, found.at_risk, found.effective_k), (3, 3, Some(1)));
    let people = Table::from_texts(&["age"], &[vec!["40"]]);
    let found = linker::run("t", &all, Some(&people), 2).unwrap();
    assert_eq!((found.people, found.at_risk), (1, 1));
    assert!(!found.details.contains_key("not_in_release"));
}
