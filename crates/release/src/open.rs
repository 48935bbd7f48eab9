//! Opening any release as a stranger does: the tables are read and counted, and what the manifest says is held against
//! them. Nothing is believed that the tables do not show.

use std::path::{Path, PathBuf};

use super::bucketized::{Bucketized, GROUP};
use super::classes::{ReleasedClasses, SensitiveCounts};
use super::cloned::Cloned;
use super::codebook::Codebook;
use super::combined::Combined;
use super::labels::Labels;
use super::manifest::{FILE_NAME, Manifest, Resource};
use super::read::{quasi_of, read_codebook, read_released};
use hedgerow_table::read::{ReadOptions, read_table};
use hedgerow_table::{Codes, Column, Cover, Domain, Progress, Table, TableError, Values};

/// A release laid open.
#[derive(Debug, Clone, PartialEq)]
pub struct Opened {
    /// As the caller named it.
    pub name: String,
    /// As the manifest calls it; `table` for a bare table.
    pub method: String,
    /// One, or several for a decomposition.
    pub tables: Vec<ReleasedClasses>,
    /// Where the release contradicts itself.
    pub contradictions: Vec<String>,
    pub manifest: Option<Manifest>,
}

/// A table without a manifest, and what its columns are: made by hand or by another program.
#[derive(Debug, Clone)]
pub struct BareTable {
    pub path: PathBuf,
    pub nulls: Vec<String>,
    pub delimiter: Option<u8>,
    pub quote: Option<u8>,
    /// Each with a hierarchy file that explains its labels, where there is one.
    pub quasi: Vec<(String, Option<PathBuf>)>,
    pub sensitive: Vec<String>,
}

/// Opens the release in a directory: generalized or bucketized, or a folder of such sub-tables.
pub fn open_release(directory: &Path, progress: &dyn Progress) -> Result<Opened, TableError> {
    let manifest = Manifest::read(directory)?;
    let mut opened = Opened {
        name: directory.display().to_string(),
        method: manifest.hedgerow.method.clone(),
        tables: Vec::new(),
        contradictions: Vec::new(),
        manifest: None,
    };
    let codebook = read_codebook(directory)?;
    for set in table_sets(&manifest) {
        let table = open_tables(directory, &set, &codebook, &mut opened.contradictions, progress)?;
        opened.tables.push(table);
    }
    if opened.tables.is_empty() {
        let place = directory.join(FILE_NAME).display().to_string();
        let hint = "a release has a table `data`, or a table `sensitive` beside `quasi` or `statistics`";
        return Err(TableError::input(place, "the manifest lists no table that can be read", hint));
    }
    if let Some(empty) = opened.tables.iter().find(|table| table.rows == 0) {
        let problem = format!("the table `{}` has no rows", empty.name);
        return Err(TableError::input(opened.name, problem, "a release without rows is no release"));
    }
    hold_against(&manifest, &mut opened);
    opened.manifest = Some(manifest);
    Ok(opened)
}

/// Opens a table that has no manifest.
pub fn open_bare(bare: &BareTable, progress: &dyn Progress) -> Result<Opened, TableError> {
    let mut nulls = bare.nulls.clone();
    nulls.push(String::new());
    let options =
        ReadOptions { nulls, delimiter: bare.delimiter, quote: bare.quote, progress, ..ReadOptions::default() };
    let table = read_table(&bare.path, &options)?;
    let place = bare.path.display().to_string();
    if table.rows == 0 {
        return Err(TableError::input(place, "the table has no rows", "a release without rows is no release"));
    }
    let mut labels = Labels::default();
    for (name, hierarchy) in &bare.quasi {
        if let Some(path) = hierarchy {
            labels.read_hierarchy(name, path)?;
        }
    }
    let quasi: Vec<String> = bare.quasi.iter().map(|(name, _)| name.clone()).collect();
    let covers = |attribute: &str, label: &str| labels.cover(attribute, label);
    let classes = ReleasedClasses::of_generalized("data", &table, &quasi, &bare.sensitive, covers, &place)?;
    Ok(Opened {
        name: place,
        method: "table".to_owned(),
        tables: vec![classes],
        contradictions: labels.unexplained(),
        manifest: None,
    })
}

