//! PostgreSQL's functions that clients call when they look around, as functions of SQLite.

use std::collections::BTreeSet;
use std::sync::Arc;

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Error};

use super::super::kind::SqlType;
use super::super::tokens::{DATABASE, SCHEMA};
use super::super::variables::SERVER_VERSION;
use super::{Names, patterns, type_names};

/// Functions that SQLite has, under its own name for each.
const PLAIN: &[(&str, &str)] = &[
    ("abs", "abs"),
    ("array_agg", "json_group_array"),
    ("avg", "avg"),
    ("bool_and", "min"),
    ("bool_or", "max"),
    ("char_length", "length"),
    ("character_length", "length"),
    ("coalesce", "coalesce"),
    ("concat", "concat"),
    ("concat_ws", "concat_ws"),
    ("count", "count"),
    ("dense_rank", "dense_rank"),
    ("every", "min"),
    ("format", "pg_format"),
    ("greatest", "max"),
    ("json_build_object", "json_object"),
    ("least", "min"),
    ("length", "length"),
    ("lower", "lower"),
    ("ltrim", "pg_ltrim"),
    ("max", "max"),
    ("min", "min"),
    ("nullif", "nullif"),
    ("rank", "rank"),
    ("replace", "pg_replace"),
    ("round", "round"),
    ("row_number", "row_number"),
    ("rtrim", "pg_rtrim"),
    ("string_agg", "string_agg"),
    ("strpos", "pg_position"),
    ("substr", "pg_substring"),
    ("substring", "pg_substring"),
    ("sum", "sum"),
    ("trim", "pg_trim"),
    ("upper", "upper"),
];

/// Functions about things that a release does not have: nothing is known of any of them.
const UNKNOWN: &[&str] = &[
    "inet_client_addr",
    "inet_server_addr",
    "inet_server_port",
    "pg_get_constraintdef",
    "pg_get_expr",
    "pg_get_function_arguments",
    "pg_get_function_identity_arguments",
    "pg_get_function_result",
    "pg_get_functiondef",
    "pg_get_indexdef",
    "pg_get_partition_constraintdef",
    "pg_get_partkeydef",
    "pg_get_ruledef",
    "pg_get_serial_sequence",
    "pg_get_statisticsobjdef_columns",
    "pg_get_triggerdef",
    "pg_get_viewdef",
    "pg_database_size",
    "pg_indexes_size",
    "pg_relation_filenode",
    "pg_relation_size",
    "pg_size_pretty",
    "pg_stat_get_numscans",
    "pg_table_size",
    "pg_tablespace_location",
    "pg_total_relation_size",
    "pg_relation_is_publishable",
    "shobj_description",
];

/// Functions of this file that a client may call.
const OWN: &[(&str, SqlType)] = &[
    ("array_length", SqlType::Int4),
    ("array_lower", SqlType::Int4),
    ("array_to_string", SqlType::Text),
    ("array_upper", SqlType::Int4),
    ("cardinality", SqlType::Int4),
    ("col_description", SqlType::Text),
    ("current_catalog", SqlType::Name),
    ("current_database", SqlType::Name),
    ("current_role", SqlType::Name),
    ("current_schema", SqlType::Name),
    ("current_schemas", SqlType::Text),
    ("current_setting", SqlType::Text),
    ("current_user", SqlType::Name),
    ("format_type", SqlType::Text),
    ("generate_subscripts", SqlType::Int4),
    ("has_any_column_privilege", SqlType::Bool),
    ("has_column_privilege", SqlType::Bool),
    ("has_database_privilege", SqlType::Bool),
    ("has_function_privilege", SqlType::Bool),
    ("has_schema_privilege", SqlType::Bool),
    ("has_sequence_privilege", SqlType::Bool),
    ("has_table_privilege", SqlType::Bool),
    ("left", SqlType::Text),
    ("obj_description", SqlType::Text),
    ("pg_backend_pid", SqlType::Int4),
    ("pg_char_to_encoding", SqlType::Int4),
    ("pg_collation_is_visible", SqlType::Bool),
    ("pg_encoding_to_char", SqlType::Name),
    ("pg_function_is_visible", SqlType::Bool),
    ("pg_get_userbyid", SqlType::Name),
    ("pg_has_role", SqlType::Bool),
    ("pg_is_in_recovery", SqlType::Bool),
    ("pg_is_other_temp_schema", SqlType::Bool),
    ("pg_my_temp_schema", SqlType::Oid),
    ("pg_operator_is_visible", SqlType::Bool),
    ("pg_table_is_visible", SqlType::Bool),
    ("pg_type_is_visible", SqlType::Bool),
    ("quote_ident", SqlType::Text),
    ("session_user", SqlType::Name),
    ("split_part", SqlType::Text),
    ("to_regclass", SqlType::Oid),
    ("to_regnamespace", SqlType::Oid),
    ("to_regtype", SqlType::Oid),
    ("unnest", SqlType::Text),
    ("user", SqlType::Name),
    ("version", SqlType::Text),
    ("_pg_expandarray", SqlType::Text),
];

