//! The daemon: one thread owns the node; network, operator and clock send it events.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

use hedgerow_joint::JointClass;
use hedgerow_smc::Member;
use rand::SeedableRng as _;
use rand::rngs::{StdRng, SysRng};
use serde_json::json;

use crate::clock::Clock;
use crate::disk::Disk;
use crate::endpoint::{self, Current, Queried, Reports};
use crate::health::{self, Counts, Health};
use crate::message::QuestionId;
use crate::net::{self, Heard, Senders};
use crate::node::{Command, Custodian, Node, Sent, Time};
use crate::operator::{self, Requested, Towards};
use crate::outlines::Outlines;
use crate::query::{Asks, STACK_BYTES, ToAsker};
use crate::question::{Unanswered, Work};
use crate::settings::Settings;
use crate::store::StoreError;
use crate::terms::Terms;
use crate::tls::Tls;

/// Events that wait for the node; whoever has more waits.
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
    let settings = Settings::load(settings_path).map_err(|error| failed("", &error))?;
    let terms = Arc::new(Terms::load(&settings).map_err(|error| failed("", &error))?);
    let tls = Tls::new(&settings).map_err(|error| failed("", &error))?;
    let clock = Clock::start();
    let disk = Disk::open(&settings.data, Arc::clone(&terms), true).map_err(|error| failed("", &error))?;
    let (commands, requests) = sync_channel(EVENTS_MAX);
    let control = settings.data.join("control");
    let (hear, heard) = sync_channel(EVENTS_MAX);
    let towards = Towards { commands, questions: hear.clone() };
    operator::listen(&control, towards).map_err(|error| failed(&control.display().to_string(), &error))?;
    let listen = settings.listen.to_string();
    let listener = TcpListener::bind(settings.listen).map_err(|error| failed(&listen, &error))?;
    let rng = StdRng::try_from_rng(&mut SysRng).map_err(|error| failed("the system gives no randomness", &error))?;
    let read = Arc::clone(&terms);
    // The error names a row and its value, which are for the operator alone: `check` shows them.
    let rows = move || {
        read.read_rows().map_err(|_| "its own rows do not fit what was agreed on (`check` shows where)".to_owned())
    };
    let outlined = Arc::clone(&terms);
    let outline = move |classes: &[JointClass]| {
        outlined.outline(classes).map_err(|error| crate::message::plain(&error.to_string()))
    };
    let outlines = Arc::new(Outlines::new(Box::new(outline)));
    let custodian = Custodian {
        own: Member { name: settings.name.clone(), key: tls.own },
        peers: settings.peers.clone(),
        agreed: Arc::clone(&terms.agreed),
        deadlines: settings.deadlines,
        rows: Box::new(rows),
        outlines: Arc::clone(&outlines),
    };
    let (node, sent) = Node::open(custodian, disk, rng, clock.now()).map_err(|error| failed("", &error))?;
    let senders = Senders::start(&settings, &tls).map_err(|error| failed("", &error))?;
    net::listen(listener, &settings, &tls, &hear).map_err(|error| failed("", &error))?;
    let health = Health::default();
    if let Some(address) = settings.metrics {
        health::listen(address, health.clone()).map_err(|error| failed(&address.to_string(), &error))?;
    }
    let (current, (queried, queries)) = (Current::default(), sync_channel(QUERIED_MAX));
    current.set(node.epoch());
    if let Some(options) = &settings.endpoint {
        let reports = Reports { heard: hear.clone(), queried };
        endpoint::listen(&settings, options, (&outlines, node.terms()), &current, &reports)
            .map_err(|error| failed("endpoint", &error))?;
    }
    let work = start_worker(hear).map_err(|error| failed("", &error))?;
    let asking = BTreeMap::new();
    let mut daemon = Daemon { node, senders, clock, health, current, queries, work, asking };
    daemon.send(sent);
    let ended = daemon.serve(&heard, &requests, stop);
    let _ = std::fs::remove_file(&control);
    ended.map_err(|error| failed("", &error))
}

/// Works out what the node hands out, one thing after the other, so that the node waits for none of
/// it.
fn start_worker(hear: SyncSender<Heard>) -> std::io::Result<Sender<Work>> {
    // The node hands out no more than it has open questions.
    let (send, works) = channel::<Work>();
    let serve = move || {
        for work in works {
            if hear.send(Heard::Worked(work.run())).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().name("work".to_owned()).stack_size(STACK_BYTES).spawn(serve)?;
    Ok(send)
}

struct Daemon {
    node: Node<Disk>,
    senders: Senders,
    clock: Clock,
    health: Health,
    current: Current,
    queries: Receiver<Queried>,
    work: Sender<Work>,
    /// Who waits for which answer.
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
        heard: &Receiver<Heard>,
        requests: &Receiver<Requested>,
        stop: &AtomicBool,
    ) -> Result<(), StoreError> {
        let mut ticked = self.now().steady_ms;
        while !stop.load(Ordering::SeqCst) {
            match heard.recv_timeout(TICK) {
                Ok(Heard::Frame { from, frame }) => {
                    let sent = self.node.receive(self.now(), &from, frame)?;
                    self.send(sent);
                }
                Ok(Heard::Rejected { whom, why }) => self.node.reject(self.now(), &whom, &why)?,
                Ok(Heard::Asks(asks)) => self.ask(asks)?,
                Ok(Heard::Worked(worked)) => {
                    let sent = self.node.worked(self.now(), worked)?;
                    self.send(sent);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let now = self.now();
            self.current.set(self.node.epoch());
            let queries: Vec<Queried> = self.queries.try_iter().take(QUERIED_MAX).collect();
            if !queries.is_empty() {
                self.node.queried(now, &queries)?;
            }
            if self.node.has_work() || now.steady_ms.saturating_sub(ticked) >= TICK.as_millis() as u64 {
                ticked = now.steady_ms;
                let sent = self.node.tick(now)?;
                self.send(sent);
                self.forget_abandoned()?;
                let connected = self.senders.connected().iter().filter(|(_, up)| *up).count();
                self.health.set(Counts { peers_connected: connected as u64, ..self.node.counts() });
                while let Ok(Requested { command, answer }) = requests.try_recv() {
                    self.answer(&command, &answer)?;
                }
            }
            self.hand_over();
        }
        let queries: Vec<Queried> = self.queries.try_iter().take(QUERIED_MAX).collect();
        self.node.queried(self.now(), &queries)?;
        let sent = self.node.close(self.now())?;
        self.hand_over();
        self.send(sent);
        self.senders.drain(DRAIN_MAX);
        Ok(())
    }

    fn ask(&mut self, Asks { who, epoch, sql, answer }: Asks) -> Result<(), StoreError> {
        match self.node.ask(self.now(), &who, epoch, &sql)? {
            Ok(id) => {
                self.asking.insert(id, answer);
            }
            Err(why) => answer.send(Err(Unanswered::Failed { why, blamed: None })),
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

    /// What nobody waits for any longer need not be answered.
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

    fn answer(
        &mut self,
        command: &Command,
        answer: &std::sync::mpsc::Sender<Result<serde_json::Value, String>>,
    ) -> Result<(), StoreError> {
        let (mut result, sent) = self.node.command(self.now(), command)?;
        self.send(sent);
        if let (Command::Status, Ok(status)) = (command, &mut result) {
            let peers = self.senders.connected().into_iter();
            status["peers"] = peers.map(|(name, up)| json!({ "name": name, "connected": up })).collect();
        }
        // An operator who has gone away needs no answer.
        let _ = answer.send(result);
        Ok(())
    }
}
