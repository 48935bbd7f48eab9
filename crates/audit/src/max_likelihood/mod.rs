//! The maximum-likelihood estimate of the table behind several released tables about the same
//! people: counts from it, and its divergence from the source (Jin, Zhang, Zhang, Das: *Versatile
//! publishing for privacy preservation*, 2010, sections 5.1 and 6.1).
//!
//! Tables that have a junction tree ([`junction_tree`]) have an estimate in closed form. Rings of
//! tables have none: each ring ([`cyclic`]) is fitted ([`fitting`]) and is one table of the tree
//! from there on. A bucketized table is two tables that share the bucket's number. But for rings
//! nothing is written out over all combinations of values: a count is a walk over the tree, from
//! the leaves to the root, in which every table adds up its own distinct rows, weighted by what its
//! children expect for the values they share.
//!
//! Cost: one pass over the distinct rows of the tables answers 64 count queries ([`lanes`]).

mod cyclic;
mod factor;
mod fitting;
mod junction_tree;
mod keys;
mod kl;
mod lanes;
mod queries;
mod released;

use std::sync::Mutex;

use hedgerow_table::parallel;

use cyclic::rings;
use factor::{Factor, Message};
use junction_tree::{Clique, junction_tree};
use lanes::LANES;
pub(crate) use lanes::Selection;

pub use fitting::Fit;
pub use lanes::Selected;
pub use queries::{CountQueries, CountQueryError, RelativeError};
pub use released::{Divergence, FittedRing, MeasuredTables};
pub(crate) use released::{measure_tables, tables_in};

/// One published table in codes of the source's domains, by row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PublishedTable {
    /// Attributes by number, and their code in every row.
    pub by_row: Vec<(usize, Vec<u32>)>,
    pub buckets: Option<PublishedBuckets>,
}

/// The buckets of a table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PublishedBuckets {
    /// The bucket of every row; [`PublishedBuckets::NO_BUCKET`] for rows without sensitive values.
    pub of_row: Vec<u32>,
    /// Sensitive attributes by number, and their code in every entry.
    pub sensitive: Vec<(usize, Vec<u32>)>,
    /// The bucket of every entry, and how many rows it stands for.
    pub of_entry: Vec<u32>,
    pub counts: Vec<u32>,
}

impl PublishedBuckets {
    pub const NO_BUCKET: u32 = u32::MAX;
}

/// A reason not to have an estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoEstimate {
    #[error("the tables do not have any rows")]
    Nothing,
    #[error(
        "the tables form a ring with {combinations} combinations of values; at most {} are fitted",
        fitting::COMBINATIONS_MAX
    )]
    TooLarge { combinations: usize },
    #[error("the tables form a ring, in which rows without released sensitive values can have too many of them")]
    Unreleased,
}

/// The maximum-likelihood estimate of the table behind some published ones.
#[derive(Debug)]
pub struct MaxLikelihood<'a> {
    /// How many values each attribute has.
    cardinalities: &'a [usize],
    rows: f64,
    tables: &'a [PublishedTable],
    /// The tables that are not part of a ring, by number.
    apart: Vec<usize>,
    fits: Vec<Fit>,
    /// Two for a bucketized table: by row, by bucket. Then one for every ring.
    factors: Vec<Factor>,
    /// Parents first.
    cliques: Vec<Clique>,
    /// For every factor the one below it that shows the same buckets.
    other_side: Vec<Option<usize>>,
    /// Memory of messages, used again: fresh pages cost more than the sums that go into them.
    spare: Mutex<Vec<Vec<f64>>>,
}

