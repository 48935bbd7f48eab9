//! Full-domain search: the least loss over the whole generalization lattice, proved.
//!
//! First an incumbent: a path from the table itself to the top, on which each step buys the most
//! merging for the least loss, halved until its first node that holds is found, then improved by
//! lowering single attributes. Then the proof: all nodes whose lower bound is below the incumbent,
//! coarsest bound first. Each inherits from its coarser neighbors how many rows it must leave out
//! at least ([`AtLeast`]); this fails it, or raises its bound above the incumbent, or it is judged
//! and passes on what it learned. Since bounds only fall on the way down, every coarser neighbor
//! comes before.
//!
//! The optimum is unique: among equal losses the node with the fewest generalization steps, then
//! the first in the order of levels. Batches are of fixed size, so that neither the answer nor the
//! counts depend on the number of threads.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hedgerow_draft::consistent::Consistent;
pub use hedgerow_draft::explain::Explain;
use hedgerow_draft::loss::{Cost, LossModel};
use hedgerow_draft::units::Units;
use hedgerow_privacy::{Finest, Judge, UnitRows, Verdict};
use hedgerow_table::frequency::{FrequencySet, Layout, ValueCounts};
use hedgerow_table::{Codes, Hierarchy, Progress, parallel, with_words};

use crate::lattice::{Lattice, Levels};
use crate::pruning::{AtLeast, Pruning};
use crate::sets::{CountedSet, Sets};

mod candidates;
pub mod explore;
mod incumbent;
mod known;
mod proof;

/// Nodes judged at once.
const BATCH: usize = 8;

/// The largest lattice whose nodes are all weighed in memory, with some twenty bytes for each;
/// beyond it the search is local and proves nothing.
pub const NODES_MAX: u64 = 1 << 25;

/// From this many nodes on, a better incumbent is sought before the proof.
const NODES_LARGE: u64 = 1 << 17;

/// The search problem. The first attributes of the judge's layout are the quasi attributes, in the
/// hierarchies' order; the others are known or protected as they are.
#[derive(Clone, Copy)]
pub struct FullDomain<'a> {
    pub columns: &'a [&'a Codes],
    pub rows: usize,
    /// Where equal rows are held once: how often each occurs.
    pub counts: Option<&'a [u32]>,
    pub hierarchies: &'a [&'a Hierarchy],
    pub judge: &'a Judge,
    pub loss: &'a LossModel,
    /// The measures in which the loss of the best node is reported.
    pub measured: &'a [LossModel],
    pub budget: Budget,
    /// Also count every node that holds.
    pub candidates: bool,
    /// The unit of each row, where rows belong to units.
    pub units: Option<&'a Units>,
    /// The further condition on the rows that fit each person.
    pub consistent: Option<&'a Consistent>,
    pub progress: &'a dyn Progress,
}

/// Where to stop without a proof.
#[derive(Debug, Clone, Copy, Default)]
pub struct Budget {
    pub nodes_max: Option<u64>,
    pub time_max: Option<Duration>,
}

impl Budget {
    fn is_unlimited(&self) -> bool {
        self.nodes_max.is_none() && self.time_max.is_none()
    }
}

/// The best node, and how it was found.
#[derive(Debug, Clone)]
pub struct BestNode {
    pub levels: Levels,
    pub cost: Cost,
    pub suppressed: u64,
    /// The loss of the best node in every measure of [`FullDomain::measured`].
    pub losses: Vec<f64>,
    /// Which rows of the table stay; absent when all do.
    pub kept_rows: Option<Vec<bool>>,
    /// Units that are suppressed, where rows belong to units.
    pub suppressed_units: u64,
}

#[derive(Debug, Clone)]
pub struct SearchOutcome {
    /// `None` when no judged node holds.
    pub best: Option<BestNode>,
    pub proven: bool,
    pub candidates: Option<u64>,
    pub explain: Explain,
}

impl std::fmt::Debug for FullDomain<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FullDomain").field("rows", &self.rows).field("judge", &self.judge).finish_non_exhaustive()
    }
}

/// Searches the lattice of the given hierarchies.
pub fn search(problem: FullDomain<'_>) -> SearchOutcome {
    with_words!(problem.judge.layout().words(), W => LatticeSearch::<W>::new(problem).run())
}

/// A node that holds, in the order in which nodes are preferred.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Holding {
    cost: Cost,
    steps: u32,
    levels: Levels,
    suppressed: u64,
}

