//! Local recoding over unlinked units against brute force: random small tables in which units have
//! several rows, published by Mondrian, best-cut and cluster.
//!
//! The release does not say whom a row is about. A plain column of row numbers, which no rule
//! knows, says which source row each released row is, and the source says its unit. Every guarantee
//! is then judged from the texts of the written file by its definition: for the rows, for the units
//! of each class, and for the units that fit all rows of a unit, for every choice of one protected
//! value for each unit. Nothing here is shared with the library but the call to publish.
//!
//! A failure prints its seed; `HEDGEROW_SEED=… cargo test -p hedgerow-publish unlinked` replays
//! that case alone. `HEDGEROW_UNIT_CASES` sets how many are tried.

mod want;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use hedgerow_policy::Policy;
use hedgerow_publish::{PublishError, PublishOptions, publish};
use hedgerow_table::read::ReadOptions;
use hedgerow_table::{Kind, Table};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use serde_json::Value;
use want::{Want, hundredths};

const CASES: u64 = 1500;
const QUASI: [&str; 3] = ["age", "zip", "sex"];

#[derive(Debug, Clone)]
struct WantedRule {
    know: Vec<&'static str>,
    protects: bool,
    require: Vec<Want>,
    all_rows: bool,
}

struct Case {
    /// By row: unit, then age, zip, sex, and the protected value.
    rows: Vec<(String, [String; 3], String)>,
    rules: Vec<WantedRule>,
    /// The share of rows and of units that may be suppressed, in hundredths.
    suppression: usize,
    text: String,
}

fn random_case(seed: u64) -> Case {
    let mut rng = StdRng::seed_from_u64(seed);
    let units: Vec<usize> = match rng.random_range(0..12) {
        0 => vec![0],
        1 => vec![0; rng.random_range(2..5)],
        2 => (0..rng.random_range(2..13)).collect(),
        // Each as often: what these methods divide best.
        3..=6 => {
            let (count, times) = (rng.random_range(2..8), rng.random_range(2..4));
            (0..count * times).map(|row| row % count).take(16).collect()
        }
        _ => {
            let count = rng.random_range(2..8);
            (0..rng.random_range(count..17))
                .map(|row| if row < count { row } else { rng.random_range(0..count) })
                .collect()
        }
    };
    let numeric = rng.random_bool(0.25);
    let value_count = rng.random_range(1..5);
    let constant = rng.random_bool(0.5);
    let missing = if rng.random_bool(0.4) { 0.2 } else { 0.0 };
    let value = |rng: &mut StdRng| match rng.random_bool(missing) {
        true => String::new(),
        false if numeric => (rng.random_range(0..value_count) * 5).to_string(),
        false => format!("d{}", rng.random_range(0..value_count)),
    };
    let of_unit: Vec<String> = (0..16).map(|_| value(&mut rng)).collect();
    // All rows equal, all different, or as they come; people who keep their place.
    let shape = rng.random_range(0..8);
    let keeps_place = rng.random_bool(0.4);
    let quasi = |rng: &mut StdRng, row: usize| match shape {
        0 => ["30".to_owned(), "11".to_owned(), "f".to_owned()],
        1 => [(20 + row).to_string(), format!("{}{}", 1 + row / 4, row % 4), ["f", "m"][row % 2].to_owned()],
        _ => {
            let age = if rng.random_bool(missing) { String::new() } else { rng.random_range(20..29).to_string() };
            let zip = ["11", "12", "21", "22", ""].choose(rng).unwrap();
            [age, (*zip).to_owned(), (*["f", "m", "x", ""].choose(rng).unwrap()).to_owned()]
        }
    };
    let place_of_unit: Vec<[String; 3]> = (0..16).map(|row| quasi(&mut rng, row)).collect();
    let rows = units.iter().enumerate().map(|(row, &unit)| {
        let mut cells = if keeps_place { place_of_unit[unit].clone() } else { quasi(&mut rng, row) };
        if keeps_place && rng.random_bool(0.2) {
            cells[1] = (*["11", "22"].choose(&mut rng).unwrap()).to_owned();
        }
        let ill = if constant { of_unit[unit].clone() } else { value(&mut rng) };
        (format!("p{unit}"), cells, ill)
    });
    let rows: Vec<_> = rows.collect();
    let unit_count = rows.iter().map(|row| &row.0).collect::<BTreeSet<_>>().len();
    let several = !constant && unit_count < rows.len();
    let numbers = numeric && rows.iter().any(|row| !row.2.is_empty());
    let rules: Vec<WantedRule> = (0..rng.random_range(1..3)).map(|_| random_rule(&mut rng, several, numbers)).collect();
    let suppression = *[0, 50, 90, 100].choose(&mut rng).unwrap();
    let text = policy_text(&mut rng, &rules, suppression, numbers, seed);
    Case { rows, rules, suppression, text }
}

