//! Units against brute force: random small tables in which units have several rows, every node of
//! the lattice judged from the definitions, on texts and sets.
//!
//! A guarantee over units holds for every choice of one value for each unit. The search judges an
//! upper bound of these choices; here all of them are enumerated, and whatever the bound lets pass
//! must hold for each.
//!
//! A failure prints its seed; `HEDGEROW_SEED=… cargo test -p hedgerow-publish units` replays that
//! case alone. `HEDGEROW_UNIT_CASES` sets how many are tried.

mod judgment;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use hedgerow_policy::{KnownRows, Method, Policy, Rule};
use hedgerow_privacy::Model;
use hedgerow_publish::bind::Bound;
use hedgerow_publish::loss::LossModel;
use hedgerow_publish::search::explore::explore;
use hedgerow_publish::search::{Budget, FullDomain, search};
use hedgerow_publish::{PublishOptions, publish};
use hedgerow_release::Release;
use hedgerow_table::read::ReadOptions;
use hedgerow_table::{Hierarchy, Kind, NoProgress, Table};
use hedgerow_verify::release_check::check_release;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

use judgment::holds;

const CASES: u64 = 1000;

struct Case {
    table: Table,
    policy: Policy,
    text: String,
}

/// A policy over a table of up to fourteen rows about up to seven units.
fn random_case(seed: u64) -> Case {
    let mut rng = StdRng::seed_from_u64(seed);
    let units: Vec<usize> = match rng.random_range(0..10) {
        // All rows about one unit, every row about another.
        0 => vec![0; rng.random_range(1..5)],
        1 => (0..rng.random_range(1..8)).collect(),
        _ => {
            let count = rng.random_range(1..8);
            (0..rng.random_range(1..15)).map(|_| rng.random_range(0..count)).collect()
        }
    };
    let values = *[1, 2, 3, 4].choose(&mut rng).unwrap();
    let constant = rng.random_bool(0.4);
    let missing = if rng.random_bool(0.4) { 0.25 } else { 0.0 };
    let of_unit: Vec<String> = (0..8).map(|_| sensitive(&mut rng, values, missing)).collect();
    let two_columns = rng.random_bool(0.2);
    let rows: Vec<Vec<String>> = units
        .iter()
        .map(|&unit| {
            let zip = ["11", "12", "21", "22"].choose(&mut rng).unwrap();
            let sex = ["f", "m", ""].choose(&mut rng).unwrap();
            let ill = if constant { of_unit[unit].clone() } else { sensitive(&mut rng, values, missing) };
            let (patient, site) = if two_columns { (unit / 2, unit % 2) } else { (unit, 0) };
            vec![format!("p{patient}"), format!("s{site}"), (*zip).to_owned(), (*sex).to_owned(), ill]
        })
        .collect();
    let options = ReadOptions { kinds: [("zip".to_owned(), Kind::Category)].into(), ..ReadOptions::default() };
    let records = rows.iter().map(|row| row.iter().map(Some));
    let table = Table::from_records(["patient", "site", "zip", "sex", "ill"], records, &options).unwrap();
    let mut rules = String::new();
    for _ in 0..rng.random_range(1..3) {
        let protects = rng.random_bool(0.6);
        let model = if protects { random_model(&mut rng, constant, missing == 0.0) } else { String::new() };
        let k = format!("{{ model = \"k-anonymity\", k = {} }}", rng.random_range(1..4));
        let require = if protects { [vec![model], vec![k]].concat() } else { vec![k] };
        rules.push_str(&format!("[[rule]]\nrequire = [{}]\n", require.join(", ")));
        if protects {
            rules.push_str("protect = \"ill\"\n");
        }
        if rng.random_bool(0.3) {
            rules.push_str("know = [\"zip\"]\n");
        }
        if rng.random_bool(0.3) {
            rules.push_str("rows = \"one\"\n");
        }
    }
    let site = if two_columns { "unit" } else { "identifier" };
    let link = rng.random_bool(0.4);
    let suppression = ["0", "0.2", "0.5", "1"].choose(&mut rng).unwrap();
    let loss = ["discernibility", "precision"].choose(&mut rng).unwrap();
    let text = format!(
        "[source]\npath = \"table.csv\"\n[attributes]\npatient = {{ role = \"unit\" }}\nsite = {{ role = \"{site}\" }}\n\
         zip = {{ role = \"quasi\", type = \"category\", hierarchy = {{ mask = 2 }} }}\nsex = {{ role = \"quasi\" }}\n\
         ill = {{ role = \"sensitive\", allow-unique = true }}\n{rules}[publish]\nsuppression = {suppression}\nloss = \"{loss}\"\nlink = {link}\n"
    );
    let policy = Policy::parse(&text, Path::new("policy.toml")).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    Case { table, policy, text }
}

