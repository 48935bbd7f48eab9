//! One site that signs and sends whatever it likes: it changes what its own node says, says
//! different things to different sites, repeats what others signed, and invents notes. The others
//! never publish different things, never publish below the rules, and blame it or no site.

mod answers;

use std::collections::{BTreeMap, BTreeSet};

use hedgerow_node::certificate::Certificate;
use hedgerow_node::journal::What;
use hedgerow_node::message::{
    Because, Frame, FrameContent, Heads, Hex, JournalMessage, Note, Proposal, RosterEntry, RunId,
};
use hedgerow_node::statement::{Proof, Signed, Statement};
use hedgerow_node::store::RunResult;
use hedgerow_node::{Command, Sent};
use rand::rngs::StdRng;
use rand::{Rng as _, RngExt as _, SeedableRng as _};

use crate::memory::Memory;
use crate::simulation::{Case, count, seeds};
use crate::world::{SITES, Trouble, World, member, signing};

/// The most statements of others that the site remembers.
const HEARD_MAX: usize = 400;

pub(crate) struct Byzantine {
    pub(crate) place: usize,
    rng: StdRng,
    /// How many of its messages are changed, and how many are invented in a step, in a thousand.
    changes: u32,
    invents: u32,
    heard: Vec<Signed>,
    /// By run, what its own node knows of the plan.
    committed: BTreeMap<RunId, Hex<32>>,
    runs: Vec<RunId>,
    pub(crate) distorted: u64,
}

impl Byzantine {
    pub(crate) fn new(place: usize, seed: u64, changes: u32, invents: u32) -> Byzantine {
        let rng = StdRng::seed_from_u64(seed);
        Byzantine {
            place,
            rng,
            changes,
            invents,
            heard: Vec::new(),
            committed: BTreeMap::new(),
            runs: Vec::new(),
            distorted: 0,
        }
    }

    /// Reads the plans that its own node has staged.
    pub(crate) fn look(&mut self, memory: &Memory) {
        let kept = memory.0.lock().unwrap();
        for record in kept.journal.iter().rev().take(8).filter(|record| record.what == What::Staged) {
            let committed = serde_json::from_value(record.detail.value()["committed"].take()).ok();
            self.committed.extend(record.run.zip(committed));
        }
    }

    pub(crate) fn fall_silent(&mut self) {
        (self.changes, self.invents) = (2000, 0);
    }

    pub(crate) fn hear(&mut self, frame: &Frame) {
        match &frame.content {
            FrameContent::Note(note) => {
                self.remember(frame.signed());
                if !self.runs.contains(&note.run()) {
                    self.runs.push(note.run());
                }
            }
            FrameContent::Standing(JournalMessage::After { .. }) => self.remember(frame.signed()),
            FrameContent::Step(_) if self.chance(30) => self.remember(frame.signed()),
            _ => {}
        }
    }

    fn remember(&mut self, signed: Signed) {
        if self.heard.len() >= HEARD_MAX {
            self.heard.remove(0);
        }
        self.heard.push(signed);
    }

    fn chance(&mut self, of: u32) -> bool {
        self.rng.random_range(0..1000) < of
    }

    fn bytes<const N: usize>(&mut self) -> Hex<N> {
        let mut bytes = [0; N];
        self.rng.fill_bytes(&mut bytes);
        Hex(bytes)
    }

    fn any_heard(&mut self) -> Option<Signed> {
        if self.heard.is_empty() {
            return None;
        }
        let place = self.rng.random_range(0..self.heard.len());
        Some(self.heard[place].clone())
    }

    /// Some of what its node says, changed for some receivers.
    pub(crate) fn distort(&mut self, sent: Sent) -> Sent {
        let mut changed = Vec::new();
        for (to, frame) in sent {
            if let FrameContent::Note(note) = &frame.content {
                self.remember(frame.signed());
                if !self.runs.contains(&note.run()) {
                    self.runs.push(note.run());
                }
            }
            if self.changes > 1000 {
                continue;
            }
            if !self.chance(self.changes) {
                changed.push((to, frame));
                continue;
            }
            self.distorted += 1;
            match self.rng.random_range(0..6) {
                0 => {}
                1 => changed.extend([(to.clone(), frame.clone()), (to, self.distorted_frame(frame.content))]),
                _ => changed.push((to, self.distorted_frame(frame.content))),
            }
        }
        changed
    }

