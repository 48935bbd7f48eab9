//! A run being executed at one custodian: the classes, then the rows, each step a machine and a
//! session of its own.
//!
//! A custodian that is ahead may already send for the next step: its first message waits here.
//! The last messages are kept, to be repeated to those who may have missed it.

use std::collections::VecDeque;
use std::sync::Arc;

use hedgerow_joint::{AgreedRef, BatchFitting, Joint, JointClass, JointResult, JointRow, Profile, ProfileRun, Share};
use hedgerow_smc::{
    Coins, Concluded, Effects, Failure, Fault, Item, Machine, Message, OpenedValues, Outgoing, Permit, Transition,
    UnionCounts, masked,
};

use crate::part::OwnRows;
use crate::step_name::StepName;

/// Sends that a custodian may still lack: none is more than two rounds behind.
pub(crate) const KEPT_SENDS: usize = 3;
/// The most that waits for a later step: under masks one key from each custodian is all that can
/// come. In the ring it can be a whole pass, which is then requested again.
pub(crate) const EARLY_BYTES_MAX: usize = 1 << 10;

enum ExecutionStep {
    Classes(Box<ProfileRun<Joint>>),
    Rows(Box<ProfileRun<UnionCounts>>),
    Batch(Box<ProfileRun<BatchFitting>>, Vec<Item>),
    Shuffle(Box<masked::Shuffle>),
}

pub(crate) struct Execution {
    profile: Profile,
    agreed: AgreedRef,
    share: Share,
    me: u16,
    /// The step that was begun last.
    at: Option<StepName>,
    running: Option<(StepName, ExecutionStep)>,
    joined: Option<JointResult>,
    /// Messages for a later step: at most one of each custodian for each.
    early: Vec<(StepName, u16, Message)>,
    sent: VecDeque<Vec<Outgoing>>,
    /// Rows and their length for the shuffle, once they are known.
    batch: Option<(hedgerow_joint::Batch, Vec<Item>)>,
}

impl std::fmt::Debug for Execution {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Execution").field("step", &self.step()).finish_non_exhaustive()
    }
}

/// The next step after a message.
pub(crate) enum Next {
    Waiting,
    Begin(StepName),
    /// Classes, and the rows of all custodians.
    Found(Vec<JointClass>, Vec<JointRow>),
    /// The classes are found, and rows stay with their custodians.
    Apart(Vec<JointClass>, OwnRows),
    /// Even all rows as one class break a rule.
    Nothing,
    Fault(Fault),
}

pub(crate) struct Advanced {
    pub(crate) opened: Vec<OpenedValues>,
    pub(crate) send: Vec<Outgoing>,
    pub(crate) next: Next,
}

impl Execution {
    pub(crate) fn new(profile: Profile, agreed: AgreedRef, share: Share, me: u16) -> Execution {
        Execution {
            profile,
            agreed,
            share,
            me,
            at: None,
            running: None,
            joined: None,
            early: Vec::new(),
            sent: VecDeque::new(),
            batch: None,
        }
    }

    pub(crate) fn step(&self) -> Option<StepName> {
        self.at
    }

    /// The custodians without whose messages nothing goes on.
    pub(crate) fn waits_for(&self) -> Vec<u16> {
        match self.running.as_ref().map(|(_, step)| step) {
            Some(ExecutionStep::Classes(machine)) => machine.waits_for(),
            Some(ExecutionStep::Rows(machine)) => machine.waits_for(),
            Some(ExecutionStep::Batch(machine, _)) => machine.waits_for(),
            Some(ExecutionStep::Shuffle(machine)) => machine.waits_for(),
            None => Vec::new(),
        }
    }

    /// The messages sent last, for custodians that may have missed them.
    pub(crate) fn sent(&self) -> impl Iterator<Item = &Outgoing> {
        self.sent.iter().flatten()
    }

    /// How much that is.
    pub(crate) fn sent_bytes(&self) -> u64 {
        self.sent().map(|outgoing| outgoing.message.body.bytes()).sum()
    }

    /// Keeps a message for a step that has not begun; nothing but a first message can be one.
    pub(crate) fn keep(&mut self, step: StepName, from: u16, message: Message, bytes: usize) {
        let kept = self.early.iter().any(|(name, sender, _)| (*name, *sender) == (step, from));
        if !kept && bytes <= EARLY_BYTES_MAX {
            self.early.push((step, from, message));
        }
    }