fn random_rule(rng: &mut StdRng, several: bool, numbers: bool) -> WantedRule {
    let know = match rng.random_range(0..8) {
        0 => vec!["zip"],
        1 => vec!["age", "sex"],
        _ => QUASI.to_vec(),
    };
    let k = if rng.random_bool(0.03) { 9 } else { rng.random_range(1..4) };
    let mut require = vec![Want::K(k)];
    let protects = rng.random_bool(0.7);
    if protects {
        let l = rng.random_range(1..4);
        require.push(match rng.random_range(0..9) {
            0 | 1 => Want::Distinct(l),
            2 => Want::Frequency(*[120, 150, 200, 300].choose(rng).unwrap()),
            3 => Want::Entropy(*[130, 170, 210].choose(rng).unwrap()),
            4 => Want::Recursive { c: *[70, 230, 510].choose(rng).unwrap(), l },
            5 => Want::Alpha { alpha: *[30, 55, 80].choose(rng).unwrap(), k: l, values: None },
            6 if !numbers => Want::Alpha { alpha: *[30, 55, 80].choose(rng).unwrap(), k: l, values: Some("d0") },
            7 if numbers => Want::Epsilon { epsilon: rng.random_range(0..7), m: *[100, 150, 200].choose(rng).unwrap() },
            8 if numbers => Want::Delta { delta: rng.random_range(0..4), l: *[100, 150, 200].choose(rng).unwrap() },
            _ if !several => Want::Close(*[21, 43, 67].choose(rng).unwrap()),
            _ => Want::Distinct(l),
        });
    }
    WantedRule { know, protects, require, all_rows: rng.random_bool(0.7) }
}

fn policy_text(rng: &mut StdRng, rules: &[WantedRule], suppression: usize, numbers: bool, seed: u64) -> String {
    let rules: String = rules
        .iter()
        .map(|rule| {
            let require: Vec<String> = rule.require.iter().map(Want::text).collect();
            format!(
                "[[rule]]\nknow = {:?}\nrequire = [{}]\n{}{}",
                rule.know,
                require.join(", "),
                if rule.protects { "protect = \"ill\"\n" } else { "" },
                if rule.all_rows { "" } else { "rows = \"one\"\n" },
            )
        })
        .collect();
    let method = ["mondrian", "best-cut", "cluster"][seed as usize % 3];
    let age = ["", ", hierarchy = { widths = [2, 4] }", ", range = [0, 120]"].choose(rng).unwrap();
    let tight = if rng.random_bool(0.3) { "summarise = \"tight\"\n" } else { "" };
    let labels = if method == "cluster" && rng.random_bool(0.3) { "labels = \"hierarchy\"\n" } else { "" };
    let kind = if numbers { "integer" } else { "category" };
    format!(
        "[source]\npath = \"table.csv\"\n[attributes]\npatient = {{ role = \"unit\" }}\n\
         row = {{ role = \"plain\", allow-unique = true }}\nage = {{ role = \"quasi\", type = \"integer\"{age} }}\n\
         zip = {{ role = \"quasi\", type = \"category\", hierarchy = {{ mask = 2 }} }}\n\
         sex = {{ role = \"quasi\", type = \"category\" }}\n\
         ill = {{ role = \"sensitive\", type = \"{kind}\", allow-unique = true }}\n{rules}\
         [publish]\nmethod = \"{method}\"\nsuppression = {}\n{tight}{labels}",
        hundredths(suppression)
    )
}

