//! Cases from data that the rules were not tuned for: keys under any name, weights, codes, bands,
//! dates, relations.

use super::tests::{check, role, table_of};
use super::*;
use crate::Policy;

fn cells(rows: usize, cell: impl Fn(usize) -> String) -> Vec<String> {
    (0..rows).map(cell).collect()
}

/// Tax records: a record number whose name begins like a conviction, households, persons in them, a
/// survey weight, money.
fn tax_records(rows: usize) -> Vec<(&'static str, Vec<String>)> {
    let household = |row: usize| row * 2 / 5;
    let person = move |row: usize| (0..=row).rev().take_while(|other| household(*other) == household(row)).count();
    vec![
        ("RECID", cells(rows, |row| (row + 1).to_string())),
        ("h_seq", cells(rows, |row| (household(row) + 1).to_string())),
        ("ffpos", cells(rows, |row| person(row).to_string())),
        ("s006", cells(rows, |row| format!("{}", 20_000 + row * 7919 % 60_000))),
        ("serial_code", cells(rows, |row| format!("{}", 100_000 + row * 7919 % 800_000))),
        ("age_head", cells(rows, |row| (18 + row * 7 % 70).to_string())),
        ("wages", cells(rows, |row| ((row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) % 89_989).to_string())),
        ("sex", cells(rows, |row| ["f", "m"][row % 2].to_owned())),
        ("county", cells(rows, |row| format!("county {}", row * 5 % 12))),
        ("area", cells(rows, |row| format!("area {}", row * 5 % 12 / 4))),
    ]
}

fn proposed(columns: Vec<(&str, Vec<String>)>) -> (Policy, Proposal) {
    check(&table_of(columns), &ProposeOptions::default(), "field")
}

#[test]
fn record_numbers_and_keys_are_identifiers_whatever_they_are_called() {
    let (policy, proposal) = proposed(tax_records(600));
    for name in ["RECID", "h_seq", "ffpos", "serial_code"] {
        assert_eq!(role(&policy, name), Some(Role::Identifier), "{name}\n{}", proposal.policy);
    }
    assert_eq!(role(&policy, "s006"), None, "a survey weight is omitted\n{}", proposal.policy);
    assert_eq!(role(&policy, "wages"), Some(Role::Sensitive), "{}", proposal.policy);
    assert_eq!(role(&policy, "age_head"), Some(Role::Quasi), "{}", proposal.policy);
}

#[test]
fn a_column_called_household_is_a_key_or_a_size_by_its_values() {
    let (policy, proposal) = proposed(vec![
        ("household", cells(300, |row| (row / 3 + 1).to_string())),
        ("person", cells(300, |row| (row % 3 + 1).to_string())),
        ("household size", cells(300, |row| (1 + row * 7 % 5).to_string())),
        ("age", cells(300, |row| (18 + row * 7 % 60).to_string())),
    ]);
    assert_eq!(role(&policy, "household"), Some(Role::Identifier), "{}", proposal.policy);
    assert_eq!(role(&policy, "person"), Some(Role::Identifier), "{}", proposal.policy);
    assert_eq!(role(&policy, "household size"), Some(Role::Quasi), "{}", proposal.policy);
}

/// The key of households may begin with letters; codes with gaps are not one.
#[test]
fn serial_codes_that_a_few_rows_share_are_a_key() {
    let ages = || ("age", cells(300, |row| (18 + row * 7 % 60).to_string()));
    let (policy, proposal) = proposed(vec![("household", cells(300, |row| format!("H{}", 200_000 + row / 3))), ages()]);
    assert!(matches!(role(&policy, "household"), Some(Role::Identifier | Role::Unit)), "{}", proposal.policy);
    let (policy, proposal) = proposed(vec![("block", cells(300, |row| format!("H{}", 200_000 + row / 3 * 7))), ages()]);
    assert!(!matches!(role(&policy, "block"), Some(Role::Identifier | Role::Unit)), "{}", proposal.policy);
}

