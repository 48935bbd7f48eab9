//! Random small tables: from memory, from SQLite and from PostgreSQL comes the same release, byte
//! for byte; and a release in a database reads back as the one in a directory.

use std::collections::HashMap;
use std::path::Path;

use hedgerow::{ColumnCells, ErrorKind, Policy, Publish, ReadOptions, Table};
use hedgerow_table::Kind;
use hedgerow_table::date::Date;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::server::Server;
use crate::{files, policy};

/// One person: age, zip, born, income, active, disease.
type Person = (Option<i64>, Option<String>, Option<i32>, Option<f64>, Option<bool>, Option<String>);

fn people(rng: &mut StdRng) -> Vec<Person> {
    let rows = [1, 2, 3, 8, 30, 60][rng.random_range(0..6)];
    let missing = [0.0, 0.1, 1.0][rng.random_range(0..3)];
    let spread = rng.random_range(1..40);
    let texts = ["flu", "cold", "it's, \"quoted\"", "é\nline", " space "];
    (0..rows)
        .map(|_| {
            let some = |rng: &mut StdRng| !rng.random_bool(missing);
            (
                some(rng).then(|| rng.random_range(0..=spread)),
                some(rng).then(|| format!("{:03}", rng.random_range(0..=spread))),
                some(rng).then(|| rng.random_range(-10..=10_000)),
                some(rng).then(|| f64::from(rng.random_range(-40..400)) / 8.0),
                some(rng).then(|| rng.random_bool(0.5)),
                // Never missing, so that buckets can be made.
                Some(texts[rng.random_range(0..texts.len())].to_owned()),
            )
        })
        .collect()
}

fn in_memory(people: &[Person]) -> Table {
    let columns = [
        ("name", ColumnCells::from(people.iter().map(|_| "x".to_owned()).collect::<Vec<_>>())),
        ("age", ColumnCells::from(people.iter().map(|person| person.0).collect::<Vec<_>>())),
        ("zip", ColumnCells::from(people.iter().map(|person| person.1.clone()).collect::<Vec<_>>())),
        ("born", ColumnCells::Dates(people.iter().map(|person| person.2).collect())),
        ("income", ColumnCells::from(people.iter().map(|person| person.3).collect::<Vec<_>>())),
        ("active", ColumnCells::Booleans(people.iter().map(|person| person.4).collect())),
        ("disease", ColumnCells::from(people.iter().map(|person| person.5.clone()).collect::<Vec<_>>())),
    ];
    let kinds = ["zip", "disease"].map(|name| (name.to_owned(), Kind::Category));
    let options = ReadOptions { kinds: HashMap::from(kinds), ..ReadOptions::default() };
    Table::from_columns(columns, &options).unwrap()
}

fn in_sqlite(people: &[Person], path: &Path) {
    let mut connection = rusqlite::Connection::open(path).unwrap();
    let transaction = connection.transaction().unwrap();
    let create =
        "CREATE TABLE people (name TEXT, age INTEGER, zip TEXT, born DATE, income REAL, active BOOLEAN, disease TEXT)";
    transaction.execute_batch(create).unwrap();
    for (age, zip, born, income, active, disease) in people {
        let born = born.map(|day| Date(day).to_string());
        let values = rusqlite::params!["x", age, zip, born, income, active, disease];
        transaction.execute("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?, ?)", values).unwrap();
    }
    transaction.commit().unwrap();
}

/// `income` as a decimal, `active` as an enumeration would be read alike.
fn in_postgres(people: &[Person], client: &mut postgres::Client) {
    let create = "DROP TABLE IF EXISTS people; CREATE TABLE people (name text, age int, zip varchar(3), born date, \
                  income double precision, active boolean, disease text)";
    client.batch_execute(create).unwrap();
    let insert = "INSERT INTO people VALUES ('x', $1::int8, $2, $3::text::date, $4, $5, $6)";
    let insert = client.prepare(insert).unwrap();
    for (age, zip, born, income, active, disease) in people {
        let born = born.map(|day| Date(day).to_string());
        client.execute(&insert, &[age, zip, &born, income, active, disease]).unwrap();
    }
}

/// The files of a release, or why there is none.
pub(crate) fn outcome(
    publish: Publish<'_>,
    release: &Path,
) -> Result<std::collections::BTreeMap<String, Vec<u8>>, String> {
    match publish.danger_seed(Some(7)).run() {
        Ok(_) => {
            let found = files(release);
            std::fs::remove_dir_all(release).unwrap();
            Ok(found)
        }
        // Places differ, since they name the source.
        Err(error) if matches!(error.kind(), ErrorKind::Unsatisfiable | ErrorKind::Input) => {
            Err(error.problem().to_owned())
        }
        Err(error) => panic!("{error}"),
    }
}

