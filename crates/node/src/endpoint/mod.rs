//! The virtual database: an endpoint of a node that speaks PostgreSQL's protocol, for the tools
//! that analysts have. It answers over the release of an epoch, which every custodian holds whole
//! and any reader may have, or has all custodians answer where their rows stay apart. Nothing is
//! touched that was not released, and no statement writes.
//!
//! An analyst connects over TLS, or on the same machine without, and proves a password by SCRAM or
//! shows a certificate. Until then a connection has one deadline for everything, and a place that
//! it may lose to a newer one (`places.rs`). Each connection is a thread with blocking sockets, as
//! connections between nodes are, so that every read has a deadline and a limit. `entry` lets
//! analysts in, `session` reads messages, `statement` says which statements there are, `answer`
//! answers those over the release and `catalog` those about it.

mod answer;
mod answer_rows;
mod backoff;
mod budget;
mod catalog;
mod copy;
mod cursor;
mod decoy;
mod entry;
mod execute;
mod extended;
mod journal;
mod kind;
mod portal;
mod quota;
mod refusal;
mod session;
mod statement;
mod stream;
mod tokens;
mod variables;
mod wire;

use std::collections::BTreeMap;
use std::net::{IpAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{io, thread};

use hedgerow_smc::Digest;
use rand::RngExt as _;

use crate::configured::Configured;
use crate::endpoint_settings::Options;
use crate::event::Event;
use crate::health::Load;
use crate::live::Live;
use crate::outlines::Outlines;
use crate::places::{ConnectionPlace, Places};
use crate::query::{Queried, STACK_BYTES};
use crate::rejections::{RejectionKind, Rejections};
use crate::scram::random;
use crate::tls::AnalystTls;
use answer::Epochs;
use backoff::Backoff;
use budget::Memory;
use quota::Quotas;
use session::EndpointSession;
use stream::{Ended, Stream};

/// Connections of clients that have not proven their identity.
const UNAUTHENTICATED_MAX: usize = 64;

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

/// Where the endpoint reports.
#[derive(Debug, Clone)]
pub struct Reports {
    pub events: SyncSender<Event>,
    /// Statements over the release, for the journal.
    pub queried: SyncSender<Queried>,
    pub rejections: Rejections,
}

/// The state that all connections share.
struct Shared {
    configured: Live<Configured>,
    epochs: Epochs,
    /// The node's folder, which has the journal.
    data: PathBuf,
    current: Current,
    reports: Reports,
    places: Arc<Places>,
    /// Statements that are being answered, also those whose time is over.
    working: AtomicUsize,
    /// By number of the connection: the secret that cancels, and the flag that it sets.
    cancels: Mutex<BTreeMap<u32, (u32, Arc<AtomicBool>)>>,
    next: AtomicU32,
    decoy: [u8; 32],
    backoff: Backoff,
    quotas: Quotas,
    /// Bytes of all answers.
    memory: Memory,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Shared")
    }
}

/// The endpoint of a node, for its reload and its metrics.
#[derive(Debug, Clone)]
pub struct Endpoint(Arc<Shared>);

impl Endpoint {
    /// Closes the connections of analysts who are no longer known, or known otherwise than before.
    pub fn reloaded(&self, before: &Configured) {
        let now = self.0.configured.get();
        let options = |configured: &Configured| configured.settings.endpoint.clone();
        let (Some(before), Some(now)) = (options(before), options(&now)) else { return };
        self.0.places.close_authenticated(|name| {
            let password = |options: &Options| options.analysts.iter().find(|analyst| analyst.name == name).cloned();
            let same = password(&before).is_some() && password(&before) == password(&now);
            // A certificate may be revoked now: an analyst who has one shows it again.
            !same
        });
    }

    pub fn load(&self) -> Load {
        Load {
            analysts: self.0.places.authenticated(),
            unauthenticated: self.0.places.unauthenticated(),
            statements: self.0.working.load(Ordering::SeqCst),
            answer_bytes: self.0.memory.used(),
        }
    }
}

/// The data that the endpoint answers from.
#[derive(Debug)]
pub struct Answers<'a> {
    pub outlines: &'a Arc<Outlines>,
    pub terms: Digest,
    pub current: &'a Current,
    /// By analyst, the statements of today that the journal has.
    pub counted: BTreeMap<String, u64>,
}

