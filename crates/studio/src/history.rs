//! The changes that can be undone. They are kept in a hidden file beside the policy, one line for
//! each change, so that they outlive the studio.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::atomic_file::PartFile;

/// Changes that can be undone.
const CHANGES_MAX: usize = 200;
/// A longer file is written anew with half of its changes, the newest.
const BYTES_MAX: u64 = 16 << 20;

/// A file before and after a change; `None` where it did not or does not exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileChange {
    pub(crate) path: PathBuf,
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
}

/// One change of the document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Change {
    /// In a few words, for the list of changes.
    pub(crate) what: String,
    pub(crate) files: Vec<FileChange>,
}

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum HistoryLine {
    Changed(Change),
    Undone,
}

/// The changes of a policy, the oldest first.
#[derive(Debug)]
pub(crate) struct History {
    /// Of the policy. Files are named from here, and those outside are not remembered.
    folder: PathBuf,
    file: PathBuf,
    changes: Vec<Change>,
}

impl History {
    /// The history of a policy, as far as it can be read.
    pub(crate) fn load(policy: &Path) -> History {
        let folder = policy.parent().unwrap_or(Path::new(".")).to_path_buf();
        let name = policy.file_name().unwrap_or_default().to_string_lossy();
        let file = folder.join(format!(".{name}.undo"));
        let mut history = History { folder, file, changes: Vec::new() };
        for line in history.read().lines() {
            match serde_json::from_str(line) {
                Ok(HistoryLine::Changed(change)) if change.files.iter().all(|file| history.is_inside(&file.path)) => {
                    history.changes.push(history.absolute(change));
                }
                Ok(HistoryLine::Undone) => drop(history.changes.pop()),
                // What came before cannot be undone any more: the files have changed since.
                _ => history.changes.clear(),
            }
        }
        history.forget_the_oldest();
        history
    }

    pub(crate) fn changes(&self) -> &[Change] {
        &self.changes
    }

    pub(crate) fn push(&mut self, change: Change) {
        self.append(&HistoryLine::Changed(self.relative(&change)));
        self.changes.push(change);
        self.forget_the_oldest();
    }

    pub(crate) fn pop(&mut self) {
        self.changes.pop();
        self.append(&HistoryLine::Undone);
    }

    fn forget_the_oldest(&mut self) {
        let surplus = self.changes.len().saturating_sub(CHANGES_MAX);
        self.changes.drain(..surplus);
    }

    fn read(&self) -> String {
        let is_file = self.file.symlink_metadata().is_ok_and(|known| known.is_file());
        let mut text = String::new();
        if let Some(file) = is_file.then(|| File::open(&self.file).ok()).flatten() {
            let _ = file.take(2 * BYTES_MAX).read_to_string(&mut text);
        }
        text
    }

    /// Writes a line. The change itself is on the disk by then, so a history that cannot be
    /// written costs nothing but the undoing after a restart.
    fn append(&self, line: &HistoryLine) {
        let Ok(mut text) = serde_json::to_string(line) else { return };
        text.push('\n');
        let length = self.file.symlink_metadata().map(|known| if known.is_file() { known.len() } else { u64::MAX });
        let written = match length {
            Ok(length) if length < BYTES_MAX => {
                File::options().append(true).open(&self.file).and_then(|mut file| file.write_all(text.as_bytes()))
            }
            _ => self.rewrite(matches!(line, HistoryLine::Changed(_)).then_some(text.as_str())),
        };
        if written.is_err() {
            // Half a history would undo what is not there.
            let _ = std::fs::remove_file(&self.file);
        }
    }

    /// Writes the newer half of the changes that are known, and the one that is new.
    fn rewrite(&self, new: Option<&str>) -> std::io::Result<()> {
        let mut part = PartFile::beside(&self.file)?;
        for change in &self.changes[self.changes.len() / 2..] {
            let line = serde_json::to_string(&HistoryLine::Changed(self.relative(change)))?;
            part.write(line.as_bytes())?;
            part.write(b"\n")?;
        }
        part.write(new.unwrap_or_default().as_bytes())?;
        part.into_place(&self.file)
    }

    fn relative(&self, change: &Change) -> Change {
        let mut change = change.clone();
        for file in &mut change.files {
            file.path = file.path.strip_prefix(&self.folder).unwrap_or(&file.path).to_path_buf();
        }
        change
    }

