//! Related quasi-identifiers against an attacker who knows publicly which county lies in which
//! region: random small tables, published by every method that shows rows.
//!
//! The attacker takes each released row by itself. The row is about some age and some county that
//! its labels cover, whose region the label of the region covers too; of these completions one is
//! true, and nothing in the release says which. Rows that have no completion that agrees with what
//! the attacker knows of a person are not the person's. The others must be enough, and must have
//! enough protected values, for every person and every rule.
//!
//! In every third case people have several rows, and the rules count people. An attacker who knows
//! one row of a person looks for the people of whom some row may be it; one who knows all rows, for
//! those who have a row for each, all different.
//!
//! Nothing here is shared with the library but the call to publish: labels and what they cover are
//! read from the files. A failure prints its seed; `HEDGEROW_SEED=… cargo test -p hedgerow-publish
//! knows_the_map` replays that case alone. `HEDGEROW_RELATED_CASES` sets how many are tried.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use hedgerow_policy::Policy;
use hedgerow_publish::{PublishError, PublishOptions, publish};
use hedgerow_table::read::ReadOptions;
use hedgerow_table::{Kind, Table, TableError};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

use crate::units_local::read_csv;

const CASES: u64 = 360;
const METHODS: [&str; 4] = ["full-domain", "mondrian", "best-cut", "cluster"];
const COUNTIES: [&str; 6] = ["10", "11", "20", "21", "30", "31"];
const KNOWN: [&[&str]; 6] = [
    &["region"],
    &["county"],
    &["county", "region"],
    &["age", "region"],
    &["age", "county"],
    &["age", "county", "region"],
];

/// A row, and whom it is about.
struct Person {
    unit: usize,
    age: u32,
    county: usize,
    disease: String,
}

struct Case {
    method: &'static str,
    people: Vec<Person>,
    /// By county, its region.
    map: Vec<String>,
    rules: Vec<WantedRule>,
    text: String,
}

struct WantedRule {
    know: &'static [&'static str],
    k: usize,
    /// Different diseases.
    l: usize,
    rows: KnownRows,
}

/// Which rows of a person the attacker knows; where everyone has one, it is all.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KnownRows {
    One,
    All,
}

fn random_case(seed: u64) -> Case {
    let mut rng = StdRng::seed_from_u64(seed);
    let regions = rng.random_range(2..4);
    // Counties whose numbers begin alike need not lie together.
    let map: Vec<String> = COUNTIES.iter().map(|_| format!("r{}", rng.random_range(0..regions))).collect();
    let with_units = seed % 3 == 2;
    let mut people: Vec<Person> = Vec::new();
    for unit in 0..rng.random_range(4..24) {
        let county = rng.random_range(0..COUNTIES.len());
        for _ in 0..if with_units { rng.random_range(1..4) } else { 1 } {
            // Some move.
            let county = if rng.random_bool(0.1) { rng.random_range(0..COUNTIES.len()) } else { county };
            let (age, disease) = (rng.random_range(20..30), format!("d{}", rng.random_range(0..3)));
            people.push(Person { unit, age, county, disease });
        }
    }
    let rules: Vec<WantedRule> = (0..rng.random_range(1..3))
        .map(|_| WantedRule {
            know: KNOWN[rng.random_range(0..KNOWN.len())],
            k: rng.random_range(2..5),
            // Of people with several rows, the values are judged by a bound: k alone is compared.
            l: if with_units { 1 } else { rng.random_range(1..3) },
            rows: if with_units && rng.random_bool(0.5) { KnownRows::One } else { KnownRows::All },
        })
        .collect();
    let method = METHODS[seed as usize / 3 % METHODS.len()];
    let in_text: String = rules
        .iter()
        .map(|WantedRule { know, k, l, rows }| {
            let rows = if *rows == KnownRows::One { "rows = \"one\"\n" } else { "" };
            format!(
                "[[rule]]\nknow = {know:?}\nprotect = \"disease\"\n{rows}\
                 require = [{{ model = \"k-anonymity\", k = {k} }}, {{ model = \"distinct-l-diversity\", l = {l} }}]\n"
            )
        })
        .collect();
    let county = ["", ", hierarchy = { mask = 2 }"].choose(&mut rng).expect("some");
    let age = ["", ", hierarchy = { widths = [5] }"].choose(&mut rng).expect("some");
    let unit = if with_units { "unit" } else { "identifier" };
    let text = format!(
        "[source]\npath = \"people.csv\"\n[attributes]\nperson = {{ role = \"{unit}\" }}\nrow = {{ role = \"plain\", allow-unique = true }}\n\
         age = {{ role = \"quasi\", type = \"integer\"{age} }}\ncounty = {{ role = \"quasi\", type = \"category\"{county} }}\n\
         region = {{ role = \"quasi\" }}\ndisease = {{ role = \"sensitive\" }}\n{in_text}\
         [publish]\nmethod = \"{method}\"\nsuppression = {}\n",
        ["0", "0.3", "0.9"].choose(&mut rng).expect("some")
    );
    Case { method, people, map, rules, text }
}

