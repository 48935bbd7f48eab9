//! DSATUR: colours a graph with few colours (Brélaz 1979). The vertex next to be coloured is the one whose neighbours show
//! the most colours, of these the one with the most neighbours; it takes the first colour that no neighbour has.

use hedgerow_privacy::rules::AttributeSet;

/// The colour of each vertex in `vertices`; `neighbours[v]` are those of v, also outside. Every other entry is `None`.
pub fn dsatur(vertices: AttributeSet, neighbours: &[AttributeSet]) -> Vec<Option<usize>> {
    let mut colours: Vec<Option<usize>> = vec![None; neighbours.len()];
    let seen = |vertex: usize, colours: &[Option<usize>]| -> AttributeSet {
        (neighbours[vertex] & vertices).iter().filter_map(|other| colours[other]).collect()
    };
    for _ in 0..vertices.len() {
        let open = vertices.iter().filter(|&vertex| colours[vertex].is_none());
        let urgency =
            |vertex: usize| (seen(vertex, &colours).len(), (neighbours[vertex] & vertices).len(), usize::MAX - vertex);
        let Some(next) = open.max_by_key(|&vertex| urgency(vertex)) else { break };
        let taken = seen(next, &colours);
        colours[next] = (0..=neighbours.len()).find(|&colour| !taken.contains(colour));
    }
    colours
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(usize, usize)], vertices: usize) -> Vec<AttributeSet> {
        let mut neighbours = vec![AttributeSet::EMPTY; vertices];
        for &(one, other) in edges {
            neighbours[one] = neighbours[one].with(other);
            neighbours[other] = neighbours[other].with(one);
        }
        neighbours
    }

    #[test]
    fn rings_of_five_need_three_colours_and_of_six_two() {
        for (vertices, expected) in [(5, 3), (6, 2)] {
            let edges: Vec<(usize, usize)> = (0..vertices).map(|vertex| (vertex, (vertex + 1) % vertices)).collect();
            let colours = dsatur(AttributeSet::first(vertices), &graph(&edges, vertices));
            assert!(edges.iter().all(|&(one, other)| colours[one] != colours[other]));
            assert_eq!(colours.iter().flatten().max(), Some(&(expected - 1)));
        }
    }
}
