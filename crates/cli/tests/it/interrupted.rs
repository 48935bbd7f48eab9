//! Full disks and killed runs: either a release is there and complete, or it is not there.

use std::fs;
#[cfg(target_os = "linux")]
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::metadata::note_skipped;
use crate::running::{Folder, Ran};

/// More than any run here takes, so that nothing can hang.
const PATIENCE: Duration = Duration::from_secs(30);

/// A census large enough that writing it takes a while.
fn with_census(rows: &str) -> Folder {
    let folder = Folder::new();
    let ran = folder.run(&["synth", "census", "--rows", rows, "-o", "census"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    // What is tested here is the writing, so the search may be short.
    let policy = folder.read("census/policy.toml");
    folder.write("census/policy.toml", policy.replace("[publish]", "[publish]\nmax-nodes = 5"));
    folder
}

const PUBLISH: [&str; 4] = ["publish", "census/policy.toml", "-o", "release"];

fn started(folder: &Folder, arguments: &[&str]) -> Child {
    folder.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Waits until the table is being written; false when the run ended before.
fn is_writing(folder: &Folder, run: &mut Child) -> bool {
    let table = folder.path(&format!(".release.partial-{}/data.csv", run.id()));
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if fs::metadata(&table).is_ok_and(|table| table.len() > 0) {
            return true;
        }
        if run.try_wait().unwrap().is_some() {
            return false;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    panic!("nothing was written within {PATIENCE:?}");
}

#[track_caller]
fn is_complete_or_absent(folder: &Folder) -> bool {
    if !folder.path("release").exists() {
        return false;
    }
    let ran = folder.run(&["check", "release"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    true
}

fn seed() -> u64 {
    std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(7)
}

#[test]
fn a_kill_at_any_moment_leaves_a_whole_release_or_none() {
    let folder = with_census("150000");
    let mut rng = StdRng::seed_from_u64(seed());
    let mut cut_short = 0;
    for round in 0..10 {
        let mut run = started(&folder, &PUBLISH);
        // At once, soon, later.
        let delay = Duration::from_micros(rng.random_range(0..=round * 6_000));
        if is_writing(&folder, &mut run) {
            std::thread::sleep(delay);
        }
        run.kill().unwrap();
        run.wait().unwrap();
        if is_complete_or_absent(&folder) {
            fs::remove_dir_all(folder.path("release")).unwrap();
        } else {
            cut_short += 1;
        }
        // What the killed run left is cleared away by the next; there is never more than one.
        assert!(folder.names().len() <= 2, "{:?}", folder.names());
    }
    assert!(cut_short > 0, "no run was killed before its end, seed {}", seed());
    assert_eq!(folder.run(&PUBLISH).code, Some(0));
    assert!(is_complete_or_absent(&folder));
    assert_eq!(folder.names(), ["census", "release"]);
}

/// Whether a run has a temporary file open, which has no name.
#[cfg(target_os = "linux")]
fn is_spilling(run: &Child) -> bool {
    let Ok(open) = fs::read_dir(format!("/proc/{}/fd", run.id())) else { return false };
    let links = open.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    links.map(|link| link.display().to_string()).any(|link| link.contains(".hedgerow-") && link.ends_with("(deleted)"))
}

#[cfg(target_os = "linux")]
#[test]
fn a_kill_while_spilling_leaves_no_temporary_file() {
    let folder = with_census("600000");
    fs::create_dir(folder.path("tmp")).unwrap();
    let mut rng = StdRng::seed_from_u64(seed());
    let arguments = [&PUBLISH[..], &["--memory", "60MiB"]].concat();
    let mut killed = 0;
    for round in 0..6 {
        let mut command = folder.command(&arguments);
        command.env("TMPDIR", folder.path("tmp")).stdout(Stdio::null()).stderr(Stdio::null());
        let mut run = command.spawn().unwrap();
        let start = Instant::now();
        while !is_spilling(&run) && run.try_wait().unwrap().is_none() && start.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_micros(200));
        }
        std::thread::sleep(Duration::from_micros(rng.random_range(0..=round * 60_000)));
        killed += u32::from(is_spilling(&run));
        run.kill().unwrap();
        run.wait().unwrap();
        let left: Vec<_> = fs::read_dir(folder.path("tmp")).unwrap().collect();
        assert!(left.is_empty(), "{left:?}, seed {}", seed());
        if is_complete_or_absent(&folder) {
            fs::remove_dir_all(folder.path("release")).unwrap();
        }
    }
    assert!(killed > 0, "no run was killed while it had a temporary file, seed {}", seed());
    let ran = folder.run(&[&arguments[..], &["--json"]].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let published: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(published["memory"]["spilled_bytes"].as_u64().unwrap() > 0, "{published}");
    assert_eq!(folder.names(), ["census", "release", "tmp"]);
}

#[test]
fn a_kill_while_replacing_leaves_the_old_release_or_the_new() {
    let folder = with_census("100000");
    assert_eq!(folder.run(&PUBLISH).code, Some(0));
    let mut rng = StdRng::seed_from_u64(seed());
    for _ in 0..6 {
        let mut run = started(&folder, &["publish", "census/policy.toml", "-o", "release", "--force"]);
        if is_writing(&folder, &mut run) {
            std::thread::sleep(Duration::from_micros(rng.random_range(0..80_000)));
        }
        run.kill().unwrap();
        run.wait().unwrap();
        // Between two renames the old release may be aside; the next run brings it back.
        if !is_complete_or_absent(&folder) {
            assert!(folder.names().iter().any(|name| name.starts_with(".release.replaced-")), "{:?}", folder.names());
        }
    }
    assert_eq!(folder.run(&["publish", "census/policy.toml", "-o", "release", "--force"]).code, Some(0));
    assert!(is_complete_or_absent(&folder));
    assert_eq!(folder.names(), ["census", "release"]);
}

/// Sending a signal to a run that has just ended fails, and the failure is ignored.
#[cfg(unix)]
fn signal(run: &Child, signal: &str) {
    let _ = Command::new("kill").args([signal, &run.id().to_string()]).stderr(Stdio::null()).status().unwrap();
}

#[cfg(unix)]
#[test]
fn an_interrupt_cleans_up_and_leaves_nothing() {
    let folder = with_census("150000");
    for name in ["-INT", "-TERM", "-HUP"] {
        let mut run = started(&folder, &PUBLISH);
        if is_writing(&folder, &mut run) {
            signal(&run, name);
        }
        let ended = run.wait().unwrap();
        if is_complete_or_absent(&folder) {
            fs::remove_dir_all(folder.path("release")).unwrap();
        } else {
            assert_eq!(ended.code(), Some(1), "{name}");
        }
        assert_eq!(folder.names(), ["census"], "{name}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_search_keeps_the_best_found_when_that_is_requested() {
    let folder = with_census("50000");
    let mut run = started(&folder, &[&PUBLISH[..], &["--on-interrupt", "keep"]].concat());
    let staged = folder.path(&format!(".release.partial-{}", run.id()));
    let start = Instant::now();
    while !staged.exists() && start.elapsed() < PATIENCE && run.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_micros(200));
    }
    signal(&run, "-INT");
    assert_eq!(run.wait().unwrap().code(), Some(0));
    assert!(is_complete_or_absent(&folder));
    assert_eq!(folder.names(), ["census", "release"]);
}

#[test]
fn leftovers_of_a_killed_run_are_removed_by_any_command_in_that_folder() {
    let folder = with_census("150000");
    let mut run = started(&folder, &PUBLISH);
    if is_writing(&folder, &mut run) {
        run.kill().unwrap();
    }
    run.wait().unwrap();
    folder.run(&["check", "census"]);
    assert!(folder.names().iter().all(|name| !name.contains(".partial-")), "{:?}", folder.names());
}

#[cfg(unix)]
#[test]
fn files_that_may_not_grow_leave_nothing_behind() {
    let folder = with_census("20000");
    // Blocks of 512 bytes; without the trap the system ends the run by a signal instead.
    for (trap, code) in [("trap '' XFSZ;", Some(1)), ("", None)] {
        for blocks in ["1", "100", "1000"] {
            let script = format!("ulimit -c 0; ulimit -f {blocks}; {trap} exec \"$0\" \"$@\"");
            let mut command = Command::new("sh");
            command.arg("-c").arg(script).arg(env!("CARGO_BIN_EXE_hedgerow")).args(PUBLISH);
            let ran = Ran::of(command.current_dir(folder.path(".")).output().unwrap());
            assert_eq!(ran.code, code, "{ran:?}");
            assert!(!folder.path("release").exists());
            if code.is_some() {
                assert!(ran.stderr.contains("data.csv"), "{ran:?}");
                assert_eq!(folder.names(), ["census"]);
            }
        }
    }
    assert_eq!(folder.run(&PUBLISH).code, Some(0));
    assert_eq!(folder.names(), ["census", "release"]);
}

/// A file system of a fixed size, where the system lets us have one.
#[cfg(unix)]
struct SmallDisk(std::path::PathBuf);

#[cfg(unix)]
impl SmallDisk {
    fn mounted(place: std::path::PathBuf, size: &str) -> Option<SmallDisk> {
        fs::create_dir(&place).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]).arg(&place).stderr(Stdio::null());
        let is_mounted = mount.status().is_ok_and(|status| status.success());
        if !is_mounted {
            note_skipped("no small disk can be mounted (run the tests as root)");
        }
        is_mounted.then(|| SmallDisk(place))
    }
}

#[cfg(unix)]
impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_nothing_behind() {
    let folder = with_census("20000");
    for size in ["4k", "64k", "512k"] {
        // Without the right to mount, the test above has to do; that it did is noted.
        let Some(disk) = SmallDisk::mounted(folder.path(&format!("disk-{size}")), size) else { return };
        for format in ["csv", "parquet"] {
            let destination = disk.0.join("release");
            let mut command = folder.command(&["publish", "census/policy.toml", "--format", format, "-o"]);
            let ran = Ran::of(command.arg(&destination).output().unwrap());
            let files: Vec<_> = fs::read_dir(&disk.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            if format == "parquet" && ran.code == Some(0) {
                // Compressed, it may fit.
                assert_eq!(files, ["release"]);
                fs::remove_dir_all(&destination).unwrap();
                continue;
            }
            assert_eq!(ran.code, Some(1), "{size} {format}: {ran:?}");
            assert!(ran.stderr.contains("No space left"), "{size} {format}: {ran:?}");
            assert!(files.is_empty(), "{size} {format}: {files:?}");
        }
    }
}

/// The list of a catalog that may not grow: the release would be out, and the next one would not be
/// audited with it.
#[cfg(unix)]
#[test]
fn a_release_that_the_catalog_cannot_list_is_not_published() {
    let folder = Folder::with_people();
    let publish = ["publish", "policy.toml", "-o", "second", "--catalog", "catalog"];
    let ran = folder.run(&["publish", "policy.toml", "-o", "first", "--catalog", "catalog"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    // Longer than all files of the release together, and than a file may be.
    let list = folder.read("catalog/catalog.json").replace("null", &format!("\"{}\"", "x".repeat(60_000)));
    folder.write("catalog/catalog.json", &list);
    let before = folder.names();
    let script = "ulimit -c 0; ulimit -f 100; trap '' XFSZ; exec \"$0\" \"$@\"";
    let mut command = Command::new("sh");
    command.arg("-c").arg(script).arg(env!("CARGO_BIN_EXE_hedgerow")).args(publish);
    let ran = Ran::of(command.current_dir(folder.path(".")).output().unwrap());
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("catalog.json") && ran.stderr.contains("nothing was published"), "{ran:?}");
    let cataloged = |folder: &Folder| {
        let mut names: Vec<_> =
            fs::read_dir(folder.path("catalog")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort_unstable();
        names
    };
    assert_eq!((folder.names(), folder.read("catalog/catalog.json") == list), (before, true), "{ran:?}");
    assert_eq!(cataloged(&folder), ["catalog.json", "first"]);
    let ran = folder.run(&publish);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(cataloged(&folder), ["catalog.json", "first", "second"]);
    assert_eq!(folder.run(&["check", "second"]).code, Some(0));
}

#[cfg(unix)]
#[test]
fn a_catalog_on_a_full_disk_leaves_no_release() {
    let folder = Folder::with_people();
    let Some(disk) = SmallDisk::mounted(folder.path("disk"), "4k") else { return };
    let catalog = disk.0.join("catalog").display().to_string();
    let ran = folder.run(&["publish", "policy.toml", "-o", "release", "--catalog", &catalog]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("No space left") && ran.stderr.contains("nothing was published"), "{ran:?}");
    assert!(!folder.path("release").exists() && !folder.path("disk/catalog").exists(), "{:?}", folder.names());
}

/// Where the release cannot be moved into place, the catalog does not list it either.
#[cfg(unix)]
#[test]
fn a_release_that_cannot_be_placed_is_not_listed() {
    let folder = Folder::with_people();
    assert_eq!(folder.run(&["publish", "policy.toml", "-o", "first", "--catalog", "catalog"]).code, Some(0));
    let list = folder.read("catalog/catalog.json");
    // Something comes to be at the destination while the release is made: nothing replaces it.
    let mut run = folder.command(&["publish", "policy.toml", "-o", "second", "--catalog", "catalog"]);
    let mut run = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let staged = folder.path(&format!(".second.partial-{}", run.id()));
    let start = Instant::now();
    while !staged.exists() && start.elapsed() < PATIENCE && run.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_micros(50));
    }
    folder.write("second/notes.txt", "of another program");
    let code = run.wait().unwrap().code();
    if code == Some(0) {
        // It was faster.
        return;
    }
    assert_eq!((code, folder.read("catalog/catalog.json")), (Some(1), list));
    assert!(!folder.path("catalog/second").exists());
    assert_eq!(folder.read("second/notes.txt"), "of another program");
}

#[cfg(target_os = "linux")]
#[test]
fn temporary_folders_of_a_killed_run_are_removed_by_the_next() {
    let folder = with_census("150000");
    fs::create_dir(folder.path("tmp")).unwrap();
    let command = |arguments: &[&str]| {
        let mut command = folder.command(arguments);
        command.env("TMPDIR", folder.path("tmp")).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let count = || fs::read_dir(folder.path("tmp")).unwrap().count();
    let mut run = command(&["publish", "census/policy.toml", "-o", "sqlite:release.db"]).spawn().unwrap();
    let start = Instant::now();
    while count() == 0 && start.elapsed() < PATIENCE && run.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_micros(200));
    }
    // The folder of a process that runs stays.
    command(&["check", "census"]).status().unwrap();
    let running = count();
    run.kill().unwrap();
    run.wait().unwrap();
    assert_eq!((running, count()), (1, 1), "the run ended before it was killed");
    fs::create_dir(folder.path("tmp/hedgerow-notes")).unwrap();
    command(&["check", "census"]).status().unwrap();
    let left: Vec<_> = fs::read_dir(folder.path("tmp")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["hedgerow-notes"]);
}

/// Every file below a folder, by its path there.
#[cfg(target_os = "linux")]
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).map(|entries| entries.flatten().collect::<Vec<_>>()).unwrap_or_default();
    let below = entries.into_iter().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        below.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect();
    files.sort_unstable();
    files
}

#[cfg(target_os = "linux")]
#[test]
fn a_killed_synth_leaves_no_part_of_a_file() {
    for what in ["census", "taxes"] {
        let folder = Folder::new();
        let made = folder.path("made");
        let synth = |rows: &'static str| ["synth", what, "--rows", rows, "-o", "made", "-q"];
        let mut run = started(&folder, &synth("30000000"));
        let start = Instant::now();
        let is_large = |path: &PathBuf| fs::metadata(path).is_ok_and(|found| found.len() > 1 << 20);
        while !files_below(&made).iter().any(is_large) && start.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(1));
        }
        run.kill().unwrap();
        run.wait().unwrap();
        let is_named = |path: &PathBuf| !path.file_name().unwrap().to_string_lossy().starts_with('.');
        let left = files_below(&made);
        assert!(left.iter().any(is_large) && !left.iter().any(is_named), "{what}: {left:?}");
        // The next one has the place to itself.
        let ran = folder.run(&synth("100"));
        assert_eq!(ran.code, Some(0), "{what}: {ran:?}");
        let left = files_below(&made);
        assert!(left.iter().all(is_named) && !left.iter().any(is_large), "{what}: {left:?}");
        assert_eq!(folder.read(&format!("made/{what}.csv")).lines().count(), 101, "{what}");
    }
}

