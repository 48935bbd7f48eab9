//! A world of its own for nodes: a clock, a network that loses, delays and repeats, machines that
//! crash, and operators who approve whatever their node lets them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use hedgerow_joint::{JointClass, Profile};
use hedgerow_node::journal::What;
use hedgerow_node::message::{Frame, FrameContent, Note, QuestionId, RunId};
use hedgerow_node::outlines::Outlines;
use hedgerow_node::part::EpochPart;
use hedgerow_node::settings::{Deadlines, Peer, Role};
use hedgerow_node::store::{RunResult, Store as _, StoreError};
use hedgerow_node::{Command, Custodian, Ending, Node, Sent, Time, Totals, Unanswered};
use hedgerow_release::Release;
use hedgerow_smc::{Member, SigningKey};
use hedgerow_table::progress::NoProgress;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::Value;

use crate::byzantine::Byzantine;
use crate::example::{CANARY, Example, example, release_united};
use crate::memory::Memory;

pub(crate) const K: u64 = 3;
pub(crate) const SITES: usize = 4;
const STEP_MS: u64 = 10;

struct Packet {
    at: u64,
    from: usize,
    to: usize,
    bytes: Vec<u8>,
}

pub(crate) struct Site {
    name: String,
    pub(crate) memory: Memory,
    pub(crate) node: Option<Node<Memory>>,
    up_at: u64,
    /// The runs in its journal, and how many rows of it were looked at.
    runs: (BTreeSet<RunId>, usize),
    /// Whether its rows have changed since the first run.
    pub(crate) changed: Arc<AtomicBool>,
}

/// How much goes wrong, in a thousand.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Trouble {
    pub(crate) lost: u32,
    pub(crate) twice: u32,
    pub(crate) late: u32,
    /// Crashes in a thousand steps of the clock.
    pub(crate) crash: u32,
}

pub(crate) struct World {
    rng: StdRng,
    /// Whether rows stay with their custodians.
    apart: bool,
    wide: bool,
    profile: Profile,
    /// By site and question, what is to be answered there; and what became of it.
    pending: BTreeMap<(usize, QuestionId), String>,
    pub(crate) answers: Vec<(usize, String, Result<Totals, Unanswered>)>,
    pub(crate) now: u64,
    pub(crate) trouble: Trouble,
    network: Vec<Packet>,
    pub(crate) sites: Vec<Site>,
    /// The connection of two sites that is cut, until when.
    cut: Option<(usize, usize, u64)>,
    /// A site that is busy or asleep, until when.
    stalled: Option<(usize, u64)>,
    pub(crate) crashes: u32,
    /// Refusals of operators' approvals, by the book.
    pub(crate) held: u32,
    endings: BTreeMap<RunId, BTreeSet<bool>>,
    /// The site that does not follow the protocol.
    pub(crate) byzantine: Option<Byzantine>,
    /// A site whose folder is an older copy: what it believes of runs is not looked at.
    pub(crate) stale: Option<usize>,
    /// Messages to a site that never arrive.
    pub(crate) loses: Option<fn(usize, &FrameContent) -> bool>,
    /// How many certificates were sent.
    pub(crate) certificates: usize,
}

pub(crate) fn signing(site: usize) -> SigningKey {
    SigningKey::from_bytes(&[site as u8 + 1; 32])
}

/// Made once: to compute a public key takes as long as to sign.
pub(crate) fn member(site: usize) -> Member {
    static MEMBERS: LazyLock<Vec<Member>> = LazyLock::new(|| {
        let member = |site: usize| Member {
            name: format!("site-{site}"),
            key: [site as u8 + 1; 32],
            signing_key: signing(site).public(),
        };
        (0..SITES).map(member).collect()
    });
    MEMBERS[site].clone()
}

