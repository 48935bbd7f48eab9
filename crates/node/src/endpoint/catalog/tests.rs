//! The statements that clients send, as PostgreSQL 15 logged them, with the number of rows that it
//! answered for a table of the same three columns. Those of DBeaver and Metabase are what their
//! drivers are known to ask; these programs were not run.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::super::budget::Memory;
use super::super::refusal::{
    CANCELED, NOT_PERMITTED, OUT_OF_MEMORY, READ_ONLY, SYNTAX, StatementRefusal, TOO_MUCH, UNKNOWN_COLUMN,
    UNKNOWN_FUNCTION, UNKNOWN_TABLE, UNSUPPORTED,
};
use super::super::tokens::{Parameter, TOKENS_MAX, statements};
use super::*;

fn catalog() -> SystemCatalog {
    let column = |name: &str| CatalogColumn { name: name.to_owned(), kind: SqlType::Text, description: String::new() };
    let content = CatalogContent {
        journal: None,
        user: "ada".to_owned(),
        columns: ["age", "sex", "disease"].map(column).to_vec(),
        rows: 120,
        description: "joint release".to_owned(),
        settings: vec![("max_index_keys".to_owned(), "32".to_owned())],
    };
    let setting = |name: &str| (name == "default_table_access_method").then(|| "heap".to_owned());
    SystemCatalog::new(&content, setting, None).unwrap()
}

/// Tests that take memory, or measure it, run one after the other.
static MEMORY: Mutex<()> = Mutex::new(());

fn held(answer_max: usize) -> HeldBytes {
    Memory::new(usize::MAX).connection(answer_max, usize::MAX).hold()
}

fn until(milliseconds: u64) -> Until {
    Until { deadline: Instant::now() + Duration::from_millis(milliseconds), canceled: Arc::new(AtomicBool::new(false)) }
}

fn answer(catalog: &SystemCatalog, sql: &str, parameters: &[Parameter]) -> Result<AnswerRows, StatementRefusal> {
    let tokens = statements(sql)?.swap_remove(0);
    catalog.answer(&tokens, parameters, Some((1_000_000, held(64 << 20))), &until(20_000))
}

fn cells(catalog: &SystemCatalog, sql: &str) -> Vec<Vec<Option<String>>> {
    let rows = answer(catalog, sql, &[]).unwrap_or_else(|refusal| panic!("{sql}: {refusal:?}"));
    let kinds: Vec<SqlType> = rows.headings.iter().map(|heading| heading.kind).collect();
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
        assert_eq!(found.rows, [[SqlValue::Text(text.to_owned())]]);
    }
}

/// Tables of SQLite itself are not read, also not under a name that WITH gives in another place.
#[test]
fn tables_of_sqlite_are_not_reached_under_other_names() {
    let catalog = catalog();
    let code = |sql: &str| answer(&catalog, sql, &[]).map_err(|refusal| refusal.code).map(|rows| rows.rows);
    for table in ["pragma_database_list", "sqlite_master", "pragma_function_list", "json_tree", "sqlite_schema"] {
        for sql in [
            format!("with a as (select * from {table}), {table} as (select 1) select * from a"),
            format!("select * from {table} union all select * from (with {table} as (select 1) select 1) s"),
            format!("select (with {table} as (select 1) select 1), (select count(*) from {table})"),
        ] {
            let found = code(&sql);
            assert!(matches!(found, Err(SYNTAX | UNKNOWN_TABLE | NOT_PERMITTED)), "{sql}: {found:?}");
        }
    }
    // The second line of defense, without the rewriting.
    for sql in [
        "SELECT * FROM pragma_database_list",
        "SELECT count(*) FROM sqlite_master",
        "SELECT count(*) FROM pragma_database_list",
        "SELECT load_extension('x')",
        "SELECT 'a' LIKE '%a'",
        "PRAGMA database_list",
        "ATTACH ':memory:' AS more",
        "CREATE TEMP TABLE t (a)",
    ] {
        assert!(catalog.connection.prepare(sql).is_err(), "{sql}");
    }
}