/// The name under which SQLite knows a function, if it may be called.
pub(super) fn sqlite_name(name: &str) -> Option<&'static str> {
    let plain = PLAIN.iter().find(|(known, _)| *known == name).map(|(_, own)| *own);
    let own = OWN.iter().find(|(known, _)| *known == name).map(|(known, _)| *known);
    plain.or(own).or_else(|| UNKNOWN.iter().find(|known| **known == name).copied())
}

/// The functions that SQLite may call for a client: those of the lists, and those that the
/// rewriting puts into a statement.
pub(super) fn allowed() -> BTreeSet<&'static str> {
    let rewritten = ["json_array", "json_group_array", "json_object"];
    let plain = PLAIN.iter().map(|(_, own)| *own);
    let own = OWN.iter().map(|(name, _)| *name).chain(UNKNOWN.iter().copied());
    plain.chain(own).chain(INTERNAL.iter().map(|(name, _)| *name)).chain(rewritten).collect()
}

/// The result type of a function.
pub(super) fn kind_of(name: &str) -> Option<SqlType> {
    match name {
        "count" | "sum" | "row_number" | "rank" | "dense_rank" => Some(SqlType::Int8),
        "length" | "char_length" | "character_length" | "strpos" => Some(SqlType::Int4),
        "bool_and" | "bool_or" | "every" | "pg_relation_is_publishable" => Some(SqlType::Bool),
        "avg" => Some(SqlType::Float8),
        "max" | "min" | "coalesce" | "nullif" | "greatest" | "least" => None,
        name if PLAIN.iter().any(|(known, _)| *known == name) || UNKNOWN.contains(&name) => Some(SqlType::Text),
        name => OWN.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind),
    }
}

