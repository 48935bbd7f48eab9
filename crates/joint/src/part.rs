//! One part of the union that may be divided: what it requests next, and what follows from the
//! answer.
//!
//! The ranges of the values open first. Then attributes are tried, the widest first, until one can
//! be cut: the widest alone, then the next two at the same time, then the next four. A part that
//! cannot be divided thus tries all attributes in few rounds, and a part that is divided opens
//! counts of at most twice as many attributes as necessary. Of several attributes that can be cut
//! the widest is taken, as if they had been tried one after the other.

use hedgerow_smc::{About, Coins, OpenedKind};

use super::Agreed;
use super::ranges::{Bounds, Ranges};
use super::request::{Request, RequestAnswer, RequestedWords};
use super::trial::{AttributeTrial, Ground, PartSide, PartView, TrialVerdict};
use hedgerow_cuts::{Axis, Span, decide};

#[derive(Debug)]
pub(super) struct Part {
    pub(super) ground: Ground,
    /// The number of cuts above it.
    pub(super) depth: u32,
    /// Whether it has enough rows for two classes.
    dividable: bool,
    requested: RequestedWords,
    tried: Vec<bool>,
    stage: PartStage,
}

#[derive(Debug)]
enum PartStage {
    /// The ranges of values on some axes.
    Ranges(Ranges),
    /// Some attributes, the widest first, and their number at the start.
    Trying(Vec<AttributeTrial>, usize),
    Class,
}

impl Part {
    /// `part` is its name, `side` are our rows in it, and `bounds` are the known ranges of values.
    pub(super) fn new(
        view: PartView<'_>,
        part: u64,
        side: PartSide,
        region: Vec<Span>,
        bounds: &[Bounds],
        depth: u32,
    ) -> Part {
        let agreed = view.agreed;
        let PartSide { rows, dividable, .. } = side;
        let open = (0..region.len()).filter(|axis| bounds[*axis].is_open());
        let requested: Vec<(usize, Bounds)> =
            open.filter(|axis| dividable || shows_extent(agreed, *axis)).map(|axis| (axis, bounds[axis])).collect();
        let people = bounds.iter().map(|bounds| bounds.span).collect();
        let tried = vec![false; region.len()];
        let stage = match requested.is_empty() {
            true => PartStage::Class,
            false => PartStage::Ranges(Ranges::new(requested, &rows, view.share)),
        };
        let ground = Ground { part, rows, people, region };
        let mut part = Part { ground, depth, dividable, requested: RequestedWords::default(), tried, stage };
        if part.is_class() && dividable {
            part.try_attributes(view, 1);
        }
        part
    }

    /// The parts that a cut along `attribute` leaves, numbered from `named` on.
    pub(super) fn divide(&self, view: PartView<'_>, attribute: usize, sides: Vec<PartSide>, named: u64) -> Vec<Part> {
        let Ground { region, people, .. } = &self.ground;
        let mut bounds: Vec<Bounds> = people.iter().map(|people| Bounds::within(*people)).collect();
        let last = sides.len().saturating_sub(1);
        let part = |(place, side): (usize, PartSide)| {
            let mut region = region.clone();
            region[attribute] = side.span;
            bounds[attribute] = Bounds::of_side(side.span, people[attribute], place == 0, place == last);
            Part::new(view, named + place as u64, side, region, &bounds, self.depth + 1)
        };
        sides.into_iter().enumerate().map(part).collect()
    }

    pub(super) fn is_class(&self) -> bool {
        matches!(self.stage, PartStage::Class)
    }

    /// The region that is released for a part that is not divided.
    pub(super) fn released_region(&self, agreed: &Agreed) -> Vec<Span> {
        let released = |(axis, (region, people)): (usize, (&Span, &Span))| {
            if region.first == region.last || !shows_extent(agreed, axis) {
                *region
            } else {
                agreed.axes[axis].cell(*people)
            }
        };
        self.ground.region.iter().zip(&self.ground.people).enumerate().map(released).collect()
    }

