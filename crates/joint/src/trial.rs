//! One attribute of a part, tried: what must be known to cut along it, cut by cut, until one keeps
//! every rule or none is left.

use hedgerow_privacy::Distribution;
use hedgerow_smc::Kind;
use rand::rngs::StdRng;

use super::rules::Counts;
use super::ties::{Among, Ties};
use crate::{Agreed, Share};
use hedgerow_cuts::decide::{self, Cut, Median};
use hedgerow_cuts::{Shape, Span};

/// What a custodian looks at while it works on a part.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) agreed: &'a Agreed,
    pub(super) share: &'a Share,
    pub(super) wholes: &'a [Distribution],
}

impl<'a> View<'a> {
    fn among(self, ground: &'a Ground) -> Among<'a> {
        Among { agreed: self.agreed, share: self.share, people: &ground.people }
    }
}

/// What is to be divided.
#[derive(Debug)]
pub(super) struct Ground {
    /// Our rows in it.
    pub(super) rows: Vec<u32>,
    /// How many rows all custodians have in it.
    pub(super) size: u64,
    pub(super) region: Vec<Span>,
    /// From the lowest to the highest rank that somebody in it has.
    pub(super) people: Vec<Span>,
}

#[derive(Debug)]
pub(super) struct Trial {
    pub(super) attribute: usize,
    step: Step,
    /// How many words it requested.
    requested: Requested,
}

/// How many counts and flags are waited for.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Requested {
    pub(super) counts: usize,
    pub(super) flags: usize,
}

#[derive(Debug)]
enum Step {
    /// Sizes of a node's children.
    Children(Vec<Span>),
    /// How many lack a value.
    Missing,
    /// The median, which lies in `low..=high`.
    Halving {
        low: u32,
        high: u32,
        below: u64,
        through: u64,
    },
    Ties(Cuts, u32, u64, Ties),
    /// Whether the sides of a cut keep every rule; and where custodians object by their own rows
    /// alone, whether anybody does.
    Judging(Cuts, Vec<Side>),
    /// Whether anybody objects to the sides of a cut.
    Objecting(Cuts, Vec<Side>, Vec<Counts>),
    Fits(Vec<Side>),
    Fails,
}

/// What became of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Open,
    Fits,
    Fails,
}

/// Cuts that are still to be tried, the next one last.
#[derive(Debug, Default)]
struct Cuts {
    cuts: Vec<Cut>,
    median: Option<Median>,
}

#[derive(Debug)]
pub(super) struct Side {
    pub(super) span: Span,
    pub(super) rows: Vec<u32>,
    pub(super) size: u64,
}

impl Trial {
    /// People must differ in the attribute.
    pub(super) fn new(attribute: usize, view: View<'_>, ground: &Ground) -> Trial {
        let (axis, people) = (&view.agreed.axes[attribute], ground.people[attribute]);
        let step = match (axis.node(people), axis.shape()) {
            (Some(node), _) => Step::Children(node.children.clone()),
            (None, Shape::Line(line)) if people.last == line.present() => Step::Missing,
            _ => Step::Halving { low: people.first, high: people.last, below: 0, through: ground.size },
        };
        Trial { attribute, step, requested: Requested::default() }
    }

    pub(super) fn verdict(&self) -> Verdict {
        match self.step {
            Step::Fits(_) => Verdict::Fits,
            Step::Fails => Verdict::Fails,
            _ => Verdict::Open,
        }
    }

    /// The sides of the cut, where one fits.
    pub(super) fn into_sides(self) -> Vec<Side> {
        match self.step {
            Step::Fits(sides) => sides,
            _ => Vec::new(),
        }
    }

    /// How many words were requested last.
    pub(super) fn requested(&self) -> Requested {
        self.requested
    }

