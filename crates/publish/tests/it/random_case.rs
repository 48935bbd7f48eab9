//! Random policies over random tables, as a user would write them: what every method is tried on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use hedgerow_policy::Policy;
use hedgerow_privacy::Model;
use hedgerow_privacy::models::{Community, EarlierRelease};
use hedgerow_publish::community::EarlierReleases;
use hedgerow_table::{Kind, Table};
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};
use tempfile::TempDir;

/// A random policy over a random table, as a user would write them.
pub(crate) struct Case {
    pub(crate) table: Table,
    pub(crate) policy: Policy,
    /// The disclosures of earlier releases.
    pub(crate) earlier: EarlierReleases,
    pub(crate) files: BTreeMap<String, HierarchyFile>,
    _directory: TempDir,
}

/// The rows of a hierarchy's file: leaf and labels up to the top. The missing value's leaf is
/// empty.
pub(crate) type HierarchyFile = Vec<[String; 4]>;

pub(crate) fn random_case(seed: u64) -> Case {
    let mut rng = StdRng::seed_from_u64(seed);
    let directory = tempfile::tempdir().unwrap();
    let mut files = BTreeMap::new();
    let rows = match rng.random_range(0..10) {
        0 => rng.random_range(1..4),
        1..=6 => rng.random_range(2..40),
        _ => rng.random_range(40..=200),
    };
    let quasi = rng.random_range(1..=3usize);
    let sensitive = rng.random_range(0..=2usize);
    let mut names: Vec<String> = (0..quasi).map(|index| format!("q{index}")).collect();
    names.extend((0..sensitive).map(|index| format!("s{index}")));
    let mut attributes = String::new();
    let mut columns: Vec<Vec<String>> = Vec::new();
    let mut ordered: Vec<bool> = Vec::new();
    for name in &names {
        let (texts, mut hierarchy, file) = random_column(&mut rng, rows);
        if let Some(file) = file.filter(|_| name.starts_with('q')) {
            let path = directory.path().join(format!("{name}.csv"));
            std::fs::write(&path, file.iter().map(|row| row.join(";") + "\n").collect::<String>()).unwrap();
            hierarchy = format!(", hierarchy = {:?}", path.display().to_string());
            files.insert(name.clone(), file);
        }
        let role = if name.starts_with('q') { "quasi" } else { "sensitive" };
        let hierarchy = if name.starts_with('q') {
            hierarchy
        } else {
            let numbers = texts.iter().all(|text| text.is_empty() || text.parse::<i64>().is_ok());
            if numbers {
                ", hierarchy = { widths = [2, 4] }".to_owned()
            } else {
                ", hierarchy = { mask = 2 }".to_owned()
            }
        };
        let order = if name.starts_with('q') { None } else { random_order(&mut rng, &texts) };
        ordered.push(order.is_some() || is_measurable(&texts));
        let order = order.unwrap_or_default();
        attributes.push_str(&format!("{name} = {{ role = \"{role}\"{hierarchy}{order} }}\n"));
        columns.push(texts);
    }
    let mut rules = String::new();
    for _ in 0..rng.random_range(1..=3) {
        let protect = (sensitive > 0 && rng.random_bool(0.7)).then(|| format!("s{}", rng.random_range(0..sensitive)));
        let mut require: Vec<String> = Vec::new();
        for _ in 0..rng.random_range(1..=2) {
            let column = protect.as_ref().map_or(0, |protect| names.iter().position(|name| name == protect).unwrap());
            require.push(random_model(&mut rng, protect.is_some(), &columns[column], ordered[column]));
        }
        rules.push_str("[[rule]]\n");
        if let Some(protect) = &protect {
            rules.push_str(&format!("protect = \"{protect}\"\n"));
        }
        if rng.random_bool(0.3) {
            let known: Vec<&String> = names
                .iter()
                .filter(|name| Some(*name) != protect.as_ref() && (name.starts_with('q') || sensitive > 1))
                .filter(|_| rng.random_bool(0.6))
                .collect();
            let known = if known.is_empty() { vec![&names[0]] } else { known };
            let known: Vec<String> = known.iter().map(|name| format!("\"{name}\"")).collect();
            rules.push_str(&format!("know = [{}]\n", known.join(", ")));
        }
        rules.push_str(&format!("require = [{}]\n", require.join(", ")));
    }
    let suppression = ["0", "0.02", "0.1", "0.3", "1"].choose(&mut rng).unwrap();
    let loss =
        ["ncp", "precision", "granularity", "discernibility", "average-class", "entropy"].choose(&mut rng).unwrap();
    let weights = if rng.random_bool(0.3) && !matches!(*loss, "discernibility" | "average-class") {
        let mut drawn: Vec<String> = Vec::new();
        for index in 0..quasi {
            if rng.random_bool(0.7) {
                drawn.push(format!("q{index} = {}", ["0.25", "2", "7.5", "1000"].choose(&mut rng).unwrap()));
            }
        }
        format!("weights = {{ {} }}\n", drawn.join(", "))
    } else {
        String::new()
    };
    let text = format!(
        "[source]\npath = \"table.csv\"\n[attributes]\n{attributes}{rules}[publish]\nsuppression = {suppression}\nloss = \"{loss}\"\n{weights}"
    );
    let mut policy =
        Policy::parse(&text, Path::new("policy.toml")).unwrap_or_else(|errors| panic!("seed {seed}\n{text}\n{errors}"));
    let mut earlier = EarlierReleases::default();
    for rule in &mut policy.rules {
        let protect = rule.protect.as_ref().and_then(|protect| names.iter().position(|name| name == protect));
        if let Some(column) = protect.filter(|_| rng.random_bool(0.2)) {
            let name = names[column].clone();
            earlier.communities.entry(name).or_insert_with(|| random_community(&mut rng, &columns[column]).into());
            rule.require.push(Model::CrossReleaseLDiversity { l: rng.random_range(1..4) });
            rule.require_places.push(String::new());
        }
    }
    let header: Vec<&str> = names.iter().map(String::as_str).collect();
    let rows: Vec<Vec<&str>> =
        (0..rows).map(|row| columns.iter().map(|column| column[row].as_str()).collect()).collect();
    Case { table: Table::from_texts(&header, &rows), policy, earlier, files, _directory: directory }
}

