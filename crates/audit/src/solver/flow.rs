//! Flows with lower and upper bounds, and which of their edges are the same in every flow.
//!
//! A flow is found by Dinic's algorithm after the lower bounds are taken out (Ahuja, Magnanti,
//! Orlin: *Network Flows*, 1993, section 6.7). Two flows differ by cycles of the residual graph, so
//! an edge at one of its bounds can leave it exactly when both of its ends are in one strongly
//! connected component of that graph (Régin: *A filtering algorithm for constraints of difference*,
//! 1994). Cost: one flow, then one pass over the edges.

/// A directed edge with its reverse next to it.
#[derive(Debug, Clone, Copy)]
struct Arc {
    to: u32,
    /// The flow that can still be added; of the reverse, the flow that can be taken back.
    left: u64,
}

/// An edge of a [`Network`], as it was added.
#[derive(Debug, Clone, Copy)]
struct Edge {
    from: u32,
    to: u32,
    low: u64,
    high: u64,
}

/// A circulation problem: what flows into a node flows out of it.
#[derive(Debug, Default)]
pub(crate) struct Network {
    nodes: usize,
    edges: Vec<Edge>,
    arcs: Vec<Arc>,
    starts: Vec<u32>,
    order: Vec<u32>,
    component: Vec<u32>,
}

/// The bounds of an edge over all flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moves {
    /// It stays at its lower bound.
    AtLow,
    /// It stays at its upper bound.
    AtHigh,
    /// It can differ, or nothing is known.
    Free,
}

impl Network {
    pub(crate) fn new(nodes: usize) -> Network {
        Network { nodes, ..Network::default() }
    }

    pub(crate) fn add_node(&mut self) -> u32 {
        self.nodes += 1;
        self.nodes as u32 - 1
    }

    /// Adds an edge and returns its number.
    pub(crate) fn add_edge(&mut self, from: u32, to: u32, low: u64, high: u64) -> usize {
        self.edges.push(Edge { from, to, low, high: high.max(low) });
        self.edges.len() - 1
    }

    /// Finds a flow; `false` when there is none. Conservation holds at every node, so a source and
    /// a sink need an edge from the sink back to the source.
    pub(crate) fn circulate(&mut self) -> bool {
        let (source, sink) = (self.nodes as u32, self.nodes as u32 + 1);
        let mut balance = vec![0i64; self.nodes];
        for edge in &self.edges {
            balance[edge.to as usize] += edge.low as i64;
            balance[edge.from as usize] -= edge.low as i64;
        }
        let mut arcs: Vec<(u32, u32, u64)> =
            self.edges.iter().map(|edge| (edge.from, edge.to, edge.high - edge.low)).collect();
        let mut wanted = 0;
        for (node, &balance) in balance.iter().enumerate() {
            if balance > 0 {
                arcs.push((source, node as u32, balance as u64));
                wanted += balance as u64;
            } else if balance < 0 {
                arcs.push((node as u32, sink, balance.unsigned_abs()));
            }
        }
        self.lay_out(&arcs, self.nodes + 2);
        let complete = self.push_all(source, sink) == wanted;
        self.component = if complete { self.residual_components() } else { Vec::new() };
        complete
    }

    /// The most that can flow from one node to another, where edges have no lower bounds.
    pub(crate) fn most(&mut self, from: u32, to: u32) -> u64 {
        let arcs: Vec<(u32, u32, u64)> = self.edges.iter().map(|edge| (edge.from, edge.to, edge.high)).collect();
        self.lay_out(&arcs, self.nodes);
        self.push_all(from, to)
    }

    /// The strongly connected components of what can still be moved.
    fn residual_components(&self) -> Vec<u32> {
        let moving = self.edges.iter().enumerate().flat_map(|(number, edge)| {
            let more = (self.arcs[2 * number].left > 0).then_some((edge.from, edge.to));
            let less = (self.arcs[2 * number + 1].left > 0).then_some((edge.to, edge.from));
            [more, less].into_iter().flatten()
        });
        strong_components(self.nodes, &moving.collect::<Vec<_>>())
    }

    /// The flow on an edge.
    pub(crate) fn flow(&self, edge: usize) -> u64 {
        self.edges[edge].low + self.arcs[2 * edge + 1].left
    }

