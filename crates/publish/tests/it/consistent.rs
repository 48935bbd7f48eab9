//! `consistent = true` against brute force: every node of a small lattice, every person, every row
//! of the class, on texts. And what it is for: the adversary `consistency` finds no one.

use std::collections::BTreeSet;
use std::path::Path;

use hedgerow_audit::impossible::Impossible;
use hedgerow_policy::{ClassLabels, Method, Policy};
use hedgerow_publish::bind::Bound;
use hedgerow_publish::cluster::{self, ImproveLimit, Neighbors, Objective};
use hedgerow_publish::local::Local;
use hedgerow_publish::{PublishError, PublishOptions, Published, RowSource, publish};
use hedgerow_table::{Column, NoProgress, Table};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

fn seeds(count: u64) -> Vec<u64> {
    match std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse().ok()) {
        Some(seed) => vec![seed],
        None => (0..count).collect(),
    }
}

/// Children without incomes, and an illness that only women have.
fn people(seed: u64) -> Table {
    let mut rng = StdRng::seed_from_u64(seed);
    let rows: Vec<[String; 4]> = (0..rng.random_range(60..140))
        .map(|_| {
            let age = rng.random_range(0..60u32);
            let sex = ["f", "m"][rng.random_range(0..2)];
            let income = if age < 18 { String::new() } else { ["low", "high"][rng.random_range(0..2)].to_owned() };
            let illness = match rng.random_range(0..4) {
                0 if sex == "f" => "delivery",
                // In some tables boys and men have one illness alone.
                _ if sex == "m" && seed.is_multiple_of(5) => "flu",
                1 => "cough",
                2 => "",
                _ => "flu",
            };
            [age.to_string(), sex.to_owned(), income, illness.to_owned()]
        })
        .collect();
    let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
    Table::from_texts(&["age", "sex", "income", "illness"], &rows)
}

fn policy(method: &str, k: u64, l: u64, consistent: bool) -> Policy {
    Policy::parse(&policy_text(method, k, l, consistent), Path::new("policy.toml")).unwrap()
}

/// Both guarantees in one rule, which is as much.
fn one_rule(method: &str, k: u64, l: u64, consistent: bool) -> Policy {
    let text = policy_text(method, k, l, consistent);
    let (before, after) = text.split_once("[[rule]]").unwrap();
    let (_, protecting) = after.split_once("[[rule]]").unwrap();
    let both = format!(
        "require = [{{ model = \"k-anonymity\", k = {k} }}, {{ model = \"distinct-l-diversity\", l = {l} }}]\n"
    );
    let alone = format!("require = {{ model = \"distinct-l-diversity\", l = {l} }}\n");
    assert!(protecting.contains(&alone), "{protecting}");
    let text = format!("{before}[[rule]]{}", protecting.replace(&alone, &both));
    Policy::parse(&text, Path::new("policy.toml")).unwrap()
}

fn policy_text(method: &str, k: u64, l: u64, consistent: bool) -> String {
    format!(
        "[source]\npath = \"people.csv\"\n[attributes]\n\
         age = {{ role = \"quasi\", hierarchy = {{ widths = [5, 10, 20, 40] }} }}\nsex = {{ role = \"quasi\" }}\n\
         income = {{ role = \"plain\", allow-unique = true }}\nillness = {{ role = \"sensitive\", allow-unique = true }}\n\
         [[rule]]\nrequire = {{ model = \"k-anonymity\", k = {k} }}\nconsistent = {consistent}\n\
         [[rule]]\nprotect = \"illness\"\nrequire = {{ model = \"distinct-l-diversity\", l = {l} }}\n\
         consistent = {consistent}\n[publish]\nmethod = \"{method}\"\n{}",
        if method == "full-domain" { "loss = \"precision\"\n" } else { "" }
    )
}

/// The rows that fit each person, among those with the same labels.
struct Fitting<'t> {
    table: &'t Table,
    impossible: Impossible,
}

