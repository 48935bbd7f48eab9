//! What a method hands to the driver: the tables of a release with everything that the manifest
//! states about them. A method decides; the driver (`publish.rs`) writes, verifies, audits and
//! places, the same way for all methods.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use hedgerow_policy::Role;
use hedgerow_release::codebook::Codebook;
use hedgerow_release::manifest::{ClassSizes, Field, KnownDependency, Manifest, Promise, Resource, Rows};
use hedgerow_release::shape::CODEBOOK;
use hedgerow_table::{InputError, Kind, Progress, TableError};
use hedgerow_verify::check::NamedRule;
use rand::rngs::StdRng;
use serde_json::{Map, Value};

use crate::bind::Bound;
use crate::cloning::CloneReport;
use crate::error::PublishError;
use crate::out_of_core::{Outside, RecodedOutside};
use crate::publish::{Searched, TableFormat};
use crate::remote::{self, RecodedTable, Remote};
use crate::rows::{Flushing, InMemory, InRandomOrder, ReleasedColumn, Shuffled, write_csv, write_parquet};

/// A release that nobody has written yet.
#[derive(Debug)]
pub(crate) struct Draft<'a> {
    pub(crate) tables: Vec<DraftTable<'a>>,
    pub(crate) codebook: Codebook,
    pub(crate) rows: Rows,
    /// For the custodian, with all digits.
    pub(crate) losses: Map<String, Value>,
    /// How the lattice was searched, by the methods that search one.
    pub(crate) searched: Option<Searched>,
    /// What cloning did, by the method that clones.
    pub(crate) cloned: Option<CloneReport>,
    /// Statements of the manifest that only some methods make.
    pub(crate) stated: Stated,
    /// The rules as a reader recomputes them, where these are not the policy's own.
    pub(crate) rules: Option<Vec<NamedRule>>,
    /// What becomes of rows that are not in memory, where levels alone do not say it.
    pub(crate) recoded: Option<RecodedOutside>,
    pub(crate) warnings: Vec<InputError>,
}

/// Statements of the manifest that only some methods make.
#[derive(Debug, Default)]
pub(crate) struct Stated {
    pub(crate) cloning: Map<String, Value>,
    pub(crate) dependencies: Vec<KnownDependency>,
    pub(crate) intersection_attack: Option<String>,
}

/// One table of a release.
#[derive(Debug)]
pub(crate) struct DraftTable<'a> {
    /// The folder of a sub-table; absent for a table of the release itself.
    pub(crate) folder: Option<String>,
    pub(crate) name: &'static str,
    pub(crate) fields: Vec<Field>,
    pub(crate) content: Content<'a>,
    /// Its rows are not those of the source, and are in memory wherever those are.
    pub(crate) of_other_rows: bool,
}

pub(crate) enum Content<'a> {
    /// Written in random order, in the format that the caller chose; rows that are not kept are not
    /// written.
    Columns { columns: Vec<ReleasedColumn<'a>>, kept: Option<Vec<bool>> },
    /// Written as CSV by the method itself: header and records, in an order that discloses nothing.
    Records(Box<WriteRecords<'a>>),
}

pub(crate) type WriteRecords<'a> = dyn FnOnce(&mut dyn Write, &dyn Progress) -> io::Result<()> + 'a;

impl std::fmt::Debug for Content<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Content::Columns { columns, .. } => f.debug_struct("Columns").field("columns", columns).finish(),
            Content::Records(_) => f.write_str("Records"),
        }
    }
}

impl<'a> Draft<'a> {
    pub(crate) fn new(tables: Vec<DraftTable<'a>>, codebook: Codebook, rows: Rows, losses: Map<String, Value>) -> Self {
        Draft {
            tables,
            codebook,
            rows,
            losses,
            searched: None,
            cloned: None,
            stated: Stated::default(),
            rules: None,
            recoded: None,
            warnings: Vec::new(),
        }
    }

    /// How many rows writing will report as progress. Where the rows of the source are not in
    /// memory, one table has all that are released.
    pub(crate) fn rows_to_write(&self, outside: bool) -> u64 {
        let here = self.tables.iter().filter(|table| !outside || table.of_other_rows);
        let elsewhere = if outside { self.rows.out } else { 0 };
        here.map(DraftTable::rows).sum::<u64>() + elsewhere
    }
}