/// Simulations look at every message: where the first byte is another one, at that alone.
fn has_canary(bytes: &[u8]) -> bool {
    let canary = CANARY.as_bytes();
    bytes.iter().enumerate().any(|(at, byte)| *byte == canary[0] && bytes[at..].starts_with(canary))
}

impl World {
    pub(crate) fn new(seed: u64) -> World {
        let site = |place: usize| Site {
            name: member(place).name,
            memory: Memory::default(),
            node: None,
            up_at: 0,
            runs: (BTreeSet::new(), 0),
            changed: Arc::new(AtomicBool::new(false)),
        };
        World {
            rng: StdRng::seed_from_u64(seed),
            apart: false,
            wide: false,
            profile: Profile::Masked,
            pending: BTreeMap::new(),
            answers: Vec::new(),
            now: 0,
            trouble: Trouble::default(),
            network: Vec::new(),
            sites: (0..SITES).map(site).collect(),
            cut: None,
            stalled: None,
            crashes: 0,
            held: 0,
            endings: BTreeMap::new(),
            byzantine: None,
            stale: None,
            loses: None,
            certificates: 0,
        }
    }

    /// With one site that sends whatever it likes.
    pub(crate) fn with_byzantine(seed: u64, byzantine: Byzantine) -> World {
        World { byzantine: Some(byzantine), ..World::new(seed) }
    }

    /// The same, with rows that stay with their custodians.
    pub(crate) fn apart_with_byzantine(seed: u64, byzantine: Byzantine) -> World {
        World { byzantine: Some(byzantine), ..World::apart(seed) }
    }

    pub(crate) fn is_honest(&self, place: usize) -> bool {
        self.byzantine.as_ref().is_none_or(|byzantine| byzantine.place != place)
    }

    /// In the ring.
    pub(crate) fn ring(seed: u64) -> World {
        World { profile: Profile::Baseline, ..World::new(seed) }
    }

    /// With rows that stay with their custodians.
    pub(crate) fn apart(seed: u64) -> World {
        World { apart: true, ..World::new(seed) }
    }

    /// With more combinations of protected values than are counted.
    pub(crate) fn wide(seed: u64) -> World {
        World { wide: true, ..World::apart(seed) }
    }

    fn time(&self) -> Time {
        Time { steady_ms: self.now, unix_ms: 1_800_000_000_000 + self.now }
    }

    pub(crate) fn start(&mut self, place: usize) {
        let Example { terms, apart, shares, .. } = example(self.wide);
        let agreed = if self.apart { apart } else { &terms.agreed };
        let outline = |classes: &[JointClass]| terms.outline(classes).map_err(|error| error.to_string());
        let (shares, changed) = (shares[place].clone(), Arc::clone(&self.sites[place].changed));
        let peer = |other: usize| Peer { member: member(other), address: None, role: Role::Custodian };
        let seconds = Duration::from_secs;
        let custodian = Custodian {
            own: member(place),
            signing: Arc::new(signing(place)),
            peers: (0..SITES).filter(|other| *other != place).map(peer).collect(),
            agreed: agreed.clone(),
            profile: self.profile,
            deadlines: Deadlines {
                handshake: seconds(1),
                silence: seconds(8),
                approval: seconds(20),
                answer: seconds(8),
            },
            outlines: Arc::new(Outlines::new(Box::new(outline))),
            rows: Box::new(move || Ok(shares[usize::from(changed.load(Ordering::SeqCst))].clone())),
        };
        let rng = StdRng::from_rng(&mut self.rng);
        let memory = self.sites[place].memory.clone();
        match Node::open(custodian, memory, rng, self.time()) {
            Ok((node, sent)) => {
                self.sites[place].node = Some(node);
                self.post(place, sent);
            }
            Err(hedgerow_node::OpenError::Store(_)) => self.crash(place),
            Err(error) => panic!("{}: {error}", self.sites[place].name),
        }
    }

