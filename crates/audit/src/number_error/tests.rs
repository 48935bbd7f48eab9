//! Errors of means and quartiles, by hand and against a naive analyst.

use hedgerow_release::codebook::Codebook;
use hedgerow_table::{Bound, Cover, Hierarchy, HierarchySpec, Label, NoProgress, Table};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::attribute::{QuasiSource, Recoding};
use crate::kinds::bucketized::{MeasuredBuckets, measure_buckets};
use crate::kinds::generalized::{GeneralizedPair, measure};
use crate::query_error::QueryOptions;
use crate::testing::{TestRelease, seeds, written_and_read};

mod clones;

fn errors(release: &TestRelease) -> Vec<NumberError> {
    release.measures().numbers
}

#[test]
fn four_people_by_hand() {
    let rows = ["20,10", "21,20", "40,30", "41,50"].map(|row| row.split(',').collect::<Vec<_>>());
    let specs = [HierarchySpec::Widths(vec![20.0])];
    let release = TestRelease::new(&["age", "pay"], &rows, &specs, &[1], &[]);
    let [pay] = &errors(&release)[..] else { panic!("one number") };
    assert_eq!((pay.attribute.as_str(), pay.by_class), ("pay", [0.0; 4]));
    // 10 and 20 are both taken for 15 (5 off each), 30 and 50 for 40; quartiles for 10 10 20 and 30
    // 30 50.
    assert_eq!(pay.by_value, [("age".to_owned(), [7.5; 4])]);
    assert!((pay.deviation - 14.790).abs() < 1e-3, "{}", pay.deviation);
    let exact = TestRelease::new(&["age", "pay"], &rows, &specs, &[0], &[]);
    assert_eq!(errors(&exact)[0].by_value[0].1, [0.0; 4]);
    let suppressed = TestRelease::new(&["age", "pay"], &rows, &specs, &[1], &[1]);
    // Of the younger two only 10 was released: the mean is off by 5 for two of four people.
    assert_eq!(errors(&suppressed)[0].by_class, [2.5, 0.0, 0.0, 5.0]);
}

#[test]
fn texts_have_no_mean_and_missing_numbers_are_omitted() {
    let rows = ["a,flu,", "a,cold,4", "b,flu,6", "b,flu,"].map(|row| row.split(',').collect::<Vec<_>>());
    let release = TestRelease::new(&["q", "illness", "days"], &rows, &[HierarchySpec::None], &[1], &[]);
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
    for seed in seeds(400) {
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
        let release = TestRelease::new(&["age", "sex", "pay"], &texts, &specs, &levels, &suppressed);
        let found = &errors(&release)[0];
        let kept: Vec<usize> = (0..count).filter(|row| !suppressed.contains(row)).collect();
        let pay = |row: usize| rows[row][2].parse::<f64>().ok();
        let weighted = |rows: &[(usize, f64)]| {
            let weighted: Vec<(f64, f64)> = rows.iter().filter_map(|&(row, w)| Some((pay(row)?, w))).collect();
            (!weighted.is_empty()).then(|| naive(weighted))
        };
        let plain = |rows: &[usize]| weighted(&rows.iter().map(|&row| (row, 1.0)).collect::<Vec<_>>());
        let people: Vec<usize> = (0..count).filter(|&row| pay(row).is_some()).collect();
        let label = |quasi: usize, row: usize| {
            let code = release.source.columns[quasi].codes.get(row) as usize;
            release.hierarchies[quasi].levels()[levels[quasi]].map[code]
        };
        for (quasi, (_, got)) in found.by_value.iter().enumerate() {
            let mut sums = [0.0; 4];
            for &person in &people {
                let alike: Vec<usize> = (0..count).filter(|&row| rows[row][quasi] == rows[person][quasi]).collect();
                let cell: Vec<usize> = (0..count).filter(|&row| label(quasi, row) == label(quasi, person)).collect();
                let released: Vec<usize> = cell.iter().copied().filter(|row| kept.contains(row)).collect();
                let estimate = plain(&released).or_else(|| plain(&kept)).unwrap();
                let truth = plain(&alike).unwrap();
                (0..4).for_each(|s| sums[s] += (truth[s] - estimate[s]).abs() / people.len() as f64);
            }
            assert!((0..4).all(|s| (got[s] - sums[s]).abs() < 1e-6), "seed {seed}: {got:?} is not {sums:?}");
        }
        let (mut sums, mut people_count) = ([0.0; 4], 0.0);
        for &person in &people {
            let same = |row: &usize| (0..2).all(|quasi| label(quasi, *row) == label(quasi, person));
            let cell: Vec<usize> = (0..count).filter(same).collect();
            let released: Vec<usize> = kept.iter().copied().filter(same).collect();
            if released.is_empty() {
                continue;
            }
            people_count += 1.0;
            let (truth, estimate) = (plain(&cell).unwrap(), plain(&released).or_else(|| plain(&kept)).unwrap());
            (0..4).for_each(|s| sums[s] += (truth[s] - estimate[s]).abs());
        }
        let got = found.by_class;
        assert!(
            (0..4).all(|s| (got[s] - sums[s] / people_count).abs() < 1e-6),
            "seed {seed}: {got:?} is not {sums:?}/{people_count}"
        );
    }
}

