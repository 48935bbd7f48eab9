//! Connections between nodes: threads and blocking sockets.
//!
//! A connection goes one way. Every node connects to each of its peers to send, and takes
//! connections to receive; so no stream is shared between threads, and no lock is held while the
//! network is slow. Whoever sends keeps a short queue for each peer. What does not fit is dropped:
//! nodes repeat what was not heard.

use std::io::{self, Write as _};
use std::net::{TcpListener, TcpStream, ToSocketAddrs as _};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use rustls::{ClientConnection, ServerConnection, StreamOwned};

use crate::message::{Frame, FrameError};
use crate::query::Asks;
use crate::question::Worked;
use crate::settings::{Peer, Role, Settings};
use crate::tls::{Tls, fingerprint};

/// Frames that wait for one peer.
const QUEUE_FRAMES_MAX: usize = 1 << 12;
/// Bytes that wait for one peer.
const QUEUE_BYTES_MAX: u64 = 1 << 28;
/// An idle sender shows that it is there.
const ALIVE_EVERY: Duration = Duration::from_secs(20);
/// A receiver that hears nothing at all gives the connection up.
const SILENT_MAX: Duration = Duration::from_secs(70);
/// Connections of one peer at the same time: a new one may come before the old one is seen to end.
const CONNECTIONS_OF_PEER_MAX: usize = 4;
const RETRY_FIRST: Duration = Duration::from_millis(100);
const RETRY_LAST: Duration = Duration::from_secs(5);

/// What reaches a node: from the network, and from whoever is at this machine.
#[derive(Debug)]
pub enum Heard {
    Frame {
        from: String,
        frame: Frame,
    },
    /// Somebody was turned away.
    Rejected {
        whom: String,
        why: String,
    },
    /// Somebody asks all custodians.
    Asks(Asks),
    /// Something is worked out that the node had handed out.
    Worked(Worked),
}

/// Takes connections, and hands what they bring to `hear`, until the process ends.
pub fn listen(
    listener: TcpListener,
    settings: &Settings,
    tls: &Tls,
    hear: &SyncSender<Heard>,
) -> io::Result<thread::JoinHandle<()>> {
    let door = Arc::new(Door {
        tls: tls.clone(),
        peers: settings.peers.clone(),
        connections: AtomicUsize::new(0),
        by_peer: Mutex::new(vec![0; settings.peers.len()]),
        connections_max: settings.connections_max,
        frame_bytes_max: settings.message_bytes_max + 1,
        handshake: settings.deadlines.handshake,
        hear: hear.clone(),
    });
    let accept = move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else {
                // Out of file descriptors, perhaps: others may end first.
                thread::sleep(RETRY_FIRST);
                continue;
            };
            let from = stream.peer_addr().map_or("an unknown address".to_owned(), |address| address.to_string());
            if door.connections.fetch_add(1, Ordering::SeqCst) >= door.connections_max {
                door.connections.fetch_sub(1, Ordering::SeqCst);
                door.reject(&from, "too many connections");
                continue;
            }
            let inside = Arc::clone(&door);
            let serve = move || {
                inside.serve(stream, &from);
                inside.connections.fetch_sub(1, Ordering::SeqCst);
            };
            if thread::Builder::new().name("receiver".to_owned()).spawn(serve).is_err() {
                door.connections.fetch_sub(1, Ordering::SeqCst);
            }
        }
    };
    thread::Builder::new().name("door".to_owned()).spawn(accept)
}

struct Door {
    tls: Tls,
    peers: Vec<Peer>,
    connections: AtomicUsize,
    by_peer: Mutex<Vec<usize>>,
    connections_max: usize,
    frame_bytes_max: usize,
    handshake: Duration,
    hear: SyncSender<Heard>,
}

impl Door {
    fn reject(&self, whom: &str, why: &str) {
        // When nobody listens the process ends; when the queue is full the rejection is not news.
        let _ = self.hear.try_send(Heard::Rejected { whom: whom.to_owned(), why: why.to_owned() });
    }

