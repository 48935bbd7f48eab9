//! Runs the command as a user does, in a folder of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// In memory where the system offers it: hundreds of releases are written and flushed here.
pub(crate) fn scratch() -> TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.or_else(|_| tempfile::tempdir()).unwrap()
}

pub(crate) fn hedgerow() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hedgerow"));
    command.env_remove("HEDGEROW_SEED");
    command
}

/// `examples` of the repository.
pub(crate) fn example(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(path)
}

/// A folder of its own, removed at the end.
pub(crate) struct Folder {
    root: TempDir,
}

/// The output of a run and how it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    /// `None` when a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder { root: scratch() }
    }

    /// With the files of an example.
    pub(crate) fn of_example(name: &str) -> Folder {
        let folder = Folder::new();
        for found in std::fs::read_dir(example(name)).unwrap() {
            let path = found.unwrap().path();
            if path.is_file() {
                folder.write(path.file_name().unwrap().to_str().unwrap(), std::fs::read(&path).unwrap());
            }
        }
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Everything in it, hidden files too, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.root.path()).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The command, in this folder.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = hedgerow();
        command.args(arguments).current_dir(self.root.path());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).output().unwrap())
    }

    /// A release of twelve people, every label seen by four or more.
    pub(crate) fn with_release(name: &str) -> Folder {
        let folder = Folder::with_people();
        let ran = folder.run(&["publish", "policy.toml", "-o", name, "--seed", "1"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        folder
    }

    pub(crate) fn with_people() -> Folder {
        let folder = Folder::new();
        folder.write("people.csv", PEOPLE);
        folder.write("city.csv", "Aa;North;*\nBb;North;*\nCc;South;*\n");
        folder.write("policy.toml", POLICY);
        folder
    }
}

impl Ran {
    pub(crate) fn of(output: Output) -> Ran {
        Ran {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

pub(crate) const PEOPLE: &str = "name,age,city,illness
Ann,21,Aa,Flu
Bob,22,Aa,Cough
Cid,23,Bb,Flu
Dot,24,Bb,Ache
Eve,31,Cc,Flu
Fay,32,Cc,Cough
Gus,33,Cc,Ache
Hal,34,Cc,Flu
Ida,35,Aa,Cough
Jim,36,Aa,Flu
Kay,37,Bb,Ache
Lou,38,Bb,Flu
";

pub(crate) const POLICY: &str = r#"[source]
path = "people.csv"
[attributes]
name = { role = "identifier" }
age = { role = "quasi", hierarchy = { widths = [10] } }
city = { role = "quasi", hierarchy = "city.csv" }
illness = { role = "sensitive" }
[[rule]]
require = { model = "k-anonymity", k = 2 }
[[rule]]
protect = "illness"
require = { model = "distinct-l-diversity", l = 2 }
[publish]
suppression = 0.0
"#;