    /// Our part of the sums that the step needs, by kind.
    pub(super) fn words(&mut self, view: View<'_>, ground: &Ground) -> Vec<(Kind, Vec<u64>)> {
        let ranks = &view.share.ranks[self.attribute];
        let within = |span: &Span| {
            let inside = |row: &&u32| (span.first..=span.last).contains(&ranks[**row as usize]);
            ground.rows.iter().filter(inside).count() as u64
        };
        let words = match &self.step {
            Step::Objecting(..) | Step::Fits(_) | Step::Fails => Vec::new(),
            Step::Children(children) => vec![(Kind::Sizes, children.iter().map(within).collect())],
            Step::Missing => {
                let last = ground.people[self.attribute].last;
                vec![(Kind::Sizes, vec![within(&Span::new(last, last))])]
            }
            Step::Halving { low, high, .. } => {
                let probe = Span::new(0, low + (high - low) / 2);
                vec![(Kind::CountsAtProbe, vec![within(&probe)])]
            }
            Step::Ties(.., ties) => vec![(Kind::CountsAtProbe, ties.words())],
            Step::Judging(_, sides) => {
                let summed = |side: &Side| view.agreed.summed(&view.agreed.own_counts(view.share, &side.rows));
                sides.iter().flat_map(summed).collect()
            }
        };
        self.requested.counts = words.iter().map(|(_, words)| words.len()).sum();
        words
    }

    /// Our part of a question of which only the disjunction opens: 1 where a side must not be made
    /// for our sake, since somebody could take rows out of it and learn too much of the rest.
    pub(super) fn flags(&mut self, view: View<'_>) -> Vec<u64> {
        let objects = |side: &Side, counts: &Counts| {
            u64::from(!view.agreed.agrees(counts, &view.agreed.own_counts(view.share, &side.rows), view.wholes))
        };
        // One word for the whole cut: which side somebody objects to is nobody's business.
        let flags = match &self.step {
            Step::Judging(_, sides) if view.agreed.objects_by_own_rows() => {
                vec![sides.iter().map(|side| objects(side, &Counts::default())).max().unwrap_or(0)]
            }
            Step::Objecting(_, sides, counts) => {
                vec![sides.iter().zip(counts).map(|(side, counts)| objects(side, counts)).max().unwrap_or(0)]
            }
            _ => Vec::new(),
        };
        self.requested.flags = flags.len();
        flags
    }

    /// Takes the sums and flags that it requested.
    pub(super) fn absorb(
        &mut self,
        view: View<'_>,
        ground: &Ground,
        answer: &[u64],
        raised: &[u64],
        random: &mut StdRng,
    ) {
        self.step = match std::mem::replace(&mut self.step, Step::Fails) {
            Step::Children(children) => self.child_sizes(view, ground, children, answer),
            Step::Missing => {
                let missing = answer.first().copied().unwrap_or(0);
                let present = ground.size - missing.min(ground.size);
                let rank = ground.people[self.attribute].last;
                let mut cuts = Cuts::default();
                if decide::enough_in_children(&[present, missing], view.agreed.minimum()) && present > 0 {
                    cuts.cuts.push(Cut::Before(rank));
                    cuts.median = Some(Median { rank, below: present, at: missing, above: 0 });
                }
                self.next_cut(view, ground, cuts, random)
            }
            Step::Halving { mut low, mut high, mut below, mut through } => {
                let (probe, count) = (low + (high - low) / 2, answer.first().copied().unwrap_or(0));
                if count >= ground.size.div_ceil(2) {
                    (high, through) = (probe, count.min(ground.size));
                } else {
                    (low, below) = (probe + 1, count);
                }
                if low < high {
                    Step::Halving { low, high, below, through }
                } else {
                    let median = Median {
                        rank: low,
                        below,
                        at: through.saturating_sub(below),
                        above: ground.size - through.max(below),
                    };
                    let mut cuts = decide::cuts_at(median, view.agreed.strict, view.agreed.minimum());
                    cuts.reverse();
                    self.next_cut(view, ground, Cuts { cuts, median: Some(median) }, random)
                }
            }
            Step::Ties(cuts, rank, left, mut ties) => match ties.absorb(answer, view.among(ground), random) {
                None => Step::Ties(cuts, rank, left, ties),
                Some((at_left, at_right)) => {
                    let ranks = &view.share.ranks[self.attribute];
                    let lower = ground.rows.iter().copied().filter(|row| ranks[*row as usize] < rank);
                    let higher = ground.rows.iter().copied().filter(|row| ranks[*row as usize] > rank);
                    let rows = [lower.chain(at_left).collect(), at_right.into_iter().chain(higher).collect()];
                    propose(view, cuts, self.two_sides(view, ground, [rank, rank], rows, left))
                }
            },
            Step::Judging(cuts, sides) => {
                let mut rest = answer;
                let mut counts = Vec::with_capacity(sides.len());
                for side in &sides {
                    let (side, after) = view.agreed.read(side.size, rest);
                    counts.push(side);
                    rest = after;
                }
                let holds = counts.iter().all(|counts| view.agreed.holds(counts, view.wholes));
                if !holds || raised.contains(&1) {
                    self.next_cut(view, ground, cuts, random)
                } else if view.agreed.asks_for_objections() && !view.agreed.objects_by_own_rows() {
                    Step::Objecting(cuts, sides, counts)
                } else {
                    Step::Fits(sides)
                }
            }
            Step::Objecting(cuts, ..) if raised.contains(&1) => self.next_cut(view, ground, cuts, random),
            Step::Objecting(_, sides, _) => Step::Fits(sides),
            settled @ (Step::Fits(_) | Step::Fails) => settled,
        };
    }

