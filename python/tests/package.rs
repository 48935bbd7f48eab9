//! The tests of the package for Python, in Python: with the module that Cargo has just built beside
//! the package's own files, as in a wheel.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;

/// The packages that the tests import.
const NEEDS: &str = "import pytest, mypy, hypothesis, pyarrow, pandas, polars, duckdb, sklearn, tqdm";

#[test]
fn the_package_passes_its_tests_in_python() {
    run(&["-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "python/tests"]);
}

#[test]
fn the_package_keeps_its_types() {
    run(&["-m", "mypy", "--cache-dir=/dev/null", "--strict", "-p", "hedgerow"]);
}

#[test]
fn the_stubs_say_what_the_module_has() {
    run(&["-m", "mypy.stubtest", "hedgerow._hedgerow"]);
}

/// Runs Python with the package on its path. Without what the tests import this is skipped, unless
/// this is the run that decides.
fn run(arguments: &[&str]) {
    let python: OsString = std::env::var_os("HEDGEROW_WHEEL_PYTHON").unwrap_or_else(|| "python3".into());
    let found = Command::new(&python).args(["-c", NEEDS]).output().is_ok_and(|output| output.status.success());
    if !found {
        let how = "Python packages are missing: `pip install pytest mypy hypothesis pyarrow pandas polars duckdb scikit-learn tqdm`, \
                   or name another Python in the variable HEDGEROW_WHEEL_PYTHON";
        assert!(std::env::var_os("HEDGEROW_CI").is_none(), "{how}");
        return note_skipped(how);
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut command = Command::new(&python);
    // From the root: in `python` the sources would be imported, which have no module.
    command.args(arguments).current_dir(root).env("PYTHONPATH", site()).env("PYTHONDONTWRITEBYTECODE", "1");
    let hedgerow = built().join("..").join(format!("hedgerow{}", std::env::consts::EXE_SUFFIX));
    if hedgerow.is_file() {
        command.env("HEDGEROW_COMMAND", hedgerow);
    }
    let output = command.output().expect("Python was started a moment ago");
    let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    print!("{said}");
    assert!(output.status.success(), "{arguments:?} ended with {}", output.status);
}

/// The folder in which Cargo puts what it builds for tests.
fn built() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_owned()
}

/// The package, put together once.
fn site() -> &'static Path {
    static SITE: OnceLock<TempDir> = OnceLock::new();
    let site = SITE.get_or_init(|| {
        let site = TempDir::new().unwrap();
        let package = site.path().join("hedgerow");
        std::fs::create_dir(&package).unwrap();
        for file in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("hedgerow")).unwrap() {
            let file = file.unwrap();
            if file.file_type().unwrap().is_file() {
                std::fs::copy(file.path(), package.join(file.file_name())).unwrap();
            }
        }
        let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
        let module = if cfg!(windows) { "_hedgerow.pyd" } else { "_hedgerow.abi3.so" };
        std::fs::copy(built().join(format!("{prefix}_hedgerow{suffix}")), package.join(module)).unwrap();
        describe(site.path());
        site
    });
    site.path()
}

/// Writes what an installer would: the programs that `pyproject.toml` declares.
fn describe(site: &Path) {
    let project = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("pyproject.toml")).unwrap();
    let (_, scripts) = project.split_once("\n[project.scripts]\n").unwrap();
    let scripts: String =
        scripts.lines().take_while(|line| !line.is_empty()).map(|line| line.replace('"', "") + "\n").collect();
    let version = env!("CARGO_PKG_VERSION");
    let folder = site.join(format!("hedgerow-{version}.dist-info"));
    std::fs::create_dir(&folder).unwrap();
    let metadata = format!("Metadata-Version: 2.1\nName: hedgerow\nVersion: {version}\n");
    std::fs::write(folder.join("METADATA"), metadata).unwrap();
    std::fs::write(folder.join("entry_points.txt"), format!("[console_scripts]\n{scripts}")).unwrap();
}

/// The test command lists what was skipped at its end.
fn note_skipped(why: &str) {
    eprintln!("skipped: {why}");
    let Some(path) = std::env::var_os("HEDGEROW_SKIPPED") else { return };
    let name = std::thread::current().name().unwrap_or("a test").to_owned();
    let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut file| writeln!(file, "python::{name}: {why}")).unwrap();
}