fn table(header: &[&str], rows: &[Vec<String>]) -> Table {
    let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
    Table::from_texts(header, &rows)
}

/// The numbers of some people, and what the release shows of them, with weights.
type Group = (Vec<f64>, Vec<(f64, f64)>);

/// The error over groups of people.
fn naive_error(groups: &[Group]) -> [f64; 4] {
    let (mut sums, mut people_count) = ([0.0; 4], 0.0);
    for (truth, shown) in groups {
        let right = naive(truth.iter().map(|&number| (number, 1.0)).collect());
        let estimate = naive(shown.clone());
        people_count += truth.len() as f64;
        (0..4).for_each(|s| sums[s] += truth.len() as f64 * (right[s] - estimate[s]).abs());
    }
    sums.map(|sum| sum / people_count)
}

fn assert_close(got: [f64; 4], expected: [f64; 4], seed: u64) {
    assert!((0..4).all(|s| (got[s] - expected[s]).abs() < 1e-6), "seed {seed}: {got:?} is not {expected:?}");
}

/// Classes with cells of their own, which may overlap: a class describes all people who fit its
/// cells.
#[test]
fn classes_with_cells_of_their_own_are_those_of_a_naive_analyst() {
    for seed in seeds(300) {
        let mut rng = StdRng::seed_from_u64(seed);
        let (mut source, mut released, mut cells) = (Vec::new(), Vec::new(), Vec::new());
        let mut codebook = Codebook::new();
        for _ in 0..rng.random_range(1..5) {
            let (low, width) = (rng.random_range(0..20), rng.random_range(2..12));
            let text = format!("{low} to {}", low + width - 1);
            let cover = Cover::Interval { low: Some(Bound::Integer(low)), high: Some(Bound::Integer(low + width)) };
            codebook.add("age", &Label { text: text.clone(), cover, leaves: 1 }).unwrap();
            let sex = ["f", "m", "*"][rng.random_range(0..3usize)];
            let cover = if sex == "*" { Cover::Everything } else { Cover::Leaves(vec![sex.to_owned()]) };
            codebook.add("sex", &Label { text: sex.to_owned(), cover, leaves: 1 }).unwrap();
            for _ in 0..rng.random_range(1..4) {
                let own = if sex == "*" { ["f", "m"][rng.random_range(0..2usize)] } else { sex };
                let pay = rng.random_range(0..20i32).to_string();
                source.push(vec![rng.random_range(low..low + width).to_string(), own.to_owned(), pay.clone()]);
                released.push(vec![text.clone(), sex.to_owned(), pay]);
                cells.push((low, low + width, sex));
            }
        }
        let header = ["age", "sex", "pay"];
        let tables = (table(&header, &source), table(&header, &released), written_and_read(&codebook));
        let hierarchy = |index: usize| {
            let column = &tables.0.columns[index];
            Hierarchy::build(&HierarchySpec::None, &column.name, "test", &column.domain, &[String::new()]).unwrap()
        };
        let hierarchies = [hierarchy(0), hierarchy(1)];
        let input = GeneralizedPair {
            source: &tables.0,
            released: &tables.1,
            codebook: &tables.2,
            ranges: Vec::new(),
            quasi: header.iter().zip(&hierarchies).map(|(name, hierarchy)| QuasiSource { name, hierarchy }).collect(),
            sensitive: vec!["pay"],
            k: 1,
            rows_suppressed: 0,
            recoding: Recoding::Local,
        };
        let options = QueryOptions { count: 0, ..QueryOptions::default() };
        let found = measure(&input, &options, &NoProgress).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let pay = |row: &Vec<String>| row[2].parse::<f64>().unwrap();
        let mut classes = cells.clone();
        classes.sort_unstable();
        classes.dedup();
        let groups: Vec<_> = classes
            .iter()
            .map(|class @ &(low, high, sex)| {
                let fits = |row: &&Vec<String>| {
                    (low..high).contains(&row[0].parse().unwrap()) && (sex == "*" || sex == row[1])
                };
                let shown = released.iter().zip(&cells).filter(|(_, cell)| cell == &class);
                (source.iter().filter(fits).map(pay).collect(), shown.map(|(row, _)| (pay(row), 1.0)).collect())
            })
            .collect();
        assert_close(found.numbers[0].by_class, naive_error(&groups), seed);
    }
}

