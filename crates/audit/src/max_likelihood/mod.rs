//! The maximum-likelihood estimate of the table behind several released tables about the same people: counts from it, and its
//! divergence from the source (Jin, Zhang, Zhang, Das: *Versatile publishing for privacy preservation*, 2010, sections 5.1 and 6.1).
//!
//! Tables that have a junction tree ([`junction_tree`]) have an estimate in closed form. A bucketized table is two tables that share the bucket's
//! number. Nothing is written out over all combinations of values: a count is a walk over the tree, from the leaves to the
//! root, in which every table adds up its own distinct rows, weighted by what its children expect for the values they share.
//!
//! Cost: a count query touches the distinct rows of the tables that hold its attributes and of those between them.

mod factor;
mod junction_tree;
mod kl;
mod queries;
mod released;

use factor::Factor;
use junction_tree::{Clique, junction_tree};

pub use queries::{CountQueries, CountQueryError, RelativeError};
pub(crate) use released::measure_tables;
pub use released::{Divergence, MeasuredTables};

/// One published table in codes of the source's domains, by row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PublishedTable {
    /// Attributes by number, and their code in every row.
    pub by_row: Vec<(usize, Vec<u32>)>,
    pub buckets: Option<PublishedBuckets>,
}

/// What a table shows by bucket.
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

/// The maximum-likelihood estimate of the table behind some published ones.
#[derive(Debug)]
pub struct MaxLikelihood<'a> {
    /// How many values each attribute has.
    cardinalities: &'a [usize],
    rows: f64,
    tables: &'a [PublishedTable],
    /// Two for a bucketized table: by row, by bucket.
    factors: Vec<Factor>,
    /// Parents first.
    cliques: Vec<Clique>,
}

impl<'a> MaxLikelihood<'a> {
    /// `None` when the tables have no junction tree, or there are none.
    pub fn new(cardinalities: &'a [usize], tables: &'a [PublishedTable]) -> Option<MaxLikelihood<'a>> {
        let rows = tables.first().map(PublishedTable::rows).filter(|&rows| rows > 0)?;
        let mut factors = Vec::new();
        for (index, table) in tables.iter().enumerate() {
            // A bucket's number is a variable of its own.
            let bucket = cardinalities.len() + index;
            factors.extend(Factor::of(table, bucket));
        }
        let variables: Vec<Vec<usize>> = factors.iter().map(|factor| factor.variables.clone()).collect();
        let cliques = junction_tree(&variables)?;
        for clique in &cliques {
            if let Some(parent) = clique.parent {
                let (parent, child) = pair(&mut factors, parent, clique.table);
                child.attach_to(parent, clique.table, &clique.shared);
            }
        }
        Some(MaxLikelihood { cardinalities, rows: rows as f64, tables, factors, cliques })
    }

    /// How many rows it expects: for every attribute of the query, which values are selected.
    pub fn expected(&self, selected: &[(usize, Vec<bool>)]) -> f64 {
        let mut messages: Vec<Option<Vec<f64>>> = vec![None; self.factors.len()];
        let mut share = 1.0;
        for clique in self.cliques.iter().rev() {
            let factor = &self.factors[clique.table];
            let concerned =
                factor.is_about(selected) || factor.children.iter().any(|child| messages[child.factor].is_some());
            if !concerned {
                continue;
            }
            let rows = factor.weighted(selected, self.cardinalities, &messages);
            match clique.parent {
                Some(_) => messages[clique.table] = Some(factor.by_shared(&rows)),
                None => share *= rows.iter().sum::<f64>() / self.rows,
            }
        }
        share * self.rows
    }
}

impl PublishedTable {
    fn rows(&self) -> usize {
        match (&self.buckets, self.by_row.first()) {
            (Some(buckets), _) => buckets.of_row.len(),
            (None, open) => open.map_or(0, |(_, codes)| codes.len()),
        }
    }
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
