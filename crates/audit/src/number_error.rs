//! How wrong means and quartiles of a sensitive number come out for someone who works with the release.
//!
//! Two questions, both answered from the release and compared with the source:
//! - *by value*: the people with one value of a quasi attribute. The release says only which cells or buckets they may be in, so
//!   each group counts by its share: a cell's rows are spread evenly over the values it covers; within a bucket every row
//!   may carry any of its sensitive values.
//! - *by class*: the people whose quasi values fall into the cells of a class. Its rows are what was released of them, so this is
//!   what leaving rows out costs.
//!
//! Errors are absolute differences, averaged over the people asked about (a group counts by its rows in the source), in the
//! attribute's own unit (days for dates). Missing numbers are left out on both sides. A value of which nothing was
//! released is estimated by the whole release.

use hashbrown::HashMap;
use hedgerow_table::{Codes, Domain};
use rayon::prelude::*;
use serde_json::{Map, Value, json};

use crate::attribute::{Attribute, Unchanged};
use crate::classes::Classes;
use crate::query_error::buckets::Bucketized;

/// Mean, lower quartile, median, upper quartile.
const STATISTICS: [&str; 4] = ["mean", "lower-quartile", "median", "upper-quartile"];

/// What a release tells wrongly about one sensitive number.
#[derive(Debug, Clone, PartialEq)]
pub struct NumberError {
    pub attribute: String,
    /// The standard deviation in the source: what an error can be compared with.
    pub deviation: f64,
    /// `None` where the release has no classes of cells.
    pub by_class: Option<[f64; 4]>,
    /// For every quasi attribute.
    pub by_value: Vec<(String, [f64; 4])>,
}

impl NumberError {
    pub(crate) fn to_json(&self) -> (String, Value) {
        let told = |errors: &[f64; 4]| -> Value {
            STATISTICS
                .iter()
                .zip(errors)
                .map(|(name, error)| ((*name).to_owned(), json!(error)))
                .collect::<Map<_, _>>()
                .into()
        };
        let by_value: Map<String, Value> =
            self.by_value.iter().map(|(name, errors)| (name.clone(), told(errors))).collect();
        let errors = json!({
            "standard-deviation": self.deviation,
            "by-class": self.by_class.as_ref().map(told),
            "by-value": by_value,
        });
        (self.attribute.clone(), errors)
    }
}

/// Sensitive codes of the source's domain with their weights, gathered for one group of people.
#[derive(Debug, Clone)]
pub(crate) struct Gathered<'a> {
    numbers: &'a [Option<f64>],
    weights: Vec<f64>,
    touched: Vec<u32>,
}

/// The number behind every code of a domain; `None` when its values are no numbers.
pub(crate) fn numbers(domain: &Domain) -> Option<Vec<Option<f64>>> {
    let numbers: Vec<Option<f64>> = (0..domain.cardinality() as u32).map(|code| domain.number(code)).collect();
    numbers.iter().any(Option::is_some).then_some(numbers)
}

impl<'a> Gathered<'a> {
    pub(crate) fn new(numbers: &'a [Option<f64>]) -> Gathered<'a> {
        Gathered { numbers, weights: vec![0.0; numbers.len()], touched: Vec::new() }
    }

    pub(crate) fn add(&mut self, code: u32, weight: f64) {
        if self.numbers[code as usize].is_none() {
            return;
        }
        let gathered = &mut self.weights[code as usize];
        if *gathered == 0.0 {
            self.touched.push(code);
        }
        *gathered += weight;
    }

    /// Mean and quartiles of what was gathered, which is forgotten then. A quartile is the smallest number that at least
    /// its share of the weight does not exceed.
    pub(crate) fn take(&mut self) -> Option<[f64; 4]> {
        // Shares that add up to a quarter may miss it by their rounding.
        const SLACK: f64 = 1e-9;
        self.touched.sort_unstable();
        let pairs: Vec<(f64, f64)> = self
            .touched
            .iter()
            .filter_map(|&code| Some((self.numbers[code as usize]?, self.weights[code as usize])))
            .collect();
        self.touched.drain(..).for_each(|code| self.weights[code as usize] = 0.0);
        let total: f64 = pairs.iter().map(|(_, weight)| weight).sum();
        if total <= 0.0 {
            return None;
        }
        let mean = pairs.iter().map(|(number, weight)| number * weight).sum::<f64>() / total;
        let quantile = |share: f64| {
            let mut before = 0.0;
            let reached = pairs.iter().find(|(_, weight)| {
                before += weight;
                before >= (share - SLACK) * total
            });
            reached.or(pairs.last()).map_or(mean, |(number, _)| *number)
        };
        Some([mean, quantile(0.25), quantile(0.5), quantile(0.75)])
    }
}

/// Mean absolute errors over groups, each weighing as many people as it has.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Averaged {
    sums: [f64; 4],
    people: f64,
}

