//! Every measure against its definition, row by row, on small random releases; and the cases at the
//! edge.

use std::collections::{BTreeMap, BTreeSet};

use hedgerow_table::hierarchy::Bound;
use hedgerow_table::{Cover, HierarchySpec, Kind, Label};

use serde_json::json;

use super::*;
use crate::testing::{TestRelease, random_release, seeds};

const SEEDS: u64 = 500;

fn close(left: f64, right: f64, what: &str, seed: u64) {
    assert!((left - right).abs() <= 1e-9 * right.abs().max(1.0), "seed {seed}: {what} is {left}, expected {right}");
}

/// A release row by row, as texts and labels.
struct Naive<'a> {
    release: &'a TestRelease,
    /// The finest level that gives the same labels with the same values under each.
    levels: Vec<usize>,
    /// The labels of each released row, for each quasi-identifier.
    released: Vec<Vec<&'a Label>>,
    /// The same for every source row, suppressed or not.
    all: Vec<Vec<&'a Label>>,
}

impl<'a> Naive<'a> {
    fn new(release: &'a TestRelease) -> Naive<'a> {
        let label = |quasi: usize, level: usize, row: usize| -> &'a Label {
            let level = &release.hierarchies[quasi].levels()[level];
            &level.labels[level.map[release.source.columns[quasi].codes.get(row) as usize] as usize]
        };
        let out: Vec<usize> = (0..release.source.rows).filter(|row| !release.suppressed.contains(row)).collect();
        let under = |quasi: usize, level: usize, row: usize| -> BTreeSet<String> {
            let rows = 0..release.source.rows;
            let alike = rows.filter(|other| label(quasi, level, *other) == label(quasi, level, row));
            alike.map(|other| release.source.columns[quasi].text(other)).collect()
        };
        let same = |quasi: usize, a: usize, b: usize| {
            out.iter().all(|&row| {
                label(quasi, a, row).text == label(quasi, b, row).text && under(quasi, a, row) == under(quasi, b, row)
            })
        };
        let levels: Vec<usize> = release
            .levels
            .iter()
            .enumerate()
            .map(|(quasi, &level)| (0..=level).find(|&finer| same(quasi, finer, level)).unwrap())
            .collect();
        let labels = |row: usize| levels.iter().enumerate().map(|(quasi, &level)| label(quasi, level, row)).collect();
        let released = out.iter().map(|&row| labels(row)).collect();
        let all = (0..release.source.rows).map(labels).collect();
        Naive { release, levels, released, all }
    }

    fn texts(&self, column: usize) -> BTreeSet<String> {
        (0..self.release.source.rows).map(|row| self.release.source.columns[column].text(row)).collect()
    }

    fn suppressed(&self) -> f64 {
        self.release.suppressed.len() as f64
    }

    /// Mean over the cells of one attribute, suppressed ones at 1.
    fn mean_of_cells(&self, quasi: usize, cell: impl Fn(&Label) -> f64) -> f64 {
        let sum: f64 = self.released.iter().map(|labels| cell(labels[quasi])).sum();
        (sum + self.suppressed()) / self.release.source.rows as f64
    }