fn sensitive(rng: &mut StdRng, values: usize, missing: f64) -> String {
    if rng.random_bool(missing) { String::new() } else { format!("d{}", rng.random_range(0..values)) }
}

fn random_model(rng: &mut StdRng, constant: bool, present: bool) -> String {
    let model = unconditional_model(rng, constant, present);
    let below = rng.random_bool(0.2).then(|| format!(", below = {}", rng.random_range(2..6)));
    let having = (constant && rng.random_bool(0.1)).then(|| ", having = [\"d0\"]".to_owned());
    format!("{}{}{} }}", model.trim_end_matches(" }"), below.unwrap_or_default(), having.unwrap_or_default())
}

fn unconditional_model(rng: &mut StdRng, constant: bool, present: bool) -> String {
    let l = rng.random_range(1..4);
    match rng.random_range(0..if constant { 8 } else { 6 }) {
        0 | 1 => format!("{{ model = \"distinct-l-diversity\", l = {l} }}"),
        2 => format!("{{ model = \"frequency-l-diversity\", l = {} }}", ["1.2", "1.5", "2", "3"].choose(rng).unwrap()),
        3 => format!("{{ model = \"entropy-l-diversity\", l = {} }}", ["1.3", "1.7", "2.1"].choose(rng).unwrap()),
        4 => format!(
            "{{ model = \"recursive-l-diversity\", c = {}, l = {l} }}",
            ["0.7", "2.3", "5.1"].choose(rng).unwrap()
        ),
        5 => {
            // Beside several values of a unit, a missing one is counted against named ones.
            let values = if rng.random_bool(0.4) && (constant || present) { ", values = [\"d0\"]" } else { "" };
            let alpha = ["0.3", "0.55", "0.8"].choose(rng).unwrap();
            format!("{{ model = \"alpha-k-anonymity\", alpha = {alpha}, k = {l}{values} }}")
        }
        6 => {
            let posterior = ["0.47", "0.61", "1"].choose(rng).unwrap();
            format!("{{ model = \"rho-breach\", prior = 0.31, posterior = {posterior} }}")
        }
        _ => format!("{{ model = \"t-closeness\", t = {} }}", ["0.21", "0.43", "0.67"].choose(rng).unwrap()),
    }
}

/// The values that a unit may stand for; an empty text is missing.
type Values = BTreeSet<String>;

/// Rows as they are released.
#[derive(Debug, Default)]
struct Released {
    units: Vec<String>,
    /// Of `zip` and `sex`.
    cells: Vec<[String; 2]>,
    ill: Vec<String>,
}