const KNOWN: [&str; 2] = ["age", "sex"];
const SHOWN: [&str; 2] = ["income", "illness"];

impl<'t> Fitting<'t> {
    fn new(table: &'t Table) -> Fitting<'t> {
        let of = |names: [&str; 2]| names.map(|name| table.column(name).unwrap());
        Fitting { table, impossible: Impossible::new(&of(KNOWN), &of(SHOWN)) }
    }

    fn code(&self, name: &str, row: usize) -> u32 {
        self.table.column(name).unwrap().codes.get(row)
    }

    fn fits(&self, person: usize, row: usize) -> bool {
        let mut pairs = (0..2).flat_map(|known| (0..2).map(move |shown| (known, shown)));
        !pairs.any(|(known, shown)| {
            let (code, value) = (self.code(KNOWN[known], person), self.code(SHOWN[shown], row));
            self.impossible.excludes(known, code, shown, value)
        })
    }

    /// Whether k rows and l values, and l among the known ones, fit every person.
    fn holds(&self, labels: &[[String; 2]], k: usize, l: usize) -> bool {
        let text = |row: usize| self.table.column("illness").unwrap().text(row);
        let enough = |rows: &[usize], open: usize| {
            let all: BTreeSet<String> = rows.iter().map(|&row| text(row)).collect();
            let known = all.iter().filter(|text| !text.is_empty()).count();
            rows.len() >= k && ((all.len() >= l && (known == 0 || known >= l)) || all.len() >= open)
        };
        let illness = self.table.column("illness").unwrap();
        // The illnesses that a person can have, whatever is released.
        let open = |person: usize| {
            let excluded = |value: u32| {
                (0..2).any(|known| self.impossible.excludes(known, self.code(KNOWN[known], person), 1, value))
            };
            (0..illness.domain.cardinality() as u32).filter(|&value| !excluded(value)).count()
        };
        (0..labels.len()).all(|person| {
            let class: Vec<usize> = (0..labels.len()).filter(|&row| labels[row] == labels[person]).collect();
            let fitting: Vec<usize> = class.iter().copied().filter(|&row| self.fits(person, row)).collect();
            let all_fit = class.len() == fitting.len();
            enough(&class, usize::MAX) && (all_fit || (enough(&fitting, open(person)) && fitting.len() >= 2))
        })
    }
}

fn published(policy: &Policy, table: &Table, folder: &Path) -> Result<Published, PublishError> {
    let destination = folder.join("release");
    let _ = std::fs::remove_dir_all(&destination);
    publish(policy, RowSource::Table(table), &PublishOptions { seed: Some(3), ..PublishOptions::to(destination) })
}

#[test]
fn the_search_finds_the_least_loss_at_which_enough_rows_fit_everyone() {
    let folder = tempfile::tempdir().unwrap();
    let (mut held, mut coarser, mut none) = (0, 0, 0);
    for seed in seeds(120) {
        let table = people(seed);
        let (k, l) = (2 + seed % 4, 1 + seed % 3);
        let fitting = Fitting::new(&table);
        // Whom combinations leave one value is still to be among k rows.
        let made = if seed.is_multiple_of(2) { policy } else { one_rule };
        let policy_of = |consistent| made("full-domain", k, l, consistent);
        let with = policy_of(true);
        let bound = Bound::new(&with, &table).unwrap();
        let hierarchies = bound.hierarchies();
        let mut best: Option<f64> = None;
        for age in 0..=hierarchies[0].top() {
            for sex in 0..=hierarchies[1].top() {
                let labels: Vec<[String; 2]> = (0..table.rows)
                    .map(|row| {
                        [0, 1].map(|index| {
                            let level = &hierarchies[index].levels()[[age, sex][index]];
                            let column: &Column = table.column(KNOWN[index]).unwrap();
                            level.labels[level.map[column.codes.get(row) as usize] as usize].text.clone()
                        })
                    })
                    .collect();
                if fitting.holds(&labels, k as usize, l as usize) {
                    let tops = [hierarchies[0].top(), hierarchies[1].top()];
                    let loss = (age as f64 / tops[0] as f64 + sex as f64 / tops[1] as f64) / 2.0;
                    best = Some(best.map_or(loss, |best: f64| best.min(loss)));
                }
            }
        }
        let found = published(&with, &table, folder.path());
        let Some(best) = best else {
            assert!(matches!(found, Err(PublishError::Unsatisfiable(_))), "seed {seed}");
            none += 1;
            continue;
        };
        held += 1;
        let found = found.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let loss = |published: &Published| published.losses["precision"].as_f64().unwrap();
        assert!((loss(&found) - best).abs() < 1e-9, "seed {seed}: {} for {best}", loss(&found));
        let without = published(&policy_of(false), &table, folder.path()).unwrap();
        coarser += usize::from(loss(&without) < loss(&found) - 1e-9);
    }
    assert!(held > 60 && coarser > 20, "{held} held, {coarser} coarser than without, {none} without a release");
}

#[test]
fn classes_of_neighbors_leave_enough_rows_that_fit() {
    let (mut held, mut exposed_without) = (0, 0);
    for seed in seeds(100) {
        let table = people(seed);
        let (k, l) = (2 + seed % 4, 1 + seed % 2);
        let fitting = Fitting::new(&table);
        let labels = |consistent: bool| -> Option<Vec<[String; 2]>> {
            let policy = policy("cluster", k, l, consistent);
            let bound = Bound::new(&policy, &table).unwrap();
            let local = Local { method: Method::Cluster, strict: true, tight: false };
            let limit = ImproveLimit::by_default(ClassLabels::Set);
            let neighbors = Neighbors { anew: true, labels: ClassLabels::Set, objective: Objective::of(None)?, limit };
            let found = cluster::recode(&bound, &bound.judge().unwrap(), local, neighbors, &NoProgress).ok()?;
            let columns = found.columns();
            let text =
                |index: usize, row: usize| found.cells[index].labels[columns[index].get(row) as usize].text.clone();
            Some((0..table.rows).map(|row| [0, 1].map(|index| text(index, row))).collect())
        };
        let Some(with) = labels(true) else { continue };
        held += 1;
        assert!(fitting.holds(&with, k as usize, l as usize), "seed {seed}");
        exposed_without += usize::from(!fitting.holds(&labels(false).unwrap(), k as usize, l as usize));
    }
    assert!(held > 50 && exposed_without > 20, "{held} held, {exposed_without} exposed without");
}

/// The people, each with up to three rows of one age and sex, and a number for each row, by which
/// it is known again in the release.
fn with_units(seed: u64) -> (Table, Vec<usize>) {
    let own = people(seed);
    let mut rng = StdRng::seed_from_u64(seed + 1000);
    let text = |name: &str, row: usize| own.column(name).unwrap().text(row);
    let (mut rows, mut of_unit): (Vec<Vec<String>>, Vec<usize>) = (Vec::new(), Vec::new());
    for unit in 0..own.rows {
        for _ in 0..rng.random_range(1..4) {
            // What is confidential is that of someone with the same age and sex.
            let like = |row: &usize| ["age", "sex"].iter().all(|name| text(name, *row) == text(name, unit));
            let alike: Vec<usize> = (0..own.rows).filter(like).collect();
            let other = alike[rng.random_range(0..alike.len())];
            let cells = [("age", unit), ("sex", unit), ("income", other), ("illness", other)];
            let mut row: Vec<String> = cells.iter().map(|(name, row)| text(name, *row).to_string()).collect();
            row.extend([format!("u{unit}"), format!("r{}", rows.len())]);
            rows.push(row);
            of_unit.push(unit);
        }
    }
    let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
    (Table::from_texts(&["age", "sex", "income", "illness", "unit", "row"], &rows), of_unit)
}

fn unit_policy(k: u64, l: u64, consistent: bool, link: bool) -> Policy {
    let text = policy_text("cluster", k, l, consistent);
    let columns = "unit = { role = \"unit\" }\nrow = { role = \"plain\", allow-unique = true }\n[[rule]]";
    let text = text.replacen("[[rule]]", columns, 1) + "suppression = 0.9\n" + if link { "link = true\n" } else { "" };
    Policy::parse(&text, Path::new("policy.toml")).unwrap()
}

/// For how many released rows too few units, or too few values, are left among the rows that fit.
fn exposed(table: &Table, of_unit: &[usize], release: &Path, k: usize, l: usize) -> usize {
    let fitting = Fitting::new(table);
    let illness = table.column("illness").unwrap();
    let released = std::fs::read_to_string(release.join("data.csv")).unwrap();
    let mut lines = released.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let place = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let rows: Vec<(usize, [&str; 2])> = lines
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            (cells[place("row")][1..].parse().unwrap(), KNOWN.map(|name| cells[place(name)]))
        })
        .collect();
    let is_exposed = |&(person, labels): &(usize, [&str; 2])| {
        let class = rows.iter().filter(|(_, other)| *other == labels).map(|(row, _)| *row);
        let left: Vec<usize> = class.filter(|&row| fitting.fits(person, row)).collect();
        let units: BTreeSet<usize> = left.iter().map(|&row| of_unit[row]).collect();
        let values: BTreeSet<u32> = left.iter().map(|&row| illness.codes.get(row)).collect();
        let open = (0..illness.domain.cardinality() as u32).filter(|&value| {
            !(0..2).any(|known| fitting.impossible.excludes(known, fitting.code(KNOWN[known], person), 1, value))
        });
        units.len() < k || values.len() < l.min(open.count())
    };
    rows.iter().filter(|row| is_exposed(row)).count()
}

