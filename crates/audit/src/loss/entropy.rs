//! Non-uniform entropy (De Waal, Willenborg: *Information loss through global recoding and local
//! suppression*, 1999; Gionis, Tassa: *k-anonymization with minimal loss of information*,
//! 2009): what the cells of an attribute leave open about its values, in bits, over what one
//! `*` would.
//!
//! A row costs −log2 of how likely its value is under its cell: the rows of the source that have it
//! over those that have any value under the cell. Suppressed rows of a full-domain release cost the
//! way from their labels to one `*` over all of them besides, as ARX counts it. An attribute with
//! one value has nothing to lose.

use super::granularity::levels_of;
use crate::attribute::AuditedAttribute;

/// `None` where rows are missing and no level says which.
pub(crate) fn of_attribute(attribute: &AuditedAttribute<'_>, suppressed: u64) -> Option<f64> {
    let values = attribute.source.counts();
    let rows: u64 = values.iter().sum();
    let own: f64 = values.iter().map(|&rows| bits(rows, rows)).sum();
    let all = bits(rows, rows) - own;
    if all <= 0.0 {
        return Some(0.0);
    }
    let Some((level, released)) = levels_of(attribute) else {
        let under = |codes: &[u32]| codes.iter().map(|&code| values[code as usize]).sum();
        let cells = attribute.counts.iter().zip(&attribute.cells);
        let left: f64 = cells.map(|(&rows, cell)| bits(rows, under(&cell.codes))).sum();
        return (suppressed == 0).then_some(((left - own) / all).max(0.0));
    };
    let mut labels = vec![0u64; level.labels.len()];
    for (&rows, &label) in values.iter().zip(&level.map) {
        labels[label as usize] += rows;
    }
    let mut left: f64 = labels.iter().map(|&rows| bits(rows, rows)).sum::<f64>() - own;
    let gone = labels.iter().zip(released).map(|(&rows, released)| rows.saturating_sub(released));
    left += bits(suppressed, suppressed) - gone.map(|rows| bits(rows, rows)).sum::<f64>();
    Some((left / all).max(0.0))
}

/// The bits to tell which of `among` alternatives each of `rows` rows is.
fn bits(rows: u64, among: u64) -> f64 {
    if rows == 0 { 0.0 } else { rows as f64 * (among as f64).log2() }
}

#[cfg(test)]
mod tests {
    use hedgerow_table::HierarchySpec;

    use crate::testing::TestRelease;

    /// Ages 21, 21, 22 and 67: `20 to 29` leaves open which of three, with 21 twice; `60 to 69`
    /// nothing. One `*` leaves open which of four.
    #[test]
    fn four_people_by_hand() {
        let rows = ["21", "21", "22", "67"].map(|age| vec![age]);
        let entropy = |suppressed: &[usize]| {
            let release = TestRelease::new(&["age"], &rows, &[HierarchySpec::Widths(vec![10.0])], &[1], suppressed);
            release.measures().losses.entropy.unwrap()
        };
        let all = 2.0 * 2f64.log2() + 2.0 * 4f64.log2();
        let cells = 2.0 * 1.5f64.log2() + 3f64.log2();
        assert!((entropy(&[]) - cells / all).abs() < 1e-12, "{}", entropy(&[]));
        // One row of 20 to 29 and one of 60 to 69 are suppressed: one bit each.
        assert!((entropy(&[2, 3]) - (cells + 2.0) / all).abs() < 1e-12, "{}", entropy(&[2, 3]));
    }
}