    /// Everything that is not on the disk is gone.
    pub(crate) fn crash(&mut self, place: usize) {
        self.crashes += 1;
        let down = self.rng.random_range(0..4000);
        let site = &mut self.sites[place];
        (site.node, site.up_at) = (None, self.now + down);
        self.pending.retain(|(at, _), _| *at != place);
    }

    pub(crate) fn post(&mut self, from: usize, sent: Sent) {
        let sent = match &mut self.byzantine {
            Some(byzantine) if byzantine.place == from => byzantine.distort(sent),
            _ => sent,
        };
        for (name, frame) in sent {
            let Some(to) = self.sites.iter().position(|site| site.name == name) else { continue };
            self.certificates += usize::from(matches!(frame.content, FrameContent::Note(Note::Published { .. })));
            if self.loses.is_some_and(|loses| loses(to, &frame.content)) {
                continue;
            }
            let bytes = frame.encode();
            assert!(!has_canary(&bytes), "a value of a row is sent");
            let chance = |rng: &mut StdRng, of: u32| rng.random_range(0..1000) < of;
            let copies = if chance(&mut self.rng, self.trouble.twice) { 2 } else { 1 };
            for _ in 0..copies {
                if chance(&mut self.rng, self.trouble.lost) {
                    continue;
                }
                let longest = if chance(&mut self.rng, self.trouble.late) { 6000 } else { 30 };
                let at = self.now + self.rng.random_range(1..longest);
                self.network.push(Packet { at, from, to, bytes: bytes.clone() });
            }
        }
    }

    fn settle(&mut self, place: usize, result: Result<Sent, StoreError>) {
        match result {
            Ok(sent) => self.post(place, sent),
            Err(_) => self.crash(place),
        }
        self.work(place);
        self.look(place);
    }

    /// Work that a node hands out is done at once.
    fn work(&mut self, place: usize) {
        let time = self.time();
        let Some(node) = &mut self.sites[place].node else { return };
        for (id, answer) in node.take_answers() {
            let sql = self.pending.remove(&(place, id)).expect("an answer without a question");
            self.answers.push((place, sql, answer));
        }
        for work in node.take_work() {
            let Some(node) = &mut self.sites[place].node else { return };
            let result = node.worked(time, work.run());
            self.settle(place, result);
        }
    }

    /// An analyst asks at a site about its last epoch.
    pub(crate) fn ask(&mut self, place: usize, sql: &str) -> Option<Result<(), String>> {
        let time = self.time();
        let node = self.sites[place].node.as_mut()?;
        let epoch = node.epoch()?;
        let begun = match node.ask(time, "ada", epoch, sql) {
            Ok(Ok(id)) => {
                self.pending.insert((place, id), sql.to_owned());
                Ok(())
            }
            Ok(Err(why)) => Err(why),
            Err(_) => {
                self.crash(place);
                return None;
            }
        };
        self.work(place);
        Some(begun)
    }

    /// The clients that wait at a site disconnect.
    pub(crate) fn forget(&mut self, place: usize) {
        let waiting: Vec<QuestionId> = self.pending.keys().filter(|(at, _)| *at == place).map(|(_, id)| *id).collect();
        for id in waiting {
            self.pending.remove(&(place, id));
            let time = self.time();
            let result = self.sites[place].node.as_mut().unwrap().forget(time, id);
            self.settle(place, result);
        }
    }

    /// A frame reaches a site as if a peer had sent it; what the site says to it.
    pub(crate) fn inject(&mut self, place: usize, from: usize, content: FrameContent) -> Sent {
        self.receive(place, from, Frame::sign(content, &signing(from)))
    }

    /// The same with whatever signature it has.
    pub(crate) fn receive(&mut self, place: usize, from: usize, frame: Frame) -> Sent {
        let (time, name) = (self.time(), self.sites[from].name.clone());
        let sent = self.sites[place].node.as_mut().unwrap().receive(time, &name, frame).unwrap();
        self.work(place);
        sent
    }