    fn penalty(&self, quasi: usize, label: &Label) -> f64 {
        let texts = self.texts(quasi);
        let hierarchy = &self.release.hierarchies[quasi];
        let alone = self.all.iter().all(|labels| labels[quasi] == label);
        if self.levels[quasi] > 0 && alone && label.text == hierarchy.levels()[hierarchy.top()].labels[0].text {
            return 1.0;
        }
        match &label.cover {
            Cover::Everything => 1.0,
            Cover::Missing | Cover::Point(_) => 0.0,
            Cover::Leaves(leaves) if leaves.len() == 1 => 0.0,
            Cover::Leaves(leaves) if self.release.source.columns[quasi].domain.kind() != Kind::Category => {
                // Numbers with gaps between them: from the lowest leaf to the highest, within the
                // source's values.
                let domain = &self.release.source.columns[quasi].domain;
                let (first, last) = (domain.number(0).unwrap(), domain.number(domain.present() as u32 - 1).unwrap());
                let day = |leaf: &String| hedgerow_table::date::Date::parse_iso(leaf).map(|date| f64::from(date.0));
                let numbers = || leaves.iter().filter_map(|leaf| leaf.parse().ok().or(day(leaf)));
                let low = numbers().fold(f64::INFINITY, f64::min).max(first);
                let high = numbers().fold(f64::NEG_INFINITY, f64::max).min(last);
                if last == first { 0.0 } else { (high - low).max(0.0) / (last - first) }
            }
            Cover::Leaves(leaves) => {
                texts.iter().filter(|text| leaves.contains(text)).count() as f64 / texts.len() as f64
            }
            Cover::Interval { low, high } => {
                let domain = &self.release.source.columns[quasi].domain;
                let (first, last) = (domain.number(0).unwrap(), domain.number(domain.present() as u32 - 1).unwrap());
                let number = |bound: &Bound| match bound {
                    Bound::Integer(value) => *value as f64,
                    Bound::Float(value) => *value,
                    Bound::Date(date) => f64::from(date.0),
                };
                let low = low.as_ref().map_or(first, number).max(first);
                // In a column of whole numbers the last one below the end.
                let step = if domain.kind() == Kind::Float { 0.0 } else { 1.0 };
                let high = high.as_ref().map_or(last, |high| number(high) - step).min(last);
                if last == first { 0.0 } else { (high - low) / (last - first) }
            }
        }
    }

    fn class_size(&self, labels: &[&Label]) -> f64 {
        self.released.iter().filter(|other| other.as_slice() == labels).count() as f64
    }

    fn population(&self, labels: &[&Label]) -> f64 {
        self.all.iter().filter(|other| other.as_slice() == labels).count() as f64
    }

    /// Σ p ln(p/q) over the distinct source rows.
    fn kl(&self) -> f64 {
        let source = &self.release.source;
        let n = source.rows as f64;
        let row = |row: usize| -> Vec<String> { source.columns.iter().map(|column| column.text(row)).collect() };
        let mut counts: BTreeMap<Vec<String>, (f64, usize)> = BTreeMap::new();
        for index in 0..source.rows {
            counts.entry(row(index)).or_insert((0.0, index)).0 += 1.0;
        }
        let quasi = self.levels.len();
        let combinations: f64 = (0..source.columns.len()).map(|column| self.texts(column).len() as f64).product();
        let mut sum = 0.0;
        for (texts, (count, first)) in &counts {
            let alike = |other: &usize| self.all[*other] == self.all[*first] && row(*other)[quasi..] == texts[quasi..];
            let out = (0..source.rows).filter(|other| !self.release.suppressed.contains(other));
            let released = out.filter(alike).count() as f64;
            let values: f64 = (0..quasi)
                .map(|column| {
                    let inside = (0..source.rows).filter(|other| self.all[*other][column] == self.all[*first][column]);
                    inside.map(|other| source.columns[column].text(other)).collect::<BTreeSet<_>>().len() as f64
                })
                .product();
            let q = (released / values + self.suppressed() / combinations) / n;
            sum += count / n * (count / n / q).ln();
        }
        sum
    }
}

