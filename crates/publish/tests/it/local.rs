//! Local recoding against brute force: random small tables under random policies; what is released
//! is judged on texts, from the codebook's covers and the definitions, in other data structures
//! than the recoders use.
//!
//! A failure prints its seed; `HEDGEROW_SEED=… cargo test -p hedgerow-publish local` replays that
//! case alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use hedgerow_policy::{Method, Policy, Rule};
use hedgerow_privacy::OnMerge;
use hedgerow_publish::PublishError;
use hedgerow_publish::bind::Bound;
use hedgerow_publish::local::{Local, LocalRecoding, recode};
use hedgerow_table::progress::NoProgress;
use hedgerow_table::{Bound as Point, Cover, HierarchySpec, Kind, Label, Table};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::oracle::Oracle;
use crate::random_case::{Case, random_case};

const CASES: u64 = 3000;

#[test]
fn local_recodings_keep_what_they_promise() {
    if let Some(seed) = std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse().ok()) {
        check_case(seed);
        return;
    }
    let found = (0..CASES).filter(|&seed| check_case(seed)).count();
    assert!(found > CASES as usize / 3, "only {found} cases had a release");
}

fn how(seed: u64) -> Local {
    let method = if seed.is_multiple_of(2) { Method::Mondrian } else { Method::BestCut };
    Local { method, strict: !(seed / 2).is_multiple_of(3), tight: (seed / 2).is_multiple_of(5) }
}

fn check_case(seed: u64) -> bool {
    let case = random_case(seed);
    let Case { table, policy, .. } = &case;
    let local = how(seed);
    let context = || format!("seed {seed}, {local:?}\n{:#?}", policy.rules);
    let bound = Bound::with_earlier(policy, table, case.earlier.clone())
        .unwrap_or_else(|error| panic!("{error}\n{}", context()));
    let judge = bound.judge().unwrap();
    let found = recode(&bound, &judge, local, &NoProgress);
    let seen = Seen { case: &case, oracle: Oracle::new(&case, bound.hierarchies()), bound: &bound };
    let all_rows: Vec<usize> = (0..table.rows).collect();
    let found = match found {
        Ok(found) => found,
        Err(PublishError::Unsatisfiable(why)) => {
            if judge.on_merge() == OnMerge::Neither && why.summary.contains("sees several classes as one") {
                return false;
            }
            let whole_holds = policy.rules.iter().all(|rule| seen.holds(rule, &all_rows));
            assert!(!whole_holds, "one class of all rows would do\n{why}\n{}", context());
            return false;
        }
        Err(error) => panic!("{error}\n{}", context()),
    };
    seen.check_cells(&found, &context);
    seen.check_rules(&found, &context);
    seen.check_loss(&found, &context);
    if local.tight {
        seen.check_sets(&found, false, &context);
    }
    if local.method == Method::Mondrian && local.strict {
        if !local.tight {
            seen.check_space(&found, &context);
        }
        seen.check_no_cut_is_left(&found, &context);
    }
    true
}

/// A recoding as its readers see it.
pub(crate) struct Seen<'a> {
    pub(crate) case: &'a Case,
    pub(crate) oracle: Oracle<'a>,
    pub(crate) bound: &'a Bound<'a>,
}

