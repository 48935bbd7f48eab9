//! `cargo xtask bench --peers`: our time and result beside those of other programs, on the same
//! file in the same run, and the physical floor: reading the bytes, one sort, one `GROUP BY`.
//!
//! The others (anonypy, anjana, pycanon, DuckDB) are installed into a virtual environment that is
//! removed again. Their times are without start-up and imports; ours are of the whole process.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::repo;

const PACKAGES: [&str; 4] = ["anonypy", "pycanon", "anjana", "duckdb"];

/// Runs one peer and prints its seconds and what it found.
const SCRIPT: &str = include_str!("peers.py");

/// A program that takes longer is stopped and reported.
const PATIENCE: Duration = Duration::from_secs(600);

/// Adult, with the eight quasi-identifiers that the script names.
const ATTRIBUTES: &str = r#"[source]
path = "adult.csv"
[attributes]
sex = { role = "quasi", hierarchy = "hierarchies/sex.csv" }
age = { role = "quasi", hierarchy = "hierarchies/age.csv" }
race = { role = "quasi", hierarchy = "hierarchies/race.csv" }
marital-status = { role = "quasi", hierarchy = "hierarchies/marital-status.csv" }
education = { role = "quasi", hierarchy = "hierarchies/education.csv" }
native-country = { role = "quasi", hierarchy = "hierarchies/native-country.csv" }
workclass = { role = "quasi", hierarchy = "hierarchies/workclass.csv" }
occupation = { role = "quasi", hierarchy = "hierarchies/occupation.csv" }
salary-class = { role = "sensitive" }
[[rule]]
require = { model = "k-anonymity", k = 5 }
[publish]
"#;

pub(crate) fn run() -> Result<(), String> {
    let folder = std::env::temp_dir().join(format!("hedgerow-peers-{}", std::process::id()));
    std::fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let outcome = Peers { folder: folder.clone() }.all();
    let removed = std::fs::remove_dir_all(&folder);
    outcome.and(removed.map_err(|error| format!("{}: {error}", folder.display())))
}

struct Peers {
    folder: PathBuf,
}

impl Peers {
    fn all(&self) -> Result<(), String> {
        let hedgerow = built()?;
        self.install()?;
        self.prepare()?;
        println!("UCI Adult, 30,162 rows, eight quasi-identifiers, k = 5; seconds\n");
        println!("{:44} {:22} {:>9}  found", "task", "program", "seconds");
        self.publish(&hedgerow, "classes by Mondrian", "method = \"mondrian\"\n")?;
        self.peer("classes by Mondrian", "anonypy", "adult.csv")?;
        let full = "method = \"full-domain\"\nsuppression = 0.02\n";
        self.publish(&hedgerow, "full-domain, at most 2 % suppressed", full)?;
        self.peer("full-domain, at most 2 % suppressed", "anjana", "adult.csv")?;
        self.check(&hedgerow, "k of the release above")?;
        self.peer("k of the release above", "pycanon", "release/data.csv")?;
        self.install_ours()?;
        self.peer("nine measures of a frame", "hedgerow-measures", "adult.csv")?;
        self.peer("nine measures of a frame", "pycanon-measures", "adult.csv")?;
        self.peer("floor: the bytes read", "read", "adult.csv")?;
        self.peer("floor: one sort (DuckDB, in memory)", "sort", "adult.csv")?;
        self.peer("floor: one GROUP BY (DuckDB, in memory)", "group", "adult.csv")
    }

    fn python(&self) -> PathBuf {
        self.folder.join("python/bin/python")
    }

    fn install(&self) -> Result<(), String> {
        let made = Command::new("python3").args(["-m", "venv"]).arg(self.folder.join("python")).status();
        if !made.is_ok_and(|status| status.success()) {
            return Err("`python3 -m venv` fails; Python 3 with venv is needed".to_owned());
        }
        let installed = Command::new(self.python()).args(["-m", "pip", "install", "--quiet"]).args(PACKAGES).status();
        if !installed.is_ok_and(|status| status.success()) {
            return Err(format!("pip could not install {}; is there a network?", PACKAGES.join(", ")));
        }
        let listed = Command::new(self.python()).args(["-m", "pip", "list", "--format=freeze"]).output();
        let listed = listed.map_err(|error| error.to_string())?;
        let versions = String::from_utf8_lossy(&listed.stdout);
        let ours = versions.lines().filter(|line| PACKAGES.iter().any(|name| line.starts_with(&format!("{name}=="))));
        println!("{}", ours.collect::<Vec<_>>().join(", "));
        Ok(())
    }

    /// Our package for Python beside the others, with what it needs for frames of pandas.
    fn install_ours(&self) -> Result<(), String> {
        let package = format!("{}[pandas]", repo::root().join("python").display());
        let mut install = Command::new(self.python());
        install.args(["-m", "pip", "install", "--quiet"]).arg(package).env("CARGO_TARGET_DIR", target());
        match install.status() {
            Ok(status) if status.success() => Ok(()),
            _ => Err("pip could not build and install ./python".to_owned()),
        }
    }

