//! Random tables under random policies, published, and the release examined from its files alone:
//! does every class keep every rule, does the codebook say what it must and no more, does the
//! manifest tell the truth and nothing else?
//!
//! `HEDGEROW_SEED=… cargo test -p hedgerow-cli random_releases` replays one case.

use std::collections::BTreeSet;
use std::path::Path;

use hedgerow_audit::{MeasureOptions, QuasiSource, QueryOptions, SourceTable, measure, query};
use hedgerow_policy::Policy;
use hedgerow_publish::bind::{Bound, read_source};
use hedgerow_publish::{PublishError, PublishOptions, Published, RowSource, publish};
use hedgerow_release::Release;
use hedgerow_release::manifest::Manifest;
use hedgerow_table::NoProgress;
use hedgerow_verify::release_check::check_release;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use serde_json::Value;

use crate::release::{Required, Texts, keys, path, quoted};
use crate::running::scratch;

const CASES: u64 = 500;

/// This many more have classes of neighbors.
const CLUSTERED: u64 = 200;

#[test]
fn random_releases_keep_their_rules_and_betray_nothing() {
    if let Some(seed) = std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse().ok()) {
        examine(seed);
        return;
    }
    for (seeds, cases) in [(0..CASES, CASES), (CASES..CASES + CLUSTERED, CLUSTERED)] {
        let published = seeds.filter(|&seed| examine(seed)).count() as u64;
        assert!(published > cases / 4, "only {published} of {cases} policies could be met");
    }
}

/// One rule, as written.
struct Asking {
    know: Option<Vec<String>>,
    protect: Option<String>,
    require: Vec<Required>,
}

/// How a column is generalized.
#[derive(Clone, Copy, PartialEq)]
enum Scheme {
    Widths,
    Breaks,
    Mask,
    Dates,
    File,
    /// Numbers in groups that are not intervals.
    NumberFile,
    /// Numbers, declared as such, that lose their last digits.
    Digits,
    /// Numbers with decimals.
    Halves,
    None,
    /// Numbers that are released as they are.
    Number,
}

const SCHEMES: [Scheme; 9] = [
    Scheme::Widths,
    Scheme::Breaks,
    Scheme::Mask,
    Scheme::Dates,
    Scheme::File,
    Scheme::NumberFile,
    Scheme::Digits,
    Scheme::Halves,
    Scheme::None,
];

struct Case {
    seed: u64,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    quasi: Vec<(String, Scheme)>,
    rules: Vec<Asking>,
    suppression: f64,
    method: &'static str,
    policy: String,
}

impl Case {
    /// Whether every class has cells of its own.
    fn is_local(&self) -> bool {
        self.method != "full-domain"
    }
}

/// Awkward names, for columns and for values.
const ODD: [&str; 8] = ["a,b", "say \"so\"", "two\nlines", "ünï ✓", " spaced ", "semi;colon", "#hash", "x\ty"];