const PUBLISH: [(&str, &str); 3] = [
    (crate::K2, "method = \"full-domain\"\nsuppression = 0.3"),
    (crate::K2, "method = \"mondrian\""),
    ("[[rule]]\nprotect = \"disease\"\nrequire = { model = \"frequency-l-diversity\", l = 2 }", "method = \"anatomy\""),
];

/// How many tables to compare: `HEDGEROW_TABLES`, if it is set.
fn tables(count: u64) -> u64 {
    std::env::var("HEDGEROW_TABLES").ok().and_then(|count| count.parse().ok()).unwrap_or(count)
}

fn seeds(count: u64) -> Vec<u64> {
    match std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse().ok()) {
        Some(seed) => vec![seed],
        None => (0..count).collect(),
    }
}

/// Compares what comes from memory with what comes from `source`, for one random table. Whether
/// there was a release.
fn compare(seed: u64, source: &str, folder: &Path, store: impl FnOnce(&[Person])) -> bool {
    let people = people(&mut StdRng::seed_from_u64(seed));
    store(&people);
    let table = in_memory(&people);
    let (rules, publish) = PUBLISH[seed as usize % PUBLISH.len()];
    let policy: Policy = policy(source, rules, publish, folder);
    let release = folder.join("release");
    let expected = outcome(Publish::new(&policy, &release).source(&table), &release);
    let found = outcome(Publish::new(&policy, &release), &release);
    assert_eq!(found, expected, "HEDGEROW_SEED={seed}: {people:?}");
    found.is_ok()
}

#[test]
fn memory_and_sqlite_give_the_same_bytes() {
    let seeds = seeds(300);
    let mut released = 0;
    for &seed in &seeds {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("people.db");
        let store = |people: &[Person]| in_sqlite(people, &path);
        released += usize::from(compare(seed, "url = \"sqlite:people.db\"", folder.path(), store));
    }
    assert!(seeds.len() == 1 || released > seeds.len() / 2, "{released} releases of {} tables", seeds.len());
}

#[test]
fn memory_and_postgres_give_the_same_bytes() {
    let Some(server) = Server::start() else { return };
    let mut client = server.connect();
    let source = format!("url = \"{}\"\ntable = \"people\"", server.address(""));
    let seeds = seeds(300);
    let mut released = 0;
    for &seed in &seeds {
        let folder = tempfile::tempdir().unwrap();
        let store = |people: &[Person]| in_postgres(people, &mut client);
        released += usize::from(compare(seed, &source, folder.path(), store));
    }
    assert!(seeds.len() == 1 || released > seeds.len() / 2, "{released} releases of {} tables", seeds.len());
}

/// The rows stay at the server, which counts the distinct ones; the release is the same.
#[test]
fn memory_and_postgres_as_an_engine_give_the_same_bytes() {
    let Some(server) = Server::start() else { return };
    let mut client = server.connect();
    let source = format!("url = \"{}\"\ntable = \"people\"", server.address(""));
    let rules = [
        crate::K2,
        "[[rule]]\nrequire = { model = \"k-anonymity\", k = 2 }\n[[rule]]\nprotect = \"disease\"\n\
         require = { model = \"distinct-l-diversity\", l = 2 }",
        "[[rule]]\nknow = [\"age\", \"income\"]\nrequire = { model = \"k-anonymity\", k = 2 }",
    ];
    let seeds = seeds(tables(400));
    let mut released = 0;
    for &seed in &seeds {
        let folder = tempfile::tempdir().unwrap();
        let people = people(&mut StdRng::seed_from_u64(seed));
        in_postgres(&people, &mut client);
        let (rules, publish) = match (seed % 7, rules[seed as usize % rules.len()]) {
            (0, rules) => (rules, "method = \"mondrian\"\nstrict = false"),
            (1, rules) => (rules, "method = \"mondrian\""),
            (2 | 3, _) => PUBLISH[2],
            (4, _) => (PUBLISH[2].0, "method = \"anatomy\"\nassignment = \"random\""),
            (_, rules) => (rules, "method = \"full-domain\"\nsuppression = 0.3"),
        };
        let policy = policy(&source, rules, publish, folder.path());
        let expected = outcome(Publish::new(&policy, folder.path().join("release")), &folder.path().join("release"));
        let found = from_engine(&policy, folder.path());
        assert_eq!(found, expected, "HEDGEROW_SEED={seed}: {people:?}");
        released += usize::from(found.is_ok());
    }
    assert!(seeds.len() == 1 || released > seeds.len() / 2, "{released} releases of {} tables", seeds.len());
}

