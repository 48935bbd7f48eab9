//! The content of the catalog: one database, one schema, one table, its columns; for an auditor the
//! journal beside it.

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::super::journal::JournalTableRow;
use super::super::kind::SqlType;
use super::super::tokens::{DATABASE, SCHEMA, TABLE};
use super::tables::{CatalogTables, JOURNAL, default};
use super::type_names::TYPES;
use super::watch::Watch;

const DATA: i64 = 16_384;
const OWNER: i64 = 10;
const ANALYST: i64 = 16_390;
const PUBLIC: i64 = 2200;
const CATALOG: i64 = 11;
const INFORMATION: i64 = 12_900;
const HEAP: i64 = 2;
const DATABASE_NUMBER: i64 = 16_000;

/// A column of the release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CatalogColumn {
    pub(crate) name: String,
    pub(crate) kind: SqlType,
    pub(crate) description: String,
}

/// The facts that the catalog states.
#[derive(Debug, Clone)]
pub(crate) struct CatalogContent {
    pub(crate) user: String,
    pub(crate) columns: Vec<CatalogColumn>,
    pub(crate) rows: u64,
    pub(crate) description: String,
    pub(crate) settings: Vec<(String, String)>,
    /// For an auditor.
    pub(crate) journal: Option<Vec<JournalTableRow>>,
}

/// Numbers and names, for functions that lead from one to the other.
#[derive(Debug)]
pub(super) struct Names {
    /// Number, schema, name.
    relations: Vec<(i64, String, String)>,
    /// By number of the column, 0 for the table.
    descriptions: Vec<String>,
    /// The statement that is being answered.
    pub(super) watch: Watch,
}

const NAMESPACES: [(i64, &str); 3] = [(CATALOG, "pg_catalog"), (PUBLIC, SCHEMA), (INFORMATION, "information_schema")];

impl Names {
    pub(super) fn new(tables: &CatalogTables, content: &CatalogContent, watch: Watch) -> Names {
        let mut relations = vec![(DATA, SCHEMA.to_owned(), TABLE.to_owned())];
        relations.extend(tables.all().iter().map(|table| (table.oid, table.schema.to_owned(), table.name.to_owned())));
        let mut descriptions = vec![content.description.clone()];
        descriptions.extend(content.columns.iter().map(|column| column.description.clone()));
        Names { relations, descriptions, watch }
    }

    /// The number of a table, by its name with or without a schema.
    pub(super) fn relation(&self, text: &str) -> Option<i64> {
        let text = text.replace('"', "");
        let (schema, name) = match text.split_once('.') {
            Some((schema, name)) => (Some(schema), name),
            None => (None, text.as_str()),
        };
        let fits = |(_, of, known): &&(i64, String, String)| {
            known == name && schema.map_or(of != "information_schema", |schema| of == schema)
        };
        self.relations.iter().find(fits).map(|(number, ..)| *number)
    }

    /// The name of a table, with its schema where it is not found without.
    pub(super) fn relation_name(&self, number: i64) -> Option<String> {
        let (_, schema, name) = self.relations.iter().find(|(known, ..)| *known == number)?;
        Some(if schema == "information_schema" { format!("{schema}.{name}") } else { name.clone() })
    }

    pub(super) fn is_visible(&self, number: i64) -> bool {
        self.relations.iter().any(|(known, schema, _)| *known == number && schema != "information_schema")
    }

    pub(super) fn namespace(&self, name: &str) -> Option<i64> {
        NAMESPACES.iter().find(|(_, known)| *known == name).map(|(number, _)| *number)
    }

    pub(super) fn namespace_name(&self, number: i64) -> Option<String> {
        NAMESPACES.iter().find(|(known, _)| *known == number).map(|(_, name)| (*name).to_owned())
    }

    pub(super) fn description(&self, number: i64, column: i64) -> Option<String> {
        let place = usize::try_from(column).ok().filter(|_| number == DATA)?;
        self.descriptions.get(place).filter(|text| !text.is_empty()).cloned()
    }
}

fn text(text: impl Into<String>) -> Value {
    Value::Text(text.into())
}

fn int(value: impl Into<i64>) -> Value {
    Value::Integer(value.into())
}

/// Writes rows; what is not given has the default of its type.
struct Writer<'a> {
    connection: &'a Connection,
    tables: &'a CatalogTables,
}

impl Writer<'_> {
    fn add(&self, schema: &str, table: &str, given: &[(&str, Value)]) -> rusqlite::Result<()> {
        let Some(table) = self.tables.get(schema, table) else { return Ok(()) };
        let value = |(name, kind): &(&str, &str)| {
            let stated = given.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
            stated.unwrap_or_else(|| default(kind))
        };
        let values: Vec<Value> = table.columns.iter().map(value).collect();
        let marks = vec!["?"; values.len()].join(",");
        let sql = format!("INSERT INTO {}.\"{}\" VALUES ({marks})", table.schema, table.name);
        self.connection.prepare_cached(&sql)?.execute(params_from_iter(values)).map(|_| ())
    }

    fn catalog(&self, table: &str, given: &[(&str, Value)]) -> rusqlite::Result<()> {
        self.add("pg_catalog", table, given)
    }
}