impl Seen<'_> {
    pub(crate) fn label<'f>(&self, found: &'f LocalRecoding, attribute: usize, row: usize) -> &'f Label {
        let cells = &found.cells[attribute];
        &cells.labels[cells.of_class[found.of_row[row] as usize] as usize]
    }

    fn labels<'f>(&self, found: &'f LocalRecoding, class: usize) -> Vec<&'f Label> {
        found.cells.iter().map(|cells| &cells.labels[cells.of_class[class] as usize]).collect()
    }

    fn text(&self, attribute: usize, row: usize) -> String {
        self.bound.quasi[attribute].column.text(row)
    }

    /// Whether a rule holds for rows that agree on all quasi attributes it knows.
    pub(crate) fn holds(&self, rule: &Rule, rows: &[usize]) -> bool {
        let all: Vec<usize> = (0..self.case.table.rows).collect();
        let plain: Vec<&String> = rule
            .know
            .iter()
            .filter(|name| self.bound.quasi.iter().all(|quasi| quasi.attribute.name != **name))
            .collect();
        let mut groups: BTreeMap<Vec<String>, Vec<usize>> = BTreeMap::new();
        for &row in rows {
            let key = plain.iter().map(|name| self.case.table.column(name).unwrap().text(row)).collect();
            groups.entry(key).or_default().push(row);
        }
        groups.values().all(|rows| self.oracle.rule_holds(rule, rows, &all))
    }

    /// The codes of an attribute's domain that a label covers.
    pub(crate) fn covered(&self, attribute: usize, cover: &Cover) -> BTreeSet<u32> {
        let domain = &self.bound.quasi[attribute].column.domain;
        (0..domain.cardinality() as u32).filter(|&code| covers(cover, &domain.text(code))).collect()
    }

    pub(crate) fn check_cells(&self, found: &LocalRecoding, context: &dyn Fn() -> String) {
        let rows = self.case.table.rows;
        assert_eq!(found.of_row.len(), rows, "{}", context());
        let mut sizes = vec![0u64; found.sizes.len()];
        found.of_row.iter().for_each(|&class| sizes[class as usize] += 1);
        assert_eq!(sizes, found.sizes, "{}", context());
        for (attribute, cells) in found.cells.iter().enumerate() {
            let texts: BTreeSet<&String> = cells.labels.iter().map(|label| &label.text).collect();
            assert_eq!(texts.len(), cells.labels.len(), "a label with two covers, {}", context());
            for row in 0..rows {
                let (label, text) = (self.label(found, attribute, row), self.text(attribute, row));
                assert!(covers(&label.cover, &text), "{label:?} does not cover {text:?}, {}", context());
            }
        }
        let classes: BTreeSet<Vec<u32>> =
            (0..sizes.len()).map(|class| found.cells.iter().map(|cells| cells.of_class[class]).collect()).collect();
        assert_eq!(classes.len(), sizes.len(), "two classes with the same cells, {}", context());
    }

    /// A category is released with the values that occur in its class, and no others; in cuts where
    /// it has neither a hierarchy nor an order.
    pub(crate) fn check_sets(&self, found: &LocalRecoding, all: bool, context: &dyn Fn() -> String) {
        for (attribute, quasi) in self.bound.quasi.iter().enumerate() {
            let cut = quasi.attribute.hierarchy.is_some() || quasi.attribute.declared.order.is_some();
            if quasi.column.domain.kind() != Kind::Category || (cut && !all) {
                continue;
            }
            let cells = &found.cells[attribute];
            let mut occurring: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
            for (row, &class) in found.of_row.iter().enumerate() {
                let label = cells.of_class[class as usize];
                occurring.entry(label).or_default().insert(quasi.column.codes.get(row));
            }
            for (label, codes) in occurring {
                let label = &cells.labels[label as usize];
                assert_eq!(self.covered(attribute, &label.cover), codes, "{label:?}, {}", context());
            }
        }
    }

    pub(crate) fn check_rules(&self, found: &LocalRecoding, context: &dyn Fn() -> String) {
        let all: Vec<usize> = (0..self.case.table.rows).collect();
        for rule in &self.case.policy.rules {
            let mut classes: BTreeMap<Vec<String>, Vec<usize>> = BTreeMap::new();
            for row in 0..self.case.table.rows {
                let cell = |name: &String| {
                    let quasi = self.bound.quasi.iter().position(|quasi| quasi.attribute.name == *name);
                    match quasi {
                        Some(attribute) => self.label(found, attribute, row).text.clone(),
                        None => self.case.table.column(name).unwrap().text(row),
                    }
                };
                classes.entry(rule.know.iter().map(cell).collect()).or_default().push(row);
            }
            for (cells, rows) in &classes {
                assert!(self.oracle.rule_holds(rule, rows, &all), "{cells:?} breaks {rule:?}, {}", context());
            }
        }
    }

    pub(crate) fn check_loss(&self, found: &LocalRecoding, context: &dyn Fn() -> String) {
        let mut sum = 0.0;
        for attribute in 0..found.cells.len() {
            sum += (0..self.case.table.rows)
                .map(|row| self.penalty(attribute, &self.label(found, attribute, row).cover))
                .sum::<f64>();
        }
        let ncp = sum / self.case.table.rows as f64 / found.cells.len() as f64;
        assert!((ncp - found.ncp()).abs() < 1e-9, "ncp is {ncp}, reported {}, {}", found.ncp(), context());
        let (granularity, entropy) = self.values_and_bits(found);
        assert!((granularity - found.granularity()).abs() < 1e-9, "granularity is {granularity}, {}", context());
        assert!((entropy - found.entropy()).abs() < 1e-9, "entropy is {entropy}, {}", context());
    }

    /// Granularity and entropy, cell by cell from what the labels cover.
    fn values_and_bits(&self, found: &LocalRecoding) -> (f64, f64) {
        let (mut granularity, mut entropy) = (0.0, 0.0);
        for attribute in 0..found.cells.len() {
            let column = self.bound.quasi[attribute].column;
            let values = column.domain.cardinality();
            let rows_with = |code: u32| column.codes.iter().filter(|&other| other == code).count() as f64;
            let (mut covered, mut left, mut all) = (0.0, 0.0, 0.0);
            for row in 0..self.case.table.rows {
                let label = self.label(found, attribute, row);
                let codes = self.covered(attribute, &label.cover);
                let own = rows_with(column.codes.get(row));
                covered += (codes.len() - 1) as f64 / (values - 1).max(1) as f64;
                left += (codes.iter().map(|&code| rows_with(code)).sum::<f64>() / own).log2();
                all += (self.case.table.rows as f64 / own).log2();
            }
            granularity += covered / self.case.table.rows as f64;
            entropy += if all > 0.0 { left / all } else { 0.0 };
        }
        (granularity / found.cells.len() as f64, entropy / found.cells.len() as f64)
    }

    fn penalty(&self, attribute: usize, cover: &Cover) -> f64 {
        let domain = &self.bound.quasi[attribute].column.domain;
        let step = if domain.kind() == Kind::Float { 0.0 } else { 1.0 };
        match cover {
            Cover::Everything => 1.0,
            Cover::Missing | Cover::Point(_) => 0.0,
            Cover::Leaves(leaves) => match self.covered(attribute, cover).len() {
                1 if leaves.len() == 1 => 0.0,
                codes => codes as f64 / domain.cardinality() as f64,
            },
            Cover::Interval { low, high } => {
                let (first, last) = (domain.number(0).unwrap(), domain.number(domain.present() as u32 - 1).unwrap());
                let from = low.map_or(first, |low| place(low).max(first));
                let to = high.map_or(last, |high| (place(high) - step).min(last));
                if last > first { (to - from) / (last - first) } else { 0.0 }
            }
        }
    }

    /// Regions of strict cuts are disjoint. They leave no value out, but for children of a
    /// hierarchy's empty node, and for the missing value where no value is missing.
    fn check_space(&self, found: &LocalRecoding, context: &dyn Fn() -> String) {
        let covered: Vec<Vec<BTreeSet<u32>>> = found
            .cells
            .iter()
            .enumerate()
            .map(|(attribute, cells)| cells.labels.iter().map(|label| self.covered(attribute, &label.cover)).collect())
            .collect();
        let region = |class: usize| -> Vec<&BTreeSet<u32>> {
            let cells = found.cells.iter().zip(&covered);
            cells.map(|(cells, covered)| &covered[cells.of_class[class] as usize]).collect()
        };
        // "not missing" can only be released as everything.
        let has_label = |class: usize| {
            found.cells.iter().all(|cells| cells.labels[cells.of_class[class] as usize].text != "not missing")
        };
        let classes: Vec<usize> = (0..found.sizes.len()).filter(|&class| has_label(class)).collect();
        for (index, &one) in classes.iter().enumerate() {
            for &other in &classes[..index] {
                let apart = region(one).iter().zip(region(other)).any(|(one, other)| one.is_disjoint(other));
                assert!(
                    apart,
                    "{:?} and {:?} overlap, {}",
                    self.labels(found, one),
                    self.labels(found, other),
                    context()
                );
            }
        }
        let quasi = &self.bound.quasi;
        // Nodes and sets of categories are narrowed to the rows inside.
        let narrowed = quasi.iter().any(|quasi| quasi.column.domain.kind() == Kind::Category);
        let missing = quasi.iter().any(|quasi| {
            let domain = &quasi.column.domain;
            domain.kind() != Kind::Category && domain.missing_code().is_some()
        });
        if !narrowed && !missing {
            let volume: usize =
                classes.iter().map(|&class| region(class).iter().map(|codes| codes.len()).product::<usize>()).sum();
            let space: usize = quasi.iter().map(|quasi| quasi.column.domain.cardinality()).product();
            assert_eq!(volume, space, "the regions leave a gap, {}", context());
        }
    }

    /// No class could be cut at its median, along its hierarchy, or into missing and present,
    /// without breaking a rule.
    fn check_no_cut_is_left(&self, found: &LocalRecoding, context: &dyn Fn() -> String) {
        let cuts = |rule: &&Rule| {
            rule.know.iter().any(|name| self.bound.quasi.iter().any(|quasi| quasi.attribute.name == *name))
        };
        let rules: Vec<&Rule> = self.case.policy.rules.iter().filter(cuts).collect();
        for class in 0..found.sizes.len() {
            let rows: Vec<usize> =
                (0..self.case.table.rows).filter(|&row| found.of_row[row] as usize == class).collect();
            for attribute in 0..found.cells.len() {
                for parts in self.median_cuts(attribute, &rows) {
                    let allowed = parts.iter().all(|rows| rules.iter().all(|rule| self.holds(rule, rows)));
                    assert!(!allowed, "class {class} could be cut along {attribute} into {parts:?}, {}", context());
                }
            }
        }
    }

    fn median_cuts(&self, attribute: usize, rows: &[usize]) -> Vec<Vec<Vec<usize>>> {
        let quasi = &self.bound.quasi[attribute];
        let (domain, codes) = (&quasi.column.domain, &quasi.column.codes);
        let group = |key: &dyn Fn(u32) -> u32| -> Option<Vec<Vec<usize>>> {
            let mut parts: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
            rows.iter().for_each(|&row| parts.entry(key(codes.get(row))).or_default().push(row));
            (parts.len() > 1).then(|| parts.into_values().collect())
        };
        // Numbers are cut on their line, whatever a file groups them into.
        let grouped = matches!(quasi.attribute.hierarchy, Some((HierarchySpec::Mask(_) | HierarchySpec::File(_), _)));
        if grouped && domain.kind() == Kind::Category {
            let levels = quasi.hierarchy.levels().iter().rev();
            return levels
                .map(|level| group(&|code| level.map[code as usize]))
                .find(Option::is_some)
                .into_iter()
                .flatten()
                .collect();
        }
        let missing = domain.missing_code();
        if domain.kind() != Kind::Category
            && let Some(parts) = group(&|code| u32::from(Some(code) == missing))
        {
            return vec![parts];
        }
        // Categories without a hierarchy: the most frequent value of the table comes first.
        let mut order: Vec<u32> = (0..domain.cardinality() as u32).collect();
        if domain.kind() == Kind::Category {
            order.sort_by_key(|&code| std::cmp::Reverse(codes.iter().filter(|&other| other == code).count()));
        }
        let rank = |code: u32| order.iter().position(|&other| other == code).unwrap();
        let mut sorted: Vec<usize> = rows.iter().map(|&row| rank(codes.get(row))).collect();
        sorted.sort_unstable();
        let median = sorted[sorted.len().div_ceil(2) - 1];
        [group(&|code| u32::from(rank(code) > median)), group(&|code| u32::from(rank(code) >= median))]
            .into_iter()
            .flatten()
            .collect()
    }
}

