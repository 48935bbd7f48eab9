//! The cluster and memory lead to the same release, to the row.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use hedgerow::{Error, Policy, Publish, Published, Release, Role};
use hedgerow_release::bucketized::{Bucketized, GROUP};
use hedgerow_release::manifest::Manifest;
use hedgerow_table::read::ReadOptions;
use hedgerow_table::{NoProgress, Table};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// The same policy with and without a cluster.
pub(crate) struct Twins {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) here: Policy,
    pub(crate) there: Policy,
}

impl Twins {
    /// `source` is what both say under `[source]`.
    pub(crate) fn new(folder: tempfile::TempDir, address: &str, source: &str, rest: &str) -> Twins {
        // The same places in both, so that warnings can be compared.
        Twins::with_sources(folder, &format!("# here\n{source}"), &format!("engine = \"{address}\"\n{source}"), rest)
    }

    pub(crate) fn with_sources(folder: tempfile::TempDir, here: &str, there: &str, rest: &str) -> Twins {
        let policy = |source: &str| {
            let text = format!("[source]\n{source}\n{rest}");
            Policy::parse(&text, folder.path().join("policy.toml")).unwrap_or_else(|error| panic!("{error}\n{text}"))
        };
        Twins { here: policy(here), there: policy(there), folder }
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Publishes both and compares them. `None` when both refuse.
    pub(crate) fn publish(&self) -> Option<(Published, Published)> {
        let started = Instant::now();
        // Buckets are dealt by random numbers, which are the same for both.
        let here = Publish::new(&self.here, self.at("here")).candidates(true).danger_seed(Some(7)).run();
        let of_here = started.elapsed();
        let there = hedgerow_spark::Publish::new(&self.there, self.at("there")).candidates(true);
        let there = there.danger_seed(Some(7)).run();
        println!("published here within {of_here:?}, there within {:?}", started.elapsed() - of_here);
        let (here, there) = match (here, there) {
            (Ok(here), Ok(there)) => (here, there),
            (Err(here), Err(there)) => {
                let kind = |error: &Error| error.kind();
                assert_eq!(kind(&here), kind(&there), "{here}\n{there}");
                assert!(!self.at("there").exists());
                return None;
            }
            (here, there) => panic!("{here:?}\n{there:?}"),
        };
        compare(&here, &there);
        let released = [self.at("here"), self.at("there")].map(|path| hedgerow::Release::open(path).unwrap());
        if self.here.method().name() == "anatomy" {
            self.compare_buckets();
        } else if self.here.as_ref().publish.strict {
            let [here, there] = released.each_ref().map(|release| sorted_rows(release, |_| true));
            assert!(here == there);
        } else {
            // Rows that rules take for equal are parted at random, so what else is in them differs.
            let named = |name: &str| {
                let mut names = self.here.as_ref().rules.iter().flat_map(|rule| rule.know.iter().chain(&rule.protect));
                names.any(|known| known == name)
            };
            for decided in [true, false] {
                let wanted = |name: &str| (self.is_quasi(name) || named(name)) == decided;
                let [here, there] = released.each_ref().map(|release| sorted_rows(release, wanted));
                assert!(here == there);
            }
        }
        let codebook = |name: &str| std::fs::read(self.at(name).join("codebook.csv")).unwrap();
        assert_eq!(codebook("here"), codebook("there"));
        assert!(released[1].check().unwrap().holds());
        Some((here, there))
    }

    fn is_quasi(&self, name: &str) -> bool {
        self.here.attributes().any(|attribute| attribute == (name, Role::Quasi))
    }

    /// Rows that are equal to the eyes of the bucketizer are dealt at random, so that which of them
    /// is in which bucket differs. With a column `id`, each is compared with its own row of the
    /// source.
    fn compare_buckets(&self) {
        let [here, there] = ["here", "there"].map(|name| {
            let manifest = Manifest::read(&self.at(name)).unwrap();
            Bucketized::read(&self.at(name), &manifest, &NoProgress).unwrap()
        });
        assert!(sorted_texts(&here.counted, |_| true) == sorted_texts(&there.counted, |_| true));
        for of_group in [true, false] {
            let wanted = |name: &str| (name == GROUP) == of_group;
            assert!(sorted_texts(&here.quasi, wanted) == sorted_texts(&there.quasi, wanted));
        }
        let source = hedgerow_table::read::read_table(&self.here.source.path, &ReadOptions::default()).unwrap();
        let (Some(id), Some(value)) = (source.column("id"), source.column(&there.sensitive)) else { return };
        let values: HashMap<String, String> = (0..source.rows).map(|row| (id.text(row), value.text(row))).collect();
        let (id, group) = (there.quasi.column("id").unwrap(), there.quasi.column(GROUP).unwrap());
        let mut counts: BTreeMap<Vec<String>, u64> = BTreeMap::new();
        for row in 0..there.quasi.rows {
            *counts.entry(vec![group.text(row), values[&id.text(row)].clone()]).or_default() += 1;
        }
        let mut counts: Vec<Vec<String>> =
            counts.into_iter().map(|(key, count)| [key, vec![count.to_string()]].concat()).collect();
        counts.sort_unstable();
        assert_eq!(counts, sorted_texts(&there.counted, |_| true));
    }
}

/// Fewer rows may be no evidence of any dependency, so that none is looked for.
const FEW_ROWS: u64 = 500;

/// Levels, losses, sizes of classes, guarantees and warnings are the same.
pub(crate) fn compare(here: &Published, there: &Published) {
    assert_eq!((here.rows, here.classes), (there.rows, there.classes));
    assert_eq!(here.loss, there.loss);
    assert_eq!(here.guarantees, there.guarantees);
    let search = |published: &Published| {
        published.search.as_ref().map(|search| (search.levels.clone(), search.candidates, search.proven))
    };
    assert_eq!(search(here), search(there));
    // Dependencies, methods that would lose less, and labels that narrow each other are looked for
    // only where the rows are in memory.
    let in_memory = ["were not looked for", "would lose", "follows from"];
    let warnings = |published: &Published| {
        let texts = published.warnings.iter().map(ToString::to_string);
        texts.filter(|text| !in_memory.iter().any(|known| text.contains(known))).collect::<Vec<_>>()
    };
    assert_eq!(warnings(here), warnings(there));
    let unsearched = |published: &Published| {
        published.warnings.iter().any(|warning| warning.to_string().contains("were not looked for"))
    };
    // Few rows show no dependency, whatever counts them.
    assert!(unsearched(there) || here.rows.source < FEW_ROWS, "the cluster says what it does not look for");
    assert!(!unsearched(here));
}

/// All rows of a generalized release as texts.
pub(crate) fn rows(release: &Release) -> Vec<Vec<String>> {
    rows_over(release, |_| true)
}

fn rows_over(release: &Release, is_wanted: impl Fn(&str) -> bool) -> Vec<Vec<String>> {
    texts(&release.tables().unwrap()[0].table, is_wanted)
}

fn sorted_rows(release: &Release, is_wanted: impl Fn(&str) -> bool) -> Vec<Vec<String>> {
    sorted_texts(&release.tables().unwrap()[0].table, is_wanted)
}

fn texts(table: &Table, is_wanted: impl Fn(&str) -> bool) -> Vec<Vec<String>> {
    let columns: Vec<_> = table.columns.iter().filter(|column| is_wanted(&column.name)).collect();
    (0..table.rows).map(|row| columns.iter().map(|column| column.text(row)).collect()).collect()
}

fn sorted_texts(table: &Table, is_wanted: impl Fn(&str) -> bool) -> Vec<Vec<String>> {
    let mut rows = texts(table, is_wanted);
    rows.sort_unstable();
    rows
}

pub(crate) fn adult_policy(k: u64) -> String {
    let hierarchies = examples().join("adult/hierarchies");
    let mut text = "[attributes]\n".to_owned();
    for name in ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class"] {
        let file = hierarchies.join(format!("{name}.csv"));
        writeln!(text, "{name} = {{ role = \"quasi\", hierarchy = \"{}\" }}", file.display()).unwrap();
    }
    text.push_str("occupation = { role = \"sensitive\" }\n");
    writeln!(text, "[[rule]]\nrequire = {{ model = \"k-anonymity\", k = {k} }}").unwrap();
    text.push_str("[[rule]]\nprotect = \"occupation\"\nrequire = { model = \"distinct-l-diversity\", l = 3 }\n");
    text + "[publish]\nmethod = \"full-domain\"\nsuppression = 0.02\nloss = \"granularity\"\n"
}

