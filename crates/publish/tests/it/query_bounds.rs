//! The bounds of `query`, certain and possible, against the source: random tables of floats, whole
//! floats, texts of digits and masked values, with rows suppressed and values made coarser, under
//! random conditions. The truth is counted row by row from the texts of the source, by code that
//! shares nothing with what it judges.
//!
//! `HEDGEROW_SEED=… cargo test -p hedgerow-publish query_bounds` replays one case.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use hedgerow_audit::query::{Answer, AnswerCell, Estimate, answer};
use hedgerow_policy::Policy;
use hedgerow_publish::{PublishError, PublishOptions, RowSource, publish};
use hedgerow_release::Release;
use hedgerow_table::NoProgress;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use tempfile::TempDir;

use crate::coarse_regions::words_file;

const CASES: u64 = 120;

/// Questions about one release.
const QUESTIONS: usize = 25;

#[test]
fn the_truth_lies_between_certain_and_possible() {
    if let Some(seed) = std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse().ok()) {
        examine(seed);
        return;
    }
    let cases = std::env::var("HEDGEROW_QUERY_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(CASES);
    let suppressed: Vec<bool> = (0..cases).filter_map(examine).collect();
    assert!(suppressed.len() as u64 > cases / 2, "only {} of {cases} cases were published", suppressed.len());
    let with = suppressed.iter().filter(|suppressed| **suppressed).count() as u64;
    assert!(with > cases / 5, "only {with} of {cases} releases have suppressed rows");
}

/// Floats of which the released ones are whole, categories of digits, the top over texts, and a row
/// that is suppressed.
#[test]
fn values_are_compared_as_the_manifest_declares_them() {
    let folder = tempfile::tempdir().unwrap();
    let source = "q,t,h,g,c\n1,ab,3,3,10\n2,cd,3,3,10\n3,ef,3,3,10\n4,gh,3,-1.24,10\n95,x,2.5,3,7\n";
    std::fs::write(folder.path().join("source.csv"), source).unwrap();
    let policy = "[source]\npath = \"source.csv\"\n[attributes]\n\
                  q = { role = \"quasi\", hierarchy = { widths = [10] } }\nt = { role = \"quasi\" }\n\
                  h = { role = \"quasi\" }\n\
                  g = { role = \"plain\", allow-unique = true, coarsen = { bottom = 0 } }\n\
                  c = { role = \"quasi\", type = \"category\" }\n\
                  [[rule]]\nrequire = { model = \"k-anonymity\", k = 3 }\n[publish]\nsuppression = 0.3\n";
    let policy = Policy::parse(policy, &folder.path().join("policy.toml")).unwrap();
    let destination = folder.path().join("release");
    publish(&policy, RowSource::Policy, &PublishOptions::to(destination.clone())).unwrap();
    let release = Release::open(&destination, &NoProgress).unwrap();
    assert_eq!(release.manifest().unwrap().hedgerow.rows.suppressed, 1);
    let bounds = |condition: &str| {
        let found = answer(&release, &format!("SELECT COUNT(*) FROM data WHERE {condition}")).unwrap();
        let [AnswerCell::Estimate(found)] = found.lines[0][..] else { panic!("{condition}") };
        (found.certain, found.possible)
    };
    assert_eq!(bounds("h = 2.5"), (0.0, 1.0), "the suppressed row");
    assert_eq!(bounds("g = -1.24"), (0.0, 2.0), "one under 0, and the suppressed row");
    assert_eq!(bounds("c < '2'"), (4.0, 5.0), "10 is a text");
    assert_eq!(bounds("c LIKE '1_'"), (4.0, 5.0));
    assert_eq!(bounds("t NOT LIKE '_'"), (0.0, 5.0), "`*` is not its own text");
    assert_eq!(bounds("t LIKE '_'"), (0.0, 5.0));
    assert_eq!(bounds("t LIKE 'a%' AND t LIKE '%b' AND t NOT LIKE '%a%'"), (0.0, 0.0), "no text at all");
    let grouped = answer(&release, "SELECT c, COUNT(*) FROM data GROUP BY c").unwrap();
    assert_eq!(grouped.lines.len(), 1, "7 is a value of the suppressed row");
    assert!(grouped.notes[0].contains("groups of theirs alone are not listed"), "{:?}", grouped.notes);
}

