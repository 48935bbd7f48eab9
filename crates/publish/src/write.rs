//! Writes the tables of a draft and its codebook below the folder of the release.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use hedgerow_draft::bind::Bound;
use hedgerow_draft::draft::{Draft, DraftContent, DraftTable};
use hedgerow_draft::error::PublishError;
use hedgerow_draft::options::TableFormat;
use hedgerow_draft::rows::ReleasedColumn;
use hedgerow_release::codebook::Codebook;
use hedgerow_release::manifest::Resource;
use hedgerow_table::{Progress, TableError};
use rand::rngs::StdRng;

use crate::out_of_core::Outside;
use crate::remote::{self, RecodedTable, Remote};
use crate::rows::{Flushing, InMemory, InRandomOrder, Shuffled, write_csv, write_parquet};

fn write_table(
    table: DraftTable<'_>,
    path: &Path,
    format: TableFormat,
    rng: &mut StdRng,
    progress: &dyn Progress,
) -> Result<Flushing, TableError> {
    match table.content {
        DraftContent::Columns { columns, kept } => {
            let rows = columns.first().map_or(0, |column| column.codes.len());
            let rows = Shuffled::new(rows, kept.as_deref(), rng);
            write_rows(path, &columns, &mut InMemory { columns: &columns, rows }, format, progress)
        }
        DraftContent::Records(write) => {
            let failed = |error| TableError::io(path, error);
            let mut out = BufWriter::new(File::create_new(path).map_err(failed)?);
            write(&mut out, progress).map_err(failed)?;
            Ok(Flushing::of(out.into_inner().map_err(|error| failed(error.into_error()))?))
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
            (Some(outside), DraftContent::Columns { columns, .. }) => {
                let mut rows = outside.scatter(columns, rng, progress)?;
                drop(outside);
                write_rows(&path, columns, &mut rows, format, progress)?
            }
            _ => write_table(table, &path, format, rng, progress)?,
        };
        written.flushing.push((path, flushing));
        written.resources.push(resource);
    }
    write_codebook(codebook, &root.join("codebook.csv"))?;
    Ok(written)
}

/// Has the cluster write the one table of a draft that holds its rows; tables that are made of
/// counts and the codebook are written here.
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
        let flushing = write_table(table, &path, TableFormat::Parquet, rng, progress)?;
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