struct NodeVerdict {
    at_least: AtLeast,
    holding: Option<Holding>,
}

/// The result of judging a node, and its rows: where units are suppressed, the rows of an entry
/// are parted.
struct SeenNode<const W: usize> {
    verdict: Verdict,
    set: Arc<FrequencySet<W>>,
    /// The units that stay, and how many do not.
    units: Option<(Vec<bool>, u64)>,
}

struct LatticeSearch<'a, const W: usize> {
    problem: FullDomain<'a>,
    lattice: Lattice,
    layout: &'a Layout,
    quasi: Vec<usize>,
    pruning: Pruning,
    sets: Sets<'a, W>,
    all_rows: u64,
    /// By attribute, the values of what is protected, beside the table's own frequency set.
    protected: Vec<Option<ValueCounts>>,
    /// The rows by unit, where they belong to units.
    unit_rows: Option<UnitRows>,
    best: Option<Holding>,
    /// The rows of the best node, where they belong to units: judging these takes longest.
    best_seen: Option<(Levels, SeenNode<W>)>,
    explain: Explain,
    started: Instant,
    /// Nodes judged so far, each once.
    judged: HashSet<Levels>,
    /// The knowledge from the nodes judged for the incumbent; the proof starts from it.
    learned: Vec<(Levels, AtLeast)>,
    reports: Reports,
}

/// The progress of the search.
#[derive(Debug, Clone, Copy)]
enum Reports {
    Judged { total: Option<u64> },
    Decided { total: u64, done: u64 },
}

impl Reports {
    fn total(self) -> Option<u64> {
        match self {
            Reports::Judged { total } => total,
            Reports::Decided { total, .. } => Some(total),
        }
    }
}

impl<'a, const W: usize> LatticeSearch<'a, W> {
    fn new(problem: FullDomain<'a>) -> Self {
        let started = Instant::now();
        let layout = problem.judge.layout();
        let lattice = Lattice::new(problem.hierarchies.iter().map(|hierarchy| hierarchy.top() as u8).collect());
        let Finest { set: base, protected, .. } =
            problem.judge.count_rows::<W>(problem.columns, problem.rows, problem.counts);
        let explain = Explain { nodes: lattice.nodes(), distinct: base.len(), ..Explain::default() };
        let all_rows = base.rows();
        assert_eq!(problem.units.is_some(), problem.judge.unit_terms().is_some(), "units are judged or there are none");
        let unit_rows =
            problem.units.map(|units| UnitRows::new(problem.judge, &base, problem.columns, &units.of_row, units.count));
        let sets = Sets::new(layout, problem.hierarchies, base);
        let sets = if problem.counts.is_some() { sets.holding_less() } else { sets };
        let quasi = (0..problem.hierarchies.len()).collect();
        let pruning = Pruning::sound_for(problem.judge);
        LatticeSearch {
            problem,
            lattice,
            layout,
            quasi,
            pruning,
            sets,
            all_rows,
            protected,
            unit_rows,
            best: None,
            best_seen: None,
            explain,
            started,
            judged: HashSet::new(),
            learned: Vec::new(),
            reports: Reports::Judged { total: None },
        }
    }

    fn run(mut self) -> SearchOutcome {
        let numbered = self.lattice.nodes().is_some_and(|nodes| nodes <= NODES_MAX);
        // Without suppression every loss grows with each step. Where nothing else can prune, or all
        // nodes are to be decided anyway, that proves the best one.
        let every_node = self.problem.candidates || !self.problem.loss.is_sum_over_cells();
        let by_chains = every_node && self.problem.judge.allowed() == 0 && self.holding_is_monotone();
        let twice = self.problem.candidates && !by_chains;
        self.reports = self.reports_of(numbered, twice);
        self.problem.progress.stage("searching", self.reports.total());
        if !(by_chains && numbered && self.problem.budget.is_unlimited()) {
            self.find_incumbent();
        }
        if self.lattice.nodes().is_none_or(|nodes| nodes >= NODES_LARGE) {
            self.improve_locally();
        }
        self.explain.judged_first = self.judged.len() as u64;
        let (proven, mut candidates) = match self.lattice.nodes() {
            Some(nodes) if numbered && by_chains => {
                let candidates = self.prove_by_chains(nodes);
                (candidates.is_some(), candidates)
            }
            Some(nodes) if numbered => (self.prove(nodes), None),
            nodes => {
                self.explain.not_reached = nodes.map_or(0, |nodes| nodes - self.judged.len() as u64);
                (false, None)
            }
        };
        if let Some(nodes) = self.lattice.nodes() {
            self.report_decided(nodes);
        }
        self.explain.judged_proof = self.judged.len() as u64 - self.explain.judged_first;
        let explain = self.explain.clone();
        if self.problem.candidates && numbered && candidates.is_none() {
            candidates = self.count_candidates();
        }
        let candidates = candidates.filter(|_| self.problem.candidates);
        let best = self.best.clone().map(|best| self.found(best));
        SearchOutcome { best, proven, candidates, explain }
    }

