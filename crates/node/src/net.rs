//! Connections to other custodians, over which this node sends.
//!
//! Every node connects to each of its peers to send, and accepts connections to receive
//! (`door.rs`). A thread with a short queue serves each peer, so that no lock is held while the
//! network is slow. Frames that do not fit into the queue are dropped: nodes repeat what was not
//! heard.

use std::io::{self, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};

use crate::configured::Configured;
use crate::live::Live;
use crate::message::Frame;
use crate::settings::Role;
use crate::socket::Socket;
use crate::tls::fingerprint;

/// Frames that wait for one peer.
const QUEUE_FRAMES_MAX: usize = 1 << 12;
/// Bytes that wait for one peer.
const QUEUE_BYTES_MAX: u64 = 1 << 28;
/// An idle sender shows that it is there.
const ALIVE_EVERY: Duration = Duration::from_secs(20);
/// How often an idle sender looks whether the settings have changed.
const LOOK_EVERY: Duration = Duration::from_secs(1);
const RETRY_FIRST: Duration = Duration::from_millis(100);
const RETRY_LAST: Duration = Duration::from_secs(5);

type Stream = StreamOwned<ClientConnection, Socket>;

/// A thread and a queue for each custodian.
#[derive(Debug)]
pub struct Senders {
    configured: Live<Configured>,
    queues: Vec<(String, Queue)>,
}

#[derive(Debug)]
struct Queue {
    frames: SyncSender<Arc<[u8]>>,
    waiting_bytes: Arc<AtomicU64>,
    connected: Arc<AtomicBool>,
}

impl Senders {
    pub fn start(configured: &Live<Configured>) -> io::Result<Senders> {
        let mut senders = Senders { configured: configured.clone(), queues: Vec::new() };
        senders.update()?;
        Ok(senders)
    }

    /// Starts a sender for each new custodian of the settings, and ends those of removed ones.
    pub fn update(&mut self) -> io::Result<()> {
        let configured = self.configured.get();
        let custodians = configured.settings.peers.iter().filter(|peer| peer.role == Role::Custodian);
        let names: Vec<&str> = custodians.map(|peer| peer.member.name.as_str()).collect();
        // A sender ends when its queue is dropped.
        self.queues.retain(|(name, _)| names.contains(&name.as_str()));
        for name in names {
            if self.queues.iter().any(|(known, _)| known == name) {
                continue;
            }
            let (frames, waiting) = sync_channel(QUEUE_FRAMES_MAX);
            let (waiting_bytes, connected) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
            let sender = Sender {
                name: name.to_owned(),
                configured: self.configured.clone(),
                waiting,
                waiting_bytes: Arc::clone(&waiting_bytes),
                connected: Arc::clone(&connected),
            };
            thread::Builder::new().name("sender".to_owned()).spawn(move || sender.run())?;
            self.queues.push((name.to_owned(), Queue { frames, waiting_bytes, connected }));
        }
        Ok(())
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
        let up = |queue: &Queue| queue.connected.load(Ordering::SeqCst);
        self.queues.iter().map(|(name, queue)| (name.clone(), up(queue))).collect()
    }