/// Up to three earlier releases, whose classes are random sets of the values.
fn random_community(rng: &mut StdRng, values: &[String]) -> Community {
    let vocabulary: Vec<String> = values.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect();
    let share = rng.random_range(0.4..1.0);
    let releases = (0..rng.random_range(1..4)).map(|number| {
        let mut class = || (0..vocabulary.len() as u32).filter(|_| rng.random_bool(share)).collect::<Vec<u32>>();
        let classes = (0..3).map(|_| (class(), String::new())).collect();
        EarlierRelease { name: number.to_string(), digest: String::new(), rows: 0, classes }
    });
    let releases = releases.collect();
    Community::new(vocabulary, releases).unwrap()
}

/// Texts and a hierarchy that fits: as a policy writes it, or the rows of a file.
fn random_column(rng: &mut StdRng, rows: usize) -> (Vec<String>, String, Option<HierarchyFile>) {
    let distinct = *[1usize, 2, 3, 5, 9, 30].choose(rng).unwrap();
    let missing = rng.random_bool(0.2);
    let skew = rng.random_bool(0.5);
    let draw = |rng: &mut StdRng| -> i64 {
        let value = rng.random_range(0..distinct as i64);
        if skew { value.min(rng.random_range(0..distinct as i64)) } else { value }
    };
    let kind = rng.random_range(0..9);
    let (shown, hierarchy): (fn(i64) -> String, &str) = match kind {
        0 => (|value| (value * 3 - 4).to_string(), ", hierarchy = { widths = [2, 6, 12] }"),
        1 => (|value| (value * 7).to_string(), ", hierarchy = { breaks = [[7, 20, 60], [20]] }"),
        2 => (|value| format!("a{:02}", value * 5), ", hierarchy = { mask = 3 }"),
        3 => (
            |value| format!("20{:02}-{:02}-01", value % 20, value % 12 + 1),
            ", hierarchy = { dates = [\"quarter\", \"year\"] }",
        ),
        4 => (|value| format!("{}.5", value), ", hierarchy = { widths = [0.5, 2.5] }"),
        5 => (|value| (value * value).to_string(), ""),
        6 => (|value| format!("{}.25", value * 2), ""),
        _ => (|value| format!("v{value}"), ""),
    };
    let texts =
        (0..rows).map(|_| if missing && rng.random_bool(0.15) { String::new() } else { shown(draw(rng)) }).collect();
    let file = matches!(kind, 5..=7).then(|| random_file(rng, distinct as i64, shown));
    (texts, hierarchy.to_owned(), file)
}

/// Leaves in groups that know no order, leaves that do not occur among them, the missing value at
/// times.
fn random_file(rng: &mut StdRng, distinct: i64, shown: fn(i64) -> String) -> HierarchyFile {
    let groups = rng.random_range(1..=5);
    let above: Vec<u32> = (0..groups).map(|_| rng.random_range(0..3)).collect();
    let mut leaves: Vec<String> = (0..distinct + rng.random_range(0..4)).map(shown).collect();
    if rng.random_bool(0.4) {
        leaves.push(String::new());
    }
    let apart = rng.random_bool(0.5);
    let row = |(index, leaf): (usize, String)| {
        // Runs of neighbors, or no order at all.
        let group = if apart { index * groups / 40 % groups } else { rng.random_range(0..groups) };
        [leaf, format!("g{group}"), format!("h{}", above[group]), "*".to_owned()]
    };
    leaves.into_iter().enumerate().map(row).collect()
}

/// A declared order of texts, at times.
fn random_order(rng: &mut StdRng, texts: &[String]) -> Option<String> {
    let mut values: Vec<&String> =
        texts.iter().filter(|text| !text.is_empty()).collect::<BTreeSet<_>>().into_iter().collect();
    if is_measurable(texts) || values.len() < 2 || rng.random_bool(0.3) {
        return None;
    }
    values.shuffle(rng);
    let values: Vec<String> = values.iter().map(|value| format!("\"{value}\"")).collect();
    Some(format!(", order = [{}]", values.join(", ")))
}