fn place(point: Point) -> f64 {
    match point {
        Point::Integer(value) => value as f64,
        Point::Float(value) => value,
        Point::Date(date) => f64::from(date.0),
    }
}

fn covers(cover: &Cover, text: &str) -> bool {
    let value = || Point::parse(text);
    match cover {
        Cover::Everything => true,
        Cover::Missing => text.is_empty(),
        Cover::Point(point) => value() == Some(*point),
        Cover::Interval { low, high } => {
            value().is_some_and(|value| low.is_none_or(|low| low <= value) && high.is_none_or(|high| value < high))
        }
        Cover::Leaves(leaves) => leaves.iter().any(|leaf| {
            leaf.chars().count() == text.chars().count()
                && leaf.chars().zip(text.chars()).all(|(wanted, found)| wanted == '*' || wanted == found)
        }),
    }
}

/// Large enough for several threads to have work.
#[test]
fn the_classes_do_not_depend_on_the_number_of_threads() {
    let mut rng = StdRng::seed_from_u64(11);
    let texts: Vec<[String; 4]> = (0..50_000)
        .map(|_| {
            let (age, zip) = (rng.random_range(0..90u32), rng.random_range(100..900u32));
            [age.to_string(), format!("z{zip}"), (age / 30).to_string(), format!("d{}", rng.random_range(0..9u32))]
        })
        .collect();
    let rows: Vec<Vec<&str>> = texts.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
    let table = Table::from_texts(&["age", "zip", "stage", "disease"], &rows);
    let policy = "[source]\npath = \"table.csv\"\n[attributes]\nage = { role = \"quasi\" }\n\
        zip = { role = \"quasi\", hierarchy = { mask = 3 } }\nstage = { role = \"quasi\" }\n\
        disease = { role = \"sensitive\" }\n[[rule]]\nprotect = \"disease\"\n\
        require = [{ model = \"k-anonymity\", k = 5 }, { model = \"distinct-l-diversity\", l = 3 }]\n";
    let policy = Policy::parse(policy, Path::new("policy.toml")).unwrap();
    let bound = Bound::new(&policy, &table).unwrap();
    let judge = bound.judge().unwrap();
    for seed in [0, 1, 2, 3] {
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| recode(&bound, &judge, Local { strict: seed != 2, ..how(seed) }, &NoProgress).unwrap())
        };
        let (alone, together) = (run(1), run(3));
        assert!(alone.sizes.len() > 1000, "{} classes", alone.sizes.len());
        assert_eq!(alone.of_row, together.of_row);
        let labels = |found: &LocalRecoding| found.cells.iter().map(|cells| cells.labels.clone()).collect::<Vec<_>>();
        assert_eq!(labels(&alone), labels(&together));
    }
}