    /// A site has a connection from a peer whose frames are of another version; what it says to it.
    pub(crate) fn other_version(&mut self, place: usize, from: usize, version: u8) -> Sent {
        let (time, name) = (self.time(), self.sites[from].name.clone());
        let sent = self.sites[place].node.as_mut().unwrap().heard_version(time, &name, version).unwrap();
        self.post(place, sent.clone());
        self.work(place);
        sent
    }

    /// Whether a client waits for an answer, or a node is still at work on one.
    pub(crate) fn is_asking(&mut self) -> bool {
        let questions = |status: Value| status["questions"].as_u64();
        !self.pending.is_empty()
            || (0..SITES).any(|place| match self.command(place, &Command::Status) {
                Some(Ok(status)) => questions(status) != Some(0),
                _ => true,
            })
    }

    /// From now on nothing goes wrong.
    pub(crate) fn end_trouble(&mut self) {
        (self.trouble, self.cut, self.stalled) = (Trouble::default(), None, None);
        self.sites.iter().for_each(|site| site.memory.0.lock().unwrap().breaks_after = None);
    }

    /// How often the first site handed in rows for shuffling.
    pub(crate) fn shuffled(&self) -> usize {
        let kept = self.sites[0].memory.0.lock().unwrap();
        let disclosed = kept.journal.iter().filter(|record| record.what == What::Disclosed);
        disclosed.filter(|record| record.detail.text().contains("rows handed in by each")).count()
    }

    /// The questions in a site's journal.
    pub(crate) fn questions_at(&self, place: usize) -> Vec<String> {
        let kept = self.sites[place].memory.0.lock().unwrap();
        let queried = kept.journal.iter().filter(|record| record.what == What::Queried);
        queried.map(|record| record.detail.value()["sql"].as_str().unwrap().to_owned()).collect()
    }

    /// The answer of an epoch's whole release, if one site had all parts.
    pub(crate) fn expected(&self, epoch: u64, sql: &str) -> Value {
        let parts: Vec<EpochPart> = self.sites.iter().map(|site| site.memory.part(epoch).unwrap().unwrap()).collect();
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("release");
        release_united(&example(self.wide).terms, &parts, &place);
        let release = Release::open(&place, &NoProgress).unwrap();
        serde_json::to_value(hedgerow_audit::query::answer(&release, sql).unwrap()).unwrap()
    }

    /// Notes how runs ended at a site: never both ways anywhere.
    fn look(&mut self, place: usize) {
        if !self.is_honest(place) || self.stale == Some(place) {
            return;
        }
        let Site { memory, node: Some(node), runs: (runs, looked_at), .. } = &mut self.sites[place] else { return };
        {
            let kept = memory.0.lock().unwrap();
            // A folder that was replaced by an older copy has fewer rows.
            let new = kept.journal.iter().skip(if kept.journal.len() < *looked_at { 0 } else { *looked_at });
            let begun = new.filter(|record| matches!(record.what, What::Proposed | What::Refused));
            runs.extend(begun.filter_map(|record| record.run));
            *looked_at = kept.journal.len();
        }
        for run in runs.iter() {
            if let Some(ending) = node.ending(run) {
                let ways = self.endings.entry(*run).or_default();
                ways.insert(matches!(ending, Ending::Published { .. }));
                assert_eq!(ways.len(), 1, "run {run} was published here and given up there");
            }
        }
    }

