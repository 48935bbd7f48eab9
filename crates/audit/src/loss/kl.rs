//! Kullback–Leibler divergence between the source and what the release lets one estimate of it,
//! over the quasi-identifiers and the sensitive attributes, in nats: Σ p(x) · ln(p(x) / q(x)) over
//! the distinct rows x of the source.
//!
//! q is the estimate of a reader who takes the source's values under a cell as equally likely and
//! knows that the suppressed rows exist, but nothing about them: q(x) = (released rows in the cells
//! of x with x's sensitive values / the values under these cells + suppressed rows / all
//! combinations) / all rows. q adds up to 1, so the divergence is never negative, and it is 0 for a
//! release that changed nothing.
//!
//! Cost: one lookup for each distinct row of the source, which `classes` makes while it counts
//! them.

/// The contribution of one distinct row of the source: how often it occurs, and how often the
/// release lets one expect it.
pub(crate) fn term(rows: f64, expected: f64) -> f64 {
    rows * (rows / expected).ln()
}

/// From the sum of all terms.
pub(crate) fn of_sum(sum: f64, rows: u64) -> f64 {
    // Rounding must not make a release that changed nothing seem to have gained.
    (sum / rows as f64).max(0.0)
}

#[cfg(test)]
mod tests {
    use hedgerow_table::HierarchySpec;

    use crate::testing::TestRelease;

    /// Ages 21, 21, 21, 22 released as `20 to 29`: p = ¾, ¼ and q = ½, ½, so ¾ ln 1.5 + ¼ ln 0.5.
    #[test]
    fn four_people_by_hand() {
        let rows = ["21", "21", "21", "22"].map(|age| vec![age]);
        let release = TestRelease::new(&["age"], &rows, &[HierarchySpec::Widths(vec![10.0])], &[1], &[]);
        let kl = release.measures().losses.kl.unwrap();
        assert!((kl - (0.75 * 1.5f64.ln() + 0.25 * 0.5f64.ln())).abs() < 1e-12, "{kl}");
    }
}