fn random_case(seed: u64) -> Case {
    let mut rng = StdRng::seed_from_u64(seed);
    let count = *[1usize, 2, 5, 20, 60, 150].choose(&mut rng).unwrap();
    let named = |plain: String, rng: &mut StdRng| {
        if rng.random_bool(0.15) { format!("{plain}{}", ODD.choose(rng).unwrap()) } else { plain }
    };
    let mut columns: Vec<(String, &str, Scheme)> = vec![("id".to_owned(), "identifier", Scheme::None)];
    for index in 0..rng.random_range(1..=3) {
        let scheme = *SCHEMES.choose(&mut rng).unwrap();
        columns.push((named(format!("q{index}"), &mut rng), "quasi", scheme));
    }
    let protected: Vec<(String, Scheme)> = (0..rng.random_range(0..=2))
        .map(|index| {
            let scheme = if rng.random_bool(0.4) { Scheme::Number } else { Scheme::None };
            (named(format!("s{index}"), &mut rng), scheme)
        })
        .collect();
    columns.extend(protected.iter().map(|(name, scheme)| (name.clone(), "sensitive", *scheme)));
    if rng.random_bool(0.3) {
        columns.push((named("plain".to_owned(), &mut rng), "plain", Scheme::None));
    }
    let missing = if rng.random_bool(0.3) { 0.1 } else { 0.0 };
    let distinct = *[1u32, 3, 8, 30].choose(&mut rng).unwrap();
    let rows: Vec<Vec<String>> = (0..count)
        .map(|row| {
            columns.iter().map(|(_, role, scheme)| cell(&mut rng, role, *scheme, row, distinct, missing)).collect()
        })
        .collect();
    let quasi: Vec<(String, Scheme)> =
        columns.iter().filter(|column| column.1 == "quasi").map(|column| (column.0.clone(), column.2)).collect();
    let rules: Vec<Asking> = (0..rng.random_range(1..=2)).map(|_| random_rule(&mut rng, &quasi, &protected)).collect();
    let suppression = *[0.0, 0.1, 0.3, 1.0].choose(&mut rng).unwrap();
    let mut loss =
        *["ncp", "precision", "granularity", "discernibility", "average-class", "entropy"].choose(&mut rng).unwrap();
    // Seeds keep their tables: the method is not drawn.
    let method = if seed < CASES {
        ["full-domain", "mondrian", "full-domain", "best-cut"][seed as usize % 4]
    } else {
        "cluster"
    };
    if method == "cluster" {
        loss = ["ncp", "granularity", "entropy"][seed as usize % 3];
    }
    let mut policy = policy_text(&columns, &rules, suppression, loss) + &format!("method = {method:?}\n");
    if method == "mondrian" {
        policy.push_str(["strict = true\n", "strict = false\n", "summarise = \"tight\"\n"][seed as usize % 3]);
    }
    if method == "cluster" {
        policy.push_str(
            ["", "labels = \"hierarchy\"\n", "summarise = \"tight\"\n", "improve = true\n"][seed as usize % 4],
        );
    }
    let header = columns.into_iter().map(|column| column.0).collect();
    Case { seed, header, rows, quasi, rules, suppression, method, policy }
}

fn cell(rng: &mut StdRng, role: &str, scheme: Scheme, row: usize, distinct: u32, missing: f64) -> String {
    if role == "identifier" {
        return format!("person-{row}-secret");
    }
    if rng.random_bool(missing) {
        return String::new();
    }
    let value = rng.random_range(0..distinct).min(rng.random_range(0..distinct));
    match (role, scheme) {
        ("quasi", Scheme::Widths | Scheme::Breaks) => (i64::from(value) * 3 - 7).to_string(),
        ("quasi", Scheme::Mask) => format!("0{:02}", value),
        ("quasi", Scheme::Dates) => format!("20{:02}-{:02}-{:02}", value % 7, value % 12 + 1, value % 28 + 1),
        ("quasi", Scheme::File) => format!("leaf{value}"),
        ("sensitive", Scheme::Number) => (f64::from(value) * 1.5 - 3.0).to_string(),
        ("quasi", Scheme::NumberFile) => (value * value).to_string(),
        ("quasi", Scheme::Digits) => (100 + value * 7).to_string(),
        ("quasi", Scheme::Halves) => format!("{}.5", value * 3),
        ("sensitive", _) if value % 5 == 3 => format!("v{}", ODD[value as usize % ODD.len()]),
        _ => format!("v{value}"),
    }
}

