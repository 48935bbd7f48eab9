//! Reading back the tables and the codebook of a release, as a stranger would: the manifest is held
//! against the files, and trusted in nothing else.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::codebook::Codebook;
use crate::manifest::Resource;
use crate::written::is_as_released;
use hedgerow_table::read::{HeldTable, ReadOptions, read_table, read_within};
use hedgerow_table::{InputError, Progress, Spill, Table, TableError};

/// Reads one table of a release with the types that its schema names.
pub fn read_released(directory: &Path, resource: &Resource, progress: &dyn Progress) -> Result<Table, TableError> {
    let (path, options) = released_options(directory, resource, progress)?;
    let table = read_table(&path, &options)?;
    refuse_other_columns(&path, &table.header, resource)?;
    Ok(table)
}

/// The same, with what does not fit in memory on the disk.
pub(crate) fn read_released_within(
    directory: &Path,
    resource: &Resource,
    spill: &Spill,
    progress: &dyn Progress,
) -> Result<HeldTable, TableError> {
    let (path, options) = released_options(directory, resource, progress)?;
    let held = read_within(&path, &options, spill)?;
    let header = match &held {
        HeldTable::Memory(table) => &table.header,
        HeldTable::Outside(spilled) => &spilled.profile().header,
    };
    refuse_other_columns(&path, header, resource)?;
    Ok(held)
}

/// The path of a table of a release, and how it is read. A path that leads out of the release is
/// refused.
pub fn released_options<'a>(
    directory: &Path,
    resource: &Resource,
    progress: &'a dyn Progress,
) -> Result<(PathBuf, ReadOptions<'a>), TableError> {
    let path = directory.join(&resource.path);
    let place = path.display().to_string();
    refuse_unless_table(directory, resource)?;
    // Free to say which texts are missing, a manifest could make one class of labels that every
    // reader distinguishes.
    if resource.schema.missing_values != [""] {
        let problem = "the manifest counts other cells than empty ones as missing";
        let hint = "a release leaves a missing cell empty and says `\"missingValues\": [\"\"]`; do not trust this one";
        return Err(TableError::input(place, problem, hint));
    }
    let mut kinds = HashMap::new();
    for field in &resource.schema.fields {
        let kind = field.table_kind().ok_or_else(|| {
            let problem =
                format!("field `{}` has the type `{}`, which this version does not know", field.name, field.kind);
            InputError::new(place.clone(), problem, "expected integer, number, date or string")
        })?;
        kinds.insert(field.name.clone(), kind);
    }
    let options = ReadOptions {
        delimiter: Some(b','),
        kinds,
        nulls: resource.schema.missing_values.clone(),
        as_released: true,
        progress,
        ..ReadOptions::default()
    };
    Ok((path, options))
}

/// A table has the columns that its schema lists, in order, and no others.
pub fn refuse_other_columns(path: &Path, header: &[String], resource: &Resource) -> Result<(), TableError> {
    let expected: Vec<&str> = resource.schema.fields.iter().map(|field| field.name.as_str()).collect();
    if header == expected {
        return Ok(());
    }
    let problem = format!("the columns are {}, the manifest says {}", header.join(", "), expected.join(", "));
    Err(TableError::input(path.display().to_string(), problem, "the table and its manifest do not belong together"))
}

/// Reads the codebook of a release; one without it is damaged.
pub fn read_codebook(directory: &Path) -> Result<Codebook, TableError> {
    let path = directory.join(CODEBOOK);
    if !path.exists() {
        let hint = "every release has one; publish it again";
        return Err(TableError::input(path.display().to_string(), "the codebook is missing", hint));
    }
    refuse_unless_file(directory, CODEBOOK)?;
    Codebook::read(&path)
}

const CODEBOOK: &str = "codebook.csv";
/// What file systems take as a name.
const NAME_BYTES_MAX: usize = 255;

