//! How far up the hierarchies the cells were taken (the complement of Sweeney's *Prec*, 2002): the
//! mean of level over top level over all quasi cells, where every cell of a suppressed row counts
//! 1.
//!
//! Full-domain releases only: there, all cells of an attribute are on one level. A hierarchy of a
//! single level leaves no choice and counts 0 for what was released.

use super::mean;
use crate::attribute::AuditedAttribute;

pub(crate) fn of_release(attributes: &[AuditedAttribute<'_>], rows: u64, suppressed: u64) -> Option<f64> {
    let released = (rows - suppressed) as f64;
    let loss = |attribute: &AuditedAttribute<'_>| {
        let level = attribute.full_domain.as_ref()?.level;
        let share = if attribute.hierarchy.top() == 0 { 0.0 } else { level as f64 / attribute.hierarchy.top() as f64 };
        Some((released * share + suppressed as f64) / rows as f64)
    };
    Some(mean(&attributes.iter().map(loss).collect::<Option<Vec<f64>>>()?))
}

#[cfg(test)]
mod tests {
    use hedgerow_table::HierarchySpec;

    use crate::testing::TestRelease;

    /// Age on level 1 of 2, sex on level 0 of 1, one of four rows suppressed: (3 · ½ + 1)/4 and (3
    /// · 0 + 1)/4.
    #[test]
    fn four_people_by_hand() {
        let rows = ["21,f", "22,f", "23,m", "67,m"].map(|row| row.split(',').collect::<Vec<_>>());
        let specs = [HierarchySpec::Widths(vec![10.0]), HierarchySpec::None];
        let precision =
            TestRelease::new(&["age", "sex"], &rows, &specs, &[1, 0], &[3]).measures().losses.precision.unwrap();
        assert!((precision - (2.5 / 4.0 + 1.0 / 4.0) / 2.0).abs() < 1e-12, "{precision}");
    }
}
