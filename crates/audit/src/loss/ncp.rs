//! Normalized certainty penalty (Xu, Wang, Pei, Wang, Shi, Fu: *Utility-based anonymization using
//! local recoding*, 2006), averaged over all quasi cells of all source rows.
//!
//! - A number or date cell costs its width over the width of the source's values, to which it is
//!   clipped. The width of a cell of whole numbers or days is its last minus its first value. Where
//!   all values are equal no interval costs anything. Numbers with gaps between them, as a file may
//!   group them, count from the lowest leaf to the highest.
//! - A cell with leaves costs nothing when it is one leaf, else the share of the values in the
//!   source that it covers; leaves that do not occur there count neither above nor below the line.
//! - The top, and every cell of a suppressed row, costs 1. The missing value is a value like any
//!   other.
//!
//! Which of the first two applies follows from the source's column: numbers and dates, or text. A
//! masked number counts from the lowest to the highest value under its mask.
//!
//! Cost: one pass over the labels of each attribute.

use hedgerow_table::Domain;

use crate::attribute::AuditedAttribute;
use crate::cell::{CellShape, Interval, SourceCell};

/// The penalty of one attribute over `rows` source rows, of which `suppressed` were not released.
pub(crate) fn of_attribute(attribute: &AuditedAttribute<'_>, rows: u64, suppressed: u64) -> f64 {
    let released: f64 =
        attribute.counts.iter().enumerate().map(|(label, &count)| count as f64 * penalty(attribute, label)).sum();
    (released + suppressed as f64) / rows as f64
}

/// The penalty of each label.
pub(crate) fn of_labels(attribute: &AuditedAttribute<'_>) -> Vec<f64> {
    (0..attribute.cells.len()).map(|label| penalty(attribute, label)).collect()
}

fn penalty(attribute: &AuditedAttribute<'_>, label: usize) -> f64 {
    of_cell(&attribute.cells[label], &attribute.source.domain, attribute.is_top[label])
}

/// The penalty of one cell of a column with this domain.
pub(crate) fn of_cell(cell: &SourceCell, domain: &Domain, is_top: bool) -> f64 {
    match cell.shape {
        _ if is_top => 1.0,
        CellShape::Everything => 1.0,
        CellShape::Value => 0.0,
        CellShape::Listed => cell.codes.len() as f64 / domain.cardinality() as f64,
        CellShape::Interval(interval) | CellShape::Scattered(interval) => {
            match Interval::of_domain(domain).map_or(0.0, Interval::width) {
                0.0 => 0.0,
                range => interval.width() / range,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use hedgerow_table::HierarchySpec;

    use crate::testing::TestRelease;

    /// Ages from 21 to 41 in tens: `20 to 29` is clipped to 21…29 and costs 8/20, `30 to 39` costs
    /// 9/20, `40 to 49` is clipped to 40…41 and costs 1/20. Fruit is released as it is and costs
    /// nothing; the suppressed row costs 1 in both. Together (8 + 8 + 9 + 1)/20 + 1 over five cells
    /// for age, 1 over five for fruit.
    #[test]
    fn five_people_by_hand() {
        let rows = ["21,pear", "29,pear", "33,fig", "41,fig", "40,plum"].map(|row| row.split(',').collect::<Vec<_>>());
        let specs = [HierarchySpec::Widths(vec![10.0]), HierarchySpec::None];
        let found = TestRelease::new(&["age", "fruit"], &rows, &specs, &[1, 0], &[4]).measures();
        let age = (26.0 / 20.0 + 1.0) / 5.0;
        assert!((found.attributes[0].ncp - age).abs() < 1e-12, "{found:?}");
        assert!((found.attributes[1].ncp - 0.2).abs() < 1e-12, "{found:?}");
        assert!((found.losses.ncp - (age + 0.2) / 2.0).abs() < 1e-12, "{found:?}");
    }
}