    fn out_of_budget(&self) -> bool {
        self.problem.budget.nodes_max.is_some_and(|nodes| self.judged.len() as u64 >= nodes)
            || self.problem.budget.time_max.is_some_and(|time| self.started.elapsed() >= time)
            || self.is_ended()
    }

    /// Whether the search is to end, with what it has or with nothing.
    fn is_ended(&self) -> bool {
        self.problem.progress.finishes_early() || self.problem.progress.is_canceled()
    }

    /// Where nodes are limited, the judged ones are counted; else all that are decided, judged or
    /// not.
    fn reports_of(&self, numbered: bool, twice: bool) -> Reports {
        match (self.problem.budget.nodes_max, self.lattice.nodes().filter(|_| numbered)) {
            (Some(most), _) => Reports::Judged { total: Some(most) },
            (None, Some(nodes)) => Reports::Decided { total: nodes * (1 + u64::from(twice)), done: 0 },
            (None, None) => Reports::Judged { total: None },
        }
    }

    /// The number of lattice nodes that are decided.
    fn report_decided(&mut self, decided: u64) {
        if let Reports::Decided { done, .. } = &mut self.reports
            && decided > *done
        {
            self.problem.progress.advance(decided - *done);
            *done = decided;
        }
    }

    /// Judges nodes, remembers the best, and returns what each teaches.
    fn judge_all(&mut self, nodes: &[Levels]) -> Vec<NodeVerdict> {
        // One after the other where rows are not in memory, since it is short then.
        let at_once = if self.problem.counts.is_some() { 1 } else { nodes.len().max(1) };
        let mut all: Vec<NodeVerdict> = Vec::with_capacity(nodes.len());
        let mut all_seen: Vec<Option<SeenNode<W>>> = Vec::with_capacity(nodes.len());
        for nodes in nodes.chunks(at_once) {
            let counted = self.sets.count_all(nodes);
            let judged = parallel::map(counted.len(), |index| {
                let seen = self.verdict(&counted[index]);
                let holding = self.holding(&counted[index], &seen);
                let is_better = holding.as_ref().is_some_and(|holding| self.is_better(holding));
                let at_least = self.pruning.after(&seen.verdict);
                (NodeVerdict { at_least, holding }, Some(seen).filter(|seen| is_better && seen.units.is_some()))
            });
            for (verdict, seen) in judged {
                all.push(verdict);
                all_seen.push(seen);
            }
        }
        let new: Vec<bool> = nodes.iter().map(|levels| self.judged.insert(levels.clone())).collect();
        if let Reports::Judged { .. } = self.reports {
            self.problem.progress.advance(nodes.len() as u64);
        }
        for ((judged, seen), new) in all.iter().zip(all_seen).zip(new) {
            let Some(holding) = &judged.holding else { continue };
            self.explain.judged_holding += u64::from(new);
            if self.is_better(holding) {
                self.best = Some(holding.clone());
                self.best_seen = seen.map(|seen| (holding.levels.clone(), seen));
                let levels: Vec<String> = holding.levels.iter().map(ToString::to_string).collect();
                let (levels, suppressed) = (levels.join("."), holding.suppressed);
                self.problem.progress.found(&format!("levels {levels}, {suppressed} rows suppressed"));
            }
        }
        all
    }

    fn is_better(&self, holding: &Holding) -> bool {
        self.best.as_ref().is_none_or(|best| holding < best)
    }

