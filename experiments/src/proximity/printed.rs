//! Figure 3 of the paper as it is printed, to be compared with the window reading.

/// The l that the printed algorithm computes for ascending values; `None` is its ∞, which every l
/// satisfies.
pub(super) fn figure_3(values: &[i64], halves: u32) -> Option<f64> {
    // In half units, so that δ = 7.5 is exact.
    let t: Vec<i64> = values.iter().map(|value| value * 2).collect();
    let d = i64::from(halves);
    let (mut i, mut j, mut x) = (0, 1, 0);
    let mut least: Option<f64> = None;
    while j < t.len() {
        while t[i] + d < t[x] - d {
            i += 1;
        }
        while j < t.len() && t[j] - d <= t[i] + d {
            j += 1;
        }
        let next = t.len() as f64 / (j - i) as f64;
        least = Some(least.map_or(next, |least| least.min(next)));
        x += 1;
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_tuple_is_called_diverse_for_every_l() {
        assert_eq!(figure_3(&[40], 30), None);
        assert_eq!(figure_3(&[40, 60], 30), Some(1.0));
        assert_eq!(figure_3(&[40, 60], 15), Some(2.0));
    }
}
