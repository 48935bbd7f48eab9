//! Every proposal parses, its hierarchies are accepted by the data, and with everything at the top
//! its rules hold.

use std::fs;
use std::path::Path;

use hedgerow_privacy::Model;
use hedgerow_table::{Codes, Column, Domain, Hierarchy, HierarchySpec, Table, Values};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use super::*;
use crate::{Format, Policy};

/// Checks a proposal from end to end and returns the policy.
pub(super) fn check(table: &Table, options: &ProposeOptions, context: &str) -> (Policy, Proposal) {
    let proposal = propose(table, "data.csv", options);
    assert_eq!(propose(table, "data.csv", options), proposal, "{context}: not the same twice");
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in &proposal.files {
        fs::create_dir_all(folder.path().join(path).parent().unwrap()).unwrap();
        fs::write(folder.path().join(path), text).unwrap();
    }
    let policy = Policy::parse(&proposal.policy, &folder.path().join("policy.toml"))
        .unwrap_or_else(|errors| panic!("{context}: {errors}\n{}", proposal.policy));
    let requires_nothing = table.rows < 2;
    assert!(
        policy.warnings.len() <= usize::from(requires_nothing),
        "{context}: {:?}\n{}",
        policy.warnings,
        proposal.policy
    );
    assert_eq!(proposal.profiles.len(), table.columns.len());
    for attribute in policy.quasi() {
        let column = table.column(&attribute.name).unwrap_or_else(|| panic!("{context}: {:?}", attribute.name));
        let domain = declared(&column.domain, attribute.kind, context);
        let none = (HierarchySpec::None, String::new());
        let (spec, place) = attribute.hierarchy.as_ref().unwrap_or(&none);
        let built = Hierarchy::build(spec, &attribute.name, place, &domain, &options.nulls);
        let hierarchy = built.unwrap_or_else(|error| panic!("{context}: {error:?}\n{}", proposal.policy));
        check_levels(&hierarchy, context);
    }
    if table.rows > 0 {
        check_top(table, &policy, context);
    }
    (policy, proposal)
}

/// The domain as it would be read with the type that the policy declares.
fn declared(domain: &Domain, kind: Option<hedgerow_table::Kind>, context: &str) -> Domain {
    match kind {
        Some(kind) if kind != domain.kind() => {
            let texts: Vec<String> = (0..domain.present() as u32).map(|code| domain.text(code)).collect();
            let read = Domain::from_texts(&texts, domain.missing_code().is_some(), Some(kind));
            read.unwrap_or_else(|_| panic!("{context}: the declared type does not fit")).0
        }
        _ => domain.clone(),
    }
}

/// A level that joins nothing would only lengthen the search.
fn check_levels(hierarchy: &Hierarchy, context: &str) {
    assert_eq!(hierarchy.levels()[hierarchy.top()].labels.len(), 1, "{context}");
    for level in hierarchy.levels() {
        let mut texts: Vec<&str> = level.labels.iter().map(|label| label.text.as_str()).collect();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), level.labels.len(), "{context}: two labels of a level look alike");
    }
}

/// One class of all rows.
fn check_top(table: &Table, policy: &Policy, context: &str) {
    let rows = table.rows as u64;
    for rule in &policy.rules {
        let counts = |name: &Option<String>| table.column(name.as_ref().unwrap()).unwrap().counts();
        for model in &rule.require {
            match model {
                Model::KAnonymity { k } => assert!(*k <= rows && (*k > 1 || rows < 2), "{context}"),
                Model::DistinctLDiversity { l } => {
                    let different = counts(&rule.protect).iter().filter(|count| **count > 0).count() as u64;
                    assert!((2..=different).contains(l), "{context}");
                }
                Model::AlphaKAnonymity { alpha, k, values } => {
                    let domain = &table.column(rule.protect.as_ref().unwrap()).unwrap().domain;
                    let counts = counts(&rule.protect);
                    assert!(*k <= rows, "{context}");
                    for value in values.as_ref().unwrap() {
                        let count = counts[domain.code_of(value).unwrap() as usize];
                        assert!(count * alpha.denominator <= rows * alpha.numerator, "{context}");
                    }
                }
                other => panic!("{context}: {other:?} is not proposed"),
            }
        }
    }
}

pub(super) fn table_of(columns: Vec<(&str, Vec<String>)>) -> Table {
    let header: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let rows = (0..columns[0].1.len()).map(|row| columns.iter().map(|(_, cells)| cells[row].as_str()).collect());
    Table::from_texts(&header, &rows.collect::<Vec<Vec<&str>>>())
}

pub(super) fn role(policy: &Policy, name: &str) -> Option<Role> {
    policy.attribute(name).map(|attribute| attribute.role)
}

