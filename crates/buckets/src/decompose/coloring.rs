//! DSATUR: colors a graph with few colors (Brélaz 1979). The vertex next to be colored is the one
//! whose neighbors show the most colors, of these the one with the most neighbors; it takes the
//! first color that no neighbor has.

use hedgerow_privacy::rules::AttributeSet;

/// The color of each vertex in `vertices`; `neighbors[v]` are those of v, also outside. Every other
/// entry is `None`.
pub fn dsatur(vertices: AttributeSet, neighbors: &[AttributeSet]) -> Vec<Option<usize>> {
    let mut colors: Vec<Option<usize>> = vec![None; neighbors.len()];
    let seen = |vertex: usize, colors: &[Option<usize>]| -> AttributeSet {
        (neighbors[vertex] & vertices).iter().filter_map(|other| colors[other]).collect()
    };
    for _ in 0..vertices.len() {
        let open = vertices.iter().filter(|&vertex| colors[vertex].is_none());
        let urgency =
            |vertex: usize| (seen(vertex, &colors).len(), (neighbors[vertex] & vertices).len(), usize::MAX - vertex);
        let Some(next) = open.max_by_key(|&vertex| urgency(vertex)) else { break };
        let taken = seen(next, &colors);
        colors[next] = (0..=neighbors.len()).find(|&color| !taken.contains(color));
    }
    colors
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(usize, usize)], vertices: usize) -> Vec<AttributeSet> {
        let mut neighbors = vec![AttributeSet::EMPTY; vertices];
        for &(one, other) in edges {
            neighbors[one] = neighbors[one].with(other);
            neighbors[other] = neighbors[other].with(one);
        }
        neighbors
    }

    #[test]
    fn rings_of_five_need_three_colors_and_of_six_two() {
        for (vertices, expected) in [(5, 3), (6, 2)] {
            let edges: Vec<(usize, usize)> = (0..vertices).map(|vertex| (vertex, (vertex + 1) % vertices)).collect();
            let colors = dsatur(AttributeSet::first(vertices), &graph(&edges, vertices));
            assert!(edges.iter().all(|&(one, other)| colors[one] != colors[other]));
            assert_eq!(colors.iter().flatten().max(), Some(&(expected - 1)));
        }
    }
}