/// A released row: its number in the source, and its labels by name.
struct ReleasedRow {
    source: usize,
    labels: BTreeMap<String, String>,
}

/// The lines of a CSV file, with quoted cells.
pub(crate) fn read_csv(text: &str) -> Vec<Vec<String>> {
    let (mut lines, mut line, mut cell, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut left = text.chars().peekable();
    while let Some(next) = left.next() {
        match next {
            '"' if quoted && left.peek() == Some(&'"') => cell.extend(left.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => line.push(std::mem::take(&mut cell)),
            '\n' if !quoted => {
                line.push(std::mem::take(&mut cell));
                lines.push(std::mem::take(&mut line));
            }
            '\r' if !quoted => {}
            other => cell.push(other),
        }
    }
    lines
}

fn read_release(folder: &Path) -> Vec<ReleasedRow> {
    let lines = read_csv(&std::fs::read_to_string(folder.join("data.csv")).unwrap());
    let header = &lines[0];
    let released = lines[1..].iter().map(|line| {
        let labels: BTreeMap<String, String> = header.iter().cloned().zip(line.iter().cloned()).collect();
        ReleasedRow { source: labels["row"].parse().unwrap(), labels }
    });
    released.collect()
}

/// The release as an attacker sees it by one rule, with the units that it does not say.
struct Seen<'a> {
    case: &'a Case,
    /// By class, the source rows in it.
    classes: BTreeMap<Vec<&'a str>, Vec<usize>>,
    /// By unit, how many rows it has in each class.
    signatures: BTreeMap<&'a str, BTreeMap<Vec<&'a str>, usize>>,
    released: Vec<usize>,
}

/// The values of each member of a class: a row has one, a unit may have several.
type Members<'a> = Vec<BTreeSet<&'a str>>;

impl<'a> Seen<'a> {
    fn new(case: &'a Case, rows: &'a [ReleasedRow], know: &[&str]) -> Seen<'a> {
        let released = rows.iter().map(|row| row.source).collect();
        let mut seen = Seen { case, classes: BTreeMap::new(), signatures: BTreeMap::new(), released };
        for row in rows {
            let class: Vec<&str> = know.iter().map(|name| row.labels[*name].as_str()).collect();
            seen.classes.entry(class.clone()).or_default().push(row.source);
            *seen.signatures.entry(seen.unit(row.source)).or_default().entry(class).or_default() += 1;
        }
        seen
    }

    fn unit(&self, row: usize) -> &'a str {
        &self.case.rows[row].0
    }

    fn value(&self, row: usize) -> &'a str {
        &self.case.rows[row].2
    }

    fn of_rows(&self, rows: &[usize]) -> Members<'a> {
        rows.iter().map(|&row| [self.value(row)].into()).collect()
    }

    fn of_units(&self, rows: &[usize]) -> Members<'a> {
        let mut members: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for &row in rows {
            members.entry(self.unit(row)).or_default().insert(self.value(row));
        }
        members.into_values().collect()
    }

    /// The units with at least as many rows in every class that a unit has rows in.
    fn fitting(&self, unit: &str) -> BTreeSet<&'a str> {
        let own = &self.signatures[unit];
        let fits = |other: &BTreeMap<Vec<&str>, usize>| {
            own.iter().all(|(class, rows)| other.get(class).copied().unwrap_or(0) >= *rows)
        };
        self.signatures.iter().filter(|(_, other)| fits(other)).map(|(unit, _)| *unit).collect()
    }

    /// All that a rule must hold for: members, and the tables to compare them with.
    fn judged(&self, all_rows: bool) -> Vec<(String, Members<'a>, [Members<'a>; 2])> {
        let whole: Vec<usize> = (0..self.case.rows.len()).collect();
        let row_tables = || [self.of_rows(&whole), self.of_rows(&self.released)];
        let unit_tables = || [self.of_units(&whole), self.of_units(&self.released)];
        let mut judged = Vec::new();
        for (class, rows) in &self.classes {
            judged.push((format!("rows of {class:?}"), self.of_rows(rows), row_tables()));
            judged.push((format!("units of {class:?}"), self.of_units(rows), unit_tables()));
        }
        for (unit, own) in self.signatures.iter().filter(|_| all_rows) {
            let fitting = self.fitting(unit);
            for class in own.keys() {
                let rows = self.classes[class].iter().copied().filter(|&row| fitting.contains(self.unit(row)));
                let members = self.of_units(&rows.collect::<Vec<_>>());
                judged.push((format!("units that fit {unit}, in {class:?}"), members, unit_tables()));
            }
        }
        judged
    }
}

