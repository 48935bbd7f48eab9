//! What several tables about the same people tell together: the most likely table behind them, asked for counts and held
//! against the truth (Jin, Zhang, Zhang, Das: *Versatile publishing for privacy preservation*, 2010, sections 5.1 and 6.1).
//!
//! Tables that fit together as a tree ([`tree`]) have a closed form. A bucketized table is two tables that share the bucket's
//! number. Nothing is written out over all combinations of values: a count is a walk over the tree, from the leaves to the
//! root, in which every table adds up its own distinct rows, weighted by what its children expect for the values they share.
//!
//! Cost: a count query touches the distinct rows of the tables that it asks about and of those between them.

mod divergence;
mod factor;
mod queries;
mod released;
mod tree;

use factor::Factor;
use tree::{Node, tree};

pub use queries::{CountQueries, CountQueryError};
pub use released::{MeasuredTables, measure_tables};

/// One published table in codes of the source's domains, by row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PublishedTable {
    /// Attributes by number, and their code in every row.
    pub open: Vec<(usize, Vec<u32>)>,
    pub buckets: Option<PublishedBuckets>,
}

/// What a table tells by bucket.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PublishedBuckets {
    /// The bucket of every row; [`PublishedBuckets::UNTOLD`] where the sensitive values are not told at all.
    pub of_row: Vec<u32>,
    /// Sensitive attributes by number, and their code in every entry.
    pub sensitive: Vec<(usize, Vec<u32>)>,
    /// The bucket of every entry, and how many rows it stands for.
    pub of_entry: Vec<u32>,
    pub counts: Vec<u32>,
}

impl PublishedBuckets {
    pub const UNTOLD: u32 = u32::MAX;
}

/// The most likely table behind some published ones.
#[derive(Debug)]
pub struct Joint<'a> {
    /// How many values each attribute has.
    cardinalities: &'a [usize],
    rows: f64,
    tables: &'a [PublishedTable],
    /// Two for a bucketized table: by row, by bucket.
    factors: Vec<Factor>,
    /// Parents first.
    nodes: Vec<Node>,
}

impl<'a> Joint<'a> {
    /// `None` when the tables do not form a tree, or there are none.
    pub fn new(cardinalities: &'a [usize], tables: &'a [PublishedTable]) -> Option<Joint<'a>> {
        let rows = tables.first().map(PublishedTable::rows).filter(|&rows| rows > 0)?;
        let mut factors = Vec::new();
        for (index, table) in tables.iter().enumerate() {
            // A bucket's number is a variable of its own.
            let bucket = cardinalities.len() + index;
            factors.extend(Factor::of(table, bucket));
        }
        let variables: Vec<Vec<usize>> = factors.iter().map(|factor| factor.variables.clone()).collect();
        let nodes = tree(&variables)?;
        for node in &nodes {
            if let Some(parent) = node.parent {
                let (parent, child) = pair(&mut factors, parent, node.table);
                child.hang_under(parent, node.table, &node.shared);
            }
        }
        Some(Joint { cardinalities, rows: rows as f64, tables, factors, nodes })
    }

    /// How many rows it expects with some values: for every attribute that is asked about, which.
    pub fn expected(&self, asked: &[(usize, Vec<bool>)]) -> f64 {
        let mut told: Vec<Option<Vec<f64>>> = vec![None; self.factors.len()];
        let mut share = 1.0;
        for node in self.nodes.iter().rev() {
            let factor = &self.factors[node.table];
            let concerned = factor.is_about(asked) || factor.children.iter().any(|child| told[child.factor].is_some());
            if !concerned {
                continue;
            }
            let rows = factor.weighted(asked, self.cardinalities, &told);
            match node.parent {
                Some(_) => told[node.table] = Some(factor.by_shared(&rows)),
                None => share *= rows.iter().sum::<f64>() / self.rows,
            }
        }
        share * self.rows
    }
}

impl PublishedTable {
    fn rows(&self) -> usize {
        match (&self.buckets, self.open.first()) {
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
