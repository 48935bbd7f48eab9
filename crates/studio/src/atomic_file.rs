//! Files that appear whole or not at all: written under another name beside their destination, then
//! moved there. Others cannot read them, and a link that waits under the name is not followed.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rand::TryRng as _;
use rand::rngs::SysRng;

const SUFFIX: &str = ".studio-part";
/// A part that was not written to for this long was left by a studio that was killed.
const LEFT_AFTER: Duration = Duration::from_secs(3600);

/// A file that is not whole yet. It goes when it is not moved into place, also when the browser
/// disconnects and the server drops the request.
#[derive(Debug)]
pub(crate) struct PartFile {
    path: PathBuf,
    file: File,
}

impl PartFile {
    /// A part of a file that is to be `path`. Only this user can read it.
    pub(crate) fn beside(path: &Path) -> std::io::Result<PartFile> {
        let mut bytes = [0u8; 8];
        SysRng.try_fill_bytes(&mut bytes).map_err(std::io::Error::other)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name: String = name.chars().take(40).collect();
        let part = format!(".{name}.{:016x}{SUFFIX}", u64::from_le_bytes(bytes));
        let path = path.parent().unwrap_or(Path::new(".")).join(part);
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Ok(PartFile { file: options.open(&path)?, path })
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.file.write_all(bytes)
    }

    /// Moves the part to its place, once its bytes are on the disk. A file that is there is
    /// replaced, and its permissions stay.
    pub(crate) fn into_place(self, path: &Path) -> std::io::Result<()> {
        self.file.sync_all()?;
        if let Ok(known) = std::fs::metadata(path) {
            std::fs::set_permissions(&self.path, known.permissions())?;
        }
        std::fs::rename(&self.path, path)
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Removes parts of a folder that a killed studio left.
pub(crate) fn clear_left(folder: &Path) {
    let is_left = |path: &Path| {
        let modified = path.symlink_metadata().and_then(|known| known.modified());
        modified.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > LEFT_AFTER))
    };
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') && name.ends_with(SUFFIX) && is_left(&entry.path()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_private_and_goes_unless_it_is_moved() {
        let folder = tempfile::tempdir().unwrap();
        let names =
            || std::fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.path()).collect::<Vec<_>>();
        let path = folder.path().join("people.csv");
        let mut part = PartFile::beside(&path).unwrap();
        part.write(b"a\n").unwrap();
        assert_eq!(names().len(), 1);
        drop(part);
        assert!(names().is_empty());
        let mut part = PartFile::beside(&path).unwrap();
        part.write(b"a\n").unwrap();
        part.into_place(&path).unwrap();
        assert_eq!(names(), std::slice::from_ref(&path));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(), 0o600);
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
            PartFile::beside(&path).unwrap().into_place(&path).unwrap();
            assert_eq!(mode(), 0o640, "the permissions of a file that is replaced stay");
        }
    }

    #[test]
    fn parts_of_a_killed_studio_are_cleared() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join(".a.1.studio-part"), folder.path().join(".b.1.studio-part"));
        let long_ago = SystemTime::now() - 2 * LEFT_AFTER;
        File::create(&old).unwrap().set_modified(long_ago).unwrap();
        File::create(&new).unwrap();
        clear_left(folder.path());
        assert!(!old.exists() && new.exists(), "another studio may be writing the new one");
    }
}
