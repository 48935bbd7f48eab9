//! Additions to a catalog: one process at a time, and undone by the next where one was killed.
//!
//! A release is added by several renames: its folder, the list, and for a new release its own
//! directory. Who adds holds a lock on the catalog's folder. Before the first rename a note says
//! what is being added, and it is removed after the last. A note without a process that holds the
//! lock is of a killed one: a release that is listed, and published where it was to be, is added;
//! any other is not, and what is there of it is removed.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hedgerow_release::Release;
use hedgerow_table::whole;
use hedgerow_table::{NoProgress, Progress, TableError};
use serde_json::{Value, json};

use super::{Catalog, CatalogEntry, FILE_NAME, entry};

/// The note of what is being added.
const NOTE: &str = ".catalog.adding";
/// Locked where a folder cannot be, as on network file systems.
const LOCK: &str = ".catalog.lock";
const PAUSE: Duration = Duration::from_millis(5);
/// A note names one release.
const BYTES_MAX: u64 = 1 << 16;

/// Only this process adds to the catalog as long as it lives.
#[derive(Debug)]
pub(super) struct Alone {
    _locked: File,
}

impl Alone {
    /// Waits until no other process adds to the catalog, whose folder is made where it is absent.
    /// Says whether it was made.
    pub(super) fn in_new(folder: &Path, progress: &dyn Progress) -> Result<(Alone, bool), TableError> {
        let at_folder = |error| TableError::io(folder, error);
        let is_new = !folder.exists();
        loop {
            fs::create_dir_all(folder).map_err(at_folder)?;
            // Another process may remove a folder that it made, before we have locked it.
            if let Some(alone) = Alone::within(folder, progress)? {
                return Ok((alone, is_new));
            }
        }
    }

    /// The same for a folder that exists; `None` where it is gone once it is locked.
    pub(super) fn within(folder: &Path, progress: &dyn Progress) -> Result<Option<Alone>, TableError> {
        let opened = match File::open(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.ok(),
        };
        let by_folder = match opened {
            Some(opened) => locked(opened, progress)?,
            None => None,
        };
        if let Some(file) = by_folder {
            return Ok(is_still(&file, folder).then_some(Alone { _locked: file }));
        }
        let path = folder.join(LOCK);
        let at_lock = |error| TableError::io(&path, error);
        let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(at_lock)?;
        let unlockable = || at_lock(io::Error::new(io::ErrorKind::Unsupported, "cannot be locked"));
        Ok(Some(Alone { _locked: locked(file, progress)?.ok_or_else(unlockable)? }))
    }
}

/// `None` where the file system cannot lock it.
fn locked(file: File, progress: &dyn Progress) -> Result<Option<File>, TableError> {
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) => {
                progress.check()?;
                std::thread::sleep(PAUSE);
            }
            Err(TryLockError::Error(_)) => return Ok(None),
        }
    }
}

/// Whether a path leads to what was opened.
#[cfg(unix)]
fn is_still(opened: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let number = |found: fs::Metadata| (found.dev(), found.ino());
    opened.metadata().ok().map(number) == fs::metadata(path).ok().map(number)
}

#[cfg(not(unix))]
fn is_still(_: &File, path: &Path) -> bool {
    path.exists()
}

/// Whether something of a catalog's own is in a folder, and no release.
pub(super) fn is_own(name: &str) -> bool {
    [NOTE, LOCK].contains(&name)
}

/// Whether a process adds to this catalog, or was killed while it did.
pub(super) fn is_begun(folder: &Path) -> bool {
    folder.join(NOTE).exists()
}

/// The release that is being added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Begun {
    entry: CatalogEntry,
    /// Where a new release will be; `None` for one that is published already.
    release: Option<PathBuf>,
    /// Whether the list was absent before.
    is_first: bool,
}

impl Begun {
    pub(super) fn new(catalog: &Catalog, entry: &CatalogEntry, release: Option<&Path>) -> Begun {
        let is_first = !catalog.folder.join(FILE_NAME).exists();
        Begun { entry: entry.clone(), release: release.and_then(absolute), is_first }
    }

    /// Notes what is being added, before anything is.
    pub(super) fn note(&self, folder: &Path) -> Result<(), TableError> {
        let text = json!({
            "name": self.entry.name,
            "digest": self.entry.digest,
            "release": self.release.as_deref().and_then(Path::to_str),
            "first": self.is_first,
        });
        whole::write(&folder.join(NOTE), text.to_string().as_bytes())
    }

