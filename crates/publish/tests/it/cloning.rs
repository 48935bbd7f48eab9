//! Cloning from outside: the paper's hospitals, and random tables whose releases are read back by
//! the files alone and compared with the definitions. Nothing here shares code with what it judges.
//!
//! `HEDGEROW_SEED=… cargo test -p hedgerow-publish clones` replays one case.

mod cost;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use hedgerow_audit::{Adversary, AuditOptions, audit};
use hedgerow_policy::Policy;
use hedgerow_publish::{PublishError, PublishOptions, Published, RowSource, publish};
use hedgerow_release::Release;
use hedgerow_table::{NoProgress, Table};
use hedgerow_verify::release_check::check_release;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

fn options(destination: PathBuf) -> PublishOptions<'static> {
    PublishOptions { seed: Some(1), ..PublishOptions::to(destination) }
}

/// In memory where the system offers it: hundreds of releases are written and flushed here.
pub(crate) fn scratch() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.or_else(|_| tempfile::tempdir()).unwrap()
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/three-hospitals").join(name)
}

/// A release as its two files list it, read line by line.
#[derive(Debug, Default, PartialEq)]
struct Listed {
    /// By class: sensitive values with their counts.
    classes: BTreeMap<String, BTreeMap<String, u64>>,
    /// By class and sub-class: attribute, statistic, value, count.
    parts: BTreeMap<(String, String), Vec<[String; 4]>>,
    /// Attributes and labels of the codebook.
    codebook: BTreeSet<(String, String)>,
}

impl Listed {
    fn read(directory: &Path) -> Listed {
        let lines = |name: &str| {
            let text = std::fs::read_to_string(directory.join(name)).unwrap();
            text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect::<Vec<Vec<String>>>()
        };
        let mut listed = Listed::default();
        for line in lines("sensitive.csv") {
            let counted = listed.classes.entry(line[0].clone()).or_default();
            assert!(counted.insert(line[1].clone(), line[2].parse().unwrap()).is_none(), "counted twice");
        }
        for line in lines("statistics.csv") {
            let row = [&line[2], &line[3], &line[4], &line[5]].map(String::clone);
            listed.parts.entry((line[0].clone(), line[1].clone())).or_default().push(row);
        }
        listed.codebook = lines("codebook.csv").into_iter().map(|line| (line[0].clone(), line[1].clone())).collect();
        listed
    }

    /// The counts of one statistic in a sub-class, by value.
    fn counts(part: &[[String; 4]], attribute: &str, statistic: &str) -> Vec<(String, u64)> {
        let rows = part.iter().filter(|row| row[0] == attribute && row[1] == statistic);
        rows.map(|row| (row[2].clone(), row[3].parse().unwrap())).collect()
    }

    fn total(part: &[[String; 4]], statistic: &str) -> u64 {
        Listed::counts(part, "", statistic).iter().map(|(_, count)| count).sum()
    }

    fn counterfeits(&self) -> u64 {
        self.parts.values().map(|part| Listed::total(part, "counterfeits")).sum()
    }

    fn tuples(&self) -> u64 {
        self.parts.values().map(|part| Listed::total(part, "tuples")).sum()
    }
}

fn published(policy: &Path, folder: &Path) -> (Published, Listed) {
    let policy = Policy::load(policy).unwrap();
    let destination = folder.join("release");
    let published =
        publish(&policy, RowSource::Policy, &options(destination.clone())).unwrap_or_else(|error| panic!("{error}"));
    (published, Listed::read(&destination))
}

