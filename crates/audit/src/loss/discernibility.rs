//! Discernibility (Bayardo, Agrawal: *Data privacy through optimal k-anonymization*, 2005): each
//! released row is charged the size of its class, each suppressed one the size of the table.

/// Exact: with fewer than 2³² rows the sum stays below 2⁶⁴.
pub(crate) fn of_classes(sizes: &[u64], rows: u64, suppressed: u64) -> u64 {
    sizes.iter().map(|size| size * size).sum::<u64>() + rows * suppressed
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Classes of 2 and 3 rows, one row of six suppressed: 4 + 9 + 6 · 1.
    #[test]
    fn six_people_by_hand() {
        assert_eq!(of_classes(&[2, 3], 6, 1), 19);
        assert_eq!(of_classes(&[1], 1, 0), 1);
        let most = u64::from(u32::MAX);
        assert_eq!(of_classes(&[most], most, 0), most * most);
        assert_eq!(of_classes(&[1], most, most - 1), 1 + most * (most - 1));
    }
}
