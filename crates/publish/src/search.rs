//! Full-domain search: the least loss over the whole generalisation lattice, proved.
//!
//! First an incumbent: a path from the table itself to the top, on which each step buys the most merging for the least
//! loss, halved until its first node that holds is found, then improved by lowering single attributes. Then the proof:
//! all nodes whose lower bound is below the incumbent, coarsest bound first. Each inherits from its coarser neighbours how many
//! rows it must leave out at least ([`AtLeast`]); this fails it, or raises its bound above the incumbent, or it is judged
//! and passes on what it learned. Since bounds only fall on the way down, every coarser neighbour comes before.
//!
//! The optimum is unique: among equal losses the node with the fewest generalisation steps, then the first in the order
//! of levels. Batches are of fixed size, so that neither the answer nor the counts depend on the number of threads.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::time::{Duration, Instant};

use hedgerow_privacy::{Judge, Verdict};
use hedgerow_table::frequency::{FrequencySet, Layout};
use hedgerow_table::{Codes, Hierarchy, Progress, with_words};
use rayon::prelude::*;

use crate::lattice::{Lattice, Levels, is_finer_or_equal};
use crate::loss::{Cost, LossModel};
use crate::pruning::{AtLeast, Pruning};
use crate::sets::{Counted, Sets};
use known::Known;

mod candidates;
mod known;

/// Nodes judged at once.
const BATCH: usize = 8;

/// How far ahead a batch looks for nodes that do not lie below one another.
const LOOKAHEAD: usize = 64;

/// How many steps a climb takes before it judges.
const STRIDE: usize = 2;

/// The largest lattice whose nodes are all weighed in memory; beyond it the search is local and proves nothing.
pub const NODES_MAX: u64 = 1 << 26;

/// From this many nodes on, a better incumbent is sought before the proof.
const NODES_LARGE: u64 = 1 << 17;

/// What is searched. The first attributes of the judge's layout are the quasi attributes, in the hierarchies' order; the
/// others are known or protected as they are.
#[derive(Clone, Copy)]
pub struct FullDomain<'a> {
    pub columns: &'a [&'a Codes],
    pub rows: usize,
    pub hierarchies: &'a [&'a Hierarchy],
    pub judge: &'a Judge,
    pub loss: &'a LossModel,
    /// Other measures to tell of the best node.
    pub told: &'a [LossModel],
    pub budget: Budget,
    /// Also count every node that holds.
    pub candidates: bool,
    pub progress: &'a dyn Progress,
}

/// Where to stop without a proof.
#[derive(Debug, Clone, Copy, Default)]
pub struct Budget {
    pub nodes_max: Option<u64>,
    pub time_max: Option<Duration>,
}

/// The best node, and how it was found.
#[derive(Debug, Clone)]
pub struct Found {
    pub levels: Levels,
    pub cost: Cost,
    pub suppressed: u64,
    /// The loss in the measures that were to be told.
    pub told: Vec<f64>,
    /// Which rows of the table stay; absent when all do.
    pub kept_rows: Option<Vec<bool>>,
}

#[derive(Debug, Clone)]
pub struct Outcome {
    /// `None` when no judged node holds.
    pub best: Option<Found>,
    pub proven: bool,
    pub candidates: Option<u64>,
    pub explain: Explain,
}

/// What became of the lattice's nodes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Explain {
    /// `None` beyond 64 bits.
    pub nodes: Option<u64>,
    /// Distinct rows of the table.
    pub distinct: usize,
    /// Judged to find a first good node.
    pub judged_first: u64,
    /// Judged to prove that none is better.
    pub judged_proof: u64,
    /// Of all judged, those that hold.
    pub judged_holding: u64,
    /// Not judged: they cannot lose less than the best node.
    pub pruned_by_loss: u64,
    /// Not judged: a coarser node shows that too many rows would have to be left out.
    pub pruned_by_guarantee: u64,
    /// Not judged: a coarser node shows that enough rows must be left out to lose more than the best node.
    pub pruned_by_suppression: u64,
    /// Not reached within the budget.
    pub not_reached: u64,
}

