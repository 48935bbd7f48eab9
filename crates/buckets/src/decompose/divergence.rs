//! The loss of a decomposition: the Kullback–Leibler divergence, in nats, between the table and the
//! most likely table behind what is published (Jin and others 2010, section 5.1).
//!
//! Tables that form a tree ([`super::junction`]) have the closed form Π tables / Π separators, so
//! the divergence Σ p ln(p/q) falls apart into entropies: Σ H(table) − Σ H(separator) −
//! H(everything). A bucketized table knows its rows x only by their buckets g, and says s of x with
//! Σ_g p(x,g)·p(s|g); its share is the mean of −ln of that over the rows. Sensitive values that are
//! not released count as equally likely, and so do all combinations in the region of a class where
//! a table is generalized.
//!
//! That share is H(x) and what the table loses in addition ([`super::losses`]); H(x) mostly is that
//! of a separator too, and falls out.
//!
//! Cost: adding an attribute to a table changes what that table loses and a few entropies
//! ([`super::entropies`]). Both are found from the rows that the table does not distinguish yet,
//! and cached.

use std::borrow::Cow;

use hashbrown::HashMap;
use hedgerow_privacy::rules::AttributeSet;
use hedgerow_table::frequency::pack;
use hedgerow_table::{Codes, Layout, with_words};

use super::entropies::Entropies;
use super::junction::separators;
use super::losses::{Guarded, Losses, key};
use super::{DecompositionProblem, Subtable};

#[derive(Debug)]
pub struct Divergence<'a> {
    problem: &'a DecompositionProblem<'a>,
    entropies: Entropies<'a>,
    losses: Losses<'a>,
}

/// Entropies, and how often each is added.
type Terms = Vec<(AttributeSet, f64)>;

/// The number of candidates measured further at a time.
const AT_ONCE: usize = 4;

impl<'a> Divergence<'a> {
    pub fn new(problem: &'a DecompositionProblem<'a>) -> Divergence<'a> {
        Divergence { problem, entropies: Entropies::new(problem), losses: Losses::new(problem) }
    }

    /// Remembers how some tables divide the rows: tables that hold one attribute more are measured
    /// from there.
    pub fn start_from(&mut self, tables: &[Subtable]) {
        let roots = tables.iter().map(Subtable::open).chain(separators(tables).unwrap_or_default());
        self.entropies.start_from(roots.collect());
        let guarded: Vec<Guarded<'_>> = guarded(tables).collect();
        self.entropies.divide(self.losses.undivided(&guarded));
        self.losses.start_from(guarded, &self.entropies);
    }

    /// `None` when the tables do not form a tree.
    pub fn of(&mut self, tables: &[Subtable]) -> Option<f64> {
        self.of_each(&[tables.to_vec()]).pop().flatten()
    }

    /// The same for several decompositions; what they need is counted on all cores.
    pub fn of_each(&mut self, candidates: &[Vec<Subtable>]) -> Vec<Option<f64>> {
        let terms = self.known_terms(candidates);
        let trees = candidates.iter().zip(&terms).filter(|(_, terms)| terms.is_some());
        self.losses.measure(trees.flat_map(|(tables, _)| guarded(tables)).collect(), &self.entropies);
        let lost = |tables: &Vec<Subtable>| guarded(tables).map(|table| self.losses.of(table)).sum::<f64>();
        // Rounding can leave a little less than nothing.
        let of = |(tables, known): (&Vec<Subtable>, &Option<f64>)| known.map(|known| (known + lost(tables)).max(0.0));
        candidates.iter().zip(&terms).map(of).collect()
    }

    /// The first of the decompositions with the least divergence, if that is not above `most`. The
    /// others are measured only as far as it takes to see that they have more: each time those go
    /// on that promise most.
    pub fn least_of(&mut self, candidates: &[Vec<Subtable>], most: f64) -> Option<(usize, f64)> {
        let terms = self.known_terms(candidates);
        let trees = || {
            candidates.iter().zip(&terms).enumerate().filter_map(|(at, (tables, terms))| Some((at, tables, (*terms)?)))
        };
        self.losses.begin(trees().flat_map(|(_, tables, _)| guarded(tables)).collect(), &self.entropies);
        loop {
            let mut least: Option<(usize, f64)> = None;
            let mut open: Vec<(f64, Guarded<'_>)> = Vec::new();
            for (at, tables, known) in trees() {
                let (mut bound, mut unknown) = (known, None);
                for table in guarded(tables) {
                    let (loss, complete) = self.losses.bound(table).expect("begun or measured");
                    bound += loss;
                    unknown = unknown.or((!complete).then_some(table));
                }
                let is_least = |value: f64| least.map_or(value <= most, |least| value < least.1);
                match unknown {
                    Some(table) => open.push((bound, table)),
                    // Rounding can leave a little less than nothing.
                    None if is_least(bound.max(0.0)) => least = Some((at, bound.max(0.0))),
                    None => {}
                }
            }
            let limit = least.map_or(most, |least| least.1);
            open.retain(|(bound, _)| bound - ROUNDING <= limit);
            if open.is_empty() || self.problem.progress.is_canceled() {
                return least;
            }
            open.sort_by(|one, other| one.0.total_cmp(&other.0).then_with(|| key(one.1).1.cmp(&key(other.1).1)));
            open.dedup_by_key(|(_, table)| key(*table));
            self.losses.advance(open.into_iter().take(AT_ONCE).map(|(_, table)| table).collect());
        }
    }

    /// The sums of the entropies of decompositions; `None` for those that do not form a tree.
    fn known_terms(&mut self, candidates: &[Vec<Subtable>]) -> Vec<Option<f64>> {
        let terms: Vec<Option<Terms>> = candidates.iter().map(|tables| self.terms(tables)).collect();
        self.entropies.find_all(terms.iter().flatten().flatten().map(|term| term.0).collect());
        let sum = |terms: &Terms| terms.iter().map(|(set, times)| times * self.entropies.of(*set)).sum();
        terms.iter().map(|terms| terms.as_ref().map(sum)).collect()
    }

    /// The entropies that the divergence sums, without what bucketized tables lose. What such a
    /// table releases by row is mostly what it shares with others, and then need not be known.
    fn terms(&self, tables: &[Subtable]) -> Option<Terms> {
        let shared = separators(tables).filter(|_| !shares_regions(tables))?;
        let mut terms: HashMap<AttributeSet, f64> = HashMap::new();
        for table in tables.iter().filter(|table| table.regions.is_none()) {
            *terms.entry(table.open()).or_default() += 1.0;
        }
        for set in shared.into_iter().chain([self.problem.everything()]) {
            *terms.entry(set).or_default() -= 1.0;
        }
        let mut terms: Terms = terms.into_iter().filter(|term| term.1 != 0.0).collect();
        // Always added in one order, so that rounding is the same.
        terms.sort_by_key(|term| term.0);
        Some(terms)
    }
}

