//! The statements that clients send, as PostgreSQL 15 logged them, with the number of rows that it
//! answered for a table of the same three columns. Those of DBeaver and Metabase are what their
//! drivers are known to ask; these programs were not run.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::super::refusal::{
    CANCELED, READ_ONLY, Refusal, SYNTAX, UNKNOWN_COLUMN, UNKNOWN_FUNCTION, UNKNOWN_TABLE, UNSUPPORTED,
};
use super::super::tokens::{Parameter, TOKENS_MAX, statements};
use super::*;

fn catalog() -> Catalog {
    let column = |name: &str| Column { name: name.to_owned(), kind: Kind::Text, description: String::new() };
    let content = Content {
        journal: None,
        user: "ada".to_owned(),
        columns: ["age", "sex", "disease"].map(column).to_vec(),
        rows: 120,
        description: "joint release".to_owned(),
        settings: vec![("max_index_keys".to_owned(), "32".to_owned())],
    };
    Catalog::new(&content, |name| (name == "default_table_access_method").then(|| "heap".to_owned())).unwrap()
}

fn until(milliseconds: u64) -> Until {
    Until { deadline: Instant::now() + Duration::from_millis(milliseconds), canceled: Arc::new(AtomicBool::new(false)) }
}

fn answer(catalog: &Catalog, sql: &str, parameters: &[Parameter]) -> Result<Rows, Refusal> {
    let tokens = statements(sql)?.swap_remove(0);
    catalog.answer(&tokens, parameters, Some(10_000), &until(20_000))
}

fn cells(catalog: &Catalog, sql: &str) -> Vec<Vec<Option<String>>> {
    let rows = answer(catalog, sql, &[]).unwrap_or_else(|refusal| panic!("{sql}: {refusal:?}"));
    let kinds: Vec<Kind> = rows.headings.iter().map(|heading| heading.kind).collect();
    rows.rows.iter().map(|row| row.iter().zip(&kinds).map(|(value, kind)| value.text(*kind)).collect()).collect()
}

fn some(texts: &[&str]) -> Vec<Option<String>> {
    texts.iter().map(|text| Some((*text).to_owned())).collect()
}