fn is_measurable(values: &[String]) -> bool {
    let all = |kind: Kind| values.iter().all(|value| value.is_empty() || kind.takes(value));
    all(Kind::Float) || all(Kind::Date)
}

/// A model, about some classes alone at times.
fn random_model(rng: &mut StdRng, protects: bool, values: &[String], ordered: bool) -> String {
    let model = unconditional_model(rng, protects, values, ordered);
    let unfit = ["k-anonymity", "epsilon-clone"].iter().any(|name| model.contains(&format!("\"{name}\"")));
    if unfit || rng.random_bool(0.7) {
        return model;
    }
    let below = rng.random_bool(0.6).then(|| format!(", below = {}", [2, 3, 5, 12].choose(rng).unwrap()));
    let having = values.iter().find(|value| !value.is_empty()).filter(|_| below.is_none() || rng.random_bool(0.3));
    let having = having.map(|value| format!(", having = [\"{value}\"]"));
    format!("{}{}{} }}", model.trim_end_matches(" }"), below.unwrap_or_default(), having.unwrap_or_default())
}

fn unconditional_model(rng: &mut StdRng, protects: bool, values: &[String], ordered: bool) -> String {
    let k = *[1, 2, 3, 5, 50, 300].choose(rng).unwrap();
    if !protects {
        return format!("{{ model = \"k-anonymity\", k = {k} }}");
    }
    let l = *["1", "2", "3", "1.5", "2.5"].choose(rng).unwrap();
    let whole = rng.random_range(1..=3);
    // Nearness is for numbers and dates only.
    let measurable = |kind: Kind| values.iter().all(|value| value.is_empty() || kind.takes(value));
    let near = *["0", "0.5", "2", "3.25", "40", "400"].choose(rng).unwrap();
    match rng.random_range(0..if measurable(Kind::Float) || measurable(Kind::Date) { 13 } else { 10 }) {
        0 => format!("{{ model = \"k-anonymity\", k = {k} }}"),
        1 => format!("{{ model = \"distinct-l-diversity\", l = {whole} }}"),
        2 => format!("{{ model = \"frequency-l-diversity\", l = {l} }}"),
        3 => format!("{{ model = \"entropy-l-diversity\", l = {l} }}"),
        4 => {
            let c = ["0.5", "1", "2", "3.5"].choose(rng).unwrap();
            format!("{{ model = \"recursive-l-diversity\", c = {c}, l = {whole} }}")
        }
        5 => {
            let t = ["0.1", "0.2", "0.35", "0.5", "0.8"].choose(rng).unwrap();
            let distance = *["equal", if ordered { "ordered" } else { "equal" }, "hierarchical"].choose(rng).unwrap();
            format!("{{ model = \"t-closeness\", t = {t}, distance = \"{distance}\" }}")
        }
        6 => {
            let epsilon = ["0.05", "0.1", "0.25", "0.4", "1"].choose(rng).unwrap();
            format!("{{ model = \"epsilon-clone\", epsilon = {epsilon} }}")
        }
        7 => {
            let (prior, posterior) =
                [("0.05", "0.3"), ("0.1", "0.5"), ("0.25", "0.5"), ("0.4", "1")].choose(rng).unwrap();
            let named = random_named(rng, values);
            format!("{{ model = \"rho-breach\", prior = {prior}, posterior = {posterior}{named} }}")
        }
        8 => {
            let (change, b) = [
                ("variation", "0.2"),
                ("variation", "0.45"),
                ("largest", "0.15"),
                ("largest", "0.4"),
                ("relative", "0.8"),
                ("relative", "3"),
                ("divergence", "0.1"),
                ("divergence", "0.7"),
            ]
            .choose(rng)
            .unwrap();
            let named = random_named(rng, values);
            format!("{{ model = \"belief-change\", b = {b}, distance = \"{change}\"{named} }}")
        }
        10 => format!("{{ model = \"epsilon-m-anonymity\", epsilon = {near}, m = {l} }}"),
        11 if measurable(Kind::Float) => {
            let share = ["0", "0.25", "0.5", "1"].choose(rng).unwrap();
            format!("{{ model = \"epsilon-m-anonymity\", epsilon = {share}, m = {l}, relative = true }}")
        }
        12 => {
            let reading = ["window", "pairwise"].choose(rng).unwrap();
            format!("{{ model = \"delta-l-diversity\", delta = {near}, l = {l}, reading = \"{reading}\" }}")
        }
        _ => {
            let alpha = ["0.3", "0.5", "0.75", "1"].choose(rng).unwrap();
            let named = random_named(rng, values);
            format!("{{ model = \"alpha-k-anonymity\", alpha = {alpha}, k = {}{named} }}", k.min(5))
        }
    }
}

/// One of the values by name, at times.
fn random_named(rng: &mut StdRng, values: &[String]) -> String {
    let named = values.iter().find(|value| !value.is_empty()).filter(|_| rng.random_bool(0.5));
    named.map_or_else(String::new, |value| format!(", values = [\"{value}\"]"))
}