const NAMES: &[&str] = &[
    "id",
    "name",
    "age",
    "zip",
    "sex",
    "disease",
    "income",
    "x",
    "date of birth",
    "city",
    "code",
    "a.b",
    "Größe",
    "a\"b",
    "two\nlines",
    "¿?",
    "Q1",
    "country",
    "weight",
    "score",
    "tab\there",
    "back\\slash",
    "名前",
    "comment",
    "fnlwgt",
    "*",
];

fn random_cell(random: &mut StdRng, style: u32, values: u32) -> String {
    let n = random.random_range(0..values);
    if random.random_ratio(1, 12) {
        return String::new();
    }
    match style {
        0 => n.to_string(),
        1 => format!("{}", f64::from(n) / 8.0 - 3.0),
        2 => format!("{:05}", n * 7),
        3 => ["*", "a;b", "\"q\"", "line\nbreak", "other", "Other", "é,è", " ", "?", "\u{feff}x", "a, b", "a"]
            [n as usize % 12]
            .to_owned(),
        4 => format!("value {}", n * n % values),
        5 => format!("{:04}-{:02}-{:02}", 1950 + n % 60, 1 + n % 12, 1 + n % 28),
        6 => format!("{}{:02}.{}", char::from(b'A' + (n % 3) as u8), n % 40, n % 10),
        7 => (i64::MAX - i64::from(n)).to_string(),
        8 => "same".to_owned(),
        9 => ["yes", "no"][usize::from(n == 0)].to_owned(),
        10 => format!("{}", u64::from(n).pow(4)),
        11 => format!("{}-{}", n * 5, n * 5 + 4),
        12 => format!("{}e{}", 1 + n % 9, n % 40),
        13 => ["France", "Peru", "Japan", "Kenya", "Fiji", "Atlantis"][n as usize % 6].to_owned(),
        14 => format!("{:02}/{:02}/{}", 1 + n % 12, 1 + n % 28, 1950 + n % 50),
        15 => String::new(),
        16 => (i64::from(n) * (i64::MAX / i64::from(values)) * if n % 2 == 0 { 1 } else { -1 }).to_string(),
        _ => random.random::<u64>().to_string(),
    }
}

#[test]
fn random_tables_always_get_a_policy_that_publishes() {
    let base: u64 = 7_000;
    for seed in base..base + 3_000 {
        let mut random = StdRng::seed_from_u64(seed);
        let rows = [1, 2, 3, 5, 12, 30, 80][random.random_range(0..7)];
        let count = random.random_range(1..7);
        let mut names: Vec<&str> = NAMES.to_vec();
        let mut columns = Vec::new();
        for _ in 0..count {
            let name = names.swap_remove(random.random_range(0..names.len()));
            let (style, values) = (random.random_range(0..18), [1, 2, 9, 40, 1000][random.random_range(0..5)]);
            columns.push((name, (0..rows).map(|_| random_cell(&mut random, style, values)).collect()));
        }
        let table = table_of(columns);
        // A table of identifiers alone gets no quasi-identifier, and its draft is refused.
        if propose(&table, "data.csv", &ProposeOptions::default()).policy.contains("role = \"quasi\"") {
            check(&table, &ProposeOptions::default(), &format!("seed {seed}"));
        }
    }
}

#[test]
fn hospital_patients() {
    let rows = 200;
    // No disease follows from the other columns.
    let mixed = |n: usize| (n as u32).wrapping_mul(2_654_435_761) as usize >> 9;
    let columns: Vec<(&str, Vec<String>)> = vec![
        ("name", (0..rows).map(|n| format!("Person {n}")).collect()),
        ("age", (0..rows).map(|n| (18 + n * 7 % 70).to_string()).collect()),
        ("zip", (0..rows).map(|n| format!("0{}", 2100 + n * 13 % 90)).collect()),
        ("sex", (0..rows).map(|n| ["f", "m"][n % 2].to_owned()).collect()),
        ("admission", (0..rows).map(|n| format!("2023-{:02}-{:02}", 1 + n % 12, 1 + n % 28)).collect()),
        (
            "disease",
            (0..rows).map(|n| ["flu", "asthma", "cancer", "HIV", "none", "gout"][mixed(n) % 6].to_owned()).collect(),
        ),
        ("hiv", (0..rows).map(|n| ["no", "yes"][usize::from(n % 25 == 0)].to_owned()).collect()),
    ];
    let (policy, proposal) = check(&table_of(columns), &ProposeOptions::default(), "patients");
    assert_eq!(role(&policy, "name"), Some(Role::Identifier));
    let hierarchy = |name: &str| policy.attribute(name).unwrap().hierarchy.as_ref().map(|(spec, _)| spec.clone());
    assert_eq!(hierarchy("age"), Some(HierarchySpec::Widths(vec![5.0, 10.0, 20.0])));
    assert_eq!(hierarchy("zip"), Some(HierarchySpec::Mask(5)));
    assert_eq!(hierarchy("sex"), None);
    assert!(matches!(hierarchy("admission"), Some(HierarchySpec::Dates(_))));
    assert_eq!(role(&policy, "disease"), Some(Role::Sensitive));
    let models: Vec<&str> = policy.rules.iter().flat_map(|rule| &rule.require).map(Model::name).collect();
    assert_eq!(
        models,
        ["k-anonymity", "distinct-l-diversity", "distinct-l-diversity", "alpha-k-anonymity"],
        "{}",
        proposal.policy
    );
}