type Call = fn(&Context<'_>, &Names) -> rusqlite::Result<Value>;

/// The functions that replace operators and casts.
const INTERNAL: &[(&str, Call)] = &[
    ("pg_among", |call, _| {
        let Some(array) = text(call, 1) else { return Ok(Value::Null) };
        let Some(wanted) = text(call, 0) else { return Ok(Value::Null) };
        Ok(truth(elements(&array).iter().any(|element| element.as_deref() == Some(wanted.as_str()))))
    }),
    ("pg_array", |call, _| {
        let Some(json) = text(call, 0) else { return Ok(Value::Null) };
        let list: Vec<serde_json::Value> = serde_json::from_str(&json).unwrap_or_default();
        let shown = |value: &serde_json::Value| match value {
            serde_json::Value::Null => "NULL".to_owned(),
            serde_json::Value::String(text) => quoted(text),
            other => other.to_string(),
        };
        Ok(Value::Text(format!("{{{}}}", list.iter().map(shown).collect::<Vec<_>>().join(","))))
    }),
    ("pg_bool", |call, _| {
        Ok(match raw(call, 0) {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(value) => truth(value != 0),
            _ => truth(text(call, 0).is_some_and(|text| matches!(text.as_str(), "t" | "true" | "on" | "1" | "yes"))),
        })
    }),
    ("pg_element", |call, _| {
        let (Some(array), Some(place)) = (text(call, 0), whole(call, 1)) else { return Ok(Value::Null) };
        let place = usize::try_from(place).ok().and_then(|place| place.checked_sub(1));
        let element = place.and_then(|place| elements(&array).into_iter().nth(place)).flatten();
        Ok(element.map_or(Value::Null, Value::Text))
    }),
    ("pg_elements", |call, _| {
        let list = text(call, 0).map(|array| elements(&array)).unwrap_or_default();
        Ok(Value::Text(serde_json::to_string(&list).unwrap_or_default()))
    }),
    ("pg_equal", |call, _| {
        let (left, right) = (text(call, 0), text(call, 1));
        Ok(left.zip(right).map_or(Value::Null, |(left, right)| truth(left == right)))
    }),
    ("pg_field", |call, _| only_null(call)),
    ("pg_format", |call, _| Ok(formatted(call).map_or(Value::Null, Value::Text))),
    ("pg_ilike", |call, names| like(call, names, true)),
    ("pg_like", |call, names| like(call, names, false)),
    ("pg_ltrim", |call, _| trimmed(call, true, false)),
    ("pg_oid", |call, names| {
        Ok(match text(call, 0) {
            None => Value::Null,
            Some(text) => match text.parse() {
                Ok(number) => Value::Integer(number),
                Err(_) => names.relation(&text).map_or(Value::Null, Value::Integer),
            },
        })
    }),
    ("pg_position", |call, _| {
        let (Some(within), Some(part)) = (text(call, 0), text(call, 1)) else { return Ok(Value::Null) };
        let found = within.find(&part).map_or(0, |at| within[..at].chars().count() as i64 + 1);
        Ok(Value::Integer(found))
    }),
    ("pg_real", |call, _| Ok(text(call, 0).and_then(|text| text.parse().ok()).map_or(Value::Null, Value::Real))),
    ("pg_regclass_in", |call, names| {
        Ok(text(call, 0).and_then(|name| names.relation(&name)).map_or(Value::Null, Value::Integer))
    }),
    ("pg_regclass_out", |call, names| named(call, |number| names.relation_name(number))),
    ("pg_regex", |call, names| regex(call, names, false)),
    ("pg_regex_any_case", |call, names| regex(call, names, true)),
    ("pg_regnamespace_in", |call, names| {
        Ok(text(call, 0).and_then(|name| names.namespace(&name)).map_or(Value::Null, Value::Integer))
    }),
    ("pg_regnamespace_out", |call, names| named(call, |number| names.namespace_name(number))),
    ("pg_regproc_in", |call, _| Ok(raw(call, 0).into())),
    ("pg_regproc_out", |call, _| Ok(raw(call, 0).into())),
    ("pg_regprocedure_in", |call, _| Ok(raw(call, 0).into())),
    ("pg_regprocedure_out", |call, _| Ok(raw(call, 0).into())),
    ("pg_regrole_in", |_, _| Ok(Value::Integer(10))),
    ("pg_regrole_out", |_, _| Ok(Value::Text(DATABASE.to_owned()))),
    ("pg_regtype_in", |call, _| {
        Ok(text(call, 0).and_then(|name| type_names::oid(&name)).map_or(Value::Null, Value::Integer))
    }),
    ("pg_regtype_out", |call, _| named(call, type_names::shown)),
    ("pg_replace", |call, _| {
        let (Some(within), Some(from), Some(to)) = (text(call, 0), text(call, 1), text(call, 2)) else {
            return Ok(Value::Null);
        };
        let size = within.len().saturating_add(within.len().saturating_mul(to.len()) / from.len().max(1));
        if size > super::TEXT_BYTES_MAX as usize {
            return Err(Error::UserFunctionError("a text that would be too long".into()));
        }
        Ok(Value::Text(if from.is_empty() { within } else { within.replace(&from, &to) }))
    }),
    ("pg_rtrim", |call, _| trimmed(call, false, true)),
    ("pg_series_number", |call, _| series_number(call)),
    ("pg_series_step", |call, _| match series_number(call)? {
        Value::Integer(0) => Err(Error::UserFunctionError("a series with a step of zero".into())),
        step => Ok(step),
    }),
    ("pg_substring", |call, _| {
        let (Some(of), Some(from)) = (text(call, 0), whole(call, 1)) else { return Ok(Value::Null) };
        let end = if call.len() > 2 {
            let Some(length) = whole(call, 2) else { return Ok(Value::Null) };
            from.saturating_add(length)
        } else {
            i64::MAX
        };
        let within = |(at, _): &(i64, char)| (from..end).contains(at);
        Ok(Value::Text((1..).zip(of.chars()).filter(within).map(|(_, character)| character).collect()))
    }),
    ("pg_trim", |call, _| trimmed(call, true, true)),
    ("pg_text", |call, _| Ok(text(call, 0).map_or(Value::Null, Value::Text))),
    ("pg_whole", |call, _| {
        Ok(match raw(call, 0) {
            ValueRef::Integer(value) => Value::Integer(value),
            ValueRef::Real(value) => Value::Integer(value.round() as i64),
            _ => text(call, 0).and_then(|text| text.trim().parse().ok()).map_or(Value::Null, Value::Integer),
        })
    }),
];

/// `format` with `%s`, `%I` and `%L`, each of the next argument; what else it knows is not needed.
fn formatted(call: &Context<'_>) -> Option<String> {
    let (pattern, mut next) = (text(call, 0)?, 1);
    let mut shown = String::new();
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        if character != '%' {
            shown.push(character);
            continue;
        }
        let kind = characters.next()?;
        if kind == '%' {
            shown.push('%');
            continue;
        }
        let given = if next < call.len() { text(call, next) } else { return None };
        next += 1;
        match (kind, given) {
            ('s', given) => shown.push_str(&given.unwrap_or_default()),
            ('I', given) => shown.push_str(&identifier(&given?)),
            ('L', None) => shown.push_str("NULL"),
            ('L', Some(text)) => shown.push_str(&format!("'{}'", text.replace('\'', "''"))),
            _ => return None,
        }
    }
    Some(shown)
}