fn replay(fixtures: &str) {
    let catalog = catalog();
    let mut failed = Vec::new();
    let mut count = 0;
    for fixture in fixtures.split("--- ").skip(1) {
        let (head, sql) = fixture.split_once('\n').unwrap();
        let mut parts = head.split(" | ");
        let (label, rows) = (parts.next().unwrap(), parts.next().unwrap().strip_prefix("rows ").unwrap());
        let texts: Vec<&str> = parts.next().map_or(Vec::new(), |list| list.split(", ").collect());
        let parameter = |text: &&str| Parameter { oid: 25, text: Some(text.trim_matches('\'').to_owned()) };
        let parameters: Vec<Parameter> = texts.iter().map(parameter).collect();
        count += 1;
        // What Describe says before there are values is what comes later.
        let tokens = statements(sql).unwrap().swap_remove(0);
        let described = catalog.answer(&tokens, &[], None, &until(20_000));
        match answer(&catalog, sql, &parameters) {
            Ok(answered) if rows == "any" || answered.rows.len().to_string() == rows => {
                assert_eq!(described.unwrap().headings, answered.headings);
                for row in &answered.rows {
                    for (value, heading) in row.iter().zip(&answered.headings) {
                        if let Err(refusal) = value.binary(heading.kind) {
                            failed.push(format!("{label}: {heading:?}: {value:?}: {refusal:?}"));
                        }
                    }
                }
            }
            Ok(answered) => failed.push(format!("{label}: {} rows, expected {rows}:\n{sql}", answered.rows.len())),
            Err(refusal) => failed.push(format!("{label}: {refusal:?}:\n{sql}")),
        }
    }
    assert!(count > 10);
    assert!(failed.is_empty(), "{} of {count}:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn statements_of_psql_are_answered() {
    replay(include_str!("fixtures/psql.sql"));
}

#[test]
fn statements_of_sqlalchemy_are_answered() {
    replay(include_str!("fixtures/sqlalchemy.sql"));
}

#[test]
fn statements_of_jdbc_are_answered() {
    replay(include_str!("fixtures/jdbc.sql"));
}

#[test]
fn statements_of_dbeaver_and_metabase_are_answered() {
    replay(concat!(include_str!("fixtures/dbeaver.sql"), include_str!("fixtures/metabase.sql")));
}

#[test]
fn values_are_those_that_clients_expect() {
    let catalog = catalog();
    let one = |sql: &str| cells(&catalog, sql).swap_remove(0);
    assert_eq!(one("select current_user, current_database(), current_schema()"), some(&["ada", "hedgerow", "public"]));
    assert!(one("select version()")[0].as_ref().unwrap().starts_with("PostgreSQL 15"));
    assert_eq!(
        one("select 'data'::regclass::oid, 16384::regclass::text, 'int4'::regtype::oid"),
        some(&["16384", "data", "23"])
    );
    assert_eq!(
        one("select to_regtype('hstore') is null, 'a' ~ '^(a|b)$', 'A' !~* 'a', 'x' like '_'"),
        some(&["t", "t", "f", "t"])
    );
    assert_eq!(
        one("select 'A' like 'a', 'A' ilike 'a', 'a_b' like 'a\\_b', 'axb' like 'a\\_b'"),
        some(&["f", "t", "t", "f"])
    );
    assert_eq!(
        one("select 'r' = any(array['r','p']), 'x' = any('{r,p}'), 'x' <> all(array['r'])"),
        some(&["t", "f", "t"])
    );
    assert_eq!(one("select substring('abcdef' from 2 for 3), 'it''s', E'a\\'b'"), some(&["bcd", "it's", "a'b"]));
    assert_eq!(one("select array(select nspname from pg_namespace where nspname like 'pu%')"), some(&["{public}"]));
    assert_eq!(cells(&catalog, "select x from unnest(array['a','b']) x"), [some(&["a"]), some(&["b"])]);
    assert_eq!(cells(&catalog, "select * from generate_series(1, 2)"), [some(&["1"]), some(&["2"])]);
    assert_eq!(
        one("select format('%s.%I = %L%%', 'a', 'B c', 'it''s'), format('%I', 'plain_1')"),
        some(&["a.\"B c\" = 'it''s'%", "plain_1"])
    );
    assert_eq!(cells(&catalog, "select string_agg(word, ',') from pg_get_keywords() where word <> 'abs'").len(), 1);
    let receivers =
        "select typreceive::text from pg_type where typreceive != 0 and typname in ('int4', '_int4', 'date')";
    assert_eq!(cells(&catalog, receivers).concat(), some(&["int4recv", "array_recv", "date_recv"]));
    let columns = "select column_name, data_type from information_schema.columns where table_name = 'data'";
    assert_eq!(cells(&catalog, columns).len(), 3);
    assert_eq!(one("select obj_description('data'::regclass, 'pg_class')"), some(&["joint release"]));
    assert_eq!(one("select 1 as \"A b\", 2"), some(&["1", "2"]));
    let names = answer(&catalog, "select 1 as \"A b\", 2, version(), true, relname, c.oid::text from pg_class c", &[]);
    let names: Vec<String> = names.unwrap().headings.into_iter().map(|heading| heading.name).collect();
    assert_eq!(names, ["A b", "?column?", "version", "bool", "relname", "oid"]);
}

#[test]
fn nothing_but_the_catalog_is_reached() {
    let catalog = catalog();
    let code = |sql: &str| answer(&catalog, sql, &[]).map_err(|refusal| refusal.code).unwrap_err();
    let refused = [
        ("select * from sqlite_master", UNKNOWN_TABLE),
        ("select * from pg_catalog.sqlite_master", UNKNOWN_TABLE),
        ("select * from pragma_database_list", UNKNOWN_TABLE),
        ("select * from pragma_table_info('x')", UNKNOWN_FUNCTION),
        ("select * from other.data", UNKNOWN_TABLE),
        ("select * from people", UNKNOWN_TABLE),
        ("select * from (select * from data) d", UNSUPPORTED),
        ("select * from pg_class, data", UNSUPPORTED),
        ("with d as (select 1 from data) select * from d", UNSUPPORTED),
        ("select (select count(*) from public.data)", UNSUPPORTED),
        ("select load_extension('x')", UNKNOWN_FUNCTION),
        ("select readfile('/etc/passwd')", UNKNOWN_FUNCTION),
        ("select pg_read_file('/etc/passwd')", UNKNOWN_FUNCTION),
        ("select randomblob(1000000000)", UNKNOWN_FUNCTION),
        ("select pg_sleep(100)", UNKNOWN_FUNCTION),
        ("select lo_import('x')", UNKNOWN_FUNCTION),
        ("select 1 into t", UNSUPPORTED),
        ("select oid from pg_class for update", UNSUPPORTED),
        ("with w as (insert into pg_class values (1) returning 1) select * from w", READ_ONLY),
        ("select nowhere from pg_class", UNKNOWN_COLUMN),
        // A word of SQLite's own.
        ("select nothing from pg_class", SYNTAX),
        ("select \"nothing\" from pg_class", UNKNOWN_COLUMN),
        ("select \"a\\\" || randomblob(9) --\" from pg_class", SYNTAX),
        ("select \"a\"\"b\"", SYNTAX),
        ("select distinct on (oid) oid from pg_class", UNSUPPORTED),
        ("select 1 2 3 4", SYNTAX),
    ];
    for (sql, expected) in refused {
        assert_eq!(code(sql), expected, "{sql}");
    }
    // A text is never part of a statement.
    for text in ["x' or 1=1 --", "x\\' or 1=1 --", "x'' or 1=1 --", "\\"] {
        let quoted = format!("select relname from pg_class where relname = '{}'", text.replace('\'', "''"));
        assert!(cells(&catalog, &quoted).is_empty(), "{text}");
        let given = [Parameter { oid: 25, text: Some(text.to_owned()) }];
        let found = answer(&catalog, "select $1::text", &given).unwrap();
        assert_eq!(found.rows, [[Value::Text(text.to_owned())]]);
    }
}

#[test]
fn what_takes_too_long_ends() {
    let catalog = catalog();
    let endless = "with recursive r(n) as (select 1 union all select n + 1 from r) select count(*) from r";
    let tokens = statements(endless).unwrap().swap_remove(0);
    let began = Instant::now();
    assert_eq!(catalog.answer(&tokens, &[], Some(10), &until(100)).unwrap_err().code, CANCELED);
    assert!(began.elapsed() < Duration::from_secs(5));
    let canceled = Until { canceled: Arc::new(AtomicBool::new(true)), ..until(60_000) };
    assert_eq!(catalog.answer(&tokens, &[], Some(10), &canceled).unwrap_err().code, CANCELED);
    assert_eq!(cells(&catalog, "select 1").len(), 1, "and the connection goes on");
}

/// The deepest trees that so many words allow: the stack holds them.
#[test]
fn deep_statements_do_not_end_the_process() {
    let half = TOKENS_MAX / 2 - 10;
    let deep = move || {
        let catalog = catalog();
        for sql in [
            format!("select 1{}", " + 1".repeat(half)),
            format!("select {}1{}", "(".repeat(half), ")".repeat(half)),
            format!("select {} true", "not ".repeat(2 * half)),
            format!("select 1{}", " union all select 1".repeat(half / 2)),
            format!("select 1{}", "::int".repeat(half)),
            format!("select {}1{}", "abs(".repeat(half / 2), ")".repeat(half / 2)),
        ] {
            let _ = answer(&catalog, &sql, &[]);
        }
    };
    std::thread::Builder::new().stack_size(super::super::STACK_BYTES).spawn(deep).unwrap().join().unwrap();
}