    /// Whether an edge is the same in every flow.
    pub(crate) fn moves(&self, edge: usize) -> Moves {
        let Edge { from, to, low, high } = self.edges[edge];
        let flow = self.flow(edge);
        let free = self.component[from as usize] == self.component[to as usize];
        match flow {
            _ if low == high => Moves::AtLow,
            _ if free => Moves::Free,
            flow if flow == low => Moves::AtLow,
            flow if flow == high => Moves::AtHigh,
            _ => Moves::Free,
        }
    }

    /// Arcs in pairs, and for each node the arcs that leave it.
    fn lay_out(&mut self, edges: &[(u32, u32, u64)], nodes: usize) {
        self.arcs = edges.iter().flat_map(|&(from, to, left)| [Arc { to, left }, Arc { to: from, left: 0 }]).collect();
        self.starts = vec![0; nodes + 1];
        let mut leaving = |node: u32| self.starts[node as usize + 1] += 1;
        edges.iter().for_each(|&(from, to, _)| {
            leaving(from);
            leaving(to);
        });
        for node in 0..nodes {
            self.starts[node + 1] += self.starts[node];
        }
        let mut next = self.starts.clone();
        self.order = vec![0; self.arcs.len()];
        for (index, &(from, to, _)) in edges.iter().enumerate() {
            for (node, arc) in [(from, 2 * index), (to, 2 * index + 1)] {
                self.order[next[node as usize] as usize] = arc as u32;
                next[node as usize] += 1;
            }
        }
    }

    fn leaving(&self, node: u32) -> std::ops::Range<usize> {
        self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize
    }

    fn push_all(&mut self, source: u32, sink: u32) -> u64 {
        let mut total = 0;
        while let Some(level) = self.levels(source, sink) {
            let mut next = self.starts.clone();
            while let pushed @ 1.. = self.push_path(source, sink, &level, &mut next) {
                total += pushed;
            }
        }
        total
    }

    /// Distances from the source in the residual graph, when the sink can be reached.
    fn levels(&self, source: u32, sink: u32) -> Option<Vec<u32>> {
        let mut level = vec![u32::MAX; self.starts.len() - 1];
        level[source as usize] = 0;
        let mut queue = vec![source];
        let mut done = 0;
        while let Some(&node) = queue.get(done) {
            done += 1;
            for at in self.leaving(node) {
                let arc = self.arcs[self.order[at] as usize];
                if arc.left > 0 && level[arc.to as usize] == u32::MAX {
                    level[arc.to as usize] = level[node as usize] + 1;
                    queue.push(arc.to);
                }
            }
        }
        (level[sink as usize] < u32::MAX).then_some(level)
    }

    /// One path along rising levels, without recursion: networks can be deep.
    fn push_path(&mut self, source: u32, sink: u32, level: &[u32], next: &mut [u32]) -> u64 {
        let mut path: Vec<u32> = Vec::new();
        let mut node = source;
        loop {
            if node == sink {
                let least = path.iter().map(|&arc| self.arcs[arc as usize].left).min().unwrap_or(0);
                for &arc in &path {
                    self.arcs[arc as usize].left -= least;
                    self.arcs[arc as usize ^ 1].left += least;
                }
                return least;
            }
            let end = self.starts[node as usize + 1];
            let found = (next[node as usize]..end).find(|&at| {
                let arc = self.arcs[self.order[at as usize] as usize];
                arc.left > 0 && level[arc.to as usize] == level[node as usize] + 1
            });
            match found {
                Some(at) => {
                    next[node as usize] = at;
                    path.push(self.order[at as usize]);
                    node = self.arcs[self.order[at as usize] as usize].to;
                }
                None => {
                    next[node as usize] = end;
                    let Some(arc) = path.pop() else { return 0 };
                    node = self.arcs[arc as usize ^ 1].to;
                    next[node as usize] += 1;
                }
            }
        }
    }
}

