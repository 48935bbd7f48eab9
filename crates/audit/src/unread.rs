//! Labels of foreign tables that the audit could not read: a person with the value behind one would
//! seem not to be in the table, and be reported as safe.

use hedgerow_release::can_hold;
use hedgerow_table::{Cover, Kind, Table, TableError};

use crate::audit::OpenedRelease;

/// The warnings of the reader of a table, and labels that can stand for no value of the kind that
/// the people have. Refuses a table with an attribute where most labels are so.
pub(crate) fn unread_labels(releases: &[OpenedRelease<'_>], people: Option<&Table>) -> Result<Vec<String>, TableError> {
    let mut warnings = Vec::new();
    for release in releases {
        warnings.extend(release.release.warnings().iter().map(|warning| format!("{}: {warning}", release.name)));
        // A codebook says what the labels of other releases cover.
        if release.release.manifest().is_some() {
            continue;
        }
        for quasi in release.tables.iter().flat_map(|table| &table.quasi) {
            let Some(column) = people.and_then(|people| people.column(&quasi.name)) else { continue };
            let kind = column.domain.kind();
            let hides = |cover: &Cover| matches!(cover, Cover::Everything | Cover::Missing);
            let telling: Vec<(&String, &Cover)> =
                quasi.labels.iter().zip(&quasi.covers).filter(|(_, cover)| !hides(cover)).collect();
            let mut unfit = telling.iter().filter(|(_, cover)| !can_hold(cover, kind));
            let Some((example, _)) = unfit.next() else { continue };
            let count = 1 + unfit.count();
            let values = match kind {
                Kind::Date => "dates",
                _ => "numbers",
            };
            let problem = format!(
                "{count} of {} labels of `{}`, such as `{example}`, cannot stand for any of the {values} that the \
                 people have",
                telling.len(),
                quasi.name
            );
            if 2 * count > telling.len() {
                let hint = format!(
                    "name a file that says what they cover, `leaf;label` in every row, as the `hierarchy` of `{}` in \
                     release.toml; or give the people's values as the table has them",
                    quasi.name
                );
                return Err(TableError::input(release.name, problem, hint));
            }
            warnings.push(format!("{}: {problem}", release.name));
        }
    }
    Ok(warnings)
}
