//! A PostgreSQL server for one test.

use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use postgres::{Client, NoTls};

/// The user `nobody` of Debian: the server refuses to run as root.
const NOBODY: u32 = 65_534;
pub(crate) const PASSWORD: &str = "s3cret-of-the-test";
const ANSWER_MAX: Duration = Duration::from_secs(60);

/// Says why a test is skipped.
pub(crate) fn skipped(why: &str) {
    eprintln!("skipped: {why}");
    note_skipped(why);
}

/// `cargo xtask test` names a file in which tests note that they were skipped, and why: what they
/// print is seen only where they fail.
fn note_skipped(why: &str) {
    use std::io::Write;
    let Some(path) = std::env::var_os("HEDGEROW_SKIPPED") else { return };
    let thread = std::thread::current();
    let line = format!("{}: {why}\n", thread.name().unwrap_or("a test"));
    let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(line.as_bytes())).unwrap();
}

#[derive(Debug)]
pub(crate) struct Server {
    folder: tempfile::TempDir,
    port: u16,
    process: Child,
}

impl Server {
    /// `None` where PostgreSQL is not installed; this is then printed.
    pub(crate) fn start() -> Option<Server> {
        Server::start_with(|_| Vec::new())
    }

    /// As [`Server::start`]; `settings` may put files into the server's folder.
    pub(crate) fn start_with(settings: impl FnOnce(&Path) -> Vec<String>) -> Option<Server> {
        let Some(programs) = programs() else {
            let how = "install it with: apt-get install postgresql";
            assert!(std::env::var_os("HEDGEROW_CI").is_none(), "PostgreSQL is not installed; {how}");
            skipped(&format!("PostgreSQL is not installed; {how}"));
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let password = folder.path().join("password");
        std::fs::write(&password, PASSWORD).unwrap();
        let settings = settings(folder.path());
        give_to_nobody(folder.path());
        let data = folder.path().join("data");
        let initialized = unprivileged(&programs.join("initdb"))
            .args(["--username=owner", "--auth-local=trust", "--auth-host=scram-sha-256", "--no-sync"])
            .args(["--encoding=UTF8", "--locale=C"])
            .arg(format!("--pwfile={}", password.display()))
            .arg("--pgdata")
            .arg(&data)
            .output()
            .unwrap();
        assert!(initialized.status.success(), "{}", String::from_utf8_lossy(&initialized.stderr));
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let process = unprivileged(&programs.join("postgres"))
            .arg("-D")
            .arg(&data)
            .arg("-k")
            .arg(folder.path())
            .args(["-p", &port.to_string(), "-c", "listen_addresses=localhost", "-c", "fsync=off"])
            .args(settings.iter().flat_map(|setting| ["-c", setting]))
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(folder.path().join("log")).unwrap())
            .spawn()
            .unwrap();
        let mut server = Server { folder, port, process };
        server.wait();
        // What a user keeps in ~/.pgpass.
        let line = format!("*:*:*:owner:{PASSWORD}\n");
        std::fs::write(server.passfile(), line).unwrap();
        std::fs::set_permissions(server.passfile(), PermissionsExt::from_mode(0o600)).unwrap();
        Some(server)
    }

    fn wait(&mut self) {
        let started = Instant::now();
        while self.try_connect().is_err() {
            let ended = self.process.try_wait().unwrap();
            if ended.is_some() || started.elapsed() > ANSWER_MAX {
                let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
                panic!("the server does not answer: {log}");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn try_connect(&self) -> Result<Client, postgres::Error> {
        let folder = self.folder.path().display();
        Client::connect(&format!("host={folder} port={} user=owner dbname=postgres", self.port), NoTls)
    }

    pub(crate) fn connect(&self) -> Client {
        self.try_connect().unwrap()
    }

    pub(crate) fn passfile(&self) -> PathBuf {
        self.folder.path().join("pgpass")
    }

    /// The address of the database, or of a schema in it; the password is in a file.
    pub(crate) fn address(&self, schema: &str) -> String {
        let slash = if schema.is_empty() { "" } else { "/" };
        let passfile = self.passfile().display().to_string();
        format!("postgres://owner@localhost:{}/postgres{slash}{schema}?passfile={passfile}", self.port)
    }

    /// As it was given when the password is in the address itself.
    pub(crate) fn address_with(&self, password: &str) -> String {
        format!("postgres://owner:{password}@localhost:{}/postgres", self.port)
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// At once, without a word to those who are connected.
    pub(crate) fn kill(&self) {
        signal("-QUIT", self.process.id());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        signal("-INT", self.process.id());
        let started = Instant::now();
        while self.process.try_wait().is_ok_and(|ended| ended.is_none()) {
            if started.elapsed() > Duration::from_secs(20) {
                let _ = self.process.kill();
                let _ = self.process.wait();
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn signal(name: &str, process: u32) {
    let _ = Command::new("kill").args([name, &process.to_string()]).stderr(Stdio::null()).status();
}

/// Where `initdb` and `postgres` are: Debian keeps them out of the path.
fn programs() -> Option<PathBuf> {
    let installed = std::fs::read_dir("/usr/lib/postgresql").ok().into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = installed.map(|version| version.path().join("bin")).collect();
    folders.sort();
    folders.reverse();
    folders.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    folders.into_iter().find(|folder| folder.join("initdb").exists() && folder.join("postgres").exists())
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|found| found.uid() == 0)
}

fn unprivileged(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    let user = NOBODY.to_string();
    command.args(["--reuid", &user, "--regid", &user, "--clear-groups"]).arg(program).current_dir("/");
    command
}

fn give_to_nobody(folder: &Path) {
    if !is_root() {
        return;
    }
    chown(folder, Some(NOBODY), Some(NOBODY)).unwrap();
    for entry in std::fs::read_dir(folder).unwrap() {
        chown(entry.unwrap().path(), Some(NOBODY), Some(NOBODY)).unwrap();
    }
}
