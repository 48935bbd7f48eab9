//! SQLite as a source and as a destination.

use std::path::Path;

use hedgerow::{Error, ErrorKind, Publish};
use rusqlite::Connection;

use crate::{K2, files, policy};

fn database(folder: &Path, statements: &str) -> Connection {
    let connection = Connection::open(folder.join("people.db")).unwrap();
    connection.execute_batch(statements).unwrap();
    connection
}

const PEOPLE: &str = "
    CREATE TABLE people (name TEXT, age INTEGER, zip TEXT, born DATE, income REAL, active BOOLEAN, disease TEXT);
    INSERT INTO people VALUES ('Ann', 31, '100', '1990-01-31', 10.5, 1, 'flu'), ('Bob', 34, '101', '1991-02-28', 11, 1, 'cold'),
        ('Cid', 52, '200', NULL, NULL, 0, 'flu'), ('Dee', 58, '201', '1970-12-01', -3, 0, 'asthma');";

fn refusal(outcome: Result<impl std::fmt::Debug, Error>) -> String {
    let error = outcome.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Input, "{error:?}");
    error.to_string()
}

#[test]
fn declared_types_decide_and_identifiers_stay_in_the_database() {
    let folder = tempfile::tempdir().unwrap();
    database(folder.path(), PEOPLE);
    let policy = policy("url = \"sqlite:people.db\"\ntable = \"PEOPLE\"", K2, "", folder.path());
    let table = hedgerow::read_source(&policy).unwrap();
    assert_eq!(table.header, ["name", "age", "zip", "born", "income", "active", "disease"]);
    assert!(table.column("name").is_none());
    let kind = |name: &str| table.column(name).unwrap().domain.kind().name();
    assert_eq!(
        ["age", "zip", "born", "income", "active"].map(kind),
        ["integer", "category", "date", "float", "category"]
    );
    let published = hedgerow::publish(&policy, folder.path().join("release")).unwrap();
    assert_eq!(published.rows.source, 4);
    let manifest = std::fs::read_to_string(folder.path().join("release/datapackage.json")).unwrap();
    assert!(!manifest.contains("sqlite") && !manifest.contains("people.db"), "{manifest}");
}

#[test]
fn a_query_is_a_source_and_what_it_computes_is_typed_by_all_its_values() {
    let folder = tempfile::tempdir().unwrap();
    database(folder.path(), PEOPLE);
    let query = "select name, age + 1 as age, zip, born, income, active, disease from people -- all of them";
    let policy = policy(&format!("url = \"sqlite:people.db\"\nquery = \"{query}\""), K2, "", folder.path());
    let table = hedgerow::read_source(&policy).unwrap();
    assert_eq!(table.column("age").unwrap().text(0), "32");
    assert_eq!(table.column("age").unwrap().domain.kind().name(), "integer");
    assert_eq!(table.column("born").unwrap().domain.kind().name(), "date", "a column passed through keeps its type");
}

#[test]
fn values_of_the_wrong_type_are_refused_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let connection = database(folder.path(), PEOPLE);
    let read = |source: &str| hedgerow::read_source(&policy(source, K2, "", folder.path()));
    let error = refusal(read("url = \"sqlite:peple.db\""));
    assert!(error.contains("the file does not exist"), "{error}");
    let error = refusal(read("url = \"sqlite:people.db\"\ntable = \"peple\""));
    assert!(error.contains("the database has no table `peple`") && error.contains("did you mean `people`?"), "{error}");
    let error = refusal(read("url = \"sqlite:people.db\"\nquery = \"selct 1\""));
    assert!(error.contains("syntax error"), "{error}");
    let error = refusal(read("url = \"sqlite:people.db\"\nquery = \"select 1 as other\""));
    assert!(error.contains("no column of the policy is there"), "{error}");
    let error = refusal(read("url = \"sqlite:people.db?tabel=people\""));
    assert!(error.contains("`tabel` means nothing"), "{error}");
    connection.execute_batch("INSERT INTO people (age) VALUES ('old')").unwrap();
    let error = refusal(read("url = \"sqlite:people.db\""));
    assert!(error.contains("people.db: row 5, column age: `old` is not an integer"), "{error}");
    connection.execute_batch("UPDATE people SET age = x'00' WHERE age = 'old'").unwrap();
    let error = refusal(read("url = \"sqlite:people.db\""));
    assert!(error.contains("row 5, column age: a blob"), "{error}");
    connection.execute_batch("DELETE FROM people; CREATE TABLE other (x)").unwrap();
    let error = refusal(read("url = \"sqlite:people.db\""));
    assert!(error.contains("name one of `other`, `people`"), "{error}");
    let error = refusal(read("url = \"sqlite:people.db\"\ntable = \"people\""));
    assert!(error.contains("the table has no rows"), "{error}");
    std::fs::write(folder.path().join("no.db"), "age,zip\n1,2\n".repeat(100)).unwrap();
    let error = refusal(read("url = \"sqlite:no.db\""));
    assert!(error.contains("not an SQLite database"), "{error}");
}

