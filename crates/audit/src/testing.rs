//! A small release made without the crate that publishes: the tests choose levels and suppressed
//! rows themselves.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};

use hedgerow_release::codebook::Codebook;
use hedgerow_table::date::Date;
use hedgerow_table::{Bound, Column, DateUnit, Hierarchy, HierarchySpec, Kind, NoProgress, Table, TableError};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::attribute::{QuasiSource, Recoding};
use crate::kinds::generalized::{GeneralizedPair, measure};
use crate::measures::TableMeasures;
use crate::query_error::QueryOptions;

/// The cases of a randomized test: the one that `HEDGEROW_SEED` names, or as many as
/// `HEDGEROW_WORLDS` says from there on; or the first `count`.
pub(crate) fn seeds(count: u64) -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let many = number("HEDGEROW_WORLDS").unwrap_or(1);
    number("HEDGEROW_SEED").map_or(0..count, |seed| seed..seed + many)
}

/// The cases that fail, each of which has said why.
pub(crate) fn failing(seeds: std::ops::Range<u64>, mut examine: impl FnMut(u64)) -> Vec<u64> {
    let mut fails = |seed: &u64| catch_unwind(AssertUnwindSafe(|| examine(*seed))).is_err();
    seeds.filter(|seed| fails(seed)).collect()
}

pub(crate) struct TestRelease {
    pub(crate) source: Table,
    pub(crate) released: Table,
    pub(crate) codebook: Codebook,
    /// Of the first columns; the others are sensitive.
    pub(crate) hierarchies: Vec<Hierarchy>,
    pub(crate) levels: Vec<usize>,
    pub(crate) suppressed: Vec<usize>,
    pub(crate) k: u64,
}

impl TestRelease {
    pub(crate) fn new(
        header: &[&str],
        rows: &[Vec<&str>],
        specs: &[HierarchySpec],
        levels: &[usize],
        suppressed: &[usize],
    ) -> TestRelease {
        let source = Table::from_texts(header, rows);
        let hierarchies = hierarchies(&source, specs);
        let mut codebook = Codebook::new();
        let mut texts: Vec<Vec<String>> = Vec::new();
        for row in (0..rows.len()).filter(|row| !suppressed.contains(row)) {
            let mut cells: Vec<String> = source.columns.iter().map(|column| column.text(row)).collect();
            for (quasi, (hierarchy, &level)) in hierarchies.iter().zip(levels).enumerate() {
                let level = &hierarchy.levels()[level];
                let label = &level.labels[level.map[source.columns[quasi].codes.get(row) as usize] as usize];
                codebook.add(header[quasi], label).unwrap();
                cells[quasi] = label.text.clone();
            }
            texts.push(cells);
        }
        let cells: Vec<Vec<&str>> = texts.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
        let released = Table::from_texts(header, &cells);
        let codebook = written_and_read(&codebook);
        let (levels, suppressed) = (levels.to_vec(), suppressed.to_vec());
        TestRelease { source, released, codebook, hierarchies, levels, suppressed, k: 1 }
    }

    pub(crate) fn input(&self) -> GeneralizedPair<'_> {
        let names: Vec<&str> = self.source.columns.iter().map(|column| column.name.as_str()).collect();
        let quasi = names.iter().zip(&self.hierarchies);
        GeneralizedPair {
            source: &self.source,
            released: &self.released,
            codebook: &self.codebook,
            ranges: Vec::new(),
            quasi: quasi.map(|(name, hierarchy)| QuasiSource { name, hierarchy }).collect(),
            sensitive: names[self.hierarchies.len()..].to_vec(),
            k: self.k,
            rows_suppressed: self.suppressed.len() as u64,
            recoding: Recoding::FullDomain,
        }
    }

    pub(crate) fn measures(&self) -> TableMeasures {
        self.try_measures(&QueryOptions { count: 100, ..QueryOptions::default() }).unwrap_or_else(|e| panic!("{e}"))
    }

    pub(crate) fn try_measures(&self, options: &QueryOptions) -> Result<TableMeasures, TableError> {
        measure(&self.input(), options, &NoProgress)
    }
}