    /// One step of the clock.
    pub(crate) fn step(&mut self) {
        self.now += STEP_MS;
        for place in 0..SITES {
            if self.sites[place].node.is_none() && self.now >= self.sites[place].up_at {
                self.start(place);
            }
        }
        self.mischief();
        if let Some(byzantine) = &mut self.byzantine {
            byzantine.look(&self.sites[byzantine.place].memory);
        }
        if let Some(said) = self.byzantine.as_mut().map(Byzantine::invent) {
            let from = self.byzantine.as_ref().map_or(0, |byzantine| byzantine.place);
            self.post_as_is(from, said);
        }
        let (now, stalled) = (self.now, self.stalled.map(|(place, _)| place));
        let is_due = |packet: &Packet| packet.at <= now && Some(packet.to) != stalled;
        let (due, later) = std::mem::take(&mut self.network).into_iter().partition(is_due);
        self.network = later;
        let mut due: Vec<Packet> = due;
        due.sort_by_key(|packet| packet.at);
        for Packet { from, to, bytes, .. } in due {
            let is_cut =
                |(one, other, _): (usize, usize, u64)| (one, other) == (from, to) || (other, one) == (from, to);
            if self.cut.is_some_and(is_cut) {
                continue;
            }
            let (time, name) = (self.time(), self.sites[from].name.clone());
            let Ok(frame) = Frame::decode(&bytes[4..]) else { continue };
            if let Some(byzantine) = self.byzantine.as_mut().filter(|byzantine| byzantine.place == to) {
                byzantine.hear(&frame);
            }
            if let Some(node) = &mut self.sites[to].node {
                let result = node.receive(time, &name, frame);
                self.settle(to, result);
            }
        }
        if self.now.is_multiple_of(100) {
            for place in (0..SITES).filter(|place| Some(*place) != stalled) {
                let time = self.time();
                if let Some(node) = &mut self.sites[place].node {
                    let result = node.tick(time);
                    self.settle(place, result);
                }
            }
        }
    }

    fn post_as_is(&mut self, from: usize, sent: Sent) {
        for (name, frame) in sent {
            let Some(to) = self.sites.iter().position(|site| site.name == name) else { continue };
            let at = self.now + self.rng.random_range(1..30);
            self.network.push(Packet { at, from, to, bytes: frame.encode() });
        }
    }

    fn mischief(&mut self) {
        if self.cut.is_some_and(|(_, _, until)| self.now >= until) {
            self.cut = None;
        }
        if self.stalled.is_some_and(|(_, until)| self.now >= until) {
            self.stalled = None;
        }
        if self.rng.random_range(0..1000) >= self.trouble.crash {
            return;
        }
        let place = self.rng.random_range(0..SITES);
        match self.rng.random_range(0..5) {
            0 => self.crash(place),
            2 => self.stalled = Some((place, self.now + self.rng.random_range(2000..12_000))),
            1 => self.cut = Some((place, (place + 1) % SITES, self.now + self.rng.random_range(0..5000))),
            _ => {
                let breaks = (self.rng.random_range(0..6), self.rng.random_range(0..2) == 0);
                self.sites[place].memory.0.lock().unwrap().breaks_after = Some(breaks);
            }
        }
    }

    pub(crate) fn command(&mut self, place: usize, command: &Command) -> Option<Result<Value, String>> {
        let time = self.time();
        match self.sites[place].node.as_mut()?.command(time, command) {
            Ok((answer, sent)) => {
                self.post(place, sent);
                Some(answer)
            }
            Err(_) => {
                self.crash(place);
                None
            }
        }
    }

    /// Operators approve what waits for them; what the book refuses, they withdraw.
    pub(crate) fn approve_all(&mut self) {
        for place in 0..SITES {
            let Some(Ok(status)) = self.command(place, &Command::Status) else { continue };
            let Some(plan) = status["open"]["plan"].as_str().map(str::to_owned) else { continue };
            let own = Value::from(self.sites[place].name.clone());
            let waits = status["open"]["not_approved"].as_array().is_some_and(|names| names.contains(&own));
            if status["open"]["phase"] != "proposed" || !waits {
                continue;
            }
            let operator = "operator".to_owned();
            let approve = Command::Approve { operator: operator.clone(), plan, insist: false };
            if let Some(Err(problem)) = self.command(place, &approve) {
                assert!(problem.contains("were in other runs"), "{problem}");
                self.held += 1;
                self.command(place, &Command::Withdraw { operator });
            }
        }
    }