    /// Begins a step, and takes in what came early for it.
    pub(crate) fn begin(&mut self, step: StepName, permit: Permit, mut coins: Coins) -> Advanced {
        let effects = match self.start(step, permit, &mut coins) {
            Ok(effects) => effects,
            Err(fault) => return Advanced { opened: Vec::new(), send: Vec::new(), next: Next::Fault(fault) },
        };
        let mut advanced = self.record(effects, Next::Waiting);
        let early = std::mem::take(&mut self.early);
        for (name, from, message) in early {
            if name == step && matches!(advanced.next, Next::Waiting) {
                let more = self.advance(from, message);
                advanced.opened.extend(more.opened);
                advanced.send.extend(more.send);
                advanced.next = more.next;
            } else if name > step {
                self.early.push((name, from, message));
            }
        }
        advanced
    }

    fn start(&mut self, step: StepName, permit: Permit, coins: &mut Coins) -> Result<Effects, Fault> {
        let none = Fault::Internal("a step before the one that it needs");
        let (me, own) = (self.me, coins.split());
        let (machine, effects) = match step {
            StepName::Classes => {
                let joint = Joint::new(Arc::clone(&self.agreed), self.share.clone(), coins.split());
                let (machine, effects) = continued(self.profile.start(permit, me, joint, own)?)?;
                (ExecutionStep::Classes(Box::new(machine)), effects)
            }
            StepName::Rows => {
                let joined = self.joined.as_ref().ok_or(none.clone())?;
                let values = self.agreed.countable(joined.classes.len()).ok_or(none)?;
                let total = joined.classes.iter().map(|class| class.rows).sum();
                let counts = self.agreed.count_rows(&self.share, joined, values, total);
                let (machine, effects) = continued(self.profile.start(permit, me, counts, own)?)?;
                (ExecutionStep::Rows(Box::new(machine)), effects)
            }
            StepName::Batch => {
                let joined = self.joined.as_ref().ok_or(none)?;
                let items = self.agreed.pack_rows(&self.share, joined);
                let (machine, effects) = continued(self.profile.start(permit, me, BatchFitting::new(&items), own)?)?;
                (ExecutionStep::Batch(Box::new(machine), items), effects)
            }
            StepName::Shuffle => {
                let (batch, items) = self.batch.take().ok_or(none)?;
                let (machine, effects) =
                    continued(masked::start_shuffle(permit, me, items, batch.rows, batch.row_bytes, own)?)?;
                (ExecutionStep::Shuffle(Box::new(machine)), effects)
            }
        };
        (self.at, self.running) = (Some(step), Some((step, machine)));
        Ok(effects)
    }