    /// The same plain file for every program, with its hierarchies.
    fn prepare(&self) -> Result<(), String> {
        let adult = repo::root().join("examples/adult");
        let unpack = "import gzip, shutil, sys; shutil.copyfileobj(gzip.open(sys.argv[1]), open(sys.argv[2], 'wb'))";
        let unpacked = Command::new(self.python())
            .args(["-c", unpack])
            .arg(adult.join("adult.csv.gz"))
            .arg(self.folder.join("adult.csv"))
            .status();
        if !unpacked.is_ok_and(|status| status.success()) {
            return Err("examples/adult/adult.csv.gz could not be unpacked".to_owned());
        }
        let failed = |error: std::io::Error| error.to_string();
        std::fs::create_dir(self.folder.join("hierarchies")).map_err(failed)?;
        for file in std::fs::read_dir(adult.join("hierarchies")).map_err(failed)? {
            let file = file.map_err(failed)?;
            std::fs::copy(file.path(), self.folder.join("hierarchies").join(file.file_name())).map_err(failed)?;
        }
        std::fs::write(self.folder.join("peers.py"), SCRIPT).map_err(failed)
    }

    fn publish(&self, hedgerow: &Path, task: &str, settings: &str) -> Result<(), String> {
        let policy = self.folder.join("policy.toml");
        std::fs::write(&policy, format!("{ATTRIBUTES}{settings}")).map_err(|error| error.to_string())?;
        let mut command = Command::new(hedgerow);
        command.args(["publish", "--quiet", "--json", "--force", "-o"]).arg(self.folder.join("release")).arg(policy);
        let (seconds, printed) = timed(&mut command)?;
        let printed: Value = serde_json::from_str(&printed).map_err(|error| error.to_string())?;
        row(task, "hedgerow", seconds, &published(&printed));
        Ok(())
    }

    fn check(&self, hedgerow: &Path, task: &str) -> Result<(), String> {
        let mut command = Command::new(hedgerow);
        command.args(["check", "--json"]).arg(self.folder.join("release"));
        let (seconds, printed) = timed(&mut command)?;
        let printed: Value = serde_json::from_str(&printed).map_err(|error| error.to_string())?;
        row(task, "hedgerow", seconds, &format!("k = {}", printed["guarantees"][0]["achieved"]["k"]));
        Ok(())
    }

    fn peer(&self, task: &str, peer: &str, file: &str) -> Result<(), String> {
        let mut command = Command::new(self.python());
        command.current_dir(&self.folder).arg("peers.py").arg(peer).arg(self.folder.join(file)).arg("hierarchies");
        match bounded(&mut command, PATIENCE)? {
            Some(printed) => {
                let printed: Value = serde_json::from_str(&printed).map_err(|error| format!("{peer}: {error}"))?;
                let seconds = printed["seconds"].as_f64().unwrap_or(f64::NAN);
                row(task, peer, seconds, printed["found"].as_str().unwrap_or_default());
            }
            None => println!("{task:44} {peer:22} {:>9}  stopped", format!("> {}", PATIENCE.as_secs())),
        }
        Ok(())
    }
}

fn row(task: &str, program: &str, seconds: f64, found: &str) {
    println!("{task:44} {program:22} {seconds:>9.3}  {found}");
}

/// The classes in the output of `publish --json`.
fn published(printed: &Value) -> String {
    let (classes, rows) = (&printed["classes"]["count"], &printed["rows"]);
    let k = &printed["guarantees"][0]["achieved"]["k"];
    format!("{classes} classes, k = {k}, {} rows, {} suppressed", rows["out"], rows["suppressed"])
}

/// The command, built as users have it.
fn built() -> Result<PathBuf, String> {
    let built = repo::cargo().args(["build", "--release", "--package", "hedgerow-cli"]).status();
    if !built.is_ok_and(|status| status.success()) {
        return Err("the command could not be built".to_owned());
    }
    Ok(target().join("release/hedgerow"))
}

fn target() -> PathBuf {
    repo::root().join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

fn timed(command: &mut Command) -> Result<(f64, String), String> {
    let started = Instant::now();
    let output = command.output().map_err(|error| error.to_string())?;
    let seconds = started.elapsed().as_secs_f64();
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok((seconds, String::from_utf8_lossy(&output.stdout).into_owned()))
}

/// The last line of a program's output, unless it takes too long.
fn bounded(command: &mut Command, patience: Duration) -> Result<Option<String>, String> {
    let started = Instant::now();
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().map_err(|error| error.to_string())?;
    loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            let output = child.wait_with_output().map_err(|error| error.to_string())?;
            let printed = String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or_default().to_owned();
            return if status.success() { Ok(Some(printed)) } else { Err(format!("{command:?} ended with {status}")) };
        }
        if started.elapsed() > patience {
            child.kill().and_then(|()| child.wait()).map_err(|error| error.to_string())?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_takes_too_long_is_stopped() {
        let started = Instant::now();
        let stopped = bounded(Command::new("sleep").arg("60"), Duration::from_millis(100)).unwrap();
        assert_eq!(stopped, None);
        assert!(started.elapsed() < Duration::from_secs(30));
        assert_eq!(bounded(Command::new("echo").arg("a\nb"), Duration::from_secs(30)).unwrap(), Some("b".to_owned()));
        assert!(bounded(&mut Command::new("false"), Duration::from_secs(30)).unwrap_err().contains("ended with"));
    }

    #[test]
    fn a_publication_is_summed_up_like_a_peer() {
        let printed = serde_json::json!({
            "classes": { "count": 7 },
            "rows": { "out": 90, "suppressed": 10 },
            "guarantees": [{ "achieved": { "k": 5 } }],
        });
        assert_eq!(published(&printed), "7 classes, k = 5, 90 rows, 10 suppressed");
    }
}
