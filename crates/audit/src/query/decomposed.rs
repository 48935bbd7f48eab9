//! Queries to a decomposed release: answered from one of its tables that holds every column of the
//! query. Rows of several tables cannot be joined; counts over them are estimated
//! ([`several`]).

use hedgerow_release::{Release, ReleaseTables};
use hedgerow_table::TableError;

use super::columns::Columns;
use super::view::QueryView;
use super::{Answer, AnswerError, Bounds, Select, answer_view, several, sql};

/// Answers one SELECT from the first table that can, or from all of them.
pub(super) fn answer(
    release: &Release,
    views: &[(&str, QueryView<'_>)],
    select: &Select,
    bounds: &Bounds<'_>,
) -> Result<Answer, AnswerError> {
    let mut bound = Vec::with_capacity(views.len());
    for (folder, view) in views {
        bound.push((*folder, view, Columns::bind(view)?));
    }
    for (folder, view, columns) in &bound {
        if sql::read(select, columns).is_ok() {
            let mut found = answer_view(view, columns, select, bounds)?;
            found.notes.push(format!("from {folder}, which holds {}", columns.listed()));
            return Ok(found);
        }
    }
    let suppressed = views.first().map_or(0, |(_, view)| view.suppressed);
    let ReleaseTables::Decomposed(decomposed) = release.tables() else {
        return Err(TableError::Internal("a release of one table has several views".to_owned()).into());
    };
    let tables = bound.into_iter().map(|(folder, _, columns)| (folder, columns)).collect();
    several::answer(release, decomposed, tables, suppressed, select, bounds)
}
