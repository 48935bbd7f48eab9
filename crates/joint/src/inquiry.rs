//! The requests of a joint run, round by round.
//!
//! The first rounds are about the whole table: its size and, if it is large enough, the counts that
//! rules need. Every later round requests what each part needs next, all in one vector: ranges,
//! comparisons, histograms, objections. No part waits for another, so the number of rounds grows
//! with the depth of the tree and not with the number of parts. The last round opens the sizes of
//! the classes, as a release shows them.

use std::fmt;

use hedgerow_cuts::{Axis, Span};
use hedgerow_privacy::Distribution;
use hedgerow_smc::{About, Coins, Inquiry, OpenedKind, Turn};

use super::judging::{Judging, RuleVerdict};
use super::part::Part;
use super::ranges::Bounds;
use super::request::{Request, RequestAnswer, RequestedWords};
use super::trial::{PartSide, PartView, TrialThresholds};
use crate::{AgreedRef, JointClass, JointResult, Share};

/// The most words in one request, not counting those of its last part; other parts wait for the
/// next request.
const WORDS_AT_ONCE: usize = 1 << 20;

/// One custodian's side of a joint Mondrian.
pub struct Joint {
    agreed: AgreedRef,
    share: Share,
    coins: Coins,
    wholes: Vec<Distribution>,
    parts: Vec<Part>,
    /// The number of parts so far: the number of the next part.
    named: u64,
    classes: Vec<FoundClass>,
    depth: u32,
    /// The number of all rows: no count exceeds it.
    rows: u64,
    compared: TrialThresholds,
    /// By axis, the rank of a declared missing value that no row of any custodian has.
    absent: Vec<Option<u32>>,
    requested: RequestedWords,
    waiting: Waiting,
}

/// A class, with our rows in it.
struct FoundClass {
    part: u64,
    region: Vec<Span>,
    own: Vec<u32>,
    /// Over all custodians, once it was opened.
    rows: u64,
}

enum Waiting {
    Start,
    Size,
    Whole(Box<Judging>),
    /// The number of parts, from the first on.
    Parts(usize),
    /// The sizes of some classes: the first of them, and their number.
    Sizes(usize, usize),
}

impl Joint {
    /// `coins` decide by lot who of several people at a median goes where: they must be this
    /// custodian's own.
    pub fn new(agreed: AgreedRef, share: Share, coins: Coins) -> Joint {
        Joint {
            compared: TrialThresholds::new(&agreed, 0),
            absent: vec![None; agreed.axes.len()],
            agreed,
            share,
            coins,
            wholes: Vec::new(),
            parts: Vec::new(),
            named: 0,
            classes: Vec::new(),
            depth: 0,
            rows: 0,
            requested: RequestedWords::default(),
            waiting: Waiting::Start,
        }
    }

    fn view(&self) -> PartView<'_> {
        PartView {
            agreed: &self.agreed,
            share: &self.share,
            wholes: &self.wholes,
            compared: &self.compared,
            absent: &self.absent,
        }
    }

    fn all_rows(&self) -> Vec<u32> {
        (0..self.share.rows() as u32).collect()
    }

    /// The bits of every total: counts are at most all rows, and comparisons with half
    /// of a part at most twice as many; custodians with a value are at most as many as there can
    /// be.
    fn bits(&self) -> u8 {
        let largest = self.rows.saturating_mul(2).max(1 << 10);
        (u64::BITS - largest.leading_zeros()) as u8
    }

    fn ask(mut self, request: Request, waiting: Waiting) -> Turn<Self> {
        (self.requested, self.waiting) = (request.requested(), waiting);
        let ask = request.ask(self.bits());
        Turn::Ask(self, ask)
    }

    /// Requests what is needed next about the whole table, or continues with its parts.
    fn judge_whole(mut self, judging: Judging) -> Turn<Self> {
        match judging.judged() {
            RuleVerdict::Breaks => Turn::Done(None),
            RuleVerdict::Open => {
                let (mut request, all) = (Request::default(), self.all_rows());
                let about = About { what: "all rows", part: Some(0), attribute: None };
                judging.request(self.view(), &[&all], about, &mut request);
                self.ask(request, Waiting::Whole(Box::new(judging)))
            }
            RuleVerdict::Holds => {
                self.wholes = judging.into_wholes();
                let region: Vec<Span> = self.agreed.axes.iter().map(Axis::whole).collect();
                let dividable = hedgerow_cuts::decide::can_divide(self.rows, self.agreed.minimum());
                let side = PartSide { span: Span::new(0, 0), rows: self.all_rows(), dividable };
                let bounds: Vec<Bounds> = region.iter().map(|span| Bounds::within(*span)).collect();
                let whole = Part::new(self.view(), 0, side, region, &bounds, 0);
                self.named = 1;
                self.settle(vec![whole]);
                self.next_parts()
            }
        }
    }

    /// Passes an answer to the parts that requested it. Parts that had to wait come first the next
    /// time, so that none waits forever; children replace the part that was divided. The order is
    /// the same for all custodians.
    fn absorb(&mut self, requested: usize, answer: &[u64]) {
        let mut answer = RequestAnswer::new(answer, self.requested);
        let chosen: Vec<Part> = self.parts.drain(..requested).collect();
        let mut next = Vec::with_capacity(chosen.len());
        for mut part in chosen {
            let own = answer.take(part.requested());
            let view = PartView {
                agreed: &self.agreed,
                share: &self.share,
                wholes: &self.wholes,
                compared: &self.compared,
                absent: &self.absent,
            };
            match part.absorb(view, own, &mut self.coins) {
                None => next.push(part),
                Some((attribute, sides)) => {
                    let parts = part.divide(view, attribute, sides, self.named);
                    self.named += parts.len() as u64;
                    next.extend(parts);
                }
            }
        }
        self.settle(next);
    }

    /// Makes parts that cannot be divided classes; the others continue.
    fn settle(&mut self, parts: Vec<Part>) {
        for part in parts {
            if part.is_class() {
                self.depth = self.depth.max(part.depth);
                let region = part.released_region(&self.agreed);
                self.classes.push(FoundClass { part: part.ground.part, region, own: part.ground.rows, rows: 0 });
            } else {
                self.parts.push(part);
            }
        }
    }

    /// Requests what parts need next or, when no part is left, the sizes of the classes.
    fn next_parts(mut self) -> Turn<Self> {
        let max = self.agreed.limits.parts_max;
        if self.named > max {
            return Turn::Exceeds { what: "parts", found: self.named, max };
        }
        let view = PartView {
            agreed: &self.agreed,
            share: &self.share,
            wholes: &self.wholes,
            compared: &self.compared,
            absent: &self.absent,
        };
        let mut request = Request::default();
        let mut parts = 0;
        for part in &mut self.parts {
            part.request(view, &mut request);
            parts += 1;
            if request.requested().words() > WORDS_AT_ONCE {
                break;
            }
        }
        if parts > 0 { self.ask(request, Waiting::Parts(parts)) } else { self.next_sizes(0) }
    }

    fn next_sizes(self, from: usize) -> Turn<Self> {
        let chosen = &self.classes[from..self.classes.len().min(from + WORDS_AT_ONCE)];
        if chosen.is_empty() {
            return self.joined();
        }
        let mut request = Request::default();
        for class in chosen {
            let about = About { what: "a released class", part: Some(class.part), attribute: None };
            request.count(OpenedKind::Sizes, about, [class.own.len() as u64]);
        }
        let waiting = Waiting::Sizes(from, chosen.len());
        self.ask(request, waiting)
    }

    fn joined(self) -> Turn<Self> {
        // The released counts must agree with the comparisons.
        let rows = self.classes.iter().try_fold(0u64, |sum, class| sum.checked_add(class.rows));
        if rows != Some(self.rows) || self.classes.iter().any(|class| class.rows < self.agreed.minimum()) {
            return Turn::Impossible("the sizes of classes that were found large enough");
        }
        let mut of_row = vec![0; self.share.rows()];
        let mut classes = Vec::with_capacity(self.classes.len());
        for (number, FoundClass { region, own, rows, .. }) in (0u32..).zip(self.classes) {
            own.into_iter().for_each(|row| of_row[row as usize] = number);
            classes.push(JointClass { region, rows });
        }
        Turn::Done(Some(JointResult { classes, of_row, depth: self.depth }))
    }
}