    fn read(folder: &Path) -> Option<Begun> {
        let path = folder.join(NOTE);
        fs::metadata(&path).ok().filter(|found| found.is_file() && found.len() <= BYTES_MAX)?;
        let value: Value = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
        let release = value["release"].as_str().map(PathBuf::from);
        Some(Begun { entry: entry(&value)?, release, is_first: value["first"].as_bool()? })
    }

    /// Whether the release is listed, and lies where it was to be published. Where that place
    /// cannot be seen, as from another machine, it counts as published: a catalog may list too
    /// much, never too little.
    fn is_done(&self, catalog: &Catalog) -> bool {
        let is_listed = catalog.entries.iter().any(|entry| self.is_of(entry));
        let is_published = self.release.as_deref().is_none_or(|release| {
            let is_in_sight = release.parent().is_some_and(Path::is_dir);
            !is_in_sight || has_digest(release, &self.entry.digest)
        });
        is_listed && is_published
    }

    fn is_of(&self, entry: &CatalogEntry) -> bool {
        entry.name == self.entry.name && entry.digest == self.entry.digest
    }
}

/// The catalog without what a process began to add and did not complete, for who has it alone.
pub(super) fn settle(catalog: &mut Catalog) {
    let Some(begun) = Begun::read(&catalog.folder) else { return };
    if begun.is_done(catalog) {
        return complete(&catalog.folder);
    }
    let listed = catalog.entries.len();
    catalog.entries.retain(|entry| !begun.is_of(entry));
    let list = catalog.folder.join(FILE_NAME);
    let is_kept = match (listed == catalog.entries.len(), begun.is_first && catalog.entries.is_empty()) {
        (true, _) => true,
        (false, true) => fs::remove_file(list).is_ok(),
        (false, false) => whole::write(&list, catalog.text().as_bytes()).is_ok(),
    };
    // A list that still has it keeps what it lists, until someone who may write comes by.
    if is_kept {
        let copied = catalog.folder.join(&begun.entry.name);
        if has_digest(&copied, &begun.entry.digest) {
            let _ = fs::remove_dir_all(copied);
        }
        complete(&catalog.folder);
    }
}

/// Everything is in place.
pub(super) fn complete(folder: &Path) {
    let _ = fs::remove_file(folder.join(NOTE));
}

fn has_digest(release: &Path, digest: &str) -> bool {
    let opened = Release::open(release, &NoProgress).ok();
    opened.is_some_and(|release| release.digest().is_ok_and(|found| found == digest))
}

/// A path that means the same wherever it is read.
fn absolute(path: &Path) -> Option<PathBuf> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(parent.canonicalize().ok()?.join(path.file_name()?))
}

#[cfg(test)]
mod tests {
    use hedgerow_table::NoProgress;

    use super::*;

    const TABLE: &str = "zip,illness\n1,Flu\n1,Ache\n2,Flu\n2,Cough\n";

