//! The files that a cluster wrote become the table of a release: one Parquet file, or a folder of
//! them under the same name.
//!
//! Other files that a cluster writes beside them (marks, checksums, names of its jobs) are not
//! released.

use std::fs;
use std::path::{Path, PathBuf};

use hedgerow_table::TableError;

/// The most files of one table.
const PARTS_MAX: usize = 100_000;

/// Moves the Parquet files of the folder `written` to `table` and removes the folder.
pub(crate) fn collect(written: &Path, table: &Path) -> Result<(), TableError> {
    let parts = parts_of(written)?;
    match parts.as_slice() {
        [] => {
            let problem = "the cluster wrote no Parquet file that can be seen here";
            let hint = "name a destination in a folder that this machine and the cluster share under one path";
            return Err(TableError::input(written.display().to_string(), problem, hint));
        }
        [part] => rename(part, table)?,
        parts => {
            fs::create_dir(table).map_err(|error| TableError::io(table, error))?;
            for (number, part) in parts.iter().enumerate() {
                rename(part, &table.join(format!("part-{:05}.parquet", number + 1)))?;
            }
        }
    }
    fs::remove_dir_all(written).map_err(|error| TableError::io(written, error))
}

/// In the order of their names. The rows in them are in random order already.
fn parts_of(folder: &Path) -> Result<Vec<PathBuf>, TableError> {
    let mut parts = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else { return Ok(parts) };
    for entry in entries {
        let path = entry.map_err(|error| TableError::io(folder, error))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.ends_with(".parquet") && !name.starts_with(['.', '_']) {
            parts.push(path);
        }
        if parts.len() > PARTS_MAX {
            let hint = "let the cluster write larger files";
            return Err(TableError::input(folder.display().to_string(), "too many files for a table", hint));
        }
    }
    parts.sort_unstable();
    Ok(parts)
}

fn rename(from: &Path, to: &Path) -> Result<(), TableError> {
    fs::rename(from, to).map_err(|error| TableError::io(from, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(names: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let parts = folder.path().join("writing");
        fs::create_dir(&parts).unwrap();
        names.iter().for_each(|name| fs::write(parts.join(name), name).unwrap());
        let table = folder.path().join("data.parquet");
        (folder, table)
    }

    #[test]
    fn one_part_is_the_file_and_several_are_a_folder() {
        let marks = ["_SUCCESS", "._SUCCESS.crc", ".part-0.parquet.crc"];
        let (folder, table) = written(&[&marks[..], &["part-0-job.snappy.parquet"]].concat());
        collect(&folder.path().join("writing"), &table).unwrap();
        assert_eq!(fs::read_to_string(&table).unwrap(), "part-0-job.snappy.parquet");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else stays");

        let (folder, table) = written(&[&marks[..], &["b.parquet", "a.parquet"]].concat());
        collect(&folder.path().join("writing"), &table).unwrap();
        assert_eq!(fs::read_to_string(table.join("part-00001.parquet")).unwrap(), "a.parquet");
        assert_eq!(fs::read_dir(&table).unwrap().count(), 2);

        let (folder, table) = written(&marks);
        let error = collect(&folder.path().join("writing"), &table).unwrap_err().to_string();
        assert!(error.contains("no Parquet file that can be seen here"), "{error}");
    }
}
