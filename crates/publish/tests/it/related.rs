//! Related quasi-identifiers against a count by hand: regions of counties, where rules know one of
//! both, or both are generalized.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use hedgerow_policy::Policy;
use hedgerow_publish::recount::over_units;
use hedgerow_publish::{PublishError, PublishOptions, Published, RowSource, RowStore, publish};
use hedgerow_release::Release;
use hedgerow_release::manifest::{ClassSizes, RelatedAttributes};
use hedgerow_table::read::{ReadOptions, read_within};
use hedgerow_table::{Codes, Kind, NoProgress, Spill, Table, TableError};
use hedgerow_verify::release_check::check_release;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// People with their unit, age, county, and disease; the region is that of seven counties in a row.
struct Person {
    unit: usize,
    age: u32,
    county: u32,
    disease: &'static str,
}

impl Person {
    fn region(&self) -> u32 {
        self.county / 7
    }
}

fn people(rng: &mut StdRng, units: usize, rows_max: usize) -> Vec<Person> {
    let mut people = Vec::new();
    for unit in 0..units {
        // Few live in the last regions.
        let county = if rng.random_bool(0.7) { rng.random_range(0..14) } else { rng.random_range(0..24) };
        for _ in 0..rng.random_range(1..=rows_max) {
            let disease = ["flu", "hiv", "none"][rng.random_range(0..3)];
            people.push(Person { unit, age: rng.random_range(20..60), county, disease });
        }
    }
    people
}

const HEADER: [&str; 6] = ["patient", "row", "age", "county", "region", "disease"];

fn table(people: &[Person]) -> Table {
    let rows: Vec<[String; 6]> = people
        .iter()
        .enumerate()
        .map(|(row, person)| {
            let (county, region) = (format!("{:02}", person.county), format!("r{}", person.region()));
            [
                format!("p{}", person.unit),
                row.to_string(),
                person.age.to_string(),
                county,
                region,
                person.disease.to_owned(),
            ]
        })
        .collect();
    let options = ReadOptions { kinds: [("county".to_owned(), Kind::Category)].into(), ..ReadOptions::default() };
    Table::from_records(HEADER, rows.iter().map(|row| row.iter().map(Some)), &options).unwrap()
}

fn policy(unit: &str, rules: &str, publish: &str) -> Policy {
    let text = format!(
        "[source]\npath = \"people.csv\"\n[attributes]\npatient = {{ role = \"{unit}\" }}\n\
         row = {{ role = \"plain\", allow-unique = true }}\nage = {{ role = \"quasi\", hierarchy = {{ widths = [10, 20] }} }}\n\
         county = {{ role = \"quasi\", type = \"category\", hierarchy = {{ mask = 2 }} }}\nregion = {{ role = \"quasi\" }}\n\
         disease = {{ role = \"sensitive\" }}\n{rules}\n[publish]\n{publish}"
    );
    Policy::parse(&text, Path::new("policy.toml")).unwrap()
}

fn published(policy: &Policy, table: &Table, folder: &Path, levels: &[(&str, u64)]) -> Result<Published, PublishError> {
    let destination = folder.join("release");
    let _ = std::fs::remove_dir_all(&destination);
    let levels = levels.iter().map(|(name, level)| ((*name).to_owned(), *level)).collect();
    publish(policy, table.into(), &PublishOptions { seed: Some(3), levels, ..PublishOptions::to(destination) })
}

/// The labels of each released row, and which row of the source it is.
fn released(published: &Published) -> Vec<(usize, BTreeMap<String, String>)> {
    let release = Release::open(&published.release, &NoProgress).unwrap();
    let hedgerow_release::ReleaseTables::Generalized(tables) = release.tables() else { panic!("no table") };
    let labels = |row: usize| {
        let texts = tables.table.columns.iter().map(|column| (column.name.clone(), column.text(row)));
        texts.collect::<BTreeMap<String, String>>()
    };
    let rows = (0..tables.table.rows).map(labels);
    rows.map(|labels| (labels["row"].parse().unwrap(), labels)).collect()
}

fn seeds(count: u64) -> Vec<u64> {
    match std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse().ok()) {
        Some(seed) => vec![seed],
        None => (0..count).collect(),
    }
}

