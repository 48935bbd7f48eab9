//! How large the equivalence classes are: quantiles, and how many classes and rows there are of
//! each order of size.

use serde::Serialize;

/// The first and the last class size of each range; the last range is open.
const RANGES: [(u64, Option<u64>); 8] = [
    (1, Some(1)),
    (2, Some(2)),
    (3, Some(4)),
    (5, Some(9)),
    (10, Some(19)),
    (20, Some(49)),
    (50, Some(99)),
    (100, None),
];

/// Quantiles are sizes of classes: the smallest size that at least this share of the classes does
/// not exceed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SizeDistribution {
    /// Classes.
    pub count: u64,
    /// The smallest class.
    pub min: u64,
    /// A quarter of the classes are no larger.
    pub lower_quartile: u64,
    /// Half of the classes are no larger.
    pub median: u64,
    /// Three quarters of the classes are no larger.
    pub upper_quartile: u64,
    /// The largest class.
    pub max: u64,
    /// Rows over classes.
    pub mean: f64,
    /// The classes by ranges of sizes.
    pub histogram: Vec<SizeRange>,
}

/// The classes of `from` to `to` rows; `None` is open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SizeRange {
    /// `1`, `5-9`, `100+`.
    pub size: String,
    /// The smallest size.
    pub from: u64,
    /// The largest size; `None` is open.
    pub to: Option<u64>,
    /// Classes of these sizes.
    pub classes: u64,
    /// Rows in these classes.
    pub rows: u64,
}

fn range_name(from: u64, to: Option<u64>) -> String {
    match to {
        None => format!("{from}+"),
        Some(to) if to == from => to.to_string(),
        Some(to) => format!("{from}-{to}"),
    }
}

impl SizeDistribution {
    /// There is at least one class.
    pub(crate) fn of(sizes: &[u64]) -> SizeDistribution {
        let mut sorted = sizes.to_vec();
        sorted.sort_unstable();
        let quantile = |quarters: usize| sorted[(sorted.len() * quarters).div_ceil(4).max(1) - 1];
        let histogram = RANGES.map(|(from, to)| {
            let start = sorted.partition_point(|&size| size < from);
            let end = to.map_or(sorted.len(), |to| sorted.partition_point(|&size| size <= to));
            let (size, classes) = (range_name(from, to), (end - start) as u64);
            SizeRange { size, from, to, classes, rows: sorted[start..end].iter().sum() }
        });
        SizeDistribution {
            count: sorted.len() as u64,
            min: sorted[0],
            lower_quartile: quantile(1),
            median: quantile(2),
            upper_quartile: quantile(3),
            max: sorted[sorted.len() - 1],
            mean: sorted.iter().sum::<u64>() as f64 / sorted.len() as f64,
            histogram: histogram.to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seven_classes_by_hand() {
        let found = SizeDistribution::of(&[7, 1, 4, 3, 120, 4, 1]);
        assert_eq!((found.count, found.min, found.max), (7, 1, 120));
        assert_eq!((found.lower_quartile, found.median, found.upper_quartile), (1, 4, 7));
        assert_eq!(found.mean, 20.0);
        let shape: Vec<(String, u64, u64)> =
            found.histogram.iter().map(|range| (range.size.clone(), range.classes, range.rows)).collect();
        let expected = [
            ("1", 2, 2),
            ("2", 0, 0),
            ("3-4", 3, 11),
            ("5-9", 1, 7),
            ("10-19", 0, 0),
            ("20-49", 0, 0),
            ("50-99", 0, 0),
            ("100+", 1, 120),
        ];
        assert_eq!(shape, expected.map(|(name, classes, rows)| (name.to_owned(), classes, rows)));
    }

    #[test]
    fn one_class_is_every_quantile() {
        let found = SizeDistribution::of(&[5]);
        let all = [found.min, found.lower_quartile, found.median, found.upper_quartile, found.max];
        assert_eq!(all, [5; 5]);
    }

    #[test]
    fn every_size_is_in_one_range() {
        for size in 1..300 {
            let found = SizeDistribution::of(&[size]);
            assert_eq!(found.histogram.iter().map(|range| range.classes).sum::<u64>(), 1, "{size}");
        }
    }
}