impl Averaged {
    pub(crate) fn add(&mut self, people: u64, truth: [f64; 4], estimate: [f64; 4]) {
        self.people += people as f64;
        for (sum, (truth, estimate)) in self.sums.iter_mut().zip(truth.into_iter().zip(estimate)) {
            *sum += people as f64 * (truth - estimate).abs();
        }
    }

    pub(crate) fn errors(self) -> [f64; 4] {
        self.sums.map(|sum| if self.people > 0.0 { sum / self.people } else { 0.0 })
    }
}

/// Rows of two columns counted: for every code of the first, the codes of the second with their rows.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    starts: Vec<usize>,
    counts: Vec<(u32, u32)>,
}

impl Pairs {
    pub(crate) fn of_columns(first: &Codes, cardinality: usize, second: &Codes) -> Pairs {
        Pairs::count((0..first.len()).into_par_iter().map(|row| first.get(row)), cardinality, second)
    }

    /// Rows whose first code is beyond the cardinality are left out.
    pub(crate) fn count(first: impl IndexedParallelIterator<Item = u32>, cardinality: usize, second: &Codes) -> Pairs {
        let mut keys: Vec<u64> =
            first.enumerate().map(|(row, code)| u64::from(code) << 32 | u64::from(second.get(row))).collect();
        keys.par_sort_unstable();
        let mut pairs = Pairs { starts: vec![0; cardinality + 1], counts: Vec::new() };
        keys.truncate(keys.partition_point(|key| (key >> 32) < cardinality as u64));
        for run in keys.chunk_by(|a, b| a == b) {
            pairs.counts.push((run[0] as u32, run.len() as u32));
            pairs.starts[(run[0] >> 32) as usize + 1] = pairs.counts.len();
        }
        for code in 0..cardinality {
            pairs.starts[code + 1] = pairs.starts[code + 1].max(pairs.starts[code]);
        }
        pairs
    }

    pub(crate) fn of(&self, code: usize) -> &[(u32, u32)] {
        &self.counts[self.starts[code]..self.starts[code + 1]]
    }

    fn cardinality(&self) -> usize {
        self.starts.len() - 1
    }
}