/// How the values of a column are compared.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Compared {
    Numbers,
    Texts,
    Days,
}

/// A column of the source as the policy declares it.
pub(crate) struct Attribute {
    pub(crate) name: &'static str,
    pub(crate) compared: Compared,
    /// Values as text, the missing one empty.
    pub(crate) values: Vec<String>,
    /// Released as it is: a group is a value.
    pub(crate) as_it_is: bool,
    /// The line of the policy.
    pub(crate) policy: String,
}

/// A condition, evaluated in SQL's three truth values.
enum Condition {
    Compare(usize, &'static str, String),
    Between(usize, String, String, bool),
    Among(usize, Vec<String>, bool),
    Like(usize, String, bool),
    Missing(usize, bool),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
    Not(Box<Condition>),
}

pub(crate) struct Case {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) rows: usize,
    pub(crate) policy: String,
}

fn random_case(rng: &mut StdRng) -> Case {
    let rows = *[4usize, 9, 20, 40].choose(rng).unwrap();
    let attributes = vec![
        quasi("q", rng, rows),
        quasi("r", rng, rows),
        plain("h", "plain", rng, rows),
        coarse("g", rng, rows),
        plain("s", "sensitive", rng, rows),
    ];
    let k = *[2, 3].choose(rng).unwrap();
    let method = *["full-domain", "full-domain", "full-domain", "mondrian", "cluster", "anatomy"].choose(rng).unwrap();
    let suppression = *["0.0", "0.3", "0.6", "0.9"].choose(rng).unwrap();
    let rule = match method {
        "anatomy" => "[[rule]]\nprotect = \"s\"\nrequire = { model = \"frequency-l-diversity\", l = 2 }\n".to_owned(),
        _ => format!("[[rule]]\nrequire = {{ model = \"k-anonymity\", k = {k} }}\n"),
    };
    let lines: String = attributes.iter().map(|attribute| attribute.policy.as_str()).collect();
    let policy = format!(
        "[source]\npath = \"source.csv\"\n[attributes]\n{lines}{rule}\
         [publish]\nmethod = \"{method}\"\nsuppression = {suppression}\n"
    );
    Case { attributes, rows, policy }
}

pub(crate) fn values(rng: &mut StdRng, rows: usize, draw: impl Fn(&mut StdRng) -> String) -> Vec<String> {
    let missing = *[0.0, 0.0, 0.15].choose(rng).unwrap();
    (0..rows).map(|_| if rng.random_bool(missing) { String::new() } else { draw(rng) }).collect()
}

/// Whole floats, and now and then one with a fraction.
pub(crate) fn float(rng: &mut StdRng) -> String {
    let whole = rng.random_range(-2..6);
    if rng.random_bool(0.15) { format!("{}", f64::from(whole) + 0.5) } else { whole.to_string() }
}

pub(crate) fn digits(rng: &mut StdRng) -> String {
    let digits = ["1", "2", "10", "02", "3.5", "11", "9", "100"];
    (*digits.choose(rng).unwrap()).to_owned()
}

pub(crate) fn word(rng: &mut StdRng) -> String {
    let words = ["a", "b", "ab", "abc", "a*", "*", "x y", "é", "B"];
    (*words.choose(rng).unwrap()).to_owned()
}

pub(crate) fn quasi(name: &'static str, rng: &mut StdRng, rows: usize) -> Attribute {
    let (compared, values, declared) = match rng.random_range(0..9) {
        0 => (Compared::Numbers, values(rng, rows, float), "type = \"float\", hierarchy = { widths = [2, 4] }"),
        1 => (Compared::Numbers, values(rng, rows, float), "type = \"float\", hierarchy = { breaks = [[0, 3]] }"),
        2 => (Compared::Numbers, values(rng, rows, float), "type = \"float\""),
        3 => (Compared::Texts, values(rng, rows, digits), "type = \"category\""),
        4 => (Compared::Texts, values(rng, rows, digits), "type = \"category\", hierarchy = { mask = 2 }"),
        5 => (Compared::Texts, values(rng, rows, word), "type = \"category\", hierarchy = \"words.csv\""),
        6 => {
            let number = |rng: &mut StdRng| rng.random_range(-12..130).to_string();
            (Compared::Numbers, values(rng, rows, number), "type = \"integer\", hierarchy = { mask = 2 }")
        }
        7 => {
            let number = |rng: &mut StdRng| rng.random_range(0..30).to_string();
            (Compared::Numbers, values(rng, rows, number), "type = \"integer\", hierarchy = { widths = [5, 10] }")
        }
        _ => {
            let day = |rng: &mut StdRng| format!("2024-0{}-1{}", rng.random_range(1..4), rng.random_range(0..5));
            (Compared::Days, values(rng, rows, day), "type = \"date\", hierarchy = { dates = [\"month\", \"year\"] }")
        }
    };
    let policy = format!("{name} = {{ role = \"quasi\", {declared} }}\n");
    Attribute { name, compared, values, as_it_is: false, policy }
}

