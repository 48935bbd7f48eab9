//! Finding the classes that a person, or a class of another release, falls into: an index over cells, never over pairs.
//!
//! The probes are sorted by their values, the attribute with the fewest different values first. For every prefix of
//! values the classes that fit so far are kept, so that probes which agree on the first values share the work on them.
//! Cost: for every different prefix, one pass over the classes that fit the prefix before it.

use hedgerow_table::release::classes::ReleasedClasses;
use rayon::prelude::*;

/// For one attribute, which labels each value of the probes fits.
#[derive(Debug, Clone)]
pub(crate) struct Fits {
    /// The attribute's position among the quasi attributes of the classes.
    pub(crate) attribute: usize,
    labels: usize,
    /// By value, then by label.
    fits: Vec<bool>,
}

impl Fits {
    pub(crate) fn new(attribute: usize, values: usize, labels: usize) -> Fits {
        Fits { attribute, labels, fits: vec![false; values * labels] }
    }

    pub(crate) fn set(&mut self, value: usize, label: usize) {
        self.fits[value * self.labels + label] = true;
    }

    fn of_value(&self, value: u32) -> &[bool] {
        &self.fits[value as usize * self.labels..(value as usize + 1) * self.labels]
    }
}

const CHUNK: usize = 8192;

/// What `found` makes of every probe and the classes it fits, in the order of the probes. `probes` holds one value for
/// each of `fits`, probe after probe.
pub(crate) fn matching<R: Send>(
    classes: &ReleasedClasses,
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
    let everything: Vec<u32> = (0..classes.len() as u32).collect();
    let mut results: Vec<(u32, R)> = order
        .par_chunks(CHUNK)
        .flat_map_iter(|chunk| {
            let mut fitting: Vec<Vec<u32>> = vec![Vec::new(); levels.len()];
            let mut results = Vec::with_capacity(chunk.len());
            let mut before: Option<u32> = None;
            for &probe in chunk {
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
        })
        .collect();
    results.par_sort_unstable_by_key(|(probe, _)| *probe);
    results.into_iter().map(|(_, result)| result).collect()
}

fn narrow(classes: &ReleasedClasses, fits: &Fits, value: u32, parent: &[u32], into: &mut Vec<u32>) {
    let fitting = fits.of_value(value);
    into.clear();
    let fit = |&&class: &&u32| fitting[classes.cells(class as usize)[fits.attribute] as usize];
    into.extend(parent.iter().filter(fit));
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

    #[test]
    fn the_index_finds_what_looking_at_every_pair_finds() {
        for seed in 0..200 {
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
            let classes = ReleasedClasses::of_generalised("data", &table, &names, &[], covers, "t").unwrap();
            let mut fits = Vec::new();
            for attribute in 0..width {
                let labels = classes.quasi[attribute].labels.len();
                let mut fit = Fits::new(attribute, 4, labels);
                for value in 0..4 {
                    (0..labels).filter(|_| rng.random_bool(0.5)).for_each(|label| fit.set(value, label));
                }
                fits.push(fit);
            }
            let count = rng.random_range(0..20);
            let probes: Vec<Vec<u32>> =
                (0..width).map(|_| (0..count).map(|_| rng.random_range(0..4)).collect()).collect();
            let found = matching(&classes, &fits, &probes, |probe, classes| (probe, classes.to_vec()));
            assert_eq!(found.len(), count, "seed {seed}");
            for (probe, (told, found)) in found.into_iter().enumerate() {
                let fit = |class: &u32| {
                    (0..width).all(|a| fits[a].of_value(probes[a][probe])[classes.cells(*class as usize)[a] as usize])
                };
                let expected: Vec<u32> = (0..classes.len() as u32).filter(fit).collect();
                assert_eq!((told, found), (probe, expected), "seed {seed}");
            }
        }
    }
}