/// Every choice of one value for each member.
fn choices<'v>(members: &[BTreeSet<&'v str>]) -> Vec<Vec<&'v str>> {
    let mut choices: Vec<Vec<&str>> = vec![Vec::new()];
    for values in members {
        let longer = |choice: &Vec<&'v str>| {
            let choice = choice.clone();
            values.iter().map(move |value| choice.iter().copied().chain([*value]).collect()).collect::<Vec<Vec<_>>>()
        };
        choices = choices.iter().flat_map(longer).collect();
    }
    choices
}

/// Members with a known value, by their known values.
fn known<'v>(members: &[BTreeSet<&'v str>]) -> Members<'v> {
    let known = members.iter().map(|values| values.iter().copied().filter(|value| !value.is_empty()).collect());
    known.filter(|values: &BTreeSet<&str>| !values.is_empty()).collect()
}

/// The value of each member of a table; with several, closeness is not required.
fn flat<'v>(table: &[BTreeSet<&'v str>]) -> Vec<&'v str> {
    table.iter().flatten().copied().collect()
}

/// Every choice holds, with the missing value as a value and among the known ones. Returns the
/// weakest achieved value.
fn every_choice(want: &Want, members: &Members<'_>, tables: &[Members<'_>; 2], context: &str) -> Option<f64> {
    let mut weakest: Option<f64> = None;
    let known_members = known(members);
    let mut ways = vec![(members.clone(), tables.clone())];
    if want.is_about_values() && !known_members.is_empty() {
        ways.push((known_members, tables.each_ref().map(|table| known(table))));
    }
    for (members, tables) in &ways {
        let tables: Vec<Vec<&str>> = tables.iter().map(|table| flat(table)).collect();
        for choice in choices(members) {
            assert!(want.holds(&choice, &tables), "{want:?} fails for {choice:?}, {context}");
            // What is stated depends on no suppressed row: on the released table alone.
            if let Some((_, value, more)) = want.strength(&choice, &tables[1..]) {
                let worse = |other: f64| if more { other.min(value) } else { other.max(value) };
                weakest = Some(weakest.map_or(value, worse));
            }
        }
    }
    weakest
}

/// Where all rows of a unit have the same protected value, an attacker who knows all of them keeps
/// the values that are in every class of the unit, as often as the unit is.
fn intersections_hold(seen: &Seen<'_>, l: usize, context: &str) {
    for (unit, own) in &seen.signatures {
        let left = |value: &&str| {
            own.iter().all(|(class, rows)| {
                seen.classes[class].iter().filter(|&&row| seen.value(row) == *value).count() >= *rows
            })
        };
        let values: BTreeSet<&str> = seen.released.iter().map(|&row| seen.value(row)).collect();
        let left: Vec<&str> = values.into_iter().filter(|value| !value.is_empty()).filter(left).collect();
        assert!(left.len() >= l, "only {left:?} for {unit}, {context}");
    }
}