/// Table 3(c) of the paper, as far as it follows from the text.
#[test]
fn hospital_3_as_in_the_paper() {
    let folder = scratch();
    let (published, listed) = published(&example("clone-3.toml"), folder.path());
    let report = published.cloned.as_ref().unwrap();
    assert_eq!((report.divided, report.classes, report.sub_classes.count), (3, 3, 6));
    let values: Vec<(&str, u64, u64, u64)> = report
        .values
        .iter()
        .map(|value| (value.value.as_str(), value.per_class, value.counterfeits, value.suppressed))
        .collect();
    assert_eq!(values, [("B", 2, 0, 1), ("G", 1, 0, 0), ("J", 2, 1, 0), ("L", 1, 0, 1)]);
    assert!((report.epsilon - 8.0 / 114.0).abs() < 1e-12);
    assert_eq!((published.rows.source, published.rows.out, published.rows.suppressed), (19, 17, 2));
    assert_eq!((listed.tuples(), listed.counterfeits(), listed.parts.len()), (18, 1, 6));
    assert!(listed.parts.values().all(|part| Listed::total(part, "tuples") == 3));
    let wanted: BTreeMap<String, u64> = [("B", 2), ("G", 1), ("J", 2), ("L", 1)].map(|(v, n)| (v.to_owned(), n)).into();
    assert_eq!(listed.classes.values().collect::<Vec<_>>(), [&wanted; 3]);
    for part in listed.parts.values() {
        let people = 3 - Listed::total(part, "counterfeits");
        let [(_, covered)] = Listed::counts(part, "age", "low").try_into().unwrap();
        assert!(covered >= 1, "an indicative range covers a value");
        assert_eq!(Listed::counts(part, "sex", "category").iter().map(|(_, count)| count).sum::<u64>(), people);
    }
    let release = check_release(&Release::open(&folder.path().join("release"), &NoProgress).unwrap(), &[]).unwrap();
    assert!(release.holds(), "{release:?}");
}

/// Nancy (50, F) in 1 and 2, David (15, M) in 1 and 3, Eliza (30, F) in 2 and 3.
#[test]
fn the_composition_adversary_is_left_with_what_the_tables_share() {
    let folder = scratch();
    let releases = [1, 2, 3].map(|hospital| {
        let own = folder.path().join(hospital.to_string());
        std::fs::create_dir(&own).unwrap();
        published(&example(&format!("clone-{hospital}.toml")), &own);
        own.join("release")
    });
    for (pair, person, left) in [
        ([0, 1], ["50", "F"], &["D", "G", "J"][..]),
        // The third has suppressed tuples, so that it may lack a person, and is not used.
        ([0, 2], ["15", "M"], &["C", "D", "G", "J"]),
        ([1, 2], ["30", "F"], &["A", "D", "G", "J"]),
    ] {
        let opened = pair.map(|index: usize| Release::open(&releases[index], &NoProgress).unwrap());
        let people = Table::from_texts(&["age", "sex"], &[person.to_vec()]);
        let options = AuditOptions {
            people: Some(&people),
            adversaries: vec![Adversary::Composition],
            ..AuditOptions::default()
        };
        let found = audit(&opened, &options).unwrap();
        assert_eq!((found.contradictions.len(), found.breach), (0, false), "{:?}", found.contradictions);
        let [finding] = found.findings.as_slice() else { panic!("{:?}", found.findings) };
        assert_eq!((finding.people, finding.at_risk), (1, 0));
        let mut values: Vec<&str> = finding.worst[0].values.iter().map(|(value, _)| value.as_str()).collect();
        values.sort_unstable();
        assert_eq!(values, left, "{person:?}");
    }
}

/// A random table and what to require of it.
struct Case {
    header: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    rule: String,
    settings: String,
    k: u64,
    lambda: u64,
    max_epsilon: Option<f64>,
    suppresses: bool,
}

fn random_case(seed: u64) -> Case {
    let mut rng = StdRng::seed_from_u64(seed);
    let rows = *[1usize, 2, 3, 7, 20, 60, 150].choose(&mut rng).unwrap();
    let (ages, places, diseases) =
        (rng.random_range(1..30), rng.random_range(1..6), *[1u32, 2, 3, 5, 9].choose(&mut rng).unwrap());
    let missing = rng.random_bool(0.3);
    let skew = rng.random_bool(0.6);
    let row = |rng: &mut StdRng| -> Vec<String> {
        let hole = |rng: &mut StdRng, text: String| {
            if missing && rng.random_bool(0.1) { String::new() } else { text }
        };
        let disease = rng.random_range(0..diseases);
        let disease =
            if skew { disease.min(rng.random_range(0..diseases)).min(rng.random_range(0..diseases)) } else { disease };
        let texts = [
            format!("{}", 20 + rng.random_range(0..ages)),
            format!("p{}", rng.random_range(0..places)),
            format!("20{:02}-01-{:02}", rng.random_range(0..20), rng.random_range(1..29)),
            format!("d{disease}"),
        ];
        texts.into_iter().map(|text| hole(rng, text)).collect()
    };
    let rows: Vec<Vec<String>> = (0..rows).map(|_| row(&mut rng)).collect();
    let k = rng.random_range(1..6u64);
    let max_epsilon = rng.random_bool(0.5).then(|| *[0.0, 0.01, 0.05, 0.2].choose(&mut rng).unwrap());
    let suppresses = rng.random_bool(0.3);
    let lambda = rng.random_range(1..=k);
    let mut settings = format!("method = \"clone\"\nk = {k}\nlambda = {lambda}\n");
    // A rule of the policy requires the same as the method's own key.
    let by_rule = seed.is_multiple_of(2);
    if let Some(limit) = max_epsilon.filter(|_| !by_rule) {
        settings.push_str(&format!("max-epsilon = {limit}\n"));
    }
    let rule = max_epsilon.filter(|_| by_rule).map_or(String::new(), |limit| {
        format!("[[rule]]\nprotect = \"disease\"\nrequire = {{ model = \"epsilon-clone\", epsilon = {limit} }}\n")
    });
    if suppresses {
        settings.push_str("rare = \"suppress\"\nsuppression = 0.1\n");
    }
    if rng.random_bool(0.3) {
        settings.push_str("assignment = \"scan\"\nrho = 0.2\n");
    }
    let header = vec!["age", "place", "day", "disease"];
    Case { header, rows, rule, settings, k, lambda, max_epsilon, suppresses }
}