    fn distorted_frame(&mut self, content: FrameContent) -> Frame {
        let content = match content {
            FrameContent::Note(note) => FrameContent::Note(self.distorted_note(note)),
            FrameContent::Step(bytes) => FrameContent::Step(self.distorted_step(bytes)),
            FrameContent::Standing(_) => FrameContent::Standing(self.standing()),
            FrameContent::Asking(asking) => FrameContent::Asking(self.distorted_asking(asking)),
        };
        Frame::sign(content, &signing(self.place))
    }

    fn standing(&mut self) -> JournalMessage {
        match self.rng.random_range(0..5) {
            0 => JournalMessage::Known {
                signed: self.any_heard().map(Box::new),
                further: self.any_heard().map(Box::new),
            },
            1 => JournalMessage::Own { heads: self.heads() },
            2 => JournalMessage::After { heads: self.heads() },
            3 => JournalMessage::Kept { rows: [0, 9, u64::MAX][self.rng.random_range(0..3)] },
            _ => {
                let heads = self.heads();
                let signed = Some(Box::new(Statement::Heads { heads }.sign(&signing(self.place))));
                JournalMessage::Known { signed, further: self.any_heard().map(Box::new) }
            }
        }
    }

    fn heads(&mut self) -> Heads {
        let (rows, entries) = (self.rng.random_range(0..50), self.rng.random_range(0..9));
        Heads { rows, journal: self.bytes(), entries, book: self.bytes() }
    }

    fn distorted_step(&mut self, mut bytes: Vec<u8>) -> Vec<u8> {
        match self.rng.random_range(0..4) {
            0 if self.chance(300) && bytes.len() >= 56 => bytes[52..56].copy_from_slice(&[0xff; 4]),
            0 => bytes.truncate(self.rng.random_range(0..=bytes.len())),
            1 => bytes.extend([0; 8]),
            _ if !bytes.is_empty() => {
                // Mostly the content: session, question and round stay.
                let from = if self.chance(800) { bytes.len().min(56) } else { 0 };
                let place = self.rng.random_range(from.min(bytes.len() - 1)..bytes.len());
                bytes[place] ^= 1 << self.rng.random_range(0..8);
            }
            _ => {}
        }
        bytes
    }

    fn distorted_note(&mut self, note: Note) -> Note {
        let run = note.run();
        match note {
            Note::Propose { proposal, .. } => {
                let epoch = [proposal.epoch + 1, proposal.epoch, 0, u64::MAX][self.rng.random_range(0..4)];
                Note::Propose { proposal: Proposal { epoch, ..proposal }, previous: self.certificate(run) }
            }
            Note::Joined { proposal, commitment, heads, .. } => match self.rng.random_range(0..3) {
                0 => Note::Joined { run, proposal, commitment: self.bytes(), heads },
                1 => Note::Joined { run, proposal: self.bytes(), commitment, heads },
                _ => Note::Joined { run, proposal, commitment, heads: self.heads() },
            },
            Note::Approved { .. } => Note::Approved { run, plan: self.bytes() },
            Note::Staged { epoch, plan, release, .. } => match self.rng.random_range(0..4) {
                0 => Note::Staged { run, epoch, plan, release: self.bytes() },
                1 => Note::Prepared { run, epoch, plan, release },
                2 => self.aborted(run),
                _ => Note::Staged { run, epoch: epoch.wrapping_add(1), plan, release },
            },
            Note::Prepared { epoch, plan, .. } => match self.rng.random_range(0..4) {
                0 => Note::Prepared { run, epoch, plan, release: self.bytes() },
                1 => self.aborted(run),
                _ => self.invented(run),
            },
            _ => self.invented(run),
        }
    }

    fn aborted(&mut self, run: RunId) -> Note {
        let because = match self.rng.random_range(0..6) {
            0 | 1 => self.any_heard().map(|signed| {
                // Mostly in the name of the one that signed it: such a reason may hold.
                let signer = (0..SITES).find(|site| signed.verifies(&member(*site).signing_key));
                let by = signer.filter(|_| self.chance(900)).unwrap_or_else(|| self.rng.random_range(0..SITES));
                Box::new(Because::Statement { by: member(by).name, signed })
            }),
            2 => Some(Box::new(Because::Resolved { prepared: self.chance(500) })),
            3 => self.proof(run).map(|proof| Box::new(Because::Proof { proof: Box::new(proof) })),
            _ => None,
        };
        Note::Aborted { run, why: "it likes to".to_owned(), because }
    }