impl<'a> DraftTable<'a> {
    /// A table with columns whose roles `roles` states.
    pub(crate) fn of_columns(
        name: &'static str,
        columns: Vec<ReleasedColumn<'a>>,
        kept: Option<Vec<bool>>,
        roles: &Bound<'_>,
    ) -> DraftTable<'a> {
        let role = |name: &str| roles.policy.attribute(name).map(|attribute| attribute.role.name());
        let field = |column: &ReleasedColumn<'_>| {
            let range = roles.policy.attribute(column.name).and_then(|attribute| attribute.declared.range.as_ref());
            let field = Field::new(column.name, column.kind, role(column.name)).over(column.domain.kind());
            range.iter().fold(field, |field, range| field.within(range.low, range.high))
        };
        let fields = columns.iter().map(field).collect();
        DraftTable { folder: None, name, fields, content: Content::Columns { columns, kept }, of_other_rows: false }
    }

    pub(crate) fn of_other_rows(self) -> DraftTable<'a> {
        DraftTable { of_other_rows: true, ..self }
    }

    pub(crate) fn in_folder(self, folder: String) -> DraftTable<'a> {
        DraftTable { folder: Some(folder), ..self }
    }

    fn rows(&self) -> u64 {
        match &self.content {
            Content::Columns { kept: Some(kept), .. } => kept.iter().filter(|kept| **kept).count() as u64,
            Content::Columns { columns, .. } => columns.first().map_or(0, |column| column.codes.len()) as u64,
            Content::Records(_) => 0,
        }
    }

    /// The table as the manifest lists it.
    pub(crate) fn resource(&self, format: TableFormat) -> Resource {
        let full_name = match &self.folder {
            Some(folder) => Cow::Owned(format!("{folder}-{}", self.name)),
            None => Cow::Borrowed(self.name),
        };
        let as_records = matches!(self.content, Content::Records(_));
        let (mut resource, ending) = match format {
            TableFormat::Parquet if !as_records => (Resource::parquet(&full_name, self.fields.clone()), "parquet"),
            _ => (Resource::csv(&full_name, self.fields.clone()), "csv"),
        };
        if let Some(folder) = &self.folder {
            resource.path = format!("{folder}/{}.{ending}", self.name);
        }
        resource
    }

    fn write(
        self,
        path: &Path,
        format: TableFormat,
        rng: &mut StdRng,
        progress: &dyn Progress,
    ) -> Result<Flushing, TableError> {
        match self.content {
            Content::Columns { columns, kept } => {
                let rows = columns.first().map_or(0, |column| column.codes.len());
                let rows = Shuffled::new(rows, kept.as_deref(), rng);
                write_rows(path, &columns, &mut InMemory { columns: &columns, rows }, format, progress)
            }
            Content::Records(write) => {
                let failed = |error| TableError::io(path, error);
                let mut out = BufWriter::new(File::create_new(path).map_err(failed)?);
                write(&mut out, progress).map_err(failed)?;
                Ok(Flushing::of(out.into_inner().map_err(|error| failed(error.into_error()))?))
            }
        }
    }
}

/// Writes rows in the format that the caller chose.
pub(crate) fn write_rows(
    path: &Path,
    columns: &[ReleasedColumn<'_>],
    rows: &mut dyn InRandomOrder,
    format: TableFormat,
    progress: &dyn Progress,
) -> Result<Flushing, TableError> {
    match format {
        TableFormat::Csv => write_csv(path, columns, rows, progress),
        TableFormat::Parquet => write_parquet(path, columns, rows, progress),
    }
}

/// The tables of a release on the disk, which may still be at work on them.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) resources: Vec<Resource>,
    flushing: Vec<(PathBuf, Flushing)>,
}

impl Written {
    /// How much there is to read back.
    pub(crate) fn bytes(&self) -> u64 {
        let length = |(path, _): &(PathBuf, Flushing)| fs::metadata(path).map_or(0, |file| file.len());
        self.flushing.iter().map(length).sum::<u64>().max(1)
    }

    /// Until every table is on the disk.
    pub(crate) fn wait(self) -> Result<(), TableError> {
        self.flushing.into_iter().try_for_each(|(path, flushing)| flushing.wait(&path))
    }
}