/// Errors by value of one quasi attribute. `truth` counts the source's rows, `estimate` gathers what the release says of a value,
/// and values with equal `alike` are told the same.
pub(crate) fn by_value<K: std::hash::Hash + Eq>(
    numbers: &[Option<f64>],
    truth: &Pairs,
    whole: [f64; 4],
    alike: impl Fn(usize) -> K,
    mut estimate: impl FnMut(usize, &mut Gathered<'_>),
) -> [f64; 4] {
    let mut gathered = Gathered::new(numbers);
    let mut told: HashMap<K, [f64; 4]> = HashMap::new();
    let mut averaged = Averaged::default();
    for value in 0..truth.cardinality() {
        let rows = truth.of(value);
        rows.iter().for_each(|&(code, count)| gathered.add(code, f64::from(count)));
        let Some(right) = gathered.take() else { continue };
        let estimated = told.entry(alike(value)).or_insert_with(|| {
            estimate(value, &mut gathered);
            gathered.take().unwrap_or(whole)
        });
        let people =
            rows.iter().filter(|(code, _)| numbers[*code as usize].is_some()).map(|(_, count)| u64::from(*count));
        averaged.add(people.sum(), right, *estimated);
    }
    averaged.errors()
}

/// The standard deviation of a column's numbers.
pub(crate) fn deviation(numbers: &[Option<f64>], counts: &[u64]) -> f64 {
    let pairs = || numbers.iter().zip(counts).filter_map(|(number, &count)| Some(((*number)?, count as f64)));
    let rows: f64 = pairs().map(|(_, count)| count).sum();
    if rows == 0.0 {
        return 0.0;
    }
    let mean = pairs().map(|(number, count)| number * count).sum::<f64>() / rows;
    (pairs().map(|(number, count)| (number - mean).powi(2) * count).sum::<f64>() / rows).sqrt()
}

/// The errors of a generalised release, for every sensitive attribute that is a number or a date.
pub(crate) fn of_cells(quasi: &[Attribute<'_>], sensitive: &[Unchanged<'_>], classes: &Classes) -> Vec<NumberError> {
    let measured = sensitive.iter().enumerate().filter_map(|(index, attribute)| {
        let numbers = numbers(&attribute.source.domain)?;
        let whole = of_everyone(&numbers, &attribute.released.counts(), |code| attribute.source_code[code as usize])?;
        Some(NumberError {
            attribute: attribute.source.name.clone(),
            deviation: deviation(&numbers, &attribute.source.counts()),
            by_class: by_class(quasi, attribute, &numbers, whole, (classes, &classes.entry_values[index])),
            by_value: (quasi.iter())
                .map(|quasi| (quasi.name.to_owned(), by_cell(quasi, attribute, &numbers, whole)))
                .collect(),
        })
    });
    measured.collect()
}

/// Mean and quartiles of all released rows; `None` when no number was released.
pub(crate) fn of_everyone(
    numbers: &[Option<f64>],
    released: &[u64],
    source_code: impl Fn(u32) -> u32,
) -> Option<[f64; 4]> {
    let mut gathered = Gathered::new(numbers);
    (0..).zip(released).for_each(|(code, &count)| gathered.add(source_code(code), count as f64));
    gathered.take()
}

fn by_cell(quasi: &Attribute<'_>, sensitive: &Unchanged<'_>, numbers: &[Option<f64>], whole: [f64; 4]) -> [f64; 4] {
    let truth = Pairs::of_columns(&quasi.source.codes, quasi.source.domain.cardinality(), &sensitive.source.codes);
    let labels = quasi.released.domain.cardinality();
    let released = Pairs::of_columns(&quasi.released.codes, labels, &sensitive.released.codes);
    let mut covering: Vec<Vec<u32>> = vec![Vec::new(); quasi.source.domain.cardinality()];
    for (label, cell) in (0..).zip(&quasi.cells) {
        cell.codes.iter().for_each(|&code| covering[code as usize].push(label));
    }
    let alike = |value: usize| covering[value].as_slice();
    by_value(numbers, &truth, whole, alike, |value, gathered| {
        for &label in &covering[value] {
            let share = 1.0 / quasi.cells[label as usize].codes.len() as f64;
            for &(code, count) in released.of(label as usize) {
                gathered.add(sensitive.source_code[code as usize], f64::from(count) * share);
            }
        }
    })
}

fn by_class(
    quasi: &[Attribute<'_>],
    sensitive: &Unchanged<'_>,
    numbers: &[Option<f64>],
    whole: [f64; 4],
    (classes, entry_values): (&Classes, &[u32]),
) -> Option<[f64; 4]> {
    // Where every class has its own cells, they do not tell which of the source's rows it was made of.
    let recoded: Vec<(&Codes, &[u32])> = quasi
        .iter()
        .map(|quasi| Some((&quasi.source.codes, quasi.full_domain.as_ref()?.recoded.as_slice())))
        .collect::<Option<_>>()?;
    let count = classes.sizes.len();
    let labels = |class: usize| classes.labels.iter().map(|of_class| of_class[class]).collect();
    let by_labels: HashMap<Vec<u32>, u32> = (0..count).map(|class| (labels(class), class as u32)).collect();
    let rows = sensitive.source.codes.len();
    let class_of = (0..rows).into_par_iter().map_init(Vec::new, |cells: &mut Vec<u32>, row| {
        cells.clear();
        cells.extend(recoded.iter().map(|(codes, recoded)| recoded[codes.get(row) as usize]));
        by_labels.get(cells.as_slice()).copied().unwrap_or(count as u32)
    });
    let truth = Pairs::count(class_of, count, &sensitive.source.codes);
    let told = |class: usize, gathered: &mut Gathered<'_>| {
        let entries = classes.starts[class]..classes.starts[class + 1];
        for (&value, &count) in entry_values[entries.clone()].iter().zip(&classes.entry_counts[entries]) {
            gathered.add(value, f64::from(count));
        }
    };
    Some(by_value(numbers, &truth, whole, |class| class, told))
}

/// The errors of a bucketized release.
pub(crate) fn of_buckets(release: &Bucketized<'_>) -> Vec<NumberError> {
    let measured = release.sensitive.iter().filter_map(|attribute| {
        let numbers = numbers(&attribute.source.domain)?;
        let value = |row: u32| attribute.source_code[attribute.released.codes.get(row as usize) as usize];
        let mut everyone = Gathered::new(&numbers);
        for &(row, count) in release.buckets.iter().flat_map(|bucket| &bucket.values) {
            everyone.add(value(row), count as f64);
        }
        let whole = everyone.take()?;
        let of_attribute = |quasi: &Unchanged<'_>| {
            let truth =
                Pairs::of_columns(&quasi.source.codes, quasi.source.domain.cardinality(), &attribute.source.codes);
            // The rows with each value, by bucket.
            let mut within: Vec<Vec<(usize, u32)>> = vec![Vec::new(); quasi.source.domain.cardinality()];
            for (number, bucket) in release.buckets.iter().enumerate() {
                for &row in &bucket.rows {
                    let own = &mut within[quasi.source_code[quasi.released.codes.get(row as usize) as usize] as usize];
                    match own.last_mut() {
                        Some((last, rows)) if *last == number => *rows += 1,
                        _ => own.push((number, 1)),
                    }
                }
            }
            let told = |code: usize, gathered: &mut Gathered<'_>| {
                for &(number, rows) in &within[code] {
                    let bucket = &release.buckets[number];
                    let share = f64::from(rows) / bucket.rows.len() as f64;
                    bucket.values.iter().for_each(|&(row, count)| gathered.add(value(row), count as f64 * share));
                }
            };
            (quasi.source.name.clone(), by_value(&numbers, &truth, whole, |code| code, told))
        };
        Some(NumberError {
            attribute: attribute.source.name.clone(),
            deviation: deviation(&numbers, &attribute.source.counts()),
            by_class: None,
            by_value: release.quasi.iter().map(of_attribute).collect(),
        })
    });
    measured.collect()
}