/// Values that the server takes for equal and a reader does not, and the reverse: numerics with
/// other digits, floats with another sign, texts under a collation that ignores case, padded texts,
/// texts that count as missing.
#[test]
fn postgres_as_an_engine_tells_apart_what_readers_tell_apart() {
    let Some(server) = Server::start() else { return };
    let mut client = server.connect();
    let create = "CREATE TABLE people (name text, age numeric, zip char(5), born float8, income numeric(8, 2), \
                  active boolean, disease text); INSERT INTO people SELECT 'x', ('{1.5,1.50,2}'::numeric[])[1 + i % 3], \
                  ('{a,a ,b}'::text[])[1 + i % 3], ('{0,-0,1e300}'::float8[])[1 + i % 3], i % 2, i % 2 = 0, \
                  ('{flu,Flu,cold,\"\",NULL}'::text[])[1 + i % 5] FROM generate_series(1, 60) AS i";
    client.batch_execute(create).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let source = format!("url = \"{}\"\ntable = \"people\"", server.address(""));
    for method in ["full-domain", "mondrian"] {
        let text = format!(
            "[source]\n{source}\n[attributes]\nage = {{ role = \"quasi\" }}\nzip = {{ role = \"quasi\" }}\n\
             born = {{ role = \"quasi\" }}\nincome = {{ role = \"plain\" }}\ndisease = {{ role = \"quasi\" }}\n{}\n\
             [publish]\nmethod = \"{method}\"\n",
            crate::K2
        );
        let policy = Policy::parse(&text, folder.path().join("policy.toml")).unwrap();
        let release = folder.path().join("release");
        let expected = outcome(Publish::new(&policy, &release), &release);
        assert_eq!(from_engine(&policy, folder.path()), expected, "{method}");
        let data = String::from_utf8(expected.unwrap().remove("data.csv").unwrap()).unwrap();
        assert!(data.contains(",Flu\n") && data.contains(",flu\n"), "{method}: {data}");
    }
}

/// As [`outcome`], with the rows at the server.
pub(crate) fn from_engine(
    policy: &Policy,
    folder: &Path,
) -> Result<std::collections::BTreeMap<String, Vec<u8>>, String> {
    use hedgerow_publish::{PublishError, PublishOptions, RowSource, RowStore};
    use hedgerow_table::read::HeldTable;
    use hedgerow_table::{Spill, TableError};
    let spill = Spill::new(folder, 1 << 20).with_held(0);
    let open = |options: &ReadOptions<'_>| {
        let database = policy.as_ref().source.database.as_ref().expect("a source in a database");
        match hedgerow_databases::read_within(database, options, &spill)? {
            HeldTable::Outside(engine) => Ok(RowStore::Outside(engine, &spill)),
            held => panic!("no row fits in no memory: {held:?}"),
        }
    };
    let options = PublishOptions { seed: Some(7), ..PublishOptions::to(folder.join("release")) };
    match hedgerow_publish::publish(policy.as_ref(), RowSource::Open(&open), &options) {
        Ok(_) => {
            let found = files(&folder.join("release"));
            std::fs::remove_dir_all(folder.join("release")).unwrap();
            Ok(found)
        }
        Err(PublishError::Unsatisfiable(why)) => Err(why.summary),
        Err(PublishError::Ineligible(why)) => Err(format!("no release in {} satisfies the policy", why.made_of)),
        Err(PublishError::Table(TableError::Input(problem))) => Err(problem.problem),
        Err(error) => panic!("{error}"),
    }
}

/// A release in a database has the content of one in a directory.
fn compare_released(seed: u64, address: &str, folder: &Path) {
    let people = people(&mut StdRng::seed_from_u64(seed));
    let table = in_memory(&people);
    let (rules, publish) = PUBLISH[seed as usize % PUBLISH.len()];
    let policy = policy("path = \"none.csv\"", rules, publish, folder);
    let release = folder.join("release");
    let Ok(expected) = outcome(Publish::new(&policy, &release).source(&table), &release) else { return };
    let publish = Publish::new(&policy, address).source(&table).danger_seed(Some(7)).overwrite(true);
    let published = publish.run().unwrap_or_else(|error| panic!("HEDGEROW_SEED={seed}: {error}"));
    assert!(!published.release.display().to_string().contains("/tmp/hedgerow"), "{published:?}");
    let opened = hedgerow::Release::open(address).unwrap_or_else(|error| panic!("HEDGEROW_SEED={seed}: {error}"));
    assert_eq!(files(opened.path()), expected, "HEDGEROW_SEED={seed}");
    assert!(opened.check().unwrap().holds(), "HEDGEROW_SEED={seed}");
    let fetched = opened.path().to_path_buf();
    drop(opened);
    assert!(!fetched.exists(), "what was fetched goes with the release");
}

#[test]
fn a_release_in_sqlite_reads_back_as_it_was_verified() {
    let folder = tempfile::tempdir().unwrap();
    let address = format!("sqlite:{}", folder.path().join("release.db").display());
    for seed in seeds(60) {
        compare_released(seed, &address, folder.path());
    }
    let left: Vec<_> = files(folder.path()).into_keys().collect();
    assert!(left.iter().all(|name| name == "release.db"), "{left:?}");
}

#[test]
fn a_release_in_postgres_reads_back_as_it_was_verified() {
    let Some(server) = Server::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    for seed in seeds(60) {
        compare_released(seed, &server.address("study"), folder.path());
    }
}
