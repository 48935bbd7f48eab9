//! Evaluates the rules on classes, the cheapest conditions first, and stops at the first that
//! fails.
//!
//! Sizes have been checked before. Comparisons come first: custodians with rows, rows clipped to a
//! limit for each custodian, custodians with each value; and which values occur, where different
//! values are required. Histograms open only if all of these hold and a rule looks at shares of
//! values. If a rule must hold towards single custodians, they object last, and only whether any
//! custodian objects opens.

use hedgerow_privacy::Distribution;
use hedgerow_smc::{About, OpenedKind};

use super::request::{Request, RequestAnswer};
use super::rules::{ClassCounts, RuleValues};
use super::trial::PartView;

/// Some classes, all of which must satisfy the rules.
#[derive(Debug)]
pub(super) struct Judging {
    stage: JudgingStage,
    /// Whether the one class is the whole, which distributions are compared with. It is compared
    /// with itself; before its distribution is known, none can object.
    whole: bool,
    wholes: Vec<Distribution>,
    /// Of each class, once they are requested.
    values: Vec<RuleValues>,
    counts: Vec<ClassCounts>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JudgingStage {
    Comparing,
    Histograms,
    Objecting,
    Holds,
    Breaks,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RuleVerdict {
    Open,
    Holds,
    Breaks,
}

impl Judging {
    pub(super) fn new(view: PartView<'_>, whole: bool) -> Judging {
        let (values, counts, wholes) = (Vec::new(), Vec::new(), Vec::new());
        let mut judging = Judging { stage: JudgingStage::Comparing, whole, wholes, values, counts };
        if !view.agreed.compares() {
            judging.stage = judging.after_comparing(view);
        }
        judging
    }

    pub(super) fn judged(&self) -> RuleVerdict {
        match self.stage {
            JudgingStage::Holds => RuleVerdict::Holds,
            JudgingStage::Breaks => RuleVerdict::Breaks,
            _ => RuleVerdict::Open,
        }
    }

    /// The distributions of the whole, where they were needed.
    pub(super) fn into_wholes(self) -> Vec<Distribution> {
        self.wholes
    }

    fn objects_early(&self, view: PartView<'_>) -> bool {
        !self.whole && view.agreed.objects_by_own_rows()
    }

    fn after_comparing(&self, view: PartView<'_>) -> JudgingStage {
        if view.agreed.needs_histograms() { JudgingStage::Histograms } else { self.after_histograms(view) }
    }

    fn after_histograms(&self, view: PartView<'_>) -> JudgingStage {
        let late = self.whole && view.agreed.objects_by_own_rows();
        if late || view.agreed.objects_after_opening() { JudgingStage::Objecting } else { JudgingStage::Holds }
    }

    /// Our share of the next request; `classes` are our rows of each.
    pub(super) fn request(&self, view: PartView<'_>, classes: &[&[u32]], about: About, request: &mut Request) {
        let (agreed, share) = (view.agreed, view.share);
        match self.stage {
            JudgingStage::Comparing => {
                classes.iter().for_each(|rows| agreed.compare(share, rows, about, request));
                if self.objects_early(view) {
                    let objects = |rows: &&[u32]| !agreed.own_part_holds(share, rows, view.wholes);
                    // One flag for all of them: a custodian does not disclose which class it
                    // objects to.
                    request.any(OpenedKind::Objections, about, [classes.iter().any(objects)]);
                }
            }
            JudgingStage::Histograms => {
                for rows in classes {
                    let own = agreed.own_counts(share, rows);
                    request.count(OpenedKind::Histograms, about, own.histograms.concat());
                }
            }
            JudgingStage::Objecting => {
                let wholes = if self.whole { &self.wholes } else { view.wholes };
                let objects = |(place, rows): (usize, &&[u32])| {
                    let (values, counts) = (self.values.get(place), self.counts.get(place));
                    match agreed.objects_by_own_rows() {
                        true => !agreed.own_part_holds(share, rows, wholes),
                        false => !agreed.rest_holds(share, rows, values, counts, wholes),
                    }
                };
                request.any(OpenedKind::Objections, about, [classes.iter().enumerate().any(objects)]);
            }
            JudgingStage::Holds | JudgingStage::Breaks => {}
        }
    }

    /// Takes the answer.
    pub(super) fn absorb(&mut self, view: PartView<'_>, classes: usize, answer: &mut RequestAnswer<'_>) {
        let agreed = view.agreed;
        self.stage = match self.stage {
            JudgingStage::Comparing => {
                let found: Vec<(bool, RuleValues)> = (0..classes).map(|_| agreed.compared(answer)).collect();
                let objected = self.objects_early(view) && answer.raised();
                let holds = found.iter().all(|(holds, values)| *holds && agreed.enough_values(values));
                self.values = found.into_iter().map(|(_, values)| values).collect();
                if holds && !objected { self.after_comparing(view) } else { JudgingStage::Breaks }
            }
            JudgingStage::Histograms => {
                self.counts = (0..classes).map(|_| agreed.read(answer)).collect();
                if let (true, Some(counts)) = (self.whole, self.counts.first()) {
                    self.wholes = agreed.wholes(counts);
                }
                let wholes = if self.whole { &self.wholes } else { view.wholes };
                let holds = self.counts.iter().all(|counts| agreed.shares_hold(counts, wholes));
                if holds { self.after_histograms(view) } else { JudgingStage::Breaks }
            }
            JudgingStage::Objecting if answer.raised() => JudgingStage::Breaks,
            JudgingStage::Objecting => JudgingStage::Holds,
            settled @ (JudgingStage::Holds | JudgingStage::Breaks) => settled,
        };
    }
}

/// All custodians in one place, without any protocol.
#[cfg(test)]
pub(super) mod together {
    use super::*;
    use crate::trial::TrialThresholds;
    use crate::{Agreed, Share};

    /// Whether all rows of all custodians satisfy the rules as one class.
    pub(crate) fn stands(agreed: &Agreed, shares: &[Share], wholes: &[Distribution]) -> bool {
        let rows: Vec<Vec<u32>> = shares.iter().map(|share| (0..share.rows() as u32).collect()).collect();
        let compared = TrialThresholds::new(agreed, rows.iter().map(|rows| rows.len() as u64).sum());
        let view = |share| PartView { agreed, share, wholes, compared: &compared, absent: &[] };
        let mut all: Vec<Judging> = shares.iter().map(|share| Judging::new(view(share), false)).collect();
        while all[0].judged() == RuleVerdict::Open {
            let mut requests = Vec::new();
            for ((judging, share), rows) in all.iter().zip(shares).zip(&rows) {
                let mut request = Request::default();
                judging.request(view(share), &[rows], "test".into(), &mut request);
                requests.push(request);
            }
            let requested = requests[0].requested();
            let asks: Vec<_> = requests.into_iter().map(|request| request.ask(64)).collect();
            let total = |place: usize| asks.iter().map(|ask| ask.words[place]).sum::<u64>();
            let mut answer: Vec<u64> = (0..requested.words()).map(total).collect();
            let flags = requested.counts + requested.compared;
            for (place, thresholds) in asks[0].thresholds.iter().enumerate() {
                let total = &mut answer[requested.counts + place];
                *total = thresholds.iter().filter(|threshold| *total >= **threshold).count() as u64;
            }
            answer[flags..].iter_mut().for_each(|flag| *flag = u64::from(*flag > 0));
            for (judging, share) in all.iter_mut().zip(shares) {
                judging.absorb(view(share), 1, &mut RequestAnswer::new(&answer, requested));
            }
            assert!(all.iter().all(|judging| judging.judged() == all[0].judged()), "custodians disagree");
        }
        all[0].judged() == RuleVerdict::Holds
    }
}