fn plain(name: &'static str, role: &str, rng: &mut StdRng, rows: usize) -> Attribute {
    let (compared, values, declared) = match rng.random_range(0..3) {
        0 => (Compared::Numbers, values(rng, rows, float), "float"),
        1 => (Compared::Texts, values(rng, rows, digits), "category"),
        _ => (Compared::Texts, values(rng, rows, word), "category"),
    };
    let unique = if role == "plain" { ", allow-unique = true" } else { "" };
    let policy = format!("{name} = {{ role = \"{role}\", type = \"{declared}\"{unique} }}\n");
    Attribute { name, compared, values, as_it_is: true, policy }
}

fn coarse(name: &'static str, rng: &mut StdRng, rows: usize) -> Attribute {
    let number = |rng: &mut StdRng| match rng.random_range(0..4) {
        0 => "-1.24".to_owned(),
        1 => "7.75".to_owned(),
        _ => float(rng),
    };
    let (compared, values, declared) = match rng.random_range(0..5) {
        0 => (Compared::Numbers, values(rng, rows, number), "type = \"float\", coarsen = { bottom = 0 }"),
        1 => (Compared::Numbers, values(rng, rows, number), "type = \"float\", coarsen = { bottom = 0, top = 3 }"),
        2 => (Compared::Numbers, values(rng, rows, number), "type = \"float\", coarsen = { round = 2 }"),
        3 => (Compared::Numbers, values(rng, rows, number), "type = \"float\", coarsen = { significant = 1 }"),
        _ => (
            Compared::Texts,
            values(rng, rows, word),
            "type = \"category\", hierarchy = \"words.csv\", coarsen = { level = 1 }",
        ),
    };
    let policy = format!("{name} = {{ role = \"plain\", allow-unique = true, {declared} }}\n");
    Attribute { name, compared, values, as_it_is: false, policy }
}

/// A constant: a value of the column, or one near it.
fn constant(rng: &mut StdRng, attribute: &Attribute) -> String {
    let present: Vec<&String> = attribute.values.iter().filter(|value| !value.is_empty()).collect();
    let known = present.choose(rng).filter(|_| rng.random_bool(0.6));
    match (known, attribute.compared) {
        (Some(value), _) => (*value).clone(),
        (None, Compared::Numbers) => format!("{}", f64::from(rng.random_range(-8..40)) / 4.0),
        (None, Compared::Days) => format!("2024-0{}-12", rng.random_range(1..4)),
        // With a star it would be a label of masked values.
        (None, Compared::Texts) if rng.random_bool(0.5) || attribute.policy.contains("mask") => digits(rng),
        (None, Compared::Texts) => word(rng),
    }
}

fn pattern(rng: &mut StdRng) -> String {
    let parts = ["_", "_", "%", "%", "a", "b", "1", "0", "*", "."];
    (0..rng.random_range(1..4)).map(|_| *parts.choose(rng).unwrap()).collect()
}

