//! Servers on free ports of the loopback interface. A server ends with its value.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const STARTED_WITHIN: Duration = Duration::from_secs(240);

pub(crate) struct Server {
    process: Child,
    port: u16,
    /// The folder that it writes to while it runs.
    _folder: tempfile::TempDir,
}

impl Server {
    /// The Connect server that the Python package `pyspark` brings, with this much memory; it needs
    /// Java.
    pub(crate) fn spark(memory: &str) -> Option<Server> {
        let Some(home) = python().and_then(|python| spark_home(&python)).filter(|_| runs("java", "-version")) else {
            return skipped("Apache Spark", "pip install 'pyspark==4.1.*', and Java 17");
        };
        let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
        let mut command = Command::new(home.join("bin/spark-submit"));
        command.env("SPARK_HOME", &home).env("SPARK_LOCAL_IP", "127.0.0.1").env("SPARK_LOCAL_HOSTNAME", "localhost");
        command.args(["--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]);
        command.args(["--master", "local[2]", "--driver-memory", memory]);
        // Half of what a server does within minutes is to compile its own code for longer runs.
        command.args(["--driver-java-options", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"]);
        for setting in [
            "spark.connect.grpc.binding.address=127.0.0.1".to_owned(),
            format!("spark.connect.grpc.binding.port={port}"),
            "spark.ui.enabled=false".to_owned(),
            "spark.sql.shuffle.partitions=2".to_owned(),
            // Two minutes by default: answers are complete all the same.
            "spark.connect.execute.reattachable.senderMaxStreamDuration=1s".to_owned(),
            format!("spark.sql.warehouse.dir={}", folder.path().join("warehouse").display()),
        ] {
            command.args(["--conf", &setting]);
        }
        command.arg("spark-internal");
        Some(Server::start(command, port, folder))
    }

    /// Sail, from the Python package `pysail`.
    pub(crate) fn sail() -> Option<Server> {
        let sail = python().map(|python| python.with_file_name("sail")).filter(|sail| sail.is_file());
        let Some(sail) = sail else { return skipped("Sail", "pip install 'pysail>=0.7,<0.8'") };
        let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
        let mut command = Command::new(sail);
        command.args(["spark", "server", "--port", &port.to_string()]);
        Some(Server::start(command, port, folder))
    }

    fn start(mut command: Command, port: u16, folder: tempfile::TempDir) -> Server {
        command.current_dir(folder.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let server = Server { process: command.spawn().unwrap(), port, _folder: folder };
        let started = Instant::now();
        while TcpStream::connect_timeout(&SocketAddr::from(([127, 0, 0, 1], port)), Duration::from_secs(1)).is_err() {
            assert!(started.elapsed() < STARTED_WITHIN, "{command:?} did not start within {STARTED_WITHIN:?}");
            std::thread::sleep(Duration::from_millis(100));
        }
        server
    }

    pub(crate) fn address(&self) -> String {
        format!("sc://127.0.0.1:{}", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The Python that has the packages: the variable names it, or a virtual environment is active.
fn python() -> Option<PathBuf> {
    let named = std::env::var_os("HEDGEROW_SPARK_PYTHON").map(PathBuf::from);
    let active = || std::env::var_os("VIRTUAL_ENV").map(|folder| Path::new(&folder).join("bin/python"));
    named.or_else(active).filter(|python| python.is_file())
}

fn spark_home(python: &Path) -> Option<PathBuf> {
    let found = Command::new(python).args(["-c", "import pyspark; print(pyspark.__path__[0])"]).output().ok()?;
    let home = PathBuf::from(String::from_utf8(found.stdout).ok()?.trim());
    home.join("bin/spark-submit").is_file().then_some(home)
}

fn runs(program: &str, argument: &str) -> bool {
    let run = Command::new(program).arg(argument).stdout(Stdio::null()).stderr(Stdio::null()).status();
    run.is_ok_and(|status| status.success())
}

fn skipped(what: &str, how: &str) -> Option<Server> {
    assert!(std::env::var_os("HEDGEROW_CI").is_none(), "{what} is missing: {how}");
    let why = format!("{what} is not here. To have it: {how}; name its Python in HEDGEROW_SPARK_PYTHON");
    println!("skipped: {why}");
    note_skipped(&why);
    None
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

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