impl std::fmt::Debug for FullDomain<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FullDomain").field("rows", &self.rows).field("judge", &self.judge).finish_non_exhaustive()
    }
}

/// Searches the lattice of the given hierarchies.
pub fn search(problem: FullDomain<'_>) -> Outcome {
    with_words!(problem.judge.layout().words(), W => Search::<W>::new(problem).run())
}

/// A node that holds, in the order in which nodes are preferred.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Holding {
    cost: Cost,
    steps: u32,
    levels: Levels,
    suppressed: u64,
}

struct Judged {
    at_least: AtLeast,
    holding: Option<Holding>,
}

struct Search<'a, const W: usize> {
    problem: FullDomain<'a>,
    lattice: Lattice,
    layout: &'a Layout,
    quasi: Vec<usize>,
    pruning: Pruning,
    sets: Sets<'a, W>,
    best: Option<Holding>,
    explain: Explain,
    started: Instant,
    judged: u64,
    /// What the nodes judged for the incumbent taught; the proof starts from it.
    learned: Vec<(Levels, AtLeast)>,
}

impl<'a, const W: usize> Search<'a, W> {
    fn new(problem: FullDomain<'a>) -> Self {
        let started = Instant::now();
        let layout = problem.judge.layout();
        let lattice = Lattice::new(problem.hierarchies.iter().map(|hierarchy| hierarchy.top() as u8).collect());
        let base = FrequencySet::<W>::of_rows(layout, problem.columns, problem.rows);
        let explain = Explain { nodes: lattice.nodes(), distinct: base.len(), ..Explain::default() };
        let sets = Sets::new(layout, problem.hierarchies, base);
        let quasi = (0..problem.hierarchies.len()).collect();
        let pruning = Pruning::sound_for(problem.judge);
        Search {
            problem,
            lattice,
            layout,
            quasi,
            pruning,
            sets,
            best: None,
            explain,
            started,
            judged: 0,
            learned: Vec::new(),
        }
    }

    fn run(mut self) -> Outcome {
        self.problem.progress.stage("searching", None);
        self.find_incumbent();
        let numbered = self.lattice.nodes().is_some_and(|nodes| nodes <= NODES_MAX);
        if self.lattice.nodes().is_none_or(|nodes| nodes >= NODES_LARGE) {
            self.improve_locally();
        }
        self.explain.judged_first = self.judged;
        // Losses of whole classes have no bound to prune by, but without suppression they grow with every step.
        let by_chains = !self.problem.loss.is_sum_over_cells() && self.problem.judge.allowed() == 0;
        let (proven, mut candidates) = match self.lattice.nodes() {
            Some(nodes) if numbered && by_chains && self.holding_is_monotone() => {
                let candidates = self.decide_by_chains(nodes);
                (candidates.is_some(), candidates)
            }
            Some(nodes) if numbered => (self.prove(nodes), None),
            _ => (false, None),
        };
        self.explain.judged_proof = self.judged - self.explain.judged_first;
        if self.problem.candidates && numbered && candidates.is_none() {
            candidates = self.count_candidates();
        }
        let candidates = candidates.filter(|_| self.problem.candidates);
        let best = self.best.clone().map(|best| self.found(best));
        Outcome { best, proven, candidates, explain: self.explain }
    }

    fn out_of_budget(&self) -> bool {
        self.problem.budget.nodes_max.is_some_and(|nodes| self.judged >= nodes)
            || self.problem.budget.time_max.is_some_and(|time| self.started.elapsed() >= time)
    }