pub(super) fn fill(connection: &Connection, tables: &CatalogTables, content: &CatalogContent) -> rusqlite::Result<()> {
    connection.execute_batch("BEGIN")?;
    let writer = Writer { connection, tables };
    fill_database(&writer, content)?;
    fill_release(&writer, content)?;
    fill_information(&writer, content)?;
    fill_journal(&writer, content)?;
    connection.execute_batch("COMMIT")
}

fn fill_database(writer: &Writer<'_>, content: &CatalogContent) -> rusqlite::Result<()> {
    for (number, name) in NAMESPACES {
        writer.catalog("pg_namespace", &[("oid", int(number)), ("nspname", text(name)), ("nspowner", int(OWNER))])?;
    }
    for (oid, name, _, length, category, array) in TYPES.iter().copied() {
        let element = TYPES.iter().find(|(_, _, _, _, _, of)| *of == oid).map_or(0, |(element, ..)| *element);
        writer.catalog(
            "pg_type",
            &[
                ("oid", int(oid)),
                ("typname", text(name)),
                ("typnamespace", int(CATALOG)),
                ("typowner", int(OWNER)),
                ("typlen", int(length)),
                ("typtype", text(if category == "P" { "p" } else { "b" })),
                ("typcategory", text(category)),
                ("typisdefined", int(1)),
                ("typdelim", text(",")),
                ("typelem", int(element)),
                ("typreceive", text(receiver(name))),
                ("typarray", int(array)),
                ("typtypmod", int(-1)),
                ("typcollation", int(if category == "S" { 100 } else { 0 })),
            ],
        )?;
    }
    for (oid, name, kind) in [(HEAP, "heap", "t"), (403, "btree", "i")] {
        writer.catalog("pg_am", &[("oid", int(oid)), ("amname", text(name)), ("amtype", text(kind))])?;
    }
    writer.catalog(
        "pg_database",
        &[
            ("oid", int(DATABASE_NUMBER)),
            ("datname", text(DATABASE)),
            ("datdba", int(OWNER)),
            ("encoding", int(6)),
            ("datlocprovider", text("c")),
            ("datallowconn", int(1)),
            ("datconnlimit", int(-1)),
            ("dattablespace", int(1663)),
            ("datcollate", text("C")),
            ("datctype", text("C")),
        ],
    )?;
    writer
        .catalog("pg_tablespace", &[("oid", int(1663)), ("spcname", text("pg_default")), ("spcowner", int(OWNER))])?;
    writer.catalog(
        "pg_collation",
        &[
            ("oid", int(100)),
            ("collname", text("default")),
            ("collnamespace", int(CATALOG)),
            ("collprovider", text("d")),
        ],
    )?;
    for (oid, name, login) in [(OWNER, DATABASE, 0), (ANALYST, content.user.as_str(), 1)] {
        writer.catalog(
            "pg_roles",
            &[
                ("oid", int(oid)),
                ("rolname", text(name)),
                ("rolinherit", int(1)),
                ("rolcanlogin", int(login)),
                ("rolconnlimit", int(-1)),
            ],
        )?;
        writer.catalog("pg_user", &[("usesysid", int(oid)), ("usename", text(name))])?;
    }
    for (name, value) in &content.settings {
        writer.catalog(
            "pg_settings",
            &[("name", text(name)), ("setting", text(value)), ("context", text("user")), ("vartype", text("string"))],
        )?;
    }
    Ok(())
}

/// The name of the function that would read a type in binary: clients tell types by it.
fn receiver(name: &str) -> String {
    let spaced = ["numeric", "date", "time", "timestamp", "timestamptz", "timetz", "interval", "uuid", "json", "jsonb"];
    match name {
        array if array.starts_with('_') => "array_recv".to_owned(),
        name if spaced.contains(&name) => format!("{name}_recv"),
        name => format!("{name}recv"),
    }
}

