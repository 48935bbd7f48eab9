//! Finding the classes that a person, or a class of another release, falls into: an index over
//! cells, never over pairs.
//!
//! The probes are sorted by their values, the attribute with the fewest different values first. For
//! every prefix of values the classes that fit so far are kept, so that probes which agree on the
//! first values share the work on them. Cost: for every different prefix, one pass over the classes
//! that fit the prefix before it.

use hedgerow_release::classes::ReleasedClasses;
use hedgerow_table::parallel;
use rayon::prelude::*;

use crate::classes::QuasiClasses;

/// Classes described by a label for each attribute.
pub(crate) trait Labeled: Sync {
    fn count(&self) -> usize;
    fn label(&self, class: u32, attribute: usize) -> u32;
}

impl Labeled for ReleasedClasses {
    fn count(&self) -> usize {
        self.len()
    }

    fn label(&self, class: u32, attribute: usize) -> u32 {
        self.cells(class as usize)[attribute]
    }
}

impl Labeled for QuasiClasses {
    fn count(&self) -> usize {
        self.sizes.len()
    }

    fn label(&self, class: u32, attribute: usize) -> u32 {
        self.labels[attribute][class as usize]
    }
}

/// For one attribute, which values of the probes each label fits.
#[derive(Debug, Clone)]
pub(crate) struct Fits {
    /// The attribute's position among the quasi-identifiers of the classes.
    attribute: usize,
    by_label: Vec<FittingCells>,
}

/// The values that fit a label. Cells of numbers are spans of codes, so that many labels over many
/// values stay small.
#[derive(Debug, Clone)]
enum FittingCells {
    Span {
        first: u32,
        end: u32,
    },
    /// Ascending.
    Listed(Vec<u32>),
}

impl Fits {
    /// For each label, the values that fit it, ascending.
    pub(crate) fn new(attribute: usize, labels: impl Iterator<Item = Vec<u32>>) -> Fits {
        let fitting = |values: Vec<u32>| match (values.first(), values.last()) {
            (Some(&first), Some(&last)) if (last - first) as usize + 1 == values.len() => {
                FittingCells::Span { first, end: last + 1 }
            }
            _ => FittingCells::Listed(values),
        };
        Fits { attribute, by_label: labels.map(fitting).collect() }
    }

    #[inline]
    fn fit(&self, label: u32, value: u32) -> bool {
        match &self.by_label[label as usize] {
            FittingCells::Span { first, end } => (*first..*end).contains(&value),
            FittingCells::Listed(values) => values.binary_search(&value).is_ok(),
        }
    }
}

const CHUNK: usize = 8192;

/// The results of `found` for every probe and the classes it fits, in the order of the probes.
/// `probes` holds one value for each of `fits`, probe after probe.
pub(crate) fn matching<R: Send>(
    classes: &impl Labeled,
    fits: &[Fits],
    probes: &[Vec<u32>],
    found: impl Fn(usize, &[u32]) -> R + Sync,
) -> Vec<R> {
    let count = probes.first().map_or(0, Vec::len);
    debug_assert!(probes.len() == fits.len() && probes.iter().all(|values| values.len() == count));
    let mut levels: Vec<usize> = (0..fits.len()).collect();
    levels.sort_by_key(|&level| different(&probes[level]));
    let mut order: Vec<u32> = (0..count as u32).collect();
    order.par_sort_unstable_by(|&a, &b| {
        let values = levels.iter().map(|&level| probes[level][a as usize].cmp(&probes[level][b as usize]));
        values.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then).then(a.cmp(&b))
    });
    let everything: Vec<u32> = (0..classes.count() as u32).collect();
    let pieces = parallel::map_ranges(order.len(), CHUNK, |range| {
        let mut fitting: Vec<Vec<u32>> = vec![Vec::new(); levels.len()];
        let mut results = Vec::with_capacity(range.len());
        let mut before: Option<u32> = None;
        for &probe in &order[range] {
            let same = |&level: &usize| {
                before.is_some_and(|before| probes[level][before as usize] == probes[level][probe as usize])
            };
            let first = levels.iter().position(|level| !same(level)).unwrap_or(levels.len());
            for (depth, &level) in levels.iter().enumerate().skip(first) {
                let (done, rest) = fitting.split_at_mut(depth);
                let parent = done.last().unwrap_or(&everything);
                narrow(classes, &fits[level], probes[level][probe as usize], parent, &mut rest[0]);
            }
            before = Some(probe);
            results.push((probe, found(probe as usize, fitting.last().unwrap_or(&everything))));
        }
        results
    });
    let mut results: Vec<(u32, R)> = pieces.into_iter().flatten().collect();
    results.par_sort_unstable_by_key(|(probe, _)| *probe);
    results.into_iter().map(|(_, result)| result).collect()
}

fn narrow(classes: &impl Labeled, fits: &Fits, value: u32, parent: &[u32], into: &mut Vec<u32>) {
    into.clear();
    into.extend(parent.iter().filter(|&&class| fits.fit(classes.label(class, fits.attribute), value)));
}

fn different(values: &[u32]) -> usize {
    let mut seen = vec![false; values.iter().max().map_or(0, |&most| most as usize + 1)];
    values.iter().for_each(|&value| seen[value as usize] = true);
    seen.into_iter().filter(|&seen| seen).count()
}

#[cfg(test)]
mod tests {
    use hedgerow_table::{Cover, Table};
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::testing::seeds;

    #[test]
    fn the_index_finds_what_looking_at_every_pair_finds() {
        for seed in seeds(200) {
            let mut rng = StdRng::seed_from_u64(seed);
            let width = rng.random_range(1..4usize);
            let rows: Vec<Vec<String>> = (0..rng.random_range(1..30))
                .map(|_| (0..width).map(|_| rng.random_range(0..5).to_string()).collect())
                .collect();
            let names: Vec<String> = (0..width).map(|index| format!("q{index}")).collect();
            let cells: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
            let header: Vec<&str> = names.iter().map(String::as_str).collect();
            let table = Table::from_texts(&header, &cells);
            let covers = |_: &str, _: &str| Cover::Everything;
            let classes = ReleasedClasses::of_generalized("data", &table, &names, &[], covers, "t").unwrap();
            let (mut fits, mut fit_lists) = (Vec::new(), Vec::new());
            for attribute in 0..width {
                let labels = classes.quasi[attribute].labels.len();
                let fitting: Vec<Vec<u32>> =
                    (0..labels).map(|_| (0..4).filter(|_| rng.random_bool(0.5)).collect()).collect();
                fits.push(Fits::new(attribute, fitting.clone().into_iter()));
                fit_lists.push(fitting);
            }
            let count = rng.random_range(0..20);
            let probes: Vec<Vec<u32>> =
                (0..width).map(|_| (0..count).map(|_| rng.random_range(0..4)).collect()).collect();
            let found = matching(&classes, &fits, &probes, |probe, classes| (probe, classes.to_vec()));
            assert_eq!(found.len(), count, "seed {seed}");
            for (probe, (number, found)) in found.into_iter().enumerate() {
                let fit = |class: &u32| {
                    (0..width)
                        .all(|a| fit_lists[a][classes.cells(*class as usize)[a] as usize].contains(&probes[a][probe]))
                };
                let expected: Vec<u32> = (0..classes.len() as u32).filter(fit).collect();
                assert_eq!((number, found), (probe, expected), "seed {seed}");
            }
        }
    }
}