impl<'a> MaxLikelihood<'a> {
    /// Fits rings, which takes longer than the closed form of tables without any.
    pub fn new(cardinalities: &'a [usize], tables: &'a [PublishedTable]) -> Result<MaxLikelihood<'a>, NoEstimate> {
        let rows = tables.first().map(PublishedTable::rows).filter(|&rows| rows > 0).ok_or(NoEstimate::Nothing)?;
        // A bucket's number is a variable of its own.
        let of_table = |index: usize| Factor::of(&tables[index], cardinalities.len() + index, cardinalities);
        let by_table: Vec<Vec<Factor>> = parallel::map(tables.len(), of_table);
        let of_factor = (0..).zip(&by_table).flat_map(|(table, factors)| factors.iter().map(move |_| table));
        let of_factor: Vec<usize> = of_factor.collect();
        let factors: Vec<Factor> = by_table.into_iter().flatten().collect();
        let mut fitted = Vec::new();
        let mut in_ring = vec![false; factors.len()];
        for ring in rings(&variables(&factors)) {
            let (factor, fit, replaced) = fitting::fit(&ring, &factors, cardinalities.len(), rows as f64)?;
            replaced.into_iter().for_each(|factor| in_ring[factor] = true);
            fitted.push((factor, fit));
        }
        let (fitted, fits): (Vec<Factor>, Vec<Fit>) = fitted.into_iter().unzip();
        let mut apart: Vec<usize> = (0..factors.len()).filter(|&at| !in_ring[at]).map(|at| of_factor[at]).collect();
        apart.dedup();
        let kept = factors.into_iter().zip(&in_ring).filter(|(_, in_ring)| !**in_ring).map(|(factor, _)| factor);
        let mut factors: Vec<Factor> = kept.chain(fitted).collect();
        let cliques = junction_tree(&variables(&factors)).ok_or(NoEstimate::Nothing)?;
        let mut other_side = vec![None; factors.len()];
        for clique in &cliques {
            let Some(parent) = clique.parent else { continue };
            if clique.is_bucket(cardinalities.len()) {
                other_side[parent] = Some(clique.table);
            } else {
                let (parent, child) = pair(&mut factors, parent, clique.table);
                child.attach_to(parent, clique.table, &clique.shared);
            }
        }
        Ok(MaxLikelihood {
            cardinalities,
            rows: rows as f64,
            tables,
            apart,
            fits,
            factors,
            cliques,
            other_side,
            spare: Mutex::default(),
        })
    }

    /// The rings among the tables, which have no closed form.
    pub fn fits(&self) -> &[Fit] {
        &self.fits
    }

    /// How many rows it expects: for every attribute of the query, which values are selected.
    pub fn expected(&self, selected: &[(usize, Vec<bool>)]) -> f64 {
        self.expected_lanes(&Selection::new(&[selected.to_vec()], self.cardinalities))[0]
    }

    /// The same for any number of queries.
    pub(crate) fn expected_each(&self, queries: &[Selected]) -> Vec<f64> {
        let found = parallel::map_ranges(queries.len(), LANES, |range| {
            let expected = self.expected_lanes(&Selection::new(&queries[range.clone()], self.cardinalities));
            expected.into_iter().take(range.len()).collect::<Vec<f64>>()
        });
        found.concat()
    }

    /// The same for many queries at once.
    fn expected_lanes(&self, selection: &Selection) -> [f64; LANES] {
        let mut messages: Vec<Option<Message>> = self.factors.iter().map(|_| None).collect();
        let mut expected = [self.rows; LANES];
        for clique in self.cliques.iter().rev() {
            // The other side of a bucketized table is walked together with this one.
            if clique.parent.is_some() && clique.is_bucket(self.cardinalities.len()) {
                continue;
            }
            let factor = &self.factors[clique.table];
            let below = self.other_side[clique.table].map(|other| &self.factors[other]);
            let active = factor.active(selection, &messages, self.answered_above(clique))
                | below.map_or(0, |below| below.active(selection, &messages, &[]));
            if active == 0 {
                continue;
            }
            if clique.parent.is_some() {
                let mut message = Message::new(active, factor.shared_counts.len(), self.spare());
                self.walk(clique.table, selection, &messages, active, |row, lane, weight| {
                    if !factor.is_any_value(row) {
                        message.add(factor.shared[row], lane, weight);
                    }
                });
                message.finish(&factor.shared_counts);
                messages[clique.table] = Some(message);
            } else {
                let mut sums = [0.0; LANES];
                self.walk(clique.table, selection, &messages, active, |_, lane, weight| sums[lane] += weight);
                lanes::for_each_lane(active, |lane| expected[lane] *= sums[lane] / self.rows);
            }
        }
        if let Ok(mut spare) = self.spare.lock() {
            spare.extend(messages.into_iter().flatten().map(Message::into_values));
        }
        expected
    }

    fn spare(&self) -> Vec<f64> {
        self.spare.lock().ok().and_then(|mut spare| spare.pop()).unwrap_or_default()
    }

    /// The attributes that a clique shares with its parent: a query that uses no other here has
    /// nothing to learn from it, since the parent's rows are selected by them too. A row that
    /// stands for all combinations is not.
    fn answered_above<'c>(&self, clique: &'c Clique) -> &'c [usize] {
        let any_value = |table: usize| self.factors[table].has_any_value();
        match clique.parent {
            Some(parent) if !any_value(parent) && !any_value(clique.table) => &clique.shared,
            _ => &[],
        }
    }

    /// By which tables each query is answered, as bits: queries of one kind are answered together,
    /// so that no table is walked for a few of them.
    fn tables_of(&self, selection: &Selection, lane: usize) -> u64 {
        let uses = |clique: &&Clique| {
            let answered = if clique.is_bucket(self.cardinalities.len()) { &[] } else { self.answered_above(clique) };
            self.factors[clique.table].own_lanes(selection, answered) >> lane & 1 == 1
        };
        self.cliques.iter().filter(uses).fold(0, |bits, clique| bits | 1 << (clique.table % 64))
    }

    /// Calls `add` with every distinct row of a table, the queries that select it and its weight,
    /// bucket by bucket.
    fn walk(
        &self,
        table: usize,
        selection: &Selection,
        messages: &[Option<Message>],
        active: u64,
        mut add: impl FnMut(usize, usize, f64),
    ) {
        let factor = &self.factors[table];
        let weights = factor.weights(selection, messages);
        let below = self.other_side[table].map(|other| &self.factors[other]);
        let Some((below, changing)) =
            below.map(|below| (below, below.active(selection, messages, &[]))).filter(|(_, lanes)| *lanes != 0)
        else {
            (0..factor.counts.len()).for_each(|row| weights.of(row, active, |lane, weight| add(row, lane, weight)));
            return;
        };
        let weights_below = below.weights(selection, messages);
        for (own, other) in factor.starts.windows(2).zip(below.starts.windows(2)) {
            let mut share = [1.0; LANES];
            lanes::for_each_lane(changing, |lane| share[lane] = 0.0);
            let mut size = 0.0;
            let mut selected = !changing;
            for row in other[0]..other[1] {
                size += below.counts[row];
                weights_below.of(row, changing, |lane, weight| {
                    share[lane] += weight;
                    selected |= 1 << lane;
                });
            }
            lanes::for_each_lane(changing & selected, |lane| share[lane] /= size);
            for row in own[0]..own[1] {
                weights.of(row, active & selected, |lane, weight| add(row, lane, weight * share[lane]));
            }
        }
    }
}

impl PublishedTable {
    pub(crate) fn rows(&self) -> usize {
        match (&self.buckets, self.by_row.first()) {
            (Some(buckets), _) => buckets.of_row.len(),
            (None, open) => open.map_or(0, |(_, codes)| codes.len()),
        }
    }
}

fn variables(factors: &[Factor]) -> Vec<Vec<usize>> {
    factors.iter().map(|factor| factor.variables.clone()).collect()
}

/// Two of a list at once.
fn pair(factors: &mut [Factor], one: usize, other: usize) -> (&mut Factor, &mut Factor) {
    if one < other {
        let (low, high) = factors.split_at_mut(other);
        (&mut low[one], &mut high[0])
    } else {
        let (low, high) = factors.split_at_mut(one);
        (&mut high[0], &mut low[other])
    }
}

#[cfg(test)]
mod tests;
