//! The document: a policy file with what belongs to it. Every change is written at once, whole or
//! not at all, and can be undone as long as no one else has changed the file since.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use toml_edit::DocumentMut;

use crate::atomic_file::PartFile;
use crate::history::{Change, FileChange, History};
use crate::line_diff::{DiffLine, diff};

/// A policy larger than this is not a policy.
const BYTES_MAX: u64 = 4 << 20;
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) path: PathBuf,
    history: Mutex<History>,
    /// As it was last read or written: what can be put back when the file is deleted.
    last: Mutex<Option<String>>,
}

impl Document {
    pub(crate) fn new(path: &Path) -> Document {
        Document { path: path.to_path_buf(), history: Mutex::new(History::load(path)), last: Mutex::default() }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    /// The policy as it is on the disk now.
    pub(crate) fn text(&self) -> Result<String, String> {
        let text = read(&self.path)?;
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(text.clone());
        Ok(text)
    }

    pub(crate) fn last_text(&self) -> Option<String> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Writes the policy again after it was deleted.
    pub(crate) fn restore(&self) -> Result<(), String> {
        match self.last_text() {
            Some(text) if !self.path.exists() => {
                put(&self.path, Some(&text)).map_err(|error| format!("{}: {error}", self.path.display()))
            }
            _ => Err("The policy is there already.".to_owned()),
        }
    }

    /// Changes the policy. `edit` also returns other files to write, such as hierarchies. Tabs take
    /// turns, and each change starts from what is on the disk, so no change is lost.
    pub(crate) fn change(
        &self,
        what: &str,
        edit: impl FnOnce(&mut DocumentMut) -> Result<Vec<(PathBuf, String)>, String>,
    ) -> Result<(), String> {
        let mut history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.text()?;
        let mut parsed: DocumentMut = before.parse().map_err(|error| {
            format!(
                "{}: not valid TOML, so the studio cannot change it; mend it by hand first\n{error}",
                self.path.display()
            )
        })?;
        let others = edit(&mut parsed)?;
        let mut files = Vec::new();
        for (path, after) in others {
            let before = if path.exists() { Some(read(&path)?) } else { None };
            files.push(FileChange { path, before, after: Some(after) });
        }
        let after = parsed.to_string();
        files.push(FileChange { path: self.path.clone(), before: Some(before), after: Some(after) });
        files.retain(|file| file.before != file.after);
        if files.is_empty() {
            return Ok(());
        }
        write_all(&files)?;
        history.push(Change { what: what.to_owned(), files });
        Ok(())
    }

    /// Takes the last change back, unless a file has been changed since by another program.
    pub(crate) fn undo(&self) -> Result<(), String> {
        let mut history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(last) = history.changes().last() else { return Err("There is no change to undo.".to_owned()) };
        for file in &last.files {
            if read(&file.path).ok() != file.after {
                return Err(format!(
                    "{} was changed by another program after “{}”: undo it there.",
                    file.path.display(),
                    last.what
                ));
            }
        }
        let back: Vec<FileChange> = last.files.iter().cloned().map(FileChange::back).collect();
        write_all(&back)?;
        history.pop();
        Ok(())
    }

    /// The last change that can be undone, and the words of all of them, the newest first. The
    /// others can hold many large files, and every page shows this.
    pub(crate) fn changes(&self) -> (Option<Change>, Vec<String>) {
        let history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        let words = history.changes().iter().rev().map(|change| change.what.clone());
        (history.changes().last().cloned(), words.collect())
    }
}

impl Change {
    /// Its changes, file by file.
    pub(crate) fn diffs(&self) -> Vec<(&Path, Vec<DiffLine>)> {
        let of = |file: &Option<String>| file.clone().unwrap_or_default();
        self.files.iter().map(|file| (file.path.as_path(), diff(&of(&file.before), &of(&file.after)))).collect()
    }
}

impl FileChange {
    fn back(self) -> FileChange {
        FileChange { path: self.path, before: self.after, after: self.before }
    }
}

/// Reads a text within the limit.
pub(crate) fn read(path: &Path) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    if std::fs::metadata(path).map_err(failed)?.len() > BYTES_MAX {
        return Err(format!("{}: larger than 4 MiB", path.display()));
    }
    std::fs::read_to_string(path).map_err(failed)
}

