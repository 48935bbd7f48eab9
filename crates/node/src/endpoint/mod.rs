//! The virtual database: an endpoint of a node that speaks PostgreSQL's protocol, for the tools
//! that analysts have. It answers over the release of an epoch, which every custodian holds whole
//! and any reader may have, or has all custodians answer where their rows stay apart. Nothing is
//! touched that was not released, and nothing that writes is reached.
//!
//! An analyst connects over TLS, or on the same machine without, and proves a password by SCRAM or
//! shows a certificate.
//! Each connection is a thread with blocking sockets, as connections between nodes are, so that
//! every read has a deadline and a limit. `entry` lets analysts in, `session` reads messages,
//! `statement` says which statements there are, `answer` answers those over the release and
//! `catalog` those about it.

mod answer;
mod catalog;
mod copy;
mod entry;
mod execute;
mod journal;
mod kind;
mod options;
mod refusal;
mod scram;
mod session;
mod statement;
mod stream;
mod tokens;
mod variables;
mod wire;

use std::collections::BTreeMap;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{io, thread};

use hedgerow_smc::Digest;
use rand::RngExt as _;
use rustls::ServerConfig;

use crate::net::Heard;
use crate::outlines::Outlines;
use crate::query::STACK_BYTES;
use crate::settings::Settings;
use answer::Epochs;
use scram::random;
use session::Session;
use stream::{Ended, Stream};

pub use options::{Analyst, Options};
pub use scram::Verifier;

/// For a client that does not take what it is sent.
const WRITE_TIME: Duration = Duration::from_secs(60);

/// The last epoch of a node, or none while there is none or a run is in doubt.
#[derive(Debug, Clone, Default)]
pub struct Current(Arc<AtomicU64>);

impl Current {
    pub fn set(&self, epoch: Option<u64>) {
        self.0.store(epoch.unwrap_or(0), Ordering::SeqCst);
    }

    fn get(&self) -> Option<u64> {
        Some(self.0.load(Ordering::SeqCst)).filter(|epoch| *epoch > 0)
    }
}

/// An analyst's statement over the release, for the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queried {
    pub who: String,
    pub epoch: u64,
    pub sql: String,
}

/// Where the endpoint reports.
#[derive(Debug, Clone)]
pub struct Reports {
    pub heard: SyncSender<Heard>,
    pub queried: SyncSender<Queried>,
}

/// What all connections share.
struct Shared {
    options: Options,
    tls: Arc<ServerConfig>,
    epochs: Epochs,
    /// The node's folder, which has the journal.
    data: PathBuf,
    current: Current,
    reports: Reports,
    connections: AtomicUsize,
    /// Statements that are being answered, also those whose time is over.
    working: AtomicUsize,
    /// By number of the connection: the secret that cancels, and the flag that it sets.
    cancels: Mutex<BTreeMap<u32, (u32, Arc<AtomicBool>)>>,
    next: AtomicU32,
    /// For the salts of analysts who do not exist.
    nobody: [u8; 32],
    handshake: Duration,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Shared")
    }
}

/// Takes analysts' connections until the process ends. Without TLS there is no endpoint.
pub fn listen(
    settings: &Settings,
    options: &Options,
    (outlines, terms): (&Arc<Outlines>, Digest),
    current: &Current,
    reports: &Reports,
) -> Result<(), String> {
    let own = (settings.certificate.clone(), settings.key.clone());
    let (certificate, key) = options.identity.clone().unwrap_or(own);
    let tls = crate::tls::for_analysts(settings, (&certificate, &key), !options.certified.is_empty());
    let tls = tls.map_err(|error| error.to_string())?;
    let listener = TcpListener::bind(options.listen).map_err(|error| format!("{}: {error}", options.listen))?;
    let epochs = Epochs::new(&settings.data, outlines, terms);
    serve(listener, options, tls, (&settings.data, epochs), settings.deadlines.handshake, current, reports)
}

fn serve(
    listener: TcpListener,
    options: &Options,
    tls: Arc<ServerConfig>,
    (data, epochs): (&Path, Epochs),
    handshake: Duration,
    current: &Current,
    reports: &Reports,
) -> Result<(), String> {
    let shared = Arc::new(Shared {
        options: options.clone(),
        tls,
        epochs,
        data: data.to_path_buf(),
        current: current.clone(),
        reports: reports.clone(),
        connections: AtomicUsize::new(0),
        working: AtomicUsize::new(0),
        cancels: Mutex::new(BTreeMap::new()),
        next: AtomicU32::new(1),
        nobody: random()?.random(),
        handshake,
    });
    let accept = move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else {
                // Out of file descriptors, perhaps: others may end first.
                thread::sleep(Duration::from_millis(100));
                continue;
            };
            shared.take(stream);
        }
    };
    thread::Builder::new().name("analysts".to_owned()).spawn(accept).map(|_| ()).map_err(|error| error.to_string())
}

/// Counts down also when a thread panics.
struct Connected(Arc<Shared>);

impl Drop for Connected {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Shared {
    fn take(self: &Arc<Self>, stream: TcpStream) {
        let from = stream.peer_addr().map_or("an unknown address".to_owned(), |address| address.to_string());
        if self.connections.fetch_add(1, Ordering::SeqCst) >= self.options.connections_max {
            self.connections.fetch_sub(1, Ordering::SeqCst);
            return self.reject(&from, "too many connections of analysts");
        }
        let shared = Arc::clone(self);
        let serve = move || {
            let _connected = Connected(Arc::clone(&shared));
            if let Err(Ended::Rejected(why)) = shared.meet(stream) {
                shared.reject(&from, &why);
            }
        };
        if thread::Builder::new().name("analyst".to_owned()).stack_size(STACK_BYTES).spawn(serve).is_err() {
            self.connections.fetch_sub(1, Ordering::SeqCst);
        }
    }

    fn reject(&self, whom: &str, why: &str) {
        // When the queue is full, one more rejection is not news.
        let _ = self.reports.heard.try_send(Heard::Rejected { whom: whom.to_owned(), why: why.to_owned() });
    }

    fn meet(self: &Arc<Self>, stream: TcpStream) -> Result<(), Ended> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(WRITE_TIME))?;
        let must = !self.options.listen.ip().is_loopback();
        let Some((stream, minor, parameters)) = Stream::begin(stream, self, must)? else { return Ok(()) };
        let number = self.next.fetch_add(1, Ordering::SeqCst);
        let canceled = Arc::new(AtomicBool::new(false));
        let secret = random().map_err(io::Error::other)?.random();
        if let Ok(mut cancels) = self.cancels.lock() {
            cancels.insert(number, (secret, Arc::clone(&canceled)));
        }
        let ended = Session::new(self, stream, canceled).serve(minor, &parameters, (number, secret));
        if let Ok(mut cancels) = self.cancels.lock() {
            cancels.remove(&number);
        }
        ended
    }

    /// Cancels what a connection is doing, for whoever knows its secret.
    fn cancel(&self, number: u32, secret: u32) {
        let Ok(cancels) = self.cancels.lock() else { return };
        if let Some((known, flag)) = cancels.get(&number)
            && *known == secret
        {
            flag.store(true, Ordering::SeqCst);
        }
    }
}
