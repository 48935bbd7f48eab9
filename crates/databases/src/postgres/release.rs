//! Releases in a schema of their own.

use hedgerow_table::{InputError, Kind, Refusal, TableError};
use postgres::{IsolationLevel, Transaction};

use super::cell_type::PostgresType;
use super::copy::{CopyRows, RowWriter};
use super::{PostgresSession, failure};
use crate::identifier;
use crate::parameters::Parameters;
use crate::released::{GiveRows, MANIFEST, Store, TakeRow, manifest_text, tables_of};

pub(crate) fn prepare(parameters: &Parameters<'_>, overwrite: bool) -> Result<(), TableError> {
    let (mut session, schema) = open(parameters)?;
    let place = parameters.shown();
    let mut transaction = session.client.transaction().map_err(|error| failure(&place, &error))?;
    refuse_existing(&mut transaction, &schema, &place, overwrite).map(|_| ())
}

/// Runs `write` in one transaction, which is committed when all went well.
pub(crate) fn write(
    parameters: &Parameters<'_>,
    overwrite: bool,
    write: impl FnOnce(&mut dyn Store) -> Result<(), TableError>,
) -> Result<(), TableError> {
    let (mut session, schema) = open(parameters)?;
    let place = parameters.shown();
    let failed = |error: postgres::Error| failure(&place, &error);
    let mut transaction = session.client.transaction().map_err(failed)?;
    let replaced = refuse_existing(&mut transaction, &schema, &place, overwrite)?;
    // What others made dependent on the tables keeps them, and the old release stays.
    if let Some(tables) = replaced {
        for table in tables {
            let statement = format!("DROP TABLE {}.{}", identifier(&schema), identifier(&table));
            transaction.batch_execute(&statement).map_err(failed)?;
        }
    } else {
        transaction.batch_execute(&format!("CREATE SCHEMA {}", identifier(&schema))).map_err(failed)?;
    }
    write(&mut Tables { transaction: &mut transaction, schema: &schema, place: &place })?;
    transaction.commit().map_err(failed)
}

pub(crate) fn fetch(
    parameters: &Parameters<'_>,
    fetch: impl FnOnce(&mut dyn Store) -> Result<Vec<String>, TableError>,
) -> Result<Vec<String>, TableError> {
    let (mut session, schema) = open(parameters)?;
    let place = parameters.shown();
    let failed = |error: postgres::Error| failure(&place, &error);
    let snapshot = session.client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).read_only(true);
    let mut snapshot = snapshot.start().map_err(failed)?;
    if !tables_in(&mut snapshot, &schema, &place)?.is_some_and(|tables| tables.iter().any(|table| table == MANIFEST)) {
        let hint = "name the schema that a release was published to: postgres://host/database/schema";
        return Err(TableError::input(place, format!("the schema `{schema}` holds no release"), hint));
    }
    fetch(&mut Tables { transaction: &mut snapshot, schema: &schema, place: &place })
}

fn open(parameters: &Parameters<'_>) -> Result<(PostgresSession, String), TableError> {
    if super::connect::divided(parameters.base()).1.is_none() {
        let hint = "a release has a schema of its own: postgres://host/database/schema";
        return Err(TableError::input(parameters.shown(), "the address names no schema", hint));
    }
    let mut session = PostgresSession::open(parameters)?;
    let schema = session.schema.take().unwrap_or_default();
    Ok((session, schema))
}

/// The tables of a release that is there and may be replaced; `None` without a schema.
fn refuse_existing(
    transaction: &mut Transaction<'_>,
    schema: &str,
    place: &str,
    overwrite: bool,
) -> Result<Option<Vec<String>>, TableError> {
    let Some(mut found) = tables_in(transaction, schema, place)? else { return Ok(None) };
    if !overwrite {
        let hint = "name another schema, or permit the release to be replaced";
        return Err(InputError::new(place, "exists already", hint).refusing(Refusal::ReleaseExists).into());
    }
    if found.is_empty() {
        return Ok(Some(found));
    }
    let foreign = || -> TableError {
        let hint = "only a release or an empty schema can be replaced; name another schema";
        InputError::new(place, "exists and is not a release", hint).refusing(Refusal::NotARelease).into()
    };
    if !found.iter().any(|table| table == MANIFEST) {
        return Err(foreign());
    }
    let text = manifest_text(&mut Tables { transaction, schema, place })?.ok_or_else(foreign)?;
    let mut expected = tables_of(&text, place).map_err(|_| foreign())?;
    expected.sort_unstable();
    found.sort_unstable();
    if found == expected { Ok(Some(found)) } else { Err(foreign()) }
}