/// Writes all files, or puts back what was there.
fn write_all(files: &[FileChange]) -> Result<(), String> {
    for (place, file) in files.iter().enumerate() {
        if let Err(error) = put(&file.path, file.after.as_deref()) {
            for done in &files[..place] {
                let _ = put(&done.path, done.before.as_deref());
            }
            return Err(format!("{}: {error}; nothing was changed", file.path.display()));
        }
    }
    Ok(())
}

/// Writes a text whole or not at all, through a link where the path is one; removes the file for
/// `None`.
fn put(path: &Path, text: Option<&str>) -> std::io::Result<()> {
    let Some(text) = text else { return std::fs::remove_file(path) };
    std::fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let mut part = PartFile::beside(&path)?;
    part.write(text.as_bytes())?;
    part.into_place(&path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(text: &str) -> (tempfile::TempDir, Document) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("policy.toml");
        std::fs::write(&path, text).unwrap();
        (folder, Document::new(&path))
    }

    fn set(document: &Document, value: i64) -> Result<(), String> {
        document.change("set a", |doc| {
            doc["a"] = toml_edit::value(value);
            Ok(Vec::new())
        })
    }

    #[test]
    fn changes_are_written_at_once_and_undone_in_turn() {
        let (_folder, document) = document("# first\na = 1 # one\n");
        set(&document, 2).unwrap();
        set(&document, 3).unwrap();
        assert!(document.text().unwrap().starts_with("# first\na = 3"));
        document.undo().unwrap();
        document.undo().unwrap();
        assert_eq!(document.text().unwrap(), "# first\na = 1 # one\n");
        assert!(document.undo().is_err());
    }

    #[test]
    fn a_studio_that_starts_again_can_undo() {
        let (_folder, first) = document("a = 1\n");
        set(&first, 2).unwrap();
        let second = Document::new(&first.path);
        assert_eq!(second.changes(), first.changes());
        second.undo().unwrap();
        assert_eq!(second.text().unwrap(), "a = 1\n");
        assert_eq!(Document::new(&first.path).changes(), (None, Vec::new()));
    }

    #[test]
    fn a_change_by_hand_is_kept_and_stops_undoing() {
        let (_folder, document) = document("a = 1\n");
        set(&document, 2).unwrap();
        std::fs::write(&document.path, "a = 2\nb = 5\n").unwrap();
        assert!(document.undo().unwrap_err().contains("another program"));
        set(&document, 4).unwrap();
        assert_eq!(document.text().unwrap(), "a = 4\nb = 5\n", "the change starts from what is there");
        document.undo().unwrap();
        assert_eq!(document.text().unwrap(), "a = 2\nb = 5\n");
    }

    #[test]
    fn other_files_change_and_come_back_with_the_policy() {
        let (folder, document) = document("a = 1\n");
        let other = folder.path().join("hierarchies/x.csv");
        let write = |text: &str| {
            let (other, text) = (other.clone(), text.to_owned());
            document.change("x", |_| Ok(vec![(other, text)])).unwrap();
        };
        write("1;2\n");
        write("1;3\n");
        document.undo().unwrap();
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "1;2\n");
        document.undo().unwrap();
        assert!(!other.exists());
    }

    #[test]
    fn what_is_not_a_policy_is_left_alone() {
        let (_folder, broken) = document("a = = 1\n");
        assert!(set(&broken, 2).is_err());
        assert_eq!(broken.text().unwrap(), "a = = 1\n");
        std::fs::remove_file(&broken.path).unwrap();
        assert!(set(&broken, 2).is_err(), "a deleted file is reported and not made anew");
        broken.restore().unwrap();
        assert_eq!(broken.text().unwrap(), "a = = 1\n");
    }
}