#[test]
fn every_loss_agrees_with_its_definition_row_by_row() {
    for seed in seeds(SEEDS) {
        let release = random_release(seed);
        let measured = release.measures();
        let (found, attributes) = (&measured.losses, &measured.attributes);
        let naive = Naive::new(&release);
        let (n, quasi) = (release.source.rows as f64, naive.levels.len());
        let levels: Vec<usize> = attributes.iter().map(|attribute| attribute.level.unwrap()).collect();
        assert_eq!(levels, naive.levels, "seed {seed}");
        let mut sums = [0.0; 3];
        for (attribute, hierarchy) in release.hierarchies.iter().enumerate() {
            let ncp = naive.mean_of_cells(attribute, |label| naive.penalty(attribute, label));
            close(attributes[attribute].ncp, ncp, "ncp of an attribute", seed);
            let height = naive.levels[attribute] as f64 / hierarchy.top().max(1) as f64;
            let precision = naive.mean_of_cells(attribute, |_| height);
            let leaves = hierarchy.leaves() as f64;
            let aggregate = n * naive.mean_of_cells(attribute, |label| label.leaves as f64 / leaves);
            // Without a range to bring it from, only the suppressed rows count.
            let range = n - n / leaves;
            let granularity = if range == 0.0 { naive.suppressed() / n } else { (aggregate - n / leaves) / range };
            close(attributes[attribute].granularity.unwrap(), granularity, "granularity of an attribute", seed);
            sums = [sums[0] + ncp, sums[1] + precision, sums[2] + granularity];
        }
        let [ncp, precision, granularity] = sums.map(|sum| sum / quasi.max(1) as f64);
        close(found.ncp, ncp, "ncp", seed);
        close(found.precision.unwrap(), precision, "precision", seed);
        close(found.granularity.unwrap(), granularity, "granularity", seed);
        let charged: f64 = naive.released.iter().map(|labels| naive.class_size(labels)).sum();
        assert_eq!(found.discernibility as f64, charged + n * naive.suppressed(), "seed {seed}");
        let classes: f64 = naive.released.iter().map(|labels| 1.0 / naive.class_size(labels)).sum();
        let average = naive.released.len() as f64 / classes / release.k as f64;
        close(found.average_class, average, "average class", seed);
        close(found.kl.unwrap(), naive.kl(), "kl", seed);
        for share in [found.ncp, found.precision.unwrap(), found.granularity.unwrap()] {
            assert!((0.0..=1.0 + 1e-12).contains(&share), "seed {seed}: {found:?}");
        }
    }
}

#[test]
fn risks_and_class_sizes_agree_with_their_definitions_row_by_row() {
    for seed in seeds(SEEDS) {
        let release = random_release(seed);
        let found = release.measures();
        let naive = Naive::new(&release);
        let rows = naive.released.len() as f64;
        for (scenario, journalist) in [(&found.risk.prosecutor, false), (found.risk.journalist.as_ref().unwrap(), true)]
        {
            let candidates = |labels: &Vec<&Label>| {
                if journalist { naive.population(labels) } else { naive.class_size(labels) }
            };
            let risks: Vec<f64> = naive.released.iter().map(|labels| 1.0 / candidates(labels)).collect();
            let max = risks.iter().copied().fold(0.0, f64::max);
            close(scenario.max, max, "the highest risk", seed);
            close(scenario.mean, risks.iter().sum::<f64>() / rows, "the mean risk", seed);
            let at_max = risks.iter().filter(|risk| **risk == max).count() as f64;
            close(scenario.share_at_max, at_max / rows, "the share at the highest risk", seed);
            let above = naive.released.iter().filter(|labels| candidates(labels) < release.k as f64).count() as f64;
            close(scenario.share_above, above / rows, "the share above 1/k", seed);
        }
        close(found.risk.marketer, found.classes.count as f64 / rows, "the marketer's share", seed);
        let alone = naive.released.iter().filter(|labels| naive.class_size(labels) == 1.0).count();
        assert_eq!(found.risk.unique_rows, alone as u64, "seed {seed}");
        for range in &found.classes.histogram {
            let inside = |labels: &&Vec<&Label>| {
                let size = naive.class_size(labels) as u64;
                size >= range.from && range.to.is_none_or(|to| size <= to)
            };
            assert_eq!(range.rows, naive.released.iter().filter(inside).count() as u64, "seed {seed}");
        }
        assert_eq!(found.classes.histogram.iter().map(|range| range.classes).sum::<u64>(), found.classes.count);
    }
}

fn split<'a>(rows: &[&'a str]) -> Vec<Vec<&'a str>> {
    rows.iter().map(|row| row.split(',').collect()).collect()
}

