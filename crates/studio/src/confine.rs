//! Which files the studio may touch: those in the working folder, and what was named on the command
//! line. A path is followed through links before it is judged.

use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::reach::server_of;

/// The most characters in a file's name that a browser may choose.
const NAME_CHARS_MAX: usize = 100;

#[derive(Debug)]
pub(crate) struct Confinement {
    folder: PathBuf,
    named: Vec<PathBuf>,
    /// Databases that the user has named, by their servers.
    servers: Mutex<Vec<String>>,
}

impl Confinement {
    pub(crate) fn new(folder: &Path, named: &[PathBuf]) -> std::io::Result<Confinement> {
        let folder = folder.canonicalize()?;
        // What does not exist yet was named all the same.
        let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        Ok(Confinement { folder, named: named.iter().map(real).collect(), servers: Mutex::default() })
    }

    /// The user has named this database.
    pub(crate) fn allow_database(&self, address: &Path) {
        if let Some(server) = server_of(address) {
            self.servers.lock().unwrap_or_else(PoisonError::into_inner).push(server);
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// An existing file or directory that a browser names, relative to the working folder.
    pub(crate) fn existing(&self, name: &str) -> Result<PathBuf, String> {
        let refused = || format!("{name}: not a file in {}", self.folder.display());
        let path = self.folder.join(name).canonicalize().map_err(|_| refused())?;
        if self.contains(&path) { Ok(path) } else { Err(refused()) }
    }

    fn contains(&self, real: &Path) -> bool {
        real.starts_with(&self.folder) || self.named.iter().any(|named| real.starts_with(named))
    }

    /// Whether a path may be read, once links in it are followed. Of a path that does not exist the
    /// part that exists decides.
    pub(crate) fn allows(&self, path: &Path) -> bool {
        if let Some(server) = server_of(path) {
            let typed = self.servers.lock().unwrap_or_else(PoisonError::into_inner).contains(&server);
            return typed || self.named.iter().filter_map(|named| server_of(named)).any(|known| known == server);
        }
        if self.named.iter().any(|named| named == path) {
            return true;
        }
        let climbs = path.components().any(|part| part == Component::ParentDir);
        for (depth, existing) in path.ancestors().enumerate() {
            if let Ok(real) = existing.canonicalize() {
                return self.contains(&real) && (depth == 0 || !climbs);
            }
            if existing.is_symlink() {
                return false;
            }
        }
        false
    }

    /// A file or directory to be made, relative to the working folder: plain names alone, none of
    /// them hidden, and no link leads out.
    pub(crate) fn new_path(&self, name: &str) -> Result<PathBuf, String> {
        let refused = |why: &str| Err(format!("{name:?} is not a name for a file here: {why}"));
        if name.is_empty() || name.chars().count() > NAME_CHARS_MAX {
            return refused("it has no characters, or more than 100");
        }
        if name.chars().any(|c| c.is_control() || c == '\\' || c == ':') {
            return refused("it has a character that files cannot have everywhere");
        }
        let mut path = self.folder.clone();
        for component in Path::new(name).components() {
            let Component::Normal(part) = component else { return refused("it leads elsewhere") };
            if part.to_string_lossy().starts_with('.') {
                return refused("a part of it begins with a dot");
            }
            path.push(part);
            // What exists must not be a link out of the folder.
            if path.symlink_metadata().is_ok() && !path.canonicalize().is_ok_and(|real| real.starts_with(&self.folder))
            {
                return refused("it leads elsewhere");
            }
        }
        Ok(path)
    }

    /// A message in which files of the working folder are named as the page names them.
    pub(crate) fn shortened(&self, message: &str) -> String {
        let folder = format!("{}{}", self.folder.display(), std::path::MAIN_SEPARATOR);
        if folder.len() > 2 { message.replace(&folder, "") } else { message.to_owned() }
    }

    /// A path as the page shows it: relative to the working folder where it is in there.
    pub(crate) fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.folder).unwrap_or(path).display().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_outside_is_touched() {
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(inside.path().join("a.csv"), "x").unwrap();
        std::fs::write(outside.path().join("secret.csv"), "x").unwrap();
        let secret = outside.path().join("secret.csv");
        let confinement = Confinement::new(inside.path(), &[]).unwrap();
        assert!(confinement.existing("a.csv").is_ok());
        let climbing = format!("../{}/secret.csv", outside.path().file_name().unwrap().to_string_lossy());
        for bad in [climbing.as_str(), secret.to_str().unwrap(), "/etc/passwd", "../..", "none.csv", "a.csv\0"] {
            assert!(confinement.existing(bad).is_err(), "{bad:?}");
        }
        for bad in ["", "../x", "/tmp/x", ".hidden", "a/../../x", "a/.b", "x\n", "c:\\x", &"x".repeat(200)] {
            assert!(confinement.new_path(bad).is_err(), "{bad:?}");
        }
        assert!(confinement.new_path("releases/first").is_ok());
        let message = format!("{}: no such file", confinement.folder().join("a.csv").display());
        assert_eq!(confinement.shortened(&message), "a.csv: no such file");
        assert!(
            confinement.allows(&inside.path().join("a.csv")) && confinement.allows(&inside.path().join("new/b.csv"))
        );
        assert!(!confinement.allows(&secret) && !confinement.allows(Path::new("/none")));

        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(outside.path(), inside.path().join("link")).unwrap();
            assert!(confinement.existing("link/secret.csv").is_err());
            assert!(confinement.new_path("link/new").is_err());
            for bad in ["link", "link/secret.csv", "link/none.csv", "none/../../x"] {
                assert!(!confinement.allows(&inside.path().join(bad)), "{bad}");
            }
            std::os::unix::fs::symlink(outside.path().join("none"), inside.path().join("dangling")).unwrap();
            assert!(!confinement.allows(&inside.path().join("dangling")));
        }
        let named = Confinement::new(inside.path(), std::slice::from_ref(&secret)).unwrap();
        assert!(named.existing(secret.to_str().unwrap()).is_ok(), "named on the command line");
        assert!(named.allows(&secret));
    }
}