#[cfg(test)]
mod tests {
    use hedgerow_table::HierarchySpec;
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::testing::Release;

    fn errors(release: &Release) -> Vec<NumberError> {
        release.measures().numbers
    }

    #[test]
    fn four_people_by_hand() {
        let rows = ["20,10", "21,20", "40,30", "41,50"].map(|row| row.split(',').collect::<Vec<_>>());
        let specs = [HierarchySpec::Widths(vec![20.0])];
        let release = Release::new(&["age", "pay"], &rows, &specs, &[1], &[]);
        let [pay] = &errors(&release)[..] else { panic!("one number") };
        assert_eq!((pay.attribute.as_str(), pay.by_class), ("pay", Some([0.0; 4])));
        // 10 and 20 are both taken for 15 (5 off each), 30 and 50 for 40; quartiles for 10 10 20 and 30 30 50.
        assert_eq!(pay.by_value, [("age".to_owned(), [7.5; 4])]);
        assert!((pay.deviation - 14.790).abs() < 1e-3, "{}", pay.deviation);
        let exact = Release::new(&["age", "pay"], &rows, &specs, &[0], &[]);
        assert_eq!(errors(&exact)[0].by_value[0].1, [0.0; 4]);
        let left_out = Release::new(&["age", "pay"], &rows, &specs, &[1], &[1]);
        // Of the younger two only 10 was released: the mean is off by 5 for two of four people.
        assert_eq!(errors(&left_out)[0].by_class, Some([2.5, 0.0, 0.0, 5.0]));
    }

    #[test]
    fn texts_have_no_mean_and_missing_numbers_are_left_out() {
        let rows = ["a,flu,", "a,cold,4", "b,flu,6", "b,flu,"].map(|row| row.split(',').collect::<Vec<_>>());
        let release = Release::new(&["q", "illness", "days"], &rows, &[HierarchySpec::None], &[1], &[]);
        let [days] = &errors(&release)[..] else { panic!("one number") };
        assert_eq!(days.attribute, "days");
        // Everyone is taken for 4 and 6: a mean of 5, quartiles 4 4 6.
        assert_eq!(days.by_value[0].1, [1.0; 4]);
    }

