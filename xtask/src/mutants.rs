//! `cargo xtask mutants`: makes one mistake after the other in the code, and sees a test fail for
//! each. A mistake that no test notices is a survivor, and fails the command.
//!
//! It takes long, since every mistake is compiled: it runs on request and not with the other
//! checks. Files are put back afterwards; it refuses to start where changes are not committed.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::repo;

mod list;
mod worlds;

/// One mistake: a text of a file that stands there once, what takes its place, and the tests that
/// must notice.
pub(crate) struct Mutant {
    pub(crate) name: &'static str,
    pub(crate) file: &'static str,
    pub(crate) find: &'static str,
    pub(crate) replace: &'static str,
    /// The arguments of `cargo test`.
    pub(crate) tests: &'static [&'static str],
}

/// Runs all mutants, or those whose name contains one of the words.
pub(crate) fn run(words: &[String]) -> Result<(), String> {
    let root = &repo::root();
    let status = Command::new("git").args(["status", "--porcelain"]).current_dir(root).output();
    let status = status.map_err(|error| format!("git: {error}"))?;
    if !status.stdout.is_empty() {
        return Err("uncommitted changes: commit them first, since files are changed and put back".to_owned());
    }
    let chosen = |mutant: &&Mutant| words.is_empty() || words.iter().any(|word| mutant.name.contains(word.as_str()));
    let (mut killed, mut survivors, mut unmade) = (0, Vec::new(), Vec::new());
    for mutant in mutants().filter(chosen) {
        match try_one(root, mutant) {
            Ok(Outcome::Passed) => {
                println!("SURVIVED {}", mutant.name);
                survivors.push(mutant.name);
            }
            Ok(Outcome::Failed(tests)) => {
                println!("killed   {}: {}", mutant.name, tests.join(", "));
                killed += 1;
            }
            Err(problem) => {
                println!("UNMADE   {problem}");
                unmade.push(mutant.name);
            }
        }
    }
    println!("{killed} killed, {} survived, {} could not be made", survivors.len(), unmade.len());
    match (survivors.is_empty(), unmade.is_empty()) {
        (true, true) => Ok(()),
        (false, _) => Err(format!("no test notices: {}", survivors.join(", "))),
        (true, false) => Err(format!("could not be made: {}", unmade.join(", "))),
    }
}

fn mutants() -> impl Iterator<Item = &'static Mutant> {
    list::MUTANTS.iter().chain(worlds::MUTANTS)
}

/// The verdict of the tests on a mistake.
enum Outcome {
    Passed,
    /// The tests that failed: they show whether it was noticed for what it is.
    Failed(Vec<String>),
}

/// Puts a file back, whatever happens.
struct Restored<'a>(&'a Path, String);

impl Drop for Restored<'_> {
    fn drop(&mut self) {
        if let Err(error) = std::fs::write(self.0, &self.1) {
            eprintln!("{}: could not be put back ({error}): `git checkout` it", self.0.display());
        }
    }
}

fn try_one(root: &Path, mutant: &Mutant) -> Result<Outcome, String> {
    let path = root.join(mutant.file);
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let changed = mutated(&text, mutant)?;
    let _restored = Restored(&path, text);
    std::fs::write(&path, changed).map_err(|error| format!("{}: {error}", path.display()))?;
    let cargo = |more: &[&str]| {
        let arguments = ["test", "--quiet"].iter().chain(mutant.tests.iter().take_while(|word| **word != "--"));
        let mut command = repo::cargo();
        command.args(arguments).args(more);
        command
    };
    let built = cargo(&["--no-run"]).stdout(Stdio::null()).status().map_err(|error| format!("cargo: {error}"))?;
    if !built.success() {
        return Err(format!("{}: the mistake does not compile", mutant.name));
    }
    let rest: Vec<&str> = mutant.tests.iter().skip_while(|word| **word != "--").copied().collect();
    let ran = cargo(&rest).stderr(Stdio::null()).output().map_err(|error| format!("cargo: {error}"))?;
    if ran.status.success() {
        return Ok(Outcome::Passed);
    }
    Ok(Outcome::Failed(failed_tests(&String::from_utf8_lossy(&ran.stdout))))
}

/// The names that a test program lists at its end, below the second `failures:`.
fn failed_tests(printed: &str) -> Vec<String> {
    let listed = printed.rsplit("\nfailures:\n").next().unwrap_or_default();
    listed.lines().map_while(|line| line.strip_prefix("    ")).map(str::to_owned).collect()
}

fn mutated(text: &str, mutant: &Mutant) -> Result<String, String> {
    match text.matches(mutant.find).count() {
        1 => Ok(text.replacen(mutant.find, mutant.replace, 1)),
        found => Err(format!("{}: its text is {found} times in {}, and must be there once", mutant.name, mutant.file)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_tests_are_named() {
        let printed = "running 2 tests\n\nfailures:\n\n---- a::b stdout ----\nfailures: none\n\n\nfailures:\n    a::b\n    a::c\n\n\
                       test result: FAILED. 1 passed; 2 failed\n";
        assert_eq!(failed_tests(printed), ["a::b", "a::c"]);
        assert_eq!(failed_tests("running 1 test\n"), [""; 0]);
    }

    #[test]
    fn every_mistake_can_be_made_and_is_one() {
        let root = repo::root();
        let mut names: Vec<&str> = mutants().map(|mutant| mutant.name).collect();
        for mutant in mutants() {
            let text = std::fs::read_to_string(root.join(mutant.file)).unwrap();
            let changed = mutated(&text, mutant).unwrap_or_else(|problem| panic!("{problem}"));
            assert_ne!(changed, text, "{}", mutant.name);
        }
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "two mistakes have one name");
    }
}