fn condition(rng: &mut StdRng, attributes: &[Attribute], depth: usize) -> Condition {
    if depth > 0 && rng.random_bool(0.45) {
        let inner = |rng: &mut StdRng| Box::new(condition(rng, attributes, depth - 1));
        return match rng.random_range(0..5) {
            0 | 1 => Condition::And(inner(rng), inner(rng)),
            2 | 3 => Condition::Or(inner(rng), inner(rng)),
            _ => Condition::Not(inner(rng)),
        };
    }
    let at = rng.random_range(0..attributes.len());
    let attribute = &attributes[at];
    let negated = rng.random_bool(0.5);
    match rng.random_range(0..8) {
        0..=2 => {
            let by = *["=", "<>", "<", "<=", ">", ">="].choose(rng).unwrap();
            Condition::Compare(at, by, constant(rng, attribute))
        }
        3 => Condition::Between(at, constant(rng, attribute), constant(rng, attribute), negated),
        4 => {
            let list = (0..rng.random_range(1..4)).map(|_| constant(rng, attribute)).collect();
            Condition::Among(at, list, negated)
        }
        5 | 6 if attribute.compared == Compared::Texts => Condition::Like(at, pattern(rng), negated),
        5 | 6 => Condition::Compare(at, "=", constant(rng, attribute)),
        _ => Condition::Missing(at, negated),
    }
}

impl Condition {
    fn sql(&self, attributes: &[Attribute]) -> String {
        let value = |at: usize, text: &String| match attributes[at].compared {
            Compared::Numbers => text.clone(),
            Compared::Texts | Compared::Days => format!("'{}'", text.replace('\'', "''")),
        };
        let not = |negated: bool| if negated { "NOT " } else { "" };
        match self {
            Condition::Compare(at, by, with) => format!("{} {by} {}", attributes[*at].name, value(*at, with)),
            Condition::Between(at, low, high, negated) => {
                let (low, high) = (value(*at, low), value(*at, high));
                format!("{} {}BETWEEN {low} AND {high}", attributes[*at].name, not(*negated))
            }
            Condition::Among(at, list, negated) => {
                let list: Vec<String> = list.iter().map(|text| value(*at, text)).collect();
                format!("{} {}IN ({})", attributes[*at].name, not(*negated), list.join(", "))
            }
            Condition::Like(at, pattern, negated) => {
                format!("{} {}LIKE '{pattern}'", attributes[*at].name, not(*negated))
            }
            Condition::Missing(at, negated) => format!("{} IS {}NULL", attributes[*at].name, not(*negated)),
            Condition::And(a, b) => format!("({} AND {})", a.sql(attributes), b.sql(attributes)),
            Condition::Or(a, b) => format!("({} OR {})", a.sql(attributes), b.sql(attributes)),
            Condition::Not(inner) => format!("NOT ({})", inner.sql(attributes)),
        }
    }