    pub(crate) fn is_quiet(&mut self) -> bool {
        let open = (0..SITES).any(|place| match self.command(place, &Command::Status) {
            Some(Ok(status)) => !status["open"].is_null(),
            _ => true,
        });
        !open
    }

    pub(crate) fn propose(&mut self, place: usize, without: &[usize]) {
        let without = without.iter().map(|other| member(*other).name).collect();
        self.command(place, &Command::Propose { operator: "operator".to_owned(), without });
    }

    /// Whether every site has begun a step.
    pub(crate) fn all_burned(&self) -> bool {
        self.sites
            .iter()
            .all(|site| site.memory.0.lock().unwrap().journal.iter().any(|record| record.what == What::Burned))
    }

    pub(crate) fn epochs(&self) -> Vec<u64> {
        self.sites.iter().map(|site| site.memory.0.lock().unwrap().placed.len() as u64).collect()
    }

    /// All sites follow the protocol, so none is blamed.
    pub(crate) fn check_blame(&self) {
        for site in &self.sites {
            let kept = site.memory.0.lock().unwrap();
            assert!(!kept.journal.iter().any(|record| record.what == What::Blamed), "an honest site is blamed");
        }
    }

    /// No site takes its own folder for an older copy, whatever was lost and wherever it crashed.
    pub(crate) fn check_folders(&self) {
        for site in &self.sites {
            let kept = site.memory.0.lock().unwrap();
            assert!(!kept.journal.iter().any(|record| record.what == What::Replaced), "a site locked itself out");
        }
    }

    /// Asserts what must hold once nothing is open.
    pub(crate) fn check(&self) {
        let kept: Vec<_> = self.sites.iter().map(|site| site.memory.0.lock().unwrap()).collect();
        for site in &kept {
            assert!(site.staged.is_empty(), "a release is left beside its place");
            // Every run here had all sites in its roster, or was withdrawn before it began.
            assert!(site.placed.keys().eq(kept[0].placed.keys()), "half-published");
            for (epoch, (run, found)) in &site.placed {
                let (first_run, first) = &kept[0].placed[epoch];
                assert_eq!((run, found.classes()), (first_run, first.classes()));
                assert!(self.apart || found == first, "two releases of one run");
                assert!(found.classes().iter().all(|class| class.rows >= K), "a class below k");
                let mut rows: Vec<(u32, u32)> = Vec::new();
                match found {
                    RunResult::Whole { rows: all, .. } => rows.extend(all.iter().map(|row| (row.class, row.codes[0]))),
                    RunResult::Part(_) => {
                        for site in &kept {
                            let RunResult::Part(EpochPart { own, .. }) = &site.placed[epoch].1 else {
                                panic!("a whole release")
                            };
                            rows.extend(own.class.iter().copied().zip(own.codes[0].iter().copied()));
                        }
                    }
                }
                for (number, class) in (0u32..).zip(found.classes()) {
                    let of_class = rows.iter().filter(|(class, _)| *class == number);
                    let values: BTreeSet<u32> = of_class.clone().map(|(_, code)| *code).collect();
                    assert_eq!(of_class.count() as u64, class.rows);
                    assert!(values.len() >= 2, "a class with one disease");
                }
                let all: usize = example(self.wide).shares.iter().map(|[first, _]| first.rows()).sum();
                assert_eq!(rows.len(), all);
            }
            let burned = site.journal.iter().filter(|record| record.what == What::Burned);
            let plans: BTreeSet<String> = burned.map(|record| record.detail.value()["plan"].to_string()).collect();
            assert!(plans.len() <= 1, "rows were in two plans, and no site insisted");
            let text = format!("{:?}", site.journal);
            assert!(!text.contains(CANARY), "a value of a row is in the journal");
        }
    }
}