impl Case {
    fn write(&self, folder: &Path, rules: &str) -> PathBuf {
        let mut text = self.header.join(",");
        for row in &self.rows {
            text.push('\n');
            text.push_str(&row.join(","));
        }
        std::fs::write(folder.join("table.csv"), text + "\n").unwrap();
        let policy = format!(
            "[source]\npath = \"table.csv\"\n[attributes]\nage = {{ role = \"quasi\", type = \"integer\", hierarchy = {{ widths = [5, 10] }} }}\n\
             place = {{ role = \"quasi\" }}\nday = {{ role = \"quasi\", type = \"date\", hierarchy = {{ dates = [\"year\"] }} }}\n\
             disease = {{ role = \"sensitive\" }}\n{}{rules}[publish]\n{}",
            self.rule, self.settings
        );
        std::fs::write(folder.join("policy.toml"), policy).unwrap();
        folder.join("policy.toml")
    }

    fn counts(&self) -> BTreeMap<&str, u64> {
        let mut counts = BTreeMap::new();
        self.rows.iter().for_each(|row| *counts.entry(row[3].as_str()).or_default() += 1);
        counts
    }
}

fn seeds(count: u64) -> std::ops::Range<u64> {
    match std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse::<u64>().ok()) {
        Some(seed) => seed..seed + 1,
        None => 0..count,
    }
}

#[test]
fn clones_of_random_tables_are_what_the_definitions_say() {
    let (mut complete, mut unpublished) = (0, 0);
    for seed in seeds(120) {
        let case = random_case(seed);
        let folder = scratch();
        let policy =
            Policy::load(&case.write(folder.path(), "")).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let destination = folder.path().join("release");
        let published = match publish(&policy, RowSource::Policy, &options(destination.clone())) {
            Ok(published) => published,
            Err(PublishError::Ineligible(why)) => {
                let few = (case.rows.len() as u64) < 2 * case.k;
                assert!(few || case.suppresses && case.max_epsilon.is_some(), "seed {seed}: {why}");
                assert!(!destination.exists());
                unpublished += 1;
                continue;
            }
            Err(error) => panic!("seed {seed}: {error}"),
        };
        complete += 1;
        let listed = Listed::read(&destination);
        hold_to_definitions(&case, &published, &listed, seed);
        hold_manifest_to_tables(&destination, &published, &listed, seed);
        let checked = check_release(&Release::open(&destination, &NoProgress).unwrap(), &[]).unwrap();
        assert!(checked.holds(), "seed {seed}: {checked:?}");
        let opened = Release::open(&destination, &NoProgress).unwrap();
        assert_eq!(opened.contradictions(), Vec::<String>::new(), "seed {seed}");
        assert_eq!(opened.rows(), published.rows.out, "seed {seed}");
    }
    if seeds(120).count() > 1 {
        assert!(complete > 80 && unpublished > 3, "{complete} and {unpublished}");
    }
}