pub(crate) fn adult_source() -> String {
    format!("path = \"{}\"\ndelimiter = \";\"", adult_file().display())
}

pub(crate) fn adult_file() -> PathBuf {
    examples().join("adult/adult.csv.gz")
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").canonicalize().unwrap()
}

pub(crate) fn adult(address: &str) {
    let twins = Twins::new(tempfile::tempdir().unwrap(), address, &adult_source(), &adult_policy(5));
    let (_, there) = twins.publish().expect("Adult can be published");
    assert!(there.rows.suppressed > 0, "some rows are suppressed, so that suppression is compared too");
    // A second release of the same rows has another order.
    hedgerow_spark::publish(&twins.there, twins.at("again")).unwrap();
    let order = |name: &str| rows(&hedgerow::Release::open(twins.at(name)).unwrap());
    assert!(order("there") != order("again"));
    // What was written is a source too, with the types that Parquet declares.
    let source = format!("path = \"{}\"", twins.at("there/data.parquet").display());
    let rest = "[attributes]\nage = { role = \"quasi\" }\nsex = { role = \"quasi\" }\n\
                occupation = { role = \"sensitive\", type = \"category\" }\n\
                [[rule]]\nprotect = \"occupation\"\nrequire = { model = \"entropy-l-diversity\", l = 2 }\n\
                [publish]\nsuppression = 0.5\n";
    Twins::new(tempfile::tempdir().unwrap(), address, &source, rest).publish().expect("it can be published again");
}

