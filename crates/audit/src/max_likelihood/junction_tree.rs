//! Whether some tables have a junction tree: then the maximum-likelihood estimate behind them is
//! the product of the tables over the product of what neighbors share (the separators) (Lauritzen:
//! *Graphical models*, 1996).
//!
//! A spanning tree with the largest shares is such a tree exactly when its shares add up to
//! Σ|table| − |all variables|.

/// Where a table is in the tree: its parent, and what it shares with it. Tables that share nothing
/// with any before them are roots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Clique {
    pub(super) table: usize,
    pub(super) parent: Option<usize>,
    pub(super) shared: Vec<usize>,
}

impl Clique {
    /// Whether it shares with its parent the number of a bucket rather than an attribute.
    pub(super) fn is_bucket(&self, attributes: usize) -> bool {
        self.shared.iter().any(|&variable| variable >= attributes)
    }
}

/// The tables in an order in which parents come before their children; `None` when they have no
/// junction tree. Each table is a list of different variables.
pub(super) fn junction_tree(tables: &[Vec<usize>]) -> Option<Vec<Clique>> {
    let share = |one: usize, other: usize| -> Vec<usize> {
        tables[one].iter().copied().filter(|variable| tables[other].contains(variable)).collect()
    };
    let mut cliques: Vec<Clique> = Vec::with_capacity(tables.len());
    let mut left: Vec<usize> = (0..tables.len()).collect();
    while !left.is_empty() {
        let mut best: Option<(usize, Clique)> = None;
        for (place, &table) in left.iter().enumerate() {
            for clique in &cliques {
                let shared = share(table, clique.table);
                if shared.len() > best.as_ref().map_or(0, |(_, best)| best.shared.len()) {
                    best = Some((place, Clique { table, parent: Some(clique.table), shared }));
                }
            }
        }
        let (place, clique) = best.unwrap_or((0, Clique { table: left[0], parent: None, shared: Vec::new() }));
        left.remove(place);
        cliques.push(clique);
    }
    let mut variables: Vec<usize> = tables.concat();
    variables.sort_unstable();
    variables.dedup();
    let sizes: usize = tables.iter().map(Vec::len).sum();
    let shared: usize = cliques.iter().map(|clique| clique.shared.len()).sum();
    (shared + variables.len() == sizes).then_some(cliques)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_are_trees_and_rings_are_not() {
        let chain = junction_tree(&[vec![0, 1], vec![2, 3], vec![1, 2]]).unwrap();
        assert_eq!(chain[0], Clique { table: 0, parent: None, shared: vec![] });
        assert_eq!(chain[1], Clique { table: 2, parent: Some(0), shared: vec![1] });
        assert_eq!(chain[2], Clique { table: 1, parent: Some(2), shared: vec![2] });
        assert_eq!(junction_tree(&[vec![0, 1], vec![1, 2], vec![2, 0]]), None);
        assert_eq!(
            junction_tree(&[vec![0], vec![1]]).unwrap().iter().filter(|clique| clique.parent.is_none()).count(),
            2
        );
        assert_eq!(junction_tree(&[]), Some(vec![]));
    }
}
