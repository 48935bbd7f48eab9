//! The daemon: one thread owns the node; network, operator and clock send it events.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

use hedgerow_joint::JointClass;
use hedgerow_smc::{Member, SigningKey};
use rand::SeedableRng as _;
use rand::rngs::{StdRng, SysRng};
use serde_json::{Value, json};

use crate::clock::{Clock, DAY_MS, Time, unix_ms};
use crate::command::Command;
use crate::configured::Configured;
use crate::context::Custodian;
use crate::disk::{self, Disk};
use crate::door::{self, Door};
use crate::endpoint::{self, Answers, Current, Endpoint, Reports};
use crate::event::Event;
use crate::health::{self, Health, HealthCounts};
use crate::keys;
use crate::live::Live;
use crate::message::QuestionId;
use crate::net::Senders;
use crate::node::Node;
use crate::operator::{self, OperatorRequest, Order, Towards};
use crate::outbox::Sent;
use crate::outlines::Outlines;
use crate::query::{Asks, Queried, STACK_BYTES, ToAsker};
use crate::question::{Unanswered, Work};
use crate::rejections::Rejections;
use crate::store::StoreError;
use crate::terms::Terms;

/// Events that wait for the node; a thread that has more waits.
const EVENTS_MAX: usize = 64;
/// Analysts' statements that wait for the journal.
const QUERIED_MAX: usize = 1 << 12;
const TICK: Duration = Duration::from_millis(100);
/// For the last words to be sent.
const DRAIN_MAX: Duration = Duration::from_secs(2);

/// Why a node does not run.
#[derive(Debug, thiserror::Error)]
#[error("{problem}")]
pub struct DaemonError {
    pub problem: String,
}

fn failed(what: &str, error: &dyn std::fmt::Display) -> DaemonError {
    DaemonError { problem: if what.is_empty() { error.to_string() } else { format!("{what}: {error}") } }
}

/// Runs a node until `stop` is set.
pub fn run(settings_path: &Path, stop: &Arc<AtomicBool>) -> Result<(), DaemonError> {
    let configured = Live::new(Configured::load(settings_path).map_err(|error| failed("", &error))?);
    let started = configured.get();
    let settings = &started.settings;
    let terms = Arc::new(Terms::load(settings).map_err(|error| failed("", &error))?);
    let clock = Clock::start();
    let signing = Arc::new(keys::read_signing_key(&settings.signing_key).map_err(|error| failed("", &error))?);
    let disk = Disk::open(&settings.data, Arc::clone(&terms), Arc::clone(&signing), true)
        .map_err(|error| failed("", &error))?;
    let (commands, requests) = sync_channel(EVENTS_MAX);
    let control = settings.data.join("control");
    let (send_events, events) = sync_channel(EVENTS_MAX);
    let towards = Towards { commands, events: send_events.clone(), data: settings.data.clone() };
    operator::listen(&control, towards).map_err(|error| failed(&control.display().to_string(), &error))?;
    let listen = settings.listen.to_string();
    let listener = TcpListener::bind(settings.listen).map_err(|error| failed(&listen, &error))?;
    let rng = StdRng::try_from_rng(&mut SysRng).map_err(|error| failed("the system gives no randomness", &error))?;
    let outlined = Arc::clone(&terms);
    let outline = move |classes: &[JointClass]| {
        outlined.outline(classes).map_err(|error| crate::message::plain(&error.to_string()))
    };
    let outlines = Arc::new(Outlines::new(Box::new(outline)));
    let custodian = custodian(&started, signing, &terms, &outlines);
    let (node, sent) = Node::open(custodian, disk, rng, clock.now()).map_err(|error| failed("", &error))?;
    let rejections = Rejections::default();
    let senders = Senders::start(&configured).map_err(|error| failed("", &error))?;
    let door = door::listen(listener, &configured, &send_events, &rejections).map_err(|error| failed("", &error))?;
    let health = Health::default();
    if let Some(address) = settings.metrics {
        health::listen(address, health.clone()).map_err(|error| failed(&address.to_string(), &error))?;
    }
    let (current, (queried, queries)) = (Current::default(), sync_channel(QUERIED_MAX));
    current.set(node.epoch());
    let today = unix_ms() / DAY_MS * DAY_MS;
    let counted = disk::statements_since(&settings.data, today).map_err(|error| failed("", &error))?;
    let answers = Answers { outlines: &outlines, terms: node.terms(), current: &current, counted };
    let reports = Reports { events: send_events.clone(), queried, rejections: rejections.clone() };
    let endpoint = endpoint::listen(&configured, &answers, &reports).map_err(|error| failed("endpoint", &error))?;
    let work = start_worker(send_events).map_err(|error| failed("", &error))?;
    let (asking, settings_path) = (BTreeMap::new(), settings_path.to_path_buf());
    let mut daemon = Daemon {
        node,
        settings_path,
        configured,
        senders,
        door,
        endpoint,
        rejections,
        clock,
        health,
        current,
        queries,
        work,
        asking,
    };
    daemon.send(sent);
    let ended = daemon.serve(&events, &requests, stop);
    let _ = std::fs::remove_file(&control);
    ended.map_err(|error| failed("", &error))
}

