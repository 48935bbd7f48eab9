//! Test programs next to each other. Many wait for servers, browsers and disks more than they
//! compute, so one after the other they leave processors idle.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde_json::Value;

use crate::repo;
use crate::slowest::{self, TestTime};

/// The fewest programs at once: one that computes beside one that waits.
const LANES_MIN: usize = 2;

/// The file in the target folder in which the seconds of each program are kept, so that the next
/// run starts with the longest.
const TIMES: &str = "test-seconds.json";

/// A program of tests, and how to start it.
pub(crate) struct Tests {
    /// As `crates/audit it`: where its package is, and the name of the target.
    pub(crate) name: String,
    words: Vec<OsString>,
    /// One that was compiled from tests, not a command of another kind.
    is_program: bool,
    folder: PathBuf,
    variables: Vec<(OsString, OsString)>,
}

impl Tests {
    /// A command that is run in the root of the repository.
    pub(crate) fn of_command(name: &str, command: &Command) -> Tests {
        let words = std::iter::once(command.get_program()).chain(command.get_args()).map(OsString::from).collect();
        let variables = command.get_envs().filter_map(|(name, value)| Some((name.into(), value?.into()))).collect();
        Tests { name: name.to_owned(), words, is_program: false, folder: repo::root(), variables }
    }

    /// The programs that Cargo lists as built with `--message-format=json`, each started with a
    /// variable.
    pub(crate) fn listed(messages: &str, (variable, value): (&str, &Path)) -> Result<Vec<Tests>, String> {
        let mut all = Vec::new();
        for line in messages.lines().filter(|line| line.starts_with('{')) {
            let message: Value = serde_json::from_str(line).map_err(|error| format!("a message of cargo: {error}"))?;
            let is_test = message["profile"]["test"] == true;
            let (Some(program), Some(manifest), true) =
                (message["executable"].as_str(), message["manifest_path"].as_str(), is_test)
            else {
                continue;
            };
            let folder = Path::new(manifest).parent().unwrap_or(Path::new(".")).to_path_buf();
            let package = folder.strip_prefix(repo::root()).unwrap_or(&folder).display().to_string();
            let target = message["target"]["name"].as_str().unwrap_or_default();
            let (timed, on) = slowest::TIMED_VARIABLE;
            let manifest = ("CARGO_MANIFEST_DIR".into(), folder.clone().into());
            let variables = vec![(variable.into(), value.into()), manifest, (timed.into(), on.into())];
            let words = std::iter::once(program).chain(slowest::TIMED).map(OsString::from).collect();
            let name = format!("{package} {target}");
            all.push(Tests { name, words, is_program: true, folder, variables });
        }
        Ok(all)
    }

    fn run(&self) -> Result<Ran, String> {
        let start = Instant::now();
        let file = self.is_program.then(|| std::env::temp_dir().join(format!("hedgerow-times-{}", unique())));
        let words = file.as_ref().map_or(self.words.clone(), |file| slowest::with_processor_time(&self.words, file));
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).current_dir(&self.folder).stdin(Stdio::null());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        let output = command.output().map_err(|cause| format!("{} could not be started: {cause}", self.name))?;
        let taken = start.elapsed().as_secs_f64();
        let times = file.map(|file| (std::fs::read_to_string(&file), std::fs::remove_file(file)).0);
        let processor = times.and_then(Result::ok).and_then(|times| slowest::processor_seconds(&times));
        Ok(Ran { tests: slowest::read(&self.name, &output.stdout), output, taken, processor })
    }
}

/// The output of a program, and its seconds.
struct Ran {
    output: Output,
    tests: Vec<TestTime>,
    taken: f64,
    /// With the processes that it waited for; unknown without a shell.
    processor: Option<f64>,
}

/// A name that no other run has.
fn unique() -> String {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    format!("{}-{}", std::process::id(), RUNS.fetch_add(1, Ordering::Relaxed))
}

/// The programs that failed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Failed {
    pub(crate) alone: Vec<String>,
    /// They passed when nothing else ran: a limit in time was too short for a busy machine.
    pub(crate) beside_others: Vec<String>,
}

