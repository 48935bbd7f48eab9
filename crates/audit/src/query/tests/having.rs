//! GROUP BY and HAVING against every table that could be behind a small release: which groups are
//! there, and for which the condition holds.

use std::collections::BTreeMap;

use rand::SeedableRng;

use super::aggregates::{KINDS, NAMES, labels, random_rows, tables};
use super::bucketized::{cell, pairings, published, random_buckets};
use super::*;

/// A condition over aggregates of `age`.
#[derive(Debug)]
enum Having {
    Compare(&'static str, &'static str, f64),
    Not(Box<Having>),
    And(Box<Having>, Box<Having>),
    Or(Box<Having>, Box<Having>),
}

const AGGREGATES: [&str; 9] = [
    "COUNT(*)",
    "COUNT(age)",
    "SUM(age)",
    "AVG(age)",
    "MIN(age)",
    "MAX(age)",
    "VAR_SAMP(age)",
    "SUM(age) / COUNT(age)",
    "COUNT(12 / age)",
];

fn random_having(rng: &mut StdRng, depth: usize) -> Having {
    if depth > 0 && rng.random_bool(0.4) {
        let mut inner = || Box::new(random_having(rng, depth - 1));
        let (a, b) = (inner(), inner());
        return match rng.random_range(0..3) {
            0 => Having::Not(a),
            1 => Having::And(a, b),
            _ => Having::Or(a, b),
        };
    }
    let by = ["=", "<>", "<", "<=", ">", ">="][rng.random_range(0..6)];
    Having::Compare(AGGREGATES[rng.random_range(0..AGGREGATES.len())], by, f64::from(rng.random_range(-1..5)))
}

fn sql_of_having(having: &Having) -> String {
    match having {
        Having::Compare(aggregate, by, with) => format!("{aggregate} {by} {with}"),
        Having::Not(inner) => format!("NOT ({})", sql_of_having(inner)),
        Having::And(a, b) => format!("({} AND {})", sql_of_having(a), sql_of_having(b)),
        Having::Or(a, b) => format!("({} OR {})", sql_of_having(a), sql_of_having(b)),
    }
}

/// By SQL's definitions; `None` is null.
fn aggregate(name: &str, rows: &[&Vec<Value>]) -> Option<f64> {
    let ages: Vec<f64> = rows
        .iter()
        .filter_map(|row| match row[0] {
            Some(Known::Number(age)) => Some(age),
            _ => None,
        })
        .collect();
    let count = ages.len() as f64;
    let sum = (!ages.is_empty()).then(|| ages.iter().sum::<f64>());
    match name {
        "COUNT(*)" => Some(rows.len() as f64),
        "COUNT(age)" => Some(count),
        "SUM(age)" => sum,
        "AVG(age)" => sum.map(|sum| sum / count),
        "SUM(age) / COUNT(age)" => sum.map(|sum| (sum / count).trunc()),
        "MIN(age)" => ages.into_iter().reduce(f64::min),
        "MAX(age)" => ages.into_iter().reduce(f64::max),
        "VAR_SAMP(age)" => {
            let mean = sum? / count;
            let squares: f64 = ages.iter().map(|age| (age - mean).powi(2)).sum();
            (count > 1.0).then(|| squares / (count - 1.0))
        }
        // A division by zero is null.
        _ => Some(ages.iter().filter(|age| **age != 0.0).count() as f64),
    }
}

/// `None` is unknown.
fn stands(having: &Having, rows: &[&Vec<Value>]) -> Option<bool> {
    match having {
        Having::Compare(name, by, with) => {
            let value = aggregate(name, rows)?;
            Some(match *by {
                "=" => value == *with,
                "<>" => value != *with,
                "<" => value < *with,
                "<=" => value <= *with,
                ">" => value > *with,
                _ => value >= *with,
            })
        }
        Having::Not(inner) => stands(inner, rows).map(|held| !held),
        Having::And(a, b) => match (stands(a, rows), stands(b, rows)) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        },
        Having::Or(a, b) => match (stands(a, rows), stands(b, rows)) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        },
    }
}

