//! The digest of a release: which bytes it was, in one line that can be kept and compared.
//!
//! SHA-256 over the files, each with its name and length, in the order of their names. For a
//! release that is what its manifest lists, the manifest and the codebook; for a bare table it is
//! the one file.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::manifest::{FILE_NAME, Manifest};
use super::read::{files_of, refuse_unless_table};
use hedgerow_table::TableError;

/// Of a release directory.
pub(crate) fn of_release(directory: &Path, manifest: &Manifest) -> Result<String, TableError> {
    let always = [FILE_NAME, "codebook.csv"];
    let mut names: BTreeSet<String> = always.map(str::to_owned).into();
    for resource in &manifest.resources {
        refuse_unless_table(directory, resource)?;
        names.extend(files_of(directory, &resource.path)?);
    }
    of_files(directory, names.iter().map(String::as_str))
}

/// Of one table.
pub fn of_file(path: &Path) -> Result<String, TableError> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Err(TableError::input(path.display().to_string(), "names no file", "name the table"));
    };
    of_files(folder, [name].into_iter())
}

/// Of some files in a directory.
fn of_files<'n>(directory: &Path, names: impl Iterator<Item = &'n str>) -> Result<String, TableError> {
    let mut hash = Sha256::new();
    for name in names {
        let path = directory.join(name);
        let failed = |error| TableError::io(&path, error);
        let mut file = File::open(&path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        hash.update((name.len() as u64).to_le_bytes());
        hash.update(name.as_bytes());
        hash.update(length.to_le_bytes());
        let mut buffer = vec![0u8; 1 << 16];
        loop {
            let read = file.read(&mut buffer).map_err(failed)?;
            if read == 0 {
                break;
            }
            hash.update(&buffer[..read]);
        }
    }
    let bytes = hash.finalize();
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("sha256:{hex}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_tells_names_and_bytes_apart() {
        let folder = tempfile::tempdir().unwrap();
        let digest = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).unwrap();
            of_files(folder.path(), [name].into_iter()).unwrap()
        };
        let one = digest("a.csv", "x\n1\n");
        assert!(one.starts_with("sha256:") && one.len() == 7 + 64);
        assert_eq!(one, digest("a.csv", "x\n1\n"));
        assert_ne!(one, digest("a.csv", "x\n2\n"));
        assert_ne!(one, digest("b.csv", "x\n1\n"));
        assert!(of_files(folder.path(), ["c.csv"].into_iter()).is_err());
    }
}