/// Tarjan's algorithm without recursion: for each node, the number of its strongly connected
/// component.
pub(crate) fn strong_components(nodes: usize, edges: &[(u32, u32)]) -> Vec<u32> {
    let mut starts = vec![0u32; nodes + 1];
    edges.iter().for_each(|&(from, _)| starts[from as usize + 1] += 1);
    for node in 0..nodes {
        starts[node + 1] += starts[node];
    }
    let mut next = starts.clone();
    let mut ends = vec![0u32; edges.len()];
    for &(from, to) in edges {
        ends[next[from as usize] as usize] = to;
        next[from as usize] += 1;
    }
    next.copy_from_slice(&starts);
    let (mut index, mut lowest) = (vec![u32::MAX; nodes], vec![u32::MAX; nodes]);
    let mut component = vec![u32::MAX; nodes];
    let (mut stack, mut path): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
    let (mut count, mut found) = (0, 0);
    for root in 0..nodes as u32 {
        if index[root as usize] != u32::MAX {
            continue;
        }
        path.push(root);
        while let Some(&node) = path.last() {
            let at = node as usize;
            if index[at] == u32::MAX {
                (index[at], lowest[at]) = (count, count);
                count += 1;
                stack.push(node);
            }
            let mut descends = None;
            while next[at] < starts[at + 1] {
                let to = ends[next[at] as usize];
                next[at] += 1;
                if index[to as usize] == u32::MAX {
                    descends = Some(to);
                    break;
                }
                if component[to as usize] == u32::MAX {
                    lowest[at] = lowest[at].min(index[to as usize]);
                }
            }
            if let Some(to) = descends {
                path.push(to);
                continue;
            }
            path.pop();
            if let Some(&before) = path.last() {
                lowest[before as usize] = lowest[before as usize].min(lowest[at]);
            }
            if lowest[at] == index[at] {
                while let Some(member) = stack.pop() {
                    component[member as usize] = found;
                    if member == node {
                        break;
                    }
                }
                found += 1;
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::testing::seeds;

    /// Every assignment of integers within the bounds under which each node passes on what it gets.
    fn every_flow(nodes: usize, edges: &[Edge]) -> Vec<Vec<u64>> {
        let mut flows: Vec<Vec<u64>> = vec![Vec::new()];
        for edge in edges {
            flows = flows
                .iter()
                .flat_map(|flow| (edge.low..=edge.high).map(move |next| [flow.as_slice(), &[next]].concat()))
                .collect();
        }
        flows.retain(|flow| {
            (0..nodes as u32).all(|node| {
                let sum = |ends: fn(&Edge) -> u32| -> u64 {
                    edges.iter().zip(flow).filter(|(edge, _)| ends(edge) == node).map(|(_, flow)| flow).sum()
                };
                sum(|edge| edge.from) == sum(|edge| edge.to)
            })
        });
        flows
    }

    #[test]
    fn flows_and_fixed_edges_agree_with_every_flow() {
        for seed in seeds(3000) {
            let mut rng = StdRng::seed_from_u64(seed);
            let nodes = rng.random_range(1..5usize);
            let mut network = Network::new(nodes);
            for _ in 0..rng.random_range(0..6) {
                let [from, to] = [0, 1].map(|_| rng.random_range(0..nodes as u32));
                let low = rng.random_range(0..2);
                network.add_edge(from, to, low, low + rng.random_range(0..3));
            }
            let all = every_flow(nodes, &network.edges);
            let found = network.circulate();
            assert_eq!(found, !all.is_empty(), "seed {seed}");
            if !found {
                continue;
            }
            let own: Vec<u64> = (0..network.edges.len()).map(|edge| network.flow(edge)).collect();
            assert!(all.contains(&own), "seed {seed}");
            for (number, edge) in network.edges.iter().enumerate() {
                let (low, high) = (edge.low, edge.high);
                let least = all.iter().map(|flow| flow[number]).min().unwrap();
                let most = all.iter().map(|flow| flow[number]).max().unwrap();
                match network.moves(number) {
                    Moves::AtLow => assert_eq!((least, most), (low, low), "seed {seed}"),
                    Moves::AtHigh => assert_eq!((least, most), (high, high), "seed {seed}"),
                    // An edge that is at a bound and said to be free has a flow in which it is not.
                    Moves::Free => {
                        assert!(own[number] != low || most > low, "seed {seed}");
                        assert!(own[number] != high || least < high, "seed {seed}");
                    }
                }
            }
        }
    }
}