/// Salaries 40, 60 and 50, 80 keep their distance in two classes, and not together, as an
/// adversary who does not know `b` sees them.
#[test]
fn a_guarantee_that_does_not_survive_merging_is_judged_as_readers_see_it() {
    let rows: Vec<Vec<&str>> = ["0,0,40", "0,0,60", "0,1,50", "0,1,80", "1,0,200", "1,0,300", "1,1,400", "1,1,500"]
        .map(|row| row.split(',').collect())
        .to_vec();
    let table = Table::from_texts(&["a", "b", "salary"], &rows);
    let recoded = |know: &str| {
        let text = format!(
            "[source]\npath = \"t.csv\"\n[attributes]\na = {{ role = \"quasi\" }}\nb = {{ role = \"quasi\" }}\n\
             salary = {{ role = \"sensitive\" }}\n[[rule]]\n{know}protect = \"salary\"\n\
             require = {{ model = \"delta-l-diversity\", delta = 7.5, l = 2, reading = \"pairwise\" }}\n"
        );
        let policy = Policy::parse(&text, Path::new("policy.toml")).unwrap();
        let bound = Bound::new(&policy, &table).unwrap();
        let local = Local { method: Method::Mondrian, strict: true, tight: false };
        recode(&bound, &bound.judge().unwrap(), local, &NoProgress).map(|found| found.sizes)
    };
    assert_eq!(recoded("").unwrap(), [2; 4]);
    let why = recoded("know = [\"a\"]\n").unwrap_err().to_string();
    assert!(why.contains("sees several classes as one") && why.contains("breaks for 4 rows"), "{why}");
}

