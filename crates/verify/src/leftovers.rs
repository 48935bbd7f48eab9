//! What a killed run leaves next to a destination, and how the next run to the same destination clears it away.
//!
//! A release is built in `.NAME.partial-PID`; one that is being replaced waits in `.NAME.replaced-PID`. Both are gone at the
//! end of a run, unless it was killed. Whether a process still runs is looked up in `/proc`: where there is none, nothing is
//! touched.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

pub(crate) const PARTIAL: &str = "partial";
pub(crate) const REPLACED: &str = "replaced";

/// What this process calls a directory of the given kind.
pub(crate) fn name(destination: &OsStr, kind: &str) -> String {
    format!("{}{}", prefix(destination, kind), std::process::id())
}

fn prefix(destination: &OsStr, kind: &str) -> String {
    format!(".{}.{kind}-", destination.to_string_lossy())
}

/// Clears away what processes that no longer run have left for this destination. A release that was moved aside and never
/// replaced goes back to its place. All of this is a courtesy: what cannot be cleared stays.
pub(crate) fn clear(parent: &Path, destination: &OsStr) {
    if !Path::new("/proc/self").exists() {
        return;
    }
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        let left_by_the_dead = |kind| name.strip_prefix(&prefix(destination, kind)).is_some_and(is_dead);
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        if left_by_the_dead(PARTIAL) {
            let _ = fs::remove_dir_all(&path);
        } else if left_by_the_dead(REPLACED) {
            let place = parent.join(destination);
            let _ = if place.exists() { fs::remove_dir_all(&path) } else { fs::rename(&path, &place) };
        }
    }
}

/// Our own number counts as dead: what bears it was there before us, left by an earlier process of that number, as happens
/// in containers.
fn is_dead(process: &str) -> bool {
    let runs = |process: u32| Path::new("/proc").join(process.to_string()).exists();
    process.parse::<u32>().is_ok_and(|process| process == std::process::id() || !runs(process))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Above what Linux gives out (2^22).
    const NEVER: u32 = 4_194_305;

    #[test]
    fn only_what_the_dead_left_for_this_destination_goes() {
        let parent = tempfile::tempdir().unwrap();
        let stay = [
            // The first process of a system never ends.
            ".release.partial-1".to_owned(),
            ".release.partial-".to_owned(),
            format!(".release.partial-{NEVER}x"),
            format!(".other.partial-{NEVER}"),
            format!(".release.2.partial-{NEVER}"),
            "release".to_owned(),
        ];
        let own = std::process::id();
        let go = [
            format!(".release.partial-{NEVER}"),
            format!(".release.replaced-{NEVER}"),
            format!(".release.partial-{own}"),
        ];
        for name in stay.iter().chain(&go) {
            fs::create_dir(parent.path().join(name)).unwrap();
            fs::write(parent.path().join(name).join("data.csv"), "a\n").unwrap();
        }
        let file = parent.path().join(format!(".release.partial-{}", NEVER + 1));
        fs::write(&file, "not a directory").unwrap();
        clear(parent.path(), OsStr::new("release"));
        for name in &stay {
            assert!(parent.path().join(name).exists(), "{name}");
        }
        for name in &go {
            assert!(!parent.path().join(name).exists(), "{name}");
        }
        assert!(file.exists());
    }

    #[test]
    fn a_release_moved_aside_by_a_killed_run_goes_back() {
        let parent = tempfile::tempdir().unwrap();
        let aside = parent.path().join(format!(".release.replaced-{NEVER}"));
        fs::create_dir(&aside).unwrap();
        fs::write(aside.join("data.csv"), "a\n").unwrap();
        clear(parent.path(), OsStr::new("release"));
        assert!(!aside.exists());
        assert_eq!(fs::read_to_string(parent.path().join("release/data.csv")).unwrap(), "a\n");
    }
}
