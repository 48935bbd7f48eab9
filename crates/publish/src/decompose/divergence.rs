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
use super::partition::Partition;
use super::{Groups, Problem, Subtable};

#[derive(Debug)]
pub struct Divergence<'a> {
    problem: &'a Problem<'a>,
    entropies: HashMap<AttributeSet, f64>,
    /// By the buckets' address, which the value keeps from being used again.
    bucketized: HashMap<(usize, AttributeSet), (Arc<Groups>, f64)>,
    /// How likely each bucketized table makes its rows when everything else tells them apart, by the same address.
    own: HashMap<usize, (Arc<Groups>, Arc<Own>)>,
    /// What the tables told by row when they were last kept.
    bases: Vec<(AttributeSet, Partition)>,
}

/// ln of the share that each row's sensitive value has in its bucket, and their sum.
#[derive(Debug)]
struct Own {
    of_row: Vec<f64>,
    sum: f64,
    value_of: Vec<u32>,
    values: usize,
}

impl<'a> Divergence<'a> {
    pub fn new(problem: &'a Problem<'a>) -> Divergence<'a> {
        let (entropies, bucketized, own) = (HashMap::new(), HashMap::new(), HashMap::new());
        Divergence { problem, entropies, bucketized, own, bases: Vec::new() }
    }

    /// Remembers how some tables divide the rows: tables that hold one attribute more are measured from there.
    pub fn start_from(&mut self, tables: &[Subtable]) {
        let mut sets: Vec<AttributeSet> = tables.iter().map(Subtable::open).collect();
        sets.sort_unstable();
        sets.dedup();
        self.bases = parallel::map_items(sets, |_, set| (set, self.partition(set)));
    }

    /// The rows by some attributes, from the nearest set that is remembered.
    fn partition(&self, set: AttributeSet) -> Partition {
        let near = self.bases.iter().filter(|(base, _)| base.is_subset(set)).max_by_key(|(base, _)| base.len());
        let whole = (AttributeSet::EMPTY, Partition::whole(self.problem.rows));
        let (base, start) = near.unwrap_or(&whole);
        // What has many values leaves the least to be divided.
        let mut rest: Vec<usize> = (set - *base).iter().collect();
        rest.sort_by_key(|&attribute| std::cmp::Reverse(self.problem.cardinalities[attribute]));
        let refine = |partition: &Partition, attribute: usize| {
            partition.refined(self.problem.columns[attribute], self.problem.cardinalities[attribute])
        };
        let Some((&first, rest)) = rest.split_first() else { return start.clone() };
        rest.iter().fold(refine(start, first), |partition, &attribute| refine(&partition, attribute))
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
        let found = parallel::map(sets.len(), |index| self.partition(sets[index]).entropy(self.problem.rows));
        self.entropies.extend(sets.into_iter().zip(found));
        bucketized.retain(|(set, _, groups)| !self.bucketized.contains_key(&(address(groups), *set)));
        bucketized.sort_by_key(|(set, _, groups)| (*set, address(groups)));
        bucketized.dedup_by_key(|(set, _, groups)| (*set, address(groups)));
        for (_, table, groups) in &bucketized {
            let own = || (Arc::clone(groups), Arc::new(Own::new(self.problem, table, groups)));
            self.own.entry(address(groups)).or_insert_with(own);
        }
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
        match &table.regions {
            Some(regions) => region_loss(self.problem, groups, own, &regions.volumes()),
            None => bucket_loss(self.problem, table, groups, own, &self.partition(table.open())),
        }
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

/// The mean of −ln of what a generalised table says of its own rows: within a class all combinations of what its region covers
/// are equally likely, and the sensitive values as frequent as they are. Regions do not overlap.
fn region_loss(problem: &Problem<'_>, groups: &Groups, own: &Own, volumes: &[f64]) -> f64 {
    let rows = problem.rows as f64;
    let class = |&group: &u32| (f64::from(groups.size(group)) / rows).ln() - volumes[group as usize];
    -(own.sum + groups.of_row.iter().map(class).sum::<f64>()) / rows.max(1.0)
}

/// The mean of −ln of what a bucketized table says of its own rows. Those that the table tells apart are as likely as their value is
/// in their bucket; those that look alike share what all their buckets say.
fn bucket_loss(problem: &Problem<'_>, table: &Subtable, groups: &Groups, own: &Own, alike: &Partition) -> f64 {
    let combinations: f64 = table.sensitive.iter().map(|attribute| problem.cardinalities[attribute] as f64).product();
    let mut weight = vec![0f64; own.values];
    let mut sum = own.sum;
    for rows in alike.classes() {
        let mut untold = 0.0;
        for &row in rows {
            let group = groups.of_row[row as usize];
            if group == Groups::NONE {
                untold += 1.0 / combinations;
                continue;
            }
            let size = f64::from(groups.size(group));
            for &(value, count) in groups.values(group) {
                weight[value as usize] += f64::from(count) / size;
            }
        }
        for &row in rows {
            sum += (weight[own.value_of[row as usize] as usize] + untold).ln() - own.of_row[row as usize];
        }
        for &row in rows {
            let group = groups.of_row[row as usize];
            if group != Groups::NONE {
                groups.values(group).iter().for_each(|&(value, _)| weight[value as usize] = 0.0);
            }
        }
    }
    let rows = problem.rows as f64;
    rows.ln() - sum / rows.max(1.0)
}

impl Own {
    fn new(problem: &Problem<'_>, table: &Subtable, groups: &Groups) -> Own {
        let combinations: f64 =
            table.sensitive.iter().map(|attribute| problem.cardinalities[attribute] as f64).product();
        let (value_of, values) = sensitive_values(problem, table.sensitive);
        let share = |(&group, &value): (&u32, &u32)| {
            if group == Groups::NONE {
                return -combinations.ln();
            }
            let told = groups.values(group);
            let place = told.binary_search_by_key(&value, |&(value, _)| value).expect("a row is in its own bucket");
            (f64::from(told[place].1) / f64::from(groups.size(group))).ln()
        };
        let of_row: Vec<f64> = groups.of_row.iter().zip(&value_of).map(share).collect();
        Own { sum: of_row.iter().sum(), of_row, value_of, values }
    }
}

/// What the buckets call a row's protected values: the code of one attribute, a number for a combination of several.
pub(super) fn sensitive_values(problem: &Problem<'_>, sensitive: AttributeSet) -> (Vec<u32>, usize) {
    match sensitive.iter().collect::<Vec<_>>().as_slice() {
        [one] => (problem.columns[*one].iter().collect(), problem.cardinalities[*one]),
        _ => classes(problem, sensitive),
    }
}
