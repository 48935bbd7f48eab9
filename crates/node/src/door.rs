//! The listener for custodians: who is let in, and what they send.
//!
//! A connection goes one way. Every node connects to each of its peers to send (`net.rs`), and
//! accepts connections here to receive, so that no stream is shared between threads. Before a frame
//! is read, the TLS handshake has ended within its deadline, the certificate is one of the
//! authority's and not revoked, its key is pinned in the settings, and its role is custodian.

use std::io::{self, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::{Duration, Instant};

use rustls::{ServerConnection, StreamOwned};

use crate::configured::Configured;
use crate::event::Event;
use crate::live::Live;
use crate::message::{FRAME_HEADER_BYTES, Frame, FrameError, NOTE_BYTES_MAX};
use crate::places::{ConnectionLimits, ConnectionPlace, Excess, Places};
use crate::rejections::{RejectionKind, Rejections};
use crate::settings::Role;
use crate::socket::Socket;
use crate::tls::{failed_handshake, fingerprint};
use crate::versions::VersionNotice;
use crate::waiting::Waiting;

/// A receiver that hears nothing at all closes the connection: an idle sender shows every 20 s that
/// it is there.
const SILENT_MAX: Duration = Duration::from_secs(70);
const WRITE_TIME: Duration = Duration::from_secs(10);
/// Connections of one peer at the same time: a new one may come before the end of the old one is
/// noticed.
const OF_PEER: ConnectionLimits = ConnectionLimits { of_name: 4, in_all: usize::MAX, excess: Excess::ClosesOldest };
/// Out of file descriptors, perhaps: others may end first.
const RETRY: Duration = Duration::from_millis(100);

type Stream = StreamOwned<ServerConnection, Socket>;

/// The connections of peers, so that a reload can close them.
#[derive(Debug, Clone, Default)]
pub struct Door(Arc<Places>);

impl Door {
    /// Closes all connections of peers: each of them connects again, and is verified again.
    pub fn close_all(&self) {
        self.0.close_authenticated(|_| true);
    }

    /// How many connections have proven their identity, and how many have not yet.
    pub fn connections(&self) -> (usize, usize) {
        (self.0.authenticated(), self.0.unauthenticated())
    }
}

/// Accepts connections, and passes what they bring to `events`, until the process ends.
pub fn listen(
    listener: TcpListener,
    configured: &Live<Configured>,
    events: &SyncSender<Event>,
    rejections: &Rejections,
) -> io::Result<Door> {
    let door = Door::default();
    let (configured, events, rejections) = (configured.clone(), events.clone(), rejections.clone());
    let receiver = Arc::new(Receiver { configured, events, rejections, waiting: Waiting::default() });
    let places = Arc::clone(&door.0);
    let accept = move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else {
                thread::sleep(RETRY);
                continue;
            };
            let stream = Arc::new(stream);
            let place = places.enter(&stream, receiver.configured.get().settings.connections_max);
            let receiver = Arc::clone(&receiver);
            let serve = move || receiver.serve(&stream, &place);
            // Without a thread the connection is dropped, and its place with it.
            let _ = thread::Builder::new().name("receiver".to_owned()).spawn(serve);
        }
    };
    thread::Builder::new().name("door".to_owned()).spawn(accept)?;
    Ok(door)
}

struct Receiver {
    configured: Live<Configured>,
    events: SyncSender<Event>,
    rejections: Rejections,
    waiting: Waiting,
}

impl Receiver {
    fn serve(&self, tcp: &Arc<TcpStream>, place: &ConnectionPlace) {
        let from = tcp.peer_addr().map_or("an unknown address".to_owned(), |address| address.to_string());
        let (name, mut stream) = match self.authenticate(tcp, place) {
            Ok(authenticated) => authenticated,
            Err(_) if !place.is_held() => {
                return self.rejections.add(RejectionKind::Limit, &from, "too many connections without a handshake");
            }
            Err((kind, whom, why)) => {
                return self.rejections.add(kind, whom.as_deref().unwrap_or(&from), &why);
            }
        };
        tracing::debug!(peer = %name, %from, "accepted");
        match self.receive(&name, &mut stream) {
            Ok(()) | Err(FrameError::Io(_)) => {}
            Err(error) => self.rejections.add(RejectionKind::Message, &name, &error.to_string()),
        }
        stream.conn.send_close_notify();
        let _ = stream.flush();
    }

    /// The handshake, the pinned key and the role: the name of the custodian, or why the peer was
    /// refused.
    fn authenticate(
        &self,
        tcp: &Arc<TcpStream>,
        place: &ConnectionPlace,
    ) -> Result<(String, Stream), (RejectionKind, Option<String>, String)> {
        let configured = self.configured.get();
        let unknown = |kind: RejectionKind, why: String| (kind, None, why);
        let mut socket = Socket::with_deadline(Arc::clone(tcp), configured.settings.deadlines.handshake);
        let conn = ServerConnection::new(Arc::clone(&configured.tls.server));
        let mut conn = conn.map_err(|error| unknown(RejectionKind::Handshake, error.to_string()))?;
        while conn.is_handshaking() {
            conn.complete_io(&mut socket).map_err(|error| {
                let (kind, why) = failed_handshake(&error);
                unknown(kind, why)
            })?;
        }
        let shown = conn.peer_certificates().and_then(|chain| fingerprint(chain.first()?));
        let peer = configured.settings.peers.iter().find(|peer| Some(peer.member.key) == shown);
        let peer = peer.ok_or_else(|| {
            unknown(
                RejectionKind::Certificate,
                "a certificate of the authority, but not the key of any peer".to_owned(),
            )
        })?;
        let name = peer.member.name.clone();
        if peer.role != Role::Custodian {
            return Err((RejectionKind::Role, Some(name), "an analyst takes no part in runs".to_owned()));
        }
        if !place.authenticate(&name, OF_PEER) {
            return Err((RejectionKind::Limit, Some(name), "too many connections".to_owned()));
        }
        let established = socket.established(SILENT_MAX, WRITE_TIME).and_then(|()| tcp.set_nodelay(true));
        established.map_err(|error| unknown(RejectionKind::Handshake, error.to_string()))?;
        Ok((name, StreamOwned::new(conn, socket)))
    }

    fn receive(&self, name: &str, stream: &mut Stream) -> Result<(), FrameError> {
        let message_bytes_max = self.configured.get().settings.message_bytes_max;
        let frame_bytes_max = message_bytes_max.max(NOTE_BYTES_MAX) + FRAME_HEADER_BYTES;
        let mut notice = VersionNotice::default();
        loop {
            let frame = match Frame::read(stream, frame_bytes_max) {
                // Its custodian upgrades at another time: it is still there, and not malicious.
                Err(FrameError::Version(version)) => {
                    let error = FrameError::Version(version);
                    self.rejections.add(RejectionKind::Message, name, &error.to_string());
                    let event = Event::OtherVersion { from: name.to_owned(), version };
                    // Not for each of them: the node answers it.
                    if notice.is_due(version, Instant::now()) && self.events.send(event).is_err() {
                        return Ok(());
                    }
                    continue;
                }
                read => read?,
            };
            let Some(frame) = frame else { continue };
            notice = VersionNotice::default();
            let waits = self.waiting.enter(name, frame.bytes_max(), frame_bytes_max);
            if self.events.send(Event::Frame { from: name.to_owned(), frame: Box::new(frame), waits }).is_err() {
                return Ok(());
            }
        }
    }
}
