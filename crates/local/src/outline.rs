//! A release whose protected values stay elsewhere: the labels that its rows have, since classes
//! and their sizes are known to all custodians, and for every protected attribute the values that
//! there can be. Who knows how often each occurs can fill them in (`hedgerow_audit::query::parts`).
//!
//! Nothing is written and nothing is claimed: no custodian has all rows to verify.

use hedgerow_draft::bind::Bound;
use hedgerow_draft::draft::{self, Draft, DraftContent};
use hedgerow_draft::error::PublishError;
use hedgerow_draft::options::TableFormat;
use hedgerow_draft::rows::ReleasedColumn;
use hedgerow_policy::Policy;
use hedgerow_release::Release;
use hedgerow_table::{Codes, Column, Domain, Table, TableError};

use super::divided::{self, Divided};

/// Of rows that are divided into classes. What their protected attributes have is not looked at.
pub fn outline(policy: &Policy, table: &Table, divided: Divided<'_>) -> Result<Release, PublishError> {
    let bound = Bound::new(policy, table)?;
    let Draft { tables, codebook, rows, .. } = divided::unjudged(&bound, divided)?;
    let Some(data) = tables.into_iter().next() else {
        return Err(PublishError::Internal("a release without a table".to_owned()));
    };
    let manifest = draft::manifest(&bound, vec![data.resource(TableFormat::Csv)], rows);
    let DraftContent::Columns { columns, .. } = data.content else {
        return Err(PublishError::Internal("a table without columns".to_owned()));
    };
    let quasi: Vec<String> = bound.quasi.iter().map(|quasi| quasi.column.name.clone()).collect();
    let (mut read, mut sensitive) = (Vec::new(), Vec::new());
    for column in &columns {
        if quasi.iter().any(|name| name == column.name) {
            read.push(as_it_reads(column)?);
        } else {
            sensitive.push(column.name.to_owned());
            let (domain, codes) = (column.domain.as_ref().clone(), column.codes.as_ref().clone());
            read.push(Column { name: column.name.to_owned(), domain, codes });
        }
    }
    let header = read.iter().map(|column| column.name.clone()).collect();
    let table = Table { columns: read, rows: table.rows, header, warnings: Vec::new() };
    let mut release = Release::of_table("release", table, quasi, sensitive, codebook)?;
    release.set_manifest(manifest);
    Ok(release)
}

/// A released column as a reader gets it: with the labels that occur, and no others.
fn as_it_reads(column: &ReleasedColumn<'_>) -> Result<Column, PublishError> {
    let counts = column.codes.counts(column.values());
    let mut texts: Vec<String> = Vec::new();
    let mut missing = false;
    for (code, _) in counts.iter().enumerate().filter(|(_, rows)| **rows > 0) {
        match column.text(code) {
            text if text.is_empty() => missing = true,
            text => texts.push(text.into_owned()),
        }
    }
    texts.sort_unstable();
    texts.dedup();
    let unread = |_| TableError::Internal("a label that its own column cannot take".to_owned());
    let (domain, _) = Domain::from_texts(&texts, missing, Some(column.kind)).map_err(unread)?;
    let code = |code: usize| match column.text(code) {
        _ if counts[code] == 0 => 0,
        text if text.is_empty() => domain.missing_code().unwrap_or(0),
        text => domain.code_of(&text).unwrap_or(0),
    };
    let map: Vec<u32> = (0..counts.len()).map(code).collect();
    let codes: Codes = column.codes.mapped(&map, domain.cardinality());
    Ok(Column { name: column.name.to_owned(), domain, codes })
}