/// A series has all of its rows, or is an error.
#[test]
fn series_are_complete() {
    let _alone = MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
    let catalog = catalog();
    let texts = |sql: &str| cells(&catalog, sql).concat().into_iter().flatten().collect::<Vec<_>>();
    assert_eq!(answer(&catalog, "select * from generate_series(1, 1000000) n", &[]).unwrap().rows.len(), 1_000_000);
    assert_eq!(texts("select count(*), sum(n) from generate_series(1, 20000) n"), ["20000", "200010000"]);
    assert_eq!(texts("select n from generate_series(1, 10, 4) as s(n)"), ["1", "5", "9"]);
    assert_eq!(texts("select n from generate_series(3, 1, -1) n"), ["3", "2", "1"]);
    assert!(texts("select n from generate_series(3, 1) n").is_empty());
    assert!(texts("select n from generate_series(1, null) n").is_empty());
    let largest = "select n from generate_series(9223372036854775806, 9223372036854775807) n";
    assert_eq!(texts(largest), ["9223372036854775806", "9223372036854775807"]);
    let refused = |sql: &str| answer(&catalog, sql, &[]).map(|rows| rows.rows.len()).unwrap_err().code;
    assert_eq!(refused("select * from generate_series(1, 1000001) n"), TOO_MUCH);
    assert_eq!(refused("select * from generate_series(1, 5, 0) n"), UNSUPPORTED);
    assert_eq!(refused("select * from generate_series('2026-01-01', '2026-02-01') n"), UNSUPPORTED);
}

/// Large texts many times: the answer is refused before it takes memory, and so is what SQLite
/// keeps while it works.
#[test]
fn a_statement_does_not_take_more_memory_than_its_budget() {
    let _alone = MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
    let catalog = catalog();
    let text = Parameter { oid: 25, text: Some("x".repeat(60_000)) };
    let before = watch::resident_bytes();
    for sql in [
        "select $1::text from generate_series(1, 1000000) n",
        "select $1::text || n from generate_series(1, 1000000) n order by 1",
        "select count(*) from (select distinct $1::text || n as t from generate_series(1, 1000000) n) s",
        "with recursive r(t, n) as (select $1::text, 1 union select $1::text || n, n + 1 from r where n < 1000000) \
         select max(t) from r",
        "select a.t || b.t from (select $1::text || n as t from generate_series(1, 2000) n) a, \
         (select $1::text || n as t from generate_series(1, 2000) n) b order by 1",
    ] {
        let refused = answer(&catalog, sql, std::slice::from_ref(&text)).map(|rows| rows.rows.len()).unwrap_err();
        let known = [TOO_MUCH, OUT_OF_MEMORY, UNSUPPORTED];
        assert!(known.contains(&refused.code), "{sql}: {refused:?}");
        if let Some((before, now)) = before.zip(watch::resident_bytes()) {
            assert!(now.saturating_sub(before) < 400 << 20, "{sql}: {} MiB more", (now - before) >> 20);
        }
    }
    assert_eq!(cells(&catalog, "select 1").len(), 1, "and the connection goes on");
}

#[test]
fn patterns_do_not_outlive_the_deadline() {
    let _alone = MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
    let catalog = catalog();
    let parameters = ["(a*)*(a|aa)+[^b]{1,40}c", "a"].map(|text| {
        let text = if text == "a" { "a".repeat(8000) } else { text.to_owned() };
        Parameter { oid: 25, text: Some(text) }
    });
    for sql in [
        "select count(*) from generate_series(1, 1000000) n where $2::text || n ~ $1::text",
        "select count(*) from generate_series(1, 1000000) n where $2::text like '%a%a%a%a%a%a%a%a%a%a%a%b'",
    ] {
        let tokens = statements(sql).unwrap().swap_remove(0);
        let began = Instant::now();
        let refused = catalog.answer(&tokens, &parameters, Some((10, held(1 << 20))), &until(300)).unwrap_err();
        assert_eq!(refused.code, CANCELED, "{sql}: {refused:?}");
        assert!(began.elapsed() < Duration::from_secs(8), "{sql}: {:?}", began.elapsed());
    }
}

#[test]
fn what_takes_too_long_ends() {
    let catalog = catalog();
    let endless = "with recursive r(n) as (select 1 union all select n + 1 from r) select count(*) from r";
    let tokens = statements(endless).unwrap().swap_remove(0);
    let began = Instant::now();
    assert_eq!(catalog.answer(&tokens, &[], Some((10, held(1 << 20))), &until(100)).unwrap_err().code, CANCELED);
    assert!(began.elapsed() < Duration::from_secs(5));
    let canceled = Until { canceled: Arc::new(AtomicBool::new(true)), ..until(60_000) };
    assert_eq!(catalog.answer(&tokens, &[], Some((10, held(1 << 20))), &canceled).unwrap_err().code, CANCELED);
    assert_eq!(cells(&catalog, "select 1").len(), 1, "and the connection goes on");
}

/// The deepest trees that the limit on words allows: the stack holds them.
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
