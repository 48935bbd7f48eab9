//! A studio in a folder of its own, and a client that says exactly what it is given: it can lie
//! about its host, its origin and its cookie.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

/// The studio that was built with the tests, or the one that `HEDGEROW_STUDIO` names.
pub(crate) fn program() -> PathBuf {
    std::env::var_os("HEDGEROW_STUDIO").map_or_else(|| env!("CARGO_BIN_EXE_hedgerow-studio").into(), PathBuf::from)
}

pub(crate) struct Studio {
    child: Child,
    stdin: ChildStdin,
    stderr: BufReader<std::process::ChildStderr>,
    pub(crate) port: u16,
    pub(crate) token: String,
}

/// The answer of a server.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let of = |line: &'_ str| line.split_once(": ").filter(|(known, _)| known.eq_ignore_ascii_case(name)).is_some();
        self.head.lines().find(|line| of(line)).and_then(|line| Some(line.split_once(": ")?.1))
    }
}

/// A browser that was let in.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) cookie: String,
    pub(crate) key: String,
}

impl Drop for Studio {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Studio {
    pub(crate) fn start(folder: &Path, arguments: &[&str]) -> Studio {
        Studio::start_by(Command::new(program()), folder, arguments)
    }

    /// Starts a studio that can write no byte to any file, as on a full disk.
    #[cfg(target_os = "linux")]
    pub(crate) fn start_on_full_disk(folder: &Path, arguments: &[&str]) -> Studio {
        let mut shell = Command::new("sh");
        shell.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\""]).arg(program());
        Studio::start_by(shell, folder, arguments)
    }

    /// Starts a studio that can hold few files and connections open.
    #[cfg(target_os = "linux")]
    pub(crate) fn start_with_few_handles(folder: &Path, arguments: &[&str]) -> Studio {
        let mut shell = Command::new("sh");
        shell.args(["-c", "ulimit -n 128; exec \"$0\" \"$@\""]).arg(program());
        Studio::start_by(shell, folder, arguments)
    }

    fn start_by(mut command: Command, folder: &Path, arguments: &[&str]) -> Studio {
        let mut child = command
            .current_dir(folder)
            .arg("--no-browser")
            .args(arguments)
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let stdin = child.stdin.take().unwrap();
        let mut studio = Studio { child, stdin, stderr, port: 0, token: String::new() };
        (studio.port, studio.token) = studio.next_address();
        studio
    }

    fn next_address(&mut self) -> (u16, String) {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.stderr.read_line(&mut line).unwrap() > 0, "the studio ended");
            if let Some((_, rest)) = line.split_once("http://127.0.0.1:") {
                let (port, token) = rest.trim().split_once("/?token=").unwrap();
                return (port.parse().unwrap(), token.to_owned());
            }
        }
    }

    /// Presses Enter in the terminal.
    pub(crate) fn new_token(&mut self) -> String {
        self.stdin.write_all(b"\n").unwrap();
        self.next_address().1
    }

    /// Sends a request with exactly these headers.
    pub(crate) fn raw(&self, line: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut text = format!("{line} HTTP/1.1\r\nConnection: close\r\n");
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str("\r\n");
        stream.write_all(text.as_bytes()).unwrap();
        // A server that refuses early closes before the body has ended.
        let _ = stream.write_all(body);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Reply { status, head: head.to_owned(), body: body.to_owned() }
    }

    pub(crate) fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Opens the address, as the browser does.
    pub(crate) fn enter(&self) -> Session {
        let reply = self.raw(&format!("GET /?token={}", self.token), &[("Host", &self.host())], b"");
        assert_eq!(reply.status, 200, "{}", reply.body);
        let cookie = reply.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        let key = reply.body.split("name=\"studio-key\" content=\"").nth(1).unwrap().split('"').next().unwrap();
        Session { cookie, key: key.to_owned() }
    }

    pub(crate) fn get(&self, session: &Session, path: &str) -> Reply {
        let headers =
            [("Host", self.host()), ("Cookie", session.cookie.clone()), ("X-Studio-Key", session.key.clone())];
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.raw(&format!("GET {path}"), &headers, b"")
    }

    pub(crate) fn post(&self, session: &Session, path: &str, body: &str) -> Reply {
        self.post_bytes(session, path, body.as_bytes(), None)
    }

    /// A POST whose stated length can differ from its body's.
    pub(crate) fn post_bytes(&self, session: &Session, path: &str, body: &[u8], length: Option<u64>) -> Reply {
        let headers = [
            ("Host", self.host()),
            ("Origin", format!("http://{}", self.host())),
            ("Cookie", session.cookie.clone()),
            ("X-Studio-Key", session.key.clone()),
            ("Content-Length", length.unwrap_or(body.len() as u64).to_string()),
        ];
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.raw(&format!("POST {path}"), &headers, body)
    }

    /// An upload whose connection ends before its body does.
    pub(crate) fn cut_upload(&self, session: &Session, path: &str, body: &[u8], length: usize) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let (host, Session { cookie, key }) = (self.host(), session);
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nCookie: {cookie}\r\nX-Studio-Key: {key}\r\n\
             Content-Length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        drop(stream);
        std::thread::sleep(Duration::from_millis(300));
    }

    /// Fetches a page until the work under way has ended.
    pub(crate) fn settled(&self, session: &Session, path: &str) -> String {
        for _ in 0..600 {
            let reply = self.get(session, path);
            assert_eq!(reply.status, 200, "{}", reply.body);
            if !reply.body.contains("id=\"cancel-") {
                return reply.body;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("the work does not end");
    }

    /// Asks for a link that works once.
    pub(crate) fn link(&self, session: &Session, what: &str) -> String {
        self.post(session, "/link", &format!("what={}", what.replace('/', "%2F"))).body
    }

    /// Follows a link as a browser does, with its cookie alone.
    pub(crate) fn follow(&self, session: &Session, link: &str) -> Reply {
        self.raw(&format!("GET {link}"), &[("Host", &self.host()), ("Cookie", &session.cookie)], b"")
    }

    /// Downloads what a button stands for.
    pub(crate) fn download(&self, session: &Session, what: &str) -> Option<Reply> {
        let link = self.link(session, what);
        link.starts_with("/once/").then(|| self.follow(session, &link))
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// A folder with the hospital's table and, where wanted, its policy.
pub(crate) fn hospital(with_policy: bool) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/hospital");
    std::fs::copy(example.join("patients.csv"), folder.path().join("patients.csv")).unwrap();
    if with_policy {
        std::fs::copy(example.join("policy.toml"), folder.path().join("policy.toml")).unwrap();
    }
    folder
}