/// Tables in which there is little to divide, or nothing.
#[test]
fn degenerate_tables() {
    let policy = |k: u64| {
        let text = format!(
            "[source]\npath = \"t.csv\"\n[attributes]\nage = {{ role = \"quasi\" }}\n\
             zip = {{ role = \"quasi\", hierarchy = {{ mask = 2 }} }}\nd = {{ role = \"sensitive\" }}\n[[rule]]\n\
             protect = \"d\"\nrequire = {{ model = \"k-anonymity\", k = {k} }}\n"
        );
        Policy::parse(&text, Path::new("policy.toml")).unwrap()
    };
    let classes = |rows: &[[&str; 3]], k: u64, method: Method| {
        let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.to_vec()).collect();
        let (table, policy) = (Table::from_texts(&["age", "zip", "d"], &rows), policy(k));
        let bound = Bound::new(&policy, &table).unwrap();
        let judge = bound.judge().unwrap();
        let found = recode(&bound, &judge, Local { method, strict: true, tight: false }, &NoProgress).ok()?;
        let released = |row: usize| {
            let cells = found.cells.iter();
            let texts =
                cells.map(|cells| cells.labels[cells.of_class[found.of_row[row] as usize] as usize].text.clone());
            texts.collect::<Vec<_>>().join("|")
        };
        Some((0..table.rows).map(released).collect::<Vec<_>>())
    };
    for method in [Method::Mondrian, Method::BestCut] {
        let classes = |rows: &[[&str; 3]], k: u64| classes(rows, k, method);
        let equal = [["30", "ab", "x"]; 4];
        assert_eq!(classes(&equal, 2).unwrap(), ["30|ab"; 4], "all rows equal: released as they are");
        assert_eq!(classes(&equal, 5), None, "k larger than the table");
        assert_eq!(classes(&[["30", "ab", "x"], ["40", "ac", "x"]], 2).unwrap(), ["*|a*"; 2], "k is the table");
        let apart = classes(&[["30", "ab", "x"], ["40", "ac", "x"]], 1).unwrap();
        assert_eq!(apart, if method == Method::Mondrian { ["<40|ab", "40+|ac"] } else { ["*|ab", "*|ac"] });
        assert_eq!(classes(&[["", "", ""]; 3], 2).unwrap(), ["|"; 3], "all cells missing");
        let some_missing = [["", "ab", ""], ["", "ab", ""], ["5", "ab", "x"], ["7", "ab", "x"]];
        assert_eq!(classes(&some_missing, 2).unwrap(), ["|ab", "|ab", "not missing|ab", "not missing|ab"]);
        assert_eq!(classes(&some_missing[1..], 2).unwrap(), ["*|ab"; 3], "one missing value cannot stand alone");
    }
}

