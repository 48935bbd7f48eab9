//! What a decomposition lost: the Kullback–Leibler divergence, in nats, between the table and the most likely table behind
//! what is published (Jin and others 2010, section 5.1).
//!
//! Tables that form a tree ([`super::junction`]) have the closed form Π tables / Π separators, so the divergence
//! Σ p ln(p/q) falls apart into entropies: Σ H(table) − Σ H(separator) − H(everything). A bucketized table knows its rows x
//! only by their buckets g, and says s of x with Σ_g p(x,g)·p(s|g); its share is the mean of −ln of that over the rows.
//! Protected values that are not told at all count as equally likely, and so do all combinations in the region of a class where
//! a table is generalised.
//!
//! Cost: adding an attribute to a table changes that table's share and a few separators. A share is found by dividing the
//! rows that the table does not tell apart yet ([`super::partition`]), and is kept for the next time it is asked for.

use std::sync::Arc;

use hashbrown::HashMap;
use hedgerow_privacy::rules::AttributeSet;
use hedgerow_table::frequency::pack;
use hedgerow_table::{Codes, Layout, parallel, with_words};

use super::junction::separators;
use super::likelihood::{Line, Own};
use super::partition::Partition;
use super::{Groups, Problem, Subtable};

#[derive(Debug)]
pub struct Divergence<'a> {
    problem: &'a Problem<'a>,
    entropies: HashMap<AttributeSet, f64>,
    /// By the buckets' address, which the value keeps from being used again.
    bucketized: HashMap<(usize, AttributeSet), (Arc<Groups>, f64)>,
    /// What each bucketized table tells whatever stands beside it, by the same address.
    own: HashMap<usize, (Arc<Groups>, Own)>,
    /// How the tables divided the rows when they were last kept.
    bases: Vec<(AttributeSet, Arc<Partition>)>,
    /// What the bucketized ones of them tell of these rows, by the buckets' address and what is told by row.
    lines: HashMap<(usize, AttributeSet), Vec<Line>>,
}

