//! Synthetic data to try things on: no person in it exists.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use hedgerow_table::InputError;
use hedgerow_table::whole::{self, Fill};

use crate::Error;

pub use hedgerow_synth::{census, census_hierarchies, census_policy, hospital, households, taxes};

/// Writes `census.csv`, `policy.toml` and the hierarchies into a folder, which is made when
/// missing: all files or none. A file that is there already is refused.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// hedgerow::synthetic::write_example(folder.path().join("census"), 100, 1)?;
/// let policy = hedgerow::Policy::load(folder.path().join("census/policy.toml"))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_example(folder: impl AsRef<Path>, rows: u64, seed: u64) -> Result<(), Error> {
    let folder = folder.as_ref();
    fill(folder, hedgerow_synth::example_files(folder, rows, seed))
}

/// Writes one data file, `NAME.csv`, into a folder, which is made when missing: whole or not at
/// all. A file that is there already is refused.
pub fn write_data(
    folder: impl AsRef<Path>,
    name: &str,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    let folder = folder.as_ref();
    fill(folder, vec![(folder.join(format!("{name}.csv")), Box::new(write))])
}

fn fill(folder: &Path, files: Vec<(PathBuf, Fill<'_>)>) -> Result<(), Error> {
    if files.iter().any(|(path, _)| path.symlink_metadata().is_ok()) {
        let problem = "holds a file already that would be written there";
        return Err(InputError::new(folder.display().to_string(), problem, "name another directory").into());
    }
    Ok(whole::fill_all(files)?)
}