/// A table behind a release: its rows, each with the group that it is in.
type Grouped = Vec<(String, Vec<Value>)>;

/// For each group, in how many of the tables it is there and the condition holds.
fn held_in(tables: &[Grouped], wanted: &Test, having: Option<&Having>, is_grouped: bool) -> BTreeMap<String, usize> {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for table in tables {
        let mut groups: BTreeMap<&str, Vec<&Vec<Value>>> = BTreeMap::new();
        if !is_grouped {
            groups.insert("", Vec::new());
        }
        for (group, row) in table.iter().filter(|(_, row)| truth(wanted, row) == Some(true)) {
            groups.entry(if is_grouped { group } else { "" }).or_default().push(row);
        }
        for (group, rows) in groups {
            let held = having.is_none_or(|having| stands(having, &rows) == Some(true));
            *found.entry(group.to_owned()).or_default() += usize::from(held);
        }
    }
    found
}

fn key(label: &Json) -> String {
    match label {
        Json::String(text) => text.clone(),
        Json::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

/// The groups of an answer, and how HAVING stands in each.
fn listed(found: &Json, column: &str) -> BTreeMap<String, String> {
    let lines = found["answer"].as_array().unwrap();
    lines.iter().map(|line| (key(&line[column]), key(&line["having"]))).collect()
}

/// Nothing is certain that need not be, and nothing possible is omitted. `attained` says that the
/// bounds of a count of rows are those of some table, and every count between them too.
fn agrees(found: &Json, column: &str, held: &BTreeMap<String, usize>, tables: usize, attained: bool, context: &str) {
    let listed = listed(found, column);
    for (group, count) in held {
        let standing = listed.get(group).map(String::as_str);
        assert!(*count == 0 || standing.is_some(), "`{group}` is omitted: {found}\n{context}");
        assert!(standing != Some("certain") || *count == tables, "`{group}` is not certain: {found}\n{context}");
        if attained {
            assert_eq!(standing.is_some(), *count > 0, "`{group}`: {found}\n{context}");
            assert_eq!(standing == Some("certain"), *count == tables, "`{group}`: {found}\n{context}");
        }
    }
    let extra = listed.keys().find(|group| !held.contains_key(*group));
    assert_eq!(extra, None, "no table has the group: {found}\n{context}");
}

/// The verdict of HAVING on cells that cover several values.
#[test]
fn having_is_certain_only_where_every_table_has_the_group() {
    let mut certain = 0;
    for seed in seeds(1500) {
        let mut rng = StdRng::seed_from_u64(seed);
        let labels = labels();
        let rows = random_rows(&mut rng, &labels);
        let release = release_of(&NAMES, &KINDS, &rows);
        let wanted = random_test(&mut rng, &[false, true], 1);
        let is_of_rows = rng.random_bool(0.3);
        let having = match is_of_rows {
            true => Having::Compare("COUNT(*)", ["<", "<=", ">", ">=", "="][seed as usize % 5], (seed % 4) as f64),
            false => random_having(&mut rng, 1),
        };
        let is_grouped = rng.random_bool(0.8);
        let (shown, by) = if is_grouped { ("color, SUM(age)", "GROUP BY color") } else { ("SUM(age)", "") };
        let sql = format!(
            "SELECT {shown} FROM data WHERE {} {by} HAVING {}",
            sql_of(&wanted, &NAMES),
            sql_of_having(&having)
        );
        let tables: Vec<Grouped> = tables(&rows)
            .into_iter()
            .map(|table| rows.iter().map(|row| row[1].text.clone()).zip(table).collect())
            .collect();
        let held = held_in(&tables, &wanted, Some(&having), is_grouped);
        let found = run(&release, &sql);
        agrees(&found, "color", &held, tables.len(), is_of_rows, &format!("seed {seed}: {sql}"));
        certain += listed(&found, "color").values().filter(|standing| *standing == "certain").count();
    }
    assert!(std::env::var("HEDGEROW_SEED").is_ok() || certain > 50, "{certain}");
}

/// The same of buckets, by a column of either table.
#[test]
fn having_in_buckets_is_certain_only_where_every_pairing_has_the_group() {
    const NAMES: [&str; 3] = ["age", "color", "salary"];
    for seed in seeds(1000) {
        let mut rng = StdRng::seed_from_u64(seed);
        let buckets = random_buckets(&mut rng);
        let release = published(&buckets);
        let wanted = random_test(&mut rng, &[false, true, false], 1);
        let having = random_having(&mut rng, 1);
        let (column, by) = if rng.random_bool(0.5) { (1, "color") } else { (2, "salary") };
        let sql = format!(
            "SELECT {by}, MAX(age) FROM data WHERE {} GROUP BY {by} HAVING {}",
            sql_of(&wanted, &NAMES),
            sql_of_having(&having)
        );
        let mut tables: Vec<Grouped> = vec![Vec::new()];
        for bucket in &buckets {
            let paired = pairings(bucket);
            let grouped = |rows: &Vec<Vec<Value>>| rows.iter().map(|row| (cell(&row[column]), row.clone())).collect();
            let paired: Vec<Grouped> = paired.iter().map(grouped).collect();
            tables = tables
                .iter()
                .flat_map(|table| paired.iter().map(|rows| [table.as_slice(), rows.as_slice()].concat()))
                .collect();
        }
        let held = held_in(&tables, &wanted, Some(&having), true);
        agrees(&run(&release, &sql), by, &held, tables.len(), false, &format!("seed {seed}: {sql}"));
        // Without HAVING: the groups that some table has.
        let all = format!("SELECT {by}, MAX(age) FROM data WHERE {} GROUP BY {by}", sql_of(&wanted, &NAMES));
        let groups: Vec<String> = held_in(&tables, &wanted, None, true).into_keys().collect();
        assert_eq!(listed(&run(&release, &all), by).into_keys().collect::<Vec<_>>(), groups, "seed {seed}: {all}");
    }
}

/// A group is listed when a row can be in it, whatever is asked of its values.
#[test]
fn groups_are_those_that_some_table_has() {
    for seed in seeds(600) {
        let mut rng = StdRng::seed_from_u64(seed);
        let labels = labels();
        let rows = random_rows(&mut rng, &labels);
        let release = release_of(&NAMES, &KINDS, &rows);
        let wanted = random_test(&mut rng, &[false, true], 1);
        let tables: Vec<Grouped> = tables(&rows)
            .into_iter()
            .map(|table| rows.iter().map(|row| row[1].text.clone()).zip(table).collect())
            .collect();
        let groups: Vec<String> = held_in(&tables, &wanted, None, true).into_keys().collect();
        for shown in ["SUM(age)", "COUNT(age)", "MIN(age)", "COUNT(DISTINCT age)", "COUNT(*)", "color"] {
            let sql = format!("SELECT color, {shown} FROM data WHERE {} GROUP BY color", sql_of(&wanted, &NAMES));
            let found = run(&release, &sql);
            assert_eq!(listed(&found, "color").into_keys().collect::<Vec<_>>(), groups, "seed {seed}: {sql}\n{found}");
        }
    }
}

/// All ages of a color are missing: its sum is null, and the color is there.
#[test]
fn a_group_without_values_is_listed() {
    let (gone, four) = (missing(), point(4));
    let (red, blue) = (colors("red", &["red"]), colors("blue", &["blue"]));
    let release = release_of(&NAMES, &KINDS, &[vec![&gone, &red], vec![&gone, &red], vec![&four, &blue]]);
    let found = run(&release, "SELECT color, SUM(age), COUNT(*) AS n FROM data GROUP BY color");
    let lines = found["answer"].as_array().unwrap();
    assert_eq!(lines.len(), 2, "{found}");
    assert_eq!((&lines[1]["color"], &lines[1]["SUM(age)"]["estimate"]), (&Json::from("red"), &Json::Null), "{found}");
    assert_eq!(three(&lines[1], "n"), [2.0; 3]);
    let found = run(&release, "SELECT color, SUM(age) FROM data GROUP BY color HAVING SUM(age) >= 0 OR SUM(age) < 0");
    assert_eq!(listed(&found, "color").into_keys().collect::<Vec<_>>(), ["blue"], "null is not true: {found}");
}