    /// A first good node.
    fn find_incumbent(&mut self) {
        let path = self.path_upwards();
        // The first node of the path that holds, if holding is monotone along it; else just one that holds.
        let (mut fails_before, mut holds_at) = (0, path.len());
        while fails_before < holds_at {
            let middle = (fails_before + holds_at) / 2;
            let judged = self.judge_first(&path[middle..=middle]);
            if judged[0].holding.is_some() { holds_at = middle } else { fails_before = middle + 1 }
        }
        while !self.out_of_budget() {
            let Some(best) = self.best.clone() else { return };
            let lower: Vec<Levels> = (0..best.levels.len())
                .filter(|&attribute| best.levels[attribute] > 0)
                .map(|attribute| {
                    let mut levels = best.levels.clone();
                    levels[attribute] -= 1;
                    levels
                })
                .filter(|levels| self.problem.loss.lower_bound(levels) < best.cost)
                .collect();
            self.judge_first(&lower);
            if self.best.as_ref() == Some(&best) {
                return;
            }
        }
    }

    fn judge_first(&mut self, nodes: &[Levels]) -> Vec<Judged> {
        let judged = self.judge_all(nodes);
        self.learned.extend(nodes.iter().cloned().zip(judged.iter().map(|judged| judged.at_least)));
        judged
    }