    fn holds(&self, attributes: &[Attribute], row: usize) -> Option<bool> {
        let found = |at: usize| Some(attributes[at].values[row].as_str()).filter(|value| !value.is_empty());
        let order = |at: usize, with: &str| found(at).map(|value| compare(attributes[at].compared, value, with));
        match self {
            Condition::Compare(at, by, with) => order(*at, with).map(|order| match *by {
                "=" => order.is_eq(),
                "<>" => order.is_ne(),
                "<" => order.is_lt(),
                "<=" => order.is_le(),
                ">" => order.is_gt(),
                _ => order.is_ge(),
            }),
            Condition::Between(at, low, high, negated) => {
                order(*at, low).zip(order(*at, high)).map(|(low, high)| (low.is_ge() && high.is_le()) != *negated)
            }
            Condition::Among(at, list, negated) => {
                found(*at)?;
                Some(list.iter().any(|with| order(*at, with).is_some_and(Ordering::is_eq)) != *negated)
            }
            Condition::Like(at, pattern, negated) => found(*at).map(|value| matches(pattern, value) != *negated),
            Condition::Missing(at, negated) => Some(found(*at).is_none() != *negated),
            Condition::And(a, b) => match (a.holds(attributes, row), b.holds(attributes, row)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Condition::Or(a, b) => match (a.holds(attributes, row), b.holds(attributes, row)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            Condition::Not(inner) => inner.holds(attributes, row).map(|holds| !holds),
        }
    }
}

fn compare(compared: Compared, value: &str, with: &str) -> Ordering {
    match compared {
        Compared::Numbers => number(value).total_cmp(&number(with)),
        Compared::Texts | Compared::Days => value.cmp(with),
    }
}

/// One zero.
fn number(text: &str) -> f64 {
    text.parse::<f64>().unwrap() + 0.0
}

/// LIKE from its definition.
fn matches(pattern: &str, text: &str) -> bool {
    let Some(first) = pattern.chars().next() else { return text.is_empty() };
    let rest = &pattern[first.len_utf8()..];
    let mut shorter = text.chars();
    match (first, shorter.next()) {
        ('%', None) => matches(rest, text),
        ('%', Some(_)) => matches(rest, text) || matches(pattern, shorter.as_str()),
        (_, None) => false,
        (wanted, Some(found)) => (wanted == '_' || wanted == found) && matches(rest, shorter.as_str()),
    }
}

/// Whether rows were suppressed; `None` where no release keeps the rules.
fn examine(seed: u64) -> Option<bool> {
    let mut rng = StdRng::seed_from_u64(seed);
    let case = random_case(&mut rng);
    let (release, _folder) = published(seed, &case)?;
    ask(seed, &case, &release, &mut rng);
    Some(release.manifest().unwrap().hedgerow.rows.suppressed > 0)
}

/// The release of a case and where it is; `None` where none keeps the rules.
pub(crate) fn published(seed: u64, case: &Case) -> Option<(Release, TempDir)> {
    let folder = tempfile::tempdir().unwrap();
    let header: Vec<&str> = case.attributes.iter().map(|attribute| attribute.name).collect();
    let mut source = header.join(",") + "\n";
    for row in 0..case.rows {
        let cells: Vec<&str> = case.attributes.iter().map(|attribute| attribute.values[row].as_str()).collect();
        source += &(cells.join(",") + "\n");
    }
    std::fs::write(folder.path().join("source.csv"), &source).unwrap();
    std::fs::write(folder.path().join("words.csv"), words_file()).unwrap();
    let policy = Policy::parse(&case.policy, &folder.path().join("policy.toml"))
        .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{}", case.policy));
    let destination = folder.path().join("release");
    let options = PublishOptions { seed: Some(seed), ..PublishOptions::to(destination.clone()) };
    match publish(&policy, RowSource::Policy, &options) {
        Ok(_) => {}
        Err(PublishError::Unsatisfiable(_) | PublishError::Ineligible(_)) => return None,
        Err(error) => panic!("seed {seed}: {error}\n{}{source}", case.policy),
    }
    let release = Release::open(&destination, &NoProgress).unwrap();
    Some((release, folder))
}

/// Asks questions, compares the answers with the source, and says how many there were.
pub(crate) fn ask(seed: u64, case: &Case, release: &Release, rng: &mut StdRng) -> usize {
    let mut answers = 0;
    let suppressed = release.manifest().unwrap().hedgerow.rows.suppressed > 0;
    let about = || {
        let written = |name: &str| std::fs::read_to_string(release.path().join(name)).unwrap_or_default();
        let source = std::fs::read_to_string(release.path().with_file_name("source.csv")).unwrap_or_default();
        let tables = release.manifest().unwrap().resources.iter().map(|table| written(&table.path));
        format!("seed {seed}\n{}{source}\n{}", case.policy, tables.collect::<String>())
    };
    for _ in 0..QUESTIONS {
        let condition = condition(rng, &case.attributes, 2);
        let kept: Vec<usize> =
            (0..case.rows).filter(|&row| condition.holds(&case.attributes, row) == Some(true)).collect();
        let sql = condition.sql(&case.attributes);
        answers += usize::from(totals(release, case, &kept, &sql, rng, &about));
        groups(release, case, &kept, &sql, rng, (suppressed, &about));
    }
    answers
}

/// `None` where rows of several tables would have to be joined.
fn answered(release: &Release, sql: &str, about: &dyn Fn() -> String) -> Option<Answer> {
    let is_one = release.manifest().is_none_or(|manifest| manifest.hedgerow.method != "decompose");
    match answer(release, sql) {
        Err(error) if is_one => panic!("{error}\n{sql}\n{}", about()),
        found => found.ok(),
    }
}

fn within(found: &Estimate, truth: f64) -> bool {
    let slack = 1e-9 * truth.abs().max(1.0);
    found.certain - slack <= truth && truth <= found.possible + slack
}

/// A number as SQLite calculates with it.
#[derive(Clone, Copy)]
enum SqlNumber {
    Integer(i64),
    Real(f64),
}

impl SqlNumber {
    fn new(number: f64, is_integer: bool) -> SqlNumber {
        if is_integer { SqlNumber::Integer(number as i64) } else { SqlNumber::Real(number) }
    }

    fn value(self) -> f64 {
        match self {
            SqlNumber::Integer(number) => number as f64,
            SqlNumber::Real(number) => number,
        }
    }

    /// A division by zero has no result; that of two integers has no fraction.
    fn combined(self, by: char, with: SqlNumber) -> Option<SqlNumber> {
        let (a, b) = (self.value(), with.value());
        match (self, with, by) {
            (_, _, '/') if b == 0.0 => None,
            (SqlNumber::Integer(a), SqlNumber::Integer(b), _) => Some(SqlNumber::Integer(match by {
                '+' => a + b,
                '-' => a - b,
                '*' => a * b,
                _ => a / b,
            })),
            (_, _, '+') => Some(SqlNumber::Real(a + b)),
            (_, _, '-') => Some(SqlNumber::Real(a - b)),
            (_, _, '*') => Some(SqlNumber::Real(a * b)),
            _ => Some(SqlNumber::Real(a / b)),
        }
    }
}

/// Arithmetic over a column.
enum Term {
    Column,
    Written(&'static str),
    Combined(Box<Term>, char, Box<Term>),
}

impl Term {
    fn random(rng: &mut StdRng, depth: usize) -> Term {
        let combined = |rng: &mut StdRng| {
            let by = *['/', '/', '/', '+', '-', '*'].choose(rng).unwrap();
            Term::Combined(Box::new(Term::random(rng, depth - 1)), by, Box::new(Term::random(rng, depth - 1)))
        };
        match rng.random_range(0..6) {
            0..3 if depth > 0 => combined(rng),
            3 => Term::Written(["0", "1", "2", "-2", "3", "-7", "40", "2.0", "0.5", "-3e0"].choose(rng).unwrap()),
            _ => Term::Column,
        }
    }

    fn of(&self, column: Option<SqlNumber>) -> Option<SqlNumber> {
        match self {
            Term::Column => column,
            Term::Written(text) => {
                Some(text.parse().map_or_else(|_| SqlNumber::Real(number(text)), SqlNumber::Integer))
            }
            Term::Combined(left, by, right) => left.of(column)?.combined(*by, right.of(column)?),
        }
    }

    fn sql(&self, column: &str) -> String {
        match self {
            Term::Column => column.to_owned(),
            Term::Written(text) => (*text).to_owned(),
            Term::Combined(left, by, right) => format!("({} {by} {})", left.sql(column), right.sql(column)),
        }
    }
}

/// Aggregates over all rows that fulfil a condition.
fn totals(
    release: &Release,
    case: &Case,
    kept: &[usize],
    condition: &str,
    rng: &mut StdRng,
    about: &dyn Fn() -> String,
) -> bool {
    let attribute = case.attributes.choose(rng).unwrap();
    let name = attribute.name;
    let present: Vec<&str> =
        kept.iter().map(|&row| attribute.values[row].as_str()).filter(|value| !value.is_empty()).collect();
    let mut different: Vec<&str> = present.clone();
    different.sort_unstable_by(|a, b| compare(attribute.compared, a, b));
    different.dedup_by(|a, b| compare(attribute.compared, a, b).is_eq());
    let mut truths = vec![
        ("COUNT(*)".to_owned(), kept.len() as f64),
        (format!("COUNT({name})"), present.len() as f64),
        (format!("COUNT(DISTINCT {name})"), different.len() as f64),
    ];
    let masked = attribute.policy.contains("mask");
    if attribute.compared == Compared::Numbers && !present.is_empty() && !masked {
        let numbers: Vec<f64> = present.iter().map(|value| number(value)).collect();
        let sum: f64 = numbers.iter().sum();
        truths.push((format!("SUM({name})"), sum));
        truths.push((format!("AVG({name})"), sum / numbers.len() as f64));
        let is_integer = attribute.policy.contains("type = \"integer\"");
        let column = kept.iter().map(|&row| attribute.values[row].as_str());
        let column: Vec<Option<SqlNumber>> =
            column.map(|value| (!value.is_empty()).then(|| SqlNumber::new(number(value), is_integer))).collect();
        for _ in 0..3 {
            let term = Term::random(rng, 2);
            let values: Vec<f64> = column.iter().filter_map(|value| term.of(*value)).map(SqlNumber::value).collect();
            let sql = term.sql(name);
            truths.push((format!("COUNT({sql})"), values.len() as f64));
            if !values.is_empty() {
                let sum: f64 = values.iter().sum();
                truths.push((format!("SUM({sql})"), sum));
                truths.push((format!("AVG({sql})"), sum / values.len() as f64));
                truths.push((format!("MAX({sql})"), values.iter().copied().fold(f64::NEG_INFINITY, f64::max)));
            }
        }
        let sum_of = if is_integer { SqlNumber::Integer(sum as i64) } else { SqlNumber::Real(sum) };
        if let Some(ratio) = sum_of.combined('/', SqlNumber::Integer(kept.len() as i64)) {
            truths.push((format!("SUM({name}) / COUNT(*)"), ratio.value()));
        }
        truths.push((format!("MIN({name})"), numbers.iter().copied().fold(f64::INFINITY, f64::min)));
        truths.push((format!("MAX({name})"), numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max)));
    }
    let outputs: Vec<&str> = truths.iter().map(|(output, _)| output.as_str()).collect();
    let sql = format!("SELECT {} FROM data WHERE {condition}", outputs.join(", "));
    let Some(found) = answered(release, &sql, about) else { return false };
    for ((output, truth), cell) in truths.iter().zip(&found.lines[0]) {
        let AnswerCell::Estimate(found) = cell else { panic!("{sql}") };
        assert!(within(found, *truth), "{output} is {truth}, and answered {found:?}\n{sql}\n{}", about());
    }
    true
}

/// Groups by a column whose values are released as they are.
fn groups(
    release: &Release,
    case: &Case,
    kept: &[usize],
    condition: &str,
    rng: &mut StdRng,
    (suppressed, about): (bool, &dyn Fn() -> String),
) {
    let plain: Vec<&Attribute> = case.attributes.iter().filter(|attribute| attribute.as_it_is).collect();
    let attribute = plain.choose(rng).unwrap();
    let mut truths: BTreeMap<String, u64> = BTreeMap::new();
    for &row in kept {
        let value = &attribute.values[row];
        let is_number = attribute.compared == Compared::Numbers && !value.is_empty();
        *truths.entry(if is_number { number(value).to_string() } else { value.clone() }).or_default() += 1;
    }
    let least = rng.random_range(0..4u64);
    for having in [None, Some(least)] {
        let clause = having.map_or(String::new(), |least| format!(" HAVING COUNT(*) >= {least}"));
        let name = attribute.name;
        let sql = format!("SELECT {name}, COUNT(*) FROM data WHERE {condition} GROUP BY {name}{clause}");
        let Some(found) = answered(release, &sql, about) else { continue };
        let mut listed = Vec::new();
        for line in &found.lines {
            let [AnswerCell::Label(value), AnswerCell::Estimate(count), rest @ ..] = line.as_slice() else {
                panic!("{sql}")
            };
            let value = value.clone().unwrap_or_default();
            let truth = truths.get(&value).copied().unwrap_or(0);
            assert!(within(count, truth as f64), "{value} has {truth} rows: {count:?}\n{sql}\n{}", about());
            if let (Some(least), [AnswerCell::Label(Some(standing))]) = (having, rest) {
                let is_there = truth >= least.max(1);
                assert!(is_there || standing != "certain", "{value} has {truth} rows: {standing}\n{sql}\n{}", about());
            }
            listed.push(value);
        }
        let is_missing = |(value, rows): (&String, &u64)| *rows >= having.unwrap_or(1) && !listed.contains(value);
        let others = truths.iter().find(|(value, rows)| is_missing((value, rows)));
        let noted = found.notes.iter().any(|note| note.contains("groups"));
        assert!(others.is_none() || noted, "{others:?} is not listed\n{sql}\n{:?}\n{}", found.notes, about());
        assert!(suppressed || !noted, "no row was suppressed: {:?}\n{}", found.notes, about());
    }
}
