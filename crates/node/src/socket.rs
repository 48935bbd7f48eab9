//! A TCP connection whose reads and writes end by an absolute deadline.
//!
//! A timeout for each read does not end a handshake: a client that sends one byte before each
//! timeout stays connected forever. While a deadline is set, every read and every write gets only
//! the time that is left until it.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[derive(Debug)]
pub(crate) struct Socket {
    tcp: Arc<TcpStream>,
    deadline: Option<Instant>,
}

impl Socket {
    /// A socket on which everything must happen within `time`.
    pub(crate) fn with_deadline(tcp: Arc<TcpStream>, time: Duration) -> Socket {
        Socket { tcp, deadline: Some(Instant::now() + time) }
    }

    /// Removes the deadline: from now on each read and each write has a time of its own.
    pub(crate) fn established(&mut self, read: Duration, write: Duration) -> io::Result<()> {
        self.deadline = None;
        self.tcp.set_read_timeout(Some(read))?;
        self.tcp.set_write_timeout(Some(write))
    }

    /// The time until the deadline, if one is set; an error once it has passed.
    fn time_left(&self) -> io::Result<Option<Duration>> {
        let Some(deadline) = self.deadline else { return Ok(None) };
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

impl Read for Socket {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if let Some(left) = self.time_left()? {
            self.tcp.set_read_timeout(Some(left))?;
        }
        (&*self.tcp).read(bytes)
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(left) = self.time_left()? {
            self.tcp.set_write_timeout(Some(left))?;
        }
        (&*self.tcp).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&*self.tcp).flush()
    }
}

/// Ends a connection at once, also for a thread that is reading from it.
pub(crate) fn shut_down(tcp: &TcpStream) {
    let _ = tcp.shutdown(Shutdown::Both);
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    #[test]
    fn a_client_that_sends_byte_after_byte_does_not_outlive_the_deadline() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        let dripping = thread::spawn(move || {
            // A byte every 20 ms: a timeout for each read would never pass.
            while client.write_all(b"x").is_ok() {
                thread::sleep(Duration::from_millis(20));
            }
        });
        let began = Instant::now();
        let mut socket = Socket::with_deadline(Arc::new(server), Duration::from_millis(300));
        let mut bytes = [0; 1000];
        let error = socket.read_exact(&mut bytes).unwrap_err();
        assert!(matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock), "{error}");
        assert!((300..3000).contains(&(began.elapsed().as_millis() as u64)), "{:?}", began.elapsed());
        shut_down(&socket.tcp);
        dripping.join().unwrap();
    }
}
