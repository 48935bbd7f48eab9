//! Random small tables: from memory, from SQLite and from PostgreSQL comes the same release, byte
//! for byte; and a release in a database reads back as the one in a directory.

use std::collections::HashMap;
use std::path::Path;

use hedgerow::{Cells, Error, Policy, Publish, ReadOptions, Table};
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
        ("name", Cells::from(people.iter().map(|_| "x".to_owned()).collect::<Vec<_>>())),
        ("age", Cells::from(people.iter().map(|person| person.0).collect::<Vec<_>>())),
        ("zip", Cells::from(people.iter().map(|person| person.1.clone()).collect::<Vec<_>>())),
        ("born", Cells::Dates(people.iter().map(|person| person.2).collect())),
        ("income", Cells::from(people.iter().map(|person| person.3).collect::<Vec<_>>())),
        ("active", Cells::Booleans(people.iter().map(|person| person.4).collect())),
        ("disease", Cells::from(people.iter().map(|person| person.5.clone()).collect::<Vec<_>>())),
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
fn outcome(publish: Publish<'_>, release: &Path) -> Result<std::collections::BTreeMap<String, Vec<u8>>, String> {
    match publish.danger_seed(Some(7)).run() {
        Ok(_) => {
            let found = files(release);
            std::fs::remove_dir_all(release).unwrap();
            Ok(found)
        }
        // Places differ, since they name the source.
        Err(Error::Unsatisfiable(why)) => Err(why.summary),
        Err(Error::Input(problem)) => Err(problem.problem),
        Err(error) => panic!("{error}"),
    }
}

const PUBLISH: [(&str, &str); 3] = [
    (crate::K2, "method = \"full-domain\"\nsuppression = 0.3"),
    (crate::K2, "method = \"mondrian\""),
    ("[[rule]]\nprotect = \"disease\"\nrequire = { model = \"frequency-l-diversity\", l = 2 }", "method = \"anatomy\""),
];

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

/// What a directory holds, a release in a database holds too.
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
    let opened = hedgerow::open(address).unwrap_or_else(|error| panic!("HEDGEROW_SEED={seed}: {error}"));
    assert_eq!(files(opened.path()), expected, "HEDGEROW_SEED={seed}");
    assert!(hedgerow::check(&opened).unwrap().holds(), "HEDGEROW_SEED={seed}");
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
