//! The best way to pair rows with values inside a bucket: a transportation problem, solved by
//! shortest augmenting paths.
//!
//! Which row of a bucket has which sensitive value is not released, so the bounds of an answer are
//! its least and its greatest over all ways to pair them. Rows of a kind and values of a kind are
//! moved together.
//!
//! Cost: buckets are small; each step is a search over kinds of rows times kinds of values.

/// The largest total weight over all ways to give every unit of supply a unit of demand; `weights`
/// row by row of supplies. Supplies and demands add up to the same.
pub(crate) fn largest(supplies: &[u64], demands: &[u64], weights: &[f64]) -> f64 {
    debug_assert_eq!(supplies.iter().sum::<u64>(), demands.iter().sum::<u64>());
    let columns = demands.len();
    let mut flow = vec![0u64; supplies.len() * columns];
    let mut left_supply = supplies.to_vec();
    let mut left_demand = demands.to_vec();
    while let Some(path) = best_path(&left_supply, &left_demand, &flow, weights) {
        // A path goes forth from rows to values and back along pairs that are undone.
        let (first, last) = (path[0].0, path[path.len() - 1].1);
        let undone = path.windows(2).map(|step| flow[step[1].0 * columns + step[0].1]).min().unwrap_or(u64::MAX);
        let amount = left_supply[first].min(left_demand[last]).min(undone);
        for (step, &(row, value)) in path.iter().enumerate() {
            flow[row * columns + value] += amount;
            if let Some(&(next_row, _)) = path.get(step + 1) {
                flow[next_row * columns + value] -= amount;
            }
        }
        left_supply[first] -= amount;
        left_demand[last] -= amount;
    }
    flow.iter().zip(weights).filter(|(flow, _)| **flow > 0).map(|(flow, weight)| *flow as f64 * weight).sum()
}

/// The pairs that a heaviest path makes, in order: from a row that is left over to a value that is.
fn best_path(supply: &[u64], demand: &[u64], flow: &[u64], weights: &[f64]) -> Option<Vec<(usize, usize)>> {
    let (rows, columns) = (supply.len(), demand.len());
    let mut row_best: Vec<f64> = supply.iter().map(|left| if *left > 0 { 0.0 } else { f64::NEG_INFINITY }).collect();
    let mut value_best = vec![f64::NEG_INFINITY; columns];
    let (mut value_from, mut row_from) = (vec![usize::MAX; columns], vec![usize::MAX; rows]);
    // Heavier by rounding alone is not heavier: paths would go round in circles.
    let scale = weights.iter().fold(1.0f64, |most, weight| most.max(weight.abs())) * 1e-12;
    for _ in 0..rows + columns {
        let mut changed = false;
        for row in (0..rows).filter(|&row| row_best[row] > f64::NEG_INFINITY).collect::<Vec<_>>() {
            for value in 0..columns {
                let found = row_best[row] + weights[row * columns + value];
                if found > value_best[value] + scale {
                    (value_best[value], value_from[value], changed) = (found, row, true);
                }
            }
        }
        for row in 0..rows {
            for value in (0..columns).filter(|value| flow[row * columns + value] > 0) {
                let found = value_best[value] - weights[row * columns + value];
                if found > row_best[row] + scale {
                    (row_best[row], row_from[row], changed) = (found, value, true);
                }
            }
        }
        if !changed {
            break;
        }
    }
    let open = (0..columns).filter(|&value| demand[value] > 0 && value_best[value] > f64::NEG_INFINITY);
    let mut value = open.max_by(|a, b| value_best[*a].total_cmp(&value_best[*b]))?;
    let mut path = Vec::new();
    loop {
        let row = value_from[value];
        path.push((row, value));
        if row_from[row] == usize::MAX || path.len() > rows {
            path.reverse();
            return Some(path);
        }
        value = row_from[row];
    }
}