fn hierarchies(source: &Table, specs: &[HierarchySpec]) -> Vec<Hierarchy> {
    let build = |(spec, column): (&HierarchySpec, &Column)| {
        let nulls = [String::new()];
        Hierarchy::build(spec, &column.name, "test", &column.domain, &nulls).unwrap_or_else(|e| panic!("{e}"))
    };
    specs.iter().zip(&source.columns).map(build).collect()
}

/// As an auditor gets it: some covers change their form on the way through the file.
pub(crate) fn written_and_read(codebook: &Codebook) -> Codebook {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("codebook.csv");
    codebook.write(&mut File::create(&path).unwrap()).unwrap();
    Codebook::read(&path).unwrap()
}

/// A random release of a random table with some columns of each kind and each family of
/// hierarchies, missing values, random levels, suppressed rows, and up to two sensitive columns. It
/// has at least one row.
pub(crate) fn random_release(seed: u64) -> TestRelease {
    let mut rng = StdRng::seed_from_u64(seed);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("colors.csv");
    // Gray never occurs; the empty leaf is the missing value, which shares the label `dull`.
    let file = "red;warm;*\norange;warm;*\nblue;cold;*\ngreen;cold;*\ngrey;dull;*\n;dull;*\nonly;only;*\n";
    std::fs::write(&path, file).unwrap();
    let families = [
        HierarchySpec::Widths(vec![5.0, 10.0, 30.0]),
        HierarchySpec::Breaks(vec![vec![Bound::Integer(10), Bound::Integer(17)], vec![Bound::Integer(17)]]),
        HierarchySpec::Mask(2),
        HierarchySpec::Widths(vec![0.5, 2.0]),
        HierarchySpec::Dates(vec![DateUnit::Month, DateUnit::Year]),
        HierarchySpec::File(path),
        HierarchySpec::Mask(3),
        HierarchySpec::None,
    ];
    let rows = if rng.random_bool(0.1) { 1 } else { rng.random_range(1..40) };
    let quasi: Vec<usize> = (0..rng.random_range(0..4)).map(|_| rng.random_range(0..families.len())).collect();
    let sensitive = rng.random_range(0..3);
    let blank = [0.0, 0.2, 0.9][rng.random_range(0..3)];
    let variety = rng.random_range(1..30);
    let kinds: Vec<usize> = quasi.iter().copied().chain((0..sensitive).map(|_| families.len() - 1)).collect();
    let texts: Vec<Vec<String>> =
        (0..rows).map(|_| kinds.iter().map(|&kind| random_cell(&mut rng, kind, variety, blank)).collect()).collect();
    let header: Vec<String> = (0..kinds.len()).map(|column| format!("column {column}")).collect();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let cells: Vec<Vec<&str>> = texts.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
    let source = Table::from_texts(&header, &cells);
    let specs: Vec<HierarchySpec> = quasi
        .iter()
        .enumerate()
        // A column of one kind may come out as another: all values missing, or floats without a
        // fraction.
        .map(|(column, &family)| match source.columns[column].domain.kind() {
            Kind::Category if family < 2 || family == 3 || family == 4 => HierarchySpec::None,
            Kind::Integer if family == 3 => HierarchySpec::Widths(vec![1.0, 2.0]),
            _ => families[family].clone(),
        })
        .collect();
    let levels: Vec<usize> = hierarchies(&source, &specs).iter().map(|h| rng.random_range(0..=h.top())).collect();
    let share = [0.0, 0.1, 0.9][rng.random_range(0..3)];
    let suppressed: Vec<usize> = (1..rows).filter(|_| rng.random_bool(share)).collect();
    let mut release = TestRelease::new(&header, &cells, &specs, &levels, &suppressed);
    release.k = rng.random_range(1..4);
    release
}

/// A cell of the kind that a family of hierarchies wants.
fn random_cell(rng: &mut StdRng, family: usize, variety: i64, blank: f64) -> String {
    if rng.random_bool(blank) {
        return String::new();
    }
    let number = rng.random_range(0..variety);
    match family {
        0 => (number - 5).to_string(),
        1 | 2 => number.to_string(),
        3 => (number as f64 / 4.0).to_string(),
        4 => Date(number as i32 * 20).to_string(),
        5 => ["red", "orange", "blue", "green", "only"][(number % 5) as usize].to_owned(),
        6 => format!("{:05}", number * 7),
        _ => format!("value {}", number % 6),
    }
}