/// Accepts analysts' connections until the process ends; `None` where the settings have no
/// endpoint.
pub fn listen(
    configured: &Live<Configured>,
    answers: &Answers<'_>,
    reports: &Reports,
) -> Result<Option<Endpoint>, String> {
    let settings = &configured.get().settings;
    let Some(options) = &settings.endpoint else { return Ok(None) };
    let listener = TcpListener::bind(options.listen).map_err(|error| format!("{}: {error}", options.listen))?;
    let shared = Arc::new(Shared {
        configured: configured.clone(),
        epochs: Epochs::new(&settings.data, answers.outlines, answers.terms),
        data: settings.data.clone(),
        current: answers.current.clone(),
        reports: reports.clone(),
        places: Arc::default(),
        working: AtomicUsize::new(0),
        cancels: Mutex::new(BTreeMap::new()),
        next: AtomicU32::new(1),
        decoy: decoy::secret(&settings.data)?,
        backoff: Backoff::default(),
        quotas: Quotas::new(&answers.counted, crate::clock::unix_ms()),
        memory: Memory::new(options.bytes_max),
    });
    let endpoint = Endpoint(Arc::clone(&shared));
    let accept = move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else {
                // Out of file descriptors, perhaps: others may end first.
                thread::sleep(Duration::from_millis(100));
                continue;
            };
            shared.accept(stream);
        }
    };
    thread::Builder::new().name("analysts".to_owned()).spawn(accept).map_err(|error| error.to_string())?;
    Ok(Some(endpoint))
}

/// A connection before it is a session.
struct Visitor {
    configured: Arc<Configured>,
    tcp: Arc<TcpStream>,
    address: IpAddr,
    place: ConnectionPlace,
}

impl Visitor {
    fn options(&self) -> Option<(&Options, &AnalystTls)> {
        self.configured.settings.endpoint.as_ref().zip(self.configured.analysts.as_ref())
    }
}

impl Shared {
    fn accept(self: &Arc<Self>, stream: TcpStream) {
        let Ok(from) = stream.peer_addr() else { return };
        let tcp = Arc::new(stream);
        let place = self.places.enter(&tcp, UNAUTHENTICATED_MAX);
        let shared = Arc::clone(self);
        let visitor = Visitor { configured: self.configured.get(), tcp, address: from.ip(), place };
        let serve = move || {
            let from = from.to_string();
            match shared.meet(&visitor) {
                _ if !visitor.place.is_held() => {
                    shared.reject(RejectionKind::Limit, &from, "too many connections without a password");
                }
                Err(Ended::Rejected { kind, whom, why }) => {
                    shared.reject(kind, whom.as_deref().unwrap_or(&from), &why);
                }
                Err(Ended::NotUtf8) => shared.reject(RejectionKind::Message, &from, "a text that is not UTF-8"),
                Ok(()) | Err(Ended::Gone) => {}
            }
        };
        // Without a thread the connection is dropped, and its place with it.
        let _ = thread::Builder::new().name("analyst".to_owned()).stack_size(STACK_BYTES).spawn(serve);
    }

    fn reject(&self, kind: RejectionKind, whom: &str, why: &str) {
        self.reports.rejections.add(kind, whom, why);
    }

    fn meet(self: &Arc<Self>, visitor: &Visitor) -> Result<(), Ended> {
        visitor.tcp.set_nodelay(true)?;
        let Some((stream, minor, parameters)) = Stream::begin(self, visitor)? else { return Ok(()) };
        let number = self.next.fetch_add(1, Ordering::SeqCst);
        let canceled = Arc::new(AtomicBool::new(false));
        let secret = random().map_err(io::Error::other)?.random();
        if let Ok(mut cancels) = self.cancels.lock() {
            cancels.insert(number, (secret, Arc::clone(&canceled)));
        }
        let ended = EndpointSession::new(self, visitor, stream, canceled)
            .map_or(Err(Ended::Gone), |session| session.serve(minor, &parameters, (number, secret)));
        if let Ok(mut cancels) = self.cancels.lock() {
            cancels.remove(&number);
        }
        ended
    }

    /// Cancels what a connection is doing, for a client that knows its secret.
    fn cancel(&self, number: u32, secret: u32) {
        let Ok(cancels) = self.cancels.lock() else { return };
        if let Some((known, flag)) = cancels.get(&number)
            && *known == secret
        {
            flag.store(true, Ordering::SeqCst);
        }
    }
}