    /// Two statements that it heard, and a site at random.
    fn proof(&mut self, run: RunId) -> Option<Proof> {
        let culprit = RosterEntry::of(&member(self.rng.random_range(0..SITES)));
        Some(Proof { run, culprit, one: self.any_heard()?, other: self.any_heard()? })
    }

    /// Every `prepared` that it heard, with its own in the gaps.
    fn certificate(&mut self, run: RunId) -> Option<Box<Certificate>> {
        let prepared = |signed: &Signed| match &signed.statement {
            Statement::Note { note: note @ Note::Prepared { run: of, .. } } if *of == run => Some(note.clone()),
            _ => None,
        };
        let note = self.heard.iter().rev().find_map(prepared)?;
        let Note::Prepared { release, .. } = note else { return None };
        let proposed = |signed: &Signed| match &signed.statement {
            Statement::Note { note: Note::Propose { proposal, .. } } if proposal.run == run => Some(proposal.clone()),
            _ => None,
        };
        let mut proposal = self.heard.iter().find_map(proposed)?;
        let statement = Statement::Note { note };
        let own = statement.clone().sign(&signing(self.place)).signature;
        let of = |site: usize| {
            let key = member(site).signing_key;
            let heard = self.heard.iter().find(|signed| signed.statement == statement && signed.verifies(&key));
            heard.map_or(own, |signed| signed.signature)
        };
        let mut signatures: Vec<_> = (0..SITES).map(of).collect();
        if self.rng.random_range(0..3) == 0 {
            // Without one that has not signed.
            let without = self.rng.random_range(0..SITES);
            proposal.roster.remove(without.min(proposal.roster.len() - 1));
            signatures.remove(without);
        }
        let committed = self.committed.get(&run).copied().unwrap_or_else(|| self.bytes());
        Some(Box::new(Certificate { proposal, committed, release, signatures }))
    }

    fn invented(&mut self, run: RunId) -> Note {
        match self.rng.random_range(0..9) {
            0 => Note::Joined { run, proposal: self.bytes(), commitment: self.bytes(), heads: self.heads() },
            1 => Note::Approved { run, plan: self.bytes() },
            2 => Note::Staged { run, epoch: 1, plan: self.bytes(), release: self.bytes() },
            3 => Note::Inquire { run },
            4 | 5 => match self.certificate(run) {
                Some(certificate) => Note::Published { run, certificate },
                None => self.aborted(run),
            },
            6 => {
                let statements = (0..self.rng.random_range(0..9)).filter_map(|_| self.any_heard()).collect();
                Note::Shown { run, statements }
            }
            7 => match self.proof(run) {
                Some(proof) => Note::Proved { run, proof: Box::new(proof) },
                None => Note::Inquire { run },
            },
            _ => self.aborted(run),
        }
    }

    /// Now and then something of its own, to one site or to all.
    pub(crate) fn invent(&mut self) -> Sent {
        if self.runs.is_empty() || !self.chance(self.invents) {
            return Vec::new();
        }
        self.distorted += 1;
        let recent = self.runs.len().saturating_sub(3);
        let run = self.runs[self.rng.random_range(recent..self.runs.len())];
        let content = match self.chance(200) {
            true => FrameContent::Standing(self.standing()),
            false => FrameContent::Note(self.invented(run)),
        };
        let frame = Frame::sign(content, &signing(self.place));
        let one = self.rng.random_range(0..SITES);
        let all = self.chance(300);
        (0..SITES).filter(|site| all || *site == one).map(|site| (member(site).name, frame.clone())).collect()
    }
}

impl World {
    fn honest(&self) -> Vec<usize> {
        (0..SITES).filter(|place| self.is_honest(*place)).collect()
    }

