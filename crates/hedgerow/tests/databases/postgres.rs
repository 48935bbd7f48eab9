//! PostgreSQL as a source and as a destination.

use std::time::{Duration, Instant};

use hedgerow::{Cancel, Error, ErrorKind, Monitor, Publish};

use crate::server::{PASSWORD, Server};
use crate::{K2, files, policy};

const PEOPLE: &str = "
    CREATE TYPE mood AS ENUM ('sad', 'happy');
    CREATE DOMAIN years AS int CHECK (value >= 0);
    CREATE TABLE people (name text, age years, zip char(5), born date, income numeric(10, 2), active boolean,
        disease mood, seen timestamptz, admitted timestamp, weight real, height double precision, visits smallint,
        total bigint, exact numeric, id uuid, tags text[], notes jsonb);
    INSERT INTO people VALUES
        ('Ann', 31, '100', '1990-01-31', 10.50, true, 'sad', '2024-01-31 09:30:00+02', '2024-01-31 09:30:00.25', 0.1,
            1e300, 3, 9223372036854775807, 12345678901234567890.50, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{a}', '{}'),
        ('Bob', 34, '101', '1991-02-28', 11, true, 'happy', NULL, NULL, 2, 0.5, -1, 0, -0.000100, NULL, NULL, NULL),
        ('Cid', 52, NULL, NULL, NULL, NULL, 'sad', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
        ('Dee', 58, '20', '1899-12-31', -3, false, 'happy', NULL, NULL, -0.25, -2, 7, 5, 100, NULL, NULL, NULL);";

fn refusal(outcome: Result<impl std::fmt::Debug, Error>) -> String {
    let error = outcome.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Input, "{error:?}");
    error.to_string()
}

#[test]
fn every_type_is_read_as_it_is_declared() {
    let Some(server) = Server::start() else { return };
    let mut client = server.connect();
    client.batch_execute(PEOPLE).unwrap();
    let names = "name, age, zip, born, income, active, disease";
    let others = ["seen", "admitted", "weight", "height", "visits", "total", "exact", "id"];
    let attributes: String = others.iter().map(|name| format!("{name} = {{ role = \"plain\" }}\n")).collect();
    let folder = tempfile::tempdir().unwrap();
    let source = format!("url = \"{}\"\ntable = \"people\"", server.address(""));
    let text = format!("[source]\n{source}\n{}{attributes}{K2}\n", crate::ATTRIBUTES);
    let everything = hedgerow::Policy::parse(&text, folder.path().join("policy.toml")).unwrap();
    let table = hedgerow::read_source(&everything).unwrap();
    assert_eq!(table.header.len(), 17, "also those that are not read");
    let expected = [
        ("age", "integer", "31"),
        ("zip", "category", "100"),
        ("born", "date", "1990-01-31"),
        ("income", "float", "10.5"),
        ("active", "category", "true"),
        ("disease", "category", "sad"),
        ("seen", "category", "2024-01-31T07:30:00Z"),
        ("admitted", "category", "2024-01-31T09:30:00.250000"),
        ("weight", "float", "0.1"),
        ("height", "float", &1e300.to_string()),
        ("visits", "integer", "3"),
        ("total", "integer", "9223372036854775807"),
        ("exact", "category", "12345678901234567890.5"),
        ("id", "category", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
    ];
    for (name, kind, text) in expected {
        let column = table.column(name).unwrap();
        assert_eq!((column.domain.kind().name(), column.text(0).as_str()), (kind, text), "{name}");
        assert_eq!(column.text(2).is_empty(), !["age", "disease"].contains(&name), "{name}");
    }
    assert_eq!(table.column("born").unwrap().text(3), "1899-12-31");
    assert_eq!(table.column("exact").unwrap().text(1), "-0.0001");
    // Arrays and the like are refused by name where they are wanted, and skipped where all is.
    let read = |source: String| hedgerow::read_source(&policy(&source, K2, "", folder.path()));
    let address = server.address("");
    let array = format!("url = \"{address}\"\nquery = \"select {names}, tags as age2 from people\"")
        .replace("age,", "tags as age,");
    let error = refusal(read(array));
    assert!(error.contains("column `age` has the type text[] (an array)"), "{error}");
    let proposal = hedgerow::init(format!("{address}&table=people"), folder.path().join("policy.toml")).unwrap();
    let warned: Vec<&str> = proposal.warnings.iter().map(|warning| warning.problem.as_str()).collect();
    assert!(warned.iter().any(|problem| problem.contains("`tags` has the type text[]")), "{warned:?}");
    assert!(warned.iter().any(|problem| problem.contains("`notes` has the type jsonb")), "{warned:?}");
    let text = &proposal.files.last().unwrap().1;
    assert!(text.contains("url = \"postgres://owner@localhost:") && text.contains("table = \"people\""), "{text}");
    // A source is only read.
    let error = refusal(read(format!("url = \"{address}\"\nquery = \"select * from nextval('x')\"")));
    assert!(error.contains("does not exist"), "{error}");
    client.batch_execute("CREATE SEQUENCE x").unwrap();
    let error = refusal(read(format!("url = \"{address}\"\nquery = \"select nextval('x') as age\"")));
    assert!(error.contains("read-only transaction") && error.contains("a source is only read"), "{error}");
    let error = refusal(read(format!("url = \"{address}\"\ntable = \"peopel\"")));
    assert!(
        error.contains("the database has no table `peopel`") && error.contains("did you mean `people`?"),
        "{error}"
    );
    let error = refusal(read(format!("url = \"{address}\"\nquery = \"select age / 0 as age from people\"")));
    assert!(error.contains("the code 22012"), "{error}");
    // The server quotes a value that it cannot convert; the error does not.
    let query = "select ('can' || 'ary')::int as age from people";
    let error = refusal(read(format!("url = \"{address}\"\nquery = \"{query}\"")));
    assert!(error.contains("the code 22P02") && !error.contains("canary"), "{error}");
    client.batch_execute("UPDATE people SET born = 'infinity' WHERE age = 34").unwrap();
    let error = refusal(read(format!("url = \"{address}\"\nquery = \"select * from people order by age\"")));
    assert!(error.contains("row 2, column born: a date that is infinity"), "{error}");
}

#[test]
fn a_password_is_never_shown() {
    let Some(server) = Server::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let wrong = server.address_with("wr0ng");
    let text = format!("[source]\nurl = \"{wrong}\"\ntable = \"people\"\n{}{K2}\n", crate::ATTRIBUTES);
    let place = folder.path().join("policy.toml");
    let policy = hedgerow::Policy::parse(&text, &place).unwrap();
    let mut said = vec![format!("{policy:?}")];
    said.extend(policy.warnings().iter().map(ToString::to_string));
    assert!(said.iter().any(|text| text.contains("the address holds a password")), "{said:?}");
    let error = hedgerow::read_source(&policy).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Input, "{error:?}");
    assert!(
        error.to_string().contains("password authentication failed") && error.to_string().contains("PGPASSWORD"),
        "{error}"
    );
    said.push(format!("{error} {error:?}"));
    let broken = text.replace("table = \"people\"", "tabel = \"people\"").replace("k = 2", "k = 0");
    said.push(hedgerow::Policy::parse(&broken, &place).unwrap_err().to_string());
    let unterminated = text.replace("postgres\"\ntable", "postgres\ntable");
    said.push(hedgerow::Policy::parse(&unterminated, &place).unwrap_err().to_string());
    said.push(hedgerow::init(&wrong, &place).unwrap_err().to_string());
    said.push(hedgerow::Release::open(wrong.replace("/postgres", "/postgres/study")).unwrap_err().to_string());
    said.push(hedgerow::publish(&policy, wrong.replace("/postgres", "/postgres/study")).unwrap_err().to_string());
    for text in said {
        assert!(!text.contains("wr0ng"), "{text}");
    }
    // The right one, in the address: it works, and the release does not know it.
    server.connect().batch_execute(PEOPLE).unwrap();
    let right = server.address_with(PASSWORD);
    let policy = crate::policy(&format!("url = \"{right}\"\ntable = \"people\""), K2, "", folder.path());
    let published = hedgerow::publish(&policy, format!("{right}/study")).unwrap();
    assert!(!format!("{published:?}").contains(PASSWORD));
    let mut client = server.connect();
    let manifest: String = client.query_one("SELECT json FROM study.datapackage", &[]).unwrap().get(0);
    assert!(!manifest.contains(PASSWORD) && !manifest.contains("localhost"), "{manifest}");
}

#[test]
fn a_release_is_there_completely_or_not_at_all() {
    let Some(server) = Server::start() else { return };
    let mut client = server.connect();
    client.batch_execute(PEOPLE).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let policy = policy(&format!("url = \"{}\"\ntable = \"people\"", server.address("")), K2, "", folder.path());
    let study = server.address("study");
    let error = refusal(hedgerow::publish(&policy, server.address("")));
    assert!(error.contains("the address names no schema"), "{error}");
    let error = refusal(hedgerow::Release::open(&study));
    assert!(error.contains("the schema `study` holds no release"), "{error}");
    hedgerow::publish(&policy, &study).unwrap();
    let release = hedgerow::Release::open(&study).unwrap();
    assert!(release.check().unwrap().holds());
    let ages = "SELECT count(*), count(DISTINCT age) FROM study.data";
    assert_eq!(client.query_one(ages, &[]).unwrap().get::<_, i64>(0), 4);
    let error = refusal(hedgerow::publish(&policy, &study));
    assert!(error.contains("exists already"), "{error}");
    Publish::new(&policy, &study).overwrite(true).run().unwrap();
    // What others made of it keeps it.
    client.batch_execute("CREATE VIEW reader AS SELECT * FROM study.data").unwrap();
    let error = Publish::new(&policy, &study).overwrite(true).run().unwrap_err().to_string();
    assert!(error.contains("other objects depend on it"), "{error}");
    assert!(hedgerow::Release::open(&study).unwrap().check().unwrap().holds());
    client.batch_execute("DROP VIEW reader; CREATE TABLE study.mine (x int)").unwrap();
    let error = refusal(Publish::new(&policy, &study).overwrite(true).run());
    assert!(error.contains("exists and is not a release"), "{error}");
    client.batch_execute("DROP TABLE study.mine; UPDATE study.data SET age = '1' WHERE ctid = '(0,1)'").unwrap();
    assert!(!hedgerow::Release::open(&study).unwrap().check().unwrap().holds());
    // A trigger that changes what is written: read back, it is not what was verified.
    client
        .batch_execute(
            "CREATE FUNCTION meddle() RETURNS event_trigger LANGUAGE plpgsql AS $$ DECLARE t text; BEGIN
               FOR t IN SELECT object_identity FROM pg_event_trigger_ddl_commands() WHERE object_identity = 'other.data' LOOP
                 EXECUTE 'CREATE FUNCTION other.change() RETURNS trigger LANGUAGE plpgsql AS ''BEGIN NEW.zip = NULL; RETURN NEW; END''';
                 EXECUTE 'CREATE TRIGGER change BEFORE INSERT ON other.data FOR EACH ROW EXECUTE FUNCTION other.change()';
               END LOOP; END $$;
             CREATE EVENT TRIGGER meddle ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION meddle();",
        )
        .unwrap();
    let error = hedgerow::publish(&policy, server.address("other")).unwrap_err();
    assert!(error.kind() == ErrorKind::Io && error.to_string().contains("reads back"), "{error:?}");
    let other = "SELECT count(*) FROM pg_namespace WHERE nspname = 'other'";
    assert_eq!(client.query_one(other, &[]).unwrap().get::<_, i64>(0), 0, "nothing is left");
}

/// Whatever a schema holds beside the release, and whatever of the release was changed, `check`
/// says so.
#[test]
fn whatever_else_is_in_a_schema_is_found() {
    let undeclared = "the table `data` is not declared";
    let update = "suppress_redundant_updates_trigger()";
    let trigger = format!("CREATE TRIGGER later BEFORE UPDATE ON S.data FOR EACH ROW EXECUTE FUNCTION {update}");
    let changes = [
        ("ALTER TABLE S.data ADD COLUMN name text; UPDATE S.data SET name = 'Ann'", undeclared),
        ("ALTER TABLE S.data ADD COLUMN name text; ALTER TABLE S.data DROP COLUMN name", undeclared),
        ("CREATE TABLE S.people (name text); INSERT INTO S.people VALUES ('Ann')", "the table `people`"),
        ("CREATE VIEW S.names AS SELECT 'Ann' AS name", "the view `names`"),
        ("CREATE MATERIALIZED VIEW S.names AS SELECT 'Ann' AS name", "the materialized view `names`"),
        ("CREATE SEQUENCE S.ann", "the sequence `ann`"),
        ("CREATE INDEX ann ON S.data (age)", "the index `ann`"),
        ("CREATE TYPE S.ann AS ENUM ('flu')", "the type `ann`"),
        ("CREATE TYPE S.ann AS (flu int)", "the type `ann`"),
        ("CREATE FUNCTION S.ann() RETURNS int LANGUAGE sql AS 'SELECT 1'", "the function `ann`"),
        (trigger.as_str(), "the trigger `later`"),
        ("CREATE RULE later AS ON UPDATE TO S.data DO ALSO DELETE FROM S.codebook", "the rule `later`"),
        ("ALTER TABLE S.data ADD CONSTRAINT ann CHECK (age <> 'Ann')", "the constraint `ann`"),
        ("ALTER TABLE S.data ALTER COLUMN age SET DEFAULT 'Ann'", "the default value `age`"),
        ("COMMENT ON TABLE S.data IS 'Ann has the flu'", "the comment `data`"),
        ("COMMENT ON COLUMN S.data.age IS 'Ann has the flu'", "the comment `data`"),
        ("COMMENT ON SCHEMA S IS 'Ann has the flu'", "the comment `"),
        ("CREATE POLICY ann ON S.data USING (age <> 'Ann')", "the policy `ann`"),
        ("ALTER TABLE S.data ENABLE ROW LEVEL SECURITY", "the row security of `data`"),
        ("CREATE STATISTICS S.ann (mcv) ON age, zip FROM S.data", "statistics object"),
        ("CREATE COLLATION S.ann FROM \"C\"", "collation"),
        ("CREATE OPERATOR S.=== (LEFTARG = int, RIGHTARG = int, FUNCTION = int4eq)", "operator"),
        ("INSERT INTO S.datapackage VALUES ('Ann has the flu')", "`datapackage` has 2 rows"),
        ("UPDATE S.datapackage SET json = replace(json, 'full-domain', 'magic')", "magic"),
        ("INSERT INTO S.codebook VALUES ('zip', 'Ann', NULL, NULL, 'Ann')", "explains a label of `zip`"),
    ];
    let Some(server) = Server::start() else { return };
    let mut client = server.connect();
    client.batch_execute(PEOPLE).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let policy = policy(&format!("url = \"{}\"\ntable = \"people\"", server.address("")), K2, "", folder.path());
    for (number, (change, words)) in changes.into_iter().enumerate() {
        let schema = format!("s{number}");
        let address = server.address(&schema);
        hedgerow::publish(&policy, &address).unwrap();
        let honest = hedgerow::Release::open(&address).unwrap().check().unwrap();
        assert!(honest.holds() && honest.contradictions.is_empty(), "{:?}", honest.contradictions);
        let change = change.replace("S.", &format!("{schema}.")).replace("SCHEMA S ", &format!("SCHEMA {schema} "));
        client.batch_execute(&change).unwrap();
        let found = match hedgerow::Release::open(&address) {
            Ok(release) => {
                let check = release.check().unwrap();
                assert!(!check.holds(), "{change}");
                check.contradictions.join("; ")
            }
            Err(error) => error.to_string(),
        };
        assert!(found.contains(words), "{change}: {found}");
    }
}

/// More rows than can be read in the time that these tests take.
const ENDLESS: &str = "select 'x' as name, (i % 90)::int as age, '100' as zip, date '2000-01-01' as born, 1::float8 as income, \
                       true as active, 'flu' as disease from (select generate_series(1, 2000000000) as i) as numbers";

#[test]
fn a_server_that_goes_away_leaves_an_error_with_the_cause_and_nothing_else() {
    let Some(server) = Server::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let policy = policy(&format!("url = \"{}\"\nquery = \"{ENDLESS}\"", server.address("")), K2, "", folder.path());
    let started = Instant::now();
    let error = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(1500));
            server.kill();
        });
        hedgerow::publish(&policy, folder.path().join("release")).unwrap_err()
    });
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    assert!(started.elapsed() > Duration::from_millis(1400), "it had begun: {error}");
    assert_eq!(error.kind(), ErrorKind::Io, "{error:?}");
    assert!(error.to_string().contains("postgres://owner@localhost"), "{error}");
    assert!(files(folder.path()).is_empty() && std::fs::read_dir(folder.path()).unwrap().next().is_none());
}