#[test]
fn classes_of_units_leave_enough_units_that_fit() {
    let folder = tempfile::tempdir().unwrap();
    let (mut held, mut exposed_without) = (0, 0);
    for seed in seeds(60) {
        let (table, of_unit) = with_units(seed);
        let (k, l) = (2 + seed % 3, 1 + seed % 2);
        let release = folder.path().join("release");
        let count = || exposed(&table, &of_unit, &release, k as usize, l as usize);
        let Ok(found) = published(&unit_policy(k, l, true, false), &table, folder.path()) else { continue };
        held += 1;
        assert_eq!(count(), 0, "seed {seed}");
        assert!(found.rows.out > 0, "seed {seed}");
        published(&unit_policy(k, l, false, false), &table, folder.path()).unwrap();
        exposed_without += usize::from(count() > 0);
    }
    assert!(held > 30 && exposed_without > 15, "{held} held, {exposed_without} exposed without");
}

#[test]
fn methods_that_do_not_keep_consistent_over_units_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let (table, _) = with_units(1);
    let refused = |policy: Policy, why: &str| {
        let error = published(&policy, &table, folder.path()).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    };
    let mut other = unit_policy(2, 1, true, false);
    other.publish.method = Method::FullDomain;
    refused(other, "`consistent` over units is kept by cluster, not by full-domain");
    refused(unit_policy(2, 1, true, true), "`consistent` does not count units that `link` shows");
    let text = policy_text("cluster", 2, 1, true).replace(
        "require = { model = \"distinct-l-diversity\", l = 1 }",
        "require = { model = \"frequency-l-diversity\", l = 1 }",
    );
    let text = text.replacen("[[rule]]", "unit = { role = \"unit\" }\n[[rule]]", 1);
    let close = Policy::parse(&text, Path::new("policy.toml")).unwrap();
    refused(close, "k-anonymity and distinct-l-diversity, not for frequency-l-diversity");
}

#[test]
fn other_methods_say_that_they_do_not_keep_it() {
    let folder = tempfile::tempdir().unwrap();
    let table = people(1);
    for method in ["mondrian", "best-cut"] {
        let error = published(&policy(method, 2, 1, true), &table, folder.path()).unwrap_err().to_string();
        assert!(error.contains("`consistent` is kept by full-domain and cluster, not by"), "{method}: {error}");
    }
}