    fn child_sizes(&self, view: View<'_>, ground: &Ground, children: Vec<Span>, sizes: &[u64]) -> Step {
        if !decide::enough_in_children(sizes, view.agreed.minimum()) {
            return Step::Fails;
        }
        let ranks = &view.share.ranks[self.attribute];
        let side = |(span, size): (Span, u64)| {
            let inside = |row: &u32| (span.first..=span.last).contains(&ranks[*row as usize]);
            Side { span, rows: ground.rows.iter().copied().filter(inside).collect(), size }
        };
        let filled = children.into_iter().zip(sizes.iter().copied()).filter(|(_, size)| *size > 0);
        propose(view, Cuts::default(), filled.map(side).collect())
    }

    /// The next cut along the attribute, if there is one.
    fn next_cut(&self, view: View<'_>, ground: &Ground, mut cuts: Cuts, random: &mut StdRng) -> Step {
        let (Some(cut), Some(median)) = (cuts.cuts.pop(), cuts.median) else { return Step::Fails };
        let ranks = &view.share.ranks[self.attribute];
        match cut {
            Cut::Before(rank) => {
                let (left, right) = ground.rows.iter().copied().partition(|row| ranks[*row as usize] < rank);
                let size = if rank > median.rank { median.below + median.at } else { median.below };
                propose(view, cuts, self.two_sides(view, ground, [rank - 1, rank], [left, right], size))
            }
            Cut::Through { rank, left } => {
                let at = ground.rows.iter().copied().filter(|row| ranks[*row as usize] == rank).collect();
                let need = left - median.below;
                Step::Ties(cuts, rank, left, Ties::new(at, need, self.attribute, view.among(ground), random))
            }
        }
    }

    fn two_sides(&self, view: View<'_>, ground: &Ground, ends: [u32; 2], rows: [Vec<u32>; 2], left: u64) -> Vec<Side> {
        let attribute = self.attribute;
        // Where nobody lacks a value any more, the region is described by numbers.
        let region = view.agreed.axes[attribute].clipped(ground.region[attribute], ground.people[attribute]);
        let [left_rows, right_rows] = rows;
        vec![
            Side { span: Span::new(region.first, ends[0]), rows: left_rows, size: left },
            Side { span: Span::new(ends[1], region.last), rows: right_rows, size: ground.size - left },
        ]
    }
}

/// Fits where sizes alone decide; else what must be known to judge is requested.
fn propose(view: View<'_>, cuts: Cuts, sides: Vec<Side>) -> Step {
    if view.agreed.by_size_alone() {
        Step::Fits(sides)
    } else if view.agreed.summed(&view.agreed.own_counts(view.share, &[])).is_empty() {
        let counts = sides.iter().map(|side| Counts { rows: side.size, sites: 1, ..Counts::default() }).collect();
        Step::Objecting(cuts, sides, counts)
    } else {
        Step::Judging(cuts, sides)
    }
}