/// The identity of the node, and how it reads its rows.
fn custodian(
    configured: &Configured,
    signing: Arc<SigningKey>,
    terms: &Arc<Terms>,
    outlines: &Arc<Outlines>,
) -> Custodian {
    let Configured { settings, tls, .. } = configured;
    let read = Arc::clone(terms);
    // The error names a row and its value, which are for the operator alone: `check` shows them.
    let rows = move || {
        read.read_rows().map_err(|_| "its own rows do not fit what was agreed on (`check` shows where)".to_owned())
    };
    Custodian {
        own: Member { name: settings.name.clone(), key: tls.own, signing_key: signing.public() },
        signing,
        peers: settings.peers.clone(),
        agreed: Arc::clone(&terms.agreed),
        profile: settings.profile,
        deadlines: settings.deadlines,
        rows: Box::new(rows),
        outlines: Arc::clone(outlines),
    }
}

/// Does the work that the node hands out, one piece after the other, so that the node does not
/// wait.
fn start_worker(events: SyncSender<Event>) -> std::io::Result<Sender<Work>> {
    // The node hands out no more than it has open questions.
    let (send, works) = channel::<Work>();
    let serve = move || {
        for work in works {
            if events.send(Event::Worked(work.run())).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().name("work".to_owned()).stack_size(STACK_BYTES).spawn(serve)?;
    Ok(send)
}

struct Daemon {
    node: Node<Disk>,
    settings_path: PathBuf,
    configured: Live<Configured>,
    senders: Senders,
    door: Door,
    endpoint: Option<Endpoint>,
    rejections: Rejections,
    clock: Clock,
    health: Health,
    current: Current,
    queries: Receiver<Queried>,
    work: Sender<Work>,
    /// The clients that wait, by answer.
    asking: BTreeMap<QuestionId, ToAsker>,
}

impl Daemon {
    fn now(&self) -> Time {
        self.clock.now()
    }

    fn send(&self, sent: Sent) {
        sent.iter().for_each(|(to, frame)| self.senders.send(to, frame));
    }

    fn serve(
        &mut self,
        events: &Receiver<Event>,
        requests: &Receiver<OperatorRequest>,
        stop: &AtomicBool,
    ) -> Result<(), StoreError> {
        let mut ticked = self.now().steady_ms;
        while !stop.load(Ordering::SeqCst) {
            match events.recv_timeout(TICK) {
                Ok(Event::Frame { from, frame, waits }) => {
                    // In the node's hands it is one at a time.
                    drop(waits);
                    let sent = self.node.receive(self.now(), &from, *frame)?;
                    self.send(sent);
                }
                Ok(Event::OtherVersion { from, version }) => {
                    let sent = self.node.heard_version(self.now(), &from, version)?;
                    self.send(sent);
                }
                Ok(Event::Queried(queried)) => self.node.queried(self.now(), &[queried])?,
                Ok(Event::Asks(asks)) => self.ask(asks)?,
                Ok(Event::Worked(worked)) => {
                    let sent = self.node.worked(self.now(), worked)?;
                    self.send(sent);
                }
                Ok(Event::Commanded) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let now = self.now();
            self.current.set(self.node.epoch());
            self.journal_reports(now)?;
            if self.node.has_work() || now.steady_ms.saturating_sub(ticked) >= TICK.as_millis() as u64 {
                ticked = now.steady_ms;
                let sent = self.node.tick(now)?;
                self.send(sent);
                self.forget_abandoned()?;
                self.health.set(self.counts());
            }
            while let Ok(requested) = requests.try_recv() {
                self.answer(requested)?;
            }
            self.hand_over();
        }
        self.journal_reports(self.now())?;
        let sent = self.node.close(self.now())?;
        self.hand_over();
        self.send(sent);
        self.senders.drain(DRAIN_MAX);
        Ok(())
    }

    /// Statements and rejections of other threads.
    fn journal_reports(&mut self, now: Time) -> Result<(), StoreError> {
        let queries: Vec<Queried> = self.queries.try_iter().take(QUERIED_MAX).collect();
        if !queries.is_empty() {
            self.node.queried(now, &queries)?;
        }
        let rejected = self.rejections.take();
        if !rejected.is_empty() {
            self.node.reject(now, &rejected)?;
        }
        Ok(())
    }

    fn counts(&self) -> HealthCounts {
        let connected = self.senders.connected().iter().filter(|(_, up)| *up).count();
        let (connections, unauthenticated) = self.door.connections();
        HealthCounts {
            peers_connected: connected as u64,
            connections: connections as u64,
            unauthenticated: unauthenticated as u64,
            endpoint: self.endpoint.as_ref().map(Endpoint::load).unwrap_or_default(),
            ..self.node.counts()
        }
    }

    fn ask(&mut self, Asks { who, epoch, sql, answer }: Asks) -> Result<(), StoreError> {
        match self.node.ask(self.now(), &who, epoch, &sql)? {
            Ok(id) => {
                self.asking.insert(id, answer);
            }
            Err(why) => answer.send(Err(Unanswered::Failed { why, about: None })),
        }
        Ok(())
    }

    /// Work for the worker, and answers for those who wait.
    fn hand_over(&mut self) {
        for work in self.node.take_work() {
            let _ = self.work.send(work);
        }
        for (id, answer) in self.node.take_answers() {
            if let Some(waiting) = self.asking.remove(&id) {
                waiting.send(answer);
            }
        }
    }

    /// Questions whose clients have disconnected need not be answered.
    fn forget_abandoned(&mut self) -> Result<(), StoreError> {
        let gone: Vec<QuestionId> =
            self.asking.iter().filter(|(_, asker)| asker.is_gone()).map(|(id, _)| *id).collect();
        for id in gone {
            self.asking.remove(&id);
            let sent = self.node.forget(self.now(), id)?;
            self.send(sent);
        }
        Ok(())
    }

    fn answer(&mut self, OperatorRequest { order, answer }: OperatorRequest) -> Result<(), StoreError> {
        let result = match order {
            Order::Node(command) => self.command(&command)?,
            Order::Reload { operator } => self.reload(&operator)?,
        };
        // An operator who has disconnected needs no answer.
        let _ = answer.send(result);
        Ok(())
    }

    fn command(&mut self, command: &Command) -> Result<Result<Value, String>, StoreError> {
        let (mut result, sent) = self.node.command(self.now(), command)?;
        self.send(sent);
        if let (Command::Status, Ok(status)) = (command, &mut result) {
            let peers = self.senders.connected().into_iter();
            let shown = |(name, up): (String, bool)| {
                let other_version = self.node.other_version(&name);
                json!({ "name": name, "connected": up, "other_version": other_version })
            };
            status["peers"] = peers.map(shown).collect();
        }
        Ok(result)
    }

    /// Reads settings, certificates and revocation lists again. Everything is checked before
    /// anything changes. Peers, and analysts with a certificate, then connect again and are
    /// verified again.
    fn reload(&mut self, operator: &str) -> Result<Result<Value, String>, StoreError> {
        let before = self.configured.get();
        let now = match before.reload(&self.settings_path) {
            Ok(now) => now,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let own = now.tls.own;
        let (peers, deadlines) = (now.settings.peers.clone(), now.settings.deadlines);
        let changes = match self.node.reconfigure(self.now(), operator, (own, peers), deadlines)? {
            Ok(changes) => changes,
            Err(why) => return Ok(Err(why)),
        };
        self.configured.set(now);
        if let Err(error) = self.senders.update() {
            tracing::error!(%error, "no thread for a new peer");
        }
        self.door.close_all();
        if let Some(endpoint) = &self.endpoint {
            endpoint.reloaded(&before);
        }
        tracing::info!(%operator, "reloaded");
        Ok(Ok(changes))
    }
}