impl Released {
    /// The units that a rule fails for among the rows of those that are left.
    fn failing(&self, rule: &Rule, linked: bool, kept: &BTreeSet<&str>) -> Vec<&str> {
        let place = |name: &String| usize::from(name == "sex");
        let class = |row: usize| rule.know.iter().map(|name| self.cells[row][place(name)].clone()).collect::<Vec<_>>();
        let left: Vec<usize> = (0..self.units.len()).filter(|&row| kept.contains(self.units[row].as_str())).collect();
        let all: Vec<usize> = (0..self.units.len()).collect();
        let mut classes: BTreeMap<Vec<String>, Vec<usize>> = BTreeMap::new();
        left.iter().for_each(|&row| classes.entry(class(row)).or_default().push(row));
        let mut signatures: BTreeMap<&str, BTreeMap<Vec<String>, usize>> = BTreeMap::new();
        for &row in &left {
            *signatures.entry(&self.units[row]).or_default().entry(class(row)).or_default() += 1;
        }
        let of_units = |rows: &[usize]| -> Vec<Values> {
            let mut sets: BTreeMap<&str, Values> = BTreeMap::new();
            rows.iter().for_each(|&row| {
                sets.entry(&self.units[row]).or_default().insert(self.ill[row].clone());
            });
            sets.into_values().collect()
        };
        let of_rows =
            |rows: &[usize]| -> Vec<Values> { rows.iter().map(|&row| [self.ill[row].clone()].into()).collect() };
        let tables = |of: &dyn Fn(&[usize]) -> Vec<Values>| [of(&all), of(&left)];
        let (row_tables, unit_tables) = (tables(&of_rows), tables(&of_units));
        let mut failing: Vec<&str> = Vec::new();
        for rows in classes.values() {
            let holds = |model: &Model| {
                holds(model, &of_rows(rows), &row_tables) && holds(model, &of_units(rows), &unit_tables)
            };
            if !rule.require.iter().all(holds) {
                failing.extend(rows.iter().map(|&row| self.units[row].as_str()));
            }
        }
        // Linked, an attacker who finds units finds all their values.
        let varies = of_units(&all).iter().any(|values| values.len() > 1);
        let whole = |units: &BTreeSet<&str>| -> bool {
            let rows: Vec<usize> =
                left.iter().copied().filter(|&row| units.contains(self.units[row].as_str())).collect();
            !linked || !varies || rule.require.iter().all(|model| holds(model, &of_units(&rows), &unit_tables))
        };
        for rows in classes.values() {
            let units: BTreeSet<&str> = rows.iter().map(|&row| self.units[row].as_str()).collect();
            if !whole(&units) {
                failing.extend(units);
            }
        }
        for (unit, own) in signatures.iter().filter(|_| rule.rows == KnownRows::All) {
            let fits = |other: &BTreeMap<Vec<String>, usize>| match linked {
                true => other == own,
                false => own.iter().all(|(class, rows)| other.get(class).is_some_and(|found| found >= rows)),
            };
            let fitting: BTreeSet<&str> =
                signatures.iter().filter(|(_, other)| fits(other)).map(|(unit, _)| *unit).collect();
            if !whole(&fitting) {
                failing.push(unit);
            }
            for looked_at in own.keys() {
                let rows = classes[looked_at].iter().copied();
                let rows: Vec<usize> = rows.filter(|&row| fitting.contains(self.units[row].as_str())).collect();
                if !rule.require.iter().all(|model| holds(model, &of_units(&rows), &unit_tables)) {
                    failing.push(unit);
                }
            }
        }
        failing
    }
}

struct Oracle<'a> {
    case: &'a Case,
    hierarchies: Vec<&'a Hierarchy>,
    units: Vec<String>,
}

impl<'a> Oracle<'a> {
    fn new(case: &'a Case, hierarchies: Vec<&'a Hierarchy>) -> Oracle<'a> {
        Oracle { case, hierarchies, units: units_of(case) }
    }

    fn nodes(&self) -> Vec<Vec<usize>> {
        let tops: Vec<usize> = self.hierarchies.iter().map(|hierarchy| hierarchy.top()).collect();
        (0..=tops[0]).flat_map(|zip| (0..=tops[1]).map(move |sex| vec![zip, sex])).collect()
    }

    fn cell(&self, levels: &[usize], name: &str, row: usize) -> String {
        let index = ["zip", "sex"].iter().position(|quasi| *quasi == name).unwrap();
        let level = &self.hierarchies[index].levels()[levels[index]];
        level.labels[level.map[self.case.table.column(name).unwrap().codes.get(row) as usize] as usize].text.clone()
    }

    fn ill(&self, row: usize) -> String {
        self.case.table.column("ill").unwrap().text(row)
    }

    /// The units that stay, when few enough go and some stay.
    fn kept(&self, levels: &[usize]) -> Option<BTreeSet<&str>> {
        let released = Released {
            units: self.units.clone(),
            cells: (0..self.units.len()).map(|row| ["zip", "sex"].map(|name| self.cell(levels, name, row))).collect(),
            ill: (0..self.units.len()).map(|row| self.ill(row)).collect(),
        };
        let all: BTreeSet<&str> = self.units.iter().map(String::as_str).collect();
        let mut kept = all.clone();
        let linked = self.case.policy.publish.link;
        loop {
            let rules = self.case.policy.rules.iter();
            let failing: BTreeSet<&str> = rules.flat_map(|rule| released.failing(rule, linked, &kept)).collect();
            if failing.is_empty() {
                break;
            }
            kept.retain(|unit| !failing.contains(unit));
        }
        let share = self.case.policy.publish.suppression;
        let within = |out: usize, all: usize| out as u64 * share.denominator <= all as u64 * share.numerator;
        let rows_out = self.units.iter().filter(|unit| !kept.contains(unit.as_str())).count();
        let few = within(rows_out, self.units.len()) && within(all.len() - kept.len(), all.len());
        (few && !kept.is_empty()).then_some(kept)
    }

    /// The loss of the kept rows, in the measures that the cases draw.
    fn loss(&self, levels: &[usize], kept: &BTreeSet<&str>) -> [f64; 2] {
        let n = self.units.len();
        let mut sizes: BTreeMap<[String; 2], usize> = BTreeMap::new();
        for row in (0..n).filter(|&row| kept.contains(self.units[row].as_str())) {
            *sizes.entry(["zip", "sex"].map(|name| self.cell(levels, name, row))).or_default() += 1;
        }
        let out: usize = sizes.values().sum();
        let discernibility = sizes.values().map(|size| size * size).sum::<usize>() + n * (n - out);
        let height: f64 = levels.iter().zip(&self.hierarchies).map(|(&level, of)| level as f64 / of.top() as f64).sum();
        [discernibility as f64, (out as f64 * height + 2.0 * (n - out) as f64) / (2.0 * n as f64)]
    }
}

