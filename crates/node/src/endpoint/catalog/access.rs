//! The permissions of a statement in SQLite: read the catalog's own tables and call the functions
//! of a list. SQLite asks while it prepares a statement, so this holds whatever the rewriting let
//! pass.

use std::collections::BTreeSet;

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

use super::functions;
use super::tables::CatalogTables;

/// The table whose rows are the elements of an array: the rewriting uses it.
const ELEMENTS: &str = "json_each";

/// Whether a name is one of SQLite's own tables, which no name in a statement may stand for.
pub(super) fn is_internal(name: &str) -> bool {
    let name = name.to_lowercase();
    name.starts_with("sqlite_")
        || name.starts_with("pragma_")
        || matches!(name.as_str(), "json_tree" | "json_each" | "dbstat" | "bytecode" | "tables_used")
}

/// Decides for the statements of one connection.
pub(super) fn authorizer(tables: &CatalogTables) -> impl FnMut(AuthContext<'_>) -> Authorization + Send + 'static {
    let tables: BTreeSet<String> = tables.all().iter().map(|table| table.name.to_owned()).collect();
    let functions = functions::allowed();
    move |context: AuthContext<'_>| {
        let is_allowed = match context.action {
            AuthAction::Select | AuthAction::Recursive => true,
            // A table of which no column is read: also a name that WITH gives.
            AuthAction::Read { table_name, column_name: "" } => table_name == ELEMENTS || !is_internal(table_name),
            AuthAction::Read { table_name, .. } => table_name == ELEMENTS || tables.contains(table_name),
            AuthAction::Function { function_name } => functions.contains(function_name),
            _ => false,
        };
        if is_allowed { Authorization::Allow } else { Authorization::Deny }
    }
}