    fn absolute(&self, mut change: Change) -> Change {
        change.files.iter_mut().for_each(|file| file.path = self.folder.join(&file.path));
        change
    }

    /// Whether a name in the file stays in the folder. A folder that was handed on has a history
    /// that others wrote.
    fn is_inside(&self, name: &Path) -> bool {
        let is_plain = name.components().all(|part| matches!(part, Component::Normal(_)));
        let parent = self.folder.join(name).parent().map(Path::canonicalize);
        let within = |parent: PathBuf| self.folder.canonicalize().is_ok_and(|folder| parent.starts_with(folder));
        // A folder that is gone can be made again.
        is_plain && parent.is_some_and(|parent| parent.map_or(true, within))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(folder: &Path, what: &str) -> Change {
        let file = FileChange { path: folder.join("policy.toml"), before: None, after: Some("a = 1\n".to_owned()) };
        Change { what: what.to_owned(), files: vec![file] }
    }

    fn words(history: &History) -> Vec<&str> {
        history.changes().iter().map(|change| change.what.as_str()).collect()
    }

    #[test]
    fn a_history_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let policy = folder.path().join("policy.toml");
        let mut history = History::load(&policy);
        for what in ["one", "two", "three"] {
            history.push(change(folder.path(), what));
        }
        history.pop();
        history.push(change(folder.path(), "four"));
        let again = History::load(&policy);
        assert_eq!(words(&again), ["one", "two", "four"]);
        assert_eq!(again.changes(), history.changes(), "paths too");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let known = std::fs::metadata(folder.path().join(".policy.toml.undo")).unwrap();
            assert_eq!(known.permissions().mode() & 0o777, 0o600, "hierarchies have values of the data in them");
        }
    }

    #[test]
    fn the_oldest_changes_are_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let policy = folder.path().join("policy.toml");
        let mut history = History::load(&policy);
        (0..CHANGES_MAX + 5).for_each(|place| history.push(change(folder.path(), &place.to_string())));
        assert_eq!((history.changes().len(), words(&history)[0]), (CHANGES_MAX, "5"));
        assert_eq!(words(&History::load(&policy)), words(&history));
        let mut large = change(folder.path(), "large");
        large.files[0].after = Some("x".repeat(BYTES_MAX as usize));
        history.push(large);
        history.push(change(folder.path(), "last"));
        assert_eq!(words(&History::load(&policy)).last(), Some(&"last"));
        std::fs::remove_file(folder.path().join(".policy.toml.undo")).unwrap();
        history.pop();
        assert_eq!(words(&History::load(&policy)).last(), Some(&"large"), "undone once");
    }

    #[test]
    fn a_history_of_others_stays_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let policy = folder.path().join("policy.toml");
        for name in ["../x", "/etc/passwd", "a/../../x"] {
            let line = format!("{{\"changed\":{{\"what\":\"x\",\"files\":[{{\"path\":\"{name}\"}}]}}}}\n");
            std::fs::write(folder.path().join(".policy.toml.undo"), line).unwrap();
            assert!(History::load(&policy).changes().is_empty(), "{name}");
        }
        for noise in ["", "not JSON\n", "\"undone\"\n\"undone\"\n", "{\"changed\":1}\n"] {
            std::fs::write(folder.path().join(".policy.toml.undo"), noise).unwrap();
            assert!(History::load(&policy).changes().is_empty(), "{noise}");
        }
        #[cfg(unix)]
        {
            let outside = tempfile::tempdir().unwrap();
            std::os::unix::fs::symlink(outside.path(), folder.path().join("link")).unwrap();
            let line = "{\"changed\":{\"what\":\"x\",\"files\":[{\"path\":\"link/x\"}]}}\n";
            std::fs::write(folder.path().join(".policy.toml.undo"), line).unwrap();
            assert!(History::load(&policy).changes().is_empty(), "a link leads out");
            std::fs::remove_file(folder.path().join(".policy.toml.undo")).unwrap();
            std::os::unix::fs::symlink(outside.path().join("y"), folder.path().join(".policy.toml.undo")).unwrap();
            History::load(&policy).push(change(folder.path(), "x"));
            assert!(!outside.path().join("y").exists(), "a link is replaced, not followed");
        }
    }
}