/// The unit of every row of a case.
fn units_of(case: &Case) -> Vec<String> {
    let names: Vec<String> = case.policy.units().map(|unit| unit.name.clone()).collect();
    let unit = |row: usize| names.iter().map(|name| case.table.column(name).unwrap().text(row)).collect::<Vec<_>>();
    (0..case.table.rows).map(|row| unit(row).join("/")).collect()
}

fn cases() -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    match number("HEDGEROW_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("HEDGEROW_UNIT_CASES").unwrap_or(CASES),
    }
}

#[test]
fn the_search_over_units_agrees_with_brute_force() {
    for seed in cases() {
        check_case(seed);
    }
}

fn check_case(seed: u64) {
    let case = random_case(seed);
    let Case { table, policy, text } = &case;
    let rows: Vec<Vec<String>> =
        (0..table.rows).map(|row| table.columns.iter().map(|column| column.text(row)).collect()).collect();
    let context = format!("seed {seed}\n{text}\n{rows:?}");
    let bound = Bound::new(policy, table).unwrap_or_else(|error| panic!("{error}\n{context}"));
    let judge = bound.judge().unwrap();
    let attributes = bound.loss_attributes();
    let measured = [hedgerow_policy::Loss::Discernibility, hedgerow_policy::Loss::Precision]
        .map(|loss| LossModel::new(loss, &attributes, table.rows as u64, bound.k()));
    let loss = LossModel::new(policy.publish.loss, &attributes, table.rows as u64, bound.k());
    let (columns, hierarchies) = (bound.judged_codes(), bound.hierarchies());
    let problem = FullDomain {
        columns: &columns,
        rows: table.rows,
        counts: None,
        hierarchies: &hierarchies,
        judge: &judge,
        loss: &loss,
        measured: &measured,
        budget: Budget::default(),
        candidates: true,
        units: bound.units(),
        consistent: None,
        progress: &NoProgress,
    };
    let oracle = Oracle::new(&case, bound.hierarchies());
    let explored = explore(problem, &[None, None]);
    let listed: BTreeMap<Vec<usize>, _> = explored
        .holding
        .iter()
        .map(|node| (node.levels.iter().map(|&level| usize::from(level)).collect(), node))
        .collect();
    let chosen = usize::from(policy.publish.loss == hedgerow_policy::Loss::Precision);
    let mut best: Option<f64> = None;
    let mut holding = 0;
    for levels in oracle.nodes() {
        let Some(kept) = oracle.kept(&levels) else {
            assert!(!listed.contains_key(&levels), "{levels:?} does not hold, {context}");
            continue;
        };
        holding += 1;
        let node = listed.get(&levels).unwrap_or_else(|| panic!("{levels:?} holds, {context}"));
        let suppressed = oracle.units.iter().filter(|unit| !kept.contains(unit.as_str())).count() as u64;
        assert_eq!(node.suppressed, suppressed, "{levels:?}, {context}");
        let loss = oracle.loss(&levels, &kept);
        for (found, expected) in node.losses.iter().zip(loss) {
            assert!((found - expected).abs() < 1e-9, "{levels:?}: {found}, not {expected}, {context}");
        }
        best = Some(best.map_or(loss[chosen], |best: f64| best.min(loss[chosen])));
    }
    let outcome = search(problem);
    assert!(outcome.proven, "{context}");
    assert_eq!(outcome.candidates, Some(holding), "{context}");
    let Some(found) = &outcome.best else {
        assert_eq!(best, None, "{context}");
        return;
    };
    assert!((found.losses[chosen] - best.unwrap()).abs() < 1e-9, "{:?} of {best:?}, {context}", found.losses);
    let levels: Vec<usize> = found.levels.iter().map(|&level| usize::from(level)).collect();
    let kept = oracle.kept(&levels).unwrap();
    for row in 0..table.rows {
        let stays = found.kept_rows.as_ref().is_none_or(|kept| kept[row]);
        assert_eq!(stays, kept.contains(oracle.units[row].as_str()), "row {row}, {context}");
    }
    if seed.is_multiple_of(10) {
        published_agrees(&case, &oracle, &levels, &kept, &context);
    }
}

