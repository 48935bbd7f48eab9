//! Health and metrics over HTTP, for this machine only, as Prometheus reads them: counts of runs
//! and connections, and nothing about rows.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::rejections::RejectionKind;

const REQUEST_BYTES_MAX: u64 = 1 << 12;
const REQUEST_TIME: Duration = Duration::from_secs(2);
/// A node whose last sign of life is older is not healthy.
const ALIVE_MAX: Duration = Duration::from_secs(30);

/// The state of the endpoint for analysts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Load {
    pub analysts: usize,
    pub unauthenticated: usize,
    pub statements: usize,
    pub answer_bytes: usize,
}

/// Counts: runs since the journal began, rejections since the node was started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HealthCounts {
    pub published: u64,
    pub aborted: u64,
    /// By kind, as [`RejectionKind::ALL`] lists them.
    pub rejected: [u64; RejectionKind::ALL.len()],
    /// Whether a run is open, and whether it is in doubt.
    pub open: bool,
    pub in_doubt: bool,
    /// Questions over rows that are apart.
    pub questions: u64,
    pub peers: u64,
    pub peers_connected: u64,
    /// Connections at the port of custodians that have proven their identity, and that have not.
    pub connections: u64,
    pub unauthenticated: u64,
    pub endpoint: Load,
}

impl HealthCounts {
    fn text(&self) -> String {
        let head = |name: &str, kind: &str, help: &str| {
            format!("# HELP hedgerow_{name} {help}\n# TYPE hedgerow_{name} {kind}\n")
        };
        let line = |name: &str, kind: &str, help: &str, value: u64| {
            format!("{}hedgerow_{name} {value}\n", head(name, kind, help))
        };
        let mut rejected = head("rejected_total", "counter", "Rejected connections, attempts and messages.");
        for (kind, count) in RejectionKind::ALL.iter().zip(self.rejected) {
            rejected.push_str(&format!("hedgerow_rejected_total{{kind=\"{}\"}} {count}\n", kind.name()));
        }
        let Load { analysts, unauthenticated, statements, answer_bytes } = self.endpoint;
        let gauge = |name: &str, help: &str, value: usize| line(name, "gauge", help, value as u64);
        [
            line("runs_published_total", "counter", "Runs that were published by all.", self.published),
            line("runs_aborted_total", "counter", "Runs that ended without a release.", self.aborted),
            rejected,
            line("run_open", "gauge", "Whether a run is open.", self.open.into()),
            line("run_in_doubt", "gauge", "Whether the open run is in doubt.", self.in_doubt.into()),
            line("questions_open", "gauge", "Questions that all custodians are answering.", self.questions),
            line("peers", "gauge", "Custodians in the settings.", self.peers),
            line("peers_connected", "gauge", "Custodians that can be reached.", self.peers_connected),
            line("connections", "gauge", "Connections of custodians to this node.", self.connections),
            line("connections_unauthenticated", "gauge", "Connections without a handshake.", self.unauthenticated),
            gauge("analysts_connected", "Connections of analysts.", analysts),
            gauge("analysts_unauthenticated", "Connections without a password.", unauthenticated),
            gauge("statements_running", "Statements over the release that are being answered.", statements),
            gauge("answer_bytes", "Memory of answers that are not sent yet.", answer_bytes),
        ]
        .concat()
    }
}

/// The last reported state of the node.
#[derive(Debug, Clone)]
pub struct Health(Arc<Mutex<(Instant, HealthCounts)>>);

impl Default for Health {
    fn default() -> Health {
        Health(Arc::new(Mutex::new((Instant::now(), HealthCounts::default()))))
    }
}

impl Health {
    pub fn set(&self, counts: HealthCounts) {
        if let Ok(mut last) = self.0.lock() {
            *last = (Instant::now(), counts);
        }
    }

    fn answer(&self, path: &str) -> (&'static str, String) {
        let Ok(last) = self.0.lock() else { return ("500 Internal Server Error", String::new()) };
        match path {
            "/metrics" => ("200 OK", last.1.text()),
            "/health" if last.0.elapsed() < ALIVE_MAX => ("200 OK", "alive\n".to_owned()),
            "/health" => ("503 Service Unavailable", "no sign of life\n".to_owned()),
            _ => ("404 Not Found", "there are /health and /metrics\n".to_owned()),
        }
    }
}

/// Answers on an address of this machine.
pub fn listen(address: SocketAddr, health: Health) -> io::Result<()> {
    let listener = TcpListener::bind(address)?;
    let serve = move || {
        for stream in listener.incoming().flatten() {
            // One after the other, each with a deadline. A client that stalls does not hold up a
            // run.
            let _ = serve_one(&stream, &health);
        }
    };
    thread::Builder::new().name("health".to_owned()).spawn(serve).map(|_| ())
}

fn serve_one(mut stream: &TcpStream, health: &Health) -> io::Result<()> {
    stream.set_write_timeout(Some(REQUEST_TIME))?;
    let deadline = Instant::now() + REQUEST_TIME;
    let mut request = Vec::new();
    let mut from = stream.take(REQUEST_BYTES_MAX);
    let mut piece = [0; 512];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match from.read(&mut piece)? {
            0 => break,
            read => request.extend_from_slice(&piece[..read]),
        }
    }
    let request = String::from_utf8_lossy(&request);
    let mut words = request.split_whitespace();
    let (status, body) = match (words.next(), words.next()) {
        (Some("GET"), Some(path)) => health.answer(path),
        _ => ("400 Bad Request", String::new()),
    };
    let head = "Content-Type: text/plain; version=0.0.4\r\nConnection: close";
    write!(stream, "HTTP/1.1 {status}\r\n{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_and_health_are_read_over_http_and_nothing_else_is() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let health = Health::default();
        health.set(HealthCounts { published: 3, open: true, rejected: [0, 0, 7, 0, 0, 0], ..HealthCounts::default() });
        listen(address, health).unwrap();
        let get = |request: &str| {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer
        };
        let metrics = get("GET /metrics HTTP/1.1\r\n\r\n");
        assert!(metrics.starts_with("HTTP/1.1 200"), "{metrics}");
        assert!(metrics.contains("\nhedgerow_runs_published_total 3\n") && metrics.contains("\nhedgerow_run_open 1\n"));
        assert!(metrics.contains("\nhedgerow_rejected_total{kind=\"password\"} 7\n"), "{metrics}");
        assert!(get("GET /health HTTP/1.1\r\n\r\n").ends_with("alive\n"));
        assert!(get("GET /journal.db HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
        assert!(get("POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 400"));
    }
}