/// Mondrian, whose relaxed cuts part equal rows.
pub(crate) fn adult_divided(address: &str) {
    let mut rest = adult_policy(5);
    let searched = rest.find("[publish]").unwrap();
    rest.replace_range(searched.., "[publish]\nmethod = \"mondrian\"\nstrict = false\n");
    // Numbers in their own order: cuts along trees part no equal rows.
    let age = rest.lines().find(|line| line.starts_with("age = ")).unwrap().to_owned();
    let rest = rest.replace(&age, "age = { role = \"quasi\" }");
    let twins = Twins::new(tempfile::tempdir().unwrap(), address, &adult_source(), &rest);
    let (_, there) = twins.publish().expect("Adult can be divided");
    assert!(there.classes.count > 1000, "{}", there.classes.count);
    assert!(hedgerow_spark::check(&twins.at("there"), address).unwrap().holds());
}

/// Anatomy, by the order of the rows and at random.
pub(crate) fn adult_in_buckets(address: &str) {
    let mut rest = adult_policy(5);
    let rules = rest.find("[[rule]]").unwrap();
    rest.truncate(rules);
    for (l, assignment) in [(4, "order"), (5, "random")] {
        let rest = format!(
            "{rest}[[rule]]\nprotect = \"occupation\"\nrequire = {{ model = \"frequency-l-diversity\", l = {l} }}\n\
             [publish]\nmethod = \"anatomy\"\nassignment = \"{assignment}\"\n"
        );
        let twins = Twins::new(tempfile::tempdir().unwrap(), address, &adult_source(), &rest);
        let (_, there) = twins.publish().expect("Adult can be bucketized");
        assert!(there.classes.count > 5000, "{}", there.classes.count);
        let found = hedgerow_spark::check(&twins.at("there"), address).unwrap();
        assert!(found.holds());
        let here = hedgerow::Release::open(twins.at("there")).unwrap().check().unwrap();
        assert_eq!((here.guarantees, here.classes, here.rows), (found.guarantees, found.classes, found.rows));
        // The rows of another deal: their buckets are not those that the counts are of.
        hedgerow_spark::publish(&twins.there, twins.at("other")).unwrap();
        let table = "there/quasi.parquet";
        std::fs::rename(twins.at(table), twins.at("quasi")).unwrap();
        std::fs::rename(twins.at("other/quasi.parquet"), twins.at(table)).unwrap();
        assert!(!hedgerow_spark::check(&twins.at("there"), address).unwrap().holds());
    }
}

