//! Entropies of the rows' combinations of some attributes, kept for the next time they are asked for. Those of sets with one attribute
//! more than some that is remembered are found by dividing the rows that this does not tell apart ([`super::partition`]).

use std::cmp::Reverse;
use std::sync::Arc;

use hashbrown::HashMap;
use hedgerow_privacy::rules::AttributeSet;
use hedgerow_table::parallel;

use super::Problem;
use super::partition::Partition;

#[derive(Debug)]
pub struct Entropies<'a> {
    problem: &'a Problem<'a>,
    known: HashMap<AttributeSet, f64>,
    roots: Vec<AttributeSet>,
    /// How roots divide the rows, where it was asked for.
    bases: Vec<(AttributeSet, Arc<Partition>)>,
}

impl<'a> Entropies<'a> {
    pub fn new(problem: &'a Problem<'a>) -> Entropies<'a> {
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

    /// Of a set that was asked for before.
    pub fn of(&self, set: AttributeSet) -> f64 {
        self.known[&set]
    }

    /// Finds those of some sets, on all cores.
    pub fn ask(&mut self, mut sets: Vec<AttributeSet>) {
        sets.sort_unstable();
        sets.dedup();
        sets.retain(|set| !self.known.contains_key(set));
        let root = |set: &AttributeSet| {
            let near = self.roots.iter().filter(|root| root.is_subset(*set)).max_by_key(|root| root.len());
            near.copied().filter(|root| self.bases.iter().all(|(base, _)| base != root))
        };
        let mut new: Vec<AttributeSet> = sets.iter().filter_map(root).collect();
        new.sort_unstable();
        new.dedup();
        let found = parallel::map_items(new, |_, set| (set, self.partition(set)));
        self.bases.extend(found);
        let found = parallel::map(sets.len(), |index| self.find(sets[index]));
        self.known.extend(sets.into_iter().zip(found));
    }

    fn find(&self, set: AttributeSet) -> f64 {
        let rows = self.problem.rows;
        let (start, rest) = self.nearest(set);
        match rest.split_last() {
            None => start.entropy(rows),
            Some((&last, rest)) => {
                let (column, cardinality) = self.problem.column(last);
                self.refined(start, rest).refined_entropy(column, cardinality, rows)
            }
        }
    }

    /// The rows by some attributes.
    pub fn partition(&self, set: AttributeSet) -> Arc<Partition> {
        let (start, rest) = self.nearest(set);
        self.refined(start, &rest)
    }

    /// The nearest set that is remembered, and what is missing from it: first what has many values and so leaves least to be divided.
    fn nearest(&self, set: AttributeSet) -> (Arc<Partition>, Vec<usize>) {
        let near = self.bases.iter().filter(|(base, _)| base.is_subset(set)).max_by_key(|(base, _)| base.len());
        let (base, start) = near.cloned().unwrap_or_else(|| {
            let whole = Partition::whole((0..self.problem.rows as u32).collect());
            (AttributeSet::EMPTY, Arc::new(whole))
        });
        let mut rest: Vec<usize> = (set - base).iter().collect();
        rest.sort_by_key(|&attribute| Reverse(self.problem.cardinalities[attribute]));
        (start, rest)
    }

    fn refined(&self, start: Arc<Partition>, attributes: &[usize]) -> Arc<Partition> {
        attributes.iter().fold(start, |partition, &attribute| {
            let (column, cardinality) = self.problem.column(attribute);
            Arc::new(partition.refined(column, cardinality))
        })
    }
}
