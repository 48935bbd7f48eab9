//! Real clients: psql, psycopg, SQLAlchemy, ADBC and pgJDBC get the numbers of `hedgerow query`.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use hedgerow_node::journal::What;
use serde_json::Value;

use crate::analysts::{Endpoint, QUERIES, assert_same};

type Table = Vec<Vec<Option<String>>>;

/// A test without its program is skipped, except where everything must be there.
fn skip(what: &str, how: &str) {
    assert!(std::env::var_os("HEDGEROW_CI").is_none(), "{what} is not here: {how}");
    println!("skipped: {what} is not here; {how}");
    note_skipped(&format!("{what} is not here; {how}"));
}

/// `cargo xtask test` names a file in which tests note that they were skipped, and why: what they
/// print is seen only where they fail.
fn note_skipped(why: &str) {
    use std::io::Write;
    let Some(path) = std::env::var_os("HEDGEROW_SKIPPED") else { return };
    let thread = std::thread::current();
    let line = format!("{}: {why}\n", thread.name().unwrap_or("a test"));
    let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(line.as_bytes())).unwrap();
}

fn runs(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

fn text(output: &Output, what: &str) -> String {
    assert!(output.status.success(), "{what}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn psql(endpoint: &Endpoint, sslmode: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new("timeout");
    let address = format!(
        "host=127.0.0.1 port={} user=ada dbname=hedgerow sslmode={sslmode} sslrootcert={}",
        endpoint.port,
        endpoint.authority().display()
    );
    command.args(["60", "psql", "-X", "-v", "ON_ERROR_STOP=1", "-d", &address]).args(arguments);
    command.env("PGPASSWORD", &endpoint.password).env("LC_ALL", "C").output().unwrap()
}

/// Lines of texts between separators that no value has.
fn table(text: &str) -> Table {
    let cell = |text: &str| (text != "\u{1d}").then(|| text.to_owned());
    let lines = text.split('\u{1e}').map(|line| line.trim_matches('\n')).filter(|line| !line.is_empty());
    lines.map(|line| line.split('\u{1f}').map(cell).collect()).collect()
}

#[test]
fn psql_gets_the_numbers_and_sees_the_table() {
    if !runs("psql") {
        return skip("psql", "apt-get install postgresql-client");
    }
    let endpoint = Endpoint::new("");
    for sql in QUERIES {
        let arguments = ["-A", "-t", "-F", "\u{1f}", "-R", "\u{1e}", "-P", "null=\u{1d}", "-c", sql];
        let found = table(&text(&psql(&endpoint, "disable", &arguments), sql));
        assert_same(&found, &endpoint.expected(sql), sql);
    }
    let shown = |arguments: &[&str]| text(&psql(&endpoint, "verify-ca", arguments), &arguments.join(" "));
    let list = shown(&["-c", "\\d"]);
    assert!(list.contains("public | data | table | hedgerow") && list.contains("(1 row)"), "{list}");
    let more = shown(&["-c", "\\dt+"]);
    assert!(more.contains("joint release, epoch 1") && more.contains("permanent"), "{more}");
    let columns = shown(&["-c", "\\d data"]);
    for line in ["Table \"public.data\"", " age     | text ", " disease | text ", " visits  | numeric "] {
        assert!(columns.contains(line), "{line}: {columns}");
    }
    assert!(shown(&["-c", "\\d+ data"]).contains("what each covers"), "descriptions of columns");
    for command in ["\\dn", "\\l", "\\du", "\\dv", "\\di", "\\df", "\\dT", "\\dp", "\\dx", "\\conninfo", "\\encoding"] {
        shown(&["-c", command]);
    }
    assert!(shown(&["-c", "\\conninfo"]).contains("TLSv1.3"));
    let copied = shown(&["-c", "\\copy (select sex, count(*) as n from data group by sex) to stdout csv header"]);
    assert!(copied.starts_with("sex,n,n_certain,n_possible\n") && copied.lines().count() == 3, "{copied}");
    let refused = psql(&endpoint, "disable", &["-v", "VERBOSITY=verbose", "-c", "delete from data"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("25006"), "{refused:?}");
    // The trial's certificates name the hosts of this machine, and the password is bound to the
    // certificate.
    let full = psql(&endpoint, "verify-full channel_binding=require", &["-A", "-t", "-c", "select 1"]);
    assert_eq!(text(&full, "verify-full with channel binding"), "1\n");
    let plain = psql(&endpoint, "disable channel_binding=require", &["-c", "select 1"]);
    assert!(!plain.status.success(), "channel binding without TLS");
}

/// A statement that is not UTF-8 is answered with an error, and the next one with its rows.
#[cfg(unix)]
#[test]
fn psql_gets_an_error_for_broken_text() {
    use std::os::unix::ffi::OsStrExt as _;
    if !runs("psql") {
        return skip("psql", "apt-get install postgresql-client");
    }
    let endpoint = Endpoint::new("");
    let address = format!("host=127.0.0.1 port={} user=ada dbname=hedgerow sslmode=disable", endpoint.port);
    let broken = std::ffi::OsStr::from_bytes(b"SELECT COUNT(*) FROM data WHERE disease = '\xff\xfe'");
    let mut command = Command::new("timeout");
    command.args(["60", "psql", "-X", "-A", "-t", "-v", "VERBOSITY=verbose", "-d", &address, "-c"]).arg(broken);
    let output = command.args(["-c", "SELECT 7"]).env("PGPASSWORD", &endpoint.password).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("22021"), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "7\n", "the connection goes on");
}

/// Named cursors of psql, as psycopg's server-side cursors use them.
#[test]
fn psql_fetches_in_pieces() {
    if !runs("psql") {
        return skip("psql", "apt-get install postgresql-client");
    }
    let endpoint = Endpoint::new("");
    let fetched = psql(
        &endpoint,
        "verify-full",
        &["-A", "-t", "-v", "FETCH_COUNT=7", "-F", "\u{1f}", "-P", "null=\u{1d}", "-c", "SELECT * FROM data"],
    );
    let fetched = text(&fetched, "in pieces of seven rows").replace('\n', "\u{1e}");
    assert_same(&table(&fetched), &endpoint.expected("SELECT * FROM data"), "in pieces of seven rows");
}

/// Without a password; with the certificate of a party of the federation, if any.
fn certified(endpoint: &Endpoint, user: &str, shown: Option<&str>, sql: &str) -> Output {
    let own = shown.map_or(String::new(), |name| {
        let (certificate, key) = endpoint.identity(name);
        format!(" sslcert={} sslkey={}", certificate.display(), key.display())
    });
    let address = format!(
        "host=127.0.0.1 port={} user={user} dbname=hedgerow sslmode=verify-ca sslrootcert={}{own}",
        endpoint.port,
        endpoint.authority().display()
    );
    let mut command = Command::new("timeout");
    command.args(["60", "psql", "-X", "-w", "-t", "-A", "-d", &address, "-c", sql]);
    command.env_remove("PGPASSWORD").env("HOME", "/nonexistent").env("LC_ALL", "C").output().unwrap()
}

/// An analyst who is known by a key shows its certificate, and no other will do.
#[test]
fn a_certificate_takes_the_place_of_a_password() {
    if !runs("psql") {
        return skip("psql", "apt-get install postgresql-client");
    }
    let endpoint = Endpoint::new("");
    let sql = "SELECT current_user";
    assert_eq!(text(&certified(&endpoint, "bob", Some("bob"), sql), "its own certificate").trim(), "bob");
    for (user, shown) in [("bob", None), ("bob", Some("site-1")), ("ada", Some("bob")), ("site-1", Some("site-1"))] {
        let refused = certified(&endpoint, user, shown, sql);
        assert!(!refused.status.success(), "{user} with the certificate of {shown:?}: {refused:?}");
        if user == "bob" {
            let rejected = endpoint.rejected();
            assert!(rejected.starts_with("certificate: bob: no certificate"), "{shown:?}: {rejected}");
        }
    }
}

/// An auditor reads what happened, and not what runs opened; an analyst reads neither.
#[test]
fn an_auditor_reads_the_journal() {
    if !runs("psql") {
        return skip("psql", "apt-get install postgresql-client");
    }
    let endpoint = Endpoint::new("");
    let opened = |version: &str| (What::Opened, serde_json::json!({ "version": version }));
    endpoint.journal(&[opened("1"), (What::Disclosed, serde_json::json!([4711])), opened("2")]);
    let eve = |sql: &str| text(&certified(&endpoint, "eve", Some("eve"), sql), sql);
    assert_eq!(eve("SELECT what, count(*) FROM journal GROUP BY what ORDER BY 1"), "disclosed|1\nopened|2\n");
    let rows = eve("SELECT number, at, who, detail FROM public.journal ORDER BY number");
    let at = "2023-11-14T22:13:20";
    assert!(rows.starts_with(&format!("1|{at}")) && rows.contains("{\"version\":\"2\"}"), "{rows}");
    assert!(rows.contains("|site-0|\n") && !rows.contains("4711"), "{rows}");
    assert!(eve("\\d journal").contains("detail|text"), "{}", eve("\\d journal"));
    assert!(eve("\\dt").contains("public|journal|table"), "{}", eve("\\dt"));
    assert_eq!(eve("SELECT COUNT(*) FROM data").lines().count(), 1, "the release too");
    endpoint.journal(&[opened("3")]);
    assert_eq!(eve("SELECT count(*) FROM journal"), "4\n");
    for sql in ["DELETE FROM journal", "INSERT INTO journal VALUES (9)"] {
        assert!(!certified(&endpoint, "eve", Some("eve"), sql).status.success(), "{sql}");
    }
    let refused = certified(&endpoint, "bob", Some("bob"), "SELECT * FROM journal");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("there is no table journal"), "{refused:?}");
}

const PYTHON: &str = r#"
import json, sys
import adbc_driver_postgresql.dbapi, psycopg, sqlalchemy
port, password, queries = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
found = {"psycopg": [], "binary": [], "sqlalchemy": [], "adbc": []}
where = f"host=127.0.0.1 port={port} user=ada password={password} dbname=hedgerow"
def plain(rows):
    return [[None if v is None else str(v) for v in row] for row in rows]
with psycopg.connect(where) as connection:
    for sql in queries:
        found["psycopg"].append(plain(connection.execute(sql).fetchall()))
        found["binary"].append(plain(connection.cursor(binary=True).execute(sql).fetchall()))
    sql = "SELECT sex, COUNT(*) FROM data WHERE age >= %s AND disease <> %s GROUP BY sex"
    for _ in range(8):  # prepared after the fifth
        found["given"] = plain(connection.execute(sql, (50, "flu")).fetchall())
    with connection.cursor(name="server side") as cursor:
        cursor.itersize = 3
        found["cursor"] = plain(cursor.execute("SELECT * FROM data LIMIT 10"))
    with connection.cursor().copy("COPY (SELECT sex, COUNT(*) FROM data GROUP BY sex) TO STDOUT") as copy:
        found["copied"] = plain(copy.rows())
engine = sqlalchemy.create_engine(f"postgresql+psycopg://ada:{password}@127.0.0.1:{port}/hedgerow")
with engine.connect() as connection:
    for sql in queries:
        found["sqlalchemy"].append(plain(connection.execute(sqlalchemy.text(sql)).fetchall()))
    inspector = sqlalchemy.inspect(connection)
    found["tables"] = inspector.get_table_names()
    found["schemas"] = inspector.get_schema_names()
    found["columns"] = [[c["name"], str(c["type"])] for c in inspector.get_columns("data")]
    found["keys"] = [inspector.get_pk_constraint("data")["constrained_columns"], inspector.get_foreign_keys("data"),
                     inspector.get_indexes("data"), inspector.get_unique_constraints("data"),
                     inspector.get_check_constraints("data")]
    metadata = sqlalchemy.MetaData()
    metadata.reflect(connection)
    data = metadata.tables["data"]
    query = sqlalchemy.select(data.c.sex, sqlalchemy.func.count().label("n")).where(data.c.disease == "flu")
    found["built"] = plain(connection.execute(query.group_by(data.c.sex).order_by(data.c.sex)).fetchall())
address = f"postgresql://ada:{password}@127.0.0.1:{port}/hedgerow"
with adbc_driver_postgresql.dbapi.connect(address) as connection, connection.cursor() as cursor:
    for sql in queries:
        cursor.execute(sql)
        found["adbc"].append(plain(cursor.fetchall()))
    objects = connection.adbc_get_objects(depth="tables").read_all().to_pylist()
    found["objects"] = [t["table_name"] for s in objects[0]["catalog_db_schemas"] if s["db_schema_name"] == "public"
                        for t in s["db_schema_tables"]]
print(json.dumps(found))
"#;

fn rows(value: &Value) -> Table {
    let cell = |cell: &Value| cell.as_str().map(str::to_owned);
    let row = |row: &Value| row.as_array().unwrap().iter().map(cell).collect();
    value.as_array().unwrap().iter().map(row).collect()
}

#[test]
fn psycopg_sqlalchemy_and_adbc_get_the_numbers() {
    let how = "python3 -m venv v && v/bin/pip install 'psycopg[binary]' sqlalchemy adbc-driver-postgresql pyarrow, and HEDGEROW_PYTHON=v/bin/python";
    let Some(python) = std::env::var_os("HEDGEROW_PYTHON") else { return skip("psycopg", how) };
    let endpoint = Endpoint::new("");
    // In SQLAlchemy and psycopg a percent sign and a colon would be parameters; no query has one.
    let queries = serde_json::to_string(&QUERIES).unwrap();
    let mut command = Command::new("timeout");
    command.arg("120").arg(python).args(["-c", PYTHON, &endpoint.port.to_string(), &endpoint.password, &queries]);
    let found: Value = serde_json::from_str(&text(&command.output().unwrap(), "python")).unwrap();
    for (place, sql) in QUERIES.iter().enumerate() {
        for client in ["psycopg", "binary", "sqlalchemy", "adbc"] {
            assert_same(&rows(&found[client][place]), &endpoint.expected(sql), &format!("{client}: {sql}"));
        }
    }
    let given = "SELECT sex, COUNT(*) FROM data WHERE age >= 50 AND disease <> 'flu' GROUP BY sex";
    assert_same(&rows(&found["given"]), &endpoint.expected(given), given);
    assert_same(&rows(&found["cursor"]), &endpoint.expected("SELECT * FROM data LIMIT 10"), "a server-side cursor");
    let copied = "SELECT sex, COUNT(*) FROM data GROUP BY sex";
    assert_same(&rows(&found["copied"]), &endpoint.expected(copied), copied);
    let built = "SELECT sex, COUNT(*) AS n FROM data WHERE disease = 'flu' GROUP BY sex ORDER BY sex";
    assert_same(&rows(&found["built"]), &endpoint.expected(built), built);
    assert_eq!(found["tables"].to_string(), "[\"data\"]");
    assert_eq!(found["objects"].to_string(), "[\"data\"]");
    assert_eq!(found["schemas"].to_string(), "[\"information_schema\",\"public\"]");
    let columns = "[[\"age\",\"TEXT\"],[\"sex\",\"TEXT\"],[\"disease\",\"TEXT\"],[\"visits\",\"NUMERIC\"]]";
    assert_eq!(found["columns"].to_string(), columns);
    assert_eq!(found["keys"].to_string(), "[[],[],[],[],[]]");
}

const JAVA: &str = r#"
import java.sql.*;
import java.util.Properties;

public class Query {
    static void print(ResultSet rows) throws SQLException {
        int columns = rows.getMetaData().getColumnCount();
        while (rows.next()) {
            for (int i = 1; i <= columns; i++) {
                String text = rows.getString(i);
                System.out.print((i > 1 ? "\u001f" : "") + (text == null ? "\u001d" : text));
            }
            System.out.print("\u001e");
        }
        System.out.print("\u001c");
    }

    public static void main(String[] arguments) throws Exception {
        Properties properties = new Properties();
        properties.setProperty("user", "ada");
        properties.setProperty("password", arguments[1]);
        try (Connection connection = DriverManager.getConnection(arguments[0], properties)) {
            for (int i = 2; i < arguments.length; i++) {
                print(connection.createStatement().executeQuery(arguments[i]));
            }
            String sql = "SELECT sex, COUNT(*) FROM data WHERE age >= ? AND disease <> ? GROUP BY sex";
            try (PreparedStatement prepared = connection.prepareStatement(sql)) {
                for (int i = 0; i < 8; i++) { // on the server, and in binary, after the fifth
                    prepared.setInt(1, 50);
                    prepared.setString(2, "flu");
                    if (i < 7) prepared.executeQuery().close(); else print(prepared.executeQuery());
                }
            }
            connection.setAutoCommit(false);
            try (Statement few = connection.createStatement()) {
                few.setFetchSize(3);
                print(few.executeQuery("SELECT * FROM data LIMIT 10"));
            }
            connection.commit();
            DatabaseMetaData about = connection.getMetaData();
            print(about.getTables(null, "public", "%", new String[] {"TABLE"}));
            print(about.getColumns(null, "public", "data", "%"));
            print(about.getSchemas());
            print(about.getPrimaryKeys(null, "public", "data"));
            print(about.getImportedKeys(null, "public", "data"));
            print(about.getIndexInfo(null, "public", "data", false, false));
            print(about.getTypeInfo());
            print(about.getTablePrivileges(null, "public", "data"));
            if (!connection.isValid(5)) throw new SQLException("not valid");
        }
    }
}
"#;

#[test]
fn jdbc_gets_the_numbers() {
    let jar = std::env::var_os("HEDGEROW_JDBC").map_or(PathBuf::from("/usr/share/java/postgresql.jar"), PathBuf::from);
    if !runs("javac") || !jar.exists() {
        return skip("pgJDBC", "apt-get install libpostgresql-jdbc-java default-jdk-headless");
    }
    let endpoint = Endpoint::new("");
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("Query.java"), JAVA).unwrap();
    let address = format!("jdbc:postgresql://127.0.0.1:{}/hedgerow", endpoint.port);
    let mut command = Command::new("timeout");
    command.args(["120", "java", "-Xshare:auto", "-cp"]).arg(&jar).arg(folder.path().join("Query.java"));
    command.args([&address, &endpoint.password]).args(QUERIES);
    let printed = text(&command.output().unwrap(), "java");
    let mut found = printed.split('\u{1c}').map(table);
    let mut next = || found.next().unwrap();
    for sql in QUERIES {
        assert_same(&next(), &endpoint.expected(sql), sql);
    }
    let given = "SELECT sex, COUNT(*) FROM data WHERE age >= 50 AND disease <> 'flu' GROUP BY sex";
    assert_same(&next(), &endpoint.expected(given), given);
    assert_same(&next(), &endpoint.expected("SELECT * FROM data LIMIT 10"), "in pieces of three rows");
    let column = |table: &Table, place: usize| -> Vec<String> {
        table.iter().map(|row| row[place].clone().unwrap_or_default()).collect()
    };
    assert_eq!(column(&next(), 2), ["data"]);
    let columns = next();
    assert_eq!(column(&columns, 3), ["age", "sex", "disease", "visits"]);
    assert_eq!(column(&columns, 5), ["text", "text", "text", "numeric"]);
    assert!(column(&next(), 0).contains(&"public".to_owned()));
    assert_eq!([next(), next(), next()].concat(), Table::new(), "no keys and no indexes");
    assert!(column(&next(), 0).contains(&"numeric".to_owned()));
}