/// Refuses a path that leads out of a release, by `..` or by a symbolic link, and anything but a
/// regular file: reading a pipe could block forever. A file that does not exist is reported when it
/// is opened.
pub(crate) fn refuse_unless_file(directory: &Path, path: &str) -> Result<(), TableError> {
    let hint = "a release holds its files in its own directory; do not trust this one";
    let refuse = |problem: &str| Err(TableError::input(directory.join(path).display().to_string(), problem, hint));
    let parts = || Path::new(path).components();
    if path.is_empty() || parts().any(|part| !matches!(part, std::path::Component::Normal(_))) {
        return refuse("the manifest names a table outside of the release");
    }
    // As `data.csv/`, or with a part that no file system takes.
    let is_plain = |part: &str| !part.is_empty() && part.len() <= NAME_BYTES_MAX && !part.contains('\0');
    if !path.split('/').all(is_plain) {
        return refuse("the manifest names a table by what cannot be the name of a file");
    }
    let mut whole = directory.to_path_buf();
    for part in parts() {
        whole.push(part);
        match std::fs::symlink_metadata(&whole) {
            Ok(found) if found.is_symlink() => return refuse("a symbolic link"),
            Ok(found) if whole == directory.join(path) && !found.is_file() => return refuse("not an ordinary file"),
            _ => {}
        }
    }
    Ok(())
}

/// The files of a table, relative to the release: one, or all in the folder of that name.
pub(crate) fn files_of(directory: &Path, path: &str) -> Result<Vec<String>, TableError> {
    let whole = directory.join(path);
    if !std::fs::symlink_metadata(&whole).is_ok_and(|found| found.is_dir()) {
        return Ok(vec![path.to_owned()]);
    }
    let failed = |error| TableError::io(&whole, error);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&whole).map_err(failed)? {
        files.push(format!("{path}/{}", entry.map_err(failed)?.file_name().to_string_lossy()));
    }
    files.sort_unstable();
    Ok(files)
}

/// A table is one file. As Parquet it may also be a folder of them, as a cluster writes it: each
/// file there is a part of the table, so that none is published without being read.
pub(crate) fn refuse_unless_table(directory: &Path, resource: &Resource) -> Result<(), TableError> {
    let files = match resource.format.as_str() {
        "parquet" => files_of(directory, &resource.path)?,
        _ => vec![resource.path.clone()],
    };
    for file in &files {
        refuse_unless_file(directory, file)?;
        let name = file.rsplit('/').next().unwrap_or_default();
        if *file != resource.path && (name.starts_with(['.', '_']) || !name.ends_with(".parquet")) {
            let hint = "a folder of Parquet files holds nothing else; do not trust this one";
            return Err(TableError::input(directory.join(file).display().to_string(), "no part of a table", hint));
        }
    }
    Ok(())
}

/// The contents of a release's files beside the cells of their columns: bytes, pages and texts that
/// no reader of the tables sees, and other ways to write a cell.
pub fn beside_cells(directory: &Path, resources: &[Resource]) -> Result<Vec<String>, TableError> {
    let mut found = Vec::new();
    for resource in resources {
        // The codebook is read under its own name, whatever path is stated for it.
        refuse_unless_table(directory, resource)?;
        if resource.format != "parquet" {
            let path = directory.join(&resource.path);
            let written = match is_as_released(&path) {
                // That a file is missing is found where it is described.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                written => written.map_err(|error| TableError::io(&path, error))?,
            };
            if !written {
                let how = "quotes that no field needs, other ends of lines, or a mark at its beginning";
                found.push(format!("the file `{}` is written in another way than releases are: {how}", resource.path));
            }
            continue;
        }
        for file in files_of(directory, &resource.path)? {
            let problems = hedgerow_table::read::beside_cells(&directory.join(&file))?;
            found.extend(problems.into_iter().map(|problem| format!("the file `{file}` {problem}")));
        }
    }
    found.dedup();
    Ok(found)
}

/// The quasi attributes of a released table.
pub fn quasi_of(resource: &Resource) -> Vec<String> {
    with_role(resource, "quasi")
}

/// The sensitive attributes of a released table.
pub(crate) fn sensitive_of(resource: &Resource) -> Vec<String> {
    with_role(resource, "sensitive")
}

/// The columns of a released table that say which rows are of one unit.
pub(crate) fn units_of(resource: &Resource) -> Vec<String> {
    with_role(resource, "unit")
}

fn with_role(resource: &Resource, role: &str) -> Vec<String> {
    let fields = resource.schema.fields.iter().filter(|field| field.role.as_deref() == Some(role));
    fields.map(|field| field.name.clone()).collect()
}
