//! Granularity, ARX's *Loss* with the arithmetic mean (after Iyengar: *Transforming data to satisfy
//! privacy constraints*, 2002): per attribute, the share of the hierarchy's leaves under each cell,
//! summed over the rows and brought from its range `n/|dom| … n` to `0 … 1`. Suppressed rows count
//! 1, |dom| is all leaves of the hierarchy, whether or not they occur. A hierarchy of a single leaf
//! has no such range: its cells count 0, and its suppressed rows 1 as everywhere.
//!
//! A local cell need not be a node of the hierarchy. There |dom| is the values of the source, and a
//! cell counts those that it covers.

use hedgerow_table::Level;

use crate::attribute::AuditedAttribute;

pub(crate) fn of_attribute(attribute: &AuditedAttribute<'_>, rows: u64, suppressed: u64) -> f64 {
    let found = attribute.full_domain.as_ref();
    let leaves = found.map_or(attribute.source.domain.cardinality() as u64, |_| attribute.hierarchy.leaves());
    if leaves <= 1 {
        return suppressed as f64 / rows as f64;
    }
    // Counted in leaves, all sums are whole numbers until the one division.
    let under_label = |label: usize| match found {
        Some(found) => found.leaves[label],
        None => attribute.cells[label].codes.len() as u64,
    };
    let counts = attribute.counts.iter().enumerate();
    let under: u128 = counts.map(|(label, &rows)| u128::from(rows) * u128::from(under_label(label))).sum();
    let (rows, leaves) = (u128::from(rows), u128::from(leaves));
    let sum = under + u128::from(suppressed) * leaves;
    (sum - rows) as f64 / (rows * leaves - rows) as f64
}

/// Of a full-domain release the level of an attribute, and for every label how many rows were
/// released with it.
pub(crate) fn levels_of<'a>(attribute: &'a AuditedAttribute<'_>) -> Option<(&'a Level, Vec<u64>)> {
    let found = attribute.full_domain.as_ref()?;
    let level = &attribute.hierarchy.levels()[found.level];
    let mut released = vec![0u64; level.labels.len()];
    for (&label, &code) in level.map.iter().zip(&found.recoded) {
        released[label as usize] = attribute.counts.get(code as usize).copied().unwrap_or(0);
    }
    Some((level, released))
}

#[cfg(test)]
mod tests {
    use hedgerow_table::HierarchySpec;

    use crate::testing::TestRelease;

    /// Four ages, so |dom| = 4; `20 to 29` holds three leaves, `60 to 69` one; nothing suppressed:
    /// agg = (3 + 3 + 3 + 1)/4 = 2.5, n/|dom| = 1, (2.5 − 1)/(4 − 1) = 0.5.
    #[test]
    fn four_people_by_hand() {
        let rows = ["21", "22", "23", "67"].map(|age| vec![age]);
        let release = TestRelease::new(&["age"], &rows, &[HierarchySpec::Widths(vec![10.0])], &[1], &[]);
        let granularity = release.measures().losses.granularity.unwrap();
        assert!((granularity - 0.5).abs() < 1e-12, "{granularity}");
    }
}