#[test]
fn values_decide_where_names_do_not_and_overrule_weak_words() {
    let rows = 400usize;
    let columns: Vec<(&str, Vec<String>)> = vec![
        ("admission_type_id", (0..rows).map(|n| (n % 6).to_string()).collect()),
        ("household_id", (0..rows).map(|n| (n / 3).to_string()).collect()),
        ("zip", (0..rows).map(|n| format!("{:05}", 1000 + n * 17)).collect()),
        ("contact", (0..rows).map(|n| format!("p{n}@example.org")).collect()),
        ("k1", (0..rows).map(|n| (90_000 + n).to_string()).collect()),
        ("t1", (0..rows).map(|n| format!("text {n}")).collect()),
        ("m1", (0..rows).map(|n| format!("{}", (n * n % 377) as f64 / 8.0)).collect()),
        ("d1", (0..rows).map(|n| ["a", "b", "c"][n % 3].to_owned()).collect()),
        ("c1", vec!["same".to_owned(); rows]),
        ("phone", (0..rows).map(|n| ["yes", "no"][n % 2].to_owned()).collect()),
        ("job", (0..rows).map(|n| format!("keeper of the {n} keys")).collect()),
        ("cause", vec![String::new(); rows]),
    ];
    let (policy, proposal) = check(&table_of(columns), &ProposeOptions::default(), "values");
    for (name, expected) in [
        ("admission_type_id", Role::Quasi),
        ("household_id", Role::Identifier),
        ("zip", Role::Quasi),
        ("contact", Role::Identifier),
        ("k1", Role::Identifier),
        ("t1", Role::Identifier),
        ("m1", Role::Sensitive),
        ("d1", Role::Quasi),
        ("c1", Role::Plain),
        ("phone", Role::Quasi),
        ("job", Role::Identifier),
        ("cause", Role::Plain),
    ] {
        assert_eq!(role(&policy, name), Some(expected), "{name}\n{}", proposal.policy);
    }
    assert_eq!(policy.attribute("admission_type_id").unwrap().kind, Some(hedgerow_table::Kind::Category));
}

#[test]
fn many_doubtful_columns_do_not_all_become_known() {
    let names: Vec<String> = (0..60).map(|n| format!("thing{}", ["a", "b", "c"][n % 3].repeat(1 + n / 3))).collect();
    let columns = names.iter().enumerate().map(|(n, name)| {
        // Every third column nearly constant.
        let cell = |row: usize| if n.is_multiple_of(3) { usize::from(row == 7) } else { (row * (2 * n + 1)) % 4 };
        (name.as_str(), (0..200).map(|row| cell(row).to_string()).collect())
    });
    let (policy, proposal) = check(&table_of(columns.collect()), &ProposeOptions::default(), "doubtful");
    assert_eq!(policy.quasi().count(), 10);
    assert!(
        policy.attributes.iter().all(|attribute| attribute.role != Role::Plain),
        "an attribute that was not reviewed is plain"
    );
    let omitted = proposal.profiles.iter().filter(|profile| profile.role.is_none()).count();
    assert_eq!(policy.attributes.len() + omitted, 60);
    assert!(omitted >= 16, "{omitted}");
}

#[test]
fn profiles_count_what_is_there() {
    let table = table_of(vec![("age", ["1", "2", "2", "", "30"].map(str::to_owned).to_vec())]);
    let proposal = propose(&table, "data.csv", &ProposeOptions::default());
    let profile = &proposal.profiles[0];
    assert_eq!((profile.rows, profile.missing, profile.distinct), (5, 1, 3));
    assert_eq!((profile.length_min, profile.length_max), (1, 2));
    assert_eq!((profile.unique_share, profile.most_frequent_share, profile.entropy), (0.4, 0.4, 1.5));
    assert_eq!(profile.role, Some(Role::Quasi));
}

#[test]
fn rare_categories_are_joined_and_frequent_ones_stay_alone() {
    let cells = (0..2_000).map(|n: usize| format!("town {}", (n * n) % 97 * usize::from(!n.is_multiple_of(3))));
    let table = table_of(vec![("town", cells.collect())]);
    let (policy, _) = check(&table, &ProposeOptions::default(), "towns");
    let counts = table.columns[0].counts();
    let proposal = propose(&table, "data.csv", &ProposeOptions::default());
    let line = proposal.files[0].1.lines().find(|line| line.starts_with("town 0;")).unwrap();
    assert!(line.starts_with("town 0;town 0;town 0;"), "{line}: {:?}", counts.iter().max());
    assert!(matches!(policy.attributes[0].hierarchy, Some((HierarchySpec::File(_), _))));
}

