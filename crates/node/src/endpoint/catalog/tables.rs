//! The tables of the catalog with their columns, as PostgreSQL 15 has them. Most are empty: a
//! release has one table, and neither indexes nor constraints.

use super::super::journal::COLUMNS;
use super::super::tokens::SCHEMA;

pub(super) const JOURNAL: &str = "journal";
const JOURNAL_NUMBER: i64 = 16_385;

/// A line for each table: its name, and each column with its type.
const TABLES: &str = include_str!("tables.txt");
const INFORMATION: &str = "information_schema";
const CATALOG: &str = "pg_catalog";
/// Where the numbers of tables begin that clients do not know by heart.
const NUMBERS_FROM: i64 = 13_000;

/// Numbers that clients know by heart.
const KNOWN: &[(&str, i64)] = &[
    ("pg_type", 1247),
    ("pg_attribute", 1249),
    ("pg_proc", 1255),
    ("pg_class", 1259),
    ("pg_authid", 1260),
    ("pg_database", 1262),
    ("pg_constraint", 2606),
    ("pg_namespace", 2615),
    ("pg_description", 2609),
    ("pg_extension", 3079),
    ("pg_trigger", 2620),
    ("pg_index", 2610),
    ("pg_attrdef", 2604),
];

#[derive(Debug)]
pub(super) struct Table {
    pub(super) schema: &'static str,
    pub(super) name: &'static str,
    pub(super) oid: i64,
    pub(super) columns: Vec<(&'static str, &'static str)>,
}

#[derive(Debug)]
pub(super) struct CatalogTables(Vec<Table>);

impl Default for CatalogTables {
    fn default() -> CatalogTables {
        let table = |(number, line): (i64, &'static str)| {
            let (name, columns) = line.split_once(": ")?;
            let (schema, name) = name.split_once('.').unwrap_or((CATALOG, name));
            let columns = columns.split(", ").filter_map(|column| column.split_once(' ')).collect();
            let known = KNOWN.iter().find(|(known, _)| *known == name).map(|(_, oid)| *oid);
            Some(Table { schema, name, oid: known.unwrap_or(NUMBERS_FROM + number), columns })
        };
        CatalogTables((0..).zip(TABLES.lines()).filter_map(table).collect())
    }
}

impl CatalogTables {
    /// With the journal beside the release, for an auditor.
    pub(super) fn with_journal() -> CatalogTables {
        let mut tables = CatalogTables::default();
        tables.0.push(Table { schema: SCHEMA, name: JOURNAL, oid: JOURNAL_NUMBER, columns: COLUMNS.to_vec() });
        tables
    }

    pub(super) fn all(&self) -> &[Table] {
        &self.0
    }

    pub(super) fn find(&self, schema: &str, name: &str) -> Option<&'static str> {
        self.0.iter().find(|table| table.schema == schema && table.name == name).map(|table| table.name)
    }

    pub(super) fn get(&self, schema: &str, name: &str) -> Option<&Table> {
        self.0.iter().find(|table| table.schema == schema && table.name == name)
    }

    pub(super) fn schema(&self, name: &str) -> &'static str {
        match name {
            INFORMATION => INFORMATION,
            SCHEMA => SCHEMA,
            _ => CATALOG,
        }
    }

    /// The statements that make all tables.
    pub(super) fn create(&self) -> String {
        let mut text = String::new();
        for table in &self.0 {
            let column = |(name, kind): &(&str, &str)| format!("\"{name}\" \"{}\"", declared(kind));
            let columns = table.columns.iter().map(column).collect::<Vec<_>>().join(",");
            text.push_str(&format!("CREATE TABLE {}.\"{}\"({columns});", table.schema, table.name));
        }
        text
    }
}

/// A type's name for SQLite, which takes from it how values are compared: names stay texts also
/// where they look like numbers.
fn declared(kind: &str) -> String {
    match kind {
        "name" | "sql_identifier" => "name TEXT".to_owned(),
        "character_data" | "yes_or_no" | "text" => "text".to_owned(),
        "cardinal_number" => "int4".to_owned(),
        other => other.to_owned(),
    }
}

/// The type that a declaration stands for.
pub(super) fn kind(declared: &str) -> super::super::kind::SqlType {
    super::super::kind::SqlType::from_name(declared.strip_suffix(" TEXT").unwrap_or(declared))
}

/// The default of a column.
pub(super) fn default(kind: &str) -> rusqlite::types::Value {
    use rusqlite::types::Value;
    match kind {
        "bool" | "int2" | "int4" | "int8" | "oid" | "float4" | "float8" | "xid" => Value::Integer(0),
        "char" => Value::Text(String::new()),
        "yes_or_no" => Value::Text("NO".to_owned()),
        _ => Value::Null,
    }
}
