//! Granularity, ARX's *Loss* with the arithmetic mean (after Iyengar: *Transforming data to satisfy
//! privacy constraints*, 2002): per attribute, the share of the hierarchy's leaves under each cell,
//! summed over the rows and brought from its range `n/|dom| … n` to `0 … 1`. Suppressed rows count
//! 1, |dom| is all leaves of the hierarchy, whether or not they occur. A hierarchy of a single leaf
//! has no such range: its cells count 0, and its suppressed rows 1 as everywhere.

use crate::attribute::Attribute;

/// Full-domain releases only: a local cell need not be a node of the hierarchy, and then has no
/// leaves.
pub(crate) fn of_attribute(attribute: &Attribute<'_>, rows: u64, suppressed: u64) -> Option<f64> {
    let leaves = attribute.hierarchy.leaves();
    let found = attribute.full_domain.as_ref()?;
    if leaves <= 1 {
        return Some(suppressed as f64 / rows as f64);
    }
    // Counted in leaves, all sums are whole numbers until the one division.
    let counts = attribute.counts.iter().zip(&found.leaves);
    let under: u128 = counts.map(|(&rows, &leaves)| u128::from(rows) * u128::from(leaves)).sum();
    let (rows, leaves) = (u128::from(rows), u128::from(leaves));
    let sum = under + u128::from(suppressed) * leaves;
    Some((sum - rows) as f64 / (rows * leaves - rows) as f64)
}

#[cfg(test)]
mod tests {
    use hedgerow_table::HierarchySpec;

    use crate::testing::Release;

    /// Four ages, so |dom| = 4; `20 to 29` holds three leaves, `60 to 69` one; nothing suppressed:
    /// agg = (3 + 3 + 3 + 1)/4 = 2.5, n/|dom| = 1, (2.5 − 1)/(4 − 1) = 0.5.
    #[test]
    fn four_people_by_hand() {
        let rows = ["21", "22", "23", "67"].map(|age| vec![age]);
        let release = Release::new(&["age"], &rows, &[HierarchySpec::Widths(vec![10.0])], &[1], &[]);
        let granularity = release.measures().losses.granularity.unwrap();
        assert!((granularity - 0.5).abs() < 1e-12, "{granularity}");
    }
}
