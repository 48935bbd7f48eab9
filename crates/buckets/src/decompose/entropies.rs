//! Entropies of the rows' combinations of some attributes, cached. Those of sets with one attribute
//! more than some that is remembered are found by dividing the rows that this does not distinguish
//! ([`super::partition`]).

use std::cmp::Reverse;
use std::sync::Arc;

use hashbrown::HashMap;
use hedgerow_privacy::rules::AttributeSet;
use hedgerow_table::parallel;

use super::DecompositionProblem;
use super::partition::Partition;

#[derive(Debug)]
pub struct Entropies<'a> {
    problem: &'a DecompositionProblem<'a>,
    known: HashMap<AttributeSet, f64>,
    roots: Vec<AttributeSet>,
    /// How roots divide the rows, where it was needed.
    bases: Vec<(AttributeSet, Arc<Partition>)>,
}

impl<'a> Entropies<'a> {
    pub fn new(problem: &'a DecompositionProblem<'a>) -> Entropies<'a> {
        Entropies { problem, known: HashMap::new(), roots: Vec::new(), bases: Vec::new() }
    }

    /// Remembers some sets: those that hold one attribute more are measured from there.
    pub fn start_from(&mut self, roots: Vec<AttributeSet>) {
        self.roots = roots;
        // Where a root is not divided yet, what divides it in part is still needed.
        let undivided = |set: &AttributeSet| self.bases.iter().all(|(base, _)| base != set);
        let needed: Vec<AttributeSet> = self.roots.iter().copied().filter(undivided).collect();
        let roots = &self.roots;
        self.bases.retain(|(base, _)| roots.contains(base) || needed.iter().any(|root| base.is_subset(*root)));
    }

    /// Of a set that was found before.
    pub fn of(&self, set: AttributeSet) -> f64 {
        self.known[&set]
    }

    /// Finds those of some sets, on all cores.
    pub fn find_all(&mut self, mut sets: Vec<AttributeSet>) {
        sets.sort_unstable();
        sets.dedup();
        sets.retain(|set| !self.known.contains_key(set));
        let root = |set: &AttributeSet| {
            let near = self.roots.iter().filter(|root| root.is_subset(*set));
            near.max_by_key(|root| root.len()).copied()
        };
        self.divide(sets.iter().filter_map(root).collect());
        let found = parallel::map(sets.len(), |index| self.find(sets[index]));
        self.known.extend(sets.into_iter().zip(found));
    }

    /// Divides the rows by some sets, on all cores.
    pub fn divide(&mut self, mut sets: Vec<AttributeSet>) {
        sets.sort_unstable();
        sets.dedup();
        sets.retain(|set| self.bases.iter().all(|(base, _)| base != set));
        // Those that begin with the same attribute go on from there.
        let new = sets.iter().filter(|set| self.nearest(**set).is_none());
        let mut first: Vec<usize> = new.filter_map(|set| self.many_values_first(*set).first().copied()).collect();
        first.sort_unstable();
        first.dedup();
        let found = parallel::map_items(first, |_, attribute| {
            let set = AttributeSet::of(attribute);
            (set, self.partition(set))
        });
        self.bases.extend(found);
        sets.retain(|set| self.bases.iter().all(|(base, _)| base != set));
        let found = parallel::map_items(sets, |_, set| (set, self.partition(set)));
        self.bases.extend(found);
    }

    fn find(&self, set: AttributeSet) -> f64 {
        let rows = self.problem.rows;
        let base = self.nearest(set).map_or(AttributeSet::EMPTY, |(base, _)| *base);
        match self.many_values_first(set - base).last() {
            Some(&last) if set.len() > 1 => {
                let (column, cardinality) = self.problem.column(last);
                self.partition(set.without(last)).refined_entropy(column, cardinality, rows)
            }
            _ => self.partition(set).entropy(rows),
        }
    }

    /// The rows by some attributes.
    pub fn partition(&self, set: AttributeSet) -> Arc<Partition> {
        if let Some((base, start)) = self.nearest(set) {
            return self.refined(Arc::clone(start), &self.many_values_first(set - *base));
        }
        let all = self.many_values_first(set);
        let Some((&first, rest)) = all.split_first() else {
            return Arc::new(Partition::undivided((0..self.problem.rows as u32).collect()));
        };
        let (column, cardinality) = self.problem.column(first);
        self.refined(Arc::new(Partition::of_column(column, cardinality)), rest)
    }

    /// The nearest set that is divided.
    fn nearest(&self, set: AttributeSet) -> Option<&(AttributeSet, Arc<Partition>)> {
        self.bases.iter().filter(|(base, _)| base.is_subset(set)).max_by_key(|(base, _)| base.len())
    }

    /// An attribute with many values leaves the least to be divided.
    fn many_values_first(&self, set: AttributeSet) -> Vec<usize> {
        let mut attributes: Vec<usize> = set.iter().collect();
        attributes.sort_by_key(|&attribute| Reverse(self.problem.cardinalities[attribute]));
        attributes
    }

    fn refined(&self, start: Arc<Partition>, attributes: &[usize]) -> Arc<Partition> {
        attributes.iter().fold(start, |partition, &attribute| {
            let (column, cardinality) = self.problem.column(attribute);
            Arc::new(partition.refined(column, cardinality))
        })
    }
}
