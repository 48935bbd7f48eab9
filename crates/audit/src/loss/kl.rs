//! Kullback–Leibler divergence between the source and what the release lets one estimate of it, over the quasi and the
//! sensitive attributes, in nats: Σ p(x) · ln(p(x) / q(x)) over the distinct rows x of the source.
//!
//! q is the best guess of a reader who takes the source's values under a cell as equally likely and knows that the
//! suppressed rows exist, but nothing about them: q(x) = (released rows in the cells of x with x's sensitive values /
//! the values under these cells + suppressed rows / all combinations) / all rows. q adds up to 1, so the divergence is
//! never negative, and it is 0 for a release that changed nothing.
//!
//! Cost: one lookup for each distinct row of the source.

use std::ops::Range;

use hashbrown::HashMap;
use hedgerow_table::{FrequencySet, Layout, Recoding, parallel};

/// Rows summed at once; fixed, so that the sum does not depend on the number of threads.
const CHUNK: usize = 1 << 14;

/// The parts of an estimate that do not change from row to row.
pub(crate) struct Estimate<'a, const W: usize> {
    pub(crate) layout: &'a Layout,
    /// From the values of the source to the released labels.
    pub(crate) recoding: &'a Recoding<W>,
    /// The position of released labels among all, and how many rows have them.
    pub(crate) entries: &'a HashMap<[u64; W], u32>,
    pub(crate) released: &'a [u32],
    /// For each attribute and each code of the source, the number of values in the cell it was released in.
    pub(crate) cell_sizes: &'a [Vec<f64>],
    /// The number of all combinations of values.
    pub(crate) combinations: f64,
    pub(crate) suppressed: u64,
}

pub(crate) fn of_rows<const W: usize>(source: &FrequencySet<W>, estimate: &Estimate<'_, W>) -> f64 {
    let rows = source.rows() as f64;
    let unknown = estimate.suppressed as f64 / estimate.combinations;
    let part = |range: Range<usize>| {
        let mut sum = 0.0;
        for (key, &count) in source.keys()[range.clone()].iter().zip(&source.counts()[range]) {
            let entry = estimate.entries.get(&estimate.recoding.apply(key));
            let released = entry.map_or(0, |&entry| estimate.released[entry as usize]);
            let sizes = estimate.cell_sizes.iter().enumerate();
            let values: f64 = sizes.map(|(a, sizes)| sizes[estimate.layout.field(a).get(key) as usize]).product();
            let expected = f64::from(released) / values + unknown;
            sum += f64::from(count) * (f64::from(count) / expected).ln();
        }
        sum
    };
    let parts: Vec<f64> = parallel::map_ranges(source.len(), CHUNK, part);
    // Rounding must not make a release that changed nothing seem to have gained.
    (parts.iter().sum::<f64>() / rows).max(0.0)
}

#[cfg(test)]
mod tests {
    use hedgerow_table::HierarchySpec;

    use crate::testing::Release;

    /// Ages 21, 21, 21, 22 released as `20 to 29`: p = ¾, ¼ and q = ½, ½, so ¾ ln 1.5 + ¼ ln 0.5.
    #[test]
    fn four_people_by_hand() {
        let rows = ["21", "21", "21", "22"].map(|age| vec![age]);
        let release = Release::new(&["age"], &rows, &[HierarchySpec::Widths(vec![10.0])], &[1], &[]);
        let kl = release.measures().losses.kl.unwrap();
        assert!((kl - (0.75 * 1.5f64.ln() + 0.25 * 0.5f64.ln())).abs() < 1e-12, "{kl}");
    }
}