#[test]
fn a_measured_quantity_may_be_different_in_every_row() {
    let (policy, proposal) = proposed(vec![
        ("age", cells(300, |row| (18 + row % 60).to_string())),
        ("income", cells(300, |row| (100_000 + row * 7919 % 800_000).to_string())),
        ("score", cells(300, |row| format!("{}.5", row * 7919 % 1009))),
    ]);
    assert_eq!(role(&policy, "income"), Some(Role::Sensitive), "{}", proposal.policy);
    assert_eq!(role(&policy, "score"), Some(Role::Sensitive), "{}", proposal.policy);
}

#[test]
fn roles_do_not_depend_on_the_order_of_the_columns() {
    let names: Vec<String> = (0..40).map(|n| format!("thing {}", "x".repeat(n + 1))).collect();
    let mut columns = tax_records(240);
    columns.extend(names.iter().enumerate().map(|(n, name)| {
        let name: &'static str = Box::leak(name.clone().into_boxed_str());
        (name, cells(240, |row| (row * (n + 3) % (2 + n % 5)).to_string()))
    }));
    let roles = |columns: Vec<(&str, Vec<String>)>| {
        let proposal = propose(&table_of(columns), "data.csv", &ProposeOptions::default());
        let mut roles: Vec<(String, Option<Role>)> =
            proposal.profiles.into_iter().map(|profile| (profile.name, profile.role)).collect();
        roles.sort_by(|a, b| a.0.cmp(&b.0));
        roles
    };
    let forward = roles(columns.clone());
    columns.reverse();
    assert_eq!(roles(columns.clone()), forward);
    columns.rotate_left(17);
    assert_eq!(roles(columns), forward);
}

#[test]
fn relations_between_columns_are_reported() {
    let (_, proposal) = proposed(tax_records(600));
    let expected = Relation::Determines { from: "county".to_owned(), to: "area".to_owned() };
    assert!(proposal.relations.contains(&expected), "{:?}", proposal.relations);
    assert!(proposal.policy.contains("#   county determines area\n"), "{}", proposal.policy);
}

#[test]
fn natural_ranges_are_proposed_unless_the_data_contradicts_them() {
    let (policy, proposal) = proposed(vec![
        ("age", cells(200, |row| (row % 90).to_string())),
        ("income", cells(200, |row| (row * 1000).to_string())),
        ("balance", cells(200, |row| (row as i64 * 10 - 500).to_string())),
        ("year", cells(200, |row| (1990 + row % 30).to_string())),
        ("sex", cells(200, |row| ["f", "m"][row % 2].to_owned())),
    ]);
    let range =
        |name: &str| policy.attribute(name).unwrap().declared.range.clone().map(|range| (range.low, range.high));
    let whole = |number: i64| Some(hedgerow_table::hierarchy::Bound::Integer(number));
    assert_eq!(range("age"), Some((whole(0), whole(120))), "{}", proposal.policy);
    assert_eq!(range("income"), Some((whole(0), None)), "{}", proposal.policy);
    assert_eq!(range("balance"), None, "some are negative\n{}", proposal.policy);
    assert_eq!(range("sex"), None);
}

#[test]
fn ages_that_no_one_reaches_are_pointed_out() {
    let with = |odd: &'static str| {
        let age = move |row: usize| if row == 7 { odd.to_owned() } else { (row % 90).to_string() };
        proposed(vec![("age", cells(200, age)), ("sex", cells(200, |row| ["f", "m"][row % 2].to_owned()))]).1.policy
    };
    for odd in ["999", "-1", "121"] {
        assert!(with(odd).contains("1 row is not from 0 to 120: mend it, or add its value to `null`"), "{}", with(odd));
    }
    assert!(!with("120").contains("not from 0 to 120"), "{}", with("120"));
}

#[test]
fn salaries_get_a_top() {
    let salary = |row: usize| if row == 5 { "950000".to_owned() } else { (20_000 + row * 7919 % 60_000).to_string() };
    let (policy, proposal) = proposed(vec![
        ("age", cells(900, |row| (row % 90).to_string())),
        ("salary", cells(900, salary)),
        ("wages", cells(900, |row| (20_000 + row * 6007 % 60_000).to_string())),
    ]);
    assert!(proposal.policy.contains("coarsen = { significant = 2, top = 79000 }"), "{}", proposal.policy);
    assert!(policy.attribute("salary").unwrap().coarsen.is_some());
    assert_eq!(proposal.policy.matches("top =").count(), 1, "wages have no one far above\n{}", proposal.policy);
}

