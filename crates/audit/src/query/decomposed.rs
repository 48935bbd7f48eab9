//! Queries to a decomposed release: answered from one of its tables that holds every column of the
//! query. What several tables show only together is not answered: their rows cannot be joined.

use hedgerow_table::{InputError, TableError};

use super::columns::{Columns, Named};
use super::view::View;
use super::{Answer, Bounds, answer_view, sql};

/// Answers one SELECT from the first table that can.
pub(super) fn answer(views: &[(&str, View<'_>)], sql: &str, bounds: &Bounds<'_>) -> Result<Answer, TableError> {
    let mut bound = Vec::with_capacity(views.len());
    for (folder, view) in views {
        bound.push((*folder, view, Columns::bind(view)?));
    }
    for (folder, view, columns) in &bound {
        if sql::read(sql, columns).is_ok() {
            let mut found = answer_view(view, columns, sql, bounds)?;
            found.notes.push(format!("from {folder}, which holds {}", columns.listed()));
            return Ok(found);
        }
    }
    let mut held: Vec<String> =
        bound.iter().map(|(folder, _, columns)| format!("{folder} ({})", columns.listed())).collect();
    held.sort();
    refuse_unknown(bound.into_iter().map(|(_, _, columns)| columns), sql)?;
    let problem = "no table of this release holds every column of the query";
    let hint = format!(
        "use columns of one table: {}; `hedgerow measure` reports the error of counts over all of them",
        held.join(", ")
    );
    Err(InputError::new("SQL", problem, hint).into())
}

/// A query that no table could answer is refused as it would be in one table of all attributes.
fn refuse_unknown<'a>(tables: impl Iterator<Item = Columns<'a>>, sql: &str) -> Result<(), InputError> {
    let mut all: Vec<Named<'a>> = Vec::new();
    for named in tables.flat_map(|columns| columns.all) {
        if all.iter().all(|known| known.column.name != named.column.name) {
            all.push(named);
        }
    }
    sql::read(sql, &Columns { all }).map(|_| ())
}
