//! The trial of one attribute of a part: its cuts in turn, until one satisfies every rule or none
//! is left.
//!
//! Only comparisons are requested, until a rule needs a histogram. "At least half of the part" is
//! decided without the part's size: each custodian adds twice its rows at or below a value,
//! subtracts its rows in the part, and adds all its rows, so that no word is negative. The total
//! reaches the number of all rows exactly if half of the part lies at or below the value.

use hedgerow_cuts::decide::{self, Around, CutSide as Which};
use hedgerow_cuts::{Shape, Span};
use hedgerow_privacy::Distribution;
use hedgerow_smc::{About, Coins, OpenedKind, Thresholds};

use super::judging::{Judging, RuleVerdict};
use super::own::{Sorted, child_of};
use super::request::{Request, RequestAnswer, RequestedWords};
use super::ties::Ties;
use crate::{Agreed, Share};

/// The data that a custodian needs while it works on a part.
#[derive(Debug, Clone, Copy)]
pub(super) struct PartView<'a> {
    pub(super) agreed: &'a Agreed,
    pub(super) share: &'a Share,
    pub(super) wholes: &'a [Distribution],
    pub(super) compared: &'a TrialThresholds,
    /// By axis, the rank of a declared missing value that no row has.
    pub(super) absent: &'a [Option<u32>],
}

/// The thresholds of trials: made once, since every part needs them.
#[derive(Debug)]
pub(super) struct TrialThresholds {
    /// The fewest rows of a class; and twice as many, which can be divided.
    sizes: Thresholds,
    /// The same, and whether any row exists.
    child: Thresholds,
    all: Thresholds,
    /// More than all by one row of a side, which counts twice.
    beyond: Thresholds,
    all_and_beyond: Thresholds,
}

impl TrialThresholds {
    /// `rows` is the number of all rows.
    pub(super) fn new(agreed: &Agreed, rows: u64) -> TrialThresholds {
        let minimum = agreed.minimum();
        let (twice, beyond) = (minimum.saturating_mul(2), rows.saturating_add(2));
        TrialThresholds {
            sizes: [minimum, twice].into(),
            child: [1, minimum, twice].into(),
            all: [rows].into(),
            beyond: [beyond].into(),
            all_and_beyond: [rows, beyond].into(),
        }
    }
}

impl PartView<'_> {
    /// Our share of a total that reaches the number of all rows if `twice` is at least `once`.
    fn at_least(self, twice: u64, once: u64) -> u64 {
        self.share.rows() as u64 + twice - once
    }
}

/// The rows to be divided.
#[derive(Debug)]
pub(super) struct Ground {
    /// Its name in the ledger.
    pub(super) part: u64,
    /// Our rows in it.
    pub(super) rows: Vec<u32>,
    pub(super) region: Vec<Span>,
    /// From the lowest to the highest rank that a row in it has.
    pub(super) people: Vec<Span>,
}

#[derive(Debug)]
pub(super) struct AttributeTrial {
    pub(super) attribute: usize,
    step: TrialStep,
    /// The number of words requested.
    requested: RequestedWords,
}

#[derive(Debug)]
enum TrialStep {
    /// Sizes of a node's children.
    Children(Vec<Span>),
    /// The number of rows that lack a value, and of those that have one.
    Missing,
    /// The median, which lies in `low..=high`.
    Halving {
        own: Sorted,
        low: u32,
        high: u32,
    },
    /// The sizes around the median.
    Around(Sorted, u32),
    Ties(Cuts, Ties),
    /// The sizes of the two sides by lot.
    Shared(Cuts, Vec<PartSide>),
    /// Whether the sides of a cut keep every rule.
    Judging(Cuts, Vec<PartSide>, Judging),
    Fits(Vec<PartSide>),
    Fails,
}

/// The outcome of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TrialVerdict {
    Open,
    Fits,
    Fails,
}

/// Cuts that are still to be tried, the next one last; and for a cut after and before the median
/// whether its two sides can be divided again.
#[derive(Debug)]
struct Cuts {
    median: u32,
    cuts: Vec<Which>,
    after: [bool; 2],
    before: [bool; 2],
}

