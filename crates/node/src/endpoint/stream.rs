//! A connection's bytes: plain on this machine, TLS from anywhere else.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::{ServerConnection, StreamOwned};

use super::Shared;
use super::wire::{First, Out, WireError, read_first};

/// How a connection ends before its time.
#[derive(Debug)]
pub(super) enum Ended {
    /// It went away.
    Gone,
    /// It was turned away, for a reason that the journal has.
    Rejected(String),
}

impl From<io::Error> for Ended {
    fn from(_: io::Error) -> Ended {
        Ended::Gone
    }
}

impl From<WireError> for Ended {
    fn from(error: WireError) -> Ended {
        match error {
            WireError::Io(_) => Ended::Gone,
            other => Ended::Rejected(other.to_string()),
        }
    }
}

/// A connection with the parameters that it began with.
type Begun = (Stream, u16, Vec<(String, String)>);

#[derive(Debug)]
enum Bytes {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ServerConnection, TcpStream>>),
}

#[derive(Debug)]
pub(super) struct Stream {
    bytes: Bytes,
    /// Until when everything must be read, while the client is a stranger.
    until: Option<Instant>,
}

impl Stream {
    /// The first messages: TLS where it is requested, and how the session begins. Nothing when the
    /// connection was for canceling another.
    pub(super) fn begin(stream: TcpStream, shared: &Shared, must: bool) -> Result<Option<Begun>, Ended> {
        let mut stream = Stream { bytes: Bytes::Plain(stream), until: Some(Instant::now() + shared.handshake) };
        // A client requests TLS and GSS at most once each.
        for _ in 0..4 {
            match read_first(&mut stream)? {
                First::Tls if matches!(stream.bytes, Bytes::Plain(_)) => {
                    stream.write_all(b"S")?;
                    stream = stream.secured(shared)?;
                }
                First::Tls | First::Gss => stream.write_all(b"N")?,
                First::Cancel { process, secret } => {
                    shared.cancel(process, secret);
                    return Ok(None);
                }
                First::Session { minor, parameters } => {
                    if must && matches!(stream.bytes, Bytes::Plain(_)) {
                        stream.refuse(
                            "28000",
                            "connections from other machines need TLS",
                            "use sslmode=verify-full",
                        )?;
                        return Err(Ended::Rejected("a plain connection from another machine".to_owned()));
                    }
                    return Ok(Some((stream, minor, parameters)));
                }
                First::Unknown => {
                    stream.refuse("0A000", "this version of the protocol is not spoken", "use version 3.0")?;
                    return Err(Ended::Rejected("another version of the protocol".to_owned()));
                }
            }
        }
        Err(Ended::Rejected("requests without end".to_owned()))
    }

    fn secured(self, shared: &Shared) -> Result<Stream, Ended> {
        let Bytes::Plain(mut tcp) = self.bytes else { return Err(Ended::Gone) };
        let mut connection = ServerConnection::new(Arc::clone(&shared.tls)).map_err(|_| Ended::Gone)?;
        while connection.is_handshaking() {
            let left = self.until.map_or(Duration::ZERO, |until| until.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return Err(Ended::Rejected("no handshake in time".to_owned()));
            }
            tcp.set_read_timeout(Some(left))?;
            let done = connection.complete_io(&mut tcp);
            done.map_err(|error| Ended::Rejected(format!("no handshake: {error}")))?;
        }
        Ok(Stream { bytes: Bytes::Tls(Box::new(StreamOwned::new(connection, tcp))), until: self.until })
    }

    /// The public key of the certificate that the client has shown, as settings name it.
    pub(super) fn shown_key(&self) -> Option<[u8; 32]> {
        match &self.bytes {
            Bytes::Plain(_) => None,
            Bytes::Tls(stream) => crate::tls::fingerprint(stream.conn.peer_certificates()?.first()?),
        }
    }

    /// From here on the client is known, and may be idle for so long.
    pub(super) fn known(&mut self, idle: Duration) -> io::Result<()> {
        self.until = None;
        self.tcp().set_read_timeout(Some(idle))
    }

    fn tcp(&self) -> &TcpStream {
        match &self.bytes {
            Bytes::Plain(tcp) => tcp,
            Bytes::Tls(stream) => &stream.sock,
        }
    }

    /// Says why the connection ends.
    pub(super) fn refuse(&mut self, code: &str, problem: &str, hint: &str) -> io::Result<()> {
        let mut out = Out::default();
        out.report("FATAL", code, problem, hint);
        self.write_all(&out.0)?;
        self.flush()
    }

    pub(super) fn close(&mut self) {
        if let Bytes::Tls(stream) = &mut self.bytes {
            stream.conn.send_close_notify();
            let _ = stream.flush();
        }
    }
}

impl Read for Stream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if let Some(until) = self.until {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.tcp().set_read_timeout(Some(left))?;
        }
        match &mut self.bytes {
            Bytes::Plain(tcp) => tcp.read(bytes),
            Bytes::Tls(stream) => stream.read(bytes),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.bytes {
            Bytes::Plain(tcp) => tcp.write(bytes),
            Bytes::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.bytes {
            Bytes::Plain(tcp) => tcp.flush(),
            Bytes::Tls(stream) => stream.flush(),
        }
    }
}
