//! Questions to a release of several tables: answered from one of them that holds all that is asked about. What several tables tell
//! only together is not answered: their rows cannot be joined.

use std::path::Path;

use hedgerow_release::bucketized::GROUP;
use hedgerow_release::manifest::Manifest;
use hedgerow_release::read::read_codebook;
use hedgerow_release::shape::Shape;
use hedgerow_table::{Column, InputError, Progress, TableError};

use super::columns::Columns;
use super::release::{Release, Tables};
use super::{Answer, answer, sql};

/// Answers one SELECT from the release in a directory.
pub fn answer_release(directory: &Path, sql: &str, progress: &dyn Progress) -> Result<Answer, TableError> {
    let manifest = Manifest::read(directory)?;
    let shape = Shape::of_release(directory, &manifest)?;
    let Shape::Decomposed { tables } = shape else {
        return answer(&Release::of(directory, &manifest, shape, progress)?, sql);
    };
    let mut parts: Vec<(&str, Release)> = Vec::new();
    for (folder, shape) in Shape::parts(tables).unwrap_or_default() {
        let part = Release::of(directory, &manifest, shape, progress)?;
        parts.push((folder, only_told(part, directory)?));
    }
    // Rows that are told tell more than buckets.
    parts.sort_by_key(|(_, part)| matches!(part.tables, Tables::Bucketized(..)));
    refuse_unknown(&parts, sql)?;
    for (folder, part) in &parts {
        let columns = Columns::bind(part.columns(), &part.codebook, None)?;
        if sql::read(sql, &columns).is_ok() {
            let mut found = answer(part, sql)?;
            found.notes.push(format!("from {folder}, which holds {}", columns.listed()));
            return Ok(found);
        }
    }
    let mut held = Vec::new();
    for (folder, part) in &parts {
        held.push(format!("{folder} ({})", Columns::bind(part.columns(), &part.codebook, None)?.listed()));
    }
    held.sort();
    let problem = "no table of this release holds all that is asked about";
    let hint = format!(
        "ask about attributes of one table: {}; `hedgerow measure` tells how well counts over all of them come out",
        held.join(", ")
    );
    Err(InputError::new("SQL", problem, hint).into())
}

/// Where some rows are in no bucket, nothing is known of their sensitive values; what is told by row can be asked.
fn only_told(part: Release, directory: &Path) -> Result<Release, TableError> {
    let missing = |group: &Column| group.domain.missing_code().is_some_and(|code| group.counts()[code as usize] > 0);
    match part.tables {
        Tables::Bucketized(mut quasi, _) if quasi.column(GROUP).is_some_and(missing) => {
            quasi.columns.retain(|column| column.name != GROUP);
            quasi.header.retain(|name| name != GROUP);
            Ok(Release { tables: Tables::Generalized(quasi), codebook: read_codebook(directory)?, ..part })
        }
        _ => Ok(part),
    }
}

/// What no table could answer is refused as it would be in one table of all attributes.
fn refuse_unknown(parts: &[(&str, Release)], sql: &str) -> Result<(), TableError> {
    let mut all = Vec::new();
    for named in parts.iter().map(|(_, part)| Columns::bind(part.columns(), &part.codebook, None)) {
        for named in named?.all {
            let known = all.iter().any(|known: &super::columns::Named<'_>| known.column.name == named.column.name);
            if !known {
                all.push(named);
            }
        }
    }
    Ok(sql::read(sql, &Columns { all }).map(|_| ())?)
}