#[derive(Debug)]
pub(super) struct PartSide {
    pub(super) span: Span,
    pub(super) rows: Vec<u32>,
    /// Whether it has rows for two classes.
    pub(super) dividable: bool,
}

impl AttributeTrial {
    /// Requires rows that differ in the attribute.
    pub(super) fn new(attribute: usize, view: PartView<'_>, ground: &Ground) -> AttributeTrial {
        let (axis, people) = (&view.agreed.axes[attribute], ground.people[attribute]);
        let step = match (axis.node(people), axis.shape()) {
            (Some(node), _) => {
                // The others have no row, and nothing is requested about them.
                let some = |child: &&Span| child.first <= people.last && people.first <= child.last;
                TrialStep::Children(node.children.iter().filter(some).copied().collect())
            }
            (None, Shape::Line(line)) if people.last == line.present() => TrialStep::Missing,
            _ => {
                let own = Sorted::new(attribute, view, ground);
                TrialStep::Halving { own, low: people.first, high: people.last }
            }
        };
        AttributeTrial { attribute, step, requested: RequestedWords::default() }
    }

    pub(super) fn verdict(&self) -> TrialVerdict {
        match self.step {
            TrialStep::Fits(_) => TrialVerdict::Fits,
            TrialStep::Fails => TrialVerdict::Fails,
            _ => TrialVerdict::Open,
        }
    }

    /// The sides of the cut, if one satisfies the rules.
    pub(super) fn into_sides(self) -> Vec<PartSide> {
        match self.step {
            TrialStep::Fits(sides) => sides,
            _ => Vec::new(),
        }
    }

    /// The number of words requested last.
    pub(super) fn requested(&self) -> RequestedWords {
        self.requested
    }

    /// Our share of the request of the step.
    pub(super) fn request(&mut self, view: PartView<'_>, ground: &Ground, request: &mut Request) {
        let before = request.requested();
        let about = |what| About { what, part: Some(ground.part), attribute: Some(self.attribute as u32) };
        let ranks = &view.share.ranks[self.attribute];
        let (own, compared) = (ground.rows.len() as u64, view.compared);
        let mut size = |what, rows: u64| request.compare(OpenedKind::Sizes, about(what), rows, &compared.sizes);
        match &self.step {
            TrialStep::Fits(_) | TrialStep::Fails => {}
            TrialStep::Children(children) => {
                let mut sizes = vec![0; children.len()];
                let of_row = |row: &u32| child_of(children, ranks[*row as usize]);
                ground.rows.iter().filter_map(of_row).for_each(|child| sizes[child] += 1);
                for size in sizes {
                    request.compare(OpenedKind::Sizes, about("a child of a node"), size, &compared.child);
                }
            }
            TrialStep::Missing => {
                let last = ground.people[self.attribute].last;
                let missing = ground.rows.iter().filter(|row| ranks[**row as usize] == last).count() as u64;
                size("with a value", own - missing);
                size("without a value", missing);
            }
            TrialStep::Halving { own: sorted, low, high } => {
                let probe = low + (high - low) / 2;
                let word = view.at_least(2 * sorted.through(probe), own);
                request.compare(OpenedKind::CountsAtProbe, about("half at or below a probe"), word, &compared.all);
            }
            TrialStep::Around(sorted, median) => {
                let (below, through) = (sorted.below(*median), sorted.through(*median));
                size("through the median", through);
                size("above the median", own - through);
                size("below the median", below);
                size("from the median on", own - below);
                let word = view.at_least(own - through, below);
                request.compare(OpenedKind::CountsAtProbe, about("as many above as below"), word, &compared.all);
                if !view.agreed.strict {
                    let word = view.at_least(2 * through, own);
                    let about = about("more than half through the median");
                    request.compare(OpenedKind::CountsAtProbe, about, word, &compared.beyond);
                }
            }
            TrialStep::Ties(_, ties) => ties.request(&compared.all_and_beyond, about("half by lot"), request),
            TrialStep::Shared(_, sides) => {
                sides.iter().for_each(|side| size("a side that lots made", side.rows.len() as u64));
            }
            TrialStep::Judging(_, sides, judging) => {
                let classes: Vec<&[u32]> = sides.iter().map(|side| side.rows.as_slice()).collect();
                judging.request(view, &classes, about("a side of a cut"), request);
            }
        }
        self.requested = request.requested().since(before);
    }