/// Tables with buckets.
fn guarded(tables: &[Subtable]) -> impl Iterator<Item = Guarded<'_>> {
    tables.iter().filter_map(|table| Some((table, table.groups.as_ref()?)))
}

/// How far sums of logarithms may be off.
const ROUNDING: f64 = 1e-9;

/// The columns of some attributes and their layout, which fits because that of all attributes does.
fn columns<'a>(problem: &DecompositionProblem<'a>, attributes: AttributeSet) -> (Vec<&'a Codes>, Layout) {
    let cardinalities: Vec<usize> = attributes.iter().map(|attribute| problem.cardinalities[attribute]).collect();
    let layout = Layout::new(&cardinalities).expect("all attributes together fit");
    (attributes.iter().map(|attribute| problem.columns[attribute]).collect(), layout)
}

/// The rows' combinations as numbers, each with how many there are.
pub(super) fn classes(problem: &DecompositionProblem<'_>, attributes: AttributeSet) -> (Vec<u32>, usize) {
    if attributes.is_empty() {
        return (vec![0; problem.rows], 1);
    }
    let (columns, layout) = columns(problem, attributes);
    with_words!(layout.words(), W => {
        let mut keys = vec![[0u64; W]; problem.rows];
        pack(&layout, &columns, 0..problem.rows, &mut keys);
        let mut numbers: HashMap<[u64; W], u32, foldhash::fast::RandomState> = HashMap::default();
        let of_row: Vec<u32> = keys.into_iter().map(|key| {
            let next = numbers.len() as u32;
            *numbers.entry(key).or_insert(next)
        }).collect();
        (of_row, numbers.len())
    })
}

/// Whether a generalized table shares what it generalizes. Others release it differently then, and
/// the divergence has no closed form.
fn shares_regions(tables: &[Subtable]) -> bool {
    tables.iter().enumerate().filter(|(_, table)| table.regions.is_some()).any(|(index, table)| {
        let others = tables.iter().enumerate().filter(|(other, _)| *other != index);
        others.into_iter().any(|(_, other)| other.attributes.meets(table.open()))
    })
}

/// The number of a row's protected values in the buckets: the code of one attribute, a number for a
/// combination of several. Equal wherever the attributes are the same.
pub fn sensitive_values<'a>(problem: &DecompositionProblem<'a>, sensitive: AttributeSet) -> (Cow<'a, Codes>, usize) {
    match sensitive.iter().collect::<Vec<_>>().as_slice() {
        [one] => (Cow::Borrowed(problem.columns[*one]), problem.cardinalities[*one]),
        _ => {
            let (of_row, count) = classes(problem, sensitive);
            (Cow::Owned(Codes::from_iter(count, of_row)), count)
        }
    }
}
