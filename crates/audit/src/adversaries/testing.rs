//! Small releases for the tests of adversaries.

use hedgerow_release::classes::ReleasedClasses;
use hedgerow_table::{Bound, Cover, Table};

/// The cover of a label of the tests: `*` everything, `low..high` an interval, else itself.
pub(crate) fn cover(_: &str, label: &str) -> Cover {
    match label.split_once("..") {
        Some((low, high)) => Cover::Interval { low: Bound::parse(low), high: Bound::parse(high) },
        None if label == "*" => Cover::Everything,
        None => Bound::parse(label).map_or_else(|| Cover::Leaves(vec![label.to_owned()]), Cover::Point),
    }
}

/// A generalized table, the last of its columns sensitive.
pub(crate) fn classes<const N: usize>(names: &[&str; N], rows: &[[&str; N]]) -> ReleasedClasses {
    let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.to_vec()).collect();
    let table = Table::from_texts(names, &rows);
    let names = names.map(str::to_owned);
    let (sensitive, quasi) = names.split_last().unwrap();
    ReleasedClasses::of_generalized("data", &table, quasi, std::slice::from_ref(sensitive), cover, "t").unwrap()
}