    fn serve(&self, stream: TcpStream, from: &str) {
        let (place, mut stream) = match self.welcome(stream) {
            Ok(welcomed) => welcomed,
            Err(why) => return self.reject(from, &why),
        };
        let peer = &self.peers[place];
        if !self.count(place) {
            return self.reject(&peer.member.name, "too many connections of one peer");
        }
        tracing::debug!(peer = %peer.member.name, %from, "accepted");
        if let Err(error) = self.receive(peer, &mut stream) {
            match error {
                FrameError::Io(_) => {}
                error => self.reject(&peer.member.name, &error.to_string()),
            }
        }
        stream.conn.send_close_notify();
        let _ = stream.flush();
        if let Ok(mut by_peer) = self.by_peer.lock() {
            by_peer[place] -= 1;
        }
    }

    fn count(&self, place: usize) -> bool {
        let Ok(mut by_peer) = self.by_peer.lock() else { return false };
        let free = by_peer[place] < CONNECTIONS_OF_PEER_MAX;
        by_peer[place] += usize::from(free);
        free
    }

    /// The handshake, and who it is.
    fn welcome(&self, mut stream: TcpStream) -> Result<(usize, StreamOwned<ServerConnection, TcpStream>), String> {
        let mut conn = ServerConnection::new(Arc::clone(&self.tls.server)).map_err(|error| error.to_string())?;
        let until = Instant::now() + self.handshake;
        while conn.is_handshaking() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err("no handshake in time".to_owned());
            }
            let timed = stream.set_read_timeout(Some(left)).and_then(|()| stream.set_write_timeout(Some(left)));
            timed.map_err(|error| error.to_string())?;
            conn.complete_io(&mut stream).map_err(|error| format!("no handshake: {error}"))?;
        }
        let shown = conn.peer_certificates().and_then(|chain| fingerprint(chain.first()?));
        let place = self.peers.iter().position(|peer| Some(peer.member.key) == shown);
        let place = place.ok_or("a certificate of the authority, but not the key of any peer")?;
        let timed = stream.set_read_timeout(Some(SILENT_MAX)).and_then(|()| stream.set_nodelay(true));
        timed.map_err(|error| error.to_string())?;
        Ok((place, StreamOwned::new(conn, stream)))
    }

    fn receive(&self, peer: &Peer, stream: &mut StreamOwned<ServerConnection, TcpStream>) -> Result<(), FrameError> {
        loop {
            let Some(frame) = Frame::read(stream, self.frame_bytes_max)? else { continue };
            // A full queue holds up this peer, and nobody else.
            let heard = Heard::Frame { from: peer.member.name.clone(), frame };
            if self.hear.send(heard).is_err() {
                return Ok(());
            }
        }
    }
}

/// The sending half: a thread and a queue for each custodian.
#[derive(Debug)]
pub struct Senders {
    queues: Vec<(String, Queue)>,
}

#[derive(Debug)]
struct Queue {
    frames: SyncSender<Arc<[u8]>>,
    waiting_bytes: Arc<AtomicU64>,
    connected: Arc<AtomicUsize>,
}

