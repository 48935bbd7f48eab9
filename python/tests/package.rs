//! The tests of the package for Python, in Python: with its wheel, which `pip` builds and installs
//! into an environment of its own.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::json;
use tempfile::TempDir;

/// The packages that build the wheel, and those that the tests import.
const NEEDS: &str = "import pip, maturin, pytest, mypy, hypothesis, pyarrow, pandas, polars, duckdb, sklearn, tqdm";

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

/// Runs Python where the wheel is installed. Without what the tests import this is skipped, unless
/// this is the run that decides.
fn run(arguments: &[&str]) {
    let tools = tools();
    let found = Command::new(&tools).args(["-c", NEEDS]).output().is_ok_and(|output| output.status.success());
    if !found {
        let how = "Python packages are missing: `pip install maturin pytest mypy hypothesis pyarrow pandas polars duckdb scikit-learn \
                   tqdm`, or name another Python in the variable HEDGEROW_WHEEL_PYTHON";
        assert!(std::env::var_os("HEDGEROW_CI").is_none(), "{how}");
        return note_skipped(how);
    }
    let mut command = Command::new(installed());
    // From the root: in `python` the sources would be imported, which have no module.
    command.args(arguments).current_dir(root()).env("PYTHONDONTWRITEBYTECODE", "1").env_remove("PYTHONPATH");
    let hedgerow = built().join("..").join(format!("hedgerow{}", std::env::consts::EXE_SUFFIX));
    if hedgerow.is_file() {
        command.env("HEDGEROW_COMMAND", hedgerow);
    }
    succeed(&mut command);
}

/// The output of the command, which ends well.
fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let [said, complaints] = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    print!("{said}{complaints}");
    assert!(output.status.success(), "{command:?} ended with {}", output.status);
    said
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The Python that has the packages with which wheels are built and tested.
fn tools() -> OsString {
    std::env::var_os("HEDGEROW_WHEEL_PYTHON").unwrap_or_else(|| "python3".into())
}

/// The folder in which Cargo puts what it builds for tests.
fn built() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_owned()
}

/// The Python of a virtual environment in which `pip` has installed the wheel, made once.
fn installed() -> PathBuf {
    static ENVIRONMENT: OnceLock<TempDir> = OnceLock::new();
    let environment = ENVIRONMENT.get_or_init(|| {
        let (folder, scratch) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let environment = folder.path().join("environment");
        succeed(Command::new(tools()).args(["-m", "venv", "--without-pip"]).arg(&environment));
        succeed(
            pip()
                .arg("--python")
                .arg(python_of(&environment))
                .args(["install", "--no-deps"])
                .arg(wheel(scratch.path())),
        );
        // The packages that the tests import are found where they are.
        let where_from = "import sysconfig; print(sysconfig.get_path('purelib'))";
        let packages = |python: &OsStr| succeed(Command::new(python).args(["-c", where_from])).trim().to_owned();
        let own = packages(python_of(&environment).as_os_str());
        std::fs::write(Path::new(&own).join("tools.pth"), packages(&tools())).unwrap();
        folder
    });
    python_of(&environment.path().join("environment"))
}

fn python_of(environment: &Path) -> PathBuf {
    environment.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" })
}

fn pip() -> Command {
    let mut pip = Command::new(tools());
    pip.args(["-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input"]).env("PIP_NO_INDEX", "1");
    pip
}

/// The wheel, built as `pip install ./python` builds it, with one difference: where maturin has
/// Cargo compile the module, it gets the one that is compiled already. Cargo would compile
/// all dependencies once more, since one package alone asks for fewer of their features.
fn wheel(folder: &Path) -> PathBuf {
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let module = built().join(format!("{prefix}_hedgerow{suffix}"));
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    // maturin asks about the packages of every target, and a build downloads those of its own.
    succeed(Command::new(&cargo).args(["fetch", "--quiet", "--locked", "--manifest-path"]).arg(&manifest));
    let id = succeed(Command::new(&cargo).args(["pkgid", "--offline", "--manifest-path"]).arg(&manifest));
    let target = json!({
        "name": "_hedgerow", "kind": ["cdylib"], "crate_types": ["cdylib"], "edition": "2024",
        "src_path": Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs"),
    });
    let profile =
        json!({ "opt_level": "0", "debuginfo": 0, "debug_assertions": true, "overflow_checks": true, "test": false });
    let artifact = json!({
        "reason": "compiler-artifact", "package_id": id.trim(), "manifest_path": manifest, "target": target,
        "profile": profile, "features": [], "filenames": [module], "executable": null, "fresh": true,
    });
    let finished = json!({ "reason": "build-finished", "success": true });
    let messages = folder.join("messages");
    std::fs::write(&messages, format!("{artifact}\n{finished}\n")).unwrap();
    let compiled = folder.join(if cfg!(windows) { "cargo.cmd" } else { "cargo" });
    let script = if cfg!(windows) {
        "@if \"%1\"==\"rustc\" (type \"%HEDGEROW_MESSAGES%\") else (\"%HEDGEROW_CARGO%\" %*)\r\n"
    } else {
        "#!/bin/sh\nif [ \"$1\" = rustc ]; then cat \"$HEDGEROW_MESSAGES\"; else exec \"$HEDGEROW_CARGO\" \"$@\"; fi\n"
    };
    std::fs::write(&compiled, script).unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(&compiled, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let wheels = folder.join("wheels");
    let mut build = pip();
    build.args(["wheel", "--no-deps", "--no-build-isolation", "--wheel-dir"]).arg(&wheels).arg("./python");
    // Beside that Python is maturin's own program.
    let beside = Path::new(&tools()).parent().map(Path::to_owned).into_iter();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(beside.chain(std::env::split_paths(&path))).unwrap();
    build.current_dir(root()).env("PATH", path).env("CARGO", &compiled).env("CARGO_NET_OFFLINE", "true");
    build
        .env("HEDGEROW_CARGO", cargo)
        .env("HEDGEROW_MESSAGES", messages)
        .env("CARGO_TARGET_DIR", folder.join("target"));
    succeed(&mut build);
    let built: Vec<PathBuf> = std::fs::read_dir(wheels).unwrap().map(|wheel| wheel.unwrap().path()).collect();
    assert_eq!(built.len(), 1, "{built:?}");
    built[0].clone()
}

/// The test command lists what was skipped at its end.
fn note_skipped(why: &str) {
    eprintln!("skipped: {why}");
    let Some(path) = std::env::var_os("HEDGEROW_SKIPPED") else { return };
    let name = std::thread::current().name().unwrap_or("a test").to_owned();
    let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut file| writeln!(file, "python::{name}: {why}")).unwrap();
}