    /// Takes the answer to the last request.
    pub(super) fn absorb(
        &mut self,
        view: PartView<'_>,
        ground: &Ground,
        mut answer: RequestAnswer<'_>,
        coins: &mut Coins,
    ) {
        self.step = match std::mem::replace(&mut self.step, TrialStep::Fails) {
            TrialStep::Children(children) => self.child_sizes(view, ground, children, &mut answer),
            TrialStep::Missing => {
                let (present, missing) = (answer.reached(), answer.reached());
                let median = ground.people[self.attribute].last;
                let cuts = if present > 0 && missing > 0 { vec![Which::Before] } else { Vec::new() };
                let before = [present > 1, missing > 1];
                self.next_cut(view, ground, Cuts { median, cuts, after: [false; 2], before }, coins)
            }
            TrialStep::Halving { own, mut low, mut high } => {
                let probe = low + (high - low) / 2;
                if answer.reached() > 0 {
                    high = probe;
                } else {
                    low = probe + 1;
                }
                if low < high { TrialStep::Halving { own, low, high } } else { TrialStep::Around(own, low) }
            }
            TrialStep::Around(_, median) => {
                let [through, above, below, from] = std::array::from_fn(|_| answer.reached());
                let around = Around {
                    after: through > 0 && above > 0,
                    before: below > 0 && from > 0,
                    as_many_above: answer.reached() > 0,
                    more_than_half_through: !view.agreed.strict && answer.reached() > 0,
                };
                let mut cuts = decide::cuts_around(around);
                cuts.reverse();
                let (after, before) = ([through > 1, above > 1], [below > 1, from > 1]);
                self.next_cut(view, ground, Cuts { median, cuts, after, before }, coins)
            }
            TrialStep::Ties(cuts, mut ties) => match ties.absorb(&mut answer) {
                None => TrialStep::Ties(cuts, ties),
                Some((at_left, at_right)) => {
                    let ranks = &view.share.ranks[self.attribute];
                    let lower = ground.rows.iter().copied().filter(|row| ranks[*row as usize] < cuts.median);
                    let higher = ground.rows.iter().copied().filter(|row| ranks[*row as usize] > cuts.median);
                    let rows = [lower.chain(at_left).collect(), at_right.into_iter().chain(higher).collect()];
                    let sides = self.two_sides(view, ground, [cuts.median; 2], rows, [false; 2]);
                    TrialStep::Shared(cuts, sides)
                }
            },
            TrialStep::Shared(cuts, mut sides) => {
                let sizes: Vec<u64> = sides.iter().map(|_| answer.reached()).collect();
                sides.iter_mut().zip(&sizes).for_each(|(side, size)| side.dividable = *size > 1);
                match sizes.iter().all(|size| *size > 0) {
                    true => self.propose(view, ground, cuts, sides, coins),
                    false => self.next_cut(view, ground, cuts, coins),
                }
            }
            TrialStep::Judging(cuts, sides, mut judging) => {
                judging.absorb(view, sides.len(), &mut answer);
                self.after_judging(view, ground, cuts, sides, judging, coins)
            }
            settled @ (TrialStep::Fits(_) | TrialStep::Fails) => settled,
        };
    }