/// Every number that the manifest states of the clones follows from the tables and the counts of
/// rows, so that nothing of the source can be solved for; and none is smaller than what is true of
/// the source.
fn hold_manifest_to_tables(release: &Path, published: &Published, listed: &Listed, seed: u64) {
    let text = std::fs::read_to_string(release.join("datapackage.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    let cloning = &manifest["hedgerow"]["cloning"];
    let number = |name: &str| cloning[name].as_f64().unwrap();
    let smallest = listed.parts.values().map(|part| Listed::total(part, "tuples")).min().unwrap();
    assert_eq!(number("k"), smallest as f64, "seed {seed}");
    let covered = |part: &Vec<[String; 4]>| {
        let rows = part.iter().filter(|row| row[1] == "low").map(|row| row[3].parse::<u64>().unwrap());
        rows.collect::<Vec<_>>()
    };
    let covered = listed.parts.values().flat_map(covered).min();
    assert_eq!(cloning["lambda"].as_u64(), covered, "seed {seed}");
    assert_eq!(number("counterfeits"), listed.counterfeits() as f64, "seed {seed}");
    assert_eq!(number("sub-classes"), listed.parts.len() as f64, "seed {seed}");
    let all: u64 = listed.classes.values().flat_map(BTreeMap::values).sum();
    let mut totals: BTreeMap<&String, u64> = BTreeMap::new();
    for (value, count) in listed.classes.values().flatten() {
        *totals.entry(value).or_default() += count;
    }
    let most_frequent = *totals.values().max().unwrap() as f64 / all as f64;
    let epsilon = published.rows.suppressed.max(listed.counterfeits()) as f64 / published.rows.source as f64;
    let beta = 1.0 / (1.0 - epsilon);
    let follows = [("epsilon", epsilon), ("beta", beta), ("theta", ((beta - 1.0) * most_frequent).min(1.0))];
    for (name, expected) in follows {
        assert!((number(name) - expected).abs() < 3e-6, "seed {seed}: {name} {} is not {expected}", number(name));
    }
    let report = published.cloned.as_ref().unwrap();
    let truths = [("epsilon", report.epsilon), ("beta", report.promise.beta), ("theta", report.promise.theta)];
    for (name, truth) in truths {
        assert!(number(name) >= truth - 1e-9, "seed {seed}: {name} {} is below {truth}", number(name));
    }
    // The measure's definition, as `measure` recomputes it: counterfeits do not count as rows.
    let people = listed.parts.values().map(|part| Listed::total(part, "tuples") - Listed::total(part, "counterfeits"));
    let rows = published.rows;
    let discernibility = people.map(|people| people * people).sum::<u64>() + rows.source * rows.suppressed;
    assert_eq!(published.losses["discernibility"].as_f64(), Some(discernibility as f64), "seed {seed}");
    let keys = cloning.as_object().unwrap().keys().map(String::as_str).filter(|key| *key != "lambda");
    let known = ["beta", "theta", "theta-at", "broken-by", "epsilon", "k", "counterfeits", "sub-classes", "meaning"];
    assert_eq!(keys.collect::<Vec<_>>(), known, "a new number needs a line above");
}

fn hold_to_definitions(case: &Case, published: &Published, listed: &Listed, seed: u64) {
    let report = published.cloned.as_ref().unwrap();
    let source = case.counts();
    let rows = case.rows.len() as u64;
    let suppressed: Vec<&str> =
        report.rare.iter().filter(|rare| rare.suppressed).map(|rare| rare.value.as_str()).collect();
    assert!(suppressed.is_empty() || case.suppresses, "seed {seed}");
    let lost: u64 = suppressed.iter().map(|value| source[value]).sum();
    assert!(lost * 10 <= rows, "seed {seed}: at most a tenth with rare values");
    // Suppressed and kept are the input, and counterfeits are announced.
    assert_eq!(published.rows.source, rows);
    assert_eq!(published.rows.out + published.rows.suppressed, rows, "seed {seed}");
    assert_eq!(report.suppressed + lost, published.rows.suppressed, "seed {seed}");
    assert_eq!(listed.counterfeits(), report.counterfeits, "seed {seed}");
    assert_eq!(listed.tuples(), published.rows.out + report.counterfeits, "seed {seed}");
    // Every class holds every value, and the reported ε is the largest difference of shares.
    let kept: Vec<&str> = source.keys().copied().filter(|value| !suppressed.contains(value)).collect();
    let mut epsilon = 0.0f64;
    for (class, values) in &listed.classes {
        assert_eq!(values.keys().map(String::as_str).collect::<Vec<_>>(), kept, "seed {seed}");
        let size: u64 = values.values().sum();
        let parts = listed.parts.iter().filter(|((of, _), _)| of == class);
        assert_eq!(parts.map(|(_, part)| Listed::total(part, "tuples")).sum::<u64>(), size, "seed {seed}");
        for (value, &count) in &source {
            let here = values.get(*value).map_or(0.0, |&here| here as f64 / size as f64);
            epsilon = epsilon.max((here - count as f64 / rows as f64).abs());
        }
    }
    assert!((report.epsilon - epsilon).abs() < 1e-12, "seed {seed}: {} is {epsilon}", report.epsilon);
    assert_eq!(report.divided, most_classes(case, &kept, lost).unwrap(), "seed {seed}");
    for part in listed.parts.values() {
        assert!(Listed::total(part, "tuples") >= case.k, "seed {seed}");
        let people = Listed::total(part, "tuples") - Listed::total(part, "counterfeits");
        for attribute in ["age", "place", "day"] {
            let sum = |statistic: &str| Listed::counts(part, attribute, statistic).iter().map(|(_, n)| n).sum::<u64>();
            assert_eq!(sum("category") + sum("mean") + sum("missing"), people, "seed {seed}: {attribute}");
            let covered = case.lambda.min(sum("mean"));
            assert!(sum("low") >= covered && sum("high") >= covered, "seed {seed}: ranges cover lambda values");
        }
    }
    // The codebook lists nothing that only suppressed people have.
    let place = |part: &Vec<[String; 4]>| Listed::counts(part, "place", "category");
    let places = listed.parts.values().flat_map(place).map(|(label, _)| ("place".to_owned(), label));
    assert_eq!(listed.codebook, places.collect(), "seed {seed}");
    // Only people of the source are listed.
    let mut places: BTreeMap<String, u64> = BTreeMap::new();
    for (place, count) in listed.parts.values().flat_map(|part| Listed::counts(part, "place", "category")) {
        *places.entry(place).or_default() += count;
    }
    for (place, count) in places {
        assert!(count <= case.rows.iter().filter(|row| row[1] == place).count() as u64, "seed {seed}");
    }
}

/// The largest number of classes that keeps the limit, by trying each: γ by rounding, halves up and
/// down in turn.
fn most_classes(case: &Case, kept: &[&str], lost: u64) -> Option<u64> {
    let source = case.counts();
    let rows = case.rows.len() as f64;
    let domain_order = |value: &&str| (value.is_empty(), (*value).to_owned());
    let mut kept = kept.to_vec();
    kept.sort_by_key(domain_order);
    let rarest = kept.iter().map(|value| source[value]).min()?;
    (1..=rarest).rev().find(|&classes| {
        let mut up = false;
        let each: Vec<u64> = kept
            .iter()
            .map(|value| {
                let exact = source[value] as f64 / classes as f64;
                if exact.fract() == 0.5 {
                    up = !up;
                    if up { exact.ceil() as u64 } else { exact.floor() as u64 }
                } else {
                    exact.round() as u64
                }
            })
            .collect();
        let size: u64 = each.iter().sum();
        let off =
            kept.iter().zip(&each).map(|(value, &n)| (source[value] as f64 / rows - n as f64 / size as f64).abs());
        let suppressed = source.iter().filter(|(value, _)| !kept.contains(value)).map(|(_, &n)| n as f64 / rows);
        let epsilon = off.chain(suppressed).fold(0.0, f64::max);
        // Without values that are suppressed, what the method itself promises is the same bound
        // over the others alone.
        let alone = rows - lost as f64;
        let off =
            kept.iter().zip(&each).map(|(value, &n)| (source[value] as f64 / alone - n as f64 / size as f64).abs());
        let alone = off.fold(0.0, f64::max);
        case.max_epsilon.is_none_or(|limit| epsilon <= limit + 1e-12 && alone <= limit + 1e-12)
    })
}

#[test]
fn people_are_counted_where_k_anonymity_is_required() {
    for seed in seeds(60) {
        let mut case = random_case(1000 + seed);
        case.suppresses = false;
        case.settings = "method = \"clone\"\nk = 2\n".to_owned();
        let folder = scratch();
        let rule = "[[rule]]\nrequire = { model = \"k-anonymity\", k = 4 }\n";
        let policy = Policy::load(&case.write(folder.path(), rule)).unwrap();
        let destination = folder.path().join("release");
        match publish(&policy, RowSource::Policy, &options(destination.clone())) {
            Err(PublishError::Ineligible(_)) => assert!(case.rows.len() < 10, "seed {seed}"),
            Err(error) => panic!("seed {seed}: {error}"),
            Ok(published) => {
                let listed = Listed::read(&destination);
                let people = listed
                    .parts
                    .values()
                    .map(|part| Listed::total(part, "tuples") - Listed::total(part, "counterfeits"));
                let fewest = people.min().unwrap();
                assert!(fewest >= 4, "seed {seed}: {fewest}");
                let claims = &published.checked.claims;
                let claim = claims.iter().find(|claim| claim.model == "k-anonymity").unwrap();
                assert_eq!(claim.achieved["k"], fewest, "seed {seed}: counterfeits are not people");
            }
        }
    }
}

/// Two very rare values among three: kept, they leave two classes; suppressed, there are as many as
/// the next value has tuples.
#[test]
fn rare_values_are_reported_and_suppressed_on_request() {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (disease, count) in [("flu", 400), ("cold", 300), ("rare", 2), ("rarer", 1)] {
        rows.extend((0..count).map(|n| {
            vec![(20 + n % 40).to_string(), format!("p{}", n % 3), "2020-01-01".to_owned(), disease.to_owned()]
        }));
    }
    let case = |settings: &str| Case {
        header: vec!["age", "place", "day", "disease"],
        rows: rows.clone(),
        settings: format!("method = \"clone\"\nk = 5\n{settings}"),
        k: 5,
        lambda: 1,
        max_epsilon: None,
        suppresses: false,
        rule: String::new(),
    };
    let report = |settings: &str, rules: &str| {
        let folder = scratch();
        let policy = Policy::load(&case(settings).write(folder.path(), rules)).unwrap();
        publish(&policy, RowSource::Policy, &options(folder.path().join("release")))
            .map(|published| published.cloned.unwrap())
    };
    let kept = report("", "").unwrap();
    assert_eq!((kept.divided, kept.suppressed), (1, 0));
    let rare: Vec<(&str, u64, u64)> =
        kept.rare.iter().map(|rare| (rare.value.as_str(), rare.rows, rare.classes_without)).collect();
    assert_eq!(rare, [("rarer", 1, 2), ("rare", 2, 300)]);
    let without_rare = report("rare = \"suppress\"\n", "").unwrap();
    assert_eq!(without_rare.divided, 300);
    assert!(without_rare.rare.iter().all(|rare| rare.suppressed));
    assert!((without_rare.epsilon - (0.5 - 300.0 / 703.0f64)).abs() < 1e-12, "against the source with its rare values");
    // A rule about the values that are left is kept without the rare ones.
    let rule = "[[rule]]\nprotect = \"disease\"\nrequire = { model = \"epsilon-clone\", epsilon = 0.5 }\n";
    let by_rule = report("rare = \"suppress\"\n", rule).unwrap();
    assert!(by_rule.divided == 300 && by_rule.epsilon <= 0.5, "{by_rule:?}");
    for epsilon in ["0.1", "1.0"] {
        let by_rule = report("rare = \"suppress\"\n", &rule.replace("0.5", epsilon)).unwrap();
        assert!(by_rule.divided == 300 && by_rule.epsilon <= 0.1, "{epsilon}: {by_rule:?}");
    }
    assert_eq!(kept.classes_without_rare, Some(300));
    assert_eq!(without_rare.classes_without_rare, None);
    let kept_by_rule = report("", rule).unwrap();
    assert_eq!((kept_by_rule.rare.len(), kept_by_rule.classes_without_rare), (2, Some(300)));
}

/// The only person of a place and of a disease: suppressed, and no file of the release says that
/// either was there.
#[test]
fn nothing_is_released_of_people_who_were_suppressed() {
    let row = |n: usize, place: &str, disease: &str| {
        vec![(20 + n % 40).to_string(), place.to_owned(), "2020-01-01".to_owned(), disease.to_owned()]
    };
    let mut rows: Vec<Vec<String>> =
        (0..200).map(|n| row(n, ["here", "there"][n % 2], ["flu", "cold"][n / 40 % 2])).collect();
    rows.push(row(7, "islet", "kuru"));
    let settings = "method = \"clone\"\nk = 5\nrare = \"suppress\"\n".to_owned();
    let case = Case { rows, settings, ..random_case(0) };
    let folder = scratch();
    let policy = Policy::load(&case.write(folder.path(), "")).unwrap();
    let destination = folder.path().join("release");
    let published = publish(&policy, RowSource::Policy, &options(destination.clone())).unwrap();
    assert_eq!((published.rows.out, published.rows.suppressed), (200, 1));
    let files: Vec<PathBuf> = std::fs::read_dir(destination).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 4);
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(!text.contains("islet") && !text.contains("kuru"), "{}", file.display());
    }
}