/// The tables and the like in a schema; `None` if the schema does not exist.
fn tables_in(transaction: &mut Transaction<'_>, schema: &str, place: &str) -> Result<Option<Vec<String>>, TableError> {
    let failed = |error: postgres::Error| failure(place, &error);
    let exists = transaction.query_opt("SELECT 1 FROM pg_namespace WHERE nspname = $1", &[&schema]).map_err(failed)?;
    if exists.is_none() {
        return Ok(None);
    }
    let tables = "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
                  WHERE n.nspname = $1 AND c.relkind NOT IN ('i', 't', 'I')";
    let tables = transaction.query(tables, &[&schema]).map_err(failed)?;
    Ok(Some(tables.iter().map(|row| row.get(0)).collect()))
}

struct Tables<'t, 'c> {
    transaction: &'t mut Transaction<'c>,
    schema: &'t str,
    place: &'t str,
}

impl Tables<'_, '_> {
    fn name(&self, table: &str) -> String {
        format!("{}.{}", identifier(self.schema), identifier(table))
    }
}

fn listed(columns: &[&str]) -> String {
    columns.iter().map(|name| identifier(name)).collect::<Vec<_>>().join(", ")
}

fn declared(kind: Kind) -> &'static str {
    match kind {
        Kind::Integer => "bigint",
        Kind::Float => "double precision",
        Kind::Date => "date",
        Kind::Category => "text",
    }
}

/// Everything in a schema but its tables, by kind and name: views, sequences, indexes and types,
/// triggers, rules, functions, constraints, defaults, comments, policies that hide rows, and
/// whatever else is of the schema (statistics, collations, operators).
const BESIDE_TABLES: &str = "\
    SELECT CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'S' THEN 'sequence' \
      WHEN 'i' THEN 'index' WHEN 'r' THEN 'table' WHEN 'c' THEN 'type' ELSE 'relation' END AS kind, c.relname::text AS name \
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 \
    UNION ALL SELECT 'trigger', t.tgname::text FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid \
      JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND NOT t.tgisinternal \
    UNION ALL SELECT 'rule', r.rulename::text FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class \
      JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r' \
    UNION ALL SELECT 'function', p.proname::text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace \
      WHERE n.nspname = $1 \
    UNION ALL SELECT 'comment', c.relname::text FROM pg_description d JOIN pg_class c ON c.oid = d.objoid \
      JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND d.classoid = 'pg_class'::regclass \
    UNION ALL SELECT 'comment', n.nspname::text FROM pg_description d JOIN pg_namespace n ON n.oid = d.objoid \
      WHERE n.nspname = $1 AND d.classoid = 'pg_namespace'::regclass \
    UNION ALL SELECT 'type', t.typname::text FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace \
      WHERE n.nspname = $1 AND t.typtype IN ('e', 'd', 'r') \
    UNION ALL SELECT 'constraint', k.conname::text FROM pg_constraint k JOIN pg_namespace n ON n.oid = k.connamespace \
      WHERE n.nspname = $1 \
    UNION ALL SELECT 'default value', a.attname::text FROM pg_attrdef f JOIN pg_class c ON c.oid = f.adrelid \
      JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum \
      JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 \
    UNION ALL SELECT 'policy', p.polname::text FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid \
      JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 \
    UNION ALL SELECT 'row security of', c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
      WHERE n.nspname = $1 AND c.relrowsecurity \
    UNION ALL SELECT 'object', pg_describe_object(d.classid, d.objid, d.objsubid) FROM pg_depend d \
      JOIN pg_namespace n ON n.oid = d.refobjid WHERE d.refclassid = 'pg_namespace'::regclass AND n.nspname = $1 \
      AND d.classid NOT IN ('pg_class'::regclass, 'pg_proc'::regclass, 'pg_type'::regclass, 'pg_constraint'::regclass, \
        'pg_default_acl'::regclass) \
    ORDER BY 1, 2";