/// Classes of four and five rows cannot be made of seven, seven, three and one: equal rows are on
/// both sides of a cut.
pub(crate) fn equal_rows_are_parted(address: &str) {
    let folder = tempfile::tempdir().unwrap();
    let ages = [(1, 7), (2, 7), (3, 3), (4, 1)].into_iter().flat_map(|(age, rows)| std::iter::repeat_n(age, rows));
    let rows: String = ages.enumerate().map(|(row, age)| format!("{age},w{row}\n")).collect();
    std::fs::write(folder.path().join("people.csv"), format!("age,ward\n{rows}")).unwrap();
    let rest = "[attributes]\nage = { role = \"quasi\" }\nward = { role = \"plain\", allow-unique = true }\n\
                [[rule]]\nrequire = { model = \"k-anonymity\", k = 3 }\n\
                [publish]\nmethod = \"mondrian\"\nstrict = false\n";
    let twins = Twins::new(folder, address, "path = \"people.csv\"", rest);
    let (_, there) = twins.publish().expect("it can be divided");
    assert_eq!((there.classes.count, there.classes.min, there.classes.max), (4, 4, 5));
}

/// Methods that need single rows are refused by name.
pub(crate) fn other_methods_are_refused(address: &str) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("people.csv"), "age,job\n1,a\n2,b\n").unwrap();
    let source = format!("engine = \"{address}\"\npath = \"people.csv\"");
    for (publish, named) in [
        ("method = \"mondrian\"\nimprove = true", "`improve = true` needs the rows"),
        ("method = \"best-cut\"", "best-cut needs the rows"),
        ("method = \"cluster\"", "cluster needs the rows"),
    ] {
        let rest = format!(
            "[attributes]\nage = {{ role = \"quasi\" }}\njob = {{ role = \"sensitive\" }}\n\
             [[rule]]\nrequire = {{ model = \"k-anonymity\", k = 2 }}\n[publish]\n{publish}\n"
        );
        let text = format!("[source]\n{source}\n{rest}");
        let policy = Policy::parse(&text, folder.path().join("policy.toml")).unwrap();
        let error = hedgerow_spark::publish(&policy, folder.path().join("release")).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{error}");
        assert!(error.to_string().contains(named), "{error}");
        assert!(!folder.path().join("release").exists());
    }
}

/// Values that end up somewhere else when they are pasted into a statement.
const AWKWARD: [&str; 12] = [
    "a",
    "b",
    "O'Hara",
    "x\"y",
    "'; DROP TABLE people; --",
    "`back`",
    "ü–漢",
    " padded ",
    "a,b",
    "line\nbreak",
    "\\n",
    "NULL",
];

pub(crate) fn random_tables(address: &str, tables: u64) {
    let only = std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse::<u64>().ok());
    let mut published = 0;
    for seed in only.map_or_else(|| (0..tables).collect::<Vec<_>>(), |seed| vec![seed]) {
        let outcome = std::panic::catch_unwind(|| random_table(address, seed));
        published += usize::from(outcome.unwrap_or_else(|_| panic!("failed with HEDGEROW_SEED={seed}")));
    }
    assert!(only.is_some() || published * 3 > tables as usize, "most tables are published: {published} of {tables}");
}

