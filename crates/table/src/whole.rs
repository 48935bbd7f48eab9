//! Files and folders that are written whole or not at all: next to their destination first,
//! flushed, and then moved into place. What is not placed is removed, also after a full disk; what
//! a killed process left is cleared away by the next one that writes there.

pub mod leftovers;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::TableError;
use leftovers::{FILE, PARTIAL, REPLACED};

/// A file or a folder under construction. Removed when dropped.
#[derive(Debug)]
pub struct Partial {
    path: PathBuf,
    destination: PathBuf,
    /// Where a folder that is replaced waits until the new one is in place.
    aside: PathBuf,
}

impl Partial {
    /// Of a file, which does not exist yet. Behind a link, of the file that it leads to. A folder,
    /// a socket or a device is not replaced.
    pub fn file(destination: &Path) -> io::Result<Partial> {
        let destination = &replaceable(destination)?;
        let (parent, name) = divided(destination)?;
        leftovers::clear(&parent, name);
        let partial = Partial::named(destination, &parent, name, FILE);
        remove(&partial.path)?;
        Ok(partial)
    }

    /// Of a folder, which is there and empty.
    pub fn folder(destination: &Path) -> io::Result<Partial> {
        let (parent, name) = divided(destination)?;
        leftovers::clear(&parent, name);
        let partial = Partial::named(destination, &parent, name, PARTIAL);
        remove(&partial.path)?;
        fs::create_dir(&partial.path)?;
        Ok(partial)
    }

    fn named(destination: &Path, parent: &Path, name: &OsStr, kind: &str) -> Partial {
        Partial {
            path: parent.join(leftovers::name(name, kind)),
            destination: destination.to_path_buf(),
            aside: parent.join(leftovers::name(name, REPLACED)),
        }
    }

    /// Where to write.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Flushes what was written and leaves it where it is, so that nothing but names is left to
    /// change when it is placed.
    pub fn flush(&self) -> io::Result<()> {
        sync_all(&self.path)
    }

    /// Flushes what was written and moves it into place. A file that is there is replaced; so is a
    /// folder, which moves aside first, since nothing can be renamed onto one that holds files.
    pub fn place(self) -> io::Result<()> {
        let replaces_folder = self.path.is_dir() && self.destination.exists();
        self.place_over(replaces_folder)
    }

    /// The same for a folder where nothing may be replaced but an empty one.
    pub fn place_new(self) -> io::Result<()> {
        self.place_over(false)
    }

    fn place_over(self, replaces_folder: bool) -> io::Result<()> {
        sync_all(&self.path)?;
        if replaces_folder {
            fs::rename(&self.destination, &self.aside)?;
        }
        if let Err(error) = fs::rename(&self.path, &self.destination) {
            if replaces_folder {
                let _ = fs::rename(&self.aside, &self.destination);
            }
            return Err(error);
        }
        if replaces_folder {
            fs::remove_dir_all(&self.aside)?;
        }
        if let Ok((parent, _)) = divided(&self.destination) {
            // Best effort: some file systems do not let a directory be opened for syncing.
            let _ = File::open(parent).and_then(|parent| parent.sync_all());
        }
        Ok(())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // Already moved into place, or never to be: either way nothing half-made stays behind.
        let _ = remove(&self.path);
    }
}

/// Writes one file, whole or not at all. One that is there is replaced.
pub fn write(path: &Path, text: &[u8]) -> Result<(), TableError> {
    let written = || -> io::Result<()> {
        let partial = Partial::file(path)?;
        fs::write(partial.path(), text)?;
        partial.place()
    };
    written().map_err(|error| TableError::io(path, error))
}

/// Writes several files, all or none: see [`fill_all`].
pub fn write_all(files: &[(PathBuf, String)]) -> Result<(), TableError> {
    let fill = |text| -> Fill<'_> { Box::new(move |out| out.write_all(text)) };
    fill_all(files.iter().map(|(path, text)| (path.clone(), fill(text.as_bytes()))).collect())
}

/// Writes what a file holds.
pub type Fill<'a> = Box<dyn FnOnce(&mut dyn Write) -> io::Result<()> + 'a>;