impl Case {
    fn table(&self) -> Table {
        let rows: Vec<Vec<String>> = self
            .people
            .iter()
            .enumerate()
            .map(|(row, person)| {
                let (county, region) = (COUNTIES[person.county].to_owned(), self.map[person.county].clone());
                vec![
                    format!("p{}", person.unit),
                    row.to_string(),
                    person.age.to_string(),
                    county,
                    region,
                    person.disease.clone(),
                ]
            })
            .collect();
        let kinds = [("county".to_owned(), Kind::Category), ("age".to_owned(), Kind::Integer)].into();
        let options = ReadOptions { kinds, ..ReadOptions::default() };
        let header = ["person", "row", "age", "county", "region", "disease"];
        Table::from_records(header, rows.iter().map(|row| row.iter().map(Some)), &options).unwrap()
    }

    /// With the dependency declared, since small tables do not show any.
    fn policy(&self, accept: bool) -> Policy {
        let accept = if accept { "accept = \"printed in every atlas\"\n" } else { "" };
        let text = format!("{}[[dependency]]\nfrom = [\"county\"]\nto = \"region\"\n{accept}", self.text);
        Policy::parse(&text, Path::new("policy.toml")).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
    }

    /// The released people whom some rule does not protect.
    fn exposed(&self, release: &Path) -> BTreeSet<usize> {
        let rows = released(release);
        let mut exposed = BTreeSet::new();
        for (row, _) in &rows {
            let target = &self.people[*row];
            for WantedRule { know, k, l, rows: known } in &self.rules {
                let fitting: Vec<usize> =
                    rows.iter().filter(|(_, row)| self.may_be(target, know, row)).map(|(row, _)| *row).collect();
                let diseases: BTreeSet<&str> = fitting.iter().map(|&row| self.people[row].disease.as_str()).collect();
                let of_unit: Vec<&Person> = match known {
                    KnownRows::One => vec![target],
                    KnownRows::All => self.people.iter().filter(|other| other.unit == target.unit).collect(),
                };
                let units: BTreeSet<usize> = fitting.iter().map(|&row| self.people[row].unit).collect();
                let fit = |unit: &&usize| {
                    let own: Vec<&ReleasedRow> =
                        (rows.iter().filter(|(row, _)| self.people[*row].unit == **unit)).map(|(_, row)| row).collect();
                    self.have_rows_for(&of_unit, know, &own)
                };
                if units.iter().filter(fit).count() < *k || diseases.len() < *l {
                    exposed.insert(*row);
                }
            }
        }
        exposed
    }

    /// Whether some of the released rows may be the known ones, each another one.
    fn have_rows_for(&self, known: &[&Person], know: &[&str], released: &[&ReleasedRow]) -> bool {
        let Some((first, others)) = known.split_first() else { return true };
        (0..released.len()).any(|place| {
            let left: Vec<&ReleasedRow> =
                released.iter().enumerate().filter(|(other, _)| *other != place).map(|(_, row)| *row).collect();
            self.may_be(first, know, released[place]) && self.have_rows_for(others, know, &left)
        })
    }

    /// Whether some completion of a row agrees with what is known of a person.
    fn may_be(&self, target: &Person, know: &[&str], row: &ReleasedRow) -> bool {
        (20..30u32).any(|age| {
            (0..COUNTIES.len()).any(|county| {
                let possible = row.covers("age", &age.to_string())
                    && row.covers("county", COUNTIES[county])
                    && row.covers("region", &self.map[county]);
                let agrees = know.iter().all(|name| match *name {
                    "age" => age == target.age,
                    "county" => county == target.county,
                    _ => self.map[county] == self.map[target.county],
                });
                possible && agrees
            })
        })
    }
}