/// Whether it could be published.
fn random_table(address: &str, seed: u64) -> bool {
    let mut rng = StdRng::seed_from_u64(seed);
    let rows = [0, 1, 2, 7, 30, 120][rng.random_range(0..6)];
    let text_values = rng.random_range(1..=AWKWARD.len());
    let missing = [0.0, 0.2, 1.0][usize::from(rng.random_bool(0.4)) + usize::from(rng.random_bool(0.05))];
    let mut csv = "id,age,\"na`me, of\",day,share,sick\n".to_owned();
    for id in 0..rows {
        let age = if rng.random_bool(missing) { String::new() } else { rng.random_range(20..26).to_string() };
        let text = AWKWARD[rng.random_range(0..text_values)].replace('"', "\"\"");
        let day = format!("2024-0{}-1{}", rng.random_range(1..4), rng.random_range(0..3));
        let share = ["1.5", "1.50", "-0.25", "0.25", "NA", ""][rng.random_range(0..6)];
        let sick = AWKWARD[rng.random_range(0..3)];
        writeln!(csv, "{id},{age},\"{text}\",{day},{share},{sick}").unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("people.csv"), csv).unwrap();
    let k = rng.random_range(1..5);
    let suppression = [0.0, 0.1, 0.5][rng.random_range(0..3)];
    let second = match rng.random_range(0..4) {
        0 => "[[rule]]\nprotect = \"sick\"\nrequire = { model = \"distinct-l-diversity\", l = 2 }\n",
        1 => "[[rule]]\nknow = [\"age\"]\nprotect = \"sick\"\nrequire = { model = \"entropy-l-diversity\", l = 2 }\n",
        2 => "[[rule]]\nprotect = \"sick\"\nrequire = { model = \"t-closeness\", t = 0.4, distance = \"equal\" }\n",
        _ => "",
    };
    let k_anonymity = format!("[[rule]]\nrequire = {{ model = \"k-anonymity\", k = {k} }}\n");
    let (rules, publish) = match seed % 4 {
        0 => (k_anonymity + second, format!("method = \"full-domain\"\nsuppression = {suppression:.1}\n")),
        3 => {
            let assignment = ["order", "random"][rng.random_range(0..2)];
            let rule = "[[rule]]\nprotect = \"sick\"\nrequire = { model = \"frequency-l-diversity\", l = 2 }\n";
            (rule.to_owned(), format!("method = \"anatomy\"\nassignment = \"{assignment}\"\n"))
        }
        cuts => {
            let summary = ["region", "tight"][rng.random_range(0..2)];
            let publish = format!("method = \"mondrian\"\nstrict = {}\nsummarise = \"{summary}\"\n", cuts == 1);
            (k_anonymity + second, publish)
        }
    };
    let rest = format!(
        "[attributes]\nid = {{ role = \"plain\", allow-unique = true }}\n\
         age = {{ role = \"quasi\", hierarchy = {{ widths = [2, 4] }} }}\n\"na`me, of\" = {{ role = \"quasi\" }}\nday = {{ role = \"quasi\", hierarchy = {{ dates = [\"month\"] }} }}\n\
         share = {{ role = \"plain\", type = \"float\", allow-unique = true }}\nsick = {{ role = \"sensitive\" }}\n\
         {rules}[publish]\n{publish}"
    );
    let source = "path = \"people.csv\"\nnull = [\"\", \"NA\"]";
    Twins::new(folder, address, source, &rest).publish().is_some()
}

/// A table of the catalog, and a query whose comment must not swallow anything.
pub(crate) fn tables_and_queries(address: &str) {
    let rest = "[attributes]\nid = { role = \"identifier\" }\nage = { role = \"quasi\", hierarchy = { widths = [10] } }\n\
                paid = { role = \"plain\", allow-unique = true }\nsince = { role = \"plain\" }\n\
                flag = { role = \"sensitive\" }\n\
                [[rule]]\nprotect = \"flag\"\nrequire = { model = \"distinct-l-diversity\", l = 2 }\n";
    let query = "SELECT id, CAST(id % 30 AS INT) AS age, CAST(id AS DECIMAL(10, 2)) / 4 AS paid, \
                 DATE '2024-01-01' AS since, id % 7 < 4 AS flag FROM range(300); -- all of them";
    let mut csv = "id,age,paid,since,flag\n".to_owned();
    for id in 0..300 {
        let paid = f64::from(id) / 4.0;
        writeln!(csv, "{id},{},{paid},2024-01-01,{}", id % 30, id % 7 < 4).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("people.csv"), csv).unwrap();
    let there = format!("engine = \"{address}\"\nquery = \"{}\"", query.trim_end_matches("; -- all of them"));
    let twins = Twins::with_sources(folder, "# here\npath = \"people.csv\"", &there, rest);
    let (_, published) = twins.publish().expect("it can be published");
    assert_eq!(published.rows.out, 300);
}
