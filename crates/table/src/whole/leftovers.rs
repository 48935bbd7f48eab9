//! Leftovers of a killed run next to a destination, and how the next run to the same destination
//! clears it away.
//!
//! A file is written as `.NAME.hedgerow-PID`, a folder as `.NAME.partial-PID`; a folder that is
//! being replaced waits in `.NAME.replaced-PID`. All are gone at the end of a run, unless it was
//! killed. Whether a process still runs is looked up in `/proc`: where there is none, nothing is
//! touched.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

pub(super) const FILE: &str = "hedgerow";
pub(super) const PARTIAL: &str = "partial";
pub(super) const REPLACED: &str = "replaced";

/// The name that this process gives a file or a folder of the given kind.
pub(super) fn name(destination: &OsStr, kind: &str) -> String {
    format!("{}{}", prefix(destination, kind), std::process::id())
}

fn prefix(destination: &OsStr, kind: &str) -> String {
    format!(".{}.{kind}-", destination.to_string_lossy())
}

/// Clears away what processes that no longer run have left for this destination. A release that was
/// moved aside and never replaced goes back to its place. All of this is a courtesy: what cannot be
/// cleared stays.
pub fn clear(parent: &Path, destination: &OsStr) {
    if !Path::new("/proc/self").exists() {
        return;
    }
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        let left_by_the_dead = |kind| name.strip_prefix(&prefix(destination, kind)).is_some_and(is_dead);
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let file = name.strip_suffix("-journal").unwrap_or(&name);
            if file.strip_prefix(&prefix(destination, FILE)).is_some_and(is_dead) {
                let _ = fs::remove_file(&path);
            }
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

/// Clears away what killed runs left for any destination in a folder: whatever command runs there
/// next need not know which. Only directories that hold nothing but parts of a release are touched.
pub fn clear_folder(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let names: Vec<String> = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    for name in names {
        let Some((destination, rest)) = name.strip_prefix('.').and_then(|name| name.rsplit_once('.')) else { continue };
        let is_of = |kind| rest.strip_prefix(kind).is_some_and(|rest: &str| rest.starts_with('-'));
        let path = folder.join(&name);
        let is_ours = if path.is_dir() {
            (is_of(PARTIAL) || is_of(REPLACED)) && holds_a_release_in_parts(&path)
        } else {
            is_of(FILE)
        };
        if is_ours && !destination.is_empty() {
            clear(folder, OsStr::new(destination));
        }
    }
}

/// Clears away the folders of temporary files that killed runs of the same user left,
/// `hedgerow-PID-TIME-NUMBER`. They may hold rows, so that they are not left to the system. Those
/// of
/// processes that run stay, our own among them.
pub fn clear_scratch(folder: &Path) {
    if !Path::new("/proc/self").exists() {
        return;
    }
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(scratch_of).filter(|process| *process != std::process::id());
        // A link to a folder is not one.
        let is_own = entry.metadata().is_ok_and(|found| found.is_dir() && is_of_user(&found));
        if process.is_some_and(|process| !runs(process)) && is_own {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The process that a folder of temporary files is of, by its name.
fn scratch_of(name: &str) -> Option<u32> {
    let numbers: Vec<&str> = name.strip_prefix("hedgerow-")?.split('-').collect();
    let is_number = |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match numbers.as_slice() {
        [process, time, number] if [process, time, number].into_iter().all(is_number) => process.parse().ok(),
        _ => None,
    }
}

/// Whether it belongs to the user of this process.
#[cfg(unix)]
fn is_of_user(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == found.uid())
}

#[cfg(not(unix))]
fn is_of_user(_: &fs::Metadata) -> bool {
    false
}

/// Whether a directory holds nothing but what a release is written as, complete or not.
fn holds_a_release_in_parts(directory: &Path) -> bool {
    let Ok(entries) = fs::read_dir(directory) else { return false };
    entries.flatten().all(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            return name.starts_with("table-") && holds_a_release_in_parts(&entry.path());
        }
        let stem = name.strip_suffix(".csv").or(name.strip_suffix(".parquet"));
        ["datapackage.json", "dcat.jsonld", "csv-metadata.json"].contains(&name.as_str())
            || stem.is_some_and(|stem| ["data", "quasi", "sensitive", "statistics", "codebook"].contains(&stem))
    })
}