/// The columns of the tables in a schema. One that was dropped keeps its values.
const COLUMNS: &str = "\
    SELECT c.relname::text, a.attname::text, \
      CASE WHEN a.attisdropped THEN 'dropped' ELSE format_type(a.atttypid, a.atttypmod) END \
      FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
      WHERE n.nspname = $1 AND c.relkind = 'r' AND a.attnum > 0 ORDER BY c.relname, a.attnum";

impl Store for Tables<'_, '_> {
    fn undescribed(&mut self, tables: &[(&str, Vec<(&str, Kind)>)]) -> Result<Vec<String>, TableError> {
        let failed = |error: postgres::Error| failure(self.place, &error);
        let is_table = |name: &str| tables.iter().any(|(table, _)| *table == name);
        let mut found = Vec::new();
        for row in self.transaction.query(BESIDE_TABLES, &[&self.schema]).map_err(failed)? {
            let (kind, name): (String, String) = (row.get(0), row.get(1));
            if kind != "table" || !is_table(&name) {
                found.push(format!("the {kind} `{name}` is not in the manifest, and was not checked"));
            }
        }
        let mut columns: Vec<(String, String, String)> = Vec::new();
        for row in self.transaction.query(COLUMNS, &[&self.schema]).map_err(failed)? {
            columns.push((row.get(0), row.get(1), row.get(2)));
        }
        for (table, expected) in tables {
            let there = columns.iter().filter(|(of, _, _)| of == table);
            let there = there.map(|(_, name, declared)| (name.as_str(), declared.as_str()));
            if !there.eq(expected.iter().map(|(name, kind)| (*name, declared(*kind)))) {
                found.push(format!("the table `{table}` is not declared as the manifest describes it"));
            }
        }
        Ok(found)
    }

    fn create(&mut self, table: &str, columns: &[(&str, Kind)]) -> Result<(), TableError> {
        let column = |(name, kind): &(&str, Kind)| format!("{} {}", identifier(name), declared(*kind));
        let columns: Vec<String> = columns.iter().map(column).collect();
        let statement = format!("CREATE TABLE {} ({})", self.name(table), columns.join(", "));
        self.transaction.batch_execute(&statement).map_err(|error| failure(self.place, &error))
    }

    fn insert(&mut self, table: &str, columns: &[&str], give: &mut GiveRows<'_>) -> Result<(), TableError> {
        let statement = format!("COPY {} ({}) FROM STDIN (FORMAT binary)", self.name(table), listed(columns));
        let failed = |error: std::io::Error| super::copy::Stop::Stream(error).explain(self.place, 0, columns);
        let writer = self.transaction.copy_in(&statement).map_err(|error| failure(self.place, &error))?;
        let mut rows = RowWriter::new(writer).map_err(failed)?;
        give(&mut |cells| rows.row(cells).map_err(failed))?;
        rows.finish().map_err(failed)?.finish().map_err(|error| failure(self.place, &error))?;
        Ok(())
    }

    fn read(&mut self, table: &str, columns: &[&str], take: &mut TakeRow<'_>) -> Result<(), TableError> {
        let failed = |error: &postgres::Error| failure(self.place, error);
        // Else a scan may begin where another one is, and rows come in another order.
        self.transaction.batch_execute("SET LOCAL synchronize_seqscans = off").map_err(|error| failed(&error))?;
        let name = self.name(table);
        let statement = format!("SELECT {} FROM {name}", listed(columns));
        let statement = self.transaction.prepare(&statement).map_err(|error| failed(&error))?;
        let mut types = Vec::new();
        for column in statement.columns() {
            types.push(PostgresType::of(column.type_(), column.type_modifier()).map_err(|found| {
                let problem = format!("column `{}` of `{table}` has the type {found}", column.name());
                TableError::input(self.place, problem, "no release has that: do not trust this one")
            })?);
        }
        let statement = format!("COPY {name} ({}) TO STDOUT (FORMAT binary)", listed(columns));
        let stream = self.transaction.copy_out(&statement).map_err(|error| failed(&error))?;
        let mut rows = CopyRows::new(stream, types);
        let mut count = 0;
        while rows.next(&mut *take).map_err(|stop| stop.explain(self.place, count, columns))? {
            count += 1;
        }
        Ok(())
    }
}
