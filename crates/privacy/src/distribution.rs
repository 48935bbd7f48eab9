//! The distribution of a protected attribute over the table, prepared so that one class is compared
//! with it in time proportional to the class, not to the domain.

use crate::missing::KnownDistribution;

/// The hierarchy of a protected attribute as its codes see it, for the hierarchical distance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    /// For every level from 1 to the top: the node above each code of the domain.
    pub levels: Vec<Vec<u32>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Distribution {
    pub(crate) rows: u64,
    /// Rows per code.
    pub(crate) counts: Vec<u64>,
    /// For every code: how many values below it occur at all.
    pub(crate) rank: Vec<u32>,
    /// By rank: rows with this value or a smaller one.
    pub(crate) cumulative: Vec<u64>,
    /// By rank: the sum of `cumulative` over all smaller ranks; one longer than `cumulative`.
    pub(crate) cumulative_sums: Vec<u128>,
    /// For every level of the tree, rows per node.
    pub(crate) nodes: Vec<Vec<u64>>,
    known: KnownDistribution,
}

impl Distribution {
    pub fn new(counts: Vec<u64>, tree: Option<&Tree>) -> Distribution {
        let rows = counts.iter().sum();
        let mut rank = Vec::with_capacity(counts.len());
        let mut cumulative: Vec<u64> = Vec::new();
        let mut cumulative_sums = vec![0u128];
        for &count in &counts {
            rank.push(cumulative.len() as u32);
            if count > 0 {
                cumulative.push(cumulative.last().unwrap_or(&0) + count);
                cumulative_sums
                    .push(cumulative_sums[cumulative_sums.len() - 1] + u128::from(cumulative[cumulative.len() - 1]));
            }
        }
        let nodes = tree.map_or_else(Vec::new, |tree| {
            tree.levels
                .iter()
                .map(|above| {
                    let mut per_node = vec![0u64; above.iter().map(|&node| node as usize + 1).max().unwrap_or(0)];
                    for (&node, &count) in above.iter().zip(&counts) {
                        per_node[node as usize] += count;
                    }
                    per_node
                })
                .collect()
        });
        Distribution { rows, counts, rank, cumulative, cumulative_sums, nodes, known: KnownDistribution::default() }
    }

    /// The distribution of the rows whose value is not the missing one.
    pub(crate) fn known(&self, missing: u32, tree: Option<&Tree>) -> &Distribution {
        self.known.get_or_init(|| {
            let mut counts = self.counts.clone();
            counts.iter_mut().skip(missing as usize).take(1).for_each(|count| *count = 0);
            Distribution::new(counts, tree)
        })
    }

    /// Rows of every value.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// How many different values occur.
    pub fn distinct(&self) -> usize {
        self.cumulative.len()
    }
}