fn random_rule(rng: &mut StdRng, quasi: &[(String, Scheme)], protected: &[(String, Scheme)]) -> Asking {
    let protect = protected.choose(rng).filter(|_| rng.random_bool(0.7));
    let models: &[u32] = match protect {
        None => &[0],
        Some((_, Scheme::Number)) => &[0, 1, 2, 3, 4, 5, 6, 7, 8],
        Some(_) => &[0, 1, 2, 3, 4, 5, 6, 9],
    };
    let k = *[1, 2, 3, 7].choose(rng).unwrap();
    let require = (0..rng.random_range(1..=2))
        .map(|_| match *models.choose(rng).unwrap() {
            0 => Required::K(k),
            1 => Required::Distinct(rng.random_range(1..=3)),
            2 => Required::Frequency(*[1.0, 1.5, 2.0, 3.0].choose(rng).unwrap()),
            3 => Required::Entropy(*[1.0, 1.5, 2.0, 2.5].choose(rng).unwrap()),
            4 => Required::Recursive(*[0.5, 1.5, 3.0].choose(rng).unwrap(), rng.random_range(1..=3)),
            5 => Required::Close(*[0.1, 0.3, 0.6].choose(rng).unwrap()),
            7 => {
                let relative = rng.random_bool(0.3);
                let epsilon = *[if relative { 0.25 } else { 6.0 }, 0.0, 1.0].choose(rng).unwrap();
                Required::Near(epsilon, *[1.0, 1.5, 2.0, 3.0].choose(rng).unwrap(), relative)
            }
            8 => Required::Delta(
                *[0.0, 0.75, 3.0].choose(rng).unwrap(),
                *[1.0, 1.5, 2.0].choose(rng).unwrap(),
                rng.random_bool(0.6),
            ),
            9 => Required::CloseByTree(*[0.1, 0.3, 0.6].choose(rng).unwrap()),
            _ => Required::AlphaK(*[0.4, 0.75, 1.0].choose(rng).unwrap(), k),
        })
        .collect();
    let know = rng.random_bool(0.25).then(|| vec![quasi.choose(rng).unwrap().0.clone()]);
    Asking { know, protect: protect.map(|(name, _)| name.clone()), require }
}

const WIDTHS: [i64; 3] = [4, 8, 24];
const BREAKS: [i64; 3] = [0, 10, 40];

fn policy_text(columns: &[(String, &str, Scheme)], rules: &[Asking], suppression: f64, loss: &str) -> String {
    let mut text = "[source]\npath = \"table.csv\"\n[attributes]\n".to_owned();
    for (name, role, scheme) in columns {
        let hierarchy = match scheme {
            Scheme::Widths => format!(", hierarchy = {{ widths = {WIDTHS:?} }}"),
            Scheme::Breaks => format!(", hierarchy = {{ breaks = [{BREAKS:?}, [10]] }}"),
            Scheme::Mask => ", hierarchy = { mask = 3 }".to_owned(),
            Scheme::Dates => ", hierarchy = { dates = [\"month\", \"year\"] }".to_owned(),
            Scheme::File => ", hierarchy = \"leaves.csv\"".to_owned(),
            Scheme::NumberFile => ", hierarchy = \"numbers.csv\"".to_owned(),
            Scheme::Digits => ", type = \"integer\", hierarchy = { mask = 3 }".to_owned(),
            Scheme::Halves => ", hierarchy = { widths = [1.5, 6] }".to_owned(),
            Scheme::None if *role == "sensitive" => ", hierarchy = \"values.csv\"".to_owned(),
            Scheme::None if *role == "plain" => ", allow-unique = true".to_owned(),
            Scheme::None | Scheme::Number => String::new(),
        };
        text.push_str(&format!("{name:?} = {{ role = {role:?}{hierarchy} }}\n"));
    }
    for rule in rules {
        text.push_str("[[rule]]\n");
        if let Some(know) = &rule.know {
            text.push_str(&format!("know = {know:?}\n"));
        }
        if let Some(protect) = &rule.protect {
            text.push_str(&format!("protect = {protect:?}\n"));
        }
        let require: Vec<String> = rule.require.iter().map(Required::toml).collect();
        text.push_str(&format!("require = [{}]\n", require.join(", ")));
    }
    text + &format!("[publish]\nsuppression = {suppression:?}\nloss = {loss:?}\n")
}