    /// Judges rows and, where they belong to units and the rows do not fail already, units.
    fn verdict(&self, counted: &CountedSet<W>) -> SeenNode<W> {
        // Both may ask for the places.
        let shared = OnceCell::new();
        let verdict = {
            let judge = self.problem.judge;
            judge.judge(&counted.set, &self.protected, &counted.levels, || match self.unit_rows {
                Some(_) => shared.get_or_init(|| self.sets.places(counted)).clone(),
                None => self.sets.places(counted),
            })
        };
        let seen = SeenNode { verdict, set: counted.set.clone(), units: None };
        let (Some(rows), Some(terms)) = (&self.unit_rows, self.problem.judge.unit_terms()) else { return seen };
        let at_least = seen.verdict.at_least;
        if at_least >= self.failing_from() {
            return SeenNode { verdict: Verdict { kept: None, ..seen.verdict }, ..seen };
        }
        let places = shared.get_or_init(|| self.sets.places(counted));
        let found = self.problem.judge.judge_units(terms, &counted.set, rows, places);
        let at_least = found.at_least.max(at_least);
        let Some(units) = found.kept else {
            return SeenNode { verdict: Verdict { at_least, suppressed: at_least, kept: None }, ..seen };
        };
        let (set, kept) = counted.set.parted(&rows.rows_lost(counted.set.len(), places, &units));
        let verdict = Verdict { at_least, suppressed: found.suppressed, kept: Some(kept) };
        SeenNode { verdict, set: Arc::new(set), units: Some((units, found.suppressed_units)) }
    }

    fn holding(&self, counted: &CountedSet<W>, seen: &SeenNode<W>) -> Option<Holding> {
        let kept = seen.verdict.kept.as_ref()?;
        if let Some(consistent) = self.problem.consistent
            && !self.is_consistent(consistent, counted, kept)
        {
            return None;
        }
        let cost = self.problem.loss.cost(self.layout, &self.quasi, &counted.levels, &seen.set, kept);
        let steps = counted.levels.iter().map(|&level| u32::from(level)).sum();
        Some(Holding { cost, steps, levels: counted.levels.clone(), suppressed: seen.verdict.suppressed })
    }

    /// Whether every rule holds for the rows that fit each person, among those that are kept. What
    /// a node must suppress at least is as it is without: this only fails more nodes.
    fn is_consistent(&self, consistent: &Consistent, counted: &CountedSet<W>, kept: &[bool]) -> bool {
        let kept = self.sets.rows_kept(counted, kept, self.problem.columns, self.problem.rows);
        let columns: Vec<Cow<'_, Codes>> = (self.problem.columns.iter().enumerate())
            .map(|(index, codes)| match self.problem.hierarchies.get(index) {
                Some(hierarchy) => {
                    let level = &hierarchy.levels()[usize::from(counted.levels[index])];
                    let codes = codes.iter().map(|code| level.map[code as usize]);
                    Cow::Owned(Codes::from_iter(level.labels.len(), codes))
                }
                None => Cow::Borrowed(*codes),
            })
            .collect();
        let columns: Vec<&Codes> = columns.iter().map(AsRef::as_ref).collect();
        !consistent.failing(&columns, Some(&kept)).contains(&true)
    }

    /// From how many suppressed rows on a node fails.
    fn failing_from(&self) -> u64 {
        (self.problem.judge.allowed() + 1).min(self.all_rows)
    }

    /// Which rows stay on the best levels.
    fn found(&mut self, best: Holding) -> BestNode {
        let counted = self.sets.count_all(std::slice::from_ref(&best.levels)).remove(0);
        let of_best = self.best_seen.take().filter(|(levels, _)| *levels == best.levels);
        let seen = of_best.map_or_else(|| self.verdict(&counted), |(_, seen)| seen);
        let kept = seen.verdict.kept.as_ref().expect("the best node was judged to hold");
        let kept_rows = (best.suppressed > 0).then(|| match (&seen.units, self.problem.units) {
            (Some((kept, _)), Some(units)) => units.of_row.iter().map(|&unit| kept[unit as usize]).collect(),
            _ => self.sets.rows_kept(&counted, kept, self.problem.columns, self.problem.rows),
        });
        let loss =
            |model: &LossModel| model.loss(model.cost(self.layout, &self.quasi, &counted.levels, &seen.set, kept));
        let losses = self.problem.measured.iter().map(loss).collect();
        let suppressed_units = seen.units.as_ref().map_or(0, |(_, suppressed)| *suppressed);
        BestNode {
            levels: best.levels,
            cost: best.cost,
            suppressed: best.suppressed,
            losses,
            kept_rows,
            suppressed_units,
        }
    }
}