/// In quotes where a name would be read as another without.
fn identifier(name: &str) -> String {
    let plain = |(place, byte): (usize, u8)| {
        byte.is_ascii_lowercase() || byte == b'_' || place > 0 && (byte.is_ascii_digit() || byte == b'$')
    };
    match !name.is_empty() && name.bytes().enumerate().all(plain) {
        true => name.to_owned(),
        false => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

/// Makes the functions known to a connection. `setting` looks up what the session has set.
pub(super) fn register(
    connection: &Connection,
    names: &Arc<Names>,
    user: &str,
    setting: impl Fn(&str) -> Option<String> + Send + 'static,
) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8;
    for (name, call) in INTERNAL {
        let names = Arc::clone(names);
        connection.create_scalar_function(*name, -1, flags, move |context| call(context, &names))?;
    }
    for name in UNKNOWN {
        connection.create_scalar_function(*name, -1, flags, |_| Ok(Value::Null))?;
    }
    let constant =
        |name: &str, value: Value| connection.create_scalar_function(name, -1, flags, move |_| Ok(value.clone()));
    for name in ["current_user", "session_user", "user", "current_role"] {
        constant(name, Value::Text(user.to_owned()))?;
    }
    for name in ["current_database", "current_catalog"] {
        constant(name, Value::Text(DATABASE.to_owned()))?;
    }
    let version = format!("PostgreSQL {SERVER_VERSION} (hedgerow-node {})", env!("CARGO_PKG_VERSION"));
    constant("version", Value::Text(version))?;
    constant("current_schema", Value::Text(SCHEMA.to_owned()))?;
    constant("current_schemas", Value::Text(format!("{{pg_catalog,{SCHEMA}}}")))?;
    constant("pg_backend_pid", Value::Integer(0))?;
    constant("pg_get_userbyid", Value::Text(DATABASE.to_owned()))?;
    constant("pg_my_temp_schema", Value::Integer(0))?;
    constant("pg_is_other_temp_schema", truth(false))?;
    // Nothing can be written, as at a standby.
    constant("pg_is_in_recovery", truth(true))?;
    constant("pg_encoding_to_char", Value::Text("UTF8".to_owned()))?;
    constant("pg_char_to_encoding", Value::Integer(6))?;
    for name in ["pg_collation_is_visible", "pg_function_is_visible", "pg_operator_is_visible", "pg_type_is_visible"] {
        constant(name, truth(true))?;
    }
    constant("pg_has_role", truth(false))?;
    for name in [
        "has_any_column_privilege",
        "has_column_privilege",
        "has_database_privilege",
        "has_schema_privilege",
        "has_table_privilege",
        "has_sequence_privilege",
        "has_function_privilege",
    ] {
        connection.create_scalar_function(name, -1, flags, |call| {
            let wanted = text(call, call.len().saturating_sub(1)).unwrap_or_default().to_uppercase();
            Ok(truth(wanted.split(',').any(|one| matches!(one.trim(), "SELECT" | "USAGE" | "CONNECT"))))
        })?;
    }
    connection.create_scalar_function("current_setting", -1, flags, move |call| {
        Ok(text(call, 0).and_then(|name| setting(&name)).map_or(Value::Null, Value::Text))
    })?;
    let visible = Arc::clone(names);
    connection.create_scalar_function("pg_table_is_visible", -1, flags, move |call| {
        Ok(whole(call, 0).map_or(Value::Null, |number| truth(visible.is_visible(number))))
    })?;
    let described = Arc::clone(names);
    connection.create_scalar_function("obj_description", -1, flags, move |call| {
        Ok(whole(call, 0).and_then(|number| described.description(number, 0)).map_or(Value::Null, Value::Text))
    })?;
    let described = Arc::clone(names);
    connection.create_scalar_function("col_description", -1, flags, move |call| {
        let (Some(number), Some(column)) = (whole(call, 0), whole(call, 1)) else { return Ok(Value::Null) };
        Ok(described.description(number, column).map_or(Value::Null, Value::Text))
    })?;
    for (name, own) in
        [("to_regclass", "pg_regclass_in"), ("to_regtype", "pg_regtype_in"), ("to_regnamespace", "pg_regnamespace_in")]
    {
        let names = Arc::clone(names);
        let Some((_, call)) = INTERNAL.iter().find(|(known, _)| *known == own) else { continue };
        connection.create_scalar_function(name, -1, flags, move |context| call(context, &names))?;
    }
    for (name, call) in LOCAL {
        connection.create_scalar_function(*name, -1, flags, call)?;
    }
    Ok(())
}

/// A function of the values alone.
type Local = fn(&Context<'_>) -> rusqlite::Result<Value>;

const LOCAL: &[(&str, Local)] = &[
    ("format_type", |call| named(call, type_names::shown)),
    ("array_to_string", |call| {
        let (Some(array), Some(between)) = (text(call, 0), text(call, 1)) else { return Ok(Value::Null) };
        Ok(Value::Text(elements(&array).into_iter().flatten().collect::<Vec<_>>().join(&between)))
    }),
    ("array_upper", |call| length(call)),
    ("array_length", |call| length(call)),
    ("cardinality", |call| length(call)),
    ("array_lower", |call| Ok(text(call, 0).map_or(Value::Null, |_| Value::Integer(1)))),
    ("unnest", only_null),
    ("generate_subscripts", only_null),
    ("_pg_expandarray", only_null),
    ("quote_ident", |call| {
        let Some(name) = text(call, 0) else { return Ok(Value::Null) };
        let plain = name.starts_with(|first: char| first.is_ascii_lowercase() || first == '_')
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        Ok(Value::Text(if plain { name } else { format!("\"{}\"", name.replace('"', "\"\"")) }))
    }),
    ("left", |call| {
        let (Some(of), Some(count)) = (text(call, 0), whole(call, 1)) else { return Ok(Value::Null) };
        Ok(Value::Text(of.chars().take(usize::try_from(count).unwrap_or(0)).collect()))
    }),
    ("split_part", |call| {
        let (Some(of), Some(at), Some(place)) = (text(call, 0), text(call, 1), whole(call, 2)) else {
            return Ok(Value::Null);
        };
        let place = usize::try_from(place).unwrap_or(0).saturating_sub(1);
        Ok(Value::Text(if at.is_empty() { of } else { of.split(&*at).nth(place).unwrap_or("").to_owned() }))
    }),
];

fn length(call: &Context<'_>) -> rusqlite::Result<Value> {
    let Some(array) = text(call, 0) else { return Ok(Value::Null) };
    let count = elements(&array).len() as i64;
    Ok(if count == 0 { Value::Null } else { Value::Integer(count) })
}

/// A function that gives several rows, over tables that are empty here: of nothing it is nothing,
/// and of anything else it is not answered.
fn only_null(call: &Context<'_>) -> rusqlite::Result<Value> {
    match raw(call, 0) {
        ValueRef::Null => Ok(Value::Null),
        _ => Err(Error::UserFunctionError("a function with several rows is answered in FROM only".into())),
    }
}

fn truth(value: bool) -> Value {
    Value::Integer(i64::from(value))
}

/// An argument that is not given is null.
fn raw<'a>(call: &'a Context<'_>, place: usize) -> ValueRef<'a> {
    if place < call.len() { call.get_raw(place) } else { ValueRef::Null }
}

fn text(call: &Context<'_>, place: usize) -> Option<String> {
    match raw(call, place) {
        ValueRef::Null | ValueRef::Blob(_) => None,
        ValueRef::Integer(value) => Some(value.to_string()),
        ValueRef::Real(value) => Some(value.to_string()),
        ValueRef::Text(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
    }
}

fn whole(call: &Context<'_>, place: usize) -> Option<i64> {
    text(call, place)?.parse().ok()
}

/// The name of a number; the number itself where it has none.
fn named(call: &Context<'_>, name: impl Fn(i64) -> Option<String>) -> rusqlite::Result<Value> {
    Ok(match whole(call, 0) {
        None => text(call, 0).map_or(Value::Null, Value::Text),
        Some(number) => Value::Text(name(number).unwrap_or_else(|| number.to_string())),
    })
}

/// The elements of an array as PostgreSQL writes it.
fn elements(array: &str) -> Vec<Option<String>> {
    let inner = array.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(array);
    let (mut list, mut element, mut inside, mut quoted) = (Vec::new(), String::new(), false, false);
    let mut characters = inner.chars();
    let push = |list: &mut Vec<Option<String>>, element: &mut String, quoted: &mut bool| {
        let text = std::mem::take(element);
        // Blanks around an element are not part of it; those within quotes are.
        let text = if *quoted { text } else { text.trim_end().to_owned() };
        list.push((*quoted || text != "NULL").then_some(text));
        *quoted = false;
    };
    while let Some(character) = characters.next() {
        match character {
            '\\' => element.extend(characters.next()),
            '"' => (inside, quoted) = (!inside, true),
            blank if !inside && blank.is_whitespace() && (element.is_empty() || quoted) => {}
            ',' if !inside => push(&mut list, &mut element, &mut quoted),
            other => element.push(other),
        }
    }
    if !inner.is_empty() {
        push(&mut list, &mut element, &mut quoted);
    }
    list
}

fn quoted(text: &str) -> String {
    let plain = |character: char| character.is_alphanumeric() || matches!(character, '_' | '-' | '.');
    if !text.is_empty() && text.chars().all(plain) && text != "NULL" {
        return text.to_owned();
    }
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn regex(call: &Context<'_>, names: &Names, any_case: bool) -> rusqlite::Result<Value> {
    let (Some(of), Some(wanted)) = (text(call, 0), text(call, 1)) else { return Ok(Value::Null) };
    in_time(names)?;
    patterns::finds(&wanted, &of, any_case).map(truth).map_err(|why| Error::UserFunctionError(why.into()))
}

fn like(call: &Context<'_>, names: &Names, any_case: bool) -> rusqlite::Result<Value> {
    let (Some(of), Some(wanted)) = (text(call, 0), text(call, 1)) else { return Ok(Value::Null) };
    in_time(names)?;
    let escape = if call.len() > 2 { text(call, 2).unwrap_or_default().chars().next() } else { Some('\\') };
    patterns::is_like(&of, &wanted, escape, any_case).map(truth).map_err(|why| Error::UserFunctionError(why.into()))
}

/// SQLite looks at the time between two of its steps; a function that takes long does so itself.
fn in_time(names: &Names) -> rusqlite::Result<()> {
    match names.watch.is_over() {
        true => Err(Error::UserFunctionError("the time is over".into())),
        false => Ok(()),
    }
}

/// A text without blanks, or without the characters that are given, at its ends.
fn trimmed(call: &Context<'_>, start: bool, end: bool) -> rusqlite::Result<Value> {
    let Some(of) = text(call, 0) else { return Ok(Value::Null) };
    let what: BTreeSet<char> = match call.len() {
        0 | 1 => BTreeSet::from([' ']),
        _ => match text(call, 1) {
            Some(characters) => characters.chars().collect(),
            None => return Ok(Value::Null),
        },
    };
    let is_trimmed = |character: char| what.contains(&character);
    let of = if start { of.trim_start_matches(is_trimmed) } else { &of };
    Ok(Value::Text(if end { of.trim_end_matches(is_trimmed) } else { of }.to_owned()))
}

/// A whole number of a series; another value is an error, since a series without it would be wrong.
fn series_number(call: &Context<'_>) -> rusqlite::Result<Value> {
    match (raw(call, 0), whole(call, 0)) {
        (ValueRef::Null, _) => Ok(Value::Null),
        (_, Some(number)) => Ok(Value::Integer(number)),
        (_, None) => Err(Error::UserFunctionError("a series of other values than whole numbers".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_read_as_they_are_written() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(elements("{}"), []);
        assert_eq!(elements("{r,p}"), [some("r"), some("p")]);
        assert_eq!(elements("{\"a,b\",NULL,\"NULL\",\"q\\\"\"}"), [some("a,b"), None, some("NULL"), some("q\"")]);
        assert_eq!(elements("{ r, \" p\" , a b }"), [some("r"), some(" p"), some("a b")]);
        assert_eq!(quoted("a b"), "\"a b\"");
    }

    #[test]
    fn every_function_has_one_name() {
        let mut all: Vec<&str> = PLAIN.iter().map(|(name, _)| *name).collect();
        all.extend(OWN.iter().map(|(name, _)| *name));
        all.extend(UNKNOWN);
        all.extend(INTERNAL.iter().map(|(name, _)| *name));
        all.sort_unstable();
        let before = all.len();
        all.dedup();
        assert_eq!(all.len(), before);
        assert_eq!(sqlite_name("pg_series_step"), None, "what the rewriting uses is not called by clients");
        assert_eq!(sqlite_name("load_extension"), None);
        assert_eq!(sqlite_name("randomblob"), None);
        assert_eq!(sqlite_name("pg_read_file"), None);
    }
}