/// A release has the rows of the kept units and no others, does not show whom they are about unless
/// it links them, and passes its own check.
fn published_agrees(case: &Case, oracle: &Oracle<'_>, levels: &[usize], kept: &BTreeSet<&str>, context: &str) {
    let folder = tempfile::tempdir().unwrap();
    let options = PublishOptions::to(folder.path().join("release"));
    let published = publish(&case.policy, (&case.table).into(), &options).unwrap_or_else(|e| panic!("{e}\n{context}"));
    let units = published.units.unwrap();
    let all: BTreeSet<&str> = oracle.units.iter().map(String::as_str).collect();
    assert_eq!((units.source, units.out), (all.len() as u64, kept.len() as u64), "{context}");
    let release = Release::open(&published.release, &NoProgress).unwrap();
    let found = check_release(&release, &[]).unwrap();
    assert!(found.holds(), "{:?}, {context}", found.contradictions);
    let linked = case.policy.publish.link;
    assert_eq!(found.unchecked.is_empty(), linked, "{:?}, {context}", found.unchecked);
    let data = std::fs::read_to_string(published.release.join("data.csv")).unwrap();
    let mut lines = data.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let header = lines.next().unwrap();
    assert_eq!(header.len(), 3 + usize::from(linked), "{header:?}, {context}");
    let place = usize::from(linked);
    let mut released: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    for (number, line) in lines.enumerate() {
        let unit = if linked { line[0].clone() } else { number.to_string() };
        released.entry(unit).or_default().push(line[place..].to_vec());
    }
    let mut expected: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    for row in (0..oracle.units.len()).filter(|&row| kept.contains(oracle.units[row].as_str())) {
        let unit = if linked { oracle.units[row].clone() } else { row.to_string() };
        let quasi = ["zip", "sex"].map(|name| oracle.cell(levels, name, row));
        expected.entry(unit).or_default().push([quasi.to_vec(), vec![oracle.ill(row)]].concat());
    }
    let bags = |of: BTreeMap<String, Vec<Vec<String>>>| {
        let mut bags: Vec<Vec<Vec<String>>> = of.into_values().collect();
        bags.iter_mut().for_each(|bag| bag.sort());
        bags.sort();
        bags
    };
    assert_eq!(bags(released), bags(expected), "{context}");
}

/// Local recoding: what readers of a linked release see keeps every rule, by the definitions.
#[test]
fn classes_of_whole_units_keep_every_rule() {
    let mut made = 0;
    for seed in cases().map(|seed| seed + 1_000_000).take(600) {
        let mut case = random_case(seed);
        case.policy.publish.method = [Method::Mondrian, Method::BestCut, Method::Cluster][seed as usize % 3];
        case.policy.publish.link = true;
        let folder = tempfile::tempdir().unwrap();
        let options = PublishOptions::to(folder.path().join("release"));
        let published = match publish(&case.policy, (&case.table).into(), &options) {
            Ok(published) => published,
            Err(hedgerow_publish::PublishError::Unsatisfiable(_)) => continue,
            Err(error) => panic!("{error}\nseed {seed}\n{}", case.text),
        };
        made += 1;
        let release = Release::open(&published.release, &NoProgress).unwrap();
        let found = check_release(&release, &[]).unwrap();
        assert!(found.holds() && found.unchecked.is_empty(), "{:?}, seed {seed}", found.contradictions);
        let hedgerow_release::ReleaseTables::Generalized(tables) = release.tables() else {
            panic!("no table, seed {seed}")
        };
        let text = |name: &str, row: usize| tables.table.column(name).unwrap().text(row);
        let rows = 0..tables.table.rows;
        let released = Released {
            units: rows.clone().map(|row| text(&tables.units[0], row)).collect(),
            cells: rows.clone().map(|row| ["zip", "sex"].map(|name| text(name, row))).collect(),
            ill: rows.map(|row| text("ill", row)).collect(),
        };
        let kept: BTreeSet<&str> = released.units.iter().map(String::as_str).collect();
        assert_eq!(kept.len() as u64, published.units.unwrap().out, "seed {seed}");
        for rule in &case.policy.rules {
            let failing = released.failing(rule, true, &kept);
            assert!(failing.is_empty(), "{failing:?} by {rule:?}\nseed {seed}\n{}\n{released:?}", case.text);
        }
    }
    assert!(made > 50 || cases().count() < 600, "only {made} of the cases have a release");
}