/// Publishes a case and examines it; false when no release can meet the policy.
fn examine(seed: u64) -> bool {
    let case = random_case(seed);
    let folder = scratch();
    let record = |fields: &[String]| fields.iter().map(|field| quoted(field)).collect::<Vec<_>>().join(",") + "\n";
    let table: String = std::iter::once(&case.header).chain(&case.rows).map(|fields| record(fields)).collect();
    std::fs::write(folder.path().join("table.csv"), table).unwrap();
    let leaves: String = (0..30).map(|leaf| format!("leaf{leaf};g{};h{};*\n", leaf / 3, leaf / 9)).collect();
    std::fs::write(folder.path().join("leaves.csv"), leaves).unwrap();
    let numbers = (0..30).map(|leaf| format!("{};g{};h{};*\n", leaf * leaf, leaf * 7 % 5, leaf * 7 % 5 / 2));
    let for_missing = if seed.is_multiple_of(2) { ";g0;h0;*\n" } else { "" };
    std::fs::write(folder.path().join("numbers.csv"), numbers.collect::<String>() + for_missing).unwrap();
    std::fs::write(folder.path().join("values.csv"), hierarchy_of_values()).unwrap();
    let policy = folder.path().join("policy.toml");
    std::fs::write(&policy, &case.policy).unwrap();
    let policy = Policy::load(&policy).unwrap_or_else(|errors| panic!("seed {seed}\n{errors}"));
    let options = PublishOptions::to(folder.path().join("release"));
    let published = match publish(&policy, RowSource::Policy, &options) {
        Ok(published) => published,
        Err(PublishError::Unsatisfiable(_)) => {
            assert!(!folder.path().join("release").exists(), "seed {seed}");
            return false;
        }
        // Neighbors are merged.
        Err(error) if case.method == "cluster" && error.to_string().contains("does not survive merging") => {
            return false;
        }
        Err(error) => panic!("seed {seed}: {error}\n{}", case.policy),
    };
    let context = || format!("seed {seed}\n{}", case.policy);
    let release =
        Release::open(&published.release, &NoProgress).unwrap_or_else(|error| panic!("{error}\n{}", context()));
    let found = check_release(&release, &[]).unwrap_or_else(|error| panic!("{error}\n{}", context()));
    assert!(found.holds(), "{found:?}\n{}", context());
    let data = Texts::read(&published.release.join("data.csv"));
    rules_hold(&case, &data);
    nothing_but_the_release(&case, &data, &published, folder.path());
    codebook_fits(&case, &data, &Texts::read(&published.release.join("codebook.csv")));
    losses_agree(&case, &policy, &published, &context());
    every_row_is_counted(&published, &context());
    true
}

/// Every protected value there can be, the missing one included, with the labels above it.
fn hierarchy_of_values() -> String {
    let odd = ODD.iter().map(|odd| format!("v{odd}"));
    let values = (0..30).map(|value| format!("v{value}")).chain(odd).chain([String::new()]);
    let row = |value: String| {
        let labels = path(&value).map(|label| quoted(&label)).join(",");
        format!("{},{labels}\n", quoted(&value))
    };
    values.map(row).collect()
}

fn rules_hold(case: &Case, data: &Texts) {
    let all: Vec<String> = case.quasi.iter().map(|quasi| quasi.0.clone()).collect();
    for rule in &case.rules {
        let released = rule.protect.as_ref().map(|name| data.column(name)).unwrap_or_default();
        let source = rule.protect.as_ref().map(|name| {
            let index = case.header.iter().position(|column| column == name).unwrap();
            case.rows.iter().map(|row| row[index].as_str()).collect::<Vec<_>>()
        });
        let wholes = [source.unwrap_or_default(), released.clone()];
        for class in data.classes(rule.know.as_ref().unwrap_or(&all)) {
            let values: Vec<&str> = class.iter().filter_map(|&row| released.get(row).copied()).collect();
            for required in &rule.require {
                let holds = required.holds(class.len(), &values, &wholes);
                assert!(holds, "{required:?} is broken by {values:?}, seed {}\n{}", case.seed, case.policy);
            }
        }
    }
}