fn fill_release(writer: &Writer<'_>, content: &CatalogContent) -> rusqlite::Result<()> {
    let relation = |number: i64, schema: i64, name: &str, kind: &str, columns: usize, rows: i64| {
        writer.catalog(
            "pg_class",
            &[
                ("oid", int(number)),
                ("relname", text(name)),
                ("relnamespace", int(schema)),
                ("relowner", int(OWNER)),
                ("relam", int(if kind == "r" { HEAP } else { 0 })),
                ("relkind", text(kind)),
                ("relpersistence", text("p")),
                ("relreplident", text("n")),
                ("relispopulated", int(1)),
                ("relnatts", int(columns as i64)),
                ("reltuples", int(rows)),
            ],
        )
    };
    relation(DATA, PUBLIC, TABLE, "r", content.columns.len(), content.rows as i64)?;
    for table in writer.tables.all() {
        let (schema, kind) = match table.schema {
            "pg_catalog" => (CATALOG, "r"),
            SCHEMA => (PUBLIC, "r"),
            _ => (INFORMATION, "v"),
        };
        relation(table.oid, schema, table.name, kind, table.columns.len(), 0)?;
    }
    for (number, column) in (1i64..).zip(&content.columns) {
        fill_column(writer, DATA, number, &column.name, column.kind)?;
    }
    let described = std::iter::once((0, &content.description));
    for (number, description) in described.chain((1i64..).zip(content.columns.iter().map(|column| &column.description)))
    {
        writer.catalog(
            "pg_description",
            &[
                ("objoid", int(DATA)),
                ("classoid", int(1259)),
                ("objsubid", int(number)),
                ("description", text(description)),
            ],
        )?;
    }
    writer.catalog(
        "pg_tables",
        &[("schemaname", text(SCHEMA)), ("tablename", text(TABLE)), ("tableowner", text(DATABASE))],
    )
}

fn fill_column(writer: &Writer<'_>, table: i64, number: i64, name: &str, kind: SqlType) -> rusqlite::Result<()> {
    writer.catalog(
        "pg_attribute",
        &[
            ("attrelid", int(table)),
            ("attname", text(name)),
            ("atttypid", int(i64::from(kind.oid()))),
            ("attstattarget", int(-1)),
            ("attlen", int(kind.length())),
            ("attnum", int(number)),
            ("atttypmod", int(-1)),
            ("attstorage", text("x")),
            ("attislocal", int(1)),
            ("attcollation", int(if kind == SqlType::Text { 100 } else { 0 })),
        ],
    )
}

/// The journal's rows, and its table as clients find it.
fn fill_journal(writer: &Writer<'_>, content: &CatalogContent) -> rusqlite::Result<()> {
    let Some(rows) = &content.journal else { return Ok(()) };
    let Some(table) = writer.tables.get(SCHEMA, JOURNAL) else { return Ok(()) };
    let sql = format!("INSERT INTO {SCHEMA}.\"{JOURNAL}\" VALUES (?,?,?,?,?,?,?)");
    let mut insert = writer.connection.prepare(&sql)?;
    for row in rows {
        insert.execute(params_from_iter(row))?;
    }
    for (number, (name, kind)) in (1i64..).zip(&table.columns) {
        fill_column(writer, table.oid, number, name, SqlType::from_name(kind))?;
        let own = [("table_catalog", text(DATABASE)), ("table_schema", text(SCHEMA)), ("table_name", text(JOURNAL))];
        let column = [("column_name", text(*name)), ("ordinal_position", int(number)), ("data_type", text(*kind))];
        writer.add("information_schema", "columns", &[own, column].concat())?;
    }
    let own = [("table_catalog", text(DATABASE)), ("table_schema", text(SCHEMA)), ("table_name", text(JOURNAL))];
    writer.add("information_schema", "tables", &[&own[..], &[("table_type", text("BASE TABLE"))]].concat())?;
    let names = [("schemaname", text(SCHEMA)), ("tablename", text(JOURNAL)), ("tableowner", text(DATABASE))];
    writer.catalog("pg_tables", &names)
}

fn fill_information(writer: &Writer<'_>, content: &CatalogContent) -> rusqlite::Result<()> {
    let schema = "information_schema";
    for (_, name) in NAMESPACES {
        let row = [("catalog_name", text(DATABASE)), ("schema_name", text(name)), ("schema_owner", text(DATABASE))];
        writer.add(schema, "schemata", &row)?;
    }
    let own = [("table_catalog", text(DATABASE)), ("table_schema", text(SCHEMA)), ("table_name", text(TABLE))];
    let mut table = own.to_vec();
    table.extend([("table_type", text("BASE TABLE"))]);
    writer.add(schema, "tables", &table)?;
    for (number, column) in (1i64..).zip(&content.columns) {
        let kind = TYPES.iter().find(|(oid, ..)| *oid == i64::from(column.kind.oid()));
        let (short, long) = kind.map_or(("text", "text"), |(_, short, long, ..)| (*short, *long));
        let mut row = own.to_vec();
        row.extend([
            ("column_name", text(&column.name)),
            ("ordinal_position", int(number)),
            ("is_nullable", text("YES")),
            ("data_type", text(long)),
            ("udt_catalog", text(DATABASE)),
            ("udt_schema", text("pg_catalog")),
            ("udt_name", text(short)),
            ("is_identity", text("NO")),
            ("is_generated", text("NEVER")),
            ("is_updatable", text("NO")),
        ]);
        writer.add(schema, "columns", &row)?;
    }
    let mut grant = own.to_vec();
    grant.extend([("grantor", text(DATABASE)), ("grantee", text(&content.user)), ("privilege_type", text("SELECT"))]);
    writer.add(schema, "table_privileges", &grant)?;
    writer.add(schema, "role_table_grants", &grant)
}