/// A county tells its region: classes agree on both labels, and a release is found that
/// keeps the rule for these.
#[test]
fn a_rule_that_knows_the_county_knows_the_region() {
    let folder = tempfile::tempdir().unwrap();
    for seed in seeds(24) {
        let mut rng = StdRng::seed_from_u64(seed);
        let with_units = seed % 3 == 2;
        let people = people(&mut rng, 160, if with_units { 2 } else { 1 });
        let table = table(&people);
        let method = ["full-domain", "mondrian", "best-cut", "cluster"][seed as usize / 3 % 4];
        let rules = "[[rule]]\nknow = [\"county\"]\nprotect = \"disease\"\n\
                     require = [{ model = \"k-anonymity\", k = 9 }, { model = \"distinct-l-diversity\", l = 3 }]\n\
                     [[rule]]\nknow = [\"age\"]\nrequire = { model = \"k-anonymity\", k = 2 }\n";
        // The county is dear: without the region, many levels of it would do.
        let more = if method == "full-domain" { "suppression = 0.1\n" } else { "suppression = 0.5\n" };
        let unit = if with_units { "unit" } else { "identifier" };
        let policy = policy(unit, rules, &format!("method = \"{method}\"\n{more}"));
        let context = format!("seed {seed}, {method}, {unit}");
        let found = published(&policy, &table, folder.path(), &[]).unwrap_or_else(|error| panic!("{context}: {error}"));
        let mut classes: BTreeMap<[String; 2], Vec<usize>> = BTreeMap::new();
        for (row, labels) in released(&found) {
            classes.entry(["county", "region"].map(|name| labels[name].clone())).or_default().push(row);
        }
        for (class, rows) in &classes {
            let units: BTreeSet<usize> = rows.iter().map(|&row| people[row].unit).collect();
            let diseases: BTreeSet<&str> = rows.iter().map(|&row| people[row].disease).collect();
            assert!(units.len() >= 9 && diseases.len() == 3, "{class:?}, {context}");
        }
        let knows: Vec<&[String]> = found.checked.claims.iter().map(|claim| claim.know.as_slice()).collect();
        assert!(
            knows[..2].iter().all(|know| *know == ["county", "region"]) && knows[2] == ["age"],
            "{knows:?}, {context}"
        );
        let warned = found.warnings.iter().any(|warning| {
            let about = warning.about.as_ref();
            about.is_some_and(|about| about.code == "dependency")
                && warning.to_string().contains("as if its attacker knew `region`")
        });
        assert!(warned, "{:?}, {context}", found.warnings);
        if with_units {
            let release = Release::open(&found.release, &NoProgress).unwrap();
            over_units(&policy, &table, &release).unwrap_or_else(|error| panic!("{context}: {error}"));
        }
    }
}

/// The counties under a masked label.
fn counties(label: &str) -> impl Iterator<Item = u32> + '_ {
    let fits =
        |county: &u32| format!("{county:02}").chars().zip(label.chars()).all(|(own, mask)| mask == '*' || own == mask);
    (0..24).filter(fits)
}

/// Counties in groups that lie in two regions each: who knows the region of a person excludes the
/// rows of groups that have no county there, though the region's own label is `*`.
#[test]
fn groups_of_counties_leave_some_regions() {
    let folder = tempfile::tempdir().unwrap();
    let (mut refused, mut made) = (0, 0);
    for seed in seeds(48) {
        let mut rng = StdRng::seed_from_u64(seed);
        let with_units = seed % 2 == 1;
        let people = people(&mut rng, 150, if with_units { 3 } else { 1 });
        let table = table(&people);
        let (k, l) = ([8, 16, 24, 40][seed as usize / 2 % 4], 3);
        let rules = format!(
            "[[rule]]\nknow = [\"region\"]\nprotect = \"disease\"\nrows = \"one\"\n\
             require = [{{ model = \"k-anonymity\", k = {k} }}, {{ model = \"distinct-l-diversity\", l = {l} }}]\n\
             [[rule]]\nknow = [\"county\", \"region\"]\nrows = \"one\"\nrequire = {{ model = \"k-anonymity\", k = 2 }}\n"
        );
        let rules = if with_units { rules } else { rules.replace("rows = \"one\"\n", "") };
        let accept = "[[dependency]]\nfrom = [\"county\"]\nto = \"region\"\naccept = \"everyone knows the regions\"\n";
        let unit = if with_units { "unit" } else { "identifier" };
        let levels = [("age", 3), ("county", 1), ("region", 1)];
        let context = format!("seed {seed}, {unit}, k = {k}");
        let accepted = policy(unit, &format!("{rules}{accept}"), "");
        let accepted = match published(&accepted, &table, folder.path(), &levels) {
            Ok(accepted) => released(&accepted),
            // A group with one person.
            Err(PublishError::Unsatisfiable(_)) => continue,
            Err(error) => panic!("{context}: {error}"),
        };
        assert!(
            accepted.iter().all(|(_, labels)| labels["region"] == "*" && labels["county"].ends_with('*')),
            "{context}"
        );
        let mut exposed: BTreeSet<usize> = BTreeSet::new();
        for person in &people {
            let fits = |labels: &BTreeMap<String, String>| {
                counties(&labels["county"]).any(|county| county / 7 == person.region())
            };
            let left: Vec<&Person> =
                accepted.iter().filter(|(_, labels)| fits(labels)).map(|(row, _)| &people[*row]).collect();
            let units: BTreeSet<usize> = left.iter().map(|person| person.unit).collect();
            let diseases: BTreeSet<&str> = left.iter().map(|person| person.disease).collect();
            // With several rows each, the units' values are judged by a bound: k alone is compared.
            if units.len() < k || (!with_units && diseases.len() < l) {
                exposed.insert(person.unit);
            }
        }
        match published(&policy(unit, &rules, ""), &table, folder.path(), &levels) {
            Ok(_) => {
                made += 1;
                assert!(exposed.is_empty(), "{exposed:?}, {context}");
            }
            Err(PublishError::Table(TableError::Input(error))) => {
                refused += 1;
                let people = error.about.as_ref().and_then(|about| about.people).unwrap();
                // Of units, values count as well, by a bound.
                let is_right = if with_units { people >= exposed.len() as u64 } else { people == exposed.len() as u64 };
                assert!(is_right, "{error}: {exposed:?}, {context}");
                assert!(error.to_string().contains("`region` follows from `county`"), "{error}, {context}");
                assert!(error.to_string().contains("add `county` to `know` of the rule"), "{error}, {context}");
            }
            Err(error) => panic!("{context}: {error}"),
        }
    }
    assert!(refused > 5 && made > 1, "{refused} refused, {made} made");
}

