//! One part of the union on its way to being divided: what it asks for next, and what follows from
//! the answer.
//!
//! First the people's ranges, then attributes are tried, the widest first, until one can be cut.
//! The widest alone; then, where it cannot be cut, the next two at the same time, then the next
//! four: a part that is to stay whole tries all of them in few rounds, and one that is divided has
//! opened counts of at most as many attributes in vain again as it must. Of several that could be
//! cut the widest is taken, as if they had been tried one after the other.

use hedgerow_smc::Kind;
use rand::rngs::StdRng;

use super::Agreed;
use super::ranges::Ranges;
use super::trial::{Ground, Requested, Side, Trial, Verdict, View};
use hedgerow_cuts::Span;
use hedgerow_cuts::decide;

#[derive(Debug)]
pub(super) struct Part {
    pub(super) ground: Ground,
    /// How many cuts lie above it.
    pub(super) depth: u32,
    tried: Vec<bool>,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// The people's ranges on some axes, and how many flags were requested.
    Ranges(Ranges, usize),
    /// Some attributes, the widest first, and how many there were to begin with.
    Trying(Vec<Trial>, usize),
    Class,
}

impl Part {
    pub(super) fn new(view: View<'_>, rows: Vec<u32>, size: u64, region: Vec<Span>, depth: u32) -> Part {
        let agreed = view.agreed;
        let dividable = decide::can_divide(size, agreed.minimum());
        let wide = |axis: &usize| region[*axis].first < region[*axis].last;
        let requested: Vec<usize> =
            (0..region.len()).filter(wide).filter(|axis| dividable || shows_extent(agreed, *axis)).collect();
        let stage = match requested.is_empty() {
            true => Stage::Class,
            false => Stage::Ranges(Ranges::new(requested, &rows, view.share, &region), 0),
        };
        let tried = vec![false; region.len()];
        Part { ground: Ground { rows, size, people: region.clone(), region }, depth, tried, stage }
    }

    pub(super) fn is_class(&self) -> bool {
        matches!(self.stage, Stage::Class)
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

    /// Our part of the sums that are needed next, by kind; nothing when none are.
    pub(super) fn words(&mut self, view: View<'_>) -> Vec<(Kind, Vec<u64>)> {
        match &mut self.stage {
            Stage::Trying(trials, _) => trials.iter_mut().flat_map(|trial| trial.words(view, &self.ground)).collect(),
            Stage::Ranges(..) | Stage::Class => Vec::new(),
        }
    }

    /// Our part of a question of which only the disjunction opens.
    pub(super) fn flags(&mut self, view: View<'_>) -> (Kind, Vec<u64>) {
        match &mut self.stage {
            Stage::Ranges(ranges, requested) => {
                let flags = ranges.flags();
                *requested = flags.len();
                (Kind::Digits, flags)
            }
            Stage::Trying(trials, _) => {
                (Kind::Objections, trials.iter_mut().flat_map(|trial| trial.flags(view)).collect())
            }
            Stage::Class => (Kind::Objections, Vec::new()),
        }
    }

    /// How many words were requested last.
    pub(super) fn requested(&self) -> Requested {
        match &self.stage {
            Stage::Ranges(_, flags) => Requested { counts: 0, flags: *flags },
            Stage::Trying(trials, _) => {
                trials.iter().map(Trial::requested).fold(Requested::default(), |sum, requested| Requested {
                    counts: sum.counts + requested.counts,
                    flags: sum.flags + requested.flags,
                })
            }
            Stage::Class => Requested::default(),
        }
    }

    /// Takes the sums and flags; gives the children when the part is divided.
    pub(super) fn absorb(
        &mut self,
        view: View<'_>,
        answer: &[u64],
        raised: &[u64],
        random: &mut StdRng,
    ) -> Option<Vec<Part>> {
        match std::mem::replace(&mut self.stage, Stage::Class) {
            Stage::Ranges(mut ranges, requested) => {
                match ranges.absorb(raised, &self.ground.region) {
                    None => self.stage = Stage::Ranges(ranges, requested),
                    Some(people) => {
                        people.into_iter().for_each(|(axis, people)| self.ground.people[axis] = people);
                        if decide::can_divide(self.ground.size, view.agreed.minimum()) {
                            self.try_attributes(view, 1);
                        }
                    }
                }
                None
            }
            Stage::Trying(mut trials, together) => {
                let (mut answer, mut raised) = (answer, raised);
                for trial in &mut trials {
                    let Requested { counts, flags } = trial.requested();
                    let (own_counts, own_flags);
                    (own_counts, answer) = answer.split_at(counts);
                    (own_flags, raised) = raised.split_at(flags);
                    trial.absorb(view, &self.ground, own_counts, own_flags, random);
                }
                self.decide(view, trials, together)
            }
            Stage::Class => None,
        }
    }

    /// Divides along the widest attribute that fits, once no wider one is open; what comes after
    /// one that fits need not be tried.
    fn decide(&mut self, view: View<'_>, mut trials: Vec<Trial>, together: usize) -> Option<Vec<Part>> {
        if let Some(fits) = trials.iter().position(|trial| trial.verdict() == Verdict::Fits) {
            trials.truncate(fits + 1);
        }
        trials.retain(|trial| trial.verdict() != Verdict::Fails);
        match trials.first().map(Trial::verdict) {
            None => self.try_attributes(view, 2 * together),
            Some(Verdict::Fits) => {
                let trial = trials.swap_remove(0);
                return Some(self.divide(view, trial));
            }
            Some(_) => self.stage = Stage::Trying(trials, together),
        }
        None
    }

    /// Tries the widest of the other attributes, so many at the same time.
    fn try_attributes(&mut self, view: View<'_>, together: usize) {
        let axes = view.agreed.axes.iter();
        let extents: Vec<f64> = axes.zip(&self.ground.people).map(|(axis, people)| axis.extent(*people)).collect();
        let mut trials = Vec::new();
        while trials.len() < together
            && let Some(attribute) = decide::widest(&extents, &self.tried)
        {
            self.tried[attribute] = true;
            trials.push(Trial::new(attribute, view, &self.ground));
        }
        self.stage = if trials.is_empty() { Stage::Class } else { Stage::Trying(trials, together) };
    }

    fn divide(&self, view: View<'_>, trial: Trial) -> Vec<Part> {
        let attribute = trial.attribute;
        let sides = trial.into_sides().into_iter();
        let part = |side: Side| {
            let mut region = self.ground.region.clone();
            region[attribute] = side.span;
            Part::new(view, side.rows, side.size, region, self.depth + 1)
        };
        sides.map(part).collect()
    }
}

/// Whether a class is released with the extent of its values on an axis.
fn shows_extent(agreed: &Agreed, axis: usize) -> bool {
    agreed.axes[axis].is_narrowed(agreed.tight)
}