    fn child_sizes(
        &self,
        view: PartView<'_>,
        ground: &Ground,
        children: Vec<Span>,
        answer: &mut RequestAnswer<'_>,
    ) -> TrialStep {
        // 0: no row; 1: too few; 2: enough; 3: enough to be divided.
        let sizes: Vec<u64> = children.iter().map(|_| answer.reached()).collect();
        if sizes.contains(&1) {
            return TrialStep::Fails;
        }
        let ranks = &view.share.ranks[self.attribute];
        let mut rows = vec![Vec::new(); children.len()];
        for row in &ground.rows {
            if let Some(child) = child_of(&children, ranks[*row as usize]) {
                rows[child].push(*row);
            }
        }
        let side = |((span, rows), size): ((Span, Vec<u32>), u64)| PartSide { span, rows, dividable: size > 2 };
        let filled = children.into_iter().zip(rows).zip(sizes).filter(|(_, size)| *size > 0);
        let sides: Vec<PartSide> = filled.map(side).collect();
        let cuts = Cuts { median: 0, cuts: Vec::new(), after: [false; 2], before: [false; 2] };
        // Only false flags of a dishonest custodian leave fewer than two children.
        if sides.len() < 2 { TrialStep::Fails } else { self.judge(view, cuts, sides) }
    }

    /// The next cut along the attribute, if there is one.
    fn next_cut(&self, view: PartView<'_>, ground: &Ground, mut cuts: Cuts, coins: &mut Coins) -> TrialStep {
        let Some(cut) = cuts.cuts.pop() else { return TrialStep::Fails };
        let ranks = &view.share.ranks[self.attribute];
        let median = cuts.median;
        let (rank, dividable) = match cut {
            Which::After => (median + 1, cuts.after),
            Which::Before => (median, cuts.before),
            Which::Through => {
                let at = ground.rows.iter().copied().filter(|row| ranks[*row as usize] == median).collect();
                let below = ground.rows.iter().filter(|row| ranks[**row as usize] < median).count() as u64;
                let base = view.at_least(2 * below, ground.rows.len() as u64);
                return TrialStep::Ties(cuts, Ties::new(at, base, coins));
            }
        };
        // Only false answers cut before the first value.
        let Some(end) = rank.checked_sub(1) else { return TrialStep::Fails };
        let (left, right) = ground.rows.iter().copied().partition(|row| ranks[*row as usize] < rank);
        let sides = self.two_sides(view, ground, [end, rank], [left, right], dividable);
        self.propose(view, ground, cuts, sides, coins)
    }

    fn two_sides(
        &self,
        view: PartView<'_>,
        ground: &Ground,
        ends: [u32; 2],
        rows: [Vec<u32>; 2],
        dividable: [bool; 2],
    ) -> Vec<PartSide> {
        let attribute = self.attribute;
        // Where every row has a value, the region is described by numbers.
        let region = view.agreed.axes[attribute].clipped(ground.region[attribute], ground.people[attribute]);
        let spans = [Span::new(region.first, ends[0]), Span::new(ends[1], region.last)];
        let side = |((span, rows), dividable): ((Span, Vec<u32>), bool)| PartSide { span, rows, dividable };
        spans.into_iter().zip(rows).zip(dividable).map(side).collect()
    }

    /// Sides that are large enough: judged if sizes alone do not decide.
    fn propose(
        &self,
        view: PartView<'_>,
        ground: &Ground,
        cuts: Cuts,
        sides: Vec<PartSide>,
        coins: &mut Coins,
    ) -> TrialStep {
        // Only false answers leave an empty side.
        if sides.iter().any(|side| side.span.first > side.span.last) {
            return self.next_cut(view, ground, cuts, coins);
        }
        self.judge(view, cuts, sides)
    }

    fn judge(&self, view: PartView<'_>, cuts: Cuts, sides: Vec<PartSide>) -> TrialStep {
        let judging = Judging::new(view, false);
        match judging.judged() {
            RuleVerdict::Holds => TrialStep::Fits(sides),
            RuleVerdict::Open | RuleVerdict::Breaks => TrialStep::Judging(cuts, sides, judging),
        }
    }

    fn after_judging(
        &self,
        view: PartView<'_>,
        ground: &Ground,
        cuts: Cuts,
        sides: Vec<PartSide>,
        judging: Judging,
        coins: &mut Coins,
    ) -> TrialStep {
        match judging.judged() {
            RuleVerdict::Open => TrialStep::Judging(cuts, sides, judging),
            RuleVerdict::Holds => TrialStep::Fits(sides),
            RuleVerdict::Breaks => self.next_cut(view, ground, cuts, coins),
        }
    }
}
