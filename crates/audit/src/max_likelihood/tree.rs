//! Whether some tables fit together as a tree: then the most likely table behind them is the product of the tables over the
//! product of what neighbors share (Lauritzen: *Graphical models*, 1996).
//!
//! A spanning tree with the largest shares is such a tree exactly when its shares add up to Σ|table| − |all variables|.

/// Where a table hangs in the tree: its parent, and what it shares with it. Tables that share nothing with any before them are
/// roots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) table: usize,
    pub(super) parent: Option<usize>,
    pub(super) shared: Vec<usize>,
}

/// The tables in an order in which parents come before their children; `None` when they are no tree. Each table is a list of
/// different variables.
pub(super) fn tree(tables: &[Vec<usize>]) -> Option<Vec<Node>> {
    let share = |one: usize, other: usize| -> Vec<usize> {
        tables[one].iter().copied().filter(|variable| tables[other].contains(variable)).collect()
    };
    let mut nodes: Vec<Node> = Vec::with_capacity(tables.len());
    let mut open: Vec<usize> = (0..tables.len()).collect();
    while !open.is_empty() {
        let mut best: Option<(usize, Node)> = None;
        for (place, &table) in open.iter().enumerate() {
            for node in &nodes {
                let shared = share(table, node.table);
                if shared.len() > best.as_ref().map_or(0, |(_, best)| best.shared.len()) {
                    best = Some((place, Node { table, parent: Some(node.table), shared }));
                }
            }
        }
        let (place, node) = best.unwrap_or((0, Node { table: open[0], parent: None, shared: Vec::new() }));
        open.remove(place);
        nodes.push(node);
    }
    let mut variables: Vec<usize> = tables.concat();
    variables.sort_unstable();
    variables.dedup();
    let sizes: usize = tables.iter().map(Vec::len).sum();
    let shared: usize = nodes.iter().map(|node| node.shared.len()).sum();
    (shared + variables.len() == sizes).then_some(nodes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_are_trees_and_rings_are_not() {
        let chain = tree(&[vec![0, 1], vec![2, 3], vec![1, 2]]).unwrap();
        assert_eq!(chain[0], Node { table: 0, parent: None, shared: vec![] });
        assert_eq!(chain[1], Node { table: 2, parent: Some(0), shared: vec![1] });
        assert_eq!(chain[2], Node { table: 1, parent: Some(2), shared: vec![2] });
        assert_eq!(tree(&[vec![0, 1], vec![1, 2], vec![2, 0]]), None);
        assert_eq!(tree(&[vec![0], vec![1]]).unwrap().iter().filter(|node| node.parent.is_none()).count(), 2);
        assert_eq!(tree(&[]), Some(vec![]));
    }
}