/// The tables that belong together: `data` alone, `quasi` or `statistics` with `sensitive`, each perhaps in a folder of its own.
#[derive(Debug)]
enum TableSet<'m> {
    Generalized(&'m Resource),
    Bucketized { quasi: &'m Resource, sensitive: Option<&'m Resource> },
    Cloned { statistics: &'m Resource, sensitive: Option<&'m Resource> },
}

fn table_sets(manifest: &Manifest) -> Vec<TableSet<'_>> {
    let folder = |resource: &Resource| resource.path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let stem = |resource: &Resource| {
        let file = resource.path.rsplit_once('/').map_or(resource.path.as_str(), |(_, file)| file);
        file.rsplit_once('.').map_or(file, |(stem, _)| stem).to_owned()
    };
    let mut sets = Vec::new();
    for resource in &manifest.resources {
        match stem(resource).as_str() {
            "data" => sets.push(TableSet::Generalized(resource)),
            kind @ ("quasi" | "statistics") => {
                let beside = |other: &&Resource| folder(other) == folder(resource) && stem(other) == "sensitive";
                let sensitive = manifest.resources.iter().find(beside);
                sets.push(match kind {
                    "quasi" => TableSet::Bucketized { quasi: resource, sensitive },
                    _ => TableSet::Cloned { statistics: resource, sensitive },
                });
            }
            _ => {}
        }
    }
    sets
}

fn open_tables(
    directory: &Path,
    set: &TableSet<'_>,
    codebook: &Codebook,
    contradictions: &mut Vec<String>,
    progress: &dyn Progress,
) -> Result<ReleasedClasses, TableError> {
    let (TableSet::Generalized(first)
    | TableSet::Bucketized { quasi: first, .. }
    | TableSet::Cloned { statistics: first, .. }) = set;
    let place = directory.join(&first.path).display().to_string();
    let name = first.path.rsplit_once('/').map_or(first.name.as_str(), |(folder, _)| folder).to_owned();
    let quasi = quasi_of(first);
    let own = match first.path.rsplit_once('/') {
        Some((folder, _)) if directory.join(folder).join("codebook.csv").exists() => {
            Some(read_codebook(&directory.join(folder))?)
        }
        _ => None,
    };
    let codebook = own.as_ref().unwrap_or(codebook);
    let mut unknown = vec![0u64; quasi.len()];
    let covers = |attribute: &str, label: &str| match codebook.cover(attribute, label) {
        Some(cover) => cover.clone(),
        None => {
            let position = quasi.iter().position(|name| name == attribute).unwrap_or_default();
            unknown[position] += 1;
            Labels::default().cover(attribute, label)
        }
    };
    let classes = match set {
        TableSet::Generalized(resource) => {
            let table = read_released(directory, resource, progress)?;
            ReleasedClasses::of_generalized(&name, &table, &quasi, &sensitive_of(resource), covers, &place)?
        }
        TableSet::Bucketized { quasi: rows, sensitive } => {
            let sensitive = sensitive.ok_or_else(|| without_sensitive(&place, "bucketized"))?;
            if Combined::is(sensitive) {
                let (read, problems) = Combined::examine(directory, rows, sensitive, progress)?;
                contradictions.extend(problems);
                let counts = combined_counts(&read);
                let (rows, told) = (read.quasi.rows as u64, told_rows(read));
                let mut classes = ReleasedClasses::of_bucketized(&name, &told, &quasi, counts, covers, &place)?;
                classes.rows = rows;
                return Ok(classes);
            }
            let (read, problems) = Bucketized::examine(directory, rows, sensitive, progress)?;
            contradictions.extend(problems);
            let counts = vec![counts_of(&read)];
            ReleasedClasses::of_bucketized(&name, &with_buckets(read), &quasi, counts, covers, &place)?
        }
        TableSet::Cloned { statistics, sensitive } => {
            let sensitive = sensitive.ok_or_else(|| without_sensitive(&place, "cloned"))?;
            let (read, problems) = Cloned::examine(directory, statistics, sensitive, progress)?;
            contradictions.extend(problems);
            ReleasedClasses::of_cloned(&name, &read)
        }
    };
    for (attribute, unknown) in quasi.iter().zip(unknown).filter(|(_, unknown)| *unknown > 0) {
        contradictions.push(format!("{unknown} labels of `{attribute}` have no entry in codebook.csv"));
    }
    Ok(classes)
}