#[test]
fn init_proposes_a_policy_that_reads_the_database() {
    let folder = tempfile::tempdir().unwrap();
    let connection = database(folder.path(), PEOPLE);
    connection
        .execute_batch("ALTER TABLE people ADD COLUMN photo BLOB; CREATE VIEW adults AS SELECT * FROM people")
        .unwrap();
    let address = format!("sqlite:{}?table=people", folder.path().join("people.db").display());
    let proposal = hedgerow::init(&address, folder.path().join("policy.toml")).unwrap();
    let text = &proposal.files.last().unwrap().1;
    assert!(text.contains("url = \"sqlite:people.db\"\ntable = \"people\"\n"), "{text}");
    assert!(
        proposal.warnings.iter().any(|warning| warning.problem.contains("`photo` has the type BLOB")),
        "{:?}",
        proposal.warnings
    );
    proposal.write(false).unwrap();
    let policy = hedgerow::Policy::load(folder.path().join("policy.toml")).unwrap();
    assert_eq!(hedgerow::read_source(&policy).unwrap().rows, 4);
    assert_eq!(hedgerow::policy_beside(&address), folder.path().join("policy.toml"));
}

#[test]
fn a_release_in_a_file_is_checked_queried_and_audited_and_tampering_is_found() {
    let folder = tempfile::tempdir().unwrap();
    database(folder.path(), PEOPLE);
    let policy = policy("url = \"sqlite:people.db\"", K2, "", folder.path());
    let address = format!("sqlite:{}", folder.path().join("release.db").display());
    let published = hedgerow::publish(&policy, &address).unwrap();
    assert_eq!(published.release.display().to_string(), address);
    let release = hedgerow::Release::open(&address).unwrap();
    assert_eq!(release.name(), address);
    let answer = release.query("SELECT COUNT(*) FROM data").unwrap();
    assert!(serde_json::to_string(&answer).unwrap().contains('4'));
    let people = format!("sqlite:{}", folder.path().join("people.db").display());
    let audited = hedgerow::Audit::new(&[release]).policy(&policy).people(people.as_str()).run().unwrap();
    assert!(audited.findings.iter().any(|finding| finding.people == 4));
    // Nothing is replaced unless that is allowed, and only releases are.
    let error = refusal(hedgerow::publish(&policy, &address));
    assert!(error.contains("exists already"), "{error}");
    let error = refusal(Publish::new(&policy, people).overwrite(true).run());
    assert!(error.contains("exists and is not a release"), "{error}");
    let connection = Connection::open(folder.path().join("release.db")).unwrap();
    connection.execute_batch("UPDATE data SET age = '1' WHERE rowid = 1").unwrap();
    let release = hedgerow::Release::open(&address).unwrap();
    assert!(!release.check().unwrap().holds());
    connection.execute_batch("DROP TABLE data").unwrap();
    let error = refusal(hedgerow::Release::open(&address));
    assert!(error.contains("no such table"), "{error}");
}

#[test]
fn a_manifest_cannot_lead_out_of_its_database() {
    let folder = tempfile::tempdir().unwrap();
    database(folder.path(), PEOPLE);
    let policy = policy("url = \"sqlite:people.db\"", K2, "", folder.path());
    let address = format!("sqlite:{}", folder.path().join("release.db").display());
    hedgerow::publish(&policy, &address).unwrap();
    let connection = Connection::open(folder.path().join("release.db")).unwrap();
    connection.execute_batch("UPDATE datapackage SET json = replace(json, '\"data.csv\"', '\"../data.csv\"')").unwrap();
    let error = refusal(hedgerow::Release::open(&address));
    assert!(error.contains("not a table of a release in a database") && !error.contains("/tmp/hedgerow"), "{error}");
}

#[test]
fn options_for_directories_only_are_refused_before_reading() {
    let folder = tempfile::tempdir().unwrap();
    let policy = policy("url = \"sqlite:none.db\"", K2, "", folder.path());
    let address = format!("sqlite:{}", folder.path().join("release.db").display());
    let publish = || Publish::new(&policy, &address);
    let error = refusal(publish().format(hedgerow::TableFormat::Parquet).run());
    assert!(error.contains("has no file format"), "{error}");
    let error = refusal(publish().metadata(vec![hedgerow::Metadata::Dcat]).run());
    assert!(error.contains("are files"), "{error}");
    let error = refusal(publish().catalog(folder.path().join("catalog")).run());
    assert!(error.contains("not added to a catalog"), "{error}");
    assert!(files(folder.path()).is_empty());
}
