//! A connection's bytes: plain on this machine, TLS from anywhere else.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use rustls::{ServerConnection, StreamOwned};

use super::wire::{First, Out, WireError, read_first};
use super::{Shared, Visitor};
use crate::rejections::RejectionKind;
use crate::socket::Socket;
use crate::tls::failed_handshake;

/// For a client that does not read what it is sent.
const WRITE_TIME: Duration = Duration::from_secs(60);

/// How a connection ends before its time.
#[derive(Debug)]
pub(super) enum Ended {
    /// The client disconnected.
    Gone,
    /// It sent a text that is not UTF-8.
    NotUtf8,
    /// It was rejected, for a reason that the journal has; under a name, if it is one of the
    /// settings.
    Rejected { kind: RejectionKind, whom: Option<String>, why: String },
}

impl Ended {
    pub(super) fn rejected(kind: RejectionKind, why: impl Into<String>) -> Ended {
        Ended::Rejected { kind, whom: None, why: why.into() }
    }
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
            WireError::NotUtf8 => Ended::NotUtf8,
            other => Ended::rejected(RejectionKind::Message, other.to_string()),
        }
    }
}

/// A connection with the parameters that it began with.
type Begun = (Stream, u16, Vec<(String, String)>);

#[derive(Debug)]
enum Bytes {
    Plain(Socket),
    Tls(Box<StreamOwned<ServerConnection, Socket>>),
}

#[derive(Debug)]
pub(super) struct Stream(Bytes);

impl Stream {
    /// The first messages: TLS where it is requested, and how the session begins. `None` when the
    /// connection was for canceling another.
    pub(super) fn begin(shared: &Shared, visitor: &Visitor) -> Result<Option<Begun>, Ended> {
        let settings = &visitor.configured.settings;
        let must_encrypt = settings.endpoint.as_ref().is_none_or(|options| !options.listen.ip().is_loopback());
        let socket = Socket::with_deadline(Arc::clone(&visitor.tcp), settings.deadlines.handshake);
        let mut stream = Stream(Bytes::Plain(socket));
        // A client requests TLS and GSS at most once each.
        for _ in 0..4 {
            let first = match read_first(&mut stream) {
                Err(WireError::Io(error)) if is_late(&error) => {
                    return Err(Ended::rejected(RejectionKind::Handshake, "no password in time"));
                }
                first => first?,
            };
            match first {
                First::Tls if matches!(stream.0, Bytes::Plain(_)) => {
                    stream.write_all(b"S")?;
                    stream = stream.secured(visitor)?;
                }
                First::Tls | First::Gss => stream.write_all(b"N")?,
                First::Cancel { process, secret } => {
                    shared.cancel(process, secret);
                    return Ok(None);
                }
                First::Session { minor, parameters } => {
                    if must_encrypt && matches!(stream.0, Bytes::Plain(_)) {
                        let problem = "connections from other machines need TLS";
                        stream.refuse("28000", problem, "use sslmode=verify-full")?;
                        return Err(Ended::rejected(
                            RejectionKind::Handshake,
                            "a plain connection from another machine",
                        ));
                    }
                    return Ok(Some((stream, minor, parameters)));
                }
                First::Unknown => {
                    stream.refuse("0A000", "this version of the protocol is not supported", "use version 3.0")?;
                    return Err(Ended::rejected(RejectionKind::Message, "another version of the protocol"));
                }
            }
        }
        Err(Ended::rejected(RejectionKind::Message, "too many requests before the first message"))
    }

    fn secured(self, visitor: &Visitor) -> Result<Stream, Ended> {
        let (Bytes::Plain(mut socket), Some((_, tls))) = (self.0, visitor.options()) else { return Err(Ended::Gone) };
        let mut connection = ServerConnection::new(Arc::clone(&tls.server)).map_err(|_| Ended::Gone)?;
        while connection.is_handshaking() {
            connection.complete_io(&mut socket).map_err(|error| {
                let (kind, why) = failed_handshake(&error);
                Ended::rejected(kind, why)
            })?;
        }
        Ok(Stream(Bytes::Tls(Box::new(StreamOwned::new(connection, socket)))))
    }

    pub(super) fn is_encrypted(&self) -> bool {
        matches!(self.0, Bytes::Tls(_))
    }

    /// The fingerprint of the certificate that the client has shown.
    pub(super) fn shown_key(&self) -> Option<[u8; 32]> {
        match &self.0 {
            Bytes::Plain(_) => None,
            Bytes::Tls(stream) => crate::tls::fingerprint(stream.conn.peer_certificates()?.first()?),
        }
    }

    /// The client has proven its identity: it may be idle for this long.
    pub(super) fn established(&mut self, idle: Duration) -> io::Result<()> {
        match &mut self.0 {
            Bytes::Plain(socket) => socket.established(idle, WRITE_TIME),
            Bytes::Tls(stream) => stream.sock.established(idle, WRITE_TIME),
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
        if let Bytes::Tls(stream) = &mut self.0 {
            stream.conn.send_close_notify();
            let _ = stream.flush();
        }
    }
}

/// Whether the deadline was the reason.
pub(super) fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
}

impl Read for Stream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            Bytes::Plain(socket) => socket.read(bytes),
            Bytes::Tls(stream) => stream.read(bytes),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Bytes::Plain(socket) => socket.write(bytes),
            Bytes::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Bytes::Plain(socket) => socket.flush(),
            Bytes::Tls(stream) => stream.flush(),
        }
    }
}
