//! The order in which values are explained.

use super::*;

/// The last two people are certain by their class alone, the others by what other cells need.
#[test]
fn explanations_come_shortest_first() {
    let cells = [["0", "q"], ["0", "r"], ["1", "q"], ["1", "r"], ["3", "q"], ["3", "r"], ["9", "k"], ["9", "k"]];
    let one = classes(&["a", "s"], &cells);
    let cells = [["x", "q"], ["x", "r"], ["x", "r"], ["y", "q"], ["y", "q"], ["y", "r"], ["z", "k"], ["z", "k"]];
    let two = classes(&["b", "s"], &cells);
    let people = [["0", "x"], ["0", "x"], ["1", "y"], ["1", "x"], ["3", "y"], ["3", "y"], ["9", "z"], ["9", "z"]];
    let found = attack(&[released("1", &one), released("2", &two)], Some(&table(&["a", "b"], &people)));
    assert_eq!(found.people_at_risk, [2, 3, 6, 7], "{found:?}");
    let steps: Vec<usize> = found.explanations.iter().map(|explanation| explanation.steps.len()).collect();
    assert!(steps.is_sorted() && steps[0] < steps[steps.len() - 1], "{steps:?}");
    assert_eq!(found.explanations[0].value, "k");
}