/// The values that both labels of a row leave together, in either direction.
#[test]
fn values_that_both_labels_leave_are_stated() {
    let folder = tempfile::tempdir().unwrap();
    let mut rng = StdRng::seed_from_u64(7);
    let people = people(&mut rng, 150, 1);
    let table = table(&people);
    let policy =
        policy("identifier", "[[rule]]\nrequire = { model = \"k-anonymity\", k = 1 }\n", "suppression = 0.1\n");
    let occurring: BTreeSet<u32> = people.iter().map(|person| person.county).collect();
    for (county, region, narrowed) in [(1, 0, "county"), (2, 0, "county"), (0, 1, "region"), (1, 1, "region")] {
        let levels = [("age", 3), ("county", county), ("region", region)];
        let found = published(&policy, &table, folder.path(), &levels).unwrap_or_else(|error| panic!("{error}"));
        let mut expected = 0;
        for (_, labels) in released(&found) {
            let own: BTreeSet<u32> = counties(&labels["county"]).filter(|county| occurring.contains(county)).collect();
            let covers = |county: &&u32| labels["region"] == "*" || labels["region"] == format!("r{}", **county / 7);
            let both: BTreeSet<u32> = own.iter().filter(covers).copied().collect();
            let regions = |of: &BTreeSet<u32>| of.iter().map(|county| county / 7).collect::<BTreeSet<u32>>().len();
            let fewer = match narrowed {
                "county" => both.len() < own.len(),
                _ => labels["region"] == "*" && regions(&both) < regions(&occurring),
            };
            expected += u64::from(fewer);
        }
        let text = format!("leave fewer values of `{narrowed}`");
        let stated = found.warnings.iter().find(|warning| warning.to_string().contains(&text));
        let stated = stated.and_then(|warning| warning.about.as_ref()?.people);
        assert_eq!(stated.unwrap_or(0), expected, "{county} {region}: {:?}", found.warnings);
        assert!(expected > 50, "{county} {region}: {expected}");
        // The manifest has the classes that both labels give, which anyone can count again.
        let mut classes: BTreeMap<[String; 2], u64> = BTreeMap::new();
        for (_, labels) in released(&found) {
            *classes.entry(["county", "region"].map(|name| labels[name].clone())).or_default() += 1;
        }
        let release = Release::open(&found.release, &NoProgress).unwrap();
        let related = &release.manifest().unwrap().hedgerow.related;
        let expected = RelatedAttributes {
            from: vec!["county".to_owned()],
            to: "region".to_owned(),
            classes: ClassSizes::of(classes.into_values()),
        };
        assert_eq!(related, &[expected], "{county} {region}");
        assert_eq!(contradictions(&found.release), [""; 0]);
        let file = found.release.join("datapackage.json");
        let honest = std::fs::read_to_string(&file).unwrap();
        for (stated, forged) in [
            (format!("\"min\": {}", related[0].classes.min), format!("\"min\": {}", related[0].classes.min + 1)),
            ("\"to\": \"region\"".to_owned(), "\"to\": \"disease\"".to_owned()),
            ("\"to\": \"region\"".to_owned(), "\"to\": \"county\"".to_owned()),
        ] {
            let place = honest.find("\"related\"").unwrap();
            let (before, after) = honest.split_at(place);
            std::fs::write(&file, format!("{before}{}", after.replacen(&stated, &forged, 1))).unwrap();
            assert_eq!(contradictions(&found.release).len(), 1, "{stated}: {:?}", contradictions(&found.release));
        }
    }
}