    /// A folder with two releases, `one` and `two`, and a catalog that has the first.
    fn catalog() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        for name in ["one", "two"] {
            let release = folder.path().join(name);
            fs::create_dir(&release).unwrap();
            fs::write(release.join("table.csv"), format!("{TABLE}3,{name}\n3,Flu\n")).unwrap();
            let attributes = "zip = { role = \"quasi\" }\nillness = { role = \"sensitive\" }";
            let text = format!("[source]\npath = \"table.csv\"\n[attributes]\n{attributes}\n");
            fs::write(release.join("release.toml"), text).unwrap();
        }
        let place = folder.path().join("catalog");
        Catalog::add(&place, &folder.path().join("one"), None, None, &NoProgress).unwrap();
        (folder, place)
    }

    fn names(catalog: &Path) -> Vec<String> {
        let loaded = Catalog::load(catalog).unwrap();
        loaded.entries.into_iter().map(|entry| entry.name).collect()
    }

    fn files(folder: &Path) -> Vec<String> {
        let found = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut found: Vec<String> = found.collect();
        found.sort_unstable();
        found
    }

    fn copied(from: &Path, to: &Path) {
        fs::create_dir(to).unwrap();
        for name in files(from) {
            fs::copy(from.join(&name), to.join(&name)).unwrap();
        }
    }

    /// The state that a process leaves when it is killed after this number of its renames, that of
    /// the release at its own destination last.
    fn killed(folder: &Path, catalog: &Path, renames: usize, published: Option<&Path>) -> CatalogEntry {
        let two = folder.join("two");
        let digest = Release::open(&two, &NoProgress).unwrap().digest().unwrap().to_owned();
        let entry = CatalogEntry { name: "two".to_owned(), custodian: None, digest };
        let mut before = Catalog::load(catalog).unwrap();
        Begun::new(&before, &entry, published).note(catalog).unwrap();
        if renames > 0 {
            copied(&two, &catalog.join("two"));
        }
        before.entries.push(entry.clone());
        if renames > 1 {
            fs::write(catalog.join(FILE_NAME), before.text()).unwrap();
        }
        if let Some(published) = published.filter(|_| renames > 2) {
            copied(&two, published);
        }
        entry
    }

    #[test]
    fn what_was_killed_between_its_renames_is_added_or_can_be_added_again() {
        for renames in 0..=2 {
            let (folder, catalog) = catalog();
            killed(folder.path(), &catalog, renames, None);
            let is_added = renames == 2;
            let expected: &[&str] = if is_added { &["one", "two"] } else { &["one"] };
            assert_eq!(names(&catalog), expected, "{renames} renames");
            let again = Catalog::add(&catalog, &folder.path().join("two"), None, None, &NoProgress);
            assert_eq!(again.is_ok(), !is_added, "{renames} renames: {again:?}");
            assert_eq!(names(&catalog), ["one", "two"]);
            assert_eq!(files(&catalog), ["catalog.json", "one", "two"]);
        }
    }

    #[test]
    fn what_was_killed_before_it_was_published_is_not_listed() {
        for renames in 0..=3 {
            let (folder, catalog) = catalog();
            let published = folder.path().join("published");
            killed(folder.path(), &catalog, renames, Some(&published));
            let (listed, left): (&[&str], &[&str]) = match renames {
                3 => (&["one", "two"], &["catalog.json", "one", "two"]),
                _ => (&["one"], &["catalog.json", "one"]),
            };
            assert_eq!(names(&catalog), listed, "{renames} renames");
            assert_eq!(files(&catalog), left, "{renames} renames");
        }
    }

    /// A catalog may list too much, and never too little.
    #[test]
    fn what_was_published_out_of_sight_stays_listed() {
        let (folder, catalog) = catalog();
        let elsewhere = folder.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        killed(folder.path(), &catalog, 2, Some(&elsewhere.join("published")));
        fs::remove_dir(&elsewhere).unwrap();
        assert_eq!(names(&catalog), ["one", "two"]);
    }

    #[test]
    fn a_first_release_that_was_cut_short_leaves_no_catalog() {
        let (folder, _) = catalog();
        let catalog = folder.path().join("new");
        fs::create_dir(&catalog).unwrap();
        fs::write(catalog.join(FILE_NAME), Catalog { folder: catalog.clone(), entries: Vec::new() }.text()).unwrap();
        let published = folder.path().join("published");
        let entry = killed(folder.path(), &catalog, 2, Some(&published));
        let begun = Begun { entry, release: Some(published), is_first: true };
        begun.note(&catalog).unwrap();
        assert_eq!(Catalog::load_or_new(&catalog).unwrap().entries, []);
        assert!(files(&catalog).is_empty(), "{:?}", files(&catalog));
    }

    /// A folder of another program under the same name is not the copy.
    #[test]
    fn a_folder_with_other_contents_is_not_removed() {
        let (folder, catalog) = catalog();
        killed(folder.path(), &catalog, 1, None);
        fs::write(catalog.join("two/table.csv"), "zip,illness\n1,Flu\n").unwrap();
        assert_eq!(names(&catalog), ["one"]);
        assert!(catalog.join("two/table.csv").exists());
    }

    #[test]
    fn several_that_add_at_once_are_all_listed() {
        let (folder, catalog) = catalog();
        std::thread::scope(|scope| {
            for number in 0..8 {
                let (catalog, two) = (&catalog, folder.path().join("two"));
                let add = move || Catalog::add(catalog, &two, Some(&format!("r{number}")), None, &NoProgress).unwrap();
                scope.spawn(add);
            }
        });
        let mut found = names(&catalog);
        found.sort_unstable();
        assert_eq!(found, ["one", "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7"]);
    }
}