impl Senders {
    pub fn start(settings: &Settings, tls: &Tls) -> io::Result<Senders> {
        let mut queues = Vec::new();
        for peer in settings.peers.iter().filter(|peer| peer.role == Role::Custodian) {
            let (frames, waiting) = sync_channel(QUEUE_FRAMES_MAX);
            let (waiting_bytes, connected) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicUsize::new(0)));
            let line = Line {
                peer: peer.clone(),
                tls: tls.clone(),
                deadline: settings.deadlines.handshake,
                silence: settings.deadlines.silence,
                waiting,
                waiting_bytes: Arc::clone(&waiting_bytes),
                connected: Arc::clone(&connected),
            };
            thread::Builder::new().name("sender".to_owned()).spawn(move || line.run())?;
            queues.push((peer.member.name.clone(), Queue { frames, waiting_bytes, connected }));
        }
        Ok(Senders { queues })
    }

    pub fn send(&self, to: &str, frame: &Frame) {
        let Some((_, queue)) = self.queues.iter().find(|(name, _)| name == to) else { return };
        let bytes: Arc<[u8]> = frame.encode().into();
        let length = bytes.len() as u64;
        if queue.waiting_bytes.load(Ordering::SeqCst) + length > QUEUE_BYTES_MAX {
            return;
        }
        queue.waiting_bytes.fetch_add(length, Ordering::SeqCst);
        if let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) = queue.frames.try_send(bytes) {
            queue.waiting_bytes.fetch_sub(length, Ordering::SeqCst);
        }
    }

    /// Whether a peer can be reached.
    pub fn connected(&self) -> Vec<(String, bool)> {
        let up = |queue: &Queue| queue.connected.load(Ordering::SeqCst) > 0;
        self.queues.iter().map(|(name, queue)| (name.clone(), up(queue))).collect()
    }

    /// Waits until everything is sent to those who are connected, or the time is over.
    pub fn drain(&self, at_most: Duration) {
        let until = Instant::now() + at_most;
        let waiting = |queue: &Queue| {
            queue.connected.load(Ordering::SeqCst) > 0 && queue.waiting_bytes.load(Ordering::SeqCst) > 0
        };
        while self.queues.iter().any(|(_, queue)| waiting(queue)) && Instant::now() < until {
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// The line to one peer.
struct Line {
    peer: Peer,
    tls: Tls,
    deadline: Duration,
    silence: Duration,
    waiting: Receiver<Arc<[u8]>>,
    waiting_bytes: Arc<AtomicU64>,
    connected: Arc<AtomicUsize>,
}

impl Line {
    fn run(self) {
        let mut retry = RETRY_FIRST;
        // What was not sent whole is sent again: whoever got it twice passes it over.
        let mut unsent: Option<Arc<[u8]>> = None;
        let peer = &self.peer.member.name;
        // Of many attempts in a row the first is for whoever looks after the node.
        let mut is_news = true;
        loop {
            match self.connect() {
                Ok(mut stream) => {
                    (retry, is_news) = (RETRY_FIRST, true);
                    self.connected.store(1, Ordering::SeqCst);
                    tracing::info!(%peer, "connected");
                    let gone = self.send_all(&mut stream, &mut unsent);
                    self.connected.store(0, Ordering::SeqCst);
                    if gone {
                        stream.conn.send_close_notify();
                        let _ = stream.flush();
                        return;
                    }
                    tracing::warn!(%peer, "connection lost");
                }
                Err(error) if is_news => {
                    is_news = false;
                    tracing::warn!(%peer, %error, "cannot be reached");
                }
                Err(error) => tracing::debug!(%peer, %error, "cannot be reached"),
            }
            thread::sleep(retry);
            retry = (retry * 2).min(RETRY_LAST);
        }
    }

    fn connect(&self) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
        let address = self.peer.address.as_deref().unwrap_or_default();
        let address = address.to_socket_addrs()?.next().ok_or(io::ErrorKind::NotFound)?;
        let mut stream = TcpStream::connect_timeout(&address, self.deadline)?;
        stream.set_read_timeout(Some(self.deadline))?;
        stream.set_write_timeout(Some(self.silence))?;
        stream.set_nodelay(true)?;
        let name = ServerName::try_from(self.peer.member.name.clone()).map_err(io::Error::other)?;
        let mut conn = ClientConnection::new(Arc::clone(&self.tls.client), name).map_err(io::Error::other)?;
        while conn.is_handshaking() {
            conn.complete_io(&mut stream)?;
        }
        let shown = conn.peer_certificates().and_then(|chain| fingerprint(chain.first()?));
        if shown != Some(self.peer.member.key) {
            return Err(io::Error::other("another key than the one that is pinned"));
        }
        Ok(StreamOwned::new(conn, stream))
    }

    /// True when the node has ended and nothing more will come.
    fn send_all(&self, stream: &mut StreamOwned<ClientConnection, TcpStream>, unsent: &mut Option<Arc<[u8]>>) -> bool {
        loop {
            if unsent.is_none() {
                match self.waiting.recv_timeout(ALIVE_EVERY) {
                    Ok(bytes) => *unsent = Some(bytes),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return true,
                }
            }
            let bytes: &[u8] = unsent.as_deref().unwrap_or(&Frame::ALIVE);
            if stream.write_all(bytes).and_then(|()| stream.flush()).is_err() {
                return false;
            }
            if let Some(bytes) = unsent.take() {
                self.waiting_bytes.fetch_sub(bytes.len() as u64, Ordering::SeqCst);
            }
        }
    }
}