/// The cover of the cells of a row, as the codebook has it: `low`, `high` and `leaf`.
pub(crate) struct ReleasedRow {
    covers: BTreeMap<String, Vec<[String; 3]>>,
}

impl ReleasedRow {
    pub(crate) fn covers(&self, name: &str, value: &str) -> bool {
        self.covers[name].iter().any(|[low, high, leaf]| {
            let end = |end: &str| end.parse::<f64>().ok();
            let is_like = |(pattern, own): (char, char)| pattern == '*' || pattern == own;
            if !leaf.is_empty() {
                return leaf.len() == value.len() && leaf.chars().zip(value.chars()).all(is_like);
            }
            let Ok(number) = value.parse::<f64>() else { return low.is_empty() && high.is_empty() };
            match (end(low), end(high)) {
                (Some(low), Some(high)) if low == high => number == low,
                (low, high) => low.is_none_or(|low| low <= number) && high.is_none_or(|high| number < high),
            }
        })
    }
}

/// The released rows with their number in the source.
pub(crate) fn released(release: &Path) -> Vec<(usize, ReleasedRow)> {
    let read = |file: &str| read_csv(&std::fs::read_to_string(release.join(file)).unwrap());
    let mut codebook: BTreeMap<(String, String), Vec<[String; 3]>> = BTreeMap::new();
    for line in &read("codebook.csv")[1..] {
        let [attribute, label, low, high, leaf] = line.as_slice() else { panic!("{line:?}") };
        let cover = [low.clone(), high.clone(), leaf.clone()];
        codebook.entry((attribute.clone(), label.clone())).or_default().push(cover);
    }
    let lines = read("data.csv");
    let header = &lines[0];
    let rows = lines[1..].iter().map(|line| {
        let mut covers: BTreeMap<String, Vec<[String; 3]>> = BTreeMap::new();
        let mut number = 0;
        for (name, cell) in header.iter().zip(line) {
            if name == "row" {
                number = cell.parse().unwrap();
            }
            let itself = || vec![[String::new(), String::new(), cell.clone()]];
            let cover = codebook.get(&(name.clone(), cell.clone())).cloned().unwrap_or_else(itself);
            covers.insert(name.clone(), cover);
        }
        (number, ReleasedRow { covers })
    });
    rows.collect()
}

fn cases() -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    match number("HEDGEROW_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("HEDGEROW_RELATED_CASES").unwrap_or(CASES),
    }
}

#[test]
fn everyone_is_protected_from_who_knows_the_map_of_counties_and_regions() {
    let folder = tempfile::tempdir().unwrap();
    let destination = folder.path().join("release");
    let (mut made, mut refused, mut exposed) = (BTreeMap::new(), 0, 0);
    for seed in cases() {
        let case = random_case(seed);
        let table = case.table();
        let context = || {
            let people = case.people.iter();
            let people = people.map(|person| (person.unit, person.age, COUNTIES[person.county], &person.disease));
            format!("seed {seed}\n{}\n{:?}\n{:?}", case.text, case.map, people.collect::<Vec<_>>())
        };
        let published = |accept: bool| {
            let _ = std::fs::remove_dir_all(&destination);
            let options = PublishOptions { seed: Some(seed), ..PublishOptions::to(destination.clone()) };
            publish(&case.policy(accept), (&table).into(), &options)
        };
        match published(false) {
            Ok(found) => {
                *made.entry(case.method).or_insert(0) += 1;
                let exposed = case.exposed(&found.release);
                assert!(exposed.is_empty(), "{exposed:?} are exposed, {}", context());
            }
            Err(PublishError::Table(TableError::Input(error))) if error.to_string().contains("follows from") => {
                refused += 1;
            }
            Err(PublishError::Unsatisfiable(_) | PublishError::Ineligible(_)) => {}
            Err(error) => panic!("{error}\n{}", context()),
        }
        // Accepted, the dependency is not judged.
        if let Ok(found) = published(true) {
            exposed += usize::from(!case.exposed(&found.release).is_empty());
        }
    }
    if std::env::var("HEDGEROW_SEED").is_err() {
        let enough = METHODS.iter().all(|method| made.get(method).is_some_and(|made| *made > 20));
        assert!(enough && refused > 1 && exposed > 5, "{made:?} made, {refused} refused, {exposed} exposed");
    }
}