/// Fills several files, all or none: none is moved into place before every one is on the disk.
/// Folders are made where they are missing, and removed again when something fails.
pub fn fill_all(files: Vec<(PathBuf, Fill<'_>)>) -> Result<(), TableError> {
    let mut made: Vec<PathBuf> = Vec::new();
    let mut placed: Vec<PathBuf> = Vec::new();
    let outcome = fill_each(files, &mut made, &mut placed);
    if outcome.is_err() {
        placed.iter().for_each(|path| drop(fs::remove_file(path)));
        made.iter().rev().for_each(|folder| drop(fs::remove_dir(folder)));
    }
    outcome
}

fn fill_each(
    files: Vec<(PathBuf, Fill<'_>)>,
    made: &mut Vec<PathBuf>,
    placed: &mut Vec<PathBuf>,
) -> Result<(), TableError> {
    let mut partials = Vec::with_capacity(files.len());
    for (path, fill) in files {
        let partial = make_folders(&path, made).and_then(|()| filled(&path, fill));
        partials.push((partial.map_err(|error| TableError::io(&path, error))?, path));
    }
    for (partial, path) in partials {
        let is_new = !path.exists();
        partial.place().map_err(|error| TableError::io(&path, error))?;
        placed.extend(is_new.then_some(path));
    }
    Ok(())
}

/// A file that is on the disk, and not in its place.
fn filled(path: &Path, fill: Fill<'_>) -> io::Result<Partial> {
    let partial = Partial::file(path)?;
    let mut out = BufWriter::new(File::create(partial.path())?);
    fill(&mut out)?;
    out.flush()?;
    partial.flush()?;
    Ok(partial)
}

/// Makes the folders above a path that are missing, and notes them.
fn make_folders(path: &Path, made: &mut Vec<PathBuf>) -> io::Result<()> {
    let above: Vec<&Path> =
        path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty() && !folder.exists()).collect();
    for folder in above.into_iter().rev() {
        fs::create_dir(folder)?;
        made.push(folder.to_path_buf());
    }
    Ok(())
}

/// Where a file can be written whole.
fn replaceable(destination: &Path) -> io::Result<PathBuf> {
    let refused = || Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file, and not replaced by one"));
    match fs::symlink_metadata(destination) {
        Ok(found) if found.is_symlink() => match fs::canonicalize(destination) {
            Ok(target) if target.is_file() => Ok(target),
            _ => refused(),
        },
        Ok(found) if !found.is_file() => refused(),
        _ => Ok(destination.to_path_buf()),
    }
}

/// The folder of a destination, and its name there.
fn divided(destination: &Path) -> io::Result<(PathBuf, &OsStr)> {
    let nameless = || io::Error::new(io::ErrorKind::InvalidInput, "not a name for a file or a folder");
    let name = destination.file_name().ok_or_else(nameless)?;
    let parent = destination.parent().filter(|parent| !parent.as_os_str().is_empty());
    Ok((parent.unwrap_or(Path::new(".")).to_path_buf(), name))
}

/// Removes a file with its journal, or a folder, if it exists.
fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    };
    // A database writes one next to its file.
    let mut journal = path.as_os_str().to_owned();
    journal.push("-journal");
    let _ = fs::remove_file(journal);
    removed
}

/// Everything in a folder, then the folder itself; or a file.
fn sync_all(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            sync_all(&entry?.path())?;
        }
    }
    File::open(path)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn a_file_is_replaced_whole_and_nothing_else_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.html");
        write(&path, b"one").unwrap();
        write(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        drop(Partial::file(&path).unwrap());
        let partial = Partial::file(&path).unwrap();
        fs::write(partial.path(), "half").unwrap();
        drop(partial);
        assert_eq!((fs::read(&path).unwrap(), names(folder.path())), (b"two".to_vec(), vec!["report.html".to_owned()]));
    }

    #[test]
    fn a_folder_is_replaced_whole_and_nothing_else_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("release");
        for text in ["one", "two"] {
            let partial = Partial::folder(&path).unwrap();
            fs::write(partial.path().join("data.csv"), text).unwrap();
            partial.place().unwrap();
        }
        let partial = Partial::folder(&path).unwrap();
        fs::write(partial.path().join("data.csv"), "half").unwrap();
        drop(partial);
        assert_eq!(fs::read(path.join("data.csv")).unwrap(), b"two");
        assert_eq!(names(folder.path()), ["release"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_written_through_and_a_socket_stays() {
        let folder = tempfile::tempdir().unwrap();
        let [path, link, socket, nowhere] =
            ["report.html", "link", "socket", "nowhere"].map(|name| folder.path().join(name));
        fs::write(&path, "one").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        write(&link, b"two").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&path).unwrap(), b"two");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        std::os::unix::fs::symlink(folder.path().join("absent"), &nowhere).unwrap();
        for path in [&socket, &nowhere] {
            write(path, b"two").unwrap_err();
        }
        assert_eq!(names(folder.path()), ["link", "nowhere", "report.html", "socket"]);
        assert!(!fs::symlink_metadata(&socket).unwrap().is_file());
        assert!(fs::symlink_metadata(&nowhere).unwrap().is_symlink());
    }

    /// The second file cannot be placed: where it should be is a folder.
    #[test]
    fn of_several_files_all_are_written_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let files = |names: [&str; 2]| names.map(|name| (folder.path().join(name), name.to_owned()));
        fs::create_dir_all(folder.path().join("taken/inner")).unwrap();
        write_all(&files(["new/deep/one.csv", "taken"])).unwrap_err();
        assert_eq!(names(folder.path()), ["taken"]);
        write_all(&files(["new/deep/one.csv", "two.csv"])).unwrap();
        assert_eq!(names(folder.path()), ["new", "taken", "two.csv"]);
        assert_eq!(fs::read(folder.path().join("new/deep/one.csv")).unwrap(), b"new/deep/one.csv");
        // Where one cannot be finished, none is there, and the one is named.
        let half: Fill<'_> = Box::new(|out| {
            out.write_all(b"half of it")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        let whole: Fill<'_> = Box::new(|out| out.write_all(b"all"));
        let paths = ["also/one.csv", "also/two.csv"].map(|name| folder.path().join(name));
        let error = fill_all(paths.into_iter().zip([whole, half]).collect()).unwrap_err();
        assert!(error.to_string().contains("two.csv"), "{error}");
        assert_eq!(names(folder.path()), ["new", "taken", "two.csv"]);
    }
}