fn without_sensitive(place: &str, kind: &str) -> TableError {
    let hint = format!("a {kind} release has a table `sensitive` beside this one");
    TableError::input(place, "there is no table of sensitive values", hint)
}

fn counts_of(read: &Bucketized) -> SensitiveCounts {
    let values = (0..read.domain.cardinality() as u32).map(|code| read.domain.text(code)).collect();
    let of_bucket = |bucket: u32| read.values(bucket as usize).iter().map(move |&(code, count)| (bucket, code, count));
    let cells = (0..read.len() as u32).flat_map(of_bucket).collect();
    SensitiveCounts::new(read.sensitive.clone(), values, read.len(), cells)
}

/// Each sensitive attribute of a combination by itself.
fn combined_counts(read: &Combined) -> Vec<SensitiveCounts> {
    let of = |name: &String| {
        let column = read.values.column(name)?;
        let values = (0..column.domain.cardinality() as u32).map(|code| column.domain.text(code)).collect();
        let entries = read.bucket_of_value.iter().zip(column.codes.iter()).zip(&read.counts);
        let cells = entries.map(|((&bucket, code), &count)| (bucket, code, count)).collect();
        Some(SensitiveCounts::new(name.clone(), values, read.sizes.len(), cells))
    };
    read.sensitive.iter().filter_map(of).collect()
}

/// The rows whose sensitive values are told, each with its bucket.
fn told_rows(read: Combined) -> Table {
    let told: Vec<usize> = (0..read.quasi.rows).filter(|&row| read.bucket_of_row[row].is_some()).collect();
    let mut table = read.quasi;
    table.rows = told.len();
    table.columns.retain(|column| column.name != GROUP);
    for column in &mut table.columns {
        let codes = told.iter().map(|&row| column.codes.get(row));
        column.codes = Codes::from_iter(column.domain.cardinality(), codes);
    }
    let buckets = read.bucket_of_row.into_iter().flatten();
    let codes = Codes::from_iter(read.sizes.len(), buckets);
    let domain = Domain::new(Values::Integer((0..read.sizes.len() as i64).collect()), false);
    table.columns.push(Column { name: GROUP.to_owned(), domain, codes });
    table
}

/// The rows, each with its bucket among all that either table tells of.
fn with_buckets(read: Bucketized) -> Table {
    let mut table = read.quasi;
    let codes = Codes::from_iter(read.numbers.len(), read.bucket_of_row);
    let domain = Domain::new(Values::Integer(read.numbers), false);
    table.columns.retain(|column| column.name != GROUP);
    table.columns.push(Column { name: GROUP.to_owned(), domain, codes });
    table
}

fn sensitive_of(resource: &Resource) -> Vec<String> {
    let sensitive = resource.schema.fields.iter().filter(|field| field.role.as_deref() == Some("sensitive"));
    sensitive.map(|field| field.name.clone()).collect()
}

/// The manifest's counts against the tables'. What its guarantees claim is the business of a check.
fn hold_against(manifest: &Manifest, opened: &mut Opened) {
    let promise = &manifest.hedgerow;
    for table in &opened.tables {
        if table.rows != promise.rows.out {
            let problem = format!("the manifest says {} rows, `{}` has {}", promise.rows.out, table.name, table.rows);
            opened.contradictions.push(problem);
        }
    }
    if let ([table], "full-domain" | "mondrian" | "best-cut") = (opened.tables.as_slice(), promise.method.as_str()) {
        let (smallest, classes) = (table.sizes.iter().min(), table.len() as u64);
        if classes != promise.classes.count || smallest.map(|&size| u64::from(size)) != Some(promise.classes.min) {
            opened.contradictions.push(format!(
                "the manifest says {} classes of at least {} rows, the table has {classes} of at least {}",
                promise.classes.count,
                promise.classes.min,
                smallest.copied().unwrap_or_default()
            ));
        }
    }
}

/// What a label covers when nobody says: see [`Labels::cover`].
pub fn cover_of_label(label: &str) -> Cover {
    Labels::default().cover("", label)
}