#[test]
fn unsupported_promises_are_refused_and_lacking_values_reported() {
    let case = Case { settings: "method = \"clone\"\nk = 2\n".to_owned(), ..random_case(8) };
    let refused = |rules: &str| {
        let folder = scratch();
        let policy = Policy::load(&case.write(folder.path(), rules)).unwrap();
        publish(&policy, RowSource::Policy, &options(folder.path().join("release"))).unwrap_err()
    };
    let alpha =
        refused("[[rule]]\nprotect = \"disease\"\nrequire = { model = \"alpha-k-anonymity\", alpha = 0.5, k = 2 }\n");
    assert!(alpha.to_string().contains("cloning cannot promise alpha-k-anonymity"), "{alpha}");
    let many = refused("[[rule]]\nprotect = \"disease\"\nrequire = { model = \"distinct-l-diversity\", l = 40 }\n");
    assert!(matches!(many, PublishError::Ineligible(_)) && many.to_string().contains("l = 40"), "{many}");
    let large = refused("[[rule]]\nrequire = { model = \"k-anonymity\", k = 4000 }\n");
    assert!(large.to_string().contains("at least 4000"), "{large}");
}

/// A release that was changed by hand is detected from its tables alone.
#[test]
fn a_changed_release_is_not_a_clone() {
    let folder = scratch();
    published(&example("clone-3.toml"), folder.path());
    let release = folder.path().join("release");
    let change = |file: &str, from: &str, to: &str| {
        let path = release.join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        let at = text.find(from).unwrap_or_else(|| panic!("{from} in {text}"));
        std::fs::write(&path, format!("{}{to}{}", &text[..at], &text[at + from.len()..])).unwrap();
        let checked = check_release(&Release::open(&release, &NoProgress).unwrap(), &[]);
        std::fs::write(&path, text).unwrap();
        checked
    };
    for (file, from, to) in [
        ("sensitive.csv", ",J,2", ",J,1"),
        ("sensitive.csv", ",G,1", ",J,1"),
        ("sensitive.csv", ",B,2", ",B,3"),
        ("statistics.csv", ",tuples,,3", ",tuples,,2"),
        ("statistics.csv", "counterfeits,,1", "counterfeits,,3"),
        ("statistics.csv", ",sex,category,F,", ",sex,category,X,"),
        ("datapackage.json", "\"k\": 3", "\"k\": 4"),
    ] {
        let found = change(file, from, to);
        assert!(found.as_ref().is_ok_and(|found| !found.holds()), "{file} {from}: {found:?}");
    }
    // Every class still has six tuples and every value: only ε shows it.
    let moved = change("sensitive.csv", "1,G,1\n1,J,2", "1,G,2\n1,J,1").unwrap();
    assert_eq!(moved.contradictions.len(), 1, "the manifest claims another ε: {:?}", moved.contradictions);
    assert!(check_release(&Release::open(&release, &NoProgress).unwrap(), &[]).unwrap().holds(), "unchanged again");
    // Who opens it without its claims sees it as well.
    let text = std::fs::read_to_string(release.join("sensitive.csv")).unwrap();
    std::fs::write(release.join("sensitive.csv"), text.replacen(",B,2", ",B,3", 1)).unwrap();
    assert_eq!(Release::open(&release, &NoProgress).unwrap().contradictions().len(), 1);
}

/// The same release whatever the number of threads.
#[test]
fn threads_do_not_matter() {
    let case = (0..).map(random_case).find(|case| case.rows.len() == 150).unwrap();
    let case = Case { settings: "method = \"clone\"\nk = 2\n".to_owned(), ..case };
    let release = |threads: usize| {
        let folder = scratch();
        let policy = Policy::load(&case.write(folder.path(), "")).unwrap();
        let destination = folder.path().join("release");
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| publish(&policy, RowSource::Policy, &options(destination.clone()))).unwrap();
        ["statistics.csv", "sensitive.csv", "codebook.csv", "datapackage.json"]
            .map(|file| std::fs::read_to_string(destination.join(file)).unwrap())
    };
    assert_eq!(release(1), release(3));
}