impl Inquiry for Joint {
    /// `None` when even the whole, as one class, breaks a rule.
    type Output = Option<JointResult>;

    fn may_open(&self) -> Vec<OpenedKind> {
        self.agreed.may_open()
    }

    fn next(mut self, answer: &[u64]) -> Turn<Self> {
        match std::mem::replace(&mut self.waiting, Waiting::Start) {
            Waiting::Start => {
                let about = About { what: "all rows", part: Some(0), attribute: None };
                let mut request = Request::default();
                request.count(OpenedKind::Sizes, about, [self.share.rows() as u64]);
                // A single publisher measures extents over the values that occur, and the missing
                // value is declared whether or not a row lacks its value.
                for (axis, missing) in self.agreed.declared_missing() {
                    let about = About { what: "a missing value", part: Some(0), attribute: Some(axis as u32) };
                    request.any(OpenedKind::Presence, about, [self.share.ranks[axis].contains(&missing)]);
                }
                // The number of rows is not known yet: the agreed limit is used.
                self.rows = self.agreed.limits.rows_max;
                self.ask(request, Waiting::Size)
            }
            Waiting::Size => {
                let (rows, max) = (answer.first().copied().unwrap_or(0), self.agreed.limits.rows_max);
                if rows > max {
                    return Turn::Exceeds { what: "rows", found: rows, max };
                }
                if rows < self.share.rows() as u64 {
                    return Turn::Impossible("fewer rows in all than we have ourselves");
                }
                let flags = RequestAnswer::new(answer, self.requested).flags();
                for ((axis, missing), raised) in self.agreed.declared_missing().zip(flags) {
                    self.absent[axis] = (*raised == 0).then_some(missing);
                }
                (self.rows, self.compared) = (rows, TrialThresholds::new(&self.agreed, rows));
                if rows < self.agreed.minimum() {
                    return Turn::Done(None);
                }
                let judging = Judging::new(self.view(), true);
                self.judge_whole(judging)
            }
            Waiting::Whole(mut judging) => {
                judging.absorb(self.view(), 1, &mut RequestAnswer::new(answer, self.requested));
                self.judge_whole(*judging)
            }
            Waiting::Parts(requested) => {
                self.absorb(requested, answer);
                self.next_parts()
            }
            Waiting::Sizes(from, count) => {
                let found = self.classes[from..].iter_mut().zip(answer);
                found.for_each(|(class, rows)| class.rows = *rows);
                self.next_sizes(from + count)
            }
        }
    }

    /// The classes, each with our rows in it; other custodians do not see which rows these are.
    fn shared(output: &Self::Output) -> Vec<u8> {
        let mut bytes = vec![u8::from(output.is_some())];
        for class in output.iter().flat_map(|joined| &joined.classes) {
            for span in &class.region {
                bytes.extend(span.first.to_le_bytes());
                bytes.extend(span.last.to_le_bytes());
            }
            bytes.extend(class.rows.to_le_bytes());
        }
        bytes
    }
}

impl fmt::Debug for Joint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Joint")
            .field("parts", &self.parts.len())
            .field("classes", &self.classes.len())
            .finish_non_exhaustive()
    }
}