/// Two patients with the same two diagnoses, each in another class: of either, a reader who sees
/// which rows belong together knows both. Without links, the rows of each class leave two.
#[test]
fn a_value_that_all_linked_units_have_somewhere_is_disclosed() {
    let folder = tempfile::tempdir().unwrap();
    let cells = |third: &'static str| {
        [
            ["a", "n", "hiv"],
            ["a", "s", "flu"],
            ["b", "n", "flu"],
            ["b", "s", "hiv"],
            ["c", "n", "gout"],
            ["c", "s", third],
        ]
    };
    for (third, link, holds) in
        [("hiv", false, true), ("hiv", true, false), ("flu", true, false), ("ulcer", true, true)]
    {
        // Without c, whose own values decide; with it, `hiv` or `flu` is what all have in common.
        let rows = cells(third);
        let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.to_vec()).collect();
        let table = Table::from_texts(&["patient", "ward", "ill"], &rows);
        for method in ["full-domain", "mondrian", "best-cut", "cluster"] {
            for known in ["all", "one"] {
                let text = format!(
                    "[source]\npath = \"table.csv\"\n[attributes]\npatient = {{ role = \"unit\" }}\nward = {{ role = \"quasi\" }}\n\
                     ill = {{ role = \"sensitive\", allow-unique = true }}\n[[rule]]\nprotect = \"ill\"\nrows = \"{known}\"\n\
                     require = {{ model = \"distinct-l-diversity\", l = 2 }}\n[publish]\nmethod = \"{method}\"\nlink = {link}\n"
                );
                let policy = Policy::parse(&text, Path::new("policy.toml")).unwrap();
                let options = PublishOptions::to(folder.path().join(format!("{method}-{known}-{third}-{link}")));
                match publish(&policy, (&table).into(), &options) {
                    Ok(published) => {
                        assert!(holds, "{text}\n{third}");
                        let release = Release::open(&published.release, &NoProgress).unwrap();
                        assert!(check_release(&release, &[]).unwrap().holds(), "{text}\n{third}");
                    }
                    Err(hedgerow_publish::PublishError::Unsatisfiable(_)) => assert!(!holds, "{text}\n{third}"),
                    Err(error) => panic!("{error}\n{text}"),
                }
            }
        }
    }
}

/// Custodians who publish together divide rows, not units.
#[test]
fn a_joint_release_refuses_units_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let table = Table::from_texts(&["patient", "age"], &[vec!["a", "30"], vec!["a", "31"], vec!["b", "30"]]);
    let policy = |unit: &str, rule: &str| {
        let text = format!(
            "[source]\npath = \"people.csv\"\n[attributes]\npatient = {{ role = \"{unit}\" }}\nage = {{ role = \"quasi\" }}\n\
             [[rule]]\nrequire = {{ model = \"k-anonymity\", k = 2 }}\n{rule}\n[publish]\nmethod = \"cluster\"\n"
        );
        Policy::parse(&text, Path::new("policy.toml")).unwrap()
    };
    for (unit, rule, why) in [
        ("unit", "", "a joint release counts rows, not units, and `patient` has the role `unit`"),
        ("identifier", "consistent = true", "a joint release does not keep `consistent`"),
    ] {
        let divided = hedgerow_publish::Divided { axes: &[], regions: &[], of_row: &[0, 0, 0] };
        let options = PublishOptions::to(folder.path().join("release"));
        let error = hedgerow_publish::publish_divided(&policy(unit, rule), &table, divided, &options);
        let error = error.unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}