/// Rows add up, columns are the ones to release, and neither identifiers nor the place of work show
/// anywhere.
fn nothing_but_the_release(case: &Case, data: &Texts, published: &Published, folder: &Path) {
    let seed = case.seed;
    let text = std::fs::read_to_string(published.release.join("datapackage.json")).unwrap();
    let manifest: Value = serde_json::from_str(&text).unwrap();
    let rows = |name: &str| manifest["hedgerow"]["rows"][name].as_u64().unwrap();
    assert_eq!(rows("in"), case.rows.len() as u64, "seed {seed}");
    assert_eq!(rows("out"), data.rows.len() as u64, "seed {seed}");
    assert_eq!(rows("in"), rows("out") + rows("suppressed"), "seed {seed}");
    assert!(rows("suppressed") as f64 <= case.suppression * rows("in") as f64 + 1e-9, "seed {seed}");
    assert!(rows("out") > 0, "seed {seed}");
    let all: Vec<String> = case.quasi.iter().map(|quasi| quasi.0.clone()).collect();
    let classes = data.classes(&all);
    assert_eq!(manifest["hedgerow"]["classes"]["count"].as_u64(), Some(classes.len() as u64), "seed {seed}");
    let smallest = classes.iter().map(|class| class.len() as u64).min();
    assert_eq!(manifest["hedgerow"]["classes"]["min"].as_u64(), smallest, "seed {seed}");
    assert_eq!(data.header, case.header[1..], "seed {seed}");

    let mut used = BTreeSet::new();
    keys(&manifest, &mut used);
    let known = "name resources hedgerow path format mediatype encoding schema fields type role values missingValues version method \
        guarantees model required achieved know protect holds k l c t distance alpha epsilon m relative delta reading rows in out suppressed classes count min \
        max mean loss ncp precision discernibility average-class granularity hierarchies hierarchy";
    let mut known: BTreeSet<&str> = known.split_whitespace().collect();
    known.extend(case.rules.iter().filter_map(|rule| rule.protect.as_deref()));
    let unknown: Vec<&String> = used.iter().filter(|key| !known.contains(key.as_str())).collect();
    assert!(unknown.is_empty(), "{unknown:?}, seed {seed}");

    let mut files: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(&published.release).unwrap() {
        let path = entry.unwrap().path();
        files.push(path.file_name().unwrap().to_str().unwrap().to_owned());
        let text = std::fs::read_to_string(path).unwrap();
        for betrayal in ["-secret", "table.csv", "policy.toml", "/dev/", folder.to_str().unwrap()] {
            assert!(!text.contains(betrayal), "{betrayal} shows, seed {seed}");
        }
    }
    files.sort();
    assert_eq!(files, ["codebook.csv", "data.csv", "datapackage.json"], "seed {seed}");
}

/// One entry for every released label and for no other; bounds from the hierarchy, not from the
/// people.
fn codebook_fits(case: &Case, data: &Texts, codebook: &Texts) {
    let seed = case.seed;
    assert_eq!(codebook.header, ["attribute", "label", "low", "high", "leaf"], "seed {seed}");
    for (name, scheme) in &case.quasi {
        let released: BTreeSet<&str> = data.column(name).into_iter().collect();
        let entries: Vec<&Vec<String>> = codebook.rows.iter().filter(|row| row[0] == *name).collect();
        let covered: BTreeSet<&str> = entries.iter().map(|row| row[1].as_str()).collect();
        assert_eq!(released, covered, "labels of {name}, seed {seed}\n{}", case.policy);
        for entry in entries {
            let [_, label, low, high, leaf] = &entry[..] else { unreachable!() };
            // A blank leaf among several is the missing value, where a set has it.
            let is_missing = [low, high, leaf].iter().all(|text| text.is_empty())
                && codebook.rows.iter().any(|row| row[..2] == entry[..2] && !row[4].is_empty());
            if case.method == "cluster" && is_missing {
                continue;
            }
            if label == "*" || label.is_empty() || label == "not missing" {
                assert_eq!((low.as_str(), high.as_str()), ("", ""), "{entry:?}, seed {seed}");
            } else if low == high && !low.is_empty() {
                assert_eq!(low, label, "{entry:?}, seed {seed}");
            } else if !case.is_local() || matches!(scheme, Scheme::File | Scheme::Mask) {
                assert!(comes_from_the_hierarchy(*scheme, low, high, leaf), "{entry:?}, seed {seed}\n{}", case.policy);
            }
        }
    }
}