    /// Asserts what must hold among the honest, whatever the one site did.
    fn check_honest(&self) -> (usize, usize) {
        let honest = self.honest();
        let byzantine = (0..SITES).find(|place| !self.is_honest(*place)).map(|place| member(place).name).unwrap();
        let (mut published, mut convicted) = (BTreeSet::new(), 0);
        for place in &honest {
            let kept = self.sites[*place].memory.0.lock().unwrap();
            for (epoch, (run, found)) in &kept.placed {
                published.insert(*run);
                assert!(found.classes().iter().all(|class| class.rows >= crate::world::K), "below the rules");
                for other in &honest {
                    if other == place {
                        continue;
                    }
                    let other = self.sites[*other].memory.0.lock().unwrap();
                    if let Some((other_run, other_found)) = other.placed.get(epoch) {
                        let same = match (found, other_found) {
                            (RunResult::Part(part), RunResult::Part(other)) => part.common == other.common,
                            (found, other) => found == other,
                        };
                        assert!(run == other_run && same, "two releases of epoch {epoch}");
                    }
                    let aborted = |record: &hedgerow_node::journal::Record| {
                        record.what == What::Aborted && record.run == Some(*run)
                    };
                    assert!(!other.journal.iter().any(aborted), "published here and given up there");
                }
            }
            let replaced = kept.journal.iter().any(|record| record.what == What::Replaced);
            assert!(!replaced, "invented heads lock an honest site out");
            for record in kept.journal.iter().filter(|record| record.what == What::Blamed) {
                assert_eq!(record.who, byzantine, "an honest site is blamed");
                let proof: Proof = serde_json::from_value(record.detail.value()["proof"].take()).unwrap();
                assert!(proof.holds() && proof.culprit.name == byzantine);
                convicted += 1;
            }
        }
        (published.len(), convicted)
    }

    /// Until nothing is open at the honest sites; operators give up what stays in doubt.
    fn calm_honest(&mut self) {
        let honest = self.honest();
        for step in 0..6000 {
            self.step();
            if step % 50 != 0 {
                continue;
            }
            let open = |world: &mut World, place: usize| match world.command(place, &Command::Status) {
                Some(Ok(status)) => !status["open"].is_null(),
                _ => true,
            };
            if !honest.iter().any(|place| open(self, *place)) {
                return;
            }
            if step > 3000 {
                for place in &honest {
                    let (operator, why) = ("operator".to_owned(), "one site is silent".to_owned());
                    self.command(*place, &Command::Resolve { operator, why });
                }
            }
        }
        panic!("a run is open after a minute without trouble");
    }
}

#[test]
fn one_site_that_signs_whatever_it_likes_cannot_make_the_others_differ_or_blame_each_other() {
    let (mut published, mut convicted, mut distorted, mut resolved) = (0, 0, 0, 0);
    let seeds = seeds(count("HEDGEROW_SIMULATIONS", 24));
    for seed in &seeds {
        let _case = Case::of(*seed);
        let mut rng = StdRng::seed_from_u64(!*seed);
        let place = rng.random_range(0..SITES);
        let (changes, invents) = ([3, 20, 150][rng.random_range(0..3)], [0, 5, 60][rng.random_range(0..3)]);
        let byzantine = Byzantine::new(place, *seed, changes, invents);
        let mut world = World::with_byzantine(*seed, byzantine);
        let trouble = rng.random_range(0..3) == 0;
        if trouble {
            let mut draw = |below: u32| rng.random_range(0..=below);
            world.trouble = Trouble { lost: draw(30), twice: draw(60), late: draw(20), crash: draw(2) };
        }
        for step in 0..1500 {
            world.step();
            if step % 20 == 0 {
                world.approve_all();
            }
            if step % 150 == 0 {
                let by = rng.random_range(0..SITES);
                world.propose(by, &[]);
            }
        }
        world.end_trouble();
        let byzantine = world.byzantine.as_mut().unwrap();
        distorted += byzantine.distorted;
        byzantine.fall_silent();
        world.calm_honest();
        let (runs, blames) = world.check_honest();
        (published, convicted) = (published + runs, convicted + blames);
        for place in world.honest() {
            let kept = world.sites[place].memory.0.lock().unwrap();
            resolved += kept.journal.iter().filter(|record| record.what == What::Resolved).count();
        }
    }
    eprintln!(
        "{} seeds: {distorted} messages distorted, {published} runs published, {convicted} convictions, {resolved} \
         resolved by operators",
        seeds.len()
    );
    if seeds.len() > 1 {
        let seeds = seeds.len();
        let enough = published > seeds / 8 && convicted > seeds / 4 && distorted > 25 * seeds as u64;
        assert!(enough, "{published}, {convicted}, {distorted}");
    }
}