    /// Takes a message of the step that runs.
    pub(crate) fn advance(&mut self, from: u16, message: Message) -> Advanced {
        let Some((name, step)) = self.running.take() else {
            return Advanced { opened: Vec::new(), send: Vec::new(), next: Next::Waiting };
        };
        match step {
            ExecutionStep::Classes(machine) => {
                let (effects, outcome) = settled(machine.step(from, message));
                let next = match outcome {
                    StepOutcome::Continue(machine) => self.go_on(name, ExecutionStep::Classes(Box::new(machine))),
                    StepOutcome::Fault(fault) => Next::Fault(fault),
                    StepOutcome::Done(Concluded { output: None, .. }) => Next::Nothing,
                    StepOutcome::Done(Concluded { output: Some(joined), .. }) if self.agreed.apart => {
                        let codes = self.share.codes.clone();
                        Next::Apart(joined.classes, OwnRows { class: joined.of_row, codes })
                    }
                    StepOutcome::Done(Concluded { output: Some(joined), .. }) => {
                        let countable = self.agreed.countable(joined.classes.len()).is_some();
                        self.joined = Some(joined);
                        Next::Begin(if countable { StepName::Rows } else { StepName::Batch })
                    }
                };
                self.record(effects, next)
            }
            ExecutionStep::Rows(machine) => {
                let (effects, outcome) = settled(machine.step(from, message));
                let next = match outcome {
                    StepOutcome::Continue(machine) => self.go_on(name, ExecutionStep::Rows(Box::new(machine))),
                    StepOutcome::Fault(fault) => Next::Fault(fault),
                    StepOutcome::Done(Concluded { output: counts, .. }) => {
                        let rows = self.joined.as_ref().and_then(|joined| self.agreed.counted_rows(counts, joined));
                        self.found(rows.ok_or(Fault::Impossible { what: "rows of a class by their values" }))
                    }
                };
                self.record(effects, next)
            }
            ExecutionStep::Batch(machine, items) => {
                let (effects, outcome) = settled(machine.step(from, message));
                let next = match outcome {
                    StepOutcome::Continue(machine) => self.go_on(name, ExecutionStep::Batch(Box::new(machine), items)),
                    StepOutcome::Fault(fault) => Next::Fault(fault),
                    StepOutcome::Done(Concluded { output: batch, .. }) => {
                        self.batch = Some((batch, items));
                        Next::Begin(StepName::Shuffle)
                    }
                };
                self.record(effects, next)
            }
            ExecutionStep::Shuffle(machine) => {
                let (effects, outcome) = settled(machine.step(from, message));
                let next = match outcome {
                    StepOutcome::Continue(machine) => self.go_on(name, ExecutionStep::Shuffle(Box::new(machine))),
                    StepOutcome::Fault(fault) => Next::Fault(fault),
                    StepOutcome::Done(Concluded { output: items, .. }) => {
                        let classes = self.joined.as_ref().map_or(0, |joined| joined.classes.len());
                        let rows = items.iter().map(|item| self.agreed.unpack_row(item, classes)).collect();
                        let rows: Option<Vec<_>> = rows;
                        self.found(
                            rows.ok_or(Fault::Impossible { what: "rows that no custodian of these classes has" }),
                        )
                    }
                };
                self.record(effects, next)
            }
        }
    }

    fn go_on(&mut self, name: StepName, step: ExecutionStep) -> Next {
        self.running = Some((name, step));
        Next::Waiting
    }

    /// Rows are released only when they are as many in each class as the classes have.
    fn found(&self, rows: Result<Vec<JointRow>, Fault>) -> Next {
        let rows = match rows {
            Ok(rows) => rows,
            Err(fault) => return Next::Fault(fault),
        };
        let Some(joined) = &self.joined else { return Next::Fault(Fault::Internal("rows without classes")) };
        let mut sizes = vec![0u64; joined.classes.len()];
        rows.iter().for_each(|row| sizes[row.class as usize] += 1);
        if sizes.iter().zip(&joined.classes).any(|(size, class)| *size != class.rows) {
            return Next::Fault(Fault::Impossible { what: "rows of a class, other than its size" });
        }
        Next::Found(joined.classes.clone(), rows)
    }

    fn record(&mut self, effects: Effects, next: Next) -> Advanced {
        let Effects { opened, send } = effects;
        // In the shuffle's chain a message may be needed much later than it is sent.
        let kept = if self.at == Some(StepName::Shuffle) { usize::MAX } else { KEPT_SENDS };
        if !send.is_empty() {
            self.sent.push_back(send.clone());
            while self.sent.len() > kept {
                self.sent.pop_front();
            }
        }
        Advanced { opened, send, next }
    }
}

pub(crate) enum StepOutcome<M: Machine> {
    Continue(M),
    Done(M::Output),
    Fault(Fault),
}

pub(crate) fn settled<M: Machine>(result: Result<Transition<M>, Failure>) -> (Effects, StepOutcome<M>) {
    match result {
        Ok(Transition::Continue(machine, effects)) => (effects, StepOutcome::Continue(machine)),
        Ok(Transition::Finish(output, effects)) => (effects, StepOutcome::Done(output)),
        // The node informs the others, including those that are in another step.
        Err(Failure { fault, effects }) => (Effects { send: Vec::new(), ..effects }, StepOutcome::Fault(fault)),
    }
}

/// A machine that has just been started.
pub(crate) fn continued<M: Machine>(transition: Transition<M>) -> Result<(M, Effects), Fault> {
    match transition {
        Transition::Continue(machine, effects) => Ok((machine, effects)),
        Transition::Finish(..) => Err(Fault::Internal("a step that ends where it begins")),
    }
}