fn comes_from_the_hierarchy(scheme: Scheme, low: &str, high: &str, leaf: &str) -> bool {
    let number = |text: &str| text.parse::<i64>();
    match scheme {
        Scheme::Widths => {
            let (Ok(low), Ok(high)) = (number(low), number(high)) else { return false };
            WIDTHS.contains(&(high - low)) && low.rem_euclid(high - low) == 0
        }
        Scheme::Breaks => {
            let is_break = |text: &str| text.is_empty() || number(text).is_ok_and(|number| BREAKS.contains(&number));
            is_break(low) && is_break(high)
        }
        Scheme::Dates => low.ends_with("-01") && high.ends_with("-01"),
        Scheme::File => leaf.starts_with("leaf"),
        Scheme::NumberFile => {
            let square = |number: i64| (0..30).any(|root| root * root == number);
            match (number(low), number(high)) {
                (Ok(low), Ok(high)) => square(low) && square(high - 1),
                _ => low.is_empty() && high.is_empty() && (leaf.is_empty() || number(leaf).is_ok_and(square)),
            }
        }
        Scheme::Halves => {
            let (Ok(low), Ok(high)) = (low.parse::<f64>(), high.parse::<f64>()) else { return false };
            [1.5, 6.0].contains(&(high - low)) && low.rem_euclid(high - low) == 0.0
        }
        Scheme::Digits | Scheme::Mask | Scheme::None | Scheme::Number => {
            !leaf.is_empty() && low.is_empty() && high.is_empty()
        }
    }
}

/// The losses that were claimed, computed again by the auditor's code.
fn losses_agree(case: &Case, policy: &Policy, published: &Published, context: &str) {
    let directory = &published.release;
    let release = hedgerow_release::Release::open(directory, &NoProgress).unwrap();
    let table = read_source(policy, &NoProgress).unwrap();
    let bound = Bound::new(policy, &table).unwrap();
    let quasi = bound.quasi.iter();
    let source = SourceTable {
        table: &table,
        quasi: quasi.map(|quasi| QuasiSource { name: &quasi.attribute.name, hierarchy: &quasi.hierarchy }).collect(),
        sensitive: Vec::new(),
        k: bound.k(),
    };
    let queries = QueryOptions { count: 20, ..QueryOptions::default() };
    let options = MeasureOptions { queries, ..MeasureOptions::default() };
    let measured =
        measure(&release, &source, &options, &NoProgress).unwrap_or_else(|error| panic!("{error}\n{context}"));
    let measured = serde_json::to_value(measured).expect("numbers and names");
    let by_levels = if case.is_local() { &[][..] } else { &["precision"] };
    for name in ["ncp", "discernibility", "average-class", "granularity", "entropy"].iter().chain(by_levels) {
        let claimed = published.losses[*name].as_f64().unwrap();
        let found = measured["loss"][name].as_f64().unwrap();
        assert!(
            (claimed - found).abs() <= 1e-9 * found.abs().max(1.0),
            "{name}: claimed {claimed}, is {found}\n{context}"
        );
    }
}

/// A query without a condition, and one whose parts cover everything, are answered with all rows.
fn every_row_is_counted(published: &Published, context: &str) {
    let release = hedgerow_release::Release::open(&published.release, &NoProgress)
        .unwrap_or_else(|error| panic!("{error}\n{context}"));
    let manifest = Manifest::read(&published.release).unwrap();
    let name = manifest.resources[0].schema.fields[0].name.replace('"', "\"\"");
    for condition in [String::new(), format!("WHERE \"{name}\" IS NULL OR NOT \"{name}\" IS NULL")] {
        let sql = format!("SELECT COUNT(*) FROM data {condition}");
        let found = query::answer(&release, &sql).unwrap_or_else(|error| panic!("{error}\n{context}"));
        let found = serde_json::to_value(&found).unwrap();
        for part in ["estimate", "certain", "possible"] {
            let count = found["answer"][0]["COUNT(*)"][part].as_f64();
            // A suppressed row may be counted or not.
            let suppressed = if part == "possible" { manifest.hedgerow.rows.suppressed } else { 0 };
            let expected = manifest.hedgerow.rows.out + suppressed;
            assert_eq!(count, Some(expected as f64), "{part} of {sql}\n{context}");
        }
    }
}