    /// Waits until everything is sent to those who are connected, or the time is over.
    pub fn drain(&self, at_most: Duration) {
        let until = Instant::now() + at_most;
        let waiting =
            |queue: &Queue| queue.connected.load(Ordering::SeqCst) && queue.waiting_bytes.load(Ordering::SeqCst) > 0;
        while self.queues.iter().any(|(_, queue)| waiting(queue)) && Instant::now() < until {
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// The thread that sends to one peer.
struct Sender {
    name: String,
    configured: Live<Configured>,
    waiting: Receiver<Arc<[u8]>>,
    waiting_bytes: Arc<AtomicU64>,
    connected: Arc<AtomicBool>,
}

/// Why a connection is no longer used.
enum Ended {
    /// The peer was removed, or the node ends.
    Closed,
    Lost,
    /// Settings or certificates have changed.
    Reloaded,
}

impl Sender {
    fn run(self) {
        let mut retry = RETRY_FIRST;
        // A frame that was not sent completely is sent again; a peer ignores what it gets twice.
        let mut unsent: Option<Arc<[u8]>> = None;
        let peer = &self.name;
        // Of several failed attempts in a row, the log has the first as a warning.
        let mut said: Option<String> = None;
        loop {
            let configured = self.configured.get();
            match self.connect(&configured) {
                Ok(mut stream) => {
                    (retry, said) = (RETRY_FIRST, None);
                    self.connected.store(true, Ordering::SeqCst);
                    tracing::info!(%peer, "connected");
                    let ended = self.send_all(&mut stream, &mut unsent, &configured);
                    self.connected.store(false, Ordering::SeqCst);
                    match ended {
                        Ended::Lost => tracing::warn!(%peer, "connection lost"),
                        Ended::Closed | Ended::Reloaded => {
                            stream.conn.send_close_notify();
                            let _ = stream.flush();
                        }
                    }
                    match ended {
                        Ended::Closed => return,
                        Ended::Reloaded => continue,
                        Ended::Lost => {}
                    }
                }
                // Another reason than the last time is news.
                Err(error) if said.as_deref() != Some(error.to_string().as_str()) => {
                    tracing::warn!(%peer, %error, "cannot be reached");
                    said = Some(error.to_string());
                }
                Err(error) => tracing::debug!(%peer, %error, "cannot be reached"),
            }
            thread::sleep(retry);
            retry = (retry * 2).min(RETRY_LAST);
            if self.is_removed() {
                return;
            }
        }
    }

    fn is_removed(&self) -> bool {
        let configured = self.configured.get();
        !configured.settings.peers.iter().any(|peer| peer.role == Role::Custodian && peer.member.name == self.name)
    }

    fn connect(&self, configured: &Configured) -> io::Result<Stream> {
        let Configured { settings, tls, .. } = configured;
        let peer = settings.peers.iter().find(|peer| peer.member.name == self.name).ok_or(io::ErrorKind::NotFound)?;
        let address = peer.address.as_deref().unwrap_or_default();
        let address = address.to_socket_addrs()?.next().ok_or(io::ErrorKind::NotFound)?;
        let tcp = Arc::new(TcpStream::connect_timeout(&address, settings.deadlines.handshake)?);
        tcp.set_nodelay(true)?;
        let mut socket = Socket::with_deadline(tcp, settings.deadlines.handshake);
        let name = ServerName::try_from(self.name.clone()).map_err(io::Error::other)?;
        let mut conn = ClientConnection::new(Arc::clone(&tls.client), name).map_err(io::Error::other)?;
        while conn.is_handshaking() {
            conn.complete_io(&mut socket)?;
        }
        let shown = conn.peer_certificates().and_then(|chain| fingerprint(chain.first()?));
        if shown != Some(peer.member.key) {
            return Err(io::Error::other("another key than the one that is pinned"));
        }
        socket.established(settings.deadlines.handshake, settings.deadlines.silence)?;
        Ok(StreamOwned::new(conn, socket))
    }

    fn send_all(&self, stream: &mut Stream, unsent: &mut Option<Arc<[u8]>>, used: &Arc<Configured>) -> Ended {
        let mut last = Instant::now();
        loop {
            if unsent.is_none() {
                match self.waiting.recv_timeout(LOOK_EVERY) {
                    Ok(bytes) => *unsent = Some(bytes),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return Ended::Closed,
                }
            }
            if !Arc::ptr_eq(&self.configured.get(), used) {
                return Ended::Reloaded;
            }
            if unsent.is_none() && last.elapsed() < ALIVE_EVERY {
                continue;
            }
            let bytes: &[u8] = unsent.as_deref().unwrap_or(&Frame::ALIVE);
            if stream.write_all(bytes).and_then(|()| stream.flush()).is_err() {
                return Ended::Lost;
            }
            last = Instant::now();
            if let Some(bytes) = unsent.take() {
                self.waiting_bytes.fetch_sub(bytes.len() as u64, Ordering::SeqCst);
            }
        }
    }
}