#[test]
fn one_row_untouched_loses_nothing_and_is_found_for_certain() {
    let release = TestRelease::new(&["age"], &split(&["30"]), &[HierarchySpec::None], &[0], &[]);
    let found = release.measures();
    let Losses { ncp, precision, granularity, kl, discernibility, average_class, .. } = found.losses;
    assert_eq!([Some(ncp), precision, granularity, kl, Some(average_class)], [0.0, 0.0, 0.0, 0.0, 1.0].map(Some));
    assert_eq!(discernibility, 1);
    assert_eq!((found.risk.prosecutor.max, found.risk.marketer), (1.0, 1.0));
    assert_eq!(found.risk.journalist.unwrap().max, 1.0);
    assert_eq!(found.queries.unwrap().max, 0.0);
}

#[test]
fn everything_hidden_is_all_lost() {
    let rows = split(&["1,a,02139", "2,b,02140", ",,"]);
    let specs = [HierarchySpec::Widths(vec![5.0]), HierarchySpec::None, HierarchySpec::Mask(5)];
    let release = TestRelease::new(&["n", "c", "z"], &rows, &specs, &[2, 1, 5], &[]);
    let found = release.measures();
    let Losses { ncp, precision, granularity, .. } = found.losses;
    assert_eq!([Some(ncp), precision, granularity], [Some(1.0); 3]);
    assert_eq!((found.classes.count, found.risk.marketer), (1, 1.0 / 3.0));
    // Three of twenty-seven possible people, each as likely as any other.
    assert!((found.losses.kl.unwrap() - 9f64.ln()).abs() < 1e-12);
}

#[test]
fn equal_values_lose_nothing_until_the_top() {
    let rows = vec![vec!["7"]; 5];
    let specs = [HierarchySpec::Widths(vec![5.0])];
    let loss = |level| TestRelease::new(&["n"], &rows, &specs, &[level], &[]).measures().losses.ncp;
    assert_eq!([loss(0), loss(1), loss(2)], [0.0, 0.0, 1.0]);
}

#[test]
fn all_but_one_class_suppressed() {
    let rows = split(&["1,x", "1,x", "2,x", "3,y", "4,y"]);
    let release = TestRelease::new(&["n", "s"], &rows, &[HierarchySpec::None], &[0], &[2, 3, 4]);
    let found = release.measures();
    assert_eq!([Some(found.losses.ncp), found.losses.precision], [Some(0.6); 2]);
    assert_eq!(found.losses.discernibility, 4 + 15);
    assert_eq!(found.classes.count, 1);
    assert_eq!(found.risk.prosecutor.max, 0.5);
}

#[test]
fn a_journalist_is_misled_by_rows_suppressed_from_a_class() {
    let rows = split(&["1", "1", "1", "2", "2"]);
    let found = TestRelease::new(&["n"], &rows, &[HierarchySpec::None], &[0], &[0, 1, 4]).measures();
    let journalist = found.risk.journalist.unwrap();
    assert_eq!((found.risk.prosecutor.max, journalist.max), (1.0, 0.5));
    assert_eq!(journalist.mean, (1.0 / 3.0 + 0.5) / 2.0);
}

#[test]
fn missing_values_are_values_of_their_own() {
    let rows = split(&["10,a", "20,b", ",a", ",b"]);
    let specs = [HierarchySpec::Widths(vec![50.0]), HierarchySpec::None];
    let found = TestRelease::new(&["n", "c"], &rows, &specs, &[1, 1], &[]).measures();
    assert_eq!(found.attributes[0].ncp, 0.5, "two intervals, two missing values kept");
    assert_eq!(found.classes.count, 2);
}

fn refusal(release: &TestRelease) -> String {
    let error = release.try_measures(&QueryOptions::default()).expect_err("these do not belong together");
    assert!(matches!(error, TableError::Input(_)), "{error}");
    let text = error.to_string();
    assert!(text.contains("\nhint: "), "{text}");
    text
}