/// A release, and a table of few rows: a draft of many would mostly be a search.
#[cfg(unix)]
fn with_release() -> Folder {
    let folder = with_census("3000");
    assert_eq!(folder.run(&PUBLISH).code, Some(0));
    let few: String = folder.read("census/census.csv").split_inclusive('\n').take(101).collect();
    folder.write("few.csv", few);
    folder
}

/// The files of each command, and their place on a small disk.
#[cfg(unix)]
fn writing_commands(disk: &str) -> Vec<(&'static str, Vec<String>)> {
    let line = |words: &[&str]| words.iter().map(|word| word.replace("DISK", disk)).collect::<Vec<String>>();
    vec![
        ("init", line(&["init", "few.csv", "-o", "DISK/draft.toml"])),
        ("report", line(&["report", "release", "-o", "DISK/r.html"])),
        ("catalog add", line(&["catalog", "add", "DISK/catalog", "release"])),
        ("publish", line(&["publish", "census/policy.toml", "-o", "DISK/other"])),
        ("synth", line(&["synth", "census", "--rows", "20000", "-o", "DISK/synth"])),
        ("synth of one file", line(&["synth", "hospital", "--rows", "500", "-o", "DISK/hospital"])),
    ]
}

#[cfg(unix)]
#[test]
fn no_command_leaves_anything_on_a_full_disk_or_blames_another_file() {
    let folder = with_release();
    let Some(disk) = SmallDisk::mounted(folder.path("disk"), "4k") else { return };
    let place = disk.0.display().to_string();
    for (name, arguments) in writing_commands(&place) {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let ran = folder.run(&arguments);
        let left: Vec<_> = fs::read_dir(&disk.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        if ran.code == Some(0) {
            // Nothing of it was too large.
            left.iter().for_each(|name| {
                drop(fs::remove_file(disk.0.join(name)).or_else(|_| fs::remove_dir_all(disk.0.join(name))))
            });
            continue;
        }
        assert_eq!(ran.code, Some(1), "{name}: {ran:?}");
        assert!(ran.stderr.contains("No space left") && ran.stderr.contains("disk"), "{name}: {ran:?}");
        assert!(left.is_empty(), "{name}: {left:?}");
        assert!(!ran.stderr.contains("release/data.csv: "), "{name} blames what it reads: {ran:?}");
    }
}

/// The same where files may not grow, which needs no right to mount.
#[cfg(unix)]
#[test]
fn no_command_leaves_anything_where_files_may_not_grow() {
    let folder = with_release();
    let before = folder.names();
    let mut refused = 0;
    for (name, arguments) in writing_commands(".") {
        // Blocks of 512 bytes.
        let script = "ulimit -c 0; ulimit -f 1; trap '' XFSZ; exec \"$0\" \"$@\"";
        let mut command = Command::new("sh");
        command.arg("-c").arg(script).arg(env!("CARGO_BIN_EXE_hedgerow")).args(arguments);
        let ran = Ran::of(command.current_dir(folder.path(".")).output().unwrap());
        assert_eq!(ran.code, Some(1), "{name}: {ran:?}");
        assert_eq!(folder.names(), before, "{name}: {ran:?}");
        refused += 1;
    }
    assert_eq!(refused, 6);
}