    /// Our share of the next request.
    pub(super) fn request(&mut self, view: PartView<'_>, request: &mut Request) {
        let before = request.requested();
        match &mut self.stage {
            PartStage::Trying(trials, _) => {
                trials.iter_mut().for_each(|trial| trial.request(view, &self.ground, request));
            }
            PartStage::Ranges(ranges) => {
                for (axis, flags) in ranges.flags() {
                    let about = About { what: "a range", part: Some(self.ground.part), attribute: Some(axis as u32) };
                    request.any(OpenedKind::Digits, about, flags);
                }
            }
            PartStage::Class => {}
        }
        self.requested = request.requested().since(before);
    }

    /// The number of words requested last.
    pub(super) fn requested(&self) -> RequestedWords {
        self.requested
    }

    /// Takes the answer; returns the sides if the part is divided.
    pub(super) fn absorb(
        &mut self,
        view: PartView<'_>,
        mut answer: RequestAnswer<'_>,
        coins: &mut Coins,
    ) -> Option<(usize, Vec<PartSide>)> {
        match std::mem::replace(&mut self.stage, PartStage::Class) {
            PartStage::Ranges(mut ranges) => {
                match ranges.absorb(answer.flags()) {
                    None => self.stage = PartStage::Ranges(ranges),
                    Some(people) => {
                        people.into_iter().for_each(|(axis, people)| self.ground.people[axis] = people);
                        if self.dividable {
                            self.try_attributes(view, 1);
                        }
                    }
                }
                None
            }
            PartStage::Trying(mut trials, together) => {
                for trial in &mut trials {
                    let own = answer.take(trial.requested());
                    trial.absorb(view, &self.ground, own, coins);
                }
                self.decide(view, trials, together)
            }
            PartStage::Class => None,
        }
    }

    /// Divides along the widest attribute that can be cut, once no wider one is undecided; narrower
    /// ones need not be tried.
    fn decide(
        &mut self,
        view: PartView<'_>,
        mut trials: Vec<AttributeTrial>,
        together: usize,
    ) -> Option<(usize, Vec<PartSide>)> {
        if let Some(fits) = trials.iter().position(|trial| trial.verdict() == TrialVerdict::Fits) {
            trials.truncate(fits + 1);
        }
        trials.retain(|trial| trial.verdict() != TrialVerdict::Fails);
        match trials.first().map(AttributeTrial::verdict) {
            None => self.try_attributes(view, 2 * together),
            Some(TrialVerdict::Fits) => {
                let trial = trials.swap_remove(0);
                return Some((trial.attribute, trial.into_sides()));
            }
            Some(_) => self.stage = PartStage::Trying(trials, together),
        }
        None
    }

    /// Tries the widest of the other attributes, `together` at the same time.
    fn try_attributes(&mut self, view: PartView<'_>, together: usize) {
        let axes = view.agreed.axes.iter().zip(view.absent).zip(&view.agreed.weights).zip(&self.ground.people);
        let extent = |(((axis, absent), weight), people): (((&Axis, &Option<u32>), &f64), &Span)| {
            axis.extent_without(*people, *absent) * weight
        };
        let extents: Vec<f64> = axes.map(extent).collect();
        let mut trials = Vec::new();
        while trials.len() < together
            && let Some(attribute) = decide::widest(&extents, &self.tried)
        {
            self.tried[attribute] = true;
            trials.push(AttributeTrial::new(attribute, view, &self.ground));
        }
        self.stage = if trials.is_empty() { PartStage::Class } else { PartStage::Trying(trials, together) };
    }
}

/// Whether a class is released with the extent of its values on an axis.
fn shows_extent(agreed: &Agreed, axis: usize) -> bool {
    agreed.axes[axis].is_narrowed(agreed.tight)
}