#[test]
fn a_release_of_something_else_is_refused() {
    let new = |rows: &[&str], level: usize, suppressed: &[usize]| {
        let specs = [HierarchySpec::Widths(vec![10.0])];
        TestRelease::new(&["age", "s"], &split(rows), &specs, &[level], suppressed)
    };
    let good = || new(&["21,x", "22,x", "35,y", "36,y"], 1, &[]);
    good().measures();

    let release = TestRelease { codebook: Codebook::new(), ..good() };
    assert!(refusal(&release).contains("codebook.csv: no row for the label `20 to 29` of `age`"));

    let other = new(&["51,x", "52,x", "65,y", "66,y"], 1, &[]);
    let release = TestRelease { released: other.released, codebook: other.codebook, ..good() };
    assert!(refusal(&release).contains("the label `50 to 59` of `age` is on no level"));

    let values = new(&["21,x", "22,x", "35,y", "36,y"], 0, &[]);
    let release = TestRelease { codebook: values.codebook, released: values.released.clone(), ..good() };
    release.measures();

    let release = TestRelease { suppressed: vec![0], ..good() };
    assert!(refusal(&release).contains("4 rows were released and 1 suppressed, but the source has 4"));

    let mut release = good();
    release.released.rows = 0;
    assert!(refusal(&release).contains("no rows"));

    let other = new(&["21,x", "22,x", "23,x", "36,y"], 1, &[]);
    let release = TestRelease { released: other.released, ..good() };
    assert!(refusal(&release).contains("more rows in the release than in the source"));

    let other = new(&["21,z", "22,x", "35,y", "36,y"], 1, &[]);
    let release = TestRelease { released: other.released, ..good() };
    assert!(refusal(&release).contains("the released value `z` of `s` is not in the source"));

    let mut release = good();
    release.released.columns.remove(0);
    assert!(refusal(&release).contains("data.csv: the table has no column `age`"));
}

#[test]
fn labels_of_two_levels_or_with_another_meaning_are_refused() {
    let rows = split(&["21", "22", "35", "36"]);
    let specs = [HierarchySpec::Widths(vec![10.0])];
    let good = |level| TestRelease::new(&["age"], &rows, &specs, &[level], &[]);
    let mut codebook = Codebook::new();
    for level in good(0).hierarchies[0].levels() {
        level.labels.iter().for_each(|label| codebook.add("age", label).unwrap());
    }
    let mixed = Table::from_texts(&["age"], &split(&["21", "22", "30 to 39", "30 to 39"]));
    let release = TestRelease { released: mixed, codebook, ..good(1) };
    assert!(refusal(&release).contains("different levels"));

    let mut codebook = Codebook::new();
    for label in &good(1).hierarchies[0].levels()[1].labels {
        codebook.add("age", &Label { cover: Cover::Everything, ..label.clone() }).unwrap();
    }
    let release = TestRelease { codebook, ..good(1) };
    assert!(refusal(&release).contains("cover other values there than in its hierarchy"));
}

#[test]
fn the_json_names_what_the_contract_names() {
    let rows = split(&["21,x", "22,x", "35,y", "36,y"]);
    let mut release = TestRelease::new(&["age", "s"], &rows, &[HierarchySpec::Widths(vec![10.0])], &[1], &[]);
    release.k = 2;
    let found = serde_json::to_value(release.measures()).unwrap();
    let at = |path: &str| found.pointer(path).unwrap_or_else(|| panic!("{path} in {found}")).clone();
    assert_eq!(at("/rows"), json!({"in": 4, "out": 4, "suppressed": 0}));
    for name in ["ncp", "precision", "discernibility", "average-class", "granularity", "kl"] {
        assert!(at(&format!("/loss/{name}")).is_number());
    }
    assert_eq!(at("/loss/average-class"), json!(1.0));
    assert_eq!(at("/attributes/age/level"), json!(1));
    assert_eq!((at("/classes/count"), at("/classes/min"), at("/classes/max")), (json!(2), json!(2), json!(2)));
    assert_eq!(at("/classes/histogram/1"), json!({"size": "2", "from": 2, "to": 2, "classes": 2, "rows": 4}));
    assert_eq!((at("/risk/prosecutor/max"), at("/risk/marketer")), (json!(0.5), json!(0.5)));
    assert!(at("/queries/relative_error/median").is_number());
    assert_eq!(at("/queries/sanity_bound"), json!(1.0));
}