#[test]
fn bands_are_ordered() {
    let order = |bands: &'static [&'static str]| {
        let (policy, _) = proposed(vec![("age group", cells(200, |row| bands[row % bands.len()].to_owned()))]);
        policy.attributes[0].declared.order.clone().map(|order| order.values)
    };
    assert_eq!(order(&["50+", "30 to 49", "0 to 17", "18 to 29"]).unwrap(), ["0 to 17", "18 to 29", "30 to 49", "50+"]);
    assert_eq!(order(&["30-49", "under 18", "18-29"]).unwrap(), ["under 18", "18-29", "30-49"]);
    assert_eq!(order(&["30-49", "unknown", "18-29", "50-64"]), None, "not every text has a place");
    assert_eq!(order(&["young", "middle", "old"]), None);
}

#[test]
fn diagnoses_and_countries_are_recognized_by_their_values() {
    let diagnoses = ["E11.9", "I10", "J45.1", "C50.9", "F32.1", "M54.5", "K21.0"];
    let countries = ["DE", "FR", "CH", "US", "IN", "BR"];
    let (policy, proposal) = proposed(vec![
        ("age", cells(200, |row| (row % 90).to_string())),
        ("v1", cells(200, |row| diagnoses[row * 3 % 7].to_owned())),
        ("v2", cells(200, |row| countries[row % 6].to_owned())),
    ]);
    assert_eq!(role(&policy, "v1"), Some(Role::Sensitive), "{}", proposal.policy);
    assert_eq!(role(&policy, "v2"), Some(Role::Quasi), "{}", proposal.policy);
    assert!(proposal.policy.contains("ICD codes") && proposal.policy.contains("ISO codes of countries"));
}

#[test]
fn ambiguous_dates_are_mentioned() {
    let date = |row: usize| format!("{:02}.{:02}.{}", 1 + row % 12, 1 + row / 12 % 12, 1950 + row % 50);
    let (_, proposal) = proposed(vec![("birthdate", cells(200, date))]);
    assert!(proposal.policy.contains("day and month could be the other way round"), "{}", proposal.policy);
}

/// The first person's values would be released as names of columns.
#[test]
fn a_row_in_place_of_names_is_refused() {
    let people: Vec<Vec<&str>> = vec![vec!["39", "M", "flu"], vec!["47", "F", "gout"], vec!["39", "M", "gout"]];
    let named = |header: [&str; 3], rows: &[Vec<&str>]| {
        refuse_unsuitable(&Table::from_texts(&header, rows), "data.csv").map_err(|error| error.problem)
    };
    assert_eq!(named(["age", "sex", "illness"], &people), Ok(()));
    let problem = named(["39", "F", "angina"], &people).unwrap_err();
    assert!(problem.contains("the first line seems to be a row") && problem.contains("2 of 3 occur"), "{problem}");
    // Years are names, and so is what a box that is ticked says.
    assert_eq!(named(["2019", "2020", "2021"], &people), Ok(()));
    let ticked: Vec<Vec<&str>> = vec![vec!["Asthma", "Flu", "39"], vec!["Asthma", "Flu", "41"]];
    assert_eq!(named(["Asthma", "Flu", "age"], &ticked), Ok(()));
}

#[test]
fn a_wrong_delimiter_and_a_single_row_are_refused() {
    let refused = |header: &[&str], rows: usize| {
        let row: Vec<&str> = header.iter().map(|_| "1").collect();
        refuse_unsuitable(&Table::from_texts(header, &vec![row; rows]), "data.csv").map_err(|error| error.problem)
    };
    assert!(refused(&["name;age;zip"], 9).unwrap_err().contains("one column named \"name;age;zip\""));
    assert!(refused(&["age", "zip"], 1).unwrap_err().contains("a single row"));
    assert_eq!(refused(&["age", "zip"], 2), Ok(()));
    assert_eq!(refused(&["age"], 2), Ok(()));
}