fn contradictions(release: &Path) -> Vec<String> {
    check_release(&Release::open(release, &NoProgress).unwrap(), &[]).unwrap().contradictions
}

/// Two tables that differ in suppressed rows alone: in the one their county has two regions. The
/// manifests are the same.
#[test]
fn what_is_stated_of_related_attributes_says_nothing_of_suppressed_rows() {
    let folder = tempfile::tempdir().unwrap();
    let mut rng = StdRng::seed_from_u64(11);
    let mut people = people(&mut rng, 150, 1);
    // The only ones in a county whose number begins with 9.
    people.extend([0, 1].map(|more| Person { unit: 150 + more, age: 30, county: 98, disease: "flu" }));
    let policy =
        policy("identifier", "[[rule]]\nrequire = { model = \"k-anonymity\", k = 4 }\n", "suppression = 0.2\n");
    let mut manifests = Vec::new();
    for deviates in [false, true] {
        let mut table = table(&people);
        if deviates {
            let region = table.columns.iter_mut().find(|column| column.name == "region").unwrap();
            let last = region.codes.len() - 1;
            let codes = region.codes.iter().enumerate().map(|(row, code)| if row == last { 0 } else { code });
            region.codes = Codes::from_iter(region.domain.cardinality(), codes);
        }
        let levels = [("age", 3), ("county", 1), ("region", 0)];
        let found = published(&policy, &table, folder.path(), &levels).unwrap_or_else(|error| panic!("{error}"));
        assert!(released(&found).iter().all(|(row, _)| *row < 150));
        manifests.push(std::fs::read_to_string(found.release.join("datapackage.json")).unwrap());
    }
    assert!(manifests[0].contains("\"related\""), "{}", manifests[0]);
    assert_eq!(manifests[0], manifests[1]);
}

/// Rows on the disk are held once each, and lead to the same list: what follows among the released
/// rows, whatever was suppressed.
#[test]
fn related_attributes_are_stated_from_the_disk_as_from_memory() {
    let (mut listed, mut unlisted) = (0, 0);
    for seed in seeds(20) {
        let folder = tempfile::tempdir().unwrap();
        let mut rng = StdRng::seed_from_u64(seed);
        let mut people = people(&mut rng, 300, 1);
        // Two of a county that are suppressed or not, of which one may have another region.
        let county = if seed % 2 == 0 { 98 } else { 3 };
        people.extend([0, 1].map(|more| Person { unit: 300 + more, age: 30, county, disease: "flu" }));
        let mut text = HEADER.join(",") + "\n";
        for (row, person) in people.iter().enumerate() {
            let region = if row == people.len() - 1 && seed % 3 > 0 { 2 } else { person.region() };
            let Person { unit, age, county, disease } = person;
            text += &format!("p{unit},{row},{age},{county:02},r{region},{disease}\n");
        }
        let file = folder.path().join("people.csv");
        std::fs::write(&file, text).unwrap();
        let (method, terms) = match seed % 4 {
            3 => ("mondrian", "method = \"mondrian\"\n"),
            _ => ("full-domain", "suppression = 0.2\n"),
        };
        let mut policy = policy("identifier", "[[rule]]\nrequire = { model = \"k-anonymity\", k = 4 }\n", terms);
        policy.source.path = file;
        let spill = Spill::new(folder.path(), 4 << 20).with_held(0);
        let open =
            |options: &ReadOptions<'_>| Ok(RowStore::held(read_within(&policy.source.path, options, &spill)?, &spill));
        let made = [("memory", RowSource::Policy), ("disk", RowSource::Open(&open))].map(|(name, source)| {
            let options = PublishOptions { seed: Some(3), ..PublishOptions::to(folder.path().join(name)) };
            publish(&policy, source, &options).unwrap_or_else(|error| panic!("seed {seed}, {name}: {error}"))
        });
        assert!(made[1].spilled > 0, "seed {seed}");
        let manifests = made.each_ref().map(|made| std::fs::read(made.release.join("datapackage.json")).unwrap());
        assert!(manifests[0] == manifests[1], "seed {seed}, {method}");
        let release = Release::open(&made[1].release, &NoProgress).unwrap();
        match release.manifest().unwrap().hedgerow.related.is_empty() {
            true => unlisted += 1,
            false => listed += 1,
        }
        if method == "full-domain" {
            let narrowed = made.each_ref().map(|made| {
                let warnings = made.warnings.iter().map(ToString::to_string);
                warnings.filter(|warning| warning.contains("follows from")).collect::<Vec<String>>()
            });
            assert_eq!(narrowed[0], narrowed[1], "seed {seed}");
        }
    }
    assert!(std::env::var("HEDGEROW_SEED").is_ok() || listed > 5 && unlisted > 2, "{listed} {unlisted}");
}