/// Runs all, longest first, and prints what each printed once it has ended. What fails beside
/// others is run again alone.
pub(crate) fn run(tests: Vec<Tests>, target: &Path) -> Result<Failed, String> {
    let times = target.join(TIMES);
    let known = read_times(&times);
    let lanes = std::thread::available_parallelism().map_or(1, usize::from).max(LANES_MIN);
    let queue = Mutex::new(longest_first(tests, &known));
    let taken = Mutex::new(BTreeMap::new());
    let slow = Mutex::new(Vec::new());
    let failed = Mutex::new(Vec::new());
    let problems = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..lanes {
            scope.spawn(|| {
                loop {
                    let Some(next) = queue.lock().ok().and_then(|mut queue| queue.pop_front()) else { return };
                    match next.run() {
                        Ok(mut ran) => {
                            print(&next, &ran);
                            locked(&taken, |taken| {
                                taken.insert(next.name.clone(), ran.taken);
                            });
                            locked(&slow, |slow| slow.append(&mut ran.tests));
                            if !ran.output.status.success() {
                                locked(&failed, |failed| failed.push(next));
                            }
                        }
                        Err(problem) => locked(&problems, |problems| problems.push(problem)),
                    }
                }
            });
        }
    });
    if let Some(problem) = problems.into_inner().unwrap_or_default().first() {
        return Err(problem.clone());
    }
    let taken = taken.into_inner().unwrap_or_default();
    // Only a guess for the next run.
    let _ = std::fs::write(&times, serde_json::to_string_pretty(&taken).unwrap_or_default());
    let mut outcome = Failed::default();
    for tests in failed.into_inner().unwrap_or_default() {
        println!("== again, alone: {}", tests.name);
        let ran = tests.run()?;
        print(&tests, &ran);
        let list = if ran.output.status.success() { &mut outcome.beside_others } else { &mut outcome.alone };
        list.push(tests.name);
    }
    print!("{}", slowest::listed(slow.into_inner().unwrap_or_default()));
    Ok(outcome)
}

fn locked<T>(shared: &Mutex<T>, change: impl FnOnce(&mut T)) {
    if let Ok(mut held) = shared.lock() {
        change(&mut held);
    }
}

/// Prints the output of one program in one piece.
fn print(tests: &Tests, ran: &Ran) {
    let processor = ran.processor.map_or(String::new(), |seconds| format!(", {seconds:.1} s of processor time"));
    let mut text = format!("     Running {} ({:.1} s{processor})\n", tests.name, ran.taken).into_bytes();
    text.extend_from_slice(&ran.output.stdout);
    text.extend_from_slice(&ran.output.stderr);
    // A closed output does not stop the tests.
    let _ = std::io::stdout().lock().write_all(&text);
}

fn read_times(path: &Path) -> BTreeMap<String, f64> {
    std::fs::read_to_string(path).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// Those without a time may be long, so they come first.
fn longest_first(mut tests: Vec<Tests>, known: &BTreeMap<String, f64>) -> VecDeque<Tests> {
    let time = |tests: &Tests| known.get(&tests.name).copied().unwrap_or(f64::MAX);
    tests.sort_by(|one, other| time(other).total_cmp(&time(one)));
    tests.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(name: &str, script: &str) -> Tests {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Tests::of_command(name, &command)
    }

    #[test]
    fn programs_that_fail_are_run_again_alone() {
        let target = std::env::temp_dir().join(format!("hedgerow-lanes-{}", std::process::id()));
        std::fs::create_dir_all(&target).unwrap();
        let once = target.join("once");
        let script = format!("test -e {0} || {{ touch {0}; false; }}", once.display());
        let tests = vec![shell("good", "true"), shell("bad", "exit 3"), shell("slow machine", &script)];
        let failed = run(tests, &target).unwrap();
        let times = read_times(&target.join(TIMES));
        std::fs::remove_dir_all(&target).unwrap();
        assert_eq!(failed.alone, ["bad"]);
        assert_eq!(failed.beside_others, ["slow machine"]);
        assert_eq!(times.keys().collect::<Vec<_>>(), ["bad", "good", "slow machine"]);
        let absent = Tests::of_command("absent", &Command::new("no-such-program"));
        assert!(run(vec![absent], Path::new("/nowhere")).unwrap_err().contains("absent could not be started"));
    }

    #[test]
    fn the_longest_start_first_and_those_without_a_time_before_them() {
        let known = [("a".to_owned(), 1.0), ("b".to_owned(), 9.0)].into();
        let order = longest_first(vec![shell("a", ""), shell("b", ""), shell("new", "")], &known);
        assert_eq!(order.iter().map(|tests| tests.name.as_str()).collect::<Vec<_>>(), ["new", "b", "a"]);
    }

    #[test]
    fn programs_are_read_from_the_messages_of_cargo() {
        let manifest = repo::root().join("crates/audit/Cargo.toml").display().to_string();
        let line = |test: bool, program: &str| {
            serde_json::json!({ "reason": "compiler-artifact", "manifest_path": manifest, "target": { "name": "it" },
                "profile": { "test": test }, "executable": program })
        };
        let messages =
            format!("{}\n{}\nno message\n{{\"reason\":\"build-finished\"}}\n", line(true, "/t"), line(false, "/b"));
        let listed = Tests::listed(&messages, ("NOTES", Path::new("/notes"))).unwrap();
        assert_eq!(listed.iter().map(|tests| tests.name.as_str()).collect::<Vec<_>>(), ["crates/audit it"]);
        assert_eq!(listed[0].folder, repo::root().join("crates/audit"));
        assert!(listed[0].variables.contains(&("NOTES".into(), "/notes".into())));
        assert_eq!(listed[0].words[0], "/t");
        assert!(Tests::listed("{nothing", ("NOTES", Path::new("/notes"))).is_err());
    }
}