/// The same while the server counts distinct rows, because they do not fit in memory.
#[test]
fn a_server_that_goes_away_while_it_counts_leaves_an_error_and_nothing_else() {
    let Some(server) = Server::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let policy = policy(&format!("url = \"{}\"\nquery = \"{ENDLESS}\"", server.address("")), K2, "", folder.path());
    let counts = || {
        let active = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%GROUP BY%' \
                      AND pid <> pg_backend_pid()";
        server.connect().query_one(active, &[]).unwrap().get::<_, i64>(0) > 0
    };
    let error = std::thread::scope(|scope| {
        scope.spawn(|| {
            let started = Instant::now();
            while !counts() && started.elapsed() < Duration::from_secs(30) {
                std::thread::sleep(Duration::from_millis(50));
            }
            server.kill();
        });
        Publish::new(&policy, folder.path().join("release")).memory(Some(1 << 20)).run().unwrap_err()
    });
    assert_eq!(error.kind(), ErrorKind::Io, "{error:?}");
    assert!(error.to_string().contains("postgres://owner@localhost"), "{error}");
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none());
}

#[test]
fn reading_is_canceled_at_once() {
    let Some(server) = Server::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    // Rows that come, and a server that computes before the first one.
    for query in [ENDLESS, "select 1 as age from pg_sleep(600)"] {
        let policy = policy(&format!("url = \"{}\"\nquery = \"{query}\"", server.address("")), K2, "", folder.path());
        let cancel = Cancel::new();
        let started = Instant::now();
        let error = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(1500));
                cancel.cancel();
            });
            let monitor = Monitor::default().cancel_by(&cancel);
            Publish::new(&policy, folder.path().join("release")).run_with(&monitor).unwrap_err()
        });
        assert_eq!(error.kind(), ErrorKind::Canceled, "{error:?}");
        assert!(started.elapsed() < Duration::from_secs(60), "{query}: {:?}", started.elapsed());
        assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none());
    }
}