/// Our own number counts as dead: what bears it was there before us, left by an earlier process of
/// that number, as happens in containers.
fn is_dead(process: &str) -> bool {
    process.parse::<u32>().is_ok_and(|process| process == std::process::id() || !runs(process))
}

/// A killed process stays in `/proc` until its parent asks how it ended, which the first process of
/// a container may never do: it runs no more.
fn runs(process: u32) -> bool {
    let process = Path::new("/proc").join(process.to_string());
    process.exists() && !fs::read_to_string(process.join("stat")).is_ok_and(|stat| has_ended(&stat))
}

/// Whether the state of a process, after its name in parentheses, is that of one that ended.
fn has_ended(stat: &str) -> bool {
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
    matches!(state, Some('Z' | 'X' | 'x'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Above what Linux gives out (2^22).
    const NEVER: u32 = 4_194_305;

    #[test]
    fn only_leftovers_of_dead_processes_for_this_destination_are_removed() {
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
    fn any_destination_in_a_folder_is_cleared_and_nothing_of_others() {
        let parent = tempfile::tempdir().unwrap();
        let make = |name: &str, file: &str| {
            fs::create_dir_all(parent.path().join(name)).unwrap();
            fs::write(parent.path().join(name).join(file), "a\n").unwrap();
        };
        make(&format!(".one.partial-{NEVER}"), "data.csv");
        make(&format!(".two.partial-{NEVER}"), "quasi.parquet");
        make(&format!(".theirs.partial-{NEVER}"), "notes.txt");
        make(".running.partial-1", "data.csv");
        for name in [format!(".page.html.hedgerow-{NEVER}"), format!(".r.db.hedgerow-{NEVER}-journal")] {
            fs::write(parent.path().join(name), "half").unwrap();
        }
        fs::write(parent.path().join(".page.html.hedgerow-1"), "of a process that runs").unwrap();
        make(&format!(".three.replaced-{NEVER}"), "datapackage.json");
        clear_folder(parent.path());
        let mut left: Vec<String> = fs::read_dir(parent.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        left.sort_unstable();
        let theirs = format!(".theirs.partial-{NEVER}");
        assert_eq!(left, [".page.html.hedgerow-1", ".running.partial-1", &theirs, "three"]);
    }

    /// Its parent has not waited for it.
    #[test]
    fn a_killed_process_that_no_one_has_waited_for_is_dead() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let process = child.id();
        assert!(runs(process));
        child.kill().unwrap();
        let began = std::time::Instant::now();
        while runs(process) && began.elapsed().as_secs() < 20 {
            std::thread::yield_now();
        }
        assert!(Path::new("/proc").join(process.to_string()).exists() && !runs(process));
        child.wait().unwrap();
        assert!(has_ended("7 (a) Z 1) Z 1 7") && !has_ended("7 (a) Z 1) S 1 7"));
    }

    #[test]
    fn only_temporary_folders_of_dead_processes_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let own = std::process::id();
        let stay = [
            "hedgerow-1-5-0".to_owned(),
            format!("hedgerow-{own}-5-0"),
            format!("hedgerow-{NEVER}"),
            format!("hedgerow-{NEVER}-5"),
            format!("hedgerow-{NEVER}-5-0-1"),
            format!("hedgerow-{NEVER}-5-x"),
            format!("hedgerow-studio-{NEVER}-5"),
            format!("other-{NEVER}-5-0"),
        ];
        for name in stay.iter().chain([&format!("hedgerow-{NEVER}-5-0"), &format!("hedgerow-{NEVER}-17-12")]) {
            fs::create_dir(parent.path().join(name)).unwrap();
            fs::write(parent.path().join(name).join("data.csv"), "a\n").unwrap();
        }
        let file = format!("hedgerow-{NEVER}-6-0");
        fs::write(parent.path().join(&file), "not a folder").unwrap();
        clear_scratch(parent.path());
        let mut left: Vec<String> = fs::read_dir(parent.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        left.sort_unstable();
        let mut expected: Vec<String> = stay.into_iter().chain([file]).collect();
        expected.sort_unstable();
        assert_eq!(left, expected);
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