/// Random buckets over people with two quasi attributes, some of them alike in both.
#[test]
fn people_in_buckets_are_those_of_a_naive_analyst() {
    for seed in seeds(300) {
        let mut rng = StdRng::seed_from_u64(seed);
        let count = rng.random_range(1..20usize);
        let people: Vec<(String, String, i32, usize)> = (0..count)
            .map(|_| {
                let (age, sex) = (rng.random_range(20..24).to_string(), ["f", "m"][rng.random_range(0..2usize)]);
                (age, sex.to_owned(), rng.random_range(0..9), rng.random_range(1..5usize))
            })
            .collect();
        let source: Vec<Vec<String>> =
            people.iter().map(|(age, sex, pay, _)| vec![age.clone(), sex.clone(), pay.to_string()]).collect();
        let rows: Vec<Vec<String>> =
            people.iter().map(|(age, sex, _, bucket)| vec![age.clone(), sex.clone(), bucket.to_string()]).collect();
        let mut pairs: Vec<(usize, i32)> = people.iter().map(|person| (person.3, person.2)).collect();
        pairs.sort_unstable();
        let values: Vec<Vec<String>> = pairs
            .chunk_by(|a, b| a == b)
            .map(|run| vec![run[0].0.to_string(), run[0].1.to_string(), run.len().to_string()])
            .collect();
        let (source, rows) = (table(&["age", "sex", "pay"], &source), table(&["age", "sex", "group"], &rows));
        let values = table(&["group", "pay", "count"], &values);
        let (quasi, sensitive) = (vec!["age", "sex"], vec!["pay"]);
        let input = MeasuredBuckets {
            source: &source,
            rows: &rows,
            values: &values,
            quasi,
            sensitive,
            k: 1,
            rows_suppressed: 0,
        };
        let options = QueryOptions { count: 0, ..QueryOptions::default() };
        let found =
            measure_buckets(&input, &options, &NoProgress).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        // What is released of some people: for each of them, all numbers of their bucket with equal
        // shares.
        let error = |same: &dyn Fn(usize, usize) -> bool| {
            let group = |first: usize| -> Vec<usize> { (0..count).filter(|&other| same(first, other)).collect() };
            let groups: Vec<_> = (0..count)
                .filter(|&person| group(person)[0] == person)
                .map(|person| {
                    let shown = group(person).into_iter().flat_map(|person| {
                        let bucket: Vec<&(usize, i32)> =
                            pairs.iter().filter(|pair| pair.0 == people[person].3).collect();
                        let share = 1.0 / bucket.len() as f64;
                        bucket.into_iter().map(move |pair| (f64::from(pair.1), share))
                    });
                    let own = group(person).into_iter().map(|person| f64::from(people[person].2)).collect();
                    (own, shown.collect())
                })
                .collect();
            naive_error(&groups)
        };
        let found = &found.numbers[0];
        let alike = |a: usize, b: usize| (&people[a].0, &people[a].1) == (&people[b].0, &people[b].1);
        assert_close(found.by_class, error(&alike), seed);
        assert_close(found.by_value[0].1, error(&|a, b| people[a].0 == people[b].0), seed);
        assert_close(found.by_value[1].1, error(&|a, b| people[a].1 == people[b].1), seed);
    }
}