    /// Mean and quartiles of weighted numbers, by sorting them.
    fn naive(mut weighted: Vec<(f64, f64)>) -> [f64; 4] {
        weighted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let total: f64 = weighted.iter().map(|w| w.1).sum();
        let quantile = |share: f64| {
            let until = |end: usize| weighted[..=end].iter().map(|w| w.1).sum::<f64>();
            weighted[(0..weighted.len()).find(|&end| until(end) >= share * total - 1e-7).unwrap()].0
        };
        let mean = weighted.iter().map(|w| w.0 * w.1).sum::<f64>() / total;
        [mean, quantile(0.25), quantile(0.5), quantile(0.75)]
    }

    /// Row by row over random releases.
    #[test]
    fn errors_are_those_of_a_naive_analyst() {
        let only = std::env::var("HEDGEROW_SEED").ok().and_then(|seed| seed.parse::<u64>().ok());
        for seed in only.map_or(0..400, |seed| seed..seed + 1) {
            let mut rng = StdRng::seed_from_u64(seed);
            let count = rng.random_range(1..25usize);
            let blank = [0.0, 0.2][rng.random_range(0..2usize)];
            let rows: Vec<[String; 3]> = (0..count)
                .map(|row| {
                    let pay = rng.random_range(0..40) as f64 / 4.0;
                    let pay = if row > 0 && rng.random_bool(blank) { String::new() } else { pay.to_string() };
                    [rng.random_range(0..30).to_string(), format!("s{}", rng.random_range(0..3)), pay]
                })
                .collect();
            let texts: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
            let specs = [HierarchySpec::Widths(vec![5.0, 20.0]), HierarchySpec::None];
            let levels = [rng.random_range(0..4usize), rng.random_range(0..2usize)];
            let suppressed: Vec<usize> = (1..count).filter(|_| rng.random_bool(0.15)).collect();
            let release = Release::new(&["age", "sex", "pay"], &texts, &specs, &levels, &suppressed);
            let found = &errors(&release)[0];
            let kept: Vec<usize> = (0..count).filter(|row| !suppressed.contains(row)).collect();
            let pay = |row: usize| rows[row][2].parse::<f64>().ok();
            let told = |rows: &[(usize, f64)]| {
                let weighted: Vec<(f64, f64)> = rows.iter().filter_map(|&(row, w)| Some((pay(row)?, w))).collect();
                (!weighted.is_empty()).then(|| naive(weighted))
            };
            let plain = |rows: &[usize]| told(&rows.iter().map(|&row| (row, 1.0)).collect::<Vec<_>>());
            let people: Vec<usize> = (0..count).filter(|&row| pay(row).is_some()).collect();
            let label = |quasi: usize, row: usize| {
                let code = release.source.columns[quasi].codes.get(row) as usize;
                release.hierarchies[quasi].levels()[levels[quasi]].map[code]
            };
            for (quasi, (_, got)) in found.by_value.iter().enumerate() {
                let mut sums = [0.0; 4];
                for &person in &people {
                    let alike: Vec<usize> = (0..count).filter(|&row| rows[row][quasi] == rows[person][quasi]).collect();
                    let cell: Vec<usize> =
                        (0..count).filter(|&row| label(quasi, row) == label(quasi, person)).collect();
                    let released: Vec<usize> = cell.iter().copied().filter(|row| kept.contains(row)).collect();
                    let estimate = plain(&released).or_else(|| plain(&kept)).unwrap();
                    let truth = plain(&alike).unwrap();
                    (0..4).for_each(|s| sums[s] += (truth[s] - estimate[s]).abs() / people.len() as f64);
                }
                assert!((0..4).all(|s| (got[s] - sums[s]).abs() < 1e-6), "seed {seed}: {got:?} is not {sums:?}");
            }
            let (mut sums, mut asked) = ([0.0; 4], 0.0);
            for &person in &people {
                let same = |row: &usize| (0..2).all(|quasi| label(quasi, *row) == label(quasi, person));
                let cell: Vec<usize> = (0..count).filter(same).collect();
                let released: Vec<usize> = kept.iter().copied().filter(same).collect();
                if released.is_empty() {
                    continue;
                }
                asked += 1.0;
                let (truth, estimate) = (plain(&cell).unwrap(), plain(&released).or_else(|| plain(&kept)).unwrap());
                (0..4).for_each(|s| sums[s] += (truth[s] - estimate[s]).abs());
            }
            let got = found.by_class.unwrap();
            assert!(
                (0..4).all(|s| (got[s] - sums[s] / asked).abs() < 1e-6),
                "seed {seed}: {got:?} is not {sums:?}/{asked}"
            );
        }
    }
}