    /// From the table itself to the top, one step at a time: the step that merges most rows for the least loss.
    fn path_upwards(&self) -> Vec<Levels> {
        let mut levels = self.lattice.bottom();
        let mut path = vec![levels.clone()];
        while let Some((_, attribute)) = (0..levels.len())
            .filter(|&attribute| levels[attribute] < self.lattice.tops()[attribute])
            .map(|attribute| {
                let mut coarser = levels.clone();
                coarser[attribute] += 1;
                let merged = self.sets.merged(attribute, levels[attribute], coarser[attribute]);
                let (before, after) = (self.problem.loss.lower_bound(&levels), self.problem.loss.lower_bound(&coarser));
                let loss = self.problem.loss.loss(after - before);
                (merged / (loss + 1e-6), attribute)
            })
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))
        {
            levels[attribute] += 1;
            path.push(levels.clone());
        }
        path
    }

    /// Judges nodes, remembers the best, and returns what each teaches.
    fn judge_all(&mut self, nodes: &[Levels]) -> Vec<Judged> {
        let counted = self.sets.count_all(nodes);
        let all: Vec<Judged> = counted
            .par_iter()
            .map(|counted| {
                let verdict = self.problem.judge.judge(&counted.set);
                Judged { at_least: self.pruning.after(&verdict), holding: self.holding(counted, verdict) }
            })
            .collect();
        self.judged += nodes.len() as u64;
        self.problem.progress.advance(nodes.len() as u64);
        for holding in all.iter().filter_map(|judged| judged.holding.as_ref()) {
            self.explain.judged_holding += 1;
            if self.best.as_ref().is_none_or(|best| holding < best) {
                self.best = Some(holding.clone());
            }
        }
        all
    }

    fn holding(&self, counted: &Counted<W>, verdict: Verdict) -> Option<Holding> {
        let kept = verdict.kept?;
        let cost = self.problem.loss.cost(self.layout, &self.quasi, &counted.levels, &counted.set, &kept);
        let steps = counted.levels.iter().map(|&level| u32::from(level)).sum();
        Some(Holding { cost, steps, levels: counted.levels.clone(), suppressed: verdict.suppressed })
    }

    /// Whether a node can still be better than the best, given what must be left out.
    fn worth_judging(&self, levels: &[u8], at_least: AtLeast) -> Worth {
        let rows = at_least.rows();
        if rows >= self.failing_from() {
            return Worth::Fails;
        }
        let Some(best) = &self.best else { return Worth::Judging };
        let steps: u32 = levels.iter().map(|&level| u32::from(level)).sum();
        let at_best = |cost: Cost| (cost, steps, levels) >= (best.cost, best.steps, best.levels.as_slice());
        if at_best(self.problem.loss.lower_bound(levels)) {
            Worth::LosesMore
        } else if at_best(self.problem.loss.lower_bound_with(levels, rows)) {
            Worth::LosesMoreBySuppression
        } else {
            Worth::Judging
        }
    }

    /// Judges or excludes every node; false when the budget ran out first.
    fn prove(&mut self, nodes: u64) -> bool {
        let order = self.order_of_proof(nodes);
        self.explain.pruned_by_loss += nodes - order.len() as u64;
        self.problem.progress.stage("proving", Some(order.len() as u64));
        let mut known = Known::new(self.lattice.clone(), self.failing_from(), nodes);
        let mut judged_first: HashSet<u32> = HashSet::new();
        for (levels, learned) in std::mem::take(&mut self.learned) {
            judged_first.insert(self.lattice.number(&levels) as u32);
            known.learn(&levels, learned);
        }
        let mut waiting: Vec<(u32, Levels)> = Vec::new();
        let mut next = 0;
        while next < order.len() || !waiting.is_empty() {
            if self.out_of_budget() {
                self.explain.not_reached = (order.len() - next + waiting.len()) as u64;
                return false;
            }
            let mut batch: Vec<(u32, Levels)> = Vec::with_capacity(BATCH);
            let mut postponed: Vec<(u32, Levels)> = Vec::new();
            let mut ahead = std::mem::take(&mut waiting).into_iter();
            while batch.len() < BATCH && postponed.len() < LOOKAHEAD {
                let (number, levels) = match ahead.next() {
                    Some(node) => node,
                    None if next < order.len() => {
                        let mut levels = Levels::new();
                        self.lattice.levels(u64::from(order[next]), &mut levels);
                        next += 1;
                        (order[next - 1], levels)
                    }
                    None => break,
                };
                let at_least = known.inherit(number, &levels);
                // A node below one that is about to be judged waits for what that one teaches; so do those below it.
                if batch.iter().chain(&postponed).any(|(_, coarse)| is_finer_or_equal(&levels, coarse)) {
                    postponed.push((number, levels));
                    continue;
                }
                match self.worth_judging(&levels, at_least) {
                    _ if judged_first.contains(&number) => {}
                    Worth::Judging => batch.push((number, levels)),
                    Worth::Fails => self.explain.pruned_by_guarantee += 1,
                    Worth::LosesMore => self.explain.pruned_by_loss += 1,
                    Worth::LosesMoreBySuppression => self.explain.pruned_by_suppression += 1,
                }
            }
            waiting = postponed;
            waiting.extend(ahead);
            self.climb(&mut known, &batch);
            batch.retain(|(number, _)| {
                let fails = known.fails(*number);
                self.explain.pruned_by_guarantee += u64::from(fails);
                !fails
            });
            let nodes: Vec<Levels> = batch.into_iter().map(|(_, levels)| levels).collect();
            for (levels, judged) in nodes.iter().zip(self.judge_all(&nodes)) {
                known.learn(levels, judged.at_least);
            }
        }
        true
    }

    /// Most nodes worth judging fail, and so do nodes far above them, which are cheaper to count and exclude more. From
    /// every node of the batch this climbs by the steps that merge least, two at a time, as long as what it reaches fails.
    fn climb(&mut self, known: &mut Known, batch: &[(u32, Levels)]) {
        let mut climbers: Vec<Levels> = batch.iter().map(|(_, levels)| levels.clone()).collect();
        while !climbers.is_empty() && !self.out_of_budget() {
            let mut reached: Vec<Levels> = Vec::with_capacity(climbers.len());
            for levels in &mut climbers {
                for _ in 0..STRIDE {
                    self.raise_least(levels);
                }
                if !known.decided(self.lattice.number(levels) as u32) && !reached.contains(levels) {
                    reached.push(levels.clone());
                }
            }
            let judged = self.judge_all(&reached);
            climbers.clear();
            for (levels, judged) in reached.into_iter().zip(judged) {
                known.learn(&levels, judged.at_least);
                if judged.holding.is_some() && self.holding_is_monotone() {
                    known.learn_monotone_holding(&levels);
                }
                if judged.holding.is_none() && known.fails(self.lattice.number(&levels) as u32) {
                    climbers.push(levels);
                }
            }
        }
    }

    /// Raises the attribute whose next level merges the fewest rows.
    fn raise_least(&self, levels: &mut Levels) {
        let merged = |attribute: usize| self.sets.merged(attribute, levels[attribute], levels[attribute] + 1);
        let raisable = (0..levels.len()).filter(|&attribute| levels[attribute] < self.lattice.tops()[attribute]);
        if let Some(attribute) = raisable.min_by(|&a, &b| merged(a).total_cmp(&merged(b))) {
            levels[attribute] += 1;
        }
    }

    /// From how many left-out rows on a node fails.
    fn failing_from(&self) -> u64 {
        (self.problem.judge.allowed() + 1).min(self.problem.rows as u64)
    }

    /// The nodes that may be better than the incumbent, every node after all coarser ones.
    fn order_of_proof(&self, nodes: u64) -> Vec<u32> {
        let bound = self.best.as_ref().map_or(Cost::MAX, |best| best.cost);
        let keyed = |number: u64, levels: &mut Levels| {
            self.lattice.levels(number, levels);
            let cost = self.problem.loss.lower_bound(levels);
            let steps: u32 = levels.iter().map(|&level| u32::from(level)).sum();
            // Coarser nodes cost at least as much, also rounded, and take more steps.
            (cost <= bound).then_some((Reverse((cost >> 20) as u64), Reverse(steps), number as u32))
        };
        let mut order: Vec<_> = (0..nodes)
            .into_par_iter()
            .map_init(Levels::new, |levels, number| keyed(number, levels))
            .flatten_iter()
            .collect();
        order.par_sort_unstable();
        order.into_iter().map(|(_, _, number)| number).collect()
    }

    /// Moves to the best neighbour (one attribute lower, and at most one other higher) until there is none. Proves nothing,
    /// but a good incumbent is what shortens a long proof.
    fn improve_locally(&mut self) {
        while let (Some(best), false) = (self.best.clone(), self.out_of_budget()) {
            let mut neighbours: Vec<Levels> = Vec::new();
            for lower in (0..best.levels.len()).filter(|&attribute| best.levels[attribute] > 0) {
                for higher in 0..best.levels.len() {
                    let mut levels = best.levels.clone();
                    levels[lower] -= 1;
                    if higher != lower && levels[higher] < self.lattice.tops()[higher] {
                        levels[higher] += 1;
                    }
                    if self.worth_judging(&levels, AtLeast::default()) == Worth::Judging
                        && !neighbours.contains(&levels)
                    {
                        neighbours.push(levels);
                    }
                }
            }
            for batch in neighbours.chunks(BATCH) {
                if self.out_of_budget() {
                    return;
                }
                self.judge_first(batch);
            }
            if self.best.as_ref() == Some(&best) {
                return;
            }
        }
    }

    /// Which rows stay on the best levels.
    fn found(&mut self, best: Holding) -> Found {
        let counted = self.sets.count_all(std::slice::from_ref(&best.levels)).remove(0);
        let kept = self.problem.judge.judge(&counted.set).kept.expect("the best node was judged to hold");
        let kept_rows = (best.suppressed > 0)
            .then(|| self.sets.rows_kept(&counted, &kept, self.problem.columns, self.problem.rows));
        let told =
            |model: &LossModel| model.loss(model.cost(self.layout, &self.quasi, &counted.levels, &counted.set, &kept));
        let told = self.problem.told.iter().map(told).collect();
        Found { levels: best.levels, cost: best.cost, suppressed: best.suppressed, told, kept_rows }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Worth {
    Judging,
    Fails,
    LosesMore,
    LosesMoreBySuppression,
}
