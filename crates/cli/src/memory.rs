//! How much memory a run takes: the peak for reports, and the limit that a user set.
//!
//! Both are the system's own account of the process, read from `/proc`; where there is none, the
//! peak is not reported and a limit is refused rather than ignored.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hedgerow::least_bytes;

use crate::args::Talk;
use crate::failure::Failure;
use crate::interrupt;

/// How often the memory is compared with its limit.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The memory that a command other than `publish` takes for each byte of what it reads.
const INPUT_FACTOR: u64 = 4;

static EXCEEDED: AtomicBool = AtomicBool::new(false);
static REPORTED: AtomicBool = AtomicBool::new(false);

/// The most memory that this process has had so far.
pub(crate) fn peak_bytes() -> Option<u64> {
    account("VmHWM:")
}

/// Whether every JSON object states the peak.
pub(crate) fn is_reported() -> bool {
    REPORTED.load(Ordering::Relaxed)
}

/// Whether the run was stopped because it took more than its limit.
pub(crate) fn is_exceeded() -> bool {
    EXCEEDED.load(Ordering::Relaxed)
}

/// From here on the run is canceled when it takes more than the limit, if there is one.
pub(crate) fn watch(talk: &Talk, is_publishing: bool) -> Result<(), Failure> {
    REPORTED.store(talk.verbose, Ordering::Relaxed);
    let Some(limit) = talk.memory else { return Ok(()) };
    if peak_bytes().is_none() {
        let problem = "this system does not say how much memory a process takes";
        return Err(Failure::usage("--memory", problem, "leave it out, or limit the process by other means"));
    }
    // Decided once and before the work, so that the same run always ends alike, and that what it
    // asks for is enough. `publish` decides when it knows the rows.
    let needed = least_bytes().saturating_add(INPUT_FACTOR.saturating_mul(input_bytes()));
    if needed > limit && !is_publishing {
        let mebibytes = |bytes: u64| bytes.div_ceil(1 << 20);
        let problem =
            format!("the run takes about {} MiB, more memory than is allowed: nothing was written", mebibytes(needed));
        return Err(Failure::usage("--memory", &problem, format!("allow at least {}MiB", mebibytes(needed))));
    }
    // Whatever was not foreseen. The peak and not what is held at the moment: what rose and fell
    // between two looks counts too.
    let most = limit.max(least_bytes());
    std::thread::spawn(move || {
        while peak_bytes().is_none_or(|bytes| bytes <= most) {
            std::thread::sleep(POLL_INTERVAL);
        }
        EXCEEDED.store(true, Ordering::Relaxed);
        interrupt::cancel().cancel();
    });
    Ok(())
}

/// The sizes of the files and folders that the command names, and of what its policies read.
fn input_bytes() -> u64 {
    let mut paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).filter(|path| path.exists()).collect();
    let policies: Vec<PathBuf> =
        paths.iter().filter(|path| path.extension().is_some_and(|end| end == "toml")).cloned().collect();
    for policy in policies {
        let text = std::fs::read_to_string(&policy).unwrap_or_default();
        let source = text
            .lines()
            .find_map(|line| line.trim().strip_prefix("path")?.trim_start().strip_prefix('=')?.split('"').nth(1));
        paths.extend(source.map(|source| policy.parent().unwrap_or(Path::new(".")).join(source)));
    }
    paths.iter().map(|path| size_of(path, 0)).fold(0, u64::saturating_add)
}

/// The bytes of a file, or of the files in a folder and in the folders below it.
fn size_of(path: &Path, depth: usize) -> u64 {
    const DEPTH_MAX: usize = 4;
    match std::fs::metadata(path) {
        Ok(found) if found.is_file() => found.len(),
        Ok(found) if found.is_dir() && depth < DEPTH_MAX => {
            let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
            entries.map(|entry| size_of(&entry.path(), depth + 1)).fold(0, u64::saturating_add)
        }
        _ => 0,
    }
}

/// With less memory than this, the allocator keeps little of what was freed. Below the same limit
/// the library does with less room.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const SHORT_OF_MEMORY: u64 = 512 << 20;

/// Settings that the allocator reads from the environment alone, before anything else runs. One
/// heap for all threads: with a heap for each, memory that one has freed is of no use to the
/// others. And blocks from this size on are the system's again as soon as they are freed: between
/// blocks that stay, they would remain gaps.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MALLOC_SETTINGS: [(&str, &str); 2] = [("MALLOC_ARENA_MAX", "1"), ("MALLOC_MMAP_THRESHOLD_", "1048576")];

/// Starts the command anew with an allocator that keeps little, where memory is short.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn keep_little(talk: &Talk) {
    use std::os::unix::process::CommandExt;
    let is_short = talk.memory.is_some_and(|limit| limit < SHORT_OF_MEMORY);
    let Ok(program) = std::env::current_exe() else { return };
    if is_short && MALLOC_SETTINGS.iter().all(|(name, _)| std::env::var_os(name).is_none()) {
        let mut arguments = std::env::args_os();
        let mut command = std::process::Command::new(program);
        command.arg0(arguments.next().unwrap_or_default()).args(arguments).envs(MALLOC_SETTINGS);
        // Returns only when that fails; then things stay as they are.
        let _ = command.exec();
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn keep_little(_: &Talk) {}

/// A line of the system's account, in bytes.
fn account(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// A size as people write it: `64MiB`, `2GiB`, `500MB`, or bytes.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 7] = [
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
    ];
    let expected = || "expected a size such as 64MiB or 2GiB".to_owned();
    let unit = UNITS.iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?, *unit)));
    let (number, unit) = unit.unwrap_or((text.strip_suffix('B').unwrap_or(text), 1));
    let number: u64 = number.trim().parse().map_err(|_| expected())?;
    number.checked_mul(unit).filter(|bytes| *bytes > 0).ok_or_else(expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        assert_eq!(size("64MiB"), Ok(64 << 20));
        assert_eq!(size("2 GiB"), Ok(2 << 30));
        assert_eq!(size("500MB"), Ok(500_000_000));
        assert_eq!(size("4096"), Ok(4096));
        assert_eq!(size("4096B"), Ok(4096));
        for wrong in ["", "MiB", "-1MiB", "0", "1.5GiB", "64 mb", "99999999999TiB"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_peak_is_at_least_what_is_held() {
        let Some(before) = peak_bytes() else { return };
        let held = vec![1u8; 32 << 20];
        let after = peak_bytes().unwrap();
        assert!(after >= before && after >= held.iter().map(|&byte| u64::from(byte)).sum::<u64>(), "{before} {after}");
    }
}