#[test]
fn degenerate_tables() {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let default = ProposeOptions::default();
    for (context, table) in [
        ("one row", table_of(vec![("age", texts(&["3"])), ("name", texts(&["Ann"]))])),
        ("no value at all", table_of(vec![("age", texts(&["", "", ""]))])),
        ("one sensitive column", table_of(vec![("income", texts(&["1", "2", "3", "4"]))])),
        ("everything equal", table_of(vec![("a", vec!["x".to_owned(); 50]), ("b", vec!["1".to_owned(); 50])])),
    ] {
        check(&table, &default, context);
    }
    let many = table_of(vec![("town", (0..20_000).map(|n| format!("Town of {}", n % 10_000)).collect())]);
    let (policy, proposal) = check(&many, &default, "10,000 towns");
    assert!(matches!(policy.attributes[0].hierarchy, Some((HierarchySpec::File(_), _))), "{}", proposal.policy);
    let numbers = Domain::new(Values::Integer((0..100).map(|n| (i64::MIN / 50 + 1) * (50 - n)).collect()), false);
    let column = Column { name: "x".to_owned(), codes: Codes::from_iter(100, 0..100), domain: numbers };
    let huge = Table { columns: vec![column], rows: 100, header: vec!["x".to_owned()], warnings: Vec::new() };
    assert_eq!(propose(&huge, "data.csv", &default), propose(&huge, "data.csv", &default), "huge numbers");
}

#[test]
fn more_columns_than_a_policy_can_hold() {
    let names: Vec<String> = (0..5_000).map(|n| format!("column {n}")).collect();
    let columns = names
        .iter()
        .enumerate()
        .map(|(n, name)| (name.as_str(), (0..30).map(|row| (row * (n + 1) % 7).to_string()).collect()));
    check(&table_of(columns.collect()), &ProposeOptions::default(), "5,000 columns");
    let long = "n".repeat(2 << 20);
    let columns = vec![(long.as_str(), vec!["1".to_owned(); 30]), ("age", (0..30).map(|n| n.to_string()).collect())];
    check(&table_of(columns), &ProposeOptions::default(), "a name of megabytes");
}

#[test]
fn how_the_table_was_read_stands_in_the_policy() {
    let table = table_of(vec![("age", (0..30).map(|n| n.to_string()).collect())]);
    let options = ProposeOptions {
        database: false,
        selection: None,
        format: Some(Format::Csv),
        delimiter: Some(b'\t'),
        quote: Some(b'\''),
        nulls: vec!["?".to_owned(), String::new()],
        formats: FoundFormats::default(),
        k: 3,
        ..ProposeOptions::default()
    };
    let (policy, _) = check(&table, &options, "options");
    assert_eq!((policy.source.delimiter, policy.source.quote), (Some(b'\t'), Some(b'\'')));
    assert_eq!(policy.source.nulls, ["", "?"]);
    assert_eq!(policy.rules[0].require, [Model::KAnonymity { k: 3 }]);
}

#[test]
fn commented_alternatives_are_valid_when_used() {
    let table = table_of(vec![
        ("age", (0..40).map(|n| n.to_string()).collect()),
        ("disease", (0..40).map(|n| format!("d{}", n % 6)).collect()),
    ]);
    let proposal = propose(&table, "data.csv", &ProposeOptions::default());
    let requires = proposal.policy.lines().filter_map(|line| line.strip_prefix("# require = "));
    let requires: Vec<&str> = requires.collect();
    assert!(requires.len() >= 4);
    for require in requires {
        let text = format!("{}\n[[rule]]\nprotect = \"disease\"\nrequire = {require}\n", proposal.policy);
        Policy::parse(&text, Path::new("policy.toml")).unwrap_or_else(|errors| panic!("{errors}"));
    }
}

#[test]
fn a_database_is_named_by_its_address_and_what_is_read_there() {
    let table = Table::from_texts(&["age"], &[vec!["1"], vec!["2"]]);
    let selection = Some(hedgerow_config::Selection::Query("select \"age\" from people".to_owned()));
    let options = ProposeOptions { database: true, selection, ..ProposeOptions::default() };
    let policy = propose(&table, "sqlite:people.db", &options).policy;
    let policy = crate::Policy::parse(&policy, "policy.toml".as_ref()).unwrap();
    let database = policy.source.database.unwrap();
    assert_eq!(database.address.to_string(), "sqlite:people.db");
    assert_eq!(database.selection, options.selection);
}