/// Severities as hospitals have them: without a hierarchy, cut by the alphabet, four missing values
/// would be united with the most frequent value.
#[test]
fn a_few_missing_values_cost_frequent_categories_nothing() {
    let severities = [("Moderate", 160), ("Minor", 140), ("Major", 72), ("Extreme", 24), ("", 4)];
    let mut rows: Vec<[String; 2]> = Vec::new();
    for (severity, count) in severities {
        rows.extend((0..count).map(|number| [(20 + number * 13 % 60).to_string(), severity.to_owned()]));
    }
    let cells: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
    let table = Table::from_texts(&["age", "severity"], &cells);
    let recoded = |more: &str| {
        let text = format!(
            "[source]\npath = \"people.csv\"\n[attributes]\nage = {{ role = \"quasi\" }}\nseverity = {{ role = \"quasi\"{more} }}\n\
             [[rule]]\nrequire = {{ model = \"k-anonymity\", k = 5 }}\n[publish]\nmethod = \"mondrian\"\n"
        );
        let policy = Policy::parse(&text, Path::new("policy.toml")).unwrap_or_else(|errors| panic!("{errors}"));
        let bound = Bound::new(&policy, &table).unwrap();
        let local = Local { method: Method::Mondrian, strict: true, tight: false };
        let found = recode(&bound, &bound.judge().unwrap(), local, &NoProgress).unwrap();
        let label = |row: usize| {
            found.cells[1].labels[found.cells[1].of_class[found.of_row[row] as usize] as usize].text.clone()
        };
        (0..table.rows).map(label).collect::<Vec<String>>()
    };
    let labels = recoded("");
    let with_missing = labels.iter().filter(|label| label.contains("missing") || *label == "*").count();
    // Four classes of fewer than twice k rows.
    assert!((4..=36).contains(&with_missing), "{with_missing} rows share a cell with four missing values: {labels:?}");
    let exact = labels.iter().zip(&rows).filter(|(label, row)| **label == row[1] && row[1] == "Moderate").count();
    assert!(exact > 120, "only {exact} of 160 keep `Moderate`");
    assert!(
        labels.iter().all(|label| !label.contains(" to ")),
        "categories without an order have no ranges: {labels:?}"
    );
    let ordered = recoded(", order = [\"Minor\", \"Moderate\", \"Major\", \"Extreme\"]");
    let ranges: BTreeSet<&String> = ordered.iter().filter(|label| label.contains(" to ")).collect();
    let allowed =
        ["Minor to Moderate", "Moderate to Major", "Major to Extreme", "Minor to Major", "Moderate to Extreme"];
    assert!(ranges.iter().all(|label| allowed.iter().any(|range| label.starts_with(range))), "{ranges:?}");
}