/// The outcomes of the cases.
#[derive(Debug, Default)]
struct Tally {
    made: BTreeMap<String, usize>,
    refused: usize,
    suppressing: usize,
    fitting: usize,
    several_rows: usize,
    wants: BTreeMap<String, usize>,
}

fn cases() -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    match number("HEDGEROW_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("HEDGEROW_UNIT_CASES").unwrap_or(CASES),
    }
}

#[test]
fn local_recoding_over_unlinked_units_keeps_every_rule() {
    let mut tally = Tally::default();
    for seed in cases() {
        check_case(seed, &mut tally);
    }
    if cases().count() >= CASES as usize {
        for method in ["mondrian", "best-cut", "cluster"] {
            assert!(tally.made.get(method).is_some_and(|made| *made > 30), "{tally:?}");
        }
        assert!(tally.refused > 100 && tally.suppressing > 30 && tally.fitting > 8, "{tally:?}");
        assert!(tally.several_rows > 100 && tally.wants.len() == 9, "{tally:?}");
    }
}

fn check_case(seed: u64, tally: &mut Tally) {
    let case = random_case(seed);
    let kinds = [("age".to_owned(), Kind::Integer), ("zip".to_owned(), Kind::Category)].into();
    let options = ReadOptions { kinds, ..ReadOptions::default() };
    let records: Vec<Vec<String>> = (0..case.rows.len())
        .map(|row| {
            let (unit, quasi, ill) = case.rows[row].clone();
            [vec![unit, row.to_string()], quasi.to_vec(), vec![ill]].concat()
        })
        .collect();
    let header = ["patient", "row", "age", "zip", "sex", "ill"];
    let table = Table::from_records(header, records.iter().map(|row| row.iter().map(Some)), &options).unwrap();
    let context = format!("seed {seed}\n{}\n{records:?}", case.text);
    let policy =
        Policy::parse(&case.text, Path::new("policy.toml")).unwrap_or_else(|errors| panic!("{errors}\n{context}"));
    let folder = tempfile::tempdir().unwrap();
    let published = match publish(&policy, (&table).into(), &PublishOptions::to(folder.path().join("release"))) {
        Ok(published) => published,
        Err(PublishError::Unsatisfiable(_)) => {
            tally.refused += 1;
            return;
        }
        Err(error) if error.to_string().contains("follows from") => return,
        Err(error) => panic!("{error}\n{context}"),
    };
    let rows = read_release(&published.release);
    let method = policy.publish.method.name().to_owned();
    *tally.made.entry(method).or_default() += 1;
    whole_units_are_suppressed(&case, &rows, tally, &context);
    let manifest = std::fs::read_to_string(published.release.join("datapackage.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let mut stated = manifest["hedgerow"]["guarantees"].as_array().unwrap().iter();
    for rule in &case.rules {
        let seen = Seen::new(&case, &rows, &rule.know);
        tally.several_rows += usize::from(seen.signatures.values().any(|own| own.len() > 1));
        let judged = seen.judged(rule.all_rows);
        let smallest =
            judged.iter().filter(|(of, ..)| of.starts_with("units of")).map(|(_, units, _)| units.len()).min();
        let fewest = judged.iter().map(|(_, members, _)| members.len()).min();
        tally.fitting += usize::from(fewest < smallest);
        for want in &rule.require {
            let name = format!("{want:?}").split(['(', ' ']).next().unwrap().to_owned();
            *tally.wants.entry(name).or_default() += 1;
            let mut weakest: Option<f64> = None;
            for (of, members, tables) in &judged {
                let found = every_choice(want, members, tables, &format!("{of} by {rule:?}, {context}"));
                let more = want.strength(&["x"], &[vec!["x"]]).is_some_and(|(_, _, more)| more);
                let worse = |found: f64, other: f64| if more { found.min(other) } else { found.max(other) };
                weakest = match (weakest, found) {
                    (Some(other), Some(found)) => Some(worse(found, other)),
                    (other, found) => other.or(found),
                };
            }
            let stated = stated.next().unwrap();
            stated_is_true(want, stated, weakest, &format!("{rule:?}, {context}"));
            if let (Want::Distinct(l), true) = (want, rule.all_rows)
                && *l > 1
                && constant_values(&case)
            {
                intersections_hold(&seen, *l, &context);
            }
        }
    }
    assert!(stated.next().is_none(), "{context}");
}

fn constant_values(case: &Case) -> bool {
    let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    case.rows.iter().for_each(|(unit, _, ill)| {
        values.entry(unit).or_default().insert(ill);
    });
    values.values().all(|values| values.len() == 1)
}

/// Units go whole, no more than may, and what stays has its own protected value.
fn whole_units_are_suppressed(case: &Case, rows: &[ReleasedRow], tally: &mut Tally, context: &str) {
    let kept: BTreeSet<usize> = rows.iter().map(|row| row.source).collect();
    assert!(kept.len() == rows.len() && !rows.is_empty(), "{context}");
    let units: BTreeSet<&str> = case.rows.iter().map(|row| row.0.as_str()).collect();
    let stay: BTreeSet<&str> = kept.iter().map(|&row| case.rows[row].0.as_str()).collect();
    let of_those = case.rows.iter().filter(|row| stay.contains(row.0.as_str())).count();
    assert_eq!(of_those, rows.len(), "some rows of a unit are absent, {context}");
    let within = |out: usize, all: usize| out * 100 <= all * case.suppression;
    assert!(within(case.rows.len() - rows.len(), case.rows.len()), "{context}");
    assert!(within(units.len() - stay.len(), units.len()), "{context}");
    tally.suppressing += usize::from(stay.len() < units.len());
    for row in rows {
        assert_eq!(row.labels["ill"], case.rows[row.source].2, "{context}");
        assert!(!row.labels.contains_key("patient"), "{context}");
    }
}

/// The manifest states nothing stronger than every choice leaves.
fn stated_is_true(want: &Want, stated: &Value, weakest: Option<f64>, context: &str) {
    assert_eq!(stated["holds"], true, "{context}");
    let (Some((name, _, more)), Some(weakest)) = (want.strength(&["x"], &[vec!["x"]]), weakest) else { return };
    let achieved = stated["achieved"][name].as_f64().unwrap_or_else(|| panic!("{stated}, {context}"));
    let true_or_less = if more { achieved <= weakest + 1e-6 } else { achieved >= weakest - 1e-6 };
    assert!(true_or_less, "{achieved} is stated, {weakest} is true, {want:?}, {context}");
    if let Want::K(_) = want {
        assert_eq!(achieved, weakest, "{context}");
    }
}

/// No class can have more units than there are.
#[test]
fn more_units_than_there_are_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let rows: Vec<[String; 3]> =
        (0..12).map(|row| [format!("p{}", row % 4), "30".to_owned(), format!("d{}", row % 3)]).collect();
    let cells: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
    let table = Table::from_texts(&["patient", "age", "ill"], &cells);
    for method in ["mondrian", "best-cut", "cluster"] {
        for (k, holds) in [(4, true), (5, false)] {
            let text = format!(
                "[source]\npath = \"table.csv\"\n[attributes]\npatient = {{ role = \"unit\" }}\nage = {{ role = \"quasi\" }}\n\
                 ill = {{ role = \"sensitive\" }}\n[[rule]]\nrequire = {{ model = \"k-anonymity\", k = {k} }}\n\
                 [publish]\nmethod = \"{method}\"\nsuppression = 1\n"
            );
            let policy = Policy::parse(&text, Path::new("policy.toml")).unwrap();
            let options = PublishOptions::to(folder.path().join(format!("{method}-{k}")));
            match publish(&policy, (&table).into(), &options) {
                Ok(_) => assert!(holds, "{method}, {k}"),
                Err(PublishError::Unsatisfiable(_)) => assert!(!holds, "{method}, {k}"),
                Err(error) => panic!("{method}, {k}: {error}"),
            }
        }
    }
}