impl<'a> Divergence<'a> {
    pub fn new(problem: &'a Problem<'a>) -> Divergence<'a> {
        let (entropies, bucketized, own) = (HashMap::new(), HashMap::new(), HashMap::new());
        Divergence { problem, entropies, bucketized, own, bases: Vec::new(), lines: HashMap::new() }
    }

    /// Remembers how some tables divide the rows: tables that hold one attribute more are measured from there.
    pub fn start_from(&mut self, tables: &[Subtable]) {
        let mut sets: Vec<AttributeSet> = tables.iter().map(Subtable::open).collect();
        sets.extend(separators(tables).unwrap_or_default());
        sets.sort_unstable();
        sets.dedup();
        self.bases = parallel::map_items(sets, |_, set| (set, self.partition(set)));
        let guarded = tables.iter().filter(|table| table.regions.is_none());
        let guarded: Vec<_> = guarded.filter_map(|table| Some((table.groups.as_ref()?, table.open()))).collect();
        let mut before = std::mem::take(&mut self.lines);
        let kept: Vec<_> = guarded.iter().map(|(groups, open)| before.remove(&(address(groups), *open))).collect();
        drop(before);
        let found = parallel::map_items(guarded.into_iter().zip(kept), |_, ((groups, open), kept)| {
            let found = kept.or_else(|| {
                let own = &self.own.get(&address(groups))?.1;
                Some(own.lines(groups, self.partition(open).rows()))
            });
            ((address(groups), open), found)
        });
        self.lines = found.into_iter().filter_map(|(key, found)| Some((key, found?))).collect();
    }

    /// The nearest set that is remembered, and what is missing from it.
    fn nearest(&self, set: AttributeSet) -> (AttributeSet, Arc<Partition>, Vec<usize>) {
        let near = self.bases.iter().filter(|(base, _)| base.is_subset(set)).max_by_key(|(base, _)| base.len());
        let (base, start) = near.cloned().unwrap_or_else(|| {
            let whole = Partition::whole(self.problem.rows);
            (AttributeSet::EMPTY, Arc::new(whole))
        });
        // What has many values leaves the least to be divided.
        let mut rest: Vec<usize> = (set - base).iter().collect();
        rest.sort_by_key(|&attribute| std::cmp::Reverse(self.problem.cardinalities[attribute]));
        (base, start, rest)
    }

    fn refined(&self, start: Arc<Partition>, attributes: &[usize]) -> Arc<Partition> {
        attributes.iter().fold(start, |partition, &attribute| {
            Arc::new(partition.refined(self.problem.columns[attribute], self.problem.cardinalities[attribute]))
        })
    }

    /// The rows by some attributes.
    fn partition(&self, set: AttributeSet) -> Arc<Partition> {
        let (_, start, rest) = self.nearest(set);
        self.refined(start, &rest)
    }

    /// Of the rows' combinations of some attributes.
    fn entropy(&self, set: AttributeSet) -> f64 {
        let Problem { columns, cardinalities, rows, .. } = self.problem;
        let (_, start, rest) = self.nearest(set);
        match rest.split_last() {
            None => start.entropy(*rows),
            Some((&last, rest)) => self.refined(start, rest).refined_entropy(columns[last], cardinalities[last], *rows),
        }
    }

    /// `None` when the tables do not form a tree.
    pub fn of(&mut self, tables: &[Subtable]) -> Option<f64> {
        self.of_each(&[tables.to_vec()]).pop().flatten()
    }

    /// The same for several decompositions; what they need is counted on all cores.
    pub fn of_each(&mut self, candidates: &[Vec<Subtable>]) -> Vec<Option<f64>> {
        let shared: Vec<Option<Vec<AttributeSet>>> =
            candidates.iter().map(|tables| separators(tables).filter(|_| !shares_regions(tables))).collect();
        let trees = || candidates.iter().zip(&shared).filter_map(|(tables, shared)| Some((tables, shared.as_ref()?)));
        let mut sets: Vec<AttributeSet> = vec![self.problem.everything()];
        let mut bucketized: Vec<(AttributeSet, &Subtable, &Arc<Groups>)> = Vec::new();
        for (tables, shared) in trees() {
            sets.extend(shared);
            for table in tables {
                match &table.groups {
                    Some(groups) => bucketized.push((table.attributes, table, groups)),
                    None => sets.push(table.attributes),
                }
            }
        }
        sets.sort_unstable();
        sets.dedup();
        sets.retain(|set| !self.entropies.contains_key(set));
        let found = parallel::map(sets.len(), |index| self.entropy(sets[index]));
        self.entropies.extend(sets.into_iter().zip(found));
        bucketized.retain(|(set, _, groups)| !self.bucketized.contains_key(&(address(groups), *set)));
        bucketized.sort_by_key(|(set, _, groups)| (*set, address(groups)));
        bucketized.dedup_by_key(|(set, _, groups)| (*set, address(groups)));
        let mut new: Vec<(&Subtable, &Arc<Groups>)> =
            bucketized.iter().map(|&(_, table, groups)| (table, groups)).collect();
        new.retain(|(_, groups)| !self.own.contains_key(&address(groups)));
        new.sort_by_key(|(_, groups)| address(groups));
        new.dedup_by_key(|(_, groups)| address(groups));
        let found = parallel::map_items(new, |_, (table, groups)| {
            (address(groups), (Arc::clone(groups), Own::new(self.problem, table, groups)))
        });
        self.own.extend(found);
        let found =
            parallel::map(bucketized.len(), |index| self.guarded_loss(bucketized[index].1, bucketized[index].2));
        for ((set, _, groups), loss) in bucketized.into_iter().zip(found) {
            self.bucketized.insert((address(groups), set), (groups.clone(), loss));
        }
        let of = |tables: &Vec<Subtable>, shared: &Vec<AttributeSet>| {
            let told: f64 = tables.iter().map(|table| self.share(table)).sum();
            let shared: f64 = shared.iter().map(|set| self.entropies[set]).sum();
            // Rounding can leave a little less than nothing.
            (told - shared - self.entropies[&self.problem.everything()]).max(0.0)
        };
        candidates
            .iter()
            .zip(&shared)
            .map(|(tables, shared)| shared.as_ref().map(|shared| of(tables, shared)))
            .collect()
    }

    fn guarded_loss(&self, table: &Subtable, groups: &Arc<Groups>) -> f64 {
        let own = &self.own[&address(groups)].1;
        if let Some(regions) = &table.regions {
            return own.region_loss(groups, &regions.volumes());
        }
        let (base, start, rest) = self.nearest(table.open());
        if let ([last], Some(lines)) = (rest.as_slice(), self.lines.get(&(address(groups), base))) {
            let alike = start.refined_places(self.problem.columns[*last], self.problem.cardinalities[*last]);
            return own.bucket_loss(groups, lines, &alike);
        }
        let alike = self.refined(start, &rest);
        own.bucket_loss(groups, &own.lines(groups, alike.rows()), &alike.places())
    }

    fn share(&self, table: &Subtable) -> f64 {
        match &table.groups {
            Some(groups) => self.bucketized[&(address(groups), table.attributes)].1,
            None => self.entropies[&table.attributes],
        }
    }
}

fn address(groups: &Arc<Groups>) -> usize {
    Arc::as_ptr(groups) as usize
}

/// The columns of some attributes and their layout, which fits because that of all attributes does.
fn columns<'a>(problem: &Problem<'a>, attributes: AttributeSet) -> (Vec<&'a Codes>, Layout) {
    let cardinalities: Vec<usize> = attributes.iter().map(|attribute| problem.cardinalities[attribute]).collect();
    let layout = Layout::new(&cardinalities).expect("all attributes together fit");
    (attributes.iter().map(|attribute| problem.columns[attribute]).collect(), layout)
}

/// The rows' combinations as numbers, each with how many there are.
pub(super) fn classes(problem: &Problem<'_>, attributes: AttributeSet) -> (Vec<u32>, usize) {
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

/// Whether a generalised table shares what it generalises. Others tell it otherwise then, and there is no closed form.
fn shares_regions(tables: &[Subtable]) -> bool {
    tables.iter().enumerate().filter(|(_, table)| table.regions.is_some()).any(|(index, table)| {
        let others = tables.iter().enumerate().filter(|(other, _)| *other != index);
        others.into_iter().any(|(_, other)| other.attributes.meets(table.open()))
    })
}

/// What the buckets call a row's protected values: the code of one attribute, a number for a combination of several. Equal wherever
/// the same attributes are asked for.
pub(super) fn sensitive_values(problem: &Problem<'_>, sensitive: AttributeSet) -> (Vec<u32>, usize) {
    match sensitive.iter().collect::<Vec<_>>().as_slice() {
        [one] => (problem.columns[*one].iter().collect(), problem.cardinalities[*one]),
        _ => classes(problem, sensitive),
    }
}