/// Writes all tables and the codebook below `root`. Where the rows are not in memory, `outside`
/// knows them, and is given up once their table is written.
pub(crate) fn write(
    tables: Vec<DraftTable<'_>>,
    codebook: &Codebook,
    root: &Path,
    format: TableFormat,
    mut outside: Option<Outside<'_>>,
    rng: &mut StdRng,
    progress: &dyn Progress,
) -> Result<Written, TableError> {
    let mut written = Written { resources: Vec::new(), flushing: Vec::new() };
    for table in tables {
        let resource = table.resource(format);
        let path = root.join(&resource.path);
        if let Some(folder) = table.folder.as_ref().map(|folder| root.join(folder)).filter(|folder| !folder.exists()) {
            fs::create_dir(&folder).map_err(|error| TableError::io(&folder, error))?;
        }
        let of_table = outside.take_if(|_| !table.of_other_rows);
        let flushing = match (of_table, &table.content) {
            (Some(outside), Content::Columns { columns, .. }) => {
                let mut rows = outside.scatter(columns, rng, progress)?;
                drop(outside);
                write_rows(&path, columns, &mut rows, format, progress)?
            }
            _ => table.write(&path, format, rng, progress)?,
        };
        written.flushing.push((path, flushing));
        written.resources.push(resource);
    }
    write_codebook(codebook, &root.join("codebook.csv"))?;
    Ok(written)
}

/// Has whoever holds the rows write the one table of a draft that has them; what is made of counts
/// and the codebook are written here.
pub(crate) fn write_elsewhere(
    draft: &mut Draft<'_>,
    bound: &Bound<'_>,
    remote: &dyn Remote,
    root: &Path,
    rng: &mut StdRng,
    progress: &dyn Progress,
) -> Result<Written, PublishError> {
    let mut written = Written { resources: Vec::new(), flushing: Vec::new() };
    let recoded = RecodedTable::of(bound, draft)?;
    for table in &draft.tables {
        let resource = table.resource(TableFormat::Parquet);
        if !table.of_other_rows {
            let rows = remote.write(&recoded, &root.join(&resource.path), progress)?;
            remote::refuse_other_rows(bound.policy, rows, draft.rows.out)?;
        }
        written.resources.push(resource);
    }
    drop(recoded);
    let tables = std::mem::take(&mut draft.tables).into_iter().zip(&written.resources);
    for (table, resource) in tables.filter(|(table, _)| table.of_other_rows) {
        let path = root.join(&resource.path);
        let flushing = table.write(&path, TableFormat::Parquet, rng, progress)?;
        written.flushing.push((path, flushing));
    }
    write_codebook(&draft.codebook, &root.join("codebook.csv"))?;
    Ok(written)
}

fn write_codebook(codebook: &Codebook, path: &Path) -> Result<(), TableError> {
    let failed = |error| TableError::io(path, error);
    let mut out = BufWriter::new(File::create_new(path).map_err(failed)?);
    codebook.write(&mut out).map_err(failed)?;
    out.into_inner().map_err(|error| failed(error.into_error()))?.sync_all().map_err(failed)
}

/// What is known of a release before its tables are read back.
pub(crate) fn manifest(bound: &Bound<'_>, tables: Vec<Resource>, rows: Rows, losses: &Map<String, Value>) -> Manifest {
    let codebook = ["attribute", "label", "low", "high", "leaf"];
    let codebook = codebook.map(|name| Field::new(name, Kind::Category, None)).to_vec();
    let mut resources = tables;
    resources.push(Resource::csv(CODEBOOK, codebook));
    Manifest {
        name: "release".to_owned(),
        resources,
        hedgerow: Promise {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            method: bound.policy.publish.method.name().to_owned(),
            guarantees: Vec::new(),
            rows,
            classes: ClassSizes::of([]),
            loss: public_losses(losses),
            hierarchies: Map::new(),
            cloning: Map::new(),
            dependencies: Vec::new(),
            intersection_attack: None,
        },
    }
}

/// The losses that a reader can compute from the released tables and the manifest's counts of rows.
///
/// `ncp`, `granularity` and `kl` measure against the source: its lowest and highest person, values
/// that only suppressed rows have, who has which value. With all digits they could be solved for
/// these. They are for the custodian.
const PUBLIC_LOSSES: [&str; 4] = ["precision", "discernibility", "average-class", "rows-without-sensitive-value"];

fn public_losses(losses: &Map<String, Value>) -> Map<String, Value> {
    let is_public = |name: &str| PUBLIC_LOSSES.contains(&name);
    losses.iter().filter(|(name, _)| is_public(name)).map(|(name, loss)| (name.clone(), loss.clone())).collect()
}

/// Whether an attribute is released at all.
pub(crate) fn is_released(bound: &Bound<'_>, name: &str) -> bool {
    bound.policy.attribute(name).is_some_and(|attribute| attribute.role != Role::Identifier)
}
